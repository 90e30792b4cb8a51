// Time, memory and money of a training run, from measured rates.
function explorable(root, data, kit) {
  const {sizes, machines, hidden: share, patch} = data;
  const now = {size: "tiny", machine: 0, tokens: 2, batch: 64, samples: 4, epochs: 100, price: 1};
  const COLOURS = ["blue", "green", "vermillion", "purple"].map(name => `var(--romae-${name})`);
  const of = name => sizes.find(s => s.name === name);
  const parts = (s, n) => {
    const hidden = Math.max(1, Math.min(n - 1, Math.ceil(share * n)));
    return [n - hidden, hidden];
  };
  function gflop(s, n) {
    const [seen, hidden] = parts(s, n);
    let total = 2 * seen * s.encoder.dim * s.decoder.dim + 2 * patch * (seen * s.encoder.dim + hidden * s.decoder.dim);
    for (const [stack, m] of [[s.encoder, seen], [s.decoder, n]])
      total += stack.depth * (2 * m * (4 * stack.dim ** 2 + 2 * stack.dim * stack.ff) + 4 * m * m * stack.dim);
    return total / 1e9;
  }
  function gigabytes(s, n, batch) {
    let kept = 0;
    for (const [stack, m] of [[s.encoder, parts(s, n)[0]], [s.decoder, n]]) kept += stack.depth * m * (10 * stack.dim
      + 2 * stack.ff);
    return (16 * s.parameters + 4 * batch * kept) / 1e9;
  }
  const round = v => +v.toPrecision(2), count = v => round(v).toLocaleString("en");
  const time = h => h >= 48 ? `${count(h / 24)} days` : h >= 1 ? `${count(h)} h` : h >= 1 / 60 ? `${count(60 * h)} min`
    : `${count(3600 * h)} s`;
  const ofBytes = g => g >= 1 ? `${count(g)} GB` : `${count(1000 * g)} MB`;
  const announce = kit.announcer(root);

  const cells = {}, out = kit.el("div", {class: "co-out"}, ...[["time", "time"], ["memory", "memory for training"],
    ["money", "cost"], ["steps", "steps"]].map(
    ([id, label]) => kit.el("div", {}, cells[id] = kit.el("b"), label)));
  const plot = kit.el("div"), graph = kit.svg("svg"), row = kit.el("div", {class: "romae-row"});
  plot.append(graph);
  const whole = e => Math.round(+(10 ** e).toPrecision(2)),  // as it is shown
     change = key => v => { now[key] = typeof now[key] === "number" ? +v : v; update(); };
  row.append(
    kit.select({label: "Encoder", options: sizes.map(s => [s.name, s.name]), value: now.size,
      change: change("size")}).node,
    kit.select({label: "Machine", options: machines.map((m, i) => [String(i), `${m.name} (measured: ${m.size})`]),
      value: "0", change: change("machine")}).node,
    ...[
      {label: "Tokens of a sample", key: "tokens", min: 1, max: 5, step: 0.05, format: v => count(whole(v))},
      {label: "Batch", key: "batch", min: 1, max: 1024, step: 1, format: v => v.toLocaleString("en")},
      {label: "Training samples", key: "samples", min: 2, max: 7, step: 0.05, format: v => count(whole(v))},
      {label: "Epochs", key: "epochs", min: 1, max: 1000, step: 1, format: v => v.toLocaleString("en")},
      {label: "Price of an hour", key: "price", min: 0, max: 20, step: 0.1, format: v => v.toFixed(1)},
    ].map(({key, ...options}) => kit.slider({...options, value: now[key], change: change(key)}).node));
  root.append(out, plot, row);

  const power = e => e >= -2 && e <= 3 ? (10 ** e).toLocaleString("en") : "10" + String(e).replace(/./g,
    c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const SAMPLES = 1000, lengths = Array.from({length: 41}, (_, i) => 10 ** (1 + i / 10));
  const seconds = (s, n) => 3 * gflop(s, Math.round(n)) * SAMPLES / machines[now.machine].gflops;
  let width = 0;
  function draw() {
    if (!width) return;
    const height = kit.height, left = 58, right = width - 12, top = 26, bottom = height - 38;
    const all = sizes.map(s => lengths.map(n => seconds(s, n)));
    const lo = Math.floor(Math.log10(Math.min(...all.flat()))), hi = Math.ceil(Math.log10(Math.max(...all.flat())));
    const x = kit.linear([1, 5], [left, right]), y = kit.linear([lo, hi], [bottom, top]), at = v => y(Math.log10(v));
    kit.frame(graph, width, height);
    const decades = Array.from({length: hi - lo + 1}, (_, i) => lo + i);
    const nodes = kit.axes({left, right, top, bottom}, {
      y: {scale: y, ticks: decades.filter(e => (e - lo) % Math.max(1, Math.round((hi - lo) / 5)) === 0), format: power,
        label: "seconds for 1000 samples, once"},
      x: {scale: x, ticks: [1, 2, 3, 4, 5], format: power, label: "tokens of a sample"}});
    sizes.forEach((s, i) => nodes.push(kit.svg("path",
      {d: "M" + lengths.map((n, j) => `${x(Math.log10(n)).toFixed(1)} ${at(all[i][j]).toFixed(1)}`).join("L"),
      style: `fill:none;stroke:${COLOURS[i]};stroke-width:${s.name === now.size ? 3 : 1.3}`})));
    const i = sizes.indexOf(of(now.size));
    nodes.push(kit.svg("circle", {cx: x(now.tokens), cy: at(seconds(sizes[i], 10 ** now.tokens)), r: 6,
      style: `fill:${COLOURS[i]};stroke:currentColor`}));
    sizes.forEach((s, k) => nodes.push(kit.text(left + 8, top + 12 + 15 * k, s.name,
      {style: `fill:${COLOURS[k]}`, "font-weight": s.name === now.size ? 700 : 400})));
    graph.replaceChildren(...nodes);
  }
  function update() {
    const s = of(now.size), n = whole(now.tokens), samples = whole(now.samples),
      h = 3 * gflop(s, n) * samples * now.epochs / machines[now.machine].gflops / 3600;
    const memory = gigabytes(s, n, now.batch), steps = now.epochs * Math.ceil(samples / now.batch);
    cells.time.textContent = time(h);
    cells.memory.textContent = ofBytes(memory);
    cells.money.textContent = h * now.price >= 0.005 ? count(h * now.price) : "under 0.01";
    cells.steps.textContent = steps.toLocaleString("en");
    draw();
    announce(`${time(h)}, ${ofBytes(memory)}, ${steps} steps.`);
    kit.state({...now, tokens: n, samples, hours: h.toPrecision(6), gigabytes: memory.toPrecision(6), steps});
  }
  kit.sized(plot, w => { width = w; draw(); });
  update();
}

// Twelve readings of a wave, and a clock that may have started later. Three networks, told times in three ways, answer
// in the page.
function explorable(root, data, kit) {
  const ASKED = 120, REACH = 1.45, FULL = 0.8, ways = {
    rotated: ["RoPE", "rotated by the time", "blue"], added: ["added", "sines of the time", "green"],
    bias: ["bias", "from time differences", "amber"]}, names = Object.keys(ways);
  const nets = Object.fromEntries(names.map(name => [name, load(name)])), announce = kit.announcer(root);
  const even = (a, b, n) => Array.from({length: n}, (_, i) => a + (b - a) * i / (n - 1));
  let {later, start: chosen} = data, now = null, box = null;

  // --- the networks --------------------------------------------------------------------------------------------------
  function load(name) {
    const net = romae.loadBytes({...data, ...data.models[name]});
    const sines = (speeds, time) => [...speeds.map(s => Math.sin(s * time)), ...speeds.map(s => Math.cos(s * time))];
    if (name === "added") net.place = (stack, {dim}, positions) => {
      const speeds = kit.frequencies(dim, 1, data.base);
      return {added: positions.map(([time]) => sines(speeds, time))};
    };
    if (name === "bias") net.place = (stack, {dim, heads}, positions) => {
      const width = dim / heads, speeds = kit.frequencies(width, 1, data.base), times = positions.map(([time]) => time);
      return {bias: layer => {
        const w = net.weights[`${stack}.blocks.${layer}.attention.bias.weight`];
        return (head, n, m) => speeds.reduce((sum, speed, i) => {
          const turn = speed * (times[n] - times[m]), at = head * width + i;
          return sum + w[at] * Math.cos(turn) + w[at + width / 2] * Math.sin(turn);
        }, 0);
      }};
    };
    return net;
  }
  function compute() {
    const {times, values, period, phase} = data.series[chosen], at = even(times[0], times.at(-1), ASKED),
      truth = t => Math.sin(2 * Math.PI * (t / period + phase)), clock = list => list.map(t => [t + later]);
    now = {times, values, at, truth, answers: {}, missed: {}};
    for (const name of names) {
      const seen = romae.encode(nets[name], values.map(v => [v]), clock(times));
      const said = now.answers[name] = romae.decode(nets[name], seen, clock(at)).map(v => v[0]);
      now.missed[name] = said.reduce((sum, v, i) => sum + Math.abs(v - truth(at[i])), 0) / ASKED;
    }
  }

  // --- drawing -------------------------------------------------------------------------------------------------------
  const svg = kit.svg("svg", {class: "sl-drawing", role: "img", "aria-label": "Three networks fill in a wave between "
    + "twelve readings: RoPE, added sines of the time, and a bias of time differences"});
  const slider = kit.slider({label: "Start later by", name: "later", min: 0, max: data.latest, value: later,
    change: v => { later = v; update(true); }});
  const another = kit.button("New series", {class: "romae-button"}, () => {
    chosen = (chosen + 1) % data.series.length;
    update(true);
  });
  root.append(svg, kit.el("div", {class: "romae-row"}, slider.node, another));
  kit.keep("series", () => chosen, text => {
    if (!(kit.number(text) in data.series)) return;
    chosen = kit.number(text);
    update(false);
  });

  function legend(width) {
    const line = kit.curve([[0, -4], [18, -4]], "var(--romae-grey)", 2), share = Math.min(1, width / 350);
    const entries = [[kit.svg("circle", {cx: 8, cy: -4, r: 4.6, class: "sl-dot"}), "reading", 80],
      [line, "true curve", 100], [kit.curve([[0, -4], [18, -4]], "var(--romae-blue)", 3), "filled in", 90],
      [kit.svg("rect", {y: -10, width: 18, height: 12, class: "sl-missed", style: "--sl:var(--romae-blue)"}), "missed",
        80]];
    let x = 2;
    return entries.map(([mark, word, wide]) => {
      const node = kit.svg("g", {transform: `translate(${x} 14)`}, mark, kit.text(23, 0, word));
      x += wide * share;
      return node;
    });
  }
  function panel(name, top, height) {
    const [word, more, colour] = ways[name], paint = `var(--romae-${colour})`, {width, x} = box;
    const y = kit.linear([REACH, -REACH], [top, top + height]), up = v => y(kit.clamp(v, -REACH, REACH));
    const line = now.at.map((t, i) => [x(t), up(now.answers[name][i])]),
      real = now.at.map(t => [x(t), y(now.truth(t))]);
    const wide = width < 560 ? 44 : 140, bar = {x: width - wide - 44, y: top - 17, height: 11, rx: 3};
    return kit.svg("g", {style: `--sl:${paint}`},
      kit.svg("rect", {class: "sl-ground", y: top, width, height, rx: 8}),
      kit.svg("text", {x: 2, y: top - 8}, kit.svg("tspan", {class: "sl-name"}, word),
        kit.svg("tspan", {class: "romae-faint", dx: 8}, more)),
      ...width < 560 ? [] : [kit.text(bar.x - 8, top - 8, "misses by", {class: "romae-faint", "text-anchor": "end"})],
      kit.svg("rect", {...bar, class: "sl-rail", width: wide}),
      kit.svg("rect", {...bar, class: "sl-bar", width: wide * Math.min(1, now.missed[name] / FULL)}),
      kit.text(width - 1, top - 8, now.missed[name].toFixed(2), {class: "sl-name", "text-anchor": "end"}),
      kit.svg("path", {class: "sl-missed", d: kit.path([...line, ...real.reverse()]) + "Z"}),
      kit.curve(even(0, data.span, 161).map(t => [x(t), y(now.truth(t))]), "var(--romae-grey)", 2),
      kit.curve(line, paint, 3),
      ...now.times.map((t, k) => kit.svg("circle", {class: "sl-dot", cx: x(t), cy: up(now.values[k]), r: 4.6})));
  }
  function draw() {
    if (!box) return;
    const {width} = box, height = width < 560 ? 84 : kit.height, head = 26, first = 54;
    const tops = names.map((_, i) => first + i * (height + head + 4)), bottom = tops.at(-1) + height;
    kit.frame(svg, width, bottom + 36);
    svg.replaceChildren(...legend(width), ...names.map((name, i) => panel(name, tops[i], height)), ...kit.axes(
      {left: 0, right: width, top: first, bottom},
      {x: {scale: box.x, ticks: [0, 5, 10, 15, 20], format: t => String(t + later), label: "time by this clock"}}));
  }
  function update(speak) {
    compute();
    draw();
    const missed = Object.fromEntries(names.map(name => [name, now.missed[name].toFixed(2)]));
    kit.state({series: chosen, later, missed, times: now.times, values: now.values, at: now.at.map(t => +t.toFixed(6)),
      answers: Object.fromEntries(names.map(name => [name, now.answers[name].map(v => +v.toFixed(6))]))});
    if (speak) announce(`By a clock that starts ${later} later RoPE misses by ${missed.rotated}, added sines by `
      + `${missed.added}, the bias by ${missed.bias}.`);
  }
  update(false);
  kit.sized(svg, width => {
    box = {width, x: kit.linear([0, data.span], [12, width - 12])};
    draw();
  });
}

// A trained RoMAE in the page: hide readings of a series, and see what the model is given and what it says between.
function explorable(root, data, kit) {
  const model = romae.load(data.model), samples = data.samples.map(prepare), announce = kit.announcer(root);
  let k = 0, seed = 1, hidden = new Set(), cursor = 0, filled = [], line = [];

  function prepare(sample) {
    const unit = rows => rows.map(row => row.map(v => v / data.scale));
    return {...sample, values: unit(sample.values), positions: unit(sample.positions), curve: unit(sample.curve)};
  }
  // What the model says at the hidden readings, and of the whole curve, at the times of the true one.
  function ask({values, positions, curve}) {
    const seen = values.map((_, i) => i).filter(i => !hidden.has(i)), of = list => seen.map(i => list[i]);
    const said = romae.decode(model, romae.encode(model, of(values), of(positions)), curve.map(([t]) => [t]));
    filled = romae.predict(model, values, positions, hidden);
    line = curve.map(([t], i) => [t, said[i][0]]);
  }
  // linear interpolation in time
  function straight({values, positions}, i) {
    const seen = values.map((_, j) => j).filter(j => !hidden.has(j)), t = j => positions[j][0];
    const after = seen.find(j => t(j) >= t(i)), before = seen.findLast(j => t(j) <= t(i));
    if (after === undefined || before === undefined) return values[after ?? before][0];
    return values[before][0] + (values[after][0] - values[before][0]) * (t(i) - t(before)) / (t(after) - t(before));
  }
  const error = ({values}, of) =>
    [...hidden].reduce((sum, i) => sum + (of(i) - values[i][0]) ** 2, 0) / hidden.size;

  // --- masks ---------------------------------------------------------------------------------------------------------
  const total = () => samples[k].values.length;
  function draw(count) {
    const next = kit.random(seed), noise = Array.from({length: total()},
      (_, i) => [next(), i]).sort((a, b) => a[0] - b[0]);
    hidden = new Set(noise.slice(0, count).map(([, i]) => i));
  }
  function flip(i) {
    if (hidden.has(i) ? hidden.size === 1 : hidden.size === total() - 1) return;  // one to show and one to hide
    hidden.has(i) ? hidden.delete(i) : hidden.add(i);
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const picks = kit.el("div", {class: "mr-picks"}), panels = kit.el("div", {class: "mr-panels"}),
    facts = kit.el("p", {class: "mr-facts"});
  const slider = kit.slider({label: "Hidden", min: 1, max: 24, value: 1,
    format: v => `${v} of ${total()} (${Math.round(100 * v / total())} %)`,
    describe: v => `${v} of ${total()} tokens`, change: v => { draw(v); update(); }});
  const again = kit.button("draw again", {class: "romae-button"}, () => { seed++; draw(hidden.size); update(); });
  const strips = ["encoder", "decoder"].map(name => ({name, svg: kit.svg("svg", {role: "img"}), box: kit.el("div")}));
  strips.forEach(({svg, box}) => box.append(svg));
  root.append(picks, panels, kit.el("div", {class: "romae-row"}, slider.node, again),
    kit.el("div", {class: "mr-strips"}, ...strips.flatMap(({name, box}) => [kit.el("span", {}, `${name} gets`), box])),
      facts);

  function thumbnail({curve}) {
    const node = kit.svg("svg", {viewBox: "0 0 32 32", "aria-hidden": "true"});
    const [t0, t1] = [curve[0][0], curve.at(-1)[0]];
    node.append(kit.curve(curve.map(([t, v]) => [1 + 30 * (t - t0) / (t1 - t0), 16 - 9 * v]), "currentColor", 1.5));
    return node;
  }
  function choices() {
    picks.replaceChildren(...samples.map((sample, i) => kit.button(thumbnail(sample), {"data-sample": i,
      "aria-pressed": i === k, "aria-label": sample.label, title: sample.label}, () => choose(i))));
  }
  function choose(sample) {
    const held = picks.contains(document.activeElement);
    k = sample;
    choices();
    if (held) picks.children[k].focus({preventScroll: true});
    build();
    update();
  }

  // --- the series ----------------------------------------------------------------------------------------------------
  let show = () => {};
  function board() {
    const node = kit.svg("svg", {class: "mr-board", tabindex: 0, role: "group",
      "aria-label": "Tokens: arrows move, space hides or shows"});
    node.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1};
      if (event.key === " " || event.key === "Enter") flip(cursor);
      else if (event.key in moves) { const to = cursor + moves[event.key]; if (to >= 0 && to < total()) cursor = to; }
      else return;
      event.preventDefault();
      update(`Token ${cursor} ${hidden.has(cursor) ? "hidden" : "visible"}. `);
    });
    return node;
  }
  function build() {
    const sample = samples[k], svg = board(), title = kit.el("p", {class: "romae-faint"},
      "full: what the encoder gets · hollow: hidden · blue: what RoMAE fills in · thin: the true curve");
    const holder = kit.el("div", {}, title, svg);
    panels.replaceChildren(holder);
    ask(sample);
    kit.set(slider.input, {max: total() - 1});
    let width = 0, place = null;
    svg.addEventListener("click", event => {
      if (!place) return;
      const frame = svg.getBoundingClientRect(), px = (event.clientX - frame.left) / frame.width * width,
        py = event.clientY - frame.top;
      const away = i => {
        const [x, y] = place(sample.positions[i][0], sample.values[i][0]);
        return (x - px) ** 2 + (y - py) ** 2;
      };
      cursor = sample.values.reduce((best, _, i) => away(i) < away(best) ? i : best, 0);
      flip(cursor);
      update();
    });
    const paint = () => {
      if (!width) return;
      const height = Math.round(Math.min(230, kit.height * 0.75)),
        [t0, t1] = [sample.curve[0][0], sample.curve.at(-1)[0]];
      const reach = 1.12 * Math.max(...sample.values.map(([v]) => Math.abs(v))),
        across = kit.linear([t0, t1], [8, width - 8]), up = kit.linear([-reach, reach], [height - 24, 6]);
      place = (t, v) => [across(t), up(kit.clamp(v, -reach, reach))];
      kit.frame(svg, width, height);
      const gone = [...hidden].sort((a, b) => a - b).map(i => place(sample.positions[i][0], filled[i][0]));
      const parts = [...kit.axes({left: 0, right: width, bottom: height - 20},
        {x: {scale: across, ticks: across.ticks(5), line: true, drop: 15}}),
        kit.curve(sample.curve.map(([t, v]) => place(t, v)), "currentColor", 1.2, null, {"stroke-opacity": 0.45}),
        kit.curve(line.map(([t, v]) => place(t, v)), "var(--romae-blue)", 1.6),
        ...sample.values.map(([v], i) => { const [cx, cy] = place(sample.positions[i][0], v);
          return kit.svg("circle", {cx, cy, r: 3.6,
          style: hidden.has(i) ? "fill:none;stroke:currentColor;stroke-opacity:.5" : "fill:currentColor"}); }),
        ...gone.map(([cx, cy]) => kit.svg("rect", {x: cx - 3, y: cy - 3, width: 6, height: 6,
          transform: `rotate(45 ${cx} ${cy})`, style: "fill:var(--romae-blue)"}))];
      const [cx, cy] = place(sample.positions[cursor][0], sample.values[cursor][0]);
      parts.push(kit.svg("circle", {cx, cy, r: 7, class: "mr-mark", fill: "none", "stroke-width": 1.6}));
      svg.replaceChildren(...parts);
    };
    show = paint;
    kit.sized(holder, w => { width = w; paint(); });
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  const looks = {c: "fill:currentColor;fill-opacity:.8", v: "fill:var(--romae-blue);fill-opacity:.75",
    m: "fill:none;stroke:var(--romae-vermillion);stroke-width:1.4"};
  function drawStrips() {
    const {cls} = model, V = total() - hidden.size,
      kinds = {encoder: "v".repeat(V), decoder: "v".repeat(V) + "m".repeat(hidden.size)};
    for (const {name, svg, box} of strips) {
      const list = [...(cls ? "c" : "") + kinds[name]], width = Math.max(box.clientWidth, 50),
        pitch = Math.min(13, width / (total() + 1));
      kit.frame(svg, width, 16, {"aria-label": `${list.length} tokens`});
      svg.replaceChildren(...list.map((kind, i) => kit.svg("rect", {x: i * pitch + 1, y: 2, width: pitch - 2,
        height: 12, rx: Math.min(2.5, pitch / 4), style: looks[kind]})));
    }
  }
  function update(spoken = "") {
    const sample = samples[k];
    ask(sample);
    show();
    slider.set(hidden.size);
    drawStrips();
    const n = total() + (model.cls ? 1 : 0), of = (z, count) => z.depth * romae.blockCost(z, count);
    const now = of(model.encoder, n - hidden.size) + of(model.decoder, n),
      full = of(model.encoder, n) + of(model.decoder, n), share = Math.round(100 * now / full);
    const mse = error(sample, i => filled[i][0]).toFixed(4), other = error(sample, i => straight(sample, i)).toFixed(4);
    facts.textContent = `Mean squared error on the hidden readings: ${mse} (straight lines: ${other}). `
      + `Multiplications: ${(now / 1e6).toFixed(2)} million, ${share} % of what they would be if the encoder saw `
        + `every place.`;
    announce(`${spoken}${hidden.size} of ${total()} hidden, error ${mse}.`);
    const gone = [...hidden].sort((a, b) => a - b);
    kit.state({sample: k, label: sample.label, hidden: gone,
      filled: gone.map(i => [...filled[i]].map(v => +v.toFixed(5))), cursor, mse, reference: other,
      multiplications: now, share, draw: seed});
  }
  draw(Math.round(0.5 * total()));
  kit.keep("tokens", () => [...hidden].sort((a, b) => a - b).join("_"), text => {
    const list = new Set(text.split("_").map(kit.number));
    if (!list.size || list.size >= total() || ![...list].every(i => Number.isInteger(i) && i >= 0
      && i < total())) return;
    hidden = list;
    update();
  });
  choices();
  build();
  kit.sized(strips[0].box, drawStrips);
  update();
}

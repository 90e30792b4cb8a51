// A trained RoMAE in the page: hide tokens of a picture or of a series, and see what it is given and what it fills in.
function explorable(root, data, kit) {
  const sources = data.sources.map(prepare), announce = kit.announcer(root);
  let s = 0, k = 0, seed = 1, hidden = new Set(), cursor = 0, filled = [],
    line = null;

  function prepare(source) {
    const unit = rows => rows.map(row => row.map(v => v / data.scale));
    return {...source, model: romae.load(source.model), reference: source.reference && unit(source.reference),
      samples: source.samples.map(x => ({...x, values: unit(x.values), positions: unit(x.positions),
        curve: x.curve && unit(x.curve)}))};
  }
  const predict = ({model}, {values, positions}) => romae.predict(model, values, positions, hidden);
  // Of a model that can be asked anywhere (`alone`): its whole curve, at the times of the true one.
  function between({model}, {values, positions, curve}) {
    if (!model.alone || !curve) return null;
    const seen = values.map((_, i) => i).filter(i => !hidden.has(i)), of = list => seen.map(i => list[i]);
    const said = romae.decode(model, romae.encode(model, of(values), of(positions)), curve.map(([t]) => [t]));
    return curve.map(([t], i) => [t, said[i][0]]);
  }
  // the mean of the training set, or linear interpolation in time
  function guess({reference}, {values, positions}, i) {
    if (reference) return reference[i];
    const seen = values.map((_, j) => j).filter(j => !hidden.has(j)), t = j => positions[j][0];
    const after = seen.find(j => t(j) >= t(i)), before = seen.findLast(j => t(j) <= t(i));
    if (after === undefined || before === undefined) return values[after ?? before];
    return [values[before][0] + (values[after][0] - values[before][0]) * (t(i) - t(before)) / (t(after) - t(before))];
  }
  const error = (sample, of) => {
    let sum = 0, count = 0;
    for (const i of hidden) sample.values[i].forEach((v, j) => { sum += (of(i)[j] - v) ** 2; count++; });
    return sum / count;
  };

  // --- masks ---------------------------------------------------------------------------------------------------------
  const total = () => sources[s].samples[k].values.length;
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

  function thumbnail(source, sample) {
    const node = kit.svg("svg", {viewBox: "0 0 32 32", "aria-hidden": "true"});
    if (source.grid) for (const {x, y, v} of pixels(source, i => sample.values[i])) {
      const unit = 32 / (source.grid[1] * side(source));
      if (v > 0.05) node.append(kit.svg("rect", {x: x * unit, y: y * unit, width: unit + 0.05, height: unit + 0.05,
        "fill-opacity": v.toFixed(2), style: "fill:currentColor"}));
    } else {
      const [t0, t1] = [sample.curve[0][0], sample.curve.at(-1)[0]];
      node.append(kit.curve(sample.curve.map(([t, v]) => [1 + 30 * (t - t0) / (t1 - t0), 16 - 9 * v]), "currentColor",
        1.5));
    }
    return node;
  }
  function choices() {
    const kinds = sources.length < 2 ? [] : sources.map((source, i) => kit.button(source.name,
      {class: "romae-button", "aria-pressed": i === s}, () => choose(i, 0)));
    const thumbs = sources[s].samples.map((sample, i) => kit.button(thumbnail(sources[s], sample),
      {"data-sample": i, "aria-pressed": i === k, "aria-label": sample.label, title: sample.label},
        () => choose(s, i)));
    picks.replaceChildren(...kinds, ...thumbs);
  }
  function choose(source, sample) {
    const other = source !== s, share = hidden.size / total(),
      held = picks.contains(document.activeElement) ? [...picks.children].indexOf(document.activeElement) : -1;
    s = source; k = sample;
    if (other) { draw(kit.clamp(Math.round(share * total()), 1, total() - 1)); cursor = 0; }
    choices();
    if (held >= 0) picks.children[Math.min(held, picks.children.length - 1)].focus({preventScroll: true});
    build();
    update();
  }

  // --- pictures and series -------------------------------------------------------------------------------------------
  const side = source => Math.sqrt(source.model.patch);
  function pixels(source, of) {
    const out = [], n = side(source);
    for (let i = 0; i < source.grid[0] * source.grid[1]; i++) of(i).forEach((v, j) => out.push({i,
      x: i % source.grid[1] * n + j % n, y: Math.floor(i / source.grid[1]) * n + Math.floor(j / n),
        v: kit.clamp(v, 0, 1)}));
    return out;
  }
  let show = () => {};
  function board() {
    const node = kit.svg("svg", {class: "mr-board", tabindex: 0, role: "group",
      "aria-label": "Tokens: arrows move, space hides or shows"});
    node.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const columns = sources[s].grid ? sources[s].grid[1] : 1, moves = {ArrowRight: 1, ArrowLeft: -1,
        ArrowDown: columns, ArrowUp: -columns};
      if (event.key === " " || event.key === "Enter") flip(cursor);
      else if (event.key in moves) { const to = cursor + moves[event.key]; if (to >= 0 && to < total()) cursor = to; }
      else return;
      event.preventDefault();
      update(`Token ${cursor} ${hidden.has(cursor) ? "hidden" : "visible"}. `);
    });
    return node;
  }
  function build() {
    const source = sources[s];
    filled = predict(source, source.samples[k]);
    panels.className = "mr-panels" + (source.grid ? " mr-three" : "");
    kit.set(slider.input, {max: total() - 1});
    if (source.grid) buildPicture(source);
    else buildSeries(source);
  }
  function buildPicture(source) {
    const [rows, columns] = source.grid, n = side(source), sample = source.samples[k], size = [columns * n, rows * n];
    const views = ["what the encoder gets", "what RoMAE fills in", "the original"].map((title, v) => {
      const svg = v ? kit.svg("svg", {role: "img", "aria-label": title}) : board(),
        dots = kit.svg("g", {"shape-rendering": "crispEdges"}), tiles = kit.svg("g");
      kit.set(svg, {viewBox: `-0.3 -0.3 ${size[0] + 0.6} ${size[1] + 0.6}`});
      svg.append(kit.svg("rect", {width: size[0], height: size[1], rx: 0.5, style: "fill:currentColor",
        "fill-opacity": 0.04}), dots, tiles);
      const rects = pixels(source,
        i => sample.values[i]).map(({i, x, y}) =>
        ({i, node: dots.appendChild(kit.svg("rect", {x, y, width: 1, height: 1, style: "fill:currentColor"}))}));
      const frames = sample.values.map((_, i) => tiles.appendChild(kit.svg("rect",
        {x: i % columns * n + 0.12, y: Math.floor(i / columns) * n + 0.12, width: n - 0.24, height: n - 0.24,
        rx: 0.5})));
      return {title, svg, rects, frames};
    });
    const mark = views[0].svg.appendChild(kit.svg("rect", {class: "mr-mark", width: n - 0.24, height: n - 0.24, rx: 0.5,
      fill: "none", "stroke-width": 0.3}));
    panels.replaceChildren(...views.map(v => kit.el("div", {}, kit.el("p", {class: "romae-faint"}, v.title), v.svg)));
    views[0].svg.addEventListener("click", event => {  // a finger that scrolls is none
      const frame = views[0].svg.getBoundingClientRect(),
        at = (p, low, length, many) => kit.clamp(Math.floor((p - low) / length * many), 0, many - 1);
      cursor = at(event.clientY, frame.top, frame.height, rows) * columns + at(event.clientX, frame.left, frame.width,
        columns);
      flip(cursor);
      update();
    });
    show = () => {
      const from = [i => sample.values[i], i => filled[i] ?? sample.values[i], i => sample.values[i]];
      views.forEach(({rects, frames}, v) => {
        const values = pixels(source, from[v]);
        rects.forEach(({i, node}, j) => node.setAttribute("fill-opacity",
          v === 0 && hidden.has(i) ? 0 : values[j].v.toFixed(3)));
        frames.forEach((node, i) => kit.set(node,
          {style: v === 2 || !hidden.has(i) ? "fill:none" : v ? "fill:none;stroke:var(--romae-blue);stroke-opacity:.55"
          : "fill:var(--romae-grey);fill-opacity:.28;stroke:currentColor;stroke-opacity:.3",
          "stroke-width": 0.14}));
      });
      kit.set(mark, {x: cursor % columns * n + 0.12, y: Math.floor(cursor / columns) * n + 0.12});
    };
  }
  function buildSeries(source) {
    const sample = source.samples[k], svg = board(), title = kit.el("p", {class: "romae-faint"},
      "full: what the encoder gets · hollow: hidden · blue: what RoMAE fills in · thin: the true curve");
    const holder = kit.el("div", {}, title, svg);
    panels.replaceChildren(holder);
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
        kit.curve(line ? line.map(([t, v]) => place(t, v)) : gone, "var(--romae-blue)", 1.6),
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
    const {cls} = sources[s].model, V = total() - hidden.size,
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
    const source = sources[s], sample = source.samples[k], {model} = source;
    filled = predict(source, sample);
    line = between(source, sample);
    show();
    slider.set(hidden.size);
    drawStrips();
    const n = total() + (model.cls ? 1 : 0), of = (z, count) => z.depth * romae.blockCost(z, count);
    const now = of(model.encoder, n - hidden.size) + of(model.decoder, n),
      full = of(model.encoder, n) + of(model.decoder, n), share = Math.round(100 * now / full);
    const mse = error(sample, i => filled[i]).toFixed(4),
      other = error(sample, i => guess(source, sample, i)).toFixed(4);
    facts.textContent = `Mean squared error on the hidden tokens: ${mse} `
      + `(${source.reference ? "mean of the training set" : "linear interpolation"}: ${other}). `
      + `Multiplications: ${(now / 1e6).toFixed(2)} million, ${share} % of what they would be if the encoder saw `
        + `every place.`;
    announce(`${spoken}${hidden.size} of ${total()} hidden, error ${mse}.`);
    const gone = [...hidden].sort((a, b) => a - b);
    kit.state({source: source.name, sample: k, label: sample.label, hidden: gone,
      filled: gone.map(i => [...filled[i]].map(v => +v.toFixed(5))), cursor, mse, reference: other,
      multiplications: now, share, draw: seed});
  }
  draw(Math.round(0.75 * total()));
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

// The error of a named position along the range: seeds, their mean, and a marker that reads it.
function explorable(root, data, kit) {
  const state = {model: 0, i: 0, signed: false};
  const model = () => data.models[state.model], last = () => model().positions.length - 1;
  const mean = rows => rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);
  const precise = v => { const size = Math.abs(v); return (size >= 100 ? v.toFixed(0) : size >= 10 ? v.toFixed(1) : size >= 1 ? v.toFixed(2) : size >= 0.1 ? v.toFixed(3) : size >= 0.001 ? v.toFixed(4) : v.toFixed(5)).replace("-", "−"); };
  const announce = kit.announcer(root);

  root.append(kit.el("style", {}, `
    .romae-explorable .pe-top{display:flex;flex-wrap:wrap;gap:.4rem .9rem;align-items:center;margin:0 0 .3rem}
    .romae-explorable .pe-numbers{display:flex;flex-wrap:wrap;gap:.15rem 1.5rem;margin:.2rem 0 .1rem;font-size:.95em;font-variant-numeric:tabular-nums}
    .romae-explorable .pe-numbers>span{white-space:nowrap}
    .romae-explorable .pe-numbers b{font-weight:650;display:inline-block;min-width:3.1em}
    .romae-explorable .pe-source{margin:.5rem 0 0;font-size:.8em;overflow-wrap:anywhere}`));
  const numbers = {}, number = (id, text) => kit.el("span", {}, text + " ", numbers[id] = kit.el("b"));
  const models = kit.select({label: "Model", options: data.models.map((m, i) => [i, m.name]), value: 0, change: v => choose(+v)});
  const signed = kit.button("with sign", {class: "romae-button", "aria-pressed": "false", title: "Show on which side of the truth the answers lie"}, () => { state.signed = !state.signed; redraw(); });
  const where = kit.slider({label: "Position", min: 0, max: last(), value: 0, format: i => model().positions[i] === undefined ? "" : model().positions[i].toFixed(1),
    describe: i => `position ${model().positions[i]}`, change: i => read(i)});
  const drawing = kit.el("div"), source = kit.el("p", {class: "pe-source romae-faint"});
  root.append(kit.el("div", {class: "pe-top"}, models.node, signed), drawing,
    kit.el("div", {class: "pe-numbers", "aria-hidden": "true"}, number("at", "at"), number("error", "mean error"), number("span", "seeds from")),
    kit.el("div", {class: "romae-row"}, where.node), source);

  const svg = kit.svg("svg"), ground = kit.svg("g"), zone = kit.svg("rect", {fill: "transparent", style: "cursor:crosshair"}), marker = kit.svg("g");
  svg.append(ground, zone, marker);
  drawing.append(svg);
  let across, up, width = 0;
  const nearest = x => {
    const {positions} = model(), at = across.invert(x), share = (at - positions[0]) / (positions[last()] - positions[0]);
    return kit.clamp(Math.round(share * last()), 0, last());  // evenly spaced
  };
  const showMarker = kit.handle(marker, {label: "Position", min: 0, max: last, step: 1, page: 10, value: () => state.i, describe: i => `position ${model().positions[i]}`, to: i => read(i)});
  const slide = {start: x => read(nearest(x)), move: x => read(nearest(x))};
  kit.drag(zone, svg, slide);
  kit.drag(marker, svg, slide);
  zone.addEventListener("pointermove", event => {  // a mouse reads without pressing
    if (event.pointerType === "mouse") read(nearest(event.clientX - svg.getBoundingClientRect().left));
  });

  const top = 26, bottom = () => kit.height - 36;
  function draw(now = width) {
    if (!now) return;
    width = now;
    const {positions, paper} = model(), rows = state.signed ? model().signed : model().absolute, middle = mean(rows), all = rows.flat();
    const left = 46, right = width - 14, ends = [positions[0], positions[last()]];
    across = kit.linear(ends, [left, right]);
    const said = Object.values(paper);
    let levels, low, high;
    if (state.signed) {
      high = Math.max(...all.map(Math.abs)) * 1.08 || 1;
      up = kit.linear([-high, high], [bottom(), top]);
      levels = kit.ticks(-high, high, 4);
    } else {
      const sorted = [...middle].sort((a, b) => a - b);
      low = Math.max(Math.min(sorted[Math.floor(sorted.length / 20)], ...said) / 2, 1e-6);  // zero crossings may go below
      high = Math.max(...all, ...said) * 1.3;
      const raw = kit.log([low, high], [bottom(), top]);
      up = v => Math.min(raw(v), bottom());
      levels = [];
      for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
        for (const m of high / low > 300 ? [1] : high / low > 30 ? [1, 3] : [1, 2, 5]) if (m * 10 ** power >= low && m * 10 ** power <= high) levels.push(+(m * 10 ** power).toPrecision(1));
    }
    kit.set(svg, {viewBox: `0 0 ${width} ${kit.height}`, height: kit.height});
    kit.set(zone, {x: left - 8, y: top, width: right - left + 16, height: bottom() - top + 20});
    const line = row => kit.path(row.map((v, i) => [across(positions[i]), up(v)]));
    const parts = [kit.text(left - 8, 14, state.signed ? "answer − truth" : "absolute error", {class: "romae-faint"}),
      ...levels.flatMap(v => [kit.svg("line", {x1: left, x2: right, y1: up(v), y2: up(v), style: "stroke:currentColor", "stroke-opacity": state.signed && v === 0 ? 0.45 : 0.11}),
        kit.text(left - 6, up(v) + 4, String(v).replace("-", "−"), {"text-anchor": "end"})]),
      kit.svg("line", {x1: left, x2: right, y1: bottom(), y2: bottom(), style: "stroke:currentColor", "stroke-opacity": 0.4}),
      ...kit.ticks(...ends, width < 450 ? 4 : 8).map(v => kit.text(across(v), bottom() + 16, String(v), {"text-anchor": "middle"})),
      kit.text((left + right) / 2, kit.height - 4, "true position", {"text-anchor": "middle", class: "romae-faint"})];
    if (rows.length > 1) for (const row of rows) parts.push(kit.svg("path", {d: line(row), fill: "none", "stroke-width": 0.8, style: "stroke:var(--romae-blue)", "stroke-opacity": 0.38}));
    parts.push(kit.svg("path", {d: line(middle), fill: "none", "stroke-width": 2.1, "stroke-linejoin": "round", style: "stroke:var(--romae-blue)"}));
    if (!state.signed && said.length) {
      const orange = "stroke:var(--romae-vermillion)", span = ends[1] - ends[0];
      if (paper.central) parts.push(kit.svg("line", {x1: across(ends[0] + span / 10), x2: across(ends[1] - span / 10), y1: up(paper.central), y2: up(paper.central), style: orange, "stroke-width": 1.8, "stroke-dasharray": "6 4"}),
        kit.text(across(ends[0] + span / 2), up(paper.central) - 6, "the paper's mean here", {"text-anchor": "middle", class: "romae-halo", style: "fill:var(--romae-vermillion)"}));
      for (const [key, x] of [["first", ends[0]], ["last", ends[1]]]) if (paper[key])
        parts.push(kit.svg("path", {d: `M${across(x)} ${up(paper[key]) - 6}l6 6l-6 6l-6 -6z`, style: "fill:var(--romae-vermillion)"}));
    }
    ground.replaceChildren(...parts);
    drawMarker();
  }
  function drawMarker() {
    if (!across) return;
    const x = across(model().positions[state.i]), y = up(mean(state.signed ? model().signed : model().absolute)[state.i]);
    marker.replaceChildren(kit.svg("rect", {x: x - 12, y: top, width: 24, height: bottom() - top, fill: "transparent"}),
      kit.svg("line", {x1: x, x2: x, y1: top, y2: bottom(), style: "stroke:currentColor", "stroke-opacity": 0.6, "stroke-width": 1.2, "pointer-events": "none"}),
      kit.svg("circle", {cx: x, cy: y, r: 5.5, style: "fill:var(--romae-blue);stroke:currentColor", "stroke-width": 1.2}));
    showMarker(state.i);
  }
  function choose(i) {
    const share = state.i / last();
    state.model = i;
    state.i = Math.round(share * last());
    where.input.max = last();
    redraw();
  }
  function redraw() {
    draw();
    update();
  }
  function read(i) {
    state.i = kit.clamp(i, 0, last());
    update();
  }
  function update() {
    const rows = model().absolute, column = rows.map(row => row[state.i]), error = mean(rows)[state.i], side = mean(model().signed)[state.i];
    const value = state.signed ? side : error, values = state.signed ? model().signed.map(row => row[state.i]) : column;
    numbers.at.textContent = model().positions[state.i].toFixed(1);
    numbers.error.textContent = precise(value);
    numbers.span.textContent = values.length > 1 ? `${precise(Math.min(...values))} to ${precise(Math.max(...values))}` : "one only";
    signed.setAttribute("aria-pressed", state.signed);
    where.set(state.i);
    source.textContent = model().source;
    drawMarker();
    announce(`${model().name}, position ${model().positions[state.i].toFixed(1)}, mean ${state.signed ? "signed " : ""}error ${precise(value)}.`);
    kit.state({model: model().name, i: state.i, position: model().positions[state.i].toFixed(1), signed: state.signed, error: error.toFixed(6), bias: side.toFixed(6),
      lowest: Math.min(...column).toFixed(6), highest: Math.max(...column).toFixed(6), seeds: rows.length, shown: numbers.error.textContent});
  }
  state.i = Math.round(0.3 * last());
  kit.sized(drawing, draw);
  update();
}

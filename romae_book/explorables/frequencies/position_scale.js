// A factor on the positions: error against frequency and one reconstruction (recorded), how far the fastest pair turns.
function explorable(root, data, kit) {
  const {scales, curves, frequencies: F, length: T} = data, times = Array.from({length: T}, (_, i) => i / (T - 1));
  const all = Array.from({length: data.top + 1}, (_, f) => f);
  let s = data.start.scale, f = data.start.frequency;
  const blue = "var(--romae-blue)", orange = "var(--romae-vermillion)", announce = kit.announcer(root);

  // --- numbers -------------------------------------------------------------------------------------------------------
  const gap = () => scales[s] / (T - 1);  // the fastest pair turns one radian per unit
  const truthAt = t => {
    const c = data.cases[F[f]].sines, a = 2 * Math.PI * F[f] * t;
    return c[0] * Math.sin(a) + c[1] * Math.cos(a);
  };
  function reconstruction() {
    const packed = data.cases[F[f]], hidden = new Set(packed.hidden), error = packed.romae[s][0];
    let seen = 0, gone = 0;
    const values = times.map((t, i) => truthAt(t)
      + (hidden.has(i) ? error[gone++] : data.levels[0] * packed.noise[seen++]) / data.unit);
    return {values, hidden, mse: error.reduce((sum, e) => sum + (e / data.unit) ** 2, 0) / error.length};
  }
  const short = v => v >= 9995 ? v.toExponential(1).replace("e+", "e") : v >= 100 ? v.toFixed(0) : v.toPrecision(3);

  // --- page ----------------------------------------------------------------------------------------------------------
  const scaleSlider = kit.slider({label: "Positions multiplied by", min: 0, max: scales.length - 1, value: s,
    format: i => `× ${scales[i]}`,
    describe: i => `times ${scales[i]}`, change: i => { s = i; update(); }});
  const head = text => kit.el("p", {class: "ps-head"}, text), said = kit.el("p", {class: "ps-said"}), below = head("");
  const errorsAt = kit.el("div"), seriesAt = kit.el("div");
  const graph = kit.svg("svg", {}), main = kit.svg("svg", {role: "img"});
  errorsAt.append(graph);
  seriesAt.append(main);
  root.append(kit.el("div", {class: "romae-row"}, scaleSlider.node),
    said, head("Error against frequency"), errorsAt,
    below, seriesAt);
  scaleSlider.input.disabled = scales.length < 2;

  // --- error against frequency ---------------------------------------------------------------------------------------
  const layer = kit.svg("g"), handle = kit.svg("g");
  graph.append(layer, handle);
  let across, widths = {};
  const nearest = pixel => F.reduce((best, v, i) => Math.abs(across(v) - pixel) < Math.abs(across(F[best]) - pixel) ? i
    : best, 0);
  const choose = i => { if (i !== f) { f = i; update(); } };
  const showHandle = kit.handle(handle, {label: "Frequency of the series", min: 0, max: F.length - 1, step: 1, page: 2,
    value: () => f, describe: i => `${F[i]} Hz`, to: choose});
  kit.drag(handle, graph, {start: x => choose(nearest(x)), move: x => choose(nearest(x))});
  function drawErrors(width = widths.errors) {
    if (!(widths.errors = width)) return;
    const height = 270, left = 36, right = width - 40, top = 22, bottom = height - 44;
    const numbers = [...curves.flatMap(c => [...c.mean, ...(c.high ?? [])]), ...data.zero, ...data.harmonic,
      ...Object.values(data.paper)];
    const low = Math.min(...numbers) * 0.7, high = Math.max(...numbers) * 1.2, y = kit.log([low, high], [bottom, top]);
    across = kit.linear([0, data.top], [left, right]);
    kit.frame(graph, width, height);
    const hertz = [0, 6, 12, 18, 24].filter(v => v <= data.top);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: y, label: "MSE to the noisy values"},
      x: {scale: across, ticks: hertz, format: v => v === 24 ? "24 Hz" : v, line: true, drop: 33}});
    const at = values => values.map((v, i) => [across(i), y(Math.max(v, low))]);  // an interval may reach below zero
    const line = (values, style, wide, dash = "") => kit.svg("path", {d: kit.path(at(values)), fill: "none",
      "stroke-width": wide, "stroke-dasharray": dash, "stroke-linejoin": "round", style});
    parts.push(line(data.zero, `stroke:${orange}`, 1.4, "1.5 3.5"), line(data.harmonic, `stroke:${orange}`, 1.6,
      "6 4"));
    parts.push(kit.text(across(14), y(data.zero[14]) - 7, "predicting zero", {class: "romae-faint"}),
      kit.text(across(1), y(data.harmonic[1]) + 14, "harmonic regression", {class: "romae-faint"}));
    const ends = [];
    curves.forEach((c, i) => i !== s && parts.push(line(c.mean,
      "stroke:color-mix(in srgb,currentColor 34%,transparent)", 1.2)));
    const c = curves[s];
    if (c.low) parts.push(kit.svg("path", {d: kit.path([...at(c.high), ...at(c.low).reverse()]) + "Z",
      style: `fill:${blue}`, "fill-opacity": 0.2}));
    parts.push(line(c.mean, `stroke:${blue}`, 2.6));
    for (const [hz, v] of Object.entries(data.paper)) parts.push(kit.svg("path",
      {d: `M${across(+hz)} ${y(v) - 5}l4.2 5l-4.2 5l-4.2 -5z`, style: "fill:none;stroke:var(--romae-purple)",
      "stroke-width": 1.8}));
    curves.forEach((curve, i) => ends.push({i, y: y(curve.mean[data.top])}));
    ends.sort((a, b) => a.y - b.y).forEach((end, place) => {  // labels beside the curves' ends, pushed apart
      end.y = Math.max(end.y, place ? ends[place - 1].y + 13 : top);
    });
    for (let place = ends.length - 1, floor = bottom; place >= 0;
      place--, floor -= 13) ends[place].y = Math.min(ends[place].y, floor);
    for (const end of ends) parts.push(kit.text(right + 6, end.y + 4, `× ${scales[end.i]}`,
      end.i === s ? {style: `fill:${blue};font-weight:700`} : {class: "romae-faint"}));
    layer.replaceChildren(...parts);
    const x = across(F[f]);
    handle.replaceChildren(
      kit.svg("rect", {x: x - 15, y: top - 8, width: 30, height: bottom - top + 32, fill: "transparent"}),
      kit.rule(x, top - 2, x, bottom, 0.75),
      kit.svg("circle", {cx: x, cy: y(c.mean[F[f]]), r: 5, "stroke-width": 1.3,
        style: `fill:${blue};stroke:currentColor`}),
      kit.svg("path", {d: `M${x} ${bottom + 2}l8 10q0 4 -4 4h-8q-4 0 -4 -4z`, style: "fill:currentColor"}));
    showHandle(f);
  }

  // --- one series ----------------------------------------------------------------------------------------------------
  function drawSeries(width = widths.series) {
    if (!(widths.series = width)) return;
    const height = Math.round(kit.clamp(width * 0.3, 130, 170)), left = 26, right = width - 8, top = 8,
      bottom = height - 22;
    const {values, hidden} = reconstruction(), reach = 1.08 * Math.max(1, ...values.map(Math.abs)),
      r = width < 480 ? 2.1 : 3.1;
    const x = kit.linear([0, 1], [left, right]), y = kit.linear([-reach, reach], [bottom, top]);
    kit.frame(main, width, height);
    const parts = kit.axes({left, right}, {y: {scale: y, ticks: [-1, 0, 1]}});
    parts.push(kit.text(left, height - 6, "0 s", {class: "romae-faint"}),
      kit.text(right, height - 6, "1 s", {class: "romae-faint", "text-anchor": "end"}));
    const fine = Array.from({length: 601}, (_, i) => i / 600);
    parts.push(kit.curve(fine.map(t => [x(t), y(truthAt(t))]), "color-mix(in srgb,currentColor 45%,transparent)", 1.4));
    const sticks = times.map((t, i) => hidden.has(i)
      ? `M${x(t).toFixed(1)} ${y(truthAt(t)).toFixed(1)}V${y(values[i]).toFixed(1)}` : "").join("");
    parts.push(kit.svg("path", {d: sticks, fill: "none", "stroke-width": 1.3, style: `stroke:${blue}`,
      "stroke-opacity": 0.45}));
    times.forEach((t, i) => parts.push(kit.svg("circle", {cx: x(t), cy: y(values[i]), r: hidden.has(i) ? r : r - 0.6,
      style: hidden.has(i) ? `fill:${blue}` : "fill:currentColor"})));
    main.replaceChildren(...parts);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    const {mse} = reconstruction(), c = curves[s], hz = F[f];
    scaleSlider.set(s);
    const turn = gap();
    said.textContent = `The fastest pair turns ${short(turn)} rad between neighbouring samples, ${short(scales[s])} `
      + `rad over the whole series.`;
    below.textContent = `A series of ${hz} Hz, positions × ${scales[s]}: MSE ${mse.toFixed(4)} to the true curve at `
      + `its hidden points`;
    main.setAttribute("aria-label", below.textContent);
    drawErrors();
    drawSeries();
    announce(`Positions times ${scales[s]}, ${hz} Hz: mean squared error ${c.mean[hz]}.`);
    kit.state({scale: scales[s], frequency: hz, error: c.mean[hz], low: c.low?.[hz] ?? null, high: c.high?.[hz] ?? null,
      runs: c.runs, turn: short(turn), mse: mse.toFixed(4)});
  }
  kit.sized(errorsAt, drawErrors);
  kit.sized(seriesAt, drawSeries);
  update();
}

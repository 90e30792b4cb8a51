// A light curve in six bands, the moment until which it is known, and what the model says it is.
function explorable(root, data, kit) {
  const {names, objects, bands} = data, K = names.length, colour = b => `var(--romae-${data.colours[b]})`;
  for (const object of objects) {
    const bytes = atob(object.answer);
    object.at = (step, set) => {  // probabilities, or null where nothing has been seen
      const first = (64 * step + set) * K, found = Array.from({length: K}, (_, k) => bytes.charCodeAt(first + k));
      const total = found.reduce((a, b) => a + b, 0);
      return total ? found.map(v => v / total) : null;
    };
  }
  let o = data.start.object, step = data.start.step, open = 63;
  const announce = kit.announcer(root), percent = p => `${(100 * p).toFixed(0)} %`;
  const days = v => `${+v.toPrecision(3)} days`;
  const describe = i => `${days(objects[o].cuts[i])} after the first detection`;
  const shapes = [  // one for each band, radius about 4
    "M-3.9 0a3.9 3.9 0 1 0 7.8 0a3.9 3.9 0 1 0 -7.8 0z", "M-3.4 -3.4h6.8v6.8h-6.8z", "M0 -4.6l4.4 7.8h-8.8z",
    "M0 -4.8l4.8 4.8l-4.8 4.8l-4.8 -4.8z", "M0 4.6l4.4 -7.8h-8.8z",
      "M-4.4 -1.5h2.9v-2.9h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9z"];

  // --- controls ------------------------------------------------------------------------------------------------------
  const objectButtons = objects.map((object, i) => kit.button(names[object.kind], {class: "romae-button"},
    () => pick(i)));
  const mark = b => kit.svg("svg", {viewBox: "-6 -6 12 12", "aria-hidden": "true"},
    kit.svg("path", {d: shapes[b], style: `fill:${colour(b)}`}));
  const bandButtons = bands.map((name, b) => kit.button([mark(b), name],
    {class: "romae-button lc-band", "aria-label": `Band ${name}`}, () => {
    open ^= 1 << b;
    update();
  }));
  const slider = kit.slider({label: "Known until day", min: 0, max: 1, value: 0,
    format: i => String(+objects[o].cuts[i].toPrecision(3)), describe, change: observe});
  const plot = kit.el("div"), note = kit.el("div", {class: "lc-note romae-faint"});
  const bars = names.map(name => {
    const bar = kit.el("i"), value = kit.el("b");
    return {bar, value, node: kit.el("div", {class: "lc-bar"}, kit.el("span", {}, name), bar, value)};
  });
  root.append(
    kit.el("div", {class: "lc-top"},
      kit.el("div", {role: "group", "aria-label": "Object"}, ...objectButtons),
      kit.el("div", {role: "group", "aria-label": "Bands"}, ...bandButtons)),
    kit.el("div", {class: "lc-main"},
      kit.el("div", {}, plot, kit.el("div", {class: "romae-row"}, slider.node)),
      kit.el("div", {class: "lc-bars"}, ...bars.map(b => b.node), note)));

  // --- the light curve, and the true class over time -----------------------------------------------------------------
  const graph = kit.svg("svg", {}), handle = kit.svg("g", {});
  plot.append(graph);
  const showHandle = kit.handle(handle, {label: "Known until", min: 0, max: () => objects[o].cuts.length - 1, step: 1,
    page: 4, value: () => step, describe, to: observe});
  const zone = kit.svg("rect", {fill: "transparent", style: "cursor:ew-resize"});
  const nearest = x => objects[o].cuts.reduce((best, c, i) =>
    Math.abs(across(c) - x) < Math.abs(across(objects[o].cuts[best]) - x) ? i : best, 0);
  for (const node of [zone, handle]) kit.drag(node, graph,
    {start: x => observe(nearest(x)), move: x => observe(nearest(x))});
  let width = 0, across, bottom, up, points, trace;
  function draw() {
    if (!width) return;
    const object = objects[o], left = 44, right = width - 10, top = 20, middle = 226, strip = 258;
    bottom = 318;
    across = kit.linear([object.from, object.to], [left, right]);
    const squeeze = f => Math.asinh(f / 20), all = object.flux.map(squeeze);
    const low = Math.min(-1, ...all) - 0.3, high = Math.max(1, ...all) + 0.3,
      y = kit.linear([low, high], [middle, top]);
    up = kit.linear([0, 1], [bottom, strip]);
    kit.frame(graph, width, 356);
    const round = [-10000, -1000, -100, -10, 0, 10, 100, 1000, 10000, 100000].filter(f =>
      squeeze(f) >= low && squeeze(f) <= high && (Math.abs(f) !== 10 || high - low <= 7));
    const parts = [
      ...kit.axes({left, right, top, bottom: middle}, {y: {
        scale: f => y(squeeze(f)), ticks: round, label: "flux difference",
        format: f => (Math.abs(f) >= 1000 ? `${f / 1000}k` : String(f)).replace("-", "−")}}),
      ...kit.axes({left, right, bottom}, {
        y: {scale: up, ticks: [0, 1]},
        x: {scale: across, ticks: across.ticks(width < 420 ? 4 : 6), label: "days since the first detection"}})];
    points = object.day.map((day, i) => {
      const node = kit.svg("path", {class: "lc-point", d: shapes[object.band[i]],
        transform: `translate(${across(day).toFixed(2)} ${y(all[i]).toFixed(2)})`, "stroke-width": 1.3});
      return {node, day, band: object.band[i]};
    });
    trace = kit.svg("path", {class: "lc-trace", fill: "none", "stroke-width": 2.2, style: "stroke:var(--romae-blue)"});
    kit.set(zone, {x: left, y: top - 8, width: right - left, height: bottom - top + 12});
    const heading = kit.text(4, strip - 9, `probability of ${names[object.kind]}`,
      {class: "romae-halo", "pointer-events": "none"});
    graph.replaceChildren(...parts, ...points.map(p => p.node), trace, zone, handle, heading);
    paint();
  }
  function paint() {
    if (!width) return;
    const object = objects[o], now = object.cuts[step], x = across(now);
    for (const {node, day, band} of points) {
      const on = open >> band & 1, known = day <= now + 1e-9;
      kit.set(node, {style: known && on ? `fill:${colour(band)};stroke:none`
        : `fill:none;stroke:${colour(band)};stroke-opacity:${on ? 0.55 : 0.14}`});
    }
    const line = [];
    object.cuts.forEach((c, i) => { const p = object.at(i, open); if (p) line.push([across(c), up(p[object.kind])]); });
    trace.setAttribute("d", kit.path(line));
    const p = object.at(step, open);
    const dots = p ? [[up(p[object.kind]), "var(--romae-blue)"]] : [];
    handle.replaceChildren(...kit.marker(x, 14, bottom, dots, "top"));
    showHandle(step);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    const object = objects[o], p = object.at(step, open), now = object.cuts[step];
    const best = p ? p.indexOf(Math.max(...p)) : -1;
    bars.forEach(({node, bar, value}, k) => {
      bar.style.width = p ? `${Math.max(100 * p[k], 0.4)}%` : "0";
      value.textContent = p ? percent(p[k]) : "";
      node.classList.toggle("lc-true", k === object.kind);
    });
    objectButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === o));
    bandButtons.forEach((button, b) => button.setAttribute("aria-pressed", Boolean(open >> b & 1)));
    slider.input.max = object.cuts.length - 1;
    slider.set(step);
    const earlier = object.before.reduce((sum, n, b) => sum + (open >> b & 1 ? n : 0), 0);
    const visits = earlier + object.day.filter((d, i) => d <= now + 1e-9 && open >> object.band[i] & 1).length;
    note.textContent = p ? `from ${visits} `
      + `visit${visits === 1 ? "" : "s"}${earlier ? `, ${earlier} of them before the window` : ""}`
      : "no visit in these bands yet";
    paint();
    const likeliest = p && `Likeliest: ${names[best]}, ${percent(p[best])}; true class ${percent(p[object.kind])}.`;
    announce(`${names[object.kind]}, ${describe(step)}. ${likeliest ?? note.textContent}`);
    kit.state({object: o, truth: names[object.kind], step, day: +now.toPrecision(3),
      bands: bands.filter((_, b) => open >> b & 1).join(""), visits,
      best: p ? names[best] : null, probabilities: p ? Object.fromEntries(names.map((name, k) => [name, percent(p[k])]))
        : null});
  }
  function observe(i) {
    i = Math.min(i, objects[o].cuts.length - 1);
    if (i === step) return;
    step = i;
    update();
  }
  function pick(i) {
    const share = step / Math.max(1, objects[o].cuts.length - 1);
    o = i;
    step = Math.round(share * (objects[o].cuts.length - 1));
    draw();
    update();
  }
  kit.sized(plot, w => { width = w; draw(); });
  update();
}

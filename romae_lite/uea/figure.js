// A multivariate series through a window: which steps the model is shown, and how probable it then finds every class.
function explorable(root, data, kit) {
  const {series, names, levels, range} = data, ends = 10;
  const colours = ["blue", "vermillion", "green", "purple", "amber", "grey"].map(name => `var(--romae-${name})`);
  const dashes = ["", "7 3", "2 2.5", "7 2.5 2 2.5", "11 3", "4 4"];
  let s = 0, from = 0, to = ends, level = data.start;

  const announce = kit.announcer(root), percent = v => `${Math.round(100 * v / 255)} %`;
  const last = () => series[s].step[series[s].step.length - 1] + 1;
  const inside = step => ends * step >= from * last() && ends * step < to * last();
  const kept = () => Math.ceil(levels[level] * series[s].step.length);
  const shown = () => series[s].step.map((step, n) => inside(step) && series[s].rank[n] < kept());
  const answer = () => series[s].probability[from][to - from - 1][level];
  const edge = tenth => `step ${Math.round(tenth * last() / ends)} of ${last()}`;

  // --- controls --------------------------------------------------------------------------------------------------------
  root.append(kit.el("style", {}, `
    .romae-explorable .ue-row{display:grid;grid-template-columns:minmax(5.5em,9em) minmax(0,1fr) 3.4em;gap:.6em;align-items:center;font-size:.93em;min-height:1.75em}
    .romae-explorable .ue-row>span:first-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    .romae-explorable .ue-row>i{display:block;height:.8em;border-radius:3px;background:color-mix(in srgb,currentColor 10%,transparent)}
    .romae-explorable .ue-row>i>i{display:block;height:100%;border-radius:3px;background:var(--romae-blue)}
    .romae-explorable .ue-row b{text-align:right;font-weight:600;font-variant-numeric:tabular-nums}
    .romae-explorable .ue-classes{margin-top:.5rem}`));
  const choose = kit.select({label: "Series", value: "0", change: v => { s = +v; update(); },
    options: series.map((one, i) => [String(i), `${i + 1}: ${names[one.label]}`])});
  const slider = kit.slider({label: "Left out", min: 0, max: levels.length - 1, value: level,
    format: i => `${Math.round(100 * (1 - levels[i]))} %`, describe: i => `${Math.round(100 * (1 - levels[i]))} % of the steps left out`, change: i => { level = i; update(); }});
  const plot = kit.el("div"), graph = kit.svg("svg", {}), classes = kit.el("div", {class: "ue-classes"}), note = kit.el("p", {class: "romae-num", style: "margin:.35rem 0 0;font-size:.93em"});
  plot.append(graph);
  root.append(kit.el("div", {class: "romae-row", style: "margin:0 0 .5rem"}, choose.node, slider.node), plot, note, classes);

  // --- the series and its window -----------------------------------------------------------------------------------------
  const picture = kit.svg("g", {}), shade = kit.svg("g", {}), left = 12;
  let across, width = 0, height = 0;
  const handle = (label, min, max, value, move) => {
    const node = kit.svg("g", {});
    const show = kit.handle(node, {label, min, max, step: 1, page: 3, value, describe: edge, to: move});
    kit.drag(node, graph, {move: x => move(Math.round(across.invert(x)))});
    return {node, show};
  };
  const moveFrom = v => { v = kit.clamp(v, 0, to - 1); if (v !== from) { from = v; update(); } };
  const moveTo = v => { v = kit.clamp(v, from + 1, ends); if (v !== to) { to = v; update(); } };
  const first = handle("Window begins", 0, () => to - 1, () => from, moveFrom), second = handle("Window ends", () => from + 1, ends, () => to, moveTo);
  graph.append(picture, shade, first.node, second.node);
  function draw() {
    if (!width) return;
    const one = series[s], lanes = one.values.length, each = kit.clamp(270 / lanes, 42, 90), top = 6, on = shown();
    height = top + lanes * each + 34;
    across = kit.linear([0, ends], [left, width - left]);
    const place = step => across(ends * (step + 0.5) / last()), floor = top + lanes * each;
    kit.set(graph, {viewBox: `0 0 ${width} ${height}`, height});
    const parts = [];
    one.values.forEach((values, c) => {
      const middle = top + (c + 0.5) * each, [low, high] = range[c];
      const up = kit.linear([low, high > low ? high : low + 1], [middle + each / 2 - 6, middle - each / 2 + 6]);
      parts.push(kit.svg("path", {class: "ue-line", d: kit.path(one.step.map((step, n) => [place(step), up(values[n])])), fill: "none", "stroke-width": 1.1,
        "stroke-dasharray": dashes[c], style: `stroke:${colours[c]}`, "stroke-opacity": 0.45}));
      one.step.forEach((step, n) => { if (on[n]) parts.push(kit.svg("circle", {cx: place(step), cy: up(values[n]), r: 2.4, style: `fill:${colours[c]}`})); });
    });
    for (const v of kit.ticks(0, last(), Math.min(6, Math.floor(width / 90)))) parts.push(kit.text(left + (width - 2 * left) * v / last(), floor + 18, String(v), {"text-anchor": "middle"}));
    parts.push(kit.text(width / 2, floor + 32, "step", {"text-anchor": "middle", class: "romae-faint"}));
    picture.replaceChildren(...parts);
    const veil = (x, w) => kit.svg("rect", {x, y: top, width: Math.max(0, w), height: floor - top, style: "fill:currentColor", "fill-opacity": 0.13});
    shade.replaceChildren(veil(left, across(from) - left), veil(across(to), width - left - across(to)));
    for (const [{node, show}, at] of [[first, from], [second, to]]) {
      const x = across(at);
      node.replaceChildren(
        kit.svg("rect", {x: x - 12, y: top, width: 24, height: floor - top, fill: "transparent"}),
        kit.svg("line", {x1: x, x2: x, y1: top, y2: floor, style: "stroke:currentColor", "stroke-width": 1.6}),
        kit.svg("rect", {x: x - 5, y: (top + floor) / 2 - 15, width: 10, height: 30, rx: 4, style: "fill:currentColor"}));
      show(at);
    }
  }

  // --- state -------------------------------------------------------------------------------------------------------------
  function update() {
    const one = series[s], count = shown().filter(Boolean).length, chances = answer(), order = chances.map((_, c) => c).sort((a, b) => chances[b] - chances[a]);
    const listed = names.length > 5 ? order.slice(0, 5) : names.map((_, c) => c);  // few classes keep their places
    if (!listed.includes(one.label)) listed[listed.length - 1] = one.label;
    note.textContent = `${count} of ${one.step.length} steps shown.` + (count ? ` Most probable: ${names[order[0]]}, ${percent(chances[order[0]])}.` : " Nothing to go by.");
    classes.replaceChildren(...listed.map(c => kit.el("div", {class: "ue-row"},
      kit.el("span", {}, names[c] + (c === one.label ? " ✓" : "")),
      kit.el("i", {"aria-hidden": "true"}, kit.el("i", {style: `width:${100 * chances[c] / 255}%`})),
      kit.el("b", {}, count ? percent(chances[c]) : "–"))));
    slider.set(level);
    draw();
    announce(note.textContent);
    kit.state({series: s + 1, truth: names[one.label], from, to, level, shown: count, answer: count ? names[order[0]] : "",
      probabilities: Object.fromEntries(listed.map(c => [names[c], count ? percent(chances[c]) : "–"]))});
  }
  kit.sized(plot, w => { width = w; draw(); });
  update();
}

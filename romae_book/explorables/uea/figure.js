// A multivariate series through a window: which steps the model is shown, and how probable it then finds every class;
// of handwriting, the pen.
function explorable(root, data, kit) {
  const {series, names, levels, range} = data, ends = 10;
  const colours = ["blue", "vermillion", "green", "purple", "amber", "grey"].map(name => `var(--romae-${name})`);
  const dashes = ["", "7 3", "2 2.5", "7 2.5 2 2.5", "11 3", "4 4"];
  let s = data.first, from = 0, to = data.until, level = data.start;

  const announce = kit.announcer(root), percent = v => `${Math.round(100 * v / 255)} %`;
  const last = () => series[s].step[series[s].step.length - 1] + 1;
  const inside = step => ends * step >= from * last() && ends * step < to * last();
  const kept = () => Math.ceil(levels[level] * series[s].step.length);
  const shown = () => series[s].step.map((step, n) => inside(step) && series[s].rank[n] < kept());
  const answer = () => series[s].probability[from][to - from - 1][level];
  const rocket = () => series[s].minirocket ? series[s].minirocket[from][to - from - 1][level] : null;
  const edge = tenth => `step ${Math.round(tenth * last() / ends)} of ${last()}`;

  // --- controls ------------------------------------------------------------------------------------------------------
  const choose = kit.select({label: "Series", value: String(s), change: v => { s = +v; update(); },
    options: series.map((one, i) => [String(i), `${i + 1}: ${names[one.label]}`])});
  const slider = kit.slider({label: "Left out", min: 0, max: levels.length - 1, value: level,
    format: i => `${Math.round(100 * (1 - levels[i]))} %`,
      describe: i => `${Math.round(100 * (1 - levels[i]))} % of the steps left out`, change: i => {
        level = i;
        update();
      }});
  const plot = kit.el("div"), graph = kit.svg("svg", {}), classes = kit.el("div", {class: "ue-classes"}),
    note = kit.el("p", {class: "romae-num", style: "margin:.35rem 0 0;font-size:.93em"});
  plot.append(graph);
  const writes = !!series[0].pen, paper = kit.svg("svg", {class: "ue-pen", viewBox: "0 0 100 100", role: "img"}),
    other = kit.el("p", {class: "ue-rocket"});
  root.append(kit.el("div", {class: "romae-row", style: "margin:0 0 .5rem"}, choose.node, slider.node),
    kit.el("div", {class: writes ? "ue-main ue-two" : "ue-main"}, ...writes ? [paper] : [], plot), note,
    ...series[0].minirocket ? [other] : [], classes);

  // --- the series and its window -------------------------------------------------------------------------------------
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
  const first = handle("Window begins", 0, () => to - 1, () => from, moveFrom),
    second = handle("Window ends", () => from + 1, ends, () => to, moveTo);
  graph.append(picture, shade, first.node, second.node);
  function draw() {
    if (!width) return;
    const one = series[s], lanes = one.values.length, each = kit.clamp(270 / lanes, 42, 90), top = 6, on = shown();
    height = top + lanes * each + 34;
    across = kit.linear([0, ends], [left, width - left]);
    const place = step => across(ends * (step + 0.5) / last()), floor = top + lanes * each;
    kit.frame(graph, width, height);
    const parts = [];
    one.values.forEach((values, c) => {
      const middle = top + (c + 0.5) * each, [low, high] = range[c];
      const up = kit.linear([low, high > low ? high : low + 1], [middle + each / 2 - 6, middle - each / 2 + 6]);
      parts.push(kit.curve(one.step.map((step, n) => [place(step), up(values[n])]), colours[c], 1.1, dashes[c],
        {class: "ue-line", "stroke-opacity": 0.45}));
      one.step.forEach((step, n) => { if (on[n]) parts.push(kit.dot(place(step), up(values[n]), 2.4, colours[c])); });
    });
    const steps = kit.ticks(0, last(), Math.min(6, Math.floor(width / 90)));
    parts.push(...kit.axes({left, right: width - left, bottom: floor}, {
      x: {scale: v => across(ends * v / last()), ticks: steps, label: "step"}}));
    picture.replaceChildren(...parts);
    const veil = (x, w) => kit.svg("rect", {x, y: top, width: Math.max(0, w), height: floor - top,
      style: "fill:currentColor", "fill-opacity": 0.13});
    shade.replaceChildren(veil(left, across(from) - left), veil(across(to), width - left - across(to)));
    for (const [{node, show}, at] of [[first, from], [second, to]]) {
      const x = across(at);
      node.replaceChildren(
        kit.svg("rect", {x: x - 12, y: top, width: 24, height: floor - top, fill: "transparent"}),
        kit.rule(x, top, x, floor, 1, {"stroke-width": 1.6}),
        kit.svg("rect", {x: x - 5, y: (top + floor) / 2 - 15, width: 10, height: 30, rx: 4,
          style: "fill:currentColor"}));
      show(at);
    }
  }

  // --- the pen: every step's stretch as a line, thick where the tip presses ------------------------------------------
  function write() {
    if (!writes) return;
    const {pen, force, step} = series[s], xs = pen.map(([x]) => x), ys = pen.map(([, y]) => y), on = step.map(inside);
    const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
    const x = v => 50 + 84 * (v - (Math.max(...xs) + Math.min(...xs)) / 2) / size,
      y = v => 50 - 84 * (v - (Math.max(...ys) + Math.min(...ys)) / 2) / size;
    const parts = [kit.curve(pen.map(([a, b]) => [x(a), y(b)]), "currentColor", 1, null, {"stroke-opacity": 0.16})];
    pen.forEach(([a, b], n) => {
      if (n && on[n] && on[n - 1]) parts.push(kit.rule(x(pen[n - 1][0]), y(pen[n - 1][1]), x(a), y(b), 1,
        {class: "ue-ink", "stroke-width": 1.2 + 2.8 * force[n], "stroke-linecap": "round"}));
    });
    paper.replaceChildren(...parts);
    paper.setAttribute("aria-label", `The pen's path, ${names[series[s].label]}, from ${edge(from)} to ${edge(to)}`);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    const one = series[s], count = shown().filter(Boolean).length, chances = answer(),
      order = chances.map((_, c) => c).sort((a, b) => chances[b] - chances[a]);
    const listed = names.length > 5 ? order.slice(0, 5) : names.map((_, c) => c);  // few classes keep their places
    if (!listed.includes(one.label)) listed[listed.length - 1] = one.label;
    note.textContent = `${count} of ${one.step.length} steps shown.`
      + (count ? ` Most probable: ${names[order[0]]}, ${percent(chances[order[0]])}.` : " Nothing to go by.");
    classes.replaceChildren(...listed.map(c => kit.el("div", {class: "ue-row"},
      kit.el("span", {}, names[c] + (c === one.label ? " ✓" : "")),
      kit.el("i", {"aria-hidden": "true"}, kit.el("i", {style: `width:${100 * chances[c] / 255}%`}),
        ...c === one.label && data.target ? [kit.el("u", {style: `left:${100 * data.target}%`})] : []),
      kit.el("b", {}, count ? percent(chances[c]) : "–"))));
    const named = count ? rocket() : null,
      says = named === null ? "–" : names[named] + (named === one.label ? " ✓" : "");
    other.replaceChildren("MiniRocket says: ", kit.el("b", {}, says));
    slider.set(level);
    draw();
    write();
    announce(note.textContent + (one.minirocket ? ` MiniRocket: ${says}.` : ""));
    kit.state({minirocket: named === null ? null : names[named], series: s + 1, truth: names[one.label], from, to,
      level, shown: count, answer: count ? names[order[0]] : "",
      probabilities: Object.fromEntries(listed.map(c => [names[c], count ? percent(chances[c]) : "–"]))});
  }
  kit.sized(plot, w => { width = w; draw(); });
  update();
}

// One dial per pair of channels: the hand stands at position x frequency. Below, the agreement with the unturned
// vector.
function explorable(root, data, kit) {
  const FAR = 100, state = {...data};
  const bases = [10, 100, 1000, 10000, 100000].concat(data.base).filter((b, i, all) => all.indexOf(b) === i).sort(
    (a, b) => a - b);
  const dims = [4, 8, 12, 16, 20, 24, 32,
    60].concat(data.dim).filter((d, i, all) => all.indexOf(d) === i).sort((a, b) => a - b);
  const frequencies = () => kit.frequencies(state.dim, state.p, state.base);
  const agreement = (position, thetas) => thetas.reduce((sum, theta) => sum + Math.cos(position * theta),
    0) / thetas.length;
  const wavelength = theta => !theta ? "∞" : 2 * Math.PI / theta < 100 ? (2 * Math.PI / theta).toFixed(2)
    : (2 * Math.PI / theta).toFixed(0);
  const announce = kit.announcer(root);

  const summary = kit.el("p", {class: "rc-summary"}), dials = kit.el("div", {class: "rc-dials"}),
    curve = kit.el("div", {class: "rc-curve"});
  const position = kit.slider({label: "Position", min: 0, max: FAR, step: 0.01, value: state.position,
    format: v => v.toFixed(2), change: v => move(v)});
  position.node.style.flexBasis = "100%";
  const fraction = kit.slider({label: "p", min: 0, max: 1, step: 0.05, value: state.p, format: v => v.toFixed(2),
    describe: v => `${Math.round(100 * v)} per cent of the pairs turn`, change: v => { state.p = v; rebuild(); }});
  const dim = kit.select({label: "Head dimension", options: dims.map(d => [d, d]), value: state.dim, change: v => {
    state.dim = +v;
    rebuild();
  }});
  const base = kit.select({label: "Base", options: bases.map(b => [b, b.toLocaleString("en")]), value: state.base,
    change: v => { state.base = +v; rebuild(); }});
  root.append(summary, dials, kit.el("div", {class: "romae-row"}, position.node), curve,
    kit.el("div", {class: "romae-row"}, fraction.node, dim.node, base.node));

  // --- dials ---------------------------------------------------------------------------------------------------------
  let thetas, hands = [];
  // Rows of equal length, as few as the width allows.
  function arrange() {
    const rows = Math.ceil(thetas.length / Math.max(1, Math.floor(dials.clientWidth / (thetas.length > 12 ? 58 : 72))));
    dials.style.gridTemplateColumns = `repeat(${Math.ceil(thetas.length / rows)},minmax(0,1fr))`;
  }
  function rebuild() {
    thetas = frequencies();
    arrange();
    const cells = [];
    hands = thetas.map((theta, i) => {
      const colour = theta ? "var(--romae-blue)" : "var(--romae-grey)";
      const ring = kit.svg("circle", {cx: 46, cy: 42, r: 36, fill: "none", "stroke-width": 1.6,
        "stroke-dasharray": theta ? null : "4 4", style: `stroke:${colour}`, "stroke-opacity": theta ? 0.75 : 0.9});
      const sweep = kit.svg("path", {style: `fill:${colour}`, "fill-opacity": 0.16});
      const zero = kit.rule(46, 42, 82, 42, 0.35, {"stroke-width": 1.2});
      const hand = kit.svg("line", {x1: 46, y1: 42, style: `stroke:${colour}`, "stroke-width": 3.4,
        "stroke-linecap": "round"});
      const tip = kit.svg("circle", {r: 6.5, style: `fill:${colour}`});
      const svg = kit.svg("svg", {viewBox: "0 0 92 86"}, ring, sweep, zero, hand, tip);
      cells.push(kit.el("div", {}, svg, `λ ${wavelength(theta)}`));
      let show = () => {};
      if (theta) {
        // The whole dial is the handle; a drag counts full turns, so a hand can be wound up.
        const face = kit.svg("circle", {cx: 46, cy: 42, r: 45, fill: "transparent"});
        svg.append(face);
        show = kit.handle(face, {label: `Position, by the hand of pair ${i + 1} with wavelength ${wavelength(theta)}`,
          name: "", min: 0, max: FAR,
          step: Math.min(1, Math.PI / 12 / theta), value: () => state.position, describe: v => v.toFixed(2), to: move});
        const angle = (x, y) => { const k = svg.clientWidth / 92; return Math.atan2(42 - y / k, x / k - 46); };
        let last;
        kit.drag(face, svg, {free: true, start: (x, y) => { last = angle(x, y); }, move: (x, y) => {
          const turned = (angle(x, y) - last + 3 * Math.PI) % (2 * Math.PI) - Math.PI;
          last += turned;
          move(state.position + turned / theta);
        }});
      } else kit.set(svg, {"aria-hidden": "true"});
      return {theta, sweep, hand, tip, show};
    });
    dials.replaceChildren(...cells);
    if (graphWidth) drawGraph(graphWidth);
    update();
  }

  // --- agreement -----------------------------------------------------------------------------------------------------
  const graph = kit.svg("svg"), handle = kit.svg("g"),
    zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  curve.append(graph);
  let graphWidth = 0, across, up, height;
  const showHandle = kit.handle(handle, {label: "Position", min: 0, max: FAR, step: 0.1, page: 5,
    value: () => state.position, describe: v => v.toFixed(2), to: move});
  const slide = {start: x => move(across.invert(x)), move: x => move(across.invert(x))};
  kit.drag(zone, graph, slide);
  kit.drag(handle, graph, slide);
  function drawGraph(width) {
    graphWidth = width;
    height = kit.height;
    const left = 34, right = width - 10, top = 24, bottom = height - 22;
    across = kit.linear([0, FAR], [left, right]);
    up = kit.linear([-1, 1], [bottom, top]);
    kit.frame(graph, width, height);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: up, ticks: [-1, 0, 1], label: "agreement with the same vector at position 0"}, x: {scale: across}});
    const line = Array.from({length: Math.round(right - left) * 2 + 1}, (_, i) => {
      const x = left + i / 2;
      return [x, up(agreement(across.invert(x), thetas))];
    });
    parts.push(kit.curve(line, "var(--romae-blue)", 1.8));
    kit.set(zone, {x: left - 8, y: top, width: right - left + 16, height: bottom - top + 8});
    graph.replaceChildren(...parts, zone, handle);
    drawHandle();
  }
  function drawHandle() {
    if (!across) return;
    const x = across(state.position), y = up(agreement(state.position, thetas)), bottom = height - 22;
    handle.replaceChildren(kit.svg("rect", {x: x - 14, y: 20, width: 28, height: bottom - 14, fill: "transparent"}),
      kit.rule(x, 20, x, bottom, 1, {"stroke-width": 1.2}),
      kit.svg("circle", {cx: x, cy: y, r: 6, style: "fill:var(--romae-blue);stroke:currentColor",
        "stroke-width": 1.2}));
    showHandle(+state.position.toFixed(2));
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function move(to) {
    state.position = Math.round(100 * kit.clamp(to, 0, FAR)) / 100;
    update();
  }
  function update() {
    for (const {theta, sweep, hand, tip, show} of hands) {
      const angle = state.position * theta, rest = angle % (2 * Math.PI), x = 46 + 36 * Math.cos(angle),
        y = 42 - 36 * Math.sin(angle);
      kit.set(hand, {x2: x, y2: y});
      kit.set(tip, {cx: x, cy: y});
      sweep.setAttribute("d",
        theta ? `M46 42L82 42A36 36 0 ${rest > Math.PI ? 1 : 0} 0 ${x.toFixed(2)} ${y.toFixed(2)}Z` : "");
      show(+state.position.toFixed(2));
    }
    position.set(state.position);
    const kept = thetas.filter(Boolean).length, pairs = thetas.length,
      agree = agreement(state.position, thetas).toFixed(3);
    const longest = kept ? wavelength(thetas[kept - 1]) : "–";
    summary.textContent =
      `${kept} of ${pairs} pairs turn, longest wavelength ${longest}; agreement at ${state.position.toFixed(2)}: `
      + `${agree}`.replace("-", "−");
    drawHandle();
    announce(`Position ${state.position.toFixed(2)}, agreement ${agree}, ${kept} of ${pairs} pairs turn.`);
    kit.state({position: state.position.toFixed(2), dim: state.dim, p: state.p.toFixed(2), base: state.base,
      turning: kept, pairs, longest, agreement: agree,
      angles: thetas.map(theta => (state.position * theta).toFixed(4))});
  }
  rebuild();
  kit.sized(dials, arrange);
  kit.sized(curve, drawGraph);
}

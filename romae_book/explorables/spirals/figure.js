// Truth, noisy points, RoMAE and the Bayes-optimal curve of one test spiral, for a chosen number of observed points.
function explorable(root, data, kit) {
  const {counts} = data, last = counts.length - 1, total = data.spirals[0].order.length;
  const unpack = flat => Array.from({length: flat.length / 2}, (_, i) => [flat[2 * i] / data.scale,
    flat[2 * i + 1] / data.scale]);
  const models = [
    {id: "romae", name: "RoMAE", colour: "var(--romae-blue)", width: 2.75, dash: ""},
    {id: "bayes", name: "Bayes-optimal", colour: "var(--romae-vermillion)", width: 2.25, dash: "7 4"}];
  const spirals = data.spirals.map(packed => {
    const clean = unpack(packed.clean), spiral = {turn: packed.turn, order: packed.order, clean,
      noisy: unpack(packed.noisy)};
    for (const {id} of models) {
      const errors = packed[id].map(unpack);
      spiral[id] = errors.map(error => error.map(([dx, dy], i) => [clean[i][0] + dx, clean[i][1] + dy]));
      // RMSE over both coordinates of the hidden points; null where nothing is hidden.
      spiral[id + "Rmse"] = errors.map((error, k) => {
        const hidden = packed.order.slice(counts[k]);
        return hidden.length ? Math.sqrt(hidden.reduce((sum, i) => sum + error[i][0] ** 2 + error[i][1] ** 2,
          0) / (2 * hidden.length)) : null;
      });
    }
    spiral.rank = packed.order.reduce((rank, i, place) => { rank[i] = place; return rank; }, []);
    spiral.noise = Math.sqrt(clean.reduce((sum, [x, y], i) => sum + (spiral.noisy[i][0] - x) ** 2
      + (spiral.noisy[i][1] - y) ** 2, 0) / (2 * clean.length));
    return spiral;
  });
  const digits = value => value === null ? "–" : value.toFixed(4);

  let s = 0, k = data.start, playing = null, exaggerate = 1;
  const shown = {truth: true, romae: true, bayes: true};
  const announce = kit.announcer(root), tween = kit.tween(320);

  // --- controls ------------------------------------------------------------------------------------------------------

  const thumbnails = spirals.map((spiral, i) => {
    const [x0, x1] = extent(spiral.clean, 0), [y0, y1] = extent(spiral.clean, 1), size = Math.max(x1 - x0, y1 - y0);
    const path = kit.path(spiral.clean.map(([x, y]) => [16 + 27 * (x - (x0 + x1) / 2) / size,
      16 - 27 * (y - (y0 + y1) / 2) / size]));
    return kit.button(kit.svg("svg", {viewBox: "0 0 32 32", "aria-hidden": "true"}, kit.svg("path", {d: path})),
      {"aria-label": `Test spiral ${i + 1}, ${spiral.turn}`, title: `Test spiral ${i + 1}, ${spiral.turn}`}, () => {
        stop();
        pick(i);
      });
  });
  const truth = {id: "truth", name: "True curve", colour: "color-mix(in srgb,currentColor 55%,transparent)",
    width: 1.75};
  const head = ["show", "RMSE on the hidden points"];
  const legend = kit.legend({rows: [...models, truth], shown, head, change: () => update(false)});
  const dot = filled => kit.svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"},
    kit.svg("circle", {cx: 5, cy: 5, r: 3.6,
    style: filled ? "fill:currentColor" : "fill:none;stroke:currentColor;stroke-width:1.2"}));
  const louder = kit.button("errors ×10", {class: "romae-button", "aria-pressed": "false",
    title: "Draw the curves ten times as far from the true curve as they are"}, () => {
    exaggerate = exaggerate === 1 ? 10 : 1;
    louder.setAttribute("aria-pressed", exaggerate > 1);
    update(true);
  });
  const seen = kit.el("span"), unseen = kit.el("span");
  const slider = kit.slider({label: "Observed", min: 0, max: last, value: k, format: i => `${counts[i]} of ${total}`,
    describe: i => `${counts[i]} of ${total} points`, change: i => { stop(); observe(i); }});
  const play = kit.playButton(() => playing ? stop() : start());
  const plot = kit.el("div", {class: "sp-plot"}), curve = kit.el("div", {class: "sp-curve"});
  root.append(kit.el("div", {class: "sp-split"},
    plot,
    kit.el("div", {class: "romae-row sp-controls"}, play.node, slider.node),
    kit.el("div", {class: "sp-side"},
      kit.el("div", {class: "sp-picks", role: "group", "aria-label": "Test spiral"}, ...thumbnails),
      kit.el("div", {class: "sp-legend"},
        legend.node,
        kit.el("div", {class: "sp-points"}, kit.el("span", {}, dot(true), seen), kit.el("span", {}, dot(false), unseen),
          louder)),
      curve)));

  // --- the spiral ----------------------------------------------------------------------------------------------------
  function extent(points, axis) { const v = points.map(p => p[axis]); return [Math.min(...v), Math.max(...v)]; }
  const main = kit.svg("svg", {role: "img", style: "overflow:hidden"});
  plot.append(main);
  let place, radius;  // from data to pixels
  const layer = {grid: kit.svg("g"), hidden: kit.svg("g"), truth: kit.svg("path"), bayes: kit.svg("path"),
    romae: kit.svg("path"), seen: kit.svg("g")};
  const warning = kit.text(8, 18, "errors drawn ×10", {class: "romae-faint"});
  main.append(...Object.values(layer), warning);
  kit.set(layer.truth, {fill: "none", "stroke-width": 1.75,
    style: "stroke:color-mix(in srgb,currentColor 50%,transparent)"});
  for (const m of models)
    kit.set(layer[m.id], {fill: "none", "stroke-width": m.width, "stroke-dasharray": m.dash, "stroke-linejoin": "round",
      "stroke-linecap": m.dash ? "butt" : "round", style: `stroke:${m.colour}`});
  let points = [];

  function drawMain(width) {
    const height = Math.round(Math.min(kit.height, width * 0.9)), {clean, noisy, order} = spirals[s];
    const [x0, x1] = extent([...clean, ...noisy], 0), [y0, y1] = extent([...clean, ...noisy], 1), pad = 16;
    const zoom = Math.min((width - 2 * pad) / (x1 - x0), (height - 2 * pad) / (y1 - y0));
    place = ([x, y]) => [width / 2 + zoom * (x - (x0 + x1) / 2), height / 2 - zoom * (y - (y0 + y1) / 2)];
    radius = width < 340 ? 3 : 3.6;
    kit.frame(main, width, height);
    // A faint grid stands in for axes; one bar says how wide its squares are.
    const unit = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20].find(u => u * zoom >= 44) ?? 50,
      faint = {style: "stroke:currentColor", "stroke-opacity": 0.09};
    const multiples = (middle, pixels) => {
      const reach = pixels / zoom / 2, first = Math.ceil((middle - reach) / unit);
      return Array.from({length: Math.floor((middle + reach) / unit) - first + 1}, (_, i) => (first + i) * unit);
    };
    const grid = [
      ...multiples((x0 + x1) / 2, width).map(x => {
        const [px] = place([x, 0]);
        return kit.svg("line", {x1: px, x2: px, y1: 0, y2: height, ...faint});
      }),
      ...multiples((y0 + y1) / 2, height).map(y => {
        const [, py] = place([0, y]);
        return kit.svg("line", {y1: py, y2: py, x1: 0, x2: width, ...faint});
      }),
      kit.svg("path", {d: `M8 ${height - 12}v4h${(unit * zoom).toFixed(1)}v-4`, fill: "none",
        style: "stroke:currentColor", "stroke-opacity": 0.6}),
      kit.text(8 + unit * zoom / 2, height - 13, String(unit), {"text-anchor": "middle", class: "romae-faint"})];
    layer.grid.replaceChildren(...grid);
    layer.truth.setAttribute("d", kit.path(clean.map(place)));
    points = order.map(i => { const [cx, cy] = place(noisy[i]); return kit.svg("circle", {cx, cy}); });
    shownCount = -1;
    draw(now);
  }

  // --- error against the number of points ----------------------------------------------------------------------------
  const graph = kit.svg("svg", {}), handle = kit.svg("g", {class: "sp-handle"});
  curve.append(graph);
  const describe = i => `${counts[i]} of ${total} points`;
  const showHandle = kit.handle(handle, {label: "Observed points", min: 0, max: last, step: 1, page: 3, value: () => k,
    describe, to: i => { stop(); observe(i); }});
  let across, up, bottom;
  const nearest = pixel =>
    counts.reduce((best, n, i) => Math.abs(across(n) - pixel) < Math.abs(across(counts[best]) - pixel) ? i : best, 0);
  const slide = {start: x => { stop(); observe(nearest(x)); }, move: x => observe(nearest(x))};
  const zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  kit.drag(zone, graph, slide);
  kit.drag(handle, graph, slide);

  function drawGraph(width) {
    const height = Math.round(kit.clamp(kit.height * 0.52, 150, 215)), left = 40, right = width - 12, top = 22;
    bottom = height - 40;
    const spiral = spirals[s], all = models.flatMap(m => spiral[m.id + "Rmse"]).concat(spiral.noise).filter(v => v > 0);
    const low = Math.min(...all) / 1.25, high = Math.max(...all) * 1.25;
    across = kit.linear([0, total], [left, right]);
    up = kit.log([low, high], [bottom, top]);
    kit.frame(graph, width, height);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: up, label: "RMSE"}, x: {scale: across, line: true, label: "observed points"}});
    parts.push(
      kit.rule(left, up(spiral.noise), right, up(spiral.noise), 0.75,
        {"stroke-dasharray": "1.5 4", "stroke-linecap": "round", "stroke-width": 1.5}),
      kit.text(right, up(spiral.noise) + 14, "noise of a point", {"text-anchor": "end", class: "romae-faint"}));
    for (const m of [...models].reverse()) {
      const line = spiral[m.id + "Rmse"].map((v, i) => v > 0 ? [across(counts[i]), up(v)] : null).filter(Boolean);
      parts.push(kit.svg("g", {class: "sp-" + m.id, style: shown[m.id] ? "" : "display:none"},
        kit.curve(line, m.colour, m.width - 0.5, m.dash),
        ...line.map(([cx, cy]) => kit.dot(cx, cy, 2.1, m.colour))));
    }
    kit.set(zone, {x: left - 8, y: top, width: right - left + 16, height: bottom - top + 20});
    graph.replaceChildren(...parts, zone, handle);
    drawHandle();
  }
  function drawHandle() {
    if (!across) return;
    const seen = models.map(m => [m, spirals[s][m.id + "Rmse"][k]]).filter(([m, error]) => shown[m.id] && error > 0);
    handle.replaceChildren(...kit.marker(across(counts[k]), 20, bottom,
      seen.map(([m, error]) => [up(error), m.colour])));
    showHandle(k);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  const drawn = id => exaggerate === 1 ? spirals[s][id][k] : spirals[s][id][k].map(([x, y], i) => {
    const [cx, cy] = spirals[s].clean[i];
    return [cx + exaggerate * (x - cx), cy + exaggerate * (y - cy)];
  });
  let now = {romae: drawn("romae"), bayes: drawn("bayes")}, shownCount = -1;
  function draw(curves) {
    now = curves;
    if (!place) return;
    for (const m of models) {
      layer[m.id].setAttribute("d", kit.path(now[m.id].map(place)));
      layer[m.id].style.display = shown[m.id] ? "" : "none";
    }
    layer.truth.style.display = shown.truth ? "" : "none";
    warning.style.display = exaggerate > 1 ? "" : "none";
  }
  // Points appear and disappear one after the other, in the order in which they are revealed.
  function reveal(count) {
    if (shownCount === count) return;
    shownCount = count;
    points.forEach((point, place) => {
      const observed = place < count;
      kit.set(point, {r: observed ? radius : radius - 0.6, "stroke-width": observed ? 0 : 1.1,
        style: observed ? "fill:currentColor" : "fill:none;stroke:currentColor;stroke-opacity:.38"});
      (observed ? layer.seen : layer.hidden).append(point);
    });
    for (const g of [layer.seen, layer.hidden]) g.replaceChildren(...[...g.children].filter(c => points.includes(c)));
  }
  function update(moving) {
    const spiral = spirals[s], goal = {romae: drawn("romae"), bayes: drawn("bayes")}, from = now,
      before = Math.max(shownCount, 0);
    const blend = (a, b, t) => t >= 1 ? b : a.map(([x, y], i) => [x + t * (b[i][0] - x), y + t * (b[i][1] - y)]);
    tween(t => {
      draw({romae: blend(from.romae, goal.romae, t), bayes: blend(from.bayes, goal.bayes, t)});
      reveal(Math.round(before + t * (counts[k] - before)));
    }, moving);
    for (const m of models) legend.write(m.id, digits(spiral[m.id + "Rmse"][k]));
    seen.textContent = `${counts[k]} observed`;
    unseen.textContent = `${total - counts[k]} hidden`;
    thumbnails.forEach((button, i) => button.setAttribute("aria-pressed", i === s));
    slider.set(k);
    play.show(playing !== null, "Reveal");
    play.node.setAttribute("aria-label", playing ? "Pause" : "Reveal the points one by one");
    for (const m of models) for (const g of graph.querySelectorAll(".sp-" + m.id)) g.style.display = shown[m.id] ? ""
      : "none";
    drawHandle();
    const errors = models.map(m => `${m.name} ${digits(spiral[m.id + "Rmse"][k])}`).join(", ");
    main.setAttribute("aria-label",
      `Test spiral ${s + 1}, ${spiral.turn}, ${counts[k]} of ${total} noisy points observed.`);
    announce(`Spiral ${s + 1}, ${counts[k]} of ${total} points observed. RMSE on the hidden points: ${errors}.`);
    kit.state({spiral: s + 1, turn: spiral.turn, observed: counts[k], hidden: total - counts[k],
      playing: playing !== null, shown: {...shown}, exaggerate,
      rmse_romae: digits(spiral.romaeRmse[k]), rmse_bayes: digits(spiral.bayesRmse[k])});
  }
  function observe(i) {
    if (i === k) return;
    k = i;
    update(true);
  }
  function pick(i) {
    s = i;
    now = {romae: drawn("romae"), bayes: drawn("bayes")};
    if (place) { drawMain(main.viewBox.baseVal.width); drawGraph(graph.viewBox.baseVal.width); }
    update(false);
  }
  function start() {
    if (k === last) { k = 0; shownCount = 0; }
    playing = setInterval(() => k === last ? stop() : observe(k + 1), 900);
    update(true);
  }
  function stop() {
    if (playing === null) return;
    clearInterval(playing);
    playing = null;
    update(false);
  }
  kit.sized(plot, width => { drawMain(width); reveal(counts[k]); });
  kit.sized(curve, drawGraph);
  update(false);
}

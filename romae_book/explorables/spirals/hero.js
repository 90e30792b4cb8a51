// Points of a spiral that the reader adds, drags and removes; a RoMAE in the page draws the curve and answers anywhere.
function explorable(root, data, kit) {
  const models = data.models.map(m => ({...m, net: romae.load(m)})), most = data.counts.at(-1), least = data.counts[0];
  const announce = kit.announcer(root);
  let seed = data.seed, next, truth, points = [], chosen = 0, m = 0, theta = data.end * 0.62, resolution = 75,
    now = null;

  // --- spirals, as romae_book.experiments.spirals.data makes them ----------------------------------------------------
  const gauss = (mean, sd) => mean + sd * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const columns = (at, inward) => {  // centre, and what the two parameters do
    const angle = inward ? 1 + at : at, r = inward ? 50 / angle : angle, c = Math.cos(angle), s = Math.sin(angle);
    return {centre: [inward ? -5 : 5, 0], a: [c, s], b: [c * r, s * r]};
  };
  const curve = (at, {inward, a, b}) => {
    const k = columns(at, inward);
    return [0, 1].map(i => k.centre[i] + a * k.a[i] + b * k.b[i]);
  };
  const fresh = at => {
    const [x, y] = curve(at, truth);
    return {theta: at, value: [x + gauss(0, data.noise), y + gauss(0, data.noise)]};
  };
  function spiral(count) {
    next = kit.random(seed);
    truth = {inward: seed !== data.seed && next() < 0.5, a: gauss(...data.a), b: gauss(...data.b)};
    points = Array.from({length: count}, () => fresh(next() * data.end));
    chosen = 0;
  }

  // --- the best possible answer: two parameters, two kinds of spiral (romae_book.experiments.spirals.rivals.bayes) ---
  function bayes(at) {
    const prior = [data.a[0], data.b[0]], precision = [data.a[1] ** -2, data.b[1] ** -2], weight = data.noise ** -2;
    const kinds = [false, true].map(inward => {
      let [p, q, r] = [precision[0], 0, precision[1]], pull = [0, 0], square = 0;
      for (const {theta: t, value} of points) {
        const k = columns(t, inward), line = curve(t, {inward, a: prior[0], b: prior[1]});
        for (let i = 0; i < 2; i++) {
          const rest = value[i] - line[i];
          p += weight * k.a[i] ** 2; q += weight * k.a[i] * k.b[i]; r += weight * k.b[i] ** 2;
          pull[0] += weight * rest * k.a[i]; pull[1] += weight * rest * k.b[i];
          square += rest ** 2;
        }
      }
      const det = p * r - q * q, shift = [(r * pull[0] - q * pull[1]) / det, (p * pull[1] - q * pull[0]) / det];
      return {inward, a: prior[0] + shift[0], b: prior[1] + shift[1],
        evidence: -0.5 * (square * weight - pull[0] * shift[0] - pull[1] * shift[1] + Math.log(det))};
    });
    const share = 1 / (1 + Math.exp(kinds[0].evidence - kinds[1].evidence));  // of the second
    return at.map(t => {
      const [u, v] = kinds.map(k => curve(t, k));
      return [0, 1].map(i => u[i] * (1 - share) + v[i] * share);
    });
  }
  // --- RoMAE: all angles at once, since no answer depends on what else is asked --------------------------------------
  function compute() {
    const {net} = models[m], order = [...points.keys()].sort((i, j) => points[i].theta - points[j].theta),
      at = i => [points[i].theta * data.scale];
    const seen = romae.encode(net, order.map(i => points[i].value), order.map(at)),
      angles = Array.from({length: resolution}, (_, i) => data.end * i / (resolution - 1));
    const line = romae.decode(net, seen, [...angles, theta].map(t => [t * data.scale])).map(v => [...v]),
      answer = line.pop();
    const clean = angles.map(t => curve(t, truth)), best = bayes(angles);
    const rmse = rows => Math.sqrt(rows.reduce((sum, row, i) => sum + (row[0] - clean[i][0]) ** 2
      + (row[1] - clean[i][1]) ** 2, 0) / (2 * rows.length));
    now = {line, best, clean, answer, bestAnswer: bayes([theta])[0], rmse: rmse(line), rmseBest: rmse(best)};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const main = kit.svg("svg", {role: "group", style: "overflow:hidden", "aria-label": "Spiral in the plane"}),
    plot = kit.el("div", {class: "he-plot"}, main);
  const count = kit.slider({label: "Points", min: least, max: most, value: data.start,
    describe: v => `${v} observed points`, change: v => { resize(v); update(); }});
  const asks = kit.slider({label: "Ask at angle", min: 0, max: data.end, step: 0.01, value: theta,
    format: v => v.toFixed(2), describe: v => `angle ${v.toFixed(2)}`, change: v => { theta = v; update(); }});
  const fine = kit.slider({label: "Resolution", min: 10, max: 300, value: resolution, describe: v => `${v} angles`,
    change: v => { resolution = v; update(); }});
  const kinds = models.map((model, i) => kit.button(model.name, {class: "romae-button"}, () => { m = i; update(); }));
  const another = kit.button("new spiral", {class: "romae-button"}, () => {
    seed++;
    spiral(points.length);
    frame();
    update();
  });
  const add = kit.button("add", {class: "romae-button", "aria-label": "Add a point"},
    () => { if (points.length < most) {
      points.push(fresh(next() * data.end));
      chosen = points.length - 1;
      update();
    } });
  const remove = kit.button("remove", {class: "romae-button", "aria-label": "Remove the chosen point"}, () => drop());
  const facts = kit.el("p", {class: "he-facts"}), graph = kit.svg("svg", {role: "img"}),
    chart = kit.el("div", {}, graph);
  root.append(kit.el("div", {class: "he-split"},
    kit.el("div", {}, plot, kit.el("div", {class: "he-row"}, another, add, remove)),
    kit.el("div", {class: "he-side"}, kit.el("div", {class: "he-kinds", role: "group", "aria-label": "Trained with"},
      kit.el("span", {}, models.length < 2 ? `trained with ${models[0].name}` : "trained with"),
      ...(models.length < 2 ? [] : kinds)),
      count.node, asks.node, fine.node, facts, chart)));
  function resize(n) {
    while (points.length < n) points.push(fresh(next() * data.end));
    points.length = n;
    chosen = Math.min(chosen, n - 1);
  }
  function drop() {
    if (points.length <= least) return;
    points.splice(chosen, 1);
    chosen = Math.min(chosen, points.length - 1);
    update();
    if (remove.disabled) add.focus({preventScroll: true});  // a button that is switched off loses the keyboard
  }

  // --- the plane -----------------------------------------------------------------------------------------------------
  const stroke = (...look) => kit.curve(null, ...look);
  const ground = kit.svg("rect", {fill: "transparent"}),
    lines = {truth: stroke("color-mix(in srgb,currentColor 45%,transparent)", 1.75),
    best: stroke("var(--romae-vermillion)", 2.25, "7 4"), romae: stroke("var(--romae-blue)", 2.9)};
  const marks = {best: kit.svg("path", {style: "fill:none;stroke:var(--romae-vermillion)", "stroke-width": 2}),
    romae: kit.svg("circle", {r: 6.5, style: "fill:var(--romae-blue);stroke:var(--romae-ground)", "stroke-width": 2})};
  const dots = Array.from({length: most}, (_, i) => {
    const node = kit.svg("g", {}, kit.svg("circle", {r: 12, fill: "transparent"}),
      kit.svg("circle", {r: 4.4, style: "fill:currentColor"}));
    kit.drag(node, main, {free: true, start: () => {
      chosen = i;
      update();
      node.focus({preventScroll: true, focusVisible: false});
    }, move: (x, y) => { points[i].value = back(x, y); update(); }});
    node.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const turn = {PageDown: 1, PageUp: -1}[event.key];
      const step = 0.1, by = {ArrowRight: [step, 0], ArrowLeft: [-step, 0], ArrowUp: [0, step],
        ArrowDown: [0, -step]}[event.key];
      if (turn) chosen = (chosen + turn + points.length) % points.length;
      else if (event.key === "Delete" || event.key === "Backspace") drop();
      else if (by) points[i].value = points[i].value.map((v, k) => v + by[k]);
      else return;
      event.preventDefault();
      update();
      dots[chosen].focus({preventScroll: true});
    });
    return node;
  });
  main.append(ground, lines.truth, lines.best, lines.romae, ...dots, marks.best, marks.romae);
  let width = 0, place = null, back = null;
  function frame() {
    if (!width) return;
    const height = Math.round(Math.min(kit.height, width * 0.84)), pad = 22;
    const clean = Array.from({length: 60}, (_, i) => curve(data.end * i / 59, truth)),
      range = k => [Math.min(...clean.map(p => p[k])), Math.max(...clean.map(p => p[k]))];
    const [[x0, x1], [y0, y1]] = [range(0), range(1)], zoom = Math.min((width - 2 * pad) / (x1 - x0),
      (height - 2 * pad) / (y1 - y0));
    place = ([x, y]) => [width / 2 + zoom * (x - (x0 + x1) / 2), height / 2 - zoom * (y - (y0 + y1) / 2)];
    back = (px, py) => [(px - width / 2) / zoom + (x0 + x1) / 2, -(py - height / 2) / zoom + (y0 + y1) / 2];
    kit.frame(main, width, height);
    kit.set(ground, {width, height});
  }
  // A press on the empty plane adds a point there, at the angle of the nearest place of the true curve.
  ground.addEventListener("click", event => {
    if (points.length >= most) return;
    const box = main.getBoundingClientRect(), value = back((event.clientX - box.left) * width / box.width,
      event.clientY - box.top);
    const angles = Array.from({length: 400}, (_, i) => data.end * i / 399), away = t => {
      const [x, y] = curve(t, truth);
      return (x - value[0]) ** 2 + (y - value[1]) ** 2;
    };
    points.push({theta: angles.reduce((best, t) => away(t) < away(best) ? t : best), value});
    chosen = points.length - 1;
    update();
  });
  function draw() {
    if (!place) return;
    for (const [name, rows] of [["truth", now.clean], ["best", now.best],
      ["romae", now.line]]) lines[name].setAttribute("d", kit.path(rows.map(place)));
    const [ax, ay] = place(now.answer), [bx, by] = place(now.bestAnswer);
    kit.set(marks.romae, {cx: ax, cy: ay});
    kit.set(marks.best, {d: `M${bx} ${by - 9}L${bx + 9} ${by}L${bx} ${by + 9}L${bx - 9} ${by}Z`});
    dots.forEach((node, i) => {
      node.style.display = i < points.length ? "" : "none";
      if (i >= points.length) return;
      const [x, y] = place(points[i].value), on = i === chosen;
      node.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      node.lastChild.setAttribute("r", on ? 6 : 4.4);
      if (on) kit.set(node,
        {role: "slider", tabindex: 0,
        "aria-label": `Point ${i + 1} at angle ${points[i].theta.toFixed(2)}: arrows move it, Page Up and Page Down `
        + `choose another, Delete removes it`,
        "aria-valuemin": -50, "aria-valuemax": 50, "aria-valuenow": points[i].value[0].toFixed(2),
          "aria-valuetext": points[i].value.map(v => v.toFixed(2)).join(", ")});
      else for (const name of ["role", "tabindex", "aria-label", "aria-valuemin", "aria-valuemax", "aria-valuenow",
        "aria-valuetext"]) node.removeAttribute(name);
    });
  }

  // --- the average ---------------------------------------------------------------------------------------------------
  let graphWidth = 0;
  const between = (ratio, n) => {  // on the lines of the chart
    const k = Math.max(1, data.counts.findIndex(c => c >= n)), [a, b] = [data.counts[k - 1], data.counts[k]],
      t = (n - a) / (b - a);
    return Math.exp(Math.log(ratio[k - 1]) * (1 - t) + Math.log(ratio[k]) * t);
  };
  function drawGraph() {
    if (!graphWidth) return;
    const w = graphWidth, height = w < 360 ? 126 : 158, left = 34, right = w - 10, top = 30, bottom = height - 32;
    const high = 1.15 * Math.max(...models.flatMap(model => model.ratio), ...data.thirty ?? []),
      across = kit.linear([0, most], [left, right]), up = kit.log([0.93, high], [bottom, top]);
    const ticks = (high > 30 ? [1, 10, 100] : [1, 2, 5, 10, 20]).filter(v => v <= high),
      orange = "var(--romae-vermillion)";
    const parts = kit.axes({left, right, top: 22, bottom}, {
      y: {scale: up, ticks, label: "error / best possible, mean over the test set"},
        x: {scale: across, label: "observed points"}});
    parts.push(kit.curve([[left, up(1)], [right, up(1)]], orange, 1.6, "7 4"));
    if (data.thirty && models.length < 2) parts.push(
      kit.curve(data.thirty.map((r, k) => [across(data.counts[k]), up(r)]), "var(--romae-blue)", 1.8, "1.5 3.5",
        {"stroke-opacity": 0.75}),
      kit.text(across(most), up(data.thirty.at(-1)) - 6, "trained with always 30",
        {"text-anchor": "end", class: "romae-faint romae-halo"}));
    models.forEach((model, i) => parts.push(kit.curve(model.ratio.map((r, k) => [across(data.counts[k]), up(r)]),
      "var(--romae-blue)", i === m ? 2.6 : 1.4, i ? "1.5 3.5" : "", {"stroke-opacity": i === m ? 1 : 0.5})));
    const value = between(models[m].ratio, points.length);
    parts.push(kit.svg("circle", {cx: across(points.length), cy: up(value), r: 5,
      style: "fill:var(--romae-blue);stroke:currentColor", "stroke-width": 1.3}));
    graph.replaceChildren(...parts);
    kit.frame(graph, w, height,
      {"aria-label": `On the average over the test set, RoMAE's error is ${value.toFixed(2)} times the best possible `
      + `with ${points.length} points`});
  }
  function update() {
    compute();
    kinds.forEach((node, i) => node.setAttribute("aria-pressed", i === m));
    count.set(points.length);
    asks.set(theta);
    fine.set(resolution);
    remove.disabled = points.length <= least;
    add.disabled = points.length >= most;
    draw();
    drawGraph();
    const show = v => v.map(x => x.toFixed(2)).join(", "), average = between(models[m].ratio, points.length).toFixed(2);
    facts.textContent = `At angle ${theta.toFixed(2)}: RoMAE (${show(now.answer)}), best possible `
      + `(${show(now.bestAnswer)}). This curve is off by ${now.rmse.toFixed(3)}, the best possible by `
      + `${now.rmseBest.toFixed(3)}.`;
    announce(`${points.length} points: error ${now.rmse.toFixed(3)}; on average ${average} times the best possible.`);
    const few = rows => rows.map(row => row.map(v => +v.toFixed(6)));
    kit.state({model: models[m].id, points: points.map(p => [p.theta, ...p.value].map(v => +v.toFixed(6))), chosen,
      theta, resolution, seed, average,
      answer: few([now.answer])[0], best: few([now.bestAnswer])[0], line: few(now.line), bestLine: few(now.best),
        rmse: now.rmse.toFixed(4), rmseBest: now.rmseBest.toFixed(4)});
  }
  spiral(data.start);
  // where the points lie, for the address; as many numbers as three decimals of each need
  const opened = () => points.map(p => [p.theta, ...p.value].map(v => +v.toFixed(3)).join("_")).join("~");
  kit.keep("seed", () => seed, v => {
    if (!/^\d{1,9}$/.test(v)) return;
    seed = +v;
    spiral(points.length);
    frame();
    update();
  });
  kit.keep("places", opened, text => {
    const found = kit.rows(text, 3);
    if (!found || found.length < least || found.length > most) return;
    points = found.map(([t, x, y]) => ({theta: kit.clamp(t, 0, data.end),
      value: [x, y].map(v => kit.clamp(v, -50, 50))}));
    chosen = 0;
    update();
  });
  kit.sized(plot, w => { width = w; frame(); if (now) draw(); });
  kit.sized(chart, w => { graphWidth = w; drawGraph(); });
  update();
}

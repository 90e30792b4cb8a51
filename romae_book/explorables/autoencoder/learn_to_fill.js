// A masked autoencoder is trained in the page on copies of a curve: chosen, or drawn by the reader.
function explorable(root, data, kit) {
  const {span, noise, readings: N, steps, shapes, heights: [flattest, tallest]} = data, K = shapes.wave.knots.length,
    ASKED = 97, REACH = 1.75, WORK = 11, PER_FRAME = 3, COPIES = 3;
  const state = {curve: "wave", hidden: data.hidden, unit: 1, depth: 1, cls: false, step: 0};
  let knots, model, memory, random, losses, line, levels, runs = {}, running = false, goal = steps, pace = 0,
    frames = 0, cursor = 8, held = null, heights;
  const announce = kit.announcer(root), show = v => v == null ? "–" : v >= 0.1 ? v.toFixed(2) : v.toFixed(3);

  // --- curves and their copies ---------------------------------------------------------------------------------------
  function height(t, list = knots) {  // straight between knots, around the circle
    const at = (t / span - Math.floor(t / span)) * K, i = Math.floor(at) % K, share = at - Math.floor(at);
    return list[i] * (1 - share) + list[(i + 1) % K] * share;
  }
  const normal = next => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  function copy(next) {  // the first `hidden` readings are those that are hidden
    const move = span * next(), tall = flattest + (tallest - flattest) * next();
    const t = Array.from({length: N}, () => span * next());
    return {move, tall, t, v: t.map(at => tall * height(at + move) + noise * normal(next))};
  }
  // The series that is seen: the curve itself, with readings that stay where they are, hidden in a fixed order.
  const own = (() => {
    const next = kit.random(12), t = Array.from({length: N}, () => span * next());
    return {t, noise: t.map(() => noise * normal(next))};
  })();
  const seen = () => ({t: own.t, v: own.t.map((at, i) => height(at) + own.noise[i])});
  const parts = ({t, v}) => ({shown: t.slice(state.hidden), values: v.slice(state.hidden),
    asked: t.slice(0, state.hidden), targets: v.slice(0, state.hidden)});
  const inUnits = list => list.map(t => t * state.unit);
  const answers = ({shown, values}, asked) =>
    trainer.fill(model, [values], [inUnits(shown)], [inUnits(asked)])[0];

  // --- what others would err by, on copies alike: the mean, straight lines, and the best possible --------------------
  function straight({shown, values}, at) {
    const order = shown.map((t, i) => [t, values[i]]).sort((a, b) => a[0] - b[0]),
      after = order.findIndex(([t]) => t > at);
    if (after < 1) return order.at(after)[1];  // outside the readings: the nearest one
    const [[t0, v0], [t1, v1]] = [order[after - 1], order[after]];
    return v0 + (v1 - v0) * (at - t0) / (t1 - t0);
  }
  // Bayes' rule: the mean of all copies, each weighed by how well it fits what is shown.
  function best({shown, values, asked}) {
    const MOVES = 400, TALL = 17, logs = [], found = [];
    for (let m = 0; m < MOVES; m++) {
      const move = span * m / MOVES, y = shown.map(t => height(t + move));
      const square = y.reduce((sum, v) => sum + v * v, 0), along = y.reduce((sum, v, i) => sum + v * values[i], 0);
      for (let k = 0; k < TALL; k++) {
        const tall = flattest + (tallest - flattest) * k / (TALL - 1);
        logs.push((tall * along - tall * tall * square / 2) / noise ** 2);
        found.push([tall, move]);
      }
    }
    const top = Math.max(...logs), sums = asked.map(() => 0);
    let total = 0;
    logs.forEach((log, i) => {
      if (log < top - 20) return;
      const weight = Math.exp(log - top), [tall, move] = found[i];
      total += weight;
      asked.forEach((t, j) => { sums[j] += weight * tall * height(t + move); });
    });
    return sums.map(sum => sum / total);
  }
  function others() {
    if (!state.hidden) return null;
    const next = kit.random(3), list = Array.from({length: 40}, () => parts(copy(next))),
      mean = knots.reduce((a, b) => a + b, 0) / K * (flattest + tallest) / 2;
    const error = of => list.reduce((sum, one) => {
      const y = of(one);
      return sum + one.targets.reduce((s, v, i) => s + (y[i] - v) ** 2, 0);
    }, 0) / list.length / state.hidden;
    return {mean: error(one => one.targets.map(() => mean)), lines: error(one => one.asked.map(t => straight(one, t))),
      best: error(best)};
  }

  // --- training ------------------------------------------------------------------------------------------------------
  const key = () => `×${state.unit}, depth ${state.depth}${state.cls ? ", [CLS]" : ""}`;
  function fresh(other = false) {  // other: curve or hidden share are new, and errors cannot be compared any more
    if (other) runs = {};
    else if (state.step >= 60) runs[key.last] = line;
    key.last = key();
    model = trainer.build({...data.model, depth: state.depth, cls: +state.cls}, 1);
    memory = {};
    random = kit.random(2);
    losses = [];
    line = [];
    goal = steps;
    state.step = 0;
    if (other || !levels) levels = others();
  }
  function learn() {
    const begin = performance.now(), copies = Array.from({length: data.batch}, () => parts(copy(random)));
    if (state.hidden) {  // else nobody is asked anything, and there is no error to learn from
      const of = name => copies.map(one => one[name]);
      const {loss, gradient} = trainer.error(trainer.fill(model, of("values"), of("shown").map(inUnits),
        of("asked").map(inUnits)), of("targets"));
      const rate = Math.min(1, (state.step + 1) / 50) * (1 + Math.cos(Math.PI * state.step / steps)) / 2;
      trainer.step(model, gradient, memory, data.lr * rate);
      losses.push(loss);
      if (losses.length > 20) losses.shift();
      if (state.step % 5 === 0) line.push([state.step, error()]);
    }
    state.step++;
    pace = performance.now() - begin;
  }
  const error = () => losses.length ? losses.reduce((a, b) => a + b, 0) / losses.length : null;
  function work() {  // little enough in a frame for the page to stay at hand: every third one draws, the others learn
    if (!running) return;
    const begin = performance.now(), still = kit.reduced.matches ? 60 : 3;
    let done = 0;
    if (frames++ % still) do { learn(); done++; } while (state.step < goal && done < PER_FRAME
      && performance.now() - begin + pace < WORK);
    if (state.step >= goal) running = false;
    if (!done || !running) update();
    if (running) requestAnimationFrame(work);
  }
  function run(on) {
    if (on && state.step >= steps) fresh();
    if (on && !running) requestAnimationFrame(work);
    running = on;
    update();
  }
  function change(name, value) {
    state[name] = value;
    fresh(name === "hidden" || name === "curve");
    draw();
    update();
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const go = kit.button("", {class: "romae-button lf-go", name: "", "data-photo": ""}, () => {
    goal = steps;
    run(!running);
  });
  const ten = kit.button("10 steps", {class: "romae-button", name: ""}, () => {
    if (state.step >= steps) fresh();
    goal = Math.min(steps, state.step + 10);
    run(true);
  });
  const reset = kit.button("Reset", {class: "romae-button", name: ""}, () => { running = false; fresh(); update(); });
  const curves = kit.select({label: "Curve", value: state.curve,
    options: [...Object.entries(shapes).map(([name, {label}]) => [name, label]), ["own", "your own"]],
    change: name => { knots = shapes[name]?.knots ?? [...knots]; change("curve", name); }});
  const hidden = kit.slider({label: "Hidden", min: 0, max: N - 2, value: state.hidden,
    format: v => `${Math.round(100 * v / N)} %`, describe: v => `${v} of ${N} readings`,
    change: v => change("hidden", v)});
  const unit = kit.select({label: "Times", value: "1", options: data.units.map(v => [String(v), `×${v}`]),
    change: v => change("unit", +v)});
  const depth = kit.select({label: "Depth", value: "1", options: [["1", "1"], ["2", "2"]],
    change: v => change("depth", +v)});
  const cls = kit.button("[CLS]", {class: "romae-button", name: "cls"}, () => change("cls", !state.cls));
  const board = kit.svg("svg", {class: "lf-board", tabindex: 0, role: "group", "aria-label":
    "What you draw: arrows left and right choose a place, up and down bend the line there"});
  const graph = kit.svg("svg", {role: "img"}),
    numbers = kit.el("p", {class: "lf-legend romae-num", "aria-hidden": "true"});
  const minis = Array.from({length: COPIES}, () => kit.svg("svg", {viewBox: "0 0 108 54", "aria-hidden": "true"}));
  const sign = (words, ...marks) => kit.el("span", {}, kit.svg("svg", {viewBox: "0 0 20 12", "aria-hidden": "true"},
    ...marks), words);
  const hollow = {style: "fill:none;stroke:currentColor", "stroke-opacity": 0.6};
  const legend = kit.el("p", {class: "lf-legend"}, sign("shown", kit.dot(10, 6, 4, "currentColor")),
    sign("hidden", kit.svg("circle", {cx: 10, cy: 6, r: 4, ...hollow})),
    sign("filled in", kit.curve([[0, 6], [20, 6]], "var(--romae-blue)", 3)),
    sign("the curve: drag to draw yours", kit.curve([[0, 6], [20, 6]], "var(--romae-grey)", 2)));
  const left = kit.el("div", {}, legend, board, kit.el("p", {class: "lf-legend"}, "It trains on copies such as these:"),
    kit.el("div", {class: "lf-copies"}, ...minis)),
    right = kit.el("div", {}, numbers, graph);
  root.append(kit.el("div", {class: "lf-top", role: "group", "aria-label": "Training"}, go, ten, reset, curves.node),
    kit.el("div", {class: "lf-plots"}, left, right),
    kit.el("div", {class: "lf-row", role: "group", "aria-label": "The model"}, hidden.node, unit.node, depth.node,
      cls));
  kit.keep("knots", () => state.curve === "own" ? knots.map(v => Math.round(100 * v)).join("_") : null, text => {
    const [list] = kit.rows(text, K) ?? [];
    if (!list) return;
    knots = list.map(v => kit.clamp(v / 100, -REACH, REACH));
    change("curve", "own");
  });
  kit.keep("step", () => running ? goal : state.step, text => {  // a link trains as far as its sender had come
    const to = Math.round(kit.number(text));
    if (!(to >= 0 && to <= steps)) return;
    running = false;
    fresh();
    goal = to;
    run(to > 0);
  });

  // --- the series ----------------------------------------------------------------------------------------------------
  const truth = kit.curve(null, "var(--romae-grey)", 2), filled = kit.curve(null, "var(--romae-blue)", 3),
    mark = kit.svg("g", {class: "lf-cursor"}), dots = own.t.map(() => kit.svg("circle", {r: 4})),
    pad = kit.svg("rect", {x: 0, y: 0, fill: "transparent"});
  let wide = 0, x, y;
  const narrow = () => root.clientWidth < 580;  // the chart is then below, as in the style sheet
  const even = (n, to) => Array.from({length: n}, (_, i) => to * i / (n - 1));
  function draw(width = wide) {  // what training does not change
    if (!(wide = width)) return;
    const tall = narrow() ? 150 : kit.height - 28, bottom = tall - 20;
    x = kit.linear([0, span], [6, width - 6]);
    y = kit.linear([-REACH, REACH], [bottom, 4]);
    kit.frame(board, width, tall);
    kit.set(pad, {width, height: tall});
    kit.set(truth, {d: kit.path(even(2 * K + 1, span * 0.9999).map(t => [x(t), y(height(t))]))});
    seen().v.forEach((v, i) => kit.set(dots[i], {cx: x(own.t[i]), cy: y(kit.clamp(v, -REACH, REACH)),
      ...i < state.hidden ? hollow : {style: "fill:currentColor", "stroke-opacity": 0}}));
    const at = span * cursor / K;
    mark.replaceChildren(kit.rule(x(at), 4, x(at), bottom, 0.6),
      kit.dot(x(at), y(height(at)), 6, "var(--romae-vermillion)"));
    board.replaceChildren(...kit.axes({left: 0, right: width, bottom}, {x: {scale: x, ticks: x.ticks(4), line: true,
      drop: 14}}), truth, filled, ...dots, mark, pad);
    const next = kit.random(4);
    minis.forEach(mini => {
      const one = copy(next), px = t => 4 + 100 * t / span, py = v => 27 - 13 * v;
      mini.replaceChildren(kit.curve(even(41, span).map(t => [px(t), py(one.tall * height(t + one.move))]),
        "var(--romae-grey)", 1.4), ...one.t.map((t, i) => kit.svg("circle", {cx: px(t), cy: py(one.v[i]), r: 2.4,
        ...i < state.hidden ? hollow : {style: "fill:currentColor"}, "stroke-width": 0.9})));
    });
    drawAnswer();
  }
  function drawAnswer() {
    const at = even(ASKED, span), said = answers(parts(seen()), at);
    heights = [...said];
    if (!wide) return;
    kit.set(filled, {d: kit.path(at.map((t, i) => [x(t), y(kit.clamp(said[i], -REACH, REACH))]))});
  }
  // A stroke over the plot is the curve from where it begins to where it is.
  function stroke(px, py) {
    const to = kit.clamp(Math.round(x.invert(px) / span * K), 0, K), v = kit.clamp(y.invert(py), -REACH, REACH);
    const [from, before] = held ?? [to, v], n = Math.max(1, Math.abs(to - from));
    for (let i = 0; i <= n; i++) knots[Math.round(from + (to - from) * i / n) % K] = before + (v - before) * i / n;
    held = [to, v];
    draw();
  }
  function mine() {  // the drawing becomes the reader's own, without changing the one it began from
    running = false;
    knots = [...knots];
    state.curve = curves.input.value = "own";
  }
  let drawn = false;
  kit.drag(pad, board, {
    start: () => { drawn = false; held = null; },
    move: (px, py) => { if (!drawn) mine(); drawn = true; stroke(px, py); },
    end: () => { if (drawn) change("curve", "own"); }});
  board.addEventListener("keydown", event => {
    const along = {ArrowRight: 2, ArrowLeft: -2}[event.key], up = {ArrowUp: 0.1, ArrowDown: -0.1}[event.key];
    if (!(along || up) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (along) { cursor = (cursor + along + K) % K; draw(); }
    else {
      mine();
      knots.forEach((v, i) => {  // a bump, about two units of time wide
        const away = Math.min(Math.abs(i - cursor), K - Math.abs(i - cursor)) * span / K;
        knots[i] = kit.clamp(v + up * Math.exp(-(away ** 2)), -REACH, REACH);
      });
      change("curve", "own");
    }
    announce(`At ${(span * cursor / K).toFixed(1)} the curve is at ${height(span * cursor / K).toFixed(1)}.`);
  });

  // --- error against step --------------------------------------------------------------------------------------------
  let across = 0;
  function drawChart(width = across) {
    if (!(across = width)) return;
    const tall = narrow() ? 140 : kit.height + 62, box = {left: 34, right: width - 12, top: 20, bottom: tall - 34};
    kit.frame(graph, width, tall, {"aria-label": "Error on hidden readings against steps of training"});
    const sx = kit.linear([0, steps], [box.left, box.right]);
    if (!levels) {
      const words = ["Nothing is hidden, so nothing is asked:", "there is no error, and nothing to learn from."];
      graph.replaceChildren(...kit.axes(box, {x: {scale: sx, ticks: sx.ticks(3), line: true, label: "steps"}}),
        ...words.map((text, i) => kit.text(width / 2, tall / 2 - 20 + 18 * i, text, {"text-anchor": "middle"})));
      return;
    }
    const low = 0.6 * levels.best, high = 2 * Math.max(levels.mean, levels.lines), sy = kit.log([low, high],
      [box.bottom, box.top]), at = ([s, v]) => [sx(s), sy(kit.clamp(v, low, high))];
    const nodes = kit.axes(box, {y: {scale: sy, label: "mean squared error, hidden readings"},
      x: {scale: sx, ticks: sx.ticks(3), line: true, label: "steps of training"}});
    const level = (v, name, colour, dash, dy = -4) => nodes.push(
      kit.curve([[box.left, sy(v)], [box.right, sy(v)]], colour, 1.5, dash),
      kit.text(box.right, sy(v) + dy, name, {"text-anchor": "end", class: "romae-halo"}));
    for (const points of Object.values(runs)) nodes.push(kit.curve(points.map(at), "var(--romae-grey)", 1.4));
    const near = Math.abs(sy(levels.mean) - sy(levels.lines)) < 14, above = levels.mean > levels.lines;
    level(levels.mean, "always the mean", "currentColor", "2 4", near && !above ? 13 : -4);
    level(levels.lines, "straight lines", "currentColor", "7 4", near && above ? 13 : -4);
    level(levels.best, "best possible", "var(--romae-vermillion)", "6 4");
    const ends = [];  // a label goes under those that end nearby
    for (const [name, points] of Object.entries(runs)) {
      const [px, py] = at(points.at(-1));
      let to = py - 4;
      while (ends.some(v => Math.abs(v - to) < 12)) to += 12;
      ends.push(to);
      nodes.push(kit.text(px, to, name, {"text-anchor": "end", class: "romae-halo", style: "font-size:11px"}));
    }
    if (line.length) nodes.push(kit.curve(line.map(at), "var(--romae-blue)", 2.6), kit.dot(...at(line.at(-1)), 4.5,
      "var(--romae-blue)"));
    graph.replaceChildren(...nodes);
  }

  function update() {
    kit.set(cls, {"aria-pressed": state.cls});
    hidden.set(state.hidden);
    curves.input.value = state.curve;
    go.textContent = running ? "Pause" : state.step === 0 ? "Train" : state.step < steps ? "Go on" : "Train again";
    numbers.replaceChildren(...[`step ${state.step} of ${steps}`, `error ${show(error())}`,
      `${trainer.count(model).toLocaleString("en")} weights`].map(words => kit.el("span", {}, words)));
    drawAnswer();
    drawChart();
    if (!running) announce(state.hidden ? `After ${state.step} steps the error is ${show(error())}; straight lines `
      + `have ${show(levels.lines)}, the best possible ${show(levels.best)}.`
      : "Nothing is hidden: it learns nothing.");
    kit.state({...state, busy: running, error: error()?.toPrecision(4) ?? null, weights: trainer.count(model),
      levels: levels && Object.fromEntries(Object.entries(levels).map(([name, v]) => [name, v.toPrecision(4)])),
      runs: Object.keys(runs), cursor, answers: heights.filter((_, i) => i % 12 === 0).map(v => v.toFixed(4))});
  }
  knots = shapes.wave.knots;
  fresh(true);
  kit.sized(left, draw);
  kit.sized(right, drawChart);
  update();
}

// Three switches, a model that is trained in the page, what it says of one sample, and its error as it learns.
function explorable(root, data, kit) {
  const {low, high, steps, every, tests, levels} = data, N = tests[0].length, middle = (low + high) / 2,
    unit = (high - low) / Math.sqrt(12);
  const state = {cls: true, rotary: true, distinct: false, running: false, step: 0, sample: 0, mse: null};
  const runs = {};  // of every setting that was trained: points [step, error]
  let model, memory, random, curve;
  const one = (i, n) => Array.from({length: n}, (_, j) => +(i === j));
  const values = () => Array.from({length: N}, (_, i) => state.distinct ? one(i, N) : [1]);
  const key = () => `${state.cls ? "[CLS]" : "no [CLS]"}, ${state.rotary ? "rotary" : "no rotary"}, tokens `
    + `${state.distinct ? "distinct" : "alike"}`;
  const named = positions => trainer.run(model, values(), positions)[0].map(y => middle + unit * y);
  const announce = kit.announcer(root), show = v => v >= 100 ? v.toFixed(0) : v >= 1 ? v.toFixed(2) : v.toPrecision(2);

  function fresh() {
    model = trainer.build({...data.model, patch: state.distinct ? N : 1, cls: +state.cls, rotary: state.rotary}, 1);
    memory = {};
    random = kit.random(2);
    state.step = 0;
    state.running = false;
    curve = [];
    measure();
  }
  function measure() {
    const answers = named(tests);
    state.mse = answers.reduce((sum, y, i) => sum + (y - tests[Math.floor(i / N)][i % N]) ** 2, 0) / answers.length;
    curve.push([state.step, state.mse]);
  }
  function learn() {
    const positions = Array.from({length: data.batch},
      () => Array.from({length: N}, () => low + (high - low) * random()));
    const {gradient} = trainer.gradient(model, values(), positions,
      positions.map(row => row.map(v => (v - middle) / unit)));
    const rate = Math.min(1, (state.step + 1) / 50) * (1 + Math.cos(Math.PI * state.step / steps)) / 2;
    trainer.step(model, gradient, memory, data.lr * rate);
    state.step++;
    if (state.step % every === 0 || state.step === steps) { measure(); return true; }
  }
  function work() {  // until the next look at the test samples, or for a thirtieth of a second
    if (!state.running) return;
    const until = performance.now() + 33;
    let looked = false;
    while (state.step < steps && !looked && performance.now() < until) looked = learn();
    if (state.step >= steps) { state.running = false; runs[key()] = curve; }
    if (looked || !state.running) update();
    if (state.running) setTimeout(work, 0);
  }

  const flip = name => () => { state[name] = !state[name]; fresh(); update(); };
  const switches = {cls: kit.button("", {class: "romae-button", name: "cls"}, flip("cls")),
    rotary: kit.button("", {class: "romae-button", name: "rotary"}, flip("rotary")),
    distinct: kit.button("", {class: "romae-button", name: "distinct"}, flip("distinct"))};
  const go = kit.button("", {class: "romae-button lp-go"}, () => {
    if (state.step >= steps) fresh();
    state.running = !state.running;
    update();
    if (state.running) setTimeout(work, 0);
  });
  const numbers = {}, number = (id, text) => kit.el("span", {}, text + " ", numbers[id] = kit.el("b"));
  const sample = kit.slider({label: "Sample", min: 1, max: tests.length, value: 1, change: v => {
    state.sample = v - 1;
    update();
  }});
  const line = kit.el("div"), chart = kit.el("div");
  root.append(kit.el("div", {class: "lp-top", role: "group", "aria-label": "The model"}, ...Object.values(switches),
    go), line,
    kit.el("div", {class: "lp-numbers", "aria-hidden": "true"}, number("step", "step"), number("mse", "error (MSE)"),
      number("weights", "weights")), chart, kit.el("div", {class: "romae-row"}, sample.node));

  // --- one sample ----------------------------------------------------------------------------------------------------
  const tokensSvg = kit.svg("svg", {role: "img"});
  line.append(tokensSvg);
  let wide = 0;
  function drawTokens(width = wide) {
    if (!(wide = width)) return;
    const x = kit.linear([-2, high + 2], [10, width - 10]), top = 34, bottom = 84,
      answers = named([tests[state.sample]]), parts = [];
    kit.frame(tokensSvg, width, 112, {"aria-label": "Ten tokens and where the model says that they are"});
    for (const y of [top, bottom]) parts.push(kit.rule(6, y, width - 6, y, 0.35));
    parts.push(kit.text(width - 10, 16, "where the tokens are", {"text-anchor": "end"}),
      kit.text(width - 10, 108, "where the model says that they are", {"text-anchor": "end"}));
    tests[state.sample].forEach((v, i) => parts.push(kit.svg("line",
      {x1: x(v), x2: x(kit.clamp(answers[i], -2, high + 2)), y1: top, y2: bottom, style: "stroke:var(--romae-blue)",
      "stroke-opacity": 0.6, "stroke-width": 1.3})));
    tests[state.sample].forEach((v, i) => parts.push(kit.svg("circle", {class: "lp-true", cx: x(v), cy: top, r: 5.5,
      style: "fill:currentColor;stroke:var(--romae-ground)"}),
      kit.svg("circle", {class: "lp-said", cx: x(kit.clamp(answers[i], -2, high + 2)), cy: bottom, r: 5,
        style: "fill:var(--romae-blue);stroke:var(--romae-ground)"})));
    if (state.cls) parts.push(kit.svg("rect", {x: x(0) - 7, y: top - 7, width: 14, height: 14, rx: 3,
      style: "fill:var(--romae-vermillion)"}), kit.text(x(0) + 10, top - 9, "[CLS]"));
    tokensSvg.replaceChildren(...parts);
  }

  // --- error against step --------------------------------------------------------------------------------------------
  const graph = kit.svg("svg", {role: "img"});
  chart.append(graph);
  let across = 0;
  function drawChart(width = across) {
    if (!(across = width)) return;
    const height = kit.height, left = 44, right = width - 12, top = 24, bottom = height - 36,
      x = kit.linear([0, steps], [left, right]), y = kit.log([0.003, 600], [bottom, top]);
    kit.frame(graph, width, height, {"aria-label": "Error of the models that were trained here"});
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: y, label: "mean squared error"}, x: {scale: x, ticks: x.ticks(4), label: "steps of training"}});
    const level = (v, text, colour, dash, dy) => parts.push(
      kit.curve([[left, y(v)], [right, y(v)]], colour, 1.5, dash),
      kit.text(left + 14, y(v) + dy, `${text}: ${show(v)}`, {class: "romae-halo"}));
    level(levels.nothing, "knows nothing", "currentColor", "2 4", -5);
    level(levels.differences, "best possible from differences", "var(--romae-vermillion)", "6 4", 15);
    const at = ([s, v]) => [x(s), y(kit.clamp(v, 0.003, 600))];
    const ends = [];  // a label goes under those that end nearby
    for (const [name, points] of Object.entries(runs)) {
      const [, end] = at(points.at(-1)), under = ends.filter(v => Math.abs(v - end) < 12).length;
      ends.push(end);
      if (points !== curve) parts.push(kit.curve(points.map(at), "var(--romae-grey)", 1.3));
      parts.push(kit.text(right, end - 5 + 14 * (under + (under > 0)), name, {"text-anchor": "end", class: "romae-halo",
        style: "font-size:11px"}));
    }
    parts.push(kit.curve(curve.map(at), "var(--romae-blue)", 2.4),
      kit.dot(...at(curve.at(-1)), 4.5, "var(--romae-blue)"));
    graph.replaceChildren(...parts);
  }

  function update() {
    const texts = {cls: ["no [CLS]", "[CLS] at 0"], rotary: ["no rotations", "rotations"],
      distinct: ["tokens alike", "tokens distinct"]};
    for (const [name, node] of Object.entries(switches)) {
      node.textContent = texts[name][+state[name]];
      kit.set(node, {"aria-pressed": state[name]});
    }
    go.textContent = state.running ? "Pause" : state.step === 0 ? "Train" : state.step < steps ? "Go on"
      : "Train again";
    sample.set(state.sample + 1);
    numbers.step.textContent = `${state.step} of ${steps}`;
    numbers.mse.textContent = show(state.mse);
    numbers.weights.textContent = trainer.count(model).toLocaleString("en");
    drawTokens();
    drawChart();
    if (!state.running) announce(`${key()}: after ${state.step} steps the mean squared error is ${show(state.mse)}.`);
    kit.state({...state, mse: state.mse.toPrecision(4), weights: trainer.count(model),
      runs: Object.fromEntries(Object.entries(runs).map(([name, points]) => [name, points.at(-1)[1].toPrecision(4)]))});
  }
  fresh();
  kit.sized(line, drawTokens);
  kit.sized(chart, drawChart);
  update();
}

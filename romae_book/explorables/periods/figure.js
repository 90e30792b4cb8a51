// One sine read at odd times. A network fills in what is hidden; it is told the times alone, or a phase beside them.
function explorable(root, data, kit) {
  const ARMS = {ladder: ["times alone", "blue"], spectral: ["+ a periodogram", "green"],
    tuned: ["+ the true period", "amber"]}, names = Object.keys(data.models);
  const nets = Object.fromEntries(names.map(name => [name, romae.load(data.models[name])])), {seen, window: span} = data;
  const [slowest, fastest] = data.cycles, announce = kit.announcer(root), STEPS = 200;
  const cyclesAt = i => slowest * (fastest / slowest) ** (i / STEPS),
    stepOf = c => Math.round(STEPS * Math.log(c / slowest) / Math.log(fastest / slowest));
  let {arm, series: chosen} = data.start, step = stepOf(data.start.cycles), now = null;

  // --- numbers -------------------------------------------------------------------------------------------------------
  // How many cycles the readings have, as `Periodogram` of the experiment has it.
  function found(times, values) {
    const middle = times.reduce((a, b) => a + b) / times.length, energy = values.reduce((sum, y) => sum + y * y, 0);
    const each = data.periodogram.cycles.map(cycles => {
      let cc = 0, cs = 0, ss = 0, yc = 0, ys = 0, over = 0, under = 0;
      const waves = times.map((t, i) => {
        const at = (t - middle) / span, c = Math.cos(2 * Math.PI * at * cycles), s = Math.sin(2 * Math.PI * at * cycles);
        cc += c * c; cs += c * s; ss += s * s; yc += values[i] * c; ys += values[i] * s;
        return [at, c, s];
      });
      const rest = cc * ss - cs * cs, a = (ss * yc - cs * ys) / rest, b = (cc * ys - cs * yc) / rest;
      waves.forEach(([at, c, s], i) => {
        const slope = 2 * Math.PI * at * (b * c - a * s);
        over += (values[i] - a * c - b * s) * slope;
        under += slope * slope;
      });
      return {score: data.periodogram.sharpness * (a * yc + b * ys) / energy,
        cycles: cycles + kit.clamp(over / under, -1, 1)};
    });
    const top = Math.max(...each.map(e => e.score)), weights = each.map(e => Math.exp(e.score - top));
    return each.reduce((sum, e, i) => sum + weights[i] * e.cycles, 0) / weights.reduce((a, b) => a + b);
  }
  function compute() {
    const {times, noise, amplitude, phase} = data.series[chosen], cycles = cyclesAt(step);
    const truth = t => amplitude * Math.sin(2 * Math.PI * (cycles * t / span + phase));
    const at = times.slice(0, seen), asked = times.slice(seen), values = at.map((t, i) => truth(t) + noise[i]);
    const told = {ladder: () => null, spectral: () => found(at, values), tuned: () => cycles}[arm]();
    const place = t => told === null ? [t] : [t, 2 * Math.PI * told * t / span];
    const net = nets[arm], encoded = romae.encode(net, values.map(v => [v]), at.map(place));
    const answers = romae.decode(net, encoded, asked.map(place)).map(v => v[0]);
    const mean = f => asked.reduce((sum, t, i) => sum + f(t, i) ** 2, 0) / asked.length;
    now = {cycles, truth, at, asked, values, told, answers, mse: mean((t, i) => answers[i] - truth(t)), zero: mean(truth)};
  }

  // --- page ----------------------------------------------------------------------------------------------------------
  const colour = name => `var(--romae-${ARMS[name][1]})`;
  const buttons = names.map(name => kit.button([kit.sample({colour: colour(name), width: 3}), ARMS[name][0]],
    {class: "romae-button"}, () => { arm = name; update(); }));
  const another = kit.button("New series", {class: "romae-button"}, () => {
    chosen = (chosen + 1) % data.series.length;
    update();
  });
  const short = c => c < 10 ? c.toFixed(1) : c.toFixed(0);
  const slider = kit.slider({label: "Cycles in the window", name: "cycles", min: 0, max: STEPS, value: step,
    format: i => short(cyclesAt(i)), change: i => { step = i; update(); }});
  kit.keep("series", () => chosen, text => {
    if (!(kit.number(text) in data.series)) return;
    chosen = kit.number(text);
    update();
  });
  const said = kit.el("p", {class: "pe-said"}), main = kit.svg("svg", {role: "img"}), graph = kit.svg("svg", {});
  root.append(kit.el("div", {class: "pe-arms", role: "group", "aria-label": "What the network is told"},
    kit.el("span", {}, "Told:"), ...buttons), main, said, graph, kit.el("div", {class: "romae-row"}, slider.node, another));
  let wide = 0, across = null;
  function drawMain() {
    const width = wide, height = Math.round(kit.clamp(width * 0.36, 150, kit.height)), left = 26, right = width - 6;
    const x = kit.linear([0, span], [left, right]), y = kit.linear([-1.35, 1.35], [height - 8, 6]);
    const up = v => y(kit.clamp(v, -1.35, 1.35)), paint = colour(arm), r = width < 480 ? 2.3 : 3.3;
    kit.frame(main, width, height);
    const fine = Array.from({length: 1601}, (_, i) => i / 1600 * span);
    main.replaceChildren(...kit.axes({left, right}, {y: {scale: y, ticks: [-1, 0, 1]}}),
      kit.curve(fine.map(t => [x(t), y(now.truth(t))]), "color-mix(in srgb,currentColor 38%,transparent)", 1.1),
      kit.svg("path", {d: now.asked.map((t, i) => `M${x(t).toFixed(1)} ${y(now.truth(t)).toFixed(1)}V`
        + up(now.answers[i]).toFixed(1)).join(""), fill: "none", "stroke-width": 1.6, style: `stroke:${paint}`}),
      ...now.at.map((t, i) => kit.dot(x(t), up(now.values[i]), r - 0.5, "currentColor")),
      ...now.asked.map((t, i) => kit.dot(x(t), up(now.answers[i]), r, paint)));
  }
  const layer = kit.svg("g"), marker = kit.svg("g");
  graph.append(layer, marker);
  const drop = x => {
    const to = kit.clamp(stepOf(across.invert(x)), 0, STEPS);
    if (to !== step) { step = to; update(); }
  };
  kit.drag(marker, graph, {move: drop});
  function drawGraph() {
    const width = wide, height = 210, left = 42, right = width - 8, top = 24, bottom = height - 36;
    across = kit.log(data.cycles, [left + 6, right]);
    const y = kit.log([3e-4, 0.6], [bottom, top]), bands = data.bands;
    const line = (values, colour, thick, dash) => kit.curve(bands.map((c, i) => [across(c), y(values[i])]), colour, thick,
      dash);
    const own = data.curves[arm];
    kit.frame(graph, width, height);
    layer.replaceChildren(
      ...kit.axes({left, right, top, bottom}, {
        y: {scale: y, ticks: [0.001, 0.01, 0.1], label: "mean squared error"},
        x: {scale: across, ticks: [2, 5, 10, 20, 50, 100], label: "cycles in the window", line: true}}),
      line(data.zero, "var(--romae-vermillion)", 1.4, "1.5 3.5"), line(data.best, "var(--romae-vermillion)", 1.6, "6 4"),
      kit.text(across(2), y(data.zero[0]) - 5, "predicting zero", {class: "romae-faint"}),
      kit.svg("path", {d: kit.path([...bands.map((c, i) => [across(c), y(own.high[i])]),
        ...bands.map((c, i) => [across(c), y(own.low[i])]).reverse()]) + "Z", style: `fill:${colour(arm)}`,
        "fill-opacity": 0.2}),
      ...names.map(name => line(data.curves[name].mean, colour(name), name === arm ? 3 : 1.3)));
    const at = across(now.cycles), place = bands.findIndex(c => c > now.cycles), last = bands.length - 1;
    const between = place < 1 ? own.mean[place < 0 ? last : 0] : Math.exp(kit.linear(
      [Math.log(bands[place - 1]), Math.log(bands[place])],
      [Math.log(own.mean[place - 1]), Math.log(own.mean[place])])(Math.log(now.cycles)));
    marker.replaceChildren(...kit.marker(at, top, bottom, [[y(between), colour(arm)]]));
  }
  function draw() {
    if (!wide) return;
    drawMain();
    drawGraph();
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    compute();
    slider.set(step);
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", names[i] === arm));
    said.textContent = `${short(now.cycles)} cycles: this answer's squared error is ${now.mse.toFixed(3)}; that of `
      + `predicting zero ${now.zero.toFixed(3)}.` + (arm === "spectral" ? ` The periodogram finds ${short(now.told)}.` : "");
    main.setAttribute("aria-label", said.textContent);
    draw();
    announce(said.textContent);
    kit.state({arm, series: chosen, cycles: now.cycles, told: now.told, times: now.at, asked: now.asked,
      values: now.values, answers: now.answers.map(v => +v.toFixed(6)), mse: +now.mse.toFixed(6)});
  }
  update();
  kit.sized(main, width => {
    wide = width;
    draw();
  });
}

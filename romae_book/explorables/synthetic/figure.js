// Drag the observed points of a random series; RoMAE and the exact Gaussian process follow. For one asked time: how
// much of each observation stands in either answer.
function explorable(root, data, kit) {
  const {t, references, sharpness, noise, trained} = data, T = t.length, MAX = data.max;
  const models = [
    {id: "romae", name: "RoMAE", colour: "var(--romae-blue)", width: 2.75, dash: ""},
    {id: "gp", name: "Gaussian process", colour: "var(--romae-vermillion)", width: 2.25, dash: "7 4"}];

  const units = data.units.map(({unit, model}) => ({unit, model: romae.load(model),
    positions: t.map(time => [time * unit])}));
  const NUDGE = 0.001, PAUSE = 60;  // of an observation; milliseconds before the slower sums begin

  // --- the Gaussian process: ten heights, one 10 x 10 system ---------------------------------------------------------
  const basis = time => {
    const exponents = references.map(r => -sharpness * (time - r) ** 2), top = Math.max(...exponents);
    const bells = exponents.map(e => Math.exp(e - top)), total = bells.reduce((a, b) => a + b);
    return bells.map(b => b / total);
  };
  const W = t.map(basis), K = references.length, fine = Array.from({length: 4 * (T - 1) + 1},
    (_, i) => t[0] + (t[T - 1] - t[0]) * i / (4 * (T - 1)));
  const fineW = fine.map(basis), dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  function invert(matrix) {  // Gauss-Jordan; the matrix is positive definite, so no pivoting
    const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => +(i === j))]);
    rows.forEach((row, i) => {
      const pivot = row[i];
      row.forEach((v, j) => { row[j] = v / pivot; });
      rows.forEach((other, k) => {
        const factor = other[i];
        if (k !== i && factor) row.forEach((v, j) => { other[j] -= factor * v; });
      });
    });
    return rows.map(row => row.slice(K));
  }
  function posterior(observed, values) {
    const precision = Array.from({length: K}, (_, a) => Array.from({length: K}, (_, b) =>
      +(a === b) + observed.reduce((sum, i) => sum + W[i][a] * W[i][b], 0) / noise ** 2));
    const covariance = invert(precision);
    const pull = Array.from({length: K}, (_, a) => observed.reduce((sum, i, j) => sum + W[i][a] * values[j],
      0) / noise ** 2);
    const heights = covariance.map(row => dot(row, pull));
    const at = w => ({mean: dot(w, heights), sd: Math.sqrt(dot(w, covariance.map(row => dot(row, w))))});
    // The mean is linear in the observations: w . covariance . W_o' / noise^2 are its weights.
    const share = w => {
      const spread = covariance.map(row => dot(row, w) / noise ** 2);
      return observed.map(i => dot(W[i], spread));
    };
    return {at, share};
  }

  function draw(number) {
    const {heights, noisy, order} = data.series[number];
    return {clean: W.map(w => dot(w, heights)), noisy, order};
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  let number = data.start, current = draw(number), observed = current.order.slice(0, data.observed), answer, unit = 0,
    asked = data.asked;
  const shown = {truth: true, romae: true, gp: true}, announce = kit.announcer(root);
  const digits = v => v.toFixed(3), time = i => t[i].toFixed(2);

  function solve() {
    const sorted = [...observed].sort((a, b) => a - b), values = sorted.map(i => current.noisy[i]);
    const hidden = t.map((_, i) => i).filter(i => !sorted.includes(i)), {at, share} = posterior(sorted, values);
    const predicted = say(current.noisy, hidden), exact = hidden.map(i => at(W[i]));
    if (!hidden.includes(asked)) asked = hidden.reduce((best, i) => Math.abs(i - asked) < Math.abs(best - asked) ? i
      : best);
    const mean = errors => errors.reduce((a, b) => a + b, 0) / errors.length;
    answer = {sorted, hidden, predicted, exact, fine: fineW.map(at), share, weights: null, average: null,
      romae: mean(predicted.map((x, j) => (x - current.clean[hidden[j]]) ** 2)),
      gp: mean(exact.map(({mean: x}, j) => (x - current.clean[hidden[j]]) ** 2)),
      expected: mean(exact.map(({sd}) => sd ** 2))};
  }

  function say(noisy, hidden) {
    const {model, positions} = units[unit], found = romae.predict(model, noisy.map(v => [v]), positions,
      new Set(hidden));
    return hidden.map(i => found[i][0]);
  }
  // What takes many predictions comes bit by bit once nothing moves any more: RoMAE's weights, by raising and lowering
  // one observation after the other, and its error over all of the page's series. Whoever knows only the observations
  // errs by the process's variance plus the squared distance from its mean: so only the distance has to be averaged.
  let ticket = 0, timer;
  function later() {
    const mine = ++ticket, {sorted, hidden} = answer, weights = hidden.map(() => []);
    const wanted = [...sorted.map((i, j) => () => {
      const [up, down] = [NUDGE, -NUDGE].map(by => say(current.noisy.map((v, k) => k === i ? v + by : v), hidden));
      up.forEach((v, m) => { weights[m][j] = (v - down[m]) / (2 * NUDGE); });
      if (j === sorted.length - 1) { answer.weights = weights; report(); }
    })];
    let total = 0;
    data.series.forEach(({noisy}, n) => wanted.push(() => {
      const {at} = posterior(sorted, sorted.map(i => noisy[i])), predicted = say(noisy, hidden);
      total += hidden.reduce((sum, i, m) => sum + (predicted[m] - at(W[i]).mean) ** 2, 0) / hidden.length;
      if (n === data.series.length - 1) { answer.average = answer.expected + total / data.series.length; report(); }
    }));
    const next = () => {
      if (mine !== ticket) return;
      const until = performance.now() + 12;
      while (wanted.length && performance.now() < until) wanted.shift()();
      if (wanted.length) timer = setTimeout(next, 0);
    };
    clearTimeout(timer);
    timer = setTimeout(next, PAUSE);
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const plot = kit.el("div", {class: "sy-plot"}), svg = kit.svg("svg", {style: "overflow:hidden"}),
    note = kit.el("p", {class: "sy-note romae-faint"});
  plot.append(svg);
  const what = kit.el("p", {class: "sy-what"}), bars = kit.svg("svg", {class: "sy-weights"});
  const unitButtons = units.map(({unit: by}, i) => kit.button(`× ${by}`, {class: "romae-button"}, () => {
    unit = i;
    update();
  }));
  const choose = kit.el("div", {class: "sy-units", role: "group", "aria-label": "Unit of time"},
    kit.el("span", {}, "RoMAE trained with times"), ...unitButtons);
  const slider = kit.slider({label: "Observed", min: 1, max: MAX, value: observed.length, format: n => `${n} of ${T}`,
    describe: n => `${n} of ${T} points`, change: count});
  const truth = {id: "truth", name: "True curve", colour: "color-mix(in srgb,currentColor 55%,transparent)",
    width: 1.75};
  const head = ["show", "MSE to the true curve, where hidden"];
  const legend = kit.legend({rows: [...models, truth], shown, head, change: () => update()});
  root.append(...units.length > 1 ? [choose] : [], plot, what, bars, kit.el("div", {class: "sy-side"},
    kit.el("div", {},
      kit.el("div", {class: "romae-row"}, slider.node),
      kit.el("div", {class: "romae-row"},
        kit.button("New series", {class: "romae-button"}, () => {
          number = (number + 1) % data.series.length;
          current = draw(number);
          observed = current.order.slice(0, observed.length);
          update(true);
        }),
        kit.button("Spread evenly", {class: "romae-button"}, () => {
          const n = observed.length;
          observed = observed.map((_, j) => Math.round((j + 0.5) * T / n - 0.5));
          update(true);
        }),
        kit.button("Crowd", {class: "romae-button", title: "Put all observed points side by side"}, () => {
          const n = observed.length, first = Math.round((T - n) / 2);
          observed = observed.map((_, j) => first + j);
          update(true);
        }))),
    kit.el("div", {class: "sy-legend"},
      legend.node, note)));

  function count(n) {
    observed = observed.slice(0, n);
    for (const i of current.order) if (observed.length < n && !observed.includes(i)) observed.push(i);
    update(true);
  }
  // Moves observed point j to the grid's index i, or to the next free one on the way there.
  function move(j, i, jump = false) {
    const from = observed[j], step = Math.sign(i - from);
    let goal = kit.clamp(i, 0, T - 1);
    const taken = k => observed.includes(k) && k !== from;
    while (taken(goal) && goal !== from) goal -= step;
    // from the keyboard, one step at a time: jump over the neighbour
    if (jump && goal === from && taken(from + step)) {
      goal = from + step;
      while (taken(goal)) goal += step;
      if (goal < 0 || goal >= T) return;
    }
    if (goal === from) return;
    observed[j] = goal;
    update();
  }

  // --- drawing -------------------------------------------------------------------------------------------------------
  const layer = {grid: kit.svg("g"), band: kit.svg("path"), truth: kit.svg("path"), gp: kit.svg("path"),
    romae: kit.svg("path"), asked: kit.svg("g"), points: kit.svg("g")};
  svg.append(...Object.values(layer));
  kit.set(layer.band, {style: "fill:var(--romae-vermillion)", "fill-opacity": 0.15});
  kit.set(layer.truth, {fill: "none", "stroke-width": 1.75,
    style: "stroke:color-mix(in srgb,currentColor 50%,transparent)"});
  for (const m of models) kit.set(layer[m.id], {fill: "none", "stroke-width": m.width, "stroke-dasharray": m.dash,
    "stroke-linejoin": "round", style: `stroke:${m.colour}`});
  let x, y, handles = [];

  function frame(width) {
    const height = Math.round(Math.min(kit.height, Math.max(230, width * 0.62))), left = 30, bottom = height - 34;
    x = kit.linear([t[0], t[T - 1]], [left + 12, width - 14]);
    y = kit.linear([-3, 3], [bottom, 10]);
    kit.frame(svg, width, height);
    layer.grid.replaceChildren(...kit.axes({left, right: width, top: 10, bottom}, {
      y: {scale: y, ticks: [-2, 0, 2]},
      x: {scale: x, ticks: kit.ticks(0, 1, 5).filter(v => v <= t[T - 1] + 1e-9), label: "time"}}));
    place();
    weigh();
  }
  // The weights, under the points that they belong to; the asked time is dragged here.
  const HIGH = 118, scenery = kit.svg("g"), marker = kit.svg("g"),
    zone = kit.svg("rect", {y: 0, height: HIGH, fill: "transparent"});
  bars.append(scenery, zone, marker);
  const showAsked = kit.handle(marker, {label: "Asked time", min: 0, max: T - 1, step: 1, value: () => asked,
    describe: i => `time ${time(i)}`, to: i => ask(i, Math.sign(i - asked))});
  for (const node of [zone, marker]) {
    const go = px => ask(Math.round(kit.clamp((x.invert(px) - t[0]) / (t[1] - t[0]), 0, T - 1)));
    kit.drag(node, bars, {start: go, move: go});
  }
  function ask(i, way = 0) {  // the next hidden point that way, or the nearest one
    const {hidden} = answer, ahead = way ? hidden.filter(h => (h - i) * way >= 0) : hidden;
    if (!ahead.length) return;
    asked = ahead.reduce((best, h) => Math.abs(h - i) < Math.abs(best - i) ? h : best);
    place();
    report();
  }
  const both = () => {
    const m = answer.hidden.indexOf(asked);
    return {gp: answer.share(W[asked]), romae: answer.weights && answer.weights[m]};
  };
  function weigh() {
    if (!x) return;
    const width = x(t[T - 1]) + 14, {gp, romae: said} = both(), all = [...gp, ...said || []];
    const up = kit.linear([Math.min(-0.4, ...all), Math.max(1, ...all)], [HIGH - 22, 8]),
      wide = Math.min(5.5, (x(t[1]) - x(t[0])) / 2 - 0.4);
    kit.frame(bars, width, HIGH, {width: "100%"});
    kit.set(zone, {x: 0, width});
    const rect = (v, left, colour, more) => kit.svg("rect", {x: left, width: wide, y: Math.min(up(v), up(0)),
      height: Math.max(0.8, Math.abs(up(v) - up(0))), style: `fill:${colour};stroke:${colour}`, ...more});
    const parts = kit.axes({left: 30, right: width}, {y: {scale: up, ticks: [0, 1]}});
    answer.sorted.forEach((i, j) => {
      parts.push(rect(gp[j], x(t[i]) - wide - 0.6, "var(--romae-vermillion)", {class: "sy-gp", "fill-opacity": 0.35}));
      if (said) parts.push(rect(said[j], x(t[i]) + 0.6, "var(--romae-blue)", {class: "sy-romae"}));
    });
    scenery.replaceChildren(...parts);
    const at = x(t[asked]);
    marker.replaceChildren(
      kit.svg("rect", {x: at - 14, y: HIGH - 34, width: 28, height: 34, fill: "transparent"}),
      kit.rule(at, 0, at, HIGH - 16, 1, {"stroke-width": 1.3, "stroke-dasharray": "3 3"}),
      kit.svg("path", {d: `M${at} ${HIGH - 17}l7 11h-14z`, style: "fill:currentColor"}));
    showAsked(asked);
    const sum = list => list.reduce((a, b) => a + b, 0).toFixed(2).replace("-", "−");
    what.textContent = `Asked at time ${time(asked)} (drag the triangle). Bars: how far the answer there moves when `
      + `the point above is raised by one. ` +
      `They add up to ${sum(gp)} for the Gaussian process`
        + (said ? ` and ${sum(said)} for RoMAE; what is missing to 1 is drawn towards zero.` : ".");
  }
  function place() {
    if (!x) return;
    layer.truth.setAttribute("d", kit.path(current.clean.map((v, i) => [x(t[i]), y(v)])));
    layer.gp.setAttribute("d", kit.path(answer.fine.map(({mean}, i) => [x(fine[i]), y(mean)])));
    layer.romae.setAttribute("d", kit.path(answer.predicted.map((v, j) => [x(t[answer.hidden[j]]), y(v)])));
    const edge = sign => answer.fine.map(({mean, sd}, i) => [x(fine[i]), y(mean + sign * 2 * sd)]);
    layer.band.setAttribute("d", kit.path([...edge(1), ...edge(-1).reverse()]) + "Z");
    for (const [id, on] of [["truth", shown.truth], ["gp", shown.gp], ["band", shown.gp],
      ["romae", shown.romae]]) layer[id].style.display = on ? "" : "none";
    const m = answer.hidden.indexOf(asked), at = x(t[asked]), dots = [[shown.gp, answer.exact[m].mean, "vermillion"],
      [shown.romae, answer.predicted[m], "blue"]];
    layer.asked.replaceChildren(kit.rule(at, 10, at, y(-3), 0.35, {"stroke-dasharray": "3 3"}),
      ...dots.filter(([on]) => on).map(([, v, colour]) => kit.dot(at, y(v), 4.5, `var(--romae-${colour})`)));
    while (handles.length < observed.length) handles.push(handle(handles.length));
    // A handle that left the page, even for a moment, would lose the pointer that drags it.
    while (layer.points.childElementCount > observed.length) layer.points.lastChild.remove();
    for (let j = layer.points.childElementCount; j < observed.length; j++) layer.points.append(handles[j].node);
    observed.forEach((i, j) => handles[j].show(i));
  }
  function handle(j) {
    const hit = kit.svg("circle", {r: 17}), dot = kit.svg("circle", {r: 6, style: "fill:currentColor"});
    const node = kit.svg("g", {class: "sy-point"}, hit, dot);
    const speak = kit.handle(node, {label: `Observed point ${j + 1}`, min: 0, max: T - 1, step: 1,
      value: () => observed[j],
      describe: i => `time ${time(i)}, value ${current.noisy[i].toFixed(2)}`, to: i => move(j, i, true)});
    const nearest = px => Math.round(kit.clamp((x.invert(px) - t[0]) / (t[1] - t[0]), 0, T - 1));
    kit.drag(node, svg, {move: px => move(j, nearest(px))});
    return {node, show(i) {
      for (const c of [hit, dot]) kit.set(c, {cx: x(t[i]), cy: y(current.noisy[i])});
      speak(i);
    }};
  }

  function update() {
    solve();
    place();
    report();
    later();
  }
  function report() {
    const n = observed.length;
    weigh();
    unitButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === unit));
    slider.set(n);
    for (const {id} of models) legend.write(id, digits(answer[id]));
    const untrained = n < trained[0] || n > trained[1]
      ? ` RoMAE was trained with ${trained[0]} to ${trained[1]} points.` : "";
    const average = answer.average === null ? "…" : digits(answer.average);
    note.textContent = `Over all series observed at these times, the best possible is ${digits(answer.expected)}; `
      + `RoMAE has ${average} (from ${data.series.length} series).${untrained}`;
    announce(`${n} points observed. Mean squared error: RoMAE ${digits(answer.romae)}, Gaussian process `
      + `${digits(answer.gp)}.`);
    const {gp, romae: said} = both(), four = list => list && list.map(v => v.toFixed(4));
    kit.state({busy: answer.average === null, asked, unit: units[unit].unit, weights_gp: four(gp),
      weights_romae: four(said), average: answer.average === null ? null : digits(answer.average), series: number,
      observed: [...observed], shown: {...shown}, mse_romae: digits(answer.romae), mse_gp: digits(answer.gp),
      expected: digits(answer.expected), hidden: answer.hidden, romae: answer.predicted.map(v => v.toFixed(4)),
      gp: answer.exact.map(v => v.mean.toFixed(4)), sd: answer.exact.map(v => v.sd.toFixed(4)),
        note: note.textContent});
  }
  kit.keep("series", () => number, v => { if (/^\d+$/.test(v) && data.series[v]) {
    number = +v;
    current = draw(number);
    update();
  } });
  update();
  kit.sized(plot, frame);
}

// Score against distance for a query and key whose pairs the reader weights and turns; on one axis a curve, on two a
// map.
function explorable(root, data, kit) {
  const state = {axes: data.axes, reach: data.reach, weights: [...data.weights], phases: [...data.phases],
    preset: data.preset, softmax: false, at: [-5, 5]};
  const TURN = 2 * Math.PI, n = data.weights.length;
  const thetas = () => data.thetas[state.axes], axis = i => Math.floor(i * state.axes / n);
  const part = (a, d) => thetas().reduce((sum, theta, i) => axis(i) === a ? sum + state.weights[i] * Math.cos(theta * d
    + state.phases[i]) : sum, 0);
  const score = at => { let sum = 0; for (let a = 0; a < state.axes; a++) sum += part(a, at[a]); return sum; };
  const minus = text => text.replace(/-/g, "−"),
    show = (v, digits = 2) => minus(v.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
  const wavelength = theta => !theta ? "∞" : TURN / theta < 100 ? (TURN / theta).toFixed(1) : (TURN / theta).toFixed(0);
  const colours = ["var(--romae-blue)", "var(--romae-purple)"];
  const announce = kit.announcer(root);

  const presets = data.presets.map(([name]) => {
    const node = kit.button(name, {class: "romae-button", "aria-pressed": "false"}, () => { take(name); update(); });
    return [name, node];
  });
  const bars = kit.el("div"), plot = kit.el("div", {class: "ak-map"}), summary = kit.el("p", {class: "ak-summary"}),
    distances = kit.el("div", {class: "romae-row"});
  const sliders = [0, 1].map(a => kit.slider({label: a ? "Distance, axis 2" : "Distance", min: -data.reach,
    max: data.reach, step: 0.1, value: state.at[a],
    format: v => show(v, 1), describe: v => v.toFixed(1), change: v => { state.at[a] = v; update(false); }}));
  const axes = kit.select({label: "Axes", options: [[1, "one"], [2, "two"]], value: state.axes, change: v => {
    state.axes = +v;
    // a map shows as many waves as fit side by side
    state.reach = reach.input.value = state.axes > 1 ? 15 : data.reach;
    rescale();
    take(state.preset || "all equal"); buildBars(); resize(); update();
  }});
  const reach = kit.select({label: "Up to", options: [15, 40, 150, 1500].map(v => [v, v]), value: state.reach,
    change: v => { state.reach = +v; rescale(); resize(); update(); }});
  const softmax = kit.button("after the exponential", {class: "romae-button", "aria-pressed": "false",
    title: "exp(score), relative to its largest value: what softmax makes of scores"}, () => {
    state.softmax = !state.softmax;
    update();
  });
  root.append(kit.el("div", {class: "ak-presets", role: "group", "aria-label": "Preset"},
    ...presets.map(([, node]) => node)),
    kit.el("div", {class: "ak-split"}, bars, kit.el("div", {}, summary, plot)),
    distances,
    kit.el("div", {class: "romae-row"}, axes.node, reach.node, softmax));

  function take(name) {
    const [weights, phases] = data.presets.find(preset => preset[0] === name)[state.axes];
    state.weights = [...weights];
    state.phases = [...phases];
    state.preset = name;
  }
  function rescale() {
    const step = {15: 0.05, 40: 0.1, 150: 0.5, 1500: 5}[state.reach];
    for (const [a, slider] of sliders.entries()) {
      kit.set(slider.input, {min: -state.reach, max: state.reach, step});
      slider.set(kit.clamp(state.at[a], -state.reach, state.reach));
      slider.set(state.at[a] = +slider.input.value);  // on the new steps
    }
  }

  // --- bars and dials: weight and phase of every pair ----------------------------------------------------------------
  const panel = kit.svg("svg"), columns = [], FOOT = 172, TOP = 24;
  bars.append(panel);
  const level = kit.linear([0, data.most], [FOOT, TOP]);
  let barsWidth = 0;
  function buildBars() {
    columns.length = 0;
    for (let i = 0; i < n; i++) {
      const theta = thetas()[i],
        name = `pair ${i + 1}${state.axes > 1 ? ` (axis ${axis(i) + 1})` : ""}, wavelength ${wavelength(theta)}`;
      const bar = kit.svg("g"), column = {theta, bar};
      column.showWeight = kit.handle(bar, {label: `Weight of ${name}`, min: 0, max: data.most, step: 0.1,
        value: () => state.weights[i], describe: v => v.toFixed(2), to: v => weigh(i, v)});
      kit.drag(bar, panel, {free: true, start: (x, y) => weigh(i, level.invert(y)),
        move: (x, y) => weigh(i, level.invert(y))});
      if (theta) {
        column.dial = kit.svg("g");
        column.showPhase = kit.handle(column.dial, {label: `Phase of ${name}`, min: 0, max: 6.28, step: 0.1,
          value: () => state.phases[i], describe: v => `${v.toFixed(2)} radians`, to: v => phase(i, v)});
        let last;
        const angle = (x, y) => Math.atan2(200 - y, x - column.x);
        kit.drag(column.dial, panel, {free: true, start: (x, y) => { last = angle(x, y); }, move: (x, y) => {
          const turned = (angle(x, y) - last + 3 * Math.PI) % TURN - Math.PI;
          last += turned;
          phase(i, state.phases[i] + turned);
        }});
      }
      columns.push(column);
    }
    if (barsWidth) drawBars(barsWidth);
  }
  const weigh = (i, v) => {
    state.weights[i] = Math.round(100 * kit.clamp(v, 0, data.most)) / 100;
    state.preset = null;
    update();
  };
  const phase = (i, v) => {
    state.phases[i] = (Math.round(100 * (v + TURN)) / 100) % TURN;
    state.preset = null;
    update();
  };
  function drawBars(width) {
    barsWidth = width;
    const left = 22, step = (width - left) / n, wide = Math.min(30, step * 0.62);
    kit.frame(panel, width, 244);
    const parts = [kit.text(left, 10, "weight", {class: "romae-faint"})];
    parts.push(...kit.axes({left: left - 2, right: width}, {y: {scale: level, ticks: [0, 1, 2]}}));
    parts.push(kit.text(left - 8, 204, "φ", {"text-anchor": "end", class: "romae-faint"}),
      kit.text(left - 8, 238, "λ", {"text-anchor": "end", class: "romae-faint"}));
    columns.forEach((column, i) => {
      column.x = left + step * (i + 0.5);
      const colour = column.theta ? colours[axis(i)] : "var(--romae-grey)";
      column.bar.replaceChildren(kit.svg("rect", {class: "ak-wide", x: column.x - step / 2 + 1, y: TOP - 10,
        width: step - 2, height: FOOT - TOP + 12, fill: "transparent"}),
        column.fill = kit.svg("rect", {class: "ak-wide", x: column.x - wide / 2, width: wide, rx: 2,
          "stroke-width": 1.4, "stroke-dasharray": column.theta ? null : "4 3",
          style: `fill:${colour};stroke:${colour}`, "fill-opacity": column.theta ? 0.75 : 0.18}),
        column.cap = kit.svg("rect", {x: column.x - wide / 2 - 2, width: wide + 4, height: 5, rx: 2.5,
          style: `fill:${colour}`}),
        column.grip = kit.svg("rect", {x: column.x - step / 2 + 1, width: step - 2, height: 44, fill: "transparent"}));
      parts.push(column.bar);
      if (column.dial) {
        const r = Math.min(14, step * 0.4);
        column.r = r;
        column.dial.replaceChildren(kit.svg("circle", {cx: column.x, cy: 200, r: Math.min(20, step / 2),
          fill: "transparent"}),
          kit.svg("circle", {cx: column.x, cy: 200, r, fill: "none", style: `stroke:${colour}`, "stroke-width": 1.4}),
          column.hand = kit.svg("line", {x1: column.x, y1: 200, style: `stroke:${colour}`, "stroke-width": 2.6,
            "stroke-linecap": "round"}));
        parts.push(column.dial);
      }
      parts.push(kit.text(column.x, 238, wavelength(column.theta),
        {"text-anchor": "middle", style: step < 34 ? "font-size:10.5px" : ""}));
    });
    panel.replaceChildren(...parts);
    moveBars();
  }
  function moveBars() {
    columns.forEach((column, i) => {
      column.showWeight(state.weights[i]);
      if (column.showPhase) column.showPhase(+state.phases[i].toFixed(2));
      if (!column.fill) return;
      const y = level(state.weights[i]);
      kit.set(column.fill, {y, height: FOOT - y});
      kit.set(column.cap, {y: y - 2.5});
      kit.set(column.grip, {y: kit.clamp(y - 22, TOP - 10, FOOT - 40)});
      if (column.hand) kit.set(column.hand, {x2: column.x + column.r * Math.cos(state.phases[i]),
        y2: 200 - column.r * Math.sin(state.phases[i])});
    });
  }

  // --- the kernel ----------------------------------------------------------------------------------------------------
  const canvas = kit.el("canvas", {width: 121, height: 121, "aria-hidden": "true"}),
    graph = kit.svg("svg", {style: "position:relative"});
  const ground = kit.svg("g"), front = kit.svg("g"),
    zone = kit.svg("rect", {fill: "transparent", style: "cursor:crosshair"});
  plot.append(canvas, graph);
  graph.append(ground, front, zone);
  let across, up, width = 0, box;
  const probe = (x, y) => {
    state.at[0] = Math.round(10 * kit.clamp(across.invert(x), -state.reach, state.reach)) / 10;
    if (state.axes > 1) state.at[1] = Math.round(10 * kit.clamp(up.invert(y), -state.reach, state.reach)) / 10;
    update(false);
  };
  kit.drag(zone, graph, {start: probe, move: probe});
  const resize = () => { if (width) drawPlot(width); };
  function drawPlot(now) {
    width = now;
    const flat = state.axes === 1, side = Math.min(width - 52, 300);
    box = flat ? {left: 34, right: width - 8, top: 10, bottom: kit.height - 38} : {left: 40, right: 40 + side, top: 10,
      bottom: 10 + side};
    kit.frame(graph, width, box.bottom + 38);
    across = kit.linear([-state.reach, state.reach], [box.left, box.right]);
    kit.set(zone, {x: box.left, y: box.top, width: box.right - box.left,
      height: box.bottom - box.top + (flat ? 20 : 0)});
    zone.classList.toggle("romae-free", !flat);
    canvas.style.display = flat ? "none" : "block";
    Object.assign(canvas.style, {left: `${box.left}px`, top: `${box.top}px`, width: `${side}px`, height: `${side}px`});
    drawKernel();
  }
  function bounds() {  // of the score over all distances drawn, and its largest value, which softmax is relative to
    const total = state.weights.reduce((sum, w) => sum + w, 0) || 1;
    const steps = Math.max(2000, 8 * state.reach);
    let best = 0;
    for (let a = 0; a < state.axes; a++) {
      let most = part(a, state.at[a]);  // what the probe reads counts too, should it stand between two steps
      for (let i = 0; i <= steps; i++) most = Math.max(most, part(a, state.reach * (2 * i / steps - 1)));
      best += most;
    }
    return {total, best};
  }
  function drawKernel() {
    if (!across) return;
    const flat = state.axes === 1, {total, best} = bounds(), value = s => state.softmax ? Math.exp(s - best) : s;
    const parts = [], ticks = kit.ticks(-state.reach, state.reach, 4);
    if (flat) {
      up = kit.linear(state.softmax ? [0, 1.08] : [-total * 1.06, total * 1.06], [box.bottom, box.top]);
      const ticks = state.softmax ? [0, 0.5, 1] : [-total, 0, total], format = v => minus(String(+v.toFixed(1)));
      parts.push(...kit.axes(box, {y: {scale: up, ticks, format}}));
      parts.push(kit.rule(across(0), box.top, across(0), box.bottom, 0.25, {"stroke-dasharray": "2 3"}));
      const points = Array.from({length: 2 * Math.round(box.right - box.left) + 1}, (_, i) => {
        const x = box.left + i / 2;
        return [x, up(value(part(0, across.invert(x))))];
      });
      parts.push(kit.curve(points, "var(--romae-blue)", 1.8));
    } else {
      up = kit.linear([-state.reach, state.reach], [box.bottom, box.top]);
      drawMap(value, total);
      for (const v of ticks) parts.push(kit.text(box.left - 10, up(v) + 4, minus(String(v)), {"text-anchor": "end"}));
      parts.push(kit.svg("rect", {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top,
        fill: "none", style: "stroke:currentColor", "stroke-opacity": 0.35}));
    }
    columns.forEach(({theta}, i) => {
      const lambda = TURN / theta, style = `fill:${colours[axis(i)]};fill-opacity:${state.weights[i] ? 1 : 0.25}`;
      if (theta && lambda <= state.reach) for (const at of [lambda, -lambda]) parts.push(
        kit.svg("path", {d: axis(i) ? `M${box.left - 1} ${up(at)}l-7 -4.5v9z`
          : `M${across(at)} ${box.bottom + 1}l4.5 7h-9z`, style}));
    });
    const label = flat ? "distance Δ = key − query" : "Δ along axis 1, and upwards along axis 2";
    parts.push(...kit.axes(box, {x: {scale: across, ticks, label, drop: 21}}));
    ground.replaceChildren(...parts);
    drawProbe(value);
  }
  // Positive scores in one colour, negative in another, strength as opacity: readable on any ground.
  function drawMap(value, total) {
    const N = canvas.width, context = canvas.getContext("2d"), image = context.createImageData(N, N);
    const rgb = name => {
      const hex = getComputedStyle(root).getPropertyValue(name).trim();
      return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
    };
    const plus = rgb("--romae-blue"), less = rgb("--romae-vermillion");
    const at = i => state.reach * (2 * i / (N - 1) - 1), x = [], y = [];
    for (let i = 0; i < N; i++) { x.push(part(0, at(i))); y.push(part(1, at(N - 1 - i))); }
    for (let j = 0; j < N; j++) for (let i = 0; i < N; i++) {
      const v = value(x[i] + y[j]) / (state.softmax ? 1 : total), k = 4 * (j * N + i), c = v > 0 ? plus : less;
      image.data.set([...c, Math.round(255 * Math.min(1, Math.abs(v)))], k);
    }
    context.putImageData(image, 0, 0);
  }
  function drawProbe(value) {
    if (!across || !value) return;
    const s = score(state.at), x = across(state.at[0]), y = state.axes === 1 ? up(value(s)) : up(state.at[1]),
      line = {style: "stroke:currentColor", "stroke-width": 1.2, "stroke-opacity": 0.6};
    front.replaceChildren(kit.svg("line", {x1: x, x2: x, y1: box.top, y2: box.bottom, ...line}),
      ...(state.axes > 1 ? [kit.svg("line", {x1: box.left, x2: box.right, y1: y, y2: y, ...line})] : []),
      kit.svg("circle", {cx: x, cy: y, r: 5.5, style: "fill:var(--romae-blue);stroke:currentColor",
        "stroke-width": 1.2}));
    kit.set(front, {style: "pointer-events:none"});
  }
  new MutationObserver(() => {
    if (state.axes > 1) drawKernel();
  }).observe(root.closest("figure"), {attributes: true, attributeFilter: ["data-scheme"]});

  // --- state ---------------------------------------------------------------------------------------------------------
  function update(shape = true) {
    const now = score(state.at), {best} = bounds(), weight = Math.exp(now - best),
      where = state.at.slice(0, state.axes);
    for (const [a, slider] of sliders.entries()) slider.set(state.at[a]);
    if (distances.children.length !== state.axes) distances.replaceChildren(...sliders.slice(0,
      state.axes).map(slider => slider.node));
    sliders[0].node.firstChild.textContent = state.axes > 1 ? "Distance, axis 1" : "Distance";
    for (const [name, node] of presets) node.setAttribute("aria-pressed", name === state.preset);
    softmax.setAttribute("aria-pressed", state.softmax);
    summary.replaceChildren(`at distance ${where.map(v => show(v, 1)).join(", ")}: score `,
      kit.el("b", {}, show(now, 3)), `, weight ${weight.toFixed(3)} of the largest`);
    if (shape) { moveBars(); drawKernel(); } else drawProbe(state.softmax ? s => Math.exp(s - best) : s => s);
    announce(`Distance ${where.map(v => v.toFixed(1)).join(", ")}, score ${now.toFixed(3)}.`);
    kit.state({axes: state.axes, reach: state.reach, preset: state.preset, softmax: state.softmax,
      at: where.map(v => v.toFixed(2)), score: now.toFixed(4),
      weight: weight.toFixed(4), weights: state.weights.map(w => w.toFixed(2)),
        phases: state.phases.map(phi => phi.toFixed(4))});
  }
  rescale();
  buildBars();
  kit.sized(bars, drawBars);
  kit.sized(plot, drawPlot);
  update();
}

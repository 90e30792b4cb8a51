// Points that the reader draws or pastes; a RoMAE in the page fills what lies between, beside an exact Gaussian
// process.
function explorable(root, data, kit) {
  const net = romae.load(data.model), announce = kit.announcer(root), [least, most] = data.seen, z95 = 1.959964;
  let points = [], chosen = 0, ask = 0, seed = data.seed, truth = null, curve = null, now = null, box = null, width = 0,
    what = "";

  // --- Gaussian processes, as romae_book.experiments.priors.data and .rivals have them -------------------------------
  const kernels = {
    rbf: (d, {length}) => Math.exp(-0.5 * (d / length) ** 2),
    matern12: (d, {length}) => Math.exp(-Math.abs(d) / length),
    matern32: (d, {length}) => { const s = Math.sqrt(3) * Math.abs(d) / length; return (1 + s) * Math.exp(-s); },
    matern52: (d, {length}) => {
      const s = Math.sqrt(5) * Math.abs(d) / length;
      return (1 + s + s * s / 3) * Math.exp(-s);
    },
    periodic: (d, {length, width = 1}) => Math.exp(-2 * (Math.sin(Math.PI * d / length) / width) ** 2),
  };
  const covariance = terms => d => terms.reduce((sum, term) => sum + term.share * kernels[term.kind](d, term), 0);
  function cholesky(n, of) {  // rows of the lower factor
    const rows = [];
    for (let i = 0; i < n; i++) {
      const row = new Float64Array(n);
      for (let j = 0; j <= i; j++) {
        const rest = of(i, j) - romae.dot(row, 0, rows[j] ?? row, 0, j);
        row[j] = i === j ? Math.sqrt(Math.max(rest, 1e-12)) : rest / rows[j][j];
      }
      rows.push(row);
    }
    return rows;
  }
  function solve(L, y) {  // L x = y
    const x = new Float64Array(y.length);
    for (let i = 0; i < y.length; i++) x[i] = (y[i] - romae.dot(L[i], 0, x, 0, i)) / L[i][i];
    return x;
  }
  // Mean and standard deviation of a measurement at each place; power: variance of the curve; noise: in its deviations.
  function posterior(k, noise, power, t, y, at) {
    const L = cholesky(t.length, (i, j) => k(t[i] - t[j]) + (i === j ? noise ** 2 : 0)), white = solve(L, y);
    return at.map(s => {
      const across = solve(L, t.map(u => k(u - s)));
      const left = Math.max(k(0) - romae.dot(across, 0, across, 0, t.length), 1e-9);
      return [romae.dot(across, 0, white, 0, t.length), Math.sqrt(power * (left + noise ** 2))];
    });
  }
  // Of the grid's kernels the one under which the points are likeliest, each with the variance that suits it best.
  function likeliest(t, y) {
    let best = null;
    for (const [kind, lengths] of data.grid) for (const length of lengths) {
      const k = covariance([{kind, length, share: 1}]), K = t.map((a, i) => t.slice(0, i + 1).map(b => k(a - b)));
      for (const noise of data.noises) {
        const L = cholesky(t.length, (i, j) => K[i][j] + (i === j ? noise ** 2 : 0)), white = solve(L, y);
        const power = Math.max(romae.dot(white, 0, white, 0, t.length) / t.length, 1e-12);
        const evidence = -0.5 * t.length * Math.log(power) - L.reduce((sum, row, i) => sum + Math.log(row[i]), 0);
        if (!best || evidence > best.evidence) best = {kind, length, noise, power, evidence};
      }
    }
    return best;
  }

  // --- series --------------------------------------------------------------------------------------------------------
  const NAMES = {smooth: "smooth", matern: "Matérn", rough: "rough", periodic: "periodic", sum: "sum"};
  function draw(kind) {
    const next = kit.random(seed++), log = (low, high) => low * (high / low) ** next();
    const gauss = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const n = 6 + Math.floor(30 * next()), hole = Math.floor(n * next()), t = [0];
    for (let i = 1; i < n; i++) t.push(t[i - 1] + (i === hole ? 6 : 1) * (0.2 - 0.8 * Math.log(1 - next())));
    const span = t[n - 1],
      one = (which, length) => ({smooth: {kind: "rbf", length}, rough: {kind: "matern12", length: 2 * length},
      matern: {kind: next() < 0.5 ? "matern32" : "matern52", length},
        periodic: {kind: "periodic", length: log(3, Math.max(8, span / 2)), width: log(0.5, 1.5)}})[which];
    const length = log(1, span / 3), share = 0.3 + 0.4 * next();
    const terms = kind === "sum" ? [{share, ...one(next() < 0.5 ? "periodic" : "matern", length)},
      {share: 1 - share, kind: "rbf", length: span * log(0.4, 2)}] : [{share: 1, ...one(kind, length)}];
    const noise = log(0.02, 0.4), k = covariance(terms),
      grid = Array.from({length: 160}, (_, i) => span * (i / 159 * 1.24 - 0.12));
    const all = [...t, ...grid], L = cholesky(all.length, (i, j) => k(all[i] - all[j]) + (i === j ? 1e-6 : 0)),
      z = all.map(gauss);
    const f = all.map((_, i) => romae.dot(L[i], 0, z, 0, i + 1));
    points = t.map((at, i) => ({t: at, v: f[i] + noise * gauss()}));
    truth = {terms, noise};
    curve = grid.map((at, i) => [at, f[n + i]]);
    begin(`a ${NAMES[kind]} series`);
  }
  function example(i) {
    points = data.examples[i].points.map(([t, v]) => ({t, v}));
    truth = null;
    curve = data.examples[i].curve;
    begin(data.examples[i].name, data.examples[i].about);
  }
  function begin(name, about = "") {
    what = name;
    why.textContent = about;
    chosen = 0;
    const t = points.map(p => p.t), v = points.map(p => p.v), [a, b] = [Math.min(...t), Math.max(...t)],
      [c, d] = [Math.min(...v), Math.max(...v)];
    const wide = b - a || 1, high = d - c || 1;
    box = {t: [a - 0.12 * wide, b + 0.12 * wide], v: [c - 0.35 * high, d + 0.35 * high]};
    const step = 1.24 * wide / 200;
    ask = box.t[0] + 115 * step;
    asks.input.min = box.t[0];
    asks.input.max = box.t[1];
    asks.input.step = step;
    write();
    said.textContent = "";
  }

  // --- the filler, as romae_lite.series.fill has it ------------------------------------------------------------------
  const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
  const deviation = list => { const m = mean(list); return Math.sqrt(mean(list.map(v => (v - m) ** 2))); };
  const grow = (width, typical) => kit.clamp(width / typical, 0.03, 300) ** 0.25;
  const halfLog = ratio => Math.log(kit.clamp(ratio, 1e-4, 1e4)) / 2;
  function merge() {  // sorted, what was measured at one time averaged
    const all = new Map();
    for (const p of points) all.set(p.t, [...all.get(p.t) ?? [], p.v]);
    const t = [...all.keys()].sort((a, b) => a - b);
    return [t, t.map(s => mean(all.get(s)))];
  }
  function smallestStep() {
    const v = points.map(p => p.v).sort((a, b) => a - b), tiny = 1e-9 * Math.max(...v.map(Math.abs));
    const steps = v.slice(1).map((s, i) => s - v[i]), real = steps.filter(s => s > tiny);
    return real.length && real.length < steps.length ? Math.min(...real) : 0;
  }
  // What the network reads of the points, and of a place: where it is, and the zero and unit of the answer there.
  function look(t, y) {
    const n = t.length, gap = t.slice(1).map((s, i) => s - t[i]), tick = [...gap].sort((a, b) => a - b)[n - 2 >> 1];
    const centre = mean(y), flat = deviation(y) <= 1e-12 * Math.max(...y.map(Math.abs));
    const spread = deviation(flat ? points.map(p => p.v) : y), inner = gap.slice(1).map((_, i) => i + 1);
    const widths = inner.map(i => gap[i - 1] * gap[i] / (gap[i - 1] + gap[i]));
    const typical = Math.exp(mean(widths.map(Math.log)));
    const wrong = inner.map(i => (y[i] - (y[i - 1] * gap[i] + y[i + 1] * gap[i - 1]) / (gap[i - 1] + gap[i]))
      / grow(widths[i - 1], typical));
    const scale = Math.max(1.25 * mean(wrong.map(Math.abs)), 1e-4 * spread), middle = (t[0] + t[n - 1]) / 2;
    return {
      spread, tick,
      points: y.map((v, i) => [(v - centre) / spread, Math.asinh((i && i < n - 1 ? wrong[i - 1] : 0) / scale),
        halfLog((gap[i - 1] ?? gap[0]) / tick), halfLog((gap[i] ?? gap[n - 2]) / tick), halfLog(scale / spread), 0, 0]),
      positions: t.map((s, i) => [(s - middle) / tick, i - (n - 1) / 2]),
      place: at => {
        const found = t.findIndex(s => s >= at), i = kit.clamp(found < 0 ? n - 1 : found, 1, n - 1);
        const share = kit.clamp((at - t[i - 1]) / gap[i - 1], 0, 1);
        const early = Math.max(t[i - 1] - at, 0), late = Math.max(at - t[i], 0);
        const index = i - 1 + share + 4 * Math.asinh((late - early) / tick / 4);
        return {position: [(at - middle) / tick, index - (n - 1) / 2], line: y[i - 1] + share * (y[i] - y[i - 1]),
          unit: scale * grow(gap[i - 1] * share * (1 - share) + early + late, typical)};
      },
    };
  }
  function fill(view, at) {  // mean and standard deviation of a measurement at each place
    const seen = romae.encode(net, view.points, view.positions), places = at.map(view.place);
    return romae.decode(net, seen, places.map(p => p.position)).map((out, i) => [
      places[i].line + places[i].unit * out[0],
      Math.max(places[i].unit * Math.exp(kit.clamp(out[net.patch], -14, 14) / 2), data.floor * smallestStep())]);
  }
  function problem() {
    const times = new Set(points.map(p => p.t));
    if (times.size < least) return `${times.size} different time${times.size === 1 ? "" : "s"}: at least ${least} `
      + `are needed. Press the plane to add a point.`;
    return points.every(p => p.v === points[0].v) ? "All values are equal: there is nothing to tell their scale by."
      : "";
  }
  function compute() {
    const wrong = problem();
    if (wrong) { now = {wrong}; return; }
    const [t, y] = merge(), view = look(t, y), {spread, tick} = view;
    const at = Array.from({length: data.curve}, (_, i) => box.t[0] + (box.t[1] - box.t[0]) * i / (data.curve - 1));
    const everywhere = [...at, ask], line = fill(view, everywhere), answer = line.pop();
    let kernel, gp;
    if (truth) {
      kernel = {terms: truth.terms, noise: truth.noise, known: true};
      gp = posterior(covariance(truth.terms), truth.noise, 1, t, y, everywhere);
    } else {
      const centre = mean(y), z = y.map(v => (v - centre) / spread), u = t.map(s => s / tick);
      const best = likeliest(u, z), {kind, length, noise, power} = best;
      kernel = {kind, length: length * tick, noise, power: power * spread ** 2, known: false};
      gp = posterior(covariance([{kind, length, share: 1}]), noise, power, u, z, everywhere.map(s => s / tick))
        .map(([m, s]) => [m * spread + centre, s * spread]);
    }
    now = {at, line, answer, gp: gp.slice(0, -1), gpAnswer: gp.at(-1), kernel, spread};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const main = kit.svg("svg", {role: "group", "aria-label": "Values over time"}),
    plot = kit.el("div", {class: "fs-plot"}, main);
  const round = (v, by) => {
    const digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.abs(by) || 1))));
    return v.toFixed(digits);
  };
  const inT = v => round(v, (box.t[1] - box.t[0]) / 10), inV = v => round(v, (box.v[1] - box.v[0]) / 10);
  const asks = kit.slider({label: "Ask at", min: 0, max: 1, step: "any", value: 0.5, format: v => box ? inT(v) : "",
    describe: v => box ? `time ${inT(v)}` : "", change: v => { ask = v; update(); }});
  const which = kit.slider({label: "Chosen point", min: 1, max: 2, value: 1,
    describe: v => `point ${v} of ${points.length}`, change: v => { chosen = v - 1; update(); }});
  const kind = kit.select({label: "Prior", options: Object.entries(NAMES), value: "smooth", change: () => update()});
  const fresh = kit.button("draw a series", {class: "romae-button"}, () => {
    examples.input.value = "";
    draw(kind.input.value);
    frame();
    update();
  });
  const examples = kit.select({label: "Example",
    options: [["", "choose"], ...data.examples.map((e, i) => [String(i), e.name])], value: "0",
    change: i => { if (i !== "") { example(+i); frame(); update(); } }});
  const add = kit.button("add", {class: "romae-button", "aria-label": "add a point"},
    () => put((box.t[0] + box.t[1]) / 2, (box.v[0] + box.v[1]) / 2));
  const remove = kit.button("remove", {class: "romae-button", "aria-label": "remove the chosen point"}, () => drop());
  const clear = kit.button("clear", {class: "romae-button", "aria-label": "clear all points"}, () => {
    points = [];
    chosen = 0;
    changed();
    add.focus({preventScroll: true});
  });
  const area = kit.el("textarea", {"aria-label": "Points, a line each: time, value", spellcheck: "false"}),
    said = kit.el("output", {class: "fs-said", "aria-live": "polite"});
  const use = kit.button("use these points", {class: "romae-button"}, () => take(area.value.split("\n")));
  const why = kit.el("p", {class: "fs-why"}), facts = kit.el("p", {class: "fs-facts"}), legend = kit.el("div", {class: "fs-legend"});
  const row = (...nodes) => kit.el("div", {class: "romae-row"}, ...nodes);
  root.append(row(examples.node, kind.node, fresh), plot, legend, why, facts, row(asks.node),
    row(which.node, add, remove, clear),
    kit.el("details", {class: "fs-paste"}, kit.el("summary", {}, "paste your own: a line each, time and value"), area,
      row(use), said));

  function write() { area.value = points.map(p => `${+p.t.toPrecision(15)}, ${+p.v.toPrecision(15)}`).join("\n"); }
  // Points from lines like "3.5, 12", pasted or out of an address; the first line that is none is named. One line of
  // words may stand on top.
  function take(lines, fewest = least) {
    const found = [], numbered = lines.map((text, i) => [text.trim(), i + 1]).filter(([text]) => text
      && text[0] !== "#");
    const complain = message => { said.textContent = `${message} Nothing was changed.`; update(); };
    for (const [k, [text, number]] of numbered.entries()) {
      const parts = text.split(/[\s,;]+/).filter(Boolean), values = parts.map(kit.number);
      if (k === 0 && parts.every(part => Number.isNaN(Number(part)))) continue;
      if (parts.length !== 2 || !values.every(Number.isFinite))
        return complain(`Line ${number} is “${text.slice(0, 30)}”: it should be two numbers, time and value, like `
          + `3.5, 12.`);
      found.push({t: values[0], v: values[1]});
    }
    if (found.length > most) return complain(
      `There are ${found.length} points; the page takes up to ${most}, romae_lite.fill in Python any number.`);
    const times = new Set(found.map(p => p.t)).size;
    if (times < fewest) return complain(`There are ${times} different times; at least ${fewest} are needed.`);
    points = found;
    truth = curve = null;
    examples.input.value = "";
    begin("your points");
    said.textContent = `${found.length} points taken.`;
    frame();
    update();
  }
  function changed(keep = false) {
    if (!keep) truth = curve = null;
    examples.input.value = why.textContent = "";
    chosen = kit.clamp(chosen, 0, Math.max(0, points.length - 1));
    write();
    update();
  }
  function put(t, v) {
    if (points.length >= most) return;
    points.push({t, v});
    chosen = points.length - 1;
    changed();
  }
  function drop() {
    if (!points.length) return;
    points.splice(chosen, 1);
    changed(true);
    if (!points.length) add.focus({preventScroll: true});  // what is switched off loses the keyboard
  }

  // --- the plane -----------------------------------------------------------------------------------------------------
  const stroke = (...look) => kit.curve(null, ...look);
  const ground = kit.svg("rect", {fill: "transparent"}), axes = kit.svg("g", {}),
    band = kit.svg("path", {style: "fill:var(--romae-blue)", "fill-opacity": 0.17});
  const lines = {truth: stroke("color-mix(in srgb,currentColor 45%,transparent)", 1.75),
    low: stroke("var(--romae-vermillion)", 1.1, "2 4"), high: stroke("var(--romae-vermillion)", 1.1, "2 4"),
    gp: stroke("var(--romae-vermillion)", 2.25, "7 4"), romae: stroke("var(--romae-blue)", 2.9)};
  const marker = kit.svg("g", {style: "pointer-events:none"}), empty = kit.text(0, 0, "", {"text-anchor": "middle"});
  const dots = Array.from({length: most}, (_, i) => {
    const node = kit.svg("g", {}, kit.svg("circle", {r: 12, fill: "transparent"}),
      kit.svg("circle", {r: 4.2, style: "fill:currentColor"}));
    const inside = (t, v) => ({t: kit.clamp(t, ...box.t), v: kit.clamp(v, ...box.v)});
    kit.drag(node, main, {free: true, start: () => {
      chosen = i;
      update();
      node.focus({preventScroll: true, focusVisible: false});
    }, move: (x, y) => { points[i] = inside(across.invert(x), up.invert(y)); changed(); }});
    node.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const dt = (box.t[1] - box.t[0]) / 100, dv = (box.v[1] - box.v[0]) / 50, p = points[chosen];
      const by = {ArrowRight: [dt, 0], ArrowLeft: [-dt, 0], ArrowUp: [0, dv], ArrowDown: [0, -dv]}[event.key];
      if (event.key === "Delete" || event.key === "Backspace") drop();
      else if (by) { points[chosen] = inside(p.t + by[0], p.v + by[1]); changed(); }
      else return;
      event.preventDefault();
      if (points.length) dots[chosen].focus({preventScroll: true});
    });
    return node;
  });
  main.append(ground, axes, band, ...Object.values(lines), marker, ...dots, empty);
  let across = null, up = null;
  function frame() {
    if (!width || !box) return;
    const height = Math.round(Math.min(kit.height, width * 0.8)), bottom = height - 22, left = 42;
    across = kit.linear(box.t, [left, width - 8]);
    up = kit.linear(box.v, [bottom, 8]);
    kit.frame(main, width, height);
    kit.set(ground, {width, height});
    kit.set(empty, {x: width / 2, y: height / 2});
    const plain = v => String(+v.toPrecision(12)).replace("-", "−");
    axes.replaceChildren(...kit.axes({left, right: width - 8, bottom}, {
      y: {scale: up, format: plain}, x: {scale: across, ticks: across.ticks(width < 420 ? 4 : 8), format: plain}}));
  }
  ground.addEventListener("click", event => {
    const edge = main.getBoundingClientRect();
    put(across.invert((event.clientX - edge.left) * width / edge.width), up.invert(event.clientY - edge.top));
  });
  function redraw() {
    if (!across) return;
    const on = !now.wrong,
      both = (rows, sign) => rows.map(([mean, sd], i) => [across(now.at[i]), kit.clamp(up(mean + sign * z95 * sd),
      up(box.v[1]), up(box.v[0]))]);
    empty.textContent = "";
    for (const node of [band, ...Object.values(lines), marker]) node.style.display = on ? "" : "none";
    if (on) {
      band.setAttribute("d", kit.path([...both(now.line, 1), ...both(now.line, -1).reverse()]) + "Z");
      lines.romae.setAttribute("d", kit.path(both(now.line, 0)));
      for (const [name, sign] of [["gp", 0], ["low", -1], ["high", 1]]) lines[name].setAttribute("d",
        kit.path(both(now.gp, sign)));
      lines.truth.setAttribute("d", curve ? kit.path(curve.map(([t, v]) => [across(t), up(v)])) : "");
      const x = across(ask), y = s => up(now.answer[0] + s * z95 * now.answer[1]);
      marker.replaceChildren(kit.svg("line", {x1: x, x2: x, y1: y(-1), y2: y(1), style: "stroke:var(--romae-blue)",
        "stroke-width": 2}), kit.svg("circle",
        {cx: x, cy: y(0), r: 6, style: "fill:var(--romae-blue);stroke:var(--romae-ground)", "stroke-width": 2}));
    }
    dots.forEach((node, i) => {
      node.style.display = i < points.length ? "" : "none";
      const chose = i === chosen && i < points.length;
      if (i < points.length) node.setAttribute("transform",
        `translate(${across(points[i].t).toFixed(2)} ${up(points[i].v).toFixed(2)})`);
      node.lastChild.setAttribute("r", chose ? 6 : 4.2);
      if (chose) kit.set(node,
        {role: "slider", tabindex: 0, "aria-label": `Point ${i + 1}: arrows move it, Delete removes it`,
        "aria-valuemin": inV(box.v[0]), "aria-valuemax": inV(box.v[1]), "aria-valuenow": inV(points[i].v),
        "aria-valuetext": `time ${inT(points[i].t)}, value ${inV(points[i].v)}`});
      else for (const name of ["role", "tabindex", "aria-label", "aria-valuemin", "aria-valuemax", "aria-valuenow",
        "aria-valuetext"]) node.removeAttribute(name);
    });
  }
  const entry = (colour, dash, text) => kit.el("span", {},
    kit.el("i", {style: `border-color:${colour};border-top-style:${dash}`, "aria-hidden": "true"}), text);
  const WORDS = {rbf: "smooth", matern32: "Matérn 3/2", matern12: "Matérn 1/2", periodic: "periodic"};
  function update() {
    compute();
    asks.set(ask);
    which.input.max = Math.max(points.length, 1);
    which.set(chosen + 1);
    which.input.disabled = remove.disabled = clear.disabled = !points.length;
    add.disabled = points.length >= most;
    redraw();
    const {kernel} = now, pm = ([mean, sd]) => `${inV(mean)} ± ${inV(z95 * sd)}`;
    legend.replaceChildren(entry("var(--romae-blue)", "solid", "RoMAE, band of 95 %"),
      entry("var(--romae-vermillion)", "dashed",
      truth ? "Gaussian process that made it" : "Gaussian process, likeliest kernel"),
      ...(curve ? [entry("color-mix(in srgb,currentColor 45%,transparent)", "solid", "true curve")] : []));
    const fitted = kernel && !kernel.known
      ? ` Its kernel: ${WORDS[kernel.kind]}, ${kernel.kind === "periodic" ? "period" : "length"} ${inT(kernel.length)}.`
      : "";
    facts.textContent = now.wrong
      || `At ${inT(ask)} a measurement would be, for RoMAE, ${pm(now.answer)}; for the Gaussian process `
      + `${pm(now.gpAnswer)}.${fitted}`;
    announce(`${points.length} points. ${facts.textContent}`);
    const short = v => +v.toPrecision(9), few = rows => rows?.map(row => row.map(short));
    kit.state({what, points: few(points.map(p => [p.t, p.v])), chosen, ask, wrong: now.wrong ?? "",
      said: said.textContent, at: now.at?.map(short), line: few(now.line), gp: few(now.gp),
      answer: few(now.answer && [now.answer]), gpAnswer: few(now.gpAnswer && [now.gpAnswer]), kernel: kernel ?? null,
        spread: now.spread ?? null, kind: kind.input.value});
  }
  example(0);
  // Points that are no example's, as text: as many digits as a link can bear.
  kit.keep("points", () => examples.input.value === ""
    ? points.map(p => [p.t, p.v].map(v => +v.toPrecision(9)).join("_")).join("~") : "", text => {
    if (text) take(text.split("~").map(row => row.replaceAll("_", ", ")), 1);
  });
  kit.sized(plot, w => { width = w; frame(); if (now) redraw(); });
  update();
}

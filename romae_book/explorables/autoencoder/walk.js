// One series followed through the masked autoencoder, from its readings to the loss. Every number is computed in the
// page.
function explorable(root, data, kit) {
  const net = romae.loadBytes(data.model), {encoder, decoder} = net, N = data.seen, E = encoder.dim;
  const GAP = 0.12, REACH = 1.5, TOP = 10, POINTS = 121, LATEST = 20, LEVELS = 7,
    ROOM = {wide: {3: 340}, phone: {3: 324, 6: 306}}, announce = kit.announcer(root);
  const widthOf = size => size.dim / size.heads, speeds = kit.frequencies(widthOf(encoder), net.p, net.base),
    every = [...Array(N).keys()], even = (to, n) => Array.from({length: n}, (_, i) => to * i / (n - 1));
  const ordinal = k => k + 1 + (["st", "nd", "rd"][k] ?? "th"), plain = t => t.toFixed(1);
  const signed = v => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(2)}`;
  let series = 0, period, phase, times, values, hidden, follow, ask, later = 0, layer = 0, head = encoder.heads - 1,
    matrix = "share";
  let draws = 0, step = 0, now = null, before = null, gesture = "", moved = [], box = null;

  // --- series ------------------------------------------------------------------------------------------------------
  function drawn(seed) {
    const next = kit.random(seed), [low, high] = data.periods;
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    for (;;) {
      const times = every.map(() => +(data.span * next()).toFixed(2)).sort((a, b) => a - b);
      const one = {times, period: low + next() * (high - low), phase: next(), hidden: some(Math.round(0.4 * N), next),
        noise: times.map(() => data.noise * normal())};
      if (times.slice(1).every((t, k) => t - times[k] > 2 * GAP)) return one;
    }
  }
  const some = (count, next) => every.map(k => [next(), k]).sort((a, b) => a[0] - b[0]).slice(0, count)
    .map(([, k]) => k);
  const truth = t => Math.sin(2 * Math.PI * (t / period + phase));
  function start(seed) {
    const one = (seed === 0 && data.first) || drawn(seed);
    ({period, phase} = one);
    times = [...one.times];
    values = times.map((t, k) => +(truth(t) + one.noise[k]).toFixed(3));
    hidden = new Set(one.hidden);
    [series, later, follow, ask] = [seed, 0, one.follow ?? N >> 1, one.ask ?? N >> 1];
    settle();
  }
  // One shown reading is followed, and one hidden one: those nearest to them, where they have changed sides.
  function settle() {
    const nearest = (k, fits) => every.filter(fits).sort((a, b) => Math.abs(a - k) - Math.abs(b - k))[0];
    follow = nearest(follow, k => !hidden.has(k));
    ask = nearest(ask, k => hidden.has(k));
  }
  function hide(count) {
    hidden = new Set(some(count, kit.random(count + N * draws)));
    settle();
  }

  // --- the model, as romae.stack has it, with everything kept ------------------------------------------------------
  function block(name, index, size, x, turns, heard = x.length) {
    const of = part => net.weights[`${name}.blocks.${index}.${part}.weight`], {dim, heads} = size,
      width = widthOf(size), scale = 1 / Math.sqrt(width);
    const h = x.map(row => romae.norm(row, of("norm1"))), qkv = h.map(row => romae.linear(row, of("attention.qkv")));
    const [q, k, v] = [0, 1, 2].map(i => qkv.map(row => row.slice(i * dim, (i + 1) * dim)));
    const turn = rows => rows.map((row, n) => {
      const copy = row.slice();
      for (let at = 0; at < dim; at += width) romae.rotate(copy, at, turns[n]);
      return copy;
    });
    const tq = turn(q), tk = turn(k);
    const score = Array.from({length: heads}, (_, a) => tq.map(row => tk.slice(0, heard).map(key =>
      scale * romae.dot(row, a * width, key, a * width, width))));
    const share = score.map(rows => rows.map(row => {
      const top = Math.max(...row), e = row.map(s => Math.exp(s - top)), all = e.reduce((a, b) => a + b);
      return e.map(s => s / all);
    }));
    const mixed = n => Float64Array.from({length: dim}, (_, i) =>
      share[Math.floor(i / width)][n].reduce((sum, s, m) => sum + s * v[m][i], 0));
    const feed = row => romae.linear(romae.silu(romae.linear(romae.norm(row, of("norm2")), of("ff.up"))),
      of("ff.down"));
    const add = (a, b) => a.map((row, n) => row.map((value, i) => value + b[n][i]));
    const mix = x.map((_, n) => romae.linear(mixed(n), of("attention.out"))), after = add(x, mix),
      out = add(after, after.map(feed));
    return {x, h, q, k, v, "turned q": tq, "turned k": tk, score, share, mix, after, out};
  }
  function stack(name, size, x, places, heard) {
    const turns = romae.rotation(net, widthOf(size), places), blocks = [];
    for (let i = 0; i < size.depth; i++) blocks.push(block(name, i, size, blocks.at(-1)?.out ?? x, turns, heard));
    return blocks;
  }
  function compute() {
    const w = net.weights, place = k => [times[k] + later], shown = every.filter(k => !hidden.has(k)),
      gone = every.filter(k => hidden.has(k));
    const x = values.map(v => romae.linear([v], w["encoder.embed.weight"], w["encoder.embed.bias"]));
    const encoded = stack("encoder.stack", encoder, shown.map(k => x[k]), shown.map(place));
    const seen = {places: shown.map(place),
      x: encoded.at(-1).out.map(row => romae.linear(row, w["project.weight"], w["project.bias"]))};
    const asked = seen.x.concat(gone.map(() => w.mask_token)),
      decoded = stack("decoder", decoder, asked, seen.places.concat(gone.map(place)), shown.length);
    const said = decoded.at(-1).out.slice(shown.length).map(row => romae.linear(romae.norm(row, w["head.1.weight"]),
      w["head.2.weight"], w["head.2.bias"])[0]);
    const answers = Object.fromEntries(gone.map((k, i) => [k, said[i]])), at = even(data.span, POINTS);
    const mean = of => gone.reduce((sum, k) => sum + (of(k) - values[k]) ** 2, 0) / gone.length;
    const cost = n => encoder.depth * romae.blockCost(encoder, n) + decoder.depth * romae.blockCost(decoder, N);
    now = {x, shown, gone, encoded, asked, decoded, answers, at,
      line: step % 7 ? now.line : romae.decode(net, seen, at.map(t => [t + later])).map(v => v[0]),
      loss: mean(k => answers[k]), straight: mean(k => straight(shown, k)),
      cost: cost(shown.length), share: Math.round(100 * cost(shown.length) / cost(N)),
      first: block("encoder.stack", 0, encoder, x, romae.rotation(net, widthOf(encoder), every.map(place)))};
  }
  function straight(shown, k) {  // between the neighbours that are shown
    const after = shown.find(j => j > k), before = shown.findLast(j => j < k);
    if (after === undefined || before === undefined) return values[after ?? before];
    const share = (times[k] - times[before]) / (times[after] - times[before]);
    return values[before] + share * (values[after] - values[before]);
  }

  // --- the steps: name, what is done, shapes -----------------------------------------------------------------------
  const V = () => now.shown.length, M = () => now.gone.length, here = k => `at ${plain(times[k] + later)}`;
  const STEPS = [
    ["Task", () => "The model gets the full dots, and says what the hollow ones were. Click a dot to hide or "
      + "show it, or drag it: the model runs in this page. Then press next, and follow one reading through it.",
    () => ""],
    ["Readings", () => `Twelve readings, at moments that nobody chose. We follow the one ${here(follow)}, with the `
      + `value ${signed(values[follow])}. Click another to follow that one.`,
    () => `values (${N}, 1)   times (${N}, 1)`],
    ["Tokens", () => `Each reading becomes a token. A linear layer makes ${E} numbers of its value: the column. The `
      + "time is not mixed in. It travels beside, below the column.",
    () => `x (${N}, ${E})   times (${N}, 1)`],
    ["Angles", () => "Attention makes a query and a key of each token. Their channels go in pairs, and each pair turns "
      + "by its speed times the time. Start all times later: every hand turns, and no score moves.",
    () => `q, k (${N}, ${encoder.heads}, ${widthOf(encoder)})   angles (${N}, ${speeds.length})`],
    ["Hide", () => `${M()} tokens fall away, and the encoder gets the other ${V()}. It cannot know what was hidden, `
      + "and has less to do. Click a dot, or move the slider.",
    () => `x[shown] (${V()}, ${E})`],
    ["Encode", () => `In each of ${encoder.depth} blocks the tokens look at one another. The arcs are one row of `
      + `weights: how much the reading ${here(follow)} takes from each. Drag a dot sideways, then up: which matrices `
      + "move?",
    () => `(${V()}, ${E}) → (${V()}, ${E})   weights (${encoder.heads}, ${V()}, ${V()})`],
    ["Ask", () => "The decoder gets what the encoder made, and a mask token (dashed) for each hidden moment. All are "
      + `copies of one column, and only their angles differ. Drag the one ${here(ask)} to ask at another time.`,
    () => `(${V()} + ${M()}, ${decoder.dim}) → (${M()}, ${decoder.dim})`],
    ["Loss", () => "The head makes one number of each mask token, a blue diamond. Its distance from the reading is the "
      + "side of a square. The mean area is the loss, and training makes it small.",
    () => `answers (${M()}, 1) → loss ${now.loss.toFixed(3)}`]];
  const LINES = {
    x: ["x", "x", "The tokens as they come in, a column each."],
    h: ["norm", "h = norm1(x)", "Each column is divided by its root mean square and multiplied by learned gains."],
    q: ["q", "q = W_q h", "Queries: one matrix times h. Times play no part yet."],
    k: ["k", "k = W_k h", "Keys: another matrix times h."],
    v: ["v", "v = W_v h", "Values: a third matrix times h. They are never turned."],
    "turned q": ["q turned", "q = rotate(q, t)", "The queries, each pair of channels turned by the time."],
    "turned k": ["k turned", "k = rotate(k, t)", "The same for the keys."],
    score: ["score", "q @ k.T / √d", "Each query with each key, a row for a query. Only differences of times count."],
    share: ["weights", "softmax(score)", "Each row becomes positive and sums to one. The marked row is the arcs."],
    mix: ["mix", "mix = out(weights @ v)", "A weighted mean of the values, and one more matrix."],
    after: ["x + mix", "x = x + mix", "The block adds to what was there."],
    out: ["x out", "x = x + ff(norm2(x))", "The feed-forward part takes each column by itself. It goes on from here."]};

  // --- controls ----------------------------------------------------------------------------------------------------
  const bar = kit.el("div", {class: "wk-bar", "data-steps": ""}, ...STEPS.map(([name], i) => kit.el("span", {title: name},
    kit.el("b", {}, i ? String(i) : "●"), kit.el("i", {}, name))));
  bar.addEventListener("click", event => {
    const {left, width} = bar.getBoundingClientRect(), span = event.target.closest("span");  // none where it was dragged
    go(span ? [...bar.children].indexOf(span) : Math.floor((event.clientX - left) / width * STEPS.length));
  });
  const back = kit.button("back", {class: "romae-button", name: ""}, () => go(step - 1)),
    next = kit.button("next", {class: "romae-button wk-next", name: ""}, () => go((step + 1) % STEPS.length));
  const showStep = kit.handle(bar, {label: "Step", min: 0, max: STEPS.length - 1, step: 1, page: 2, value: () => step,
    describe: v => `${v}: ${STEPS[v][0]}`, to: v => go(v)});
  for (const node of [back, next]) node.addEventListener("keydown", ({key}) => {
    if (key === "ArrowRight" || key === "ArrowLeft") go(step + (key === "ArrowRight" ? 1 : -1));
  });
  const title = kit.el("b"), shapes = kit.el("code"), words = kit.el("p", {class: "wk-words"}),
    panel = kit.el("div"), facts = kit.el("p", {class: "wk-facts"});
  const svg = kit.svg("svg", {role: "group", class: "wk-drawing",
    "aria-label": "Twelve readings of a wave, and what the model makes of them"});
  root.append(kit.el("div", {class: "wk-top"}, back, bar, next), kit.el("div", {class: "wk-head"}, title, shapes),
    words, kit.el("div", {class: "wk-stage"}, svg, panel));
  // They come and go with the steps, so what they say is kept below, by kit.keep.
  const press = (name, act) => kit.button(name, {class: "romae-button", name: ""}, () => { act(); update(true); });
  const choice = (label, count, set) => kit.select({label, name: "", value: 1,
    options: Array.from({length: count}, (_, i) => [i + 1, i + 1]),
    change: v => { set(v - 1); forget(); update(true); }});
  const amount = kit.slider({label: "Hidden", name: "", min: 1, max: N - 1, value: 1, format: v => `${v} of ${N}`,
    change: v => { hide(v); update(true); }});
  const shift = kit.slider({label: "All times later by", name: "", min: 0, max: LATEST, step: 0.5, value: 0,
    format: v => v.toFixed(1), change: v => { hold("shift"); later = v; update(true); }});
  const again = press("draw again", () => { draws++; hide(hidden.size); }),
    fresh = [press("new series", () => start(series + 1)), press("reset", () => start(series))];
  const layers = choice("block", encoder.depth, v => { layer = v; }),
    heads = choice("head", encoder.heads, v => { head = v; });
  const strips = ["encoder", "decoder"].map(name => ({name, drawing: kit.svg("svg", {role: "img"})}));
  const strip = kit.el("div", {class: "wk-strips"}, ...strips.flatMap(({name, drawing}) => [
    kit.el("span", {}, `${name} gets`), kit.el("div", {}, drawing)]));
  const tiles = Object.entries(LINES).map(([name, [label, code]]) => {
    const drawing = kit.svg("svg", {"aria-hidden": "true"}), mark = kit.el("em");
    const node = kit.button([kit.el("span", {}, label), drawing, mark], {name: "", title: code}, () => {
      matrix = name;
      update(true);
    });
    return {name, node, drawing, mark};
  });
  const grid = kit.el("div", {class: "wk-grid", role: "group", "aria-label": "Matrices"},
    ...tiles.map(tile => tile.node)), formula = kit.el("code"), large = kit.svg("svg", {role: "img"});
  const matrices = kit.el("div", {class: "wk-matrices"},
    kit.el("div", {}, kit.el("p", {class: "wk-hint"}, "Click a matrix to see it large."), grid),
    kit.el("div", {class: "wk-large"}, formula, large));
  const legend = kit.el("p", {class: "wk-facts romae-faint"},
    "full dot: shown · hollow: hidden · ◆ and blue: the model’s answer · grey: the wave");
  const PANELS = [  // an array is a row
    [[amount.node, again, ...fresh], legend, facts], [fresh, facts], [facts], [[shift.node], facts],
    [[amount.node, again], strip, facts], [[layers.node, heads.node, shift.node], matrices, facts],
    [[heads.node], facts],
    [[amount.node, again], legend, facts]];

  // --- drawing: nodes are made once; each frame sets attributes, between two scenes --------------------------------
  const group = (...nodes) => kit.svg("g", {}, ...nodes),
    label = kind => kit.text(0, 0, "", {"text-anchor": "middle", class: kind}),
    shape = (kind, tag = "path", more = {}) => kit.svg(tag, {class: `wk-${kind}`, ...more});
  const lay = {axis: group(), band: shape("band", "rect", {rx: 6}), squares: group(),
    wave: kit.curve(null, "var(--romae-grey)", 1.6), line: kit.curve(null, "var(--romae-blue)", 2.4), arcs: group(),
    columns: group(), zero: kit.rule(0, 0, 0, 0, 0.35), dials: group(), dots: group()};
  const tokens = every.map(k => {
    const q = {lead: shape("lead"), cells: group(), frame: shape("frame", "rect", {rx: 2}),
      face: shape("face", "circle"), hand: shape("hand"), tag: label(), value: label("romae-halo"),
      bar: shape("weight", "rect", {rx: 1.5}), weight: label(),
      answer: shape("answer", "path", {d: "M0 -6L6 0L0 6L-6 0Z"}), spot: shape("spot", "circle", {r: 5.6}),
      ring: shape("ring", "circle", {r: 10})};
    q.clock = group(q.face, q.hand);
    q.column = group(q.cells, q.frame);
    q.column.addEventListener("click", () => choose(k));
    q.dot = group(kit.svg("circle", {r: 15, fill: "transparent"}), q.ring, q.spot);
    lay.columns.append(q.lead, q.column, q.clock, q.tag, q.value, q.bar, q.weight);
    lay.dots.append(q.answer);
    return q;
  });
  lay.dots.append(...tokens.map(q => q.dot));
  svg.append(...Object.values(lay));
  tokens.forEach((q, k) => {
    let from = null, axis = null;
    kit.drag(q.dot, svg, {free: true,
      start: (x, y) => { from = [x, y, times[k], values[k]]; axis = null; },
      move: (x, y) => {
        const dx = x - from[0], dy = y - from[1];
        if (!axis && Math.hypot(dx, dy) < 5) return;
        axis ??= Math.abs(dx) >= Math.abs(dy) ? "time" : "value";
        if (axis === "time") move(k, box.x.invert(box.x(from[2]) + dx));
        else lift(k, from[3] + dy / (box.up(1) - box.up(0)));
      },
      end: () => { if (!axis) choose(k); }});
    q.dot.addEventListener("keydown", event => {
      if (["ArrowUp", "ArrowDown"].includes(event.key)) lift(k, values[k] + (event.key === "ArrowUp" ? 0.1 : -0.1));
      else if ([" ", "Enter"].includes(event.key)) choose(k);
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    });
    q.show = kit.handle(q.dot, {label: `${ordinal(k)} reading`, name: "", min: () => lowest(k), max: () => highest(k),
      step: 0.1, page: 1, value: () => times[k], to: t => move(k, t),
      describe: t => `time ${t.toFixed(2)}, value ${values[k].toFixed(2)}, ${hidden.has(k) ? "hidden" : "shown"}`});
  });
  const lowest = k => k ? times[k - 1] + GAP : 0, highest = k => k < N - 1 ? times[k + 1] - GAP : data.span;
  // What moves since the reader took hold of one thing is compared with how it was then.
  function hold(what) {
    if (gesture !== what || !before) before = now.encoded[layer];
    gesture = what;
  }
  function forget() {
    before = null;
    gesture = "";
  }
  function move(k, t) {
    hold(`time ${k}`);
    const to = +kit.clamp(t, lowest(k), highest(k)).toFixed(2);
    if (hidden.has(k)) values[k] = +(values[k] + truth(to) - truth(times[k])).toFixed(3);  // what the wave has there
    times[k] = to;
    update(true);
  }
  function lift(k, v) {
    hold(`value ${k}`);
    values[k] = +kit.clamp(v, -REACH + 0.1, REACH - 0.1).toFixed(3);
    update(true);
  }
  function choose(k) {
    if ([0, 4, 7].includes(step)) {
      if (hidden.has(k) ? hidden.size === 1 : hidden.size === N - 1) return;  // one to show and one to hide
      if (hidden.delete(k)) follow = k;
      else hidden.add(ask = k);
      settle();
    } else if (step > 4 && hidden.has(k)) ask = k;
    else follow = k;
    forget();
    update(true);
  }

  // Cells in a width and a height, as a few paths, one for each strength: cell(c, r) as a share of the largest.
  function heat(columns, rows, width, height, cell) {
    const paths = {}, w = +(width / columns).toFixed(2), h = +(height / rows).toFixed(2);
    for (let c = 0; c < columns; c++) for (let r = 0; r < rows; r++) {
      const v = cell(c, r), level = Math.ceil(LEVELS * Math.min(1, Math.abs(v)) - 0.15), kind = v < 0 ? "n" : "p";
      if (level > 0) (paths[kind + level] ??= []).push(`M${(c * w).toFixed(1)} ${(r * h).toFixed(1)}h${w}v${h}h-${w}z`);
    }
    return Object.entries(paths).map(([kind, d]) => shape(kind[0], "path", {d: d.join(""),
      "fill-opacity": (kind[1] / LEVELS).toFixed(2)}));
  }
  const largest = rows => Math.max(1e-9, ...rows.flatMap(row => [...row].map(Math.abs)));

  function frame(width) {
    const phone = width < 560, small = phone ? 92 : 84;
    box = {width, phone, small, x: kit.linear([0, data.span], [14, width - 14]), slot: (width - 4) / N};
    shown = scene();
    draw();
    drawStrips();
  }
  // How high the drawing is: as high as what lies under it allows, for the figure to fit a small screen.
  const room = () => step === 5 ? TOP + box.small + 24
    : ROOM[box.phone ? "phone" : "wide"][step] ?? Math.min(kit.height, box.phone ? 300 : Infinity);
  // Where everything is in this step. Numbers only, so that two scenes can be mixed. From above: the readings, columns
  // (tall), clocks, times, bars (rise).
  function scene() {
    const {phone, small, slot} = box, end = step === 0 || step === 7, big = end || step === 1, height = room();
    const plot = big ? height - 26 - TOP : small, base = TOP + plot, up = kit.linear([REACH, -REACH], [TOP, base]);
    const under = base + (step === 2 ? 46 : 36), whole = height - under - 32, r = phone ? 9.5 : 13;
    const tall = {2: whole, 3: phone ? 34 : 40, 4: whole, 6: phone ? 66 : 70}[step] ?? 0, dial = under + tall + 4 + r;
    const weighed = step === 3 || step === 6, tagY = weighed ? dial + r + 15 : under + tall + 16;
    const rise = step === 3 ? (phone ? 17 : 19) : 30, zero = rise + tagY + 10;
    const foot = step === 3 ? zero + rise + 8 : weighed ? zero + 20 : tagY + 8;
    return {
      plot, zero, wave: step === 1 ? 0.35 : +end, line: +end, squares: +(step === 7), arcs: +(step === 5 || step === 6),
      weights: +weighed, dials: +(step === 3), bandY: under - 8, band: +!(big || step === 5), bandH: foot - under + 8,
      tokens: every.map(k => {
        const out = hidden.has(k), fallen = out && (step === 4 || step === 5), y = up(values[k]),
          x = big ? box.x(times[k]) : 2 + (k + 0.5) * slot, column = +(tall > 0 && !fallen);
        return {
          x, top: fallen ? under + 130 : big ? y : under, tall: tall || (step === 5 ? 20 : 4), column,
          lead: big || fallen || step === 5 ? 0 : 0.45, clock: +weighed, dial, r, tag: column, tagY, value: +(step === 2),
          bar: +(weighed && !(out && step > 3)), rise, full: +!(out && (step > 3 || step === 0)),
          ax: end ? box.x(times[k]) : x, ay: end ? up(now.answers[k] ?? 0) : under, answer: +(out && end)};
      })};
  }
  function mixed(a, b, t) {
    if (typeof b === "number") return a + (b - a) * t;
    if (Array.isArray(b)) return b.map((v, i) => mixed(a[i], v, t));
    return Object.fromEntries(Object.keys(b).map(key => [key, mixed(a[key], b[key], t)]));
  }
  const tween = kit.tween(800);
  let shown = null;

  function draw() {
    if (!box) return;
    const g = shown, {width, phone, slot} = box, base = TOP + g.plot, up = kit.linear([REACH, -REACH], [TOP, base]);
    const marked = step === 6 ? ask : follow;
    box.up = up;
    kit.frame(svg, width, room());
    lay.axis.replaceChildren(kit.rule(8, up(0), width - 8, up(0), 0.13),
      ...kit.axes({left: 8, right: width - 8, top: TOP, bottom: base},
        {x: {scale: box.x, ticks: [0, 5, 10, 15, 20], format: t => String(t + later), line: true}}),
      ...g.plot < 200 ? [] : [kit.text(8, TOP + 8, "value", {class: "romae-faint"}),
        kit.text(width - 8, base - 7, "time", {"text-anchor": "end", class: "romae-faint"})]);
    paint(lay.wave, g.wave, {d: kit.path(now.at.map(t => [box.x(t), up(truth(t))]))});
    paint(lay.line, g.line, {
      d: kit.path(now.at.map((t, i) => [box.x(t), up(kit.clamp(now.line[i], -REACH, REACH))]))});
    paint(lay.band, g.band, {x: 2.5 + marked * slot, width: slot - 1, y: g.bandY, height: Math.max(0, g.bandH)});
    paint(lay.zero, g.weights, {x1: 2, x2: width - 2, y1: g.zero, y2: g.zero});
    lay.band.classList.toggle("wk-asked", step === 6);
    const weights = weightsOf(marked), columns = step === 6 ? now.asked : now.x, places = [...now.shown, ...now.gone];
    const look = {marked, weights, most: Math.max(1e-9, ...[...weights.values()].map(Math.abs)), up, base,
      column: k => columns[step === 6 ? places.indexOf(k) : k], wide: Math.min(slot * 0.68, 26),
      strongest: {token: largest(columns), mask: largest([net.weights.mask_token])}};
    every.forEach(k => drawToken(k, g, look));
    drawSquares(up);
    drawArcs(up);
    drawDials();
  }
  const at = (x, y) => ({transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`});
  function drawToken(k, g, {marked, weights, most, up, base, column, wide, strongest}) {
    const q = tokens[k], s = g.tokens[k], x = box.x(times[k]), y = up(values[k]), t = times[k] + later,
      mask = step === 6 && hidden.has(k), cells = column(k), weight = weights.get(k) ?? 0, a = speeds[0] * t;
    kit.set(q.dot, at(x, y));
    kit.set(q.spot, {"fill-opacity": s.full.toFixed(2)});
    q.dot.classList.toggle("wk-on", step > 0 && step < 7 && k === follow);
    q.dot.classList.toggle("wk-asked", step === 6 && k === ask);
    paint(q.lead, s.lead * (k === marked ? 2 : 1), {d: `M${x} ${y + 6}V${base}L${s.x} ${g.bandY + 4}`});
    paint(q.column, s.column, at(s.x - wide / 2, s.top));
    if (s.column > 0.02) {
      const top = strongest[mask ? "mask" : "token"];
      q.cells.replaceChildren(...heat(1, cells.length, wide, s.tall, (_, r) => cells[r] / top));
      kit.set(q.frame, {width: wide, height: s.tall});
      q.frame.classList.toggle("wk-mask", mask);
      q.frame.classList.toggle("wk-on", k === marked);
    }
    paint(q.clock, s.clock, at(s.x, s.dial));
    kit.set(q.face, {r: s.r});
    kit.set(q.hand, {d: `M0 0L${(s.r * Math.sin(a)).toFixed(2)} ${(-s.r * Math.cos(a)).toFixed(2)}`});
    paint(q.tag, s.tag, {x: s.x, y: s.tagY});
    q.tag.textContent = box.phone && t >= 10 ? String(Math.round(t)) : plain(t);  // or neighbours touch
    paint(q.value, s.value, {x: s.x, y: s.top - 5});
    q.value.textContent = box.phone ? plain(values[k]).replace("-", "−") : signed(values[k]);
    const long = s.rise * Math.abs(weight) / most;
    paint(q.bar, s.bar, {x: s.x - wide / 2, width: wide, y: weight < 0 ? g.zero : g.zero - long, height: long});
    q.bar.classList.toggle("wk-minus", weight < 0);
    paint(q.weight, step === 3 ? 0 : s.bar, {x: s.x, y: g.zero + 14});
    q.weight.textContent = weight.toFixed(2).slice(box.phone ? 1 : 0);
    paint(q.answer, s.answer, at(s.ax, s.ay));
    q.show(+times[k].toFixed(2));
  }
  function paint(node, opacity, attributes = {}) {
    kit.set(node, attributes);
    node.style.opacity = opacity > 0.98 ? "" : opacity.toFixed(2);
    node.style.display = opacity < 0.02 ? "none" : "";  // nothing invisible to be read out
  }
  // The row that the bars show: of the followed reading with all, or with the shown; or of the question.
  function weightsOf(k) {
    if (step !== 5 && step !== 6) return new Map(every.map(j => [j, now.first.score[head][k][j]]));
    const rows = step === 5 ? now.encoded[layer].share[head] : now.decoded[0].share[head % decoder.heads];
    const row = rows[step === 5 ? now.shown.indexOf(k) : V() + now.gone.indexOf(k)];
    return new Map(now.shown.map((j, i) => [j, row[i]]));
  }
  function drawSquares(up) {
    lay.squares.replaceChildren(...shown.squares < 0.02 ? [] : now.gone.map(k => {
      const x = box.x(times[k]), y = up(values[k]), to = up(now.answers[k]), side = Math.abs(to - y) * shown.squares;
      return shape("square", "rect", {x: x + side > box.width - 4 ? x - side : x, y: to < y ? y - side : y,
        width: side, height: side});
    }));
  }
  function drawArcs(up) {
    paint(lay.arcs, shown.arcs);
    if (shown.arcs < 0.02) return;
    const k = step === 6 ? ask : follow, from = [box.x(times[k]), up(values[k])];
    lay.arcs.replaceChildren(...[...weightsOf(k)].filter(([j, w]) => j !== k && w > 0.01).map(([j, w]) => {
      const to = [box.x(times[j]), up(values[j])], lift = Math.min(10 + 0.16 * Math.abs(to[0] - from[0]),
        (Math.min(from[1], to[1]) + TOP) / 0.75);  // or it would run through the words above
      return shape("arc", "path", {"stroke-width": (1 + 9 * w).toFixed(1),
        d: `M${from}C${from[0]} ${from[1] - lift} ${to[0]} ${to[1] - lift} ${to}`});
    }));
  }
  // The pairs of the followed query: as the matrix made them, and turned by the time.
  function drawDials() {
    paint(lay.dials, shown.dials);
    if (shown.dials < 0.02) return;
    const R = box.phone ? 19 : 24, n = speeds.length, wide = Math.min(box.width / n, 110), r = 0.42 * R;
    const left = (box.width - wide * n) / 2, t = times[follow] + later,
      [q, turned] = ["q", "turned q"].map(name => now.first[name][follow].slice(2 * n * head)),
      top = Math.max(...speeds.map((_, i) => Math.hypot(q[i], q[i + n])));
    const line = (kind, row, i) => shape(kind, "path", {
      d: `M0 0L${(R * row[i] / top).toFixed(2)} ${(R * row[i + n] / top).toFixed(2)}`});
    const point = turn => `${(r * Math.cos(turn)).toFixed(2)} ${(r * Math.sin(turn)).toFixed(2)}`;
    lay.dials.replaceChildren(...speeds.map((speed, i) => {
      const angle = (speed * t).toFixed(1), rest = speed * t % (2 * Math.PI), from = Math.atan2(q[i + n], q[i]);
      const wedge = `M0 0L${point(from)}A${r} ${r} 0 ${+(rest > Math.PI)} 1 ${point(from + rest)}Z`;
      const words = !speed ? (box.phone ? "still" : "not turned") : wide < 110 ? `${angle} rad` : `${+speed.toFixed(2)} × ${plain(t)} = ${angle}`;
      return kit.svg("g", {transform: `translate(${left + (i + 0.5) * wide} ${room() - R - 18})`},
        shape("face", "circle", {r: R}), shape("wedge", "path", {d: wedge}), line("was", q, i), line("hand", turned, i),
        kit.text(0, R + 14, words, {"text-anchor": "middle"}));
    }));
  }
  function drawStrips() {
    for (const {name, drawing} of strips) {
      const wide = Math.max(drawing.parentElement.clientWidth, 50), pitch = Math.min(18, wide / N),
        kinds = [...now.shown.map(() => "token"), ...name === "decoder" ? now.gone.map(() => "question") : []];
      kit.frame(drawing, wide, 16, {"aria-label": `${kinds.length} tokens`});
      drawing.replaceChildren(...kinds.map((kind, i) => shape(kind, "rect", {x: i * pitch + 1, y: 2, width: pitch - 3,
        height: 12, rx: 2.5})));
    }
  }
  // The matrices of a block side by side: tokens are columns, as in the drawing; scores and weights have a row for each
  // query.
  function drawGrid() {
    const side = 46;
    for (const {name, node, drawing, mark} of tiles) {
      kit.frame(drawing, side, side);
      drawing.replaceChildren(...cells(name, side));
      node.setAttribute("aria-pressed", name === matrix);
      node.classList.toggle("wk-moved", moved.includes(name));
      mark.textContent = !gesture ? "" : moved.includes(name) ? "moved" : "still";
    }
  }
  // One of them with its cells and the line of the followed reading, in a square.
  function cells(name, side) {
    const square = ROWS.has(name), rows = rowsOf(name), at = now.shown.indexOf(follow), n = V(), w = side / n,
      most = name === "share" ? 1 : largest(rows), cell = (c, r) => (square ? rows[r][c] : rows[c][r]) / most;
    return [...heat(n, square ? n : E, side, side, cell), shape("line", "rect", square
      ? {x: 0, width: side, y: at * w, height: w} : {y: 0, height: side, x: at * w, width: w})];
  }
  // The one that was clicked, with its axes: what a row is and what a column, and which of them is followed.
  function drawLarge() {
    const square = ROWS.has(matrix), side = 138, left = 74, top = 18, at = now.shown.indexOf(follow), w = side / V(),
      down = square ? ["queries ↓"] : [`${E} numbers`, "of each ↓"];
    formula.textContent = LINES[matrix][1];
    kit.frame(large, left + side + 8, top + side + 20, {"aria-label": square ? "A row is a query, a column a key"
      : `A column is a reading, a row one of ${E} numbers`});
    large.replaceChildren(kit.text(left, top - 6, square ? "keys →" : "readings →"),
      ...down.map((words, i) => kit.text(left - 8, top + 14 + 15 * i, words, {"text-anchor": "end"})),
      kit.svg("g", {transform: `translate(${left} ${top})`}, ...cells(matrix, side),
        shape("frame", "rect", {width: side, height: side})),
      square ? kit.text(left - 8, Math.max(top + 34, top + (at + 0.5) * w + 4), here(follow), {"text-anchor": "end"})
        : kit.text(left + (at + 0.5) * w, top + side + 15, here(follow), {"text-anchor": "middle"}));
  }
  const ROWS = new Set(["score", "share"]);
  const rowsOf = name => ROWS.has(name) ? now.encoded[layer][name][head] : now.encoded[layer][name];
  function compare() {
    const flat = v => typeof v === "number" ? [v] : Array.from(v).flatMap(flat), same = before?.x.length === V();
    moved = !same ? [] : Object.keys(LINES).filter(name => {
      const was = flat(before[name]);
      return flat(now.encoded[layer][name]).some((v, i) => Math.abs(v - was[i]) > 1e-6);
    });
  }

  // --- words -------------------------------------------------------------------------------------------------------
  const list = (row, count = row.length) =>
    [...row].slice(0, count).map(signed).join(", ") + (row.length > count ? ", …" : "");
  const FACTS = [
    () => `Mean squared error of the answers: ${now.loss.toFixed(3)}. Of straight lines: ${now.straight.toFixed(3)}.`,
    () => `${values.slice(0, 4).map((v, k) => `${signed(v)} at ${plain(times[k])}`).join(", ")}, … They lie on a `
      + "wave, with noise. The model is not told so.",
    () => `The followed column: ${signed(values[follow])} · w + b = (${list(now.x[follow], 5)}). All have the same `
      + "w and b. Blue is above zero, orange below.",
    () => `Clocks: the fastest pair, ${speeds[0]} rad per unit of time. Bars: score of the followed query with each `
      + `key. Dials: the ${speeds.length} pairs of that query, thin as they were made, bold when turned.`,
    () => `${(now.cost / 1e6).toFixed(2)} million multiplications, ${now.share} % of what they would be if the encoder `
      + "got every token.",
    () => `${LINES[matrix][2]} ${ROWS.has(matrix) ? "Row" : "Column"} of the followed: `
      + `(${list(rowsOf(matrix)[now.shown.indexOf(follow)], 5)}).`,
    () => `Bars: how much the question ${here(ask)} takes from each reading. It does not look at other questions, and `
      + `ends as (${list(now.decoded.at(-1).out[V() + now.gone.indexOf(ask)], 3)}).`,
    () => `(${now.gone.map(k => ((now.answers[k] - values[k]) ** 2).toFixed(3)).join(" + ")}) / ${M()} = `
      + `${now.loss.toFixed(3)}. Straight lines: ${now.straight.toFixed(3)}.`];

  // --- state -------------------------------------------------------------------------------------------------------
  const short = v => +v.toFixed(6), few = rows => rows.map(row => [...row].map(short));
  function update(speak = false, moving = false) {
    if (step > 3 && hidden.has(follow)) settle();  // before anything is hidden every reading can be followed
    compute();
    compare();
    const [name, said, shape] = STEPS[step];
    title.textContent = step ? `${step} · ${name}` : name;
    words.textContent = said();
    shapes.textContent = shape();
    facts.textContent = FACTS[step]();
    amount.set(hidden.size);
    shift.set(later);
    layers.input.value = layer + 1;
    heads.input.value = head + 1;
    [...bar.children].forEach((node, i) => {
      node.classList.toggle("wk-done", i < step);
      node.classList.toggle("wk-here", i === step);
    });
    showStep(step);
    back.disabled = step === 0;
    next.textContent = step === STEPS.length - 1 ? "again" : "next";
    if (step === 5) {
      drawGrid();
      drawLarge();
    }
    if (box) {
      drawStrips();
      const from = shown, target = scene();
      if (moving) tween(t => { shown = mixed(from, target, t); draw(); });
      else { tween(() => {}, false); shown = target; draw(); }
    }
    tell();
    if (speak) announce(`${title.textContent}. ${words.textContent} ${facts.textContent}`);
  }
  function tell() {
    const more = {
      2: () => ({column: few([now.x[follow]])[0]}),
      3: () => ({q: few([now.first.q[follow]])[0], turned: few([now.first["turned q"][follow]])[0],
        score: few(now.first.score[head])[follow], head: head + 1}),
      5: () => ({matrix, rows: few(rowsOf(matrix)), moved, block: layer + 1, head: head + 1}),
      6: () => ({weights: few([[...weightsOf(ask).values()]])[0], head: head + 1,
        out: few(now.decoded.at(-1).out.slice(V()))})};
    kit.state({step, name: STEPS[step][0], shapes: shapes.textContent, series, times, values, later: short(later),
      hidden: now.gone, follow, ask, answers: now.gone.map(k => short(now.answers[k])), loss: now.loss.toFixed(3),
      straight: now.straight.toFixed(3), cost: now.cost, share: now.share, ...more[step]?.()});
  }
  function go(to) {
    const from = step;
    step = kit.clamp(to, 0, STEPS.length - 1);
    forget();
    panel.replaceChildren(...PANELS[step].map(part => Array.isArray(part)
      ? kit.el("div", {class: "romae-row"}, ...part) : part));
    update(true, from !== step);
  }

  // --- the address -------------------------------------------------------------------------------------------------
  const kept = (name, get, low, high, set) => kit.keep(name, get, text => {
    const v = kit.number(text);
    if (!(v >= low && v <= high)) return;
    set(v);
    forget();
    update();
  });
  const counted = (name, get, low, high, set) => kept(name, get, low, high, v => { if (v % 1 === 0) set(v); });
  counted("series", () => series, 0, 1e6, start);
  kit.keep("readings", () => times.map((t, k) => `${t}_${values[k]}`).join("~"), text => {
    const rows = kit.rows(text, 2), fits = ([t, v], k) => t >= 0 && t <= data.span && Math.abs(v) < REACH
      && (!k || t > rows[k - 1][0]);
    if (rows?.length !== N || !rows.every(fits)) return;
    [times, values] = [0, 1].map(i => rows.map(row => row[i]));
    update();
  });
  kit.keep("hidden", () => now.gone.join("_"), text => {
    const found = new Set(text.split("_").map(kit.number));
    if (found.size >= N || ![...found].every(k => every.includes(k))) return;
    hidden = found;
    settle();
    update();
  });
  kept("later", () => later, 0, LATEST, v => { later = v; });
  counted("follow", () => follow, 0, N - 1, k => { follow = k; });
  counted("ask", () => ask, 0, N - 1, k => { if (hidden.has(k)) ask = k; });
  counted("block", () => layer + 1, 1, encoder.depth, v => { layer = v - 1; });
  counted("head", () => head + 1, 1, encoder.heads, v => { head = v - 1; });
  kit.keep("matrix", () => matrix.replace(" ", "-"), text => {
    const name = text.replace("-", " ");
    if (!Object.hasOwn(LINES, name)) return;
    matrix = name;
    update();
  });
  start(0);
  go(0);
  kit.sized(svg, frame);
}

// Tokens and an anchor on a line, what a recorded model answers, and the scores of one token with everything else.
function explorable(root, data, kit) {
  const count = data.offsets[0].length, last = data.shifts - 1,
    [from, to] = [data.start - 3, data.start + last * data.step + Math.max(...data.offsets.flat()) + 3];
  const state = {model: 0, pattern: 0, k: Math.round(last / 2), anchor: 0, together: false, token: 4, moved: 0};
  const model = () => data.models[state.model], pinned = () => ["[CLS]", "token"].includes(model().anchor),
    free = () => model().anchor === "moving";
  const anchored = () => pinned() || free(), label = () => model().anchor === "[CLS]" ? "[CLS]" : "anchor";
  const shift = k => data.start + k * data.step;
  const places = () => data.offsets[state.pattern].map((offset, i) => shift(state.k) + offset
    + (i === state.token ? state.moved : 0));
  const anchorPlace = () => free() ? shift(state.k) - 10 : state.anchor * data.step;
  // An anchor moved by c and tokens moved by s: the differences, and so the answers, of an anchor at 0 and tokens moved
  // by s - c.
  const answers = () => {
    const k = state.k - (pinned() ? state.anchor : 0);
    return state.moved ? null : model().named[state.pattern].slice(k * count, (k + 1) * count).map(v => v / data.scale);
  };
  const score = difference => model().thetas.reduce((sum, theta) => sum + Math.cos(theta * difference),
    0) / model().thetas.length;
  const show = (v, digits = 2) => v.toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");
  const announce = kit.announcer(root);

  const numbers = {};
  const number = (id, text) => {
    const b = numbers[id] = kit.el("b"), span = kit.el("span", {}, text, " ", b);
    return span;
  };
  // Three switches. Not every combination was recorded: what is switched holds, the others follow as closely as they
  // can.
  const of = {stays: m => m.anchor === "" ? "nothing" : m.anchor === "moving" ? "moves" : "stays",
    what: m => m.anchor === "[CLS]" ? "[CLS]" : "token", tokens: m => m.distinct ? "distinct" : "alike"};
  const options = {stays: [["nothing", "no anchor"], ["stays", "pinned at 0"], ["moves", "moves along"]],
    what: [["[CLS]", "[CLS]"], ["token", "an ordinary token"]], tokens: [["alike", "alike"], ["distinct", "distinct"]]};
  const agree = (m, wanted) => Object.keys(of).filter(name => of[name](m) === wanted[name]).length;
  const pick3 = (name, value) => {
    const wanted = {...Object.fromEntries(Object.keys(of).map(n => [n, of[n](model())])), [name]: value};
    const fit = data.models.map((m, i) => i).filter(i => of[name](data.models[i]) === value);
    if (fit.length) choose(fit.reduce((best, i) => agree(data.models[i], wanted) > agree(data.models[best],
      wanted) ? i : best));
    else update();
  };
  const switches = Object.fromEntries(Object.entries({stays: "Anchor", what: "which is",
    tokens: "Tokens"}).map(([name, label]) => [name, kit.select({label,
    options: options[name].filter(([v]) => data.models.some(m => of[name](m) === v)), value: of[name](model()),
      change: v => pick3(name, v)})]));
  const patterns = kit.select({label: "Pattern", options: data.offsets.map((_, i) => [i, i + 1]), value: 0,
    change: v => { state.pattern = +v; state.moved = 0; update(); }});
  const together = kit.button("", {class: "romae-button", "aria-pressed": "false"}, () => {
    state.together = !state.together;
    update();
  });
  const back = kit.button("Put the token back", {class: "romae-button"}, () => { state.moved = 0; update(); });
  const all = kit.slider({label: "Move all", min: 0, max: last, value: state.k,
    format: k => `${show(shift(k) + data.offsets[state.pattern][0], 1)}`,
    describe: k => `first token at ${(shift(k) + data.offsets[state.pattern][0]).toFixed(2)}`, change: k => move(k)});
  const token = kit.slider({label: "Token", min: 1, max: count, value: state.token + 1, format: String,
    describe: v => `token ${v} of ${count}`, change: v => { state.token = v - 1; state.moved = 0; update(); }});
  const drawing = kit.el("div"), source = kit.el("p", {class: "mt-source romae-faint"}),
    toAnchor = number("anchor", "");
  const controls = kit.el("div", {class: "romae-row mt-row"}, all.node, token.node, patterns.node);
  root.append(kit.el("div", {class: "mt-top"}, ...Object.values(switches).map(s => s.node), together), drawing,
    kit.el("div", {class: "mt-numbers", "aria-hidden": "true"}, number("error", "mean error"), toAnchor,
      number("other", "")),
    controls, source);

  // --- the picture: one line of places for the tokens, the answers and the scores ------------------------------------
  const svg = kit.svg("svg", {}), ground = kit.svg("g"), below = kit.svg("g"),
    words = kit.svg("g", {class: "romae-halo", "pointer-events": "none"}),
    zone = kit.svg("rect", {fill: "transparent", style: "cursor:grab"});
  const bar = kit.svg("g"), chosen = kit.svg("g"), square = kit.svg("g"), top = 62, bottom = 128;
  svg.append(ground, below, words, zone, bar, chosen, square);
  drawing.append(svg);
  let place, width = 0, up, grip;
  const showBar = kit.handle(bar, {label: "All tokens together", min: 0, max: last, step: 1, value: () => state.k,
    describe: k => `first token at ${(shift(k) + data.offsets[state.pattern][0]).toFixed(2)}`, to: k => move(k)});
  const showToken = kit.handle(chosen, {label: "The chosen token alone", min: +from.toFixed(2), max: +to.toFixed(2),
    step: 0.25, value: () => places()[state.token], describe: v => v.toFixed(2), to: v => moveToken(v)});
  const anchorRange = [Math.ceil((from + 2) / data.step), Math.floor((to - 2) / data.step)];
  const showSquare = kit.handle(square, {label: "The anchor", min: anchorRange[0], max: anchorRange[1], step: 1,
    value: () => state.anchor, describe: () => anchorPlace().toFixed(2), to: c => moveAnchor(c)});
  kit.drag(bar, svg, {start: x => {
    grip = shift(state.k) - place.invert(x);
  }, move: x => move(Math.round((place.invert(x) + grip - data.start) / data.step))});
  kit.drag(square, svg, {start: x => { grip = anchorPlace() - place.invert(x); },
    move: x => free() ? move(Math.round((place.invert(x) + grip + 10 - data.start) / data.step))
      : moveAnchor(Math.round((place.invert(x) + grip) / data.step))});
  const pick = x => {
    const pattern = data.offsets[state.pattern].map(offset => shift(state.k) + offset), at = place.invert(x),
      now = places();
    const nearest = now.reduce((best, v, i) => Math.abs(v - at) < Math.abs(now[best] - at) ? i : best, 0);
    if (nearest !== state.token) { state.token = nearest; state.moved = 0; }
    grip = pattern[nearest] + state.moved - at;
    update();
  };
  const single = {start: pick, move: x => moveToken(place.invert(x) + grip)};
  kit.drag(zone, svg, single);
  kit.drag(chosen, svg, single);

  function drawGround(now) {
    width = now;
    const height = kit.height, left = 12, right = width - 12, axis = bottom + 30, curve = [height - 8, axis + 46];
    place = kit.linear([from, to], [left, right]);
    up = kit.linear([-0.05, 1], curve);
    kit.frame(svg, width, height);
    kit.set(zone, {x: 0, y: top - 20, width, height: 40});
    const grey = {style: "stroke:currentColor", "stroke-opacity": 0.4};
    ground.replaceChildren(
      kit.svg("rect", {x: place(data.low), y: top - 14, width: place(data.high) - place(data.low),
        height: bottom - top + 28, rx: 4, style: "fill:currentColor", "fill-opacity": 0.07}),
      kit.svg("line", {x1: left, x2: right, y1: top, y2: top, ...grey}),
        kit.svg("line", {x1: left, x2: right, y1: bottom, y2: bottom, ...grey}),
      ...[0, 0.5, 1].map(v => kit.rule(left, up(v), right, up(v), v ? 0.11 : 0.4)));
    words.replaceChildren(
      kit.text(left, top - 8, "tokens"), kit.text(left, bottom - 8, "answers"),
      ...kit.axes({bottom: axis}, {x: {scale: place, ticks: place.ticks(width < 450 ? 4 : 8), drop: 0}}),
      kit.text(left, axis + 30,
        width < 450 ? "score with the ringed token" : "score of the ringed token with anything here"),
      ...[0, 0.5, 1].map(v => kit.text(right, up(v) - 3, String(v), {"text-anchor": "end"})));
    drawTokens();
  }
  function drawTokens() {
    if (!place) return;
    const now = places(), named = answers(), x = now.map(place), me = now[state.token], small = width < 450,
      r = small ? 5.5 : 7, parts = [];
    const clip = v => kit.clamp(v, from, to);
    if (named) named.forEach((v, i) => parts.push(
      kit.svg("line", {x1: x[i], x2: place(clip(v)), y1: top, y2: bottom, style: "stroke:var(--romae-blue)",
        "stroke-opacity": 0.55, "stroke-width": 1.3})));
    else parts.push(kit.text(place(to), bottom - 26, "no answer while one token is moved",
      {"text-anchor": "end", class: "romae-faint"}));
    // the curve of scores, centred on the chosen token, and everything else as a dot on it
    const pixels = place(to) - place(from), line = Array.from({length: Math.round(pixels) + 1}, (_, i) => {
      const px = place(from) + i;
      return [px, up(score(place.invert(px) - me))];
    });
    parts.push(kit.curve(line, "currentColor", 1.6, null, {"stroke-opacity": 0.55}));
    now.forEach((v, i) => {
      if (i !== state.token) parts.push(kit.dot(x[i], up(score(v - me)), r - 2, "currentColor"));
    });
    parts.push(kit.svg("circle", {cx: x[state.token], cy: up(1), r: r - 1.5,
      style: "fill:var(--romae-ground);stroke:currentColor", "stroke-width": 2}));
    if (anchored()) {
      const ax = place(anchorPlace()), ay = up(score(anchorPlace() - me));
      parts.push(kit.svg("line", {x1: ax, x2: ax, y1: top + 12, y2: ay, style: "stroke:var(--romae-vermillion)",
        "stroke-opacity": 0.5, "stroke-dasharray": "3 3"}),
        kit.svg("rect", {x: ax - 5, y: ay - 5, width: 10, height: 10, rx: 2, style: "fill:var(--romae-vermillion)"}));
    }
    now.forEach((v, i) => parts.push(kit.svg("circle",
      {cx: x[i], cy: top, r, style: "fill:currentColor;stroke:var(--romae-ground)", "stroke-width": 1.2})));
    if (named) named.forEach(v => parts.push(kit.svg("circle", {cx: place(clip(v)), cy: bottom, r: r - 1,
      style: "fill:var(--romae-blue);stroke:var(--romae-ground)", "stroke-width": 1.2})));
    below.replaceChildren(...parts);
    const [first, end] = [Math.min(...x), Math.max(...x)], middle = (first + end) / 2;
    bar.replaceChildren(kit.svg("rect", {x: first - 8, y: 6, width: end - first + 16, height: 34, fill: "transparent"}),
      kit.svg("path", {d: `M${first} 44V23H${end}V44`, fill: "none", style: "stroke:currentColor",
        "stroke-opacity": 0.5, "stroke-width": 1.3}),
      kit.svg("rect", {x: middle - 24, y: 11, width: 48, height: 24, rx: 12,
        style: "fill:var(--romae-ground);stroke:currentColor", "stroke-width": 1.2}),
      kit.text(middle, 27, "all", {"text-anchor": "middle"}));
    chosen.replaceChildren(kit.svg("circle", {cx: x[state.token], cy: top, r: 16, fill: "transparent"}),
      kit.svg("circle", {cx: x[state.token], cy: top, r: r + 3, fill: "none", style: "stroke:currentColor",
        "stroke-width": 2}));
    square.style.display = anchored() ? "" : "none";
    if (anchored()) {
      const ax = place(anchorPlace());
      square.replaceChildren(kit.svg("rect", {x: ax - 16, y: top - 16, width: 32, height: 32, fill: "transparent"}),
        kit.svg("rect", {x: ax - 8, y: top - 8, width: 16, height: 16, rx: 3,
          style: "fill:var(--romae-vermillion);stroke:var(--romae-ground)", "stroke-width": 1.2}),
        kit.text(ax, top + 27, label(), {"text-anchor": "middle", style: "font-weight:600"}));
    }
    showBar(state.k);
    showToken(+me.toFixed(2));
    showSquare(state.anchor);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  // Tokens at k, the anchor where it is or with them. There are answers for differences k - anchor from 0 to `last`.
  function move(k) {
    state.moved = 0;
    const c = pinned() ? state.anchor : 0;
    if (state.together && pinned()) {
      const by = kit.clamp(k - state.k, Math.max(-state.k, anchorRange[0] - c),
        Math.min(last - state.k, anchorRange[1] - c));
      state.k += by;
      state.anchor += by;
    } else state.k = kit.clamp(k, Math.max(0, c), Math.min(last, last + c));
    update();
  }
  function moveAnchor(c) {
    if (free()) return move(state.k + c - state.anchor);
    if (state.together) return move(state.k + c - state.anchor);
    state.anchor = kit.clamp(c, Math.max(anchorRange[0], state.k - last), Math.min(anchorRange[1], state.k));
    update();
  }
  function moveToken(v) {
    state.moved = 0;
    const home = places()[state.token];
    state.moved = Math.abs(v - home) < 0.1 ? 0 : Math.round(100 * (kit.clamp(v, from, to) - home)) / 100;
    update();
  }
  function choose(i) {
    state.model = i;
    state.moved = 0;
    state.anchor = 0;
    state.together = false;
    update();
  }
  function update() {
    const now = places(), named = answers(), me = now[state.token], far = state.token < count / 2 ? count - 1 : 0;
    const error = named && named.reduce((sum, v, i) => sum + Math.abs(v - now[i]), 0) / count;
    const scores = now.map(v => score(v - me)), withAnchor = anchored() ? score(anchorPlace() - me) : null;
    numbers.error.textContent = named ? error.toFixed(2) : "–";
    toAnchor.firstChild.textContent = anchored() ? `score with ${label() === "[CLS]" ? "[CLS]" : "the anchor"}`
      : "no anchor";
    numbers.anchor.textContent = anchored() ? show(withAnchor, 3) : "";
    numbers.other.parentNode.firstChild.textContent = `score with token ${far + 1}`;
    numbers.other.textContent = show(scores[far], 3);
    together.style.display = anchored() ? "" : "none";
    together.disabled = free();
    together.setAttribute("aria-pressed", state.together || free());
    together.textContent = free() ? "the anchor moves along" : `${label()} moves along`;
    if (state.moved) controls.append(back);
    else back.remove();
    square.firstChild && square.setAttribute("aria-label", label() === "[CLS]" ? "[CLS]" : "The anchor");
    all.set(state.k);
    token.set(state.token + 1);
    for (const [name, one] of Object.entries(switches)) one.input.value = of[name](model());
    switches.what.input.disabled = !pinned();
    source.textContent = model().source;
    drawTokens();
    announce(`Tokens from ${Math.min(...now).toFixed(1)} to ${Math.max(...now).toFixed(1)}. `
      + (anchored() ? `${label()} at ${anchorPlace().toFixed(1)}, score ${withAnchor.toFixed(3)}. ` : "") +
      (named ? `Mean error of the answers ${error.toFixed(2)}.` : "No recorded answer for this arrangement."));
    kit.state({model: model().name, pattern: state.pattern, k: state.k, anchor: state.anchor,
      anchor_at: anchored() ? anchorPlace().toFixed(2) : null, together: state.together || free(),
      token: state.token + 1, moved: state.moved.toFixed(2), places: now.map(v => v.toFixed(2)),
        answers: named && named.map(v => v.toFixed(2)),
      mean_error: named ? error.toFixed(2) : null, score_anchor: anchored() ? withAnchor.toFixed(3) : null,
        scores: scores.map(v => v.toFixed(3))});
  }
  kit.sized(drawing, drawGround);
  update();
}

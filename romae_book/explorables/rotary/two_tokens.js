// A query and a key that can be moved along a line, their pairs as clock hands, and the score against the difference.
function explorable(root, data, kit) {
  const {reach, thetas} = data, state = {query: data.query, key: data.key, chosen: data.chosen, pairs: data.pairs};
  const tokens = {query: {name: "query", colour: "var(--romae-blue)"},
    key: {name: "key", colour: "var(--romae-vermillion)"}};
  const turn = (pairs, position) => pairs.map(([x, y], i) => {
    const c = Math.cos(position * thetas[i]), s = Math.sin(position * thetas[i]);
    return [x * c - y * s, x * s + y * c];
  });
  const parts = (query, key) => {
    const vectors = data.vectors[state.chosen], q = turn(vectors.query, query), k = turn(vectors.key, key);
    return q.slice(0, state.pairs).map(([x, y], i) => x * k[i][0] + y * k[i][1]);
  };
  const score = (query, key) => parts(query, key).reduce((sum, part) => sum + part, 0);
  const round = v => Math.round(100 * v) / 100;
  const minus = text => text.replace(/-/g, "−"),
    show = (v, digits = 2) => minus(v.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
  const announce = kit.announcer(root);

  const numbers = {};
  const number = (id, label) => kit.el("span", {}, label + " ", numbers[id] = kit.el("b"));
  const line = kit.el("div"), dials = kit.el("div", {class: "tt-dials"}), curve = kit.el("div");
  const both = kit.slider({label: "Move both", name: "", min: -reach, max: reach, step: 0.05, value: 0,
    format: v => show(v), describe: v => `midpoint ${v.toFixed(2)}`, change: v => shift(v)});
  const vectors = kit.select({label: "Query and key", name: "vectors",
    options: Object.keys(data.vectors).map(v => [v, v]), value: state.chosen,
    change: v => { state.chosen = v; rebuild(); drawCurve(); update(); }});
  const pairs = kit.slider({label: "Dials", min: 1, max: thetas.length, value: state.pairs,
    describe: v => `${v} of ${thetas.length} pairs`, change: v => {
      state.pairs = v;
      rebuild();
      drawCurve();
      update();
    }});
  root.append(line, kit.el("div", {class: "tt-numbers"}, number("query", "query at"), number("key", "key at"),
    number("difference", "distance Δ"), number("score", "score")), dials, curve,
    kit.el("div", {class: "romae-row"}, both.node, pairs.node, vectors.node));

  // --- the line: two tokens and the bar that holds them --------------------------------------------------------------
  const track = kit.svg("svg"), ground = kit.svg("g"), bar = kit.svg("g"),
    handles = {key: kit.svg("g"), query: kit.svg("g")};
  track.append(ground, bar, handles.key, handles.query);
  line.append(track);
  let place = kit.linear([-reach, reach], [0, 1]), width = 0;
  const middle = () => (state.query + state.key) / 2;
  const shows = {};
  for (const id of ["key", "query"]) {
    shows[id] = kit.handle(handles[id], {label: `Position of the ${id}`, name: id, min: -reach, max: reach, step: 0.25,
      value: () => state[id], describe: v => v.toFixed(2), to: v => move(id, v)});
    let grip;
    kit.drag(handles[id], track, {start: x => {
      grip = state[id] - place.invert(x);
    }, move: x => move(id, place.invert(x) + grip)});
  }
  shows.both = kit.handle(bar, {label: "Both together, by their midpoint", name: "", min: -reach, max: reach,
    step: 0.25, value: middle, describe: v => v.toFixed(2), to: v => shift(v)});
  let grip;
  kit.drag(bar, track, {start: x => { grip = middle() - place.invert(x); }, move: x => shift(place.invert(x) + grip)});

  function drawLine(now) {
    width = now;
    place = kit.linear([-reach, reach], [18, width - 18]);
    kit.frame(track, width, 92);
    const ticks = place.ticks(6), tick = v => kit.rule(place(v), 54, place(v), 62, 0.45);
    ground.replaceChildren(...kit.axes({left: 6, right: width - 6, bottom: 58},
      {x: {scale: place, ticks, line: true, drop: 28}}), ...ticks.map(tick));
    drawTokens();
  }
  function drawTokens() {
    const x = {query: place(state.query), key: place(state.key)}, [low, high] = [Math.min(x.query, x.key),
      Math.max(x.query, x.key)];
    const wide = Math.max(high - low, 44), left = (low + high - wide) / 2, centre = (low + high) / 2;
    // from the pill sideways and down to each token, or straight down where the token is under the pill
    const legs = [low, high].map((end, i) => high - low > 44 ? `M${centre + (i ? 22 : -22)} 22H${end}V46`
      : `M${end} 33V46`).join("");
    bar.replaceChildren(kit.svg("rect", {x: left, y: 6, width: wide, height: 30, fill: "transparent"}),
      kit.svg("path", {d: legs, fill: "none", style: "stroke:currentColor", "stroke-opacity": 0.5,
        "stroke-width": 1.3}),
      kit.svg("rect", {x: centre - 22, y: 11, width: 44, height: 22, rx: 11,
        style: "fill:var(--romae-grey);fill-opacity:.2;stroke:currentColor", "stroke-width": 1}),
      kit.text(centre, 26, "both", {"text-anchor": "middle"}));
    for (const [id, token] of Object.entries(tokens)) {
      // side by side where they would cover each other
      const dy = Math.abs(x.query - x.key) < 26 ? (id === "query" ? -4 : 8) : 0;
      handles[id].replaceChildren(kit.svg("circle", {cx: x[id], cy: 58 + dy, r: 17, fill: "transparent"}),
        kit.svg("circle", {cx: x[id], cy: 58 + dy, r: 9.5, "stroke-width": 3.6,
          style: `fill:var(--romae-ground);stroke:${token.colour}`}),
        kit.text(x[id], 62 + dy, id[0], {"text-anchor": "middle", "aria-hidden": "true",
          style: "font-weight:650;pointer-events:none"}));
      shows[id](state[id]);
    }
    shows.both(round(middle()));
  }

  // --- the dials -----------------------------------------------------------------------------------------------------
  let hands = [];
  function rebuild() {
    const vectors = data.vectors[state.chosen],
      longest = Math.max(...[...vectors.query, ...vectors.key].map(([x, y]) => Math.hypot(x, y)));
    const cells = [];
    dials.style.gridTemplateColumns = `repeat(${state.pairs},minmax(0,1fr))`;
    hands = thetas.slice(0, state.pairs).map((theta, i) => {
      const ring = kit.svg("circle", {cx: 50, cy: 50, r: 46, fill: "none", style: "stroke:currentColor",
        "stroke-opacity": 0.35, "stroke-width": 1.2, "stroke-dasharray": theta ? null : "4 4"});
      const arc = kit.svg("path", {style: "fill:currentColor", "fill-opacity": 0.13});
      const make = id => {
        const reach = 44 / longest, colour = tokens[id].colour;
        const hand = kit.svg("line", {x1: 50, y1: 50, "stroke-width": id === "key" ? 6 : 3, "stroke-linecap": "round",
          style: `stroke:${colour}`});
        return {hand, reach};
      };
      const key = make("key"), query = make("query"), added = kit.el("b");
      const lambda = theta ? 2 * Math.PI / theta : Infinity;
      cells.push(kit.el("div", {}, kit.svg("svg", {viewBox: "0 0 100 100", "aria-hidden": "true"}, ring, arc, key.hand,
        query.hand),
        theta ? `λ ${lambda.toFixed(1)}` : "not turned", kit.el("br"), "adds ", added));
      return {key, query, arc, added};
    });
    dials.replaceChildren(...cells);
  }
  function drawHands() {
    const {query, key} = data.vectors[state.chosen], q = turn(query, state.query), k = turn(key, state.key),
      added = parts(state.query, state.key);
    hands.forEach((dial, i) => {
      for (const [one, [x, y]] of [[dial.query, q[i]], [dial.key, k[i]]]) kit.set(one.hand,
        {x2: 50 + one.reach * x, y2: 50 - one.reach * y});
      const from = Math.atan2(k[i][1], k[i][0]),
        angle = (Math.atan2(q[i][1], q[i][0]) - from + 3 * Math.PI) % (2 * Math.PI) - Math.PI;
      const at = a => `${(50 + 22 * Math.cos(a)).toFixed(2)} ${(50 - 22 * Math.sin(a)).toFixed(2)}`;
      dial.arc.setAttribute("d",
        Math.abs(angle) < 1e-6 ? "" : `M50 50L${at(from)}A22 22 0 0 ${angle > 0 ? 0 : 1} ${at(from + angle)}Z`);
      dial.added.textContent = (added[i] > -0.005 ? "+" : "") + show(added[i]);
    });
  }

  // --- score against difference --------------------------------------------------------------------------------------
  const graph = kit.svg("svg", {"aria-hidden": "true"}), marker = kit.svg("g");
  curve.append(graph);
  let across, up, graphWidth = 0;
  function drawCurve(now = graphWidth) {
    if (!now) return;
    graphWidth = now;
    const height = kit.height, left = 30, right = now - 10, top = 24, bottom = height - 22, far = 2 * reach,
      {query, key} = data.vectors[state.chosen];
    const most = query.slice(0, state.pairs).reduce((sum, [x, y], i) => sum + Math.hypot(x, y) * Math.hypot(...key[i]),
      0) * 1.08;
    across = kit.linear([-far, far], [left, right]);
    up = kit.linear([-most, most], [bottom, top]);
    kit.frame(graph, now, height);
    const points = Array.from({length: Math.round(right - left) * 2 + 1}, (_, i) => {
      const x = left + i / 2;
      return [x, up(score(0, across.invert(x)))];
    });
    const axes = kit.axes({left, right, top, bottom}, {
      y: {scale: up, ticks: up.ticks(4), label: "score against the distance Δ = key − query"},
      x: {scale: across, ticks: across.ticks(6)}});
    graph.replaceChildren(...axes, kit.curve(points, "var(--romae-green)", 1.8), marker);
    drawMarker();
  }
  function drawMarker() {
    if (!across) return;
    const x = across(state.key - state.query), y = up(score(state.query, state.key));
    marker.replaceChildren(kit.rule(x, 20, x, kit.height - 22, 0.6, {"stroke-width": 1.2}),
      kit.svg("circle", {cx: x, cy: y, r: 6, style: "fill:var(--romae-green);stroke:currentColor",
        "stroke-width": 1.2}));
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function move(id, to) {
    state[id] = round(kit.clamp(to, -reach, reach));
    update();
  }
  // Both by the same amount, as far as the line goes: the difference never changes here.
  function shift(to) {
    const by = round(kit.clamp(to - middle(), -reach - Math.min(state.query, state.key),
      reach - Math.max(state.query, state.key)));
    state.query = round(state.query + by);
    state.key = round(state.key + by);
    update();
  }
  function update() {
    const difference = round(state.key - state.query), now = show(score(state.query, state.key), 4);
    for (const id of ["query", "key"]) numbers[id].textContent = show(state[id]);
    numbers.difference.textContent = show(difference);
    numbers.score.textContent = now;
    both.set(middle());
    if (width) drawTokens();
    drawHands();
    drawMarker();
    announce(`Query at ${state.query.toFixed(2)}, key at ${state.key.toFixed(2)}, difference `
      + `${difference.toFixed(2)}, score ${now}.`);
    kit.state({query: state.query.toFixed(2), key: state.key.toFixed(2), vectors: state.chosen,
      difference: difference.toFixed(2), pairs: state.pairs,
      score: score(state.query, state.key).toFixed(4), parts: parts(state.query, state.key).map(v => v.toFixed(4))});
  }
  rebuild();
  kit.sized(line, drawLine);
  kit.sized(curve, drawCurve);
  update();
}

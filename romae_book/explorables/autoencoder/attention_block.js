// One block with all its numbers: the lines of code, what goes into the chosen one, and what comes out of it.
function explorable(root, data, kit) {
  const {weights: w, size} = data, n = data.x.length, announce = kit.announcer(root);
  const times = [...data.times], state = {step: 3, query: 2};
  const model = {axes: 1, p: data.p, base: data.base};
  let now = {};

  // --- the block, as romae.stack has it, with everything kept --------------------------------------------------------
  function compute() {
    const E = size.dim, turns = romae.rotation(model, E, times.map(t => [t])), x = data.x;
    const h = x.map(row => romae.norm(row, w.norm1)), qkv = h.map(row => [...romae.linear(row, w.qkv)]);
    const part = i => qkv.map(row => row.slice(i * E, (i + 1) * E)), [q, k, v] = [0, 1, 2].map(part);
    const turn = rows => rows.map((row, i) => { const copy = [...row]; romae.rotate(copy, 0, turns[i]); return copy; });
    const tq = turn(q), tk = turn(k), dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
    const score = tq.map(a => tk.map(b => dot(a, b) / Math.sqrt(E)));
    const share = score.map(row => {
      const e = row.map(s => Math.exp(s - Math.max(...row))), all = e.reduce((a, b) => a + b);
      return e.map(s => s / all);
    });
    const mix = share.map(row => [...romae.linear(row.reduce((sum, s, j) => sum.map((m, i) => m + s * v[j][i]),
      Array(E).fill(0)), w.out)]);
    const add = (a, b) => a.map((row, i) => row.map((value, j) => value + b[i][j])), after = add(x, mix);
    const h2 = after.map(row => romae.norm(row, w.norm2));
    const out = add(after, h2.map(row => [...romae.linear(romae.silu(romae.linear(row, w.up)), w.down)]));
    now = {x, h, q, k, v, "turned q": tq, "turned k": tk, score, share, mix, after, h2, out};
  }
  const LINES = [
    ["h = norm1(x)", ["x", "h"],
      "Each row is divided by its root mean square and multiplied by a learned gain. Rows do not see one another."],
    ["q, k, v = qkv(h).chunk(3)", ["h", "q", "k", "v"],
      "One matrix makes a query, a key and a value of every row. Times play no part yet."],
    ["q, k = rotate(q, t), rotate(k, t)", ["q", "turned q", "k", "turned k"],
      "Channels 1 and 3 turn by t radians, channels 2 and 4 by t/10. Values are left alone."],
    ["score = q @ k.T / sqrt(4)", ["turned q", "turned k", "score"],
      "Every query with every key. A score depends on the difference of the two times, not on the times."],
    ["share = softmax(score)", ["score", "share"],
      "Each row becomes positive and sums to one: how much of each token the row's token takes."],
    ["mix = out(share @ v)", ["share", "v", "mix"], "A weighted mean of the values, and one more matrix."],
    ["x = x + mix", ["x", "mix", "after"], "The residual: a block adds to what was there."],
    ["x = x + ff(norm2(x))", ["after", "h2", "out"],
      "The feed-forward part takes every row by itself: up to 8 channels, SiLU, and back to 4."]];
  const TITLES = {x: "x", h: "h = norm1(x)", q: "q", k: "k", v: "v", "turned q": "q, turned", "turned k": "k, turned",
    score: "score",
    share: "share", mix: "mix", after: "x + mix", h2: "norm2(x)", out: "x, the block's output"};

  // --- controls ------------------------------------------------------------------------------------------------------
  const lines = LINES.map(([code], i) => kit.button(code, {title: code}, () => { state.step = i; update(); }));
  const said = kit.el("p", {class: "ab-said"}), show = kit.el("div", {class: "ab-show"}),
    axis = kit.svg("svg", {role: "group", "aria-label": "Times of the six tokens"});
  const holder = kit.el("div", {class: "ab-axis"}, axis);
  const step = kit.slider({label: "Line", min: 0, max: LINES.length - 1, value: state.step,
    format: v => `${v + 1} of ${LINES.length}`, describe: v => LINES[v][0], change: v => {
      state.step = v;
      update();
    }});
  const query = kit.slider({label: "Follow token", min: 1, max: n, value: state.query + 1, change: v => {
    state.query = v - 1;
    update();
  }});
  const push = by => () => {
    const move = kit.clamp(by, -Math.min(...times), data.longest - Math.max(...times));
    times.forEach((t, i) => { times[i] = t + move; });
    update();
  };
  const back = kit.button("← all", {class: "romae-button", "aria-label": "Move all tokens earlier"}, push(-0.5));
  const forth = kit.button("all →", {class: "romae-button", "aria-label": "Move all tokens later"}, push(0.5));
  root.append(holder, kit.el("div", {class: "romae-row"}, query.node, step.node, back, forth),
    kit.el("div", {class: "ab-body"}, kit.el("div", {class: "ab-code", role: "group", "aria-label": "Lines of code"},
      ...lines), kit.el("div", {}, said, show)));

  // --- the time axis -------------------------------------------------------------------------------------------------
  let across = null;
  const tokens = times.map((_, i) => kit.svg("g"));
  const shows = tokens.map((node, i) => {
    const to = v => { times[i] = kit.clamp(Math.round(v * 100) / 100, 0, data.longest); update(); };
    kit.drag(node, axis, {start: () => { state.query = i; update(); }, move: x => to(across.invert(x))});
    return kit.handle(node, {label: `Time of token ${i + 1}`, min: 0, max: data.longest, step: 0.1, page: 1,
      value: () => times[i], describe: v => v.toFixed(2), to});
  });
  kit.sized(holder, width => {
    across = kit.linear([0, data.longest], [16, width - 16]);
    kit.frame(axis, width, 62);
    axis.replaceChildren(...kit.axes({left: 16, right: width - 16, bottom: 40},
      {x: {scale: across, ticks: across.ticks(8), line: true, drop: 17}}),
      ...tokens);
    update();
  });
  function drawAxis() {
    if (!across) return;
    tokens.forEach((node, i) => {
      const x = across(times[i]), on = i === state.query, share = now.share[state.query][i];
      node.replaceChildren(kit.svg("rect", {x: x - 13, y: 4, width: 26, height: 44, fill: "transparent"}),
        kit.rule(x, 34, x, 40, 1),
        kit.svg("circle", {cx: x, cy: 22, r: 12,
          style: `fill:color-mix(in srgb,var(--romae-blue) `
          + `${Math.round(12 + 75 * share)}%,var(--romae-ground));stroke:currentColor`,
          "stroke-width": on ? 2.4 : 0.8}),
        kit.text(x, 26.5, String(i + 1), {"text-anchor": "middle", style: "font-weight:650"}));
      shows[i](times[i]);
    });
  }

  // --- matrices ------------------------------------------------------------------------------------------------------
  function table(name) {
    const rows = now[name], top = name === "share" ? 1 : Math.max(1e-9, ...rows.flat().map(Math.abs)),
      square = rows[0].length === n && (name === "score" || name === "share");
    const ground = v => `background:color-mix(in srgb,var(--romae-${v < 0 ? "vermillion" : "blue"}) `
      + `${Math.round(6 + 44 * Math.abs(v) / top)}%,transparent)`;
    const head = square ? [kit.el("tr", {}, kit.el("td"), ...rows.map((_, j) => kit.el("th", {}, `key ${j + 1}`)))]
      : [];
    return kit.el("table", {}, kit.el("caption", {}, TITLES[name]), ...head, ...rows.map((row, i) =>
      kit.el("tr", i === state.query ? {class: "ab-on"} : {}, kit.el("th", {}, String(i + 1)),
        ...row.map(v => kit.el("td", {style: ground(v)}, v.toFixed(2))))));
  }
  function update() {
    compute();
    const [code, names, words] = LINES[state.step];
    lines.forEach((node, i) => node.setAttribute("aria-pressed", i === state.step));
    step.set(state.step);
    query.set(state.query + 1);
    said.textContent = words;
    show.replaceChildren(...names.map(table));
    drawAxis();
    const most = now.share[state.query].reduce((best, s, j, all) => s > all[best] ? j : best, 0);
    announce(`${code}. Token ${state.query + 1} takes most from token ${most + 1}, `
      + `${now.share[state.query][most].toFixed(2)}.`);
    const few = rows => rows.map(row => [...row].map(v => +v.toFixed(6)));
    kit.state({step: state.step, code, query: state.query + 1, times: times.map(t => +t.toFixed(4)), most: most + 1,
      ...Object.fromEntries(names.map(name => [name, few(now[name])]))});
  }
  update();
}

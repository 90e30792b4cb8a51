// Drift of a score as both tokens move out, with angles in float32, in float64, and in float64 cast to float32 at the
// end.
function explorable(root, data, kit) {
  const {q, k, thetas, tokens, limit} = data, half = thetas.length, f32 = Math.fround, TURN = 2 * Math.PI;
  const ways = [
    {id: "float32", name: "float32 throughout", colour: "var(--romae-vermillion)",
      mark: (x, y) => `M${x - 2.4} ${y + 2}h4.8l-2.4-4.4z`},
    {id: "rope", name: "this package", colour: "var(--romae-blue)",
      mark: (x, y) => `M${x - 2} ${y}a2 2 0 1 0 4 0a2 2 0 1 0-4 0z`},
    {id: "float64", name: "float64 throughout", colour: "var(--romae-grey)",
      mark: (x, y) => `M${x - 1.8} ${y - 1.8}h3.6v3.6h-3.6z`}];
  // Positions, angles, cosines and sines rounded to float32, as float32 hardware rounds them, sums in float64; or the
  // remainder taken first, and one rounding after it.
  const angle = (position, theta, way) => way === "float32" ? f32(f32(position) * f32(theta)) : way === "float64"
    ? position * theta : f32((position * theta) % TURN);
  const score = (shift, way) => {
    const narrow = way === "float64" ? v => v : f32;
    const turned = (v, i, at) => {
      const phase = angle(shift + at, thetas[i], way), c = narrow(Math.cos(phase)), s = narrow(Math.sin(phase));
      return [v[i] * c - v[i + half] * s, v[i] * s + v[i + half] * c];
    };
    return thetas.reduce((sum, _, i) => {
      const [a, b] = turned(q, i, tokens[0]), [c, d] = turned(k, i, tokens[1]);
      return sum + a * c + b * d;
    }, 0);
  };
  const exact = score(0, "float64"), minus = text => text.replace(/-/g, "−");
  const ulp = v => { const e = Math.floor(Math.log2(v)); return 2 ** (e - 23); };  // step between float32 numbers at v
  const announce = kit.announcer(root);
  let exponent = data.exponent;
  const shift = () => exponent === 0 ? 1 : +(10 ** exponent).toPrecision(12);

  const cells = {};
  const key = way => kit.svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"},
    kit.svg("path", {d: way.mark(5, 5), transform: "translate(-3 -3) scale(1.6)", style: `fill:${way.colour}`}));
  const table = kit.el("table", {class: "rp-table"},
    kit.el("thead", {}, kit.el("tr", {}, ...["angles in", "score", "drift"].map(t => kit.el("th", {scope: "col"}, t)))),
    kit.el("tbody", {}, ...ways.map(way => kit.el("tr", {}, kit.el("td", {}, key(way), way.name),
      ...["score", "drift"].map(id => (cells[way.id + id] = kit.el("td")))))));
  const seen = kit.el("p", {class: "rp-seen"}), plot = kit.el("div");
  const digits = v => v < 1e4 ? v.toFixed(2) : Math.round(v).toLocaleString("en");
  const slider = kit.slider({label: "Both moved by", min: 0, max: limit, step: 0.01, value: exponent,
    format: v => digits(10 ** v), describe: v => digits(10 ** v), change: move});
  slider.node.style.flexBasis = "100%";
  root.append(seen, table, plot, kit.el("div", {class: "romae-row"}, slider.node));

  // --- drift against the move, both on logarithmic scales ------------------------------------------------------------
  const graph = kit.svg("svg"), handle = kit.svg("g"),
    zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  plot.append(graph);
  const dots = Object.fromEntries(ways.map(({id}) => [id, Array.from({length: 20 * limit + 1},
    (_, i) => [i / 20, Math.abs(score(+(10 ** (i / 20)).toPrecision(12), id) - exact)])]));
  let across, up;
  const showHandle = kit.handle(handle, {label: "How far both tokens are moved, as a power of ten", min: 0, max: limit,
    step: 0.1, page: 1, value: () => exponent, describe: v => digits(10 ** v), to: move});
  const slide = {start: x => move(across.invert(x)), move: x => move(across.invert(x))};
  kit.drag(zone, graph, slide);
  kit.drag(handle, graph, slide);
  const FLOOR = 1e-16;
  const power = n => "10" + String(n).replace(/./g, c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  function draw(width) {
    const height = kit.height, left = 44, right = width - 14, top = 24, bottom = height - 40;
    across = kit.linear([0, limit], [left, right]);
    const exponents = kit.linear([Math.log10(FLOOR), 1], [bottom, top]);
    up = v => exponents(Math.log10(Math.max(v, FLOOR)));
    kit.frame(graph, width, height);
    const whole = Array.from({length: limit + 1}, (_, e) => e);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: up, ticks: [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1], format: v => power(Math.round(Math.log10(v))),
        label: "drift of the score"},
      x: {scale: across, ticks: whole, format: power, label: "both positions moved by"}});
    for (const way of ways) parts.push(kit.svg("path",
      {d: dots[way.id].map(([e, v]) => way.mark(+across(e).toFixed(2), +up(v).toFixed(2))).join(""),
      style: `fill:${way.colour}`}));
    kit.set(zone, {x: left - 8, y: top, width: right - left + 16, height: bottom - top + 20});
    graph.replaceChildren(...parts, zone, handle);
    drawHandle();
  }
  function drawHandle() {
    if (!across) return;
    const dots = ways.map(way => [up(Math.abs(score(shift(), way.id) - exact)), way.colour]);
    handle.replaceChildren(...kit.marker(across(exponent), 20, kit.height - 40, dots));
    showHandle(+exponent.toFixed(2));
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function move(to) {
    exponent = Math.round(100 * kit.clamp(to, 0, limit)) / 100;
    update();
  }
  const small = v => {
    const [m, e] = v.toExponential(1).split("e");
    return kit.el("span", {}, `${minus(m)}·10`, kit.el("sup", {}, minus(String(+e))));
  };
  function update() {
    const out = shift(), apart = f32(out + tokens[0]) - f32(out + tokens[1]), now = {}, wanted = tokens[0] - tokens[1];
    for (const {id} of ways) {
      const s = score(out, id), drift = s - exact;
      now[id] = drift.toExponential(3);
      cells[id + "score"].textContent = minus(s.toFixed(7));
      cells[id + "drift"].replaceChildren(drift ? small(drift) : "0");
    }
    seen.replaceChildren("The tokens are ", kit.el("b", {}, wanted.toFixed(2)),
      " apart. Rounded to float32, whose numbers lie ", small(ulp(out)), " apart out here, they are ",
      kit.el("b", {}, minus(apart.toPrecision(6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""))), " apart.");
    slider.set(exponent);
    drawHandle();
    announce(`Both moved by ${digits(out)}. Drift ${now.float32} in float32, ${now.rope} in this package, `
      + `${now.float64} in float64.`);
    kit.state({exponent: exponent.toFixed(2), shift: out, apart: apart.toPrecision(9), drift_float32: now.float32,
      drift_rope: now.rope, drift_float64: now.float64,
      score_float32: score(out, "float32").toFixed(7)});
  }
  kit.sized(plot, draw);
  update();
}

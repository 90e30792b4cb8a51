// Drift of a score as both tokens move out, with angles in float32, in float64, and in float64 cast to float32 at the end.
function explorable(root, data, kit) {
  const {q, k, thetas, tokens, limit} = data, half = thetas.length, f32 = Math.fround, TURN = 2 * Math.PI;
  const ways = [
    {id: "float32", name: "float32 throughout", colour: "var(--romae-vermillion)", mark: (x, y) => `M${x - 2.4} ${y + 2}h4.8l-2.4-4.4z`},
    {id: "rope", name: "this package", colour: "var(--romae-blue)", mark: (x, y) => `M${x - 2} ${y}a2 2 0 1 0 4 0a2 2 0 1 0-4 0z`},
    {id: "float64", name: "float64 throughout", colour: "var(--romae-grey)", mark: (x, y) => `M${x - 1.8} ${y - 1.8}h3.6v3.6h-3.6z`}];
  // Positions, angles, cosines and sines rounded to float32, as float32 hardware rounds them, sums in float64; or the remainder taken first, and one rounding after it.
  const angle = (position, theta, way) => way === "float32" ? f32(f32(position) * f32(theta)) : way === "float64" ? position * theta : f32((position * theta) % TURN);
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

  root.append(kit.el("style", {}, `
    .romae-explorable .rp-table{width:100%;max-width:46rem;border-collapse:collapse;margin:.1rem 0 .5rem;font-size:.93em;font-variant-numeric:tabular-nums;display:table}
    .romae-explorable .rp-table :is(th,td){padding:.12em .6em .12em 0;text-align:right;font-weight:400;border:0;background:none;white-space:nowrap;color:inherit}
    .romae-explorable .rp-table :is(th,td):first-child{text-align:left}
    .romae-explorable .rp-table thead th{font-size:.88em;opacity:.8}
    .romae-explorable .rp-table tr{background:none}
    .romae-explorable .rp-table svg{display:inline-block;width:11px;height:11px;margin-right:.45em}
    .romae-explorable sup{line-height:0}
    .romae-explorable .rp-seen{margin:.1rem 0 .4rem;font-size:.95em;font-variant-numeric:tabular-nums}
    @container (max-width:480px){.romae-explorable .rp-table{font-size:.84em}.romae-explorable .rp-table :is(th,td):first-child{white-space:normal}.romae-explorable .rp-wide{display:none}}`));
  const cells = {};
  const key = way => kit.svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"}, kit.svg("path", {d: way.mark(5, 5), transform: "translate(-3 -3) scale(1.6)", style: `fill:${way.colour}`}));
  const table = kit.el("table", {class: "rp-table"},
    kit.el("thead", {}, kit.el("tr", {}, ...["angles in", "score", "drift"].map(t => kit.el("th", {scope: "col"}, t)))),
    kit.el("tbody", {}, ...ways.map(way => kit.el("tr", {}, kit.el("td", {}, key(way), way.name),
      ...["score", "drift"].map(id => (cells[way.id + id] = kit.el("td")))))));
  const seen = kit.el("p", {class: "rp-seen"}), plot = kit.el("div");
  const digits = v => v < 1e4 ? v.toFixed(2) : Math.round(v).toLocaleString("en");
  const slider = kit.slider({label: "Both moved by", min: 0, max: limit, step: 0.01, value: exponent, format: v => digits(10 ** v), describe: v => digits(10 ** v), change: move});
  slider.node.style.flexBasis = "100%";
  root.append(seen, table, plot, kit.el("div", {class: "romae-row"}, slider.node));

  // --- drift against the move, both on logarithmic scales ------------------------------------------------------------------
  const graph = kit.svg("svg"), handle = kit.svg("g"), zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  plot.append(graph);
  const dots = Object.fromEntries(ways.map(({id}) => [id, Array.from({length: 20 * limit + 1}, (_, i) => [i / 20, Math.abs(score(+(10 ** (i / 20)).toPrecision(12), id) - exact)])]));
  let across, up;
  const showHandle = kit.handle(handle, {label: "How far both tokens are moved, as a power of ten", min: 0, max: limit, step: 0.1, page: 1, value: () => exponent, describe: v => digits(10 ** v), to: move});
  const slide = {start: x => move(across.invert(x)), move: x => move(across.invert(x))};
  kit.drag(zone, graph, slide);
  kit.drag(handle, graph, slide);
  const FLOOR = 1e-16, power = n => { const t = kit.svg("tspan", {"baseline-shift": "super", "font-size": "9"}, minus(String(n))); const text = kit.svg("text", {}, "10"); text.append(t); return text; };
  function draw(width) {
    const height = kit.height, left = 44, right = width - 14, top = 24, bottom = height - 40;
    across = kit.linear([0, limit], [left, right]);
    const exponents = kit.linear([Math.log10(FLOOR), 1], [bottom, top]);
    up = v => exponents(Math.log10(Math.max(v, FLOOR)));
    kit.set(graph, {viewBox: `0 0 ${width} ${height}`, height});
    const parts = [kit.text(left - 30, 12, "drift of the score", {class: "romae-faint"})];
    for (const e of [-15, -12, -9, -6, -3, 0]) parts.push(
      kit.svg("line", {x1: left, x2: right, y1: up(10 ** e), y2: up(10 ** e), style: "stroke:currentColor", "stroke-opacity": 0.12}),
      kit.set(power(e), {x: left - 7, y: up(10 ** e) + 4, "text-anchor": "end"}));
    for (let e = 0; e <= limit; e++) parts.push(kit.set(power(e), {x: across(e), y: bottom + 17, "text-anchor": "middle"}));
    parts.push(kit.text((left + right) / 2, height - 5, "both positions moved by", {"text-anchor": "middle", class: "romae-faint"}));
    for (const way of ways) parts.push(kit.svg("path", {d: dots[way.id].map(([e, v]) => way.mark(+across(e).toFixed(2), +up(v).toFixed(2))).join(""), style: `fill:${way.colour}`}));
    kit.set(zone, {x: left - 8, y: top, width: right - left + 16, height: bottom - top + 20});
    graph.replaceChildren(...parts, zone, handle);
    drawHandle();
  }
  function drawHandle() {
    if (!across) return;
    const x = across(exponent), bottom = kit.height - 40;
    handle.replaceChildren(kit.svg("rect", {x: x - 14, y: 20, width: 28, height: bottom - 10, fill: "transparent"}),
      kit.svg("line", {x1: x, x2: x, y1: 20, y2: bottom, style: "stroke:currentColor", "stroke-width": 1.3}),
      kit.svg("path", {d: `M${x} ${bottom - 5}l7 8h-14z`, style: "fill:currentColor"}),
      ...ways.map(way => kit.svg("circle", {cx: x, cy: up(Math.abs(score(shift(), way.id) - exact)), r: 4.6, style: `fill:${way.colour};stroke:currentColor`, "stroke-width": 1.2})));
    showHandle(+exponent.toFixed(2));
  }

  // --- state ------------------------------------------------------------------------------------------------------------
  function move(to) {
    exponent = Math.round(100 * kit.clamp(to, 0, limit)) / 100;
    update();
  }
  const small = v => { const [m, e] = v.toExponential(1).split("e"); return kit.el("span", {}, `${minus(m)}·10`, kit.el("sup", {}, minus(String(+e)))); };
  function update() {
    const out = shift(), apart = f32(out + tokens[0]) - f32(out + tokens[1]), now = {}, wanted = tokens[0] - tokens[1];
    for (const {id} of ways) {
      const s = score(out, id), drift = s - exact;
      now[id] = drift.toExponential(3);
      cells[id + "score"].textContent = minus(s.toFixed(7));
      cells[id + "drift"].replaceChildren(drift ? small(drift) : "0");
    }
    seen.replaceChildren("The tokens are ", kit.el("b", {}, wanted.toFixed(2)), " apart. Rounded to float32, whose numbers lie ", small(ulp(out)), " apart out here, they are ", kit.el("b", {}, minus(apart.toPrecision(6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""))), " apart.");
    slider.set(exponent);
    drawHandle();
    announce(`Both moved by ${digits(out)}. Drift ${now.float32} in float32, ${now.rope} in this package, ${now.float64} in float64.`);
    kit.state({exponent: exponent.toFixed(2), shift: out, apart: apart.toPrecision(9), drift_float32: now.float32, drift_rope: now.rope, drift_float64: now.float64,
      score_float32: score(out, "float32").toFixed(7)});
  }
  kit.sized(plot, draw);
  update();
}

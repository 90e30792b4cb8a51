// A pulsating star in time, and folded by a period that is turned; a RoMAE in the page fills in what was hidden.
function explorable(root, data, kit) {
  const colours = ["var(--romae-green)", "var(--romae-vermillion)", "var(--romae-purple)"], DAY = 1;
  const announce = kit.announcer(root), net = romae.loadBytes(data.model), shown = data.bands.map(([k]) => k);
  let {star, turns} = data.start, alias = false, answer = null;
  const now = () => data.stars[star], points = () => now().time.keys(), height = value => -value * now().spread;
  // turns: pulsations, more or fewer, over the whole span
  const period = () => 1 / (1 / now().period + turns / now().span + (alias ? DAY : 0));
  const phase = t => { const p = t / period(); return p - Math.floor(p); };
  const rms = list => Math.sqrt(list.reduce((sum, x) => sum + x * x, 0) / list.length);
  function roughness() {
    const {time, value, band, spread} = now();
    let sum = 0, count = 0;
    for (const k of shown) {
      const order = time.map((t, i) => [phase(t), i]).filter(([, i]) => band[i] === k).sort((a, b) => a[0] - b[0]);
      order.slice(1).forEach(([, i], n) => { sum += spread * Math.abs(value[i] - value[order[n][1]]); count++; });
    }
    return sum / count;
  }

  // --- RoMAE: band, time, and a place on the circle (romae_book.experiments.lightcurves.folding) ---------------------
  function compute() {
    const {time, value, error, band, hidden} = now(), all = [...points()], angle = t => 2 * Math.PI * phase(t);
    const place = (k, t, a) => [k, data.scale * t, data.radius * Math.cos(a), data.radius * Math.sin(a)];
    const at = i => place(band[i], time[i], angle(time[i])), seen = all.filter(i => !hidden[i]);
    const asked = all.filter(i => hidden[i] && shown.includes(band[i]));
    const read = romae.encode(net, seen.map(i => [value[i], error[i]]), seen.map(at));
    const guess = romae.decode(net, read, asked.map(at)).map(v => v[0]);
    // the curve is asked for apart: mask tokens look at one another
    const phases = Array.from({length: data.places}, (_, i) => i / data.places);
    const line = romae.decode(net, read, phases.map(p => place(shown[0], 0, 2 * Math.PI * p))).map(v => height(v[0]));
    answer = {line: phases.map((p, i) => [p, line[i]]),
      off: now().spread * rms(asked.map((i, m) => guess[m] - value[i]))};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const stars = data.stars.map((one, i) => kit.button(`star ${one.number}, type ${one.type}`, {class: "romae-button"},
    () => { star = i; alias = false; update(); }));
  const signed = v => (v > 0 ? "+" : v < 0 ? "−" : "") + Math.abs(v).toFixed(2);
  const slider = kit.slider({label: "Turns too many", min: -data.reach, max: data.reach, step: 0.02, value: turns,
    format: signed, describe: v => `${signed(v)} turns from the true count`, change: v => { turns = v; update(); }});
  const off = kit.button("A day off", {class: "romae-button"}, () => { alias = !alias; update(); });
  const shownPeriod = kit.el("b"), shownRough = kit.el("b"), shownOff = kit.el("b"), above = kit.el("div"),
    below = kit.el("div");
  root.append(
    kit.el("div", {class: "fo-row", role: "group", "aria-label": "Star"}, ...stars),
    above,
    kit.el("div", {class: "fo-row"}, slider.node, off),
    kit.el("div", {class: "fo-numbers"}, "period ", shownPeriod, " days; from one point to the next ", shownRough,
      " magnitudes; ", kit.el("span", {class: "fo-model"}, "RoMAE"), " misses hollow points by ", shownOff),
    below);

  // --- drawing -------------------------------------------------------------------------------------------------------
  const inTime = kit.svg("svg", {role: "img"}), folded = kit.svg("svg", {role: "img"});
  above.append(inTime);
  below.append(folded);
  let wide = 0;
  function draw(svg, tall, x, places, line = []) {
    const left = 34, right = wide - 8, top = 20, bottom = tall - 36, {value, band, hidden} = now();
    const drawn = [...points()].filter(i => shown.includes(band[i])), heights = drawn.map(i => height(value[i]));
    const low = Math.min(...heights), high = Math.max(...heights);
    const y = kit.linear([low - 0.05, high + 0.05], [bottom, top]), across = kit.linear(x.domain, [left, right]);
    kit.frame(svg, wide, tall);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: y, ticks: y.ticks(4), label: wide < 420 ? "brighter above" : "magnitudes, brighter above"},
      x: {scale: across, ticks: x.ticks, label: x.label, line: true}}), r = wide < 480 ? 1.9 : 2.4;
    drawn.forEach((i, n) => {
      const colour = colours[shown.indexOf(band[i])];
      const look = hidden[i] ? {"fill-opacity": 0, stroke: colour, "stroke-width": 1, "stroke-opacity": 0.75}
        : {"fill-opacity": 0.8};
      for (const at of places(i)) parts.push(kit.dot(across(at), y(heights[n]), hidden[i] ? r + 0.3 : r, colour, look));
    });
    if (line.length) parts.push(kit.curve(line.map(([p, h]) => [across(p), y(kit.clamp(h, low - 0.05, high + 0.05))]),
      "var(--romae-blue)", 2.4));
    parts.push(kit.dot(right - 152, 7, 4, "currentColor", {"fill-opacity": 0, stroke: "currentColor"}),
      kit.text(right - 144, 11, "hidden"));
    data.bands.forEach(([, name], k) => parts.push(kit.dot(right - 84 + 32 * k, 7, 4, colours[k]),
      kit.text(right - 76 + 32 * k, 11, name)));
    svg.replaceChildren(...parts);
  }
  function redraw(width = wide) {
    if (!(wide = width) || !answer) return;
    const tall = Math.round(kit.clamp(width * 0.36, 150, kit.height)), {time, span} = now(), first = time[0];
    draw(inTime, Math.round(0.75 * tall), {domain: [0, span], ticks: [0, 1000, 2000, 3000].filter(t => t < span),
      label: "days"}, i => [time[i] - first]);
    draw(folded, tall, {domain: [0, 2], ticks: [0, 0.5, 1, 1.5, 2], label: "phase"},
      i => [phase(time[i]), 1 + phase(time[i])],
      [...answer.line, ...answer.line.map(([p, h]) => [1 + p, h]), [2, answer.line[0][1]]]);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    stars.forEach((b, i) => b.setAttribute("aria-pressed", i === star));
    off.setAttribute("aria-pressed", alias);
    compute();
    const p = period().toFixed(6), rough = roughness().toFixed(3), miss = answer.off.toFixed(3);
    shownPeriod.textContent = p;
    shownRough.textContent = rough;
    shownOff.textContent = miss;
    redraw();
    inTime.setAttribute("aria-label", `${now().time.length} measurements of star ${now().number} over nine years`);
    folded.setAttribute("aria-label", `The same by phase, for a period of ${p} days, and the model's curve`);
    announce(`Period ${p} days: ${rough} magnitudes from one point to the next; RoMAE misses hidden points by ${miss}.`);
    kit.state({star: star + 1, turns, alias, period: p, roughness: rough, miss,
      curve: answer.line.map(([, h]) => +h.toFixed(4))});
  }
  kit.sized(above, redraw);
  update();
}

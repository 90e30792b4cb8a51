// A pulsating star in time, and folded by a period that is turned.
function explorable(root, data, kit) {
  const colours = ["var(--romae-green)", "var(--romae-vermillion)", "var(--romae-purple)"], DAY = 1.0027379;
  const announce = kit.announcer(root);
  let {star, turns} = data.start, alias = false;
  const now = () => data.stars[star];
  // turns: pulsations, more or fewer, over the whole span
  const period = () => 1 / (1 / now().period + turns / now().span + (alias ? DAY : 0));
  const phase = t => { const p = t / period(); return p - Math.floor(p); };
  function roughness() {
    const {time, height, band} = now();
    let sum = 0, count = 0;
    data.bands.forEach((_, k) => {
      const order = time.map((t, i) => [phase(t), i]).filter(([, i]) => band[i] === k).sort((a, b) => a[0] - b[0]);
      order.slice(1).forEach(([, i], n) => { sum += Math.abs(height[i] - height[order[n][1]]); count++; });
    });
    return sum / count;
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const stars = data.stars.map((one, i) => kit.button(`star ${i + 1}, type ${one.type}`, {class: "romae-button"},
    () => { star = i; update(); }));
  const signed = v => (v > 0 ? "+" : v < 0 ? "−" : "") + Math.abs(v).toFixed(2);
  const slider = kit.slider({label: "Turns in nine years", min: -data.reach, max: data.reach, step: 0.02, value: turns,
    format: signed, describe: v => `${signed(v)} turns from the true count`, change: v => { turns = v; update(); }});
  const off = kit.button("A day off", {class: "romae-button"}, () => { alias = !alias; update(); });
  const shownPeriod = kit.el("b"), shownRough = kit.el("b"), above = kit.el("div"), below = kit.el("div");
  root.append(
    kit.el("div", {class: "fo-row", role: "group", "aria-label": "Star"}, ...stars),
    above,
    kit.el("div", {class: "fo-row"}, slider.node, off),
    kit.el("div", {class: "fo-numbers"}, "period ", shownPeriod, " days; from one point to the next ", shownRough,
      " magnitudes"),
    below);

  // --- drawing -------------------------------------------------------------------------------------------------------
  const inTime = kit.svg("svg", {role: "img"}), folded = kit.svg("svg", {role: "img"});
  above.append(inTime);
  below.append(folded);
  let wide = 0;
  function draw(svg, height, x, places) {
    const left = 34, right = wide - 8, top = 20, bottom = height - 36, heights = now().height;
    const low = Math.min(...heights), high = Math.max(...heights);
    const y = kit.linear([low - 0.05, high + 0.05], [bottom, top]), across = kit.linear(x.domain, [left, right]);
    kit.frame(svg, wide, height);
    const parts = kit.axes({left, right, top, bottom}, {
      y: {scale: y, ticks: y.ticks(4), label: "magnitudes, brighter above"},
      x: {scale: across, ticks: x.ticks, label: x.label, line: true}});
    heights.forEach((h, i) => {
      for (const at of places(i)) parts.push(kit.dot(across(at), y(h), wide < 480 ? 1.9 : 2.4, colours[now().band[i]],
        {"fill-opacity": 0.8}));
    });
    data.bands.forEach((name, k) => parts.push(kit.dot(right - 84 + 32 * k, 7, 4, colours[k]),
      kit.text(right - 76 + 32 * k, 11, name)));
    svg.replaceChildren(...parts);
  }
  function redraw(width = wide) {
    if (!(wide = width)) return;
    const height = Math.round(kit.clamp(width * 0.36, 150, kit.height)), {time, span} = now();
    draw(inTime, Math.round(0.75 * height), {domain: [0, span], ticks: [0, 1000, 2000, 3000].filter(t => t < span),
      label: "days"}, i => [time[i]]);
    draw(folded, height, {domain: [0, 2], ticks: [0, 0.5, 1, 1.5, 2], label: "phase"},
      i => [phase(time[i]), 1 + phase(time[i])]);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    stars.forEach((b, i) => b.setAttribute("aria-pressed", i === star));
    off.setAttribute("aria-pressed", alias);
    const p = period().toFixed(6), rough = roughness().toFixed(3);
    shownPeriod.textContent = p;
    shownRough.textContent = rough;
    redraw();
    inTime.setAttribute("aria-label", `${now().time.length} measurements of star ${star + 1} over nine years`);
    folded.setAttribute("aria-label", `The same by phase, for a period of ${p} days`);
    announce(`Period ${p} days: ${rough} magnitudes from one point to the next.`);
    kit.state({star: star + 1, turns, alias, period: p, roughness: rough});
  }
  kit.sized(above, redraw);
  update();
}

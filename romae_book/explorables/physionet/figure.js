// Channels of one patient over 48 hours: seen and hidden values, RoMAE's curve, straight lines; and the error of each.
function explorable(root, data, kit) {
  const {patients, channels, grid, horizon, scale} = data, last = patients[0].shown.length - 1;
  const models = [
    {id: "romae", name: "RoMAE", colour: "var(--romae-blue)", width: 2.5, dash: ""},
    {id: "linear", name: "straight lines", colour: "var(--romae-green)", width: 1.75, dash: "6 4"},
    {id: "mean", name: "channel means", colour: "var(--romae-grey)", width: 1.5, dash: "1.5 3.5"}];

  // --- errors of all hidden values, for every level ------------------------------------------------------------------
  const interpolate = (seen, minute) => {  // seen: [minute, value] in order of time; beyond the ends, the nearest
    if (!seen.length) return 0;
    const after = seen.findIndex(([m]) => m >= minute);
    if (after <= 0) return after ? seen[seen.length - 1][1] : seen[0][1];
    const [[m0, v0], [m1, v1]] = [seen[after - 1], seen[after]];
    return v0 + (v1 - v0) * (minute - m0) / (m1 - m0);
  };
  for (const patient of patients) {
    patient.errors = patient.shown.map((shown, k) => {
      const seen = {}, sum = {romae: 0, linear: 0, mean: 0};
      let hidden = 0;
      patient.channel.forEach((c, i) => {
        if (patient.rank[i] < shown) (seen[c] = seen[c] || []).push([patient.minute[i], patient.value[i]]);
      });
      patient.channel.forEach((c, i) => {
        if (patient.rank[i] < shown) return;
        const value = patient.value[i];
        hidden += 1;
        sum.romae += (patient.romae[k][i] - value) ** 2;
        sum.linear += (interpolate(seen[c] || [], patient.minute[i]) - value) ** 2;
        sum.mean += value ** 2;
      });
      const share = v => v / hidden / scale ** 2;
      return {hidden, seen, romae: share(sum.romae), linear: share(sum.linear), mean: share(sum.mean)};
    });
  }

  const gain = ({errors}) => errors[data.start].linear / errors[data.start].romae;
  const greeting = patients.reduce((best, patient, i) => gain(patient) > gain(patients[best]) ? i : best, 0);
  let p = greeting, k = data.start, open = new Set(patients[p].chosen.slice(0, 3));
  const shown = {romae: true, linear: true, mean: false};
  const announce = kit.announcer(root), digits = v => v.toFixed(3);
  const describe = i => {
    const {hidden} = patients[p].errors[i], n = patients[p].minute.length;
    return `${n - hidden} of ${n} values seen`;
  };

  // --- controls ------------------------------------------------------------------------------------------------------
  const patientButtons = patients.map((_, i) => kit.button(`Patient ${i + 1}`, {class: "romae-button"}, () => pick(i)));
  const chips = kit.el("div", {role: "group", "aria-label": "Channels"});
  const panels = kit.el("div", {class: "pt-panels"}), curve = kit.el("div");
  const slider = kit.slider({label: "Seen", min: 0, max: last, value: k,
    format: i => `${Math.round(100 * (1 - patients[p].errors[i].hidden / patients[p].minute.length))} %`, describe,
    change: observe});
  const legend = kit.legend({rows: models, shown, head: ["show", "MSE, all hidden values"], change: () => update()});
  root.append(
    kit.el("div", {class: "pt-top"}, kit.el("div", {role: "group", "aria-label": "Patient"}, ...patientButtons), chips),
    panels,
    kit.el("div", {class: "pt-bottom"},
      kit.el("div", {}, kit.el("div", {class: "romae-row"}, slider.node), curve),
      legend.node));

  // --- the channels --------------------------------------------------------------------------------------------------
  let width = 0;
  function draw() {
    if (!width) return;
    const patient = patients[p], now = patient.errors[k], left = 46, right = width - 12;
    const across = kit.linear([0, horizon], [left, right]), list = patient.chosen.filter(c => open.has(c));
    panels.replaceChildren(...list.map((c, n) => {
      const about = channels[c], at = patient.chosen.indexOf(c), bottom = n === list.length - 1,
        height = bottom ? 138 : 112;
      const unit = v => about.mean + about.std * v / scale, low_high = [],
        total = patient.channel.filter(d => d === c).length;
      patient.channel.forEach((d, i) => { if (d === c) low_high.push(unit(patient.value[i])); });
      const line = grid.map((m, i) => [m, unit(patient.curve[k][at][i])]);
      low_high.push(...line.map(([, v]) => v));
      let low = Math.min(...low_high), high = Math.max(...low_high);
      // a channel that stands still gets no magnified axis
      const short = Math.max(0, 0.5 * about.std - (high - low)) / 2;
      low -= short; high += short;
      const room = 0.22 * (high - low) || 1;
      const up = kit.linear([low - room, high + room], [102, 20]), box = {left, right, top: 20, bottom: 103};
      const hours = {scale: h => across(60 * h), ticks: [0, 12, 24, 36, 48], label: "hours since admission"};
      const parts = kit.axes(box, {y: {scale: up, ticks: kit.ticks(low - room / 2, high + room / 2, 3)},
        x: bottom && hours});
      parts.push(kit.text(left, 12, about.name + (about.unit ? ` (${about.unit})` : ""), {"font-weight": 600}));
      const clip = kit.svg("svg", {x: left - 5, y: 14, width: right - left + 10, height: 92,
        viewBox: `${left - 5} 14 ${right - left + 10} 92`, style: "overflow:hidden"});
      const seen = now.seen[c] || [], stroke = (m, points) => kit.curve(points.map(([x, y]) => [across(x), up(y)]),
        m.colour, m.width, m.dash, {class: "pt-" + m.id});
      const straight = seen.length ? [[0, seen[0][1]], ...seen, [horizon, seen[seen.length - 1][1]]] : [[0, 0],
        [horizon, 0]];
      if (shown.mean) clip.append(stroke(models[2], [[0, about.mean], [horizon, about.mean]]));
      if (shown.linear) clip.append(stroke(models[1], straight.map(([m, v]) => [m, unit(v)])));
      if (shown.romae) clip.append(stroke(models[0], line));
      patient.channel.forEach((d, i) => {
        if (d !== c) return;
        const hidden = patient.rank[i] >= patient.shown[k];
        clip.append(kit.svg("circle", {cx: across(patient.minute[i]), cy: up(unit(patient.value[i])),
          r: hidden ? 2.7 : 3.3, "stroke-width": hidden ? 1.1 : 0,
          style: hidden ? "fill:none;stroke:currentColor;stroke-opacity:.62" : "fill:currentColor"}));
      });
      return kit.svg("svg",
        {class: "pt-panel", role: "img", "aria-label": `${about.name}: ${seen.length} of ${total} values seen`,
        viewBox: `0 0 ${width} ${height}`, height}, ...parts, clip);
    }));
  }

  // --- error against how much is seen --------------------------------------------------------------------------------
  const graph = kit.svg("svg", {}), handle = kit.svg("g", {});
  curve.append(graph);
  const showHandle = kit.handle(handle, {label: "How much is seen", min: 0, max: last, step: 1, page: 2, value: () => k,
    describe, to: observe});
  const zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  let place, up, base;
  const share = i => 1 - patients[p].errors[i].hidden / patients[p].minute.length;
  const nearest = x => patients[p].shown.reduce((best, _, i) =>
    Math.abs(place(share(i)) - x) < Math.abs(place(share(best)) - x) ? i : best, 0);
  for (const node of [zone, handle]) kit.drag(node, graph,
    {start: x => observe(nearest(x)), move: x => observe(nearest(x))});
  function drawGraph(w) {
    const height = 150, left = 40, right = w - 12, top = 22, all = patients[p].errors;
    base = height - 36;
    const high = Math.max(...all.flatMap(e => [e.romae, Math.min(e.linear, 4), Math.min(e.mean, 4)])) * 1.08;
    place = kit.linear([0, 1], [left, right]);
    up = kit.linear([0, high], [base, top]);
    kit.frame(graph, w, height);
    const parts = kit.axes({left, right, top, bottom: base}, {
      y: {scale: up, ticks: kit.ticks(0, high, 3), label: "MSE"},
      x: {scale: v => place(v / 100), ticks: [0, 25, 50, 75, 100], label: "per cent of the values seen"}});
    for (const m of [...models].reverse()) parts.push(kit.curve(all.map((e, i) => [place(share(i)),
      up(Math.min(e[m.id], high))]), m.colour, m.width, m.dash, {class: "pt-" + m.id}));
    kit.set(zone, {x: left - 8, y: top - 6, width: right - left + 16, height: base - top + 24});
    graph.replaceChildren(...parts, zone, handle);
    drawHandle();
  }
  function drawHandle() {
    if (!place) return;
    const errors = patients[p].errors[k], dots = models.slice(0, 2).map(m => [up(errors[m.id]), m.colour]);
    handle.replaceChildren(...kit.marker(place(share(k)), 18, base, dots));
    showHandle(k);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function update() {
    const patient = patients[p], now = patient.errors[k], total = patient.minute.length;
    for (const m of models) legend.write(m.id, digits(now[m.id]));
    patientButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === p));
    slider.set(k);
    draw();
    drawHandle();
    announce(`Patient ${p + 1}, ${describe(k)}. Mean squared error where hidden: `
      + `${models.map(m => `${m.name} ${digits(now[m.id])}`).join(", ")}.`);
    kit.state({patient: p + 1, level: k, seen: total - now.hidden, hidden: now.hidden,
      channels: patient.chosen.filter(c => open.has(c)).map(c => channels[c].name),
      shown: {...shown}, ...Object.fromEntries(models.map(m => ["mse_" + m.id, digits(now[m.id])]))});
  }
  function observe(i) {
    if (i === k) return;
    k = i;
    update();
  }
  function pick(i) {
    p = i;
    open = new Set(patients[p].chosen.slice(0, Math.max(1, open.size)));
    makeChips();
    if (place) drawGraph(graph.viewBox.baseVal.width);
    update();
  }
  function makeChips() {
    chips.replaceChildren(...patients[p].chosen.map(c => {
      const node = kit.button(channels[c].name, {class: "romae-button", "aria-pressed": open.has(c)}, () => {
        if (open.has(c) && open.size === 1) return;  // one channel is always open
        if (!open.delete(c)) open.add(c);
        node.setAttribute("aria-pressed", open.has(c));
        update();
      });
      return node;
    }));
  }
  makeChips();
  kit.sized(panels, w => { width = w; draw(); });
  kit.sized(curve, drawGraph);
  update();
}

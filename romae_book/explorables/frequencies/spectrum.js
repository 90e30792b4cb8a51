// One or two sines with half of their points hidden: truth, observations, RoMAE, harmonic regression, and the spectra.
function explorable(root, data, kit) {
  const F = data.frequencies, T = data.length, times = Array.from({length: T}, (_, i) => i / (T - 1));
  let {first, second, level, model} = data.start, two = false;
  const blue = "var(--romae-blue)", orange = "var(--romae-vermillion)", announce = kit.announcer(root);

  // --- numbers -------------------------------------------------------------------------------------------------------
  const frequencies = () => (two ? [F[first], F[second]] : [F[first]]).sort((a, b) => a - b);
  const truthAt = (sines, f, t) => f.reduce((sum, f, i) =>
    sum + sines[2 * i] * Math.sin(2 * Math.PI * f * t) + sines[2 * i + 1] * Math.cos(2 * Math.PI * f * t), 0);
  // Twice the modulus of the discrete Fourier transform over T, the mean and the last of an even T once: a sine of
  // amplitude A shows as a peak of about A.
  const amplitudes = x => Array.from({length: T / 2 + 1 | 0}, (_, k) => {
    let re = 0, im = 0;
    for (let i = 0; i < T; i++) {
      const a = 2 * Math.PI * (k * i % T) / T;
      re += x[i] * Math.cos(a);
      im += x[i] * Math.sin(a);
    }
    return (k && 2 * k < T ? 2 : 1) * Math.hypot(re, im) / T;
  });
  function compute() {
    const f = frequencies(), packed = data.cases[f.join("+")], hidden = new Set(packed.hidden);
    const truth = times.map(t => truthAt(packed.sines, f, t));
    let seen = 0;
    const noise = times.map((_, i) => hidden.has(i) ? 0 : data.levels[level] * packed.noise[seen++] / data.unit);
    const fill = errors => {
      const error = [...noise];
      packed.hidden.forEach((i, place) => { error[i] = errors[place] / data.unit; });
      const square = indices => indices.reduce((sum, i) => sum + error[i] ** 2, 0);
      const all = times.map((_, i) => i), values = truth.map((v, i) => v + error[i]);
      // Parseval: the mean over all bins of |difference / T|^2 is the mean square difference over T.
      return {values, mse: square(packed.hidden) / packed.hidden.length, fft: square(all) / T / T,
        spectrum: amplitudes(values)};
    };
    return {f, packed, hidden, truth, spectrum: amplitudes(truth), romae: fill(packed.romae[model][level]),
      oracle: fill(packed.harmonic[level]),
      zero: fill(packed.hidden.map(i => -truth[i] * data.unit))};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const buttons = data.scales.map((scale, i) => kit.button(`× ${scale}`,
    {class: "romae-button", "aria-label": `× ${scale}: trained at positions times ${scale}`},
    () => { model = i; update(); }));
  const noiseSlider = kit.slider({label: "Noise", min: 0, max: data.levels.length - 1, value: level,
    format: i => String(data.levels[i]), describe: i => `standard deviation ${data.levels[i]}`, change: i => {
      level = i;
      update();
    }});
  const pair = kit.button("second sine", {class: "romae-button", name: "two"}, () => { two = !two; update(); });
  const swatch = style => kit.svg("svg", {viewBox: "0 0 12 12", "aria-hidden": "true"},
    kit.svg("circle", {cx: 6, cy: 6, r: 4.2, style}));
  const row = (name, style) => {
    const mse = kit.el("td"), fft = kit.el("td");
    return {node: kit.el("tr", {},
      kit.el("td", {}, ...(style ? [swatch(style)]
      : [kit.el("span", {style: "display:inline-block;width:calc(11px + .55em)"})]), name), mse, fft), mse, fft};
  };
  const rows = {romae: row("RoMAE", `fill:${blue}`),
    oracle: row("harmonic regression", `fill:none;stroke:${orange};stroke-width:2`), zero: row("predicting zero")};
  const plot = kit.el("div"), spectra = kit.el("div");
  root.append(
    kit.el("div", {class: "sm-row"},
      kit.el("div", {class: "sm-scales", role: "group", "aria-label": "Position scale of the model"},
        kit.el("span", {}, "Positions"), ...buttons),
      pair, noiseSlider.node),
    plot,
    kit.el("table", {class: "sm-table"},
      kit.el("thead", {}, kit.el("tr", {}, kit.el("td"), kit.el("th", {}, "MSE, hidden"),
        kit.el("th", {}, "MSE, spectrum"))),
      kit.el("tbody", {}, rows.romae.node, rows.oracle.node, rows.zero.node)),
    spectra);

  // --- over time -----------------------------------------------------------------------------------------------------
  const main = kit.svg("svg", {role: "img"}), graph = kit.svg("svg", {});
  plot.append(main);
  let mainWidth = 0, graphWidth = 0, now = compute();

  function drawMain(width = mainWidth) {
    if (!(mainWidth = width)) return;
    const height = Math.round(kit.clamp(width * 0.5, 180, kit.height)), left = 26, right = width - 8, top = 8,
      bottom = height - 24;
    const reach = 1.06 * Math.max(1, ...now.truth.map(Math.abs), ...now.romae.values.map(Math.abs));
    const x = kit.linear([0, 1], [left, right]), y = kit.linear([-reach, reach], [bottom, top]),
      r = width < 480 ? 2.1 : 3.2;
    kit.frame(main, width, height);
    const fine = Array.from({length: 601}, (_, i) => i / 600);
    const second = {scale: x, ticks: [0, 0.25, 0.5, 0.75, 1], format: v => v === 1 ? "1 s" : v};
    const parts = kit.axes({left, right, bottom}, {y: {scale: y, ticks: y.ticks(4)}, x: second});
    parts.push(kit.curve(fine.map(t => [x(t), y(truthAt(now.packed.sines, now.f, t))]),
      "color-mix(in srgb,currentColor 45%,transparent)", 1.4, null, {class: "sm-truth"}));
    const sticks = now.packed.hidden.map(i =>
      `M${x(times[i]).toFixed(1)} ${y(now.truth[i]).toFixed(1)}V${y(now.romae.values[i]).toFixed(1)}`).join("");
    parts.push(kit.svg("path", {d: sticks, fill: "none", "stroke-width": 1.3, style: `stroke:${blue}`,
      "stroke-opacity": 0.45}));
    times.forEach((t, i) => {
      if (!now.hidden.has(i)) parts.push(kit.dot(x(t), y(now.romae.values[i]), r - 0.6, "currentColor",
        {class: "sm-seen"}));
    });
    for (const i of now.packed.hidden) parts.push(
      kit.dot(x(times[i]), y(now.romae.values[i]), r, blue, {class: "sm-romae"}),
      kit.svg("circle", {cx: x(times[i]), cy: y(now.oracle.values[i]), r: r - 0.4, "stroke-width": 1.3,
        style: `fill:none;stroke:${orange}`}));
    main.replaceChildren(...parts);
  }

  // --- over frequency ------------------------------------------------------------------------------------------------
  // the handles stay in place: a node that is moved drops the pointer
  const layer = kit.svg("g"), handles = [kit.svg("g"), kit.svg("g")];
  graph.append(layer, ...handles);
  spectra.append(graph);
  const bins = now.spectrum.length, hertz = k => k * (T - 1) / T;
  let across, floor, ceiling;
  const nearest = pixel => F.reduce((best, f, i) => Math.abs(across(f) - pixel) < Math.abs(across(F[best]) - pixel) ? i
    : best, 0);
  const choose = (which, i) => {
    if (which ? two && i === second : i === first) return;
    if (which) { second = i; two = true; } else first = i;
    update();
  };
  const shows = handles.map((node, which) => {
    kit.drag(node, graph, {start: x => choose(which, nearest(x)), move: x => choose(which, nearest(x))});
    return kit.handle(node, {label: which ? "Second sine" : "First sine", min: 0, max: F.length - 1, step: 1, page: 2,
      value: () => which ? second : first, describe: i => `${F[i]} Hz`, to: i => choose(which, i)});
  });
  function drawGraph(width = graphWidth) {
    if (!(graphWidth = width)) return;
    const height = Math.round(kit.clamp(width * 0.45, 200, 240)), left = 26, right = width - 8;
    floor = height - 44; ceiling = 44;
    const top = Math.max(1, ...now.spectrum, ...now.romae.spectrum, ...now.oracle.spectrum) * 1.04;
    across = kit.linear([0, hertz(bins - 1)], [left, right]);
    const y = kit.linear([0, top], [floor, ceiling]), bar = Math.max(2, (right - left) / bins * 0.55);
    kit.frame(graph, width, height);
    const parts = kit.axes({left, right, top: 22, bottom: floor}, {
      y: {scale: y, ticks: kit.ticks(0, top, 3), label: "amplitude"},
      x: {scale: across, ticks: [0, 10, 20, 30, 40], format: v => v === 40 ? "40 Hz" : v, drop: 32}});
    now.spectrum.forEach((v, k) => parts.push(kit.svg("rect", {x: across(hertz(k)) - bar / 2, y: y(v), width: bar,
      height: floor - y(v), style: "fill:currentColor", "fill-opacity": 0.24})));
    const line = (values, style, dash, wide) => kit.svg("path",
      {d: kit.path(values.map((v, k) => [across(hertz(k)), y(v)])), fill: "none", "stroke-width": wide,
      "stroke-dasharray": dash, "stroke-linejoin": "round", style});
    parts.push(line(now.romae.spectrum, `stroke:${blue}`, "", 2.2), line(now.oracle.spectrum, `stroke:${orange}`, "5 3",
      1.7));
    const same = two && first === second;
    handles.forEach((node, which) => {
      const x = across(F[which ? second : first]), shift = same ? (which ? 9 : -9) : 0;
      node.style.opacity = which && !two ? 0.3 : "";  // parked: to move it is to switch it on
      node.replaceChildren(
        kit.svg("rect", {x: x + shift - (same ? 9 : 14), y: ceiling - 14, width: same ? 18 : 28,
          height: floor - ceiling + 36, fill: "transparent"}),
        kit.rule(x, ceiling - 2, x, floor, 0.7, {"stroke-dasharray": "2 3"}),
        kit.svg("path", {d: `M${x + shift} ${floor + 3}l8 10q0 4 -4 4h-8q-4 0 -4 -4z`, style: "fill:currentColor"}),
        kit.text(x, ceiling - 8, which && (same || !two) ? "" : `${F[which ? second : first]} Hz`,
          {"text-anchor": "middle", style: "font-weight:600"}));
      shows[which](which ? second : first);
    });
    layer.replaceChildren(...parts);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  const decimal = v => v.toFixed(4), small = v => v.toExponential(1).replace("-", "−");
  function update() {
    now = compute();
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", i === model));
    pair.setAttribute("aria-pressed", two);
    noiseSlider.set(level);
    rows.romae.mse.textContent = decimal(now.romae.mse);
    rows.oracle.mse.textContent = decimal(now.oracle.mse);
    rows.zero.mse.textContent = decimal(now.zero.mse);
    rows.romae.fft.textContent = small(now.romae.fft);
    rows.oracle.fft.textContent = small(now.oracle.fft);
    rows.zero.fft.textContent = small(now.zero.fft);
    drawMain();
    drawGraph();
    const sines = now.f.map(f => `${f} Hz`).join(" and ");
    main.setAttribute("aria-label",
      `${sines}, ${T - now.packed.hidden.length} of ${T} points observed with noise ${data.levels[level]}; RoMAE `
      + `with positions times ${data.scales[model]} fills in the others.`);
    announce(`${sines}. Mean squared error at the hidden points: RoMAE ${decimal(now.romae.mse)}, harmonic `
      + `regression ${decimal(now.oracle.mse)}.`);
    kit.state({frequencies: now.f, noise: data.levels[level], scale: data.scales[model],
      mse_romae: decimal(now.romae.mse), mse_oracle: decimal(now.oracle.mse),
      mse_zero: decimal(now.zero.mse), fft_romae: now.romae.fft.toExponential(1),
        fft_oracle: now.oracle.fft.toExponential(1), fft_zero: now.zero.fft.toExponential(1)});
  }
  kit.sized(plot, drawMain);
  kit.sized(spectra, drawGraph);
  update();
}

// A tone is read at dots that the reader places. Which other tones pass through the same dots?
function explorable(root, data, kit) {
  const FEWEST = 4, MOST = 16, APART = 0.012, SHAKEN = 0.06, AUDIBLE = 80, TURN = 2 * Math.PI,
    announce = kit.announcer(root);
  const tried = Array.from({length: Math.round(data.highest / data.step)}, (_, i) => (i + 1) * data.step);
  const phases = Array.from({length: data.phases}, (_, i) => i / data.phases), cos = v => Math.cos(TURN * v),
    sin = v => Math.sin(TURN * v), random = kit.random(1);
  let {tone, times} = data, now = null, box = null, playing = "", audio = null, sounding = [];
  times = [...times];

  // --- which tones fit -----------------------------------------------------------------------------------------------
  // The best phase of a tone of height 1, and its root mean square distance from the dots: by sums over the dots, as
  // sin² is half of one less a cosine.
  function best(hertz, values) {
    const n = times.length, sum = of => times.reduce((s, t, k) => s + of(hertz * t, values[k]), 0);
    const a = sum((x, v) => v * cos(x)), b = sum((x, v) => v * sin(x)), c = sum(x => cos(2 * x)),
      s = sum(x => sin(2 * x)), all = values.reduce((sum, v) => sum + v * v, 0);
    let found = {hertz, miss: Infinity};
    for (const p of phases) {
      const square = all - 2 * (a * sin(p) + b * cos(p)) + (n - c * cos(2 * p) + s * sin(2 * p)) / 2;
      if (square < found.miss) found = {hertz, miss: square, phase: p};
    }
    return {...found, miss: Math.sqrt(Math.max(0, found.miss) / n)};
  }
  function compute() {
    const values = times.map(t => sin(tone * t + data.phase)), all = tried.map(hertz => best(hertz, values)), fits = [];
    let piece = null;  // neighbours that fit are one tone
    for (const one of all) {
      if (one.miss >= data.near) piece = null;
      else if (!piece) fits.push(piece = {...one});
      else if (one.miss < piece.miss || one.hertz === tone) Object.assign(piece, one);
      else if (piece.hertz !== tone) continue;
    }
    now = {values, all, fits};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const svg = kit.svg("svg", {class: "sb-drawing", role: "group", "aria-label": "A tone read at dots, and the tones "
    + "that pass through the same dots"}), said = kit.el("p", {class: "sb-said"});
  const slider = kit.slider({label: "Tone", min: 1, max: 24, value: tone, format: v => `${v} Hz`,
    change: v => { tone = v; update(true); }});
  const put = to => { times = to; compute(); if (box) frame(box.width); update(true); };
  const button = (words, click) => kit.button(words, {class: "romae-button"}, click);
  const even = n => Array.from({length: n}, (_, i) => (i + 0.5) / n);
  const spread = list => {  // in order, and no two at one place
    list.sort((a, b) => a - b);
    for (let k = 1; k < list.length; k++) list[k] = Math.max(list[k], list[k - 1] + APART);
    const over = Math.max(0, list.at(-1) - 1);
    return list.map(t => kit.clamp(t - over, 0, 1));
  };
  const more = button("One more", () => {  // in the widest gap
    const ends = [0, ...times, 1], gaps = ends.slice(1).map((t, i) => t - ends[i]), i = gaps.indexOf(Math.max(...gaps));
    put(spread([...times, (ends[i] + ends[i + 1]) / 2]));
  }), less = button("One less", () => put(times.slice(0, -1)));
  const hearTone = button("Hear the tone", () => hear("the tone", [tone])),
    hearAll = button("Hear all that fit", () => hear("all", now.fits.map(f => f.hertz)));
  root.append(svg, said, kit.el("div", {class: "romae-row"}, slider.node),
    kit.el("div", {class: "romae-row"}, button("Shake a little", () => put(spread(times.map(t => kit.clamp(
      t + (random() - 0.5) * SHAKEN / times.length, 0, 1))))), button("Even steps", () => put(even(times.length))),
      more, less, hearTone, hearAll));
  kit.keep("times", () => times.map(t => t.toFixed(3)).join("_"), text => {
    const given = text.split("_").map(kit.number);
    if (given.length < FEWEST || given.length > MOST) return;
    if (given.every((t, k) => t >= 0 && t <= 1 && (!k || t > given[k - 1]))) put(given);
  });
  function hear(name, hertz) {
    for (const one of sounding) one.stop();
    audio ??= new AudioContext();
    const gain = audio.createGain(), start = audio.currentTime + 0.03, end = start + 1.4;
    gain.connect(audio.destination);
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(0.25 / Math.sqrt(hertz.length || 1), start + 0.05);
    gain.gain.setTargetAtTime(0, end - 0.3, 0.08);
    sounding = hertz.map(f => {
      const one = new OscillatorNode(audio, {frequency: AUDIBLE * f});
      one.connect(gain);
      one.start(start);
      one.stop(end);
      return one;
    });
    playing = name;
    const mine = sounding;
    if (mine.length) mine[0].onended = () => { if (mine === sounding) { playing = ""; tell(); } };
    tell();
  }

  // --- drawing -------------------------------------------------------------------------------------------------------
  const lowest = k => k ? times[k - 1] + APART : 0, highest = k => k < times.length - 1 ? times[k + 1] - APART : 1;
  const dots = Array.from({length: MOST}, (_, k) => {
    const node = kit.svg("g", {}, kit.svg("circle", {r: 14, fill: "transparent"}), kit.svg("circle", {r: 6,
      class: "sb-dot"}));
    const move = t => { times[k] = kit.clamp(t, lowest(k), highest(k)); update(true); };
    let from = 0;
    kit.drag(node, svg, {start: x => { from = box.x(times[k]) - x; }, move: x => move(box.x.invert(x + from))});
    const show = kit.handle(node, {label: `Dot ${k + 1}`, name: "", min: () => lowest(k), max: () => highest(k),
      step: 0.01, page: 0.05, value: () => times[k], to: move, describe: t => `at ${t.toFixed(2)} seconds`});
    return {node, show};
  });
  const under = kit.svg("g"), upper = kit.svg("g");
  function frame(width) {
    const phone = width < 560, top = 8, bottom = top + (phone ? 110 : kit.height), low = bottom + 56, end = low + 90;
    box = {width, top, bottom, low, end, x: kit.linear([0, 1], [12, width - 12]), f: kit.linear([0, data.highest], [34,
      width - 10]), y: kit.linear([1.3, -1.3], [top, bottom]), m: kit.linear([0, 0.9], [end, low])};
    kit.frame(svg, width, end + 36);
    svg.replaceChildren(under, upper, ...dots.slice(0, times.length).map(dot => dot.node));
    draw();
  }
  function draw() {
    if (!box || !now) return;
    const {x, y, f, m, width, top, bottom, low, end} = box, steps = Array.from({length: 481}, (_, i) => i / 480);
    const wave = (hertz, phase) => steps.map(t => [x(t), y(sin(hertz * t + phase))]), half = times.length / 2;
    const ghost = "var(--romae-purple)", others = now.fits.filter(one => one.hertz !== tone);
    under.replaceChildren(
      kit.svg("rect", {class: "sb-ground", y: top, width, height: bottom - top, rx: 8}),
      ...others.map(one => kit.curve(wave(one.hertz, one.phase), ghost, 1.2, null, {opacity: 0.55})),
      kit.curve(wave(tone, data.phase), "currentColor", 2.4),
      kit.text(x(0), bottom + 16, "0"), kit.text(x(1), bottom + 16, "1 second", {"text-anchor": "end"}),
      kit.svg("rect", {class: "sb-near", x: f(0), y: m(data.near), width: f(data.highest) - f(0),
        height: end - m(data.near)}),
      ...kit.axes({left: f(0), right: f(data.highest), top: low, bottom: end}, {
        x: {scale: f, ticks: [0, 12, 24, 36, 48], label: "frequency of a tone, hertz", line: true},
        y: {scale: m, ticks: [0, 0.4, 0.8], label: "misses the dots by"}}),
      kit.curve([[f(half), low], [f(half), end]], "currentColor", 1.2, "4 4"));
    upper.replaceChildren(
      kit.curve(now.all.map(one => [f(one.hertz), m(Math.min(0.9, one.miss))]), "currentColor", 1.3),
      ...now.fits.map(one => kit.dot(f(one.hertz), m(one.miss), 4.2, one.hertz === tone ? "currentColor" : ghost)));
    times.forEach((t, k) => {
      kit.set(dots[k].node, {transform: `translate(${x(t)} ${y(now.values[k])})`});
      dots[k].show(+t.toFixed(3));
    });
  }
  function tell() {
    kit.state({tone, times: times.map(t => +t.toFixed(6)), playing, said: said.textContent,
      fits: now.fits.map(one => one.hertz), miss: now.all.map(one => +one.miss.toFixed(4))});
  }
  function update(speak) {
    compute();
    const found = now.fits.map(one => +one.hertz.toFixed(2)), n = found.length;
    said.textContent = n === 1 ? `One tone passes through these ${times.length} dots, the one that was read.`
      : `${n} tones pass through these ${times.length} dots: ${found.slice(0, 12).join(", ")}${n > 12 ? " …" : ""} Hz.`;
    more.disabled = times.length === MOST;
    less.disabled = times.length === FEWEST;
    draw();
    tell();
    if (speak) announce(said.textContent);
  }
  update(false);
  kit.sized(svg, frame);
}

// A sound as a picture of its energy: hide a stretch of time or a band of pitch, see and hear what RoMAE puts there.
function explorable(root, data, kit) {
  const model = romae.load(data.model), side = data.patch, columns = data.time.length, rows = data.pitch.length;
  const SILENT = -99;  // of what is hidden: below every energy
  const PALE = -0.7, DARK = 2.6;  // energies that are drawn as nothing, and as full ink
  const T = columns * side, F = rows * side, [low, high] = data.range, announce = kit.announcer(root);
  const sounds = data.sounds.map(({label, energy}) =>
    ({label, energy: Float64Array.from(atob(energy), c => low + (high - low) * c.charCodeAt(0) / 255)}));
  const positions = data.time.flatMap(t => data.pitch.map(p => [t, p]));
  const limit = {time: columns, pitch: rows};
  let k = data.first, axis = "time", [begin, end] = data.span, shown = null, mse, reference;

  // --- what is hidden, and what comes back ---------------------------------------------------------------------------
  const gone = (t, f) => { const at = Math.floor((axis === "time" ? t : f) / side); return at >= begin && at < end; };
  const token = i => {  // the numbers of patch i, frame by frame
    const t0 = Math.floor(i / rows) * side, f0 = i % rows * side, out = [];
    for (let t = 0; t < side; t++) for (let f = 0; f < side; f++) out.push(sounds[k].energy[(t0 + t) * F + f0 + f]);
    return out;
  };
  function solve() {
    const truth = sounds[k].energy, hidden = new Set(positions.map((_, i) => i).filter(i => {
      const at = axis === "time" ? Math.floor(i / rows) : i % rows;
      return at >= begin && at < end;
    }));
    const found = romae.predict(model, positions.map((_, i) => token(i)), positions, hidden), back = truth.slice();
    for (const [i, values] of Object.entries(found)) {
      const t0 = Math.floor(i / rows) * side, f0 = i % rows * side;
      values.forEach((v, j) => { back[(t0 + Math.floor(j / side)) * F + f0 + j % side] = v; });
    }
    const across = axis === "time" ? F : T, sums = new Float64Array(across);
    const seen = (limit[axis] - (end - begin)) * side;
    let error = 0, rest = 0, count = 0;
    for (let t = 0; t < T; t++) for (let f = 0; f < F;
      f++) if (!gone(t, f)) sums[axis === "time" ? f : t] += truth[t * F + f];
    for (let t = 0; t < T; t++) for (let f = 0; f < F; f++) if (gone(t, f)) {
      error += (back[t * F + f] - truth[t * F + f]) ** 2;
      rest += (sums[axis === "time" ? f : t] / seen - truth[t * F + f]) ** 2;
      count++;
    }
    const silent = truth.slice();
    for (let t = 0; t < T; t++) for (let f = 0; f < F; f++) if (gone(t, f)) silent[t * F + f] = SILENT;
    [mse, reference] = [error / count, rest / count];
    shown = {hidden: silent, filled: back, whole: truth};
  }

  // --- what is heard -------------------------------------------------------------------------------------------------
  // A sine in every band, its pitch off at random within the band from frame to frame, so that noise is no chord; as
  // loud as the band. The same seed every time: what differs between the players is the picture.
  function waveform(energy) {
    const step = data.rate * data.hop, out = new Float32Array(Math.round(T * step)), random = kit.random(7),
      [mean, deviation] = data.level;
    for (let f = 0; f < F; f++) {
      const turn = 2 * Math.PI * data.hz[f] / data.rate,
        width = 2 * Math.PI * (data.hz[Math.min(f + 1, F - 1)] - data.hz[Math.max(f - 1, 0)]) / data.rate / 2;
      let phase = 2 * Math.PI * random(), drift = 0, loud = 0;
      for (let t = 0; t < T; t++) {
        const e = energy[t * F + f], goal = e < -0.4 ? 0 : Math.exp((mean + deviation * Math.min(e, 4)) / 2) / 60;
        drift = width * (random() - 0.5);
        if (!loud && !goal) { phase += (turn + drift) * step; continue; }
        for (let i = 0, at = Math.round(t * step); i < step && at < out.length; i++, at++) {
          phase += turn + drift;
          out[at] += (loud + (goal - loud) * i / step) * Math.sin(phase);
        }
        loud = goal;
      }
    }
    return out;
  }
  let audio = null, playing = null;
  function play(name) {
    const wave = waveform(shown[name]), top = waveform(shown.whole).reduce((a, v) => Math.max(a, Math.abs(v)), 1e-6);
    audio ??= new (window.AudioContext || window.webkitAudioContext)();
    audio.resume();
    stop();
    const buffer = audio.createBuffer(1, wave.length, data.rate);
    // all three on the scale of the original
    buffer.copyToChannel(wave.map(v => kit.clamp(0.5 * v / top, -0.9, 0.9)), 0);
    const source = audio.createBufferSource();
    source.buffer = buffer;
    source.connect(audio.destination);
    source.onended = () => { if (playing?.source === source) { playing = null; report(); } };
    source.start();
    playing = {source, name};
    report();
  }
  function stop() { if (playing) { const {source} = playing; playing = null; source.onended = null; source.stop(); } }

  // --- controls ------------------------------------------------------------------------------------------------------
  const views = [["hidden", "what is left"], ["filled", "filled in by RoMAE"],
    ["whole", "as it was"]].map(([name, title]) => {
    const canvas = kit.el("canvas",
      {width: T, height: F, role: "img", "aria-label": `${title}: time to the right, pitch upwards`});
    const button = kit.button("▶ listen", {class: "romae-button", "data-play": name,
      "aria-label": `Listen to ${title}`}, () => play(name));
    const hole = kit.el("div", {class: "so-hole"});
    return {name, canvas, hole, button, node: kit.el("div", {}, kit.el("p", {class: "romae-faint"}, title),
      kit.el("div", {class: "so-frame"}, canvas, hole), button)};
  });
  const choice = kit.select({label: "Sound", options: sounds.map(({label}, i) => [i, label]), value: k, change: v => {
    k = +v;
    update();
  }});
  const what = kit.select({label: "Hide", options: [["time", "a stretch of time"], ["pitch", "a band of pitch"]],
    value: axis, change: v => {
    axis = v;
    [begin, end] = v === "time" ? data.span : [3, 5];
    edges();
    update();
  }});
  const at = (v, sign) => axis === "time" ? `${(v * side * data.hop).toFixed(2)} s`
    : `${Math.round(data.hz[kit.clamp(v * side + (sign < 0 ? -1 : 0), 0, F - 1)])} Hz`;
  const from = kit.slider({label: "From", min: 0, max: columns - 1, value: begin, format: v => at(v, 1), change: v => {
    begin = v;
    settle("from");
  }});
  const to = kit.slider({label: "To", min: 1, max: columns, value: end, format: v => at(v, -1), change: v => {
    end = v;
    settle("to");
  }});
  function settle(moved) {  // one patch at least is hidden, and one is left
    if (end <= begin) moved === "from" ? end = begin + 1 : begin = end - 1;
    if (end - begin === limit[axis]) moved === "from" ? end-- : begin++;
    edges();
    update();
  }
  function edges() {
    kit.set(from.input, {max: limit[axis] - 1});
    kit.set(to.input, {max: limit[axis]});
    from.set(begin);
    to.set(end);
  }
  const facts = kit.el("p", {class: "so-facts"});
  root.append(kit.el("div", {class: "romae-row"}, choice.node, what.node),
    kit.el("div", {class: "romae-row"}, from.node, to.node),
    kit.el("div", {class: "so-panels"}, ...views.map(v => v.node)), facts);

  // --- pictures ------------------------------------------------------------------------------------------------------
  function paint() {
    const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    pixel.fillStyle = getComputedStyle(root).color;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b] = pixel.getImageData(0, 0, 1, 1).data, share = v => `${100 * v / limit[axis]}%`;
    for (const {name, canvas, hole} of views) {
      const context = canvas.getContext("2d"), image = context.createImageData(T, F), energy = shown[name];
      for (let t = 0; t < T; t++) for (let f = 0; f < F; f++) {
        const j = 4 * ((F - 1 - f) * T + t);
        image.data.set([r, g, b, 255 * kit.clamp((energy[t * F + f] - PALE) / (DARK - PALE), 0, 1)], j);
      }
      context.putImageData(image, 0, 0);
      hole.className = `so-hole so-${axis}`;
      hole.style.cssText = axis === "time" ? `left:${share(begin)};width:${share(end - begin)}`
        : `bottom:${share(begin)};height:${share(end - begin)}`;
    }
  }
  new MutationObserver(paint).observe(root.closest(".romae-explorable"),
    {attributes: true, attributeFilter: ["data-scheme"]});

  function report() {
    kit.state({sound: sounds[k].label, axis, begin, end, mse: mse.toFixed(4), reference: reference.toFixed(4),
      playing: playing ? playing.name : ""});
  }
  function update() {
    stop();
    solve();
    paint();
    const part = `${at(begin, 1)} to ${at(end, -1)}`;
    const others = axis === "time" ? "each band's mean over the rest of the time" : "each moment's mean over the other bands";
    facts.textContent = `Hidden: ${part}. Mean squared error there, in squared standard deviations of the logarithm of `
      + `the energy: RoMAE ${mse.toFixed(3)}, ${others} ${reference.toFixed(3)}.`;
    announce(`${sounds[k].label}, hidden ${part}. Error ${mse.toFixed(3)}.`);
    report();
  }
  update();
}

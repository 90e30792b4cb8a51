// A noisy clip, frame by frame: what the camera saw, the needles of truth and predictions, and the angle against time.
function explorable(root, data, kit) {
  const {clips, models, size, steps, scale, centre, length} = data, degree = 180 / Math.PI, last = steps - 1;
  const wrap = v => ((v + Math.PI) % (2 * Math.PI) + 2 * Math.PI) % (2 * Math.PI) - Math.PI;
  const worlds = data.worlds;
  for (const clip of clips) {
    clip.pixels = Uint8Array.from(atob(clip.frames), c => c.charCodeAt(0));
    // What is said in each world: which of the kept frames are there, where they are found, and by how much each is
    // missed.
    clip.views = clip.answers.map(answers => {
      const kept = clip.numbers.map((_, s) => s).filter(s => answers[0][s]), slot = Array(steps).fill(-1);
      const missed = ([sine, cosine], s) => {
        const angle = clip.angles[clip.numbers[s]] / scale;
        return {square: (sine / scale - Math.sin(angle)) ** 2 + (cosine / scale - Math.cos(angle)) ** 2,
          off: wrap(Math.atan2(sine, cosine) - angle)};
      };
      kept.forEach(s => { slot[clip.numbers[s]] = s; });
      const all = answers.map(guess => guess.map((one, s) => one && missed(one, s)));
      return {kept, slot, off: all.map(list => list.map(one => one && one.off)),
        mse: all.map(list => kept.reduce((sum, s) => sum + list[s].square, 0) / (2 * kept.length))};
    });
  }
  let c = 0, frame = clips[0].numbers[data.start], timer = null, w = 0;
  const shown = {truth: true}, view = () => clips[c].views[w];
  models.forEach((_, i) => { shown[i] = !i || (worlds.length > 1 && i < models.length - 1); });
  const announce = kit.announcer(root),
    off = v => `${((v * degree).toFixed(1)).replace(/^-0\.0$/, "0.0").replace("-", "−")}°`;
  const thousandths = v => (1000 * v).toFixed(3);
  const describe = f => {
    const s = view().slot[f];
    return `frame ${f}: ` + (s < 0 ? "not seen" : `${clips[c].share[s]} % of the picture left`);
  };

  // --- controls ------------------------------------------------------------------------------------------------------
  const play = kit.playButton(() => timer ? stop() : start());
  const clipButtons = clips.map((_, i) => kit.button(`Clip ${i + 1}`, {class: "romae-button"}, () => {
    c = i;
    drawCurve();
    update();
  }));
  const worldButtons = worlds.map(({name}, i) => kit.button(name, {class: "romae-button"}, () => {
    w = i;
    drawCurve();
    update();
  }));
  const happens = kit.el("p", {class: "pd-happens"});
  const canvas = kit.el("canvas", {width: size, height: size}),
    needles = kit.svg("svg", {viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true"});
  const camera = kit.el("div", {class: "pd-camera", role: "img"}, canvas, needles),
    what = kit.el("p", {class: "pd-what", "aria-hidden": "true"});
  const curve = kit.el("div"), graph = kit.svg("svg", {}), marker = kit.svg("g", {});
  curve.append(graph);
  const slider = kit.slider({label: "Frame", min: 0, max: last, value: frame, describe, change: f => {
    stop();
    go(f);
  }});
  const lines = [{id: "truth", name: "the truth", colour: "currentColor", width: 2.4},
    ...models.map((m, i) => ({...m, id: i, colour: `var(--romae-${m.colour})`, width: 2.4}))];
  const legend = kit.legend({rows: lines, shown, head: ["show", "off by", "MSE × 1000"], change: () => {
    drawCurve();
    update();
  }});
  root.append(
    kit.el("div", {class: "pd-top"}, play.node, kit.el("div", {role: "group", "aria-label": "Clip"}, ...clipButtons)),
    ...worlds.length > 1 ? [kit.el("div", {class: "pd-top"},
      kit.el("div", {role: "group", "aria-label": "The frames are"},
      kit.el("span", {class: "romae-faint", style: "align-self:center"}, "the frames "), ...worldButtons)),
      happens] : [],
    kit.el("div", {class: "pd-main"}, kit.el("div", {}, camera, what),
      kit.el("div", {}, curve, kit.el("div", {class: "romae-row"}, slider.node))),
    legend.node);

  // --- the camera ----------------------------------------------------------------------------------------------------
  const paint = canvas.getContext("2d", {willReadFrequently: true}), picture = paint.createImageData(size, size);
  const needle = (angle, colour, dash, wide) => {
    const [x, y] = [centre + 1.06 * length * Math.sin(angle), centre + 1.06 * length * Math.cos(angle)];
    const line = style => kit.svg("line", {x1: centre, y1: centre, x2: x, y2: y, "stroke-linecap": "round", ...style});
    return [line({stroke: "#000", "stroke-opacity": 0.55, "stroke-width": wide + 0.28}),
      line({style: `stroke:${colour}`, "stroke-width": wide, "stroke-dasharray": dash})];
  };
  // On the black picture the colours of the dark scheme are the legible ones, whatever the page's scheme.
  const bright = {blue: "#56b4e9", purple: "#e79cc5", vermillion: "#ff8c42"};
  function look() {
    const clip = clips[c], s = view().slot[frame], true_ = clip.angles[frame] / scale;
    for (let i = 0; i < size * size; i++) {
      const stripe = (i % size + Math.floor(i / size)) % 6 < 3 ? 104 : 116;
      picture.data.set(s < 0 ? [stripe, stripe, stripe, 255] : [...Array(3).fill(clip.pixels[s * size * size + i]),
        255], 4 * i);
    }
    paint.putImageData(picture, 0, 0);
    const lines = [];
    if (shown.truth) lines.push(...needle(true_, "#fff", "", 0.34));
    if (s >= 0) models.forEach((m, i) => {
      if (shown[i]) lines.push(...needle(true_ + view().off[i][s], bright[m.colour],
        m.dash && m.dash.split(" ").map(v => v * 0.17).join(" "), 0.42));
    });
    needles.replaceChildren(...lines);
    camera.setAttribute("aria-label", describe(frame));
    what.textContent = describe(frame);
  }
  let from = 0;
  kit.drag(camera, camera, {start: x => {
    stop();
    from = frame - x / 4;
  }, move: x => go(Math.round(kit.clamp(from + x / 4, 0, last)))});

  // --- the angle against time ----------------------------------------------------------------------------------------
  let width = 0, across = null, base = 0;
  const showMarker = kit.handle(marker, {label: "Frame", min: 0, max: last, step: 1, page: 10, value: () => frame,
    describe, to: f => { stop(); go(f); }});
  const zone = kit.svg("rect", {fill: "transparent", style: "cursor:pointer"});
  for (const node of [zone, marker]) kit.drag(node, graph, {start: x => { stop(); reach(x); }, move: reach});
  function reach(x) { go(Math.round(kit.clamp(across.invert(x), 0, last))); }
  function drawCurve() {
    if (!width) return;
    const clip = clips[c], left = 44, right = width - 12, height = 268, top = 24, bars = 34;
    base = height - 40;
    across = kit.linear([0, last], [left, right]);
    const angle = (f, i) => (clip.angles[f] / scale + (i === undefined ? 0 : view().off[i][view().slot[f]])) * degree;
    const all = clip.angles.map((_, f) => angle(f));
    const middle = (Math.max(...all) + Math.min(...all)) / 2,
      half = Math.max(30, (Math.max(...all) - Math.min(...all)) / 2 * 1.25);
    const up = kit.linear([middle - half, middle + half], [base - bars - 8, top]);
    kit.frame(graph, width, height, {role: "group", "aria-label": "Angle against time"});
    const step = [10, 15, 30, 45, 90, 180, 360].find(v => 2 * half / v <= 5) || 360,
      first = Math.ceil((middle - half) / step);
    const ticks = Array.from({length: Math.floor((middle + half) / step) - first + 1}, (_, i) => (first + i) * step);
    const parts = kit.axes({left, right, top, bottom: base}, {
      y: {scale: up, ticks, label: "angle, degrees"},
      x: {scale: across, ticks: [0, 25, 50, 75, 99], line: true, label: "frame; bars: how much the noise leaves"}});
    view().kept.map(s => [clip.numbers[s], s]).forEach(([f, s]) => parts.push(kit.svg("rect",
      {x: across(f) - 1.6, width: 3.2, y: base - Math.max(1.2, bars * clip.share[s] / 100),
      height: Math.max(1.2, bars * clip.share[s] / 100),
      style: "fill:currentColor", "fill-opacity": 0.42})));
    const clipped = kit.svg("svg", {x: left, y: top - 4, width: right - left, height: base - bars - top,
      viewBox: `${left} ${top - 4} ${right - left} ${base - bars - top}`, style: "overflow:hidden"});
    if (shown.truth) clipped.append(kit.curve(all.map((v, f) => [across(f), up(v)]), "currentColor", 1.8, null,
      {class: "pd-truth"}));
    models.forEach((m, i) => {
      if (!shown[i]) return;
      const points = view().kept.map(s => clip.numbers[s]).map(f => [across(f), up(angle(f, i))]);
      clipped.append(kit.curve(points, `var(--romae-${m.colour})`, 1.9, m.dash, {class: `pd-model-${i}`}));
      if (!i) clipped.append(...points.map(([x, y]) => kit.dot(x, y, 2.2, `var(--romae-${m.colour})`)));
    });
    kit.set(zone, {x: left - 8, y: top - 6, width: right - left + 16, height: base - top + 24});
    graph.replaceChildren(...parts, clipped, zone, marker);
    drawMarker();
  }
  function drawMarker() {
    if (!across) return;
    marker.replaceChildren(...kit.marker(across(frame), 18, base));
    showMarker(frame);
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function start() {
    if (frame === last) frame = 0;
    timer = setInterval(() => frame < last ? go(frame + 1) : stop(), 90);
    update();
  }
  function stop() {
    if (!timer) return;
    clearInterval(timer);
    timer = null;
    update();
  }
  function go(f) {
    if (f === frame) return;
    frame = f;
    update();
  }
  function update() {
    const clip = clips[c], {slot, off: missed, mse} = view(), s = slot[frame];
    look();
    drawMarker();
    slider.set(frame);
    play.show(timer);
    clipButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === c));
    worldButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === w));
    const whole = models.map(({name, mse: means}) => means[w] === null ? "" : `${name} ${means[w].toFixed(1)}`).filter(
      Boolean);
    happens.textContent = worlds[w].says + (whole.length ? ` Over all test clips (MSE × 1000): ${whole.join("; ")}.`
      : "");
    models.forEach((_, i) => legend.write(i, s < 0 ? "–" : off(missed[i][s]), thousandths(mse[i])));
    if (!timer) announce(`Clip ${c + 1}, ${describe(frame)}. `
      + (s < 0 ? "" : models.map((m, i) => `${m.name} off by ${off(missed[i][s])}`).join(", ")));
    kit.state({clip: c + 1, frame, seen: s >= 0, share: s < 0 ? null : clip.share[s], playing: !!timer,
      truth: shown.truth, shown: models.map((_, i) => shown[i]),
      degrees: +(clip.angles[frame] / scale * degree).toFixed(1),
        off: models.map((_, i) => s < 0 ? null : +(missed[i][s] * degree).toFixed(1)), mse: mse.map(thousandths),
        world: worlds[w].name});
  }
  kit.sized(curve, w => { width = w; drawCurve(); });
  update();
}

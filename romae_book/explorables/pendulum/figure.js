// A noisy clip, frame by frame: what the camera saw, the needles of truth and predictions, and the angle against time.
function explorable(root, data, kit) {
  const {clips, models, size, steps, scale, centre, length} = data, degree = 180 / Math.PI, last = steps - 1;
  const wrap = v => ((v + Math.PI) % (2 * Math.PI) + 2 * Math.PI) % (2 * Math.PI) - Math.PI;
  const worlds = data.worlds;
  for (const clip of clips) {
    clip.pixels = Uint8Array.from(atob(clip.frames), c => c.charCodeAt(0));
    // What is said in each world: which of the kept frames are there, where they are found, and by how much each is missed.
    clip.views = clip.answers.map(answers => {
      const kept = clip.numbers.map((_, s) => s).filter(s => answers[0][s]), slot = Array(steps).fill(-1);
      const missed = ([sine, cosine], s) => {
        const angle = clip.angles[clip.numbers[s]] / scale;
        return {square: (sine / scale - Math.sin(angle)) ** 2 + (cosine / scale - Math.cos(angle)) ** 2, off: wrap(Math.atan2(sine, cosine) - angle)};
      };
      kept.forEach(s => { slot[clip.numbers[s]] = s; });
      const all = answers.map(guess => guess.map((one, s) => one && missed(one, s)));
      return {kept, slot, off: all.map(list => list.map(one => one && one.off)), mse: all.map(list => kept.reduce((sum, s) => sum + list[s].square, 0) / (2 * kept.length))};
    });
  }
  let c = 0, frame = clips[0].numbers[data.start], timer = null, w = 0;
  const shown = models.map((_, i) => !i || (worlds.length > 1 && i < models.length - 1)), view = () => clips[c].views[w];
  let truth = true;
  const announce = kit.announcer(root), off = v => `${((v * degree).toFixed(1)).replace(/^-0\.0$/, "0.0").replace("-", "−")}°`;
  const thousandths = v => (1000 * v).toFixed(3);
  const describe = f => {
    const s = view().slot[f];
    return `frame ${f}: ` + (s < 0 ? "not seen" : `${clips[c].share[s]} % of the picture left`);
  };

  // --- controls ------------------------------------------------------------------------------------------------------
  root.append(kit.el("style", {}, `
    .romae-explorable .pd-top{display:flex;flex-wrap:wrap;gap:.35rem .9rem;align-items:center;margin:0 0 .5rem}
    .romae-explorable .pd-top>div{display:flex;flex-wrap:wrap;gap:.3rem}
    .romae-explorable .pd-main{display:grid;gap:.5rem 1.4rem;grid-template-columns:minmax(0,1fr);align-items:start}
    @container (min-width:600px){.romae-explorable .pd-main{grid-template-columns:15.5rem minmax(0,1fr)}}
    .romae-explorable .pd-camera{position:relative;width:min(100%,15.5rem);aspect-ratio:1;margin:0 auto;cursor:ew-resize}
    .romae-explorable .pd-camera canvas{width:100%;height:100%;display:block;border-radius:6px;image-rendering:pixelated}
    .romae-explorable .pd-camera svg{position:absolute;inset:0;height:100%;pointer-events:none}
    .romae-explorable .pd-what{text-align:center;font-size:.86em;margin:.3rem 0 0;min-height:1.4em;font-variant-numeric:tabular-nums}
    .romae-explorable .pd-head{display:flex;gap:.5rem;font-size:.84em;padding:0}
    .romae-explorable .pd-head span:first-child{flex:1}
    .romae-explorable .pd-head span,.romae-explorable .pd-legend b{width:6.2em;text-align:right}
    .romae-explorable .pd-head span:first-child{text-align:left}
    .romae-explorable .pd-happens{font-size:.88em;margin:0 0 .6rem;min-height:2.9em;font-variant-numeric:tabular-nums}
    .romae-explorable .pd-legend{margin-top:.5rem}
    .romae-explorable .pd-legend>button{display:flex;align-items:center;gap:.5em;width:calc(100% + 1em);min-height:32px;padding:.15em .5em;margin:0 -.5em;border-color:transparent;text-align:left;font-size:.93em}
    .romae-explorable .pd-legend>button svg{width:28px;height:10px;flex:none}
    .romae-explorable .pd-legend>button span{flex:1}
    .romae-explorable .pd-legend b{font-weight:600;font-variant-numeric:tabular-nums}
    .romae-explorable .pd-legend>button[aria-pressed=false]>:not(svg){opacity:.74}
    .romae-explorable .pd-legend>button[aria-pressed=false] svg{opacity:.25}`));
  const icon = d => kit.svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"}, kit.svg("path", {d}));
  const play = kit.button("", {class: "romae-button"}, () => timer ? stop() : start());
  const clipButtons = clips.map((_, i) => kit.button(`Clip ${i + 1}`, {class: "romae-button"}, () => { c = i; drawCurve(); update(); }));
  const worldButtons = worlds.map(({name}, i) => kit.button(name, {class: "romae-button"}, () => { w = i; drawCurve(); update(); }));
  const happens = kit.el("p", {class: "pd-happens"});
  const canvas = kit.el("canvas", {width: size, height: size}), needles = kit.svg("svg", {viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true"});
  const camera = kit.el("div", {class: "pd-camera", role: "img"}, canvas, needles), what = kit.el("p", {class: "pd-what", "aria-hidden": "true"});
  const curve = kit.el("div"), graph = kit.svg("svg", {}), marker = kit.svg("g", {});
  curve.append(graph);
  const slider = kit.slider({label: "Frame", min: 0, max: last, value: frame, describe, change: f => { stop(); go(f); }});
  const sample = (colour, dash) => kit.svg("svg", {viewBox: "0 0 28 10", "aria-hidden": "true"},
    kit.svg("line", {x1: 1, x2: 27, y1: 5, y2: 5, "stroke-width": 2.4, "stroke-dasharray": dash, style: `stroke:${colour}`}));
  const row = (name, colour, dash, on, flip) => {
    const now = kit.el("b"), mse = kit.el("b"), node = kit.button([sample(colour, dash), kit.el("span", {}, name), now, mse], {"aria-pressed": on}, () => {
      node.setAttribute("aria-pressed", flip());
      drawCurve();
      update();
    });
    return {node, now, mse};
  };
  const truthRow = row("the truth", "currentColor", "", truth, () => truth = !truth);
  const rows = models.map((m, i) => row(m.name, `var(--romae-${m.colour})`, m.dash, shown[i], () => shown[i] = !shown[i]));
  root.append(
    kit.el("div", {class: "pd-top"}, play, kit.el("div", {role: "group", "aria-label": "Clip"}, ...clipButtons)),
    ...worlds.length > 1 ? [kit.el("div", {class: "pd-top"}, kit.el("div", {role: "group", "aria-label": "The frames are"}, kit.el("span", {class: "romae-faint", style: "align-self:center"}, "the frames "), ...worldButtons)), happens] : [],
    kit.el("div", {class: "pd-main"}, kit.el("div", {}, camera, what), kit.el("div", {}, curve, kit.el("div", {class: "romae-row"}, slider.node))),
    kit.el("div", {class: "pd-legend"},
      kit.el("div", {class: "pd-head romae-faint"}, kit.el("span", {}, "show"), kit.el("span", {}, "off by"), kit.el("span", {}, "MSE × 1000")),
      truthRow.node, ...rows.map(r => r.node)));

  // --- the camera --------------------------------------------------------------------------------------------------------
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
      picture.data.set(s < 0 ? [stripe, stripe, stripe, 255] : [...Array(3).fill(clip.pixels[s * size * size + i]), 255], 4 * i);
    }
    paint.putImageData(picture, 0, 0);
    const lines = [];
    if (truth) lines.push(...needle(true_, "#fff", "", 0.34));
    if (s >= 0) models.forEach((m, i) => { if (shown[i]) lines.push(...needle(true_ + view().off[i][s], bright[m.colour], m.dash && m.dash.split(" ").map(v => v * 0.17).join(" "), 0.42)); });
    needles.replaceChildren(...lines);
    camera.setAttribute("aria-label", describe(frame));
    what.textContent = describe(frame);
  }
  let from = 0;
  kit.drag(camera, camera, {start: x => { stop(); from = frame - x / 4; }, move: x => go(Math.round(kit.clamp(from + x / 4, 0, last)))});

  // --- the angle against time ----------------------------------------------------------------------------------------------
  let width = 0, across = null, base = 0;
  const showMarker = kit.handle(marker, {label: "Frame", min: 0, max: last, step: 1, page: 10, value: () => frame, describe, to: f => { stop(); go(f); }});
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
    const middle = (Math.max(...all) + Math.min(...all)) / 2, half = Math.max(30, (Math.max(...all) - Math.min(...all)) / 2 * 1.25);
    const up = kit.linear([middle - half, middle + half], [base - bars - 8, top]);
    kit.set(graph, {viewBox: `0 0 ${width} ${height}`, height, role: "group", "aria-label": "Angle against time"});
    const parts = [kit.text(left - 36, 12, "angle, degrees", {class: "romae-faint"})];
    const step = [10, 15, 30, 45, 90, 180, 360].find(v => 2 * half / v <= 5) || 360;
    for (let v = Math.ceil((middle - half) / step) * step; v <= middle + half; v += step) parts.push(
      kit.svg("line", {x1: left, x2: right, y1: up(v), y2: up(v), style: "stroke:currentColor", "stroke-opacity": v % 360 ? 0.11 : 0.4}),
      kit.text(left - 6, up(v) + 4, String(v).replace("-", "−"), {"text-anchor": "end"}));
    view().kept.map(s => [clip.numbers[s], s]).forEach(([f, s]) => parts.push(kit.svg("rect", {x: across(f) - 1.6, width: 3.2, y: base - Math.max(1.2, bars * clip.share[s] / 100), height: Math.max(1.2, bars * clip.share[s] / 100),
      style: "fill:currentColor", "fill-opacity": 0.42})));
    parts.push(kit.svg("line", {x1: left, x2: right, y1: base, y2: base, style: "stroke:currentColor", "stroke-opacity": 0.45}));
    for (const v of [0, 25, 50, 75, 99]) parts.push(kit.text(across(v), base + 16, String(v), {"text-anchor": "middle"}));
    parts.push(kit.text((left + right) / 2, height - 4, "frame; bars: how much the noise leaves", {"text-anchor": "middle", class: "romae-faint"}));
    const clipped = kit.svg("svg", {x: left, y: top - 4, width: right - left, height: base - bars - top, viewBox: `${left} ${top - 4} ${right - left} ${base - bars - top}`, style: "overflow:hidden"});
    if (truth) clipped.append(kit.svg("path", {class: "pd-truth", d: kit.path(all.map((v, f) => [across(f), up(v)])), fill: "none", "stroke-width": 1.8, style: "stroke:currentColor"}));
    models.forEach((m, i) => {
      if (!shown[i]) return;
      const points = view().kept.map(s => clip.numbers[s]).map(f => [across(f), up(angle(f, i))]);
      clipped.append(kit.svg("path", {class: `pd-model-${i}`, d: kit.path(points), fill: "none", "stroke-width": 1.9, "stroke-dasharray": m.dash, "stroke-linejoin": "round", style: `stroke:var(--romae-${m.colour})`}));
      if (!i) clipped.append(...points.map(([x, y]) => kit.svg("circle", {cx: x, cy: y, r: 2.2, style: `fill:var(--romae-${m.colour})`})));
    });
    kit.set(zone, {x: left - 8, y: top - 6, width: right - left + 16, height: base - top + 24});
    graph.replaceChildren(...parts, clipped, zone, marker);
    drawMarker();
  }
  function drawMarker() {
    if (!across) return;
    const x = across(frame);
    marker.replaceChildren(
      kit.svg("rect", {x: x - 14, y: 18, width: 28, height: base - 4, fill: "transparent"}),
      kit.svg("line", {x1: x, x2: x, y1: 18, y2: base, style: "stroke:currentColor", "stroke-width": 1.3}),
      kit.svg("path", {d: `M${x} ${base - 5}l7 8h-14z`, style: "fill:currentColor"}));
    showMarker(frame);
  }

  // --- state ---------------------------------------------------------------------------------------------------------------
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
    play.replaceChildren(icon(timer ? "M1 0h3v10h-3zM6 0h3v10h-3z" : "M1 0l9 5l-9 5z"), timer ? "Pause" : "Play");
    clipButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === c));
    worldButtons.forEach((button, i) => button.setAttribute("aria-pressed", i === w));
    const whole = models.map(({name, mse: means}) => means[w] === null ? "" : `${name} ${means[w].toFixed(1)}`).filter(Boolean);
    happens.textContent = worlds[w].says + (whole.length ? ` Over all test clips (MSE × 1000): ${whole.join("; ")}.` : "");
    rows.forEach((r, i) => {
      r.now.textContent = s < 0 ? "–" : off(missed[i][s]);
      r.mse.textContent = thousandths(mse[i]);
    });
    if (!timer) announce(`Clip ${c + 1}, ${describe(frame)}. ` + (s < 0 ? "" : models.map((m, i) => `${m.name} off by ${off(missed[i][s])}`).join(", ")));
    kit.state({clip: c + 1, frame, seen: s >= 0, share: s < 0 ? null : clip.share[s], playing: !!timer, truth, shown: [...shown],
      degrees: +(clip.angles[frame] / scale * degree).toFixed(1), off: models.map((_, i) => s < 0 ? null : +(missed[i][s] * degree).toFixed(1)), mse: mse.map(thousandths), world: worlds[w].name});
  }
  kit.sized(curve, w => { width = w; drawCurve(); });
  update();
}

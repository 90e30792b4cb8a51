// The four steps of RoMAE on one irregular series: observe, hide, encode, ask. A sketch: the answers are the true
// curve.
function explorable(root, data, kit) {
  const hidden = new Set(data.hidden), visible = data.times.map((_, i) => i).filter(i => !hidden.has(i)),
    query = visible[2];
  const truth = t => Math.sin(2 * Math.PI * (t / data.period + data.phase)), announce = kit.announcer(root),
    tween = kit.tween(600);
  let step = 0, asked = data.asked, playing = null, shown = 0;

  const buttons = data.steps.map(([name], i) => kit.button(name, {class: "romae-button"}, () => { stop(); go(i); }));
  const play = kit.button("play", {class: "romae-button"}, () => playing ? stop() : start());
  const board = kit.svg("svg", {role: "group", "aria-label": "An irregular series"}), holder = kit.el("div", {}, board),
    said = kit.el("p", {class: "pl-said"});
  const time = kit.slider({label: "Ask at time", min: 0, max: data.end, step: 0.05, value: asked,
    format: v => v.toFixed(2), change: v => { stop(); asked = v; if (step < 3) go(3); else draw(); }});
  root.append(kit.el("div", {class: "pl-steps", role: "group", "aria-label": "Steps"}, ...buttons, play), holder,
    kit.el("div", {class: "romae-row"}, time.node), said);

  const layer = {axis: kit.svg("g"),
    curve: kit.svg("path", {fill: "none", "stroke-width": 1.5, style: "stroke:currentColor"}), arcs: kit.svg("g"),
    answers: kit.svg("g"), dots: kit.svg("g"), label: kit.svg("g")};
  const ring = kit.svg("g");
  board.append(...Object.values(layer));
  let across = null, up = null, bottom = 0;
  const clear = t => data.times.every(other => Math.abs(other - t) > 0.15);
  const to = t => { asked = kit.clamp(Math.round(t * 20) / 20, 0, data.end); draw(); };
  kit.drag(ring, board, {start: stop, move: x => to(across.invert(x))});
  const showRing = kit.handle(ring, {label: "Time to ask at", min: 0, max: data.end, step: 0.1, page: 1,
    value: () => asked, describe: v => v.toFixed(2), to});

  function size(width) {
    const height = kit.height;
    bottom = height - 30;
    across = kit.linear([0, data.end], [14, width - 14]);
    up = kit.linear([-1.25, 1.25], [bottom - 16, 26]);
    kit.frame(board, width, height);
    layer.axis.replaceChildren(
      ...kit.axes({left: 8, right: width - 8, bottom}, {x: {scale: across, line: true}}),
      kit.text(width - 8, bottom - 6, "time", {"text-anchor": "end", class: "romae-faint"}));
    layer.curve.setAttribute("d",
      kit.path(Array.from({length: 161}, (_, i) => data.end * i / 160).map(t => [across(t), up(truth(t))])));
    draw();
  }
  // `shown` runs from step to step, so that what comes and goes does so by degrees.
  const between = (from, until) => kit.clamp((shown - from) / (until - from), 0, 1);
  function draw() {
    if (!across) return;
    const gone = between(0, 1), away = between(1, 2), asking = between(2, 3);
    layer.curve.setAttribute("stroke-opacity", (0.12 + 0.25 * asking).toFixed(2));
    layer.dots.replaceChildren(...data.times.flatMap((t, i) => {
      const x = across(t), y = up(data.values[i]), out = hidden.has(i),
        seen = out ? 1 - 0.85 * away * (1 - asking) - 0.3 * asking : 1;
      return [kit.rule(x, y + 6, x, bottom, (0.25 * seen).toFixed(2)),
        kit.svg("circle", {cx: x, cy: y, r: 5.2, "fill-opacity": out ? (1 - gone).toFixed(2) : 1,
          opacity: seen.toFixed(2), style: "fill:currentColor;stroke:currentColor", "stroke-width": 1.4})];
    }));
    const arc = visible.filter(i => i !== query).map(i => {
      const a = across(data.times[query]), b = across(data.times[i]), lift = 14 + 0.22 * Math.abs(a - b), y = bottom;
      const gap = data.times[i] - data.times[query];
      return kit.svg("g", {}, kit.svg("path", {d: `M${a} ${y}C${a} ${y - lift * 1.3} ${b} ${y - lift * 1.3} ${b} ${y}`,
        fill: "none", "stroke-width": 1.8, style: "stroke:var(--romae-blue)"}),
        kit.text((a + b) / 2, y - lift + 2, `${gap > 0 ? "+" : "−"}${Math.abs(gap).toFixed(1)}`,
          {"text-anchor": "middle", class: "romae-halo", style: "fill:var(--romae-blue);font-weight:600"}));
    });
    layer.arcs.replaceChildren(...(away * (1 - asking) > 0.05 ? arc : []));  // nothing invisible to be read out
    layer.arcs.setAttribute("opacity", (away * (1 - asking)).toFixed(2));
    layer.answers.replaceChildren(...data.hidden.map(i => {
      const x = across(data.times[i]), y = bottom + (up(truth(data.times[i])) - bottom) * asking;
      return kit.svg("rect", {x: x - 5, y: y - 5, width: 10, height: 10, transform: `rotate(45 ${x} ${y})`,
        style: "fill:var(--romae-blue)"});
    }));
    layer.answers.setAttribute("opacity", asking.toFixed(2));
    const x = across(asked), y = up(truth(asked));
    if (step === 3 && !ring.isConnected) board.append(ring);
    if (step < 3) ring.remove();
    time.set(asked);
    ring.setAttribute("opacity", asking.toFixed(2));
    ring.replaceChildren(kit.svg("rect", {x: x - 14, y: 4, width: 28, height: bottom, fill: "transparent"}),
      kit.svg("line", {x1: x, x2: x, y1: y + 9, y2: bottom, "stroke-dasharray": "3 3",
        style: "stroke:var(--romae-blue)"}),
      kit.svg("circle", {cx: x, cy: y, r: 8, "stroke-width": 2.6,
        style: "fill:var(--romae-ground);stroke:var(--romae-blue)"}));
    // beside the ring, not in it: whoever aims at the middle of the handle must not hit its words
    layer.label.replaceChildren(...(step < 3 ? [] : [kit.text(x, Math.max(13, y - 15),
      `t = ${asked.toFixed(2)}${clear(asked) ? "" : ", measured"}`,
      {"text-anchor": x < 60 ? "start" : x > across(data.end) - 60 ? "end" : "middle", class: "romae-halo"})]));
    layer.label.setAttribute("opacity", asking.toFixed(2));
    if (step === 3) showRing(asked);
    kit.state({step: step + 1, name: data.steps[step][0], visible: step === 0 ? data.times.length : visible.length,
      asked, answer: +truth(asked).toFixed(4), playing: playing !== null});
  }
  function go(to) {
    const from = shown;
    step = to;
    buttons.forEach((node, i) => node.setAttribute("aria-pressed", i === step));
    said.textContent = data.steps[step][1];
    announce(`${data.steps[step][0]}. ${data.steps[step][1]}`);
    tween(t => { shown = from + (step - from) * t; draw(); });
  }
  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "play";
    draw();
  }
  function start() {
    go(step === 3 ? 0 : step + 1);
    playing = setInterval(() => { if (step < 3) go(step + 1); if (step === 3) stop(); }, 3200);
    play.textContent = "pause";
    draw();
  }
  kit.sized(holder, size);
  go(0);
}

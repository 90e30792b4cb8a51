// One irregular series, twice: above a network that is told the numbers of the readings, below the same network told
// their times. Both answer in the page.
function explorable(root, data, kit) {
  const N = data.seen, FIFTH = 4, GAP = 0.12, ASKED = 120, REACH = 1.35;
  const nets = {numbers: romae.load(data.models.numbers), times: romae.load(data.models.times)},
    names = Object.keys(nets);
  const {dim, heads} = nets.times.encoder, [, turn] = kit.frequencies(dim / heads, nets.times.p, nets.times.base);
  const colour = {numbers: "var(--romae-green)", times: "var(--romae-blue)"}, announce = kit.announcer(root);
  const even = (a, b, n) => Array.from({length: n}, (_, i) => a + (b - a) * i / (n - 1)), counted = even(1, N, N),
    every = [...Array(N).keys()],
    ordinal = k => k + 1 + (["st", "nd", "rd"][k] ?? "th");
  let seed = 0, series, times, held = -1, touched = false, now = null, box = null;

  // --- series: as in training, and then those with both ends seen and a pause longer than most of a wave -------------
  function drawn(seed) {
    const next = kit.random(seed), normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    for (;;) {
      const at = Array.from({length: N}, () => data.span * next()).sort((a, b) => a - b),
        pauses = at.slice(1).map((t, i) => t - at[i]),
          period = data.periods[0] + next() * (data.periods[1] - data.periods[0]);
      const series = {times: at, period, phase: next(), noise: at.map(() => data.noise * normal())};
      if (at[0] < 1.2 && at[N - 1] > data.span - 2 && Math.min(...pauses) > GAP
        && Math.max(...pauses) > 0.6 * period) return series;
    }
  }
  const truth = t => Math.sin(2 * Math.PI * (t / series.period + series.phase));
  const value = k => truth(times[k]) + series.noise[k];  // a dot rides on the curve: another time, another value
  function numberAt(t) {
    let k = 0;
    while (k < N - 2 && times[k + 1] < t) k++;
    return counted[k] + (t - times[k]) / (times[k + 1] - times[k]);
  }

  // --- both answers, at the same moments -----------------------------------------------------------------------------
  function ask(name, values, seen, asked) {
    const one = list => list.map(v => [v]), net = nets[name];
    return romae.decode(net, romae.encode(net, one(values), one(seen)), one(asked)).map(v => v[0]);
  }
  function compute() {
    const at = even(times[0], times[N - 1], ASKED), real = at.map(truth), values = times.map((_, k) => value(k));
    const answers = {numbers: ask("numbers", values, counted, at.map(numberAt)), times: ask("times", values, times,
      at)};
    const miss = y => y.reduce((sum, v, i) => sum + Math.abs(v - real[i]), 0) / ASKED;
    now = {at, real, values, answers, miss: {numbers: miss(answers.numbers), times: miss(answers.times)}};
  }

  // --- drawing: built once for a width, then only attributes change ----------------------------------------------------
  const svg = kit.svg("svg", {role: "group", class: "ct-drawing",
    "aria-label": "Two networks fill in a curve between twelve readings: above, told numbers; below, told times"});
  const another = kit.button("New series", {class: "romae-button"}, () => { touch(); start(seed + 1); update(true); }),
    spaced = kit.button("Space evenly", {class: "romae-button"}, () => { touch(); glide(even(times[0], times[N - 1],
      N)); }),
    reset = kit.button("Reset", {class: "romae-button"}, () => { touch(); glide(series.times); });
  root.append(svg, kit.el("div", {class: "romae-row"}, another, spaced, reset));
  const panels = Object.fromEntries(names.map(name => [name, panel(name)]));
  const hint = kit.svg("g", {class: "ct-hint"}, kit.svg("path", {d: "M-24 0H24M-18 -6L-24 0L-18 6M18 -6L24 0L18 6"}),
    kit.text(0, 22, "drag", {"text-anchor": "middle", class: "romae-halo"}));

  function clock() {  // one hand: how far a pair of channels is rotated
    const wedge = kit.svg("path", {class: "ct-wedge"}), face = kit.svg("circle", {class: "ct-face"}),
      hand = kit.svg("path", {class: "ct-hand"});
    return {
      node: kit.svg("g", {}, face, wedge, hand),
      set(x, y, r, angle) {
        const a = angle % (2 * Math.PI), px = (r * Math.sin(a)).toFixed(2), py = (-r * Math.cos(a)).toFixed(2);
        kit.set(this.node, {transform: `translate(${x} ${y})`});
        kit.set(face, {r});
        kit.set(wedge, {d: `M0 0V${-r}A${r} ${r} 0 ${+(a > Math.PI)} 1 ${px} ${py}Z`});
        kit.set(hand, {d: `M0 0L${px} ${py}`});
      }};
  }
  function panel(name) {
    const p = {
      ground: kit.svg("rect", {class: "ct-ground", rx: 8}), area: kit.svg("path", {class: "ct-missed"}),
      truth: kit.curve(null, "var(--romae-grey)", 2), line: kit.curve(null, colour[name], 3),
      word: kit.text(0, 0, "missed", {class: "ct-word", "text-anchor": "middle"}),
      told: kit.svg("tspan", {class: "romae-faint", dx: 8}),
      rail: kit.svg("rect", {class: "ct-rail", rx: 3, height: 11}),
      bar: kit.svg("rect", {rx: 3, height: 11, style: `fill:${colour[name]}`}),
      miss: kit.svg("text", {class: "ct-name", "text-anchor": "end"}),
      misses: kit.text(0, 0, "misses by", {class: "romae-faint", "text-anchor": "end"})};
    p.head = kit.svg("text", {x: 2}, kit.svg("tspan", {class: "ct-name"}, `Told the ${name.slice(0, -1)}`), p.told);
    p.readings = every.map(k => {
      const q = {lead: kit.svg("path", {class: "ct-lead"}), clock: clock(),
        tag: kit.svg("text", {"text-anchor": "middle", class: "ct-tag"}),
        dot: kit.svg("g", {}, kit.svg("circle", {r: 15, fill: "transparent"}),
          kit.svg("circle", {r: 6.2, class: "ct-dot"}))};
      let from = 0;
      kit.drag(q.dot, svg, {
        start: x => { touch(); held = k; from = box.x(times[k]) - x; update(); },
        move: x => move(k, box.t(x + from)),
        end: () => { held = -1; update(); }});
      if (name === "times") {
        q.show = kit.handle(q.dot, {label: `${ordinal(k)} reading`, name: `reading-${k + 1}`, min: () => lowest(k),
          max: () => highest(k), step: 0.1, page: 1,
          value: () => times[k], to: t => { touch(); held = k; move(k, t); },
          describe: t => `time ${t.toFixed(1)}`});
        q.dot.addEventListener("blur", () => { held = -1; update(); });
      }
      q.node = kit.svg("g", {}, q.lead, q.clock.node, q.tag);
      return q;
    });
    p.node = kit.svg("g", {style: `--ct:${colour[name]}`}, p.ground, p.head, p.misses, p.rail, p.bar, p.miss, p.area,
      p.truth, p.line, p.word,
      ...p.readings.map(q => q.node), ...p.readings.map(q => q.dot));
    return p;
  }
  function legend(width, phone) {
    const line = (y, c) => kit.curve([[0, y], [18, y]], c, 3), dial = clock();
    dial.set(8, -4, 8, 2.2);
    const entries = [
      [kit.svg("circle", {cx: 6, cy: -4, r: 5, class: "ct-dot"}), "reading", 76],
      [kit.curve([[0, -4], [18, -4]], "var(--romae-grey)", 2), "true curve", 98],
      [kit.svg("g", {}, line(-7, colour.numbers), line(-1, colour.times)), "filled in", 88],
      [kit.svg("rect", {y: -10, width: 18, height: 12, class: "ct-missed", style: `--ct:${colour.numbers}`}),
        "missed", 84],
      [kit.svg("g", {style: `--ct:${colour.times}`}, dial.node),
        "what is told, as a clock hand", 0]];
    let x = 2;
    return entries.map(([mark, name, wide], i) => {
      const down = phone && i === 4, at = down ? 2 : x;
      x += wide * (phone ? Math.min(1, width / 345) : 1);
      return kit.svg("g", {transform: `translate(${at} ${down ? 34 : 14})`}, mark, kit.text(i ? 23 : 15, 0, name,
        {class: "romae-faint"}));
    });
  }
  function frame(width) {
    const phone = width < 560, head = 25, plot = phone ? 128 : kit.clamp(width * 0.19, 116, kit.height), below = 52,
      r = phone ? Math.min(9, width / 38) : 11;
    const first = (phone ? 42 : 24) + head, tops = {numbers: first, times: first + plot + below + head + 6},
      height = tops.times + plot + below;
    // whole before children move: a reading that loses its focus then draws
    box = {width, phone, plot, r, tops, bar: phone ? 44 : 140, slot: phone ? 27 : 34,
      x: kit.linear([0, data.span], [12, width - 12])};
    box.t = box.x.invert;
    kit.frame(svg, width, height);
    svg.replaceChildren(...legend(width, phone), ...names.map(name => panels[name].node), hint);
    for (const name of names) {
      const p = panels[name], y = tops[name] - 8, {bar} = box;
      kit.set(p.ground, {y: tops[name], width, height: plot});
      kit.set(p.head, {y});
      kit.set(p.misses, {x: width - bar - 44, y, display: phone ? "none" : null});
      for (const rail of [p.rail, p.bar]) kit.set(rail, {x: width - bar - 36, y: y - 10});
      kit.set(p.rail, {width: bar});
      kit.set(p.miss, {x: width - 1, y});
    }
    draw();
  }
  // Clocks stand as near to their readings as they can without touching: isotonic regression on their places.
  function apart(xs, gap, low, high) {
    const blocks = [];
    xs.forEach((x, i) => {
      let b = {sum: x - i * gap, n: 1};
      while (blocks.length && blocks.at(-1).sum / blocks.at(-1).n > b.sum / b.n) {
        const a = blocks.pop();
        b = {sum: a.sum + b.sum, n: a.n + b.n};
      }
      blocks.push(b);
    });
    return blocks.flatMap(b => Array(b.n).fill(b.sum / b.n)).map((u, i) => kit.clamp(u, low,
      high - (xs.length - 1) * gap) + i * gap);
  }
  // Where "missed" is written: in the middle of the largest piece between answer and truth, if it has room.
  function largest(points, real) {
    let best = {area: 0}, piece = null;
    points.forEach(([x, y], i) => {
      const gap = Math.abs(real[i][1] - y), side = Math.sign(real[i][1] - y);
      if (piece?.side !== side) piece = {side, area: 0, x: 0, y: 0, n: 0};
      piece.area += gap; piece.x += x * gap; piece.y += (y + real[i][1]) / 2 * gap; piece.n++;
      if (piece.area > best.area) best = piece;
    });
    const wide = best.n * (real[1][0] - real[0][0]);
    return wide > 80 && best.area / best.n > 20 ? [best.x / best.area, best.y / best.area + 4] : null;
  }
  function draw() {
    if (!box) return;
    const xs = times.map(box.x), low = box.r + 3, high = box.width - low, gap = Math.min(box.slot,
      (high - low) / (N - 1));
    for (const name of names) {
      const p = panels[name], top = box.tops[name], y = kit.linear([REACH, -REACH], [top, top + box.plot]),
        up = v => y(kit.clamp(v, -REACH, REACH));
      const line = now.at.map((t, i) => [box.x(t), up(now.answers[name][i])]), real = now.at.map((t, i) => [box.x(t),
        y(now.real[i])]);
      kit.set(p.line, {d: kit.path(line)});
      kit.set(p.truth, {d: kit.path(even(0, data.span, 161).map(t => [box.x(t), y(truth(t))]))});
      kit.set(p.area, {d: kit.path([...line, ...real.reverse()]) + "Z"});
      const word = name === "numbers" && largest(line, real.reverse());
      kit.set(p.word, word ? {x: word[0], y: word[1], display: "inline"} : {display: "none"});
      kit.set(p.bar, {width: box.bar * Math.min(1, now.miss[name] / 0.6)});
      p.miss.textContent = now.miss[name].toFixed(2);
      p.told.textContent = (name === "times" ? times.slice(0, 3).map(t => t.toFixed(1)).join(", ") :
        "1st, 2nd, 3rd") + " …";
      const base = top + box.plot, cy = base + 12 + box.r, places = name === "times" ? apart(xs, gap, low, high) :
        even(low, high, N);
      p.readings.forEach((q, k) => {
        const on = k === held;
        kit.set(q.lead, {d: `M${xs[k]} ${up(now.values[k])}V${base + 1}L${places[k]} ${cy - box.r}`});
        kit.set(q.dot, {transform: `translate(${xs[k]} ${up(now.values[k])})`});
        q.clock.set(places[k], cy, box.r, turn * (name === "times" ? times[k] : counted[k]));
        kit.set(q.tag, {x: places[k], y: cy + box.r + 14});
        const crowded = name === "numbers" && box.phone && Math.abs(k - held) === 1 && held >= 0;
        q.tag.textContent = name === "times" ? times[k].toFixed(box.width < 300 ? 0 : 1) : crowded ? "" : (on ?
          "still " : "") + ordinal(k);
        q.node.classList.toggle("ct-on", on);
        q.dot.classList.toggle("ct-on", on);
        q.show?.(+times[k].toFixed(3));
      });
    }
    kit.set(hint, {transform: panels.times.readings[FIFTH].dot.getAttribute("transform"), display: touched ? "none" :
      null});
  }
  const short = v => +v.toFixed(6);
  function update(speak = false) {
    compute();
    draw();
    const {numbers, times: told} = now.answers;
    kit.state({series: seed, times: times.map(short), values: now.values.map(short), at: now.at.map(short),
      answers: {numbers: numbers.map(short), times: told.map(short)},
      missed: {numbers: +now.miss.numbers.toFixed(2), times: +now.miss.times.toFixed(2)}});
    const [counting, knowing] = names.map(name => now.miss[name].toFixed(2));
    if (speak) announce(`Told the number, the network misses by ${counting}; told the time, by ${knowing}.`);
  }

  // --- moving ----------------------------------------------------------------------------------------------------------
  const tween = kit.tween(900), lowest = k => k ? times[k - 1] + GAP : 0, highest = k => k < N - 1 ?
    times[k + 1] - GAP : data.span;
  function start(next) {
    seed = next;
    series = seed ? drawn(seed) : data.first;
    times = [...series.times];
  }
  function touch() { touched = true; tween(() => {}, false); }
  function move(k, t) { times[k] = kit.clamp(t, lowest(k), highest(k)); update(true); }
  function glide(to, then) {
    const from = [...times];
    tween(share => {
      times = from.map((t, k) => t + (to[k] - t) * share);
      update(share === 1);
      if (share === 1) then?.();
    });
  }
  kit.keep("series", () => seed, text => { if (kit.number(text) >= 0) { touch(); start(Math.round(kit.number(text)));
    update(); } });
  start(0);
  update();
  kit.sized(svg, frame);
  // Once, when it is in view: the fifth reading goes to and fro.
  if (!kit.reduced.matches) new IntersectionObserver((entries, watch) => {
    if (!entries.some(e => e.isIntersecting)) return;
    watch.disconnect();
    setTimeout(() => {
      if (touched) return;
      held = FIFTH;
      glide(times.with(FIFTH, lowest(FIFTH) + 0.35 * (times[FIFTH] - lowest(FIFTH))),
        () => setTimeout(() => { if (!touched) glide(series.times, () => { held = -1; update(); }); }, 600));
    }, 1500);
  }, {threshold: 0.6}).observe(svg);
}

// Attention's share of the work of each size, the time that a run takes, and what twice the length costs.
function explorable(root, data, kit) {
  const {sizes, hidden: share, patch} = data, now = {readings: 3, seen: 6}, announce = kit.announcer(root);
  function work(s, n) {  // of the forward pass of one sample: all, and attention's
    const hidden = Math.max(1, Math.min(n - 1, Math.ceil(share * n))), seen = n - hidden;
    let rest = 2 * seen * s.encoder.dim * s.decoder.dim + 2 * patch * (seen * s.encoder.dim + hidden * s.decoder.dim),
      pairs = 0;
    for (const [stack, m] of [[s.encoder, seen], [s.decoder, n]]) {
      pairs += stack.depth * 4 * m * m * stack.dim;
      rest += stack.depth * 2 * m * (4 * stack.dim ** 2 + 2 * stack.dim * stack.ff);
    }
    return [(pairs + rest) / 1e9, pairs / 1e9];
  }
  const whole = e => Math.round(+(10 ** e).toPrecision(2)),  // as it is shown
    count = v => (+v.toPrecision(2)).toLocaleString("en");
  const time = s => s >= 2 * 365.25 * 86400 ? `${count(s / 365.25 / 86400)} years` : s >= 172800
    ? `${count(s / 86400)} days` : s >= 3600 ? `${count(s / 3600)} h` : s >= 60 ? `${count(s / 60)} min`
    : `${count(s)} s`;
  const sliders = [
    {label: "Readings in a sample", name: "readings", key: "readings", min: 1, max: 5, step: 0.05},
    {label: "Samples seen", name: "samples", key: "seen", min: 3, max: 9, step: 0.25},
  ].map(({key, ...options}) => kit.slider({...options, value: now[key], format: v => count(whole(v)),
    change: v => { now[key] = v; update(); }}));

  const head = (text, kind) => kit.el("span", {class: `co-head romae-faint ${kind}`}, text);
  const rows = sizes.map(s => {
    const blue = kit.svg("rect", {height: 28, style: "fill:var(--romae-blue)"}), words = kit.text(0, 19, ""),
      bar = kit.svg("svg", {class: "co-bar co-work", height: 28, role: "img"},
        kit.svg("rect", {width: "100%", height: 28, style: "fill:currentColor", "fill-opacity": 0.16}), blue, words);
    return {s, blue, words, bar, time: kit.el("span", {class: "co-number co-time"}),
      twice: kit.el("span", {class: "co-number co-twice"}),
      name: kit.el("span", {class: "co-name"}, s.name, kit.el("small", {class: "romae-faint"},
        `${(s.parameters / 1e6).toPrecision(2)} M weights`))};
  });
  root.append(...sliders.map(s => kit.el("div", {class: "romae-row"}, s.node)), kit.el("div", {class: "co-sizes"},
    kit.el("div", {}, head("", "co-name"), head("attention's share of the work", "co-bar"),
      head("time", "co-number co-time"), head("twice as long costs", "co-number co-twice")),
    ...rows.map(row => kit.el("div", {}, row.name, row.bar, row.time, row.twice))));

  function update() {
    const n = whole(now.readings), samples = whole(now.seen), told = [];
    for (const {s, blue, words, bar, time: spent, twice} of rows) {
      const [all, pairs] = work(s, n), part = pairs / all, more = work(s, 2 * n)[0] / all,
        seconds = 3 * all * samples / s.gflops, percent = 100 * part < 1 ? "under 1 %" : `${Math.round(100 * part)} %`;
      kit.set(blue, {width: `${100 * part}%`});
      kit.set(bar, {"aria-label": `attention ${percent}`});
      const inside = part > 0.5;  // where there is room for the words
      kit.set(words, {x: `${100 * part}%`, dx: inside ? -8 : 8, "text-anchor": inside ? "end" : "start",
        style: inside ? "fill:var(--romae-ground)" : ""});
      words.textContent = percent;
      spent.textContent = time(seconds);
      twice.textContent = `${more.toFixed(1)} times`;
      told.push({name: s.name, share: part.toPrecision(6), seconds: seconds.toPrecision(6),
        twice: more.toPrecision(6)});
    }
    announce(`${n} readings: ${told.map(t => `${t.name}, attention ${Math.round(100 * t.share)} %, ${time(+t.seconds)}`)
      .join("; ")}.`);
    kit.state({readings: n, samples, sizes: told});
  }
  update();
}

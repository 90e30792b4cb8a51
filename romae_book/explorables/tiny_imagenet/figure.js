// A masked autoencoder of pictures in the page: hide patches by drawing over them, and see what it paints there.
function explorable(root, data, kit) {
  const model = romae.load(data.model), {grid, side} = data, total = grid * grid, size = grid * side,
    announce = kit.announcer(root);
  const channels = list => list.map((v, j) => (v / 255 - data.mean[j % 3]) / data.deviation[j % 3]);
  const pictures = data.pictures.map(({name, pixels}) => ({name, pixels, values: pixels.map(channels)}));
  let k = 0, seed = 1, hidden = new Set(data.hidden), cursor = 0, brush = true;

  // --- the model, and a painter without one --------------------------------------------------------------------------
  function paint() {
    const found = romae.predict(model, pictures[k].values, data.positions, hidden);
    return Object.fromEntries(Object.entries(found).map(([i, list]) =>
      [i, Array.from(list, (v, j) => kit.clamp(v * data.deviation[j % 3] + data.mean[j % 3], 0, 1))]));
  }
  function blend(i) {  // mean colours of the visible patches, weighed by one over the squared distance
    const sum = [0, 0, 0], at = data.positions[i];
    let weights = 0;
    pictures[k].pixels.forEach((pixels, n) => {
      if (hidden.has(n)) return;
      const weight = 1 / data.positions[n].reduce((s, v, axis) => s + (v - at[axis]) ** 2, 0);
      weights += weight;
      pixels.forEach((v, j) => { sum[j % 3] += weight * v / 255 / (pixels.length / 3); });
    });
    return sum.map(v => v / weights);
  }
  const error = of => {
    let sum = 0, count = 0;
    for (const i of hidden) pictures[k].pixels[i].forEach((v, j) => { sum += (of(i, j) - v / 255) ** 2; count++; });
    return sum / count;
  };

  // --- masks ---------------------------------------------------------------------------------------------------------
  function draw(count) {
    const next = kit.random(seed), noise = Array.from({length: total},
      (_, i) => [next(), i]).sort((a, b) => a[0] - b[0]);
    hidden = new Set(noise.slice(0, count).map(([, i]) => i));
  }
  function put(i, hide) {  // one to show and one to hide stay
    if (hide === hidden.has(i) || (hide ? hidden.size === total - 1 : hidden.size === 1)) return false;
    hide ? hidden.add(i) : hidden.delete(i);
    return true;
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const view = words => {
    const canvas = kit.el("canvas", {width: size, height: size}),
      over = kit.svg("svg", {viewBox: `0 0 ${size} ${size}`});
    return {words, canvas, over, node: kit.el("div", {class: "mp-view"}, canvas, over)};
  };
  const views = ["what the encoder gets", "what RoMAE paints", "the original"].map(view), [board] = views;
  views.slice(1).forEach(({over, words}) => kit.set(over, {role: "img", "aria-label": words}));
  kit.set(board.over, {class: "mp-board", tabindex: 0, role: "group",
    "aria-label": "Patches: arrows move, space hides or shows"});
  const picks = kit.el("div", {class: "mp-picks", role: "group", "aria-label": "Picture"}),
    facts = kit.el("p", {class: "mp-facts"});
  const slider = kit.slider({label: "Hidden", min: 1, max: total - 1, value: hidden.size,
    format: v => `${v} of ${total} (${Math.round(100 * v / total)} %)`,
    describe: v => `${v} of ${total} patches`, change: v => { draw(v); update(); }});
  // Masks with a shape: what is hidden in one piece is harder to paint than what has neighbours.
  const shapes = {"the right half": (r, c) => c >= grid / 2, "a block": (r, c) => Math.max(Math.abs(r - (grid - 1) / 2),
    Math.abs(c - (grid - 1) / 2)) < grid / 4,
    "every other patch": (r, c) => (r + c) % 2};
  const masks = Object.entries(shapes).map(([words, inside]) => kit.button(words, {class: "romae-button"}, () => {
    hidden = new Set([...Array(total).keys()].filter(i => inside(Math.floor(i / grid), i % grid)));
    update();
  }));
  const again = kit.button("draw again", {class: "romae-button"}, () => { seed++; draw(hidden.size); update(); });
  root.append(picks, kit.el("div", {class: "mp-panels"},
    ...views.map(v => kit.el("div", {}, kit.el("p", {class: "romae-faint"}, v.words), v.node))),
    kit.el("div", {class: "romae-row"}, slider.node, again),
    kit.el("div", {class: "romae-row", role: "group", "aria-label": "Hide"}, kit.el("span", {}, "Hide"), ...masks),
      facts);

  function fill(canvas, of) {  // of(patch) -> its numbers from 0 to 1, or null for nothing
    const pen = canvas.getContext("2d"), image = pen.createImageData(size, size);
    for (let i = 0; i < total; i++) {
      const list = of(i);
      if (!list) continue;
      for (let p = 0; p < side * side; p++) {
        const x = i % grid * side + p % side, y = Math.floor(i / grid) * side + Math.floor(p / side),
          at = 4 * (y * size + x);
        for (let c = 0; c < 3; c++) image.data[at + c] = Math.round(255 * list[3 * p + c]);
        image.data[at + 3] = 255;
      }
    }
    pen.putImageData(image, 0, 0);
  }
  const original = picture => i => picture.pixels[i].map(v => v / 255);
  picks.append(...pictures.map((picture, i) => {
    const canvas = kit.el("canvas", {width: size, height: size, "aria-hidden": "true"});
    fill(canvas, original(picture));
    return kit.button(canvas, {"data-picture": i, "aria-label": picture.name, title: picture.name}, () => {
      k = i;
      update();
    });
  }));

  // --- hiding by hand ------------------------------------------------------------------------------------------------
  const under = (x, y) => {
    const box = board.over.getBoundingClientRect(), at = (v, length) => kit.clamp(Math.floor(v / length * grid), 0,
      grid - 1);
    return at(y, box.height) * grid + at(x, box.width);
  };
  const stroke = (x, y) => { cursor = under(x, y); if (put(cursor, brush)) update(); };
  kit.drag(board.over, board.over, {start: (x, y) => {
    brush = !hidden.has(under(x, y));
    stroke(x, y);
  }, move: stroke});
  board.over.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid, ArrowUp: -grid};
    if (event.key === " " || event.key === "Enter") put(cursor, !hidden.has(cursor));
    else if (event.key in moves) { const to = cursor + moves[event.key]; if (to >= 0 && to < total) cursor = to; }
    else return;
    event.preventDefault();
    update(`Row ${Math.floor(cursor / grid) + 1}, column ${cursor % grid + 1}, `
      + `${hidden.has(cursor) ? "hidden" : "visible"}. `);
  });

  // --- state ---------------------------------------------------------------------------------------------------------
  const square = (i, attributes) => kit.svg("rect", {x: i % grid * side + 0.15, y: Math.floor(i / grid) * side + 0.15,
    width: side - 0.3, height: side - 0.3, rx: 0.5, ...attributes});
  function update(spoken = "") {
    const picture = pictures[k], found = paint();
    fill(board.canvas, i => hidden.has(i) ? null : original(picture)(i));
    fill(views[1].canvas, i => found[i] ?? original(picture)(i));
    fill(views[2].canvas, original(picture));
    const gone = [...hidden].sort((a, b) => a - b);
    board.over.replaceChildren(...gone.map(i => square(i,
      {style: "fill:var(--romae-grey);fill-opacity:.24;stroke:currentColor;stroke-opacity:.35", "stroke-width": 0.12})),
      square(cursor, {class: "mp-mark", fill: "none", "stroke-width": 0.4}));
    views[1].over.replaceChildren(...gone.map(i => square(i, {class: "mp-edge", rx: 0, "stroke-width": 0.16})));
    [...picks.children].forEach((node, i) => node.setAttribute("aria-pressed", i === k));
    slider.set(hidden.size);
    const mse = error((i, j) => found[i][j]), blends = Object.fromEntries(gone.map(i => [i, blend(i)])),
      other = error((i, j) => blends[i][j % 3]);
    facts.textContent = `Mean squared error on the hidden patches, with colours from 0 to 1: ${mse.toFixed(4)}. The `
      + `colours of the visible patches, blended by distance, would have ${other.toFixed(4)}.`;
    announce(`${spoken}${hidden.size} of ${total} patches hidden, error ${mse.toFixed(4)}, blended `
      + `${other.toFixed(4)}.`);
    kit.state({picture: k, hidden: gone, cursor, mse: +mse.toFixed(6), blended: +other.toFixed(6)});
  }
  kit.keep("patches", () => [...hidden].sort((a, b) => a - b).join("_"), text => {
    const list = new Set(text.split("_").map(kit.number));
    if (!list.size || list.size >= total || ![...list].every(i => Number.isInteger(i) && i >= 0 && i < total)) return;
    hidden = list;
    update();
  });
  update();
}

// An array of one, two or three dimensions, cut into patches; below it the sequence of tokens that they become.
function explorable(root, data, kit) {
  const state = {dims: data.dims, channels: data.channels, irregular: false, token: 0};
  const kinds = {1: "series", 2: "picture", 3: "film"}, plural = {time: "times", row: "rows", column: "columns",
    frame: "frames"};
  const sizes = () => data.sizes[state.dims], patch = () => data.patch[state.dims], axes = () => data.axes[state.dims];
  const product = list => list.reduce((a, b) => a * b, 1), announce = kit.announcer(root);

  // --- the arithmetic of tokens.patchify -----------------------------------------------------------------------------
  const short = v => String(+v.toPrecision(4));
  function refusal() {
    for (let i = 0; i < state.dims; i++) {
      const size = sizes()[i], step = patch()[i];
      if (size % step) return `patch[${i}] is ${step}, which does not divide the size ${size} of that dimension`;
      if (i || !state.irregular || step === 1) continue;
      const gaps = data.times.slice(1, size).map((t, k) => t - data.times[k]),
        mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
      if (gaps.some(gap => Math.abs(gap - mean) > 1e-6 * mean))
        return `patch[0] is ${step} along an irregular dimension (gaps from ${short(Math.min(...gaps))} to `
          + `${short(Math.max(...gaps))}); `
          + "it must be 1 there (Proposition 4.1): a patch has one position, and how far apart its points are would "
            + "be lost";
    }
    return "";
  }
  const grid = () => sizes().map((size, i) => Math.floor(size / patch()[i]));  // whole patches along each dimension
  function place(token) {  // row-major: the last dimension runs fastest
    const index = [];
    for (const n of [...grid()].reverse()) { index.unshift(token % n); token = Math.floor(token / n); }
    return index;
  }
  const tokenAt = cell => {
    const index = cell.map((c, i) => Math.floor(c / patch()[i]));
    return index.some((n, i) => n >= grid()[i]) ? null : index.reduce((sum, n, i) => sum * grid()[i] + n, 0);
  };
  const position = token => place(token).map((n, i) => {
    if (i || !state.irregular) return n;
    const points = data.times.slice(n * patch()[0], (n + 1) * patch()[0]);
    return points.reduce((a, b) => a + b, 0) / points.length;
  });
  const number = v => String(+v.toFixed(2)), tuple = list => `(${list.join(", ")}${list.length === 1 ? "," : ""})`;

  // --- controls ------------------------------------------------------------------------------------------------------
  const chosen = Object.entries(kinds).map(([n, name]) => {
    const node = kit.button(`${n}-D: ${name}`, {class: "romae-button"}, () => {
      state.dims = +n;
      state.token = 0;
      refresh();
    });
    return {n: +n, node};
  });
  const irregular = kit.button("irregular", {class: "romae-button"}, () => {
    state.irregular = !state.irregular;
    refresh();
  });
  const channels = kit.select({label: "Channels", options: [[1, "1"], [3, "3"]], value: state.channels, change: v => {
    state.channels = +v;
    update();
  }});
  const rows = [0, 1, 2].map(i => {
    const own = what => kit.slider({label: what, name: `${what}-${i + 1}`, min: 1, max: 12, value: 1,
      describe: v => `${what} ${v}`, change: v => {
      if (i >= state.dims) return;
      const list = what === "size" ? sizes() : patch();
      list[i] = v;
      patch()[i] = Math.min(patch()[i], sizes()[i]);
      refresh();
    }});
    return {size: own("size"), patch: own("patch")};
  });
  const controls = kit.el("div", {class: "pa-axes"});
  const draw = kit.el("div", {class: "pa-draw"}), line = kit.el("div", {class: "pa-line"});
  const facts = kit.el("div", {class: "pa-facts"}), problem = kit.el("p", {class: "pa-error", role: "alert"});
  const body = kit.el("div", {class: "pa-body"}, kit.el("div", {}, draw, controls),
    kit.el("div", {}, problem, line, facts));
  root.append(kit.el("div", {class: "romae-row", role: "group", "aria-label": "Kind of array"},
    ...chosen.map(c => c.node), irregular, channels.node),
    body);

  // --- the array -----------------------------------------------------------------------------------------------------
  const board = kit.svg("svg", {role: "group"}), cells = kit.svg("g"), marks = kit.svg("g"), notes = kit.svg("g");
  // along the last but one axis, and the last
  const handles = [0, 1].map(k => kit.svg("g", {class: "pa-patch" + (k ? "" : " pa-down")}));
  board.append(cells, notes, marks, ...handles);
  draw.append(board);
  let box = () => [0, 0, 1, 1], width = 0, drawn = [], edges = [];
  const coordinate = i => state.irregular ? data.times[i] : i;
  const thickness = () => state.irregular ? 0.44 : 1;  // of a value along the first axis; the smallest gap is 0.5

  function drawBoard(w) {
    width = w;
    const n = state.dims, size = sizes(), first = n === 1 ? null : 12, span = coordinate(size[0] - 1) + thickness();
    let height;
    if (n === 1) {
      const unit = Math.min(34, (w - 4) / span), left = 2;
      height = 84;
      box = ([i]) => [left + unit * coordinate(i), 22, unit * thickness(), 34];
    } else if (n === 2) {
      const unit = Math.min(30, (w - 20) / size[1], kit.height / span);
      height = unit * span + first + 8;
      box = ([i, j]) => [first + unit * j, first + unit * coordinate(i), unit, unit * thickness()];
    } else {
      // The frames of a film side by side; a gap between them, larger where time is.
      const pitch = Math.min(150, (w - 14) / span), side = pitch * (state.irregular ? 0.42 : 0.86);
      const unit = Math.min(side / size[2], 150 / size[1]);
      height = unit * size[1] + first + 26;
      box = ([f, i, j]) => [first + pitch * coordinate(f) + unit * j, first + unit * i, unit, unit];
    }
    kit.frame(board, w, height.toFixed(1));
    drawn = Array.from({length: product(size)}, (_, flat) => {
      const cell = [];
      for (const m of [...size].reverse()) { cell.unshift(flat % m); flat = Math.floor(flat / m); }
      const [x, y, cw, ch] = box(cell), gap = Math.min(1, cw / 8, ch / 8);
      return {cell, node: kit.svg("rect", {x: x + gap / 2, y: y + gap / 2, width: cw - gap, height: ch - gap,
        rx: Math.min(3, cw / 5, ch / 5)})};
    });
    cells.replaceChildren(...drawn.map(d => d.node));
    paint();
  }
  function paint() {
    if (!width) return;
    for (const {cell, node} of drawn) {
      const token = tokenAt(cell);
      const odd = token === null ? 0 : place(token).reduce((a, b) => a + b, 0) % 2,
        lit = token !== null && token === state.token;
      node.setAttribute("style", token === null ? "fill:var(--romae-grey);fill-opacity:.22"
        : lit ? "fill:var(--romae-vermillion)" : `fill:var(--romae-blue);fill-opacity:${odd ? 0.5 : 0.26}`);
    }
    // Notes: the stretch that each patch covers along an irregular axis, the time of every frame.
    const size = sizes(), step = patch()[0], parts = [];
    if (state.dims === 1) {
      const wide = Math.min(...Array.from({length: grid()[0]},
        (_, t) => box([(t + 1) * step - 1])[0] - box([t * step])[0])) > 18 || grid()[0] < 9;
      for (let t = 0; t < grid()[0]; t++) {
        const [x0] = box([t * step]), last = box([(t + 1) * step - 1]), x1 = last[0] + last[2];
        if (step > 1) parts.push(kit.svg("path", {d: `M${x0 + 1} 62v5H${x1 - 1}v-5`, fill: "none",
          style: "stroke:currentColor", "stroke-opacity": 0.6}));
        if (step > 1 && wide) parts.push(kit.text((x0 + x1) / 2, 81,
          number(coordinate((t + 1) * step - 1) - coordinate(t * step)), {"text-anchor": "middle"}));
      }
      parts.push(kit.text(2, 14, step > 1 ? "below, the stretch of time that each patch covers"
        : "time runs to the right", {class: "romae-faint"}));
    } else if (state.dims === 3) {
      for (let f = 0; f < size[0]; f++) {
        const [x] = box([f, 0, 0]), [, y, , ch] = box([f, size[1] - 1, 0]);
        parts.push(kit.text(x, y + ch + 16, (size[0] * 40 < width && !state.irregular ? "t = " : "")
          + number(coordinate(f))));
      }
    }
    notes.replaceChildren(...parts);
    // Handles on the edges of the first patch.
    const n = state.dims, end = patch().map(p => p - 1), [x, y, cw, ch] = box(end), [x0, y0] = box(end.map(() => 0));
    const near = n === 3 ? box([0, end[1], end[2]]) : [x, y, cw, ch], right = near[0] + near[2],
      bottom = near[1] + near[3];
    edges = [bottom, right];
    kit.set(handles[0], {style: n === 1 ? "display:none" : ""});
    const grip = (gx, gy, tall) => [kit.svg("rect", {x: gx - 13, y: gy - 13, width: 26, height: 26,
      fill: "transparent"}),
      kit.svg("rect", {x: gx - (tall ? 4 : 9), y: gy - (tall ? 9 : 4), width: tall ? 8 : 18, height: tall ? 18 : 8,
        rx: 4,
        style: "fill:var(--romae-vermillion);stroke:Canvas;stroke-width:1.5"})];
    handles[1].replaceChildren(...grip(right, (y0 + bottom) / 2, true));
    handles[0].replaceChildren(...grip((x0 + right) / 2, bottom, false));
    handles.forEach((_, k) => showHandles[k](patch()[n - 2 + k] ?? 1));
    const outline = state.dims === 3 ? [] : [kit.svg("rect", {x: x0, y: y0, width: right - x0, height: bottom - y0,
      rx: 3, fill: "none", style: "stroke:var(--romae-vermillion)", "stroke-width": 1.6})];
    marks.replaceChildren(...outline);
  }
  const showHandles = handles.map((node, k) => {
    const axis = () => state.dims - 2 + k;
    const to = v => {
      if (axis() < 0) return;
      patch()[axis()] = kit.clamp(Math.round(v), 1, sizes()[axis()]);
      refresh();
    };
    kit.drag(node, board, {free: k === 0, move: (px, py) => {
      const at = k ? px : py;
      let best = 1;  // the value whose far edge is nearest to the pointer
      for (let v = 1; v <= sizes()[axis()]; v++) {
        const edge = v => {
          const b = box(sizes().map((_, i) => i === axis() ? v - 1 : 0));
          return k ? b[0] + b[2] : b[1] + b[3];
        };
        if (Math.abs(edge(v) - at) < Math.abs(edge(best) - at)) best = v;
      }
      to(best);
    }});
    return kit.handle(node, {label: k ? "Patch size along the last axis" : "Patch size along the rows", min: 1, max: 24,
      step: 1, page: 2,
      value: () => patch()[axis()], describe: v => `${v} values`, to});
  });
  const hit = event => {
    const frame = board.getBoundingClientRect(), k = width / frame.width, px = (event.clientX - frame.left) * k,
      py = (event.clientY - frame.top) * k;
    const found = drawn.find(({cell}) => {
      const [x, y, w, h] = box(cell);
      return px >= x && px < x + w && py >= y && py < y + h;
    });
    const token = found ? tokenAt(found.cell) : null;
    if (token !== null && token !== state.token) { state.token = token; update(); }
  };
  cells.addEventListener("pointermove", hit);
  cells.addEventListener("pointerdown", hit);

  // --- the sequence --------------------------------------------------------------------------------------------------
  const strip = kit.svg("svg"), sequence = kit.svg("g"), heading = kit.text(1, 13, "", {class: "romae-faint"});
  strip.append(heading, sequence);
  line.append(strip);
  const select = token => { state.token = kit.clamp(Math.round(token), 0, product(grid()) - 1); update(); };
  const showToken = kit.handle(sequence, {label: "Token", min: 0, max: () => product(grid()) - 1, step: 1, page: 5,
    value: () => state.token, describe: v => `token ${v}`, to: select});
  let stripWidth = 0, columns = 1, edge = 26;
  kit.drag(sequence, strip, {start: pick, move: pick});
  function pick(px, py) {
    select(Math.min(columns - 1, Math.max(0, Math.floor(px / edge))) + columns * Math.max(0,
      Math.floor((py - 20) / edge)));
  }
  function drawStrip(w) {
    stripWidth = w;
    const count = product(grid());
    edge = count > 150 ? 11 : count > 48 ? 17 : 28;
    columns = Math.max(1, Math.floor((w - 2) / edge));
    const height = 22 + edge * Math.ceil(count / columns);
    kit.frame(strip, w, height);
    const parts = [kit.svg("rect", {x: 0, y: 18, width: Math.min(count, columns) * edge + 2, height: height - 18,
      fill: "transparent"})];
    for (let t = 0; t < count; t++) {
      const x = 1 + edge * (t % columns), y = 20 + edge * Math.floor(t / columns),
        odd = place(t).reduce((a, b) => a + b, 0) % 2, lit = t === state.token;
      parts.push(kit.svg("rect", {x, y, width: edge - 2, height: edge - 2, rx: edge > 20 ? 5 : 3,
        style: lit ? "fill:var(--romae-vermillion);fill-opacity:0.3;stroke:var(--romae-vermillion);stroke-width:2"
          : `fill:var(--romae-blue);fill-opacity:${odd ? 0.5 : 0.26}`}));
      if (edge === 28) parts.push(kit.text(x + 13, y + 17, t, {"text-anchor": "middle"}));
    }
    sequence.replaceChildren(...parts);
    heading.textContent = refusal() ? "patches, but no sequence: see the message" : "the sequence: patches, row by row";
  }

  // --- state ---------------------------------------------------------------------------------------------------------
  function refresh() {
    state.token = Math.min(state.token, product(grid()) - 1);
    if (controls.children.length !== 2 * state.dims)
      controls.replaceChildren(...rows.slice(0, state.dims).flatMap(row => [row.size.node, row.patch.node]));
    rows.forEach((row, i) => {
      const on = i < state.dims;
      for (const what of ["size", "patch"]) {
        const {node, input} = row[what];
        if (!on) continue;
        const most = what === "size" ? data.longest[state.dims][i] : sizes()[i];
        kit.set(input, {min: what === "size" ? 2 : 1, max: most});
        node.firstChild.textContent = what === "size" ? `${plural[axes()[i]]}` : `in patches of`;
        input.setAttribute("aria-label", what === "size" ? `Number of ${plural[axes()[i]]}`
          : `Patch size along the ${axes()[i]} axis`);
        row[what].set((what === "size" ? sizes() : patch())[i]);
      }
    });
    if (width) drawBoard(width);
    update();
  }
  function update() {
    body.classList.toggle("pa-beside", state.dims === 2);
    const n = state.dims, error = refusal(), count = product(grid()), numbers = product(patch()) * state.channels;
    for (const {n: m, node} of chosen) node.setAttribute("aria-pressed", m === n);
    irregular.setAttribute("aria-pressed", state.irregular);
    irregular.textContent = `irregular ${axes()[0]}${n === 2 ? "s" : n === 3 ? " times" : "s"}`;
    problem.style.display = error ? "" : "none";
    problem.replaceChildren(kit.el("b", {}, "ValueError: "), error);
    paint();
    if (stripWidth) drawStrip(stripWidth);
    showToken(state.token);
    const index = place(state.token), held = index.map((k, i) => {
      const from = k * patch()[i], to = from + patch()[i] - 1;
      return from === to ? `${axes()[i]} ${from}` : `${plural[axes()[i]]} ${from}–${to}`;
    });
    const spelt = tuple(position(state.token).map(number));
    const dims = [...Array(n).keys()],
      pattern = `b ${dims.map(i => `(n${i} p${i})`).join(" ")} c -> b (${dims.map(i => `n${i}`).join(" ")}) `
      + `(${dims.map(i => `p${i}`).join(" ")} c)`;
    const code = text => kit.el("code", {}, text), br = () => kit.el("br");
    facts.replaceChildren(
      `${error ? "Patch" : "Token"} ${state.token} ${error ? "would hold" : `of ${count} holds`} ${held.join(", ")}: `
        + `${numbers} number${numbers === 1 ? "" : "s"}`, error ? "." : ` at position ${spelt}.`, br(),
      ...(error ? ["No tokens are made."] : ["values ", code(`(B, ${count}, ${numbers})`), ", positions ",
        code(`(B, ${count}, ${n})`)]), br(), code(pattern));
    board.setAttribute("aria-label",
      `${n}-dimensional array of size ${sizes().join(" by ")} in patches of ${patch().join(" by ")}`);
    announce(error || `Token ${state.token} of ${count}: ${held.join(", ")}, position ${spelt}.`);
    kit.state({dims: n, sizes: [...sizes()], patch: [...patch()], channels: state.channels, irregular: state.irregular,
      token: state.token,
      held: held.join(", "), tokens: error ? 0 : count, numbers: error ? 0 : numbers,
        position: error ? null : position(state.token).map(v => +v.toFixed(6)), error});
  }
  kit.sized(draw, drawBoard);
  kit.sized(line, drawStrip);
  refresh();
}

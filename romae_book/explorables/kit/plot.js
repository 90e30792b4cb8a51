// Parts that plots are made of: frames, rules, curves, axes, the marker that is dragged along, legends.
Object.assign(kit, {
  frame(svg, width, height, attributes = {}) {
    return kit.set(svg, {viewBox: `0 0 ${width} ${height}`, height, ...attributes});
  },
  rule(x1, y1, x2, y2, opacity = 0.12, attributes = {}) {
    return kit.svg("line", {x1, y1, x2, y2, style: "stroke:currentColor", "stroke-opacity": opacity, ...attributes});
  },
  // A line through points, in a CSS colour; none to draw: null for `points`, and "d" comes later.
  curve(points, colour, width = 1.5, dash = null, attributes = {}) {
    return kit.svg("path", {
      d: points && kit.path(points), fill: "none", style: `stroke:${colour}`,
      "stroke-width": width, "stroke-dasharray": dash, "stroke-linejoin": "round", ...attributes});
  },
  dot(cx, cy, r, colour, attributes = {}) {
    return kit.svg("circle", {cx, cy, r, style: `fill:${colour}`, ...attributes});
  },
  // The axes of a plot, as nodes that lie under everything else. box: {left, right, top, bottom} in pixels. An axis is
  // {scale, ticks, format, label}: `ticks` are values, by default those of the scale. Values of y have a rule each, a
  // stronger one at 0; x has a line where `line` is set, and its numbers lie `drop` pixels below the box.
  axes({left, right, top, bottom}, {x, y}) {
    const minus = v => String(v).replace("-", "−"), parts = [];
    if (y) {
      for (const v of y.ticks ?? y.scale.ticks()) {
        const at = y.scale(v);
        parts.push(kit.rule(left, at, right, at, v ? 0.11 : 0.4));
        parts.push(kit.text(left - 6, at + 4, (y.format ?? minus)(v), {"text-anchor": "end"}));
      }
      if (y.label) parts.push(kit.text(0, top - 10, y.label, {class: "romae-faint"}));
    }
    if (x) {
      const {drop = 16} = x, faint = {"text-anchor": "middle", class: "romae-faint"};
      if (x.line) parts.push(kit.rule(left, bottom, right, bottom, 0.45));
      for (const v of x.ticks ?? x.scale.ticks())
        parts.push(kit.text(x.scale(v), bottom + drop, (x.format ?? minus)(v), {"text-anchor": "middle"}));
      if (x.label) parts.push(kit.text((left + right) / 2, bottom + drop + 15, x.label, faint));
    }
    return parts;
  },
  // What is dragged along a plot: a line over its height, a triangle at its foot (or "top", or null), and where it
  // meets curves a dot each, [y, colour].
  marker(x, top, bottom, dots = [], foot = "bottom") {
    const triangle = {bottom: `M${x} ${bottom - 5}l7 8h-14z`, top: `M${x} ${top + 8}l-7 -9h14z`}[foot];
    return [
      kit.svg("rect", {x: x - 14, y: top - 2, width: 28, height: bottom - top + 18, fill: "transparent"}),
      kit.rule(x, top, x, bottom, 1, {"stroke-width": 1.3}),
      ...triangle ? [kit.svg("path", {d: triangle, style: "fill:currentColor"})] : [],
      ...dots.map(([y, colour]) => kit.dot(x, y, 4.6, colour, {"stroke-width": 1.2, stroke: "currentColor"}))];
  },
  // A short piece of a line, for legends.
  sample: ({colour, width = 2, dash = ""}) => kit.svg("svg", {viewBox: "0 0 30 10", "aria-hidden": "true"},
    kit.curve([[1, 5], [29, 5]], colour, width, dash)),
  // Rows that say what a line means, switch it on and off, and have numbers of their own. rows: [{id, name, colour,
  // width, dash}]; shown: {id: whether}, kept up to date; head: the words above, the first over the names and one over
  // each column of numbers. Returns the node and write(id, ...numbers).
  legend({rows, shown, head, change}) {
    const values = {}, columns = {style: `--columns:${head.length - 1}`};
    const buttons = rows.map(row => {
      values[row.id] = head.slice(1).map(() => kit.el("b"));
      const inside = [kit.sample(row), kit.el("span", {}, row.name), ...values[row.id]];
      const node = this.button(inside, {"aria-pressed": shown[row.id]}, () => {
        shown[row.id] = !shown[row.id];
        node.setAttribute("aria-pressed", shown[row.id]);
        change();
      });
      return node;
    });
    const title = kit.el("div", {class: "romae-legend-head romae-faint"},
      ...head.map(words => kit.el("span", {}, words)));
    return {
      node: kit.el("div", {class: "romae-legend", ...columns}, title, ...buttons),
      write(id, ...numbers) { numbers.forEach((number, i) => { values[id][i].textContent = number; }); }};
  },
  // What starts and stops a film.
  playButton(toggle) {
    const node = this.button("", {class: "romae-button", name: ""}, toggle);
    const icon = d => kit.svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"}, kit.svg("path", {d}));
    return {
      node,
      show(playing, start = "Play") {
        node.replaceChildren(
          icon(playing ? "M1 0h3v10h-3zM6 0h3v10h-3z" : "M1 0l9 5l-9 5z"),
            kit.el("span", {}, playing ? "Pause" : start));
      }};
  },
});

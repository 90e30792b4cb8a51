// RoMAE.forward as a list of steps: what each makes of the tokens, the shapes of its tensors, its weights and its cost.
function explorable(root, data, kit) {
  const state = {...data.examples[data.example], step: 0}, announce = kit.announcer(root);
  const names = Object.keys(data.examples), decoder = data.sizes[data.decoder];
  const shape = list => `(${list.join(", ")}${list.length === 1 ? "," : ""})`, count = n => n.toLocaleString("en");

  // --- the arithmetic of romae_book.explorables.autoencoder.forward_pass ---------------------------------------------
  const hiddenTokens = () => Math.min(Math.max(Math.ceil(state.ratio * state.tokens - 1e-9), 1), state.tokens - 1);
  function stages() {
    const {batch: B, tokens: N, patch: P, axes: D} = state, enc = data.sizes[state.size], dec = decoder;
    const M = hiddenTokens(), V = N - M, S = V + (state.cls ? 1 : 0), T = S + M;
    const stack = (name, s, n, what, row) => ({name, row, what, weights: s.depth * romae.blockWeights(s),
      cost: B * s.depth * romae.blockCost(s, n), wide: s.dim,
      tensors: {"cos, sin": [B, n, 1, s.dim / s.heads / 2], attention: [B, s.heads, n, n], x: [B, n, s.dim]}});
    const front = state.cls ? "c" : "", all = [
      {name: "tokens", row: "n", wide: P, tensors: {values: [B, N, P], positions: [B, N, D]},
        what: `Everything starts as values at positions: ${N} tokens, each `
          + `${P === 1 ? "one number" : `${P} numbers`} at a point with `
          + `${D === 1 ? "one coordinate" : `${D} coordinates`}.`},
      {name: "hide, split", row: "n", wide: 1, tensors: {visible: [B, V], hidden: [B, M]},
        what: `Draw which ${M} of the ${N} tokens are hidden, and turn that into two lists of indices.`},
      {name: "take", row: "v", wide: P, tensors: {values: [B, V, P], positions: [B, V, D]},
        what: "Gather the visible ones. From here on the hidden values are out of reach: no attention mask is needed "
          + "to keep the encoder honest."},
      {name: "embed", row: "v", wide: enc.dim, tensors: {x: [B, V, enc.dim]}, weights: P * enc.dim + enc.dim,
        cost: B * V * P * enc.dim,
        what: `One linear layer with bias takes ${P} ${P === 1 ? "number" : "numbers"} to ${enc.dim}. Nothing about `
          + `positions is added.`},
      ...state.cls ? [{name: "[CLS]", row: "cv", wide: enc.dim, tensors: {x: [B, S, enc.dim], positions: [B, S, D]},
        weights: enc.dim,
        what: "One learned vector goes in front, at position 0 on every axis."}] : [],
      stack("encoder", enc, S,
        `${enc.depth} blocks. Queries and keys of every head are turned by the angles of their positions; the table `
        + `of cosines and sines is made once and shared.`, front + "v"),
      {name: "project", row: front + "v", wide: dec.dim, tensors: {x: [B, S, dec.dim]},
        weights: enc.dim * dec.dim + dec.dim, cost: B * S * enc.dim * dec.dim,
        what: "A linear layer from the encoder's width to the decoder's."},
      {name: "mask tokens", row: front + "vm", wide: dec.dim, tensors: {x: [B, T, dec.dim], positions: [B, T, D]},
        weights: dec.dim,
        what: `${M} copies of one learned vector join behind, each with the position of a hidden token. The order `
          + `does not matter: positions do.`},
      stack("decoder", dec, T,
        `${dec.depth} blocks. Every mask token looks at the encoded tokens, and at the other mask tokens.`,
        front + "vm"),
      {name: "keep the hidden", row: "m", wide: dec.dim, tensors: {x: [B, M, dec.dim]},
        what: `Only the last ${M} outputs matter.`},
      {name: "head", row: "m", wide: P, tensors: {prediction: [B, M, P]}, weights: dec.dim + dec.dim * P + P,
        cost: B * M * dec.dim * P,
        what: "RMSNorm, then a linear layer: the predicted values."},
      {name: "loss", row: "m", wide: P, tensors: {target: [B, M, P], loss: []},
        what: "The mean squared error over the hidden tokens; no other token is scored."}];
    return {all: all.map(s => ({weights: 0, cost: 0, ...s})), N, M, V};
  }

  // --- controls ------------------------------------------------------------------------------------------------------
  const set = (name, v) => { state[name] = v; update(); };
  const numbers = values => values.map(v => [v, count(v)]);
  const example = kit.select({label: "Start from", options: names.map(n => [n, n]), value: data.example, change: v => {
    Object.assign(state, data.examples[v]);
    update();
  }});
  const size = kit.select({label: "Encoder", options: Object.keys(data.sizes).map(n => [n, n]), value: state.size,
    change: v => set("size", v)});
  const batch = kit.select({label: "B", options: numbers([1, 2, 8, 16, 32, 64, 1024]), value: state.batch,
    change: v => set("batch", +v)});
  const patch = kit.select({label: "P", options: numbers([1, 2, 3, 16, 48, 256, 768]), value: state.patch,
    change: v => set("patch", +v)});
  const axes = kit.select({label: "D", options: numbers([1, 2, 3]), value: state.axes, change: v => set("axes", +v)});
  [[batch, "Batch size B"], [patch, "Numbers per token P"],
    [axes, "Axes D"]].forEach(([{input}, name]) => input.setAttribute("aria-label", name));
  const tokens = kit.slider({label: "Tokens N", min: 2, max: 196, value: state.tokens, change: v => set("tokens", v)});
  const ratio = kit.slider({label: "Hide", min: 0.05, max: 0.95, step: 0.05, value: state.ratio,
    format: v => `${Math.round(100 * v)} %`, change: v => set("ratio", v)});
  const cls = kit.button("[CLS]", {class: "romae-button"}, () => set("cls", !state.cls));
  const step = kit.slider({label: "Step", min: 0, max: 11, value: 0, format: v => String(v + 1),
    describe: v => `step ${v + 1}`, change: v => set("step", v)});
  const turn = by => () => { const n = stages().all.length; set("step", (state.step + by + n) % n); };
  const rows = kit.el("div", {class: "fp-rows"}), detail = kit.el("div", {class: "fp-detail"});
  root.append(kit.el("div", {class: "fp-settings"}, example.node, size.node, tokens.node, ratio.node,
    kit.el("div", {class: "fp-pair"}, batch.node, patch.node, axes.node), kit.el("div", {class: "fp-pair"}, cls)), rows,
    kit.el("div", {class: "romae-row fp-steps"}, kit.button("←", {class: "romae-button", "aria-label": "Step back"},
      turn(-1)), step.node,
      kit.button("→", {class: "romae-button", "aria-label": "Step forward"}, turn(1))), detail);

  // --- drawing -------------------------------------------------------------------------------------------------------
  const styles = {c: "fill:currentColor;fill-opacity:.8", v: "fill:var(--romae-blue);fill-opacity:.75",
    m: "fill:none;stroke:var(--romae-vermillion);stroke-width:1.4",
    h: "fill:none;stroke:currentColor;stroke-opacity:.4;stroke-width:1"};
  // Which tokens are hidden in the drawing: spread by the golden ratio, so that any number of them looks like a random
  // draw.
  function pattern(N, M) {
    const rank = Array.from({length: N}, (_, i) => [(i + 1) * 0.6180339887 % 1, i]).sort((a, b) => a[0] - b[0]);
    const kinds = Array(N).fill("v");
    for (const [, i] of rank.slice(0, M)) kinds[i] = "h";
    return kinds;
  }
  let width = 0;
  function strip(stage, N, M, V) {
    const kinds = [...stage.row].flatMap(k => k === "n" ? stage.name === "tokens" ? Array(N).fill("v") : pattern(N,
      M) : Array({c: 1, v: V, m: M}[k]).fill(k));
    const pitch = Math.min(13, width / (N + 1)), height = 5 + 3.2 * Math.log10(stage.wide),
      gap = Math.min(1.5, pitch / 4), top = 8 - height / 2;
    const svg = kit.svg("svg", {viewBox: `0 0 ${Math.max(width, 10)} 16`, height: 16, "aria-hidden": "true"});
    kinds.forEach((kind, i) => svg.append(kit.svg("rect", {x: i * pitch + gap / 2, y: top, width: pitch - gap, height,
      rx: Math.min(1.5, pitch / 4), style: styles[kind]})));
    return svg;
  }
  function update() {
    const {all, N, M, V} = stages(), total = all.reduce((sum, s) => sum + s.cost, 0),
      weights = all.reduce((sum, s) => sum + s.weights, 0);
    state.step = Math.min(state.step, all.length - 1);
    const now = all[state.step], main = s => s.name === "loss" ? "a number" : s.tensors.visible
      ? `${shape(s.tensors.visible)}, ${shape(s.tensors.hidden)}` : shape(s.tensors.x ?? s.tensors.values
      ?? s.tensors.prediction);
    size.input.value = state.size;
    batch.input.value = state.batch;
    patch.input.value = state.patch;
    axes.input.value = state.axes;
    tokens.set(state.tokens); ratio.set(state.ratio);
    cls.setAttribute("aria-pressed", state.cls);
    step.input.max = all.length - 1;
    step.set(state.step);
    rows.replaceChildren(...all.map((s, i) => kit.el("div", {class: "fp-row" + (i === state.step ? " fp-on" : ""),
      onclick: () => set("step", i)},
      kit.el("span", {}, s.name), kit.el("div", {}, ...width ? [strip(s, N, M, V)] : []),
        kit.el("span", {}, main(s)))));
    const share = total ? 100 * now.cost / total : 0;
    detail.replaceChildren(kit.el("p", {}, now.what), kit.el("ul", {},
      ...Object.entries(now.tensors).map(([name, s]) => kit.el("li", {}, kit.el("b", {}, name), ` ${shape(s)}`)),
      kit.el("li", {}, kit.el("b", {}, "weights"), ` ${count(now.weights)} of ${count(weights)}`),
      kit.el("li", {}, kit.el("b", {}, "multiplications"), ` ${count(now.cost)}, ${share.toFixed(1)} % of the pass`)));
    const shapes = Object.entries(now.tensors).map(([name, s]) => `${name} ${s.join(" by ")}`).join(", ");
    announce(`${now.name}: ${shapes}. ${now.what} ${M} of ${N} tokens hidden; ${count(weights)} weights in all.`);
    kit.state({step: state.step, stage: now.name, settings: {batch: state.batch, tokens: N, patch: state.patch,
      axes: state.axes, ratio: +state.ratio.toFixed(2), size: state.size, cls: state.cls},
      tensors: now.tensors, weights: now.weights, multiplications: now.cost, all_weights: weights,
        all_multiplications: total});
  }
  kit.sized(rows, w => { width = w > 520 ? w - 18.7 * 14 - 26 : w; update(); });
  update();
}

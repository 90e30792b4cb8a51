// An encoder with a head on every token, its gradient, and Adam: as `romae_lite.model.RoMAEPredictor` with pool "token"
// and one output computes it. Weights by the names of its state_dict, as flat Float64Arrays; matrices are flat, row by
// row. The gradient is the chain rule written out by hand: tests/test_explorables_cls.py compares it with PyTorch's.
const trainer = {
  // model: {dim, heads, depth, ff, p, base, patch, cls, rotary}. Fresh weights as PyTorch's linear layers start.
  build(model, seed) {
    const random = kit.random(seed), {dim, ff, patch} = model, weights = {};
    const matrix = (name, outputs, inputs, wide = 1 / Math.sqrt(inputs)) => {
      weights[name] = Float64Array.from({length: outputs * inputs}, () => wide * (2 * random() - 1));
    };
    matrix("encoder.embed.weight", dim, patch);
    matrix("encoder.embed.bias", dim, 1, 1 / Math.sqrt(patch));
    if (model.cls) matrix("encoder.cls", dim, 1, 0.03);
    for (let layer = 0; layer < model.depth; layer++) {
      const name = `encoder.stack.blocks.${layer}.`;
      for (const norm of ["norm1", "norm2"]) weights[`${name}${norm}.weight`] = new Float64Array(dim).fill(1);
      matrix(name + "attention.qkv.weight", 3 * dim, dim);
      matrix(name + "attention.out.weight", dim, dim);
      matrix(name + "ff.up.weight", ff, dim);
      matrix(name + "ff.down.weight", dim, ff);
    }
    weights["head.1.weight"] = new Float64Array(dim).fill(1);
    matrix("head.2.weight", 1, dim);
    weights["head.2.bias"] = new Float64Array(1);
    return {...model, weights};
  },
  count: model => Object.values(model.weights).reduce((sum, w) => sum + w.length, 0),

  // --- parts: each returns its output and a function that takes the output's gradient back to the input's ------------
  linear(x, weight, gradient, n, inputs) {  // x (n, inputs), weight (outputs, inputs) -> (n, outputs)
    const outputs = weight.length / inputs, y = new Float64Array(n * outputs);
    for (let r = 0; r < n; r++) for (let o = 0; o < outputs; o++) {
      let sum = 0;
      for (let i = 0, a = r * inputs, b = o * inputs; i < inputs; i++) sum += x[a + i] * weight[b + i];
      y[r * outputs + o] = sum;
    }
    return [y, dy => {
      const dx = new Float64Array(n * inputs);
      for (let r = 0; r < n; r++) for (let o = 0; o < outputs; o++) {
        const g = dy[r * outputs + o];
        for (let i = 0, a = r * inputs, b = o * inputs; i < inputs; i++) {
          dx[a + i] += g * weight[b + i];
          gradient[b + i] += g * x[a + i];
        }
      }
      return dx;
    }];
  },
  norm(x, gain, gradient, n, dim) {  // RMSNorm, row by row
    const y = new Float64Array(x.length), scales = new Float64Array(n);
    for (let r = 0; r < n; r++) {
      let sum = 0;
      for (let i = r * dim; i < (r + 1) * dim; i++) sum += x[i] * x[i];
      const s = scales[r] = 1 / Math.sqrt(sum / dim + 1e-12);
      for (let i = 0; i < dim; i++) y[r * dim + i] = x[r * dim + i] * s * gain[i];
    }
    return [y, dy => {
      const dx = new Float64Array(x.length);
      for (let r = 0; r < n; r++) {
        const s = scales[r], start = r * dim;
        let along = 0;
        for (let i = 0; i < dim; i++) along += gain[i] * dy[start + i] * x[start + i];
        for (let i = 0; i < dim; i++) {
          dx[start + i] = s * (gain[i] * dy[start + i] - x[start + i] * s * s * along / dim);
          gradient[i] += dy[start + i] * x[start + i] * s;
        }
      }
      return dx;
    }];
  },
  silu(x) {
    const gate = x.map(v => 1 / (1 + Math.exp(-v)));
    return [x.map((v, i) => v * gate[i]), dy => dy.map((g, i) => g * gate[i] * (1 + x[i] * (1 - gate[i])))];
  },
  // Turns queries and keys of every token in place; sign -1 turns them back, which is also what a gradient needs.
  rotate(qkv, turns, {dim, heads}, sign) {
    const half = dim / heads / 2, n = turns.length / (2 * half);
    for (let r = 0; r < n; r++) for (let h = 0; h < 2 * heads; h++) for (let i = 0; i < half; i++) {
      const turn = 2 * (half * r + i), cos = turns[turn], sin = turns[turn + 1], at = 3 * dim * r + 2 * half * h + i,
        a = qkv[at], b = qkv[at + half];
      qkv[at] = a * cos - sign * b * sin;
      qkv[at + half] = b * cos + sign * a * sin;
    }
  },
  // Attention within each sample of `tokens` rows; qkv (n, 3 dim), queries and keys turned already -> (n, dim).
  mix(qkv, n, tokens, {dim, heads}) {
    const width = dim / heads, scale = 1 / Math.sqrt(width), wide = 3 * dim, out = new Float64Array(n * dim);
    const shares = new Float64Array(n * heads * tokens);  // of row r, head h: from (r heads + h) tokens
    for (let r = 0; r < n; r++) for (let h = 0; h < heads; h++) {
      const first = r - r % tokens, at = (r * heads + h) * tokens, q = r * wide + h * width;
      let top = -Infinity, total = 0;
      for (let m = 0; m < tokens; m++) {
        const k = (first + m) * wide + dim + h * width;
        let sum = 0;
        for (let i = 0; i < width; i++) sum += qkv[q + i] * qkv[k + i];
        top = Math.max(top, shares[at + m] = sum * scale);
      }
      for (let m = 0; m < tokens; m++) total += shares[at + m] = Math.exp(shares[at + m] - top);
      for (let m = 0; m < tokens; m++) {
        const share = shares[at + m] /= total, v = (first + m) * wide + 2 * dim + h * width;
        for (let i = 0; i < width; i++) out[r * dim + h * width + i] += share * qkv[v + i];
      }
    }
    return [out, dy => {
      const d = new Float64Array(qkv.length), dshare = new Float64Array(tokens);
      for (let r = 0; r < n; r++) for (let h = 0; h < heads; h++) {
        const first = r - r % tokens, at = (r * heads + h) * tokens, q = r * wide + h * width, o = r * dim + h * width;
        let mean = 0;
        for (let m = 0; m < tokens; m++) {
          const v = (first + m) * wide + 2 * dim + h * width, share = shares[at + m];
          let sum = 0;
          for (let i = 0; i < width; i++) { sum += dy[o + i] * qkv[v + i]; d[v + i] += share * dy[o + i]; }
          dshare[m] = sum;
          mean += sum * share;
        }
        for (let m = 0; m < tokens; m++) {
          const g = scale * shares[at + m] * (dshare[m] - mean), k = (first + m) * wide + dim + h * width;
          for (let i = 0; i < width; i++) { d[q + i] += g * qkv[k + i]; d[k + i] += g * qkv[q + i]; }
        }
      }
      return d;
    }];
  },

  // --- the model -----------------------------------------------------------------------------------------------------
  // values: (N tokens, patch), the same in every sample; positions: samples of N numbers. Returns the head's number for
  // every token, sample after sample, and a function from its gradient to the weights'.
  run(model, values, positions) {
    const {dim, heads, depth, patch, weights: w} = model, N = values.length, tokens = N + model.cls,
      n = positions.length * tokens;
    const gradient = Object.fromEntries(Object.entries(w).map(([name, list]) => [name, new Float64Array(list.length)]));
    const thetas = kit.frequencies(dim / heads, model.p, model.base),
      turn = at => thetas.flatMap(theta => [Math.cos(at * theta), Math.sin(at * theta)]);
    const turns = model.rotary && Float64Array.from(positions.flatMap(places => [...(model.cls ? [0] : []),
      ...places].flatMap(turn)));
    let x = new Float64Array(n * dim);
    for (let r = 0; r < n; r++) for (let i = 0; i < dim; i++) {
      const t = r % tokens - model.cls;
      if (t < 0) { x[r * dim + i] = w["encoder.cls"][i]; continue; }
      let sum = w["encoder.embed.bias"][i];
      for (let c = 0; c < patch; c++) sum += w["encoder.embed.weight"][i * patch + c] * values[t][c];
      x[r * dim + i] = sum;
    }
    const back = [], add = (a, b) => {
      const sum = a.slice();
      for (let i = 0; i < sum.length; i++) sum[i] += b[i];
      return sum;
    };
    const linear = (h, name, inputs) => trainer.linear(h, w[name], gradient[name], n, inputs);
    const norm = (h, name) => trainer.norm(h, w[name], gradient[name], n, dim);
    for (let layer = 0; layer < depth; layer++) {
      const of = part => `encoder.stack.blocks.${layer}.${part}.weight`;
      const [h1, back1] = norm(x, of("norm1")), [qkv, back2] = linear(h1, of("attention.qkv"), dim);
      if (turns) trainer.rotate(qkv, turns, model, 1);
      const [mixed, back3] = trainer.mix(qkv, n, tokens, model), [out, back4] = linear(mixed, of("attention.out"), dim);
      x = add(x, out);
      const [h2, back5] = norm(x, of("norm2")), [up, back6] = linear(h2, of("ff.up"), dim),
        [bent, back7] = trainer.silu(up), [down, back8] = linear(bent, of("ff.down"), model.ff);
      x = add(x, down);
      back.push(dx => {
        dx = add(dx, back5(back6(back7(back8(dx)))));
        const dqkv = back3(back4(dx));
        if (turns) trainer.rotate(dqkv, turns, model, -1);
        return add(dx, back1(back2(dqkv)));
      });
    }
    const [h, backNorm] = norm(x, "head.1.weight"), [y, backHead] = linear(h, "head.2.weight", dim),
      bias = w["head.2.bias"][0];
    const own = [];
    for (let r = 0; r < n; r++) if (!model.cls || r % tokens) own.push(r);
    return [own.map(r => y[r] + bias), dy => {
      const all = new Float64Array(n);
      own.forEach((r, i) => { all[r] = dy[i]; gradient["head.2.bias"][0] += dy[i]; });
      let dx = backNorm(backHead(all));
      for (const step of back.reverse()) dx = step(dx);
      for (let r = 0; r < n; r++) for (let i = 0; i < dim; i++) {
        const t = r % tokens - model.cls, g = dx[r * dim + i];
        if (t < 0) { gradient["encoder.cls"][i] += g; continue; }
        gradient["encoder.embed.bias"][i] += g;
        for (let c = 0; c < patch; c++) gradient["encoder.embed.weight"][i * patch + c] += g * values[t][c];
      }
      return gradient;
    }];
  },
  // Mean squared difference from the targets (samples of N numbers), and its gradient.
  gradient(model, values, positions, targets) {
    const [y, back] = trainer.run(model, values, positions), error = targets.flat().map((t, i) => y[i] - t);
    const loss = error.reduce((sum, e) => sum + e * e, 0) / error.length;
    return {loss, gradient: back(error.map(e => 2 * e / error.length))};
  },
  // Adam on a gradient whose norm is cut at 1; memory {t, m, v} is kept between the steps.
  step(model, gradient, memory, lr) {
    let norm = 0;
    for (const g of Object.values(gradient)) for (const v of g) norm += v * v;
    const cut = Math.min(1, 1 / Math.sqrt(norm + 1e-12)), t = memory.t = (memory.t || 0) + 1;
    for (const [name, w] of Object.entries(model.weights)) {
      const [m, v] = memory[name] ??= [new Float64Array(w.length), new Float64Array(w.length)], grad = gradient[name];
      for (let i = 0; i < w.length; i++) {
        const g = grad[i] * cut;
        m[i] += 0.1 * (g - m[i]);
        v[i] += 0.001 * (g * g - v[i]);
        w[i] -= lr * m[i] / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8);
      }
    }
  },
};

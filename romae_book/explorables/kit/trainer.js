// Two small models, their gradients, and Adam. A predictor, an encoder with a head on every token, is
// `romae_lite.model.RoMAEPredictor` with pool "token" and one output; a masked autoencoder is `romae_lite.model.RoMAE`
// with `alone`, encoder and decoder of one size. Weights by the names of its state_dict, as flat Float64Arrays;
// matrices are flat, row by row. The gradients are the chain rule written out by hand; tests/test_explorables_cls.py
// and tests/test_explorables_learn_to_fill.py compare them with PyTorch's.
const trainer = {
  // model: {dim, heads, depth, ff, p, base, patch, cls, rotary, masked}. Fresh weights, as PyTorch's linear layers
  // start.
  build(model, seed) {
    const random = kit.random(seed), {dim, ff, patch} = model, weights = {};
    const matrix = (name, outputs, inputs, wide = 1 / Math.sqrt(inputs)) => {
      weights[name] = Float64Array.from({length: outputs * inputs}, () => wide * (2 * random() - 1));
    };
    const stack = start => {
      for (let layer = 0; layer < model.depth; layer++) {
        const name = `${start}.blocks.${layer}.`;
        for (const norm of ["norm1", "norm2"]) weights[`${name}${norm}.weight`] = new Float64Array(dim).fill(1);
        matrix(name + "attention.qkv.weight", 3 * dim, dim);
        matrix(name + "attention.out.weight", dim, dim);
        matrix(name + "ff.up.weight", ff, dim);
        matrix(name + "ff.down.weight", dim, ff);
      }
    };
    matrix("encoder.embed.weight", dim, patch);
    matrix("encoder.embed.bias", dim, 1, 1 / Math.sqrt(patch));
    if (model.cls) matrix("encoder.cls", dim, 1, 0.03);
    stack("encoder.stack");
    if (model.masked) {
      matrix("project.weight", dim, dim);
      matrix("project.bias", dim, 1, 1 / Math.sqrt(dim));
      matrix("mask_token", dim, 1, 0.03);
      stack("decoder");
    }
    weights["head.1.weight"] = new Float64Array(dim).fill(1);
    matrix("head.2.weight", 1, dim);
    weights["head.2.bias"] = new Float64Array(1);
    return {...model, weights};
  },
  count: model => Object.values(model.weights).reduce((sum, w) => sum + w.length, 0),

  // --- parts: each returns its output and a function that takes the output's gradient back to the input's ------------
  linear(x, weight, gradient, n, inputs) {  // x (n, inputs), weight (outputs, inputs) -> (n, outputs)
    const outputs = weight.length / inputs, y = new Float64Array(n * outputs), whole = inputs - inputs % 4;
    for (let r = 0; r < n; r++) for (let o = 0; o < outputs; o++) {
      const a = r * inputs, b = o * inputs;
      let s = 0, t = 0, u = 0, v = 0, i = 0;  // four sums, since each addition would wait for the one before it
      for (; i < whole; i += 4) {
        s += x[a + i] * weight[b + i];
        t += x[a + i + 1] * weight[b + i + 1];
        u += x[a + i + 2] * weight[b + i + 2];
        v += x[a + i + 3] * weight[b + i + 3];
      }
      for (; i < inputs; i++) s += x[a + i] * weight[b + i];
      y[r * outputs + o] = s + t + (u + v);
    }
    return [y, dy => {
      const dx = new Float64Array(n * inputs);
      trainer.addProduct(dx, n, inputs, outputs, dy, outputs, 1, weight);
      trainer.addProduct(gradient, outputs, inputs, n, dy, 1, outputs, x);
      return dx;
    }];
  },
  // out (rows, columns) += a b, where a (rows, inner) has its next row `down` and its next column `along` numbers on.
  // Four columns at a time: sums that stay in registers are twice as fast as sums in arrays.
  addProduct(out, rows, columns, inner, a, down, along, b) {
    const whole = columns - columns % 4;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < whole; c += 4) {
        let s = 0, t = 0, u = 0, v = 0;
        for (let k = 0, i = r * down, j = c; k < inner; k++, i += along, j += columns) {
          const w = a[i];
          s += w * b[j]; t += w * b[j + 1]; u += w * b[j + 2]; v += w * b[j + 3];
        }
        const to = r * columns + c;
        out[to] += s; out[to + 1] += t; out[to + 2] += u; out[to + 3] += v;
      }
      for (let c = whole; c < columns; c++)
        for (let k = 0; k < inner; k++) out[r * columns + c] += a[r * down + k * along] * b[k * columns + c];
    }
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
  // Attention within each sample of `tokens` rows, of which the first `heard` are looked at; qkv (n, 3 dim), queries
  // and keys turned already -> (n, dim).
  mix(qkv, n, tokens, {dim, heads}, heard = tokens) {
    const width = dim / heads, scale = 1 / Math.sqrt(width), wide = 3 * dim, out = new Float64Array(n * dim);
    const shares = new Float64Array(n * heads * heard);  // of row r, head h: from (r heads + h) heard
    for (let r = 0; r < n; r++) for (let h = 0; h < heads; h++) {
      const first = r - r % tokens, at = (r * heads + h) * heard, q = r * wide + h * width;
      let top = -Infinity, total = 0;
      for (let m = 0; m < heard; m++) {
        const k = (first + m) * wide + dim + h * width;
        let sum = 0;
        for (let i = 0; i < width; i++) sum += qkv[q + i] * qkv[k + i];
        top = Math.max(top, shares[at + m] = sum * scale);
      }
      for (let m = 0; m < heard; m++) total += shares[at + m] = Math.exp(shares[at + m] - top);
      for (let m = 0; m < heard; m++) {
        const share = shares[at + m] /= total, v = (first + m) * wide + 2 * dim + h * width;
        for (let i = 0; i < width; i++) out[r * dim + h * width + i] += share * qkv[v + i];
      }
    }
    return [out, dy => {
      const d = new Float64Array(qkv.length), dshare = new Float64Array(heard);
      for (let r = 0; r < n; r++) for (let h = 0; h < heads; h++) {
        const first = r - r % tokens, at = (r * heads + h) * heard, q = r * wide + h * width, o = r * dim + h * width;
        let mean = 0;
        for (let m = 0; m < heard; m++) {
          const v = (first + m) * wide + 2 * dim + h * width, share = shares[at + m];
          let sum = 0;
          for (let i = 0; i < width; i++) { sum += dy[o + i] * qkv[v + i]; d[v + i] += share * dy[o + i]; }
          dshare[m] = sum;
          mean += sum * share;
        }
        for (let m = 0; m < heard; m++) {
          const g = scale * shares[at + m] * (dshare[m] - mean), k = (first + m) * wide + dim + h * width;
          for (let i = 0; i < width; i++) { d[q + i] += g * qkv[k + i]; d[k + i] += g * qkv[q + i]; }
        }
      }
      return d;
    }];
  },

  // --- parts of both models ------------------------------------------------------------------------------------------
  add(a, b) {
    const sum = a.slice();
    for (let i = 0; i < sum.length; i++) sum[i] += b[i];
    return sum;
  },
  zeros: ({weights}) => Object.fromEntries(Object.entries(weights).map(([name, w]) => [name,
    new Float64Array(w.length)])),
  // Cosine and sine of each pair of channels at each of the places, one after the other; null without rotations.
  turns({dim, heads, p, base, rotary}, places) {
    const thetas = kit.frequencies(dim / heads, p, base);
    return rotary && Float64Array.from(places.flatMap(at => thetas.flatMap(theta => [Math.cos(at * theta),
      Math.sin(at * theta)])));
  },
  // Values, samples of N tokens of P numbers each, with [CLS] in front of each sample where the model has one.
  embed({dim, patch, cls, weights: w}, values, gradient) {
    const tokens = values[0].length + cls, n = values.length * tokens, x = new Float64Array(n * dim);
    const each = use => {
      for (let r = 0; r < n; r++) for (let i = 0; i < dim; i++)
        use(r * dim + i, i, values[Math.floor(r / tokens)][r % tokens - cls]);
    };
    each((at, i, token) => {
      if (!token) { x[at] = w["encoder.cls"][i]; return; }
      x[at] = w["encoder.embed.bias"][i];
      for (let c = 0; c < patch; c++) x[at] += w["encoder.embed.weight"][i * patch + c] * token[c];
    });
    return [x, dx => each((at, i, token) => {
      if (!token) { gradient["encoder.cls"][i] += dx[at]; return; }
      gradient["encoder.embed.bias"][i] += dx[at];
      for (let c = 0; c < patch; c++) gradient["encoder.embed.weight"][i * patch + c] += dx[at] * token[c];
    })];
  },
  // Blocks on samples of `tokens` rows each, the first `heard` of which are looked at.
  stack(model, start, x, tokens, turns, gradient, heard = tokens) {
    const {dim, ff, depth, weights: w} = model, n = x.length / dim, back = [], {add} = trainer;
    for (let layer = 0; layer < depth; layer++) {
      const of = part => `${start}.blocks.${layer}.${part}.weight`;
      const linear = (h, part, inputs) => trainer.linear(h, w[of(part)], gradient[of(part)], n, inputs);
      const norm = part => trainer.norm(x, w[of(part)], gradient[of(part)], n, dim);
      const [h1, back1] = norm("norm1"), [qkv, back2] = linear(h1, "attention.qkv", dim);
      if (turns) trainer.rotate(qkv, turns, model, 1);
      const [mixed, back3] = trainer.mix(qkv, n, tokens, model, heard),
        [out, back4] = linear(mixed, "attention.out", dim);
      x = add(x, out);
      const [h2, back5] = norm("norm2"), [up, back6] = linear(h2, "ff.up", dim), [bent, back7] = trainer.silu(up),
        [down, back8] = linear(bent, "ff.down", ff);
      x = add(x, down);
      back.push(dx => {
        dx = add(dx, back5(back6(back7(back8(dx)))));
        const dqkv = back3(back4(dx));
        if (turns) trainer.rotate(dqkv, turns, model, -1);
        return add(dx, back1(back2(dqkv)));
      });
    }
    return [x, dx => back.reduceRight((d, step) => step(d), dx)];
  },
  // One number for each of n rows.
  head({dim, weights: w}, x, gradient) {
    const n = x.length / dim, [h, backNorm] = trainer.norm(x, w["head.1.weight"], gradient["head.1.weight"], n, dim),
      [y, backLinear] = trainer.linear(h, w["head.2.weight"], gradient["head.2.weight"], n, dim);
    return [y.map(v => v + w["head.2.bias"][0]), dy => {
      for (const g of dy) gradient["head.2.bias"][0] += g;
      return backNorm(backLinear(dy));
    }];
  },
  // The last rows of each sample of `tokens` rows, `count` of them, and what puts a gradient back at their places.
  last(x, tokens, count, dim) {
    const samples = x.length / tokens / dim, y = new Float64Array(samples * count * dim), skip = tokens - count;
    for (let s = 0; s < samples; s++)
      y.set(x.subarray((s * tokens + skip) * dim, (s + 1) * tokens * dim), s * count * dim);
    return [y, dy => {
      const dx = new Float64Array(x.length);
      for (let s = 0; s < samples; s++)
        dx.set(dy.subarray(s * count * dim, (s + 1) * count * dim), (s * tokens + skip) * dim);
      return dx;
    }];
  },

  // --- the models ----------------------------------------------------------------------------------------------------
  // Predictor. values: (N tokens, patch), the same in every sample; positions: samples of N numbers. Returns the head's
  // number for every token, sample after sample, and a function from its gradient to the weights'.
  run(model, values, positions) {
    const gradient = trainer.zeros(model), N = values.length, tokens = N + model.cls, front = model.cls ? [0] : [];
    const turns = trainer.turns(model, positions.flatMap(places => [...front, ...places]));
    const [x, backEmbed] = trainer.embed(model, positions.map(() => values), gradient),
      [h, backStack] = trainer.stack(model, "encoder.stack", x, tokens, turns, gradient),
      [own, backLast] = trainer.last(h, tokens, N, model.dim), [y, backHead] = trainer.head(model, own, gradient);
    return [[...y], dy => {
      backEmbed(backStack(backLast(backHead(dy))));
      return gradient;
    }];
  },
  // Masked autoencoder. values, positions: samples of V numbers, what is shown; asked: samples of M positions. Returns
  // an answer for every asked position, sample after sample, and a function from its gradient to the weights'.
  fill(model, values, positions, asked) {
    const {dim, cls, weights: w} = model, gradient = trainer.zeros(model), front = cls ? [0] : [];
    const seen = positions[0].length + cls, M = asked[0].length, tokens = seen + M, samples = values.length;
    const turns = places => trainer.turns(model, places.flat()), shown = positions.map(list => [...front, ...list]);
    const [x, backEmbed] = trainer.embed(model, values.map(list => list.map(v => [v])), gradient),
      [coded, backEncoder] = trainer.stack(model, "encoder.stack", x, seen, turns(shown), gradient),
      [plain, backProject] = trainer.linear(coded, w["project.weight"], gradient["project.weight"], samples * seen,
        dim);
    const all = new Float64Array(samples * tokens * dim);
    for (let r = 0; r < samples * tokens; r++) {
      const s = Math.floor(r / tokens), t = r % tokens;
      for (let i = 0; i < dim; i++) all[r * dim + i] = t < seen
        ? plain[(s * seen + t) * dim + i] + w["project.bias"][i] : w.mask_token[i];
    }
    const [out, backDecoder] = trainer.stack(model, "decoder", all, tokens, turns(shown.map((list, s) => [...list,
      ...asked[s]])), gradient, seen);
    const [own, backLast] = trainer.last(out, tokens, M, dim), [y, backHead] = trainer.head(model, own, gradient);
    return [y, dy => {
      const d = backDecoder(backLast(backHead(dy))), dplain = new Float64Array(plain.length);
      for (let r = 0; r < samples * tokens; r++) {
        const s = Math.floor(r / tokens), t = r % tokens;
        for (let i = 0; i < dim; i++) {
          const g = d[r * dim + i];
          if (t >= seen) { gradient.mask_token[i] += g; continue; }
          gradient["project.bias"][i] += g;
          dplain[(s * seen + t) * dim + i] = g;
        }
      }
      backEmbed(backEncoder(backProject(dplain)));
      return gradient;
    }];
  },
  // Mean squared difference of answers, as `run` and `fill` return them, from the targets, and its gradient.
  error([y, back], targets) {
    const error = Float64Array.from(targets.flat(), (t, i) => y[i] - t), n = error.length;
    return {loss: error.reduce((sum, e) => sum + e * e, 0) / n, gradient: back(error.map(e => 2 * e / n))};
  },
  gradient: (model, values, positions, targets) => trainer.error(trainer.run(model, values, positions), targets),
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

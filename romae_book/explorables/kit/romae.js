// RoMAE for one sample, as `romae_lite.model.RoMAE` computes it, from what `page/weights.py` packed. Put into the page
// of a figure that needs it. A sample is a list of tokens (lists of P numbers) and a list of their positions (D
// numbers).
const romae = {
  // Settings, and weights by name as flat lists.
  load({names, weights, ...settings}) {
    const bytes = atob(weights), model = {...settings, weights: {}};
    let at = 0;
    for (const [name, shape] of names) {
      const list = new Float64Array(shape.reduce((a, b) => a * b, 1));
      for (let i = 0; i < list.length;
        i++, at += 2) list[i] = romae.half(bytes.charCodeAt(at) | bytes.charCodeAt(at + 1) << 8);
      model.weights[name] = list;
    }
    return model;
  },
  half(bits) {  // IEEE half precision
    const exponent = bits >> 10 & 31, fraction = bits & 1023;
    return (bits & 0x8000 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024)
      : 2 ** -14 * fraction / 1024);
  },
  linear(x, weight, bias) {  // weight (outputs, inputs), row by row
    const n = x.length, out = new Float64Array(weight.length / n);
    for (let o = 0, w = 0; o < out.length; o++, w += n) out[o] = romae.dot(weight, w, x, 0, n) + (bias ? bias[o] : 0);
    return out;
  },
  // Sum of n products: four sums at a time, since each addition would wait for the one before it.
  dot(a, i, b, j, n) {
    let s = 0, t = 0, u = 0, v = 0, k = 0;
    for (; k + 3 < n; k += 4) {
      s += a[i + k] * b[j + k];
      t += a[i + k + 1] * b[j + k + 1];
      u += a[i + k + 2] * b[j + k + 2];
      v += a[i + k + 3] * b[j + k + 3];
    }
    for (; k < n; k++) s += a[i + k] * b[j + k];
    return s + t + (u + v);
  },
  norm(x, gain) {  // RMSNorm
    let sum = 0;
    for (const v of x) sum += v * v;
    const scale = 1 / Math.sqrt(sum / x.length + 1e-12);
    return x.map((v, i) => v * scale * gain[i]);
  },
  silu: x => x.map(v => v / (1 + Math.exp(-v))),
  // Cosines and sines of the pairs of a head at each position: the pairs of the first axis, then those of the next.
  rotation({axes, p, base}, width, positions) {
    const thetas = kit.frequencies(width / axes, p, base);
    return positions.map(position => position.flatMap(at => thetas.map(theta => [Math.cos(at * theta),
      Math.sin(at * theta)])));
  },
  rotate(x, start, turns) {  // in place, one head; channel i is paired with channel i + half
    for (let i = 0, half = turns.length; i < half; i++) {
      const [cos, sin] = turns[i], a = x[start + i], b = x[start + half + i];
      x[start + i] = a * cos - b * sin;
      x[start + half + i] = b * cos + a * sin;
    }
  },
  // heard: how many of the tokens, from the first on, are looked at; turns may be missing; bias(head, n, m) is added to
  // scores.
  attention(x, weight, {dim, heads}, turns, heard, bias = () => 0) {
    const width = dim / heads, scale = 1 / Math.sqrt(width), qkv = x.map(row => romae.linear(row, weight("qkv")));
    if (turns) qkv.forEach((row, n) => { for (let h = 0; h < 2 * heads; h++) romae.rotate(row, h * width, turns[n]); });
    const scores = new Float64Array(heard);
    return qkv.map((query, n) => {
      const mixed = new Float64Array(dim);
      for (let start = 0; start < dim; start += width) {
        const end = start + width;
        for (let m = 0; m < scores.length; m++) {
          scores[m] = scale * romae.dot(query, start, qkv[m], dim + start, width) + bias(start / width, n, m);
        }
        let top = -Infinity, total = 0;
        for (let m = 0; m < scores.length; m++) if (scores[m] > top) top = scores[m];
        for (let m = 0; m < scores.length; m++) total += scores[m] = Math.exp(scores[m] - top);
        for (let m = 0; m < scores.length; m++) {
          const value = qkv[m], share = scores[m] / total;
          for (let i = start; i < end; i++) mixed[i] += share * value[2 * dim + i];
        }
      }
      return romae.linear(mixed, weight("out"));
    });
  },
  // A model may have a way of its own to be told positions, place(name, size, positions): `turns`, what is `added` to
  // the tokens, and `bias` of a layer. All others rotate.
  stack(model, name, size, x, positions, heard = x.length) {
    const add = (row, more) => row.map((v, i) => v + more[i]), how = model.place?.(name, size, positions)
      ?? {turns: romae.rotation(model, size.dim / size.heads, positions)};
    if (how.added) x = x.map((row, n) => add(row, how.added[n]));
    for (let layer = 0; layer < size.depth; layer++) {
      const of = part => model.weights[`${name}.blocks.${layer}.${part}.weight`];
      const mixed = romae.attention(x.map(row => romae.norm(row, of("norm1"))), part => of("attention." + part), size,
        how.turns, heard, how.bias?.(layer));
      x = x.map((row, n) => add(row, mixed[n]));
      x = x.map(row => add(row, romae.linear(romae.silu(romae.linear(romae.norm(row, of("norm2")), of("ff.up"))),
        of("ff.down"))));
    }
    return x;
  },
  // The visible tokens once they are through the encoder and as wide as the decoder, with their places; [CLS] in front.
  encode(model, values, positions) {
    const w = model.weights, x = values.map(v => romae.linear(v, w["encoder.embed.weight"], w["encoder.embed.bias"])),
      places = [...positions];
    if (model.cls) { x.unshift(w["encoder.cls"]); places.unshift(Array(model.axes).fill(0)); }
    return {places, x: romae.stack(model, "encoder.stack", model.encoder, x, places).map(row => romae.linear(row,
      w["project.weight"], w["project.bias"]))};
  },
  // What belongs at the asked places, P numbers each: one mask token stands at each of them. Of a model with `alone`
  // they are not looked at by one another, and each answer is what it would be if nothing else were asked.
  decode(model, {x, places}, asked) {
    const w = model.weights, all = romae.stack(model, "decoder", model.decoder, x.concat(asked.map(() => w.mask_token)),
      places.concat(asked), x.length + (model.alone ? 0 : asked.length));
    return all.slice(x.length).map(row => romae.linear(romae.norm(row, w["head.1.weight"]), w["head.2.weight"],
      w["head.2.bias"]));
  },
  // What the model says of the hidden tokens: {index: P numbers}. hidden: a set of indices; any number of the others is
  // visible.
  predict(model, values, positions, hidden) {
    const all = positions.map((_, i) => i), visible = all.filter(i => !hidden.has(i)),
      gone = all.filter(i => hidden.has(i)), of = list => i => list[i];
    const said = romae.decode(model, romae.encode(model, visible.map(of(values)), visible.map(of(positions))),
      gone.map(of(positions)));
    return Object.fromEntries(gone.map((i, m) => [i, said[m]]));
  },
  // Of one block: its weights, and its multiplications with n tokens (norms, rotations and softmax are not counted).
  blockWeights: size => 4 * size.dim ** 2 + 2 * size.dim * size.ff + 2 * size.dim,
  blockCost: (size, n) => n * (4 * size.dim ** 2 + 2 * size.dim * size.ff) + 2 * n ** 2 * size.dim,
};

// A model whose weights travel as signed bytes, from what `in_bytes` of weights.py packed.
romae.loadBytes = ({names, bytes, ...settings}) => {
  const raw = atob(bytes), model = {...settings, weights: {}};
  let at = 0;
  for (const [name, shape, step] of names) {
    const n = shape.reduce((a, b) => a * b, 1);
    model.weights[name] = Float64Array.from({length: n}, (_, i) => step * (raw.charCodeAt(at + i) << 24 >> 24));
    at += n;
  }
  return model;
};

"""Values at positions: the one shape that every data set takes here (paper Sec. 4, Fig. 1).

An image, a clip, a light curve and a table of lab values all become ``Tokens``: B samples of N tokens, each a vector of
P values at a point of a D-dimensional space. Short samples are filled up with padding, which nothing may ever count.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import torch
from einops import rearrange
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from . import checks
from .io import digest


def to_device(tensor: Tensor, device) -> Tensor:
    """Copy to `device`. Copies to CUDA are asynchronous, from pinned (hence contiguous) memory; MPS gets float32 for
    float64."""
    kind = torch.device(device).type
    if kind == "cuda" and tensor.device.type == "cpu":
        return tensor.contiguous().pin_memory().to(device, non_blocking=True)
    if kind == "mps" and tensor.dtype == torch.float64:
        tensor = tensor.float()
    return tensor.to(device)


@dataclass(frozen=True, kw_only=True, eq=False)  # of tensors == has no one answer; `fingerprint` has
class Tokens:
    """A batch (or a whole data set) of tokens.

    values     (B, N, P) float32: what was measured; one token is one patch of P numbers; cast on construction
    positions  (B, N, D) float64: where; cast on construction, since float32 cannot hold astronomers' time stamps
    pad        (B, N) bool or None: True where a slot holds no token; what is in there is set to zero
    aux        named tensors with first dimension B that travel along: labels, clean curves, fixed masks ...
    per_token  names of those in aux that are (B, N, ...), an entry for every token: what cuts tokens cuts them too
    scale      the `Scale` that turns them back into a table's units, of B samples; None: they come from no table

    All may be numpy arrays. Raises TypeError for what is no array of real numbers; ValueError for an empty batch,
    shapes that do not match, a sample that is all padding, NaN or infinite numbers outside the padding, NaN anywhere in
    aux, and positions beyond 2^53, where float64 has no room left for fractions; naming the field and the first bad
    entry.
    """

    values: Tensor
    positions: Tensor
    pad: Tensor | None = None
    aux: Mapping[str, Tensor] = field(default_factory=dict)
    per_token: frozenset[str] = frozenset()
    scale: "Scale | None" = None  # noqa: F821 (series, which has it, stands on tokens)

    def __post_init__(self):
        checks.kind("aux", self.aux, Mapping)
        checks.kind("per_token", self.per_token, frozenset | set | list | tuple)
        for name in self.aux:
            checks.kind("a name in aux", name, str)
        new = {name: checks.tensor(name, getattr(self, name)) for name in ("values", "positions")}
        new["aux"] = {name: checks.tensor(f"aux[{name!r}]", value) for name, value in self.aux.items()}
        new["pad"] = None if self.pad is None else checks.tensor("pad", self.pad)
        new["per_token"] = frozenset(self.per_token)
        values, positions, pad = new["values"], new["positions"], new["pad"]
        rows = values.shape[:2]
        right = values.ndim == positions.ndim == 3 and positions.shape[:2] == rows
        right &= 0 not in (*values.shape, *positions.shape)
        checks.shapes(right, "be (B, N, P) and (B, N, D), none of these 0", values=values, positions=positions)
        if pad is not None:
            checks.shapes(pad.shape == rows and pad.dtype == torch.bool, f"be bool of shape {tuple(rows)}", pad=pad)
            if (empty := pad.all(1)).any():
                raise ValueError(f"pad leaves no token in sample {int(empty.nonzero()[0])}; drop empty samples first")
        new["values"] = values.float()
        if positions.device.type != "mps":  # has no float64
            new["positions"] = positions.double()
        for name, limit in (("values", math.inf), ("positions", 2.0**53)):
            bad = ~(new[name].abs() < limit).all(-1)  # (B, N); true of NaN as well
            if pad is not None:
                bad &= ~pad
            if bad.any():
                sample, token = bad.nonzero()[0].tolist()
                what = "NaN or infinite" if limit == math.inf else "NaN, infinite or beyond 2^53"
                raise ValueError(f"{name} of sample {sample}, token {token} is {what}; drop or mask it first")
            if pad is not None:  # a NaN there would poison the sums over a batch: 0 x NaN is NaN
                new[name] = new[name].masked_fill(pad[..., None], 0)
        for name, value in new["aux"].items():
            if value.ndim == 0 or len(value) != len(values):
                raise ValueError(f"aux[{name!r}] has shape {tuple(value.shape)}; the batch has {len(values)} samples")
            if value.isnan().any():
                raise ValueError(f"aux[{name!r}] of sample {int(value.isnan().nonzero()[0, 0])} is NaN")
        for name in new["per_token"]:
            shape = tuple(new["aux"][name].shape[:2]) if name in new["aux"] else "missing"
            if shape != tuple(rows):
                raise ValueError(f"per_token names {name!r}, which is {shape} in aux; it must be {tuple(rows)} or more")
        if self.scale is not None:
            if not hasattr(self.scale, "ids"):
                raise TypeError(f"scale is {self.scale!r}; it must be a Scale, as `from_table` makes it, or None")
            if len(self.scale.ids) != len(values):
                raise ValueError(f"scale is that of {len(self.scale.ids)} samples; the batch has {len(values)}")
        for name, value in new.items():
            object.__setattr__(self, name, value)

    @property
    def real(self) -> Tensor:
        """(B, N) bool: True where there is a token."""
        if self.pad is None:
            return torch.ones(self.values.shape[:2], dtype=torch.bool, device=self.values.device)
        return ~self.pad

    @property
    def lengths(self) -> Tensor:
        """(B,) how many tokens each sample has."""
        return self.real.sum(1)

    @property
    def padded(self) -> bool:
        return self.pad is not None

    @property
    def device(self) -> torch.device:
        return self.values.device

    def fingerprint(self) -> str:
        """SHA-256 of everything that is in them."""
        arrays = {"values": self.values, "positions": self.positions, "real": self.real}
        arrays |= {f"aux.{name}": tensor for name, tensor in self.aux.items()}  # labels and masks too
        return digest({name: tensor.cpu() for name, tensor in arrays.items()})

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index) -> "Tokens":
        """Some samples, by slice, list, array or tensor of rows. Checked once already, so not checked again."""
        if not isinstance(index, slice):
            rows = torch.as_tensor(index) if isinstance(index, list | np.ndarray | Tensor) else None
            rows = rows.long() if rows is not None and not rows.numel() else rows  # an empty list would be of floats
            if rows is None or rows.ndim != 1:
                raise TypeError(
                    f"tokens[{index}] would change the dimensions; write tokens[i : i + 1] or tokens[[i, j]]"
                )
            index = rows
        new = self._map(lambda t: t[index])
        if not len(new):
            raise ValueError(f"tokens[{index}] holds no sample of {len(self)}")
        if self.scale is not None:
            object.__setattr__(new, "scale", self.scale[index])
        return new

    def to(self, device) -> "Tokens":
        """The same tokens on another device, in one copy each."""
        return self._map(lambda t: to_device(t, device))

    def _map(self, change, aux=None) -> "Tokens":
        """Without a check: changed tensors, those in aux as aux(name, tensor) says, or changed likewise."""
        aux = aux or (lambda name, tensor: change(tensor))
        new = object.__new__(Tokens)
        for name in ("values", "positions", "pad"):
            value = getattr(self, name)
            object.__setattr__(new, name, None if value is None else change(value))
        object.__setattr__(new, "aux", {name: aux(name, value) for name, value in self.aux.items()})
        object.__setattr__(new, "per_token", self.per_token)
        object.__setattr__(new, "scale", self.scale)
        return new

    def with_values(self, values: Tensor) -> "Tokens":
        """The same tokens with other values (B, N, P), made on their device; a check would wait for a GPU."""
        new = self._map(lambda t: t)
        object.__setattr__(new, "values", values)
        return new

    def cut(self, chosen: slice) -> "Tokens":
        """The same samples with some of their slots; aux with an entry for each token is cut along."""
        return self._map(lambda t: t[:, chosen], lambda name, t: t[:, chosen] if name in self.per_token else t)


def collate(samples: Sequence[tuple[Tensor, Tensor]], *, scale=None, **aux: Tensor) -> Tokens:
    """Samples of different lengths -> one batch, filled up with padding at the end.

    samples: pairs of values (N_i, P) and positions (N_i, D), tensors or numpy arrays. scale, aux: as in `Tokens`.
    """
    checks.kind("samples", samples, list | tuple)
    if not samples:
        raise ValueError(f"samples is {samples!r}, empty; a batch needs at least one sample")
    for i, pair in enumerate(samples):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TypeError(f"samples[{i}] is {pair!r}; it must be a pair of values and positions")
    pairs = [
        tuple(
            checks.tensor(f"{name} of sample {i}", part)
            for name, part in zip(("values", "positions"), pair, strict=True)
        )
        for i, pair in enumerate(samples)
    ]
    for i, pair in enumerate(pairs):
        for name, part, first in zip(("values", "positions"), pair, pairs[0], strict=True):
            right = part.ndim == 2 and part.shape[1] == first.shape[-1]
            checks.shapes(right, f"be (N, {first.shape[-1]}), as sample 0", **{f"{name} of sample {i}": part})
        if len(pair[0]) != len(pair[1]):
            raise ValueError(f"sample {i} has {len(pair[0])} values at {len(pair[1])} positions")
    values, positions = zip(*pairs, strict=True)
    lengths = torch.tensor([len(v) for v in values])
    pad = torch.arange(int(lengths.max())) >= lengths[:, None]  # (B, N)
    return Tokens(
        values=pad_sequence([v.float() for v in values], batch_first=True),
        positions=pad_sequence([x.double() for x in positions], batch_first=True),
        pad=pad if pad.any() else None,
        aux=aux,
        scale=scale,
    )


def patchify(
    array: Tensor, patch: Sequence[int], coordinates: Sequence[Tensor | None] | None = None
) -> tuple[Tensor, Tensor]:
    """Cut an n-dimensional array with channels into patches (paper Sec. 4.1, Fig. 1).

    array        (B, *sizes, C), with n sizes; n = len(patch), any n >= 1
    patch        patch size along each dimension; must divide the size
    coordinates  for each dimension the (size,) coordinates of its points, or None for 0, 1, 2, ... in units of patches.
                 A patch sits at the mean coordinate of its points.

    Returns values (B, N, prod(patch) * C) and positions (B, N, n), float64, in row-major order of the patches.

    Raises ValueError where a patch does not divide its dimension, and where it is larger than 1 along a dimension whose
    coordinates are not equally spaced (Proposition 4.1): a patch has one position, and how far apart its points are
    would be lost.
    """
    array = checks.tensor("array", array)
    checks.wholes("patch", patch, 1)
    checks.kind("coordinates", coordinates, list | tuple | None)
    n, sizes = len(patch), array.shape[1:-1]
    if array.ndim != n + 2 or not n or 0 in array.shape:
        raise ValueError(f"array has shape {tuple(array.shape)}; with {n} patch sizes it must be (B, {n} sizes, C)")
    if coordinates is None:
        coordinates = [None] * n
    if len(coordinates) != n:
        raise ValueError(f"coordinates are given for {len(coordinates)} dimensions; patch has {n}")
    axes = []
    for i, (size, step, points) in enumerate(zip(sizes, patch, coordinates, strict=True)):
        if size % step:
            raise ValueError(f"patch[{i}] is {step}, which does not divide the size {size} of that dimension")
        if points is None:
            axes.append(torch.arange(size // step, dtype=torch.float64))
            continue
        points = checks.tensor(f"coordinates[{i}]", points)
        if points.shape != (size,):
            raise ValueError(f"coordinates[{i}] has shape {tuple(points.shape)}; the dimension has {size} points")
        if not points.isfinite().all():
            raise ValueError(f"coordinates[{i}] holds numbers that are not finite; drop those points first")
        # equal gaps are no more equal than their ends are exact
        rounding = torch.finfo(points.dtype).eps * float(points.abs().max()) if points.is_floating_point() else 0.0
        points = points.double()
        gaps = points.diff()
        if step > 1 and not gaps.any():
            raise ValueError(f"coordinates[{i}] are all the same; patch[{i}] is {step} and must be 1 there")
        if step > 1 and not torch.allclose(gaps, gaps.mean(), rtol=1e-6, atol=2 * rounding):
            raise ValueError(
                f"patch[{i}] is {step} along an irregular dimension (gaps from {gaps.min():.4g} to {gaps.max():.4g}); "
                "it must be 1 there (Proposition 4.1): a patch has one position, and how far apart its points are "
                "would be lost"
            )
        axes.append(points.view(-1, step).mean(1))
    values = rearrange(array, _pattern(n), **{f"p{i}": step for i, step in enumerate(patch)})
    positions = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).flatten(0, -2)  # (N, n)
    return values, to_device(positions, array.device).expand(len(array), -1, -1)


def unpatchify(values: Tensor, patch: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Inverse of `patchify`: values (B, N, prod(patch) * C) -> array (B, *sizes, C)."""
    values = checks.tensor("values", values)
    checks.wholes("patch", patch, 1)
    checks.wholes("sizes", sizes, 1)
    if len(patch) != len(sizes) or not patch:
        raise ValueError(f"patch has {len(patch)} dimensions, sizes has {len(sizes)}; they must agree")
    if bad := [i for i, (size, step) in enumerate(zip(sizes, patch, strict=True)) if size % step]:
        raise ValueError(f"patch[{bad[0]}] is {patch[bad[0]]}, which does not divide sizes[{bad[0]}], {sizes[bad[0]]}")
    grid = [size // step for size, step in zip(sizes, patch, strict=True)]
    right = values.shape[1:2] == (prod(grid),) and values.ndim == 3 and not values.shape[2] % prod(patch)
    checks.shapes(right and 0 not in values.shape, f"be (B, {prod(grid)}, a multiple of {prod(patch)})", values=values)
    left, right = _pattern(len(patch)).split(" -> ")
    lengths = {f"p{i}": step for i, step in enumerate(patch)} | {f"n{i}": g for i, g in enumerate(grid)}
    return rearrange(values, f"{right} -> {left}", **lengths)


def _pattern(n: int) -> str:
    """einops pattern for n dimensions, for example n = 2: 'b (n0 p0) (n1 p1) c -> b (n0 n1) (p0 p1 c)'."""
    dims = range(n)
    return (
        f"b {' '.join(f'(n{i} p{i})' for i in dims)} c -> "
        f"b ({' '.join(f'n{i}' for i in dims)}) ({' '.join(f'p{i}' for i in dims)} c)"
    )

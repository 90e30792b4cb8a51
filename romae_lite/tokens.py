"""Values at positions: the one shape that every data set takes (paper Sec. 4, Fig. 1).

Images, clips, light curves and tables become `Tokens`: B samples of N tokens, each a
vector of P values at a point in D dimensions. Short samples are filled up with padding.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from . import checks
from .io import digest


def to_device(tensor: Tensor, device) -> Tensor:
    """Copy to a device: to CUDA asynchronously, to MPS without float64."""
    kind = torch.device(device).type
    if kind == "cuda" and tensor.device.type == "cpu":
        return tensor.contiguous().pin_memory().to(device, non_blocking=True)
    if kind == "mps" and tensor.dtype == torch.float64:
        tensor = tensor.float()
    return tensor.to(device)


# of tensors == has no one answer; `fingerprint` has
@dataclass(frozen=True, kw_only=True, eq=False)
class Tokens:
    """A batch, or a whole data set, of tokens.

    Parameters
    ----------
    values : array of shape (B, N, P)
        What was measured; one token is one patch of P numbers. Cast to float32.
    positions : array of shape (B, N, D)
        Where. Cast to float64: float32 cannot hold astronomers' time stamps.
    pad : bool array of shape (B, N), optional
        True where a slot holds no token; what is in there is set to zero.
    aux : dict of arrays, optional
        Of first dimension B, to travel along: labels, clean curves, fixed masks ...
    per_token : set of str, optional
        Names of those in aux that are (B, N, ...), an entry for every token: what cuts
        tokens cuts them too.
    scale : Scale, optional
        Turns them back into a table's units; `from_table` makes it.

    Nothing real may be NaN or infinite, nothing in aux NaN, no position beyond 2^53.
    """

    values: Tensor
    positions: Tensor
    pad: Tensor | None = None
    aux: Mapping[str, Tensor] = field(default_factory=dict)
    per_token: frozenset[str] = frozenset()
    scale: "Scale | None" = None  # noqa: F821 (series, which has it, stands on tokens)

    def __post_init__(self):
        sets = frozenset | set | list | tuple
        checks.each(vars(self), aux=checks.a(Mapping), per_token=checks.a(sets))
        for name in self.aux:
            checks.kind("a name in aux", name, str)
        values = checks.tensor("values", self.values).float()
        positions = checks.tensor("positions", self.positions)
        if positions.device.type != "mps":  # has no float64
            positions = positions.double()
        rows = values.shape[:2]
        right = values.ndim == positions.ndim == 3 and positions.shape[:2] == rows
        right = right and 0 not in (*values.shape, *positions.shape)
        want = "be (B, N, P) and (B, N, D), none of these 0"
        checks.shapes(right, want, values=values, positions=positions)
        pad = self.pad
        if pad is not None:
            pad = checks.tensor("pad", pad)
            right = pad.shape == rows and pad.dtype == torch.bool
            checks.shapes(right, f"be bool of shape {tuple(rows)}", pad=pad)
            if (empty := pad.all(1)).any():
                i = int(empty.nonzero()[0])
                raise ValueError(f"pad leaves no token in sample {i}; drop it first")
        aux = {n: checks.tensor(f"aux[{n!r}]", t) for n, t in self.aux.items()}
        for name, value in aux.items():
            right = value.ndim > 0 and len(value) == len(values)
            want = f"have a row for each of {len(values)} samples"
            checks.shapes(right, want, **{f"aux[{name!r}]": value})
            if (nan := value.isnan()).any():
                i = int(nan.nonzero()[0, 0])
                raise ValueError(f"aux[{name!r}] of sample {i} is NaN")
        for name in self.per_token:
            shape = tuple(aux[name].shape[:2]) if name in aux else "missing"
            if shape != tuple(rows):
                what = f"per_token names {name!r}, which is {shape} in aux"
                raise ValueError(f"{what}; it must be {tuple(rows)} or more")
        if self.scale is not None:
            if not hasattr(self.scale, "ids"):
                raise TypeError(f"scale is {self.scale!r}; it must be a Scale or None")
            if (n := len(self.scale.ids)) != len(values):
                raise ValueError(f"scale is that of {n} samples, not {len(values)}")
        self._set(
            values=_filled("values", values, pad, math.inf),
            positions=_filled("positions", positions, pad, 2.0**53),
            pad=pad, aux=aux, per_token=frozenset(self.per_token),
        )

    def _set(self, **fields) -> "Tokens":
        """Set fields of this frozen object, unchecked; return it."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        return self

    @property
    def real(self) -> Tensor:
        """(B, N) bool: True where there is a token."""
        if self.pad is None:
            rows = self.values.shape[:2]
            return torch.ones(rows, dtype=torch.bool, device=self.values.device)
        return ~self.pad

    @property
    def lengths(self) -> Tensor:
        """(B,) how many tokens each sample has."""
        return self.real.sum(1)

    @property
    def shape(self) -> torch.Size:
        """(B, N, P). Cross-validation of scikit-learn asks for it."""
        return self.values.shape

    @property
    def device(self) -> torch.device:
        return self.values.device

    def fingerprint(self) -> str:
        """SHA-256 of everything that is in them, labels and masks too."""
        arrays = {"values": self.values, "positions": self.positions, "real": self.real}
        arrays |= {f"aux.{name}": tensor for name, tensor in self.aux.items()}
        return digest({name: tensor.cpu() for name, tensor in arrays.items()})

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index) -> "Tokens":
        """Some samples, by slice, list, array or tensor of rows or of bools."""
        if isinstance(index, tuple) and index[1:] == (...,):  # as scikit-learn asks
            index = index[0]
        if not isinstance(index, slice):
            index = self._rows(index)
        new = self._map(lambda t: t[index])
        if not len(new):
            raise ValueError(f"tokens[{index}] holds no sample of {len(self)}")
        return new if self.scale is None else new._set(scale=self.scale[index])

    @staticmethod
    def _rows(index) -> Tensor:
        rows = None
        if isinstance(index, list | np.ndarray | Tensor):
            rows = index if isinstance(index, Tensor) else checks.array("index", index)
            rows = checks.tensor("index", rows)
            rows = rows if rows.numel() else rows.long()  # an empty list is of floats
        if rows is None or rows.ndim != 1 or rows.is_floating_point():
            raise TypeError(
                f"tokens[{index}] would change the dimensions, or names no rows; write "
                "tokens[i : i + 1] or tokens[[i, j]]"
            )
        return rows

    def to(self, device) -> "Tokens":
        """The same tokens on another device, in one copy each."""
        return self._map(lambda t: to_device(t, device))

    def _map(self, change, aux=None) -> "Tokens":
        """Change tensors, those in aux by aux(name, tensor) if given, unchecked."""
        aux = aux or (lambda name, tensor: change(tensor))
        return object.__new__(Tokens)._set(
            values=change(self.values),
            positions=change(self.positions),
            pad=None if self.pad is None else change(self.pad),
            aux={name: aux(name, tensor) for name, tensor in self.aux.items()},
            per_token=self.per_token,
            scale=self.scale,
        )

    def with_values(self, values: Tensor) -> "Tokens":
        """The same with other values (B, N, P), not checked: no GPU is waited for."""
        return self._map(lambda t: t)._set(values=values)

    def cut(self, chosen: slice) -> "Tokens":
        """The same samples with some of their slots, `per_token` aux included."""
        return self._map(
            lambda t: t[:, chosen],
            lambda name, t: t[:, chosen] if name in self.per_token else t,
        )


def _filled(name: str, tensor: Tensor, pad: Tensor | None, limit: float) -> Tensor:
    """Check that real tokens are finite, and set the others to zero."""
    bad = ~(tensor.abs() < limit).all(-1)  # (B, N); true of NaN as well
    if pad is not None:
        bad &= ~pad
    if bad.any():
        sample, token = bad.nonzero()[0].tolist()
        what = "NaN, infinite or beyond 2^53" if limit < math.inf else "NaN or infinite"
        first = f"{name} of sample {sample}, token {token}"
        raise ValueError(f"{first} is {what}; drop or mask it first")
    # a NaN in the padding would poison the sums over a batch: 0 x NaN is NaN
    return tensor if pad is None else tensor.masked_fill(pad[..., None], 0)


def collate(
    samples: Sequence[tuple[Tensor, Tensor]], *, scale=None, **aux: Tensor
) -> Tokens:
    """Put samples of different lengths into one batch, with padding at the end.

    Parameters
    ----------
    samples : list of pairs of arrays
        Values (N_i, P) and positions (N_i, D) of each sample.
    scale, **aux
        As in `Tokens`.
    """
    checks.kind("samples", samples, list | tuple)
    if not samples:
        raise ValueError("samples is empty; a batch needs at least one sample")
    pairs = []
    for i, pair in enumerate(samples):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            want = "it must be a pair of values and positions"
            raise TypeError(f"samples[{i}] is {pair!r}; {want}")
        names = (f"values of sample {i}", f"positions of sample {i}")
        pairs.append([checks.tensor(n, t) for n, t in zip(names, pair, strict=True)])
        for name, part, first in zip(names, pairs[i], pairs[0], strict=True):
            wide = first.shape[-1]
            right = part.ndim == 2 and part.shape[1] == wide
            checks.shapes(right, f"be (N, {wide}), as sample 0", **{name: part})
        if len(pairs[i][0]) != len(pairs[i][1]):
            n, at = map(len, pairs[i])
            raise ValueError(f"sample {i} has {n} values at {at} positions")
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
    array: Tensor, patch: Sequence[int],
    coordinates: Sequence[Tensor | None] | None = None,
) -> tuple[Tensor, Tensor]:
    """Cut an n-dimensional array with channels into patches (paper Sec. 4.1, Fig. 1).

    Parameters
    ----------
    array : array of shape (B, *sizes, C)
        With n sizes, any n >= 1.
    patch : sequence of n int
        Patch size along each dimension; must divide the size.
    coordinates : sequence of n arrays, optional
        For each dimension the (size,) coordinates of its points, or None for 0, 1, 2,
        ... in units of patches. A patch sits at the mean coordinate of its points;
        where they are not equally spaced it must be 1 (Proposition 4.1).

    Returns
    -------
    values : Tensor of shape (B, N, prod(patch) * C)
        In row-major order of the patches.
    positions : Tensor of shape (B, N, n)
        float64.
    """
    array = checks.tensor("array", array)
    checks.wholes("patch", patch, 1)
    checks.kind("coordinates", coordinates, list | tuple | None)
    n, sizes = len(patch), array.shape[1:-1]
    right = array.ndim == n + 2 and n and 0 not in array.shape
    checks.shapes(right, f"be (B, {n} sizes, C), as patch has {n}", array=array)
    coordinates = [None] * n if coordinates is None else coordinates
    if (m := len(coordinates)) != n:
        raise ValueError(f"coordinates are given for {m} dimensions; patch has {n}")
    for i, (whole, step) in enumerate(zip(sizes, patch, strict=True)):
        if whole % step:
            what = f"patch[{i}] is {step}, which does not divide sizes[{i}]"
            raise ValueError(f"{what}, {whole}")
    grid = [whole // step for whole, step in zip(sizes, patch, strict=True)]
    axes = []
    for i, points in enumerate(coordinates):
        if points is None:
            axes.append(torch.arange(grid[i], dtype=torch.float64))
        else:
            axes.append(_patch_centres(i, points, sizes[i], patch[i]))
    pairs = (x for pair in zip(grid, patch, strict=True) for x in pair)
    values = array.reshape(len(array), *pairs, array.shape[-1])  # (B, n0, p0, .., C)
    patches, insides = range(1, 2 * n, 2), range(2, 2 * n + 1, 2)
    values = values.permute(0, *patches, *insides, 2 * n + 1)  # (B, n0, .., p0, .., C)
    values = values.reshape(len(array), prod(grid), -1)
    positions = torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1)
    positions = positions.flatten(0, -2)  # (N, n)
    return values, to_device(positions, array.device).expand(len(array), -1, -1)


def _patch_centres(i: int, points: Tensor, size: int, step: int) -> Tensor:
    """Mean coordinate of each `step` of the points (size,) of dimension i."""
    name = f"coordinates[{i}]"
    points = checks.tensor(name, points)
    checks.shapes(points.shape == (size,), f"be ({size},)", **{name: points})
    if not points.isfinite().all():
        raise ValueError(f"{name} holds numbers that are not finite; drop those points")
    rounding = 0.0  # equal gaps are no more equal than their ends are exact
    if points.is_floating_point():
        rounding = torch.finfo(points.dtype).eps * float(points.abs().max())
    points = points.double()
    gaps = points.diff()
    if step > 1 and not gaps.any():
        raise ValueError(f"{name} are all the same; patch[{i}] is {step}, must be 1")
    if step > 1 and not torch.allclose(gaps, gaps.mean(), rtol=1e-6, atol=2 * rounding):
        raise ValueError(
            f"patch[{i}] is {step} along an irregular dimension (gaps from "
            f"{gaps.min():.4g} to {gaps.max():.4g}); it must be 1 there (Proposition "
            "4.1): a patch has one position, and how far apart its points are would be "
            "lost"
        )
    return points.view(-1, step).mean(1)

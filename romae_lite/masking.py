"""Which tokens are hidden: seeded, blind to padding (paper Sec. 4.2; He et al., 2022).

`hide` draws a mask, `split` turns it into the indices of visible and hidden tokens.
Both work on the host, where counting waits for no GPU.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .checks import kind, number, shapes, tensor, whole
from .tokens import to_device


def hide(
    real: Tensor,
    *,
    ratio: float | tuple[float, float] | None = None,
    visible: int | Tensor | None = None,
    generator: torch.Generator,
) -> Tensor:
    """Choose tokens to hide, uniformly at random among the real ones.

    Parameters
    ----------
    real : bool array of shape (B, N)
        True where there is a token; at least two in every sample.
    ratio : float or pair of float
        Fraction to hide: ceil(ratio * real tokens) of each sample. A pair (low, high)
        draws one per sample.
    visible : int or int array of shape (B,)
        Instead of a ratio: how many tokens stay visible.
    generator : torch.Generator
        Source of randomness, on the CPU.

    Returns
    -------
    bool Tensor of shape (B, N)
        On the CPU, True where hidden. Every sample keeps at least one visible and one
        hidden token.
    """
    real = _mask("real", real)
    rows = real.sum(1)  # (B,)
    if (short := rows < 2).any():
        i = int(short.nonzero()[0])
        raise ValueError(f"sample {i} has {rows[i]} real token(s); masking needs two")
    if (ratio is None) == (visible is None):
        both = f"ratio is {ratio!r} and visible is {visible!r}"
        raise ValueError(f"{both}; give either ratio or visible")
    kind("generator", generator, torch.Generator)
    if visible is not None:
        keep = _counts(visible, rows)
    else:
        pair = isinstance(ratio, tuple | list) and len(ratio) == 2
        low, high = ratio if pair else (ratio, ratio)
        number("ratio", low, lambda v: 0 < v < 1, "lie strictly between 0 and 1")
        number("ratio", high, lambda v: low <= v < 1, f"lie between {low} and 1")
        share = torch.full((len(rows),), low, dtype=torch.float64)
        if high > low:
            noise = torch.rand(len(rows), dtype=torch.float64, generator=generator)
            share = low + (high - low) * noise
        # the 1e-9 keeps ceil(0.6 * 75) at 45 where floating point has 45.00000000000001
        hidden = (share * rows - 1e-9).ceil().long()
        keep = (rows - hidden).clamp(min=1).minimum(rows - 1)
    noise = torch.rand(real.shape, generator=generator)
    rank = noise.masked_fill(~real, 2.0).argsort(1).argsort(1)  # padding ranks last
    return (rank >= keep[:, None]) & real


def _counts(visible: int | Tensor, rows: Tensor) -> Tensor:
    """How many tokens of each sample stay visible, (B,), from 1 to rows - 1."""
    if not isinstance(visible, Tensor | np.ndarray):
        whole("visible", visible, 1)
        visible = torch.tensor(visible)
    keep = tensor("visible", visible).cpu()
    right = keep.dtype != torch.bool and not keep.is_floating_point()
    right = right and keep.shape in ((), rows.shape)
    want = f"be one whole number, or {len(rows)} for the rows of real"
    shapes(right, want, visible=keep)
    keep = keep.expand(len(rows))
    if (bad := (keep < 1) | (keep >= rows)).any():
        i = int(bad.nonzero()[0])
        what = f"visible is {keep[i]} for sample {i} with {rows[i]} real tokens"
        raise ValueError(f"{what}; it must lie in 1..{rows[i] - 1}")
    return keep


@dataclass(frozen=True)
class Split:
    """Indices of visible and hidden tokens, V and M of them in the fullest samples.

    Where a sample has fewer, its row is filled up with other indices and the pad mask
    is True there (None where nothing is filled up).
    """

    visible: Tensor  # (B, V) long
    hidden: Tensor  # (B, M) long
    visible_pad: Tensor | None  # (B, V) bool
    hidden_pad: Tensor | None  # (B, M) bool

    def check(self, real: Tensor) -> None:
        """Raise ValueError where this is no split of tokens real (B, N).

        On a GPU only shapes are looked at, since the host would have to wait for more.
        """
        batch, n = real.shape
        widest = max(self.visible.shape[1], self.hidden.shape[1])
        if not len(self.visible) == len(self.hidden) == batch or widest > n:
            what = f"{len(self.visible)} samples with {widest} tokens or more"
            raise ValueError(f"the split is of {what}; these are {batch} with {n}")
        on_cpu = self.visible.device.type == real.device.type == "cpu"
        if torch.compiler.is_compiling() or not on_cpu:
            return
        count = torch.zeros(batch, n, dtype=torch.long)
        parts = ((self.visible, self.visible_pad), (self.hidden, self.hidden_pad))
        for index, pad in parts:
            once = torch.ones_like(index) if pad is None else (~pad).long()
            count.scatter_add_(1, index, once)
        if (wrong := (count != real).any(1)).any():
            what = f"padding of sample {int(wrong.nonzero()[0])}, or a token twice"
            raise ValueError(f"the split shows or hides {what}")

    def to(self, device) -> "Split":
        parts = vars(self).values()
        return Split(*(None if t is None else to_device(t, device) for t in parts))


def split(hidden: Tensor, real: Tensor) -> Split:
    """hidden, real (B, N) bool -> indices of the visible and the hidden tokens."""
    hidden, real = _mask("hidden", hidden), _mask("real", real)
    shapes(hidden.shape == real.shape, "agree", hidden=hidden, real=real)
    indices, pads = [], []
    for name, chosen in (("visible", real & ~hidden), ("hidden", real & hidden)):
        count = chosen.sum(1)  # (B,)
        if (none := count == 0).any():
            raise ValueError(f"sample {int(none.nonzero()[0])} has no {name} token")
        width = int(count.max())
        indices.append((~chosen).byte().argsort(dim=1, stable=True)[:, :width])
        equal = int(count.min()) == width
        pads.append(None if equal else torch.arange(width) >= count[:, None])
    return Split(*indices, *pads)


def _mask(name: str, value) -> Tensor:
    value = tensor(name, value).cpu()
    right = value.ndim == 2 and value.dtype == torch.bool and 0 not in value.shape
    shapes(right, "be bool of shape (B, N)", **{name: value})
    return value


def take(x: Tensor, index: Tensor) -> Tensor:
    """The tokens at the given indices: x (B, N, ...), index (B, K) -> (B, K, ...)."""
    x, index = tensor("x", x), tensor("index", index)
    right = x.ndim > 1 and index.ndim == 2 and len(index) == len(x)
    right = right and index.dtype == torch.long
    shapes(right, "be (B, N, ...) and torch.int64 of shape (B, K)", x=x, index=index)
    return x[torch.arange(len(x), device=x.device)[:, None], index]

"""Which tokens are hidden: vectorised, seeded, blind to padding (paper Sec. 4.2; He et al., 2022).

`hide` draws the mask; `split` turns it into index tensors that gather the visible tokens for the encoder and the hidden
ones for the decoder. Everything is a sort: no loop over samples, the same work for equal and for varying numbers. Both
work on the host, where counting waits for no GPU; `Split.to` brings the result there.
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

    real       (B, N) bool, True where there is a token
    ratio      fraction to hide: ceil(ratio * real tokens) of each sample. A pair (low, high) draws one per sample.
    visible    instead of a ratio: how many tokens stay visible, one number or (B,) numbers
    generator  source of randomness, on the CPU

    Returns (B, N) bool, on the CPU, True where hidden. Every sample keeps at least one visible and one hidden token.

    Raises ValueError for samples with fewer than two real tokens, ratios outside (0, 1), and counts that leave nothing
    to hide.
    """
    real = _mask("real", real)
    rows = real.sum(1)  # (B,)
    if (short := rows < 2).any():
        raise ValueError(
            f"sample {int(short.nonzero()[0])} has {int(rows[short][0])} real token(s); masking needs one to show and "
            "one to hide"
        )
    if (ratio is None) == (visible is None):
        raise ValueError(f"ratio is {ratio!r} and visible is {visible!r}; give either ratio or visible")
    kind("generator", generator, torch.Generator)
    if visible is not None:
        if not isinstance(visible, Tensor | np.ndarray):
            whole("visible", visible, 1)
            visible = torch.tensor(visible)
        keep = tensor("visible", visible).cpu()
        if keep.dtype == torch.bool or keep.is_floating_point() or keep.shape not in ((), rows.shape):
            raise ValueError(f"visible is {visible}; it must be whole, or {len(rows)} numbers, one for a row of real")
        keep = keep.expand(len(rows))
        if ((keep < 1) | (keep >= rows)).any():
            bad = int(((keep < 1) | (keep >= rows)).nonzero()[0])
            raise ValueError(
                f"visible is {int(keep[bad])} for sample {bad} with {int(rows[bad])} real tokens; "
                f"it must lie in 1..{int(rows[bad]) - 1}"
            )
    else:
        pair = ratio if isinstance(ratio, tuple | list) else (ratio, ratio)
        if len(pair) != 2:
            raise ValueError(f"ratio is {ratio}; it must be a number or a pair (low, high)")
        low, high = pair
        number("ratio", low, lambda v: 0 < v < 1, "lie strictly between 0 and 1")
        number("ratio", high, lambda v: low <= v < 1, f"lie between {low} and 1, where it ends")
        share = torch.full((len(rows),), low, dtype=torch.float64)
        if high > low:
            share = low + (high - low) * torch.rand(len(rows), dtype=torch.float64, generator=generator)
        # the 1e-9 keeps ceil(0.6 * 75) at 45 where floating point says 45.00000000000001
        hidden = (share * rows - 1e-9).ceil().long()
        keep = (rows - hidden).clamp(min=1).minimum(rows - 1)
    noise = torch.rand(real.shape, generator=generator)
    rank = noise.masked_fill(~real, 2.0).argsort(1).argsort(1)  # padding ranks last
    return (rank >= keep[:, None]) & real


@dataclass(frozen=True)
class Split:
    """Indices of visible and hidden tokens. V and M are the largest counts in the batch; where a sample has fewer, its
    row is filled up with other indices and the pad mask says so (None where nothing is filled up)."""

    visible: Tensor  # (B, V) long
    hidden: Tensor  # (B, M) long
    visible_pad: Tensor | None  # (B, V) bool
    hidden_pad: Tensor | None  # (B, M) bool

    def check(self, real: Tensor) -> None:
        """ValueError where this is no split of tokens real (B, N). On a GPU only shapes are looked at, since the host
        would have to wait for more."""
        batch, n = real.shape
        widest = max(self.visible.shape[1], self.hidden.shape[1])
        if not len(self.visible) == len(self.hidden) == batch or widest > n:
            raise ValueError(
                f"the split is of {len(self.visible)} samples with {widest} tokens or more; these are {batch} with {n}"
            )
        if torch.compiler.is_compiling() or not self.visible.device.type == real.device.type == "cpu":
            return
        count = torch.zeros(batch, n, dtype=torch.long)
        for index, pad in ((self.visible, self.visible_pad), (self.hidden, self.hidden_pad)):
            count.scatter_add_(1, index, torch.ones_like(index) if pad is None else (~pad).long())
        if (wrong := (count != real).any(1)).any():
            raise ValueError(f"the split shows or hides padding of sample {int(wrong.nonzero()[0])}, or a token twice")

    def to(self, device) -> "Split":
        return Split(*(None if t is None else to_device(t, device) for t in vars(self).values()))


def split(hidden: Tensor, real: Tensor) -> Split:
    """hidden, real (B, N) bool -> Split. Raises ValueError where a sample has no visible or no hidden token."""
    hidden, real = _mask("hidden", hidden), _mask("real", real)
    shapes(hidden.shape == real.shape, "agree", hidden=hidden, real=real)
    visible, hidden = real & ~hidden, real & hidden
    n_visible, n_hidden = visible.sum(1), hidden.sum(1)
    for name, count in (("visible", n_visible), ("hidden", n_hidden)):
        if (count == 0).any():
            raise ValueError(f"sample {int((count == 0).nonzero()[0])} has no {name} token")
    visible_index, visible_pad = _indices(visible, n_visible)
    hidden_index, hidden_pad = _indices(hidden, n_hidden)
    return Split(visible_index, hidden_index, visible_pad, hidden_pad)


def _mask(name: str, value) -> Tensor:
    value = tensor(name, value).cpu()
    right = value.ndim == 2 and value.dtype == torch.bool and 0 not in value.shape
    shapes(right, "be bool of shape (B, N)", **{name: value})
    return value


def _indices(chosen: Tensor, count: Tensor) -> tuple[Tensor, Tensor | None]:
    """chosen (B, N) bool with `count` (B,) true entries -> their indices in order, and padding if counts differ."""
    width = int(count.max())
    index = (~chosen).byte().argsort(dim=1, stable=True)[:, :width]
    if int(count.min()) == width:
        return index, None
    return index, torch.arange(width) >= count[:, None]


def take(x: Tensor, index: Tensor) -> Tensor:
    """x (B, N, ...), index (B, K) -> (B, K, ...): the tokens at the given indices of each sample."""
    x, index = tensor("x", x), tensor("index", index)
    right = x.ndim > 1 and index.ndim == 2 and len(index) == len(x) and index.dtype == torch.long
    shapes(right, "be (B, N, ...) and torch.int64 of shape (B, K)", x=x, index=index)
    return x[torch.arange(len(x), device=x.device)[:, None], index]

"""Batches of samples of like length, and the spacing of positions."""

import torch
from torch import Tensor

from .checks import kind, shapes, tensor, whole
from .tokens import Tokens


def spacing(tokens: Tokens) -> Tensor:
    """Typical distance of neighbours along each axis, (D,) float64.

    The median gap between consecutive, different positions within a sample; 1 where
    there is none. RoPE's fastest pair turns one radian per unit: positions divided by
    the spacing let attention distinguish neighbours (chapter 04).
    """
    kind("tokens", tokens, Tokens)
    padding = ~tokens.real[..., None]
    # (B, N, D)
    ordered = tokens.positions.masked_fill(padding, torch.inf).sort(1).values
    gaps = ordered.diff(dim=1).flatten(0, 1)  # (B (N - 1), D)
    found = [gap[(gap > 0) & gap.isfinite()] for gap in gaps.unbind(1)]
    return torch.stack([g.median() if len(g) else g.new_ones(()) for g in found])


def trim(batch: Tokens) -> Tokens:
    """Cut off the slots at the end that are padding in all samples."""
    kind("batch", batch, Tokens)
    longest = int(batch.real.any(0).nonzero().max()) + 1
    return batch.cut(slice(longest))


def by_length(lengths: Tensor, batch: int, generator: torch.Generator) -> Tensor:
    """A random order of samples, (n,), in which a batch holds samples of like length.

    Samples are shuffled, sorted by length within pools of 50 batches, and the batches
    are shuffled.
    """
    lengths = tensor("lengths", lengths)
    right = lengths.ndim == 1 and lengths.dtype == torch.long and len(lengths)
    right = right and bool((lengths >= 0).all())
    shapes(right, "be n whole numbers, 0 or more", lengths=lengths)
    whole("batch", batch, 1)
    kind("generator", generator, torch.Generator)
    batch = int(batch)  # torch splits by no number of numpy's
    order = torch.randperm(len(lengths), generator=generator)
    batches = []
    for part in order.split(50 * batch):
        batches += part[lengths[part].argsort(stable=True)].split(batch)
    full = [b for b in batches if len(b) == batch]
    # at most one; it stays last, so that batches do not shift
    rest = [b for b in batches if len(b) < batch]
    shuffled = [full[i] for i in torch.randperm(len(full), generator=generator)]
    return torch.cat(shuffled + rest)

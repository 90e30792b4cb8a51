"""Batches of samples of like length, and the spacing of positions."""

import torch
from torch import Tensor

from .checks import kind, shapes, tensor, whole
from .tokens import Tokens


def spacing(tokens: Tokens) -> Tensor:
    """Typical distance of neighbours along each axis, (D,) float64.

    The median gap between consecutive, different positions within a sample (of an even
    number of gaps the smaller of the middle two). Positions divided by it are in units
    of one step from a token to the next. RoPE's fastest pair turns one radian per unit,
    so this is what lets attention tell neighbours apart (chapter 04). An axis along
    which no sample has two different positions gets 1.
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
    lengths = _counts("lengths", lengths)
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


def padding_share(lengths: Tensor, batch: int, order: Tensor) -> float:
    """Share of a batch's slots that are padding when samples come in this order."""
    lengths, order = _counts("lengths", lengths), _counts("order", order)
    whole("batch", batch, 1)
    right = torch.equal(order.sort().values, torch.arange(len(lengths)))
    want = "be n numbers and 0 to n - 1, each once"
    shapes(right, want, lengths=lengths, order=order)
    parts = [lengths[part] for part in order.split(int(batch))]
    slots = sum(len(part) * int(part.max()) for part in parts)
    return 1 - float(lengths.sum()) / slots if slots else 0.0


def _counts(name: str, value) -> Tensor:
    value = tensor(name, value)
    right = value.ndim == 1 and value.dtype == torch.long and len(value)
    right = right and bool((value >= 0).all())
    shapes(right, "be n whole numbers, 0 or more", **{name: value})
    return value

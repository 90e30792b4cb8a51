"""What a run keeps beside its record, for figures."""

from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from romae_lite.batching import trim
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Splits
from . import rivals as predictors

NONE = 255  # no class
ENDS = 10  # the window begins and ends at tenths of the series


class Windows(NamedTuple):
    """Some test series, and all parts of them that the page may show.

    some: E series, N steps at most; label (E,); rank (E, N), in which order steps are kept; levels (L,), shares that
    are kept. at: four index arrays (M,) of windows with something in them: the series, in which tenth the window begins
    and ends, the level; seen (M, N): their steps."""

    some: Tokens
    label: torch.Tensor
    rank: torch.Tensor
    levels: np.ndarray
    at: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    seen: torch.Tensor

    def tokens(self, values: torch.Tensor) -> Tokens:
        """The windows as samples, with these values (E, N, C)."""
        e = self.at[0]
        return Tokens(values=values[e], positions=self.some.positions[e], pad=~self.seen)

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.label), ENDS + 1, ENDS + 1, len(self.levels)


def windows(exp: Experiment, test: Tokens, count: int = 8) -> Windows:
    """One series of every class in turn, and their windows."""
    label = test.aux["label"].cpu()
    turn = torch.stack([(label[:i] == label[i]).sum() for i in range(len(label))])  # the how-manieth of its class
    chosen = (turn * exp.classes + label).argsort(stable=True)[:count]
    some, levels = trim(test[chosen]), np.array([1.0, 0.6, 0.3, 0.15, 0.07])
    n, length = some.real.sum(1), some.positions[..., 0].masked_fill(~some.real, 0).amax(1, keepdim=True)
    rank = torch.rand(some.real.shape, generator=seeded(0, 7)).masked_fill(~some.real, 2).argsort(1).argsort(1)
    tenth = some.positions[..., 0] / (length + 1) * ENDS
    spans = [(i, j, k) for i, j in combinations(range(ENDS + 1), 2) for k in range(len(levels))]
    kept = rank < torch.from_numpy(np.ceil(levels[:, None, None] * n.numpy()[:, None]))  # (L, E, N)
    seen = torch.stack([some.real & (tenth >= i) & (tenth < j) & kept[k] for i, j, k in spans])  # (spans, E, N)
    which, e = torch.where(seen.any(2))  # nothing in the window: no answer
    return Windows(some, label[chosen], rank, levels, (e.numpy(), *np.array(spans)[which].T), seen[which, e])


def recorded(exp: Experiment, model: nn.Module, data: Splits, channels: int = 6) -> dict[str, np.ndarray]:
    """What a run keeps for it: some test series, and what the model says of parts of them (see `Windows`).

    values (E, N, at most `channels`); step (E, N), -1 where there is none; label (E,); rank (E, N); levels (L,);
    probability (E, 11, 11, L, K) uint8, in 255ths, of every class, from the steps between i and j tenths of the series:
    zero where there is none.
    """
    found = windows(exp, data.test)
    answer = exp.logits(model, found.tokens(found.some.values)).softmax(1)
    probability = np.zeros((*found.shape, exp.classes), np.uint8)
    probability[found.at] = (255 * answer).round().to(torch.uint8).numpy()
    some = found.some
    return {
        "values": some.values[..., :channels].numpy(), "label": found.label.numpy().astype(np.int16),
        "step": some.positions[..., 0].masked_fill(~some.real, -1).numpy().astype(np.int16),
        "rank": found.rank.numpy().astype(np.int16), "levels": found.levels, "probability": probability,
    }


def compared(exp: Experiment, data: Splits, channels: int = 6) -> dict[str, np.ndarray]:
    """What is kept beside it, and takes no model. raw (E, N, at most `channels`): the values as the archive has them.
    minirocket (E, 11, 11, L) uint8: the class that MiniRocket names from the same steps, straight lines between them
    and their ends drawn out, 255 where there is no step; where aeon is installed."""
    found = windows(exp, data.test)
    raw = found.some.aux["raw"]
    kept = {"raw": raw[..., :channels].numpy()}
    if find_spec("aeon") is not None:
        kept["minirocket"] = np.full(found.shape, NONE, np.uint8)
        train = replace(data.train, values=data.train.aux["raw"])
        kept["minirocket"][found.at] = predictors.minirocket(train, found.tokens(raw))
    return kept

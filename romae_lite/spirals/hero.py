"""The hero: points of a spiral that the reader adds, drags and removes, and a model in the page that asks anywhere.

Two models of one size draw it: one trained with any number of visible points, one with always thirty. How far each is
from the best possible is recorded on the test set, for every number of points, asked as the page asks.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ..lab.experiment import Splits
from ..model import count_parameters, interpolate
from ..tokens import Tokens
from ..training import seeded
from . import rivals
from .experiment import Spirals

COUNTS = (3, 5, 8, 12, 16, 20, 25, 30, 35, 45, 60, 74)
TOGETHER = 24  # angles that are asked at once: what is asked together sees one another, and training had few and many
WEIGHTS = 95_000  # more do not fit beside a record


def recorded(exp: Spirals, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for it: its weights in half precision, and errors on the test spirals for COUNTS.

    hero.mse (2, K): mean squared error to the clean curve at all hidden points, of RoMAE and of the Bayes-optimal
    predictor; hero.se (K,): the standard error of the mean difference of the two over spirals.
    """
    if not exp.irregular or count_parameters(model) > WEIGHTS:
        return {}
    mse, se = np.empty((2, len(COUNTS))), np.empty(len(COUNTS))
    order = torch.rand(data.test.values.shape[:2], generator=seeded(0, 6)).argsort(1)  # (n, 75)
    for k, count in enumerate(COUNTS):
        square = errors(exp, model, data.test, order[:, :count].sort(1).values, order[:, count:])
        mse[:, k] = square.mean(1)
        se[k] = (square[0] - square[1]).std(ddof=1) / math.sqrt(square.shape[1])
    weights = {f"weights.{name}": w.half().cpu().numpy() for name, w in model.state_dict().items()}
    return {"hero.counts": np.array(COUNTS, np.int16), "hero.mse": mse, "hero.se": se, **weights}


def errors(exp: Spirals, model: nn.Module, tokens: Tokens, shown: Tensor, asked: Tensor) -> np.ndarray:
    """Squared error to the clean curve, (2, n) means over the asked points of each spiral: RoMAE, Bayes-optimal.

    shown, asked (n, V) and (n, M): indices of the points that are seen and asked for."""
    rows = torch.arange(len(tokens))[:, None]
    few = Tokens(values=tokens.values[rows, shown], positions=tokens.positions[rows, shown])
    curve = ask(model, few, tokens.positions[rows, asked])
    observed = torch.zeros(tokens.values.shape[:2], dtype=torch.bool).scatter_(1, shown, True)
    theta = tokens.positions[..., 0].numpy() / exp.scale
    best = torch.from_numpy(rivals.bayes(theta, tokens.values.double().numpy(), observed.numpy()))[rows, asked]
    clean = tokens.aux["clean"][rows, asked]
    return np.stack([(found - clean).square().mean((1, 2)).numpy() for found in (curve.double(), best)])


def ask(model: nn.Module, seen: Tokens, at: Tensor) -> Tensor:
    """The curve at the positions (n, M, 1): (n, M, P), float32. They are asked as the page asks them, in as few heaps
    of at most TOGETHER as will do; the i-th goes to heap i modulo their number, so that each spans the whole range."""
    out = torch.empty(*at.shape[:2], seen.values.shape[-1])
    heaps = math.ceil(at.shape[1] / TOGETHER)
    for i in range(heaps):
        out[:, i::heaps] = interpolate(model, seen, at[:, i::heaps])
    return out

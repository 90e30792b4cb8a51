"""What a run keeps beside its record, for figures."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.model import count_parameters, interpolate
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Splits, weights_of
from . import rivals
from . import rivals as predictors


def of_a_grid(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for it: six test spirals, their points uncovered one after the other, and what RoMAE and the
    Bayes-optimal predictor make of the first k of them."""
    if exp.irregular:  # the explorable draws all spirals over one grid
        return {}
    counts = np.array([3, 5, 8, 12, 16, 20, 25, 30, 35, 45, 60, 74])
    chosen = torch.cat([(data.test.aux["clockwise"] == c).nonzero()[:3, 0] for c in (True, False)])
    few = data.test[chosen]
    n, points = few.values.shape[:2]
    order = torch.argsort(torch.rand(n, points, generator=seeded(0, 5)), dim=1)  # (n, 75)
    theta = few.positions[..., 0].numpy() / exp.scale
    noisy = few.values.double().numpy()
    romae, bayes = (np.empty((n, len(counts), points, 2), np.float32) for _ in range(2))
    for k, count in enumerate(counts):
        observed = torch.zeros(n, points, dtype=torch.bool).scatter_(1, order[:, :count], True)
        romae[:, k] = everywhere(exp, model, few, observed)
        bayes[:, k] = predictors.bayes(theta, noisy, observed.numpy())
    return {
        "theta": theta[0].astype(np.float32), "chirality": few.aux["clockwise"].numpy().astype(np.int8),
        "clean": few.aux["clean"].numpy().astype(np.float32), "noisy": noisy.astype(np.float32),
        "order": order.numpy().astype(np.int16), "counts": counts.astype(np.int16), "romae": romae, "bayes": bayes,
    }


def everywhere(exp: Experiment, model: nn.Module, tokens: Tokens, observed: Tensor) -> np.ndarray:
    """Predicted curve at all 75 angles, (n, 75, 2): at an observed point, the prediction is made without it."""
    out = exp.predict(model, tokens, ~observed)
    for i in range(int(observed.sum(1).max())):
        # hide the i-th observed point of every spiral as well, and keep what is predicted there
        nth = (observed.cumsum(1) == i + 1) & observed
        out = torch.where(nth[..., None], exp.predict(model, tokens, ~observed | nth), out)
    return out.numpy()


COUNTS = (3, 5, 8, 12, 16, 20, 25, 30, 35, 45, 60, 74)
WEIGHTS = 95_000  # more do not fit beside a record


def of_any_points(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
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
    return {"hero.counts": np.array(COUNTS, np.int16), "hero.mse": mse, "hero.se": se, **weights_of(model)}


def errors(exp: Experiment, model: nn.Module, tokens: Tokens, shown: Tensor, asked: Tensor) -> np.ndarray:
    """Squared error to the clean curve, (2, n) means over the asked points of each spiral: RoMAE, Bayes-optimal.

    shown, asked (n, V) and (n, M): indices of the points that are seen and asked for."""
    rows = torch.arange(len(tokens))[:, None]
    few = Tokens(values=tokens.values[rows, shown], positions=tokens.positions[rows, shown])
    curve = interpolate(model, few, tokens.positions[rows, asked])
    observed = torch.zeros(tokens.values.shape[:2], dtype=torch.bool).scatter_(1, shown, True)
    theta = tokens.positions[..., 0].numpy() / exp.scale
    best = torch.from_numpy(rivals.bayes(theta, tokens.values.double().numpy(), observed.numpy()))[rows, asked]
    clean = tokens.aux["clean"][rows, asked]
    return np.stack([(found - clean).square().mean((1, 2)).numpy() for found in (curve.double(), best)])

"""What a run keeps beside its record, for figures."""

import numpy as np
import torch
from torch import nn

from ..base import Experiment, Splits, numpy_rng


def recorded(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for figures: six patterns of tokens moved through the range and beyond, and errors by position.

    offsets (6, tokens), shifts (K,), named (6, K, tokens): tokens at offsets + shift; grid (50,) centres of equal
    parts of the range, bias and absolute (50,): mean and mean absolute error of the test points in each.
    """
    rng = numpy_rng(0, 7)
    span = exp.high - exp.low
    offsets = np.sort(rng.uniform(0, 0.4 * span, (6, exp.tokens)), axis=1)
    shifts = np.linspace(exp.low - 0.2 * span, exp.high - 0.2 * span, 61)
    where = offsets[:, None] + shifts[:, None]  # (6, K, tokens)
    tokens = exp.at(where.reshape(-1, exp.tokens), numpy_rng(0, 8))
    if exp.anchor == "moving":  # with the pattern, ten units before its first token
        tokens.positions[:, -1, 0] = torch.from_numpy(shifts - 10).repeat(6) * exp.position_scale
    target = data.test.aux["target"].double().numpy().ravel()
    error = exp.predict(model, data.test).ravel() - target
    part = np.clip(((target - exp.low) / span * 50).astype(int), 0, 49)
    count = np.bincount(part, minlength=50)
    return {
        "offsets": offsets.astype(np.float32),
        "shifts": shifts.astype(np.float32),
        "named": exp.predict(model, tokens).reshape(where.shape).astype(np.float32),
        "grid": (exp.low + span * (np.arange(50) + 0.5) / 50).astype(np.float32),
        "bias": (np.bincount(part, error, 50) / np.maximum(count, 1)).astype(np.float32),
        "absolute": (np.bincount(part, np.abs(error), 50) / np.maximum(count, 1)).astype(np.float32),
    }

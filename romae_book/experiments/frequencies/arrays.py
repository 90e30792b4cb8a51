"""What a run keeps beside its record, for figures."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
from torch import nn

from romae_lite.masking import hide
from romae_lite.training import seeded

from ..base import Experiment, Splits, numpy_rng
from .data import NOISE, generate
from .rivals import harmonic

SHOWN = (1, 5, 9, 12, 15, 18, 21, 24)  # frequencies of the series that are drawn


def recorded(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for figures: one series for each frequency and pair of SHOWN, at three noise levels, at one if
    series are longer than a hundred points, since arrays of a record are small.

    frequencies (C, 2), -1 for none; noise (L,); observed (C, T) bool; clean (C, T); noisy, romae and harmonic
    (L, C, T): at hidden points a prediction, at observed ones the observation (romae) or a fit (harmonic). The same
    series whatever the seed and the settings of the model.
    """
    rows = [(f, np.nan) for f in SHOWN] + list(combinations_with_replacement(SHOWN, 2))
    levels = (0.02, NOISE, 0.3) if exp.length <= 100 else (NOISE,)
    kept = {name: [] for name in ("noisy", "romae", "harmonic")}
    for noise in levels:
        tokens = generate(np.array(rows, float), numpy_rng(0, 9), exp.length, noise)
        hidden = hide(tokens.real, visible=exp.shown, generator=seeded(0, 9))
        tokens = replace(tokens, positions=tokens.positions * exp.scale, aux=tokens.aux | {"hidden": hidden})
        noisy = tokens.values[..., 0].double().numpy()
        kept["noisy"].append(noisy)
        kept["romae"].append(exp.predict(model, tokens))
        kept["harmonic"].append(harmonic(noisy, ~hidden.numpy(), noise))
    return {name: np.stack(values).astype(np.float16) for name, values in kept.items()} | {
        "frequencies": tokens.aux["frequencies"].numpy().astype(np.int8), "noise": np.array(levels, np.float32),
        "observed": ~hidden.numpy(), "clean": tokens.aux["clean"].numpy().astype(np.float16),
    }

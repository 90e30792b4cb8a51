"""Smooth random series with few observed points (paper Sec. 5.5 and D.8; after Shukla and Marlin's HeTVAE, 2022).

Ten random heights z_k ~ N(0, 1) stand at ten reference points r_k; a series is their mean with weights that fall off
with the distance, and every point of it is observed with noise:

    x(t) = sum_k z_k w_k(t),   w_k(t) = exp(-120 (t - r_k)^2) / sum_j exp(-120 (t - r_j)^2)

RoMAE's authors and HeTVAE's use different grids under one name, and the best possible errors differ, so results on one
say nothing about the other (deviation D18). "from-zero" is the authors' with every time one step earlier: our own
settings stay on it. The generator and the exact Gaussian-process posterior in `rivals.py` share `weights`.
"""

import numpy as np
import torch

from romae_lite.tokens import Tokens

GRIDS = {  # name: (times of the points, reference points)
    "authors": (0.02 * np.arange(1, 51), 0.1 * np.arange(1, 11)),
    "from-zero": (0.02 * np.arange(50), 0.1 * np.arange(1, 11)),
    "hetvae": (np.linspace(0, 1, 51), np.linspace(0, 1, 10)),
}
SHARPNESS = 120.0  # a bell falls to 0.74 half-way to the authors' next reference point, and to 0.30 there
NOISE = 0.1  # standard deviation of the observation noise


def weights(t: np.ndarray, grid: str) -> np.ndarray:
    """w_k(t): times (...,) -> (..., 10), positive and summing to one."""
    exponent = -SHARPNESS * (np.asarray(t, float)[..., None] - GRIDS[grid][1]) ** 2
    w = np.exp(exponent - exponent.max(-1, keepdims=True))
    return w / w.sum(-1, keepdims=True)


def generate(n: int, rng: np.random.Generator, grid: str = "authors") -> Tokens:
    """n series of 50 ("authors", "from-zero") or 51 ("hetvae") noisy points.

    Tokens: values (n, T, 1) noisy, positions (n, T, 1) times; aux: clean (n, T) and heights (n, 10), float64.
    """
    if n < 1:
        raise ValueError(f"n is {n}; generate at least one series")
    if grid not in GRIDS:
        raise ValueError(f"grid is {grid!r}; choose one of {', '.join(GRIDS)}")
    t, references = GRIDS[grid]
    heights = rng.standard_normal((n, len(references)))
    clean = heights @ weights(t, grid).T  # (n, T)
    noisy = clean + NOISE * rng.standard_normal(clean.shape)
    return Tokens(
        values=torch.from_numpy(noisy).float()[..., None],
        positions=torch.from_numpy(t).expand(n, -1)[..., None].contiguous(),
        aux={"clean": torch.from_numpy(clean), "heights": torch.from_numpy(heights)},
    )

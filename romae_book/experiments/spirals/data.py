"""Noisy two-dimensional spirals (paper Sec. 5.5 and D.7; after Chen et al., 2018, in ContiFormer's variant).

A spiral has two parameters, a ~ N(0, 0.02^2) and b ~ N(0.3, 0.02^2), and a chirality, either with probability one half:

    counter-clockwise   r = a + b theta         (r cos theta + 5, r sin theta)
    clockwise           r = a + 50 b / z        (r cos z - 5, r sin z),   z = 1 + theta

Both are linear in (a, b), which `basis` spells out; the generator here and the exact Bayes-optimal predictor in
`rivals.py` share it.
"""

import numpy as np
import torch

from romae_lite.tokens import Tokens

A, B = (0.0, 0.02), (0.3, 0.02)  # mean and standard deviation of the two parameters
NOISE = 0.1  # standard deviation of the observation noise
TURNS = np.linspace(0, 6 * np.pi, 150)  # three turns
GRID = TURNS[:75]  # the paper's 75 angles: the first half


def basis(theta: np.ndarray, clockwise: bool) -> tuple[np.ndarray, np.ndarray]:
    """curve = centre + basis @ (a, b): theta (..., T) -> centre (2,), basis (..., T, 2 coordinates, 2 parameters)."""
    angle = 1 + theta if clockwise else theta
    direction = np.stack((np.cos(angle), np.sin(angle)), axis=-1)  # (..., T, 2)
    radius = np.stack((np.ones_like(angle), 50 / angle if clockwise else angle), axis=-1)  # (..., T, 2)
    return np.array([-5.0 if clockwise else 5.0, 0.0]), direction[..., :, None] * radius[..., None, :]


def authors(n: int = 100, points: int = len(GRID)) -> Tokens:
    """The authors' own spirals: their test set is the first hundred (Interpolation_spirals/dataset.py @840706e).

    Their seeds make them: one for all parameters, one for the chirality of each spiral, the last of which goes on into
    the noise, drawn for all 150 points, of which the first `points` are taken. Shapes as in `generate`.
    """
    legacy = np.random.RandomState(0)
    parameters = np.stack((legacy.randn(n) * A[1] + A[0], legacy.randn(n) * B[1] + B[0]), axis=-1)  # (n, 2)
    clockwise = np.empty(n, bool)
    for i in range(n):
        legacy.seed(i)
        clockwise[i] = legacy.rand() <= 0.5
    noise = NOISE * legacy.randn(n, len(TURNS), 2)[:, :points]
    return _tokens(np.broadcast_to(TURNS[:points], (n, points)), clockwise, parameters, noise)


def generate(n: int, rng: np.random.Generator, irregular: bool = False) -> Tokens:
    """n spirals of 75 noisy points each.

    irregular: draw each spiral's 75 angles uniformly over the same range and sort them, instead of the paper's grid.

    Tokens: values (n, 75, 2) noisy points, positions (n, 75, 1) angles; aux: clean (n, 75, 2) float64, clockwise (n,).
    """
    if n < 1:
        raise ValueError(f"n is {n}; generate at least one spiral")
    clockwise = rng.random(n) < 0.5
    parameters = np.stack((rng.normal(*A, n), rng.normal(*B, n)), axis=-1)  # (n, 2)
    theta = np.broadcast_to(GRID, (n, len(GRID)))
    if irregular:
        theta = np.sort(rng.uniform(GRID[0], GRID[-1], (n, len(GRID))), axis=1)
    return _tokens(theta, clockwise, parameters, rng.normal(0, NOISE, (n, len(GRID), 2)))


def _tokens(theta: np.ndarray, clockwise: np.ndarray, parameters: np.ndarray, noise: np.ndarray) -> Tokens:
    clean = np.empty(noise.shape)
    for chirality in (False, True):
        chosen = clockwise == chirality
        centre, columns = basis(theta[chosen], chirality)
        clean[chosen] = centre + np.einsum("ntcp,np->ntc", columns, parameters[chosen])
    return Tokens(
        values=torch.from_numpy(clean + noise).float(),
        positions=torch.from_numpy(theta.copy())[..., None],
        aux={"clean": torch.from_numpy(clean), "clockwise": torch.from_numpy(clockwise)},
    )

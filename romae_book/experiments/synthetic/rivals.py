"""Predictors of a whole synthetic series from some of its noisy points.

All take noisy (n, T), observed (n, T) bool and the name of the grid, and return (n, T): a prediction at every point
that uses the observed ones only.
"""

import numpy as np
from scipy.interpolate import CubicSpline

from .data import GRIDS, NOISE, weights


def posterior(
    noisy: np.ndarray, observed: np.ndarray, grid: str, at=None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the clean curve given the observed points, exactly: two
    arrays (n, Q).

    at: the Q times to predict at; by default the grid's. A series is linear in ten
    Gaussian heights, so it is a Gaussian process with the kernel w(s) . w(t), and its
    posterior needs one 10 x 10 system:

        precision = 1 + W_o' W_o / noise^2
        mean = w(t) . precision^-1 W_o' y_o / noise^2
        variance = w(t) . precision^-1 w(t)
    """
    W = weights(GRIDS[grid][0], grid)  # (T, 10)
    asked = W if at is None else weights(at, grid)  # (Q, 10)
    seen = W * observed[..., None]  # (n, T, 10)
    precision = np.eye(W.shape[1]) + seen.mT @ W / NOISE**2  # (n, 10, 10)
    known = np.where(observed, noisy, 0.0)[..., None]
    pull = (seen.mT @ known) / NOISE**2  # (n, 10, 1)
    mean = (asked @ np.linalg.solve(precision, pull))[..., 0]
    variance = np.einsum("qk,nkl,ql->nq", asked, np.linalg.inv(precision), asked)
    return mean, variance


def gp(noisy: np.ndarray, observed: np.ndarray, grid: str) -> np.ndarray:
    """Posterior mean under the true prior and noise: no predictor has a smaller expected squared error."""
    return posterior(noisy, observed, grid)[0]


def linear(noisy: np.ndarray, observed: np.ndarray, grid: str) -> np.ndarray:
    """Straight lines between observed points, constant beyond the outermost."""
    t = GRIDS[grid][0]
    return np.stack([np.interp(t, t[seen], y[seen]) for y, seen in zip(noisy, observed, strict=True)])


def spline(noisy: np.ndarray, observed: np.ndarray, grid: str) -> np.ndarray:
    """Natural cubic spline through the observed points, constant beyond the outermost. Needs at least two."""
    t = GRIDS[grid][0]
    return np.stack(
        [
            CubicSpline(t[seen], y[seen], bc_type="natural")(t.clip(t[seen][0], t[seen][-1]))
            for y, seen in zip(noisy, observed, strict=True)
        ]
    )


def zero(noisy: np.ndarray, observed: np.ndarray, grid: str) -> np.ndarray:
    """Zero, the mean of the prior."""
    return np.zeros(noisy.shape)

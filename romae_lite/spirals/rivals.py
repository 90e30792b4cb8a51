"""Predictors of a whole spiral from some of its noisy points.

All take theta (n, T), noisy (n, T, 2) and observed (n, T) bool, and return (n, T, 2): a prediction at every angle that
uses the observed points only.
"""

import numpy as np
from scipy.interpolate import make_smoothing_spline

from .data import NOISE, A, B, basis


def bayes(theta: np.ndarray, noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Posterior mean under the true prior and noise: no predictor has a smaller expected squared error.

    Given the chirality, the curve is linear in two Gaussian parameters, so posterior and evidence are closed forms; the
    two chiralities are weighted by their evidence.
    """
    means, evidences = zip(*(_posterior(theta, noisy, observed, c) for c in (False, True)), strict=True)
    weight = np.exp(evidences - np.logaddexp(*evidences))  # (2, n)
    return sum(w[:, None, None] * mean for w, mean in zip(weight, means, strict=True))


def _posterior(theta, noisy, observed, clockwise):
    """Predictive mean (n, T, 2) and log evidence (n,), up to a constant shared by the chiralities."""
    centre, columns = basis(theta, clockwise)  # (n, T, 2, 2)
    prior_mean, prior_precision = np.array([A[0], B[0]]), np.diag([A[1] ** -2, B[1] ** -2])
    seen = columns * observed[..., None, None]
    residual = (noisy - centre - columns @ prior_mean) * observed[..., None]  # (n, T, 2)
    precision = prior_precision + np.einsum("ntcp,ntcq->npq", seen, seen) / NOISE**2
    pull = np.einsum("ntcp,ntc->np", seen, residual) / NOISE**2
    shift = np.linalg.solve(precision, pull[..., None])[..., 0]  # (n, 2): posterior mean of (a, b), less the prior's
    evidence = -0.5 * ((residual**2).sum((1, 2)) / NOISE**2 - (pull * shift).sum(1) + np.linalg.slogdet(precision)[1])
    return centre + np.einsum("ntcp,np->ntc", columns, prior_mean + shift), evidence


def least_squares(theta: np.ndarray, noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Fit of the two parameters, without the prior, for the chirality that fits better."""
    fits, errors = [], []
    for clockwise in (False, True):
        centre, columns = basis(theta, clockwise)
        seen = columns * observed[..., None, None]
        normal = np.einsum("ntcp,ntcq->npq", seen, seen)
        pull = np.einsum("ntcp,ntc->np", seen, noisy - centre)
        fit = centre + np.einsum("ntcp,np->ntc", columns, np.linalg.solve(normal, pull[..., None])[..., 0])
        fits.append(fit)
        errors.append((((fit - noisy) * observed[..., None]) ** 2).sum((1, 2)))
    return np.where((errors[0] <= errors[1])[:, None, None], *fits)


def spline(theta: np.ndarray, noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Cubic smoothing spline of each coordinate against the angle, smoothness by generalised cross-validation. Knows
    nothing about spirals. Needs at least five observed points."""
    out = np.empty_like(noisy)
    for angle, points, seen, curve in zip(theta, noisy, observed, out, strict=True):
        for c in range(2):
            curve[:, c] = make_smoothing_spline(angle[seen], points[seen, c])(angle)
    return out

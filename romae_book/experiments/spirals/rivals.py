"""Predictors of a whole spiral from some of its noisy points.

All take theta (n, T), noisy (n, T, 2) and observed (n, T) bool, and return (n, T, 2): a prediction at every angle that
uses the observed points only. RIVALS names them.
"""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import cholesky_banded, solve_triangular
from scipy.optimize import minimize_scalar

from .data import NOISE, A, B, basis


def bayes(theta: np.ndarray, noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Posterior mean under the true prior and noise: no predictor errs less on average.

    Given the chirality, the curve is linear in two Gaussian parameters, so posterior
    and evidence are closed forms; the two chiralities are weighted by their evidence.
    """
    both = (_posterior(theta, noisy, observed, way) for way in (False, True))
    means, evidences = zip(*both, strict=True)
    weight = np.exp(evidences - np.logaddexp(*evidences))  # (2, n)
    return sum(w[:, None, None] * mean for w, mean in zip(weight, means, strict=True))


def _posterior(theta, noisy, observed, clockwise):
    """Predictive mean (n, T, 2) and log evidence (n,), up to a constant that both
    chiralities share."""
    centre, columns = basis(theta, clockwise)  # (n, T, 2, 2)
    prior_mean = np.array([A[0], B[0]])
    prior_precision = np.diag([A[1] ** -2, B[1] ** -2])
    seen = columns * observed[..., None, None]
    residual = noisy - centre - columns @ prior_mean
    residual = np.where(observed[..., None], residual, 0.0)  # (n, T, 2)
    precision = prior_precision + np.einsum("ntcp,ntcq->npq", seen, seen) / NOISE**2
    pull = np.einsum("ntcp,ntc->np", seen, residual) / NOISE**2
    # posterior mean of (a, b), less the prior's
    shift = np.linalg.solve(precision, pull[..., None])[..., 0]  # (n, 2)
    misfit = (residual**2).sum((1, 2)) / NOISE**2 - (pull * shift).sum(1)
    evidence = -0.5 * (misfit + np.linalg.slogdet(precision)[1])
    return centre + np.einsum("ntcp,np->ntc", columns, prior_mean + shift), evidence


def least_squares(theta: np.ndarray, noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Fit of the two parameters, without the prior, for the chirality that fits better. Needs two observed points."""
    _enough(observed, 2)
    noisy = np.where(observed[..., None], noisy, 0.0)
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
    nothing about spirals. Needs at least five observed points, and angles that ascend.

    The same curves as scipy's make_smoothing_spline, which searches for the smoothness in the same way but solves a
    system of equations at every step. Here one decomposition for each spiral serves all steps and both coordinates:

        knots = y - U shrink(s, lam) U' y,   shrink(s, lam) = lam s^2 / (1 + lam s^2)

    where roughness, the integral of the squared second derivative, is |diag(s) U' knots|^2.
    """
    _enough(observed, 5)
    out = np.empty(noisy.shape)
    for angle, points, seen, curve in zip(theta, noisy, observed, out, strict=True):
        x, y = angle[seen], points[seen]  # (N,), (N, 2)
        s, u = _roughness(x)
        along = u @ y  # (N - 2, 2)
        knots = np.empty(y.shape)
        for c in range(2):
            search = minimize_scalar(_gcv, bounds=(0, len(x)), method="bounded", args=(s**2, along[:, c] ** 2))
            knots[:, c] = y[:, c] - _shrink(search.x, s**2) * along[:, c] @ u
        curve[:] = CubicSpline(x, knots, bc_type="natural")(angle)
    return out


def _roughness(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s (N - 2,) and u (N - 2, N) with orthonormal rows: the natural cubic spline through y at the knots x (N,) has
    roughness |s (u @ y)|^2 (Green and Silverman, 1994, Sec. 2.1: Q R^-1 Q')."""
    h = np.diff(x)
    if not (h > 0).all():
        raise ValueError("theta does not ascend; sort the points of each spiral by their angle, each angle once")
    n = len(h) - 1
    q, i = np.zeros((n, n + 2)), np.arange(n)
    q[i, i], q[i, i + 1], q[i, i + 2] = 1 / h[:-1], -1 / h[:-1] - 1 / h[1:], 1 / h[1:]  # Q'
    bands = cholesky_banded(np.stack(((h[:-1] + h[1:]) / 3, np.append(h[1:-1], 0) / 6)), lower=True)
    root = np.diag(bands[0]) + np.diag(bands[1, :-1], -1)  # root root' = R
    return np.linalg.svd(solve_triangular(root, q, lower=True), full_matrices=False)[1:]


def _shrink(lam: float, penalty: np.ndarray) -> np.ndarray:
    return lam * penalty / (1 + lam * penalty)


def _gcv(lam: float, penalty: np.ndarray, square: np.ndarray) -> float:
    """Generalised cross-validation, but for a constant: residual sum of squares over the squared trace of 1 - S."""
    shrink = _shrink(lam, penalty)
    return shrink**2 @ square / shrink.sum() ** 2


def _enough(observed: np.ndarray, least: int) -> None:
    if (few := observed.sum(1) < least).any():
        i = int(few.argmax())
        raise ValueError(f"observed leaves {observed[i].sum()} points of spiral {i}; this fit needs {least}")


RIVALS = {"bayes": bayes, "lstsq": least_squares, "spline": spline}

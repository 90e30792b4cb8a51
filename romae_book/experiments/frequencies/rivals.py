"""Predictors of a sum of sines from some of its noisy points."""

import itertools

import numpy as np

from .data import NOISE, POWER, TOP, times


def harmonic(noisy: np.ndarray, observed: np.ndarray, noise: float = NOISE, top: int = TOP) -> np.ndarray:
    """Harmonic regression with unknown frequencies. noisy, observed (n, T) -> prediction everywhere, (n, T).

    Given the frequencies, a series is linear in a sine and a cosine of each. Every single frequency and every pair from
    0 to top is tried, and the predictions are averaged with the posterior weight of the trial. The coefficients get a
    Gaussian prior with the true variance, so this is the Bayes-optimal predictor but for the shape of that prior, which
    hardly matters after dozens of observations, and for the little weight on two sines of one frequency, which `draw`
    never makes.
    """
    noisy = np.where(observed, noisy, 0.0)
    n, length = noisy.shape
    angle = 2 * np.pi * np.arange(top + 1)[:, None] * times(length)  # (F, T)
    columns = np.stack((np.sin(angle), np.cos(angle)), axis=1).reshape(-1, length)  # (2 F, T): sin 0, cos 0, sin 1 ...
    singles = np.array([[f, f] for f in range(top + 1)])
    pairs = np.array(list(itertools.combinations(range(top + 1), 2)))
    F = top + 1
    out = np.empty_like(noisy)
    for part in np.array_split(np.arange(n), max(1, n // 100)):
        seen = columns * observed[part, None]  # (m, 2F, T)
        gram = seen @ columns.T / noise**2  # (m, 2F, 2F)
        pull = (seen @ noisy[part, :, None])[..., 0] / noise**2  # (m, 2F)
        # one sine: 1/2 x 1/F; two of one frequency: 1/2 x 1/F^2, twice the variance; two others: 1/2 x 2/F^2
        trials = [
            _trial(gram, pull, singles[:, :1], POWER, 0.5 / F),
            _trial(gram, pull, singles[:, :1], 2 * POWER, 0.5 / F**2),
            _trial(gram, pull, pairs, POWER, 1 / F**2),
        ]
        evidence = np.concatenate([e for e, _ in trials], axis=1)  # (m, trials)
        weight = np.exp(evidence - evidence.max(1, keepdims=True))
        weight /= weight.sum(1, keepdims=True)
        mean = np.concatenate([c for _, c in trials], axis=1)  # (m, trials, 2F)
        out[part] = np.einsum("mh,mhc->mc", weight, mean) @ columns
    return out


def straight(noisy: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Straight lines between the observed points, constant beyond the outermost: (n, T)."""
    at = times(noisy.shape[1])
    return np.stack([np.interp(at, at[seen], y[seen]) for y, seen in zip(noisy, observed, strict=True)])


def _trial(gram, pull, frequencies, variance, prior):
    """Log evidence (m, H) and posterior mean of all coefficients (m, H, 2F) for each row of frequencies (H, k)."""
    index = (2 * frequencies[..., None] + np.arange(2)).reshape(len(frequencies), -1)  # (H, 2k)
    precision = gram[:, index[:, :, None], index[:, None, :]] + np.eye(index.shape[1]) / variance  # (m, H, 2k, 2k)
    b = pull[:, index]  # (m, H, 2k)
    coefficients = np.linalg.solve(precision, b[..., None])[..., 0]
    evidence = 0.5 * ((b * coefficients).sum(-1) - np.linalg.slogdet(precision * variance)[1]) + np.log(prior)
    mean = np.zeros((len(gram), len(index), gram.shape[1]))
    np.put_along_axis(mean, np.broadcast_to(index, coefficients.shape), coefficients, axis=2)
    return evidence, mean

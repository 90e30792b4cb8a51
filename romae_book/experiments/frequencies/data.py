"""Sums of one or two sines of whole frequencies, with noise (paper App. B.4; chapter 04).

x(t) = sum_k A_k sin(2 pi f_k t + phi_k),   A ~ U(0.5, 1),  phi ~ U(0, 2 pi),  t = 0 ... 1 in `length` equal steps
"""

import numpy as np
import torch

from romae_lite.tokens import Tokens

NOISE = 0.1  # standard deviation of the observation noise
TOP = 24  # the paper's highest frequency; the lowest is 0
POWER = 7 / 24  # of one sine: E[A^2] / 2 with A ~ U(0.5, 1)


def cycloid(phase: np.ndarray) -> np.ndarray:
    """Height y of a point on the rim of a rolling wheel against its way x, less the mean of 3/2.

    x = u - sin u, y = 1 - cos u; one turn per unit of phase.
    """
    u = np.linspace(0, 2 * np.pi, 4001)
    return np.interp(phase % 1, (u - np.sin(u)) / (2 * np.pi), 1 - np.cos(u)) - 1.5


WAVES = {  # shapes beside the sine that no model was shown, as functions of phase = f t + phi / (2 pi)
    "sine": lambda phase: 0.75 * np.sin(2 * np.pi * phase),
    "square": lambda phase: 0.75 * np.sign(np.sin(2 * np.pi * phase)),
    "cycloid": cycloid,
}


def times(length: int) -> np.ndarray:
    return np.linspace(0, 1, length)


def sines(frequencies: np.ndarray, rng: np.random.Generator, length: int) -> np.ndarray:
    """Clean series (n, length) for frequencies (n, 2), NaN where there is no second sine."""
    amplitude = rng.uniform(0.5, 1, frequencies.shape)
    phase = rng.uniform(0, 2 * np.pi, frequencies.shape)
    angle = 2 * np.pi * frequencies[..., None] * times(length) + phase[..., None]  # (n, 2, length)
    return np.nansum(amplitude[..., None] * np.sin(angle), axis=1)


def draw(n: int, rng: np.random.Generator, top: int = TOP) -> np.ndarray:
    """Frequencies of n series, (n, 2): one or two with equal chance, two different whole numbers from 0 to top."""
    if n < 1 or top < 1 or top != int(top):
        raise ValueError(f"n is {n}, top {top}; draw at least one series, and up to a whole number from 1 on")
    frequencies = rng.integers(0, (top + 1, top), (n, 2)).astype(float)
    frequencies[:, 1] += frequencies[:, 1] >= frequencies[:, 0]  # any number but the first
    frequencies[rng.random(n) < 0.5, 1] = np.nan
    return frequencies


def generate(frequencies: np.ndarray, rng: np.random.Generator, length: int, noise: float = NOISE) -> Tokens:
    """One series for each row of frequencies (n, 2), where NaN in the second column stands for no second sine.

    Tokens: values (n, length, 1) noisy, positions (n, length, 1) times from 0 to 1; aux: clean (n, length) float64 and
    frequencies (n, 2), -1 for no second sine.
    """
    frequencies = np.asarray(frequencies, float)
    if frequencies.ndim != 2 or frequencies.shape[1] != 2 or not len(frequencies):
        raise ValueError(f"frequencies has shape {frequencies.shape}; it must be (n, 2), n at least 1")
    if not np.isfinite(frequencies[:, 0]).all() or np.isinf(frequencies[:, 1]).any():
        raise ValueError("frequencies holds one that is infinite, or NaN in the first column; every series has a sine")
    _check(length, noise)
    numbers = torch.from_numpy(np.nan_to_num(frequencies, nan=-1))
    return _noisy(sines(frequencies, rng, length), rng, noise, frequencies=numbers)


def waves(shape: str, frequency: float, n: int, rng: np.random.Generator, length: int) -> Tokens:
    """n series of one of WAVES, at random phases: Tokens as in `generate`, without aux["frequencies"]."""
    if shape not in WAVES:
        raise ValueError(f"shape is {shape!r}; choose one of {', '.join(WAVES)}")
    if n < 1 or not np.isfinite(frequency):
        raise ValueError(f"n is {n}, frequency {frequency}; make at least one series, of a finite frequency")
    _check(length, NOISE)
    return _noisy(WAVES[shape](frequency * times(length) + rng.random((n, 1))), rng, NOISE)


def _check(length: int, noise: float) -> None:
    if length < 2:
        raise ValueError(f"length is {length}; a series needs at least 2 points")
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise is {noise}; a standard deviation is finite and not negative")


def _noisy(clean: np.ndarray, rng: np.random.Generator, noise: float, **aux: torch.Tensor) -> Tokens:
    noisy = clean + noise * rng.standard_normal(clean.shape)
    return Tokens(
        values=torch.from_numpy(noisy).float()[..., None],
        positions=torch.from_numpy(times(clean.shape[1])).expand(len(clean), -1)[..., None].contiguous(),
        aux={"clean": torch.from_numpy(clean), **aux},
    )

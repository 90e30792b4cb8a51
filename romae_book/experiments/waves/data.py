"""Sines of unknown period and phase, read with noise at moments that nobody chose."""

import numpy as np
import torch

from romae_lite.tokens import Tokens

SPAN = 20.0  # a series lasts from 0 to here
PERIODS = (4.0, 12.0)
NOISE = 0.1  # standard deviation of a reading; the waves are 1 high
SEEN = 12  # readings that a network is shown
ASKED = 24  # moments that it is asked for in training, drawn like the readings
GRID = 48  # the same in tests: evenly spaced between the first reading and the last


def waves(n: int, rng: np.random.Generator, grid: bool = False) -> Tokens:
    """n series, ordered by time; what is asked for is hidden, and its value the curve itself.

    Tokens: values (n, N, 1), positions (n, N, 1) times; aux: hidden (n, N) bool. N is SEEN + ASKED, or SEEN + GRID.
    """
    seen = rng.uniform(0, SPAN, (n, SEEN))
    first, last = seen.min(1, keepdims=True), seen.max(1, keepdims=True)
    asked = first + (last - first) * (np.arange(GRID) + 0.5) / GRID if grid else rng.uniform(0, SPAN, (n, ASKED))
    times = np.concatenate((seen, asked), axis=1)
    order = times.argsort(1)
    times, hidden = np.take_along_axis(times, order, 1), order >= SEEN
    period, phase = rng.uniform(*PERIODS, (n, 1)), rng.uniform(0, 1, (n, 1))
    values = curve(times, period, phase) + np.where(hidden, 0, rng.normal(0, NOISE, times.shape))
    return Tokens(
        values=torch.from_numpy(values).float()[..., None], positions=torch.from_numpy(times)[..., None],
        aux={"hidden": torch.from_numpy(hidden)},
    )


def curve(times: np.ndarray, period: np.ndarray, phase: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.pi * (times / period + phase))


def numbers(times: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """What a network that counts is told: 1, 2, 3 for the readings that it sees, and for what is hidden between two of
    them a number between theirs. times, hidden (n, N), ordered by time -> (n, N).

    Between its neighbours a hidden moment stands where it stands in time; before the first it has 1, after the last
    the last number."""
    count = np.arange(1.0, SEEN + 1)
    return np.stack([np.interp(t, t[~h], count) for t, h in zip(times, hidden, strict=True)])

"""Fill one series with no training: `fill(times, values, at)`."""

import functools
import math
import warnings

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..model import RoMAE, interpolate, split_mean_variance
from ..tokens import Tokens
from ..zoo import load
from .table import alike, array_of, numeric, same_zone, seconds, zoned

SEEN, ASKED = (3, 60), 24  # points of a series: as few and many as there are, and questions at most
STRIDE = SEEN[1] // 3  # of a long series, the middle third of each window is answered


def fill(
    times: ArrayLike, values: ArrayLike, at: ArrayLike | None = None, *, model: RoMAE | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What would be measured at other times: mean and standard deviation, (M,) float64 each, in the values' units.

    times   (N,) numbers or dates, in any order; rows whose value is NaN or None are gaps, and at least three are not
    values  (N,) numbers
    at      (M,) times, by default all of `times`; up to a tenth of the span outside is what the model has practised
    model   another one of the same kind; by default the "filler" that comes with the package

    Nothing is trained. Times are divided by their median gap, values standardised, so that units and origins do not
    matter. The model has seen 3 to 60 points in training: a longer series is read in windows of 60, each of which
    answers for its middle.

    UserWarning for times further outside. Raises TypeError where `at` has dates and times have none, or the other way
    round, and where times have a time zone and `at` has none; ValueError for what is no number and what cannot be
    filled.
    """
    t, y, at = _series(times, values, at)
    far = (t[-1] - t[0]) / 10
    if outside := int(((at < t[0] - far) | (at > t[-1] + far)).sum()):
        warnings.warn(
            f"{outside} of {len(at)} times lie further outside the series than a tenth of its length: nothing was "
            "learnt there, and neither mean nor band can be trusted",
            stacklevel=2,
        )
    model = _filler() if model is None else model
    out = np.empty((2, len(at)))
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, at)  # index of the seen point
    for start, first, last in windows(len(t)):
        asked = (nearest >= first) & (nearest < last)
        if asked.any():
            seen = slice(start, start + SEEN[1])
            flat = np.ptp(y[seen]) <= 1e-12 * np.abs(y[seen]).max()  # and has no spread to be measured in
            out[:, asked] = answers(model, t[seen], y[seen], at[asked], y.std() if flat else None)
    return out[0], out[1]


def windows(count: int) -> list[tuple[int, int, int]]:
    """For a series of `count` points: where each window of 60 starts, and the points, from first to before last, around
    which it answers."""
    if count <= SEEN[1]:
        return [(0, 0, count)]
    starts = [*range(0, count - SEEN[1], STRIDE), count - SEEN[1]]
    edges = [0, *(start + STRIDE for start in starts[1:]), count]
    return [(start, edges[i], edges[i + 1]) for i, start in enumerate(starts)]


def answers(model: RoMAE, t: np.ndarray, y: np.ndarray, at: np.ndarray, spread: float | None = None) -> np.ndarray:
    """Mean and standard deviation (2, M) at `at` (M,) from all points t, y (N,), sorted by time: what the page computes
    as well. Places are asked in heaps of at most 24 that each span the whole range, as in training. spread: what values
    are divided by; None: their own deviation."""
    unit, middle = float(np.median(np.diff(np.unique(t)))), (t[0] + t[-1]) / 2
    centre, spread = y.mean(), spread or y.std()
    seen = Tokens(values=((y - centre) / spread)[None, :, None], positions=((t - middle) / unit)[None, :, None])
    heaps, out = math.ceil(len(at) / ASKED), np.empty((2, len(at)))
    for i in range(heaps):
        places = torch.from_numpy((at[i::heaps] - middle) / unit)[:, None]
        answer = interpolate(model, seen, places)[0].double()
        mean, log_variance = (part[:, 0].numpy() for part in split_mean_variance(answer))
        out[:, i::heaps] = mean * spread + centre, np.exp(log_variance / 2) * spread
    return out


def _series(times, values, at) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points sorted by time, without gaps, and the places that are asked, all float64."""
    wanted, places = zoned(times), times if at is None else at
    times, y, at = array_of(times), array_of(values), array_of(places)
    if not at.size:
        raise ValueError("at holds no time; ask for one at least")
    if times.dtype.kind == at.dtype.kind == "M" and times.size:  # durations: float64 since 1970 ends at a microsecond
        times, at = times - times.flat[0], at - times.flat[0]
    t, dates = seconds("times", times)
    if y.ndim != 1:
        raise ValueError(f"values has shape {y.shape}; it must be one series, of shape (N,)")
    y = numeric("values", y)
    if len(t) != len(y):
        raise ValueError(f"times has {len(t)} entries, values has {len(y)}; they must agree")
    at, as_well = seconds("at", at)
    alike("at", as_well, "times", dates)
    same_zone("at", places, "times", wanted)
    if dates and len(t):
        t, at = t - t.min(), at - t.min()
    real = ~np.isnan(y)
    t, y = t[real], y[real]
    order = np.argsort(t, kind="stable")
    t, y = t[order], y[order]
    if len(np.unique(t)) < SEEN[0]:
        raise ValueError(
            f"there are {len(np.unique(t))} measurements at different times; at least {SEEN[0]} are needed"
        )
    if y.min() == y.max():
        raise ValueError(f"values are all {y[0]:g}; there is nothing to tell their scale by")
    return t, y, at


@functools.cache
def _filler() -> RoMAE:
    return load("filler")

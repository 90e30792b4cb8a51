"""Fill one series with no training: `fill(times, values, at)`."""

import functools
import math
import warnings

import numpy as np
import torch
from numpy.typing import ArrayLike

from .. import checks
from ..model import RoMAE, interpolate, split_mean_variance
from ..tokens import Tokens
from ..zoo import load
from .columns import check_dates, check_zone, has_zone, read_numbers, to_seconds

SEEN = (3, 60)  # points that a series of the training has, at least and at most
ASKED = 24  # questions about it, at most
STRIDE = SEEN[1] // 3  # of a long series each window answers for its middle third


def fill(
    times: ArrayLike, values: ArrayLike, at: ArrayLike | None = None, *,
    model: RoMAE | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate what would be measured at other times. Nothing is trained.

    Times are divided by their median gap and values standardised, so that units and
    origins do not matter. The model has seen 3 to 60 points of each series in training:
    a longer series is read in windows of 60, each of which answers for its middle.

    Parameters
    ----------
    times : array_like, (N,)
        Numbers or dates, in any order.
    values : array_like, (N,)
        Numbers; NaN and None are gaps, and at least three are none.
    at : array_like, (M,), optional
        Times to ask for. None: all of `times`. The model has practised up to a tenth
        of the span outside.
    model : RoMAE, optional
        Another one of the same kind. None: the "filler" that comes with the package.

    Returns
    -------
    mean, deviation : array of float64, (M,)
        In the units of `values`.

    Warns
    -----
    UserWarning
        For times further outside.

    Raises
    ------
    TypeError
        If one of `at` and `times` has dates and the other numbers, or if `times` have
        a time zone and `at` has none.
    ValueError
        For what is no number, and for series that cannot be filled.
    """
    checks.kind("model", model, RoMAE | None)
    t, y, at = _read(times, values, at)
    far = (t[-1] - t[0]) / 10
    if outside := int(((at < t[0] - far) | (at > t[-1] + far)).sum()):
        warnings.warn(
            f"{outside} of {len(at)} times lie further outside the series than a tenth "
            "of its length: neither mean nor band can be trusted there",
            stacklevel=2,
        )
    model = _filler() if model is None else model
    out = np.empty((2, len(at)))
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, at)  # index of the seen point
    for start, first, last in windows(len(t)):
        asked = (nearest >= first) & (nearest < last)
        if asked.any():
            seen = slice(start, start + SEEN[1])
            # a flat window has no spread to be measured in
            flat = np.ptp(y[seen]) <= 1e-12 * np.abs(y[seen]).max()
            spread = y.std() if flat else None
            out[:, asked] = answers(model, t[seen], y[seen], at[asked], spread)
    return out[0], out[1]


def windows(count: int) -> list[tuple[int, int, int]]:
    """Cut a series of `count` points into windows of 60: where each starts, and the
    points, from first to before last, around which it answers."""
    if count <= SEEN[1]:
        return [(0, 0, count)]
    starts = [*range(0, count - SEEN[1], STRIDE), count - SEEN[1]]
    edges = [0, *(start + STRIDE for start in starts[1:]), count]
    return [(start, edges[i], edges[i + 1]) for i, start in enumerate(starts)]


def answers(
    model: RoMAE, t: np.ndarray, y: np.ndarray, at: np.ndarray,
    spread: float | None = None,
) -> np.ndarray:
    """Return mean and standard deviation (2, M) at `at` (M,), from points t, y (N,)
    in order of time: what the page computes as well.

    Places are asked in heaps of at most 24 that each span the whole range, as in
    training. spread: what values are divided by; None: their own deviation.
    """
    unit, middle = float(np.median(np.diff(np.unique(t)))), (t[0] + t[-1]) / 2
    centre, spread = y.mean(), spread or y.std()
    seen = Tokens(
        values=((y - centre) / spread)[None, :, None],
        positions=((t - middle) / unit)[None, :, None],
    )
    heaps, out = math.ceil(len(at) / ASKED), np.empty((2, len(at)))
    for i in range(heaps):
        places = torch.from_numpy((at[i::heaps] - middle) / unit)[:, None]
        answer = interpolate(model, seen, places)[0].double()
        mean, log_variance = (a[:, 0].numpy() for a in split_mean_variance(answer))
        out[:, i::heaps] = mean * spread + centre, np.exp(log_variance / 2) * spread
    return out


def _read(times, values, at) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points sorted by time, without gaps, and the places that are asked."""
    zoned, places = has_zone(times), times if at is None else at
    times, at = checks.array("times", times), checks.array("at", places)
    if not at.size:
        raise ValueError("at is empty; ask for one time at least")
    if times.dtype.kind == at.dtype.kind == "M" and times.size:
        # as durations: float64 since 1970 ends at a microsecond
        times, at = times - times.flat[0], at - times.flat[0]
    t, dates = to_seconds("times", times)
    y = read_numbers("values", values)
    if y.ndim != 1:
        raise ValueError(f"values has shape {y.shape}; it must be one series, (N,)")
    if len(t) != len(y):
        raise ValueError(f"times has {len(t)} entries, values has {len(y)}")
    at, asked_dates = to_seconds("at", at)
    check_dates("at", asked_dates, "times", dates)
    check_zone("at", places, "times", zoned)
    if dates and len(t):
        t, at = t - t.min(), at - t.min()
    real = ~np.isnan(y)
    t, y = t[real], y[real]
    order = np.argsort(t, kind="stable")
    t, y = t[order], y[order]
    if (count := len(np.unique(t))) < SEEN[0]:
        found = f"{count} measurements at different times"
        raise ValueError(f"values has {found}; at least {SEEN[0]} are needed")
    if y.min() == y.max():
        raise ValueError(f"values are all {y[0]:g}, which gives no scale")
    return t, y, at


@functools.cache
def _filler() -> RoMAE:
    return load("filler")

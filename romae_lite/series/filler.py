"""The network that fills a series, with no training.

It corrects straight lines. What a straight line between the two neighbours
would say is its zero, and how wrong such lines are at the points of the series, each
left out in turn, is its unit. So its answer has the units and the origin of the series,
and where it has nothing to add it draws the lines.

    fill_arrays   one series, clean float64
    fill_each     many of them, in windows of 96, a few at a time
    look, answer  what the network reads of a batch of windows, and what it says

Shapes: B windows, N points seen, M places asked.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..masking import split
from ..model import RoMAE, device_of, split_mean_variance
from ..tokens import Tokens, to_device
from ..zoo import load

LEAST = 3  # points: lines are tried out at those that have two neighbours
WINDOW = 96  # points that the network sees; of a long series, a third apart
INPUTS = 7  # numbers that it reads of each: `look`
FLOOR = 0.3  # deviation at least, in steps of rounded values
TOGETHER = 32  # windows


def fill_arrays(
    times: np.ndarray, values: np.ndarray, at: np.ndarray,
    errors: np.ndarray | None = None, model: RoMAE | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Fill float64 arrays without gaps, unchecked: mean and deviation (M,).

    errors: NaN or 0 where unknown.
    """
    return fill_each([(times, values, at, errors)], model)[0]


def fill_each(
    series: list[tuple], model: RoMAE | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """`fill_arrays` of many series, each (times, values, at, errors or None).

    Windows of the same length go through the network together.
    """
    model, answers, jobs = model or _filler(), [], []
    for times, values, at, errors in series:
        t, y, e = merge(times, values, errors)
        answers.append(np.empty((2, len(at))))
        for seen, asked in questions(t, at):
            window = t[seen], y[seen], at[asked], e[seen], np.std(values)
            jobs.append((answers[-1], asked, window))
    alike = lambda job: len(job[2][0])  # noqa: E731
    jobs.sort(key=lambda job: (alike(job), len(job[1])))
    for group in (list(found) for _, found in itertools.groupby(jobs, alike)):
        for k in range(0, len(group), TOGETHER):
            part = group[k : k + TOGETHER]
            t, y, at, e, spread = zip(*(window for *_, window in part), strict=True)
            most = len(at[-1])
            at = [np.pad(a, (0, most - len(a)), mode="edge") for a in at]
            stacked = (torch.from_numpy(np.stack(x)) for x in (t, y, at, e, spread))
            with torch.inference_mode():
                found = torch.stack(predict(model, look(*stacked))).numpy()
            for i, (out, asked, _) in enumerate(part):
                out[:, asked] = found[:, i, : len(asked)]
    for out, (_, values, *_) in zip(answers, series, strict=True):
        out[1] = np.maximum(out[1], FLOOR * smallest_step(values))
    return [(mean, deviation) for mean, deviation in answers]


def merge(times, values, errors=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort by time, averaging what was measured at one time: times, values, errors.

    Where all its errors are known they are the weights; 0 and NaN are unknown.
    """
    t, first, place, count = np.unique(
        times, return_index=True, return_inverse=True, return_counts=True
    )
    e = np.zeros(len(place)) if errors is None else np.nan_to_num(errors)
    known = np.bincount(place, e <= 0) == 0
    weight = np.where(known[place], np.where(e > 0, e, 1.0) ** -2, 1.0)
    total = np.bincount(place, weight)
    mean = np.bincount(place, weight * values) / total
    y = np.where(count == 1, np.asarray(values, float)[first], mean)
    return t, y, np.where(count == 1, e[first], known / np.sqrt(total))


def windows(count: int) -> list[tuple[int, int, int]]:
    """Cut a series of `count` points into windows of 96: where each starts, and the
    points, from first to before last, around which it answers."""
    if count <= WINDOW:
        return [(0, 0, count)]
    stride = WINDOW // 3
    starts = [*range(0, count - WINDOW, stride), count - WINDOW]
    edges = [0, *(start + stride for start in starts[1:]), count]
    return [(start, edges[i], edges[i + 1]) for i, start in enumerate(starts)]


def questions(t: np.ndarray, at: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the points of each window that is asked, and which of `at` it answers."""
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, at)  # index of the seen point
    for start, first, last in windows(len(t)):
        mine = np.flatnonzero((nearest >= first) & (nearest < last))
        if len(mine):
            yield slice(start, start + WINDOW), mine


def smallest_step(values: np.ndarray) -> float:
    """Smallest difference of two values, where values repeat: they are rounded to it.

    0 where none repeats. Differences in the last digits of float64 count as none.
    """
    steps = np.diff(np.sort(values))
    same = steps <= 1e-9 * np.abs(values).max()
    return float(steps[~same].min()) if same.any() and not same.all() else 0.0


# The network
# ----------------------------------------------------------------------------


class View(NamedTuple):
    """What the network reads of B windows, and the zero and unit of its answers."""

    points: Tensor  # (B, N, 7)
    positions: Tensor  # (B, N, 2)
    places: Tensor  # (B, M, 2)
    line: Tensor  # (B, M)
    unit: Tensor  # (B, M)


def look(
    t: Tensor, y: Tensor, at: Tensor, error: Tensor, spread: Tensor | None = None
) -> View:
    """Describe windows to the network.

    t, y (B, N) float64, times rising; at (B, M); error (B, N), 0 where unknown; spread
    (B,): the scale of a window whose values are all equal. Positions are the time, in
    median gaps, and the index.
    """
    n, gap = t.shape[1], t.diff(dim=1)  # (B, N - 1)
    tick = gap.median(dim=1, keepdim=True).values
    centre, deviation = y.mean(1, keepdim=True), y.std(1, keepdim=True, correction=0)
    if spread is not None:
        flat = deviation <= 1e-12 * y.abs().amax(1, keepdim=True)
        deviation = torch.where(flat, spread[:, None], deviation)
    # Lines past each point that has two neighbours. By Brownian motion their errors
    # grow as the square root of a bridge's width; smooth curves and noise differ, so
    # half of that, in the logarithm, is a compromise.
    before, after = gap[:, :-1], gap[:, 1:]
    past = (y[:, :-2] * after + y[:, 2:] * before) / (before + after)
    width = before * after / (before + after)
    typical = width.log().mean(1, keepdim=True).exp()
    wrong = (y[:, 1:-1] - past) / growth(width, typical)
    scale = 1.25 * wrong.abs().mean(1, keepdim=True)  # a normal's deviation
    scale = torch.maximum(scale, 1e-4 * deviation)  # (B, 1)
    ends = torch.zeros_like(y[:, :1])
    wrong = torch.cat((ends, wrong, ends), dim=1)  # (B, N)
    known = (error > 0).double()
    left, right = torch.cat((gap[:, :1], gap), 1), torch.cat((gap, gap[:, -1:]), 1)
    points = [
        (y - centre) / deviation,  # its value
        torch.asinh(wrong / scale),  # how wrong a line past it is
        half_log(left / tick),  # the gaps to either side
        half_log(right / tick),
        half_log(scale / deviation).expand_as(y),  # how wrong lines are in this window
        known,
        known * half_log(error / scale),  # how large the error of the measurement is
    ]
    # The places: beyond the ends the line stays at the last value, and its error
    # grows with the distance as it does with a bridge's width.
    i = torch.searchsorted(t.contiguous(), at.contiguous()).clamp(1, n - 1)
    (t0, t1), (y0, y1) = ((x.gather(1, i - 1), x.gather(1, i)) for x in (t, y))
    share = (at - t0) / (t1 - t0)
    inside = share.clamp(0, 1)
    width = (t1 - t0) * inside * (1 - inside)
    early, late = (t0 - at).clamp(min=0), (at - t1).clamp(min=0)
    width = width + early + late
    # far away the index goes on as a logarithm: the time alone would turn too often
    index = i - 1 + inside + 4 * torch.asinh((late - early) / tick / 4)
    middle = (t[:, :1] + t[:, -1:]) / 2
    order = torch.arange(n, dtype=torch.float64).expand_as(t)
    return View(
        points=torch.stack(points, dim=-1),
        positions=torch.stack(((t - middle) / tick, order - (n - 1) / 2), dim=-1),
        places=torch.stack(((at - middle) / tick, index - (n - 1) / 2), dim=-1),
        line=y0 + inside * (y1 - y0),
        unit=scale * growth(width, typical),
    )


def growth(width: Tensor, typical: Tensor) -> Tensor:
    """How much larger than typical an error is expected to be across this width."""
    return (width / typical).clamp(0.03, 300) ** 0.25


def half_log(ratio: Tensor) -> Tensor:
    return ratio.clamp(1e-4, 1e4).log() / 2


def answer(model: RoMAE, view: View) -> tuple[Tensor, Tensor]:
    """Ask the network: by how many units a measurement is expected off the line, and
    the logarithm of its variance in squared units, (B, M) float64 each (on an MPS GPU
    float32), on the model's device."""
    places = view.places
    n, m = view.points.shape[1], places.shape[1]
    tokens = Tokens(
        values=torch.nn.functional.pad(view.points, (0, 0, 0, m)),  # (B, N + M, 7)
        positions=torch.cat((view.positions, places), dim=1),  # (B, N + M, 2)
    )
    hidden = (torch.arange(n + m) >= n).expand(len(places), -1)
    where, device = split(hidden, tokens.real), device_of(model)
    # (B, M, 14): the first counts
    off, log_variance = split_mean_variance(model(tokens.to(device), where.to(device)))
    found = off[..., 0], log_variance[..., 0]
    return found if device.type == "mps" else (found[0].double(), found[1].double())


def predict(model: RoMAE, view: View) -> tuple[Tensor, Tensor]:
    """Mean and deviation of a measurement, in the units of the values, (B, M)."""
    off, log_variance = (x.cpu() for x in answer(model, view))
    return view.line + view.unit * off, view.unit * (log_variance / 2).exp()


def filling_loss(
    model: RoMAE, view: View, mean: Tensor, variance: Tensor | float = 0.0
) -> Tensor:
    """Expected negative log-likelihood in nats, less what the units add to it.

    mean, variance (B, M): of what is measured there; of one measurement, that and 0.
    Beyond four deviations the square becomes a logarithm: without it a few jumps and
    outliers make up the gradient.
    """
    off, log_variance = answer(model, view)
    aim, spread = (mean - view.line) / view.unit, variance / view.unit**2
    aim, spread = to_device(aim, off.device), to_device(spread, off.device)
    square = (aim - off) ** 2 + spread
    square = square * (-log_variance).exp()
    tail = 16 * (1 + (square.clamp(min=16) / 16).log())
    return 0.5 * (torch.where(square < 16, square, tail) + log_variance).mean()


@functools.cache
def _filler() -> RoMAE:
    return load("filler")

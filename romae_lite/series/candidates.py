"""Six ways to fill gaps, all with one signature, from which `mixture` mixes.

    candidate(seen, asked) -> answers

seen    K curves: each one channel of one series
asked   of each of them the times to answer for, (M,)
answers of each of them mean and deviation, (2, M); NaN where it cannot answer

lines, pchip   through the points; how wrong they are without each second point
process        an average of Gaussian processes
network        the filler, as it is or tuned (`tune`)
across         what other channels and series say at that time
"""

import copy
import itertools
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from scipy.interpolate import PchipInterpolator
from scipy.linalg import eigh

from ..model import RoMAE
from ..optim import Muon
from .filler import (
    FLOOR,
    WINDOW,
    fill_each,
    filling_loss,
    look,
    merge,
    questions,
    smallest_step,
)


class Curve(NamedTuple):
    """One channel of one series: N measurements, in order of different times."""

    series: int
    channel: int
    times: np.ndarray  # (N,)
    values: np.ndarray  # (N,)
    errors: np.ndarray  # (N,) of the measurements, 0 where unknown
    level: float = 0.0  # their mean, or of none the channel's (`scale_curves`)
    spread: float = 1.0  # their scale

    @property
    def varies(self) -> bool:
        if len(self.times) < 3:
            return False
        return np.ptp(self.values) > 1e-12 * np.abs(self.values).max()

    def part(self, kept: np.ndarray) -> "Curve":
        t, y, e = (a[kept] for a in (self.times, self.values, self.errors))
        return self._replace(times=t, values=y, errors=e)


Answers = list[np.ndarray]
Candidate = Callable[[list[Curve], list[np.ndarray]], Answers]


def scale_curves(curves: list[Curve]) -> list[Curve]:
    """Give each curve its level and scale: mean and deviation of its values. A
    deviation of fewer than twenty is drawn towards what is typical for the channel, in
    the logarithm, as if four values more had that."""
    typical = {}
    for channel in {c.channel for c in curves}:
        mine = [c for c in curves if c.channel == channel and len(c.times)]
        some = [c.values.std(ddof=1) for c in mine if c.varies]
        level = np.median([c.values.mean() for c in mine]) if mine else 0.0
        typical[channel] = float(level), float(np.median(some)) if some else 1.0
    found = []
    for c in curves:
        n, (level, usual) = len(c.times), typical[c.channel]
        spread = max(c.values.std(ddof=1) if n > 1 else 0.0, usual / max(n, 1))
        if n < 20:
            known = max(n - 1, 0) / (max(n - 1, 0) + 4)
            spread = spread**known * usual ** (1 - known)
        elif c.varies:
            spread = c.values.std()
        level = float(c.values.mean()) if n else level
        found.append(c._replace(level=level, spread=float(spread)))
    return found


def join_close(c: Curve) -> Curve:
    """Join up to five readings that follow at once on one another, where that is the
    rule, as two loggers or exposures make them: the median gap is no unit then."""
    n = len(c.times)
    if n < 6:
        return c
    new = np.diff(c.times) > 0.02 * (c.times[-1] - c.times[0]) / (n - 1)
    if new.mean() > 0.9:
        return c
    group = np.append(0, np.cumsum(new))
    size = np.bincount(group)
    few = (size > 1) & (size <= 5)
    if not few.any():
        return c
    middle = np.bincount(group, c.times) / size
    times = np.where(few[group], middle[group], c.times)
    t, y, e = merge(times, c.values, c.errors)
    return c._replace(times=t, values=y, errors=e)


def join_alone(curves: list[Curve]) -> list[Curve]:
    """`join_close` where there is one channel; others know the very time."""
    if len({c.channel for c in curves}) > 1:
        return curves
    return [join_close(c) for c in curves]


# Lines
# ----------------------------------------------------------------------------


def lines(seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Straight lines. They answer always: of less than three points, or of a constant,
    by its mean and what is typical."""
    return [
        with_band(np.interp, c, at) if c.varies else still(c, at)
        for c, at in zip(seen, asked, strict=True)
    ]


def pchip(seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Monotone cubic curves, which hold their last value beyond the ends."""

    def draw(at, t, y):
        return PchipInterpolator(t, y)(np.clip(at, t[0], t[-1]))

    return each(partial(with_band, draw), seen, asked)


def each(answer: Callable, seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Answer curve by curve, those that vary."""
    return [
        answer(c, at) if c.varies and len(at) else np.full((2, len(at)), np.nan)
        for c, at in zip(seen, asked, strict=True)
    ]


def still(curve: Curve, at: np.ndarray) -> np.ndarray:
    """Answer for a curve of which nothing is known but its level."""
    t, y = curve.times, curve.values
    mean = np.interp(at, t, y) if len(t) else np.full(len(at), curve.level)
    return np.stack((mean, np.full(len(at), curve.spread)))


def with_band(draw: Callable, curve: Curve, at: np.ndarray) -> np.ndarray:
    """Draw a curve, and measure how wrong it is by the width of a gap.

    Inside at every second point, without these; beyond the ends, where the last value
    is carried on, between points that are 1, 2, 4, ... apart.
    """
    t, y, n, spread = curve.times, curve.values, len(curve.times), curve.spread
    mean, deviation = draw(at, t, y), np.full(len(at), spread)
    if n < 5:
        return np.stack((mean, deviation))
    errors, gaps = [], []
    for first in (1, 2):
        out = np.arange(first, n - 1, 2)
        errors.append(draw(t[out], np.delete(t, out), np.delete(y, out)) - y[out])
        gaps.append(t[out + 1] - t[out - 1])
    i = np.clip(np.searchsorted(t, at), 1, n - 1)
    beyond = np.maximum(t[0] - at, at - t[-1])
    inside = beyond <= 0
    gap = (t[i] - t[i - 1])[inside]
    deviation[inside] = by_width(np.concatenate(gaps), np.concatenate(errors), gap)
    if not inside.all():
        steps = [2**k for k in range((n - 1).bit_length())]
        errors = np.concatenate([y[k:] - y[:-k] for k in steps])
        gaps = np.concatenate([t[k:] - t[:-k] for k in steps])
        deviation[~inside] = by_width(gaps, errors, beyond[~inside])
    return np.stack((mean, np.clip(deviation, 1e-3 * spread, 2 * spread)))


def by_width(widths: np.ndarray, errors: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return the root mean square of the errors of about as wide gaps, a twentieth of
    all; wider than all it grows as that of a random walk."""
    order, asked = np.argsort(widths), np.log(asked)
    widths = np.log(widths[order])
    total = np.append(0, np.cumsum(errors[order] ** 2))
    count = min(len(widths), max(20, len(widths) // 20))
    start = np.searchsorted(widths, asked) - count // 2
    start = np.clip(start, 0, len(widths) - count)
    square = np.maximum(total[start + count] - total[start], 0) / count
    return np.sqrt(square * np.exp(np.maximum(asked - widths[-1], 0)))


# Gaussian processes
# ----------------------------------------------------------------------------

LENGTHS = (1, 3, 10, 30, 100, 400)  # of kernels, in median gaps
NOISES = np.array([1e-3, 0.03, 0.1, 0.3, 1, 3]) ** 2  # variance over the curve's
KERNELS = (  # Matern's 1/2, 3/2, 5/2
    lambda d: np.exp(-d),
    lambda d: (1 + 3**0.5 * d) * np.exp(-(3**0.5) * d),
    lambda d: (1 + 5**0.5 * d + 5 / 3 * d**2) * np.exp(-(5**0.5) * d),
)


def process(seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Gaussian processes of many kernels, lengths and noises, averaged by evidence, in
    windows as the network's."""

    def answer(curve, at):
        t, y, out = curve.times, curve.values, np.empty((2, len(at)))
        for seen, mine in questions(t, at):
            part = t[seen], y[seen], at[mine], curve.spread, curve.errors[seen]
            out[:, mine] = average(*part)
        return out

    return each(answer, seen, asked)


def average(
    t: np.ndarray, y: np.ndarray, at: np.ndarray, spread: float, errors: np.ndarray
) -> np.ndarray:
    """Average the processes on one window, (2, M).

    The level has a wide prior, the amplitude is integrated out, so each answer is a
    Student's; noise belongs to it. Known errors say how noisy a point is beside the
    others, if the evidence agrees; how much noise there is in all stays open.
    """
    n, tick = len(t), np.median(np.diff(t))
    apart = np.abs(t[:, None] - t) / tick
    away, span = np.abs(at[:, None] - t) / tick, (t[-1] - t[0]) / tick
    evidence, means, variances = [], [], []
    varied = np.ptp(y) > 1e-9 * spread
    able = [length for length in LENGTHS if length <= 1.5 * span + 1]
    while able[-1] >= LENGTHS[-1] and 4 * able[-1] <= 1.5 * span:  # gaps of all sizes
        able.append(4 * able[-1])
    for one in noise_units(errors):  # each point is counted in its own noise
        share = one**2 / (one**2).sum()
        middle = share @ y
        scale = np.sqrt(share @ (y - middle) ** 2) if varied else spread
        z = (y - middle) / scale
        for length, kernel in itertools.product(able, KERNELS):
            values, vectors = eigh(
                one[:, None] * kernel(apart / length) * one, driver="evd",
                check_finite=False,
            )
            z_, one_ = vectors.T @ (one * z), vectors.T @ one
            cross = (kernel(away / length) * one) @ vectors  # (M, N)
            g = 1 / (values.clip(1e-10) + NOISES[:, None] + 1e-6)  # (noises, N)
            ones = g @ one_**2 + 0.05
            level = g @ (one_ * z_) / ones  # (noises,)
            rest = z_ - level[:, None] * one_
            square = (g * rest**2).sum(1) + 0.05 * level**2 + 0.5
            amplitude = square / (n + 0.5)
            evidence.append(
                0.5 * (np.log(g).sum(1) - np.log(ones) - (n + 0.5) * np.log(amplitude))
                + np.log(one).sum() - n * np.log(scale)
            )
            weights = cross * g[:, None]  # (noises, M, N)
            off = level[:, None] + np.einsum("smn,sn->sm", weights, rest)
            means.append(middle + scale * off)
            known = np.einsum("smn,mn->sm", weights, cross)
            variance = (1 + NOISES[:, None] - known).clip(1e-8)
            variance += (1 - weights @ one_) ** 2 / ones[:, None]
            variances.append(scale**2 * amplitude[:, None] * variance)
    evidence, means, variances = map(np.concatenate, (evidence, means, variances))
    share = np.exp(evidence - evidence.max())
    share /= share.sum()
    mean = share @ means
    variance = share @ (variances + (means - mean) ** 2) * (n + 1) / max(n - 2, 1)
    return np.stack((mean, np.sqrt(variance)))


def noise_units(errors: np.ndarray) -> list[np.ndarray]:
    """How exact each point is beside the usual one, (N,): all alike; and, where errors
    are known and differ, as they say."""
    known, exact = errors > 0, np.ones(len(errors))
    if not known.any() or np.ptp(errors[known]) == 0:
        return [exact]
    exact[known] = (np.median(errors[known]) / errors[known]).clip(1e-4, 30)
    return [np.ones(len(errors)), exact]


# The network
# ----------------------------------------------------------------------------


def network(model: RoMAE | None, seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Ask the filler."""
    answers = [np.full((2, len(at)), np.nan) for at in asked]
    able = [i for i, c in enumerate(seen) if c.varies and len(asked[i])]
    rows = [(seen[i].times, seen[i].values, asked[i], seen[i].errors) for i in able]
    for i, answer in zip(able, fill_each(rows, model), strict=True):
        answers[i] = np.stack(answer)
    return answers


def tune(model: RoMAE, curves: list[Curve], steps: int, seed: int) -> RoMAE:
    """Train a copy of the filler on windows of these curves, of which 15 to 50 % are
    hidden: scattered, in runs, or at one end."""
    curves = [c for c in curves if c.varies and len(c.times) > 5]
    if not (curves and steps):
        return model
    model, rng = copy.deepcopy(model).train(), np.random.default_rng(seed)
    named = model.named_parameters()
    matrices = [p for name, p in named if p.ndim == 2 and ".blocks." in name]
    inside = set(map(id, matrices))
    others = [p for p in model.parameters() if id(p) not in inside]
    optimizers = torch.optim.AdamW(others), Muon(matrices, lr=0, weight_decay=0.01)
    lengths = np.array([len(c.times) for c in curves])
    for step in range(steps):
        rate = 2e-3 * min(1, (step + 1) / 10) * (1 + np.cos(np.pi * step / steps)) / 2
        loss = filling_loss(model, *draw_windows(curves, lengths, rng))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad()
    return model.eval()


def draw_windows(curves: list[Curve], lengths: np.ndarray, rng, count: int = 32):
    """Draw windows of one length: what the network reads of them, and the values that
    are hidden, (B, M)."""
    longest = min(lengths.max(), 5 * WINDOW // 4)
    n = int(np.exp(rng.uniform(np.log(min(6, longest)), np.log(longest + 1))))
    able = np.flatnonzero(lengths >= n)
    share = lengths[able] / lengths[able].sum()
    many = max(1, min(n - 4, round(n * rng.uniform(0.15, 0.5))))
    parts = []
    for i in rng.choice(able, count, p=share):
        start, c = rng.integers(lengths[i] - n + 1), curves[i]
        hidden = draw_hidden(n, many, rng.choice(list(KINDS), p=(0.45, 0.45, 0.1)), rng)
        if np.ptp(c.values[start : start + n][~hidden]) > 0:
            part = [a[start : start + n] for a in (c.times, c.values, c.errors)]
            parts.append([a[k] for k in (~hidden, hidden) for a in part])
    if not parts:
        return draw_windows(curves, lengths, rng, count)
    stacks = (torch.from_numpy(np.stack(a)) for a in zip(*parts, strict=True))
    t, y, e, at, truth, _ = stacks
    return look(t, y, at, e), truth


KINDS = ("scattered", "stretches", "end")


def draw_hidden(n: int, count: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Draw which of n points in a row to hide, (n,) bool: `count` of them, never the
    first, and the last one only in a stretch at the end."""
    hidden = np.zeros(n, dtype=bool)
    count = max(0, min(count, n - 2))
    if kind == "end":
        hidden[n - count :] = True
    elif kind == "scattered":
        hidden[1 + rng.choice(n - 2, count, replace=False)] = True
    else:  # runs of up to 12, with something seen between them
        runs = []
        while (left := count - sum(runs)) > 0:
            runs.append(int(rng.integers(1, min(12, left) + 1)))
        free = n - 1 - count - len(runs)  # seen points that may stand anywhere
        if free < 0:
            return draw_hidden(n, count, "scattered", rng)
        cuts = np.sort(rng.integers(0, free + 1, len(runs)))
        end = 0
        for before, run in zip(np.diff(cuts, prepend=0), runs, strict=True):
            start = end + 1 + before
            hidden[start : start + run] = True
            end = start + run
    return hidden


def without_errors(c: Curve) -> Curve:
    """Leave known errors out, and with them the values that they call useless."""
    if (known := c.errors > 0).any():
        good = c.part(c.errors <= 10 * np.quantile(c.errors[known], 0.25))
        if good.varies:
            bad = c.errors > max(good.errors.max(), good.values.std() / 2)
            c = c.part(~bad)
    return c._replace(errors=np.zeros(len(c.times)))


def untrained(
    model: RoMAE | None, seen: list[Curve], asked: list[np.ndarray]
) -> Answers:
    """Average the filler, the Gaussian processes and, inside a curve, what other
    channels and series say near by; each by its precision, one over the square of the
    deviation that it states.

    Of a curve that does not vary: lines. Only the processes are told known errors: the
    filler believes them too much where a curve changes faster than it was sampled. The
    others are not shown values that are known to be ten times as bad as the good ones,
    and bad beside the spread of these.
    """
    close = [join_close(c) for c in seen]
    others = heard([without_errors(c) for c in seen], asked)
    alone = network(model, [without_errors(c) for c in close], asked)
    ways = zip(alone, process(close, asked), others, strict=True)
    answers = lines(close, asked)
    for i, (c, (net, gauss, other)) in enumerate(zip(close, ways, strict=True)):
        if c.varies:
            mean, deviation = np.stack((net, gauss, other[:2]), axis=1)  # (3, M) each
            least = max(FLOOR * smallest_step(c.values), 1e-9 * c.spread)
            deviation = np.maximum(deviation, least)
            beyond = (asked[i] < c.times[0]) | (asked[i] > c.times[-1])
            # forecasts are less sure than they say: there the deviation itself
            share = deviation ** -np.where(beyond, 1.0, 2.0)
            share[2] *= other[2] * ~beyond  # nobody near, nothing heard
            share = np.nan_to_num(share) / np.nansum(share, axis=0)
            mean, deviation = np.nan_to_num(mean), np.nan_to_num(deviation)
            middle = (share * mean).sum(0)
            # the mixture's, so where answers disagree it grows
            square = (share * (deviation**2 + (mean - middle) ** 2)).sum(0)
            answers[i] = np.stack((middle, np.sqrt(square)))
    return answers


# Other channels and series
# ----------------------------------------------------------------------------

REACHES = (1, 3, 9)  # points left out to either side
POOL = 30  # other series that are looked at


def across(seen: list[Curve], asked: list[np.ndarray]) -> Answers:
    """Ridge regression, by channel: on a curve's own line, and at the same time the
    other channels of that series and the mean of that channel over other series, each
    fading with the distance to its nearest value. For narrow and wide gaps apart."""
    return [found[:2] for found in heard(seen, asked)]


def heard(seen: list[Curve], asked: list[np.ndarray]) -> list[np.ndarray]:
    """`across`, and how near the nearest value of others is, from 1 to 0: (3, M)."""
    answers = [np.full((3, len(at)), np.nan) for at in asked]
    curves = {(c.series, c.channel): i for i, c in enumerate(seen) if c.varies}
    scales = [c.values.std() if c.varies else 1.0 for c in seen]
    z = [(c.values - c.level) / s for c, s in zip(seen, scales, strict=True)]
    ticks = [np.median(np.diff(c.times)) if c.varies else 1.0 for c in seen]
    channels = sorted({channel for _, channel in curves})
    order = np.random.default_rng(0).permutation(sorted({s for s, _ in curves}))

    def others(i: int, when: np.ndarray, pool: list[int]) -> tuple:
        """What all curves except i say at some times, (M, features); and how near the
        nearest of their values is, (M,), from 1 to 0."""
        found, nearest = [], np.zeros(len(when))
        for channel in channels:
            j = curves.get((seen[i].series, channel))
            if channel != seen[i].channel:
                value = near = np.zeros(len(when))
                if j is not None:
                    value, near = faded(j, when, ticks[i])
                found.append(value * near)
                nearest = np.maximum(nearest, near)
        if len(pool) > 1:
            total, weight = np.zeros(len(when)), np.full(len(when), 1e-3)
            for j in pool:
                if j != i:
                    value, near = faded(j, when, ticks[i])
                    t = seen[j].times
                    near *= (when >= t[0]) & (when <= t[-1])
                    total, weight = total + near * value, weight + near
                    nearest = np.maximum(nearest, near)
            found.append(total / weight)
        return np.stack(found, 1) if found else np.zeros((len(when), 0)), nearest

    def faded(j: int, when: np.ndarray, tick: float) -> tuple[np.ndarray, np.ndarray]:
        t = seen[j].times
        k = np.clip(np.searchsorted(t, when), 1, len(t) - 1)
        distance = np.minimum(np.abs(when - t[k - 1]), np.abs(t[k] - when))
        return np.interp(when, t, z[j]), np.exp(-distance / tick)

    for channel in channels:
        mine = [curves[s, channel] for s in order if (s, channel) in curves]
        pool = mine[:POOL]
        if len(channels) == 1 and len(pool) == 1:
            continue
        rows = {reach: [] for reach in REACHES}
        for i in mine:
            t = seen[i].times
            features, _ = others(i, t, pool)
            for reach in REACHES:
                if len(t) > 2 * reach:
                    # own line, from `reach` points away on either side
                    left, at, right = t[: -2 * reach], t[reach:-reach], t[2 * reach :]
                    a, b = z[i][: -2 * reach], z[i][2 * reach :]
                    own = a + (b - a) * (at - left) / (right - left)
                    rows[reach].append(np.column_stack(
                        (own, features[reach:-reach], z[i][reach:-reach])
                    ))
        fits = {}
        for reach, parts in rows.items():
            if sum(map(len, parts)) > 10 or (reach == 1 and parts):
                *x, y = np.concatenate(parts).T
                x = np.stack(x, 1)
                gram = x.T @ x + (1 + 0.002 * len(x)) * np.eye(x.shape[1])
                hat = np.linalg.solve(gram, x.T)  # (features, rows)
                b = hat @ y
                # each row without itself: of few rows a fit knows too much
                off = (y - x @ b) / (1 - (x * hat.T).sum(1))
                fits[reach] = b, np.sqrt(np.mean(off**2) + 1e-8)
        if not fits:
            continue
        for i in mine:
            at, t = asked[i], seen[i].times
            if not len(at):
                continue
            k = np.clip(np.searchsorted(t, at), 1, len(t) - 1)
            beyond = np.maximum(0, np.maximum(t[0] - at, at - t[-1]))
            width = np.log(((t[k] - t[k - 1]) / 2 + beyond) / ticks[i])
            features, near = others(i, at, pool)
            x = np.column_stack((np.interp(at, t, z[i]), features))
            reaches = np.log(list(fits))
            nearest = np.abs(width[:, None] - reaches).argmin(1)
            b, s = (np.stack(a) for a in zip(*fits.values(), strict=True))
            deviation = np.exp(np.interp(width, reaches, np.log(s)))
            # wider than was tried out, nobody near: it grows as a random walk's
            far = (1 - near) * np.maximum(width - reaches[-1], 0)
            grown = np.minimum(deviation * np.exp(far / 2), 1)
            deviation = np.maximum(deviation, grown)
            mean = seen[i].level + scales[i] * (x * b[nearest]).sum(1)
            answers[i] = np.stack((mean, scales[i] * deviation, near))
    return answers

"""What trees tell classes of series by: when a series was measured, and moments, shape,
period and colours of its values. Everything is a number, NaN where there is none."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .units import Series, channel_of

LEVELS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98)  # quantiles of the values
AROUND = np.array([-10, -4, -1.5, -0.5, 0.5, 1.5, 4, 10])  # the top, in units of time
PEAKS = 6  # of the spectrum whose periods, and twice these, are tried
HARMONICS = np.arange(1, 4)
FREQUENCIES = 20_000  # so many are tried at most


class Curve(NamedTuple):
    """One kind of value of one series, in order of time: t and z are (N,)."""

    t: np.ndarray
    z: np.ndarray  # standardised
    mean: float
    deviation: float


def statistics(series: Series, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers that times alone give, (n, T), and those of the values, (n, V)."""
    times, values = [], []
    for v, x in series:
        t, v = (x[:, 0] - x[0, 0]).double().numpy(), v.double().numpy()
        mine = [(channel_of(x) == c).numpy() for c in range(channels)]
        curves = [curve(t[m], y) for m in mine for y in v[m].T]
        times.append(np.concatenate([spacing(t), *(spacing(t[m]) for m in mine)]))
        rhythm, frequency = period(curves)
        values.append(np.concatenate([
            *(np.append(shape(c), fold(c, frequency)) for c in curves), rhythm,
            *(colours(a, b) for a, b in pairwise(curves)),
        ]))
    return np.array(times), np.array(values)


def curve(t: np.ndarray, y: np.ndarray) -> Curve:
    if not len(y):
        return Curve(t, y, np.nan, np.nan)
    mean, deviation = y.mean(), y.std()
    if deviation <= 1e-6 * np.abs(y).max():  # the values are float32
        return Curve(t, np.zeros(len(y)), mean, 0.0)
    return Curve(t, (y - mean) / deviation, mean, deviation)


def spacing(t: np.ndarray) -> np.ndarray:
    """Return count, beginning, end and middle of times, and their distances, (8,)."""
    if len(t) < 2:
        return np.append(len(t), np.full(7, np.nan))
    gaps = np.diff(t)
    return np.array([
        len(t), t[0], t[-1], t.mean(), *np.quantile(gaps, (0.1, 0.5, 0.9)), gaps.max()
    ])


def shape(c: Curve) -> np.ndarray:
    """Return level, spread, distribution, roughness and trend of a curve, and what it
    does around its top, (30,)."""
    t, z, n = c.t, c.z, len(c.t)
    if n < 2:
        return np.append(c.mean, np.full(29, np.nan))
    steps, gaps = np.diff(z), np.maximum(np.diff(t), 1e-9)
    near = gaps <= 1.5 * np.median(gaps)
    u = 2 * (t - t[0]) / max(t[-1] - t[0], 1e-9) - 1
    bend = u**2 - (u**2).mean()
    ends = np.concatenate((z[:1], z, z[-1:]))
    smooth = (ends[:-2] + ends[1:-1] + ends[2:]) / 3
    top = smooth.argmax()
    return np.array([
        c.mean, np.log(c.deviation + 1e-9), *np.quantile(z, LEVELS), z.min(), z.max(),
        (z**3).mean(), (z**4).mean(), (np.abs(z) > 1).mean(),
        np.median(np.abs(steps)), (steps**2).mean(), (steps[near] ** 2).mean(),
        np.abs(steps / gaps).max(), (u * z).mean(), (bend * z).mean(),
        np.abs(np.cumsum(z)).max() / n, t[top],
        *np.interp(t[top] + AROUND, t, smooth, left=np.nan, right=np.nan),
    ])


def colours(a: Curve, b: Curve) -> np.ndarray:
    """Return how two curves differ in level, spread and time of their tops, (3,)."""
    top = [c.t[c.z.argmax()] if len(c.t) else np.nan for c in (a, b)]
    ratio = np.log((a.deviation + 1e-9) / (b.deviation + 1e-9))
    return np.array([a.mean - b.mean, ratio, top[0] - top[1]])


def period(curves: list[Curve]) -> tuple[np.ndarray, float | None]:
    """Return the logarithm of the period of all curves together, how high its peak is
    and what three harmonics leave of the variance, (3,); and the frequency.

    Peaks of the summed spectrum and half their frequencies are tried; the one whose
    harmonics fit best is taken, a half if it is better by two percent.
    """
    curves = [c for c in curves if len(c.t) >= 8 and c.deviation > 0]
    span = max((c.t[-1] for c in curves), default=0.0)
    gaps = np.concatenate([np.empty(0), *(np.diff(c.t) for c in curves)])
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return np.full(3, np.nan), None
    # between even steps nothing faster than half a turn a step can be told
    turns = 0.5 if np.ptp(gaps) < 0.01 * np.median(gaps) else 5
    fastest = min(turns / np.median(gaps), FREQUENCIES / (4 * span))
    tick = 1 / (8 * fastest)
    size = 1 << int(np.ceil(np.log2(4 * span / tick)))  # zeros behind: fine frequencies
    power = np.zeros(size // 2 + 1)
    for c in curves:
        on_grid = np.bincount(np.round(c.t / tick).astype(int), c.z, size)
        power += np.abs(np.fft.rfft(on_grid)) ** 2 / len(c.t)
    f = np.arange(len(power)) / (size * tick)
    power[(f < 0.5 / span) | (f > fastest)] = 0
    peak = 1 + np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] > power[2:]))
    if not len(peak):
        return np.full(3, np.nan), None
    peak = peak[np.argsort(-power[peak])][:PEAKS]
    total = sum(len(c.t) for c in curves)

    def left(frequencies):
        return sum(harmonics(c, frequencies)[0] for c in curves) / total

    price = np.repeat((1, 1.02), len(peak))
    best = np.argmin(left(np.append(f[peak], f[peak] / 2)) * price)
    near = np.append(f[peak], f[peak] / 2)[best] + np.linspace(-1, 1, 9) / (8 * span)
    near = near[near > 0]
    rest = left(near)
    found = near[rest.argmin()]
    height = power[peak[best % len(peak)]] / total
    return np.array([-np.log(found), height, rest.min()]), float(found)


def harmonics(c: Curve, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit three harmonics of frequencies f (F,): the squares that they leave, (F,), and
    the coefficients of cosines and sines, (F, 6)."""
    angle = 2 * np.pi * f[:, None, None] * c.t[:, None] * HARMONICS  # (F, N, 3)
    one = np.ones((*angle.shape[:2], 1))
    x = np.concatenate((one, np.cos(angle), np.sin(angle)), axis=-1)  # (F, N, 7)
    flat = x.transpose(0, 2, 1)
    square = flat @ x + 1e-6 * len(c.t) * np.eye(x.shape[-1])
    fit = np.linalg.solve(square, (flat @ c.z)[..., None])
    return ((c.z - (x @ fit)[..., 0]) ** 2).sum(1), fit[:, 1:, 0]


def fold(c: Curve, frequency: float | None) -> np.ndarray:
    """Return strength and phases of the harmonics, and how rough the folded curve is,
    (8,)."""
    if frequency is None or len(c.t) < 8 or c.deviation == 0:
        return np.full(8, np.nan)
    a, b = harmonics(c, np.array([frequency]))[1].reshape(2, -1)
    size, phase = np.hypot(a, b), np.arctan2(b, a)
    turned = phase[1:] - HARMONICS[1:] * phase[0]
    steps = np.diff(c.z[np.argsort(c.t * frequency % 1)])
    return np.array([
        np.log(size[0] * c.deviation + 1e-9), *size[1:] / (size[0] + 1e-9),
        *np.cos(turned), *np.sin(turned), (steps**2).mean() / 2,
    ])

"""Series drawn from Gaussian processes of many kinds, with the exact answer to every question about them.

A draw has a kernel, a noise and times at which it is seen and asked. One Cholesky factor of the joint covariance gives
the series and, with it, the best possible answer. With the seen points first,

    L L' = [[K_ss + noise^2, K_sa], [K_as, K_aa]],   L = [[L_ss, 0], [L_as, L_aa]],   z ~ N(0, 1),

    seen = L_ss z_s,   asked = L_as z_s + L_aa z_a   =>   mean = L_as z_s,   variance = diag(L_aa L_aa').

Then every series is put into the units that a user's series would be in: one unit between typical neighbours, and
values of mean 0 and standard deviation 1, both judged from the seen points alone.
"""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from romae_lite.series.fill import ASKED, SEEN
from romae_lite.tokens import Tokens

KINDS = ("smooth", "matern", "rough", "periodic", "sum")
NOISE = (0.01, 0.7)  # standard deviation of the measurements' noise, in those of the curve; uniform in its logarithm
FAR = 10.0  # standard deviations of the seen values: a question with a best answer beyond them is dropped
JITTER = 1e-6  # on the variance of asked points, for the Cholesky factor's sake
CHUNK = 250  # series that are drawn together


def rbf(distance: Tensor, length: Tensor) -> Tensor:
    """exp(-d^2 / 2 length^2), as smooth as can be (Rasmussen and Williams 2006, Eq. 4.9); of any shapes that fit."""
    return torch.exp(-0.5 * (distance / length) ** 2)


def matern(distance: Tensor, length: Tensor, nu: float) -> Tensor:
    """Matern kernels of nu 1/2, 3/2 and 5/2: continuous, once and twice differentiable (R. and W. 4.14)."""
    scaled = math.sqrt(2 * nu) * distance.abs() / length
    polynomial = {0.5: 1.0, 1.5: 1 + scaled, 2.5: 1 + scaled + scaled**2 / 3}[nu]
    return polynomial * torch.exp(-scaled)


def periodic(distance: Tensor, period: Tensor, length: Tensor) -> Tensor:
    """exp(-2 sin^2(pi d / period) / length^2): repeats for ever, the rounder the longer `length` (R. and W. 4.31)."""
    return torch.exp(-2 * (torch.sin(math.pi * distance / period) / length) ** 2)


def generate(n: int, rng: np.random.Generator) -> Tokens:
    """n series of 3 to 60 seen points and 1 to 24 asked ones, seen in the first 60 slots, asked in the other 24; those
    with few seen points come first.

    Tokens: values (n, 84, 1), measurements, noisy everywhere; positions (n, 84, 1); pad. aux: kind (n,), into KINDS;
    noise (n,), its standard deviation; and, a number for each asked slot (n, 24): clean, the curve there; mean and
    variance, what is best to say of the curve.
    """
    if n < 1:
        raise ValueError(f"n is {n}; generate at least one series")
    counts = np.sort(rng.integers(SEEN[0], SEEN[1] + 1, n))  # like numbers together: the matrices stay small
    parts = [_drawn(counts[i : i + CHUNK], rng) for i in range(0, n, CHUNK)]
    values, positions, empty = (torch.cat([p[name] for p in parts]) for name in ("values", "positions", "pad"))
    names = ("kind", "noise", "clean", "mean", "variance")
    return Tokens(
        values=values[..., None], positions=positions[..., None], pad=empty,
        aux={name: torch.cat([p[name] for p in parts]) for name in names},
    )


def seen_slots(slots: int = SEEN[1] + ASKED) -> Tensor:
    """(slots,) bool: where a series of `generate` holds what is seen."""
    return torch.arange(slots) < SEEN[1]


def times(count: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Seen (n, max(count)) and asked times (n, 24), one unit between typical neighbours; of the seen ones the first
    `count` (n,) of each row.

    Gaps are Gamma-distributed, from clusters to a clock's beat; in every other series up to three are several times as
    wide. Half of the questions lie anywhere from a tenth of the span before the first to as much after the last, half
    between two neighbours, whichever.
    """
    n, most = len(count), count.max()
    shape = np.exp(rng.uniform(np.log(0.4), np.log(60), (n, 1)))
    gaps = rng.gamma(shape, 1 / shape, (n, most - 1)) + 1e-3
    holes = (rng.random((n, most - 1)) < rng.uniform(0, 3, (n, 1)) / count[:, None]) & (rng.random((n, 1)) < 0.5)
    gaps = np.where(holes, gaps * rng.uniform(3, 15, gaps.shape), gaps)
    gaps[np.arange(most - 1) >= count[:, None] - 1] = np.nan
    gaps /= np.nanmedian(gaps, axis=1, keepdims=True)
    seen = np.concatenate((np.zeros((n, 1)), np.nancumsum(gaps, axis=1)), axis=1)  # flat behind the last
    span = seen[:, -1:]
    anywhere = rng.uniform(-0.1, 1.1, (n, ASKED)) * span
    left = np.minimum((rng.random((n, ASKED)) * (count[:, None] - 1)).astype(int), count[:, None] - 2)
    start, end = (np.take_along_axis(seen, left + i, axis=1) for i in (0, 1))
    between = start + rng.random((n, ASKED)) * (end - start)
    asked = np.where(rng.random((n, ASKED)) < 0.5, anywhere, between)
    middle = span / 2
    return seen - middle, asked - middle


def covariance(t: Tensor, kind: Tensor, span: Tensor, rng: np.random.Generator) -> Tensor:
    """Kernels with drawn parameters, of variance 1, at times (n, T): (n, T, T) float64. kind (n,); span (n,), from
    first to last. Lengths lie between half the distance of neighbours and one and a half times the span."""
    distance = t[:, :, None] - t[:, None, :]
    uniform = lambda low, high: torch.from_numpy(rng.uniform(low, high, len(t)))  # noqa: E731
    log = lambda low, high: torch.exp(  # noqa: E731
        math.log(low) + uniform(0, 1) * (torch.as_tensor(high, dtype=torch.float64).log() - math.log(low))
    )
    length, slow, width, nu = log(0.5, 1.5 * span.clamp(min=2)), log(0.4, 2.0), log(0.4, 2.0), uniform(0, 1)
    period, decay, share, second = log(3.0, span.clamp(min=8)), log(1.0, 4.0), uniform(0.2, 0.8), uniform(0, 4).long()
    one = torch.where(kind < 4, kind, second)  # what a series is made of, beside the slow curve of a sum
    found = torch.empty_like(distance)
    for k in range(4):
        for half in (False, True):
            rows = (one == k) & ((nu < 0.5) == half)
            d, of = distance[rows], lambda x: x[rows][:, None, None]  # noqa: B023
            if k == 0:
                found[rows] = rbf(d, of(length))
            elif k == 1:
                found[rows] = matern(d, of(length), 1.5 if half else 2.5)
            elif k == 2:
                found[rows] = matern(d, of(2 * length), 0.5)
            else:
                found[rows] = periodic(d, of(period), of(width)) * (rbf(d, of(period * decay)) if half else 1.0)
    rows = kind == 4
    part = share[rows][:, None, None]
    found[rows] = part * found[rows] + (1 - part) * rbf(distance[rows], (slow * span)[rows][:, None, None])
    return found


def _drawn(count: np.ndarray, rng: np.random.Generator) -> dict[str, Tensor]:
    """One chunk of `generate`: series of `count` (n,) seen points."""
    n, most = len(count), int(count.max())
    slots = most + ASKED
    asked = np.where(rng.random(n) < 0.5, ASKED, rng.integers(1, ASKED + 1, n))
    kind = torch.from_numpy(rng.integers(0, len(KINDS), n))
    noise = torch.from_numpy(np.exp(rng.uniform(*np.log(NOISE), n)))[:, None]
    t = torch.from_numpy(np.concatenate(times(count, rng), axis=1))
    filled = np.where(np.arange(slots) < most, count[:, None], most + asked[:, None])
    real, is_seen = torch.arange(slots) < torch.from_numpy(filled), torch.arange(slots) < most
    K = covariance(t, kind, 2 * t[:, most - 1], rng)  # times are centred, and behind the last seen one they stay
    eye = torch.eye(slots, dtype=torch.float64)
    K = torch.where(real[:, :, None] & real[:, None, :], K, eye)
    L = torch.linalg.cholesky(K + eye * torch.where(is_seen, noise**2, JITTER)[:, None, :])
    z = torch.from_numpy(rng.standard_normal((n, slots, 1)))
    y = (L @ z)[..., 0]  # seen with noise, asked without
    mean = (L[:, most:, :most] @ z[:, :most])[..., 0]
    variance = L[:, most:, most:].square().sum(-1)
    centre, scale = centre_and_scale(y[:, :most], real[:, :most])
    noisy = y + torch.where(is_seen, 0.0, noise * torch.from_numpy(rng.standard_normal((n, slots))))
    values, clean = (noisy - centre) / scale, (y[:, most:] - centre) / scale
    mean, variance = (mean - centre) / scale, variance / scale**2
    near = (mean.abs() + variance.sqrt() < FAR) & real[:, most:]
    near[:, 0] |= ~near.any(1)  # one question at least; so rare that its numbers may be clipped
    more = (0, SEEN[1] - most)  # empty slots behind the seen ones
    slotted = lambda x, rest, fill: torch.cat((pad(x[:, :most], more, value=fill), rest), dim=1)  # noqa: E731
    clipped = lambda x: x.clamp(-(FAR**2), FAR**2).float()  # noqa: E731
    return {
        "values": clipped(slotted(values, values[:, most:], 0.0)), "positions": slotted(t, t[:, most:], 0.0),
        "pad": slotted(~real, ~near, True), "kind": kind.to(torch.int8), "noise": (noise / scale)[:, 0].float(),
        "clean": clipped(clean), "mean": clipped(mean), "variance": clipped(variance),
    }


def centre_and_scale(y: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (divisor: the count) of the real ones of y (n, T): (n, 1) each."""
    count = real.sum(1, keepdim=True)
    centre = (y * real).sum(1, keepdim=True) / count
    return centre, (((y - centre) * real).square().sum(1, keepdim=True) / count).sqrt().clamp(min=1e-6)

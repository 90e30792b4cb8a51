"""Series as people measure them, drawn from priors, with the best answer to every question about them.

A draw has times, a kernel, an amplitude and a noise that may change along it. Given these it is Gaussian: one Cholesky
factor of the joint covariance gives the series and, with it, the best possible answer. With the seen points first,

    L L' = [[K_ss + noise^2, K_sa], [K_as, K_aa]],   L = [[L_ss, 0], [L_as, L_aa]],   z ~ N(0, 1),

    seen = L_ss z_s,   asked = L_as z_s + L_aa z_a   =>   mean = L_as z_s,   variance = diag(L_aa L_aa').

Some draws are then bent (exponentials of Gaussian series) or rounded; what is measured there is all that is known.
"""

import functools
import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from romae_lite.io import digest
from romae_lite.tokens import Tokens

SEEN = (3, 128)  # points of a series, at least and at most
ASKED = 24  # questions about it
# of what a curve is made: shares of the kernels; "sum" is a series of two or three of them
PARTS = {"smooth": 0.17, "matern": 0.2, "rough": 0.15, "periodic": 0.24, "walk": 0.09, "trend": 0.07, "jump": 0.08}
KINDS = (*PARTS, "sum")
NOISES = ("even", "changing", "heavy", "skewed", "rounded")  # of the first two the best answer is known
LEAST = 5e-4  # deviation of an answer, in those of the seen values: surer one need not be
JITTER = 1e-6  # on the variance of asked points, for the Cholesky factor's sake
BLOCK = 96  # series that are drawn together, with as many points each


# Kernels --------------------------------------------------------------------------------------------------------------


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


def walk(t: Tensor, span: Tensor) -> Tensor:
    """min(t, t') / span: Brownian motion from the first time on. t (n, T), span (n, 1, 1)."""
    since = t - t.amin(1, keepdim=True)
    return torch.minimum(since[:, :, None], since[:, None, :]) / span


def trend(t: Tensor, span: Tensor, bend: Tensor) -> Tensor:
    """Straight lines through the middle, plus parabolas of `bend` times their weight."""
    x = (t - t.mean(1, keepdim=True)) / span[..., 0]
    line = x[:, :, None] * x[:, None, :]
    return 12 * line + 72 * bend * line**2


def jumps(t: Tensor, span: Tensor, length: Tensor, lasting: Tensor, rng: np.random.Generator) -> Tensor:
    """One to three steps at random times, that last or decay with `length`."""
    since = t[:, None] - t.amin(1)[:, None, None] - span * torch.from_numpy(rng.random((len(t), 3, 1)))  # (n, 3, T)
    fade = torch.where(lasting, 1.0, torch.exp(-since.clamp(min=0) / length))
    size = torch.from_numpy(rng.random((len(t), 3, 1)) < 0.6).double() + 0.03
    steps = size * fade * (since > 0)
    return 2 * steps.mT @ steps


def covariance(t: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Kernels with drawn parameters, of variance about 1, at times t (n, T), neighbours about one apart: (n, T, T)
    float64; and the kind of each (n,), into KINDS. Lengths lie between half the distance of neighbours and twice the
    span."""
    n, span = len(t), (t.amax(1) - t.amin(1)).clamp(min=2.0)
    parts = rng.choice([1, 2, 3], n, p=[0.55, 0.32, 0.13])
    share = rng.dirichlet([1, 1, 1], n) * (np.arange(3) < parts[:, None])
    series, part = np.nonzero(share > 0)  # one entry for each part of each series
    made = rng.choice(len(PARTS), len(series), p=list(PARTS.values()))
    weight = torch.from_numpy((share / share.sum(1, keepdims=True))[series, part])
    wide = span[series].numpy()
    log = lambda low, high: torch.from_numpy(np.exp(rng.uniform(np.log(low), np.log(high), len(series))))  # noqa: E731
    length, period = log(0.5, 2 * wide), log(2.5, np.maximum(wide / 1.5, 6))
    width, decay, coin, nu = log(0.3, 2.0), log(0.7, 10.0), log(1, math.e).log(), log(1, math.e).log()
    K = torch.zeros(n, t.shape[1], t.shape[1], dtype=torch.float64)
    for k, name in enumerate(PARTS):
        rows = np.flatnonzero(made == k)
        if not len(rows):
            continue
        of = lambda x: x[rows][:, None, None]  # noqa: E731, B023
        at = t[series[rows]]
        d, long = at[:, :, None] - at[:, None, :], of(span[series])
        if name == "smooth":
            one = rbf(d, of(length))
        elif name == "matern":
            one = torch.where(of(nu) < 0.4, matern(d, of(length), 2.5), matern(d, of(length), 1.5))
        elif name == "rough":
            one = matern(d, 2 * of(length), 0.5)
        elif name == "periodic":
            one = periodic(d, of(period), of(width))
            one = one * torch.where(of(coin) < 0.5, rbf(d, of(period * decay)), 1.0)
        elif name == "walk":
            one = walk(at, long)
        elif name == "trend":
            one = trend(at, long, of(coin))
        else:
            one = jumps(at, long, of(length), of(coin) < 0.5, rng)
        K.index_add_(0, torch.from_numpy(series[rows]), of(weight) * one)
    first = np.zeros(n, int)
    first[series[::-1]] = made[::-1]
    return K, torch.from_numpy(np.where(parts == 1, first, len(PARTS)))


# Times and noise ------------------------------------------------------------------------------------------------------


def wander(u: np.ndarray, size: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A slow random curve over u (n, T) in [0, 1], of deviation `size` (n, 1): a sum of three cosines."""
    n = len(u)
    waves = [rng.normal(size=(n, 1)) * np.cos(np.pi * (rng.uniform(1, 7, (n, 1)) * u + 2 * rng.random((n, 1))))
             for _ in range(3)]
    return size * sum(waves) / math.sqrt(1.5)


def times(count: int, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Seen (count, n) and asked times (count, 24), rising, one unit between typical seen neighbours.

    Sampling is drawn first: gaps from clusters to a clock's beat, a beat with dropouts, a spacing that drifts by up to
    a hundred, bursts; and holes. Then what is asked: points of this sampling that are taken away, singly or in runs;
    the last of them (a forecast; or the first, in every third of these); or any times, some of them seen ones.
    """
    total = n + ASKED
    draw = lambda low, high, size=(count, 1): rng.uniform(low, high, size)  # noqa: E731
    log = lambda low, high, size=(count, 1): np.exp(rng.uniform(np.log(low), np.log(high), size))  # noqa: E731
    all_ = (count, total - 1)
    style, shape = rng.integers(0, 5, (count, 1)), log(0.4, 60)
    gaps = rng.gamma(shape, 1 / shape, all_) + 1e-3
    beat = np.exp(rng.normal(size=all_) * np.where(rng.random((count, 1)) < 0.5, 0, 0.02))
    beat = beat * np.where(rng.random((count, 1)) < 0.6, 1, rng.geometric(draw(0.3, 1), all_))
    gaps = np.where(style <= 1, beat, gaps)
    u = np.broadcast_to(np.linspace(0, 1, total - 1), all_)
    straight = (u - 0.5) * draw(-1, 1) * math.log(100)
    drift = np.where(rng.random((count, 1)) < 0.5, straight, wander(u, draw(0, 1.2), rng))
    gaps = np.where(style == 2, gaps * np.exp(drift), gaps)
    pause = rng.random(all_) < 1 / log(2, 30)
    gaps = np.where((style == 3) & pause, gaps * log(5, 300) * rng.gamma(1, 1, all_), gaps)
    hole = (rng.random(all_) < draw(0, 3) / total) & (rng.random((count, 1)) < 0.4)
    gaps = np.where(hole, gaps * log(3, 40, all_), gaps)
    t = np.concatenate((np.zeros((count, 1)), np.cumsum(gaps, axis=1)), axis=1)

    run = np.where(rng.random(count) < 0.45, 1, rng.integers(2, ASKED + 1, count))[:, None]
    slot = (np.arange(total) + rng.integers(0, ASKED, (count, 1))) // run  # neighbours in a run share a key
    key = np.take_along_axis(rng.random((count, total + ASKED)), slot, axis=1) + 1e-9 * np.arange(total)
    key[:, [0, -1]] = 2  # the ends are seen ...
    goal = rng.choice(3, (count, 1), p=[0.45, 0.2, 0.35])
    last = np.arange(total) >= total - rng.integers(1, ASKED + 1, (count, 1))
    key = np.where((goal == 1) & last, -1, key)  # ... unless this is a forecast
    taken = np.argsort(key, axis=1)[:, :ASKED]
    hidden = np.zeros((count, total), bool)
    np.put_along_axis(hidden, taken, True, axis=1)
    seen, asked = t[~hidden].reshape(count, n), t[hidden].reshape(count, ASKED)

    some = (count, ASKED)
    left = rng.integers(0, n - 1, some)
    low, high = np.take_along_axis(seen, left, 1), np.take_along_axis(seen, left + 1, 1)
    anywhere = seen[:, :1] + draw(-0.1, 1.1, some) * (seen[:, -1:] - seen[:, :1])
    free = low + draw(0, 1, some) * (high - low)
    free = np.where(rng.random(some) < 0.25, anywhere, free)
    free = np.where(rng.random(some) < 0.08, low, free)
    asked = np.sort(np.where(goal == 2, free, asked), axis=1)
    back = (goal == 1) & (rng.random((count, 1)) < 1 / 3)
    seen, asked = (np.where(back, -x[:, ::-1], x) for x in (seen, asked))
    unit = np.median(np.diff(seen, axis=1), axis=1, keepdims=True).clip(1e-3)
    return (seen - seen[:, :1]) / unit, (asked - seen[:, :1]) / unit


def even_time(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """In a quarter of the series the curve lives in a time half-way to that in which the n seen points are even: it was
    measured where things happen. t (count, T), seen first, rising -> the same."""
    share = np.where(rng.random((len(t), 1)) < 0.25, rng.random((len(t), 1)), 0)
    even = np.array([np.interp(row, row[:n], np.arange(n)) for row in t])
    even = even + np.minimum(t - t[:, :1], 0) + np.maximum(t - t[:, n - 1 : n], 0)
    return (1 - share) * t + share * even


def noises(u: np.ndarray, amplitude: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deviations of the noise at u (n, T), in those of the curve: as an instrument might state them, and as they are,
    with heavy tails and outliers; and whether they are like that (n,), into NOISES."""
    n = len(u)
    log = lambda low, high, size=(n, 1): np.exp(rng.uniform(np.log(low), np.log(high), size))  # noqa: E731
    size = np.where(rng.random((n, 1)) < 0.25, log(3e-4, 0.01), log(0.01, 1.5))
    changes, follows = rng.random((n, 1)) < 0.3, rng.random((n, 1)) < 0.15
    size = size * np.where(changes, np.exp(wander(u, rng.uniform(0.3, 1.2, (n, 1)), rng)), 1.0)
    size = size * np.where(follows, amplitude, 1.0)
    freedom = rng.uniform(2.5, 6, (n, 1))
    tails = np.sqrt((freedom - 2) / rng.chisquare(freedom, u.shape))
    outliers = np.where(rng.random(u.shape) < rng.uniform(0.005, 0.06, (n, 1)), rng.uniform(4, 15, u.shape), 1.0)
    pick = rng.random((n, 1))
    real = size * np.where(pick < 0.15, tails, np.where(pick < 0.25, outliers, 1.0))
    moving = (changes | follows | (np.ptp(amplitude, axis=1, keepdims=True) > 0))[:, 0]
    return size.clip(0, 20), real.clip(0, 20), np.where(pick[:, 0] < 0.25, 2, moving.astype(int))


# Draws ----------------------------------------------------------------------------------------------------------------


def draw(count: int, n: int, rng: np.random.Generator) -> Tokens:
    """`count` series of n seen points, in front, and 24 asked ones, behind; in units in which the seen values have mean
    0 and deviation 1.

    Tokens: values (count, n + 24, 1), measurements everywhere; positions (count, n + 24, 1). aux: error
    (count, n + 24), stated deviations of seen measurements, 0 where none is stated; kind and style (count,), into KINDS
    and NOISES; for each question (count, 24): mean and variance, what is best to say of a measurement; noise, the part
    of the variance that no curve explains.
    """
    t = np.concatenate(times(count, n, rng), axis=1)
    u = np.clip(t / t[:, n - 1 : n], -0.2, 1.2)
    K, kind = covariance(torch.from_numpy(even_time(t, n, rng)), rng)
    size = rng.uniform(0.2, 1, (count, 1)) * (rng.random((count, 1)) < 0.3)
    amplitude = np.exp(wander(u, size, rng))
    K = K * torch.from_numpy(amplitude[:, :, None] * amplitude[:, None, :])
    level = K.diagonal(dim1=1, dim2=2).mean(1).clamp(min=1e-12)[:, None]  # (count, 1), a variance
    stated, real, style = noises(u, amplitude, rng)
    noise = torch.from_numpy(real) ** 2 * level + 1e-8 * level
    L = factor(K, torch.where(torch.arange(n + ASKED) < n, noise, JITTER * level))
    z = torch.from_numpy(rng.standard_normal((count, n + ASKED, 1)))
    y = (L @ z)[..., 0]  # seen with noise, asked without
    mean, noise = (L[:, n:, :n] @ z[:, :n])[..., 0], noise[:, n:]
    variance = L[:, n:, n:].square().sum(-1) + noise
    y = torch.cat((y[:, :n], y[:, n:] + noise.sqrt() * torch.from_numpy(rng.standard_normal(noise.shape))), dim=1)

    # in the units of a user's series; then bent or rounded, some of them
    centre, scale = centre_and_scale(y[:, :n])
    y, mean, variance, noise = (y - centre) / scale, (mean - centre) / scale, variance / scale**2, noise / scale**2
    error = torch.from_numpy(stated) * level.sqrt() / scale
    bend = torch.from_numpy(rng.uniform(0.3, 1.3, (count, 1)) * rng.choice([-1, 1], (count, 1)))
    step = torch.from_numpy(np.exp(rng.uniform(math.log(0.02), math.log(0.7), (count, 1))))
    bent, rounded = (torch.from_numpy(rng.random((count, 1)) < share) for share in (0.2, 0.15))
    y = torch.where(bent, torch.exp(bend * y.clamp(-4, 4)), y)
    y = torch.where(rounded, (y / step).round() * step, y)
    style = np.where(rounded[:, 0], 4, np.where(bent[:, 0], 3, style))
    other, grid = bent | rounded, torch.where(rounded, step**2 / 4, 1e-4)
    # a rounded measurement stands for all that round to it: a variance of 0 would teach to be sure of the grid
    mean, variance = torch.where(other, y[:, n:], mean), torch.where(other, grid, variance)
    centre, scale = centre_and_scale(y[:, :n])
    flat = y[:, :n].amax(1, keepdim=True) == y[:, :n].amin(1, keepdim=True)  # rounded away
    y = torch.where(flat & (torch.arange(n + ASKED) == 0), y + 1, y)
    told = torch.from_numpy(rng.random((count, 1)) < 0.3) & ~other & (torch.arange(n + ASKED) < n)
    y, mean = ((x - centre) / scale for x in (y, mean))
    clipped = lambda x: x.clamp(-100, 100).float()  # noqa: E731
    return Tokens(
        values=clipped(y)[..., None], positions=torch.from_numpy(t)[..., None], per_token=frozenset({"error"}),
        aux={
            "error": torch.where(told, error / scale, 0.0).float(), "kind": kind.to(torch.int8),
            "style": torch.from_numpy(style).to(torch.int8), "mean": clipped(mean),
            "variance": (variance / scale**2).clamp(LEAST**2, 1e4).float(), "noise": (noise / scale**2).float(),
        },
    )


def factor(K: Tensor, diagonal: Tensor) -> Tensor:
    """Cholesky factor of K (n, T, T) with more on its diagonal (n, T); with more again where float64 does not do."""
    L, wrong = torch.linalg.cholesky_ex(K + torch.diag_embed(diagonal))
    more = 1e-6 * K.diagonal(dim1=1, dim2=2).mean(1)[:, None]
    while wrong.any():
        diagonal = torch.where(wrong[:, None] > 0, diagonal + more, diagonal)
        L, wrong = torch.linalg.cholesky_ex(K + torch.diag_embed(diagonal))
        more = 10 * more
    return L


def centre_and_scale(y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (divisor: the count) of y (n, T): (n, 1) each."""
    return y.mean(1, keepdim=True), y.std(1, keepdim=True, correction=0).clamp(min=1e-6)


def counts(blocks: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of seen points, one for each block of draws: few and many alike, and a quarter as a window has them."""
    few = np.exp(rng.uniform(math.log(SEEN[0] - 0.5), math.log(SEEN[1] + 0.5), blocks)).round()
    return np.where(rng.random(blocks) < 0.25, rng.integers(48, 113, blocks), few).astype(int)


def generate(n: int, rng: np.random.Generator) -> Tokens:
    """n series: those of `draw`, the seen points in the first 128 slots, the asked ones in the other 24."""
    if n < 1:
        raise ValueError(f"n is {n}; generate at least one series")
    parts = []
    for seen in counts(math.ceil(n / 20), rng):  # smaller blocks than in training: more numbers of points
        made, more = draw(20, seen, rng), SEEN[1] - seen
        slotted = lambda x, ahead=seen, more=more: torch.cat(  # noqa: E731
            (pad(x[:, :ahead], (0, 0) * (x.ndim - 2) + (0, more)), x[:, ahead:]), dim=1)
        empty = ((torch.arange(SEEN[1] + ASKED) >= seen) & seen_slots()).expand(20, -1)
        aux = made.aux | {"error": slotted(made.aux["error"])}
        parts.append((slotted(made.values), slotted(made.positions), empty, aux))
    values, positions, empty, aux = zip(*parts, strict=True)
    aux = {name: torch.cat([a[name] for a in aux]) for name in aux[0]}
    values, positions, empty = map(torch.cat, (values, positions, empty))
    return Tokens(values=values, positions=positions, pad=empty, aux=aux, per_token={"error"})[:n]


def seen_slots(slots: int = SEEN[1] + ASKED) -> Tensor:
    """(slots,) bool: where a series of `generate` holds what is seen."""
    return torch.arange(slots) < SEEN[1]


class Stream:
    """A training set that is drawn as it is read: `n` series in blocks of 96, each block from its own random stream.

    What `romae_lite.training.fit` wants of a data set. A batch lies within one block, so all its series have as many
    points, and nothing is padding.
    """

    def __init__(self, n: int, seed: int):
        self.n, self.seed = n, seed
        self.counts = counts(math.ceil(n / BLOCK), np.random.default_rng([seed, 0]))
        self.lengths = torch.from_numpy(self.counts).repeat_interleave(BLOCK)[:n] + ASKED
        self.block = functools.lru_cache(1)(self._block)  # whose batches follow one another

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: Tensor | slice) -> Tokens:
        index = torch.arange(self.n)[index] if isinstance(index, slice) else index
        block = int(index[0]) // BLOCK
        if (index // BLOCK != block).any():
            raise IndexError(f"rows {index.tolist()} lie in several blocks of {BLOCK}; ask for those of one")
        return self.block(block)[index - block * BLOCK]

    def _block(self, i: int) -> Tokens:
        return draw(BLOCK, int(self.counts[i]), np.random.default_rng([self.seed, 1, i]))

    def fingerprint(self) -> str:
        """SHA-256 of the first and the last block, and of the numbers of points."""
        ends = [self.block(i).fingerprint() for i in (0, len(self.counts) - 1)]
        return digest({"lengths": self.lengths, **{f"{i}{end}": torch.zeros(1) for i, end in enumerate(ends)}})

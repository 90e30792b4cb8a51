"""One answer of several candidates, weighted by what they make of hidden values.

Two inner hold-outs hide a fifth of the values each, singly and in stretches. Others cut
curves off and hide the next tenth: what is beyond the ends has weights of its own.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.stats import norm

from ..model import RoMAE
from .candidates import (
    Answers,
    Candidate,
    Curve,
    across,
    draw_hidden,
    join_alone,
    lines,
    network,
    pchip,
    process,
    scale_curves,
    tune,
)

ROWS = 8000  # at most that weights are learnt from
LOWEST = -12.0  # log density; below, a candidate is ruled out by one value
FEW = 30  # hidden values; with fewer the weights are nearly equal
ENDS = 8  # at least so many ends are hidden
NAMES = ("lines", "pchip", "processes", "filler", "tuned", "others")


@dataclass
class Held:
    """Hidden values, and what the candidates say of them: R rows, K candidates."""

    truth: np.ndarray  # (R,)
    mean: np.ndarray  # (R, K)
    deviation: np.ndarray  # (R, K)
    spread: np.ndarray  # (R,) of the curve
    distance: np.ndarray  # (R,) to the nearest value, in median gaps
    beyond: np.ndarray  # (R,) bool
    half: np.ndarray  # (R,) bool: rows that are close share it
    trust: np.ndarray  # (R,) how much a value says: little where its error is large

    def part(self, rows: np.ndarray) -> "Held":
        return Held(**{name: value[rows] for name, value in vars(self).items()})


@dataclass
class Weights:
    """How to mix: shares of the means and of the densities (K,); factors of the
    deviation at some deviations, both logarithms."""

    means: np.ndarray
    densities: np.ndarray
    knots: np.ndarray
    factors: np.ndarray

    def check(self) -> None:
        """ValueError for arrays of a file that are no weights."""
        shares = np.stack((self.means, self.densities))
        right = shares.shape == (2, len(NAMES)) and np.allclose(shares.sum(1), 1)
        right = right and (shares >= 0).all() and np.isfinite(self.factors).all()
        if not right or self.knots.shape != self.factors.shape or self.knots.ndim != 1:
            raise ValueError(f"its weights are {self}")

    def only(self, kept: np.ndarray) -> "Weights":
        """Leave candidates out, (K,) bool."""
        means, densities = self.means[kept], self.densities[kept]
        return replace(
            self, means=means / means.sum(), densities=densities / densities.sum()
        )

    def mix(self, mean, deviation, spread) -> tuple[np.ndarray, np.ndarray]:
        """Mix answers (R, K) on scales (R,): mean and deviation (R,).

        The mixture's deviation round the mean, so where candidates disagree it grows.
        """
        middle = mean @ self.means
        square = deviation**2 + (mean - middle[:, None]) ** 2
        found = np.sqrt(square @ self.densities)
        factor = np.interp(np.log(found / spread), self.knots, self.factors)
        return middle, found * np.exp(factor)


def learn(held: Held) -> Weights:
    """Learn weights from hidden values."""
    n, k = held.mean.shape
    if not n:
        return Weights(np.full(k, 1 / k), np.full(k, 1 / k), np.zeros(1), np.zeros(1))
    squares, shares = least_squares(held), likeliest(densities(held), held.trust)
    # The least squares of one hold-out may be luck: half-way to the likeliest shares
    # costs nothing on average, and saves the worst case.
    shares = (squares + shares) / 2, shares
    # of few values: nearly equal
    means, log = ((n * share + 10 / k) / (n + 10) for share in shares)
    weights = Weights(means, log, np.zeros(1), np.zeros(1))
    mean, deviation = weights.mix(held.mean, held.deviation, held.spread)
    square = np.minimum(((held.truth - mean) / deviation) ** 2, 40)
    size = np.log(deviation / held.spread)
    parts = np.array_split(np.argsort(size), 4 if n >= 100 else 1)
    weights.knots = np.array([np.median(size[p]) for p in parts])
    weights.factors = np.array(
        [np.log((square[p].sum() + 30) / (len(p) + 30)) / 2 for p in parts]
    )
    return weights


def least_squares(held: Held, steps: int = 500) -> np.ndarray:
    """Convex weights of the means with the least squared error, in units of what the
    candidates state; by exponentiated gradient."""
    n, k = held.mean.shape
    scale = np.exp(np.log(held.deviation).mean(1))
    scale = np.maximum(scale, np.quantile(scale, 0.1))
    off = (held.mean - held.truth[:, None]) / scale[:, None]
    off = off.clip(-6, 6)
    gram = off.T @ (held.trust[:, None] * off) / n + 1e-3 * np.eye(k)
    weights = np.full(k, 1 / k)
    for _ in range(steps):
        gradient = gram @ weights
        error = weights @ gradient
        weights = weights * np.exp((error - gradient) / (2 * max(error, 1e-9)))
        weights /= weights.sum()
    return weights


def densities(held: Held) -> np.ndarray:
    """Log densities of the hidden values, in units of the curve's scale, (R, K)."""
    z = (held.truth[:, None] - held.mean) / held.deviation
    size = held.deviation / held.spread[:, None]
    return np.maximum(norm.logpdf(z) - np.log(size), LOWEST)


def likeliest(log: np.ndarray, trust: np.ndarray, steps: int = 200) -> np.ndarray:
    """Weights (K,) of a mixture of densities (R, K), by expectation maximisation; rows
    count by `trust` (R,)."""
    k = log.shape[1]
    weights, density = np.full(k, 1 / k), np.exp(log - log.max(1, keepdims=True))
    for _ in range(steps):
        share = density * weights
        share /= share.sum(1, keepdims=True)
        weights = trust @ share / trust.sum()
    return weights


# Hidden values
# ----------------------------------------------------------------------------


def sample(curves: list[Curve], rng: np.random.Generator) -> list[tuple]:
    """Choose what weights are learnt from, as (curve, rows, number of the stretch):
    everything, or about so many rows; whole series, of long ones a stretch at a time.
    """
    if sum(len(c.times) for c in curves) <= ROWS:
        return [(i, slice(0, len(c.times)), 0) for i, c in enumerate(curves)]
    members: dict[int, list[int]] = {}
    for i, c in enumerate(curves):
        members.setdefault(c.series, []).append(i)
    chosen: dict[tuple[int, int], tuple] = {}
    total = 0
    for stretch in range(8):  # each series once, then more of those that are long
        place = rng.random()  # the same for all: they may say something of each other
        for number in rng.permutation(list(members)):
            times = [curves[i].times for i in members[number]]
            when = np.sort(np.concatenate(times))
            most = ROWS // 4
            start = int(place * max(0, len(when) - most))
            first, last = when[start], when[min(start + most, len(when)) - 1]
            for i, t in zip(members[number], times, strict=True):
                rows = slice(*np.searchsorted(t, (first, np.nextafter(last, np.inf))))
                if rows.stop > rows.start and (i, rows.start) not in chosen:
                    chosen[i, rows.start] = i, rows, stretch
                    total += rows.stop - rows.start
            if total >= ROWS:
                return list(chosen.values())
    return list(chosen.values())


def trusted(errors: np.ndarray) -> np.ndarray:
    """How much values say by which answers are judged, (R,): all of it up to the lower
    quartile of the known errors, less by the square beyond."""
    known = errors > 0
    trust = np.ones(len(errors))
    if known.any():
        usual = np.quantile(errors[known], 0.25)
        trust[known] = (usual / np.maximum(errors[known], usual)) ** 2
    return trust


def hide_rows(n: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Draw a fifth of n points to hide, (n,) bool."""
    return draw_hidden(n, round(n / 5), kind, rng) if n > 2 else np.zeros(n, dtype=bool)


def cut_off(c: Curve, last: bool, rng: np.random.Generator) -> tuple[Curve, np.ndarray]:
    """Cut a curve off at its end, or anywhere in its second half; and hide a tenth of
    its length there, (n,) bool."""
    n = len(c.times)
    tenth = n // 10 if n >= 20 else 0
    stop = n if last else int(rng.integers(n // 2 + tenth, n + 1))
    return c.part(slice(0, stop)), np.arange(stop) >= stop - tenth


def gather(
    candidates: list[Candidate], seen: list[Curve], asked: list[np.ndarray]
) -> dict[str, np.ndarray]:
    """Ask all candidates, curve after curve: mean and deviation (R, K), and of each
    row its curve's scale and where it lies. One that cannot answer says what the others
    say on average."""
    said: list[Answers] = [candidate(seen, asked) for candidate in candidates]
    found = np.stack([np.concatenate(answers, axis=1) for answers in said], axis=-1)
    mean, deviation = np.where(np.isfinite(found).all(0), found, np.nan)  # (R, K) each
    mean = np.where(np.isnan(mean), np.nanmean(mean, 1, keepdims=True), mean)
    typical = np.nanmean(deviation, 1, keepdims=True)
    deviation = np.where(np.isnan(deviation), typical, deviation)
    counts = [len(at) for at in asked]
    spread = np.repeat([c.spread for c in seen], counts)
    # a short series may hardly vary by chance
    least = [c.spread * (0.5 if len(c.times) < 8 else 1e-4) for c in seen]
    least = np.repeat(least, counts)[:, None]
    places = [locate(c.times, at) for c, at in zip(seen, asked, strict=True)]
    distance, beyond = np.concatenate(places, axis=1)
    return {
        "mean": mean, "deviation": np.maximum(deviation, least), "spread": spread,
        "distance": distance, "beyond": beyond > 0,
    }


def locate(t: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Distance to the nearest value, in median gaps; 1 if beyond the ends: (2, M)."""
    if len(t) < 2:
        return np.stack((np.full(len(at), np.inf), np.zeros(len(at))))
    i = np.clip(np.searchsorted(t, at), 1, len(t) - 1)
    distance = np.minimum(np.abs(at - t[i - 1]), np.abs(t[i] - at))
    return np.stack((distance / np.median(np.diff(t)), (at < t[0]) | (at > t[-1])))


def test(
    candidates: list[Candidate], curves: list[Curve], hidden: list[np.ndarray],
    rng: np.random.Generator,
) -> Held:
    """Ask for hidden values."""
    seen = scale_curves([c.part(~h) for c, h in zip(curves, hidden, strict=True)])
    asked = [c.times[h] for c, h in zip(curves, hidden, strict=True)]
    truth = [c.values[h] for c, h in zip(curves, hidden, strict=True)]
    near = [  # 24 neighbours
        rng.integers(2, size=len(h) // 24 + 1)[np.flatnonzero(h) // 24] for h in hidden
    ]
    trust = [trusted(c.errors)[h] for c, h in zip(curves, hidden, strict=True)]
    return Held(
        truth=np.concatenate(truth), half=np.concatenate(near) > 0,
        trust=np.concatenate(trust),
        **gather(candidates, seen, asked),
    )


def join(parts: list[Held]) -> Held:
    names = vars(parts[0])
    return Held(**{n: np.concatenate([vars(p)[n] for p in parts]) for n in names})


# All of it
# ----------------------------------------------------------------------------

def choose(tuned: RoMAE) -> list[Candidate]:
    filler = partial(network, None), partial(network, tuned)
    return [lines, pchip, process, *filler, across]


@dataclass
class Mixture:
    """Candidates and their weights, between the values and beyond the ends."""

    model: RoMAE  # the tuned filler
    inside: Weights
    beyond: Weights

    def arrays(self) -> dict[str, np.ndarray]:
        both = {"inside.": vars(self.inside), "beyond.": vars(self.beyond)}
        return {place + n: x for place, its in both.items() for n, x in its.items()}

    @classmethod
    def of(cls, model: RoMAE, arrays: dict[str, np.ndarray]) -> "Mixture":
        """Take the weights of a file, checked."""
        places = {"inside": {}, "beyond": {}}
        for name, array in arrays.items():
            place, _, part = name.partition(".")
            places[place][part] = array
        both = [Weights(**its) for its in places.values()]
        for weights in both:
            weights.check()
        return cls(model, *both)

    def answer(
        self, curves: list[Curve], asked: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Return mean and deviation, (2, M) for each curve."""
        both = self.inside, self.beyond
        weight = np.max([(w.means, w.densities) for w in both], axis=(0, 1))
        heavy = weight > 0.02  # the others are not worth the time
        heavy[0] = True  # lines, which always answer
        used = [c for c, h in zip(choose(self.model), heavy, strict=True) if h]
        found = gather(used, scale_curves(join_alone(curves)), asked)
        out = np.empty((2, len(found["spread"])))
        for weights, rows in zip(
            both, (~found["beyond"], found["beyond"]), strict=True
        ):
            part = (found[n][rows] for n in ("mean", "deviation", "spread"))
            out[:, rows] = weights.only(heavy).mix(*part)
        return np.split(out, np.cumsum([len(at) for at in asked])[:-1], axis=1)


def fit(
    curves: list[Curve], model: RoMAE, steps: int, rng: np.random.Generator,
) -> tuple[Mixture, Held]:
    """Tune the filler on what no hold-out hides, and learn the weights from what they
    hide; return that too."""
    chosen = sample(curves, rng)
    many = 1 + max(c.series for c in curves)
    parts = [
        curves[i].part(rows)._replace(series=curves[i].series + stretch * many)
        for i, rows, stretch in chosen
    ]
    kinds = ("scattered", "stretches")
    hidden = {k: [hide_rows(len(c.times), k, rng) for c in parts] for k in kinds}
    kept = [np.ones(len(c.times), dtype=bool) for c in curves]
    for (i, rows, _), *masks in zip(chosen, *hidden.values(), strict=True):
        kept[i][rows] &= ~np.any(masks, axis=0)
    rest = [c.part(k) for c, k in zip(curves, kept, strict=True)]
    tuned = tune(model, rest, steps, int(rng.integers(2**32)))
    tests = [test(choose(tuned), parts, masks, rng) for masks in hidden.values()]
    for i in range(max(1, ENDS // len(parts))):
        ends = [cut_off(c, i == 0, rng) for c in parts]
        # tuning has seen these values, so there the tuned filler is the plain one
        tests.append(test(choose(model), *zip(*ends, strict=True), rng))
    held = join(tests)
    return Mixture(tuned, *learn_both(held)), held


def learn_both(held: Held) -> tuple[Weights, Weights]:
    """Learn the weights inside, and those beyond the ends if enough is known."""
    inside, ends = learn(held.part(~held.beyond)), held.part(held.beyond)
    if len(ends.truth) < FEW:
        return inside, inside
    beyond = learn(ends)
    plain, tuned = map(NAMES.index, ("filler", "tuned"))
    for shares in (beyond.means, beyond.densities):
        shares[plain], shares[tuned] = shares[plain] + shares[tuned], 0
    return inside, beyond


def judge(held: Held) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the mixture where values were hidden, (R,) each: for either
    half of them by the weights that the other half teaches."""
    out = np.empty((2, len(held.truth)))
    for half in (False, True):
        weights = learn_both(held.part(held.half != half))
        for w, beyond in zip(weights, (False, True), strict=True):
            rows = (held.half == half) & (held.beyond == beyond)
            part = held.part(rows)
            out[:, rows] = w.mix(part.mean, part.deviation, part.spread)
    return out[0], out[1]

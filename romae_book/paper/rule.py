"""The rule: when a claim of the paper is reproduced. One rule, the same on every page.

A claim is a sentence, and one comparison decides it, named before its runs: "A errs less than B", "no worse than B",
or a size. From three seeds on the comparison has a 95 % interval (Student's t over seeds, or the known standard error
where there is one). Wholly on the paper's side it is *reproduced*, or *reproduced at reduced scale* where the runs had
less data, width or time; wholly on the other side, by the paper's protocol, *not reproduced*; else *not tested*.

Errors are compared as ratios, by their logarithms; scores as differences. A comparison is written as the *advantage* of
one side over the other, positive where the paper's sentence holds, and as the bounds between which it has to lie.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from scipy.special import stdtr, stdtrit

from ..lab.summary import summarise

VERDICTS = ("reproduced", "reproduced at reduced scale", "not reproduced", "not tested")
LEAST = 3  # runs that have an interval
POINTS = 0.02  # "no worse", of a score: the [CLS] effect of Table 2 is 0.025, so a smaller one would be within it
FACTOR = 1.25  # "no worse" or "as large", of an error: 80 to 125 %, the convention of bioequivalence
LEVEL = 0.05


class Part(NamedTuple):
    """One source of uncertainty: its variance, and the degrees of freedom that it was estimated with."""

    variance: float
    freedom: float = math.inf  # known, not estimated


@dataclass(frozen=True)
class Estimate:
    """A number and what it is uncertain by. runs: seeds behind it, of two sides the fewer."""

    value: float
    parts: tuple[Part, ...] = ()
    runs: float = math.inf

    @classmethod
    def of(cls, values: Iterable[float], known: float | None = None, log: bool = False) -> Self:
        """The mean over seeds. known: standard error of one run, where theory has it; log: of the logarithm."""
        values = [math.log(value) for value in values] if log else list(values)
        n = len(values)
        std = summarise(values).std if len(set(values)) > 1 else 0.0  # no rounding makes a spread of equal runs
        return cls(math.fsum(values) / n, (Part(std**2 / n, n - 1) if known is None else Part(known**2 / n),), n)

    def minus(self, other: Self) -> Self:
        return type(self)(self.value - other.value, self.parts + other.parts, min(self.runs, other.runs))

    def plus(self, *parts: Part) -> Self:
        """The same number with more uncertainty."""
        return type(self)(self.value, self.parts + parts, self.runs)

    def __neg__(self) -> Self:
        return type(self)(-self.value, self.parts, self.runs)

    @property
    def error(self) -> float:
        return math.sqrt(math.fsum(part.variance for part in self.parts))

    @property
    def freedom(self) -> float:
        """By Welch and Satterthwaite."""
        spent = math.fsum(part.variance**2 / part.freedom for part in self.parts if part.variance)
        return self.error**4 / spent if spent else math.inf

    @property
    def half(self) -> float | None:
        """Half the width of the 95 % interval; None below three runs, or where they are equal by chance."""
        if self.runs < LEAST or not self.error:
            return None
        t = 1.959963984540054 if math.isinf(self.freedom) else float(stdtrit(self.freedom, 0.975))
        return t * self.error

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.half is None else (self.value - self.half, self.value + self.half)

    def chance(self, bound: float) -> float:
        """p, two-sided, of a mean as far from ``bound`` if the bound were the truth."""
        if not self.error:
            return float(self.value == bound)
        return 2 * float(stdtr(min(self.freedom, 1e9), -abs(self.value - bound) / self.error))


def over_printed(ours: Estimate, value: float, std: float | None, n: int | None, log: bool = False) -> Estimate:
    """Ours less a number that the paper prints, with the spread over n runs that it gives. Without a spread its runs,
    one if nobody says how many, scatter as ours do: the same estimate of a variance, which counts for both."""
    gap = ours.value - (math.log(value) if log else value)
    if std is None:
        more = 1 + ours.runs / (n or 1)
        return Estimate(gap, tuple(Part(part.variance * more, part.freedom) for part in ours.parts), ours.runs)
    spread = Part((std / (value if log else 1.0)) ** 2 / (n or 1), n - 1 if n and n > 1 else math.inf)
    return Estimate(gap, (*ours.parts, spread), ours.runs)


def test_set(cases: int | None, *shares: float) -> Part:
    """Sampling error of a test set in the difference of two shares of the same cases: p (1 - p) / cases, the variance
    where their answers to one case correlate by a half. Only for sentences about methods in general."""
    p = math.fsum(shares) / len(shares)
    return Part(max(p * (1 - p), 0.0) / cases if cases else 0.0)


class Comparison(NamedTuple):
    """An advantage, and the bounds between which the paper's sentence has it."""

    name: str
    advantage: Estimate
    least: float = 0.0
    most: float = math.inf

    @property
    def side(self) -> int | None:
        """1 wholly on the paper's side, -1 wholly on the other, 0 on both; None below three runs."""
        if not (ends := self.advantage.interval):
            return None
        if self.least < ends[0] and ends[1] < self.most:
            return 1
        return -1 if ends[1] < self.least or ends[0] > self.most else 0

    @property
    def chance(self) -> float:
        """p of so much against the sentence, if it were just true."""
        against = self.side == -1
        return self.advantage.chance(self.least if self.advantage.value < self.least else self.most) if against else 1.0


def claim_chance(pieces: Sequence[Comparison]) -> float:
    """p against a claim that has several pieces, each of which could refute it."""
    return min([1.0, *(len(pieces) * piece.chance for piece in pieces)])


def holm(chances: Sequence[float]) -> list[bool]:
    """Which claims are refuted, so that one is falsely with 5 % at most, however many there are."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    refuted = [False] * len(chances)
    for rank, i in enumerate(order):
        if chances[i] > LEVEL / (len(chances) - rank):
            break
        refuted[i] = True
    return refuted


def verdict(paper: Sequence[Comparison], reduced: Sequence[Comparison], refuted: bool) -> str:
    """The verdict of a claim from its pieces by the paper's protocol and at reduced scale. A reduced run refutes
    nothing, and says nothing where there is one by the protocol."""
    if refuted:
        return "not reproduced"
    sides, smaller = ([piece.side for piece in pieces if piece.side is not None] for pieces in (paper, reduced))
    if sides:
        return "reproduced" if all(side == 1 for side in sides) else "not tested"
    return "reproduced at reduced scale" if smaller and all(side == 1 for side in smaller) else "not tested"

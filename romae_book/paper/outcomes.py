"""How ours compares with a number of the paper: a two-sample difference, its interval, and a margin.

The rule is of 22 November 2026, younger than most of the runs known then. The one before it is `old_outcome`; what it
says of the same records is printed beside the new one, on the page of the scoreboard.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scipy.special import stdtrit

from ..lab.summary import Summary, decimals_between, decimals_for, fixed, summarise
from .claim import Claim

LEAST = 3  # runs that have an interval, and fewer decide nothing
OUTCOMES = ("agrees", "better", "worse", "differs", "undecided", "not comparable", "not run")
STATUSES = (*OUTCOMES, "unknown", "quoted")  # the last two are no claims about a number of ours
JUDGED = OUTCOMES[:4]
APART = ("worse", "differs", "undecided")  # ours is not the paper's number, or nobody can tell yet


class Part(NamedTuple):
    """A part of the uncertainty of a difference: a variance, and the degrees of freedom that it was estimated with."""

    variance: float
    freedom: float = math.inf  # known, not estimated


@dataclass(frozen=True)
class Difference:
    """Ours minus the paper's, in plain units; ``half`` is half the width of its 95 % interval, None without one."""

    value: float
    half: float | None
    margin: float

    @property
    def seen(self) -> float | None:
        """The smallest difference that would not have counted as agreement."""
        return None if self.half is None else max(self.half, self.margin)

    @property
    def holds_zero(self) -> bool:
        return self.half is not None and abs(self.value) <= self.half

    @property
    def by_margin_alone(self) -> bool:
        """The runs show a difference, and it is within the margin."""
        return self.half is not None and self.half < abs(self.value) <= self.margin


class Outcome(NamedTuple):
    status: str  # one of STATUSES
    reason: str
    difference: Difference | None = None


def half_width(parts: Iterable[Part]) -> float:
    """Half the width of the 95 % interval of a sum of independent parts, by Student's t with the degrees of freedom of
    Welch and Satterthwaite."""
    parts = [part for part in parts if part.variance > 0]
    variance = math.fsum(part.variance for part in parts)
    if not variance:
        return 0.0
    spent = math.fsum(part.variance**2 / part.freedom for part in parts)
    freedom = variance**2 / spent if spent else math.inf
    t = 1.959963984540054 if math.isinf(freedom) else float(stdtrit(freedom, 0.975))
    return t * math.sqrt(variance)


def over_runs(summary: Summary, theirs: Claim | None = None) -> Part:
    """What a mean over seeds is uncertain by. And what the paper's number is, where it gives no spread of its own: that
    counts as the mean of its runs, one if nobody says how many, which scatter as ours do."""
    more = 1 / (theirs.n or 1) if theirs and theirs.std is None else 0.0
    return Part(summary.std**2 * (1 / summary.n + more), summary.n - 1) if summary.n > 1 else Part(0.0)


def of_the_paper(claim: Claim) -> list[Part]:
    """What the paper's number is uncertain by: its runs, where it gives a spread; its test set; the printed digits."""
    runs = claim.n or 1  # where nobody says how many, the standard deviation counts as that of one run
    spread = Part((claim.std or 0.0) ** 2 / runs, runs - 1 if runs > 1 else math.inf)
    return [spread, Part(claim.resolution**2 / 3), Part(claim.draw**2)]


def of_the_test_set(cases: int | None, *scores: float) -> Part:
    """Both sides answer the same cases. Counted once, as p (1 - p) / cases: that is the variance of the difference
    where the answers of the two to one case have a correlation of a half."""
    p = math.fsum(scores) / len(scores)
    return Part(p * (1 - p) / cases if cases and 0 < p < 1 else 0.0)


def lost(claim: Claim, value: float) -> float:
    """What a score leaves to be done: of a share of cases what is missing to 1, of an error all of it, or what is above
    the noise where the claim names it."""
    if claim.better == "higher":
        value = 1 - value
    return above(claim.floor, value) if claim.floor else max(value, 0.0)


def above(floor: float, error: float) -> float:
    """What is left of a root mean square error when the noise of the targets is taken off."""
    return math.sqrt(max(error**2 - floor**2, 0.0))


def difference(claim: Claim, ours: Summary) -> Difference:
    """Ours minus the paper's. Below `LEAST` runs it has no interval."""
    paper = claim.value
    if claim.floor:
        paper, ours = above(claim.floor, paper), summarise(above(claim.floor, value) for value in ours.values)
    parts = [over_runs(ours, claim), *of_the_paper(claim), of_the_test_set(claim.cases, ours.mean, paper)]
    half = half_width(parts) if ours.n >= LEAST else None
    margin = max(claim.margin, claim.margin_share * paper)
    return Difference(ours.mean - paper, half, margin)


def outcome(claim: Claim, ours: Summary | None) -> Outcome:
    """What our runs of the paper's protocol say of one of its numbers (None: there is none). In this order:

    quoted          the number belongs to another method and was never ours to repeat
    unknown         the paper's number could not be read
    not comparable  for a reason that stands with the number
    not run         there is no run
    undecided       there are fewer than three runs (of what is not merely counted), or so scattered ones that a
                    difference as large as the number itself would not have shown
    agrees          the difference is within the printed digits or the margin, or its 95 % interval holds 0
    better, worse   otherwise; "differs" where the number describes and does not score
    """
    if claim.quoted:
        return Outcome("quoted", "another method's number, as the paper quotes it")
    if claim.value is None:
        return Outcome("unknown", "the paper's number could not be read")
    if claim.not_comparable:
        return Outcome("not comparable", claim.not_comparable)
    if ours is None:
        return Outcome("not run", "no run of the paper's protocol")
    found, show = difference(claim, ours), lambda x: in_units(claim, x)
    hair = 1e-9 * max(abs(claim.value), abs(ours.mean))  # edges count as inside, whatever the last bit says
    above_floor = " above the noise" if claim.floor else ""
    words = f"the difference{above_floor} is {show(found.value)}"
    equal = abs(found.value) <= claim.resolution + hair
    agrees = Outcome("agrees", "equal in the digits that the paper prints", found)
    if claim.is_count:
        return agrees if equal else Outcome("differs", words, found)
    if found.half is None:
        return Outcome("undecided", f"{words}, from {ours.n} run{'s' * (ours.n > 1)}; an interval needs {LEAST}", found)
    interval = f", 95 % interval {show_interval(claim, found)}"
    if found.holds_zero and found.half > lost(claim, claim.value):
        return Outcome("undecided", f"{words}{interval}: too wide to say", found)
    if equal:
        return agrees
    if abs(found.value) <= found.margin + hair:
        beyond = abs(found.value) + found.half > found.margin + hair
        seen = "seen, and " if found.by_margin_alone else ""
        seen += "its mean " if found.by_margin_alone and beyond else ""
        return Outcome("agrees", f"{words}{interval}: {seen}within the margin of {show(found.margin)}", found)
    if found.holds_zero or abs(found.value) <= found.half + hair:
        return Outcome("agrees", f"{words}{interval}, which holds 0", found)
    reason = f"{words}{interval}" + (f": beyond the margin of {show(found.margin)}" if found.margin else "")
    if claim.better == "equal":
        return Outcome("differs", reason, found)
    good = (found.value < 0) is (claim.better == "lower")
    return Outcome("better" if good else "worse", reason, found)


def in_units(claim: Claim, x: float) -> str:
    """A difference in the paper's units, three significant digits."""
    scaled = x / float(f"1e{claim.exponent}")
    return fixed(scaled, min(decimals_for(scaled, 3), 8)) + f" {claim.unit}".rstrip()


def show_interval(claim: Claim, found: Difference) -> str:
    low, high = ((found.value + end) / float(f"1e{claim.exponent}") for end in (-found.half, found.half))
    decimals = decimals_between(low, high, min(decimals_for(max(abs(low), abs(high)), 3), 8))
    return f"[{fixed(low, decimals)}, {fixed(high, decimals)}] {claim.unit}".rstrip()


def tally(statuses: Iterable[str]) -> str:
    """ "3 agree, 1 worse, 2 not run"; what does not occur is left out."""
    counts = Counter(statuses)
    verbs = {"agrees": "agree", "differs": "differ"}
    return ", ".join(f"{n} {verbs.get(s, s) if n > 1 else s}" for s in STATUSES if (n := counts[s]))


# The rule before this one ---------------------------------------------------------------------------------------------


def old_outcome(claim: Claim, ours: Summary) -> str:
    """The rule of the first day, 21 November 2026: "reproduced" where the paper's value lay in our interval or ours was
    better, "close" within twice the paper's standard deviation, or 5 % where it gives none."""
    paper, hair = claim.value, 1e-9 * abs(claim.value)
    better = claim.better_before or claim.better
    inside = ours.low is not None and ours.low - hair <= paper <= ours.high + hair
    good = {
        "equal": abs(ours.mean - paper) <= claim.resolution + hair,
        "lower": ours.mean <= paper + hair,
        "higher": ours.mean >= paper - hair,
    }
    if inside or good[better]:
        return "reproduced"
    allowed = 0.05 * abs(paper) if claim.std is None else 2 * claim.std
    return "close" if abs(ours.mean - paper) <= allowed + hair else "not reproduced"


def worst(outcomes: Sequence[str]) -> str:
    """The outcome of a claim from those of its evidence: the worst of what could be judged. Where nothing could,
    "undecided" or "not run" while more runs could change that."""
    for status in ("worse", "differs", "agrees", "better", "undecided", "not run"):
        if status in outcomes:
            return status
    return "not comparable"

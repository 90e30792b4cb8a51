"""The ladder of results: for every claim of the paper what our runs say, by the rule, and the marks of its picture."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..lab.runs import Runs
from ..lab.summary import decimals_for, summarise
from .claim import Claim
from .claims import CLAIMS
from .rule import (
    FACTOR,
    LEAST,
    POINTS,
    VERDICTS,
    Comparison,
    Estimate,
    claim_chance,
    holm,
    over_printed,
    test_set,
    verdict,
)
from .statements import STATEMENTS, TRAININGS, Piece, Setting, Statement

CELLS = {claim.id: claim for claim in CLAIMS}


@dataclass(frozen=True)
class Mark:
    """One thing in a picture. kind: "ours", "smaller" (ours, at a reduced scale or of too few runs), "paper", "best"
    (possible), "rival", or "bound" (where the claim begins to hold)."""

    kind: str
    name: str
    value: float
    low: float | None = None  # the ends of its interval; of a few runs too scattered for one, the smallest and largest
    high: float | None = None


@dataclass(frozen=True)
class Step:
    """One claim and what our runs say of it."""

    statement: Statement
    verdict: str
    paper: tuple[Comparison, ...]  # pieces with runs by the paper's protocol
    reduced: tuple[Comparison, ...]
    marks: tuple[Mark, ...]

    @property
    def shown(self) -> tuple[Comparison, ...]:
        return self.paper or self.reduced

    @property
    def pieces(self) -> str:
        """How much of the claim was run: "2 of 3 widths"; "" where all of it was."""
        run = sum(piece.side is not None for piece in self.paper)
        whole = len(self.statement.pieces) + len(self.statement.apart)
        return f"{run} of {whole} {self.statement.kinds}" if 0 < run < whole else ""

    @property
    def held(self) -> bool:
        return self.verdict.startswith("reproduced")

    @property
    def note(self) -> str:
        """What the verdict adds in a few words."""
        words = ["by construction"] * self.statement.by_construction + [self.pieces] * bool(self.pieces)
        words = words if self.verdict == "reproduced" else []
        if self.verdict == "not tested" and self.shown:
            words = [self.why_open]
        return ", ".join(words + [self.statement.aside] * bool(self.statement.aside))

    @property
    def why_open(self) -> str:
        """Why runs that there are leave the claim open."""
        few = min(comparison.advantage.runs for comparison in self.shown)
        return "the runs do not decide" if few >= LEAST else f"{few} of {LEAST} runs"


def ladder(root: Path | None = None) -> list[Step]:
    """Every claim, in the order of `STATEMENTS`. The chance of a false "not reproduced" is held over all of them."""
    runs = Runs.load(root)
    paper = [_compared(statement, statement.pieces, runs, by_protocol=True) for statement in STATEMENTS]
    reduced = [_compared(statement, statement.reduced, runs) for statement in STATEMENTS]
    refuted = holm([claim_chance(pieces) for pieces in paper])
    return [
        Step(
            statement, verdict(mine, smaller, against), tuple(mine), tuple(smaller),
            _marks(statement, mine, smaller, runs),
        )
        for statement, mine, smaller, against in zip(STATEMENTS, paper, reduced, refuted, strict=True)
    ]


def of_setting(runs: Runs, setting: Setting, by_protocol: bool = False) -> Runs:
    """The runs of a setting that count: of committed code, and by the protocol in its precision."""
    found = runs.where(experiment=setting.experiment, committed=True).of(setting.built).having(setting.metric)
    return (found.where(precision="fp32") if by_protocol else found).counted()


def _compared(statement: Statement, pieces: Iterable[Piece], runs: Runs, by_protocol: bool = False) -> list[Comparison]:
    found = (_comparison(statement, piece, runs, by_protocol) for piece in pieces)
    return [comparison for comparison in found if comparison]


def _comparison(statement: Statement, piece: Piece, runs: Runs, by_protocol: bool) -> Comparison | None:
    """The advantage of ours: the ratio of errors in logarithms, or the difference of scores. None without runs."""
    log, rival = statement.better == "lower", piece.rival
    ours = of_setting(runs, piece.ours, by_protocol)
    theirs = of_setting(runs, rival, by_protocol) if isinstance(rival, Setting) else None
    if not ours or (theirs is not None and not theirs):
        return None
    values = {run.seed: run.metrics[piece.ours.metric] for run in ours}
    if piece.paired:
        others = {run.seed: run.metrics[rival.metric] for run in theirs}
        both = values.keys() & others.keys()
        gap = (lambda a, b: math.log(b / a)) if log else (lambda a, b: a - b)
        if not both:
            return None
        advantage = Estimate.of(gap(values[seed], others[seed]) for seed in sorted(both))
    else:
        known = piece.known and piece.known / summarise(values.values()).mean
        mine = Estimate.of(values.values(), known, log)
        advantage = _over_rival(mine, piece.rival, theirs, log)
        if piece.cases:
            advantage = advantage.plus(test_set(piece.cases, mine.value, mine.value - advantage.value))
        advantage = -advantage if log else advantage
    return Comparison(piece.name, advantage, *bounds(statement))


def _over_rival(mine: Estimate, rival: Setting | float | tuple[str, ...], theirs: Runs | None, log: bool) -> Estimate:
    if theirs is not None:
        return mine.minus(Estimate.of((run.metrics[rival.metric] for run in theirs), log=log))
    if isinstance(rival, tuple):
        cell = best_of(rival)
        return over_printed(mine, cell.value, cell.std, cell.n, log)
    return mine.minus(Estimate(math.log(rival) if log else rival))


def best_of(ids: Iterable[str]) -> Claim:
    cells = [CELLS[name] for name in ids]
    return (max if cells[0].better == "higher" else min)(cells, key=lambda cell: cell.value)


def bounds(statement: Statement) -> tuple[float, float]:
    """Between which the advantage has to lie."""
    slack = math.log(FACTOR) if statement.better == "lower" else POINTS
    return {
        "less": (math.log(statement.times), math.inf), "level": (-slack, math.inf), "size": (-slack, slack)
    }[statement.sense]


# Pictures -------------------------------------------------------------------------------------------------------------


def _marks(statement: Statement, paper: list[Comparison], reduced: list[Comparison], runs: Runs) -> tuple[Mark, ...]:
    if statement.marks:
        known = {piece.ours: piece.known for piece in statement.pieces if piece.known}
        return tuple(mark for spec in statement.marks if (mark := _number(*spec, runs, known)))
    return tuple(_advantages(statement, paper, reduced))


def _number(
    kind: str, name: str, source: Setting | str | float, runs: Runs, known: dict[Setting, float]
) -> Mark | None:
    """A mark of a number: of a cell, or the mean over runs, by the protocol unless `kind` is "smaller"."""
    if isinstance(source, str):
        return Mark(kind, name, CELLS[source].value)
    if isinstance(source, float):
        return Mark(kind, name, source)
    found = of_setting(runs, source, by_protocol=kind == "ours")
    if not found:
        return None
    summary = found.summary(source.metric)
    kind = "smaller" if kind == "ours" and summary.n < LEAST else kind
    if source in known:
        ends = Estimate.of(summary.values, known[source]).interval or (None, None)
        return Mark(kind, name, summary.mean, *ends)
    ends = (min(summary.values), max(summary.values)) if summary.scattered else (summary.low, summary.high)
    return Mark(kind, name, summary.mean, *ends)


def _advantages(statement: Statement, paper: list[Comparison], reduced: list[Comparison]) -> Iterable[Mark]:
    """The comparison itself: how far ours, and the paper's, is ahead; in points, or in times."""
    log = statement.better == "lower"
    show = math.exp if log else lambda gap: 100 * gap
    yield Mark("bound", "", show(bounds(statement)[0]))
    yield from (Mark(kind, name, source) for kind, name, source in statement.beside)
    pieces = {piece.name: piece for piece in (statement.pieces if paper or not reduced else statement.reduced)}
    run = [comparison.name for comparison in paper or reduced]
    for comparison in paper or reduced:
        ends = comparison.advantage.interval
        low, high = (None, None) if ends is None else map(show, ends)
        kind = "ours" if paper and ends else "smaller"
        yield Mark(kind, comparison.name, show(comparison.advantage.value), low, high)
    for piece in pieces.values():
        rival = best_of(piece.rival) if isinstance(piece.rival, tuple) else CELLS.get(piece.rival_cell)
        if rival and piece.cell and (piece.name in run or not run):
            ours = CELLS[piece.cell].value
            gap = math.log(rival.value / ours) if log else ours - rival.value
            yield Mark("paper", piece.name, show(gap))


# Words ----------------------------------------------------------------------------------------------------------------


def count_line(steps: Iterable[Step]) -> str:
    """ "13 claims: 5 reproduced ([CLS], width, ...), 3 reproduced at reduced scale (pictures, speed), ..." """
    steps, parts = list(steps), []
    for outcome in VERDICTS:
        if mine := [step.statement.topic for step in steps if step.verdict == outcome]:
            word = "not tested yet" if outcome == "not tested" else outcome
            parts.append(f"{len(mine)} {word} ({', '.join(dict.fromkeys(mine))})")
    return f"{len(steps)} claims: {', '.join(parts)}."


def repeated(root: Path | None = None) -> tuple[int, int]:
    """How many of the paper's trainings were repeated by its protocol with three seeds or more, and of how many."""
    runs = Runs.load(root)
    return sum(len(of_setting(runs, setting, True)) >= LEAST for _, setting in TRAININGS), len(TRAININGS)


def comparison_words(step: Step, comparison: Comparison) -> str:
    """The interval of a comparison in words: "tiny: 6,100 times less [4,500, 8,100], n = 5"."""
    gap, name = comparison.advantage, f"{comparison.name}: " if comparison.name else ""
    ends, n = gap.interval or (), f", n\u00a0=\u00a0{gap.runs}"
    if step.statement.better == "higher":
        return f"{name}{100 * gap.value:+.1f} points{_ends(f'{100 * end:+.1f}' for end in ends)}{n}"
    if step.statement.sense == "size":
        ours = sorted(math.exp(-end) for end in ends)  # an advantage is of the smaller error
        return f"{name}{math.exp(-gap.value):.3f} times{_ends(f'{end:.3f}' for end in ours)}{n}"
    sign = 1 if gap.value >= 0 else -1
    if abs(gap.value) < math.log(1.5):
        share = lambda x: 100 * sign * (1 - math.exp(-x))  # noqa: E731
        shown = _ends(f"{end:.1f}" for end in sorted(share(end) for end in ends))
        return f"{name}{share(gap.value):.1f} % {'less' if sign > 0 else 'more'}{shown}{n}"
    shown = _ends(two_digits(math.exp(end)) for end in sorted(sign * end for end in ends))
    return f"{name}{two_digits(math.exp(abs(gap.value)))} times {step.statement.words[sign < 0]}{shown}{n}"


def _ends(words: Iterable[str]) -> str:
    return f" [{', '.join(words)}]" if (words := list(words)) else ""


def two_digits(x: float) -> str:
    """Two significant digits: 9.4, 13, 6,000."""
    return f"{round(x, 1 - math.floor(math.log10(abs(x)))):,.0f}" if abs(x) >= 10 else f"{x:.{decimals_for(x, 2)}f}"

"""The paper's numbers, ours beside them: every cell of its tables with the runs that answer it.

Numbers get no verdict. They are shown: ours with interval and n, the paper's, the ratio of the two, and where the best
possible error is known the ratio of what lies above it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ..experiments import experiment, experiments
from ..lab.planned import Planned, command_of
from ..lab.runs import Runs
from ..lab.summary import Summary
from .claim import Claim
from .claims import CLAIMS
from .rule import LEAST, Estimate, Part, over_printed


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of the paper and the runs that answer it."""

    claim: Claim
    runs: Runs  # by the paper's protocol; where there are none, reduced ones
    own: Runs  # by settings of our own

    @property
    def tier(self) -> str:
        """Of `runs`: "paper", "reduced", or ""."""
        return self.runs[0].tier if self.runs else ""

    @property
    def ours(self) -> Summary | None:
        return self.runs.summary(self.claim.metric) if self.runs else None

    @property
    def made(self) -> str:
        """What repeats the runs."""
        return command_of(run.planned for run in self.runs) if self.runs else ""

    @property
    def wished(self) -> str:
        """What would make runs of the paper's protocol, where there are none."""
        return "" if self.tier == "paper" or self.claim.quoted else planned_command(self.claim)

    @property
    def command(self) -> str:
        return "\n".join(command for command in (self.made, self.wished) if command)


def rows(root: Path | None = None, only: Sequence[str] | None = None) -> list[Row]:
    """A row for every number of the paper, or for those of some experiments. ValueError for an unknown experiment."""
    known = dict.fromkeys(claim.experiment for claim in CLAIMS)
    for name in only or ():
        if name not in known:
            raise ValueError(f"experiment is {name!r}; the paper's claims are about {', '.join(known)}")
    runs = Runs.load(root)
    runs = Runs(run for run in runs.where(committed=True) if run.config.get("source") != "simulated")
    return [_row(claim, runs) for claim in CLAIMS if not only or claim.experiment in only]


def _row(claim: Claim, runs: Runs) -> Row:
    """Which runs answer a number. A run cut short says nothing beside a whole one."""
    if claim.quoted:
        return Row(claim=claim, runs=Runs(), own=Runs())
    found = runs.where(claim.where, experiment=claim.experiment).having(claim.metric)
    whole = Runs(run for run in found if run.tier != "reduced" or "epochs" not in dict(run.planned.overrides))
    paper, own, reduced = (one_setting(whole.where(tier=tier)) for tier in ("paper", "own", "reduced"))
    return Row(claim=claim, runs=paper or reduced, own=own)


def one_setting(runs: Runs) -> Runs:
    """Of runs of one tier those of one setting, one for each seed.

    Where several settings were recorded: of our own those that have an interval first; the preset named like the tier
    or "best", then the one with most seeds. The result never decides.
    """
    groups = [group.counted() for group in runs.by_setting().values()]
    rank = lambda group: (  # noqa: E731
        group[0].tier == "own" and len(group) < LEAST, group[0].preset not in (group[0].tier, "best"),
        -len(group), group[0].setting,
    )
    return min(groups, key=rank, default=Runs())


def planned_command(claim: Claim) -> str:
    """What would record the paper's protocol, or "" where this version has no such experiment. ValueError for a claim
    that asks for a setting which the experiment has not."""
    if claim.experiment not in experiments():
        return ""
    kind = experiment(claim.experiment)
    if unknown := set(claim.where) - {field.name for field in fields(kind)}:
        raise ValueError(
            f"the claim {claim.id!r} has {min(unknown)!r}, which is neither a setting of {claim.experiment} nor "
            "a field of Claim"
        )
    changes = {
        preset: tuple((k, value) for k, value in claim.where.items() if getattr(kind.preset(preset), k) != value)
        for preset, tier in kind.tiers.items()
        if tier == "paper"
    }
    chosen = min(changes, key=lambda preset: (len(changes[preset]), preset != "paper"))
    seeds = range(max([count for preset, count, *_ in kind.campaign if preset == chosen] + [LEAST]))
    return Planned(experiment=claim.experiment, preset=chosen, seed=0, overrides=changes[chosen]).command_for(seeds)


# Words ----------------------------------------------------------------------------------------------------------------


def cell_name(claim: Claim) -> str:
    """Row and column, unless the title names the column already."""
    return claim.row if claim.column.lower() in claim.title.lower() else f"{claim.row}, {claim.column}"


def our_text(summary: Summary | None, claim: Claim) -> str:
    """Mean, interval and n; the runs themselves where they are few and the interval ends at an impossible error. The
    interval is by the known standard error where there is one, as in the verdict."""
    if summary is None:
        return ""
    if summary.scattered:
        scale = float(f"1e{claim.exponent}")
        each = replace(summary, values=tuple(value / scale for value in summary.values)).each
        mean = replace(summary, low=None, high=None)
        return f"{claim.show_ours(mean)} (single runs {each}), n = {summary.n}"
    if claim.is_count:
        return claim.show_ours(summary)
    if summary.n >= LEAST and len(set(summary.values)) == 1:  # no interval: equal by chance, or bounded
        return f"{claim.show_ours(replace(summary, low=None, high=None))} in each of {summary.n} runs"
    if claim.known and (ends := Estimate.of(summary.values, claim.known).interval):
        summary = replace(summary, low=ends[0], high=ends[1])
    return f"{claim.show_ours(summary)}, n = {summary.n}"


def ratio(row: Row) -> str:
    """Ours over the paper's, of an error by geometric means, with the uncertainty of both; of a score the difference
    in points. "" where there is no run of the paper's protocol, or nothing to divide by."""
    claim = row.claim
    values = row.ours.values if row.tier == "paper" else ()
    if not values or claim.value is None or claim.is_count or min(values) <= 0:
        return ""
    log = claim.better != "higher"
    known = claim.known and claim.known / row.ours.mean
    ours = Estimate.of(values, known, log)
    if known:  # of the paper's one test set as well
        return _interval(ours.minus(Estimate(math.log(claim.value), (Part(known**2),))), log)
    return _interval(over_printed(ours, claim.value, claim.std, claim.n, log), log)


def above_best(row: Row) -> str:
    """The ratio of what lies above the best possible error, run by run; "" where that is not known."""
    claim = row.claim
    best = f"{claim.metric}_{claim.optimum}"
    runs = row.runs.having(best) if row.tier == "paper" and claim.optimum and claim.metric.startswith("mse") else ()
    gaps = [run.metrics[claim.metric] - run.metrics[best] for run in runs]
    if not gaps or min(gaps) <= 0:
        return ""
    theirs = claim.value - runs.summary(best).mean
    if theirs <= 0:
        return ""
    return _interval(over_printed(Estimate.of(gaps, log=True), theirs, claim.std, claim.n, log=True), log=True)


def _interval(gap: Estimate, log: bool) -> str:
    show = (lambda x: f"{math.exp(x):.2f}") if log else (lambda x: f"{100 * x:+.1f}")
    ends = f" [{show(gap.interval[0])}, {show(gap.interval[1])}]" if gap.interval else ""
    return f"{show(gap.value)}{ends}" + (" ×" if log else " points")


def best_possible(row: Row) -> str:
    """The best possible score on the same test sets, in the paper's units."""
    best, runs = f"{row.claim.metric}_{row.claim.optimum}", row.runs or row.own
    runs = runs.having(best) if row.claim.optimum else ()
    return row.claim.show_ours(replace(runs.summary(best), low=None, high=None)) if runs else ""


def by_table(rows: Iterable[Row]) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {}
    for row in rows:
        tables.setdefault(f"{row.claim.table} · {row.claim.title}", []).append(row)
    return tables

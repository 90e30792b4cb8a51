"""Every number and every claim of the paper, ours beside it, and the outcome: python -m romae_lite report.

Joins CLAIMS and STATEMENTS with the records under results/; holds no number of its own.
"""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..experiments import experiment, experiments
from ..lab.planned import Planned, command_of
from ..lab.records import Loaded, Record, counted, load_all, results_dir, select
from ..lab.summary import Summary, summarise
from .claim import Claim
from .claims import CLAIMS
from .outcomes import JUDGED, LEAST, OUTCOMES, STATUSES, Outcome, in_units, old_outcome, outcome, tally
from .statements import Judged, all_judged, forced_cells

MARKS = dict(zip(STATUSES, ("✓", "▲", "✗", "≠", "~", "∥", "–", "?", "“”"), strict=True))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of the paper and what our records say about it."""

    claim: Claim
    outcome: Outcome
    before: str  # what the rule before this one says; "" where there is no run of the paper's protocol
    ours: Summary | None  # the paper's protocol; where there is none, a reduced run, which gives no outcome
    own: Summary | None  # our own settings: shown beside, never judged
    records: tuple[Record, ...]  # behind ``ours``
    own_records: tuple[Record, ...]
    tier: str  # of ``ours``: "paper", "reduced" or ""
    command: str  # repeats ``ours``; where that is not of tier "paper", also what would be; "" without an experiment
    own_command: str


def rows(root: Path | None = None, experiments: Sequence[str] | None = None) -> list[Row]:
    """A row for every claim of the paper, or for those of some experiments. ValueError for an unknown experiment."""
    return joined(load_all(root), experiments)


def joined(loaded: Loaded, experiments: Sequence[str] | None) -> list[Row]:
    known = dict.fromkeys(claim.experiment for claim in CLAIMS)
    for name in experiments or ():
        if name not in known:
            raise ValueError(f"experiment is {name!r}; the paper's claims are about {', '.join(known)}")
    return [_row(claim, loaded.records) for claim in CLAIMS if not experiments or claim.experiment in experiments]


def _row(claim: Claim, records: Iterable[Record]) -> Row:
    found = [] if claim.quoted else select(records, claim.experiment, where=claim.where)
    found = [r for r in found if claim.metric in r.metrics and r.config.get("source") != "simulated"]
    found = [r for r in found if r.committed]  # code that no commit has cannot be run again
    # a run cut short says nothing beside a whole one
    whole = [r for r in found if r.tier != "reduced" or "epochs" not in dict(r.planned.overrides)]
    paper, own, reduced = (_one_setting(whole, tier) for tier in ("paper", "own", "reduced"))
    ours, judged = paper or reduced, summary_of(paper, claim.metric)
    planned = "" if claim.quoted or paper else _planned_command(claim)
    return Row(
        claim=claim, outcome=outcome(claim, judged), ours=summary_of(ours, claim.metric),
        own=summary_of(own, claim.metric), records=tuple(ours), own_records=tuple(own),
        before=old_outcome(claim, judged) if judged and claim.value is not None else "",
        tier=ours[0].tier if ours else "", own_command=_command(own),
        command="\n".join(command for command in (_command(ours), planned) if command),
    )


def _one_setting(records: Iterable[Record], tier: str) -> list[Record]:
    """Records of one tier that differ in nothing but the seed, one per seed.

    Where several settings were recorded: of our own those that have an interval first; the preset named like the tier
    or "best", then the one with most seeds. The result never decides.
    """
    groups: dict[tuple, list[Record]] = {}
    for record in (r for r in records if r.tier == tier):
        setting = experiment(record.experiment).protocol(record.config)
        key = (record.preset not in (tier, "best"), record.preset, repr(sorted(setting.items())))
        groups.setdefault(key, []).append(record)
    runs = {key: counted(group) for key, group in groups.items()}
    few = lambda key: tier == "own" and len(runs[key]) < LEAST  # noqa: E731
    chosen = min(runs, key=lambda key: (few(key), key[0], -len(runs[key]), key), default=None)
    return [] if chosen is None else runs[chosen]


def summary_of(records: Iterable[Record], metric: str) -> Summary | None:
    """Over the records that have the metric; None where none has."""
    values = [record.metrics[metric] for record in records if metric in record.metrics]
    return summarise(values) if values else None


def _planned_command(claim: Claim) -> str:
    """What would record the paper's protocol, or "" where this version has no such experiment."""
    if claim.experiment not in experiments():
        return ""
    kind = experiments()[claim.experiment]
    changes = {
        preset: tuple((k, value) for k, value in claim.where.items() if getattr(kind.preset(preset), k) != value)
        for preset, tier in kind.tiers.items()
        if tier == "paper"
    }
    chosen = min(changes, key=lambda preset: (len(changes[preset]), preset != "paper"))
    seeds = range(max([count for preset, count, *_ in kind.campaign if preset == chosen] + [LEAST]))
    planned = Planned(experiment=claim.experiment, preset=chosen, seed=0, overrides=changes[chosen])
    return planned.command_for(seeds)


def _command(records: Iterable[Record]) -> str:
    return command_of(record.planned for record in records)


# Text and HTML --------------------------------------------------------------------------------------------------------


def summary_line(rows: Iterable[Row]) -> str:
    """How many of the paper's numbers could be judged, and how they came out; counts of parameters apart."""
    rows = list(rows)
    parts = []
    for what, group in (
        ("numbers", [row for row in rows if not row.claim.is_count and not row.claim.reading]),
        ("second readings", [row for row in rows if row.claim.reading]),
        ("counts of parameters", [row for row in rows if row.claim.is_count]),
    ):
        statuses = [row.outcome.status for row in group if row.outcome.status in OUTCOMES]
        if statuses:
            judged = sum(status in JUDGED for status in statuses)
            parts.append(f"{judged} of {len(statuses)} {what} judged: {tally(statuses)}.{_easily(group)}")
    if unknown := sum(row.outcome.status == "unknown" for row in rows):
        parts.append(f"{unknown} more could not be read in the paper.")
    return " ".join(parts)


def _easily(rows: Iterable[Row]) -> str:
    """How many of those that agree had no choice, and how many do by the margin alone."""
    agree = [row for row in rows if row.outcome.status == "agrees"]
    forced = sum(row.claim.id in forced_cells() for row in agree)
    slightly = sum(bool(row.outcome.difference) and row.outcome.difference.by_margin_alone for row in agree)
    words = [f"the paper's input forces {forced}"] * bool(forced)
    do = "do" if slightly > 1 else "does"
    words += [f"{slightly} {do} by the margin alone, with a difference that is seen"] * bool(slightly)
    return f" Of those that agree {', and '.join(words)}." if words else ""


def claims_line(judged: Sequence[Judged]) -> str:
    """The outcome of the whole in one sentence: of the claims in words."""
    found = [claim.status for claim in judged]
    forced = [claim.statement.title for claim in judged if claim.statement.forced and claim.status == "agrees"]
    which = f"“{'”, “'.join(forced)}”"
    words = f" The paper's input leaves no choice in {which}." if forced else ""
    return f"Of {len(found)} claims of the paper: {tally(found)}.{words}"


def problem_lines(loaded: Loaded, root: Path) -> list[str]:
    """Files under results/ that were not used, by name, with the reason."""
    lines = []
    for path, reason in loaded.problems:
        where = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        lines.append(f"{where}: {reason}")
    for record in loaded.records:
        name = f"{record.experiment}/{record.path.name}"
        about = [c for c in CLAIMS if c.experiment == record.experiment]
        # a claim about another setting asks nothing of this record
        wanted = {c.metric for c in about if all(record.config.get(k, v) == v for k, v in c.where.items())}
        if not about and record.experiment in experiments():
            continue  # an experiment of our own
        if not about:
            lines.append(f"{name}: the paper makes no claim about {record.experiment!r}")
        elif wanted and not wanted & set(record.metrics):
            lines.append(f"{name}: it has none of the metrics that the claims name, like {min(wanted)}")
    return lines


def by_table(rows: Iterable[Row]) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {}
    for row in rows:
        tables.setdefault(f"{row.claim.table} · {row.claim.title}", []).append(row)
    return tables


def cell_name(claim: Claim) -> str:
    """Row and column, unless the title names the column already."""
    return claim.row if claim.column.lower() in claim.title.lower() else f"{claim.row}, {claim.column}"


def status_words(row: Row) -> str:
    """The outcome; a number of which there are runs, but none by the paper's whole protocol, is not called unrun."""
    status = row.outcome.status
    return "run otherwise" if status == "not run" and row.ours is not None else status


def our_text(summary: Summary | None, claim: Claim) -> str:
    """Mean, interval and n; the runs themselves where they are few and the interval ends at an impossible error."""
    if summary is None:
        return ""
    if summary.scattered:
        scale = float(f"1e{claim.exponent}")
        each = replace(summary, values=tuple(value / scale for value in summary.values)).each
        mean = replace(summary, low=None, high=None)
        return f"{claim.show_ours(mean)} (single runs {each}), n = {summary.n}"
    return f"{claim.show_ours(summary)}, n = {summary.n}"


def _would_count(row: Row) -> str:
    """The smallest difference that would not have counted as agreement."""
    found = row.outcome.difference
    return f"; more than {in_units(row.claim, found.seen)} would have counted" if found and found.seen else ""


def _quoted(group: Iterable[Row]) -> str:
    """The numbers of other methods in one line: "CRU 3.94 ± 0.21 ×10⁻³; S5 ..." """
    return "; ".join(f"{cell_name(row.claim)} {row.claim.show()}" for row in group if row.claim.quoted)


def scoreboard_text(experiments: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The scoreboard for a terminal. ValueError for an unknown experiment."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    found = joined(loaded, experiments)
    lines = []
    if not experiments:
        for claim in all_judged(found):
            lines.append(f"{MARKS[claim.status]} {claim.status:<15} {claim.statement.title}: {claim.result}")
            lines += textwrap.wrap(claim.statement.sentence, 110, initial_indent=" " * 18, subsequent_indent=" " * 18)
        lines.append("")
    for heading, group in by_table(found).items():
        lines += [heading, "-" * len(heading)]
        for row in (row for row in group if not row.claim.quoted):
            status = f"{MARKS[row.outcome.status]} {status_words(row)}"
            ours = our_text(row.ours, row.claim) + (f" ({row.tier})" if row.tier not in ("", "paper") else "")
            lines.append(f"  {status:<17} {cell_name(row.claim):<44} paper {row.claim.show():<20} {ours}".rstrip())
            if row.own:
                lines.append(f"  {'':<17} {'  with our settings':<44} {'':<26} {our_text(row.own, row.claim)}")
            if row.tier == "paper":
                lines += textwrap.wrap(row.outcome.reason + _would_count(row), 138, initial_indent=" " * 22,
                                       subsequent_indent=" " * 22)
        if quoted := _quoted(group):
            lines += textwrap.wrap(quoted, 110, initial_indent="  quoted by the paper: ", subsequent_indent=" " * 23)
        commands = (line for row in group for c in (row.command, row.own_command) for line in c.splitlines())
        lines += [f"    $ {line}" for line in dict.fromkeys(commands)] + [""]
    if problems := problem_lines(loaded, root):
        lines += ["Not used:", *(f"  {line}" for line in problems), ""]
    lines += [] if experiments else [claims_line(all_judged(found))]
    return "\n".join([*lines, *textwrap.wrap(summary_line(found), 138)])

"""Every claim of the paper, our recorded result beside it, and the verdict: python -m romae_lite report.

Joins CLAIMS with the records under results/; holds no number of its own.
"""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .claims import CLAIMS, STATUSES, Claim, Verdict, verdict
from .planned import Planned, command_of
from .records import Loaded, Record, load_all, results_dir, select
from .subjects import EXPERIMENTS, experiment
from .summary import Summary, summarise

MARKS = dict(zip(STATUSES, ("✓", "≈", "✗", "–", "?", "“”"), strict=True))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One claim and what our records say about it."""

    claim: Claim
    verdict: Verdict
    ours: Summary | None  # the paper's protocol; where there is none, a reduced run, which gives no verdict
    own: Summary | None  # our own settings on the whole data set: shown beside, never judged
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
    # code that no commit has cannot be run again; records older than this rule name no numerics and still count
    found = [r for r in found if not (r.commit.endswith("+") and "numerics" in r.versions)]
    paper, own, reduced = (_one_setting(found, tier) for tier in ("paper", "own", "reduced"))
    ours = paper or reduced
    judged = verdict(claim, _summary(paper, claim))
    planned = "" if claim.quoted or paper else _planned_command(claim)
    return Row(
        claim=claim, verdict=judged, ours=_summary(ours, claim), own=_summary(own, claim),
        tier=ours[0].tier if ours else "", own_command=_command(own),
        command="\n".join(command for command in (_command(ours), planned) if command),
    )  # fmt: skip


def _one_setting(records: Iterable[Record], tier: str) -> list[Record]:
    """Records of one tier that differ in nothing but the seed, one per seed.

    Where several settings were recorded: the preset named like the tier or "best", then the one with most seeds; the
    result never decides.
    """
    groups: dict[tuple, dict[int, Record]] = {}
    for record in (r for r in records if r.tier == tier):
        setting = experiment(record.experiment).protocol(record.config)
        key = (record.preset not in (tier, "best"), record.preset, repr(sorted(setting.items())))
        groups.setdefault(key, {}).setdefault(record.seed, record)
    chosen = min(groups, key=lambda key: (key[0], -len(groups[key]), key), default=None)
    return [] if chosen is None else list(groups[chosen].values())


def _summary(records: Sequence[Record], claim: Claim) -> Summary | None:
    return summarise(record.metrics[claim.metric] for record in records) if records else None


def _planned_command(claim: Claim) -> str:
    """What would record the paper's protocol, or "" where this version has no such experiment."""
    if claim.experiment not in EXPERIMENTS:
        return ""
    wishes = EXPERIMENTS[claim.experiment].campaign
    seeds = range(max((count for preset, count, *_ in wishes if preset == "paper"), default=1))
    paper = EXPERIMENTS[claim.experiment].paper()
    changes = tuple((key, value) for key, value in claim.where.items() if getattr(paper, key) != value)
    return Planned(experiment=claim.experiment, preset="paper", seed=0, overrides=changes).command_for(seeds)


def _command(records: Iterable[Record]) -> str:
    return command_of(record.planned for record in records)


# Text and HTML --------------------------------------------------------------------------------------------------------


def summary_line(rows: Iterable[Row]) -> str:
    """How many claims were run, and how they fared."""
    counts = Counter(row.verdict.status for row in rows)
    good, close, bad = (counts[status] for status in STATUSES[:3])
    total = good + close + bad + counts["not run"]
    line = f"{good + close + bad} of {total} claims run: {good} reproduced, {close} close, {bad} not reproduced."
    if counts["unknown"]:
        line += f" {counts['unknown']} more could not be read in the paper."
    return line


def problem_lines(loaded: Loaded, root: Path) -> list[str]:
    """Files under results/ that were not used, by name, with the reason."""
    lines = []
    for path, reason in loaded.problems:
        where = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        lines.append(f"{where}: {reason}")
    for record in loaded.records:
        name = f"{record.experiment}/{record.path.name}"
        wanted = {c.metric for c in CLAIMS if c.experiment == record.experiment}
        if not wanted:
            lines.append(f"{name}: the paper makes no claim about {record.experiment!r}")
        elif not wanted & set(record.metrics):
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


def our_text(summary: Summary | None, claim: Claim) -> str:
    return "" if summary is None else f"{claim.show_ours(summary)}, n = {summary.n}"


def _quoted(group: Iterable[Row]) -> str:
    """The numbers of other methods in one line: "CRU 3.94 ± 0.21 ×10⁻³; S5 ..." """
    return "; ".join(f"{cell_name(row.claim)} {row.claim.show()}" for row in group if row.claim.quoted)


def scoreboard_text(experiments: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The scoreboard for a terminal. ValueError for an unknown experiment."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    found = joined(loaded, experiments)
    lines = []
    for heading, group in by_table(found).items():
        lines += [heading, "-" * len(heading)]
        for row in (row for row in group if not row.claim.quoted):
            status = f"{MARKS[row.verdict.status]} {row.verdict.status}"
            ours = our_text(row.ours, row.claim) + (f" ({row.tier})" if row.tier not in ("", "paper") else "")
            lines.append(f"  {status:<17} {cell_name(row.claim):<44} paper {row.claim.show():<20} {ours}".rstrip())
            if row.own:
                lines.append(f"  {'':<17} {'  with our settings':<44} {'':<26} {our_text(row.own, row.claim)}")
        if quoted := _quoted(group):
            lines += textwrap.wrap(quoted, 110, initial_indent="  quoted by the paper: ", subsequent_indent=" " * 23)
        commands = (line for row in group for c in (row.command, row.own_command) for line in c.splitlines())
        lines += [f"    $ {line}" for line in dict.fromkeys(commands)] + [""]
    if problems := problem_lines(loaded, root):
        lines += ["Not used:", *(f"  {line}" for line in problems), ""]
    return "\n".join([*lines, summary_line(found)])

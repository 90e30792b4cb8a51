"""The scoreboard: every claim of the paper, our recorded result beside it, and the verdict.

    python -m romae_lite report             as text
    {scoreboard} in the book                as HTML

Joins `paper.CLAIMS` with the records under results/; holds no number of its own.
"""

import html
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..lab.claims import CLAIMS, SOURCES, STATUSES, Claim, Verdict, verdict
from ..lab.planned import Planned, command_of
from ..lab.records import Loaded, Record, load_all, results_dir, select
from ..lab.subjects import EXPERIMENTS, experiment
from ..lab.summary import Summary, summarise

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
    return _rows(load_all(root), experiments)


def _rows(loaded: Loaded, experiments: Sequence[str] | None) -> list[Row]:
    known = dict.fromkeys(claim.experiment for claim in CLAIMS)
    for name in experiments or ():
        if name not in known:
            raise ValueError(f"experiment is {name!r}; the paper's claims are about {', '.join(known)}")
    return [_row(claim, loaded.records) for claim in CLAIMS if not experiments or claim.experiment in experiments]


def _row(claim: Claim, records: Iterable[Record]) -> Row:
    found = [] if claim.quoted else select(records, claim.experiment, where=claim.where)
    found = [r for r in found if claim.metric in r.metrics and r.config.get("source") != "simulated"]
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


def _tables(rows: Iterable[Row]) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {}
    for row in rows:
        tables.setdefault(f"{row.claim.table} · {row.claim.title}", []).append(row)
    return tables


def _name(claim: Claim) -> str:
    """Row and column, unless the title names the column already."""
    return claim.row if claim.column.lower() in claim.title.lower() else f"{claim.row}, {claim.column}"


def _ours(summary: Summary | None, claim: Claim) -> str:
    return "" if summary is None else f"{claim.show_ours(summary)}, n = {summary.n}"


def _quoted(group: Iterable[Row]) -> str:
    """The numbers of other methods in one line: "CRU 3.94 ± 0.21 ×10⁻³; S5 ..." """
    return "; ".join(f"{_name(row.claim)} {row.claim.show()}" for row in group if row.claim.quoted)


def scoreboard_text(experiments: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The scoreboard for a terminal. ValueError for an unknown experiment."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    found = _rows(loaded, experiments)
    lines = []
    for heading, group in _tables(found).items():
        lines += [heading, "-" * len(heading)]
        for row in (row for row in group if not row.claim.quoted):
            status = f"{MARKS[row.verdict.status]} {row.verdict.status}"
            ours = _ours(row.ours, row.claim) + (f" ({row.tier})" if row.tier not in ("", "paper") else "")
            lines.append(f"  {status:<17} {_name(row.claim):<44} paper {row.claim.show():<20} {ours}".rstrip())
            if row.own:
                lines.append(f"  {'':<17} {'  with our settings':<44} {'':<26} {_ours(row.own, row.claim)}")
        if quoted := _quoted(group):
            lines += textwrap.wrap(quoted, 110, initial_indent="  quoted by the paper: ", subsequent_indent=" " * 23)
        commands = (line for row in group for c in (row.command, row.own_command) for line in c.splitlines())
        lines += [f"    $ {line}" for line in dict.fromkeys(commands)] + [""]
    if problems := problem_lines(loaded, root):
        lines += ["Not used:", *(f"  {line}" for line in problems), ""]
    return "\n".join([*lines, summary_line(found)])


# Every colour is the page's own: currentColor, or the theme's variables. A verdict is a word and a sign, then a colour.
STYLE = """
.romae-scoreboard{--good:var(--pst-color-success,#1a7f37);--near:var(--pst-color-warning,#9a6700);
 --bad:var(--pst-color-danger,#c62828);--line:color-mix(in srgb,currentColor 20%,transparent)}
.romae-scoreboard .wide{overflow-x:auto}
.romae-scoreboard table{border-collapse:collapse;width:100%;font-size:.88em;color:inherit;background:none;margin:0}
.romae-scoreboard caption{caption-side:top;text-align:left;font-weight:600;font-size:1.1em;color:inherit;
 padding:2em 0 .3em}
.romae-scoreboard :is(th,td){padding:.4em .9em .4em .45em;text-align:left;vertical-align:top;background:none;
 color:inherit;border:0!important;border-bottom:1px solid var(--line)!important}
.romae-scoreboard thead th{font-weight:600;opacity:.8}
.romae-scoreboard tbody th{font-weight:400}
.romae-scoreboard td{font-variant-numeric:tabular-nums}
.romae-scoreboard .number{white-space:nowrap}
.romae-scoreboard .own{font-size:.9em;display:block}
.romae-scoreboard .source{font-size:.8em;opacity:.8}
.romae-scoreboard .note{font-size:.8em;line-height:1.45;opacity:.85;margin:.5em 0 0;padding:0}
.romae-scoreboard code{font-size:.85em;color:inherit;background:none;border:0;padding:0;overflow-wrap:anywhere}
.romae-scoreboard summary{cursor:pointer}
.romae-chip{display:inline-block;white-space:nowrap;padding:0 .6em;border-radius:1em;
 border:1.5px solid var(--tone,var(--line));background:color-mix(in srgb,var(--tone,transparent) 14%,transparent)}
.romae-chip.reproduced{--tone:var(--good)}.romae-chip.close{--tone:var(--near)}.romae-chip.not-reproduced{--tone:var(--bad)}
.romae-scoreboard .summary{font-size:1.15em;font-weight:600}
@media (max-width:640px){
.romae-scoreboard :is(table,caption,tbody,tr,tbody th,td){display:block;width:auto}
.romae-scoreboard thead{display:none}
.romae-scoreboard tr{border-bottom:1px solid var(--line);padding:.6em 0}
.romae-scoreboard :is(tbody th,td){border:0!important;padding:.1em .45em;white-space:normal}
.romae-scoreboard tbody th{font-weight:600}
.romae-scoreboard td:empty{display:none}
.romae-scoreboard td[data-label]::before{content:attr(data-label) ": ";opacity:.8}
}
"""


def scoreboard_html(experiments: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The scoreboard for the book, as one self-contained block. ValueError for an unknown experiment."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    found = _rows(loaded, experiments)
    parts = [f'<div class="romae-scoreboard"><style>{STYLE}</style><p class="summary">{summary_line(found)}</p>']
    if problems := problem_lines(loaded, root):
        items = "".join(f"<li><code>{_text(line)}</code></li>" for line in problems)
        parts.append(f'<div role="note"><p>Files under results/ that were not used:</p><ul>{items}</ul></div>')
    heads = ("Claim", "Verdict", "Paper", "Ours: mean [95 % interval], runs", "Tier", "Command")
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    for heading, group in _tables(found).items():
        notes = list(dict.fromkeys(row.claim.note for row in group if row.claim.note))
        body = "".join(_html_row(row, notes) for row in group if not row.claim.quoted)
        parts.append(
            f'<div class="wide"><table class="dataframe"><caption>{_text(heading)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )
        if quoted := "; ".join(_html_quoted(row.claim, notes) for row in group if row.claim.quoted):
            parts.append(f'<p class="note">Quoted by the paper from elsewhere: {quoted}.</p>')
        parts += [f'<p class="note">({chr(96 + i)}) {_text(note)}</p>' for i, note in enumerate(notes, 1)]
    used = {row.claim.source for row in found}
    legend = "; ".join(f"[{tag}] {_text(meaning)}" for tag, meaning in SOURCES.items() if tag in used)
    parts.append(f'<p class="note">Where the paper\'s numbers were seen: {legend}.</p></div>')
    return "\n".join(parts)


def _html_quoted(claim: Claim, notes: list[str]) -> str:
    return f"{_text(_name(claim))} {_text(claim.show())}{_html_mark(claim, notes)}"


def _html_mark(claim: Claim, notes: list[str]) -> str:
    # letters in brackets: a raised number behind "×10⁻³" would read as a part of the exponent
    return f" <small>({chr(97 + notes.index(claim.note))})</small>" if claim.note else ""


def _html_row(row: Row, notes: list[str]) -> str:
    claim, status = row.claim, row.verdict.status
    chip = (
        f'<span class="romae-chip {status.replace(" ", "-")}" title="{_text(row.verdict.reason)}">'
        f'<span aria-hidden="true">{MARKS[status]}</span> {status}</span>'
    )
    own = f'<span class="own">with our settings: {_text(_ours(row.own, claim))}</span>' if row.own else ""
    commands = [line for command in (row.command, row.own_command) for line in command.splitlines()]
    command = "<br>".join(f"<code>{_text(line)}</code>" for line in commands)
    if command:
        command = f"<details><summary>show</summary>{command}</details>"
    elif claim.value is not None:
        command = "planned"
    cells = (
        ("", "", chip),
        ("Paper", "number", f'{_text(claim.show())} <span class="source">[{_text(claim.source)}]</span>'),
        ("Ours", "", _text(_ours(row.ours, claim)) + own),
        ("Tier", "", row.tier),
        ("Command", "", command),
    )
    body = "".join(
        f'<td class="{style}"{f" data-label={label}" if label else ""}>{cell}</td>' for label, style, cell in cells
    )
    mark = _html_mark(claim, notes)
    return f'<tr id="{_text(claim.id)}"><th scope="row">{_text(_name(claim))}{mark}</th>{body}</tr>'


def _text(text: str) -> str:
    return html.escape(text, quote=True)

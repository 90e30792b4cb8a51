"""The page of the scoreboard: every claim of the paper as a row of one picture, its numbers folded under it.

{scoreboard} in the book. Plain HTML that opens and closes without a script; `book/_static/scoreboard.js` adds the
filter and the tabs. `lab.report` and `lab.statements` say what is in it.
"""

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from romae_book.cli.verify import ELSEWHERE, noted_of
from romae_book.cli.verify import name_of as name_of_record
from romae_book.experiments import experiments
from romae_book.lab.records import Record, load_all, results_dir
from romae_book.lab.summary import Summary
from romae_book.palette import colour_css
from romae_book.paper.claim import SOURCES, Claim
from romae_book.paper.outcomes import LEAST, in_units, lost
from romae_book.paper.report import (
    MARKS,
    Row,
    by_table,
    cell_name,
    claims_line,
    joined,
    our_text,
    problem_lines,
    status_words,
    summary_line,
    summary_of,
)
from romae_book.paper.statements import Judged, all_judged, forced_cells, name_of
from romae_lite.training import NUMERICS

from . import deviations
from .lab_record import budget_words, commit_words, show

OCTAVES = 5  # the axis goes from 1/32 to 32
TICKS = ((1 / 32, "1/32"), (1 / 8, "1/8"), (1 / 2, "½"), (1, "1"), (2, "2"), (8, "8"), (32, "32"))
BUDGETS: dict[tuple[str, int], str] = {}  # by command and length of the history
SECOND_TAB = ("App. B.4", "Table 8")

# Every colour is the page's own: currentColor, the theme's variables, or the palette's.
CHIP = """
.romae-chip{display:inline-block;white-space:nowrap;padding:0 .6em;border-radius:1em;font-size:.92em;
 border:1.5px solid var(--tone,var(--line));background:color-mix(in srgb,var(--tone,transparent) 14%,transparent)}
.romae-chip:is(.agrees,.better){--tone:var(--pst-color-success,#1a7f37)}
.romae-chip:is(.worse,.differs){--tone:var(--pst-color-danger,#c62828)}
.romae-chip:is(.not-comparable,.undecided){--tone:var(--pst-color-warning,#9a6700)}
"""
STYLE = (
    CHIP
    + """
.romae-board{--line:color-mix(in srgb,currentColor 20%,transparent);font-family:var(--romae-sans,sans-serif);
 font-size:.92em;margin:0 0 2em}
.romae-board .whole{font-size:1.25em;font-weight:650;margin:.2em 0}
.romae-board .small{font-size:.86em;opacity:.85;margin:.3em 0}
.romae-board :is(.head,.grid){display:grid;grid-template-columns:13rem 8rem minmax(0,1fr);gap:.3rem .9rem;
 align-items:center}
.romae-board .head{position:sticky;top:var(--pst-header-article-height,3em);z-index:2;font-size:.84em;
 background:var(--pst-color-background,Canvas);padding:.5em 0 .35em;border-bottom:1.5px solid currentColor}
.romae-board details{margin:0}
.romae-board summary{cursor:pointer;list-style:none}
.romae-board summary::-webkit-details-marker{display:none}
.romae-board summary:focus-visible{outline:2.5px solid var(--romae-blue);outline-offset:1px;border-radius:.3em}
.romae-board .row{border-bottom:1px solid var(--line)}
.romae-board .row>summary{padding:.5em 0}
.romae-board .row>summary:hover{background:color-mix(in srgb,currentColor 5%,transparent)}
.romae-board .name::before{content:"▸";display:inline-block;text-indent:0;width:1.1em;font-size:.85em;opacity:.7}
.romae-board [open]>summary .name::before{content:"▾"}
.romae-board .claim>summary .name{font-weight:620;padding-left:1.1em;text-indent:-.94em}
.romae-board .body{padding:.1em 0 1em 1.1em}
.romae-board .body p{margin:.35em 0;line-height:1.5}
.romae-board .share{display:block;font-size:.8em;opacity:.8;padding:.15em 0 0 .6em}
.romae-board .cell{border-top:1px solid var(--line)}
.romae-board .cell>summary{padding:.35em 0;font-size:.94em}
.romae-board .cells{margin:.6em 0 0 -1.1em}
.romae-board .cell .name{padding-left:1.1em}
.romae-board ul.leads{margin:.4em 0;padding-left:1.1em;font-size:.92em}
.romae-board ul.leads li{margin:.25em 0;line-height:1.45}
.romae-board .numbers{grid-column:1/-1;font-size:.92em;opacity:.9;padding-left:1.3em;font-variant-numeric:tabular-nums}
.romae-board dl{display:grid;grid-template-columns:minmax(6em,9em) 1fr;gap:.25em .9em;
 margin:.4em 0 .9em 1.2em;font-size:.88em}
.romae-board dt{font-family:inherit;font-size:1em;font-weight:600;margin:0}
.romae-board dd{margin:0;line-height:1.45;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.romae-board code{font-size:.92em;color:inherit;background:none;border:0;padding:0;overflow-wrap:anywhere}
.romae-board h3.tab{font-size:1.1em;margin:1.6em 0 .4em}
.romae-board .group{font-weight:600;margin:1.3em 0 .2em}
.romae-strip{position:relative;display:block;height:1.5rem;margin-inline:.8rem}
.romae-strip>*{position:absolute;top:50%}
.romae-strip .base{left:0;right:0;border-top:1px solid var(--line)}
.romae-strip .one{left:50%;top:0;bottom:0;border-left:1.5px solid var(--romae-purple)}
.romae-strip .spread{height:.95em;transform:translateY(-50%);min-width:3px;border-radius:2px;opacity:.35;
 background:var(--romae-purple)}
.romae-strip .interval{border-top:2.5px solid var(--romae-blue);transform:translateY(-50%);min-width:2px}
.romae-strip .dot{width:.72em;height:.72em;border-radius:50%;border:2px solid var(--romae-blue);
 background:var(--romae-blue);transform:translate(-50%,-50%)}
.romae-strip .own{background:var(--pst-color-background,Canvas)}
.romae-strip .clip{border:0;border-radius:0;width:.9em;height:.9em;clip-path:polygon(0 50%,100% 0,100% 100%)}
.romae-strip .clip.far{clip-path:polygon(100% 50%,0 0,0 100%)}
.romae-strip .clip.own{background:color-mix(in srgb,var(--romae-blue) 35%,var(--pst-color-background,Canvas))}
.romae-strip .interval.own{opacity:.45}
.romae-strip .tick{height:1.1em;border-left:2.5px solid;transform:translate(-50%,-50%)}
.romae-strip .optimum{color:var(--romae-vermillion);border-left-style:dashed}
.romae-strip .opponent{color:var(--romae-green)}
.romae-strip .quoted{color:var(--romae-purple);border-left-style:dotted}
.romae-axis{position:relative;height:1.2em;margin-inline:.8rem;font-variant-numeric:tabular-nums}
.romae-axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.romae-key{display:flex;flex-wrap:wrap;gap:.25em 1.2em;font-size:.84em;margin:.7em 0}
.romae-key>span{display:inline-flex;align-items:center;gap:.45em}
.romae-key .romae-strip{width:2.2em;height:1.1em;margin:0;flex:none}
.romae-tools{display:flex;flex-wrap:wrap;gap:.5em 1em;align-items:end;font-size:.9em;margin:1em 0 .4em}
.romae-tools label{display:grid;gap:.15em}
.romae-tools :is(select,button){font:inherit;color:inherit;background:transparent;border:1px solid var(--line);
 border-radius:.35em;padding:.3em .6em;max-width:100%;min-height:2.2em}
.romae-tools option{color:initial;background:initial}
.romae-tools button{cursor:pointer}
.romae-tools [role=tablist]{display:flex;flex-basis:100%;gap:.4em;border-bottom:1px solid var(--line);overflow-x:auto}
.romae-tools [role=tab]{border:0;border-bottom:3px solid transparent;border-radius:0;white-space:nowrap}
.romae-tools [role=tab][aria-selected=true]{border-bottom-color:var(--romae-blue);font-weight:620}
.romae-tools :focus-visible{outline:2.5px solid var(--romae-blue);outline-offset:1px}
.romae-board.scripted h3.tab{display:none}
.romae-board [hidden]{display:none!important}
@media (max-width:760px){
.romae-board :is(.head,.grid){grid-template-columns:1fr auto}
.romae-board .grid>.romae-strip{grid-column:1/-1}
.romae-board .head>span:not(.romae-axis){display:none}
.romae-board .share{text-align:right;padding-right:.6em}
.romae-board .head>.romae-axis{grid-column:1/-1}
.romae-board .body{padding-left:.3em}
.romae-board .cells{margin-left:-.3em}
.romae-board .cell .name{padding-left:.3em}
.romae-board dl{grid-template-columns:1fr;gap:.05em;margin-left:.3em}
.romae-board dd{margin:0 0 .5em}
}
@media print{.romae-tools{display:none}.romae-board .head{position:static}
.romae-board section[hidden]{display:block!important}.romae-board.scripted h3.tab{display:block}}
"""
)


def board_html(root: Path | None = None, script: str = "", pages: str = "") -> str:
    """The whole scoreboard. script: address of what filters it in the page; pages: folder of the book's other pages, as
    seen from this one."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    rows = joined(loaded, None)
    claims = all_judged(rows)
    by_id = {row.claim.id: row for row in rows}
    drawn: set[str] = set()

    def cells(ids: Iterable[str]) -> str:
        new = [name for name in dict.fromkeys(ids) if name not in drawn and by_id[name].claim.table not in SECOND_TAB]
        drawn.update(new)
        body = "".join(_cell(by_id[name], rows, pages) for name in new)
        return f'<div class="cells">{body}</div>' if body else ""

    parts = [
        f'<div class="romae-board"><style>{colour_css(".romae-board")}{STYLE}</style>',
        f'<p class="whole">{_text(claims_line(claims))}</p><p class="small">{_text(summary_line(rows))}</p>',
        _key(),
        '<section data-tab="The claims"><h3 class="tab">The claims</h3>', _head(),
        *(_claim(claim, by_id, cells) for claim in claims), "</section>",
        '<section data-tab="Appendix B.4 and counts"><h3 class="tab">Appendix B.4 and counts of parameters</h3>',
        '<p class="small">Appendix B.4 scores one checkpoint at many frequencies; its numbers describe what is lost. '
        "Counts of parameters are arithmetic: counted as the paper counts them.</p>", _head("Number"),
    ]
    for heading, group in by_table(rows).items():
        left = [row for row in group if not row.claim.quoted and row.claim.id not in drawn]
        if left:
            parts.append(f'<p class="group">{_text(heading)}</p>')
            parts += [_cell(row, rows, pages, "row") for row in left]
    used = {row.claim.source for row in rows}
    legend = "; ".join(f"[{tag}] {_text(meaning)}" for tag, meaning in SOURCES.items() if tag in used)
    parts.append(f'</section><p class="small">Where the paper\'s numbers were seen: {legend}.</p>')
    parts += [_verified(loaded.records, rows, root), _numerics(loaded.records, rows), _problems(loaded, root), "</div>"]
    if script:
        parts.append(f'<script src="{script}" defer></script>')
    return "\n".join(part for part in parts if part)


# The picture ----------------------------------------------------------------------------------------------------------


def relative(claim: Claim, value: float) -> float:
    """A score in units of the paper's: the ratio of errors, of what is missing to 1 where the score is a share of
    cases, of what is above the noise where the claim names it; of the numbers themselves where they describe."""
    return lost(claim, value) / lost(claim, claim.value)


def place(ratio: float) -> float:
    """Per cent of the axis, which is logarithmic; what lies beyond its ends is put there."""
    octaves = math.log2(ratio) if ratio > 0 else -math.inf
    return 50 + 50 * min(max(octaves / OCTAVES, -1.0), 1.0)


def _dot(claim: Claim, summary: Summary, style: str, words: str) -> tuple[str, str]:
    """The interval and the mark of a mean, and what it says."""
    at = relative(claim, summary.mean)
    said = f"{words} {_ratio(at)}"
    line = ""
    if summary.low is not None:
        ends = sorted(relative(claim, end) for end in (summary.low, summary.high))
        left, right = map(place, ends)
        line = f'<span class="interval{style}" style="left:{left:.1f}%;width:{right - left:.1f}%"></span>'
        said += f" [{_ratio(ends[0])}, {_ratio(ends[1])}]"
    beyond = " clip" * (at < 2**-OCTAVES) + " clip far" * (at > 2**OCTAVES)
    return f'{line}<span class="dot{style}{beyond}" style="left:{place(at):.1f}%" title="{_text(said)}"></span>', said


def _ratio(x: float) -> str:
    return f"{x:.2g} ×" if x < 100 else f"{x:.0f} ×"


def _strip(rows: Iterable[Row], quoted: Mapping[str, Claim] | None = None) -> str:
    """The marks of some numbers on one line. Of several, spreads and ticks are left out: they are in their own rows."""
    rows = [row for row in rows if row.claim.value is not None]
    alone = len(rows) == 1
    inside, said = ['<span class="base"></span>'], []
    for row in rows:
        claim = row.claim
        if alone and claim.std:
            ends = sorted(relative(claim, claim.value + k * claim.std) for k in (-1, 1))
            left, right = map(place, ends)
            inside.append(
                f'<span class="spread" style="left:{left:.1f}%;width:{right - left:.1f}%" '
                f'title="the paper\'s spread over runs: {_ratio(ends[0])} to {_ratio(ends[1])}"></span>'
            )
            said.append(f"the paper's spread {_ratio(ends[0])} to {_ratio(ends[1])}")
        if alone:
            for style, name, value in _others(row, quoted or {}):
                at = relative(claim, value)
                words = f"{name}: {_ratio(at)}"
                inside.append(f'<span class="tick {style}"{_at(at)} title="{_text(words)}"></span>')
                said.append(words)
    inside.append('<span class="one"></span>')
    for row in rows:
        before = "" if alone else f"{cell_name(row.claim)}, "
        if row.own:
            mark, words = _dot(row.claim, row.own, " own", f"{before}our own settings")
            inside.append(mark)
            said.append(words)
    for row in rows:
        before = "" if alone else f"{cell_name(row.claim)}, "
        if row.tier == "paper":
            mark, words = _dot(row.claim, row.ours, "", f"{before}ours with the paper's settings")
            inside.append(mark)
            said.append(words)
    label = _text("Relative to the paper: " + ("; ".join(said) or "nothing recorded"))
    return f'<span class="romae-strip" role="img" aria-label="{label}">{"".join(inside)}</span>'


def _at(ratio: float) -> str:
    return f' style="left:{place(ratio):.1f}%"'


def _others(row: Row, quoted: Mapping[str, Claim]) -> list[tuple[str, str, float]]:
    """Ticks: the best of the quoted methods, the best possible, the strongest opponent."""
    claim, found = row.claim, []
    records = row.records if row.tier == "paper" else row.own_records
    for style, name, suffix in (
        ("optimum", "best possible", claim.optimum), ("opponent", "strongest opponent", claim.opponent)
    ):
        summary = summary_of(records, f"{claim.metric}_{suffix}") if suffix else None
        if summary:
            found.append((style, f"{name} ({suffix})", summary.mean))
    if best := quoted.get(claim.id):
        found.append(("quoted", f"best quoted ({cell_name(best)})", best.value))
    return found


def best_quoted(claim: Claim, rows: Iterable[Row]) -> Claim | None:
    """The best of the other methods' numbers that the paper sets beside this one: same table, same task. None where
    they are in another unit, or there are none."""
    others = [
        row.claim for row in rows
        if row.claim.quoted and row.claim.table == claim.table and row.claim.metric == claim.metric
        and (row.claim.column == claim.column or row.claim.row == claim.row or not row.claim.column)
        and not row.claim.not_comparable
    ]
    sign = -1 if claim.better == "higher" else 1
    return min(others, key=lambda other: sign * other.value, default=None)


def _head(what: str = "Claim") -> str:
    ticks = "".join(f'<span style="left:{place(ratio):.1f}%">{name}</span>' for ratio, name in TICKS)
    return (
        f'<div class="head" aria-hidden="true"><span>{what}</span><span>Outcome</span>'
        f'<span class="romae-axis">{ticks}</span></div>'
    )


def _key() -> str:
    def one(inside: str, words: str) -> str:
        strip = f'<span class="romae-strip" aria-hidden="true"><span class="base"></span>{inside}</span>'
        return f"<span>{strip}{words}</span>"

    at = 'style="left:50%"'
    items = (
        one('<span class="one"></span><span class="spread" style="left:25%;width:50%"></span>',
            "the paper, and its spread over runs"),
        one(f'<span class="interval" style="left:15%;width:70%"></span><span class="dot" {at}></span>',
            "ours, with the paper's settings; 95 % interval"),
        one(f'<span class="dot own" {at}></span>', "ours, with settings of our own: never judged"),
        one(f'<span class="tick quoted" {at}></span>', "best of the methods that the paper quotes"),
        one(f'<span class="tick opponent" {at}></span>', "strongest opponent that we ran"),
        one(f'<span class="tick optimum" {at}></span>', "best possible"),
    )
    return (
        f'<div class="romae-key">{"".join(items)}</div><details class="small how"><summary><span class="name">'
        "The axis: our error over the paper’s; left of 1 is better</span></summary><p>For accuracies and F-scores the "
        "error is what is missing to 1; where targets are noisy and the rule says so, what is above the noise. Where a "
        "number describes and does not score, the axis is the ratio of the two, and neither side is better. A triangle "
        "lies beyond the end of the axis. The row of a claim has the marks of all its numbers; the paper’s spread and "
        "other methods stand in the rows of the numbers.</p></details>"
    )


# Rows -----------------------------------------------------------------------------------------------------------------


def chip(status: str, reason: str = "", words: str = "") -> str:
    title = f' title="{_text(reason)}"' if reason else ""
    mark = f'<span aria-hidden="true">{MARKS[status]}</span>'
    return f'<span class="romae-chip {status.replace(" ", "-")}"{title}>{mark} {words or status}</span>'


def _claim(judged: Judged, by_id: Mapping[str, Row], cells) -> str:
    claim = judged.statement
    mine = [by_id[name] for name in claim.cells]
    leads = "".join(
        f"<li>{_text(piece.text)}: {chip(piece.outcome.status)} {_text(piece.outcome.reason)}</li>"
        for piece, named in zip(judged.evidence, claim.evidence, strict=True)
        if not isinstance(named, str)
    )
    leads = f'<ul class="leads">{leads}</ul>' if leads else ""
    numbers = [_text(name_of(by_id[cell].claim)) for cell in claim.evidence if isinstance(cell, str)]
    if numbers and len(numbers) < len(mine):
        leads += f'<p class="small">Of the numbers below these count as well: {"; ".join(numbers)}.</p>'
    shown = cells(claim.cells)
    if elsewhere := [row for row in mine if f'id="{row.claim.id}"' not in shown]:
        links = ", ".join(f'<a href="#{row.claim.id}">{_text(cell_name(row.claim))}</a>' for row in elsewhere)
        shown += f'<p class="small">Numbers that stand in another row: {links}.</p>'
    remark = f"<p>{_text(claim.remark)}</p>" if claim.remark else ""
    return (
        f'<details class="row claim" id="claim-{claim.id}" data-part="{claim.part}" data-outcome="{judged.status}">'
        f'<summary><span class="grid"><span class="name">{_text(claim.title)}</span><span>{chip(judged.status)} '
        f'<span class="share">{judged.share}</span></span>'
        f'{_strip(mine)}</span></summary><div class="body"><p><b>{_text(claim.sentence)}</b> '
        f"({_text(claim.source)})</p><p>{_text(judged.result)}</p>{remark}{leads}{shown}</div></details>"
    )


def _cell(row: Row, rows: Iterable[Row], pages: str, style: str = "cell") -> str:
    claim = row.claim
    best = best_quoted(claim, rows)
    numbers = f"the paper {claim.show()} [{claim.source}]"
    if row.ours:
        numbers += f" · ours {our_text(row.ours, claim)}" + (f" ({row.tier})" if row.tier != "paper" else "")
    if row.own:
        numbers += f" · own settings ({budget(row.own_records)}) {our_text(row.own, claim)}"
    name = cell_name(claim) if style == "row" else f"{claim.table}, {cell_name(claim)}"
    marked = chip(row.outcome.status, row.outcome.reason, status_words(row))
    return (
        f'<details class="{style}" id="{claim.id}" data-outcome="{row.outcome.status}"><summary><span class="grid">'
        f'<span class="name">{_text(name)}</span><span>{marked}</span>'
        f"{_strip([row], {claim.id: best} if best else {})}"
        f'<span class="numbers">{_text(numbers)}</span></span></summary>{_facts(row, best, pages)}</details>'
    )


def _facts(row: Row, best: Claim | None, pages: str) -> str:
    """What stands behind a number, as a list of terms."""
    claim, facts = row.claim, [("Outcome", _text(_sentence(row.outcome.reason)))]
    found = row.outcome.difference
    if found and found.seen:
        facts.append(("Would have counted", f"a difference of more than {_text(in_units(claim, found.seen))}"))
    if claim.note:
        facts.append(("The paper's number", _text(_sentence(claim.note))))
    if best:
        facts.append(("Best quoted", f"{_text(cell_name(best))}: {_text(best.show())}; under its own protocol"))
    for _, name, value in _others(row, {}):
        shown = claim.show_ours(Summary(value, None, None, 1, None, (value,)))
        facts.append((name.partition(" (")[0].capitalize(), f"{_text(name.partition(' (')[2][:-1])}: {_text(shown)}"))
    behind = (("Runs", row.records), ("With our settings", row.own_records))
    for title, records in behind:
        if records:
            facts.append((title, _runs(records)))
    if row.tier == "reduced":
        facts.append(("Reduced because", _text(_reduced(row))))
    if also := _also(row):
        facts.append(("Says more", _text(also)))
    if row.command or row.own_command:
        facts.append(("Commands", _commands(row)))
    if claim.margin_why:
        facts.append(("Margin", _text(_sentence(claim.margin_why))))
    if ids := _deviations(row):
        facts.append(("What differs", _differs(ids, pages)))
    facts.append(("What would change this", _change(row, pages)))
    if claim.experiment in experiments():
        link = f'<a href="{pages}lab/{claim.experiment}.html">settings and all runs of {claim.experiment}</a>'
        facts.append(("Lab record", link))
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts) + "</dl>"


def budget(records: Iterable[Record]) -> str:
    """What the model of our own settings saw, which belongs to its name wherever it is shown."""
    first = next(iter(records))
    key = (first.command, len(first.history))
    if key not in BUDGETS:  # a model is laid out for it, and several numbers share a run
        BUDGETS[key] = budget_words(first)
    return BUDGETS[key]


def _runs(records: Iterable[Record]) -> str:
    """n, seeds, tier, data, precision, device, cost, commits."""
    records = list(records)
    first = records[0]
    seeds = ", ".join(str(record.seed) for record in records)
    kinds = {f"{r.precision}, {r.device}" for r in records}
    seconds = sum(record.wall_seconds for record in records)
    commits = "; ".join(dict.fromkeys(commit_words(record.commit) for record in records))
    parts = [
        f"n = {len(records)} (seeds {seeds}), tier {first.tier}", budget(records), "; ".join(sorted(kinds)),
        f"{_time(seconds)} in all",
    ]
    return _text(f"{'; '.join(parts)}. Commits: {commits}.")


def _reduced(row: Row) -> str:
    """What of the paper's preset the shown runs change, as the settings are called."""
    changed = {k: v for r in row.records for k, v in r.planned.overrides if k not in row.claim.where}
    preset = row.records[0].preset
    return f"preset {preset}" + "".join(f"; {name}={show(value)}" for name, value in changed.items())


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _also(row: Row) -> str:
    """Other metrics of the same runs, with the strongest opponent's."""
    records, said = row.records if row.tier == "paper" else row.own_records, []
    for metric in row.claim.also:
        if mine := summary_of(records, metric):
            rival = summary_of(records, f"{metric}_{row.claim.opponent}")
            against = f" ({row.claim.opponent}: {rival.text()})" if rival else ""
            said.append(f"{metric} {mine.text()}{against}, n = {mine.n}")
    return "; ".join(said)


def _commands(row: Row) -> str:
    commands = dict.fromkeys(line for text in (row.command, row.own_command) for line in text.splitlines())
    return "<br>".join(f"<code>{_text(line)}</code>" for line in commands)


def _deviations(row: Row) -> list[str]:
    """Ids that the runs name, and those that were found in the experiment since they were made."""
    ids = {d for record in row.records for d in record.deviations}
    if row.claim.experiment in experiments():
        experiment = experiments()[row.claim.experiment]
        ids |= set(experiment.deviations)
        if row.tier == "paper":
            spared = experiment.free.items()
            ids -= {d for d, free in spared if all(free(record, row.claim.metric) for record in row.records)}
    return sorted(ids, key=lambda d: int(d[1:]))


@cache
def _known() -> dict[str, deviations.Deviation]:
    return {d.id: d for d in deviations.read(deviations.DEVIATIONS.read_text(encoding="utf-8"))}


def _differs(ids: Iterable[str], pages: str) -> str:
    links = (
        f'<a href="{pages}deviations.html#{d.lower()}">{d}</a> {deviations.inline(_known()[d].title)}' for d in ids
    )
    return "; ".join(links)


def _change(row: Row, pages: str) -> str:
    """What could turn the outcome."""
    status, claim = row.outcome.status, row.claim
    if status == "not comparable":
        targets = ", against targets that no typing error decides" if claim.experiment == "physionet" else ""
        return f"Scores of both sides on the same prepared data{targets}."
    if status == "unknown":
        return "A copy of the paper's figure with its numbers."
    if row.tier != "paper":
        if claim.experiment not in experiments():
            return _text(f"An experiment that is not in this version. It takes {claim.needs} (an estimate).")
        needs = f" It takes {claim.needs} (an estimate)." if claim.needs else ""
        return _text(f"A run of the paper's protocol, whose command stands above.{needs}")
    parts = []
    if row.claim.id in forced_cells():
        return "The number is forced by the input: another draw or range of positions, and nothing else."
    if row.ours.n < LEAST and not claim.is_count:
        parts.append(_text(f"More runs: an interval needs {LEAST}. {REPEATED}"))
    elif row.outcome.difference.half and row.ours.n < 10 and not claim.is_count:
        parts.append(_text(f"More runs would narrow the interval, which rests on {row.ours.n}."))
    flips = [d for d in _deviations(row) if _known()[d].answer != "no"]
    if flips:
        links = ", ".join(f'<a href="{pages}deviations.html#{d.lower()}">{d}</a>' for d in flips)
        parts.append(f"Of what differs, these could change it or nobody has measured them: {links}.")
    return " ".join(parts) or "Nothing that we know of."


OLDER = (
    "{older} of {all} records were made before two things changed that move numbers by more than rounding: streams of "
    "random numbers whose keys end in zeros, and the precision in which Muon makes its steps orthogonal. They stand as "
    "they were made, and cannot be repeated with today's code to the last digits: verify leaves them out."
)
REPEATED = (
    f"One run, repeated with its seed on another processor, came out up to {ELSEWHERE:.1%} apart: rounding grows in "
    "training."
)


def _verified(records: Sequence[Record], rows: Iterable[Row], root: Path) -> str:
    """The last time that records were run again, where anybody noted it of records as they stand."""
    named = noted_of(records, root)
    if not (notes := list(named.values())):
        return ""
    judged = {name_of_record(record) for row in rows if row.tier == "paper" for record in row.records}
    last = max(note["when"] for note in notes)[:10]
    fine = sum(bool(note.get("ok")) for note in notes)
    whole = sum("whole run" in note.get("compared", "") for note in notes)
    words = (
        f"Last verified {last}: {len(notes)} records were run again, {whole or 'none'} of them to the end and its "
        f"score, the others as far as the first entry of their history; {fine} came out within the tolerance"
    )
    largest = max((note["difference"] for note in notes if note.get("difference") is not None), default=None)
    if largest is not None:
        words += f", the largest relative difference {largest:.1e}" if largest else ", without any difference"
    among = len(judged & set(named))
    words += f". Of the {len(judged)} runs of the paper's protocol behind the numbers {among} are among them"
    return f'<p class="small">{_text(words)}. {_text(REPEATED)}</p>'


def _numerics(records: Sequence[Record], rows: Iterable[Row]) -> str:
    """How many records today's code can be held against, and which of the paper's numbers rest on others."""
    today = sum(record.numerics == NUMERICS for record in records)
    if today == len(records):
        return ""
    words = OLDER.format(older=len(records) - today, all=len(records))
    old = [row.claim for row in rows if row.tier == "paper" and any(r.numerics != NUMERICS for r in row.records)]
    if found := list(dict.fromkeys(f"{claim.table}, {cell_name(claim)}" for claim in old if not claim.is_count)):
        words += f" Runs of the paper's protocol among them: {'; '.join(found)}."
    return f'<p class="small">{_text(words)}</p>'


def _problems(loaded, root: Path) -> str:
    if not (problems := problem_lines(loaded, root)):
        return ""
    items = "".join(f"<li><code>{_text(line)}</code></li>" for line in problems)
    words = f"Files under results/ that were not used: {len(problems)}"
    return f'<details class="small"><summary><span class="name">{words}</span></summary><ul>{items}</ul></details>'


def _sentence(text: str) -> str:
    """A capital and a stop."""
    return text[:1].upper() + text[1:].removesuffix(".") + "."


def _text(text: str) -> str:
    return html.escape(str(text), quote=True)


# The rule -------------------------------------------------------------------------------------------------------------


def margins_html() -> str:
    """The margins with their reasons, from the claims."""
    from romae_book.paper.claims import CLAIMS

    kinds: dict[tuple[str, str], list[str]] = {}
    for claim in CLAIMS:
        if claim.quoted or claim.value is None:
            continue
        size = f"{100 * claim.margin_share:g} %" if claim.margin_share else "0"
        if claim.margin:
            size = f"{claim.margin / 10**claim.exponent:g} {claim.unit}".strip()
        kinds.setdefault((size, claim.margin_why), []).append(claim.table)
    body = "".join(
        f'<tr><th scope="row">{_text(", ".join(dict.fromkeys(tables)))}</th><td>{_text(size)}</td>'
        f"<td>{_text(_sentence(why))}</td></tr>"
        for (size, why), tables in kinds.items()
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Where", "Margin", "Why so much"))
    return _table(head, body)


def before_html(root: Path | None = None) -> str:
    """What the rule before this one says of the same runs, number by number."""
    rows = [row for row in joined(load_all(root or results_dir()), None) if row.before]
    body = "".join(
        f'<tr><th scope="row">{_text(f"{row.claim.table}, {cell_name(row.claim)}")}</th><td>{_text(row.before)}</td>'
        f"<td>{chip(row.outcome.status)}</td></tr>"
        for row in rows
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Number", "Rule of 21 November 2026", "Rule now"))
    words = f"The same {len(rows)} numbers by the rule before: {_old_counts(rows)}"
    return f'<details class="romae-before"><summary>{_text(words)}</summary>{_table(head, body)}</details>'


def _old_counts(rows: Iterable[Row]) -> str:
    found, words = [row.before for row in rows], ("reproduced", "close", "not reproduced")
    return ", ".join(f"{found.count(word)} {word}" for word in words if word in found)


def _table(head: str, body: str) -> str:
    from .lab_record import STYLE as TABLE

    return (
        f'<div class="romae-lab"><style>{TABLE}{CHIP}</style><div class="wide" tabindex="0" role="region" '
        f'aria-label="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>'
    )

"""The paper's numbers and ours in a table, of some experiments, for a chapter. The scoreboard's page is `board`."""

import html
from collections.abc import Sequence
from pathlib import Path

from ..lab.claims import SOURCES, Claim
from ..lab.records import load_all, results_dir
from ..lab.report import (
    Row,
    by_table,
    cell_name,
    joined,
    our_text,
    problem_lines,
    summary_line,
)
from .board import CHIP, budget, chip

# Every colour is the page's own: currentColor, or the theme's variables. An outcome is a word and a sign,
# then a colour.
STYLE = (
    CHIP
    + """
.romae-scoreboard{--line:color-mix(in srgb,currentColor 20%,transparent)}
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
)


def scoreboard_html(experiments: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The numbers of some experiments (None: of all) in one self-contained block. ValueError for an unknown one."""
    root = Path(root or results_dir())
    loaded = load_all(root)
    found = joined(loaded, experiments)
    parts = [f'<div class="romae-scoreboard"><style>{STYLE}</style><p class="summary">{summary_line(found)}</p>']
    if problems := problem_lines(loaded, root):
        items = "".join(f"<li><code>{_text(line)}</code></li>" for line in problems)
        parts.append(f'<div role="note"><p>Files under results/ that were not used:</p><ul>{items}</ul></div>')
    heads = ("Claim", "Outcome", "Paper", "Ours: mean [95 % interval], runs", "Tier", "Command")
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    for heading, group in by_table(found).items():
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
    return f"{_text(cell_name(claim))} {_text(claim.show())}{_html_mark(claim, notes)}"


def _html_mark(claim: Claim, notes: list[str]) -> str:
    # letters in brackets: a raised number behind "×10⁻³" would read as a part of the exponent
    return f" <small>({chr(97 + notes.index(claim.note))})</small>" if claim.note else ""


def _html_row(row: Row, notes: list[str]) -> str:
    claim = row.claim
    own = ""
    if row.own:
        words = f"with our settings ({budget(row.own_records)}): {our_text(row.own, claim)}"
        own = f'<span class="own">{_text(words)}</span>'
    commands = [line for command in (row.command, row.own_command) for line in command.splitlines()]
    command = "<br>".join(f"<code>{_text(line)}</code>" for line in commands)
    if command:
        command = f"<details><summary>show</summary>{command}</details>"
    elif claim.value is not None:
        command = "planned"
    cells = (
        ("", "", chip(row.outcome.status, row.outcome.reason)),
        ("Paper", "number", f'{_text(claim.show())} <span class="source">[{_text(claim.source)}]</span>'),
        ("Ours", "", _text(our_text(row.ours, claim)) + own),
        ("Tier", "", row.tier),
        ("Command", "", command),
    )
    body = "".join(
        f'<td class="{style}"{f" data-label={label}" if label else ""}>{cell}</td>' for label, style, cell in cells
    )
    mark = _html_mark(claim, notes)
    return f'<tr id="{_text(claim.id)}"><th scope="row">{_text(cell_name(claim))}{mark}</th>{body}</tr>'


def _text(text: str) -> str:
    return html.escape(text, quote=True)

"""Numbers and words in sentences: the roles {paper}, {ours}, {own}, {outcome}, {judged}, {recorded} and {difference}.

Each function takes the text of its role and gives plain text, from the records under results/.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from romae_book.experiments import experiment
from romae_book.lab.planned import assignment
from romae_book.lab.records import Record, counted, load_all, results_dir, select
from romae_book.lab.runs import paired
from romae_book.lab.summary import Summary, decimals_between, decimals_for, fixed
from romae_book.paper.outcomes import JUDGED, STATUSES
from romae_book.paper.report import Row, cell_name, claims_line, joined, our_text, summary_of
from romae_book.paper.statements import Judged, all_judged, forced_cells

MISSING = "not recorded yet"
NBSP = "\N{NO-BREAK SPACE}"


@cache
def _rows(stamp: tuple) -> dict[str, Row]:
    return {row.claim.id: row for row in joined(load_all(), None)}


def _found() -> dict[str, Row]:
    """All rows by id; read again when a record has changed."""
    files = sorted(results_dir().glob("*/*.json"))
    return _rows(tuple((file.as_posix(), file.stat().st_mtime_ns) for file in files))


def _row(cell: str) -> Row:
    if cell not in (rows := _found()):
        raise ValueError(f"cell is {cell!r}; the scoreboard has none of that id")
    return rows[cell]


def paper(cell: str) -> str:
    """The paper's number: "3.32 ± 0.13 ×10⁻³"."""
    return _row(cell).claim.show()


def ours(cell: str) -> str:
    """Ours with the paper's protocol: "31.58 [31.01, 32.15] ×10⁻³, n = 20"."""
    row = _row(cell)
    return our_text(row.ours, row.claim) if row.tier == "paper" else MISSING


def own(cell: str) -> str:
    """Ours with settings of our own."""
    row = _row(cell)
    return our_text(row.own, row.claim) or MISSING


def outcome(cell: str) -> str:
    """The outcome of a number, or, by the id of a statement, of a claim in words."""
    claims = {judged.statement.id: judged.status for judged in all_judged(_found().values())}
    return claims[cell] if cell in claims else _row(cell).outcome.status


def judged(what: str) -> str:
    """How the claims in words came out, in the scoreboard's own sentence. what: "claims"."""
    if what != "claims":
        raise ValueError(f"judged has {what!r}; it must be 'claims'")
    return claims_line(all_judged(_found().values()))


def runs(words: str) -> tuple[str, list[Record]]:
    """ "spirals best rmse_clean epochs=250": the metric, and the records of the preset with these changes alone."""
    name, preset, metric, *changes = words.split()
    named = dict(map(assignment, changes))
    wanted = experiment(name).preset(preset).replace(**named)
    found = select(load_all(experiment=name).records, name, preset=preset)
    kept = {key: getattr(wanted, key) for key in named if key in wanted.neutral}  # else a seed in any precision will do
    return metric, counted(
        r for r in found
        if wanted.protocol(r.config) == wanted.protocol(wanted.config()) and kept.items() <= r.config.items()
    )


def recorded(words: str) -> str:
    """ "spirals best rmse_clean epochs=250" -> mean [interval] and n of a metric, over the records of a preset whose
    settings are those of the preset but for the ones named."""
    metric, found = runs(words)
    if not (summary := summary_of(found, metric)):
        return MISSING
    bare = replace(summary, low=None, high=None)
    words = f"{bare.text()} (single runs {summary.each})" if summary.scattered else summary.text()
    return f"{words}, n{NBSP}={NBSP}{summary.n}{_uncommitted(found)}"


def _uncommitted(found: list[Record]) -> str:
    """A warning that counts for the words of a sentence, where a run's code cannot be had again."""
    known = [record.committed for record in found]
    return "" if all(known) else f" ({'some ' * any(known)}by code that no commit holds)"


def change(words: str) -> Summary | None:
    """ "uea best accuracy dataset=LSST | embedding=fresh" -> what the settings after the bar change, seed by seed: the
    differences of runs with the same seed (`paired`)."""
    before, _, changes = words.partition("|")
    metric, base = runs(before)
    return paired(runs(f"{before} {changes}")[1], base, metric)


def difference(words: str) -> str:
    """`change` in words: mean [interval] of the differences, and their number."""
    if not (summary := change(words)):
        return MISSING
    before, _, changes = words.partition("|")
    both = [*runs(before)[1], *runs(f"{before} {changes}")[1]]
    decimals = decimals_for(summary.mean if summary.std is None else summary.std, 2)
    if summary.low is not None:
        decimals = decimals_between(summary.low, summary.high, decimals)
    show = lambda x: fixed(x, decimals, "+").replace("-", "−")  # noqa: E731, RUF001
    interval = "" if summary.low is None else f" [{show(summary.low)}, {show(summary.high)}]"
    return f"{show(summary.mean)}{interval}, n{NBSP}={NBSP}{summary.n}{_uncommitted(both)}"


def claims_markdown(statuses: Iterable[str]) -> str:
    """The claims in words that came out so, a line each: title, outcome, what the paper says, how much was judged, what
    each judged piece of evidence came to, and what a reader of the outcome has to know."""
    statuses = _known(statuses)
    found = [judged for judged in all_judged(_found().values()) if judged.status in statuses]
    return "\n".join(map(_line, found)) or "None so far."


def numbers_markdown(statuses: Iterable[str]) -> str:
    """The single numbers that came out so, counts of parameters apart, a line each: the paper's, ours, and why."""
    statuses = _known(statuses)
    found = [row for row in _found().values() if row.outcome.status in statuses and not row.claim.is_count]
    return "\n".join(map(_number, found)) or "None so far."


def _known(statuses: Iterable[str]) -> list[str]:
    statuses = list(statuses)
    for status in statuses:
        if status not in STATUSES:
            raise ValueError(f"outcome is {status!r}; choose among {', '.join(STATUSES)}")
    return statuses


def _number(row: Row) -> str:
    claim = row.claim
    second = ", a second reading" if claim.reading else ""
    forced = " The paper's input forces it." if claim.id in forced_cells() else ""
    said = (
        f"- {claim.table}, {cell_name(claim)} ({row.outcome.status}{second}): the paper has {claim.show()}, ours is "
        f"{our_text(row.ours, claim)}; {row.outcome.reason}.{forced}"
    )
    return _typeset(said)


def _line(judged: Judged) -> str:
    claim = judged.statement
    more = [f"{piece.text}: {piece.outcome.reason}." for piece in judged.evidence if piece.outcome.status in JUDGED]
    more += [claim.remark] * bool(judged.status in (*JUDGED, "not comparable") and claim.remark)
    said = " ".join(
        [
            f"- **{claim.title}** ({judged.status}). The claim: {claim.sentence}",
            judged.result,
            *more,
            f"*{claim.source}.*",
        ]
    )
    return _typeset(said)


def _typeset(text: str) -> str:
    """A sign before a number is a minus, not a hyphen; a percent sign keeps to its number."""
    return re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", text).replace(" %", f"{NBSP}%")

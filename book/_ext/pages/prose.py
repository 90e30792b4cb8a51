"""Numbers and words in sentences: the roles {paper}, {ours}, {own}, {verdict}, {verdicts}, {recorded}, {difference}.

Each function takes the text of its role and gives plain text, from the records under results/.
"""

from dataclasses import replace
from functools import cache

from romae_book.experiments import experiment
from romae_book.lab.planned import assignment
from romae_book.lab.records import results_dir
from romae_book.lab.runs import Runs
from romae_book.lab.summary import Summary, decimals_for
from romae_book.paper import numbers
from romae_book.paper.ladder import Step, count_line, ladder

MISSING = "not recorded yet"
MINUS = "\N{MINUS SIGN}"


@cache
def _results(stamp: tuple) -> tuple[dict[str, numbers.Row], dict[str, Step]]:
    return {row.claim.id: row for row in numbers.rows()}, {step.statement.id: step for step in ladder()}


def results() -> tuple[dict[str, numbers.Row], dict[str, Step]]:
    """All numbers and all claims by id; read again when a record has changed."""
    files = sorted(results_dir().glob("*/*.json"))
    return _results(tuple((file.as_posix(), file.stat().st_mtime_ns) for file in files))


def row(cell: str) -> numbers.Row:
    if cell not in (rows := results()[0]):
        raise ValueError(f"cell is {cell!r}; the paper has no number of that id")
    return rows[cell]


def paper(cell: str) -> str:
    """The paper's number: "3.32 ± 0.13 ×10⁻³"."""
    return row(cell).claim.show()


def ours(cell: str) -> str:
    """Ours with the paper's protocol: "31.58 [31.01, 32.15] ×10⁻³, n = 20"."""
    found = row(cell)
    return numbers.our_text(found.ours, found.claim) if found.tier == "paper" else MISSING


def own(cell: str) -> str:
    """Ours with settings of our own."""
    found = row(cell)
    return numbers.our_text(found.own.summary(found.claim.metric), found.claim) if found.own else MISSING


def verdict(claim: str) -> str:
    """The verdict of a claim, by its id."""
    if claim not in (steps := results()[1]):
        raise ValueError(f"claim is {claim!r}; choose among {', '.join(steps)}")
    return steps[claim].verdict


def verdicts(what: str) -> str:
    """How the claims came out, in one sentence. what: "claims"."""
    if what != "claims":
        raise ValueError(f"verdicts has {what!r}; it must be 'claims'")
    return count_line(results()[1].values())


def runs(words: str) -> tuple[str, Runs]:
    """ "spirals best rmse_clean epochs=250": the metric, and the runs of the preset with these changes alone."""
    name, preset, metric, *changes = words.split()
    named = dict(map(assignment, changes))
    wanted = experiment(name).preset(preset).replace(**named)
    found = Runs.load(experiment=name).where(preset=preset).of(wanted)
    # else a seed in any precision will do
    return metric, found.where({key: getattr(wanted, key) for key in named if key in wanted.neutral}).counted()


def recorded(words: str) -> str:
    """ "spirals best rmse_clean epochs=250" -> mean [interval] and n of a metric, over the records of a preset whose
    settings are those of the preset, except the ones named."""
    metric, found = runs(words)
    if not (found.having(metric)):
        return MISSING
    summary = found.having(metric).summary(metric)
    if summary.scattered:
        bare = replace(summary, low=None, high=None)
        return f"{bare} (single runs {summary.each}), n\u00a0=\u00a0{summary.n}{_uncommitted(found)}"
    return f"{summary:n}{_uncommitted(found)}"


def _uncommitted(found: Runs) -> str:
    """A warning that counts for the words of a sentence, where a run's code cannot be had again."""
    known = [run.committed for run in found]
    return "" if all(known) else f" ({'some ' * any(known)}by code that no commit holds)"


def change(words: str) -> Summary | None:
    """ "uea best accuracy dataset=LSST | embedding=fresh" -> what the settings after the bar change, seed by seed: the
    differences of runs with the same seed (`Runs.paired`)."""
    before, _, changes = words.partition("|")
    metric, base = runs(before)
    return runs(f"{before} {changes}")[1].paired(base, metric)


def difference(words: str) -> str:
    """`change` in words: mean [interval] of the differences, and their number."""
    if not (summary := change(words)):
        return MISSING
    before, _, changes = words.partition("|")
    decimals = decimals_for(summary.mean if summary.std is None else summary.std, 2)
    text = summary.text(decimals=decimals, sign="+", n=True).replace("-", MINUS)
    return text + _uncommitted(Runs((*runs(before)[1], *runs(f"{before} {changes}")[1])))


def claims_markdown(verdicts: list[str]) -> str:
    """The claims that came out so, a line each: the claim, its verdict, and where it is told."""
    steps = [step for step in results()[1].values() if step.verdict in verdicts]
    lines = []
    for step in steps:
        words = step.verdict + (f", {step.note}" if step.note else "")
        lines.append(f"- **{step.statement.title}** {words[:1].upper()}{words[1:]}. *{step.statement.source}.*")
    return "\n".join(lines) or "None so far."

"""The ladder of results for a terminal: python -m romae_lite report."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..experiments import experiments
from ..lab.records import Loaded, load_all, results_dir
from . import numbers
from .claims import CLAIMS
from .ladder import Step, comparison_words, count_line, ladder, repeated

MARKS = {"reproduced": "✓", "reproduced at reduced scale": "◐", "not reproduced": "✗", "not tested": "–"}
WIDTH = 110


def report_text(only: Sequence[str] | None = None, root: Path | None = None) -> str:
    """The claims and the numbers of the paper, or those of some experiments. ValueError for an unknown experiment."""
    root = Path(root or results_dir())
    rows = numbers.rows(root, only)
    steps = [step for step in ladder(root) if not only or set(step.statement.experiments) & set(only)]
    lines = [line for step in steps for line in _step(step)] + [""]
    for heading, group in numbers.by_table(rows).items():
        lines += [heading, *_numbers(group), ""]
    if problems := problem_lines(load_all(root), root):
        lines += ["Not used:", *(f"  {line}" for line in problems), ""]
    if not only:
        lines += [*textwrap.wrap(count_line(steps), WIDTH), repeated_line(root)]
    return "\n".join(lines)


def _step(step: Step) -> list[str]:
    verdict = step.verdict + (f" ({step.note})" if step.note else "")
    shown = "; ".join(comparison_words(step, comparison) for comparison in step.shown)
    more = f"{step.statement.comparison}: {shown}" if shown else f"needs {step.statement.needs}"
    if step.shown is step.reduced and shown:
        more += f" ({step.statement.smaller})"
    indent = " " * 4
    return [
        f"{MARKS[step.verdict]} {step.statement.title} {verdict[:1].upper()}{verdict[1:]}.",
        *textwrap.wrap(more, WIDTH, initial_indent=indent, subsequent_indent=indent),
    ]


def _numbers(group: Iterable[numbers.Row]) -> list[str]:
    lines, commands = [], []
    for row in (row for row in group if not row.claim.quoted):
        ours = numbers.our_text(row.ours, row.claim) + (f" ({row.tier})" if row.tier not in ("", "paper") else "")
        name = numbers.cell_name(row.claim)
        lines.append(f"  {name:<44} paper {row.claim.show():<20} {ours:<36} {numbers.ratio(row)}".rstrip())
        if row.own:
            own = numbers.our_text(row.own.summary(row.claim.metric), row.claim)
            lines.append(f"  {'  with our settings':<44} {'':<26} {own}")
        commands += row.command.splitlines()
    quoted = "; ".join(f"{numbers.cell_name(row.claim)} {row.claim.show()}" for row in group if row.claim.quoted)
    if quoted:
        lines += textwrap.wrap(quoted, WIDTH, initial_indent="  other models: ", subsequent_indent=" " * 16)
    return lines + [f"    $ {command}" for command in dict.fromkeys(commands)]


def repeated_line(root: Path | None = None) -> str:
    done, whole = repeated(root)
    return f"{done} of the paper's {whole} trainings were repeated by its protocol, with three runs or more."


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

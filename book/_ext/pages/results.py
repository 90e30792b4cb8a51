"""The page of results: {results} in the book. A line for each claim of the paper, with a picture and a verdict.

`romae_book.paper.ladder` says what is in it, `templates/results.html` how it looks. Plain HTML that opens and closes
without a script; `book/_static/results.js` opens the line that a link names.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from romae_book import figures
from romae_book.experiments import experiment, experiments
from romae_book.lab.records import results_dir
from romae_book.lab.runs import Runs, runs_of
from romae_book.lab.summary import decimals_for, fixed
from romae_book.palette import colour_css
from romae_book.paper import numbers
from romae_book.paper.found import found
from romae_book.paper.ladder import CELLS, Mark, Step, comparison_words, ladder, of_setting, repeated, two_digits
from romae_book.paper.rule import VERDICTS
from romae_book.paper.statements import PROMISES, TRAININGS

from .templates import render, render_records

CLASS = dict(zip(VERDICTS, ("yes", "reduced", "no", "open"), strict=True))
SHORT = dict(zip(VERDICTS, ("reproduced", "reproduced at reduced scale", "not reproduced", "not tested"), strict=True))
NAMES = {"ours": "ours", "smaller": "ours", "paper": "paper"}  # before a label
PHONE, LETTER, BLANK = 300, 6.4, 8  # pixels: width of a picture on a phone, of a letter, between two labels
FREQUENCIES = (1, 3, 5, 7, 9, 12, 15, 18, 21, 24)


def results_html(root: Path | None = None) -> str:
    """The ladder, the curves and counts that are no claim, and the files that were not used."""
    root = Path(root or results_dir())
    steps = ladder(root)
    by_id = {step.statement.id: step for step in steps}
    rows = {row.claim.id: row for row in numbers.rows(root)}
    return render_records(
        "results.html", root, colours=colour_css(".romae-results"), verdicts=CLASS, short=SHORT,
        counts=[(word, CLASS[word], n) for word in VERDICTS if (n := sum(s.verdict == word for s in steps))],
        whole=len(steps), repeated=repeated(root), trainings=_trainings(root), together=_together(steps),
        pending=[step for step in steps if step.verdict == "not tested" and not step.paper],
        unsettled=[step for step in steps if step.verdict == "not tested" and step.paper],
        promises=[(text, [(word, by_id[name]) for name, word in names.items()]) for text, names in PROMISES],
        lines=[_line(step, rows, root) for step in sorted(steps, key=lambda step: VERDICTS.index(step.verdict))],
        more=_more(rows, root),
    )


def _together(steps: Iterable[Step]) -> tuple[int, int, str]:
    """Of the claims reproduced how many come from the same table, and which: (3, 5, "Table 1")."""
    held = [step.statement.source.split(", ")[-1] for step in steps if step.verdict == "reproduced"]
    source = max(held, key=held.count, default="")
    return held.count(source), len(held), source


def _trainings(root: Path) -> list[tuple[str, str, int]]:
    """The paper's trainings: the table, what is trained, and our runs by its protocol."""
    runs = Runs.load(root)
    return [
        (
            table, " ".join([one.experiment, *(f"{k}={v}" for k, v in one.changes.items())]),
            len(of_setting(runs, one, True)),
        )
        for table, one in TRAININGS
    ]


def _line(step: Step, rows: dict[str, numbers.Row], root: Path) -> dict:
    """What the template needs of one claim."""
    statement = step.statement
    mine = [rows[cell] for cell in statement.cells]
    return {
        "step": step, "statement": statement, "runs": runs_words(step), "curve": statement.id == "high-frequencies",
        "picture": figure_b4(root) if statement.id == "high-frequencies" else picture_of(step),
        "found": [comparison_words(step, comparison).replace("-", "−") for comparison in step.shown],
        "numbers": [_cells(row) for row in mine if row.claim.value is not None],  # the others are in the lab record
        "made": list(dict.fromkeys(row.made for row in mine if row.made)),
        "wished": list(dict.fromkeys(row.wished for row in mine if row.wished)),
        "labs": [name for name in dict.fromkeys(row.claim.experiment for row in mine) if name in experiments()],
        "complete": step.verdict in ("reproduced", "not reproduced") and not step.pieces,
    }


def _cells(row: numbers.Row) -> dict:
    """A row of the table of numbers."""
    ours = numbers.our_text(row.ours, row.claim) + (" (smaller)" if row.tier == "reduced" else "")
    return {
        "name": f"{row.claim.table}, {numbers.cell_name(row.claim)}", "paper": row.claim.show(), "ours": ours,
        "ratio": numbers.ratio(row).replace("-", "−"), "best": numbers.best_possible(row),
        "divided": "×" in numbers.ratio(row) and row.ours.n > 1,
        "above": numbers.above_best(row),
        "note": re.sub(r"(; see| \()? ?D\d+\)?", "", row.claim.note),  # deviations are told in the lab record
        "own": numbers.our_text(row.own.summary(row.claim.metric), row.claim) if row.own else "",
    }


def _more(rows: dict[str, numbers.Row], root: Path) -> list[dict]:
    """Figure 2 and Table 8: numbers that no sentence of the paper hangs on."""
    ranges = [row for name, row in rows.items() if name.startswith("figure-2")]
    counts = [row for name, row in rows.items() if name.startswith("table-8")]
    equal = sum(row.ours is not None and row.claim.show_ours(row.ours) == row.claim.show() for row in counts)
    found = [
        {"title": "Error of a position over its range", "source": "Figure 2",
         "picture": figure_2(root), "axis": "absolute error by position (log scale)", "rows": ranges,
         "lab": "position_range"},
        {"title": f"Counts of parameters: {equal} of {len(counts)} are equal",
         "source": "Table 8", "picture": "", "axis": "", "rows": counts, "lab": "sizes"},
    ]
    return [line | {"rows": [_cells(row) for row in line["rows"]]} for line in found]


def found_html(root: Path | None = None, ids: Sequence[str] = ()) -> str:
    """What the book found: a sentence and a picture each; those whose records are missing are left out. ids: of these
    findings alone, and the first sentence of each."""
    draw = lambda f, marks: axis_html(  # noqa: E731
        marks, f.axis, higher=f.better == "higher", scale=f.scale, whose={"paper": "paper"}
    )
    pictures = [(f, draw(f, marks)) for f, marks in found(root) if not ids or f.id in ids]
    return render_records("found.html", root, colours=colour_css(".romae-results"), lines=pictures, brief=bool(ids))


# Pictures -------------------------------------------------------------------------------------------------------------


class Label(NamedTuple):
    text: str
    place: float  # per cent of the width
    lane: int  # away from the axis
    kind: str


def picture_of(step: Step) -> str:
    """The axis of a claim."""
    statement = step.statement
    return axis_html(
        step.marks, statement.axis, higher=statement.better == "higher", gap=not statement.marks,
        split=bool(statement.kinds), arrow=statement.arrow or ("" if statement.sense == "size" else None),
        scale=statement.scale, after=runs_words(step),
    )


def runs_words(step: Step) -> str:
    """ "; n = 5, 3, 3": the runs behind each comparison of a claim, "" without any."""
    counts = [comparison.advantage.runs for comparison in step.shown]
    return f"; n\u00a0=\u00a0{', '.join(map(str, counts if len(set(counts)) > 1 else counts[:1]))}" if counts else ""


def axis_html(
    marks: Sequence[Mark], words: str, *, higher: bool, gap: bool = False, split: bool = False,
    arrow: str | None = None, scale: float = 1.0,
    whose: Mapping[str, str] = NAMES, after: str = "",
) -> str:
    """Marks on one axis, ours with its label above, all others below. higher: scores; gap: what is drawn are
    differences from a rival, in points, or ratios to it; split: an axis for each name; arrow: which way is better,
    None for the usual; whose: words before a label, by the kind of its mark; after: what follows `words`."""
    points = gap and higher
    values = [scale * v for m in marks for v in (m.value, m.low, m.high) if v is not None] + [0.0] * points
    log = not points and min(values) > 0 and max(values) > 3 * min(values)
    place, show = scaling(values, log), writer(values, log, sign=points)
    at = lambda value: place(value * scale)  # noqa: E731
    # pieces that are compared with a rival of their own get an axis each
    names = dict.fromkeys(m.name for m in marks if m.kind in ("ours", "smaller", "paper")) if gap or split else [None]
    bars = []
    for name in names:
        mine = [m for m in marks if name in (None, m.name) or m.kind in ("bound", "best", "rival")]
        drawn = [
            {"kind": m.kind, "at": at(m.value), "from": m.low and at(m.low), "to": m.low and at(m.high)} for m in mine
        ]
        labels = [(m, _name(m, show(m.value * scale), whose), at(m.value)) for m in mine]
        above, below = (lanes(label for label in labels if (label[0].kind in ("ours", "smaller")) is side)
                        for side in (True, False))
        heights = [max((label.lane + 1 for label in group), default=0) for group in (above, below)]
        bars.append({"drawn": drawn, "above": above, "below": below, "heights": heights})
    alt = "; ".join(_name(m, show(m.value * scale), whose) for m in marks if m.kind != "bound")
    return render(
        "axis.html", bars=bars, zero=place(0.0) if points else None, words=words + " (log scale)" * log + after,
        better=("better →" if higher else "← better") if arrow is None else arrow, alt=f"{words}: {alt}",
    )


def _name(mark: Mark, value: str, whose: Mapping[str, str]) -> str:
    """ "ours tiny 0.034"; of a bound where the claim begins to hold."""
    if mark.kind == "bound":
        return "holds from " + value.lstrip("+").removesuffix(".0")
    return " ".join(word for word in (whose.get(mark.kind, ""), mark.name, value) if word)


def scaling(values: Sequence[float], log: bool) -> Callable[[float], float]:
    """Value -> per cent of the axis, with some room at both ends."""
    turn = math.log if log else float
    low, high = turn(min(values)), turn(max(values))
    room = 0.08 * ((high - low) or 1.0)
    return lambda value: round(100 * (turn(value) - low + room) / (high - low + 2 * room), 2)


def writer(values: Sequence[float], log: bool, sign: bool) -> Callable[[float], str]:
    """How values are written: two significant digits, or as many decimals as tell them from one another."""
    if log:
        return two_digits
    decimals = decimals_for(max(values) - min(values) or 1.0, 2)
    return lambda value: fixed(value, decimals, "+" * sign).replace("-", "−")


def lanes(names: Iterable[tuple[Mark, str, float]]) -> list[Label]:
    """Labels beside their marks; what would overlap on a phone gets a lane further out. A label hangs at its mark by
    the same share of its own width, so that none leaves the picture."""
    ends: list[float] = []
    found = []
    for mark, text, place in sorted(names, key=lambda name: name[2]):
        width = LETTER * len(text)
        start = place / 100 * (PHONE - width)
        lane = next((i for i, end in enumerate(ends) if start >= end + BLANK), len(ends))
        ends[lane:lane + 1] = [start + width]
        found.append(Label(text, place, lane, mark.kind))
    return found


def _curve(width: float = 4.3, height: float = 1.35):
    fig, ax = plt.subplots(figsize=(width, height))
    ax.tick_params(labelsize=8)
    return fig, ax


def figure_2(root: Path | None = None) -> str:
    """Ours over the range of positions, mean of the seeds, with the paper's numbers; "" without runs."""
    runs = runs_of(experiment("position_range").preset("paper").replace(high=100.0), root)
    if not runs:
        return ""
    with figures.style():
        fig, ax = _curve()
        where = runs[0].arrays["positions"]
        ax.plot(where, np.mean([np.abs(run.arrays["error"]) for run in runs], 0), color=figures.COLOURS["blue"], lw=1.3,
                label="ours")
        paper = [CELLS[f"figure-2-0-100-{name}"].value for name in ("first-point", "mean", "last-point")]
        ends = dict(color=figures.COLOURS["purple"], ms=9, mew=2.5, label="paper, the ends")
        ax.plot((0, 100), (paper[0], paper[2]), "|", **ends)
        ax.axhline(paper[1], color=figures.COLOURS["purple"], lw=1.2, ls="--", label="paper, mean")
        ax.set(yscale="log", xlim=(-2, 102))
        ax.legend(fontsize=7, frameon=False, loc="upper center", ncols=3)
        alt = f"Absolute error of a position between 0 and 100, {len(runs)} runs of ours; the paper's mean and ends."
        picture = figures.render(fig, alt)
    plt.close(fig)
    return picture.html()


def figure_b4(root: Path | None = None) -> str:
    """The paper's error by frequency, and ours where there is a run of the paper's model."""
    exp = experiment("frequencies")
    paper = [CELLS[f"app-b-4-mse-over-time-{f}-hz"].value for f in FREQUENCIES]
    ours = [exp.preset("paper"), exp.preset("paper").replace(fast=True, epochs=20), exp.preset("small")]
    which, runs = next(((i, runs) for i, one in enumerate(ours) if (runs := runs_of(one, root))), (0, ()))
    with figures.style():
        fig, ax = _curve()
        ax.plot(FREQUENCIES, paper, "|-", color=figures.COLOURS["purple"], ms=8, mew=2, lw=1.3, label="paper")
        ax.axvline(9, color=figures.INK, lw=0.8, ls=":")
        if runs:
            found = np.array([[run.metrics[f"mse_noisy_{f}hz"] for f in FREQUENCIES] for run in runs])
            fill = figures.COLOURS["blue"] if which == 0 else "none"
            name = "ours" if which == 0 else "ours, smaller"
            ax.plot(FREQUENCIES, found.mean(0), "o-", color=figures.COLOURS["blue"], mfc=fill, ms=4, lw=1.3, label=name)
        ax.set(xticks=(1, 5, 9, 12, 18, 24), ylim=(0, None))
        ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(0.13, 0.6))
        alt = f"Squared error by frequency: the paper's grows from 9 Hz on; {len(runs) or 'no'} runs of ours."
        picture = figures.render(fig, alt)
    plt.close(fig)
    return picture.html()

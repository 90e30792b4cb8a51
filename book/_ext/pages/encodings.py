"""The study of position encodings as part of a page: {encodings} in the book. `lab.encodings` says what is compared."""

import math
from itertools import groupby
from typing import NamedTuple

from romae_book.explorables.svg import label, line, tag
from romae_book.lab.planned import command_of
from romae_book.lab.summary import Summary, decimals_for
from romae_book.paper.encodings import (
    SEEDS,
    UNITS,
    Arm,
    Recorded,
    against,
    arms,
    chosen_rate,
    is_base,
    missing,
    name_of,
    side,
)

from .templates import render_records

METRICS = {
    "mse_noisy": "mean squared error to the noisy values", "mse": "mean squared error", "accuracy": "accuracy",
    "f1_macro": "macro F1",
}
CAPTION = (
    "What each way of telling positions loses, over what continuous RoPE with one unit between neighbours loses: right "
    "of 1 is worse. On the synthetic series what counts is the error above the best possible. Bars: 95 % intervals "
    "over seeds of the arm itself; two arms are compared by their differences, in the table. Hollow: the paper’s unit, "
    "or no positions. Logarithmic axis."
)
RIGHT = 30  # pixels of the picture: at the right; of a row, its height, where the axis begins, the whole width, and how
# far below a name its mark is. On a phone names stand above their marks.
WIDE, NARROW = (26, 370, 900, -4), (40, 14, 400, 14)

Results = list[tuple[Arm, Summary | None]]


def encodings_html() -> str:
    """What came out, in words, as a picture and as a table, and what is missing; from the records."""
    recorded = Recorded()
    found = [(arm, arm.summary(recorded)) for arm in arms()]
    todo = list(missing())
    return render_records(
        "encodings.html", done=sum(s is not None and s.n == SEEDS for _, s in found), arms=len(found), seeds=SEEDS,
        todo=len(todo),
        verdicts=[(title, *words) for title, group in _tasks(found) if (words := verdict(group, recorded))],
        pictures=[picture(found, recorded), picture(found, recorded, narrow=True)] if any(s for _, s in found) else [],
        caption=CAPTION, rows=table(found, recorded), trials=trials(found, recorded),
        command=command_of(todo[:SEEDS]) if todo else "",
    )


def _tasks(found: Results) -> list[tuple[str, Results]]:
    return [(title, list(group)) for title, group in groupby(found, key=lambda pair: pair[0].task.title)]


def verdict(group: Results, recorded: Recorded) -> tuple[str, str] | None:
    """The unit, and whom continuous RoPE leaves behind; None before any difference has an interval."""
    group = [arm for arm, _ in group]
    sides = {"ahead of": [], "behind": [], "level with": []}
    for arm in group:
        gap = against(arm, group, recorded)
        if gap is not None and gap.low is not None:
            sides[side(gap, arm.task.better)].append(name_of(arm))
    words = "; ".join(f"{side} {', '.join(names)}" for side, names in sides.items() if names)
    unit = f" ({UNITS['neighbours']})" if len(group[0].task.units) > 1 else ""
    return (unit, words) if words else None


class ArmRow(NamedTuple):
    """A row of the table: an arm of a task, its score and what it has more than continuous RoPE."""

    task: str
    name: str
    score: str
    difference: str
    rate: str


def table(found: Results, recorded: Recorded) -> list[ArmRow]:
    rows = []
    for title, group in _tasks(found):
        task = f"{title}: {METRICS[group[0][0].task.metric]}, {group[0][0].task.better} is better"
        for arm, summary in group:
            gap = against(arm, [a for a, _ in group], recorded)
            less = "" if gap is None else gap.text(decimals=decimals_for(summary.mean, 3)).replace("-", "−")
            score = "not run" if summary is None else f"{summary:n}"
            rows.append(ArmRow(task, name_of(arm), score, less, chosen_rate(arm, recorded)))
    return rows


class Trials(NamedTuple):
    """What chose an arm's rate: of every rate that was tried the last validation score, and whether it was chosen."""

    task: str
    name: str
    scores: list[tuple[str, bool]]


def trials(found: Results, recorded: Recorded) -> list[Trials]:
    rows = []
    for arm, _ in found:
        task, scores = arm.task, []
        for rate, planned in zip(task.rates, arm.trials(), strict=True):
            record = recorded.of(planned)
            score = "not run" if record is None else f"{record.history[-1][task.valid]:.4g}"
            scores.append((f"{planned.build().lr:g}: {score}", rate == arm.rate(recorded)))
        rows.append(Trials(f"{task.title}: {task.valid}, {task.better} is better", name_of(arm), scores))
    return rows


def picture(found: list[tuple[Arm, Summary | None]], recorded: Recorded, narrow: bool = False) -> str:
    """A row for each arm that was run: what it loses (`Arm.lost`), in units of what continuous RoPE loses at one unit
    between neighbours, on a logarithmic axis. Filled marks have that unit, hollow ones the paper's."""
    step, left, width, below = NARROW if narrow else WIDE
    rows, marks, y = [], [], 34
    for title, group in _tasks(found):
        shown = [(arm, lost) for arm, _ in group if (lost := arm.lost(recorded))]
        base = next((lost.mean for arm, lost in shown if is_base(arm)), None)
        if base is None:
            continue
        rows.append(label(0, y, title, font_weight=600))
        y += 26
        for arm, s in shown:
            ends = sorted(v / base for v in ((s.mean,) if s.low is None else (s.low, s.mean, s.high)))
            mean = s.mean / base
            rows.append(label(12, y, name_of(arm)))
            marks.append((y + below, max(ends[0], 0.2 * mean), mean, ends[-1], arm.unit != "neighbours"))
            y += step
        y += 8
    if not marks:
        return ""
    low, high = min(0.8, *(m[1] for m in marks)), max(1.25, *(m[3] for m in marks))
    place = lambda v: left + (width - left - RIGHT) * math.log(v / low) / math.log(high / low)  # noqa: E731
    ticks = [1]  # and as many others as have room for their numbers
    for t in (2, 0.5, 5, 10, 20, 50, 100, 0.25, 3, 1.25, 0.8, 1.5):
        if low <= t <= high and all(abs(place(t) - place(other)) > 48 for other in ticks):
            ticks.append(t)
    axis = [
        line([(place(t), 24), (place(t), y)], stroke="currentColor", stroke_opacity=0.15 if t != 1 else 0.6)
        for t in ticks
    ]
    axis += [label(place(t), 14, f"{t:g} ×", text_anchor="middle", font_size=11) for t in ticks]
    blue = {"stroke": "var(--pst-color-primary,#0072b2)", "stroke_width": 2}
    for height, start, mean, end, hollow in marks:
        axis.append(
            line(
                [(place(start), height), (place(end), height)],
                stroke="var(--pst-color-primary,#0072b2)",
                stroke_width=2,
            )
        )
        fill = "var(--pst-color-background,#fff)" if hollow else blue["stroke"]
        axis.append(tag("circle", cx=place(mean), cy=float(height), r=5, fill=fill, **blue))
    said = "What each encoding loses, relative to continuous RoPE with one unit between neighbours; numbers below."
    return tag(
        "svg", tag("title", said) + "".join(axis + rows), viewBox=f"0 0 {width} {y}", role="img", aria_label=said,
        font_family="system-ui, sans-serif", font_size=13, fill="currentColor", class_="narrow" if narrow else "spread",
    )

"""The study of position encodings as part of a page: {encodings} in the book. `lab.encodings` says what is compared."""

import html
import math
from itertools import groupby

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

METRICS = {
    "mse_noisy": "mean squared error to the noisy values", "mse": "mean squared error", "accuracy": "accuracy",
    "f1_macro": "macro F1",
}
CAPTION = (
    "What each way of telling positions loses, over what continuous RoPE with one unit between neighbours loses: right "
    "of 1 is worse. On the synthetic series what counts is the error above the best possible. Bars: 95 % intervals "
    "over seeds of the arm itself; what tells two apart are the differences in the table. Hollow: the paper’s unit, or "
    "no positions. Logarithmic axis."
)
RIGHT = 30  # pixels of the picture: at the right; of a row, its height, where the axis begins, the whole width, and how
# far below a name its mark is. On a phone names stand above their marks.
WIDE, NARROW = (26, 370, 900, -4), (40, 14, 400, 14)

STYLE = """
.romae-encodings{--line:color-mix(in srgb,currentColor 20%,transparent);font-family:var(--romae-sans,sans-serif)}
.romae-encodings .wide{overflow-x:auto}
.romae-encodings figure{margin:1em 0}
.romae-encodings figcaption{font-size:.88em;line-height:1.45;margin:.4em 0 0}
.romae-encodings pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.78em}
.romae-encodings svg{display:block;width:100%;height:auto;color:inherit}
.romae-encodings svg.narrow{display:none}
@media (max-width:640px){.romae-encodings svg.narrow{display:block}.romae-encodings svg.spread{display:none}}
.romae-encodings table{border-collapse:collapse;font-size:.84em;color:inherit;background:none;margin:1em 0}
.romae-encodings :is(th,td){padding:.35em .9em .35em .3em;text-align:left;vertical-align:top;background:none;
 color:inherit;border:0!important;border-bottom:1px solid var(--line)!important;font-weight:400}
.romae-encodings :is(thead th,th[scope=rowgroup]){font-weight:600}
.romae-encodings th[scope=rowgroup]{padding-top:1.2em}
.romae-encodings td{font-variant-numeric:tabular-nums}
.romae-encodings .note{font-size:.84em;opacity:.85}
.romae-encodings code{font-size:.85em;overflow-wrap:anywhere;color:inherit;background:none;border:0;padding:0}
"""


def encodings_html() -> str:
    """What came out, in words, as a picture and as a table, and what is missing; from the records."""
    recorded = Recorded()
    found = [(arm, arm.summary(recorded)) for arm in arms()]
    todo = list(missing())
    done = sum(s is not None and s.n == SEEDS for _, s in found)
    parts = [f'<div class="romae-encodings"><style>{STYLE}</style>']
    if todo or done < len(found):
        parts.append(
            f"<p>{done} of {len(found)} arms have all their {SEEDS} seeds; {len(todo)} runs are known to be missing."
            "</p>"
        )
    else:
        parts.append(f"<p>All {done} arms have their {SEEDS} seeds.</p>")
    if said := [text for _, group in _tasks(found) if (text := verdict([arm for arm, _ in group], recorded))]:
        parts.append(f"<ul>{''.join(f'<li>{text}</li>' for text in said)}</ul>")
    if any(s for _, s in found):
        parts.append(
            f"<figure>{picture(found, recorded)}{picture(found, recorded, narrow=True)}"
            f"<figcaption>{CAPTION}</figcaption></figure>"
        )
        parts.append(f'<div class="wide">{table(found, recorded)}</div>{grid(found, recorded)}')
    else:
        parts.append("<p>No arm has been run yet, so there is nothing to show.</p>")
    if todo:
        parts.append(
            '<p class="note">What comes next; <code>python -m romae_lite campaign encodings</code> makes them all:</p>'
            f"<pre>{html.escape(command_of(todo[:SEEDS]))}</pre>"
        )
    return "\n".join([*parts, "</div>"])


def _tasks(found: list[tuple[Arm, Summary | None]]) -> list[tuple[str, list[tuple[Arm, Summary | None]]]]:
    return [(title, list(group)) for title, group in groupby(found, key=lambda pair: pair[0].task.title)]


def verdict(group: list[Arm], recorded: Recorded) -> str:
    """Whom continuous RoPE leaves behind, in a sentence; "" before any difference has an interval."""
    sides = {"ahead of": [], "behind": [], "not told from": []}
    for arm in group:
        gap = against(arm, group, recorded)
        if gap is None or gap.low is None:
            continue
        sides[side(gap, arm.task.better)].append(name_of(arm))
    said = [f"{side} {', '.join(names)}" for side, names in sides.items() if names]
    unit = f" ({UNITS['neighbours']})" if len(group[0].task.units) > 1 else ""
    title = html.escape(group[0].task.title)
    return f"<b>{title}</b>: continuous RoPE{unit} is " + html.escape("; ".join(said)) + "." if said else ""


def table(found: list[tuple[Arm, Summary | None]], recorded: Recorded) -> str:
    heads = (
        "Encoding",
        "Mean [95 % interval], runs",
        "less continuous RoPE’s with neighbours one apart, seed by seed",
        "Learning rate",
    )
    body = []
    for title, group in _tasks(found):
        metric = html.escape(f"{title}: {METRICS[group[0][0].task.metric]}, {group[0][0].task.better} is better")
        body.append(f'<tr><th scope="rowgroup" colspan="{len(heads)}">{metric}</th></tr>')
        for arm, summary in group:
            chosen = chosen_rate(arm, recorded)
            score = "not run" if summary is None else f"{summary.text()}, n\u00a0=\u00a0{summary.n}"
            gap = against(arm, [a for a, _ in group], recorded)
            less = "" if gap is None else gap.text(decimals=decimals_for(summary.mean, 3)).replace("-", "−")
            body.append(
                "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in (name_of(arm), score, less, chosen)) + "</tr>"
            )
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def grid(found: list[tuple[Arm, Summary | None]], recorded: Recorded) -> str:
    """What chose: every trial's last validation score, seed 0; the chosen one in bold."""
    body = ""
    for title, group in _tasks(found):
        task = group[0][0].task
        words = html.escape(f"{title}: {task.valid}, {task.better} is better")
        body += f'<tr><th scope="rowgroup" colspan="2">{words}</th></tr>'
        for arm, _ in group:
            cells = []
            for rate, planned in zip(arm.task.rates, arm.trials(), strict=True):
                record = recorded.of(planned)
                score = "not run" if record is None else f"{record.history[-1][arm.task.valid]:.4g}"
                words = f"{planned.build().lr:g}: {score}"
                cells.append(f"<b>{words}</b>" if rate == arm.rate(recorded) else words)
            body += f"<tr><td>{html.escape(name_of(arm))}</td><td>{'; '.join(cells)}</td></tr>"
    head = '<thead><tr><th scope="col">Encoding</th><th scope="col">Learning rate: validation score</th></tr></thead>'
    return (
        "<details><summary>The grid that chose the learning rates</summary>"
        f'<div class="wide"><table class="dataframe">{head}<tbody>{body}</tbody></table></div></details>'
    )


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

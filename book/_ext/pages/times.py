"""What is left of a model's skill without times: {times} in the book, a picture from the records."""

from pathlib import Path

import matplotlib.pyplot as plt

from romae_book import figures
from romae_book.lab.records import results_dir
from romae_book.palette import colour_css
from romae_book.paper.times import LESS, Share, Task, shares

from .templates import render_records

MARKS = dict(zip(LESS, ("+", "s", "o", "D", "x"), strict=True))
COLOUR = {"RoMAE": "blue", "boosted trees": "green"}


def times_html(root: Path | None = None) -> str:
    """The picture, and the numbers behind it."""
    root = Path(root or results_dir())
    found = shares(root)
    rows = [(one.task, LESS[one.less], one.left.text(0.01, 0), one.left.n) for one in found]
    return render_records(
        "times.html", root, colours=colour_css(".romae-times"), rows=rows,
        picture=picture(found).html() if found else "",
    )


def picture(found: list[Share]) -> figures.Picture:
    """A line for each data set and model, a mark for each thing taken away, from nothing left (0) to all (100 %)."""
    tasks: list[Task] = list({id(one.task): one.task for one in found}.values())
    with figures.style():
        fig, ax = plt.subplots(figsize=(3.7, 1.3 + 0.42 * len(tasks)))
        for i, task in enumerate(tasks):
            ax.axhline(i, color=figures.INK, lw=0.5, alpha=0.25)
            name = task.name if task.who == "RoMAE" else f"{task.name}, trees"
            ax.text(2, i - 0.22, name, fontsize=8)  # above its line, where a phone has room
            for one in (one for one in found if one.task is task):
                colour, at = figures.COLOURS[COLOUR[task.who]], 100 * one.left.mean
                if one.left.low is not None:
                    ax.plot((100 * one.left.low, 100 * one.left.high), (i, i), color=colour, lw=2.5, alpha=0.35, ls="-")
                ax.plot(at, i, MARKS[one.less], color=colour, mfc="none", ms=6.5, mew=1.6)
        for less in dict.fromkeys(one.less for one in found):
            ax.plot([], [], MARKS[less], color=figures.INK, mfc="none", ms=6.5, mew=1.6, label=LESS[less])
        for i in (0, 100):
            ax.axvline(i, color=figures.INK, lw=0.9)
        ax.set_yticks([])
        ax.set(ylim=(len(tasks) - 0.4, -0.9), xlim=(-28, 118))
        ax.set_xlabel("per cent of the skill that is left (100: told all)", fontsize=9)
        fig.legend(fontsize=8, loc="outside lower left", handlelength=1.2)
        alt = "What is left of a model's skill: " + "; ".join(
            f"{one.task.name}, {one.task.who}, {LESS[one.less]}: {100 * one.left.mean:.0f} %" for one in found
        )
        drawn = figures.render(fig, alt)
    plt.close(fig)
    return drawn

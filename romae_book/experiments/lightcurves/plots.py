"""The figures of chapter 10: stars folded by their periods, hidden points filled in, who names a curve best."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import figures
from .data import Curves

MARKS = {  # of each method: words, colour, mark, filled
    "trees": ("boosted trees on features", "green", "D", True), "minirocket": ("MiniRocket", "green", "s", False),
    "pre-trained": ("RoMAE, pre-trained", "blue", "o", True), "scratch": ("RoMAE, not pre-trained", "blue", "o", False),
    "together": ("RoMAE, pre-trained, five networks", "blue", "*", True),
    "frozen": ("RoMAE, frozen, linear head", "blue", "^", True),
    "untrained": ("RoMAE, frozen, never trained", "blue", "^", False),
    "beside": ("trees on features and frozen RoMAE", "purple", "D", False),
    "gru-d": ("GRU-D", "vermillion", "v", False),
    "sampling": ("times and bands alone", "amber", "x", True), "largest": ("largest class", "grey", "|", True),
    "phase": ("RoMAE, not pre-trained, with phase", "blue", "P", False),
}
LONG = 48  # passes over the labels, the most that all of SPCC's arms were given


@figures.style()
def twenty(curves: Curves, periods: Sequence[float], wrong: Sequence[int] = (), band: str = "g") -> Figure:
    """Every star of the survey in one band, folded by its period; those of `wrong` are marked."""
    fig, axes = plt.subplots(4, 5, figsize=(8.4, 5.4), sharex=True)
    for i, ax in enumerate(axes.flat):
        part = curves.points(i)
        mine = curves.band[part] == curves.bands.index(band)
        phase, value = curves.time[part][mine] / periods[i] % 1, curves.value[part][mine]
        off = i in wrong
        ax.plot(phase, value, "o", ms=2.2, color=figures.COLOURS["vermillion" if off else "green"])
        ax.set_title(f"{i + 1}: {periods[i]:.4f} d{', wrong' * off}", fontsize=8.5, weight="normal")
        ax.invert_yaxis()  # magnitudes: brighter is less
        ax.set(xticks=(0, 0.5, 1), yticks=())
    axes[-1, 2].set_xlabel("phase")
    axes[1, 0].set_ylabel("magnitude, brighter above", y=0)
    return fig


@figures.style()
def answers(arrays: Mapping[str, Mapping[str, np.ndarray]], stars: Sequence[int], band: int = 1) -> Figure:
    """Hidden points of one band, and what each model says there, by phase: a row a model, a column a star.

    arrays: of `Folding.arrays`, by the model's name.
    """
    fig, axes = plt.subplots(len(arrays), len(stars), figsize=(8.4, 2.1 * len(arrays)), sharex=True, squeeze=False)
    for row, (name, a) in zip(axes, arrays.items(), strict=True):
        for ax, star in zip(row, stars, strict=True):
            mine = (a["star"] == star) & (a["band"] == band)
            phase, x = a["phase"][mine], np.argsort(a["phase"][mine])
            ax.plot(phase, a["value"][mine], "o", mfc="none", ms=4, color=figures.INK, label="hidden, measured")
            ax.plot(phase[x], a["prediction"][mine][x], "o", ms=3, color=figures.COLOURS["blue"], label="RoMAE")
            ax.invert_yaxis()
            ax.set(xticks=(0, 0.5, 1))
        row[0].set_ylabel(f"{name}\nmagnitudes", fontsize=9)
    for ax, star in zip(axes[0], stars, strict=True):
        ax.set_title(f"star {star + 1}", fontsize=9.5, weight="normal")
    for ax in axes[-1]:
        ax.set_xlabel("phase")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


@figures.style()
def scores(surveys: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Macro F1 of every method with its interval, a row a survey. surveys: a Summary by name, then by MARKS."""
    fig, ax = plt.subplots(figsize=(4.9, 0.72 * len(surveys) + 1.9))
    drawn = {}
    for y, (survey, methods) in enumerate(surveys.items()):
        ax.text(0, y - 0.36, survey, fontsize=9.5, va="center")
        for name, score in methods.items():
            words, colour, mark, filled = MARKS[name]
            ink = figures.COLOURS[colour]
            interval(ax, score, y, ink)
            drawn[name], = ax.plot(score.mean, y, mark, color=ink, ms=7, mew=1.6, mfc=ink if filled else "none",
                                   label=words)
    ax.set(xlim=(-0.02, 1), ylim=(len(surveys) - 0.5, -0.7), yticks=(), xlabel="macro F1, better to the right")
    fig.legend(handles=[drawn[name] for name in MARKS if name in drawn], loc="outside lower center", ncols=2,
               fontsize=8.5, handlelength=1.2)
    return fig


def interval(ax: Axes, score: Any, at: float, ink: str, upright: bool = False) -> None:
    """The interval of a Summary, if it has one: a broad line, lying at this height, or upright at this place."""
    if score.low is not None:
        ends, place = [score.low, score.high], [at, at]
        ax.plot(*((place, ends) if upright else (ends, place)), color=ink, ls="-", lw=3.5, alpha=0.35)


def line(ax: Axes, name: str, by: Mapping[float, Any]) -> Artist:
    """A method's scores with their intervals, from left to right. by: a Summary by place."""
    _, colour, mark, filled = MARKS[name]
    ink = figures.COLOURS[colour]
    for x, score in by.items():
        interval(ax, score, x, ink, upright=True)
    drawn, = ax.plot(list(by), [score.mean for score in by.values()], mark, ls="-" if filled else "--", color=ink,
                     ms=6, mew=1.4, lw=1.5, mfc=ink if filled else "none")
    return drawn


@figures.style()
def few(surveys: Mapping[str, Mapping[str, Mapping[int | None, Any]]]) -> Figure:
    """Macro F1 against the number of labels, a panel a survey, one below the other so that a phone shows them, and a
    line a method, with intervals, side by side.

    surveys: a Summary by title, then by MARKS, then by count; None is all labels, and lies apart.
    """
    counts = sorted({n for methods in surveys.values() for by in methods.values() for n in by if n})
    apart = counts[-1] * 4
    fig, axes = plt.subplots(len(surveys), 1, figsize=(4.9, 2.9 * len(surveys) + 1.1), sharey=True, squeeze=False)
    drawn = {}
    for ax, (survey, methods) in zip(axes[:, 0], surveys.items(), strict=True):
        for name, by in methods.items():
            aside = 1.06 ** (list(MARKS).index(name) - 2)  # so that intervals do not cover one another
            drawn[name] = line(ax, name, {n * aside: by[n] for n in counts if n in by})
            if None in by:
                line(ax, name, {apart * aside: by[None]})
        ax.set(title=survey, xscale="log", ylabel="macro F1")
        ax.set_xticks([*counts, apart], [*map(str, counts), "all"])
        ax.minorticks_off()
    means = [one.mean for methods in surveys.values() for by in methods.values() for one in by.values()]
    axes[0, 0].set(ylim=(min(means) - 0.07, max(means) + 0.07))  # of few draws intervals are long
    axes[-1, 0].set(xlabel="labels in all")
    fig.legend([drawn[name] for name in MARKS if name in drawn], [MARKS[name][0] for name in MARKS if name in drawn],
               loc="outside lower center", ncols=2, fontsize=8.5)
    return fig


@figures.style()
def passes(surveys: Mapping[str, Mapping[str, Mapping[int, Any]]]) -> Figure:
    """Macro F1 against passes over the labels, a panel a survey, a line for each start, with intervals.

    surveys: a Summary by title, then by MARKS, then by passes.
    """
    counts = sorted({n for starts in surveys.values() for by in starts.values() for n in by})
    fig, axes = plt.subplots(1, len(surveys), figsize=(4.9, 3.3), sharey=True, squeeze=False)
    drawn = {}
    for ax, (survey, starts) in zip(axes[0], surveys.items(), strict=True):
        for name, by in starts.items():
            drawn[MARKS[name][0]] = line(ax, name, {n: by[n] for n in counts if n in by})
        ax.set(title=survey, xscale="log", xlim=(counts[0] / 1.6, counts[-1] * 1.6), xlabel="passes")
        ax.set_xticks(counts, counts)
        ax.minorticks_off()
    axes[0, 0].set(ylabel="macro F1")
    fig.legend(drawn.values(), drawn, loc="outside lower center", ncols=2, fontsize=8.5)
    return fig


@figures.style()
def biased(found: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Figure:
    """Macro F1 on SPCC with intervals, a row for what RoMAE saw first: above by the challenge's labels, below by labels
    at random. found: a Summary by row, by passes over the labels, of trees 0, and by "others", "held back" or
    "random"; after the fewest passes the marks are hollow, after more than 48 as dark as the ink."""
    fig, axes = plt.subplots(2, 1, figsize=(4.9, 0.84 * len(found) + 1.9), sharex=True)
    panels = (("the challenge's labels", ("held back", "others")), ("a thousand labels at random", ("random",)))
    words = {"others": "all others, mostly faint", "held back": "labelled ones held back, bright"}
    counts, drawn = sorted({n for by in found.values() for n in by if n}), {}
    least = counts[0]
    for ax, (title, parts) in zip(axes, panels, strict=True):
        for y, by_passes in enumerate(found.values()):
            for part in parts:
                scores = {passes: by[part] for passes, by in by_passes.items() if part in by}
                ink = figures.COLOURS["green" if 0 in scores else "amber" if part == "held back" else "blue"]
                mark = "D" if 0 in scores else "s" if part == "held back" else "o"
                for row, (passes, score) in enumerate(scores.items()):
                    at, ink = y + 0.26 * (row - (len(scores) - 1) / 2), figures.INK if passes > LONG else ink
                    interval(ax, score, at, ink)
                    dot, = ax.plot(score.mean, at, mark, color=ink, ms=6, mew=1.4,
                                   mfc="none" if passes == least else ink)
                    drawn |= {part: dot} if part in words and passes > least else {}
        ax.set(title=title, xlim=(0.35, 1), xticks=(0.4, 0.6, 0.8, 1), ylim=(len(found) - 0.5, -0.5))
        ax.set_yticks(range(len(found)), list(found), fontsize=8.5)
    axes[1].set_xlabel("macro F1")
    for passes in counts:
        ink = figures.INK if passes > LONG else figures.COLOURS["blue"]
        drawn[passes], = axes[1].plot([], [], "o", color=ink, ms=6, mew=1.4, mfc="none" if passes == least else ink)
        words[passes] = f"after {passes} passes"
    fig.legend([drawn[part] for part in words if part in drawn], [words[part] for part in words if part in drawn],
               loc="outside lower center", ncols=2, fontsize=8.5)
    return fig

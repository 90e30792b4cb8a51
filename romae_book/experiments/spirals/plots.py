"""Figures of chapter 05."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.tokens import Tokens

from .data import NOISE


@figures.style()
def errors(kinds: Mapping[str, Sequence], printed: float, live: float | None = None) -> Figure:
    """kinds: records by setting, the paper's first, whose marks are filled. printed: the paper's number. live: that of
    the chapter's own run."""
    fig, ax = plt.subplots(figsize=(7.4, 2.5))
    blue, papers = COLOURS["blue"], next(iter(kinds.values()))
    drawn = {label: runs for label, runs in kinds.items() if runs}
    for y, runs in enumerate(drawn.values()):
        values = [run.metrics["rmse_clean"] for run in runs]
        ax.plot(values, [y] * len(values), "o", color=blue, mfc=blue if runs is papers else "none", ms=6, ls="none")
    if papers:
        for key, dash, colour, words in (
            ("bayes", "--", "vermillion", "best possible"),
            ("lstsq", ":", "green", "least-squares fit of the formula"),
        ):
            level = np.mean([run.metrics[f"rmse_clean_{key}"] for run in papers])
            ax.axvline(level, color=COLOURS[colour], ls=dash, lw=1.6, label=words)
    ax.axvline(printed, color=COLOURS["purple"], ls="-", lw=1.4, label="Table 7 (of which error, it does not say)")
    rows = list(drawn)
    if live is not None:
        ax.plot(live, len(rows), "x", color=blue, ms=8, mew=2, ls="none")
        rows.append("your run")
    ax.set_yticks(range(len(rows)), rows)
    ax.set(xscale="log", xlabel="RMSE to the clean curve", ylim=(len(rows) - 0.5, -0.5))
    ticks = (0.015, 0.02, 0.03, 0.05) if max(0.05, live or 0) < 0.1 else (0.015, 0.05, 0.2, 1)
    ax.set_xticks(ticks, map(str, ticks))
    ax.minorticks_off()
    fig.legend(loc="outside lower center", ncols=3)
    return fig


@figures.style()
def examples(test: Tokens) -> Figure:
    """One spiral of each kind."""
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
    for ax, clockwise, title in zip(axes, (False, True), ("outwards", "inwards"), strict=True):
        i = int((test.aux["clockwise"] == clockwise).nonzero()[0])
        clean, noisy, hidden = test.aux["clean"][i], test.values[i], test.aux["hidden"][i]
        ax.plot(*clean.T, color=COLOURS["grey"], lw=1.2, ls="-", label="true curve")
        ink = {"color": INK, "ms": 4, "ls": "none"}
        ax.plot(*noisy[hidden].T, "o", mfc="none", label=f"{int(hidden.sum())} hidden", **ink)
        ax.plot(*noisy[~hidden].T, "o", label=f"{int((~hidden).sum())} observed", **ink)
        ax.set(title=title, xlabel="x", ylabel="y")
    fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig


@figures.style()
def learning_curve(history: Sequence[Mapping], batch: int) -> Figure:
    ax = figures.learning_curve(history, {
        "loss": "training loss: mean squared error",
        "valid_rmse_noisy": "RMSE to noisy validation points",
        "valid_rmse_clean": "RMSE to their clean curves",
    })
    ax.axhline(NOISE, label="noise: no RMSE to noisy points is lower", color=COLOURS["vermillion"], lw=1.2, ls="--")
    ax.set(xlabel=f"step ({batch} spirals each)", ylabel="error, in the units of the curve")
    ax.legend()
    return ax.figure


@figures.style()
def error_by_count(ratios: Mapping[str, Mapping[int, float]]) -> Figure:
    """ratios: of each model, its error over the best possible by the number of points shown; the last is the model
    that saw any number."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    looks = ({"ls": "--", "marker": "o", "mfc": "none"}, {"ls": ":", "marker": "s", "mfc": "none"},
             {"ls": "-.", "marker": "D", "mfc": "none"}, {"ls": "-", "marker": "o"})
    for (label, ratio), look in zip(ratios.items(), looks, strict=False):
        ax.plot(list(ratio), list(ratio.values()), color=COLOURS["blue"], ms=4, label=label, **look)
    ax.axhline(1, color=COLOURS["vermillion"], lw=1.4, ls="--", label="best possible")
    ax.set(xlabel="points shown", ylabel="error, times the best possible", yscale="log")
    ticks = [1, 3, 10, 30, 100]
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    ax.legend(fontsize=8.5)
    return fig

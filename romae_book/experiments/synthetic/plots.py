"""Figures of chapter 06."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.tokens import Tokens

from .data import GRIDS, weights
from .experiment import COUNTS

BLUE, GREY, ORANGE = COLOURS["blue"], COLOURS["grey"], COLOURS["vermillion"]


def by_count(runs: Sequence, predictor: str = "") -> np.ndarray:
    """MSE to the noisy points, (runs, numbers of observed points)."""
    return np.array([[run.metrics[f"mse_noisy_n{n}{predictor}"] for n in COUNTS] for run in runs])


@figures.style()
def excess_by_count(kinds: Mapping[str, Sequence], by_table: Sequence, same_data: Sequence,
                    live: Mapping[str, float] | None = None) -> Figure:
    """How far above the Gaussian process. kinds: records by label, among them the paper's and ours on its data. live:
    metrics of the chapter's own run, with those of the Gaussian process on its test series."""
    fig, ax = plt.subplots(figsize=(7, 3.2))
    for label, runs in kinds.items():
        dash = "-" if runs is by_table else "-." if runs is same_data else "--"
        excess = 100 * (by_count(runs) / by_count(runs, "_gp") - 1)
        band = excess.mean(0), excess.min(0), excess.max(0)
        figures.band(ax, COUNTS, *band, color=BLUE, ls=dash, label=f"{label} (n = {len(runs)})")
    if by_table:
        linear = by_count(by_table, "_linear").mean(0) / by_count(by_table, "_gp").mean(0)
        ax.plot(COUNTS, 100 * (linear - 1), color=COLOURS["green"], lw=1.4, ls=":", label="straight lines")
    if live:
        mine = [100 * (live[f"mse_noisy_n{n}"] / live[f"mse_noisy_n{n}_gp"] - 1) for n in COUNTS]
        ax.plot(COUNTS, mine, "x", color=BLUE, ms=6, ls="none", label="your run")
    ax.axvspan(10.5, max(COUNTS), color=GREY, alpha=0.12, lw=0)
    ax.set(xlabel="observed points", ylabel="% above the best possible", xlim=(2.5, 25.5))
    ax.legend()
    return fig


@figures.style()
def one_series(series: Tokens, grid: str, observed: int = 6) -> Figure:
    """Left, the weights of the generator; right, the first series."""
    t, references = GRIDS[grid]
    clean, noisy, rank = series.aux["clean"][0], series.values[0, :, 0], series.aux["rank"][0]
    fig, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.0))
    for k, column in enumerate(weights(np.linspace(0, 1, 400), grid).T):
        left.plot(np.linspace(0, 1, 400), column, color=INK, lw=1.1, ls="-" if k % 2 else "--")
    left.set(title="ten weights", xlabel="time", ylabel="$w_k(t)$")
    right.plot(t, clean, color=GREY, lw=1.2, ls="-", label="true curve")
    right.plot(references, series.aux["heights"][0], "x", color=GREY, ms=6, ls="none", label="heights")
    seen = rank < observed
    right.plot(t[seen], noisy[seen], "o", color=INK, ls="none", label=f"{observed} observed points")
    right.set(title="one series", xlabel="time", ylabel="value")
    right.legend()
    return fig


@figures.style()
def learning_curve(history: Sequence[Mapping], best: float, batch: int) -> Figure:
    """best: the error of the Gaussian process."""
    labels = {"loss": "loss on training series", "valid_mse_noisy": "validation series"}
    ax = figures.learning_curve(history, labels, log=False)
    ax.axhline(best, label="best possible", color=ORANGE, lw=1.2, ls="--")
    ax.set(ylim=(0, 0.7), xlabel=f"step ({batch} series each)", ylabel="mean squared error to noisy points")
    ax.legend()
    return ax.figure

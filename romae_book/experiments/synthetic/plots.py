"""Figures of chapter 06."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.rope import frequencies
from romae_lite.tokens import Tokens

from . import rivals
from .data import GRIDS, weights
from .experiment import COUNTS, EXAMPLES

BLUE, GREY, ORANGE = COLOURS["blue"], COLOURS["grey"], COLOURS["vermillion"]


def by_count(runs: Sequence, predictor: str = "") -> np.ndarray:
    """MSE to the noisy points, (runs, numbers of observed points)."""
    return np.array([[run.metrics[f"mse_noisy_n{n}{predictor}"] for n in COUNTS] for run in runs])


@figures.style()
def excess_by_count(kinds: Mapping[str, Sequence], by_table: Sequence, same_data: Sequence) -> Figure:
    """How far above the Gaussian process. kinds: records by label, among them the paper's and ours on its data."""
    fig, ax = plt.subplots(figsize=(7, 3.2))
    for label, runs in kinds.items():
        dash = "-" if runs is by_table else "-." if runs is same_data else "--"
        excess = 100 * (by_count(runs) / by_count(runs, "_gp") - 1)
        band = excess.mean(0), excess.min(0), excess.max(0)
        figures.band(ax, COUNTS, *band, color=BLUE, ls=dash, label=f"{label} (n = {len(runs)})")
    if by_table:
        linear = by_count(by_table, "_linear").mean(0) / by_count(by_table, "_gp").mean(0)
        ax.plot(COUNTS, 100 * (linear - 1), color=COLOURS["green"], lw=1.4, ls=":", label="straight lines")
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
def posteriors(series: Tokens, grid: str) -> Figure:
    """The Gaussian process on the first series, with more and more observed points."""
    t = GRIDS[grid][0]
    at = np.linspace(0, t[-1], 300)
    values, order = series.values[:1, :, 0].double().numpy(), series.aux["rank"][:1].numpy()
    fig, axes = plt.subplots(1, 3, figsize=(8.2, 2.8), sharey=True)
    for ax, n in zip(axes, EXAMPLES, strict=True):
        mean, variance = rivals.posterior(values, order < n, grid, at)
        band = 2 * np.sqrt(variance[0])
        figures.band(ax, at, mean[0], mean[0] - band, mean[0] + band, color=ORANGE, ls="--")
        ax.plot(t, series.aux["clean"][0], color=GREY, lw=1.2, ls="-")
        ax.plot(t[order[0] < n], values[order < n], "o", color=INK, ms=4, ls="none")
        ax.set(title=f"{n} observed points", xlabel="time")
    return fig


@figures.style()
def agreement_over_distance(grid: str) -> Figure:
    """Of a rotated query with itself, and of the series with itself."""
    t = GRIDS[grid][0]
    lag, theta = np.linspace(0, 0.98, 300), frequencies(60).numpy()  # a head of the paper's tiny model
    w = weights(t, grid)
    covariance = w @ w.T
    correlation = covariance / np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    fig, ax = plt.subplots()
    for scale, dash in ((1, "-"), (10, "--"), (50, ":")):  # solid: the paper's unit
        agreement = np.cos(lag[:, None] * scale * theta).mean(1)
        ax.plot(lag, agreement, color=BLUE, ls=dash, label=f"rotation, positions × {scale}")
    own = [np.diagonal(correlation, k).mean() for k in range(len(t))]
    ax.plot(t - t[0], own, color=INK, ls="-", lw=1, label="correlation of the series")
    ax.set(xlabel="distance in time", ylabel="agreement", xlim=(0, 0.6))
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.06))
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


@figures.style()
def predictions(runs: Mapping[str, object]) -> Figure:
    """runs: one record by label. Predictions of its first series with more and more observed points."""
    fig, axes = plt.subplots(len(runs), len(EXAMPLES), figsize=(8.2, 4.6), sharex=True, sharey=True, squeeze=False)
    for (label, run), row in zip(runs.items(), axes, strict=True):
        kept, grid = run.arrays, run.config["grid"]
        times = GRIDS[grid][0]
        row[0].set_ylabel(label)
        for i, (ax, n) in enumerate(zip(row, EXAMPLES, strict=True)):
            seen = kept["rank"][0] < n
            ax.plot(times[~seen], kept["romae"][i, 0][~seen], color=BLUE, lw=1.8, label="RoMAE")
            best = rivals.gp(kept["noisy"][:1].astype(float), seen[None], grid)[0]
            ax.plot(times, best, color=ORANGE, lw=1.2, ls="--", label="Gaussian process")
            ax.plot(times, kept["clean"][0], color=GREY, lw=1, ls="-", label="true curve")
            ax.plot(times[seen], kept["noisy"][0][seen], "o", color=INK, ms=3.5, ls="none")
            ax.set_title(f"{n} observed points" if row is axes[0] else "")
    fig.legend(*axes[0, -1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return fig

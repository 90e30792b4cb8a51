"""Figures of chapter 05."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.tokens import Tokens

from . import rivals
from .data import NOISE
from .experiment import Spirals


@figures.style()
def errors(kinds: Mapping[str, Sequence], printed: float) -> Figure:
    """kinds: records by setting, the paper's first, whose marks are filled. printed: the paper's number."""
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
    ax.set_yticks(range(len(drawn)), list(drawn))
    ax.set(xscale="log", xlabel="RMSE to the clean curve, one mark per run", ylim=(len(drawn) - 0.5, -0.5))
    ax.set_xticks([0.015, 0.02, 0.03, 0.04], ["0.015", "0.02", "0.03", "0.04"])
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


def best_on_validation(runs: Sequence) -> float | None:
    """Return the error of the best possible predictor on the runs' own validation spirals; None without a run."""
    least = []
    for seed in {run.seed for run in runs}:
        valid = Spirals.paper().data(seed).valid
        theta, seen = valid.positions[..., 0].numpy(), ~valid.aux["hidden"].numpy()
        best = rivals.bayes(theta, valid.values.double().numpy(), seen)
        least.append(Spirals.score(best, valid)["rmse_clean"])
    return float(np.mean(least)) if least else None


@figures.style()
def error_by_spirals_shown(by_table: Sequence, best: Sequence, level: float | None) -> Figure:
    """Histories of the records of two settings. level: error of the best possible predictor."""
    fig, ax = plt.subplots()
    for runs, dash, label in (
        (by_table, "-", "Table 19: 200 spirals, repeated"), (best, "--", "ours: never one twice"),
    ):
        for i, run in enumerate(runs):
            shown = [entry["epoch"] * run.config["n_train"] / 1000 for entry in run.history]
            error = [entry["valid_rmse_clean"] for entry in run.history]
            ax.plot(shown, error, color=COLOURS["blue"], lw=1.2, ls=dash, label=label if i == 0 else None)
    if level is not None:
        ax.axhline(level, color=COLOURS["vermillion"], lw=1.4, ls="--")
        ax.annotate("best possible", (0, level), xytext=(2, 3), textcoords="offset points", fontsize=9)
    ax.set(xlabel="thousands of spirals shown", ylabel="validation RMSE to the clean curve", yscale="log")
    ax.legend()
    return fig

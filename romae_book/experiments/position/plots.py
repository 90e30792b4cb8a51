"""Figures of chapter 03."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.rope import frequencies


def score(difference: ArrayLike, width: int = 60) -> np.ndarray:
    """Return the score of a token with [CLS] as a share of its peak, in a head of `width` channels, all pairs equal."""
    return np.cos(np.multiply.outer(difference, frequencies(width).numpy())).mean(-1)


def inside(arrays: Mapping, pattern: int) -> np.ndarray:
    """Return which shifts leave all tokens of a pattern within (1, 50), (K,) bool."""
    offsets, shifts = arrays["offsets"][pattern], arrays["shifts"]
    return (shifts + offsets.min() >= 1) & (shifts + offsets.max() <= 50)


@figures.style()
def scores_of_keys() -> Figure:
    t = np.linspace(0, 50, 1001)
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    for r, shade in zip((5.0, 17.3, 40.0), ("grey", "blue", "green"), strict=True):
        ax.plot(t, score(r - t), label=f"key made for r = {r:g}", color=COLOURS[shade])
    ax.set(xlabel="position t of the token", ylabel="score, share of its peak", xlim=(0, 50))
    fig.legend(loc="outside upper center", ncols=3)
    return fig


@figures.style()
def setups(groups: Mapping[str, Sequence], variance: float, relative: float) -> Figure:
    """groups: records by label. Left, the test error of each; right, answers of one run while its tokens move."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.5), width_ratios=(1.25, 1))
    shades = ("grey", "green", "amber", "purple", "vermillion", "blue")
    ends = {}  # of the lines of the right panel: those that end at one height share a label
    for y, (runs, shade) in enumerate(zip(groups.values(), shades, strict=False)):
        errors = [run.metrics["mse"] for run in runs]
        left.plot(errors, [y] * len(errors), "o", color=COLOURS[shade], mfc="none", ms=6, ls="none")
        arrays = runs[0].arrays
        within = inside(arrays, 0)
        where = (arrays["shifts"] + arrays["offsets"][0].mean())[within]
        answers = arrays["named"][0, within].mean(1)
        right.plot(where, answers, color=COLOURS[shade], ls=figures.DASHES[y])
        ends.setdefault(round(answers[-1] / 2.5), (where[-1] + 0.6, answers[-1], []))[2].append(str(y + 1))
    for x, height, numbers in ends.values():
        right.text(x, height, ", ".join(numbers), fontsize=8.5, va="center")
    left.set_yticks(range(len(groups)), [f"{i}  {label}" for i, label in enumerate(groups, start=1)], fontsize=9)
    left.invert_yaxis()
    left.axvline(variance, color=INK, lw=0.9, ls=":")
    left.axvline(relative, color=COLOURS["vermillion"], lw=1.2, ls="--")
    left.set(xscale="log", xlabel="test MSE, units squared")
    right.plot([1, 50], [1, 50], color=INK, lw=0.8, ls=":")
    right.set(xlabel="mean position of the tokens", ylabel="mean answer", xlim=(1, 50), ylim=(1, 50))
    return fig


@figures.style()
def learning_curve(history: Sequence[Mapping], variance: float, relative: float) -> Figure:
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    entries = [entry for entry in history if "valid_mse" in entry]
    for key, dash, label in (
        ("valid_mse", "-", "error"), ("valid_mse_differences", ":", "error in differences alone"),
    ):
        ax.plot([e["step"] for e in entries], [e[key] for e in entries], color=COLOURS["blue"], ls=dash, label=label)
    ax.axhline(variance, color=INK, lw=0.9, ls=":")
    ax.axhline(relative, color=COLOURS["vermillion"], lw=1.2, ls="--", label="best from differences")
    ax.set(xlabel="step", ylabel="validation MSE, units squared", yscale="log")
    ax.legend()
    return fig

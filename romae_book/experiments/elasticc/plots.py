"""The figures of chapter 10: light curves, losses, what a setting changes, what is confused, how long to wait."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray

from ... import figures
from .data import BANDS, DETECTED, LightCurves
from .experiment import DAYS

INKS = dict(zip(BANDS, ("purple", "blue", "green", "amber", "vermillion", "grey"), strict=True))
MARKS = dict(zip(BANDS, "os^Dv*", strict=True))


@figures.style()
def changes(pairs: Mapping[str, Sequence[float]], intervals: Mapping[str, tuple[float, float] | None]) -> Figure:
    """Differences seed by seed, a row for each setting that was changed, with the interval of their mean."""
    fig, ax = plt.subplots(figsize=(7.2, 2.9))
    blue = figures.COLOURS["blue"]
    for y, (name, values) in enumerate(pairs.items()):
        ax.plot(values, [y] * len(values), "o", mfc="none", ms=5, ls="none", color=blue)
        if intervals[name]:
            ax.plot(intervals[name], (y, y), "-", color=blue, lw=1.2)
    ax.axvline(0, color=figures.INK, lw=0.8, ls=":")
    ax.set_yticks(range(len(pairs)), list(pairs))
    ax.set(xlabel="change in macro F-score, seed by seed (made-up light curves)", ylim=(len(pairs) - 0.5, -0.5))
    return fig


@figures.style()
def light_curves(curves: LightCurves, names: Sequence[str], classes: Sequence[str]) -> Figure:
    """One object of each of up to six classes, that at four fifths of the class by its number of detections.

    classes: those to show; names: of all, by label.
    """
    detections = np.add.reduceat((curves.flags & DETECTED) > 0, curves.start[:-1])
    fig, axes = plt.subplots(3, 2, figsize=(8.4, 7.2))
    for ax, name in zip(axes.flat, classes, strict=False):
        mine = np.flatnonzero(curves.label == names.index(name))
        if not len(mine):
            continue
        one = curves.take(mine[np.argsort(detections[mine], kind="stable")[[4 * len(mine) // 5]]])
        days, seen = one.time - one.first_detection()[0], (one.flags & DETECTED) > 0
        for b, band in enumerate(BANDS):
            here = one.band == b
            style = dict(color=figures.COLOURS[INKS[band]], ls="none", marker=MARKS[band])
            ax.plot(days[here & ~seen], one.flux[here & ~seen], ms=2, **style)
            ax.plot(days[here & seen], one.flux[here & seen], ms=5, label=band, **style)
        ax.set(title=name)
    axes[1, 0].set_ylabel("flux difference")
    axes[0, 0].legend(ncols=2, fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("days since the first detection")
    return fig


@figures.style()
def losses(history: Sequence[Mapping[str, float]], weighted: bool) -> Figure:
    """Training and validation loss of both stages. weighted: whether fine-tuning weights the classes."""
    stages = (
        ("pretrain", "pre-training", "training", "MSE of hidden visits"),
        ("fine-tune", "fine-tuning", "training, classes weighted" if weighted else "training", "cross-entropy"),
    )
    fig, axes = plt.subplots(1, 2, figsize=(8.2, 3.2))
    blue = figures.COLOURS["blue"]
    for ax, (stage, title, words, unit) in zip(axes, stages, strict=True):
        part = [entry for entry in history if entry.get("stage") == stage]
        epoch = [entry["epoch"] for entry in part]
        if part:
            ax.plot(epoch, [entry["loss"] for entry in part], color=blue, ls="-", label=words)
        if part and "valid_loss" in part[0]:
            ax.plot(epoch, [entry["valid_loss"] for entry in part], color=blue, ls=":", label="validation")
            ax.legend()
        ax.set(title=title, xlabel="epoch", ylabel=unit)
    return fig


@figures.style()
def confusion(counts: ndarray, names: Sequence[str], about: str) -> Figure:
    """Confusion matrix, (K, K) true by predicted, in per cent of the true class; shares below 5 % have no number."""
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    fig, ax = plt.subplots(figsize=(7.2, 6.4))
    ax.imshow(share, cmap="cividis", vmin=0, vmax=1)
    for i, j in np.argwhere(share >= 0.05):
        ink = "#ffffff" if share[i, j] < 0.55 else "#000000"
        ax.text(j, i, f"{100 * share[i, j]:.0f}", ha="center", va="center", fontsize=7.5, color=ink)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set(xlabel=f"predicted ({about})", ylabel="true")
    ax.grid(False)
    return fig


@figures.style()
def waiting(by_day: ndarray, arrays: Sequence[Mapping[str, ndarray]]) -> Figure:
    """Score against days since the first detection, and right answers against the number of visits and detections.

    by_day: macro F-score of each seed and day, (seeds, T). arrays: visits, detections, label and predicted of each
    seed, (n,).
    """
    fig, axes = plt.subplots(1, 2, figsize=(8.4, 3.3))
    blue = figures.COLOURS["blue"]
    axes[0].plot(range(len(DAYS)), by_day.mean(0), marker="o", ls="-", color=blue)
    if len(by_day) > 1:
        axes[0].fill_between(range(len(DAYS)), by_day.min(0), by_day.max(0), color=blue, alpha=0.18, lw=0)
    axes[0].set_xticks(range(len(DAYS)), DAYS)
    axes[0].set(xlabel="days after the first detection", ylabel="macro F-score", ylim=(0, 1))
    right = np.concatenate([a["label"] == a["predicted"] for a in arrays])
    for key, mark, dash in (("visits", "o", "-"), ("detections", "s", "--")):
        count = np.concatenate([a[key] for a in arrays])
        edges = np.unique(np.quantile(count, np.linspace(0, 1, 9)))
        group = np.clip(np.searchsorted(edges, count, side="right") - 1, 0, len(edges) - 2)
        groups = [group == g for g in range(len(edges) - 1) if (group == g).any()]
        where, share = [np.median(count[g]) for g in groups], [right[g].mean() for g in groups]
        axes[1].plot(where, share, marker=mark, ls=dash, color=blue, label=key)
    axes[1].set(xscale="log", xlabel="visits, or detections", ylabel="share of right answers", ylim=(0, 1))
    axes[1].legend()
    return fig

"""Chapters 00 to 02: the running example drawn. Waves of unknown period and phase, read at odd moments."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray

from .. import figures

SPAN, NOISE = 20.0, 0.1  # a series lasts from 0 to SPAN; standard deviation of the noise of a reading
PERIODS = np.linspace(6, 10, 81)  # the prior, on a grid: period and phase are uniform
PHASES = np.arange(64) / 64
BLUE, GREEN, ORANGE, GREY = (figures.COLOURS[name] for name in ("blue", "green", "vermillion", "grey"))
LINES = {  # how an answer is drawn, by its name
    "RoMAE": {"color": BLUE, "ls": "-"},
    "your model": {"color": BLUE, "ls": "-"},
    "told times": {"color": BLUE, "ls": "-"},
    "told numbers": {"color": GREEN, "ls": "-."},
    "best possible": {"color": ORANGE, "ls": "--"},
    "straight lines": {"color": GREEN, "ls": ":"},
}


def wave(t: ndarray, period: ndarray | float, phase: ndarray | float) -> ndarray:
    return np.sin(2 * np.pi * (t / period + phase))


def weighed(times: ndarray, values: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """All waves of the grid, periods and phases (K, 1), and how probable each is after these readings (n,)."""
    period, phase = (x.reshape(-1, 1) for x in np.meshgrid(PERIODS, PHASES))
    miss = ((wave(times, period, phase) - values) ** 2).sum(1)
    weight = np.exp(-(miss - miss.min()) / (2 * NOISE**2))
    return period, phase, weight / weight.sum()


def best(times: ndarray, values: ndarray, at: ndarray) -> ndarray:
    """The mean of all waves, by their probability: no answer has a smaller expected squared error."""
    period, phase, weight = weighed(times, values)
    return weight @ wave(at, period, phase)


def best_error(times: ndarray, values: ndarray) -> float:
    """Mean squared error of `best` on every other reading of series (n, N), from the rest."""
    missed = [best(t[::2], v[::2], t[1::2]) - v[1::2] for t, v in zip(times, values, strict=True)]
    return float(np.mean(np.square(missed)))


def dots(ax: Axes, times: ndarray, values: ndarray, shown: ndarray | None = None) -> None:
    """Readings: full where shown, hollow where hidden."""
    shown = np.ones(len(times), bool) if shown is None else shown
    ax.plot(times[shown], values[shown], "o", ls="none", color=figures.INK, label="shown", zorder=4)
    if not shown.all():
        ax.plot(times[~shown], values[~shown], "o", ls="none", mfc="none", mec=figures.INK, label="hidden", zorder=4)
    ax.set(xlim=(0, SPAN), ylim=(-1.45, 1.45), ylabel="value")


@figures.style()
def readings(times: ndarray, values: ndarray, grid: ndarray, truth: ndarray) -> Figure:
    """One series (n,), and the wave behind it at the moments of a grid."""
    fig, ax = plt.subplots(figsize=(6, 2.2))
    ax.plot(grid, truth, color=GREY, lw=1.3, ls="-", label="the wave")
    dots(ax, times, values)
    ax.set(xlabel="time")
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return fig


@figures.style()
def answers(
    rows: Sequence[tuple[ndarray, ndarray, ndarray]], grid: ndarray, curves: Sequence[Mapping[str, ndarray]],
    truths: Sequence[ndarray] = (), rng: np.random.Generator | None = None,
) -> Figure:
    """What is said between the readings, one series a row.

    rows: times (n,), values (n,), shown (n,) bool of each series. curves: for each the answers (T,) at the grid (T,),
    by a name in `LINES`. truths: the true curves (T,). rng: draws, behind them, forty of the waves that are possible.
    """
    fig, axes = plt.subplots(len(rows), 1, figsize=(6, 0.5 + 1.55 * len(rows)), sharex=True, squeeze=False)
    for i, (ax, (times, values, shown), named) in enumerate(zip(axes[:, 0], rows, curves, strict=True)):
        if rng is not None:
            periods, phases, weight = weighed(times[shown], values[shown])
            for k in rng.choice(len(weight), 40, p=weight):
                ax.plot(grid, wave(grid, periods[k], phases[k]), color=GREY, lw=0.6, ls="-", alpha=0.3)
            ax.plot([], [], color=GREY, lw=0.8, ls="-", alpha=0.6, label="possible waves")
        if len(truths):
            ax.plot(grid, truths[i], color=GREY, lw=1.3, ls="-", label="the wave")
        for name, curve in named.items():
            ax.plot(grid, curve, label=name, **LINES[name])
        dots(ax, times, values, shown)
    axes[-1, 0].set(xlabel="time")
    handles = dict(zip(*reversed(axes[0, 0].get_legend_handles_labels()), strict=True))
    fig.legend(handles.values(), handles, loc="outside upper right", ncols=3)
    return fig


@figures.style()
def learning(curves: Mapping[str, Sequence[tuple[float, float]]], best: float) -> Figure:
    """Training losses, (step, loss) each, by a name in `LINES`, and the best possible error."""
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for name, curve in curves.items():
        ax.plot(*zip(*curve, strict=True), label=name, **LINES[name])
    ax.axhline(best, label="best possible", **LINES["best possible"])
    ax.set(xlabel="training step", ylabel="mean squared error\non hidden readings", yscale="log")
    ax.legend()
    return fig


@figures.style()
def errors(shown: Sequence[int], found: Mapping[str, Sequence[float]]) -> Figure:
    """Mean squared errors by the number of readings shown, for names in `LINES`."""
    fig, ax = plt.subplots(figsize=(6, 2.8))
    for name, values in found.items():
        ax.plot(shown, values, marker="o", label=name, **LINES[name])
    ax.set(xlabel="readings shown, of 24", ylabel="mean squared error\non hidden readings", yscale="log")
    ax.legend()
    return fig


@figures.style()
def scores_by_distance(times: ndarray, scores: Mapping[str, ndarray]) -> Figure:
    """The score of every pair of tokens (N, N) against their distance, by the way in which times are told."""
    fig, axes = plt.subplots(2, 2, figsize=(6, 4), sharex=True, sharey=True)
    for ax, (kind, score) in zip(axes.flat, scores.items(), strict=True):
        distance = times[None] - times[:, None]
        colour = BLUE if kind == "rotated" else figures.INK
        ax.plot(distance.ravel(), score.ravel(), "o", ms=1.8, ls="none", color=colour)
        ax.set(title=kind)
    for ax in axes[1]:
        ax.set(xlabel="distance Δ")
    for ax in axes[:, 0]:
        ax.set(ylabel="score")
    return fig

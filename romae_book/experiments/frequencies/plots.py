"""Figures of chapter 04."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK

from .data import TOP


@figures.style()
def neighbours(rates: np.ndarray) -> Figure:
    """How far each pair can set the scores of two neighbours apart; rates in radians per unit."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    for delta, label, dash in ((1.0, "neighbours 1 apart", "-"), (0.01, "100 points in [0, 1]", "--")):
        ax.plot(2 * np.pi / rates, 2 * np.sin(rates * delta / 2), "o", ms=3.5, ls=dash, label=label, color=INK)
    ax.set(xscale="log", yscale="log", xlabel="wavelength of the pair, units", ylabel="largest difference / w")
    ax.legend()
    return fig


@figures.style()
def live_run(history: Sequence[Mapping], live: Mapping[str, float], baselines: Mapping[str, float],
             scale: float, by_scale: Mapping[float, Sequence] | None = None) -> Figure:
    """Left, the learning curve; right, errors at every frequency: live and baselines are metrics.

    by_scale: records by the factor on the times, drawn thin behind.
    """
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.2))
    blue, orange = COLOURS["blue"], COLOURS["vermillion"]
    for key, dash, label in (
        ("loss", "-", "training, hidden points"), ("valid_mse_clean", ":", "validation, clean curve"),
    ):
        entries = [e for e in history if key in e]
        left.plot([e["step"] for e in entries], [e[key] for e in entries], color=blue, ls=dash, label=label)
    left.set(xlabel="step", ylabel="mean squared error", yscale="log")
    left.legend(fontsize=8.5)
    hertz = np.arange(TOP + 1)
    for factor, runs in (by_scale or {}).items():
        errors = [np.mean([run.metrics[f"mse_clean_{f}hz"] for run in runs]) for f in hertz]
        right.plot(hertz, errors, color=COLOURS["grey"], lw=0.9)
        if factor < 100:  # above, the curves lie upon one another
            right.annotate(f"× {factor:g}", (hertz[-1], errors[-1]), xytext=(3, -3), textcoords="offset points",
                           fontsize=7)
    for metrics, suffix, look in (
        (live, "", {"color": blue, "ls": "-", "label": f"this run, × {scale:g}"}),
        (baselines, "_harmonic", {"color": orange, "ls": "--", "label": "best possible"}),
        (baselines, "_zero", {"color": INK, "ls": ":", "lw": 1, "label": "predicting zero"}),
    ):
        right.plot(hertz, [metrics[f"mse_clean_{f}hz{suffix}"] for f in hertz], **look)
    right.set(xlabel="frequency, Hz", ylabel="mean squared error, clean curve", yscale="log")
    # above the axes, since curves may be anywhere inside
    right.legend(fontsize=8.5, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, handlelength=2, columnspacing=1)
    return fig


@figures.style()
def units(curves: Mapping[str, Sequence], learnt: Mapping[str, Sequence]) -> Figure:
    """Skill by unit, a line a set; arrows from where a learnt unit began to where it ended: of `paper.units`."""
    fig, ax = plt.subplots(figsize=(4.9, 3.4))
    for (name, points), mark in zip(curves.items(), "osD^v", strict=False):
        gaps = [point.gap for point in points]
        line, = ax.plot(gaps, [point.left.mean for point in points], marker=mark, label=name)
        low, high = ([getattr(p.left, end) if p.left.low is not None else p.left.mean for p in points]
                     for end in ("low", "high"))
        ax.fill_between(gaps, low, high, color=line.get_color(), alpha=0.15, lw=0)
        for run in learnt.get(name, ()):
            begun = dict(zip(gaps, points, strict=True))[run.begun].left.mean
            ax.annotate("", (run.ended, run.left.mean), (run.begun, begun),
                        arrowprops=dict(arrowstyle="-|>", color=line.get_color(), lw=1.4, ls="--"))
    ax.axvline(1, color=INK, lw=0.8, ls=":")
    ax.set(xscale="log", ylim=(0, 1.1), xlabel="typical gap between neighbours, in units: the rule says 1",
           ylabel="share of the best unit's skill")
    ax.legend(loc="lower right", fontsize=8.5)
    return fig

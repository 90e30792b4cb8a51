"""Chapter 00: its two figures, and the sentence that compares the errors."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown
from matplotlib.figure import Figure
from numpy import ndarray

from romae_lite.tokens import Tokens

from .. import figures


@figures.style()
def learning(real_times: Sequence[Mapping[str, float]], numbers: Sequence[Mapping[str, float]]) -> Figure:
    """Losses of the model with either kind of positions, and the noise of a point."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    for label, history, colour, dash in (
        ("positions are real times", real_times, "blue", "-"),
        ("positions are numbers 0 to 23", numbers, "green", "-."),
    ):
        steps, losses = [entry["step"] for entry in history], [entry["loss"] for entry in history]
        ax.plot(steps, losses, color=figures.COLOURS[colour], ls=dash, label=label)
    ax.axhline(0.01, color=figures.COLOURS["grey"], ls=":", lw=1.2)
    ax.annotate("noise of a point", (0, 0.01), xytext=(2, 3), textcoords="offset points", fontsize=9)
    ax.set(xlabel="training step", ylabel="mean squared error\non hidden points", ylim=(0, None))
    ax.legend()
    return fig


def comparison(real_times: float, numbers: float, lines: float) -> Markdown:
    """What the three errors say."""
    than_lines = f", and {lines / real_times:.0f} times smaller than straight lines'" if lines > real_times else ""
    return Markdown(
        f"With real times the error is {numbers / real_times:.1f} times smaller than with numbers{than_lines}. "
        "That is a task made for the point: the times are all that differs between the two models. "
        "The experiments of this book have harder opponents, and RoMAE does not always win."
    )


@figures.style()
def between(seen: Tokens, times: ndarray, answer: ndarray, truth: ndarray) -> Figure:
    """The observed points of each series, and at so many times the answer (n, T, 1) and the true curve (n, T)."""
    fig, axes = plt.subplots(len(seen), 1, figsize=(6.6, 4), sharex=True)
    for i, ax in enumerate(axes):
        ax.plot(times, truth[i], color=figures.COLOURS["grey"], lw=1.3, ls="-", label="true curve")
        words = f"RoMAE, asked at {len(times)} times"
        ax.plot(times, answer[i, :, 0], color=figures.COLOURS["blue"], ls="-", label=words)
        points = seen.positions[i, :, 0], seen.values[i, :, 0]
        ax.plot(*points, "o", ls="none", color=figures.INK, label="observed")
        ax.set(ylabel="value")
    axes[-1].set(xlabel="time")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    return fig


def curves(rng: np.random.Generator, times: ndarray, count: int = 1000) -> tuple[ndarray, ndarray, ndarray]:
    """Draw again what the chapter's `series` drew by this generator: true curves at these times (count, T), and the
    periods and phases, (count, 1)."""
    rng.uniform(0, 20, (count, 24))  # the times of the points
    period, phase = rng.uniform(4, 12, (count, 1)), rng.uniform(0, 1, (count, 1))
    return np.sin(2 * np.pi * (times / period + phase)), period, phase

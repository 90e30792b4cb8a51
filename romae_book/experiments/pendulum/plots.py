"""Figures of chapter 08."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from romae_book import figures
from romae_book.figures import COLOURS

BLUE, GREY, ORANGE, PURPLE = (COLOURS[name] for name in ("blue", "grey", "vermillion", "purple"))
OTHERS = {"ridge": ("green", "s"), "Kalman": ("vermillion", "D")}  # by the first word of the label


@figures.style()
def errors(rows: Mapping[str, ArrayLike], printed: float) -> Figure:
    """rows: mean squared errors, one or several, by who makes them. printed: the paper's number."""
    fig, ax = plt.subplots(figsize=(7.4, 3.3))
    for y, (label, values) in enumerate(rows.items()):
        values = np.atleast_1d(values)
        colour, mark = OTHERS.get(label.split()[0], ("blue", "o"))
        papers = label.startswith("paper's settings") or "Table 15" in label
        mark = "x" if label == "your run" else mark
        look = {"color": COLOURS[colour], "mfc": COLOURS[colour] if papers else "none"}
        ax.plot(1e3 * values, np.full(len(values), y), mark, ms=5, ls="none", **look)
    for times, dash, words in ((1, "-", "Table 5, RoMAE as printed"), (10, "--", "the same times ten")):
        ax.axvline(1e3 * times * printed, color=PURPLE, lw=1.4, ls=dash, label=words)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(xscale="log", xlabel="mean squared error × 10⁻³, one mark per run", ylim=(len(rows) - 0.5, -0.5))
    fig.legend(loc="outside lower center", ncols=2)
    return fig


@figures.style()
def frames_of_a_clip(frames: np.ndarray, share: np.ndarray) -> Figure:
    """frames (n, 576) of one clip, share (n,) of the picture that the noise leaves."""
    fig, axes = plt.subplots(2, 8, figsize=(8, 2.7))
    last = len(frames) - 1
    for ax, slot in zip(axes.flat, np.linspace(min(3, last), last, 16).astype(int), strict=True):
        ax.imshow(frames[slot].reshape(24, 24), cmap="gray", vmin=0, vmax=255)
        ax.set_title(f"{share[slot]:.2f}", fontsize=9)
        ax.set(xticks=[], yticks=[])
        ax.grid(visible=False)
    return fig


@figures.style()
def learning_curve(history: Sequence[Mapping], kalman: float, batch: int) -> Figure:
    """kalman: the error of the Kalman smoother on the test clips."""
    ax = figures.learning_curve(history, {"loss": "loss on training clips", "valid_mse": "error on validation clips"})
    ax.axhline(kalman, label="Kalman smoother, test clips", color=ORANGE, lw=1.2, ls="--")
    ax.set(ylabel="mean squared error", xlabel=f"step ({batch} clips each)")
    ax.legend()
    return ax.figure

"""The figures of chapter 12: pictures of sounds, and the losses of both stages."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ... import figures
from .data import SHAPES, fbank, mel, waveform

HERTZ = 700 * np.expm1(np.linspace(mel(20), mel(8000), 9) / 1127)  # of every sixteenth band


@figures.style()
def sounds() -> Figure:
    """A log-mel picture of one synthesised sound of each kind, with the borders of the patches."""
    fig, axes = plt.subplots(2, 3, figsize=(8.2, 4.4), sharex=True, sharey=True)
    for kind, ax in enumerate(axes.flat):
        energy = fbank(waveform(kind, np.random.default_rng(kind)))
        extent = (0, len(energy) / 100, 0, 128)
        ax.imshow(energy.T, origin="lower", aspect="auto", cmap="Greys", interpolation="none", extent=extent)
        ax.set_title(SHAPES[kind], fontsize=10)
        ax.set_xticks([0.16 * k for k in range(9)], minor=True)
        ax.set_yticks(range(0, 129, 16), [f"{hz / 1000:.1f}" for hz in HERTZ])
        ax.grid(visible=False)
        for k in range(9):
            ax.axvline(0.16 * k, color=figures.COLOURS["blue"], lw=0.4)
            ax.axhline(16 * k, color=figures.COLOURS["blue"], lw=0.4)
    for ax in axes[-1]:
        ax.set_xlabel("time, s")
    for ax in axes[:, 0]:
        ax.set_ylabel("pitch, kHz")
    return fig


@figures.style()
def losses(history: Sequence[Mapping[str, float]]) -> Figure:
    """The loss of each stage that was trained, against steps."""
    titles = {"pretrain": "pre-training: error of hidden patches", "fine-tune": "fine-tuning: cross-entropy"}
    stages = [stage for stage in titles if any(entry["stage"] == stage for entry in history)]
    fig, axes = plt.subplots(1, len(stages), figsize=(8.2, 3), squeeze=False)
    for ax, stage in zip(axes[0], stages, strict=True):
        figures.learning_curve([entry for entry in history if entry["stage"] == stage], ax=ax, log=False)
        ax.set_title(titles[stage])
    return fig

"""The figures of chapter 12: pictures of sounds, the losses of both stages, accuracy by how a sound is cut."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ... import figures
from .data import SHAPES, fbank, mel, waveform

HERTZ = 700 * np.expm1(np.linspace(mel(20), mel(8000), 9) / 1127)  # of every sixteenth band


@figures.style()
def sounds() -> Figure:
    """Log-mel pictures of three synthesised sounds, with the borders of the patches."""
    fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.4), sharex=True, sharey=True)
    for kind, ax in zip((0, 1, 3), axes, strict=True):
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
        ax.set_xlabel("time, s")
    axes[0].set_ylabel("pitch, kHz")
    return fig


@figures.style()
def losses(history: Sequence[Mapping[str, float]]) -> Figure:
    """The loss of each stage that was trained, against steps."""
    titles = {"pretrain": ("pre-training", "mean squared error"), "fine-tune": ("fine-tuning", "cross-entropy")}
    stages = [stage for stage in titles if any(entry["stage"] == stage for entry in history)]
    fig, axes = plt.subplots(1, len(stages), figsize=(5.8, 2.6), squeeze=False)
    for ax, stage in zip(axes[0], stages, strict=True):
        figures.learning_curve([entry for entry in history if entry["stage"] == stage], ax=ax, log=False)
        ax.set(title=titles[stage][0], xlabel="step", ylabel=titles[stage][1])
    return fig


@figures.style()
def cuts(found: Mapping[str, Mapping[str, tuple[float, float]]]) -> Figure:
    """found: by whose model, and by how the sounds are cut, accuracies by seconds and by number."""
    fig, axes = plt.subplots(1, len(found), figsize=(5.6, 2.6), sharey=True, squeeze=False)
    blue = figures.COLOURS["blue"]
    for ax, (title, rows) in zip(axes[0], found.items(), strict=True):
        for k, (label, full) in enumerate((("by seconds", True), ("by number", False))):
            values = [100 * pair[k] for pair in rows.values()]
            ax.plot(values, range(len(rows)), "so"[full], color=blue, mfc=blue if full else "none", ms=7 - 2 * full,
                    ls="none", label=label)
        ax.set(title=title, xlabel="accuracy, %", yticks=range(len(rows)), ylim=(len(rows) - 0.5, -0.5))
        ax.set_yticklabels(list(rows))
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig

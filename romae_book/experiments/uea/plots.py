"""The figures of chapter 09: accuracies set by set, series, losses, LSST class by class."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy import ndarray

from romae_lite.tokens import Tokens

from ... import figures
from .data import SETS

LSST = (  # what the contest's numbers stand for, in their order
    "6 microlensing", "15 tidal disruption", "16 eclipsing binary", "42 SN II", "52 SN Iax", "53 Mira", "62 SN Ibc",
    "64 kilonova", "65 M-dwarf flare", "67 SN Ia-91bg", "88 AGN", "90 SN Ia", "92 RR Lyrae", "95 superluminous SN",
)
PLACES = {  # the lines of `accuracies`: colour, mark, whether it is filled
    "the paper's RoMAE": ("purple", "D", True),
    "strongest quoted there": ("purple", "D", False),
    "paper's settings": ("blue", "o", True),
    "the same, dropout on": ("blue", "x", False),
    "our settings": ("blue", "^", False),
    "MiniRocket": ("green", "s", True),
    "boosted trees": ("green", "s", False),
    "your run": ("blue", "P", True),
}


@figures.style()
def accuracies(values: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Accuracies by set, and within a set by the names of `PLACES`, one mark per run.

    A grey band spans what the choice of the test cases leaves open for the first of them.
    """
    fig, axes = plt.subplots(4, 1, figsize=(4.6, 7.4))
    for ax, (name, lines) in zip(axes.flat, values.items(), strict=True):
        printed = lines["the paper's RoMAE"][0]
        spread = 1.96 * np.sqrt(printed * (1 - printed) / SETS[name].test)
        ax.axvspan(printed - spread, min(1, printed + spread), color=figures.COLOURS["grey"], alpha=0.15, lw=0)
        for y, (place, (colour, mark, full)) in enumerate(PLACES.items()):
            shade, runs = figures.COLOURS[colour], lines[place]
            ax.plot(runs, [y] * len(runs), mark, color=shade, mfc=shade if full else "none", ms=5.5, ls="none")
        ax.set_title(name)
        ax.set(yticks=range(len(PLACES)), yticklabels=PLACES, ylim=(len(PLACES) - 0.5, -0.5))
        ax.locator_params(axis="x", nbins=3)
        ax.xaxis.set_major_formatter("{x:.3g}")
        ax.margins(x=0.15)
    fig.supxlabel("accuracy", fontsize=10)
    return fig


@figures.style()
def one_of_each(test: Tokens, names: Sequence[str], kind: str) -> Figure:
    """The first series of up to four classes, their first two channels. kind: what they are."""
    label = test.aux["label"].numpy()
    shown = [int(np.flatnonzero(label == k)[0]) for k in range(min(4, len(names))) if (label == k).any()]
    styles = ((figures.INK, "o"), (figures.COLOURS["grey"], "s"))[: test.values.shape[-1]]
    fig, axes = plt.subplots(len(shown), 1, figsize=(5.6, 1.15 * len(shown)), sharex=True, squeeze=False)
    for ax, i in zip(axes[:, 0], shown, strict=True):
        real = test.real[i]
        step = test.positions[i, real, 0].numpy()
        for c, (shade, mark) in enumerate(styles):
            ax.plot(step, test.values[i, real, c].numpy(), marker=mark, ms=2.6, lw=0.7, ls="-", color=shade)
        ax.set_title(names[label[i]])
    axes[-1, 0].set_xlabel(f"step ({kind})")
    return fig


@figures.style()
def losses(history: Sequence[Mapping[str, float]], least: float | None) -> Figure:
    """The loss of each stage that was trained, against steps. least: the lowest that smoothing allows."""
    titles = {"pretrain": ("pre-training", "mean squared error"), "fine-tune": ("fine-tuning", "cross-entropy")}
    stages = [stage for stage in titles if any(entry["stage"] == stage for entry in history)]
    fig, axes = plt.subplots(1, len(stages), figsize=(5.8, 2.6), squeeze=False)
    for ax, stage in zip(axes[0], stages, strict=True):
        figures.learning_curve([entry for entry in history if entry["stage"] == stage], ax=ax, log=False)
        ax.set(title=titles[stage][0], xlabel="step", ylabel=titles[stage][1])
    if least is not None:
        axes[0, -1].axhline(least, color=figures.COLOURS["vermillion"], lw=1.2, ls="--", label="lowest possible")
        axes[0, -1].legend()
    return fig


@figures.style()
def classes_of_lsst(counts: Mapping[str, ndarray]) -> Figure:
    """Share of each class that is found, the rarest at the bottom, by two settings.

    counts: confusion matrices (K, K), true by predicted, the mean over runs.
    """
    fig, ax = plt.subplots(figsize=(4.8, 4.2))
    blue = figures.COLOURS["blue"]
    for (words, count), mark, fill in zip(counts.items(), "o^", (blue, "none"), strict=True):
        size = count.sum(1)
        share, order = np.diag(count) / np.maximum(size, 1), size.argsort()
        ax.plot(share[order], range(len(order)), mark, color=blue, mfc=fill, ms=6, label=words)
    ax.set_yticks(range(len(order)), [f"{LSST[k]}: {size[k]:.0f}" for k in order])
    ax.set(xlabel="share that is found, mean over runs", xlim=(-0.03, 1.03))
    fig.legend(loc="outside upper center", ncols=2)
    return fig

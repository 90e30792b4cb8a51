"""The figures of chapter 09: accuracies set by set, series, losses, LSST class by class, steps dropped in the test."""

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
PLACES = {  # what stands on which line of `accuracies`, with which colour and mark
    "paper's RoMAE": ("purple", "D"),
    "best quoted": ("purple", "|"),
    "ours, Table 12": ("blue", "o"),
    "same, train mode": ("blue", "x"),
    "our settings": ("blue", "^"),
    "MiniRocket": ("green", "s"),
}


@figures.style()
def accuracies(values: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Accuracies by set, and within a set by the names of `PLACES`, one mark per run.

    A grey band spans what the choice of the test cases leaves open for the first of them.
    """
    fig, axes = plt.subplots(1, len(values), figsize=(9, 2.7), sharey=True)
    for ax, (name, lines) in zip(axes, values.items(), strict=True):
        printed = lines["paper's RoMAE"][0]
        spread = 1.96 * np.sqrt(printed * (1 - printed) / SETS[name].test)
        ax.axvspan(printed - spread, min(1, printed + spread), color=figures.COLOURS["grey"], alpha=0.15, lw=0)
        for y, (place, (colour, mark)) in enumerate(PLACES.items()):
            runs = lines[place]
            ax.plot(runs, [y] * len(runs), mark, color=figures.COLOURS[colour], mfc="none", ms=6, ls="none")
        ax.set_title(SETS[name].short)
        ax.set(yticks=range(len(PLACES)), yticklabels=PLACES, ylim=(len(PLACES) - 0.5, -0.5))
        ax.locator_params(axis="x", nbins=3)
        ax.xaxis.set_major_formatter("{x:.3g}")
        ax.margins(x=0.15)
    fig.supxlabel("accuracy, 30 % of the steps dropped; each set has a scale of its own", fontsize=10)
    return fig


@figures.style()
def one_of_each(test: Tokens, names: Sequence[str], kind: str, unit: str) -> Figure:
    """The first series of up to four classes, their first three channels. kind: what they are; unit: of the values."""
    label = test.aux["label"].numpy()
    shown = [int(np.flatnonzero(label == k)[0]) for k in range(min(4, len(names))) if (label == k).any()]
    channels = test.values.shape[-1]
    styles = ((figures.INK, "o"), (figures.COLOURS["grey"], "s"), (figures.COLOURS["amber"], "^"))[:channels]
    fig, axes = plt.subplots(len(shown), 1, figsize=(7.4, 1.35 * len(shown)), sharex=True, squeeze=False)
    for ax, i in zip(axes[:, 0], shown, strict=True):
        real = test.real[i]
        step = test.positions[i, real, 0].numpy()
        for c, (shade, mark) in enumerate(styles):
            ax.plot(step, test.values[i, real, c].numpy(), marker=mark, ms=2.6, lw=0.9, ls="-", color=shade)
        ax.set_title(names[label[i]])
    if unit:
        axes[len(shown) // 2, 0].set_ylabel(unit)
    axes[-1, 0].set_xlabel(f"step ({kind}; the first {min(3, channels)} of {channels} channels)")
    return fig


@figures.style()
def losses(history: Sequence[Mapping[str, float]], least: float | None) -> Figure:
    """The loss of each stage that was trained, against steps. least: the entropy of the smoothed target, if it is."""
    titles = {"pretrain": ("pre-training", "mean squared error"), "fine-tune": ("fine-tuning", "cross-entropy")}
    stages = [stage for stage in titles if any(entry["stage"] == stage for entry in history)]
    fig, axes = plt.subplots(1, len(stages), figsize=(8.2, 3), squeeze=False)
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
    fig, ax = plt.subplots(figsize=(6.8, 4.2))
    blue = figures.COLOURS["blue"]
    for (words, count), mark, fill in zip(counts.items(), "o^", (blue, "none"), strict=True):
        size = count.sum(1)
        share, order = np.diag(count) / np.maximum(size, 1), size.argsort()
        ax.plot(share[order], range(len(order)), mark, color=blue, mfc=fill, ms=6, label=words)
    ax.set_yticks(range(len(order)), [f"{LSST[k]}: {size[k]:.0f}" for k in order])
    ax.set(xlabel="share of the class that is found, mean over seeds", xlim=(-0.03, 1.03))
    fig.legend(loc="outside upper center", ncols=2)
    return fig


@figures.style()
def steps_dropped(curves: Mapping[str, tuple[str, ndarray, ndarray, float | None]]) -> Figure:
    """Accuracy against the share of steps dropped in the test, with the commonest class as a thin line.

    curves: of each set a label, shares (S,), accuracies (S,), and the accuracy of the commonest class or None.
    """
    fig, ax = plt.subplots()
    blue, grey = figures.COLOURS["blue"], figures.COLOURS["grey"]
    styles = dict(zip((name for name in SETS if name != "Heartbeat"), zip("os^D", figures.DASHES, strict=False),
                      strict=True))
    for name, (label, share, right, floor) in curves.items():
        mark, dash = styles[name]
        ax.plot(100 * share, right, label=label, marker=mark, ls=dash, color=blue)
        if floor is not None:
            ax.axhline(floor, color=grey, lw=1, ls=dash)
    ax.set(xlabel="per cent of the steps dropped in the test", ylabel="accuracy", ylim=(0, 1.02))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return fig

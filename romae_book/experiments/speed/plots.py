"""The figures of chapter 13: where time goes, what padding costs, how cost grows."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from ... import figures
from .measures import PARTS

PART_NAMES = {
    "products": "matrix products",
    "attention": "attention",
    "activation": "SiLU",
    "optimiser": "optimiser, clipping",
    "rest": "norms, rotation, copies",
}
PART_COLOURS = ("blue", "vermillion", "green", "purple", "grey")


@figures.style()
def step_shares(profiles: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars of the shares of a training step's time by kind of operation; profiles: metrics of each size."""
    fig, ax = plt.subplots(figsize=(5.8, 0.9 + 0.7 * max(1, len(profiles))))
    for y, metrics in enumerate(profiles.values()):
        left = 0.0
        for part, colour in zip([*PARTS, "rest"], PART_COLOURS, strict=True):
            share = 100 * metrics[f"share_plain_{part}"]
            label = PART_NAMES[part] if y == 0 else None
            ax.barh(y, share, left=left, color=figures.COLOURS[colour], label=label)
            left += share
    ax.set_yticks(range(len(profiles)), [f"RoMAE-{size}" for size in profiles])
    ax.set(xlabel="per cent of a training step's time")
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return fig


@figures.style()
def ragged(rates: Mapping[str, Mapping[str, float]]) -> Figure:
    """rates: by what lengths are like, real tokens a second by how batches are made; the last is the dense rate."""
    fig, axes = plt.subplots(1, len(rates), figsize=(5.6, 2.2), sharey=True, squeeze=False)
    for ax, (title, found) in zip(axes[0], rates.items(), strict=True):
        *ways, dense = found
        ax.barh(range(len(ways)), [found[way] for way in ways], color=figures.COLOURS["blue"])
        ax.axvline(found[dense], color=figures.COLOURS["vermillion"], lw=1.4, ls="--")
        ax.set(title=title, xlabel="tokens per second", yticks=range(len(ways)), ylim=(len(ways) - 0.5, -0.5))
        ax.set_yticklabels(ways)
        ax.locator_params(axis="x", nbins=3)
    return fig


@figures.style()
def growth(tokens: Sequence[int], metrics: Mapping[str, float]) -> Figure:
    """Tokens a second, and memory, of one sample of so many tokens."""
    blue = figures.COLOURS["blue"]
    fig, axes = plt.subplots(1, 2, figsize=(5.8, 2.6))
    rate = [metrics[f"tokens_per_second_{n}"] for n in tokens]
    axes[0].loglog(tokens, rate, marker="o", color=blue)
    axes[0].set(xlabel="tokens", ylabel="tokens a second")
    memory = np.array([metrics[f"memory_mb_{n}"] for n in tokens])
    own = memory > 1  # less comes from memory that was freed before
    line = memory[-1] * np.array(tokens) / tokens[-1]
    axes[1].loglog(np.array(tokens)[own], memory[own], marker="o", color=blue, label="measured")
    axes[1].loglog(tokens, line, ls=":", color=figures.INK, label="in proportion")
    axes[1].set(xlabel="tokens", ylabel="MB")
    axes[1].legend(fontsize=8)
    return fig

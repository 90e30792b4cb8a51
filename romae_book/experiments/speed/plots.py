"""The figures of chapter 13: where time goes, what padding costs, how cost grows."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
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


@figures.style()
def step_shares(profiles: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars of the shares of a training step's time: a panel for each size, a row for each kind of operation."""
    parts = [*PARTS, "rest"]
    fig, axes = plt.subplots(1, max(1, len(profiles)), figsize=(5.8, 2.1), sharey=True, squeeze=False)
    for ax, (size, metrics) in zip(axes[0], profiles.items(), strict=True):
        shares = [100 * metrics[f"share_plain_{part}"] for part in parts]
        bars = ax.barh(range(len(parts)), shares, color=figures.COLOURS["blue"])
        ax.bar_label(bars, fmt="%.0f %%", padding=3)
        ax.set(title=f"RoMAE-{size}", xlim=(0, 100), xticks=(), ylim=(len(parts) - 0.5, -0.5))
        ax.set_yticks(range(len(parts)), [PART_NAMES[part] for part in parts])
        ax.grid(False)
    return fig


@figures.style()
def ragged(rates: Mapping[str, Mapping[str, float]]) -> Figure:
    """rates: by what lengths are like, real tokens a second by how batches are made; the last is the dense rate."""
    fig, axes = plt.subplots(len(rates), 1, figsize=(4.4, 1.7 * len(rates)), squeeze=False)
    for ax, (title, found) in zip(axes[:, 0], rates.items(), strict=True):
        *ways, dense = found
        bars = ax.barh(range(len(ways)), [found[way] for way in ways], color=figures.COLOURS["blue"])
        ax.bar_label(bars, [f"{found[way]:,.0f}" for way in ways], padding=3)
        ax.axvline(found[dense], color=figures.COLOURS["vermillion"], lw=1.4, ls="--")
        ax.set(title=title, xlim=(0, 1.25 * max(found.values())), xticks=(), ylim=(len(ways) - 0.5, -0.5))
        ax.set_yticks(range(len(ways)), ways)
        ax.grid(False)
    axes[-1, 0].set_xlabel("tokens a second; dashes: all of equal length")
    return fig


@figures.style()
def growth(tokens: Sequence[int], metrics: Mapping[str, float]) -> Figure:
    """Bars of tokens a second, and of memory, of one sample of so many tokens."""
    fig, axes = plt.subplots(2, 1, figsize=(4.4, 3.6))
    rows = range(len(tokens))
    for ax, key, title in zip(
        axes, ("tokens_per_second", "memory_mb"), ("tokens a second", "megabytes for a step"), strict=True
    ):
        found = [metrics[f"{key}_{n}"] for n in tokens]
        bars = ax.barh(rows, found, color=figures.COLOURS["blue"])
        ax.bar_label(bars, [f"{v:,.0f}" for v in found], padding=3)
        ax.set(title=title, xlim=(0, 1.25 * max(found)), xticks=(), ylim=(len(tokens) - 0.5, -0.5))
        ax.set_yticks(rows, [f"{n:,} tokens" for n in tokens])
        ax.grid(False)
    return fig

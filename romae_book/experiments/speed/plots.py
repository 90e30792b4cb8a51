"""The figures of chapter 13: where time goes, what each change bought, how cost grows."""

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
STEPS = {
    "straightforward": "as one writes it first",
    "plain": "package, plain form",
    "grouped": "package, grouped",
    "fast": "package, fast form, packed",
    "grouped_fast": "package, grouped, fast, packed",
}
LENGTHS = {"equal": "75 points each", "ragged": "lengths as of light curves"}


@figures.style()
def step_shares(profiles: Mapping[str, Mapping[str, float]]) -> Figure:
    """Bars of the shares of a training step's time by kind of operation; profiles: metrics of each size."""
    fig, ax = plt.subplots(figsize=(7.4, 0.9 + 0.8 * max(1, len(profiles))))
    for y, metrics in enumerate(profiles.values()):
        left = 0.0
        for part, colour in zip([*PARTS, "rest"], PART_COLOURS, strict=True):
            share = 100 * metrics[f"share_plain_{part}"]
            label = PART_NAMES[part] if y == 0 else None
            ax.barh(y, share, left=left, color=figures.COLOURS[colour], label=label)
            left += share
    ax.set_yticks(range(len(profiles)), [f"RoMAE-{size}" for size in profiles])
    ax.set(xlabel="per cent of a training step's time")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return fig


@figures.style()
def forms(metrics: Mapping[str, float]) -> Figure:
    """Bars of the time of a training step by each form of the model, with its gain over the first."""
    fig, axes = plt.subplots(1, 2, figsize=(8.2, 3.1))
    for ax, (kind, title) in zip(axes, LENGTHS.items(), strict=True):
        steps = [step for step in STEPS if f"ms_step_{kind}_{step}" in metrics]
        values = [metrics[f"ms_step_{kind}_{step}"] for step in steps]
        colours = [figures.COLOURS["grey" if step == "straightforward" else "blue"] for step in steps]
        ax.barh(range(len(steps)), values, color=colours)
        for y, (step, value) in enumerate(zip(steps, values, strict=True)):
            gain = "" if y == 0 else f" × {metrics[f'speedup_{kind}_{step}']:.2f}"
            ax.text(value, y, gain, va="center", fontsize=8)
        ax.set_yticks(range(len(steps)), [STEPS[step] for step in steps])
        ax.set(xlabel="ms a step", title=title, xlim=(0, 1.25 * max(values)))
        ax.invert_yaxis()
    fig.tight_layout()
    return fig


@figures.style()
def growth(tokens: Sequence[int], metrics: Mapping[str, float]) -> Figure:
    """Tokens a second, and memory, of one sample of so many tokens."""
    blue = figures.COLOURS["blue"]
    fig, axes = plt.subplots(1, 2, figsize=(8.2, 3))
    rate = [metrics[f"tokens_per_second_{n}"] for n in tokens]
    axes[0].loglog(tokens, rate, marker="o", color=blue)
    axes[0].set(xlabel="tokens", ylabel="tokens a second")
    memory = np.array([metrics[f"memory_mb_{n}"] for n in tokens])
    own = memory > 1  # less comes from memory that was freed before
    line = memory[-1] * np.array(tokens) / tokens[-1]
    axes[1].loglog(np.array(tokens)[own], memory[own], marker="o", color=blue, label="measured")
    axes[1].loglog(tokens, line, ls=":", color=figures.INK, label="proportional to the length")
    axes[1].set(xlabel="tokens", ylabel="MB beyond the start")
    axes[1].legend()
    fig.tight_layout()
    return fig

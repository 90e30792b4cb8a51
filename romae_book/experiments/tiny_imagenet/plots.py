"""The figures of chapter 11: pictures, what is painted into them, accuracy against resolution."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from romae_lite.masking import hide
from romae_lite.model import RoMAE, predict_hidden
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ... import figures
from ..data import unpatchify
from .experiment import DEVIATION, MEAN, TinyImageNet

RATIOS = (0.5, 0.75, 0.9)


def _without_axes(rows: int, columns: int, size: tuple[float, float]):
    fig, axes = plt.subplots(rows, columns, figsize=size)
    for ax in axes.flat:
        ax.axis("off")
    return fig, axes


@figures.style()
def one_of_each(images: Tensor, titles: Sequence[str]) -> Figure:
    """Up to five pictures (n, H, W, 3) with their titles."""
    fig, axes = _without_axes(1, 5, (5.6, 1.6))
    for ax, image, title in zip(axes.flat, images, titles, strict=False):
        ax.imshow(image, interpolation="none")
        ax.set_title(title, fontsize=8)
    return fig


@figures.style()
def fillings(exp: TinyImageNet, model: RoMAE, test: Tokens, seed: int) -> Figure:
    """Pictures, and what the model paints where a half, three quarters and nine tenths of their patches are hidden.

    exp: the setting of a model that was trained on pixels as they are.
    """
    patch, side = (exp.patch_side,) * 2, (exp.side,) * 2

    def pictures(values: Tensor) -> Tensor:
        return (unpatchify(values, patch, side) * torch.tensor(DEVIATION) + torch.tensor(MEAN)).clamp(0, 1)

    tokens = exp.shown(test, torch.device("cpu"), "test")
    fig, axes = _without_axes(len(tokens), 1 + 2 * len(RATIOS), (6.4, 0.98 * len(tokens)))
    for k, ratio in enumerate(RATIOS):
        hidden = hide(tokens.real, ratio=ratio, generator=seeded(seed, k))
        filled = torch.where(hidden[..., None], predict_hidden(model, tokens, hidden), tokens.values)
        pixels = hidden[..., None].float().expand(-1, -1, exp.patch_side**2)
        blank = pictures(tokens.values).clone()
        blank[unpatchify(pixels, patch, side)[..., 0] > 0] = 0.85
        for i in range(len(tokens)):
            axes[i, 0].imshow(pictures(tokens.values)[i], interpolation="none")
            axes[i, 1 + 2 * k].imshow(blank[i], interpolation="none")
            axes[i, 2 + 2 * k].imshow(pictures(filled)[i], interpolation="none")
        axes[0, 1 + 2 * k].set_title(f"{100 * ratio:.0f} % hidden", fontsize=8)
        axes[0, 2 + 2 * k].set_title("painted", fontsize=8)
    axes[0, 0].set_title("original", fontsize=8)
    return fig


@figures.style()
def learning(history: Sequence[Mapping[str, float]]) -> Figure:
    """The error of the first stage and the validation accuracy of the second, epoch by epoch."""
    stages = (
        ("pretrain", "pre-training", "loss", "mean squared error"),
        ("fine-tune", "fine-tuning", "valid_accuracy", "validation accuracy"),
    )
    fig, axes = plt.subplots(1, 2, figsize=(5.8, 2.6))
    for ax, (stage, title, key, words) in zip(axes, stages, strict=True):
        entries = [entry for entry in history if entry["stage"] == stage]
        if entries:
            epochs, values = [e["epoch"] for e in entries], [e[key] for e in entries]
            ax.plot(epochs, values, marker="o", color=figures.COLOURS["blue"])
        ax.set(xlabel="epoch", ylabel=words, title=title)
    return fig


@figures.style()
def resolution(curves: Mapping[str, Mapping[str, np.ndarray]], trained_at: int) -> Figure:
    """Accuracy against pixels along a side, patches where they are and patches counted, a panel for each model.

    curves: arrays side, accuracy_at and accuracy_at_counted, (S,), by model. trained_at: the side of training.
    """
    fig, axes = plt.subplots(len(curves), 1, figsize=(5.2, 1.9 * len(curves)), sharex=True, squeeze=False)
    blue = figures.COLOURS["blue"]
    for ax, (title, arrays) in zip(axes[:, 0], curves.items(), strict=True):
        side, right, counted = (arrays[key] for key in ("side", "accuracy_at", "accuracy_at_counted"))
        ax.plot(side, right, marker="o", ls="-", color=blue, label="where they are")
        ax.plot(side, counted, marker="s", mfc="none", ls="--", color=blue, label="counted")
        ax.axvline(trained_at, lw=0.8, ls=":", color=figures.INK)
        ax.set_xticks((32, 64, 96, 128))
        ax.set(title=title, ylabel="accuracy", ylim=(0, None))
    axes[-1, 0].set_xlabel("pixels along a side")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig

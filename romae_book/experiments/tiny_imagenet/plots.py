"""The figures of chapter 11: pictures, what is painted into them, where [CLS] looks, accuracy against resolution."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from romae_lite.masking import hide
from romae_lite.model import RoMAE, device_of, predict_hidden
from romae_lite.tokens import Tokens, unpatchify
from romae_lite.training import seeded

from ... import figures
from .experiment import DEVIATION, MEAN, TinyImageNet

RATIOS = (0.5, 0.75, 0.9)


def _without_axes(rows: int, columns: int, size: tuple[float, float]):
    fig, axes = plt.subplots(rows, columns, figsize=size)
    for ax in axes.flat:
        ax.axis("off")
    return fig, axes


@figures.style()
def one_of_each(images: Tensor, titles: Sequence[str]) -> Figure:
    """Up to ten pictures (n, H, W, 3) with their titles."""
    fig, axes = _without_axes(2, 5, (7.4, 3.3))
    for ax, image, title in zip(axes.flat, images, titles, strict=False):
        ax.imshow(image)
        ax.set_title(title, fontsize=9)
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
    fig, axes = _without_axes(len(tokens), 1 + 2 * len(RATIOS), (7.6, 5.6))
    for k, ratio in enumerate(RATIOS):
        hidden = hide(tokens.real, ratio=ratio, generator=seeded(seed, k))
        filled = torch.where(hidden[..., None], predict_hidden(model, tokens, hidden), tokens.values)
        pixels = hidden[..., None].float().expand(-1, -1, exp.patch_side**2)
        blank = pictures(tokens.values).clone()
        blank[unpatchify(pixels, patch, side)[..., 0] > 0] = 0.85
        for i in range(len(tokens)):
            axes[i, 0].imshow(pictures(tokens.values)[i])
            axes[i, 1 + 2 * k].imshow(blank[i])
            axes[i, 2 + 2 * k].imshow(pictures(filled)[i])
        axes[0, 1 + 2 * k].set_title(f"{100 * ratio:.0f} % hidden", fontsize=9)
        axes[0, 2 + 2 * k].set_title("painted", fontsize=9)
    axes[0, 0].set_title("original", fontsize=9)
    return fig


@figures.style()
def learning(history: Sequence[Mapping[str, float]]) -> Figure:
    """The error of the first stage and the validation accuracy of the second, epoch by epoch."""
    stages = (
        ("pretrain", "first stage", "loss", "error of the hidden patches"),
        ("fine-tune", "second stage", "valid_accuracy", "accuracy on validation pictures"),
    )
    fig, axes = plt.subplots(1, 2, figsize=(7.6, 2.8))
    for ax, (stage, title, key, words) in zip(axes, stages, strict=True):
        entries = [entry for entry in history if entry["stage"] == stage]
        if entries:
            epochs, values = [e["epoch"] for e in entries], [e[key] for e in entries]
            ax.plot(epochs, values, marker="o", color=figures.COLOURS["blue"])
        ax.set(xlabel="epoch", ylabel=words, title=title)
    return fig


@figures.style()
def attention(exp: TinyImageNet, model: nn.Module, test: Tokens, titles: Sequence[str]) -> Figure:
    """Pictures, and below each how much [CLS] takes from its patches in the last layer, the mean over the heads."""
    record: dict[str, Tensor] = {}
    with torch.no_grad():
        model(exp.shown(test, device_of(model), "test"), record)
    last = max(int(key.split(".")[1]) for key in record if key.endswith("attention"))
    look = record[f"encoder.{last}.attention"].cpu().mean(1)[:, 0, 1:]  # (n, N): from [CLS] to the patches
    fig, axes = _without_axes(2, 5, (7.4, 3.2))
    for k, (image, title) in enumerate(zip(test.aux["image"], titles, strict=True)):
        axes[0, k].imshow(image)
        axes[0, k].set_title(title, fontsize=9)
        axes[1, k].imshow(look[k].reshape(exp.grid, exp.grid), vmin=0)
    return fig


@figures.style()
def resolution(curves: Mapping[str, Mapping[str, np.ndarray]], pictures: int, trained_at: int) -> Figure:
    """Accuracy against pixels along a side, patches where they are and patches counted, a panel for each model.

    curves: arrays side, accuracy_at and accuracy_at_counted, (S,), by model. pictures: how many were asked for; bars
    are one standard error. trained_at: the side of training.
    """
    columns = min(3, len(curves))
    lines = -(-len(curves) // columns)
    size = (min(7.8, 3.9 * columns), 2.7 * lines)
    fig, axes = plt.subplots(lines, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat[len(curves) :]:
        ax.axis("off")
    blue = figures.COLOURS["blue"]
    for k, (ax, (title, arrays)) in enumerate(zip(axes.flat, curves.items(), strict=False)):
        side, right, counted = (arrays[key] for key in ("side", "accuracy_at", "accuracy_at_counted"))
        error = np.sqrt(right * (1 - right) / pictures)
        ax.errorbar(side, right, error, marker="o", ls="-", color=blue, label="where they are")
        ax.plot(side, counted, marker="s", mfc="none", ls="--", color=blue, label="counted")
        ax.axvline(trained_at, lw=0.8, ls=":", color=figures.INK)
        ax.set_xticks((32, 64, 96, 128))
        ax.set_title(title.replace(", ", ",\n"), fontsize=8)
        if k + columns >= len(curves):
            ax.set_xlabel("pixels along a side")
            ax.tick_params(labelbottom=True)
        if k % columns == 0:
            ax.set_ylabel("accuracy")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig

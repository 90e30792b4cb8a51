"""Chapter 02: what is drawn and said of jitter, of copying, and of the two small models that the chapter builds."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython.display import Markdown
from matplotlib import cbook
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy import ndarray
from scipy.ndimage import distance_transform_edt
from torch import Tensor, nn

from romae_lite.tokens import Tokens

from .. import figures
from ..explorables.autoencoder.pictures import PATCH, SIZE
from ..explorables.autoencoder.rivals import posterior_mean
from ..paper.counts import finding

DIGITS, STARS = "digits", "pulsating stars"
RATIOS = np.array([0.15, 0.3, 0.45, 0.6, 0.75, 0.85, 0.9, 0.95])  # of `copied` patches
JITTERS = np.linspace(0, 0.9, 10)


def findings() -> Markdown:
    """What the chapter opens with: the recorded run of the landing page's model."""
    found = finding()
    if not found:
        return Markdown("The lines below compute what the package computes: the last section asserts it.")
    return Markdown(
        f"A model of these parts, with {found['parameters']:,} weights, in whose decoder hidden points do not see one "
        "another, was trained on made-up noisy spirals with any number of visible points. "
        f"On {found['n_test']:,} test spirals its root mean squared error is {found['least']:.2f} to "
        f"{found['most']:.2f} times the best possible one from {found['from']} to {found['to']} visible points "
        "(one run; [its record](/book/lab/spirals); the targets are the clean curves). "
        f"{found['fixed_which'].capitalize()} model that always saw 30 is at "
        f"{found['fixed_few']:.1f} times with {found['few']} and at {found['fixed_many']:.0f} times with "
        f"{found['many']} ({found['fixed_on']}). What is hidden in training limits what can be asked later."
    )


# -- patches of irregular times ------------------------------------------------------------------------------------


def next_value_errors(rng: np.random.Generator, n: int = 4000, omega: float = 0.9) -> tuple[ndarray, ndarray]:
    """RMS errors of the next value of a sine, over its deviation, at each of `JITTERS`: of the best fixed weights on
    three values, and of weights computed from the times themselves."""
    errors = []
    for jitter in JITTERS:
        times = np.arange(4) + jitter * rng.uniform(-0.5, 0.5, (n, 4))
        amplitude, phase = rng.normal(size=(n, 1)), rng.uniform(0, 2 * np.pi, (n, 1))
        x = amplitude * np.sin(omega * times + phase)
        weights, *_ = np.linalg.lstsq(x[:, :3], x[:, 3], rcond=None)
        s = lambda a, b: np.sin(omega * (times[:, a] - times[:, b]))  # noqa: B023, E731
        informed = (s(3, 1) * x[:, 2] - s(3, 2) * x[:, 1]) / s(2, 1)  # two points and their times fix the sinusoid
        errors.append([np.sqrt(np.mean((y - x[:, 3]) ** 2)) / x[:, 3].std() for y in (x[:, :3] @ weights, informed)])
    fixed, informed = np.array(errors).T
    return fixed, informed


@figures.style()
def jitter(fixed: ndarray, informed: ndarray) -> Figure:
    """Both errors of `next_value_errors`."""
    fig, ax = plt.subplots(figsize=(6.4, 3))
    green, vermillion = figures.COLOURS["green"], figures.COLOURS["vermillion"]
    ax.plot(JITTERS, fixed, marker="o", color=green, label="fixed weights on a patch of three values")
    ax.plot(JITTERS, informed, marker="s", color=vermillion, ls="--", label="weights that know the times")
    ax.set(xlabel="jitter of the sampling times, in units of the step", ylabel="error / standard deviation")
    ax.legend()
    return fig


# -- copying neighbours --------------------------------------------------------------------------------------------


def photograph() -> ndarray:
    """The photograph that comes with matplotlib, grey: (592, 512) in [0, 1]."""
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        return plt.imread(file)[:592, :512].mean(-1) / 255


def copied(picture: ndarray, hide: Callable[[int, float], Tensor], ratio: float, step: int = 16):
    """Share of the hidden pixels' variance left when each copies the nearest visible pixel; the mask; the copy.

    hide: (number of patches, ratio) -> indices of those that are hidden.
    """
    grid = tuple(n // step for n in picture.shape)
    gone = torch.zeros(grid[0] * grid[1], dtype=torch.bool)
    gone[hide(len(gone), float(ratio))] = True
    gone = np.kron(gone.view(grid).numpy(), np.ones((step, step), bool))
    rows, columns = distance_transform_edt(gone, return_distances=False, return_indices=True)
    copy = picture[rows, columns]
    return np.mean((copy - picture)[gone] ** 2) / picture.var(), gone, copy


def show_picture(ax: Axes, picture, cmap: str = "gray_r", **labels) -> None:
    """A grey picture in [0, 1] without ticks."""
    ax.imshow(picture, cmap=cmap, vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], **labels)
    ax.grid(False)


@figures.style()
def copying(picture: ndarray, examples: Mapping[float, tuple], left: Mapping[str, Sequence[float]]) -> Figure:
    """Two ratios of a picture, masked and filled by copying; below, the variance that copying leaves, by ratio.

    examples: what `copied` returns, by ratio. left: the shares at `RATIOS`, by what was copied.
    """
    fig, axes = plt.subplot_mosaic("abcd;eeee", figsize=(6.8, 4.9), height_ratios=(1, 1.15))
    for (masked, filled), (ratio, (_, gone, copy)) in zip(("ab", "cd"), examples.items(), strict=True):
        blank = np.where(gone, 0.5, picture)
        show_picture(axes[masked], blank[::4, ::4], "gray", title=f"{100 * ratio:.0f} % hidden")
        show_picture(axes[filled], copy[::4, ::4], "gray", title="copied")
    for (name, shares), colour in zip(left.items(), ("green", "grey"), strict=True):
        axes["e"].plot(RATIOS, shares, marker="o", label=name, color=figures.COLOURS[colour], ls="-")
    axes["e"].set(xlabel="share hidden", ylabel="variance unexplained\nby copying", ylim=(0, None))
    axes["e"].legend()
    return fig


# -- two kinds of data, two models ---------------------------------------------------------------------------------


def picture_of(values: Tensor) -> ndarray:
    """(N, 16) patches -> (20, 20) pixels."""
    n = SIZE // PATCH
    return values.view(n, n, PATCH, PATCH).transpose(1, 2).reshape(SIZE, SIZE).numpy()


@figures.style()
def samples(digits: Tokens, stars: Tokens) -> Figure:
    """Four digits and two stars."""
    fig, axes = plt.subplot_mosaic("abcd;eeff", figsize=(6.8, 3.6))
    for i, key in enumerate("abcd"):
        show_picture(axes[key], picture_of(digits.values[i]))
    for i, key in enumerate("ef"):
        axes[key].plot(*stars.aux["curve"][i].T, lw=1, ls="-", color=figures.COLOURS["grey"])
        axes[key].plot(stars.positions[i, :, 0], stars.values[i, :, 0], "o", ls="none", ms=3, color=figures.INK)
        axes[key].set(xlabel="time", ylabel="brightness" if key == "e" else "")
    return fig


@figures.style()
def learning(losses: Mapping[str, Sequence[float]], variance: Mapping[str, float], window: int) -> Figure:
    """Losses of the two models over the variance of their data, means over so many steps."""
    fig, ax = plt.subplots(figsize=(6.4, 3))
    for (name, values), dash in zip(losses.items(), ("-", "--"), strict=True):
        smooth = np.convolve(values, np.ones(window) / window, mode="valid") / variance[name]
        steps = np.arange(window, len(values) + 1)
        ax.plot(steps, smooth, label=name, color=figures.COLOURS["blue"], ls=dash)
    ax.set(xlabel="training step", ylabel="squared error / variance of the data", ylim=(0, 1.2))
    ax.legend()
    return fig


@torch.no_grad()
def filled(model: nn.Module, tokens: Tokens, seen: Tensor, gone: Tensor) -> tuple[Tensor, Tensor]:
    """Values with the hidden ones replaced by predictions, (B, N, P), and the mask, (B, N).

    seen, gone: indices of visible and hidden tokens, (B, V) and (B, M).
    """
    rows = torch.arange(len(tokens))[:, None]
    values = tokens.values.clone()
    values[rows, gone] = model(tokens.values[rows, seen], tokens.positions[rows, seen], tokens.positions[rows, gone])
    hidden = torch.zeros(values.shape[:2], dtype=torch.bool)
    hidden[rows, gone] = True
    return values, hidden


@figures.style()
def digits_filled(digits: Tokens, fillings: Mapping[float, tuple[Tensor, Tensor]]) -> Figure:
    """Digits as the encoder gets them, as the model fills them in, by share hidden, and the originals.

    fillings: what `filled` returns, by share.
    """
    count = len(digits)
    fig, axes = plt.subplots(2 * len(fillings) + 1, count, figsize=(6.4, 5.8))
    for row, (ratio, (out, hidden)) in enumerate(fillings.items()):
        given = digits.values.masked_fill(hidden[..., None], 0.3)
        for i in range(count):
            show_picture(axes[2 * row, i], picture_of(given[i]))
            show_picture(axes[2 * row + 1, i], picture_of(out[i]))
        axes[2 * row, 0].set_ylabel(f"{100 * ratio:.0f} %\nhidden", fontsize=9)
        axes[2 * row + 1, 0].set_ylabel("filled", fontsize=9)
    for i in range(count):
        show_picture(axes[-1, i], picture_of(digits.values[i]))
    axes[-1, 0].set_ylabel("original", fontsize=9)
    return fig


def error(guess: Tensor, tokens: Tokens, hidden: Tensor) -> float:
    """Mean squared error on the hidden tokens."""
    return float((guess - tokens.values)[hidden].square().mean())


def straight_lines(stars: Tokens, hidden: Tensor) -> Tensor:
    """Linear interpolation between the visible points, (B, N, 1)."""
    lines = torch.empty_like(stars.values)
    for i, seen in enumerate(~hidden):
        time = stars.positions[i, :, 0].numpy()
        lines[i, :, 0] = torch.from_numpy(np.interp(time, time[seen], stars.values[i, seen, 0]))
    return lines


def best_possible(stars: Tokens, hidden: Tensor) -> float:
    """The error of the stars' posterior mean on the hidden points."""
    time, value = (x[..., 0].numpy() for x in (stars.positions, stars.values))
    hidden = hidden.numpy()
    return float(np.mean((posterior_mean(time, value, hidden) - value)[hidden] ** 2))


@figures.style()
def errors(ratios: ndarray, scores: Mapping[str, ndarray], best: Sequence[float]) -> Figure:
    """Errors of both models and of a simple predictor, scores[name] (R, 2), and the best possible at every other
    ratio of the stars."""
    fig, axes = plt.subplots(1, 2, figsize=(6.8, 3))
    blue, green, vermillion = (figures.COLOURS[name] for name in ("blue", "green", "vermillion"))
    for ax, name, simple in zip(axes, (DIGITS, STARS), ("training mean", "linear interpolation"), strict=True):
        ax.plot(ratios, scores[name][:, 0], marker="o", color=blue, ls="-", label="RoMAE")
        ax.plot(ratios, scores[name][:, 1], marker="s", color=green, ls="-.", label=simple)
        if name == STARS:
            ax.plot(ratios[::2], best, marker="^", color=vermillion, ls="--", label="best possible")
        ax.set(title=name, xlabel="share hidden", ylabel="mean squared error", ylim=(0, None))
        ax.legend()
    return fig

"""Masks: hide tokens of a picture or a series, see what encoder and decoder receive and what a trained model fills in.

The model itself travels with the figure, its weights in half precision, and the page runs it: any mask that the reader
draws gets its own forward pass.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from romae_lite.model import RoMAE, Size
from romae_lite.tokens import Tokens

from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure
from ..weights import packed, predicted
from .forward_pass import block_multiplications

SCRIPT = Path(__file__).with_suffix(".js")
SCALE = 10_000  # values and positions travel as whole numbers of 1e-4


def source(name: str, model: RoMAE, test: Tokens, labels: Sequence[str], reference: Tensor | None = None,
           grid: tuple[int, int] | None = None) -> dict:
    """What the page needs to know of one data set.

    test       the samples to show, labelled; aux["curve"] (n, points, 2), if there, is the true curve of each
    reference  (N, P) what to compare with: the mean of the training set; without it, linear interpolation in time
    grid       (rows, columns) of square patches of a picture; None for a series with one value per token
    """

    def whole(x: Tensor) -> list:
        return np.rint(x.double().numpy() * SCALE).astype(int).tolist()

    samples = []
    for i, label in enumerate(labels):
        sample = {"label": label, "values": whole(test.values[i]), "positions": whole(test.positions[i])}
        if "curve" in test.aux:
            sample["curve"] = whole(test.aux["curve"][i])
        samples.append(sample)
    return {
        "name": name, "model": packed(model), "samples": samples, "grid": list(grid) if grid else None,
        "reference": None if reference is None else whole(reference),
    }


def fill_in(source: dict, sample: int, hidden: Sequence[int]) -> tuple[np.ndarray, float, float]:
    """What the page computes: predictions (M, P) for the hidden tokens in order, their mean squared error, and that of
    the reference."""
    chosen = source["samples"][sample]
    values, positions = (np.array(chosen[name]) / SCALE for name in ("values", "positions"))
    gone = np.isin(np.arange(len(values)), list(hidden))
    found = predicted(source["model"], values, positions, hidden)
    if source["reference"] is not None:
        guess = np.array(source["reference"])[gone] / SCALE
    else:
        guess = np.interp(positions[gone, 0], positions[~gone, 0], values[~gone, 0])[:, None]
    return found, float(np.mean((found - values[gone]) ** 2)), float(np.mean((guess - values[gone]) ** 2))


def cost(model: dict, visible: int, hidden: int) -> tuple[int, int]:
    """Multiplications in the blocks for one sample: as it is, and if the encoder saw all places."""
    enc, dec = Size(**model["encoder"]), Size(**model["decoder"])
    n = visible + hidden + model["cls"]
    decoder = dec.depth * block_multiplications(dec, n)
    return tuple(enc.depth * block_multiplications(enc, seen) + decoder for seen in (n - hidden, n))


def still(source: dict) -> str:
    """The first sample, three quarters of it hidden."""
    sample, body = source["samples"][0], ""
    values, n = np.array(sample["values"]) / SCALE, len(sample["values"])
    hidden = sorted(range(n), key=lambda i: (i + 1) * 0.6180339887 % 1)[: round(0.75 * n)]
    found = values.copy()
    found[sorted(hidden)] = fill_in(source, 0, sorted(hidden))[0]
    if source["grid"] is None:
        time = np.array(sample["positions"])[:, 0] / SCALE
        x = 30 + 580 * (time - time.min()) / (time.max() - time.min())
        y = 130 - 80 * values[:, 0] / np.abs(values).max()
        z = 130 - 80 * found[:, 0] / np.abs(values).max()
        body += svg.line(list(zip(x, z, strict=True)), stroke=PALETTE["blue"][0], stroke_width=2)
        for i in range(n):
            dot = {"fill": "none", "stroke": "#999"} if i in hidden else {"fill": "#222"}
            body += svg.tag("circle", cx=x[i], cy=y[i], r=3.5, **dot)
        return svg.picture(640, 240, body)
    side = math.isqrt(source["model"]["patch"])
    for k, (title, what) in enumerate((("what the encoder gets", values), ("filled in", found), ("original", values))):
        body += svg.label(20 + 210 * k, 24, title)
        for token in range(n):
            row, column = divmod(token, source["grid"][1])
            for pixel in range(side**2):
                dark = 0.12 if k == 0 and token in hidden else float(np.clip(what[token, pixel], 0, 1))
                x, y = column * side + pixel % side, row * side + pixel // side
                body += svg.tag("rect", x=20 + 210 * k + 9 * x, y=34 + 9 * y, width=9, height=9, fill_opacity=dark)
    return svg.picture(640, 44 + 9 * side * source["grid"][0], body)


@figure("mask_ratio")
def explorable(sources: Sequence[dict], note: str = "") -> Explorable:
    """The figure for one or several `source`s; note: where the models come from."""
    if not sources:
        raise ValueError("sources is empty; the figure needs at least one data set with its model")
    return Explorable(
        name="mask_ratio",
        script=SCRIPT,
        needs=("romae",),
        data={"scale": SCALE, "sources": list(sources)},
        fallback=still(sources[0]),
        height=300,
        title="Hide as much as you like",
        caption="Choose how much is hidden, draw another mask, or click single tokens to hide or show them (with the "
        "keyboard: arrows and space). The model runs in this page, on your mask; its weights came along. "
        f"{note}".rstrip(),
    )

"""Masks: hide tokens of a picture or a series, see what encoder and decoder receive and what a trained model fills in.

The model itself travels with the figure, its weights in half precision, and the page runs it: any mask that the reader
draws gets its own forward pass.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens

from ..explorable import Explorable, figure
from ..weights import packed

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


@figure("mask_ratio")
def explorable(sources: Sequence[dict], note: str = "") -> Explorable:
    """The figure for one or several `source`s; note: where the models come from."""
    if not sources:
        raise ValueError("sources is empty; the figure needs at least one data set with its model")
    return Explorable(
        name="mask_ratio",
        needs=("romae",),
        data={"scale": SCALE, "sources": list(sources)},
        height=300,
        title="Hide as much as you like",
        caption="Choose how much is hidden, draw another mask, or click single tokens to hide or show them (with the "
        "keyboard: arrows and space). The model runs in this page, on your mask; its weights came along. "
        f"{note}".rstrip(),
    )

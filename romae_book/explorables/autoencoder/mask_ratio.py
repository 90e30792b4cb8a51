"""Masks: hide readings of a series, see what encoder and decoder receive and what a trained model says between them.

The model itself travels with the figure, its weights in half precision, and the page runs it: any mask that the reader
draws gets its own forward pass.
"""

import numpy as np
from torch import Tensor

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens

from ..explorable import Explorable, figure
from ..weights import packed

SCALE = 10_000  # values and positions travel as whole numbers of 1e-4


@figure("mask_ratio")
def explorable(model: RoMAE, series: Tokens, note: str = "") -> Explorable:
    """The figure for a model made with `alone`, which can be asked at any number of moments.

    series: what to show; aux["curve"] (n, points, 2) has the true curves. note: where the model comes from.
    ValueError for another model.
    """
    if not model.config.alone:
        raise ValueError("model was made without alone; its answers would depend on how many moments the page asks for")

    def whole(x: Tensor) -> list:
        return np.rint(x.double().numpy() * SCALE).astype(int).tolist()

    samples = [
        {
            "label": f"series {i + 1}", "values": whole(series.values[i]), "positions": whole(series.positions[i]),
            "curve": whole(series.aux["curve"][i]),
        }
        for i in range(len(series))
    ]
    return Explorable(
        name="mask_ratio",
        needs=("romae",),
        data={"scale": SCALE, "model": packed(model), "samples": samples},
        height=300,
        title="Hide as much as you like",
        caption="Choose how much is hidden, draw another mask, or click single readings to hide or show them (with the "
        f"keyboard: arrows and space). The model runs in this page, on your mask. {note}".rstrip(),
    )

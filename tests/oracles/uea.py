"""What the page of `uea` computes, again in Python."""

import numpy as np

from romae_book.experiments.uea.arrays import ENDS


def shown(data: dict, series: int, begin: int, end: int, level: int) -> np.ndarray:
    """Which steps of a series the model is shown, (N,) bool: those between two tenths of it, thinned out. The page does
    the same sum."""
    one = data["series"][series]
    step, rank = np.array(one["step"]), np.array(one["rank"])
    last = step[-1] + 1
    kept = np.ceil(data["levels"][level] * len(step))
    return (ENDS * step >= begin * last) & (ENDS * step < end * last) & (rank < kept)


def answer(data: dict, series: int, begin: int, end: int, level: int) -> np.ndarray:
    """Probability of every class, (K,), in 255ths."""
    return np.array(data["series"][series]["probability"][begin][end - begin - 1][level])

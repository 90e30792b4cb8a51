"""What the page of `mask_ratio` computes, again in Python."""

from collections.abc import Sequence

import numpy as np

from romae_book.explorables.autoencoder.mask_ratio import SCALE
from romae_book.explorables.weights import predicted
from romae_lite.model import Size


def fill_in(data: dict, sample: int, hidden: Sequence[int]) -> tuple[np.ndarray, float, float]:
    """What the page computes: predictions (M, 1) for the hidden readings in order, their mean squared error, and that
    of straight lines."""
    chosen = data["samples"][sample]
    values, positions = (np.array(chosen[name]) / SCALE for name in ("values", "positions"))
    gone = np.isin(np.arange(len(values)), list(hidden))
    found = predicted(data["model"], values, positions, hidden)
    guess = np.interp(positions[gone, 0], positions[~gone, 0], values[~gone, 0])[:, None]
    return found, float(np.mean((found - values[gone]) ** 2)), float(np.mean((guess - values[gone]) ** 2))


def cost(model: dict, visible: int, hidden: int) -> tuple[int, int]:
    """Multiplications in the blocks for one sample: as it is, and if the encoder saw all places."""
    enc, dec = Size(**model["encoder"]), Size(**model["decoder"])
    n = visible + hidden + model["cls"]
    # queries, keys, values, output and the feed-forward part; scores and sums of every pair of tokens
    block = lambda z, n: n * (4 * z.dim**2 + 2 * z.dim * z.ff) + 2 * n**2 * z.dim  # noqa: E731
    decoder = dec.depth * block(dec, n)
    return tuple(enc.depth * block(enc, seen) + decoder for seen in (n - hidden, n))

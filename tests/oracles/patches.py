"""What the page of `patches` computes, again in Python."""

import torch

from romae_book.explorables.autoencoder.patches import times
from romae_lite.tokens import patchify


def cut(sizes: tuple[int, ...], patch: tuple[int, ...], channels: int = 1, irregular: bool = False) -> dict:
    """What `patchify` makes of such an array: {tokens, numbers, positions, error}; error is its message, or "".

    positions: N lists of coordinates, the first axis in its own units if irregular, else all in units of patches.
    """
    coordinates = [torch.tensor(times(sizes[0], True), dtype=torch.float64) if irregular else None]
    try:
        values, positions = patchify(
            torch.zeros(1, *sizes, channels), patch, coordinates + [None] * (len(sizes) - 1)
        )  # (1, N, P), (1, N, n)
    except ValueError as error:
        return {"tokens": 0, "numbers": 0, "positions": [], "error": str(error)}
    return {"tokens": values.shape[1], "numbers": values.shape[2], "positions": positions[0].tolist(), "error": ""}

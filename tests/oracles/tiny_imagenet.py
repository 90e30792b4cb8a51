"""What the page of `tiny_imagenet` computes, again in Python."""

from collections.abc import Sequence

import numpy as np

from romae_book.explorables.weights import predicted


def painted(data: dict, picture: int, hidden: Sequence[int]) -> tuple[np.ndarray, float, float]:
    """What the page computes: pixels (N, P) from 0 to 1, with the hidden patches as the model paints them; the mean
    squared error there, and that of `blended`."""
    pixels = np.array(data["pictures"][picture]["pixels"]) / 255
    repeat = pixels.shape[1] // 3
    mean, deviation = (np.tile(data[name], repeat) for name in ("mean", "deviation"))
    out, gone = pixels.copy(), sorted(hidden)
    found = predicted(data["model"], (pixels - mean) / deviation, np.array(data["positions"]), gone)
    out[gone] = (found * deviation + mean).clip(0, 1)
    error = np.mean((out[gone] - pixels[gone]) ** 2)
    return out, float(error), float(np.mean((blended(data, pixels, gone) - pixels[gone]) ** 2))


def blended(data: dict, pixels: np.ndarray, gone: Sequence[int]) -> np.ndarray:
    """A painter without a model: the mean colours of the visible patches, weighed by one over the squared distance.
    (M, P)."""
    positions, seen = np.array(data["positions"]), np.setdiff1d(np.arange(len(pixels)), gone)
    weight = 1 / np.square(positions[gone, None] - positions[None, seen]).sum(-1)  # (M, V)
    colour = pixels[seen].reshape(len(seen), -1, 3).mean(1)  # (V, 3)
    return np.tile(weight @ colour / weight.sum(1, keepdims=True), pixels.shape[1] // 3)

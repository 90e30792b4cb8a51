"""What the page of `cost` computes, again in Python."""

import math

from romae_book.explorables.speed.cost import HIDDEN


def gigabytes(size: dict, tokens: int, batch: int) -> float:
    """Counted: 16 bytes for each weight; for each token of each block 4 bytes times 10 dim + 2 ff numbers that the
    backward pass needs (inputs and outputs of norms, of attention, of the rotation and of the feed-forward part)."""
    hidden = max(1, min(tokens - 1, math.ceil(HIDDEN * tokens)))
    kept = sum(
        stack["depth"] * n * (10 * stack["dim"] + 2 * stack["ff"])
        for stack, n in ((size["encoder"], tokens - hidden), (size["decoder"], tokens))
    )
    return (16 * size["parameters"] + 4 * batch * kept) / 1e9

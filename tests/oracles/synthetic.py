"""What the page of `synthetic` computes, again in Python."""

import numpy as np

from romae_book.experiments.synthetic.data import weights
from romae_book.explorables.synthetic.figure import GRID
from romae_book.explorables.weights import predicted


def shown(data: dict, number: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """A series of the page: (clean, noisy, the order in which points are observed)."""
    one = data["series"][number]
    return weights(np.array(data["t"]), GRID) @ one["heights"], np.array(one["noisy"]), one["order"]


def romae(data: dict, observed: list[int], noisy: np.ndarray) -> np.ndarray:
    """What the first model says of the grid's other points, in order."""
    hidden, first = np.setdiff1d(np.arange(len(noisy)), observed), data["units"][0]
    positions = np.array(data["t"])[:, None] * first["unit"]
    return predicted(first["model"], noisy[:, None], positions, hidden)[:, 0]

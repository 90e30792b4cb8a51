"""What the page of `hero` computes, again in Python."""

import numpy as np
import torch

from romae_book.explorables.weights import unpacked
from romae_lite.model import interpolate
from romae_lite.tokens import Tokens


def answers(data: dict, model: int, theta: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """What the page draws: RoMAE's curve at the angles `at` (M,), from points values (V, 2) at angles theta (V,)."""
    seen = Tokens(
        values=torch.tensor(values, dtype=torch.float32)[None],
        positions=torch.tensor(theta * data["scale"], dtype=torch.float64)[None, :, None],
    )
    places = torch.tensor(at * data["scale"], dtype=torch.float64)[None, :, None]
    return interpolate(unpacked(data["models"][model]), seen, places)[0].double().numpy()

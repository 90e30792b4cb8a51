"""What the page of `spirals` computes, again in Python."""

import numpy as np


def spiral_rmse(data: dict, spiral: int, k: int, model: str) -> float:
    """RMSE of "romae" or "bayes" on one spiral against the clean curve, over both coordinates of the points that are
    hidden when data["counts"][k] are observed; NaN where none is hidden. The page computes the same number."""
    chosen = data["spirals"][spiral]
    error = np.reshape(chosen[model][k], (-1, 2)) / data["scale"]
    hidden = chosen["order"][data["counts"][k] :]
    return float(np.sqrt(np.mean(error[hidden] ** 2))) if hidden else float("nan")

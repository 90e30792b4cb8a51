"""What the page of `moving_tokens` computes, again in Python."""

import numpy as np


def places(data: dict, pattern: int, k: int) -> list[float]:
    """Where the tokens of a pattern are after shift k."""
    return [data["start"] + k * data["step"] + offset for offset in data["offsets"][pattern]]


def answers(data: dict, model: int, pattern: int, k: int, anchor: int = 0) -> list[float]:
    """What the model names, with the tokens at shift k and the anchor moved by so many steps."""
    n = len(data["offsets"][pattern])
    chosen = k - (anchor if data["models"][model]["anchor"] in ("[CLS]", "token") else 0)
    return [v / data["scale"] for v in data["models"][model]["named"][pattern][chosen * n : (chosen + 1) * n]]


def mean_error(data: dict, model: int, pattern: int, k: int, anchor: int = 0) -> float:
    """Mean distance between the answers and the places."""
    pairs = zip(answers(data, model, pattern, k, anchor), places(data, pattern, k), strict=True)
    return float(np.mean([abs(named - place) for named, place in pairs]))


def score(data: dict, model: int, difference: float) -> float:
    """Score of two equal vectors this far apart, as a share of the score at the same place."""
    thetas = data["models"][model]["thetas"]
    return float(np.mean(np.cos(np.multiply(thetas, difference))))

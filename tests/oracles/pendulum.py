"""What the page of `pendulum` computes, again in Python."""

import numpy as np


def errors(data: dict, clip: int, world: int = 0) -> list[float]:
    """Mean squared error of sine and cosine over a clip's frames, for each model. The page computes the same."""
    chosen, found = data["clips"][clip], []
    angle = np.array(chosen["angles"])[chosen["numbers"]] / data["scale"]
    true = np.stack((np.sin(angle), np.cos(angle)), axis=-1)
    for guess in chosen["answers"][world]:
        there = [s for s, pair in enumerate(guess) if pair is not None]
        said = np.array([guess[s] for s in there]) / data["scale"]
        found.append(float(np.mean((said - true[there]) ** 2)))
    return found


def degrees_off(data: dict, clip: int, slot: int, model: int, world: int = 0) -> float:
    """By how much a model's needle misses the true one in one frame, in degrees, -180 to 180."""
    chosen = data["clips"][clip]
    sine, cosine = chosen["answers"][world][model][slot]
    off = np.arctan2(sine, cosine) - chosen["angles"][chosen["numbers"][slot]] / data["scale"]
    return float(np.degrees((off + np.pi) % (2 * np.pi) - np.pi))

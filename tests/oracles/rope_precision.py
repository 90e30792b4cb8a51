"""What the page of `rope_precision` computes, again in Python."""

import math

import numpy as np

from romae_book.explorables.rotary.rope_precision import BASE, DIM, TOKENS, P
from romae_book.explorables.rotary.rotary_clock import frequencies


def angle(position: float, theta: float, way: str) -> float:
    """position x theta in one of the WAYS; a Python float that holds a float32 number for "float32" and "rope"."""
    if way == "float32":
        return float(np.float32(position) * np.float32(theta))
    turns = position * theta
    return turns if way == "float64" else float(np.float32(turns % (2 * math.pi)))


def score(shift: float, way: str, q: np.ndarray, k: np.ndarray) -> float:
    """Dot product of q and k turned to their positions, both moved by `shift`; half-split pairs, summed in float64.

    In float32 and "rope" the cosines and sines are rounded to float32 too.
    """
    total, half = 0.0, DIM // 2
    for i, theta in enumerate(frequencies(DIM, P, BASE)):
        (a, b), (c, d) = (
            turned(x[i], x[i + half], angle(shift + at, theta, way), way) for x, at in zip((q, k), TOKENS, strict=True)
        )
        total += a * c + b * d
    return total


def turned(x: float, y: float, phase: float, way: str) -> tuple[float, float]:
    cos, sin = math.cos(phase), math.sin(phase)
    if way != "float64":
        cos, sin = float(np.float32(cos)), float(np.float32(sin))
    return x * cos - y * sin, x * sin + y * cos


def drift(shift: float, way: str, q: np.ndarray, k: np.ndarray) -> float:
    """How far the score has moved from its value where it was, which float64 at shift 0 gives."""
    return score(shift, way, q, k) - score(0.0, "float64", q, k)

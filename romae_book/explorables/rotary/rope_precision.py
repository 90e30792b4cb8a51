"""Precision: how a score that should depend on a difference only drifts as both positions move out (deviation D13).

The page forms every angle three ways: in float32 throughout (`Math.fround` after each operation, which is what float32
arithmetic does), in float64 throughout, and as `romae_lite.rope.angles` does it: product and remainder in float64, and
only the angle in [0, 2 pi) cast to float32. The functions below say the same in numpy.
"""

import math
from pathlib import Path

import numpy as np

from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure
from .rotary_clock import frequencies

SCRIPT = Path(__file__).with_suffix(".js")
DIM, P, BASE = 32, 1.0, 10_000.0
TOKENS = (1.7, 0.3)  # query and key before both are moved
LIMIT = 7  # the farthest move is 10^LIMIT
FLOOR = 1e-16  # drifts below this are drawn there
WAYS = ("float32", "rope", "float64")


def vectors(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A query and a key of normal numbers, (DIM,) each, rounded so that JSON carries them exactly."""
    return tuple(np.random.default_rng(seed).normal(size=(2, DIM)).round(3))


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


def still(q: np.ndarray, k: np.ndarray) -> str:
    width, height, left, right, top, bottom = 640, 250, 60, 620, 20, 210
    body = ""

    def y(value: float) -> float:
        return top + (bottom - top) * (1 - (math.log10(max(abs(value), FLOOR)) + 16) / 17.0)

    for decade in range(-15, 1, 5):
        body += svg.label(left - 8, y(10.0**decade) + 4, f"1e{decade}", text_anchor="end")
        body += svg.line([(left, y(10.0**decade)), (right, y(10.0**decade))], stroke="#ddd")
    for decade in range(LIMIT + 1):
        x = left + (right - left) * decade / LIMIT
        body += svg.label(x, bottom + 18, f"1e{decade}", text_anchor="middle")
    for way, colour in zip(WAYS, ("vermillion", "blue", "grey"), strict=True):
        for i in range(8 * LIMIT + 1):
            x, value = left + (right - left) * i / (8 * LIMIT), drift(10 ** (i / 8), way, q, k)
            body += svg.tag("circle", cx=x, cy=y(value), r=2.2, fill=PALETTE[colour][0])
    text = "drift of a score against the move: float32 above, this package, float64 below"
    return svg.picture(width, height, body + svg.label(left, 12, text))


@figure("rope_precision")
def explorable(exponent: float = 4.8) -> Explorable:
    """The figure as it opens, with both tokens moved by 10^exponent, 0 to 7. ValueError names what does not fit."""
    if not 0 <= exponent <= LIMIT:
        raise ValueError(f"exponent is {exponent}; the figure moves tokens by 10^0 to 10^{LIMIT}")
    q, k = vectors()
    return Explorable(
        name="rope_precision",
        script=SCRIPT,
        data={
            "q": q.tolist(),
            "k": k.tolist(),
            "thetas": frequencies(DIM, P, BASE),
            "tokens": list(TOKENS),
            "limit": LIMIT,
            "exponent": exponent,
        },
        height=270,
        fallback=still(q, k),
        title="How far out can a position be?",
        caption="Both tokens move out together, so the score should stay. Drag the marker. Every dot is the drift of "
        f"one score of a head of {DIM} channels at one distance from the origin. In float32 the position itself is "
        "rounded first, so the two tokens are no longer as far apart as they were; the angles are rounded next. "
        "Computing the angle in float64 and casting it after the remainder keeps the drift at the rounding of a "
        "float32 angle, wherever the tokens are.",
    )

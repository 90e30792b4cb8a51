"""Precision: how a score that should depend on a difference only drifts as both positions move out (deviation D13).

The page forms every angle three ways: in float32 throughout (`Math.fround` after each operation, which is what float32
arithmetic does), in float64 throughout, and as `romae_lite.rope.angles` does it: product and remainder in float64, and
only the angle in [0, 2 pi) cast to float32. The functions below say the same in numpy.
"""


import numpy as np

from ..explorable import Explorable, figure
from .rotary_clock import frequencies

DIM, P, BASE = 32, 1.0, 10_000.0
TOKENS = (1.7, 0.3)  # query and key before both are moved
LIMIT = 7  # the farthest move is 10^LIMIT
FLOOR = 1e-16  # drifts below this are drawn there
WAYS = ("float32", "rope", "float64")


def vectors(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A query and a key of normal numbers, (DIM,) each, rounded so that JSON carries them exactly."""
    return tuple(np.random.default_rng(seed).normal(size=(2, DIM)).round(3))


@figure("rope_precision")
def explorable(exponent: float = 4.8) -> Explorable:
    """The figure as it opens, with both tokens moved by 10^exponent, 0 to 7. ValueError names what does not fit."""
    if not 0 <= exponent <= LIMIT:
        raise ValueError(f"exponent is {exponent}; the figure moves tokens by 10^0 to 10^{LIMIT}")
    q, k = vectors()
    return Explorable(
        name="rope_precision",
        data={
            "q": q.tolist(),
            "k": k.tolist(),
            "thetas": frequencies(DIM, P, BASE),
            "tokens": list(TOKENS),
            "limit": LIMIT,
            "exponent": exponent,
        },
        height=270,
        title="How far out can a position be?",
        caption="Both tokens move out together, so the score should stay. Drag the marker. Every dot is the drift of "
        f"one score of a head of {DIM} channels at one distance from the origin. In float32 the position itself is "
        "rounded first, so the two tokens are no longer as far apart as they were; the angles are rounded next. "
        "Computing the angle in float64 and casting it after the remainder keeps the drift at the rounding of a "
        "float32 angle, wherever the tokens are.",
    )

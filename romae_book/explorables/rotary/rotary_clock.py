"""The rotary clock: what continuous p-RoPE does to the pairs of channels of a query or key, as a row of clock hands.

Needs no data: pair i of a head turns by position x base^(-2 i / dim) radians, and the page computes exactly that. The
functions below say the same in Python; `romae_lite.rope` is what the model runs.
"""


from romae_lite import rope

from ..explorable import Explorable, figure

MAX_DIM = 60  # of the head sizes in the paper's Table 8, the one that RoMAE-tiny has


def frequencies(dim: int, p: float, base: float) -> list[float]:
    """Radians per unit of position of each pair, as plain numbers (see `rope.frequencies`)."""
    return rope.frequencies(dim, p, base).tolist()


@figure("rotary_clock")
def explorable(position: float = 3.7, dim: int = 16, p: float = 0.75, base: float = 10_000.0) -> Explorable:
    """The figure as it opens; the reader can change all four.

    position: any real number from 0 to 100; dim: channels of a head on one axis, even, at most 60; p: fraction of pairs
    that turn; base: above 1. ValueError names what is outside.
    """
    if dim < 2 or dim % 2 or dim > MAX_DIM:
        raise ValueError(f"dim is {dim}; the clock shows an even number of channels from 2 to {MAX_DIM}")
    if not 0 <= position <= 100 or not 0 <= p <= 1 or not base > 1:
        raise ValueError(f"position {position}, p {p}, base {base}: expected 0 to 100, 0 to 1, above 1")
    return Explorable(
        name="rotary_clock",
        data={"position": position, "dim": dim, "p": p, "base": base},
        height=170,
        title="A position is a set of angles",
        caption="Every dial is one pair of channels of a query or key. The position turns it, at a rate of its own; "
        "any real number will do. Drag a hand, or the marker of the curve: it shows how much a vector turned to this "
        "position still agrees with the same vector at 0. Dashed dials belong to the pairs that p-RoPE leaves alone, "
        "free to carry what does not depend on position.",
    )

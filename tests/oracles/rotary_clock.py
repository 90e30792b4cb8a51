"""What the page of `rotary_clock` computes, again in Python."""

import math

from romae_book.explorables.rotary.rotary_clock import frequencies


def agreement(position: float, dim: int, p: float, base: float) -> float:
    """Dot product of two equal vectors, one of them turned to `position`, as a fraction of its value at 0."""
    return sum(math.cos(position * theta) for theta in frequencies(dim, p, base)) / (dim // 2)


def wavelength(theta: float) -> str:
    """2 pi / theta as it is shown: decimals below 100 only; the infinity sign for a pair that does not turn."""
    if not theta:
        return "∞"
    value = 2 * math.pi / theta
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"

"""What the page of `attention_kernel` computes, again in Python."""

import math

from romae_book.explorables.rotary.attention_kernel import thetas


def score(weights: list[float], phases: list[float], distances: tuple[float, ...]) -> float:
    """The kernel at a distance along one axis, or along each of two."""
    freqs, axes = thetas(len(distances)), len(distances)
    per_axis = len(freqs) // axes
    return sum(
        w * math.cos(theta * distances[i // per_axis] + phi)
        for i, (w, phi, theta) in enumerate(zip(weights, phases, freqs, strict=True))
    )

"""The attention kernel: which functions of distance one head can score with.

The query and the key are the reader's to shape.

A pair of channels adds |q||k| cos(theta d - phi) to the score of two tokens a distance d apart, where phi is the angle
from the query's hand to the key's when both are unturned. So a head's score is a sum of cosines of fixed wavelengths,
with weights and phases that its projections may choose: that sum is the kernel. With two axes every axis has half of
the pairs, and the kernel is a function of the one distance plus a function of the other.
"""

import math

from romae_lite.rope import frequencies

from ..explorable import Explorable, figure

DIM, P, BASE = 16, 0.75, 10_000.0
MOST = 2.0  # largest weight that a pair can be given
BACK = 5.0  # what the preset looks back to
PRESETS = ("all equal", "only fast", "only slow", "5 back")


def thetas(axes: int) -> list[float]:
    """Frequency of each of the eight pairs: all on one axis, or four on each of two."""
    return frequencies(DIM // axes, P, BASE).tolist() * axes


def shaped(preset: str, axes: int) -> tuple[list[float], list[float]]:
    """Weights and phases of the eight pairs. ValueError for a preset that is none."""
    if preset not in PRESETS:
        raise ValueError(f"preset is {preset!r}; choose one of {', '.join(PRESETS)}")
    freqs, weights = thetas(axes), []
    per_axis = len(freqs) // axes
    turning = sum(theta > 0 for theta in freqs[:per_axis])
    for i, theta in enumerate(freqs):
        fast = i % per_axis < turning / 2
        wanted = {"only fast": fast and theta > 0, "only slow": not fast and theta > 0}.get(preset, True)
        weights.append(float(wanted))
    phases = [theta * BACK % (2 * math.pi) if preset == "5 back" else 0.0 for theta in freqs]
    return weights, phases


@figure("attention_kernel")
def explorable(preset: str = "5 back", reach: float = 40.0, axes: int = 1) -> Explorable:
    """The figure as it opens. preset: see PRESETS; reach: largest distance drawn, 15, 40, 150 or 1500; axes: 1 or 2."""
    for name, value, allowed in (("reach", reach, (15, 40, 150, 1500)), ("axes", axes, (1, 2))):
        if value not in allowed:
            raise ValueError(f"{name} is {value}; choose one of {', '.join(map(str, allowed))}")
    weights, phases = shaped(preset, axes)
    return Explorable(
        name="attention_kernel",
        data={
            "thetas": {str(n): thetas(n) for n in (1, 2)},
            "presets": [[name, shaped(name, 1), shaped(name, 2)] for name in PRESETS],  # a list keeps its order in JSON
            "preset": preset,
            "weights": weights,
            "phases": phases,
            "reach": reach,
            "axes": axes,
            "most": MOST,
        },
        height=230,
        title="Shape what a head attends to",
        caption="Each bar is one pair of channels: drag it up or down for its weight, turn the dial below it for its "
        "phase. The curve is the score that a query gives to a key at that distance; triangles mark the wavelengths, "
        "counted from distance 0. The two dashed pairs do not turn: all they can do is raise or lower all alike. With "
        "two axes each axis has four pairs, and the score is a sum of one function of each distance: a cross. The "
        "exponential in softmax makes spots of it, a lattice of them where the fastest pair repeats.",
    )

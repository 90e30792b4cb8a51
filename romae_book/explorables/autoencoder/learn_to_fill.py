"""A masked autoencoder that trains in the page, on copies of a curve that the reader draws.

Nothing is recorded: the page draws its copies and trains (kit/trainer.js) the model of chapter 02 in small.
"""

import numpy as np

from ...experiments.waves.data import NOISE, SPAN, curve
from ..explorable import Explorable, figure

MODEL = {"dim": 16, "heads": 2, "ff": 32, "p": 0.75, "base": 100.0, "patch": 1, "rotary": True, "masked": True}
LR, BATCH = 0.012, 8  # Adam's peak rate, copies a step
READINGS, HIDDEN = 24, 12  # of a copy, as in the chapter; how many are hidden at first
HEIGHTS = (0.6, 1.4)  # a copy is as many times as high as the curve
KNOTS = 80  # a curve is straight between these; what leaves at one end comes in at the other
UNITS = (0.1, 1, 10)  # the model gets times multiplied by these


def shapes() -> dict[str, dict]:
    """The curves that can be chosen, by name: what they are called and their heights at the knots."""
    times = np.arange(KNOTS) * SPAN / KNOTS
    found = {
        "wave": ("a wave", curve(times, SPAN / 3, 0.1)),
        "both": ("slow and fast", 0.75 * curve(times, SPAN, 0.0) + 0.5 * curve(times, SPAN / 5, 0.0)),
        "pulse": ("a pulse", 1.5 * np.exp(-(((times % (SPAN / 4)) - SPAN / 8) ** 2) / 0.4) - 0.5),
    }
    return {name: {"label": label, "knots": knots.round(3).tolist()} for name, (label, knots) in found.items()}


@figure("learn_to_fill")
def explorable(steps: int = 600) -> Explorable:
    """The figure. steps: of training; ValueError below 1."""
    if steps < 1:
        raise ValueError(f"steps is {steps}; it must be at least 1")
    return Explorable(
        name="learn_to_fill",
        needs=("trainer",),
        data={
            "model": MODEL, "steps": steps, "lr": LR, "batch": BATCH, "readings": READINGS, "hidden": HIDDEN,
            "heights": HEIGHTS, "span": SPAN, "noise": NOISE, "units": UNITS, "shapes": shapes(),
        },
        height=230,
        title="Watch it learn to fill in",
        caption="Press Train, then change one thing. The masked autoencoder of this chapter learns in this page, in "
        f"small: {MODEL['dim']} channels, trained by Adam alone. Its copies of the curve are shifted in time, taller "
        f"or flatter, and read with noise at {READINGS} random moments. The series above is not among them. The chart "
        "has the error on the hidden readings of the last 20 steps, and each step draws new copies. Earlier settings "
        "stay in grey.",
    )

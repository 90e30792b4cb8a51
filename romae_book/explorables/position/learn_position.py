"""A model of four thousand weights that learns in the page to say where its tokens are: what it takes to know.

Three switches, eight models: with or without [CLS], with or without rotations, tokens alike or distinct. The page
trains (kit/trainer.js) on positions that it draws itself; nothing is recorded.
"""


import numpy as np

from ...experiments.base import numpy_rng
from ...experiments.position.experiment import Position
from ..explorable import Explorable, figure

MODEL = {"dim": 16, "heads": 2, "depth": 2, "ff": 32, "p": 0.75, "base": 10_000.0}
LR, BATCH, EVERY = 0.01, 32, 15  # Adam's peak rate, samples a step, steps between two looks at the test samples
TESTS = 150


def levels(tests: np.ndarray, low: float, high: float) -> dict[str, float]:
    """Mean squared errors on samples (n, tokens): of who knows nothing and answers with the middle of the range, and of
    who knows all differences and puts the pattern in the middle, which is the best that differences allow."""
    middle = (low + high) / 2
    centre = (tests.min(1) + tests.max(1)) / 2
    return {
        "nothing": float(np.square(tests - middle).mean()),
        "differences": float(np.square(centre - middle).mean()),
    }


@figure("learn_position")
def explorable(steps: int = 400) -> Explorable:
    """The figure. steps: of training, for each model; ValueError below 1."""
    if steps < 1:
        raise ValueError(f"steps is {steps}; it must be at least 1")
    task = Position()
    tests = np.sort(numpy_rng(0, 9).uniform(task.low, task.high, (TESTS, task.tokens)), axis=1).round(2)
    data = {
        "model": MODEL, "steps": steps, "lr": LR, "batch": BATCH, "every": EVERY, "low": task.low, "high": task.high,
        "tests": tests.tolist(), "levels": levels(tests, task.low, task.high),
    }
    return Explorable(
        name="learn_position",
        needs=("trainer",),
        data=data,
        height=250,
        title="Train a model to say where it is",
        caption="Set the three switches, guess what will happen, and press Train: a model of four thousand weights "
        "learns in this page, a few seconds for a run. Black: ten tokens of a sample that it was not trained on. Blue: "
        f"where it says that they are. Below, its error on {TESTS} such samples; earlier runs stay in grey. Dotted: "
        "the error of who knows nothing. Orange, dashed: the best possible from differences alone, on these samples.",
    )

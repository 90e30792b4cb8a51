"""One irregular series twice: above, a network told the numbers of the readings; below, the same one told times."""

from pathlib import Path

import numpy as np

from romae_lite.model import RoMAE, count_parameters

from ...experiments.waves.data import NOISE, PERIODS, SEEN, SPAN
from ...experiments.waves.experiment import Waves
from ...lab.records import from_arrays
from ..explorable import Drawable, Explorable, figure_of_runs, not_recorded, runs_in
from ..weights import packed

# Placed by hand: a pause as long as a wave, and readings enough before and after it to know the wave.
FIRST = {
    "times": [0.5, 1.3, 2.1, 3.2, 8.5, 9.6, 11.0, 11.9, 12.5, 14.7, 18.7, 19.1], "period": 5.0, "phase": 0.29,
    "noise": np.random.default_rng(0).normal(0, NOISE, SEEN).round(3).tolist(),
}
TOLD = {"numbers": Waves.page().replace(epochs=3, told="numbers"), "times": Waves.page().replace(epochs=3)}
NOTHING = ("Count or time", "python -m romae_lite run waves --preset page --seeds 0 --set epochs=3")  # title, command


def payload(models: dict[str, RoMAE]) -> dict:
    """What the page needs, as JSON. models: by the names in TOLD."""
    return {
        "models": {name: packed(model) for name, model in models.items()}, "first": FIRST, "seen": SEEN, "span": SPAN,
        "noise": NOISE, "periods": PERIODS,
    }


def explorable(models: dict[str, RoMAE], source: str = "") -> Explorable:
    return Explorable(
        name="count_or_time",
        needs=("romae",),
        data=payload(models),
        height=122,
        title="The same twelve readings: one network counts them, the other knows their times. Drag a dot.",
        caption="Grey: the true curve, which neither network sees. Shaded: what is missed; the bar is its mean, where "
        "the wave's height is 1. Each hand is the angle that a number, or a time, becomes inside attention. "
        f"{source}".rstrip(),
    )


@figure_of_runs("count_or_time", *NOTHING, runs_in(*([exp] for exp in TOLD.values())))
def from_runs(found: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first run of either network; one alone has nothing to be set beside."""
    models = {run.config["told"]: from_arrays(run.planned.build().build(run.seed), arrays) for run, arrays in found}
    if set(models) != set(TOLD):
        payload(models)  # or what is wrong with the weights would go unnoticed
        return not_recorded("count_or_time", *NOTHING)
    runs = {run.config["told"]: run for run, _ in found}
    miss = {name: run.metrics["miss"] for name, run in runs.items()}
    config = runs["times"].config
    return explorable(models, (
        f"Both are RoMAE with {count_parameters(models['times']):,} weights, trained {config['epochs']} times on the "
        f"same {config['n_train']:,} waves, and both answer in this page. On {config['n_test']:,} other waves the one "
        f"that counts misses by {miss['numbers']:.2f}, the one that knows times by {miss['times']:.2f}."
    ))

"""One irregular series twice: above, a network told the numbers of the readings; below, the same one told times."""

from pathlib import Path

from romae_lite.model import RoMAE, count_parameters

from ...experiments.waves.data import NOISE, PERIODS, SEEN, SPAN
from ...experiments.waves.experiment import Waves
from ...lab.records import from_arrays
from ...lab.runs import runs_of
from ..explorable import Explorable, figure, not_recorded
from ..weights import packed

# Made to show the point: a pause of the length of a wave, and readings enough before and after it to know the wave.
FIRST = {
    "times": [0.454, 1.253, 2.078, 3.154, 8.503, 9.65, 11.06, 11.866, 12.474, 14.743, 18.695, 19.075],
    "noise": [-0.022, -0.103, -0.042, -0.121, -0.101, -0.02, -0.178, 0.048, -0.094, -0.01, -0.054, -0.04],
    "period": 4.94333, "phase": 0.286478,
}
TOLD = {"numbers": Waves.page().replace(told="numbers"), "times": Waves.page()}


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
        height=150,
        title="The same twelve readings: one network counts them, the other knows their times. Drag a dot.",
        caption="Grey: the true curve, which neither network sees. Shaded: what is missed; the bar is its mean, where "
        f"the wave's height is 1. {source}".rstrip(),
    )


@figure("count_or_time")
def from_records(root: Path | None = None) -> Explorable:
    """The figure from the first run of either network."""
    runs = {name: next(iter(runs_of(exp, root)), None) for name, exp in TOLD.items()}
    if None in runs.values():
        return not_recorded("count_or_time", "Count or time", "python -m romae_lite run waves --preset page --seeds 0")
    models = {name: from_arrays(run.planned.build().build(run.seed), run.arrays) for name, run in runs.items()}
    miss = {name: run.metrics["miss"] for name, run in runs.items()}
    config = runs["times"].config
    return explorable(models, (
        f"Both are RoMAE with {count_parameters(models['times']):,} weights, trained on the same "
        f"{config['n_train'] * config['epochs']:,} waves, and both answer in this page. On {config['n_test']:,} other "
        f"waves the one that counts misses by {miss['numbers']:.2f}, the one that knows times by {miss['times']:.2f}."
    ))

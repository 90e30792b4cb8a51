"""Is the best unit of time set by the data? Skill by unit, on several sets, with the typical gap as the common measure.

Skill is what a model scores above somebody who knows nothing. A share of it is formed against the best of the units.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..lab.runs import Runs
from ..lab.summary import Summary, summarise
from .ladder import of_setting
from .statements import Setting
from .times import knowing_nothing


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One set, and the factors on its times that were tried. gap: the typical distance of neighbouring points where the
    factor is 1, as `suggest_unit` measures it."""

    name: str
    experiment: str
    preset: str
    metric: str
    nothing: str | Setting  # a metric of the same runs, or runs of their own
    gap: float
    factors: tuple[float, ...]
    changes: dict

    def at(self, factor: float) -> Setting:
        return Setting(self.experiment, self.preset, self.metric, self.changes | {"position_scale": factor})


class Point(NamedTuple):
    """A unit of a sweep: the typical gap in it, and the share of the best unit's skill that is left."""

    gap: float
    left: Summary


SPCC = {"survey": "spcc", "tested_on": "random"}
SWEEPS = (
    Sweep(name="mixed sines", experiment="frequencies", preset="small", metric="mse_clean", nothing="mse_clean_zero",
          gap=1 / 99, factors=(1.0, 3.0, 10.0, 30.0, 99.0, 300.0, 1000.0), changes={}),
    Sweep(name="synthetic series", experiment="synthetic", preset="best", metric="mse_noisy", nothing="mse_noisy_zero",
          gap=1 / 50, factors=(1.0, 10.0, 50.0, 200.0, 800.0), changes={"n_train": 32_000}),
    Sweep(name="SPCC", experiment="lightcurves", preset="best", metric="f1_macro",
          nothing=Setting("lightcurves", "best", "f1_macro", SPCC | {"method": "largest"}), gap=0.023,
          factors=(*(4.0**power for power in range(-4, 2)), 64.0), changes=SPCC | {"pretrain_epochs": 0}),
)


def curves(root: Path | None = None) -> dict[str, list[Point]]:
    """The points of every sweep with runs at two units or more."""
    runs = Runs.load(root)
    found = {sweep.name: of_sweep(runs, sweep) for sweep in SWEEPS}
    return {name: points for name, points in found.items() if len(points) > 1}


def of_sweep(runs: Runs, sweep: Sweep) -> list[Point]:
    """By factor; skill over the best unit's mean skill, over the seeds of each unit."""
    skill = {factor: _skill(runs, sweep, factor) for factor in sweep.factors}
    skill = {factor: values for factor, values in skill.items() if values}
    best = max((summarise(values).mean for values in skill.values()), default=1.0)
    return [Point(sweep.gap * f, summarise([v / best for v in values])) for f, values in skill.items()]


def _skill(runs: Runs, sweep: Sweep, factor: float) -> list[float]:
    """What each seed scores above nothing: positive for errors as for scores."""
    found = of_setting(runs, sweep.at(factor))
    nothing = knowing_nothing(runs, sweep.nothing, found)
    sign = -1 if isinstance(sweep.nothing, str) else 1  # sets with a metric of their own for it are scored by errors
    return [sign * (run.metrics[sweep.metric] - nothing[run.seed]) for run in found if run.seed in nothing]

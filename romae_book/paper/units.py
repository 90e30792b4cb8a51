"""Is the best unit of time set by the data? Skill by unit, on several sets, with the typical gap as the common measure.

Skill is what a model scores above somebody who knows nothing. A share of it is formed against the best of the units.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..experiments.lightcurves.experiment import from_nothing
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
    learns: bool = False  # whether the experiment has runs that learn their unit

    def at(self, factor: float, **more) -> Setting:
        return Setting(self.experiment, self.preset, self.metric, self.changes | {"position_scale": factor} | more)


class Point(NamedTuple):
    """A unit of a sweep: the typical gap in it, and the share of the best unit's skill that is left."""

    gap: float
    left: Summary


class Learnt(NamedTuple):
    """Runs that learnt their unit: the typical gap as they began and in the end, and the share of the skill."""

    begun: float
    ended: float
    left: Summary


def _survey(name: str, survey: str, tested_on: str, gap: float, **changes) -> Sweep:
    """RoMAE from nothing on measured light curves. gap: in days; changes: of its settings."""
    where = {"survey": survey, "tested_on": tested_on}
    ours = from_nothing(survey, tested_on) | changes
    return Sweep(
        name=name, experiment="lightcurves", preset="best", metric="f1_macro", gap=gap, changes=where | ours,
        nothing=Setting("lightcurves", "best", "f1_macro", where | {"method": "largest"}),
        factors=(*(4.0**power for power in range(-4, 2)), 64.0),
    )


SWEEPS = (
    Sweep(name="mixed sines", experiment="frequencies", preset="small", metric="mse_clean", nothing="mse_clean_zero",
          gap=1 / 99, factors=(1.0, 3.0, 10.0, 30.0, 99.0, 300.0, 1000.0), changes={}, learns=True),
    Sweep(name="synthetic series", experiment="synthetic", preset="best", metric="mse_noisy", nothing="mse_noisy_zero",
          gap=1 / 50, factors=(1.0, 10.0, 50.0, 200.0, 800.0), changes={"n_train": 32_000}, learns=True),
    _survey("SPCC", "spcc", "random", 0.023, epochs=48), _survey("ASAS", "asas", "folds", 18.0),
)


def curves(root: Path | None = None) -> dict[str, list[Point]]:
    """The points of every sweep with runs at two units or more."""
    runs = Runs.load(root)
    found = {sweep.name: of_sweep(runs, sweep) for sweep in SWEEPS}
    return {name: points for name, points in found.items() if len(points) > 1}


def of_sweep(runs: Runs, sweep: Sweep) -> list[Point]:
    """By factor; skill over that of the best unit, seed by seed, since folds differ more than units do."""
    skill = _skills(runs, sweep)
    return [Point(sweep.gap * f, left) for f, by_seed in skill.items() if (left := _share(by_seed, skill))]


def learnt(root: Path | None = None) -> dict[str, list[Learnt]]:
    """Of sets where runs learnt their unit, one for each unit at which they began. ended: by the mean logarithm."""
    runs, found = Runs.load(root), {}
    for sweep in SWEEPS:
        skill = _skills(runs, sweep)
        for factor, by_seed in skill.items():
            own = sweep.learns and of_setting(runs, sweep.at(factor, learn_unit=True))
            if own and _share(by_seed, skill):  # an arrow begins at a point of the curve
                grown = math.exp(np.mean([math.log(run.metrics["learnt_factor"]) for run in own]))
                if share := _share(_above(runs, sweep, own), skill):
                    begun = sweep.gap * factor
                    found.setdefault(sweep.name, []).append(Learnt(begun, begun * grown, share))
    return found


def _share(by_seed: dict[int, float], skill: dict[float, dict[int, float]]) -> Summary | None:
    """Of the skill of the unit that is best in the mean, over the seeds that both have; None without any."""
    best = max(skill.values(), key=lambda of_unit: np.mean(list(of_unit.values())))
    left = [by_seed[seed] / best[seed] for seed in sorted(by_seed.keys() & best.keys())]
    return summarise(left) if left else None


def _skills(runs: Runs, sweep: Sweep) -> dict[float, dict[int, float]]:
    """By factor, of those that were run, what each seed scores above nothing."""
    found = {factor: _above(runs, sweep, of_setting(runs, sweep.at(factor))) for factor in sweep.factors}
    return {factor: by_seed for factor, by_seed in found.items() if by_seed}


def _above(runs: Runs, sweep: Sweep, found: Runs) -> dict[int, float]:
    """What each seed scores above nothing: positive for errors as for scores."""
    nothing = knowing_nothing(runs, sweep.nothing, found)
    sign = -1 if isinstance(sweep.nothing, str) else 1  # sets with a metric of their own for it are scored by errors
    return {run.seed: sign * (run.metrics[sweep.metric] - nothing[run.seed]) for run in found if run.seed in nothing}

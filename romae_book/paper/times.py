"""Which benchmarks need time? What is left of a model's skill where times, order or values are taken from it.

Skill is what a model scores above somebody who knows nothing: the largest class, or always the mean. A share of it is
formed seed by seed, against the runs that knew everything, whose data it has.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..experiments.lightcurves.experiment import from_nothing
from ..lab.records import Record
from ..lab.runs import Runs
from ..lab.summary import Summary, summarise
from .ladder import of_setting
from .statements import Setting

LESS = {  # what is taken away -> in words
    "added": "times added as sines, not rotated", "ranks": "order alone: ranks in place of times",
    "none": "no positions at all", "shuffled": "values shuffled among the times", "times": "times alone, no values",
}


@dataclass(frozen=True, kw_only=True)
class Task:
    """A data set and a model: the runs that know everything, those that know nothing, and those between."""

    name: str
    metric: str
    chapter: str
    who: str = "RoMAE"
    full: Setting
    nothing: str | float | Setting  # a metric of the same runs, a number, or runs of their own
    less: dict[str, Setting] = field(default_factory=dict)  # by LESS


class Share(NamedTuple):
    """Of a task's skill, what is left: 1 is all of it, 0 nothing."""

    task: Task
    less: str
    left: Summary


def _of(experiment: str, preset: str, metric: str, base: dict, less: dict[str, dict]) -> dict:
    """`full` and `less` of a task whose runs differ in these settings."""
    built = {name: Setting(experiment, preset, metric, base | change) for name, change in less.items()}
    return {"metric": metric, "full": Setting(experiment, preset, metric, base), "less": built}


def _uea(dataset: str, ours: dict, added: dict, none: dict) -> tuple[Task, Task]:
    """RoMAE with the rates of each encoding, and boosted trees, whose scores stand in the records of its runs."""
    where = {"dataset": dataset} | ours
    less = {"added": {"encoding": "absolute"} | added, "ranks": {"information": "ranks"},
            "none": {"encoding": "none"} | none, "shuffled": {"information": "shuffled"}}
    facts = {"name": dataset, "chapter": "09_uea", "nothing": "accuracy_majority"}
    trees = _of("uea", "best", "accuracy_trees", where, {"shuffled": less["shuffled"]})
    trees["less"]["times"] = Setting("uea", "best", "accuracy_times", where)
    return (
        Task(**facts, **_of("uea", "best", "accuracy", where, less)),
        Task(**facts, who="boosted trees", **trees),
    )


def _mortality() -> tuple[Task, Task]:
    """Deaths in hospital; a coin ranks half of the pairs rightly."""
    facts = {"name": "PhysioNet deaths", "chapter": "07_physionet", "nothing": 0.5}
    less = {one: {"information": one} for one in ("ranks", "shuffled", "times")}
    return (
        Task(**facts, **_of("mortality", "best", "auroc", {}, {"none": {"encoding": "none"}} | less)),
        Task(**facts, who="boosted trees", **_of("mortality", "best", "auroc", {"method": "trees"}, less)),
    )


def _survey(name: str, survey: str, tested_on: str, **changes) -> tuple[Task, Task]:
    """RoMAE from nothing, and boosted trees, on measured light curves. changes: of its settings."""
    where = {"survey": survey, "tested_on": tested_on}
    ours = from_nothing(survey, tested_on) | changes
    nothing = Setting("lightcurves", "best", "f1_macro", where | {"method": "largest"})
    least = ("ranks", "shuffled", "times")
    less = {"none": {"encoding": "none"}} | {one: {"information": one} for one in least}
    romae = _of("lightcurves", "best", "f1_macro", where | ours, less)
    trees = _of("lightcurves", "best", "f1_macro", where | {"method": "trees"},
                {one: {"information": one} for one in least[:2]} | {"times": {"method": "sampling"}})
    return (
        Task(name=name, chapter="10_elasticc", nothing=nothing, **romae),
        Task(name=name, chapter="10_elasticc", nothing=nothing, who="boosted trees", **trees),
    )


SLOW, FAST = {"lr": 0.002, "pretrain_lr": 0.005}, {"lr": 0.006, "pretrain_lr": 0.015}
TASKS = (
    Task(
        name="synthetic series", chapter="06_synthetic", nothing="mse_noisy_zero",
        **_of("synthetic", "best", "mse_noisy", {"n_train": 32_000},
              {"added": {"encoding": "absolute"}, "none": {"encoding": "none", "lr": 0.003}}),
    ),
    Task(
        name="pendulum", chapter="08_pendulum", nothing="mse_mean",
        **_of("pendulum", "best", "mse", {}, {"added": {"encoding": "absolute"},
                                              "none": {"encoding": "none", "lr": 0.012}}),
    ),
    *_uea("CharacterTrajectories", FAST, added=SLOW, none=SLOW),
    *_uea("LSST", {}, added={}, none={"lr": 0.0007, "pretrain_lr": 0.0017}),
    *_uea("Epilepsy", {}, added={}, none=FAST),
    *_survey("EROS-1", "eros1", "official", epochs=12), *_survey("ASAS", "asas", "folds"),
    *_survey("SPCC", "spcc", "random", epochs=48), *_survey("MALLORN", "mallorn", "folds", epochs=12),
    *_mortality(),
)


def shares(root: Path | None = None) -> list[Share]:
    """What is left, of every task and everything that was taken away whose runs are there."""
    runs = Runs.load(root)
    return [
        Share(task, less, left)
        for task in TASKS for less in LESS
        if less in task.less and (left := share(runs, task, less))
    ]


def share(runs: Runs, task: Task, less: str) -> Summary | None:
    """Over the seeds that all three have; None without any."""
    full = {run.seed: run for run in of_setting(runs, task.full)}
    known = task.less[less]
    part = {run.seed: run.metrics[known.metric] for run in of_setting(runs, known)}
    nothing = knowing_nothing(runs, task.nothing, full.values())
    seeds = sorted(full.keys() & part.keys() & nothing.keys())
    left = [(part[s] - nothing[s]) / (full[s].metrics[task.metric] - nothing[s]) for s in seeds]
    return summarise(left) if left else None


def knowing_nothing(runs: Runs, nothing: str | float | Setting, found: Iterable[Record]) -> dict[int, float]:
    """By seed, what somebody scores who knows nothing: a metric of the runs found, a number, or runs of their own."""
    if isinstance(nothing, float):
        return {run.seed: nothing for run in found}
    if isinstance(nothing, str):
        return {run.seed: run.metrics[nothing] for run in found}
    return {run.seed: run.metrics[nothing.metric] for run in of_setting(runs, nothing)}

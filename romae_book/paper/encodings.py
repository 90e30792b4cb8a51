"""What is a position encoding worth? One question, put to several subjects.

Continuous RoPE, RoPE at positions rounded to whole numbers, sines and cosines of the real position added once, RoPE on
the last axis with the others added where a position has axes of two kinds, and none; each at the paper's unit of
position and at one unit between neighbours, where these differ. Everything else stays as the subject's own settings
have it, but the learning rate: every arm has its own, chosen on validation data by one run at each rate of a small
grid. A subject takes part by a tuple of `Task`s as its `encodings`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from romae_lite.rope import PositionEncoding
from romae_lite.training import NUMERICS

from ..experiments import experiments
from ..experiments.base import Task
from ..lab.planned import Planned
from ..lab.records import Record
from ..lab.runs import Runs, paired
from ..lab.summary import Summary, summarise

SEEDS = 5


class Recorded:
    """The records of all subjects that take part, by what was run, under whatever name. Only those that today's code
    would make: runs are held against one another seed by seed, which takes the same data and the same arithmetic."""

    def __init__(self, root: Path | None = None):
        self.found = {
            (setting, run.seed): run
            for name, cls in experiments().items()
            if cls.encodings
            for setting, runs in Runs.load(root, name).where(committed=True, numerics=NUMERICS).by_setting().items()
            for run in runs.counted()
        }

    def of(self, planned: Planned) -> Record | None:
        return self.found.get((planned.setting, planned.seed))


class Arm(NamedTuple):
    """An encoding at a unit, on one subject."""

    experiment: str
    task: Task
    encoding: str
    unit: str  # "" without positions

    def planned(self, seed: int, **settings: Any) -> Planned:
        of_unit = self.task.units[self.unit] if self.unit else {}
        wanted = {**self.task.changes, "encoding": self.encoding, **of_unit, **settings}
        preset = experiments()[self.experiment].preset(self.task.preset).replace(**self.task.changes)
        named = {k: v for k, v in wanted.items() if k in self.task.changes or getattr(preset, k) != v}
        return Planned(
            experiment=self.experiment, preset=self.task.preset, seed=seed, overrides=tuple(sorted(named.items()))
        )

    def trials(self) -> list[Planned]:
        """One run at each learning rate, seed 0."""
        return [self.planned(0, **rate, **self.task.holdout) for rate in self.task.rates]

    def rate(self, recorded: Recorded) -> Mapping[str, Any] | None:
        """The rate whose trial has the best validation score; None while a trial is missing."""
        found = [recorded.of(planned) for planned in self.trials()]
        if None in found:
            return None
        sign = 1 if self.task.better == "lower" else -1
        scores = [sign * record.history[-1][self.task.valid] for record in found]
        return self.task.rates[scores.index(min(scores))]

    def runs(self, recorded: Recorded) -> list[Planned]:
        """The runs that are compared, at the chosen rate; none while it is not known."""
        rate = self.rate(recorded)
        return [] if rate is None else [self.planned(seed, **rate) for seed in range(SEEDS)]

    def records(self, recorded: Recorded) -> list[Record]:
        """Of the runs that are compared, those that are there."""
        return [record for planned in self.runs(recorded) if (record := recorded.of(planned))]

    def summary(self, recorded: Recorded) -> Summary | None:
        """Of the metric, over the seeds that are there."""
        found = self.records(recorded)
        return summarise(record.metrics[self.task.metric] for record in found) if found else None

    def lost(self, recorded: Recorded) -> Summary | None:
        """What the model loses, over seeds: an error, above what the best possible predictor has on the same test set
        where that is known; of an accuracy or F1 the share that is wrong."""
        task, found = self.task, self.records(recorded)
        if not found:
            return None
        if task.better == "higher":
            return summarise(1 - record.metrics[task.metric] for record in found)
        least = [record.metrics[task.floor] if task.floor else 0.0 for record in found]
        return summarise(r.metrics[task.metric] - floor for r, floor in zip(found, least, strict=True))


def arms() -> list[Arm]:
    """All of them, in the order of the chapters."""
    return [
        Arm(name, task, encoding, unit)
        for name, cls in experiments().items()
        for task in cls.encodings
        for encoding in PositionEncoding.KINDS
        for unit in (task.units if encoding != "none" else [""])
        if not (encoding == "quantised" and unit in task.whole) and (encoding != "mixed" or task.mixed)
    ]


def missing() -> Iterator[Planned]:
    """Runs to be made: all arms' trials of a subject, then all arms' first seeds, second seeds, and so on."""
    everybody, recorded = arms(), Recorded()
    for experiment, title in dict.fromkeys((arm.experiment, arm.task.title) for arm in everybody):
        mine = [arm for arm in everybody if (arm.experiment, arm.task.title) == (experiment, title)]
        asked = [planned for arm in mine for planned in arm.trials()]
        plans = [arm.runs(recorded) for arm in mine]
        asked += [runs[seed] for seed in range(SEEDS) for runs in plans if runs]
        yield from (planned for planned in dict.fromkeys(asked) if recorded.of(planned) is None)


WORDS = {
    "rope": "continuous RoPE", "quantised": "RoPE at rounded positions", "absolute": "added sines and cosines",
    "none": "no positions",
}


UNITS = {"the paper's": "the paper's unit", "neighbours": "neighbours one apart"}


def name_of(arm: Arm) -> str:
    words = arm.task.mixed if arm.encoding == "mixed" else WORDS[arm.encoding]
    return words + (f" ({UNITS[arm.unit]})" if arm.unit and len(arm.task.units) > 1 else "")


def is_base(arm: Arm) -> bool:
    """Whether the others are held against it: continuous RoPE, one unit between neighbours."""
    return (arm.encoding, arm.unit) == ("rope", "neighbours")


def against(arm: Arm, group: list[Arm], recorded: Recorded) -> Summary | None:
    """The arm's metric less that of the base, seed by seed: both have the same data and masks."""
    base = next(filter(is_base, group)).records(recorded)
    return None if is_base(arm) else paired(arm.records(recorded), base, arm.task.metric)


def side(gap: Summary, better: str) -> str:
    """Of the base against an arm, from the arm's metric less the base's."""
    if gap.low <= 0 <= gap.high:
        return "level with"
    return "ahead of" if (gap.low > 0) is (better == "lower") else "behind"


def chosen_rate(arm: Arm, recorded: Recorded) -> str:
    """The learning rate, and whether it is the smallest or largest that was tried; "" before all were."""
    rate = arm.rate(recorded)
    if rate is None:
        return ""
    tried = [planned.build().lr for planned in arm.trials()]
    lr = arm.planned(0, **rate).build().lr
    end = {min(tried): ", the smallest tried", max(tried): ", the largest tried"}
    return f"{lr:g}{end.get(lr, '')}"

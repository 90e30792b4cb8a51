"""Seconds to a target: the score is fixed, all recorded runs count, those that never get there as well.

The score is read from the learning curve on the validation split, and so are the seconds: training and validation up to
the first entry that reaches the target. LSST's recorded runs hold no validation split; of these the whole run counts,
where its score on the test set reaches the target.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ..lab.records import Record


@dataclass(frozen=True, kw_only=True)
class Target:
    """A score of an experiment that a run reaches or does not."""

    experiment: str
    words: str  # what it is, and where it comes from
    metric: str
    value: float
    higher: bool = False  # whether more is better
    where: tuple[tuple[str, object], ...] = ()  # settings of the runs that count
    curve: bool = True  # whether runs have it along the way, as valid_<metric>

    def reached(self, value: float) -> bool:
        return value >= self.value if self.higher else value <= self.value

    def counts(self, record: Record) -> bool:
        right = record.experiment == self.experiment and record.tier in ("paper", "own")
        return right and all(record.config.get(key) == value for key, value in self.where)


TARGETS = (
    Target(
        experiment="spirals", words="RMSE 0.05 to the clean curve: half of the noise's standard deviation",
        metric="rmse_clean", value=0.05,
    ),
    Target(
        experiment="pendulum", words="mean squared error 4.63e-3: ContiFormer's row of Table 5, read as a mean",
        metric="mse", value=4.63e-3,
    ),
    Target(
        experiment="uea", words="LSST, accuracy 0.6004: ContiFormer's cell of Table 6",
        metric="accuracy", value=0.6004, higher=True, where=(("dataset", "LSST"),), curve=False,
    ),
)


def seconds(record: Record, target: Target) -> float | None:
    """When a run first reached the target; None: it never did."""
    if not target.curve:
        return record.wall_seconds if target.reached(record.metrics[target.metric]) else None
    key = f"valid_{target.metric}"
    return next((e["seconds"] for e in record.history if key in e and target.reached(e[key])), None)


def by_preset(records: Iterable[Record], target: Target) -> dict[str, list[tuple[Record, float | None]]]:
    """Preset -> its runs of committed code, each with its seconds or None."""
    found: dict[str, list] = {}
    for record in records:
        if record.committed and target.counts(record):
            found.setdefault(record.preset, []).append((record, seconds(record, target)))
    return found

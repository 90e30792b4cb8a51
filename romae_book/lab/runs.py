"""Recorded runs of one setting: which count, their means, and differences seed by seed."""

from collections.abc import Iterable
from pathlib import Path

from .planned import plain
from .records import Record, counted, load_all
from .summary import Summary, summarise


class Runs(tuple[Record, ...]):
    """Records of one setting, one for each seed, in the order of the seeds."""

    def summary(self, metric: str) -> Summary:
        """Mean and interval of a metric. ValueError where there are no runs."""
        return summarise(run.metrics[metric] for run in self)

    def paired(self, others: Iterable[Record], metric: str) -> Summary | None:
        """Mean and interval of a metric less that of `others`, over the seeds that both have; None without one.

        For runs that share data and masks seed by seed, so that what the seeds do to both cancels. Runs of the same
        seed by code of different numerics are no pair: they differ in more than their settings.
        """
        return paired(self, others, metric)


def runs_of(experiment, root: Path | None = None, every: bool = False) -> Runs:
    """The recorded runs of an `Experiment`, as it is set.

    They may differ in what is `neutral`; `records.counted` says which count. root: the folder of the records, by
    default `results_dir()`. every: of each seed one, also where code made it that nobody has committed.
    """
    mine = experiment.protocol(plain(experiment.config(), "config"))
    found = [r for r in load_all(root, experiment.name).records if experiment.protocol(r.config) == mine]
    if every:
        return Runs(counted(r for r in found if r.seed == seed)[0] for seed in sorted({r.seed for r in found}))
    return Runs(counted(found))


def paired(runs: Iterable[Record], others: Iterable[Record], metric: str) -> Summary | None:
    """`Runs.paired` of any records."""
    ours, theirs = (
        {(run.seed, run.numerics): run.metrics[metric] for run in side if metric in run.metrics}
        for side in (runs, others)
    )
    both = sorted(ours.keys() & theirs.keys())
    return summarise(ours[pair] - theirs[pair] for pair in both) if both else None

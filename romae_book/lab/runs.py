"""One table of recorded runs: which count, by which key they belong together, and what they come to.

    runs_of(Spirals.paper()).summary("rmse_clean")                   five seeds of one setting: mean and interval
    Runs.load().where(experiment="uea", tier="own").by_setting()     all settings of our own, each with its seeds
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from ..experiments.base import Experiment
from .planned import setting_of
from .records import Record, load_all
from .summary import Summary, summarise


class Runs(tuple[Record, ...]):
    """Records, to choose from and to summarise.

    The key of a run is its `setting`: all settings but those that change its speed alone (`Experiment.neutral`), and
    not the seed.

    note: how the setting differs from the one that was asked for first (`first_runs_of`), in Markdown; else "".
    """

    note = ""

    @classmethod
    def load(cls, root: Path | None = None, experiment: str | None = None) -> Self:
        """All sound records under ``root`` (by default `results_dir()`), or those of one experiment."""
        return cls(load_all(root, experiment).records)

    def where(self, config: Mapping[str, Any] | None = None, **fields: Any) -> Self:
        """The runs whose config holds these settings and whose record has these fields, in the same order.

        Fields are those of `Record`, its properties included: ``where({"dataset": "LSST"}, tier="own",
        committed=True)``. A run whose config lacks a setting does not match.
        """
        wanted = (config or {}).items()
        return type(self)(
            run for run in self
            if all(getattr(run, name) == value for name, value in fields.items()) and wanted <= run.config.items()
        )

    def of(self, experiment: Experiment) -> Self:
        """The runs of an experiment as it is set, whatever their seed and whatever is `neutral`."""
        return self.where(setting=setting_of(experiment.name, experiment.config()))

    def by_setting(self) -> dict[str, Self]:
        """Setting -> its runs, ordered by seed and precision; settings in the order in which they come."""
        groups: dict[str, list[Record]] = {}
        for run in self:
            groups.setdefault(run.setting, []).append(run)
        return {key: type(self)(sorted(group, key=lambda r: (r.seed, r.precision))) for key, group in groups.items()}

    def counted(self, least: int = 3) -> Self:
        """The runs of one setting that count: one for each seed, ordered by seed.

        Runs of code that nobody has committed are left out where at least ``least`` seeds of others are there, enough
        for an interval. Where a seed was run more than once, committed code is taken, then fp32.
        """
        committed = self.where(committed=True)
        runs = committed if len({run.seed for run in committed}) >= least else self
        of_seed = {run.seed: run for run in sorted(runs, key=lambda run: (run.committed, run.precision == "fp32"))}
        return type(self)(of_seed[seed] for seed in sorted(of_seed))

    def having(self, metric: str) -> Self:
        """The runs that have the metric."""
        return type(self)(run for run in self if metric in run.metrics)

    def summary(self, metric: str) -> Summary:
        """Mean and interval of a metric. ValueError where there are no runs, KeyError where one lacks the metric."""
        return summarise(run.metrics[metric] for run in self)

    def paired(self, others: Iterable[Record], metric: str) -> Summary | None:
        """Mean and interval of a metric less that of `others`, over the seeds that both have; None without one.

        For runs that share data and masks seed by seed, so that what the seeds do to both cancels. Runs of the same
        seed by code of different numerics are no pair: they differ in more than their settings.
        """
        ours, theirs = (
            {(run.seed, run.numerics): run.metrics[metric] for run in side if metric in run.metrics}
            for side in (self, others)
        )
        both = sorted(ours.keys() & theirs.keys())
        return summarise(ours[pair] - theirs[pair] for pair in both) if both else None


def runs_of(experiment: Experiment, root: Path | None = None, every: bool = False) -> Runs:
    """The recorded runs of an `Experiment`, as it is set.

    They may differ in what is `neutral`; `Runs.counted` says which count. root: the folder of the records, by default
    `results_dir()`. every: one of each seed, also where code made it that nobody has committed.
    """
    runs = Runs.load(root, experiment.name).of(experiment)
    return runs.counted(least=len(runs) + 1 if every else 3)


def first_runs_of(*settings, least: int = 3) -> Runs:
    """The runs of the first of these experiments that has enough of them; of the richest where none has.

    A preset that was put right has fewer runs at first than the one before: a page shows those then, and says so.
    """
    every = [runs_of(setting) for setting in settings]
    enough = [runs for runs in every if len(runs) >= least]
    runs = enough[0] if enough else max(every, key=len)
    first, other = settings[0].config(), settings[every.index(runs)].config()
    runs.note = ", ".join(f"`{name}={other[name]}` instead of `{first[name]}`" for name in other
                          if other[name] != first[name])
    return runs


def paired(runs: Iterable[Record], others: Iterable[Record], metric: str) -> Summary | None:
    """`Runs.paired` of any records."""
    return Runs(runs).paired(others, metric)

"""What is run next, in one place: the campaign's order.

On a GPU first the claims that nobody has tested, the shortest first. Then QUEUE, by worth per hour; then what the
experiments ask for.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..experiments import experiment
from ..lab import campaign
from ..lab.planned import Planned
from .ladder import Step, ladder
from .rule import LEAST


class Wish(NamedTuple):
    """Runs of one setting, seeds 0 to seeds - 1."""

    experiment: str
    preset: str
    seeds: int
    hours: float  # of one CPU core, for one run: measured, or counted from the time of a few steps
    decides: str
    changes: dict[str, Any] = {}

    @property
    def plans(self) -> list[Planned]:
        return [
            Planned(experiment=self.experiment, preset=self.preset, seed=seed, overrides=tuple(self.changes.items()))
            for seed in range(self.seeds)
        ]


SINGLE = "chapter 04's single runs, with an interval"
NUMERICS = "runs of older arithmetic made again"
# By worth per core-hour. A record by older arithmetic is no answer: it is made again.
QUEUE = (
    Wish("speed", "cpu", 5, 0.01, "whether continuous positions are slower, with an interval"),
    Wish("pendulum", "paper", 20, 0.02, "Table 5 with as many runs as the paper has"),
    Wish("synthetic", "paper", 5, 0.21, "RoMAE beside HeTVAE on HeTVAE's own times", {"grid": "hetvae"}),
    Wish("position", "paper", 5, 0.06, "Table 1 without [CLS]", {"cls": False, "size": "base"}),
    Wish("position", "paper", 5, 0.05, "Table 1 without [CLS]", {"cls": False, "size": "small"}),
    Wish("tiny_imagenet", "small", 5, 0.12, "Table 2's claims on pictures with five runs"),
    Wish("tiny_imagenet", "small", 5, 0.12, "the same", {"pool": "mean", "cls": False}),
    Wish("tiny_imagenet", "small", 5, 0.12, "the same", {"encoding": "absolute"}),
    Wish("tiny_imagenet", "small", 5, 0.12, "the same", {"encoding": "absolute", "absolute": "grid"}),
    Wish("tiny_imagenet", "small", 5, 0.12, "whether it is the read-out", {"pool": "mean"}),
    Wish("tiny_imagenet", "small", 3, 0.12, "whether pre-training matters on pictures", {"pretrain_epochs": 0}),
    Wish("tiny_imagenet", "small", 3, 0.12, "whether the unit matters on pictures", {"position_scale": 8.0}),
    Wish("tiny_imagenet", "small", 3, 0.12, "whether the unit matters on pictures", {"position_scale": 0.125}),
    Wish("spirals", "paper", 5, 0.5, NUMERICS),
    Wish("position", "paper", 3, 1.48, "the last width of Table 1", {"size": "base"}),
    Wish("uea", "paper", 3, 1.45, "LSST with a fresh embedding, as in the authors' script",
         {"dataset": "LSST", "embedding": "fresh"}),
    Wish("synthetic", "best", 5, 0.14, NUMERICS),
    Wish("position_range", "best", 5, 0.02, NUMERICS),
    Wish("position_range", "best", 3, 0.02, NUMERICS, {"high": 1000.0}),
    *(
        Wish("uea", "best", seeds, 0.06, NUMERICS, {"dataset": name, **more})
        for name, seeds, more in (
            ("BasicMotions", 3, {}), ("CharacterTrajectories", 3, {}), ("CharacterTrajectories", 3,
            {"padding": "zeros"}), ("Heartbeat", 5, {"folds": 5}),
        )
    ),
    Wish("frequencies", "small", 3, 0.04, SINGLE, {"encoder": "64x4x12x256"}),
    *(
        Wish("frequencies", "small", 3, 0.04, SINGLE, {**change, "position_scale": 99.0})
        for change in (
            {"encoding": "absolute"}, {"encoder": "64x4x1x256"}, {"p": 0.25}, {"p": 1.0}, {"base": 100.0},
            {"base": 1e6},
        )
    ),
    Wish("frequencies", "paper", 3, 1.5, "whether another unit helps the paper's own model",
         {"fast": True, "epochs": 20, "position_scale": 99.0}),
    Wish("physionet", "best", 5, 1.05, "the fifth split"),
    Wish("physionet", "small", 3, 0.15, "the unit (D21), with an interval", {"position_scale": 1.0}),
    Wish("physionet", "small", 3, 0.15, "impossible values dropped, with an interval", {"outliers": "drop"}),
    Wish("physionet", "small", 3, 0.15, "the public files' order of channels (D38)",
         {"channels": "public", "descriptors": "observed"}),
    Wish("position", "paper", 5, 0.81, "Table 1 with as many runs as the paper has", {"size": "small"}),
    Wish("position_range", "paper", 5, 0.65, "Figure 2's size"),
    Wish("position_range", "paper", 5, 0.65, "Figure 2's size", {"high": 1000.0}),
    Wish("uea", "paper", 5, 1.45, "Table 6 on LSST, a narrower interval", {"dataset": "LSST"}),
    Wish("uea", "paper", 5, 0.93, "Table 6 on Epilepsy, a narrower interval", {"dataset": "Epilepsy"}),
    Wish("uea", "paper", 3, 0.93, "Epilepsy with a fresh embedding", {"dataset": "Epilepsy", "embedding": "fresh"}),
    Wish("uea", "paper", 3, 5.2, "Table 6's third set that tells models from one another",
         {"dataset": "CharacterTrajectories"}),
    Wish("position", "paper", 5, 1.48, "the last width of Table 1", {"size": "base"}),
    Wish("frequencies", "paper", 3, 15.3, "Appendix B.4", {"fast": True}),
)


def missing(names: Iterable[str] | None = None, gpu: bool = False) -> list[Planned]:
    """The runs that have no record yet, of all experiments or of those named, most valuable first.

    ValueError for a name that is none, or that asks for nothing.
    """
    names = None if names is None else list(names)
    for name in names or ():
        if not experiment(name).campaign:
            raise ValueError(f"{name} asks for no runs; start them by run")
    untested = [plan for row in open_rows(names) for plan in row.plans] if gpu else []
    queued = [plan for wish in QUEUE if names is None or wish.experiment in names for plan in wish.plans]
    found = untested + campaign.unrecorded(queued, today=True) + campaign.missing(names)
    return list(dict.fromkeys(found))


class OpenRow(NamedTuple):
    """A claim that nobody has tested, and the runs by the paper's protocol that it lacks."""

    step: Step
    plans: list[Planned]

    def seconds(self, gpu: bool) -> float:
        """Of all its runs: on a CPU core as QUEUE has it, on a large GPU as estimated; infinite where nobody knows."""
        if gpu:
            return len(self.plans) * 60 * self.step.statement.gpu_minutes
        hours = {plan: wish.hours for wish in QUEUE for plan in wish.plans}
        return sum(3600 * hours.get(plan, float("inf")) for plan in self.plans)


def open_rows(names: Iterable[str] | None = None) -> list[OpenRow]:
    """The claims not tested, those first that take a GPU the shortest time."""
    found = []
    for step in ladder():
        pieces = [piece.ours for piece in step.statement.pieces]
        pieces += [piece.rival for piece in step.statement.pieces if hasattr(piece.rival, "built")]
        wanted = list(dict.fromkeys(plan for setting in pieces for plan in setting.plans(LEAST)))
        wanted = [plan for plan in campaign.unrecorded(wanted) if names is None or plan.experiment in names]
        if step.verdict == "not tested" and wanted:
            found.append(OpenRow(step, wanted))
    return sorted(found, key=lambda row: row.seconds(gpu=True))


def announce_rows(names: Iterable[str] | None, budget: float, gpu: bool) -> Iterator[str]:
    """Say which claims not tested so far a campaign will fill, and in what time."""
    where, left = "a large GPU" if gpu else "a CPU core", budget
    for i, row in enumerate(open_rows(names)):
        if i == 0:
            yield f"Claims not tested yet, and the runs that they lack (times of {where}, estimated):"
        seconds = row.seconds(gpu)
        fits = gpu and seconds <= left
        left -= seconds if fits else 0.0
        time = f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
        needs = row.step.statement.needs
        words = "will be filled" if fits else f"needs {needs}" if needs else "later"
        yield (
            f"  {row.step.statement.topic}: {len(row.plans)} runs, "
            f"{time if seconds < float('inf') else 'nobody knows how long'}: {words}"
        )

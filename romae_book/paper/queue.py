"""What is run next, in one place: the campaign's order.

QUEUE first, most valuable first; then what the experiments ask for, then the study of position encodings.
"""

from collections.abc import Iterable
from typing import Any

from ..experiments import experiment
from ..lab import campaign
from ..lab.planned import Planned
from . import encodings

STUDY = "encodings"  # what the command line calls the study of position encodings

# (experiment, preset, settings changed, number of seeds), of which the first seeds of all entries come in this order
QUEUE: tuple[tuple[str, str, dict[str, Any], int], ...] = ()


def missing(names: Iterable[str] | None = None) -> list[Planned]:
    """The runs that have no record yet, of all experiments and the study or of those named, most valuable first.

    ValueError for a name that is none, or that asks for nothing.
    """
    names = None if names is None else list(names)
    subjects = None if names is None else [name for name in names if name != STUDY]
    for name in subjects or ():
        if not experiment(name).campaign:
            raise ValueError(f"{name} asks for no runs; start them by run")
    queued = [
        Planned(experiment=name, preset=preset, seed=seed, overrides=tuple(changes.items()))
        for name, preset, changes, seeds in QUEUE
        if subjects is None or name in subjects
        for seed in range(seeds)
    ]
    found = campaign.unrecorded(queued) + campaign.missing(subjects)
    if names is None or STUDY in names:
        found += encodings.missing()
    return list(dict.fromkeys(found))

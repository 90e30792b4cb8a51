"""The experiments of the paper, by name."""

from .base import Experiment
from .elasticc import ELAsTiCC
from .frequencies import Frequencies
from .pendulum import Pendulum
from .physionet import PhysioNet
from .position import Position, PositionRange
from .sizes import Sizes
from .spirals import Spirals
from .synthetic import Synthetic
from .uea import UEA

EXPERIMENTS: dict[str, type[Experiment]] = {
    cls.name: cls
    for cls in (Sizes, Position, PositionRange, Frequencies, Spirals, Synthetic, PhysioNet, Pendulum, UEA, ELAsTiCC)
}


def experiment(name: str) -> type[Experiment]:
    """The class of an experiment. ValueError for a name that is none."""
    if name not in EXPERIMENTS:
        raise ValueError(f"experiment is {name!r}; choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]

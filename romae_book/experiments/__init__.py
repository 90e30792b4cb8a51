"""What is run: what an experiment is (`experiment.py`), and those of the book, a folder for each subject."""

from functools import cache


@cache
def experiments() -> dict[str, type]:
    """name -> class of every experiment, in the order of the chapters."""
    from .elasticc.experiment import ELAsTiCC
    from .esc50.experiment import ESC50
    from .frequencies.experiment import Frequencies
    from .lightcurves.experiment import LightCurves
    from .lightcurves.folding import Folding
    from .pendulum.experiment import Pendulum
    from .periods.experiment import Periods
    from .physionet.experiment import PhysioNet
    from .physionet.mortality import Mortality
    from .position.experiment import Position, PositionRange
    from .priors.experiment import Priors
    from .sizes.experiment import Sizes
    from .speed.experiment import Speed
    from .spirals.experiment import Spirals
    from .synthetic.experiment import Synthetic
    from .tiny_imagenet.experiment import TinyImageNet
    from .uea.experiment import UEA
    from .waves.experiment import Waves

    found = (
        Position, PositionRange, Frequencies, Periods, Sizes, Spirals, Synthetic, PhysioNet, Mortality, Pendulum, UEA,
        ELAsTiCC, Folding, LightCurves, TinyImageNet, ESC50, Speed, Priors, Waves,
    )
    return {cls.name: cls for cls in sorted(found, key=lambda cls: (cls.chapter, cls.name))}


def experiment(name: str) -> type:
    """The class of an experiment. ValueError for a name that is none."""
    if type(name) is not str or name not in experiments():
        raise ValueError(f"experiment is {name!r}; choose one of {', '.join(experiments())}")
    return experiments()[name]

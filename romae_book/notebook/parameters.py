"""The parameters of a chapter, checked by name, type and range: papermill takes whatever it is given."""

import difflib
import math
import re
from dataclasses import fields
from typing import TypeVar

from romae_lite.training import accelerator_for

from ..experiments.base import Experiment

E = TypeVar("E", bound=Experiment)

SCALAR = (type(None), bool, int, float, str)
LITERAL = (*SCALAR, list, tuple, dict, set)  # what papermill can write into a cell
IPYTHON = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_[iod]h|_exit_code|__\w+__")  # names that IPython sets: _, _i, _12
SEED = (int, 0, 2**32 - 1)  # what NumPy, PyTorch and scikit-learn all take
ELSEWHERE = {"learning_rate": "lr", "learningrate": "lr", "random_state": "seed", "random_seed": "seed"}


class Parameters:
    """The names of a notebook, as the set-up cell leaves them.

    A literal that is new when `apply` is called was set in the parameters cell or by ``papermill -p``. Cells may be run
    again; a parameter that is added then needs the set-up cell, too.
    """

    def __init__(self, namespace: dict):
        earlier = next((value for value in namespace.values() if isinstance(value, Parameters)), None)
        if earlier:  # the set-up cell is run again: what the chapter has made since is no parameter
            for name in [name for name in namespace if earlier._is_new_literal(name)]:
                del namespace[name]
        names = earlier.setup if earlier else namespace
        self.setup = {name: namespace[name] for name in names if name in namespace and not IPYTHON.fullmatch(name)}
        self.namespace, self.names = namespace, None

    def apply(self, experiment: E | type[E] | None, **others: tuple) -> E | None:
        """Return the experiment with the parameters put in.

        experiment: or its class, where the chapter has the parameter `preset`, which chooses what to start from. None
            where there are no settings but the others.
        others: parameters besides `seed` that are no settings, as name=(type[, least value[, largest value]]).
        Raises TypeError or ValueError that names the parameter and what it accepts.
        """
        if self.names is None:  # the first time: what is new after this are the chapter's own names
            for name, value in self.setup.items():
                if self.namespace.get(name) is not value:
                    raise TypeError(f"{name!r} is no parameter of this chapter: its first cell has made that name")
            self.names = [name for name in self.namespace if self._is_new_literal(name)]
        others["seed"] = SEED
        if isinstance(experiment, type):
            others["preset"] = (str,)
        given = {name: self.namespace[name] for name in self.names if name in self.namespace}
        settings = () if experiment is None else fields(experiment)
        known = sorted({*others, *(field.name for field in settings)})
        for name, value in given.items():
            if name not in known:
                close = [ELSEWHERE.get(name), *difflib.get_close_matches(name, known, n=1)]
                hint = next((f" Did you mean {word!r}?" for word in close if word in known), "")
                raise TypeError(f"{name!r} is no parameter of this chapter.{hint} It has {', '.join(known)}")
            if not isinstance(value, SCALAR) or (isinstance(value, float) and not math.isfinite(value)):
                raise TypeError(f"{name} is {value!r}; it must be a finite number, a string, True, False or None")
        for name, (kind, *bounds) in others.items():
            value = given.get(name)
            fits = type(value) is kind or (kind is float and type(value) is int)
            if not fits or (bounds and value < bounds[0]) or (bounds[1:] and value > bounds[1]):
                limits = (f"{words} {bound}" for words, bound in zip(("at least", "at most"), bounds, strict=False))
                raise TypeError(f"{name} is {value!r}; it must be {', '.join((kind.__name__, *limits))}")
        if experiment is None:
            return None
        if isinstance(experiment, type):
            experiment = experiment.preset(given["preset"])
        experiment = experiment.replace(**{name: value for name, value in given.items() if name not in others})
        accelerator_for(experiment.precision)  # ValueError where this machine lacks it
        return experiment

    def _is_new_literal(self, name: str) -> bool:
        """True if the parameters cell, or papermill, may have set this name."""
        return (
            name not in self.setup and isinstance(self.namespace[name], LITERAL) and not IPYTHON.fullmatch(name)
        )

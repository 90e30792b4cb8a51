"""What the chapters share: checked parameters, source code shown from the package itself, records for sentences."""

import difflib
import inspect
import re
import textwrap
from collections.abc import Iterable
from dataclasses import fields
from typing import NamedTuple, TypeVar

from ..lab.experiment import Experiment
from ..lab.records import Record
from ..lab.summary import Summary, summarise
from ..training import accelerator_for

E = TypeVar("E", bound=Experiment)

SCALAR = (type(None), bool, int, float, str)
LITERAL = (*SCALAR, list, tuple, dict, set)  # what papermill can write into a cell
IPYTHON = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_[iod]h|_exit_code|__\w+__")  # names that IPython sets: _, _i, _12


class Parameters:
    """Refuses papermill parameters that are misspelt, ill-typed or named like something else; papermill takes them all.

    Made at the end of the set-up cell, it remembers the names and values there. A literal that is new when `apply` is
    first called was set in the parameters cell or by ``papermill -p``, and must be a parameter of the chapter. A name
    of the set-up cell that was overwritten gets its value back before the next cell runs, and is refused by `apply`.
    Cells may be run again; a parameter that is added then needs the set-up cell, too.
    """

    def __init__(self, namespace: dict):
        earlier = [value for value in namespace.values() if isinstance(value, Parameters)]
        for old in earlier:  # the parameters cell, which comes next, sets its names anew
            old._stop()
            for name in [name for name, value in namespace.items() if old._may_be_given(name, value)]:
                del namespace[name]
        names = [name for name in (earlier[0].setup if earlier else namespace) if name in namespace]
        self.setup = {name: namespace[name] for name in names if not IPYTHON.fullmatch(name)}
        self.namespace, self.given, self.overwritten = namespace, None, set()
        self.shell = namespace["get_ipython"]() if "get_ipython" in namespace else None
        if self.shell:
            self.shell.events.register("pre_run_cell", self._put_back)

    def apply(self, experiment: E | type[E], **others: tuple) -> E:
        """The experiment with the parameters put in.

        experiment: or its class, where the chapter has the parameter `preset`, which chooses what to start from.
        others: parameters that are no settings of the experiment, as name=(type[, least value[, largest value]]).
        Raises TypeError or ValueError naming the parameter and what it accepts.
        """
        if self.given is None:  # once: what is new after this are the chapter's own names
            self._put_back()
            self._stop()
            self.given = [name for name, value in self.namespace.items() if self._may_be_given(name, value)]
        if self.overwritten:
            names = ", ".join(map(repr, sorted(self.overwritten)))
            raise TypeError(f"{names} is no parameter of this chapter: its first cell has something else of that name")
        if isinstance(experiment, type):
            others["preset"] = (str,)
        given = {name: self.namespace[name] for name in self.given if name in self.namespace}
        known = sorted({*others, *(field.name for field in fields(experiment))})
        for name, value in given.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"{name!r} is no parameter of this chapter.{hint} It has {', '.join(known)}")
            if not isinstance(value, SCALAR):
                raise TypeError(f"{name} is {value!r}; it must be a number, a string, True, False or None")
        for name, (kind, *bounds) in others.items():
            value = given.get(name)
            if type(value) is not kind or (bounds and value < bounds[0]) or (bounds[1:] and value > bounds[1]):
                limits = (f"{words} {bound}" for words, bound in zip(("at least", "at most"), bounds, strict=False))
                raise TypeError(f"{name} is {value!r}; it must be {', '.join((kind.__name__, *limits))}")
        if isinstance(experiment, type):
            experiment = experiment.preset(given["preset"])
        experiment = experiment.replace(**{name: value for name, value in given.items() if name not in others})
        accelerator_for(experiment.precision)  # ValueError where this machine lacks it
        return experiment

    def _may_be_given(self, name: str, value) -> bool:
        """Whether the parameters cell or papermill may have set this name."""
        return name not in self.setup and isinstance(value, LITERAL) and not IPYTHON.fullmatch(name)

    def _put_back(self, cell=None) -> None:
        """Note what has overwritten a name of the set-up cell, and give the name its value back."""
        for name, value in {"parameters": self, **self.setup}.items():
            if self.namespace.get(name) is not value:
                self.overwritten.add(name)
                self.namespace[name] = value

    def _stop(self) -> None:
        """From here on names are the chapter's."""
        if self.shell:
            self.shell.events.unregister("pre_run_cell", self._put_back)
            self.shell = None


class Source:
    """The source code of package objects, displayed as highlighted Python: the code you read is the code that runs."""

    def __init__(self, *objects):
        self.text = "\n\n".join(textwrap.dedent(inspect.getsource(o)).rstrip() for o in objects)

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"

    def __repr__(self) -> str:
        return self.text


class Recorded(NamedTuple):
    """Records of one setting, one for each seed, and what a page has to say of them.

    note: "" for the setting that was asked for first; else in which settings another one differs, in Markdown.
    """

    runs: list[Record]
    note: str

    def summary(self, metric: str) -> Summary:
        """Mean and interval of a metric over the runs. ValueError where there are none."""
        return summarise(run.metrics[metric] for run in self.runs)


def recorded(*settings: Experiment, least: int = 3) -> Recorded:
    """The records of the first of these settings that has enough of them; of the richest where none has.

    A preset that was put right has fewer records at first than the one before: a page shows those then, and says so.
    """
    if not settings:
        raise TypeError("recorded() needs at least one experiment")
    found = [(setting, setting.records()) for setting in settings]
    enough = [pair for pair in found if len(pair[1]) >= least]
    chosen, runs = enough[0] if enough else max(found, key=lambda pair: len(pair[1]))
    first, other = settings[0].config(), chosen.config()
    changed = [f"`{name}={other[name]}` instead of `{first[name]}`" for name in other if other[name] != first[name]]
    return Recorded(runs, ", ".join(changed))


def paired(runs: Iterable[Record], others: Iterable[Record], metric: str) -> Summary | None:
    """Mean and interval of a metric of `runs` less that of `others`, over the seeds that both have; None without one.

    For runs that share data and masks seed by seed, so that what the seeds do to both cancels.
    """
    theirs = {run.seed: run.metrics[metric] for run in others if metric in run.metrics}
    ours = {run.seed: run.metrics[metric] for run in runs if metric in run.metrics}
    both = sorted(ours.keys() & theirs.keys())
    return summarise(ours[seed] - theirs[seed] for seed in both) if both else None

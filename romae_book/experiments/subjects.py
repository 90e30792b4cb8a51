"""The subjects of the book. Each is a folder of romae_lite, and registers what it has: nobody lists them.

    romae_lite/spirals/   data.py, rivals.py     what is generated or loaded, and who else can do the task
                          experiment.py          settings, presets, metrics: a subclass of `Experiment`
                          paper.py               what the paper says of it, as CLAIMS
                          figure.py, figure.js   what is drawn in the page

A folder may lack any of these. Files are imported when somebody asks for what is in them, and not before.
"""

import importlib
import pkgutil
from collections import UserDict
from collections.abc import Callable, Iterator
from importlib import resources
from types import ModuleType

PACKAGE = __package__.rpartition(".")[0]
NO_SUBJECTS = ("lab", "page")


def subjects() -> list[str]:
    """Names of the folders, in alphabetical order."""
    folders = pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__)
    return sorted(f.name for f in folders if f.ispkg and f.name not in NO_SUBJECTS)


def modules(chosen: Callable[[str, set[str]], bool], only: str | None = None) -> Iterator[ModuleType]:
    """Import modules of all subjects, or of one: where ``chosen`` (name, file names of its folder) is true."""
    for subject in subjects() if only is None else [only]:
        files = {file.name for file in resources.files(f"{PACKAGE}.{subject}").iterdir()}
        for name in sorted(file.removesuffix(".py") for file in files if file.endswith(".py")):
            if chosen(name, files):
                yield importlib.import_module(f"{PACKAGE}.{subject}.{name}")


def draws(name: str, files: set[str]) -> bool:
    """For `modules`: those that have a figure."""
    return f"{name}.js" in files


def recorders(cls: type, name: str = "recorded") -> list[Callable]:
    """What the figures of a class's folder ask a run to keep: their functions of that name."""
    for base in cls.__mro__:
        subject = base.__module__.removeprefix(f"{PACKAGE}.").partition(".")[0]
        if subject in subjects():
            return [getattr(module, name) for module in modules(draws, only=subject) if hasattr(module, name)]
    return []


class Registry(UserDict):
    """Things by name, filled by the modules that define them; ``load`` imports these when it is first looked into."""

    def __init__(self, kind: str, load: Callable[[], object], order: Callable = lambda item: 0):
        self.kind, self.load, self.order, self.loaded, self.found = kind, load, order, False, {}

    @property
    def data(self) -> dict:
        if not self.loaded:
            self.loaded = True  # first: what is being imported may look as well
            self.load()
            self.found = dict(sorted(self.found.items(), key=self.order))
        return self.found

    def register(self, name: str, thing) -> None:
        """ValueError where the name stands for something else already; running a definition again replaces it."""
        origin = lambda x: (x.__module__, x.__qualname__)  # noqa: E731
        if name in self.found and origin(self.found[name]) != origin(thing):
            owner = ".".join(origin(self.found[name]))
            raise ValueError(f"{self.kind} {name!r} is {owner} already; choose another name")
        self.found[name] = thing


# name -> class, in the order of the chapters
EXPERIMENTS = Registry(
    "experiment",
    load=lambda: list(modules(lambda name, files: name == "experiment")),
    order=lambda item: (item[1].chapter, item[0]),
)


def experiment(name: str) -> type:
    """The class of an experiment. ValueError for a name that is none."""
    if type(name) is not str or name not in EXPERIMENTS:
        raise ValueError(f"experiment is {name!r}; choose one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]

"""The interactive figures by name.

A figure is two files of a subject's folder with one stem, and nothing else: x.py makes an `Explorable` and registers
the function that makes it with `@figure`; x.js draws it, with a prefix of its own for its CSS classes. What a run has
to keep for it stands in x.py too: the experiment's `arrays` calls it. The tests find the figure here.
"""

from collections.abc import Callable

from ..experiments.subjects import Registry, draws, modules
from .explorable import Explorable

GALLERY = Registry("figure", load=lambda: list(modules(draws)))


def figure(name: str) -> Callable:
    """Register the function that makes the `Explorable` of that name from what the repository holds."""

    def registered(make: Callable[..., Explorable]) -> Callable[..., Explorable]:
        GALLERY.register(name, make)
        return make

    return registered


def gallery(name: str, **options) -> Explorable:
    """The explorable of that name; options are those of its function. KeyError lists the names there are."""
    if name not in GALLERY:
        raise KeyError(f"no explorable called {name!r}; there are {', '.join(sorted(GALLERY))}")
    return GALLERY[name](**options)

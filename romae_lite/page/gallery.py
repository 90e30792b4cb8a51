"""The interactive figures by name.

A figure is two files of a subject's folder, with one stem: x.py says what is drawn and registers itself with `@figure`,
x.js draws it.
"""

from collections.abc import Callable

from ..lab.subjects import Registry, modules
from .explorable import Explorable

GALLERY = Registry("figure", load=lambda: list(modules(lambda name, files: f"{name}.js" in files)))


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

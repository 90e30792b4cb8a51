"""Interactive figures, and the gallery that builds them from what the repository holds."""

from collections.abc import Callable

from . import rotary_clock, spirals
from .explorable import Explorable
from .palette import PALETTE

GALLERY: dict[str, Callable[..., Explorable]] = {
    "spirals": spirals.from_results,
    "rotary_clock": rotary_clock.explorable,
}


def gallery(name: str, **options) -> Explorable:
    """The explorable of that name; options are those of its function. KeyError lists the names there are."""
    if name not in GALLERY:
        raise KeyError(f"no explorable called {name!r}; there are {', '.join(sorted(GALLERY))}")
    return GALLERY[name](**options)


__all__ = ["GALLERY", "PALETTE", "Explorable", "gallery"]

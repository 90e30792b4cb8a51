"""Interactive figures, and the gallery that builds them from what the repository holds."""

from collections.abc import Callable

from . import (
    attention_kernel,
    forward_pass,
    light_curve,
    mask_ratio,
    moving_tokens,
    patches,
    patient,
    pendulum,
    position_error,
    position_scale,
    rope_precision,
    rotary_clock,
    spectrum,
    spirals,
    synthetic,
    two_tokens,
    uea,
)
from .explorable import Explorable
from .palette import PALETTE

GALLERY: dict[str, Callable[..., Explorable]] = {
    "spirals": spirals.from_results,
    "patient": patient.from_results,
    "uea": uea.from_results,
    "light_curve": light_curve.from_results,
    "pendulum": pendulum.from_results,
    "synthetic": synthetic.from_results,
    "rotary_clock": rotary_clock.explorable,
    "two_tokens": two_tokens.explorable,
    "attention_kernel": attention_kernel.explorable,
    "rope_precision": rope_precision.explorable,
    "patches": patches.explorable,
    "mask_ratio": mask_ratio.explorable,
    "forward_pass": forward_pass.explorable,
    "moving_tokens": moving_tokens.from_results,
    "position_error": position_error.from_results,
    "spectrum": spectrum.from_results,
    "position_scale": position_scale.from_results,
}


def gallery(name: str, **options) -> Explorable:
    """The explorable of that name; options are those of its function. KeyError lists the names there are."""
    if name not in GALLERY:
        raise KeyError(f"no explorable called {name!r}; there are {', '.join(sorted(GALLERY))}")
    return GALLERY[name](**options)


__all__ = ["GALLERY", "PALETTE", "Explorable", "gallery"]

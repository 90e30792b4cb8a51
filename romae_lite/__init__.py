"""romae_lite: rotary masked autoencoders, small enough to read (arXiv 2505.20535).

The front door: the library's names, each loaded when it is first used.
"""

import importlib

__version__ = "0.1.0"

_HOMES = {
    "tokens": ("Tokens", "collate", "patchify"),
    "series.table": ("from_table",),
    "masking": ("hide",),
    "rope": ("PositionEncoding",),
    "model": ("ModelConfig", "Size", "size", "RoMAE", "RoMAEPredictor", "interpolate"),
    "checkpoint": ("save",),
    "training": ("Recipe", "fit"),
    "series.units": ("suggest_unit", "Scale"),
    "zoo": ("load", "card"),
    "series.filling": ("fill",),
    "series.interpolator": ("Interpolator",),
    "series.classifier": ("Classifier",),
}
__all__ = [name for names in _HOMES.values() for name in names]  # noqa: PLE0605


def __getattr__(name: str):
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

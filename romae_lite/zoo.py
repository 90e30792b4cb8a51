"""Trained models that come with the package: `load("filler")`, and the card of each.

romae_lite/models/<name>.safetensors   the weights, in half precision
romae_lite/models/<name>.json          the record of the run, and their checksum
romae_lite/models/<name>.md            the card, written from that record
"""

import hashlib
import json
from os import PathLike
from pathlib import Path

from .checks import kind

MODELS = Path(__file__).with_name("models")


def names() -> list[str]:
    """The models there are, in alphabetical order."""
    return sorted(path.stem for path in MODELS.glob("*.json"))


def load(name: str | PathLike):
    """Load a trained model: on the CPU, in float32 and eval mode.

    Parameters
    ----------
    name : str or path
        One of the models that come with the package, or a file that `save` has written.

    Returns
    -------
    RoMAE or RoMAEPredictor
    """
    from . import checkpoint

    kind("name", name, str | PathLike)
    if str(name) not in names():
        if not Path(name).exists():
            raise FileNotFoundError(
                f"{str(name)!r} is neither a file nor one of {', '.join(names())}"
            )
        return checkpoint.load(name)
    path, wanted = MODELS / f"{name}.safetensors", about(str(name))["sha256"]
    if (found := hashlib.sha256(path.read_bytes()).hexdigest()) != wanted:
        both = f"its SHA-256 is {found[:12]}..., not {wanted[:12]}..."
        raise ValueError(f"{path} is not the model {str(name)!r}: {both}")
    return checkpoint.load(path)


def card(name: str) -> str:
    """Describe a model, in Markdown: training, grades, limits, licence, command.

    Parameters
    ----------
    name : str
        One of the models that come with the package.
    """
    about(name)
    return (MODELS / f"{name}.md").read_text(encoding="utf-8")


def about(name: str) -> dict:
    """What a card is made of: "record" of the run, "sha256" and "bytes" of the file."""
    if name not in names():
        raise ValueError(f"name is {name!r}; choose one of {', '.join(names())}")
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))

"""Trained models by name: `load("filler")`, and the card of each, written from the record of its run.

    romae_lite/models/<name>.json          the record of the run, and the checksum of its weights
    romae_lite/models/<name>.safetensors   the weights in half precision, of the models that come with the package

Weights are looked for in the folder that is given (or $ROMAE_MODELS), then in the package, then among the arrays of the
records (in a clone), and at last among the assets of the release, which pooch keeps. Wherever they are found, they are
used only where they are those of the record, to the last bit.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from . import __version__, checks
from .io import atomic_write

MODELS = Path(__file__).with_name("models")
ADDRESS = "https://github.com/romae-lite/romae-lite/releases/download/v{version}/{name}.safetensors"
FOLDER = "ROMAE_MODELS"  # the environment variable


def names() -> list[str]:
    """The models there are, in alphabetical order."""
    return sorted(path.stem for path in MODELS.glob("*.json"))


def load(name: str | PathLike, folder: str | PathLike | None = None):
    """A trained model, on the CPU, in float32 and eval mode: one of `names`, or a file that `save` has written.

    folder: where to look for <name>.safetensors first; by default $ROMAE_MODELS.
    Raises FileNotFoundError, with the names there are, for what is neither; ValueError for a file that is damaged, or
    is not the named model; OSError where weights would have to be fetched and
    cannot, ImportError where pooch is missing for that.
    """
    from . import model

    checks.kind("name", name, str | PathLike)
    checks.kind("folder", folder, str | PathLike | None)
    if str(name) in names():
        with _file(str(name), folder) as path:
            return model.load(path)
    if not Path(name).exists():
        raise FileNotFoundError(f"there is no file {str(name)!r}, and no model of that name: {_there_are()}")
    return model.load(name)


def card(name: str) -> str:
    """What a model is, in Markdown, from the record of its run: how trained and graded, limits, licence, command."""
    from romae_book.cli.cards import written

    return written(name, about(name))


def about(name: str) -> dict:
    """What a card is made of: "record", that of the run, without its learning curve; "sha256" and "bytes" of the file
    of weights. ValueError for a name that is none."""
    if name not in names():
        raise ValueError(f"name is {name!r}; {_there_are()}")
    return json.loads((MODELS / f"{name}.json").read_text(encoding="utf-8"))


def export(folder: str | PathLike) -> list[Path]:
    """Write <name>.safetensors and its card, <name>.md, of all models: the assets of a release, or a folder for a
    machine without a network. Returns the paths."""
    written = []
    for name in names():
        with _file(name, None) as path:
            weights = path.read_bytes()
        for suffix, content in ((".safetensors", weights), (".md", card(name).encode())):
            written.append(Path(folder) / f"{name}{suffix}")
            atomic_write(written[-1], content)
    return written


def _there_are() -> str:
    return f"there are {', '.join(names())}"


@contextmanager
def _file(name: str, folder: str | PathLike | None) -> Iterator[Path]:
    """The file of a model's weights, once it is found and right."""
    wanted, folder = about(name)["sha256"], folder or os.environ.get(FOLDER)
    places = [Path(place) / f"{name}.safetensors" for place in (folder, MODELS) if place]
    with tempfile.TemporaryDirectory() as own:
        path = next((p for p in places if p.is_file()), None)
        path = path or of_record(about(name)["record"]["command"], Path(own) / f"{name}.safetensors")
        path = path or _fetched(name, wanted)
        if (found := hashlib.sha256(path.read_bytes()).hexdigest()) != wanted:
            raise ValueError(
                f"{path} is not the model {name!r}: its SHA-256 is {found[:12]}..., and must be {wanted[:12]}...; "
                "delete it, or get it again"
            )
        yield path


def of_record(command: str, target: Path) -> Path | None:
    """The weights that a run has left beside its record, or among its arrays, as a file: the one there, or `target`.
    None where the records are not at hand."""
    from romae_book.lab.planned import Planned
    from romae_book.lab.records import load_arrays
    from .model import save

    planned = Planned.of(command)
    if planned.path.with_suffix(".safetensors").is_file():
        return planned.path.with_suffix(".safetensors")
    if not (arrays := planned.path.with_suffix(".npz")).is_file():
        return None
    save(from_arrays(planned.build().build(planned.seed), load_arrays(arrays)), target, half=True)
    return target


def from_arrays(model, arrays: Mapping):
    """The model with the weights that a run kept as weights.<name>. RuntimeError names what is missing or misshapen."""
    import torch

    found = {name: torch.from_numpy(w).float() for name, w in arrays.items() if name.startswith("weights.")}
    model.load_state_dict({name.removeprefix("weights."): w for name, w in found.items()})
    return model.eval()


def _fetched(name: str, wanted: str) -> Path:
    """From the release of this version, once; pooch keeps it."""
    address = ADDRESS.format(version=__version__, name=name)
    hint = f"put {name}.safetensors into a folder, and name it: load({name!r}, folder=...) or ${FOLDER}"
    try:
        import pooch
    except ImportError as error:
        raise ImportError(f"the weights of {name!r} are fetched by pooch (pip install pooch); or {hint}") from error
    try:
        return Path(pooch.retrieve(address, f"sha256:{wanted}", path=pooch.os_cache("romae_lite"), progressbar=False))
    except (OSError, ValueError) as error:
        raise OSError(f"{address} cannot be fetched ({error}); {hint}") from error

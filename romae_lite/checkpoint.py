"""Models and interrupted trainings as files: safetensors with a digest of it all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import safe_open
from torch import Tensor, nn

from . import checks
from .checks import a, each
from .io import atomic_write, check_file, digest, parse_json, parsing, sort_metadata
from .model import ModelConfig, RoMAE, RoMAEPredictor, Size
from .rope import PositionEncoding

LIMIT = 2**34  # bytes; a larger file is none of ours
LARGEST = 1e18  # of a weight: its square is a number in float32 still
CLASSES = ("RoMAE", "RoMAEPredictor")
FIELDS = {"class", "config", "notes", "head"}  # of what is written beside weights
BESIDE = "beside."  # of the names of tensors that are no weights
MODEL = "model that romae_lite has saved"
CHECKPOINT = "readable checkpoint; delete it to start afresh"


class CheckpointError(RuntimeError):
    """A checkpoint that is corrupt, or belongs to another run."""


def write_signed(path: Path, tensors: dict[str, Tensor], key: str, about: dict) -> None:
    """Write tensors and, as JSON, what they are about; with a digest of both."""
    tensors = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    text = json.dumps(about)
    metadata = {key: text, "digest": digest(tensors, text)}
    atomic_write(path, sort_metadata(safetensors.torch.save(tensors, metadata)))


def read_signed(path: Path, key: str) -> tuple[dict[str, Tensor], dict]:
    """Read what `write_signed` has written. Use it inside `parsing`."""
    check_file(path, LIMIT)
    with safe_open(path, "pt") as file:
        metadata, names = file.metadata() or {}, list(file.keys())
        if len(names) > 100_000:
            raise ValueError(f"it has {len(names)} tensors")
        tensors = {name: file.get_tensor(name) for name in names}
    if metadata["digest"] != digest(tensors, metadata[key]):
        raise ValueError("it is corrupt: its digest does not match")
    return tensors, parse_json(metadata[key])


def save(
    model: RoMAE | RoMAEPredictor, path: Path | str, *, half: bool = False,
    notes: dict | None = None, tensors: dict[str, Tensor] | None = None,
) -> None:
    """Write a model to a safetensors file, whole or not at all.

    Parameters
    ----------
    model : RoMAE or RoMAEPredictor
    path : path
    half : bool
        Weights in 16 bits: half the size.
    notes, tensors : dict, optional
        Anything else that JSON can hold, and tensors by name: for `load_all`.
    """
    if (name := type(model).__name__) not in CLASSES:  # not of a subclass
        raise TypeError(f"model is of type {name}; save takes RoMAE and RoMAEPredictor")
    each(locals(), path=a(str | PathLike), half=a(bool), notes=a(dict | None))
    about: dict[str, Any] = {"class": name, "config": asdict(model.config)}
    if notes is not None:
        about["notes"] = notes
    if isinstance(model, RoMAEPredictor):
        about["head"] = {"outputs": model.head[-1].out_features, "pool": model.pool}
    weights = {n: t.half() if half else t for n, t in model.state_dict().items()}
    for name, t in weights.items():
        if not t.isfinite().all():
            raise ValueError(f"{name} holds NaN or numbers too large for {t.dtype}")
    beside = {BESIDE + name: t for name, t in (tensors or {}).items()}
    write_signed(path, weights | beside, "romae_lite", about)


def load(path: Path | str) -> RoMAE | RoMAEPredictor:
    """Read a model that `save` has written: on the CPU, in float32 and eval mode."""
    return load_all(path)[0]


def load_all(
    path: Path | str,
) -> tuple[RoMAE | RoMAEPredictor, dict | None, dict[str, Tensor]]:
    """Read a model, and the notes and tensors that `save` has put beside it."""
    each(locals(), path=a(str | PathLike))
    with parsing(path, MODEL):
        tensors, about = read_signed(path, "romae_lite")
        names = [name for name in tensors if name.startswith(BESIDE)]
        beside = {name[len(BESIDE) :]: tensors.pop(name) for name in names}
        for name, t in tensors.items():
            if not (t.is_floating_point() and (t.double().abs() <= LARGEST).all()):
                what = f"{t.dtype}, not finite or beyond {LARGEST:g}"
                raise ValueError(f"{name} is {what}")
        return _build(tensors, about).eval(), about.get("notes"), beside


def _build(weights: dict[str, Tensor], about: dict) -> RoMAE | RoMAEPredictor:
    checks.kind("what it is about", about, dict)
    checks.choice("class", about["class"], CLASSES)
    if unknown := set(about) - FIELDS:
        raise ValueError(f"it holds {sorted(unknown)[0]!r}, which nobody has saved")
    settings = about["config"]
    for name in ("encoder", "decoder"):
        settings[name] = Size(**settings[name])
    try:
        positions = PositionEncoding(**settings["positions"])
        config = ModelConfig(**settings | {"positions": positions})
    except TypeError as error:
        raise ValueError(f"it is of another version of romae_lite: {error}") from error
    stacks = {"encoder.stack.blocks.": config.encoder.depth}
    if about["class"] == "RoMAE":
        stacks["decoder.blocks."] = config.decoder.depth
    for stack, depth in stacks.items():  # before so many blocks are built
        there = {n[len(stack) :].split(".")[0] for n in weights if n.startswith(stack)}
        if len(there) != depth:
            raise ValueError(f"its config has {depth} blocks, its weights {len(there)}")
    build = RoMAE if about["class"] == "RoMAE" else RoMAEPredictor
    with torch.device("meta"):  # no weights drawn: they are there already
        model = build(config, **about.get("head", {}))
    if shapes(model.state_dict()) != shapes(weights):
        raise ValueError("its weights do not fit its config")
    model.load_state_dict({n: t.float() for n, t in weights.items()}, assign=True)
    return model


def shapes(tensors: dict[str, Tensor]) -> dict[str, torch.Size]:
    return {name: t.shape for name, t in tensors.items()}


# Trainings


@dataclass
class State:
    """What a checkpoint holds besides weights and optimizers."""

    run: str  # identity of the run
    step: int = 0
    seconds: float = 0.0
    aside: float = 0.0  # seconds of these that went into validation
    tokens: int = 0
    running: float = 0.0  # sum of losses since the last entry, of the main process
    history: list[dict] = field(default_factory=list)


def save_training(path: Path, state: State, model: nn.Module, optimizers) -> None:
    tensors = {f"model.{name}": t for name, t in model.state_dict().items()}
    for first, optimizer in numbered(optimizers):
        for i, slots in optimizer.state_dict()["state"].items():
            for name, t in slots.items():
                if t is not None:
                    tensors[f"optimizer.{first + i}.{name}"] = t
    write_signed(path, tensors, "state", vars(state))


def load_training(
    path: Path, run: str, total: int, model: nn.Module, optimizers
) -> State:
    """Put weights and slots in place. CheckpointError leaves all as it was."""
    with parsing(path, CHECKPOINT, CheckpointError):
        tensors, about = read_signed(path, "state")
        state = State(**about)
        if not (isinstance(state.step, int) and 0 <= state.step <= total):
            raise ValueError(f"it says step {state.step} of {total}")
    if state.run != run:
        what = f"{path} belongs to a run with other settings or data"
        raise CheckpointError(f"{what}; delete it to start afresh")
    with parsing(path, CHECKPOINT, CheckpointError):
        weights, slots = {}, {}
        for name, tensor in tensors.items():
            part, rest = name.split(".", 1)
            if part == "model":
                weights[rest] = tensor
            else:
                i, slot = rest.split(".")
                slots.setdefault(int(i), {})[slot] = tensor
        if shapes(weights) != shapes(model.state_dict()):
            raise ValueError("its weights do not fit the model")
        for first, optimizer in numbered(optimizers):
            groups = optimizer.state_dict()["param_groups"]
            numbers = (i for group in groups for i in group["params"])
            there = {i: slots[first + i] for i in numbers if first + i in slots}
            optimizer.load_state_dict({"state": there, "param_groups": groups})
        model.load_state_dict(weights)
    return state


def numbered(optimizers) -> list[tuple[int, torch.optim.Optimizer]]:
    """Each optimizer with the number of its first parameter, counted through all."""
    counts = [sum(len(g["params"]) for g in o.param_groups) for o in optimizers]
    return list(zip(accumulate(counts, initial=0), optimizers, strict=False))

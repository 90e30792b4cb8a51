"""Bad calls, generated: every argument of every public function gets what it cannot be, kind after kind. Each call ends
in a ValueError or TypeError that names the argument and what was wrong with it, or stands below as accepted."""

import math
import re
from collections.abc import Mapping
from copy import copy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

import romae_lite
from romae_lite import ModelConfig, PositionEncoding, Recipe, RoMAE, RoMAEPredictor, Size, Tokens, batching, rope
from romae_lite import collate, fit, hide, interpolate, load, patchify, save, size
from romae_lite.lab import planned
from romae_lite.lab.summary import summarise
from romae_lite.masking import split, take
from romae_lite.model import masked_loss, predicted, reconstruction_loss
from romae_lite.page import figures
from romae_lite.page.tables import Table
from romae_lite.tokens import unpatchify
from romae_lite.training import accelerator_for, learning_rate, seeded, seeded_build

TINY, G = size("4x1x1x4"), torch.Generator()
X = torch.arange(1.0, 7).reshape(2, 3, 1)  # values and positions
REAL, HIDDEN = torch.ones(2, 3, dtype=torch.bool), torch.tensor([[False, True, False]] * 2)
PAD, LENGTHS, ANGLES = torch.tensor([[False, False, True]] * 2), torch.tensor([3, 1, 2]), torch.ones(2, 3, 1, 2)
TOKENS = Tokens(values=X, positions=X)
CONFIG = ModelConfig(patch=1, axes=1, encoder=TINY, decoder=TINY)
MODEL, RECIPE, WHERE = RoMAE(CONFIG), Recipe(epochs=1, batch=2, lr=1e-3), split(HIDDEN, REAL)
FIGURE, AXES = plt.subplots(figsize=(1, 1))
LINE = np.arange(3.0)


def loss(model, batch, generator):
    return masked_loss(model, batch, HIDDEN)


def fitted(**given):
    for name in ("run", "nonsense"):  # else a run that has ended
        Path(name).unlink(missing_ok=True)
    return fit(**given)


CALLS = {
    "Tokens": (Tokens, dict(values=X, positions=X, pad=PAD, aux={"label": torch.ones(2)}, per_token=frozenset())),
    "collate": (collate, dict(samples=[(X[0], X[0]), (X[1], X[1])], label=torch.ones(2))),
    "patchify": (patchify, dict(array=torch.ones(2, 4, 6, 1), patch=(2, 3), coordinates=[torch.arange(4.0), None])),
    "unpatchify": (unpatchify, dict(values=torch.ones(2, 4, 6), patch=(2, 3), sizes=(4, 6))),
    "hide": (hide, dict(real=REAL, ratio=(0.3, 0.5), visible=None, generator=G)),
    "hide one ratio": (hide, dict(real=REAL, ratio=0.5, generator=G)),
    "hide all but": (hide, dict(real=REAL, visible=2, generator=G)),
    "hide all but each": (hide, dict(real=REAL, visible=torch.tensor([1, 2]), generator=G)),
    "split": (split, dict(hidden=HIDDEN, real=REAL)),
    "take": (take, dict(x=X, index=torch.tensor([[0], [2]]))),
    "frequencies": (rope.frequencies, dict(dim=8, p=0, base=2.5)),
    "angles": (rope.angles, dict(positions=X.double(), freqs=torch.ones(2).double())),
    "rotate": (rope.rotate, dict(x=torch.ones(2, 3, 2, 4), cos=ANGLES, sin=ANGLES)),
    "PositionEncoding": (PositionEncoding, dict(kind="rope", p=0, base=2.5)),
    "Size": (Size, dict(dim=4, heads=1, depth=1, ff=4)),
    "size": (size, dict(name="4x1x1x4", dim=8)),
    "ModelConfig": (
        ModelConfig,
        dict(patch=1, axes=1, encoder=TINY, decoder=TINY, cls=True, positions=PositionEncoding(), dropout=0,
             drop_path=0),
    ),
    "RoMAE": (RoMAE, dict(config=CONFIG)),
    "RoMAE()": (MODEL, dict(tokens=TOKENS, where=WHERE, record=None)),
    "RoMAEPredictor": (RoMAEPredictor, dict(config=CONFIG, outputs=2, pool="mean")),
    "RoMAEPredictor()": (RoMAEPredictor(CONFIG, 2), dict(tokens=TOKENS, record=None)),
    "start_from": (RoMAEPredictor(CONFIG, 2).start_from, dict(pretrained=MODEL)),
    "interpolate": (interpolate, dict(model=MODEL, tokens=TOKENS, at=X, batch=2)),
    "predicted": (predicted, dict(model=MODEL, tokens=TOKENS, hidden=HIDDEN, batch=2)),
    "masked_loss": (masked_loss, dict(model=MODEL, batch=TOKENS, hidden=HIDDEN)),
    "reconstruction_loss": (reconstruction_loss, dict(prediction=X, target=X, pad=PAD)),
    "save": (save, dict(model=MODEL, path=Path("saved"), half=True)),
    "load": (load, dict(path=Path("saved"))),
    "Recipe": (
        Recipe,
        dict(epochs=1, batch=2, lr=1e-3, warmup=0, schedule="constant", optimizer="sgd", betas=(0, 0.9),
             weight_decay=0, clip=2.5, precision="bf16", compile=True, keep="last"),
    ),
    "learning_rate": (learning_rate, dict(step=0, total=5, recipe=RECIPE)),
    "seeded": (lambda key: seeded(key), dict(key=0)),
    "seeded_build": (seeded_build, dict(seed=0, build=lambda: RoMAE(CONFIG))),
    "accelerator_for": (accelerator_for, dict(precision="fp32", device="cpu")),
    "fit": (
        fitted,
        dict(model=MODEL, train=TOKENS, loss=loss, recipe=RECIPE, seed=0, validate=lambda model: {"mse": 1.0},
             checkpoint=Path("run"), save_every=0, logs=2, log=lambda entry: None, stop=lambda: False, device="cpu",
             settings={"lr": 0.5}, order=lambda generator: torch.arange(2)),
    ),
    "spacing": (batching.spacing, dict(tokens=TOKENS)),
    "trim": (batching.trim, dict(batch=TOKENS)),
    "by_length": (batching.by_length, dict(lengths=LENGTHS, batch=2, generator=G, pool=3)),
    "padding_share": (batching.padding_share, dict(lengths=LENGTHS, batch=2, order=torch.tensor([0, 2, 1]))),
    "name": (planned.name, dict(preset="paper", overrides={"lr": 0.5}, seed=0)),
    "record_path": (
        planned.record_path, dict(experiment="spirals", preset="paper", overrides={"lr": 0.5}, seed=0, root=Path("x"))
    ),
    "Planned": (
        planned.Planned,
        dict(experiment="spirals", preset="quick", seed=0, overrides=(("lr", 0.5),), processes=2),
    ),
    "summarise": (summarise, dict(values=[1.0, 2.0, 3.0])),
    "Table": (Table, dict(columns=["a", "b"], rows=[["1", "2"]], caption="said")),
    "render": (figures.render, dict(fig=FIGURE, alt="said")),
    "band": (figures.band, dict(ax=AXES, x=LINE, mean=LINE, low=LINE, high=LINE)),
}  # fmt: skip

SCALARS = {
    "None": None, "text": "nonsense", "no text": "", "bytes": b"x", "NaN": math.nan, "inf": math.inf, "negative": -1,
    "zero": 0, "half": 2.5, "bool": True, "complex": 1j, "huge": 10**400, "object": object(),
}  # fmt: skip
OTHERS = {"no list": [], "no dict": {}, "set": {1}, "array of text": np.array(["a", "b"]), "tensor": torch.ones(2, 2)}


def spoilt(value) -> dict:
    """What a valid value may be replaced with, by kind."""
    kinds = SCALARS | OTHERS
    if isinstance(value, np.ndarray):
        kinds |= {kind: v.numpy() for kind, v in spoilt(torch.from_numpy(value)).items() if torch.is_tensor(v)}
    elif torch.is_tensor(value):
        kinds |= {
            "numpy": value.numpy(), "nested list": value.tolist(), "rank up": value[None], "rank down": value[0],
            "complex entries": value + 0j, "objects": value.numpy().astype(object),
        }  # fmt: skip
        for axis, n in enumerate(value.shape):
            kinds[f"axis {axis} long"] = torch.cat((value, value.narrow(axis, n - 1, 1)), axis)
            kinds[f"axis {axis} short"] = value.narrow(axis, 0, n - 1)
            kinds[f"axis {axis} empty"] = value.narrow(axis, 0, 0)
        if value.is_floating_point():
            kinds |= {f"{bad} inside": value.where(value != value.flatten()[0], bad) for bad in (math.nan, math.inf)}
        others = {"integers": torch.long, "reals": torch.float32, "bools": torch.bool}
        kinds |= {kind: value.to(dtype) for kind, dtype in others.items() if value.dtype != dtype}
    elif isinstance(value, list | tuple):
        kinds |= {"one more": (*value, value[-1]), "one fewer": value[:-1], "text inside": ("x", *value[1:])}
        kinds |= {f"{kind} inside": (bad, *value[1:]) for kind, bad in SCALARS.items()}
    elif isinstance(value, Mapping) and value:
        key = next(iter(value))
        kinds |= {f"{kind} inside": {key: bad} for kind, bad in SCALARS.items()} | {"number as key": {3: value[key]}}
    return {kind: bad for kind, bad in kinds.items() if repr(bad) != repr(value)}


def words(value) -> set[str]:
    """Of which a message holds at least one: the value, its type or shape, or those of what is in it."""
    found = {type(value).__name__, repr(value), str(value)}
    if isinstance(value, Mapping):
        found = found.union(*map(words, value), *map(words, value.values()))
    elif isinstance(value, list | tuple | set):
        found = found.union(f"{len(value)} ", *map(words, value))
    elif not hasattr(value, "shape"):
        found.add("shape ()")
    else:
        found |= {str(tuple(value.shape)), str(tuple(value.shape[:2])), str(value.dtype), "complex", "NaN", "infinite"}
        found |= {f"{n} " for n in value.shape} | set(map(repr, value.reshape(-1).tolist()))
    return found - {""}


def outcome(function, given: dict, argument: str, bad) -> str:
    """What comes of the call: "accepted", "refused", or the error that says too little."""
    try:
        function(**given | {argument: copy(bad)})
    except (ValueError, TypeError) as error:
        said = str(error)
        fields = given[argument] if isinstance(given[argument], Mapping) else ()
        named = re.search(rf"\b({'|'.join((argument, *fields))})\b", said) and any(word in said for word in words(bad))
        return "refused" if named else f"{type(error).__name__}: {said[:150]}"
    except Exception as error:
        return f"{type(error).__name__}: {error!s:.150}"
    return "accepted"

"""Bad calls, generated: every argument of every public function gets what it cannot be, kind after kind. Each call ends
in a ValueError or TypeError that names the argument and what was wrong with it, or stands below as accepted."""

import math
import re
from collections.abc import Mapping
from copy import copy
from functools import cache, partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

import romae_lite as lite
from romae_book import figures
from romae_book.lab import planned
from romae_book.lab.summary import summarise
from romae_book.notebook.tables import Table
from romae_lite import batching, rope
from romae_lite.checkpoint import load as load_file
from romae_lite.masking import split, take
from romae_lite.model import masked_loss, predict_hidden, reconstruction_loss
from romae_lite.series.filling import fill_series
from romae_lite.training import accelerator_for, learning_rate, seeded, seeded_build

TINY, G = lite.size("4x1x1x4"), torch.Generator()
X = torch.arange(1.0, 7).reshape(2, 3, 1)  # values and positions
REAL, HIDDEN = torch.ones(2, 3, dtype=torch.bool), torch.tensor([[False, True, False]] * 2)
PAD, LENGTHS, ANGLES = torch.tensor([[False, False, True]] * 2), torch.tensor([3, 1, 2]), torch.ones(2, 3, 1, 2)
SCALE = lite.Scale(ids=(0, 1), start=[0.0, 1.0], unit=1.0, channels=("x",), mean=[1.5], deviation=[0.5])
TOKENS = lite.Tokens(values=X, positions=X)
CONFIG = lite.ModelConfig(patch=1, axes=1, encoder=TINY, decoder=TINY)
MODEL, RECIPE, WHERE = lite.RoMAE(CONFIG), lite.Recipe(epochs=1, batch=2, lr=1e-3), split(HIDDEN, REAL)
FIGURE, AXES = plt.subplots(figsize=(1, 1))
LINE = np.arange(3.0)
SERIES = [(np.arange(12.0), np.sin(i + np.arange(12.0))) for i in range(3)]


def loss(model, batch, generator):
    return masked_loss(model, batch, HIDDEN)


def fitted(**given):
    for name in ("run", "nonsense"):  # else a run that has ended
        Path(name).unlink(missing_ok=True)
    return lite.fit(**given)


CALLS = {
    "Tokens": (
        lite.Tokens,
        dict(values=X, positions=X, pad=PAD, aux={"label": torch.ones(2)}, per_token=frozenset(), scale=SCALE),
    ),
    # bad tables and times: test_frames.py, test_units.py
    "from_table": (
        lambda **given: lite.from_table({"t": [0.0, 1.0], "x": [1.0, 2.0], "k": ["a", "a"], "e": [0.1, 0.1]}, **given),
        dict(time="t", value="x", id="k", channel="k", label="k", error="e", static="e", unit=2.5),
    ),
    "suggest_unit": (partial(lite.suggest_unit, [0.0, 1.0, 3.0]), dict(head_dim=8, p=0.75, base=2.5)),
    "fill": (
        partial(lite.fill, verbose=False, table={"t": 5 * LINE, "x": LINE**2, "k": ["a"] * 3, "e": LINE + 1}),
        dict(at=LINE, time="t", value="x", id="k", channel="k", error="e", model=None),
    ),
    "fill_series": (fill_series, dict(times=5 * LINE, values=LINE**2, at=LINE, model=None)),
    "Interpolator": (
        lambda **settings: lite.Interpolator(**{"steps": 0, "verbose": False} | settings).fit(SERIES),
        dict(steps=1, seed=0),
    ),
    "Classifier": (
        lambda **settings: lite.Classifier(steps=1, verbose=False, **settings).fit(SERIES, ["a", "b", "a"]),
        dict(size="4x1x1x4", longest=8, lr=1e-3, batch=2, folds=0, seed=0, device="cpu", pretrain=True),
    ),
    "collate": (lite.collate, dict(samples=[(X[0], X[0]), (X[1], X[1])], label=torch.ones(2))),
    "patchify": (lite.patchify, dict(array=torch.ones(2, 4, 6, 1), patch=(2, 3), coordinates=[torch.arange(4), None])),
    "hide": (lite.hide, dict(real=REAL, ratio=(0.3, 0.5), visible=None, generator=G)),
    "hide_ratio": (lite.hide, dict(real=REAL, ratio=0.5, generator=G)),
    "hide_visible": (lite.hide, dict(real=REAL, visible=2, generator=G)),
    "hide_each": (lite.hide, dict(real=REAL, visible=torch.tensor([1, 2]), generator=G)),
    "split": (split, dict(hidden=HIDDEN, real=REAL)),
    "take": (take, dict(x=X, index=torch.tensor([[0], [2]]))),
    "frequencies": (rope.frequencies, dict(dim=8, p=0, base=2.5)),
    "angles": (rope.angles, dict(positions=X.double(), freqs=torch.ones(2).double())),
    "rotate": (rope.rotate, dict(x=torch.ones(2, 3, 2, 4), cos=ANGLES, sin=ANGLES)),
    "PositionEncoding": (lite.PositionEncoding, dict(kind="rope", p=0, base=2.5)),
    "Size": (lite.Size, dict(dim=4, heads=1, depth=1, ff=4)),
    "size": (lambda size, **changes: lite.size(size, **changes), dict(size="4x1x1x4", dim=8)),
    "ModelConfig": (
        lite.ModelConfig,
        dict(patch=1, axes=1, encoder=TINY, decoder=TINY, cls=True, positions=lite.PositionEncoding(), dropout=0,
             drop_path=0),
    ),
    "RoMAE": (lite.RoMAE, dict(config=CONFIG)),
    "RoMAE()": (MODEL, dict(tokens=TOKENS, where=WHERE, record=None)),
    "RoMAEPredictor": (lite.RoMAEPredictor, dict(config=CONFIG, outputs=2, pool="mean")),
    "RoMAEPredictor()": (lite.RoMAEPredictor(CONFIG, 2), dict(tokens=TOKENS, record=None)),
    "start_from": (lite.RoMAEPredictor(CONFIG, 2).start_from, dict(pretrained=MODEL)),
    "interpolate": (lite.interpolate, dict(model=MODEL, tokens=TOKENS, at=X, batch=2)),
    "predicted": (predict_hidden, dict(model=MODEL, tokens=TOKENS, hidden=HIDDEN, batch=2)),
    "masked_loss": (masked_loss, dict(model=MODEL, batch=TOKENS, hidden=HIDDEN)),
    "reconstruction_loss": (reconstruction_loss, dict(prediction=X, target=X, pad=PAD)),
    "save": (lite.save, dict(model=MODEL, path=Path("saved"), half=True)),
    "load": (load_file, dict(path=Path("saved"))),
    "Recipe": (
        lite.Recipe,
        dict(epochs=1, batch=2, lr=1e-3, warmup=0, schedule="cosine", optimizer="sgd", betas=(0, 0.9),
             weight_decay=0, clip=2.5, precision="bf16", compile=True),
    ),
    "learning_rate": (learning_rate, dict(step=0, total=5, recipe=RECIPE)),
    "seeded": (lambda key: seeded(key), dict(key=0)),
    "seeded_build": (seeded_build, dict(seed=0, build=lambda: lite.RoMAE(CONFIG))),
    "accelerator_for": (accelerator_for, dict(precision="fp32", device="cpu")),
    "fit": (
        fitted,
        dict(model=MODEL, train=TOKENS, loss=loss, recipe=RECIPE, seed=0, validate=lambda model: {"mse": 1.0},
             checkpoint=Path("run"), save_every=0, logs=2, log=lambda entry: None, stop=lambda: False, device="cpu",
             settings={"lr": 0.5}, order=lambda generator: torch.arange(2)),
    ),
    "spacing": (batching.spacing, dict(tokens=TOKENS)),
    "trim": (batching.trim, dict(batch=TOKENS)),
    "by_length": (batching.by_length, dict(lengths=LENGTHS, batch=2, generator=G)),
    "name": (planned.name, dict(preset="paper", overrides={"lr": 0.5}, seed=0)),
    "record_path": (
        planned.record_path, dict(experiment="spirals", preset="paper", overrides={"lr": 0.5}, seed=0, root=Path("x"))
    ),
    "Planned": (
        planned.Planned, dict(experiment="spirals", preset="quick", seed=0, overrides=(("lr", 0.5),), processes=2),
    ),
    "summarise": (summarise, dict(values=[1.0, 2.0, 3.0])),
    "Table": (Table, dict(columns=["a", "b"], rows=[["1", "2"]], caption="said")),
    "render": (figures.render, dict(fig=FIGURE, alt="said")),
    "band": (figures.band, dict(ax=AXES, x=LINE, mean=LINE, low=LINE, high=LINE)),
}

SCALARS = {
    "None": None, "text": "nonsense", "no text": "", "bytes": b"x", "NaN": math.nan, "inf": math.inf, "negative": -1,
    "zero": 0, "half": 2.5, "bool": True, "complex": 1j, "huge": 10**400, "object": object(),
}
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
        }
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
    return {kind.replace(" ", "-"): bad for kind, bad in kinds.items() if repr(bad) != repr(value)}


def words(value) -> set[str]:
    """Of which a message holds at least one: the value, its type or shape, or those of what is in it."""
    found = {type(value).__name__, repr(value), str(value)}
    if isinstance(value, Mapping):
        found = found.union(("shape ()", "empty"), *map(words, value), *map(words, value.values()))
    elif isinstance(value, list | tuple | set):
        found = found.union(f"{len(value)} ", *map(words, value))
    elif not hasattr(value, "shape"):
        found.add("shape ()")
    else:
        found |= {str(tuple(value.shape)), str(value.dtype), "complex", "NaN", "infinite"}
        entries = (*value.reshape(-1).tolist(), *value[:1]) if len(value.shape) else ()
        found |= {f"{n} " for n in value.shape} | set(map(repr, entries))
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


def bad_arrays(value: torch.Tensor) -> dict:
    """The value of an argument as what arrays also are: most must be refused, by name."""
    real, plain = value.detach().clone(), value.numpy()
    odd = np.zeros(plain.shape, dtype=[("x", float)])
    some = np.zeros(plain.shape, dtype=bool)
    some.flat[0] = True
    kinds = {
        "masked": np.ma.array(plain, mask=some), "all masked": np.ma.array(plain, mask=True),
        "mask of nothing": np.ma.array(plain, mask=False), "masked to fill": np.ma.masked_equal(plain, plain.flat[0]),
        "sparse": real.to_sparse(), "meta": real.to("meta"), "complex": plain.astype(complex),
        "complex tensor": real + 0j, "conjugate": (real + 0j).conj(), "structured": odd,
        "records": odd.view(np.recarray),
        "text": plain.astype(str), "bytes": plain.astype(bytes), "dates": plain.astype("M8[s]"),
        "durations": plain.astype("m8[s]"), "objects": plain.astype(object), "voids": np.zeros(plain.shape, "V8"),
        "big-endian": plain.astype(plain.dtype.newbyteorder(">")),
        "not contiguous": np.stack((plain, plain), -1)[..., 0],
        "backwards": plain[..., ::-1][..., ::-1], "read-only": np.broadcast_to(plain, plain.shape),
        "column order": np.asfortranarray(plain), "matrix": np.matrix([[1.0, 2.0]]), "a number": 1.0,
        "a list": plain.tolist(),
        "requires a gradient": real.float().requires_grad_() if real.is_floating_point() else real,
        "transposed": real.mT.contiguous().mT if real.ndim > 1 else real, "a range": range(3),
        "a generator": iter([1.0]), "memory": memoryview(np.ascontiguousarray(plain).tobytes()),
    }
    kinds["nested"] = torch.nested.nested_tensor([real, real], layout=torch.jagged) if real.ndim else real.to_sparse()
    if real.ndim > 1:
        kinds["sparse rows"] = real.float().flatten(1).to_sparse_csr()
    if real.is_floating_point():
        kinds |= {
            "long doubles": plain.astype(np.longdouble), "half": real.half(), "bfloat16": real.bfloat16(),
            "quantised": torch.quantize_per_tensor(real.float(), 0.1, 0, torch.quint8),
            "eights": real.to(torch.float8_e4m3fn),
            "unsigned": plain.astype(np.uint64), "unsigned tensor": real.to(torch.uint16),
            "long double of a mask": np.ma.array(plain.astype(np.longdouble), mask=some),
        }
    return {kind.replace(" ", "-"): bad for kind, bad in kinds.items()}


READ = {  # kinds that mean what the plain array means, and give the same answer
    "mask-of-nothing", "big-endian", "not-contiguous", "backwards", "read-only", "column-order", "requires-a-gradient",
    "transposed", "long-doubles", "half", "bfloat16", "unsigned", "unsigned-tensor",
}
MISSING = {"masked", "masked-to-fill", "long-double-of-a-mask"}  # what is hidden is missing there, as a NaN is
LISTS = {"objects", "a-list", "a-range", "memory"}
TIMES = {"dates", "durations"}
NAMES = {"text", "bytes"}
LOOSER = {  # argument -> kinds that it takes as well
    "hide_each.visible": {"a-number"},
    "suggest_unit(times).times": MISSING | LISTS,
    "from_table(columns).when": TIMES | LISTS,
    "from_table(columns).flux": MISSING | LISTS,
    "from_table(columns).star": MISSING | TIMES | NAMES | LISTS,
    "fill_series.times": TIMES | LISTS,
    "fill_series.values": MISSING | LISTS,
    "fill_series.at": TIMES | LISTS,
    "Interpolator(array).X": MISSING | {"objects"},
    "Interpolator(pairs).X": MISSING | LISTS,
    "Interpolator.predict.at": TIMES | LISTS,
    "Classifier(labels).y": MISSING | TIMES | NAMES | LISTS,
    "Scale.positions.times": TIMES | LISTS,
    "Scale.values.standardised": MISSING | LISTS | {"all-masked", "matrix", "a-number"},
    "Scale[].rows": {"a-list", "a-range", "memory"},
    "Tokens[].index": {"a-list"},
}
SIX, SMALL = torch.arange(6.0).double(), dict(size="4x1x1x4", steps=1, verbose=False)
NONE = dict(steps=0, verbose=False)
THREE = lite.Scale(ids=(0, 1, 2), start=LINE, unit=1.0, channels=("x",), mean=[1.5], deviation=[0.5])


@cache
def interpolator():
    return lite.Interpolator(**NONE).fit(SERIES)


MORE = {  # what takes arrays and stands not among CALLS, or not with all of them
    "suggest_unit(times)": (lite.suggest_unit, dict(times=SIX)),
    "from_table(columns)": (
        lambda **columns: lite.from_table(columns, time="when", value="flux", id="star"),
        dict(when=SIX, flux=SIX, star=SIX.long() // 2),
    ),
    "fill_series": (fill_series, dict(times=SIX, values=SIX, at=SIX[:3])),
    "Interpolator(array)": (lambda X: lite.Interpolator(**NONE).fit(X), dict(X=torch.arange(24.0).reshape(3, 8))),
    "Interpolator(pairs)": (
        lambda X: lite.Interpolator(**NONE).fit([(np.arange(12), X)] * 3), dict(X=torch.arange(12.0))
    ),
    "Interpolator.predict": (lambda at: interpolator().predict(SERIES[:1], at=at), dict(at=SIX[:3])),
    "Classifier(labels)": (
        lambda y: lite.Classifier(folds=0, pretrain=False, **SMALL).fit([*SERIES, *SERIES], y),
        dict(y=torch.tensor([0, 1, 0, 1, 0, 1])),
    ),
    "Scale.positions": (partial(SCALE.positions, 0), dict(times=SIX)),
    "Scale.values": (SCALE.values, dict(standardised=SIX)),
    "Scale[]": (THREE.__getitem__, dict(rows=torch.tensor([1, 0]))),
    "Tokens[]": (TOKENS.__getitem__, dict(index=torch.tensor([1, 0]))),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS | MORE)
def test_arrays_of_every_kind_are_read_or_refused_by_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given = (CALLS | MORE)[name]
    arrays = {argument: value for argument, value in given.items() if torch.is_tensor(value)}
    if name == "collate":
        arrays["samples"] = X[0]
    wrong = {}
    for argument, value in arrays.items():
        for kind, bad in bad_arrays(value).items():
            given_ = given | {argument: [(bad, X[0]), (X[1], X[1])] if argument == "samples" else bad}
            try:
                function(**given_)
                taken = True
            except (TypeError, ValueError) as error:
                taken = False
                named = {"samples": "sample 0", "index": "(index|tokens)"}.get(argument, argument)
                if not re.search(rf"\b{named}\b", str(error)):
                    wrong[argument, kind] = f"{type(error).__name__}: {error!s:.100}"
            except Exception as error:
                wrong[argument, kind] = f"{type(error).__name__}: {error!s:.100}"
                continue
            if taken and kind not in READ | LOOSER.get(f"{name}.{argument}", set()):
                wrong[argument, kind] = "accepted"
            if not taken and kind in READ - {"half", "bfloat16", "unsigned", "unsigned-tensor"}:
                wrong.setdefault((argument, kind), "refused")
    assert not wrong


ENTRIES = " ".join(f"{kind}-inside" for kind in ("no-text", "text", "None", "negative", "zero", "half", "bool", "huge"))
ALL_ENTRIES = f"{ENTRIES} bytes-inside NaN-inside inf-inside complex-inside object-inside"
VALID = {  # why: arguments and kinds that are accepted
    "columns that a table lacks, and the unit that nobody chose": """
        from_table.id from_table.channel from_table.label from_table.error
        from_table.static from_table.unit: None""",
    "arrays of numpy are as good as tensors": """
        Tokens.values Tokens.positions Tokens.pad collate.label patchify.array hide.real
        hide_ratio.real hide_visible.real hide_each.real hide_each.visible split.hidden split.real take.x take.index
        angles.positions angles.freqs rotate.x rotate.cos rotate.sin interpolate.at predicted.hidden
        masked_loss.hidden reconstruction_loss.prediction reconstruction_loss.target reconstruction_loss.pad
        by_length.lengths: numpy""",
    "whole numbers are real ones, and so are yes and no": """
        Tokens.values Tokens.positions collate.label patchify.array take.x angles.positions
        angles.freqs rotate.cos rotate.sin interpolate.at reconstruction_loss.prediction
        reconstruction_loss.target fill_series.values fill_series.at: integers bools;
        fill_series.times fill_series.values fill_series.at: integers reals; fill.at: integers bools reals;
        band.x band.mean band.low band.high: integers reals;
        angles.positions angles.freqs: reals""",
    "another size that fits the rest": """
        Tokens.values Tokens.positions: axis-2-long; patchify.array: axis-0-long axis-0-short axis-3-long;
        hide.real hide_ratio.real: axis-0-long axis-0-short axis-1-long axis-1-short;
        hide_visible.real: axis-0-long axis-0-short axis-1-long; hide_each.real: axis-1-long;
        by_length.lengths: axis-0-long axis-0-short; take.x: axis-1-long axis-2-long axis-2-short;
        fill.at fill_series.at: axis-0-long axis-0-short;
        take.index interpolate.at: axis-1-long axis-1-short; angles.freqs: axis-0-long axis-0-short;
        angles.positions: axis-0-long axis-0-short axis-1-long axis-1-short axis-2-long axis-2-short;
        rotate.x: rank-up axis-2-long axis-2-short; hide_each.visible interpolate.at: rank-down;
        summarise.values: set one-more one-fewer; Table.rows: one-more one-fewer; Planned.overrides: one-fewer""",
    "nothing of something is nothing": """
        take.x rotate.x: axis-2-empty; take.index: axis-1-empty; angles.freqs: axis-0-empty;
        angles.positions: axis-0-empty axis-1-empty axis-2-empty; Tokens.aux fit.settings name.overrides
        record_path.overrides: no-dict; Tokens.per_token Table.rows from_table.static: no-list;
        Table.caption: no-text""",
    "numbers inside are looked at by Tokens alone: elsewhere a GPU would have to be waited for; figures leave gaps": """
        patchify.array take.x angles.positions angles.freqs rotate.x rotate.cos rotate.sin
        reconstruction_loss.prediction reconstruction_loss.target band.x band.mean band.low band.high:
        nan-inside inf-inside; collate.label: inf-inside""",
    "None is the default": """
        Tokens.pad Tokens.scale patchify.coordinates reconstruction_loss.pad Recipe.clip accelerator_for.device
        fit.validate fit.checkpoint fit.logs fit.log fit.device fit.settings fit.order name.overrides
        record_path.overrides record_path.root fill_series.at
        fill.id fill.channel fill.error
        Classifier.size Classifier.device Classifier.pretrain: None;
        patchify.coordinates: None-inside""",
    "another number of the kind": """
        Recipe.lr Recipe.weight_decay fit.save_every Classifier.lr: half;
        Interpolator.steps: zero; summarise.values: negative-inside zero-inside half-inside;
        collate.label: tensor""",
    "any name or text, any path": """
        save.path load.path fit.checkpoint name.preset record_path.experiment record_path.preset Table.caption
        render.alt: text; record_path.root: text no-text""",
    "a dictionary that is filled": "RoMAE().record RoMAEPredictor().record: no-dict",
    "settings may be anything that a record holds, or JSON": f"""
        name.overrides record_path.overrides: {ENTRIES.replace(" huge-inside", "")};
        fit.settings: {ENTRIES} NaN-inside inf-inside number-as-key""",
    "cells are shown as they print": f"Table.columns: {ALL_ENTRIES}",
}
LOUD = {  # why: errors that say it in other words
    "names the patch that does not fit": "patchify.array: axis-1-long axis-1-short axis-2-long axis-2-short",
    "PyTorch names index and size": "take.x: tensor axis-1-short axis-1-empty",
    "the file system or the checkpoint names the path": "save.path load.path fit.checkpoint: no-text",
    "names the row, or counts": """
        fill_series.times fill_series.at fill.at: nan-inside; fill_series.at fill.at: axis-0-empty;
        fill_series.values: axis-0-long axis-0-short axis-0-empty""",
    "json names the type": "fit.settings: bytes-inside complex-inside object-inside",
    "names the setting that is there twice": "Planned.overrides: one-more",
}


def listed(table: Mapping[str, str], name: str) -> set[tuple[str, str]]:
    """The table's pairs of argument and kind for one callable."""
    found = set()
    for group in ";".join(table.values()).split(";"):
        places, _, kinds = group.partition(":")
        places = [place.rpartition(".") for place in places.split()]
        found |= {(argument, kind) for owner, _, argument in places if owner == name for kind in kinds.split()}
    return found


@pytest.mark.parametrize("name", CALLS)
def test_bad_calls_are_refused_by_name_or_listed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("saved", "nonsense") if name == "load" else ():
        lite.save(MODEL, path)
    function, given = CALLS[name]
    function(**given)  # is in order
    found = {
        (argument, kind): outcome(function, given, argument, bad)
        for argument, value in given.items() for kind, bad in spoilt(value).items()
    }
    accepted = {case for case, what in found.items() if what == "accepted"}
    assert accepted == listed(VALID, name), "accepted in silence, or no longer"
    obscure = {case: what for case, what in found.items() if what not in ("accepted", "refused")}
    assert obscure.keys() == listed(LOUD, name), obscure


def test_hundreds_of_calls_to_everything_that_is_exported():
    # Scale comes from from_table, with its tokens: test_frames.py; test_estimators.py, test_zoo.py
    elsewhere = {"Scale", "card"}
    assert set(lite.__all__) <= CALLS.keys() | elsewhere
    assert sum(len(spoilt(value)) for _, given in CALLS.values() for value in given.values()) > 3000
    every = {name for table in (VALID, LOUD) for name in re.findall(r"([\w()]+)\.\w+", " ".join(table.values()))}
    assert every <= CALLS.keys()

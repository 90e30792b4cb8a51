"""What every experiment keeps, whatever its subject: settings refuse what they cannot be, data repeat, splits share
nothing. What is special about one is in the test file of its name."""

import itertools
import math
import typing
from dataclasses import fields

import numpy as np
import pytest
import torch
from conftest import NAMES

from romae_book.experiments import experiment, experiments
from romae_book.experiments.base import numpy_rng
from romae_book.experiments.data import NotHere

TINY = {"encoder": "32x2x1x64", "decoder": "32x2x1x64"}
# every experiment that trains, in a few steps of its preset "quick"
SMALL = {
    "position": {"epochs": 1, "n_train": 640, "n_valid": 20, "n_test": 20},
    "position_range": {"epochs": 1, "n_train": 640, "n_valid": 20, "n_test": 20},
    "frequencies": {"epochs": 1, "n_train": 64, "n_test": 8, "per_group": 2},
    "synthetic": {"n_train": 320, "n_valid": 10, "n_test": 10},
    "spirals": {"epochs": 1, "n_train": 64, "n_valid": 20, "n_test": 100}, "physionet": {"patients": 60, "epochs": 1},
    "mortality": {"patients": 60, "epochs": 1},
    "pendulum": {"epochs": 2, "n_train": 50, "n_valid": 10, "n_test": 10},
    "uea": {"source": "simulated", "epochs": 1, "pretrain_epochs": 1, "dropout": 0.1, **TINY},
    "elasticc": {"n_train": 150, "n_test": 60, "epochs": 1}, "folding": {"epochs": 1}, "lightcurves": {"epochs": 1},
    "tiny_imagenet": {"source": "simulated", "per_class": 12, "n_test": 20, "epochs": 1, "augment": 2, **TINY},
    "periods": {"n_train": 128, "n_valid": 10, "n_test": 20, **TINY},
    "waves": {"n_train": 128, "n_valid": 10, "n_test": 20, **TINY},
    "priors": {"n_train": 128, "n_valid": 10, "n_test": 20, **TINY},
    "esc50": {"n_train": 40, "epochs": 1, "pretrain_epochs": 1, **TINY},
}


def small(name: str, **changes):
    return experiment(name).preset("quick").replace(**SMALL[name] | changes)


def test_every_experiment_that_trains_has_small_settings():
    trained = {name for name in NAMES if hasattr(experiments()[name], "quick") and experiments()[name].repeatable}
    assert set(SMALL) == trained  # speed only takes times


# Settings ----------------------------------------------------------------------------------------------------------

# What no experiment that has the setting can take, whatever bounds it declares: what is below comes from these.
IMPOSSIBLE = {
    "epochs": 0, "batch": 0, "lr": -1.0, "clip": 0.0, "mask_ratio": 1.0, "p": 1.5, "base": 1.0, "position_scale": 0.0,
    "n_train": 0, "n_valid": 0, "n_test": 0, "length": 3, "observed": 0, "tokens": 0, "dropout": 1.5, "per_class": 0,
    "encoder": "huge", "decoder": "huge", "size": "huge", "encoding": "learned", "optimizer": "adam", "source": "radio",
    "grid": "ours", "anchor": "zero", "pixels": "blue",
}
OF_NO_TYPE = (True, 2.5, "many", math.nan, math.inf, None, [1])


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_refuses_what_it_cannot_be_by_name(name):
    kind = experiment(name)
    exp = kind.preset(next(preset for preset in kind.tiers if hasattr(kind, preset)))

    def refused(setting: str, value, error: type[Exception]) -> None:
        with pytest.raises(error, match=f"{setting} is {value!r}".replace("[", r"\[")):
            exp.replace(**{setting: value})

    for setting in fields(kind):
        hint = typing.get_type_hints(kind)[setting.name]
        allowed = getattr(hint, "__args__", (hint,))
        for value in OF_NO_TYPE:
            if type(value) not in allowed or value in (math.inf, -math.inf) or value != value:
                refused(setting.name, value, TypeError)
        if setting.name in IMPOSSIBLE:
            refused(setting.name, IMPOSSIBLE[setting.name], ValueError)
        low, high, choices = (setting.metadata[key] for key in ("low", "high", "choices"))
        if {int, float} & set(allowed):
            assert low is not None or choices, f"{setting.name} of {name} has no lowest value"
            one = int if int in allowed else float
            for beyond in ([] if low is None else [low - 1]) + ([] if high is None else [high + 1]):
                refused(setting.name, one(beyond), ValueError)
        if choices and str in allowed:
            refused(setting.name, "none of them", ValueError)
    with pytest.raises(TypeError, match=f"'epohcs' is no setting of {name}; it has epochs"):
        exp.replace(epohcs=5)
    with pytest.raises(ValueError, match=f"preset is 'papr'; {name} has "):
        kind.preset("papr")


def test_an_unknown_experiment_is_named():
    with pytest.raises(ValueError, match="experiment is 'spiral'; choose one of .*spirals"):
        experiment("spiral")


def test_whole_numbers_will_do_for_fractions_and_none_for_no_clip():
    assert small("spirals", lr=1, clip=None, position_scale=8).recipe(200).clip is None


# What the presets called paper take from the authors' code, where no table of the paper says it. What the tables say is
# held against the presets in test_lab_record.py.
OPEN = {
    "position": dict(cls=True, anchor="none", standardise=False), "position_range": dict(anchor="none"),
    "frequencies": dict(batch=248, lr=4e-4, cls=True, shown=50, per_group=200),
    "spirals": dict(cls=False), "synthetic": dict(cls=False, clip=1.0), "physionet": dict(masking="rows"),
    "pendulum": dict(readout="cls", pixels="authors", n_valid=1000),
    "elasticc": dict(balanced=True, pretrain_clip=10.0), "esc50": dict(clip=1.0), "tiny_imagenet": dict(clip=1.0),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_no_table_says_is_as_in_the_authors_code(name):
    paper = experiment(name).paper()
    assert {key: getattr(paper, key) for key in OPEN[name]} == OPEN[name]


# Data ----------------------------------------------------------------------------------------------------------

# The training set of priors is a stream (test_priors.py), folding has the curves of lightcurves.
DRAWN = [name for name in SMALL if name not in ("priors", "folding")]
FIXED = {"pendulum"}  # the same clips for every seed, as in the paper
FINITE = {"lightcurves"}  # a few stars, dealt out anew


def splits(name: str, seed: int) -> tuple:
    """The parts that share nothing: of a test set that repeats training series on purpose, the rest."""
    exp = small(name)
    train, valid, test = exp.data(seed)
    if name == "synthetic":
        test = test[~test.aux["leaked"]]
    if name == "frequencies":
        test = test[torch.arange(exp.n_test)]
    return (train, test) if name == "uea" else (train, valid, test)  # whose validation set is the training set


def samples(tokens) -> set[bytes]:
    what = [tokens.aux["image"]] if "image" in tokens.aux else [tokens.values, tokens.positions]
    return {b"".join(part[i].numpy().tobytes() for part in what) for i in range(len(tokens))}


@pytest.mark.parametrize("name", DRAWN)
def test_data_repeat_and_splits_and_seeds_share_no_sample(name):
    first, again, other = splits(name, 0), splits(name, 0), splits(name, 1)
    for a, b in zip(first, again, strict=True):
        assert torch.equal(a.values, b.values) and torch.equal(a.positions, b.positions)
        assert a.aux.keys() == b.aux.keys() and all(torch.equal(a.aux[key], b.aux[key]) for key in a.aux)
    parts = [samples(part) for part in first]
    assert [len(part) for part in parts] == [len(part) for part in first]
    later = [samples(part) for part in other]
    assert (later == parts) is (name in FIXED)
    if name not in FIXED | FINITE:
        parts += later
    for a, b in itertools.combinations(parts, 2):
        assert not a & b


# Of generated series: numbers that are drawn without noise, and what hides (what is chosen at random, True or False).
STREAMS = {
    "spirals": lambda tokens: (tokens.aux["clean"][:, 1], tokens.aux["hidden"], tokens.aux["clockwise"]),
    "synthetic": lambda tokens: (tokens.aux["heights"], tokens.aux["rank"] < 10),
    "frequencies": lambda tokens: (tokens.aux["clean"][:, 3], tokens.aux["hidden"]),
}


@pytest.mark.parametrize("name", STREAMS)
def test_no_two_splits_or_seeds_draw_from_one_stream(name):
    """As the authors' training and test series do (D17): parameters, noise and masks of any two are compared."""
    for one, two in itertools.combinations((*splits(name, 0), *splits(name, 1)), 2):
        n = min(len(one), len(two))
        one, two = one[torch.arange(n)], two[torch.arange(n)]
        noise = [(part.values.double().squeeze(-1) - part.aux["clean"]).numpy().ravel() for part in (one, two)]
        assert abs(np.corrcoef(noise)[0, 1]) < 4 / math.sqrt(noise[0].size)
        (numbers, *chosen), (numbers2, *chosen2) = (STREAMS[name](part) for part in (one, two))
        assert not np.isin(numbers.numpy(), numbers2.numpy()).any()
        for mask, mask2 in zip(chosen, chosen2, strict=True):  # as often alike as independent ones are
            share, alike = mask.double().mean(), (mask == mask2).double().mean()
            assert abs(alike - (share**2 + (1 - share) ** 2)) < 4 * 0.5 / math.sqrt(mask.numel())


def test_every_seed_and_stream_has_a_generator_of_its_own():
    drawn = {tuple(numpy_rng(seed, stream).random(4)) for seed in range(5) for stream in range(5)}
    assert len(drawn) == 25


OPPONENTS = ("synthetic", "spirals", "pendulum", "frequencies")  # which are asked again here, as they take no time


@pytest.mark.parametrize("name", [name for name in DRAWN if name not in ("uea", "esc50", "waves")])  # without it
def test_position_scale_scales_positions_only_and_no_opponent_sees_it(name):
    exp = small(name)
    other = exp.replace(position_scale=4 * exp.position_scale)
    plain, scaled = exp.data(0), other.data(0)
    for a, b in zip(plain, scaled, strict=True):
        axes = {round(float(r), 6) for r in (b.positions / a.positions)[a.positions != 0]}
        assert 4.0 in axes and axes <= {1.0, 4.0}  # of several axes, the one that has the unit
        assert torch.equal(a.values, b.values) and all(torch.equal(a.aux[key], b.aux[key]) for key in a.aux)
    if name in OPPONENTS:
        assert other.compare(scaled) == pytest.approx(exp.compare(plain))


@pytest.mark.parametrize("name", ["physionet", "uea", "elasticc", "tiny_imagenet", "esc50"])
def test_data_that_are_not_here_are_asked_for_by_the_name_of_their_script(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    exp = experiment(name).paper()
    exp = exp.replace(dataset="LSST") if name == "uea" else exp  # its usual set is bundled
    with pytest.raises(NotHere, match=rf"data_scripts/{name}\.py") as caught:
        exp.data(0)
    assert isinstance(caught.value, FileNotFoundError) and isinstance(caught.value, ValueError)  # passed over
    with pytest.raises(NotHere, match="does not exist|is not here"):
        exp.data(0, tmp_path / "nowhere")

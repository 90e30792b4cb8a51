"""Chapter 12's figure: its arithmetic in Python, and the page that hides, fills in and plays."""

import functools

import numpy as np
import pytest
import torch
from figures import state
from oracles import esc50 as oracle_esc50

from romae_book.experiments.esc50 import data as sounds
from romae_book.explorables.esc50 import figure as drawing
from romae_book.explorables.explorable import Explorable
from romae_lite.model import ModelConfig, RoMAE, size
from romae_lite.training import seeded_build


@functools.cache
def figure() -> Explorable:
    """A model with random weights, which says what it says, and two made-up sounds."""
    pytest.importorskip("kaldi_native_fbank")
    clips = sounds.simulated(3, np.random.default_rng(0))
    level = sounds.level(clips)
    config = ModelConfig(patch=256, axes=2, encoder=size("16x2x1x32"), decoder=size("16x2x1x32"), cls=False)
    tokens = sounds.tokens(clips, seconds=0.16, mels=348.3, level=level)
    model = seeded_build(0, lambda: RoMAE(config))
    return drawing.explorable(model, tokens, sounds.SHAPES[:2], level, "A model with random weights.")


def test_what_is_not_hidden_stays():
    data = figure().data
    truth = oracle_esc50.energies(data, 0)
    for axis in ("time", "pitch"):
        back, error, _ = oracle_esc50.filled(data, 0, axis, 2, 4)
        changed = back != truth
        lines = changed.any(1) if axis == "time" else changed.any(0)
        assert np.flatnonzero(lines).min() == 32 and np.flatnonzero(lines).max() == 63
        part = (back - truth)[32:64] if axis == "time" else (back - truth)[:, 32:64]
        assert error == pytest.approx(np.mean(part**2), rel=1e-12)


def test_energies_travel_in_256_steps():
    clips = sounds.simulated(3, np.random.default_rng(0))
    low, high = figure().data["range"]
    scaled = sounds.scaled(clips, sounds.level(clips))[0].clamp(low, high).numpy()
    # half a step of 6 / 255; values beyond the ends are cut off in both
    assert np.abs(oracle_esc50.energies(figure().data, 0) - scaled).max() <= (high - low) / 255 / 2 + 1e-6


def test_as_many_labels_as_sounds():
    with pytest.raises(ValueError, match="labels are 4"):
        drawing.payload(None, torch.zeros(3), ["a"] * 4, (0, 1))


def agrees(page) -> dict:
    now, data = state(page), figure().data
    number = [one["label"] for one in data["sounds"]].index(now["sound"])
    _, error, reference = oracle_esc50.filled(data, number, now["axis"], now["begin"], now["end"])
    # the page computes in float64 and shows four digits; PyTorch computes in float32
    assert float(now["mse"]) == pytest.approx(error, abs=2e-4)
    assert float(now["reference"]) == pytest.approx(reference, abs=1e-4)
    return now


def test_the_page_computes_what_python_does(visit):
    page = visit(figure().html())
    agrees(page)
    sound, what = page.locator("select").all()
    sound.select_option("1")
    assert agrees(page)["sound"] == sounds.SHAPES[1]
    what.select_option("pitch")
    assert agrees(page)["axis"] == "pitch"
    begin, end = page.locator("input[type=range]").all()
    for key, wanted in (("Home", (0, 5)), ("End", (7, 8))):
        begin.press(key)
        now = agrees(page)
        assert (now["begin"], now["end"]) == wanted
    begin.press("Home")  # all of it cannot be hidden
    end.press("End")
    now = agrees(page)
    assert now["end"] - now["begin"] == 7


def test_players_play_and_stop(visit):
    page = visit(figure().html())
    for name in ("hidden", "filled", "whole"):
        page.locator(f"[data-play={name}]").press("Enter")
        assert state(page)["playing"] == name
    page.locator("select").first.select_option("1")
    assert state(page)["playing"] == ""


def test_small_enough_for_a_page():
    assert len(figure().html()) < 500_000

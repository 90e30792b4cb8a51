"""Models by name: found where they should be, right to the last bit or refused, with a card from their record."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import torch
from conftest import ROOT

import romae_lite
from romae_book.cli import cards
from romae_book.lab.records import load as load_record
from romae_book.lab.records import load_arrays
from romae_lite import RoMAE, checkpoint, load, save, zoo

NAMES = ("filler", "spirals", "synthetic")


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """As in a fresh environment: no records, no folder of models."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "none"))


def test_names_are_those_of_the_cards():
    assert tuple(zoo.names()) == NAMES == tuple(sorted(cards.CARDS))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_gives_the_model_of_its_record(name):
    model, record = load(name), load_record(cards.CARDS[name].record)
    assert isinstance(model, RoMAE) and not model.training
    assert sum(p.numel() for p in model.parameters()) == record.parameters == zoo.about(name)["record"]["parameters"]
    if record.weights is None:
        kept = load_arrays(record.path.with_suffix(".npz"))
        for key, weight in model.state_dict().items():
            assert torch.equal(weight, torch.from_numpy(kept[f"weights.{key}"]).float()), key


def test_what_the_package_ships_is_what_the_records_say(tmp_path):
    """`python -m romae_book.cli.cards` would write the very files that are there."""
    written = cards.write(tmp_path)
    assert {path.name for path in written} == {path.name for path in zoo.MODELS.iterdir()}
    for path in written:
        assert path.read_bytes() == (zoo.MODELS / path.name).read_bytes(), path.name
    weights = (zoo.MODELS / "filler.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == load_record(cards.CARDS["filler"].record).weights
    assert sum(path.stat().st_size for path in zoo.MODELS.iterdir()) < 1_000_000  # the wheel stays small


def test_the_filler_needs_nothing_but_the_package(alone):
    mean, deviation = romae_lite.fill([1.0, 2, 4, 8], [3.0, 4, 3, 5], [3.0])
    assert mean.shape == deviation.shape == (1,) and deviation > 0


@pytest.mark.parametrize("place", [3, 100, 5000, -1])
def test_a_flipped_byte_is_refused_by_name(tmp_path, monkeypatch, place):
    monkeypatch.setattr(zoo, "MODELS", Path(shutil.copytree(zoo.MODELS, tmp_path / "models")))
    data = bytearray((zoo.MODELS / "spirals.safetensors").read_bytes())
    data[place] ^= 1
    (zoo.MODELS / "spirals.safetensors").write_bytes(data)
    with pytest.raises(ValueError, match="spirals.safetensors is not the model 'spirals'"):
        load("spirals")


def test_another_model_under_the_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "MODELS", Path(shutil.copytree(zoo.MODELS, tmp_path / "models")))
    shutil.copy(zoo.MODELS / "spirals.safetensors", zoo.MODELS / "filler.safetensors")
    with pytest.raises(ValueError, match="is not the model 'filler'"):
        load("filler")


def test_an_unknown_name_is_answered_with_those_there_are(tmp_path):
    for wrong in ("spiral", "spirals.safetensors", tmp_path / "nothing"):
        with pytest.raises(FileNotFoundError, match="one of filler, spirals, synthetic"):
            load(wrong)
    with pytest.raises(ValueError, match="one of filler, spirals, synthetic"):
        zoo.card("spiral")
    with pytest.raises(TypeError, match="name"):
        load(3)


def test_a_path_works_as_before(tmp_path):
    model = load("synthetic")
    save(model, tmp_path / "mine.safetensors")
    again = load(str(tmp_path / "mine.safetensors"))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_a_file_of_a_later_version_is_named(tmp_path, monkeypatch):
    model, config = load("synthetic"), checkpoint.asdict
    monkeypatch.setattr(checkpoint, "asdict", lambda value: config(value) | {"later": 1})
    save(model, tmp_path / "later.safetensors")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="later.safetensors is no model .*another version of romae_lite.*'later'"):
        load(tmp_path / "later.safetensors")


def test_the_same_model_gives_the_same_file(tmp_path):
    model = load("synthetic")
    for i in range(12):  # safetensors orders its notes at random
        save(model, tmp_path / f"{i}.safetensors", half=True)
    files = {(tmp_path / f"{i}.safetensors").read_bytes() for i in range(12)}
    assert len(files) == 1 and hashlib.sha256(files.pop()).hexdigest() == zoo.about("synthetic")["sha256"]


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_made_from_the_record(name):
    about, said = zoo.about(name), cards.CARDS[name]
    text = zoo.card(name)
    for part in (about["sha256"], said.command, said.limits, about["record"]["commit"][:12], "MIT"):
        assert part in text
    for key, meaning in said.grades.items():
        assert f"| {meaning} | {about['record']['metrics'][key]:.4g} |" in text
    changed = json.loads(json.dumps(about))
    key = next(iter(said.grades))
    changed["record"]["metrics"][key] = 123.25
    assert "| 123.2 |" in cards.markdown(name, changed)


def test_the_wheel_takes_the_models_along():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"romae_lite" = ["models/*.json", "models/*.md", "models/*.safetensors"]' in text
    assert {path.suffix for path in zoo.MODELS.iterdir()} == {".json", ".md", ".safetensors"}

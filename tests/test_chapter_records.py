"""What chapters make of recorded runs: the stored pages show the records of today, and none is needed to go through."""

import nbformat
import pytest
from chapters import NOTEBOOKS
from IPython.display import Markdown

from romae_book.experiments.synthetic.experiment import Synthetic
from romae_book.experiments.uea.experiment import UEA
from romae_book.lab.runs import runs_of
from romae_book.notebook import (
    esc50,
    frequencies,
    lightcurves,
    pendulum,
    physionet,
    position,
    speed,
    spirals,
    synthetic,
    tiny_imagenet,
    uea,
)
from romae_book.notebook.pendulum import Pendulum
from romae_book.notebook.spirals import Spirals


def of_position():
    yield position.findings(position.setups())


def of_frequencies():
    by_scale = frequencies.by_scale()
    yield from (frequencies.findings(by_scale), frequencies.table_of_scales(by_scale))


def of_spirals():
    by_table, best = runs_of(Spirals.paper()), runs_of(Spirals.best())
    yield spirals.findings(by_table, best)


def of_synthetic():
    paper, best = runs_of(Synthetic.paper()), runs_of(Synthetic.best())
    same_data = runs_of(Synthetic.best().replace(n_train=1600, epochs=80))
    yield synthetic.findings(paper, same_data, best)


def of_physionet():
    yield physionet.findings(physionet.groups())


def of_pendulum():
    yield pendulum.findings(runs_of(Pendulum.paper()), pendulum.groups(), runs_of(Pendulum.best()))


def of_uea():
    runs = uea.runs_by_set()
    yield from (uea.findings(*runs), uea.table_of_runs(*runs, UEA.quick(), {"accuracy": 1.0}))


def of_lightcurves():
    yield from (lightcurves.classification(), lightcurves.fold_by_fold())


def of_tiny_imagenet():
    yield tiny_imagenet.findings(tiny_imagenet.photograph_runs())


def of_esc50():
    yield esc50.findings(esc50.esc50_runs())


def of_speed():
    yield speed.findings(speed.measurements())


MADE = {
    "03_cls": of_position, "04_units": of_frequencies, "05_spirals": of_spirals, "06_synthetic": of_synthetic,
    "07_physionet": of_physionet, "08_pendulum": of_pendulum, "09_uea": of_uea, "10_elasticc": of_lightcurves,
    "11_tiny_imagenet": of_tiny_imagenet, "12_esc50": of_esc50, "13_speed": of_speed,
}


def text(made) -> str:
    return made.data if isinstance(made, Markdown) else made._repr_html_()


@pytest.mark.parametrize("chapter", MADE)
def test_the_stored_page_shows_what_the_records_say(chapter):
    """Where this fails, records were added: execute the chapter anew (make notebooks N=...)."""
    cells = nbformat.read(NOTEBOOKS[chapter], as_version=4).cells
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    stored = {output.get(kind) for output in outputs for kind in ("text/html", "text/markdown")}
    missing = [text(made)[:300] for made in MADE[chapter]() if text(made) not in stored]
    assert not missing


@pytest.mark.parametrize("chapter", MADE)
def test_without_any_record_a_chapter_goes_through(chapter, monkeypatch, tmp_path):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert not [made for made in MADE[chapter]() if made is not None and ">nan" in text(made)]

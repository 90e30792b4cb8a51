"""What chapters make of recorded runs: the stored pages show the records of today, and none is needed to go through."""

from importlib import import_module

import nbformat
import pytest
from chapters import NOTEBOOKS
from IPython.display import Markdown

from romae_book.experiments.synthetic.experiment import Synthetic
from romae_book.experiments.uea.experiment import UEA
from romae_book.lab.runs import runs_of

# chapter: its module in romae_book/notebook (imported when a test runs), and what the page shows of records
MADE = {
    "03_cls": ("position", lambda m: [m.findings(m.setups())]),
    "04_units": ("frequencies", lambda m: [
        m.findings(runs := m.by_scale()), m.table_of_scales(runs), m.who_finds_a_period()
    ]),
    "05_spirals": ("spirals", lambda m: [m.findings(runs_of(m.Spirals.paper()), runs_of(m.Spirals.best()))]),
    "06_synthetic": ("synthetic", lambda m: [m.findings(*map(runs_of, (
        Synthetic.paper(), Synthetic.best().replace(n_train=1600, epochs=80), Synthetic.best()
    )))]),
    "07_physionet": ("physionet", lambda m: [m.findings(m.groups())]),
    "08_pendulum": ("pendulum", lambda m: [
        m.findings(runs_of(m.Pendulum.paper()), m.groups(), runs_of(m.Pendulum.best()))
    ]),
    "09_uea": ("uea", lambda m: [
        m.findings(*(runs := m.runs_by_set())), m.table_of_runs(*runs, UEA.quick(), {"accuracy": 1.0})
    ]),
    "10_elasticc": ("lightcurves", lambda m: [m.classification()]),
    "11_tiny_imagenet": ("tiny_imagenet", lambda m: [m.findings(m.photograph_runs())]),
    "12_esc50": ("esc50", lambda m: [m.findings(m.esc50_runs())]),
    "13_speed": ("speed", lambda m: [m.findings(m.measurements())]),
}


def made_of(chapter: str) -> list:
    module, make = MADE[chapter]
    return make(import_module(f"romae_book.notebook.{module}"))


def text(made) -> str:
    return made.data if isinstance(made, Markdown) else made._repr_html_()


@pytest.mark.parametrize("chapter", MADE)
def test_the_stored_page_shows_what_the_records_say(chapter):
    """Where this fails, records were added: execute the chapter anew (make notebooks N=...)."""
    cells = nbformat.read(NOTEBOOKS[chapter], as_version=4).cells
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    stored = {output.get(kind) for output in outputs for kind in ("text/html", "text/markdown")}
    missing = [text(made)[:300] for made in made_of(chapter) if text(made) not in stored]
    assert not missing


@pytest.mark.parametrize("chapter", MADE)
def test_without_any_record_a_chapter_goes_through(chapter, monkeypatch, tmp_path):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert not [made for made in made_of(chapter) if made is not None and ">nan" in text(made)]

"""A subject is four small files and a line in three lists: the toy of tests/template is run, reported and drawn."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

LOOK = """
from pathlib import Path
from romae_book.cli.commands import main
from romae_book.explorables.gallery import gallery

assert main(["list"]) == 0
assert main(["report", "toy"]) == 0
Path("toy.html").write_text(gallery("toy").html(), encoding="utf-8")
"""

# what CONTRIBUTING.md asks for
LISTS = (
    ("experiments/__init__.py", "    from .uea.", "    from .toy.experiment import Toy\n    from .uea."),
    ("experiments/__init__.py", "Speed, Priors,", "Speed, Priors, Toy,"),
    ("paper/claims.py", "    uea,\n", "    toy,\n    uea,\n"),
    ("paper/claims.py", "tiny_imagenet, uea,", "tiny_imagenet, toy, uea,"),
    ("explorables/gallery.py", "    from .uea ", "    from .toy import figure as _toy  # noqa: F401\n    from .uea "),
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> tuple[dict, str, str]:
    """Of a package with the toy in it: the record of its quick run, what is printed of it, its figure."""
    folder = tmp_path_factory.mktemp("template")
    for package in ("romae_lite", "romae_book"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "template" / "romae_book", folder / "romae_book", dirs_exist_ok=True)
    for name, old, new in LISTS:
        text = (folder / "romae_book" / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / "romae_book" / name).write_text(text.replace(old, new), encoding="utf-8")
    paths = {"PYTHONPATH": folder, "ROMAE_RESULTS": folder / "results", "ROMAE_CHECKPOINTS": folder / "checkpoints"}
    environment = os.environ | {name: str(path) for name, path in paths.items()}

    def python(*words) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    python("-m", "romae_lite", "run", "toy", "--preset", "quick")
    (path,) = (folder / "results" / "toy").glob("*.json")
    printed = python("-c", LOOK)
    return json.loads(path.read_text(encoding="utf-8")), printed, (folder / "toy.html").read_text(encoding="utf-8")


def test_a_new_subject_is_listed_run_and_reported(toy):
    record, printed, figure = toy
    assert record["tier"] == "smoke" and record["metrics"].keys() == {"mse", "mse_lstsq"}
    assert re.search(r"^toy +The slope of a line", printed, re.M)
    assert re.search(r"^Toy table · Slopes\n  RoMAE, MSE +paper 0.001\n", printed, re.M)  # a quick run answers nothing
    assert "python -m romae_lite run toy --preset paper --seeds 0-2" in printed
    assert 'data-explorable="toy"' in figure and json.dumps(record["metrics"]["mse"]) in figure


def test_its_figure_comes_alive(toy, browser):
    record, _, figure = toy
    page = browser.new_page()
    page.set_content(f"<!doctype html>{figure}")
    state = json.loads(page.locator("[data-ready]").get_attribute("data-state"))
    page.close()
    assert state == {"seed": 0, "error": f"{record['metrics']['mse']:.3f}"}

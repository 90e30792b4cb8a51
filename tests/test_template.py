"""A subject is a folder of the package: the toy of tests/template, put there, is listed, run, reported and drawn."""

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

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> tuple[dict, str, str]:
    """Of a package with the toy in it: the record of its quick run, what is printed of it, its figure."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copytree(ROOT / "romae_lite", folder / "romae_lite", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "template" / "toy", folder / "romae_lite" / "toy")
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


def test_a_new_subject_is_a_folder(toy):
    record, printed, figure = toy
    assert record["tier"] == "smoke" and record["metrics"].keys() == {"mse", "mse_lstsq"}
    assert re.search(r"^toy +The slope of a line", printed, re.M)
    assert "Toy table · Slopes" in printed and "0 of 1 numbers judged: 1 not run." in printed
    assert "python -m romae_lite run toy --preset paper --seeds 0-2" in printed
    assert 'data-explorable="toy"' in figure and json.dumps(record["metrics"]["mse"]) in figure


def test_its_figure_comes_alive(toy, browser):
    record, _, figure = toy
    page = browser.new_page()
    page.set_content(f"<!doctype html>{figure}")
    state = json.loads(page.locator("[data-ready]").get_attribute("data-state"))
    page.close()
    assert state == {"seed": 0, "error": f"{record['metrics']['mse']:.3f}"}

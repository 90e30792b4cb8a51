"""What is on view runs: the open code of a chapter, pasted into an empty file, needs nothing else, and prints what the
page shows."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from chapters import NOTEBOOKS, SMALL
from conftest import ROOT

SHOWN = ("00_fifteen_minutes", "01_rope", "02_model", "03_cls", "04_units", "14_your_own_series")
HIDDEN = {"remove-input", "remove-cell", "hide-input", "hide-cell"}
NUMBER = re.compile(r"-?\d+\.\d+")


def visible(name: str) -> list:
    """The cells of code that a reader sees, the parameters among them, which stand behind a bar."""
    cells = nbformat.read(NOTEBOOKS[name], as_version=4).cells
    tags = [set(cell.metadata.get("tags", [])) for cell in cells]
    return [
        cell for cell, tag in zip(cells, tags, strict=True)
        if cell.cell_type == "code" and ("parameters" in tag or not tag & HIDDEN)
    ]


def pasted(names, settings: dict | None = None) -> str:
    """The cells of these chapters in order, as one file; settings: for the parameters of each."""
    sources = []
    for name in names:
        for cell in visible(name):
            sources.append(cell.source)
            if "parameters" in cell.metadata.get("tags", []):
                sources += [f"{key} = {value!r}" for key, value in (settings or {}).get(name, {}).items()]
    return "\n\n\n".join(sources)


def run(source: str, folder) -> str:
    (folder / "empty.py").write_text(source, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "empty.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def printed(name: str) -> str:
    """What the stored page shows below these cells."""
    return "".join(output.text for cell in visible(name) for output in cell.outputs if output.get("name") == "stdout")


def words(text: str) -> list[str]:
    return NUMBER.sub("#", text).split()


def undefined(source: str) -> list[str]:
    """The linter's complaints of names that nothing above has made."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format=concise", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return re.findall(r"F821 .*", done.stdout)


@pytest.mark.parametrize("name", SHOWN)
def test_needs_no_name_that_the_page_hides(name):
    """By the linter: the whole chapter is run by test_chapters.py, and its open code alone weekly, below."""
    first, rest = pasted([name]).split("\n\n\n", 1)
    assert undefined(f"{first}\n\n\n{rest}") == []
    assert undefined(rest), "the check would see that the first cell is missing"


@pytest.mark.slow
@pytest.mark.weekly
def test_three_chapters_run_one_after_the_other(tmp_path):
    run(pasted(SHOWN[:3], SMALL), tmp_path)


@pytest.mark.slow
@pytest.mark.weekly
@pytest.mark.parametrize("name", SHOWN)
def test_prints_what_the_page_shows(name, tmp_path):
    """At full size. Another processor rounds otherwise, and training carries that on: a fifth is far more than two
    processors differ by, and far less than a wrong step costs."""
    text, stored = run(pasted([name]), tmp_path), printed(name)
    assert words(text) == words(stored)
    for found, wanted in zip(NUMBER.findall(text), NUMBER.findall(stored), strict=True):
        assert float(found) == pytest.approx(float(wanted), rel=0.2, abs=0.02)

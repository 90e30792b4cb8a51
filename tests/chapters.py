"""The chapters, and how to run one in seconds: for the tests that execute them."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from conftest import ROOT

NOTEBOOKS = {path.stem: path for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}

# Parameters that make a chapter's own run small. Every chapter is here: test_chapters compares.
SMALL = {
    "00_fifteen_minutes": {"n_train": 640}, "01_rope": {"tokens": 12}, "02_model": {"steps": 20, "n_train": 640},
    "03_cls": {"epochs": 1, "n_train": 640, "n_valid": 20, "n_test": 20},
    "04_units": {"epochs": 1, "n_train": 64, "n_test": 8, "per_group": 2},
    "05_spirals": {"epochs": 1, "n_train": 32, "n_test": 100},
    "06_synthetic": {"n_train": 64, "n_valid": 10, "n_test": 10}, "07_physionet": {"patients": 60, "epochs": 1},
    "08_pendulum": {"epochs": 1, "n_train": 50, "n_valid": 10, "n_test": 10},
    "09_uea": {"epochs": 1, "pretrain_epochs": 1}, "10_elasticc": {"epochs": 1},
    "11_tiny_imagenet": {"per_class": 12, "epochs": 1, "pretrain_epochs": 1, "painter_epochs": 1},
    "12_esc50": {"epochs": 1, "pretrain_epochs": 1, "listen_epochs": 1, "n_train": 40},
    "13_speed": {"encoder": "24x2x1x24", "batch": 2, "rounds": 1},
    "14_your_own_series": {"gap_steps": 10, "class_steps": 5, "n_stars": 60},
}


def copy_for_nbval(source: Path, target: Path, settings: dict) -> None:
    """A copy whose parameters cell also sets `settings`. (papermill would put them into a cell of their own, and nbval
    compares cell by cell.)"""
    notebook = nbformat.read(source, as_version=4)
    for cell in notebook.cells:
        if "parameters" in cell.metadata.get("tags", []):
            cell.source = "\n".join([cell.source, *(f"{name} = {value!r}" for name, value in settings.items())])
    nbformat.write(notebook, target)


# pytest, but without the grammar that conftest.py leaves out too
PYTEST = "import sys; sys.modules['rfc3987_syntax'] = None; import pytest; sys.exit(pytest.main())"


def nbval(notebook: Path, environment: dict | None = None) -> subprocess.CompletedProcess:
    """Every cell runs without an error, and those that are marked print what they printed."""
    command = [
        sys.executable, "-c", PYTEST, "-q", "-c", os.devnull, "--rootdir", notebook.parent, "-p", "no:cacheprovider",
        "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=600", notebook,
    ]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "tests")))
    environment = os.environ | {"PYTHONPATH": paths, "PYTEST_ADDOPTS": ""} | (environment or {})
    return subprocess.run(command, cwd=notebook.parent, env=environment, capture_output=True, text=True, timeout=1800)

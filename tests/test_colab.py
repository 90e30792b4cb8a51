"""What a reader meets on Colab: the set-up cell as it stands, in an environment where the packages are there already.

The environment is a new one that sees the packages of the one that runs the tests, by a .pth file: installing them
again would take minutes and prove nothing more. GitHub's `colab` job has Colab's own versions (.github/workflows).
"""

import json
import os
import subprocess
import sys
import sysconfig
import time

import nbformat
import pytest
from chapters import NOTEBOOKS
from conftest import ROOT

pytestmark = [pytest.mark.weekly, pytest.mark.slow, pytest.mark.book]

STUB = "import google.colab"  # as Colab's kernel does before the first cell


@pytest.fixture
def colab(tmp_path):
    """run(*command) in the new environment and in an empty folder; packages() there, by name."""
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    inner = next((home / "lib").glob("python3*")) / "site-packages"
    (inner / "outer.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n{STUB}\n")
    (inner / "google" / "colab").mkdir(parents=True)
    (inner / "google" / "colab" / "__init__.py").touch()
    folder = tmp_path / "content"
    folder.mkdir()
    git = tmp_path / "gitconfig"
    url = "https://github.com/romae-lite/romae-lite"
    git.write_text(f'[url "{ROOT.as_uri()}"]\n    insteadOf = {url}\n[safe]\n    directory = *\n')
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "ROMAE_UNCOMMITTED")}
    environment |= {
        "GIT_CONFIG_GLOBAL": str(git),
        "PATH": f"{home / 'bin'}:{environment['PATH']}",
        "OMP_NUM_THREADS": "1",
    }

    def run(*command):
        done = subprocess.run(
            [home / "bin" / "python", *command], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout

    run.folder = folder
    run.packages = lambda: {
        p["name"].lower().replace("_", "-"): p["version"] for p in json.loads(run("-m", "pip", "list", "--format=json"))
    }
    return run


def nothing_replaced(before: dict, after: dict) -> None:
    before.pop("romae-lite", None), after.pop("romae-lite", None)
    assert before == after


def test_from_a_wheel(colab, tmp_path):
    before = colab.packages()
    subprocess.run([sys.executable, *"-m pip wheel -q --no-deps --no-build-isolation -w".split(), tmp_path, ROOT],
                   check=True)
    (wheel,) = tmp_path.glob("*.whl")
    colab("-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", str(wheel))
    colab("-m", "pip", "install", "-q", "romae-lite")  # what it requires is there
    nothing_replaced(before, colab.packages())
    where = colab("-c", "import romae_lite; print(romae_lite.__file__)").strip()
    assert where.startswith(str(tmp_path / "env"))
    colab("-m", "romae_lite", "run", "spirals", "--preset", "quick", "--seeds", "0", "--set", "epochs=1")


def test_the_set_up_cell_as_it_stands(colab, tmp_path):
    """From a clone; then the whole chapter with one epoch, and a widget."""
    before = colab.packages()
    notebook = nbformat.read(NOTEBOOKS["05_spirals"], as_version=4)
    probe = "import ipywidgets, romae_lite\nprint('FROM', romae_lite.__file__)\nipywidgets.IntSlider()"
    notebook.cells.append(nbformat.v4.new_code_cell(probe))
    cell = next(c for c in notebook.cells if c.cell_type == "code")
    head, tail = cell.source.split("\nfrom dataclasses", 1)
    cell.source = (
        f"import time; began = time.time()\n{head}\nprint('TOOK', time.time() - began)\nfrom dataclasses{tail}"
    )
    nbformat.write(notebook, colab.folder / "chapter.ipynb")
    began = time.time()
    colab(
        "-m", "papermill", "--no-progress-bar", "chapter.ipynb", "out.ipynb", "-p", "epochs", "1", "--kernel", "python3"
    )
    text = (colab.folder / "out.ipynb").read_text()
    assert "FROM " + str(colab.folder / "romae-lite") in text and "application/vnd.jupyter.widget-view+json" in text
    took = float(text.split("TOOK ")[1].split("\\n")[0])
    print(f"the set-up cell took {took:.0f} s, the whole chapter {time.time() - began:.0f} s")
    nothing_replaced(before, colab.packages())

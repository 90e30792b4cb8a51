"""What a reader meets on Colab: the set-up cell as it stands, in an environment where the packages are there already.

The environment is a new one that sees the packages of the one that runs the tests, by a .pth file: installing them
again would take minutes and prove nothing more. GitHub's `colab` job has Colab's own versions (.github/workflows).
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig

import nbformat
import pytest
from address import change, version
from conftest import ROOT

pytestmark = [pytest.mark.weekly, pytest.mark.slow, pytest.mark.book]

STUB = "import google.colab"  # as Colab's kernel does before the first cell
URL = "https://github.com/someone/book"


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
    git.write_text(f'[url "{(tmp_path / "published").as_uri()}"]\n    insteadOf = {URL}\n[safe]\n    directory = *\n'
                   "[user]\n    name = A\n    email = a@b\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "ROMAE_UNCOMMITTED")}
    environment |= {
        "GIT_CONFIG_GLOBAL": str(git), "PATH": f"{home / 'bin'}:{environment['PATH']}", "OMP_NUM_THREADS": "1",
    }

    def run(*command, at=folder):
        done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout

    run.folder, run.python = folder, home / "bin" / "python"
    return run


def packages(colab) -> dict[str, str]:
    listed = json.loads(colab(colab.python, "-m", "pip", "list", "--format=json"))
    return {p["name"].lower().replace("_", "-"): p["version"] for p in listed if "romae" not in p["name"].lower()}


@pytest.mark.parametrize("address", [None, URL])
def test_the_set_up_cell_as_it_stands(colab, tmp_path, address):
    """From an archive of this commit, or from its tag once there is an address: then the whole chapter with one epoch,
    a widget, and both packages from what the cell fetched."""
    published, chapter = tmp_path / "published", colab.folder / "chapter.ipynb"
    colab("git", "clone", "-q", ROOT, published, at=tmp_path)
    if address:
        change(published, address)
        colab("git", "commit", "-qam", "The address", at=published)
        colab("git", "tag", f"v{version(published)}", at=published)
    else:
        archive = "git archive --format=zip --prefix=romae-lite/ HEAD -o".split()
        colab(*archive, colab.folder / "romae-lite.zip", at=published)
    shutil.copy(published / "notebooks" / "05_spirals.ipynb", chapter)
    notebook, before = nbformat.read(chapter, as_version=4), packages(colab)
    probe = ("import ipywidgets, romae_lite, romae_book.figures as f", "print('FROM', romae_lite.__file__, f.__file__)",
             "ipywidgets.IntSlider()")
    notebook.cells.append(nbformat.v4.new_code_cell("\n".join(probe)))
    nbformat.write(notebook, chapter)
    papermill = "-m papermill --no-progress-bar chapter.ipynb out.ipynb -p epochs 1 --kernel python3"
    colab(colab.python, *papermill.split())
    text, home = (colab.folder / "out.ipynb").read_text(), colab.folder / "romae-lite"
    assert f"FROM {home}/romae_lite/__init__.py {home}/romae_book/figures.py" in text
    assert "application/vnd.jupyter.widget-view+json" in text
    assert packages(colab) == before
    assert colab(colab.python, "-c", "import romae_book; print(romae_book.__path__[0])").strip() == f"{home}/romae_book"


def test_a_chapter_without_its_archive_says_what_to_do(colab):
    chapter = nbformat.read(ROOT / "notebooks" / "05_spirals.ipynb", as_version=4)
    cells = [next(cell for cell in chapter.cells if cell.cell_type == "code")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=chapter.metadata), colab.folder / "chapter.ipynb")
    with pytest.raises(AssertionError, match="romae-lite"):
        colab(colab.python, *"-m papermill --no-progress-bar chapter.ipynb out.ipynb --kernel python3".split())

"""The chapters: committed in a readable state, and executed anew, by nbval and by papermill."""

import ast
import json
import re
import subprocess
import sys

import nbformat
import pytest
import yaml
from chapters import NOTEBOOKS, SMALL, copy_for_nbval, nbval
from conftest import ROOT

MACHINE = re.compile(r"(?<![\w.])(/home/|/root/|/Users/|/tmp/|/var/folders/|[A-Z]:\\\\?Users)|site-packages/")


@pytest.fixture(scope="module", params=NOTEBOOKS.values(), ids=NOTEBOOKS)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def parameters(notebook):
    """Index of the parameters cell among the code cells."""
    found = [i for i, cell in enumerate(code(notebook)) if "parameters" in tags(cell)]
    assert len(found) == 1, f"{len(found)} cells are tagged parameters"
    return found[0]


def outputs(notebook):
    return [output for cell in code(notebook) for output in cell.outputs]


def text_of(output) -> str:
    """All text of an output: streams, plain text, html, markdown, error messages."""
    data = output.get("data", {})
    parts = [output.get("text", ""), *output.get("traceback", [])]
    parts += [v for k, v in data.items() if k.startswith("text/") and isinstance(v, str)]
    return "\n".join(parts)


def test_every_chapter_is_in_the_contents_and_on_the_landing_page():
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
    shown = yaml.safe_load((ROOT / "book" / "chapters.yml").read_text(encoding="utf-8"))
    shown = {chapter["file"] for part in shown for chapter in part["chapters"]}
    assert set(NOTEBOOKS) == {file.removeprefix("notebooks/") for file in listed if file.startswith("notebooks/")}
    assert set(NOTEBOOKS) <= shown, "book/chapters.yml names every chapter"


def test_is_a_valid_notebook_without_leftovers(notebook):
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook.metadata and "papermill" not in notebook.metadata
    for cell in notebook.cells:
        assert not {"execution", "papermill"} & set(cell.metadata), "time stamps make every diff noisy"


def test_opens_with_title_promise_and_glance(notebook):
    first = notebook.cells[0]
    assert first.cell_type == "markdown" and first.source.startswith("# ")
    titles = [c for c in notebook.cells if c.cell_type == "markdown" and re.search(r"^# ", c.source, re.M)]
    assert titles == [first]
    first, *others = "\n".join(cell.source for cell in notebook.cells).split("\n## ")
    opening = first + others[0] * others[0].startswith("What we found")  # which may have a heading, and comes before
    assert "At a glance" in opening or "Before you start" in opening


def test_set_up_installs_only_on_colab(notebook):
    before = "\n".join(cell.source for cell in code(notebook)[: parameters(notebook)])
    assert "google.colab" in before and "pip install" in before
    pip = next(line for line in before.splitlines() if "pip install" in line)
    assert pip.startswith(" "), "the installation must stand under the test for Colab"


def test_parameters_are_plain_literals(notebook):
    """papermill shows them, and puts its own after them: nothing may be computed there."""
    cell = code(notebook)[parameters(notebook)]
    for statement in ast.parse(cell.source).body:
        assert isinstance(statement, (ast.Assign, ast.AnnAssign)), ast.unparse(statement)
        ast.literal_eval(statement.value)


def test_code_that_the_book_hides_is_folded_elsewhere_too(notebook):
    """In JupyterLab and on Colab. Parameters stay open: somebody wants to change them."""
    for cell in code(notebook):
        hides = bool({"remove-input", "remove-cell", "hide-input", "hide-cell"} & set(tags(cell)))
        folded = hides and "parameters" not in tags(cell)
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) == folded, cell.source[:80]
        assert (cell.metadata.get("cellView") == "form") == folded, cell.source[:80]


def test_executed_once_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in code(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_outputs_are_clean(notebook):
    for output in outputs(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text[:300]
        assert not any("widget" in mime or "javascript" in mime for mime in output.get("data", {}))
        # base64, of pictures and weights, where any three letters may turn up
        text = re.sub(r"[A-Za-z0-9+/]{200,}", "", text_of(output))
        assert not re.search(r"\d+%\|[█▏▎▍▌▋▊▉# ]*\|", text), "a progress bar is stored"
        assert not MACHINE.search(text), MACHINE.search(text)[0]
        assert "NaN" not in text and "nan " not in text


def test_sources_hold_no_machine_path_and_no_interact(notebook):
    for cell in notebook.cells:
        assert not MACHINE.search(cell.source), MACHINE.search(cell.source)[0]
        assert "@interact" not in cell.source  # hangs under nbclient now and then


def test_shows_an_explorable(notebook):
    assert any("romae-explorable" in text_of(output) for output in outputs(notebook))


def test_has_exercises_with_executed_solutions_out_of_sight(notebook):
    start = next(i for i, c in enumerate(notebook.cells) if re.search(r"^## Exercises", c.source, re.M))
    cells = notebook.cells[start:]
    asked = re.findall(r"^### .*", "\n".join(c.source for c in cells if c.cell_type == "markdown"), re.M)
    assert 3 <= len(asked) <= 5, asked
    hidden = [c for c in cells if c.cell_type == "code" and {"hide-cell", "hide-input", "hide-output"} & set(tags(c))]
    folded = sum(c.source.count("{dropdown}") for c in cells if c.cell_type == "markdown")
    assert len(hidden) + folded >= len(asked)
    assert any(c.outputs for c in hidden), "solutions are executed"


def test_is_light(notebook):
    """Text, code, tables, vector figures: no chapter needs 2 MB."""
    assert len(json.dumps(notebook)) < 2_000_000


# -- nbval -------------------------------------------------------------------------------------------------------


def test_every_chapter_has_small_settings():
    assert set(SMALL) == set(NOTEBOOKS), "SMALL in tests/chapters.py names every chapter"


@pytest.mark.slow
@pytest.mark.book
@pytest.mark.parametrize("size", ["small", pytest.param("full", marks=pytest.mark.weekly)])
@pytest.mark.parametrize("chapter", NOTEBOOKS)
def test_runs_and_prints_what_it_printed(tmp_path, chapter, size):
    copy = tmp_path / f"{chapter}.ipynb"
    copy_for_nbval(NOTEBOOKS[chapter], copy, SMALL.get(chapter, {}) if size == "small" else {})
    done = nbval(copy)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


@pytest.mark.slow
@pytest.mark.book
def test_an_output_that_changed_is_noticed(tmp_path):
    """Where a cell is marked, and there alone; with the settings of the copy."""

    def cell(source: str, stored: str, *tags: str):
        output = nbformat.v4.new_output("stream", name="stdout", text=stored)
        return nbformat.v4.new_code_cell(source, outputs=[output], metadata={"tags": list(tags)}, execution_count=1)

    cells = [
        cell("n = 1\nprint(n)", "1\n", "parameters"),
        cell("print(n)", "1\n", "nbval-check-output"),
        cell("print(n)", "3\n", "hide-cell", "nbval-check-output"),
        cell("print(n)", "1\n"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    copy_for_nbval(tmp_path / "chapter.ipynb", tmp_path / "copy.ipynb", {"n": 3})
    done = nbval(tmp_path / "copy.ipynb")
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout and "Cell 1" in done.stdout, done.stdout


# -- papermill ---------------------------------------------------------------------------------------------------


def papermill(out, *options, chapter="05_spirals"):
    command = [sys.executable, "-m", "papermill", f"notebooks/{chapter}.ipynb", str(out), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=800)


@pytest.mark.slow
@pytest.mark.book
def test_papermill_trains_and_reports(tmp_path):
    """Three epochs, from the repository's root: a number for both errors, and no trace in the repository."""
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "results").rglob("*")}
    out = tmp_path / "out.ipynb"
    done = papermill(out, "-p", "epochs", "3")
    assert done.returncode == 0, done.stderr[-3000:]
    notebook = nbformat.read(out, as_version=4)
    assert any("injected-parameters" in tags(cell) and "epochs = 3" in cell.source for cell in notebook.cells)
    text = "\n".join(text_of(output) for output in outputs(notebook))
    for metric in ("RMSE to the clean curve", "RMSE to the noisy points"):
        assert re.search(rf"^{metric} +\d+\.\d+", text, re.M), metric
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "results").rglob("*")} == before


@pytest.mark.slow
@pytest.mark.book
def test_papermill_names_a_wrong_parameter(tmp_path):
    """One of them; test_notebook has the others."""
    out = tmp_path / "out.ipynb"
    done = papermill(out, "-p", "epohcs", "5")
    assert done.returncode != 0
    assert "'epohcs'" in done.stderr[-1500:] and "'epochs'" in done.stderr[-1500:]
    notebook = nbformat.read(out, as_version=4)  # readable, with the message in it
    nbformat.validate(notebook)
    errors = [output for output in outputs(notebook) if output.output_type == "error"]
    assert len(errors) == 1 and "'epohcs'" in errors[0].evalue
    ran = [cell for cell in code(notebook) if cell.execution_count]
    assert len(ran) <= 5, "it went on to train before it looked at the parameters"


@pytest.mark.parametrize(
    ("stem", "words"), [("07_physionet", "records of the challenge"), ("09_uea", "the archive's series")]
)
def test_stored_outputs_are_of_real_data_where_these_may_be_shown(root, stem, words):
    """Executed without the data a chapter shows made-up ones, and its text speaks of what is not to be seen."""
    outputs = [cell.outputs for cell in code(nbformat.read(root / "notebooks" / f"{stem}.ipynb", as_version=4))]
    assert words in str(outputs) and "made-up" not in str(outputs)

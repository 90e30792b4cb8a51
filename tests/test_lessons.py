"""The chapters of the part on ideas, as a page: what is shown fits, is numbered, and comes in the order of a lesson."""

import re

import nbformat
import pytest
from chapters import NOTEBOOKS
from test_notebooks import tags, text_of

LESSONS = ("01_rope", "03_cls", "04_units")
COLUMNS = 88  # what the book's code box holds
PRINTED = 100  # the same of smaller type, in a cell's output


@pytest.fixture(scope="module", params=LESSONS)
def lesson(request):
    return request.param, nbformat.read(NOTEBOOKS[request.param], as_version=4)


def shown(cells):
    """Code cells whose source the page shows, open or folded."""
    return [c for c in cells if c.cell_type == "code" and not {"remove-input", "remove-cell"} & set(tags(c))]


def test_no_line_runs_out_of_its_box(lesson):
    _, notebook = lesson
    for cell in shown(notebook.cells):
        for line in cell.source.splitlines():
            assert len(line) <= COLUMNS, line
    for cell in (c for c in notebook.cells if c.cell_type == "code"):
        for output in cell.outputs:
            if output.output_type == "stream":
                assert max(map(len, output.text.splitlines())) <= PRINTED, output.text
            elif (source := output.data.get("text/markdown", "")).startswith("```"):
                assert max(map(len, source.splitlines())) <= COLUMNS, source


def test_a_concept_takes_few_lines(lesson):
    """Cells that are open on the page; plots and records are out of sight, solutions and set-up folded."""
    _, notebook = lesson
    for cell in shown(notebook.cells):
        if not {"hide-cell", "hide-input"} & set(tags(cell)):
            assert len(cell.source.splitlines()) <= 16, cell.source
            assert "plt." not in cell.source and "figures." not in cell.source


def test_no_bar_hides_next_to_nothing(lesson):
    _, notebook = lesson
    for cell in notebook.cells:
        if {"hide-input", "hide-cell"} & set(tags(cell)):
            assert len(cell.source.splitlines()) >= 3, cell.source


def test_figures_and_tables_are_numbered_in_order(lesson):
    name, notebook = lesson
    chapter = int(name[:2])
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    pictures = [
        text_of(o) for o in outputs if {"romae-figure", "romae-explorable"} & set(re.findall(r"romae-\w+", text_of(o)))
    ]
    labels = [re.search(r"class=\"romae-number\"[^>]*>(Figure \d+\.\d+)\.</b>", text) for text in pictures]
    assert all(labels)
    assert [label[1] for label in labels] == [f"Figure {chapter}.{i}" for i in range(1, len(labels) + 1)]
    numbers = re.findall(r"<caption>Table (\d+\.\d+)\. ", "\n".join(map(text_of, outputs)))
    assert numbers == [f"{chapter}.{i}" for i in range(1, len(numbers) + 1)]
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    known = {label[1] for label in labels}
    for named in re.findall(r"Figure (\d+\.\d+)", prose):
        if named.startswith(f"{chapter}."):
            assert f"Figure {named}" in known


def test_has_the_order_of_a_lesson(lesson):
    name, notebook = lesson
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert prose.startswith(f"# {name[:2]} · ")
    found = [
        i for i, c in enumerate(notebook.cells) if any("**What we found.**" in text_of(o) for o in c.get("outputs", []))
    ]
    before = next(i for i, c in enumerate(notebook.cells) if "Before you start" in c.source)
    assert len(found) == 1 and found[0] < before
    headings = re.findall(r"^## (.*)$", prose, re.M)
    wanted = ["Run it yourself", "What differs from the paper", "Summary", "Exercises"]
    assert [h for h in headings if h in wanted] == wanted and headings[-1] == "Exercises"
    bullets = re.search(r"^## Summary\n\n((?:- .*\n)+)", prose, re.M)[1].strip().splitlines()
    assert 4 <= len(bullets) <= 6
    minutes, words = int(re.search(r"(\d+) minutes to read", prose)[1]), len(prose.split())
    assert words / 200 < minutes + 4 and minutes - 4 < words / 150, f"{words} words, {minutes} minutes"


def test_solutions_are_called_so(lesson):
    _, notebook = lesson
    start = next(i for i, c in enumerate(notebook.cells) if re.search(r"^## Exercises", c.source, re.M))
    for cell in notebook.cells[start:]:
        if "hide-cell" in tags(cell):
            assert cell.metadata.mystnb.code_prompt_show == "Solution"
        for dropdown in re.findall(r"\{dropdown\} (.*)", cell.source):
            assert dropdown == "Solution"


def test_nothing_of_the_model_is_used_before_it_is_explained():
    """Chapter 02 builds the model; chapter 01 has rotations and contents only."""
    cells = nbformat.read(NOTEBOOKS["01_rope"], as_version=4).cells
    code = "\n".join(c.source for c in cells if c.cell_type == "code")
    for name in ("RoMAE(", "ModelConfig", "fit(", "hide(", "masked_loss", "split(", "Encoder"):
        assert name not in code
    prose = "\n".join(c.source for c in cells if c.cell_type == "markdown").split("Next:")[0].lower()
    for word in ("decoder", "mask token", "pre-train"):
        assert prose.count(word) <= 1, word  # once, where the paper's baseline is named

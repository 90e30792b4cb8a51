"""The chapters: as files, as pages that somebody reads, and executed anew, by nbval and by papermill."""

import ast
import functools
import json
import os
import re
import subprocess
import sys

import nbformat
import pytest
import yaml
from chapters import NOTEBOOKS, SMALL, copy_for_nbval, nbval
from conftest import ROOT

MACHINE = re.compile(r"(?<![\w.])(/(home|root|Users|tmp|var/folders)/|[A-Z]:\\\\?Users)|site-packages/")
COLUMNS = 88  # of a box of code or of output on the page
LESSONS = {"01_rope", "03_cls", "04_units"}  # of one idea in small steps
EXPERIMENTS = sorted(name for name in NOTEBOOKS if 5 <= int(name[:2]) <= 13)
# What a page may name of the library's model, and from which chapter on it has been explained.
EXPLAINED = {
    "angles": 1, "rotate": 1, "frequencies": 1, "PositionEncoding": 1, "RoMAE": 2, "ModelConfig": 2, "hide": 2,
    "split": 2, "take": 2, "masked_loss": 2, "patchify": 2, "fit": 2, "RoMAEPredictor": 3,
}
WHOLE = {"00_fifteen_minutes"}  # uses the model as a whole, to show what it is for, before it is taken apart


@functools.cache
def read(name: str):
    return nbformat.read(NOTEBOOKS[name], as_version=4)


@pytest.fixture(params=NOTEBOOKS)
def chapter(request):
    return request.param, read(request.param)


def tags(cell) -> set[str]:
    return set(cell.metadata.get("tags", []))


def code(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def shown(notebook) -> list:
    """Cells whose code is on the page, open or behind a bar."""
    return [cell for cell in code(notebook) if not tags(cell) & {"remove-input", "remove-cell"}]


def folded(notebook) -> list:
    """Those behind a bar."""
    return [cell for cell in shown(notebook) if tags(cell) & {"hide-input", "hide-cell"}]


def open_code(notebook) -> list[str]:
    """Sources that a reader sees without a click."""
    return [cell.source for cell in shown(notebook) if cell not in folded(notebook)]


def prose(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def outputs(notebook) -> list:
    return [output for cell in code(notebook) for output in cell.outputs]


def data(output, kind: str) -> str:
    return "".join(output.get("data", {}).get(kind, ""))


def text_of(output) -> str:
    """All text of an output: streams, plain text, html, markdown, error messages."""
    kinds = [kind for kind in output.get("data", {}) if kind.startswith("text/")]
    return "\n".join([output.get("text", ""), *output.get("traceback", []), *(data(output, kind) for kind in kinds)])


def exercises(notebook) -> list:
    start = next(i for i, cell in enumerate(notebook.cells) if re.search(r"^## Exercises", cell.source, re.M))
    return notebook.cells[start:]


# -- as files ----------------------------------------------------------------------------------------------------


def test_every_chapter_is_in_the_contents_on_the_landing_page_and_has_small_settings():
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
    landing = yaml.safe_load((ROOT / "book" / "chapters.yml").read_text(encoding="utf-8"))
    assert set(NOTEBOOKS) == {file.removeprefix("notebooks/") for file in listed if file.startswith("notebooks/")}
    assert set(NOTEBOOKS) <= {chapter["file"] for part in landing for chapter in part["chapters"]}
    assert set(NOTEBOOKS) == set(SMALL), "SMALL in tests/chapters.py names every chapter"


def test_is_a_valid_notebook_without_leftovers(chapter):
    _, notebook = chapter
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "widgets" not in notebook.metadata and "papermill" not in notebook.metadata
    for cell in notebook.cells:
        assert not {"execution", "papermill"} & set(cell.metadata), "time stamps make every diff noisy"
        assert not MACHINE.search(cell.source), MACHINE.search(cell.source)[0]
        assert "@interact" not in cell.source  # hangs under nbclient now and then
    assert len(json.dumps(notebook)) < 2_000_000  # text, code, tables, vector figures


def test_installs_only_on_colab_and_checks_its_parameters(chapter):
    """Parameters are plain literals, since papermill puts its own after them; they are looked at before anything runs,
    so that a wrong one stops the run at once (tests/test_notebook.py)."""
    _, notebook = chapter
    cells = code(notebook)
    (place,) = [i for i, cell in enumerate(cells) if "parameters" in tags(cell)]
    pip = [line for cell in cells[:place] for line in cell.source.splitlines() if "pip install" in line]
    assert len(pip) == 1 and pip[0].startswith("    "), "the installation stands under the test for Colab"
    assert 'if "google.colab" in sys.modules' in cells[0].source
    for statement in ast.parse(cells[place].source).body:
        assert isinstance(statement, ast.Assign | ast.AnnAssign), ast.unparse(statement)
        ast.literal_eval(statement.value)
    assert "parameters.apply(" in cells[place + 1].source


def test_code_that_the_book_hides_is_folded_elsewhere_too(chapter):
    """In JupyterLab and on Colab. Parameters stay open: somebody wants to change them."""
    _, notebook = chapter
    for cell in code(notebook):
        hides = tags(cell) & {"remove-input", "remove-cell", "hide-input", "hide-cell"}
        wanted = bool(hides) and "parameters" not in tags(cell)
        assert cell.metadata.get("jupyter", {}).get("source_hidden", False) == wanted, cell.source[:80]
        assert (cell.metadata.get("cellView") == "form") == wanted, cell.source[:80]


def test_was_executed_once_from_top_to_bottom_with_clean_outputs(chapter):
    _, notebook = chapter
    assert [cell.execution_count for cell in code(notebook)] == list(range(1, len(code(notebook)) + 1))
    for output in outputs(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text[:300]
        assert not any("widget" in mime or "javascript" in mime for mime in output.get("data", {}))
        # base64, of pictures and weights, where any three letters may turn up
        text = re.sub(r"[A-Za-z0-9+/]{200,}", "", text_of(output))
        assert not re.search(r"\d+%\|[█▏▎▍▌▋▊▉# ]*\|", text), "a progress bar is stored"
        assert not MACHINE.search(text), MACHINE.search(text)[0]
        assert not re.search(r"(?<!\.is)NaN(?!;)|nan ", text)  # ``NaN;`` is code of the figures


@pytest.mark.parametrize(
    ("name", "words"), [("07_physionet", "records of the challenge"), ("09_uea", "BasicMotions, the archive")]
)
def test_stored_outputs_are_of_real_data_where_these_may_be_shown(name, words):
    """Executed without the data a chapter shows made-up ones, and its text speaks of what is not to be seen."""
    text = str(outputs(read(name)))
    assert words in text and "made-up" not in text


# -- as pages ----------------------------------------------------------------------------------------------------


def lines_in_boxes(notebook):
    """Yield the lines of code, of printed text and of listings that the page shows, behind a bar or not."""
    for cell in code(notebook):
        if cell in shown(notebook):
            yield from cell.source.splitlines()
        for output in cell.outputs:
            listing = data(output, "text/markdown")
            if listing.startswith("```"):
                yield from listing.splitlines()
            elif not tags(cell) & {"remove-output", "remove-cell"}:
                rich = {"text/html", "text/markdown", "image/png", "image/svg+xml"} & set(output.get("data", {}))
                yield from "" if rich else (output.get("text", "") or data(output, "text/plain")).splitlines()


def test_lines_fit_their_box(chapter):
    _, notebook = chapter
    assert [line for line in lines_in_boxes(notebook) if len(line) > COLUMNS] == []


@pytest.mark.parametrize("page", sorted((ROOT / "book").glob("*.md")), ids=lambda page: page.stem)
def test_commands_fit_their_box(page):
    for kind, block in re.findall(r"^```(.*?)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        if kind in ("", "bash", "python", "text"):
            assert [line for line in block.splitlines() if len(line) > COLUMNS] == []


def test_has_the_order_of_a_chapter(chapter):
    """Title and promise, what differs from the paper, summary, exercises; what was found stands in one place."""
    name, notebook = chapter
    text = prose(notebook)
    assert text.startswith(f"# {name[:2]} · ") and len(re.findall(r"^# ", text, re.M)) == 1
    assert notebook.cells[0].source.startswith("# ")
    headings = [re.split("[:.]", h)[0] for h in re.findall(r"^## (.*)$", text, re.M)]
    wanted = ["What differs from the paper", "Summary", "Exercises"]
    own = {"00_fifteen_minutes", "14_your_own_series"}  # the one shows what others found, the other rests on no paper
    assert [h for h in headings if h in wanted] in (wanted, wanted[1:])
    assert headings[-1] == "Exercises" or headings[-2:] == ["Exercises", "Where to go from here"]
    assert {"Run it yourself", "Train one yourself", "Train it yourself"} & set(headings) or name in own
    found = headings.count("What we found") + sum("**What we found.**" in text_of(o) for o in outputs(notebook))
    assert found == (name in {"03_cls", "04_units", "14_your_own_series", *EXPERIMENTS})
    bullets = re.search(r"^## Summary\n\n((?:- .*\n)+)", text, re.M)[1].strip().splitlines()
    assert 3 <= len(bullets) <= 6
    assert any("romae-explorable" in text_of(output) for output in outputs(notebook)), "a picture to play with"


def test_every_exercise_has_its_solution(chapter):
    """In words: in a box right below, or as comments of the code behind the bar that follows, which was executed."""
    name, notebook = chapter
    cells, asked = exercises(notebook), []
    for i, cell in enumerate(cells):
        tasks = re.split(r"^(?=### \d\.)", cell.source, flags=re.M)[1:] if cell.cell_type == "markdown" else []
        for k, task in enumerate(tasks):
            asked.append(re.match(r"### (\d)\. (.*)", task).groups())
            words = re.search(r"\{dropdown\} Solution\n(.*?)\n(?::::|```)", task, re.S)
            if not words:
                assert k == len(tasks) - 1 and cells[i + 1] in folded(notebook), task[:60]
                words = ["", " ".join(re.findall(r"^ *# (.*)$", cells[i + 1].source, re.M))]
            if name in EXPERIMENTS:
                assert len(words[1].split()) >= 8, f"numbers without an answer in words: {task[:60]}"
    assert [number for number, _ in asked] == [str(i + 1) for i in range(len(asked))] and 3 <= len(asked) <= 5
    assert name not in EXPERIMENTS or any("on paper" in title for _, title in asked)
    assert any(cell.outputs for cell in cells if cell in folded(notebook))


def test_bars_hide_something_and_say_what(chapter):
    """ "Show code cell source" tells nobody anything; a solution is called one."""
    _, notebook = chapter
    for cell in folded(notebook):
        assert len([line for line in cell.source.splitlines() if line.strip()]) >= 3, cell.source
        prompt = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
        assert prompt == "Solution" if cell in exercises(notebook) else prompt, cell.source[:80]
    for cell in exercises(notebook):
        assert set(re.findall(r"\{dropdown\} (.*)", cell.source)) <= {"Solution"}


def pictures(notebook) -> list[tuple[str, str]]:
    """(number, caption) of every figure in its order; "" where it has none."""
    found = []
    for figure in re.findall(r"<figure.*?</figure>", "\n".join(data(o, "text/html") for o in outputs(notebook)), re.S):
        caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
        text = caption[1] if caption else ""
        number = re.search(r'class="romae-number"[^>]*>Figure ([\d.]+)\.</b>', text)
        found.append((number[1] if number else "", re.sub("<b.*?</b>", "", text).strip()))
    return found


def test_figures_and_tables_have_captions_and_are_numbered_in_order(chapter):
    name, notebook = chapter
    found, number = pictures(notebook), int(name[:2])
    assert found and [n for n, _ in found] == [f"{number}.{i + 1}" for i in range(len(found))]
    assert all(len(caption.split()) >= 5 for _, caption in found)
    text = "\n".join([prose(notebook), *(data(output, "text/markdown") for output in outputs(notebook))])
    assert set(re.findall(r"Figure (\d+\.\d+)", text)) <= {n for n, _ in found}
    tables = re.findall(r"<caption>Table (\d+\.\d+)\. ", "\n".join(map(text_of, outputs(notebook))))
    assert tables == [f"{number}.{i + 1}" for i in range(len(tables))]


def test_nothing_of_the_model_is_used_before_it_is_explained(chapter):
    """By the names that open code reads from the library. What a page defines itself it may use."""
    name, notebook = chapter
    for source in () if name in WHOLE else open_code(notebook):
        tree = ast.parse(re.sub(r"^\s*[%!].*$", "pass", source, flags=re.M))
        used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        used |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        early = {n for n in used & set(EXPLAINED) if EXPLAINED[n] > int(name[:2])}
        assert not early, f"{name} uses {sorted(early)} before it is explained"
    if name == "01_rope":  # chapter 02 builds the model; here are rotations and contents only
        words = prose(notebook).split("Next:")[0].lower()
        for word in ("decoder", "mask token", "pre-train"):
            assert words.count(word) <= 1, word  # once, where the paper's baseline is named


def test_reading_takes_as_long_as_the_page_says(chapter):
    """Words at 200 a minute, and the code."""
    name, notebook = chapter
    text = "\n\n".join([prose(notebook), *(data(output, "text/markdown") for output in outputs(notebook))])
    text = re.sub(r"```\{admonition\}.*?```|\$\$.*?\$\$|^ {4}.*?$", "", text, flags=re.S | re.M)
    text = re.sub(r"\$[^$]*\$|\{[\w:]+\}|<[^>]*>|\]\([^)]*\)", " x ", text)
    words, lines = len(re.findall(r"\w[\w'’-]*", text)), sum(len(s.splitlines()) for s in open_code(notebook))
    head = next(cell.source for cell in notebook.cells if "{admonition}" in cell.source)
    minutes = int(re.search(r"\*\*(?:Reading|Time)\*\*: (\d+) minutes", head)[1])
    assert 0.6 * words / 200 <= minutes <= 1.2 * words / 200 + lines / 15, f"{words} words, {lines} lines of open code"


@pytest.mark.parametrize("name", sorted(LESSONS))
def test_an_idea_takes_few_lines_of_code(name):
    """In cells that are open on the page: plots are out of sight, solutions and set-up behind a bar."""
    for source in open_code(read(name)):
        assert len(source.splitlines()) <= 16, source
        assert "plt." not in source and "figures." not in source


BUILT = (
    "frequencies angles rotate Attention FeedForward Block Stack Encoder hide split take RoMAE loss_of train".split()
)


def built(name: str) -> dict[str, str]:
    """The functions and classes that the open code of a chapter makes: name -> its lines, without blank ones."""
    parts = {}
    for source in open_code(read(name)):
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
                parts[node.name] = "\n".join(line for line in lines if line.strip())
    return parts


def test_the_model_is_built_in_pieces_that_can_be_read():
    """Chapter 02: short pieces, shapes beside their lines, 120 lines in all, as its title says."""
    parts = [built("02_model")[name].splitlines() for name in BUILT]
    assert sum(map(len, parts)) <= 120
    assert max(map(len, parts)) <= 22
    assert sum("(B," in line for part in parts for line in part) >= 15


def test_a_piece_that_two_chapters_show_is_one():
    first, second, third = built("00_fifteen_minutes"), built("01_rope"), built("02_model")
    assert all(second[name] == third[name] for name in ("frequencies", "angles", "rotate"))
    assert first["wave"] == third["wave"]


LONG = "x = 1  # " + "y" * 90
FIGURE = '<figure class="romae-figure"><figcaption>five words are enough here</figcaption></figure>'


@pytest.mark.parametrize(
    ("check", "source", "tag", "shows"),
    [
        (test_lines_fit_their_box, LONG, "open", {}),
        (test_lines_fit_their_box, LONG, "hide-cell", {}),
        (test_lines_fit_their_box, "x", "open", {"text/markdown": f"```python\n{LONG}\n```"}),
        (test_lines_fit_their_box, "x", "remove-input", {"text/plain": LONG}),
        (test_bars_hide_something_and_say_what, "x = 1", "hide-input", {}),
        (test_figures_and_tables_have_captions_and_are_numbered_in_order, "x", "open", {"text/html": FIGURE}),
    ],
)
def test_the_checks_can_fail(check, source, tag, shows):
    """Each of them on a page that breaks it, and on none else."""
    output = nbformat.v4.new_output("display_data", data=shows)
    cell = nbformat.v4.new_code_cell(source, outputs=[output] * bool(shows), metadata={"tags": [tag]})
    with pytest.raises(AssertionError):
        check(("00_toy", nbformat.v4.new_notebook(cells=[cell])))


# -- executed ----------------------------------------------------------------------------------------------------


PAPERMILLS = "05_spirals"  # which papermill executes, and nbval at full size alone


@pytest.mark.slow
@pytest.mark.book
@pytest.mark.parametrize(
    ("name", "size"),
    [(name, "small") for name in NOTEBOOKS if name != PAPERMILLS]
    + [pytest.param(name, "full", marks=pytest.mark.weekly) for name in NOTEBOOKS],
)
def test_runs_and_prints_what_it_printed(tmp_path, name, size):
    copy = tmp_path / f"{name}.ipynb"
    copy_for_nbval(NOTEBOOKS[name], copy, SMALL.get(name, {}) if size == "small" else {})
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
        cell("n = 1\nprint(n)", "1\n", "parameters"), cell("print(n)", "1\n", "nbval-check-output"),
        cell("print(n)", "3\n", "hide-cell", "nbval-check-output"), cell("print(n)", "1\n"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    copy_for_nbval(tmp_path / "chapter.ipynb", tmp_path / "copy.ipynb", {"n": 3})
    done = nbval(tmp_path / "copy.ipynb")
    assert done.returncode == 1
    assert "1 failed, 3 passed" in done.stdout and "Cell 1" in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.book
def test_papermill_trains_and_reports(tmp_path):
    """A few steps, from the repository's root: a number for both errors, no trace in the repository, marked cells print
    what they printed, and of the panels that a reader would have (romae_book/notebook/live.py) nothing is stored."""
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "results").rglob("*")}
    out = tmp_path / "out.ipynb"
    small = [word for name, value in SMALL[PAPERMILLS].items() for word in ("-p", name, str(value))]
    command = [sys.executable, "-m", "papermill", f"notebooks/{PAPERMILLS}.ipynb", str(out), *small]
    environment = {name: value for name, value in os.environ.items() if name != "ROMAE_LIVE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    notebook = nbformat.read(out, as_version=4)
    assert "widgets" not in notebook.metadata
    assert not [kind for output in outputs(notebook) for kind in output.get("data", {}) if "widget" in kind]
    assert any("injected-parameters" in tags(cell) and "n_train = 32" in cell.source for cell in notebook.cells)
    marked, stored = (
        ["".join(map(text_of, cell.outputs)) for cell in made.cells if "nbval-check-output" in tags(cell)]
        for made in (notebook, read(PAPERMILLS))
    )
    assert marked == stored and marked
    text = "\n".join(text_of(output) for output in outputs(notebook))
    for metric in ("RMSE to the clean curve", "RMSE to the noisy points"):
        assert re.search(rf"^{metric} +\d+\.\d+", text, re.M), metric
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "results").rglob("*")} == before

"""What can be measured of a chapter's page: line lengths, bars that hide nothing, captions, what is used before it is
explained. test_lessons.py holds 01, 03 and 04 to more."""

import ast
import re

import nbformat
import pytest
from chapters import NOTEBOOKS
from conftest import ROOT

EXPERIMENTS = tuple(
    "05_spirals 06_synthetic 07_physionet 08_pendulum 09_uea 10_elasticc 11_tiny_imagenet 12_esc50 13_speed".split()
)
COLUMNS = 88  # of a code block on the page
MODEL_COLUMNS, MODEL_LINES = 80, 15  # of the cells that build the model
# What a page may name of the package's model, and from which chapter on it has been explained.
EXPLAINED = {
    "angles": 1, "rotate": 1, "frequencies": 1, "PositionEncoding": 1, "RoMAE": 2, "ModelConfig": 2, "hide": 2,
    "split": 2, "take": 2, "masked_loss": 2, "patchify": 2, "fit": 2, "RoMAEPredictor": 3,
}
WHOLE = {0}  # the chapters that use the model as a whole, to show what it is for, before it is taken apart


@pytest.fixture(scope="module", params=sorted(NOTEBOOKS))
def chapter(request):
    return request.param, nbformat.read(NOTEBOOKS[request.param], as_version=4)


def tags(cell) -> set[str]:
    return set(cell.metadata.get("tags", []))


def open_code(notebook) -> list[str]:
    """The sources that a reader sees without a click."""
    out_of_sight = {"remove-input", "remove-cell", "hide-input", "hide-cell"}
    return [c.source for c in notebook.cells if c.cell_type == "code" and not tags(c) & out_of_sight]


def folded(notebook) -> list:
    """The cells behind a bar."""
    return [c for c in notebook.cells if c.cell_type == "code" and tags(c) & {"hide-input", "hide-cell"}]


def printed(notebook) -> list[str]:
    """Lines of text outputs that stand on the page."""
    lines = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or tags(cell) & {"remove-output", "remove-cell"}:
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            shown = output.get("text", "") if output.output_type == "stream" else data.get("text/plain", "")
            rich = {"text/html", "text/markdown", "image/png", "image/svg+xml"} & set(data)
            lines += [] if rich else shown.splitlines()
    return lines


def markdown(notebook) -> str:
    """All prose, generated paragraphs included."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            shown = [output.get("data", {}) for output in cell.get("outputs", ())]
            parts += ["".join(data["text/markdown"]) for data in shown if "text/markdown" in data]
    return "\n\n".join(parts)


def words(notebook) -> int:
    text = re.sub(r"```\{admonition\}.*?```|\$\$.*?\$\$|^ {4}.*?$", "", markdown(notebook), flags=re.S | re.M)
    text = re.sub(r"\$[^$]*\$|\{[\w:]+\}|<[^>]*>|\]\([^)]*\)", " x ", text)
    return len(re.findall(r"\w[\w'’-]*", text))


def pictures(notebook) -> list[tuple[str, str]]:
    """(number, caption) of every figure in its order; "" where it has none."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            page = output.get("data", {}).get("text/html", "")
            for figure in re.findall(r"<figure.*?</figure>", "".join(page), re.S):
                caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
                text = caption[1] if caption else ""
                number = re.search(r'class="romae-number"[^>]*>Figure ([\d.]+)\.</b>', text)
                text = re.sub("<b.*?</b>", "", text)
                found.append((number[1] if number else "", text.strip()))
    return found


def test_code_fits_its_box(chapter):
    _, notebook = chapter
    for source in open_code(notebook):
        for line in source.splitlines():
            assert len(line) <= COLUMNS, line


def test_printed_lines_fit_their_box(chapter):
    _, notebook = chapter
    for line in printed(notebook):
        assert len(line) <= COLUMNS, line


@pytest.mark.parametrize("page", sorted((ROOT / "book").glob("*.md")), ids=lambda page: page.stem)
def test_commands_fit_their_box(page):
    for kind, block in re.findall(r"^```(.*?)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        for line in block.splitlines() if kind in ("", "bash", "python", "text") else ():
            assert len(line) <= COLUMNS, line


def test_code_behind_a_bar_fits_its_box_too(chapter):
    _, notebook = chapter
    for cell in folded(notebook):
        for line in cell.source.splitlines():
            assert len(line) <= COLUMNS, line


def listings(notebook) -> list[str]:
    """Lines of the package's source that the page shows."""
    shown = [o.get("data", {}).get("text/markdown", "") for c in notebook.cells for o in c.get("outputs", ())]
    return [line for text in map("".join, shown) if text.startswith("```") for line in text.splitlines()]


def test_listings_fit_their_box(chapter):
    _, notebook = chapter
    for line in listings(notebook):
        assert len(line) <= COLUMNS, line


@pytest.fixture(scope="module", params=EXPERIMENTS)
def experiment(request):
    return request.param, nbformat.read(NOTEBOOKS[request.param], as_version=4)


def test_an_experiment_has_the_order_of_a_chapter(experiment):
    """What was found comes first; what differs, the summary and the exercises stand where every chapter has them."""
    name, notebook = experiment
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert prose.startswith(f"# {name[:2]} · ")
    headings = [h.partition(":")[0] for h in re.findall(r"^## (.*)$", prose, re.M)]
    wanted = ["What we found", "Train one yourself", "What differs from the paper", "Summary", "Exercises"]
    assert [h for h in headings if h in wanted] == wanted and headings[0] == "What we found"
    bullets = re.search(r"^## Summary\n\n((?:- .*\n)+)", prose, re.M)[1].strip().splitlines()
    assert 4 <= len(bullets) <= 6
    exercises = re.findall(r"^### (\d)\. (.*)$", prose.split("## Exercises")[1], re.M)
    assert [number for number, _ in exercises] == [str(i + 1) for i in range(len(exercises))]
    assert 3 <= len(exercises) <= 5 and any("on paper" in title for _, title in exercises)


def test_every_exercise_has_its_solution(experiment):
    """In words: in a box of its own right below, or as comments of the code behind the bar that follows."""
    _, notebook = experiment
    start = next(i for i, c in enumerate(notebook.cells) if "## Exercises" in c.source)
    asked = 0
    for i, cell in enumerate(notebook.cells[start:], start):
        tasks = re.split(r"^(?=### \d\.)", cell.source, flags=re.M)[1:] if cell.cell_type == "markdown" else []
        for k, task in enumerate(tasks):
            boxed = re.search(r"\{dropdown\} Solution\n(.*?)\n(?::::|```)", task, re.S)
            if boxed:
                words = boxed[1].split()
            else:
                assert k == len(tasks) - 1 and notebook.cells[i + 1] in folded(notebook), task[:60]
                words = " ".join(re.findall(r"^ *# (.*)$", notebook.cells[i + 1].source, re.M)).split()
            assert len(words) >= 8, f"numbers without an answer in words: {task[:60]}"
            asked += 1
    assert asked >= 3


def test_no_bar_hides_next_to_nothing(chapter):
    _, notebook = chapter
    for cell in folded(notebook):
        assert len([line for line in cell.source.splitlines() if line.strip()]) >= 3, cell.source


def test_bars_say_what_they_hide(chapter):
    """ "Show code cell source" tells nobody anything; a solution is called one."""
    _, notebook = chapter
    asked = False
    for cell in notebook.cells:
        asked |= cell.source.startswith("## Exercises") or "\n## Exercises" in cell.source
        if cell in folded(notebook):
            said = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
            assert said == "Solution" if asked else said, cell.source[:80]


def test_every_figure_has_a_caption_and_its_number(chapter):
    name, notebook = chapter
    found = pictures(notebook)
    assert found
    assert [number for number, _ in found] == [f"{int(name[:2])}.{i + 1}" for i in range(len(found))]
    assert all(len(caption.split()) >= 5 for _, caption in found)


def test_figures_that_the_text_names_exist(chapter):
    _, notebook = chapter
    have = {number for number, _ in pictures(notebook)}
    assert set(re.findall(r"Figure (\d+\.\d+)", markdown(notebook))) <= have


def test_nothing_of_the_model_is_used_before_it_is_explained(chapter):
    """By the names that open code reads from the package. What a page defines itself it may use."""
    name, notebook = chapter
    number = int(name[:2])
    if number in WHOLE:
        return
    for source in open_code(notebook):
        tree = ast.parse(re.sub(r"^\s*[%!].*$", "pass", source, flags=re.M))
        used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        used |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
        early = {n for n in used & set(EXPLAINED) if EXPLAINED[n] > number}
        assert not early, f"{name} uses {sorted(early)} before it is explained"


def test_length_is_what_the_page_says(chapter, capsys):
    """Reading time: words at 200 a minute, and the code. Printed, so that a chapter that grows is noticed."""
    name, notebook = chapter
    count, lines = words(notebook), sum(len(s.splitlines()) for s in open_code(notebook))
    head = next(cell.source for cell in notebook.cells if "{admonition}" in cell.source)
    said = int(re.search(r"\*\*(?:Reading|Time)\*\*: (\d+) minutes", head)[1])
    with capsys.disabled():
        print(f"\n{name}: {count} words, {lines} lines of open code; says {said} minutes", end=" ")
    assert 0.6 * count / 200 <= said <= 1.2 * count / 200 + lines / 15


def test_the_model_is_built_in_cells_that_can_be_read():
    """Chapter 02: at most 15 lines of 80 columns, shapes beside them, 120 lines in all."""
    cells = [c.source for c in nbformat.read(NOTEBOOKS["02_model"], as_version=4).cells if c.cell_type == "code"]
    names = "patchify turns Attention FeedForward Block Stack Encoder hide RoMAE loss_of train".split()
    built = [next(c for c in cells if re.match(rf"(def|class) {name}\b", c)) for name in names]
    lines = [[line for line in source.splitlines() if line.strip()] for source in built]
    assert sum(map(len, lines)) <= 120
    for part in lines:
        assert len(part) <= MODEL_LINES, part[0]
        assert all(len(line) <= MODEL_COLUMNS for line in part), part[0]
    assert sum(bool(re.search(r"# .*\((B|N|rows)", s)) or "(B," in s for s in built) >= 8


@pytest.mark.parametrize("kind", ["long", "bar", "number", "folded", "listing"])
def test_the_checks_can_fail(kind):
    """Each of them on a page that breaks it."""
    cell = nbformat.v4.new_code_cell
    figure = '<figure class="romae-figure"><figcaption>five words are enough here</figcaption></figure>'
    page = nbformat.v4.new_output("display_data", data={"text/html": figure})
    listing = nbformat.v4.new_output("display_data", data={"text/markdown": "```python\n" + "y" * 90 + "\n```"})
    made = {
        "long": ([cell("x = 1  # " + "y" * 90)], test_code_fits_its_box),
        "bar": ([cell("x = 1", metadata={"tags": ["hide-input"]})], test_no_bar_hides_next_to_nothing),
        "number": ([cell("x", outputs=[page])], test_every_figure_has_a_caption_and_its_number),
        "folded": (
            [cell("x = 1  # " + "y" * 90, metadata={"tags": ["hide-cell"]})],
            test_code_behind_a_bar_fits_its_box_too,
        ),
        "listing": ([cell("x", outputs=[listing])], test_listings_fit_their_box),
    }
    cells, check = made[kind]
    with pytest.raises(AssertionError):
        check(("00_toy", nbformat.v4.new_notebook(cells=cells)))

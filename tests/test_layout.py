"""The layout of the house: which package and folder may import which."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NAMES, ROOT

# a folder may import what stands before it, and the library
ORDER = ("palette.py", "figures.py", "experiments", "lab", "paper", "explorables", "notebook", "cli")


def imports(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports, at its top or inside a function."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("path", sorted(ROOT.glob("romae_lite/**/*.py")), ids=lambda p: p.name)
def test_the_library_knows_no_book(path):
    if path.name != "__main__.py":  # hands over to the book's command line
        assert not {name for name in imports(path) if name.split(".")[0] in ("romae_book", "pages")}


@pytest.mark.parametrize("folder", ORDER)
def test_folders_import_those_above_them(folder):
    below = {f"romae_book.{name.removesuffix('.py')}" for name in ORDER[ORDER.index(folder) + 1 :]} | {"pages"}
    place = ROOT / "romae_book" / folder
    for path in [place] if place.is_file() else sorted(place.glob("**/*.py")):
        wrong = {name for name in imports(path) for start in below if name == start or name.startswith(f"{start}.")}
        assert not wrong, f"{path.relative_to(ROOT)} imports {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("romae_book/**/*.py")), ids=lambda p: "-".join(p.parts[-2:]))
def test_what_records_draws_nothing(path):
    """Plots are for chapters and pages: a training, its records and the command line do without them."""
    parts = path.relative_to(ROOT / "romae_book").parts
    if parts[0] in ("experiments", "lab", "cli") and parts[-1] != "plots.py":
        drawing = {name for name in imports(path) if {"plots", "matplotlib", "figures"} & set(name.split("."))}
        assert not drawing, f"{path.relative_to(ROOT)} imports {', '.join(sorted(drawing))}"


def test_the_experiments_are_those_that_the_tests_name():
    from romae_book.experiments import experiments

    assert [name for name, cls in experiments().items() if cls.__module__.startswith("romae_book.")] == NAMES


def test_the_command_line_imports_no_experiment():
    """Nor do the tests' own modules: collecting them costs every worker what they import."""
    code = (
        "import sys, romae_book.cli.commands; "
        "assert not [m for m in sys.modules if m.endswith('.experiment') and m.startswith('romae_book.experiments')]"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)

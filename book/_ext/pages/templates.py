"""The templates of generated pages, which lie beside this file; their CSS lies in book/_static/pages.css."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from romae_book.lab.records import load_all, results_dir
from romae_book.paper.report import problem_lines


@cache
def _environment() -> Environment:
    folder = Path(__file__).parent / "templates"
    return Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )


def render(name: str, **values: object) -> str:
    """The HTML of a template; text is escaped."""
    return _environment().get_template(name).render(**values)


def render_records(name: str, root: Path | None = None, experiment: str | None = None, **values: object) -> str:
    """A template that is filled from the records under root, or from those of one experiment, and below it the files
    there that were not used."""
    return render(name, **values) + not_used(root, experiment)


def not_used(root: Path | None = None, experiment: str | None = None) -> str:
    """The files under results/ that are no sound records, with the reason; "" where there are none."""
    root = Path(root or results_dir())
    lines = problem_lines(load_all(root, experiment), root)
    return render("not_used.html", lines=lines) if lines else ""

"""The gallery of the landing page: every chapter with the picture of its first figure that answers."""

import base64
import re
from pathlib import Path

import yaml

from romae_book.explorables.explorable import STILLS

from .templates import render

ROOT = Path(__file__).resolve().parents[3]


def still_of(notebook: Path) -> Path | None:
    """The still picture of the first interactive figure among a notebook's outputs."""
    names = re.findall(r'data-explorable=\\"(\w+)\\"', notebook.read_text(encoding="utf-8"))
    return next((path for name in names if (path := STILLS / f"{name}.webp").is_file()), None)


def chapters_html() -> str:
    parts = yaml.safe_load((ROOT / "book" / "chapters.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in parts for chapter in part["chapters"]]
    for chapter in chapters:
        still = still_of(ROOT / "notebooks" / f"{chapter['file']}.ipynb")
        chapter["picture"] = still and base64.b64encode(still.read_bytes()).decode()
    return render("chapters.html", chapters=chapters)

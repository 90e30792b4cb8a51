"""The page of deviations as data: its entries, who cites them, and the table on top of it.

The page (book/deviations.md) is the only source. An entry is a heading "### D8 · what", then a definition for each of
PARTS.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from . import prose
from .templates import render

DEVIATIONS = Path(__file__).resolve().parents[2] / "deviations.md"
OUTCOME = "Could it change an outcome"
PARTS = ("The paper says", "Their code does", "We do", "Effect", OUTCOME)
ANSWERS = ("yes", "no", "unknown")


@dataclass(frozen=True)
class Deviation:
    """One entry; its parts are Markdown."""

    id: str  # "D8"
    title: str
    section: str
    parts: Mapping[str, str]  # by PARTS

    @property
    def answer(self) -> str:
        """Could it change an outcome: one of ANSWERS."""
        return self.parts[OUTCOME].split(":")[0]


def read(text: str) -> list[Deviation]:
    """The entries in the order of the page. ValueError names the entry that lacks a part, or answers otherwise."""
    found = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        name = section.partition("\n")[0].strip()
        for entry in re.split(r"^### ", section, flags=re.M)[1:]:
            heading, _, body = entry.partition("\n")
            match = re.fullmatch(r"(D\d+) · (.+)", heading.strip())
            if not match:
                continue
            parts = dict(re.findall(r"^(\S[^\n:]*)\n: ([^\n]+)", body, re.M))
            if missing := [part for part in PARTS if part not in parts]:
                raise ValueError(f"{match[1]} lacks {', '.join(missing)}")
            deviation = Deviation(match[1], match[2], name, {part: parts[part] for part in PARTS})
            if deviation.answer not in ANSWERS:
                raise ValueError(f"{match[1]} answers {deviation.answer!r}; it must be one of {', '.join(ANSWERS)}")
            found.append(deviation)
    return found


def citing(notebooks: Iterable[Path]) -> dict[str, list[str]]:
    """Which notebooks name which entry in their text or code: id -> stems, in order."""
    found: dict[str, list[str]] = {}
    for path in sorted(notebooks):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells)
        for name in sorted({f"D{n}" for n in re.findall(r"\bD(\d{1,2})\b(?!\.\d)", source)}):
            found.setdefault(name, []).append(path.stem)
    return found


class Line(NamedTuple):
    """A row of the table, in HTML."""

    id: str
    title: str
    paper: str
    code: str
    chapters: list[str]
    effect: str
    answer: str
    why: str


def table(entries: Iterable[Deviation], cited: Mapping[str, list[str]]) -> list[Line]:
    """The first sentence of each part of each entry, and the chapters that cite it."""
    part = lambda d, name: inline(first(d.parts[name]))  # noqa: E731
    return [
        Line(
            d.id, inline(d.title), part(d, "The paper says"), part(d, "Their code does"), cited.get(d.id, []),
            part(d, "Effect"), d.answer, inline(d.parts[OUTCOME].partition(":")[2]),
        )
        for d in entries
    ]


def table_html(entries: Iterable[Deviation], cited: Mapping[str, list[str]], chapters: str = "") -> str:
    """All entries in one table, each row a link to its text. chapters: folder of their pages, as seen from this one."""
    return render("deviations.html", lines=table(entries, cited), chapters=chapters)


def first(text: str) -> str:
    """The first sentence, without its stop."""
    return re.split(r"\.(?=\s+[A-Z])", text, maxsplit=1)[0].rstrip(".")


def inline(text: str) -> str:
    """The little Markdown of the entries as HTML: code, emphasis, formulas; roles of numbers become numbers, references
    their words, citations go. No links: a row has its own."""
    roles = r"\{(recorded|difference|paper|ours|own|verdict)\}`([^`]*)`"
    text = re.sub(roles, lambda m: getattr(prose, m[1])(m[2]), text)
    text = re.sub(r"\s*\{cite:p\}`[^`]*`", "", text)
    text = re.sub(r"\{cite:t\}`[^`]*`", "the cited work", text)
    text = re.sub(r"\{\w+\}`([^`<]*?)\s*<[^>`]*>`", r"\1", text)
    text = re.sub(r"\{doc\}`(\w+)`", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    parts = re.split(r"(`[^`]+`|\$[^$]+\$)", text)
    for i, part in enumerate(parts):
        if part.startswith("`"):
            parts[i] = f"<code>{html.escape(part[1:-1])}</code>"
        elif part.startswith("$") and len(part) > 1:
            parts[i] = f'<span class="math notranslate nohighlight">\\({html.escape(part[1:-1])}\\)</span>'
        else:
            parts[i] = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", html.escape(part, quote=False))
    return "".join(parts)

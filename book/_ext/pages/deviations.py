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

from . import prose

DEVIATIONS = Path(__file__).resolve().parents[2] / "deviations.md"
OUTCOME = "Could it change an outcome"
PARTS = ("The paper says", "Their code does", "We do", "Effect", OUTCOME)
ANSWERS = ("yes", "no", "unknown")

# On top of the lab records' style, whose class the table has as well.
STYLE = """
.romae-deviations{overflow-x:auto}
.romae-deviations table{table-layout:fixed;width:100%;min-width:34em;font-size:.8em}
.romae-deviations :is(th,td){overflow-wrap:break-word}
.romae-deviations col:nth-child(1){width:16%}
.romae-deviations col:nth-child(2){width:27%}
.romae-deviations col:nth-child(3){width:10%}
.romae-deviations col:nth-child(4){width:28%}
.romae-deviations td>.line{display:block}
.romae-deviations .romae-flag{margin-right:.4em}
.romae-deviations th button{font:inherit;font-weight:600;color:inherit;background:none;border:0;padding:0;
 cursor:pointer;text-align:left;text-decoration:underline dotted}
.romae-deviations+button.all{font:inherit;font-size:.9em;color:inherit;background:none;cursor:pointer;
 border:1px solid currentColor;border-radius:.35em;padding:.4em .8em;margin:.8em 0}
.romae-deviations tr.whole td{padding:.2em 1em 1em 1.6em}
.romae-deviations tr.whole :is(dl,dt,dd,p){font-size:1em;margin-top:.2em;margin-bottom:.2em}
.romae-deviations form{display:flex;flex-wrap:wrap;gap:.5em 1em;align-items:end;font-size:.84em;margin:0 0 .8em}
.romae-deviations label{display:grid;gap:.15em}
.romae-deviations :is(input,select){font:inherit;color:inherit;background:transparent;border:1px solid var(--line);
 border-radius:.35em;padding:.3em .5em;max-width:100%}
.romae-deviations option{color:initial;background:initial}
@media (max-width:640px){
.romae-deviations :is(table,tbody,tr,th,td){display:block;min-width:0;width:auto}
.romae-deviations thead{display:none}
.romae-deviations thead:has(button){display:block}
.romae-deviations thead tr{display:flex;flex-wrap:wrap;gap:.2em .9em}
.romae-deviations tbody tr{border-bottom:1px solid var(--line);padding:.5em 0}
.romae-deviations tr[hidden]{display:none}
.romae-deviations tbody :is(th,td){border:0!important;padding:.1em 0;max-width:none}
.romae-deviations tbody th{font-weight:600}
.romae-deviations td[data-label]::before{content:attr(data-label) " ";opacity:.8}
}
"""


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


def table_html(found: list[Deviation], cited: Mapping[str, list[str]], script: str = "", chapters: str = "") -> str:
    """All entries in one table, each row a link to its text. script: address of what sorts and filters it in the page;
    chapters: folder of the chapters' pages, as seen from this one."""
    heads = ("What", "Paper and code", "Chapters", "Effect", "Could it flip an outcome?")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = ""
    for d in found:
        places = ", ".join(f'<a href="{chapters}{stem}.html">{stem[:2]}</a>' for stem in cited.get(d.id, ()))
        anchor, (answer, _, why) = d.id.lower(), d.parts[OUTCOME].partition(":")
        both = (("The paper", "The paper says"), ("The code", "Their code does"))
        lines = (f'<span class="line">{word}: {inline(first(d.parts[part]))}</span>' for word, part in both)
        cells = (
            ("", "".join(lines)),
            ("Chapters", places or "–"),
            ("Effect", inline(first(d.parts["Effect"]))),
            ("Could it flip an outcome?", f'<span class="romae-flag {answer}">{answer}</span>{inline(why)}'),
        )
        row = "".join(f"<td{_labelled(label)}>{cell}</td>" for label, cell in cells)
        what = f'<a href="#{anchor}">{d.id}</a> · {inline(d.title)}'
        body += f'<tr data-answer="{answer}"><th scope="row">{what}</th>{row}</tr>'
    loads = f'<script src="{script}" defer></script>' if script else ""
    return (
        f'<div class="romae-lab romae-deviations"><table><colgroup>{"<col>" * len(heads)}</colgroup>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{loads}"
    )


def _labelled(label: str) -> str:
    return f' data-label="{label}{":" * (not label.endswith("?"))}"' if label else ""


def first(text: str) -> str:
    """The first sentence, without its stop."""
    return re.split(r"\.(?=\s+[A-Z])", text, maxsplit=1)[0].rstrip(".")


def inline(text: str) -> str:
    """The little Markdown of the entries as HTML: code, emphasis, formulas; roles of numbers become numbers, references
    their words, citations go. No links: a row has its own."""
    text = re.sub(r"\{(recorded|difference|paper|ours|own)\}`([^`]*)`", lambda m: getattr(prose, m[1])(m[2]), text)
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

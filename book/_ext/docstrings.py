"""Docstrings on the page of the package. They are written to be read in a terminal: paragraphs, lists, and tables of
arguments, which are a name, two spaces or more, and what it is, with any further lines indented."""

import re
from collections.abc import Iterator

ARGUMENT = re.compile(r"(?P<name>\w+(?:, \w+)*)(?: {2,}|: )(?P<what>\S.*)")


def rst(docstring: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText, which knows no such tables and gives `*` a meaning."""
    lines = []
    for i, block in enumerate(_blocks(docstring)):
        if i == 0:  # a sentence, even with a colon in it
            lines += [_text(" ".join(line.strip() for line in block)), ""]
        elif block[0].startswith(">>>"):
            lines += [*block, ""]
        elif items := _items(block, bullet=re.compile(r"\* (?P<name>)(?P<what>.*)")):
            lines += [line for _, what in items for line in (f"* {_text(what)}", "")]
        elif items := _items(block, bullet=ARGUMENT):
            for name, what in items:
                lines += [", ".join(f"``{one.strip()}``" for one in name.split(",")), f"    {_text(what)}", ""]
        else:
            lines += [_text(" ".join(line.strip() for line in block)), ""]
    return lines


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """What stands between empty lines."""
    block = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def _items(block: list[str], bullet: re.Pattern) -> list[tuple[str, str]]:
    """(name, text) of a list; empty where a line that is not indented is no item."""
    items = []
    for line in block:
        if line.startswith(" ") and items:
            items[-1] = (items[-1][0], f"{items[-1][1]} {line.strip()}")
        elif item := bullet.fullmatch(line):
            items.append((item["name"], item["what"]))
        else:
            return []
    return items


def _text(words: str) -> str:
    """Code stays code; what else has a meaning in reStructuredText loses it."""
    parts = re.split(r"`+([^`]+)`+", words)
    plain = [re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
    return "".join(p + (f"``{code}``" if code else "") for p, code in zip(plain, [*parts[1::2], ""], strict=True))


def process(app, what, name, obj, options, lines):
    lines[:] = rst(lines)


def skip(app, what, name, obj, skipped, options):
    """What scikit-learn puts into every estimator is explained there."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def setup(app):
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

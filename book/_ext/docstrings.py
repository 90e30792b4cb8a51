"""Docstrings on the page of the package: numpydoc, in which code is `code` and a * is a *."""

import re

from sphinx.ext.napoleon import Config, NumpyDocstring

CONFIG = Config(napoleon_use_param=False, napoleon_use_rtype=False)


def rst(docstring: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText, which gives *, | and _ a meaning."""
    lines = [line if line.lstrip().startswith(">>>") else _plain(line) for line in docstring]
    return NumpyDocstring(lines, CONFIG).lines()


def _plain(line: str) -> str:
    parts = re.split(r"`+([^`]+)`+", line)
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

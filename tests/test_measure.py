"""What a chapter measures: counted on a notebook whose counts are known."""

import json

import measure
import pytest
from conftest import ROOT


def test_words_numbers_and_lines_are_counted(tmp_path):
    def cell(kind, source, *tags):
        return {"cell_type": kind, "source": source, "metadata": {"tags": list(tags)}}

    title = "# 07 · Four words of title\n\nThe error is 0.34, of Table 1, and $x = 2$.\n\n$$\ny = 3\n$$ (eq-a)"
    task = ":::{dropdown} Solution\nNot 4 of these.\n:::\n\nSee {doc}`chapter 02 </notebooks/02_model>`."
    cells = [
        cell("markdown", title), cell("markdown", task), cell("code", "a = 1\n\nb = 2"),
        cell("code", "c = 3", "hide-input"), cell("code", "d = 4\ne = 5", "remove-input"),
    ]
    path = tmp_path / "07_x.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert measure.code(path) == (2, 1, 2)
    words, numbers = measure.reading(path)
    # "Four words of title", "The error is of Table and x", "See x": the title's 07 and 0.34 are numbers
    assert words == 4 + 7 + 2 and numbers == 100 * 2 / words


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_a_chapter_is_read_in_a_quarter_of_an_hour(path):
    words, numbers = measure.reading(path)
    assert words <= 1600 and numbers <= 4

"""The page of deviations is whole, what cites it exists, and its table says what its entries say."""

import json
import re
from functools import cache

import pytest
from conftest import NAMES, ROOT
from pages.deviations import ANSWERS, DEVIATIONS, OUTCOME, PARTS, citing, first, inline, read, table, table_html
from pages.lab_record import deviations_markdown

from romae_book.experiments import experiments
from romae_book.lab.records import load_all

TEXT = DEVIATIONS.read_text(encoding="utf-8")
ENTRIES = read(TEXT)


@cache
def the_table() -> str:
    return table_html(ENTRIES, citing(ROOT.glob("notebooks/*.ipynb")), chapters="../notebooks/")


def test_numbers_are_unique_and_consecutive():
    assert sorted(int(d.id[1:]) for d in ENTRIES) == list(range(1, len(ENTRIES) + 1))
    assert len(ENTRIES) == len(re.findall(r"^### ", TEXT, re.M))  # no heading of another form


def test_every_entry_answers_and_has_an_anchor():
    for d in ENTRIES:
        assert d.answer in ANSWERS and d.parts[OUTCOME].partition(": ")[2], d.id
        assert f"\n({d.id.lower()})=\n### {d.id} · " in TEXT


@pytest.mark.parametrize("name", NAMES)
def test_every_deviation_that_an_experiment_or_a_record_names_exists(name):
    known = {d.id for d in ENTRIES}
    assert set(experiments()[name].deviations) <= known
    assert {d for record in load_all(experiment=name).records for d in record.deviations} <= known


def test_a_name_that_the_page_lacks_is_refused():
    assert deviations_markdown(["D10", "D8"]).splitlines()[0].startswith("- {ref}`D8 <d8>` · ")
    with pytest.raises(ValueError, match="D999"):
        deviations_markdown(["D1", "D999"])


def test_an_entry_that_is_not_whole_is_refused():
    whole = "## A\n\n### D1 · what\n\n" + "\n\n".join(f"{part}\n: yes: so" for part in PARTS)
    assert read(whole)[0].answer == "yes" and read(whole)[0].section == "A"
    with pytest.raises(ValueError, match="D1 lacks Effect"):
        read(whole.replace("Effect\n", "Impact\n"))
    with pytest.raises(ValueError, match="D1 answers 'perhaps'"):
        read(whole.replace(f"{OUTCOME}\n: yes", f"{OUTCOME}\n: perhaps"))


def test_the_table_has_a_full_row_for_every_entry():
    lines = table(ENTRIES, {"D8": ["05_spirals"]})
    for d, line in zip(ENTRIES, lines, strict=True):
        texts = [re.sub(r"<[^>]+>", "", part) for part in (line.title, line.paper, line.code, line.effect, line.why)]
        assert line.id == d.id and line.answer == d.answer and all(text.strip() for text in texts[:4]), d.id
        assert not re.search(r"\{\w+\}`|`|\$", "".join(texts)), d.id  # no Markdown is left
        assert line.chapters == ["05_spirals"] * (d.id == "D8")
    assert the_table().count("<tr data-answer") == len(ENTRIES)


def test_chapters_that_cite_are_found(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["see {ref}`D8 <d8>`, ", "appendix D.9"]},
        {"cell_type": "code", "source": "# D12", "outputs": [{"text": "D30"}]},
    ]
    (tmp_path / "05_x.ipynb").write_text(json.dumps({"cells": cells}))
    assert citing(tmp_path.glob("*.ipynb")) == {"D8": ["05_x"], "D12": ["05_x"]}


def test_markdown_of_entries_becomes_html():
    assert inline("a *b* in {doc}`chapter 01 </notebooks/01_rope>` {cite:p}`x`") == "a <em>b</em> in chapter 01"
    assert inline("{ref}`D8 <d8>`, `a<b` and [c](https://x.org)") == "D8, <code>a&lt;b</code> and c"
    assert "\\(10^{-3}\\)" in inline("in $10^{-3}$")
    assert first("a (D.9) of 0.5. Then b.") == "a (D.9) of 0.5"


def test_the_table_sorts_and_filters_in_the_page(browser):
    tab = browser.new_page()
    script = (ROOT / "book" / "_static" / "deviations.js").read_text(encoding="utf-8")
    tab.set_content(f"<body>{the_table()}<script>{script}</script></body>")
    ids = lambda: tab.locator("tbody tr:visible th a").all_inner_texts()  # noqa: E731
    assert ids() == [d.id for d in ENTRIES]
    tab.get_by_role("button", name="What").press("Enter")
    assert ids() == [f"D{i}" for i in range(1, len(ENTRIES) + 1)]
    tab.get_by_role("button", name="What").press("Enter")
    assert ids()[0] == f"D{len(ENTRIES)}"
    tab.get_by_label("Could it flip an outcome?").select_option("yes")
    assert set(ids()) == {d.id for d in ENTRIES if d.answer == "yes"}
    tab.get_by_label("Effect").select_option("not measured")
    assert set(ids()) == {d.id for d in ENTRIES if d.answer == "yes" and d.parts["Effect"].startswith("not measured")}
    assert tab.locator("output").inner_text() == f"{len(ids())} of {len(ENTRIES)}"
    tab.close()


def test_a_row_opens_to_its_entry_in_the_page(browser):
    """By pointer and by keyboard; sorting and filtering close it. What has no text on the page stays a link."""
    tab = browser.new_page()
    script = (ROOT / "book" / "_static" / "deviations.js").read_text(encoding="utf-8")
    entry = "<section><span id=d1></span><dl><dt id=x>We do</dt><dd>as their code</dd></dl></section>"
    tab.set_content(f"<body>{the_table()}{entry}<script>{script}</script></body>")
    first, whole = tab.locator("tbody a[href='#d1']").first, tab.locator("tr.whole")
    assert first.get_attribute("aria-expanded") == "false"
    for press in (first.click, lambda: first.press("Enter"), lambda: first.press(" ")):
        press()
        assert "as their code" in whole.inner_text() and first.get_attribute("aria-expanded") == "true"
        assert tab.locator("[id=x]").count() == 1
        press()
        assert whole.count() == 0 and first.get_attribute("aria-expanded") == "false"
    first.click()
    tab.get_by_label("Could it flip an outcome?").select_option("yes")
    assert next(d for d in ENTRIES if d.id == "D1").answer != "yes" and whole.count() == 0
    tab.get_by_label("Could it flip an outcome?").select_option("all")
    first.click()
    tab.get_by_role("button", name="What").click()
    assert whole.count() == 0
    assert tab.locator("tbody a[href='#d2']").first.get_attribute("aria-expanded") is None
    tab.close()

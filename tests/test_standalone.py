"""Figures that are pages of their own: whole, small, and answering, without the site around them."""

import re

import pytest
from standalone import FIGURES, list_html, page


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_is_one_small_file(name):
    text = page(name, "https://owner.github.io/book/figures/", "The book")
    assert len(text.encode()) <= 300_000
    assert not re.findall(r'(?:src|href)="(?!data:|https://owner|\.\./)', text)  # nothing beside it is needed
    assert f'href="https://owner.github.io/book/figures/{name}.html"' in text and 'name="description"' in text


def test_the_list_names_and_embeds_all():
    text = list_html("https://owner.github.io/book/figures/")
    assert all(f"figures/{name}.html&quot;" in text for name in FIGURES) and text.count("<li>") == len(FIGURES)
    assert "…/" in list_html()  # without a public address a reader puts in their own


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("name", FIGURES)
def test_it_answers_in_both_schemes_and_fits_a_phone(browser, site, name, scheme, width):
    tab = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    problems = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or problems.append(r.url))
    tab.goto((site / "figures" / f"{name}.html").as_uri())
    tab.wait_for_selector(".romae-explorable[data-ready]")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width and problems == []
    assert tab.evaluate("document.documentElement.dataset.theme") == scheme
    assert (site / tab.locator("footer a").get_attribute("href").removeprefix("../")).is_file()
    tab.close()

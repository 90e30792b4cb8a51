"""Lecture mode: a button makes the page large, arrow keys step, a figure keeps its own keys, Escape ends it."""

from itertools import pairwise

import pytest


@pytest.mark.usefixtures("browser")
def test_arrow_keys_lead_through_a_page(browser, site):
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    problems = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto((site / "notebooks" / "01_rope.html").as_uri())
    size = "parseFloat(getComputedStyle(document.querySelector('.bd-article p')).fontSize)"
    before = tab.evaluate(size)
    tab.get_by_role("button", name="Lecture").click()
    sign = tab.locator(".romae-lecture-sign")
    count = int(sign.inner_text().split()[2])
    assert sign.inner_text().startswith("1 / ") and count > 10
    assert tab.evaluate(size) > 1.2 * before and not tab.locator(".bd-sidebar-primary").is_visible()
    places = []
    for step in range(2, 12):
        tab.keyboard.press("ArrowRight")
        assert sign.inner_text().startswith(f"{step} / {count}")
        places.append(tab.evaluate("scrollY"))
    assert all(before < after for before, after in pairwise(places)), places  # no step leads back, none does nothing
    tab.keyboard.press("ArrowLeft")
    assert sign.inner_text().startswith("10 / ")
    slider = tab.locator(".romae-explorable[data-ready] input[type=range]").first
    slider.focus()
    value = slider.input_value()
    tab.keyboard.press("ArrowRight")
    assert slider.input_value() != value and sign.inner_text().startswith("10 / ")
    slider.blur()
    tab.keyboard.press("Escape")
    assert sign.count() == 0 and tab.evaluate(size) == before and problems == []
    tab.close()


def test_a_figure_with_steps_is_walked_through_first(browser, site):
    """Also once something in it has the keyboard; after its last step the page goes on."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((site / "notebooks" / "02_model.html").as_uri() + "?lecture")
    sign, bar = tab.locator(".romae-lecture-sign"), tab.locator("[data-explorable=walk] [data-steps]").first
    bar.wait_for()
    tab.keyboard.press("ArrowRight")
    place = sign.inner_text()
    for step in range(1, 4):
        tab.keyboard.press("ArrowRight")
        assert (bar.get_attribute("aria-valuenow"), sign.inner_text()) == (str(step), place)
    tab.get_by_role("button", name="next").first.focus()
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    assert (bar.get_attribute("aria-valuenow"), sign.inner_text()) == ("7", place)
    tab.keyboard.press("ArrowRight")
    assert sign.inner_text() != place
    tab.close()


@pytest.mark.usefixtures("browser")
def test_a_lecture_begins_at_what_its_address_asks_for(browser, site):
    """The counter says where that is, also when a link on the page leads elsewhere."""
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto((site / "notebooks" / "02_model.html").as_uri() + "?lecture#learn_to_fill:depth=2")
    sign = tab.locator(".romae-lecture-sign")
    sign.wait_for()
    at = int(sign.inner_text().split()[0])
    assert at > 10
    tab.evaluate("location.hash = '#walk:step=3'")
    tab.wait_for_function("at => +document.querySelector('.romae-lecture-sign').textContent.split(' ')[0] < at", arg=at)
    steps = tab.locator("[data-explorable=walk] [data-steps]").first
    tab.locator("[data-explorable=walk] [data-steps][aria-valuenow='3']").first.wait_for()  # the figure has come, too
    tab.keyboard.press("ArrowRight")
    assert steps.get_attribute("aria-valuenow") == "4"
    tab.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_a_figure_that_a_link_opens_begins_below_the_bar(browser, site, width, height):
    """Also where it is higher than the window, and where figures above it come in late."""
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.goto((site / "notebooks" / "04_units.html").as_uri() + "#position_scale:")
    tab.wait_for_selector("[data-explorable=position_scale][data-ready]")
    tab.wait_for_timeout(1500)
    top = tab.locator("[data-explorable=position_scale]").bounding_box()["y"]
    bar = tab.locator(".bd-header-article").bounding_box()
    assert bar["y"] + bar["height"] <= top < height / 2
    tab.close()

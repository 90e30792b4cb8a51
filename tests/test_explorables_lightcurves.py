"""The figure of chapter 10 against numbers computed in Python, moved by keyboard."""

import numpy as np
import pytest
from figures import state

from romae_book.experiments.lightcurves.data import load
from romae_book.explorables.lightcurves import fold

DATA = fold.payload()


def test_points_are_the_surveys():
    curves, star = load("rr_lyrae"), DATA["stars"][1]
    part = curves.points(fold.STARS[1])
    kept = (curves.band[part] > 0) & (curves.band[part] < 4)
    assert len(star["time"]) == kept.sum()
    np.testing.assert_allclose(np.diff(star["time"]), np.diff(curves.time[part][kept]), atol=1.1e-4)


@pytest.mark.parametrize("star", DATA["stars"])
def test_a_star_is_smoothest_at_its_period(star):
    """Against periods that turn the star up to three times more or less, and a day off."""
    turns = np.linspace(-fold.REACH, fold.REACH, 25)
    rough = [fold.roughness(star, 1 / (1 / star["period"] + n / star["span"])) for n in turns]
    assert np.argmin(rough) == 12 and rough[12] < 0.6 * np.median(rough)


def test_the_page_computes_what_python_computes(visit):
    page = visit(fold.explorable().html())
    slider = page.locator("input[type=range]")
    for key in (None, "Home", "End", "ArrowLeft"):
        if key:
            slider.press(key)
        now = state(page)
        star = DATA["stars"][now["star"] - 1]
        period = 1 / (1 / star["period"] + now["turns"] / star["span"])
        assert now["period"] == f"{period:.6f}"
        assert float(now["roughness"]) == pytest.approx(fold.roughness(star, period), abs=6e-4)  # three digits
    page.get_by_role("button", name="star 3").click()
    page.get_by_role("button", name="A day off").click()
    now, star = state(page), DATA["stars"][2]
    assert now["star"] == 3 and now["alias"] is True
    period = 1 / (1 / star["period"] + now["turns"] / star["span"] + 1.0027379)
    assert now["period"] == f"{period:.6f}"

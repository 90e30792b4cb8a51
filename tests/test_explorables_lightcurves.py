"""The figure of chapter 10 against numbers computed in Python, moved by keyboard."""

import numpy as np
import pytest
import torch
from figures import state

from romae_book.experiments.base import weights_of
from romae_book.experiments.lightcurves.data import load
from romae_book.experiments.lightcurves.experiment import places
from romae_book.experiments.lightcurves.folding import TESTED, dealt
from romae_book.explorables.lightcurves import fold
from romae_book.explorables.weights import of_bytes
from romae_lite.model import interpolate
from romae_lite.tokens import Tokens


def kept() -> dict[str, np.ndarray]:
    """What a run leaves: weights that learnt nothing."""
    return weights_of(fold.RUN.build(0))


@pytest.fixture(scope="module")
def model():
    """Weights large enough for every part to matter."""
    made, generator = fold.RUN.build(0).eval(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in made.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
    return made


@pytest.fixture(scope="module")
def figure(model):
    return fold.explorable(model, 0)


def roughness(star: dict, period: float, bands: list) -> float:
    """Mean change, in magnitudes, from one point of a band to the next in the order of phase."""
    time, value, band = (np.array(star[name]) for name in ("time", "value", "band"))
    steps = []
    for k, _ in bands:
        order = np.argsort(time[band == k] / period % 1, kind="stable")
        steps.append(star["spread"] * np.abs(np.diff(value[band == k][order])))
    return float(np.concatenate(steps).mean())


def test_points_are_the_surveys_and_the_hidden_ones_are_tested(figure):
    curves, seen = load("rr_lyrae"), figure.data["stars"][1]
    star, part = dealt(0, "visits")[fold.STARS[1]], curves.points(fold.STARS[1])
    kept = star.role != 1
    assert len(seen["time"]) == kept.sum() and sum(seen["hidden"]) == (star.role == TESTED).sum()
    middle = {k: np.median(curves.value[part][(star.role == 0) & (curves.band[part] == k)]) for k in range(5)}
    heights = np.array([middle[k] for k in curves.band[part]]) - curves.value[part]
    order = np.argsort(curves.time[part][kept], kind="stable")
    np.testing.assert_allclose(-np.array(seen["value"]) * seen["spread"], heights[kept][order], atol=2e-3)
    np.testing.assert_allclose(np.diff(seen["time"]), np.diff(curves.time[part][kept][order]), atol=1.1e-4)


@pytest.mark.parametrize("star", range(len(fold.STARS)))
def test_a_star_is_smoothest_at_its_period(figure, star):
    """Against periods that turn the star up to three times more or less."""
    star, turns = figure.data["stars"][star], np.linspace(-fold.REACH, fold.REACH, 25)
    rough = [roughness(star, 1 / (1 / star["period"] + n / star["span"]), figure.data["bands"]) for n in turns]
    assert np.argmin(rough) == 12 and rough[12] < 0.6 * np.median(rough)


def said(model, star: dict, period: float, bands: list) -> tuple[float, np.ndarray]:
    """What PyTorch says of hidden points that are drawn, root mean square in magnitudes, and along the curve in g."""
    time, value, error, band, hidden = (np.array(star[n]) for n in ("time", "value", "error", "band", "hidden"))
    off = (hidden == 1) & np.isin(band, [k for k, _ in bands])
    kept = hidden == 0
    where = torch.from_numpy(places(band, time, period, radius=fold.RUN.radius))
    seen = Tokens(values=torch.from_numpy(np.stack((value, error), 1)[kept]).float()[None], positions=where[kept][None])
    guess = interpolate(model, seen, where[off][None])[0, :, 0].double().numpy()
    phase = np.arange(fold.PLACES) / fold.PLACES
    asked = torch.from_numpy(places(np.ones(len(phase)), np.zeros(len(phase)), None))
    turned = 2 * np.pi * torch.from_numpy(phase)[:, None]
    asked = torch.cat((asked, fold.RUN.radius * turned.cos(), fold.RUN.radius * turned.sin()), 1)
    curve = interpolate(model, seen, asked[None])[0, :, 0].double().numpy()
    return star["spread"] * np.sqrt(np.mean((guess - value[off]) ** 2)), -star["spread"] * curve


def test_the_page_computes_what_python_computes(visit, figure, model):
    there = of_bytes(figure.data["model"], fold.RUN.build(0))
    page = visit(figure.html())
    slider = page.locator("input[type=range]")

    def check(now: dict, period: float) -> None:
        star = figure.data["stars"][now["star"] - 1]
        assert now["period"] == f"{period:.6f}"
        rough = roughness(star, period, figure.data["bands"])
        assert float(now["roughness"]) == pytest.approx(rough, abs=6e-4)  # three digits
        miss, curve = said(there, star, period, figure.data["bands"])
        # the phase is the same to 1e-10 of a turn; PyTorch computes in single precision
        assert float(now["miss"]) == pytest.approx(miss, abs=1e-3 * max(miss, 1))
        np.testing.assert_allclose(now["curve"], curve, atol=1e-3 * np.abs(curve).max())

    for key in (None, "Home", "End", "ArrowLeft"):
        if key:
            slider.press(key)
        now = state(page)
        star = figure.data["stars"][now["star"] - 1]
        check(now, 1 / (1 / star["period"] + now["turns"] / star["span"]))
    page.get_by_role("button", name=f"star {figure.data['stars'][2]['number']},").click()
    page.get_by_role("button", name="A day off").click()
    now, star = state(page), figure.data["stars"][2]
    assert now["star"] == 3 and now["alias"] is True
    check(now, 1 / (1 / star["period"] + now["turns"] / star["span"] + 1))

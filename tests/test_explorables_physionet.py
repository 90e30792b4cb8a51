"""The patient of chapter 07: what the page shows, against Python."""

import numpy as np
import pytest
import torch
from figures import state
from oracles import physionet as oracle_physionet

from romae_book.experiments.physionet import rivals as predictors
from romae_book.experiments.physionet.data import CHANNELS, HORIZON
from romae_book.experiments.physionet.experiment import PhysioNet
from romae_book.explorables.physionet import figure as patient
from romae_book.lab import records
from romae_lite.tokens import Tokens

K = 7


@pytest.fixture(scope="module")
def trained():
    """A model that was never trained, its data, and its arrays."""
    exp = PhysioNet.quick().replace(patients=60, encoder="16x2x1x32", decoder="16x2x1x32")
    model, data = exp.build(0), exp.data(0)
    return exp, model, data, exp.arrays(model, data)


def made_up(seed: int = 0) -> dict[str, np.ndarray]:
    """Arrays laid out as the recorded ones, of three patients that do not exist. No model was asked."""
    rng, lengths = np.random.default_rng(seed), (90, 120, 60)
    parts = []
    for n in lengths:
        minute = np.sort(rng.integers(0, HORIZON + 1, n))
        unit = np.unique(minute, return_inverse=True)[1]
        channel = rng.choice([*range(4, 14), 19], n)
        parts.append((minute, channel, rng.normal(size=n), rng.permutation(unit.max() + 1)[unit]))
    minute, channel, value, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
    levels = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
    shown = np.array([np.rint(levels * (p[3].max() + 1)).astype(int) for p in parts])
    return dict(
        minute=minute, channel=channel, value=value, rank=rank, shown=shown, levels=levels, grid=np.arange(0, 2881, 60),
        romae=value + rng.normal(0, 0.5, (K, len(value))), chosen=np.tile([19, 4, 5, 6, 7, 8], (3, 1)),
        curve=rng.normal(size=(3, K, 6, 49)), mean=np.arange(41.0), std=np.full(41, 2.0),
        start=np.cumsum([0, *lengths]),
    )


def figure():
    return patient.explorable(made_up())


def test_errors_are_those_of_the_baselines(trained):
    """The arrays of the experiment, scored by the figure, against the experiment's own predictors and metric."""
    exp, model, data, arrays = trained
    page = patient.payload(arrays)
    for p in range(3):
        part = slice(arrays["start"][p], arrays["start"][p + 1])
        n = part.stop - part.start
        one = next(
            data.test[i : i + 1] for i in range(len(data.test)) if int(data.test.real[i].sum()) == n
            and np.array_equal(data.test.values[i, :n, 0].numpy(), arrays["value"][part])
        )
        for k in range(K):
            hidden = torch.zeros(1, one.values.shape[1], dtype=torch.bool)
            hidden[0, :n] = torch.from_numpy(arrays["rank"][part] >= arrays["shown"][p, k])
            one.aux["hidden"] = hidden
            found = oracle_physionet.errors(page, p, k)
            for name, guess in (
                ("romae", exp.predict(model, one, hidden)),
                ("linear", predictors.linear(one, hidden.numpy())),
                ("mean", predictors.mean(one, hidden.numpy())),
            ):
                # values and predictions travel rounded to 0.01, which moves a squared error of about 1 by less
                assert found[name] == pytest.approx(exp.score(guess, one)["mse"], rel=0.02, abs=0.01)


def test_curve_is_what_the_model_says_there(trained):
    """A curve's points, asked for one by one."""
    exp, model, data, arrays = trained
    part, k, p = slice(arrays["start"][1], arrays["start"][2]), 4, 1
    seen = arrays["rank"][part] < arrays["shown"][p, k]
    position = np.stack((arrays["minute"][part] / HORIZON * exp.position_scale, arrays["channel"][part]), -1)[seen]
    queries = [(g / HORIZON * exp.position_scale, c) for c in arrays["chosen"][p] for g in arrays["grid"]]
    tokens = Tokens(
        values=torch.cat((torch.from_numpy(arrays["value"][part][seen]), torch.zeros(len(queries))))[None, :, None],
        positions=torch.from_numpy(np.concatenate((position, np.array(queries))))[None],
    )
    hidden = torch.arange(tokens.values.shape[1])[None] >= seen.sum()
    expected = exp.predict(model, tokens, hidden)[0, seen.sum() :].reshape(6, 49)
    np.testing.assert_allclose(arrays["curve"][p, k], expected, atol=1e-5)  # float32


def test_arrays_are_small_and_uncover_whole_minutes(trained, tmp_path):
    _, _, _, arrays = trained
    records.save_arrays(tmp_path / "a.npz", **arrays)
    for p in range(3):
        part = slice(arrays["start"][p], arrays["start"][p + 1])
        assert len(set(zip(arrays["minute"][part], arrays["rank"][part], strict=True))) == len(
            set(arrays["minute"][part])
        )
        assert (np.diff(arrays["shown"][p]) > 0).all()
        assert len(set(arrays["chosen"][p])) == 6


# In the browser -----------------------------------------------------------------------------------------------------


def test_numbers_agree_with_python_by_keyboard(visit):
    data = figure().data
    page = visit(figure().html())
    opening = [oracle_physionet.errors(data, p, 4) for p in range(3)]
    gains = [errors["linear"] / errors["romae"] for errors in opening]
    assert (state(page)["level"], state(page)["patient"]) == (4, 1 + int(np.argmax(gains)))
    for p in range(3):
        page.get_by_role("button", name=f"Patient {p + 1}").press("Enter")
        page.locator("input[type=range]").press("Home")
        for k in range(K):
            now, expected = state(page), oracle_physionet.errors(data, p, k)
            assert (now["patient"], now["level"]) == (p + 1, k)
            for name, value in expected.items():
                # both sides round to three digits, sums in another order
                assert float(now[f"mse_{name}"]) == pytest.approx(value, abs=0.00051)
                assert now[f"mse_{name}"] in page.locator(".romae-legend").inner_text()
            ranks = np.array(data["patients"][p]["rank"])
            assert now["seen"] == int((ranks < data["patients"][p]["shown"][k]).sum())
            page.locator("input[type=range]").press("ArrowRight")


def test_points_channels_and_curves(visit):
    """Seen points are filled; channels are chosen, at least one; a curve is switched off in the panels alone."""
    data, page = figure().data["patients"][0], visit(figure().html())
    page.get_by_role("button", name="Patient 1").click()
    filled = """() => [...document.querySelectorAll(".pt-panel circle")]
      .filter(circle => getComputedStyle(circle).fill !== "none").length"""
    chosen = np.isin(data["channel"], data["chosen"][:3])
    for k, key in ((0, "Home"), (K - 1, "End")):
        page.locator("input[type=range]").press(key)
        assert page.locator(".pt-panel circle").count() == chosen.sum()
        assert page.evaluate(filled) == (chosen & (np.array(data["rank"]) < data["shown"][k])).sum()
    names = [CHANNELS[c] for c in made_up()["chosen"][0]]
    assert state(page)["channels"] == names[:3] and page.locator(".pt-panel").count() == 3
    for name in (names[4], *names[:3], names[4]):  # the last one stays
        page.get_by_role("button", name=name, exact=True).click()
    assert state(page)["channels"] == [names[4]] and page.locator(".pt-panel").count() == 1
    assert page.locator("path.pt-linear").count() == 2  # the panel and the graph of errors
    page.locator(".romae-legend button", has_text="straight lines").click()
    assert state(page)["shown"]["linear"] is False and page.locator(".pt-panel path.pt-linear").count() == 0

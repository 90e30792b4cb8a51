"""The RR Lyrae folded: what is seen and what is asked for, the circle, and other ways to fill points in."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch
from scipy.interpolate import interp1d

from romae_book.experiments.lightcurves import data, features, folding
from romae_book.experiments.lightcurves.folding import CHOSEN, SEEN, TESTED, Folding

pytestmark = pytest.mark.skipif(find_spec("astropy") is None, reason="finds periods by astropy")
RNG = np.random.default_rng(0)
MEASURED = data.load
SMALL = dict(encoder="32x2x1x24", decoder="32x2x1x24", epochs=1)


@pytest.fixture(autouse=True)
def few_stars(monkeypatch):
    """Three stars that swing as sines, in two bands."""
    made = []
    for period in (0.31, 0.52, 0.67):
        time, band = np.sort(RNG.uniform(0, 400, 160)), RNG.integers(0, 2, 160)
        value = 15 + band + 0.4 * np.sin(2 * np.pi * time / period) + RNG.normal(0, 0.02, 160)
        made.append(dict(time=time, value=value, error=np.full(160, 0.02), band=band, label=0, period=period))
    curves = data.gathered(made, ("g", "r"), ("ab",))
    monkeypatch.setattr(data, "load", lambda name: curves)
    folding.observed.cache_clear()
    yield curves
    folding.observed.cache_clear()


def test_what_is_asked_for_changes_nothing_that_the_model_is_given(few_stars):
    """Other values at the test's points: the same period, spread, and tokens to learn from."""
    before, stars = Folding(**SMALL).data(0), folding.observed(0)
    value = few_stars.value.copy()
    for i, star in enumerate(stars):
        value[few_stars.points(i)][star.role == TESTED] += 3
    object.__setattr__(few_stars, "value", value)
    folding.observed.cache_clear()
    after = Folding(**SMALL).data(0)
    for a, b in ((before.train, after.train), (before.valid, after.valid)):
        assert torch.equal(a.values, b.values) and torch.equal(a.positions, b.positions)
    seen = ~before.test.aux["hidden"]
    assert torch.equal(before.test.values[seen], after.test.values[seen])
    assert not torch.equal(before.test.values, after.test.values)


def test_roles_divide_the_points():
    splits = Folding(**SMALL).data(1)
    for i, star in enumerate(folding.observed(1)):
        count = np.bincount(star.role, minlength=3)
        for part, asked in ((splits.valid, CHOSEN), (splits.test, TESTED)):
            assert part.real[i].sum() == count[SEEN] + count[asked] and part.aux["hidden"][i].sum() == count[asked]
        assert splits.train.real[i].sum() == count[SEEN]


def test_a_turn_later_is_the_same_place_on_the_circle():
    exp = Folding(**SMALL)
    test = exp.data(0).test
    x, y = test.positions[..., 2][test.real], test.positions[..., 3][test.real]
    assert torch.allclose(x.hypot(y), torch.tensor(exp.radius).double())
    period = test.aux["period"][:, None].expand_as(test.real)[test.real]
    phase = test.positions[..., 1][test.real] / period
    np.testing.assert_allclose(torch.atan2(y, x).numpy() / (2 * np.pi) % 1, phase.numpy() % 1, atol=1e-9)
    assert Folding(axis="time", **SMALL).data(0).test.positions.shape[-1] == 2


def test_periods_of_pulsating_stars_are_found(few_stars):
    found = [star.period for star in folding.observed(0)]
    np.testing.assert_allclose(found, few_stars.period, rtol=1e-4)


def test_the_catalogue_s_periods_are_found_again(monkeypatch):
    """Of the twenty measured stars, whichever visits are hidden: at least seventeen to a fifth of a turn in all."""
    monkeypatch.setattr(data, "load", MEASURED)
    for seed in range(2):
        off = folding.turns_off(np.array([star.period for star in folding.observed(seed, "visits")]))
        assert (np.abs(off) < folding.RIGHT).sum() >= 17
    exact = data.load("rr_lyrae")
    later = exact.period * (1 + 1e-6)
    span = np.array([exact.time[exact.points(i)].max() - exact.time[exact.points(i)].min() for i in range(20)])
    np.testing.assert_allclose(folding.turns_off(later), -span / exact.period * 1e-6, rtol=1e-4)


def test_lines_in_phase_go_round():
    """Against scipy, on a curve that is repeated by hand."""
    time, value, band = RNG.uniform(0, 50, 60), RNG.normal(size=60), np.repeat([0, 1], 30)
    asked, error, period = RNG.random(60) < 0.3, np.ones(60), 0.7
    found = folding.filled("folded_line", time, value, error, band, asked, period)
    expected = np.zeros(60)
    for k in (0, 1):
        seen, mine = (band == k) & ~asked, (band == k) & asked
        x = time[seen] % period
        line = interp1d(np.concatenate((x - period, x, x + period)), np.tile(value[seen], 3))
        expected[mine] = line(time[mine] % period)
    np.testing.assert_allclose(found, expected[asked], atol=1e-9)


def test_every_arm_runs_and_the_opponents_fit_sines():
    for axis in ("phase", "time"):
        exp = Folding(axis=axis, **SMALL)
        splits = exp.data(0)
        model, _ = exp.train(splits, 0)
        arrays = exp.arrays(model, splits)
        rmse = np.sqrt(np.mean((arrays["value"] - arrays["prediction"]) ** 2))
        assert exp.evaluate(model, splits.test)["rmse"] == pytest.approx(rmse, rel=1e-4)
    scores = exp.compare(splits)
    assert scores["periods"] == 3 and scores["rmse_stated"] == pytest.approx(0.02, rel=1e-3)
    # noise of 0.02, and what eleven coefficients from about 48 points of a band add to it
    assert scores["rmse_harmonics"] == pytest.approx(0.02 * np.sqrt(1 + 11 / 48), rel=0.25)
    assert scores["rmse_median"] == pytest.approx(0.4 / np.sqrt(2), rel=0.2)


@pytest.fixture
def visited(monkeypatch, few_stars):
    """The three stars seen in both bands ten minutes apart, half of the visits in the other order."""
    made = []
    for period in (0.31, 0.52, 0.67):
        start = np.sort(RNG.uniform(0, 400, 70)) + np.arange(70)
        time = np.concatenate((start, start + 0.007))
        band = np.concatenate((np.arange(70) % 2, 1 - np.arange(70) % 2))
        value = 15 + band + 0.4 * np.sin(2 * np.pi * time / period) + RNG.normal(0, 0.02, 140)
        made.append(dict(time=time, value=value, error=np.full(140, 0.02), band=band, label=0, period=period))
    made[0] = {name: of[:-20] if np.ndim(of) else of for name, of in made[0].items()}  # some visits saw one band
    curves = data.gathered(made, ("g", "r"), ("ab",))
    monkeypatch.setattr(data, "load", lambda name: curves)
    folding.observed.cache_clear()
    return curves


def test_a_visit_is_hidden_whole(visited):
    """By the first minute of each visit, in what is asked for and in every step of training."""
    exp = Folding(hidden="visits", **SMALL)
    splits = exp.data(0)
    hidden = folding.hide_some(splits.train, "visits", (0.2, 0.7), torch.Generator().manual_seed(0))
    for part, gone in ((splits.test, splits.test.aux["hidden"]), (splits.train, hidden)):
        assert not (gone & ~part.real).any()
        for i in range(len(part)):
            time, off = part.positions[i, part.real[i], 1].numpy(), gone[i][part.real[i]].numpy()
            together = np.abs(time[:, None] - time) < 0.01
            assert (off[:, None] == off)[together].all() and 0 < off.sum() < len(off)
            assert together.sum() > 1.5 * len(time)  # most visits saw two bands
    assert exp.compare(splits)["rmse_visit"] == exp.compare(splits)["rmse_median"]  # nobody else was there


def test_a_star_seen_four_times_has_a_visit_for_every_role():
    number = np.repeat(np.arange(4), 5)
    for seed in range(40):  # a draw of four visits lacks a role more often than not
        role = folding.roles(number, np.random.default_rng(seed))
        assert set(role) == {SEEN, CHOSEN, TESTED} and all(len(set(role[number == k])) == 1 for k in range(4))


def test_a_share_of_the_visits_is_hidden(visited):
    train = Folding(hidden="visits", **SMALL).data(0).train[:3]
    hidden = folding.hide_some(train, "visits", (0.5, 0.5), torch.Generator().manual_seed(1))
    for i in range(3):
        number, off = train.aux["visit"][i][train.real[i]], hidden[i][train.real[i]]
        assert len(number[off].unique()) == -(-len(number.unique()) // 2)


def test_damping_is_ridge_regression():
    """Against scikit-learn, on the columns written out; what is damped most is the highest harmonic."""
    from sklearn.linear_model import Ridge

    t, e = RNG.uniform(0, 50, 40), np.full(40, 0.5)
    y = 1 + np.sin(t) + 0.2 * np.cos(2 * t) + RNG.normal(0, 0.1, 40)
    found, _ = features.harmonics(t, y, e, 1 / (2 * np.pi), 2, damping=3.0)
    columns = np.stack((np.cos(t), np.sin(t), np.cos(2 * t) / 2, np.sin(2 * t) / 2), 1) / 0.5
    ridge = Ridge(alpha=3.0, fit_intercept=True).fit(columns, y / 0.5)
    np.testing.assert_allclose(found[1:], ridge.coef_ / (1, 1, 2, 2), atol=1e-6)


def test_a_visit_says_what_is_missing():
    """Two bands always seen together, of the same white noise, one twice as far: no period helps, and either band
    gives the other up to the stated errors."""
    time, pair = np.repeat(np.arange(300.0), 2), RNG.normal(size=300)
    band, value = np.tile([0, 1], 300), np.stack((pair, 2 * pair), 1).ravel()
    asked = (band == 1) & (RNG.random(600) < 0.3)
    asked[-1] = True
    error = np.full(600, 1e-3)
    # eleven coefficients from some 210 points of a band take up that much of the noise
    for name, most in (("visit", 0.1), ("harmonics_visit", np.sqrt(11 / 210))):
        found = folding.filled(name, time, value, error, band, asked, 0.7)
        assert np.sqrt(np.mean((found - value[asked]) ** 2)) < most * np.std(value[asked])
    apart = folding.filled("visit", time + 0.5 * band, value, error, band, asked, 0.7)  # nothing near
    np.testing.assert_allclose(apart, np.median(value[(band == 1) & ~asked]))

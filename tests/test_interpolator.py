"""Gaps filled: the mixture and its candidates against closed forms and straight lines, on generated data; tables in the
forms that people have; files of others."""

import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import safetensors.torch
import torch
from conftest import ROOT
from safetensors import safe_open
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import romae_lite as romae
from romae_lite.io import digest
from romae_lite.series import candidates, mixture
from romae_lite.series.candidates import Curve, scale_curves
from romae_lite.series.classifier import Classifier
from romae_lite.series.interpolator import Interpolator
from romae_lite.series.units import duration

QUICK = dict(steps=0, verbose=False)


def curve(t, y, series=0, channel=0):
    t, y = np.asarray(t, float), np.asarray(y, float)
    return scale_curves([Curve(series, channel, t, y, np.zeros(len(t)))])[0]


def rms(x):
    return float(np.sqrt(np.mean(np.square(x))))


def two_waves(n=6, points=40):
    """Series of two channels, T and p, at the same times."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 40, (n, points)), axis=1)
    phase = rng.uniform(0, 6, (n, 1))
    return pd.DataFrame({
        "id": np.repeat([f"w{i}" for i in range(n)], points), "t": t.ravel() + 100,
        "T": 20 + np.sin(t + phase).ravel(), "p": 1000 + 9 * np.cos(t + phase).ravel(),
    })


NAMES = dict(id="id", time="t", value=["T", "p"])
AT = [103.0, 107.5, 112.0]


@pytest.fixture(scope="module")
def table():
    return two_waves()


@pytest.fixture(scope="module")
def fitted(table):
    tokens, scale = romae.from_table(table, **NAMES)
    return Interpolator(**QUICK).fit(tokens), tokens, scale


# Candidates


def test_lines_and_their_band_by_hand():
    """On a random walk the error of a straight line across a gap has a variance that grows with the gap."""
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.exponential(1, 4000))
    walk = curve(t, np.cumsum(rng.normal(size=4000) * np.sqrt(np.diff(t, prepend=0))))
    at = np.array([t[10] + 0.25 * (t[11] - t[10]), t[0] - 5, t[-1] + 4, t[-1] + 64])
    (mean, deviation), = candidates.lines([walk], [at])
    assert mean[0] == pytest.approx(walk.values[10] + 0.25 * (walk.values[11] - walk.values[10]))
    assert mean[1] == walk.values[0] and mean[3] == walk.values[-1]
    # beyond the ends its variance is the time that has passed; there are 62 stretches of 64 that do not overlap, so
    # the deviation is known to 1 / sqrt(2 * 62) = 9 %, of which two and a half
    np.testing.assert_allclose(deviation[1:], np.sqrt([5, 4, 64]), rtol=0.23)
    wide, narrow = np.argmax(np.diff(t)), np.argmin(np.abs(np.diff(t) - 1))
    (_, bands), = candidates.lines([walk], [np.array([t[k : k + 2].mean() for k in (wide, narrow)])])
    assert bands[0] > 1.5 * bands[1]


@pytest.mark.parametrize("told", [False, True])
def test_the_process_is_scikit_learn_s_where_only_one_kernel_is_left(monkeypatch, told):
    """The mean for a fixed kernel, also with points whose noise is known to differ; the level's prior is wide, and
    centred values leave it at 0, nearly."""
    rng = np.random.default_rng(1)
    t = np.arange(40.0)
    y = np.sin(t / 4) + 0.1 * rng.normal(size=40)
    monkeypatch.setattr(candidates, "LENGTHS", (10,))
    monkeypatch.setattr(candidates, "KERNELS", candidates.KERNELS[1:2])
    monkeypatch.setattr(candidates, "NOISES", np.array([0.01]))
    units = candidates.noise_units
    monkeypatch.setattr(candidates, "noise_units", lambda errors: units(errors)[-1:])  # as they say, where they differ
    at = np.array([3.5, 20.2, 38.9])
    errors = np.where(rng.random(40) < 0.3, 0.5, 0.1) if told else np.zeros(40)
    noise = 0.01 * errors**2 / 0.01 if told else np.full(40, 0.01)  # the usual error is 0.1: the grid's one noise
    mean, deviation = candidates.average(t, y, at, y.std(), errors)
    kernel = Matern(10, nu=1.5) + ConstantKernel(1 / 0.05)
    z = (y - y.mean()) / y.std()
    exact = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(t[:, None], z)
    expected, spread = exact.predict(at[:, None], return_std=True)
    spread = np.sqrt(spread**2 + 0.01)  # of a measurement, as noisy as usual
    np.testing.assert_allclose(mean, expected * y.std() + y.mean(), atol=1e-4)  # a nugget of 1e-6 in ours
    ratio = deviation / (spread * y.std())  # the amplitude is integrated out: one factor for all
    assert np.ptp(ratio) < 0.01 * ratio.mean() and 0.5 < ratio.mean() < 2


def test_other_channels_and_series_are_believed_where_they_know():
    """A channel that is another one in disguise, and series that all do the same: the regression finds both, and
    nothing is found in noise."""
    rng = np.random.default_rng(2)
    t = np.arange(120.0)
    noise = rng.normal(size=(4, 120))
    lost = np.arange(5, 115, 10)

    def across(rows):
        rows = scale_curves([Curve(s, c, t, y, np.zeros(120)) for s, c, y in rows])
        seen = [rows[0].part(~np.isin(t, lost)), *rows[1:]]
        (mean, deviation), *_ = candidates.across(scale_curves(seen), [t[lost], *[np.empty(0)] * (len(rows) - 1)])
        return rms(mean - rows[0].values[lost]), deviation.mean()

    same = across([(0, 0, 3 * noise[0]), (0, 1, 100 - noise[0])])
    shared = across([(s, 0, noise[0] + 0.1 * noise[s]) for s in (1, 2, 3)])
    alone = across([(0, 0, noise[0]), (0, 1, noise[1])])
    assert same[0] < 0.6 and same[1] < 0.6  # of a deviation of 3; ridge shrinks
    assert shared[0] < 0.4 and 0.7 < alone[0] < 1.5 and 0.7 < alone[1] < 1.5


@pytest.mark.parametrize("kind", candidates.KINDS)
@pytest.mark.parametrize("n, count", [(3, 1), (12, 6), (96, 48), (500, 100), (7, 9)])
def test_hidden_values_are_as_many_as_said_and_never_the_first(n, count, kind):
    for seed in range(20):
        hidden = candidates.draw_hidden(n, count, kind, np.random.default_rng(seed))
        assert hidden.sum() == min(count, n - 2) and not hidden[0]
        edges = np.flatnonzero(np.diff(hidden.astype(int)))
        if kind == "end":
            assert hidden[-1] and len(edges) == 1
        else:
            assert not hidden[-1]
        if kind == "stretches" and count < n / 3:
            assert np.diff(edges)[::2].max() <= 12


def test_tuning_learns_what_the_table_repeats():
    """Up and down in turn, where the line between neighbours is always wrong. The filler itself is left as it was."""
    t = np.arange(600.0)
    saw = curve(t, np.tile([1.0, -1.0], 300))
    model = romae.load("filler")
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    tuned = candidates.tune(model, [saw], 60, 0)
    assert all(torch.equal(before[name], weight) for name, weight in model.state_dict().items())
    hidden = candidates.draw_hidden(600, 120, "scattered", np.random.default_rng(1))
    score = []
    for one in (model, tuned):
        (mean, deviation), = candidates.network(one, [saw.part(~hidden)], [t[hidden]])
        z = (saw.values[hidden] - mean) / deviation
        score.append(np.mean(-np.log(deviation) - z**2 / 2))
    assert score[1] > score[0] + 0.1


# Weights


def held(truth, mean, deviation) -> mixture.Held:
    n = len(truth)
    whole = dict(spread=np.ones(n), distance=np.ones(n), beyond=np.zeros(n, bool))
    whole |= dict(half=np.arange(n) % 2 > 0, trust=np.ones(n))
    return mixture.Held(truth=truth, mean=mean, deviation=deviation, **whole)


def test_weights_of_means_are_the_best_convex_ones():
    """Two unbiased guesses with errors of variance 1 and 4, independent: four fifths and a fifth; and one of no use."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=20_000)
    errors = rng.normal(size=(20_000, 3)) * [1, 2, 2] + [0, 0, 5]
    weights = mixture.least_squares(held(truth, truth[:, None] + errors, np.full((20_000, 3), 2.0)))
    np.testing.assert_allclose(weights, [0.8, 0.2, 0], atol=0.03)


def test_weights_of_densities_are_the_shares_that_drew_them():
    rng = np.random.default_rng(0)
    narrow = rng.random(20_000) < 0.7
    truth = np.where(narrow, rng.normal(size=20_000) * 0.1, rng.normal(size=20_000) * 3)
    found = held(truth, np.zeros((20_000, 2)), np.tile([0.1, 3.0], (20_000, 1)))
    shares = mixture.likeliest(mixture.densities(found), found.trust)
    np.testing.assert_allclose(shares, [0.7, 0.3], atol=0.02)


def test_deviations_are_calibrated_in_each_quarter():
    """Sure ones are too narrow by half, unsure ones too wide by two."""
    rng = np.random.default_rng(0)
    stated = np.exp(rng.uniform(-2, 2, 8000))
    truth = rng.normal(size=8000) * stated * np.exp(-np.log(stated) / 3)
    found = held(truth, np.zeros((8000, 1)), stated[:, None])
    mean, deviation = mixture.learn(found).mix(found.mean, found.deviation, found.spread)
    for part in np.array_split(np.argsort(stated), 4):
        assert np.mean(np.abs(truth[part]) < deviation[part]) == pytest.approx(0.683, abs=0.06)


def test_few_hidden_values_leave_weights_nearly_equal():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=8)
    weights = mixture.learn(held(truth, truth[:, None] + [[0, 1, 5]], np.ones((8, 3))))
    assert weights.means.max() < 0.75 and weights.densities.max() < 0.75


# The estimator, on generated data: never worse than lines by more than noise


def wave(rng):
    t = np.sort(rng.uniform(0, 6000, 400))
    at = np.linspace(100, 5900, 200)
    return t, np.sin(t / 40), at, np.sin(at / 40)


def walk(rng):
    t = np.sort(rng.exponential(1.0, 600).cumsum())
    y = 0.3 * np.cumsum(rng.normal(size=600))
    out = candidates.draw_hidden(600, 120, "scattered", rng)
    return t[~out], y[~out], t[out], y[out]


def drift(rng):
    """Spacing that grows a hundred times."""
    t = np.cumsum(0.05 * np.exp(np.linspace(0, np.log(100), 900)) * rng.uniform(0.3, 1.7, 900))
    y = np.sin(25 * np.log1p(t)) + rng.normal(0, 0.05, 900)
    out = candidates.draw_hidden(900, 180, "scattered", rng)
    return t[~out], y[~out], t[out], y[out]


@pytest.mark.parametrize("draw, most", [(wave, 0.3), (walk, 1.04), (drift, 0.95)])
@pytest.mark.parametrize("seed", [1, 2])
def test_errs_no_more_than_straight_lines(draw, most, seed):
    """most: of their error. Of 120 values of a walk, where lines are the best, 4 % are by chance."""
    t, y, at, truth = draw(np.random.default_rng(seed))
    mean, deviation = Interpolator(**QUICK).fit([(t, y)]).predict(at=at)
    assert rms(mean - truth) <= most * rms(np.interp(at, t, y) - truth)
    assert np.mean(np.abs(mean - truth) < 2 * deviation) > 0.88


def test_shops_of_two_sizes_have_bands_of_their_own():
    rng, rows = np.random.default_rng(0), []
    for i in range(8):
        size, t = (5.0, 5000.0)[i % 2], np.sort(rng.choice(400, 120, replace=False))
        y = size * (1 + 0.3 * np.sin(2 * np.pi * t / 28) + 0.05 * rng.normal(size=120))
        rows.append(pd.DataFrame({"shop": i, "day": t, "sold": y}))
    frame = pd.concat(rows, ignore_index=True)
    out = rng.random(len(frame)) < 0.2
    model = Interpolator(**QUICK).fit(romae.from_table(frame[~out], id="shop", time="day", value="sold")[0])
    for kind, size in enumerate((5.0, 5000.0)):
        errors, stated = [], []
        for i in range(kind, 8, 2):
            lost = frame[out & (frame.shop == i)].sort_values("day")
            lost = lost.iloc[1:-1]  # within what is known
            mean, deviation = model.predict(at=lost.day.to_numpy(), id=i)
            errors, stated = [*errors, *(lost.sold - mean)], [*stated, *deviation]
        assert rms(errors) < 0.2 * size and np.median(stated) < 0.2 * size
        assert 0.5 < np.mean(np.abs(errors) < np.array(stated)) < 0.95


def test_loud_and_quiet_stretches_have_bands_of_their_own():
    rng = np.random.default_rng(0)
    t = np.arange(1200.0)
    loud = (t // 200) % 2 == 0
    y = np.sin(t / 30) + np.where(loud, 1.0, 0.05) * rng.normal(size=1200)
    out = candidates.draw_hidden(1200, 240, "scattered", rng)
    mean, deviation = Interpolator(**QUICK).fit([(t[~out], y[~out])]).predict(at=t[out])
    assert np.median(deviation[loud[out]]) > 3 * np.median(deviation[~loud[out]])
    z = np.abs(y[out] - mean) / deviation
    assert 0.5 < np.mean(z[loud[out]] < 1) < 0.95 and np.mean(z[~loud[out]] < 1) > 0.5


def test_the_band_opens_beyond_the_end():
    """A walk's error grows as the square root of the time; at least as good as the last value carried on."""
    rng = np.random.default_rng(4)
    t, y = np.arange(600.0), np.cumsum(rng.normal(size=600))
    model = Interpolator(**QUICK).fit([(t, y)])
    mean, deviation = model.predict(at=[599.5, 601, 609, 649])
    assert (np.diff(deviation) > 0).all() and 4 < deviation[-1] < 14  # exact: 7
    assert np.abs(mean - y[-1]).max() < 2 * deviation[-1]
    assert "beyond the ends" in model.summary()


def test_seeds_hardly_matter():
    t, y, at, truth = drift(np.random.default_rng(5))
    errors = [rms(Interpolator(seed=s, **QUICK).fit([(t, y)]).predict(at=at)[0] - truth) for s in (0, 1)]
    assert errors[1] == pytest.approx(errors[0], rel=0.02)


@pytest.mark.parametrize("times, values, shift", [(3600.0, 1.0, 0.0), (1.0, 1000.0, 5e4), (0.01, 0.001, -3.0)])
def test_other_units_give_the_same_answer(times, values, shift):
    rng = np.random.default_rng(0)
    t, y = np.sort(rng.uniform(0, 50, 80)), rng.normal(size=80)
    at = np.array([3.0, 20.0, 51.0])
    mean, deviation = Interpolator(**QUICK).fit([(t, y)]).predict(at=at)
    again, its = Interpolator(**QUICK).fit([(times * t, values * y + shift)]).predict(at=times * at)
    np.testing.assert_allclose((again - shift) / values, mean, atol=1e-3)  # the network's float32
    np.testing.assert_allclose(its / values, deviation, rtol=1e-3)


def test_order_of_rows_and_of_questions_does_not_matter(table, fitted):
    model, tokens, _ = fitted
    mean, deviation = model.predict(at=AT, channel="p")
    assert mean.shape == deviation.shape == (6, 3) and (deviation > 0).all() and np.abs(mean - 1000).max() < 30
    mixed, _ = romae.from_table(table.sample(frac=1, random_state=1), **NAMES)
    one, _ = model.predict(mixed, at=AT, channel="p", id="w3")
    np.testing.assert_allclose(one, mean[3], rtol=1e-6)
    alone = [model.predict(at=[t], id="w3", channel="p")[0][0] for t in AT]
    np.testing.assert_allclose(alone, mean[3], rtol=1e-6)
    several = model.predict(at=[AT[: 1 + i % 3] for i in range(6)], channel="p")[0]
    np.testing.assert_allclose(several[2], mean[2], rtol=1e-6)
    with pytest.raises(ValueError, match="channel is None; choose one of T, p"):
        model.predict(at=AT)


def test_says_where_it_knows_nothing(fitted):
    model = fitted[0]
    with pytest.warns(UserWarning, match="further outside their series in channel 'T' than a tenth"):
        model.predict(at=[300.0], id="w0", channel="T")
    frame = two_waves().assign(p=lambda f: f.p.where(f.id != "w1"))
    with pytest.warns(UserWarning, match="1 of 6 series have no value of channel 'p'"):
        mean, deviation = model.predict(romae.from_table(frame, **NAMES)[0], at=AT, channel="p")
    assert np.abs(mean[1] - 1000).max() < 20 and deviation[1].min() > 1


def test_the_summary_says_who_answered(fitted, capsys):
    model, tokens, _ = fitted
    text = model.summary()
    assert all(name in text for name in mixture.NAMES) and "quarter" in text and "from a value" in text
    weights = [its["weights"] for its in model.report_["candidates"].values()]
    np.testing.assert_allclose(np.sum(weights, 0), 1)
    assert model.set_params(seed=3).summary() == text
    model.set_params(seed=0)
    doubled = pd.concat([two_waves(1), two_waves(1).iloc[:7]])
    Interpolator(steps=0).fit(romae.from_table(doubled, **NAMES)[0])
    said = capsys.readouterr().out
    assert "14 values at a time and channel that had one already: means taken." in said
    assert said.index("this will take about") < said.index("hidden")


def test_few_values_are_called_few():
    t = np.arange(20.0)
    model = Interpolator(**QUICK).fit([(t, np.sin(t))])
    assert 0 < model.report_["points"] < 20 and "are few: the weights are nearly equal" in model.summary()
    assert Interpolator(**QUICK).fit([([0, 1, 2], [1, 2, 4])]).report_["points"] == 2  # one of each kind, at least


@pytest.mark.parametrize("values", [np.full(30, 7.0), np.array([1.0, 2, 4]), np.r_[np.zeros(40), np.arange(10.0)]])
def test_flat_and_short_series_have_answers(values):
    t = np.arange(float(len(values)))
    mean, deviation = Interpolator(**QUICK).fit([(t, values)]).predict(at=[1.5, 2.0])
    assert np.isfinite(mean).all() and (deviation > 0).all()
    if np.ptp(values) == 0:
        np.testing.assert_allclose(mean, 7)


def test_a_short_series_beside_long_ones_has_an_answer():
    """Whoever has all the weight elsewhere: two points and one are for lines alone."""
    t = np.arange(120.0)
    series = [(t, np.sin(t / 5 + k)) for k in range(3)] + [([3.0, 9.0], [0.5, -0.5]), ([4.0], [0.3])]
    model = Interpolator(**QUICK).fit(series)
    model.mixture_.inside.means[:] = model.mixture_.inside.densities[:] = np.eye(6)[2]
    mean, deviation = (np.array(x) for x in model.predict(at=[6.0]))
    assert np.isfinite(mean).all() and (deviation[3:] > 0.2).all() and mean[3, 0] == pytest.approx(0, abs=0.1)


def test_many_rows_are_sampled(monkeypatch):
    """Whole series while there are few rows; of long ones a stretch, the same in time for all channels."""
    monkeypatch.setattr(mixture, "ROWS", 400)
    rng = np.random.default_rng(0)
    t = np.arange(1000.0)
    curves = [Curve(s, c, t, rng.normal(size=1000), np.zeros(1000)) for s in range(2) for c in range(2)]
    chosen = mixture.sample(curves, rng)
    assert 400 <= sum(r.stop - r.start for _, r, _ in chosen) <= 600
    for s in range(2):
        mine = {(r.start, r.stop) for i, r, stretch in chosen if curves[i].series == s and stretch == 0}
        assert len(mine) == 1
    model = Interpolator(**QUICK).fit([(c.times, c.values) for c in curves])
    assert model.report_["values"] == 4000 and model.report_["points"] < 300


def test_errors_of_measurement_are_heard():
    """Half of the values are known to be bad: told so, the mixture finds the curve that the good ones draw."""
    rng = np.random.default_rng(0)
    t = np.arange(200.0)
    e = np.where(rng.random(200) < 0.5, 1.0, 0.05)
    frame = pd.DataFrame({"t": t, "y": np.sin(t / 15) + e * rng.normal(size=200), "e": e})
    told = romae.from_table(frame, time="t", value="y", error="e")[0]
    assert told.aux["error"].shape == (1, 200) and told[[0]].aux["error"].shape == (1, 200)
    at = t[:-1] + 0.5
    wrong = [np.std(Interpolator(**QUICK).fit(x).predict(at=at)[0] - np.sin(at / 15))
             for x in (told, romae.from_table(frame, time="t", value="y")[0])]
    assert wrong[0] < 0.1 < wrong[1]  # a line between good neighbours errs by 0.04, one between any by 0.5
    with pytest.raises(ValueError, match="e of row 3 is -1; it must be above 0"):
        romae.from_table(frame.assign(e=np.where(t == 3, -1, e)), time="t", value="y", error="e")


# Tables, filled


T, Y = np.arange(30.0), np.where(np.arange(30) % 7 == 3, np.nan, np.sin(np.arange(30.0) / 3))
LOST = np.flatnonzero(np.isnan(Y))
FRAME = pd.DataFrame({"t": T, "y": Y})


def test_the_table_comes_back_filled():
    found = romae.fill(FRAME, time="t", value="y")
    pd.testing.assert_frame_equal(found[["t", "y"]], FRAME)
    assert found["mean"].notna().tolist() == np.isnan(Y).tolist() == found.deviation.notna().tolist()
    expected = romae.fill(T, Y, T[LOST])  # the same, asked by arrays
    np.testing.assert_allclose(found[["mean", "deviation"]].iloc[LOST].to_numpy().T, expected, rtol=1e-6)
    assert np.abs(found["mean"] - np.sin(T / 3)).max() < 0.5 and "mean" not in FRAME


class Dataset(dict):
    """What xarray has: a mapping that is read as a frame, by its own method."""

    def to_dataframe(self):
        return FRAME.set_index("t")


@pytest.mark.parametrize(
    "make", [lambda f: f.to_dict("list"), pa.Table.from_pandas, lambda f: f.to_records(index=False), lambda f: dict(f),
             lambda f: f.set_index("t"), lambda f: f.set_index("t").y, lambda f: Dataset()],
)
def test_tables_of_many_kinds(make):
    table = make(FRAME)
    found = romae.fill(table, time="t", value="y", at=[3.25])
    values = found["mean"].to_numpy() if hasattr(found["mean"], "to_numpy") else np.array(found["mean"])
    expected = romae.fill(FRAME, time="t", value="y", at=[3.25])["mean"]
    np.testing.assert_array_equal(values, expected)
    assert len(values) == 31 and romae.from_table(table, time="t", value="y")[0].shape == (1, 26, 1)


def test_dates_in_the_index_and_as_text():
    days = pd.date_range("2024-04-01", periods=30, name="day", tz="America/New_York")
    series = pd.Series(Y, index=days, name="y")
    found = romae.fill(series, at=days[:2] + pd.Timedelta("12h"))
    assert found.index.name == "day" and found.index.tz is not None and len(found) == 32
    assert found.index[-1] == days[1] + pd.Timedelta("12h")
    expected = romae.fill(FRAME, time="t", value="y", at=[0.5, 1.5])["mean"]
    np.testing.assert_allclose(found["mean"], expected, rtol=1e-5)
    text = {"day": [str(d.date()) for d in days], "y": Y}
    np.testing.assert_allclose(romae.fill(text, time="day", value="y")["mean"], expected[:30], rtol=1e-5)
    with pytest.raises(ValueError, match="day of row 2 is '2024-00-03'; it must be a number or a date"):
        romae.fill({"day": ["2024-01-01", "2024-01-02", "2024-00-03"], "y": [1, 2, None]}, time="day", value="y")
    with pytest.raises(TypeError, match="at are numbers; those of the table are dates"):
        romae.fill(series, at=[1.0])
    with pytest.raises(TypeError, match="at have no time zone"):
        romae.fill(series, at=["2024-03-05"])


def test_astropy_tables_are_read():
    units, table, timeseries = (pytest.importorskip(f"astropy.{name}") for name in ("units", "table", "timeseries"))
    masked = table.MaskedColumn(np.nan_to_num(Y), mask=np.isnan(Y))
    expected = romae.fill(FRAME, time="t", value="y")["mean"]
    plain = table.Table({"t": T * units.day, "y": masked})
    np.testing.assert_allclose(romae.fill(plain, time="t", value="y")["mean"], expected)
    from astropy.time import Time

    series = timeseries.TimeSeries(time=Time("2024-01-01") + T * units.day, data={"y": masked})
    np.testing.assert_allclose(romae.fill(series, time="time", value="y")["mean"], expected, rtol=1e-5)


def test_series_channels_and_wide_tables():
    """Each in its own units; a wide table says what the long one says."""
    scales = (("a", "u", 1), ("a", "v", 10), ("b", "u", 0.1))
    names = dict(time="t", value="y", id="k", channel="c")
    long = pd.concat([FRAME.assign(k=k, c=c, y=Y[:: -1 if c == "v" else 1]) for k, c, _ in scales])
    plain = romae.fill(long, at=[2.5, 40.0], **names)
    factor = np.repeat([f for *_, f in scales], len(FRAME))
    found = romae.fill(long.assign(y=long.y * factor), at=[2.5, 40.0], **names)
    for k, c, f in scales:
        mine, its = found[(found.k == k) & (found.c == c)], plain[(plain.k == k) & (plain.c == c)]
        np.testing.assert_allclose(mine["mean"], f * its["mean"], atol=1e-4 * abs(f))
        np.testing.assert_allclose(mine.deviation, abs(f) * its.deviation, rtol=1e-4)
    assert len(found) == 90 + 8
    lost = found[(found.k == "b") & (found.c == "v")]  # never measured: its level elsewhere
    assert len(lost) == 2 and (lost.deviation > 2).all()
    wide = romae.fill(FRAME.assign(z=10 * Y[::-1]), time="t", value=["y", "z"], at=[2.5])
    pair = long[long.k == "a"].assign(y=lambda f: f.y * np.where(f.c == "v", 10, 1))
    pair = romae.fill(pair, time="t", value="y", channel="c", at=[2.5])
    np.testing.assert_allclose(wide["y_mean"].dropna(), pair[pair.c == "u"]["mean"].dropna(), rtol=1e-5)
    assert wide.z_deviation.notna().sum() == len(LOST) + 1 and len(wide) == 31


def test_channels_that_never_share_a_time_help_one_another():
    """Two rough curves that are one; each is asked for where only the other was measured."""
    rng = np.random.default_rng(0)
    t = np.arange(240.0)
    curve = np.cumsum(rng.standard_normal(240))
    hidden = (t % 6 < 3) & (t > 5) & (t < 234)
    first = pd.DataFrame({"t": t, "y": np.where(hidden, np.nan, curve), "c": "u"})
    other = pd.DataFrame({"t": t + 0.3, "y": 5 - 3 * np.interp(t + 0.3, t, curve), "c": "v"})
    off = [np.std(romae.fill(table, time="t", value="y", **more)["mean"][:240][hidden] - curve[hidden])
           for table, more in ((first, {}), (pd.concat((first, other)), {"channel": "c"}))]
    assert off[1] < 0.7 * off[0]  # 0.46 to 0.68 of it in four draws


def test_channels_that_know_nothing_do_no_harm():
    """Twelve times of twenty-five unrelated channels: a fit of so few rows seems exact."""
    rng, t = np.random.default_rng(1), np.arange(12.0)
    curves = np.cos(t / 2 + rng.uniform(0, 6, (25, 1))) * rng.normal(1, 0.3, (25, 1))
    noise = 0.1 * rng.standard_normal((25, 12))
    names = [f"c{i}" for i in range(25)]
    wide = pd.DataFrame((curves + noise).T, columns=names).assign(t=t)
    wide.loc[[3, 6, 9], "c0"] = np.nan
    found = romae.fill(wide, time="t", value=names).loc[[3, 6, 9], ["c0_mean", "c0_deviation"]].to_numpy().T
    alone = romae.fill(wide[["t", "c0"]], time="t", value="c0").loc[[3, 6, 9], ["mean", "deviation"]].to_numpy().T
    assert (np.abs(found[0] - alone[0]) < 1.5 * alone[1]).all() and (found[1] > 0.5 * alone[1]).all()


def test_a_band_opens_where_all_channels_end():
    rng, t = np.random.default_rng(2), np.arange(200.0)
    wide = pd.DataFrame(np.cumsum(rng.standard_normal((200, 2)), axis=0), columns=["y", "z"]).assign(t=t)
    band = romae.fill(wide, time="t", value=["y", "z"], at=199 + np.array([1.0, 4, 16, 64])).y_deviation.to_numpy()[-4:]
    assert (np.diff(band) > 0).all() and 4 < band[-1] / band[0] < 12  # sqrt(64) is 8


def test_errors_of_a_wide_table():
    """One column of errors for each of values says what the long table says."""
    e = np.where(T % 2 == 0, 0.05, 0.5)
    wide = FRAME.assign(z=10 * Y[::-1], ey=e, ez=10 * e)
    found = romae.fill(wide, time="t", value=["y", "z"], error=["ey", "ez"])
    long = pd.concat((wide[["t", "y"]].assign(e=e, c="y"), wide[["t"]].assign(y=wide.z, e=10 * e, c="z")))
    expected = romae.fill(long, time="t", value="y", channel="c", error="e")
    np.testing.assert_allclose(found.z_mean.dropna(), expected[expected.c == "z"]["mean"].dropna(), rtol=1e-6)
    with pytest.raises(ValueError, match="it must name one column of errors for each column of values, 2"):
        romae.fill(wide, time="t", value=["y", "z"], error="ey")


def test_a_sample_without_any_value_takes_the_level_of_others():
    frame = pd.concat([FRAME.assign(k="a"), pd.DataFrame({"t": [1.0, 2.0], "y": [np.nan] * 2, "k": "b"})])
    found = romae.fill(frame, time="t", value="y", id="k")
    lost = found[found.k == "b"]
    np.testing.assert_allclose(lost["mean"], np.nanmean(Y))
    assert (lost.deviation >= 0.3).all()


def test_the_mixture_fills_tables_too():
    model = Interpolator(**QUICK)
    found = romae.fill(FRAME, time="t", value="y", model=model)
    np.testing.assert_allclose(found["mean"].iloc[LOST], model.predict(at=T[LOST])[0])
    again = romae.fill(FRAME.assign(y=Y + 100), time="t", value="y", model=model)
    np.testing.assert_allclose(again["mean"], found["mean"] + 100, atol=1e-3)
    with pytest.raises(ValueError, match="model knows channels y; the table has z"):
        romae.fill(FRAME.rename(columns={"y": "z"}), time="t", value="z", model=model)


def test_arrays_are_filled_without_scikit_learn_and_pandas():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('sklearn', 'pandas')));"
        "import romae_lite; nan = float('nan');"
        "print(romae_lite.fill([1, 2, 3, 4, 5], [1, 2, nan, 2, 1.5])[0][2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and 1 < float(done.stdout) < 4, done.stderr


def test_what_was_done_is_printed(capsys):
    doubled = pd.concat([FRAME, FRAME.iloc[:2]], ignore_index=True)
    romae.fill(doubled, time="t", value="y")
    assert "2 values at a time and channel that had one already" in capsys.readouterr().out
    romae.fill(doubled, time="t", value="y", verbose=False)
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: romae.fill(FRAME.dropna(), time="t", value="y"), "lacks no value"),
        (lambda: romae.fill(FRAME.assign(mean=1), time="t", value="y"), "has a column 'mean' already"),
        (lambda: romae.fill(FRAME, value="y", time="when"), "time is 'when', which is no column; the table has t, y"),
        (lambda: romae.fill(T, Y, time="t"), "time is 't'; it names a column of a table"),
        (lambda: romae.fill(FRAME, time="t", value="y", model="x"), "model is 'x'"),
        (lambda: romae.fill({"t": T, "y": Y}, value="y"), "time is None"),
    ],
)
def test_what_cannot_be_filled_is_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize(
    "seconds, words",
    [(604_800, "a week"), (3600, "an hour"), (86_400, "a day"), (5400, "90 minutes"), (1_296_000, "15 days"),
     (2_629_800, "30.4 days"), (0.001, "a millisecond"), (63_115_200, "2 years"), (0.25, "250 milliseconds")],
)
def test_durations_are_put_into_words(seconds, words):
    assert duration(seconds) == words


# Files, and bad calls


def test_saved_is_the_same(tmp_path, fitted):
    model, tokens, _ = fitted
    model.save(tmp_path / "gaps.safetensors")
    again = Interpolator.load(tmp_path / "gaps.safetensors")
    for a, b in zip(model.predict(at=AT, channel="T"), again.predict(tokens, at=AT, channel="T"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert again.get_params() == model.get_params() and again.summary() == model.summary()
    with pytest.raises(ValueError, match="carries no series"):
        again.predict(at=AT, channel="T")
    with pytest.raises(ValueError, match="is no saved Classifier .it is a Interpolator"):
        Classifier.load(tmp_path / "gaps.safetensors")
    with pytest.raises(ValueError, match="is no saved Interpolator .* is a folder"):
        Interpolator.load(tmp_path)


def edited(path, change) -> bytes:
    """A saved estimator with other contents, and a digest that is right again."""
    with safe_open(path, "pt") as file:
        about = json.loads(file.metadata()["romae_lite"])
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(about["notes"], weights)
    text = json.dumps(about)
    return safetensors.torch.save(weights, {"romae_lite": text, "digest": digest(weights, text)})


def inside(**arrays):
    tensors = {f"beside.inside.{name}": torch.tensor(its) for name, its in arrays.items()}
    return lambda notes, weights: weights.update(tensors)


@pytest.mark.parametrize(
    "change",
    [
        lambda notes, weights: notes.update(estimator="Classifier"),
        lambda notes, weights: notes.pop("kept"),
        lambda notes, weights: notes["kept"].update(predict="x"),
        lambda notes, weights: notes["kept"].pop("report_"),
        lambda notes, weights: weights.pop("beside.beyond.means"),
        inside(means=[1.0]), inside(means=[2.0, -1.0, 0, 0, 0, 0]), inside(densities=[0.5] * 6),
        inside(factors=[float("nan")]), inside(knots=[[1.0]]), inside(nonsense=[1.0]),
        lambda notes, weights: notes["kept"]["report_"].pop("points"),
        lambda notes, weights: notes["parameters"].update(steps=-5),
        lambda notes, weights: notes["parameters"].update(nonsense=1),
        lambda notes, weights: weights.update({name: t * np.nan for name, t in weights.items()}),
        lambda notes, weights: weights.update({name: t.long() for name, t in weights.items()}),
        lambda notes, weights: weights.pop("mask_token"),
    ],
)
def test_a_file_of_others_is_refused_by_name(tmp_path, fitted, change):
    fitted[0].save(path := tmp_path / "gaps.safetensors")
    path.write_bytes(edited(path, lambda notes, weights: None))
    assert Interpolator.load(path).summary() == fitted[0].summary()
    path.write_bytes(edited(path, change))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is no saved Interpolator"):
        Interpolator.load(path)


@pytest.mark.parametrize("broken", ["tune", "learn"])
def test_a_fit_that_is_broken_off_leaves_nothing_that_answers(monkeypatch, broken):
    t = np.arange(40.0)
    model = Interpolator(**QUICK).fit([(t, np.sin(t))])

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mixture, broken, stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit([(t, 100 * np.sin(t))])
    for ask in (model.summary, lambda: model.predict(at=[3.5])):
        with pytest.raises(NotFittedError):
            ask()


DAYS = np.arange("2024-01-01", "2024-01-10", dtype="datetime64[D]")


def with_channels(other: float) -> romae.Tokens:
    """Two series of ten tokens, every other of which is of a channel with that number."""
    positions = torch.stack((torch.arange(10.0), torch.tensor([0.0, other] * 5)), -1).repeat(2, 1, 1)
    return romae.Tokens(values=torch.randn(2, 10, 1, generator=torch.Generator().manual_seed(0)), positions=positions)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t, s: Interpolator().fit([(np.arange(2), np.arange(2.0))]), "X has 2 values in a series; three are"),
        (lambda t, s: Interpolator().fit([(np.arange(3), np.array([1, np.inf, 2]))]), "of row 1 is inf"),
        (lambda t, s: Interpolator().fit(t, 3), "scale is 3; it must be of type"),
        (lambda t, s: Interpolator().fit(pd.DataFrame({"t": [1.0]})), "`from_table` makes tokens of it"),
        (lambda t, s: Interpolator().fit([(np.arange(3), np.arange(4.0))]), r"times of shape \(3,\) and values"),
        (lambda t, s: Interpolator().fit([(np.arange(9), np.ones(9)), ([], [])]), r"X\[1\] has no value; leave it out"),
        (lambda t, s: Interpolator().fit([(DAYS, np.ones(9)), (np.arange(9), np.ones(9))]), "X.1..0. are numbers; the"),
        (lambda t, s: Interpolator().fit([(np.arange(9), np.ones((9, 2)))]), "X has 2 values a token; give each"),
        (lambda t, s: Interpolator().fit(with_channels(-1.0)), "holds no numbers of channels"),
        (lambda t, s: Interpolator().fit(with_channels(0.5)), "holds no numbers of channels"),
    ],
)
def test_bad_calls_are_named(fitted, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(*fitted[1:])


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(X=[(AT, AT)]), "channel '0' is unknown; the model has T, p"),
        (dict(channel="x"), "channel is 'x'"),
        (dict(at=[]), "at is empty"),
        (dict(at=[pd.Timestamp("2024-01-01")]), "at are dates; those of the data are numbers"),
        (dict(id="x"), "id is 'x'; choose one of w0"),
        (dict(at=[AT, AT], id=None), "at has 2 arrays of times; there are 6 series"),
    ],
)
def test_bad_questions_are_named(fitted, change, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fitted[0].predict(**dict(at=AT, channel="T", id="w3") | change)


def test_pairs_are_read_as_tables_are():
    """Padding, masks, dates of any resolution, levels far from zero."""
    t, y = np.arange(30.0), np.sin(np.arange(30.0))
    masked = np.ma.masked_array(np.append(y, -9999), np.arange(31) == 30)
    forms = [(t, y), (np.append(t, np.nan), np.append(y, np.nan)), (np.arange(31), masked)]
    found = [Interpolator(**QUICK).fit([p]).predict(at=[3.5, 7.0]) for p in forms]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    far = Interpolator(**QUICK).fit([(t, y + 1e8)]).predict(at=[3.5, 7.0])[0]
    np.testing.assert_allclose(far - 1e8, found[0][0], atol=1e-3)
    when = np.datetime64("2024-01-01") + np.arange(60) * np.timedelta64(1, "D")
    model = Interpolator(**QUICK).fit([(when.astype("datetime64[ns]"), np.sin(np.arange(60.0)))])
    assert model.scale_.unit == 86_400 and "a day apart" in model.summary()
    np.testing.assert_array_equal(*(model.predict(at=when[3:5].astype(f"datetime64[{u}]")) for u in ("D", "us")))
    with pytest.raises(TypeError, match="at are numbers; those of the data are dates"):
        model.predict(at=[1.5])


def test_a_scale_is_for_tokens_that_have_none(fitted):
    """As people write it who hold the pair of `from_table`; the tokens' own counts."""
    model, tokens, scale = fitted
    bare, asked = replace(tokens, scale=None), {"at": AT, "id": scale.ids[0], "channel": "T"}
    want = model.predict(tokens, **asked)
    np.testing.assert_array_equal(model.predict(tokens, scale, **asked), want)
    np.testing.assert_array_equal(model.predict(bare, scale, **asked), want)
    again = Interpolator(**QUICK).fit(bare, scale)
    np.testing.assert_allclose(again.predict(**asked), model.predict(**asked))
    with pytest.raises(ValueError, match="scale has 6 samples, 2 channels; X has 3, 2"):
        model.predict(bare[:3], scale, at=AT, channel="T")
    with pytest.raises(TypeError, match="a scale belongs to tokens"):
        model.predict([(AT, AT)], scale, at=AT)


def test_a_subset_knows_its_scale(fitted):
    """Ids and first times go by a series' number."""
    model, tokens, _ = fitted
    expected = np.array(model.predict(tokens[2:], at=AT, channel="T"))[:, 2]
    np.testing.assert_allclose(model.predict(tokens[2:], at=AT, id="w4", channel="T"), expected, rtol=1e-5)
    with pytest.raises(ValueError, match="id is 'w1'; choose one of w2"):
        model.predict(tokens[2:], at=AT, id="w1", channel="T")


def test_the_unit_is_a_channel_s_own_without_a_scale_as_with_one():
    """Two channels, the second a hundredth after the first, every five: the unit is five."""
    when = 5.0 * np.arange(60)
    frame = {"t": np.concatenate((when, when + 0.01)), "c": np.repeat(["a", "b"], 60), "y": np.sin(np.arange(120.0))}
    columns = dict(time="t", value="y", channel="c")
    tokens = romae.from_table(frame, unit=1.0, **columns)[0]
    model = Interpolator(**QUICK).fit(romae.Tokens(values=tokens.values, positions=tokens.positions))
    assert model.scale_.unit == pytest.approx(5.0)
    assert romae.from_table(frame, **columns)[1].unit == pytest.approx(5.0)


def test_a_series_own_times_are_inside_it():
    """Also in seconds since 1970."""
    t = 1.7e9 + np.cumsum(np.random.default_rng(0).uniform(1, 5, 100))
    model = Interpolator(**QUICK).fit([(t, np.sin(t))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(at=t[[0, 50, -1]])


def test_the_readme_s_example_runs():
    block = re.search(r"```python\n(.*?romae.fill.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    names = {}
    exec(block.replace("Interpolator()", "Interpolator(steps=0, verbose=False)"), names)
    filled = names["filled"]
    lost = filled.level.isna()
    assert lost.any() and filled["mean"].notna().equals(lost)
    assert rms(filled["mean"][lost] - 5 - np.sin(filled.hour[lost])) < 0.5  # in the table's units


@pytest.mark.parametrize("apart", [0, 1e-4, 1e-2])
def test_two_instruments_that_read_at_once_are_one_series(apart):
    """Pairs of readings, one good and one bad: the gaps within pairs are no unit of time, and told the errors the
    answer is nearly that of the good instrument alone."""
    rng = np.random.default_rng(0)
    t = np.repeat(np.sort(rng.uniform(0, 100, 100)), 2) + np.tile([0, apart], 100)
    e, truth = np.tile([0.05, 1.0], 100), 3 * np.sin(t / 6)
    out = np.repeat(rng.random(100) < 0.2, 2)
    out[[0, 1, -2, -1]] = False
    y = np.where(out, np.nan, truth + e * rng.normal(size=200))
    wrong = {}
    for error in (None, "e"):
        found = romae.fill(pd.DataFrame({"t": t, "y": y, "e": e}), time="t", value="y", error=error, verbose=False)
        wrong[error] = rms(found["mean"][out] - truth[out])
    assert wrong[None] < rms(np.interp(t[out], t[~out], y[~out]) - truth[out]) and wrong["e"] < 0.1


def test_values_with_huge_errors_say_nothing():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 100, 200))
    e = np.where(rng.random(200) < 0.1, 1000.0, 0.05)
    y = np.sin(t / 6) + e * rng.normal(size=200)
    at = np.linspace(5, 95, 50)
    mean, deviation = romae.fill(t, y, at, error=e)
    assert rms(mean - np.sin(at / 6)) < 0.1 and deviation.max() < 0.5

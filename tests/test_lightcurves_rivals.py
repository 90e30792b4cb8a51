"""Opponents on light curves: periods that are known, shapes that are known, and scores by another library."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from romae_book.experiments.lightcurves import data, features, rivals
from romae_book.experiments.lightcurves.recurrent import GRUD, observed
from romae_lite.tokens import Tokens

pytestmark = pytest.mark.skipif(find_spec("light_curve") is None, reason="features by light_curve")
RNG = np.random.default_rng(0)


def stars(n: int, classes: int = 2) -> data.Curves:
    """Two kinds of periodic stars in two bands: sines, and sines with a third harmonic; periods 0.4 to 3 days."""
    made = []
    for i in range(n):
        m, period = 90, RNG.uniform(0.4, 3)
        time, band = np.sort(RNG.uniform(0, 60, m)), RNG.integers(0, 2, m)
        phase = 2 * np.pi * time / period
        bump = 0.4 * np.sin(3 * phase) if i % classes else 0
        value = 15 + band + 0.5 * np.sin(phase) + bump
        made.append(dict(time=time, value=value + RNG.normal(0, 0.02, m), error=np.full(m, 0.02), band=band,
                         label=i % classes, period=period))
    return data.gathered(made, ("b", "r"), ("plain", "bumpy"))


def test_harmonics_are_least_squares():
    t, e = RNG.uniform(0, 10, 40), RNG.uniform(0.5, 2, 40)
    y = RNG.normal(size=40)
    fit, chi = features.harmonics(t, y, e, 0.37)
    columns = [np.ones(40)]
    for k in (1, 2, 3):
        columns += [np.cos(2 * np.pi * 0.37 * k * t), np.sin(2 * np.pi * 0.37 * k * t)]
    expected, rest, *_ = np.linalg.lstsq(np.stack(columns, 1) / e[:, None], y / e, rcond=None)
    np.testing.assert_allclose(fit, expected, atol=1e-5)  # a ridge of 1e-9 a point
    assert chi == pytest.approx(rest[0], rel=1e-5)


def test_periods_are_found_without_labels():
    made = stars(12)
    for i in range(12):
        part = made.points(i)
        t, y, e, b = made.time[part], made.value[part].astype(float), made.error[part].astype(float), made.band[part]
        period, _, misfit = features.best_period(t - t[0], y, e, b)
        assert period == pytest.approx(made.period[i], rel=2e-3) and misfit < 0.05


def test_a_transients_peak_is_where_it_was_put():
    """A bump of 20 days around day 60, seen in four bands: its height in each, rise and decline, and the looks before
    and after it."""
    t = np.sort(RNG.uniform(0, 150, 80))
    b = RNG.integers(0, 4, 80)
    y = 100 * np.exp(-0.5 * ((t - 60) / 20) ** 2) * np.array([0.5, 1, 1.2, 0.8])[b] + RNG.normal(0, 2, 80)
    found = features.peaked(t, y, np.full(80, 2.0), b, tuple("griz"))
    before, after = found[3], found[4]
    assert before == pytest.approx(60 - t[0], abs=4) and after == pytest.approx(t[-1] - 60, abs=4)
    by_band = found[8 + 3 * len(features.DAYS) :].reshape(4, -1)
    assert by_band[:, 0] / by_band[1, 0] == pytest.approx(np.array([0.5, 1, 1.2, 0.8]), abs=0.1)
    half, fifth = (20 * np.sqrt(2 * np.log(1 / share)) for share in (0.5, 0.2))  # days from the peak to so much of it
    for one in by_band:
        assert one[1] == pytest.approx(0, abs=6)
        assert one[2:6] == pytest.approx([half, half, fifth, fifth], abs=6)


def test_a_band_without_points_has_as_many_features():
    t = np.linspace(0, 60, 30)
    y = np.exp(-0.5 * ((t - 30) / 10) ** 2)
    rows = [features.peaked(t, y, np.full(30, 0.1), b, tuple("gr")) for b in (np.arange(30) % 2, np.zeros(30, int))]
    assert len(rows[0]) == len(rows[1])
    assert np.isfinite(rows[0][:8]).all() and np.isnan(rows[1][-len(features.WINDOWS) - 2 :]).all()


def test_curves_are_interpolated_band_by_band():
    made = stars(3)
    found = rivals.gridded(made, 20)
    for i in range(3):
        part = made.points(i)
        t, y, b = made.time[part], made.value[part], made.band[part]
        grid = np.linspace(t[0], t[-1], 20)
        spread = np.quantile(y, 0.9) - np.quantile(y, 0.1) + 1e-9
        for k in (0, 1):
            expected = (np.interp(grid, t[b == k], y[b == k]) - np.median(y)) / spread
            np.testing.assert_allclose(found[i, k], expected, rtol=1e-5)


def test_the_null_sees_no_value():
    made = stars(4)
    before = rivals.sampling(made)
    made.value[:] = RNG.normal(size=len(made.value))
    np.testing.assert_array_equal(rivals.sampling(made), before)


def test_trees_tell_shapes_apart_that_features_show():
    pytest.importorskip("lightgbm")
    train, test = stars(120), stars(40)
    x, y = (features.features(curves, periodic=True) for curves in (train, test))
    p, chosen = rivals.trees(x, train.label.astype(int), y, 2, seed=0)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-6)
    assert rivals.macro_f1(test.label, p.argmax(1), 2) > 0.95 and chosen["trials"] == len(rivals.SETTINGS)


def test_a_class_that_training_lacks_gets_no_probability():
    x, y = RNG.normal(size=(60, 3)), RNG.integers(0, 2, 60)
    p, _ = rivals.trees(x, y, x, 3, seed=0)
    assert (p[:, 2] == 0).all()


def test_a_linear_head_finds_a_plane():
    x = RNG.normal(size=(200, 4))
    y = (x @ [1.0, -2.0, 0.5, 0.0] > 0).astype(int)
    p = rivals.linear(x[:100], y[:100], x[100:], 3)
    assert (p.argmax(1) == y[100:]).mean() > 0.8 and (p[:, 2] == 0).all()
    np.testing.assert_allclose(p.sum(1), 1)


def test_a_linear_head_counts_a_rare_class_like_a_frequent_one():
    rng = np.random.default_rng(0)
    y = (np.arange(2000) % 20 == 0).astype(int)  # one in twenty
    x = rng.normal(size=(2000, 1)) + y[:, None]  # equal spreads, one apart: halfway is where both are equally likely
    found = rivals.linear(x[:1000], y[:1000], x[1000:], 2).argmax(1)
    border = x[1000:][found == 1].min()
    assert abs(border - 0.5) < 0.25  # standard error of the mean of the rare class's fifty: 0.14; unweighted: 3.4


def test_the_linear_heads_setting_is_the_best_on_what_is_held_back():
    """Noise of four times the features: of two settings the one with the larger penalty, whichever is named first."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(120, 400)), np.arange(120) % 2
    x[:, 0] += 3 * y
    alone, free = (rivals.linear(x, y, x, 2, settings=[one]) for one in ((0.001, -1.0), (1e4, -1.0)))
    held = rivals.hold_out(y, 0, None)
    scores = [
        rivals.macro_f1(y[held], rivals.linear(x[~held], y[~held], x[held], 2, settings=[one]).argmax(1), 2)
        for one in ((0.001, -1.0), (1e4, -1.0))
    ]
    better = (alone, free)[int(np.argmax(scores))]
    assert scores[0] != scores[1]
    for order in (((0.001, -1.0), (1e4, -1.0)), ((1e4, -1.0), (0.001, -1.0))):
        np.testing.assert_array_equal(rivals.linear(x, y, x, 2, settings=order), better)


def test_score_is_scikit_learns():
    label, predicted = RNG.integers(0, 5, 200), RNG.integers(0, 5, 200)
    assert rivals.macro_f1(label, predicted, 6) == pytest.approx(f1_score(label, predicted, average="macro"))


def test_minirocket_reads_curves_and_numbers_of_the_whole_object():
    """Stars of two kinds by their curves alone; stars that are all alike by a number that is their kind, alone."""
    pytest.importorskip("aeon")
    kind = np.arange(40) % 2
    number = 1.0 - 2 * kind[:, None]

    def right(classes: int, number: np.ndarray) -> float:
        train, test = stars(40, classes), stars(40, classes)
        train.label[:] = test.label[:] = kind
        p = rivals.minirocket(train, test, number, number, seed=0, steps=64)
        assert p.shape == (40, 2) and (p.sum(1) == 1).all()
        return (p.argmax(1) == kind).mean()

    assert right(2, 0 * number) > 0.7 and right(1, number) > 0.7  # by chance 0.5, standard error 0.08


def _tokens(n: int = 4, points: int = 12, bands: int = 3, seed: int = 0) -> Tokens:
    """Objects of several lengths, their points in the order of time."""
    generator = torch.Generator().manual_seed(seed)
    band = torch.randint(bands, (n, points), generator=generator).double()
    time = torch.rand(n, points, generator=generator, dtype=torch.float64).sort(1).values * 100
    pad = torch.arange(points) >= torch.tensor([points - 3 * i for i in range(n)])[:, None]
    values = torch.randn(n, points, 6, generator=generator)
    return Tokens(values=values, positions=torch.stack((band, time), -1), pad=pad)


def test_a_point_knows_the_last_value_of_every_band_and_how_long_ago():
    tokens = _tokens()
    seen, last, gap = observed(tokens, 3)
    for i in range(len(tokens)):
        latest = {}  # band -> (value, time)
        for j in range(int(tokens.real[i].sum())):
            band, time = tokens.positions[i, j].tolist()
            for k in range(3):
                value, at = latest.get(k, (0.0, float(tokens.positions[i, 0, 1])))
                assert (last[i, j, k], bool(seen[i, j, k])) == (value, k == band)
                assert gap[i, j, k] == pytest.approx(time - at, abs=1e-4)  # float32
            latest[int(band)] = (float(tokens.values[i, j, 0]), time)


def test_gru_d_reads_no_padding_and_no_absolute_time():
    tokens, model = _tokens(), GRUD(3, 6, 2)
    for parameter in model.parameters():  # so that every part of it acts
        torch.nn.init.normal_(parameter, std=0.5)
    answer = model(tokens)
    spoilt = tokens.values.masked_fill(~tokens.real[..., None], 1e3)
    assert torch.equal(model(replace(tokens, values=spoilt)), answer)
    later = tokens.positions + torch.tensor([0.0, 4096.0])
    assert torch.allclose(model(replace(tokens, positions=later)), answer, atol=1e-5)
    assert not torch.allclose(model(replace(tokens, positions=tokens.positions * torch.tensor([1.0, 3.0]))), answer)

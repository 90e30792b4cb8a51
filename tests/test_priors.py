"""Draws of priors are what they say, answers are graded rightly, and filling a series does not mind its units."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern, WhiteKernel

from romae_book.experiments.priors import data, rivals
from romae_book.experiments.priors.experiment import Priors
from romae_lite import fill
from romae_lite.model import gaussian_loss, masked_loss
from romae_lite.series.fill import windows

EXP = Priors.quick().replace(n_train=300, n_valid=20, n_test=200)


@pytest.fixture(scope="module")
def drawn():
    return data.generate(2000, np.random.default_rng(0))


@pytest.fixture(scope="module")
def model():
    """Untrained, with weights large enough for every part to matter."""
    built, generator = EXP.build(0).eval(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in built.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
    return built


# Draws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda d: data.rbf(d, torch.tensor(1.7)), RBF(1.7)),
        *((lambda d, nu=nu: data.matern(d, torch.tensor(1.7), nu), Matern(1.7, nu=nu)) for nu in (0.5, 1.5, 2.5)),
        (lambda d: data.periodic(d, torch.tensor(3.0), torch.tensor(0.8)), ExpSineSquared(0.8, 3.0)),
    ],
)
def test_kernels_are_scikit_learns(ours, theirs):
    t = np.linspace(-3, 4, 23)[:, None]
    np.testing.assert_allclose(ours(torch.from_numpy(t - t.T)), theirs(t), atol=1e-6)  # 1.7 in float32


def test_draws_have_the_covariance_of_their_kernel(monkeypatch):
    """40,000 draws of one kernel at the same times: every entry of the empirical covariance, within five standard
    errors, sqrt((K_ii K_jj + K_ij^2) / n)."""
    n, t = 40_000, np.array([0.0, 0.7, 1.5, 4.0, 9.0])
    rng, seen = np.random.default_rng(0), torch.from_numpy(t)
    K = data.matern(seen[:, None] - seen, torch.tensor(2.0, dtype=torch.float64), 1.5)
    asked = np.full(data.ASKED, 2.2) + 0.01 * np.arange(data.ASKED)
    where = torch.from_numpy(np.concatenate((t, asked)))
    whole = data.matern(where[:, None] - where, torch.tensor(2.0, dtype=torch.float64), 1.5)
    monkeypatch.setattr(data, "times", lambda count, _: (np.tile(t, (len(count), 1)), np.tile(asked, (len(count), 1))))
    monkeypatch.setattr(data, "covariance", lambda times, *_: whole.expand(len(times), -1, -1))
    monkeypatch.setattr(data, "centre_and_scale", lambda y, real: (torch.zeros(len(y), 1), torch.ones(len(y), 1)))
    monkeypatch.setattr(data, "NOISE", (0.3, 0.3 * (1 + 1e-12)))
    parts = [data._drawn(np.full(4000, 5), rng) for _ in range(n // 4000)]
    y = torch.cat([part["values"][:, :5] for part in parts]).double()
    expected = K + 0.09 * torch.eye(5)
    error = ((expected.diagonal()[:, None] * expected.diagonal() + expected**2) / n).sqrt()
    assert ((y.T @ y / n - expected).abs() < 5 * error).all()
    first = parts[0]  # and the answer beside a draw is that of scikit-learn's process
    kernel = ConstantKernel(1.0) * Matern(2.0, nu=1.5)
    real = ~first["pad"][0, data.SEEN[1] :].numpy()
    process = GaussianProcessRegressor(kernel, alpha=0.09, optimizer=None).fit(t[:, None], first["values"][0, :5])
    mean, deviation = process.predict(asked[real, None], return_std=True)
    np.testing.assert_allclose(first["mean"][0, real], mean, atol=1e-5)
    np.testing.assert_allclose(first["variance"][0, real], deviation**2, atol=1e-5)  # asked points carry 1e-6 more


def test_the_best_answer_is_right_about_every_kind(drawn):
    """The curve, less its posterior mean, over its posterior deviation: mean 0 and variance 1 over series."""
    real, kind = drawn.real[:, data.SEEN[1] :], drawn.aux["kind"]
    off = (drawn.aux["clean"] - drawn.aux["mean"]) / drawn.aux["variance"].sqrt()
    for i in range(len(data.KINDS)):
        mine = [off[s][real[s]].double() for s in (kind == i).nonzero()[:, 0]]
        for power, expected in ((1, 0.0), (2, 1.0)):
            means = torch.tensor([(x**power).mean() for x in mine])
            assert len(means) > 300 and abs(means.mean() - expected) < 4 * means.std() / math.sqrt(len(means))


def test_series_are_in_the_units_of_a_users(drawn):
    seen = data.SEEN[1]
    real, t, y = (x[:, :seen] for x in (drawn.real, drawn.positions[..., 0], drawn.values[..., 0].double()))
    count = real.sum(1)
    assert (count.min(), count.max()) == data.SEEN
    for s in range(0, 2000, 40):
        mine, values = t[s][real[s]].numpy(), y[s][real[s]].numpy()
        assert np.median(np.diff(mine)) == pytest.approx(1) and mine[0] == pytest.approx(-mine[-1])
        assert values.mean() == pytest.approx(0, abs=1e-5) and values.std() == pytest.approx(1, abs=1e-5)
    asked = drawn.real[:, seen:].sum(1)
    assert asked.min() >= 1 and (asked == data.ASKED).float().mean() > 0.4  # half, less those that lie too far off
    assert drawn.aux["mean"][drawn.real[:, seen:]].abs().max() <= data.FAR


def test_splits_share_nothing():
    made = EXP.data(0)
    assert not set(made.train.values[:, 0, 0].tolist()) & set(made.test.values[:, 0, 0].tolist())
    again = EXP.data(0)
    assert torch.equal(again.test.values, made.test.values) and torch.equal(again.test.positions, made.test.positions)


# Training and grades --------------------------------------------------------------------------------------------------


def test_loss_is_the_mean_over_single_series(model):
    """In padded batches, against one series at a time by the formula, each answer beside the posterior of its place."""
    made, total, count = EXP.data(0).valid, 0.0, 0
    found = EXP.loss(model, made, torch.Generator())
    for s in range(len(made)):
        one = made[[s]]
        mean, variance = EXP.predict(model, one)
        for k in one.real[0, data.SEEN[1] :].nonzero()[:, 0].tolist():
            left = float(one.aux["variance"][0, k] + one.aux["noise"][0] ** 2)
            square = (mean[0, k] - float(one.aux["mean"][0, k])) ** 2 + left
            total += 0.5 * (square / variance[0, k] + math.log(2 * math.pi * variance[0, k]))
            count += 1
    assert found.item() == pytest.approx(total / count, rel=1e-4)  # float32
    drawn = EXP.replace(target="drawn").loss(model, made, torch.Generator())
    hidden = (~data.seen_slots()).expand(len(made), -1)
    assert drawn.item() == pytest.approx(masked_loss(model, made, hidden, gaussian_loss).item(), rel=1e-5)


def test_expected_loss_is_the_mean_loss_of_measurements():
    generator = torch.Generator().manual_seed(0)
    prediction, mean = torch.randn(1, 3, 2, generator=generator), torch.randn(1, 3, 1, generator=generator)
    variance = torch.tensor([[0.2, 1.0, 3.0]])
    noise = torch.randn(20_000, 3, 1, generator=generator)
    targets = mean + variance.sqrt()[..., None] * noise
    losses = [gaussian_loss(prediction.expand(500, -1, -1), part, None) for part in targets.split(500)]
    losses = torch.stack(losses)
    error = losses.std() / math.sqrt(len(losses))
    assert abs(gaussian_loss(prediction, mean, None, variance[..., None]) - losses.mean()) < 4 * error


def test_grades_of_the_best_answer_are_the_best(drawn):
    few = drawn[slice(0, 2000, 8)]
    found = EXP.score(lambda part: rivals.best(part, 1.0), few, groups=True)
    assert found["nll_gap"] == 0 and found["mse_ratio"] == 1 and found["nll_gap_rough"] == 0
    assert found["coverage68"] == pytest.approx(0.6827, abs=0.03) and found["coverage95"] == pytest.approx(
        0.95, abs=0.02
    )
    wide = EXP.score(lambda part: (rivals.best(part, 1.0)[0], 4 * rivals.best(part, 1.0)[1]), few)
    assert wide["coverage68"] > 0.93 and wide["mse_ratio"] == 1
    # twice the deviation: log 2 more, less 3/8 of the squared error over its variance, which is 1 in the mean
    assert wide["nll_gap"] == pytest.approx(math.log(2) - 0.375, abs=0.03)


def test_a_clearer_case_gets_a_clearer_kernel():
    """The likeliest kernel of the grid against scikit-learn's likelihood of each, the variance fitted by it."""
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0, 20, 18))
    y = np.sin(t) + 0.1 * rng.standard_normal(18)
    y = (y - y.mean()) / y.std()
    at = np.linspace(-1, 21, 7)
    mean, variance, noise, (chosen,) = rivals.likeliest(*(torch.from_numpy(x)[None] for x in (t, y, at)))
    best, score = None, -math.inf
    for kernel in rivals.GRID[::3]:
        base = {
            "rbf": RBF(kernel.length), "matern32": Matern(kernel.length, nu=1.5),
            "matern12": Matern(kernel.length, nu=0.5), "periodic": ExpSineSquared(1.0, kernel.length),
        }[kernel.kind]
        whole = ConstantKernel(1.0) * (base + WhiteKernel(kernel.noise**2))
        K = whole(t[:, None])
        power = float(y @ np.linalg.solve(K, y)) / len(t)
        process = GaussianProcessRegressor(ConstantKernel(power) * whole, alpha=0, optimizer=None).fit(t[:, None], y)
        if process.log_marginal_likelihood_value_ > score:
            best, score = (kernel, process), process.log_marginal_likelihood_value_
        if kernel == chosen:
            expected = process.predict(at[:, None], return_std=True)
            np.testing.assert_allclose(mean[0], expected[0], atol=1e-8)
            np.testing.assert_allclose((variance[0] + noise).sqrt(), expected[1], atol=1e-6)
    if chosen in rivals.GRID[::3]:
        assert best[0] == chosen


# Filling --------------------------------------------------------------------------------------------------------------


def wave(n: int = 20, seed: int = 0):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 12, n))
    return t, np.sin(t) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("n", [20, 130])
def test_fill_follows_units_and_origins(model, n):
    t, y = wave(n)
    at = np.linspace(-0.3, 12.3, 40)
    mean, deviation = fill(t, y, at, model=model)
    assert np.ptp(mean) > 0.1 and np.ptp(deviation) > 0.01
    for a, b, c, d in ((1, 59_000.0, 1, 0), (86_400.0, 0, 1, 0), (1, 0, 1e-6, 0), (0.01, -3, 50.0, 300.0)):
        moved = fill(a * t + b, c * y + d, a * at + b, model=model)
        # float32 inside; times of 5.9e4 keep 1e-11 of their value in float64
        np.testing.assert_allclose((moved[0] - d) / c, mean, atol=2e-4)
        np.testing.assert_allclose(moved[1] / c, deviation, atol=2e-4)
    shuffled = np.random.default_rng(1).permutation(n)
    np.testing.assert_allclose(fill(t[shuffled], y[shuffled], at, model=model)[0], mean, atol=1e-6)


def test_fill_is_the_model_asked_as_in_training(model):
    """Against the experiment's own predictions on a drawn series, which has the units of the model already."""
    made = EXP.data(0).test
    for s in (3, 100, 190):
        one, count = made[[s]], int(made.real[s, : data.SEEN[1]].sum())
        real = one.real[0, data.SEEN[1] :]
        t, y = one.positions[0, :, 0].numpy(), one.values[0, :, 0].double().numpy()
        found = fill(t[:count], y[:count], t[data.SEEN[1] :][real], model=model)
        expected = EXP.predict(model, one)
        np.testing.assert_allclose(found[0], expected[0][0, real], atol=2e-4)
        np.testing.assert_allclose(found[1], np.sqrt(expected[1][0, real]), atol=2e-4)


def test_gaps_dates_and_default_places(model):
    t, y = wave()
    gaps = y.copy()
    gaps[[4, 11]] = np.nan
    mean, deviation = fill(t, gaps, model=model)
    expected = fill(np.delete(t, [4, 11]), np.delete(y, [4, 11]), t, model=model)
    assert len(mean) == 20 and np.array_equal(mean, expected[0]) and np.array_equal(deviation, expected[1])
    masked = np.ma.masked_array(np.where(np.isnan(gaps), -9999, y), np.isnan(gaps))
    assert np.array_equal(fill(t, masked, model=model)[0], mean)
    dates = np.datetime64("2024-03-01") + (t * 86_400).astype("timedelta64[s]")
    whole = (t * 86_400).astype(int)
    np.testing.assert_allclose(
        fill(dates, y, dates[3:5], model=model), fill(whole, y, whole[3:5], model=model), rtol=1e-9
    )
    listed = [None if np.isnan(v) else float(v) for v in gaps]  # as Python has them
    np.testing.assert_array_equal(
        fill(dates.tolist(), listed, dates[3:5].tolist(), model=model), fill(dates, gaps, dates[3:5], model=model)
    )


@pytest.mark.parametrize("level", [0.0, 0.3])
def test_a_flat_stretch_longer_than_a_window_is_filled(level):
    """By the model that comes with the package; level + 1e-16 is the same number but for rounding."""
    t = np.arange(300.0)
    flat = (t > 100) & (t < 220)
    y = np.where(flat, level + 1e-16 * (t % 2), np.sin(t / 5)) if level else np.where(flat, 0.0, np.sin(t / 5))
    mean, deviation = fill(t, y, [140.5, 150.5, 180.5])
    assert (np.abs(mean - level) < 0.1).all() and ((1e-3 < deviation) & (deviation < 0.3)).all()


def test_nanoseconds_are_not_lost(model):
    t, y = np.arange(30), np.sin(np.arange(30) / 3)
    dates = np.datetime64("2024-03-01", "ns") + 50 * t
    np.testing.assert_allclose(fill(dates, y, dates[3:5], model=model), fill(t, y, t[3:5], model=model), rtol=1e-9)


def test_times_with_a_zone_are_asked_with_one(model):
    when = pd.date_range("2024-03-01", periods=20, freq="h", tz="America/New_York")
    values = wave()[1]
    expected = fill(np.arange(20), values, np.arange(3, 5), model=model)
    np.testing.assert_allclose(fill(when, values, when[3:5].tz_convert("UTC"), model=model), expected, rtol=1e-9)
    with pytest.raises(TypeError, match="at have no time zone, times have one"):
        fill(when, values, when[3:5].tz_localize(None), model=model)
    with pytest.raises(TypeError, match="at are numbers; times are dates"):
        fill(when, values, [3.0], model=model)


def test_far_outside_is_said(model):
    t, y = wave()
    with pytest.warns(UserWarning, match="2 of 3 times lie further outside the series than a tenth of its length"):
        fill(t, y, [-90.0, 6.0, 300.0], model=model)


@pytest.mark.parametrize("count", [3, 60, 61, 80, 81, 100, 500])
def test_windows_answer_for_every_point_once(count):
    found = windows(count)
    owners = np.zeros(count, int)
    for start, first, last in found:
        owners[first:last] += 1
        assert 0 <= start <= first < last <= min(start + 60, count)
        edge = min(count, 60) // 3  # what answers lies a third of the window from its ends, where the series goes on
        assert start == 0 or first - start >= edge
        assert start + 60 >= count or start + 60 - last >= edge
    assert (owners == 1).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"times": [1.0, 2.0, 3.0]}, ValueError, "times has 3 entries, values has 4"),
        ({"values": [1.0, np.nan, np.nan, 2.0]}, ValueError, "2 measurements at different times; at least 3"),
        ({"values": [2.0] * 4}, ValueError, "values are all 2"),
        ({"values": ["a"] * 4}, ValueError, "values of row 0 is 'a'; it must be a number"),
        ({"values": [1j, 2, 3, 4]}, TypeError, "values is complex; it must be real"),
        ({"values": [1e308, -1e308, 1e308, 0]}, ValueError, "values of row 0 is 1e\\+308, too large"),
        ({"at": [[1.0]]}, ValueError, r"at has shape \(1, 1\)"),
        ({"at": [np.nan]}, ValueError, "at of row 0 is missing"),
        (
            {"times": np.array(["2024-01-01"] * 4, "M8[D]"), "at": [1.0]},
            TypeError,
            "at are numbers; times are dates",
        ),
    ],
)
def test_what_cannot_be_filled_is_refused_by_name(model, change, error, message):
    with pytest.raises(error, match=message):
        fill(**{"times": [1.0, 2.0, 3.0, 5.0], "values": [1.0, 2.0, 1.5, 0.0], "at": [4.0]} | change, model=model)

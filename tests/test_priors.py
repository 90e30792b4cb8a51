"""Draws of priors are what they say, answers are graded rightly, and filling a series does not mind its units."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern, WhiteKernel

from romae_book.experiments.priors import data, experiment, rivals
from romae_book.experiments.priors.experiment import Priors
from romae_lite.series.filler import WINDOW, answer, fill_arrays, fill_each, filling_loss, smallest_step, windows
from romae_lite.series.filling import fill_series as fill
from romae_lite.training import Interrupted

EXP = Priors.quick().replace(n_train=960, n_valid=20, n_test=200)


@pytest.fixture(scope="module")
def drawn():
    return data.generate(3000, np.random.default_rng(0))


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
    errors, sqrt((K_ii K_jj + K_ij^2) / n); and the answer beside a draw is that of scikit-learn's process."""
    n, t = 40_000, np.array([0.0, 0.7, 1.5, 4.0, 9.0])
    asked = 2.2 + 0.3 * np.arange(data.ASKED)
    where = torch.from_numpy(np.concatenate((t, asked)))
    whole = data.matern(where[:, None] - where, torch.tensor(2.0, dtype=torch.float64), 1.5)
    monkeypatch.setattr(data, "times", lambda count, *_: (np.tile(t, (count, 1)), np.tile(asked, (count, 1))))
    monkeypatch.setattr(data, "even_time", lambda t, *_: t)
    monkeypatch.setattr(data, "wander", lambda u, *_: np.zeros_like(u))
    monkeypatch.setattr(data, "covariance", lambda at, *_: (whole.repeat(len(at), 1, 1), torch.zeros(len(at))))
    monkeypatch.setattr(data, "centre_and_scale", lambda y: (torch.zeros(len(y), 1), torch.ones(len(y), 1)))
    even = lambda u, *_: (np.full(u.shape, 0.3),) * 2 + (np.zeros(len(u), int),)  # noqa: E731
    monkeypatch.setattr(data, "noises", even)
    parts = [data.draw(4000, 5, np.random.default_rng(i)) for i in range(n // 4000)]
    y = torch.cat([part.values[part.aux["style"] == 0, :5, 0] for part in parts]).double()
    K = whole[:5, :5] + 0.09 * torch.eye(5)
    error = ((K.diagonal()[:, None] * K.diagonal() + K**2) / len(y)).sqrt()
    assert len(y) > n / 2 and ((y.T @ y / len(y) - K).abs() < 5 * error).all()
    one = parts[0][parts[0].aux["style"] == 0][:1]
    process = GaussianProcessRegressor(ConstantKernel(1.0) * Matern(2.0, nu=1.5), alpha=0.09, optimizer=None)
    mean, deviation = process.fit(t[:, None], one.values[0, :5, 0]).predict(asked[:, None], return_std=True)
    np.testing.assert_allclose(one.aux["mean"][0], mean, atol=1e-5)
    np.testing.assert_allclose(one.aux["variance"][0], deviation**2 + 0.09, atol=1e-5)  # asked points carry 1e-6 more


def test_walks_trends_and_jumps_are_what_they_say():
    """Against Brownian motion's min(t, t'), and against curves drawn by hand and averaged."""
    t = torch.tensor([[2.0, 3.0, 5.0, 9.0]], dtype=torch.float64)
    span = torch.full((1, 1, 1), 7.0, dtype=torch.float64)
    since = t[0] - 2
    np.testing.assert_allclose(data.walk(t, span)[0], torch.minimum(since[:, None], since) / 7)
    x = (t[0] - t.mean()) / 7
    bent = 12 * torch.outer(x, x) + 72 * 0.5 * torch.outer(x**2, x**2)
    np.testing.assert_allclose(data.trend(t, span, torch.full((1, 1, 1), 0.5, dtype=torch.float64))[0], bent)
    found = data.jumps(t, span, span, torch.ones(1, 1, 1, dtype=torch.bool), np.random.default_rng(0))[0]
    values = torch.linalg.eigvalsh(found)
    assert values.min() > -1e-9 and (found.diagonal().diff() >= 0).all()  # lasting steps only add up


def test_the_best_answer_is_right_about_every_kind(drawn):
    """Measurements, less the best mean, over the best deviation: mean 0 and variance 1 over series."""
    off = (drawn.values[:, data.SEEN[1] :, 0] - drawn.aux["mean"]) / drawn.aux["variance"].sqrt()
    known = drawn.aux["style"] < data.NOISES.index("heavy")
    for i in range(len(data.KINDS)):
        mine = off[known & (drawn.aux["kind"] == i)].double()
        for power, expected in ((1, 0.0), (2, 1.0)):
            means = (mine**power).mean(1)
            assert len(means) > 40 and abs(means.mean() - expected) < 4 * means.std() / math.sqrt(len(means))


def test_series_are_in_the_units_of_a_users(drawn):
    seen = data.SEEN[1]
    real, t, y = (x[:, :seen] for x in (drawn.real, drawn.positions[..., 0], drawn.values[..., 0].double()))
    count = real.sum(1)
    assert count.min() <= 5 and count.max() >= 120
    for s in range(0, 3000, 60):
        mine, values = t[s][real[s]].numpy(), y[s][real[s]].numpy()
        assert np.median(np.diff(mine)) == pytest.approx(1) and mine[0] == 0 and (np.diff(mine) > 0).all()
        assert values.mean() == pytest.approx(0, abs=1e-5) and values.std() == pytest.approx(1, abs=1e-5)
    asked, last = drawn.positions[:, seen:, 0], t.amax(1)
    beyond = (asked > last[:, None]).float().mean(1)
    assert 0.08 < (beyond > 0.3).float().mean() < 0.3 and (asked[:, 0] < 0).any()  # forecasts and the other way round


def test_rounded_values_stand_for_all_that_round_to_them(drawn):
    seen = data.SEEN[1]
    rows = (drawn.aux["style"] == data.NOISES.index("rounded")).nonzero()[:, 0]
    assert len(rows) > 200
    for s in rows[::20]:
        y = drawn.values[s, :, 0][drawn.real[s]].double()
        steps = y.sort().values.diff()
        step = 2 * drawn.aux["variance"][s, 0].sqrt().item()
        if step > 0.05:  # float32, and a step for each is well above its rounding
            assert ((steps / step) - (steps / step).round()).abs().max() < 0.01
            np.testing.assert_allclose(drawn.aux["mean"][s], drawn.values[s, seen:, 0])


def test_stated_errors_are_those_of_the_noise(drawn):
    """Of series with even noise and a stated error, that is what no curve explains."""
    seen = data.SEEN[1]
    stated = (drawn.aux["error"][:, 0] > 0) & (drawn.aux["style"] == 0)
    assert 0.2 < (drawn.aux["error"][:, 0] > 0).float().mean() < 0.3 and not drawn.aux["error"][:, seen:].any()
    np.testing.assert_allclose(
        drawn.aux["error"][stated, 0], drawn.aux["noise"][stated, 0].sqrt(), rtol=0.1, atol=2e-4
    )  # 1e-4 of the curve are added, in case


def test_splits_share_nothing_and_a_stream_repeats():
    made = EXP.data(0)
    first = made.train[torch.arange(EXP.batch)]
    assert not set(made.test.values[:, 0, 0].tolist()) & set(made.valid.values[:, 0, 0].tolist())
    assert not set(first.values[:, 0, 0].tolist()) & set(made.test.values[:, 0, 0].tolist())
    again = EXP.data(0)
    assert torch.equal(again.test.values, made.test.values) and torch.equal(again.test.positions, made.test.positions)
    later = torch.arange(2 * data.BLOCK, 2 * data.BLOCK + EXP.batch)
    assert torch.equal(again.train[later].values, made.train[later].values)
    assert made.train.fingerprint() == again.train.fingerprint() != EXP.data(1).train.fingerprint()
    with pytest.raises(IndexError, match="several blocks of 96"):
        made.train[torch.arange(90, 100)]
    with pytest.raises(ValueError, match="batch is 36; it must divide 96"):
        EXP.replace(batch=36)


# Training and grades --------------------------------------------------------------------------------------------------


def test_the_network_starts_as_lines(drawn):
    """A fresh model answers what numpy's straight lines do; and its loss is the formula's, by hand."""
    part = drawn[slice(0, 3000, 100)]
    mean, variance = EXP.predict(EXP.build(0), part)
    for s in range(len(part)):
        real = part.real[s, : data.SEEN[1]]
        t, y = part.positions[s, : data.SEEN[1], 0][real], part.values[s, : data.SEEN[1], 0][real]
        np.testing.assert_allclose(mean[s], np.interp(part.positions[s, data.SEEN[1] :, 0], t, y), atol=1e-6)
    assert (variance > 0).all()


def test_rounds_go_on_where_they_were_stopped(tmp_path):
    """Stopped in the second round and begun anew: the same weights, and steps counted through."""
    exp = EXP.replace(n_train=192, rounds=2, n_valid=5)
    data_ = exp.data(0)
    whole, history = exp.train(data_, 0)
    assert [e["step"] for e in history][-1] == 12 and history[-1]["epoch"] == 2
    calls = iter(range(100))
    with pytest.raises(Interrupted):
        exp.train(data_, 0, checkpoint=tmp_path / "run.safetensors", stop=lambda: next(calls) == 8)
    again, resumed = exp.train(data_, 0, checkpoint=tmp_path / "run.safetensors")
    assert {path.name for path in tmp_path.glob("*")} == {"run.safetensors", "run.1.safetensors"}
    assert [e["step"] for e in resumed] == [e["step"] for e in history]
    for (name, a), b in zip(whole.state_dict().items(), again.state_dict().values(), strict=True):
        assert torch.equal(a, b), name


def test_loss_is_the_expected_one_of_measurements(model):
    """Against draws of measurements, each with its own negative log-likelihood, where the answer is near; and beyond
    four deviations it grows as a logarithm."""
    batch = data.draw(30, 12, np.random.default_rng(2))
    view, generator = experiment.view(batch), torch.Generator().manual_seed(0)
    with torch.no_grad():
        off, log_variance = answer(model, view)
    near = view.line + view.unit * (off + 0.3)
    variance = 0.2 * view.unit**2 * log_variance.exp()
    noise = torch.randn(4000, *near.shape, generator=generator, dtype=torch.float64) * variance.sqrt()
    z = ((near + noise - view.line) / view.unit - off) / (log_variance / 2).exp()
    losses = 0.5 * (z**2 + log_variance).mean((1, 2))
    with torch.no_grad():
        found = filling_loss(model, view, near, variance)
        assert abs(found - losses.mean()) < 5 * losses.std() / math.sqrt(len(losses))
        far = [filling_loss(model, view, view.line + view.unit * (off + k * (log_variance / 2).exp())) for k in (8, 80)]
    assert far[1] - far[0] == pytest.approx(8 * math.log(100), rel=1e-6)


def test_grades_of_the_best_answer_are_the_best(drawn):
    few = drawn[slice(0, 3000, 8)]
    found = EXP.score(rivals.best, few, groups=True)
    assert found["nll_gap"] == pytest.approx(0, abs=1e-6) and found["mse_ratio"] == pytest.approx(1)
    assert found["coverage68_even"] == pytest.approx(0.6827, abs=0.04)
    assert found["coverage95_even"] == pytest.approx(0.95, abs=0.03)
    wide = EXP.score(lambda part: (rivals.best(part)[0], 4 * rivals.best(part)[1]), few)
    assert wide["mse_ratio"] == pytest.approx(1)
    assert wide["nll_gap"] == pytest.approx(math.log(2) - 0.375)  # of normals: log 2, less (1 - 1/4) / 2


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


def test_fill_is_the_model_asked_as_in_training(model, drawn):
    """Against the experiment's own predictions on drawn series of one window."""
    seen = data.SEEN[1]
    fits = (drawn.real[:, :seen].sum(1) <= WINDOW) & (drawn.aux["style"] < data.NOISES.index("rounded"))
    part = drawn[fits.nonzero()[::150, 0]]
    mean, variance = EXP.predict(model, part)
    for s in range(len(part)):
        real, t, y = part.real[s, :seen], part.positions[s, :, 0].numpy(), part.values[s, :, 0].double().numpy()
        error = part.aux["error"][s, :seen][real].double().numpy()
        found = fill_arrays(t[:seen][real], y[:seen][real], t[seen:], error, model)
        np.testing.assert_allclose(found[0], mean[s], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found[1], np.sqrt(variance[s]), rtol=1e-4)


def test_many_series_are_filled_as_each_alone(model):
    """Whatever goes through the network together; float32 sums in another order."""
    rng = np.random.default_rng(0)
    series = []
    for n in (3, 3, 20, 20, 97, 97, 130, 400):
        t = np.sort(rng.uniform(0, n, n))
        series.append((t, rng.standard_normal(n), rng.uniform(-2, n + 2, 17), None if n % 2 else rng.random(n)))
    for one, (mean, deviation) in zip(series, fill_each(series, model), strict=True):
        alone = fill_arrays(*one, model=model)
        np.testing.assert_allclose(mean, alone[0], atol=1e-4)
        np.testing.assert_allclose(deviation, alone[1], rtol=1e-3)


def test_what_was_measured_at_one_time_is_averaged(model):
    t, y = wave()
    error = np.where(np.arange(20) % 3 == 1, 0.3, 0.02)
    twice = fill([*t, t[4], t[4]], [*y, y[4] + 0.3, y[4] - 0.6], [5.0], error=[*error, 0.3, 0.3], model=model)
    y[4] -= 0.1
    error[4] = 0.3 / math.sqrt(3)
    np.testing.assert_allclose(twice, fill(t, y, [5.0], error=error, model=model), rtol=1e-4)
    unknown = fill(t, y, [5.0], error=[np.nan] * 20, model=model)
    assert np.array_equal(unknown, fill(t, y, [5.0], model=model)) and not np.allclose(unknown, twice, rtol=1e-3)


def test_the_smallest_step_counts_where_values_repeat():
    assert smallest_step(np.array([0.3, 0.1, 0.1 + 1e-16, 0.6])) == pytest.approx(0.2)
    assert smallest_step(np.array([0.3, 0.1, 0.6])) == smallest_step(np.array([2.0, 2.0])) == 0


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


@pytest.mark.parametrize(
    "when", [np.datetime64("2024-03-01", "ns") + 50 * np.arange(20), pd.date_range("2024", periods=20, tz="Asia/Tokyo")]
)
def test_dates_are_filled_as_numbers_are(model, when):
    values = wave()[1]
    expected = fill(np.arange(20), values, np.arange(3, 5), model=model)
    np.testing.assert_allclose(fill(when, values, when[3:5], model=model), expected, rtol=1e-9)
    with pytest.raises(TypeError, match="at are numbers; times are dates"):
        fill(when, values, [3.0], model=model)
    if isinstance(when, pd.DatetimeIndex):
        with pytest.raises(TypeError, match="at have no time zone, times have one"):
            fill(when, values, when[3:5].tz_localize(None), model=model)


def test_far_outside_is_said(model):
    t, y = wave()
    with pytest.warns(UserWarning, match="2 of 3 times lie further outside the series than half its length"):
        fill(t, y, [-90.0, 6.0, 300.0], model=model)


@pytest.mark.parametrize("count", [3, 96, 97, 128, 129, 160, 800])
def test_windows_answer_for_every_point_once(count):
    found = windows(count)
    owners = np.zeros(count, int)
    for start, first, last in found:
        owners[first:last] += 1
        assert 0 <= start <= first < last <= min(start + WINDOW, count)
        edge = min(count, WINDOW) // 3  # what answers lies a third of the window from an end where the series goes on
        assert start == 0 or first - start >= edge
        assert start + WINDOW >= count or start + WINDOW - last >= edge
    assert (owners == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": [1.0, 2.0, 3.0]}, "times has 3 entries, values has 4"),
        ({"error": [1.0, 2.0, 3.0]}, "error has 3 entries, values has 4"),
        ({"error": [1.0, -2.0, 3.0, 1.0]}, "error is -2 in row 1; it must be 0 or more"),
        ({"values": [1.0, np.nan, np.nan, 2.0]}, "2 measurements at different times; at least 3"),
        ({"values": [2.0] * 4}, "values are all 2"),
    ],
)
def test_what_cannot_be_filled_is_refused_by_name(model, change, message):
    with pytest.raises(ValueError, match=message):
        fill(**{"times": [1.0, 2.0, 3.0, 5.0], "values": [1.0, 2.0, 1.5, 0.0], "at": [4.0]} | change, model=model)


# The model that comes with the package --------------------------------------------------------------------------------


def hidden(count: int, rng) -> np.ndarray:
    """A fifth of the points, never the first or last."""
    out = np.zeros(count, bool)
    out[1 + rng.choice(count - 2, count // 5, replace=False)] = True
    return out


def against_lines(t, y, truth, rng) -> tuple[float, np.ndarray]:
    """Error over that of straight lines at hidden points, and these in stated deviations."""
    out = hidden(len(t), rng)
    mean, deviation = fill(t[~out], y[~out], t[out])
    lines = np.interp(t[out], t[~out], y[~out])
    ratio = np.sqrt(np.mean((mean - truth[out]) ** 2) / np.mean((lines - truth[out]) ** 2))
    return ratio, (y[out] - mean) / deviation


def sine(rng):
    t = np.sort(rng.uniform(0, 400, 400))
    return t, np.sin(2 * np.pi * t / 17)


def random_walk(rng):
    return np.arange(400.0), np.cumsum(rng.standard_normal(400))


def drifting(rng):
    """A chirp in the logarithm of time: spacing and periods both grow a hundredfold."""
    t = np.exp(np.linspace(0, np.log(100), 400))
    return t, np.sin(12 * np.log(t)) + 0.05 * rng.standard_normal(400)


# lines are the best answer to a random walk, nearly; elsewhere the curve between two points can be known better
@pytest.mark.parametrize(("made", "most"), [(sine, 0.8), (random_walk, 1.05), (drifting, 1.0)])
def test_it_is_no_worse_than_lines(made, most):
    ratios, off = zip(*(against_lines(*(m := made(np.random.default_rng(i))), m[1], np.random.default_rng(100 + i))
                        for i in range(4)), strict=True)
    assert np.exp(np.mean(np.log(ratios))) < most
    assert 0.8 < (np.abs(np.concatenate(off)) < 2).mean() and np.abs(np.concatenate(off)).max() < 12


def test_its_band_is_wide_where_the_series_is_loud():
    """Stretches of 60 with noise 1 and 0.05: the band is much narrower where it is quiet, and too narrow in neither."""
    rng, within, size = np.random.default_rng(0), {1.0: [], 0.05: []}, {1.0: [], 0.05: []}
    for _ in range(5):
        t = np.arange(480.0)
        noise = np.where(t // 60 % 2, 1.0, 0.05)
        y, out = np.sin(t / 9) + noise * rng.standard_normal(480), hidden(480, rng)
        mean, deviation = fill_arrays(t[~out], y[~out], t[out])
        for loud, found in within.items():
            these = noise[out] == loud
            found.extend(np.abs((y[out] - mean) / deviation)[these] < 1)
            size[loud].extend(deviation[these])
    assert 0.6 < np.mean(within[1.0]) < 0.85 and np.mean(within[0.05]) > 0.6
    assert np.median(size[1.0]) > 5 * np.median(size[0.05])


@pytest.mark.parametrize("step", [0.02, 0.1, 0.5])
def test_rounded_values_make_it_sure_of_nothing(step):
    """Largest deviation from the answer, in stated ones: of 1,600 values a normal's is 3.6 or so; a model that trusts
    the grid is off by hundreds."""
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(20):
        t = np.sort(rng.uniform(0, 400, 400))
        y = np.round((np.sin(t / rng.uniform(3, 30)) + 0.1 * rng.standard_normal(400)) / step) * step
        worst = max(worst, np.abs(against_lines(t, y, y, rng)[1]).max())
    assert worst < 8


def test_forecasts_open_with_the_distance():
    """Of random walks, whose best answer is the last value, with a deviation that grows as the square root."""
    rng, ahead, off, bands = np.random.default_rng(0), np.array([1.0, 2, 4, 8, 16]), [], []
    for _ in range(60):
        y = np.cumsum(rng.standard_normal(96))
        mean, deviation = fill(np.arange(80.0), y[:80], 79 + ahead)
        off.append((y[79 + ahead.astype(int)] - mean) / deviation)
        bands.append(deviation)
    bands = np.median(bands, axis=0)
    assert (np.diff(bands) > 0).all() and 2 < bands[-1] / bands[0] < 6  # sqrt(16) is 4
    assert 0.85 < (np.abs(off) < 1.96).mean() < 0.99


def test_known_errors_are_used():
    """Every second value is ten times as noisy. Told so, the answer is nearer to the curve, and surer."""
    rng, told, untold, bands = np.random.default_rng(0), [], [], ([], [])
    for _ in range(20):
        t = np.arange(90.0)
        error = np.where(t % 2 == 0, 0.05, 0.5)
        truth = np.sin(t / rng.uniform(4, 12))
        y = truth + error * rng.standard_normal(90)
        for off, band, how in ((told, bands[0], {"error": error}), (untold, bands[1], {})):
            mean, deviation = fill(t, y, **how)
            off.append(mean - truth)
            band.append(deviation)
    assert np.square(told).mean() < 0.6 * np.square(untold).mean()
    assert np.median(bands[0]) < np.median(bands[1])  # by little: the noise of what is asked stays


def test_errors_that_say_nothing_do_no_harm():
    """Rough curves, measured far better than they are sampled: told the errors, which differ a hundredfold, the answer
    is as near to the next value as without."""
    rng, told, untold = np.random.default_rng(0), [], []
    for _ in range(20):
        t, y = np.arange(90.0), np.cumsum(rng.standard_normal(90))
        out = hidden(90, rng)
        error = np.exp(rng.uniform(np.log(1e-4), np.log(1e-2), 90))
        told.append(fill(t[~out], y[~out], t[out], error=error[~out])[0] - y[out])
        untold.append(fill(t[~out], y[~out], t[out])[0] - y[out])
    assert np.square(told).mean() < 1.02 * np.square(untold).mean()

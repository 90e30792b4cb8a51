"""Waves: what networks are told is what it should be, and which encodings notice when the clock starts."""

import numpy as np
import pytest
import torch

from romae_book.experiments.waves import rivals
from romae_book.experiments.waves.data import ASKED, NOISE, PERIODS, SEEN, curve, numbers, waves
from romae_book.experiments.waves.experiment import Waves
from romae_lite.model import predict_hidden

SMALL = Waves.quick().replace(encoder="16x2x1x16", decoder="16x2x1x16", n_train=64, n_valid=10, n_test=20)


@pytest.fixture
def series():
    return waves(20, np.random.default_rng(0))


def test_twelve_readings_are_seen_and_what_is_asked_is_the_curve(series):
    hidden, times, values = series.aux["hidden"], series.positions[..., 0], series.values[..., 0].double()
    assert (times.diff(dim=1) >= 0).all() and ((~hidden).sum(1) == SEEN).all() and (hidden.sum(1) == ASKED).all()
    for t, y, gone in zip(times.numpy(), values.numpy(), hidden.numpy(), strict=True):
        # a sine sampled at the hidden moments: some frequency explains all of them to the last digit of a float32
        left = []
        for period in np.linspace(*PERIODS, 4001):
            basis = np.stack((np.sin(2 * np.pi * t[gone] / period), np.cos(2 * np.pi * t[gone] / period)), 1)
            left.append(np.abs(basis @ np.linalg.lstsq(basis, y[gone], rcond=None)[0] - y[gone]).max())
        assert min(left) < 0.01  # the grid of periods is 0.002 wide


def test_a_network_that_counts_hears_nothing_of_the_times():
    times = np.sort(np.random.default_rng(1).uniform(0, 20, (1, SEEN + 2)), axis=1)
    hidden = np.zeros_like(times, bool)
    hidden[0, [4, 5]] = True  # between the fourth reading and the fifth
    told, late = numbers(times, hidden), numbers(3 * times + 7, hidden)
    np.testing.assert_allclose(told, late, rtol=1e-12)
    assert told[~hidden].tolist() == list(range(1, SEEN + 1))
    assert (4 < told[hidden]).all() and (told[hidden] < 5).all()


def test_the_best_possible_is_the_mean_of_waves_that_fit():
    """Against waves drawn from the prior and weighted by how well they fit."""
    tokens, rng = waves(4, np.random.default_rng(2)), np.random.default_rng(3)
    period, phase = rng.uniform(*PERIODS, 300_000), rng.uniform(0, 1, 300_000)
    for i, found in enumerate(rivals.best(tokens)):
        t, y = tokens.positions[i, :, 0].numpy(), tokens.values[i, :, 0].double().numpy()
        seen = ~tokens.aux["hidden"][i].numpy()
        log = sum(-0.5 * ((b - curve(a, period, phase)) / NOISE) ** 2 for a, b in zip(t[seen], y[seen], strict=True))
        weight = np.exp(log - log.max())
        drawn = np.array([curve(a, period, phase) @ weight for a in t]) / weight.sum()
        # some hundred of the drawn waves carry the weight: their mean errs by a tenth of what the readings leave open
        np.testing.assert_allclose(found, drawn, atol=0.02)


HOW = {"rope": {}, "bias": {"encoding": "none", "bias": True}, "absolute": {"encoding": "absolute"}}


@pytest.mark.parametrize("how", HOW)
def test_who_notices_that_the_clock_starts_later(how, series):
    exp = SMALL.replace(**HOW[how])
    model = exp.build(0)
    for weight in model.parameters():  # a bias starts at zero, and would see no times
        torch.nn.init.normal_(weight, std=0.3)
    hidden = series.aux["hidden"]
    now, later = (predict_hidden(model, exp.tell(series, by), hidden) for by in (0.0, 20.0))
    assert now[hidden].std() > 0.01
    assert torch.allclose(now, later, atol=1e-3) == (how != "absolute")  # float32, with large weights


def test_a_bias_of_zero_is_attention_without_positions(series):
    plain, hidden = SMALL.replace(encoding="none").build(0), series.aux["hidden"]
    biased = SMALL.replace(encoding="none", bias=True).build(0)
    missing, surplus = biased.load_state_dict(plain.state_dict(), strict=False)
    assert not surplus and all("bias" in name for name in missing)
    found = [predict_hidden(model, series, hidden) for model in (plain, biased)]
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-4)


def test_errors_are_those_of_the_grid():
    data = SMALL.data(0)
    model = SMALL.build(0)
    hidden = data.test.aux["hidden"]
    off = (predict_hidden(model, data.test, hidden) - data.test.values)[hidden]
    assert SMALL.evaluate(model, data.test)["miss"] == pytest.approx(float(off.abs().mean()), rel=1e-5)
    assert SMALL.baselines(data.test)["miss_best"] < 0.05  # a fraction of the noise of one reading

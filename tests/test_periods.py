"""Periods: the periodogram is scipy's, what is told is a phase, and who notices when the clock starts."""

import numpy as np
import pytest
import torch
from scipy.signal import lombscargle

from romae_book.experiments.periods.data import AMPLITUDE, CYCLES, NOISE, READINGS, SEEN, sines
from romae_book.experiments.periods.experiment import ARMS, BANDS, Periods, errors, kept, squares
from romae_book.experiments.periods.periodogram import Periodogram, phase_axis
from romae_book.experiments.periods.rivals import by_lombscargle
from romae_lite.model import predict_hidden
from romae_lite.tokens import Tokens

SMALL = Periods.quick().replace(encoder="16x2x1x16", decoder="16x2x1x16", n_train=64, n_valid=10, n_test=20)


@pytest.fixture(scope="module")
def series() -> Tokens:
    return sines(200, np.random.default_rng(0))


def readings(tokens: Tokens) -> tuple[torch.Tensor, torch.Tensor]:
    """Times and values of what is seen, (n, SEEN) each."""
    seen = ~tokens.aux["hidden"]
    return tokens.positions[..., 0][seen].view(-1, SEEN), tokens.values[..., 0][seen].view(-1, SEEN)


def test_what_is_hidden_is_a_sine_of_so_many_cycles_and_what_is_seen_has_noise(series):
    hidden, cycles = series.aux["hidden"], series.aux["cycles"]
    assert (series.positions.diff(dim=1) >= 0).all() and ((~hidden).sum(1) == SEEN).all()
    assert CYCLES[0] <= cycles.min() and cycles.max() <= CYCLES[1]
    # a third of the logarithms in each third of their range, within four deviations of a count
    thirds = torch.histc(cycles.log(), 3, *np.log(CYCLES))
    assert (thirds - 200 / 3).abs().max() < 4 * np.sqrt(200 * 2 / 9)
    left = []
    for t, y, gone, count in zip(series.positions[..., 0], series.values[..., 0].double(), hidden, cycles, strict=True):
        waves = torch.stack((torch.cos(2 * np.pi * count * t / READINGS), torch.sin(2 * np.pi * count * t / READINGS)))
        both = torch.linalg.lstsq(waves[:, gone].T, y[gone]).solution
        torch.testing.assert_close(both @ waves[:, gone], y[gone], atol=1e-5, rtol=0)
        assert AMPLITUDE[0] - 1e-4 <= both.norm() <= AMPLITUDE[1] + 1e-4
        left.append((y - both @ waves)[~gone])
    assert torch.cat(left).std() == pytest.approx(NOISE, rel=0.05)


def test_power_is_lombs_and_scargles(series):
    """At frequencies of its own and at the one that is sought, against scipy: the readings' energy is its unit."""
    times, values = readings(series[:5])
    layer = Periodogram(7, READINGS)
    with torch.no_grad():
        layer.cycles += torch.rand(7, generator=torch.Generator().manual_seed(0))
        power, _ = layer.spectrum(times, values)
    for t, y, found in zip(times.numpy(), values.double().numpy(), power, strict=True):
        # numpy's times start where they like: the power does not depend on it
        expected = lombscargle(t + 3, y, 2 * np.pi * layer.cycles.detach().double().numpy() / READINGS)
        np.testing.assert_allclose(found, 2 * expected / np.square(y).sum(), atol=1e-4)


def test_a_step_leads_from_a_frequency_nearby_to_the_true_one():
    """Half a cycle off, without noise: most of the way in a step. From the true one it leads nowhere."""
    times = torch.rand(50, SEEN, generator=torch.Generator().manual_seed(0)).double() * READINGS
    layer, true = Periodogram(3, READINGS), torch.tensor([40.0, 40.3, 39.5])
    with torch.no_grad():
        layer.cycles.copy_(true)
        values = torch.sin(2 * np.pi * 40 / READINGS * times + 1).float()
        _, apart = layer.spectrum(times, values)
    assert apart[:, 0].abs().max() < 1e-3
    for start, step in zip(true[1:], apart.T[1:], strict=True):
        assert (start + step - 40).abs().median() < 0.25 * (start - 40).abs()


def test_the_periodogram_finds_the_cycles_before_it_is_trained(series):
    """A peak is about a cycle wide: 128 frequencies over 98 cycles miss none, 16 miss most."""
    off = {n: (Periodogram(n, READINGS)(*readings(series)).detach() - series.aux["cycles"]).abs() for n in (128, 16)}
    assert off[128].median() < 0.1 and (off[128] < 0.5).double().mean() > 0.9
    assert (off[16] < 0.5).double().mean() < 0.5


def test_readings_a_whole_number_of_cycles_apart_have_one_angle():
    cycles = torch.tensor([7.0, 3.5], dtype=torch.float64)
    times = torch.arange(5.0, dtype=torch.float64)[None, :, None] * READINGS / cycles[:, None, None]
    turns = phase_axis(times, cycles, READINGS)[..., 1] / (2 * np.pi)
    torch.testing.assert_close(turns, turns.round(), atol=1e-9, rtol=0)


def test_the_best_sine_is_found_and_predicting_zero_errs_by_half_the_squared_amplitude(series):
    window = series.positions * 10
    answers = by_lombscargle(Tokens(values=series.values, positions=window, aux=series.aux), 10 * READINGS)
    np.testing.assert_allclose(answers, by_lombscargle(series), atol=1e-6)  # whatever the unit
    # two amplitudes and a frequency from 40 readings: an error of about 3 / 40 of their noise's square
    assert 1 < np.median(squares(answers, series)) / (NOISE**2 / SEEN) < 5
    assert squares(np.zeros(1), series).mean() == pytest.approx(7 / 24, rel=0.1)


def test_an_error_is_lost_where_it_passes_half_of_that_of_predicting_zero():
    cycles = np.geomspace(*CYCLES, 2001)
    zero = np.full(2001, 0.3)
    assert kept(cycles, np.where(cycles < 20, 0.01, 0.3), zero) == pytest.approx(20, rel=0.03)
    assert kept(cycles, np.full(2001, 0.14), zero) == CYCLES[1]
    assert kept(cycles, np.full(2001, 0.16), zero) < 2.3


def test_bands_share_the_series_out(series):
    square = squares(np.zeros(1), series)
    found, cycles = errors(square, series), series.aux["cycles"].numpy()
    counts = np.histogram(cycles, BANDS)[0]
    means = [found[f"mse_{a}to{b}"] for a, b in zip(BANDS[:-1], BANDS[1:], strict=True)]
    assert counts.sum() == 200 and means @ counts / 200 == pytest.approx(found["mse"])


@pytest.mark.parametrize("arm", ARMS)
def test_nobody_notices_when_the_clock_starts(arm, series):
    exp = SMALL.replace(arm=arm)
    model, few = exp.build(0), series[:20]
    for name, weight in model.named_parameters():
        if not name.startswith("periodogram"):
            torch.nn.init.normal_(weight, std=0.5)
    answers = []
    for later in (0.0, 20.0):
        moved = Tokens(values=few.values, positions=few.positions + later, aux=few.aux)
        answers.append(predict_hidden(model, exp.tell(moved), few.aux["hidden"]))
    assert answers[0][few.aux["hidden"]].std() > 0.01
    torch.testing.assert_close(*answers, atol=2e-3, rtol=0)  # float32, with large weights


def test_the_fast_form_answers_alike_and_trains_the_periodogram(series):
    exp = SMALL.replace(arm="spectral", fast=True)
    model = exp.build(0)
    fast = exp.trained_form(model)
    hidden, few = series.aux["hidden"][:8], series[:8]
    torch.testing.assert_close(predict_hidden(model, few, hidden), predict_hidden(fast, few, hidden), atol=1e-5, rtol=0)
    exp.loss(fast, few, torch.Generator()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.abs().max() > 0, name


def test_a_short_training_fills_slow_sines_in_once_a_period_is_told():
    """The same sixty steps: with the true phase the error falls by three quarters in every band."""
    exp = Periods.quick().replace(arm="tuned", n_train=64 * 60, n_valid=10, n_test=100)
    data = exp.data(0)
    model, _ = exp.train(data, 0, logs=1)
    found, zero = exp.evaluate(model, data.test), exp.baselines(data.test)["mse_zero"]
    assert max(value for name, value in found.items() if name.startswith("mse")) < zero / 4
    assert found["kept"] == CYCLES[1]

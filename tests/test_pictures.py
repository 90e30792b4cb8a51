"""Chapter 03's two data sets: digits drawn in typefaces, and pulsating stars."""

import numpy as np
import pytest
import torch

from romae_book.explorables.autoencoder.pictures import TYPEFACES, digit_tokens, digits, glyphs, light_curve, stars
from romae_book.explorables.autoencoder.rivals import posterior_mean
from romae_lite.tokens import unpatchify


def rng(seed=0):
    return np.random.default_rng(seed)


def test_shapes_and_ranges():
    pictures, digit = digits(50, rng())
    assert pictures.shape == (50, 20, 20, 1) and digit.shape == (50,)
    assert pictures.min() >= 0 and pictures.max() <= 1
    assert set(digits(500, rng())[1].tolist()) == set(range(10))
    tokens = stars(7, rng(), points=30)
    assert tokens.values.shape == tokens.positions.shape == (7, 30, 1)
    assert tokens.aux["curve"].shape == (7, 161, 2)


def test_tokens_are_the_pictures():
    pictures, digit = digits(5, rng())
    tokens = digit_tokens(5, rng())
    assert torch.equal(unpatchify(tokens.values, (4, 4), (20, 20)), pictures)
    assert torch.equal(tokens.aux["digit"], digit)


@pytest.mark.parametrize("make", [digit_tokens, stars])
def test_seed_decides(make):
    assert torch.equal(make(4, rng(1)).values, make(4, rng(1)).values)
    assert not torch.equal(make(4, rng(1)).values, make(4, rng(2)).values)


def test_digits_stay_inside_the_frame():
    """Turned and moved, but not cut off: as good as no ink on the outermost pixels."""
    pictures, _ = digits(500, rng())
    edge = torch.cat([pictures[:, 0], pictures[:, -1], pictures[:, :, 0], pictures[:, :, -1]], 1)
    assert edge.sum() < 0.01 * pictures.sum()


def test_digits_can_be_told_apart():
    """The nearest glyph, without its transformation, names the digit far more often than chance, one in ten."""
    pictures, digit = digits(300, rng())
    models = torch.nn.functional.interpolate(glyphs().flatten(0, 1)[:, None], 20, mode="area").flatten(1)
    nearest = torch.cdist(pictures.flatten(1), models).argmin(1) % 10
    assert (nearest == digit).float().mean() > 0.7
    assert glyphs().shape == (len(TYPEFACES), 10, 48, 48)


def test_light_curve_repeats_and_rises_faster_than_it_falls():
    time = np.linspace(0, 10, 10_001)
    curve = light_curve(time, 10.0, 1.0, 0.3)
    np.testing.assert_allclose(curve, light_curve(time + 10, 10.0, 1.0, 0.3), atol=1e-12)
    assert abs(curve[:-1].mean()) < 1e-12
    slope = np.diff(curve)
    assert slope.max() > 2 * -slope.min() and (slope > 0).mean() < 0.5


def test_stars_are_noisy_samples_of_their_curve():
    tokens = stars(400, rng(), noise=0.1)
    noise = (tokens.values.double() - tokens.aux["clean"]).std()
    assert float(noise) == pytest.approx(0.1, rel=0.03)  # 16,000 draws: a standard error of 0.6 %
    time, curve = tokens.aux["curve"][0].T
    between = np.interp(tokens.positions[0, :, 0], time, curve)
    np.testing.assert_allclose(between, tokens.aux["clean"][0, :, 0], atol=0.05)  # linear between points 0.25 apart
    gaps = tokens.positions.diff(dim=1)
    assert gaps.min() >= 0 and gaps.std() > 0.5  # in order, and irregular


def test_posterior_mean_like_weighted_draws_from_the_prior():
    """Importance sampling knows no grid; within five of its own standard errors, and a hundredth for the grid."""
    tokens = stars(4, rng())
    time, value = tokens.positions[..., 0].numpy(), tokens.values[..., 0].double().numpy()
    hidden = np.arange(40) % 7 != 3
    found = posterior_mean(time, value, np.broadcast_to(hidden, value.shape), noise=0.5)
    draws = np.random.default_rng(1)
    period, amplitude, phase = (draws.uniform(*ends, (100_000, 1)) for ends in ((8, 20), (0.6, 1.2), (0, 1)))
    for i in range(len(value)):
        curves = light_curve(time[i], period, amplitude, phase)  # (draws, 40)
        distance = ((curves - value[i])[:, ~hidden] ** 2).sum(1) / (2 * 0.5**2)
        weight = np.exp(distance.min() - distance)
        weight /= weight.sum()
        mean = weight @ curves
        error = np.sqrt(weight**2 @ (curves - mean) ** 2)
        assert error.max() < 0.05  # against a spread of the curves of 0.7
        assert (np.abs(found[i] - mean) < 5 * error + 0.01).all()

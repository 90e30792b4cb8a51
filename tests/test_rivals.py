"""Rivals of every subject: whole numbers give what the same reals give, and what is hidden is not looked at."""

import numpy as np
import pytest
import torch
from scipy.interpolate import make_smoothing_spline

from romae_book.experiments.frequencies.rivals import harmonic, straight
from romae_book.experiments.pendulum.rivals import kalman, ridge
from romae_book.experiments.physionet import rivals as icu
from romae_book.experiments.spirals.data import GRID
from romae_book.experiments.spirals.rivals import RIVALS, spline
from romae_book.experiments.synthetic import rivals as curves
from romae_book.experiments.uea.rivals import on_grid
from romae_lite.tokens import Tokens

N, T, SEEN = 3, 50, 20
RNG = np.random.default_rng(0)
OBSERVED = RNG.random((N, T)).argsort(1) < SEEN
TIME = np.sort(RNG.uniform(0, T, (N, T)), axis=1)
THETA = np.broadcast_to(GRID[:T], (N, T))
BAND = RNG.integers(0, 6, (N, T))
FRAMES = RNG.integers(0, 256, (N, 10, 576), np.uint8)
POINTS = RNG.integers(-3, 4, (N, T))


def tokens(values: np.ndarray, *axes: np.ndarray, pad: np.ndarray | None = None, **aux: torch.Tensor) -> Tokens:
    values = torch.from_numpy(values).reshape(N, T, -1)
    return Tokens(values=values, positions=torch.from_numpy(np.stack(axes, -1).astype(float)),
                  pad=None if pad is None else torch.from_numpy(pad), aux=aux)


def patients(values: np.ndarray) -> Tokens:
    return tokens(values, TIME / T, BAND)


# name: (call on values, whole numbers, which of them it is shown, what may stand for the others)
ANY = (np.nan, 1e9)
RIVALS_OF = {
    "harmonic": (lambda v: harmonic(v, OBSERVED), POINTS, OBSERVED, ANY),
    "straight": (lambda v: straight(v, OBSERVED), POINTS, OBSERVED, ANY),
    "ridge": (lambda v: ridge((v, FRAMES[..., :2]), v), FRAMES, np.ones((N, 10), bool), ()),
    "kalman": (lambda v: kalman(v, np.tile(np.arange(10), (N, 1))), FRAMES, np.ones((N, 10), bool), ()),
    "grid": (lambda v: on_grid(tokens(v, TIME.round(), pad=~OBSERVED), T), POINTS, OBSERVED, ANY),
    "features": (lambda v: icu.features(patients(v), ~OBSERVED)[0], POINTS, OBSERVED, (1e9,)),
}
for name in ("mean", "last", "linear"):  # Tokens hold no NaN
    rival = getattr(icu, name)
    RIVALS_OF[f"patients {name}"] = (lambda v, f=rival: f(patients(v), ~OBSERVED), POINTS, OBSERVED, (1e9,))
for name, rival in RIVALS.items():
    both = np.stack((POINTS, POINTS[::-1]), -1)
    RIVALS_OF[f"spirals {name}"] = (lambda v, f=rival: f(THETA, v, OBSERVED), both, OBSERVED, ANY)
for name in ("gp", "linear", "spline", "zero"):
    rival = getattr(curves, name)
    RIVALS_OF[f"synthetic {name}"] = (lambda v, f=rival: f(v, OBSERVED, "authors"), POINTS, OBSERVED, ANY)


@pytest.mark.parametrize("name", RIVALS_OF)
def test_whole_numbers_and_hidden_points(name):
    call, whole, seen, spoils = RIVALS_OF[name]
    real = whole.astype(float)
    found = call(real)
    assert np.issubdtype(found.dtype, np.floating) and np.isfinite(found).any()
    np.testing.assert_array_equal(call(whole), found)
    shown = np.broadcast_to(seen.reshape(*seen.shape, *[1] * (real.ndim - seen.ndim)), real.shape)
    for spoil in spoils:
        np.testing.assert_array_equal(call(np.where(shown, real, spoil)), found)


@pytest.mark.parametrize("seen", [5, 9, 30, 60])
@pytest.mark.parametrize("regular", [True, False])
def test_spline_is_scipys(seen, regular):
    """A hundred-thousandth: rounding grows with the ratio of the gaps, and the search for the smoothness, which differs
    between processors, amplifies it (2.6e-6 was seen)."""
    rng = np.random.default_rng(seen)
    theta = np.tile(GRID, (6, 1)) if regular else np.cumsum(rng.uniform(0.05, 0.2, (6, 75)), axis=1)
    noisy = np.stack((np.sin(theta), theta), -1) + 0.1 * rng.standard_normal((6, 75, 2))
    observed = rng.random((6, 75)).argsort(1) < seen
    found = spline(theta, noisy, observed)
    for i in range(6):
        for c in range(2):
            curve = make_smoothing_spline(theta[i, observed[i]], noisy[i, observed[i], c])(theta[i])
            # both searches stop within 1e-5 of the best smoothness (minimize_scalar's xatol), so curves may differ so
            np.testing.assert_allclose(found[i, :, c], curve, rtol=1e-5, atol=1e-5)

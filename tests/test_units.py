"""The unit in which positions are given: what is suggested, and what is warned of."""

import warnings

import numpy as np
import pytest
import torch

from romae_lite import Tokens, suggest_unit
from romae_lite.batching import spacing
from romae_lite.rope import angles, frequencies


def quiet(times, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return suggest_unit(times, **settings)


def test_neighbours_are_one_apart_after_dividing():
    rng = np.random.default_rng(0)
    series = [np.cumsum(rng.exponential(0.4, n)) for n in (9, 30, 17)]
    unit = quiet(series)
    pooled = np.concatenate([np.diff(one) for one in series])
    assert unit.value == np.median(pooled)
    assert quiet([one / unit.value for one in series]).value == pytest.approx(1)
    assert quiet([rng.permutation(one) for one in series]) == unit
    assert (unit.shortest, unit.longest) == tuple(np.quantile(pooled, (0.05, 0.95)))


def test_what_a_mask_hides_is_no_time():
    assert quiet(np.ma.array([0.0, 1.0, 2.0, 4.0], mask=[0, 1, 0, 0])).value == 2


def test_it_is_the_spacing_that_the_experiments_use():
    """`batching.spacing`, of tokens; its median is the lower one of an even number of gaps."""
    times = np.random.default_rng(1).random((5, 12)) * 20
    tokens = Tokens(values=torch.zeros(5, 12, 1), positions=torch.from_numpy(times)[..., None])
    assert quiet(times).value == pytest.approx(float(spacing(tokens)))


def test_a_hundred_points_in_the_unit_interval_are_warned_of():
    with pytest.warns(UserWarning, match=r"spans 0\.99 radians"):
        unit = suggest_unit(np.arange(100) / 100)
    assert unit.value == pytest.approx(0.01)
    assert "divide times by 0.01" in str(unit) and unit.problems[0] in " ".join(str(unit).split())


def test_neighbours_beyond_half_a_turn_are_warned_of():
    with pytest.warns(UserWarning, match="3.5 radians apart, more than half a turn"):
        suggest_unit(3.5 * np.arange(50))
    assert not quiet(3.0 * np.arange(50)).problems


def test_the_reach_is_where_the_slowest_pair_comes_round():
    unit = quiet(np.arange(100), head_dim=16)
    slowest = frequencies(16)[frequencies(16) > 0].min()
    turned = angles(torch.tensor([[[unit.reach]]], dtype=torch.float64), slowest[None]).item()
    assert min(turned, 2 * np.pi - turned) < 1e-5  # float32 angle
    with pytest.warns(UserWarning, match="far ends alias"):
        suggest_unit(np.arange(int(unit.reach) + 3), head_dim=16)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"), "times of row 0 is .*; it must be a number"),
        (["1", "2"], "times of row 0 is '1'; it must be a number"),
        (np.zeros((2, 3, 1)), r"times\[0\] has shape \(3, 1\)"),
        ([[1.0, np.nan], [2.0, 2.0]], "no series with two different times"),
        ([], "no series"),
        ([-1e308, 1e308], r"times of row 0 is -1e\+308; it must"),
    ],
)
def test_what_is_no_time_is_named(times, message):
    with pytest.raises(ValueError, match=message):
        suggest_unit(times)


def test_a_head_in_which_nothing_turns_is_named():
    with pytest.raises(ValueError, match=r"p is 0\.0"):
        suggest_unit(np.arange(5), p=0.0)

"""Position reconstruction: data, blindness, what differences can tell at best, anchors, metrics against loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from romae_book.experiments.position.experiment import WIDTHS, Position, PositionRange, width
from romae_lite.model import count_parameters
from romae_lite.tokens import Tokens
from romae_lite.training import fit

SMALL = dict(size="16x2x2x24", n_train=64, n_valid=16, n_test=40, epochs=1, batch=16, init="torch")
# Outputs of an untrained small model are below 1. Its rotations and sums run in float32 (steps of 1.2e-7), two blocks
# deep: what should be equal differs by some 1e-7. What moves does so by more than 1e-3.
ROUNDING = 5e-6


def small(**changes) -> Position:
    return Position(**SMALL | changes)


def tokens_at(exp: Position, *rows: list[float]) -> Tokens:
    return exp.at(np.array(rows, dtype=float), np.random.default_rng(0))


def untrained(exp: Position) -> nn.Module:
    return exp.build(0).eval()


class Affine(nn.Module):
    """Stands in for a model: names a x position + b for every token, whatever the values. Answers are known by hand."""

    def __init__(self, a: float, b: float):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor(a)), nn.Parameter(torch.tensor(b))

    def forward(self, tokens: Tokens) -> torch.Tensor:
        return (self.a * tokens.positions + self.b).float()


# Data ---------------------------------------------------------------------------------------------------------------


def test_tokens_say_nothing_and_positions_are_uniform():
    tokens = Position(n_train=4000, n_valid=1, n_test=1).data(0).train
    assert tokens.values.shape == (4000, 10, 1) and (tokens.values == 1).all() and tokens.pad is None
    where = tokens.positions[..., 0].numpy()
    np.testing.assert_allclose(tokens.aux["target"].numpy(), where, rtol=1e-6)  # the same, in float32
    assert 1 <= where.min() and where.max() <= 50
    # 40,000 uniform draws: four standard errors of mean and variance
    assert abs(where.mean() - 25.5) < 4 * 49 / math.sqrt(12 * 40_000)
    assert abs(where.var() - 49**2 / 12) < 4 * 49**2 / math.sqrt(180 * 40_000)
    assert abs(np.corrcoef(where[:, 0], where[:, 1])[0, 1]) < 4 / math.sqrt(4000)  # neither sorted nor tied


def test_distinct_tokens_are_each_their_own():
    tokens = small(values="distinct").data(0).test
    for sample in tokens.values:
        assert torch.equal(sample @ sample.T, torch.eye(10))


@pytest.mark.parametrize("values, channels", [("same", 2), ("distinct", 11)])
@pytest.mark.parametrize("anchor", ["pinned", "moving"])
def test_the_anchor_is_one_more_token_unlike_the_others(values, channels, anchor):
    exp = small(values=values, anchor=anchor, n_train=2000)
    tokens = exp.data(0).train
    assert tokens.values.shape == (2000, 11, channels) and tokens.aux["target"].shape == (2000, 10)
    assert (tokens.values[:, -1] == F.one_hot(torch.tensor(channels - 1), channels)).all()
    assert (tokens.values[:, :-1, -1] == 0).all()
    where = tokens.positions[:, -1, 0].numpy()
    if anchor == "pinned":
        assert (where == 0).all()
    else:
        assert abs(where.mean() - 25.5) < 4 * 49 / math.sqrt(12 * 2000) and 1 <= where.min() and where.max() <= 50
        rest = tokens.positions[:, 0, 0].numpy()
        assert abs(np.corrcoef(where, rest)[0, 1]) < 4 / math.sqrt(2000)  # it tells nothing about the others
    assert exp.build(0)(tokens[:3]).shape == (3, 11, 1) and exp.predict(exp.build(0), tokens[:3]).shape == (3, 10)


def test_position_scale_is_the_models_business_alone():
    plain, scaled = small(), small(position_scale=4.0)
    a, b = plain.data(0).test, scaled.data(0).test
    assert torch.equal(4 * a.positions, b.positions) and torch.equal(a.aux["target"], b.aux["target"])
    assert plain.baselines(a) == pytest.approx(scaled.baselines(b))
    moved = scaled.shifted(b, 7.0)
    torch.testing.assert_close(moved.positions - b.positions, torch.full_like(b.positions, 28.0))


# Blindness -----------------------------------------------------------------------------------------------------------


def test_identical_tokens_without_cls_see_no_position_at_all():
    """And so the shortcut of running one token gives the numbers, and the gradients, of running all ten."""
    exp = small(cls=False)
    assert exp.blind
    data, model = exp.data(0), untrained(exp)
    whole = model(data.test)[..., 0]
    assert (whole - whole[0, 0]).abs().max() < ROUNDING  # every token of every sample
    torch.testing.assert_close(exp.outputs(model, data.test), whole, rtol=0, atol=ROUNDING)
    target = data.test.aux["target"]
    gradients = []
    for outputs in (whole, exp.outputs(model, data.test)):
        model.zero_grad()
        (outputs - target).square().mean().backward()
        gradients.append([p.grad.clone() for p in model.parameters()])
    for full, short in zip(*gradients, strict=True):
        # sums over 400 tokens instead of one: relative 1e-7 x a few hundred, of gradients up to 50
        torch.testing.assert_close(full, short, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(
    "changes",
    [{}, dict(values="distinct", cls=False), dict(cls=False, anchor="pinned"), dict(cls=False, anchor="moving")],
)
def test_anything_that_differs_ends_the_blindness(changes):
    exp = small(**changes)
    assert not exp.blind
    model = untrained(exp)
    here, there = (tokens_at(exp, row) for row in ([*range(1, 11)], [*range(1, 10), 30]))
    assert (exp.outputs(model, here) - exp.outputs(model, there)).abs().max() > 100 * ROUNDING


def test_a_blind_model_ends_at_the_mean_and_scores_the_variance():
    exp = small(cls=False, size="16x2x1x24", n_train=2000, n_test=2000, epochs=8, lr=0.03, batch=100,
                warmup_share=0.05)
    data, model = exp.data(0), exp.build(0)
    fit(model, data.train, exp.loss, exp.recipe(2000), seed=0, logs=2)
    named = exp.predict(model, data.test)
    assert np.ptp(named) == 0
    # the mean of 20,000 training positions is 0.1 from 25.5; AdamW's last steps are small
    assert abs(named[0, 0] - 25.5) < 1
    score, floor = exp.evaluate(model, data.test), exp.baselines(data.test)["mse_mean"]
    assert floor == pytest.approx(49**2 / 12, rel=0.03) and floor <= score["mse"] + 0.5 <= floor + 2
    assert score["follows_shift"] == 0


# What differences can tell ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_best_from_differences_is_the_closed_form(n):
    exp = Position(tokens=n, n_train=1, n_valid=1, n_test=20_000)
    tokens = exp.data(1).test
    centre = (tokens.positions.amin(1) + tokens.positions.amax(1))[:, 0].numpy() / 2
    error = 4 * np.square(centre - 25.5).std() / math.sqrt(20_000)  # four standard errors of the mean
    assert abs(exp.baselines(tokens)["mse_relative"] - 49**2 / (2 * (n + 1) * (n + 2))) < error


def test_best_from_differences_is_the_posterior_mean():
    """By brute force: all places at which the pattern fits into the range are equally likely; average over them."""
    exp = Position(tokens=4, low=-3.0, high=5.0, n_train=1, n_valid=1, n_test=50)
    tokens = exp.data(2).test
    squares = []
    for where in tokens.aux["target"].double().numpy():
        shifts = np.linspace(-8, 8, 64_001)  # steps of 2.5e-4
        fits = ((where + shifts[:, None] >= -3) & (where + shifts[:, None] <= 5)).all(1)
        squares += [(where + shifts[fits].mean() - where) ** 2] * 4  # the common error of the four tokens
    assert exp.baselines(tokens)["mse_relative"] == pytest.approx(np.mean(squares), abs=1e-3)


def test_a_moving_anchor_is_one_more_point_and_a_pinned_one_none():
    moving, pinned, none = (small(anchor=anchor, n_test=500) for anchor in ("moving", "pinned", "none"))
    tokens = moving.data(0).test
    expected = np.square((tokens.positions.amin(1) + tokens.positions.amax(1))[:, 0].numpy() / 2 - 25.5).mean()
    assert moving.baselines(tokens)["mse_relative"] == pytest.approx(expected)
    where = tokens.aux["target"].double().numpy()
    assert pinned.baselines(pinned.at(where)) == pytest.approx(none.baselines(none.at(where)))


# Moving everything --------------------------------------------------------------------------------------------------

ROW = [3.2, 17.0, 8.5, 44.1, 30.3, 12.7, 25.9, 39.4, 1.5, 21.6]


@pytest.mark.parametrize("by", [7.0, -0.37, 1e4])
@pytest.mark.parametrize(
    "changes, follows",
    [
        (dict(cls=False, values="distinct"), False),
        (dict(cls=False, anchor="moving"), False),
        (dict(cls=False, values="distinct", anchor="moving"), False),
        (dict(), True),
        (dict(values="distinct"), True),
        (dict(cls=False, anchor="pinned"), True),
    ],
)
def test_only_a_token_that_stays_behind_betrays_a_shift(changes, follows, by):
    exp = small(**changes)
    model, tokens = untrained(exp), tokens_at(exp, ROW)
    change = (exp.outputs(model, exp.shifted(tokens, by)) - exp.outputs(model, tokens)).abs().max()
    assert change > 100 * ROUNDING if follows else change < ROUNDING


# Model and settings -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, dim", [("tiny", 180), ("small", 432), ("base", 720), ("large", 960)])
def test_sizes_change_the_width_alone(name, dim):
    """Table 1's sizes as the authors' script has them: 12 blocks, 3 heads, 720 in the feed-forward part, so
    4 d^2 + 2 x 720 d + 2 d weights to a block; and a value embedded with a bias, [CLS], the head's norm and layer."""
    assert WIDTHS[name] == dim
    chosen = width(name)
    assert (chosen.dim, chosen.heads, chosen.depth, chosen.ff) == (dim, 3, 12, 720)
    with torch.device("meta"):  # counts, without the memory
        model = Position(size=name).build(0)
    assert count_parameters(model) == 12 * (4 * dim**2 + 2 * 720 * dim + 2 * dim) + 2 * dim + dim + dim + dim + 1


def test_other_optimisers_keep_their_rate_over_any_range():
    exp = PositionRange.best()
    assert exp.recipe(100).lr == exp.replace(high=1000).recipe(100).lr == exp.lr


# Metrics ------------------------------------------------------------------------------------------------------------


def test_metrics_by_hand():
    exp, model = small(tokens=3), Affine(0.75, 4.0)
    tokens = exp.data(0).test
    squares, sizes, differences = [], [], []
    for sample in tokens.positions[..., 0].tolist():
        errors = [0.75 * x + 4.0 - x for x in sample]
        for error in errors:
            squares.append(error**2)
            sizes.append(abs(error))
            differences.append((error - sum(errors) / 3) ** 2)
    count = 40 * 3
    wanted = {"mse": squares, "mae": sizes, "mse_differences": differences}
    found = exp.evaluate(model, tokens)
    assert next(iter(found)) == "mse"
    for name, values in wanted.items():
        assert found[name] == pytest.approx(sum(values) / count, rel=1e-5), name  # answers are float32
    assert found["follows_shift"] == pytest.approx(0.75, rel=1e-4)


def test_metrics_of_who_knows_and_of_who_sees_nothing():
    exp = small()
    tokens = exp.data(0).test
    perfect, blind = (exp.evaluate(Affine(a, b), tokens) for a, b in ((1.0, 0.0), (0.0, 25.5)))
    assert perfect == pytest.approx(dict(mse=0, mae=0, mse_differences=0, follows_shift=1), abs=1e-5)
    assert blind["mse"] == pytest.approx(exp.baselines(tokens)["mse_mean"], rel=1e-5) and blind["follows_shift"] == 0


@pytest.mark.parametrize("standardise, unit", [(False, 1.0), (True, 49 / math.sqrt(12))])
def test_the_loss_is_the_metric_in_its_own_unit(standardise, unit):
    exp = small(standardise=standardise)
    model, tokens = untrained(exp), exp.data(0).test
    loss = exp.loss(model, tokens, torch.Generator()).item()
    assert loss * unit**2 == pytest.approx(exp.evaluate(model, tokens)["mse"], rel=1e-5)


@pytest.mark.parametrize("cls", [True, False])
def test_a_standardised_head_counts_from_the_middle(cls):
    exp = small(standardise=True, cls=cls)
    model, tokens = untrained(exp), exp.data(0).test
    raw = replace(exp, standardise=False).predict(model, tokens)
    np.testing.assert_allclose(exp.predict(model, tokens), 25.5 + 49 / math.sqrt(12) * raw, rtol=1e-6)


@pytest.mark.parametrize("anchor", ["none", "pinned", "moving"])
def test_arrays_are_what_the_figures_expect(anchor):
    exp = small(anchor=anchor, cls=anchor == "none", n_test=300)
    model, data = untrained(exp), exp.data(0)
    arrays = exp.arrays(model, data)
    offsets, shifts = arrays["offsets"], arrays["shifts"]
    assert offsets.shape == (6, 10) and shifts.shape == (61,) and arrays["named"].shape == (6, 61, 10)
    assert (np.diff(offsets, axis=1) >= 0).all() and np.allclose(np.diff(shifts), np.diff(shifts)[0], atol=1e-5)
    assert shifts[0] < exp.low and shifts[-1] + offsets.max() > exp.high  # within the range and beyond both ends
    for i, k in ((0, 0), (3, 31), (5, 60)):
        tokens = tokens_at(exp, offsets[i] + shifts[k])
        if anchor == "moving":
            tokens.positions[:, -1, 0] = float(shifts[k]) - 10
        # positions pass through float32 on their way to the file: 4e-6 of 60
        np.testing.assert_allclose(arrays["named"][i, k], exp.predict(model, tokens)[0], atol=1e-4)
    named, target = exp.predict(model, data.test).ravel(), data.test.aux["target"].numpy().ravel()
    for part, (centre, bias, size) in enumerate(zip(*(arrays[k] for k in ("grid", "bias", "absolute")), strict=True)):
        low, high = 1 + 49 * part / 50, 1 + 49 * (part + 1) / 50
        inside = [n - t for n, t in zip(named, target, strict=True) if low <= t < high]
        assert centre == pytest.approx((low + high) / 2, abs=1e-5)
        assert bias == pytest.approx(np.mean(inside), abs=1e-4) and size == pytest.approx(
            np.mean(np.abs(inside)), abs=1e-4
        )


def test_range_metrics_by_hand():
    exp = PositionRange(size="16x2x1x24", n_train=8, n_valid=4, n_test=30, high=100)
    model, tokens = Affine(0.9, 1.0), exp.data(0).test
    errors = [abs(0.9 * x + 1.0 - x) for x in (100 * i / 499 for i in range(500))]
    found = exp.evaluate(model, tokens)
    wanted = {
        "mae_mean": sum(errors) / 500, "mae_median": (sorted(errors)[249] + sorted(errors)[250]) / 2,
        "mae_central": sum(errors[50:450]) / 400, "mae_first": errors[0], "mae_last": errors[-1],
        "mse": sum((0.9 * x + 1 - x) ** 2 for x in tokens.positions.ravel().tolist()) / 30,
    }
    assert found == pytest.approx(wanted, rel=1e-4)
    arrays = exp.arrays(model, exp.data(0))
    assert arrays["positions"].tolist() == pytest.approx([100 * i / 499 for i in range(500)], rel=1e-6)
    np.testing.assert_allclose(arrays["error"], 1 - 0.1 * arrays["positions"], atol=1e-4)  # signed


def test_a_lone_token_finds_its_place_by_cls():
    """Four epochs of a small model: far better than the variance, which is all there is to score without [CLS]."""
    exp = PositionRange.quick().replace(size="32x2x2x64", high=20.0, n_train=2000, n_test=200, epochs=6, lr=0.01)
    data, model = exp.data(0), exp.build(0)
    fit(model, data.train, exp.loss, exp.recipe(2000), seed=0, logs=2)
    assert exp.evaluate(model, data.test)["mse"] < 0.1 * 20**2 / 12
    assert replace(exp, cls=False).blind

"""Spirals: the generator against its formulas, the baselines against brute force, the metrics against loops."""

import math

import numpy as np
import pytest
import torch

from romae_book.experiments.spirals.data import authors, basis, generate
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.experiments.spirals.rivals import bayes, least_squares, spline
from romae_lite.tokens import Tokens
from romae_lite.training import fit

SMALL = dict(encoder="16x2x1x24", decoder="16x2x1x24", n_train=8, n_valid=4, n_test=100, epochs=2, batch=4)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def curve(a: float, b: float, clockwise: bool) -> list[tuple[float, float]]:
    """The paper's formulas, point by point: the first 75 of 150 points over three turns; the clockwise one is generated
    inwards and reversed in time."""
    points = []
    for i in range(150):
        theta = 6 * math.pi * i / 149
        if clockwise:
            z = 6 * math.pi + 1 - theta
            r = a + b * 50 / z
            points.append((r * math.cos(z) - 5, r * math.sin(z)))
        else:
            r = a + b * theta
            points.append((r * math.cos(theta) + 5, r * math.sin(theta)))
    return (points[::-1] if clockwise else points)[:75]


@pytest.mark.parametrize("clockwise", [False, True])
def test_curves_follow_the_formulas(clockwise):
    theta = np.array([6 * math.pi * i / 149 for i in range(75)])
    centre, columns = basis(theta, clockwise)
    for a, b in ((0.0, 0.3), (-0.03, 0.27), (0.05, 0.34)):
        np.testing.assert_allclose(centre + columns @ (a, b), curve(a, b, clockwise), rtol=0, atol=1e-12)


def test_generated_spirals_are_such_curves():
    """(a, b) recovered from two clean points give all the others."""
    tokens = generate(60, rng())
    theta, clean = tokens.positions[..., 0].numpy(), tokens.aux["clean"].numpy()
    np.testing.assert_allclose(theta, np.broadcast_to([6 * math.pi * i / 149 for i in range(75)], (60, 75)), atol=1e-12)
    found = []
    for s, clockwise in enumerate(tokens.aux["clockwise"].tolist()):
        centre, columns = basis(theta[s], clockwise)
        a, b = np.linalg.lstsq(columns[[10, 60]].reshape(-1, 2), (clean[s] - centre)[[10, 60]].ravel())[0]
        np.testing.assert_allclose(clean[s], curve(a, b, clockwise), rtol=0, atol=1e-9)
        found.append((a, b))
    a, b = np.array(found).T
    # mean and standard deviation of 60 draws: standard errors 0.02 / sqrt(60) and 0.02 / sqrt(120)
    for draws, mean in ((a, 0.0), (b, 0.3)):
        assert abs(draws.mean() - mean) < 4 * 0.02 / math.sqrt(60)
        assert abs(draws.std() - 0.02) < 4 * 0.02 / math.sqrt(120)


def test_noise_and_chirality():
    tokens = generate(2000, rng(1))
    noise = tokens.values.double().numpy() - tokens.aux["clean"].numpy()
    # 300,000 draws: standard errors 0.1 / sqrt(300,000) of the mean and 1 / sqrt(2) of it for the standard deviation
    assert abs(noise.mean()) < 4 * 1.8e-4 and abs(noise.std() - 0.1) < 4 * 1.3e-4
    neighbours = np.corrcoef(noise[:, :-1, 0].ravel(), noise[:, 1:, 0].ravel())[0, 1]
    assert abs(neighbours) < 4 / math.sqrt(2000 * 74)  # independent from point to point
    assert abs(np.corrcoef(noise[..., 0].ravel(), noise[..., 1].ravel())[0, 1]) < 4 / math.sqrt(2000 * 75)
    assert abs(tokens.aux["clockwise"].float().mean() - 0.5) < 4 * 0.5 / math.sqrt(2000)


def test_the_authors_own_spirals():
    """Curves are the formulas'; the mean square of the noise was computed from their code independently of this one."""
    tokens = authors()
    clean = tokens.aux["clean"].numpy()
    assert np.square(tokens.values.double().numpy() - clean).mean() == pytest.approx(0.009747, abs=5e-7)
    draw = np.random.RandomState(0).randn(200)
    for i in (0, 7, 99):
        clockwise = np.random.RandomState(i).rand() <= 0.5
        assert bool(tokens.aux["clockwise"][i]) == clockwise
        assert clean[i] == pytest.approx(np.array(curve(0.02 * draw[i], 0.3 + 0.02 * draw[100 + i], clockwise)))


def test_noise_free_inputs_and_the_authors_set_are_scored():
    """A model that says what it is shown: no error to the curve with clean inputs, that of the noise without."""
    exp = Spirals.paper().replace(**SMALL)
    echo = type("Echo", (Spirals,), {"predict": lambda self, model, tokens, hidden: tokens.values.double()})
    exp = echo(**exp.config())
    found = exp.examine(None, exp.data(0))
    assert found["rmse_clean_clean_inputs"] == pytest.approx(0, abs=1e-6)  # float32 inputs
    assert found["rmse_clean_authors_clean_inputs"] == pytest.approx(0, abs=1e-6)
    assert found["rmse_clean_authors"] == pytest.approx(0.1, rel=0.03)  # of 27,000 numbers, some of them twice
    assert found["rmse_clean_spiral_mean_authors"] <= found["rmse_clean_authors"]  # a mean of roots is below the root


def test_five_points_beyond_are_asked_as_the_authors_notebook_does():
    """A model that is one off in both coordinates wherever it is asked: 50 points a spiral, 100 squares of one."""
    asked = []

    class Off(Spirals):
        def predict(self, model, tokens, hidden):
            asked.append((tokens, hidden))
            return tokens.values.double() + 1

    exp = Off(**Spirals.paper().replace(**SMALL).config())
    found = exp.examine(None, exp.data(0))
    assert found["rmse_authors_beyond"] == pytest.approx(math.sqrt(100 * 100) / 100, rel=1e-6)
    tokens, hidden = asked[-1]
    assert tokens.values.shape[1:] == (80, 2) and bool((hidden.sum(1) == 50).all()) and bool(hidden[:, 75:].all())
    assert torch.equal(tokens.values[:100, :75], authors().values)  # the same spirals, and further on
    noise = (tokens.values.double() - tokens.aux["clean"])[:, 75:]
    assert found["rmse_clean_beyond"] == pytest.approx(float((noise + 1).square().mean().sqrt()), rel=1e-6)


def test_the_best_possible_error_hardly_grows_beyond_the_points_shown():
    """An error that does grow there says something of a model: the claim's bound lies above the optimum's ratio."""
    from romae_book.paper.statements import BEYOND as BOUND

    longer = authors(points=80)[torch.arange(100).repeat(3)]
    hidden = torch.rand(len(longer), 80, generator=torch.Generator().manual_seed(3)) < 0.6
    hidden[:, 75:] = True
    best = bayes(longer.positions[..., 0].numpy(), longer.values.double().numpy(), ~hidden.numpy())
    error = (best - longer.aux["clean"].numpy()) ** 2
    among = error[:, :75][hidden[:, :75].numpy()].mean()
    assert 1 < (error[:, 75:].mean() / among) ** 0.5 < 0.75 * BOUND


def test_irregular_angles_are_each_spirals_own():
    tokens = generate(200, rng(2), irregular=True)
    theta = tokens.positions[..., 0]
    assert (theta.diff(dim=1) > 0).all() and theta.min() >= 0 and theta.max() <= 6 * math.pi * 74 / 149
    assert len(theta[:, 0].unique()) == 200
    gaps = theta.diff(dim=1)
    # uniform points: gaps are nearly exponential, whose standard deviation equals their mean; on a grid it is zero
    assert gaps.std() == pytest.approx(float(gaps.mean()), rel=0.1)
    for s in (0, 1):
        centre, columns = basis(theta[s].numpy(), bool(tokens.aux["clockwise"][s]))
        fit_ = np.linalg.lstsq(columns.reshape(-1, 2), (tokens.aux["clean"][s].numpy() - centre).ravel())
        assert fit_[1] < 1e-18  # sum of squared residuals: the clean points lie on a spiral at their own angles


# Baselines ----------------------------------------------------------------------------------------------------------


def observations(n: int, seen: int, seed: int, irregular: bool = False):
    tokens = generate(n, rng(seed), irregular)
    observed = np.stack([np.isin(np.arange(75), rng(100 + seed + s).choice(75, seen, replace=False)) for s in range(n)])
    return (tokens.positions[..., 0].numpy(), tokens.values.double().numpy(), observed), tokens


@pytest.mark.parametrize(("seen", "irregular"), [(1, False), (3, False), (10, True)])
def test_bayes_equals_numerical_integration(seen, irregular):
    """Posterior mean over a grid of (a, b) and both chiralities, by the definition."""
    (theta, noisy, observed), _ = observations(3, seen, seed=seen, irregular=irregular)
    found = bayes(theta, noisy, observed)
    steps = np.linspace(-6, 6, 241) * 0.02  # prior standard deviations; the posterior is at least 6 steps of 0.001 wide
    a, b = (grid.ravel() for grid in np.meshgrid(steps, 0.3 + steps, indexing="ij"))
    for s in range(3):
        t = theta[s]
        weights, curves = [], []
        for clockwise in (False, True):
            z = 1 + t if clockwise else t
            r = a[:, None] + b[:, None] * (50 / z if clockwise else z)  # (grid, 75)
            at = np.stack((r * np.cos(z) + (-5 if clockwise else 5), r * np.sin(z)), -1)
            log = -0.5 * (a**2 + (b - 0.3) ** 2) / 0.02**2
            log -= 0.5 * ((at - noisy[s])[:, observed[s]] ** 2).sum((1, 2)) / 0.1**2
            weights.append(log)
            curves.append(at)
        log = np.concatenate(weights)
        share = np.exp(log - log.max())
        exact = np.einsum("g,gtc->tc", share / share.sum(), np.concatenate(curves))
        # a trapezoid sum over smooth bell curves several steps wide is exact to many digits; its ends, at six standard
        # deviations, cut off 1e-8 of the prior
        np.testing.assert_allclose(found[s], exact, rtol=0, atol=1e-5)


def test_bayes_without_a_hint_is_the_mean_of_the_prior():
    (theta, noisy, _), _ = observations(1, 1, seed=0)
    found = bayes(theta, noisy, np.zeros((1, 75), dtype=bool))[0]
    mean = (np.array(curve(0.0, 0.3, False)) + np.array(curve(0.0, 0.3, True))) / 2
    np.testing.assert_allclose(found, mean, atol=1e-12)


def test_least_squares_finds_the_smallest_residual():
    (theta, noisy, observed), _ = observations(8, 20, seed=5)
    found = least_squares(theta, noisy, observed)
    for s in range(8):
        best = math.inf
        for clockwise in (False, True):
            centre, columns = basis(theta[s][observed[s]], clockwise)
            _, residual, *_ = np.linalg.lstsq(columns.reshape(-1, 2), (noisy[s][observed[s]] - centre).ravel())
            best = min(best, float(residual[0]))
        assert ((found[s] - noisy[s])[observed[s]] ** 2).sum() == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("irregular", [False, True])
def test_bayes_beats_the_others(irregular):
    (theta, noisy, observed), tokens = observations(100, 30, seed=6, irregular=irregular)
    clean = tokens.aux["clean"].numpy()
    between = ~observed & (observed.cumsum(1) > 0) & (observed[:, ::-1].cumsum(1)[:, ::-1] > 0)
    error, inside = {}, {}
    for predictor in (bayes, least_squares, spline):
        squares = (predictor(theta, noisy, observed) - clean) ** 2
        error[predictor.__name__], inside[predictor.__name__] = (
            math.sqrt(squares[where].mean()) for where in (~observed, between)
        )
    assert error["bayes"] < error["least_squares"] < error["spline"], error
    # two parameters fitted to 60 numbers: noise x sqrt(2 / 60) = 0.0183 where those are, a little more elsewhere
    assert 0.012 < error["bayes"] < 0.018 and 0.0165 < error["least_squares"] < 0.0225, error
    # between observed points a spline takes away some of the noise of 0.1; beyond the outermost ones it is lost
    assert inside["spline"] < 0.1 < error["spline"], (inside, error)


# The experiment -----------------------------------------------------------------------------------------------------


def test_score_by_hand():
    exp = Spirals(**SMALL)
    tokens = exp.data(0).test
    prediction = tokens.values.numpy() + rng(7).normal(0, 0.05, (100, 75, 2))
    score = exp.score(prediction, tokens)
    clean, noisy = [], []
    for s in range(100):
        for i in range(75):
            if tokens.aux["hidden"][s, i]:
                for c in range(2):
                    clean.append((prediction[s, i, c] - float(tokens.aux["clean"][s, i, c])) ** 2)
                    noisy.append((prediction[s, i, c] - float(tokens.values[s, i, c])) ** 2)
    assert len(noisy) == 9000
    assert score["rmse_clean"] == pytest.approx(math.sqrt(sum(clean) / 9000), rel=1e-9)
    assert score["rmse_noisy"] == pytest.approx(math.sqrt(sum(noisy) / 9000), rel=1e-9)
    # the authors divide sqrt(sum of 9000 squares) by 100
    assert score["rmse_authors"] == pytest.approx(math.sqrt(sum(noisy)) / 100, rel=1e-9)
    assert score["rmse_authors"] == pytest.approx(math.sqrt(9000) / 100 * score["rmse_noisy"], rel=1e-9)
    assert round(math.sqrt(9000) / 100, 4) == 0.9487


def test_trials_of_a_hundred():
    exp = Spirals(**SMALL | dict(n_test=300))
    tokens = exp.data(0).test
    score = exp.score(tokens.aux["clean"].numpy() + np.repeat([0.1, 0.2, 0.3], 100)[:, None, None], tokens)
    assert score["rmse_clean"] == pytest.approx(math.sqrt((0.01 + 0.04 + 0.09) / 3))
    assert score["rmse_clean_trial_std"] == pytest.approx(np.std([0.1, 0.2, 0.3]))


def test_predictions_come_from_visible_points_and_land_at_hidden_ones():
    exp = Spirals(**SMALL)
    model, tokens = exp.build(0).eval(), exp.data(0).test
    hidden = tokens.aux["hidden"]
    out = exp.predict(model, tokens, hidden, batch=33)
    assert torch.equal(out == 0, ~hidden[..., None].expand_as(out))
    spoiled = Tokens(
        values=tokens.values.masked_fill(hidden[..., None], 99.0), positions=tokens.positions, aux=tokens.aux
    )
    torch.testing.assert_close(exp.predict(model, spoiled, hidden), out, rtol=1e-5, atol=1e-6)
    moved = Tokens(values=tokens.values.roll(1, dims=0), positions=tokens.positions, aux=tokens.aux)
    assert not torch.allclose(exp.predict(model, moved, hidden), out, atol=1e-3)


def test_arrays_are_what_the_figures_expect():
    exp = Spirals(**SMALL)
    model, data = exp.build(0).eval(), exp.data(0)
    arrays = exp.arrays(model, data)
    spirals, counts = len(arrays["chirality"]), len(arrays["counts"])
    assert arrays["theta"].shape == (75,) and arrays["order"].shape == (spirals, 75)
    assert arrays["clean"].shape == arrays["noisy"].shape == (spirals, 75, 2)
    assert arrays["romae"].shape == arrays["bayes"].shape == (spirals, counts, 75, 2)
    assert sorted(set(arrays["chirality"].tolist())) == [0, 1]
    for inward, clean in zip(arrays["chirality"], arrays["clean"], strict=True):  # outward: ever longer steps
        steps = np.linalg.norm(np.diff(clean, axis=0), axis=1)
        assert bool(inward) == (steps[-1] < steps[0])
    assert all(sorted(row) == list(range(75)) for row in arrays["order"].tolist())
    for s, k in ((0, 0), (spirals - 1, counts // 2), (2, counts - 1)):
        order, n = arrays["order"][s].astype(int), int(arrays["counts"][k])
        observed = np.isin(np.arange(75), order[:n])[None]
        theta, noisy = arrays["theta"][None].astype(float), arrays["noisy"][s][None].astype(float)
        exact = bayes(theta, noisy, observed)[0]
        np.testing.assert_allclose(arrays["bayes"][s, k], exact, atol=1e-4)  # stored in float32
        # at an unobserved point: predicted from the observed ones
        match = next(i for i in range(100) if np.allclose(data.test.values[i].numpy(), arrays["noisy"][s]))
        part = data.test[torch.tensor([match])]
        direct = exp.predict(model, part, torch.from_numpy(~observed))[0].numpy()
        np.testing.assert_allclose(arrays["romae"][s, k][~observed[0]], direct[~observed[0]], atol=1e-4)
        # at an observed one: predicted without it
        nth = int(order[0])
        without = observed.copy()
        without[0, nth] = False
        direct = exp.predict(model, part, torch.from_numpy(~without))[0, nth].numpy()
        np.testing.assert_allclose(arrays["romae"][s, k][nth], direct, atol=1e-4)


def test_small_validation_sets_give_finite_metrics():
    """A batch of 100 spirals is what the paper calls a trial; fewer spirals are no trial, but no reason for NaN."""
    exp = Spirals(**SMALL)
    metrics = exp.evaluate(exp.build(0), exp.data(0).valid)
    assert next(iter(metrics)) == "rmse_clean"
    assert all(math.isfinite(value) for value in metrics.values()), metrics


def test_training_finds_the_curves_better_than_nothing():
    exp = Spirals(**SMALL | dict(n_train=32, epochs=40, lr=3e-3, warmup_share=0.1, encoder="32x2x2x64", batch=16))
    data = exp.data(0)
    model = exp.build(0)
    history = fit(model, data.train, exp.loss, exp.recipe(32), seed=0, logs=4)
    assert history[-1]["loss"] < 0.5 * history[0]["loss"]
    points = data.test.values[data.test.aux["hidden"]]
    assert exp.evaluate(model, data.test)["rmse_noisy"] < 0.8 * float((points - points.mean(0)).square().mean().sqrt())

"""The measurements of chapter 13. No test looks at how long anything takes: only at what is counted and raced."""

import math
import types

import pytest
import torch
from conftest import made_up_record

from benchmarks.table import lines
from romae_book.cli.verify import again
from romae_book.experiments.speed import measures, work
from romae_book.experiments.speed.experiment import MEASURES, Speed
from romae_book.experiments.speed.race import Ratio, clock, race, ratio
from romae_book.experiments.speed.straightforward import Model
from romae_lite.fast import Fast
from romae_lite.masking import hide, split
from romae_lite.model import ModelConfig, RoMAE, size

SMALL = {"encoder": "24x2x2x24", "decoder": "24x2x1x24", "batch": 2, "rounds": 1, "seconds": 0.0}


def test_contenders_take_turns():
    order, ticks = [], iter(range(100))
    found = race({n: lambda n=n: order.append(n) for n in "ab"}, rounds=3, now=lambda: next(ticks))
    assert order == ["a", "b"] + ["a", "b", "b", "a", "a", "b"]  # once to warm up, then each begins in turn
    assert found == {"a": [1, 1, 1], "b": [1, 1, 1]}


def test_a_ratio_is_taken_round_by_round():
    """A machine that gets slower from round to round changes no ratio, as it would change one of medians."""
    assert ratio([2, 20, 200], [1, 10, 100]) == Ratio(2, 2, 2)
    assert ratio([1, 2, 6], [1, 1, 2]) == Ratio(2, 1, 3)


@pytest.mark.parametrize("name", ["tiny", "small"])
@pytest.mark.parametrize("cls", [False, True])
def test_products_are_those_of_the_layers(name, cls):
    """Counted by what goes through the linear layers of a real forward pass; attention's two products are added."""
    config = ModelConfig(patch=2, axes=1, encoder=size(name), cls=cls)
    tokens, counted = work.series(2), []
    where = split(hide(tokens.real, ratio=0.6, generator=torch.Generator().manual_seed(0)), tokens.real)
    model = RoMAE(config)
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_hook(lambda m, x, y: counted.append(2 * y.numel() * m.in_features))
    with torch.no_grad():
        model(tokens, where)
    for stack, n in ((config.encoder, 30 + cls), (config.decoder, 75 + cls)):
        counted.append(2 * stack.depth * 2 * (2 * n * n * stack.dim))  # of two samples: q k and weights v
    assert 2 * work.products(model, 30, 45) == pytest.approx(sum(counted), rel=1e-12)


def test_lengths_have_the_quantiles_they_are_made_of():
    stays = work.lengths("stays", 20_000).double()
    shares, at = work.STAYS
    found = stays.quantile(torch.tensor(shares[1:-1], dtype=torch.float64))
    assert (found - torch.tensor(at[1:-1])).abs().max() <= 2  # 20,000 draws: a quantile is off by less than 1 %
    assert (stays.min(), stays.max()) >= (2, 195) and stays.max() <= 203
    curves = work.lengths("curves", 20_000).double()
    assert curves.median() == pytest.approx(40, abs=2) and 5 <= curves.min() and curves.max() <= 400
    assert work.lengths("equal", 3).tolist() == [75] * 3


def test_the_straightforward_model_does_the_same_work():
    torch.manual_seed(0)
    model = RoMAE(Speed.quick().model_config())
    for tokens in (work.series(4), work.series(4, lengths=torch.tensor([75, 20, 40, 75]))):
        assert measures.same_answers(model, Model(model.config).copy_from(model), tokens) < 1e-4


@pytest.mark.parametrize("form", [lambda m: m, Fast])
def test_a_training_learns_its_batch(form):
    torch.manual_seed(0)
    training = work.Training(RoMAE(Speed.quick().replace(**SMALL).model_config()), work.series(2), 0.6, form)
    training.optimizer.param_groups[0]["lr"] = 1e-2
    losses = [training.step().item() for _ in range(30)]
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "fresh"),
    [*((measure, False) for measure in MEASURES), pytest.param("start", True, marks=pytest.mark.weekly)],
)
def test_every_measurement_measures(measure, fresh, monkeypatch):
    """fresh: the contenders of `start` are processes of seconds, which run here but once a week."""
    if not fresh:
        here = types.SimpleNamespace(run=lambda command, **_: exec(command[2], {}))
        monkeypatch.setattr(measures, "subprocess", here)
        monkeypatch.setattr(measures, "_clock_of_children", clock)
    exp = Speed.quick().replace(measure=measure, **SMALL)
    model, history = exp.train(exp.data(0), 0, device="cpu")
    metrics = exp.evaluate(model, None)
    assert metrics and all(math.isfinite(v) and v >= 0 for v in metrics.values())
    for name, value in metrics.items():
        if f"{name}_low" in metrics:
            assert metrics[f"{name}_low"] <= value <= metrics[f"{name}_high"]
    if measure == "roofline":
        shares = [v for k, v in metrics.items() if k.startswith("share_plain_")]
        assert sum(shares) == pytest.approx(1)
    record = made_up_record("speed", "quick", 0, {"measure": measure}, metrics=metrics)
    assert any(measure in line for line in lines(record)) and len(list(lines(record))) > 3


def test_another_precision_than_is_timed_is_refused():
    with pytest.raises(ValueError, match="precision is 'bf16'; what is timed is computed in 'fp32'"):
        Speed.paper().replace(precision="bf16")


def test_another_machine_than_asked_is_refused():
    exp = Speed.paper()
    if torch.cuda.is_available():
        exp = exp.replace(machine="cpu")
    with pytest.raises(ValueError, match="machine is"):
        exp.replace(**SMALL).train(exp.data(0), 0)


def test_times_are_not_verified():
    record = made_up_record("speed", "cpu", 0, {}, metrics={"relative_speed": 1.0})
    outcome = again(record)
    assert outcome.ok and "no second run" in outcome.reason and not outcome.comparisons

"""The figure of chapter 13: its arithmetic in Python against the package, and in the page against Python."""

import pytest
import torch
from figures import state
from oracles import cost as oracle_cost

from romae_book.experiments.speed import work
from romae_book.explorables.speed import cost
from romae_lite.model import ModelConfig, RoMAE, size

MACHINES = [
    {"name": "a made-up laptop, fp32", "size": "tiny", "gflops": 50.0, "achievable": 90.0},
    {"name": "a made-up GPU, bf16", "size": "small", "gflops": 50_000.0, "achievable": 150_000.0},
]


def figure():
    return cost.explorable(MACHINES)


@pytest.mark.parametrize("name", cost.NAMES)
@pytest.mark.parametrize("tokens", [10, 1000])
def test_products_are_those_of_the_work(name, tokens):
    config = ModelConfig(patch=cost.PATCH, axes=cost.AXES, encoder=size(name), cls=False)
    with torch.device("meta"):
        model = RoMAE(config)
    chosen = next(s for s in cost.sizes() if s["name"] == name)
    hidden = -(-3 * tokens // 4)
    assert cost.gflop(chosen, tokens) == pytest.approx(work.products(model, tokens - hidden, hidden) / 1e9, rel=1e-12)


def test_the_page_says_what_python_says(visit):
    page = visit(figure().html())
    page.get_by_label("Encoder").select_option("base")
    page.get_by_label("Machine").select_option("1")
    page.get_by_label("Tokens of a sample").press("End")
    page.get_by_label("Batch").press("Home")
    now = state(page)
    chosen = next(s for s in cost.sizes() if s["name"] == "base")
    assert (now["tokens"], now["batch"]) == (100_000, 1)
    expected = cost.hours(chosen, 100_000, now["samples"], now["epochs"], 50_000.0)
    assert float(now["hours"]) == pytest.approx(expected, rel=1e-5)  # six digits are shown
    assert float(now["gigabytes"]) == pytest.approx(oracle_cost.gigabytes(chosen, 100_000, 1), rel=1e-5)


def test_without_records_it_says_how_to_make_one():
    assert cost.explorable([]).data is None and "run speed" in cost.explorable([]).caption


def test_counted_weights_and_gradients_are_those_of_the_model():
    chosen = next(s for s in cost.sizes() if s["name"] == "tiny")
    model = RoMAE(ModelConfig(patch=cost.PATCH, axes=cost.AXES, encoder=size("tiny"), cls=False))
    bytes_ = sum(4 * p.numel() for p in model.parameters())
    floor = oracle_cost.gigabytes(chosen, 2, 1) - oracle_cost.gigabytes(chosen, 2, 0)
    assert oracle_cost.gigabytes(chosen, 2, 0) == pytest.approx(4 * bytes_ / 1e9) and floor > 0

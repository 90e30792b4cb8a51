"""The figure of chapter 13: its arithmetic in Python against the package, and in the page against Python."""

import pytest
import torch
from conftest import made_up_record
from figures import state

from romae_book.experiments.speed.work import products
from romae_book.explorables.speed import cost
from romae_lite.model import ModelConfig, RoMAE, size

RATES, LENGTHS = {"tiny": 40.0, "small": 60.0}, {100: 4000.0, 1000: 5000.0, 10_000: 900.0}


def speed(metrics: dict, **settings):
    """A record of a step that nobody timed."""
    return made_up_record("speed", "cpu", 0, settings, metrics=metrics)


def records() -> list:
    grown = {f"tokens_per_second_{n}": rate for n, rate in LENGTHS.items()}
    return [
        *(speed({"gflops_step": rate}, measure="roofline", encoder=name) for name, rate in RATES.items()),
        speed(grown | {"tokens_per_second": 1.0}, measure="length", encoder="tiny-shallow"),
    ]


def figure():
    return cost.explorable(records())


@pytest.mark.parametrize("name", cost.NAMES)
@pytest.mark.parametrize("tokens", [10, 1000])
def test_products_are_those_of_the_work(name, tokens):
    config = ModelConfig(patch=cost.PATCH, axes=cost.AXES, encoder=size(name), cls=False)
    with torch.device("meta"):
        model = RoMAE(config)
    chosen = next(s for s in cost.sizes() if s["name"] == name)
    hidden = -(-3 * tokens // 4)
    total, _ = cost.work(chosen, tokens)
    assert total == pytest.approx(products(model, tokens - hidden, hidden) / 1e9, rel=1e-12)


@pytest.mark.parametrize("keys", [[], ["End"], ["Home", "ArrowRight"]])
def test_the_page_says_what_python_says(visit, keys):
    page, sizes = visit(figure().html()), figure().data["sizes"]
    for key in keys:
        page.get_by_label("Readings in a sample").press(key)
    page.get_by_label("Samples seen").press("ArrowRight")
    now = state(page)
    assert now["readings"] == {"": 1000, "End": 100_000, "ArrowRight": 11}[keys[-1] if keys else ""]
    assert now["samples"] == 1_800_000  # two digits, as it is shown
    for told, one in zip(now["sizes"], sizes, strict=True):
        total, pairs = cost.work(one, now["readings"])
        wanted = {
            "share": pairs / total, "seconds": now["samples"] * cost.seconds(one, now["readings"]),
            "twice": cost.work(one, 2 * now["readings"])[0] / total,
        }
        assert {key: float(told[key]) for key in wanted} == pytest.approx(wanted, rel=1e-5)


def test_a_size_that_was_not_measured_has_the_rate_of_the_nearest():
    assert [one["of"] for one in figure().data["sizes"]] == ["tiny", "tiny", "small", "small"]
    found = figure().data["sizes"][0]
    ratios = [rate / n * cost.seconds(found, n) for n, rate in LENGTHS.items() if n >= 300]
    assert f"300 to 10,000 readings we measured {min(ratios):.2f} to {max(ratios):.2f} times" in figure().caption


def test_without_records_it_says_how_to_make_one():
    assert cost.explorable([]).data is None and "run speed" in cost.explorable([]).caption
    rates_alone = cost.explorable(records()[:2])
    assert rates_alone.data and "The check" not in rates_alone.caption

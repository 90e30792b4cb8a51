"""Chapter 02's figures, masks, one block and the model in four steps: their arithmetic, and the pages that move."""

import json
import math

import numpy as np
import pytest
import torch
from figures import press, state
from oracles import mask_ratio as oracle_mask_ratio

from romae_book.explorables import weights
from romae_book.explorables.autoencoder import attention_block, mask_ratio, pipeline
from romae_book.explorables.explorable import Explorable
from romae_lite.model import ModelConfig, RoMAE, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens


def small(cls: bool = False, alone: bool = True) -> RoMAE:
    """A model with random weights: the page has to compute what it computes, sensible or not."""
    config = ModelConfig(
        patch=1, axes=1, encoder=size("16x2x2x32"), decoder=size("16x2x2x16"), cls=cls, alone=alone,
        positions=PositionEncoding(base=100.0),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RoMAE(config)
        with torch.no_grad():
            for weight in model.parameters():  # large enough for every part to matter
                weight += 0.5 * torch.randn_like(weight)
    return model


def series() -> Tokens:
    rng = np.random.default_rng(0)
    times, grid = np.sort(rng.uniform(0, 20, (3, 24)), axis=1), np.broadcast_to(np.linspace(0, 20, 41), (3, 41))
    values = np.sin(times) + rng.normal(0, 0.1, times.shape)
    curve = torch.from_numpy(np.stack((grid, np.sin(grid)), -1))
    return Tokens(values=values[..., None], positions=times[..., None], aux={"curve": curve})


def figure(name: str = "mask_ratio", cls: bool = False) -> Explorable:
    """For the tests that every explorable has to pass."""
    return mask_ratio.explorable(small(cls), series())


# --- Python -----------------------------------------------------------------------------------------------------------


def test_packed_model_is_the_model_in_half_precision():
    model = small()
    back = weights.unpacked(json.loads(json.dumps(weights.packed(model))))
    for name, weight in model.state_dict().items():
        assert torch.equal(back.state_dict()[name], weight.half().float()), name


def test_packing_refuses_what_the_page_cannot_compute():
    config = ModelConfig(patch=1, axes=1, positions=PositionEncoding(kind="absolute"))
    with pytest.raises(ValueError, match="absolute"):
        weights.packed(RoMAE(config))
    model = small()
    with torch.no_grad():
        model.mask_token[3] = 1e6
    with pytest.raises(ValueError, match="mask_token holds"):
        weights.packed(model)


def test_a_model_whose_answers_depend_on_one_another_is_refused():
    with pytest.raises(ValueError, match="alone"):
        mask_ratio.explorable(small(alone=False), series())


# --- the pages --------------------------------------------------------------------------------------------------------


def check_mask(page, given: dict) -> dict:
    now = state(page)
    found, error, straight = oracle_mask_ratio.fill_in(given, now["sample"], now["hidden"])
    # one question, or one token to look at: all answers are alike; elsewhere the next line would say little
    assert np.ptp(found) > 0.1 or len(now["hidden"]) in (1, 23)
    np.testing.assert_allclose(now["filled"], found, atol=1e-4)  # the model computes in float32
    # four decimals are shown
    assert float(now["mse"]) == pytest.approx(error, abs=6e-5, rel=1e-4)
    assert float(now["reference"]) == pytest.approx(straight, abs=6e-5)
    total = len(given["samples"][0]["values"])
    cost, full = oracle_mask_ratio.cost(given["model"], total - len(now["hidden"]), len(now["hidden"]))
    assert (now["multiplications"], now["share"]) == (cost, math.floor(100 * cost / full + 0.5))
    assert now["mse"] in page.locator(".mr-facts").inner_text()
    return now


@pytest.mark.parametrize("cls", [False, True])
def test_masks_agree_with_the_model(visit, cls):
    """Drawn, by their share, and reading by reading, by key and by pointer."""
    made = figure(cls=cls)
    page = visit(made.html())
    assert len(check_mask(page, made.data)["hidden"]) == 12
    page.get_by_role("button", name="draw again").press("Enter")
    before, board = set(check_mask(page, made.data)["hidden"]), page.locator(".mr-board")
    for keys, flipped in (([" "], {0}), (["ArrowRight", " "], {0, 1})):
        list(press(board, *keys))
        assert set(check_mask(page, made.data)["hidden"]) == before ^ flipped
    box = board.bounding_box()
    board.click(position={"x": box["width"] - 10, "y": box["height"] / 2})  # the last reading is nearest
    assert set(check_mask(page, made.data)["hidden"]) == before ^ {0, 1, 23}
    share = page.locator("input[type=range]")
    assert share.input_value() == str(len(state(page)["hidden"]))
    *_, now = (check_mask(page, made.data) for _ in press(share, "Home", "ArrowRight", "End"))
    assert len(now["hidden"]) == 23  # one stays visible
    page.get_by_role("button", name="series 2").press("Enter")
    assert check_mask(page, made.data)["sample"] == 1


def check_block(page) -> dict:
    """Every matrix on show, against the model's own block."""
    now, data = state(page), attention_block.payload()
    wanted = attention_block.steps(data, tuple(now["times"]))
    shown = set(wanted) & set(now)
    assert len(shown) >= 2
    for name in shown:
        np.testing.assert_allclose(now[name], wanted[name], atol=1e-5)  # the model computes in float32
    assert now["most"] == 1 + int(wanted["share"][now["query"] - 1].argmax())
    return now


def test_one_block_agrees_with_pytorch_line_by_line(visit):
    page = visit(attention_block.explorable().html())
    seen = set()
    for key in ("Home", *["ArrowRight"] * 7):
        page.get_by_role("slider", name="Line").press(key)
        now = check_block(page)
        assert page.get_by_role("button", name=now["code"], exact=True).get_attribute("aria-pressed") == "true"
        seen |= set(now)
    assert {"x", "h", "q", "k", "v", "turned q", "turned k", "score", "share", "mix", "after", "h2", "out"} <= seen


def test_scores_follow_distances_and_values_stay(visit):
    page = visit(attention_block.explorable().html())
    line = lambda code: page.get_by_role("button", name=code).press("Enter")  # noqa: E731
    line("score = ")
    before = check_block(page)
    page.get_by_role("button", name="Move all tokens later").press("Enter")
    after = check_block(page)
    assert after["times"] == pytest.approx([t + 0.5 for t in before["times"]])
    np.testing.assert_allclose(after["score"], before["score"], atol=1e-6)
    assert not np.allclose(after["turned q"], before["turned q"], atol=1e-2)
    page.get_by_role("slider", name="Time of token 2").press("PageUp")
    moved = check_block(page)
    assert moved["times"][1] == pytest.approx(after["times"][1] + 1)
    assert not np.allclose(moved["score"], after["score"], atol=1e-2)
    line("q, k, v")
    values = check_block(page)["v"]
    page.get_by_role("slider", name="Time of token 2").press("PageDown")
    assert check_block(page)["v"] == values


def test_pipeline_goes_through_its_steps(visit):
    page = visit(pipeline.explorable().html(), reduced_motion="reduce")
    data = pipeline.payload()
    for number, (name, words) in enumerate(data["steps"], start=1):
        page.get_by_role("button", name=name).press("Enter")
        now = state(page)
        assert (now["step"], now["name"]) == (number, name) and words in page.locator(".pl-said").inner_text()
        assert now["visible"] == (12 if number == 1 else 12 - len(data["hidden"]))
    ring = page.get_by_role("slider", name="Time to ask at")
    ring.press("Home")
    assert state(page)["asked"] == 0
    assert state(page)["answer"] == pytest.approx(math.sin(2 * math.pi * data["phase"]), abs=1e-4)
    page.get_by_role("button", name=data["steps"][0][0]).press("Enter")
    assert not ring.count()  # nothing is asked yet
    page.get_by_role("slider", name="Ask at time").press("End")
    assert (state(page)["step"], state(page)["asked"]) == (4, data["end"])

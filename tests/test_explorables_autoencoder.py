"""Chapter 02's figures, patches, masks, one block and one forward pass: their arithmetic, and the pages that move."""

import json
import math

import numpy as np
import pytest
import torch
from oracles import forward_pass as oracle_forward_pass
from oracles import mask_ratio as oracle_mask_ratio
from oracles import patches as oracle_patches
from test_explorables import state, visit  # noqa: F401
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from romae_book.explorables import weights
from romae_book.explorables.autoencoder import attention_block, forward_pass, mask_ratio, patches, pipeline
from romae_book.explorables.autoencoder.pictures import digit_tokens, stars
from romae_book.explorables.explorable import Explorable
from romae_lite.masking import hide, split, take
from romae_lite.model import SIZES, ModelConfig, RoMAE, count_parameters, reconstruction_loss, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens


def small(patch: int, axes: int, cls: bool = True) -> RoMAE:
    """A model with random weights: the page has to compute what it computes, sensible or not."""
    config = ModelConfig(
        patch=patch, axes=axes, encoder=size("16x2x2x32"), decoder=size("16x2x2x16"), cls=cls,
        positions=PositionEncoding(base=100.0),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RoMAE(config)
        with torch.no_grad():
            for weight in model.parameters():  # large enough for every part to matter
                weight += 0.3 * torch.randn_like(weight)
    return model


def sources() -> list[dict]:
    digits, series = digit_tokens(3, np.random.default_rng(0)), stars(3, np.random.default_rng(0))
    mean = digit_tokens(50, np.random.default_rng(1)).values.mean(0)
    return [
        mask_ratio.source("digits", small(16, 2), digits, ["a", "b", "c"], reference=mean, grid=(5, 5)),
        mask_ratio.source("pulsating stars", small(1, 1, cls=False), series, ["one", "two", "three"]),
    ]


def figure(name: str) -> Explorable:
    """For the tests that every explorable has to pass."""
    makers = {"patches": patches.explorable, "forward_pass": forward_pass.explorable}
    return makers[name]() if name in makers else mask_ratio.explorable(sources())


# --- Python -----------------------------------------------------------------------------------------------------------


def real_pass(config: ModelConfig, batch: int, n: int, ratio: float):
    """A forward pass with a record, hooks and PyTorch's counter of operations."""
    model = RoMAE(config).eval()
    generator = torch.Generator().manual_seed(0)
    tokens = Tokens(
        values=torch.randn(batch, n, config.patch, generator=generator),
        positions=torch.rand(batch, n, config.axes, generator=generator),
    )
    where, record, seen = split(hide(tokens.real, ratio=ratio, generator=generator), tokens.real), {}, {}
    for name in ("encoder.embed", "encoder.stack", "project", "decoder", "head"):
        module = model.get_submodule(name)
        module.register_forward_hook(lambda m, args, out, name=name: seen.update({name: (args[0].shape, out.shape)}))
    # fused attention hides its products from the counter
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        out = model(tokens, where)
    model(tokens, where, record)
    return model, tokens, where, record, seen, out, counter


@pytest.mark.parametrize(
    ("name", "patch", "axes", "cls", "batch", "n", "ratio"),
    [("tiny-shallow", 2, 1, False, 3, 20, 0.6), ("tiny", 16, 2, True, 2, 25, 0.75), ("small", 3, 3, True, 1, 9, 0.05)],
)
def test_stages_are_those_of_a_real_pass(name, patch, axes, cls, batch, n, ratio):
    config = oracle_forward_pass.config(name, patch, axes, cls)
    steps = {s.name: s for s in oracle_forward_pass.stages(config, batch, n, ratio)}
    model, tokens, where, record, seen, out, counter = real_pass(config, batch, n, ratio)
    tensors = {name: s.tensors for name, s in steps.items()}
    assert tensors["tokens"] == {"values": tokens.values.shape, "positions": tokens.positions.shape}
    assert tensors["hide, split"] == {"visible": where.visible.shape, "hidden": where.hidden.shape}
    assert tensors["take"]["values"] == take(tokens.values, where.visible).shape
    assert tensors["embed"]["x"] == seen["encoder.embed"][1]
    assert ("[CLS]" in tensors) == cls
    if cls:
        assert tensors["[CLS]"]["x"] == seen["encoder.stack"][0]
    for stack in ("encoder", "decoder"):
        depth = getattr(config, stack).depth
        assert tensors[stack]["attention"] == record[f"{stack}.{depth - 1}.attention"].shape
        assert tensors[stack]["x"] == record[f"{stack}.{depth - 1}.out"].shape
        rotation = config.positions.rotation(
            torch.zeros(*tensors[stack]["x"][:2], axes), getattr(config, stack).head_dim
        )
        assert tensors[stack]["cos, sin"] == rotation[0].shape
    assert tensors["project"]["x"] == seen["project"][1]
    assert tensors["mask tokens"]["x"] == seen["decoder"][0]
    assert tensors["keep the hidden"]["x"] == seen["head"][0]
    assert tensors["head"]["prediction"] == out.shape
    loss = reconstruction_loss(out, take(tokens.values, where.hidden), None)
    assert tensors["loss"] == {"target": out.shape, "loss": loss.shape}
    assert sum(s.weights for s in steps.values()) == count_parameters(model)
    # the counter takes a multiplication and an addition as two operations
    assert 2 * sum(s.multiplications for s in steps.values()) == counter.get_total_flops()


@pytest.mark.parametrize("name", SIZES)
def test_block_weights(name):
    model = RoMAE(oracle_forward_pass.config(name))
    assert oracle_forward_pass.block_weights(SIZES[name]) == count_parameters(model.encoder.stack.blocks[0])


@pytest.mark.parametrize("n", [2, 3, 25, 75, 196])
def test_hidden_tokens_is_what_hide_hides(n):
    for ratio in (0.05, 0.25, 0.5, 0.6, 0.75, 0.95):
        hidden = hide(torch.ones(1, n, dtype=torch.bool), ratio=ratio, generator=torch.Generator())
        assert oracle_forward_pass.hidden_tokens(n, ratio) == int(hidden.sum())


def test_packed_model_is_the_model_in_half_precision():
    model = small(16, 2)
    back = weights.unpacked(json.loads(json.dumps(weights.packed(model))))
    for name, weight in model.state_dict().items():
        assert torch.equal(back.state_dict()[name], weight.half().float()), name


def test_packing_refuses_what_the_page_cannot_compute():
    config = ModelConfig(patch=1, axes=1, positions=PositionEncoding(kind="absolute"))
    with pytest.raises(ValueError, match="absolute"):
        weights.packed(RoMAE(config))
    model = small(1, 1)
    with torch.no_grad():
        model.mask_token[3] = 1e6
    with pytest.raises(ValueError, match="mask_token holds"):
        weights.packed(model)


@pytest.mark.parametrize(
    ("make", "bad"), [(patches, dict(dims=4)), (patches, dict(channels=2)), (forward_pass, dict(example="x"))]
)
def test_refuses(make, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make.explorable(**bad)


def test_no_source():
    with pytest.raises(ValueError, match="sources"):
        mask_ratio.explorable([])


# --- the pages --------------------------------------------------------------------------------------------------------


def agrees(page) -> dict:
    """The state that patches shows, held against `tokens.patchify`."""
    now = state(page)
    cut = oracle_patches.cut(tuple(now["sizes"]), tuple(now["patch"]), now["channels"], now["irregular"])
    assert (now["tokens"], now["numbers"], now["error"]) == (cut["tokens"], cut["numbers"], cut["error"])
    if cut["error"]:
        assert cut["error"] in page.locator(".pa-error").inner_text()
    else:
        assert now["position"] == pytest.approx(cut["positions"][now["token"]], abs=1e-6)
        assert not page.locator(".pa-error").is_visible()
    return now


def test_patches_agree_with_patchify_by_keyboard(visit):  # noqa: F811
    page = visit(patches.explorable().html())
    errors = set()
    for kind, label in ((1, "1-D"), (2, "2-D"), (3, "3-D")):
        page.get_by_role("button", name=label).press("Enter")
        for irregular in (False, True):
            ranges = [r for r in page.locator("input[type=range]").all() if r.is_visible()]
            assert len(ranges) == 2 * kind
            for control in ranges:
                for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
                    control.press(key)
                    errors.add(agrees(page)["error"].split(" ")[-1])
            page.get_by_role("slider", name="Token").press("End")
            agrees(page)
            page.get_by_role("button", name="irregular").press("Enter")
            assert agrees(page)["irregular"] is not irregular
    assert len(errors) >= 3  # none, does not divide, irregular


def test_patches_edges_follow_the_pointer(visit):  # noqa: F811
    page = visit(patches.explorable().html())
    start = state(page)["patch"]
    handle = page.get_by_role("slider", name="Patch size along the last axis")
    box = handle.bounding_box()
    cell = page.locator(".pa-draw rect").first.bounding_box()["width"]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + cell, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    assert agrees(page)["patch"] == [start[0], start[1] + 1]
    cells = page.locator(".pa-draw svg > g").first.locator("rect")
    cells.nth(12 * 2 + 5).hover()  # row 2, column 5: second row of patches, second column of width 4
    assert agrees(page)["token"] == 1 * 3 + 1


def check_mask(page, given: list[dict]) -> dict:
    now = state(page)
    source = next(s for s in given if s["name"] == now["source"])
    found, error, reference = oracle_mask_ratio.fill_in(source, now["sample"], now["hidden"])
    assert np.ptp(found) > 0.1  # or the next line would say little
    np.testing.assert_allclose(now["filled"], found, atol=1e-4)  # the model computes in float32
    # four decimals are shown
    assert float(now["mse"]) == pytest.approx(error, abs=6e-5, rel=1e-4)
    assert float(now["reference"]) == pytest.approx(reference, abs=6e-5)
    total = len(source["samples"][0]["values"])
    cost, full = oracle_mask_ratio.cost(source["model"], total - len(now["hidden"]), len(now["hidden"]))
    assert (now["multiplications"], now["share"]) == (cost, math.floor(100 * cost / full + 0.5))
    assert now["mse"] in page.locator(".mr-facts").inner_text()
    return now


def test_masks_agree_with_the_model(visit):  # noqa: F811
    given = sources()
    page = visit(mask_ratio.explorable(given).html())
    assert len(check_mask(page, given)["hidden"]) == 19
    page.get_by_role("button", name="draw again").press("Enter")
    check_mask(page, given)
    for key in ("Home", "ArrowRight", "End"):
        page.locator("input[type=range]").press(key)
        check_mask(page, given)
    assert len(state(page)["hidden"]) == 24  # one stays visible
    page.get_by_role("button", name="pulsating stars").press("Enter")
    page.get_by_role("button", name="two").press("Enter")
    now = check_mask(page, given)
    assert (now["source"], now["sample"], len(now["hidden"])) == ("pulsating stars", 1, 38)


def test_single_tokens_are_hidden_and_shown(visit):  # noqa: F811
    given = sources()
    page = visit(mask_ratio.explorable(given).html())
    board = page.locator(".mr-board")
    box, before = board.bounding_box(), set(state(page)["hidden"])
    board.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.5})  # the middle of 5 x 5
    assert set(check_mask(page, given)["hidden"]) == before ^ {12}
    board.press("ArrowRight")
    board.press(" ")
    assert set(check_mask(page, given)["hidden"]) == before ^ {12, 13}
    assert page.locator("input[type=range]").input_value() == str(len(state(page)["hidden"]))


def test_forward_pass_agrees_with_python(visit):  # noqa: F811
    page = visit(forward_pass.explorable().html())
    page.get_by_label("Encoder").select_option("small")
    page.get_by_label("Axes D").select_option("3")
    page.get_by_role("button", name="[CLS]").press("Enter")
    for example in (None, *forward_pass.EXAMPLES):
        if example:
            page.get_by_label("Start from").select_option(example)
        chosen = state(page)["settings"]
        shape = oracle_forward_pass.config(chosen["size"], chosen["patch"], chosen["axes"], chosen["cls"])
        steps = oracle_forward_pass.stages(shape, chosen["batch"], chosen["tokens"], chosen["ratio"])
        page.get_by_role("slider", name="Step").press("Home")
        for step in steps:
            now = state(page)
            assert (now["stage"], now["weights"], now["multiplications"]) == (
                step.name,
                step.weights,
                step.multiplications,
            )
            assert {k: tuple(v) for k, v in now["tensors"].items()} == step.tensors
            assert f"{step.weights:,}" in page.locator(".fp-detail").inner_text()
            page.get_by_role("button", name="Step forward").press("Enter")
        assert state(page)["step"] == 0  # round again
        assert now["all_multiplications"] == sum(s.multiplications for s in steps)
    page.locator(".fp-row", has_text="decoder").click()
    assert state(page)["stage"] == "decoder"


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


def test_one_block_agrees_with_pytorch_line_by_line(visit):  # noqa: F811
    page = visit(attention_block.explorable().html())
    seen = set()
    for key in ("Home", *["ArrowRight"] * 7):
        page.get_by_role("slider", name="Line").press(key)
        now = check_block(page)
        assert page.get_by_role("button", name=now["code"], exact=True).get_attribute("aria-pressed") == "true"
        seen |= set(now)
    assert {"x", "h", "q", "k", "v", "turned q", "turned k", "score", "share", "mix", "after", "h2", "out"} <= seen


def test_scores_follow_distances_and_values_stay(visit):  # noqa: F811
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


def test_pipeline_goes_through_its_steps(visit):  # noqa: F811
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

"""Chapter 02's figure: a series followed through the model, every step of it against PyTorch."""

import json
import re

import numpy as np
import pytest
import torch
from conftest import ROOT
from figures import drag, press, state

from romae_book.explorables import weights
from romae_book.explorables.autoencoder import walk
from romae_book.explorables.explorable import Explorable
from romae_book.explorables.gallery import gallery
from romae_lite.masking import split
from romae_lite.model import Block, ModelConfig, RoMAE, attention_weights, size
from romae_lite.rope import PositionEncoding, rotate
from romae_lite.tokens import Tokens

LOSS = 7  # the last step; 0 is what the model does


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
                weight += 0.4 * torch.randn_like(weight)
    return model.eval()


def figure() -> Explorable:
    """For the tests that every explorable has to pass."""
    return walk.explorable(small())


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


@pytest.mark.parametrize("options", [{"alone": False}, {"cls": True}])
def test_a_model_that_the_walk_does_not_fit_is_refused(options):
    with pytest.raises(ValueError, match="without .CLS., whose mask tokens do not see one another"):
        walk.explorable(small(**options))


def test_the_walk_is_light():
    """Weights, script, kit and style; the still picture is a file of its own on the site."""
    assert len(re.sub(r"base64,[^\"]+\"", "", gallery("walk").html(), count=1)) < 120_000


def test_the_chapter_leads_to_steps_that_there_are():
    text = (ROOT / "notebooks" / "02_model.ipynb").read_text()
    assert {int(n) for n in re.findall(r"#walk:step=(\d+)", text)} == set(range(2, LOSS + 1))


# --- the page against PyTorch -----------------------------------------------------------------------------------------


def in_page() -> tuple[Explorable, RoMAE]:
    """The figure, and the model as it travels, a byte for each weight."""
    made = figure()
    return made, weights.of_bytes(made.data["model"], small())


def step(page, to: int) -> dict:
    page.evaluate("at => { location.hash = `walk:step=${at}`; }", to)
    page.wait_for_function("at => JSON.parse(document.querySelector('figure').dataset.state).step === at", arg=to)
    return state(page)


def places(now: dict) -> np.ndarray:
    return np.array(now["times"]) + now["later"]


@torch.no_grad()
def check(page, model: RoMAE) -> dict:
    """What the page answers, its loss, that of straight lines, and the multiplications."""
    now = state(page)
    t, v, gone = places(now), np.array(now["values"]), np.isin(np.arange(12), now["hidden"])
    tokens = Tokens(values=torch.tensor(v).float()[None, :, None], positions=torch.tensor(t)[None, :, None])
    answers = model(tokens, split(torch.tensor(gone)[None], tokens.real))[0, :, 0].numpy()
    assert np.ptp(answers) > 1e-3 or gone.sum() in (1, 10, 11)  # or the next line would say little
    np.testing.assert_allclose(now["answers"], answers, atol=1e-4)  # the model computes in float32
    lines = np.interp(t[gone], t[~gone], v[~gone])
    for name, said in (("loss", answers), ("straight", lines)):
        assert float(now[name]) == pytest.approx(np.square(said - v[gone]).mean(), abs=6e-4)  # three decimals are shown
    encoder, decoder = model.config.encoder, model.config.decoder
    # queries, keys, values, output and the feed-forward part; scores and sums of every pair of tokens
    block = lambda z, n: z.depth * (n * (4 * z.dim**2 + 2 * z.dim * z.ff) + 2 * n**2 * z.dim)  # noqa: E731
    cost, full = (block(encoder, n) + block(decoder, 12) for n in ((~gone).sum(), 12))
    assert now["cost"] == cost and now["share"] == pytest.approx(100 * cost / full, abs=0.51)
    assert now["follow"] not in now["hidden"] or now["step"] < 4
    assert now["ask"] in now["hidden"]
    return now


@torch.no_grad()
def matrices(model: RoMAE, block: Block, x: torch.Tensor, t: np.ndarray, head: int, heard: int | None = None) -> dict:
    """Every matrix of a block that the page can show, for tokens x (1, N, E) at times t (N,)."""
    heads = block.attention.heads
    positions = torch.tensor(t, dtype=torch.float64)[None, :, None]
    turns = model.config.positions.rotation(positions, x.shape[-1] // heads)
    h = block.norm1(x)
    q, k, v = block.attention.qkv(h).chunk(3, dim=-1)  # (1, N, E) each
    tq, tk = (rotate(part.unflatten(-1, (heads, -1)), *turns) for part in (q, k))  # (1, N, H, E / H)
    pad = None if heard is None else torch.arange(len(t))[None] >= heard
    of_head = [part[:, :, head, :].unsqueeze(1) for part in (tq, tk)]
    score = of_head[0] @ of_head[1].mT / of_head[0].shape[-1] ** 0.5
    after = x + block.attention(h, turns, pad)
    found = {
        "x": x, "h": h, "q": q, "k": k, "v": v, "turned q": tq.flatten(2), "turned k": tk.flatten(2), "score": score[0],
        "share": attention_weights(*of_head, None if pad is None else ~pad[:, None, None])[0], "mix": after - x,
        "after": after, "out": block(x, turns, pad),
    }
    return {name: value[0].double().numpy() for name, value in found.items()}


def embedded(model: RoMAE, values) -> torch.Tensor:
    with torch.no_grad():
        return model.encoder.embed(torch.tensor(values).float()[None, :, None])


def test_every_matrix_of_every_block_is_pytorchs(visit):
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    step(page, 5)
    names = [name for name in page.locator(".wk-grid button span").all_inner_texts()]
    assert len(names) == 12
    for layer, head in ((0, 0), (1, 1)):
        page.get_by_label("block").select_option(str(layer + 1))
        page.get_by_label("head").select_option(str(head + 1))
        now = check(page, model)
        shown = np.isin(np.arange(12), now["hidden"], invert=True)
        t, x = places(now)[shown], embedded(model, np.array(now["values"])[shown])
        for before in model.encoder.stack.blocks[:layer]:
            x = torch.tensor(matrices(model, before, x, t, 0)["out"])[None].float()
        wanted = matrices(model, model.encoder.stack.blocks[layer], x, t, head)
        for name in names:
            page.locator(".wk-grid").get_by_role("button", name=name, exact=True).press("Enter")
            now = state(page)
            np.testing.assert_allclose(now["rows"], wanted.pop(now["matrix"]), atol=1e-4)
        assert not wanted


def test_tokens_angles_questions_and_answers_are_pytorchs(visit):
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    now = step(page, 2)
    x = embedded(model, now["values"])
    np.testing.assert_allclose(now["column"], x[0, now["follow"]], atol=1e-5)
    now = step(page, 3)
    first = matrices(model, model.encoder.stack.blocks[0], x, places(now), now["head"] - 1)
    for name, wanted in (("q", "q"), ("turned", "turned q"), ("score", "score")):
        np.testing.assert_allclose(now[name], first[wanted][now["follow"]], atol=1e-4)
    now = step(page, 6)
    shown = np.isin(np.arange(12), now["hidden"], invert=True)
    t, V = places(now), shown.sum()
    with torch.no_grad():
        seen = model.project(model.encoder.stack(x[:, shown], torch.tensor(t[shown])[None, :, None], None))
        asked = torch.cat((seen, model.mask_token.expand(1, 12 - V, -1)), dim=1)
    order = np.concatenate((t[shown], t[~shown]))
    share = matrices(model, model.decoder.blocks[0], asked, order, now["head"] - 1, V)["share"]
    np.testing.assert_allclose(now["weights"], share[V + now["hidden"].index(now["ask"]), :V], atol=1e-4)
    for block in model.decoder.blocks:
        asked = torch.tensor(matrices(model, block, asked, order, 0, V)["out"])[None].float()
    np.testing.assert_allclose(now["out"], asked[0, V:], atol=1e-4)
    step(page, LOSS)
    now = check(page, model)
    assert now["loss"] in now["shapes"] and f"= {now['loss']}" in page.locator(".wk-facts").last.inner_text()


# --- what the reader does ---------------------------------------------------------------------------------------------


def test_steps_go_on_and_back_by_button_and_by_key(visit):
    page = visit(figure().html(), reduced_motion="reduce")
    bar, onward = page.get_by_role("slider", name="Step"), page.get_by_role("button", name="next", exact=True)
    for number in range(1, LOSS + 1):
        onward.press("Enter") if number % 2 else onward.press("ArrowRight")
        now = state(page)
        assert now["step"] == number and page.locator(".wk-head").inner_text().startswith(f"{number} · {now['name']}")
        onward = page.get_by_role("button", name="again" if number == LOSS else "next", exact=True)
    onward.press("Enter")
    assert state(page)["step"] == 0 and page.get_by_role("button", name="back").is_disabled()
    assert [now["step"] for now in press(bar, "End", "ArrowLeft", "Home", "ArrowRight")] == [LOSS, LOSS - 1, 0, 1]
    bar.locator("span").nth(4).click()
    assert state(page)["name"] == "Hide"
    page.get_by_role("button", name="back").press("ArrowLeft")
    assert state(page)["step"] == 3


def test_hide_what_you_like_and_the_model_answers(visit):
    """By the slider, anew, and reading by reading, by key and by pointer."""
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    before = set(check(page, model)["hidden"])
    for k in (0, 1, 2):
        page.get_by_role("slider", name="reading").nth(k).press(" ")
        before ^= {k}
        assert set(check(page, model)["hidden"]) == before
    page.locator(".wk-drawing .romae-drag").nth(11).click()
    assert set(check(page, model)["hidden"]) == before ^ {11}
    amount = page.get_by_role("slider", name="Hidden")
    *_, now = (check(page, model) for _ in press(amount, "Home", "ArrowRight", "End"))
    assert len(now["hidden"]) == 11  # one stays visible
    amount.press("PageDown")
    before = check(page, model)["hidden"]
    page.get_by_role("button", name="draw again").press("Enter")
    assert check(page, model)["hidden"] != before
    page.get_by_role("button", name="new series").press("Enter")
    assert check(page, model)["times"] != made.data["first"]["times"]
    page.get_by_role("button", name="reset").press("Enter")
    assert check(page, model)["series"] == 1


def test_what_moves_with_a_time_with_a_value_and_with_the_clock(visit):
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    now, turned = step(page, 5), {"turned q", "turned k"}
    reading = page.get_by_role("slider", name="6th reading")
    reading.press("ArrowRight")
    later = check(page, model)
    assert later["times"][5] == pytest.approx(now["times"][5] + 0.1) and later["values"] == now["values"]
    assert set(later["moved"]) == turned | {"score", "share", "mix", "after", "out"}
    assert page.locator(".wk-grid em", has_text="still").count() == 12 - len(later["moved"])
    reading.press("ArrowDown")
    lower = check(page, model)
    assert lower["values"][5] == pytest.approx(later["values"][5] - 0.1) and lower["times"] == later["times"]
    assert len(lower["moved"]) == 12
    for key in ("ArrowRight", "End"):
        page.get_by_role("slider", name="All times later by").press(key)
        shifted = check(page, model)
        assert set(shifted["moved"]) == turned
        np.testing.assert_allclose(shifted["answers"], lower["answers"], atol=1e-6)
    page.get_by_label("block").select_option("2")  # another block, and nothing has moved in it yet
    assert state(page)["moved"] == []


def test_a_dot_is_dragged_sideways_or_up_and_a_hidden_one_stays_on_the_wave(visit):
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    first = check(page, model)
    dots = page.locator(".wk-drawing .romae-drag")
    drag(page, dots.nth(5), 20, 6)
    sideways = check(page, model)
    assert sideways["times"][5] > first["times"][5] and sideways["values"] == first["values"]
    drag(page, dots.nth(5), 6, 30)
    down = check(page, model)
    assert down["values"][5] < sideways["values"][5] and down["times"] == sideways["times"]
    drag(page, dots.nth(10), -30)
    asked, one = check(page, model), made.data["first"]
    wave = lambda t: np.sin(2 * np.pi * (t / one["period"] + one["phase"]))  # noqa: E731
    for now in (first, asked):  # its noise goes with it
        assert now["values"][10] - wave(now["times"][10]) == pytest.approx(one["noise"][10], abs=3e-3)
    assert asked["hidden"] == first["hidden"]  # a drag is no click


def test_a_matrix_that_is_clicked_is_large_and_says_what_its_sides_are(visit):
    page = visit(figure().html(), reduced_motion="reduce")
    now, large = step(page, 5), page.locator(".wk-large")
    followed = f"at {now['times'][now['follow']]:.1f}"
    for name, formula, words in (
        ("weights", "softmax(score)", {"queries ↓", "keys →"}), ("q", "q = W_q h", {"readings →", "of each ↓"}),
    ):
        page.locator(".wk-grid").get_by_role("button", name=name, exact=True).click()
        assert large.locator("code").inner_text() == formula
        assert words | {followed} <= set(large.locator("text").all_text_contents())


def test_every_step_fits_a_small_window(visit):
    """1280 x 720 of a laptop, under the site's bar: the page's column is 676 wide."""
    page = visit(gallery("walk").numbered("2.1").html(), width=690, reduced_motion="reduce")
    for number in range(LOSS + 1):
        step(page, number)
        assert page.locator(".romae-explorable").bounding_box()["height"] < 720 - 48


def test_a_click_follows_a_token_through_all_steps(visit):
    made, model = in_page()
    page = visit(made.html(), reduced_motion="reduce")
    step(page, 1)
    page.get_by_role("slider", name="3rd reading").press("Enter")
    assert state(page)["follow"] == 2 and "at 2.1" in page.locator(".wk-words").inner_text()
    page.get_by_role("slider", name="Step").press("End")
    assert check(page, model)["follow"] in (1, 3)  # the third is hidden, and a neighbour is followed
    page.get_by_role("slider", name="Step").press("ArrowLeft")
    page.get_by_role("slider", name="7th reading").press("Enter")
    assert check(page, model)["ask"] == 6 and "at 11.0" in page.locator(".wk-words").inner_text()


def test_a_chapter_puts_its_own_model_in_the_place(visit):
    own = walk.explorable(small(), "Trained here.", first=None, periods=(6, 10))
    page = visit(own.html(), reduced_motion="reduce")
    now = check(page, weights.of_bytes(own.data["model"], small()))
    assert now["times"] != walk.OPENING["times"] and len(now["hidden"]) == 5
    assert "Trained here." in page.locator("figcaption").inner_text()

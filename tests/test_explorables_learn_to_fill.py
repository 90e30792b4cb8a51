"""The figure of chapter 02 in which a masked autoencoder learns in the page."""

import json

import numpy as np
import pytest
import torch
from figures import drag, state, until
from test_explorables_cls import asked

from romae_book.explorables.autoencoder import learn_to_fill
from romae_book.explorables.gallery import gallery
from romae_lite import ModelConfig, PositionEncoding, RoMAE, Tokens, size
from romae_lite.masking import split, take
from romae_lite.model import reconstruction_loss

B, SEEN, GONE = 3, 5, 4


def small(depth: int, cls: bool) -> tuple[dict, RoMAE]:
    """What the page is told of a model, and the package's own model of that shape."""
    told = learn_to_fill.MODEL | {"depth": depth, "cls": int(cls)}
    shape = size("x".join(str(told[name]) for name in ("dim", "heads", "depth", "ff")))
    encoding = PositionEncoding(base=told["base"], p=told["p"])
    return told, RoMAE(ModelConfig(
        patch=1, axes=1, encoder=shape, decoder=shape, cls=cls, alone=True, positions=encoding
    ))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("cls", [True, False])
def test_the_pages_gradient_is_pytorchs(visit, depth, cls):
    """By autograd, of the package's own masked autoencoder with the same weights."""
    torch.manual_seed(0)
    told, model = small(depth, cls)
    values, positions = torch.randn(B, SEEN + GONE, 1), 20 * torch.rand(B, SEEN + GONE, 1, dtype=torch.float64)
    hidden = torch.rand(B, SEEN + GONE).argsort(1) < GONE
    tokens = Tokens(values=values, positions=positions)
    where = split(hidden, tokens.real)
    targets = take(values, where.hidden)
    loss = reconstruction_loss(model(tokens, where), targets, where.hidden_pad)
    loss.backward()
    rows = {
        name: take(x, index)[..., 0].tolist()
        for name, x, index in (
            ("values", values, where.visible), ("shown", positions, where.visible), ("asked", positions, where.hidden),
        )
    }
    sent = {
        "model": told, "targets": targets[..., 0].tolist(), **rows,
        "weights": {name: w.detach().flatten().tolist() for name, w in model.named_parameters()},
    }
    found = asked(
        visit(""),
        """const weights = Object.fromEntries(Object.entries(data.weights).map(([n, w]) => [n, Float64Array.from(w)]));
        const fresh = trainer.build(data.model, 1), model = {...data.model, weights};
        const {loss, gradient} = trainer.error(trainer.fill(model, data.values, data.shown, data.asked), data.targets);
        const each = (lists, f) => Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, f(list)]));
        return {loss, gradient: each(gradient, g => [...g]), sizes: each(fresh.weights, w => w.length)};""",
        sent,
    )
    named = dict(model.named_parameters())
    assert found["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)
    assert found["sizes"] == {name: w.numel() for name, w in named.items()}
    largest = max(float(w.grad.abs().max()) for w in named.values())
    for name, w in named.items():  # float32 there, float64 here
        np.testing.assert_allclose(found["gradient"][name], w.grad.flatten(), atol=1e-5 * largest, rtol=1e-4)


def told(page) -> dict:
    """What the figure says now, at work or not."""
    return json.loads(page.locator(".romae-explorable").get_attribute("data-state"))


def train(page) -> dict:
    page.locator(".lf-go").click()
    until(page, "!now.busy && now.step > 0", timeout=240_000)
    return state(page)


def test_it_learns_and_a_wrong_unit_does_not(visit):
    """Straight lines are beaten soon; slow clocks leave what is fast; where nothing is hidden, nothing is learned."""
    page = visit(learn_to_fill.explorable(steps=150).html())
    first = state(page)
    assert first["step"] == 0 and first["error"] is None
    levels = {name: float(v) for name, v in first["levels"].items()}
    assert 0.01 < levels["best"] < 0.03 and levels["best"] < levels["lines"] < levels["mean"]
    learned = train(page)
    assert learned["step"] == 150 and float(learned["error"]) < 0.5 * levels["lines"]
    assert learned["answers"] != first["answers"]
    page.get_by_label("Times").select_option("0.1")
    assert state(page)["step"] == 0 and state(page)["runs"] == ["×1, depth 1"]
    assert float(train(page)["error"]) > 0.8 * levels["mean"]
    page.get_by_label("Curve").select_option("both")
    slow = train(page)
    fast_part = 0.5**2 / 2  # its variance, which a slow clock cannot reach
    assert fast_part < float(slow["error"]) < 0.75 * float(slow["levels"]["mean"])
    assert slow["runs"] == []  # errors on another curve cannot be compared
    page.get_by_role("slider", name="Hidden").press("Home")
    nothing = state(page)
    after = train(page)
    assert nothing["levels"] is None and after["error"] is None and after["answers"] == nothing["answers"]


def test_steps_pause_reset_and_the_link(visit):
    page = visit(learn_to_fill.explorable(steps=100_000).html())
    go = page.locator(".lf-go")
    go.press("Enter")
    until(page, "now.step >= 12")
    go.press("Enter")
    until(page, "!now.busy")
    assert go.inner_text() == "Go on"
    now = state(page)
    page.get_by_role("button", name="10 steps").click()
    until(page, f"!now.busy && now.step === {now['step'] + 10}")
    later = state(page)
    page.evaluate(f"location.hash = '#learn_to_fill:depth=2&cls=1&hidden=6&step={later['step']}'")
    until(page, f"!now.busy && now.depth === 2 && now.step === {later['step']}")
    assert state(page)["cls"] and state(page)["hidden"] == 6
    page.evaluate(f"location.hash = '#learn_to_fill:step={later['step']}'")
    until(page, f"!now.busy && now.depth === 1 && now.step === {later['step']}")
    assert state(page)["answers"] == later["answers"]  # the same numbers wherever it is opened
    page.get_by_role("button", name="Reset").click()
    assert state(page)["step"] == 0 and go.inner_text() == "Train"


def test_the_reader_draws_by_mouse_and_by_key(visit):
    page = visit(learn_to_fill.explorable().html())
    before, board = state(page), page.locator(".lf-board")
    box = board.bounding_box()
    page.mouse.click(box["x"] + 90, box["y"] + 40)  # a click is no stroke
    assert state(page) == before
    drag(page, (box["x"] + 40, box["y"] + 30), 200, 100)
    drawn = state(page)
    assert drawn["curve"] == "own" and drawn["step"] == 0 and drawn["levels"] != before["levels"]
    board.press("ArrowRight")
    board.press("ArrowUp")
    bent = state(page)
    assert bent["cursor"] == before["cursor"] + 2 and bent["levels"] != drawn["levels"]
    page.get_by_label("Curve").select_option("wave")
    assert state(page)["levels"] == before["levels"]  # what is drawn does not change what was there
    flat = "_".join(["50"] * learn_to_fill.KNOTS)
    page.evaluate(f"location.hash = '#learn_to_fill:knots={flat}'")
    until(page, "now.curve === 'own'")
    noise, spread = 0.1**2, 0.5**2 * (0.4**2 / 3)  # the height of a copy is uniform, 0.4 to either side of 1
    assert float(state(page)["levels"]["mean"]) == pytest.approx(noise + spread, rel=0.5)


def test_a_stroke_of_a_finger_draws_and_the_page_scrolls(visit):
    page = visit(learn_to_fill.explorable().html(), width=390, has_touch=True)
    style = page.locator(".lf-board rect").evaluate("e => getComputedStyle(e).touchAction")
    assert style == "pan-y"


def test_no_frame_has_much_to_do(visit):
    """At most three steps each, and every third one draws: counted, since clocks depend on the machine."""
    page = visit(learn_to_fill.explorable(steps=60).html())
    page.evaluate("""() => {
      window.most = 0; let last = 0;
      new MutationObserver(() => {
        const {step} = JSON.parse(document.querySelector(".romae-explorable").dataset.state);
        window.most = Math.max(window.most, step - last); last = step;
      }).observe(document.querySelector(".romae-explorable"), {attributes: true, attributeFilter: ["data-state"]});
    }""")
    train(page)
    assert page.evaluate("window.most") <= 6


def test_learning_refuses_no_steps():
    with pytest.raises(ValueError, match="steps is 0"):
        gallery("learn_to_fill", steps=0)

"""The interactive figures of chapter 03: moving tokens, and a model that learns in the page."""

import numpy as np
import pytest
import torch
from figures import drag, keep, state, until
from oracles import moving_tokens as oracle_moving_tokens

from romae_book.experiments.position.experiment import Position
from romae_book.explorables import explorable
from romae_book.explorables.gallery import gallery
from romae_book.explorables.position import learn_position, moving_tokens
from romae_book.explorables.position.moving_tokens import Answers
from romae_lite import ModelConfig, PositionEncoding, RoMAEPredictor, Tokens, rope, size

M, K, N = 6, 61, 10


def made_up(follow: float, middle: float = 25.5, seed: int = 0) -> dict[str, np.ndarray]:
    """Arrays laid out as the recorded ones: answers that follow a share of the tokens' shift. No model was asked."""
    offsets = np.sort(np.random.default_rng(0).uniform(0, 19.6, (M, N)), axis=1)
    shifts = np.linspace(-8.8, 40.2, K)
    where = offsets[:, None] + shifts[:, None]
    noise = np.random.default_rng(seed).normal(0, 0.1, where.shape)
    named = middle + follow * (where - middle) + noise
    edges = 1 + 49 * (np.arange(50) + 0.5) / 50
    return dict(offsets=offsets, shifts=shifts, named=named, grid=edges, bias=follow - edges / 100, absolute=edges / 50)


def models() -> list[Answers]:
    return [
        Answers(anchor="[CLS]", distinct=False, head_dim=60, arrays=made_up(1.0), source="none"),
        Answers(anchor="", distinct=False, head_dim=16, arrays=made_up(0.0, seed=1)),
        Answers(anchor="token", distinct=False, head_dim=16, arrays=made_up(0.9, seed=2)),
        Answers(anchor="moving", distinct=True, head_dim=16, arrays=made_up(0.1, seed=3)),
    ]


def figure():
    return moving_tokens.explorable(models())


# Moving tokens ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model, head_dim", [(0, 60), (1, 16)])
def test_scores_are_the_models_rope(model, head_dim):
    data, difference = figure().data, 13.7
    phase = rope.angles(torch.tensor([[[3.0], [3.0 + difference]]]), rope.frequencies(head_dim))[:, :, None]
    turned = rope.rotate(torch.ones(1, 2, 1, head_dim), phase.cos(), phase.sin())[0, :, 0]
    expected = float(turned[0] @ turned[1]) / head_dim
    assert oracle_moving_tokens.score(data, model, difference) == pytest.approx(expected, abs=1e-6)  # float32 rotation


def test_answers_to_a_moved_anchor_are_those_of_the_model():
    """A record knows anchors at 0 only. What it says of an anchor elsewhere must be what the model itself would say."""
    exp = Position(size="16x2x2x24", n_train=8, n_valid=8, n_test=64)
    model, data = exp.build(0).eval(), exp.data(0)
    arrays = exp.arrays(model, data)
    page = moving_tokens.payload([Answers(anchor="[CLS]", distinct=False, head_dim=8, arrays=arrays)], 1, 50)
    k, c, pattern = 40, 7, 2
    tokens = exp.at(np.array([oracle_moving_tokens.places(page, pattern, k)]))
    encoder = model.encoder
    x = torch.cat((encoder.cls.expand(1, 1, -1), encoder.embed(tokens.values)), dim=1)
    cls = torch.full((1, 1, 1), c * page["step"], dtype=torch.float64)
    with torch.no_grad():
        named = model.head(encoder.stack(x, torch.cat((cls, tokens.positions), dim=1), None)[:, 1:])[0, :, 0]
    # answers travel as hundredths, offsets too
    assert oracle_moving_tokens.answers(page, 0, pattern, k, c) == pytest.approx(named.tolist(), abs=0.006)


def test_misshapen_answers_are_named():
    with pytest.raises(ValueError, match="'no anchor, tokens distinct' has other offsets"):
        other = made_up(1.0) | {"offsets": np.zeros((M, N))}
        moving_tokens.payload([models()[0], Answers(anchor="", distinct=True, head_dim=16, arrays=other)], 1, 50)
    for bad in (np.zeros((M, K)), np.full((M, K, N), np.nan)):
        with pytest.raises(ValueError, match="named h(as|olds).*'no anchor, tokens distinct'"):
            moving_tokens.payload(
                [Answers(anchor="", distinct=True, head_dim=16, arrays=made_up(1) | {"named": bad})], 1, 50
            )
    with pytest.raises(ValueError, match="anchor of 'pin, tokens alike' is 'pin'"):
        moving_tokens.payload([Answers(anchor="pin", distinct=False, head_dim=16, arrays=made_up(1))], 1, 50)


def expect(page, data, **wanted) -> dict:
    """The state, once its numbers have been compared with Python's."""
    now = state(page)
    assert {key: now[key] for key in wanted} == wanted
    model = next(i for i, m in enumerate(data["models"]) if m["name"] == now["model"])
    anchor = now["anchor"]
    answers = oracle_moving_tokens.answers(data, model, now["pattern"], now["k"], anchor)
    assert now["answers"] == [f"{v:.2f}" for v in answers]
    places = oracle_moving_tokens.places(data, now["pattern"], now["k"])
    # places have more digits than are shown, and the last one may fall on either side
    assert [float(v) for v in now["places"]] == pytest.approx(places, abs=0.0051)
    assert float(now["mean_error"]) == pytest.approx(
        oracle_moving_tokens.mean_error(data, model, now["pattern"], now["k"], anchor), abs=0.0051
    )
    chosen = places[now["token"] - 1]
    expected = [oracle_moving_tokens.score(data, model, place - chosen) for place in places]
    assert [float(v) for v in now["scores"]] == pytest.approx(expected, abs=0.00051)
    if now["score_anchor"] is not None:
        expected = oracle_moving_tokens.score(data, model, float(now["anchor_at"]) - chosen)
        assert float(now["score_anchor"]) == pytest.approx(expected, abs=0.006)  # the anchor's place has two digits
    return now


def test_tokens_and_anchor_move_by_key_and_pointer(visit):
    """All together: every answer follows, no score among them changes. With the anchor: nothing changes at all."""
    data, page = figure().data, visit(figure().html())
    bar, anchor = (page.get_by_role("slider", name=name) for name in ("All tokens together", "[CLS]"))
    before = expect(page, data, k=30, anchor=0, anchor_at="0.00", together=False)
    bar.press("PageUp")
    after = expect(page, data, k=35, anchor=0)
    assert after["scores"] == before["scores"] and after["score_anchor"] != before["score_anchor"]
    moved = [float(a) - float(b) for a, b in zip(after["answers"], before["answers"], strict=True)]
    assert moved == pytest.approx([5 * data["step"]] * N, abs=1)  # this made-up model follows, up to its noise
    page.get_by_role("button", name="[CLS] moves along").click()
    bar.press("PageDown")
    bar.press("PageDown")
    same = expect(page, data, k=25, anchor=-10, together=True)
    assert all(same[key] == after[key] for key in ("answers", "scores", "score_anchor"))
    page.get_by_role("button", name="[CLS] moves along").click()
    anchor.press("ArrowRight")
    alone = expect(page, data, k=25, anchor=-9, together=False)
    assert alone["answers"] != same["answers"] and alone["scores"] == same["scores"]
    bar.press("End")
    expect(page, data, k=51)  # nine steps from the anchor, the farthest that is recorded
    page.locator("input[type=range]").first.press("Home")
    first = expect(page, data, k=0)
    scale = page.locator(".romae-live svg").first.bounding_box()["width"] - 24
    span = data["shifts"] * data["step"] - data["step"] + max(map(max, data["offsets"])) + 6
    for handle, key in ((bar, "k"), (anchor, "anchor")):
        box = handle.bounding_box()
        # the bar is held by its upper edge, where nothing else is
        drag(page, (box["x"] + box["width"] / 2, box["y"] + (8 if key == "k" else box["height"] / 2)), 60, 3)
        steps = expect(page, data)[key] - first[key]
        assert abs(steps * data["step"] - 60 * span / scale) <= data["step"]  # whole steps


def test_models_differ_in_their_anchor(visit):
    data, page = figure().data, visit(figure().html())
    bar, (anchors, what, tokens) = (
        page.get_by_role("slider", name="All tokens together"),
        page.locator("select").all()[:3],
    )
    choices = (
        [(anchors, "stays")], [(anchors, "nothing")], [(anchors, "stays"), (what, "token")], [(tokens, "distinct")],
    )
    for i, (anchor, choice) in enumerate(zip(("0.00", None, "0.00", "moving"), choices, strict=True)):
        for select, value in choice:
            select.select_option(value)
        now = state(page)
        k = now["k"]
        if anchor == "moving":  # recorded ten units before the pattern
            anchor = f"{data['start'] + k * data['step'] - 10:.2f}"
        expect(page, data, anchor=0, anchor_at=anchor, model=data["models"][i]["name"])
        handles = page.get_by_role("slider", name="anchor").or_(page.get_by_role("slider", name="[CLS]"))
        assert handles.is_visible() == (anchor is not None)
        bar.press("ArrowLeft")
        later = expect(page, data, k=k - 1)
        assert (later["score_anchor"] == now["score_anchor"]) == (i in (1, 3))


def test_a_single_token_has_scores_but_no_answer(visit):
    data, page = figure().data, visit(figure().html())
    before = state(page)
    page.get_by_role("slider", name="The chosen token alone").press("PageUp")
    now = state(page)
    assert now["moved"] == "1.25" and now["answers"] is None and now["mean_error"] is None
    places = [p + 1.25 * (i == now["token"] - 1) for i, p in enumerate(oracle_moving_tokens.places(data, 0, now["k"]))]
    expected = [oracle_moving_tokens.score(data, 0, p - places[now["token"] - 1]) for p in places]
    assert [float(v) for v in now["scores"]] == pytest.approx(expected, abs=0.00051)
    page.get_by_role("button", name="Put the token back").click()
    assert state(page) == before
    # a press on the line takes the nearest token
    line = page.locator(".romae-live svg").first.bounding_box()
    page.mouse.click(line["x"] + line["width"] * 0.95, line["y"] + 62)
    assert state(page)["token"] == N and state(page)["answers"] is not None


# Learning in the page -------------------------------------------------------------------------------------------------


def asked(page, program: str, data=None):
    """What the program returns, run beside the page's own runtime and trainer."""
    kit, trainer = ((explorable.KIT / f"{name}.js").read_text("utf-8") for name in ("runtime", "trainer"))
    return page.evaluate(f"data => {{ {kit}\n{trainer}\n{program} }}", data)


@pytest.mark.parametrize("cls", [True, False])
@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("distinct", [True, False])
def test_the_pages_gradient_is_pytorchs(visit, cls, rotary, distinct):
    """By autograd, of the package's own model with the same weights."""
    shape = "x".join(str(learn_position.MODEL[name]) for name in ("dim", "heads", "depth", "ff"))
    kind, (B, N) = PositionEncoding(kind="rope" if rotary else "none"), (3, 4)
    config = ModelConfig(patch=N if distinct else 1, axes=1, encoder=size(shape), cls=cls, positions=kind)
    torch.manual_seed(0)
    model = RoMAEPredictor(config, outputs=1, pool="token").double()
    values = torch.eye(N) if distinct else torch.ones(N, 1)
    positions, targets = 1 + 49 * torch.rand(B, N, dtype=torch.float64), torch.randn(B, N, dtype=torch.float64)
    tokens = Tokens(values=values.expand(B, -1, -1).contiguous(), positions=positions[..., None])
    x = model.encoder.embed(tokens.values.double())
    if cls:
        x = torch.cat((model.encoder.cls.expand(B, 1, -1), x), dim=1)
    where = torch.nn.functional.pad(positions[..., None], (0, 0, int(cls), 0))
    # the package's head and stack by themselves, in float64: its front door casts to float32
    named = torch.nn.Sequential.forward(model.head, model.encoder.stack(x, where, None)[:, int(cls) :])[..., 0]
    loss = (named - targets).square().mean()
    loss.backward()
    sent = {
        "model": learn_position.MODEL | {"patch": config.patch, "cls": int(cls), "rotary": rotary},
        "weights": {name: w.detach().flatten().tolist() for name, w in model.named_parameters()},
        "values": values.tolist(), "positions": positions.tolist(), "targets": targets.tolist(),
    }
    page = visit("")
    found = asked(
        page,
        """const weights = Object.fromEntries(Object.entries(data.weights).map(([n, w]) => [n, Float64Array.from(w)]));
        const fresh = trainer.build(data.model, 1), model = {...data.model, weights};
        const {loss, gradient} = trainer.gradient(model, data.values, data.positions, data.targets);
        const each = (lists, f) => Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, f(list)]));
        return {loss, gradient: each(gradient, g => [...g]), sizes: each(fresh.weights, w => w.length)};""",
        sent,
    )
    # rotations run in float32 in the package: angles, cosines and products carry about 1e-6
    assert found["loss"] == pytest.approx(float(loss.detach()), rel=1e-5)
    named = dict(model.named_parameters())
    assert set(found["gradient"]) == set(named)
    assert found["sizes"] == {name: w.numel() for name, w in named.items()}
    largest = max(float(w.grad.abs().max()) for w in named.values())
    for name, w in named.items():
        np.testing.assert_allclose(found["gradient"][name], w.grad.flatten(), atol=1e-5 * largest, rtol=1e-4)


def test_the_pages_adam_is_pytorchs(visit):
    """Ten steps on made-up gradients, some of them longer than the limit of 1."""
    rng = np.random.default_rng(0)
    gradients = [(rng.normal(size=6) * scale).tolist() for scale in np.geomspace(0.01, 3, 10)]
    weight = torch.nn.Parameter(torch.ones(6, dtype=torch.float64))
    adam = torch.optim.Adam([weight], lr=0.02)
    for gradient in gradients:
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        torch.nn.utils.clip_grad_norm_([weight], 1.0)
        adam.step()
    found = asked(
        visit(""),
        """const model = {weights: {a: new Float64Array(6).fill(1)}}, memory = {};
        for (const g of data) trainer.step(model, {a: Float64Array.from(g)}, memory, 0.02);
        return [...model.weights.a];""",
        gradients,
    )
    np.testing.assert_allclose(found, weight.detach(), atol=1e-6)  # PyTorch's clipping divides by norm + 1e-6


def test_the_levels_are_the_packages():
    data = learn_position.explorable().data
    task = Position(n_train=1, n_valid=1, n_test=1)
    wanted = task.baselines(task.at(np.array(data["tests"])))
    assert data["levels"]["nothing"] == pytest.approx(wanted["mse_mean"], rel=1e-6)  # targets travel in float32
    assert data["levels"]["differences"] == pytest.approx(wanted["mse_relative"], rel=1e-6)


def test_training_in_the_page_ends_where_the_chapter_says(visit):
    page, data = visit(learn_position.explorable(steps=250).html()), learn_position.explorable().data
    nothing, differences = data["levels"]["nothing"], data["levels"]["differences"]
    first = state(page)
    assert first["step"] == 0 and float(first["mse"]) > 0.5 * nothing
    ends = []
    for choice in (None, "[CLS] at 0", "tokens alike"):
        if choice:
            page.get_by_role("button", name=choice).click()
            assert state(page)["step"] == 0
        page.locator(".lp-go").click()
        until(page, "!now.running", timeout=240_000)
        ends.append(float(state(page)["mse"]))
    anchored, blind, relative = ends
    assert anchored < 0.1 * differences and blind == pytest.approx(nothing, rel=0.05)
    # 250 steps come near the best from differences; a fifth below it, a model would know places
    assert 0.8 * differences < relative < 3 * differences
    assert state(page)["step"] == 250 and len(state(page)["runs"]) == 3


def test_training_can_be_paused_and_the_sample_chosen(visit):
    page = visit(learn_position.explorable(steps=100_000).html())
    go = page.locator(".lp-go")
    go.press("Enter")
    until(page, "now.step >= 15")
    go.press("Enter")
    now = state(page)
    assert not now["running"] and go.inner_text() == "Go on"
    page.locator("input[type=range]").press("End")
    assert state(page)["sample"] == learn_position.TESTS - 1 and state(page)["mse"] == now["mse"]
    page.get_by_role("button", name="rotations").click()
    assert state(page)["step"] == 0 and not state(page)["rotary"]


def test_learning_refuses_no_steps():
    with pytest.raises(ValueError, match="steps is 0"):
        learn_position.explorable(steps=0)


# From records -------------------------------------------------------------------------------------------------------


def test_moving_tokens_show_every_kind_of_model_once(tmp_path):
    def run(preset: str, follow: float, seed: int = 0, **settings):
        return keep(tmp_path, "position", preset, made_up(follow, seed=seed), {"mse": 0.5 + seed}, seed, **settings)

    for seed in (3, 1):
        run("paper", 1.0, seed)
    control = run("control", 0.0)
    for width in ("tiny", "small"):  # nothing tells the tokens apart: one of the two is enough
        run("paper", 0.0, cls=False, size=width)
    run("quick", 1.0)
    run("control", 7.0, lr=0.1)  # has no name of its own
    run("paper", 1.0, size="base", epochs=1)
    figure = gallery("moving_tokens", root=tmp_path)
    assert [m["name"] for m in figure.data["models"]] == [
        "[CLS] at 0, tokens alike",
        "no anchor, tokens alike",
        "no anchor, tokens distinct",
    ]
    first = figure.data["models"][0]
    assert first["source"] == "Seed 1, test MSE 1.5: python -m romae_lite run position --preset paper --seeds 1"
    assert len(first["thetas"]) == 30 and len(figure.data["models"][2]["thetas"]) == 8
    control.write_bytes(b"PK no archive")
    again = gallery("moving_tokens", root=tmp_path)
    assert len(again.data["models"]) == 2 and "control-s0.npz" in again.caption

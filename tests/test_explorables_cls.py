"""The interactive figures of chapter 02: moving tokens, and the error over the range."""

import math

import numpy as np
import pytest
import torch
from test_explorables import keep, state, visit  # noqa: F401  (visit is a fixture)

from romae_lite import rope
from romae_lite.page.gallery import gallery
from romae_lite.position import moving_tokens, position_error
from romae_lite.position.experiment import Position
from romae_lite.position.moving_tokens import Answers
from romae_lite.position.position_error import Sweep

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
        Answers(name="made up, [CLS]", anchor="[CLS]", head_dim=60, arrays=made_up(1.0), source="none"),
        Answers(name="made up, blind", anchor="", head_dim=16, arrays=made_up(0.0, seed=1)),
        Answers(name="made up, token", anchor="token", head_dim=16, arrays=made_up(0.9, seed=2)),
        Answers(name="made up, along", anchor="moving", head_dim=16, arrays=made_up(0.1, seed=3)),
    ]


def sweeps() -> list[Sweep]:
    where, rng = np.linspace(0, 100, 500), np.random.default_rng(0)
    signed = rng.normal(0, 0.03, (3, 500)) + 0.5 * (where / 100) ** 8
    few = np.linspace(1.49, 49.51, 50)
    return [
        Sweep(name="made up, (0, 100)", positions=where, absolute=np.abs(signed), signed=signed,
              paper={"first": 0.713, "last": 1.682, "central": 0.028}, source="none"),
        Sweep(name="made up, one seed", positions=few, absolute=np.abs(few - 25.5)[None], signed=(25.5 - few)[None]),
    ]  # fmt: skip


def figure(name: str):
    return moving_tokens.explorable(models()) if name == "moving_tokens" else position_error.explorable(sweeps())


# Moving tokens ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model, head_dim", [(0, 60), (1, 16)])
def test_scores_are_the_models_rope(model, head_dim):
    data, difference = figure("moving_tokens").data, 13.7
    phase = rope.angles(torch.tensor([[[3.0], [3.0 + difference]]]), rope.frequencies(head_dim))[:, :, None]
    turned = rope.rotate(torch.ones(1, 2, 1, head_dim), phase.cos(), phase.sin())[0, :, 0]
    expected = float(turned[0] @ turned[1]) / head_dim
    assert moving_tokens.score(data, model, difference) == pytest.approx(expected, abs=1e-6)  # float32 rotation


def test_answers_to_a_moved_anchor_are_those_of_the_model():
    """A record knows anchors at 0 only. What it says of an anchor elsewhere must be what the model itself would say."""
    exp = Position(size="16x2x2x24", n_train=8, n_valid=8, n_test=64)
    model, data = exp.build(0).eval(), exp.data(0)
    arrays = exp.arrays(model, data)
    page = moving_tokens.payload([Answers(name="m", anchor="[CLS]", head_dim=8, arrays=arrays)], 1, 50)
    k, c, pattern = 40, 7, 2
    tokens = exp.at(np.array([moving_tokens.places(page, pattern, k)]))
    encoder = model.encoder
    x = torch.cat((encoder.cls.expand(1, 1, -1), encoder.embed(tokens.values)), dim=1)
    cls = torch.full((1, 1, 1), c * page["step"], dtype=torch.float64)
    with torch.no_grad():
        named = model.head(encoder.stack(x, torch.cat((cls, tokens.positions), dim=1), None)[:, 1:])[0, :, 0]
    # answers travel as hundredths, offsets too
    assert moving_tokens.answers(page, 0, pattern, k, c) == pytest.approx(named.tolist(), abs=0.006)


def test_misshapen_answers_are_named():
    with pytest.raises(ValueError, match="'b' has other offsets"):
        other = made_up(1.0) | {"offsets": np.zeros((M, N))}
        moving_tokens.payload([models()[0], Answers(name="b", anchor="", head_dim=16, arrays=other)], 1, 50)
    for bad in (np.zeros((M, K)), np.full((M, K, N), np.nan)):
        with pytest.raises(ValueError, match="named h(as|olds).*'b'"):
            moving_tokens.payload(
                [Answers(name="b", anchor="", head_dim=16, arrays=made_up(1) | {"named": bad})], 1, 50
            )
    with pytest.raises(ValueError, match="anchor of 'b' is 'pin'"):
        moving_tokens.payload([Answers(name="b", anchor="pin", head_dim=16, arrays=made_up(1))], 1, 50)


def expect(page, data, **wanted) -> dict:
    """The state, once its numbers have been compared with Python's."""
    now = state(page)
    assert {key: now[key] for key in wanted} == wanted
    model = next(i for i, m in enumerate(data["models"]) if m["name"] == now["model"])
    anchor = now["anchor"]
    assert now["answers"] == [f"{v:.2f}" for v in moving_tokens.answers(data, model, now["pattern"], now["k"], anchor)]
    places = moving_tokens.places(data, now["pattern"], now["k"])
    # places have more digits than are shown, and the last one may fall on either side
    assert [float(v) for v in now["places"]] == pytest.approx(places, abs=0.0051)
    assert float(now["mean_error"]) == pytest.approx(
        moving_tokens.mean_error(data, model, now["pattern"], now["k"], anchor), abs=0.0051
    )
    chosen = places[now["token"] - 1]
    expected = [moving_tokens.score(data, model, place - chosen) for place in places]
    assert [float(v) for v in now["scores"]] == pytest.approx(expected, abs=0.00051)
    if now["score_anchor"] is not None:
        expected = moving_tokens.score(data, model, float(now["anchor_at"]) - chosen)
        assert float(now["score_anchor"]) == pytest.approx(expected, abs=0.006)  # the anchor's place has two digits
    return now


def test_moving_all_by_keyboard(visit):  # noqa: F811
    data = figure("moving_tokens").data
    page = visit(figure("moving_tokens").html())
    before = expect(page, data, k=30, anchor=0, anchor_at="0.00", together=False)
    bar = page.get_by_role("slider", name="All tokens together")
    bar.press("PageUp")
    after = expect(page, data, k=35, anchor=0)
    assert after["scores"] == before["scores"] and after["score_anchor"] != before["score_anchor"]
    moved = [float(a) - float(b) for a, b in zip(after["answers"], before["answers"], strict=True)]
    assert moved == pytest.approx([5 * data["step"]] * N, abs=1)  # this made-up model follows, up to its noise
    bar.press("End")
    expect(page, data, k=60)
    page.locator("input[type=range]").first.press("Home")
    expect(page, data, k=0)


def test_an_anchor_that_moves_along_hides_the_shift(visit):  # noqa: F811
    data = figure("moving_tokens").data
    page = visit(figure("moving_tokens").html())
    before = state(page)
    page.get_by_role("button", name="[CLS] moves along").click()
    page.get_by_role("slider", name="All tokens together").press("PageDown")
    after = expect(page, data, k=25, anchor=-5, together=True)
    for same in ("answers", "scores", "score_anchor"):
        assert after[same] == before[same]
    page.get_by_role("button", name="[CLS] moves along").click()
    page.get_by_role("slider", name="[CLS]").press("ArrowRight")
    alone = expect(page, data, k=25, anchor=-4, together=False)
    assert alone["answers"] != before["answers"] and alone["scores"] == before["scores"]


def test_models_differ_in_their_anchor(visit):  # noqa: F811
    data = figure("moving_tokens").data
    page = visit(figure("moving_tokens").html())
    select, bar = page.get_by_label("Model"), page.get_by_role("slider", name="All tokens together")
    for i, anchor in enumerate(("0.00", None, "0.00", "moving")):
        select.select_option(str(i))
        now = state(page)
        k = now["k"]
        if anchor == "moving":  # recorded ten units before the pattern
            anchor = f"{data['start'] + k * data['step'] - 10:.2f}"
        expect(page, data, anchor=0, anchor_at=anchor)
        assert page.get_by_role("slider", name="anchor").or_(page.get_by_role("slider", name="[CLS]")).is_visible() == (
            anchor is not None
        )
        bar.press("ArrowLeft")
        later = expect(page, data, k=k - 1)
        assert (later["score_anchor"] == now["score_anchor"]) == (i in (1, 3))


def test_dragging_by_pointer(visit):  # noqa: F811
    data = figure("moving_tokens").data
    page = visit(figure("moving_tokens").html())
    first = state(page)
    for name, key in (("All tokens together", "k"), ("[CLS]", "anchor")):
        box = page.get_by_role("slider", name=name).bounding_box()
        # the bar is held by its upper edge, where nothing else is
        x, y = box["x"] + box["width"] / 2, box["y"] + (8 if key == "k" else box["height"] / 2)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y + 3, steps=4)
        page.mouse.up()
        now = expect(page, data)
        scale = page.locator(".romae-live svg").first.bounding_box()["width"] - 24
        span = data["shifts"] * data["step"] - data["step"] + max(map(max, data["offsets"])) + 6
        assert abs((now[key] - first[key]) * data["step"] - 60 * span / scale) <= data["step"]  # whole steps


def test_a_single_token_has_scores_but_no_answer(visit):  # noqa: F811
    data = figure("moving_tokens").data
    page = visit(figure("moving_tokens").html())
    token = page.get_by_role("slider", name="The chosen token alone")
    before = state(page)
    token.press("PageUp")
    now = state(page)
    assert now["moved"] == "1.25" and now["answers"] is None and now["mean_error"] is None
    places = [p + 1.25 * (i == now["token"] - 1) for i, p in enumerate(moving_tokens.places(data, 0, now["k"]))]
    expected = [moving_tokens.score(data, 0, p - places[now["token"] - 1]) for p in places]
    assert [float(v) for v in now["scores"]] == pytest.approx(expected, abs=0.00051)
    page.get_by_role("button", name="Put the token back").click()
    assert state(page) == before
    # a press on the line takes the nearest token
    line = page.locator(".romae-live svg").first.bounding_box()
    page.mouse.click(line["x"] + line["width"] * 0.95, line["y"] + 62)
    assert state(page)["token"] == N and state(page)["answers"] is not None


# Error over the range -----------------------------------------------------------------------------------------------


def test_reading_is_the_mean_over_seeds():
    data, given = figure("position_error").data, sweeps()[0]
    for i in (0, 137, 499):
        column = [abs(given.signed[s, i]) for s in range(3)]
        # four significant digits travel
        wanted = (given.positions[i], sum(column) / 3, min(column), max(column))
        assert position_error.read(data, 0, i) == pytest.approx(wanted, rel=1e-3, abs=1e-4)


def test_misshapen_sweeps_are_named():
    good = sweeps()[0]
    for change in (
        dict(positions=good.positions[::-1]),
        dict(signed=good.signed[:, :4]),
        dict(absolute=good.signed[0]),
    ):
        kept = dict(name="b", positions=good.positions, absolute=good.absolute, signed=good.signed)
        with pytest.raises(ValueError, match="'b'"):
            position_error.payload([Sweep(**kept | change)])


def test_reading_the_error_by_keyboard_and_by_mouse(visit):  # noqa: F811
    data = figure("position_error").data
    page = visit(figure("position_error").html())

    def check(model: int, i: int) -> None:
        now = state(page)
        position, mean, lowest, highest = position_error.read(data, model, i)
        assert now["i"] == i and float(now["position"]) == pytest.approx(position, abs=0.051)  # one decimal
        found = [float(now[key]) for key in ("error", "lowest", "highest")]
        assert found == pytest.approx([mean, lowest, highest], abs=1e-6)
        assert now["shown"] in page.locator(".pe-numbers").inner_text()

    check(0, 150)
    marker = page.locator("svg [role=slider]")
    for key, i in (("ArrowRight", 151), ("PageUp", 161), ("End", 499), ("Home", 0)):
        marker.press(key)
        check(0, i)
    box = page.locator(".romae-live svg").first.bounding_box()
    page.mouse.move(box["x"] + 46 + (box["width"] - 60) / 4, box["y"] + 100)  # reads without pressing
    assert abs(state(page)["i"] - 499 / 4) <= 1
    page.get_by_label("Model").select_option("1")
    check(1, state(page)["i"])
    page.locator("input[type=range]").press("End")
    check(1, 49)
    page.get_by_role("button", name="with sign").click()
    now = state(page)
    assert now["signed"] and now["shown"] == f"−{abs(25.5 - 49.51):.1f}" and float(now["bias"]) == pytest.approx(-24.01)


def test_the_curve_stands_where_the_data_say(visit):  # noqa: F811
    """Signed errors on a linear scale, brought back from pixels, are the given ones."""
    page = visit(figure("position_error").html())
    page.get_by_label("Model").select_option("1")
    page.get_by_role("button", name="with sign").click()
    d = page.locator(".romae-live svg path[stroke-width='2.1']").get_attribute("d")
    x, y = np.array([list(map(float, pair.split())) for pair in d[1:].split("L")]).T
    given = sweeps()[1]
    for pixels, values in ((x, given.positions), (y, given.signed[0])):
        slope, offset = np.polyfit(values, pixels, 1)
        np.testing.assert_allclose(pixels, slope * values + offset, atol=0.02)  # drawn to hundredths
    assert np.polyfit(given.signed[0], y, 1)[0] < 0  # upwards


# From records -------------------------------------------------------------------------------------------------------


def test_without_records_both_say_so(tmp_path):
    for name, experiment in (("moving_tokens", "position"), ("position_error", "position_range")):
        figure = gallery(name, root=tmp_path)
        assert figure.data is None and "<script" not in figure.html()
        assert f"python -m romae_lite run {experiment} " in figure.caption and "ot recorded yet" in figure.title


def test_moving_tokens_show_every_kind_of_model_once(tmp_path):
    def run(preset: str, follow: float, seed: int = 0, **settings):
        return keep(tmp_path, "position", preset, made_up(follow, seed=seed), {"mse": 0.5 + seed}, seed, **settings)

    for seed in (3, 1):
        run("paper", 1.0, seed)
    control = run("control", 0.0)
    for size in ("tiny", "small"):  # nothing tells the tokens apart: one of the two is enough
        run("paper", 0.0, cls=False, size=size)
    run("quick", 1.0)
    run("control", 7.0, lr=0.1)  # has no name of its own
    run("paper", 1.0, size="base", epochs=1)
    figure = gallery("moving_tokens", root=tmp_path)
    assert [(m["name"], m["anchor"]) for m in figure.data["models"]] == [
        ("[CLS], identical tokens (tiny)", "[CLS]"),
        ("no anchor, identical tokens (tiny)", ""),
        ("no anchor, distinct tokens (ours)", ""),
        ("[CLS], identical tokens (base, reduced)", "[CLS]"),
    ]
    first = figure.data["models"][0]
    assert first["source"] == "Seed 1, test MSE 1.5: python -m romae_lite run position --preset paper --seeds 1"
    assert len(first["thetas"]) == 30 and len(figure.data["models"][2]["thetas"]) == 8
    control.write_bytes(b"PK no archive")
    again = gallery("moving_tokens", root=tmp_path)
    assert len(again.data["models"]) == 3 and "control-s0.npz" in again.caption


def test_position_error_gathers_seeds_and_the_papers_numbers(tmp_path):
    where = np.linspace(0, 100, 500)
    for seed in (0, 1):
        given = dict(positions=where, error=where / 100 - seed)
        last = keep(tmp_path, "position_range", "best", given, {"mse": 0.5}, seed)
    keep(tmp_path, "position_range", "best", dict(positions=where, error=where + 9), {"mse": 0.5}, lr=0.1)
    keep(tmp_path, "position", "control", made_up(0.0), {"mse": 0.5})
    figure = gallery("position_error", root=tmp_path)
    first, second = figure.data["models"]
    assert first["name"] == "One token, 0 to 100 (ours)" and "2 seeds, tier own" in first["source"]
    np.testing.assert_allclose(first["signed"][1], where / 100 - 1, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(first["absolute"], np.abs(first["signed"]))
    assert first["paper"] == {"first": 0.713, "last": 1.682, "central": 0.028}  # Figure 2
    assert second["name"] == "Ten tokens, no anchor, distinct tokens (ours)" and second["paper"] == {}
    assert math.isclose(second["positions"][0], 1.49) and len(second["signed"][0]) == 50
    last.unlink()
    assert "best-s1.npz cannot be used" in gallery("position_error", root=tmp_path).caption

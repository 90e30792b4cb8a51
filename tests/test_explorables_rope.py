"""Chapter 01: its explorables against the package that models run.

Where a test moves a figure, the number that the page then shows is compared with one that Python computes, and Python's
own twin of the arithmetic is compared with `romae_lite.rope` on torch tensors.
"""

import math

import numpy as np
import pytest
import torch
from figures import drag, press, state
from oracles import attention_kernel as oracle_attention_kernel
from oracles import two_tokens as oracle_two_tokens

from romae_book.explorables.rotary import attention_kernel, two_tokens
from romae_lite import rope


def torch_score(q, k, positions, freqs) -> float:
    """Dot product of q at one position and k at another, (D,) each, by the package's functions; halves are paired."""
    where = torch.tensor(positions, dtype=torch.float64)[None]  # (1, 2, D)
    phase = rope.angles(where, freqs)[:, :, None]  # (1, 2, 1, pairs)
    turned = rope.rotate(torch.stack((q, k))[None, :, None].float(), phase.cos(), phase.sin())[0, :, 0].double()
    return float(turned[0] @ turned[1])


def halves(pairs) -> torch.Tensor:
    """[(x0, y0), (x1, y1)] -> [x0, x1, y0, y1]: the channels in the package's layout."""
    return torch.tensor(pairs, dtype=torch.float64).T.flatten()


# --- two tokens -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectors", two_tokens.VECTORS)
@pytest.mark.parametrize(("query", "key"), [(0.0, 0.0), (7.25, 2.0), (-29.9, 30.0), (3.3, -11.75)])
def test_two_tokens_score_is_the_models(vectors, query, key):
    q, k = map(halves, two_tokens.VECTORS[vectors])
    freqs = rope.frequencies(two_tokens.DIM, two_tokens.P, two_tokens.BASE)
    expected = torch_score(q, k, [[query], [key]], freqs)
    limit = 4e-6 * float(q.norm() * k.norm())  # two rotations in float32
    score = oracle_two_tokens.score(vectors, query, key)
    assert score == pytest.approx(expected, abs=limit)
    assert sum(oracle_two_tokens.parts(vectors, query, key)) == pytest.approx(score, abs=1e-12)


def agrees(now: dict) -> None:
    """The state of the two tokens is what Python makes of its positions."""
    query, key = float(now["query"]), float(now["key"])
    assert now["difference"] == f"{key - query:.2f}"
    assert float(now["score"]) == pytest.approx(oracle_two_tokens.score(now["vectors"], query, key), abs=6e-5)
    parts = [float(part) for part in now["parts"]]
    # four decimals are shown
    assert parts == pytest.approx(oracle_two_tokens.parts(now["vectors"], query, key), abs=6e-5)


def test_two_tokens_by_keyboard_and_pointer(visit):
    """One moves, and the score changes; both move, and it stays; vectors are chosen; a dial more is a pair more."""
    page = visit(two_tokens.explorable().html())
    start, both = state(page), page.get_by_label("Both together")
    agrees(start)
    (now,) = press(page.get_by_label("Position of the query"), "ArrowRight")
    assert now["query"] == "7.50" and now["key"] == start["key"] and now["score"] != start["score"]
    agrees(now)
    for moved in press(both, "PageUp", "ArrowLeft", "End", "Home"):
        agrees(moved)
        assert moved["query"] != now["query"]
        assert (moved["difference"], moved["score"], moved["parts"]) == (now["difference"], now["score"], now["parts"])
    assert moved["key"] == "-30.00"  # the farthest that both can go
    unit = (page.locator(".romae-live svg").first.bounding_box()["width"] - 36) / (2 * two_tokens.REACH)  # pixels
    drag(page, both, 8 * unit)
    dragged = state(page)
    assert float(dragged["query"]) == pytest.approx(float(moved["query"]) + 8, abs=0.1)  # a pixel is 1/12
    assert (dragged["difference"], dragged["score"]) == (now["difference"], now["score"])
    drag(page, page.get_by_label("Position of the key"), 6 * unit)
    one = state(page)
    assert float(one["key"]) == pytest.approx(float(dragged["key"]) + 6, abs=0.1) and one["query"] == dragged["query"]
    assert one["score"] != dragged["score"]
    agrees(one)
    assert f"score {one['score'].replace('-', '−')}" in page.locator(".tt-numbers").inner_text()
    for name in two_tokens.VECTORS:
        page.get_by_label("Query and key").select_option(name)
        assert state(page)["vectors"] == name
        agrees(state(page))
    for count, now in enumerate(press(page.get_by_label("Dials"), "Home", *["ArrowRight"] * 3), start=1):
        assert now["pairs"] == count == page.locator(".tt-dials > div").count()
        wanted = oracle_two_tokens.parts(name, float(now["query"]), float(now["key"]))[:count]
        assert [float(v) for v in now["parts"]] == pytest.approx(wanted, abs=6e-5)  # four decimals
        assert float(now["score"]) == pytest.approx(sum(wanted), abs=6e-5)


# --- the kernel -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("preset", attention_kernel.PRESETS)
def test_kernel_is_what_a_query_and_key_of_that_shape_score(preset, axes):
    """A key of length 1 in every pair, a query of the pair's weight, turned back by its phase."""
    weights, phases = attention_kernel.shaped(preset, axes)
    q = halves([(w * math.cos(phi), -w * math.sin(phi)) for w, phi in zip(weights, phases, strict=True)])
    k = halves([(1.0, 0.0)] * len(weights))
    freqs = rope.frequencies(attention_kernel.DIM // axes, attention_kernel.P, attention_kernel.BASE)
    for distance in ((0.0, 0.0), (5.0, 5.0), (-3.7, 12.25)):
        expected = torch_score(q, k, [[0.0] * axes, list(distance[:axes])], freqs)
        ours = oracle_attention_kernel.score(weights, phases, distance[:axes])
        assert ours == pytest.approx(expected, abs=4e-6 * float(q.norm() * k.norm()))  # two rotations in float32


def test_no_weight_is_above_the_largest(visit):
    """At reach 1500 the peak is far narrower than a pixel; the probe stands on it."""
    page = visit(attention_kernel.explorable(preset="5 back", reach=1500).html())
    assert state(page)["at"] == ["-5.00"] and state(page)["score"] == "8.0000" and state(page)["weight"] == "1.0000"
    page.locator("input[type=range]").fill("300")
    weights, phases = attention_kernel.shaped("5 back", 1)
    expected = math.exp(oracle_attention_kernel.score(weights, phases, (300.0,)) - 8)
    # the maximum, 8 at distance 5, is found to an eighth of a unit: 0.5 x 0.125^2 x (sum of squared frequencies, 1.11)
    assert float(state(page)["weight"]) == pytest.approx(expected, rel=0.01, abs=6e-5)


def test_five_back_looks_five_back():
    weights, phases = attention_kernel.shaped("5 back", 1)
    distances = np.linspace(-40, 40, 8001)
    scores = [oracle_attention_kernel.score(weights, phases, (d,)) for d in distances]
    assert distances[int(np.argmax(scores))] == pytest.approx(-5, abs=1e-9) and max(scores) == pytest.approx(8)


def kernel_agrees(now: dict) -> None:
    weights, phases, at = ([float(v) for v in now[key]] for key in ("weights", "phases", "at"))
    expected = oracle_attention_kernel.score(weights, phases, tuple(at))
    # phases are shown to four decimals, and so is the score
    assert float(now["score"]) == pytest.approx(expected, abs=6e-5 * (1 + sum(weights)))


def test_kernel_by_keyboard_and_pointer(visit):
    page = visit(attention_kernel.explorable().html())
    kernel_agrees(state(page))
    distance = page.locator("input[type=range]").first
    for preset in attention_kernel.PRESETS:
        page.get_by_role("button", name=preset).press("Enter")
        now, (weights, phases) = state(page), attention_kernel.shaped(preset, 1)
        assert now["preset"] == preset and [float(w) for w in now["weights"]] == weights
        assert [float(phi) for phi in now["phases"]] == pytest.approx(phases, abs=6e-5)
        distance.fill("-12.3")
        kernel_agrees(state(page))
    (now,) = press(page.get_by_label("Weight of pair 1,"), "End")
    assert now["weights"][0] == "2.00" and now["preset"] is None
    page.get_by_role("button", name="all equal").press("Enter")
    drag(page, page.get_by_label("Weight of pair 2,"), 0, -300)  # past the top of the scale
    assert state(page)["weights"][1] == "2.00"
    box = page.get_by_label("Phase of pair 1,").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + 12, y)
    page.mouse.down()
    for part in range(1, 7):  # a third of a turn, against the clock
        page.mouse.move(x + 12 * math.cos(part * math.pi / 9), y - 12 * math.sin(part * math.pi / 9))
    page.mouse.up()
    assert float(state(page)["phases"][0]) == pytest.approx(2 * math.pi / 3, abs=0.15)  # a pixel of a 12-pixel dial
    kernel_agrees(state(page))
    plot = page.locator(".ak-map svg").bounding_box()
    page.mouse.click(plot["x"] + plot["width"] * 0.75, plot["y"] + 60)
    assert 10 < float(state(page)["at"][0]) < 30
    kernel_agrees(state(page))
    page.get_by_label("Axes").select_option("2")
    page.get_by_label("Distance, axis 2").fill("3.5")
    assert len(state(page)["at"]) == 2 and page.locator("input[type=range]").count() == 2
    for now in press(page.get_by_label("Phase of pair 6 (axis 2)"), "ArrowLeft", "Home"):
        kernel_agrees(now)


def test_map_shows_the_kernel(visit):
    """Opacity of a pixel of the map is |score| over the sum of weights, its colour the sign."""
    page = visit(attention_kernel.explorable(preset="only fast", axes=2, reach=15).html())
    n, blue = page.evaluate("""() => {
      const c = document.querySelector(".ak-map canvas");
      return [c.width, [...c.getContext("2d").getImageData(0, 0, c.width, c.width).data]];
    }""")
    image = np.reshape(blue, (n, n, 4))
    weights, phases = attention_kernel.shaped("only fast", 2)
    for column, row in ((60, 60), (10, 100), (93, 31), (31, 60)):
        distance = (15 * (2 * column / 120 - 1), 15 * (1 - 2 * row / 120))
        share = oracle_attention_kernel.score(weights, phases, distance) / sum(weights)
        assert image[row, column, 3] / 255 == pytest.approx(abs(share), abs=0.01)  # one of 255 steps, rounded
        if abs(share) > 0.1:
            assert (image[row, column, 2] > image[row, column, 0]) == (share > 0)  # blue above red where positive


@pytest.mark.parametrize(
    ("figure", "bad"),
    [(attention_kernel, {"preset": "backwards"}), (attention_kernel, {"reach": 12}), (attention_kernel, {"axes": 3}),
     (two_tokens, {"query": 31}), (two_tokens, {"key": -31}), (two_tokens, {"vectors": "none"}),
     (two_tokens, {"pairs": 5})],
)
def test_what_a_figure_cannot_show_is_refused(figure, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        figure.explorable(**bad)

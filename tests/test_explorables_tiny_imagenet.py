"""The masked picture: what the page paints is what the model paints, by pointer and by keyboard."""

import numpy as np
import pytest
import torch
from figures import press, state
from oracles import tiny_imagenet as oracle_tiny_imagenet

from romae_book.experiments.tiny_imagenet.experiment import TinyImageNet
from romae_book.explorables.explorable import Explorable
from romae_book.explorables.tiny_imagenet import figure as masked


def drawn() -> dict:
    """Three drawn pictures and a model with random weights: the page computes what it computes, sensible or not."""
    exp = TinyImageNet.quick().replace(
        side=16, patch_side=4, targets="pixels", encoder="16x2x1x32", decoder="16x2x1x16", per_class=2,
        valid_per_class=0, n_test=20,
    )
    model = exp.autoencoder(0)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        for weight in model.parameters():  # large enough for every part to matter
            weight += 0.2 * torch.randn_like(weight)
    return masked.source(exp, model, exp.data(0).test[:3], ["one", "two", "three"])


def figure() -> Explorable:
    """For the tests that every explorable has to pass."""
    return masked.explorable(drawn())


def test_pixels_travel_as_they_are():
    exp = TinyImageNet.quick().replace(
        targets="pixels", per_class=2, valid_per_class=0, n_test=20
    )  # no resizing: 64 x 64 in 8 x 8
    test = exp.data(0).test[:2]
    data = masked.source(exp, exp.autoencoder(0), test, ["a", "b"])
    image = np.array(data["pictures"][1]["pixels"]).reshape(8, 8, 8, 8, 3).transpose(0, 2, 1, 3, 4).reshape(64, 64, 3)
    np.testing.assert_array_equal(image, test.aux["image"][1])
    for changes, words in ((dict(targets="patch"), "targets is 'patch'"), (dict(encoding="none"), "encoding 'none'")):
        with pytest.raises(ValueError, match=words):
            masked.source(exp.replace(**changes), exp.autoencoder(0), test, ["a", "b"])
    with pytest.raises(ValueError, match="names has 1 entries for 2 pictures"):
        masked.source(exp, exp.autoencoder(0), test, ["a"])


def test_blending_by_distance():
    """A patch in the middle of four, two of them black and two white, is grey; one near white is nearly so."""
    pixels = np.ones((9, 48)) * np.array([0, 0, 0, 0, 0.5, 1, 1, 1, 1])[:, None]
    data = {"positions": [[i // 3, i % 3] for i in range(9)]}
    assert oracle_tiny_imagenet.blended(data, pixels, [4]) == pytest.approx(0.5)
    near = oracle_tiny_imagenet.blended(data, pixels, [7, 8, 4])
    assert (near[1] > 0.5).all() and near.shape == (3, 48)


def check(page, data: dict) -> dict:
    now = state(page)
    _, error, other = oracle_tiny_imagenet.painted(data, now["picture"], now["hidden"])
    # the model computes in float32; six decimals are kept
    assert now["mse"] == pytest.approx(error, abs=2e-5) and now["blended"] == pytest.approx(other, abs=2e-6)
    assert f"{now['mse']:.4f}"[:5] in page.locator(".mp-facts").inner_text()
    return now


def test_the_page_paints_what_the_model_paints(visit):
    data = drawn()
    page = visit(masked.explorable(data).html())
    assert check(page, data)["hidden"] == masked.first_mask(data)
    page.get_by_role("button", name="draw again").press("Enter")
    for key in ("Home", "ArrowRight", "End"):
        page.locator("input[type=range]").press(key)
        now = check(page, data)
    assert len(now["hidden"]) == 15  # one stays visible
    for words, want in (
        ("the right half", {2, 3, 6, 7, 10, 11, 14, 15}), ("a block", {5, 6, 9, 10}),
        ("every other patch", {1, 3, 4, 6, 9, 11, 12, 14}),
    ):
        page.get_by_role("button", name=words).press("Enter")
        assert set(check(page, data)["hidden"]) == want
    page.get_by_role("button", name="three").press("Enter")
    now = check(page, data)
    assert now["picture"] == 2
    shown = (
        page.locator(".mp-view canvas")
        .nth(1)
        .evaluate("c => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)")
    )
    image = np.array(shown).reshape(4, 4, 4, 4, 4).transpose(0, 2, 1, 3, 4).reshape(16, 16, 4)  # patches (4 x 4 pixels)
    want = 255 * oracle_tiny_imagenet.painted(data, 2, now["hidden"])[0].reshape(16, 16, 3)
    # rounded to whole numbers, of numbers that float32 and float64 may round apart
    np.testing.assert_allclose(image[..., :3], want, atol=0.51)
    assert (image[..., 3] == 255).all()


def test_a_stroke_hides_what_it_passes_and_brings_it_back(visit):
    data = drawn()
    page = visit(masked.explorable(data).html())
    page.locator("input[type=range]").press("Home")
    board = page.locator(".mp-board")
    board.scroll_into_view_if_needed()
    box, before = board.bounding_box(), set(state(page)["hidden"])
    row = 1 if before <= {8, 9, 10, 11} or not before & {4, 5, 6, 7} else 2
    across = [(box["x"] + box["width"] * (c + 0.5) / 4, box["y"] + box["height"] * (row + 0.5) / 4) for c in range(4)]

    def stroke():
        page.mouse.move(*across[0])
        page.mouse.down()
        for place in across[1:]:
            page.mouse.move(*place)
        page.mouse.up()

    passed = set(range(4 * row, 4 * row + 4))
    stroke()
    assert set(check(page, data)["hidden"]) == before | passed
    stroke()  # it begins on a hidden patch: this one shows
    assert set(check(page, data)["hidden"]) == before - passed or before <= passed
    before = set(state(page)["hidden"])
    *_, now = (check(page, data) for _ in press(board, "ArrowRight", "ArrowDown", " "))
    row, column = divmod(now["cursor"], 4)
    assert set(now["hidden"]) == before ^ {now["cursor"]}
    spoken = f"Row {row + 1}, column {column + 1}"
    page.wait_for_function(f"() => document.querySelector('output.romae-sr').textContent.includes('{spoken}')")
    board.press(" ")
    assert set(state(page)["hidden"]) == before

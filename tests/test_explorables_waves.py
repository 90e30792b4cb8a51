"""Count or time: both networks in the page against PyTorch, and what the reader does with a dot."""

import numpy as np
import pytest
import torch
from figures import drag, state

from romae_book.experiments.waves.data import SEEN, curve
from romae_book.explorables.waves import count_or_time, start_later
from romae_book.explorables.weights import in_bytes, of_bytes, unpacked
from romae_lite.model import interpolate
from romae_lite.tokens import Tokens


def kept(exp=count_or_time.TOLD["times"]) -> dict[str, np.ndarray]:
    """What a run leaves: weights that learnt nothing."""
    weights = exp.build(0).state_dict()
    return {f"weights.{name}": w.half().numpy() for name, w in weights.items()}


def figure(drawing=count_or_time, settings=count_or_time.TOLD):
    """Weights that are large enough for every part to matter."""
    models = {}
    for seed, (name, exp) in enumerate(settings.items()):
        models[name] = exp.build(seed).eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in models[name].parameters():
                weight += 0.25 * torch.randn(weight.shape, generator=generator)
    return drawing.explorable(models)


def answers(model, values, places, asked) -> np.ndarray:
    as_places = lambda x: torch.tensor(x, dtype=torch.float64)[None, :, None]  # noqa: E731
    seen = Tokens(values=torch.tensor(values, dtype=torch.float32)[None, :, None], positions=as_places(places))
    return interpolate(model, seen, as_places(asked))[0, :, 0].double().numpy()


def check(page, data: dict) -> dict:
    """What the page computes, against PyTorch; its errors, against the curve of the first series."""
    now, count = state(page), np.arange(1.0, SEEN + 1)
    times, at = np.array(now["times"]), np.array(now["at"])
    asked = {"times": (times, at), "numbers": (count, np.interp(at, times, count))}
    first = data["first"]
    for name, (places, where) in asked.items():
        expected = answers(unpacked(data["models"][name]), now["values"], places, where)
        assert np.ptp(expected) > 0.02  # or the next line would say little
        np.testing.assert_allclose(now["answers"][name], expected, atol=1e-4)  # PyTorch computes in float32
        if now["series"] == 0:
            miss = np.abs(now["answers"][name] - curve(at, first["period"], first["phase"])).mean()
            assert now["missed"][name] == pytest.approx(miss, abs=0.0051)  # told with two decimals
    return now


def test_page_agrees_with_pytorch(visit):
    made = figure()
    page = visit(made.html(), reduced_motion="reduce")
    before = check(page, made.data)
    fifth = page.get_by_role("slider", name="5th reading")
    for key, step in (("ArrowLeft", -0.1), ("PageDown", -1), ("ArrowRight", 0.1)):
        fifth.press(key)
        now = check(page, made.data)
        assert now["times"][4] == pytest.approx(before["times"][4] + step)
        before = now
    fifth.press("Home")  # up to the fourth, and no further
    assert before["times"][3] < check(page, made.data)["times"][4] < before["times"][3] + 0.2
    page.get_by_role("button", name="Space evenly").press("Enter")
    np.testing.assert_allclose(np.diff(check(page, made.data)["times"], 2), 0, atol=1e-5)
    page.get_by_role("button", name="Reset").press("Enter")
    assert check(page, made.data)["times"] == made.data["first"]["times"]
    page.get_by_role("button", name="New series").press("Enter")
    assert check(page, made.data)["times"] != made.data["first"]["times"]


@pytest.mark.parametrize("panel", [0, 1])
def test_a_dot_that_is_dragged_keeps_its_number(visit, panel):
    page = visit(figure().html(), reduced_motion="reduce")
    before = state(page)
    drag(page, page.locator(".ct-dot").nth(1 + panel * SEEN + 4), -60, end=False)  # behind that of the legend
    assert page.locator(".ct-tag", has_text="still 5th").count() == 1
    now = state(page)
    page.mouse.up()
    assert now["times"][4] < before["times"][4] - 0.5
    assert now["times"][:4] + now["times"][5:] == before["times"][:4] + before["times"][5:]


def test_the_weights_leave_room_on_the_first_screen():
    """The networks come after the first paint; compressed, as a server sends them."""
    import gzip

    assert len(gzip.compress(figure().html().encode())) < 150_000  # with the still picture and the kit


# --- the clock starts later -------------------------------------------------------------------------------------------


def late():
    return figure(start_later, start_later.HOW)


def test_three_ways_to_be_told_times_are_pytorchs(visit):
    """Each network's answers and its error, at every start of the clock; which of them notice is the page's to show."""
    made, seen = late(), []
    models = {name: of_bytes(made.data["models"][name], exp.build(0)) for name, exp in start_later.HOW.items()}
    page = visit(made.html(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="Start later by")
    for key, later in ((None, 20), ("Home", 0), ("End", 100), ("PageDown", 90)):
        if key:
            slider.press(key)
        now = state(page)
        assert now["later"] == later
        one, times, at = made.data["series"][now["series"]], np.array(now["times"]), np.array(now["at"])
        for name, model in models.items():
            expected = answers(model, now["values"], times + later, at + later)
            assert np.ptp(expected) > 0.02  # or the next line would say little
            np.testing.assert_allclose(now["answers"][name], expected, atol=1e-4)  # PyTorch computes in float32
            miss = np.abs(now["answers"][name] - curve(at, one["period"], one["phase"])).mean()
            assert float(now["missed"][name]) == pytest.approx(miss, abs=0.0051)  # two decimals
            assert now["missed"][name] in page.locator(".sl-drawing").text_content()
        seen.append(now["answers"])
    for name in models:
        moved = np.ptp([answer[name] for answer in seen], axis=0).max()
        assert (moved > 0.05) == (name == "added") and (name == "added" or moved < 1e-5), name
    page.get_by_role("button", name="New series").press("Enter")
    assert state(page)["times"] != now["times"]


def test_a_byte_for_a_weight_is_off_by_half_a_step_at_most():
    model = start_later.HOW["bias"].build(0)
    before = {name: w.clone() for name, w in model.state_dict().items()}
    data = in_bytes(model)
    of_bytes(data, model)
    for name, _, step in data["names"]:
        assert (model.state_dict()[name] - before[name]).abs().max() <= 0.501 * step, name
    with torch.no_grad():
        model.mask_token[3] = np.inf
    with pytest.raises(ValueError, match="mask_token holds"):
        in_bytes(model)

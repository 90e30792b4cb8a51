"""The window of chapter 09: what the page shows, against Python."""

import numpy as np
from figures import keep, state
from oracles import uea as oracle_uea

from romae_book.experiments.uea.data import SETS
from romae_book.explorables.gallery import gallery
from romae_book.explorables.uea import figure as uea

NAMES = SETS["BasicMotions"].names


def made_up(seed: int = 0) -> dict[str, np.ndarray]:
    """Arrays laid out as the recorded ones, of three series that do not exist. No model was asked."""
    rng = np.random.default_rng(seed)
    step = np.stack([np.sort(rng.permutation(100)[:30]) for _ in range(3)])
    step[1, 25:] = -1
    chances = rng.dirichlet(np.full(4, 0.5), (3, 11, 11, 5))
    return dict(
        values=rng.normal(size=(3, 30, 6)), step=step, label=np.array([2, 0, 1]),
        levels=np.array([1, 0.6, 0.3, 0.15, 0.07]),
        rank=np.stack([rng.permutation(30), np.append(rng.permutation(25), np.arange(25, 30)), rng.permutation(30)]),
        probability=np.round(255 * chances).astype(np.uint8),
    )


def figure():
    return uea.explorable(made_up())


def letters(more: bool = True) -> dict[str, np.ndarray]:
    """The same with three channels and twenty classes; more: velocities, and made-up answers of MiniRocket."""
    rng, found = np.random.default_rng(0), made_up()
    rocket = np.where(np.triu(np.ones((11, 11)), 1)[:, :, None], rng.integers(0, 20, (3, 11, 11, 5)), 255)
    found |= dict(
        values=rng.normal(size=(3, 30, 3)),
        probability=np.round(255 * rng.dirichlet(np.full(20, 0.5), (3, 11, 11, 5))).astype(np.uint8),
    )
    return found | (dict(raw=rng.normal(size=(3, 30, 3)), minirocket=rocket.astype(np.uint8)) if more else {})


def agrees(now: dict, data: dict) -> None:
    where = (now["series"] - 1, now["from"], now["to"], now["level"])
    count, chances = int(oracle_uea.shown(data, *where).sum()), oracle_uea.answer(data, *where)
    assert now["shown"] == count
    assert now["truth"] == NAMES[data["series"][where[0]]["label"]]
    if count:
        assert now["answer"] == NAMES[int(np.argmax(chances))]
        for name, text in now["probabilities"].items():
            # JavaScript rounds halves up, Python to even
            assert abs(int(text.removesuffix(" %")) - 100 * chances[NAMES.index(name)] / 255) <= 0.5


def test_numbers_agree_with_python_by_keyboard(visit):
    data = figure().data
    page = visit(figure().html())
    begin, end = page.locator("[role=slider]").all()
    agrees(state(page), data)
    for series in range(3):
        page.get_by_label("Series").select_option(str(series))
        page.locator("input[type=range]").press("Home")
        begin.press("Home")
        end.press("End")
        for key, control in (("ArrowRight", begin), ("PageUp", begin), ("ArrowLeft", end), ("PageDown", end)) * 2:
            control.press(key)
            page.locator("input[type=range]").press("ArrowRight")
            now = state(page)
            agrees(now, data)
            assert now["series"] == series + 1 and now["from"] < now["to"]
            assert page.locator("circle").count() == 6 * now["shown"]
            for text in now["probabilities"].values():
                assert text in page.locator(".ue-classes").inner_text()
    assert begin.get_attribute("aria-valuemax") == str(state(page)["to"] - 1)
    assert not page.locator(".ue-pen, .ue-rocket").count() and now["minirocket"] is None  # this set has neither


def test_pen_goes_where_its_velocity_says():
    """Of a velocity that is linear in time the path is known, and straight lines are exact, whatever the steps."""
    step = np.array([3, 4, 7, 8, 15])
    velocity = np.stack((2 + 0.5 * step, -1 + 0 * step), 1)
    since = step - 3.0
    expected = np.stack(((2 + 0.5 * 3) * since + 0.25 * since**2, -since), 1)
    np.testing.assert_allclose(uea.pen(step, velocity), expected)


def test_letters_are_drawn_as_the_window_opens(visit):
    given = letters()
    shown = uea.explorable(given, uea.PEN, smoothing=0.1)
    data, page, names = shown.data, visit(shown.html()), SETS[uea.PEN].names
    begin, end = page.locator("[role=slider]").all()
    for series in range(3):
        page.get_by_label("Series").select_option(str(series))
        for key, control in (
            ("Home", begin), ("End", end), ("PageDown", end), ("PageUp", begin), ("ArrowRight", begin),
        ):
            control.press(key)
            now, one = state(page), data["series"][series]
            where = series, now["from"], now["to"], now["level"]
            # the pen is drawn whatever is left out
            inside = np.array(oracle_uea.shown(data | {"levels": [1.0] * 5}, *where))
            assert page.locator(".ue-ink").count() == (inside[1:] & inside[:-1]).sum()
            if now["shown"]:
                named = names[given["minirocket"][where]]
                assert now["minirocket"] == named
                line = page.locator(".ue-rocket").inner_text()
                assert named in line and ("✓" in line) == (named == names[one["label"]])
    assert page.locator(".ue-row u").count() == 1


def test_smoothed_labels_leave_a_target(tmp_path):
    keep(tmp_path, "uea", "best", letters(), {"accuracy": 0.5}, dataset="CharacterTrajectories")
    assert gallery("uea", root=tmp_path).data["target"] == 0.905  # 0.9 and a twentieth of 0.1: twenty classes

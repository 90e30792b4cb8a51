"""The window of chapter 09: what the page shows, against Python."""

import numpy as np
from test_explorables import keep, state, visit  # noqa: F401  (visit is a fixture)

from romae_lite.page.gallery import gallery
from romae_lite.uea import figure as uea
from romae_lite.uea.data import SETS

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
    )  # fmt: skip


def figure():
    return uea.explorable(made_up())


def test_comes_from_a_record(tmp_path):
    nothing = gallery("uea", root=tmp_path)
    assert nothing.data is None and uea.COMMAND in nothing.html()
    keep(tmp_path, "uea", "paper", made_up(), {"accuracy": 0.4321}, dataset="LSST")  # another set
    assert gallery("uea", root=tmp_path).data is None
    keep(tmp_path, "uea", "best", made_up(), {"accuracy": 0.4321})
    assert "accuracy 0.432" in gallery("uea", root=tmp_path).caption


def agrees(now: dict, data: dict) -> None:
    where = (now["series"] - 1, now["from"], now["to"], now["level"])
    count, chances = int(uea.shown(data, *where).sum()), uea.answer(data, *where)
    assert now["shown"] == count
    assert now["truth"] == NAMES[data["series"][where[0]]["label"]]
    if count:
        assert now["answer"] == NAMES[int(np.argmax(chances))]
        for name, text in now["probabilities"].items():
            # JavaScript rounds halves up, Python to even
            assert abs(int(text.removesuffix(" %")) - 100 * chances[NAMES.index(name)] / 255) <= 0.5


def test_numbers_agree_with_python_by_keyboard(visit):  # noqa: F811
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


def test_window_by_pointer(visit):  # noqa: F811
    """The left end dragged to the middle; then beyond the right end, where it stops before it."""
    page = visit(figure().html())
    handle = page.locator("[role=slider]").first
    plot = page.locator(".romae-live svg").first.bounding_box()
    for target, expected in ((0.5, 5), (1.2, 9)):
        box = handle.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(plot["x"] + target * plot["width"], box["y"] + 40, steps=6)
        page.mouse.up()
        assert (state(page)["from"], state(page)["to"]) == (expected, 10)
    agrees(state(page), figure().data)

"""The pendulum of chapter 08: what the page shows, against Python."""

import numpy as np
import pytest
from oracles import pendulum as oracle_pendulum
from test_explorables import keep, state, visit  # noqa: F401  (visit is a fixture)

from romae_book.experiments.pendulum.data import generate
from romae_book.explorables.gallery import gallery
from romae_book.explorables.pendulum import figure as pendulum


def made_up(clips: int = 3, data_seed: int = 0, noise: float = 0.3) -> dict[str, np.ndarray]:
    """Real frames with made-up predictions, laid out as the recorded arrays are. No model was asked."""
    rng = np.random.default_rng(data_seed)
    made = generate(clips, rng)
    target = made.aux["target"].numpy()
    return dict(
        frames=made.values.numpy().astype(np.uint8), numbers=made.positions[..., 0].numpy().astype(np.int8),
        share=made.aux["share"].numpy(), angles=made.aux["angles"].numpy(),
        prediction=(target + noise * rng.normal(size=target.shape)).astype(np.float32),
    )


def figure():
    other = made_up(noise=0.6)["prediction"]
    return pendulum.explorable(made_up(), "one", {"another": {"prediction": other}})


def with_worlds(noise: float = 0.3) -> dict[str, np.ndarray]:
    """The same, with made-up answers for the other worlds."""
    rng, made = np.random.default_rng(5), made_up(noise=noise)
    errors = {f"mse_{key}": rng.random() for key in ("shuffled", "half", "later")}
    found = {key: made["prediction"] + noise * rng.normal(size=(3, 50, 2)) for key in ("shuffled", "later", "half")}
    found["kalman"] = made["prediction"]
    return made | errors | found | {"half": found["half"][:, ::2], "kalman_half": made["prediction"][:, ::2]}


def test_errors_are_plain_means():
    given = made_up()
    data = pendulum.payload(given, {"one": pendulum.answers(given)})
    for c in range(3):
        total = 0.0
        for slot, number in enumerate(given["numbers"][c]):
            angle = given["angles"][c, number]
            total += (given["prediction"][c, slot, 0] - np.sin(angle)) ** 2
            total += (given["prediction"][c, slot, 1] - np.cos(angle)) ** 2
        # values travel rounded to 0.001: a squared error of about 0.1 moves by at most 2 x 0.3 x 0.0005 on average
        assert oracle_pendulum.errors(data, c) == [pytest.approx(total / 100, abs=3e-4)]
    sine, cosine = given["prediction"][1, 7]
    off = np.degrees(np.angle((cosine + 1j * sine) * np.exp(-1j * given["angles"][1, given["numbers"][1, 7]])))
    # 0.001 across a needle of length 0.3
    assert oracle_pendulum.degrees_off(data, 1, 7, 0) == pytest.approx(off, abs=0.3)


def test_figure_is_small_and_holds_a_kalman_smoother():
    many = made_up(4)
    html = pendulum.explorable(many, "one", {"two": many}).html()
    assert len(html.encode()) < 300_000
    data = pendulum.explorable(many).data
    assert [m["name"] for m in data["models"]] == ["RoMAE", "Kalman, told the physics"]
    assert np.median([oracle_pendulum.errors(data, c)[1] for c in range(4)]) < 1e-3


def test_comes_from_records(tmp_path):
    nothing = gallery("pendulum", root=tmp_path)
    assert nothing.data is None and pendulum.COMMAND in nothing.html()

    def names() -> list[str]:
        return [model["name"] for model in gallery("pendulum", root=tmp_path).data["models"]]

    keep(tmp_path, "pendulum", "paper", made_up(), {"mse": 0.5}, 10)
    keep(tmp_path, "pendulum", "paper", made_up(noise=0.5), {"mse": 0.01234}, 2)
    found = gallery("pendulum", root=tmp_path)
    assert "0.01234" in found.caption and "seed 2" in found.caption and len(found.data["models"]) == 2
    keep(tmp_path, "pendulum", "best", made_up(), {"mse": 0.00123})
    assert names() == ["RoMAE, its own token", "RoMAE, from [CLS]", "Kalman, told the physics"]
    path = keep(tmp_path, "pendulum", "best", made_up(data_seed=1), {"mse": 0.00123})
    assert names() == ["RoMAE, its own token", "Kalman, told the physics"]  # other clips: no figure for both
    assert (
        "paper-s2.npz cannot be used (its clips are not those of best-s0)" in gallery("pendulum", root=tmp_path).caption
    )
    path.write_bytes(b"PK")
    assert "best-s0.npz cannot be used" in gallery("pendulum", root=tmp_path).caption


def test_the_smoother_is_not_asked_again(tmp_path, monkeypatch):
    """Where a record has the smoother's answers, the page shows these."""
    kept = made_up() | {"kalman": made_up(noise=0.9)["prediction"]}
    keep(tmp_path, "pendulum", "best", kept, {"mse": 0.5})
    monkeypatch.setattr(pendulum.predictors, "kalman", None)
    data = gallery("pendulum", root=tmp_path).data
    np.testing.assert_allclose(np.array(data["clips"][0]["answers"][0][1]) / 1000, kept["kalman"][0], atol=6e-4)


# In the browser -----------------------------------------------------------------------------------------------------


def test_numbers_agree_with_python_by_keyboard(visit):  # noqa: F811
    data = figure().data
    page = visit(figure().html())
    for c in range(3):
        page.get_by_role("button", name=f"Clip {c + 1}").press("Enter")
        page.locator("input[type=range]").press("Home")
        expected = oracle_pendulum.errors(data, c)
        for frame in range(12):
            now, chosen = state(page), data["clips"][c]
            assert (now["clip"], now["frame"], now["seen"]) == (c + 1, frame, frame in chosen["numbers"])
            # shown in thousandths with three digits
            np.testing.assert_allclose(np.array(now["mse"], float) / 1000, expected, atol=0.51e-6)
            assert now["mse"][0] in page.locator(".romae-legend").inner_text()
            if now["seen"]:
                slot = chosen["numbers"].index(frame)
                assert now["share"] == chosen["share"][slot]
                off = [oracle_pendulum.degrees_off(data, c, slot, m) for m in range(3)]
                np.testing.assert_allclose(now["off"], off, atol=0.051)  # one decimal
            else:
                assert now["off"] == [None] * 3 and "not seen" in page.locator(".pd-what").inner_text()
            page.locator("input[type=range]").press("ArrowRight")


def test_worlds_agree_with_python(visit):  # noqa: F811
    shown = pendulum.explorable(with_worlds(), "one", {"another": with_worlds(0.6)})
    data, page = shown.data, visit(shown.html())
    assert [world["name"] for world in data["worlds"]] == list(pendulum.WORLDS)
    page.get_by_role("button", name="Clip 2").press("Enter")
    chosen = data["clips"][1]
    for w, world in enumerate(data["worlds"]):
        page.get_by_role("button", name=world["name"]).click()
        page.locator("input[type=range]").press("Home")
        expected = oracle_pendulum.errors(data, 1, w)
        for frame in range(8):
            now = state(page)
            slot = chosen["numbers"].index(frame) if frame in chosen["numbers"] else -1
            seen = slot >= 0 and (w != 2 or slot % 2 == 0)
            assert (now["world"], now["frame"], now["seen"]) == (world["name"], frame, seen)
            np.testing.assert_allclose(np.array(now["mse"], float) / 1000, expected, atol=0.51e-6)
            if seen:
                off = [oracle_pendulum.degrees_off(data, 1, slot, m, w) for m in range(3)]
                np.testing.assert_allclose(now["off"], off, atol=0.051)
            page.locator("input[type=range]").press("ArrowRight")
        said = page.locator(".pd-happens").inner_text()
        mean = data["models"][1]["mse"][w]
        assert world["says"] in said and ("another" in said) == (mean is not None)
        assert mean is None or f"{mean:.1f}" in said or f"{mean + 1e-9:.1f}" in said
    points = page.locator("circle").count()
    page.get_by_role("button", name="every other").click()
    assert page.locator("circle").count() == points / 2


def test_worlds_that_somebody_does_not_know_are_not_offered(visit):  # noqa: F811
    assert [world["name"] for world in figure().data["worlds"]] == ["as they are"]
    page = visit(figure().html())
    assert not page.get_by_role("button", name="shuffled").count() and not page.locator(".pd-happens").count()
    part = {key: value for key, value in with_worlds().items() if key != "kalman_half"}
    names = [world["name"] for world in pendulum.explorable(part).data["worlds"]]
    assert names == ["as they are", "shuffled", "20 steps later"]


def test_camera_shows_the_frame(visit):  # noqa: F811
    given = made_up()
    page = visit(figure().html())
    read = "n => [...n.getContext('2d').getImageData(0, 0, 24, 24).data].filter((_, i) => i % 4 === 0)"
    page.locator("input[type=range]").press("Home")
    for frame in range(6):
        pixels = page.locator(".pd-camera canvas").evaluate(read)
        slot = np.flatnonzero(given["numbers"][0] == frame)
        if len(slot):
            assert pixels == given["frames"][0, slot[0]].tolist()
        else:
            assert set(pixels) == {104, 116}  # hatched
        page.locator("input[type=range]").press("ArrowRight")


def test_needles_point_where_they_should(visit):  # noqa: F811
    """The true needle's angle, read off the page, is the one the frame was drawn with."""
    given = made_up()
    page = visit(figure().html())
    page.locator("input[type=range]").press("Home")
    for _ in range(int(given["numbers"][0, 3])):
        page.keyboard.press("ArrowRight")
    ends = page.locator(".pd-camera svg line").evaluate_all(
        "n => n.map(l => ['x1', 'y1', 'x2', 'y2'].map(k => +l.getAttribute(k)))"
    )
    assert len(ends) == 4  # two needles, each with an outline
    for (x1, y1, x2, y2), guess in zip(ends[1::2], (None, given["prediction"][0, 3]), strict=True):
        angle = given["angles"][0, given["numbers"][0, 3]] if guess is None else np.arctan2(*guess)
        turn = np.angle(np.exp(1j * (np.arctan2(x2 - x1, y2 - y1) - angle)))
        assert abs(turn) < 0.004  # sines travel rounded to 0.001; the needle of a guess may be shorter than one


def test_marker_and_picture_by_pointer(visit):  # noqa: F811
    page = visit(figure().html())
    handle = page.locator("[role=slider]")
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(2000, box["y"] + 20, steps=4)
    page.mouse.up()
    assert state(page)["frame"] == 99 and handle.get_attribute("aria-valuenow") == "99"
    handle.press("Home")
    assert state(page)["frame"] == 0 and page.locator("input[type=range]").input_value() == "0"
    camera = page.locator(".pd-camera").bounding_box()
    page.mouse.move(camera["x"] + 40, camera["y"] + 60)
    page.mouse.down()
    page.mouse.move(camera["x"] + 80, camera["y"] + 60, steps=4)  # four pixels to a frame
    page.mouse.up()
    assert state(page)["frame"] == 10


def test_play_runs_to_the_end_and_stops(visit):  # noqa: F811
    page = visit(figure().html())
    handle = page.locator("[role=slider]")
    handle.press("End")
    handle.press("ArrowLeft")
    handle.press("ArrowLeft")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("() => JSON.parse(document.querySelector('.romae-explorable').dataset.state).frame === 99")
    page.wait_for_function("() => !JSON.parse(document.querySelector('.romae-explorable').dataset.state).playing")
    page.get_by_role("button", name="Play").click()  # from the beginning again
    page.wait_for_function("() => JSON.parse(document.querySelector('.romae-explorable').dataset.state).frame < 90")
    page.get_by_role("button", name="Pause").click()
    stopped = state(page)
    page.wait_for_timeout(250)
    assert state(page) == stopped and not stopped["playing"]

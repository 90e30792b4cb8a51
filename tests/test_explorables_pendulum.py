"""The pendulum of chapter 08: what the page shows, against Python."""

import numpy as np
import pytest
from figures import drag, keep, press, state, until
from oracles import pendulum as oracle_pendulum

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


@pytest.mark.parametrize("names", [("as they are",), tuple(pendulum.WORLDS)], ids=["plain", "worlds"])
def test_numbers_agree_with_python_in_every_world(visit, names):
    """Clip by clip and frame by frame. Worlds that somebody does not know are not offered."""
    shown = figure() if len(names) == 1 else pendulum.explorable(with_worlds(), "", {"another": with_worlds(0.6)})
    data, page = shown.data, visit(shown.html())
    assert tuple(world["name"] for world in data["worlds"]) == names
    assert page.get_by_role("button", name="shuffled").count() == (len(names) > 1)
    for w, c in [(w, c) for w in range(len(names)) for c in range(3)]:
        if len(names) > 1:
            page.get_by_role("button", name=names[w]).click()
        page.get_by_role("button", name=f"Clip {c + 1}").press("Enter")
        expected, chosen = oracle_pendulum.errors(data, c, w), data["clips"][c]
        for frame, now in enumerate(press(page.locator("input[type=range]"), "Home", *["ArrowRight"] * 7)):
            slot = chosen["numbers"].index(frame) if frame in chosen["numbers"] else -1
            seen = slot >= 0 and (w != 2 or slot % 2 == 0)
            assert (now["clip"], now["frame"], now["seen"]) == (c + 1, frame, seen)
            # shown in thousandths with three digits
            np.testing.assert_allclose(np.array(now["mse"], float) / 1000, expected, atol=0.51e-6)
            assert now["mse"][0] in page.locator(".romae-legend").inner_text()
            if seen:
                assert now["share"] == chosen["share"][slot]
                off = [oracle_pendulum.degrees_off(data, c, slot, m, w) for m in range(3)]
                np.testing.assert_allclose(now["off"], off, atol=0.051)  # one decimal
            elif slot < 0:
                assert now["off"] == [None] * 3 and "not seen" in page.locator(".pd-what").inner_text()
        if len(names) > 1:
            said, mean = page.locator(".pd-happens").inner_text(), data["models"][1]["mse"][w]
            assert data["worlds"][w]["says"] in said and ("another" in said) == (mean is not None)
            assert mean is None or f"{mean:.1f}" in said or f"{mean + 1e-9:.1f}" in said


def test_a_world_needs_everybodys_answers():
    part = {key: value for key, value in with_worlds().items() if key != "kalman_half"}
    names = [world["name"] for world in pendulum.explorable(part).data["worlds"]]
    assert names == ["as they are", "shuffled", "20 steps later"]


def test_camera_film_and_pointer(visit):
    """The camera shows the recorded frame; dragging winds the film, which stops at its end, or when asked."""
    given, page = made_up(), visit(figure().html())
    read = "n => [...n.getContext('2d').getImageData(0, 0, 24, 24).data].filter((_, i) => i % 4 === 0)"
    for frame, _ in enumerate(press(page.locator("input[type=range]"), "Home", *["ArrowRight"] * 5)):
        pixels = page.locator(".pd-camera canvas").evaluate(read)
        slot = np.flatnonzero(given["numbers"][0] == frame)
        if len(slot):
            assert pixels == given["frames"][0, slot[0]].tolist()
        else:
            assert set(pixels) == {104, 116}  # hatched
    handle, camera = page.locator("[role=slider]"), page.locator(".pd-camera").bounding_box()
    handle.press("Home")
    drag(page, (camera["x"] + 40, camera["y"] + 60), 40, steps=4)  # four pixels to a frame
    assert state(page)["frame"] == 10
    drag(page, handle, 2000)
    assert state(page)["frame"] == 99 and handle.get_attribute("aria-valuenow") == "99"
    for _ in press(handle, "ArrowLeft", "ArrowLeft"):
        pass
    page.get_by_role("button", name="Play").click()
    until(page, "now.frame === 99 && !now.playing")
    page.get_by_role("button", name="Play").click()  # from the beginning again
    until(page, "now.frame < 90")
    page.get_by_role("button", name="Pause").click()
    stopped = state(page)
    page.wait_for_timeout(250)
    assert state(page) == stopped and not stopped["playing"]

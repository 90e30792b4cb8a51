"""The light curve of chapter 10: what the page shows, against Python."""

import numpy as np
from oracles import elasticc as oracle_elasticc
from test_explorables import keep, state, visit  # noqa: F401  (visit is a fixture)

from romae_book.experiments.elasticc.arrays import recorded
from romae_book.experiments.elasticc.data import BANDS, SIMULATED_CLASSES
from romae_book.experiments.elasticc.experiment import ELAsTiCC
from romae_book.explorables.elasticc import figure as light_curve

NAMES, C = SIMULATED_CLASSES, 20


def made_up(seed: int = 0) -> dict[str, np.ndarray]:
    """Arrays laid out as `recorded` does, of three objects that do not exist. No model was asked."""
    rng, lengths = np.random.default_rng(seed), (60, 90, 40)
    days = [np.sort(rng.uniform(-300, 700, n).astype(np.float32)) for n in lengths]
    for day in days:
        day[np.searchsorted(day, 0)] = 0
    seen = [(day >= 0) & (day < last) for day, last in zip(days, (40, 400, 3), strict=True)]
    cuts = np.stack([d[d >= 0][np.linspace(0, (d >= 0).sum() - 1, C).round().astype(int)] for d in days])
    band = rng.integers(0, 6, sum(lengths))
    answer = rng.dirichlet(np.full(len(NAMES), 0.3), (3, C, 64))
    start = np.cumsum([0, *lengths])
    for s, day in enumerate(days):  # nothing seen, no answer
        for bands in range(64):
            looked = (bands >> band[start[s] : start[s + 1]]) & 1 > 0
            for c in range(C):
                answer[s, c, bands] *= (looked & (day <= cuts[s, c])).any()
    return dict(
        day=np.concatenate(days), band=band, value=rng.normal(size=(sum(lengths), 2)), seen=np.concatenate(seen),
        start=start, kind=np.array([0, 8, 4]), cuts=cuts, answer=np.round(answer * 255).astype(np.uint8),
    )


def figure():
    return light_curve.explorable(made_up(), NAMES, "asinh")


def test_payload_keeps_the_window_and_counts_the_rest():
    given, data = made_up(), figure().data
    flux = np.sinh(given["value"][:, 0]) * 10 ** given["value"][:, 1]
    for s, one in enumerate(data["objects"]):
        part = slice(given["start"][s], given["start"][s + 1])
        day, band = given["day"][part], given["band"][part]
        last = day[given["seen"][part]].max()
        assert one["from"] < 0 and one["to"] >= last and len(one["cuts"]) >= light_curve.STEPS
        end = max(1.15 * last + 5, given["cuts"][s, light_curve.STEPS - 1])
        inside = (day >= -0.15 * end) & (day <= end)
        np.testing.assert_allclose(one["flux"], flux[part][inside], rtol=1e-3)  # four digits
        assert one["band"] == band[inside].tolist()
        assert sum(one["before"]) == (day < -0.15 * end).sum()
        assert max(one["cuts"]) <= one["to"]


def test_raw_fluxes_stay():
    given = made_up()
    data = light_curve.payload(given, NAMES, "none")
    sent, part = np.array(data["objects"][1]["flux"]), slice(given["start"][1], given["start"][2])
    nearest = np.abs(sent[:, None] - given["value"][part][:, 0]).min(1)
    assert (nearest <= 1e-3 * np.abs(sent)).all()  # four digits


def test_probabilities_are_those_of_the_arrays():
    given, data = made_up(), figure().data
    for s, step, bands in ((0, 0, (1,)), (1, 5, (0, 3, 5)), (2, 6, range(6))):
        expected = given["answer"][s, step, sum(1 << b for b in bands)].astype(float)
        found = oracle_elasticc.probabilities(data, s, step, bands)
        np.testing.assert_allclose(found, expected / max(expected.sum(), 1e-9))


def test_from_the_experiment():
    """The real layout: the figure takes what a run keeps, and it is small."""
    exp = ELAsTiCC.quick().replace(encoder="16x2x1x32", decoder="16x2x1x32", n_train=40, n_test=100)
    arrays = recorded(exp, exp.build(0), exp.data(0))
    html = light_curve.explorable(arrays, exp.names, exp.scaling).html()
    assert len(html.encode()) < 350_000


# In the browser -----------------------------------------------------------------------------------------------------


def check(page, data):
    """What the page says of its present state, against Python."""
    now = state(page)
    bands = [BANDS.index(b) for b in now["bands"]]
    expected = oracle_elasticc.probabilities(data, now["object"], now["step"], bands)
    one = data["objects"][now["object"]]
    day = one["cuts"][now["step"]]
    visits = sum(one["before"][b] for b in bands)
    visits += sum(d <= day and b in bands for d, b in zip(one["day"], one["band"], strict=True))
    assert now["visits"] == visits
    if expected.sum() == 0:
        assert now["best"] is None and now["probabilities"] is None
        assert "no visit" in page.locator(".lc-note").inner_text()
        return
    assert now["best"] == NAMES[int(expected.argmax())]
    shown = [float(now["probabilities"][name].removesuffix(" %")) for name in NAMES]
    np.testing.assert_allclose(shown, 100 * expected, atol=0.5001)  # whole per cent
    assert page.locator(".lc-bar b").all_inner_texts() == list(now["probabilities"].values())


def test_numbers_agree_with_python_by_keyboard(visit):  # noqa: F811
    data = figure().data
    page = visit(figure().html())
    check(page, data)
    for s in range(3):
        page.get_by_role("group", name="Object").get_by_role("button").nth(s).press("Enter")
        slider = page.locator("input[type=range]")
        slider.press("Home")
        for step in range(4):
            assert (state(page)["object"], state(page)["step"]) == (s, step)
            check(page, data)
            slider.press("ArrowRight")
        slider.press("End")
        assert state(page)["step"] == len(data["objects"][s]["cuts"]) - 1
        check(page, data)


def test_bands_can_break(visit):  # noqa: F811
    data = figure().data
    page = visit(figure().html())
    page.locator("input[type=range]").press("Home")
    for band in "ugriz":
        page.get_by_role("button", name=f"Band {band}", exact=True).click()
        check(page, data)
    assert state(page)["bands"] == "Y"
    page.get_by_role("button", name="Band Y", exact=True).press("Enter")
    assert state(page)["bands"] == "" and state(page)["best"] is None
    check(page, data)


def test_points_fill_as_they_become_known(visit):  # noqa: F811
    one = figure().data["objects"][0]
    page = visit(figure().html())
    filled = """() => [...document.querySelectorAll(".lc-point")]
      .filter(point => getComputedStyle(point).fill !== "none").length"""
    assert page.locator(".lc-point").count() == len(one["day"])
    for key in ("Home", "End"):
        page.locator("input[type=range]").press(key)
        day = state(page)["day"]
        assert page.evaluate(filled) == sum(d <= day for d in one["day"])
    page.get_by_role("button", name="Band g", exact=True).click()
    assert page.evaluate(filled) == sum(d <= day and b != 1 for d, b in zip(one["day"], one["band"], strict=True))

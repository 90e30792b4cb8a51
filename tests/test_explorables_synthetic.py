"""The synthetic explorable: the page's model and Gaussian process against the package's, moved by key and pointer."""

import numpy as np
import pytest
import torch
from figures import drag, keep, press, state, until
from oracles import synthetic as oracle_synthetic

from romae_book.experiments.synthetic import data as generator
from romae_book.experiments.synthetic.experiment import Synthetic
from romae_book.experiments.synthetic.rivals import posterior
from romae_book.explorables.gallery import gallery
from romae_book.explorables.synthetic import figure as synthetic
from romae_book.explorables.weights import unpacked
from romae_lite.masking import split
from romae_lite.tokens import Tokens

SIZES = dict(encoder="32x2x2x48", decoder="16x2x2x40")  # unlike each other, to tell them apart


def model(cls: bool = True, seed: int = 0, scale: float = 50.0):
    """An untrained model whose weights half precision can hold, large enough for every part of it to matter."""
    exp = Synthetic.mini().replace(**SIZES, cls=cls, position_scale=scale)
    net = exp.build(seed).eval()
    generator_ = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_((p * 2 + 0.3 * torch.randn(p.shape, generator=generator_)).half().float())
    return exp, net


def left(net=None) -> dict[str, np.ndarray]:
    """The weights as a run of the preset leaves them among its arrays."""
    net = net or Synthetic.mini().build(0)
    return {f"weights.{name}": w.half().numpy() for name, w in net.state_dict().items()}


def figure(cls: bool = True, **opening):
    exp, net = model(cls)
    return synthetic.explorable([(net, exp)], **opening)


def by_the_package(exp, net, noisy: np.ndarray, observed: list[int]) -> np.ndarray:
    t = generator.GRIDS["from-zero"][0]
    tokens = Tokens(
        values=torch.from_numpy(noisy).float()[None, :, None], positions=torch.from_numpy(t * exp.scale)[None, :, None],
    )
    seen = np.isin(np.arange(50), observed)[None]
    return exp.predict(net, tokens, seen)[0][~seen[0]]


# --- Python -----------------------------------------------------------------------------------------------------------


def test_page_gets_the_generators_series():
    data = figure().data
    t, references = generator.GRIDS["from-zero"]
    np.testing.assert_allclose(data["t"], t, atol=1e-9)
    np.testing.assert_allclose(data["references"], references, atol=1e-9)
    shown = Synthetic.mini().shown
    assert (data["sharpness"], data["noise"]) == (generator.SHARPNESS, generator.NOISE)
    assert data["trained"] == [shown.start, shown.stop - 1]
    found = [oracle_synthetic.shown(data, n) for n in range(len(data["series"]))]
    noise = np.concatenate([noisy - clean for clean, noisy, _ in found])
    assert abs(noise.std() - generator.NOISE) < 4 * generator.NOISE / np.sqrt(2 * noise.size)
    assert all(sorted(order) == list(range(50)) for *_, order in found)
    assert len({noisy[0] for _, noisy, _ in found}) > 30  # they differ


def test_what_the_page_cannot_compute_is_refused():
    exp, net = model()
    with pytest.raises(ValueError, match="grid is 'hetvae'"):
        synthetic.payload([(net, exp.replace(grid="hetvae"))])


def test_mini_is_light_enough_for_a_page():
    exp = Synthetic.mini()
    assert len(synthetic.explorable([(exp.build(0), exp)] * 2).html().encode()) < 450_000


def test_comes_from_the_first_record_that_can_be_used(tmp_path):
    nothing = gallery("synthetic", root=tmp_path)
    assert nothing.data is None and "--preset mini" in nothing.html() and "<script" not in nothing.html()
    exp = Synthetic.mini()
    for seed in (10, 2):
        measured = {"mse_clean": 0.2345 + seed, "mse_clean_gp": 0.1234}
        path = keep(tmp_path, "synthetic", "mini", left(exp.build(seed)), measured, seed)
    chosen = gallery("synthetic", root=tmp_path)
    assert all(word in chosen.caption for word in ("--seeds 2.", "2.2345", "0.1234"))
    assert chosen.data == synthetic.payload([(exp.build(2), exp)])
    path.write_bytes(b"PK no archive")
    again = gallery("synthetic", root=tmp_path)
    assert "--seeds 10." in again.caption and "mini-s2.npz" in again.caption
    other = exp.replace(position_scale=1.0)
    measured = {"mse_clean": 0.3456, "mse_clean_gp": 0.1234}
    keep(tmp_path, "synthetic", "mini", left(other.build(0)), measured, 0, position_scale=1.0)
    two = gallery("synthetic", root=tmp_path)
    assert [found["unit"] for found in two.data["units"]] == [50.0, 1.0] and "0.3456 with times × 1 (" in two.caption


# --- in the browser ---------------------------------------------------------------------------------------------------


def agrees(page, exp, net, data) -> dict:
    """Everything the page says about what it shows, against the package (RoMAE) and closed forms (the rest)."""
    now = state(page)
    observed = sorted(now["observed"])
    clean, noisy, _ = oracle_synthetic.shown(data, now["series"])
    expected = by_the_package(exp, net, noisy, observed)
    np.testing.assert_allclose(np.array(now["romae"], float), expected, atol=1.5e-4)  # shown to four decimals
    seen = np.isin(np.arange(50), observed)
    mean, variance = posterior(noisy[None], seen[None], "from-zero")
    np.testing.assert_allclose(np.array(now["gp"], float), mean[0][~seen], atol=1e-4)  # shown to four decimals
    np.testing.assert_allclose(np.array(now["sd"], float), np.sqrt(variance[0][~seen]), atol=1e-4)
    assert now["hidden"] == np.flatnonzero(~seen).tolist()
    for key, value in (
        ("mse_romae", np.mean((expected - clean[~seen]) ** 2)),
        ("mse_gp", np.mean((mean[0] - clean)[~seen] ** 2)),
        ("expected", np.mean(variance[0][~seen])),
    ):
        assert float(now[key]) == pytest.approx(value, abs=1e-3, rel=1e-3)
        assert now[key] in page.locator(".sy-legend").inner_text()
    return now


def test_page_computes_what_the_package_computes(visit):
    for cls in (False, True):
        exp, net = model(cls)
        shown = synthetic.explorable([(net, exp)])
        page = visit(shown.html())
        assert len(agrees(page, exp, net, shown.data)["observed"]) == 5
        slider = page.locator("input[type=range]")
        slider.press("End")
        assert len(agrees(page, exp, net, shown.data)["observed"]) == 20
        page.get_by_role("button", name="New series").click()
        assert agrees(page, exp, net, shown.data)["series"] == 8
        slider.press("Home")
        assert len(agrees(page, exp, net, shown.data)["observed"]) == 1
        assert "trained with 3 to 10" in state(page)["note"]
        page.get_by_role("slider", name="Observed point 1").press("End")
        assert agrees(page, exp, net, shown.data)["observed"] == [49]


def test_weights_of_the_observations(visit):
    """The process's by its closed form, one observation raised by one; RoMAE's by backpropagation."""
    exp, net = model()
    shown = synthetic.explorable([(net, exp)])
    page = visit(shown.html())
    for key in ("ArrowRight", "End", "Home"):
        page.get_by_role("slider", name="Asked time").press(key)
        now = state(page)
        observed = sorted(now["observed"])
        assert now["asked"] not in observed
        seen = np.isin(np.arange(50), observed)[None]
        for i, weight in zip(observed, np.array(now["weights_gp"], float), strict=True):
            raised = posterior(np.eye(50)[[i]], seen, "from-zero")[0][0, now["asked"]]
            assert weight == pytest.approx(raised, abs=1e-4)  # shown to four decimals
        until(page, "now.average")
        now = state(page)
        unpacked_ = unpacked(shown.data["units"][0]["model"])
        values = torch.tensor(shown.data["series"][now["series"]]["noisy"])[None, :, None]
        values.requires_grad_()
        positions = torch.from_numpy(generator.GRIDS["from-zero"][0] * exp.scale)[None, :, None]
        tokens = Tokens(values=values, positions=positions)
        hidden = ~torch.from_numpy(seen)
        answers = unpacked_(tokens, split(hidden, tokens.real))[0, :, 0]
        answers[now["hidden"].index(now["asked"])].backward()
        found = values.grad[0, observed, 0].numpy()
        # float32 there, here a nudge of 0.001 in float64, whose error is a curvature times 1e-6
        np.testing.assert_allclose(np.array(now["weights_romae"], float), found, atol=1.5e-4)
    assert page.locator(".sy-gp").count() == page.locator(".sy-romae").count() == 5


def test_average_is_over_all_series(visit):
    """The optimum's variance and the mean squared distance from its mean, by the package."""
    exp, net = model()
    shown = synthetic.explorable([(net, exp)])
    page = visit(shown.html())
    until(page, "now.average")
    now = state(page)
    observed = sorted(now["observed"])
    seen = np.isin(np.arange(50), observed)
    distance = []
    for n in range(len(shown.data["series"])):
        _, noisy, _ = oracle_synthetic.shown(shown.data, n)
        mean, variance = posterior(noisy[None], seen[None], "from-zero")
        distance.append(np.mean((by_the_package(exp, net, noisy, observed) - mean[0][~seen]) ** 2))
    expected = variance[0][~seen].mean() + np.mean(distance)
    assert float(now["average"]) == pytest.approx(expected, abs=6e-4) and now["average"] in now["note"]


def test_unit_of_time_can_be_switched(visit):
    models = [model(), model(seed=1, scale=1.0)]
    shown = synthetic.explorable([(net, exp) for exp, net in models])
    page = visit(shown.html())
    for unit, (exp, net) in ((1, models[1]), (50, models[0])):
        page.get_by_role("button", name=f"× {unit}", exact=True).click()
        assert agrees(page, exp, net, shown.data)["unit"] == unit
    assert not visit(figure().html()).get_by_role("group", name="Unit of time").count()


def test_points_are_dragged_along_the_curve_and_never_share_a_place(visit):
    exp, net = model()
    shown = synthetic.explorable([(net, exp)], start=1)
    page = visit(shown.html())
    before, first = state(page)["observed"], page.get_by_role("slider", name="Observed point 1")
    drag(page, first.locator("circle").last, 2000, -20, steps=9, end=False)  # to the last point of the grid
    now = agrees(page, exp, net, shown.data)
    assert now["observed"] == [49, *before[1:]] != before
    page.mouse.move(42, 300, steps=9)  # the first
    page.mouse.up()
    page.mouse.move(300, 300)  # let go of: nothing more happens
    assert agrees(page, exp, net, shown.data)["observed"] == [0, *before[1:]]
    _, noisy, _ = oracle_synthetic.shown(shown.data, 1)
    assert f"value {noisy[0]:.2f}" in first.get_attribute("aria-valuetext")  # on the noisy series, where it may be held
    page.get_by_role("button", name="Crowd").click()
    assert agrees(page, exp, net, shown.data)["observed"] == [23, 24, 25, 26, 27]
    places = [now["observed"] for now in press(first, "ArrowRight", "ArrowLeft", "End", "ArrowRight")]
    assert [row[0] for row in places] == [28, 23, 49, 49]  # over its neighbours and back, and to the end of the grid
    (now,) = press(page.get_by_role("slider", name="Observed point 2"), "End")  # taken: stops before it
    assert now["observed"][:2] == [49, 48]
    page.get_by_role("button", name="Spread evenly").click()
    assert agrees(page, exp, net, shown.data)["observed"] == [5, 15, 25, 35, 45]  # middles of fifths, rounded up

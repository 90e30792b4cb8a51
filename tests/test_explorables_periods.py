"""Can attention find a period: the networks and the periodogram in the page against PyTorch, curves against runs."""

import numpy as np
import pytest
import torch
from figures import drag, press, state

from romae_book.experiments.periods.periodogram import Periodogram, phase_axis
from romae_book.explorables.periods import figure as drawing
from romae_book.explorables.weights import unpacked
from romae_lite.model import interpolate
from romae_lite.tokens import Tokens

EXP = {name: exp.replace(encoder="16x2x1x16", decoder="16x2x1x16", bins=100) for name, exp in drawing.HOW.items()}


def results(seed: int, n: int = 400) -> dict[str, np.ndarray]:
    """Made-up errors of test series: no network was asked."""
    rng = np.random.default_rng(seed)
    cycles = np.geomspace(2.0, 99.9, n)
    return {"cycles": cycles, "squares": rng.uniform(0.01, 0.2, n), "squares_zero": rng.uniform(0.2, 0.4, n),
            "squares_lombscargle": rng.uniform(5e-4, 1e-3, n)}


def kept(arm: str = "ladder") -> dict[str, np.ndarray]:
    """What a run leaves: weights that learnt nothing."""
    weights = drawing.HOW[arm].build(0).state_dict()
    return {f"weights.{name}": w.half().numpy() for name, w in weights.items()} | results(0)


def figure():
    """Weights that are large enough for every part to matter."""
    models = {}
    for seed, (name, exp) in enumerate(EXP.items()):
        models[name] = exp.build(seed).eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for key, weight in models[name].named_parameters():
                weight += (0.02 if "periodogram" in key else 0.25) * torch.randn(weight.shape, generator=generator)
    return drawing.explorable(models, {name: [results(seed) for seed in range(3)] for name in EXP})


def check(page, data: dict) -> dict:
    """What the page computes, against PyTorch with the weights that travelled."""
    now = state(page)
    one = data["series"][now["series"]]
    truth = lambda t: one["amplitude"] * np.sin(2 * np.pi * (now["cycles"] * np.array(t) / 60 + one["phase"]))  # noqa: E731
    np.testing.assert_allclose(now["values"], truth(now["times"]) + one["noise"], atol=1e-9)
    seen, asked = (torch.tensor(now[name], dtype=torch.float64)[None, :, None] for name in ("times", "asked"))
    values = torch.tensor(now["values"], dtype=torch.float32)[None, :, None]
    if now["arm"] == "spectral":
        layer = Periodogram(len(data["periodogram"]["cycles"]), 60)
        with torch.no_grad():
            layer.cycles.copy_(torch.tensor(data["periodogram"]["cycles"]))
            layer.sharpness.fill_(data["periodogram"]["sharpness"])
            found = float(layer(seen[..., 0], values[..., 0]))
        assert now["told"] == pytest.approx(found, abs=2e-4)  # PyTorch computes in float32
    else:
        assert now["told"] == (now["cycles"] if now["arm"] == "tuned" else None)
    if now["told"] is not None:
        told = torch.tensor([now["told"]], dtype=torch.float64)
        seen, asked = phase_axis(seen, told, 60), phase_axis(asked, told, 60)
    model = unpacked(data["models"][now["arm"]])
    expected = interpolate(model, Tokens(values=values, positions=seen), asked)[0, :, 0].double().numpy()
    assert np.ptp(expected) > 0.02  # or the next line would say little
    np.testing.assert_allclose(now["answers"], expected, atol=1e-4)
    assert now["mse"] == pytest.approx(np.mean((expected - truth(now["asked"])) ** 2), abs=1e-4)
    return now


def test_page_agrees_with_pytorch(visit):
    made = figure()
    page = visit(made.html(), reduced_motion="reduce")
    slider = page.get_by_role("slider", name="Cycles in the window")
    for words, arm in (("times alone", "ladder"), ("+ a periodogram", "spectral"), ("+ the true period", "tuned")):
        page.get_by_role("button", name=words).press("Enter")
        assert check(page, made.data)["arm"] == arm
        for _ in press(slider, "Home", "ArrowRight", "End"):
            check(page, made.data)
        assert state(page)["cycles"] == pytest.approx(100)
        page.get_by_role("button", name="New series").press("Enter")
        slider.press("PageDown")
        assert check(page, made.data)["cycles"] < 100


def test_the_marker_is_dragged_along_the_curves(visit):
    page = visit(figure().html(), reduced_motion="reduce")
    before = state(page)["cycles"]
    drag(page, page.locator(".romae-drag"), 80)
    after = state(page)["cycles"]
    drag(page, page.locator(".romae-drag"), 80)
    assert after > 1.2 * before
    assert state(page)["cycles"] / after == pytest.approx(after / before, rel=0.05)  # a logarithm


def test_curves_are_means_of_the_series_of_a_band():
    data, runs = figure().data, [results(seed) for seed in range(3)]
    edges = np.geomspace(2, 100, 13)
    for i, (low, high) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        each = [r["squares"][(r["cycles"] >= low) & (r["cycles"] < high)].mean() for r in runs]
        found = data["curves"]["tuned"]
        assert found["mean"][i] == pytest.approx(np.mean(each), rel=5e-3)
        assert found["low"][i] == pytest.approx(min(each), rel=5e-3)
        assert found["high"][i] == pytest.approx(max(each), rel=5e-3)
        assert low < data["bands"][i] < high

"""The page that fills a series: its model against PyTorch, its Gaussian processes against numpy, the reader's hand."""

import numpy as np
import pytest
import torch
from figures import drag, state

from romae_book.experiments.priors import rivals
from romae_book.experiments.priors.data import matern, periodic, rbf
from romae_book.experiments.priors.experiment import Priors
from romae_book.explorables.priors import figure
from romae_book.explorables.weights import unpacked
from romae_lite.series.filler import fill_arrays


def made(seed: int = 0):
    """The figure of a model whose weights are large enough for every part to matter."""
    model, generator = Priors.page().build(seed).eval(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=generator)
    return figure.explorable(model)


def kernel(terms: list[dict]):
    """Of differences, from what the page says it is made of."""
    number = lambda x: torch.tensor(x, dtype=torch.float64)  # noqa: E731
    of = {
        "rbf": lambda d, term: rbf(d, number(term["length"])),
        "periodic": lambda d, term: periodic(d, number(term["length"]), number(term.get("width", 1.0))),
        **{
            name: lambda d, term, nu=nu: matern(d, number(term["length"]), nu)
            for name, nu in (("matern12", 0.5), ("matern32", 1.5), ("matern52", 2.5))
        },
    }
    return lambda d: sum(term["share"] * of[term["kind"]](torch.from_numpy(d), term) for term in terms).numpy()


def posterior(k, noise: float, t, y, at) -> np.ndarray:
    """Mean and standard deviation of a measurement (2, M), by solving with whole matrices."""
    K, across = k(t[:, None] - t) + noise**2 * np.eye(len(t)), k(at[:, None] - t)
    variance = k(np.zeros(1)) + noise**2 - (across * np.linalg.solve(K, across.T).T).sum(1)
    return np.stack((across @ np.linalg.solve(K, y), np.sqrt(variance)))


def check(page, data: dict) -> dict:
    """What the page computes, against PyTorch and numpy, in standard deviations of the values."""
    now = state(page)
    t, y = np.array(now["points"]).T
    at, spread = np.array(now["at"]), now["spread"]
    order, model = np.argsort(t), unpacked(data["model"])
    t, y = t[order], y[order]
    line = np.stack(fill_arrays(t, y, at, model=model))
    assert np.ptp(line) > 0.05 * spread  # or the next line would say little
    np.testing.assert_allclose(np.array(now["line"]).T / spread, line / spread, atol=1e-4)  # PyTorch has float32
    answer = np.stack(fill_arrays(t, y, np.array([now["ask"]]), model=model))
    np.testing.assert_allclose(np.array(now["answer"])[0] / spread, answer[:, 0] / spread, atol=1e-4)
    everywhere, found = np.append(at, now["ask"]), np.concatenate((now["gp"], now["gpAnswer"])).T
    if now["kernel"]["known"]:
        expected = posterior(kernel(now["kernel"]["terms"]), now["kernel"]["noise"], t, y, everywhere)
    else:
        unit, centre = torch.from_numpy(np.diff(t)).median().item(), y.mean()
        given = [torch.from_numpy(x)[None] for x in (t / unit, (y - centre) / y.std(), everywhere / unit)]
        mean, variance, noise, kernels = rivals.likeliest(*given)
        assert kernels[0].kind == now["kernel"]["kind"]
        assert kernels[0].length * unit == pytest.approx(now["kernel"]["length"], rel=1e-6)
        expected = np.stack((mean[0] * y.std() + centre, (variance[0] + noise).sqrt() * y.std()))
    # points are told with nine digits, and kernel matrices of smooth kernels magnify that
    np.testing.assert_allclose(found / spread, expected / spread, atol=1e-3)
    return now


def test_page_agrees_with_pytorch_and_numpy(visit):
    shown = made()
    page = visit(shown.html())
    assert check(page, shown.data)["what"] == "a burst, then quiet"
    page.get_by_label("Ask at").press("End")
    check(page, shown.data)
    for i in range(1, len(shown.data["examples"])):
        page.get_by_label("Example").select_option(str(i))
        assert len(check(page, shown.data)["points"]) == len(shown.data["examples"][i]["points"])
    seen = set()
    for kind in ("smooth", "matern", "rough", "periodic", "sum"):
        page.get_by_label("Prior").select_option(kind)
        page.get_by_role("button", name="draw a series").press("Enter")
        now = check(page, shown.data)
        assert now["kernel"]["known"] and len(now["kernel"]["terms"]) == 1 + (kind == "sum")
        seen.add(now["points"][1][0])
    assert len(seen) == 5


def test_draws_of_the_page_are_those_of_its_kernel(visit):
    """Whitened by the Cholesky factor of kernel and noise, drawn points are independent, of mean 0 and variance 1."""
    page, white = visit(made().html()), []
    for kind in ("smooth", "rough", "periodic", "sum") * 3:
        page.get_by_label("Prior").select_option(kind)
        page.get_by_role("button", name="draw a series").press("Enter")
        now = state(page)
        t, y = np.array(now["points"]).T
        K = kernel(now["kernel"]["terms"])(t[:, None] - t) + (now["kernel"]["noise"] ** 2 + 1e-6) * np.eye(len(t))
        white.append(np.linalg.solve(np.linalg.cholesky(K), y))
    white = np.concatenate(white)
    error = 1 / np.sqrt(len(white))
    assert len(white) > 100 and abs(white.mean()) < 4 * error and abs(white.var() - 1) < 4 * np.sqrt(2) * error


def test_points_are_added_dragged_and_removed(visit):
    shown = made()
    page = visit(shown.html())
    page.get_by_label("Example").select_option("3")
    before = check(page, shown.data)
    plane = page.locator(".fs-plot svg")
    box = plane.bounding_box()
    plane.click(position={"x": box["width"] / 2, "y": box["height"] - 30})
    now = check(page, shown.data)
    assert now["points"][:-1] == before["points"] and now["chosen"] == 5
    chosen = page.locator(".fs-plot [role=slider]")
    drag(page, chosen, 60, -90)
    moved = check(page, shown.data)["points"][-1]
    assert moved[0] > now["points"][-1][0] and moved[1] > now["points"][-1][1]
    chosen.press("ArrowUp")
    assert state(page)["points"][-1][1] > moved[1]
    chosen.press("Delete")
    assert check(page, shown.data)["points"] == before["points"]
    page.get_by_role("slider", name="Chosen point").press("End")
    assert state(page)["chosen"] == 4
    for _ in range(3):
        page.get_by_role("button", name="remove the chosen point").press("Enter")
    now = state(page)
    assert len(now["points"]) == 2 and "at least 3 are needed" in now["wrong"]
    assert "at least 3 are needed" in page.locator(".fs-facts").inner_text()
    page.get_by_role("button", name="clear all points").press("Enter")
    for _ in range(3):
        page.get_by_role("button", name="add a point").press("Enter")
    assert "1 different time" in state(page)["wrong"]


def test_pasted_points_are_read_and_bad_lines_named(visit):
    shown = made()
    page = visit(shown.html())
    page.locator("summary").click()
    area, use = page.locator("textarea"), page.get_by_role("button", name="use these points")
    before = state(page)["points"]
    written = [list(map(float, line.split(","))) for line in area.input_value().splitlines()]
    np.testing.assert_allclose(written, before, rtol=1e-5)
    for text, message in (
        ("1, 2\n2, 3\n3 , x\n", "Line 3 is “3 , x”"),
        ("1, 2\n\n2, 3, 4\n", "Line 3 is “2, 3, 4”"),
        ("1, 2\n1, 3\n1, 4", "1 different times"),
        ("", "0 different times"),
        ("\n".join(f"{i}, {i % 7}" for i in range(61)), "61 points; the page takes up to 60"),
    ):
        area.fill(text)
        use.click()
        said = page.locator(".fs-said").inner_text()
        assert message in said and "Nothing was changed" in said
        assert state(page)["points"] == before
    area.fill("time, value\n# a remark\n59000.5, 17.25\n59002, 17.5\n59004.25\t17.125\n59010; 16")
    use.click()
    now = check(page, shown.data)
    assert now["points"] == [[59000.5, 17.25], [59002, 17.5], [59004.25, 17.125], [59010, 16]]
    assert now["what"] == "your points" and "4 points taken" in page.locator(".fs-said").inner_text()

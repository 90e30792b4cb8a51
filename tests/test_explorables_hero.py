"""The hero: its model and the best possible answer in the page against PyTorch and numpy, and what the reader does."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import made_up_record
from figures import drag, state
from oracles import hero as oracle_hero

from romae_book.experiments.spirals import arrays as arrays_of
from romae_book.experiments.spirals.arrays import COUNTS
from romae_book.experiments.spirals.data import generate
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.experiments.spirals.rivals import bayes
from romae_book.explorables.gallery import gallery
from romae_book.explorables.spirals import hero
from romae_book.lab import records
from romae_book.paper import counts as counts_paper
from romae_book.paper.found import any_number
from romae_lite.masking import hide

EXP = Spirals.page()


def kept(worse: float = 1.5) -> dict[str, np.ndarray]:
    """What a run of the preset leaves: weights that learnt nothing, errors that nobody measured."""
    counts = np.array(COUNTS, np.int16)
    mse = np.stack((np.full(len(counts), worse**2), np.ones(len(counts)))) * 1e-3
    weights = {f"weights.{name}": w.half().numpy() for name, w in EXP.build(0).state_dict().items()}
    return {"hero.counts": counts, "hero.mse": mse, "hero.se": np.full(len(counts), 1e-5), **weights}


def figure():
    """Two models whose weights are large enough for every part to matter."""
    models = {}
    for seed, name in enumerate(counts_paper.MODELS):
        models[name] = EXP.build(seed).eval()
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weight in models[name].parameters():
                weight += 0.1 * torch.randn(weight.shape, generator=generator)
    return hero.explorable(models, {"varying": kept(), "fixed": kept(5.0)}, EXP.scale)


def record(root, counts: str = "varying", worse: float = 1.5) -> None:
    settings = counts_paper.CHANGES[counts]
    made = made_up_record("spirals", "page", 0, settings, root, metrics={"rmse_clean": 0.5})
    records.save_arrays(root / "spirals" / f"{made.planned.name}.npz", **kept(worse))


# --- Python -----------------------------------------------------------------------------------------------------------


def test_a_run_keeps_errors_of_the_very_predictions():
    """`recorded` against single forward passes on single spirals."""
    exp = EXP.replace(n_train=2, n_valid=2, n_test=100)
    model, data = exp.build(0).eval(), exp.data(0)
    arrays = arrays_of.of_any_points(exp, model, data)
    assert arrays["hero.mse"].shape == (2, len(COUNTS)) and (arrays["hero.mse"] > 0).all()
    order = torch.rand(100, 75, generator=torch.Generator().manual_seed(1)).argsort(1)
    shown, asked = order[:, :40].sort(1).values, order[:, 40:]
    square = arrays_of.errors(exp, model, data.test, shown, asked)
    tokens, found = data.test, []
    for i in (0, 57):
        hidden = torch.zeros(1, 75, dtype=torch.bool)
        hidden[0, asked[i]] = True
        out = exp.predict(model, tokens[i : i + 1], hidden)[0]
        error = float(((out.double() - tokens.aux["clean"][i])[hidden[0]] ** 2).sum())
        found.append(error / 70)
    np.testing.assert_allclose(square[0, [0, 57]], found, rtol=1e-4)  # float32, other orders of summation
    observed = torch.zeros(100, 75, dtype=torch.bool).scatter_(1, shown, True).numpy()
    best = bayes(tokens.positions[..., 0].numpy() / exp.scale, tokens.values.double().numpy(), observed)
    exact = ((best - tokens.aux["clean"].numpy()) ** 2)[~observed].reshape(100, -1).mean(1)
    np.testing.assert_allclose(square[1], exact, rtol=1e-9)


def test_only_a_model_for_the_page_leaves_its_weights():
    assert arrays_of.of_any_points(EXP.replace(irregular=False), EXP.build(0), None) == {}
    large = EXP.replace(encoder="64x4x4x256")
    assert arrays_of.of_any_points(large, large.build(0), None) == {}


def test_training_shows_any_number_and_asks_for_a_part(monkeypatch):
    """Of many spirals: 3 to 74 visible, from one asked to all of the others."""
    exp, seen = EXP.replace(n_train=2, n_valid=2, n_test=100, alone=False, targets="noisy"), []
    monkeypatch.setattr(
        "romae_book.experiments.spirals.experiment.masked_loss", lambda m, batch, hidden: seen.append((batch, hidden))
    )
    data = generate(4000, np.random.default_rng(0), irregular=True)
    exp.loss(None, data, torch.Generator().manual_seed(0))
    ((batch, hidden),) = seen
    visible, asked, gone = (~hidden).sum(1), (hidden & batch.real).sum(1), hidden.sum(1)
    assert (visible.min(), visible.max()) == (3, 74) and asked.min() == 1
    assert ((~hidden) & ~batch.real).sum() == 0  # nothing visible is left out
    assert (asked <= gone).all() and (asked == gone).any() and (asked < gone).any()
    share = ((asked - 1) / (gone - 1).clamp(min=1))[gone > 20].double()
    # uniform in [0, 1], rounded down to a whole number of at least 20 points: mean 0.5, less up to half a point in 20
    assert 0.47 < share.mean() < 0.51
    exp.replace(counts="fixed").loss(None, data, torch.Generator().manual_seed(0))
    assert (seen[1][1].sum(1) == 45).all() and seen[1][0].real.all()
    # where hidden points do not see one another all may be asked; visible points keep their noise
    EXP.replace(n_train=2, n_valid=2, n_test=100).loss(None, data, torch.Generator().manual_seed(0))
    batch, hidden = seen[2]
    assert batch.real.all() and len(hidden.sum(1).unique()) > 50
    assert torch.equal(batch.values[~hidden], data.values[~hidden])
    assert torch.equal(batch.values[hidden], data.aux["clean"].float()[hidden])


def test_clean_targets_have_the_gradient_that_noisy_ones_have_on_average():
    """The squared error to the clean curve is that to the noisy points in expectation, less the noise: over many draws
    of the targets' noise the gradients agree."""
    exp = EXP.replace(n_train=2, n_valid=2, n_test=100, encoder="8x1x1x8", decoder="8x1x1x8", counts="fixed")
    data, model = generate(4, np.random.default_rng(1), irregular=True), exp.build(0)

    def gradient(values, targets: str) -> torch.Tensor:
        model.zero_grad()
        batch = replace(data, values=values)
        exp.replace(targets=targets).loss(model, batch, torch.Generator().manual_seed(0)).backward()
        return torch.cat([w.grad.flatten() for w in model.parameters()])

    exact = gradient(data.values, "clean")
    hidden = hide(data.real, ratio=exp.mask_ratio, generator=torch.Generator().manual_seed(0))[..., None]
    clean, generator = data.aux["clean"].float(), torch.Generator().manual_seed(1)
    drawn = torch.stack([
        gradient(torch.where(hidden, clean + 3 * torch.randn(clean.shape, generator=generator), data.values), "noisy")
        for _ in range(400)
    ])
    error = drawn.std(0) / 20  # of the mean of 400
    away = (drawn.mean(0) - exact).abs()
    assert (away < 5 * error + 1e-5 * exact.abs().max()).all()  # five deviations, for some hundreds of weights
    assert (drawn[0] - exact).abs().max() > 0.01 * exact.abs().max()  # noise of 3 is felt in one draw


def test_answers_of_the_page_s_model_do_not_depend_on_what_else_is_asked():
    data, at = figure().data, np.linspace(0, 9, 30)
    theta, values = np.array([0.5, 2.0, 7.0]), np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]])
    together = oracle_hero.answers(data, 0, theta, values, at)
    single = np.concatenate([oracle_hero.answers(data, 0, theta, values, at[i : i + 1]) for i in range(30)])
    np.testing.assert_allclose(together, single, atol=1e-5)  # float32


def test_records_without_the_setting_are_those_of_a_fixed_number():
    config = Spirals.best().config()
    del config["counts"]
    assert Spirals.protocol(config) == Spirals.protocol(Spirals.best().config())


def test_figure_and_finding_come_from_the_records(tmp_path):
    assert gallery("hero", root=tmp_path).data is None and not any_number(tmp_path)
    record(tmp_path)
    assert [m["id"] for m in gallery("hero", root=tmp_path).data["models"]] == ["varying"]
    assert counts_paper.finding(tmp_path) == {}
    record(tmp_path, "fixed", 4.0)
    found = gallery("hero", root=tmp_path)
    assert [m["id"] for m in found.data["models"]] == ["varying", "fixed"]
    assert found.data["models"][1]["ratio"] == [4.0] * 12
    marks = {mark.name: mark.value for mark in any_number(tmp_path)}
    assert marks["any number, at worst"] == pytest.approx(1.5) and marks["always thirty, 12 shown"] == 4.0


def test_counter_example_is_that_of_the_recorded_spirals(tmp_path):
    """Without a run of the same model, the preset "best": pooled over the hidden points of its spirals."""
    rng = np.random.default_rng(0)
    made = made_up_record("spirals", "best", 0, {}, tmp_path, metrics={"rmse_clean": 0.5})
    shapes = {"romae": (2, 12, 75, 2), "bayes": (2, 12, 75, 2), "clean": (2, 75, 2)}
    few = {name: rng.normal(size=shape) for name, shape in shapes.items()} | {"counts": np.array(COUNTS)}
    few["order"] = np.stack([rng.permutation(75) for _ in range(2)])
    kept = tmp_path / "spirals" / f"{made.planned.name}.npz"
    records.save_arrays(kept, **few)
    few = records.load_arrays(kept)  # what was kept is float32
    found = counts_paper.always_thirty(tmp_path)
    assert found["on"] == "2 test spirals, 1 run"
    for k in (0, 7, 11):
        hidden = [few["order"][s, COUNTS[k] :] for s in range(2)]
        error = [
            np.mean([np.square(few[who][s, k] - few["clean"][s])[hidden[s]].mean() for s in range(2)])
            for who in ("romae", "bayes")
        ]
        assert found["ratio"][COUNTS[k]] == pytest.approx(np.sqrt(error[0] / error[1]), rel=1e-6)


# --- the page ---------------------------------------------------------------------------------------------------------


def check(page, data: dict) -> dict:
    """What the page computes, against PyTorch and numpy."""
    now = state(page)
    points = np.array(now["points"])
    order = points[:, 0].argsort()
    theta, values = points[order, 0], points[order, 1:]
    model = [m["id"] for m in data["models"]].index(now["model"])
    at = np.linspace(0, data["end"], now["resolution"])
    line = oracle_hero.answers(data, model, theta, values, at)
    assert np.ptp(line) > 0.1  # or the next line would say little
    np.testing.assert_allclose(now["line"], line, atol=1e-4)  # PyTorch computes in float32
    answer = oracle_hero.answers(data, model, theta, values, np.array([now["theta"]]))[0]
    np.testing.assert_allclose(now["answer"], answer, atol=1e-4)
    everywhere, noisy = np.concatenate((theta, at, [now["theta"]])), np.zeros((len(theta) + len(at) + 1, 2))
    noisy[: len(theta)] = values
    best = bayes(everywhere[None], noisy[None], (np.arange(len(noisy)) < len(theta))[None])[0]
    np.testing.assert_allclose(now["bestLine"], best[len(theta) : -1], atol=2e-5)  # points are told with six decimals
    np.testing.assert_allclose(now["best"], best[-1], atol=2e-5)
    return now


def test_page_agrees_with_pytorch(visit):
    made = figure()
    page = visit(made.html())
    assert len(check(page, made.data)["points"]) == made.data["start"]
    for name, keys in (
        ("Points", ("Home", "End", "PageDown")),
        ("Ask at angle", ("ArrowRight", "End")),
        ("Resolution", ("Home", "PageUp")),
    ):
        for key in keys:
            page.get_by_role("slider", name=name, exact=True).press(key)
            check(page, made.data)
    page.get_by_role("button", name="always 30 points").press("Enter")
    now = check(page, made.data)
    assert now["model"] == "fixed" and now["average"] == "5.00"
    seeds = {now["seed"]}
    for _ in range(3):
        page.get_by_role("button", name="new spiral").press("Enter")
        seeds.add(check(page, made.data)["seed"])
    assert len(seeds) == 4


def test_points_are_added_dragged_and_removed(visit):
    made = figure()
    page = visit(made.html())
    page.get_by_role("slider", name="Points", exact=True).press("Home")
    before = check(page, made.data)
    plane = page.locator(".he-plot svg")
    box = plane.bounding_box()
    plane.click(position={"x": 8, "y": 8})  # no point lies in the corner
    now = check(page, made.data)
    assert now["points"][:-1] == before["points"] and now["chosen"] == len(before["points"])
    chosen = page.locator(".he-plot [role=slider]")
    drag(page, chosen, box["width"] / 3, 40)
    moved = check(page, made.data)
    assert moved["points"][-1][0] == now["points"][-1][0]  # the angle stays
    assert moved["points"][-1][1] > now["points"][-1][1] and moved["points"][-1][2] < now["points"][-1][2]
    chosen.press("ArrowUp")
    assert check(page, made.data)["points"][-1][2] == pytest.approx(moved["points"][-1][2] + 0.1, abs=1e-5)
    chosen.press("Delete")
    assert check(page, made.data)["points"] == before["points"]
    assert page.get_by_role("button", name="Remove the chosen point").is_disabled()  # three are the fewest
    page.get_by_role("button", name="Add a point").press("Enter")
    assert len(check(page, made.data)["points"]) == 4

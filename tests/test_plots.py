"""Chapters' figures: what they draw of small made-up records, arrays and histories. Axes data, no pixels."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from romae_book.experiments.esc50 import plots as esc50
from romae_book.experiments.frequencies import plots as frequencies
from romae_book.experiments.lightcurves import plots as lightcurves
from romae_book.experiments.lightcurves.data import load
from romae_book.experiments.pendulum import plots as pendulum
from romae_book.experiments.physionet import plots as physionet
from romae_book.experiments.physionet.experiment import PhysioNet
from romae_book.experiments.position import plots as position
from romae_book.experiments.speed import plots as speed
from romae_book.experiments.speed.measures import PARTS
from romae_book.experiments.spirals import plots as spirals
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.experiments.synthetic import plots as synthetic
from romae_book.experiments.synthetic.data import GRIDS
from romae_book.experiments.synthetic.experiment import COUNTS, Synthetic
from romae_book.experiments.tiny_imagenet import plots as tiny_imagenet
from romae_book.experiments.tiny_imagenet.experiment import TinyImageNet
from romae_book.experiments.uea import plots as uea
from romae_book.experiments.uea.data import SETS
from romae_book.figures import COLOURS, INK
from romae_book.lab.summary import summarise
from romae_book.notebook import waves
from romae_lite.tokens import Tokens

BLUE, GREEN, ORANGE, PURPLE = (COLOURS[name] for name in ("blue", "green", "vermillion", "purple"))


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def run(seed=0, arrays=None, history=(), config=None, **metrics) -> SimpleNamespace:
    return SimpleNamespace(seed=seed, metrics=metrics, arrays=arrays, history=history, config=config or {})


def labels(ax) -> list[str]:
    return [tick.get_text() for tick in ax.get_yticklabels()]


def marks(ax) -> list[list[float]]:
    """Sorted x of lines that are marks, by height."""
    rows = {}
    for line in ax.lines:
        if line.get_linestyle() == "None":
            for x, y in line.get_xydata():
                rows.setdefault(y, []).append(x)
    return [sorted(rows[y]) for y in sorted(rows)]


def level(ax, colour: str) -> list[float]:
    """Places of the lines across the whole axes in this colour."""
    return [float(x[0] if x[0] == x[-1] else y[0]) for line in ax.lines if line.get_color() == colour
            for x, y in [line.get_data()] if len(x) == 2 and (list(x) == [0, 1] or list(y) == [0, 1])]


@pytest.mark.parametrize(
    ("plot", "keys", "levels"),
    [
        (lambda h: position.learning_curve(h, 200.0, 9.0), ("valid_mse", "valid_mse_differences"), [9.0]),
        (lambda h: spirals.learning_curve(h, 8), ("loss", "valid_rmse_noisy", "valid_rmse_clean"), [0.1]),
        (lambda h: synthetic.learning_curve(h, 0.25, 8), ("loss", "valid_mse_noisy"), [0.25]),
        (lambda h: physionet.learning_curve(h, 8), ("loss", "valid_mse"), []),
        (lambda h: pendulum.learning_curve(h, 0.002, 8), ("loss", "valid_mse"), [0.002]),
    ],
)
def test_a_learning_curve_has_the_histories_values_and_the_best_possible(plot, keys, levels):
    history = [{"step": s, **{key: (i + 1) / s for i, key in enumerate(keys)}} for s in (10, 20, 30)]
    (ax,) = plot(history).axes
    curves = [line for line in ax.lines if line.get_color() == BLUE]
    assert [line.get_xydata().tolist() for line in curves] == [[[e["step"], e[k]] for e in history] for k in keys]
    assert len({line._dash_pattern[1] and tuple(line._dash_pattern[1]) for line in curves}) == len(curves)  # by dash
    assert level(ax, ORANGE) == levels


# -- 03 --------------------------------------------------------------------------------------------------------------


def test_position_setups_and_scores():
    offsets, shifts = np.array([[0.0, 10.0]]), np.linspace(-9, 60, 70)  # one pattern of two tokens
    named = offsets[:, None] + shifts[:, None]  # a model that knows
    arrays = {"offsets": offsets, "shifts": shifts, "named": named}
    groups = {"knows": [run(mse=0.1, arrays=arrays), run(mse=0.2)], "guesses": [run(mse=200, arrays=arrays)]}
    left, right = position.setups(groups, 200.1, 9.1).axes
    assert marks(left) == [[0.1, 0.2], [200]] and labels(left) == ["1  knows", "2  guesses"]
    assert level(left, INK) == [200.1] and level(left, ORANGE) == [9.1]
    where, answers = right.lines[0].get_data()
    assert np.allclose(where, answers) and where.min() == 6 and where.max() == 45  # both tokens within (1, 50)
    assert {text.get_text() for text in right.texts} == {"1, 2"}  # they end at one height
    for line in position.scores_of_keys().axes[0].lines:
        r = float(line.get_label().split("= ")[1])
        assert line.get_xdata()[line.get_ydata().argmax()] == pytest.approx(r) and line.get_ydata().max() <= 1


# -- 04 --------------------------------------------------------------------------------------------------------------


def test_frequencies_neighbours_and_errors_by_frequency():
    near, squeezed = frequencies.neighbours(np.array([1.0, 0.1])).axes[0].lines
    assert near.get_ydata() == pytest.approx([2 * np.sin(0.5), 2 * np.sin(0.05)], rel=1e-6)
    assert squeezed.get_ydata() == pytest.approx(near.get_ydata() / 100, rel=0.05)
    metrics = {f"mse_clean_{f}hz{who}": f + i for f in range(50) for i, who in enumerate(("", "_harmonic", "_zero"))}
    history = [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0, "valid_mse_clean": 0.5}]
    others = {1.0: [run(**{name: 9.0 for name in metrics}), run(**{name: 7.0 for name in metrics})]}
    left, right = frequencies.live_run(history, metrics, metrics, 99.0, others).axes
    assert [line.get_xydata().tolist() for line in left.lines] == [[[1, 2], [2, 1]], [[2, 0.5]]]
    assert [line.get_ydata()[3] for line in right.lines] == [8, 3, 4, 5]


# -- 05 --------------------------------------------------------------------------------------------------------------


def test_spirals_errors_examples_and_counts():
    floors = {"rmse_clean_bayes": 0.015, "rmse_clean_lstsq": 0.02}
    papers, ours = [run(rmse_clean=0.03, **floors), run(rmse_clean=0.04, **floors)], [run(rmse_clean=0.016)]
    (ax,) = spirals.errors({"paper's": papers, "nothing yet": [], "ours": ours}, 0.0183, 0.9).axes
    assert marks(ax)[:2] == [[0.03, 0.04], [0.016]] and labels(ax) == ["paper's", "ours", "your run"]
    assert sum(0.9 in line.get_xdata() for line in ax.lines) == 1
    assert [line.get_markerfacecolor() for line in ax.lines[:2]] == [BLUE, "none"]
    assert (level(ax, ORANGE), level(ax, GREEN), level(ax, PURPLE)) == ([0.015], [0.02], [0.0183])

    test = Spirals.quick().replace(n_train=2, n_test=100).data(0).test
    for ax, clockwise in zip(spirals.examples(test).axes, (False, True), strict=True):
        i = test.aux["clockwise"].tolist().index(clockwise)
        clean, hidden, seen = (line.get_xydata() for line in ax.lines)
        assert np.allclose(clean, test.aux["clean"][i])
        assert np.allclose(hidden, test.values[i][test.aux["hidden"][i]]) and len(hidden) + len(seen) == 75

    ratios = {"thirty": {12: 8.0, 30: 1.5}, "ours": {12: 4.0, 30: 1.2}, "any": {12: 1.1, 30: 1.1}}
    (ax,) = spirals.error_by_count(ratios).axes
    assert [line.get_ydata().tolist() for line in ax.lines[:3]] == [[8.0, 1.5], [4.0, 1.2], [1.1, 1.1]]
    assert level(ax, ORANGE) == [1]


# -- 06 --------------------------------------------------------------------------------------------------------------


def test_synthetic_excess_is_over_the_gaussian_process():
    def runs(factor: float) -> list:
        errors = {"": factor, "_gp": 1.0, "_linear": 3.0}
        return [run(**{f"mse_noisy_n{n}{who}": e / n for n in COUNTS for who, e in errors.items()})]

    by_table, same_data, ours = runs(1.5), runs(1.2), runs(1.1)
    kinds, live = {"paper": by_table, "same": same_data, "ours": ours}, runs(1.4)[0].metrics
    (ax,) = synthetic.excess_by_count(kinds, by_table, same_data, live).axes
    heights = [line.get_ydata() for line in ax.lines]
    assert np.allclose(heights, np.array([50, 20, 10, 200, 40])[:, None]) and len(heights[0]) == len(COUNTS)
    assert [line.get_linestyle() for line in ax.lines] == ["-", "-.", "--", ":", "None"]


def test_synthetic_series():
    exp = Synthetic.quick().replace(n_train=2, n_valid=1, n_test=2)
    series, t = exp.data(0).test[:1], GRIDS[exp.grid][0]
    clean, noisy, rank = series.aux["clean"][0].numpy(), series.values[0, :, 0].numpy(), series.aux["rank"][0].numpy()
    left, right = synthetic.one_series(series, exp.grid).axes
    assert len(left.lines) == 10
    assert np.allclose(right.lines[0].get_ydata(), clean)
    assert np.allclose(right.lines[2].get_xydata(), np.stack((t, noisy), 1)[rank < 6])


# -- 07 --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def records():
    return PhysioNet.quick().replace(patients=30, source="simulated").data(0).test


def test_physionet_errors_by_who_predicts():
    rows = {"RoMAE, paper's settings": [run(mae=1, mse=2, mse_plausible=3)], "straight lines": {"mae": 4, "mse": 5,
                                                                                                "mse_plausible": 6}}
    axes = physionet.errors(rows, {"mae": 7, "mse": 8, "mse_plausible": 9}).axes
    assert [marks(ax) for ax in axes] == [[[1], [4], [7]], [[3], [6], [9]], [[2], [5], [8]]]
    assert [line.get_markerfacecolor() for line in axes[0].lines] == [BLUE, "none", BLUE]


def test_physionet_typical_patient_and_what_is_hidden_of_it(records):
    patient = physionet.typical_patient(records, PhysioNet.quick().position_scale)
    real, lengths = records.real[patient.index], records.real.sum(1).tolist()
    assert len(patient.value) == int(real.sum()) == sorted(lengths, key=lambda n: abs(n - np.median(lengths)))[0]
    assert patient.hours.min() >= 0 and patient.hours.max() <= 48
    there = records.real[patient.index]
    mean, std = (records.aux[name][patient.index, there] for name in ("mean", "std"))
    value = records.values[patient.index, there, 0] * std + mean
    assert np.array_equal(patient.value, value.numpy())
    hidden = {"rows": patient.hours < 20, "tokens": patient.channel < 20}
    for ax, mask in zip(physionet.masks(patient, hidden).axes, hidden.values(), strict=True):
        assert [len(line.get_xdata()) for line in ax.lines] == [mask.sum(), (~mask).sum()]


def test_physionet_by_channel():
    (ax,) = physionet.how_often(np.array([3, 3, 3, 3, 7, 7]), 2).axes
    assert [bar.get_height() for bar in ax.patches[:3]] == [1, 0.5, 0]
    assert [tick.get_text() for tick in ax.get_xticklabels()[:2]] == [physionet.CHANNELS[c] for c in (3, 7)]
    metrics = {"mse_HR": 0.5, "mse_HR_mean": 1, "mse_HR_linear": 0.25, "mse_Temp": 0.2, "mse_Temp_mean": 2,
               "mse_Temp_linear": 4, "mse_MechVent": 0, "mse_MechVent_mean": 0}
    (ax,) = physionet.errors_by_channel(metrics, "made up").axes
    assert labels(ax) == ["Temp", "HR"] and marks(ax) == [[0.1, 2], [0.25, 0.5]]
    many = {f"mse_{c}{who}": 1 + i * (who == "") for i, c in enumerate(physionet.CHANNELS) for who in ("", "_mean")}
    (ax,) = physionet.errors_by_channel(many, "made up").axes
    assert labels(ax) == [physionet.CHANNELS[i] for i in (*range(5), *range(31, 41))]  # the easiest, the hardest


# -- 08 --------------------------------------------------------------------------------------------------------------


def test_pendulum_errors_and_frames():
    rows = {"ridge on each frame": 0.2, "[CLS], authors' pixels (Table 15)": [0.05, 0.04], "our settings": [0.01],
            "Kalman smoother, told the physics": 0.001}
    (ax,) = pendulum.errors(rows, 0.005).axes
    assert np.allclose(sum(marks(ax), []), [200, 40, 50, 10, 1]) and labels(ax) == list(rows)
    assert np.allclose(level(ax, PURPLE), [5, 50])
    drawn = [(line.get_color(), line.get_markerfacecolor()) for line in ax.lines[:4]]
    assert drawn == [(GREEN, "none"), (BLUE, BLUE), (BLUE, "none"), (ORANGE, "none")]

    frames = np.random.default_rng(0).integers(0, 256, (50, 576))
    axes = pendulum.frames_of_a_clip(frames, np.linspace(0, 1, 50)).axes
    assert len(axes) == 16 and np.array_equal(axes[0].images[0].get_array(), frames[3].reshape(24, 24))
    assert np.array_equal(axes[-1].images[0].get_array(), frames[49].reshape(24, 24))
    assert axes[-1].get_title(loc="left") == "1.00"


def points(ax) -> list[list[tuple[float, float]]]:
    """The points of each line of an axes."""
    return [list(map(tuple, line.get_xydata().tolist())) for line in ax.get_lines()]


HISTORY = [
    {"stage": stage, "step": step, "epoch": step / 10, "loss": start / step, "valid_loss": 1.0, "valid_accuracy": 0.5}
    for stage, start in (("pretrain", 10), ("fine-tune", 20)) for step in (10, 20)
]
FIRST, SECOND = [(10, 1), (20, 0.5)], [(10, 2), (20, 1)]  # step and loss of each stage


def by_epoch(steps):
    return [(step / 10, loss) for step, loss in steps]


# -- 00, 01, 02 ------------------------------------------------------------------------------------------------------


def test_the_best_answer_is_the_mean_of_waves_that_fit():
    """Against drawing waves from the prior and keeping those near the readings (no grid, no formula)."""
    rng, times, at = np.random.default_rng(0), np.array([1.0, 5.0, 9.0]), np.array([3.0, 14.0])
    values = waves.wave(times, 8.0, 0.2)
    period, phase = rng.uniform(6, 10, (400_000, 1)), rng.uniform(0, 1, (400_000, 1))
    density = np.exp(-((waves.wave(times, period, phase) - values) ** 2).sum(1) / 2 / waves.NOISE**2)
    kept = rng.uniform(size=len(density)) < density
    drawn = waves.wave(at, period[kept], phase[kept])
    spread = drawn.std(0) / len(drawn) ** 0.5
    assert kept.sum() > 1000
    assert (np.abs(waves.best(times, values, at) - drawn.mean(0)) < 4 * spread + 0.005).all()  # 0.005: the grid


def test_the_best_error_is_little_more_than_the_noise_where_all_is_known():
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 20, (30, 24)), axis=1)
    clean = waves.wave(times, rng.uniform(6, 10, (30, 1)), rng.uniform(0, 1, (30, 1)))
    found = waves.best_error(times, clean + rng.normal(0, waves.NOISE, clean.shape))
    assert 0.008 < found < 0.02  # 0.1 squared, and what twelve readings leave open


def test_waves_are_drawn_as_they_are():
    rows, grid = [(np.array([1.0, 2.0]), np.array([0.5, -0.5]), np.array([True, False]))], np.array([0.0, 20.0])
    fig = waves.answers(rows, grid, [{"RoMAE": np.array([0.1, 0.2])}], [np.array([0.3, 0.4])])
    assert points(fig.axes[0]) == [[(0, 0.3), (20, 0.4)], [(0, 0.1), (20, 0.2)], [(1, 0.5)], [(2, -0.5)]]
    rng = np.random.default_rng(0)
    assert len(points(waves.answers(rows, grid, [{}], rng=rng).axes[0])) == 40 + 1 + 2  # waves, their legend, dots
    fig = waves.learning({"told times": [(1, 0.5), (2, 0.25)]}, 0.01)
    assert points(fig.axes[0])[0] == [(1, 0.5), (2, 0.25)]
    fig = waves.errors([3, 5], {"your model": [0.2, 0.1], "best possible": [0.1, 0.05]})
    assert points(fig.axes[0]) == [[(3, 0.2), (5, 0.1)], [(3, 0.1), (5, 0.05)]]
    fig = waves.scores_by_distance(torch.tensor([0.0, 2.0]).numpy(), {k: np.eye(2) for k in "abcd"})
    assert points(fig.axes[3])[0] == [(0, 1), (2, 0), (-2, 0), (0, 1)]


# -- 09 --------------------------------------------------------------------------------------------------------------


def test_uea():
    lines = {place: [0.5 + i / 10] for i, place in enumerate(uea.PLACES)}
    fig = uea.accuracies(dict.fromkeys(("BasicMotions", "CharacterTrajectories", "Epilepsy", "LSST"), lines))
    assert points(fig.axes[3]) == [[(pytest.approx(0.5 + i / 10), i)] for i in range(len(uea.PLACES))]
    (band,) = fig.axes[3].patches
    assert band.get_width() == pytest.approx(2 * 1.96 * (0.25 / SETS["LSST"].test) ** 0.5)
    assert points(uea.losses(HISTORY, 0.3).axes[1])[0] == SECOND
    assert len(uea.losses(HISTORY[2:], None).axes) == 1
    counts = np.diag(np.arange(14.0))   # class k has k cases, all of them found
    ax = uea.classes_of_lsst({"one": counts, "other": counts / 2}).axes[0]
    assert points(ax)[0][0] == (0, 0) and points(ax)[1][5] == (1, 5)
    assert ax.get_yticklabels()[13].get_text() == "95 superluminous SN: 6"  # of the last that was drawn, 13 / 2
    pad = torch.tensor([[False] * 3, [False, False, True]])
    values = torch.arange(12.0).view(2, 3, 2)
    positions, label = torch.arange(3.0).expand(2, 3)[..., None], torch.tensor([1, 0])
    test = Tokens(values=values, positions=positions, pad=pad, aux={"label": label})
    fig = uea.one_of_each(test, ["walk", "rest"], "made up")
    assert [ax.get_title("left") for ax in fig.axes] == ["walk", "rest"]
    assert points(fig.axes[0]) == [[(0, 6), (1, 8)], [(0, 7), (1, 9)]]  # two channels, padding left out


# -- 10 --------------------------------------------------------------------------------------------------------------


def test_stars_are_folded_and_the_wrong_ones_marked():
    curves = load("rr_lyrae")
    fig = lightcurves.twenty(curves, curves.period, [3])
    assert [ax.get_title("left").endswith("wrong") for ax in fig.axes] == [i == 3 for i in range(20)]
    part = curves.points(2)
    green = curves.band[part] == 1
    drawn = np.array(points(fig.axes[2])[0])
    np.testing.assert_allclose(drawn[:, 0], curves.time[part][green] / curves.period[2] % 1)
    np.testing.assert_allclose(drawn[:, 1], curves.value[part][green])


def test_answers_stand_beside_what_was_hidden():
    arrays = {"star": np.array([0, 0, 1, 0]), "band": np.array([1, 1, 1, 2]), "phase": np.array([0.8, 0.2, 0.5, 0.5]),
              "value": np.array([1.0, 2.0, 3.0, 4.0]), "prediction": np.array([1.5, 2.5, 3.5, 4.5])}
    first, second = lightcurves.answers({"model": arrays}, (0, 1)).axes
    assert points(first) == [[(0.8, 1.0), (0.2, 2.0)], [(0.2, 2.5), (0.8, 1.5)]]  # the answer in order of phase
    assert points(second) == [[(0.5, 3.0)], [(0.5, 3.5)]]


def test_scores_lie_over_their_numbers_of_labels():
    made = lambda mean: summarise([mean - 0.1, mean, mean + 0.1])  # noqa: E731
    trees, frozen = {10: made(0.5), 100: made(0.7), None: made(0.9)}, {100: made(0.6)}
    one, other = lightcurves.few({"one": {"trees": trees, "frozen": frozen}, "other": {"trees": trees}}).axes
    marked = [line.get_xydata().tolist() for line in one.lines if line.get_marker() != "None"]
    assert [y for line in marked for _, y in line] == pytest.approx([0.5, 0.7, 0.9, 0.6])
    (few, many), (apart,), (beside,) = ([x for x, _ in line] for line in marked)
    assert (few, many, beside) == pytest.approx((10, 100, 100), rel=0.2)  # a little aside, each method its own way
    assert abs(np.log(beside / many)) > 0.03
    ticks = dict(zip((t.get_text() for t in one.get_xticklabels()), one.get_xticks(), strict=True))
    assert ticks == {"10": 10, "100": 100, "all": pytest.approx(apart, rel=0.2)} and apart > 200
    bars = {line.get_xdata()[0]: sorted(line.get_ydata()) for line in one.lines if line.get_marker() == "None"}
    assert bars[few] == pytest.approx([made(0.5).low, made(0.5).high]) and set(bars) == {few, many, apart, beside}
    assert len([line for line in other.lines if line.get_marker() != "None"]) == 2


# -- 11, 12, 13 ------------------------------------------------------------------------------------------------------


def test_tiny_imagenet():
    fig = tiny_imagenet.learning(HISTORY)
    assert points(fig.axes[0])[0] == by_epoch(FIRST) and points(fig.axes[1])[0] == [(1, 0.5), (2, 0.5)]
    side, right = np.array([32, 64]), np.array([0.5, 0.8])
    curves = {name: {"side": side, "accuracy_at": right, "accuracy_at_counted": right / 2} for name in "abcd"}
    fig = tiny_imagenet.resolution(curves, 64)
    assert points(fig.axes[3])[0] == [(32, 0.5), (64, 0.8)] and points(fig.axes[3])[1] == [(32, 0.25), (64, 0.4)]


def test_pictures_and_what_is_painted():
    """Patches that are shown stay as they are."""
    exp = TinyImageNet.quick().replace(
        targets="pixels", side=32, patch_side=4, encoder="16x2x1x32", decoder="16x2x1x32", per_class=20, n_test=20
    )
    test = exp.data(0).test[:5]
    fig = tiny_imagenet.fillings(exp, exp.autoencoder(0), test, 0)
    original, blank, painted = (np.asarray(fig.axes[i].images[0].get_array()) for i in range(3))
    shown = (np.abs(blank - 0.85) > 1e-6).any(-1)
    assert shown.mean() == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(painted[shown], original[shown], atol=1e-6)
    np.testing.assert_allclose(blank[shown], original[shown], atol=1e-6)
    fig = tiny_imagenet.one_of_each(test.aux["image"], "abcde")
    assert [ax.get_title("left") for ax in fig.axes[:5]] == list("abcde")
    assert (fig.axes[2].images[0].get_array() == test.aux["image"][2].numpy()).all()


def test_esc50():
    fig = esc50.losses(HISTORY)
    assert points(fig.axes[0]) == [FIRST] and points(fig.axes[1]) == [SECOND]
    found = {"ESC-50": {"as in training": (0.6, 0.6), "gaps": (0.5, 0.4)}}
    assert points(esc50.cuts(found).axes[0]) == [[(60, 0), (50, 1)], [(60, 0), (40, 1)]]
    ax = esc50.sounds().axes[0]
    assert ax.images[0].get_array().shape[0] == 128 and ax.get_yticklabels()[-1].get_text() == "8.0"


def test_speed():
    parts = [*PARTS, "rest"]
    metrics = {f"share_plain_{part}": share for part, share in zip(parts, (0.5, 0.2, 0.1, 0.1, 0.1), strict=True)}
    bars = speed.step_shares({"tiny": metrics}).axes[0].patches
    assert [bar.get_width() for bar in bars] == pytest.approx([50, 20, 10, 10, 10])
    fig = speed.ragged({"stays": {"padded": 1.0, "packed": 3.0, "dense": 4.0}})
    assert [bar.get_width() for bar in fig.axes[0].patches] == [1, 3] and points(fig.axes[0]) == [[(4, 0), (4, 1)]]
    fig = speed.growth([10, 20], {
        "tokens_per_second_10": 5.0, "tokens_per_second_20": 4.0, "memory_mb_10": 0.5, "memory_mb_20": 8.0,
    })
    assert [[bar.get_width() for bar in ax.patches] for ax in fig.axes] == [[5, 4], [0.5, 8]]

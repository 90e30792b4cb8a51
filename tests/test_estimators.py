"""The classifier against what is known without it; and scikit-learn's conventions."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import romae_lite as romae
from romae_lite.series.classifier import Classifier
from romae_lite.series.interpolator import Interpolator
from romae_lite.series.statistics import Curve, curve, period, shape, statistics
from romae_lite.series.trees import grow

TINY = dict(size="16x1x1x32", batch=16, verbose=False, device="cpu")
PLAIN = dict(pretrain=False, folds=0) | TINY  # nothing is chosen


def waves(n: int, rng: np.random.Generator, points: int = 30) -> pd.DataFrame:
    rows = []
    for i in range(n):
        t = np.sort(rng.uniform(0, 20, points))
        y = np.sin(2 * np.pi * (t / (5 if i % 2 else 12) + rng.random())) + rng.normal(0, 0.05, points)
        rows.append(pd.DataFrame({"id": f"w{i}", "t": t + 100, "y": y, "kind": ("slow", "fast")[i % 2]}))
    return pd.concat(rows, ignore_index=True)


NAMES = dict(id="id", time="t", value="y")
AT = [103.0, 107.5, 112.0]


@pytest.fixture(scope="module")
def table():
    return waves(40, np.random.default_rng(0))


def kinds_of(n: int) -> tuple[list, np.ndarray]:
    t = np.arange(12.0)
    return [(t, np.sin(t / (2 if i % 2 else 5) + i)) for i in range(n)], np.array(["slow", "fast"])[np.arange(n) % 2]


def test_a_fit_that_fails_leaves_nothing_that_answers():
    series, names = kinds_of(20)
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series, names)
    with pytest.raises(ValueError, match="y has 1 class"):
        model.fit(series, ["slow"] * 20)
    with pytest.raises(NotFittedError):
        model.predict(series)


def test_a_class_of_one_series_does_not_switch_the_test_off():
    """It is learnt from, and never tested."""
    series, names = kinds_of(41)
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series, np.append(names[:40], "rare"))
    assert model.report_["tested"] == 40 and model.report_["labelled"] == 41
    assert list(model.classes_) == ["fast", "rare", "slow"] and model.report_["each"]["rare"][0] == 0


def test_classes_are_learnt_and_saved(tmp_path):
    """Waves of two periods; of 200 that no fit has seen 0.8 is more than eight deviations above a coin. Six of sixty
    to learn from have no class. The network alone: 0.7."""
    table = waves(60, np.random.default_rng(0), 40)
    table = table.assign(kind=table.kind.where(table.id.str[1:].astype(int) < 54))
    tokens, _ = romae.from_table(table, label="kind", **NAMES)
    model = Classifier(steps=150, size="32x2x1x64", folds=0, verbose=False, device="cpu").fit(tokens)
    new, _ = romae.from_table(waves(200, np.random.default_rng(9), 40), label="kind", **NAMES)
    assert set(model.classes_) == {"fast", "slow"} and model.score(new) > 0.8
    assert model.weight_ == 0.5
    with pytest.raises(ValueError, match="y holds 0, 1; the classes of the model are 'fast', 'slow'"):
        model.score(new, [0, 1] * 100)
    sure = model.predict_proba(new)
    np.testing.assert_allclose(sure.sum(1), 1, atol=1e-6)
    model.save(tmp_path / "classes.safetensors")
    again = Classifier.load(tmp_path / "classes.safetensors")
    np.testing.assert_array_equal(again.predict_proba(new), sure)
    assert (again.predict(new) == model.classes_[sure.argmax(1)]).all()
    model.weight_ = 1.0
    assert model.score(new) > 0.7


# Who answers ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rare():
    """240 waves, one in twenty with another period; its phase and amplitude say nothing."""
    rng, series, names = np.random.default_rng(1), [], []
    for i in range(240):
        t = np.sort(rng.uniform(0, 40, 50))
        turn = t / (1.7 if i % 20 == 0 else 4.1) + rng.random()
        series.append((t, rng.uniform(0.5, 2) * np.sin(2 * np.pi * turn) + rng.normal(0, 0.1, 50)))
        names.append("rare" if i % 20 == 0 else "common")
    return series, np.array(names)


def test_a_rare_class_is_named(rare):
    """The largest class alone has an accuracy of 0.95, and a macro F1 of 0.49."""
    series, names = rare
    model = Classifier(steps=0, **TINY).fit(series[:120], names[:120])
    ways, found = model.report_["ways"], model.predict(series[120:])
    assert ways["largest class"][0] == 0.95 and ways["largest class"][1] < 0.49
    assert ways["what answers"][1] > 0.8 and model.report_["each"]["rare"][1] > 0.6
    assert (found[names[120:] == "rare"] == "rare").sum() >= 4 and (found == "rare").sum() <= 10
    assert not model.report_["leak"] and "careful" not in model.summary()


def test_the_network_may_lose_and_then_does_not_answer(rare):
    """Two steps make no network: it is left out after a fold, and predictions do not ask for it."""
    series, names = rare
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series[:120], names[:120])
    assert model.weight_ == 0 and "the simple statistics alone" in model.summary()
    assert model.report_["ways"]["RoMAE, in part"][1] < model.report_["ways"]["simple statistics"][1] - 0.3
    before = model.predict_proba(series[120:])
    for weight in model.model_.parameters():
        weight.data.zero_()
    np.testing.assert_array_equal(model.predict_proba(series[120:]), before)


def test_a_sampling_that_gives_the_class_away_is_said():
    """Values are noise, and one class is measured twice as often."""
    rng, series = np.random.default_rng(2), []
    for i in range(80):
        t = np.cumsum(rng.exponential(1 if i % 2 else 2, 30))
        series.append((t, rng.normal(size=30)))
    model = Classifier(steps=0, **TINY).fit(series, ["a", "b"] * 40)
    assert model.report_["leak"] and "when the values were measured gives the class away" in model.summary()
    assert model.report_["ways"]["times alone"][1] > 0.8


@pytest.mark.parametrize("text", [False, True])
def test_what_does_not_change_with_time_is_used(text, tmp_path):
    """Values are noise; the age, or the site, is the class. As columns, as an array, and with the table."""
    rng = np.random.default_rng(3)
    series = [(np.arange(12.0), rng.normal(size=12)) for _ in range(60)]
    age = 30.0 + 20 * (np.arange(60) % 2) + rng.uniform(-5, 5, 60)
    site = np.array(["hill", "valley"])[np.arange(60) % 2]
    static = {"site" if text else "age": site if text else age}
    names = np.array(["a", "b"])[np.arange(60) % 2]
    model = Classifier(steps=0, **TINY).fit(series, names, static=static)
    assert model.score(series, names, static=pd.DataFrame(static)) > 0.95
    assert model.report_["ways"]["what answers"][1] > 0.95 and not model.report_["leak"]
    model.save(tmp_path / "c.safetensors")
    assert (Classifier.load(tmp_path / "c.safetensors").predict(series, static=static) == names).mean() > 0.95
    with pytest.raises(ValueError, match="static has none; the fit had (age|site)"):
        model.predict(series)
    if not text:
        frame = pd.concat(pd.DataFrame({"id": i, "t": t, "y": v, "age": age[i]}) for i, (t, v) in enumerate(series))
        tokens, _ = romae.from_table(frame, static="age", **NAMES)
        assert Classifier(steps=0, folds=0, **TINY).fit(tokens, names).score(tokens, names) > 0.95
        array = Classifier(steps=0, folds=0, **TINY).fit(series, names, static=age)
        assert array.score(series, names, static=age) > 0.95
        with pytest.raises(ValueError, match="static has 3 rows; there are 60 series"):
            Classifier(steps=0, **TINY).fit(series, names, static=age[:3])


def test_tokens_are_not_cut_in_silence():
    series, names = kinds_of(20)
    with pytest.warns(UserWarning, match="20 of 20 series have more than longest=5 tokens, up to 12"):
        Classifier(steps=1, longest=5, **PLAIN).fit(series, names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Classifier(steps=1, longest=12, **PLAIN).fit(series, names)


def test_the_cost_is_said_before_the_training(capsys):
    model = Classifier(steps=2, **TINY | {"verbose": True}).fit(*kinds_of(20))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("this will take about ") and "20 series with a class are few" in lines[0]
    assert "\n".join(lines).endswith(model.summary())


def test_groups_stay_together():
    """Each fold tests on whole groups, and every series is tested once."""
    label, groups = np.arange(60) % 2, np.arange(60) // 4
    folds = Classifier()._split(np.arange(60), label, groups)
    assert len(folds) == 3 and sorted(np.concatenate([test for _, test in folds])) == list(range(60))
    for learn, test in folds:
        assert not set(groups[learn]) & set(groups[test]) and len(learn) + len(test) == 60
    with pytest.raises(ValueError, match=r"groups has shape \(3,\); it must be \(20,\)"):
        Classifier(steps=0, **TINY).fit(*kinds_of(20), groups=[1, 2, 3])


# Statistics and trees -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("true", [0.37, 1.7, 12.0])
def test_the_period_is_found_below_the_spacing_too(true):
    """200 times a day apart in the mean, two channels out of phase; the noise is a fifth of the wave."""
    rng, curves = np.random.default_rng(5), []
    for phase in (0.1, 0.6):
        t = np.sort(rng.uniform(0, 200, 200))
        t -= t[0]
        curves.append(curve(t, np.sin(2 * np.pi * (t / true + phase)) + rng.normal(0, 0.2, 200)))
    (log, height, rest), frequency = period(curves)
    assert abs(np.exp(log) / true - 1) < 1e-3 and 1 / frequency == pytest.approx(np.exp(log))
    assert height > 0.4 and rest < 0.15  # 0.5 and 0.07 without noise in the times' grid


def test_even_steps_have_no_period_below_two_of_them():
    t = np.arange(100.0)
    (log, _, _), _ = period([curve(t, np.sin(2 * np.pi * t / 7.3))])
    assert np.exp(log) == pytest.approx(7.3, rel=1e-2)


def test_what_has_no_values_has_no_numbers():
    empty = curve(np.empty(0), np.empty(0))
    assert np.isnan(shape(empty)).all() and period([empty])[1] is None
    flat = curve(np.arange(9.0), np.full(9, 3.0))
    assert flat == Curve(flat.t, flat.z, 3.0, 0.0) and not flat.z.any() and period([flat])[1] is None
    v, x = torch.tensor([[1.0], [5.0]]), torch.tensor([[10.0, 0], [11, 1]])
    times, values = statistics([(v, x), (v[:1], x[:1])], 2)
    assert times.shape == (2, 24) and times[0, 0] == 2 and times[1, 0] == 1
    assert values.shape == (2, 2 * 38 + 3 + 3) and values[0, 0] == 1 and values[0, 38] == 5 and values[0, -3] == -4


def test_the_table_of_nodes_is_the_forest():
    """Against scikit-learn's own predictions; and a file's arrays are looked at."""
    rng = np.random.default_rng(6)
    x, label = rng.normal(size=(90, 5)), rng.integers(3, size=90)
    label[label == 2] = np.where(rng.random((label == 2).sum()) < 0.5, 2, 0)
    mine = grow(x, label, 4, 0, trees=20)  # a fourth class has nobody
    count = np.bincount(label)
    theirs = ExtraTreesClassifier(20, min_samples_leaf=2, max_features=0.3, random_state=0)
    theirs.fit(x.astype(np.float32), label, sample_weight=count[label] ** -0.5)
    new = rng.normal(size=(40, 5)).astype(np.float32)
    np.testing.assert_allclose(mine.probability(new)[:, :3], theirs.predict_proba(new), atol=1e-6)
    assert not mine.probability(new)[:, 3].any()
    mine.check(4)
    for harm in (dict(right=mine.right[::-1]), dict(left=mine.left[:9]), dict(share=mine.share[:, :3])):
        with pytest.raises(ValueError, match="do not hang together|same shape"):
            mine._replace(**harm).check(4)


EXPECTED = {
    "check_n_features_in_after_fitting": "a series has no features to count, and may be as long as it likes",
    "check_n_features_in": "the same",
    "check_classifiers_train": "passes the rows of a table as lists; ours are pairs (times, values), or an array",
    "check_requires_y_none": "the error has words of its own: labels may come with the table",
}


def test_scikit_learn_s_own_checks():
    """They pass a table of features; the classifier takes its rows for evenly spaced series."""
    from sklearn.utils.estimator_checks import check_estimator  # here, as it takes its time

    small = Classifier(steps=2, size="8x1x1x8", pretrain=False, folds=0, verbose=False)
    found = check_estimator(small, expected_failed_checks=EXPECTED, on_skip=None)
    passed = {entry["check_name"] for entry in found if entry["status"] == "passed"}
    assert len(passed) > 40 and not passed & set(EXPECTED)


@pytest.mark.parametrize("estimator", [Interpolator(steps=3), Classifier(pretrain=False)])
def test_scikit_learn_s_conventions(estimator):
    """Those that hold for any estimator, also for one whose `fit` takes no classes: parameters stored untouched, clone,
    repr, and the error before fit."""
    twin = clone(estimator)
    assert (
        twin is not estimator
        and twin.get_params() == estimator.get_params()
        and vars(twin).keys() == twin.get_params().keys()
    )
    assert twin.set_params(seed=4).seed == 4 and estimator.seed == 0 and "seed=4" in repr(twin)
    with pytest.raises(ValueError, match="Invalid parameter"):
        twin.set_params(nonsense=1)
    series = [(np.arange(5.0), np.arange(5.0))]
    with pytest.raises(NotFittedError):
        twin.predict(series, **({"at": [1.0]} if isinstance(twin, Interpolator) else {}))
    with pytest.raises(NotFittedError):
        twin.summary()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t, s: Classifier().fit(np.ones((4, 3)), [0.1, 0.2, 0.3, 0.4]), "Unknown label type"),
        (lambda t, s: Classifier().fit(t, s), r"y is a Scale; write fit\(tokens, scale=scale\)"),
        (lambda t, s: Classifier().fit(t), "y is None, and the tokens carry no label"),
        (lambda t, s: Classifier().fit(t, ["a"] * 40), "y has 1 class"),
        (lambda t, s: Classifier().fit(t, [1, "1"] * 20), "y mixes text with what is none"),
        (lambda t, s: Classifier().fit(t, ["a"] * 3), r"y has shape \(3,\); it must be \(40,\)"),
    ],
)
def test_bad_calls_are_named(table, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(*romae.from_table(table, **NAMES))


def test_a_model_is_asked_in_the_kind_of_times_and_values_that_it_was_fitted_to(tmp_path):
    series, names = kinds_of(20)
    dated = [(np.datetime64("2024-01-01") + t.astype("timedelta64[D]"), v) for t, v in series]
    model = Classifier(steps=2, pretrain=False, **TINY).fit(dated, names)
    model.save(tmp_path / "c.safetensors")
    for asked in (model, Classifier.load(tmp_path / "c.safetensors")):
        with pytest.raises(TypeError, match="the times of X are numbers; those of the fit are dates"):
            asked.predict(series)
        with pytest.raises(ValueError, match="X has 2 values a token; the fit had 1"):
            asked.predict([(t, np.stack((v, v), 1)) for t, v in dated])
        assert asked.predict(dated).shape == (20,)


def test_numpy_s_parameters_are_saved_and_classes_come_back_as_an_array(tmp_path):
    series, names = kinds_of(20)
    model = Classifier(**TINY | {"batch": np.int64(8), "seed": np.int64(1)}, lr=np.float32(1e-3), steps=np.int64(2))
    model.fit(series, names).save(tmp_path / "c.safetensors")
    again = Classifier.load(tmp_path / "c.safetensors")
    assert isinstance(again.classes_, np.ndarray) and again.classes_.tolist() == ["fast", "slow"]
    assert again.get_params() == model.get_params() and again.summary() == model.summary()


def test_unknown_classes_come_as_pandas_has_them(table):
    """A column of strings has pd.NA where nothing is known."""
    tokens, _ = romae.from_table(table, **NAMES)
    model = Classifier(steps=1, **PLAIN).fit(tokens, ["a", "b"] * 20)
    with pytest.raises(ValueError, match="y has no known class"):
        model.score(tokens, [None] * 40)
    kinds = pd.array(["a", "b", *[pd.NA] * 38], dtype="string")
    found = Classifier(steps=1, **PLAIN).fit(tokens, kinds)
    assert list(found.classes_) == ["a", "b"] and found.report_["labelled"] == 2


def test_a_scale_that_is_given_names_the_classes(table):
    tokens, scale = romae.from_table(table, label="kind", **NAMES)
    bare = replace(tokens, scale=None)
    model = Classifier(steps=0, **PLAIN).fit(bare, scale=scale)
    assert list(model.classes_) == ["fast", "slow"] and model.score(bare, scale=scale) == model.score(tokens)


def test_tokens_are_cross_validated_as_lists_are():
    """Of unequal length; the folds are the same, so are the scores."""
    series, names = kinds_of(20)
    series = [(t[: 8 + i % 5], v[: 8 + i % 5]) for i, (t, v) in enumerate(series)]
    frame = pd.DataFrame([(i, a, b) for i, (t, v) in enumerate(series) for a, b in zip(t, v, strict=True)])
    tokens, _ = romae.from_table(frame.set_axis(list("itv"), axis=1), id="i", time="t", value="v")
    model = Classifier(steps=20, **PLAIN)
    scores = [cross_val_score(model, x, names, cv=2, error_score="raise") for x in (tokens, series)]
    assert np.abs(scores[0] - scores[1]).max() <= 0.3  # units are those of the table, or of the fold
    search = GridSearchCV(make_pipeline(FunctionTransformer(), model), {"classifier__lr": [1e-3]}, cv=2)
    assert search.fit(tokens, names).best_params_ == {"classifier__lr": 1e-3}


def test_rows_that_lack_some_of_their_values_are_counted():
    rng = np.random.default_rng(0)
    series = [(np.arange(10.0), rng.normal(size=(10, 2))) for _ in range(8)]
    series[0][1][3, 1] = series[2][1][5, 0] = np.nan
    series[4][1][7] = np.nan  # nothing is lost with it
    with pytest.warns(UserWarning, match="2 of 80 rows of X lack some of their values"):
        Classifier(steps=1, **PLAIN).fit(series, ["a", "b"] * 4)


@pytest.mark.parametrize(
    "y, classes, labelled",
    [
        (["a", "b", np.nan, np.nan], ["a", "b"], 4),
        ([1, 2, None, None], [1, 2], 4),
        (np.ma.masked_array([1, 2, 3, 2], [0, 0, 1, 0]), [1, 2], 6),
    ],
)
def test_a_class_that_is_missing_is_none(y, classes, labelled):
    series = [(np.arange(5.0), np.sin(np.arange(5.0) + i)) for i in range(8)]
    y = np.ma.concatenate([y, y]) if isinstance(y, np.ma.MaskedArray) else y * 2
    found = Classifier(steps=1, **PLAIN).fit(series, y)
    assert list(found.classes_) == classes and found.report_["labelled"] == labelled



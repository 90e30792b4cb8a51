"""The classifier against what is known without it; and scikit-learn's conventions."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import romae_lite as romae
from romae_lite.series.classifier import Classifier, describe
from romae_lite.series.interpolator import Interpolator

TINY = dict(size="16x1x1x32", batch=16, verbose=False, device="cpu")


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


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():  # so few steps may well be blind to time, and say so
        warnings.filterwarnings("ignore", message="with the values shuffled")
        yield


def channels_of(kinds: np.ndarray, noise: float, rng: np.random.Generator, points: int = 1) -> pd.DataFrame:
    """Series whose channels lie at levels of their own, (n, C), with so many points each."""
    (n, c), each = kinds.shape, kinds.shape[1] * points
    return pd.DataFrame({
        "id": np.repeat(np.arange(n), each), "c": np.tile(np.repeat(list("abcde")[:c], points), n),
        "t": np.tile(np.arange(each) / 3, n), "y": np.repeat(kinds, points) + noise * rng.normal(size=n * each),
    })


COLUMNS = dict(id="id", time="t", channel="c", value="y")


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


@pytest.mark.parametrize("romae, simple", [(1.0, 0.5), (0.5, 1.0)])
@pytest.mark.parametrize("held", [49, 50])
def test_few_series_decide_nothing_whoever_is_ahead(romae, simple, held):
    series, names = kinds_of(20)
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series, names)
    model.report_ |= {"held": held, "romae": romae, "simple": simple, "majority": 0.5}
    assert (f"{held} series are too few to choose by" in model.summary()) == (held < 50)
    assert ("use the simple one" in model.summary()) == (held >= 50 and simple > romae)


def test_a_class_of_one_series_does_not_switch_the_report_off():
    """It is learnt from; a fifth of the others is held out."""
    series, names = kinds_of(41)
    names = np.append(names[:40], "rare")
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series, names)
    assert model.report_["held"] == 8 and model.report_["labelled"] == 33
    assert list(model.classes_) == ["fast", "rare", "slow"]


def test_classes_are_learnt_and_saved(tmp_path):
    """Waves of two periods; of 200 that no fit has seen 0.7 is more than five deviations above a coin. Six of the sixty
    to learn from have no class."""
    table = waves(60, np.random.default_rng(0), 40)
    table = table.assign(kind=table.kind.where(table.id.str[1:].astype(int) < 54))
    tokens, scale = romae.from_table(table, label="kind", **NAMES)
    model = Classifier(steps=150, size="32x2x1x64", holdout=0, verbose=False, device="cpu").fit(tokens, scale=scale)
    new, its = romae.from_table(waves(200, np.random.default_rng(9), 40), label="kind", **NAMES)
    assert set(model.classes_) == {"fast", "slow"} and model.score(new, scale=its) > 0.7
    with pytest.raises(ValueError, match="y holds 0, 1; the classes of the model are 'fast', 'slow'"):
        model.score(new, [0, 1] * 100, scale=its)
    sure = model.predict_proba(new, scale=its)
    np.testing.assert_allclose(sure.sum(1), 1, atol=1e-6)
    model.save(tmp_path / "classes.safetensors")
    again = Classifier.load(tmp_path / "classes.safetensors")
    np.testing.assert_array_equal(again.predict_proba(new, scale=its), sure)
    assert (again.predict(new, scale=its) == model.classes_[sure.argmax(1)]).all()
    with pytest.raises(ValueError, match="loaded from a file has no simple_"):
        again.score_simple(new, scale=its)


def test_the_simple_method_is_scored_on_new_series_too():
    """A level of its own for each class is all that it needs; of classes dealt out at random it knows nothing, which of
    200 is 0.5 with a deviation of 0.035."""
    for shift, low, high in ((5.0, 0.99, 1.0), (0.0, 0.35, 0.65)):
        rng, parts = np.random.default_rng(1), []
        for n in (40, 200):
            table = waves(n, rng, 30)
            kinds = dict(zip(table.id.unique(), rng.permutation(np.arange(n) % 2), strict=True))
            kind = table.id.map(kinds)
            parts.append(table.assign(y=table.y + shift * kind, kind=kind.astype(str)))
        (tokens, scale), (new, its) = (romae.from_table(part, label="kind", **NAMES) for part in parts)
        model = Classifier(steps=1, size="8x1x1x8", pretrain=False, holdout=0, verbose=False, device="cpu")
        assert low <= model.fit(tokens, scale=scale).score_simple(new, scale=its) <= high


def test_a_long_wide_table_is_thinned_channel_by_channel():
    """Two columns of a hundred times make 200 tokens, more than the 192 that are looked at; the class is the second's
    mean, three of its deviations away."""
    rng = np.random.default_rng(0)

    def wide(n):
        kind = np.repeat(np.arange(n) % 2, 100)
        frame = {"id": np.repeat(np.arange(n), 100), "t": np.tile(np.arange(100.0), n), "kind": kind}
        frame |= {"a": rng.normal(size=100 * n), "b": rng.normal(size=100 * n) + 3 * kind}
        return romae.from_table(frame, id="id", time="t", value=["a", "b"], label="kind")

    (tokens, scale), (new, its) = wide(40), wide(40)
    model = Classifier(steps=60, pretrain=False, holdout=0, **TINY).fit(tokens, scale=scale)
    assert model.score(new, scale=its) > 0.95


def test_the_simple_method_looks_at_each_channel():
    """The classes are "a high, b low" and "a low, b high": pooled, their values are the same."""
    rng = np.random.default_rng(3)

    def two(n):
        high = np.arange(n) % 2
        frame = channels_of(2.0 * np.stack((high, 1 - high), axis=-1), 1.0, rng, 20)
        return romae.from_table(frame.assign(kind=high.repeat(40)), label="kind", **COLUMNS)

    model = Classifier(steps=1, pretrain=False, holdout=0, **TINY)
    tokens, scale = two(60)
    new, its = two(100)
    assert model.fit(tokens, scale=scale).score_simple(new, scale=its) > 0.95


def test_what_the_simple_method_looks_at():
    """By hand: two channels of one series, the second with one value, and a series without any of it."""
    v, x = torch.tensor([[1.0], [5.0], [2.0], [7.0]]), torch.tensor([[10.0, 0], [11, 1], [12, 0], [14, 0]])
    expected = [[4, 3, 10 / 3, np.std([1, 2, 7]), 1 - 10 / 3, 7 - 10 / 3, 2 - 10 / 3, 3, 1, 5, *[0] * 5]]
    expected += [[0, 1, 1, *[0] * 5, *[0] * 7]]
    np.testing.assert_allclose(describe([(v, x), (v[:1], x[:1])], 2), expected, rtol=1e-6)


EXPECTED = {
    "check_n_features_in_after_fitting": "a series has no features to count, and may be as long as it likes",
    "check_n_features_in": "the same",
    "check_classifiers_train": "passes the rows of a table as lists; ours are pairs (times, values), or an array",
    "check_requires_y_none": "the error has words of its own: labels may come with the table",
}


def test_scikit_learn_s_own_checks():
    """They pass a table of features; the classifier takes its rows for evenly spaced series."""
    small = Classifier(steps=2, size="8x1x1x8", pretrain=False, holdout=0.0, verbose=False)
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
        (lambda t, s: Classifier().fit(t, scale=s), "y is None, and the tokens carry no label"),
        (lambda t, s: Classifier().fit(t, ["a"] * 40, s), "y has 1 class"),
        (lambda t, s: Classifier().fit(t, [1, "1"] * 20, s), "y mixes text with what is none"),
        (lambda t, s: Classifier().fit(t, ["a"] * 3, s), r"y has shape \(3,\); it must be \(40,\)"),
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


def test_the_summary_says_what_the_fit_was_made_with():
    model = Classifier(steps=2, **TINY).fit(*kinds_of(20))
    before = model.summary()
    assert model.set_params(batch=3, lr=1.0).summary() == before and "steps of 16" in before


def test_unknown_classes_come_as_pandas_has_them(table):
    """A column of strings has pd.NA where nothing is known."""
    tokens, scale = romae.from_table(table, **NAMES)
    model = Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(tokens, ["a", "b"] * 20, scale)
    with pytest.raises(ValueError, match="y has no known class"):
        model.score(tokens, [None] * 40, scale)
    kinds = pd.array(["a", "b", *[pd.NA] * 38], dtype="string")
    found = Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(tokens, kinds, scale)
    assert list(found.classes_) == ["a", "b"] and found.report_["labelled"] == 2


def test_tokens_are_cross_validated_as_lists_are():
    """Of unequal length; the folds are the same, so are the scores."""
    series, names = kinds_of(20)
    series = [(t[: 8 + i % 5], v[: 8 + i % 5]) for i, (t, v) in enumerate(series)]
    frame = pd.DataFrame([(i, a, b) for i, (t, v) in enumerate(series) for a, b in zip(t, v, strict=True)])
    tokens, _ = romae.from_table(frame.set_axis(list("itv"), axis=1), id="i", time="t", value="v")
    model = Classifier(steps=20, pretrain=False, holdout=0, **TINY)
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
        Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(series, ["a", "b"] * 4)


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
    found = Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(series, y)
    assert list(found.classes_) == classes and found.report_["labelled"] == labelled



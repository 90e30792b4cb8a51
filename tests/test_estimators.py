"""The estimators against what is known without them: straight lines, units, order of rows, exact sameness of files."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import safetensors.torch
import torch
from conftest import ROOT
from safetensors import safe_open
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

import romae_lite as romae
from romae_lite.io import digest
from romae_lite.series.classifier import Classifier, describe
from romae_lite.series.estimator import read_series
from romae_lite.series.interpolator import Interpolator, draw_gaps, hold_out
from romae_lite.tokens import collate

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


@pytest.fixture(scope="module")
def fitted(table):
    tokens, scale = romae.from_table(table, **NAMES)
    return Interpolator(steps=40, **TINY).fit(tokens, scale), tokens, scale


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():  # so few steps may well be blind to time, and say so
        warnings.filterwarnings("ignore", message="with the values shuffled")
        yield


def test_beats_straight_lines_through_sparse_waves():
    """Waves of one period seen twelve times in three periods: a straight line is far off, what is learnt is not. The
    errors are computed here, on series that no fit has seen."""
    rng = np.random.default_rng(1)

    def sparse(n):
        t = np.sort(rng.uniform(0, 12, (n, 12)), axis=1)
        return t, np.sin(2 * np.pi * (t / 4 + rng.random((n, 1))))

    t, y = sparse(300)
    model = Interpolator(size="32x2x2x64", steps=300, verbose=False).fit(list(zip(t, y, strict=True)))
    t, y = sparse(50)
    seen = [(np.delete(a, 5), np.delete(b, 5)) for a, b in zip(t, y, strict=True)]
    mean, deviation = model.predict(seen, at=[a[5:6] for a in t])
    error = np.concatenate(mean) - y[:, 5]
    straight = [np.interp(a[5], *s) for a, s in zip(t, seen, strict=True)] - y[:, 5]
    assert np.sqrt(np.mean(error**2)) < 0.8 * np.sqrt(np.mean(straight**2))
    assert 0.4 < np.mean(np.abs(error) < np.concatenate(deviation)) < 0.95  # of 68 %, n = 50
    assert "linear interpolation" in model.summary()


@pytest.mark.parametrize("times, values, shift", [(3600.0, 1.0, 0.0), (1.0, 1000.0, 5e4), (0.01, 0.001, -3.0)])
def test_other_units_give_the_same_answer(table, fitted, times, values, shift):
    """Standardised values and positions agree to float32; training multiplies rounding, by far less than 1e-2."""
    model, tokens, scale = fitted
    other = table.assign(t=table.t * times, y=table.y * values + shift)
    again = Interpolator(steps=40, **TINY).fit(*romae.from_table(other, **NAMES))
    for got, want, zero in zip(again.predict(at=np.array(AT) * times), model.predict(at=AT), (shift, 0), strict=True):
        np.testing.assert_allclose((got - zero) / values, want, atol=0.02)


def test_order_of_rows_and_of_questions_does_not_matter(table, fitted):
    model, tokens, scale = fitted
    mean, deviation = model.predict(at=AT)
    assert mean.shape == deviation.shape == (40, 3) and (deviation > 0).all()
    mixed, its = romae.from_table(table.sample(frac=1, random_state=1), **NAMES)
    for i in (0, 7):
        one, band = model.predict(mixed, its, at=AT, id=f"w{i}")
        np.testing.assert_allclose(one, mean[i], atol=1e-5)
        alone = [model.predict(at=[t], id=f"w{i}")[0][0] for t in AT]  # what else is asked does not matter
        np.testing.assert_allclose(alone, mean[i], atol=1e-5)


def test_new_tables_are_restated_in_the_model_s_units(table, fitted):
    """One series by itself has another unit, mean and deviation than the forty."""
    model, _, _ = fitted
    own, its = romae.from_table(table[table.id == "w3"], **NAMES)
    np.testing.assert_allclose(model.predict(own, its, at=AT)[0], model.predict(at=AT, id="w3")[0], atol=1e-4)


def test_long_series_are_held_out_as_they_are_trained_on():
    """Sixteen series of four windows, whose wave is soon learnt: early stopping must not take a model of the start, nor
    the report grade a harder task. The errors are computed here, at every twentieth point."""
    rng = np.random.default_rng(2)
    t = np.sort(rng.uniform(0, 400, (16, 400)), axis=1)
    y = np.sin(2 * np.pi * (t / 40 + rng.random((16, 1)))) + rng.normal(0, 0.02, t.shape)
    model = Interpolator(steps=150, verbose=False, size="32x2x1x64", device="cpu").fit(list(zip(t, y, strict=True)))
    lost = np.arange(5, 400, 20)
    mean, _ = model.predict([(np.delete(a, lost), np.delete(b, lost)) for a, b in zip(t, y, strict=True)],
                            at=list(t[:, lost]))
    assert np.sqrt(np.mean((np.array(mean) - y[:, lost]) ** 2)) < 0.2
    assert model.score() > 0.9
    assert "points of 2 series are too few to choose by" in model.summary()


@pytest.mark.parametrize("count", [30, 4])  # whole series are set aside, or, of few, points
def test_what_the_report_is_of_was_learnt_from_by_nobody(count):
    x = torch.arange(12.0, dtype=torch.float64)[:, None]
    series = [(torch.full((12, 1), float(i)), x + 100 * i) for i in range(count)]
    train, choose, report, _ = hold_out(series, 0, 96)
    learnt = {float(t) for _, where in train for t in where[:, 0]}
    asked = [{float(t) for _, (_, where) in part for t in where[:, 0]} for part in (choose, report)]
    assert learnt and all(asked) and not learnt & asked[1] and not asked[0] & asked[1]
    if count == 30:
        names = [
            {float(v[0, 0]) for v, _ in train},
            *({float(seen[0][0, 0]) for seen, _ in p} for p in (choose, report)),
        ]
        assert sum(map(len, names)) == len(set.union(*names)) == 30


def test_the_band_holds_its_share_of_the_points_that_it_was_calibrated_on():
    tokens, scale = romae.from_table(waves(40, np.random.default_rng(0)), **NAMES)
    model = Interpolator(steps=40, **TINY).fit(tokens, scale)
    choose = hold_out(model.scale_.convert(*read_series(tokens)), model.seed, model.window)[1]
    truth, mean, log_variance = model._grade(choose)
    z = np.abs(truth - mean) / (np.exp(log_variance / 2) * model.stretch_)
    assert np.mean(z <= 1) == pytest.approx(0.6827, abs=1.5 / len(z))  # as near as so many points can be


def test_answers_of_a_channel_come_in_its_own_unit():
    """A hundred times the pressure: a hundred times its answers and their deviations."""
    t = np.tile(np.arange(40.0), 6)
    table = pd.DataFrame({"id": np.repeat(np.arange(6), 40), "t": t, "T": 20 + np.sin(t), "p": 1000 + 9 * np.cos(t)})

    def ask(table):
        tokens, scale = romae.from_table(table, id="id", time="t", value=["T", "p"])
        model = Interpolator(steps=20, **TINY).fit(tokens, scale)
        return model.predict(at=[3.5, 8.5], channel="p", id=0)

    (mean, deviation), (large, its) = ask(table), ask(table.assign(p=100 * table.p))
    np.testing.assert_allclose(large - 1e5, 100 * (mean - 1000), rtol=1e-3, atol=20)  # of amplitudes of 900
    np.testing.assert_allclose(its, 100 * deviation, rtol=0.02)


def test_long_series_are_seen_through_windows():
    t = np.sort(np.random.default_rng(2).uniform(0, 400, 500))
    model = Interpolator(window=24, steps=30, **TINY).fit([(t, np.sin(t))])
    mean, deviation = model.predict(at=np.linspace(1, 399, 70))
    assert mean.shape == (70,) and np.isfinite(mean).all() and model.report_["windows"] > 40
    few = model.predict(at=np.linspace(1, 399, 70)[20:22])[0]
    np.testing.assert_allclose(few, mean[20:22], atol=1e-5)


def test_channels_have_units_of_their_own():
    rng = np.random.default_rng(3)
    t = np.tile(np.arange(40.0), 6)
    wide = pd.DataFrame({"id": np.repeat(np.arange(6), 40), "t": t, "T": 20 + np.sin(t), "p": 1000 + 9 * np.cos(t)})
    wide.loc[rng.random(240) < 0.3, "p"] = np.nan
    tokens, scale = romae.from_table(wide, id="id", time="t", value=["T", "p"])
    model = Interpolator(steps=20, **TINY).fit(tokens, scale)
    for channel, middle, most in (("T", 20, 5), ("p", 1000, 45)):
        assert np.abs(model.predict(at=[3.5, 8.5], channel=channel)[0] - middle).max() < most
    with pytest.raises(ValueError, match="channel is None; choose one of T, p"):
        model.predict(at=[3.5])


def channels_of(kinds: np.ndarray, noise: float, rng: np.random.Generator, points: int = 1) -> pd.DataFrame:
    """Series whose channels lie at levels of their own, (n, C), with so many points each."""
    (n, c), each = kinds.shape, kinds.shape[1] * points
    return pd.DataFrame({
        "id": np.repeat(np.arange(n), each), "c": np.tile(np.repeat(list("abcde")[:c], points), n),
        "t": np.tile(np.arange(each) / 3, n), "y": np.repeat(kinds, points) + noise * rng.normal(size=n * each),
    })


COLUMNS = dict(id="id", time="t", channel="c", value="y")


def test_one_value_of_each_channel_is_no_level_of_itself():
    """Five channels, each measured once, tell a common level with noise of 0.3; the best guess of one from the other
    four is off by 0.3 sqrt(1 + 1/4) = 0.34."""
    rng = np.random.default_rng(1)
    level = rng.normal(size=(100, 1)).repeat(5, axis=1)
    model = Interpolator(steps=60, **TINY).fit(*romae.from_table(channels_of(level, 0.3, rng), **COLUMNS))
    assert model.within_ > 0.1 and model.report_["in_95"] > 0.8 and model.report_["romae"] < 0.5


@pytest.mark.parametrize("shared", [True, False])
def test_a_channel_without_values_takes_the_level_of_the_others_if_it_was_theirs(shared):
    """Levels scatter by 3. Shared, those of b follow from a to much better than 1; of their own they cannot be told,
    and the best answer is their mean, 0."""
    rng = np.random.default_rng(2)

    def levels(n):
        level = 3 * rng.normal(size=(n, 2))
        return level[:, [0, 0]] if shared else level

    model = Interpolator(steps=60, **TINY).fit(*romae.from_table(channels_of(levels(60), 0.3, rng, 8), **COLUMNS))
    level = levels(25)
    new = channels_of(level, 0.3, rng, 8)
    with pytest.warns(UserWarning, match="25 of 25 series have no value of channel 'b'"):
        mean, _ = model.predict(*romae.from_table(new[new.c == "a"], **COLUMNS), at=[2.0], channel="b")
    error = np.sqrt(np.mean((mean[:, 0] - level[:, 1]) ** 2))
    assert error < 0.7 if shared else error < 1.2 * np.sqrt(np.mean(level[:, 1] ** 2))
    a = new[new.c == "a"]
    both = pd.concat([new[new.t < 3], a.assign(t=a.t + 5)])  # goes on in a alone
    with pytest.warns(UserWarning, match="50 of 50 times lie before the first or after the last .* in channel 'b'"):
        model.predict(*romae.from_table(both, **COLUMNS), at=[6.0, 6.5], channel="b")


def test_gaps_hide_what_they_should():
    batch = collate([(np.zeros((n, 1)), np.arange(n, dtype=float)[:, None]) for n in (20, 12, 2) * 20])
    hidden = draw_gaps(batch, torch.Generator().manual_seed(0))
    assert not (hidden & ~batch.real).any()
    assert (hidden.any(1) & (batch.real & ~hidden).any(1)).all()
    edges = hidden[::3, :20].int().diff(dim=1).abs().sum(1)  # a stretch has two edges at most
    assert 0.2 < (edges <= 2).double().mean() < 0.95


def test_saved_is_the_same(tmp_path, table, fitted):
    model, tokens, scale = fitted
    model.save(tmp_path / "gaps.safetensors")
    again = Interpolator.load(tmp_path / "gaps.safetensors")
    for a, b in zip(model.predict(at=AT), again.predict(tokens, scale, at=AT), strict=True):
        np.testing.assert_array_equal(a, b)
    assert again.get_params() == model.get_params() and again.summary() == model.summary()
    with pytest.raises(ValueError, match="carries no series"):
        again.predict(at=AT)
    with pytest.raises(ValueError, match="carries no series"):
        again.score()
    with pytest.raises(ValueError, match="is no saved Classifier .it is a Interpolator"):
        Classifier.load(tmp_path / "gaps.safetensors")
    with pytest.raises(ValueError, match="is no saved Interpolator .* is a folder"):
        Interpolator.load(tmp_path)


def edited(path, change) -> bytes:
    """A saved estimator with other contents, and a digest that is right again."""
    with safe_open(path, "pt") as file:
        about = json.loads(file.metadata()["romae_lite"])
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(about["notes"], weights)
    text = json.dumps(about)
    return safetensors.torch.save(weights, {"romae_lite": text, "digest": digest(weights, text)})


@pytest.mark.parametrize(
    "change",
    [
        lambda notes, weights: notes.update(estimator="Classifier"),
        lambda notes, weights: notes.pop("kept"),
        lambda notes, weights: notes["kept"].update(predict="x"),
        lambda notes, weights: notes["kept"].update(stretch_=-1.0),
        lambda notes, weights: notes["kept"].update(within_=0),
        lambda notes, weights: notes["kept"].update(within_=None),
        lambda notes, weights: notes["kept"].update(history_=["x"]),
        lambda notes, weights: notes["kept"].pop("local_"),
        lambda notes, weights: notes["kept"]["report_"].pop("span"),
        lambda notes, weights: notes["kept"]["report_"].update(romae=float("nan")),
        lambda notes, weights: notes["standard"].update(unit=0),
        lambda notes, weights: notes["standard"].update(deviation=[[1.0], [1.0]]),
        lambda notes, weights: notes["standard"].update(mean=[["x"]]),
        lambda notes, weights: notes["standard"].update(mean=[[0.0, 0.0]] * 2, deviation=[[1.0, 1.0]] * 2),
        lambda notes, weights: notes["standard"].update(channels="gr"),
        lambda notes, weights: notes["parameters"].update(window=-5),
        lambda notes, weights: notes["parameters"].update(nonsense=1),
        lambda notes, weights: weights.update({name: t * np.nan for name, t in weights.items()}),
        lambda notes, weights: weights.update({name: 1e200 * t.double() for name, t in weights.items()}),
        lambda notes, weights: weights.update({name: t.long() for name, t in weights.items()}),
        lambda notes, weights: weights.pop("mask_token"),
    ],
)
def test_a_file_of_others_is_refused_by_name(tmp_path, fitted, change):
    fitted[0].save(path := tmp_path / "gaps.safetensors")
    path.write_bytes(edited(path, lambda notes, weights: None))
    assert Interpolator.load(path).summary() == fitted[0].summary()
    path.write_bytes(edited(path, change))
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} is no saved Interpolator"):
        Interpolator.load(path)


def test_what_cannot_be_asked_is_said(table, fitted):
    model, tokens, scale = fitted
    with pytest.raises(ValueError, match="scale is given, but X is None"):
        model.predict(scale=scale, at=AT)
    plain = Interpolator(steps=2, **TINY).fit(kinds_of(20)[0])
    with pytest.raises(ValueError, match="X has no series of two values or more"):
        plain.score([(np.array([1.0]), np.array([2.0]))])
    assert plain.score([(np.arange(12.0), np.full(12, 2.0))]) == 0  # no variance to explain, and none explained


def kinds_of(n: int) -> tuple[list, np.ndarray]:
    t = np.arange(12.0)
    return [(t, np.sin(t / (2 if i % 2 else 5) + i)) for i in range(n)], np.array(["slow", "fast"])[np.arange(n) % 2]


@pytest.mark.parametrize("broken", ["masked_loss", "draw_straight"])  # in training, and in the report
def test_a_fit_that_is_broken_off_leaves_nothing_that_answers(monkeypatch, broken):
    series, _ = kinds_of(20)
    model = Interpolator(steps=2, **TINY).fit(series)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"romae_lite.series.interpolator.{broken}", stop)
    with pytest.raises(KeyboardInterrupt):
        model.fit([(t, 100 * v) for t, v in series])
    for ask in (model.summary, model.score, lambda: model.predict(at=[3.5])):
        with pytest.raises(NotFittedError):
            ask()


def test_a_fit_that_fails_leaves_nothing_that_answers():
    series, names = kinds_of(20)
    model = Classifier(steps=2, pretrain=False, **TINY).fit(series, names)
    with pytest.raises(ValueError, match="y has 1 class"):
        model.fit(series, ["slow"] * 20)
    with pytest.raises(NotFittedError):
        model.predict(series)


def test_numpy_s_parameters_are_saved_and_classes_come_back_as_an_array(tmp_path):
    series, names = kinds_of(20)
    model = Classifier(**TINY | {"batch": np.int64(8), "seed": np.int64(1)}, lr=np.float32(1e-3), steps=np.int64(2))
    model.fit(series, names).save(tmp_path / "c.safetensors")
    again = Classifier.load(tmp_path / "c.safetensors")
    assert isinstance(again.classes_, np.ndarray) and again.classes_.tolist() == ["fast", "slow"]
    assert again.get_params() == model.get_params() and again.summary() == model.summary()
    Interpolator(**TINY | {"seed": np.int64(1)}, steps=np.int64(2)).fit(series).save(tmp_path / "i.safetensors")


def test_the_summary_says_what_the_fit_was_made_with():
    series, names = kinds_of(20)
    for model in (Interpolator(steps=2, **TINY).fit(series), Classifier(steps=2, **TINY).fit(series, names)):
        before = model.summary()
        assert model.set_params(batch=3, lr=1.0).summary() == before and "steps of 16" in before


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


@pytest.mark.parametrize("estimator", [Interpolator(lr=1e-3), Classifier(pretrain=False)])
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
    "call, said",
    [
        (
            lambda t, s: Interpolator().fit([(np.arange(3), np.arange(3.0))]),
            "X has 3 values in 1 series; 20 are needed",
        ),
        (lambda t, s: Interpolator().fit([np.arange(3)]), r"X\[0\] is a ndarray; it must be a pair"),
        (
            lambda t, s: Interpolator().fit([(np.arange(3), np.array([1, np.inf, 2]))]),
            r"X\[0\]\[1\] of row 1 is infinite",
        ),
        (lambda t, s: Classifier().fit(np.ones((4, 3)), [0.1, 0.2, 0.3, 0.4]), "Unknown label type"),
        (lambda t, s: Interpolator().fit(t, 3), "scale is 3; it must be of type"),
        (
            lambda t, s: Interpolator().fit(pd.DataFrame({"t": [1.0]})),
            "X is a DataFrame; `from_table` makes tokens of it",
        ),
        (lambda t, s: Interpolator(steps=0).fit(t, s), "steps is 0; it must be at least 1"),
        (
            lambda t, s: Interpolator().fit([(np.arange(3), np.arange(4.0))]),
            r"X\[0\] has times of shape \(3,\) and values",
        ),
        (lambda t, s: Classifier().fit(t, s), r"y is a Scale; write fit\(tokens, scale=scale\)"),
        (lambda t, s: Classifier().fit(t, scale=s), "y is None, and the tokens carry no label"),
        (lambda t, s: Classifier().fit(t, ["a"] * 40, s), "y has 1 class"),
        (lambda t, s: Classifier().fit(t, [1, "1"] * 20, s), "y mixes text with what is none"),
        (lambda t, s: Classifier().fit(t, ["a"] * 3, s), r"y has shape \(3,\); it must be \(40,\)"),
        (lambda t, s: Interpolator().fit([(np.arange(9), np.ones(9)), ([], [])]), r"X\[1\] has no value; leave it out"),
        (
            lambda t, s: Interpolator().fit([(DAYS, np.ones(9)), (np.arange(9), np.ones(9))]),
            r"X\[1\]\[0\] are numbers; the times of X\[0\] are dates",
        ),
        (lambda t, s: Interpolator().fit(with_channels(-1.0)), "holds no numbers of channels"),
        (lambda t, s: Interpolator().fit(with_channels(0.5)), "holds no numbers of channels"),
    ],
)
def test_bad_calls_are_named(fitted, call, said):  # DAYS and with_channels stand below
    with pytest.raises((TypeError, ValueError), match=said):
        call(*fitted[1:])


@pytest.mark.parametrize(
    "call, said",
    [
        (lambda m, t, s: m.predict([(AT, AT)], at=AT), "channel '0' is unknown; the model has y"),
        (lambda m, t, s: m.predict(at=AT, id="w3", channel="x"), "channel is 'x'"),
        (lambda m, t, s: m.predict(at=["noon"], id="w3"), "at of row 0 is 'noon'"),
        (lambda m, t, s: m.predict(at=[np.nan], id="w3"), "at of row 0 is missing"),
        (lambda m, t, s: m.predict(at=5.0, id="w3"), r"at has shape \(\)"),
        (lambda m, t, s: m.predict(at=[], id="w3"), "at is empty"),
        (
            lambda m, t, s: m.predict(at=[pd.Timestamp("2024-01-01")], id="w3"),
            "at are dates; those of the data are numbers",
        ),
    ],
)
def test_bad_questions_are_named(fitted, call, said):
    with pytest.raises((TypeError, ValueError), match=said):
        call(*fitted)


DAYS = np.arange("2024-01-01", "2024-01-10", dtype="datetime64[D]")


def with_channels(other: float) -> romae.Tokens:
    """Two series of ten tokens, every other of which is of a channel with that number."""
    positions = torch.stack((torch.arange(10.0), torch.tensor([0.0, other] * 5)), -1).repeat(2, 1, 1)
    return romae.Tokens(values=torch.randn(2, 10, 1, generator=torch.Generator().manual_seed(0)), positions=positions)


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
    with pytest.raises(TypeError, match="at are numbers; those of the data are dates"):
        Interpolator(steps=2, **TINY).fit(dated).predict(at=[1.5])


@pytest.mark.parametrize("seed", range(5))
def test_twenty_values_of_one_series_are_enough(seed):
    """As the documentation says; what was held out is too little to choose by, and the report says so."""
    t = np.arange(20.0)
    model = Interpolator(steps=1, **TINY | {"seed": seed}).fit([(t, np.sin(t))])
    assert 0 < model.report_["points"] < 20 and "too few to choose by" in model.summary()


def test_padding_of_pairs_is_no_measurement():
    t, y = np.arange(30.0), np.sin(np.arange(30.0))
    padded = (np.append(t, np.nan), np.append(y, np.nan))
    panda = (pd.array(padded[0]), pd.array([*y, pd.NA], dtype="Float64"))
    found = [Interpolator(steps=1, **TINY).fit([p]).predict(at=[3.5, 7.0]) for p in ((t, y), padded, panda)]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


def test_a_level_far_from_zero_is_no_loss():
    """1e8 has 8 units between neighbours in float32, and 1e-8 in float64. Pairs are standardised before they are cast,
    as the values of a table are."""
    t = np.arange(200.0)
    y = 1e8 + np.sin(t / 3)
    near, far = (Interpolator(steps=20, **TINY).fit([(t, v)]) for v in (y - 1e8, y))
    assert far.scale_.deviation[0, 0] == pytest.approx(np.sin(t / 3).std(), rel=1e-6)
    for m in (far.predict(at=[50.5, 77.5])[0], far.predict([(t, y)], at=[50.5, 77.5])[0]):
        np.testing.assert_allclose(m - 1e8, near.predict(at=[50.5, 77.5])[0], atol=1e-3)
    assert (Interpolator(steps=1, **TINY).fit([(t, np.full(200, 16.7))]).scale_.deviation == 1).all()


def test_masked_values_of_pairs_are_no_measurements():
    t, y = np.arange(30.0), np.sin(np.arange(30.0))
    masked = np.ma.masked_array(np.append(y, -9999), np.arange(31) == 30)
    found = [Interpolator(steps=1, **TINY).fit([p]).predict(at=[3.5, 7.0]) for p in ((t, y), (np.arange(31), masked))]
    np.testing.assert_array_equal(*found)
    rows = np.ma.masked_array([[1, 2, -9999], [3, 4, 5]], [[0, 0, 1], [0, 0, 0]])
    assert [values[:, 0].tolist() for values, _ in read_series(rows)[0]] == [[1, 2], [3, 4, 5]]


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


def test_dates_of_pairs_may_have_any_resolution():
    when = np.datetime64("2024-01-01") + np.arange(60) * np.timedelta64(1, "D")
    model = Interpolator(steps=1, **TINY).fit([(when.astype("datetime64[ns]"), np.sin(np.arange(60.0)))])
    assert model.scale_.unit == 86_400
    asked = [model.predict(at=when[3:5].astype(f"datetime64[{unit}]")) for unit in ("D", "us")]
    np.testing.assert_array_equal(*asked)


def test_a_subset_knows_its_scale(fitted):
    """Ids and first times go by a series' number; the scale of all the table that is given beside is not needed."""
    model, tokens, scale = fitted
    expected = model.predict(at=AT, id="w7")
    for given in (None, scale):
        np.testing.assert_allclose(model.predict(tokens[5:], given, at=AT, id="w7"), expected, atol=1e-6)
        with pytest.raises(ValueError, match="id is 'w3'; choose one of w5"):
            model.predict(tokens[5:], given, at=AT, id="w3")
    again = Interpolator(steps=1, **TINY).fit(tokens[5:])
    assert again.report_["series"] == 35 and again.scale_.unit == scale.unit


def test_tokens_without_a_scale_take_the_one_that_is_given(fitted):
    model, tokens, scale = fitted
    bare = romae.Tokens(values=tokens.values, positions=tokens.positions, pad=tokens.pad)
    np.testing.assert_array_equal(model.predict(bare, scale, at=AT), model.predict(at=AT))
    with pytest.raises(ValueError, match="scale has 40 samples, 1 channels; X has 3, 1"):
        model.predict(bare[:3], scale, at=AT)


def test_ids_and_unknown_classes_come_as_numpy_and_pandas_have_them(table):
    """`unique` gives np.int64; a column of strings has pd.NA where nothing is known."""
    numbered = table.assign(id=table.id.str[1:].astype(int))
    tokens, scale = romae.from_table(numbered, **NAMES)
    model = Interpolator(steps=1, **TINY).fit(tokens, scale)
    star = numbered.id.unique()[3]
    assert np.array_equal(model.predict(at=AT, id=star)[0], model.predict(at=AT, id=3)[0])
    with pytest.raises(ValueError, match="y has no known class"):
        Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(tokens, ["a", "b"] * 20, scale).score(
            tokens, [None] * 40, scale
        )
    kinds = pd.array(["a", "b", *[pd.NA] * 38], dtype="string")
    found = Classifier(steps=1, pretrain=False, holdout=0, **TINY).fit(tokens, kinds, scale)
    assert list(found.classes_) == ["a", "b"] and found.report_["labelled"] == 2


def test_the_unit_is_a_channel_s_own_without_a_scale_as_with_one():
    """Two channels, the second a hundredth after the first, every five: the unit is five."""
    when = 5.0 * np.arange(60)
    frame = {"t": np.concatenate((when, when + 0.01)), "c": np.repeat(["a", "b"], 60), "y": np.sin(np.arange(120.0))}
    columns = dict(time="t", value="y", channel="c")
    tokens = romae.from_table(frame, unit=1.0, **columns)[0]
    model = Interpolator(steps=1, **TINY).fit(romae.Tokens(values=tokens.values, positions=tokens.positions))
    assert model.scale_.unit == pytest.approx(5.0)
    assert romae.from_table(frame, **columns)[1].unit == pytest.approx(5.0)


def test_a_series_own_times_are_inside_it():
    """Also in seconds since 1970."""
    t = 1.7e9 + np.cumsum(np.random.default_rng(0).uniform(1, 5, 200))
    model = Interpolator(steps=1, **TINY).fit([(t, np.sin(t))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(at=t[[0, 100, -1]])


def test_says_where_it_knows_nothing(fitted):
    model, tokens, scale = fitted
    with pytest.warns(UserWarning, match="lie before the first or after the last"):
        model.predict(at=[300.0], id="w0")
    rng = np.random.default_rng(4)
    noise = [(np.sort(rng.random(20)), rng.normal(size=20)) for _ in range(30)]
    with pytest.warns(UserWarning, match="makes nothing of the times"):
        Interpolator(steps=10, **TINY).fit(noise)


def test_the_readme_s_quickstart_runs():
    block = re.search(r"```python\n(.*?from_table.*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    names = {}
    exec(block.replace("steps=300", "steps=20"), names)  # seconds instead of half a minute
    assert names["mean"].shape == names["deviation"].shape == (3,)
    assert np.abs(names["mean"] - 5).max() < 4  # in the table's units

"""The experiment on measured light curves: who is tested on whom, what a token says, what a step sees."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from romae_book.experiments.classification import Classification
from romae_book.experiments.lightcurves import data, experiment, rivals
from romae_book.experiments.lightcurves.experiment import LightCurves, average_precision, deviation_loss
from romae_lite.model import RoMAEPredictor
from romae_lite.training import Interrupted, seeded

SMALL = dict(encoder="16x2x1x24", decoder="16x2x1x24", epochs=1, pretrain_epochs=1, most=12)


def made(n: int, bands: int, classes: int, parts: int, seed: int = 0) -> data.Curves:
    rng = np.random.default_rng(seed)
    objects = []
    for i in range(n):
        m = int(rng.integers(4, 20))
        objects.append(dict(time=rng.uniform(0, 100, m), value=rng.normal(10, 3, m), error=rng.uniform(0.1, 1, m),
                            band=rng.integers(0, bands, m), label=i % classes, part=i // classes % parts))
    return data.gathered(objects, tuple("ugrizy")[:bands], tuple(f"class {k}" for k in range(classes)))


@pytest.fixture(autouse=True)
def surveys(monkeypatch, tmp_path):
    """Small made-up surveys in place of the real ones, and a folder of this test for what is kept beside them."""
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    sizes = {"eros1": (80, 2, 4, 2), "mallorn": (100, 6, 5, 20), "spcc": (120, 4, 3, 2), "asas": (60, 1, 6, 1)}
    found = {name: made(*size) for name, size in sizes.items()}
    table = {name: np.random.default_rng(1).normal(size=(len(curves), 300)) for name, curves in found.items()}
    monkeypatch.setattr(data, "load", lambda name, path=None: found[name])
    monkeypatch.setattr(experiment, "TEST", 40)
    monkeypatch.setattr(experiment, "hand_made", lambda name, information="all": table[name])
    experiment._tokens.cache_clear()
    experiment.sampled.cache_clear()
    yield found
    experiment._tokens.cache_clear()
    experiment.sampled.cache_clear()


KINDS = [("eros1", "official"), ("spcc", "official"), ("spcc", "random"), ("mallorn", "folds"), ("asas", "folds")]


@pytest.mark.parametrize(("survey", "tested_on"), KINDS)
def test_no_object_is_on_two_sides(surveys, survey, tested_on):
    exp, curves = LightCurves(survey=survey, tested_on=tested_on, **SMALL), surveys[survey]
    for seed in range(3):
        train, valid, test = exp.rows(seed)
        together = np.concatenate((train, valid, test))
        assert len(np.unique(together)) == len(together) and len(train) and len(valid) and len(test)
        if tested_on == "official":
            assert (curves.part[test] == 1).all() and (curves.part[np.concatenate((train, valid))] == 0).all()
        if survey == "mallorn":  # siblings share a split
            for a, b in ((train, valid), (train, test), (valid, test)):
                assert not set(curves.part[a]) & set(curves.part[b])


@pytest.mark.parametrize("survey", ["mallorn", "asas"])
def test_five_folds_test_every_object_once(surveys, survey):
    exp = LightCurves(survey=survey, tested_on="folds", **SMALL)
    tested = np.concatenate([exp.rows(seed)[2] for seed in range(5)])
    assert sorted(tested) == list(range(len(surveys[survey])))


def test_random_training_has_one_test_set(surveys):
    exp = LightCurves(survey="spcc", tested_on="random", **SMALL)
    assert (exp.rows(0)[2] == exp.rows(1)[2]).all() and not np.array_equal(exp.rows(0)[0], exp.rows(1)[0])


@pytest.mark.parametrize("labels", [4, 10, 22])
def test_few_labels_are_of_every_class_alike(surveys, labels):
    exp = LightCurves(survey="eros1", labels=labels, **SMALL)
    train, valid, test = exp.rows(3)
    assert len(train) == labels and not set(train) & (set(valid) | set(test))
    count = np.bincount(surveys["eros1"].label[train], minlength=4)
    assert count.max() - count.min() <= 1


def test_a_token_says_what_it_says(surveys):
    """Against loops, of variable stars and of transients."""
    for survey, periodic in (("eros1", True), ("spcc", False)):
        tokens, curves = LightCurves(survey=survey, **SMALL | {"most": 512}).tokens(), surveys[survey]
        for i in (0, 7):
            part = curves.points(i)
            t, y, e, b = (getattr(curves, name)[part].astype(float) for name in ("time", "value", "error", "band"))
            if periodic:
                y = y - np.array([np.median(y[b == k]) for k in b])
                spread = (np.quantile(y, 0.84) - np.quantile(y, 0.16)) / 2 + 1e-3
                centre = t.mean()
            else:
                spread = np.quantile(np.abs(y), 0.98) + 1e-9
                centre = np.average(t, weights=np.abs(y) / e)
            n = len(t)
            assert tokens.real[i].sum() == n
            expected = np.clip(y / spread, -20, 20), np.clip(np.log(e / spread), -8, 3)
            np.testing.assert_allclose(tokens.values[i, :n, :2], np.stack(expected, 1), rtol=2e-4, atol=1e-5)
            np.testing.assert_allclose(tokens.positions[i, :n, 1], t - centre, atol=1e-9)
            assert (tokens.positions[i, :n, 0].numpy() == b).all()


@pytest.mark.parametrize("survey", ["eros1", "spcc"])
def test_what_is_taken_away_is_gone(surveys, survey):
    every = SMALL | {"most": 512}
    of = lambda information: LightCurves(information=information, survey=survey, **every).tokens()  # noqa: E731
    whole, times, shuffled, ranks = (of(name) for name in ("all", "times", "shuffled", "ranks"))
    assert (times.values == 0).all()
    assert not torch.equal(shuffled.values, whole.values)
    for i in (0, 3):
        n = int(whole.real[i].sum())
        where = whole.positions[i, :n, 1].diff()
        for less in (times, shuffled):  # times may start elsewhere: values, where known, say what the middle is
            assert torch.allclose(less.positions[i, :n, 1].diff(), where) and less.positions.isfinite().all()
        band = whole.positions[i, :n, 0]
        for k in band.unique():
            mine = [tokens.values[i, :n, 0][band == k].sort().values for tokens in (whole, shuffled)]
            assert torch.equal(*mine)
        assert torch.allclose(ranks.positions[i, :n, 1].diff(), torch.ones(n - 1, dtype=torch.float64))
    assert times.positions[0, : int(whole.real[0].sum()), 1].mean().abs() < 1e-9  # no brightness in the middle


def test_what_was_not_detected_is_cut_at_both_ends(surveys):
    """By a walk along every curve. One object here is never brighter than its errors: of it the points from one to the
    other of its two brightest are left."""
    whole = surveys["spcc"]
    faint = np.diff(whole.start).argmax()
    ratio = whole.value / whole.error
    ratio[whole.points(faint)] /= 2 * ratio[whole.points(faint)].max()
    whole = replace(whole, value=(ratio * whole.error).astype(np.float32))
    cut = experiment.informed(whole, "detected")
    cut.verify()
    for i in range(len(whole)):
        part = whole.points(i)
        times, value, error = (list(getattr(whole, name)[part]) for name in ("time", "value", "error"))
        least = min(5.0, sorted(v / e for v, e in zip(value, error, strict=True))[-2])
        while value[0] / error[0] < least:
            del times[0], value[0], error[0]
        while value[-1] / error[-1] < least:
            del times[-1], value[-1], error[-1]
        assert list(cut.time[cut.points(i)]) == times
    assert np.diff(cut.start).min() >= 2 and len(cut.time) < len(whole.time)
    assert (cut.label == whole.label).all()
    with pytest.raises(ValueError, match="is for fluxes of transients; survey is 'eros1'"):
        LightCurves(survey="eros1", information="detected")


def test_a_step_sees_some_points_with_noise_of_their_errors(surveys, monkeypatch):
    exp = LightCurves(**SMALL | {"most": 512})
    batch = exp.tokens()
    once, again = (exp.thinned(batch, seeded(0)) for _ in range(2))
    assert torch.equal(once.values, again.values)
    kept, real = once.real.sum(1), batch.real.sum(1)
    assert (kept[real < 8] == real[real < 8]).all() and (kept >= 2).all()
    assert (kept[real >= 8] <= (0.7 * real[real >= 8]).ceil() + 1).all()
    monkeypatch.setattr(experiment, "NOISE", 0.0)
    quiet = exp.thinned(batch, seeded(0))
    moved = ((once.values - quiet.values)[..., 0] / quiet.values[..., 1].exp())[once.real]
    assert moved.std() == pytest.approx(0.5, rel=0.15)  # several hundred draws
    assert torch.equal(once.values[..., 1:], quiet.values[..., 1:])


def test_the_first_stage_is_asked_for_deviations_alone():
    target, guess = torch.randn(2, 3, 6), torch.randn(2, 3, 6)
    pad = torch.tensor([[False, False, True], [False, False, False]])
    expected = [
        float((guess[i, j, 0] - target[i, j, 0]) ** 2 / (0.15 + target[i, j, 1].exp() ** 2))
        for i in range(2) for j in range(3) if not pad[i, j]
    ]
    assert float(deviation_loss(guess, target, pad)) == pytest.approx(np.mean(expected), rel=1e-5)


def test_average_precision_is_scikit_learns():
    rng = np.random.default_rng(0)
    truth, score = rng.random(200) < 0.1, rng.normal(size=200)
    assert average_precision(truth, score) == pytest.approx(average_precision_score(truth, score))


def test_points_a_period_apart_lie_at_one_place_of_the_circle():
    time = np.array([0.3, 0.3 + 0.7, 0.3 + 7 * 0.7, 0.3 + 0.35])
    where = experiment.places(np.zeros(4), time, 0.7)
    np.testing.assert_allclose(where[1:3, 2:], where[[0, 0], 2:], atol=1e-12)
    np.testing.assert_allclose(where[3, 2:], -where[0, 2:], atol=1e-12)  # half a period is the other side


def test_a_star_is_folded_by_its_own_period(surveys):
    """The circle goes round once in the period that its features say; band and time stay."""
    exp = LightCurves(**SMALL | {"most": 512})
    plain, tokens = exp.tokens(), exp.replace(axis="phase", encoder="32x2x1x32", decoder="32x2x1x32").tokens()
    assert torch.equal(tokens.positions[..., :2], plain.positions) and torch.equal(tokens.values, plain.values)
    for i in (0, 7):
        t, a, b = tokens.positions[i, tokens.real[i], 1:].numpy().T
        turns = t / np.exp(experiment.hand_made("eros1")[i, 64])
        np.testing.assert_allclose(a + 1j * b, experiment.RADIUS * np.exp(2j * np.pi * turns), atol=1e-9)


def test_class_weights_are_shares_to_a_power(surveys):
    exp = LightCurves(**SMALL)
    train = exp.data(0).train
    share = np.bincount(train.aux["label"], minlength=4) / len(train)
    found = exp.class_weights(train).numpy()
    np.testing.assert_allclose(found / found[0], (share / share[0]) ** -0.5, rtol=1e-5)
    assert (found * share).sum() == pytest.approx(1, rel=1e-5)


ARMS = [{}, {"pretrain_epochs": 0}, {"information": "times"}, {"period": True}, {"labels": 8},
        {"pretrain_on": "labelled"}, {"axis": "phase", "encoder": "32x2x1x32", "decoder": "32x2x1x32"}]


@pytest.mark.parametrize("changes", ARMS)
def test_every_arm_runs(surveys, changes):
    exp = LightCurves(**SMALL | changes)
    splits = exp.data(0)
    model, history = exp.train(splits, 0)
    scores = exp.evaluate(model, splits.test) | exp.examine(model, splits)
    assert 0 <= scores["f1_macro"] <= 1 and scores["exponent"] in (-1, -0.5, 0, 0.5, 1)
    assert ("pretrain" in {entry["stage"] for entry in history}) is ("pretrain_epochs" not in changes)


@pytest.mark.parametrize("method", ["trees", "sampling", "largest"])
def test_other_methods_answer_for_the_same_objects(surveys, method):
    exp, curves = LightCurves(survey="mallorn", tested_on="folds", method=method, **SMALL), surveys["mallorn"]
    splits = exp.data(0)
    model, history = exp.train(splits, 0)
    train, valid, test = exp.rows(0)
    p = model.logits.exp().numpy()
    assert p.shape == (len(test), 5) and history[-1]["seconds"] >= 0
    scores = exp.evaluate(model, splits.test) | exp.examine(model, splits)
    assert scores["accuracy"] == pytest.approx((curves.label[test] == p.argmax(1)).mean())
    if method == "largest":
        assert (p.argmax(1) == np.bincount(curves.label[np.concatenate((train, valid))]).argmax()).all()


@pytest.fixture
def trained(monkeypatch):
    """How often a first stage was trained."""
    count, pretrain = [], Classification.first_stage
    monkeypatch.setattr(Classification, "first_stage", lambda *a, **k: count.append(1) or pretrain(*a, **k))
    return count


def answers(exp: LightCurves, seed: int = 0) -> tuple[np.ndarray, list[dict]]:
    model, history = exp.train(exp.data(seed), seed)
    return model.logits.numpy(), history


def test_a_first_stage_is_trained_once_for_all_counts_of_labels(trained):
    exp = LightCurves(method="frozen", labels=8, **SMALL)
    first, history = answers(exp)
    more, again = answers(exp.replace(labels=16))
    answers(exp.replace(method="beside", labels=None))
    tuned = exp.replace(method="romae").train(exp.data(0), 0)[1]
    assert len(trained) == 1 and not np.array_equal(first, more)
    cost = [entry for entry in history if entry.get("stage") == "pretrain"]
    for other in (again, tuned):  # what it cost, whoever paid
        assert [entry for entry in other if entry.get("stage") == "pretrain"] == cost
        assert other[-1]["seconds"] >= cost[-1]["seconds"] > 0
    for other, seed in ((exp, 1), (exp.replace(pretrain_lr=1e-3), 0), (exp.replace(survey="spcc"), 0)):
        before = len(trained)
        answers(other, seed)
        assert len(trained) == before + 1


def test_a_kept_first_stage_gives_the_numbers_of_a_new_one(trained, tmp_path):
    exp = LightCurves(method="frozen", labels=8, **SMALL)
    new, _ = answers(exp)
    kept, _ = answers(exp)
    for path in tmp_path.glob("lightcurves/*"):
        path.unlink()
    again, _ = answers(exp)
    assert len(trained) == 2
    np.testing.assert_array_equal(new, kept)
    np.testing.assert_array_equal(new, again)


def test_fine_tuning_goes_on_from_a_kept_first_stage_as_from_a_new_one(trained):
    exp = LightCurves(labels=8, **SMALL)
    new, kept = (exp.train(exp.data(0), 0)[0].state_dict() for _ in range(2))
    assert len(trained) == 1 and all(torch.equal(new[name], kept[name]) for name in new)
    nothing = exp.replace(pretrain_epochs=0).train(exp.data(0), 0)[0].state_dict()
    assert any(not torch.equal(nothing[name], new[name]) for name in new)


def test_several_networks_learn_from_all_labels_and_answer_in_the_mean(surveys, monkeypatch):
    exp = LightCurves(survey="eros1", **SMALL | {"members": 3})
    data, networks, alone = exp.data(0), [], Classification.second_stage

    def second_stage(self, model, splits, seed, *args, **options):
        networks.append((model, sorted(splits.train.aux["index"].tolist()), seed))
        return alone(self, model, splits, seed, *args, **options)

    monkeypatch.setattr(Classification, "second_stage", second_stage)
    together, history = exp.train(data, 0)
    train, valid, _ = exp.rows(0)
    assert [rows for _, rows, _ in networks] == [sorted([*train, *valid])] * 3
    assert len({seed for *_, seed in networks}) == 3
    one, *others = (exp.logits(model, data.test).softmax(1) for model, *_ in networks)
    assert all(not torch.allclose(one, other) for other in others)
    expected = (one + others[0] + others[1]) / 3
    assert torch.allclose(exp.logits(together, data.test).softmax(1), expected, atol=1e-5)
    label = data.test.aux["label"].long()
    found = exp.examine(together, data)
    scores = [exp.score(p, label)["f1_macro"] for p in (one, *others)]
    assert found["f1_macro_alone"] == pytest.approx(np.mean(scores))
    assert not any(key.startswith("valid_") for entry in history for key in entry if entry["stage"] == "fine-tune")
    seconds = [entry["seconds"] for entry in history]
    assert seconds == sorted(seconds)


def test_several_networks_go_on_after_a_kill(surveys, tmp_path):
    """Stopped in the first stage, the first network and the last: the same answers in the end."""
    exp, checkpoint = LightCurves(survey="eros1", **SMALL | {"members": 2, "batch": 8, "epochs": 2}), tmp_path / "x.st"
    data = exp.data(0)
    whole, history = exp.train(data, 0)
    for path in (tmp_path / "lightcurves").glob("*.pretrained-*"):
        path.unlink()  # else no first stage is trained that could be stopped
    steps = {entry["stage"]: entry["step"] for entry in history}
    assert steps["fine-tune"] > 6
    for n in (1, 4, steps["fine-tune"] + 1):
        asked = iter([False] * (n - 1) + [True])
        with pytest.raises(Interrupted):
            exp.train(data, 0, checkpoint=checkpoint, stop=lambda asked=asked: next(asked))
    again, resumed = exp.train(data, 0, checkpoint=checkpoint)
    assert torch.equal(whole.each, again.each) and [e["step"] for e in history] == [e["step"] for e in resumed]
    assert set(tmp_path.glob("x*")) <= set(exp.checkpoints(checkpoint))


def test_only_networks_have_members():
    with pytest.raises(ValueError, match="members is 2; for trees it must be 1"):
        LightCurves(survey="eros1", method="trees", members=2)
    with pytest.raises(ValueError, match="choose members=1, or labels=None"):
        LightCurves(survey="eros1", labels=10, members=2)


@pytest.mark.parametrize("on", ["all", "labelled", "mallorn"])
def test_the_first_stage_sees_the_curves_that_it_is_given(surveys, on):
    exp = LightCurves(survey="spcc", pretrain_on=on, **SMALL)
    data = exp.data(0)
    seen = exp.pretrain_data(data, 0)
    train, valid, _ = exp.rows(0)
    expected = exp.replace(survey="mallorn" if on == "mallorn" else "spcc", tested_on="folds").tokens()
    if on == "labelled":
        expected = expected[torch.from_numpy(np.concatenate((train, valid)))]
    assert seen.fingerprint() == expected.fingerprint()
    assert exp.pretraining_set() == {"all": 21_319, "labelled": 1103, "mallorn": 3043}[on]  # of the real ones


def test_an_embedding_is_what_the_heads_of_romae_would_read():
    """Against the predictor's own pooling, object by object."""
    exp = LightCurves(**SMALL)
    tokens, model = exp.tokens(), exp.autoencoder(0)
    found = experiment.encoded(model.encoder, tokens)
    for pool, part in (("mean", slice(0, 16)), ("cls", slice(16, 32))):
        read = RoMAEPredictor(exp.predictor_config(), outputs=1, pool=pool).start_from(model).eval()
        seen = []
        read.head.register_forward_pre_hook(lambda _, args, seen=seen: seen.append(args[0].detach()))
        for i in (0, 11, 50):
            one = tokens[[i]]
            read(experiment.trim(one))
            np.testing.assert_allclose(found[i, part], seen[-1][0], rtol=1e-4, atol=1e-5)


def test_beside_has_features_and_embedding(trained, monkeypatch, surveys):
    exp, seen = LightCurves(method="beside", **SMALL), []
    even = lambda train, label, test, classes, **_: (np.full((len(test), classes), 1 / classes), {})  # noqa: E731
    monkeypatch.setattr(rivals, "trees", lambda *args, **more: seen.append(args) or even(*args, **more))
    answers(exp)
    (train, label, test, _), = seen
    rows = exp.rows(0)
    assert train.shape == (len(rows[0]) + len(rows[1]), 300 + 2 * 16) and test.shape == (len(rows[2]), 332)
    np.testing.assert_array_equal(test[:, :300], experiment.hand_made("eros1")[rows[2]])
    embedding, _ = exp.embedding(exp.data(0), 0)
    for j in (300, 331):
        assert np.corrcoef(test[:, j], embedding[rows[2], j - 300])[0, 1] > 0.999


def test_a_frozen_encoder_reads_cls():
    with pytest.raises(ValueError, match="cls is False; frozen"):
        LightCurves(method="frozen", cls=False, **SMALL)


@pytest.mark.parametrize("labels", [2, 30, 64, 65, 300, 1000, 5000])
def test_few_labels_are_seen_for_enough_steps(labels):
    recipe = LightCurves(labels=labels).recipe(labels)
    per_pass = -(-labels // recipe.batch)
    assert recipe.epochs * per_pass >= experiment.LEAST and recipe.warmup == round(0.1 * recipe.epochs * per_pass)
    assert recipe.epochs == 12 or (recipe.epochs - 1) * per_pass < experiment.LEAST  # no more than that takes


@pytest.mark.parametrize("samples", [20, 801, 2332])
def test_all_labels_are_seen_as_often_as_the_settings_say(samples):
    assert LightCurves().recipe(samples).epochs == 12


def test_a_split_that_a_survey_lacks_is_refused():
    with pytest.raises(ValueError, match="asas has no official split"):
        LightCurves(survey="asas")
    with pytest.raises(ValueError, match="random.*spcc"):
        LightCurves(survey="eros1", tested_on="random")


def test_a_phase_wants_a_star_and_its_times():
    for changes in ({"survey": "mallorn", "tested_on": "folds"}, {"information": "ranks"}):
        with pytest.raises(ValueError, match="axis is 'phase'"):
            LightCurves(axis="phase", **changes)

"""ELAsTiCC: light curves, their tokens, the made-up sky and the experiment, against slow references."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from romae_book.experiments.elasticc import data as sky
from romae_book.experiments.elasticc.data import DETECTED, SATURATED, TRIGGER, LightCurves
from romae_book.experiments.elasticc.experiment import ELAsTiCC

TINY = {
    "encoder": "16x2x1x32", "decoder": "16x2x1x32", "n_train": 60, "n_test": 80, "epochs": 1, "pretrain_epochs": 1,
    "batch": 16, "pretrain_batch": 16,
}


@pytest.fixture(scope="module")
def curves() -> LightCurves:
    return sky.simulated(150, np.random.default_rng(1))


@pytest.fixture(scope="module")
def exp() -> ELAsTiCC:
    return ELAsTiCC.quick().replace(**TINY)


@pytest.fixture(scope="module")
def data(exp):
    return exp.data(0)


def made(*visits: tuple[float, int, float, int]) -> LightCurves:
    """One light curve of (time, band, flux, flags), errors 1."""
    time, band, flux, flags = (np.array(x) for x in zip(*visits, strict=True))
    return LightCurves(
        names=("a", "b"), ids=np.array([7]), label=np.array([1]), start=np.array([0, len(time)]),
        time=time.astype(float), band=band.astype(np.int8), flux=flux.astype(np.float32),
        error=np.ones(len(time), np.float32), flags=flags.astype(np.int32),
    )


# Light curves -------------------------------------------------------------------------------------------------------


def test_taxonomy():
    assert len(sky.TAXONOMY) == 32 and len(sky.CLASSES) == 20
    assert sky.TAXONOMY["SNIIn-MOSFIT"] == "II" and sky.TAXONOMY["SNIIb+HostXT_V19"] == "SN-like/Other"


def test_taking_and_keeping(curves):
    chosen = np.array([4, 0, 9, 9])
    some = curves.take(chosen)
    for i, j in enumerate(chosen):
        mine, theirs = (slice(c.start[k], c.start[k + 1]) for c, k in ((some, i), (curves, j)))
        assert some.label[i] == curves.label[j]
        for name in ("time", "band", "flux", "error", "flags"):
            assert np.array_equal(getattr(some, name)[mine], getattr(curves, name)[theirs])
    red = curves.keep(curves.band == 2)
    assert np.array_equal(red.count, [np.sum(curves.band[curves.owner == i] == 2) for i in range(len(curves))])


def test_first_detection_prefers_the_trigger():
    flags = [0, DETECTED, DETECTED | TRIGGER, DETECTED]
    assert made(*((10.0 + i, 0, 0.0, f) for i, f in enumerate(flags))).first_detection() == [12.0]
    assert made(*((10.0 + i, 0, 0.0, f & DETECTED) for i, f in enumerate(flags))).first_detection() == [11.0]
    assert made((10.0, 0, 0.0, 0), (11.0, 0, 0.0, SATURATED)).first_detection() == [10.0]


def test_alert_window():
    one = made(
        (60.0, 0, 1.0, 0), (71.0, 0, 2.0, 0), (100.0, 1, 3.0, DETECTED | TRIGGER), (110.0, 1, 4.0, SATURATED),
        (120.0, 2, 5.0, 0), (130.0, 2, 6.0, DETECTED), (131.0, 2, 7.0, 0),
    )
    # from day 70 to the last detection, without the saturated visit; a non-detection between detections stays
    assert sky.alert_window(one).flux.tolist() == [2, 3, 5, 6]


@pytest.mark.parametrize("most", [1, 2, 5, 65])
def test_thinning_takes_what_linspace_takes(most):
    """ATAT's choice: numpy's linspace over the visits of a band, cut to whole numbers."""
    rng = np.random.default_rng(0)
    counts = [1, 3, 5, 6, 66, 131]
    visits = sorted((float(t), b, float(t), 0) for b, n in enumerate(counts) for t in rng.permutation(1000)[:n])
    one = made(*visits)
    found = sky.thinned(one, most)
    for b, n in enumerate(counts):
        series = one.time[one.band == b]
        expected = series if n <= most else series[np.unique(np.linspace(0, n - 1, num=most).astype(int))]
        assert np.array_equal(found.time[found.band == b], expected)


# Tokens -------------------------------------------------------------------------------------------------------------


def test_tokens_one_by_one(curves):
    found = sky.tokens(curves, origin="first", scale=2.0)
    for i in range(0, len(curves), 17):
        part = slice(curves.start[i], curves.start[i + 1])
        n = part.stop - part.start
        assert found.real[i].sum() == n and found.real[i, :n].all()
        np.testing.assert_array_equal(found.values[i, :n, 0].numpy(), curves.flux[part])
        np.testing.assert_array_equal(found.values[i, :n, 1].numpy(), curves.error[part])
        np.testing.assert_array_equal(found.positions[i, :n, 0].numpy(), curves.band[part])
        expected = 2 * (curves.time[part] - curves.time[part.start])
        np.testing.assert_array_equal(found.positions[i, :n, 1].numpy(), expected)
        assert found.aux["label"][i] == curves.label[i]


def test_origins_differ_by_a_shift(curves):
    """Differences of times, all that RoPE sees, are the same from every origin."""
    first, alert, calendar = (sky.tokens(curves, origin=name) for name in ("first", "detection", "mjd"))
    real = first.real
    for other in (alert, calendar):
        shift = (other.positions - first.positions)[..., 1]
        spread = shift.masked_fill(~real, -torch.inf).amax(1) - shift.masked_fill(~real, torch.inf).amin(1)
        assert spread.abs().max() < 1e-9  # float64 at 6e4 has steps of 7e-12
        np.testing.assert_allclose((other.aux["detection"] - first.aux["detection"]), shift[:, 0], atol=1e-9)
    assert (alert.aux["detection"] == 0).all()
    assert (calendar.positions[..., 1][real] > 6e4).all()


def test_scalings(curves):
    plain = sky.tokens(curves)
    variance = sky.tokens(curves, spread="variance")
    torch.testing.assert_close(variance.values[..., 1], plain.values[..., 1] ** 2)
    scaled = sky.tokens(curves, scaling="asinh")
    real = plain.real
    flux = scaled.values[..., 0].double().sinh() * 10 ** scaled.values[..., 1].double()  # and back
    torch.testing.assert_close(flux[real].float(), plain.values[..., 0][real], rtol=1e-5, atol=1e-4)


# The made-up sky ------------------------------------------------------------------------------------------------------


def test_simulated_is_what_it_says(curves):
    assert curves.names == sky.SIMULATED_CLASSES and set(curves.label) == set(range(3))
    assert (np.diff(curves.time)[np.diff(curves.owner) == 0] >= 0).all()
    assert set(curves.band) == set(range(6)) and (curves.error > 0).all()
    seen = (curves.flags & DETECTED) > 0
    assert (np.bincount(curves.owner, seen) >= 2).all()
    assert (np.bincount(curves.owner, (curves.flags & TRIGGER) > 0) == 1).all()


# The experiment -----------------------------------------------------------------------------------------------------


def test_alert_mask_shortens(exp, data):
    masked = exp.replace(alert_mask=True).data(0).test
    assert masked.real.sum() < data.test.real.sum()
    assert (masked.real.sum(1) >= 2).all()
    window = masked.positions[..., 1][masked.real]
    assert window.min() >= -30 - 1e-9


def test_runs_and_scores(exp, data):
    model, history = exp.train(data, 0)
    assert {entry["stage"] for entry in history} == {"pretrain", "fine-tune"}
    found = exp.evaluate(model, data.test)
    assert next(iter(found)) == "f1_macro"
    predicted, label = exp.logits(model, data.test).argmax(1).numpy(), data.test.aux["label"].numpy()
    from sklearn.metrics import f1_score

    each = f1_score(label, predicted, average=None, labels=np.unique(label), zero_division=0)
    assert [found[f"f1_{exp.names[k]}"] for k in np.unique(label)] == pytest.approx(each)


@pytest.mark.parametrize("change", [{"per_band": 2}, {"alert_mask": True}])
@pytest.mark.parametrize("origin", ["first", "detection"])
def test_visits_left_out_do_not_move_time_zero(exp, curves, change, origin):
    """A visit that stays keeps its position, even where the one that set the zero is gone."""
    whole, less = (exp.replace(origin=origin, **c).tokens(curves) for c in ({}, change))
    assert less.real.sum() < whole.real.sum()
    torch.testing.assert_close(less.aux["detection"], whole.aux["detection"], rtol=0, atol=0)
    for i in range(len(curves)):
        there = {tuple(p) for p in whole.positions[i, whole.real[i]].tolist()}
        assert {tuple(p) for p in less.positions[i, less.real[i]].tolist()} <= there


def test_a_single_visit_can_be_classified_but_not_pretrained_on(exp, monkeypatch):
    one, two = made((10.0, 0, 9.0, DETECTED)), made((10.0, 0, 9.0, DETECTED), (11.0, 1, 3.0, 0))
    both = replace(
        two, ids=np.array([1, 2]), label=np.array([0, 1]), start=np.array([0, 1, 3]),
        **{
            name: np.concatenate([getattr(c, name) for c in (one, two)])
            for name in ("time", "band", "flux", "error", "flags")
        },
    )
    monkeypatch.setattr(ELAsTiCC, "curves", lambda *_: [both, both, both])
    assert [len(part) for part in exp.data(0)] == [1, 2, 2]

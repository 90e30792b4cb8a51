"""ELAsTiCC: light curves, their tokens, the made-up sky and the experiment, against slow references."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import ROOT

from romae_book.experiments.elasticc import data as sky
from romae_book.experiments.elasticc.data import DETECTED, SATURATED, TRIGGER, LightCurves
from romae_book.experiments.elasticc.experiment import ELAsTiCC
from romae_book.lab import records
from romae_book.paper import claims
from romae_lite import rope
from romae_lite.model import count_parameters
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

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


def test_same_seed_same_sky():
    one, two, other = (sky.simulated(40, np.random.default_rng(s)) for s in (5, 5, 6))
    assert np.array_equal(one.flux, two.flux) and np.array_equal(one.label, two.label)
    assert len(other.flux) != len(one.flux) or not np.array_equal(one.flux, other.flux)


# The experiment -----------------------------------------------------------------------------------------------------


def test_paper_is_table_18():
    exp = ELAsTiCC.paper()
    first, second = exp.pretrain_recipe(1_462_000), exp.recipe(1_462_000)
    assert (first.batch, first.epochs, first.lr, first.clip, first.weight_decay) == (16_384, 200, 6.4e-3, 10, 0.05)
    assert (second.batch, second.epochs, second.lr, second.clip, second.weight_decay) == (4096, 25, 8e-4, 10, 0.05)
    assert first.betas == (0.9, 0.95) and second.betas == (0.9, 0.999)
    assert second.warmup == 2000 and first.warmup == 2000
    assert exp.mask_ratio == 0.75 and exp.dropout == exp.drop_path == 0.2 and exp.balanced and exp.cls
    assert count_parameters(exp.autoencoder(0)) == 5_482_262  # tiny with a tiny-shallow decoder, tokens of two numbers


def test_the_cells_of_table_4_are_settings():
    cells = [c for c in claims.CLAIMS if c.experiment == "elasticc" and not c.quoted]
    assert len(cells) == 4
    for cell in cells:
        exp = ELAsTiCC.paper().replace(**cell.where)
        assert exp.source == "real" and set(cell.where) <= exp.variants


def test_splits_are_independent_and_change_with_the_seed(exp, data):
    def seen(tokens):
        return set(map(tuple, tokens.values[:, :4, 0].tolist()))  # single numbers meet by chance, float32 has few

    parts = [seen(part) for part in data]
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert not parts[2] & seen(exp.data(1).test)


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
    from sklearn.metrics import accuracy_score, f1_score

    assert found["accuracy"] == pytest.approx(accuracy_score(label, predicted))
    kinds = np.union1d(label, predicted)
    assert found["f1_macro"] == pytest.approx(
        f1_score(label, predicted, average="macro", labels=kinds, zero_division=0)
    )
    each = f1_score(label, predicted, average=None, labels=np.unique(label), zero_division=0)
    assert [found[f"f1_{exp.names[k]}"] for k in np.unique(label)] == pytest.approx(each)


def test_padding_and_grouping_change_nothing(exp, data):
    """A light curve alone, without padding, and in a batch with longer ones."""
    model = exp.build(0)
    together = exp.logits(model, data.test)
    for i in range(0, len(data.test), 29):
        n = int(data.test.real[i].sum())
        alone = Tokens(values=data.test.values[i : i + 1, :n], positions=data.test.positions[i : i + 1, :n])
        torch.testing.assert_close(exp.logits(model, alone)[0], together[i], rtol=1e-4, atol=1e-5)  # float32


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


def test_real_data_that_is_not_here(monkeypatch, tmp_path):
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    with pytest.raises(sky.NotHere, match=r"data_scripts/elasticc\.py"):
        ELAsTiCC.paper().data(0)
    (tmp_path / sky.PREPARED).write_bytes(b"no HDF5")
    with pytest.raises(sky.DataError, match="not a prepared file"):
        ELAsTiCC.paper().data(0)


def test_float32_days_lose_little_and_float32_seconds_everything():
    """What the chapter shows, on one pair of tokens: angles in float32 at MJD 60000, in days and in seconds."""
    q, k = torch.randn(2, 1, 500, 1, 30, generator=seeded(0))
    start = torch.rand(500, generator=seeded(1), dtype=torch.float64)
    freqs = rope.frequencies(30)

    def scores(zero: float, unit: float, dtype) -> torch.Tensor:
        out = []
        for x, t in ((q, start + zero), (k, start + zero + 1.3)):
            phase = ((t * unit).to(dtype)[:, None] * freqs.to(dtype)).double()[None, :, None]
            out.append(rope.rotate(x, phase.cos().float(), phase.sin().float()))
        return (out[0] * out[1]).sum(-1).flatten()

    for unit, low, high in ((1.0, 0.0, 5e-3), (86_400.0, 0.3, 10.0)):
        exact = scores(0, unit, torch.float64)
        off = (scores(60_000, unit, torch.float32) - exact).square().mean().sqrt() / exact.std()
        assert low <= off < high
        assert (scores(60_000, unit, torch.float64) - exact).abs().max() < 1e-3


@pytest.mark.slow
def test_two_processes_train_as_one(exp, tmp_path):
    """`accelerate launch -m romae_lite run elasticc` with two processes, against one. Without masks and class weights,
    which differ between processes, the mean over two halves of a batch is the mean over the batch."""
    changes = TINY | {"n_train": 64, "pretrain_epochs": 0, "balanced": False}
    settings = [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0", "--multi_gpu",
        "-m", "romae_lite", "run", "elasticc", "--preset", "quick", "--seeds", "0", *settings,
    ]
    environment = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true",
                   "ROMAE_RESULTS": str(tmp_path), "ROMAE_CHECKPOINTS": str(tmp_path / "ck")}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    (path,) = tmp_path.glob("elasticc/*.json")
    record = records.load(path)
    same = exp.replace(**changes)
    _, history = same.train(same.data(0), 0, device="cpu")
    # float32 sums in another order, a few steps of Muon
    assert [e["loss"] for e in record.history] == pytest.approx([e["loss"] for e in history], rel=1e-3)

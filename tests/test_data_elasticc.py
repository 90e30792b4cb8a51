"""The ELAsTiCC script: against small SNANA files written here, damaged ones, and real ones where they are at hand."""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

from romae_lite.data import elasticc as sky
from romae_lite.data.elasticc import BANDS, CLASSES, DETECTED, TAXONOMY, TRIGGER
from romae_lite.experiments.elasticc import ELAsTiCC

fits = pytest.importorskip("astropy.io.fits")
h5py = pytest.importorskip("h5py")

MODELS = {"SNIa-SALT2": 12, "uLens-Binary": 7, "Cepheid": 6}


@pytest.fixture(scope="module")
def script(data_script):
    return data_script("elasticc")


def written(folder: Path, stem: str, ids, seed: int = 0, packed: bool = True, **changes) -> dict[int, np.ndarray]:
    """A pair of files as SNANA writes them: {id: rows of (MJD, band, PHOTFLAG, FLUXCAL, FLUXCALERR)}.

    Between light curves stands a row with MJD -777. changes: columns of the head, replaced."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    rows, low, high, truth = [], [], [], {}
    for number in ids:
        n = int(rng.integers(3, 12))
        time = 60_000 + np.sort(rng.uniform(0, 900, n))
        flags = np.where(rng.uniform(size=n) < 0.5, DETECTED, 0)
        flags[1] = DETECTED | TRIGGER
        band = rng.integers(0, 6, n)
        mine = list(zip(time, [BANDS[b] for b in band], flags, rng.normal(0, 50, n), rng.uniform(1, 5, n), strict=True))
        truth[int(number)] = mine
        low.append(len(rows) + 1)  # SNANA counts from 1
        rows += mine
        high.append(len(rows))
        rows.append((-777.0, "-", 0, -777.0, -777.0))
    columns = dict(SNID=[f"{n}" for n in ids], NOBS=np.array(high) - low + 1, PTROBS_MIN=low, PTROBS_MAX=high) | changes
    kinds = dict(SNID="16A", NOBS="J", PTROBS_MIN="J", PTROBS_MAX="J")
    head = fits.BinTableHDU.from_columns([fits.Column(k, kinds[k], array=v) for k, v in columns.items()])
    table = fits.BinTableHDU.from_columns(
        [fits.Column(name, kind, array=[row[i] for row in rows]) for i, (name, kind) in
         enumerate((("MJD", "D"), ("BAND", "2A"), ("PHOTFLAG", "J"), ("FLUXCAL", "E"), ("FLUXCALERR", "E")))]
    )  # fmt: skip
    end = ".FITS.gz" if packed else ".FITS"
    for part, hdu in (("HEAD", head), ("PHOT", table)):
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(folder / f"{stem}_{part}{end}")
    return truth


@pytest.fixture
def archive(tmp_path):
    """A little archive, laid out as the real one, and what is in it: {id: (class, rows)}."""
    source, truth = tmp_path / "archive", {}
    for k, (model, n) in enumerate(MODELS.items()):
        folder = source / f"ELASTICC_TRAIN_{model}"
        fixed = "FIX" if model == "Cepheid" else ""
        for part in range(2):
            ids = 1000 * k + 100 * part + np.arange(n)
            stem = f"ELASTICC_TRAIN{fixed}_NONIaMODEL0-000{part}"
            found = written(folder, stem, ids, seed=10 * k + part, packed=part == 0)
            prefix = "1000000" if model == "Cepheid" else ""
            truth |= {int(f"{prefix}{i}"): (TAXONOMY[model], rows) for i, rows in found.items()}
    # the files that were to be fixed repeat the ids of other models
    written(source / "ELASTICC_TRAIN_Cepheid", "ELASTICC_TRAIN_NONIaMODEL0-0000", np.arange(12))
    return source, truth


def run(script, source, out, *options) -> int:
    return script.main(["--source", str(source), "--out", str(out), *options])


def test_everything_arrives(script, archive, tmp_path, capsys):
    source, truth = archive
    assert run(script, source, tmp_path / "out") == 0
    curves, splits = sky.load(tmp_path / "out" / sky.PREPARED)
    assert curves.names == CLASSES and set(curves.ids.tolist()) == set(truth)
    for i, number in enumerate(curves.ids.tolist()):
        kind, rows = truth[number]
        assert CLASSES[curves.label[i]] == kind
        part = slice(curves.start[i], curves.start[i + 1])
        time, band, flags, flux, error = zip(*rows, strict=True)
        np.testing.assert_array_equal(curves.time[part], time)
        assert "".join(BANDS[b] for b in curves.band[part]) == "".join(band)
        np.testing.assert_array_equal(curves.flags[part], flags)
        np.testing.assert_array_equal(curves.flux[part], np.float32(flux))
        np.testing.assert_array_equal(curves.error[part], np.float32(error))
        assert curves.first_detection()[i] == time[1]
    assert f"{len(truth)} light curves" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == [sky.PREPARED]


def test_splits_are_of_atats_shape(script):
    label = np.repeat(np.arange(3), (12_000, 3000, 40))
    splits = script.drawn(label)
    test = splits["test"]
    assert np.bincount(label[test]).tolist() == [1000, 600, 8]  # 1000, or a fifth of fewer than 5000
    rest = np.setdiff1d(np.arange(len(label)), test)
    for i in range(5):
        train, valid = splits[f"training_{i}"], splits[f"validation_{i}"]
        assert np.array_equal(np.sort(np.concatenate((train, valid))), rest)
        share = np.bincount(label[valid]) / np.bincount(label[rest])
        np.testing.assert_allclose(share, 0.2, atol=0.02)  # 32 of the smallest class do not divide by five
    assert len(np.unique(np.concatenate([splits[f"validation_{i}"] for i in range(5)]))) == len(rest)
    assert np.array_equal(script.drawn(label)["test"], test)


def test_given_partition_is_used(script, archive, tmp_path, capsys):
    source, truth = archive
    ids = sorted(truth)
    file = tmp_path / "partitions.csv"
    lines = [
        f"{n},{'test' if i % 5 == 0 else 'training_0' if i % 5 < 4 else 'validation_0'}" for i, n in enumerate(ids)
    ]
    file.write_text("\n".join(["SNID,partition", *lines]) + "\n")
    assert run(script, source, tmp_path / "out", "--partition", str(file)) == 0
    curves, splits = sky.load(tmp_path / "out" / sky.PREPARED)
    assert sorted(curves.ids[splits["test"]].tolist()) == ids[::5]
    assert len(splits["training_0"]) == sum(i % 5 in (1, 2, 3) for i in range(len(ids)))
    file.write_text(file.read_text() + "999,test\n")
    assert run(script, source, tmp_path / "other", "--partition", str(file)) == 1
    assert "object 999" in capsys.readouterr().err and not (tmp_path / "other" / sky.PREPARED).exists()
    assert run(script, source, tmp_path / "other", "--partition", str(file), "--skip-bad") == 0


def test_the_experiment_reads_it(script, archive, tmp_path):
    source, _ = archive
    assert run(script, source, tmp_path / "out") == 0
    exp = ELAsTiCC.paper().replace(encoder="16x2x1x32", decoder="16x2x1x32", epochs=1, pretrain_epochs=1, batch=8,
                                   pretrain_batch=8)  # fmt: skip
    data = exp.data(0, tmp_path / "out" / sky.PREPARED)
    assert exp.classes == 20 and len(data.valid) >= 1
    model, _ = exp.train(data, 0)
    assert set(exp.evaluate(model, data.test)) >= {"f1_macro", "accuracy"}
    curves, splits = sky.load(tmp_path / "out" / sky.PREPARED)
    for fold in (0, 3):
        parts = exp.replace(fold=fold).curves(0, tmp_path / "out" / sky.PREPARED)
        wanted = splits[f"training_{fold}"], splits[f"validation_{fold}"][::64], splits["test"]
        assert [part.ids.tolist() for part in parts] == [curves.ids[rows].tolist() for rows in wanted]
        train, valid, test = (set(part.ids.tolist()) for part in parts)
        assert not (train & valid or train & test or valid & test)
    alert = exp.replace(alert_mask=True).tokens(curves)
    assert alert.real.sum() < sum(part.real.sum() for part in data)


def test_second_run_does_nothing(script, archive, tmp_path, capsys):
    source, _ = archive
    out = tmp_path / "out"
    assert run(script, source, out) == 0
    before = (out / sky.PREPARED).stat()
    assert run(script, source, out) == 0
    after = (out / sky.PREPARED).stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert "nothing to do" in capsys.readouterr().out
    assert script.main(["--out", str(out)]) == 0  # without a source, what is there stays
    shutil.rmtree(source / "ELASTICC_TRAIN_uLens-Binary")
    assert run(script, source, out) == 0  # other files: prepared again
    assert (out / sky.PREPARED).stat().st_ino != after.st_ino


def test_a_tar_is_unpacked_and_a_cut_one_named(script, archive, tmp_path, capsys):
    source, truth = archive
    whole = tmp_path / "whole.tar"
    with tarfile.open(whole, "w") as packed:
        for path in sorted(source.iterdir()):
            packed.add(path, path.name)
    assert run(script, whole, tmp_path / "out") == 0
    assert len(sky.load(tmp_path / "out" / sky.PREPARED)[0]) == len(truth)
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 3])
    assert run(script, cut, tmp_path / "never") == 1
    assert "cut.tar" in capsys.readouterr().err and not (tmp_path / "never" / sky.PREPARED).exists()


def test_damaged_files_are_named_and_can_be_skipped(script, archive, tmp_path, capsys):
    source, truth = archive
    folder = source / "ELASTICC_TRAIN_SNIa-SALT2"
    packed = folder / "ELASTICC_TRAIN_NONIaMODEL0-0000_PHOT.FITS.gz"
    plain = folder / "ELASTICC_TRAIN_NONIaMODEL0-0001_PHOT.FITS"
    damages = {
        packed: lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        plain: lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        folder / "ELASTICC_TRAIN_NONIaMODEL0-0000_HEAD.FITS.gz": lambda p: p.write_bytes(
            gzip.compress(b"no FITS" * 500)
        ),
        folder / "ELASTICC_TRAIN_NONIaMODEL0-0001_HEAD.FITS": lambda p: p.write_bytes(b""),
    }
    for i, (path, damage) in enumerate(damages.items()):
        copy = path.read_bytes()
        damage(path)
        out = tmp_path / f"out{i}"
        assert run(script, source, out) == 1
        assert path.name in capsys.readouterr().err
        assert not out.exists() or not any(out.iterdir()), "something half-written is left"
        assert run(script, source, out, "--skip-bad") == 0
        assert path.name in capsys.readouterr().err
        curves, _ = sky.load(out / sky.PREPARED)
        assert len(curves) == len(truth) - MODELS["SNIa-SALT2"]
        path.write_bytes(copy)
    packed.unlink()
    assert run(script, source, tmp_path / "gone") == 1
    assert "is missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"PTROBS_MAX": [10_000, 10_001]}, "points to rows"),
        ({"PTROBS_MIN": [0, 1]}, "points to rows"),
        ({"NOBS": [2, 3]}, "NOBS is"),
        ({"SNID": ["5", "five"]}, "SNID is 'five'"),
    ],
)
def test_garbled_heads_name_the_object(script, tmp_path, capsys, changes, message):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_TDE"
    written(folder, "T_NONIaMODEL0-0001", [5, 6], packed=False, **changes)
    assert run(script, tmp_path / "a", tmp_path / "out") == 1
    said = capsys.readouterr().err
    assert message in said and "object" in said and "T_NONIaMODEL0-0001_PHOT.FITS" in said


def test_bad_values_name_the_object(script, tmp_path, capsys):
    for i, (column, value, message) in enumerate(
        (("FLUXCAL", np.nan, "not finite"), ("FLUXCALERR", 0.0, "not positive"), ("BAND", "K", "band is 'K'"))
    ):
        folder = tmp_path / str(i) / "ELASTICC_TRAIN_TDE"
        written(folder, "T_NONIaMODEL0-0001", [51, 52], packed=False)
        path = folder / "T_NONIaMODEL0-0001_PHOT.FITS"
        with fits.open(path, mode="update", memmap=False) as file:
            file[1].data[column][1] = value
        assert run(script, folder.parent, tmp_path / "out") == 1
        said = capsys.readouterr().err
        assert message in said and "object 51" in said
        assert run(script, folder.parent, tmp_path / f"out{i}", "--skip-bad") == 0
        assert sky.load(tmp_path / f"out{i}" / sky.PREPARED)[0].ids.tolist() == [52]


def test_missing_columns_unknown_models_and_ids_twice(script, tmp_path, capsys):
    odd = tmp_path / "odd" / "ELASTICC_TRAIN_Unicorn"
    written(odd, "U_NONIaMODEL0-0001", [1])
    assert run(script, odd.parent, tmp_path / "out") == 1
    assert "'Unicorn' is no model" in capsys.readouterr().err
    assert run(script, odd.parent, tmp_path / "out", "--model", "TDE") == 0
    twice = tmp_path / "twice" / "ELASTICC_TRAIN_TDE"
    written(twice, "A_NONIaMODEL0-0001", [1, 2])
    written(twice, "B_NONIaMODEL0-0001", [2, 3])
    assert run(script, twice.parent, tmp_path / "never") == 1
    assert "object 2 is there twice" in capsys.readouterr().err
    lacking = tmp_path / "lacking" / "ELASTICC_TRAIN_TDE"
    written(lacking, "A_NONIaMODEL0-0001", [1], packed=False)
    path = lacking / "A_NONIaMODEL0-0001_PHOT.FITS"
    table = fits.BinTableHDU.from_columns([fits.Column("MJD", "D", array=[60_000.0])])
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(path, overwrite=True)
    assert run(script, lacking.parent, tmp_path / "never") == 1
    assert "lacks the columns BAND, FLUXCAL" in capsys.readouterr().err
    assert run(script, tmp_path / "nowhere", tmp_path / "never") == 1


def test_real_snana_files(script, tmp_path):
    """200 supernovae of another LSST simulation: 1250 ideal visits each, the first ones before anything happens."""
    root = Path(os.environ.get("ROMAE_DATA") or "nowhere")
    source = next((p for p in root.rglob("snana_MLAG_HOSTLIB_ALLCLASS")), None) if root.is_dir() else None
    if source is None:
        pytest.skip("no SNANA files under ROMAE_DATA")
    assert run(script, source, tmp_path / "out", "--model", "SNIa-SALT2") == 0
    curves, _ = sky.load(tmp_path / "out" / sky.PREPARED)
    assert len(curves) == 200 and {CLASSES[k] for k in curves.label} == {"Ia"}
    (photometry,) = source.glob("*_PHOT.FITS.gz")
    with fits.open(photometry, memmap=False) as file:
        rows = file[1].data
        good = rows["MJD"] > 0
        assert len(curves.time) == good.sum()  # all but the separators
        assert float(curves.flux.sum(dtype=np.float64)) == pytest.approx(
            float(rows["FLUXCAL"][good].sum(dtype=np.float64))
        )
        assert ((curves.flags & TRIGGER) > 0).sum() == 200
    assert np.bincount(curves.band).min() == np.bincount(curves.band).max()

"""The ELAsTiCC script: against small SNANA files written here, damaged ones, and real ones where they are at hand."""

import gzip
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
from prepared import refused

from romae_book.experiments.elasticc import data as sky
from romae_book.experiments.elasticc.data import BANDS, CLASSES, DETECTED, TAXONOMY, TRIGGER
from romae_book.experiments.elasticc.experiment import ELAsTiCC


@pytest.fixture(scope="module", autouse=True)
def readers():
    """When a test asks, not when tests are collected: importing them takes every worker half a second."""
    global fits, h5py
    fits, h5py = pytest.importorskip("astropy.io.fits"), pytest.importorskip("h5py")


MODELS = {"SNIa-SALT2": 12, "uLens-Binary": 7, "Cepheid": 6}


@pytest.fixture(scope="module")
def script(data_script):
    return data_script("elasticc")


def written(
    folder: Path, stem: str, ids, seed: int = 0, packed: bool = True, ends: bool = True, mjd: str = "D", **changes
) -> dict[int, np.ndarray]:
    """A pair of files as SNANA writes them: {id: rows of (MJD, band, PHOTFLAG, FLUXCAL, FLUXCALERR)}.

    After each light curve stands a row with MJD -777, unless not `ends`. mjd: the FITS format of that column. changes:
    columns of the head, replaced."""
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
        if ends:
            rows.append((-777.0, "-", 0, -777.0, -777.0))
    columns = dict(SNID=[f"{n}" for n in ids], NOBS=np.array(high) - low + 1, PTROBS_MIN=low, PTROBS_MAX=high) | changes
    kinds = dict(SNID="16A", NOBS="J", PTROBS_MIN="J", PTROBS_MAX="J")
    head = fits.BinTableHDU.from_columns([fits.Column(k, kinds[k], array=v) for k, v in columns.items()])
    table = fits.BinTableHDU.from_columns(
        [fits.Column(name, kind, array=[row[i] for row in rows]) for i, (name, kind) in
         enumerate((("MJD", mjd), ("BAND", "2A"), ("PHOTFLAG", "J"), ("FLUXCAL", "E"), ("FLUXCALERR", "E")))]
    )
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


def partition(ids) -> list[tuple[int, str]]:
    """A split of ATAT's shape: every sixth object for the test, the others in five folds."""
    rows = []
    for i, number in enumerate(ids):
        rows += [(number, f"{'validation' if i % 5 == k else 'training'}_{k}") for k in range(5)] if i % 6 else []
    return [(number, "test") for number in ids[::6]] + rows


def as_csv(rows) -> str:
    return "\n".join(["SNID,partition", *(f"{number},{name}" for number, name in rows)]) + "\n"


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
    said = capsys.readouterr().out
    assert f"{len(truth)} light curves" in said and "partition: drawn" in said
    with h5py.File(tmp_path / "out" / sky.PREPARED) as file:
        assert file.attrs["partition"] == "drawn"
    with pytest.raises(sky.DataError, match="was drawn, not given; set partition=drawn"):
        ELAsTiCC.paper().curves(0, tmp_path / "out" / sky.PREPARED)
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
    rows, file = partition(sorted(truth)), tmp_path / "partitions.csv"
    file.write_text(as_csv(rows))
    assert run(script, source, tmp_path / "out", "--partition", str(file)) == 0
    assert "partition: given" in capsys.readouterr().out
    with h5py.File(tmp_path / "out" / sky.PREPARED) as result:
        assert result.attrs["partition"] == "given"
    curves, splits = sky.load(tmp_path / "out" / sky.PREPARED)
    assert {(number, name) for name in splits for number in curves.ids[splits[name]].tolist()} == set(rows)
    file.write_text(as_csv([*rows, (999, "test")]))
    assert "object 999" in refused(script, source, tmp_path / "other", capsys, "--partition", str(file))
    assert run(script, source, tmp_path / "other", "--partition", str(file), "--skip-bad") == 0
    file.write_text(as_csv([(number + 50, name) if name == "test" else (number, name) for number, name in rows]))
    assert run(script, source, tmp_path / "never", "--partition", str(file), "--skip-bad") == 1
    assert "no object of test is among the light curves" in capsys.readouterr().err


GOOD = partition(range(30))  # 0 and 6 are for the test, 1 and 2 are not


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (as_csv([*GOOD, ("abc", "test")]), "SNID is 'abc'"),
        (as_csv([*GOOD, ("0.0", "test")]), "SNID is '0.0'"),
        (as_csv([*GOOD, (2**63, "test")]), f"SNID is '{2**63}'"),
        (as_csv(GOOD) + "31\n", "partition is None"),
        (as_csv(GOOD) + "31,test,1\n", f"row {len(GOOD) + 2} has more cells than there are columns"),
        (as_csv(GOOD).encode() + "31,tést\n".encode("latin-1"), "no table"),
        (as_csv([*GOOD, (1, "test")]), "object 1 is in test and training_0"),
        (as_csv([*GOOD, (6, "validation_3")]), "object 6 is in test and validation_3"),
        (as_csv([*GOOD, (6, "test")]), "object 6 is twice in test"),
        (as_csv([*GOOD, (1, "validation_2")]), "object 1 is in training_2 and validation_2"),
        (as_csv(row for row in GOOD if row[1] != "test"), "no object is in test"),
        (as_csv(row for row in GOOD if row[1] != "training_4"), "no object is in training_4"),
        ("", "lacks the columns SNID, partition"),
    ],
)
def test_bad_partitions_are_refused_before_the_archive_is_read(script, tmp_path, capsys, content, message):
    file = tmp_path / "partitions.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = refused(script, tmp_path / "nowhere", tmp_path / "out", capsys, "--partition", str(file))
    assert message in said and str(file) in said and "nowhere" not in said


def test_partition_as_parquet(script, tmp_path, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file, same = tmp_path / "partitions.parquet", tmp_path / "partitions.csv"
    same.write_text(as_csv(GOOD))
    wanted = script.given(same)
    for kind in (int, str):  # ATAT's ids are text
        columns = {"SNID": [kind(number) for number, _ in GOOD], "partition": [name for _, name in GOOD]}
        parquet.write_table(pyarrow.table(columns), file)
        found = script.given(file)
        assert {name: ids.tolist() for name, ids in found.items()} == {n: ids.tolist() for n, ids in wanted.items()}
    for junk in (b"PAR1 and nothing more PAR1", file.read_bytes()[:-9]):
        file.write_bytes(junk)
        assert run(script, tmp_path / "nowhere", tmp_path / "out", "--partition", str(file)) == 1
        assert f"{file} is damaged or no table" in capsys.readouterr().err


def test_the_experiment_reads_it(script, archive, tmp_path):
    source, _ = archive
    assert run(script, source, tmp_path / "out") == 0
    exp = ELAsTiCC.paper().replace(encoder="16x2x1x32", decoder="16x2x1x32", epochs=1, pretrain_epochs=1, batch=8,
                                   pretrain_batch=8, partition="drawn")
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


def test_a_damaged_result_does_not_count_as_finished(script, archive, tmp_path, capsys):
    source, truth = archive
    out = tmp_path / "out"
    assert run(script, source, out) == 0
    (out / sky.PREPARED).write_bytes(b"junk" * 1000)
    assert script.main(["--out", str(out)]) == 1
    assert "is not a prepared file; --source FOLDER" in capsys.readouterr().err
    assert run(script, source, out) == 0
    assert len(sky.load(out / sky.PREPARED)[0]) == len(truth)


def test_a_tar_is_unpacked(script, archive, tmp_path):
    source, truth = archive
    whole = tmp_path / "whole.tar"
    with tarfile.open(whole, "w") as packed:
        for path in sorted(source.iterdir()):
            packed.add(path, path.name)
    assert run(script, whole, tmp_path / "out") == 0
    assert len(sky.load(tmp_path / "out" / sky.PREPARED)[0]) == len(truth)


def test_archives_do_not_mix(script, tmp_path):
    def packed(name: str, ids) -> Path:
        folder = tmp_path / "packing" / "ELASTICC_TRAIN_TDE"
        shutil.rmtree(folder, ignore_errors=True)
        written(folder, "T_NONIaMODEL0-0001", ids, packed=False)
        with tarfile.open(tmp_path / name, "w") as archive:
            archive.add(folder, folder.name)
        return tmp_path / name

    def ids(source: Path, *options) -> list[int]:
        assert run(script, source, tmp_path / "out", *options) == 0
        return sky.load(tmp_path / "out" / sky.PREPARED)[0].ids.tolist()

    assert ids(packed("a.tar", [1, 2])) == [1, 2]
    assert ids(packed("b.tar", [3, 4])) == [3, 4]
    again = packed("a.tar", range(100, 300))  # the same name
    assert ids(again) == list(range(100, 300))
    stray = next((tmp_path / "out").rglob("a/**/*_HEAD.FITS")).with_name("stray")
    stray.touch()
    assert ids(again) == list(range(100, 300)) and stray.exists()  # unpacked once
    assert ids(again, "--force") == list(range(100, 300)) and not stray.exists()


def test_a_flipped_bit_in_a_packed_file(script, tmp_path):
    written(tmp_path, "T_NONIaMODEL0-0001", range(50))
    path = tmp_path / "T_NONIaMODEL0-0001_PHOT.FITS.gz"
    whole = path.read_bytes()
    for place in np.linspace(len(whole) // 2, len(whole) - 1, 30).astype(int):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(sky.DataError, match=path.name):
            script.table(path, ("MJD", "FLUXCAL"))


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
        assert path.name in refused(script, source, out, capsys)
        assert run(script, source, out, "--skip-bad") == 0
        assert path.name in capsys.readouterr().err
        curves, _ = sky.load(out / sky.PREPARED)
        assert len(curves) == len(truth) - MODELS["SNIa-SALT2"]
        path.write_bytes(copy)
    packed.unlink()
    assert "is missing" in refused(script, source, tmp_path / "gone", capsys)


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
    said = refused(script, tmp_path / "a", tmp_path / "out", capsys)
    assert message in said and "object" in said and "T_NONIaMODEL0-0001_PHOT.FITS" in said


@pytest.mark.parametrize(
    ("place", "first", "last", "message", "left"),
    [
        (1, 0, -1, "after its last, is not one with MJD -777", [51, 53]),
        (2, 0, -1, "after its last, is not one with MJD -777", [51, 52]),
        (1, 1, 0, "before its first, is not one with MJD -777", [51, 53]),
        (0, 1, 0, "before its first, is not one with MJD -777", [52, 53]),
        (1, 1, 1, "before its first, is not one with MJD -777", [51, 53]),
    ],
)
def test_pointers_that_miss_the_end_of_a_light_curve(script, tmp_path, capsys, place, first, last, message, left):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_TDE"
    written(folder, "T_NONIaMODEL0-0001", [51, 52, 53], packed=False)
    with fits.open(folder / "T_NONIaMODEL0-0001_HEAD.FITS", mode="update", memmap=False) as file:
        file[1].data["PTROBS_MIN"][place] += first
        file[1].data["PTROBS_MAX"][place] += last
        file[1].data["NOBS"][place] += last - first
    said = refused(script, folder.parent, tmp_path / "out", capsys)
    assert message in said and f"object {51 + place}" in said and "T_NONIaMODEL0-0001_PHOT.FITS" in said
    assert run(script, folder.parent, tmp_path / "out", "--skip-bad") == 0
    assert sky.load(tmp_path / "out" / sky.PREPARED)[0].ids.tolist() == left


def test_a_table_cut_off_after_a_light_curve(script, tmp_path, capsys):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_TDE"
    rows = sum(len(part) for part in written(folder, "T_NONIaMODEL0-0001", [51, 52], packed=False).values())
    with fits.open(folder / "T_NONIaMODEL0-0001_PHOT.FITS", mode="update", memmap=False) as file:
        file[1].data = file[1].data[:-1]
    assert f"object 52: row {rows + 2}, after its last" in refused(script, folder.parent, tmp_path / "out", capsys)


@pytest.mark.parametrize("ends", [True, False])
def test_two_objects_that_share_rows(script, tmp_path, capsys, ends):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_TDE"
    truth = written(folder, "T_NONIaMODEL0-0001", [51, 52, 53], packed=False, ends=ends)
    assert run(script, folder.parent, tmp_path / "out") == 0  # with the rows with MJD -777 and without
    curves, _ = sky.load(tmp_path / "out" / sky.PREPARED)
    assert curves.time.tolist() == [row[0] for rows in truth.values() for row in rows]
    with fits.open(folder / "T_NONIaMODEL0-0001_HEAD.FITS", mode="update", memmap=False) as file:
        for name in ("PTROBS_MIN", "PTROBS_MAX", "NOBS"):
            file[1].data[name][1] = file[1].data[name][0]
    said = refused(script, folder.parent, tmp_path / "out", capsys, "--force")
    assert "object 51" in said and f"rows 1 to {len(truth[51])}, and so does another object" in said
    assert run(script, folder.parent, tmp_path / "out", "--force", "--skip-bad") == 0  # nobody knows whose they are
    assert sky.load(tmp_path / "out" / sky.PREPARED)[0].ids.tolist() == [53]


def test_times_in_float32_are_refused(script, tmp_path, capsys):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_TDE"
    written(folder, "A_NONIaMODEL0-0001", [51], mjd="E")
    written(folder, "B_NONIaMODEL0-0001", [52])
    assert run(script, folder.parent, tmp_path / "out") == 1
    assert "A_NONIaMODEL0-0001_PHOT.FITS.gz: MJD is float32; expected float64" in capsys.readouterr().err
    assert run(script, folder.parent, tmp_path / "out", "--skip-bad") == 0
    assert sky.load(tmp_path / "out" / sky.PREPARED)[0].ids.tolist() == [52]


def test_ids_too_long_for_the_result_are_refused(script, tmp_path, capsys):
    folder = tmp_path / "a" / "ELASTICC_TRAIN_Cepheid"
    written(folder, "C_NONIaMODEL0-0001", [9 * 10**15, 52])  # 1000000 goes before them
    said = refused(script, folder.parent, tmp_path / "out", capsys)
    assert f"object {9 * 10**15}: SNID is '1000000{9 * 10**15}'" in said and "below 2**63" in said
    assert run(script, folder.parent, tmp_path / "out", "--skip-bad") == 0
    assert sky.load(tmp_path / "out" / sky.PREPARED)[0].ids.tolist() == [100000052]


def test_bad_values_name_the_object(script, tmp_path, capsys):
    for i, (column, value, message) in enumerate(
        (("FLUXCAL", np.nan, "not finite"), ("FLUXCALERR", 0.0, "not positive"), ("BAND", "K", "band is 'K'"))
    ):
        folder = tmp_path / str(i) / "ELASTICC_TRAIN_TDE"
        written(folder, "T_NONIaMODEL0-0001", [51, 52], packed=False)
        path = folder / "T_NONIaMODEL0-0001_PHOT.FITS"
        with fits.open(path, mode="update", memmap=False) as file:
            file[1].data[column][1] = value
        said = refused(script, folder.parent, tmp_path / "out", capsys)
        assert message in said and "object 51" in said
        assert run(script, folder.parent, tmp_path / f"out{i}", "--skip-bad") == 0
        assert sky.load(tmp_path / f"out{i}" / sky.PREPARED)[0].ids.tolist() == [52]


def test_missing_columns_unknown_models_and_ids_twice(script, tmp_path, capsys):
    odd = tmp_path / "odd" / "ELASTICC_TRAIN_Unicorn"
    written(odd, "U_NONIaMODEL0-0001", [1])
    assert "'Unicorn' is no model" in refused(script, odd.parent, tmp_path / "out", capsys)
    assert run(script, odd.parent, tmp_path / "out", "--model", "TDE") == 0
    twice = tmp_path / "twice" / "ELASTICC_TRAIN_TDE"
    written(twice, "A_NONIaMODEL0-0001", [1, 2])
    written(twice, "B_NONIaMODEL0-0001", [2, 3])
    assert "object 2 is there twice" in refused(script, twice.parent, tmp_path / "never", capsys)
    lacking = tmp_path / "lacking" / "ELASTICC_TRAIN_TDE"
    written(lacking, "A_NONIaMODEL0-0001", [1], packed=False)
    path = lacking / "A_NONIaMODEL0-0001_PHOT.FITS"
    table = fits.BinTableHDU.from_columns([fits.Column("MJD", "D", array=[60_000.0])])
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(path, overwrite=True)
    assert "lacks the columns BAND, FLUXCAL" in refused(script, lacking.parent, tmp_path / "never", capsys)
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

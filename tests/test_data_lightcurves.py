"""Light curves of surveys: small sources in the form of the real ones, read against loops; and what is damaged."""

import csv
import gzip
import io
import json
import tarfile

import numpy as np
import pytest

from benchmarks import features
from romae_book.experiments.data import DataError, NotHere
from romae_book.experiments.lightcurves import data

RNG = np.random.default_rng(0)


def objects(n: int, bands: int, most: int = 9) -> list[dict]:
    """Made-up objects, points in no order."""
    return [
        dict(time=RNG.uniform(50_000, 50_100, m), value=RNG.normal(size=m), error=RNG.uniform(0.1, 1, m),
             band=RNG.integers(0, bands, m))
        for m in RNG.integers(3, most, n)
    ]


def eros(folder, made):
    for part, name in enumerate(("train", "test")):
        mine = made[part::2]
        with open(folder / f"{name}.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["Unnamed: 0", "period", "div_period", "quality", "type"])
            out.writerows(reversed([[f"{part}_{i}", 3.5, 2, i % 4, f"{1 + i % 4}.0"] for i in range(len(mine))]))
        with gzip.open(folder / f"{name}_varlength_features.csv.gz", "wt", newline="") as file:
            out = csv.writer(file)
            out.writerow(["", *(f"{what}_points_{band}" for what in ("time", "light", "error") for band in "br")])
            for i, one in enumerate(mine):
                names = ("time", "value", "error")
                cells = [json.dumps(one[name][one["band"] == b].tolist()) for name in names for b in (0, 1)]
                out.writerow([f"{part}_{i}", *cells])
    return [dict(one, label=i % 4, part=part) for part in (0, 1) for i, one in enumerate(made[part::2])]


def spcc(folder, made):
    names = ["Ia", "IIn", "Ibc", "II"]
    with tarfile.open(folder / "SIMGEN_PUBLIC_DES.tar.gz", "w:gz") as archive:
        for i, one in enumerate(made):
            lines = ["SURVEY: DES", f"SNTYPE: {-9 if i % 2 else 1}",
                     f"SIM_COMMENT:  SN Type = {names[i % 4]} , MODEL = X", "VARLIST: MJD FLT FIELD FLUXCAL FLUXCALERR"]
            lines += [f"OBS: {t!r} {'griz'[b]} NULL {v!r} {e!r} 1.0" for t, v, e, b in
                      zip(*(one[k].tolist() for k in ("time", "value", "error", "band")), strict=True)]
            content = "\n".join([*lines, "END:"]).encode()
            info = tarfile.TarInfo(f"SIMGEN_PUBLIC_DES/DES_SN{i:06}.DAT")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return [dict(one, label=[1, 0, 2, 0][i % 4], part=i % 2) for i, one in enumerate(made)]


def mallorn(folder, made):
    kinds = ["AGN", "TDE", "SN Ia", "SLSN-I"]
    with open(folder / "train_log.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["object_id", "SpecType", "split"])
        out.writerows([f"x{i}", kinds[i % 4], f"split_0{1 + i % 2}"] for i in range(len(made)))
    for split in (1, 2):
        (folder / f"split_0{split}").mkdir()
        with open(folder / f"split_0{split}" / "train_full_lightcurves.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["object_id", "Time (MJD)", "Flux", "Flux_err", "Filter"])
            for i, one in enumerate(made):
                if i % 2 == split - 1:
                    flat = (one[k].tolist() for k in ("time", "value", "error", "band"))
                    out.writerows([f"x{i}", t, v, e, "ugrizy"[b]] for t, v, e, b in zip(*flat, strict=True))
                    out.writerow([f"x{i}", 50_050.0, "", 0.1, "u"])  # without a flux: left out
    return [dict(one, label=[0, 3, 1, 4][i % 4], part=1 + i % 2) for i, one in enumerate(made)]


def asas(folder, made):
    with open(folder / "classes.csv", "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["filename", "class"])
        out.writerows([f"{1000 + i}", ["Mira", "LSP"][i % 2]] for i in range(len(made)))
    with tarfile.open(folder / "asas_training_set.tar.gz", "w:gz") as archive:
        for i, one in enumerate(made):
            rows = zip(*(one[k].tolist() for k in ("time", "value", "error")), strict=True)
            content = "\n".join(",".join(map(repr, row)) for row in rows).encode()
            info = tarfile.TarInfo(f"asas_training_set/{1000 + i}.dat")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return [dict(one, label=1 - i % 2, band=np.zeros(len(one["time"]), int)) for i, one in enumerate(made)]


WRITERS = {"eros1": (eros, 2), "spcc": (spcc, 4), "mallorn": (mallorn, 6), "asas": (asas, 1)}


def sources(folder, name):
    write, bands = WRITERS[name]
    folder.mkdir(parents=True)
    return write(folder, objects(8, bands))


@pytest.mark.parametrize("name", WRITERS)
def test_every_point_is_where_it_belongs(tmp_path, name):
    """Against the objects themselves, whatever the order of the file is: matched by their values."""
    truth = sources(tmp_path / "s", name)
    found = data.survey(name).read(tmp_path / "s")
    found.verify()
    assert len(found) == len(truth) and len(found.time) == sum(len(one["time"]) for one in truth)
    by_value = {frozenset(np.float32(one["value"]).tolist()): one for one in truth}
    for i in range(len(found)):
        part = found.points(i)
        one = by_value.pop(frozenset(found.value[part].tolist()))
        moved = 1.0 if name == "mallorn" else 1e-9  # whose times are jittered by up to a day
        order = [list(np.float32(one["value"])).index(v) for v in found.value[part]]
        assert np.abs(found.time[part] - one["time"][order]).max() <= moved and (np.diff(found.time[part]) >= 0).all()
        np.testing.assert_allclose(found.error[part], one["error"][order], rtol=1e-6)
        assert (found.band[part] == one["band"][order]).all()
        assert (found.label[i], found.part[i]) == (one["label"], one.get("part", 0))
    assert not by_value


def test_points_without_a_value_or_an_error_are_left_out():
    one = dict(time=[3.0, 1, 2, 4], value=[1, np.nan, 2, 3], error=[1, 1, 0, 2], band=np.array([0, 0, 0, 1]), label=0)
    found = data.gathered([one, one | {"value": [np.nan] * 4}], ("a", "b"), ("x",))
    assert len(found) == 1 and found.time.tolist() == [3, 4] and found.band.tolist() == [0, 1]
    with pytest.raises(DataError, match="no object"):
        data.gathered([one | {"error": [0] * 4}], ("a", "b"), ("x",))


def test_rows_are_the_objects_asked_for(tmp_path):
    sources(tmp_path / "s", "spcc")
    found = data.survey("spcc").read(tmp_path / "s")
    some = found.rows(np.array([5, 2]))
    some.verify()
    for new, old in ((0, 5), (1, 2)):
        for name in ("time", "value", "error", "band"):
            assert (getattr(some, name)[some.points(new)] == getattr(found, name)[found.points(old)]).all()
        assert some.label[new] == found.label[old]


@pytest.mark.parametrize("name", WRITERS)
def test_the_script_prepares_a_file_that_load_reads(tmp_path, monkeypatch, capsys, data_script, name):
    script = data_script("lightcurves")
    sources(tmp_path / "s" / data.survey(name).folder, name)
    words = [name, "--source", str(tmp_path / "s"), "--out", str(tmp_path / "lightcurves")]
    assert script.main(words) == 0 and "differs from the copy of our records" in capsys.readouterr().out
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    again = data.load(name)
    assert again.fingerprint() == data.survey(name).read(tmp_path / "s" / data.survey(name).folder).fingerprint()
    assert script.main(words) == 0 and "nothing to do" in capsys.readouterr().out
    path = tmp_path / "lightcurves" / f"{name}.npz"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match=f"{name}.npz"):
        data.load(name)


def test_what_is_missing_is_named(tmp_path, monkeypatch, capsys, data_script):
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    with pytest.raises(NotHere, match=r"data_scripts/lightcurves.py spcc"):
        data.load("spcc")
    with pytest.raises(ValueError, match="choose one of eros1"):
        data.load("ogle")
    assert data_script("lightcurves").main(["mallorn", "--out", str(tmp_path)]) == 1
    assert "account" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["eros1", "asas"])
def test_a_curve_without_a_class_is_refused(tmp_path, name):
    sources(tmp_path / "s", name)
    table = tmp_path / "s" / ("train.csv" if name == "eros1" else "classes.csv")
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(DataError, match="has a light curve and no class"):
        data.survey(name).read(tmp_path / "s")


def test_the_stars_that_come_with_the_book():
    found = data.load("rr_lyrae")
    found.verify()
    assert found.fingerprint() == data.SURVEYS["rr_lyrae"].fingerprint
    assert len(found) == 20 and np.bincount(found.label).tolist() == [12, 8]
    assert (0.2 < found.period).all() and (found.period < 0.9).all()
    # folded by its period a star repeats itself: neighbours in phase differ less than neighbours in time
    for i in range(20):
        mine = found.band[found.points(i)] == 2
        time, value = found.time[found.points(i)][mine], found.value[found.points(i)][mine]
        rough = lambda order, value=value: np.abs(np.diff(value[order])).mean()  # noqa: E731
        assert rough(np.argsort(time / found.period[i] % 1)) < 0.7 * rough(np.argsort(time))


def test_a_period_is_right_where_it_stays_in_step(tmp_path):
    """Over ninety days a fifth of a turn is 0.78 per cent of 3.5 / 2 days, and other stars are refused."""
    made = objects(16, 2)
    for one in made:
        one["time"] = np.sort(one["time"])
        one["time"][[0, -1]] = 50_000, 50_090
    eros(tmp_path, made)
    curves, rows = data.read_eros(tmp_path), [star for _, star, _ in data.eros_stars(tmp_path)]
    period = np.full(16, 1.75)
    period[curves.label == 0] *= 1.003  # 0.154 turns
    period[curves.label == 1] *= 1.005  # 0.256 turns
    period[curves.label == 2] *= 2
    found = features.agreement(curves, period, rows)
    assert found == {"all": 0.5, "well seen": 0.5, "binary": 1, "cepheid": 0, "RR Lyrae": 0, "Mira": 1}
    with pytest.raises(SystemExit, match="other stars"):
        features.agreement(curves, period, rows[::-1])

"""UEA: the archive's formats against aeon and by hand, what is dropped, the settings of Table 12, the baselines."""

import dataclasses
import functools
import gzip
import http.server
import re
import threading
import zipfile

import numpy as np
import pytest
import torch
from prepared import prepares_once

from romae_book.experiments.uea import data as archive
from romae_book.experiments.uea import rivals as predictors
from romae_book.experiments.uea.data import SETS, Info
from romae_book.experiments.uea.experiment import FOLLOWS, ROWS, UEA, stratified, thinned
from romae_lite.tokens import Tokens

TINY = {"encoder": "16x2x1x32", "decoder": "16x2x1x32", "pretrain_epochs": 1, "epochs": 1}
# two classes, two channels, 3 to 5 steps
CASES = [
    ([[1, 2, 3, 4, 5], [0.5, -1, 2, 0, 1]], "yes"),
    ([[3, 1, 2], [7, 8, 9]], "no"),
    ([[0, 0, 1, 1], [2, 2, 2, 2]], "yes"),
]
TOY = Info("toy", "nothing", 3, 2, 2, 3, 5, ("no", "yes"))


def as_ts(cases) -> str:
    head = "# a comment\n@problemName Toy\n@timeStamps false\n@univariate false\n@classLabel true Yes No\n@data\n"
    return head + "".join(":".join([*(",".join(map(str, c)) for c in case), label]) + "\n" for case, label in cases)


def as_arff(cases, channel: int, width: int = 5) -> str:
    rows = [[*case[channel], *["?"] * (width - len(case[channel])), label] for case, label in cases]
    return "@relation Toy\n@attribute target {yes,no}\n@data\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)


def folder_of(form: str, folder):
    """Training (3 cases) and test set (2) in one of the forms in which they go round."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, cases in (("TRAIN", CASES), ("TEST", CASES[:2])):
        if form == "zip":
            with zipfile.ZipFile(folder / "Toy.zip", "a") as packed:
                packed.writestr(f"Toy_{part}.ts", as_ts(cases))
            continue
        files = {f"Toy_{part}.ts": as_ts(cases)}
        if form.startswith("arff"):
            files = {f"ToyDimension{k + 1}_{part}.arff": as_arff(cases, k) for k in range(2)}
        for name, text in files.items():
            if form.endswith(".gz"):
                (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
            else:
                (folder / name).write_text(text)
    return folder


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(SETS, "Toy", TOY)
    monkeypatch.setitem(archive.FINGERPRINTS, "Toy", ())


@pytest.fixture(scope="module")
def exp() -> UEA:
    return UEA.quick().replace(source="simulated", **TINY)


@pytest.fixture(scope="module")
def data(exp):
    return exp.data(0)


# Reading ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["ts", "ts.gz", "arff", "arff.gz", "zip"])
def test_every_form_holds_the_same(toy, form, tmp_path):
    folder_of(form, tmp_path / "Toy")
    train, test = archive.load("Toy", tmp_path)  # a folder of several sets; the set's own folder will do as well
    assert train.fingerprint() == archive.load("Toy", tmp_path / "Toy")[0].fingerprint()
    assert (len(train), len(test)) == (3, 2)
    assert train.names == ("no", "yes") and train.label.tolist() == [1, 0, 1]
    for value, (case, _) in zip(train.values, CASES, strict=True):
        np.testing.assert_array_equal(value, np.array(case, np.float32).T)


def test_bundled_set_is_what_aeon_reads():
    datasets = pytest.importorskip("aeon.datasets")
    for part, series in zip(("train", "test"), archive.load("BasicMotions"), strict=True):
        values, names = datasets.load_basic_motions(split=part)
        np.testing.assert_array_equal(np.stack(series.values), values.transpose(0, 2, 1).astype(np.float32))
        assert [series.names[i] for i in series.label] == [name.lower() for name in names]
        series.verify("BasicMotions", part.upper())
        assert series.names == SETS["BasicMotions"].names
        assert series.fingerprint() == archive.FINGERPRINTS["BasicMotions"][part == "test"]


def test_a_class_has_one_number_whatever_is_left_of_a_part(toy, tmp_path):
    """With all cases of a class damaged in one part, the others keep the numbers that they have in the other part."""
    text = as_ts([case for case in CASES if case[1] == "yes"])
    (tmp_path / "Toy_TEST.ts").write_text(text)
    series, bad = archive.read(tmp_path, "Toy", "TEST", skip_bad=True)
    assert series.label.tolist() == [1, 1] and series.names == ("no", "yes")
    assert "number of classes is 1" in str(bad[0])


def test_whole_fills_gaps():
    """A gap inside is a straight line; where a channel ends early its last value goes on; none at all is zero."""
    nan = np.nan
    found = archive.whole([np.array([1, nan, nan, 4.0]), np.array([nan, 5.0, 7.0]), np.array([nan, nan])])
    np.testing.assert_allclose(found.T, [[1, 2, 3, 4], [5, 5, 7, 7], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("8,9:no", "8,x:no"), "Toy_TRAIN.ts: case 2 has something that is no number"),
        (("8,9:no", "8,9"), "Toy_TRAIN.ts: case 2 has 1 channels"),
        (("8,9:no", "8,inf:no"), "case 2 has something that is no number \\('inf'; what is missing is a \\?"),
        (("8,9:no", "8,NaN:no"), "case 2 has something that is no number \\('NaN'"),
        (("8,9:no", "8,1_0:no"), "case 2 has something that is no number \\('1_0'"),
        (("8,9:no", "8,-1e39:no"), "Toy_TRAIN.ts: case 2 has the number 1e\\+39; float32 ends at 3.403e\\+38"),
        (("@data", "@date"), "Toy_TRAIN.ts: there is no line @data"),
        (("timeStamps false", "timeStamps true"), "Toy_TRAIN.ts: has time stamps"),
        (("3,1,2:7,8,9:no\n", ""), "Toy_TRAIN.ts: Toy_TRAIN: number of cases is 2; it should be 3"),
        (("3,1,2:7,8,9", "3,1:7,8"), "shortest case is 2; it should be 3"),
        ((":no", ":perhaps"), "Toy_TRAIN.ts: class 'perhaps' is none of no, yes"),
    ],
)
def test_reader_names_file_and_case(toy, tmp_path, change, message):
    text = as_ts(CASES)
    assert change[0] in text
    (tmp_path / "Toy_TRAIN.ts").write_text(text.replace(*change))
    with pytest.raises(archive.DataError, match=message):
        archive.read(tmp_path, "Toy", "TRAIN")


def test_arff_reader_names_file_and_case(toy, tmp_path):
    folder = folder_of("arff", tmp_path)
    path = folder / "ToyDimension2_TRAIN.arff"
    good = path.read_text()
    for change, message in (
        (("7,8,9,?,?,no", "7,8,9,?,?,yes"), "Dimension2_TRAIN.arff: case 2 .* is not case 2 of ToyDimension1"),
        (("7,8,9,?,?,no", "7,8,no"), "Dimension2_TRAIN.arff: case 2 ends early"),
        (("7,8,9,?,?,no\n", ""), "Dimension2_TRAIN.arff: holds 2 cases; ToyDimension1_TRAIN.arff holds 3"),
        (("7,8,9,?,?,no", "7,8,9,?,!,no"), "Dimension2_TRAIN.arff: case 2 has something that is no number"),
    ):
        path.write_text(good.replace(*change))
        with pytest.raises(archive.DataError, match=message):
            archive.read(folder, "Toy", "TRAIN")
    path.unlink()
    with pytest.raises(archive.DataError, match="no ToyDimension2_TRAIN.arff, but ToyDimension1_TRAIN.arff"):
        archive.read(folder, "Toy", "TRAIN")


def test_fingerprint_sees_every_value(toy):
    series = archive.simulated(6, np.random.default_rng(0))
    changed = [v.copy() for v in series.values]
    changed[4][50, 3] += 1e-3
    others = [
        dataclasses.replace(series, values=tuple(changed)), dataclasses.replace(series, label=series.label[::-1]),
        series[np.arange(5)],
    ]
    assert len({s.fingerprint() for s in (series, *others)}) == 4
    with pytest.raises(archive.DataError, match="number of cases is 6; it should be 40"):
        series.verify("BasicMotions", "TRAIN")


# The data script ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script(data_script):
    return data_script("uea")


def test_a_test_set_that_comes_later_is_seen(toy, tmp_path):
    folder = folder_of("ts", tmp_path)
    later = (folder / "Toy_TEST.ts").rename(tmp_path.parent / "later.ts")
    assert archive.load("Toy", folder)[1] is None
    later.rename(folder / "Toy_TEST.ts")
    assert len(archive.load("Toy", folder)[1]) == TOY.test


def test_it_prepares_once(toy, script, tmp_path, capsys):
    source, result = folder_of("arff.gz", tmp_path / "in" / "Toy").parent, tmp_path / "out" / "Toy.npz"
    prepares_once(script.main, source, result, capsys, "Toy")
    raw = archive.load("Toy", source / "Toy")
    assert [part.fingerprint() for part in archive.load("Toy", result)] == [part.fingerprint() for part in raw]


def garble(folder):
    path = folder / "Toy_TRAIN.ts"
    path.write_text(path.read_text().replace("8,9:no", "8,:no"))


def truncate(folder):
    path = folder / "Toy_TRAIN.ts"
    path.write_text(path.read_text()[:-12])


@pytest.mark.parametrize(("damage", "case"), [(garble, 2), (truncate, 3)])
def test_script_names_a_damaged_case(toy, script, tmp_path, capsys, damage, case):
    source, out = folder_of("ts", tmp_path / "Toy"), tmp_path / "out"
    damage(source)
    call = ["Toy", "--source", str(tmp_path), "--out", str(out)]
    assert script.main(call) == 1
    assert f"Toy_TRAIN.ts: case {case}" in capsys.readouterr().err and not out.exists()
    assert script.main([*call, "--skip-bad"]) == 0
    assert f"skipped: Toy_TRAIN.ts: case {case}" in capsys.readouterr().err
    assert len(archive.load("Toy", out / "Toy.npz")[0]) == 2
    assert script.main([*call, "--skip-bad"]) == 0
    assert "incomplete" in capsys.readouterr().out


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def marked(local: int, central: int, value: int):
    """Sets one byte in the headers of every file of a .zip."""

    def change(content: bytes) -> bytes:
        content = bytearray(content)
        for magic, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
            for at in (m.start() for m in re.finditer(re.escape(magic), bytes(content))):
                content[at + offset] = value
        return bytes(content)

    return change


@pytest.mark.parametrize(
    ("form", "damage", "message"),
    [
        ("ts.gz", half, "is damaged or cut off"), ("zip", half, "not to be unpacked (File is not a zip file)"),
        ("zip", marked(6, 8, 1), "is encrypted"), ("zip", marked(8, 10, 99), "compression method is not supported"),
        ("ts.gz", lambda _: gzip.compress(bytes(2001)), "holds more than 2,000 bytes when unpacked"),
        ("zip", None, "holds more than 20 bytes when unpacked"),
    ],
)
def test_script_names_a_damaged_archive(toy, script, tmp_path, capsys, monkeypatch, form, damage, message):
    monkeypatch.setattr(archive, "LARGEST", 2000 if damage else 20)
    source, out = folder_of(form, tmp_path / "Toy"), tmp_path / "out"
    path = next(source.glob("*TEST.ts.gz" if form == "ts.gz" else "*.zip"))
    path.write_bytes(damage(path.read_bytes()) if damage else path.read_bytes())
    assert script.main(["Toy", "--source", str(tmp_path), "--out", str(out)]) == 1
    said = capsys.readouterr().err
    assert path.name in said and message in said and not out.exists()


def test_a_zip_with_two_copies_is_refused(toy, tmp_path):
    with zipfile.ZipFile(folder_of("zip", tmp_path) / "Toy.zip", "a") as packed:
        packed.writestr("old/Toy_TRAIN.ts", as_ts(CASES))
    with pytest.raises(archive.DataError, match="Toy_TRAIN.ts is there twice, as Toy_TRAIN.ts and old/Toy_TRAIN.ts"):
        archive.read(tmp_path, "Toy", "TRAIN")


def test_script_goes_on_after_a_missing_set(toy, script, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(SETS, "Gone", TOY)
    monkeypatch.setitem(archive.FINGERPRINTS, "Gone", ())
    folder_of("ts", tmp_path / "Toy")
    call = ["Gone", "Toy", "--source", str(tmp_path), "--out", str(tmp_path / "out")]
    assert script.main(call) == 1
    assert "Gone_TRAIN.ts" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["Toy.npz"]


def test_script_downloads_and_refuses_what_has_changed(toy, script, tmp_path, capsys):
    pytest.importorskip("pooch")
    home, out = folder_of("zip", tmp_path / "home"), tmp_path / "out"
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=home)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        call = ["Toy", "--home", f"http://127.0.0.1:{server.server_port}/", "--out", str(out)]
        assert script.main(call) == 0
        assert len(archive.load("Toy", out / "Toy.npz")[1]) == 2
        for name in ("Toy.zip", "Toy.npz"):
            (out / name).unlink()
        (home / "Toy.zip").unlink()
        folder_of("zip", home)
        with zipfile.ZipFile(home / "Toy.zip", "a") as packed:
            packed.writestr("more.txt", "another archive of the same name")
        assert script.main(call) == 1
        assert "Toy.zip" in capsys.readouterr().err and not (out / "Toy.npz").exists()
        server.shutdown()


# Tokens -------------------------------------------------------------------------------------------------------------


def test_thirty_percent_of_every_series_is_dropped(exp, data):
    truth = exp.series(0)[1]
    for i, value in enumerate(truth.values):
        steps = data.test.positions[i, data.test.real[i], 0].long().numpy()
        assert len(steps) == 70 and len(set(steps)) == 70 and (np.diff(steps) > 0).all()
        np.testing.assert_array_equal(data.test.values[i, : len(steps)].numpy(), scaled(exp, data, value[steps]))


def scaled(exp, data, values):
    """The values on the scale of the training steps that are left, computed from the raw series."""
    train = exp.series(0)[0]
    left = np.concatenate([
        v[data.train.positions[i, data.train.real[i], 0].long().numpy()] for i, v in enumerate(train.values)
    ]).astype(np.float64)
    return torch.from_numpy((values - left.mean(0)) / left.std(0)).float().numpy()


def test_drops_are_drawn_for_every_seed_split_and_series(exp, data):
    assert not torch.equal(exp.data(1).test.positions, data.test.positions)
    assert not torch.equal(data.train.positions, data.test.positions)
    assert not torch.equal(data.test.positions[0], data.test.positions[1])
    assert torch.equal(data.valid.values, data.train.values)  # nothing is held out, as the setting says
    assert len(exp.replace(valid_share=0.5).data(0).valid) == 20
    whole = exp.replace(dropped=0.0).data(0)
    assert whole.test.values.shape[1] == 100


def test_lengths_differ_as_padding_or_as_zeros():
    series = archive.simulated(4, np.random.default_rng(0))
    series = dataclasses.replace(
        series, values=tuple(v[:n] for v, n in zip(series.values, (10, 20, 40, 7), strict=True))
    )
    kept = archive.kept(series, 0.3, np.random.default_rng(1))
    tokens = archive.tokens(series, kept)
    assert tokens.real.sum(1).tolist() == [7, 14, 28, 5]
    odd = dataclasses.replace(series, values=tuple(v[:n] for v, n in zip(series.values, (9, 19, 36, 5), strict=True)))
    for whole, left in ((int, [7, 14, 26, 4]), (round, [6, 13, 25, 3])):  # 2.7, 5.7, 10.8 and 1.5 steps to drop
        counts = [len(at) for at in archive.kept(odd, 0.3, np.random.default_rng(1), whole)]
        assert counts == left
    zeros = archive.padded(series, 40)
    assert {len(v) for v in zeros.values} == {40}
    np.testing.assert_array_equal(zeros.values[3][33:], series.values[3])
    assert not zeros.values[3][:33].any()


def test_scales(exp):
    """asinh, then the training set's mean and deviation; a constant channel survives."""
    values = torch.tensor([[[1.0, 5.0], [100.0, 5.0]], [[-3.0, 5.0], [0.5, 5.0]]])
    steps = torch.arange(2, dtype=torch.float64)[None, :, None].expand(2, 2, 1)
    parts = [Tokens(values=values, positions=steps), Tokens(values=10 * values, positions=steps)]
    train, test = exp.replace(scale="asinh").scaled(parts)
    x = np.arcsinh(values[..., 0].numpy().astype(np.float64))
    np.testing.assert_allclose(train.values[..., 0], (x - x.mean()) / x.std(), rtol=1e-6)
    expected = (np.arcsinh(10 * values[..., 0].numpy().astype(np.float64)) - x.mean()) / x.std()
    np.testing.assert_allclose(test.values[..., 0], expected, rtol=1e-5)
    assert (train.values[..., 1] == 0).all()
    untouched = exp.replace(scale="none").scaled(parts)[1]
    assert untouched.values is parts[1].values is untouched.aux["raw"]


def test_stratified():
    label = np.array([0] * 20 + [1] * 10 + [2] * 3)
    part = stratified(label, 5, np.random.default_rng(0))
    for k, size in enumerate((4, 2)):
        assert np.bincount(part[label == k], minlength=5).tolist() == [size] * 5
    assert np.bincount(part[label == 2], minlength=5).max() == 1
    assert not np.array_equal(part, stratified(label, 5, np.random.default_rng(1)))


def test_validation_comes_out_of_the_training_set(exp):
    split = exp.replace(valid_share=0.2).data(0)
    assert [len(part) for part in split] == [32, 8, 40]
    assert split.valid.aux["label"].bincount().tolist() == [2, 2, 2, 2]


def test_folds_cut_the_training_set_up(monkeypatch):
    """Five seeds: every case is a test case once, and trained on four times. The test set is never looked at."""
    series = archive.simulated(23, np.random.default_rng(0))
    monkeypatch.setattr(archive, "load", lambda *_: (series, None))
    exp = UEA.best().replace(folds=5)
    parts = [exp.series(seed) for seed in range(5)]
    tested = [v.tobytes() for _, test in parts for v in test.values]
    assert sorted(tested) == sorted(v.tobytes() for v in series.values)
    for train, test in parts:
        assert {v.tobytes() for v in train.values}.isdisjoint(v.tobytes() for v in test.values)
        assert len(train) + len(test) == 23
    with pytest.raises(archive.NotHere, match="folds=5"):
        exp.replace(folds=None).series(0)


def test_thinned():
    series = archive.simulated(6, np.random.default_rng(0))
    tokens = archive.tokens(series, archive.kept(series, 0.3, np.random.default_rng(0)))
    less = thinned(tokens, 0.5, 0)
    assert less.real.sum(1).tolist() == [35] * 6
    assert thinned(tokens, 1e-9, 0).real.sum(1).tolist() == [1] * 6
    assert not torch.equal(less.real, thinned(tokens, 0.5, 1).real)


# Settings -----------------------------------------------------------------------------------------------------------


def test_settings_follow_the_set():
    for name, preset in (("paper", UEA.paper()), ("ours", UEA.best())):
        for dataset in SETS:
            moved = preset.replace(dataset=dataset)
            assert tuple(getattr(moved, field) for field in FOLLOWS) == ROWS[name][dataset]
    assert UEA.paper().replace(rows="ours", dataset="LSST").config() == UEA.paper().replace(dataset="LSST").replace(
        rows="ours").config()
    assert UEA.paper().replace(rows="ours", dataset="LSST").scale == "asinh"
    assert UEA.paper().replace(dataset="LSST", lr=0.5).lr == 0.5
    assert UEA.paper().replace(lr=0.5).replace(dataset="LSST").lr == 0.5  # changed by hand: stays
    assert UEA.paper().replace(epochs=50).replace(dataset="LSST").epochs == 50  # even where it was the old set's own
    assert UEA(epochs=50).replace(rows="ours", dataset="LSST").epochs == 50
    assert UEA.paper().replace(epochs=50).replace(dataset="LSST", epochs=None).epochs == 15  # the set's own again
    paper = UEA.paper().replace(dataset="LSST")
    assert (paper.optimizer, paper.beta1, paper.weight_decay, paper.clip) == ("sgd", 0.9, 0, 10)
    assert (paper.encoder, paper.decoder, paper.pretrain_epochs, paper.pretrain_batch) == (
        "tiny", "tiny-shallow", 400, 64,
    )
    assert paper.build(0)(_one_series(6)).shape == (1, 14)


def _one_series(channels: int) -> Tokens:
    return Tokens(values=torch.randn(1, 5, channels), positions=torch.arange(5.0).double().view(1, 5, 1))


@pytest.mark.parametrize("scale", ["none", "channel", "asinh"])
def test_baselines_get_the_series_unscaled(exp, monkeypatch, scale):
    """MiniRocket has a scaling of its own; on LSST, our arcsinh cost it nine points."""
    shown = []

    def stands_by(train, test):
        shown.extend((train, test))
        return np.zeros(len(test), int)

    pytest.importorskip("aeon")
    monkeypatch.setattr(predictors, "minirocket", stands_by)
    data = exp.replace(scale=scale).data(0)
    exp.compare(data)
    train, test = shown
    assert torch.equal(train.positions, data.train.positions)
    for i, series in enumerate(exp.series(0)[1].values):
        steps = test.positions[i, test.real[i], 0].long().numpy()
        np.testing.assert_allclose(test.values[i, test.real[i]].numpy(), series[steps], rtol=1e-6)  # float32


# Model and metrics ----------------------------------------------------------------------------------------------------


def test_fresh_embedding_is_left_behind(exp):
    pretrained = exp.autoencoder(0)  # as in a run: both stages have the same seed
    first = pretrained.encoder.embed.weight.detach().clone()
    with torch.no_grad():
        for weight in pretrained.parameters():
            weight += 1
    for kind, comes_along in (("pretrained", True), ("fresh", False)):
        variant = exp.replace(embedding=kind)
        model = variant.build(0)
        variant.start(model, pretrained, 0)
        weight = model.encoder.embed.weight.detach()
        assert torch.equal(weight, pretrained.encoder.embed.weight) == comes_along
        assert abs(float(torch.corrcoef(torch.stack((weight.flatten(), first.flatten())))[0, 1])) < 0.3 or comes_along
        assert torch.equal(model.encoder.cls, pretrained.encoder.cls)


def test_train_mode_is_scored_beside_and_leaves_no_trace(exp, data):
    noisy = exp.replace(dropout=0.6, drop_path=0.5)
    model = noisy.build(0)
    state = torch.get_rng_state()
    found = noisy.evaluate(model, data.test)
    assert torch.equal(torch.get_rng_state(), state) and not model.training
    assert noisy.evaluate(model, data.test) == found
    label = data.test.aux["label"]
    assert found["accuracy"] == float((noisy.logits(model, data.test).argmax(1) == label).double().mean())
    assert found["accuracy_train_mode"] != found["accuracy"]
    quiet = exp.replace(dropout=0.0, drop_path=0.0)
    found = quiet.evaluate(quiet.build(0), data.test)
    assert found["accuracy_train_mode"] == found["accuracy"]


def test_majority():
    assert predictors.majority(np.array([2, 2, 0]), np.array([2, 1, 2, 0])) == 0.5


def test_trees_get_values_and_times_apart(data):
    """By NumPy on one series; times stay as they are when the values change, and of made-up series of four
    classes alike in length they tell nothing, a quarter."""
    x, t = predictors.statistics(data.test), predictors.sampling(data.test)
    v, at = data.test.values[0][data.test.real[0]].double().numpy(), data.test.positions[0, data.test.real[0], 0]
    channels = v.shape[1]
    np.testing.assert_allclose(x[0, :channels], v.mean(0))
    np.testing.assert_allclose(x[0, 4 * channels : 5 * channels], np.median(v, 0))
    np.testing.assert_allclose(x[0, -channels:], np.abs(v[1:] - v[:-1]).mean(0))
    assert t[0, 0] == len(v) and t[0, 2] == at[-1]
    changed = dataclasses.replace(data.test, values=-2 * data.test.values)
    np.testing.assert_array_equal(predictors.sampling(changed), t)
    pytest.importorskip("lightgbm")
    label = data.test.aux["label"].numpy()
    right, by_times = (np.mean(f(data.train, data.test) == label) for f in (predictors.trees, predictors.times))
    assert by_times < 0.6 < right


def test_ranks_are_counted_from_zero_and_say_no_more(data):
    """The same values at 0, 1, 2, ... of every series: real times that were stretched anyhow give the same."""
    part = data.test
    found = archive.informed(part, "ranks", np.random.default_rng(0))
    assert torch.equal(found.values, part.values) and torch.equal(found.real, part.real)
    for at, real in zip(found.positions[..., 0], part.real, strict=True):
        assert at[real].tolist() == list(range(int(real.sum())))
    stretched = archive.informed(dataclasses.replace(part, positions=part.positions**2), "ranks", None)
    assert torch.equal(stretched.positions, found.positions)


def test_shuffled_steps_are_the_same_in_another_order(data):
    """Times and padding stay, a step's channels stay together, and of the eight statistics only the step to the next
    value can change."""
    found = archive.informed(data.test, "shuffled", np.random.default_rng(0))
    assert torch.equal(found.positions, data.test.positions) and torch.equal(found.real, data.test.real)
    for before, after, real in zip(data.test.values, found.values, data.test.real, strict=True):
        assert sorted(before[real].tolist()) == sorted(after[real].tolist())
        assert torch.equal(before[~real], after[~real])
    assert not torch.equal(found.values, data.test.values)
    channels = data.test.values.shape[2]
    x, y = predictors.statistics(data.test), predictors.statistics(found)
    np.testing.assert_allclose(y[:, :-channels], x[:, :-channels], atol=1e-12)
    assert (y[:, -channels:] != x[:, -channels:]).any()


def test_on_grid(data):
    """Exact at the steps there are, straight between them, level beyond them."""
    grid = predictors.on_grid(data.test, 100)
    steps = data.test.positions[3, :, 0].long().numpy()
    np.testing.assert_array_equal(grid[3][:, steps], data.test.values[3].T.numpy())
    gap = int(np.flatnonzero(np.diff(steps) == 2)[0])
    np.testing.assert_allclose(grid[3][:, steps[gap] + 1], grid[3][:, [steps[gap], steps[gap] + 2]].mean(1))
    assert (grid[3][:, steps[-1] :] == grid[3][:, [steps[-1]]]).all()


def nearest(train, test) -> np.ndarray:
    """In MiniRocket's place, which takes half a minute: the class whose mean deviation is nearest."""
    spread = [(t.values.double() * t.real[..., None]).std(1) for t in (train, test)]
    label = train.aux["label"]
    centre = torch.stack([spread[0][label == k].mean(0) for k in range(int(label.max()) + 1)])
    return torch.cdist(spread[1], centre).argmin(1).numpy()


def test_arrays(exp, data, monkeypatch):
    monkeypatch.setattr(predictors, "minirocket", nearest)
    model, _ = exp.train(data, 0, logs=1)
    arrays = exp.arrays(model, data)
    accuracy = exp.evaluate(model, data.test)["accuracy"]
    assert arrays["confusion"].sum() == 40 and arrays["confusion"].trace() / 40 == pytest.approx(accuracy)
    assert arrays["dropped"][0] == 0.3 and arrays["accuracy_dropped"][0] == pytest.approx(accuracy)
    assert sorted(arrays["label"].tolist()) == [0, 0, 1, 1, 2, 2, 3, 3]
    # the whole window with every step is what the model says of the series as it is
    chosen = [
        np.flatnonzero((data.test.values == torch.from_numpy(v)).all(2).all(1).numpy())[0] for v in arrays["values"]
    ]
    whole = exp.logits(model, data.test[torch.tensor(chosen)]).softmax(1).numpy()
    np.testing.assert_allclose(arrays["probability"][:, 0, 10, 0] / 255, whole, atol=0.003)  # half a 255th
    # a window that begins later, thinned out: by hand
    step, rank = torch.from_numpy(arrays["step"]).long(), torch.from_numpy(arrays["rank"]).long()
    n, last = (step >= 0).sum(1, keepdim=True), step.amax(1, keepdim=True)
    seen = (step * 10 >= 4 * (last + 1)) & (step * 10 < 7 * (last + 1)) & (rank < (0.3 * n).ceil())
    part = dataclasses.replace(data.test[torch.tensor(chosen)], pad=~seen)
    by_hand = exp.logits(model, part).softmax(1).numpy()
    np.testing.assert_allclose(arrays["probability"][:, 4, 7, 2] / 255, by_hand, atol=0.003)
    assert not arrays["probability"][:, 5, 5].any()
    np.testing.assert_array_equal(arrays["raw"], data.test.aux["raw"][chosen].numpy())
    # MiniRocket gets the same steps: of whole series it says what it says of them elsewhere
    raw = dataclasses.replace(data.train, values=data.train.aux["raw"])
    named = predictors.minirocket(raw, dataclasses.replace(data.test, values=data.test.aux["raw"]))
    assert arrays["minirocket"][:, 0, 10, 0].tolist() == named[chosen].tolist()
    assert (arrays["minirocket"][:, 5, 5] == 255).all() and arrays["minirocket"][:, :5, 10].max() < 4


def test_minirocket_leaves_pytorchs_threads_alone(data):
    """numba, behind it, gives PyTorch all cores for good, and trainings beside one another crawl."""
    pytest.importorskip("aeon")
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            predictors.minirocket(data.train, data.test)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_run_learns_the_simulated_motions():
    """Four kinds of motion: a tiny model gets most of 40 right. Chance gets a quarter, with a deviation of 0.07."""
    exp = UEA.quick().replace(
        source="simulated", encoder="32x2x2x64", decoder="32x2x1x64", pretrain_epochs=5, epochs=40
    )
    data = exp.data(0)
    model, _ = exp.train(data, 0, logs=1)
    assert exp.evaluate(model, data.test)["accuracy"] >= 0.25 + 5 * 0.07

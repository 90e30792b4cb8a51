"""The script of Tiny ImageNet: against small archives, folders and .npz made here, whole, damaged and foreign."""

import io
import shutil
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import pytest
from PIL import Image
from prepared import prepares_once, refused

from romae_book.experiments.data import DataError, NotHere
from romae_book.experiments.tiny_imagenet import data

WNIDS = [f"n{k:08}" for k in (7, 3, 5)]  # not in order: wnids.txt says which is which


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Three classes, four training pictures and two test pictures of each."""
    monkeypatch.setattr(data, "CLASSES", 3)
    monkeypatch.setattr(data, "PER_CLASS", 4)
    monkeypatch.setattr(data, "TEST_PER_CLASS", 2)


@pytest.fixture
def script(data_script, monkeypatch):
    module = data_script("tiny_imagenet")
    monkeypatch.setattr(module, "PER_CLASS", 4)
    return module


def jpeg(label: int, index: int, mode: str = "RGB", side: int = 64, kind: str = "JPEG") -> bytes:
    """A picture whose mean brightness says what it is: 20 for each class, 3 for each number."""
    out = io.BytesIO()
    Image.new(
        mode, (side, side), 20 * (label + 1) + 3 * index if mode == "L" else (20 * (label + 1) + 3 * index,) * 3
    ).save(out, kind, quality=95)
    return out.getvalue()


def members(per_class: int = 4) -> dict[str, bytes]:
    """The archive's files."""
    root = "tiny-imagenet-200/"
    found = {root + "wnids.txt": "\n".join(WNIDS).encode(), root + "words.txt": b"n00000007\tthing"}
    lines = []
    for label, wnid in enumerate(WNIDS):
        for i in range(per_class):
            found[f"{root}train/{wnid}/images/{wnid}_{i}.JPEG"] = jpeg(label, i, "L" if i == 1 else "RGB")
        for i in (label, 3 + label):
            found[f"{root}val/images/val_{i}.JPEG"] = jpeg(label, i)
            lines.append(f"val_{i}.JPEG\t{wnid}\t0\t0\t62\t62")
    found[root + "val/val_annotations.txt"] = "\n".join(lines).encode()
    found[root + "test/images/test_0.JPEG"] = b"nobody looks at it"
    return found


def archive(folder, files=None, extra=()):
    folder.mkdir(exist_ok=True)
    path = folder / data.ARCHIVE
    with ZipFile(path, "w", ZIP_STORED) as packed:
        for name, content in [*(files or members()).items(), *extra]:
            packed.writestr(name, content)
    return path


def unpacked(folder, files=None):
    for name, content in (files or members()).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def npz(folder, parts=((0, 1), (2, 3)), **changes):
    """train*.npz with some numbers of every class each, and val.npz."""
    folder.mkdir(exist_ok=True)
    wanted = {f"train_{i}": [(k, j) for k in range(3) for j in numbers] for i, numbers in enumerate(parts)}
    wanted["val"] = [(i % 3, i) for i in range(6)]
    for name, pictures in wanted.items():
        bytes_ = [jpeg(k, j) for k, j in pictures]
        arrays = {
            "jpeg": np.frombuffer(b"".join(bytes_), np.uint8), "offsets": np.cumsum([0, *map(len, bytes_)]),
            "labels": np.array([k for k, _ in pictures], np.int16), "wnids": np.array(WNIDS),
        }
        if name != "val":
            arrays["img_index"] = np.array([j for _, j in pictures], np.int16)
        np.savez(folder / f"{name}.npz", **arrays | changes.get(name, {}))
    return folder


def check(collection, per_class=4):
    """Every picture is what its class and number say: JPEG keeps a flat picture's brightness to one level."""
    for part in (collection.train, collection.test):
        level = part.pixels(np.arange(len(part))).mean((1, 2, 3))
        np.testing.assert_allclose(level, 20 * (part.label + 1) + 3 * part.index, atol=1.5)
    assert collection.wnids == tuple(WNIDS)
    assert collection.train.label.tolist() == [k for k in range(3) for _ in range(per_class)]
    assert collection.train.index.tolist() == list(range(per_class)) * 3
    assert sorted(zip(collection.test.label, collection.test.index, strict=True)) == sorted(
        (i % 3, i) for i in range(6)
    )


def test_archive_folder_and_parts_give_the_same(script, tmp_path, capsys):
    sources = [archive(tmp_path / "zip"), tmp_path / "zip", unpacked(tmp_path / "folder"), npz(tmp_path / "npz")]
    sources += [tmp_path / "folder" / "tiny-imagenet-200"]
    for i, source in enumerate(sources):
        out = tmp_path / f"out{i}"
        assert script.main(["--source", str(source), "--out", str(out)]) == 0
        assert [path.name for path in out.iterdir()] == [data.PREPARED]
        check(data.load(out))
        assert "the whole training set" in capsys.readouterr().out


def test_it_prepares_once(script, tmp_path, capsys):
    prepares_once(script.main, archive(tmp_path / "zip").parent, tmp_path / "out" / data.PREPARED, capsys)
    check(data.load(tmp_path / "out"))


def test_a_part_of_the_set_is_called_one(script, tmp_path, capsys):
    out = tmp_path / "out"
    assert script.main(["--source", str(npz(tmp_path / "npz", ((0, 1), (2,)))), "--out", str(out)]) == 0
    assert "only 3 of 4 training pictures of a class" in capsys.readouterr().out
    check(data.load(out), per_class=3)
    assert script.main(["--source", str(tmp_path), "--out", str(out)]) == 0
    assert "only 3 of 4" in capsys.readouterr().out  # nothing is done, and it is said again


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def without(files: dict, name: str) -> dict:
    return {key: content for key, content in files.items() if key != name}


IMAGE = f"tiny-imagenet-200/train/{WNIDS[1]}/images/{WNIDS[1]}_2.JPEG"
NOTES = "tiny-imagenet-200/val/val_annotations.txt"
FAULTS = {
    "a picture cut off": (lambda f: f | {IMAGE: cut(f[IMAGE])}, "picture 2 of class 1 is damaged"),
    "no picture": (lambda f: f | {IMAGE: b"<html>not found</html>"}, "picture 2 of class 1 is damaged"),
    "another format": (lambda f: f | {IMAGE: jpeg(1, 2, kind="PNG")}, "is PNG of (64, 64); expected JPEG of 64 x 64"),
    "another size": (lambda f: f | {IMAGE: jpeg(1, 2, side=32)}, "is JPEG of (32, 32)"),
    "a picture missing": (lambda f: without(f, IMAGE), "train pictures of class 1 is 3, expected 4"),
    "a line garbled": (lambda f: f | {NOTES: b"x" + f[NOTES]}, "val_annotations.txt, line 1, is"),
    "no text": (lambda f: f | {NOTES: b"\xff\xfe" + f[NOTES]}, "val_annotations.txt is no text"),
    "no annotations": (lambda f: without(f, NOTES), "has no val/val_annotations.txt"),
    "another set": (lambda f: {"readme.txt": b"hello"}, "has no train/<class>/images; it is not Tiny ImageNet"),
    "too large": (lambda f: f | {IMAGE: bytes(2**20 + 1)}, "holds more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("packed", [True, False])
def test_faults_are_named_and_leave_nothing(script, tmp_path, capsys, fault, packed):
    spoil, words = FAULTS[fault]
    if fault == "another set" and not packed:
        pytest.skip("a folder without train is no candidate: see what is missing")
    files = spoil(members())
    source = archive(tmp_path / "bad", files).parent if packed else unpacked(tmp_path / "bad", files)
    before = {path: path.stat().st_size for path in source.rglob("*")}
    assert script.main(["--source", str(source), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert words in told and str(source) in told
    assert not (tmp_path / "out").exists()
    assert {path: path.stat().st_size for path in source.rglob("*")} == before


def test_an_archive_cut_anywhere_is_refused_by_name(tmp_path):
    path = archive(tmp_path / "zip")
    whole = path.read_bytes()
    for end in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:end])
        with pytest.raises(DataError, match="tiny-imagenet-200.zip is damaged or cut off"):
            data.read(path)


def test_a_flipped_bit_is_found(tmp_path):
    """ZIP has a checksum over every member."""
    path = archive(tmp_path / "zip")
    whole = bytearray(path.read_bytes())
    place = whole.index(b"\xff\xd8", 2000) + 40  # inside a picture
    whole[place] ^= 4
    path.write_bytes(whole)
    with pytest.raises(DataError, match="is damaged or cut off"):
        data.read(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_play_tricks(script, tmp_path, capsys):
    """A name twice is refused; a name that points elsewhere is no file of the set, and nothing is unpacked anyway."""
    source, out = tmp_path / "zip", tmp_path / "deep" / "out"
    archive(source, extra=[(f"../../{IMAGE}", b"evil"), ("/tmp/val/images/val_0.JPEG", b"evil")])
    assert script.main(["--source", str(source), "--out", str(out)]) == 0
    check(data.load(out))
    assert {p.name for p in tmp_path.rglob("*")} == {"zip", data.ARCHIVE, "deep", "out", data.PREPARED}
    archive(source, extra=[(IMAGE, jpeg(1, 2))])
    assert f"member {IMAGE!r} is there twice" in refused(script, source, out, capsys, "--force")


PARTS = {
    "cut off": (None, "val.npz is damaged, cut off or no file"),
    "no labels": ({"labels": np.zeros((6, 2), np.int16)}, "val.npz: its parts do not fit"),
    "a class too many": ({"labels": np.full(6, 3, np.int16)}, "val.npz: a label is 3, and there are 3 classes"),
    "offsets": ({"offsets": np.array([0, 5, 4, 6, 7, 8, 9])}, "val.npz: its parts do not fit"),
    "fractions": ({"offsets": np.linspace(0, 1, 7)}, "val.npz: offsets, labels and img_index must be whole numbers"),
    "other classes": ({"wnids": np.array(WNIDS[::-1])}, "its classes are not those of"),
    "odd classes": ({"wnids": np.array(["../../x", *WNIDS[1:]])}, "a class is called '../../x'"),
}


@pytest.mark.parametrize("fault", PARTS)
def test_faults_of_parts_are_named(script, tmp_path, capsys, fault):
    changes, words = PARTS[fault]
    source = npz(tmp_path / "npz", **({"val": changes} if changes else {}))
    if changes is None:
        (source / "val.npz").write_bytes(cut((source / "val.npz").read_bytes()))
    assert words in refused(script, source, tmp_path / "out", capsys)


def test_a_picture_in_two_parts_is_found(script, tmp_path, capsys):
    assert script.main(["--source", str(npz(tmp_path / "npz", ((0, 1), (1, 2)))), "--out", str(tmp_path / "out")]) == 1
    assert "number of different train pictures is 9, expected 12" in capsys.readouterr().err


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(NotHere, match="gone does not exist"):
        data.read(tmp_path / "gone")
    with pytest.raises(NotHere, match="holds neither tiny-imagenet-200.zip, nor"):
        data.read(tmp_path)
    (npz(tmp_path / "npz") / "val.npz").unlink()
    with pytest.raises(NotHere, match="has train.*npz but no val.npz"):
        data.read(tmp_path / "npz")
    with pytest.raises(NotHere, match="data_scripts/tiny_imagenet.py"):
        data.load(tmp_path / "gone")


def test_damaged_pictures_can_be_left_out(script, tmp_path, capsys):
    source, out = archive(tmp_path / "zip", members() | {IMAGE: cut(members()[IMAGE])}).parent, tmp_path / "out"
    assert script.main(["--source", str(source), "--out", str(out), "--skip-bad"]) == 0
    told = capsys.readouterr().err
    assert "skipped: " in told and "picture 2 of class 1" in told and "not be comparable" in told
    assert len(data.load(out).train) == 11
    assert script.main(["--source", str(source), "--out", str(out), "--skip-bad"]) == 0
    assert "incomplete" in capsys.readouterr().out


def test_a_download_must_be_whole(script, tmp_path, capsys, monkeypatch):
    def download(home, names, folder):
        shutil.copy(archive(tmp_path / "zip", members(per_class=3)), folder / data.ARCHIVE)

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(script, "download", download)
    assert script.main(["--out", str(tmp_path / "out")]) == 1
    assert "only 3 of 4 training pictures of a class); a download" not in (told := capsys.readouterr().err)
    assert "a download should be whole" in told and not (tmp_path / "out" / data.PREPARED).exists()

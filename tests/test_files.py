"""Files are written whole or not at all: through a full disk, and through an interruption."""

import errno
import math
import os
import re
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import made_up_record

import romae_lite as lite
from romae_book.lab import records
from romae_lite import checkpoint
from romae_lite.io import atomic_write, parse_json, parsing, read


def folder(path: Path) -> set[str]:
    return {p.name for p in path.iterdir()}


def test_writes_and_overwrites(tmp_path):
    path = tmp_path / "new" / "deep" / "file.bin"
    for content in (b"one", b"", b"three" * 100_000):
        atomic_write(path, content)
        assert path.read_bytes() == content
    assert folder(path.parent) == {"file.bin"}


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_modes_are_those_of_umask_and_of_the_old_file(tmp_path, umask):
    path = tmp_path / "file"
    before = os.umask(umask)
    try:
        atomic_write(path, b"one")
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask
        path.chmod(0o640)
        atomic_write(path, b"two")
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)
    assert folder(tmp_path) == {"file"}


def test_what_is_no_readable_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # which would wait for ever
    (tmp_path / "large").write_bytes(b"[1]" * 100)
    (tmp_path / "twice").write_text('{"a": {"b": 1, "b": 2}}')
    (tmp_path / "deep").write_text("[" * 200_000)
    for path, reason in (("pipe", "pipe"), ("", "folder"), ("large", "300 bytes"), ("twice", "'b'"), ("deep", "")):
        path = tmp_path / path
        limit = 200 if path.name == "large" else 10**6
        with pytest.raises(ValueError, match=f"{re.escape(str(path))} is no record .*{reason}"):
            with parsing(path, "record"):
                parse_json(read(path, limit))
    with pytest.raises(FileNotFoundError), parsing(tmp_path / "none", "record"):
        read(tmp_path / "none", 1)


@pytest.mark.parametrize(
    ("name", "odd"),
    [("unit", 0), ("unit", math.nan), ("unit", "1"), ("unit", True), ("unit", None), ("mean", [[math.inf]]),
     ("mean", [[1e300]]), ("mean", [["x"]]), ("mean", [[0.0], [0.0]]), ("mean", 0.0), ("deviation", [[0.0]]),
     ("deviation", [[math.nan]]), ("channels", 7)],
)
def test_an_estimator_with_odd_units_is_refused_by_the_name_of_its_file(interpolator, tmp_path, name, odd):
    weights, about = checkpoint.read_signed(interpolator, "romae_lite")
    about["notes"]["standard"][name] = odd
    checkpoint.write_signed(path := tmp_path / "odd.safetensors", weights, "romae_lite", about)
    with pytest.raises(ValueError, match="odd.safetensors is no saved Interpolator"):
        lite.Interpolator.load(path)


@pytest.fixture(scope="module")
def interpolator(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models") / "fit.safetensors"
    model = lite.Interpolator(steps=1, verbose=False)
    with warnings.catch_warnings(action="ignore"):
        model.fit([(np.arange(12.0), np.sin(i + np.arange(12.0))) for i in range(3)]).save(path)
    return path


def test_arrays_that_unpack_to_too_much_are_refused_before_they_are_unpacked(tmp_path):
    """Zeros take a thousandth of their room."""
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, a=np.zeros(10**8 // 8), b=np.zeros(10))
    assert path.stat().st_size < records.ARRAYS_LIMIT
    tracemalloc.start()
    try:
        with pytest.raises(records.CorruptRecord, match=r"bomb\.npz.* unpack to 100,000,\d+ bytes"):
            records.load_arrays(path)
        assert tracemalloc.get_traced_memory()[1] < records.UNPACKED_LIMIT
    finally:
        tracemalloc.stop()
    np.savez_compressed(path, a=np.zeros(10**5))
    assert records.load_arrays(path)["a"].nbytes == 8 * 10**5


@pytest.mark.parametrize("call", ["fdopen", "fsync", "replace"])
@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("what", ["bytes", "record", "arrays"])
def test_full_disk_leaves_what_was_there(tmp_path, monkeypatch, call, there, what):
    path = tmp_path / ("file.npz" if what == "arrays" else "file.json")
    if there:
        path.write_bytes(b"old")
    write = {
        "bytes": lambda: atomic_write(path, b"new" * 1000),
        "record": lambda: made_up_record(experiment="spirals", metrics={"mse": 0.5}).save(path),
        "arrays": lambda: records.save_arrays(path, curve=np.arange(5.0)),
    }[what]

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, call, full if call != "fdopen" else lambda fd, *_: os.close(fd) or open("/dev/full", "wb"))
        with pytest.raises(OSError, match=r"could not write .*/file\.(json|npz): No space left on device") as caught:
            write()
    assert caught.value.errno == errno.ENOSPC
    assert folder(tmp_path) == ({path.name} if there else set())  # no half file, no litter
    assert not there or path.read_bytes() == b"old"
    write()  # with room again
    assert path.read_bytes() not in (b"", b"old")


def test_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match=r"could not write .*/file/inner\.json"):
        atomic_write(tmp_path / "file" / "inner.json", b"x")


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupted_write_leaves_no_litter(tmp_path, monkeypatch, error):
    def interrupt(*_):
        raise error

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(error):
        atomic_write(tmp_path / "file", b"x")
    assert folder(tmp_path) == set()

"""Files are written whole or not at all: through a full disk, and through an interruption."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import made_up_record

from romae_book.lab import records
from romae_lite.io import atomic_write


def folder(path: Path) -> set[str]:
    return {p.name for p in path.iterdir()}


def test_writes_and_overwrites(tmp_path):
    path = tmp_path / "new" / "deep" / "file.bin"
    for content in (b"one", b"", b"three" * 100_000):
        atomic_write(path, content)
        assert path.read_bytes() == content
    assert folder(path.parent) == {"file.bin"}
    assert path.stat().st_mode & 0o777 == 0o644  # not mkstemp's 0600: others may read results


@pytest.mark.parametrize("call", ["fsync", "replace"])
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
        patched.setattr(os, call, full)
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

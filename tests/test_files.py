"""Files are written whole or not at all: through a full disk, and through SIGKILL at any moment."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from romae_lite import results
from romae_lite.files import atomic_write

ROOT = Path(__file__).resolve().parents[1]


def record(**changes) -> results.Record:
    fields = dict(
        experiment="spirals", preset="paper", tier="paper", config={"epochs": 1}, seed=0, metrics={"rmse_clean": 0.5},
        history=[{"step": 1, "loss": 1.0}], parameters=3, device="cpu", precision="fp32", wall_seconds=1.0,
        peak_memory_mb=1.0, tokens_per_second=1.0, versions={"torch": "2"}, commit="content:0", data_fingerprint="0",
        command="python -m romae_lite run spirals", deviations=[], created="2026-01-31T12:00:00+00:00",
    )  # fmt: skip
    return results.Record(**fields | changes)


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
        "record": lambda: record().save(path),
        "arrays": lambda: results.save_arrays(path, curve=np.arange(5.0)),
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


WRITER = """
import sys
sys.path.insert(0, {tests!r}); sys.path.insert(0, {root!r})
from test_files import record
print("ready", flush=True)
n = 0
while True:
    n += 1
    record(seed=n, history=[{{"step": i, "loss": float(n)}} for i in range(3000)]).save({path!r})
"""


def test_record_survives_a_kill_at_any_moment(tmp_path):
    """A process that writes the record again and again is killed: whenever anybody looks, the file is whole."""
    path = tmp_path / "spirals" / "paper-s0.json"
    script = WRITER.format(tests=str(ROOT / "tests"), root=str(ROOT), path=str(path))
    seen = []
    for attempt in range(3):
        writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        assert writer.stdout.readline() == "ready\n"
        while not path.exists() and writer.poll() is None:
            time.sleep(0.001)
        for _ in range(30):  # whoever reads meanwhile sees a whole one too
            seen.append(results.load(path).seed)
        time.sleep(0.013 * (attempt + 1))
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        whole = results.load(path)
        assert len(whole.history) == 3000 and {e["loss"] for e in whole.history} == {float(whole.seed)}
    assert len(set(seen)) > 1  # the file did change under the reader
    # what a kill may leave is a hidden file, which nobody takes for a record
    assert {name for name in folder(path.parent) if not name.startswith(".")} == {path.name}
    (path.parent / ".paper-s1.json.abc.tmp").write_text('{"half":')
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seed": 0}))  # as its name says
    loaded = results.load_all(tmp_path)
    assert loaded.paths == (path,) and not loaded.problems

"""A run that is killed before any change of a file: the next call ends in the right record and leaves nothing else."""

import hashlib
import os
import shutil
import sys
from contextlib import contextmanager

import pytest
import torch

from romae_book.experiments.spirals.experiment import Spirals
from romae_book.lab.planned import Planned
from romae_book.lab.run import rescore, run

TINY = dict(encoder="4x1x1x4", decoder="4x1x1x4", epochs=1, n_train=4, n_valid=1, n_test=100, batch=4)  # one step
PLANNED = Planned(experiment="spirals", preset="quick", seed=0, overrides=tuple(TINY.items()))
CHANGES = ("open", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "link", "symlink", "truncate")


class Killed(BaseException):
    pass


@contextmanager
def killed_before(change: int):
    """The process is dead before its n-th change of a file: neither that one happens nor any after it, whatever
    handlers of exceptions try. Yields the names of the changes that were asked for."""
    asked = []

    def counting(name, do):
        def counted(*words, **options):
            flags = words[1] if name == "open" and len(words) > 1 else options.get("flags", os.O_CREAT)
            if name == "open" and not flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                return do(*words, **options)
            asked.append(name)
            if len(asked) >= change:
                raise Killed
            return do(*words, **options)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for name in CHANGES:
            patch.setattr(os, name, counting(name, getattr(os, name)))
        yield asked


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Returns a function: a new place for results and checkpoints, empty or a copy of one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    count = iter(range(10_000))

    def new(copy=None):
        folder = tmp_path / str(next(count))
        shutil.copytree(copy, folder) if copy else folder.mkdir()
        monkeypatch.setenv("ROMAE_RESULTS", str(folder / "results"))
        monkeypatch.setenv("ROMAE_CHECKPOINTS", str(folder / "checkpoints"))
        return folder

    yield new
    torch.set_num_threads(threads)


def mark(monkeypatch, number: int) -> None:
    """From now on runs and renewed baselines carry this number in metrics and arrays."""
    monkeypatch.setattr(Spirals, "compare", lambda *_: {"mark": number})
    monkeypatch.setattr(Spirals, "compared", lambda *_: {"mark": [number]})
    monkeypatch.setattr(Spirals, "arrays", lambda *_: {"mark": [number]})
    monkeypatch.setattr(Spirals, "examine", lambda *_: {})  # this and what follows: dear, and not the point
    monkeypatch.setattr(sys.modules["romae_book.lab.run"], "reset_peak_memory", lambda: None)
    monkeypatch.setattr(os, "fsync", lambda _: None)


def files(folder) -> set[str]:
    return {path.name.removeprefix(PLANNED.name) for path in folder.rglob("*") if path.is_file()}


def check(folder) -> int:
    """The mark of the record that is there. It is whole: arrays and weights are its own, and nothing else is left."""
    assert files(folder) == {".json", ".npz", ".safetensors"}
    record = run(PLANNED)
    weights = record.path.with_suffix(".safetensors").read_bytes()
    assert record.weights == hashlib.sha256(weights).hexdigest()
    assert record.arrays["mark"].tolist() == [record.metrics["mark"]]
    return record.metrics["mark"]


def kill_everywhere(act, place, copy=None):
    """Yields after each kill, one change later every time, until the act comes through; at least 10 times."""
    for change in range(1, 200):
        folder = place(copy)
        try:
            with killed_before(change):
                act()
        except Killed:
            yield folder, change
        else:
            assert change > 10, "the changes are not seen"
            assert check(folder)
            return


def test_a_run_that_is_killed_anywhere_is_finished_by_the_next_call(place, monkeypatch):
    mark(monkeypatch, 1)
    whole = run(PLANNED, keep_weights=True) if place() else None
    for folder, change in kill_everywhere(lambda: run(PLANNED, keep_weights=True), place):
        killed = place(folder)  # a copy, for --force
        place(folder)
        record = run(PLANNED, keep_weights=True)
        assert (record.metrics, record.weights) == (whole.metrics, whole.weights), change
        assert check(record.path.parents[2]) == 1
        steps = []
        place(killed)
        run(PLANNED, keep_weights=True, force=True, log=steps.append)
        assert steps, f"killed before change {change}: --force has trained nothing"
        assert check(PLANNED.path.parents[2]) == 1


@pytest.mark.parametrize("act", ["force", "baselines"])
def test_a_record_made_again_is_the_old_one_or_the_new_one(place, monkeypatch, act):
    mark(monkeypatch, 1)
    before = place()
    run(PLANNED, keep_weights=True)
    mark(monkeypatch, 2)
    again = {"force": lambda: run(PLANNED, keep_weights=True, force=True), "baselines": lambda: rescore(PLANNED)}[act]
    marks = []
    for folder, _ in kill_everywhere(again, place, before):
        place(folder)
        run(PLANNED)
        marks.append(check(PLANNED.path.parents[2]))
        place(folder)
        again()
        assert check(PLANNED.path.parents[2]) == 2
    assert marks == sorted(marks) and set(marks) == {1, 2}  # the old record up to some change, the new one from there


def test_a_forced_run_goes_on_where_it_was_if_it_is_forced_again(place, monkeypatch):
    from romae_lite.training import Interrupted

    mark(monkeypatch, 1)
    place()
    plan = Planned(experiment="spirals", preset="quick", seed=0, overrides=tuple((TINY | {"epochs": 4}).items()))
    first, asked = run(plan), []
    with pytest.raises(Interrupted):
        run(plan, force=True, stop=lambda: asked.append(1) or len(asked) == 2)
    mark(monkeypatch, 2)
    asked.clear()
    assert run(plan, force=True, stop=lambda: asked.append(1)).metrics["mark"] == 2 and len(asked) == 2
    with pytest.raises(Interrupted):
        run(plan, force=True, stop=lambda: True)
    assert run(plan).metrics["mark"] == 2 and not any(PLANNED.checkpoint.parent.iterdir())  # who does not force it
    assert first.created <= run(plan).created


def test_a_record_made_again_keeps_the_modes_of_its_files(place, monkeypatch):
    mark(monkeypatch, 1)
    place()
    run(PLANNED, keep_weights=True)
    mine = [PLANNED.path.with_suffix(suffix) for suffix in (".json", ".npz", ".safetensors")]
    for path in mine:
        path.chmod(0o640)
    mark(monkeypatch, 2)
    assert run(PLANNED, keep_weights=True, force=True).metrics["mark"] == 2
    assert [path.stat().st_mode & 0o777 for path in mine] == [0o640] * 3
    rescore(PLANNED)
    assert [path.stat().st_mode & 0o777 for path in mine] == [0o640] * 3

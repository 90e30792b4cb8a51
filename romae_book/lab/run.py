"""Execute one run: from an experiment to its record.

A run trains, evaluates and writes ``results/<experiment>/<name>.json``. A run whose record exists is skipped; one that
was killed goes on from its checkpoint and ends in the same numbers. `settle` says which files a run may have.
"""

import datetime
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import filelock
import torch

from romae_lite.io import atomic_write, clear
from romae_lite.model import count_parameters
from romae_lite.training import CheckpointError, Interrupted, accelerator_for

from ..experiments.base import Experiment
from ..experiments.machine import device_name, peak_memory_mb, reset_peak_memory
from . import provenance, records
from .planned import Planned
from .records import CorruptRecord, Record

AGAIN = " again"  # ends the note of a run that --force has begun


class Stale(RuntimeError):
    """A record that does not answer the question: damaged, another run's, or made on other data."""


class Busy(RuntimeError):
    """Another process is at work on the same run."""


CLEAR = (ValueError, TypeError, OSError, ImportError, CheckpointError, Interrupted, Stale, Busy)


def explain(error: Exception) -> str:
    """An error in one line, with its type where the message alone may not do."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return f"out of memory: a smaller batch, model or data set needs less. {text}".strip()
    return text if isinstance(error, CLEAR) and text else f"{type(error).__name__}: {text}"


def run(
    planned: Planned,
    *,
    log: Callable[[dict], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    device: str | None = None,
    force: bool = False,
    keep_weights: bool = False,
) -> Record:
    """Carry out one run, or return its record if there is one.

    force: run it again, from nothing; a forced run that was killed goes on where it was if it is forced once more. Its
    old record stays until there is the new one. keep_weights: write them beside the record, in half precision. Where
    several processes share the run, the main one evaluates and writes, and the others wait for it.

    Raises Stale where the record there is damaged or another run's, or lacks the weights (``force`` runs it again),
    Busy where another process is on it, CheckpointError where its checkpoint cannot be trusted, Interrupted where
    ``stop`` returned True; OSError, before anything is trained, where the results cannot be written.
    """
    _check_launcher()
    exp = planned.build()
    accelerator, code = accelerator_for(exp.precision, device), provenance.loaded_commit()
    main, planned = accelerator.is_main_process, replace(planned, processes=accelerator.num_processes)
    with _lock(planned) if main else nullcontext():
        if main:
            settle(planned, exp, force)
        accelerator.wait_for_everyone()
        if planned.path.exists() and not force:
            record = _load(planned)
            if keep_weights and record.weights is None:
                raise Stale(f"{planned.path} was recorded without its weights; --force runs it again")
            return record
        _try_folder(planned.path.parent)
        reset_peak_memory()
        data, where = exp.data(planned.seed), device_name(accelerator.device)
        code = _begin(planned, exp, code, force) if main else code
        model, history = exp.train(data, planned.seed, checkpoint=planned.checkpoint, log=log, stop=stop, device=device)
        if main:
            peak = peak_memory_mb(accelerator.device)  # of training: baselines may need more
            metrics = exp.evaluate(model, data.test) | exp.examine(model, data) | exp.compare(data)
            arrays = exp.arrays(model, data)
            record = Record(
                experiment=planned.experiment,
                preset=planned.preset,
                tier=planned.tier,
                config=exp.config(),
                seed=planned.seed,
                metrics=metrics,
                history=history,
                parameters=count_parameters(model),
                device=where,
                precision=provenance.precision_of(accelerator),
                wall_seconds=history[-1]["seconds"],
                peak_memory_mb=peak,
                tokens_per_second=history[-1]["tokens_per_second"],
                versions=provenance.versions(),
                commit=code,
                data_fingerprint=provenance.fingerprint(data),
                command=planned.command,
                deviations=list(exp.deviations),
                created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                processes=planned.processes,
                overrides=dict(planned.overrides),
            )
            with _replacing(planned):
                _, npz, weights = _places(planned)
                _remove(npz, weights)
                if arrays:
                    records.save_arrays(npz, **arrays)
                if keep_weights:
                    record = replace(record, weights=_save_weights(model, weights))
                record.save(planned.path)
            settle(planned, exp)
        accelerator.wait_for_everyone()
        return record if main else _load(planned)


def rescore(planned: Planned) -> Record:
    """Renew the metrics and arrays of other predictors in a record, without training; one that is computed no more
    keeps its old number. versions["baselines"] is then the commit that the others were computed with.

    Raises FileNotFoundError where there is no record, Stale where it is damaged, another run's or made on other data,
    Busy where another process is on it.
    """
    exp, path = planned.build(), planned.path
    with _lock(planned):
        if not any(p.exists() for p in (path, _old(path), _back(path))):
            raise FileNotFoundError(f"there is no record {path}, so no baselines to renew: run it first")
        settle(planned, exp, force=True)
        record, data = _load(planned), exp.data(planned.seed)
        if record.data_fingerprint not in (provenance.fingerprint(data), provenance.fingerprint(data, labels=False)):
            raise Stale(f"{path} was made on other data")
        versions = record.versions | {"baselines": provenance.loaded_commit()}
        record = replace(record, metrics=record.metrics | exp.compare(data), versions=versions)
        arrays, npz = exp.compared(data), path.with_suffix(".npz")
        if arrays and npz.exists():
            arrays = records.load_arrays(npz) | arrays
        with _replacing(planned):
            if arrays:
                records.save_arrays(npz, **arrays)
            record.save(path)
        settle(planned, exp, force=True)
        return record


# The files of a run ---------------------------------------------------------------------------------------------------


def _places(planned: Planned) -> list[Path]:
    """Record, arrays and weights."""
    return [planned.path.with_suffix(suffix) for suffix in (".json", ".npz", ".safetensors")]


def _note(planned: Planned) -> Path:
    """The file beside the checkpoint that keeps the commit of the code that began the run."""
    return planned.checkpoint.with_suffix(".commit")


def _old(path: Path) -> Path:
    """Place of a file of the old record while the new one is written."""
    return path.with_name(f".{path.name}.old")


def _back(path: Path) -> Path:
    """Place of the old record while its other files come back."""
    return path.with_name(f".{path.name}.back")


def _remove(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            path.unlink(missing_ok=True)


def settle(planned: Planned, exp: Experiment, force: bool = False) -> None:
    """Bring the files of a run into one of the states that it may be in, whatever a kill has left. Under its lock.

        nothing
        under way    checkpoints, and a note of the commit that began it
        recorded     a record; arrays and weights where it has them
        again        both, and the note ends in AGAIN: --force has begun it anew

    Before a record is written, an old one and its files become `_old` ones (empty where there was none), and they go
    when it is complete: so `_old` with a record means that the run is finished, and without one that the old record has
    to come back. A call without ``force`` wants the record, and no unfinished second one; with it, nothing older.
    """
    record, *beside = _places(planned)
    checkpoints, note = exp.checkpoints(planned.checkpoint), _note(planned)
    for path in (record, *beside, *map(_old, (record, *beside)), *checkpoints, note):
        clear(path)
    finished = record.exists() and _old(record).exists()
    if not record.exists() and (_old(record).exists() or _back(record).exists()):
        _restore(planned)
    again = note.exists() and note.read_text(encoding="utf-8").endswith(AGAIN)
    if finished or not (again if force else not record.exists()):
        _remove(*checkpoints, note)
    _remove(*map(_old, (*beside, record)))


@contextmanager
def _replacing(planned: Planned) -> Iterator[None]:
    """Keep the old record with its arrays and weights until the new one is written: they come back where that fails, or
    in the next call after a kill, so that new arrays never lie beside an old record."""
    record, *beside = _places(planned)
    for path in beside:
        if path.exists():
            atomic_write(_old(path), path.read_bytes())
            shutil.copymode(path, _old(path))
    again = record.exists()
    if again:
        record.replace(_old(record))
    else:
        atomic_write(_old(record), b"")
    try:
        yield
        for path in (record, *beside) if again else ():
            if path.exists() and _old(path).exists():
                shutil.copymode(_old(path), path)  # files that are nobody else's to read stay so
    except BaseException:
        _restore(planned)
        raise


def _restore(planned: Planned) -> None:
    """Put the old record back, with its arrays and weights. By renaming alone, which a full disk allows; a kill on the
    way leaves all there is for another try."""
    record, *beside = _places(planned)
    if not _back(record).exists():
        _remove(*beside)  # of the new run
        _old(record).replace(_back(record))
    for path in beside:
        if _old(path).exists():
            _old(path).replace(path)
    if _back(record).stat().st_size:
        _back(record).replace(record)
    else:
        _back(record).unlink()


def _begin(planned: Planned, exp: Experiment, code: str, force: bool) -> str:
    """The commit that a record names: today's, with the + of uncommitted code where an earlier call, whose checkpoint
    this run goes on from, had it."""
    note = _note(planned)
    if not any(path.exists() for path in exp.checkpoints(planned.checkpoint)):
        _remove(note)
    begun = note.read_text(encoding="utf-8") if note.exists() else code
    code = code.rstrip("+") + "+" * ("+" in code + begun)
    atomic_write(note, (code + AGAIN * force).encode())
    return code


@contextmanager
def _lock(planned: Planned) -> Iterator[None]:
    """Keep other processes off a run. The lock goes with the process, however it ends; its file, and the note of the
    commit, stay only where there is a run to go on with."""
    checkpoint = planned.checkpoint
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    path = checkpoint.with_suffix(".lock")
    lock = filelock.FileLock(path, blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise Busy(f"another process is at work on {checkpoint.stem}") from error
    try:
        yield
    finally:  # the file goes while it is locked: between releasing and removing it another process could take it
        try:
            if not any(p.exists() for p in planned.build().checkpoints(checkpoint)):
                with suppress(OSError):
                    _remove(_note(planned), path)
        finally:
            lock.release()


def _load(planned: Planned) -> Record:
    """The record of this run. Stale where it is damaged, or another's."""
    try:
        return records.load_sound(planned.path)
    except CorruptRecord as error:
        raise Stale(f"{error}; delete it, or --force runs it again") from error


def _save_weights(model: torch.nn.Module, path: Path) -> str:
    """SHA-256 of the file."""
    from romae_lite import save

    save(model, path, half=True)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _try_folder(folder: Path) -> None:
    """OSError where a record could not be written later; a full disk is still to come."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(error.errno, f"cannot write to {folder}: {error.strerror}") from error


def _check_launcher() -> None:
    """ValueError where the environment speaks of several processes and no launcher has started them."""
    world = os.environ.get("WORLD_SIZE", "1")
    if not re.fullmatch("[1-9][0-9]*", world) or (world != "1" and "LOCAL_RANK" not in os.environ):
        raise ValueError(f"WORLD_SIZE is {world!r}, and LOCAL_RANK not set: unset it, or start by accelerate launch")

"""From an experiment to a record: one run, and campaigns of runs that can be stopped at any time.

A run trains, evaluates and writes ``results/<experiment>/<name>.json``. A run whose record exists is skipped; one that
was killed goes on from its checkpoint and ends in the same numbers.
"""

import datetime
import functools
import glob
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import filelock
import numpy as np
import torch
from accelerate import Accelerator

from romae_lite.io import atomic_write, clear
from romae_lite.model import count_parameters
from romae_lite.training import NUMERICS, CheckpointError, Interrupted, accelerator_for

from ..experiments import experiment, experiments
from ..experiments.base import Experiment, Splits
from ..experiments.data import NotHere
from ..experiments.machine import device_name, peak_memory_mb, reset_peak_memory
from . import records
from .planned import Planned
from .records import CorruptRecord, Record

ROOT = Path(__file__).resolve().parents[2]
STUDY = "encodings"  # what the command line calls the study of position encodings
CODE = ("romae_lite", "romae_book/experiments", "romae_book/lab")  # of which a record names the commit


class Stale(RuntimeError):
    """A record that does not answer what was asked: damaged, another run's, or made on other data."""


class Busy(RuntimeError):
    """Another process is at work on the same run."""


EXPLAINED = (ValueError, TypeError, OSError, ImportError, CheckpointError, Interrupted, Stale, Busy)


def said(error: Exception) -> str:
    """An error in one line; its kind is named where the message may not do alone."""
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return f"out of memory: a smaller batch, model or data set needs less. {text}".strip()
    return text if isinstance(error, EXPLAINED) and text else f"{type(error).__name__}: {text}"


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

    keep_weights: write them beside the record, in half precision. Where several processes share the run, the main one
    evaluates and writes, and the others wait for it.

    Raises Stale where the record there is damaged or another run's, or lacks the weights (``force`` runs it again),
    Busy where another process is on it, CheckpointError where its checkpoint cannot be trusted, Interrupted where
    ``stop`` said so; OSError, before anything is trained, where the results cannot be written.
    """
    _check_launcher()
    exp = planned.build()
    accelerator, code = accelerator_for(exp.precision, device), loaded_commit()
    main, planned = accelerator.is_main_process, replace(planned, processes=accelerator.num_processes)
    with _locked(planned.checkpoint) if main else nullcontext():
        if planned.path.exists() and not force:
            record = _own(planned)
            if keep_weights and record.weights is None:
                raise Stale(f"{planned.path} was recorded without its weights; --force runs it again")
            return record
        _try_folder(planned.path.parent)
        code = _with_beginning(code, planned, exp) if main else code
        reset_peak_memory()
        data, where = exp.data(planned.seed), device_name(accelerator.device)
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
                precision=precision_of(accelerator),
                wall_seconds=history[-1]["seconds"],
                peak_memory_mb=peak,
                tokens_per_second=history[-1]["tokens_per_second"],
                versions=versions(),
                commit=code,
                data_fingerprint=fingerprint(data),
                command=planned.command,
                deviations=list(exp.deviations),
                created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                processes=planned.processes,
            )
            with _aside(planned.path):
                if arrays:
                    records.save_arrays(planned.path.with_suffix(".npz"), **arrays)
                if keep_weights:
                    record = replace(record, weights=_save_weights(model, planned.path.with_suffix(".safetensors")))
                record.save(planned.path)
            _tidy(planned, exp.checkpoints(planned.checkpoint))
        accelerator.wait_for_everyone()
        return record if main else _own(planned)


def _check_launcher() -> None:
    """ValueError where the environment speaks of several processes and no launcher has started them."""
    world = os.environ.get("WORLD_SIZE", "1")
    if not re.fullmatch("[1-9][0-9]*", world) or (world != "1" and "LOCAL_RANK" not in os.environ):
        raise ValueError(f"WORLD_SIZE is {world!r}, and LOCAL_RANK not set: unset it, or start by accelerate launch")


def _own(planned: Planned) -> Record:
    """The record of this run. Stale where it is damaged, or another's."""
    try:
        return records.own(planned.path)
    except CorruptRecord as error:
        raise Stale(f"{error}; delete it, or --force runs it again") from error


def _save_weights(model: torch.nn.Module, path: Path) -> str:
    """SHA-256 of the file."""
    from romae_lite import save

    save(model, path, half=True)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _with_beginning(code: str, planned: Planned, exp: Experiment) -> str:
    """The commit that a record names: today's, with the + of uncommitted code where an earlier call, whose
    checkpoint this run goes on from, had it. Checkpoints of other numerics are refused."""
    note = planned.checkpoint.with_suffix(".commit")
    if not any(path.exists() for path in exp.checkpoints(planned.checkpoint)):
        note.unlink(missing_ok=True)
    begun = note.read_text(encoding="utf-8") if note.exists() else code
    code = code.rstrip("+") + "+" * ("+" in code + begun)
    atomic_write(note, code.encode())
    return code


@contextmanager
def _aside(path: Path) -> Iterator[None]:
    """Put record, arrays and weights that stand there aside while others are written: they come back where that fails,
    and no kill leaves new arrays beside an old record."""
    places = [path.with_suffix(suffix) for suffix in (".json", ".npz", ".safetensors")]
    aside = {place: place.with_name(f".{place.name}.old") for place in places}
    old = [place for place in places if place.exists()]
    try:
        for place in old:
            place.replace(aside[place])
        yield
    except BaseException:
        for place in places:
            if place not in old:
                place.unlink(missing_ok=True)
            elif aside[place].exists():
                aside[place].replace(place)
        raise
    for kept in aside.values():
        kept.unlink(missing_ok=True)  # what a kill has left there as well


def _try_folder(folder: Path) -> None:
    """OSError where a record could not be written later; a full disk is still to come."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(error.errno, f"cannot write to {folder}: {error.strerror}") from error


def _tidy(planned: Planned, checkpoints: Iterable[Path]) -> None:
    """Remove what a finished run needs no more, and the halves of files that killed attempts at it have left."""
    beside = [planned.path.with_suffix(suffix) for suffix in (".json", ".npz", ".safetensors")]
    for path in (*checkpoints, *beside):
        clear(path)
    for path in (*checkpoints, planned.checkpoint.with_suffix(".commit")):
        path.unlink(missing_ok=True)


def rescore(planned: Planned) -> Record:
    """Renew what a record and its arrays say of other predictors, without training; one that is computed no more keeps
    its old number.
    versions["baselines"] is then the commit that the others were computed with.

    Raises FileNotFoundError where there is no record, Stale where it is damaged, another run's or made on other data,
    Busy where another process is on it.
    """
    if not planned.path.exists():
        raise FileNotFoundError(f"there is no record {planned.path}, so no baselines to renew: run it first")
    with _locked(planned.checkpoint):
        exp, record = planned.build(), _own(planned)
        data = exp.data(planned.seed)
        if record.data_fingerprint not in (fingerprint(data), fingerprint(data, labels=False)):
            raise Stale(f"{planned.path} was made on other data")
        versions_ = record.versions | {"baselines": loaded_commit()}
        record = replace(record, metrics=record.metrics | exp.compare(data), versions=versions_)
        if arrays := exp.compared(data):
            path = planned.path.with_suffix(".npz")
            records.save_arrays(path, **((records.load_arrays(path) if path.exists() else {}) | arrays))
        record.save(planned.path)
        return record


def wishes(name: str) -> list[list[Planned]]:
    """What an experiment asks for, most valuable first; each wish is runs that differ in nothing but the seed."""
    return [
        [
            Planned(experiment=name, preset=preset, seed=seed, overrides=tuple(changes[0].items()) if changes else ())
            for seed in range(seeds)
        ]
        for preset, seeds, *changes in experiment(name).campaign
    ]


def missing(names: list[str] | None = None, study: Callable[[], Iterable[Planned]] = tuple) -> list[Planned]:
    """Runs that experiments ask for and that have no record yet, most valuable first: every experiment's first wish
    before anybody's second; then those of the study of position encodings, which has a name like theirs.

    study: makes the runs that the study asks for."""
    everything = names or [*experiments(), STUDY]
    names = [name for name in everything if name != STUDY]
    ranked = [(rank, run) for name in names for rank, wish in enumerate(wishes(name)) for run in wish]
    ranked.sort(key=lambda pair: (pair[0], pair[1].seed))
    recorded = _recorded(names)
    asked = study() if STUDY in everything else ()
    return list(dict.fromkeys([*(planned for _, planned in ranked if not _is_in(recorded, planned)), *asked]))


def campaign(
    names: list[str] | None = None,
    *,
    budget: float = float("inf"),
    report: Callable[[str], None],
    log: Callable[[], Callable | None] = lambda: None,
    device: str | None = None,
    keep_weights: bool = False,
    debug: bool = False,
    study: Callable[[], Iterable[Planned]] = tuple,
    failed: list[str] | None = None,
) -> list[Record]:
    """Do whatever records are missing until ``budget`` seconds are used up; return those that were made.

    Runs that cannot go on are named and passed over, with the traceback where ``debug``; nothing that was recorded is
    lost. failed: gets the names of those that another call will not do either. What one run makes possible, as trials
    of a learning rate do, is done as well.
    """
    end = time.monotonic() + budget
    done, tried = [], set()
    while planned := next((p for p in missing(names, study) if p not in tried), None):
        tried.add(planned)
        if time.monotonic() >= end:
            break
        name, new = f"{planned.experiment} {planned.name}", not planned.path.exists()
        if new:  # else another job was faster, or what is there cannot be used: `run` says so
            report(name)
        try:
            record = run(
                planned, log=log(), stop=lambda: time.monotonic() >= end, device=device, keep_weights=keep_weights
            )
        except Interrupted as reason:
            report(f"{name}: {reason}; call again to go on")
        except Exception as error:  # whatever it is, the next run may do better
            report(f"passed over: {name}: {said(error)}")
            if failed is not None and not isinstance(error, Busy | NotHere):
                failed.append(name)
            if debug:
                report(traceback.format_exc())
        else:
            done += [record] * new
            if not new and not (record.committed and record.numerics == NUMERICS):
                report(f"passed over: {name}: its record is of older or uncommitted code; run it with --force")
    return done


def jobs(count: int, words: Iterable[str]) -> int:
    """So many campaigns at once, each a process with these words of the command line; locks keep them off each other's
    runs. Returns the worst of their exit codes. When this process is stopped, they are stopped as well."""
    threads = str(max(1, (os.cpu_count() or 1) // count))
    environment = {"OMP_NUM_THREADS": threads} | os.environ
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "romae_lite", "campaign", *words]
    started = []
    try:
        for _ in range(count):  # in sessions of their own: Ctrl-C reaches this process alone
            started.append(subprocess.Popen(command, env=environment, start_new_session=True))
        return max(abs(job.wait()) for job in started)
    finally:
        for job in started:
            job.terminate()
        for job in started:
            job.wait()


def _recorded(names: Iterable[str]) -> set[str]:
    """The protocols of all records; a corrupt one is none (and `run` says so rather than write over it)."""
    return {
        _protocol(r.experiment, r.seed, r.tier, r.config)
        for name in names
        for r in records.load_all(experiment=name).records
    }


def _protocol(name: str, seed: int, tier: str, config: dict) -> str:
    """A run of the paper's protocol in another precision answers many questions, but not the wish for that protocol."""
    return json.dumps([name, seed, tier == "paper", experiment(name).protocol(config)], sort_keys=True)


def _is_in(recorded: set[str], planned: Planned) -> bool:
    return _protocol(planned.experiment, planned.seed, planned.tier, planned.build().config()) in recorded


def precision_of(accelerator: Accelerator) -> str:
    return accelerator.mixed_precision.replace("no", "fp32")


def versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("torch", "accelerate", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages, "numerics": str(NUMERICS)}


@functools.cache
def loaded_commit() -> str:
    """`commit` as it was when this process first asked, at its beginning: of the code that it runs, whatever the files
    have become since."""
    return commit()


def commit() -> str:
    """Git commit of the code that trains (CODE), with "+" if its files differ from it; outside a repository
    their hash."""

    def git(*words: str) -> str:
        answer = subprocess.run(("git", "-C", ROOT, *words), capture_output=True, text=True, check=True)
        return answer.stdout.strip()

    try:
        if git("ls-files", "--error-unmatch", "romae_lite/model.py"):
            return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--", *CODE) else "")
    except (OSError, subprocess.CalledProcessError):
        pass
    digest = hashlib.sha256()
    for path in sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return f"content:{digest.hexdigest()}"


def fingerprint(data: Splits, labels: bool = True) -> str:
    """SHA-256 of all splits, aux included: "v2:...". labels=False: as it was once, without aux, for older records."""
    digest = hashlib.sha256()
    for tokens in data:
        tensors = [(name, getattr(tokens, name)) for name in ("values", "positions", "real")]
        if labels:
            aux = {key: t for part in vars(tokens).values() if isinstance(part, dict) for key, t in part.items()}
            tensors += [(key, aux[key]) for key in sorted(aux)]
        for name, tensor in tensors:
            if labels:
                digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
            digest.update(np.ascontiguousarray(tensor.cpu().numpy()))
    return "v2:" * labels + digest.hexdigest()


@contextmanager
def _locked(checkpoint: Path) -> Iterator[None]:
    """Keep other processes off a run. The lock goes with the process, however it ends; its file stays only where there
    is a run to go on with."""
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
        if not any(checkpoint.parent.glob(f"{glob.escape(checkpoint.stem)}.*safetensors")):
            with suppress(OSError):
                path.unlink()
        lock.release()

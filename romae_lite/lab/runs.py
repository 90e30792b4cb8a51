"""From an experiment to a record: one run, and campaigns of runs that can be stopped at any time.

A run trains, evaluates and writes ``results/<experiment>/<name>.json``. A run whose record exists is skipped; one that
was killed goes on from its checkpoint and ends in the same numbers.
"""

import datetime
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import filelock
import numpy as np
import torch

from ..model import count_parameters
from ..training import NUMERICS, CheckpointError, Interrupted, accelerator_for
from . import records
from .classification import pretraining
from .experiment import Splits
from .planned import Planned, command_of
from .records import Record
from .subjects import EXPERIMENTS, experiment

PACKAGE = Path(__file__).resolve().parents[1]


class Stale(RuntimeError):
    """A record of the same name was made with other settings."""


class Busy(RuntimeError):
    """Another process is at work on the same run."""


# What ends one run of a campaign and not the campaign. ValueError: a corrupt record, or a loss that is not finite;
# ImportError: an extra is not installed; FileNotFoundError: the data are not here.
PASSED_OVER = (
    Busy, CheckpointError, Stale, ValueError, ImportError, FileNotFoundError, torch.OutOfMemoryError,
)  # fmt: skip


def run(
    planned: Planned,
    *,
    log: Callable[[dict], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    device: str | None = None,
    force: bool = False,
) -> Record:
    """Carry out one run, or return its record if there is one.

    Raises Stale where a record of that name has other settings (``force`` runs it again), Busy where another process is
    on it, CheckpointError where its checkpoint cannot be trusted, Interrupted where ``stop`` said so.
    """
    exp = planned.build()
    with _locked(planned.checkpoint):
        if planned.path.exists() and not force:
            return _own_record(planned)
        accelerator, code = accelerator_for(exp.precision, device), commit()  # now: the files may change meanwhile
        reset_peak_memory()
        data = exp.data(planned.seed)
        model, history = exp.train(data, planned.seed, checkpoint=planned.checkpoint, log=log, stop=stop, device=device)
        peak = peak_memory_mb(accelerator.device)  # of training: baselines may need more
        metrics = exp.evaluate(model, data.test) | exp.compare(data)
        record = Record(
            experiment=planned.experiment,
            preset=planned.preset,
            tier=planned.tier,
            config=exp.config(),
            seed=planned.seed,
            metrics=metrics,
            history=history,
            parameters=count_parameters(model),
            device=device_name(accelerator.device),
            precision=accelerator.mixed_precision.replace("no", "fp32"),
            wall_seconds=history[-1]["seconds"],
            peak_memory_mb=peak,
            tokens_per_second=history[-1]["tokens_per_second"],
            versions=versions(),
            commit=code,
            data_fingerprint=fingerprint(data),
            command=planned.command,
            deviations=list(exp.deviations),
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )
        if accelerator.is_main_process:
            arrays = exp.arrays(model, data)
            if arrays:
                records.save_arrays(planned.path.with_suffix(".npz"), **arrays)
            record.save(planned.path)
            for done in (planned.checkpoint, pretraining(planned.checkpoint)):
                done.unlink(missing_ok=True)
        return record


def _own_record(planned: Planned) -> Record:
    """The record of this run. Stale where it says that it is another's."""
    record = records.load(planned.path)
    if reason := records.contradiction(record, planned.path):
        raise Stale(f"{planned.path}: {reason}; delete it or use --force")
    return record


def rescore(planned: Planned) -> Record:
    """Renew what a record says of the baselines, without training; one that is computed no more keeps its old number.
    versions["baselines"] is then the commit that the others were computed with.

    Raises FileNotFoundError where there is no record, Stale where it was made with other settings or other data, Busy
    where another process is on it.
    """
    with _locked(planned.checkpoint):
        exp, record = planned.build(), _own_record(planned)
        data = exp.data(planned.seed)
        if fingerprint(data) != record.data_fingerprint:
            raise Stale(f"{planned.path} was made on other data")
        versions_ = record.versions | {"baselines": commit()}
        record = replace(record, metrics=record.metrics | exp.compare(data), versions=versions_)
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


def missing(names: list[str] | None = None) -> list[Planned]:
    """Runs that experiments ask for and that have no record yet, most valuable first: every experiment's first wish
    before anybody's second."""
    names = names or list(EXPERIMENTS)
    ranked = [(rank, run) for name in names for rank, wish in enumerate(wishes(name)) for run in wish]
    ranked.sort(key=lambda pair: (pair[0], pair[1].seed))
    recorded = _recorded(names)
    return [planned for _, planned in ranked if not _is_in(recorded, planned)]


def commands(*names: str) -> str:
    """What repeats the records that some experiments ask for, and makes those that are missing: a command a line."""
    lines = {"": [], "# recorded in part:": [], "# not run yet:": []}
    recorded = _recorded(names)
    for wish in (wish for name in names for wish in wishes(name)):
        done = sum(_is_in(recorded, planned) for planned in wish)
        head = "" if done == len(wish) else "# recorded in part:" if done else "# not run yet:"
        lines[head].append(command_of(wish))
    if lines["# recorded in part:"] or lines["# not run yet:"]:
        lines["# all that is missing:"] = [f"python -m romae_lite campaign {' '.join(names)}"]
    return "\n".join(line for head, several in lines.items() if several for line in (head, *several) if line)


def campaign(
    names: list[str] | None = None,
    *,
    budget: float = float("inf"),
    report: Callable[[str], None],
    log: Callable[[], Callable | None] = lambda: None,
    device: str | None = None,
) -> list[Record]:
    """Do whatever records are missing until ``budget`` seconds are used up. Runs that cannot go on are named and passed
    over; nothing that was recorded is lost."""
    end = time.monotonic() + budget
    done = []
    for planned in missing(names):
        if time.monotonic() >= end:
            break
        report(f"{planned.experiment} {planned.name}")
        try:
            done.append(run(planned, log=log(), stop=lambda: time.monotonic() >= end, device=device))
        except Interrupted as reason:
            report(f"{planned.experiment} {planned.name}: {reason}; call again to go on")
        except PASSED_OVER as reason:
            report(f"passed over: {planned.experiment} {planned.name}: {reason}")
    return done


def _recorded(names: Iterable[str]) -> set[str]:
    """The protocols of all records; a corrupt one is none (and `run` says so rather than write over it)."""
    return {
        _protocol(r.experiment, r.seed, r.config) for name in names for r in records.load_all(experiment=name).records
    }


def _protocol(name: str, seed: int, config: dict) -> str:
    return json.dumps([name, seed, experiment(name).protocol(config)], sort_keys=True)


def _is_in(recorded: set[str], planned: Planned) -> bool:
    return _protocol(planned.experiment, planned.seed, planned.build().config()) in recorded


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"


def reset_peak_memory() -> None:
    """Forget the peaks of earlier runs in this process: on a GPU, and on Linux."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory_mb(device: torch.device) -> float:
    """Of a CUDA GPU, else of this process; 0 on Windows, which does not tell."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("torch", "accelerate", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages, "numerics": str(NUMERICS)}


def commit() -> str:
    """Git commit of the package, with "+" if its files differ from it; outside a repository a hash of its files."""

    def git(*words: str) -> str:
        answer = subprocess.run(("git", "-C", PACKAGE, *words), capture_output=True, text=True, check=True)
        return answer.stdout.strip()

    try:
        if git("ls-files", "--error-unmatch", "model.py"):
            return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.CalledProcessError):
        pass
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return f"content:{digest.hexdigest()}"


def fingerprint(data: Splits) -> str:
    """SHA-256 of values, positions and padding of all splits; labels and masks are not in it."""
    digest = hashlib.sha256()
    for tokens in data:
        for tensor in (tokens.values, tokens.positions, tokens.real):
            digest.update(np.ascontiguousarray(tensor.cpu().numpy()))
    return digest.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes off a run. The lock goes with the process, however it ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:  # under `accelerate launch` all processes share one run
        yield
        return
    lock = filelock.FileLock(path.with_suffix(".lock"), blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise Busy(f"another process is at work on {path.stem}") from error
    try:
        yield
    finally:
        lock.release()

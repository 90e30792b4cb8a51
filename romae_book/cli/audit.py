"""Check that the records are whole: python -m romae_lite verify --records."""

import dataclasses
import hashlib
import json
import math
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..experiments import experiment as class_of
from ..experiments.base import Experiment
from ..lab.planned import ranges, results_dir
from ..lab.records import CorruptRecord, Record, load_all, load_arrays
from ..lab.runs import Runs
from ..paper.claims import CLAIMS

LOG = "LOG.md"  # of results/: what was deleted or replaced there, and why


def load_records(experiment: str | None = None, root: Path | None = None) -> tuple[Record, ...]:
    """The sound records under root, or those of one experiment. ValueError where there are none: a folder that is
    empty, or misspelt, is no success."""
    root = Path(root or results_dir())
    if not (found := load_all(root, experiment).records):
        names = sorted(path.name for path in root.glob("*/")) if root.exists() else []
        what = f"no record of {experiment}" if experiment else "no record"
        raise ValueError(f"there is {what} in {root}; it has {', '.join(names) or 'no folder of any experiment'}")
    return found


class Audit(NamedTuple):
    problems: list[str]  # what must not be
    notes: list[str]  # what a reader should know


def audit(root: Path | None = None, experiment: str | None = None) -> Audit:
    """Hold all records under root (default: `results_dir()`), or those of one experiment, against their commands, each
    other and git's history. ValueError where there is none."""
    root = Path(root or results_dir())
    if experiment is not None:
        class_of(experiment)  # refuses a name that is none
    loaded = load_all(root, experiment)
    problems = [f"{p.path.relative_to(root).as_posix()}: {p.reason}" for p in loaded.problems]
    found = loaded.records if problems else load_records(experiment, root)
    problems += [*gaps(found), *other_data(found), *weights(found)]
    problems += [line for line in arrays(root, found) if experiment in (None, line.split("/")[0])]
    notes = [f"{len(found)} records"]
    loose = sum(not r.committed for r in found)
    notes.append(f"{loose} of them made by code that differs from its commit (their commit ends in +)")
    known = commits(root)
    if known is None:
        notes.append("no whole git history here: commits and deletions are not checked")
    else:
        problems += [
            f"{place(r)}: its commit {r.commit} is not in the history"
            for r in found
            if not r.commit.startswith("content:") and r.commit.removesuffix("+") not in known
        ]
        lost = [name for name in deleted(root) if experiment in (None, name.split("/")[0])]
        problems += [f"{name} was deleted, and {LOG} has no line about it" for name in lost]
    return Audit(problems, notes)


def place(record: Record) -> str:
    return f"{record.experiment}/{record.path.name}"


def gaps(records: tuple[Record, ...]) -> Iterator[str]:
    """Settings whose seeds are not 0, 1, 2, ...: a run that was left out may be one that nobody liked."""
    for runs in Runs(records).by_setting().values():
        if lacking := set(range(runs[-1].seed)) - {run.seed for run in runs}:
            yield f"{place(runs[-1])}: is recorded, but not seeds {ranges(lacking)} of the same settings"


def other_data(records: tuple[Record, ...]) -> Iterator[str]:
    """Runs that should have seen the same data, and did not.

    They are those of one experiment, seed and numerics whose settings of the subject's own are equal: settings that all
    experiments share are about model and training, but those that the subject names as `shaping` its data. Two kinds of
    processor may round a drawn number differently in its last digit; then the best possible predictor, which learns
    nothing, has the same score to 1e-9 on both, and the data are the same.
    """
    optima = {(c.experiment, f"{c.metric}_{c.optimum}") for c in CLAIMS if c.optimum}
    first: dict[tuple, Record] = {}
    for r in records:
        shared = {
            f.name
            for base in class_of(r.experiment).__mro__
            if dataclasses.is_dataclass(base) and base.__module__.rpartition(".")[0] == "romae_book.experiments"
            for f in dataclasses.fields(base)
        }
        shared -= class_of(r.experiment).shaping
        own = {name: value for name, value in r.config.items() if name not in shared}
        version = r.data_fingerprint.rpartition(":")[0]  # fingerprints of different kinds are no contradiction
        key = (r.experiment, r.seed, r.numerics, version, json.dumps(own, sort_keys=True))
        other = first.setdefault(key, r)
        if other.data_fingerprint == r.data_fingerprint:
            continue
        scores = [
            [record.metrics.get(metric, math.nan) for record in (r, other)]
            for name, metric in optima if name == r.experiment
        ]
        if not any(math.isclose(*pair, rel_tol=1e-9) for pair in scores):
            yield f"{place(r)}: was made on other data than {other.path.name}"


def arrays(root: Path, records: tuple[Record, ...]) -> Iterator[str]:
    """Arrays for figures that are missing, damaged, or left behind."""
    for r in records:
        cls = class_of(r.experiment)
        if cls.arrays is not Experiment.arrays or cls.compared is not Experiment.compared:
            try:
                load_arrays(r.path.with_suffix(".npz"))
            except FileNotFoundError:
                yield f"{place(r)}: has no arrays beside it"
            except CorruptRecord as error:
                yield f"{r.experiment}/{error.path.name}: {error.reason}"
    for path in sorted(root.glob("*/*.npz")):
        if not path.with_suffix(".json").exists():
            yield f"{path.relative_to(root)}: belongs to no record"


def weights(records: tuple[Record, ...]) -> Iterator[str]:
    """Weights that a record speaks of, and that are missing or others."""
    for r in records:
        file = r.path.with_suffix(".safetensors")
        if r.weights and not (file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == r.weights):
            yield f"{place(r)}: its weights are not beside it, or are others"


def git(root: Path, *words: str) -> str:
    return subprocess.run(("git", "-C", root, *words), capture_output=True, text=True, check=True).stdout


def commits(root: Path) -> set[str] | None:
    """All commits up to today's. None where root is in no repository, or its history was cut short."""
    try:
        if git(root, "rev-parse", "--is-shallow-repository").strip() == "true":
            return None
        return set(git(root, "rev-list", "HEAD").split())
    except (OSError, subprocess.CalledProcessError):
        return None


def deleted(root: Path) -> Iterator[str]:
    """Files that git's history once had under root, that are gone, and that the log does not name on the day when they
    went, or later."""
    options = "-m --full-history --no-renames --diff-filter=D --format=@%cs --name-only --relative".split()
    log = (root / LOG).read_text(encoding="utf-8") if (root / LOG).exists() else ""
    told, day = {}, ""
    for line in log.splitlines():
        day = found[1] if (found := re.match(r"- (\d{4}-\d\d-\d\d)", line)) else day
        for name in re.findall(r"`([^`]+)`", line):
            told[name] = max(told.get(name, ""), day)
    gone, when = {}, ""
    for line in git(root, "-c", "core.quotePath=off", "log", *options, "--", ".").splitlines():
        if line.startswith("@"):
            when = line[1:]
        elif line:
            gone[line] = max(gone.get(line, ""), when)
    for name, when in sorted(gone.items()):
        if not (root / name).exists() and told.get(str(Path(name).with_suffix("")), "") < when:
            yield name

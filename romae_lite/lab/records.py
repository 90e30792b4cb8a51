"""Records: what a run leaves behind, and how several of them become one number with an interval.

    results/<experiment>/<preset>[-field=value...]-s<seed>.json      one Record per run
    results/<experiment>/<same name>.npz                             optional: small arrays for figures

Every number in the book comes from these files. Needs numpy only.
"""

import dataclasses
import hashlib
import io
import json
import math
import numbers
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files import atomic_write

SCHEMA = 1
TIERS = (
    "paper",  # the paper's protocol on the whole data set
    "own",  # our settings, whole data set, at the same cost or lower
    "reduced",  # not the paper's protocol in full: fewer epochs, samples, another setting; it says of what
    "ablation",  # our settings with something changed: for a chapter to show, never beside a claim
    "smoke",  # proves that the code runs; never shown as a result
)
NEUTRAL = frozenset({"precision", "compile"})  # settings that change a run's speed, not its protocol
ARRAYS_LIMIT = 200_000  # bytes: the arrays are committed beside the records
RESAMPLES = 10_000


class CorruptRecord(ValueError):
    """A file under results/ that cannot be trusted: ``path`` says which, ``reason`` what is wrong with it."""

    def __init__(self, path: Path, reason: str):
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = Path(path), reason


@dataclass(frozen=True, kw_only=True)
class Record:
    """One finished run: what was run, how, on what, and what came out.

    Checked on construction: TypeError or ValueError name the field, the value and what it accepts; numbers
    that are not finite are refused by name. numpy scalars become Python numbers and tuples lists, so that a
    record equals what is read back from its file.
    """

    schema: int = SCHEMA
    experiment: str
    preset: str
    tier: str  # one of TIERS
    config: dict[str, Any]  # every setting of the experiment
    seed: int
    metrics: dict[str, float]
    history: list[dict]  # one entry per line of the learning curve
    parameters: int  # of the model that was trained
    device: str
    precision: str
    wall_seconds: float
    peak_memory_mb: float
    tokens_per_second: float
    versions: dict[str, str]
    commit: str  # git commit, or "content:<sha256 of the package>"
    data_fingerprint: str
    command: str  # that repeats the run
    deviations: list[str]  # ids of book/deviations.md
    created: str  # ISO 8601, UTC

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = _plain(getattr(self, field.name), field.name)
            kind = _KINDS[field.name]
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind:
                raise TypeError(f"{field.name} is {value!r}; it must be of type {kind.__name__}")
            object.__setattr__(self, field.name, value)
        if self.schema != SCHEMA:
            raise ValueError(f"schema is {self.schema}; this version reads schema {SCHEMA}")
        if self.tier not in TIERS:
            raise ValueError(f"tier is {self.tier!r}; choose one of {', '.join(TIERS)}")
        for name in ("experiment", "preset"):
            if not getattr(self, name):
                raise ValueError(f"{name} is empty")
        for name in ("seed", "parameters", "wall_seconds", "peak_memory_mb", "tokens_per_second"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if not self.metrics:
            raise ValueError("metrics is empty; a run without a result leaves no record")
        _all_of(self.metrics.values(), (int, float), "metrics", "numbers")
        object.__setattr__(self, "metrics", {key: float(value) for key, value in self.metrics.items()})
        _all_of(self.history, (dict,), "history", "dictionaries")
        _all_of(self.versions.values(), (str,), "versions", "strings")
        _all_of(self.deviations, (str,), "deviations", "strings")
        try:
            utc = datetime.fromisoformat(self.created.replace("Z", "+00:00")).utcoffset()
        except ValueError:
            utc = None
        if utc is None or utc.total_seconds():
            raise ValueError(f"created is {self.created!r}; it must be UTC, like 2026-01-31T12:00:00Z")

    def save(self, path: str | os.PathLike) -> Path:
        """Write the record as JSON and return its path.

        Atomic: at any moment there is the old file or the new one, whole. Raises OSError naming the path
        where it cannot be written (full disk); the old file survives.
        """
        text = json.dumps(dataclasses.asdict(self), indent=1, allow_nan=False, ensure_ascii=False)
        atomic_write(Path(path), (text + "\n").encode())
        return Path(path)


# The type of every field once it is plain; annotations say more, this is what is checked.
_KINDS = {
    **dict.fromkeys(("schema", "seed", "parameters"), int),
    **dict.fromkeys(("wall_seconds", "peak_memory_mb", "tokens_per_second"), float),
    **dict.fromkeys(("config", "metrics", "versions"), dict),
    **dict.fromkeys(("history", "deviations"), list),
    **dict.fromkeys(("experiment", "preset", "tier", "device", "precision"), str),
    **dict.fromkeys(("commit", "data_fingerprint", "command", "created"), str),
}


def _plain(value: Any, name: str) -> Any:
    """The value as JSON has it; ValueError or TypeError names the place of what JSON cannot hold."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{name} has the key {key!r}; keys must be strings")
        return {key: _plain(inner, f"{name}.{key}") for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, f"{name}[{i}]") for i, inner in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}; only finite numbers are recorded")
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{name} is {value!r}; a record holds numbers, strings, lists and dictionaries only")


def _all_of(values: Iterable, kinds: tuple[type, ...], name: str, expected: str) -> None:
    for value in values:
        if type(value) not in kinds:
            raise TypeError(f"{name} holds {value!r}; it must hold {expected} only")


# Where records live -----------------------------------------------------------------------------------------


def results_dir() -> Path:
    """The folder of all records: $ROMAE_RESULTS, else the repository's results/, else ./results."""
    if chosen := os.environ.get("ROMAE_RESULTS"):
        return Path(chosen)
    repository = Path(__file__).resolve().parents[2]
    return repository / "results" if (repository / "pyproject.toml").exists() else Path("results")


def name(preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0) -> str:
    """File name, without suffix, of a run: "paper-s0", "paper-cls=true-lr=0.001-s3".

    The order of the overrides does not matter. Characters that a file system may refuse become "_"; a short
    hash then keeps different runs apart, and so it does where the name would grow too long.
    """
    fields = {field: _plain(value, field) for field, value in sorted((overrides or {}).items())}
    shown = (f"{field}={v if isinstance(v, str) else json.dumps(v)}" for field, v in fields.items())
    raw = "-".join([preset, *shown])
    safe = re.sub(r"[^\w.=+,-]", "_", raw, flags=re.ASCII)[:120]
    if safe != raw:
        safe += "~" + hashlib.sha256(json.dumps([preset, fields]).encode()).hexdigest()[:8]
    return f"{safe}-s{seed}"


def record_path(
    experiment: str, preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0,
    root: str | os.PathLike | None = None,
) -> Path:  # fmt: skip
    """Where the record of a run lies; its arrays are beside it, ``path.with_suffix(".npz")``."""
    return Path(root or results_dir()) / experiment / f"{name(preset, overrides, seed)}.json"


# Reading ----------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike) -> Record:
    """Read one record. CorruptRecord names the file and what is wrong with it."""
    path = Path(path)
    try:
        data = json.loads(path.read_bytes().decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and JSONDecodeError are ValueErrors
        raise CorruptRecord(path, f"is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise CorruptRecord(path, f"holds a {type(data).__name__}, not a record")
    known = {field.name for field in dataclasses.fields(Record)}
    if data.get("schema") == SCHEMA or "schema" not in data:
        if missing := sorted(known - set(data)):
            raise CorruptRecord(path, f"lacks {', '.join(missing)}")
        if unknown := sorted(set(data) - known):
            raise CorruptRecord(path, f"has unknown fields {', '.join(unknown)}")
    else:
        raise CorruptRecord(path, f"schema is {data['schema']!r}; this version reads schema {SCHEMA}")
    try:
        return Record(**data)
    except (TypeError, ValueError) as error:
        raise CorruptRecord(path, str(error)) from error


def _refuse_constant(constant: str):
    raise ValueError(f"{constant} is no JSON number")


class Problem(NamedTuple):
    path: Path
    reason: str


@dataclass(frozen=True)
class Loaded:
    """What lies under results/: records, the path of each, and the files skipped, with the reason."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]
    paths: tuple[Path, ...]


def load_all(root: str | os.PathLike | None = None, experiment: str | None = None) -> Loaded:
    """Every record under root (default: `results_dir()`), or those of one experiment, ordered by file name.

    A file that cannot be read, or whose place and name contradict what is in it (a copy would count twice),
    is not used but listed in ``problems``. No folder means no records.
    """
    root = Path(root or results_dir())
    records, problems, paths = [], [], []
    for path in sorted(root.glob(f"{experiment or '*'}/*.json")):
        if path.name.startswith("."):  # what a killed write may leave
            continue
        try:
            record = load(path)
        except CorruptRecord as error:
            problems.append(Problem(path, error.reason))
        except OSError as error:
            problems.append(Problem(path, f"cannot be read: {error.strerror}"))
        else:
            if reason := _misplaced(record, path):
                problems.append(Problem(path, reason))
            else:
                records.append(record)
                paths.append(path)
    return Loaded(tuple(records), tuple(problems), tuple(paths))


def _misplaced(record: Record, path: Path) -> str | None:
    if record.experiment != path.parent.name:
        return f"holds a run of {record.experiment}, but lies in {path.parent.name}/"
    plain = name(record.preset, seed=record.seed)
    head, tail = plain.rsplit("-", 1)
    if path.stem != plain and not (path.stem.startswith(f"{head}-") and path.stem.endswith(f"-{tail}")):
        return f"holds preset {record.preset}, seed {record.seed}, which its name denies"
    return None


def select(
    records: Iterable[Record], experiment: str, tier: str | None = None,
    where: Mapping[str, Any] | None = None, preset: str | None = None,
) -> list[Record]:  # fmt: skip
    """The records of one experiment (and tier, preset) whose config has these values, ordered by seed.

    A record whose config has not such a field does not match.
    """
    if tier is not None and tier not in TIERS:
        raise ValueError(f"tier is {tier!r}; choose one of {', '.join(TIERS)}")
    wanted = _plain(where or {}, "where")
    found = [
        r for r in records
        if r.experiment == experiment and tier in (None, r.tier) and preset in (None, r.preset)
        and all(field in r.config and r.config[field] == value for field, value in wanted.items())
    ]  # fmt: skip
    return sorted(found, key=lambda r: (r.seed, r.created))


# Arrays for figures -----------------------------------------------------------------------------------------


def save_arrays(path: str | os.PathLike, **arrays) -> Path:
    """Write arrays as a compressed .npz of at most 200 kB, atomically, and return its path.

    float64 becomes float32: figures need no more. TypeError for an array that is not of numbers or booleans,
    ValueError (before anything is written) where the file would be too large.
    """
    ready = {}
    for key, value in arrays.items():
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{key} has dtype {array.dtype}; arrays hold real numbers or booleans only")
        ready[key] = array.astype(np.float32) if array.dtype.kind == "f" and array.itemsize > 4 else array
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **ready)
    data = buffer.getvalue()
    if len(data) > ARRAYS_LIMIT:
        raise ValueError(f"{Path(path).name} would take {len(data)} bytes; the limit is {ARRAYS_LIMIT}")
    atomic_write(Path(path), data)
    return Path(path)


def load_arrays(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Read the arrays of a .npz; nothing is ever unpickled. CorruptRecord names a file that is damaged."""
    path = Path(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except OSError:
        raise
    except Exception as error:  # damage shows in many ways: BadZipFile, zlib.error, SyntaxError ...
        raise CorruptRecord(path, f"is not an archive of arrays: {error}") from error

"""Records: what a run leaves behind, and how several of them become one number with an interval.

    results/<experiment>/<preset>[-field=value...]-s<seed>.json      one Record per run
    results/<experiment>/<same name>.npz                             optional: small arrays for figures

Every number in the book comes from these files. Needs numpy only.
"""

import dataclasses
import io
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..files import atomic_write
from .planned import Planned, plain, results_dir

SCHEMA = 1
TIERS = (
    "paper",  # the paper's protocol on the whole data set
    "own",  # our settings, whole data set, at the same cost or lower
    "reduced",  # not the paper's protocol in full: fewer epochs, samples, another setting; it says of what
    "ablation",  # our settings with something changed: for a chapter to show, never beside a claim
    "smoke",  # proves that the code runs; never shown as a result
)
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
            value = plain(getattr(self, field.name), field.name)
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

    path: ClassVar[Path | None] = None  # the file that a record was read from

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that the run left for figures, from the .npz beside the record."""
        return load_arrays(self.path.with_suffix(".npz"))

    @property
    def planned(self) -> Planned:
        """What was asked for."""
        return Planned.of(self.command)

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


def _all_of(values: Iterable, kinds: tuple[type, ...], name: str, expected: str) -> None:
    for value in values:
        if type(value) not in kinds:
            raise TypeError(f"{name} holds {value!r}; it must hold {expected} only")


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
        record = Record(**data)
    except (TypeError, ValueError) as error:
        raise CorruptRecord(path, str(error)) from error
    object.__setattr__(record, "path", path)
    return record


def _refuse_constant(constant: str):
    raise ValueError(f"{constant} is no JSON number")


class Problem(NamedTuple):
    path: Path
    reason: str


@dataclass(frozen=True)
class Loaded:
    """What lies under results/: records, and the files skipped, with the reason."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def load_all(root: str | os.PathLike | None = None, experiment: str | None = None) -> Loaded:
    """Every record under root (default: `results_dir()`), or those of one experiment, ordered by file name.

    A file that cannot be read, that contradicts its name or itself, or that repeats another (a copy would count twice)
    is not used but listed in ``problems``. No folder means no records.
    """
    root = Path(root or results_dir())
    records, problems, seen = [], [], {}
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
            twin = seen.setdefault(json.dumps([record.experiment, record.seed, record.config], sort_keys=True), path)
            if reason := contradiction(record, path):
                problems.append(Problem(path, reason))
            elif twin != path:
                problems.append(Problem(path, f"repeats {twin.name}"))
            else:
                records.append(record)
    return Loaded(tuple(records), tuple(problems))


def contradiction(record: Record, path: Path) -> str | None:
    """What a record says against the place where it lies, or against itself: its command must repeat it. None: nothing.

    So a copy, another seed's record, an edited setting and a tier that the settings do not deserve are all found.
    """
    if record.experiment != path.parent.name:
        return f"holds a run of {record.experiment}, but lies in {path.parent.name}/"
    try:
        planned = Planned.of(record.command)
        exp = planned.build()
    except (ValueError, TypeError) as error:
        return f"its command does not repeat it: {error}"
    said = {
        "experiment": (record.experiment, planned.experiment),
        "preset": (record.preset, planned.preset),
        "seed": (record.seed, planned.seed),
        "tier": (record.tier, planned.tier),
        "file name": (path.stem, planned.name),
    }
    for what, (own, of_command) in said.items():
        if own != of_command:
            return f"its {what} is {own}, but its command makes {of_command}"
    settings = plain(exp.config(), "config")
    for key in sorted({*settings, *record.config}):
        if key not in record.config:
            return f"its config lacks {key}"
        if key not in settings:
            return f"its config has {key}, which is no setting of {record.experiment}"
        if settings[key] != record.config[key]:
            return f"its config has {key} = {record.config[key]!r}, but its command makes {settings[key]!r}"
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
    wanted = plain(where or {}, "where")
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

"""Records: what a run leaves behind, and how it is read back. A record that contradicts its file name, its command or
itself is rejected.

    results/<experiment>/<preset>[-field=value...]-s<seed>.json      one Record per run
    results/<experiment>/<same name>.npz                             optional: small arrays for figures
    results/<experiment>/<same name>.safetensors                     if asked for: the weights, in half precision

Every number in the book comes from these files.
"""

import dataclasses
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from romae_lite.io import atomic_write, parse_json, read

from .planned import Planned, plain, results_dir, setting_of

SCHEMA = 1
TIERS = (
    "paper",  # the paper's protocol on the whole data set
    "own",  # our settings; the data budget, which may be larger, is named wherever they are shown
    "reduced",  # not the paper's protocol in full: fewer epochs, samples, another setting; it says of what
    "ablation",  # our settings with something changed: for a chapter to show, never beside a claim
    "smoke",  # proves that the code runs; never shown as a result
)
ARRAYS_LIMIT = 200_000  # bytes: the arrays are committed beside the records
UNPACKED_LIMIT = 20_000_000  # bytes that they may unpack to
FILE_LIMIT = 10_000_000  # bytes: a larger file is none of ours
DEVIATIONS = 50  # book/deviations.md has D1 to D50; tests/test_damage.py compares
PRECISIONS = ("fp32", "bf16")
NEVER_NEGATIVE = ("mse", "rmse", "mae", "parameters")  # first words of metrics
SHARES = ("accuracy", "f1")  # those that lie in [0, 1]


class CorruptRecord(ValueError):
    """A file under results/ that cannot be trusted. ``path`` is the file, ``reason`` what is wrong with it."""

    def __init__(self, path: Path, reason: str):
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = Path(path), reason


@dataclass(frozen=True, kw_only=True)
class Record:
    """One finished run: what was run, how, on what, and what came out.

    Checked on construction: TypeError or ValueError name the field, the value and what it accepts. numpy scalars become
    Python numbers and tuples lists, so that a record equals what is read back from its file.
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
    processes: int = 1  # that shared the run
    weights: str | None = None  # SHA-256 of the file of weights beside the record, where they were kept
    overrides: dict[str, Any] | None = None  # settings that were changed from the preset; None in older records

    @property
    def committed(self) -> bool:
        """True if the code that made it and its baselines can be had again: a commit with a + had been changed."""
        return not any(code.endswith("+") for code in (self.commit, self.versions.get("baselines", "")))

    @property
    def numerics(self) -> int:
        """Version of the arithmetic that made it (`romae_lite.training.NUMERICS`): runs of one are alike by seed."""
        return int(self.versions.get("numerics", 1))

    def __post_init__(self):
        for field in dataclasses.fields(self):
            value = plain(getattr(self, field.name), field.name)
            kind = _KINDS[field.name]
            if kind is float and type(value) is int:
                value = float(value)
            if type(value) is not kind and not (value is None and field.default is None):
                raise TypeError(f"{field.name} is {value!r}; it must be of type {kind.__name__}")
            object.__setattr__(self, field.name, value)
        if self.schema != SCHEMA:
            raise ValueError(f"schema is {self.schema}; this version reads schema {SCHEMA}")
        if self.tier not in TIERS:
            raise ValueError(f"tier is {self.tier!r}; choose one of {', '.join(TIERS)}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision is {self.precision!r}; choose one of {', '.join(PRECISIONS)}")
        for name in ("experiment", "preset"):
            if not re.fullmatch(r"\w+", getattr(self, name), flags=re.ASCII):
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be a name")
        if self.processes < 1:
            raise ValueError(f"processes is {self.processes}; it must be at least 1")
        for name in ("seed", "parameters", "wall_seconds", "peak_memory_mb", "tokens_per_second"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if not self.metrics:
            raise ValueError("metrics is empty; a run without a result leaves no record")
        _all_of(self.metrics.values(), (int, float), "metrics", "numbers")
        object.__setattr__(self, "metrics", {key: float(value) for key, value in self.metrics.items()})
        for name, value in self.metrics.items():
            word = name.split("_")[0]
            if value < 0 and word in NEVER_NEGATIVE + SHARES or value > 1 and word in SHARES:
                limits = "in [0, 1]" if word in SHARES else "at least 0"
                raise ValueError(f"metrics.{name} is {value}; it must be {limits}")
        _all_of(self.history, (dict,), "history", "dictionaries")
        for i, entry in enumerate(self.history):
            if type(entry.get("step")) is not int or entry["step"] < 0:
                raise ValueError(f"history[{i}] has no step from 0 on; every entry of a learning curve has one")
            for name, value in entry.items():
                if type(value) not in ((str,) if name == "stage" else (int, float)):
                    raise TypeError(f"history[{i}].{name} is {value!r}; it must be a number")
        _all_of(self.versions.values(), (str,), "versions", "strings")
        if not re.fullmatch("[0-9]{1,9}", self.versions.get("numerics", "1")):
            raise ValueError(f"versions.numerics is {self.versions['numerics']!r}; it must be a whole number")
        for name in self.deviations:
            if type(name) is not str or not re.fullmatch("D[1-9][0-9]?", name) or int(name[1:]) > DEVIATIONS:
                raise ValueError(f"deviations holds {name!r}; there are D1 to D{DEVIATIONS}")
        try:
            made = datetime.fromisoformat(self.created.replace("Z", "+00:00"))
        except ValueError:
            made = None
        if made is None or made.utcoffset() != timedelta(0):
            raise ValueError(f"created is {self.created!r}; it must be UTC, like 2026-01-31T12:00:00Z")
        if made > datetime.now(UTC) + timedelta(days=1):  # clocks differ, but not by so much
            raise ValueError(f"created is {self.created!r}, which lies in the future")

    path: ClassVar[Path | None] = None  # the file that a record was read from, or saved to

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that the run left for figures, from the .npz beside the record."""
        return load_arrays(self.path.with_suffix(".npz"))

    @cached_property
    def setting(self) -> str:
        """The key of what was asked: runs with the same one differ in seed, precision and code alone."""
        return setting_of(self.experiment, self.config)

    @cached_property
    def planned(self) -> Planned:
        """The run that was asked for. Older records name the settings they changed in their command alone."""
        if self.overrides is None:
            return Planned.of(self.command)
        return Planned(
            experiment=self.experiment, preset=self.preset, seed=self.seed, processes=self.processes,
            overrides=tuple(self.overrides.items()),
        )

    def as_dict(self) -> dict[str, Any]:
        """The fields as JSON has them; an older record gets none that it did not have."""
        return {k: v for k, v in dataclasses.asdict(self).items() if k != "overrides" or v is not None}

    def save(self, path: str | os.PathLike) -> Path:
        """Write the record as JSON and return its path.

        Atomic: at any moment there is the old file or the new one, whole. OSError names a path that cannot be written
        (full disk); the old file survives.
        """
        text = json.dumps(self.as_dict(), indent=1, allow_nan=False, ensure_ascii=False)
        object.__setattr__(self, "path", Path(path))
        atomic_write(self.path, (text + "\n").encode())
        return self.path


# The type of every field once it is plain; annotations say more, this is what is checked.
_KINDS = {
    **dict.fromkeys(("schema", "seed", "parameters", "processes"), int),
    **dict.fromkeys(("wall_seconds", "peak_memory_mb", "tokens_per_second"), float),
    **dict.fromkeys(("config", "metrics", "versions", "overrides"), dict),
    **dict.fromkeys(("history", "deviations"), list),
    **dict.fromkeys(("experiment", "preset", "tier", "device", "precision"), str),
    **dict.fromkeys(("commit", "data_fingerprint", "command", "created", "weights"), str),
}


def _all_of(values: Iterable, kinds: tuple[type, ...], name: str, expected: str) -> None:
    for value in values:
        if type(value) not in kinds:
            raise TypeError(f"{name} holds {value!r}; it must hold {expected} only")


# Reading --------------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike) -> Record:
    """Read one record. CorruptRecord names the file and what is wrong with it."""
    path = Path(path)
    return _parse(path, _read(path))


def load_sound(path: str | os.PathLike) -> Record:
    """Read one record, and hold it against the place where it lies: its own command must repeat it.

    Settings that are younger than the record are put into its config. CorruptRecord names the file, and what it says
    against its name or itself: so a copy, another seed's record, an edited setting and a tier that the settings do not
    deserve are all found.
    """
    path = Path(path)
    return _compare(path, _read(path))


def _read(path: Path) -> bytes:
    with _naming(path, "cannot be read: "):
        return read(path, FILE_LIMIT)


@contextmanager
def _naming(path: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong with a file of somebody else's making is CorruptRecord, so that its name is known."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        raise CorruptRecord(path, f"{what}{getattr(error, 'strerror', None) or str(error) or repr(error)}") from error


def _parse(path: Path, content: bytes) -> Record:
    with _naming(path, "is not JSON: "):
        data = parse_json(content.decode())
        if b"\\ud" in content.lower():  # half a character, which no file and no page can hold, is a ValueError
            json.dumps(data, ensure_ascii=False).encode()
    if not isinstance(data, dict):
        raise CorruptRecord(path, f"holds a {type(data).__name__}, not a record")
    if data.get("schema", SCHEMA) != SCHEMA:
        raise CorruptRecord(path, f"schema is {data['schema']!r}; this version reads schema {SCHEMA}")
    fields = {field.name: field for field in dataclasses.fields(Record)}
    younger = {"processes", "weights", "overrides"}  # than the oldest records
    if missing := sorted(fields.keys() - younger - data.keys()):
        raise CorruptRecord(path, f"lacks {', '.join(missing)}")
    if unknown := sorted(data.keys() - fields.keys()):
        raise CorruptRecord(path, f"has unknown fields {', '.join(unknown)}")
    with _naming(path, ""):
        record = Record(**data)
    object.__setattr__(record, "path", path)
    return record


def _compare(path: Path, content: bytes) -> Record:
    record = _parse(path, content)
    with _naming(path, "its command does not repeat it: "):
        planned = record.planned
        exp = planned.build()
    found = {
        "folder": (path.parent.name, planned.experiment),
        "file name": (path.stem, planned.name),
        "experiment": (record.experiment, planned.experiment),
        "preset": (record.preset, planned.preset),
        "seed": (record.seed, planned.seed),
        "processes": (record.processes, planned.processes),
        "tier": (record.tier, planned.tier),
    }
    if record.overrides is not None and record.command != planned.command:
        raise CorruptRecord(path, f"its command is {record.command!r}, but its settings make {planned.command!r}")
    for what, (mine, of_command) in found.items():
        if mine != of_command:
            raise CorruptRecord(path, f"its {what} is {mine}, but its command makes {of_command}")
    settings, config = plain(exp.config(), "config"), exp.completed(record.config)
    for key in sorted({*settings, *config}):
        if key not in config:
            raise CorruptRecord(path, f"its config lacks {key}")
        if key not in settings:
            raise CorruptRecord(path, f"its config has {key}, which is no setting of {record.experiment}")
        if json.dumps(settings[key], sort_keys=True) != json.dumps(config[key], sort_keys=True):  # 1 is not 1.0
            raise CorruptRecord(
                path, f"its config has {key} = {config[key]!r}, but its command makes {settings[key]!r}"
            )
    object.__setattr__(record, "config", config)
    return record


_compare_once = lru_cache(maxsize=2048)(_compare)  # a page of the book asks for the same hundred records over and over


class Problem(NamedTuple):
    path: Path
    reason: str


@dataclass(frozen=True)
class Loaded:
    """The contents of results/: sound records, and the files that are none, with the reason."""

    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


def load_all(root: str | os.PathLike | None = None, experiment: str | None = None) -> Loaded:
    """Every record under root (default: `results_dir()`), or those of one experiment, ordered by file name.

    A file that cannot be read or that contradicts its name or itself (`load_sound`) is not used but listed in
    ``problems``: so no run counts twice, whatever a copy of it is called. No folder means no records; a file in its
    place is a NotADirectoryError.
    """
    root = Path(root or results_dir())
    if root.exists() and not root.is_dir():
        raise NotADirectoryError(f"{root} is a file; the records lie in a folder ($ROMAE_RESULTS says which)")
    found, problems, seen = [], [], {}
    for path in sorted(root.glob(f"{experiment or '*'}/*.json")):
        if path.name.startswith("."):  # what a killed write may leave
            continue
        try:
            record = _compare_once(path, _read(path))
        except (CorruptRecord, FileNotFoundError) as error:  # of a link to nothing
            problems.append(Problem(path, getattr(error, "reason", "cannot be read: it is not there")))
        else:
            found.append(record)
    # of two of one run the committed one counts, and the one of the higher tier, whatever their names
    for record in sorted(found, key=lambda r: (not r.committed, TIERS.index(r.tier))):
        run = json.dumps([record.experiment, record.seed, record.config], sort_keys=True)
        if (twin := seen.setdefault(run, record.path)) != record.path:
            problems.append(Problem(record.path, f"repeats {twin.name}"))
    counted = set(seen.values())
    return Loaded(tuple(record for record in found if record.path in counted), tuple(problems))


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
    """Read the arrays of a .npz; nothing is ever unpickled. CorruptRecord names a file that is damaged, or unpacks to
    more than UNPACKED_LIMIT: a few kilobytes can hold gigabytes of zeros."""
    path = Path(path)
    content = _read(path)
    with _naming(path, "is not an archive of arrays: "):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > UNPACKED_LIMIT:
            raise ValueError(f"it would unpack to {size:,} bytes; the limit is {UNPACKED_LIMIT:,}")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}


def from_arrays(model, arrays: Mapping):
    """The model with the weights that a run kept as weights.<name>. RuntimeError names what is missing or misshapen."""
    found = {name: torch.from_numpy(w).float() for name, w in arrays.items() if name.startswith("weights.")}
    model.load_state_dict({name.removeprefix("weights."): w for name, w in found.items()})
    return model.eval()

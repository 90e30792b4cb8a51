"""Two days in intensive care: the records of the PhysioNet/CinC Challenge 2012, sets A and B (paper Sec. 5.5, D.9).

8000 patients; for each a list of (minute, channel, value), from admission to 48 hours later: four descriptors at minute
0 and up to 37 series, most of them seldom measured. `load` reads what `data_scripts/physionet.py` prepared, or the raw
records; `simulated` makes records of the same structure where the real ones are not at hand; `tokens` turns either
into the book's one shape.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
import torch

from romae_lite.io import atomic_write
from romae_lite.tokens import Tokens

from ..data import DataError, NotHere, changed, data_root, limited, members

HORIZON = 48 * 60  # minutes of a record
RECORDS = 8000
# of the parsed records of sets A and B (see Records.fingerprint)
FINGERPRINT = "fbc29b2217cc130c9a6bb56762e9f38f0d082c373b652d6f9ee24d260ed65e2a"
EMPTY = (140501, 140936, 141264, 142731, 142998, 143656, 145611, 147514, 150309, 150649)  # nothing after admission
PREPARED = "physionet2012.npz"
SETS = ("set-a", "set-b")
PACKED = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar")
LARGEST = 10**6  # bytes of a record's text; the longest of the 8000 has 23,826

# channel: (unit, typical value, spread between patients, spread within a patient, measurements per day, share of
# patients who have it). The last five serve `simulated` alone; they are rounded from the real records.
TABLE = {
    "Age": ("years", 65, 16, 0, 0, 1), "Gender": ("1 is male", 0.56, 0.5, 0, 0, 1),
    "Height": ("cm", 170, 10, 0, 0, 0.52), "ICUType": ("1 to 4", 2.8, 1, 0, 0, 1),
    "Weight": ("kg", 84, 22, 1, 17, 0.9), "Albumin": ("g/dL", 2.9, 0.6, 0.2, 0.7, 0.4),
    "ALP": ("IU/L", 106, 80, 20, 0.9, 0.43), "ALT": ("IU/L", 160, 200, 60, 0.9, 0.43),
    "AST": ("IU/L", 200, 250, 80, 0.9, 0.44), "Bilirubin": ("mg/dL", 3, 5, 1, 0.9, 0.43),
    "BUN": ("mg/dL", 26, 19, 4, 1.8, 0.98), "Cholesterol": ("mg/dL", 152, 37, 5, 0.5, 0.07),
    "Creatinine": ("mg/dL", 1.4, 1.1, 0.3, 1.8, 0.98), "DiasABP": ("mmHg", 60, 8, 9, 26, 0.7),
    "FiO2": ("fraction", 0.55, 0.13, 0.14, 6, 0.68), "GCS": ("3 to 15", 11.4, 3.3, 2, 8, 0.98),
    "Glucose": ("mg/dL", 137, 35, 35, 1.7, 0.98), "HCO3": ("mmol/L", 23, 4, 1.7, 1.7, 0.98),
    "HCT": ("%", 31, 4.3, 2.3, 2.4, 0.99), "HR": ("bpm", 87, 14, 11, 29, 0.98),
    "K": ("mmol/L", 4.1, 0.4, 0.4, 1.8, 0.98), "Lactate": ("mmol/L", 3, 2, 1.1, 1.9, 0.53),
    "MAP": ("mmHg", 80, 9, 11, 26, 0.7), "MechVent": ("1 is on", 1, 0, 0, 6, 0.62),
    "Mg": ("mmol/L", 2, 0.25, 0.25, 1.7, 0.98), "Na": ("mmol/L", 139, 4, 1.9, 1.7, 0.98),
    "NIDiasABP": ("mmHg", 58, 10, 10, 14, 0.88), "NIMAP": ("mmHg", 77, 10, 10, 14, 0.88),
    "NISysABP": ("mmHg", 119, 16, 15, 14, 0.88), "PaCO2": ("mmHg", 40, 7, 5, 3.9, 0.75),
    "PaO2": ("mmHg", 150, 55, 65, 3.9, 0.75), "pH": ("", 7.38, 0.05, 0.05, 4, 0.76),
    "Platelets": ("1000/µL", 184, 90, 27, 1.8, 0.98), "RespRate": ("per minute", 19.5, 3.5, 4, 25, 0.29),
    "SaO2": ("%", 97, 1.5, 1.5, 2.3, 0.45), "SysABP": ("mmHg", 119, 15, 17, 26, 0.7),
    "Temp": ("°C", 37.1, 0.5, 0.6, 11, 0.98), "TroponinI": ("µg/L", 6.6, 7, 3, 1.2, 0.05),
    "TroponinT": ("µg/L", 0.8, 1.3, 0.6, 1.2, 0.22), "Urine": ("mL", 108, 60, 90, 18, 0.97),
    "WBC": ("1000/µL", 12.2, 5, 2.4, 1.7, 0.98),
}
CHANNELS = tuple(TABLE)  # 41: their order is the second coordinate of a token's position
UNITS = {name: row[0] for name, row in TABLE.items()}
DESCRIPTORS = CHANNELS[:4]
# The order of the Latent ODE, mTAN and HeTVAE line of code: ours but for three neighbours.
PUBLIC_ORDER = (*CHANNELS[:22], "Mg", "MAP", "MechVent", *CHANNELS[25:])
# What no living adult shows: typing errors (a pH of 735), failed sensors (-17.8 °C is 0 °F), a pressure of zero.
RANGES = {
    "Height": (100, 250), "Weight": (20, 400), "DiasABP": (1, 250), "MAP": (1, 280), "SysABP": (1, 320),
    "NIDiasABP": (1, 250), "NIMAP": (1, 280), "NISysABP": (1, 320), "HR": (0, 280), "K": (1, 12), "Mg": (0.1, 12),
    "PaCO2": (5, 200), "PaO2": (10, 700), "pH": (6.5, 8), "SaO2": (30, 100), "Temp": (25, 44), "WBC": (0, 1000),
}
_INDEX = {name: i for i, name in enumerate(CHANNELS)}
_MISSING = frozenset(_INDEX[name] for name in (*DESCRIPTORS, "Weight"))  # channels where -1 means "not known"


@dataclass(frozen=True, kw_only=True)
class Records:
    """Parsed records, one after the other; record i is the slice start[i] : start[i + 1] of the last three.

    ids (R,) int32, start (R + 1,) int64; minute int16, channel int8 (index into CHANNELS) and value float32, sorted by
    minute, channel and value within a record.
    """

    ids: np.ndarray
    start: np.ndarray
    minute: np.ndarray
    channel: np.ndarray
    value: np.ndarray
    simulated: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def patient(self) -> np.ndarray:
        """Of every value, the number of its record."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def fingerprint(self) -> str:
        """SHA-256 over the records in order of their ids: independent of archives, file order and machine."""
        digest = hashlib.sha256()
        for i in np.argsort(self.ids, kind="stable"):
            part = slice(self.start[i], self.start[i + 1])
            digest.update(np.array([self.ids[i], part.stop - part.start], "<i4").tobytes())
            for array, kind in ((self.minute, "<i2"), (self.channel, "<i1"), (self.value, "<f4")):
                digest.update(array[part].astype(kind).tobytes())
        return digest.hexdigest()

    def verify(self) -> None:
        """DataError unless these are the 8000 records of sets A and B, all of them and nothing else."""
        if len(self) != RECORDS:
            raise DataError(f"there are {len(self)} records; sets A and B hold {RECORDS}")
        empty = sorted(np.delete(self.ids, usable(self)).tolist())
        if empty != sorted(EMPTY):
            raise DataError(f"records with nothing after admission are {empty}; they should be {sorted(EMPTY)}")
        if (found := self.fingerprint()) != FINGERPRINT:
            raise DataError(f"the records have fingerprint {found}; it should be {FINGERPRINT}")

    def save(self, path: Path) -> None:
        """One compressed file, written atomically."""
        packed = io.BytesIO()
        arrays = ("ids", "start", "minute", "channel", "value")
        np.savez_compressed(packed, **{name: getattr(self, name) for name in arrays})
        atomic_write(path, packed.getvalue())


# Reading --------------------------------------------------------------------------------------------------------------


def parse(text: str, where: str) -> tuple[int, list[tuple[int, int, float]]]:
    """One record as it is distributed: its id and the sorted (minute, channel, value). Unknown descriptors (-1) are
    left out. DataError naming `where` and the line for anything that does not belong into a record."""
    lines = text.splitlines()
    if not lines or lines[0] != "Time,Parameter,Value":
        raise DataError(f"{where}: line 1 is {lines[0][:40] if lines else ''!r}; it should be 'Time,Parameter,Value'")
    record, rows = None, []
    for number, line in enumerate(lines[1:], start=2):
        try:
            time, name, value = line.split(",")
            hour, past = time.split(":")
            minute, value = 60 * int(hour) + int(past), float(value)
            good = len(time) == 5 and (hour + past).isdigit() and past < "60"
            good = good and minute <= HORIZON and abs(value) < 1e30 and "_" not in line  # float32; float() takes 1_0
            if name == "RecordID" and good:
                if not (value.is_integer() and 0 < value < 2**31 and record in (None, value)):
                    before = f", and {record} before" if record else ""
                    raise DataError(
                        f"{where}: line {number}: RecordID is {value:.15g}{before}; expected one whole number from 1 "
                        "to 2**31 - 1"
                    )
                record = int(value)
            elif good and not ((channel := _INDEX[name]) in _MISSING and value == -1):
                rows.append((minute, channel, value))
        except DataError:
            raise
        except (ValueError, KeyError):
            good = False
        if not good:
            raise DataError(f"{where}: line {number} is {line[:60]!r}; expected hh:mm up to 48:00, parameter, number")
    if record is None:
        raise DataError(f"{where}: no line names the RecordID")
    if (named := re.search(r"(\d+)\.txt$", where)) and int(named[1]) != record:
        raise DataError(f"{where}: holds record {record}")
    return record, sorted(rows)


def texts(folder: Path, skip_bad: bool = False) -> Iterator[tuple[str, str | DataError]]:
    """(name, text) of every record in a folder that holds set-a and set-b, unpacked or as an archive (see PACKED).

    DataError where a set is missing, or an archive is damaged or holds what it should not (see `members`); with
    skip_bad, such an archive ends there, and the error takes the place of a text."""
    for part in SETS:
        if unpacked := sorted((folder / part).glob("[0-9]*.txt")):
            for path in unpacked:
                yield f"{part}/{path.name}", path.read_text(encoding="utf-8", errors="replace")
            continue
        archive = next((folder / (part + end) for end in PACKED if (folder / (part + end)).is_file()), None)
        if archive is None:
            raise DataError(f"{folder} has neither a folder {part} with records nor {part}{' or '.join(PACKED)}")
        try:
            for path, pieces in members(archive):
                if re.search(r"(^|/)\d+\.txt$", path):
                    name = f"{archive.name}:{Path(path).name}"
                    yield name, limited(pieces, LARGEST, name).decode("utf-8", errors="replace")
        except DataError as damage:
            if not skip_bad:
                raise
            yield archive.name, damage


def read(folder: Path, skip_bad: bool = False) -> tuple[Records, list[DataError]]:
    """All raw records of a folder (see `texts`), and what was skipped: without skip_bad nothing, but DataError."""
    found, skipped = {}, []
    for name, text in texts(Path(folder), skip_bad):
        try:
            if isinstance(text, DataError):
                raise text
            record, rows = parse(text, name)
            if record in found:
                raise DataError(f"{name}: record {record} is there twice")
            found[record] = rows
        except DataError as error:
            if not skip_bad:
                raise
            skipped.append(error)
    if not found:
        raise DataError(f"{folder} holds no readable record")
    return pack(found), skipped


def pack(found: dict[int, list[tuple[int, int, float]]], simulated: bool = False) -> Records:
    """{id: [(minute, channel, value), ...]} -> Records, in order of the ids. ValueError for an id, minute, channel or
    value that Records cannot hold."""
    ids = sorted(found)
    if wrong := [i for i in ids if i != int(i) or not 0 <= i < 2**31]:
        raise ValueError(f"id is {wrong[0]}; it must be a whole number from 0 to 2**31 - 1")
    flat = np.array([row for i in ids for row in found[i]], dtype=np.float64).reshape(-1, 3)
    top = np.array([HORIZON, len(CHANNELS) - 1, np.finfo(np.float32).max])
    good = ((flat <= top) & (flat >= (0, 0, -top[2])) & ((flat == np.floor(flat)) | [False, False, True])).all(1)
    if not good.all():
        raise ValueError(
            f"minute, channel, value are {flat[~good][0].tolist()}; expected whole numbers up to {HORIZON} and "
            f"{len(CHANNELS) - 1}, and a value that float32 holds"
        )
    return Records(
        ids=np.array(ids, np.int32), start=np.cumsum([0, *(len(found[i]) for i in ids)]),
        minute=flat[:, 0].astype(np.int16), channel=flat[:, 1].astype(np.int8), value=flat[:, 2].astype(np.float32),
        simulated=simulated,
    )


def find() -> Path | None:
    """Where the records are: physionet2012.npz or a folder physionet2012, under $ROMAE_DATA or else data/ beside the
    package. None where they are not."""
    root = data_root()
    places = (root / PREPARED, root / "physionet2012" / PREPARED, root / "physionet2012")
    return next((place for place in places if place.exists()), None)


def load(path: Path | None = None) -> Records:
    """The real records, from a file that `data_scripts/physionet.py` prepared or from a folder with that file or with
    the raw records; without a path, from where `find` finds them. NotHere, a FileNotFoundError, where they are not."""
    path = Path(path) if path else find()
    if path is None or not path.exists():
        place = f"{path} does not exist" if path else "PhysioNet 2012 is not here"
        raise NotHere(f"{place}; `python data_scripts/physionet.py` fetches it, ROMAE_DATA says where it is")
    path = path / PREPARED if (path / PREPARED).exists() else path
    return _load(path, changed(path))


@lru_cache(maxsize=2)
def _load(path: Path, _changed: int) -> Records:
    if path.is_dir():
        return read(path)[0]
    try:
        with np.load(path) as file:
            return Records(**file)
    except (BadZipFile, OSError, ValueError, TypeError, EOFError, ZlibError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error


def simulated(n: int, rng: np.random.Generator, density: float = 0.35) -> Records:
    """n made-up records with the structure of the real ones. No patient, no result: for trying things out.

    Each channel has a level of its own in each patient, and fluctuates around it in steps of hours; two slow waves,
    which all channels of a patient share with different signs, make channels informative about each other. Rows are
    irregular; vital signs fill most of them, laboratory values few. density scales the number of rows.
    """
    if n < 1 or not 0 < density < np.inf:
        raise ValueError(f"n is {n}, density {density}; make at least one record, with a positive density of rows")
    typical, between, within, per_day, share = (np.array([TABLE[c][k] for c in CHANNELS]) for k in range(1, 6))
    loading = np.random.default_rng(0).standard_normal((2, len(CHANNELS)))  # the same for everybody
    found = {}
    for i in range(n):
        rows = int(np.clip(rng.normal(75, 18), 30, 150) * density)
        minutes = np.unique(rng.integers(1, HORIZON + 1, rows))
        hours = minutes / 60
        waves = np.sin(2 * np.pi * hours / rng.uniform(12, 40, (2, 1)) + rng.uniform(0, 2 * np.pi, (2, 1)))  # (2, T)
        level = typical + between * rng.standard_normal(len(CHANNELS))
        has = rng.random(len(CHANNELS)) < share
        record = [(0, c, float(level[c])) for c in range(len(DESCRIPTORS)) if has[c]]
        for c in range(len(DESCRIPTORS), len(CHANNELS)):
            taken = minutes[rng.random(len(minutes)) < per_day[c] / 37] if has[c] else ()
            wave = loading[:, c] @ waves[:, np.isin(minutes, taken)] if len(taken) else ()
            noise = 0.5 * rng.standard_normal(len(taken))
            value = level[c] + within[c] * (0.8 * np.asarray(wave) + noise)
            record += [(int(m), c, max(0.0, float(v))) for m, v in zip(taken, value, strict=True)]
        found[i + 1] = sorted(record)
    return pack(found, simulated=True)


def plausible(channel: np.ndarray, value: np.ndarray) -> np.ndarray:
    """True where a value, in its unit, lies within RANGES. channel, value: same shape."""
    low, high = np.array([RANGES.get(name, (-np.inf, np.inf)) for name in CHANNELS]).T
    return (value >= low[channel]) & (value <= high[channel])


def without_outliers(records: Records) -> Records:
    """The records without the values that are not `plausible`."""
    keep = plausible(records.channel, records.value)
    return replace(
        records, start=np.concatenate(([0], np.cumsum(keep)))[records.start], minute=records.minute[keep],
        channel=records.channel[keep], value=records.value[keep],
    )


# Tokens ---------------------------------------------------------------------------------------------------------------


def usable(records: Records, series: bool = False) -> np.ndarray:
    """Indices of the records with values at two different minutes at least: one to show, one to hide.

    series: count the minutes of the series alone, not that of the descriptors."""
    counted = records.channel >= len(DESCRIPTORS) if series else slice(None)
    minutes = np.unique(records.patient[counted] * (HORIZON + 1) + records.minute[counted])
    rows = np.bincount(minutes // (HORIZON + 1), minlength=len(records.ids))
    return np.flatnonzero(rows >= 2)


def merged(records: Records, chosen: np.ndarray) -> tuple[np.ndarray, ...]:
    """Values of the chosen records, those of one channel in the same minute averaged (one value in 450).

    Returns (sample, minute, channel, value), equally long and sorted; sample counts through the chosen records.
    """
    length = np.diff(records.start)[chosen]
    sample = np.repeat(np.arange(len(chosen)), length)
    offset = np.arange(len(sample)) - np.repeat(np.cumsum(length) - length, length)
    index = records.start[:-1][chosen][sample] + offset
    minute, channel = records.minute[index].astype(np.int64), records.channel[index].astype(np.int64)
    key = (sample * (HORIZON + 1) + minute) * len(CHANNELS) + channel
    first = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(np.append(first, len(key)))
    value = np.add.reduceat(records.value[index].astype(np.float64), first) / count
    return sample[first], minute[first], channel[first], value


def scaling(channel: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each channel, (41,) each; 1 for the deviation of a channel that does not vary,
    and 0 and 1 for one that does not occur."""
    count = np.maximum(np.bincount(channel, minlength=len(CHANNELS)), 1)
    mean = np.bincount(channel, value, len(CHANNELS)) / count
    variance = np.bincount(channel, (value - mean[channel]) ** 2, len(CHANNELS)) / count
    return mean, np.where(variance > 1e-12, np.sqrt(variance), 1.0)


def tokens(
    records: Records, chosen: np.ndarray, mean: np.ndarray | None = None, std: np.ndarray | None = None
) -> Tokens:
    """The chosen records, one token for each value.

    mean, std: (41,) each, of the training set; without them, these records' own.

    Tokens: values (n, N, 1) standardised; positions (n, N, 2) time as a share of the 48 hours, and channel index; aux:
    row (n, N) the number of the token's minute among the record's minutes, record (n,) its id, mean and std (n, N) what
    turns a value back into its unit.
    """
    sample, minute, channel, value = merged(records, np.asarray(chosen))
    if mean is None or std is None:
        mean, std = scaling(channel, value)
    length = np.bincount(sample, minlength=len(chosen))
    slot = np.arange(len(sample)) - np.repeat(np.cumsum(length) - length, length)
    new_row = np.diff(sample * (HORIZON + 1) + minute, prepend=-1) != 0
    row = np.cumsum(new_row) - 1
    row -= row[np.cumsum(length) - length][sample]

    def padded(flat: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        out = torch.zeros(len(chosen), int(length.max()), dtype=dtype)
        out[torch.from_numpy(sample), torch.from_numpy(slot)] = torch.from_numpy(flat).to(dtype)
        return out

    pad = torch.arange(int(length.max())) >= torch.from_numpy(length)[:, None]
    return Tokens(
        values=padded((value - mean[channel]) / std[channel], torch.float32)[..., None],
        positions=torch.stack(
            (padded(minute / HORIZON, torch.float64), padded(channel.astype(float), torch.float64)), -1
        ),
        pad=pad,
        aux={
            "row": padded(row, torch.int16), "record": torch.from_numpy(records.ids[chosen].astype(np.int64)),
            "mean": padded(mean[channel], torch.float32), "std": padded(std[channel], torch.float32),
        },
        per_token={"row", "mean", "std"},
    )

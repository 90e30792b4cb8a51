"""Who of the patients of PhysioNet 2012 died in hospital, and records of which something is not known."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..data import DataError, NotHere, data_root
from .data import CHANNELS, HORIZON, Records

FILES = ("Outcomes-a.txt", "Outcomes-b.txt")
SUMS = ((4000, 554), (4000, 568))  # of sets A and B: patients, and those who died


def load(folder: Path | None = None) -> dict[int, bool]:
    """{record: died in hospital} of sets A and B, from a folder, by default physionet2012 under $ROMAE_DATA or data/.

    NotHere where a file is missing, DataError for one that is not what was published."""
    folder = Path(folder) if folder else data_root() / "physionet2012"
    found = {}
    for name, (patients, died) in zip(FILES, SUMS, strict=True):
        path = folder / name
        if not path.exists():
            hint = "`python data_scripts/physionet.py --outcomes` fetches it, ROMAE_DATA says where it is"
            raise NotHere(f"{path} does not exist; {hint}")
        part = parse(path.read_text(encoding="utf-8", errors="replace"), str(path))
        if (len(part), sum(part.values())) != (patients, died):
            raise DataError(
                f"{path} has {len(part)} patients of whom {sum(part.values())} died; it should be {patients} and {died}"
            )
        found |= part
    return found


def parse(text: str, where: str) -> dict[int, bool]:
    """One file of outcomes as it is distributed; all that is read is the record and whether the patient died."""
    found = {}
    try:
        for row in csv.DictReader(io.StringIO(text)):
            found[int(row["RecordID"])] = {"0": False, "1": True}[row["In-hospital_death"].strip()]
    except (KeyError, ValueError, AttributeError, TypeError, csv.Error) as error:
        raise DataError(f"{where} is no table of outcomes ({error!r})") from error
    return found


def chosen(records: Records, index: np.ndarray) -> Records:
    """Some of the records, in that order."""
    count = np.diff(records.start)[index]
    rows = np.concatenate([np.arange(*records.start[[i, i + 1]]) for i in index])
    return replace(
        records, ids=records.ids[index], start=np.concatenate(([0], np.cumsum(count))), minute=records.minute[rows],
        channel=records.channel[rows], value=records.value[rows],
    )


def informed(records: Records, information: str, rng: np.random.Generator) -> Records:
    """Records, none of them empty, of which something is not known.

    ranks     the minutes of a record evenly spread over the 48 hours, in their order
    shuffled  the values of a channel of a patient in random order: when it was measured stays, and what
    times     no value: when each channel was measured
    all       as they are
    """
    if information == "all":
        return records
    if information == "times":
        return replace(records, value=np.zeros_like(records.value))
    patient = records.patient
    if information == "ranks":
        minute = np.unique(patient * (HORIZON + 1) + records.minute, return_inverse=True)[1]
        first = np.minimum.reduceat(minute, records.start[:-1])
        last = np.maximum.reduceat(minute, records.start[:-1])
        spread = (minute - first[patient]) / np.maximum(last - first, 1)[patient]
        return replace(records, minute=(spread * HORIZON).round().astype(np.int16))
    key = patient * len(CHANNELS) + records.channel
    value = np.empty_like(records.value)
    value[np.argsort(key, kind="stable")] = records.value[np.lexsort((rng.random(len(key)), key))]
    return replace(records, value=value)


def summaries(records: Records, values: bool = True) -> np.ndarray:
    """(R, 41 F) float64, what boosted trees are given: of every channel how often it was measured, first and last
    minute and the longest gap; with `values` also mean, deviation, least, largest, first and last value, and the slope.
    NaN where a channel was not measured."""
    key = records.patient * len(CHANNELS) + records.channel
    order = np.lexsort((records.minute, key))
    key, minute, value = key[order], records.minute[order].astype(float), records.value[order].astype(float)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(np.append(first, len(key)))
    last = first + count - 1
    gap = np.diff(minute, prepend=0.0)
    gap[first] = 0.0
    columns = [count, minute[first], minute[last], np.maximum.reduceat(gap, first)]
    if values:
        mean = lambda x: np.add.reduceat(x, first) / count  # noqa: E731
        level, middle = mean(value), mean(minute)
        off, away = value - np.repeat(level, count), minute - np.repeat(middle, count)
        spread, width = mean(off**2), mean(away**2)
        columns += [level, np.sqrt(spread), np.minimum.reduceat(value, first), np.maximum.reduceat(value, first),
                    value[first], value[last], mean(off * away) / np.where(width > 0, width, np.nan)]
    out = np.full((len(records) * len(CHANNELS), len(columns)), np.nan)
    out[:, 0] = 0
    out[key[first]] = np.stack(columns, 1)
    return out.reshape(len(records), -1)

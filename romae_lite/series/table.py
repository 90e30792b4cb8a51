"""From a table of measurements to tokens, and back to its units.

A table is any data frame that narwhals knows (pandas, polars, pyarrow, …), in one of two shapes:

    long   id  time  channel  value          wide   id  time  temperature  pressure
           a   0.0   T        21.3                  a   0.0   21.3         NaN
           a   0.4   p        1013                  a   0.4   NaN          1013

Every measurement becomes one token: its value, at (time) or at (time, number of its channel).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import checks
from ..tokens import Tokens, collate
from .units import typical


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What turns tokens back into the table's units, and times into positions.

    ids: of the samples, in the order of the tokens. start (B,): the time of position 0, the first of each sample; where
    times are dates in seconds after `since`, and `zoned` says whether they had a time zone. unit: time of one unit of
    position, in seconds where times are dates (`dates`). channels, labels: their names, in the order of the numbers
    that tokens carry. mean, deviation (C,): of each channel. notes: what was done to the table, in sentences.
    """

    ids: tuple[Hashable, ...]
    channels: tuple[str, ...]
    labels: tuple[Hashable, ...]
    start: np.ndarray
    unit: float
    mean: np.ndarray
    deviation: np.ndarray
    dates: bool
    notes: tuple[str, ...]
    since: np.datetime64 | None = None
    zoned: bool = False

    @property
    def origin(self) -> np.ndarray:
        """(B,): the first time of each sample; of dates seconds since 1970, which float64 keeps to a microsecond."""
        return self.start if self.since is None else self.start + seconds("since", [self.since])[0]

    def positions(self, sample: int, times: Any, channel: str | None = None, name: str = "times") -> Tensor:
        """Times of one sample (M,), numbers or dates as in the table, as positions (M, D) of its tokens.

        name: what an error calls them. TypeError for numbers where the table has dates, for dates where it has numbers,
        and for dates without a time zone where it has one."""
        checks.whole("sample", sample, 0)
        if sample >= len(self.ids):
            raise ValueError(f"sample is {sample}; there are {len(self.ids)}")
        when, dates = seconds(name, times, self.since)
        alike(name, dates, "the table's times", self.dates)
        same_zone(name, times, "the table's times", self.zoned)
        at = (when - self.start[sample]) / self.unit
        if len(self.channels) == 1:
            return torch.from_numpy(at)[:, None]
        return torch.from_numpy(np.stack((at, np.full(len(at), float(self.number(channel)))), axis=-1))

    def values(self, standardised: Any, channel: str | None = None) -> np.ndarray:
        """Standardised numbers, of any shape, in the units of a channel."""
        c = 0 if len(self.channels) == 1 else self.number(channel)
        return np.asarray(standardised, dtype=np.float64) * self.deviation[c] + self.mean[c]

    def __getitem__(self, rows: Any) -> "Scale":
        """The scale of some samples: a slice, or an array or tensor of their numbers."""
        rows = np.arange(len(self.ids))[rows.cpu().numpy() if isinstance(rows, Tensor) else rows]
        return replace(self, ids=tuple(self.ids[i] for i in rows), start=self.start[rows])

    def number(self, channel: str | None) -> int:
        checks.choice("channel", channel, self.channels)
        return self.channels.index(channel)


def from_table(
    table: Any,
    *,
    time: str,
    value: str | Sequence[str],
    id: str | None = None,
    channel: str | None = None,
    label: str | None = None,
    unit: float | None = None,
) -> tuple[Tokens, Scale]:
    """A long or wide table of measurements as tokens, one for each value that is there.

    table    a data frame, or a mapping of columns
    time     its column of times: numbers, or dates (then in seconds); those without a time zone are taken as UTC
    value    its column of values; several names for a wide table, whose columns are the channels
    id       the column that says which sample a row belongs to; None: one sample
    channel  of a long table, the column that says what was measured; None: the same everywhere
    label    the column of a sample's class, the same in all rows where it is there; none at all: the class is unknown
    unit     time of one unit of position; None: the median distance between neighbouring times of a channel of a
             sample, so that the fastest pair of RoPE turns about one radian from one measurement to the next (1 where
             nobody has two)

    Values are standardised, channel by channel. Missing values (None, NaN) are left out; of several values of one
    channel at one time the mean is taken; rows may be in any order. `Scale.notes` says what was done.

    Tokens: values (B, N, 1), positions (B, N, 1) time since a sample's first, or (B, N, 2) with the channel's number,
    in the order of time; aux: label (B,) where there is one, an index into `Scale.labels`, -1 where unknown; scale,
    the one that is returned beside them.

    Raises TypeError for what is no table, ValueError naming column and row for columns that are missing, times that are
    no times, values that are no numbers, samples of several classes, and tables with nothing in them.
    """
    checks.kind("time", time, str)
    checks.kind("value", value, str | list | tuple)
    for what, name in (("id", id), ("channel", channel), ("label", label)):
        checks.kind(what, name, str | None)
    if not isinstance(value, str) and not (value and all(isinstance(name, str) for name in value)):
        raise ValueError(f"value is {value!r}; it must name a column, or several")
    columns = _columns(table)
    wide = not isinstance(value, str)
    names = list(value) if wide else [value]
    if wide and channel is not None:
        raise ValueError(f"channel is {channel!r}, but value names {len(names)} columns; a wide table needs no channel")
    for what, name in (
        ("time", time),
        ("id", id),
        ("channel", channel),
        ("label", label),
        *(("value", v) for v in names),
    ):
        if name is not None and name not in columns:
            raise ValueError(f"{what} is {name!r}, which is no column; the table has {', '.join(map(str, columns))}")
    moments = instants(time, columns[time])
    since = moments[0] if moments.dtype.kind == "M" and len(moments) else None
    when, dates = seconds(time, moments, since)
    rows, notes = len(when), []
    if not rows:
        raise ValueError("table has no rows")
    whose = np.asarray(columns[id], dtype=object) if id is not None else np.full(rows, 0, dtype=object)
    numbers = [numeric(name, columns[name]) for name in names]
    if wide:
        what, number = np.repeat(np.array(names, dtype=object), rows), np.concatenate(numbers)
        when, whose = np.tile(when, len(names)), np.tile(whose, len(names))
    else:
        what = np.asarray(columns[channel], dtype=object) if channel is not None else np.full(rows, value, dtype=object)
        number = numbers[0]
    for name, column in ((id, whose), (channel, what)):
        if name is not None and (lost := missing(column)).any():
            raise ValueError(f"{name} of row {int(np.flatnonzero(lost)[0])} is missing; every row needs one")
    there = ~np.isnan(number)
    if not there.any():
        raise ValueError(f"{', '.join(names)}: no value is there; nothing can be learnt from an empty table")
    if not there.all():
        notes.append(f"{int((~there).sum())} missing values left out of {len(there)}.")
    ids, sample = _numbered(whose[there])
    channels, kind = _numbered(what[there])
    if wide and (bare := [name for name in names if name not in channels]):
        notes.append(f"{', '.join(bare)}: no value, so no channel.")
    if len(set(map(str, channels))) < len(channels):
        raise ValueError(
            f"{channel} holds {', '.join(map(repr, channels))}; two of these have one name: write them alike"
        )
    gone = len({*whose.tolist()}) - len(ids)
    if gone:
        notes.append(f"{gone} samples without any value left out.")
    when, number = when[there], number[there]
    if not wide and (np.diff(when)[np.diff(sample) == 0] < 0).any():
        notes.append("Rows sorted by time.")
    sample, when, kind, number, doubles = _merged(sample, when, kind, number)
    if doubles:
        notes.append(f"{doubles} values at a time and channel that had one already: means taken.")
    count = np.bincount(kind)
    mean = np.bincount(kind, number) / count
    deviation = np.sqrt(np.bincount(kind, (number - mean[kind]) ** 2) / count)
    low, high = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(low, kind, number)
    np.maximum.at(high, kind, number)
    # of many equal numbers the deviation is what rounding makes of their sum
    for c in np.flatnonzero(high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))):
        notes.append(f"{channels[c]} never varies, and is not divided by its deviation.")
        deviation[c] = 1.0
    start = np.flatnonzero(np.diff(sample, prepend=-1))
    begin = when[start]
    if unit is None:
        # within a channel: two channels that are measured minutes apart say nothing about how fast either changes
        series = sample * len(channels) + kind
        order = np.argsort(series, kind="stable")
        unit = typical(np.split(when[order], np.flatnonzero(np.diff(series[order])) + 1))
    checks.number("unit", unit, lambda v: v > 0, "be positive")
    at = (when - begin[sample]) / unit
    axes = [at] if len(channels) == 1 else [at, kind.astype(np.float64)]
    position, standard = np.stack(axes, axis=-1), ((number - mean[kind]) / deviation[kind])[:, None]
    parts = zip(np.split(standard, start[1:]), np.split(position, start[1:]), strict=True)
    classes, aux = (), {}
    if label is not None:
        classes, aux["label"] = _labels(label, columns[label], columns[id] if id is not None else [0] * rows, ids)
        if unknown := int((aux["label"] < 0).sum()):
            notes.append(f"{unknown} samples have no {label}.")
    scale = Scale(
        ids=ids, channels=tuple(map(str, channels)), labels=classes, start=begin, unit=float(unit), mean=mean,
        deviation=deviation, dates=dates, notes=tuple(notes), since=since, zoned=dates and zoned(table[time]),
    )
    return collate([(torch.from_numpy(v).float(), torch.from_numpy(p)) for v, p in parts], scale=scale, **aux), scale


def _columns(table: Any) -> dict[str, np.ndarray]:
    """Columns by name, as numpy arrays."""
    if isinstance(table, Mapping):
        found = {name: array_of(column) for name, column in table.items()}
        if len({len(column) for column in found.values()}) > 1:
            raise ValueError(f"table has columns of {sorted({len(c) for c in found.values()})} rows; they must agree")
        return found
    try:
        import narwhals.stable.v1 as nw

        frame = nw.from_native(table, eager_only=True)
    except ImportError as error:
        raise ImportError("data frames need narwhals: pip install narwhals; or give a mapping of columns") from error
    except TypeError as error:
        raise TypeError(f"table is of type {type(table).__name__}; it must be a data frame or a mapping") from error
    found = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone:  # numpy knows no time zones: to UTC
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        found[name] = column.to_numpy()
    return found


def array_of(values: Any) -> np.ndarray:
    """An array. What a mask hides is missing; what a list mixes with text stays what it is, where numpy would make text
    of all: 'nan' of NaN, and one of 1 and '1'."""
    if isinstance(values, np.ma.MaskedArray):
        if values.dtype.kind in "Mm":
            return values.filled(values.dtype.type("NaT"))
        return np.where(values.mask, None, values.data.astype(object)) if values.mask.any() else values.data
    found = np.asarray(values)
    if found.dtype.kind in "US" and isinstance(values, list | tuple) and not all(isinstance(v, str) for v in values):
        found = np.array(values, dtype=object)
    return found


def instants(name: str, times: Any) -> np.ndarray:
    """Times (N,) as datetime64 in UTC, where they are dates; else as numbers, durations in seconds.

    ValueError names what is missing, no time, or not one-dimensional."""
    times = array_of(times)
    if times.ndim != 1:
        raise ValueError(f"{name} has shape {times.shape}; times are one-dimensional")
    if (lost := missing(times)).any():
        raise ValueError(f"{name} of row {int(np.flatnonzero(lost)[0])} is missing; every row needs a time")
    if times.dtype == object and len(times):
        if all(isinstance(t, np.datetime64 | np.timedelta64) for t in times):
            times = np.array(times.tolist())
        elif all(hasattr(t, "timestamp") for t in times):
            times = np.array([_utc(t) for t in times])
        elif all(hasattr(t, "total_seconds") for t in times):
            return np.array([t.total_seconds() for t in times])
        elif all(isinstance(t, date) and not hasattr(t, "timestamp") for t in times):
            times = times.astype("datetime64[D]")
    if times.dtype.kind == "m":
        if np.datetime_data(times.dtype)[0] in ("Y", "M"):
            raise ValueError(f"{name} are in months or years, which have no length in seconds")
        return times / np.timedelta64(1, "s")
    if text := [f"row {i} is {time!r}" for i, time in enumerate(times.tolist()) if isinstance(time, str)]:
        raise ValueError(f"{name} of {text[0]}; it must be a number or a date (pandas.to_datetime makes dates of text)")
    return times if times.dtype.kind == "M" else numeric(name, times)


def _utc(moment: Any) -> np.datetime64:
    """A date of Python or pandas. One without a time zone would be read in the machine's; arrays of dates are UTC, so
    it is too."""
    moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return moment.asm8 if hasattr(moment, "asm8") else np.datetime64(moment)  # pandas counts nanoseconds


def seconds(name: str, times: Any, since: np.datetime64 | None = None) -> tuple[np.ndarray, bool]:
    """Times (N,) as float64, and whether they were dates: then seconds after `since`; None: 1970. Durations are numbers
    of seconds."""
    times, second = instants(name, times), np.timedelta64(1, "s")
    if times.dtype.kind != "M":
        return times, False
    since = np.datetime64(0, "s") if since is None else since
    # whole seconds and fractions apart: float64 since 1970 ends at a microsecond, nanoseconds reach 292 years at most
    whole, first = times.astype("datetime64[s]"), since.astype("datetime64[s]")
    return (whole - first) / second + ((times - whole) / second - (since - first) / second), True


def zoned(times: Any) -> bool:
    """Whether dates have a time zone: a column by its type, which arrays of numpy's do not keep; others one by one."""
    kind = getattr(times, "dtype", getattr(times, "type", None))
    if getattr(kind, "tz", None) or getattr(kind, "time_zone", None):  # pandas and pyarrow, polars
        return True
    times = array_of(times)
    return times.dtype == object and any(getattr(t, "tzinfo", None) for t in times.flat)


def same_zone(name: str, times: Any, others: str, wanted: bool) -> None:
    """TypeError where others have a time zone and these have none. The other way round none is UTC."""
    if wanted and not zoned(times):
        raise TypeError(
            f"{name} have no time zone, {others} have one; give them theirs: if it is UTC, by "
            f"pandas.to_datetime({name}, utc=True)"
        )


def alike(name: str, dates: bool, others: str, wanted: bool) -> None:
    """TypeError where some times are dates and others are not."""
    if dates != wanted:
        kinds = ("numbers", "dates")
        raise TypeError(f"{name} are {kinds[dates]}; {others} are {kinds[wanted]}, so these must be")


NO_NUMBERS = str | bytes | np.datetime64 | np.timedelta64  # which numpy calls scalars


def numeric(name: str, column: Any) -> np.ndarray:
    """A column of numbers, float64, NaN where one is missing."""
    column = array_of(column)
    if column.dtype.kind not in "biuf":
        found = np.full(len(column), np.nan)
        for i, item in enumerate(column.tolist()):
            if not _lost(item):
                if column.dtype.kind in "mM" or isinstance(item, NO_NUMBERS) or not np.isscalar(item):
                    raise ValueError(f"{name} of row {i} is {item!r}; it must be a number")
                found[i] = item
        column = found
    column = column.astype(np.float64)
    if (endless := np.isinf(column)).any():
        raise ValueError(f"{name} of row {int(np.flatnonzero(endless)[0])} is infinite; leave it out")
    return column


def missing(column: np.ndarray) -> np.ndarray:
    """Which entries of a column (n,) of anything are None, NaN, NaT or pandas' NA: (n,) bool."""
    if column.dtype.kind in "Mm":
        return np.isnat(column)
    if column.dtype.kind in "biuf":
        return np.isnan(column)
    return np.array([_lost(item) for item in column.tolist()], dtype=bool)


def _lost(item: Any) -> bool:
    """Whether it is nothing, does not equal itself, or refuses to say."""
    if isinstance(item, np.ndarray):
        return False
    try:
        return item is None or bool(item != item)
    except (TypeError, ValueError):  # pandas' NA
        return True


def _numbered(column: np.ndarray) -> tuple[tuple, np.ndarray]:
    """Different entries in the order of their first appearance, and which of these each is."""
    seen: dict = {}
    index = np.array([seen.setdefault(own(item), len(seen)) for item in column.tolist()])
    return tuple(seen), index


def own(item: Any) -> Any:
    """Python's own number or text for numpy's, by which one can ask."""
    return item.item() if isinstance(item, np.number | np.str_ | np.bool_) else item


def _merged(sample: np.ndarray, when: np.ndarray, kind: np.ndarray, number: np.ndarray) -> tuple:
    """All sorted by sample, time and channel; equal ones are averaged. Last: how many values that took away."""
    order = np.lexsort((kind, when, sample))
    sample, when, kind, number = sample[order], when[order], kind[order], number[order]
    new = (np.diff(sample, prepend=-1) != 0) | (np.diff(when, prepend=np.nan) != 0) | (np.diff(kind, prepend=-1) != 0)
    group = np.cumsum(new) - 1
    mean = np.bincount(group, number) / np.bincount(group)
    return sample[new], when[new], kind[new], mean, len(number) - len(mean)


def _labels(name: str, column: np.ndarray, whose: Any, ids: tuple) -> tuple[tuple, Tensor]:
    """The classes, sorted, and each sample's: (B,) long, -1 where it is unknown."""
    of: dict = {}
    unknown = missing(np.asarray(column, dtype=object))
    for sample, item, lost in zip(np.asarray(whose, dtype=object).tolist(), column.tolist(), unknown, strict=True):
        sample, item = own(sample), own(item)
        if not lost and of.setdefault(sample, item) != item:
            raise ValueError(f"{name} of sample {sample!r} is both {of[sample]!r} and {item!r}; it must be one class")
    if not of:
        raise ValueError(f"{name} is missing in every row; leave label out, or give some samples a class")
    try:
        classes = tuple(sorted(set(of.values())))
    except TypeError as error:
        raise ValueError(f"{name} mixes types that have no order; write all classes as text or as numbers") from error
    return classes, torch.tensor([classes.index(of[sample]) if sample in of else -1 for sample in ids])

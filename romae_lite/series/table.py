"""From a table of measurements to tokens.

A table is a data frame (pandas, polars, pyarrow, … by narwhals), with its times in a
column or in the index, a Series, an xarray, an astropy table, a record array, or a
mapping of columns, in one of two shapes:

    long   id  time  channel  value      wide   id  time  temperature  pressure
           a   0.0   T        21.3              a   0.0   21.3         NaN
           a   0.4   p        1013              a   0.4   NaN          1013

Every measurement becomes one token: its value, at (time) or at (time, channel number).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import checks
from ..tokens import Tokens, collate
from .columns import (
    has_zone,
    is_missing,
    read_numbers,
    read_times,
    to_python,
    to_seconds,
)
from .units import POSITIVE, Scale, typical_gap


def from_table(
    table: Any,
    *,
    time: str | None = None,
    value: str | Sequence[str] | None = None,
    id: str | None = None,
    channel: str | None = None,
    label: str | None = None,
    error: str | None = None,
    static: str | Sequence[str] | None = None,
    unit: float | None = None,
) -> tuple[Tokens, Scale]:
    """Turn a long or wide table of measurements into tokens, one for each value.

    Missing values (None, NaN) are left out; of several values of one channel at one
    time the mean is taken; rows may be in any order. Values are standardised, channel
    by channel. `Scale.notes` says what was done.

    Parameters
    ----------
    table : data frame, Series, xarray, astropy table, record array, mapping of columns
    time : str
        Column of times: numbers, or dates (then in seconds), also as ISO text; those
        without a time zone are taken to be in UTC. None: the index.
    value : str or sequence of str
        Column of values; several for a wide table, whose columns are the channels.
        None: that of a Series.
    id : str, optional
        Column of samples. None: there is one.
    channel : str, optional
        Of a long table, the column that says what was measured.
    label : str, optional
        Column of a sample's class, the same in all rows where it is there.
    error : str, optional
        Column of standard deviations of the measurements; of a long table only.
    static : str or sequence of str, optional
        Columns of numbers that do not change within a sample, such as age. They travel
        with the tokens; the estimators do not look at them yet.
    unit : float, optional
        Time of one unit of position. None: the median distance of neighbouring times
        of one channel of a sample, so that RoPE's fastest pair turns about one radian
        from one measurement to the next (1 if nobody has two).

    Returns
    -------
    tokens : Tokens
        values (B, N, 1); positions (B, N, 1), the time since a sample's first, or
        (B, N, 2) with the channel's number; in the order of time. aux["label"] (B,)
        are indices into `Scale.labels`, -1 where the class is unknown; aux["error"]
        (B, N) in the units of the tokens, 0 where unknown; aux["static"] (B, S) as it
        is in the table.
    scale : Scale
        The units, and the names of samples, channels and classes: `tokens.scale`.

    Raises
    ------
    TypeError, ValueError
        Naming column and row: for what is no table, has no such column, or nothing in
        it; columns in two roles; times that are no times, values that are no numbers;
        samples of several classes.
    """
    rows = read_table(
        table, time=time, value=value, id=id, channel=channel, label=label, error=error,
        static=static,
    )
    if unit is not None:
        POSITIVE("unit", unit)
    aux, classes, notes = {}, (), []
    if label is not None:
        column = rows.columns[label]
        classes, aux["label"] = _labels(label, column, rows.owner, rows.ids)
        if unknown := int((aux["label"] < 0).sum()):
            notes.append(f"{unknown} samples have no {label}.")
    if listed(static):
        aux["static"] = _fixed(rows, static)
    scale = rows.scale(unit, classes, notes)
    start = np.flatnonzero(np.diff(rows.sample, prepend=-1))
    axes = [(rows.time - rows.time[start][rows.sample]) / scale.unit, rows.kind * 1.0]
    positions = np.stack(axes[: 1 + (len(rows.channels) > 1)], axis=-1)  # (n, D)
    mean, deviation = scale.mean[rows.kind], scale.deviation[rows.kind]
    columns = [((rows.number - mean) / deviation)[:, None], positions]
    samples = list(zip(*(np.split(a, start[1:]) for a in columns), strict=True))
    samples = [(torch.from_numpy(v).float(), torch.from_numpy(x)) for v, x in samples]
    if error is None:
        return collate(samples, scale=scale, **aux), scale
    errors = np.split(np.nan_to_num(rows.error) / deviation, start[1:])
    aux["error"] = torch.zeros(len(samples), max(map(len, errors)))
    for row, its in zip(aux["error"], errors, strict=True):
        row[: len(its)] = torch.from_numpy(its)
    tokens = collate(samples, **aux)
    return Tokens(
        values=tokens.values, positions=tokens.positions, pad=tokens.pad, scale=scale,
        aux=tokens.aux, per_token={"error"},
    ), scale


@dataclass
class Rows:
    """Measurements of a table, one entry each, in order of sample, time and channel;
    and the rows of the table that lack one."""

    sample: np.ndarray  # (n,)
    time: np.ndarray  # (n,), of dates in seconds after `since`
    kind: np.ndarray  # (n,) number of the channel
    number: np.ndarray  # (n,)
    error: np.ndarray  # (n,), NaN where unknown
    ids: tuple
    channels: tuple[str, ...]
    since: np.datetime64 | None
    zoned: bool
    notes: list[str]
    owner: np.ndarray  # (rows,) id of each row of the table
    columns: dict[str, np.ndarray]
    missing: tuple[np.ndarray, ...]  # row, value column, sample, time, channel; (m,)

    def scale(self, unit: float | None = None, labels: tuple = (), notes=()) -> Scale:
        mean, deviation, flat = _standardise(self.kind, self.number)
        what = "never varies, and is not divided by its deviation"
        flat = [f"{self.channels[c]} {what}." for c in np.flatnonzero(flat)]
        start = np.flatnonzero(np.diff(self.sample, prepend=-1))
        if unit is None:
            # Within a channel: two channels that are measured minutes apart say
            # nothing about how fast either changes.
            series = self.sample * len(self.channels) + self.kind
            order = np.argsort(series, kind="stable")
            edges = np.flatnonzero(np.diff(series[order])) + 1
            unit = typical_gap(np.split(self.time[order], edges))
        return Scale(
            ids=self.ids, channels=self.channels, labels=labels, unit=float(unit),
            start=self.time[start], mean=mean, deviation=deviation,
            dates=self.since is not None, since=self.since, zoned=self.zoned,
            notes=(*self.notes, *flat, *notes),
        )


def read_table(
    table: Any, *, time=None, value=None, id=None, channel=None, label=None, error=None,
    static=None,
) -> Rows:
    """Read a table as `from_table` takes it."""
    table, time, value = to_frame(table, time, value)
    name, several = checks.a(str | None), str | list | tuple
    checks.each(
        locals(), time=checks.a(str), value=checks.a(several), id=name, channel=name,
        label=name, error=name, static=checks.a(several | None),
    )
    wide = not isinstance(value, str)
    names = list(value) if wide else [value]
    if not (names and all(isinstance(name, str) for name in names)):
        raise ValueError(f"value is {value!r}; it must name a column, or several")
    for role, its in (("channel", channel), ("error", error)):
        if wide and its is not None:
            raise ValueError(f"{role} is {its!r}; a wide table needs no {role}")
    roles = [("time", time), *(("value", name) for name in names)]
    others = (("id", id), ("channel", channel), ("label", label), ("error", error))
    roles += [(role, its) for role, its in others if its is not None]
    columns = _columns(table, [*roles, *(("static", s) for s in listed(static))])
    for i, (role, its) in enumerate(roles[: 1 + len(names)]):
        for other, name in roles[i + 1 :]:
            if name == its:
                raise ValueError(f"{other} is {name!r}, which is the column of {role}")

    # one entry a measurement: time, sample, channel, value
    moments = read_times(time, columns[time])
    rows, notes = len(moments), []
    if not rows:
        raise ValueError("table has no rows")
    since = moments[0] if moments.dtype.kind == "M" else None
    when = to_seconds(time, moments, since)[0]
    owner = np.zeros(rows, dtype=object) if id is None else columns[id].astype(object)
    number = np.concatenate([read_numbers(name, columns[name]) for name in names])
    if channel is not None:
        what = columns[channel].astype(object)
    else:
        what = np.repeat(np.array(names, dtype=object), rows)
    for name, column in ((id, owner), (channel, what)):
        if name is not None and (lost := is_missing(column)).any():
            row = int(np.flatnonzero(lost)[0])
            raise ValueError(f"{name} of row {row} is missing; every row needs one")
    if error is None:
        errors = np.full(len(number), np.nan)
    elif ((errors := read_numbers(error, columns[error])) < 0).any():
        row = int((errors < 0).argmax())
        raise ValueError(f"{error} of row {row} is {errors[row]:g}; it must be above 0")
    there = ~np.isnan(number)
    if not there.any():
        raise ValueError(f"{', '.join(names)}: no value is there")
    if not there.all():
        notes.append(f"{(~there).sum()} missing values left out of {len(there)}.")
    when_each, owner_each = np.tile(when, len(names)), np.tile(owner, len(names))
    # those that have a value come first, in the order of their appearance
    first = np.argsort(~there, kind="stable")
    ids, sample = _enumerate(id, owner_each[first])
    channels, kind = _enumerate(channel, what[first])
    sample, kind = (a[np.argsort(first)] for a in (sample, kind))
    known = sample[there].max() + 1, kind[there].max() + 1
    missing = np.flatnonzero(~there & (kind < known[1]))
    if wide and known[1] < len(channels):
        bare = ", ".join(map(str, channels[known[1] :]))
        notes.append(f"{bare}: no value, so no channel.")
    if gone := len(ids) - known[0]:
        notes.append(f"{gone} samples without any value left out.")
    channels = channels[: known[1]]
    if len(set(map(str, channels))) < len(channels):
        found = ", ".join(map(repr, channels))
        raise ValueError(f"{channel} holds {found}; two of these have one name")
    parts = (a[there] for a in (sample, when_each, kind, number, errors))
    sample_, when_, *_ = parts = list(parts)
    if not wide and (np.diff(when_)[np.diff(sample_) == 0] < 0).any():
        notes.append("Rows sorted by time.")
    *parts, doubles = _sort(*parts)
    if doubles:
        what = "values at a time and channel that had one already"
        notes.append(f"{doubles} {what}: means taken.")
    return Rows(
        *parts, ids=ids[: known[0]], channels=tuple(map(str, channels)), since=since,
        zoned=since is not None and has_zone(table[time]), notes=notes, owner=owner,
        columns=columns,
        missing=(missing % rows, missing // rows, sample[missing], when_each[missing],
                 kind[missing]),
    )


def listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def to_frame(table: Any, time: str | None, value: Any) -> tuple[Any, Any, Any]:
    """Bring what has an index, coordinates or records into columns: the table, and the
    names of its times and values."""
    home = type(table).__module__.partition(".")[0]
    if home == "xarray":
        if hasattr(table, "to_dataset"):  # a DataArray
            value = table.name or "value" if value is None else value
            table = table.to_dataset(name=table.name or "value")
        table = table.to_dataframe()
    elif home == "astropy" and hasattr(table, "to_pandas"):
        table = table.to_pandas()
    elif isinstance(table, np.ndarray) and table.dtype.names:
        table = {name: table[name] for name in table.dtype.names}
    if type(table).__module__.partition(".")[0] != "pandas":
        return table, time, value
    if not hasattr(table, "columns"):  # a Series
        value = table.name or "value" if value is None else value
        table = table.to_frame(table.name or "value")
    if time is None:
        time = table.index.names[-1] or "time"
        table = table.rename_axis([*table.index.names[:-1], time])
    if value is None and len(table.columns) == 1:
        value = table.columns[0]
    if time not in table.columns and time in table.index.names:
        table = table.reset_index()
    return table, time, value


def _columns(table: Any, roles: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Return the columns that play a role, (n,) each, by name."""
    if isinstance(table, Mapping):
        names, get = list(table), table.__getitem__
    else:
        names, get = _open_frame(table)
    for role, name in roles:
        if name not in names:
            there = ", ".join(map(str, names))
            found = f"which is no column; the table has {there}"
            raise ValueError(f"{role} is {name!r}, {found}")
    columns = {name: checks.array(name, get(name)) for _, name in roles}
    for name, column in columns.items():
        if column.ndim != 1:
            raise ValueError(f"{name} has shape {column.shape}; a column is (n,)")
    if len({len(column) for column in columns.values()}) > 1:
        found = ", ".join(f"{name} has {len(c)} rows" for name, c in columns.items())
        raise ValueError(f"{found}; they must agree")
    return columns


def _open_frame(table: Any) -> tuple[list[str], Callable[[str], np.ndarray]]:
    """Return the names of a data frame's columns, and a function that reads one."""
    try:
        import narwhals.stable.v1 as nw
    except ImportError as error:
        hint = "pip install narwhals; or give a mapping of columns"
        raise ImportError(f"data frames need narwhals: {hint}") from error
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError as error:
        what = f"of type {type(table).__name__}"
        raise TypeError(f"table is {what}; it must be a frame or a mapping") from error

    def get(name: str) -> np.ndarray:
        column = frame[name]
        zoned = isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone
        if zoned:  # to UTC, as NumPy knows no time zones
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.to_numpy()

    return frame.columns, get


def _enumerate(name: str | None, column: np.ndarray) -> tuple[tuple, np.ndarray]:
    """Return different entries in the order of their first appearance, and for each
    row which of these it is."""
    seen: dict = {}
    try:
        items = map(to_python, column.tolist())
        index = [seen.setdefault(item, len(seen)) for item in items]
    except TypeError as error:
        raise ValueError(f"{name} holds what is no name ({error})") from error
    return tuple(seen), np.array(index)


def _sort(sample, when, kind, number, error) -> tuple:
    """Sort by sample, time and channel, and average what is equal in all three. The
    last of the results: how many values that took away."""
    order = np.lexsort((kind, when, sample))
    sample, when, kind, number, error = (
        a[order] for a in (sample, when, kind, number, error)
    )
    new = np.diff(sample, prepend=-1) != 0
    new |= np.diff(when, prepend=np.nan) != 0
    new |= np.diff(kind, prepend=-1) != 0
    group = np.cumsum(new) - 1
    count = np.bincount(group)
    mean = np.bincount(group, number) / count
    error = np.sqrt(np.bincount(group, error**2)) / count  # of the average
    return sample[new], when[new], kind[new], mean, error, len(number) - len(mean)


def _standardise(kind: np.ndarray, number: np.ndarray) -> tuple:
    """Return mean and deviation of each channel, (C,), and where it never varies: its
    deviation is then 1."""
    count = np.bincount(kind)
    mean = np.bincount(kind, number) / count
    deviation = np.sqrt(np.bincount(kind, (number - mean[kind]) ** 2) / count)
    low, high = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(low, kind, number)
    np.maximum.at(high, kind, number)
    # of many equal numbers the deviation is what rounding makes of their sum
    flat = high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high))
    return mean, np.where(flat, 1.0, deviation), flat


def _labels(
    name: str, column: np.ndarray, whose: np.ndarray, ids: tuple
) -> tuple[tuple, Tensor]:
    """Return the classes, sorted, and that of each sample: (B,) long, -1 where it is
    unknown."""
    known: dict = {}
    rows = zip(whose.tolist(), column.tolist(), is_missing(column), strict=True)
    for sample, item, lost in rows:
        sample, item = to_python(sample), to_python(item)
        if not lost and known.setdefault(sample, item) != item:
            both = f"{known[sample]!r} and {item!r}"
            raise ValueError(f"{name} of sample {sample!r} is both {both}")
    if not known:
        raise ValueError(f"{name} is missing in every row; leave label out")
    try:
        classes = tuple(sorted(set(known.values())))
    except TypeError as error:
        hint = "write all classes as text, or all as numbers"
        raise ValueError(f"{name} mixes types that have no order; {hint}") from error
    numbers = [classes.index(known[s]) if s in known else -1 for s in ids]
    return classes, torch.tensor(numbers)


def _fixed(rows: Rows, static: str | Sequence[str]) -> Tensor:
    """Return what does not change of each sample, (B, S) float64."""
    found = torch.empty(len(rows.ids), len(listed(static)), dtype=torch.float64)
    owner = [to_python(name) for name in rows.owner.tolist()]
    for s, name in enumerate(listed(static)):
        known: dict = {}
        numbers = read_numbers(name, rows.columns[name]).tolist()
        for sample, number in zip(owner, numbers, strict=True):
            if number == number and known.setdefault(sample, number) != number:
                both = f"{known[sample]:g} and {number:g}"
                raise ValueError(f"{name} of sample {sample!r} is both {both}")
        for b, sample in enumerate(rows.ids):
            if sample not in known:
                raise ValueError(f"{name} of sample {sample!r} is missing")
            found[b, s] = known[sample]
    return found

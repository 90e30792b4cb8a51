"""From a table of measurements to tokens.

A table is any data frame that narwhals knows (pandas, polars, pyarrow, …), or a mapping
of columns, in one of two shapes:

    long   id  time  channel  value      wide   id  time  temperature  pressure
           a   0.0   T        21.3              a   0.0   21.3         NaN
           a   0.4   p        1013              a   0.4   NaN          1013

Every measurement becomes one token: its value, at (time) or at (time, channel number).
"""

from collections.abc import Callable, Mapping, Sequence
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
    time: str,
    value: str | Sequence[str],
    id: str | None = None,
    channel: str | None = None,
    label: str | None = None,
    unit: float | None = None,
) -> tuple[Tokens, Scale]:
    """Turn a long or wide table of measurements into tokens, one for each value.

    Missing values (None, NaN) are left out; of several values of one channel at one
    time the mean is taken; rows may be in any order. Values are standardised, channel
    by channel. `Scale.notes` says what was done.

    Parameters
    ----------
    table : data frame or mapping of columns
    time : str
        Column of times: numbers, or dates (then in seconds); those without a time zone
        are taken to be in UTC.
    value : str or sequence of str
        Column of values; several for a wide table, whose columns are the channels.
    id : str, optional
        Column of samples. None: there is one.
    channel : str, optional
        Of a long table, the column that says what was measured.
    label : str, optional
        Column of a sample's class, the same in all rows where it is there.
    unit : float, optional
        Time of one unit of position. None: the median distance of neighbouring times
        of one channel of a sample, so that RoPE's fastest pair turns about one radian
        from one measurement to the next (1 if nobody has two).

    Returns
    -------
    tokens : Tokens
        values (B, N, 1); positions (B, N, 1), the time since a sample's first, or
        (B, N, 2) with the channel's number; in the order of time. aux["label"] (B,)
        are indices into `Scale.labels`, -1 where the class is unknown.
    scale : Scale
        The units, and the names of samples, channels and classes: `tokens.scale`.

    Raises
    ------
    TypeError, ValueError
        Naming column and row: for what is no table, has no such column, or nothing in
        it; columns in two roles; times that are no times, values that are no numbers;
        samples of several classes.
    """
    name = checks.a(str | None)
    checks.each(
        locals(), time=checks.a(str), value=checks.a(str | list | tuple), id=name,
        channel=name, label=name,
    )
    wide = not isinstance(value, str)
    names = list(value) if wide else [value]
    if not (names and all(isinstance(name, str) for name in names)):
        raise ValueError(f"value is {value!r}; it must name a column, or several")
    if wide and channel is not None:
        raise ValueError(f"channel is {channel!r}; a wide table needs no channel")
    roles = [("time", time), *(("value", name) for name in names)]
    for role, name in (("id", id), ("channel", channel), ("label", label)):
        roles += [(role, name)] if name is not None else []
    columns = _columns(table, roles)
    for i, (role, name) in enumerate(roles[: 1 + len(names)]):
        for other, its in roles[i + 1 :]:
            if name == its:
                raise ValueError(f"{other} is {its!r}, which is the column of {role}")

    # one entry a measurement: time, sample, channel, value
    moments = read_times(time, columns[time])
    rows, notes = len(moments), []
    if not rows:
        raise ValueError("table has no rows")
    since = moments[0] if moments.dtype.kind == "M" else None
    when, dates = to_seconds(time, moments, since)
    whose = np.zeros(rows, dtype=object) if id is None else columns[id].astype(object)
    number = np.concatenate([read_numbers(name, columns[name]) for name in names])
    if channel is not None:
        what = columns[channel].astype(object)
    else:
        what = np.repeat(np.array(names, dtype=object), rows)
    for name, column in ((id, whose), (channel, what)):
        if name is not None and (lost := is_missing(column)).any():
            row = int(np.flatnonzero(lost)[0])
            raise ValueError(f"{name} of row {row} is missing; every row needs one")
    when, whose_each = np.tile(when, len(names)), np.tile(whose, len(names))
    there = ~np.isnan(number)
    if not there.any():
        raise ValueError(f"{', '.join(names)}: no value is there")
    if not there.all():
        notes.append(f"{(~there).sum()} missing values left out of {len(there)}.")
    when, number = when[there], number[there]
    ids, sample = _enumerate(id, whose_each[there])
    channels, kind = _enumerate(channel, what[there])
    if wide and (bare := [name for name in names if name not in channels]):
        notes.append(f"{', '.join(bare)}: no value, so no channel.")
    if len(set(map(str, channels))) < len(channels):
        found = ", ".join(map(repr, channels))
        raise ValueError(f"{channel} holds {found}; two of these have one name")
    if gone := len(_enumerate(id, whose)[0]) - len(ids):
        notes.append(f"{gone} samples without any value left out.")
    if not wide and (np.diff(when)[np.diff(sample) == 0] < 0).any():
        notes.append("Rows sorted by time.")
    sample, when, kind, number, doubles = _sort(sample, when, kind, number)
    if doubles:
        what = "values at a time and channel that had one already"
        notes.append(f"{doubles} {what}: means taken.")

    # units
    mean, deviation, flat = _standardise(kind, number)
    for c in np.flatnonzero(flat):
        what = "never varies, and is not divided by its deviation"
        notes.append(f"{channels[c]} {what}.")
    start = np.flatnonzero(np.diff(sample, prepend=-1))
    if unit is None:
        # Within a channel: two channels that are measured minutes apart say nothing
        # about how fast either changes.
        series = sample * len(channels) + kind
        order = np.argsort(series, kind="stable")
        edges = np.flatnonzero(np.diff(series[order])) + 1
        unit = typical_gap(np.split(when[order], edges))
    POSITIVE("unit", unit)
    classes, aux = (), {}
    if label is not None:
        classes, aux["label"] = _labels(label, columns[label], whose, ids)
        if unknown := int((aux["label"] < 0).sum()):
            notes.append(f"{unknown} samples have no {label}.")
    scale = Scale(
        ids=ids, channels=tuple(map(str, channels)), labels=classes, start=when[start],
        unit=float(unit), mean=mean, deviation=deviation, dates=dates, since=since,
        zoned=dates and has_zone(table[time]), notes=tuple(notes),
    )

    axes = [(when - when[start][sample]) / unit, kind.astype(np.float64)]
    positions = np.stack(axes[: 1 + (len(channels) > 1)], axis=-1)  # (n, D)
    values = ((number - mean[kind]) / deviation[kind])[:, None]  # (n, 1)
    parts = zip(*(np.split(a, start[1:]) for a in (values, positions)), strict=True)
    samples = [(torch.from_numpy(v).float(), torch.from_numpy(x)) for v, x in parts]
    return collate(samples, scale=scale, **aux), scale


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


def _sort(sample, when, kind, number) -> tuple:
    """Sort by sample, time and channel, and average what is equal in all three. The
    last of the results: how many values that took away."""
    order = np.lexsort((kind, when, sample))
    sample, when, kind, number = (a[order] for a in (sample, when, kind, number))
    new = np.diff(sample, prepend=-1) != 0
    new |= np.diff(when, prepend=np.nan) != 0
    new |= np.diff(kind, prepend=-1) != 0
    group = np.cumsum(new) - 1
    mean = np.bincount(group, number) / np.bincount(group)
    return sample[new], when[new], kind[new], mean, len(number) - len(mean)


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

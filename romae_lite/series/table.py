"""From a table of measurements to tokens.

A table is a data frame (pandas, polars, pyarrow), with its times in a column or in the
index, a Series, an xarray, an astropy table, a record array, or a mapping of columns.
pandas reads them all. It has one of two shapes:

    long   id  time  channel  value      wide   id  time  temperature  pressure
           a   0.0   T        21.3              a   0.0   21.3         NaN
           a   0.4   p        1013              a   0.4   NaN          1013

Every measurement becomes one token: its value, at (time) or at (time, channel number).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from .. import checks
from ..tokens import Tokens
from .columns import read_numbers, read_times, seconds
from .units import POSITIVE, Scale


def from_table(
    table: Any,
    *,
    time: str | None = None,
    value: str | Sequence[str] | None = None,
    id: str | None = None,
    channel: str | None = None,
    label: str | None = None,
    error: str | Sequence[str] | None = None,
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
    error : str or sequence of str, optional
        Column of standard deviations of the measurements; of a wide table one for each
        column of values, in their order. 0 and missing are unknown.
    static : str or sequence of str, optional
        Columns of numbers that do not change within a sample, such as age.
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
    samples = range(len(rows.ids))
    if label is not None:
        known = rows.constant(label, rows.frame[label])
        if not len(known):
            raise ValueError(f"{label} is missing in every row; leave label out")
        try:
            classes = tuple(sorted(set(known.tolist())))
        except TypeError as error_:
            hint = "write all classes as text, or all as numbers"
            raise ValueError(f"{label} mixes types of no order; {hint}") from error_
        numbers = known.map(classes.index).reindex(samples, fill_value=-1)
        aux["label"] = torch.tensor(numbers.to_numpy(np.int64))
        if unknown := int((numbers < 0).sum()):
            notes.append(f"{unknown} samples have no {label}.")
    if listed(static):
        columns = {n: read_numbers(n, rows.frame[n]) for n in listed(static)}
        fixed = pd.DataFrame({
            name: rows.constant(name, column).reindex(samples)
            for name, column in columns.items()
        })
        for name in fixed.columns[fixed.isna().any()]:
            sample = rows.ids[int(fixed[name].isna().argmax())]
            raise ValueError(f"{name} of sample {sample!r} is missing")
        aux["static"] = torch.tensor(fixed.to_numpy())
    scale = rows.scale(unit, classes, notes)
    seen = rows.seen
    sample, kind = seen["sample"].to_numpy(), seen.kind.to_numpy()
    slot = seen.groupby("sample").cumcount().to_numpy()
    shape = len(rows.ids), slot.max() + 1  # (B, N)

    def padded(column, fill=0.0):
        whole = np.full(shape, fill)
        whole[sample, slot] = column
        return torch.from_numpy(whole)

    time_ = padded((seen.time - scale.start[sample]) / scale.unit)
    axes = [time_, padded(kind)][: 1 + (len(rows.channels) > 1)]
    pad = padded(False, True) > 0
    values = padded((seen.number - scale.mean[kind]) / scale.deviation[kind])
    if error is not None:
        aux["error"] = padded(seen.error / scale.deviation[kind]).float()
    tokens = Tokens(
        values=values[..., None], positions=torch.stack(axes, dim=-1),
        pad=pad if pad.any() else None, aux=aux, scale=scale,
        per_token={"error"} & aux.keys(),
    )
    return tokens, scale


@dataclass
class Rows:
    """What a table says: measurements in order of sample, time and channel."""

    frame: pd.DataFrame  # the table, with its times in a column
    time: str  # names of the columns of times and of values
    values: list[str]
    index: list  # names of those columns that were the index
    seen: pd.DataFrame  # sample, time, kind (number of the channel), number, error
    lost: pd.DataFrame  # row, column of a missing value; sample, time, kind
    owner: np.ndarray  # number of the sample of each row of the table
    ids: tuple
    channels: tuple[str, ...]
    since: np.datetime64 | None  # that times are counted from, in seconds, if dates
    zoned: bool
    notes: list[str]

    def scale(self, unit: float | None = None, labels: tuple = (), notes=()) -> Scale:
        """Measure mean and deviation of each channel, and the unit of time."""
        typical, mean, deviation, flat = measure(self.seen, "number")
        what = "never varies, and is not divided by its deviation"
        same = (f"{self.channels[c]} {what}." for c in flat[flat].index)
        return Scale(
            ids=self.ids, channels=self.channels, labels=labels, unit=unit or typical,
            start=self.seen.groupby("sample").time.min(), mean=mean,
            deviation=deviation, dates=self.since is not None, since=self.since,
            zoned=self.zoned, notes=(*self.notes, *same, *notes),
        )

    def split(self, frame: pd.DataFrame, count: int, *names: str) -> Iterator[tuple]:
        """Yield columns of such a frame curve after curve, of which there are `count`:
        channel after channel of each sample."""
        number = (frame["sample"] * len(self.channels) + frame.kind).to_numpy()
        order = np.argsort(number, kind="stable")
        edges = np.searchsorted(number[order], np.arange(1, count))
        columns = (frame[name].to_numpy()[order] for name in names)
        return zip(*(np.split(column, edges) for column in columns), strict=True)

    def like(self, table: Any, found: pd.DataFrame) -> Any:
        """Return a frame as a table of the kind that was read."""
        home = type(table).__module__.partition(".")[0]
        if isinstance(table, Mapping) and home != "xarray":
            return {name: found[name].to_numpy() for name in found}
        if home == "pyarrow":
            return type(table).from_pandas(found, preserve_index=False)
        if home == "polars":
            return type(table)(found)
        return found.set_index(self.index) if self.index else found

    def constant(self, name: str, column: Any) -> pd.Series:
        """Return what a column says of each sample, by its number; ValueError if it
        says two things."""
        known = pd.DataFrame({"sample": self.owner, "its": np.asarray(column)})
        known = known.infer_objects().dropna().drop_duplicates().set_index("sample").its
        if (twice := known.index.duplicated()).any():
            sample = known.index[twice][0]
            both = " and ".join(map(repr, known[sample].tolist()[:2]))
            raise ValueError(f"{name} of sample {self.ids[sample]!r} is both {both}")
        return known


def read_table(
    table: Any, *, time=None, value=None, id=None, channel=None, label=None, error=None,
    static=None,
) -> Rows:
    """Read a table as `from_table` takes it."""
    frame, time, value, index = to_frame(table, time, value)
    name, several = checks.a(str | None), str | list | tuple
    checks.each(
        locals(), time=checks.a(str), value=checks.a(several), id=name, channel=name,
        label=name, error=checks.a(several | None), static=checks.a(several | None),
    )
    names, wide = listed(value), not isinstance(value, str)
    if not (names and all(isinstance(name, str) for name in names)):
        raise ValueError(f"value is {value!r}; it must name a column, or several")
    if wide and channel is not None:
        raise ValueError(f"channel is {channel!r}; a wide table needs no channel")
    if error is not None and len(listed(error)) != len(names):
        what = "one column of errors for each column of values"
        raise ValueError(f"error is {error!r}; it must name {what}, {len(names)}")
    roles = [("time", time), *(("value", name) for name in names), ("id", id)]
    roles += [("channel", channel), ("label", label)]
    roles += [("error", name) for name in listed(error)]
    taken = {}
    for role, its in roles + [("static", its) for its in listed(static)]:
        if its is not None and (count := list(frame.columns).count(its)) != 1:
            found = f"the name of {count} columns" if count else "which is no column"
            there = ", ".join(map(str, frame.columns))
            raise ValueError(f"{role} is {its!r}, {found}; the table has {there}")
        if taken.get(its) in ("time", "value"):
            found = f"which is the column of {taken[its]}"
            raise ValueError(f"{role} is {its!r}, {found}")
        taken.setdefault(its, role)
    if not len(frame):
        raise ValueError("table has no rows")
    moments, zoned = read_times(time, frame[time])
    since = moments[0] if moments.dtype.kind == "M" else None
    for its in (id, channel):
        if its is not None and (lost := frame[its].isna().to_numpy()).any():
            found = f"{its} of row {lost.argmax()} is missing"
            raise ValueError(f"{found}; every row needs one")
    errors = [read_numbers(name, frame[name]) for name in listed(error)]
    for name, its in zip(listed(error), errors, strict=True):
        if (low := its < 0).any():
            found = f"{name} of row {low.argmax()} is {its[low][0]:g}"
            raise ValueError(f"{found}; it must be above 0")
    errors = errors or [np.nan] * len(names)

    # one row a measurement; those that have a value first, in the table's order
    parts = [
        pd.DataFrame({
            "row": range(len(frame)), "column": c, "time": seconds(moments, since),
            "number": read_numbers(name, frame[name]),
            "square": np.nan_to_num(np.square(its), nan=np.inf),
        })
        for c, (name, its) in enumerate(zip(names, errors, strict=True))
    ]
    whole = pd.concat(parts, ignore_index=True)
    whole = whole.sort_values("number", key=pd.isna, kind="stable", ignore_index=True)
    there = whole.number.notna()
    if not there.any():
        raise ValueError(f"{', '.join(names)}: no value is there")
    owners = frame[id].iloc[whole.row] if id else 0 * whole.row
    kinds = frame[channel].iloc[whole.row] if channel else np.array(names)[whole.column]
    whole["sample"], ids = _enumerate(id, owners)
    whole["kind"], channels = _enumerate(channel, kinds)
    samples, known = whole[there][["sample", "kind"]].max() + 1
    notes = []
    if not there.all():
        notes.append(f"{(~there).sum()} missing values left out of {len(there)}.")
    if wide and known < len(channels):
        notes.append(f"{', '.join(channels[known:])}: no value, so no channel.")
    if gone := len(ids) - samples:
        notes.append(f"{gone} samples without any value left out.")
    if len(set(map(str, channels[:known]))) < known:
        found = ", ".join(map(repr, channels[:known]))
        raise ValueError(f"{channel} holds {found}; two of these have one name")
    seen = whole[there]
    if (seen.groupby(["sample", "kind"]).time.diff() < 0).any():
        notes.append("Rows sorted by time.")
    # one value a time: the mean, weighted by the errors where all of them are known
    keys = ["sample", "time", "kind"]
    sure = seen.square.between(0, np.inf, inclusive="neither")
    sure = sure.groupby([seen[key] for key in keys]).transform("all")
    weight = (1 / seen.square).where(sure, 1.0)
    groups = seen.assign(weight=weight, moment=weight * seen.number, sure=sure)
    once = groups.groupby(keys, as_index=False).agg(
        first=("number", "first"), count=("number", "size"), sure=("sure", "first"),
        weight=("weight", "sum"), moment=("moment", "sum"),
    )
    once["number"] = once["first"].where(once["count"] == 1, once.moment / once.weight)
    once["error"] = (once.weight**-0.5).where(once.sure, 0.0)
    once = once[[*keys, "number", "error"]]
    if doubles := len(seen) - len(once):
        what = "values at a time and channel that had one already"
        how = "means taken" + ", weighted by the errors" * bool(sure.any())
        notes.append(f"{doubles} {what}: {how}.")
    return Rows(
        frame=frame, time=time, values=names, index=index, seen=once,
        lost=whole[~there & (whole.kind < known)],
        owner=whole.drop_duplicates("row").sort_values("row")["sample"].to_numpy(),
        ids=ids[:samples], channels=tuple(map(str, channels[:known])), since=since,
        zoned=zoned, notes=notes,
    )


def measure(seen: pd.DataFrame, numbers: str | list[str]) -> tuple:
    """Measure the unit of time; and of each kind mean, deviation (1 where it never
    varies), and whether it never varies. seen: in order of time."""
    its = seen.groupby("kind")[numbers]
    mean, low, high = its.mean(), its.min(), its.max()
    # of many equal numbers the deviation is what rounding makes of their sum
    flat = high - low <= 1e-12 * np.maximum(low.abs(), high.abs())
    # Within a kind: two channels that are measured minutes apart say nothing about how
    # fast either changes.
    gaps = seen.groupby(["sample", "kind"]).time.diff()
    gaps = gaps[gaps > 0]
    unit = float(gaps.median()) if len(gaps) else 1.0
    return unit, mean, its.std(ddof=0).where(~flat, 1.0), flat


def _enumerate(name: str | None, column: Any) -> tuple[np.ndarray, tuple]:
    """Number different entries in the order of their appearance; and return these."""
    try:
        numbers, names = pd.factorize(pd.Series(column).infer_objects())
    except TypeError as error:
        raise ValueError(f"{name} holds what is no name ({error})") from error
    return numbers, tuple(names.tolist())


def listed(names: str | Sequence[str] | None) -> list[str]:
    return [names] if isinstance(names, str) else list(names or ())


def to_frame(
    table: Any, time: str | None, value: Any
) -> tuple[pd.DataFrame, Any, Any, list]:
    """Read a table as a data frame of pandas, with its times in a column; and the names
    of these, of the values, and of what was the index."""
    if isinstance(table, np.ndarray) and table.dtype.names:
        table = {name: table[name] for name in table.dtype.names}
    if hasattr(table, "to_dataset"):  # one array of xarray
        table = table.to_dataset(name=table.name or "value")
    for convert in ("to_dataframe", "to_pandas"):  # xarray; polars, pyarrow, astropy
        table = getattr(table, convert)() if hasattr(table, convert) else table
    if isinstance(table, Mapping):
        columns = {name: _read_column(name, its) for name, its in table.items()}
        if len({len(column) for column in columns.values()}) > 1:
            found = ", ".join(f"{n} has {len(c)} rows" for n, c in columns.items())
            raise ValueError(f"{found}; they must agree")
        return pd.DataFrame(columns), time, value, []
    if isinstance(table, pd.Series):
        value = table.name or "value" if value is None else value
        table = table.to_frame(table.name or "value")
    if not isinstance(table, pd.DataFrame):
        what = f"of type {type(table).__name__}"
        raise TypeError(f"table is {what}; it must be a data frame, or map columns")
    if time is None:
        time = table.index.names[-1] or "time"
        table = table.rename_axis([*table.index.names[:-1], time])
    if value is None and len(table.columns) == 1:
        value = table.columns[0]
    if time in table.columns or time not in table.index.names:
        return table, time, value, []
    return table.reset_index(), time, value, list(table.index.names)


def _read_column(name: str, column: Any) -> Any:
    column = column.to_pandas() if hasattr(column, "to_pandas") else column
    if isinstance(column, pd.Series | pd.Index):
        return pd.Series(column).array
    column = checks.array(name, column)
    if column.ndim != 1:
        raise ValueError(f"{name} has shape {column.shape}; a column is (n,)")
    return column

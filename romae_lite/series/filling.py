"""The front door: `fill(table, time=…, value=…)` gives the table back, filled."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..model import RoMAE
from .candidates import Curve, lines, network, scale_curves
from .columns import check_dates, check_zone, read_times, to_seconds
from .fill import fill as fill_series
from .table import Rows, read_table, to_frame


def fill(
    table: Any, values: ArrayLike | None = None, at: ArrayLike | None = None, *,
    time: str | None = None, value: str | Sequence[str] | None = None,
    id: str | None = None, channel: str | None = None,
    error: str | ArrayLike | None = None, model: Any = None, verbose: bool = True,
) -> Any:
    """Fill the gaps of a table: what would have been measured, and how sure that is.

    `fill(table, time=…, value=…)` gives the table back; `fill(times, values, at)`
    does the same with the arrays of one series.

    Parameters
    ----------
    table : data frame, Series, xarray, astropy table, record array, mapping of columns
        Missing values are NaN or None. Or the times of one series, (N,).
    values : array_like, (N,), optional
        Of one series whose times came first.
    at : array_like, (M,), optional
        Times to ask for as well, of each series.
    time, value, id, channel : str, optional
        Columns, as in `from_table`.
    error : str or array_like, optional
        Column, or array (N,), of known standard deviations of the measurements.
    model : RoMAE or Interpolator, optional
        None: the filler that comes with the package; nothing is trained. An
        Interpolator is fitted to the table if it is not yet: it takes longer, mixes
        several methods and errs less.
    verbose : bool
        Print what was done to the table.

    Returns
    -------
    table
        A copy with the columns "mean" and "deviation" where a value was missing (of
        several value columns "a_mean" and so on), and a row for each time in `at`. An
        xarray or an astropy table comes back as a data frame. Of arrays: mean and
        deviation (M,).

    Raises
    ------
    TypeError, ValueError
        As `from_table`; if nothing is missing and nothing asked for.
    """
    if values is not None:
        for name, its in (("time", time), ("value", value), ("id", id)):
            if its is not None:
                raise TypeError(f"{name} is {its!r}; it names a column of a table")
        return fill_series(table, values, at, error=error, model=model)
    checks.kind("verbose", verbose, int)
    mixed = not isinstance(model, RoMAE | None)
    if mixed:
        from .interpolator import Interpolator  # which needs scikit-learn

        checks.kind("model", model, RoMAE | Interpolator | None)
    frame, time, value = to_frame(table, time, value)
    rows = read_table(
        frame, time=time, value=value, id=id, channel=channel, error=error
    )
    names = [value] if isinstance(value, str) else list(value)
    suffixes = ("mean", "deviation")
    columns = [[s if len(names) == 1 else f"{n}_{s}" for s in suffixes] for n in names]
    curves = curves_of(rows)
    order, asked, counts = _questions(rows, at, len(curves))
    if not order.size:
        raise ValueError("table lacks no value, and at is None; nothing to fill")
    if verbose:
        for note in rows.notes:
            if "missing" not in note:  # those are what is filled
                print(note)
    if mixed:
        if not hasattr(model, "report_"):
            model._begin()
            model.scale_ = rows.scale()
            model._fit(curves, rows.scale())
        elif model.scale_.channels != rows.channels:
            known, there = map(", ".join, (model.scale_.channels, rows.channels))
            raise ValueError(f"model knows channels {known}; the table has {there}")
        answers = model.mixture_.answer(curves, asked)
    else:
        curves = scale_curves(curves)
        answers = [
            np.where(np.isnan(a), b, a) for a, b in zip(
                network(model, curves, asked), lines(curves, asked), strict=True
            )
        ]
    found = np.empty((2, len(order)))
    found[:, order] = np.concatenate(answers, axis=1)
    old, new = np.split(found, [len(rows.missing[0])], axis=1)
    filled = {n: np.full(len(rows.owner), np.nan) for pair in columns for n in pair}
    row, which, *_ = rows.missing
    for w, pair in enumerate(columns):
        for name, numbers in zip(pair, old, strict=True):
            filled[name][row[which == w]] = numbers[which == w]
    extra = _extra(rows, at, new, (time, id, channel), columns) if counts else None
    return _table_of(table, frame, time, filled, extra)


def curves_of(rows: Rows) -> list[Curve]:
    """Return the curves of a table, channel after channel of each sample; those of
    samples without any value are empty."""
    channels, samples = len(rows.channels), len(rows.ids)
    samples = max([samples, *(rows.missing[2] + 1)])
    series = rows.sample * channels + rows.kind
    order = np.argsort(series, kind="stable")
    edges = np.searchsorted(series[order], np.arange(1, samples * channels))
    columns = rows.time, rows.number, np.nan_to_num(rows.error)
    parts = zip(*(np.split(a[order], edges) for a in columns), strict=True)
    return [Curve(*divmod(i, channels), *part) for i, part in enumerate(parts)]


def _questions(
    rows: Rows, at: ArrayLike | None, count: int
) -> tuple[np.ndarray, list[np.ndarray], int]:
    """Return the places of the answers, curve after curve, among those for missing
    values and after them those for `at`; the times; and how many `at` asks for."""
    channels, (_, _, sample, when, kind) = len(rows.channels), rows.missing
    series, extra = sample * channels + kind, 0
    if at is not None:
        dated = rows.since is not None
        moments, dates = to_seconds("at", at, rows.since)
        check_dates("at", dates, "those of the table", dated)
        check_zone("at", at, "those of the table", rows.zoned)
        known = len(rows.ids) * channels
        extra = known * len(moments)
        series = np.append(series, np.repeat(np.arange(known), len(moments)))
        when = np.append(when, np.tile(moments, known))
    order = np.argsort(series, kind="stable")
    edges = np.searchsorted(series[order], np.arange(1, count))
    return order, np.split(when[order], edges), extra


def _extra(rows: Rows, at, found: np.ndarray, keys: tuple, columns: list) -> dict:
    """Return the rows for `at`, column by column."""
    time, id, channel = keys
    when, ids = read_times("at", at), np.array(rows.ids, dtype=object)
    found = found.reshape(2, len(ids), len(rows.channels), len(when))
    if len(columns) > 1:  # of a wide table
        where = {name: c for c, name in enumerate(rows.channels)}
        extra = {time: np.tile(when, len(ids))}
        if id is not None:
            extra[id] = np.repeat(ids, len(when))
        for pair in columns:
            base = pair[0].removesuffix("_mean")
            for name, numbers in zip(pair, found, strict=True):
                if base in where:
                    extra[name] = numbers[:, where[base]].ravel()
        return extra
    each = len(rows.channels) * len(when)
    extra = {time: np.tile(when, len(ids) * len(rows.channels))}
    if id is not None:
        extra[id] = np.repeat(ids, each)
    if channel is not None:
        names = np.repeat(np.array(rows.channels, dtype=object), len(when))
        extra[channel] = np.tile(names, len(ids))
    return extra | dict(zip(columns[0], found.reshape(2, -1), strict=True))


def _table_of(table, frame, time: str, filled: dict, extra: dict | None) -> Any:
    """Return the frame with further columns and rows, of the kind that was given."""
    there = frame if isinstance(frame, Mapping) else frame.columns
    for name in filled:  # pyarrow's columns have no names of their own
        if name in getattr(frame, "column_names", there):
            what = f"table has a column {name!r} already"
            raise ValueError(f"{what}; give it another name")
    if isinstance(frame, Mapping):
        columns = {name: checks.array(name, frame[name]) for name in frame} | filled
        for name, column in columns.items() if extra else ():
            blank = None if column.dtype == object else np.nan
            more = extra.get(name, np.full(len(extra[time]), blank))
            columns[name] = np.concatenate((column, more))
        return columns
    if hasattr(frame, "set_index"):
        return _panda_of(table, frame, time, filled, extra)
    import narwhals.stable.v1 as nw

    whole = nw.from_native(frame, eager_only=True)
    home = nw.get_native_namespace(whole)
    new = [nw.new_series(n, v, backend=home) for n, v in filled.items()]
    whole = whole.with_columns(*new)
    if extra:
        plain = {n: v.tolist() if v.dtype == object else v for n, v in extra.items()}
        more, kinds = nw.from_dict(plain, backend=home), whole.schema
        if zone := getattr(kinds[time], "time_zone", None):
            clock = nw.col(time).dt.replace_time_zone("UTC")
            more = more.with_columns(clock.dt.convert_time_zone(zone))
        more = more.with_columns(*(nw.col(n).cast(kinds[n]) for n in more.columns))
        whole = nw.concat([whole, more], how="diagonal")
    return whole.to_native()


def _panda_of(table, frame, time: str, filled: dict, extra: dict | None) -> Any:
    import pandas as pd

    found = frame.assign(**filled)
    if extra:
        more = pd.DataFrame(extra)
        if zone := getattr(frame[time].dtype, "tz", None):
            more[time] = more[time].dt.tz_localize("UTC").dt.tz_convert(zone)
        found = pd.concat([found, more], ignore_index=True)
    if hasattr(table, "index") and time not in getattr(table, "columns", ()):
        return found.set_index([*table.index.names[:-1], time])  # as it was
    return found

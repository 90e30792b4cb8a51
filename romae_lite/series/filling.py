"""The front door: `fill(table, time=…, value=…)` gives the table back, filled."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..model import RoMAE
from .candidates import Curve, scale_curves, untrained
from .columns import read_asked, read_numbers, read_times, seconds
from .filler import LEAST, merge


def fill(
    table: Any, values: ArrayLike | None = None, at: ArrayLike | None = None, *,
    time: str | None = None, value: str | Sequence[str] | None = None,
    id: str | None = None, channel: str | None = None,
    error: str | Sequence[str] | ArrayLike | None = None,
    model: Any = None, verbose: bool = True,
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
    error : str, sequence of str or array_like, optional
        Standard deviations of the measurements: a column of the table (of a wide one,
        one for each column of values), or an array (N,) beside arrays. 0 and NaN are
        unknown. They weigh the values against one another, as far as the values bear
        them out; how noisy all of them are is measured.
    model : RoMAE or Interpolator, optional
        None: the filler that comes with the package, averaged with Gaussian processes
        and with what the other channels and series of the table say; no network is
        trained. An Interpolator is fitted to the table if it is not yet: it takes
        longer, mixes more methods, and its band has been tried on hidden values.
    verbose : bool
        Print what was done to the table.

    Returns
    -------
    table
        A copy with the columns "mean" and "deviation", of a measurement that is as
        noisy as they usually are, where a value was missing (of
        several value columns "a_mean" and so on), and a row for each time in `at`. An
        xarray, an astropy table or a record array comes back as a data frame of
        pandas. Of arrays: mean and deviation (M,).

    Raises
    ------
    TypeError, ValueError
        As `from_table`; if nothing is missing and nothing asked for.
    """
    if values is not None:
        for name, its in (("time", time), ("value", value), ("id", id)):
            if its is not None:
                raise TypeError(f"{name} is {its!r}; it names a column of a table")
        return fill_series(table, values, at, error, model)
    checks.kind("verbose", verbose, int)
    if mixed := not isinstance(model, RoMAE | None):
        from .interpolator import Interpolator  # which needs scikit-learn

        checks.kind("model", model, RoMAE | Interpolator | None)
    return fill_table(
        table, at, model, mixed, verbose,
        time=time, value=value, id=id, channel=channel, error=error,
    )


def fill_series(
    times: ArrayLike, values: ArrayLike, at: ArrayLike | None = None,
    error: ArrayLike | None = None, model: RoMAE | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Fill the arrays of one series: mean and deviation (M,).

    times (N,) are numbers or dates, in any order; NaN and None among values (N,) and
    errors (N,) are gaps and unknown ones; at (M,), None for all of `times`.
    Measurements at one time are averaged.
    """
    checks.kind("model", model, RoMAE | None)
    moments, zoned = read_times("times", times)
    dates = moments.dtype.kind == "M"
    # as durations: float64 since 1970 ends at a microsecond
    since = moments[0] if dates and len(moments) else None
    t, y = seconds(moments, since), read_numbers("values", values)
    e = np.zeros_like(y) if error is None else read_numbers("error", error)
    if y.ndim != 1:
        raise ValueError(f"values has shape {y.shape}; it must be one series, (N,)")
    for name, other in (("times", t), ("error", e)):
        if other.shape != y.shape:
            raise ValueError(f"{name} has {len(other)} entries, values has {len(y)}")
    if (e < 0).any():
        row = int((e < 0).argmax())
        raise ValueError(f"error is {e[row]:g} in row {row}; it must be 0 or more")
    asked = t if at is None else read_asked("at", at, "times", dates, zoned, since)
    real = ~np.isnan(y)
    t, y, e = t[real], y[real], e[real]
    if (count := len(np.unique(t))) < LEAST:
        found = f"{count} measurements at different times"
        raise ValueError(f"values has {found}; at least {LEAST} are needed")
    if y.min() == y.max():
        raise ValueError(f"values are all {y[0]:g}, which gives no scale")
    curves = scale_curves([Curve(0, 0, *merge(t, y, e))])
    warn_outside(curves, [asked])
    ((mean, deviation),) = untrained(model, curves, [asked])
    return mean, deviation


def warn_outside(curves: list[Curve], asked: list[np.ndarray]) -> None:
    outside = 0
    for c, at in zip(curves, asked, strict=True):
        if len(c.times) > 1:
            first, last = c.times[0], c.times[-1]
            far = (last - first) / 2
            outside += int(((at < first - far) | (at > last + far)).sum())
    if outside:
        warnings.warn(
            f"{outside} of {sum(map(len, asked))} times lie further outside the series "
            "than half its length: neither mean nor band can be trusted there",
            stacklevel=4,  # through `fill`
        )


def fill_table(table, at, model, mixed: bool, verbose: bool, **names) -> Any:
    from .table import read_table  # which needs pandas

    rows = read_table(table, **names)
    pairs = [("mean", "deviation")]
    if len(rows.values) > 1:
        pairs = [(f"{name}_mean", f"{name}_deviation") for name in rows.values]
    for name in sum(pairs, ()):
        if name in rows.frame.columns:
            what = f"table has a column {name!r} already"
            raise ValueError(f"{what}; give it another name")
    found, asked = questions(rows, at, names["id"], names["channel"])
    if asked.empty:
        raise ValueError("table lacks no value, and at is None; nothing to fill")
    for note in rows.notes if verbose else ():
        if "missing" not in note:  # those are what is filled
            print(note)
    channels = len(rows.channels)
    count = channels * max(len(rows.ids), 1 + asked["sample"].max())
    parts = rows.split(rows.seen, count, "time", "number", "error")
    curves = [Curve(*divmod(i, channels), *part) for i, part in enumerate(parts)]
    times = [when for (when,) in rows.split(asked, count, "time")]
    warn_outside(curves, times)
    if not mixed:
        answers = untrained(model, scale_curves(curves), times)
    else:
        if not hasattr(model, "report_"):
            scale = rows.scale()
            model.fit_curves(curves, scale, scale)
        elif model.scale_.channels != rows.channels:
            known, there = map(", ".join, (model.scale_.channels, rows.channels))
            raise ValueError(f"model knows channels {known}; the table has {there}")
        answers = model.mixture_.answer(curves, times)
    answers = np.concatenate(answers, axis=1).T
    for c, pair in enumerate(pairs):
        column, mine = np.full((len(found), 2), np.nan), (asked.column == c).to_numpy()
        column[asked["row"][mine]] = answers[mine]
        found = found.assign(**dict(zip(pair, column.T, strict=True)))
    return rows.like(table, found)


def questions(rows, at: ArrayLike | None, id: str | None, channel: str | None):
    """Return the table, with rows for `at` at its end; and what is asked of it, in the
    order of its curves: row, column, sample, kind and time."""
    import pandas as pd

    found, asked = rows.frame, rows.lost[["row", "column", "sample", "kind", "time"]]
    if at is not None:
        dates, others = rows.since is not None, "those of the table"
        when = read_asked("at", at, others, dates, rows.zoned, rows.since)
        moments, clock = pd.Series(read_times("at", at)[0]), found[rows.time].dtype
        if zone := getattr(clock, "tz", None):
            moments = moments.dt.tz_localize("UTC").dt.tz_convert(zone)
        elif clock.kind == "m":
            moments = pd.to_timedelta(moments, unit="s")
        shape = len(rows.ids), len(rows.channels), len(when)
        sample, kind, number = np.indices(shape).reshape(3, -1)
        first, row, column = kind >= 0, np.arange(len(kind)), 0
        if len(rows.values) > 1:  # channels lie beside one another
            first, row = kind == 0, sample * len(when) + number
            column = np.array([rows.values.index(c) for c in rows.channels])[kind]
        new = {
            id: pd.Series(rows.ids).array[sample[first]],
            channel: pd.Series(rows.channels).array[kind[first]],
            rows.time: moments.array[number[first]],
        }
        new.pop(None, None)
        more = {"row": len(found) + row, "column": column, "sample": sample,
                "kind": kind, "time": when[number]}
        found = pd.concat([found, pd.DataFrame(new)], ignore_index=True)
        asked = pd.concat([asked, pd.DataFrame(more)])
    return found, asked.sort_values(["sample", "kind"], kind="stable")

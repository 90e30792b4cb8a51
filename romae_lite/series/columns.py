"""Read columns of numbers and times from the forms in which people keep them.

NumPy's own numbers and dates need NumPy alone, everything else pandas.
"""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from ..checks import array

LARGEST = 1e140  # squares of larger numbers, and their sums, leave float64
NO_DATES = (  # as pandas calls what is in an array
    "integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty",
    "period",
)


def is_missing(column: np.ndarray) -> np.ndarray:
    """True where an entry is None, NaN, NaT or pandas.NA, in the column's shape."""
    if column.dtype.kind in "biufcmM":
        return np.isnan(column)
    import pandas as pd

    return pd.isna(column)


def read_numbers(name: str, column: Any) -> np.ndarray:
    """Return numbers of any shape as float64, NaN where one is missing.

    Raises ValueError naming the first entry (its row) that is no real number, or too
    large to be squared.
    """
    found = array(name, column)
    items, real = found.ravel(), Real | Decimal | np.bool_
    lost = is_missing(items)
    if items.dtype.kind in "biuf":
        right = np.abs(items.astype(float)) < LARGEST
    else:
        with np.errstate(over="ignore"):  # of a float32
            right = [isinstance(i, real) and abs(i) < LARGEST for i in items.tolist()]
        right = np.array(right) & (items.dtype.kind == "O")  # no date is a number
    if (wrong := ~(lost | right)).any():
        row = wrong.argmax() // np.atleast_1d(found)[:1].size
        item = items[wrong].tolist()[0]
        what = f"a number, below {LARGEST:g}"
        raise ValueError(f"{name} of row {row} is {item!r}; it must be {what}")
    return np.where(lost, np.nan, items).astype(float).reshape(found.shape)


def read_times(name: str, times: Any) -> tuple[np.ndarray, bool]:
    """Return times (N,): dates as datetime64 in UTC, numbers and durations (in seconds)
    as float64; and whether the dates have a time zone. Those that have none are taken
    to be in UTC.

    Raises ValueError for entries that are missing or no time, and for other shapes.
    """
    times = times.to_pandas() if hasattr(times, "to_pandas") else times
    if zoned := bool(getattr(getattr(times, "dtype", None), "tz", None)):
        import pandas as pd

        times = pd.DatetimeIndex(times).tz_convert(None)
    found = array(name, times)
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}; times are one-dimensional")
    if found.dtype.kind in "OSU":
        found, zoned = _parse(name, found)
    if (lost := is_missing(found)).any():
        row = int(lost.argmax())
        raise ValueError(f"{name} of row {row} is missing; every row needs a time")
    if found.dtype.kind == "m":
        found = found / np.timedelta64(1, "s")
    return found if found.dtype.kind == "M" else read_numbers(name, found), zoned


def _parse(name: str, items: np.ndarray) -> tuple[np.ndarray, bool]:
    """Read dates and durations of Python and pandas, and dates as ISO text."""
    import pandas as pd

    items = (items.astype(str) if items.dtype.kind == "S" else items).astype(object)
    kind = pd.api.types.infer_dtype(items)
    if kind.startswith("timedelta"):
        return pd.to_timedelta(items).to_numpy(), False
    if kind in NO_DATES:
        return items, False
    dates = pd.to_datetime(items, utc=True, format="ISO8601", errors="coerce")
    if (wrong := dates.isna() & ~is_missing(items)).any():
        what = "a number or a date, as text such as 2024-01-31 or 2024-01-31T12:00:00Z"
        row, item = wrong.argmax(), items[wrong][0]
        raise ValueError(f"{name} of row {row} is {item!r}; it must be {what}")
    zoned = getattr(pd.Timestamp(items[0]), "tzinfo", None) is not None
    return dates.tz_localize(None).to_numpy(), zoned


def seconds(moments: np.ndarray, since: np.datetime64 | None = None) -> np.ndarray:
    """Return dates as seconds after `since` (None: 1970), and numbers as they are."""
    if moments.dtype.kind != "M":
        return moments
    # Whole seconds and fractions apart: float64 since 1970 ends at a microsecond,
    # and nanoseconds reach 292 years at most.
    since = np.datetime64(0, "s") if since is None else since
    whole, first = moments.astype("M8[s]"), since.astype("M8[s]")
    second = np.timedelta64(1, "s")
    fraction = (moments - whole) / second - (since - first) / second
    return (whole - first) / second + fraction


def to_seconds(name: str, times: Any) -> tuple[np.ndarray, bool]:
    """Return times (N,) as float64, of dates the seconds after 1970; and whether they
    are dates."""
    moments, _ = read_times(name, times)
    return seconds(moments), moments.dtype.kind == "M"


def read_asked(
    name: str, times: Any, others: str, dates: bool | None, zoned: bool,
    since: np.datetime64 | None,
) -> np.ndarray:
    """Read times that are asked of others: (M,) float64, of dates seconds after
    `since`. Raises TypeError where one has dates, or a time zone, and not the other."""
    moments, its = read_times(name, times)
    if not len(moments):
        raise ValueError(f"{name} is empty; ask for one time at least")
    check_dates(name, moments.dtype.kind == "M", others, dates)
    if zoned and not its:
        raise TypeError(
            f"{name} have no time zone, {others} have one; give them theirs: if it is "
            f"UTC, by pandas.to_datetime({name}, utc=True)"
        )
    return seconds(moments, since)


def check_dates(name: str, dates: bool, others: str, wanted: bool | None) -> None:
    """Raise TypeError if dates meet numbers; None: nobody knows what others are."""
    if wanted is not None and dates != wanted:
        kinds = ("numbers", "dates")
        raise TypeError(
            f"{name} are {kinds[dates]}; {others} are {kinds[wanted]}, so these must be"
        )

"""Read columns of numbers, times and names from the forms in which people keep them."""

import sys
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from ..checks import array

LARGEST = 1e140  # squares of larger numbers, and their sums, leave float64
# what NumPy calls scalars all the same
NO_NUMBERS = str | bytes | complex | np.complexfloating | np.datetime64 | np.timedelta64


def is_missing(column: np.ndarray) -> np.ndarray:
    """True where an entry is None, NaN, NaT or pandas.NA, in the column's shape."""
    if column.dtype.kind in "Mm":
        return np.isnat(column)
    if column.dtype.kind in "biufc":
        return np.isnan(column)
    lost = [_is_nothing(item) for item in column.ravel().tolist()]
    return np.array(lost, dtype=bool).reshape(column.shape)


def _is_nothing(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return False
    try:
        return item is None or bool(item != item)
    except (TypeError, ValueError):  # pandas.NA refuses to compare
        return True


def to_python(item: Any) -> Any:
    """Return Python's own number or text for NumPy's, by which one can look up."""
    numpy_s = isinstance(item, np.number | np.str_ | np.bool_)
    return item.item() if numpy_s else item


def read_numbers(name: str, column: Any) -> np.ndarray:
    """Return numbers of any shape as float64, NaN where one is missing.

    Raises ValueError naming the first entry (its row) that is no real number, is
    infinite, or is too large to be squared.
    """
    found = array(name, column)
    if found.dtype.kind in "biuf":
        numbers = found.astype(np.float64)
    else:
        numbers = np.full(found.shape, np.nan)
        items, dates = found.ravel().tolist(), found.dtype.kind in "mM"
        for i in np.flatnonzero(~is_missing(found)):
            item = to_python(items[i])
            number = np.isscalar(item) and not isinstance(item, NO_NUMBERS)
            if dates or not number or abs(item) > sys.float_info.max:
                where = f"{name} of row {_row(found, i)}"
                raise ValueError(f"{where} is {item!r}; it must be a number")
            numbers.flat[i] = item
    if (large := np.abs(numbers) > LARGEST).any():
        i = np.flatnonzero(large)[0]
        if np.isinf(numbers.flat[i]):
            what = "infinite; leave it out"
        else:
            what = f"{numbers.flat[i]:g}, too large to be squared; choose another unit"
        raise ValueError(f"{name} of row {_row(found, i)} is {what}")
    return numbers


def _row(entries: np.ndarray, i: int) -> int:
    return int(i) // np.atleast_1d(entries)[:1].size


def read_times(name: str, times: Any) -> np.ndarray:
    """Return times (N,): dates as datetime64 in UTC, numbers and durations (in
    seconds) as float64.

    Raises ValueError for entries that are missing or no time, and for other shapes.
    """
    times = read_text(name, array(name, times))
    if times.ndim != 1:
        raise ValueError(f"{name} has shape {times.shape}; times are one-dimensional")
    if (lost := is_missing(times)).any():
        row = int(np.flatnonzero(lost)[0])
        raise ValueError(f"{name} of row {row} is missing; every row needs a time")
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
            raise ValueError(f"{name} are in months or years, of no fixed length")
        return times / np.timedelta64(1, "s")
    return times if times.dtype.kind == "M" else read_numbers(name, times)


def read_text(name: str, times: np.ndarray) -> np.ndarray:
    """Return times with dates for text, which must be that of ISO 8601."""
    if times.dtype.kind not in "OSU":
        return times
    items = times.ravel().tolist()
    for row, item in enumerate(items):
        if isinstance(item, str | bytes):
            try:
                items[row] = datetime.fromisoformat(item)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{name} of row {row} is {item!r}; it must be a number or a date, "
                    "as text such as 2024-01-31 or 2024-01-31T12:00:00Z"
                ) from None
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found.reshape(times.shape)


def _utc(moment: Any) -> np.datetime64:
    """Return a date of Python or pandas in UTC. One without a time zone is taken to
    be in UTC, as dates of NumPy are, and not in the zone of the machine."""
    if moment.tzinfo:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    # pandas counts nanoseconds
    return moment.asm8 if hasattr(moment, "asm8") else np.datetime64(moment)


def to_seconds(
    name: str, times: Any, since: np.datetime64 | None = None
) -> tuple[np.ndarray, bool]:
    """Return times (N,) as float64, and True if they were dates: those become seconds
    after `since` (None: 1970)."""
    times, second = read_times(name, times), np.timedelta64(1, "s")
    if times.dtype.kind != "M":
        return times, False
    since = np.datetime64(0, "s") if since is None else since
    # Whole seconds and fractions apart: float64 since 1970 ends at a microsecond,
    # and nanoseconds reach 292 years at most.
    whole, first = times.astype("datetime64[s]"), since.astype("datetime64[s]")
    fraction = (times - whole) / second - (since - first) / second
    return (whole - first) / second + fraction, True


def has_zone(times: Any) -> bool:
    """True if dates have a time zone: a column by its type, others one by one."""
    kind = getattr(times, "dtype", getattr(times, "type", None))
    if getattr(kind, "tz", None) or getattr(kind, "time_zone", None):
        return True  # pandas and pyarrow, polars
    times = read_text("times", array("times", times))
    return times.dtype == object and any(getattr(t, "tzinfo", None) for t in times.flat)


def check_zone(name: str, times: Any, others: str, wanted: bool) -> None:
    """Raise TypeError if others have a time zone and these have none."""
    if wanted and not has_zone(times):
        raise TypeError(
            f"{name} have no time zone, {others} have one; give them theirs: if it is "
            f"UTC, by pandas.to_datetime({name}, utc=True)"
        )


def check_dates(name: str, dates: bool, others: str, wanted: bool | None) -> None:
    """Raise TypeError if dates meet numbers; None: nobody knows what others are."""
    if wanted is not None and dates != wanted:
        kinds = ("numbers", "dates")
        raise TypeError(
            f"{name} are {kinds[dates]}; {others} are {kinds[wanted]}, so these must be"
        )

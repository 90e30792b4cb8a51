"""Units: what one unit of position should be, and what a table's numbers were."""

import math
import textwrap
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import checks
from ..rope import frequencies
from .columns import check_dates, read_asked, read_numbers

LARGEST = 1e150  # of a number that is read: its square is a number still
POSITIVE = checks.real(lambda v: v > 0, "be positive")
Series = list[tuple[Tensor, Tensor]]  # of each: values (N, P) and positions (N, D)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Turn values and times of a table into the numbers of its tokens, and back.
    `from_table` makes it, and `Tokens.scale` holds it.

    Attributes
    ----------
    ids : tuple, B names
        Of the samples, in the order of the tokens.
    start : array of float, (B,)
        Time of position 0 of each sample; for dates in seconds after `since`.
    unit : float
        Time of one unit of position; for dates in seconds.
    channels, labels : tuple of names
        Of channels and classes, in the order of the numbers that tokens carry.
    mean, deviation : array of float, (C,) or (C, P)
        Tokens hold (value - mean) / deviation of their channel.
    dates, zoned : bool
        True if times are dates (None: nobody knows), and if these have a time zone.
    notes : tuple of str
        What was done to the table.
    plain : bool
        True if numbers are as they were given: nothing was standardised.
    """

    ids: tuple[Hashable, ...]
    start: np.ndarray
    unit: float
    channels: tuple[str, ...]
    mean: np.ndarray
    deviation: np.ndarray
    labels: tuple[Hashable, ...] = ()
    dates: bool | None = False
    since: np.datetime64 | None = None
    zoned: bool = False
    notes: tuple[str, ...] = ()
    plain: bool = False

    def __post_init__(self):
        checks.each(vars(self), unit=POSITIVE, dates=checks.a(bool | None))
        wide = (len(self.channels), *np.shape(self.mean)[1:])
        for name, shape, low in (
            ("start", (len(self.ids),), -LARGEST),
            ("mean", wide, -LARGEST),
            ("deviation", wide, 0),
        ):
            numbers = read_numbers(name, getattr(self, name))
            inside = (low < numbers) & (numbers < LARGEST)
            if numbers.shape != shape or not inside.all():
                what = f"have shape {shape} and lie in ({low}, {LARGEST:g})"
                raise ValueError(f"{name} is {numbers.tolist()}; it must {what}")
            object.__setattr__(self, name, numbers)

    def __getitem__(self, rows: Any) -> "Scale":
        """Return the scale of some samples: a slice, array or tensor of numbers."""
        if not isinstance(rows, slice):
            rows = checks.array("rows", rows)
            if rows.ndim != 1 or rows.size and rows.dtype.kind not in "iub":
                found = f"rows has shape {rows.shape} and holds {rows.dtype}"
                raise TypeError(f"{found}; give (M,) whole numbers, or a slice")
            rows = rows if rows.size else rows.astype(int)
        rows = np.arange(len(self.ids))[rows]
        ids = tuple(self.ids[i] for i in rows)
        return replace(self, ids=ids, start=self.start[rows])

    def positions(self, sample: int, times: Any, channel: str | None = None) -> Tensor:
        """Return times of a sample (its number) as positions of its tokens: float64,
        (M, 1), or, if there are several channels, (M, 2) with the number of one.

        times (M,) are numbers, or dates if the table has dates, with a time zone if it
        has one; TypeError else.
        """
        checks.whole("sample", sample, 0)
        if sample >= len(self.ids):
            raise ValueError(f"sample is {sample}; there are {len(self.ids)}")
        others = "those of the data"
        when = read_asked("times", times, others, self.dates, self.zoned, self.since)
        at = (when - self.start[sample]) / self.unit
        if len(self.channels) == 1:
            return torch.from_numpy(at)[:, None]
        number = np.full(len(at), float(self.number(channel)))
        return torch.from_numpy(np.stack((at, number), axis=-1))

    def values(self, standardised: Any, channel: str | None = None) -> np.ndarray:
        """Return numbers, as tokens hold them, in the units of a channel: any shape."""
        c = 0 if len(self.channels) == 1 else self.number(channel)
        numbers = read_numbers("standardised", standardised)
        return numbers * self.deviation[c] + self.mean[c]

    def number(self, channel: str | None) -> int:
        """Return the number of a channel."""
        checks.choice("channel", channel, self.channels)
        return self.channels.index(channel)

    def check_known(self, given: "Scale") -> None:
        """ValueError or TypeError if another scale has channels or dates that this one
        has not."""
        for name in given.channels:
            if name not in self.channels:
                known = ", ".join(self.channels)
                raise ValueError(f"channel {name!r} is unknown; the model has {known}")
        if given.dates is not None:
            check_dates("the times of X", given.dates, "those of the fit", self.dates)

    def convert(self, series: Series, given: "Scale") -> Series:
        """Return series of another scale in the units of this one, in order of time:
        values (N, P) float32, positions (N, 1), or (N, 2) if there are channels."""
        self.check_known(given)
        (m0, d0), (m1, d1) = (
            [torch.from_numpy(a.reshape(len(a), -1)) for a in (s.mean, s.deviation)]
            for s in (given, self)
        )  # (C, P) each
        if (width := series[0][0].shape[1]) != (fitted := m1.shape[1]):
            raise ValueError(f"X has {width} values a token; the fit had {fitted}")
        numbers = torch.tensor([self.channels.index(name) for name in given.channels])
        converted = []
        for values, positions in series:
            old = channel_of(positions)
            new = numbers[old]  # (N,)
            # one step, so that with equal scales nothing is rounded
            values = (values.double() * d0[old] + (m0[old] - m1[new])) / d1[new]
            positions = positions[:, :1] * (given.unit / self.unit)
            order = positions[:, 0].argsort(stable=True)
            if len(self.channels) > 1:
                positions = torch.cat((positions, new[:, None].double()), dim=-1)
            converted.append((values.float()[order], positions[order]))
        return converted


def channel_of(positions: Tensor) -> Tensor:
    """Return the number of each token's channel: positions (..., D) -> (...) long."""
    if positions.shape[-1] == 1:
        return torch.zeros(positions.shape[:-1], dtype=torch.long)
    return positions[..., 1].long()


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What `suggest_unit` found, in the unit of the times; print it for the reasons."""

    value: float  # the suggested unit: the median distance of neighbours
    shortest: float  # the 5th percentile of these distances
    longest: float  # the 95th
    span: float  # from first to last, the median over the series
    reach: float  # longest wavelength of the encoding, in units of position
    problems: tuple[str, ...]  # of the times as they are, and what no unit can mend

    def __str__(self) -> str:
        lines = [
            f"divide times by {self.value:.4g}, the typical distance of neighbours\n",
            f"{'the fastest pair turns, in radians':<38}   as given    divided",
        ]
        for name, length in (
            ("between neighbours, median", self.value),
            ("between neighbours, 5th percentile", self.shortest),
            ("between neighbours, 95th percentile", self.longest),
            ("from first to last", self.span),
        ):
            lines.append(f"  {name:<36} {length:>10.4g} {length / self.value:>10.4g}")
        lines += ["\n" + textwrap.fill(problem, 84) for problem in self.problems]
        return "\n".join(lines)


def suggest_unit(
    times: Sequence | np.ndarray, *, head_dim: int = 60, p: float = 0.75,
    base: float = 10_000.0,
) -> Unit:
    """Suggest the unit in which typical neighbours are one apart, so that RoPE's
    fastest pair turns one radian between them (chapter 04).

    Parameters
    ----------
    times : array_like, (N,) or (B, N), or list of (N_b,)
        One series or several, in any order, in any real unit.
    head_dim, p, base
        Of the encoding, per axis, as in `PositionEncoding`: they set its reach.

    Warns
    -----
    UserWarning
        Of each of its `problems`.
    """
    checks.whole("head_dim", head_dim, 2)
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}; it must be even")
    turning = frequencies(head_dim, p, base)
    pairs = f"turn at least one of the {head_dim // 2} pairs"
    checks.number("p", p, lambda _: bool((turning > 0).any()), pairs)
    reach = 2 * math.pi / float(turning[turning > 0][-1])
    series = _list_series(times)
    gaps = neighbours(series)
    if not len(gaps):
        raise ValueError("times has no series with two different times")
    unit = float(np.median(gaps))
    shortest, longest = (float(v) for v in np.quantile(gaps, (0.05, 0.95)))
    span = float(np.median([np.ptp(one) for one in series if np.ptp(one) > 0]))
    problems = []
    if span < 1:
        problems.append(
            f"As given, a whole series spans {span:.3g} radians of the fastest pair, "
            "less than one: attention starts out unable to tell neighbours apart."
        )
    if unit > math.pi:
        problems.append(
            f"As given, neighbours are {unit:.3g} radians apart, more than half a "
            "turn: the fastest pair aliases."
        )
    if span / unit > reach:
        problems.append(
            f"Divided, a series is {span / unit:,.0f} long, and the slowest turning "
            f"pair comes round after {reach:,.0f}: far ends alias. A larger base, or a "
            "coarser unit, trades the short distances for the long."
        )
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return Unit(value=unit, shortest=shortest, longest=longest, span=span, reach=reach,
                problems=tuple(problems))


def _list_series(times: Any) -> list[np.ndarray]:
    """Return each series as float64 (N,), without what is missing."""
    checks.kind("times", times, Iterable)
    times = checks.array("times", times) if isinstance(times, Tensor) else times
    times = times if isinstance(times, np.ndarray) else list(times)
    named = {f"times[{i}]": one for i, one in enumerate(times)}
    if len(times) and np.ndim(times[0]) == 0:
        named = {"times": times}
    series = [read_numbers(name, one) for name, one in named.items()]
    for name, one in zip(named, series, strict=True):
        if one.ndim != 1:
            raise ValueError(f"{name} has shape {one.shape}; it must be (N,)")
    return [one[~np.isnan(one)] for one in series]


def neighbours(series: Sequence[np.ndarray]) -> np.ndarray:
    """Return the distances between neighbouring different times of all series."""
    gaps = [np.diff(np.unique(one)) for one in series]
    return np.concatenate([np.empty(0), *gaps])


LENGTHS = {  # in seconds
    "year": 31_557_600, "week": 604_800, "day": 86_400, "hour": 3600, "minute": 60,
    "second": 1, "millisecond": 1e-3, "microsecond": 1e-6, "nanosecond": 1e-9,
}


def duration(seconds: float) -> str:
    """Put a length of time into words: 604800 is a week."""
    counts = {name: seconds / length for name, length in LENGTHS.items()}
    whole = [n for n, c in counts.items() if 0.5 < c < 400 and abs(c - round(c)) < 1e-6]
    large = [n for n, c in counts.items() if c >= 1 and n != "week"] or ["nanosecond"]
    name = (whole or large)[0]
    if f"{counts[name]:.3g}" == "1":
        return f"an {name}" if name == "hour" else f"a {name}"
    return f"{counts[name]:.3g} {name}s"

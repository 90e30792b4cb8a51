"""In which unit positions should be given: the rule of chapter 04, with its reasons."""

import math
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import number, whole
from ..rope import frequencies


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What `suggest_unit` found, all in the times' own units; print it for the reasons, divide times by `value`.

    value: the suggested unit, the median distance of neighbours. shortest, longest: the 5th and 95th percentile of
    these distances. span: from first to last, the median over the series. reach: longest wavelength, in position units.
    problems: what is wrong with the times as they are (unit 1), and what no unit can mend.
    """

    value: float
    shortest: float
    longest: float
    span: float
    reach: float
    problems: tuple[str, ...]

    def __str__(self) -> str:
        rows = (
            ("between neighbours, median", self.value),
            ("between neighbours, 5th percentile", self.shortest),
            ("between neighbours, 95th percentile", self.longest),
            ("from first to last", self.span),
        )
        lines = [
            f"divide times by {self.value:.4g}, the typical distance of neighbours",
            "",
            f"{'the fastest pair turns, in radians':<38} {'as given':>10} {'divided':>10}",
            *(f"  {name:<36} {length:>10.4g} {length / self.value:>10.4g}" for name, length in rows),
        ]
        lines += ["\n" + textwrap.fill(problem, 84) for problem in self.problems]
        return "\n".join(lines)


def suggest_unit(times: Sequence | np.ndarray, *, head_dim: int = 60, p: float = 0.75, base: float = 10_000.0) -> Unit:
    """The unit in which typical neighbours are one apart, so that RoPE's fastest pair turns one radian between them.

    times: one series (N,), several of one length (B, N), or a list of series (N_b,), in any order, any real unit.
    head_dim, p, base: of the heads, per axis; they say which distances a head can hold.

    UserWarning where the times as they are span less than a radian, where typical neighbours lie beyond half a turn
    (the fastest pair aliases), and where a series is longer than the slowest pair's wave in any sensible unit.
    Raises TypeError for what is no number, ValueError for NaN, infinity, or where no series has two different times.
    """
    whole("head_dim", head_dim, 2)
    if head_dim % 2:
        raise ValueError(f"head_dim is {head_dim}; it must be even")
    series = [np.unique(one) for one in _listed(times)]
    gaps = neighbours(series)
    if not len(gaps):
        raise ValueError("times has no series with two different times; a unit needs neighbours")
    unit = float(np.median(gaps))
    shortest, longest = (float(v) for v in np.quantile(gaps, (0.05, 0.95)))
    span = float(np.median([one[-1] - one[0] for one in series if len(one) > 1]))
    turning = frequencies(head_dim, p, base)
    number("p", p, lambda _: bool((turning > 0).any()), f"turn at least one of the {head_dim // 2} pairs")
    reach = 2 * math.pi / float(turning[turning > 0][-1])
    problems = _problems(unit, span, reach)
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return Unit(value=unit, shortest=shortest, longest=longest, span=span, reach=reach, problems=tuple(problems))


def neighbours(series: Sequence[np.ndarray]) -> np.ndarray:
    """The distances between neighbouring different times of each series (N_b,), all of them in one array."""
    return np.concatenate([np.empty(0), *(np.diff(np.unique(one)) for one in series)])


def typical(series: Sequence[np.ndarray]) -> float:
    """The median of these distances; 1 where no series has two different times."""
    gaps = neighbours(series)
    return float(np.median(gaps)) if len(gaps) else 1.0


def _problems(unit: float, span: float, reach: float) -> list[str]:
    """What is wrong with the times as they are, and what no unit can mend."""
    problems = []
    if span < 1:
        problems.append(
            f"As given, a whole series spans {span:.3g} radians of the fastest pair, less than one: attention starts "
            "out unable to tell neighbours apart."
        )
    if unit > math.pi:
        problems.append(
            f"As given, neighbours are {unit:.3g} radians apart, more than half a turn: the fastest pair aliases."
        )
    if span / unit > reach:
        problems.append(
            f"Divided, a series is {span / unit:,.0f} long, and the slowest turning pair comes round after "
            f"{reach:,.0f}: far ends alias. A larger base, or a coarser unit, trades the short distances for the long."
        )
    return problems


def _listed(times) -> list[np.ndarray]:
    """Each series as float64 (N,)."""
    whole = times if isinstance(times, np.ndarray) else list(times)
    one = isinstance(whole, np.ndarray) and whole.ndim == 1 or len(whole) and np.ndim(whole[0]) == 0
    found = []
    for i, values in enumerate([whole] if one else whole):
        name, array = "times" if one else f"times[{i}]", np.asarray(values)
        if array.dtype.kind not in "fiu":
            raise TypeError(
                f"{name} holds {array.dtype}; times must be numbers: of dates, subtract the first and divide, "
                "(t - t[0]) / np.timedelta64(1, 'h')"
            )
        if array.ndim != 1 or not np.isfinite(array).all():
            raise ValueError(f"{name} has shape {array.shape}; it must be (N,) finite numbers")
        found.append(array.astype(np.float64))
    return found

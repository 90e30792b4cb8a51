"""Several seeds, one number: means and intervals over runs."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from scipy.special import stdtrit

from romae_lite.checks import number

NBSP = "\N{NO-BREAK SPACE}"


def decimals_for(x: float, digits: int) -> int:
    """Decimals that show so many significant digits of x."""
    return max(0, digits - 1 - math.floor(math.log10(abs(x)))) if x else digits


def fixed(x: float, decimals: int, sign: str = "") -> str:
    """With so many decimals; no sign before what they show as zero. sign: "+" before what is positive."""
    text = f"{x:{sign}.{decimals}f}"
    return text if text.strip("+-0.") else text.lstrip("+-")


def decimals_between(low: float, high: float, decimals: int) -> int:
    """More of them where an interval that leaves out 0 would be shown as touching it."""
    if low * high > 0:
        hidden = [end for end in (low, high) if not fixed(end, decimals).strip("0.")]
        decimals = max([decimals, *(decimals_for(end, 1) for end in hidden)])
    return decimals


@dataclass(frozen=True)
class Summary:
    """Mean over runs with a 95 % interval, from three runs on; low, high and std are None where there are too few."""

    mean: float
    low: float | None
    high: float | None
    n: int
    std: float | None
    values: tuple[float, ...]

    @property
    def scattered(self) -> bool:
        """Few runs of what is never negative, with an interval that is: their values say more than it does."""
        return self.low is not None and self.low < 0 <= min(self.values) and self.n < 6

    @property
    def each(self) -> str:
        """The runs, smallest first: "0.0587, 0.152, 3.33"."""
        return ", ".join(f"{value:.3g}" for value in sorted(self.values))

    def text(self, scale: float = 1.0, decimals: int | None = None, sign: str = "", n: bool = False) -> str:
        """Like "0.0289 [0.0281, 0.0296]", in units of ``scale``; by default three significant digits.

        sign: "+" before what is positive. n: add ", n = 5".
        """
        if decimals is None:
            decimals = decimals_for(self.mean / scale, 3)
        if self.low is not None:
            decimals = decimals_between(self.low / scale, self.high / scale, decimals)
        show = lambda x: fixed(x / scale, decimals, sign)  # noqa: E731
        interval = "" if self.low is None else f" [{show(self.low)}, {show(self.high)}]"
        return show(self.mean) + interval + f", n{NBSP}={NBSP}{self.n}" * n

    def __format__(self, spec: str) -> str:
        """`text` by a format: f"{summary:+.2n}" has signs, two decimals, and n; every part may be left out."""
        if not (match := re.fullmatch(r"(\+?)(?:\.([0-9]+))?(n?)", spec)):
            raise ValueError(f"format is {spec!r}; a Summary takes [+][.DECIMALS][n]")
        return self.text(decimals=int(match[2]) if match[2] else None, sign=match[1], n=bool(match[3]))


def summarise(values: Iterable[float]) -> Summary:
    """Mean and 95 % interval over runs, by Student's t: mean -+ t_0.975(n - 1) std / sqrt(n).

    It covers what differs between seeds and nothing else. One or two runs have no interval: with two, t is 12.7. The
    order of the values does not matter. ValueError for no values or one that is not finite.
    """
    if not isinstance(values, Iterable) or isinstance(values, str | bytes) or not (values := tuple(values)):
        raise ValueError(f"values is {values!r}, empty or no numbers; there is nothing to summarise")
    for i, value in enumerate(values):
        number(f"values[{i}]", value, lambda v: True, "be finite")
    values = tuple(map(float, values))
    n, mean = len(values), math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    half = float(stdtrit(n - 1, 0.975)) * std / math.sqrt(n) if n > 2 else None
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return Summary(mean, low, high, n, std, values)

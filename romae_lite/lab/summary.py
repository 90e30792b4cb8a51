"""Several seeds, one number: means and intervals over runs."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000


def decimals_for(x: float, digits: int) -> int:
    """Decimals that show so many significant digits of x."""
    return max(0, digits - 1 - math.floor(math.log10(abs(x)))) if x else digits


@dataclass(frozen=True)
class Summary:
    """Mean over runs with a 95 % interval; low, high and std are None where a single run allows none."""

    mean: float
    low: float | None
    high: float | None
    n: int
    std: float | None
    values: tuple[float, ...]

    def text(self, scale: float = 1.0, decimals: int | None = None) -> str:
        """Like "0.0289 [0.0281, 0.0296]", in units of ``scale``; by default three significant digits."""
        if decimals is None:
            decimals = decimals_for(self.mean / scale, 3)
        show = lambda x: f"{x / scale:.{decimals}f}"  # noqa: E731
        return show(self.mean) + ("" if self.low is None else f" [{show(self.low)}, {show(self.high)}]")


def summarise(values: Iterable[float]) -> Summary:
    """Mean and 95 % interval by the percentile bootstrap over runs: 10,000 resamples, always the same ones.

    The interval covers what differs between seeds, nothing else; of three to five runs it is on the narrow
    side. The order of the values does not matter. ValueError for no values or one that is not finite.
    """
    values = tuple(float(v) for v in values)
    if not values:
        raise ValueError("values is empty; there is nothing to summarise")
    if not np.isfinite(values).all():
        raise ValueError(f"values is {values}; all of them must be finite")
    n, mean = len(values), math.fsum(values) / len(values)
    if n == 1:
        return Summary(mean, None, None, 1, None, values)
    picks = np.random.default_rng(0).integers(0, n, (RESAMPLES, n))
    means = np.sort(values)[picks].mean(axis=1)  # (RESAMPLES,)
    low, high = np.quantile(means, (0.025, 0.975)).clip(min(values), max(values))  # rounding may lead outside
    return Summary(mean, float(low), float(high), n, float(np.std(values, ddof=1)), values)

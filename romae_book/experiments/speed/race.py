"""Fair races: contenders take turns, so that whatever else the machine does hits all of them alike."""

import os
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import torch


class Ratio(NamedTuple):
    """How many times faster: the median over rounds, and the extremes."""

    middle: float
    low: float
    high: float


def race(contenders: dict[str, Callable[[], object]], rounds: int, now: Callable[[], float]) -> dict[str, list[float]]:
    """Seconds of each contender, once for every round. Each runs once before, uncounted; who begins changes.

    now: a clock, in seconds (`clock`)."""
    for contender in contenders.values():
        contender()
    seconds = {name: [] for name in contenders}
    names = list(contenders)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            begin = now()
            contenders[name]()
            seconds[name].append(now() - begin)
    return seconds


def ratio(slow: list[float], fast: list[float]) -> Ratio:
    """Of the seconds of two contenders, round by round."""
    found = [a / b for a, b in zip(slow, fast, strict=True)]
    return Ratio(statistics.median(found), min(found), max(found))


def clock(kind: str) -> Callable[[], float]:
    """ "wall": seconds on the wall, after the GPU has finished. "cpu": seconds that this process computes, which a busy
    machine disturbs less; work of other processes is not in it."""
    if kind == "cpu":
        return time.process_time

    def now() -> float:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()

    return now


def spread(name: str, found: Ratio) -> dict[str, float]:
    """As metrics: name, name_low, name_high."""
    return {name: found.middle, f"{name}_low": found.low, f"{name}_high": found.high}


def load() -> float:
    """How busy the machine is: processes that want to run, for each core; 0 where that cannot be told."""
    return os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 0.0

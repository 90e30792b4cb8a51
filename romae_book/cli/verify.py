"""Run recorded runs again: do today's code and this machine make the same numbers?

A short run is repeated whole, of a longer one the first entry of its history, with the learning rates of the whole
run. Nothing is written: no record, no checkpoint.
"""

import math
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from romae_lite.model import count_parameters
from romae_lite.training import NUMERICS, CheckpointError, Interrupted, accelerator_for

from ..experiments import experiment as class_of
from ..lab.records import Record
from .audit import load_records

SHORT = 60.0  # seconds: a run that took no longer is repeated whole
ENTRIES = 1  # so many of the history are compared, of every run


class Tolerance(NamedTuple):
    largest: float  # relative difference
    reason: str


# Rounding differs between processors, versions of torch and numbers of threads, and training makes it grow; on one
# machine runs repeat to the last bit. Measured: presets of five subjects, each on one processor with AVX-512 and with
# AVX2 instead. The first of fifty entries lies in the warm-up of the learning rate, where little grows: it differed by
# 1.6e-7 at most in fp32 and 3.5e-6 in bf16, the second by up to 9.3e-5 (spirals, step 250).
# Where a hundred steps or more have been made by then, and the rate has risen beyond half of its peak, more has grown:
# on the synthetic series by Table 20 (step 200) the mean loss of the first epoch is 9.3e-3 from the record on a
# processor with AVX2 (by the code of the record's own commit too), and there with SSE instead 5.7e-2 from itself. A
# first entry then tells no more than a whole run does: gross changes.
# In a whole run on 200 spirals later entries differed by up to 1.6e-2, and the results by 0.8 %.
ELSEWHERE = 0.053  # by which a result differed, at most, when its run was repeated on another machine
TOLERANCES = {
    "settings": Tolerance(1e-9, "counts, and learning rates in float64"),
    "fp32": Tolerance(1e-4, "ten times the largest first entry seen on another machine, 1e-5 (spirals, older Muon)"),
    "grown": Tolerance(0.12, "twice the largest measured, 5.7e-2 (synthetic, paper, step 200, SSE for AVX2)"),
    "bf16": Tolerance(1e-4, "thirty times the largest measured, 3.5e-6 (pendulum)"),
    "result": Tolerance(0.1, f"twice the largest seen on another machine, {ELSEWHERE:.1%} (spirals, n_train=200)"),
}


@dataclass(frozen=True)
class Comparison:
    what: str
    difference: float  # relative, the largest
    tolerance: float

    @property
    def ok(self) -> bool:
        return self.difference <= self.tolerance


@dataclass(frozen=True)
class Outcome:
    """The result of running a record again. ``reason``: why there are no comparisons. ``fault``: if that is wrong."""

    record: Record
    comparisons: list[Comparison] = field(default_factory=list)
    reason: str = ""
    fault: bool = False

    @property
    def ok(self) -> bool:
        return not self.fault and all(c.ok for c in self.comparisons)

    @property
    def text(self) -> str:
        name = f"{self.record.experiment}/{self.record.planned.name}"
        if not self.comparisons:
            return f"{'failed' if self.fault else 'left':<8} {name}: {self.reason}"
        return "\n".join(
            f"{'ok' if c.ok else 'differs':<8} {name}: {c.what}: {c.difference:.1e} (at most {c.tolerance:g})"
            for c in self.comparisons
        )


def verify(
    experiment: str | None = None,
    *,
    sample: int = 5,
    seed: int = 0,
    budget: float = math.inf,
    whole: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Run up to ``sample`` records again, those of the paper's protocol first, otherwise in an order drawn by ``seed``.

    Records made by other numerics cannot be compared and are only counted. What needs data or a device that are not
    here, or by its record more than half of what is left of ``budget`` seconds, is passed over. ``whole`` repeats long
    runs to the end as well. ValueError where there is no record at all.
    """
    if sample < 1:
        raise ValueError(f"sample is {sample}; it must be at least 1")
    if experiment is not None:
        class_of(experiment)  # refuses a name that is none
    found = load_records(experiment)
    ages = Counter(r.numerics for r in found)
    for age in sorted(set(ages) - {NUMERICS}):
        report(
            f"{ages[age]} of {len(found)} records: made by numerics {age}, cannot be compared with today's code "
            f"(numerics {NUMERICS}): run them again"
        )
    comparable = [r for r in found if r.numerics == NUMERICS]
    drawn = random.Random(seed).sample(comparable, len(comparable))
    drawn.sort(key=lambda r: r.tier != "paper")
    outcomes, passed_over, end = [], 0, time.monotonic() + budget
    for record in drawn:
        if len(outcomes) == sample:
            break
        if 2 * cost(record, whole) > end - time.monotonic():  # this machine may be slower, and data are drawn first
            passed_over += 1
            continue
        outcome = again(record, end, whole)
        report(outcome.text)
        if outcome.comparisons or outcome.fault:
            outcomes.append(outcome)
    if passed_over:
        report(f"{passed_over} records passed over: the budget of {budget:g} s does not hold them")
    wrong = sum(not o.ok for o in outcomes)
    report(f"{len(outcomes)} of {len(comparable)} comparable records verified, {wrong} of them beyond the tolerance")
    return outcomes


def cost(record: Record, whole: bool = False) -> float:
    """Seconds that training took as far as it is repeated."""
    if whole or record.wall_seconds <= SHORT or not record.history:
        return record.wall_seconds
    return record.history[:ENTRIES][-1].get("seconds", record.wall_seconds)


def again(record: Record, end: float = math.inf, whole: bool = False) -> Outcome:
    """Train once more with the settings of a record, at the latest until ``end`` by `time.monotonic`, and compare: a
    short run whole, a longer one as far as the first entry of its history unless ``whole``."""
    if record.processes > 1:
        return Outcome(record, reason="several processes shared it; only its own command repeats it")
    exp, whole, entries = record.planned.build(), whole or record.wall_seconds <= SHORT, []
    if not exp.repeatable:
        return Outcome(record, reason="it holds times, which no second run repeats")
    device = "cpu" if record.device.startswith("cpu") else None
    accelerator = accelerator_for(exp.precision, device)
    if device is None and accelerator.device.type == "cpu":
        return Outcome(record, reason=f"made on {record.device}; there is no GPU here")
    if exp.precision == "auto" and accelerator.mixed_precision.replace("no", "fp32") != record.precision:
        return Outcome(record, reason=f"made in {record.precision}, which this device does not do")
    model = None
    try:
        data = exp.data(record.seed)
        parameters = count_parameters(exp.build(record.seed))
        model, _ = exp.train(
            data, record.seed, log=entries.append, device=device,
            stop=lambda: time.monotonic() >= end or (not whole and len(entries) >= ENTRIES),
        )
    except Interrupted:
        pass
    except (ImportError, FileNotFoundError) as error:
        return Outcome(record, reason=str(error))
    except (ValueError, TypeError, CheckpointError, torch.OutOfMemoryError) as error:
        return Outcome(record, reason=str(error), fault=True)
    if not entries and model is None:
        return Outcome(record, reason="the budget ended before the first entry of its history")
    metrics = exp.evaluate(model, data.test) if model is not None else {}
    try:
        return Outcome(record, compare(record, parameters, entries, metrics))
    except KeyError as error:
        return Outcome(record, reason=f"its history has no {error}", fault=True)


def compare(record: Record, parameters: int, entries: list[dict], metrics: dict[str, float]) -> list[Comparison]:
    """Compare a record with what came out now: the first entries of the history, and of a whole run its main metric."""
    pairs = list(zip(entries[:ENTRIES], record.history, strict=False))
    where = f"first {len(pairs)} of {len(record.history)} history entries"
    exact = [(parameters, record.parameters)] + [(a[key], b[key]) for a, b in pairs for key in ("step", "lr")]
    found = [comparison("settings", f"parameters, steps and learning rates, {where}", exact)]
    if pairs:
        _, last = pairs[-1]
        peak = max(entry["lr"] for entry in record.history if entry.get("stage") == last.get("stage"))
        grown = record.precision in ("fp32", "bf16") and last["step"] >= 100 and last["lr"] > peak / 2
        kind = "grown" if grown else record.precision
        found.append(comparison(kind, f"loss, {where}", [(a["loss"], b["loss"]) for a, b in pairs]))
    if metrics:
        main = next(iter(metrics))
        found.append(comparison("result", f"{main}, whole run", [(metrics[main], record.metrics.get(main, math.nan))]))
    return found


def comparison(kind: str, what: str, pairs: list[tuple[float, float]]) -> Comparison:
    return Comparison(what, max(relative(a, b) for a, b in pairs), TOLERANCES[kind].largest)


def relative(a: float, b: float) -> float:
    """|a - b| in units of the larger one; infinite where one is missing."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0

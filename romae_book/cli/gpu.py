"""A GPU hour, planned: python -m romae_lite gpu --budget 30m

Checks first (do CPU and GPU agree?), then the measurements of chapter 13, then the paper's own runs that a CPU cannot
do, most valuable first. Everything is a slice that resumes: a check that was passed is noted beside the checkpoints, a
run that was stopped goes on from its checkpoint, a record that exists is not made again. No network. Torch, accelerate,
einops, safetensors, numpy and scipy are enough for most of it; what needs more, or data, is named and passed over.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from romae_lite.io import atomic_write
from romae_lite.training import Interrupted, accelerator_for, seeded

from ..experiments import experiment, experiments
from ..experiments.settings import setting_values
from ..lab import run as runs
from ..lab.planned import Planned, checkpoints_dir
from ..lab.run import said

STEPS = 10  # of a check
# Largest relative differences between CPU and GPU that a check lets pass, in float32 without tf32. Both add the same
# products in another order: float32 keeps 6e-8, and a step of AdamW divides by the size of a gradient, which makes the
# rounding of small ones large.
AGREE = {"loss": 1e-4, "gradient": 1e-2, "ten steps": 1e-2}

# What the paper did and a CPU cannot, most valuable per minute first: experiment, preset, settings, seeds, tokens of a
# sample (for the estimate alone). Names that are not there yet are passed over.
WISHES = (
    ("position", "paper", {"size": "small"}, 5, 11),
    ("position", "paper", {"size": "base"}, 5, 11),
    ("position_range", "paper", {}, 5, 2),
    ("position_range", "paper", {"high": 1000.0}, 5, 2),
    ("frequencies", "paper", {}, 5, 100),
    ("physionet", "paper", {}, 5, 430),
    ("physionet", "paper_tokens", {}, 5, 430),
    ("tiny_imagenet", "paper", {}, 1, 196),
    ("esc50", "paper", {}, 1, 500),
)
LAUNCH = 8e-3  # seconds that a step takes however small it is: an estimate, from some 1500 launches of 5 microseconds
REACHED = 0.25  # of the device's rate of products, by a training step: an estimate
CHECK = 20.0  # seconds for a check: an estimate
BENCH = 60.0  # seconds for a measurement: an estimate


@dataclass(frozen=True)
class Slice:
    """Something to do: what, how many seconds it may take, and how. do(stop) returns a line that says what came out."""

    name: str
    seconds: float
    do: Callable[[Callable[[], bool]], str]


def plan(device: str, rate: float) -> list[Slice]:
    """All that is still to do on "cuda" (or "cpu", to try the plan), in order. rate: of products, see `matmul_rate`."""
    return [*checks(device), *benches(device), *paper_runs(device, rate)]


def carry_out(slices: list[Slice], budget: float, report: Callable[[str], None]) -> int:
    """Do them until the seconds are used up; returns how many failed. A slice that fails is named and passed over."""
    end, failed = time.monotonic() + budget, 0
    for i, part in enumerate(slices):
        left = end - time.monotonic()
        if left <= 0:
            report(f"the budget is used up; {len(slices) - i} of {len(slices)} are left: call again to go on")
            break
        begin = time.monotonic()
        try:
            text = part.do(lambda: time.monotonic() >= end)
        except Interrupted as reason:
            text = f"{reason}; call again to go on"
        except Exception as error:  # whatever it is, the next slice may do better
            text, failed = f"FAILED: {said(error)}", failed + 1
        report(f"{part.name:<52} {time.monotonic() - begin:>6.0f} s  {text}")
    return failed


def announce(slices: list[Slice], budget: float) -> Iterator[str]:
    """What will be done, and how long each may take; a line where the budget probably ends."""
    total, ended = 0.0, False
    for part in slices:
        if total >= budget and not ended:
            ended = True
            yield f"--- probably not in this budget of {budget / 60:.0f} minutes; call again to go on ---"
        total += part.seconds
        yield f"{part.name:<52} about {part.seconds / 60:>7.1f} min"
    yield f"{len(slices)} slices, about {total / 60:.0f} minutes in all (estimates, not measured)"


def matmul_rate(device: str) -> float:
    """Floating point operations per second of a large float32 product."""
    n = 4096 if device == "cuda" else 512
    a, best = torch.randn(n, n, device=device), 0.0
    for _ in range(3):
        begin = time.perf_counter()
        (a @ a)[0, 0].item()  # waits for the product
        best = max(best, 2 * n**3 / (time.perf_counter() - begin))
    return best


# Checks -------------------------------------------------------------------------------------------------------------


def notes_path() -> Path:
    return checkpoints_dir() / "gpu.json"


def _notes() -> dict:
    return json.loads(notes_path().read_text()) if notes_path().exists() else {}


def checks(device: str) -> list[Slice]:
    passed = _notes().get(runs.commit(), {})
    names = [name for name, cls in experiments().items() if hasattr(cls, "quick") and cls.repeatable]
    return [Slice(f"agree: {name}", CHECK, _check(name, device)) for name in names if f"{device} {name}" not in passed]


def _check(name: str, device: str) -> Callable:
    def do(stop) -> str:
        found = agreement(name, device)
        if bad := [key for key, value in found.items() if not value <= AGREE[key]]:
            raise ValueError(f"CPU and {device} differ: {', '.join(f'{key} {found[key]:.1e}' for key in bad)}")
        notes = _notes()
        notes.setdefault(runs.commit(), {})[f"{device} {name}"] = found
        notes_path().parent.mkdir(parents=True, exist_ok=True)
        atomic_write(notes_path(), json.dumps(notes, indent=1).encode())
        return "agree: " + ", ".join(f"{key} {value:.1e}" for key, value in found.items())

    return do


def agreement(name: str, device: str, **settings) -> dict[str, float]:
    """How far a quick run on the device is from the same on the CPU: relative differences of its first loss, of the
    gradient, and of all weights after ten steps of AdamW."""
    exp = experiment(name).preset("quick").replace(**settings)
    data, ends = exp.data(0), []
    for where in ("cpu", device):
        accelerator_for("fp32", where)
        model = exp.build(0).to(where).train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        first = None
        for step in range(STEPS):
            g = seeded(0, 3, step)
            batch = data.train[torch.randperm(len(data.train), generator=g)[: exp.batch]]
            torch.manual_seed(step)
            loss = exp.loss(model.eval(), batch, g)  # no dropout: the CPU and a GPU draw other numbers
            loss.backward()
            if first is None:
                first = loss.item(), _flat(p.grad for p in model.parameters() if p.grad is not None)
            optimizer.step()
            optimizer.zero_grad()
        ends.append((*first, _flat(model.parameters())))
    (loss, gradient, weights), (other_loss, other_gradient, other_weights) = ends
    return {
        "loss": abs(loss - other_loss) / abs(loss),
        "gradient": float((gradient - other_gradient).norm() / gradient.norm()),
        "ten steps": float((weights - other_weights).norm() / weights.norm()),
    }


def _flat(tensors) -> torch.Tensor:
    return torch.cat([t.detach().double().cpu().flatten() for t in tensors])


# Measurements and runs ------------------------------------------------------------------------------------------------


def benches(device: str) -> list[Slice]:
    preset = "paper" if device == "cuda" else "cpu"
    wanted = [replace(wish[0], preset=preset) for wish in runs.wishes("speed") if wish[0].preset == "cpu"]
    return [Slice(f"speed: {p.name}", BENCH, _run(p, device)) for p in wanted if not p.path.exists()]


def paper_runs(device: str, rate: float) -> list[Slice]:
    """Runs of the paper's protocol without a record."""
    found = []
    for name, preset, settings, seeds, tokens in WISHES:
        if name not in experiments() or not hasattr(experiment(name), preset):
            continue
        for seed in range(seeds):
            planned = Planned(experiment=name, preset=preset, seed=seed, overrides=tuple(settings.items()))
            if not planned.path.exists():
                found.append(Slice(f"{name}: {planned.name}", estimate(planned, tokens, rate), _run(planned, device)))
    return found


def estimate(planned: Planned, tokens: int, rate: float) -> float:
    """Seconds that a run may take, its pre-training included: a step costs six operations for each weight and token, at
    a share of the device's rate, and never less than its launches."""
    known = setting_values(planned.build())
    work = 6 * known["parameters"] * tokens / (REACHED * rate)  # seconds a sample
    stages = [
        (known[f"{stage}steps"], known[f"{stage}batch"]) for stage in ("", "pretrain_") if f"{stage}steps" in known
    ]
    return sum(steps * max(LAUNCH, work * batch) for steps, batch in stages)


def _run(planned: Planned, device: str) -> Callable:
    def do(stop) -> str:
        record = runs.run(planned, stop=stop, device=device)
        main, value = next(iter(record.metrics.items()))
        return f"{main} {value:.4g}"

    return do

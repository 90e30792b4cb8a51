"""The measurements, one function each: taken(exp, model, tokens) -> metrics by name. See `Speed` for what they are."""

import functools
import math
import os
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from romae_lite.batching import by_length, trim
from romae_lite.fast import Fast
from romae_lite.masking import hide, split, take
from romae_lite.model import RoMAE, RoMAEPredictor, masked_loss, size
from romae_lite.tokens import Tokens
from romae_lite.training import Recipe, fit, learning_rate

from .. import experiment
from ..machine import peak_memory_mb, reset_peak_memory
from . import straightforward, work
from .race import clock, load, race, ratio, spread
from .work import Training

LENGTHS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
PARTS = {  # of a step's time, by PyTorch's names of the operations
    "products": ("aten::mm", "aten::addmm", "aten::bmm"),
    "attention": ("scaled_dot_product", "aten::_softmax", "flash", "efficient"),
    "activation": ("silu",),
    "optimiser": ("_fused_adamw", "linalg_vector_norm", "_foreach"),
}


def taken(exp, model: RoMAE, tokens: Tokens) -> tuple[dict[str, float], float]:
    """Metrics, and the seconds that it took to measure them."""
    begin, before = time.perf_counter(), load()
    metrics = MEASURES[exp.measure](exp, model, tokens)
    return metrics | {"load": max(before, load())}, time.perf_counter() - begin


def _repeat(function, times: int):
    def repeated():
        for _ in range(times):
            function()

    return repeated


def _like(exp, model: RoMAE, **changes) -> RoMAE:
    """A model with other settings, on the same device."""
    return RoMAE(exp.model_config(**changes)).to(next(model.parameters()).device)


# (a) Table 9 ----------------------------------------------------------------------------------------------------------


def encoding(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    absolute = _like(exp, model, positions=replace(model.config.positions, kind="absolute"))
    forms = {"": lambda m: m, "_fast": Fast}
    trainings = {
        f"{name}{suffix}": Training(m, tokens, exp.shape["ratio"], form)
        for suffix, form in forms.items()
        for name, m in (("absolute", absolute), ("ours", model))
    }
    metrics = {}
    for kind in ("step", "forward"):
        contenders = {name: _repeat(getattr(t, kind), exp.steps) for name, t in trainings.items()}
        seconds = race(contenders, exp.rounds, clock(exp.clock))
        word = "" if kind == "step" else "_forward"
        for suffix in forms:
            found = ratio(seconds[f"absolute{suffix}"], seconds[f"ours{suffix}"])
            metrics |= spread(f"relative_speed{word}{suffix}", found)
        metrics |= spread(f"gain{word}", ratio(seconds["ours"], seconds["ours_fast"]))
        for name, each in seconds.items():
            metrics[f"ms_{kind}_{name}"] = 1e3 * statistics.median(each) / exp.steps
    metrics["tokens_per_second"] = 1e3 * int(tokens.real.sum()) / metrics["ms_step_ours"]
    return metrics


# (b) against the model as one writes it first -------------------------------------------------------------------------


def _loss(model, batch, generator, ratio: float):
    batch = trim(batch)
    return masked_loss(model, batch, hide(batch.real, ratio=ratio, generator=generator))


def straightforward_epoch(model: straightforward.Model, tokens: Tokens, recipe: Recipe, ratio: float) -> None:
    """One epoch."""
    total = recipe.epochs * math.ceil(len(tokens) / recipe.batch)
    straightforward.train(
        model, tokens, recipe, ratio, 0, lambda step: learning_rate(step, total, recipe), lambda: None
    )


def against_straightforward(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    batches, hidden = 2, exp.shape["ratio"]
    recipe = Recipe(epochs=1, batch=2 * exp.batch, lr=1e-5, warmup=2)
    count, device = batches * recipe.batch, next(model.parameters()).device
    curves = work.lengths("curves", count)
    sets = {
        "equal": (work.series(count), None),
        "ragged": (work.series(count, n=int(curves.max()), lengths=curves), curves),
    }
    metrics = {}
    for name, (data, lengths) in sets.items():
        other = straightforward.Model(model.config).copy_from(model).to(device)
        gap = same_answers(model, other, data)
        if gap > 1e-3:
            raise ValueError(f"the two do not compute the same: predictions differ by {gap}")

        def ours(form, lengths, data=data):
            trained = form(_like(exp, model))
            order = None if lengths is None else lambda g: by_length(lengths, recipe.batch, g)
            loss = functools.partial(_loss, ratio=hidden)
            return lambda: fit(
                trained, data, loss, recipe, seed=0, device=exp.machine.replace("gpu", "cuda"), order=order
            )

        contenders = {
            "straightforward": lambda data=data, other=other: straightforward_epoch(other, data, recipe, hidden),
            "plain": ours(lambda m: m, None),
            "fast": ours(Fast, None),
        }
        if lengths is not None:
            contenders |= {"grouped": ours(lambda m: m, lengths), "grouped_fast": ours(Fast, lengths)}
        seconds = race(contenders, exp.rounds, clock(exp.clock))
        for key in list(contenders)[1:]:
            metrics |= spread(f"speedup_{name}_{key}", ratio(seconds["straightforward"], seconds[key]))
        for key, each in seconds.items():
            metrics[f"ms_step_{name}_{key}"] = 1e3 * statistics.median(each) / batches
    return metrics


@torch.no_grad()
def same_answers(model: RoMAE, other: straightforward.Model, tokens: Tokens) -> float:
    """Largest difference of the two models' predictions, with the same weights and the same mask."""
    device = next(model.parameters()).device
    part = tokens[:8]
    where = split(hide(part.real, ratio=0.6, generator=torch.Generator().manual_seed(0)), part.real)
    part, where = part.to(device), where.to(device)
    found = model.eval()(part, where)
    pads = [
        torch.zeros(index.shape, dtype=torch.bool, device=device) if pad is None else pad
        for index, pad in ((where.visible, where.visible_pad), (where.hidden, where.hidden_pad))
    ]
    positions = torch.cat([take(part.positions, i)[..., 0] for i in (where.visible, where.hidden)], dim=1)
    expected = other.eval()(take(part.values, where.visible), positions, *pads)
    return float((found - expected)[~pads[1]].abs().max())


# (c) length -----------------------------------------------------------------------------------------------------------


def length(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """One sample of so many tokens, 75 % hidden, in a training step: until the seconds are used up."""
    device, now, metrics, took = next(model.parameters()).device, clock(exp.clock), {}, 0.0
    end = now() + exp.seconds
    for i, n in enumerate(LENGTHS):
        if took and now() + took * (n / LENGTHS[i - 1]) ** 2 > end:
            break
        reset_peak_memory()
        before = peak_memory_mb(device)
        training, begin = Training(model, work.series(1, n=n), 0.75, Fast), now()
        training.step()
        took = now() - begin
        times = []
        while not times or (sum(times) < 1.0 and len(times) < 20):
            start = now()
            training.step()
            times.append(now() - start)
        metrics[f"tokens_per_second_{n}"] = n / statistics.median(times)
        metrics[f"memory_mb_{n}"] = max(0.0, peak_memory_mb(device) - before)
    metrics["tokens_per_second"] = max(v for k, v in metrics.items() if k.startswith("tokens_per_second"))
    metrics["longest"] = float(max(int(k.rpartition("_")[2]) for k in metrics if k.startswith("memory_mb_")))
    return metrics


# (d) ragged -----------------------------------------------------------------------------------------------------------


def ragged(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """Real tokens per second of training steps, with four ways to make batches of samples of different lengths."""
    metrics, batch, count, now = {}, 2 * exp.batch, 3, clock(exp.clock)
    dense = _rate(exp, model, work.series(batch * count), None, batch, lambda m: m, now)
    for kind in ("stays", "curves"):
        lengths = work.lengths(kind, count * batch)
        data = work.series(len(lengths), n=int(lengths.max()), lengths=lengths)
        g = torch.Generator().manual_seed(0)
        orders = {"": torch.randperm(len(lengths), generator=g), "grouped": by_length(lengths, batch, g)}
        ways = {"naive": ("", lambda m: m), "grouped": ("grouped", lambda m: m), "packed": ("", Fast),
                "grouped_packed": ("grouped", Fast)}
        contenders = {"dense": dense}
        contenders |= {
            name: _rate(exp, model, data, orders[order], batch, form, now, count)
            for name, (order, form) in ways.items()
        }
        rates = {name: [] for name in contenders}
        for _ in range(exp.rounds):
            for name, contender in contenders.items():
                rates[name].append(contender())
        for name, each in rates.items():
            metrics[f"tokens_per_second_{kind}_{name}"] = statistics.median(each)
            if name != "dense":
                metrics |= spread(f"of_dense_{kind}_{name}", ratio(each, rates["dense"]))
        for name, order in orders.items():
            metrics[f"padding_{kind}_{name or 'naive'}"] = padding_share(lengths, batch, order)
    return metrics


def padding_share(lengths: torch.Tensor, batch: int, order: torch.Tensor) -> float:
    """Share of a batch's slots that are padding when samples come in this order."""
    parts = [lengths[part] for part in order.split(batch)]
    return 1 - int(lengths.sum()) / sum(len(part) * int(part.max()) for part in parts)


def _rate(exp, model, data: Tokens, order, batch: int, form, now, count: int = 3):
    """Real tokens per second, of `count` batches spread over the order."""
    order = torch.arange(len(data)) if order is None else order
    starts = torch.linspace(0, len(data) // batch - 1, count).long().tolist()
    parts = [trim(data[order[i * batch : (i + 1) * batch]]) for i in starts]
    training = Training(model, parts[0], exp.shape["ratio"], form)
    training.step()  # warm

    def measured() -> float:
        real, begin = 0, now()
        for part in parts:
            training.tokens = part
            training.step()
            real += int(part.real.sum())
        return real / (now() - begin)

    return measured


# (e) start ------------------------------------------------------------------------------------------------------------

FIRST_STEP = """
import torch, romae_lite as romae
model = romae.RoMAE(romae.ModelConfig(patch=2, axes=1, encoder=romae.size("tiny")))
tokens = romae.Tokens(values=torch.randn(8, 75, 2), positions=torch.rand(8, 75, 1))
from romae_lite.model import masked_loss
hidden = romae.hide(tokens.real, ratio=0.6, generator=torch.Generator())
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
masked_loss(model, tokens, hidden).backward()
optimizer.step()
"""
# the front door alone loads nothing; a use of each of its names does
EVERYTHING = "import romae_lite as romae; [getattr(romae, name) for name in romae.__all__]"


def start(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """Fresh processes: import torch, import romae_lite, import with everything loaded, and up to one training step."""
    programs = {
        "torch": "import torch",
        "romae_lite": "import romae_lite",
        "everything": EVERYTHING,
        "step": FIRST_STEP,
    }
    root = os.pathsep.join([str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")])

    def process(code: str):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": root})

    seconds = race({name: process(code) for name, code in programs.items()}, exp.rounds, _clock_of_children(exp.clock))
    metrics = {f"seconds_{name}": statistics.median(each) for name, each in seconds.items()}
    for name in ("romae_lite", "everything", "step"):
        metrics |= spread(f"over_torch_{name}", ratio(seconds[name], seconds["torch"]))
    return metrics


def _clock_of_children(kind: str):
    if kind == "wall":
        return time.perf_counter
    return lambda: sum(os.times()[2:4])  # what finished children computed


# (f) inference --------------------------------------------------------------------------------------------------------


@torch.no_grad()
def inference(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """Light curves per second through a classifier of 20 classes: lengths as light curves have."""
    count, device = 4 * exp.batch, next(model.parameters()).device
    lengths = work.lengths("curves", 2 * count)
    data = work.series(len(lengths), n=int(lengths.max()), axes=2, lengths=lengths)
    config = exp.model_config(patch=2, axes=2, encoder=size(exp.encoder), cls=True)
    classifier = RoMAEPredictor(config, outputs=20).to(device).eval()
    g = torch.Generator().manual_seed(0)
    orders = {"naive": torch.randperm(len(lengths), generator=g), "grouped": by_length(lengths, count, g)}
    chosen = range(2)
    parts = {
        name: [trim(data[order[i * count : (i + 1) * count]]).to(device) for i in chosen]
        for name, order in orders.items()
    }
    contenders, rates = {}, {}
    for name, form, batches in (("naive", classifier, "naive"), ("grouped", classifier, "grouped"),
                                ("fast", Fast(classifier).eval(), "grouped")):
        contenders[name] = lambda form=form, batches=batches: [form(part) for part in parts[batches]]
    seconds = race(contenders, exp.rounds, clock(exp.clock))
    for name, each in seconds.items():
        rates[f"curves_per_second_{name}"] = count * len(chosen) / statistics.median(each)
    rates["curves_per_second_low"] = count * len(chosen) / max(seconds["fast"])
    rates["curves_per_second_high"] = count * len(chosen) / min(seconds["fast"])
    rates |= spread("gain_fast", ratio(seconds["naive"], seconds["fast"]))
    rates["tokens_per_curve"] = float(lengths.float().mean())
    return rates


# What comes before the model -----------------------------------------------------------------------------------------


def input_(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """Of pictures, in both stages of chapter 11: from 8-bit pixels on the host to standardised patches on the device,
    as a share of the training step that it is a part of."""
    device, now, metrics = next(model.parameters()).device, clock(exp.clock), {}
    pictures = experiment("tiny_imagenet").preset("small" if exp.machine == "cpu" else "paper")
    g = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (pictures.batch, 64, 64, 3), dtype=torch.uint8, generator=g).numpy()
    batch = pictures.tokens(pixels, torch.arange(pictures.batch).remainder(pictures.classes).numpy())
    stages = {
        "pretrain": (pictures.autoencoder(0), pictures.pretrain_loss),
        "fine-tune": (pictures.build(0), pictures.loss),
    }
    for stage, (learner, loss) in stages.items():
        learner = learner.to(device).train()
        optimizer = torch.optim.AdamW(learner.parameters(), lr=1e-5, fused=True)

        def step(learner=learner, loss=loss, optimizer=optimizer):
            loss(learner, batch, g).backward()
            optimizer.step()
            optimizer.zero_grad()

        contenders = {"input": _repeat(lambda stage=stage: pictures.shown(batch, device, stage), exp.steps)}
        seconds = race(contenders | {"step": _repeat(step, exp.steps)}, exp.rounds, now)
        word = stage.replace("-", "_")
        metrics |= spread(f"input_share_{word}", ratio(seconds["input"], seconds["step"]))
        took, spent = (statistics.median(seconds[name]) / exp.steps for name in ("step", "input"))
        metrics[f"pictures_per_second_{word}"] = pictures.batch / took
        metrics[f"pictures_per_second_{word}_without_input"] = pictures.batch / max(took - spent, 1e-9)
    return metrics


# Roofline -------------------------------------------------------------------------------------------------------------


def roofline(exp, model: RoMAE, tokens: Tokens) -> dict[str, float]:
    """Products per second of a training step beside those of the fastest product of large matrices, and the shares of
    a step's time. GFLOP: 10^9 floating point operations."""
    device, now = next(model.parameters()).device, clock(exp.clock)
    hidden = math.ceil(exp.shape["ratio"] * exp.shape["n"] - 1e-9)
    work_ = 3 * len(tokens) * work.products(model, exp.shape["n"] - hidden, hidden) / 1e9
    a, b = (torch.randn(2048, 2048, device=device) for _ in range(2))
    times = {"step": [], "fast": [], "product": []}
    plain, quick = (Training(model, tokens, exp.shape["ratio"], form) for form in (lambda m: m, Fast))
    contenders = {
        "step": _repeat(plain.step, exp.steps),
        "fast": _repeat(quick.step, exp.steps),
        "product": lambda: a @ b,
    }
    times = race(contenders, exp.rounds, now)
    metrics = {"gflops_achievable": 2 * 2048**3 / 1e9 / min(times["product"])}
    metrics["gflops_step"] = work_ * exp.steps / statistics.median(times["step"])
    shares = [
        work_ * exp.steps / s / (2 * 2048**3 / 1e9 / p) for s, p in zip(times["step"], times["product"], strict=True)
    ]
    metrics |= {
        "of_achievable": statistics.median(shares),
        "of_achievable_low": min(shares),
        "of_achievable_high": max(shares),
    }
    metrics["gflop_per_step"] = work_
    metrics["ms_step"] = 1e3 * statistics.median(times["step"]) / exp.steps
    metrics["ms_step_fast"] = 1e3 * statistics.median(times["fast"]) / exp.steps
    metrics["tokens_per_second"] = 1e3 * int(tokens.real.sum()) / metrics["ms_step"]
    for name, form in (("plain", lambda m: m), ("fast", Fast)):
        metrics |= {
            f"share_{name}_{part}": share
            for part, share in profile(Training(model, tokens, exp.shape["ratio"], form)).items()
        }
    reset_peak_memory()
    before = peak_memory_mb(device)
    Training(model, tokens, exp.shape["ratio"]).step()
    metrics["memory_mb_step"] = max(0.0, peak_memory_mb(device) - before)
    return metrics


def profile(training: Training) -> dict[str, float]:
    """Shares of a training step's time, by kind of operation; together 1."""
    cuda = training.device.type == "cuda"
    activities = [torch.profiler.ProfilerActivity.CPU] + [torch.profiler.ProfilerActivity.CUDA] * cuda
    training.step()
    with torch.profiler.profile(activities=activities) as found:
        for _ in range(2):
            training.step()
    times = dict.fromkeys([*PARTS, "rest"], 0.0)
    for event in found.key_averages():
        if event.device_type != torch.autograd.DeviceType.CPU:
            continue  # a kernel, whose time its operation has too
        part = next((p for p, names in PARTS.items() if any(n in event.key for n in names)), "rest")
        times[part] += event.self_device_time_total if cuda else event.self_cpu_time_total
    total = sum(times.values()) or 1.0
    return {part: t / total for part, t in times.items()}


MEASURES = {
    "encoding": encoding,
    "straightforward": against_straightforward,
    "ragged": ragged,
    "length": length,
    "start": start,
    "inference": inference,
    "roofline": roofline,
    "input": input_,
}

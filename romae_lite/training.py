"""One training loop for every experiment, on Hugging Face Accelerate.

Everything random in step s is a function of (seed, s) alone: the batch, the mask, the
dropout. So a run that was killed and resumed from a checkpoint ends in the same numbers
as one that was not: on a CPU to the last bit; on a GPU up to rounding, since some of
its kernels (attention's backward among them) add in no fixed order.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from .checkpoint import CheckpointError, State, load_training, save_training
from .checks import a, at_least, each, number, one_of, real, shapes, tensor, wholes
from .fast import compile_model
from .io import clear, digest
from .optim import Muon
from .tokens import Tokens

if TYPE_CHECKING:
    from accelerate import Accelerator

__all__ = ["CheckpointError", "Interrupted", "Recipe", "fit"]

PRECISIONS = ("fp32", "bf16", "auto")
# Raise this where the same settings and seed come out otherwise by more than rounding:
# only records of today's number are compared with today's code. Since 1: streams whose
# keys end in zeros differ from shorter ones; Muon orthogonalises in float32.
NUMERICS = 2

Loss = Callable[[nn.Module, Tokens, torch.Generator], Tensor]


class Interrupted(RuntimeError):
    """Training stopped on request, with its checkpoint saved where one was named."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to optimise.

    Parameters
    ----------
    epochs : int
        Passes over the training set.
    batch : int
        Samples per step, all processes together.
    lr : float
        Peak learning rate.
    warmup : int
        Steps of linear warm-up from 1e-5 of the peak.
    schedule : {"cosine", "global-cosine"}
        After the warm-up: a cosine to 0, or the authors' code's (deviation D6).
    optimizer : {"adamw", "sgd", "muon"}
        "sgd": with momentum betas[0]. "muon": for the matrices of blocks, AdamW for the
        rest.
    betas : pair of float
        AdamW's.
    weight_decay : float
        Decoupled, except for "sgd"; at most 1 / lr.
    clip : float or None
        Largest gradient norm.
    precision : {"fp32", "bf16", "auto"}
        "auto": bf16 where the GPU has it, else fp32.
    compile : bool
        Use torch.compile, minutes to start; on CUDA with CUDA graphs where no batch is
        padded.
    """

    epochs: int
    batch: int
    lr: float
    warmup: int = 0
    schedule: str = "cosine"
    optimizer: str = "adamw"
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.01
    clip: float | None = 1.0
    precision: str = "fp32"
    compile: bool = False

    def __post_init__(self):
        positive = real(lambda v: v > 0, "be positive")
        each(
            vars(self),
            epochs=at_least(1), batch=at_least(1), warmup=at_least(0), lr=positive,
            schedule=one_of("cosine", "global-cosine"), compile=a(bool),
            optimizer=one_of("adamw", "sgd", "muon"), precision=one_of(*PRECISIONS),
            betas=a(tuple | list),
        )
        if self.clip is not None:
            positive("clip", self.clip)
        most = f"lie in [0, 1 / lr], here [0, {1 / self.lr:g}]"
        number("weight_decay", self.weight_decay, lambda v: 0 <= v * self.lr <= 1, most)
        if len(self.betas) != 2:
            raise TypeError(f"betas is {self.betas!r}; it must be a pair of numbers")
        for i, beta in enumerate(self.betas):
            number(f"betas[{i}]", beta, lambda v: 0 <= v < 1, "lie in [0, 1)")


def learning_rate(step: int, total: int, recipe: Recipe) -> float:
    """Learning rate of step 0 .. total - 1: linear warm-up, then the schedule."""
    each(locals(), recipe=a(Recipe), step=at_least(0), total=at_least(1))
    number("step", step, lambda v: v < total, f"be below total, {total}")
    if step < recipe.warmup:
        return recipe.lr * (1e-5 + (1 - 1e-5) * step / recipe.warmup)
    if recipe.schedule == "global-cosine":  # over the whole run, meets the warm-up
        ends = (step, min(recipe.warmup, total - 1))
        cosine, start = (1 + math.cos(math.pi * s / total) for s in ends)
        return recipe.lr * cosine / start
    done = (step - recipe.warmup) / max(1, total - recipe.warmup)
    return recipe.lr * 0.5 * (1 + math.cos(math.pi * done))


def seeded(*key: int) -> torch.Generator:
    """A generator with a stream of its own for every key."""
    return torch.Generator().manual_seed(mix_seed(*key))


def mix_seed(*key: int) -> int:
    wholes("key", key, 0)
    # the length keeps (1,) apart from (1, 0): zeros at the end would count for nothing
    state = np.random.SeedSequence((*key, len(key))).generate_state(1, np.uint64)
    return int(state[0] >> 1)


def seeded_build(seed: int, build: Callable[[], nn.Module]) -> nn.Module:
    """Build a model with the weights of this seed; the global generator stays."""
    each(locals(), seed=at_least(0), build=a(Callable))
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the CPU
        torch.default_generator.manual_seed(mix_seed(seed, 0))
        return build()


def fork_rng(device: torch.device) -> AbstractContextManager:
    """torch.random.fork_rng for the CPU and this device, not for every GPU there is."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def accelerator_for(precision: str, device: str | None = None) -> Accelerator:
    """Accelerator on the best device, or on "cpu", "cuda" or "mps", in a precision."""
    from accelerate import Accelerator  # here, as it takes its time
    from accelerate.state import AcceleratorState

    devices = one_of(None, "cpu", "cuda", "mps")
    each(locals(), precision=one_of(*PRECISIONS), device=devices)
    if precision == "auto":  # older GPUs, Colab's T4 among them, only pretend
        cuda = device in (None, "cuda") and torch.cuda.is_available()
        bf16 = cuda and torch.cuda.is_bf16_supported(including_emulation=False)
        precision = "bf16" if bf16 else "fp32"
    # a second run in one process may choose otherwise
    AcceleratorState._reset_state(reset_partial_state=True)
    mixed = "no" if precision == "fp32" else precision
    accelerator = Accelerator(mixed_precision=mixed, cpu=device == "cpu")
    if device not in (None, here := accelerator.device.type):
        raise ValueError(f"device is {device!r}, which is not here; use {here!r}")
    return accelerator


def fit(
    model: nn.Module,
    train: Tokens,
    loss: Loss,
    recipe: Recipe,
    *,
    seed: int,
    validate: Callable[[nn.Module], dict[str, float]] | None = None,
    checkpoint: Path | str | None = None,
    save_every: float = 60.0,
    logs: int | None = None,
    log: Callable[[dict], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    device: str | None = None,
    settings: dict | None = None,
    order: Callable[[torch.Generator], Tensor] | None = None,
) -> list[dict]:
    """Train the model in place; return its history.

    Parameters
    ----------
    model : Module
        It leaves in eval mode, without autocast, however training ends.
    train : Tokens
        The whole data set, on the host; or what has `len`, `[indices]` -> Tokens and
        `lengths` (n,), and for checkpoints `fingerprint()` (`book/scale.md`).
    loss : callable
        loss(model, batch, generator) -> scalar; draws masks from the generator only,
        and moves the batch from the host to the model's device, as `masked_loss` does.
    recipe : Recipe
    seed : int
    validate : callable, optional
        validate(model) -> finite metrics by name, for the history.
    checkpoint : path, optional
        File to save to about every `save_every` seconds, and to resume from if it
        exists; once it holds a finished run, nothing is left to do.
    logs : int, optional
        How many entries the history has; by default one for ten steps, at most 50.
    log : callable, optional
        Gets every entry, with the run's number of steps.
    stop : callable
        Asked after every step (of several processes: every 50th); where true, saves and
        raises Interrupted.
    device : {"cpu", "cuda", "mps"}, optional
        By default the best there is.
    settings : dict, optional
        What else a run must share with the one that it resumes, in JSON.
    order : callable, optional
        order(generator) -> (n,) indices of an epoch's samples, batch after batch. By
        default random.

    Returns
    -------
    list of dict
        epoch, step, loss (mean since the last entry), lr, seconds, tokens_per_second
        (without the time for validation), and the metrics. Several processes average
        over their shares of a batch, whatever numbers of tokens these hold.
    """
    function = a(Callable | None)
    each(
        locals(),
        model=a(nn.Module), loss=a(Callable), recipe=a(Recipe), seed=at_least(0),
        validate=function, log=function, order=function, stop=a(Callable),
        checkpoint=a(str | PathLike | None), settings=a(Mapping | None),
        save_every=real(lambda v: v >= 0, "be at least 0"),
    )
    if not all(hasattr(train, name) for name in ("__len__", "__getitem__", "lengths")):
        raise TypeError(f"train is {train!r}; it must be Tokens, or have their lengths")
    checkpoint = None if checkpoint is None else Path(checkpoint)
    train = train.to("cpu") if isinstance(train, Tokens) else train
    accelerator = accelerator_for(recipe.precision, device)
    model.to(accelerator.device)
    lengths = train.lengths
    per_epoch = math.ceil(len(train) / recipe.batch)
    total = recipe.epochs * per_epoch
    logs = max(1, min(50, total // 10)) if logs is None else logs
    at_least(1)("logs", logs)
    logs = min(logs, total)
    marks = {round((i + 1) * total / logs) for i in range(logs)} | {total}
    state = State(run=_identity(recipe, seed, model, train, settings))
    rank, world = accelerator.process_index, accelerator.num_processes
    trained, *optimizers = accelerator.prepare(model, *_optimizers(model, recipe))
    with _training(trained, accelerator):
        if checkpoint is not None and checkpoint.exists():
            state = load_training(checkpoint, state.run, total, model, optimizers)
        if recipe.compile:
            trained = compile_model(trained, still=getattr(train, "pad", 0) is None)
        started, saved = time.monotonic() - state.seconds, time.monotonic()
        running = torch.zeros((), device=accelerator.device)
        running += state.running
        for step in range(state.step, total):
            epoch, i = divmod(step, per_epoch)
            if i == 0 or step == state.step:
                samples = _order(order, len(train), seeded(seed, 1, epoch))
            index = samples[i * recipe.batch : (i + 1) * recipe.batch]
            index = index[rank::world] if len(index) >= world else index
            torch.manual_seed(mix_seed(seed, 2, step, rank))  # dropout
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(step, total, recipe)
            batch = train[index]
            with accelerator.autocast():
                value = loss(trained, batch, seeded(seed, 3, step, rank))  # masks
            accelerator.backward(value)
            if recipe.clip is not None:
                accelerator.clip_grad_norm_(trained.parameters(), recipe.clip)
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            running += value.detach()
            state.tokens += int(lengths[index].sum()) * world  # padding is no work done
            state.step, state.seconds = step + 1, time.monotonic() - started

            if state.step in marks:
                _note(state, running, per_epoch, optimizers[0], accelerator)
                if validate is not None:
                    begin = time.monotonic()
                    state.history[-1] |= _validate(validate, model, state)
                    state.aside += time.monotonic() - begin
                    state.history[-1]["seconds"] = round(time.monotonic() - started, 2)
                    trained.train()
                if log is not None and accelerator.is_main_process:
                    log(state.history[-1] | {"steps": total})
            stopping = _agree(stop, accelerator, state.step)
            due = time.monotonic() - saved > save_every
            if checkpoint is not None and (stopping or due or state.step == total):
                state.running = _finite(running.item(), state.step)
                # with the validation, which `aside` counts
                state.seconds = time.monotonic() - started
                if accelerator.is_main_process:
                    save_training(checkpoint, state, model, optimizers)
                saved = time.monotonic()
            if stopping and state.step < total:
                raise Interrupted(f"stopped after step {state.step} of {total}")
    if checkpoint is not None and accelerator.is_main_process:
        clear(checkpoint)
    return state.history


def printer(every: int = 1) -> Callable[[dict], None]:
    """A log that prints every `every`-th entry; on a terminal it is overwritten."""
    end, count = "\r" if sys.stdout.isatty() else "\n", 0

    def line(entry: dict):
        nonlocal count
        count, last = count + 1, entry["step"] == entry["steps"]
        if count % every == 0 or last:
            epoch, step, loss = entry["epoch"], entry["step"], entry["loss"]
            text = f"epoch {epoch:>4.0f}   step {step:>6}   loss {loss:.4f}"
            print(text, end="\n" if last else end, flush=True)

    return line


@contextmanager
def _training(trained: nn.Module, accelerator: Accelerator) -> Iterator[None]:
    """Leave the model without autocast, in eval mode; generators as before."""
    trained.train()
    try:
        with fork_rng(accelerator.device):
            yield
    finally:
        accelerator.unwrap_model(trained, keep_fp32_wrapper=False).eval()


def _optimizers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    decay = {"lr": recipe.lr, "weight_decay": recipe.weight_decay}
    if recipe.optimizer == "sgd":
        return [torch.optim.SGD(named.values(), momentum=recipe.betas[0], **decay)]
    matrices = {}
    if recipe.optimizer == "muon":
        matrices = {n: p for n, p in named.items() if p.ndim == 2 and ".blocks." in n}
        if not matrices:
            raise ValueError("optimizer is 'muon', but no matrices of blocks train")
    rest, optimizers = [p for n, p in named.items() if n not in matrices], []
    if rest:
        adamw = torch.optim.AdamW(rest, betas=recipe.betas, fused=True, **decay)
        optimizers.append(adamw)
    if matrices:
        optimizers.append(Muon(matrices.values(), **decay))
    return optimizers


def _order(order: Callable | None, n: int, generator: torch.Generator) -> Tensor:
    if order is None:
        return torch.randperm(n, generator=generator)
    index = tensor("order's result", order(generator))
    right = index.shape == (n,) and index.dtype == torch.long
    right = right and 0 <= int(index.min()) and int(index.max()) < n
    shapes(right, f"be {n} indices from 0 to {n - 1}", **{"order's result": index})
    return index


def _note(state: State, running: Tensor, per_epoch: int, optimizer, accelerator):
    """Append a history entry; ValueError where the loss is not finite."""
    since = state.history[-1]["step"] if state.history else 0
    mean = accelerator.reduce(running.clone(), "mean").item() / (state.step - since)
    running.zero_()
    training = max(state.seconds - state.aside, 1e-9)
    state.history += [{
        "epoch": round(state.step / per_epoch, 3),
        "step": state.step,
        "loss": _finite(mean, state.step),
        "lr": optimizer.param_groups[0]["lr"],
        "seconds": round(state.seconds, 2),
        "tokens_per_second": round(state.tokens / training),
    }]


def _finite(loss: float, step: int) -> float:
    if not math.isfinite(loss):
        what = f"the loss is {loss} at step {step}"
        raise ValueError(f"{what}; lower lr or clip, or check the data")
    return loss


def _agree(stop: Callable[[], bool], accelerator, step: int) -> bool:
    """True if any process wants to stop: one that stops alone leaves others waiting."""
    if accelerator.num_processes == 1:
        return bool(stop())
    if step % 50:  # asking costs a round of messages
        return False
    wish = torch.tensor(float(stop()), device=accelerator.device)
    return bool(accelerator.reduce(wish, "sum") > 0)


def _validate(validate, model: nn.Module, state: State) -> dict[str, float]:
    model.eval()
    with torch.no_grad():
        metrics = validate(model)
    if not isinstance(metrics, dict) or not metrics:
        raise ValueError(f"validate returned {metrics!r}; it must be metrics by name")
    for name, value in metrics.items():
        if name in state.history[-1]:
            what = f"validate returned a metric {name!r}"
            raise ValueError(f"{what}, which every entry of the history has")
        what = f"{name} of validate, at step {state.step},"
        number(what, value, math.isfinite, "be finite; lower lr or clip")
    # numpy's numbers are none to JSON
    return {name: float(value) for name, value in metrics.items()}


def _identity(recipe: Recipe, seed: int, model: nn.Module, train, settings) -> str:
    """What two runs must share for one to resume the other's checkpoint."""
    weights = {name: list(p.shape) for name, p in model.named_parameters()}
    recipe = replace(recipe, compile=False)  # which changes the speed, not the run
    # heads and encodings have no shape
    kind = [str(getattr(model, name, None)) for name in ("config", "pool")]
    if hasattr(train, "fingerprint"):
        data = train.fingerprint()
    else:
        data = digest({"lengths": torch.as_tensor(train.lengths)})
    about = [NUMERICS, asdict(recipe), seed, weights, kind, data, settings]
    return json.dumps(about, sort_keys=True, default=np.generic.item)

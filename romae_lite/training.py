"""One training loop for every experiment, on Hugging Face Accelerate.

Everything random in step s is a function of (seed, s) alone: the batch, the mask, the dropout. So a run that was killed
and resumed from a checkpoint ends in the same numbers as one that was not: on a CPU to the last bit; on a GPU up to
rounding, since some of its kernels (attention's backward among them) add in no fixed order.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from .checks import choice, kind, number, whole, wholes
from .fast import compile_model
from .io import atomic_write, clear, digest
from .optim import Muon
from .shards import Shards
from .tokens import Tokens

# "tf32": float32 whose products keep ten bits where the GPU is faster so; "auto": bf16 where the GPU has it, else fp32
PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "auto")

Loss = Callable[[nn.Module, Tokens, torch.Generator], Tensor]

# Raised by whoever makes the same settings and seed come out otherwise by more than rounding: random streams, data,
# weights, optimisers, schedules. Records name it, and only records of today's version are compared with today's code.
# 2: streams whose keys end in zeros differ from shorter ones; Muon orthogonalises in float32.
NUMERICS = 2


class CheckpointError(RuntimeError):
    """A checkpoint that is corrupt, or belongs to another run."""


class Interrupted(RuntimeError):
    """Training stopped on request, with its checkpoint saved where one was named."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to optimise."""

    epochs: int
    batch: int  # samples per step, all processes together
    lr: float  # peak learning rate
    warmup: int = 0  # steps of linear warm-up from 1e-5 of the peak
    schedule: str = "cosine"  # after the warm-up: "cosine" to 0, "global-cosine" as the authors' code (D6), "constant"
    optimizer: str = "adamw"  # "sgd" with momentum betas[0], or "muon" for the blocks' matrices and AdamW for the rest
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.01
    clip: float | None = 1.0  # largest gradient norm
    precision: str = "fp32"  # one of PRECISIONS
    compile: bool = False  # torch.compile, minutes to start; on CUDA with CUDA graphs where no batch is padded
    keep: str = "last"  # "last" step's weights, or "best" on validation

    def __post_init__(self):
        for name, least in (("epochs", 1), ("batch", 1), ("warmup", 0)):
            whole(name, getattr(self, name), least)
        number("lr", self.lr, lambda v: v > 0, "be positive")
        if self.clip is not None:
            number("clip", self.clip, lambda v: v > 0, "be positive, or None")
        number(
            "weight_decay", self.weight_decay, lambda v: 0 <= v * self.lr <= 1,
            f"lie in [0, 1 / lr], here [0, {1 / self.lr:g}]: a step takes away lr times it of every weight",
        )
        if not isinstance(self.betas, tuple | list) or len(self.betas) != 2:
            raise TypeError(f"betas is {self.betas!r}; it must be a pair of numbers")
        for i, beta in enumerate(self.betas):
            number(f"betas[{i}]", beta, lambda v: 0 <= v < 1, "lie in [0, 1)")
        kind("compile", self.compile, bool)
        choice("schedule", self.schedule, ("cosine", "global-cosine", "constant"))
        choice("optimizer", self.optimizer, ("adamw", "sgd", "muon"))
        choice("precision", self.precision, PRECISIONS)
        choice("keep", self.keep, ("last", "best"))
        if self.precision == "fp16" and self.optimizer == "muon":
            raise ValueError("precision is 'fp16', which muon cannot do (two optimizers, one loss scale); use 'bf16'")


def learning_rate(step: int, total: int, recipe: Recipe) -> float:
    """Learning rate of step 0 .. total - 1: linear warm-up, then the recipe's schedule."""
    kind("recipe", recipe, Recipe)
    whole("step", step, 0)
    whole("total", total, 1)
    number("step", step, lambda v: v < total, f"be below total, {total}")
    if step < recipe.warmup:
        return recipe.lr * (1e-5 + (1 - 1e-5) * step / recipe.warmup)
    if recipe.schedule == "constant":
        return recipe.lr
    if recipe.schedule == "global-cosine":  # one cosine over the whole run, rescaled to meet the end of the warm-up
        cosine, start = (1 + math.cos(math.pi * s / total) for s in (step, min(recipe.warmup, total - 1)))
        return recipe.lr * cosine / start
    done = (step - recipe.warmup) / max(1, total - recipe.warmup)
    return recipe.lr * 0.5 * (1 + math.cos(math.pi * done))


def seeded(*key: int) -> torch.Generator:
    """A generator whose stream depends on the key, and is unlike that of every other key."""
    return torch.Generator().manual_seed(mix_seed(*key))


def mix_seed(*key: int) -> int:
    wholes("key", key, 0)
    # the length keeps (1,) apart from (1, 0): zeros at the end would count for nothing
    return int(np.random.SeedSequence((*key, len(key))).generate_state(1, np.uint64)[0] >> 1)


def seeded_build(seed: int, build: Callable[[], nn.Module]) -> nn.Module:
    """A model with the weights that belong to this seed; the global generator stays as it was."""
    whole("seed", seed, 0)
    kind("build", build, Callable)
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the CPU, whatever GPUs there are
        torch.default_generator.manual_seed(mix_seed(seed, 0))
        return build()


def fork_rng(device: torch.device) -> AbstractContextManager:
    """torch.random.fork_rng for the CPU and this device alone: left to itself it goes to every GPU of the machine."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def accelerator_for(precision: str, device: str | None = None) -> Accelerator:
    """Accelerator on the best device there is, or on device "cpu", "cuda" or "mps", in the given precision."""
    choice("precision", precision, PRECISIONS)
    choice("device", device, (None, "cpu", "cuda", "mps"))
    if precision == "auto":  # older GPUs, Colab's T4 among them, only pretend
        cuda = device in (None, "cuda") and torch.cuda.is_available()
        real = cuda and torch.cuda.is_bf16_supported(including_emulation=False)
        precision = "bf16" if real else "fp32"
    if precision == "fp16" and (device == "cpu" or not torch.cuda.is_available()):
        raise ValueError("precision is 'fp16', which needs a GPU; use 'bf16' or 'fp32' here")
    AcceleratorState._reset_state(reset_partial_state=True)  # a second run in one process may choose otherwise
    half = "no" if precision in ("fp32", "tf32") else precision
    accelerator = Accelerator(mixed_precision=half, cpu=device == "cpu")
    if device not in (None, accelerator.device.type):
        raise ValueError(f"device is {device!r}, which is not to be had here; use {accelerator.device.type!r} or None")
    return accelerator


@contextmanager
def _training(trained: nn.Module, precision: str, accelerator: Accelerator) -> Iterator[None]:
    """However training ends, the model leaves without autocast and in eval mode; the global generators and the
    precision of products are as they were."""
    before = torch.get_float32_matmul_precision()
    if precision == "tf32" and accelerator.device.type == "cuda":
        torch.set_float32_matmul_precision("high")
    trained.train()
    try:
        with fork_rng(accelerator.device):
            yield
    finally:
        torch.set_float32_matmul_precision(before)
        accelerator.unwrap_model(trained, keep_fp32_wrapper=False).eval()


def fit(
    model: nn.Module,
    train: Tokens | Shards,
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

    train       the whole data set; it stays on the host and may be larger than the GPU's memory. `Shards` stay on the
                disk and may be larger than the host's
    loss        loss(model, batch, generator) -> scalar; draws masks from the generator and nowhere else. It gets the
                batch on the host and moves it to the model's device (`Tokens.to`), as `masked_loss` does: no step
                then waits for the GPU
    validate    finite metrics on the validation split; the first is what ``keep="best"`` looks at (lower is better)
    checkpoint  file to save to about every ``save_every`` seconds and to resume from if it exists; it stays at the end,
                and a second call finds nothing left to do
    logs        how many entries the history has, by default one for ten steps, at most 50; each goes to ``log`` too,
                with the run's number of steps
    stop        asked after every step (of several processes: every 50th); where true, saves and raises Interrupted
    device      "cpu", "cuda" or "mps"; by default the best there is
    order       order(generator) -> (n,) indices of an epoch's samples; consecutive ones make a batch. By default random
    settings    whatever else a run must share with the one whose checkpoint it goes on from, as JSON-able values

    History entries: epoch, step, loss (mean since the last entry), lr, seconds, tokens_per_second (of training, without
    the time for validation), and the metrics.
    However it ends, the model leaves without autocast and in eval mode. Several processes average over their shares of
    a batch: where these hold unequal numbers of tokens the gradient is not quite that of one process.
    Raises ValueError for a loss or a metric that is not finite, CheckpointError for a checkpoint that is corrupt or
    another run's.
    """
    given, asked = locals(), Callable | None
    wanted = dict(model=nn.Module, train=Tokens | Shards, loss=Callable, recipe=Recipe, validate=asked, log=asked,
                  stop=Callable, checkpoint=str | PathLike | None, settings=Mapping | None, order=asked)
    for name, type_ in wanted.items():
        kind(name, given[name], type_)
    whole("seed", seed, 0)
    number("save_every", save_every, lambda v: v >= 0, "be at least 0")
    if recipe.keep == "best" and validate is None:
        raise ValueError("keep is 'best', but validate is None; there is nothing to tell which is best")
    checkpoint, train = None if checkpoint is None else Path(checkpoint), train.to("cpu")
    accelerator = accelerator_for(recipe.precision, device)
    model.to(accelerator.device)
    lengths = train.lengths
    if order is None and isinstance(train, Shards):
        order = train.order  # which reads every part of a file once
    per_epoch = math.ceil(len(train) / recipe.batch)
    total = recipe.epochs * per_epoch
    logs = max(1, min(50, total // 10)) if logs is None else logs
    whole("logs", logs, 1)
    logs = min(logs, total)
    marks = {round((i + 1) * total / logs) for i in range(logs)} | {total}
    state = _State(run=_identity(recipe, seed, model, train, settings))
    rank, world = accelerator.process_index, accelerator.num_processes
    trained, *optimizers = accelerator.prepare(model, *_optimizers(model, recipe))
    with _training(trained, recipe.precision, accelerator):
        if checkpoint is not None and checkpoint.exists():
            state = _load(checkpoint, state.run, total, model, optimizers, accelerator)
        if recipe.compile:
            trained = compile_model(trained, still=not train.padded)
        started, saved = time.monotonic() - state.seconds, time.monotonic()
        running = torch.zeros((), device=accelerator.device)
        running += state.running
        for step in range(state.step, total):
            epoch, i = divmod(step, per_epoch)
            if i == 0 or step == state.step:
                generator = seeded(seed, 1, epoch)
                samples = torch.randperm(len(train), generator=generator) if order is None else order(generator)
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
                    state.history[-1] |= _validated(validate, model, state, recipe.keep)
                    state.aside += time.monotonic() - begin
                    state.history[-1]["seconds"] = round(time.monotonic() - started, 2)
                    trained.train()
                if log is not None and accelerator.is_main_process:
                    log(state.history[-1] | {"steps": total})
            stopping = _agreed(stop, accelerator, state.step)
            due = stopping or state.step == total or time.monotonic() - saved > save_every
            if checkpoint is not None and due:
                state.running = _finite(running.item(), state.step)
                state.seconds = time.monotonic() - started  # with the validation, which `aside` counts
                if accelerator.is_main_process:
                    _save(checkpoint, state, model, optimizers, accelerator)
                saved = time.monotonic()
            if stopping and state.step < total:
                raise Interrupted(f"stopped after step {state.step} of {total}")
    if recipe.keep == "best" and state.best:
        model.load_state_dict(state.best)
    if checkpoint is not None and accelerator.is_main_process:
        clear(checkpoint)
    return state.history


def printer(every: int = 1) -> Callable[[dict], None]:
    """A log that shows a bar on a terminal, and one line for every ``every``-th entry anywhere else."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        bar = None

        def show(entry: dict):
            nonlocal bar
            bar = bar or tqdm(unit="step", total=entry["steps"])  # a run in two stages shows two, one after the other
            bar.set_postfix(loss=f"{entry['loss']:.4g}", refresh=False)
            bar.update(entry["step"] - bar.n)
            if entry["step"] == entry["steps"]:
                bar.close()
                bar = None

        return show
    count = 0

    def line(entry: dict):
        nonlocal count
        count += 1
        if count % every == 0 or entry["step"] == entry["steps"]:
            print(f"epoch {entry['epoch']:>4.0f}   step {entry['step']:>6}   loss {entry['loss']:.4f}", flush=True)

    return line


@dataclass
class _State:
    """What a checkpoint holds besides the weights."""

    run: str  # identity of the run
    step: int = 0
    seconds: float = 0.0
    aside: float = 0.0  # seconds of these that went into validation
    tokens: int = 0
    running: float = 0.0  # sum of losses since the last history entry, of the main process
    best_value: float = math.inf
    history: list = None
    best: dict = None  # weights of the best step on validation

    def __post_init__(self):
        self.history = self.history or []


def _optimizers(model: nn.Module, recipe: Recipe) -> list[torch.optim.Optimizer]:
    parameters = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    decay = {"lr": recipe.lr, "weight_decay": recipe.weight_decay}
    if recipe.optimizer == "sgd":
        return [torch.optim.SGD([p for _, p in parameters], momentum=recipe.betas[0], **decay)]
    matrices = []
    if recipe.optimizer == "muon":
        matrices = [p for name, p in parameters if p.ndim == 2 and ".blocks." in name]
        if not matrices:
            raise ValueError(
                "optimizer is 'muon', which is for matrices of blocks; the model has none that train: use 'adamw'"
            )
    taken = {id(p) for p in matrices}
    rest = [p for _, p in parameters if id(p) not in taken]
    if not rest:
        return [Muon(matrices, **decay)]
    adamw = torch.optim.AdamW(rest, betas=recipe.betas, fused=True, **decay)
    return [adamw, Muon(matrices, **decay)] if matrices else [adamw]


def _note(state: _State, running: Tensor, per_epoch: int, optimizer, accelerator) -> None:
    """Append a history entry; ValueError where the loss is not finite."""
    since = state.history[-1]["step"] if state.history else 0
    mean = accelerator.reduce(running.clone(), "mean").item() / (state.step - since)
    running.zero_()
    _finite(mean, state.step)
    state.history.append(
        {
            "epoch": round(state.step / per_epoch, 3),
            "step": state.step,
            "loss": mean,
            "lr": optimizer.param_groups[0]["lr"],
            "seconds": round(state.seconds, 2),
            "tokens_per_second": round(state.tokens / max(state.seconds - state.aside, 1e-9)),
        }
    )


def _finite(loss: float, step: int) -> float:
    if not math.isfinite(loss):
        raise ValueError(f"the loss is {loss} at step {step}; lower lr or clip, or check the data")
    return loss


def _agreed(stop: Callable[[], bool], accelerator, step: int) -> bool:
    """Whether any process wants to stop: clocks differ, and a process that stops alone leaves the others waiting.
    Asking costs them a round of messages, so several do it now and then."""
    if accelerator.num_processes == 1:
        return bool(stop())
    if step % 50:
        return False
    return bool(accelerator.reduce(torch.tensor(float(stop()), device=accelerator.device), "sum") > 0)


def _validated(validate, model: nn.Module, state: _State, keep: str) -> dict[str, float]:
    model.eval()
    with torch.no_grad():
        metrics = validate(model)
    if not isinstance(metrics, dict) or not metrics:
        raise ValueError(f"validate returned {metrics!r}; it must return metrics by name, one at least")
    for name, value in metrics.items():
        number(f"{name} of validate, at step {state.step},", value, math.isfinite, "be finite; lower lr or clip")
    metrics = {name: float(value) for name, value in metrics.items()}  # numpy's numbers are none to JSON
    value = next(iter(metrics.values()))
    if keep == "best" and value < state.best_value:
        state.best_value = value
        state.best = {name: t.detach().clone() for name, t in model.state_dict().items()}
    return metrics


def _identity(recipe: Recipe, seed: int, model: nn.Module, train: Tokens | Shards, settings: dict | None) -> str:
    """What two runs must share for one to resume the other's checkpoint."""
    shapes = {name: list(p.shape) for name, p in model.named_parameters()}
    recipe = replace(recipe, compile=False)  # which changes the speed, not the run
    kind = [str(getattr(model, name, None)) for name in ("config", "pool")]  # heads and encodings have no shape
    about = [NUMERICS, asdict(recipe), seed, shapes, kind, train.fingerprint(), settings]
    return json.dumps(about, sort_keys=True, default=np.generic.item)


def _save(path: Path, state: _State, model: nn.Module, optimizers, accelerator) -> None:
    """One safetensors file, written atomically: weights, optimizer, best weights; the rest as metadata."""
    tensors = {f"model.{name}": t for name, t in model.state_dict().items()}
    tensors |= {f"best.{name}": t for name, t in (state.best or {}).items()}
    for first, optimizer in _numbered(optimizers):
        for i, slots in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{first + i}.{name}": t for name, t in slots.items() if t is not None}
    tensors = {name: t.detach().contiguous().cpu() for name, t in tensors.items()}
    notes = {key: value for key, value in vars(state).items() if key != "best"}
    notes["scaler"] = accelerator.scaler.state_dict() if accelerator.scaler else None
    text = json.dumps(notes)
    atomic_write(path, safetensors.torch.save(tensors, {"state": text, "digest": digest(tensors, text)}))


def _load(path: Path, run: str, total: int, model: nn.Module, optimizers, accelerator) -> _State:
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata()
        tensors = safetensors.torch.load_file(path)
        sound = metadata["digest"] == digest(tensors, metadata["state"])
        notes = json.loads(metadata["state"])
        scaler, state = notes.pop("scaler"), _State(**notes)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not a readable checkpoint ({error}); delete it to start afresh") from error
    if not sound:
        raise CheckpointError(f"{path} is corrupt: its digest does not match; delete it to start afresh")
    if state.run != run:
        raise CheckpointError(f"{path} belongs to a run with other settings or data; delete it to start afresh")
    if not (isinstance(state.step, int) and 0 <= state.step <= total):
        raise CheckpointError(f"{path} says step {state.step} of {total}; delete it to start afresh")
    if scaler and accelerator.scaler:
        accelerator.scaler.load_state_dict(scaler)
    parts = {"model": {}, "best": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        part, rest = name.split(".", 1)
        parts[part][rest] = tensor
    model.load_state_dict(parts["model"])
    slots: dict[int, dict] = {}
    for name, tensor in parts["optimizer"].items():
        i, slot = name.split(".")
        slots.setdefault(int(i), {})[slot] = tensor
    for first, optimizer in _numbered(optimizers):
        groups = optimizer.state_dict()["param_groups"]
        own = {i: slots[first + i] for group in groups for i in group["params"] if first + i in slots}
        optimizer.load_state_dict({"state": own, "param_groups": groups})
    state.best = {name: t.to(accelerator.device) for name, t in parts["best"].items()} or None
    return state


def _numbered(optimizers) -> list[tuple[int, torch.optim.Optimizer]]:
    """Each optimizer with the number of its first parameter, counted through all of them."""
    counts = [sum(len(group["params"]) for group in o.param_groups) for o in optimizers]
    return list(zip(np.cumsum([0, *counts[:-1]]).tolist(), optimizers, strict=True))

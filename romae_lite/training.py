"""One training loop for every experiment, on Hugging Face Accelerate.

Everything random in step s is a function of (seed, s) alone: the batch, the mask, the dropout. So a run that was killed
and resumed from a checkpoint ends in the same numbers as one that was not.
"""

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from .files import atomic_write
from .tokens import Tokens

Loss = Callable[[nn.Module, Tokens, torch.Generator], Tensor]

# Raised by whoever makes the same settings and seed come out otherwise by more than rounding: random streams, data,
# weights, optimisers, schedules. Records name it, and only records of today's version are compared with today's code.
# 2: streams whose keys end in zeros differ from shorter ones; Muon orthogonalises in float32.
NUMERICS = 2


class CheckpointError(RuntimeError):
    """A checkpoint that is corrupt, or belongs to another run."""


class Interrupted(RuntimeError):
    """Training stopped on request, with its checkpoint saved."""


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
    precision: str = "fp32"  # "fp32", "bf16", "fp16", or "auto": bf16 where the GPU has it, else fp32
    compile: bool = False  # torch.compile: minutes to start, faster steps on a GPU
    keep: str = "last"  # "last" step's weights, or "best" on validation

    def __post_init__(self):
        for name, least in (("epochs", 1), ("batch", 1), ("warmup", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        for name in ("lr", "clip"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} is {value}; it must be positive")
        choices = {
            "schedule": ("cosine", "global-cosine", "constant"),
            "optimizer": ("adamw", "sgd", "muon"),
            "precision": ("fp32", "bf16", "fp16", "auto"),
            "keep": ("last", "best"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(allowed)}")
        if self.precision == "fp16" and self.optimizer == "muon":
            raise ValueError("precision is 'fp16', which muon cannot do (two optimizers, one loss scale); use 'bf16'")


def learning_rate(step: int, total: int, recipe: Recipe) -> float:
    """Learning rate of step 0 .. total - 1: linear warm-up, then the recipe's schedule."""
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
    """A generator whose stream depends on the key, and is unlike that of other keys (of the same length: keys that
    differ in zeros at their end only share a stream)."""
    return torch.Generator().manual_seed(mixed(*key))


def mixed(*key: int) -> int:
    return int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0] >> 1)


def forked(device: torch.device) -> AbstractContextManager:
    """torch.random.fork_rng for the CPU and this device alone: left to itself it goes to every GPU of the machine."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def accelerator_for(precision: str, device: str | None = None) -> Accelerator:
    """Accelerator on the best device there is (or device="cpu"), in the given precision."""
    if precision == "auto":  # older GPUs, Colab's T4 among them, only pretend
        real = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
        precision = "bf16" if real else "fp32"
    if precision == "fp16" and (device == "cpu" or not torch.cuda.is_available()):
        raise ValueError("precision is 'fp16', which needs a GPU; use 'bf16' or 'fp32' here")
    AcceleratorState._reset_state(reset_partial_state=True)  # a second run in one process may choose otherwise
    return Accelerator(mixed_precision="no" if precision == "fp32" else precision, cpu=device == "cpu")


def fit(
    model: nn.Module,
    train: Tokens,
    loss: Loss,
    recipe: Recipe,
    *,
    seed: int,
    validate: Callable[[nn.Module], dict[str, float]] | None = None,
    checkpoint: Path | None = None,
    save_every: float = 60.0,
    logs: int = 50,
    log: Callable[[dict], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    device: str | None = None,
    settings: dict | None = None,
    order: Callable[[torch.Generator], Tensor] | None = None,
) -> list[dict]:
    """Train the model in place; return its history.

    train       the whole data set; it moves to the device at once, so that no worker processes are needed
    loss        loss(model, batch, generator) -> scalar; draws masks from the generator and nowhere else
    validate    metrics on the validation split; the first is what ``keep="best"`` looks at (lower is better)
    checkpoint  file to save to about every ``save_every`` seconds and to resume from if it exists
    logs        how many entries the history has; each goes to ``log`` too, with the run's number of steps
    stop        asked after every step; where true, saves and raises Interrupted
    order       order(generator) -> (n,) indices of an epoch's samples; consecutive ones make a batch. By default random
    settings    whatever else a run must share with the one whose checkpoint it goes on from, as JSON-able values

    History entries: epoch, step, loss (mean since the last entry), lr, seconds, tokens_per_second (of training, without
    the time for validation), and the metrics.
    Raises ValueError for a loss that is not finite, CheckpointError for a checkpoint that is corrupt or another run's.
    """
    accelerator = accelerator_for(recipe.precision, device)
    model.to(accelerator.device)
    lengths = train.real.sum(1).cpu()
    train = train.to(accelerator.device)
    trained, *optimizers = accelerator.prepare(model, *_optimizers(model, recipe))
    if recipe.compile:
        trained = torch.compile(trained)

    per_epoch = math.ceil(len(train) / recipe.batch)
    total = recipe.epochs * per_epoch
    marks = {round((i + 1) * total / logs) for i in range(logs)} | {total}
    state = _State(run=_identity(recipe, seed, model, train, settings))
    if checkpoint is not None and checkpoint.exists():
        state = _load(checkpoint, state.run, model, optimizers, accelerator)

    rank, world = accelerator.process_index, accelerator.num_processes
    started, saved = time.monotonic() - state.seconds, time.monotonic()
    running = torch.zeros((), device=accelerator.device)
    running += state.running
    trained.train()
    with forked(accelerator.device):  # the reader's global generators stay as they were
        for step in range(state.step, total):
            epoch, i = divmod(step, per_epoch)
            if i == 0 or step == state.step:
                generator = seeded(seed, 1, epoch)
                samples = torch.randperm(len(train), generator=generator) if order is None else order(generator)
            index = samples[i * recipe.batch : (i + 1) * recipe.batch]
            index = index[rank::world] if len(index) >= world else index
            torch.manual_seed(mixed(seed, 2, step, rank))  # dropout
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = learning_rate(step, total, recipe)
            batch = train[index.to(accelerator.device)]
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
                    trained.train()
                if log is not None and accelerator.is_main_process:
                    log(state.history[-1] | {"steps": total})
            stopping = _agreed(stop(), accelerator)
            due = stopping or state.step == total or time.monotonic() - saved > save_every
            if checkpoint is not None and due:
                state.running = _finite(running.item(), state.step)
                state.seconds = time.monotonic() - started  # with the validation, which `aside` counts
                if accelerator.is_main_process:
                    _save(checkpoint, state, model, optimizers, accelerator)
                saved = time.monotonic()
            if stopping and state.step < total:
                raise Interrupted(f"stopped after step {state.step} of {total}")
    accelerator.unwrap_model(trained, keep_fp32_wrapper=False)  # the model leaves without autocast
    if recipe.keep == "best" and state.best:
        model.load_state_dict(state.best)
    model.eval()
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
    taken = {id(p) for p in matrices}
    rest = [p for _, p in parameters if id(p) not in taken]
    adamw = torch.optim.AdamW(rest, betas=recipe.betas, fused=True, **decay)
    # match_rms_adamw: steps of the size that AdamW's would have, so that one learning rate serves both
    return [adamw] + ([torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw", **decay)] if matrices else [])


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


def _agreed(stopping: bool, accelerator) -> bool:
    """Whether any process wants to stop: clocks differ, and a process that stops alone leaves the others waiting."""
    if accelerator.num_processes == 1:
        return stopping
    return bool(accelerator.reduce(torch.tensor(float(stopping), device=accelerator.device), "sum") > 0)


def _validated(validate, model: nn.Module, state: _State, keep: str) -> dict[str, float]:
    model.eval()
    with torch.no_grad():
        metrics = validate(model)
    value = next(iter(metrics.values()))
    if keep == "best" and value < state.best_value:
        state.best_value = value
        state.best = {name: t.detach().clone() for name, t in model.state_dict().items()}
    return metrics


def _identity(recipe: Recipe, seed: int, model: nn.Module, train: Tokens, settings: dict | None) -> str:
    """What two runs must share for one to resume the other's checkpoint."""
    shapes = {name: list(p.shape) for name, p in model.named_parameters()}
    data = _digest({name: getattr(train, name).cpu() for name in ("values", "positions", "real")})
    return json.dumps([asdict(recipe), seed, shapes, data, settings], sort_keys=True)


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
    metadata = {"state": json.dumps(notes), "digest": _digest(tensors)}
    atomic_write(path, safetensors.torch.save(tensors, metadata))


def _load(path: Path, run: str, model: nn.Module, optimizers, accelerator) -> _State:
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata()
        tensors = safetensors.torch.load_file(path)
        notes, digest = json.loads(metadata["state"]), metadata["digest"]
        scaler, state = notes.pop("scaler"), _State(**notes)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not a readable checkpoint ({error}); delete it to start afresh") from error
    if digest != _digest(tensors):
        raise CheckpointError(f"{path} is corrupt: its digest does not match; delete it to start afresh")
    if state.run != run:
        raise CheckpointError(f"{path} belongs to a run with other settings or data; delete it to start afresh")
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


def _digest(tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(name.encode())
        digest.update(tensors[name].contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()

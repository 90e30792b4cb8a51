"""The training loop: against a plain loop, through kills and damaged checkpoints, and in two processes."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from accelerate.state import PartialState

from romae_lite import checkpoint, training
from romae_lite.batching import trim
from romae_lite.masking import hide
from romae_lite.model import ModelConfig, RoMAE, masked_loss, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import CheckpointError, Interrupted, Recipe, fit, learning_rate, mix_seed, seeded

ROOT = Path(__file__).resolve().parents[1]
RECIPE = Recipe(epochs=5, batch=4, lr=3e-3, warmup=4)  # 10 samples: 3 steps an epoch, the last one of 2; 15 in all


@pytest.fixture(autouse=True)
def one_thread():
    """Sums in float32 depend on the number of threads in their last digits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def data(n: int = 10) -> Tokens:
    g = torch.Generator().manual_seed(0)
    x = torch.rand(n, 8, 1, generator=g, dtype=torch.float64) * 6
    return Tokens(values=torch.cat((x.sin(), x.cos()), -1).float(), positions=x)


def model(**changes) -> RoMAE:
    torch.manual_seed(0)
    return RoMAE(ModelConfig(patch=2, axes=1, encoder=size("16x2x2x24"), decoder=size("16x2x1x24"), **changes))


def loss(net, batch, generator):
    return masked_loss(net, batch, hide(batch.real, ratio=0.5, generator=generator))


@torch.no_grad()
def valid(net) -> dict[str, float]:
    tokens = data()
    return {"valid_mse": float(loss(net, tokens, seeded(9)))}


def weights(net) -> dict[str, torch.Tensor]:
    return {name: t.clone() for name, t in net.state_dict().items()}


def same(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def numbers(history: list[dict]) -> list[dict]:
    """The history without what a clock says."""
    return [{k: v for k, v in entry.items() if k not in ("seconds", "tokens_per_second")} for entry in history]


# Learning rate ------------------------------------------------------------------------------------------------------


def test_schedules_in_closed_form():
    recipe = Recipe(epochs=1, batch=1, lr=2.0, warmup=1000)
    total = 6250
    for schedule, middle in (("cosine", 0.65), ("global-cosine", 0.53)):
        rate = [learning_rate(s, total, replace(recipe, schedule=schedule)) for s in range(total)]
        assert rate[0] == pytest.approx(2e-5)
        assert rate[500] == pytest.approx(2 * (1e-5 + (1 - 1e-5) / 2))
        assert rate[1000] == pytest.approx(2.0)  # the peak, where both parts meet
        assert round(rate[total // 2] / 2, 2) == middle
        assert max(rate) <= 2.0 + 1e-12 and min(rate) > 0
        assert all(a < b for a, b in zip(rate[:1000], rate[1:1001], strict=True))
        assert all(a > b for a, b in zip(rate[1000:], rate[1001:], strict=False))
        assert rate[-1] < 2e-6  # next to nothing at the end
    # the textbook's cosine is at half its height half way between the warm-up and the end
    assert learning_rate(3625, total, recipe) == pytest.approx(1.0)
    # the authors' follows (1 + cos(pi s / T)) / (1 + cos(pi W / T)), both from the start of the run
    value = learning_rate(4000, total, replace(recipe, schedule="global-cosine"))
    assert value == pytest.approx(2 * (1 + math.cos(math.pi * 0.64)) / (1 + math.cos(math.pi * 0.16)))


@pytest.mark.parametrize("schedule", ["cosine", "global-cosine"])
@pytest.mark.parametrize(("warmup", "total"), [(0, 1), (0, 5), (5, 5), (9, 5), (1, 1)])
def test_schedules_survive_the_corners(schedule, warmup, total):
    recipe = Recipe(epochs=1, batch=1, lr=1.0, warmup=warmup, schedule=schedule)
    rates = [learning_rate(s, total, recipe) for s in range(total)]
    assert all(0 < r <= 1 for r in rates)
    if warmup == 0:
        assert rates[0] == 1


# The loop -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_equals_a_plain_loop(optimizer):
    """No Accelerate, no fused optimizer: the same batches, masks and learning rates, written out."""
    tokens, recipe = data(), replace(RECIPE, optimizer=optimizer, clip=0.5, weight_decay=0.1)
    ours = model()
    history = fit(ours, tokens, loss, recipe, seed=7, logs=5)

    plain = model()
    if optimizer == "adamw":
        steps = torch.optim.AdamW(plain.parameters(), lr=1.0, betas=recipe.betas, weight_decay=0.1, foreach=False)
    else:
        steps = torch.optim.SGD(plain.parameters(), lr=1.0, momentum=0.9, weight_decay=0.1, foreach=False)
    means, step = [], 0
    for epoch in range(5):
        order = torch.randperm(10, generator=seeded(7, 1, epoch)).tolist()
        losses = []
        for start in (0, 4, 8):
            batch = tokens[torch.tensor(order[start : start + 4])]
            value = loss(plain, batch, seeded(7, 3, step, 0))
            plain.zero_grad()
            value.backward()
            total = math.sqrt(sum(float(p.grad.double().square().sum()) for p in plain.parameters()))
            for p in plain.parameters():
                p.grad *= min(1.0, 0.5 / (total + 1e-6))
            steps.param_groups[0]["lr"] = learning_rate(step, 15, recipe)
            steps.step()
            losses.append(value.item())
            step += 1
        means.append(sum(losses) / 3)
    # the same sums in another order: float32, fifteen steps. AdamW divides by tiny second moments in its first ones.
    assert [entry["loss"] for entry in history] == pytest.approx(means, rel=1e-4)
    for name, p in plain.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name), p, rtol=1e-3, atol=2e-5)


def test_history_says_where_it_is():
    seen = []
    history = fit(model(), data(), loss, RECIPE, seed=0, logs=5, validate=valid, log=seen.append)
    assert [entry | {"steps": 15} for entry in history] == seen  # a progress bar needs the whole
    assert [(e["epoch"], e["step"]) for e in history] == [(i, 3 * i) for i in range(1, 6)]
    assert all(e["lr"] == learning_rate(e["step"] - 1, 15, RECIPE) for e in history)
    assert all(e["valid_mse"] > 0 and e["seconds"] >= 0 for e in history)
    assert [e["step"] for e in fit(model(), data(), loss, RECIPE, seed=0, logs=2)] == [8, 15]
    assert [e["step"] for e in fit(model(), data(), loss, RECIPE, seed=0, logs=100)] == list(range(1, 16))


def test_seed_decides_everything_and_the_global_generator_nothing():
    nets = [model(dropout=0.3, drop_path=0.2) for _ in range(3)]
    histories = []
    for net, seed, noise in zip(nets, (1, 1, 2), (0, 5, 0), strict=True):
        torch.manual_seed(noise)
        before = torch.get_rng_state()
        histories.append(numbers(fit(net, data(), loss, RECIPE, seed=seed, logs=3)))
        assert torch.equal(torch.get_rng_state(), before)  # and the reader's stream is left where it was
    assert histories[0] == histories[1] and same(weights(nets[0]), weights(nets[1]))
    assert histories[0] != histories[2] and not same(weights(nets[0]), weights(nets[2]))


def test_bfloat16_trains():
    net = model()
    history = fit(net, data(), loss, replace(RECIPE, precision="bf16"), seed=0, device="cpu", logs=5)
    exact = fit(model(), data(), loss, RECIPE, seed=0, device="cpu", logs=5)
    assert all(p.dtype == torch.float32 for p in net.parameters())
    assert history[-1]["loss"] != exact[-1]["loss"]
    assert history[-1]["loss"] == pytest.approx(exact[-1]["loss"], rel=0.05)  # 8 bits are 0.4 % in each product


def test_loss_that_is_not_finite_is_an_error():
    with pytest.raises(ValueError, match="loss is nan at step 3; lower lr"):
        fit(model(), data(), broken, RECIPE, seed=0, logs=5)


@pytest.mark.parametrize(
    ("options", "recipe", "message"),
    [
        ({"device": "mps"}, {}, "device is 'mps', which is not here"),
        ({"validate": lambda net: {}}, {}, "validate returned {}"),
        ({"validate": lambda net: 1.0}, {}, "validate returned 1.0"),
        ({"validate": lambda net: {"loss": 1.0}}, {}, "metric 'loss', which every entry of the history has"),
        ({"order": lambda g: torch.arange(9)}, {}, r"shape \(9,\); it must be 10 indices from 0 to 9"),
        ({"order": lambda g: torch.arange(1, 11)}, {}, "it must be 10 indices from 0 to 9"),
        ({"validate": lambda net: {"mse": math.nan}}, {}, "mse of validate, at step 3, is nan; it must be finite"),
        ({"validate": lambda net: {"mse": np.float32(math.inf)}}, {}, "mse of validate, at step 3, is inf"),
        ({"validate": lambda net: {"mse": 1.0, "r": "high"}}, {}, "r of validate, at step 3, is 'high'"),
    ],
)
def test_bad_options_are_named(options, recipe, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(model(), loss=loss, recipe=replace(RECIPE, **recipe), **{"train": data(), "seed": 0, "logs": 5} | options)


def test_muon_trains_blocks_alone():
    net = model().requires_grad_(False)
    net.encoder.stack.blocks[0].attention.qkv.weight.requires_grad_(True)
    before = {name: t.clone() for name, t in net.state_dict().items()}
    fit(net, data(), loss, replace(RECIPE, optimizer="muon"), seed=0, device="cpu")
    changed = {name for name, t in net.state_dict().items() if not torch.equal(t, before[name])}
    assert changed == {"encoder.stack.blocks.0.attention.qkv.weight"}


def test_muon_without_blocks_is_refused():
    net = torch.nn.Linear(1, 1)
    with pytest.raises(ValueError, match="optimizer is 'muon', but no matrices of blocks train"):
        fit(net, data(), lambda *_: net.weight.sum(), replace(RECIPE, optimizer="muon"), seed=0, device="cpu")


def test_numpy_s_numbers_are_metrics_too(tmp_path):
    """They go into the history, and that into the checkpoint as JSON."""
    metrics = {"mse": np.float32(0.5)}
    history = fit(
        model(), data(), loss, RECIPE, seed=0, logs=2, validate=lambda net: metrics, checkpoint=tmp_path / "c"
    )
    assert [entry["mse"] for entry in history] == [0.5, 0.5]


def test_logs_are_in_proportion_to_steps():
    def first(entry):
        raise Interrupted(entry["step"])

    for epochs, step in ((1, 3), (10, 10), (300, 18)):  # of 3 steps one entry, of 30 three, of 900 fifty
        with pytest.raises(Interrupted, match=f"^{step}$"):
            fit(model(), data(), loss, replace(RECIPE, epochs=epochs), seed=0, log=first)


def test_streams_of_different_keys_are_apart():
    keys = [(1,), (1, 0), (1, 0, 0), (0,), (0, 0), (0, 1), (2, 0, 0), (1, 1)]
    assert len({mix_seed(*key) for key in keys}) == len(keys)


# Checkpoints --------------------------------------------------------------------------------------------------------

HARD = dict(dropout=0.2, drop_path=0.2)  # whatever is random must come back too


def test_data_on_a_disk_train_alike(tmp_path, monkeypatch):
    """The listing of book/scale.md, run: the same weights as from memory, also where lengths differ."""
    pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(import h5py.*?)```", (ROOT / "book/scale.md").read_text(encoding="utf-8"), re.S)[1]
    pad = torch.arange(8) >= torch.randint(3, 9, (10, 1), generator=seeded(1))
    tokens = replace(data(), pad=pad)
    stored = dict(tokens=tokens, model=model(), loss=loss, recipe=RECIPE)
    exec(code, stored)
    memory = model()
    ordered = lambda generator: stored["train"].order(generator)  # noqa: E731
    fit(memory, TrimmedTokens(tokens), loss, RECIPE, seed=0, order=ordered)
    assert same(weights(memory), weights(stored["model"]))
    assert len(stored["train"]) == 10 and sorted(stored["train"].order(seeded(2), size=3).tolist()) == list(range(10))


class TrimmedTokens:
    """Tokens whose batches are as long as their longest sample, as those that are read from a disk."""

    def __init__(self, tokens: Tokens):
        self.tokens, self.lengths = tokens, tokens.lengths

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return trim(self.tokens[index])


def test_broken_off_and_resumed_equals_uninterrupted(tmp_path):
    """Between two history entries: weights and history agree to the last bit. Real kills: test_kills.py."""
    path, calls = tmp_path / "run.safetensors", iter(range(100))

    def die():
        if next(calls) == 7:
            raise KeyboardInterrupt

    always = dict(checkpoint=path, save_every=0)
    with pytest.raises(KeyboardInterrupt):
        fit(model(**HARD), data(), loss, RECIPE, seed=3, logs=5, validate=valid, stop=die, **always)
    whole, resumed, asked = model(**HARD), model(**HARD), []
    options = dict(seed=3, logs=5, validate=valid)
    expected = fit(whole, data(), loss, RECIPE, **options)
    found = fit(resumed, data(), loss, RECIPE, **options, **always, stop=lambda: asked.append(1))
    assert len(asked) == 15 - 7  # seven of fifteen steps were safe
    assert numbers(found) == numbers(expected)
    assert same(weights(resumed), weights(whole))


def broken(net, batch, generator):
    return loss(net, batch, generator) * math.nan


def interrupted(net, batch, generator):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "options", "error"),
    [
        (loss, {}, None),
        (broken, {}, ValueError),
        (interrupted, {}, KeyboardInterrupt),
        (loss, {"stop": lambda: True}, Interrupted),
    ],
)
def test_a_model_leaves_without_autocast_however_it_ends(function, options, error):
    net, before = model(), torch.get_float32_matmul_precision()
    with pytest.raises(error) if error else nullcontext():
        fit(net, data(), function, replace(RECIPE, precision="bf16"), seed=0, **options)
    assert not net.training and torch.get_float32_matmul_precision() == before
    net.load_state_dict(model().state_dict())
    assert valid(net) == valid(model())  # bfloat16 would differ in the third digit


def test_the_cpu_is_taken_where_it_is_asked_for():
    """Also after a run on another device in the same process ("meta" stands for a GPU)."""
    training.accelerator_for("fp32", "cpu")
    PartialState._shared_state["device"] = torch.device("meta")
    assert training.accelerator_for("fp32", "cpu").device.type == "cpu"


def test_speed_is_that_of_training(monkeypatch, tmp_path):
    """A clock on which a step takes a second and a validation an hour; stopped and resumed, or not."""
    now = [0.0]
    monkeypatch.setattr(training.time, "monotonic", lambda: now[0])

    def step(net, batch, generator):
        now[0] += 1
        return loss(net, batch, generator)

    def validate(net):
        now[0] += 3600
        return valid(net)

    history = fit(model(), data(), step, RECIPE, seed=0, logs=5, validate=validate)
    # 10 samples of 8 tokens in three steps
    assert [entry["tokens_per_second"] for entry in history] == [round(80 / 3)] * 5
    assert history[-1]["seconds"] == 15 + 5 * 3600

    def halt(after: float):
        return lambda: now[0] - begun > after

    checkpoint, begun = tmp_path / "run.safetensors", now[0]
    for after in (3, 3, math.inf):  # stopped right after a validation, then after one step more
        try:
            where = dict(checkpoint=checkpoint, stop=halt(after))
            again = fit(model(), data(), step, RECIPE, seed=0, logs=5, validate=validate, **where)
        except Interrupted:
            now[0] += 1e6  # nobody at work
    assert again == history


def test_muon_bounds_the_steps_of_the_blocks_and_leaves_the_rest_to_adamw():
    """First step, no decay. Muon: the largest singular value is 0.2 sqrt(longer side) times the learning rate, within
    what five Newton-Schulz iterations reach; AdamW: the largest entry is the learning rate."""
    net, before = model(), weights(model())
    recipe = Recipe(epochs=1, batch=10, lr=1e-3, optimizer="muon", weight_decay=0.0, clip=None)
    fit(net, data(), loss, recipe, seed=0)
    matrices = 0
    for name, p in net.named_parameters():
        step = p.detach() - before[name]
        if ".blocks." in name and p.ndim == 2:
            largest = float(torch.linalg.matrix_norm(step, 2)) / (1e-3 * 0.2 * math.sqrt(max(p.shape)))
            assert 0.6 < largest < 1.3, name
            matrices += 1
        else:
            assert step.abs().max() == pytest.approx(1e-3, rel=0.01), name
    assert matrices == 3 * 4  # qkv, out, up and down: two blocks in the encoder, one in the decoder


@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "muon"])
@pytest.mark.parametrize("at", [1, 3, 14])
def test_stopped_and_resumed_equals_uninterrupted(tmp_path, optimizer, at):
    recipe, path = replace(RECIPE, optimizer=optimizer), tmp_path / "run.safetensors"
    steps = iter(range(1, 100))
    with pytest.raises(Interrupted, match=f"stopped after step {at} of 15"):
        fit(model(), data(), loss, recipe, seed=3, logs=5, checkpoint=path, stop=lambda: next(steps) == at)
    whole, resumed = model(), model()
    expected = fit(whole, data(), loss, recipe, seed=3, logs=5)
    found = fit(resumed, data(), loss, recipe, seed=3, logs=5, checkpoint=path)
    assert numbers(found) == numbers(expected) and same(weights(resumed), weights(whole))
    # a checkpoint of the last step is a finished run: nothing is trained again
    again = model()
    assert fit(again, data(), lambda *_: pytest.fail("trained"), recipe, seed=3, checkpoint=path) == found
    assert same(weights(again), weights(whole))


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "run.safetensors"
    steps = iter(range(1, 100))
    with pytest.raises(Interrupted):
        fit(model(), data(), loss, RECIPE, seed=3, checkpoint=path, stop=lambda: next(steps) == 6)
    return path


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def empty(path):
    path.write_bytes(b"")


def strange(path):
    safetensors.torch.save_file({"x": torch.zeros(3)}, path)


def half_strange(path):
    safetensors.torch.save_file({"x": torch.zeros(3)}, path, {"state": "{}"})


def rename_field(path):
    """What another version of the package might have written."""
    tensors = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    state = json.loads(metadata["state"])
    state["steps"] = state.pop("step")
    safetensors.torch.save_file(tensors, path, metadata | {"state": json.dumps(state)})


def edit_state(path):
    """One digit of the history, as a bit on the disk might."""
    content = path.read_bytes()
    assert content.count(b'\\"step\\": 6') == 1
    path.write_bytes(content.replace(b'\\"step\\": 6', b'\\"step\\": 5'))


@pytest.mark.parametrize("damage", [truncate, empty, strange, half_strange, rename_field, edit_state])
def test_damaged_checkpoints_are_refused_by_name(saved, damage):
    damage(saved)
    content, net = saved.read_bytes(), model()
    before = weights(net)
    with pytest.raises(CheckpointError, match="run.safetensors.*delete it to start afresh"):
        fit(net, data(), loss, RECIPE, seed=3, checkpoint=saved)
    assert saved.read_bytes() == content  # it is the reader who deletes
    assert same(weights(net), before)


@pytest.mark.parametrize(
    "change",
    [
        dict(seed=4), dict(recipe=replace(RECIPE, lr=1e-3)), dict(recipe=replace(RECIPE, epochs=6)),
        dict(net=lambda: RoMAE(ModelConfig(patch=2, axes=1, encoder=size("16x2x3x24"), decoder=size("16x2x1x24")))),
        dict(net=lambda: RoMAE(replace(model().config, positions=PositionEncoding(base=10.0)))),
        dict(net=lambda: RoMAE(replace(model().config, alone=True))), dict(train=lambda: data(9)),
        dict(train=lambda: replace(data(), values=-data().values)),
        dict(train=lambda: replace(data(), aux={"label": torch.zeros(10)})),
    ],
    ids=["seed", "lr", "epochs", "model", "encoding", "alone", "shape", "data", "labels"],
)
def test_another_runs_checkpoint_is_refused(saved, change):
    net, train = change.get("net", model)(), change.get("train", data)()
    with pytest.raises(CheckpointError, match="run.safetensors belongs to a run with other settings or data"):
        fit(net, train, loss, change.get("recipe", RECIPE), seed=change.get("seed", 3), checkpoint=saved)


def test_every_bit_of_a_checkpoint_counts(saved):
    """A flip anywhere in the file is refused, or was in nothing that is read (spaces between fields)."""
    content, whole = saved.read_bytes(), model()
    expected = numbers(fit(whole, data(), loss, RECIPE, seed=3, checkpoint=saved))
    header = int.from_bytes(content[:8], "little")
    offsets = torch.randint(8 + header, (40,), generator=seeded(5)).tolist() + [len(content) - 5]
    refused = 0
    for offset in offsets:
        flipped = bytearray(content)
        flipped[offset] ^= 1 << offset % 7
        saved.write_bytes(flipped)
        net = model()
        try:
            assert numbers(fit(net, data(), loss, RECIPE, seed=3, checkpoint=str(saved))) == expected
            assert same(weights(net), weights(whole))
        except CheckpointError as error:
            assert saved.name in str(error)
            refused += 1
    assert refused >= 0.9 * len(offsets)


def test_a_finished_run_clears_what_killed_writes_left(saved):
    litter, other = saved.with_name(f".{saved.name}.x1y2.tmp"), saved.with_name(".other.safetensors.x.tmp")
    litter.touch(), other.touch()
    fit(model(), data(), loss, RECIPE, seed=3, checkpoint=str(saved))
    assert {path.name for path in saved.parent.iterdir()} == {saved.name, other.name}


def test_checkpoints_are_saved_as_often_as_asked(tmp_path, monkeypatch):
    saves = []
    monkeypatch.setattr(checkpoint, "atomic_write", lambda path, content: saves.append(path))
    path = tmp_path / "run.safetensors"
    fit(model(), data(), loss, RECIPE, seed=0, checkpoint=path, save_every=1e9)
    assert len(saves) == 1  # the end
    fit(model(), data(), loss, RECIPE, seed=0, checkpoint=path, save_every=0)
    assert len(saves) == 1 + 15


COMPILERS = [
    "eager",  # the path through the loop, with the model's own arithmetic: a compiler takes a minute
    pytest.param("inductor", marks=[
        pytest.mark.weekly, pytest.mark.slow,
        pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler"),
    ]),
]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("first", [True, False], ids=["compiled", "plain"])
def test_compiled_equals_plain_and_either_goes_on_where_the_other_stopped(tmp_path, monkeypatch, first, compiler):
    """Fused kernels add in another order: float32, six steps, as for the plain loop."""
    asked, whole = [], torch.compile
    by = lambda net, **how: asked.append(how) or whole(net, backend=compiler, **how)  # noqa: E731
    monkeypatch.setattr(torch, "compile", by)

    def run(recipe, **options):
        torch.manual_seed(0)
        net = RoMAE(ModelConfig(patch=2, axes=1, encoder=size("8x1x1x8"), decoder=size("8x1x1x8")))
        return net, fit(net, data(8), loss, recipe, seed=3, logs=3, **options)

    plain = replace(RECIPE, epochs=3)  # of two steps
    exact, expected = run(plain)
    path, steps = tmp_path / "run.safetensors", iter(range(1, 100))
    with pytest.raises(Interrupted):
        run(replace(plain, compile=first), checkpoint=path, stop=lambda: next(steps) == 3)
    net, found = run(replace(plain, compile=not first), checkpoint=path)
    assert len(asked) == 1
    assert [e["loss"] for e in found] == pytest.approx([e["loss"] for e in expected], rel=1e-4)
    for name, p in exact.named_parameters():
        torch.testing.assert_close(net.get_parameter(name), p, rtol=1e-3, atol=2e-5)


# Two processes ------------------------------------------------------------------------------------------------------

PAIR = """
import json, os, sys
sys.path[:0] = [{tests!r}, {root!r}]
import torch
torch.set_num_threads(1)
import test_training as t
net = t.model()
history = t.fit(net, t.fixed(8), t.fixed_loss, t.RECIPE, seed=3, logs=5, device="cpu")
if os.environ["RANK"] == "0":
    torch.save((history, net.state_dict()), {out!r})
"""


def fixed(n: int) -> Tokens:
    """Data whose masks are part of it: every process draws its own otherwise."""
    tokens = data(n)
    return replace(tokens, aux={"hidden": hide(tokens.real, ratio=0.5, generator=seeded(1))})


def fixed_loss(net, batch, generator):
    return masked_loss(net, batch, batch.aux["hidden"])


@pytest.mark.slow
@pytest.mark.weekly  # a run of two processes in test_runs.py has the same mean, in every run
def test_two_processes_equal_one(tmp_path):
    """`accelerate launch` with two processes: the mean over both halves of a batch is the mean over the batch."""
    script, out = tmp_path / "pair.py", tmp_path / "pair.pt"
    script.write_text(PAIR.format(tests=str(ROOT / "tests"), root=str(ROOT), out=str(out)))
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1",
        "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0", "--multi_gpu", str(script),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    history, state = torch.load(out, weights_only=True)
    alone = model()
    expected = fit(alone, fixed(8), fixed_loss, RECIPE, seed=3, logs=5, device="cpu")
    # float32 sums in another order, ten steps of AdamW
    assert [e["loss"] for e in history] == pytest.approx([e["loss"] for e in expected], rel=1e-4)
    for name, tensor in alone.state_dict().items():
        torch.testing.assert_close(state[name], tensor, rtol=1e-3, atol=2e-5)

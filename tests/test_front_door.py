"""What `import romae_lite` gives: names that load when used; asking a model anywhere; models as files."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import safetensors.torch
import torch
from torch.nn.functional import pad

import romae_lite
from romae_lite import (
    ModelConfig,
    PositionEncoding,
    RoMAE,
    RoMAEPredictor,
    Tokens,
    checkpoint,
    collate,
    interpolate,
    load,
    save,
    size,
)
from romae_lite.io import digest
from romae_lite.masking import split


def built(kind=RoMAE, axes: int = 1, **changes):
    torch.manual_seed(0)
    config = ModelConfig(patch=2, axes=axes, encoder=size("24x2x2x32"), decoder=size("16x2x1x24"), **changes)
    return kind(config) if kind is RoMAE else kind(config, 3, "mean")


def series(*lengths: int, axes: int = 1) -> Tokens:
    rng = np.random.default_rng(0)
    return collate([(rng.normal(size=(n, 2)), 9 * rng.random((n, axes))) for n in lengths])


def test_importing_costs_no_torch_and_names_are_there():
    """What only some need is imported where it is used: `import torch` alone has neither accelerate nor its compiler,
    which together would double the time."""
    code = (
        "import sys, romae_lite; assert 'torch' not in sys.modules; print(*dir(romae_lite)); romae_lite.fit\n"
        "import romae_lite.training, romae_lite.fast; assert not {'accelerate', 'torch._dynamo'} & {*sys.modules}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(romae_lite.__all__) <= set(done.stdout.split())
    assert all(getattr(romae_lite, name).__name__ == name for name in romae_lite.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = romae_lite.nonsense


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize("cls", [True, False])
def test_interpolate_is_the_model_with_all_tokens_visible(axes, cls):
    """Sample by sample through `split`, without padding; float32 sums in another order."""
    model, tokens = built(axes=axes, cls=cls).train(), series(7, 4, 6, axes=axes)
    at = np.random.default_rng(1).random((5, axes)) * 9
    found = interpolate(model, tokens, at, batch=2)
    assert found.shape == (3, 5, 2) and found.dtype == torch.float32 and model.training
    model.eval()
    for b, n in enumerate((7, 4, 6)):
        one = Tokens(
            values=pad(tokens.values[b : b + 1, :n], (0, 0, 0, 5)),
            positions=torch.cat((tokens.positions[b : b + 1, :n], torch.from_numpy(at)[None]), 1),
        )
        alone = model(one, split(torch.arange(n + 5)[None] >= n, one.real))[0]
        torch.testing.assert_close(found[b], alone, rtol=1e-5, atol=1e-5)
    each = torch.from_numpy(at).expand(3, -1, -1)
    assert torch.equal(interpolate(model, tokens, each, batch=2), found)
    order = torch.tensor([4, 2, 0, 1, 3])
    torch.testing.assert_close(interpolate(model, tokens, at[order]), found[:, order], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interpolate(built(RoMAEPredictor), series(4), np.zeros((3, 1))), "it must be of type RoMAE"),
        (lambda: save(torch.nn.Linear(2, 2), "x"), "model is of type Linear; save takes RoMAE and RoMAEPredictor"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("kind", [RoMAE, RoMAEPredictor])
def test_a_saved_model_comes_back(tmp_path, kind, half):
    model = built(kind, cls=False, positions=PositionEncoding(kind="quantised", p=0.5), dropout=0.2)
    save(model, str(tmp_path / "model.safetensors"), half=half)
    state = torch.get_rng_state()
    again = load(tmp_path / "model.safetensors")
    assert torch.equal(torch.get_rng_state(), state)
    assert type(again) is kind and again.config == model.config and not again.training
    assert kind is RoMAE or again.pool == "mean"
    for name, weight in model.state_dict().items():
        found = again.state_dict()[name]
        assert found.dtype == torch.float32 and torch.equal(found, weight.half().float() if half else weight)
    assert all(p.requires_grad for p in again.parameters())


def deep(about: dict, weights: dict) -> None:
    about["config"]["encoder"]["depth"] = 3_000_000  # would take minutes to build


SIGNED = {  # what somebody else may have changed, and signed again
    "not finite": lambda about, weights: weights["mask_token"].fill_(torch.nan),
    "blocks": deep,
    "its weights do not fit": lambda about, weights: weights.pop("mask_token"),
    "'class'": lambda about, weights: about.pop("class"),
    "'config'": lambda about, weights: about.pop("config"),
    "class is 'x'": lambda about, weights: about.update({"class": "x"}),
    "dim is -4": lambda about, weights: about["config"]["encoder"].update(dim=-4),
    "RecursionError": lambda about, weights: about.update(notes="deep"),
    "dict": lambda about, weights: about.update(notes="list"),
}


@pytest.mark.parametrize("message", SIGNED)
def test_files_of_another_s_making_are_named(tmp_path, message):
    path = tmp_path / "model.safetensors"
    save(built(), path)
    weights, about = checkpoint.read_signed(path, "romae_lite")
    SIGNED[message](about, weights)
    texts = {"deep": '{"x": ' + "[" * 200_000 + "]" * 200_000 + "}", "list": "[]"}
    text = texts.get(about.get("notes")) or json.dumps(about)
    signed = {"romae_lite": text, "digest": digest(weights, text)}
    path.write_bytes(safetensors.torch.save(weights, signed))
    with pytest.raises(ValueError, match=f"model.safetensors is no model .*{message}"):
        load(path)


def test_files_that_are_no_model_are_named(tmp_path):
    path, model = tmp_path / "model.safetensors", built()
    save(model, path)
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    other = safetensors.torch.save({"x": torch.zeros(2)}, header)
    flipped = content[:-3] + bytes([content[-3] ^ 4]) + content[-2:]
    flipped_setting = content.replace(b'\\"patch\\": 2', b'\\"patch\\": 3')
    assert flipped_setting != content
    for wrong, message in (
        (content[:-9], "is no model"), (b"", "is no model"), (b"PK\3\4" * 9, "is no model"),
        (flipped, "is no model .*corrupt"),
        (safetensors.torch.save({"x": torch.zeros(2)}), "is no model"), (other, "is no model .*corrupt"),
        (flipped_setting, "is no model .*corrupt"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=f"model.safetensors {message}"):
            load(path)
    with pytest.raises(FileNotFoundError, match="absent"):
        load(tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe is no model .*pipe or device"):
        load(tmp_path / "pipe")
    model.mask_token.data[0] = 1e6
    with pytest.raises(ValueError, match="mask_token holds NaN or numbers too large for torch.float16"):
        save(model, path, half=True)

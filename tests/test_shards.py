"""Tokens in files: the same numbers as in memory, read a block at a time."""

import math

import pytest
import torch
from test_training import data, loss, model, numbers, same, weights

from romae_lite.batching import trim
from romae_lite.shards import Shards, write
from romae_lite.tokens import Tokens, collate
from romae_lite.training import Interrupted, Recipe, fit, seeded

RECIPE = Recipe(epochs=3, batch=4, lr=1e-3)


def ragged(n: int, seed: int = 0) -> Tokens:
    """Samples of 1 to 9 tokens, with a label and a mark for each token."""
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 10, (n,), generator=g)
    tokens = collate([(torch.randn(k, 2, generator=g), torch.rand(k, 1, generator=g)) for k in lengths.tolist()])
    marks = torch.rand(tokens.pad.shape, generator=g).masked_fill(tokens.pad, 0) > 0.5
    return Tokens(
        values=tokens.values, positions=tokens.positions, pad=tokens.pad,
        aux={"label": torch.arange(n), "mark": marks}, per_token={"mark"},
    )


def files(folder, tokens: Tokens, *bounds: int) -> list:
    """Files of the samples between the bounds."""
    for i, (a, b) in enumerate(zip((0, *bounds), (*bounds, len(tokens)), strict=True)):
        write(folder / f"{i}.h5", tokens[a:b])
    return sorted(folder.glob("*.h5"))


def test_samples_are_those_that_were_written(tmp_path):
    tokens = ragged(23)
    shards = Shards(files(tmp_path, tokens, 7, 8), block=3, keep=2)
    assert len(shards) == 23 and torch.equal(shards.lengths, tokens.lengths) and shards.padded
    for index in ([0], [22, 3, 3, 9], list(range(23)), [7, 8, 6]):
        found, right = shards[torch.tensor(index)], trim(tokens[index])
        for name in ("values", "positions", "real"):
            assert torch.equal(getattr(found, name), getattr(right, name)), (index, name)
        assert found.aux.keys() == right.aux.keys() and found.per_token == right.per_token
        assert all(torch.equal(found.aux[name], right.aux[name]) for name in right.aux)


def test_training_from_files_is_training_from_memory(tmp_path):
    tokens, draw = data(), lambda generator: torch.randperm(10, generator=generator)
    a, b = model(), model()
    in_memory = fit(a, tokens, loss, RECIPE, seed=1, device="cpu")
    streamed = fit(
        b, Shards(files(tmp_path, tokens, 4), block=2, keep=1), loss, RECIPE, seed=1, device="cpu", order=draw
    )
    assert same(weights(a), weights(b)) and numbers(in_memory) == numbers(streamed)


def test_a_run_from_files_resumes(tmp_path):
    shards, whole, half = Shards(files(tmp_path, data(), 4), block=2, keep=2), model(), model()
    fit(whole, shards, loss, RECIPE, seed=2, device="cpu")
    steps = iter([False] * 4 + [True])
    checkpoint = tmp_path / "run.safetensors"
    with pytest.raises(Interrupted):
        fit(half, shards, loss, RECIPE, seed=2, device="cpu", checkpoint=checkpoint, stop=lambda: next(steps))
    fit(half, Shards(shards.paths, block=2, keep=2), loss, RECIPE, seed=2, device="cpu", checkpoint=checkpoint)
    assert same(weights(whole), weights(half))


def test_an_epoch_reads_each_block_once_and_keeps_few(tmp_path, monkeypatch):
    shards, read, most = Shards(files(tmp_path, ragged(40), 11, 30), block=4, keep=3), [], 0
    original = Shards._read
    monkeypatch.setattr(Shards, "_read", lambda self, number: read.append(number) or original(self, number))
    order = shards.order(seeded(0))
    assert torch.equal(order.sort().values, torch.arange(40))
    assert not torch.equal(order, shards.order(seeded(1)))
    for index in order.split(5):
        shards[index]
        most = max(most, len(shards._held))
    # a batch may lie across two pools, and then both are wanted at once
    blocks = math.ceil(11 / 4) + math.ceil(19 / 4) + math.ceil(10 / 4)
    assert set(read) == set(range(blocks)) and len(read) <= blocks + 3 * (blocks // 3) and most <= 3


def test_a_change_of_data_is_another_fingerprint(tmp_path):
    tokens = ragged(10)
    (tmp_path / "again").mkdir()
    first, again = (Shards(files(folder, tokens, 6)) for folder in (tmp_path, tmp_path / "again"))
    assert first.fingerprint() == again.fingerprint()
    write(tmp_path / "0.h5", ragged(6, seed=1))
    assert Shards(first.paths).fingerprint() != again.fingerprint()
    assert Shards(again.paths[::-1]).fingerprint() != again.fingerprint()


def test_rows_are_numbers_and_folders_are_made(tmp_path):
    """A mask would be read as rows 0 and 1."""
    path = tmp_path / "not" / "there" / "0.h5"
    write(path, data())
    with pytest.raises(TypeError, match="index is of bool; it must be numbers"):
        Shards([path])[torch.ones(len(data()), dtype=torch.bool)]


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_beside_it(tmp_path):
    """Where it would go stands a folder that is not empty."""
    (tmp_path / "0.h5" / "full").mkdir(parents=True)
    with pytest.raises(OSError, match="could not write .*0.h5: "):
        write(tmp_path / "0.h5", data())
    assert [path.name for path in tmp_path.iterdir()] == ["0.h5"]


def test_what_is_wrong_with_a_file_is_named(tmp_path):
    paths = files(tmp_path, data(), 4)
    raw = paths[1].read_bytes()
    with pytest.raises(OSError, match="1.h5 cannot be read"):
        paths[1].write_bytes(raw[: len(raw) // 2])
        Shards(paths)
    start = raw.find(data()[4:].values.numpy().tobytes()[:16])  # the first numbers of the values
    assert start > 0
    paths[1].write_bytes(raw[:start] + bytes([raw[start] ^ 1]) + raw[start + 1 :])
    with pytest.raises(OSError, match="1.h5 cannot be read"):
        Shards(paths)[[7]]
    write(paths[1], ragged(3))
    with pytest.raises(ValueError, match="1.h5 holds .*they must agree"):
        Shards(paths)
    with pytest.raises(ValueError, match="one file at least"):
        Shards([])
    with pytest.raises(IndexError, match="from 0 to 3"):
        Shards(paths[:1])[[4]]
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob(".*.tmp"))

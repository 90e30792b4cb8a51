"""Patches against plain loops; what a batch refuses."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from romae_book.experiments.data import unpatchify
from romae_lite.batching import spacing, trim
from romae_lite.tokens import Tokens, collate, patchify


@st.composite
def arrays(draw):
    """An array (B, *sizes, C) of distinct numbers with 1 to 4 dimensions, and a patch that fits."""
    patch = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    sizes = [p * draw(st.integers(1, 3)) for p in patch]
    batch, channels = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    count = batch * math.prod(sizes) * channels
    return torch.arange(count).float().reshape(batch, *sizes, channels), patch


def patchify_by_loop(array, patch, axes):
    """Patch by patch, point by point, channel by channel: what `patchify` must give."""
    sizes, samples, where = array.shape[1:-1], [], []
    for b in range(len(array)):
        rows, where = [], []
        for corner in itertools.product(*(range(0, size, step) for size, step in zip(sizes, patch, strict=True))):
            values, places = [], []
            for offset in itertools.product(*map(range, patch)):
                point = tuple(c + o for c, o in zip(corner, offset, strict=True))
                values += array[(b, *point)].tolist()
                places.append([axis[i] for axis, i in zip(axes, point, strict=True)])
            rows.append(values)
            where.append([sum(column) / len(column) for column in zip(*places, strict=True)])
        samples.append(rows)
    return torch.tensor(samples), torch.tensor(where, dtype=torch.float64)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(arrays())
def test_patchify_equals_a_loop_and_unpatchify_undoes_it(case):
    array, patch = case
    sizes = array.shape[1:-1]
    regular = [[3.0 + 0.5 * i for i in range(size)] for size in sizes]
    exact, where = patchify_by_loop(array, patch, regular)
    values, positions = patchify(array, patch, [torch.tensor(axis) for axis in regular])
    assert torch.equal(values, exact)
    assert positions.dtype == torch.float64 and len(positions) == len(array)
    torch.testing.assert_close(positions[-1], where, rtol=1e-14, atol=0)
    assert torch.equal(unpatchify(values, patch, sizes), array)


def test_positions_count_patches_unless_told():
    _, positions = patchify(torch.zeros(2, 4, 6, 1), (2, 2))
    assert positions[1].tolist() == [[r, c] for r in range(2) for c in range(3)]


def test_irregular_dimension_needs_patch_one():
    """Proposition 4.1."""
    times = torch.tensor([0.0, 0.1, 0.5, 0.6])
    film = torch.rand(1, 4, 6, 1)
    with pytest.raises(
        ValueError, match=r"patch\[0\] is 2 along an irregular dimension .*Proposition 4\.1.*one position"
    ):
        patchify(film, (2, 3), [times, None])
    values, positions = patchify(film, (1, 3), [times, None])
    assert values.shape == (1, 8, 3)
    assert positions[0, :, 0].tolist() == times.double().repeat_interleave(2).tolist()
    # equally spaced, if only up to float32: regular
    patchify(film, (2, 3), [torch.linspace(0, 1, 4), None])
    for low, high, n in ((0, 1, 24), (0, 1, 512), (-1, 1, 224), (59_000, 59_100, 128)):
        patchify(torch.zeros(1, n, 1), (2,), [torch.linspace(low, high, n)])
    with pytest.raises(ValueError, match="irregular"):
        patchify(torch.zeros(1, 4, 1), (2,), [torch.tensor([59_000, 59_001, 59_002, 59_003.01], dtype=torch.float64)])


def tokens(values=(2, 3, 1), positions=(2, 3, 1), **more) -> Tokens:
    return Tokens(values=torch.zeros(values), positions=torch.zeros(positions), **more)


def with_bad(name: str, number: float) -> dict:
    fields = {"values": torch.zeros(2, 3, 1), "positions": torch.zeros(2, 3, 1)}
    fields[name][1, 2] = number
    return fields


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tokens(pad=torch.tensor([[False] * 3, [True] * 3])), "pad leaves no token in sample 1"),
        (lambda: Tokens(**with_bad("values", math.nan)), "values of sample 1, token 2 is NaN or infinite"),
        (lambda: Tokens(**with_bad("values", -math.inf)), "values of sample 1, token 2"),
        (lambda: Tokens(**with_bad("positions", math.nan)), "positions of sample 1, token 2"),
        (lambda: Tokens(**with_bad("positions", 1e16)), "positions of sample 1, token 2 is NaN, infinite or beyond"),
        (lambda: Tokens(values=np.full((1, 1, 1), 1e39), positions=np.zeros((1, 1, 1))), "values of sample 0, token 0"),
        (lambda: tokens(aux={"label": torch.tensor([0, math.nan])}), r"aux\['label'\] of sample 1 is NaN"),
        (lambda: tokens(per_token={"mask"}), "per_token names 'mask', which is missing in aux"),
        (lambda: tokens(per_token={"y"}, aux={"y": torch.zeros(2, 5)}), r"per_token names 'y', which is \(2, 5\)"),
        (lambda: tokens()[5:3], "holds no sample of 2"),
        (lambda: tokens()[torch.zeros(2, dtype=torch.bool)], "holds no sample of 2"),
        (
            lambda: collate([(torch.zeros(2, 1), torch.zeros(2, 1)), (np.zeros((2, 3)), np.zeros((2, 1)))]),
            "values of s",
        ),
        (
            lambda: collate([(torch.zeros(2, 1), torch.zeros(2, 1)), (np.zeros((2, 1)), np.zeros(2))]),
            "positions of sample 1",
        ),
        (
            lambda: patchify(torch.zeros(1, 2, 1), (1,), [torch.tensor([0, math.nan])]),
            r"coordinates\[0\] holds numbers that are not finite",
        ),
        (lambda: patchify(torch.zeros(1, 6, 1), (2,), [torch.ones(6)]), r"coordinates\[0\] are all the same"),
        (lambda: collate([(torch.zeros(2, 1), torch.zeros(3, 1))]), "sample 0 has 2 values at 3 positions"),
    ],
)
def test_bad_tokens_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_padding_may_hold_anything():
    """NaN is what a data frame puts where nothing was measured; in the padding it is nobody's business."""
    pad = torch.tensor([[False] * 3, [False, False, True]])
    batch = Tokens(**with_bad("values", math.nan), pad=pad)
    assert batch.real.tolist() == [[True] * 3, [True, True, False]]
    assert torch.isfinite(batch.values).all()  # cleared: 0 x NaN would poison every sum over the batch


def test_collate_pads_at_the_end():
    samples = [(torch.full((n, 2), float(n)), torch.arange(n)[:, None] + 0.5) for n in (3, 1, 2)]
    batch = collate(samples, label=torch.tensor([7, 8, 9]))
    assert batch.values.shape == (3, 3, 2) and len(batch) == 3
    for row, (values, positions) in enumerate(samples):
        assert batch.real[row].tolist() == [i < len(values) for i in range(3)]
        assert torch.equal(batch.values[row][batch.real[row]], values)
        assert torch.equal(batch.positions[row][batch.real[row]], positions.double())
    assert batch.aux["label"].tolist() == [7, 8, 9]
    assert collate(samples[:1] * 2).pad is None  # nothing to pad, so no mask


def test_numpy_is_as_good_as_tensors():
    arrays = [(np.arange(2 * n, dtype=np.float32).reshape(n, 2)[::-1], np.arange(n)[:, None]) for n in (3, 2)]
    ours = collate(arrays, label=np.array([1, 0]))
    theirs = collate([tuple(torch.tensor(part.copy()) for part in pair) for pair in arrays], label=torch.tensor([1, 0]))
    for name in ("values", "positions", "pad"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name))
    arrays[0][0][:] = 7  # a copy: what happens to the array later does not matter
    assert torch.equal(ours.values, theirs.values) and torch.equal(ours.aux["label"], theirs.aux["label"])


def test_trim_cuts_what_is_per_token_only():
    batch = collate([(torch.ones(n, 1), torch.ones(n, 1)) for n in (2, 3, 5)])
    each = torch.arange(15).reshape(3, 5)
    batch = Tokens(
        values=batch.values, positions=batch.positions, pad=batch.pad, aux={"target": each, "hidden": each},
        per_token={"hidden"},
    )
    short = trim(batch[:2])
    assert short.values.shape == (2, 3, 1) and short.pad.shape == (2, 3)
    assert torch.equal(short.aux["hidden"], each[:2, :3]) and torch.equal(short.aux["target"], each[:2])


def test_numbers_of_the_other_byte_order_are_numbers():
    """As FITS files have them."""
    plain = np.arange(6.0).reshape(1, 6, 1)
    tokens = Tokens(values=plain.astype(">f8"), positions=plain.astype(">f4"))
    assert tokens.values.flatten().tolist() == tokens.positions.flatten().tolist() == list(range(6))


def test_time_stamps_keep_their_digits():
    """A Julian date to a tenth of a second: more digits than float32 has."""
    date = torch.tensor([[[2_460_000.123456]]], dtype=torch.float64)
    assert Tokens(values=torch.zeros(1, 1, 1), positions=date).to("cpu").positions.item() == 2_460_000.123456
    assert tokens().positions.dtype == torch.float64


def test_values_are_float32_and_an_index_keeps_the_batch():
    tokens = Tokens(values=torch.ones(4, 3, 1, dtype=torch.float64), positions=torch.rand(4, 3, 1))
    assert tokens.values.dtype == torch.float32 and tokens.positions.dtype == torch.float64
    for index in (3, np.int64(3), None, (slice(None), 1), [[0, 1]], torch.tensor(2), ...):
        with pytest.raises(TypeError, match="would change the dimensions"):
            tokens[index]


def test_selecting_keeps_everything_together():
    batch = Tokens(
        values=torch.arange(6.0).reshape(3, 2, 1), positions=torch.arange(6.0).reshape(3, 2, 1),
        pad=torch.tensor([[False, True], [False, False], [False, False]]), aux={"label": torch.tensor([5, 6, 7])},
    )
    for index, rows in ((slice(1, 3), [1, 2]), (torch.tensor([2, 0]), [2, 0]), ([0], [0]), (np.array([1]), [1])):
        part = batch[index]
        for name in ("values", "positions", "pad"):
            assert torch.equal(getattr(part, name), torch.stack([getattr(batch, name)[r] for r in rows]))
        assert part.aux["label"].tolist() == [5 + r for r in rows]


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 4), st.integers(2, 9), st.integers(1, 3), st.integers(0, 10**6))
def test_spacing_is_the_median_gap(batch, n, axes, seed):
    """Against a loop over samples and axes; padding holds positions that would spoil it."""
    generator = torch.Generator().manual_seed(seed)
    positions = torch.rand(batch, n, axes, generator=generator, dtype=torch.float64)
    length = torch.randint(2, n + 1, (batch,), generator=generator)
    pad = torch.arange(n) >= length[:, None]
    tokens = Tokens(values=torch.zeros(batch, n, 1), positions=positions, pad=pad)
    for axis in range(axes):
        gaps = []
        for sample in range(batch):
            where = sorted(positions[sample, : length[sample], axis].tolist())
            gaps += [b - a for a, b in itertools.pairwise(where) if b > a]
        gaps.sort()
        # of an even number of gaps torch's median is the lower of the two in the middle
        assert float(spacing(tokens)[axis]) == pytest.approx(gaps[(len(gaps) - 1) // 2], rel=1e-12)


def test_spacing_of_grids_is_their_step():
    values, positions = patchify(torch.zeros(1, 6, 8, 1), (1, 2), (torch.linspace(0, 1, 6), 5.0 * torch.arange(8)))
    found = spacing(Tokens(values=values, positions=positions))
    assert found.tolist() == pytest.approx([0.2, 10.0])  # 6 rows over [0, 1]; patches of two columns, 5 apart
    alone = Tokens(values=torch.zeros(2, 1, 1), positions=torch.zeros(2, 1, 1))
    assert spacing(alone).tolist() == [1.0]

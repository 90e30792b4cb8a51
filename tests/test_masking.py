"""Masks: how many, where, whose; and that taking apart and putting together are inverse."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from romae_lite.masking import hide, split, take


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(*lengths: int, n: int | None = None) -> torch.Tensor:
    """real (B, N): the first tokens of each row."""
    return torch.arange(n or max(lengths)) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("ratio", ["0.1", "0.25", "0.3", "0.5", "0.6", "0.7", "0.75", "0.9"])
def test_hides_the_ceiling_of_ratio_times_tokens(ratio):
    """Counted with fractions: 0.6 of 75 is 45, whatever floating point makes of it."""
    lengths = range(2, 120)
    hidden = hide(rows(*lengths), ratio=float(ratio), generator=generator())
    wanted = [min(max(math.ceil(Fraction(ratio) * n), 1), n - 1) for n in lengths]
    assert hidden.sum(1).tolist() == wanted


def test_never_hides_padding_wherever_it_is():
    g = generator(3)
    real = torch.rand(200, 30, generator=g) < 0.5
    real[:, :2] = True
    hidden = hide(real, ratio=0.75, generator=g)
    assert not (hidden & ~real).any()
    assert hidden.sum(1).tolist() == [min(math.ceil(0.75 * n), n - 1) for n in real.sum(1).tolist()]


def test_uniform_over_subsets():
    """Two of five real tokens in a row of seven: all ten choices are equally likely. The seed is fixed, and so is the
    p-value; a fair sampler falls below 1e-3 for one seed in a thousand."""
    real = torch.tensor([[True, False, True, True, False, True, True]]).expand(20_000, -1)
    hidden = hide(real, ratio=0.4, generator=generator(1))
    found = Counter(map(tuple, (row.nonzero().flatten().tolist() for row in hidden)))
    choices = list(combinations((0, 2, 3, 5, 6), 2))
    assert set(found) == set(choices)
    assert chisquare([found[c] for c in choices]).pvalue > 1e-3


def test_seeded():
    real = rows(50, 50, 40)
    assert torch.equal(hide(real, ratio=0.5, generator=generator(1)), hide(real, ratio=0.5, generator=generator(1)))
    assert not torch.equal(hide(real, ratio=0.5, generator=generator(1)), hide(real, ratio=0.5, generator=generator(2)))
    g = generator(1)
    assert not torch.equal(hide(real, ratio=0.5, generator=g), hide(real, ratio=0.5, generator=g))


def test_leaves_the_global_generator_alone():
    before = torch.get_rng_state()
    hide(rows(9, 9), ratio=(0.2, 0.8), generator=generator())
    assert torch.equal(torch.get_rng_state(), before)


def test_a_range_of_ratios_varies_and_stays_inside():
    counts = hide(rows(*[100] * 500), ratio=(0.3, 0.7), generator=generator()).sum(1)
    assert counts.min() >= 30 and counts.max() <= 70
    assert len(counts.unique()) > 30  # 500 draws from 41 values
    # mean of 0.5 x 100 plus half a token for the ceiling; its standard error is 100 x 0.4 / sqrt(12 x 500) = 0.52
    assert abs(counts.float().mean() - 50.5) < 4 * 0.52


def test_visible_counts():
    real = rows(8, 5, 3)
    assert torch.equal(*(hide(r, visible=2, generator=generator()) for r in (real, real.numpy())))
    assert (hide(real, visible=2, generator=generator()) ^ real).sum(1).tolist() == [2, 2, 2]
    assert (hide(real, visible=torch.tensor([7, 1, 2]), generator=generator()) ^ real).sum(1).tolist() == [7, 1, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hide(rows(5, 1), ratio=0.5, generator=generator()), r"sample 1 has 1 real token"),
        (lambda: hide(rows(5), ratio=(0.6, 0.4), generator=generator()), "ratio is"),
        (lambda: hide(rows(5), generator=generator()), "either ratio or visible"),
        (lambda: hide(rows(5, 3), visible=3, generator=generator()), "visible is 3 for sample 1 with 3 real tokens"),
        (
            lambda: hide(rows(5), ratio=[0.2, 0.5, 0.7], generator=generator()),
            r"ratio is \[0.2, 0.5, 0.7\]; it must be a number",
        ),
        (lambda: split(torch.ones(1, 4, dtype=torch.bool), rows(4)), "sample 0 has no visible token"),
        (lambda: split(torch.zeros(1, 4, dtype=torch.bool), rows(4)), "sample 0 has no hidden token"),
    ],
)
def test_bad_masks_are_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_hidden_padding_is_nobodys_token():
    """A mask that marks only padding as hidden hides nothing."""
    real = rows(2, 4)
    with pytest.raises(ValueError, match="sample 0 has no hidden token"):
        split(~real | torch.tensor([[False], [True]]) & (torch.arange(4) == 0), real)


@st.composite
def masks(draw):
    """real and hidden (B, N), every row with at least one visible and one hidden token, anywhere."""
    n, batch = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    kinds = []  # 0 padding, 1 visible, 2 hidden
    for _ in range(batch):
        row = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        first, second = draw(st.permutations(range(n)))[:2]
        row[first], row[second] = 1, 2
        kinds.append(row)
    kinds = torch.tensor(kinds)
    return kinds > 0, kinds == 2


@settings(deadline=None, derandomize=True, max_examples=150)
@given(masks())
def test_split_and_take_part_the_tokens_in_order(case):
    real, hidden = case
    batch, n = real.shape
    values = 1 + torch.arange(batch * n * 2).float().reshape(batch, n, 2)
    where = split(hidden, real)
    for index, pad, chosen in (
        (where.visible, where.visible_pad, real & ~hidden), (where.hidden, where.hidden_pad, real & hidden)
    ):
        taken = take(values, index)
        for b in range(batch):
            kept = taken[b] if pad is None else taken[b][~pad[b]]
            assert torch.equal(kept, values[b][chosen[b]])  # the tokens themselves, in their order
        assert (pad is None) == (len(set(chosen.sum(1).tolist())) == 1)

"""Rotations against explicit rotation matrices in float64, and the properties that the paper builds on.

Tolerances. `rotate` runs in float32. The angle, below 2 pi, is rounded by at most 2.4e-7; cosine, sine, products and
sum by 6e-8 of their size each. So a rotated vector is off by less than 1e-6 of its length, and a score by 2e-6 |q| |k|.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from romae_lite.rope import PositionEncoding, angles, frequencies, rotate

OFF = 1e-6  # largest error of a rotated vector, in units of its length


@pytest.fixture(autouse=True)
def same_numbers():
    """Whatever ran before in this process."""
    torch.manual_seed(0)


def thetas(dim: int, p: float) -> list[float]:
    """Frequencies of one axis, written out."""
    pairs = dim // 2
    kept = int(p * pairs + 1e-9)
    return [10_000 ** (-2 * i / dim) if i < kept else 0.0 for i in range(pairs)]


def matrix(position: list[float], head_dim: int, p: float) -> torch.Tensor:
    """The (head_dim, head_dim) rotation of one token in our layout: every pair's 2 x 2 block in its place."""
    axes, half = len(position), head_dim // 2
    dim = head_dim // axes
    out = torch.zeros(head_dim, head_dim, dtype=torch.float64)
    for axis, x in enumerate(position):
        for i, theta in enumerate(thetas(dim, p)):
            a = axis * dim // 2 + i
            b = half + a
            c, s = math.cos(x * theta), math.sin(x * theta)
            out[a, a], out[a, b], out[b, a], out[b, b] = c, -s, s, c
    return out


def authors_matrix(position: list[float], head_dim: int, p: float) -> torch.Tensor:
    """The same in the authors' layout: a block of channels for each axis, split in halves inside."""
    blocks = [matrix([x], head_dim // len(position), p) for x in position]
    return torch.block_diag(*blocks)


def turned(x: torch.Tensor, positions: torch.Tensor, **encoding) -> torch.Tensor:
    return rotate(x, *PositionEncoding(**encoding).rotation(positions, x.shape[-1]))


def assert_rotated(ours: torch.Tensor, exact: torch.Tensor, tolerance: float = OFF) -> None:
    length = exact.norm(dim=-1)
    error = (ours.double() - exact).norm(dim=-1)
    assert (error <= tolerance * length).all(), (error / length).max()


@pytest.mark.parametrize(("head_dim", "axes"), [(8, 1), (8, 2), (60, 1), (60, 2), (60, 3), (72, 2), (30, 1), (240, 4)])
@pytest.mark.parametrize("p", [0.0, 0.4, 0.75, 1.0])
def test_equals_rotation_matrices(head_dim, axes, p):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(2, 5, 3, head_dim, generator=g)
    positions = 200 * torch.randn(2, 5, axes, generator=g, dtype=torch.float64)
    ours = turned(x, positions, p=p)
    for b in range(2):
        for n in range(5):
            exact = x[b, n].double() @ matrix(positions[b, n].tolist(), head_dim, p).T
            assert_rotated(ours[b, n], exact)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_authors_layout_is_a_permutation_of_ours(axes):
    head_dim, half = 12 * axes, 6 * axes
    # channel j of the authors' layout is channel order[j] of ours
    order = [side * half + axis * 6 + i for axis in range(axes) for side in range(2) for i in range(6)]
    position = [3.7, -41.25, 1002.5][:axes]
    ours, theirs = matrix(position, head_dim, 0.75), authors_matrix(position, head_dim, 0.75)
    torch.testing.assert_close(ours[order][:, order], theirs, rtol=0, atol=0)
    # and so for the code: permuted in, permuted out
    x = torch.randn(1, 1, 1, head_dim, generator=torch.Generator().manual_seed(1))
    out = turned(x, torch.tensor([[position]], dtype=torch.float64))[0, 0, 0]
    assert_rotated(out[order], theirs @ x[0, 0, 0, order].double())


def score(q, k, at, other, encoding) -> float:
    """Dot product of q at one position and k at another, (D,) tensors; the sum itself in float64."""
    rotated = [rotate(x[None, None, None], *encoding.rotation(t[None, None], len(x))) for x, t in ((q, at), (k, other))]
    return float(rotated[0].double().flatten() @ rotated[1].double().flatten())


coordinate = st.floats(-1e7, 1e7, allow_nan=False)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=3), st.integers(0, 10**6))
def test_score_depends_on_differences_only(axes, seed):
    """Irregular, negative and large positions and offsets. A shifted position is itself rounded, to 2e-9 at 1e7."""
    a, b, shift = (torch.tensor(c, dtype=torch.float64) for c in zip(*axes, strict=True))
    q, k = torch.randn(2, 12 * len(axes), generator=torch.Generator().manual_seed(seed))
    encoding = PositionEncoding()
    limit = 4 * OFF * float(q.norm() * k.norm())
    assert abs(score(q, k, a, b, encoding) - score(q, k, a + shift, b + shift, encoding)) <= limit


def test_float32_angles_would_not_do():
    """What the float64 in `angles` is for: at 1e6 single precision misses by far more than the tolerance."""
    q, k = torch.randn(2, 60, generator=torch.Generator().manual_seed(0))
    t = torch.tensor([0.3, 1.7], dtype=torch.float64)
    limit = 4 * OFF * float(q.norm() * k.norm())

    def naive(at: float, other: float) -> float:
        ends = []
        for x, where in ((q, at), (k, other)):
            phase = torch.tensor(where, dtype=torch.float32) * frequencies(60).float()
            ends.append(rotate(x[None, None, None], phase.cos(), phase.sin()).flatten())
        return float(ends[0] @ ends[1])

    exact = score(q, k, t[:1], t[1:], PositionEncoding())
    assert abs(naive(*(t + 1e6).tolist()) - exact) > 100 * limit
    assert abs(score(q, k, t[:1] + 1e6, t[1:] + 1e6, PositionEncoding()) - exact) <= limit


@pytest.mark.parametrize("dim", [8, 60, 100, 180])
def test_the_share_of_turning_pairs_is_exact(dim):
    """In whole per cents, counted with whole numbers: 0.7 * 180 / 2 is a little less than 63 in floating point."""
    for per_cent in range(101):
        assert int((frequencies(dim, per_cent / 100) > 0).sum()) == per_cent * dim // 200


def test_angles_are_reduced_and_exact():
    positions = torch.tensor([[[59_000.123], [-1e7], [1e7 + 0.25]]], dtype=torch.float64)
    phase = angles(positions, frequencies(8, 1.0))
    assert phase.dtype == torch.float32 and phase.shape == (1, 3, 4)
    assert phase.min() >= 0 and phase.max() <= 2 * math.pi + 1e-6
    for n, position in enumerate(positions[0, :, 0].tolist()):
        for i, theta in enumerate(thetas(8, 1.0)):
            # rounding of the product in float64 (1e7 x 1.1e-16) and of the angle to float32 (2.4e-7)
            assert math.cos(phase[0, n, i]) == pytest.approx(math.cos(position * theta), abs=3e-7)
            assert math.sin(phase[0, n, i]) == pytest.approx(math.sin(position * theta), abs=3e-7)


def test_p_zero_is_the_identity():
    x, positions = torch.randn(2, 7, 3, 12), torch.randn(2, 7, 2, dtype=torch.float64) * 1e5
    assert torch.equal(turned(x, positions, p=0.0), x)


def test_p_one_is_full_rope():
    freqs = frequencies(60, 1.0)
    exact = torch.tensor([10_000 ** (-2 * i / 60) for i in range(30)], dtype=torch.float64)
    torch.testing.assert_close(freqs, exact, rtol=1e-14, atol=0)
    x, positions = torch.randn(1, 1, 1, 60), torch.full((1, 1, 1), 3e4, dtype=torch.float64)
    assert (turned(x, positions, p=1.0) != x).all()  # no channel is left alone: the slowest pair turned by 4 radians


# head_dim, axes, pairs per axis, rotated, untouched, smallest frequency kept, its wavelength: from the authors' code
TABLE = [
    (60, 1, 30, 22, 8, "0.00158", 3964),
    (60, 2, 15, 11, 4, "0.00215", 2916),
    (60, 3, 10, 7, 3, "0.00398", 1578),
    (72, 1, 36, 27, 9, "0.00129", 4865),
    (72, 2, 18, 13, 5, "0.00215", 2916),
    (30, 1, 15, 11, 4, "0.00215", 2916),
]


@pytest.mark.parametrize(("head_dim", "axes", "pairs", "rotated", "untouched", "smallest", "wavelength"), TABLE)
def test_p_three_quarters_keeps_the_largest(head_dim, axes, pairs, rotated, untouched, smallest, wavelength):
    freqs = frequencies(head_dim // axes)
    kept = freqs[freqs > 0]
    assert (len(freqs), len(kept), int((freqs == 0).sum())) == (pairs, rotated, untouched)
    assert freqs[0] == 1 and (freqs[:-1] >= freqs[1:]).all() and (freqs[: len(kept)] > 0).all()
    assert f"{kept.min():.3g}" == smallest
    assert round(2 * math.pi / float(kept.min())) == wavelength


def test_bfloat16_in_bfloat16_out():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(2, 50, 3, 60, generator=g).bfloat16()
    positions = 1e4 * torch.rand(2, 50, 1, generator=g, dtype=torch.float64)
    ours, exact = turned(x, positions), turned(x.float(), positions)
    assert ours.dtype == torch.bfloat16 and exact.dtype == torch.float32
    # only the result is rounded, to 8 significant bits: half a step is at most 2^-8 of the number
    torch.testing.assert_close(ours.float(), exact, rtol=2**-8, atol=1e-30)


def test_quantised_is_rope_at_whole_numbers():
    x, positions = torch.randn(2, 6, 1, 12), 9 * torch.randn(2, 6, 2, dtype=torch.float64)
    whole = torch.tensor([[[float(round(v)) for v in token] for token in row] for row in positions.tolist()]).double()
    assert torch.equal(turned(x, positions, kind="quantised"), turned(x, whole))
    assert not torch.equal(turned(x, positions, kind="quantised"), turned(x, positions))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_absolute_adds_sines_and_cosines(axes):
    dim, positions = 24, 7 * torch.randn(2, 4, axes, dtype=torch.float64)
    encoding = PositionEncoding(kind="absolute")
    added = encoding.embedding(positions, dim)
    assert encoding.rotation(positions, 24) is None
    assert added.shape == (2, 4, dim)
    for b in range(2):
        for n in range(4):
            phases = [x * theta for x in positions[b, n].tolist() for theta in thetas(dim // axes, 1.0)]
            exact = torch.tensor([math.sin(a) for a in phases] + [math.cos(a) for a in phases])
            torch.testing.assert_close(added[b, n], exact, rtol=0, atol=5e-7)  # the angle's rounding, 2.4e-7, twice


def test_rope_adds_nothing_and_none_does_nothing():
    positions = torch.rand(1, 3, 1, dtype=torch.float64)
    assert PositionEncoding().embedding(positions, 24) is None
    assert PositionEncoding(kind="none").embedding(positions, 24) is None
    assert PositionEncoding(kind="none").rotation(positions, 24) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: frequencies(7), "dim is 7"),
        (lambda: frequencies(8, p=1.5), "p is 1.5"),
        (lambda: frequencies(8, base=1.0), "base is 1.0"),
        (lambda: PositionEncoding().rotation(torch.zeros(1, 1, 3), 8), "is 8; 3 axes need a multiple of 6"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

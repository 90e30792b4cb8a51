"""Muon, all matrices of one shape at once, against torch's and against a slow one in float64."""

import math

import pytest
import torch

from romae_lite.optim import COEFFICIENTS, Muon, orthogonalise

SHAPES = [(16, 16), (48, 16), (16, 48), (16, 16), (48, 16), (5, 7)]


def matrices(seed: int) -> list[torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=g) for shape in SHAPES]


def slow(matrix: torch.Tensor) -> torch.Tensor:
    """Newton-Schulz by singular values: the iteration leaves the vectors alone and maps s to a s + b s^3 + c s^5."""
    u, s, v = torch.linalg.svd(matrix.double(), full_matrices=False)
    s, (a, b, c) = s / matrix.double().norm(), COEFFICIENTS
    for _ in range(5):
        s = a * s + b * s**3 + c * s**5
    return u @ s.diag() @ v


def test_orthogonalises_each_matrix_of_a_stack():
    for shape in set(SHAPES):
        stack = torch.stack([m for m in matrices(0) if m.shape == shape] + [torch.zeros(shape)])
        found = orthogonalise(stack)
        for matrix, result in zip(stack[:-1], found, strict=False):
            # the map is steep at 0 (3.44^5 = 485 in five steps), so float32's 6e-8 may grow to 3e-5
            torch.testing.assert_close(result.double(), slow(matrix), rtol=0, atol=1e-4)
        assert (found[-1] == 0).all()  # and no division by zero


def test_steps_are_those_of_torch():
    """The same state and the same updates, up to torch's bfloat16, whose 8 bits are 0.4 % in each of 15 products."""
    ours, theirs = ([torch.nn.Parameter(m) for m in matrices(0)] for _ in range(2))
    optimizers = (
        Muon(ours, lr=0.01, weight_decay=0.1),
        torch.optim.Muon(theirs, lr=0.01, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
    )
    for step in range(4):
        for p, q, gradient in zip(ours, theirs, matrices(step + 1), strict=True):
            q.data.copy_(p.data)  # from the same place, so that errors do not add up
            p.grad, q.grad = gradient, gradient.clone()
        before = [p.detach().clone() for p in ours]
        for optimizer in optimizers:
            optimizer.step()
        for p, q, start in zip(ours, theirs, before, strict=True):
            buffers = [o.state[x]["momentum_buffer"] for o, x in zip(optimizers, (p, q), strict=True)]
            torch.testing.assert_close(*buffers)
            assert float((p - q).detach().norm() / (q - start).detach().norm()) < 0.05


def test_a_step_in_closed_form():
    """Orthogonal gradient, no momentum yet: all singular values are 1 / sqrt(n), so the step is known to the digit."""
    p = torch.nn.Parameter(torch.ones(4, 4))
    p.grad, s = torch.eye(4), 0.5
    for _ in range(5):
        s = COEFFICIENTS[0] * s + COEFFICIENTS[1] * s**3 + COEFFICIENTS[2] * s**5
    Muon([p], lr=0.1, weight_decay=0.5).step()
    expected = (1 - 0.1 * 0.5) * torch.ones(4, 4) - 0.1 * 0.2 * math.sqrt(4) * s * torch.eye(4)
    torch.testing.assert_close(p.detach(), expected, rtol=1e-5, atol=1e-6)


def test_matrices_without_a_gradient_stay():
    ours = [torch.nn.Parameter(m) for m in matrices(0)]
    before = [p.detach().clone() for p in ours]
    optimizer = Muon(ours, lr=0.1)
    ours[0].grad = torch.ones(16, 16)
    optimizer.step()
    assert [torch.equal(p, b) for p, b in zip(ours, before, strict=True)] == [False] + [True] * 5
    with pytest.raises(ValueError, match="empty parameter list"):
        Muon([], lr=0.1)

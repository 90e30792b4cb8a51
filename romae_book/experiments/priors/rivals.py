"""Who else can fill a series: the posterior itself, the Gaussian process of the likeliest kernel, straight lines."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from romae_lite.series.filler import look
from romae_lite.tokens import Tokens

from .data import ASKED, SEEN, matern, periodic, rbf

LENGTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # in distances of neighbours
PERIODS = tuple(float(3 * 2 ** (k / 3)) for k in range(14))  # 3 to 60 of them
NOISES = (0.02, 0.1, 0.3, 0.7)  # of a measurement, in standard deviations of the curve


@dataclass(frozen=True)
class Kernel:
    """One of the grid: kind "rbf", "matern32", "matern12" or "periodic"; length, or the period."""

    kind: str
    length: float
    noise: float

    def __call__(self, distance: Tensor) -> Tensor:
        length = torch.tensor(self.length, dtype=torch.float64)
        if self.kind == "rbf":
            return rbf(distance, length)
        if self.kind == "periodic":
            return periodic(distance, length, torch.ones((), dtype=torch.float64))
        return matern(distance, length, {"matern32": 1.5, "matern12": 0.5}[self.kind])


GRID = tuple(
    Kernel(kind, length, noise)
    for kind, lengths in (("rbf", LENGTHS), ("matern32", LENGTHS), ("matern12", LENGTHS), ("periodic", PERIODS))
    for length in lengths
    for noise in NOISES
)


def likeliest(t: Tensor, y: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor, list[Kernel]]:
    """Of each series the posterior under the kernel of GRID under which its points are likeliest, times the variance
    that suits them best (known in closed form: y' (K + noise^2)^-1 y / N).

    t, y (B, N), all points real; at (B, M). Returns means (B, M), variances of the curve (B, M), the noise's variance
    (B,), and the kernels. float64.
    """
    n, distance = t.shape[1], t[:, :, None] - t[:, None, :]
    eye = torch.eye(n, dtype=torch.float64)
    evidence, factors = [], []
    for kernel in GRID:
        L = torch.linalg.cholesky(kernel(distance) + kernel.noise**2 * eye)
        white = torch.linalg.solve_triangular(L, y[..., None], upper=False)[..., 0]
        power = white.square().mean(1).clamp(min=1e-12)
        evidence.append(-0.5 * n * power.log() - L.diagonal(dim1=1, dim2=2).log().sum(1))
        factors.append(power)
    best = torch.stack(evidence).argmax(0)  # (B,)
    mean, variance, noise = torch.empty_like(at), torch.empty_like(at), torch.empty(len(t), dtype=torch.float64)
    for i in best.unique().tolist():
        rows, kernel = best == i, GRID[i]
        L = torch.linalg.cholesky(kernel(distance[rows]) + kernel.noise**2 * eye)
        across = kernel(t[rows][:, :, None] - at[rows][:, None, :])  # (b, N, M)
        seen = torch.linalg.solve_triangular(L, torch.cat((across, y[rows][..., None]), dim=2), upper=False)
        mean[rows] = (seen[..., :-1] * seen[..., -1:]).sum(1)
        power = factors[i][rows]
        variance[rows] = power[:, None] * (1 - seen[..., :-1].square().sum(1)).clamp(min=1e-9)
        noise[rows] = power * kernel.noise**2
    return mean, variance, noise, [GRID[i] for i in best.tolist()]


def best(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """The posterior under the true kernel and noise."""
    return tokens.aux["mean"].double().numpy(), tokens.aux["variance"].double().numpy()


def gp(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """`likeliest`, of measurements."""
    def answer(t, y, at):
        mean, variance, noise, _ = likeliest(t, y, at)
        return mean, variance + noise[:, None]

    return _of_each_count(answer, tokens)


def linear(tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Straight lines, constant beyond the outermost points, with the band that the network starts from."""
    def answer(t, y, at):
        seen = look(t, y, at, torch.zeros_like(y))
        return seen.line, seen.unit**2

    return _of_each_count(answer, tokens)


def _of_each_count(answer: Callable, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances (n, 24) of answer(t, y, at), asked of all series with as many points at once."""
    mean, variance = (torch.empty(len(tokens), ASKED, dtype=torch.float64) for _ in range(2))
    t, y = tokens.positions[..., 0], tokens.values[..., 0].double()
    count = tokens.real[:, : SEEN[1]].sum(1)
    for n in count.unique().tolist():
        rows = count == n
        mean[rows], variance[rows] = answer(t[rows, :n], y[rows, :n], t[rows, SEEN[1] :])
    return mean.numpy(), variance.numpy()


RIVALS = {"best": best, "gp": gp, "linear": linear}

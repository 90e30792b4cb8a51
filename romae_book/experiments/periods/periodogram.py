"""A periodogram that can be trained, in front of a model that rotates: it finds the period, attention uses it."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from romae_lite.masking import Split, take
from romae_lite.tokens import Tokens

from .data import CYCLES


def phase_axis(times: Tensor, cycles: Tensor, window: float) -> Tensor:
    """The phase of a sine as one more axis: times (B, N, 1), cycles (B,) in the window -> (B, N, 2).

    The fastest pair of that axis turns once in every cycle: two readings a whole number of cycles apart have the same
    angle, however far apart they are.
    """
    return torch.cat((times, 2 * torch.pi / window * cycles[:, None, None] * times), dim=-1)


class Periodogram(nn.Module):
    """How many cycles a series has, from what is seen of it.

    At each of its frequencies a sine and a cosine are fitted by least squares. The share of the readings' energy that
    the fit explains is the power of Lomb (1976) and Scargle (1982). A frequency that is not quite right leaves a
    residual that grows with time, so each also says how far the true one lies from it, by a step of Gauss and Newton.
    The answer is the mean over frequencies, weighted by a softmax of their powers. What is learnt: the frequencies, and
    how sharp the softmax is.
    """

    def __init__(self, frequencies: int, window: float):
        super().__init__()
        self.window = window
        low, high = CYCLES  # and a little beyond, since training moves the outermost ones inwards
        self.cycles = nn.Parameter(torch.linspace(low - 1, high + 5, frequencies))  # (K,) in the window
        self.sharpness = nn.Parameter(torch.tensor(20.0))

    def forward(self, times: Tensor, values: Tensor) -> Tensor:
        """times, values (B, V) of the readings -> cycles in the window (B,)."""
        power, apart = self.spectrum(times, values)
        weights = (self.sharpness * power).softmax(-1)  # (B, K)
        return (weights * (self.cycles + apart)).sum(-1)

    def spectrum(self, times: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Power, from 0 to 1, and how many cycles the true frequency lies apart: (B, K) each."""
        times = ((times - times.mean(1, keepdim=True)) / self.window).float()  # (B, V), from about -0.5 to 0.5
        turns = 2 * torch.pi * times[..., None] * self.cycles  # (B, V, K)
        cos, sin, y = turns.cos(), turns.sin(), values[..., None]
        cc, cs, ss, yc, ys = ((a * b).sum(1) for a, b in ((cos, cos), (cos, sin), (sin, sin), (y, cos), (y, sin)))
        rest = cc * ss - cs * cs
        a, b = (ss * yc - cs * ys) / rest, (cc * ys - cs * yc) / rest  # (B, K) of the cosine, of the sine
        power = (a * yc + b * ys) / y.square().sum(1)
        left = y - a[:, None] * cos - b[:, None] * sin  # (B, V, K)
        slope = 2 * torch.pi * times[..., None] * (b[:, None] * cos - a[:, None] * sin)  # of the fit, by its cycles
        apart = (left * slope).sum(1) / slope.square().sum(1)
        return power, apart.clamp(-1, 1)


class Told(nn.Module):
    """A model of two axes that is told, beside the times, the phase at the frequency that the periodogram finds."""

    def __init__(self, model: nn.Module, periodogram: Periodogram):
        super().__init__()
        self.model, self.periodogram = model, periodogram

    @property
    def config(self):
        return self.model.config

    def forward(self, tokens: Tokens, where: Split) -> Tensor:
        times, values = (take(x[..., 0], where.visible) for x in (tokens.positions, tokens.values))
        told = phase_axis(tokens.positions, self.periodogram(times, values), self.periodogram.window)
        return self.model(replace(tokens, positions=told), where)

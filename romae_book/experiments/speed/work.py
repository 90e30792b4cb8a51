"""What is raced: training steps and forward passes on made-up tokens, in the shapes of the paper's data sets."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from romae_lite.masking import hide, split, take
from romae_lite.model import RoMAE, reconstruction_loss
from romae_lite.tokens import Tokens

IMAGE = dict(n=196, patch=768, axes=2, ratio=0.75)  # 224 x 224 x 3 in patches of 16 x 16 (the paper's appendix B.2)
SERIES = dict(n=75, patch=2, axes=1, ratio=0.6)  # the paper's spirals
CURVES = dict(patch=2, axes=2)  # flux and its error, at band and time

# Rows of a stay in PhysioNet 2012: the least, the 5th, 25th, 50th, 75th and 95th percentile and the most of the first
# 1500 records of its set a. Between them lengths are interpolated.
STAYS = ((0, 0.05, 0.25, 0.5, 0.75, 0.95, 1), (2, 46, 59, 71, 87, 115, 203))


def images(batch: int) -> Tokens:
    """One batch of noise on a grid of 14 x 14 patches."""
    side = torch.arange(14.0, dtype=torch.float64)
    grid = torch.stack(torch.meshgrid(side, side, indexing="ij"), dim=-1).flatten(0, 1)  # (196, 2)
    return Tokens(values=_noise(batch, 196, 768), positions=grid.expand(batch, -1, -1))


def series(batch: int, n: int = 75, axes: int = 1, lengths: Tensor | None = None) -> Tokens:
    """Noise at random times: (batch, n, 2); with lengths (batch,) only so many tokens of each sample are real."""
    g = torch.Generator().manual_seed(1)
    positions = (100 * torch.rand(batch, n, axes, dtype=torch.float64, generator=g)).sort(dim=1).values
    pad = None if lengths is None else torch.arange(n) >= lengths[:, None]
    return Tokens(values=_noise(batch, n, 2), positions=positions, pad=pad)


def lengths(kind: str, count: int) -> Tensor:
    """(count,) numbers of tokens. "stays": as PhysioNet's rows are; "curves": long-tailed as light curves are, a
    lognormal with median 40 of which a third lies beyond a factor of 2.5, from 5 to 400; "equal": all 75."""
    g = torch.Generator().manual_seed(2)
    if kind == "equal":
        return torch.full((count,), 75)
    if kind == "stays":
        share, at = (torch.tensor(row, dtype=torch.float64) for row in STAYS)
        u = torch.rand(count, dtype=torch.float64, generator=g)
        i = torch.searchsorted(share, u).clamp(1, len(share) - 1)
        part = (u - share[i - 1]) / (share[i] - share[i - 1])
        return (at[i - 1] + part * (at[i] - at[i - 1])).round().long()
    return (40 * 2.5 ** torch.randn(count, generator=g)).round().long().clamp(5, 400)


def _noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@dataclass
class Training:
    """Steps of pre-training on one batch, all that a step has to do: mask, forward, backward, clip, optimiser."""

    model: nn.Module  # whose weights are trained
    tokens: Tokens
    ratio: float
    form: Callable[[nn.Module], nn.Module] = lambda model: model  # how it is computed

    def __post_init__(self):
        self.model = copy.deepcopy(self.model).train()
        self.run = self.form(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, fused=True)
        self.generator = torch.Generator().manual_seed(0)
        self.device = next(self.model.parameters()).device

    def batch(self):
        """Mask and batch, sent to the device."""
        hidden = hide(self.tokens.real, ratio=self.ratio, generator=self.generator)
        return self.tokens.to(self.device), split(hidden, self.tokens.real).to(self.device)

    def forward(self) -> Tensor:
        with torch.no_grad():
            return self.run(*self.batch())

    def step(self) -> Tensor:
        batch, where = self.batch()
        loss = reconstruction_loss(self.run(batch, where), take(batch.values, where.hidden), where.hidden_pad)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def products(model: RoMAE, visible: int, hidden: int) -> float:
    """Floating point operations of the matrix products of one sample's forward pass.

    Two for each factor, attention's included; a step takes three times as many.
    """
    config = model.config
    encoder, decoder, cls = config.encoder, config.decoder, int(config.cls)
    total = 0.0
    for size, n in ((encoder, visible + cls), (decoder, visible + cls + hidden)):
        weights = 4 * size.dim**2 + 2 * size.dim * size.ff
        total += size.depth * (2 * n * weights + 4 * n * n * size.dim)
    total += 2 * (visible + cls) * encoder.dim * decoder.dim
    return total + 2 * config.patch * (visible * encoder.dim + hidden * decoder.dim)

"""Who else can fill in a wave: the best possible predictor, and attention that gets time differences as a bias."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from romae_lite.model import Attention, RoMAE
from romae_lite.rope import frequencies
from romae_lite.tokens import Tokens

from .data import NOISE, PERIODS, curve


def best(tokens: Tokens) -> np.ndarray:
    """The mean of the curve given the readings, under the very prior that made it: (n, N), by a sum over a fine grid of
    periods and phases."""
    period, phase = np.meshgrid(np.linspace(*PERIODS, 161), np.linspace(0, 1, 96, endpoint=False), indexing="ij")
    period, phase = period.ravel(), phase.ravel()
    found = []
    for times, values, hidden in zip(
        tokens.positions[..., 0].numpy(), tokens.values[..., 0].double().numpy(), tokens.aux["hidden"].numpy(),
        strict=True,
    ):
        waves = curve(times[:, None], period, phase)  # (N, 161 x 96)
        log = -0.5 * np.square(values[~hidden, None] - waves[~hidden]).sum(0) / NOISE**2
        weight = np.exp(log - log.max())
        found.append(waves @ weight / weight.sum())
    return np.stack(found)


class Bias(nn.Module):
    """Attention that does not rotate: each head adds a learned function of the time difference to its scores.

    The function is a sum of sines and cosines of the difference, at the speeds at which RoPE would turn, and starts at
    zero. It sees no more of the times than RoPE does, and so does not notice a shift either.
    """

    def __init__(self, attention: Attention, base: float):
        super().__init__()
        self.qkv, self.out, self.heads = attention.qkv, attention.out, attention.heads
        dim = self.out.in_features // self.heads
        self.register_buffer("speeds", frequencies(dim, 1.0, base).float(), persistent=False)
        self.bias = nn.Linear(dim, self.heads, bias=False)  # sines and cosines of dim / 2 speeds
        nn.init.zeros_(self.bias.weight)

    def forward(self, x: Tensor, times: Tensor, pad: Tensor | None, record=None) -> Tensor:
        """x (B, N, E); times (B, N, 1), where `Attention` gets its rotation; pad (B, N) or None."""
        q, k, v = self.qkv(x).unflatten(-1, (3 * self.heads, -1)).transpose(1, 2).chunk(3, dim=1)  # (B, H, N, dim)
        turns = (times - times.mT).float()[..., None] * self.speeds  # (B, N, N, dim / 2)
        bias = self.bias(torch.cat((turns.cos(), turns.sin()), dim=-1)).permute(0, 3, 1, 2)  # (B, H, N, N)
        if pad is not None:
            bias = bias.masked_fill(pad[:, None, None, :], -torch.inf)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.out(out.transpose(1, 2).flatten(2))


class Times:
    """In place of a `PositionEncoding`: hands the times themselves to every block."""

    def embedding(self, positions: Tensor, dim: int) -> None:
        return None

    def rotation(self, positions: Tensor, head_dim: int) -> Tensor:
        return positions


def with_bias(model: RoMAE, base: float) -> RoMAE:
    """The model with `Bias` for attention, in place."""
    for stack in (model.encoder.stack, model.decoder):
        stack.encoding = Times()
        for block in stack.blocks:
            block.attention = Bias(block.attention, base)
    return model

"""Continuous axial p-RoPE: frequencies -> angles -> rotate, three pure functions (paper Sec. 3.1 and 4).

RoPE turns pairs of channels of queries and keys by an angle proportional to the token's position, so that the score of
two tokens depends on the difference of their positions only. Nothing in it asks positions to be integers: here they are
real numbers, on any number of axes (time; row and column; band and time ...).

    channels of one head, 2 axes, head_dim 8:      | first halves  | second halves |
                                              x =  [ a0 a1  b0 b1    a2 a3  b2 b3 ]     a: axis 0, b: axis 1
    pairs that turn together:                      (a0,a2) (a1,a3) (b0,b2) (b1,b3)

All axes' first halves stand beside all axes' second halves, so one rotation serves any number of axes. The authors'
layout ([a0 a1 a2 a3 b0 b1 b2 b3]) is the same up to a fixed permutation of channels, which the projections learn.

Shapes: B batch, N tokens, D axes, H heads, F_axis pairs of channels on an axis.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .checks import choice, number, shapes, tensor, whole


def frequencies(dim: int, p: float = 0.75, base: float = 10_000.0, device=None) -> Tensor:
    """Radians per unit of position for each of the ``dim / 2`` pairs of one axis, float64, shape (dim / 2,).

    Pair i turns base^(-2i / dim) radians per unit: the first turns one radian, the last hardly moves. p-RoPE (Barbero
    et al., 2025) keeps the fraction ``p`` of *largest* frequencies and sets the others to zero, which leaves those
    channels free of position (deviation D1: the paper's sentence says smallest, its code keeps the largest).

    Raises ValueError where dim is not a positive even number, p is outside [0, 1] or base is not above 1.
    """
    whole("dim", dim, 2)
    if dim % 2:
        raise ValueError(f"dim is {dim}; every axis needs an even, positive number of channels")
    number("p", p, lambda v: 0 <= v <= 1, "lie in [0, 1]: the fraction of pairs that turn")
    number("base", base, lambda v: v > 1, "be greater than 1")
    pair = torch.arange(dim // 2, dtype=_wide(device), device=device)
    return torch.where(pair < turning_pairs(dim, p), base ** (-2 * pair / dim), 0.0)


def turning_pairs(dim: int, p: float) -> int:
    """How many of an axis' ``dim / 2`` pairs p-RoPE turns."""
    return int(p * dim / 2 + 1e-9)  # 0.7 * 180 / 2 is 62.99999999999999 in floating point


def angles(positions: Tensor, freqs: Tensor) -> Tensor:
    """Angle of every pair at every position, in [0, 2 pi), float32, shape (B, N, D * F_axis).

    positions (B, N, D), freqs (F_axis,). The product is formed and reduced modulo 2 pi in float64 and only then cast:
    in float32 alone the score of two tokens drifts by up to 6e-4 at positions around 1e4 and 0.2 around 1e6 (D13).
    Devices without float64 (Apple's MPS) fall back to float32 and so to that drift.
    """
    positions, freqs = tensor("positions", positions), tensor("freqs", freqs)
    shapes(positions.ndim == 3 and freqs.ndim == 1, "be (B, N, D) and (F_axis,)", positions=positions, freqs=freqs)
    wide = _wide(positions.device)
    turns = positions.to(wide)[..., None] * freqs.to(positions.device, wide)  # (B, N, D, F_axis)
    return turns.remainder(2 * math.pi).flatten(-2).float()  # (B, N, D * F_axis)


def _wide(device) -> torch.dtype:
    return torch.float32 if torch.device(device or "cpu").type == "mps" else torch.float64


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair of channels of x by its angle.

    x (B, N, heads, head_dim); cos, sin (B, N, 1, head_dim / 2). Runs in float32, returns the dtype it was given.

        x: [x0 x1 | x2 x3]  ->  [x0 cos - x2 sin, x1 cos - x3 sin | x2 cos + x0 sin, x3 cos + x1 sin]
    """
    x, cos, sin = tensor("x", x), tensor("cos", cos), tensor("sin", sin)
    fits = cos.shape == sin.shape and 0 < cos.ndim <= x.ndim and 2 * cos.shape[-1] == x.shape[-1]
    fits &= all(c in (1, n) for c, n in zip(cos.shape[-2::-1], x.shape[-2::-1], strict=False)) and x.is_floating_point()
    shapes(fits, "be real, (B, N, heads, head_dim) and twice (B, N, 1, head_dim / 2)", x=x, cos=cos, sin=sin)
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).type_as(x)


@dataclass(frozen=True, kw_only=True)
class PositionEncoding:
    """How a stack of blocks gets to know positions. Two hooks; a variant fills one, both (mixed) or neither (none):

    * ``rotation(positions, head_dim)`` -> (cos, sin) for `rotate`, or None: applied to queries and keys of every layer;
    * ``embedding(positions, dim)`` -> (B, N, dim) to be added to the tokens once, or None.

    kind: "rope" (continuous), "quantised" (positions rounded to whole numbers, what RoPE on a grid does), "absolute"
    (sines and cosines of the position added to the tokens, at the same real positions in encoder and decoder), "mixed"
    (the last axis turns, sines and cosines of the others are added: for a band and a time, say), "none".
    """

    kind: str = "rope"
    p: float = 0.75
    base: float = 10_000.0

    KINDS = ("rope", "quantised", "absolute", "mixed", "none")

    def __post_init__(self):
        choice("kind of encoding", self.kind, self.KINDS)
        frequencies(2, self.p, self.base)  # validates p and base

    def rotation(self, positions: Tensor, head_dim: int) -> tuple[Tensor, Tensor] | None:
        """positions (B, N, D) -> cos and sin, each (B, N, 1, head_dim / 2), float32."""
        if not (turned := self.rotation_axes(positions.shape[-1])):
            return None
        positions = positions[..., -turned:]
        if self.kind == "quantised":
            positions = positions.round()
        phase = self._phase(positions, head_dim, self.p)
        return phase.cos()[:, :, None], phase.sin()[:, :, None]

    def embedding(self, positions: Tensor, dim: int) -> Tensor | None:
        """positions (B, N, D) -> (B, N, dim), float32: sines of all axes, then their cosines (Vaswani et al., 2017)."""
        if not (added := self.embedding_axes(positions.shape[-1])):
            return None
        phase = self._phase(positions[..., :added], dim, 1.0)
        return torch.cat((phase.sin(), phase.cos()), dim=-1)

    def rotation_axes(self, axes: int) -> int:
        """How many axes of a position turn queries and keys, the last ones."""
        return {"rope": axes, "quantised": axes, "mixed": 1}.get(self.kind, 0)

    def embedding_axes(self, axes: int) -> int:
        """How many axes of a position are added to the tokens, the first ones."""
        return {"absolute": axes, "mixed": axes - 1}.get(self.kind, 0)

    def _phase(self, positions: Tensor, dim: int, p: float) -> Tensor:
        return angles(positions, frequencies(self.axis_dim(dim, positions), p, self.base, positions.device))

    @staticmethod
    def axis_dim(dim: int, positions: Tensor) -> int:
        """Channels per axis; ValueError where the channels cannot be shared out in pairs."""
        axes = positions.shape[-1]
        if dim % (2 * axes):
            raise ValueError(f"{dim} channels cannot hold pairs for {axes} axes: need a multiple of {2 * axes}")
        return dim // axes

"""Continuous axial p-RoPE: frequencies -> angles -> rotate (paper Sec. 3.1 and 4).

RoPE turns pairs of channels of queries and keys by an angle proportional to the token's
position, so that the score of two tokens depends on the difference of their positions
only. Positions are real numbers, on any number of axes (time; row and column ...).

    one head, 2 axes, head_dim 8:     | first halves  | second halves |
                                 x =  [ a0 a1  b0 b1    a2 a3  b2 b3 ]   a, b: the axes
    pairs that turn together:         (a0,a2) (a1,a3) (b0,b2) (b1,b3)

All axes' first halves stand beside all axes' second halves, so one rotation serves any
number of axes. The authors' layout ([a0 a1 a2 a3 b0 b1 b2 b3]) is the same up to a
fixed permutation of channels, which the projections learn.

Shapes: B batch, N tokens, D axes, F_axis pairs of channels on an axis.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .checks import number, one_of, shapes, tensor, whole


def frequencies(
    dim: int, p: float = 0.75, base: float = 10_000.0, device=None
) -> Tensor:
    """Radians per unit of position, of an axis' pairs: float64, (dim / 2,).

    Pair i turns base^(-2i / dim) radians per unit: the first turns one radian, the last
    hardly moves. p-RoPE (Barbero et al., 2025) keeps the fraction p of *largest*
    frequencies and sets the others to zero, which leaves those channels free of
    position (deviation D1: the paper's sentence says smallest, its code keeps the
    largest).
    """
    whole("dim", dim, 2)
    if dim % 2:
        raise ValueError(f"dim is {dim}; every axis needs an even number of channels")
    number("p", p, lambda v: 0 <= v <= 1, "lie in [0, 1], a fraction of the pairs")
    number("base", base, lambda v: v > 1, "be greater than 1")
    pair = torch.arange(dim // 2, dtype=_wide(device), device=device)
    return torch.where(pair < turning_pairs(dim, p), base ** (-2 * pair / dim), 0.0)


def turning_pairs(dim: int, p: float) -> int:
    """Count the pairs of an axis, of dim / 2, that p-RoPE turns."""
    return int(p * dim / 2 + 1e-9)  # 0.7 * 180 / 2 is 62.99999999999999


def angles(positions: Tensor, freqs: Tensor) -> Tensor:
    """Angle of every pair at every position, in [0, 2 pi), float32, (B, N, D * F_axis).

    positions (B, N, D), freqs (F_axis,). The product is formed and reduced modulo 2 pi
    in float64 and only then cast: in float32 alone the score of two tokens drifts by up
    to 6e-4 at positions around 1e4 and 0.2 around 1e6 (D13). Devices without float64
    (Apple's MPS) fall back to float32 and so to that drift.
    """
    positions, freqs = tensor("positions", positions), tensor("freqs", freqs)
    fits = positions.ndim == 3 and freqs.ndim == 1
    shapes(fits, "be (B, N, D) and (F_axis,)", positions=positions, freqs=freqs)
    wide = _wide(positions.device)
    freqs = freqs.to(positions.device, wide)
    turns = positions.to(wide)[..., None] * freqs  # (B, N, D, F_axis)
    return turns.remainder(2 * math.pi).flatten(-2).float()  # (B, N, D * F_axis)


def _wide(device) -> torch.dtype:
    mps = torch.device(device or "cpu").type == "mps"
    return torch.float32 if mps else torch.float64


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair of channels of x by its angle.

    x (B, N, heads, head_dim); cos, sin (B, N, 1, head_dim / 2). Runs in float32,
    returns the dtype it was given.

        x: [x0 x1 | x2 x3]
        -> [x0 cos - x2 sin, x1 cos - x3 sin | x2 cos + x0 sin, x3 cos + x1 sin]
    """
    x, cos, sin = tensor("x", x), tensor("cos", cos), tensor("sin", sin)
    fits = cos.shape == sin.shape and 0 < cos.ndim <= x.ndim and x.is_floating_point()
    sizes = zip(cos.shape[-2::-1], x.shape[-2::-1], strict=False)
    fits = fits and 2 * cos.shape[-1] == x.shape[-1]
    fits = fits and all(c in (1, n) for c, n in sizes)
    want = "be real, (B, N, heads, head_dim) and twice (B, N, 1, head_dim / 2)"
    shapes(fits, want, x=x, cos=cos, sin=sin)
    first, second = x.float().chunk(2, dim=-1)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1).type_as(x)


@dataclass(frozen=True, kw_only=True)
class PositionEncoding:
    """How positions enter attention: by turning queries and keys, or added to tokens.

    Parameters
    ----------
    kind : {"rope", "quantised", "absolute", "none"}
        "rope": continuous. "quantised": positions rounded to whole numbers, what RoPE
        on a grid does. "absolute": sines and cosines of the position are added to the
        tokens, at the same real positions in encoder and decoder.
    p : float
        Share of the pairs that turn, of p-RoPE (Sec. 3.1.1).
    base : float
        Base of the frequencies; pair i of an axis turns base^(-2i / dim) radians per
        unit.
    """

    kind: str = "rope"
    p: float = 0.75
    base: float = 10_000.0

    KINDS = ("rope", "quantised", "absolute", "none")

    def __post_init__(self):
        one_of(*self.KINDS)("kind of encoding", self.kind)
        frequencies(2, self.p, self.base)  # checks p and base

    def rotation(
        self, positions: Tensor, head_dim: int
    ) -> tuple[Tensor, Tensor] | None:
        """positions (B, N, D) -> cos, sin (B, N, 1, head_dim / 2), float32, or None."""
        if self.kind not in ("rope", "quantised"):
            return None
        if self.kind == "quantised":
            positions = positions.round()
        phase = self._phase(positions, head_dim, self.p)
        return phase.cos()[:, :, None], phase.sin()[:, :, None]

    def embedding(self, positions: Tensor, dim: int) -> Tensor | None:
        """positions (B, N, D) -> (B, N, dim), float32, or None.

        Sines of all axes, then their cosines (Vaswani et al., 2017).
        """
        if self.kind != "absolute":
            return None
        phase = self._phase(positions, dim, 1.0)
        return torch.cat((phase.sin(), phase.cos()), dim=-1)

    def _phase(self, positions: Tensor, dim: int, p: float) -> Tensor:
        dim = axis_dim("head_dim or dim", dim, positions.shape[-1])
        return angles(positions, frequencies(dim, p, self.base, positions.device))

    def check_stack(self, name: str, dim: int, head_dim: int, axes: int) -> None:
        """Raise ValueError where channels cannot hold positions of so many axes."""
        if self.kind == "absolute":
            axis_dim(f"dim of the {name}", dim, axes)
        if self.kind not in ("rope", "quantised"):
            return
        pairs = axis_dim(f"head_dim of the {name}", head_dim, axes) // 2
        if self.p > 0 and not turning_pairs(2 * pairs, self.p):
            raise ValueError(
                f"p is {self.p}, so that none of the {pairs} pair(s) of an axis turns "
                f"in a head of the {name}; it must be at least {1 / pairs:g} here, or 0"
            )


def axis_dim(name: str, dim: int, axes: int) -> int:
    """Channels per axis; ValueError where they cannot be shared out in pairs."""
    if dim % (2 * axes):
        raise ValueError(f"{name} is {dim}; {axes} axes need a multiple of {2 * axes}")
    return dim // axes

"""What the page of `forward_pass` computes, again in Python."""

import math

from romae_book.explorables.autoencoder.forward_pass import DECODER, Stage, block_multiplications
from romae_lite.model import SIZES, ModelConfig, Size


def hidden_tokens(tokens: int, ratio: float) -> int:
    """How many of so many tokens `masking.hide` hides: ceil(ratio * tokens), at least one, not all."""
    return min(max(math.ceil(ratio * tokens - 1e-9), 1), tokens - 1)


def block_weights(size: Size) -> int:
    """Queries, keys, values, output; up and down; two norms: 4 E^2 + 2 E ff + 2 E."""
    return 4 * size.dim**2 + 2 * size.dim * size.ff + 2 * size.dim


def stages(config: ModelConfig, batch: int, tokens: int, ratio: float) -> list[Stage]:
    """The steps of `RoMAE.forward` for a batch without padding, and of its loss."""
    B, N, P, D, cls = batch, tokens, config.patch, config.axes, int(config.cls)
    enc, dec = config.encoder, config.decoder
    M = hidden_tokens(N, ratio)
    V, S = N - M, N - M + cls  # visible; what the encoder sees
    T = S + M  # what the decoder sees
    steps = [
        Stage("tokens", {"values": (B, N, P), "positions": (B, N, D)}),
        Stage("hide, split", {"visible": (B, V), "hidden": (B, M)}),
        Stage("take", {"values": (B, V, P), "positions": (B, V, D)}),
        Stage("embed", {"x": (B, V, enc.dim)}, P * enc.dim + enc.dim, B * V * P * enc.dim),
    ]
    if cls:
        steps.append(Stage("[CLS]", {"x": (B, S, enc.dim), "positions": (B, S, D)}, enc.dim))
    steps += [
        _stack("encoder", enc, B, S),
        Stage("project", {"x": (B, S, dec.dim)}, enc.dim * dec.dim + dec.dim, B * S * enc.dim * dec.dim),
        Stage("mask tokens", {"x": (B, T, dec.dim), "positions": (B, T, D)}, dec.dim),
        _stack("decoder", dec, B, T),
        Stage("keep the hidden", {"x": (B, M, dec.dim)}),
        Stage("head", {"prediction": (B, M, P)}, dec.dim + dec.dim * P + P, B * M * dec.dim * P),
        Stage("loss", {"target": (B, M, P), "loss": ()}),
    ]
    return steps


def _stack(name: str, size: Size, batch: int, n: int) -> Stage:
    shapes = {
        "cos, sin": (batch, n, 1, size.head_dim // 2),
        "attention": (batch, size.heads, n, n),
        "x": (batch, n, size.dim),
    }
    cost = batch * size.depth * block_multiplications(size, n)
    return Stage(name, shapes, size.depth * block_weights(size), cost)


def config(size: str = "tiny", patch: int = 2, axes: int = 1, cls: bool = True) -> ModelConfig:
    return ModelConfig(patch=patch, axes=axes, encoder=SIZES[size], decoder=SIZES[DECODER], cls=cls)

"""One forward pass through RoMAE, step by step: the shape of every tensor, the weights and the multiplications.

Needs no data: shapes follow from the settings. The functions below say it in Python, for the chapter and for the tests,
which hold them to what a real forward pass records and to PyTorch's own counter of operations.
"""

import math
from pathlib import Path
from typing import NamedTuple

from romae_lite.model import SIZES, ModelConfig, Size

from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure

SCRIPT = Path(__file__).with_suffix(".js")
EXAMPLES = {  # what the reader can start from: settings of `explorable`
    "spirals (Table 19)": dict(tokens=75, patch=2, axes=1, ratio=0.6, size="tiny", cls=False, batch=32),
    "a picture of 20 x 20 pixels": dict(tokens=25, patch=16, axes=2, ratio=0.75, size="tiny", cls=True, batch=16),
    "Tiny ImageNet (Table 10)": dict(tokens=196, patch=768, axes=2, ratio=0.75, size="small", cls=True, batch=1024),
}
DECODER = "tiny-shallow"


class Stage(NamedTuple):
    """One step: its tensors by name, its weights, and its multiplications for the whole batch."""

    name: str
    tensors: dict[str, tuple[int, ...]]
    weights: int = 0
    multiplications: int = 0


def hidden_tokens(tokens: int, ratio: float) -> int:
    """How many of so many tokens `masking.hide` hides: ceil(ratio * tokens), at least one, not all."""
    return min(max(math.ceil(ratio * tokens - 1e-9), 1), tokens - 1)


def block_weights(size: Size) -> int:
    """Queries, keys, values, output; up and down; two norms: 4 E^2 + 2 E ff + 2 E."""
    return 4 * size.dim**2 + 2 * size.dim * size.ff + 2 * size.dim


def block_multiplications(size: Size, n: int) -> int:
    """Of one block with n tokens: what every token costs, and what every pair of tokens costs (scores and averages).
    Norms, rotations and softmax are not counted."""
    return n * (4 * size.dim**2 + 2 * size.dim * size.ff) + 2 * n**2 * size.dim


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


def still(steps: list[Stage]) -> str:
    widest, body = steps[0].tensors["values"][1] + 1, ""
    for i, step in enumerate(steps):
        y, (name, shape) = 30 + 26 * i, list(step.tensors.items())[0]
        n = shape[1]
        body += svg.label(20, y, step.name, font_weight=600)
        body += svg.tag("rect", x=150, y=y - 13, width=260 * n / widest, height=16, rx=3, fill=PALETTE["blue"][0],
                        fill_opacity=0.55)
        body += svg.label(430, y, f"{name} {shape}")
    return svg.picture(640, 30 + 26 * len(steps), body)


@figure("forward_pass")
def explorable(example: str = "spirals (Table 19)") -> Explorable:
    """The figure as it opens; ValueError for an example that is none."""
    if example not in EXAMPLES:
        raise ValueError(f"example is {example!r}; choose one of {', '.join(EXAMPLES)}")
    start = EXAMPLES[example]
    shape = config(start["size"], start["patch"], start["axes"], start["cls"])
    return Explorable(
        name="forward_pass",
        script=SCRIPT,
        needs=("romae",),
        data={
            "example": example, "examples": EXAMPLES, "decoder": DECODER,
            "sizes": {name: dict(vars(SIZES[name])) for name in ("tiny-shallow", "tiny", "small", "base")},
        },
        fallback=still(stages(shape, start["batch"], start["tokens"], start["ratio"])),
        title="One forward pass, shape by shape",
        caption="One row is one step; every square is a token of one sample, as far as they fit. Step with the arrow "
        "keys, or click a row. Multiplications are those of matrix products, for the whole batch.",
    )

"""One forward pass through RoMAE, step by step: the shape of every tensor, the weights and the multiplications.

Needs no data: shapes follow from the settings. The functions below say it in Python, for the chapter and for the tests,
which hold them to what a real forward pass records and to PyTorch's own counter of operations.
"""

from typing import NamedTuple

from romae_lite.model import SIZES, Size

from ..explorable import Explorable, figure

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


def block_multiplications(size: Size, n: int) -> int:
    """Of one block with n tokens: what every token costs, and what every pair of tokens costs (scores and averages).
    Norms, rotations and softmax are not counted."""
    return n * (4 * size.dim**2 + 2 * size.dim * size.ff) + 2 * n**2 * size.dim


@figure("forward_pass")
def explorable(example: str = "spirals (Table 19)") -> Explorable:
    """The figure as it opens; ValueError for an example that is none."""
    if example not in EXAMPLES:
        raise ValueError(f"example is {example!r}; choose one of {', '.join(EXAMPLES)}")
    return Explorable(
        name="forward_pass",
        needs=("romae",),
        data={
            "example": example, "examples": EXAMPLES, "decoder": DECODER,
            "sizes": {name: dict(vars(SIZES[name])) for name in ("tiny-shallow", "tiny", "small", "base")},
        },
        title="One forward pass, shape by shape",
        caption="One row is one step; every square is a token of one sample, as far as they fit. Step with the arrow "
        "keys, or click a row. Multiplications are those of matrix products, for the whole batch.",
    )

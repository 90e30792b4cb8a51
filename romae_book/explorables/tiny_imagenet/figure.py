"""The masked picture: hide patches with pointer or finger, and see what a small model paints there.

The model travels with the figure, its weights in half precision, and the page runs it. It was trained on drawn pictures
and knows no photographs.
"""

from collections.abc import Sequence

import torch

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens

from ...experiments.tiny_imagenet.experiment import DEVIATION, MEAN, TinyImageNet
from ..explorable import Explorable, figure
from ..weights import packed


def source(exp: TinyImageNet, model: RoMAE, tokens: Tokens, names: Sequence[str]) -> dict:
    """What the page needs: the model, and drawn pictures as 8-bit numbers, patch by patch. tokens: of `exp`, with a
    name for each. ValueError where the model paints no pixels, or positions are no grid."""
    if exp.targets != "pixels" or exp.encoding != "rope":
        raise ValueError(f"targets is {exp.targets!r}, encoding {exp.encoding!r}; the page needs 'pixels' and 'rope'")
    if len(names) != len(tokens):
        raise ValueError(f"names has {len(names)} entries for {len(tokens)} pictures")
    shown = exp.shown(tokens, torch.device("cpu"), "test")
    level = shown.values.view(*shown.values.shape[:2], -1, 3) * torch.tensor(DEVIATION) + torch.tensor(MEAN)
    pixels = (255 * level).round().clamp(0, 255).int().flatten(2)  # (n, N, P)
    return {
        "model": packed(model), "grid": exp.grid, "side": exp.patch_side, "mean": MEAN, "deviation": DEVIATION,
        "positions": exp.positions().tolist(),
        "pictures": [{"name": name, "pixels": p.tolist()} for name, p in zip(names, pixels, strict=True)],
    }


def first_mask(data: dict) -> list[int]:
    """The patches that are hidden when the figure opens: every other one, so that stripes go on at both their sides."""
    n = data["grid"]
    return [i for i in range(n * n) if (i // n + i % n) % 2]


@figure("masked_picture")
def explorable(data: dict, note: str = "") -> Explorable:
    """The figure of a `source`; note: where the model comes from."""
    return Explorable(
        name="masked_picture",
        needs=("romae",),
        data=data | {"hidden": first_mask(data)},
        height=300,
        title="Paint over a picture",
        caption="Draw over the first picture with pointer or finger to hide patches, or to bring them back (with the "
        "keyboard: arrows and space). The model runs in this page on what is left; its weights came along. The "
        f"pictures are drawn ones, and so are those that it learnt from. {note}".rstrip(),
    )

"""The masked picture: hide patches with pointer or finger, and see what a small model paints there.

The model travels with the figure, its weights in half precision, and the page runs it. It was trained on drawn pictures
and knows no photographs.
"""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens, unpatchify

from ...experiments.tiny_imagenet.experiment import DEVIATION, MEAN, TinyImageNet
from .. import svg
from ..explorable import Explorable, figure
from ..weights import packed, predicted

SCRIPT = Path(__file__).with_suffix(".js")


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


def painted(data: dict, picture: int, hidden: Sequence[int]) -> tuple[np.ndarray, float, float]:
    """What the page computes: pixels (N, P) from 0 to 1, with the hidden patches as the model paints them; the mean
    squared error there, and that of `blended`."""
    pixels = np.array(data["pictures"][picture]["pixels"]) / 255
    repeat = pixels.shape[1] // 3
    mean, deviation = (np.tile(data[name], repeat) for name in ("mean", "deviation"))
    out, gone = pixels.copy(), sorted(hidden)
    found = predicted(data["model"], (pixels - mean) / deviation, np.array(data["positions"]), gone)
    out[gone] = (found * deviation + mean).clip(0, 1)
    error = np.mean((out[gone] - pixels[gone]) ** 2)
    return out, float(error), float(np.mean((blended(data, pixels, gone) - pixels[gone]) ** 2))


def blended(data: dict, pixels: np.ndarray, gone: Sequence[int]) -> np.ndarray:
    """A painter without a model: the mean colours of the visible patches, weighed by one over the squared distance.
    (M, P)."""
    positions, seen = np.array(data["positions"]), np.setdiff1d(np.arange(len(pixels)), gone)
    weight = 1 / np.square(positions[gone, None] - positions[None, seen]).sum(-1)  # (M, V)
    colour = pixels[seen].reshape(len(seen), -1, 3).mean(1)  # (V, 3)
    return np.tile(weight @ colour / weight.sum(1, keepdims=True), pixels.shape[1] // 3)


def first_mask(data: dict, share: float = 0.75) -> list[int]:
    """The patches that are hidden when the figure opens."""
    n = data["grid"] ** 2
    return sorted(sorted(range(n), key=lambda i: (i + 1) * 0.6180339887 % 1)[: round(share * n)])


def still(data: dict) -> str:
    """The opening view: a picture, what is left of it, what the model paints."""
    hidden, side, grid = first_mask(data), data["side"], data["grid"]
    whole = np.array(data["pictures"][0]["pixels"]) / 255
    left = whole.copy()
    left[hidden] = 0.86
    body = ""
    for k, (words, pixels) in enumerate((
        ("what the encoder gets", left), ("what RoMAE paints", painted(data, 0, hidden)[0]), ("the original", whole),
    )):
        square = unpatchify(torch.from_numpy(pixels)[None], (side, side), (grid * side, grid * side))[0]
        packed_, size = io.BytesIO(), 192
        Image.fromarray((255 * square.numpy()).round().astype(np.uint8)).resize((size, size), 0).save(packed_, "PNG")
        address = "data:image/png;base64," + base64.b64encode(packed_.getvalue()).decode()
        body += svg.label(16 + 212 * k, 24, words)
        body += svg.tag("image", x=16 + 212 * k, y=34, width=size, height=size, href=address)
    return svg.picture(650, 240, body)


@figure("masked_picture")
def explorable(data: dict, note: str = "") -> Explorable:
    """The figure of a `source`; note: where the model comes from."""
    return Explorable(
        name="masked_picture",
        script=SCRIPT,
        needs=("romae",),
        data=data | {"hidden": first_mask(data)},
        fallback=still(data),
        height=300,
        title="Paint over a picture",
        caption="Draw over the first picture with pointer or finger to hide patches, or to bring them back (with the "
        "keyboard: arrows and space). The model runs in this page on what is left; its weights came along. The "
        f"pictures are drawn ones, and so are those that it learnt from. {note}".rstrip(),
    )

"""Two small data sets to learn masking on (chapter 02): digits in many typefaces, and pulsating stars.

One is a signal on a grid that everybody can judge by eye, the other a series at irregular times. Neither is downloaded:
the typefaces come with matplotlib, the light curves from a formula.
"""

import math
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from romae_lite.tokens import Tokens, patchify

TYPEFACES = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "cmss10")
SIZE = 20  # pixels along each side
PATCH = 4


@cache
def glyphs(typefaces: tuple[str, ...] = TYPEFACES) -> Tensor:
    """The ten digits in each typeface, (typefaces, 10, 48, 48) in [0, 1], each centred and as high as the others.
    ValueError for a typeface that matplotlib does not bring, and for none."""
    if not typefaces:
        raise ValueError(f"typefaces is {typefaces!r}; name at least one, such as {TYPEFACES[0]}")
    folder, out = Path(matplotlib.get_data_path()) / "fonts" / "ttf", torch.zeros(len(typefaces), 10, 48, 48)
    for i, name in enumerate(typefaces):
        if not (folder / f"{name}.ttf").exists():
            raise ValueError(f"typeface is {name!r}; matplotlib brings {', '.join(TYPEFACES)} and others")
        font = ImageFont.truetype(folder / f"{name}.ttf", 160)
        for digit in range(10):
            canvas = Image.new("L", (320, 320))
            ImageDraw.Draw(canvas).text((80, 60), str(digit), fill=255, font=font)
            cut = canvas.crop(canvas.getbbox())
            width = max(1, round(cut.width * 36 / cut.height))
            cut = np.asarray(cut.resize((min(width, 48), 36), Image.Resampling.BOX), np.float32) / 255
            left = (48 - cut.shape[1]) // 2
            out[i, digit, 6:42, left : left + cut.shape[1]] = torch.from_numpy(cut)
    return out


def digits(n: int, rng: np.random.Generator, typefaces: tuple[str, ...] = TYPEFACES) -> tuple[Tensor, Tensor]:
    """n printed digits, each turned, slanted, stretched and moved a little.

    Returns pictures (n, 20, 20, 1), brightness from 0 to 1, and the digits (n,). ValueError for n < 1.
    """
    if n < 1:
        raise ValueError(f"n is {n}; draw at least one digit")
    shapes = glyphs(typefaces)
    which, digit = rng.integers(len(typefaces), size=n), rng.integers(10, size=n)
    turn, slant = rng.normal(0, 0.08, n), rng.normal(0, 0.08, n)
    stretch, move = rng.uniform(0.9, 1.1, (n, 2)), rng.uniform(-0.06, 0.06, (n, 2))
    cos, sin = np.cos(turn), np.sin(turn)
    rows = np.stack((np.stack((cos, slant - sin, move[:, 0]), -1), np.stack((sin, cos, move[:, 1]), -1)), 1)
    rows[:, :, :2] *= stretch[:, None]  # (n, 2, 3): from a point of the picture to a point of the glyph
    source = shapes[which, digit][:, None]  # (n, 1, 48, 48)
    where = F.affine_grid(torch.from_numpy(rows).float(), (n, 1, 2 * SIZE, 2 * SIZE), align_corners=False)
    fine = F.grid_sample(source, where, align_corners=False)  # (n, 1, 40, 40)
    return F.avg_pool2d(fine, 2).permute(0, 2, 3, 1), torch.from_numpy(digit)  # (n, 20, 20, 1)


def digit_tokens(n: int, rng: np.random.Generator, typefaces: tuple[str, ...] = TYPEFACES) -> Tokens:
    """Digits in patches of 4 x 4 pixels: values (n, 25, 16), positions (n, 25, 2); aux: digit (n,)."""
    pictures, digit = digits(n, rng, typefaces)
    values, positions = patchify(pictures, (PATCH, PATCH))
    return Tokens(values=values, positions=positions, aux={"digit": digit})


def stars(n: int, rng: np.random.Generator, points: int = 40, noise: float = 0.1) -> Tokens:
    """Brightness of n pulsating stars, each seen at irregular times of its own.

    A star brightens quickly and fades slowly, over and over, with a period of 8 to 20 units of time; it is seen
    ``points`` times over as many units, at times drawn uniformly.

    Tokens: values (n, points, 1) with Gaussian noise, positions (n, points, 1) sorted times; aux: clean (n, points, 1),
    and curve (n, 161, 2), the true brightness at 161 times for drawing. ValueError for n < 1, points < 2 or a negative
    noise.
    """
    if not 0 <= noise < math.inf:
        raise ValueError(f"noise is {noise}; a standard deviation is finite and not negative")
    if n < 1 or points < 2:
        raise ValueError(f"n is {n}, points {points}; a set needs one star, a star two points")
    time = np.sort(rng.uniform(0, points, (n, points)), axis=1)
    period, amplitude, phase = rng.uniform(8, 20, n), rng.uniform(0.6, 1.2, n), rng.uniform(0, 1, n)
    star = period[:, None], amplitude[:, None], phase[:, None]
    clean = light_curve(time, *star)
    values = clean + rng.normal(0, noise, clean.shape)
    often = np.broadcast_to(np.linspace(0, points, 161), (n, 161))
    named = {"clean": clean[..., None], "curve": np.stack((often, light_curve(often, *star)), -1)}
    return Tokens(
        values=torch.from_numpy(values)[..., None].float(),
        positions=torch.from_numpy(time)[..., None],
        aux={name: torch.from_numpy(value) for name, value in named.items()},
    )


def light_curve(time: np.ndarray, period, amplitude, phase) -> np.ndarray:
    """Three harmonics of a smooth sawtooth: a steep rise, a slow decline, mean zero."""
    angle = 2 * math.pi * (time / period + phase)
    return amplitude * sum(0.6 ** (k - 1) / k * np.sin(k * angle) for k in (1, 2, 3))

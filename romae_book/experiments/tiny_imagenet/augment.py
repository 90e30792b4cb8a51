"""RandAugment (Cubuk et al., 2020) with the operations and strengths of torchvision's, which the authors' script takes.

torchvision has no build without CUDA on PyPI; the pictures here are changed by Pillow, which it works with as well.
"""

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor


def moved(picture: Image.Image, *matrix: float) -> Image.Image:
    """A pixel (x, y) of the result is the one at (a x + b y + c, d x + e y + f); black from outside."""
    return picture.transform(picture.size, Image.Transform.AFFINE, matrix)


# picture, m: strength from 0 to 1, s: sign -> picture
OPERATIONS = {
    "identity": lambda p, m, s: p,
    "shear x": lambda p, m, s: moved(p, 1, s * 0.3 * m, 0, 0, 1, 0),
    "shear y": lambda p, m, s: moved(p, 1, 0, 0, s * 0.3 * m, 1, 0),
    "translate x": lambda p, m, s: moved(p, 1, 0, s * int(150 / 331 * p.width * m), 0, 1, 0),
    "translate y": lambda p, m, s: moved(p, 1, 0, 0, 0, 1, s * int(150 / 331 * p.height * m)),
    "rotate": lambda p, m, s: p.rotate(s * 30 * m),
    "brightness": lambda p, m, s: ImageEnhance.Brightness(p).enhance(1 + s * 0.9 * m),
    "colour": lambda p, m, s: ImageEnhance.Color(p).enhance(1 + s * 0.9 * m),
    "contrast": lambda p, m, s: ImageEnhance.Contrast(p).enhance(1 + s * 0.9 * m),
    "sharpness": lambda p, m, s: ImageEnhance.Sharpness(p).enhance(1 + s * 0.9 * m),
    "posterize": lambda p, m, s: ImageOps.posterize(p, 8 - round(4 * m)),
    "solarize": lambda p, m, s: ImageOps.solarize(p, 255 * (1 - m)),
    "autocontrast": lambda p, m, s: ImageOps.autocontrast(p),
    "equalize": lambda p, m, s: ImageOps.equalize(p),
}


def randaugment(image: Tensor, operations: int, magnitude: int) -> Tensor:
    """Pictures (B, H, W, 3) uint8, each after so many operations of a magnitude of 30: (B, H, W, 3) uint8. Operations
    and signs are drawn for each picture with PyTorch's global generator, which training seeds for every step."""
    drawn, changed = torch.randint(len(OPERATIONS), (len(image), operations)).tolist(), []
    signs = (2 * torch.randint(2, (len(image), operations)) - 1).tolist()
    every = tuple(OPERATIONS.values())
    for pixels, numbers, ways in zip(image.numpy(), drawn, signs, strict=True):
        picture = Image.fromarray(pixels)
        for number, sign in zip(numbers, ways, strict=True):
            picture = every[number](picture, magnitude / 30, sign)
        changed.append(np.asarray(picture))
    return torch.from_numpy(np.stack(changed))

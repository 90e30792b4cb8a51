"""Classifying small photographs (paper Sec. 5.2, D.1; Table 2; chapter 11).

A patch of a picture is a token at (row, column). Pre-training hides patches and has them painted; fine-tuning names the
class of the picture. Compared are RoPE and absolute positions, and reading the class from [CLS] or from the mean of all
patches.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from romae_lite.masking import hide, split, take
from romae_lite.model import RoMAE, device_of, reconstruction_loss
from romae_lite.tokens import Tokens, patchify, to_device
from romae_lite.training import seeded_build

from ..base import Experiment, Splits, numpy_rng, setting
from ..classification import Classification, normalised_loss
from . import data as pictures
from . import rivals
from .absolute import AuthorsAbsolute
from .data import SHAPES, SIDE, DataError

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's pixels, as everybody uses them
ASKED = (32, 48, 64, 80, 96, 128)  # pixels along a side at which `arrays` asks, for pictures of 64
SOME = 1000  # test pictures that are asked about at other resolutions


@dataclass(frozen=True, kw_only=True)
class TinyImageNet(Classification):
    """Classifying Tiny ImageNet (Table 2, chapter 11). The defaults are Table 10, with [CLS] and RoPE.

    Warm-up: 2000 steps of pre-training's 19,600, and 500 of fine-tuning's 1470.
    """

    name = "tiny_imagenet"
    chapter = 11
    tiers = Experiment.tiers | {"small": "reduced"}
    variants = frozenset({"encoding", "pool", "cls"})  # the rows of Table 2
    shaping = frozenset({"encoding"})  # the authors' absolute positions are numbers in the sequence
    campaign = (
        ("small", 3),
        ("small", 3, {"pool": "mean", "cls": False}),
        ("small", 3, {"encoding": "absolute"}),
        ("small", 3, {"encoding": "absolute", "absolute": "grid"}),
        ("small", 3, {"pool": "mean"}),
        ("small", 3, {"pretrain_epochs": 0}),
        ("small", 3, {"position_scale": 8.0}),
        ("small", 3, {"position_scale": 0.125}),
        ("paper", 1),
        ("paper", 1, {"pool": "mean", "cls": False}),
        ("paper", 1, {"encoding": "absolute"}),
    )
    deviations = ("D1", "D2", "D3", "D4", "D5", "D6", "D11", "D12", "D13", "D43", "D47", "D48")

    epochs: int = setting(15, "passes over the training set in fine-tuning", low=1)
    batch: int = setting(1024, "pictures per step", low=1)
    lr: float = setting(1e-3, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(500 / 1470, "share of the steps that warm up: 500 of 1470", low=0, high=1)
    weight_decay: float = setting(0.05, "weight decay, decoupled, except for sgd", low=0)
    smoothing: float = setting(0.1, "label smoothing; the paper's c is one minus this", low=0, high=0.99)
    encoder: str = setting("small", "size of the encoder")
    pretrain_epochs: int = setting(200, "passes over the training set before fine-tuning; 0: none", low=0)
    pretrain_batch: int = setting(1024, "pictures per step", low=1)
    pretrain_lr: float = setting(2e-4, "peak learning rate", low=1e-12, high=10)
    pretrain_warmup_share: float = setting(2000 / 19_600, "share of the steps that warm up", low=0, high=1)

    source: str = setting("real", "photographs, or drawn pictures", choices=("real", "simulated"))
    n_classes: int = setting(200, "classes, the first ones in the order of the set; it has 200", low=2)
    per_class: int = setting(500, "training pictures of each class, its first ones; the set has 500", low=2)
    valid_per_class: int = setting(
        0, "of these the last ones, to choose settings on; 0: none, and `valid` is up to 200 training pictures", low=0
    )
    n_test: int | None = setting(None, "test on so many pictures; None: all (drawn: 1000)", low=20)
    side: int = setting(224, "pixels along a side that pictures are resized to; they have 64", low=8, high=1024)
    patch_side: int = setting(16, "pixels along a side of a patch", low=1, high=256)
    position_scale: float = setting(
        1.0, "factor on positions, which count patches; patch_side times it counts pixels, patch_side / side of it the "
        "share of the picture", low=1e-6, high=1e6,
    )
    absolute: str = setting(
        "authors", "absolute positions: numbers in the sequence, as in the authors' code (D47), or rows and columns, "
        "the same in encoder and decoder", choices=("authors", "grid"),
    )
    targets: str = setting(
        "patch", "what pre-training paints: patches by their own mean and deviation, or pixels as they are",
        choices=("patch", "pixels"),
    )
    augment: int = setting(2, "operations of RandAugment in fine-tuning; 0: none", low=0, high=15)
    magnitude: int = setting(9, "of these operations, of 30", low=1, high=29)
    seen_share: float = setting(1.0, "share of its patches that fine-tuning shows of a picture", low=0.05, high=1)

    def __post_init__(self):
        super().__post_init__()
        if self.side % self.patch_side:
            raise ValueError(f"side is {self.side}; it must be a multiple of patch_side, {self.patch_side}")
        if self.side == self.patch_side:
            raise ValueError(f"side is {self.side}, as patch_side is; hiding patches takes two at least")
        real = self.source == "real"
        for name, most in (
            ("n_classes", pictures.CLASSES if real else len(SHAPES)),
            ("per_class", pictures.PER_CLASS if real else 10_000),
        ):
            if getattr(self, name) > most:
                raise ValueError(f"{name} is {getattr(self, name)}; with source {self.source!r} there are {most}")
        if self.valid_per_class >= self.per_class:
            raise ValueError(f"valid_per_class is {self.valid_per_class}; it must be below per_class, {self.per_class}")

    @classmethod
    def paper(cls) -> "TinyImageNet":
        """Table 10 on the whole training set. The paper took 5 h on two V100."""
        return cls()

    @classmethod
    def small(cls) -> "TinyImageNet":
        """300 training pictures of each class, as they are: 64 x 64, in patches of 8. A small model, for a CPU."""
        return cls(
            per_class=300, valid_per_class=10, side=64, patch_side=8, encoder="64x2x3x256", decoder="64x2x1x256",
            augment=0, seen_share=0.5, optimizer="muon", lr=5e-3, batch=64, epochs=6, warmup_share=0.1,
            pretrain_optimizer="muon", pretrain_lr=5e-3, pretrain_batch=64, pretrain_epochs=3,
            pretrain_warmup_share=0.1, init="torch", dropout_at="head",
        )

    @classmethod
    def quick(cls) -> "TinyImageNet":
        """`small` on few drawn pictures: seconds, and no result."""
        return cls.small().replace(
            source="simulated", n_classes=10, per_class=120, n_test=300, batch=32, epochs=12, pretrain_batch=32,
            pretrain_epochs=5,
        )

    # Data -----------------------------------------------------------------------------------------------------------

    @property
    def classes(self) -> int:
        return self.n_classes

    @property
    def patch(self) -> int:
        return 3 * self.patch_side**2

    @property
    def axes(self) -> int:
        return 1 if self.numbered else 2

    @property
    def numbered(self) -> bool:
        """Whether positions are numbers in a sequence."""
        return self.encoding == "absolute" and self.absolute == "authors"

    @property
    def grid(self) -> int:
        """Patches along a side."""
        return self.side // self.patch_side

    def pixels(self, seed: int, path: Path | str | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """(pixels (n, 64, 64, 3) uint8, classes (n,)) to learn from, to validate and to test on.

        Drawn: independent streams. Real: the first `per_class` of every class, and `val`'s pictures of these classes,
        all of them or `n_test` drawn once. DataError where there are fewer, NotHere where there are none.
        """
        kept = self.per_class - self.valid_per_class
        if self.source == "simulated":
            counts = kept * self.classes, self.valid_per_class * self.classes, self.n_test or 1000
            return [
                pictures.simulated(n, numpy_rng(seed, 20 + i), classes=self.classes) if n else None
                for i, n in enumerate(counts)
            ]
        found = pictures.load(path)
        if found.per_class < self.per_class:
            raise DataError(
                f"per_class is {self.per_class}, and {found.train.origin} holds {found.about()}; lower per_class, or "
                "fetch the whole set"
            )
        if self.per_class == pictures.PER_CLASS:  # the whole set, by which a run of the paper's protocol is judged
            found.verify()
        train, label = found.train, found.train.label
        rank = np.arange(len(label)) - np.searchsorted(label, label)  # within its class: both are in order
        chosen = label < self.classes
        rows = [
            np.flatnonzero(chosen & (rank < kept)),
            np.flatnonzero(chosen & (rank >= kept) & (rank < self.per_class)),
        ]
        test = numpy_rng(0, 23).permutation(np.flatnonzero(found.test.label < self.classes))  # the same for every seed
        test = test[: self.n_test]
        parts = [(train, rows[0]), (train, rows[1]), (found.test, test)]
        return [(p.pixels(r), p.label[r].astype(np.int64)) if len(r) else None for p, r in parts]

    def data(self, seed: int, path: Path | str | None = None) -> Splits:
        train, valid, test = self.pixels(seed, path)
        if valid is None:
            n, shown = len(train[0]), min(len(train[0]), 200)
            some = np.arange(shown) * n // shown
            valid = train[0][some], train[1][some]
        return Splits(*(self.tokens(*part) for part in (train, valid, test)))

    def tokens(self, pixels: np.ndarray, label: np.ndarray) -> Tokens:
        """Pictures as 8-bit numbers, aux["image"] (n, 64, 64, 3); `shown` makes values of them, batch by batch. Until
        then these are zeros, one for a patch. aux["label"] (n,)."""
        positions = self.positions()
        return Tokens(
            values=torch.zeros(len(pixels), len(positions), 1),
            positions=positions.expand(len(pixels), -1, -1),
            aux={"image": torch.from_numpy(pixels), "label": torch.from_numpy(label)},
        )

    def positions(self) -> Tensor:
        """(N, D) float64: row and column of every patch, in patches times `position_scale`;
        for the authors' absolute encoding its number in the sequence, from 1."""
        if self.numbered:
            return torch.arange(1, self.grid**2 + 1, dtype=torch.float64)[:, None]
        row = torch.arange(self.grid, dtype=torch.float64) * self.position_scale
        return torch.cartesian_prod(row, row)

    def shown(self, batch: Tokens, device: torch.device, stage: str) -> Tokens:
        """Pixels as standardised values: (B, N, 3 * patch_side ** 2). In fine-tuning
        augmented first, and thinned out. Tokens that have values already stay as they
        are."""
        if "image" not in batch.aux:
            return batch.to(device)
        image = batch.aux["image"]  # (B, 64, 64, 3) uint8
        if stage == "fine-tune" and self.augment:
            from .augment import randaugment  # takes Pillow

            image = randaugment(image, self.augment, self.magnitude)
        values = self.patches(to_device(image, device), self.side)
        batch = replace(batch, aux={"label": batch.aux["label"]})
        if stage == "fine-tune" and self.seen_share < 1:
            count = max(1, round(self.seen_share * values.shape[1]))
            index = torch.rand(values.shape[:2]).argsort(1)[:, :count]  # (B, count)
            batch = replace(
                batch,
                values=take(batch.values, index),
                positions=take(batch.positions, index),
            )
            values = take(values, to_device(index, device))
        return batch.to(device).with_values(standardised(values))

    def patches(self, image: Tensor, side: int, cut: int = 0) -> Tensor:
        """Pictures (B, H, W, 3) as patches (B, N, 3 * patch_side ** 2): resized to so many
        pixels along a side, with `cut` pixels cut off at the top and on the left, and at
        the bottom and on the right as many as then make no whole patch."""
        if side != image.shape[1]:
            image = image.permute(0, 3, 1, 2).float()  # (B, 3, H, W)
            image = F.interpolate(
                image, (side, side), mode="bilinear", antialias=True, align_corners=False
            )
            image = image.permute(0, 2, 3, 1)
        stop = side - (side - cut) % self.patch_side
        square = (self.patch_side, self.patch_side)
        return patchify(image[:, cut:stop, cut:stop], square)[0]

    def at(
        self, tokens: Tokens, side: int, *, cut: int = 0, counted: bool = False
    ) -> Tokens:
        """The same pictures at another resolution, or cut off the grid: with values
        (n, N', P).

        side     pixels along a side; a patch keeps its pixels, and so covers more of the
                 picture, or less
        cut      pixels to leave away at the top and on the left
        counted  positions that count patches from 0, as an encoding for grids has it.
                 Otherwise patches are where they are in the picture, in the units of
                 training: no whole numbers, in general

        For the authors' absolute encoding, positions are numbers in the sequence in any
        case.
        """
        values = standardised(self.patches(tokens.aux["image"].cpu(), side, cut))
        grid = round(values.shape[1] ** 0.5)
        where = torch.arange(grid, dtype=torch.float64)
        if self.numbered:
            positions = torch.arange(1, grid**2 + 1, dtype=torch.float64)[:, None]
        else:
            if not counted:  # centres in pixels, then in patches of training's resolution
                centre = cut + self.patch_side * (where + 0.5)
                where = centre * self.side / side / self.patch_side - 0.5
            positions = torch.cartesian_prod(where, where) * self.position_scale
        positions = positions.expand(len(tokens), -1, -1)
        label = tokens.aux["label"].cpu()
        return Tokens(values=values, positions=positions, aux={"label": label})

    # Model and loss -------------------------------------------------------------------------------------------------

    def autoencoder(self, seed: int) -> RoMAE:
        kind = AuthorsAbsolute if self.numbered else RoMAE
        return seeded_build(seed, lambda: kind(self.model_config(init="torch")))

    def pretrain_loss(
        self, model: nn.Module, batch: Tokens, generator: torch.Generator
    ) -> Tensor:
        """Mean squared error of hidden patches, each by its own mean and deviation where
        `targets` says so."""
        hidden = hide(batch.real, ratio=self.mask_ratio, generator=generator)
        where, device = split(hidden, batch.real), device_of(model)
        batch, where = self.shown(batch, device, "pretrain"), where.to(device)
        loss = normalised_loss if self.targets == "patch" else reconstruction_loss
        return loss(model(batch, where), take(batch.values, where.hidden), None)

    # Metrics --------------------------------------------------------------------------------------------------------

    def training_set(self) -> int:
        return self.classes * (self.per_class - self.valid_per_class)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """f1_macro first, which is what Table 2 gives; accuracy."""
        found = super().evaluate(model, tokens)
        return {"f1_macro": found["f1_macro"], "accuracy": found["accuracy"]}

    def accuracy(self, model: nn.Module, tokens: Tokens) -> float:
        return self.score(self.logits(model, tokens), tokens.aux["label"].long().cpu())["accuracy"]

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """Of up to 1000 test pictures: accuracy_some, as they are; accuracy_off_grid, half a patch cut off at each
        side; accuracy_coarser and accuracy_finer, at three quarters of the resolution and at three halves; and all
        three with positions counted from 0: accuracy_off_grid_counted and so on."""
        test = data.test[: min(SOME, len(data.test))]
        asked = {"off_grid": (self.side, self.patch_side // 2)}
        for name, part in (("coarser", 0.75), ("finer", 1.5)):
            asked[name] = round(part * self.grid) * self.patch_side, 0
        found = {"accuracy_some": self.accuracy(model, test)}
        for name, (side, cut) in asked.items():
            for counted in (False, True):
                key = f"accuracy_{name}" + "_counted" * counted
                found[key] = self.accuracy(model, self.at(test, side, cut=cut, counted=counted))
        return found

    def compare(self, data: Splits) -> dict[str, float]:
        """accuracy_chance, and where scikit-image and scikit-learn are installed f1_macro_gradients and
        accuracy_gradients: a linear classifier on histograms of gradients, from the same training pictures."""
        label = data.test.aux["label"].cpu()
        found = {"accuracy_chance": 1 / self.classes}
        if find_spec("skimage") and find_spec("sklearn"):
            train, test = (part.aux["image"].cpu().numpy() for part in (data.train, data.test))
            guess = rivals.gradients(train, data.train.aux["label"].cpu().numpy(), test)
            score = self.score(F.one_hot(torch.from_numpy(guess), self.classes), label)
            found |= {f"{key}_gradients": score[key] for key in ("f1_macro", "accuracy")}
        return found

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """side (S,) pixels along a side; accuracy_at and accuracy_at_counted (S,), of up to 1000 test pictures at that
        resolution, patches where they are and counted from 0. Of few classes also confusion (K, K)."""
        test = data.test[: min(SOME, len(data.test))]
        sides = sorted({round(s / SIDE * self.grid) * self.patch_side for s in ASKED} - {0})
        curves = {
            name: np.array([self.accuracy(model, self.at(test, side, counted=counted)) for side in sides])
            for name, counted in (("accuracy_at", False), ("accuracy_at_counted", True))
        }
        kept: dict[str, Any] = super().arrays(model, data)
        if self.classes > 50:
            kept.pop("confusion")
        return kept | {"side": np.array(sides)} | curves


def standardised(values: Tensor) -> Tensor:
    """Patches (B, N, 3 * p ** 2) of levels from 0 to 255, colour by colour with
    ImageNet's mean and deviation."""
    deviation = torch.tensor(DEVIATION)
    colours = (1 / (255 * deviation), -torch.tensor(MEAN) / deviation)
    pixels = values.shape[-1] // 3
    scale, shift = (to_device(t, values.device).repeat(pixels) for t in colours)  # (P,)
    return torch.addcmul(shift, values.float(), scale)

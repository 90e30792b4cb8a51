"""Telling what flashed: light curves in six bands (paper Sec. 5.4, D.6; Table 4 and Table 18; chapter 10).

Every visit is a token, (flux difference, its error), at (band, time). The data are 1.8 million light curves of the
ELAsTiCC challenge in 20 classes; a few made-up ones let the code run without them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.batching import by_length
from romae_lite.tokens import Tokens

from ..base import Splits, numpy_rng, setting
from ..classification import Classification
from . import data as sky

SIMULATED_SIZES = (600, 60, 300)  # light curves to train, validate and test on


REAL = 1_460_000  # light curves of the first training set, about


@dataclass(frozen=True, kw_only=True)
class ELAsTiCC(Classification):
    """Classifying light curves of ELAsTiCC (Table 4, chapter 10). The defaults are Table 18.

    Warm-up: 2000 steps of both stages, as in the authors' code; on 1.46 million training light curves.
    """

    name = "elasticc"
    chapter = 10
    patch = 2
    axes = 2  # band and time
    variants = frozenset({"encoder", "alert_mask"})  # the rows and columns of Table 4
    campaign = (
        ("paper", 1, {"encoder": "tiny-shallow"}),
        ("paper", 1),
        ("paper", 1, {"encoder": "tiny-shallow", "alert_mask": True}),
        ("paper", 1, {"alert_mask": True}),
    )
    deviations = (
        "D1", "D2", "D3", "D4", "D5", "D6", "D11", "D12", "D13", "D31", "D32", "D33", "D34", "D40", "D41", "D42", "D43",
    )
    free = dict.fromkeys(("D41", "D42"), lambda record, metric: record.config.get("dropout_at") == "attention")

    epochs: int = setting(25, "passes over the training set in fine-tuning", low=1)
    batch: int = setting(4096, "light curves per step", low=1)
    lr: float = setting(8e-4, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(2000 / 8925, "share of the steps that warm up: 2000 of 8925", low=0, high=1)
    weight_decay: float = setting(0.05, "weight decay, decoupled, except for sgd", low=0)
    clip: float | None = setting(10.0, "largest gradient norm, or None", low=1e-12)
    balanced: bool = setting(True, "weight the loss of a class by the inverse of its share of the training set")
    dropout: float = setting(0.2, "dropout in fine-tuning", low=0, high=0.95)
    drop_path: float = setting(0.2, "stochastic depth of the last block in fine-tuning", low=0, high=0.95)
    pretrain_epochs: int = setting(200, "passes over the training set before fine-tuning; 0: none", low=0)
    pretrain_batch: int = setting(16_384, "light curves per step", low=1)
    pretrain_lr: float = setting(6.4e-3, "peak learning rate", low=1e-12, high=10)
    pretrain_warmup_share: float = setting(2000 / 18_000, "share of the steps that warm up", low=0, high=1)
    pretrain_clip: float | None = setting(10.0, "largest gradient norm, or None", low=1e-12)

    source: str = setting("real", "the challenge's light curves, or made-up ones", choices=("real", "simulated"))
    alert_mask: bool = setting(False, "keep only what alerts have shown: from 30 days before the first (D34)")
    partition: str = setting(
        "given", "ATAT's split, as the paper's, or one that the script has drawn: no outcome then",
        choices=("given", "drawn"),
    )
    fold: int = setting(0, "which of the five training sets (the authors trained on the first)", low=0, high=4)
    n_train: int | None = setting(None, "train on so many light curves; None: all (simulated: 600)", low=20)
    n_test: int | None = setting(None, "test on so many light curves; None: all (simulated: 300)", low=20)
    origin: str = setting(
        "first", "time 0: the calendar's (MJD), the first visit's or the first detection's (D33)",
        choices=("mjd", "first", "detection"),
    )
    position_scale: float = setting(1.0, "factor on the times: 1 counts days", low=1e-6, high=1e6)
    scaling: str = setting("none", "of fluxes: none (the paper), or asinh", choices=("none", "asinh"))
    spread: str = setting("error", "what comes with a flux (D32)", choices=("error", "variance"))
    per_band: int = setting(65, "visits kept in each band, evenly chosen (D32)", low=2)

    @classmethod
    def paper(cls) -> "ELAsTiCC":
        """Table 18 on the real data. The paper took 4 h on 16 A100."""
        return cls()

    @classmethod
    def quick(cls) -> "ELAsTiCC":
        """A small model on a few made-up light curves: seconds, to see that the code runs."""
        return cls(
            source="simulated", encoder="64x2x3x128", decoder="64x2x1x128", scaling="asinh", origin="detection",
            optimizer="muon", lr=8e-3, batch=32, epochs=5, warmup_share=0.1, clip=1.0, dropout=0.0, drop_path=0.0,
            pretrain_optimizer="muon", pretrain_lr=5e-3, pretrain_batch=64, pretrain_epochs=1,
            pretrain_warmup_share=0.1, pretrain_clip=1.0, init="torch", dropout_at="head",
        )

    # Data -----------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The classes, in the order of their numbers."""
        return sky.SIMULATED_CLASSES if self.source == "simulated" else sky.CLASSES

    @property
    def classes(self) -> int:
        return len(self.names)

    def curves(self, seed: int, path: Path | str | None = None) -> list[sky.LightCurves]:
        """The light curves to train, validate and test on, with all their visits.

        Simulated: three independent streams. Real: a fold's training set, every 64th light curve of its validation set
        (as the authors), and the test set, 1000 of each class.
        """
        wanted = (self.n_train, None, self.n_test)
        if self.source == "simulated":
            sizes = (n or default for n, default in zip(wanted, SIMULATED_SIZES, strict=True))
            return [sky.simulated(n, numpy_rng(seed, i)) for i, n in enumerate(sizes)]
        curves, splits = sky.load(path, self.partition)
        rows = (splits[f"training_{self.fold}"], splits[f"validation_{self.fold}"][::64], splits["test"])
        return [
            curves.take(part if n is None else numpy_rng(seed, i).permutation(part)[:n])
            for i, (part, n) in enumerate(zip(rows, wanted, strict=True))
        ]

    def tokens(self, whole: sky.LightCurves, least: int = 1) -> Tokens:
        """Light curves as the model gets them, those with at least so many visits."""
        curves = sky.alert_window(whole) if self.alert_mask else whole
        curves = sky.thinned(curves, self.per_band)
        some = np.flatnonzero(curves.count >= least)
        return sky.tokens(
            curves.take(some),
            whole=whole.take(some),
            origin=self.origin,
            scale=self.position_scale,
            scaling=self.scaling,
            spread=self.spread,
        )

    def data(self, seed: int, path: Path | str | None = None) -> Splits:
        train, valid, test = self.curves(seed, path)
        return Splits(self.tokens(train, least=2), self.tokens(valid), self.tokens(test))  # to hide one takes two

    # Training -------------------------------------------------------------------------------------------------------

    def order(self, train: Tokens, batch: int, generator: torch.Generator) -> Tensor:
        """Batches of light curves of like length."""
        return by_length(train.real.sum(1), batch, generator)

    # Metrics --------------------------------------------------------------------------------------------------------

    def training_set(self) -> int:
        """Of the real light curves about, of made-up ones exactly (those with two visits, which all of them have)."""
        return self.n_train or (REAL if self.source == "real" else SIMULATED_SIZES[0])

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """f1_macro first, which is what Table 4 gives; accuracy; f1 of each class, as f1_<name>."""
        return self.report(self.logits(model, tokens).argmax(1), tokens.aux["label"].cpu())

    def report(self, predicted: Tensor, label: Tensor) -> dict[str, float]:
        """Metrics of predicted classes (n,), those that `evaluate` names."""
        one_hot = nn.functional.one_hot(predicted, self.classes)
        score, count = self.score(one_hot, label), self.confusion(one_hot, label).double()
        f1 = 2 * count.diag() / (count.sum(0) + count.sum(1)).clamp(min=1)
        found = {"f1_macro": score["f1_macro"], "accuracy": score["accuracy"]}
        return found | {f"f1_{self.names[k]}": float(f1[k]) for k in torch.where(count.sum(1) > 0)[0]}

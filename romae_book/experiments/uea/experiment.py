"""Classifying multivariate series with 30 % of their steps missing (paper Sec. 5.4, D.3; Table 6; chapter 09).

A step with all its channels is a token, at the step's number. The model is pre-trained on the training series without
their classes, then fine-tuned with them.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import nn

from romae_lite.model import RoMAE, RoMAEPredictor
from romae_lite.tokens import Tokens
from romae_lite.training import fork_rng, mix_seed, seeded

from ..base import Splits, numpy_rng, setting
from ..classification import Classification, stratified
from . import data as archive
from . import rivals as predictors
from .arrays import compared, recorded
from .data import SETS, NotHere, Series

# What depends on the set: the paper's settings of fine-tuning (Table 12, its c as smoothing = 1 - c), and ours.
FOLLOWS = ("lr", "batch", "epochs", "clip", "dropout", "drop_path", "smoothing", "pretrain_epochs", "scale")
ROWS = {
    "paper": {
        "BasicMotions": (1e-2, 8, 50, 1.0, 0.0, 0.0, 0.0, 400, "none"),
        "CharacterTrajectories": (8e-3, 16, 100, 1.0, 0.0, 0.0, 0.1, 400, "none"),
        "Epilepsy": (2e-3, 16, 150, 1.0, 0.2, 0.2, 0.2, 400, "none"),
        "Heartbeat": (2e-2, 32, 30, 2.0, 0.0, 0.0, 0.0, 400, "none"),
        "LSST": (3e-2, 16, 15, 10.0, 0.2, 0.2, 0.1, 400, "none"),
    },
    "ours": {
        "BasicMotions": (2e-3, 8, 40, 1.0, 0.1, 0.1, 0.1, 100, "channel"),
        "CharacterTrajectories": (2e-3, 16, 15, 1.0, 0.1, 0.1, 0.1, 15, "channel"),
        "Epilepsy": (2e-3, 16, 40, 1.0, 0.1, 0.1, 0.1, 50, "channel"),
        "Heartbeat": (2e-3, 16, 10, 1.0, 0.1, 0.1, 0.1, 20, "channel"),
        "LSST": (2e-3, 32, 25, 1.0, 0.1, 0.1, 0.1, 20, "asinh"),
    },
}


@dataclass(frozen=True, kw_only=True)
class UEA(Classification):
    """Classifying series of the UEA archive with 30 % of the steps missing (Table 6, chapter 09)."""

    name = "uea"
    chapter = 9
    variants = frozenset({"dataset"})
    campaign = (
        ("paper", 3, {"dataset": "BasicMotions"}),
        ("best", 5, {"dataset": "Epilepsy"}),
        ("best", 5, {"dataset": "LSST"}),
        ("best", 3, {"dataset": "CharacterTrajectories"}),
        ("best", 3, {"dataset": "BasicMotions"}),
        ("best", 5, {"dataset": "Heartbeat", "folds": 5}),
        ("best", 5, {"dataset": "Epilepsy", "pretrain_epochs": 0}),
        ("best", 5, {"dataset": "Epilepsy", "embedding": "fresh"}),
        ("best", 3, {"dataset": "CharacterTrajectories", "padding": "zeros"}),
        ("best", 5, {"dataset": "LSST", "embedding": "fresh"}),
        ("best", 5, {"dataset": "LSST", "pretrain_epochs": 0}),
        ("paper", 3, {"dataset": "Epilepsy"}),
        ("paper", 3, {"dataset": "LSST"}),  # an hour of a free CPU core each, and up to five, from here on
        ("paper", 3, {"dataset": "CharacterTrajectories"}),
        ("paper", 5, {"dataset": "Heartbeat", "folds": 5}),
    )
    meanings = {
        "accuracy_train_mode": "scored with dropout at work, as the authors' script does (D27)",
        "f1_macro": "mean of the classes' F-scores, each class alike",
        "accuracy_majority": "of always naming the commonest class",
        "accuracy_trees": "of boosted trees on eight statistics of every channel of the same dropped series",
        "accuracy_times": "of boosted trees on the times alone, without any value",
        "accuracy_minirocket": "of MiniRocket with a linear classifier on the same dropped series",
    }
    deviations = (
        "D1", "D2", "D3", "D4", "D5", "D6", "D11", "D12", "D13", "D26", "D27", "D28", "D29", "D30", "D36", "D41", "D42",
        "D43", "D46",
    )
    free = {
        "D27": lambda record, metric: metric.endswith("_train_mode"),
        "D36": lambda record, metric: record.precision == "fp32",
        "D41": lambda record, metric: record.config.get("dropout_at") == "attention",
        "D42": lambda record, metric: record.config.get("dropout_at") == "attention",
    }

    # FOLLOWS: None stands for the set's own, which is what they are once the experiment is made
    epochs: int | None = setting(None, "passes over the training set", low=1)
    batch: int | None = setting(None, "series per step", low=1)
    lr: float | None = setting(None, "peak learning rate", low=1e-12, high=10)
    clip: float | None = setting(None, "largest gradient norm", low=1e-12)
    dropout: float | None = setting(None, "dropout in fine-tuning", low=0, high=0.95)
    drop_path: float | None = setting(None, "stochastic depth of the last block in fine-tuning", low=0, high=0.95)
    smoothing: float | None = setting(None, "label smoothing; the paper's c is one minus this", low=0, high=0.99)
    pretrain_epochs: int | None = setting(None, "passes over the training set before fine-tuning; 0: none", low=0)
    scale: str | None = setting(
        None, "values as they are; standardised channel by channel; or that after arcsinh, which tames large values",
        choices=(None, "none", "channel", "asinh"),
    )

    optimizer: str = setting("sgd", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    weight_decay: float = setting(0.0, "weight decay, decoupled, except for sgd", low=0)
    dataset: str = setting("BasicMotions", "which set; what nobody chose of FOLLOWS changes along", choices=tuple(SETS))
    rows: str = setting("paper", "whose settings follow the set: Table 12's, or ours", choices=("paper", "ours"))
    source: str = setting("real", "the archive's series, or made-up ones", choices=("real", "simulated"))
    folds: int | None = setting(
        None,
        "None: the set's own test set. k: a k-th part of its training set instead; seed s takes part s mod k",
        low=2,
    )
    valid_share: float = setting(
        0.0, "share of the training set, class by class, to choose settings on; 0: none, and `valid` is up to 200 "
        "training series", low=0, high=0.5,
    )
    dropped: float = setting(0.3, "share of the steps that are dropped, in training and in test", low=0, high=0.9)
    rounding: str = setting(
        "down", "the number of steps to drop, where their share is no whole one", choices=("down", "nearest"),
        was="nearest",
    )
    information: str = setting(
        "all", "what is known of a step: all; its rank in place of its number; values shuffled among the steps",
        choices=("all", "ranks", "shuffled"), was="all",
    )
    padding: str = setting(
        "mask", "shorter series: attention leaves the padding out, or zeros before them are data (D28)",
        choices=("mask", "zeros"),
    )
    embedding: str = setting(
        "pretrained", "patch embedding at the start of fine-tuning: pre-trained, or fresh as in the authors' code (D4)",
        choices=("pretrained", "fresh"),
    )

    def __post_init__(self):
        row = ROWS.get(self.rows, {}) if type(self.rows) is str else {}
        row = row.get(self.dataset) if type(self.dataset) is str else None
        if row:  # else the check of the fields says what is wrong
            own = {name: value for name, value in zip(FOLLOWS, row, strict=True) if getattr(self, name) is None}
            vars(self).update(own, own=tuple(own))
        super().__post_init__()
        if self.source == "simulated" and self.dataset != "BasicMotions":
            raise ValueError(f"source is 'simulated', but dataset {self.dataset!r}; only BasicMotions is simulated")
        if self.valid_share and abs(1 / self.valid_share - round(1 / self.valid_share)) > 0.01:
            raise ValueError(f"valid_share is {self.valid_share}; it must be one part of several: 0.5, 0.25, 0.2, ...")

    def replace(self, **changes) -> "UEA":
        """As in `Experiment`; of FOLLOWS, what was chosen stays, and the rest is the set's own again."""
        return super().replace(**dict.fromkeys(self.own) | changes)

    @classmethod
    def paper(cls) -> "UEA":
        """Tables 12 and 13: tiny, 400 epochs of pre-training; fine-tuning as the set's column of Table 12 has it."""
        return cls()

    @classmethod
    def best(cls) -> "UEA":
        """Our own settings: channels standardised, a small model, Muon. Minutes on a CPU."""
        return cls(
            rows="ours", encoder="64x4x3x256", decoder="64x4x1x256", optimizer="muon", pretrain_optimizer="muon",
            pretrain_lr=5e-3, pretrain_batch=32, pretrain_weight_decay=0.05, weight_decay=0.05, init="torch",
            dropout_at="head", rounding="nearest",
        )

    @classmethod
    def quick(cls) -> "UEA":
        """`best` for fewer epochs: seconds, and no result."""
        return cls.best().replace(pretrain_epochs=30)

    @property
    def patch(self) -> int:
        return SETS[self.dataset].channels

    @property
    def classes(self) -> int:
        return SETS[self.dataset].classes

    # Data -----------------------------------------------------------------------------------------------------------

    def series(self, seed: int, folder: Path | str | None = None) -> tuple[Series, Series]:
        """All that may be learnt from, and the test set. NotHere where the set is not at hand."""
        if self.source == "simulated":
            return archive.simulated(40, numpy_rng(0, 0)), archive.simulated(40, numpy_rng(0, 1))
        train, test = archive.load(self.dataset, Path(folder) if folder else None)
        if self.folds:
            part = stratified(train.label, self.folds, numpy_rng(seed // self.folds, 5)) == seed % self.folds
            return train[np.flatnonzero(~part)], train[np.flatnonzero(part)]
        if test is None:
            raise NotHere(f"{self.dataset} has no test set here; folds=5 tests on parts of its training set instead")
        return train, test

    def data(self, seed: int, folder: Path | str | None = None) -> Splits:
        """Training, validation and test set, in each of which `dropped` of every series' steps are missing: which ones
        is drawn for every seed and part, once. Scaled with the mean and deviation of the training steps that are left.

        The part for validation is taken from the training set, of every class its share (D26).
        """
        train, test = self.series(seed, folder)
        valid = train
        if self.valid_share:
            part = stratified(train.label, round(1 / self.valid_share), numpy_rng(seed, 4)) == 0
            train, valid = train[np.flatnonzero(~part)], train[np.flatnonzero(part)]
        parts = [train, valid, test]
        if self.padding == "zeros":
            parts = [archive.padded(part, SETS[self.dataset].longest) for part in parts]
        whole = int if self.rounding == "down" else round
        steps = [archive.kept(part, self.dropped, numpy_rng(seed, i), whole) for i, part in enumerate(parts)]
        found = [
            archive.informed(archive.tokens(part, at), self.information, numpy_rng(seed, 9, i))
            for i, (part, at) in enumerate(zip(parts, steps, strict=True))
        ]
        if not self.valid_share:
            n, shown = len(train), min(len(train), 200)
            found[1] = found[0][torch.arange(shown) * n // shown]
        return Splits(*self.scaled(found))

    def scaled(self, parts: list[Tokens]) -> list[Tokens]:
        """The parts with their values on the `scale` of the first one's real tokens; aux["raw"] as they were."""
        parts = [replace(part, aux=dict(part.aux, raw=part.values), per_token={"raw"}) for part in parts]
        if self.scale == "none":
            return parts
        values = [part.values.double() for part in parts]
        if self.scale == "asinh":
            values = [value.asinh() for value in values]
        deviation, mean = torch.std_mean(values[0][parts[0].real], 0, correction=0)  # (C,)
        deviation = deviation.where(deviation > 1e-9, 1.0)
        return [
            replace(part, values=((value - mean) / deviation).float())
            for value, part in zip(values, parts, strict=True)
        ]

    # Model ----------------------------------------------------------------------------------------------------------

    def start(self, model: RoMAEPredictor, pretrained: RoMAE, seed: int) -> None:
        super().start(model, pretrained, seed)
        if self.embedding == "fresh":  # not `build(seed)`'s: those are the weights that pre-training started from
            model.encoder.embed.load_state_dict(self.build(mix_seed(seed, 8)).encoder.embed.state_dict())

    # Metrics --------------------------------------------------------------------------------------------------------

    def training_set(self) -> int:
        """The archive's training set, less what a fold or the validation takes; class by class, so by a few at most."""
        n = SETS[self.dataset].train
        n -= round(n / self.folds) if self.folds else 0
        return n - round(self.valid_share * n)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """accuracy, f1_macro; accuracy_train_mode is the accuracy with dropout and stochastic depth left on, mean of
        five passes, which is how the authors' script scores (D27)."""
        found = super().evaluate(model, tokens)
        if not (self.dropout or self.drop_path):
            return found | {"accuracy_train_mode": found["accuracy"]}
        label, passes = tokens.aux["label"].cpu(), []
        with fork_rng(next(model.parameters()).device):
            for i in range(5):
                torch.manual_seed(mix_seed(0, 6, i))
                passes.append(self.score(self.logits(model, tokens, train_mode=True), label)["accuracy"])
        return found | {"accuracy_train_mode": float(np.mean(passes))}

    def compare(self, data: Splits) -> dict[str, float]:
        """accuracy_majority; where LightGBM is installed accuracy_trees and accuracy_times, and where aeon is
        accuracy_minirocket: on the same series as the archive has them, unscaled. MiniRocket needs a grid, and gets
        straight lines in the place of the dropped steps."""
        label = data.test.aux["label"].numpy()
        found = {"accuracy_majority": predictors.majority(data.train.aux["label"].numpy(), label)}
        raw = [replace(s, values=s.aux["raw"]) for s in (data.train, data.test)]
        needs = {"trees": "lightgbm", "times": "lightgbm", "minirocket": "aeon"}
        for name, package in needs.items():
            if find_spec(package) is not None:
                guess = getattr(predictors, name)(*raw)
                found[f"accuracy_{name}"] = float(np.mean(guess == label))
        return found

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """confusion (K, K) of the test set; dropped (S,) larger shares of its steps missing, accuracy_dropped (S,) what
        is left of the accuracy then, mean of five draws."""
        shares = [self.dropped, *(share for share in (0.5, 0.7, 0.8, 0.9, 0.95) if share > self.dropped)]

        def accuracy(share: float, draw: int) -> float:
            less = thinned(data.test, (1 - share) / (1 - self.dropped), draw)
            return self.score(self.logits(model, less), less.aux["label"].cpu())["accuracy"]

        found = [
            np.mean([accuracy(share, draw) for draw in range(5 if share > self.dropped else 1)]) for share in shares
        ]
        curve = {"dropped": np.array(shares), "accuracy_dropped": np.array(found)}
        return recorded(self, model, data) | super().arrays(model, data) | curve

    def compared(self, data: Splits) -> dict[str, np.ndarray]:
        return compared(self, data)


def thinned(tokens: Tokens, share: float, seed: int) -> Tokens:
    """A share of every series' tokens, drawn at random; one remains at least."""
    count = tokens.real.sum(1)  # (n,)
    keep = (count * share).round().long().clamp(min=1)
    noise = torch.rand(tokens.real.shape, generator=seeded(seed, 7)).masked_fill(~tokens.real, 2)
    return replace(tokens, pad=noise.argsort(1).argsort(1) >= keep[:, None])

"""Pre-train a masked autoencoder, then fine-tune its encoder to tell classes apart (paper Sec. 4 and 5.4).

The settings of `Experiment` are those of fine-tuning; those that begin with ``pretrain_`` belong to the first stage.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from romae_lite.batching import by_length, trim
from romae_lite.masking import hide
from romae_lite.model import (
    INITS,
    ModelConfig,
    RoMAE,
    RoMAEPredictor,
    device_of,
    masked_loss,
    normalise,
    reconstruction_loss,
)
from romae_lite.tokens import Tokens, to_device
from romae_lite.training import Recipe, fit, mix_seed, seeded_build

from .base import Masked, Splits, setting


def normalised_loss(prediction: Tensor, target: Tensor, pad: Tensor | None) -> Tensor:
    """Mean squared error to standardised patches, as in MAE (He et al., 2022)."""
    return reconstruction_loss(prediction, normalise(target.float()), pad)


@dataclass(frozen=True, kw_only=True)
class Classification(Masked):
    """Two stages on one training set. Subclasses fill in `data`, with classes (n,) in aux["label"], and the presets."""

    classes: ClassVar[int]  # K, how many there are (a property where it depends on the settings)

    smoothing: float = setting(0.0, "label smoothing; the paper's c is one minus this", low=0, high=0.99)
    balanced: bool = setting(False, "weight the loss of a class by the inverse of its share of the training set")
    init: str = setting(
        "normal", "how the weights that are not pre-trained start: normal, or as PyTorch has them (D43)",
        choices=INITS, was="torch",
    )
    dropout: float = setting(0.0, "dropout in fine-tuning", low=0, high=0.95)
    dropout_at: str = setting(
        "attention", "where dropout acts beside the feed-forward part: on attention weights, or before the head (D41)",
        choices=("attention", "head"), was="head",
    )
    drop_path: float = setting(0.0, "stochastic depth of the last block in fine-tuning", low=0, high=0.95)
    pool: str = setting("cls", "what the head reads: [CLS], or the mean of all tokens", choices=("cls", "mean"))

    mask_ratio: float = setting(0.75, "share of tokens hidden in pre-training", low=0.02, high=0.98)
    pretrain_epochs: int = setting(400, "passes over the training set before fine-tuning; 0: none", low=0)
    pretrain_batch: int = setting(64, "samples per step", low=1)
    pretrain_lr: float = setting(3e-4, "peak learning rate", low=1e-12, high=10)
    pretrain_warmup_share: float = setting(0.1, "share of the steps that warm up", low=0, high=1)
    pretrain_optimizer: str = setting("adamw", "optimizer", choices=("adamw", "sgd", "muon"))
    pretrain_beta1: float = setting(0.9, "AdamW's first beta", low=0, high=0.9999)
    pretrain_beta2: float = setting(0.95, "AdamW's second beta", low=0, high=0.99999)
    pretrain_weight_decay: float = setting(0.05, "weight decay, decoupled, except for sgd", low=0)
    pretrain_clip: float | None = setting(1.0, "largest gradient norm, or None", low=1e-12)

    def __post_init__(self):
        super().__post_init__()
        self._check_decay("pretrain_lr", "pretrain_weight_decay")
        if self.pool == "cls" and not self.cls:
            raise ValueError("cls is False, but pool 'cls'; choose pool='mean', or cls=True")

    # The two models -------------------------------------------------------------------------------------------------

    def autoencoder(self, seed: int) -> RoMAE:
        """A fresh model for the first stage, without dropout."""
        return seeded_build(seed, lambda: RoMAE(self.model_config(init="torch")))

    def predictor_config(self) -> ModelConfig:
        second = {f"{self.dropout_at}_dropout": self.dropout}
        return self.model_config(dropout=self.dropout, drop_path=self.drop_path, **second)

    def build(self, seed: int) -> RoMAEPredictor:
        """A fresh model for the second stage: logits (B, K)."""
        return seeded_build(seed, lambda: RoMAEPredictor(self.predictor_config(), outputs=self.classes, pool=self.pool))

    def start(self, model: RoMAEPredictor, pretrained: RoMAE, seed: int) -> None:
        """Take over the encoder, its patch embedding and [CLS] included (D4)."""
        model.start_from(pretrained)

    def checkpoints(self, path: Path) -> tuple[Path, ...]:
        return path, path.with_suffix(".pretrain.safetensors")

    # Training -------------------------------------------------------------------------------------------------------

    def shown(self, batch: Tokens, device: torch.device, stage: str) -> Tokens:
        """A batch from the host as a model on a device gets it. stage: "pretrain", "fine-tune" or "test"."""
        return trim(batch).to(device)

    def pretrain_recipe(self, samples: int) -> Recipe:
        steps = self.pretrain_epochs * math.ceil(samples / self.pretrain_batch)
        return Recipe(
            epochs=self.pretrain_epochs, batch=self.pretrain_batch, lr=self.pretrain_lr,
            warmup=round(self.pretrain_warmup_share * steps), schedule=self.schedule,
            optimizer=self.pretrain_optimizer, betas=(self.pretrain_beta1, self.pretrain_beta2),
            weight_decay=self.pretrain_weight_decay, clip=self.pretrain_clip, precision=self.precision,
            compile=self.compile,
        )

    def pretrain_loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        """Reconstruction of hidden tokens."""
        batch = trim(batch)
        return masked_loss(model, batch, hide(batch.real, ratio=self.mask_ratio, generator=generator))

    def pretrain_data(self, data: Splits, seed: int) -> Tokens:
        """What the first stage learns from: the training set, where a subclass has nothing else."""
        return data.train

    def class_weights(self, train: Tokens) -> Tensor | None:
        """(K,) n / (K n_k), where `balanced`; a class without samples counts as if it had
        one."""
        if not self.balanced:
            return None
        label = train.aux["label"].long()
        count = torch.bincount(label, minlength=self.classes).clamp(min=1)
        return count.sum() / (self.classes * count.float())

    def loss(
        self,
        model: nn.Module,
        batch: Tokens,
        generator: torch.Generator,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Cross-entropy of the classes, smoothed."""
        batch = self.shown(batch, device_of(model), "fine-tune")
        weights = None if weights is None else to_device(weights, batch.device)
        label = batch.aux["label"].long()
        return cross_entropy(
            model(batch).float(), label, weights, label_smoothing=self.smoothing
        )

    def first_stage(
        self, data: Splits, seed: int, *, checkpoint: Path | None = None, log: Callable | None = None, **options
    ) -> tuple[RoMAE, list[dict]]:
        """The first stage alone: the autoencoder, on the CPU, and its history; without epochs both as at the start."""
        model, history = self.autoencoder(seed), []
        if self.pretrain_epochs:
            sample = self.pretrain_data(data, seed)
            history = fit(
                self.trained_form(model), sample, self.pretrain_loss, self.pretrain_recipe(len(sample)),
                seed=mix_seed(seed, 1), checkpoint=checkpoint and self.checkpoints(checkpoint)[1], log=log,
                order=lambda generator: self.order(sample, self.pretrain_batch, generator), settings=self.config(),
                **options,
            )
        return model.to("cpu"), [entry | {"stage": "pretrain"} for entry in history]

    def train(
        self, data: Splits, seed: int, *, checkpoint: Path | None = None, log: Callable | None = None, **options
    ) -> tuple[RoMAEPredictor, list[dict]]:
        """Both stages. History entries say which `stage` they belong to, and seconds go on from one to the other.

        The first stage keeps its own checkpoint, the second of `checkpoints`.
        """
        model, history = self.build(seed), []
        if self.pretrain_epochs:
            pretrained, history = self.first_stage(data, seed, checkpoint=checkpoint, log=log, **options)
            self.start(model, pretrained, seed)
        return model, self.second_stage(model, data, seed, history, checkpoint=checkpoint, log=log, **options)

    def second_stage(
        self, model: nn.Module, data: Splits, seed: int, history: list[dict], *, checkpoint: Path | None = None,
        log: Callable | None = None, **options,
    ) -> list[dict]:
        """Fine-tune a model, in place: what happened before, and then. Without a validation part none is scored."""
        train, spent = data.train, history[-1]["seconds"] if history else 0.0
        weights = self.class_weights(train)
        second = fit(
            self.trained_form(model), train, lambda m, batch, generator: self.loss(m, batch, generator, weights),
            self.recipe(len(train)), seed=seed, checkpoint=checkpoint, log=log,
            order=lambda generator: self.order(train, self.batch, generator), settings=self.config(),
            validate=None if data.valid is None else lambda m: {
                f"valid_{k}": v for k, v in self.validate(m, data.valid).items()}, **options,
        )
        return history + [e | {"stage": "fine-tune", "seconds": round(e["seconds"] + spent, 2)} for e in second]

    # Metrics --------------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def logits(self, model: nn.Module, tokens: Tokens, batch: int = 128, train_mode: bool = False) -> Tensor:
        """What the model says of every class: (n, K) float32, on the CPU. Samples of like length go together.

        train_mode leaves dropout and stochastic depth on; the model is in eval mode afterwards all the same.
        """
        model.train(train_mode)
        device = device_of(model)
        out = torch.empty(len(tokens), self.classes)
        for index in tokens.real.sum(1).argsort(stable=True).split(batch):
            out[index.cpu()] = model(self.shown(tokens[index], device, "test")).float().cpu()
        model.eval()
        return out

    def validate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """`score`, and the cross-entropy."""
        logits, label = self.logits(model, tokens), tokens.aux["label"].long().cpu()
        return {"loss": float(cross_entropy(logits, label))} | self.score(logits, label)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(self.logits(model, tokens), tokens.aux["label"].long().cpu())

    def score(self, logits: Tensor, label: Tensor) -> dict[str, float]:
        """Of logits (n, K) and classes (n,).

        accuracy   share of samples whose largest logit is that of their class
        f1_macro   mean of F1 over the classes that occur or are predicted
        """
        count = self.confusion(logits, label).double()
        hit, either = count.diag(), count.sum(0) + count.sum(1)  # (K,)
        return {
            "accuracy": float(hit.sum() / count.sum()),
            "f1_macro": float((2 * hit / either)[either > 0].mean()),
        }

    def confusion(self, logits: Tensor, label: Tensor) -> Tensor:
        """How many samples of class i were taken for class j: (K, K)."""
        pairs = label * self.classes + logits.argmax(1)
        return torch.bincount(pairs, minlength=self.classes**2).reshape(self.classes, self.classes)

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """confusion (K, K) of the test set."""
        label = data.test.aux["label"].long().cpu()
        confusion = self.confusion(self.logits(model, data.test), label).numpy().astype(np.int32)
        return super().arrays(model, data) | {"confusion": confusion}


@dataclass(frozen=True, kw_only=True)
class Contested(Classification):
    """A classification whose answers may come from another method as well (`Answers`). RoMAE's rare classes weigh more,
    and samples of like length make a step."""

    def class_weights(self, train: Tokens) -> Tensor:
        """(K,) roots of shares, inverted, 1 in the mean over samples."""
        share = torch.bincount(train.aux["label"].long(), minlength=self.classes).clamp(min=1) / len(train)
        weights = share**-0.5
        return (weights / (share * weights).sum()).float()

    def order(self, train: Tokens, batch: int, generator: torch.Generator) -> Tensor:
        return by_length(train.real.sum(1), batch, generator)

    def logits(self, model: nn.Module, tokens: Tokens, **options) -> Tensor:
        return model.logits if isinstance(model, Answers) else super().logits(model, tokens, **options)


class Answers(nn.Module):
    """What another method says of the test set, in the place of a model. p: probabilities (n, K)."""

    def __init__(self, p: np.ndarray):
        super().__init__()
        self.register_buffer("logits", torch.from_numpy(p).float().clamp(min=1e-6).log())


class Together(Answers):
    """What several networks say, in the mean; `each` keeps what they say alone.

    p: probabilities (M, n, K). network: one of them, whose weights are counted.
    """

    def __init__(self, p: np.ndarray, network: nn.Module):
        super().__init__(p.mean(0))
        self.register_buffer("each", torch.from_numpy(p))
        self.network = network


def stratified(label: np.ndarray, parts: int, rng: np.random.Generator) -> np.ndarray:
    """Which of so many parts each case belongs to, (n,): every class is dealt out evenly, in random order, the next
    class from where the last one ended."""
    order = rng.permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    out = np.empty(len(label), int)
    out[order] = np.arange(len(label)) % parts
    return out


def average_precision(truth: np.ndarray, score: np.ndarray) -> float:
    """Mean of the precision at every sample of the class, samples in order of their score; 0 without such samples."""
    order = np.argsort(-score, kind="stable")
    hit = truth[order]
    precision = np.cumsum(hit) / np.arange(1, len(hit) + 1)
    return float(precision[hit].mean()) if hit.any() else 0.0


def auroc(truth: np.ndarray, score: np.ndarray) -> float:
    """Area under the ROC curve: the share of pairs, one true and one not, in which the true one scores higher; ties
    count half. 0.5 where there are no pairs."""
    from scipy.stats import mannwhitneyu  # slow to import

    pairs = int(truth.sum()) * int((~truth).sum())
    return float(mannwhitneyu(score[truth], score[~truth]).statistic / pairs) if pairs else 0.5

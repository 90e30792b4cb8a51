"""Waves read at odd times: what a network loses that is told numbers, and which that is told times minds a late clock.

Ours, not the paper's: the figure of the front page, and the one in which the clock starts later. Networks fill in a
wave between twelve readings. All that differs is what they are told of a reading beside its value, and how.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.model import ModelConfig, RoMAE, masked_loss, predict_hidden
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import seeded_build

from ..base import Masked, Splits, numpy_rng, setting, weights_of
from .data import numbers, waves
from .rivals import best, with_bias

BASE = 100.0  # the slowest pair of channels turns 0.1 radians per unit or so: a wave lasts up to 12
LATER = (5, 20, 100, 1000)  # by how much all times are moved in tests
SHORT = {"n_train": 64_000}  # of the runs that compare encodings


@dataclass(frozen=True, kw_only=True)
class Waves(Masked):
    """Filling in a sine between twelve readings, from their numbers or their times (our own; the front page)."""

    name = "waves"
    chapter = 0
    tiers = {"page": "own", "quick": "smoke"}
    campaign = (
        *(("page", 1, {"epochs": 3} | told) for told in ({}, {"told": "numbers"})),
        *(("page", 3, SHORT | how) for how in ({}, {"encoding": "absolute"}, {"encoding": "none", "bias": True})),
    )
    meanings = {
        "miss": "mean distance of answer and wave, whose height is 1",
        "later": "with all times moved by so much",
        "best": "of the best possible predictor, who knows how waves are made",
    }
    deviations = ("D1", "D2", "D3", "D5", "D9", "D10", "D13")

    batch: int = setting(64, "samples per step", low=1)
    lr: float = setting(8e-3, "peak learning rate", low=1e-12, high=10)
    optimizer: str = setting("muon", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    warmup_share: float = setting(0.05, "share of the steps in which the learning rate warms up", low=0, high=1)
    n_train: int = setting(320_000, "training series", low=2)
    n_valid: int = setting(500, "validation series, for choosing settings", low=1)
    n_test: int = setting(1000, "test series", low=1)
    encoder: str = setting("24x2x4x32", "size of the encoder")
    decoder: str = setting("24x2x1x64", "size of the decoder")
    cls: bool = setting(False, "use a [CLS] token; without one, answers do not change when all times are moved")
    told: str = setting("times", "what is told of a reading beside its value", choices=("times", "numbers"))
    bias: bool = setting(False, "add a learned function of time differences to the scores of attention")

    @classmethod
    def page(cls) -> "Waves":
        """The networks of the front page, small enough for it."""
        return cls(fast=True)

    @classmethod
    def quick(cls) -> "Waves":
        """The same cut to 100 steps."""
        return cls(n_train=6400, n_valid=100, n_test=100)

    def data(self, seed: int) -> Splits:
        sizes = (self.n_train, self.n_valid, self.n_test)
        return Splits(*(waves(n, numpy_rng(seed, i), grid=i > 0) for i, n in enumerate(sizes)))

    def tell(self, tokens: Tokens, later: float = 0.0) -> Tokens:
        """The tokens as the network gets them: with times, `later` or not, or with numbers."""
        if self.told == "times":
            return replace(tokens, positions=tokens.positions + later)
        count = numbers(tokens.positions[..., 0].numpy(), tokens.aux["hidden"].numpy())
        return replace(tokens, positions=torch.from_numpy(count)[..., None])

    def model_config(self, **changes) -> ModelConfig:
        positions = PositionEncoding(kind=self.encoding, p=self.p, base=BASE)
        return super().model_config(**{"alone": True, "positions": positions} | changes)

    def build(self, seed: int) -> nn.Module:
        model = seeded_build(seed, lambda: RoMAE(self.model_config()))
        return with_bias(model, BASE) if self.bias else model

    def trained_form(self, model: nn.Module) -> nn.Module:
        return model if self.bias else super().trained_form(model)

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        return masked_loss(model, self.tell(batch), batch.aux["hidden"])

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """miss and mse: mean distance and mean squared distance of answers and wave, on a grid of moments."""
        return self.score(model, tokens)

    def score(self, model: nn.Module, tokens: Tokens, later: float = 0.0, suffix: str = "") -> dict[str, float]:
        hidden = tokens.aux["hidden"]
        return errors(predict_hidden(model, self.tell(tokens, later), hidden)[..., 0].double().numpy(), tokens, suffix)

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """The same with the clock started later, of who is told times."""
        found = {}
        for later in LATER if self.told == "times" else ():
            found |= self.score(model, data.test, later, f"_later{later}")
        return found

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        return errors(best(tokens), tokens, "_best")

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """The weights, in half precision: weights.<name>."""
        return weights_of(model)


def errors(answers: np.ndarray, tokens: Tokens, suffix: str) -> dict[str, float]:
    hidden = tokens.aux["hidden"].numpy()
    off = (answers - tokens.values[..., 0].double().numpy())[hidden]
    return {f"miss{suffix}": float(np.abs(off).mean()), f"mse{suffix}": float(np.square(off).mean())}

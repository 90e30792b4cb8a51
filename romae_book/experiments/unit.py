"""A masked autoencoder that learns its unit of time (chapter 04): one number more."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from romae_lite.masking import Split
from romae_lite.model import ModelConfig, RoMAE
from romae_lite.tokens import Tokens
from romae_lite.training import seeded_build

from .base import Masked, Splits, setting


class LearntUnit(RoMAE):
    """RoMAE whose positions are multiplied by one learnt factor. It begins at 1, as the plain model does."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.log_factor = nn.Parameter(torch.zeros(()))  # a step of the optimiser is a share of the factor

    @property
    def factor(self) -> Tensor:
        return self.log_factor.exp()

    def forward(self, tokens: Tokens, where: Split, record: dict | None = None) -> Tensor:
        """As `RoMAE.forward`: (B, M, P)."""
        return super().forward(replace(tokens, positions=tokens.positions * self.factor), where, record)


@dataclass(frozen=True, kw_only=True)
class MaskedInTime(Masked):
    """An experiment whose unit of time may be learnt."""

    learn_unit: bool = setting(False, "multiply the times by a learnt number, which begins at 1", was=False)

    def build(self, seed: int) -> RoMAE:
        return seeded_build(seed, lambda: LearntUnit(self.model_config())) if self.learn_unit else super().build(seed)

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """learnt_factor: what the times are multiplied by in the end, where that is learnt."""
        return {"learnt_factor": model.factor.item()} if self.learn_unit else {}

"""Parameter counts (paper Table 8, chapter 02). Nothing is trained; the record is the count of a built model."""

from dataclasses import dataclass

import torch
from torch import nn

from romae_lite.model import SIZES, ModelConfig, RoMAEPredictor, count_parameters, size
from romae_lite.tokens import Tokens

from ..base import Experiment, Splits, setting


@dataclass(frozen=True, kw_only=True)
class Sizes(Experiment):
    """Weights of a size, counted as the paper's tables do: blocks, an embedding of 16 values, [CLS], one output."""

    name = "sizes"
    chapter = 2
    variants = frozenset({"size"})
    campaign = tuple(("paper", 1, {"size": name}) for name in SIZES)

    size: str = setting("tiny", "size of Table 8", choices=tuple(SIZES))

    @classmethod
    def paper(cls) -> "Sizes":
        """As counted by the paper."""
        return cls()

    def build(self, seed: int) -> nn.Module:
        return RoMAEPredictor(ModelConfig(patch=16, axes=1, encoder=size(self.size)), outputs=1)

    def data(self, seed: int) -> Splits:
        """One token that nobody looks at: a record names the data it was made from."""
        token = Tokens(values=torch.zeros(1, 1, 16), positions=torch.zeros(1, 1, 1))
        return Splits(token, token, token)

    def train(self, data: Splits, seed: int, **options) -> tuple[nn.Module, list[dict]]:
        return self.build(seed), [{"epoch": 0, "step": 0, "seconds": 0.0, "tokens_per_second": 0}]

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return {"parameters": float(count_parameters(model))}

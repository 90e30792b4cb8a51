"""The slope of a line, read from noisy points at irregular times."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.model import ModelConfig, RoMAEPredictor, size
from romae_lite.tokens import Tokens
from romae_lite.training import seeded_build

from ..base import Experiment, Splits, numpy_rng, setting

POINTS, NOISE = 8, 0.1


@dataclass(frozen=True, kw_only=True)
class Toy(Experiment):
    """The slope of a line, from noisy points at irregular times."""

    name = "toy"
    campaign = (("paper", 3),)

    n_train: int = setting(256, "training lines", low=2)

    @classmethod
    def paper(cls) -> "Toy":
        """The settings of the paper's table."""
        return cls(epochs=20)

    @classmethod
    def quick(cls) -> "Toy":
        """One epoch: under a minute on two CPU cores."""
        return cls.paper().replace(epochs=1)

    def data(self, seed: int) -> Splits:
        return Splits(*(lines(n, numpy_rng(seed, stream)) for stream, n in enumerate((self.n_train, 64, 64))))

    def build(self, seed: int) -> nn.Module:
        config = ModelConfig(patch=1, axes=1, encoder=size("12x2x1x24"))
        return seeded_build(seed, lambda: RoMAEPredictor(config, outputs=1))

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        return (model(batch)[:, 0] - batch.aux["slope"]).square().mean()

    @torch.no_grad()
    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        device = next(model.parameters()).device
        found = model.eval()(tokens.to(device))[:, 0].cpu()
        return {"mse": float((found - tokens.aux["slope"]).square().mean())}

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """The best linear unbiased estimate: least squares through the origin."""
        t, x = tokens.positions[..., 0], tokens.values[..., 0]
        found = (t * x).sum(1) / (t * t).sum(1)
        return {"mse_lstsq": float((found - tokens.aux["slope"]).square().mean())}


def lines(n: int, rng: np.random.Generator) -> Tokens:
    """n lines through the origin. Tokens: values and positions (n, POINTS, 1); aux: slope (n,) float32."""
    slope, times = rng.normal(size=n), np.sort(rng.uniform(1, 10, (n, POINTS)), axis=1)
    values = slope[:, None] * times + rng.normal(0, NOISE, times.shape)
    return Tokens(
        values=torch.from_numpy(values).float()[..., None],
        positions=torch.from_numpy(times)[..., None],
        aux={"slope": torch.from_numpy(slope).float()},
    )

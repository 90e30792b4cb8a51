"""Reading absolute positions off relative ones (paper Sec. 5.1 and App. B.1; Tables 1, 16, 17; Figure 2; chapter 03).

The values say nothing, the positions are to be named: only attention can know them. With a [CLS] token pinned at 0 it
can; without one it sees differences at best, and not even these where all tokens are the same.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.model import INITS, ModelConfig, RoMAEPredictor, Size, device_of, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import Recipe, seeded_build

from ..base import Experiment, Splits, numpy_rng, setting
from .arrays import recorded

FAR = 1e9  # radians: float64 is as coarse there as float32 is within one turn
# The paper's "sizes" here are tiny with another width: 12 blocks, 3 heads, a feed-forward part of 720 (D15).
WIDTHS = {"tiny": 180, "small": 432, "base": 720, "large": 960}


def width(name: str) -> Size:
    """tiny, small, base or large by width alone, as in Table 1, or a size spelt out as for `model.size`."""
    return size("tiny", dim=WIDTHS[name]) if name in WIDTHS else size(name)


@dataclass(frozen=True, kw_only=True)
class Position(Experiment):
    """Naming the positions of ten tokens (Table 1, chapter 03). The defaults are Table 17."""

    name = "position"
    chapter = 3
    tiers = Experiment.tiers | {"control": "own"}
    variants = frozenset({"size", "cls"})
    campaign = (
        ("paper", 5, {"cls": False}),
        ("control", 5),
        ("best", 5),
        ("best", 3, {"cls": False, "anchor": "pinned"}),
        ("best", 3, {"cls": False, "anchor": "moving"}),
        ("control", 3, {"anchor": "moving"}),
        ("paper", 5),
        ("paper", 5, {"cls": False, "size": "small"}),
        ("paper", 5, {"cls": False, "size": "base"}),
        ("paper", 5, {"size": "small"}),
        ("paper", 5, {"size": "base"}),
    )
    meanings = {
        "mse_differences": "what is left of the mse once each sample's mean error is taken away",
        "follows_shift": "how far the answers move when everything but [CLS] and a pinned anchor moves, as a share: 0 "
        "where only differences are seen, near 1 where the place is known",
        "mse_mean": "of always naming the middle of the range",
        "mse_relative": "the best possible for who sees differences only",
    }
    deviations = ("D1", "D2", "D6", "D7", "D13", "D15", "D43")

    epochs: int = setting(10, "passes over the training set", low=1)
    batch: int = setting(64, "samples per step", low=1)
    lr: float = setting(5e-4, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(0.2, "share of steps that warm up (Table 17: 625 of about 3130)", low=0, high=1)
    clip: float | None = setting(None, "largest gradient norm, or None", low=1e-12)
    init: str = setting(
        "body", "how weights start: from a normal of deviation 0.02, all or all but the head's, or as PyTorch's (D43)",
        choices=INITS, was="torch",
    )
    n_train: int = setting(20_000, "training samples", low=1)
    n_valid: int = setting(1000, "validation samples", low=1)
    n_test: int = setting(4000, "test samples", low=1)
    tokens: int = setting(10, "tokens whose positions are to be named", low=1)
    low: float = setting(1.0, "smallest position (their code; the paper's text says 0)", low=-FAR, high=FAR)
    high: float = setting(50.0, "largest position", low=-FAR, high=FAR)
    size: str = setting("tiny", "tiny, small, base or large: that width, 12 blocks; or dim x heads x depth x ff")
    cls: bool = setting(True, "use a [CLS] token, which sits at 0")
    values: str = setting("same", "what tokens carry: all 1 (the paper), or each its own", choices=("same", "distinct"))
    anchor: str = setting(
        "none", "one more, recognisable token: pinned at 0, or at a random place", choices=("none", "pinned", "moving")
    )
    position_scale: float = setting(1.0, "factor on the positions that the model gets", low=1e-6, high=1e6)
    standardise: bool = setting(False, "let the head count in standard deviations from the middle of the range")

    def __post_init__(self):
        super().__post_init__()
        if not self.low < self.high:
            raise ValueError(f"low is {self.low}; it must be below high, which is {self.high}")
        if max(-self.low, self.high) * self.position_scale > FAR:
            raise ValueError(f"position_scale is {self.position_scale}; positions reach beyond {FAR:g}")
        self._check_size("size", width)
        self.model_config()  # names what the model cannot have

    @classmethod
    def paper(cls) -> "Position":
        """Table 17 at tiny width with [CLS]: 3130 steps, a quarter of an hour of a free CPU core."""
        return cls()

    @classmethod
    def best(cls) -> "Position":
        """Our own settings: a small model, Muon, standardised targets; 1565 steps, a minute on one CPU core."""
        return cls(
            size="64x4x4x256", optimizer="muon", lr=4e-3, clip=1.0, warmup_share=0.05, epochs=5, standardise=True,
            init="torch",
        )

    @classmethod
    def control(cls) -> "Position":
        """`best` for tokens that can be told apart and no [CLS]: the control that Table 1 lacks."""
        return cls.best().replace(values="distinct", cls=False)

    @classmethod
    def quick(cls) -> "Position":
        """`best` for two epochs: under a minute on two CPU cores."""
        return cls.best().replace(epochs=2, n_test=1000)

    def data(self, seed: int) -> Splits:
        return Splits(
            *(self._split(numpy_rng(seed, i), n) for i, n in enumerate((self.n_train, self.n_valid, self.n_test)))
        )

    def _split(self, rng: np.random.Generator, n: int) -> Tokens:
        return self.at(rng.uniform(self.low, self.high, (n, self.tokens)), rng)

    def at(self, positions: np.ndarray, rng: np.random.Generator | None = None) -> Tokens:
        """Tokens at these positions (n, tokens), in the order given; the anchor, if any, comes last."""
        n, k = positions.shape
        if self.anchor == "none":
            where = positions
        elif self.anchor == "pinned":
            where = np.pad(positions, ((0, 0), (0, 1)))
        else:
            where = np.concatenate((positions, rng.uniform(self.low, self.high, (n, 1))), axis=1)
        values = torch.eye(k) if self.values == "distinct" else torch.ones(k, 1)
        if self.anchor != "none":  # a channel of its own tells the anchor from all others
            values = nn.functional.pad(values, (0, 1, 0, 1))
            values[-1, -1] = 1
        return Tokens(
            values=values.expand(n, -1, -1).contiguous(),
            positions=torch.from_numpy(where)[..., None] * self.position_scale,
            aux={"target": torch.from_numpy(positions).float()},
        )

    def build(self, seed: int) -> RoMAEPredictor:
        return seeded_build(seed, lambda: RoMAEPredictor(self.model_config(), outputs=1, pool="token"))

    def model_config(self) -> ModelConfig:
        patch = (self.tokens if self.values == "distinct" else 1) + (self.anchor != "none")
        return ModelConfig(
            patch=patch, axes=1, encoder=width(self.size), cls=self.cls, positions=PositionEncoding(), init=self.init
        )

    @property
    def blind(self) -> bool:
        """Whether the model cannot see any position at all: attention averages values that are all the same."""
        return self.values == "same" and not self.cls and self.anchor == "none"

    def outputs(self, model: nn.Module, batch: Tokens) -> Tensor:
        """Named positions of the tokens, (B, tokens), float32.

        A blind model returns one number, whatever the positions; one token is enough to
        find it (test_position.py).
        """
        if self.blind:
            # known to be sound: a check would wait for the GPU
            one = batch[:1]._map(lambda t: t[:, :1])
            named = model(one)[..., 0].expand(len(batch), self.tokens)
        else:
            named = model(batch)[:, : self.tokens, 0]
        if self.standardise:
            named = (self.low + self.high) / 2 + self.unit * named
        return named

    @property
    def unit(self) -> float:
        """What the loss is measured in: standard deviations of the positions, or 1."""
        return (self.high - self.low) / math.sqrt(12) if self.standardise else 1.0

    def loss(
        self, model: nn.Module, batch: Tokens, generator: torch.Generator
    ) -> Tensor:
        batch = batch.to(device_of(model))
        error = self.outputs(model, batch) - batch.aux["target"]
        return (error / self.unit).square().mean()

    @torch.no_grad()
    def predict(self, model: nn.Module, tokens: Tokens, batch: int = 500) -> np.ndarray:
        """Named positions, (n, tokens), float64."""
        model.eval()
        device = device_of(model)
        parts = [self.outputs(model, tokens[i : i + batch].to(device)) for i in range(0, len(tokens), batch)]
        return torch.cat(parts).cpu().double().numpy()

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """mse: as Table 1; mae; mse_differences: what is left of it once each sample's mean error is taken away; and
        follows_shift: how far the answers move when everything but [CLS] and a pinned anchor moves by 7, as a share of
        it: 0 for a model that sees differences only, near 1 for one that knows where it is (below 1 where the shift
        takes tokens out of the range that it was trained on)."""
        target = tokens.aux["target"].cpu().double().numpy()
        named = self.predict(model, tokens)
        error = named - target
        moved = self.predict(model, self.shifted(tokens, 7.0))
        return {
            "mse": float(np.square(error).mean()),
            "mae": float(np.abs(error).mean()),
            "mse_differences": float(np.square(error - error.mean(1, keepdims=True)).mean()),
            "follows_shift": float((moved - named).mean() / 7.0),
        }

    def shifted(self, tokens: Tokens, by: float) -> Tokens:
        """The same tokens, all moved but those that are pinned."""
        moves = torch.full_like(tokens.positions, by * self.position_scale)
        if self.anchor == "pinned":
            moves[:, -1] = 0
        return replace(tokens, positions=tokens.positions + moves)

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        return recorded(self, model, data) | super().arrays(model, data)

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """mse_mean: the mean of all positions, for who sees nothing; mse_relative: the best for who sees differences.

        Given the differences, the lowest of all points is uniform on [low, high - range], so that the best guess puts
        the points' range in the middle. Over all n points that are seen: (high - low)^2 / (2 (n + 1) (n + 2)).
        """
        target = tokens.aux["target"].cpu().double().numpy()
        seen = tokens.positions[..., 0].cpu().numpy() / self.position_scale
        if self.anchor == "pinned":
            seen = seen[:, :-1]
        middle = (self.low + self.high) / 2
        centre = (seen.min(1) + seen.max(1)) / 2
        return {
            "mse_mean": float(np.square(target - middle).mean()),
            "mse_relative": float(np.square(centre - middle).mean()),
        }


@dataclass(frozen=True, kw_only=True)
class PositionRange(Position):
    """How the error of one named position depends on where it is (Figure 2, chapter 03). The defaults are Table 16."""

    name = "position_range"
    chapter = 3
    variants = frozenset({"high"})
    campaign = (
        ("best", 5),
        ("best", 5, {"high": 1000.0}),
        ("paper", 5),
        ("paper", 5, {"high": 1000.0}),
    )
    deviations = ("D1", "D2", "D6", "D7", "D13", "D15", "D43")

    lr: float = setting(5e-6, "peak learning rate at high = 100; divided by high / 100", low=1e-12, high=10)
    optimizer: str = setting("sgd", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    weight_decay: float = setting(0.0, "weight decay, decoupled, except for sgd", low=0)
    tokens: int = setting(1, "tokens whose positions are to be named", low=1)
    low: float = setting(0.0, "smallest position", low=-FAR, high=FAR)
    high: float = setting(100.0, "largest position: 100 or 1000 in the paper", low=-FAR, high=FAR)
    size: str = setting("large", "tiny, small, base or large: that width, 12 blocks; or dim x heads x depth x ff")

    @classmethod
    def paper(cls) -> "PositionRange":
        """Table 16: width 960, SGD; half an hour of a free CPU core."""
        return cls()

    @classmethod
    def best(cls) -> "PositionRange":
        """Our own settings, as for `Position`."""
        return cls(
            size="64x4x4x256", optimizer="muon", lr=4e-3, clip=1.0, warmup_share=0.05, weight_decay=0.01,
            standardise=True, init="torch",
        )

    @classmethod
    def quick(cls) -> "PositionRange":
        """`best` for one epoch."""
        return cls.best().replace(epochs=1, n_test=500)

    def __post_init__(self):
        super().__post_init__()
        if self.anchor == "moving":
            raise ValueError("anchor is 'moving'; one token and an anchor at a random place leave nothing to be known")
        if self.optimizer == "sgd" and not self.lr * 10 < self.high:
            raise ValueError(
                f"high is {self.high}; sgd's learning rate is {self.lr} x 100 / high, which must lie between 0 and 10"
            )

    def recipe(self, samples: int) -> Recipe:
        # Table 16 has 5e-6 for (0, 100) and 5e-7 for (0, 1000)
        return replace(super().recipe(samples), lr=self.lr * 100 / self.high if self.optimizer == "sgd" else self.lr)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """Absolute errors on 500 evenly spaced positions (the paper plots these and calls them MSE): mean, median,
        mean over the central 80 %, first and last point; mse on the test set."""
        error = np.abs(self.sweep(model)[1])
        return {
            "mae_mean": float(error.mean()),
            "mae_median": float(np.median(error)),
            "mae_central": float(error[50:450].mean()),
            "mae_first": float(error[0]),
            "mae_last": float(error[-1]),
            "mse": float(np.square(self.predict(model, tokens) - tokens.aux["target"].cpu().numpy()).mean()),
        }

    def sweep(self, model: nn.Module, points: int = 500) -> tuple[np.ndarray, np.ndarray]:
        """Evenly spaced positions and the errors (named - true) there, each (points,)."""
        where = np.linspace(self.low, self.high, points)
        return where, self.predict(model, self.at(where[:, None]))[:, 0] - where

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        where, error = self.sweep(model)
        return {"positions": where.astype(np.float32), "error": error.astype(np.float32)}

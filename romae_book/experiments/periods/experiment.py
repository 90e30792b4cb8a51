"""One sine of 2 to 100 cycles, read at odd times: does attention find its period, or only use it when told?

Ours, not the paper's (the last figure of chapter 04 but one). The same small network fills in what is hidden. It is
told the times alone; or also the phase at the true frequency, which is cheating; or the phase at the frequency that a
small trainable periodogram finds in the readings.
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
from .data import CYCLES, READINGS, sines
from .periodogram import Periodogram, Told, phase_axis
from .rivals import by_lombscargle

BANDS = (2, 4, 8, 16, 32, 64, 100)  # cycles in the window: where an error by frequency begins and ends
ARMS = ("ladder", "tuned", "spectral")
NEIGHBOURS = 100  # series over which an error is smoothed, before it is asked where it passes a half


@dataclass(frozen=True, kw_only=True)
class Periods(Masked):
    """Filling in a sine of 2 to 100 cycles: is a period found, or only used (our own; chapter 04)?"""

    name = "periods"
    chapter = 4
    tiers = {"page": "own", "quick": "smoke"}
    campaign = (
        ("page", 3),
        ("page", 3, {"arm": "spectral"}),
        ("page", 3, {"arm": "tuned"}),
        ("page", 3, {"n_train": 256_000}),
        ("page", 1, {"position_scale": 10.0}),
        ("page", 1, {"arm": "spectral", "bins": 64}),
    )
    meanings = {
        "mse": "mean squared error of what is hidden, to the true sine",
        "kept": "cycles in the window up to which the error stays below half of that of predicting zero",
        "zero": "of predicting zero",
        "lombscargle": "of the sine that fits best at the Lomb-Scargle periodogram's best frequency",
    }
    deviations = ("D1", "D2", "D3", "D5", "D9", "D10", "D13")

    batch: int = setting(64, "samples per step", low=1)
    lr: float = setting(8e-3, "peak learning rate", low=1e-12, high=10)
    optimizer: str = setting("muon", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    warmup_share: float = setting(0.05, "share of the steps in which the learning rate warms up", low=0, high=1)
    n_train: int = setting(64_000, "training series", low=2)
    n_valid: int = setting(100, "validation series, for choosing settings", low=1)
    n_test: int = setting(2000, "test series", low=1)
    encoder: str = setting("32x2x3x64", "size of the encoder")
    decoder: str = setting("32x2x2x64", "size of the decoder")
    cls: bool = setting(False, "use a [CLS] token; without one, answers do not change when all times are moved")
    base: float = setting(100.0, "base of the frequencies of RoPE", low=1.0001)
    position_scale: float = setting(
        1.0, "factor on the times, which come in units of the typical gap", low=1e-6, high=1e6
    )
    arm: str = setting(
        "ladder", "what is told beside the times: nothing, the phase at the true frequency, or at one that is found",
        choices=ARMS,
    )
    bins: int = setting(128, "frequencies of the periodogram, where there is one", low=2)

    @classmethod
    def page(cls) -> "Periods":
        """The networks of the chapter's figure, small enough for it."""
        return cls(fast=True)

    @classmethod
    def quick(cls) -> "Periods":
        """The same cut to 100 steps."""
        return cls(n_train=6400, n_valid=100, n_test=200)

    @property
    def window(self) -> float:
        """Length of a series, in the units of its times."""
        return READINGS * self.position_scale

    def data(self, seed: int) -> Splits:
        parts = (sines(n, numpy_rng(seed, i)) for i, n in enumerate((self.n_train, self.n_valid, self.n_test)))
        return Splits(*(replace(part, positions=part.positions * self.position_scale) for part in parts))

    def model_config(self, **changes) -> ModelConfig:
        """A phase that is told is an axis of its own."""
        positions = PositionEncoding(kind=self.encoding, p=self.p, base=self.base)
        axes = 1 if self.arm == "ladder" else 2
        return super().model_config(**{"alone": True, "positions": positions, "axes": axes} | changes)

    def build(self, seed: int) -> nn.Module:
        model = seeded_build(seed, lambda: RoMAE(self.model_config()))
        return Told(model, Periodogram(self.bins, self.window)) if self.arm == "spectral" else model

    def trained_form(self, model: nn.Module) -> nn.Module:
        if self.arm != "spectral":
            return super().trained_form(model)
        return Told(super().trained_form(model.model), model.periodogram)

    def tell(self, tokens: Tokens) -> Tokens:
        """The tokens as the network gets them."""
        if self.arm != "tuned":
            return tokens
        return replace(tokens, positions=phase_axis(tokens.positions, tokens.aux["cycles"], self.window))

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        return masked_loss(model, self.tell(batch), batch.aux["hidden"])

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """mse, also of the series of each of BANDS (mse_2to4, ...); kept."""
        return errors(self.squares(model, tokens), tokens)

    def squares(self, model: nn.Module, tokens: Tokens) -> np.ndarray:
        """Mean squared error of each series: (n,)."""
        answers = predict_hidden(model, self.tell(tokens), tokens.aux["hidden"])
        return squares(answers[..., 0].double().numpy(), tokens)

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        found = {"_zero": np.zeros(1), "_lombscargle": by_lombscargle(tokens, self.window)}
        return {
            key: value for suffix, answers in found.items()
            for key, value in errors(squares(answers, tokens), tokens, suffix).items() if key != "kept_zero"
        }

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """The weights in half precision, weights.<name>; of each test series cycles, and squares of model and rivals:
        (n_test,) each."""
        kept = {"cycles": data.test.aux["cycles"].numpy(), "squares": self.squares(model, data.test),
                "squares_zero": squares(np.zeros(1), data.test),
                "squares_lombscargle": squares(by_lombscargle(data.test, self.window), data.test)}
        return weights_of(model) | {name: values.astype(np.float32) for name, values in kept.items()}


def squares(answers: np.ndarray, tokens: Tokens) -> np.ndarray:
    """Mean squared error of each series where it is hidden: answers (n, N) -> (n,)."""
    hidden = tokens.aux["hidden"].numpy()
    off = np.where(hidden, answers - tokens.values[..., 0].double().numpy(), 0)
    return np.square(off).sum(1) / hidden.sum(1)


def errors(square: np.ndarray, tokens: Tokens, suffix: str = "") -> dict[str, float]:
    cycles = tokens.aux["cycles"].numpy()
    found = {f"mse{suffix}": float(square.mean())}
    for low, high in zip(BANDS[:-1], BANDS[1:], strict=True):
        if (band := (low <= cycles) & (cycles < high)).any():
            found[f"mse_{low}to{high}{suffix}"] = float(square[band].mean())
    return found | {f"kept{suffix}": kept(cycles, square, squares(np.zeros(1), tokens))}


def kept(cycles: np.ndarray, square: np.ndarray, zero: np.ndarray) -> float:
    """The cycles from which the error is more than half of that of predicting zero, both smoothed over NEIGHBOURS
    series of about as many cycles; the most there are where it never is. cycles, square, zero (n,)."""
    order, width = cycles.argsort(), min(NEIGHBOURS, len(cycles))
    smooth = lambda x: np.convolve(x[order], np.ones(width) / width, mode="valid")  # noqa: E731
    lost = smooth(square) > smooth(zero) / 2
    return float(np.exp(smooth(np.log(cycles)))[lost.argmax()]) if lost.any() else CYCLES[1]

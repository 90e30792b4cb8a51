"""A filler: it says what lies between the points of any series, and how sure it is, without being trained on that one.

It learns from series drawn of priors (`data`), and is graded where the best possible answer is known: the posterior of
the Gaussian process that made the series, which knows its kernel and its noise; the model has to guess them. Our own:
the paper has nothing of the kind. It is what Conditional Neural Processes (Garnelo et al. 2018) and Prior-data Fitted
Networks (Mueller et al. 2022) do, with RoMAE as the network.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.batching import by_length
from romae_lite.masking import split
from romae_lite.model import BANDS, device_of, gaussian_loss, masked_loss, predict_hidden, split_mean_variance
from romae_lite.tokens import Tokens, to_device

from ..base import Masked, Splits, numpy_rng, setting
from . import rivals
from .data import KINDS, SEEN, generate, seen_slots

FROM = (3, 6, 11, 21, 41)  # groups of numbers of seen points begin here
# predictor(tokens) -> means and variances of measurements at the asked slots, (n, 24) each
Predictor = Callable[[Tokens], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, kw_only=True)
class Priors(Masked):
    """Filling any series without training, learnt from draws of priors (our own; the page Fill a series)."""

    name = "priors"
    chapter = 14
    tiers = {"page": "own", "quick": "smoke"}
    campaign = (("page", 1),)
    deviations = ("D1", "D2", "D3", "D5", "D9", "D10", "D13")

    epochs: int = setting(1, "passes over the training set", low=1)
    batch: int = setting(64, "samples per step", low=1)
    lr: float = setting(2e-2, "peak learning rate", low=1e-12, high=10)
    optimizer: str = setting("muon", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    warmup_share: float = setting(0.05, "share of the steps in which the learning rate warms up", low=0, high=1)
    n_train: int = setting(360_000, "training series", low=2)
    n_valid: int = setting(500, "validation series, for choosing settings", low=1)
    n_test: int = setting(5000, "test series, a thousand for each kind of prior", low=1)
    encoder: str = setting("48x3x3x112", "size of the encoder")
    decoder: str = setting("48x3x2x112", "size of the decoder")
    cls: bool = setting(False, "use a [CLS] token; without one, answers do not change when all times are shifted")
    scale: float = setting(1.0, "factor on the times, whose typical neighbours are one apart", low=1e-6, high=1e6)
    target: str = setting(
        "posterior", "what training compares with: the best possible answer, or the measurement that was drawn",
        choices=("posterior", "drawn"),
    )

    @classmethod
    def page(cls) -> "Priors":
        """The model that the package ships as "filler", and that runs in the page: settings chosen on validation."""
        return cls()

    @classmethod
    def quick(cls) -> "Priors":
        """The same cut to 100 steps: under a minute on two CPU cores, and far from converged."""
        return cls(n_train=6400, n_valid=100, n_test=200)

    # Data -----------------------------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        return Splits(*(self._split(seed, i, n) for i, n in enumerate((self.n_train, self.n_valid, self.n_test))))

    def _split(self, seed: int, stream: int, n: int) -> Tokens:
        made = generate(n, numpy_rng(seed, stream))
        return replace(made, positions=made.positions * self.scale)

    def order(self, train: Tokens, batch: int, generator: torch.Generator) -> Tensor:
        """Series with like numbers of seen points together: the others of a batch are filled up."""
        return by_length(train.real[:, : SEEN[1]].sum(1), batch, generator)

    # Model ----------------------------------------------------------------------------------------------------------

    def model_config(self, **changes):
        return super().model_config(**{"spread": True} | changes)

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        """Expected negative log-likelihood of a measurement at the asked points, in nats.

        Over all measurements that the seen points allow, its expectation is known, since their mean and variance are:
        its gradient has the same mean as that of the drawn measurement, and far less noise."""
        hidden = (~seen_slots()).expand(len(batch), -1)
        variance = None
        if self.target == "posterior":
            mean = torch.cat((batch.values[:, : SEEN[1], 0], batch.aux["mean"]), dim=1)[..., None]
            batch = replace(batch, values=mean)
            asked = (split(hidden, batch.real).hidden - SEEN[1]).clamp(min=0)  # (B, M), as the model answers them
            variance = (batch.aux["variance"] + batch.aux["noise"][:, None] ** 2).gather(1, asked)  # of measurements
            variance = to_device(variance, device_of(model))[..., None]
        return masked_loss(model, batch, hidden, partial(gaussian_loss, variance=variance))

    def predict(self, model: nn.Module, tokens: Tokens, batch: int = 250) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of measurements at the asked slots, (n, 24) float64 each; zero where there is padding."""
        order = tokens.real[:, : SEEN[1]].sum(1).argsort(stable=True)
        found = predict_hidden(model, tokens[order], (tokens.real & ~seen_slots())[order], batch)
        found = found[order.argsort(), SEEN[1] :].double()
        mean, log_variance = split_mean_variance(found)
        return mean[..., 0].numpy(), log_variance[..., 0].exp().numpy()

    # Metrics --------------------------------------------------------------------------------------------------------

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(lambda part: self.predict(model, part), tokens)

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """The metrics for each kind of prior, and for few and many seen points."""
        return self.score(lambda part: self.predict(model, part), data.test, groups=True)

    @staticmethod
    def score(predictor: Predictor, tokens: Tokens, groups: bool = False) -> dict[str, float]:
        """How good answers are, over all questions, in units of the seen values' standard deviation.

        nll_gap          negative log-likelihood of measurements, less that of the best possible answer: nats a question
        mse_ratio        mean squared error to the curve, over that of the best possible answer
        mse, nll         the same, plainly
        coverage68, 95   share of measurements within the bands that should hold 68.27 and 95.00 % of them

        groups: also ..._smooth and so on, for each kind of prior, and ..._n3 and so on, for numbers of seen points from
        this one to before the next.
        """
        mean, variance = (np.asarray(x, np.float64) for x in predictor(tokens))
        real = tokens.real[:, SEEN[1] :].cpu().numpy()
        aux = {name: tokens.aux[name].cpu().double().numpy() for name in ("clean", "mean", "variance", "noise", "kind")}
        measured = tokens.values[:, SEEN[1] :, 0].cpu().double().numpy()
        best = aux["variance"] + aux["noise"][:, None] ** 2
        found, parts = {}, {"": real}
        if groups:
            count = tokens.real[:, : SEEN[1]].sum(1).cpu().numpy()[:, None]
            parts |= {f"_{kind}": real & (aux["kind"] == i)[:, None] for i, kind in enumerate(KINDS)}
            parts |= {f"_n{a}": real & (count >= a) & (count < b) for a, b in pairwise((*FROM, SEEN[1] + 1))}
        for name, part in parts.items():
            if not part.any():
                continue
            over = lambda x, part=part: float(x[part].mean())  # noqa: E731
            nll, nll_best = over(_nll(measured, mean, variance)), over(_nll(measured, aux["mean"], best))
            mse, mse_best = over((mean - aux["clean"]) ** 2), over((aux["mean"] - aux["clean"]) ** 2)
            found |= {f"nll_gap{name}": nll - nll_best, f"mse_ratio{name}": mse / mse_best, f"mse{name}": mse}
            found |= {f"nll{name}": nll}
            off = np.abs(measured - mean) / np.sqrt(variance)
            found |= {f"coverage{share}{name}": over(off < band) for share, band in BANDS.items()}
        return found

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """The same of the posterior itself (best), of the Gaussian process with the likeliest kernel of a grid (gp),
        and of straight lines between the points (linear): mse_best and so on."""
        found = {}
        for name, rule in rivals.RIVALS.items():
            score = self.score(lambda part, rule=rule: rule(part, self.scale), tokens, groups=True)
            keys = [key for key in score if name != "linear" or key.startswith("mse")]
            found |= {f"{key}_{name}": score[key] for key in keys}
        return found


def _nll(y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return 0.5 * ((y - mean) ** 2 / variance + np.log(2 * math.pi * variance))

"""A filler: it says what lies between the points of any series, and how sure it is, without being trained on that one.

It learns from series drawn of priors (`data`) to correct straight lines (`romae_lite.series.filler`), and is graded
where the best possible answer is known: the posterior of the Gaussian process that made the series, which knows its
kernel and its noise; the model has to guess them. Our own: the paper has nothing of the kind. It is what Conditional
Neural Processes (Garnelo et al. 2018) and Prior-data Fitted Networks (Mueller et al. 2022) do, with RoMAE as the
network.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.series.filler import INPUTS, View, filling_loss, look, predict
from romae_lite.tokens import Tokens
from romae_lite.training import fit, mix_seed

from ..base import Masked, Splits, numpy_rng, setting
from . import rivals
from .data import ASKED, BLOCK, KINDS, NOISES, SEEN, Stream, generate

FROM = (3, 6, 11, 21, 41, 81)  # groups of numbers of seen points begin here
BANDS = {68: 1.0, 95: 1.959964}  # per cent of a normal within so many deviations: 68.27, 95.00
MOST = 10.0  # nats of the gap that a single question counts at most
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
    patch, axes = INPUTS, 2

    epochs: int = setting(1, "passes over the training set", low=1)
    batch: int = setting(32, f"samples per step; a divisor of {BLOCK}", low=1)
    lr: float = setting(6e-3, "peak learning rate", low=1e-12, high=10)
    optimizer: str = setting("muon", "optimizer; muon: for the blocks' matrices", choices=("adamw", "sgd", "muon"))
    warmup_share: float = setting(0.02, "share of the steps in which the learning rate warms up", low=0, high=1)
    n_train: int = setting(256_000, "training series", low=2)
    rounds: int = setting(1, "of training, each with new series and from half the learning rate", low=1, was=1)
    n_valid: int = setting(300, "validation series, for choosing settings", low=1)
    n_test: int = setting(4000, "test series", low=1)
    encoder: str = setting("48x3x3x112", "size of the encoder")
    decoder: str = setting("48x3x2x112", "size of the decoder")
    fast: bool = setting(True, "train in the fast form of the model (`romae_lite.fast`)", was=False)
    cls: bool = setting(False, "use a [CLS] token; without one, answers do not change when all times are shifted")

    def __post_init__(self):
        super().__post_init__()
        if BLOCK % self.batch:
            raise ValueError(f"batch is {self.batch}; it must divide {BLOCK}, the series that are drawn together")

    @classmethod
    def page(cls) -> "Priors":
        """The model that the package ships as "filler", and that runs in the page: settings chosen on validation."""
        return cls(rounds=3)

    @classmethod
    def quick(cls) -> "Priors":
        """The same cut to 100 steps: under a minute on two CPU cores, and far from converged."""
        return cls(n_train=4800, n_valid=100, n_test=200)

    # Data -----------------------------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        held = (generate(n, numpy_rng(seed, i)) for i, n in ((1, self.n_valid), (2, self.n_test)))
        return Splits(Stream(self.n_train, seed), *held)

    def order(self, train: Stream, batch: int, generator: torch.Generator) -> Tensor:
        """As they come: every draw is new."""
        return torch.arange(len(train))

    # Model ----------------------------------------------------------------------------------------------------------

    def model_config(self, **changes):
        return super().model_config(**{"spread": True, "alone": True} | changes)

    def build(self, seed: int) -> nn.Module:
        """A model that has nothing to add to straight lines yet."""
        model = super().build(seed)
        nn.init.zeros_(model.head[-1].weight)
        nn.init.zeros_(model.head[-1].bias)
        return model

    def checkpoints(self, path: Path) -> tuple[Path, ...]:
        return path, *(path.with_suffix(f".{k}.safetensors") for k in range(self.rounds - 1, 0, -1))

    def train(
        self, data: Splits, seed: int, *, checkpoint: Path | None = None, log: Callable | None = None, **options
    ) -> tuple[nn.Module, list[dict]]:
        """In rounds: each goes on with new series, from half the learning rate of the one before to 0 once more."""
        model, history = self.build(seed), []
        settings = {name: value for name, value in self.config().items() if name != "rounds"}
        for k in range(self.rounds):
            train = Stream(self.n_train, mix_seed(seed, k)) if k else data.train
            found = fit(
                self.trained_form(model), train, self.loss, replace(self.recipe(len(train)), lr=self.lr / 2**k),
                seed=seed, validate=lambda m: {f"valid_{k}": v for k, v in self.evaluate(m, data.valid).items()},
                checkpoint=checkpoint and self.checkpoints(checkpoint)[self.rounds - 1 - k], log=log, settings=settings,
                order=lambda generator, train=train: self.order(train, self.batch, generator), **options,
            )
            before = {name: history[-1][name] if history else 0 for name in ("epoch", "step", "seconds")}
            history += [entry | {name: entry[name] + done for name, done in before.items()} for entry in found]
        return model, history

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        """Expected negative log-likelihood of a measurement at the asked points, in nats.

        Over all measurements that the seen points allow, its expectation is known, since their mean and variance are:
        its gradient has the same mean as that of the drawn measurement, and far less noise."""
        mean, variance = (batch.aux[name].double() for name in ("mean", "variance"))
        return filling_loss(model, view(batch), mean, variance)

    @torch.inference_mode()
    def predict(self, model: nn.Module, tokens: Tokens, batch: int = 250) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of measurements at the asked slots, (n, 24) float64 each."""
        model.eval()
        mean, deviation = (np.empty((len(tokens), ASKED)) for _ in range(2))
        for rows, part in by_count(tokens):
            found = [predict(model, view(part[i : i + batch])) for i in range(0, len(part), batch)]
            mean[rows], deviation[rows] = (torch.cat(x).numpy() for x in zip(*found, strict=True))
        return mean, deviation**2

    # Metrics --------------------------------------------------------------------------------------------------------

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(lambda part: self.predict(model, part), tokens)

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """The metrics for each kind of prior and of noise, and for few and many seen points."""
        return self.score(lambda part: self.predict(model, part), data.test, groups=True)

    @staticmethod
    def score(predictor: Predictor, tokens: Tokens, groups: bool = False) -> dict[str, float]:
        """How good answers are, in units of the seen values' standard deviation.

        nll_gap          expected negative log-likelihood of a measurement, less that of the best possible answer: nats
                         a question, of which none counts more than 10
        mse_ratio        expected squared error to the curve, over that of the best possible answer: geometric mean
        nll              negative log-likelihood of the drawn measurements, none above 10
        coverage68, 95   share of these within the bands that should hold 68.27 and 95.00 % of them

        The first two are means over series of which the best answer is known, the others over all. groups: also
        ..._smooth and so on, for each kind of curve; ..._n3 and so on, for numbers of seen points from this one to
        before the next; and the last three as ..._heavy and so on, for kinds of noise.
        """
        mean, variance = (np.asarray(x, np.float64) for x in predictor(tokens))
        aux = {name: tensor.cpu().double().numpy() for name, tensor in tokens.aux.items()}
        count = tokens.real[:, : SEEN[1]].sum(1).cpu().numpy()
        off = (tokens.values[:, SEEN[1] :, 0].cpu().double().numpy() - mean) / np.sqrt(variance)
        square = (aux["mean"] - mean) ** 2
        ratio = aux["variance"] / variance
        curve = (aux["variance"] - aux["noise"]).clip(1e-9)
        each = {
            "nll_gap": 0.5 * (square / variance + ratio - 1 - np.log(ratio)).clip(max=2 * MOST),
            "mse_ratio": np.log1p(square / curve),
            "nll": (0.5 * (off**2 + np.log(2 * np.pi * variance))).clip(max=MOST),
            **{f"coverage{share}": np.abs(off) < band for share, band in BANDS.items()},
        }
        known = aux["style"] < NOISES.index("heavy")
        parts = {"": np.full(len(tokens), True)}
        if groups:
            parts |= {f"_{kind}": known & (aux["kind"] == i) for i, kind in enumerate(KINDS)}
            parts |= {f"_n{a}": (count >= a) & (count < b) for a, b in pairwise((*FROM, SEEN[1] + 1))}
            parts |= {f"_{style}": aux["style"] == i for i, style in enumerate(NOISES)}
        found = {}
        for ending, part in parts.items():
            for name, values in each.items():
                rows = part & known if name in ("nll_gap", "mse_ratio") else part
                if rows.any():
                    found[name + ending] = float(values[rows].mean())
        return {name: float(np.exp(x)) if name.startswith("mse") else x for name, x in found.items()}

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """The same of the posterior itself (best), of the Gaussian process with the likeliest kernel of a grid (gp),
        and of straight lines between the points (linear): mse_ratio_gp and so on."""
        found = {}
        for name, rule in rivals.RIVALS.items():
            score = self.score(rule, tokens, groups=True)
            found |= {f"{key}_{name}": value for key, value in score.items()}
        return found


def view(batch: Tokens) -> View:
    """What the model reads of series with as many seen points each, and nothing between those and the 24 asked."""
    t, y, error = batch.positions[..., 0], batch.values[..., 0].double(), batch.aux["error"].double()
    return look(t[:, :-ASKED], y[:, :-ASKED], t[:, -ASKED:], error[:, :-ASKED])


def by_count(tokens: Tokens):
    """Rows (n,) and series of `generate`, for each number of seen points, without the empty slots."""
    counts = tokens.real[:, : SEEN[1]].sum(1)
    for count in counts.unique().tolist():
        rows = (counts == count).nonzero()[:, 0]
        part = tokens[rows]
        slots = torch.cat((torch.arange(count), torch.arange(SEEN[1], SEEN[1] + ASKED)))
        aux = part.aux | {"error": part.aux["error"][:, slots]}
        yield rows, Tokens(values=part.values[:, slots], positions=part.positions[:, slots], aux=aux)

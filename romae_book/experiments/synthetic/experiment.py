"""Interpolating smooth random series from 3 to 10 of their points (paper Sec. 5.5, D.8; Tables 7 and 20; chapter 06).

The number of observed points is drawn anew for every series, and the error is measured for every number separately:
that number decides how hard the task is, so one mean hides most of the story.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.masking import hide
from romae_lite.model import count_parameters, masked_loss, predict_hidden
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Splits, numpy_rng, setting, weights_of
from ..unit import MaskedInTime
from . import rivals as predictors
from .data import GRIDS, generate

COUNTS = (*range(3, 21), 25)  # numbers of observed points at which a model is tested; 25: HeTVAE's test
LEAKED = 400  # series of the training set that the authors' code tests on (D17)
EXAMPLES = (3, 10, 20)  # numbers of observed points of the paper's Figure 8
PAGE = 90_000  # weights that a page can carry

# predictor(series, observed (n, T) bool) -> prediction (n, T)
Predictor = Callable[[Tokens, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Synthetic(MaskedInTime):
    """Interpolating synthetic series from 3 to 10 points (Table 7, chapter 06). The defaults are Table 20."""

    name = "synthetic"
    chapter = 6
    tiers = Experiment.tiers | {"mini": "own"}
    campaign = (
        ("mini", 1),
        ("mini", 1, {"position_scale": 1.0}),  # the other unit, for the same figure
        ("best", 5),
        ("paper", 5),
        *(("best", 3, {"n_train": 32_000, "position_scale": scale}) for scale in (1.0, 10.0, 50.0, 200.0, 800.0)),
        ("best", 3, {"n_train": 32_000, "cls": True}),
        ("best", 3, {"grid": "hetvae"}),
        # little data, many times over, with fresh masks and with masks that a series keeps: what can be learnt by heart
        ("best", 5, {"n_train": 1600, "epochs": 80}),
        ("best", 3, {"n_train": 1600, "epochs": 80, "shared_seed": True}),
        ("paper", 2, {"grid": "from-zero", "shared_seed": True}),
        ("paper", 3, {"position_scale": 50.0}),
        ("paper", 1, {"grid": "hetvae"}),
        ("paper", 5, {"grid": "from-zero"}),  # the grid of our own settings
    )
    deviations = ("D1", "D2", "D3", "D5", "D6", "D9", "D10", "D13", "D17", "D18", "D37")
    free = {"D37": lambda record, metric: record.tier == "paper"}

    epochs: int = setting(50, "passes over the training set", low=1)
    batch: int = setting(8, "samples per step", low=1)
    lr: float = setting(1e-3, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(0.02, "share of steps that warm up: Table 20's 200 of 10,000", low=0, high=1)
    grid: str = setting("authors", "whose points and reference points", choices=tuple(GRIDS))
    n_train: int = setting(1600, "training series: 80 % of 2000", low=2)
    n_valid: int = setting(200, "validation series: 10 %, for choosing settings", low=1)
    n_test: int = setting(1000, "test series: five times the paper's 200, for a steadier mean (D17)", low=1)
    shared_seed: bool = setting(False, "train as their code does: every series keeps one order of its points (D17)")
    decoder: str = setting("tiny-shallow", "size of the decoder (their code: as large as the encoder, D9)")
    cls: bool = setting(False, "use a [CLS] token (the paper: of no benefit here)")
    position_scale: float | None = setting(
        1.0, "factor on the times; neighbours are 0.02 apart at 1, one unit with None", low=1e-6, high=1e6
    )

    @classmethod
    def paper(cls) -> "Synthetic":
        """Table 20: 10,000 steps of 8 series."""
        return cls()

    @classmethod
    def best(cls) -> "Synthetic":
        """Our own settings, chosen on the validation split: a small model, Muon, neighbouring points one unit apart,
        and every training series shown once. Their grid begins one step before the authors' (D18)."""
        return cls(
            grid="from-zero", n_train=128_000, epochs=1, batch=32, encoder="64x4x4x256", decoder="64x4x2x256",
            optimizer="muon", lr=1e-2, warmup_share=0.05, position_scale=50.0,
        )

    @classmethod
    def mini(cls) -> "Synthetic":
        """`best` with a model so small that its weights fit into a web page: the one in chapter 06's figure."""
        return cls.best().replace(encoder="32x2x3x128", decoder="32x2x2x128")

    @classmethod
    def quick(cls) -> "Synthetic":
        """`best` cut to 200 steps and smaller tests: under a minute on two CPU cores."""
        return cls.best().replace(n_train=6400, n_valid=100, n_test=100)

    @property
    def shown(self) -> range:
        """Numbers of observed points in training, and in the main metric: 3 to 10, HeTVAE's 3 to 9."""
        return range(3, 10) if self.grid == "hetvae" else range(3, 11)

    @property
    def scale(self) -> float:
        """Factor on the times."""
        times = GRIDS[self.grid][0]
        return self.position_scale or 1 / float(times[1] - times[0])

    # Data -----------------------------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        """Training, validation, test set. The test set ends with up to 400 training series, marked in aux["leaked"]."""
        train, valid, fresh = (self._split(seed, i, n) for i, n in enumerate((self.n_train, self.n_valid, self.n_test)))
        twice = train[:LEAKED]  # what the authors' test set is
        test = Tokens(
            values=torch.cat((fresh.values, twice.values)),
            positions=torch.cat((fresh.positions, twice.positions)),
            aux={key: torch.cat((fresh.aux[key], twice.aux[key])) for key in fresh.aux}
            | {"leaked": torch.arange(len(fresh) + len(twice)) >= len(fresh)},
        )
        return Splits(train, valid, test)

    def _split(self, seed: int, stream: int, n: int) -> Tokens:
        """Series with a random order of their points in aux["rank"] (n, T): those with rank < k are the k observed."""
        tokens = generate(n, numpy_rng(seed, stream), self.grid)
        rank = torch.rand(tokens.values.shape[:2], generator=seeded(seed, stream)).argsort(1).char()
        return Tokens(values=tokens.values, positions=tokens.positions * self.scale, aux=dict(tokens.aux, rank=rank))

    # Model ----------------------------------------------------------------------------------------------------------

    def loss(
        self, model: nn.Module, batch: Tokens, generator: torch.Generator
    ) -> Tensor:
        least, stop = self.shown.start, self.shown.stop
        count = torch.randint(least, stop, (len(batch),), generator=generator)
        if self.shared_seed:
            hidden = batch.aux["rank"] >= count[:, None]
        else:
            hidden = hide(batch.real, visible=count, generator=generator)
        return masked_loss(model, batch, hidden)

    def predict(self, model: nn.Module, tokens: Tokens, observed: np.ndarray, batch: int = 250) -> np.ndarray:
        """Predictions at the hidden points, zero at the observed ones: (n, T), float64."""
        return predict_hidden(model, tokens, torch.from_numpy(~observed), batch)[..., 0].double().numpy()

    # Metrics --------------------------------------------------------------------------------------------------------

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(lambda series, observed: self.predict(model, series, observed), tokens)

    def score(self, predictor: Predictor, tokens: Tokens) -> dict[str, float]:
        """Mean squared errors at the hidden points, to the noisy values and to the clean curve.

        mse_noisy, mse_clean      mean over the numbers of observed points in `shown`
        mse_noisy_n3 ... _n20     with so many observed, and _n25; above `shown` nobody was trained for it
        ..._leaked                mse_noisy and mse_clean on training series, as the authors' code tests (D17)

        Validation series get one number of observed points each, in turn, and only the first two metrics.
        """
        rank = tokens.aux["rank"].cpu().numpy()
        if "leaked" not in tokens.aux:
            counts = np.resize(list(self.shown), len(tokens))
            noisy, clean = _errors(predictor, tokens, rank < counts[:, None])
            return {"mse_noisy": noisy, "mse_clean": clean}
        leaked = tokens.aux["leaked"].cpu()
        found = {}
        for suffix, part, counts in (("", tokens[~leaked], COUNTS), ("_leaked", tokens[leaked], self.shown)):
            rank = part.aux["rank"].cpu().numpy()
            errors = {n: _errors(predictor, part, rank < n) for n in counts}
            for i, name in enumerate(("mse_noisy", "mse_clean")):
                found[f"{name}{suffix}"] = float(np.mean([errors[n][i] for n in self.shown]))
                if not suffix:
                    found |= {f"{name}_n{n}": errors[n][i] for n in counts}
        return found

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """The exact Gaussian process, linear interpolation, a cubic spline, and zero: mse_noisy_gp and so on."""

        def score(rule):
            return self.score(
                lambda series, seen: rule(series.values[..., 0].double().numpy(), seen, self.grid), tokens
            )

        rules = {name: getattr(predictors, name) for name in ("gp", "linear", "spline", "zero")}
        return {f"{key}_{name}": value for name, rule in rules.items() for key, value in score(rule).items()}

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """For figures: four series, the same whatever the seed, with 3, 10 and 20 points observed.

        noisy, clean, rank (4, T); romae (3, 4, T), zero at observed points. And the weights of a model that is small
        enough for a page, in half precision: weights.<name>.
        """
        few = self._split(0, 9, 4)
        rank = few.aux["rank"].numpy()
        kept = {
            "noisy": _noisy(few), "clean": few.aux["clean"].numpy(), "rank": rank,
            "romae": np.stack([self.predict(model, few, rank < n) for n in EXAMPLES]),
        }
        if count_parameters(model) <= PAGE:
            kept |= weights_of(model)
        return kept


def _errors(predictor: Predictor, series: Tokens, observed: np.ndarray) -> tuple[float, float]:
    """Mean squared error at the points that are not observed, (to the noisy values, to the clean curve)."""
    prediction, hidden = predictor(series, observed), ~observed
    targets = _noisy(series), series.aux["clean"].cpu().numpy()
    return tuple(float(np.square(prediction - target)[hidden].mean()) for target in targets)


def _noisy(series: Tokens) -> np.ndarray:
    """(n, T) float64."""
    return series.values[..., 0].cpu().double().numpy()

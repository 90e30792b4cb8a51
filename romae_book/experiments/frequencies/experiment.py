"""Which frequencies survive masking? (paper App. B.4, Figures 3 to 5; chapter 04)

Half of the points of a sum of one or two sines are hidden; the error is measured frequency by frequency.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.masking import hide
from romae_lite.model import ModelConfig, masked_loss, predict_hidden
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Splits, numpy_rng, setting
from ..unit import MaskedInTime
from .arrays import recorded
from .data import TOP, WAVES, draw, generate, waves
from .rivals import harmonic, straight

PAIRED = (1, 3, 5, 7, 9, 12, 15, 18, 21, 24)  # every two of these make a test group
MIXED, SINGLE, PAIR, LEAKED = range(4)  # groups of the test set
SHAPES = tuple((shape, f) for shape in WAVES for f in (2, 5))  # shapes of so many Hz that a model is tried on


@dataclass(frozen=True, kw_only=True)
class Frequencies(MaskedInTime):
    """Interpolating sums of sines, frequency by frequency (App. B.4, chapter 04). The defaults are the paper's."""

    name = "frequencies"
    chapter = 4
    variants = frozenset({"length"})
    tiers = Experiment.tiers | {"small": "reduced"}
    campaign = (
        ("small", 4),
        *(("small", 3, {"position_scale": scale}) for scale in (99.0, 10.0, 30.0, 300.0, 3.0, 1000.0)),
        ("small", 3, {"position_scale": 99.0, "n_train": 500, "epochs": 80, "fixed_masks": True}),
        ("small", 1, {"encoder": "64x4x12x256"}),
        ("small", 1, {"position_scale": 99.0, "encoder": "64x4x1x256"}),
        *(
            ("small", 1, {name: value, "position_scale": scale})
            for scale in (1.0, 99.0)
            for name, value in (("encoding", "absolute"), ("p", 0.25), ("p", 1.0), ("base", 100.0), ("base", 1e6))
        ),
        ("paper", 5),
        ("paper", 5, {"length": 300}),
    )
    deviations = ("D1", "D2", "D3", "D5", "D6", "D7", "D13", "D16", "D44", "D45")

    epochs: int = setting(200, "passes over the training set", low=1)
    batch: int = setting(248, "samples per step (their notebook)", low=1)
    lr: float = setting(4e-4, "peak learning rate (their notebook)", low=1e-12, high=10)
    warmup_share: float = setting(2000 / 8200, "share of steps that warm up: 2000 of 8200", low=0, high=1)
    n_train: int = setting(10_000, "training series", low=1)
    n_valid: int = setting(500, "validation series", low=1)
    n_test: int = setting(1000, "test series drawn like the training series", low=1)
    per_group: int = setting(200, "test series for each frequency and each pair of frequencies", low=1)
    length: int = setting(100, "points of a series", low=4)
    observed: int | None = setting(None, "points shown; None: 50, or 100 where the length is 300", low=1)
    fixed_masks: bool = setting(False, "keep the mask of a training series, as their code does, instead of new ones")
    decoder: str = setting("tiny-shallow", "size of the decoder (their code: tiny)")
    base: float = setting(10_000.0, "base of the frequencies of RoPE", low=1.0001)
    position_scale: float | None = setting(
        1.0, "factor on the times, which run from 0 to 1; None: neighbours one unit apart", low=1e-6, high=1e6
    )

    def __post_init__(self):
        super().__post_init__()
        if self.observed is not None and self.observed >= self.length:
            raise ValueError(f"observed is {self.observed}; it must be below the length, {self.length}")

    @classmethod
    def paper(cls) -> "Frequencies":
        """Tiny encoder, 8200 steps: most of a day on one CPU core, minutes on a GPU."""
        return cls()

    @classmethod
    def small(cls) -> "Frequencies":
        """The paper's series and positions, a small model and 1252 steps, which a CPU can repeat often."""
        return cls(
            encoder="64x4x4x256", decoder="64x4x2x256", epochs=4, batch=32, optimizer="muon", lr=1e-2,
            warmup_share=0.05, per_group=50,
        )

    @classmethod
    def quick(cls) -> "Frequencies":
        """`small` for one pass over 8000 series, positions x 99: under a minute on two CPU cores."""
        return cls.small().replace(position_scale=99.0, n_train=8000, epochs=1, n_valid=100, n_test=200, per_group=20)

    @property
    def shown(self) -> int:
        return self.observed or (100 if self.length == 300 else self.length // 2)

    @property
    def scale(self) -> float:
        """Factor on the times."""
        return self.position_scale or float(self.length - 1)

    # Data -----------------------------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        train = self._tokens(draw(self.n_train, numpy_rng(seed, 0)), seed, 0)
        valid = self._tokens(draw(self.n_valid, numpy_rng(seed, 2)), seed, 2)
        groups = [(MIXED, draw(self.n_test, numpy_rng(seed, 4)))]
        groups += [(SINGLE, np.array([[f, np.nan]])) for f in range(TOP + 1)]
        groups += [(PAIR, np.array([pair], float)) for pair in combinations_with_replacement(PAIRED, 2)]
        rows = [np.repeat(f, self.per_group, 0) if group != MIXED else f for group, f in groups]
        label = np.concatenate([np.full(len(r), group) for (group, _), r in zip(groups, rows, strict=True)])
        fresh = self._tokens(np.concatenate(rows), seed, 6)
        # what the authors' test set is: training series, shifted by one (D16)
        leaked = train[: self.n_test]
        test = Tokens(
            values=torch.cat((fresh.values, leaked.values)),
            positions=torch.cat((fresh.positions, leaked.positions)),
            aux={key: torch.cat((fresh.aux[key], leaked.aux[key])) for key in fresh.aux}
            | {"group": torch.cat((torch.from_numpy(label), torch.full((len(leaked),), LEAKED)))},
        )
        return Splits(train, valid, test)

    def _tokens(self, frequencies: np.ndarray, seed: int, stream: int) -> Tokens:
        tokens = generate(frequencies, numpy_rng(seed, stream, 1), self.length)
        hidden = hide(tokens.real, visible=self.shown, generator=seeded(seed, stream))
        return Tokens(
            values=tokens.values,
            positions=tokens.positions * self.scale,
            aux=dict(tokens.aux, hidden=hidden),  # of training series, only used with fixed_masks and for LEAKED
        )

    # Model ----------------------------------------------------------------------------------------------------------

    def model_config(self, **changes) -> ModelConfig:
        positions = PositionEncoding(kind=self.encoding, p=self.p, base=self.base)
        return super().model_config(positions=positions, **changes)

    def loss(
        self, model: nn.Module, batch: Tokens, generator: torch.Generator
    ) -> Tensor:
        hidden = batch.aux["hidden"]
        if not self.fixed_masks:
            hidden = hide(batch.real, visible=self.shown, generator=generator)
        return masked_loss(model, batch, hidden)

    def predict(self, model: nn.Module, tokens: Tokens, batch: int = 250) -> np.ndarray:
        """Predictions at the hidden points, the observations elsewhere: (n, length), float64."""
        hidden = tokens.aux["hidden"]
        found = predict_hidden(model, tokens, hidden, batch)
        return torch.where(hidden.cpu(), found[..., 0], tokens.values[..., 0].cpu()).double().numpy()

    # Metrics --------------------------------------------------------------------------------------------------------

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """`score`; of a test set also mse_clean_<shape>_<f>hz for SHAPES, and qk_encoder and qk_decoder, the product
        |q| |k| of the norms of queries and keys, mean over tokens, heads and layers."""
        found = self.score(self.predict(model, tokens), tokens)
        if "group" not in tokens.aux:
            return found
        for shape, f in SHAPES:
            series = self.waves(shape, f)
            found[f"mse_clean_{shape}_{f}hz"] = self.score(self.predict(model, series), series)["mse_clean"]
        norms = self.query_key_norms(model, tokens[torch.arange(50)])
        for part in ("encoder", "decoder"):
            found[f"qk_{part}"] = float(np.mean([value for name, value in norms.items() if name.startswith(part)]))
        return found

    def waves(self, shape: str, frequency: int, n: int = 100) -> Tokens:
        """n noisy series of a shape, with their masks: the same whatever the seed."""
        series = waves(shape, frequency, n, numpy_rng(0, 7), self.length)
        series.positions.mul_(self.scale)
        series.aux["hidden"] = hide(series.real, visible=self.shown, generator=seeded(0, 8))
        return series

    def query_key_norms(self, model: nn.Module, tokens: Tokens) -> dict[str, np.ndarray]:
        """|q| |k| in every attention layer, mean over tokens: {"encoder 1": (heads,), ...}."""
        found, hooks = {}, []

        def watch(name, attention):
            def hook(module, inputs, output):
                q, k, _ = output.unflatten(-1, (3, attention.heads, -1)).unbind(2)  # (B, N, H, head_dim) each
                norm = q.norm(dim=-1).mean((0, 1)) * k.norm(dim=-1).mean((0, 1))
                found[name] = norm.detach().float().cpu().numpy()

            hooks.append(attention.qkv.register_forward_hook(hook))

        for part, stack in (("encoder", model.encoder.stack), ("decoder", model.decoder)):
            for i, block in enumerate(stack.blocks):
                watch(f"{part} {i + 1}", block.attention)
        self.predict(model, tokens)
        for handle in hooks:
            handle.remove()
        return found

    @staticmethod
    def score(prediction: np.ndarray, tokens: Tokens) -> dict[str, float]:
        """Errors of predictions (n, length), by group of the test set.

        mse_noisy, mse_clean  at the hidden points, to the noisy values and to the clean curve
        mse_fft               between the spectra of the series with its hidden points filled in and of the clean one:
                              mean over all `length` bins of |difference / length|^2
        mse_spectrum          as the authors' notebooks have it: between the two `amplitudes`, which know no phase (D16)
        ..._leaked            on training series, with their noise, and where `fixed_masks` with the masks of training
        ..._3hz, ..._1hz_24hz of one sine, of two; ..._pairs_mean, _min, _max over all pairs
        snr                   power of the clean series over that of the noise
        """
        hidden, clean = tokens.aux["hidden"].cpu().numpy(), tokens.aux["clean"].cpu().numpy()
        noisy = tokens.values[..., 0].cpu().double().numpy()
        count = hidden.sum(1)
        error = {
            "mse_noisy": (hidden * (prediction - noisy) ** 2).sum(1) / count,
            "mse_clean": (hidden * (prediction - clean) ** 2).sum(1) / count,
            "mse_fft": np.square(np.abs(np.fft.fft(prediction - clean) / clean.shape[1])).mean(1),
            "mse_spectrum": np.square(amplitudes(prediction) - amplitudes(clean)).mean(1),
        }
        if "group" not in tokens.aux:  # training or validation series
            return {name: float(e.mean()) for name, e in error.items()}
        group, frequencies = tokens.aux["group"].numpy(), tokens.aux["frequencies"].numpy().astype(int)
        found = {name: float(e[group == MIXED].mean()) for name, e in error.items()}
        found |= {f"{name}_leaked": float(e[group == LEAKED].mean()) for name, e in error.items()}
        for name, e in error.items():
            for f in range(TOP + 1):
                found[f"{name}_{f}hz"] = float(e[(group == SINGLE) & (frequencies[:, 0] == f)].mean())
            pairs = {
                f"{name}_{f}hz_{g}hz": float(e[(group == PAIR) & (frequencies == (f, g)).all(1)].mean())
                for f, g in combinations_with_replacement(PAIRED, 2)
            }
            values = list(pairs.values())
            found |= pairs
            found |= {f"{name}_pairs_{word}": float(do(values)) for word, do in
                      (("mean", np.mean), ("min", min), ("max", max))}
        found["snr"] = float(
            np.square(clean[group == MIXED]).mean() / np.square((noisy - clean)[group == MIXED]).mean()
        )
        return found

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        return recorded(self, model, data) | super().arrays(model, data)

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """Harmonic regression on the observed points and predicting zero: mse_clean_harmonic, mse_clean_3hz_zero ...;
        for SHAPES straight lines as well: mse_clean_square_2hz_straight ..."""
        hidden = tokens.aux["hidden"].cpu().numpy()
        noisy = tokens.values[..., 0].cpu().double().numpy()
        found = {}
        for name, guess in (("harmonic", harmonic(noisy, ~hidden)), ("zero", np.zeros_like(noisy))):
            score = self.score(np.where(hidden, guess, noisy), tokens)
            found |= {f"{key}_{name}": value for key, value in score.items() if key.startswith("mse_")}
        for shape, f in SHAPES:
            series = self.waves(shape, f)
            noisy, seen = series.values[..., 0].double().numpy(), ~series.aux["hidden"].numpy()
            guesses = {"harmonic": harmonic(noisy, seen), "straight": straight(noisy, seen), "zero": 0 * noisy}
            for name, guess in guesses.items():
                found[f"mse_clean_{shape}_{f}hz_{name}"] = self.score(guess, series)["mse_clean"]
        return found


def amplitudes(series: np.ndarray) -> np.ndarray:
    """Single-sided spectrum of real series (n, T): |rfft| / T, all bins but the first, and where T is even the last,
    doubled: the amplitude of the sine of each frequency, (n, T // 2 + 1)."""
    found = np.abs(np.fft.rfft(series)) / series.shape[1]
    found[:, 1 : (series.shape[1] + 1) // 2] *= 2
    return found

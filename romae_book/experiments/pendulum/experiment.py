"""The angle of a filmed pendulum (paper Sec. 5.4, D.4; Tables 5, 14 and 15; chapter 08).

50 noisy frames of a clip go in, one token each; the sine and cosine of the angle in each of them come out. There is no
pre-training and no mask. What makes the authors' protocol unusual is how answers are read off (D23) and how pixels are
scaled (D24); both are settings here.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.model import INITS, ModelConfig, RoMAEPredictor, device_of, size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import seeded_build

from ..base import Experiment, Splits, numpy_rng, setting
from . import rivals as predictors
from .arrays import recorded
from .data import SIZE, STEPS, generate, grey, published

AUTHORS_GREY = (0.002, 0.0021)  # their "mean" and "deviation" of pixels between 0 and 1 (D24)


@dataclass(frozen=True, kw_only=True)
class Pendulum(Experiment):
    """Sine and cosine of a pendulum's angle in 50 noisy frames (Table 5, chapter 08). The defaults are Table 15."""

    name = "pendulum"
    chapter = 8
    campaign = (
        ("paper", 20),
        ("best", 5),
        ("paper", 10, {"readout": "frame", "pixels": "true"}),
        ("paper", 10, {"readout": "frame"}),
        ("paper", 10, {"pixels": "true"}),
        ("paper", 5, {"clip": None}),
        ("paper", 5, {"clip": None, "schedule": "global-cosine"}),  # their script, as far as it can be had
        ("paper", 5, {"clips": "published"}),
        ("paper", 5, {"clips": "published", "clip": None, "schedule": "global-cosine"}),
        ("paper", 5, {"data_seed": 1}),
        ("paper", 5, {"data_seed": 2}),
    )
    meanings = {
        "mse": "mean squared error of sine and cosine",
        "mse_authors": "what the authors' script prints, a hundred times the mse (D25)",
        "degrees": "mean absolute error of the angle",
        "mse_blank, mse_seen": "of frames that are nothing but noise, and of the others",
        "…_mean, …_ridge, …_kalman": "of other predictors on the same clips",
    }
    deviations = ("D1", "D2", "D6", "D13", "D22", "D23", "D24", "D25", "D43")

    epochs: int = setting(50, "passes over the training set", low=1)
    batch: int = setting(16, "clips per step", low=1)
    warmup_share: float = setting(0.16, "share of steps that warm up: Table 15's 1000 of 6250", low=0, high=1)
    init: str = setting(
        "body", "how weights start: from a normal of deviation 0.02, all or all but the head's, or as PyTorch's (D43)",
        choices=INITS, was="torch",
    )
    n_train: int = setting(2000, "training clips", low=2)
    n_valid: int = setting(1000, "validation clips, for choosing settings", low=1)
    n_test: int = setting(1000, "test clips", low=1)
    keep_frames: int = setting(50, "frames kept of each clip's 100", low=2, high=STEPS)
    data_seed: int = setting(0, "seed of the clips: as in the paper, the same for every seed of the model", low=0)
    clips: str = setting(
        "ours", "our own generator's, or those of the published one, random numbers and all (D22)",
        choices=("ours", "published"), was="ours",
    )
    readout: str = setting(
        "cls", "all angles from [CLS] by order of frame (their code), or each from its frame's token (D23)",
        choices=("cls", "frame"),
    )
    pixels: str = setting(
        "authors", "standardise pixels by the authors' constants, or by the training set's (D24)",
        choices=("authors", "true"),
    )
    mirror: bool = setting(False, "show each training clip mirrored half of the time")
    encoder: str = setting("pendulum", "size of the encoder")
    cls: bool = setting(True, "use a [CLS] token")
    encoding: str = setting("rope", "position encoding", choices=PositionEncoding.KINDS)
    p: float = setting(0.75, "share of frequencies kept by p-RoPE", low=0, high=1)
    position_scale: float = setting(1.0, "factor on the numbers of the frames", low=1e-6, high=1e6)

    def __post_init__(self):
        super().__post_init__()
        if self.readout == "cls" and not self.cls:
            raise ValueError("cls is False, but readout 'cls'; angles cannot be read from a token that is not there")
        self._check_size("encoder")
        self.model_config()  # names what the model cannot have

    @classmethod
    def paper(cls) -> "Pendulum":
        """Tables 14 and 15, with the authors' read-out and pixels: 6250 steps, two minutes on one CPU core."""
        return cls()

    @classmethod
    def best(cls) -> "Pendulum":
        """Our own settings, chosen on the validation split: each frame's own token, true pixels, Muon, a wider model,
        clips mirrored at random; 2500 steps, two minutes on one CPU core."""
        return cls(
            readout="frame",
            pixels="true",
            mirror=True,
            encoder="64x4x3x256",
            optimizer="muon",
            lr=4e-3,
            epochs=20,
            init="torch",
        )

    @classmethod
    def quick(cls) -> "Pendulum":
        """`best` for five epochs: under a minute on two CPU cores."""
        return cls.best().replace(epochs=5, n_valid=200)

    # Data -----------------------------------------------------------------------------------------------------------

    def data(self, seed: int) -> Splits:
        """The same clips for every seed of the model, as in the paper (D25); splits share no stream.

        aux: target (n, N, 2), share (n, N) of the picture that the noise leaves, angles (n, 100), and grey (n, 2), the
        mean and deviation of pixels between 0 and 1 that values were standardised with.
        """
        counts = (self.n_train, self.n_valid, self.n_test)
        if self.clips == "published":  # test after training from one stream, seed 42; validation from another
            stream = [np.random.RandomState(seed + 1000 * self.data_seed) for seed in (42, 43)]
            train, test = published((self.n_train, self.n_test), stream[0], self.keep_frames, (2000, 0))
            parts = [train, *published((self.n_valid,), stream[1], self.keep_frames, (1000,)), test]
        else:
            parts = [generate(n, numpy_rng(self.data_seed, i), self.keep_frames) for i, n in enumerate(counts)]
        mean, std = AUTHORS_GREY
        if self.pixels == "true":
            std, mean = (t.item() / 255 for t in torch.std_mean(parts[0].values))
        return Splits(*(self._scaled(part, mean, std) for part in parts))

    def _scaled(self, clips: Tokens, mean: float, std: float) -> Tokens:
        grey = torch.tensor([mean, std]).expand(len(clips), -1)
        return replace(
            clips,
            values=clips.values.div_(255).sub_(mean).div_(std),
            positions=clips.positions * self.position_scale,
            aux=dict(clips.aux, grey=grey),
        )

    # Model ----------------------------------------------------------------------------------------------------------

    def model_config(self) -> ModelConfig:
        return ModelConfig(
            patch=SIZE * SIZE, axes=1, encoder=size(self.encoder), cls=self.cls,
            positions=PositionEncoding(kind=self.encoding, p=self.p), init=self.init,
        )

    def build(self, seed: int) -> RoMAEPredictor:
        config = self.model_config()
        if self.readout == "frame":
            arguments = dict(outputs=2, pool="token")
        else:
            arguments = dict(outputs=2 * self.keep_frames, pool="cls")
        return seeded_build(seed, lambda: RoMAEPredictor(config, **arguments))

    def answers(self, model: nn.Module, batch: Tokens) -> Tensor:
        """Sine and cosine for every frame, (B, N, 2). From [CLS], the k-th pair of outputs
        is the k-th frame's."""
        out = model(batch)
        if self.readout == "frame":
            return out
        return out.view(len(out), -1, 2)[:, : batch.values.shape[1]]

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        if self.mirror:
            batch = mirrored(batch, torch.rand(len(batch), generator=generator) < 0.5)
        batch = batch.to(device_of(model))
        return (self.answers(model, batch).float() - batch.aux["target"]).square().mean()

    @torch.no_grad()
    def predict(self, model: nn.Module, tokens: Tokens, batch: int = 250) -> np.ndarray:
        """Sine and cosine for every frame, (n, N, 2) float64."""
        model.eval()
        device = device_of(model)
        parts = [self.answers(model, tokens[i : i + batch].to(device)).cpu() for i in range(0, len(tokens), batch)]
        return torch.cat(parts).double().numpy()

    # Metrics --------------------------------------------------------------------------------------------------------

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(self.predict(model, tokens), tokens)

    @staticmethod
    def score(prediction: np.ndarray, tokens: Tokens) -> dict[str, float]:
        """Errors of sines and cosines (n, N, 2).

        mse          plain mean over all outputs
        mse_authors  what the authors' script prints for 1000 clips: sum of squared errors / 1000 (D25)
        degrees      mean absolute error of the angle that sine and cosine point to
        mse_blank    mse where the frame is nothing but noise, mse_seen where it is not
        """
        target = tokens.aux["target"].double().cpu().numpy()
        square = (prediction - target) ** 2
        angle = np.arctan2(*np.moveaxis(prediction, -1, 0)) - np.arctan2(*np.moveaxis(target, -1, 0))
        found = {
            "mse": float(square.mean()),
            "mse_authors": float(square.sum((1, 2)).mean()),
            "degrees": float(np.degrees(np.abs((angle + np.pi) % (2 * np.pi) - np.pi)).mean()),
        }
        blank = tokens.aux["share"].cpu().numpy() == 0
        for key, where in (("mse_blank", blank), ("mse_seen", ~blank)):
            if where.any():
                found[key] = float(square[where].mean())
        return found

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        return recorded(self, model, data) | super().arrays(model, data)

    def compare(self, data: Splits, clips: int = 500) -> dict[str, float]:
        """The training set's mean, ridge regression on a frame's pixels (from some training clips), and a Kalman
        smoother that knows the physics: mse_mean, mse_ridge, mse_kalman and so on."""
        train, test = data.train[: min(clips, len(data.train))], data.test
        target, numbers = train.aux["target"].numpy(), (test.positions[..., 0] / self.position_scale).round().numpy()
        guesses = {
            "mean": np.broadcast_to(target.mean((0, 1)), test.aux["target"].shape),
            "ridge": predictors.ridge((grey(train), target), grey(test)),
            "kalman": predictors.kalman(grey(test), numbers),
        }
        return {f"{key}_{name}": v for name, guess in guesses.items() for key, v in self.score(guess, test).items()}


def mirrored(batch: Tokens, flip: Tensor) -> Tokens:
    """Clips as seen in a mirror, left and right exchanged, where flip (B,) says so: sines change their sign.

    Nearly a clip of the mirrored swing: the camera has the axis half a pixel of its 128 off the middle."""
    pictures = batch.values.unflatten(-1, (SIZE, SIZE))
    values = torch.where(flip[:, None, None], pictures.flip(-1).flatten(-2), batch.values)
    sign = torch.stack((1.0 - 2 * flip.float(), torch.ones_like(flip, dtype=torch.float)), dim=-1)  # (B, 2)
    return replace(batch, values=values, aux=dict(batch.aux, target=batch.aux["target"] * sign[:, None]))

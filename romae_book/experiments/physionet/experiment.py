"""Filling the gaps of intensive-care records (paper Sec. 5.5, D.9; Table 7 and Table 21; chapter 07).

Every value that was measured is a token, at a time and a channel. Half of a record is hidden, in one of two ways that
the paper mixes up (D20): *rows* hides half of the minutes with all that was measured in them, *tokens* half of the
values.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.batching import by_length, trim
from romae_lite.masking import hide
from romae_lite.model import interpolate, masked_loss, predict_hidden
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Masked, Splits, numpy_rng, setting
from . import data as icu
from . import rivals as predictors
from .data import CHANNELS, Records


@dataclass(frozen=True, kw_only=True)
class PhysioNet(Masked):
    """Interpolating records of the PhysioNet Challenge 2012 (Table 7, chapter 07). The defaults are Table 21."""

    name = "physionet"
    chapter = 7
    axes = 2  # time and channel
    # hiding values is another task than the one compared with the paper, so its presets never count as the paper's
    tiers = Experiment.tiers | dict.fromkeys(("small", "best_tokens", "paper_tokens"), "own")
    campaign = (
        ("small", 5),
        ("small", 5, {"masking": "tokens"}),
        ("best", 5),
        ("best_tokens", 5),
        ("small", 3, {"position_scale": 1.0}),
        ("small", 3, {"outliers": "drop"}),
        ("small", 3, {"channels": "public", "descriptors": "observed"}),
        ("paper", 5),
        ("paper_tokens", 5),
    )
    meanings = {
        "mse": "mean squared error of all hidden values, standardised",
        "mse_plausible": "without the values that no living adult shows (D21)",
        "mse_balanced": "mean over channels of their mse, every channel alike",
        "mse_HR and so on": "of one channel",
        "…_mean, …_last, …_linear, …_boosted": "of other predictors on the same values",
    }
    deviations = ("D1", "D2", "D3", "D5", "D6", "D13", "D19", "D20", "D21", "D38", "D39")

    epochs: int = setting(200, "passes over the training set", low=1)
    batch: int = setting(16, "records per step", low=1)
    lr: float = setting(1e-4, "peak learning rate", low=1e-12, high=10)
    warmup_share: float = setting(1 / 750, "share of steps that warm up: Table 21's 100", low=0, high=1)
    source: str = setting("real", "the challenge's records, or made-up ones", choices=("real", "simulated"))
    patients: int | None = setting(None, "so many of them, drawn at random; None: all (simulated: 400)", low=20)
    outliers: str = setting(
        "keep", "values that no living adult shows: keep, or drop before all else (D21)", choices=("keep", "drop")
    )
    masking: str = setting("rows", "hide whole minutes (HeTVAE) or single values (D20)", choices=("rows", "tokens"))
    mask_ratio: float = setting(0.5, "share hidden, of minutes or of values", low=0.02, high=0.98)
    position_scale: float = setting(
        1.0, "factor on the times: 1 lets the 48 hours run from 0 to 1, 48 counts hours", low=1e-6, high=1e6
    )
    channels: str = setting(
        "public", "numbers of the channels: as in the public line of code, or with three neighbours the other way "
        "round (D38)", choices=("public", "ours"), was="ours",
    )
    descriptors: str = setting(
        "observed", "age, gender, height and type of unit: always observed (D.9), or hidden like other values (D39)",
        choices=("observed", "hidden"), was="hidden",
    )

    @classmethod
    def paper(cls) -> "PhysioNet":
        """Table 21, hiding rows as HeTVAE does: 75,000 steps. The paper took 3 h on an A100."""
        return cls()

    @classmethod
    def best(cls) -> "PhysioNet":
        """Our own settings: times in hours, a small model, Muon."""
        return cls(
            encoder="96x4x4x384", decoder="96x4x2x384", optimizer="muon", lr=5e-3, batch=32, epochs=10,
            warmup_share=0.05, position_scale=48.0, channels="ours", descriptors="hidden",
        )

    @classmethod
    def paper_tokens(cls) -> "PhysioNet":
        """`paper`, hiding single values (D20)."""
        return cls.paper().replace(masking="tokens")

    @classmethod
    def best_tokens(cls) -> "PhysioNet":
        """`best`, hiding single values (D20)."""
        return cls.best().replace(masking="tokens")

    @classmethod
    def small(cls) -> "PhysioNet":
        """`best` with a smaller model for few epochs: what a CPU can repeat to compare settings."""
        return cls.best().replace(encoder="64x4x3x256", decoder="64x4x1x256", epochs=4)

    @classmethod
    def quick(cls) -> "PhysioNet":
        """`small` on made-up records: seconds, and no result."""
        return cls.small().replace(source="simulated", batch=16)

    # Data -----------------------------------------------------------------------------------------------------------

    def load(self, folder: Path | str | None = None) -> Records:
        """All records there are: of `source`, from the folder or wherever `data.physionet.find` finds them."""
        if self.source == "simulated":
            return icu.simulated(self.patients or 400, numpy_rng(0))
        found = icu.load(Path(folder) if folder else None)
        if self.patients is None:
            found.verify()  # a part of them is another experiment: patients=N takes it
        return found

    def data(self, seed: int, folder: Path | str | None = None) -> Splits:
        """A fifth of the records for testing, as HeTVAE has it, a twentieth for validation, the others to train (D19).

        Records without two different minutes to show and to hide are left out (the ten empty ones; four more where
        descriptors are always observed). Means and deviations are the training
        set's. aux of validation and test: hidden (n, N), a mask fixed by the seed.
        """
        records = self.load(folder)
        if self.outliers == "drop":
            records = icu.without_outliers(records)
        order = numpy_rng(seed, 0).permutation(icu.usable(records, self.descriptors == "observed"))[: self.patients]
        test, valid = round(0.2 * len(order)), round(0.05 * len(order))
        parts = np.split(order, [len(order) - test - valid, len(order) - test])
        _, _, channel, value = icu.merged(records, parts[0])
        mean, std = icu.scaling(channel, value)
        return Splits(*(self._tokens(records, part, mean, std, seed, i) for i, part in enumerate(parts)))

    def _tokens(self, records: Records, chosen: np.ndarray, mean, std, seed: int, stream: int) -> Tokens:
        found = icu.tokens(records, chosen, mean, std)
        hidden = self.mask(found, seeded(seed, stream))  # training draws its own
        return replace(
            found, positions=found.positions * torch.tensor([self.position_scale, 1.0], dtype=torch.float64),
            aux=found.aux | {"hidden": hidden}, per_token=found.per_token | {"hidden"},
        )

    def mask(self, batch: Tokens, generator: torch.Generator) -> Tensor:
        """(B, N) bool, True where hidden: values of `masking` rows or tokens."""
        if self.descriptors == "observed":
            descriptor = batch.positions[..., 1] < len(icu.DESCRIPTORS)
            batch = replace(batch, pad=~batch.real | descriptor)
        if self.masking == "tokens":
            return hide(batch.real, ratio=self.mask_ratio, generator=generator)
        return hide_rows(batch, self.mask_ratio, generator)

    # Model ----------------------------------------------------------------------------------------------------------

    def numbered(self, positions: Tensor) -> Tensor:
        """Positions (..., 2) with the numbers of channels that the model gets."""
        if self.channels == "ours":
            return positions
        number = torch.tensor([icu.PUBLIC_ORDER.index(name) for name in CHANNELS], dtype=positions.dtype)
        return torch.stack((positions[..., 0], number[positions[..., 1].long()]), dim=-1)

    def loss(
        self, model: nn.Module, batch: Tokens, generator: torch.Generator
    ) -> Tensor:
        batch = trim(batch)
        hidden = self.mask(batch, generator)
        batch = replace(batch, positions=self.numbered(batch.positions))
        return masked_loss(model, batch, hidden)

    def order(self, train: Tokens, batch: int, generator: torch.Generator) -> Tensor:
        """Batches of records of like length."""
        return by_length(train.real.sum(1), batch, generator)

    def predict(self, model: nn.Module, tokens: Tokens, hidden: Tensor, batch: int = 32) -> np.ndarray:
        """Standardised predictions of the hidden values, zero elsewhere: (n, N) float64. Records of like length are
        predicted together."""
        out = torch.zeros(hidden.shape, dtype=torch.float64)
        for index in tokens.real.sum(1).argsort().split(batch):
            part = trim(tokens[index])
            width = part.values.shape[1]
            part = replace(part, positions=self.numbered(part.positions))
            out[index.cpu(), :width] = predict_hidden(model, part, hidden[index][:, :width])[..., 0].double()
        return out.numpy()

    # Metrics --------------------------------------------------------------------------------------------------------

    def training_set(self) -> int:
        """Three quarters of the records that hold two minutes (D19), or of those taken; four hold one
        minute of series."""
        held = icu.RECORDS - len(icu.EMPTY) - 4 * (self.descriptors == "observed")
        n = self.patients or (held if self.source == "real" else 400)
        return n - round(0.2 * n) - round(0.05 * n)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        return self.score(self.predict(model, tokens, tokens.aux["hidden"]), tokens)

    @staticmethod
    def score(prediction: np.ndarray, tokens: Tokens) -> dict[str, float]:
        """Errors of predictions (n, N) of the hidden values, standardised.

        mse             mean of the squared errors over all hidden values of all records (HeTVAE's)
        mae             mean of the absolute errors
        mse_plausible   mse without the values that no living adult shows (D21)
        mse_balanced    mean over channels of their mse: every channel counts alike
        mse_HR, ...     of one channel, where it has hidden values
        """
        hidden = tokens.aux["hidden"].cpu().numpy()
        channel = tokens.positions[..., 1].cpu().numpy()[hidden].astype(int)
        value, mean, std = (
            t.cpu().double().numpy()[hidden] for t in (tokens.values[..., 0], tokens.aux["mean"], tokens.aux["std"])
        )
        error = prediction[hidden] - value
        alive = icu.plausible(channel, (mean + std * value).round(3))  # 100 % has become 100.000004 in float32
        count = np.bincount(channel, minlength=len(CHANNELS))
        each = np.bincount(channel, error**2, len(CHANNELS)) / np.maximum(count, 1)
        found = {
            "mse": float(np.mean(error**2)),
            "mae": float(np.mean(np.abs(error))),
            "mse_plausible": float(np.mean(error[alive] ** 2)),
            "mse_balanced": float(each[count > 0].mean()),
        }
        return found | {f"mse_{CHANNELS[c]}": float(each[c]) for c in np.flatnonzero(count)}

    def baselines(self, tokens: Tokens) -> dict[str, float]:
        """Channel mean, last value carried forward and linear interpolation: mse_mean, mse_HR_last and so on."""
        hidden = tokens.aux["hidden"].cpu().numpy()
        found = {}
        for name in ("mean", "last", "linear"):
            score = self.score(getattr(predictors, name)(tokens, hidden), tokens)
            found |= {f"{key}_{name}": value for key, value in score.items()}
        return found

    def compare(self, data: Splits) -> dict[str, float]:
        """`baselines` on the test set, and where scikit-learn is installed boosted trees that learn from the training
        records, with one mask of each."""
        if not find_spec("sklearn"):
            return self.baselines(data.test)
        guess = predictors.boosted(*((part, part.aux["hidden"].cpu().numpy()) for part in (data.train, data.test)))
        score = self.score(guess, data.test)
        return self.baselines(data.test) | {f"{key}_boosted": value for key, value in score.items()}

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """For the explorable: three test records of middling length, uncovered step by step.

        mean, std (41,); levels (K,) shares shown; grid (G,) minutes; and of all three records one after the other, with
        `start` (4,) between them: minute, channel, value (M,), the last standardised; rank (M,), in which order minutes
        (or values, as `masking` has it) are uncovered; shown (3, K) how many of them are; romae (K, M) predictions of
        what is hidden; chosen (3, C) channels, and curve (3, K, C, G) what is predicted for them all along the grid.
        """
        test, levels = data.test, np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])
        grid = np.arange(0, icu.HORIZON + 1, 60)
        length = test.real.sum(1)
        middling = (length - length.float().median()).abs().argsort(stable=True)[: max(3, len(length) // 5)]
        found: dict[str, list] = {
            k: [] for k in ("minute", "channel", "value", "rank", "shown", "romae", "chosen", "curve")
        }
        for i in middling.sort().values[:3].tolist():
            one = trim(test[i : i + 1])
            n, minute = one.values.shape[1], one.positions[0, :, 0] / self.position_scale * icu.HORIZON
            channel = one.positions[0, :, 1].long()
            unit = one.aux["row"][0].long() if self.masking == "rows" else torch.arange(n)
            units = int(unit.max()) + 1
            rank = torch.randperm(units, generator=seeded(0, 5))[unit]  # (n,)
            shown = np.clip(np.rint(levels * units), 1, units - 1).astype(int)  # (K,)
            hidden = rank >= torch.from_numpy(shown)[:, None]  # (K, n)
            several = one[torch.zeros(len(levels), dtype=torch.long)]  # the record K times
            chosen = _worth_seeing(channel)
            asked = torch.cartesian_prod(chosen.double(), torch.from_numpy(grid).double() / icu.HORIZON).flip(1)
            asked[:, 0] *= self.position_scale  # (C G, 2)
            shown_tokens = replace(several, pad=hidden, positions=self.numbered(several.positions))
            curve = interpolate(model, shown_tokens, self.numbered(asked)).reshape(len(levels), len(chosen), len(grid))
            for name, value in (
                ("minute", minute.round().numpy().astype(np.int16)), ("channel", channel.numpy().astype(np.int8)),
                ("value", one.values[0, :, 0].numpy()), ("rank", rank.numpy().astype(np.int16)), ("shown", shown),
                ("romae", self.predict(model, several, hidden).astype(np.float32)), ("chosen", chosen.numpy()),
                ("curve", curve.numpy()),
            ):
                found[name].append(value)
        mean, std = _scaling_of(data.train)
        flat = {k: np.concatenate(found[k]) for k in ("minute", "channel", "value", "rank")}
        stacked = {k: np.stack(found[k]) for k in ("shown", "chosen", "curve")}
        return flat | stacked | {
            "romae": np.concatenate(found["romae"], axis=1), "grid": grid, "levels": levels, "mean": mean, "std": std,
            "start": np.cumsum([0, *map(len, found["minute"])]),
        }


def _worth_seeing(channel: Tensor, count: int = 6) -> Tensor:
    """The first channels of a list that have three values at least, filled up with the most frequent: (count,)."""
    names = "HR SysABP NISysABP Temp GCS Urine RespRate PaO2 pH Glucose HCT Na K Creatinine BUN FiO2".split()
    listed = [CHANNELS.index(name) for name in names]
    counts = torch.bincount(channel, minlength=len(CHANNELS))
    order = [c for c in listed if counts[c] >= 3] + counts.argsort(descending=True, stable=True).tolist()
    return torch.tensor(list(dict.fromkeys(order))[:count])


def _scaling_of(train: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation (41,) that the training set was standardised with; 0 and 1 where it has no such channel."""
    channel = train.positions[..., 1].long()[train.real].cpu()
    mean, std = torch.zeros(len(CHANNELS)), torch.ones(len(CHANNELS))
    mean[channel], std[channel] = train.aux["mean"][train.real].cpu(), train.aux["std"][train.real].cpu()
    return mean.numpy(), std.numpy()


def hide_rows(batch: Tokens, ratio: float, generator: torch.Generator) -> Tensor:
    """Choose minutes to hide, with all that was measured in them: (B, N) bool.

    ceil(ratio * minutes) of each record, drawn uniformly among those with a real
    token; aux row (B, N) says which minute a token belongs to.
    """
    row = batch.aux["row"].long()
    minutes = int(row.masked_fill(~batch.real, 0).max()) + 1
    record = torch.arange(len(row))[:, None].expand_as(row)
    exists = torch.zeros(len(row), minutes, dtype=torch.bool)
    exists[record[batch.real], row[batch.real]] = True  # (B, minutes)
    hidden = hide(exists, ratio=ratio, generator=generator)
    return hidden.gather(1, row) & batch.real

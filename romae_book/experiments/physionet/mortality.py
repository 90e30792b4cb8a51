"""Who died in hospital? Intensive-care records of PhysioNet 2012, with less and less known of them.

Ours, not the paper's: a row of *Which benchmarks need time?*.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from romae_lite.batching import trim
from romae_lite.masking import hide, split, take
from romae_lite.tokens import Tokens

from ..base import Splits, numpy_rng, setting
from ..classification import Answers, Contested, auroc, average_precision, stratified
from ..lightcurves import rivals
from . import data as icu
from . import outcomes
from .data import CHANNELS, Records

FOLDS = 5
FARTHEST = 8.0  # deviations from a channel's mean beyond which a value counts as that far
DROPPED = (0.6, 0.8)  # share of a record's values that a step of training does not see
LESS = ("ranks", "shuffled", "times")


@dataclass(frozen=True, kw_only=True)
class Mortality(Contested):
    """Deaths in hospital among the patients of set A of PhysioNet 2012. Our settings; the paper has no such table."""

    name = "mortality"
    chapter = 7
    patch = 2 * len(CHANNELS)  # of a token the value in its channel's place, and which channel it is
    classes = 2
    tiers = {"best": "own", "quick": "smoke"}
    variants = frozenset({"method", "information", "encoding"})
    campaign = tuple(
        ("best", 5, {"method": method} | ({} if information == "all" else {"information": information}))
        for method in ("trees", "romae") for information in ("all", *LESS)
    ) + (("best", 5, {"encoding": "none"}),)
    meanings = {
        "auroc": "area under the ROC curve: how often a patient who died is ranked above one who lived",
        "average_precision": "of those who died",
    }

    source: str = setting("real", "the challenge's records, or made-up ones", choices=("real", "simulated"))
    patients: int | None = setting(None, "so many of them; None: all 4000 of set A (simulated: 200)", low=50)
    method: str = setting(
        "romae", "who answers: RoMAE from nothing, or boosted trees on summaries of every channel",
        choices=("romae", "trees"),
    )
    information: str = setting(
        "all", "what is known of a value: all; its minute by its rank alone; values of a channel shuffled among their "
        "minutes; minutes and channels without values", choices=("all", *LESS),
    )
    position_scale: float = setting(48.0, "factor on the times: 48 counts hours", low=1e-6, high=1e6)

    fast: bool = setting(True, "train in the fast form of the model (`romae_lite.fast`): half the time")
    encoder: str = setting("48x3x3x192", "size of the encoder")
    decoder: str = setting("48x3x1x192", "size of the decoder")
    pool: str = setting("mean", "what the head reads: [CLS], or the mean of all tokens", choices=("cls", "mean"))
    optimizer: str = setting("muon", "optimizer", choices=("adamw", "sgd", "muon"))
    lr: float = setting(0.032, "peak learning rate", low=1e-12, high=10)
    batch: int = setting(64, "patients per step", low=1)
    epochs: int = setting(8, "passes over the training set", low=1)
    pretrain_epochs: int = setting(0, "passes before fine-tuning: none, RoMAE learns from nothing here", low=0, high=0)

    @classmethod
    def best(cls) -> "Mortality":
        return cls()

    @classmethod
    def quick(cls) -> "Mortality":
        """Made-up patients, of whom those with much lactate die: seconds, and no result."""
        return cls(source="simulated", epochs=2, batch=16, encoder="24x2x2x48", decoder="24x2x1x48")

    # Data -----------------------------------------------------------------------------------------------------------

    def records(self) -> tuple[Records, np.ndarray]:
        """Records without the values that no living adult shows (D21), and who died, (R,) bool."""
        if self.source == "simulated":
            records = icu.simulated(self.patients or 200, numpy_rng(0))
            lactate = records.value * (records.channel == CHANNELS.index("Lactate"))
            lactate = np.bincount(records.patient, lactate, len(records))
            return records, lactate > np.quantile(lactate, 0.7)
        found, died = icu.load(), outcomes.load()
        first = list(died)[: outcomes.SUMS[0][0]]  # set A
        usable = np.intersect1d(icu.usable(found), np.flatnonzero(np.isin(found.ids, first)))
        records = outcomes.chosen(icu.without_outliers(found), usable[: self.patients])
        return records, np.array([died[int(i)] for i in records.ids])

    def rows(self, died: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Patients to train, validate and test on: a fifth to test, the fold is the seed's; a fifth of the others to
        validate; of each outcome its share."""
        fold = stratified(died, FOLDS, numpy_rng(0, 13))
        train, test = np.flatnonzero(fold != seed % FOLDS), np.flatnonzero(fold == seed % FOLDS)
        held = rivals.hold_out(died[train].astype(int), seed, None)
        return train[~held], train[held], test

    def data(self, seed: int) -> Splits:
        """values (n, N, 2): the standardised value, and the number of its channel, which `shown` spreads out. aux:
        label (n,), 1 for those who died; index (n,), the number of the patient."""
        records, died = self.records()
        train, valid, test = self.rows(died, seed)
        records = outcomes.informed(records, self.information, numpy_rng(0, 14))
        _, _, channel, value = icu.merged(records, train)
        scaling = icu.scaling(channel, value)  # mean and deviation
        return Splits(*(self._tokens(records, died, part, *scaling) for part in (train, valid, test)))

    def _tokens(self, records: Records, died: np.ndarray, part: np.ndarray, *scaling: np.ndarray) -> Tokens:
        found = icu.tokens(records, part, *scaling)
        channel = found.positions[..., 1:].float()  # (n, N, 1)
        return Tokens(
            values=torch.cat((found.values.clamp(-FARTHEST, FARTHEST), channel), -1),  # (n, N, 2)
            positions=found.positions[..., :1] * self.position_scale,
            pad=found.pad,
            aux={"label": torch.from_numpy(died[part].astype(np.int16)), "index": torch.from_numpy(part)},
        )

    # Training -------------------------------------------------------------------------------------------------------

    def build(self, seed: int) -> nn.Module:
        return super().build(seed) if self.method == "romae" else Answers(np.zeros((1, 2)))

    def train(self, data: Splits, seed: int, **options) -> tuple[nn.Module, list[dict]]:
        if self.method == "romae":
            return super().train(data, seed, **options)
        begun = time.perf_counter()
        model = Answers(self.opponent(data, seed))
        seconds = round(time.perf_counter() - begun, 2)
        return model, [{"step": 0, "seconds": seconds, "tokens_per_second": 0.0}]

    def opponent(self, data: Splits, seed: int) -> np.ndarray:
        """Probabilities (n, 2) of the test set by boosted trees, which get the validation part as well once it has
        chosen."""
        records, died = self.records()
        records = outcomes.informed(records, self.information, numpy_rng(0, 14))
        table = outcomes.summaries(records, values=self.information != "times")
        train = torch.cat([part.aux["index"] for part in (data.train, data.valid)]).numpy()
        test = data.test.aux["index"].numpy()
        table = table[:, ~np.isnan(table[train]).all(0)]
        return rivals.trees(table[train], died[train].astype(int), table[test], 2, seed=seed)[0]

    def shown(self, batch: Tokens, device: torch.device, stage: str) -> Tokens:
        """With tokens (B, N, 82): a channel has a place for its value, and one that says whose value it is."""
        batch = super().shown(batch, device, stage)
        flags = one_hot(batch.values[..., 1].long(), len(CHANNELS)).float()  # (B, N, 41)
        return replace(batch, values=torch.cat((batch.values[..., :1] * flags, flags), -1))

    def loss(self, model, batch, generator, weights=None) -> Tensor:
        """Of records of which some values were dropped."""
        batch = trim(batch)
        kept = split(hide(batch.real, ratio=DROPPED, generator=generator), batch.real)
        thinned = Tokens(values=take(batch.values, kept.visible), positions=take(batch.positions, kept.visible),
                         pad=kept.visible_pad, aux=batch.aux)
        return super().loss(model, thinned, generator, weights)

    # Metrics --------------------------------------------------------------------------------------------------------

    def validate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """Of two hundred patients: a curve to look at, which chooses nothing."""
        return super().validate(model, tokens[:200])

    def score(self, logits: Tensor, label: Tensor) -> dict[str, float]:
        score, died = logits.softmax(1)[:, 1].double().numpy(), label.numpy() == 1
        found = {"auroc": auroc(died, score), "average_precision": average_precision(died, score)}
        return found | super().score(logits, label)

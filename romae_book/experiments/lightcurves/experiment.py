"""Telling measured light curves apart (chapter 10): four surveys, one protocol, with rivals on the same rows.

Every point is a token, (deviation, stated error, and four numbers of the whole object), at (band, time); with `axis`
"phase" also at its place on a circle, which the star's period turns once.
"""

import hashlib
import inspect
import json
import math
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.batching import trim
from romae_lite.masking import hide, take
from romae_lite.model import Encoder, RoMAE, masked_loss
from romae_lite.tokens import Tokens, collate
from romae_lite.training import NUMERICS, Recipe, mix_seed, seeded_build

from ..base import Splits, numpy_rng, setting
from ..classification import Answers, Classification, Contested, Together, average_precision, stratified
from ..data import data_root
from . import data as surveys
from . import features, rivals
from .data import Curves
from .kept import kept
from .recurrent import GRUD

PERIODIC = ("eros1", "asas", "rr_lyrae")
FOLDS = 5
PROTOCOLS = (  # survey, what is tested on, RoMAE's settings there
    ("eros1", "official", {"period": True}),
    ("asas", "folds", {"period": True, "most": 96, "epochs": 24, "pretrain_epochs": 24}),
    ("spcc", "random", {"epochs": 48}), ("spcc", "official", {"epochs": 48}), ("mallorn", "folds", {"epochs": 48}),
)
FEWER = {"spcc": {"pretrain_epochs": 3}}  # passes before few labels, or before a frozen encoder is read
LONGER = {"spcc": 4}  # times LEAST steps on few labels, by validation
SLOWER = {("eros1", "official"): {"epochs": 48}, ("spcc", "random"): {"epochs": 192}}  # from nothing, by validation
RIVALS = ("trees", "minirocket", "sampling", "largest")
EMBEDDED = ("frozen", "beside")  # who learn from what the pre-trained encoder says
METHODS = ("romae", "gru-d", *EMBEDDED, *RIVALS)
SHOWN = {  # who can be given less than all
    "ranks": ("romae", "trees"), "shuffled": ("romae", "trees"), "times": ("romae",),
    "detected": ("romae", "trees", "minirocket", "gru-d"),
}
DETECTED = 5.0  # stated errors that a value must be above 0
HIDDEN = (1 - 0.7, 1 - 0.3)  # share of an object's points that a step of training does not see
NOISE = 0.5  # added in training, in stated errors
LEAST = 150  # steps of fine-tuning on few labels, set beforehand: about as many as a thousand labels of SPCC get
GRU_D = {"optimizer": "adamw", "lr": 3e-3}  # of 0.001, 0.003 and 0.01 the best on validation, EROS-1 and SPCC in sum
LABELLED = {"eros1 official": 2912, "asas folds": 648, "spcc random": 1000, "spcc official": 1103}  # train, validation
COUNTS = {"eros1": 3641, "asas": 810, "spcc": 21_319, "mallorn": 3043}  # objects
TEST = 4000  # objects of SPCC to test on, where training is drawn at random
MEMBERS = 5  # networks that answer together
RADIUS = 4.0  # of the circle of the phase


def protocol(survey: str, tested_on: str) -> dict:
    """RoMAE's settings in one of PROTOCOLS, pre-trained."""
    return next(settings for *where, settings in PROTOCOLS if where == [survey, tested_on])


def from_nothing(survey: str, tested_on: str) -> dict:
    """RoMAE's settings there, not pre-trained."""
    return protocol(survey, tested_on) | {"pretrain_epochs": 0} | SLOWER.get((survey, tested_on), {})


def recurrent(survey: str, tested_on: str) -> dict:
    """The settings of GRU-D there: it sees as much as RoMAE from nothing, and trains as long."""
    ours = from_nothing(survey, tested_on).items()
    return {name: value for name, value in ours if name != "pretrain_epochs"} | {"method": "gru-d"}


@dataclass(frozen=True, kw_only=True)
class LightCurves(Contested):
    """Classifying measured light curves (chapter 10). The defaults are our settings; the paper has no such table.

    The settings are those of a trial elsewhere, not of the test sets: standardised tokens, points thinned anew at every
    step, noise of half the stated error, Muon.
    """

    name = "lightcurves"
    chapter = 10
    patch = 6
    tiers = {"best": "own", "quick": "smoke"}
    shaping = frozenset()
    gone = Classification.gone | {"keep_low": 0.3, "keep_high": 0.7, "noise": 0.5, "balance": 0.5}
    variants = frozenset({"survey", "tested_on", "method"})
    campaign = tuple(
        ("best", 5, {"survey": survey, "tested_on": tested_on} | more)
        for survey, tested_on, ours in PROTOCOLS
        for more in (*({"method": method} for method in RIVALS), recurrent(survey, tested_on),
                     from_nothing(survey, tested_on), ours,
                     *([from_nothing(survey, tested_on) | {"axis": "phase"}] if survey in PERIODIC else []))
    ) + tuple(
        ("best", 5, {"survey": "spcc", "tested_on": tested_on, "epochs": 48} | first)
        for tested_on in ("official", "random")
        for first in ({"pretrain_on": "labelled"}, {"pretrain_epochs": 1}, {"pretrain_on": "mallorn"})
    ) + tuple(
        ("best", 5, {"survey": survey, "tested_on": tested_on} | ours | {"members": MEMBERS})
        for survey, tested_on, ours in PROTOCOLS if (survey, tested_on) != ("spcc", "official")
    ) + tuple(
        ("best", 5, {"survey": "spcc", "tested_on": "random", "information": "detected"} | more)
        for more in ({"method": "trees"}, {"method": "minirocket"}, recurrent("spcc", "random"),
                     from_nothing("spcc", "random"), {"epochs": 48})
    )

    survey: str = setting("eros1", "which light curves", choices=tuple(surveys.SURVEYS))
    tested_on: str = setting(
        "official", "what is tested on: the official split, a fifth (the fold is the seed's), or all but random ones",
        choices=("official", "folds", "random"),
    )
    method: str = setting(
        "romae", "who answers: RoMAE; logistic regression on what its pre-trained encoder says, frozen; boosted trees "
        "that have that beside hand-made features; boosted trees on the features alone; MiniRocket on interpolated "
        "curves; GRU-D; boosted trees on the sampling, times and bands without values; the largest class",
        choices=METHODS,
    )
    labels: int | None = setting(
        None, f"train on so many labels, of every class alike, and RoMAE for {LEAST} steps at least; None: all", low=2,
    )
    information: str = setting(
        "all", "what is known of a point: all; for RoMAE and some rivals times as ranks; times shuffled against "
        "values, band by band; times and bands alone (RoMAE only: for trees that is the method sampling); all, of a "
        "transient from its first to its last detection",
        choices=("all", *SHOWN),
    )
    period: bool = setting(False, "tell the model the period that is found without labels, as a number in every token")
    axis: str = setting(
        "time", "where a point is: band and time, or also its phase, by the period that is found without labels",
        choices=("time", "phase"), was="time",
    )
    position_scale: float = setting(1.0, "factor on the times: 1 counts days", low=1e-6, high=1e6)
    most: int = setting(512, "points of an object that are looked at, evenly chosen", low=8)
    members: int = setting(
        1, "networks, fine-tuned from one first stage, whose probabilities are averaged; several choose nothing, and "
        "learn from the validation part as well", low=1, was=1,
    )

    fast: bool = setting(True, "train in the fast form of the model (`romae_lite.fast`): half the time")
    encoder: str = setting("72x3x3x288", "size of the encoder")
    decoder: str = setting("72x3x1x288", "size of the decoder")
    pool: str = setting("mean", "what the head reads: [CLS], or the mean of all tokens", choices=("cls", "mean"))
    optimizer: str = setting("muon", "optimizer", choices=("adamw", "sgd", "muon"))
    lr: float = setting(4e-3, "peak learning rate", low=1e-12, high=10)
    batch: int = setting(64, "objects per step", low=1)
    epochs: int = setting(12, "passes over the training set in fine-tuning", low=1)
    smoothing: float = setting(0.05, "label smoothing", low=0, high=0.99)
    pretrain_optimizer: str = setting("muon", "optimizer", choices=("adamw", "sgd", "muon"))
    pretrain_lr: float = setting(4e-3, "peak learning rate", low=1e-12, high=10)
    pretrain_epochs: int = setting(12, "passes over the curves before fine-tuning; 0: none", low=0)
    pretrain_on: str = setting(
        "all", "curves of the first stage: all of the survey; those alone that have labels to train and choose by; all "
        "of another survey", choices=("all", "labelled", *surveys.SURVEYS), was="all",
    )

    def __post_init__(self):
        super().__post_init__()
        if self.method not in SHOWN.get(self.information, METHODS):
            raise ValueError(f"information is {self.information!r}; for {self.method} it must be 'all'")
        if self.information == "detected" and self.survey in PERIODIC:
            raise ValueError(f"information is 'detected', which is for fluxes of transients; survey is {self.survey!r}")
        if self.members > 1 and self.method != "romae":
            raise ValueError(f"members is {self.members}; for {self.method} it must be 1")
        if self.members > 1 and self.labels is not None:
            raise ValueError(f"members is {self.members}, which learn from the validation part, and labels "
                             f"{self.labels}, which leave it out; choose members=1, or labels=None")
        if self.method in EMBEDDED and not self.cls:
            raise ValueError(f"cls is False; {self.method} reads [CLS] beside the mean of the tokens")
        if self.tested_on == "official" and self.survey not in ("eros1", "spcc"):
            raise ValueError(f"tested_on is 'official'; {self.survey} has no official split: choose folds")
        if self.tested_on == "random" and self.survey != "spcc":
            raise ValueError(f"tested_on is 'random', which is for spcc; the survey is {self.survey}")
        if self.axis == "phase" and (self.survey not in PERIODIC or self.information in ("ranks", "times")):
            raise ValueError(f"axis is 'phase', which wants the period of a star from its times and values; survey is "
                             f"{self.survey!r}, information {self.information!r}")

    @property
    def axes(self) -> int:
        return 4 if self.axis == "phase" else 2

    @classmethod
    def best(cls) -> "LightCurves":
        return cls()

    @classmethod
    def quick(cls) -> "LightCurves":
        """The twenty RR Lyrae that come with the book: seconds, and no result."""
        return cls(survey="rr_lyrae", tested_on="folds", batch=4, epochs=2, pretrain_epochs=1, most=64,
                   encoder="24x2x2x48", decoder="24x2x1x48")

    @property
    def classes(self) -> int:
        return surveys.SURVEYS[self.survey].classes

    def curves(self) -> Curves:
        return surveys.load(self.survey)

    # Data -----------------------------------------------------------------------------------------------------------

    def rows(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Objects to train, validate and test on. Validation is a fifth of the training labels, of MALLORN whole
        splits; `labels` are drawn from what is left."""
        curves, rng = self.curves(), numpy_rng(seed, 11)
        everything = np.arange(len(curves))
        group = curves.part if self.survey == "mallorn" else None
        if self.tested_on == "official":
            train, test = everything[curves.part == 0], everything[curves.part == 1]
        elif self.tested_on == "random":
            test = numpy_rng(0, 12).permutation(everything)[:TEST]
            train = np.setdiff1d(everything, test)
        else:
            fold = self._folds(curves, group)
            train, test = everything[fold != seed % FOLDS], everything[fold == seed % FOLDS]
        if self.tested_on == "random" and self.labels is None:
            train = rng.permutation(train)[:1000]
        held = rivals.hold_out(curves.label[train], seed, None if group is None else group[train])
        train, valid = train[~held], train[held]
        if self.labels is not None:
            train = self._balanced(curves.label, train, rng)
        return train, valid, test

    def _folds(self, curves: Curves, group: np.ndarray | None) -> np.ndarray:
        """(n,) which of five folds, the same for all seeds: whole groups, or every class dealt out evenly."""
        rng = numpy_rng(0, 13)
        if group is None:
            return stratified(curves.label, FOLDS, rng)
        names = rng.permutation(np.unique(group))
        return np.array([np.flatnonzero(names == g)[0] % FOLDS for g in group])

    def _balanced(self, label: np.ndarray, train: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """`labels` objects, of every class as many as the others where it has them."""
        left = {k: list(rng.permutation(train[label[train] == k])) for k in np.unique(label[train])}
        chosen = []
        while len(chosen) < self.labels and any(left.values()):
            for k in [k for k in left if left[k]][: self.labels - len(chosen)]:
                chosen.append(left[k].pop())
        return np.array(sorted(chosen))

    def data(self, seed: int) -> Splits:
        everything = self.tokens()
        return Splits(*(everything[torch.from_numpy(rows)] for rows in self.rows(seed)))

    def tokens(self, survey: str | None = None) -> Tokens:
        """All objects of the survey, or of another. aux: label (n,), index (n,), the object's number."""
        return _tokens(
            survey or self.survey, self.information, self.period, self.axis == "phase", self.position_scale, self.most)

    def training_set(self) -> int | None:
        """Known for RoMAE alone, and not of MALLORN, whose folds differ in size."""
        alone = {"eros1 official": 2332, "asas folds": 532, "spcc random": 801, "spcc official": 884}
        counts = alone if self.members == 1 else LABELLED
        return (self.labels or counts.get(f"{self.survey} {self.tested_on}")) if self.method == "romae" else None

    def pretraining_set(self) -> int | None:
        counts = {
            "all": COUNTS.get(self.survey), "labelled": LABELLED.get(f"{self.survey} {self.tested_on}"), **COUNTS,
        }
        return counts.get(self.pretrain_on) if self.method == "romae" else None

    def pretrain_data(self, data: Splits, seed: int) -> Tokens:
        if self.pretrain_on == "labelled":
            return self.tokens()[torch.cat([part.aux["index"] for part in (data.train, data.valid)])]
        return self.tokens(None if self.pretrain_on == "all" else self.pretrain_on)

    # Training -------------------------------------------------------------------------------------------------------

    def build(self, seed: int) -> nn.Module:
        if self.method == "gru-d":
            return seeded_build(seed, lambda: GRUD(surveys.SURVEYS[self.survey].bands, self.patch, self.classes))
        return super().build(seed) if self.method == "romae" else Answers(np.zeros((1, self.classes)))

    def trained_form(self, model: nn.Module) -> nn.Module:
        return model if self.method == "gru-d" else super().trained_form(model)

    def passes(self, samples: int) -> int:
        """Over the training set: `epochs`, of few labels as many as make LEAST steps."""
        return self.epochs if self.labels is None else max(
            self.epochs, math.ceil(LEAST / math.ceil(samples / self.batch)))

    def recipe(self, samples: int) -> Recipe:
        if self.labels is None:
            return super().recipe(samples)
        return self.replace(labels=None, epochs=self.passes(samples)).recipe(samples)

    def train(self, data: Splits, seed: int, **options) -> tuple[nn.Module, list[dict]]:
        """Histories of `EMBEDDED` begin with that of the embedding, and their seconds count it in, kept or not."""
        if self.method == "gru-d":  # the same steps, augmentation and weights of classes as RoMAE from nothing
            return Classification.train(self.replace(pretrain_epochs=0, **GRU_D), data, seed, **options)
        if self.method == "romae":
            return (super().train if self.members == 1 else self.train_members)(data, seed, **options)
        embedding, history = self.embedding(data, seed, **options) if self.method in EMBEDDED else (None, [])
        begun, spent = time.perf_counter(), history[-1]["seconds"] if history else 0.0
        model = Answers(self.opponent(data, seed, embedding))
        seconds = round(spent + time.perf_counter() - begun, 2)
        return model, [*history, {"step": 0, "seconds": seconds, "tokens_per_second": 0.0}]

    def train_members(
        self, data: Splits, seed: int, *, checkpoint: Path | None = None, **options
    ) -> tuple[Together, list[dict]]:
        """Each has a start and an order of its own. Their histories follow each other."""
        index = torch.cat([part.aux["index"] for part in (data.train, data.valid)])
        everything, answers = data._replace(train=self.tokens()[index], valid=None), []
        pretrained, history = self.first_stage(data, seed, checkpoint=checkpoint, **options)
        last, _, *others = self.checkpoints(checkpoint) if checkpoint else [None] * (self.members + 1)
        for k, path in enumerate((*others, last)):
            member = mix_seed(seed, 2 + k)
            model = self.build(member)
            if self.pretrain_epochs:
                self.start(model, pretrained, member)
            history = self.second_stage(model, everything, member, history, checkpoint=path, **options)
            answers.append(self.logits(model, data.test).softmax(1).numpy())
        return Together(np.stack(answers), model), history

    def checkpoints(self, path: Path) -> tuple[Path, ...]:
        more = (path.with_suffix(f".member{k}.safetensors") for k in range(self.members - 1))
        return *super().checkpoints(path), *more

    def first_stage(self, data: Splits, seed: int, **options) -> tuple[RoMAE, list[dict]]:
        """It knows no label. So it is trained once for all counts of labels, methods and test sets, and kept beside the
        data for these curves, settings and code; its history, kept with it, says what it cost."""
        if not self.pretrain_epochs:
            return super().first_stage(data, seed, **options)
        code = (Classification.autoencoder, Classification.first_stage, Classification.pretrain_recipe,
                LightCurves.pretrain_loss, LightCurves.thinned, deviation_loss)
        other = ("tested_on", "method", "labels", "epochs", "members")
        settings = {k: v for k, v in self.config().items() if k not in other}
        sample = self.pretrain_data(data, seed).fingerprint()
        facts = [settings, seed, HIDDEN, NOISE, NUMERICS, sample, *map(inspect.getsource, code)]
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]

        def make() -> dict[str, np.ndarray]:
            model, history = super(LightCurves, self).first_stage(data, seed, **options)
            weights = {f"weights.{name}": w.numpy() for name, w in model.state_dict().items()}
            return weights | {"history": np.array(json.dumps(history))}

        there = kept(Path(data_root()) / "lightcurves" / f"{self.survey}.pretrained-{key}.npz", key, make)
        model = self.autoencoder(seed)
        model.load_state_dict({name: torch.from_numpy(there[f"weights.{name}"]) for name in model.state_dict()})
        return model, json.loads(str(there["history"]))

    def embedding(self, data: Splits, seed: int, **options) -> tuple[np.ndarray, list[dict]]:
        """What the pre-trained encoder says of every object of the survey, (n, 2 E), and how it was trained."""
        model, history = self.first_stage(data, seed, **options)
        begun, spent = time.perf_counter(), history[-1]["seconds"] if history else 0.0
        found = encoded(model.encoder, self.tokens())
        seconds = round(spent + time.perf_counter() - begun, 2)
        return found, [*history, {"step": 0, "seconds": seconds, "tokens_per_second": 0.0, "stage": "embedding"}]

    def opponent(self, data: Splits, seed: int, embedding: np.ndarray | None = None) -> np.ndarray:
        """Probabilities (n, K) of the test set by another method. The trees get the validation part as well once it has
        chosen; the others, which choose nothing, get it at once."""
        curves = informed(self.curves(), self.information)
        train, test = (part.aux["index"].numpy() for part in (data.train, data.test))
        train = np.concatenate((train, data.valid.aux["index"].numpy())) if self.labels is None else train
        label = curves.label[train].astype(int)
        if self.method == "largest":
            return np.eye(self.classes)[np.full(len(test), np.bincount(label).argmax())]
        if self.method == "minirocket":
            about = self.tokens().values[:, 0, 2:5].numpy()  # spread, level and colour, alike in all tokens
            return rivals.minirocket(curves.rows(train), curves.rows(test), about[train], about[test], seed)
        if embedding is not None:  # of all curves the same mean and spread
            embedding = (embedding - embedding.mean(0)) / (embedding.std(0) + 1e-9)
        group = curves.part[train] if self.survey == "mallorn" else None
        if self.method == "frozen":
            choice = {} if self.labels else {"seed": seed, "settings": rivals.LINEAR, "group": group}
            return rivals.linear(embedding[train], label, embedding[test], self.classes, **choice)
        table = sampled(self.survey) if self.method == "sampling" else hand_made(self.survey, self.information)
        if self.method == "beside":
            table = np.hstack((table, embedding))  # (n, F + 2 E)
        return rivals.trees(table[train], label, table[test], self.classes, seed=seed, group=group)[0]

    def thinned(self, batch: Tokens, generator: torch.Generator) -> Tokens:
        """Some of the points of every object, with noise of its stated errors."""
        batch = trim(batch)
        dropped = hide(batch.real, ratio=HIDDEN, generator=generator)
        kept = batch.real & (~dropped | (batch.real.sum(1, keepdim=True) < 8))  # of few points none can be spared
        index = kept.int().argsort(dim=1, descending=True, stable=True)[:, : int(kept.sum(1).max())]  # (B, V)
        values, pad = take(batch.values, index).clone(), ~kept.gather(1, index)
        if self.information != "times":
            drawn = torch.randn(values.shape[:2], generator=generator)
            values[..., 0] += NOISE * values[..., 1].exp() * drawn
        return Tokens(values=values, positions=take(batch.positions, index), pad=pad if pad.any() else None,
                      aux={"label": batch.aux["label"]})

    def pretrain_loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        """Squared error of the hidden points' deviations, weighted by what their errors leave."""
        batch = self.thinned(batch, generator)
        hidden = hide(batch.real, ratio=(0.3, 0.8), generator=generator)
        return masked_loss(model, batch, hidden, loss=deviation_loss)

    def loss(self, model, batch, generator, weights=None) -> Tensor:
        return super().loss(model, self.thinned(batch, generator), generator, weights)

    # Metrics --------------------------------------------------------------------------------------------------------

    def validate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """Of up to a thousand objects, with few labels of fewer: a curve to look at, which chooses nothing."""
        return super().validate(model, tokens[: 1000 if self.labels is None else 200])

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        found = super().evaluate(model, tokens)
        return {"f1_macro": found["f1_macro"], "accuracy": found["accuracy"]}

    def examine(self, model: nn.Module, data: Splits) -> dict[str, float]:
        """Average precision of every class; of RoMAE also the score once shares are counted to the power that
        validation likes best: f1_macro_shifted, exponent."""
        logits, label = self.logits(model, data.test), data.test.aux["label"].long().cpu()
        names = [name.lower().replace(" ", "_") for name in self.curves().classes]
        found = {
            f"average_precision_{name}": average_precision(label.numpy() == k, logits.softmax(1)[:, k].numpy())
            for k, name in enumerate(names[:6])
        }
        if isinstance(model, Together):
            alone = [self.score(each.log(), label)["f1_macro"] for each in model.each]
            return found | {"f1_macro_alone": float(np.mean(alone))}
        if isinstance(model, Answers):
            return found
        valid, truth = self.logits(model, data.valid), data.valid.aux["label"].long().cpu()
        share = torch.bincount(data.train.aux["label"].long(), minlength=self.classes).clamp(min=1).log()
        powers = (-1.0, -0.5, 0.0, 0.5, 1.0)
        scores = [self.score(valid + power * share, truth)["f1_macro"] for power in powers]
        power = max(powers, key=lambda p: (scores[powers.index(p)], -abs(p)))
        return found | {
            "f1_macro_shifted": self.score(logits + power * share, label)["f1_macro"], "exponent": power,
        }


def arms(survey: str, tested_on: str, labels: int | None = None) -> dict[str, LightCurves]:
    """Who is compared in one of PROTOCOLS, on all labels or so many, each with its settings: RIVALS, EMBEDDED, "gru-d",
    "pre-trained", "scratch", of stars "phase", on all labels "together", MEMBERS of the pre-trained, and "untrained", a
    frozen encoder that saw nothing."""
    rival = LightCurves.best().replace(survey=survey, tested_on=tested_on, labels=labels)
    settings, fewer = protocol(survey, tested_on), FEWER.get(survey, {})
    ours, scratch = rival.replace(**settings), rival.replace(**from_nothing(survey, tested_on))
    frozen = ours.replace(epochs=rival.epochs)  # of which it has none
    if labels is not None:
        longer = LONGER[survey] * rival.passes(labels) if survey in LONGER else ours.epochs
        enough = longer == settings.get("epochs")  # so many labels that from nothing takes as long as with all
        ours = ours.replace(epochs=longer, **fewer)
        scratch = scratch if enough else ours.replace(pretrain_epochs=0)
    found = {name: rival.replace(method=name) for name in RIVALS}
    found |= {name: frozen.replace(method=name, **fewer) for name in EMBEDDED}
    found |= {"phase": scratch.replace(axis="phase")} if survey in PERIODIC else {}
    found |= {"together": ours.replace(members=MEMBERS)} if labels is None else {}
    return found | {
        "gru-d": rival.replace(**recurrent(survey, tested_on)), "pre-trained": ours, "scratch": scratch,
        "untrained": frozen.replace(method="frozen", pretrain_epochs=0),
    }


@torch.no_grad()
def encoded(encoder: Encoder, tokens: Tokens, batch: int = 128) -> np.ndarray:
    """(n, 2 E) float32: of every object the mean of its encoded tokens, and [CLS] beside it."""
    found, encoder = {}, encoder.eval()
    for index in tokens.real.sum(1).argsort(stable=True).split(batch):  # of like length
        part = trim(tokens[index])
        x, _, _ = encoder(part.values, part.positions, part.pad)  # (B, 1 + N, E)
        real = part.real[..., None]
        mean = (x[:, 1:] * real).sum(1) / real.sum(1)
        found |= zip(index.tolist(), torch.cat((mean, x[:, 0]), 1).numpy(), strict=True)
    return np.stack([found[i] for i in range(len(tokens))])


def deviation_loss(prediction: Tensor, target: Tensor, pad: Tensor | None) -> Tensor:
    """Mean over hidden tokens of the squared error of their first value, by 1 / (0.15 + error squared)."""
    weight = 1 / (0.15 + (2 * target[..., 1]).exp())  # (B, M)
    square = (prediction[..., 0] - target[..., 0]) ** 2 * weight
    return square.mean() if pad is None else (square * ~pad).sum() / (~pad).sum()  # no index: a GPU would be waited for


@lru_cache(maxsize=2)
def _tokens(survey: str, information: str, period: bool, phase: bool, scale: float, most: int) -> Tokens:
    curves = informed(surveys.load(survey), information)
    known = phase or (period and information != "times")
    found = log_periods(hand_made(survey, information), curves) if known else None  # (n,)
    samples = []
    for i in range(len(curves)):
        part = curves.points(i)
        t, y, e, b = (getattr(curves, name)[part].astype(np.float64) for name in ("time", "value", "error", "band"))
        if len(t) > most:
            some = np.unique(np.linspace(0, len(t) - 1, most).round().astype(int))
            t, y, e, b = t[some], y[some], e[some], b[some]
        values = described(t, y, e, b.astype(int), survey in PERIODIC)
        if period and found is not None:
            values[:, 5] = found[i]
        if information == "times":
            values[:] = 0
        bright = survey not in PERIODIC and information != "times"
        t = t - np.average(t, weights=np.abs(y) / e if bright else None)
        where = places(b, t, np.exp(found[i]) if phase else None, scale=scale)
        samples.append((torch.from_numpy(values).float(), torch.from_numpy(where)))
    label = torch.from_numpy(curves.label.astype(np.int16))
    return collate(samples, label=label, index=torch.arange(len(curves)))


def places(
    band: np.ndarray, time: np.ndarray, period: float | None,
    scale: float = 1.0, radius: float = RADIUS,
) -> np.ndarray:
    """(N, D): band and time; with a period also a place on a circle, which that turns
    once."""
    where = [band, scale * time]
    if period is not None:
        angle = 2 * np.pi * time / period
        where += [radius * np.cos(angle), radius * np.sin(angle)]
    return np.stack(where, 1)


def informed(curves: Curves, information: str) -> Curves:
    """Curves with something taken away. ranks: the number of a point in place of its time; shuffled: values and errors
    of an object's band in random order; detected: what lies before an object's first detection, or after its last.
    Else as they are."""
    if information == "ranks":
        count = np.arange(len(curves.time), dtype=np.float64)
        return replace(curves, time=count - np.repeat(curves.start[:-1], np.diff(curves.start)))
    if information == "detected":
        return detected(curves)
    if information != "shuffled":
        return curves
    rng, order = np.random.default_rng(0), np.arange(len(curves.time))
    for i in range(len(curves)):
        part = curves.points(i)
        for k in np.unique(curves.band[part]):
            mine = part.start + np.flatnonzero(curves.band[part] == k)
            order[mine] = rng.permutation(mine)
    return replace(curves, value=curves.value[order], error=curves.error[order])


def detected(curves: Curves) -> Curves:
    """Of every object the points from the first to the last value of DETECTED errors; of one that has fewer than two
    such, between its two largest in errors, since a masked autoencoder needs two points."""
    ratio, ends = curves.value / curves.error, []
    for i in range(len(curves)):
        part = curves.points(i)
        least = min(DETECTED, np.partition(ratio[part], -2)[-2])
        seen = part.start + np.flatnonzero(ratio[part] >= least)
        ends.append((seen[0], seen[-1] + 1))
    index = np.concatenate([np.arange(*of) for of in ends])
    start = np.append(0, np.cumsum([last - first for first, last in ends]))
    flat = {name: getattr(curves, name)[index] for name in ("time", "value", "error", "band")}
    return replace(curves, **flat, start=start)


def described(t: np.ndarray, y: np.ndarray, e: np.ndarray, b: np.ndarray, periodic: bool) -> np.ndarray:
    """(N, 6) of every point: deviation, log error; of the object: log spread, level, colour, and a place that is left.

    Magnitudes of variable stars: deviation from the band's median over the object's robust spread. Fluxes of
    transients: over the object's largest."""
    out = np.zeros((len(t), 6))
    bands = np.unique(b)
    if periodic:
        middle = {k: np.median(y[b == k]) for k in bands}
        y = y - np.array([middle[k] for k in b])
        spread = np.subtract(*np.quantile(y, (0.84, 0.16))) / 2 + 1e-3
        level, colour = np.median(list(middle.values())) - 17, middle[bands[0]] - middle[bands[-1]]
        facts = (np.log(spread), level / 2, colour)
    else:
        spread = np.quantile(np.abs(y), 0.98) + 1e-9
        top = {k: np.quantile(y[b == k], 0.95) / spread for k in bands}
        facts = (np.log(spread) / 2, np.log(np.median(e)) / 2, top[bands[0]] - top[bands[-1]])
    out[:, 0], out[:, 1] = np.clip(y / spread, -20, 20), np.clip(np.log(e / spread), -8, 3)
    out[:, 2:5] = facts
    return out


def log_periods(table: np.ndarray, curves: Curves) -> np.ndarray:
    """Of variable stars' features (n, F) the logarithm of the period in days, (n,): it follows 32 of every band."""
    return table[:, 32 * len(curves.bands)]


@lru_cache(maxsize=2)
def sampled(survey: str) -> np.ndarray:
    """Times and bands alone of a survey, in numbers: (n, F)."""
    return rivals.sampling(surveys.load(survey))


@lru_cache(maxsize=3)
def hand_made(survey: str, information: str = "all") -> np.ndarray:
    """Hand-made features of a survey, (n, F): computed once, and kept beside the data, for these curves and this code.
    """
    curves = informed(surveys.load(survey), information)
    code = hashlib.sha256(inspect.getsource(features).encode()).hexdigest()
    key = hashlib.sha256((curves.fingerprint() + code).encode()).hexdigest()[:16]
    name = survey if information == "all" else f"{survey}.{information}"
    path = Path(data_root()) / "lightcurves" / f"{name}.features.npz"
    return kept(path, key, lambda: {"features": features.features(curves, survey in PERIODIC)})["features"]

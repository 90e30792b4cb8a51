"""Classify irregular series, few of which have a label.

    tokens, _ = from_table(table, id="star", time="day", value="flux", label="kind")
    kinds = Classifier().fit(tokens).predict(tokens)

Two ways are tried on series that they have not seen: trees on simple statistics, and a
network that reads the series. What answers is the better one, or both together.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.base import ClassifierMixin
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from .. import checks
from ..batching import by_length, trim
from ..checks import a, at_least
from ..fast import Fast
from ..masking import hide, split, take
from ..model import (
    ModelConfig,
    RoMAE,
    RoMAEPredictor,
    device_of,
    masked_loss,
    reconstruction_loss,
    size,
)
from ..rope import PositionEncoding, turning_pairs
from ..tokens import Tokens, collate, to_device
from ..training import Recipe, fit, printer, seeded_build
from .columns import is_missing, read_numbers
from .estimator import Estimator, fitted_scale, foresee, optional, read_series
from .statistics import statistics
from .trees import TREES, Forest, grow
from .units import Scale, Series, channel_of

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the network in the answer
POWERS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25)  # of the shares of the classes in it
macro_f1 = partial(f1_score, average="macro", zero_division=0)
FEW = 200  # series with a class: the standard error of an accuracy is up to 3.5 points


class Classifier(ClassifierMixin, Estimator):
    """Classify series by trees on simple statistics and by a network, which learns to
    fill gaps on all series and then the classes of those that have one.

    Cross-validation chooses how much each of the two counts, and to which power the
    shares of the classes: the macro F1 decides, in which a rare class counts as much as
    a frequent one. Where the network is of no use, the statistics answer alone;
    if it is far behind after a fold, it is spared the others.

    Parameters
    ----------
    pretrain : bool, optional
        Whether the network learns to fill gaps first. None: where fewer than half of
        the series have a class.
    size : str, optional
        Of its encoder, as `size` takes it. None: by the number of values.
    longest : int
        Tokens of a series that the network looks at; of longer series every second,
        third ... one of each channel. The statistics are of all.
    steps : int, optional
        Of each of its two stages, in whole passes over the series. None: 100 to 400, by
        the number of series. 0: no network.
    lr : float
        Peak learning rate, of Muon.
    batch : int
        Series a step.
    folds : int
        Of the cross-validation. 0: none; both ways count alike.
    seed : int
    device : str, optional
        "cpu", "cuda" or "mps".
    verbose : bool
        Print what it will take, the course of the training, and the summary.

    Attributes
    ----------
    classes_ : array, (K,)
    model_ : RoMAEPredictor
    forest_ : Forest
    scale_ : Scale
    history_ : list of dict
        Learning curves.
    report_ : dict
        What cross-validation says; `summary` puts it into words.
    """

    SETTINGS = Estimator.SETTINGS | {
        "pretrain": a(bool | None), "longest": at_least(1), "folds": at_least(0),
        "steps": optional(at_least(0)),
    }
    LEARNT = Estimator.LEARNT | {
        "classes_": a(list | np.ndarray), "static_": a(dict), "weight_": a(float),
        "prior_": a(list),
    }
    MODEL = RoMAEPredictor

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value
        return tags

    def __init__(
        self, *, pretrain=None, size=None, longest=192, steps=None, lr=3e-3, batch=32,
        folds=3, seed=0, device=None, verbose=True,
    ):
        self.pretrain, self.size, self.longest = pretrain, size, longest
        self.steps, self.lr, self.batch, self.folds = steps, lr, batch, folds
        self.seed, self.device, self.verbose = seed, device, verbose

    def fit(
        self, X, y=None, scale: Scale | None = None, *, static=None, groups=None
    ) -> "Classifier":
        """Learn from series, some or all of which have a class.

        Parameters
        ----------
        X : Tokens, list of pairs (times, values), or array (n, T)
            Tokens as `from_table` makes them; pairs of (N,) times and (N,) or (N, P)
            values; evenly spaced values. Rows with a NaN are left out, with a
            UserWarning if that loses other values.
        y : array_like, (n,), optional
            Classes, None or NaN where unknown. None altogether: those of the table.
        scale : Scale, optional
            That of tokens which carry none. Those of `from_table` do.
        static : mapping of columns, data frame or array (n, S), optional
            What does not change with time, such as age or site: numbers or text. None:
            the columns `static` of `from_table`.
        groups : array_like, (n,), optional
            Series of one group (a patient, a site) are never learnt from and tested on
            at once.

        Returns
        -------
        Classifier

        Raises
        ------
        ValueError
            For fewer than two classes.

        Warns
        -----
        UserWarning
            If series have more tokens than `longest`.
        """
        self._begin()
        series, given = read_series(X, scale)
        known, names = self._classes(X, y, len(series), scale)
        self.classes_, code = np.unique(names[known], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has {len(self.classes_)} class; there must be two")
        label = np.full(len(series), -1)
        label[known] = code
        fixed = self._fixed(X, static, len(series))
        if groups is not None:
            groups = checks.array("groups", groups)
            if groups.shape != (len(series),):
                what = f"it must be ({len(series)},)"
                raise ValueError(f"groups has shape {groups.shape}; {what}")
        self.scale_ = fitted_scale(series, given)
        self._learn(self.scale_.convert(series, given), label, fixed, groups)
        self.report_ |= {
            "series": len(series), "labelled": int(known.sum()),
        }
        if self.verbose:
            print(self.summary())
        return self

    def predict_proba(self, X, scale: Scale | None = None, *, static=None):
        """Return the probability of each class, the classes' shares taken to the power
        that cross-validation chose: below 0 it raises the rare ones.

        Parameters
        ----------
        X, scale, static
            Series, as in `fit`.

        Returns
        -------
        array of float64, (n, K)
            In the order of `classes_`.
        """
        check_is_fitted(self, "report_")
        series, given = read_series(X, scale)
        fixed = self._fixed(X, static, len(series))
        series = self.scale_.convert(series, given)
        facts = np.hstack((*statistics(series, len(self.scale_.channels)), fixed))
        found = self.forest_.probability(facts)
        if self.weight_:
            network = self._probabilities(self.model_, self._tokens(series))
            found = (1 - self.weight_) * found + self.weight_ * network
        found = found * np.array(self.prior_)
        return found / found.sum(1, keepdims=True)

    def predict(self, X, scale: Scale | None = None, *, static=None) -> np.ndarray:
        """Return the most probable class of each series, (n,); the rest as in `fit`."""
        best = self.predict_proba(X, scale, static=static).argmax(1)
        return self.classes_[best]

    def score(self, X, y=None, scale: Scale | None = None, *, static=None) -> float:
        """Return the accuracy over the series whose class is known; arguments as in
        `fit`. ValueError if none is known, or none is one of the model's."""
        check_is_fitted(self, "report_")
        known, names = self._classes(X, y, len(X), scale)
        if not known.any():
            raise ValueError("y has no known class; a score needs some")
        # numbers against words, most often
        if not set(names[known].tolist()) & set(self.classes_):
            first = ", ".join(map(repr, np.unique(names[known])[:3].tolist()))
            mine = ", ".join(map(repr, self.classes_[:3].tolist()))
            raise ValueError(f"y holds {first}; the classes of the model are {mine}")
        found = self.predict(X, scale, static=static)
        return float((found[known] == names[known]).mean())

    def summary(self) -> str:
        """Say who answers, and how good each way is on series that it has not seen, in
        lines."""
        check_is_fitted(self, "report_")
        r, gap = self.report_, " " * 10
        lines = [f"data      {r['series']} series, {r['labelled']} with a class"]
        if not r["ways"]:
            return f"{lines[0]}\ntested    nothing: score it on other series"
        few = "" if r["tested"] >= FEW else ": few, small differences are chance"
        lines += [
            f"tested    {r['tested']} series by what has not learnt from them{few}",
            f"{gap}{'':<20}accuracy  macro F1  average precision",
        ]
        for name, (accuracy, f1, precision) in r["ways"].items():
            lines.append(f"{gap}{name:<20}{accuracy:8.2f}{f1:10.2f}{precision:19.2f}")
        lines.append(f"{gap}{'by class':<22}series        F1          precision")
        for name, (count, f1, precision) in r["each"].items():
            lines.append(f"{gap}{name:<20}{count:8d}{f1:10.2f}{precision:19.2f}")
        who = "the simple statistics alone"
        if self.weight_:
            who = f"the network {self.weight_:.0%}, simple statistics the rest"
        lines.append(
            f"answers   {who}; shares of the classes to the power {r['power']:g}"
        )
        if r["leak"]:
            lines.append(
                "careful   when the values were measured gives the class away nearly as"
                f"\n{gap}well as the values: were the classes observed alike?"
            )
        return "\n".join(lines)

    # Input --------------------------------------------------------------------

    @staticmethod
    def _classes(
        X: Any, y: Any, n: int, scale: Scale | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return which series have a class, and the classes, (n,) each."""
        if isinstance(y, Scale):
            raise TypeError("y is a Scale; write fit(tokens, scale=scale)")
        if y is None:
            if not isinstance(X, Tokens) or "label" not in X.aux:
                hint = "give y, or label= in from_table"
                raise ValueError(f"y is None, and the tokens carry no label; {hint}")
            code, scale = X.aux["label"].cpu().numpy(), X.scale or scale
            named = scale is not None and len(scale.labels) > 0
            return code >= 0, np.array(scale.labels)[code] if named else code
        if isinstance(y, list | tuple | np.ndarray | Tensor):
            y = checks.array("y", y)
        try:
            names = column_or_1d(y, warn=True)
        except (TypeError, ValueError) as error:
            raise type(error)(f"y cannot be read: {error}") from error
        if names.shape != (n,):
            raise ValueError(f"y has shape {names.shape}; it must be ({n},)")
        if names.dtype.kind == "S":
            raise TypeError("y holds bytes; write the classes as text or as numbers")
        known = ~is_missing(names)
        if names.dtype == object and known.any():
            text = {isinstance(name, str) for name in names[known]}
            if len(text) > 1:
                hint = "write all classes as text, or all as numbers"
                raise ValueError(f"y mixes text with what is none; {hint}")
            if text == {False}:  # numbers beside None
                names = np.array(np.where(known, names, names[known][0]).tolist())
        check_classification_targets(names[known])
        return known, names

    def _fixed(self, X: Any, given: Any, n: int) -> np.ndarray:
        """Return what does not change with time, (n, S): numbers, and of text the place
        of the name among those of the fit."""
        if given is None and isinstance(X, Tokens) and "static" in X.aux:
            given = X.aux["static"].cpu().numpy()
        columns = pd.DataFrame({} if given is None else given, copy=True)
        columns = columns.rename(columns=str)
        if given is not None and len(columns) != n:
            raise ValueError(f"static has {len(columns)} rows; there are {n} series")
        if not hasattr(self, "static_"):
            self.static_ = {
                name: sorted({v for v in its if isinstance(v, str)})
                for name, its in columns.items()
            }
        elif set(columns) != set(self.static_):
            its, mine = (", ".join(n) or "none" for n in (columns, self.static_))
            raise ValueError(f"static has {its}; the fit had {mine}")
        found = np.empty((n, len(self.static_)))
        for s, (name, known) in enumerate(self.static_.items()):
            column = columns[name]
            column = pd.Categorical(column, known).codes if known else column
            found[:, s] = read_numbers(f"static[{name!r}]", column)
        return found

    def _patch(self, width: int) -> int:
        return 3 if width == 1 else width

    def _tokens(self, series: Series) -> Tokens:
        """Return what the network gets: from time 0, thinned where too long. Of one
        value a token, how far it lies from the mean of its channel in this series, in
        deviations; their logarithm; and the mean. So none hides the others."""
        channels, samples = len(self.scale_.channels), []
        for values, positions in series:
            step, channel = -(-len(values) // self.longest), channel_of(positions)
            kept = torch.zeros(len(values), dtype=torch.bool)
            described = values.repeat(1, 3) if values.shape[1] == 1 else values
            # channel by channel: of two that are measured in turn one would go
            for c in range(channels):
                mine = (channel == c).nonzero()[:, 0]
                kept[mine[::step]] = True
                if len(mine) and values.shape[1] == 1:
                    v = values[mine, 0].double()
                    spread = v.std(correction=0) + 1e-3
                    described[mine, 0] = ((v - v.mean()) / spread).float()
                    described[mine, 1] = spread.log().float()
                    described[mine, 2] = v.mean().float()
            positions = positions[kept]
            positions[:, 0] -= positions[0, 0].item()
            samples.append((described[kept], positions))
        return collate(samples)

    # Training -----------------------------------------------------------------

    def _learn(
        self, series: Series, label: np.ndarray, fixed: np.ndarray, groups
    ) -> None:
        """Learn from standardised series with classes (n,), -1 where unknown."""
        times, values = statistics(series, len(self.scale_.channels))
        facts, rows = np.hstack((times, values, fixed)), np.flatnonzero(label >= 0)
        share = np.bincount(label[rows]) / len(rows)
        folds = self._split(rows, label, groups)
        steps = self.steps
        if steps is None:
            steps = int(np.clip(len(series) // 4, 100, 400))
        data = self._tokens(series)
        config = self._configure(data, int(data.real.sum()))
        lengths = np.array([len(v) for v, _ in series])
        others = np.flatnonzero(lengths > 1)
        if steps and (long := int((lengths > self.longest).sum())):
            warnings.warn(
                f"{long} of {len(series)} series have more than longest={self.longest} "
                f"tokens, up to {lengths.max()}: the network looks at every second, "
                "third ... one of them, the simple statistics at all",
                stacklevel=3,
            )
        pretrain = self.pretrain
        if pretrain is None:
            pretrain = len(rows) < len(series) / 2
        if self.verbose:
            all_steps = steps * (len(folds) + 1 + pretrain)
            time_ = self._foresee(data, config, facts[rows], label[rows], all_steps)
            few = f"; {len(rows)} series with a class are few to choose by"
            print(time_ + few * (len(rows) < FEW))
        self.history_, started = [], None
        if steps and pretrain and len(others):
            started = seeded_build(self.seed, lambda: RoMAE(config))
            self._stage(started, data[others], pretraining_loss, steps)
            started.cpu()

        def trees(x: np.ndarray, learn: np.ndarray) -> Forest:
            return grow(x[learn], label[learn], len(share), self.seed)

        def network(learn: np.ndarray) -> RoMAEPredictor:
            model = seeded_build(
                self.seed, lambda: RoMAEPredictor(config, len(share), pool="mean")
            )
            if started is not None:
                model.start_from(started)
            if steps:
                aux = {"label": torch.from_numpy(label[learn])}
                train = replace(data[learn], aux=aux)
                balance = torch.from_numpy(np.sqrt(share.mean() / share)).float()
                self._stage(model, train, partial(class_loss, balance=balance), steps)
            return model

        tested = np.concatenate([np.empty(0, int), *(test for _, test in folds)])
        fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        guess = {
            name: [trees(x, learn).probability(x[test]) for learn, test in folds]
            for name, x in (("times alone", times), ("simple statistics", facts))
        }
        guess["RoMAE"] = []
        for k, (learn, test) in enumerate(folds if steps else ()):
            self.model_ = network(learn)
            guess["RoMAE"].append(self._probabilities(self.model_, data[test]))
            ways = guess["RoMAE"][k], guess["simple statistics"][k]
            f1, simple = (macro_f1(label[test], way.argmax(1)) for way in ways)
            if f1 < simple - 2 / np.sqrt(len(test)):
                break  # two standard errors: other folds would change nothing
        if folds:
            guess = {n: np.concatenate(its) for n, its in guess.items() if its}
            self._choose(guess, label[tested], fold, share)
        else:
            self.weight_, power = 0.5 * bool(steps), 0.0
            self.prior_ = [1.0] * len(share)
            self.report_ = {"ways": {}, "power": power}
        self.forest_ = trees(facts, rows)
        if self.weight_ or not hasattr(self, "model_"):
            self.model_ = network(rows)

    def _split(self, rows: np.ndarray, label: np.ndarray, groups) -> list[tuple]:
        """Return what to learn from and what to test on, fold after fold; the only case
        of a class is always learnt from."""
        count = np.bincount(label[rows])
        some = rows[count[label[rows]] > 1]
        few = len(np.unique(label[some])) < 2 or len(some) < 2 * self.folds
        if self.folds < 2 or few:
            return []
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        n, seed = min(self.folds, count.max()), self.seed % 2**32  # where NumPy's end
        parts = kind(n, shuffle=True, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer series than folds
            its = None if groups is None else groups[some]
            found = [some[test] for _, test in parts.split(some, label[some], its)]
        return [(np.setdiff1d(rows, test), test) for test in found]

    def _choose(
        self, guess: dict, truth: np.ndarray, fold: np.ndarray, share: np.ndarray
    ) -> None:
        """Choose what answers, and report how good it is where others chose it."""
        simple = guess["simple statistics"]
        network = guess.get("RoMAE")
        whole = network is not None and len(network) == len(truth)

        def mixed(weight: float, power: float) -> np.ndarray:
            both = simple if not weight else (1 - weight) * simple + weight * network
            both = both * share**power
            return both / both.sum(1, keepdims=True)

        def best(rows: np.ndarray) -> tuple[float, float]:
            """Of equals the plainest: a twentieth of a standard error is its bonus."""

            def merit(choice):
                f1 = macro_f1(truth[rows], mixed(*choice)[rows].argmax(1))
                return f1 - 0.05 * (choice[0] + abs(choice[1])) / np.sqrt(len(truth))

            weights = WEIGHTS if whole else (0.0,)
            return max(((w, p) for w in weights for p in POWERS), key=merit)

        together = np.empty_like(simple)
        for k in np.unique(fold):
            together[fold == k] = mixed(*best(fold != k))[fold == k]
        largest = np.tile(share, (len(truth), 1))
        ways = {"largest class": largest} | guess | {"what answers": together}
        part = network is not None and not whole  # it was left out after some folds
        ways = {
            name + ", in part" * (part and name == "RoMAE"): judge(truth[: len(p)], p)
            for name, p in ways.items()
        }
        self.weight_, power = best(np.ones(len(truth), dtype=bool))
        prior = share**power
        self.prior_ = (prior / prior.sum()).tolist()
        low, times, top = (
            ways[name][1] for name in ("largest class", "times alone", "what answers")
        )
        noise, each = 1 / np.sqrt(len(truth)), {}
        f1 = f1_score(
            truth, together.argmax(1), labels=range(len(share)), average=None,
            zero_division=0,
        )
        for k, name in enumerate(map(str, self.classes_)):
            mine = truth == k
            p = together[:, k]
            precision = average_precision_score(mine, p) if mine.any() else 0
            each[name] = int(mine.sum()), float(f1[k]), float(precision)
        self.report_ = {
            "ways": ways, "each": each, "tested": len(truth), "power": power,
            "leak": bool(times > low + noise and times - low > 0.8 * (top - low)),
        }

    def _foresee(
        self, data: Tokens, config: ModelConfig, x: np.ndarray, label: np.ndarray,
        steps: int,
    ) -> str:
        """Say what the fit will take at most, by a tenth of a forest and two steps."""
        classes, some = int(label.max()) + 1, data[: self.batch]
        some = replace(some, aux={"label": torch.zeros(len(some)).long()})
        model = RoMAEPredictor(config, classes, pool="mean")
        forest = partial(grow, x, label, classes, self.seed, TREES // 10)
        two = partial(self._stage, model, some, class_loss, 2, quiet=True)
        return foresee((forest, 10 * (1.5 * self.folds + 1)), (two, steps / 2))

    def _configure(self, data: Tokens, values: int) -> ModelConfig:
        """Choose a model: small for few values, larger for many; with RoPE whose
        slowest turning pair needs about twice the span of a series to come round."""
        axes = data.positions.shape[-1]
        small = "32x2x2x128" if axes == 1 and values < 4000 else "48x3x2x192"
        name = "64x4x3x256" if values > 1_000_000 else small
        shape = size(name if self.size is None else self.size)
        pairs = shape.head_dim // (2 * axes)
        slow = turning_pairs(2 * pairs, 0.75) - 1
        span = (data.positions[..., 0] * data.real).amax(1).median().item()
        base = (max(span, 10) / np.pi) ** (pairs / max(slow, 1))
        return ModelConfig(
            patch=data.values.shape[-1], axes=axes, encoder=shape, decoder=shape,
            positions=PositionEncoding(base=float(np.clip(base, 10, 1e5))),
        )

    def _stage(
        self, model: nn.Module, data: Tokens, loss: Callable, steps: int, quiet=False
    ) -> None:
        """Train by Muon for about so many steps, in whole epochs."""
        per_epoch = max(1, -(-len(data) // self.batch))
        epochs = max(1, round(steps / per_epoch))
        total, lengths = epochs * per_epoch, data.lengths
        recipe = Recipe(
            epochs=epochs, batch=self.batch, lr=self.lr, optimizer="muon",
            warmup=min(total // 2, max(1, total // 20)),
        )
        history = fit(
            Fast(model), data, loss, recipe, seed=self.seed, device=self.device,
            order=lambda generator: by_length(lengths, self.batch, generator),
            logs=min(20, steps),
            log=printer(10) if self.verbose and not quiet else None,
        )
        if not quiet:
            self.history_ += history

    @torch.no_grad()
    def _probabilities(self, model: RoMAEPredictor, data: Tokens) -> np.ndarray:
        model.eval()
        found = torch.empty(len(data), len(self.classes_))
        for index in data.real.sum(1).argsort(stable=True).split(128):
            logits = model(trim(data[index]).to(device_of(model))).float()
            found[index] = logits.softmax(-1).cpu()
        return found.double().numpy()

    # Files --------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.forest_._asdict()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.classes_, self.forest_ = np.asarray(self.classes_), Forest(**arrays)
        outputs = self.model_.head[-1].out_features
        if not len(np.unique(self.classes_)) == len(self.prior_) == outputs:
            raise ValueError(f"its model has {outputs} classes, not {self.classes_}")
        self.forest_.check(outputs)


def pretraining_loss(
    model: nn.Module, batch: Tokens, generator: torch.Generator
) -> Tensor:
    """Fill in what is hidden, 30 to 80 % of each series."""
    batch = trim(batch)
    hidden = hide(batch.real, ratio=(0.3, 0.8), generator=generator)
    return masked_loss(model, batch, hidden, loss=first_value_loss)


def first_value_loss(prediction: Tensor, target: Tensor, pad: Tensor | None) -> Tensor:
    """Mean squared error of a token's first value: the others are the same in all."""
    first = slice(0, 1 if target.shape[-1] == 3 else None)
    return reconstruction_loss(prediction[..., first], target[..., first], pad)


def class_loss(
    model: nn.Module, batch: Tokens, generator: torch.Generator,
    balance: Tensor | None = None,
) -> Tensor:
    """Return the cross-entropy, of series that have lost up to 60 % of their tokens at
    random: no two look alike."""
    batch, label = trim(batch), batch.aux["label"]
    if int(batch.real.sum(1).min()) > 1:
        hidden = hide(batch.real, ratio=(0.01, 0.6), generator=generator)
        where = split(hidden, batch.real)
        batch = Tokens(
            values=take(batch.values, where.visible),
            positions=take(batch.positions, where.visible), pad=where.visible_pad,
        )
    device = device_of(model)
    if balance is not None:
        balance = balance.to(device)
    return cross_entropy(
        model(batch.to(device)).float(), to_device(label, device), balance,
        label_smoothing=0.05,
    )


def judge(truth: np.ndarray, p: np.ndarray) -> tuple[float, float, float]:
    """Return accuracy, macro F1, and average precision in the mean over classes."""
    found, classes = p.argmax(1), np.unique(truth)
    precision = [average_precision_score(truth == k, p[:, k]) for k in classes]
    numbers = (found == truth).mean(), macro_f1(truth, found), np.mean(precision)
    return tuple(map(float, numbers))

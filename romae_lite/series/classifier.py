"""Classify irregular series, few of which have a label.

    tokens, _ = from_table(table, id="star", time="day", value="flux", label="kind")
    kinds = Classifier().fit(tokens).predict(tokens)

A share of the labelled series is held out (`holdout`) and reported on, beside what a
simple method makes of the same.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from .. import checks
from ..batching import trim
from ..checks import a, at_least, real
from ..masking import hide, split, take
from ..model import RoMAE, RoMAEPredictor, device_of, masked_loss
from ..tokens import Tokens, collate, to_device
from ..training import mix_seed, printer, seeded_build
from .columns import is_missing
from .estimator import (
    FEW,
    Estimator,
    channel_level,
    fitted_scale,
    from_zero,
    read_series,
    span_of,
)
from .units import Scale, Series, channel_of


class Classifier(ClassifierMixin, Estimator):
    """Classify series: learn to fill gaps on all of them, then the classes from those
    that have one.

    Parameters
    ----------
    pretrain : bool
        False: learn the classes only.
    size : str, optional
        Of the encoder, as `size` takes it. None: by the number of values.
    longest : int
        Tokens of a series that are looked at; of longer series every second, third ...
        one of each channel.
    steps : int, optional
        Of each of the two stages, in whole passes over the series. None: 300 to 1000,
        by the number of series.
    lr : float
        Peak learning rate, of Muon.
    batch : int
        Series a step.
    holdout : float
        Share of the labelled series that is held out and reported on, none of a class
        with one. 0: none.
    seed, device, verbose
        As in `Interpolator`.

    Attributes
    ----------
    classes_ : array, (K,)
    model_ : RoMAEPredictor
    simple_ : scikit-learn's logistic regression; see `score_simple`
    scale_, history_
        As in `Interpolator`.
    report_ : dict
        Accuracies on held-out series: `summary` puts them into words.
    """

    SETTINGS = Estimator.SETTINGS | {
        "pretrain": a(bool), "longest": at_least(1),
        "holdout": real(lambda v: 0 <= v < 1, "lie in [0, 1)"),
    }
    LEARNT = Estimator.LEARNT | {"classes_": a(list | np.ndarray)}
    MODEL = RoMAEPredictor

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value
        return tags

    def __init__(
        self, *, pretrain=True, size=None, longest=192, steps=None, lr=3e-3, batch=32,
        holdout=0.2, seed=0, device=None, verbose=True,
    ):
        self.pretrain, self.size, self.longest = pretrain, size, longest
        self.steps, self.lr, self.batch, self.holdout = steps, lr, batch, holdout
        self.seed, self.device, self.verbose = seed, device, verbose

    def fit(self, X, y=None, scale: Scale | None = None) -> "Classifier":
        """Train on series, some or all of which have a class.

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

        Returns
        -------
        Classifier

        Raises
        ------
        ValueError
            For fewer than two classes.
        """
        began = time.monotonic()
        self._begin()
        if isinstance(y, Scale):
            raise TypeError("y is a Scale; write fit(tokens, scale=scale)")
        series, given = read_series(X, scale)
        known, names = self._classes(X, len(series), y, given)
        self.classes_, code = np.unique(names[known], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has {len(self.classes_)} class; there must be two")
        label = np.full(len(series), -1)
        label[known] = code
        self.scale_ = fitted_scale(series, given)
        report = self._fit(self.scale_.convert(series, given), label)
        return self._finish(report, began)

    def predict_proba(self, X, scale: Scale | None = None) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X, scale
            Series, as in `fit`.

        Returns
        -------
        array of float64, (n, K)
            In the order of `classes_`.
        """
        check_is_fitted(self, "report_")
        return self._probabilities(self._tokens(self._read(X, scale)))

    def predict(self, X, scale: Scale | None = None) -> np.ndarray:
        """Return the most probable class of each series, (n,).

        Parameters
        ----------
        X, scale
            Series, as in `fit`.
        """
        best = self.predict_proba(X, scale).argmax(1)
        return self.classes_[best]

    def score(self, X, y=None, scale: Scale | None = None) -> float:
        """Return the accuracy over the series whose class is known.

        Parameters
        ----------
        X, y, scale
            As in `fit`.

        Raises
        ------
        ValueError
            If no class is known, or none is one of the model's.
        """
        check_is_fitted(self, "report_")
        known, names = self._truth(X, y, scale)
        return float((self.predict(X, scale)[known] == names[known]).mean())

    def score_simple(self, X, y=None, scale: Scale | None = None) -> float:
        """Return the accuracy of the simple method of `summary`: logistic regression on
        how long a series is and, channel by channel, how many values it has and how
        these and their steps are distributed.

        Parameters
        ----------
        X, y, scale
            As in `fit`.
        """
        check_is_fitted(self, "report_")
        if not hasattr(self, "simple_"):
            raise ValueError("a classifier that was loaded from a file has no simple_")
        known, names = self._truth(X, y, scale)
        simple = describe(self._read(X, scale), len(self.scale_.channels))
        guess = self.classes_[self.simple_.predict(simple)]
        return float((guess[known] == names[known]).mean())

    def summary(self) -> str:
        """Return what was chosen, and how good it is, in lines."""
        check_is_fitted(self, "report_")
        r, s = self.report_, self.report_["settings"]
        stages = "pre-training and " if s["pretrain"] else ""
        return "\n".join([
            f"data      {r['series']} series, {r['labelled']} of them with a class to "
            "learn from",
            f"classes   {', '.join(map(str, self.classes_))}",
            f"unit      {self.scale_.unit:.6g} of time is one unit of position; a "
            f"series is {r['span']:.4g} long",
            f"model     {r['parameters']} weights, RoPE base {r['base']:.4g}",
            f"training  {stages}{r['steps']} steps of {s['batch']}, lr {s['lr']:g}, "
            f"{r['seconds']:.0f} s",
            self._result(),
        ])

    def _result(self) -> str:
        r = self.report_
        if not r["held"]:
            return (
                "held out  nothing: too few labels. Score it on series of your own "
                "that it has not seen"
            )
        advice = ""
        if r["held"] < FEW:
            advice = f"\n          {r['held']} series are too few to choose by"
        elif r["romae"] <= max(r["simple"], r["majority"]):
            advice = "\n          RoMAE is not the better one: use the simple one"
        return (
            f"held out  {r['held']} series, accuracy: largest class "
            f"{r['majority']:.2f},\n"
            f"          logistic regression on simple statistics {r['simple']:.2f}, "
            f"RoMAE {r['romae']:.2f}{advice}"
        )

    # Input --------------------------------------------------------------------

    def _read(self, X: Any, scale: Scale | None) -> Series:
        return self.scale_.convert(*read_series(X, scale))

    def _truth(self, X: Any, y: Any, scale: Scale | None) -> tuple[np.ndarray, ...]:
        """Return which series have a class, and the classes, to score by."""
        if isinstance(y, Scale):
            raise TypeError("y is a Scale; write score(tokens, scale=scale)")
        series, given = read_series(X, scale)
        known, names = self._classes(X, len(series), y, given)
        if not known.any():
            raise ValueError("y has no known class; a score needs some")
        # numbers against words, most often
        if not set(names[known].tolist()) & set(self.classes_):
            first = ", ".join(map(repr, np.unique(names[known])[:3].tolist()))
            mine = ", ".join(map(repr, self.classes_[:3].tolist()))
            raise ValueError(f"y holds {first}; the classes of the model are {mine}")
        return known, names

    @staticmethod
    def _classes(X: Any, n: int, y: Any, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
        """Return which series have a class, and the classes, (n,) each."""
        if y is None:
            if not isinstance(X, Tokens) or "label" not in X.aux:
                hint = "give y, or label= in from_table"
                raise ValueError(f"y is None, and the tokens carry no label; {hint}")
            code = X.aux["label"].cpu().numpy()
            return code >= 0, np.array(scale.labels)[code] if scale.labels else code
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

    def _patch(self, width: int) -> int:
        return 2 if width == 1 else width

    def _tokens(self, series: Series) -> Tokens:
        """Return what the model gets: from time 0, thinned where too long. Of one value
        a token, what it is around its series' mean, and that mean, so that neither
        hides the other."""
        channels = len(self.scale_.channels)
        samples = []
        for values, positions in series:
            step, channel = -(-len(values) // self.longest), channel_of(positions)
            kept = torch.zeros(len(values), dtype=torch.bool)
            # channel by channel: of two that are measured in turn one would go
            for c in range(channels):
                kept[(channel == c).nonzero()[::step]] = True
            samples.append(from_zero(values[kept], positions[kept]))
        data = collate(samples)
        if data.values.shape[-1] > 1:
            return data
        channel = channel_of(data.positions)
        level = channel_level(data.values, channel, data.real, channels)
        around = data.values - level
        if self.within_ is None:
            spread = float(around[data.real].double().std(correction=0))
            self.within_ = spread or 1.0
        values = torch.cat((around / self.within_, level), dim=-1)
        return Tokens(values=values, positions=data.positions, pad=data.pad)

    # Training -----------------------------------------------------------------

    def _fit(self, series: Series, label: np.ndarray) -> dict:
        """Train on standardised series with classes (n,), -1 where unknown; return the
        report."""
        self.within_ = None  # the deviation around a series' mean, once it is measured
        data, simple = self._tokens(series), describe(series, len(self.scale_.channels))
        rows, held = self._hold_out(label)
        config = self._configure(data, int(data.real.sum()), dropout=0.1)
        others = np.setdiff1d(np.arange(len(series)), held)
        others = others[data.real.sum(1).numpy()[others] > 1]
        steps = self.steps
        if steps is None:
            steps = int(np.clip(3 * len(others), 300, 1000))
        model = seeded_build(
            self.seed, lambda: RoMAEPredictor(config, len(self.classes_), pool="mean")
        )
        self.history_ = []
        if self.pretrain and len(others):
            first = seeded_build(self.seed, lambda: RoMAE(config))
            self._stage(first, data[others], pretraining_loss, steps)
            model.start_from(first.cpu())
        train = replace(data[rows], aux={"label": torch.from_numpy(label[rows])})
        self._stage(model, train, class_loss, steps)
        self.model_ = model
        self.simple_ = make_pipeline(
            StandardScaler(), LogisticRegression(max_iter=1000)
        )
        self.simple_.fit(simple[rows], label[rows])
        report = self._measure(data, simple, rows, held, label) if len(held) else {}
        return report | {
            "series": len(series), "labelled": len(rows), "held": len(held),
            "span": span_of(data),
        }

    def _hold_out(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split the series that have a class into those to train on and those held out,
        by class; the only case of a class is trained on."""
        rows = np.flatnonzero(label >= 0)
        code, test = label[rows], round(self.holdout * len(rows))
        count = np.bincount(code)
        many, classes = count[code] > 1, int((count > 1).sum())
        enough = test >= classes and many.sum() - test >= classes
        if classes < 2 or not enough:
            return rows, np.empty(0, dtype=int)
        train, held = train_test_split(
            rows[many], test_size=test, stratify=code[many],
            random_state=self.seed % 2**32,  # NumPy's seeds end there
        )
        return np.concatenate((train, rows[~many])), held

    def _stage(self, model: nn.Module, data: Tokens, loss: Callable, steps: int):
        recipe = self._recipe(len(data), steps)
        log = printer(every=10) if self.verbose else None
        self.history_ += self._train(
            model, data, loss, recipe, logs=min(20, steps), log=log
        )

    @torch.no_grad()
    def _probabilities(self, data: Tokens) -> np.ndarray:
        self.model_.eval()
        found = torch.empty(len(data), len(self.classes_))
        device = device_of(self.model_)
        for index in data.real.sum(1).argsort(stable=True).split(128):
            logits = self.model_(trim(data[index]).to(device)).float()
            found[index] = logits.softmax(-1).cpu()
        return found.double().numpy()

    def _measure(
        self, data: Tokens, simple: np.ndarray, rows: np.ndarray, held: np.ndarray,
        label: np.ndarray,
    ) -> dict:
        """Measure accuracies on held-out series: RoMAE, the largest class, logistic
        regression; and how far probabilities move with values shuffled among times."""
        test, truth = data[held], label[held]
        probability = self._probabilities(test)
        generator = torch.Generator().manual_seed(mix_seed(self.seed, 5))
        shuffled = []
        for v, x, there in zip(test.values, test.positions, test.real, strict=True):
            order = torch.randperm(int(there.sum()), generator=generator)
            shuffled.append((v[there][order], x[there]))
        moved = np.abs(self._probabilities(collate(shuffled)) - probability).mean()
        if moved < 0.01:
            self._warn_blind(f"probabilities move by {moved:.2g} only")
        majority = np.bincount(label[rows]).argmax()
        return {
            "romae": float((probability.argmax(1) == truth).mean()),
            "simple": float((self.simple_.predict(simple[held]) == truth).mean()),
            "majority": float((majority == truth).mean()),
            "moved": float(moved),
        }

    @classmethod
    def _restore(cls, model: nn.Module, notes: dict) -> "Classifier":
        self = super()._restore(model, notes)
        self.classes_ = np.asarray(self.classes_)
        if len(np.unique(self.classes_)) < len(self.classes_):
            raise ValueError(f"its classes are {self.classes_}; they must differ")
        outputs = self.model_.head[-1].out_features
        if self.classes_.shape != (outputs,):
            raise ValueError(f"its model has {outputs} classes, not {self.classes_}")
        return self


def pretraining_loss(
    model: nn.Module, batch: Tokens, generator: torch.Generator
) -> Tensor:
    """Fill in what is hidden, 30 to 80 % of each series."""
    batch = trim(batch)
    hidden = hide(batch.real, ratio=(0.3, 0.8), generator=generator)
    return masked_loss(model, batch, hidden)


def class_loss(model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
    """Return the cross-entropy, of series that have lost up to half of their tokens at
    random: no two look alike."""
    batch, label = trim(batch), batch.aux["label"]
    if int(batch.real.sum(1).min()) > 1:
        hidden = hide(batch.real, ratio=(0.01, 0.5), generator=generator)
        where = split(hidden, batch.real)
        batch = Tokens(
            values=take(batch.values, where.visible),
            positions=take(batch.positions, where.visible), pad=where.visible_pad,
        )
    device = device_of(model)
    return cross_entropy(model(batch.to(device)).float(), to_device(label, device))


def describe(series: Series, channels: int) -> np.ndarray:
    """Return what a simple method would look at, (n, 1 + C (1 + 6 P)): the length, and
    of each channel the number of values and their distribution, 0 if it has none."""
    rows = []
    for values, positions in series:
        channel = channel_of(positions)
        row = [[float(positions[-1, 0] - positions[0, 0])]]
        for c in range(channels):
            mine = values[channel == c].double().numpy()
            some = mine if len(mine) else np.zeros((1, values.shape[1]))
            row += [[len(mine)], _distribution(some)]
        rows.append(np.concatenate(row))
    return np.array(rows)


def _distribution(v: np.ndarray) -> np.ndarray:
    """Return of values (N, P): mean, deviation, least, greatest and median around the
    mean, and median step, (6 P,). Levels that differ from series to series would hide
    what does not."""
    steps = np.abs(np.diff(v, axis=0)) if len(v) > 1 else np.zeros_like(v)
    mean = v.mean(0)
    around = v - mean
    return np.concatenate([
        mean, v.std(0), around.min(0), around.max(0), np.median(around, 0),
        np.median(steps, 0),
    ])

"""What `Interpolator` and `Classifier` share: settings, input, training, files."""

import json
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.sparse import issparse
from torch import Tensor, nn

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_array, check_is_fitted
except ImportError as error:
    raise ImportError(
        "the estimators need scikit-learn: pip install scikit-learn"
    ) from error

from .. import checks
from ..checkpoint import load_all, save
from ..checks import a, at_least, each, one_of
from ..io import parsing
from ..model import size
from ..tokens import Tokens
from .columns import check_dates, is_missing, read_numbers, to_seconds
from .table import measure
from .units import POSITIVE, Scale, Series, channel_of, duration


def optional(rule: Callable) -> Callable:
    """Return a rule that takes None as well."""
    return lambda name, value: None if value is None else rule(name, value)


class Estimator(BaseEstimator):
    """A scikit-learn estimator round one model.

    SETTINGS  rules for its parameters
    LEARNT    rules for what `fit` leaves beside `model_` and `scale_`; files hold it
    MODEL     class of the model
    """

    SETTINGS = {
        "size": optional(lambda name, value: size(value)),
        "steps": optional(at_least(1)), "lr": POSITIVE, "batch": at_least(1),
        "seed": at_least(0), "device": one_of(None, "cpu", "cuda", "mps"),
        "verbose": a(int),  # scikit-learn's are numbers
    }
    LEARNT = {"report_": a(dict), "history_": a(list)}
    MODEL = nn.Module

    def _check(self, rules: dict[str, Callable]) -> None:
        each({name: getattr(self, name) for name in rules}, **rules)

    def _begin(self) -> None:
        """Check the settings, and drop what an earlier fit has learnt: one that fails
        or is interrupted must not leave parts of both that answer. A fit sets its
        report last."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._check(self.SETTINGS)

    def _patch(self, width: int) -> int:
        """Return how many numbers the model gets of a token with so many values."""
        return width

    def save(self, path: str | PathLike) -> None:
        """Write weights, units and report into one file; the series are not in it.

        Parameters
        ----------
        path : path-like
            Of a safetensors file.
        """
        check_is_fitted(self, "report_")
        names = ("unit", "channels", "mean", "deviation", "dates")
        notes = {
            "estimator": type(self).__name__,
            "parameters": self.get_params(),
            "standard": {name: getattr(self.scale_, name) for name in names},
            "kept": {name: getattr(self, name) for name in self.LEARNT},
        }
        plain = json.dumps(notes, default=lambda value: value.tolist())  # NumPy's
        # copies, since a file refuses arrays that share memory
        tensors = {name: torch.tensor(its) for name, its in self._arrays().items()}
        save(self.model_, path, notes=json.loads(plain), tensors=tensors)

    @classmethod
    def load(cls, path: str | PathLike):
        """Read what `save` has written. It predicts for series that it is given.

        Parameters
        ----------
        path : path-like
            Of the file.

        Raises
        ------
        ValueError
            Naming the path and the reason, for a file that holds anything else.
        """
        checks.kind("path", path, str | PathLike)
        with parsing(path, f"saved {cls.__name__}"):
            model, notes, tensors = load_all(path)
            if not notes or notes["estimator"] != cls.__name__:
                name = notes["estimator"] if notes else f"bare {type(model).__name__}"
                raise ValueError(f"it is a {name}")
            self, kept = cls(**notes["parameters"]), notes["kept"]
            self._check(self.SETTINGS)
            if set(kept) != set(self.LEARNT):
                raise ValueError(f"it holds {sorted(kept)}, not {sorted(self.LEARNT)}")
            vars(self).update(kept)
            self._check(self.LEARNT)
            units = notes["standard"]
            units["channels"] = tuple(map(str, units["channels"]))
            self.scale_ = Scale(ids=(), start=(), **units)
            if type(model) is not cls.MODEL:
                raise ValueError(f"its model is a {type(model).__name__}")
            width = self.scale_.mean[:1].size
            if model.config.patch != self._patch(width):
                raise ValueError(f"its model does not fit {width} values a token")
            self.model_ = model
            self._restore({name: tensor.numpy() for name, tensor in tensors.items()})
            self.summary()  # a report that lacks something cannot be shown
            return self

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return what a file holds beside the model and `LEARNT`."""
        raise NotImplementedError

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take these from a file, checked, and check the rest of it."""
        raise NotImplementedError


def foresee(*jobs: tuple[Callable, float]) -> str:
    """Say how long jobs will take, each so many times what it takes now."""
    seconds = 1.0
    for job, times in jobs:
        for _ in range(2 if times else 0):  # the first time takes longer
            began = time.monotonic()
            job()
        seconds += (time.monotonic() - began) * times if times else 0
    return f"this will take about {duration(float(f'{seconds:.1g}'))}"


# Input ------------------------------------------------------------------------


def read_series(X: Any, scale: Scale | None = None) -> tuple[Series, Scale]:
    """Return series and their scale: of tokens theirs, or if they have none the given;
    without any, of a list of pairs (times, values), or of an array (n, T) of evenly
    spaced values, one in which numbers are what they are (`plain_scale`)."""
    checks.kind("scale", scale, Scale | None)
    if isinstance(X, Tokens):
        return _from_tokens(X.to("cpu"), scale if X.scale is None else X.scale)
    if scale is not None:
        raise TypeError(f"X is a {type(X).__name__}; a scale belongs to tokens")
    return _from_pairs(X)


def _from_tokens(X: Tokens, scale: Scale | None) -> tuple[Series, Scale]:
    axes, number = X.positions.shape[-1], X.positions[..., 1:][X.real]
    if axes > 2:
        raise ValueError(f"X has positions of {axes} axes; series have 1 or 2")
    if ((number < 0) | (number != number.floor())).any():
        raise ValueError("X has a second axis that holds no numbers of channels")
    channels = 1 + int(channel_of(X.positions).max())
    if scale is None:
        scale = plain_scale(len(X), channels, X.values.shape[-1], None)
    elif len(scale.ids) != len(X) or len(scale.channels) < channels:
        found = f"{len(scale.ids)} samples, {len(scale.channels)} channels"
        raise ValueError(f"scale has {found}; X has {len(X)}, {channels}")
    rows = zip(X.values, X.positions, X.real, strict=True)
    return [(values[real], positions[real]) for values, positions, real in rows], scale


def _from_pairs(X: Any) -> tuple[Series, Scale]:
    if isinstance(X, np.ma.MaskedArray):
        X = read_numbers("X", X)
    if isinstance(X, Tensor):
        X = checks.array("X", X)
    if hasattr(X, "__array__") or issparse(X):
        try:
            X = check_array(X, ensure_all_finite="allow-nan")
        except (TypeError, ValueError) as error:
            raise type(error)(f"X cannot be read: {error}") from error
        X = [(np.arange(len(row)), row) for row in X]
    checks.kind("X", X, Iterable)
    series, cut, rows, dates = [], 0, 0, None
    for i, pair in enumerate(list(X)):
        if not isinstance(pair, tuple) or len(pair) != 2:
            kind = type(pair).__name__
            raise TypeError(f"X[{i}] is a {kind}; it must be a pair (times, values)")
        times = checks.array(f"X[{i}][0]", pair[0])
        values = checks.array(f"X[{i}][1]", pair[1])
        if times.ndim != 1 or values.ndim not in (1, 2) or len(times) != len(values):
            found = f"times of shape {times.shape} and values of shape {values.shape}"
            raise ValueError(f"X[{i}] has {found}; write (N,) and (N,) or (N, P)")
        values = read_numbers(f"X[{i}][1]", values)
        values = values[:, None] if values.ndim == 1 else values  # (N, P)
        lost = is_missing(values)
        there = ~lost.any(1)
        if not there.any():
            raise ValueError(f"X[{i}] has no value; leave it out")
        when, its = to_seconds(f"X[{i}][0]", times[there])
        dates = its if dates is None else dates
        check_dates(f"X[{i}][0]", its, "the times of X[0]", dates)
        cut, rows = cut + int((~there & ~lost.all(1)).sum()), rows + len(values)
        series.append(tuple(map(torch.from_numpy, (values[there], when[:, None]))))
    if not series:
        raise ValueError("X is empty; give one series at least")
    if len(widths := {values.shape[1] for values, _ in series}) > 1:
        raise ValueError(f"X has {sorted(widths)} values a row; they must agree")
    if cut:
        warnings.warn(
            f"{cut} of {rows} rows of X lack some of their values (NaN) and are left "
            "out whole; `from_table` makes a token of each value that is there",
            stacklevel=4,
        )
    return series, plain_scale(len(series), 1, widths.pop(), dates)


def plain_scale(n: int, channels: int, width: int, dates: bool | None) -> Scale:
    """Return the scale of n samples whose numbers are what they are."""
    shape = (channels, width)
    return Scale(
        ids=tuple(range(n)), start=np.zeros(n), unit=1.0, dates=dates,
        channels=tuple(map(str, range(channels))), mean=np.zeros(shape),
        deviation=np.ones(shape), plain=True,
    )


def fitted_scale(series: Series, given: Scale) -> Scale:
    """Return the units of a fit: those of a table; of plain numbers their own."""
    if not given.plain:
        return given[:0]
    parts = [
        np.column_stack((np.full(len(v), i), channel_of(x), x[:, 0], v))
        for i, (v, x) in enumerate(series)
    ]
    names = [f"value {p}" for p in range(parts[0].shape[1] - 3)]
    columns = ["sample", "kind", "time", *names]
    seen = pd.DataFrame(np.concatenate(parts), columns=columns)
    unit, mean, deviation, _ = measure(seen.sort_values("time"), names)
    channels = range(len(given.channels))  # some have no value
    return replace(
        given[:0], unit=unit, plain=False, mean=mean.reindex(channels, fill_value=0.0),
        deviation=deviation.reindex(channels, fill_value=1.0),
    )

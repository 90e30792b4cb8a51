"""RoMAE for your own series, by scikit-learn's conventions: fill gaps with error bars, tell classes apart.

    tokens, scale = from_table(table, id="star", time="day", value="flux", label="kind")
    mean, deviation = Interpolator().fit(tokens, scale).predict(at=[10.5, 11.0])
    kinds = Classifier().fit(tokens, scale=scale).predict(tokens, scale=scale)

Size, steps and encoding are chosen from the data and shown by `summary()`. `Interpolator` holds some series or points
out: half of them choose the step to stop at and the width of the band, the others are what is reported. `Classifier`
holds a share of the labelled series out (`holdout`) and reports on all of them. Beside either stands what a simple
method makes of the same.
"""

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import issparse
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import r2_score
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError("the estimators need scikit-learn: pip install scikit-learn") from error

from .. import checks
from ..batching import by_length, trim
from ..fast import Fast
from ..masking import hide, split, take
from ..model import (
    BANDS,
    ModelConfig,
    RoMAE,
    RoMAEPredictor,
    count_parameters,
    device_of,
    gaussian_loss,
    load,
    masked_loss,
    notes_of,
    save,
    size,
    split_mean_variance,
)
from ..rope import PositionEncoding, turning_pairs
from ..tokens import Tokens, collate, to_device
from ..training import Interrupted, Recipe, fit, mix_seed, printer, seeded, seeded_build
from .table import Scale, alike, array_of, missing, own, seconds
from .units import typical

# Held out: of so many series the standard error of an accuracy is up to 7 points, of so many points that of an error
# a tenth of it, and more with fewer. What is better on each of so many other series is so by chance once in 32 times.
FEW, FEW_SERIES = 50, 5

# What the model eats ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Standard:
    """The units of a fitted model: of time, and mean and deviation of each channel, (C, P)."""

    unit: float
    channels: tuple[str, ...]
    mean: np.ndarray
    deviation: np.ndarray
    scaled: bool = False  # whether they came with a scale
    dates: bool | None = None  # whether times were dates, where that is known: of pairs and arrays

    def stated(self, tokens: Tokens, scale: Scale | None) -> Tokens:
        """Tokens that come in the units of a scale, in these."""
        given = _plain(tokens, scale)
        if scale is None and self.scaled:
            raise ValueError("scale is None, but the model was fitted with one; give that of these tokens")
        if unknown := set(given.channels) - set(self.channels):
            raise ValueError(f"channel {sorted(unknown)[0]!r} is unknown; the model has {', '.join(self.channels)}")
        if tokens.values.shape[-1] != (wanted := self.mean.shape[1]):
            raise ValueError(f"X has {tokens.values.shape[-1]} values a token; the model was fitted to {wanted}")
        if self.dates is not None and "dates" in tokens.aux:
            alike("the times of X", bool(tokens.aux["dates"][0]), "those of the fit", self.dates)
        number = torch.tensor([self.channels.index(name) for name in given.channels])[_channel(tokens)]  # (B, N)
        shift, stretch = (torch.from_numpy(a) for a in (self.mean, self.deviation))
        old = _channel(tokens)
        raw = tokens.values.double() * torch.from_numpy(given.deviation)[old] + torch.from_numpy(given.mean)[old]
        positions = tokens.positions.clone()
        positions[..., 0] *= given.unit / self.unit
        if positions.shape[-1] > 1 and len(self.channels) > 1:
            positions[..., 1] = number.double()
        elif len(self.channels) > 1:
            positions = torch.cat((positions, number[..., None].double()), dim=-1)
        values = (raw - shift[number]) / stretch[number]
        return Tokens(values=values, positions=positions, pad=tokens.pad)


def _channel(tokens: Tokens) -> Tensor:
    """The number of each token's channel, (B, N) long."""
    if tokens.positions.shape[-1] == 1:
        return torch.zeros(tokens.values.shape[:2], dtype=torch.long)
    return tokens.positions[..., 1].long()


def _plain(tokens: Tokens, scale: Scale | None) -> Standard:
    """The units that tokens are in: a scale's, or those they were given in."""
    if scale is None:
        channels = tuple(map(str, range(int(_channel(tokens).max()) + 1)))
        shape = (len(channels), tokens.values.shape[-1])
        return Standard(unit=1.0, channels=channels, mean=np.zeros(shape), deviation=np.ones(shape))
    return Standard(
        unit=scale.unit, channels=scale.channels, mean=scale.mean[:, None], deviation=scale.deviation[:, None],
        scaled=True,
    )


def _measured(tokens: Tokens, scale: Scale | None) -> Standard:
    """The scale's units; without one those of the tokens themselves."""
    found, channel = _plain(tokens, scale), _channel(tokens)
    if scale is not None:
        return found
    mean, deviation = found.mean.copy(), found.deviation.copy()
    for c in range(len(mean)):
        values = tokens.values[tokens.real & (channel == c)].double().numpy()
        if len(values):
            mean[c], varies = values.mean(0), np.ptp(values, axis=0) > 1e-12 * np.abs(values).max(0)
            deviation[c] = np.where(varies, values.std(0), 1.0)
    # as in `from_table`: within a channel, since two that are measured together say nothing about how fast either is
    times, real = tokens.positions[..., 0].numpy(), tokens.real
    series = [t[mine] for c in range(len(mean)) for t, mine in zip(times, (real & (channel == c)).numpy(), strict=True)]
    dates = bool(tokens.aux["dates"][0]) if "dates" in tokens.aux else None
    return Standard(unit=typical(series), channels=found.channels, mean=mean, deviation=deviation, dates=dates)


def _given(X: Any, scale: Scale | None) -> Tokens:
    """Tokens, from tokens, a list of pairs (times, values), or an array (n, T) of evenly spaced values: of pairs and
    arrays in float64, until they are standardised."""
    checks.kind("scale", scale, Scale | None)
    if not isinstance(X, Tokens):
        if scale is not None:
            raise TypeError(f"X is a {type(X).__name__}; a scale belongs to tokens, both from `from_table`")
        X = _unmasked(X)
        if hasattr(X, "__array__") or issparse(X):
            X = [(np.arange(len(row)), row) for row in check_array(X, ensure_all_finite="allow-nan")]
        pairs = list(X)
        samples, lost, rows, first = [], 0, 0, None
        for i, pair in enumerate(pairs):
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError(f"X[{i}] is a {type(pair).__name__}; it must be a pair (times, values)")
            times, values = array_of(pair[0]), np.asarray(_unmasked(pair[1]), dtype=np.float64)
            if times.ndim != 1 or values.ndim not in (1, 2) or len(times) != len(values):
                raise ValueError(
                    f"X[{i}] has times of shape {times.shape} and values of shape {values.shape}; they must be (N,) "
                    "and (N,) or (N, P)"
                )
            if np.isinf(values).any():
                raise ValueError(f"X[{i}] has an infinite value; leave it out, or put NaN for what is missing")
            values = values[:, None] if values.ndim == 1 else values
            there = ~np.isnan(values).any(1)
            if not there.any():
                raise ValueError(f"X[{i}] has no value; leave it out")
            lost, rows = lost + int((~there & ~np.isnan(values).all(1)).sum()), rows + len(values)
            when, dates = seconds(f"X[{i}], its times,", times[there])
            first = dates if first is None else first
            alike(f"X[{i}], its times,", dates, "those of X[0]", first)
            samples.append((values[there], when[:, None]))
        if lost:
            warnings.warn(
                f"{lost} of {rows} rows of X lack some of their values (NaN) and are left out whole; `from_table` "
                "makes a token of each value that is there",
                stacklevel=3,
            )
        X = collate([(np.zeros_like(v), x) for v, x in samples])
        X = X.with_values(pad_sequence([torch.from_numpy(v) for v, _ in samples], batch_first=True))
        X.aux["dates"] = torch.full((len(X),), first)
    axes = X.positions.shape[-1]
    if axes > 2:
        raise ValueError(f"X has positions of {axes} axes; series have time, and the number of the channel if several")
    X = X.to("cpu")
    number = X.positions[..., 1:][X.real]
    if ((number < 0) | (number != number.floor())).any():
        raise ValueError("X has a second axis of positions that holds no numbers of channels: 0, 1, 2, ...")
    return X


def _unmasked(values: Any) -> Any:
    """A masked array with NaN where it is masked; all else as it is."""
    return values.astype(np.float64).filled(np.nan) if isinstance(values, np.ma.MaskedArray) else values


def _encoding(span: float, size_, axes: int) -> PositionEncoding:
    """RoPE whose slowest turning pair needs about twice the span of a window, in units, to come round."""
    pairs = size_.head_dim // (2 * axes)
    slow = turning_pairs(2 * pairs, 0.75) - 1
    base = (max(span, 10) / np.pi) ** (pairs / max(slow, 1))
    return PositionEncoding(base=float(np.clip(base, 10, 1e5)))


def _size(values: int, axes: int):
    """Small for few values, larger for many."""
    return (
        size("32x2x2x128") if values < 4000 and axes == 1 else size("64x4x3x256" if values > 200_000 else "48x3x2x192")
    )


def _recipe(samples: int, steps: int, batch: int, lr: float) -> Recipe:
    per_epoch = max(1, -(-samples // batch))
    epochs = max(1, round(steps / per_epoch))
    warmup = min(epochs * per_epoch // 2, max(1, epochs * per_epoch // 20))
    return Recipe(epochs=epochs, batch=batch, lr=lr, optimizer="muon", warmup=warmup)


def _log(verbose: bool) -> Callable | None:
    return printer(every=10) if verbose else None


def _cut(values: Tensor, positions: Tensor, window: int) -> list[tuple[Tensor, Tensor]]:
    """A series (N, P), (N, D) as overlapping windows, each beginning at time 0."""
    last, step = max(0, len(values) - window), max(1, window // 4)
    starts = sorted({*range(0, last + 1, step), last})
    return [_from_zero(values[s : s + window], positions[s : s + window]) for s in starts]


def _from_zero(values: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    positions = positions.clone()
    positions[:, 0] -= positions[0, 0].item()
    return values, positions


def gaps(batch: Tokens, generator: torch.Generator) -> Tensor:
    """Which tokens to hide, (B, N) bool: 10 to 90 % of each series, scattered in one half of the series and in one
    stretch of time in the other (in half of these of one channel only, as far as it goes, where there are several)."""
    scattered = hide(batch.real, ratio=(0.1, 0.9), generator=generator)
    rows, n = batch.real.shape
    count = scattered.sum(1, keepdim=True)
    centre = (torch.rand(rows, 1, generator=generator) * batch.real.sum(1, keepdim=True)).long()  # (B, 1)
    rank = (batch.positions[..., 0] - batch.positions[..., 0].gather(1, centre)).abs()
    channel = _channel(batch)
    other = (channel != channel.gather(1, centre)) & (torch.rand(rows, 1, generator=generator) < 0.5)
    rank = rank + other * (1 + rank.max(1, keepdim=True).values)
    stretch = rank.masked_fill(~batch.real, torch.inf).argsort(1).argsort(1) < count
    return torch.where(torch.rand(rows, 1, generator=generator) < 0.5, stretch, scattered)


def _level(values: Tensor, channel: Tensor, visible: Tensor, channels: int, shared: float = 0.0) -> Tensor:
    """(B, N, 1): the mean of the visible values of each token's channel; where it has none, `shared` times the mean of
    all that is visible."""
    level = torch.zeros_like(values)
    mean = lambda seen: (values[..., 0] * seen).sum(1) / seen.sum(1).clamp(min=1)  # (B,)  # noqa: E731
    others = shared * mean(visible)
    for c in range(channels):
        mine = channel == c
        seen = visible & mine
        level[..., 0] += mine * torch.where(seen.any(1), mean(seen), others)[:, None]
    return level


def _sharing(data: Tokens, channels: int) -> float:
    """How much of the others' mean a channel's values have, by least squares: 0 where levels have nothing in common, 1
    where they are the same."""
    channel, pairs = _channel(data), []
    for c in range(channels):
        mine = data.real & (channel == c)
        pairs.append((_level(data.values, channel, data.real & ~mine, channels, 1.0)[mine], data.values[mine]))
    others, its = (torch.cat(part).double() for part in zip(*pairs, strict=True))
    return float(((others * its).sum() / (others**2).sum().clamp(min=1e-12)).clamp(0, 1))


class _Best:
    """Early stopping: keeps the weights of the best step, and says when there was none for long."""

    def __init__(self, measure: Callable[[nn.Module], float], patience: int):
        self.measure, self.patience = measure, patience
        self.value, self.weights, self.waited = np.inf, None, 0

    def __call__(self, model: nn.Module) -> dict[str, float]:
        value = self.measure(model)
        self.waited += 1
        if value < self.value:
            self.value, self.waited = value, 0
            self.weights = {name: t.detach().clone() for name, t in model.state_dict().items()}
        return {"held_out": value}

    def __bool__(self) -> bool:
        return self.waited >= self.patience


class _Saved(BaseEstimator):
    """An estimator of one model that goes into a file and comes out of it. KEPT: what it has learnt beside that."""

    KEPT = ("within_", "report_", "history_")

    def _check_shared(self) -> None:
        """The settings that both estimators have."""
        if self.steps is not None:
            checks.whole("steps", self.steps, 1)
        checks.whole("batch", self.batch, 1)
        checks.whole("seed", self.seed, 0)
        checks.kind("verbose", self.verbose, int)  # scikit-learn's are numbers

    def _forget(self) -> None:
        """What an earlier fit has learnt: one that fails or is interrupted must not leave parts of both that answer.
        The report is set last, and says that a fit is complete."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def save(self, path: Path | str) -> None:
        """Weights, units and report in one file. The series are not in it."""
        check_is_fitted(self, "report_")
        notes = {
            "estimator": type(self).__name__, "parameters": self.get_params(), "standard": vars(self.standard_),
            "kept": {name: getattr(self, name) for name in self.KEPT},
        }
        plain = json.dumps(notes, default=lambda value: value.tolist())  # numpy's arrays and numbers, at any depth
        save(self.model_, path, notes=json.loads(plain))

    @classmethod
    def load(cls, path: Path | str):
        """What `save` has written: predicts for series that it is given. ValueError for another file."""
        model, notes = load(path), notes_of(path) or {}
        if notes.get("estimator") != cls.__name__:
            raise ValueError(f"{path} is no saved {cls.__name__}, but {notes.get('estimator', 'a bare model')}")
        try:
            self, standard = cls(**notes["parameters"]), notes["standard"]
        except TypeError as error:
            raise ValueError(
                f"{path} was saved by another version of romae_lite ({error}); load it with that"
            ) from error
        self.model_ = model
        self.standard_ = Standard(
            unit=standard["unit"], channels=tuple(standard["channels"]),
            mean=np.array(standard["mean"]), deviation=np.array(standard["deviation"]),
            scaled=standard.get("scaled", False), dates=standard.get("dates"),  # files of before do not say
        )
        vars(self).update(notes["kept"])
        self.report_.setdefault("settings", notes["parameters"])  # files of before do not say
        if hasattr(self, "classes_"):
            self.classes_ = np.asarray(self.classes_)
        return self


# Gaps ---------------------------------------------------------------------------------------------------------------


class Interpolator(_Saved):
    """Fills any gap of irregular series, and says how sure it is.

    size      of encoder and decoder, as `size` takes it; None: by the number of values
    window    tokens that the model sees at once; longer series are seen through overlapping windows
    steps     of training, rounded to whole passes over the windows (one at least); fewer where held-out points have
              long not got better; None: by the number of values
    lr        peak learning rate, of Muon
    batch     windows a step
    local     True: values are taken relative to the mean of what is seen of their window; None: where the windows'
              means make up more than half of the variance
    seed      of everything that is random
    device    "cpu", "cuda" or "mps"; None: the best there is
    verbose   shows progress, and the result on held-out points

    After fit: model_ (a `RoMAE`), standard_ (units), history_, report_ (errors and coverage on held-out points).
    """

    KEPT = (*_Saved.KEPT, "local_", "shared_", "stretch_")
    shared_ = 0.0  # files of before do not say
    _data = None  # the series of the fit, with their scale: not saved

    def __init__(self, *, size=None, window=96, steps=None, lr=5e-3, batch=32, local=None, seed=0, device=None,
                 verbose=True):
        self.size, self.window, self.steps, self.lr, self.batch = size, window, steps, lr, batch
        self.local, self.seed, self.device, self.verbose = local, seed, device, verbose

    def fit(self, X, scale: Scale | None = None) -> "Interpolator":
        """X: tokens with their scale, as `from_table` gives them; or a list of pairs (times, values).

        ValueError where no series has two values, or all together fewer than 20."""
        began = time.monotonic()
        self._forget()
        self._check()
        tokens = self._whole(X, scale)
        if tokens.values.shape[-1] > 1:
            raise ValueError(
                f"X has {tokens.values.shape[-1]} values a token; give each channel tokens of its own: from_table does"
            )
        self.standard_ = _measured(tokens, scale)
        self._data = tokens, scale
        series = _series(self.standard_.stated(tokens, scale))
        total = sum(len(v) for v, _ in series)
        if total < 20 or max(len(v) for v, _ in series) < 2:
            raise ValueError(f"X has {total} values in {len(series)} series; 20 are needed, two of them in one series")
        train, choose, report, apart = _held_out(series, self.seed, self.window)
        windows = [w for s in train for w in _cut(*s, self.window) if len(w[0]) > 1]
        data = collate(windows)
        axes, channels = data.positions.shape[-1], len(self.standard_.channels)
        self._fix_level(data, channels)
        shape = _size(total, axes) if self.size is None else size(self.size)
        span = float(data.positions[..., 0].amax(1).median())
        config = ModelConfig(
            patch=1, axes=axes, encoder=shape, decoder=shape, cls=axes > 1, positions=_encoding(span, shape, axes),
            spread=True, alone=True,
        )
        model = seeded_build(self.seed, lambda: RoMAE(config))
        steps = int(np.clip(total // 16, 500, 3000)) if self.steps is None else self.steps
        recipe = _recipe(len(data), steps, self.batch, self.lr)
        lengths = data.lengths

        def loss(model, batch, generator):
            batch = trim(batch)
            hidden = gaps(batch, generator)
            return masked_loss(model, self._levelled(batch, hidden)[0], hidden, gaussian_loss)

        # of few steps few looks: eight looks without a better one must not fit into the start, where nothing moves yet
        best, logs = _Best(lambda model: self._likelihood(model, choose), patience=8), min(30, max(8, steps // 16))
        self.history_, show = [], _log(self.verbose)

        def log(entry):
            self.history_.append(entry)
            if show:
                show(entry)

        try:
            fit(Fast(model), data, loss, recipe, seed=self.seed, validate=lambda _: best(model), logs=logs, log=log,
                device=self.device, stop=lambda: bool(best),
                order=lambda generator: by_length(lengths, self.batch, generator))
        except Interrupted:  # nothing better for long
            pass
        model.load_state_dict(best.weights)
        self.model_, self.stretch_ = model, 1.0
        z = np.concatenate([np.abs(y - m) / d for y, m, d in self._answers(choose)])
        self.stretch_ = float(np.quantile(z, 0.6827)) if len(z) >= 20 else 1.0
        self.report_ = self._measure(report) | {
            "series": len(series), "apart": apart, "values": total, "windows": len(data),
            "steps": self.history_[-1]["step"], "most_steps": recipe.epochs * -(-len(data) // self.batch),
            "parameters": count_parameters(self.model_), "span": span, "base": config.positions.base,
            "size": f"{shape.dim}x{shape.heads}x{shape.depth}x{shape.ff}", "seconds": time.monotonic() - began,
            "settings": self.get_params(),
        }
        if self.verbose:
            print(self._line())
        return self

    def predict(self, X=None, scale: Scale | None = None, *, at, channel: str | None = None, id=None):
        """Mean and standard deviation of what would be measured at any times, in the data's own units.

        X, scale  series to fill, all that belong to the scale; None: those of the fit
        at        times (M,), the same for every series, or a list of one array for each; in the data's units, dates
                  where it has dates
        channel   which to ask for, where there are several
        id        of the one series that is meant, as in the table

        Returns two arrays: (M,) of one series, (B, M) of several, two lists where `at` is one. What is asked together
        does not matter. UserWarning for times before the first or after the last value of the channel in a series:
        nothing there was learnt; and for series without any.
        """
        tokens, scale = self._asked_of(X, scale)
        if len(self.standard_.channels) > 1 or channel is not None:
            checks.choice("channel", channel, self.standard_.channels)
        c = 0 if channel is None else self.standard_.channels.index(channel)
        series, which = _series(self.standard_.stated(tokens, scale)), range(len(tokens))
        if id is not None:
            id = own(id)
            names = list(range(len(tokens)) if scale is None else scale.ids)
            checks.choice("id", id, names)
            which = [names.index(id)]
        each = isinstance(at, list) and len(at) > 0 and np.ndim(at[0]) == 1
        if each and len(at) != len(which):
            raise ValueError(f"at has {len(at)} arrays of times; there are {len(which)} series")
        asked, outside, bare = [], 0, 0
        for i, b in enumerate(which):
            when = self._positions(scale, b, at[i] if each else at)
            times = series[b][1][_of_channel(series[b][1], c), 0]
            if len(times):
                outside += int(((when < times[0] - 1e-9) | (when > times[-1] + 1e-9)).sum())
            else:
                bare += 1
            asked.append(_places(when, c, len(self.standard_.channels)))
        if outside:
            warnings.warn(
                f"{outside} of {sum(map(len, asked))} times lie before the first or after the last value of their "
                f"series{'' if channel is None else f' in channel {channel!r}'}: nothing "
                "was learnt there, and neither mean nor band can be trusted",
                stacklevel=2,
            )
        if bare:
            warnings.warn(
                f"{bare} of {len(which)} series have no value of channel {channel!r}: what is answered comes from "
                "their other channels",
                stacklevel=2,
            )
        answers = self._ask([series[b] for b in which], asked)
        mean = [m * self.standard_.deviation[c, 0] + self.standard_.mean[c, 0] for m, _ in answers]
        deviation = [s * self.standard_.deviation[c, 0] for _, s in answers]
        if len(which) == 1 and not each:
            return mean[0], deviation[0]
        return (mean, deviation) if each else (np.stack(mean), np.stack(deviation))

    def score(self, X=None, scale: Scale | None = None) -> float:
        """R²: the share of the variance explained where a random half of every window is hidden; 1 at best.

        Of values that do not differ it is 0, or 1 where every answer is exact, as in scikit-learn.
        """
        tokens, scale = self._asked_of(X, scale)
        series = [s for s in _series(self.standard_.stated(tokens, scale)) if len(s[0]) > 1]
        if not series:
            raise ValueError("X has no series of two values or more; to hide one of them, another must be there")
        y, mean, _ = map(np.concatenate, zip(*self._answers(_hidden(series, self.seed, self.window, 0.5)), strict=True))
        return float(r2_score(y, mean))

    def summary(self) -> str:
        """What was chosen, and how good it is, in lines."""
        check_is_fitted(self, "report_")
        r, s = self.report_, self.report_["settings"]
        taken = "relative to their window's mean" if self.local_ else "as they are"
        lines = [
            f"data      {r['series']} series, {r['values']} values, channels {', '.join(self.standard_.channels)}",
            f"unit      {self.standard_.unit:.6g} of time is one unit of position",
            f"window    {s['window']} tokens, {r['span']:.4g} units; {r['windows']} windows to train on",
            f"values    standardised, {taken}",
            f"model     {r['size']} twice, {r['parameters']} weights, RoPE base {r['base']:.4g}",
            f"training  {r['steps']} of {r['most_steps']} steps of {s['batch']}, lr {s['lr']:g}, {r['seconds']:.0f} s",
            self._line(),
        ]
        return "\n".join(lines)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _asked_of(self, X, scale: Scale | None) -> tuple[Tokens, Scale | None]:
        """The series that are meant, with their scale: those given, or those of the fit."""
        check_is_fitted(self, "report_")
        if X is None:
            if self._data is None:
                raise ValueError("X is None, but a saved model carries no series; give tokens, and their scale")
            if scale is not None:
                raise ValueError("scale is given, but X is None; give both, or neither for the series of the fit")
            return self._data
        return self._whole(X, scale), scale

    @staticmethod
    def _whole(X, scale: Scale | None) -> Tokens:
        """All series of a scale: times and ids go by a series' number."""
        if hasattr(X, "columns"):  # its rows would be taken for series
            raise TypeError(f"X is a {type(X).__name__}; `from_table` makes tokens of it, and their scale")
        tokens = _given(X, scale)
        if scale is not None and len(scale.ids) != len(tokens):
            raise ValueError(
                f"X has {len(tokens)} series, scale {len(scale.ids)}; give all that `from_table` made of a table (and "
                "id, where one is meant)"
            )
        return tokens

    def _check(self) -> None:
        checks.whole("window", self.window, 8)
        checks.kind("local", self.local, bool | None)
        self._check_shared()

    def _fix_level(self, data: Tokens, channels: int) -> None:
        """Whether windows have levels of their own, and the deviation around them: of values that the level is not made
        of, since one that is alone in its channel is its own mean."""
        self.shared_ = _sharing(data, channels)
        hidden = gaps(data, seeded(self.seed, 8))
        level = _level(data.values, _channel(data), data.real & ~hidden, channels, self.shared_)
        total = float(data.values[hidden].double().var(correction=0))
        within = float((data.values - level)[hidden].double().square().mean())
        self.local_ = within < 0.5 * total if self.local is None else self.local
        self.within_ = max(within, 1e-12) ** 0.5 if self.local_ else 1.0

    def _levelled(self, batch: Tokens, hidden: Tensor) -> tuple[Tokens, Tensor]:
        """The batch around its level, where it has one, and that level, (B, N, 1)."""
        if not self.local_:
            return batch, torch.zeros_like(batch.values)
        channels = len(self.standard_.channels)
        level = _level(batch.values, _channel(batch), batch.real & ~hidden, channels, self.shared_)
        return batch.with_values((batch.values - level) / self.within_), level

    @torch.no_grad()
    def _raw(self, model: RoMAE, series: list, asked: list) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and logarithm of the variance, standardised, at positions asked[b] (M_b, D) of each series."""
        rows = []  # (sample, first token of its window, which of the asked)
        for b, ((_, x), at) in enumerate(zip(series, asked, strict=True)):
            step, last = max(1, self.window // 4), max(0, len(x) - self.window)
            near = torch.searchsorted(x[:, 0].contiguous(), at[:, 0].contiguous())
            start = ((near - self.window * 3 // 8) // step * step).clamp(0, last)
            for s in start.unique().tolist():
                rows += [(b, s, index) for index in (start == s).nonzero()[:, 0].split(64)]
        rows.sort(key=lambda row: (min(self.window, len(series[row[0]][0])), len(row[2])))
        found = [np.empty((2, len(at))) for at in asked]
        model.eval()
        for i in range(0, len(rows), 64):
            part = rows[i : i + 64]
            samples, counts = [], []
            for b, s, index in part:
                v, x = (a[s : s + self.window] for a in series[b])
                values, at = torch.cat((v, v.new_zeros(len(index), 1))), torch.cat((x, asked[b][index]))
                at[:, 0] -= x[0, 0].item()
                samples.append((values, at))
                counts.append(len(v))
            batch = collate(samples)
            hidden = batch.real & (torch.arange(batch.values.shape[1]) >= torch.tensor(counts)[:, None])
            batch, level = self._levelled(batch, hidden)
            where, device = split(hidden, batch.real), device_of(model)
            out = model(batch.to(device), where.to(device)).cpu().double()  # in this order for Apple
            for (b, _, index), answer, base, k in zip(part, out, level.double(), counts, strict=True):
                m, index = len(index), index.numpy()
                mean, log_variance = (part[:, 0] for part in split_mean_variance(answer[:m]))
                found[b][0, index] = (mean * self.within_ + base[k : k + m, 0]).numpy()
                found[b][1, index] = (log_variance + 2 * np.log(self.within_)).numpy()
        return [(f[0], f[1]) for f in found]

    def _ask(self, series: list, asked: list) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mean and calibrated deviation."""
        return [(m, np.exp(v / 2) * self.stretch_) for m, v in self._raw(self.model_, series, asked)]

    def _answers(self, questions: list) -> list[tuple]:
        """Truth, mean and deviation of what is hidden in each of (visible, hidden) pairs of series."""
        answers = self._ask([seen for seen, _ in questions], [x for _, (_, x) in questions])
        return [(y[:, 0].double().numpy(), m, d) for (_, (y, _)), (m, d) in zip(questions, answers, strict=True)]

    def _likelihood(self, model: RoMAE, questions: list) -> float:
        """What early stopping looks at: the mean negative log-likelihood of held-out points."""
        raw = self._raw(model, [seen for seen, _ in questions], [x for _, (_, x) in questions])
        mean, log_variance = (np.concatenate(part) for part in zip(*raw, strict=True))
        y = np.concatenate([y[:, 0].double().numpy() for _, (y, _) in questions])
        return float(np.mean((y - mean) ** 2 * np.exp(-log_variance) + log_variance) / 2)

    def _measure(self, questions: list) -> dict:
        """Errors of RoMAE, of straight lines and of the mean on the same points; coverage; blindness to time."""
        y, mean, deviation = map(np.concatenate, zip(*self._answers(questions), strict=True))
        straight = np.concatenate([_straight(seen, x) for seen, (_, x) in questions])
        generator = torch.Generator().manual_seed(mix_seed(self.seed, 5))
        shuffled = [((v[torch.randperm(len(v), generator=generator)], x), h) for (v, x), h in questions]
        blind = np.concatenate([m for _, m, _ in self._answers(shuffled)])
        factor = float(self.standard_.deviation[0, 0]) if len(self.standard_.channels) == 1 else 1.0
        error, z = lambda found: factor * float(np.sqrt(np.mean((found - y) ** 2))), np.abs(y - mean) / deviation
        found = {
            "points": len(y), "romae": error(mean), "linear": error(straight), "shuffled": error(blind),
            "mean": factor * float(np.std(y)),
            "in_68": float((z <= BANDS[68]).mean()), "in_95": float((z <= BANDS[95]).mean()),
            "in_units": len(self.standard_.channels) == 1,
        }
        if found["shuffled"] < 1.05 * found["romae"]:
            warnings.warn(
                f"with the values shuffled among their times the error is {found['shuffled']:.3g}, with the "
                f"right times {found['romae']:.3g}: the model makes nothing of the times. It may be trained too little "
                "(steps), the values may not depend on time, or the unit of position "
                f"({self.standard_.unit:.3g} of time) may be wrong: try another, from_table(..., unit=...)",
                stacklevel=3,
            )
        return found

    def _line(self) -> str:
        r = self.report_
        words = "in the data's unit" if r["in_units"] else "in deviations of a channel"
        lost = "" if r["romae"] < r["linear"] else "\n          straight lines do as well or better: use them"
        apart = r.get("apart", 0)  # files of before do not say
        points = f"{r['points']} points" + (f" of {apart} series" if apart else "")
        if r["points"] < FEW or 0 < apart < FEW_SERIES:
            lost = f"\n          {points} are too few to choose by"
        return (
            f"held out  {points}, root mean square error {words}:\n"
            f"          linear interpolation {r['linear']:.3g}, RoMAE {r['romae']:.3g}{lost}\n"
            f"band      {r['in_68']:.0%} of them in the 68 % band, {r['in_95']:.0%} in the 95 % band"
        )

    def _positions(self, scale: Scale | None, sample: int, times: Any) -> Tensor:
        """Times in the data's units as positions of the model, (M,)."""
        if not np.size(times):
            raise ValueError("at holds no time; ask for one at least")
        if scale is None:
            # multiplied as `stated` does: at 1.7e9 seconds a quotient is another number, outside its own series
            when, dates = seconds("at", times)
            if self.standard_.dates is not None:
                alike("at", dates, "the times of the fit", self.standard_.dates)
            found = torch.from_numpy(when) * (1 / self.standard_.unit)
        else:
            found = scale.positions(sample, times, scale.channels[0], "at")[:, 0] * (scale.unit / self.standard_.unit)
        return found


def _series(tokens: Tokens) -> list[tuple[Tensor, Tensor]]:
    """Each sample without padding, in order of time: values (N, P), positions (N, D)."""
    found = []
    for values, positions, real in zip(tokens.values, tokens.positions, tokens.real, strict=True):
        order = positions[real][:, 0].argsort(stable=True)
        found.append((values[real][order], positions[real][order]))
    return found


def _of_channel(positions: Tensor, channel: int) -> Tensor:
    """Which tokens of a series (N, D) are of a channel, (N,) bool: all where positions have no axis of channels."""
    return (positions[:, 1:].long() == channel).all(1)


def _places(when: Tensor, channel: int, channels: int) -> Tensor:
    if channels == 1:
        return when[:, None]
    return torch.stack((when, torch.full_like(when, channel)), dim=-1)


def _hidden(series: list, seed: int, window: int, ratio=(0.1, 0.9)) -> list[tuple]:
    """Each series with a part of it hidden, as pairs (visible, hidden): in pieces no longer than a window, as in
    training. Of a whole long series most of what `gaps` hides would lie far from all that is seen."""
    pieces = [part for s in series for part in zip(*(a.tensor_split(-(-len(a) // window)) for a in s), strict=True)]
    batch, generator = collate(pieces), seeded(seed, 6)
    mask = hide(batch.real, ratio=ratio, generator=generator) if isinstance(ratio, float) else gaps(batch, generator)
    found = []
    for (v, x), h in zip(pieces, mask, strict=True):
        h = h[: len(v)]
        found.append(((v[~h], x[~h]), (v[h], x[h])))
    return found


def _held_out(series: list, seed: int, window: int) -> tuple[list, list, list, int]:
    """What to train on; what chooses and what reports, as pairs (visible, hidden); how many series report alone.

    Of ten series and more a tenth each, at most 500, with random gaps in their windows; of fewer about a tenth of the
    points each, in stretches of one to eight, drawn anew until there are some of either kind.
    """
    rng = np.random.default_rng([seed, 7])
    long = [i for i, (v, _) in enumerate(series) if len(v) > 1]
    if len(long) >= 10:
        order, part = rng.permutation(long), min(500, max(2, len(long) // 10))
        choose, report, train = order[:part], order[part : 2 * part], order[2 * part :]
        return (
            [series[i] for i in train],
            _hidden([series[i] for i in choose], mix_seed(seed, 1), window),
            _hidden([series[i] for i in report], mix_seed(seed, 2), window),
            part,
        )
    for _ in range(1000):
        train, pairs = [], ([], [])
        for v, x in series:
            ends = rng.integers(1, 9, len(v)).cumsum()
            block = np.searchsorted(ends, np.arange(len(v)), side="right")
            role = torch.from_numpy(rng.choice(3, block.max() + 1, p=(0.8, 0.1, 0.1))[block])
            if (role == 0).sum() < 2:
                role[:] = 0
            seen = v[role == 0], x[role == 0]
            train.append(seen)
            for k in (1, 2):
                if (role == k).any():
                    pairs[k - 1].append((seen, (v[role == k], x[role == k])))
        if all(pairs):
            return train, *pairs, 0
    raise ValueError(f"X has {sum(len(v) for v, _ in series)} values; too few of a series to hold some out")


def _straight(seen: tuple, at: Tensor) -> np.ndarray:
    """Linear interpolation within each channel, constant beyond its ends, 0 (the mean) where it has nothing."""
    (v, x), found = seen, np.zeros(len(at))
    for c in at[:, 1].unique().tolist() if at.shape[1] > 1 else (None,):
        asked = at[:, 1] == c if c is not None else torch.ones(len(at), dtype=torch.bool)
        mine = x[:, 1] == c if c is not None else torch.ones(len(x), dtype=torch.bool)
        if mine.any():
            found[asked.numpy()] = np.interp(at[asked, 0].numpy(), x[mine, 0].numpy(), v[mine, 0].numpy())
    return found


# Classes ------------------------------------------------------------------------------------------------------------


class Classifier(ClassifierMixin, _Saved):
    """Tells series apart: learns to fill gaps on all series, then the classes from those that have one.

    pretrain  False: learns the classes only
    size      of the encoder, as `size` takes it; None: by the number of values
    longest   tokens of a series that are looked at; of longer series every second, third ... one of each channel
    steps     of each of the two stages, rounded to whole passes over the series (one at least); None: 300 to 1000, by
              the number of series
    lr        peak learning rate, of Muon
    batch     series a step
    holdout   share of the labelled series that is held out and reported on, none of a class with one; 0: none
    seed, device, verbose: as in `Interpolator`

    After fit: classes_, model_ (a `RoMAEPredictor`), standard_ (units), history_, simple_ (see `score_simple`), report_
    (accuracies on held-out series).
    """

    KEPT = (*_Saved.KEPT, "classes_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a missing value
        return tags

    def __init__(self, *, pretrain=True, size=None, longest=192, steps=None, lr=3e-3, batch=32, holdout=0.2, seed=0,
                 device=None, verbose=True):
        self.pretrain, self.size, self.longest, self.steps, self.lr = pretrain, size, longest, steps, lr
        self.batch, self.holdout, self.seed, self.device, self.verbose = batch, holdout, seed, device, verbose

    def fit(self, X, y=None, scale: Scale | None = None) -> "Classifier":
        """X: tokens with their scale, as `from_table` gives them; a list of pairs (times, values); or an array (n, T).
        Values are (N,) or (N, P); rows with a NaN are left out, with a UserWarning where that loses others.

        y: classes (n,), None or NaN where unknown; None altogether: those of the table. ValueError for fewer than two
        classes."""
        began = time.monotonic()
        self._forget()
        self._check()
        if isinstance(y, Scale):
            raise TypeError("y is a Scale; write fit(tokens, scale=scale)")
        tokens = _given(X, scale)
        known, names = self._labels(tokens, y, scale)
        self.classes_, code = np.unique(names[known], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has {len(self.classes_)} class; telling classes apart takes two")
        self.standard_ = _measured(tokens, scale)
        self.within_ = None  # the deviation around a series' mean, once it is measured
        series = _series(self.standard_.stated(tokens, scale))
        data, simple = self._seen(series), _statistics(series, len(self.standard_.channels))
        rows, held = np.flatnonzero(known), np.empty(0, dtype=int)
        label = np.full(len(tokens), -1)
        label[rows] = code
        count, test = np.bincount(code), round(self.holdout * len(rows))
        many, classes = count[code] > 1, int((count > 1).sum())  # the only case of a class is learnt from
        if classes > 1 and test >= classes and many.sum() - test >= classes:
            seed = self.seed % 2**32  # numpy's seeds end there
            train, held = train_test_split(rows[many], test_size=test, stratify=code[many], random_state=seed)
            rows = np.concatenate((train, rows[~many]))
        axes = data.positions.shape[-1]
        shape = _size(int(data.real.sum()), axes) if self.size is None else size(self.size)
        span = float((data.positions[..., 0] * data.real).amax(1).median())
        config = ModelConfig(
            patch=data.values.shape[-1], axes=axes, encoder=shape, decoder=shape,
            positions=_encoding(span, shape, axes), dropout=0.1,
        )
        others = np.setdiff1d(np.arange(len(tokens)), held)
        others = others[data.real.sum(1).numpy()[others] > 1]
        steps = int(np.clip(3 * len(others), 300, 1000)) if self.steps is None else self.steps
        model = seeded_build(self.seed, lambda: RoMAEPredictor(config, len(self.classes_), pool="mean"))
        self.history_, log, options = [], _log(self.verbose), {"logs": min(20, steps), "device": self.device}
        if self.pretrain and len(others):
            first = seeded_build(self.seed, lambda: RoMAE(config))
            self.history_ = self._trained(first, data[others], _pretraining, steps, log, options)
            model.start_from(first.cpu())
        train = replace(data[rows], aux={"label": torch.from_numpy(label[rows])})
        self.history_ = self.history_ + self._trained(model, train, _classifying, steps, log, options)
        self.model_ = model
        self.simple_ = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        self.simple_.fit(simple[rows], label[rows])
        measured = self._measure(data, simple, rows, held, label) if len(held) else {}
        self.report_ = measured | {
            "series": len(tokens), "labelled": len(rows), "held": len(held), "span": span,
            "steps": self.history_[-1]["step"], "parameters": count_parameters(model), "base": config.positions.base,
            "seconds": time.monotonic() - began, "settings": self.get_params(),
        }
        if self.verbose:
            print(self._line())
        return self

    def predict_proba(self, X, scale: Scale | None = None) -> np.ndarray:
        """Probabilities (n, K) of `classes_`."""
        check_is_fitted(self, "report_")
        return self._probabilities(self._seen(_series(self.standard_.stated(_given(X, scale), scale))))

    def predict(self, X, scale: Scale | None = None) -> np.ndarray:
        """The most probable class of each series, (n,)."""
        best = self.predict_proba(X, scale).argmax(1)
        return self.classes_[best]

    def score(self, X, y=None, scale: Scale | None = None) -> float:
        """Accuracy, over the series whose class is known."""
        check_is_fitted(self, "report_")
        known, names = self._truth(_given(X, scale), y, scale)
        return float((self.predict(X, scale)[known] == names[known]).mean())

    def score_simple(self, X, y=None, scale: Scale | None = None) -> float:
        """Accuracy of the simple method of `summary` on other series: logistic regression on how long a series is and,
        channel by channel, how many values it has and how these and their steps are distributed, from the same labelled
        series."""
        check_is_fitted(self, "report_")
        if not hasattr(self, "simple_"):
            raise ValueError("this classifier was loaded from a file, which holds RoMAE alone; fit it to have both")
        tokens = _given(X, scale)
        known, names = self._truth(tokens, y, scale)
        simple = _statistics(_series(self.standard_.stated(tokens, scale)), len(self.standard_.channels))
        found = self.classes_[self.simple_.predict(simple)]
        return float((found[known] == names[known]).mean())

    def summary(self) -> str:
        """What was chosen, and how good it is, in lines."""
        check_is_fitted(self, "report_")
        r, s = self.report_, self.report_["settings"]
        lines = [
            f"data      {r['series']} series, {r['labelled']} of them with a class to learn from",
            f"classes   {', '.join(map(str, self.classes_))}",
            f"unit      {self.standard_.unit:.6g} of time is one unit of position; a series is {r['span']:.4g} long",
            f"model     {r['parameters']} weights, RoPE base {r['base']:.4g}",
            f"training  {'pre-training and ' if s['pretrain'] else ''}{r['steps']} steps of {s['batch']}, "
            f"lr {s['lr']:g}, {r['seconds']:.0f} s",
            self._line(),
        ]
        return "\n".join(lines)

    def _check(self) -> None:
        checks.kind("pretrain", self.pretrain, bool)
        checks.number("holdout", self.holdout, lambda v: 0 <= v < 1, "lie in [0, 1)")
        checks.whole("longest", self.longest, 1)
        self._check_shared()

    def _truth(self, tokens: Tokens, y, scale: Scale | None) -> tuple[np.ndarray, np.ndarray]:
        """`_labels` to score by. ValueError where no class is known, or none is one of the model's."""
        if isinstance(y, Scale):
            raise TypeError("y is a Scale; write score(tokens, scale=scale)")
        known, names = self._labels(tokens, y, scale)
        if not known.any():
            raise ValueError("y has no known class; a score needs some")
        if not set(names[known].tolist()) & set(self.classes_):  # numbers against words, most often
            found = ", ".join(map(repr, np.unique(names[known])[:3].tolist()))
            mine = ", ".join(map(repr, self.classes_[:3].tolist()))
            raise ValueError(f"y holds {found}; the classes of the model are {mine}")
        return known, names

    @staticmethod
    def _labels(tokens: Tokens, y, scale: Scale | None) -> tuple[np.ndarray, np.ndarray]:
        """Which series have a class, and the classes, (n,) each."""
        if y is None:
            if "label" not in tokens.aux:
                raise ValueError("y is None, and the tokens carry no label; give y, or label= in from_table")
            code = tokens.aux["label"].numpy()
            names = np.array(scale.labels)[code] if scale is not None and scale.labels else code
            return code >= 0, names
        names = column_or_1d(array_of(y) if isinstance(y, list | tuple | np.ma.MaskedArray) else y, warn=True)
        if names.shape != (len(tokens),):
            raise ValueError(f"y has shape {names.shape}; it must be ({len(tokens)},), one class for each series")
        known = ~missing(names)
        if names.dtype == object and known.any():
            text = {isinstance(name, str) for name in names[known]}
            if len(text) > 1:
                raise ValueError("y mixes text with what is none; write all classes as text, or all as numbers")
            if text == {False}:  # numbers beside None
                names = np.array(np.where(known, names, names[known][0]).tolist())
        check_classification_targets(names[known])
        return known, names

    def _seen(self, series: list) -> Tokens:
        """What the model gets: from time 0, thinned where too long."""
        samples = []
        for v, x in series:
            every, kept = -(-len(v) // self.longest), torch.zeros(len(v), dtype=torch.bool)
            for c in range(len(self.standard_.channels)):  # of all in turn: of two measured together one would go
                kept[_of_channel(x, c).nonzero()[::every]] = True
            samples.append(_from_zero(v[kept], x[kept]))
        data = collate(samples)
        if data.values.shape[-1] > 1:
            return data
        # one value: what it is around its series' mean, and that mean, so that neither hides the other
        level = _level(data.values, _channel(data), data.real, len(self.standard_.channels))
        around = data.values - level
        if self.within_ is None:
            self.within_ = float(around[data.real].double().std(correction=0)) or 1.0
        return Tokens(values=torch.cat((around / self.within_, level), dim=-1), positions=data.positions, pad=data.pad)

    def _trained(self, model: nn.Module, data: Tokens, loss, steps: int, log, options: dict) -> list[dict]:
        lengths = data.lengths
        recipe = _recipe(len(data), steps, self.batch, self.lr)
        return fit(model, data, loss, recipe, seed=self.seed, log=log,
                   order=lambda generator: by_length(lengths, self.batch, generator), **options)

    @torch.no_grad()
    def _probabilities(self, data: Tokens) -> np.ndarray:
        self.model_.eval()
        found = torch.empty(len(data), len(self.classes_))
        for index in data.real.sum(1).argsort(stable=True).split(128):
            found[index] = self.model_(trim(data[index]).to(device_of(self.model_))).float().softmax(-1).cpu()
        return found.double().numpy()

    def _measure(self, data: Tokens, simple: np.ndarray, rows: np.ndarray, held: np.ndarray, label: np.ndarray) -> dict:
        """Accuracies on held-out series: RoMAE, the largest class, logistic regression on simple statistics."""
        test, truth = data[held], label[held]
        sure = self._probabilities(test)
        n, generator = test.real.sum(1), torch.Generator().manual_seed(mix_seed(self.seed, 5))
        mixed_up = [
            (v[torch.randperm(int(k), generator=generator)], x) for (v, x), k in zip(_series(test), n, strict=True)
        ]
        found = {
            "romae": float((sure.argmax(1) == truth).mean()),
            "simple": float((self.simple_.predict(simple[held]) == truth).mean()),
            "majority": float((np.bincount(label[rows]).argmax() == truth).mean()),
            "moved": float(np.abs(self._probabilities(collate(mixed_up)) - sure).mean()),
        }
        if found["moved"] < 0.01:
            warnings.warn(
                f"with the values shuffled among their times probabilities move by {found['moved']:.2g} only: "
                "the model makes nothing of the times. It may be trained too little (steps), the classes may not "
                f"depend on time, or the unit of position ({self.standard_.unit:.3g} of time) may be wrong: try "
                "another, from_table(..., unit=...)",
                stacklevel=3,
            )
        return found

    def _line(self) -> str:
        r = self.report_
        if not r["held"]:
            return "held out  nothing: too few labels. Score it on series of your own that it has not seen"
        better = r["romae"] > max(r["simple"], r["majority"])
        lost = "" if better else "\n          RoMAE is not the better one: use the simple one"
        if r["held"] < FEW:
            lost = f"\n          {r['held']} series are too few to choose by"
        return (
            f"held out  {r['held']} series, accuracy: largest class {r['majority']:.2f},\n"
            f"          logistic regression on simple statistics {r['simple']:.2f}, RoMAE {r['romae']:.2f}{lost}"
        )


def _pretraining(model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
    """Fill in what is hidden, 30 to 80 % of each series."""
    batch = trim(batch)
    hidden = hide(batch.real, ratio=(0.3, 0.8), generator=generator)
    return masked_loss(model, batch, hidden)


def _classifying(model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
    """Cross-entropy, of series that have lost up to half of their tokens at random: no two look alike."""
    batch, label = trim(batch), batch.aux["label"]
    if int(batch.real.sum(1).min()) > 1:
        where = split(hide(batch.real, ratio=(0.01, 0.5), generator=generator), batch.real)
        batch = Tokens(
            values=take(batch.values, where.visible), positions=take(batch.positions, where.visible),
            pad=where.visible_pad,
        )
    device = device_of(model)
    return cross_entropy(model(batch.to(device)).float(), to_device(label, device))


def _statistics(series: list, channels: int) -> np.ndarray:
    """What a simple method would look at, (n, 1 + C (1 + 6 P)): the length, and of each channel the number of values
    and their distribution, 0 where it has none."""
    rows = []
    for v, x in series:
        row = [[float(x[-1, 0] - x[0, 0])]]
        for c in range(channels):
            mine = v[_of_channel(x, c)].double().numpy()
            row += [[len(mine)], _distribution(mine if len(mine) else np.zeros((1, v.shape[1])))]
        rows.append(np.concatenate(row))
    return np.array(rows)


def _distribution(v: np.ndarray) -> np.ndarray:
    """Of values (N, P): mean, deviation, least, greatest and median around the mean, and median step, (6 P,). Levels
    that differ from series to series would hide what does not."""
    steps, mean = np.abs(np.diff(v, axis=0)) if len(v) > 1 else np.zeros_like(v), v.mean(0)
    around = v - mean
    parts = mean, v.std(0), around.min(0), around.max(0), np.median(around, 0), np.median(steps, 0)
    return np.concatenate(parts)

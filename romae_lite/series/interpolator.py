"""Fill gaps of irregular series with error bars, by scikit-learn's conventions.

    tokens, _ = from_table(table, id="star", time="day", value="flux")
    mean, deviation = Interpolator().fit(tokens).predict(at=[10.5, 11.0])

Some series or points are held out: half of them choose the step to stop at and the
width of the band, the others are what the report is about.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from .. import checks
from ..batching import trim
from ..checks import a, at_least, real
from ..fast import Fast
from ..masking import hide, split
from ..model import (
    BANDS,
    RoMAE,
    device_of,
    gaussian_loss,
    masked_loss,
    split_mean_variance,
)
from ..tokens import Tokens, collate
from ..training import Interrupted, Recipe, mix_seed, printer, seeded, seeded_build
from .columns import to_python
from .estimator import (
    FEW,
    FEW_SERIES,
    Estimator,
    channel_level,
    fitted_scale,
    from_zero,
    read_series,
    span_of,
)
from .units import POSITIVE, Scale, Series, channel_of

Answers = list[tuple[np.ndarray, np.ndarray]]  # of each series two arrays (M,)
Question = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]  # visible, hidden part


class Interpolator(Estimator):
    """Fill any gap of irregular series, and say how sure the answer is.

    Parameters
    ----------
    size : str, optional
        Of encoder and decoder, as `size` takes it. None: by the number of values.
    window : int
        Tokens that the model sees at once; longer series pass in overlapping windows.
    steps : int, optional
        Of training, in whole passes over the windows; fewer if held-out points have
        long not got better. None: by the number of values.
    lr : float
        Peak learning rate, of Muon.
    batch : int
        Windows a step.
    local : bool, optional
        True: values are taken relative to the mean of what is seen of their window.
        None: if the windows' means make up more than half of the variance.
    seed : int
        Of everything that is random.
    device : str, optional
        "cpu", "cuda" or "mps". None: the best there is.
    verbose : bool
        Print progress, and the result on held-out points.

    Attributes
    ----------
    model_ : RoMAE
    scale_ : Scale
        Units of the fit.
    history_ : list of dict
        Of the training.
    report_ : dict
        Errors and coverage on held-out points: `summary` puts them into words.
    """

    SETTINGS = Estimator.SETTINGS | {"window": at_least(8), "local": a(bool | None)}
    LEARNT = Estimator.LEARNT | {
        "within_": POSITIVE, "local_": a(bool), "stretch_": POSITIVE,
        "shared_": real(lambda v: 0 <= v <= 1, "lie in [0, 1]"),
    }
    MODEL = RoMAE
    shared_ = 0.0  # files of before do not say
    _data = None  # the series of the fit and their scale: not saved

    def __init__(
        self, *, size=None, window=96, steps=None, lr=5e-3, batch=32, local=None,
        seed=0, device=None, verbose=True,
    ):
        self.size, self.window, self.steps, self.lr = size, window, steps, lr
        self.batch, self.local, self.seed = batch, local, seed
        self.device, self.verbose = device, verbose

    def fit(self, X, scale: Scale | None = None) -> "Interpolator":
        """Train on series, some of which (or some points) are held out.

        Parameters
        ----------
        X : Tokens or list of pairs (times, values)
            Tokens as `from_table` makes them, or pairs of numbers or dates (N,) and
            numbers (N,), NaN for gaps.
        scale : Scale, optional
            That of tokens which carry none. Those of `from_table` do.

        Returns
        -------
        Interpolator

        Raises
        ------
        ValueError
            If no series has two values, or all together have fewer than 20.
        """
        began = time.monotonic()
        self._begin()
        series, given = self._read(X, scale)
        if (width := series[0][0].shape[1]) > 1:
            hint = "give each channel tokens of its own: from_table does"
            raise ValueError(f"X has {width} values a token; {hint}")
        lengths = [len(values) for values, _ in series]
        if sum(lengths) < 20 or max(lengths) < 2:
            found = f"{sum(lengths)} values in {len(series)} series"
            raise ValueError(f"X has {found}; 20 are needed, two of them in one series")
        self.scale_, self._data = fitted_scale(series, given), (series, given)
        report = self._fit(self.scale_.convert(series, given))
        return self._finish(report, began)

    def predict(
        self, X=None, scale: Scale | None = None, *, at, channel: str | None = None,
        id=None,
    ):
        """Estimate what would be measured at any times, in the data's own units.

        Parameters
        ----------
        X, scale
            Series to fill, as in `fit`. None: those of the fit.
        at : array_like, (M,), or list of B of these
            Times, the same for every series or an array for each; dates where the data
            have dates. What is asked together does not matter.
        channel : str, optional
            Which to ask for, if there are several.
        id : hashable, optional
            Of the one series that is meant, as in the table.

        Returns
        -------
        mean, deviation : array of float64
            (M,) of one series, (B, M) of several; lists if `at` is one.

        Warns
        -----
        UserWarning
            For times before the first or after the last value of the channel in a
            series, where nothing was learnt; for series without any.

        Raises
        ------
        TypeError, ValueError
            For times, ids and channels that the data cannot have.
        """
        series, given = self._asked(X, scale)
        scale = self.scale_
        if len(scale.channels) > 1 or channel is not None:
            checks.choice("channel", channel, scale.channels)
        c = 0 if channel is None else scale.channels.index(channel)
        if id is not None:
            id, ids = to_python(id), list(given.ids)
            checks.choice("id", id, ids)
            series, given = [series[ids.index(id)]], given[[ids.index(id)]]
        series = scale.convert(series, given)
        each = isinstance(at, list) and len(at) > 0 and np.ndim(at[0]) == 1
        if each and len(at) != len(series):
            found = f"{len(at)} arrays of times"
            raise ValueError(f"at has {found}; there are {len(series)} series")
        asked, outside, bare = [], 0, 0
        for b, (_, positions) in enumerate(series):
            asked.append(self._places(given, b, at[b] if each else at, c))
            when, times = asked[b][:, 0], positions[channel_of(positions) == c, 0]
            bare += not len(times)
            if len(times):
                far = (when < times[0] - 1e-9) | (when > times[-1] + 1e-9)
                outside += int(far.sum())
        if outside:
            where = "" if channel is None else f" in channel {channel!r}"
            warnings.warn(
                f"{outside} of {sum(map(len, asked))} times lie before the first or "
                f"after the last value of their series{where}: nothing was learnt "
                "there, and neither mean nor band can be trusted",
                stacklevel=2,
            )
        if bare:
            warnings.warn(
                f"{bare} of {len(series)} series have no value of channel {channel!r}: "
                "what is answered comes from their other channels",
                stacklevel=2,
            )
        answers = self._answer(series, asked)
        factor, middle = scale.deviation.flat[c], scale.mean.flat[c]
        mean = [m * factor + middle for m, _ in answers]
        deviation = [np.exp(v / 2) * self.stretch_ * factor for _, v in answers]
        if len(series) == 1 and not each:
            return mean[0], deviation[0]
        return (mean, deviation) if each else (np.stack(mean), np.stack(deviation))

    def score(self, X=None, scale: Scale | None = None) -> float:
        """Return R², with a random half of every window hidden.

        Parameters
        ----------
        X, scale
            As in `predict`.

        Returns
        -------
        float
            1 at best. For values that do not differ 0, or 1 if every answer is exact.
        """
        series, given = self._asked(X, scale)
        series = [s for s in self.scale_.convert(series, given) if len(s[0]) > 1]
        if not series:
            raise ValueError("X has no series of two values or more, to hide one")
        questions = hide_parts(series, self.seed, self.window, 0.5)
        truth, mean, _ = self._grade(questions)
        return float(r2_score(truth, mean))

    def summary(self) -> str:
        """Return what was chosen, and how good it is, in lines."""
        check_is_fitted(self, "report_")
        r, s = self.report_, self.report_["settings"]
        level = "relative to their window's mean" if self.local_ else "as they are"
        scale = self.scale_
        return "\n".join([
            f"data      {r['series']} series, {r['values']} values, channels "
            + ", ".join(scale.channels),
            f"unit      {scale.unit:.6g} of time is one unit of position",
            f"window    {s['window']} tokens, {r['span']:.4g} units; {r['windows']} "
            "windows to train on",
            f"values    standardised, {level}",
            f"model     {r['size']} twice, {r['parameters']} weights, RoPE base "
            f"{r['base']:.4g}",
            f"training  {r['steps']} of {r['most_steps']} steps of {s['batch']}, lr "
            f"{s['lr']:g}, {r['seconds']:.0f} s",
            self._result(),
        ])

    def _result(self) -> str:
        r = self.report_
        unit = "in the data's unit" if r["in_units"] else "in deviations of a channel"
        apart = r.get("apart", 0)  # files of before do not say
        points = f"{r['points']} points" + (f" of {apart} series" if apart else "")
        advice = ""
        if r["points"] < FEW or 0 < apart < FEW_SERIES:
            advice = f"\n          {points} are too few to choose by"
        elif r["romae"] >= r["linear"]:
            advice = "\n          straight lines do as well or better: use them"
        return (
            f"held out  {points}, root mean square error {unit}:\n"
            f"          linear interpolation {r['linear']:.3g}, RoMAE {r['romae']:.3g}"
            f"{advice}\n"
            f"band      {r['in_68']:.0%} of them in the 68 % band, {r['in_95']:.0%} in "
            "the 95 % band"
        )

    # Input --------------------------------------------------------------------

    @staticmethod
    def _read(X: Any, scale: Scale | None) -> tuple[Series, Scale]:
        if hasattr(X, "columns"):  # its rows would be taken for series
            name = type(X).__name__
            raise TypeError(f"X is a {name}; `from_table` makes tokens of it")
        return read_series(X, scale)

    def _asked(self, X: Any, scale: Scale | None) -> tuple[Series, Scale]:
        check_is_fitted(self, "report_")
        if X is not None:
            return self._read(X, scale)
        if scale is not None:
            raise ValueError("scale is given, but X is None; give both, or neither")
        if self._data is None:
            raise ValueError("X is None, but a saved model carries no series")
        return self._data

    def _places(self, given: Scale, sample: int, times: Any, c: int) -> Tensor:
        """Return times in the data's units as positions of the model, (M, D)."""
        if not np.size(times):
            raise ValueError("at is empty; ask for one time at least")
        at = given.positions(sample, times, given.channels[0], "at")[:, :1]
        at = at * (given.unit / self.scale_.unit)
        if len(self.scale_.channels) == 1:
            return at
        return torch.cat((at, torch.full_like(at, c)), dim=-1)

    # Training -----------------------------------------------------------------

    def _fit(self, series: Series) -> dict:
        """Train on standardised series; return the report."""
        train, choose, test, apart = hold_out(series, self.seed, self.window)
        windows = [w for s in train for w in cut_windows(*s, self.window)]
        data = collate([w for w in windows if len(w[0]) > 1])
        values = sum(len(v) for v, _ in series)
        self._fit_level(data)
        config = self._configure(
            data, values, cls=data.positions.shape[-1] > 1, spread=True, alone=True
        )
        self.model_ = seeded_build(self.seed, lambda: RoMAE(config))
        steps = self.steps
        if steps is None:
            steps = int(np.clip(values // 16, 500, 3000))
        recipe = self._recipe(len(data), steps)
        self._stop_early(data, choose, recipe, steps)
        truth, mean, log_variance = self._grade(choose)
        z = np.abs(truth - mean) / np.exp(log_variance / 2)
        self.stretch_ = float(np.quantile(z, 0.6827)) if len(z) >= 20 else 1.0
        shape = config.encoder
        return self._measure(test) | {
            "series": len(series), "apart": apart, "values": values,
            "windows": len(data), "span": span_of(data),
            "most_steps": recipe.epochs * -(-len(data) // self.batch),
            "size": f"{shape.dim}x{shape.heads}x{shape.depth}x{shape.ff}",
        }

    def _fit_level(self, data: Tokens) -> None:
        """Decide whether to subtract each window's mean (`local_`), and measure the
        remaining deviation on hidden values: a value that is alone in its channel is
        its own mean."""
        self.shared_ = level_sharing(data, len(self.scale_.channels))
        hidden = draw_gaps(data, seeded(self.seed, 8))
        level = self._level(data, hidden)
        total = float(data.values[hidden].double().var(correction=0))
        around = (data.values - level)[hidden].double()
        within = float(around.square().mean())
        self.local_ = within < 0.5 * total if self.local is None else self.local
        self.within_ = max(within, 1e-12) ** 0.5 if self.local_ else 1.0

    def _level(self, batch: Tokens, hidden: Tensor) -> Tensor:
        return channel_level(
            batch.values, channel_of(batch.positions), batch.real & ~hidden,
            len(self.scale_.channels), self.shared_,
        )

    def _subtract_level(self, batch: Tokens, hidden: Tensor) -> tuple[Tokens, Tensor]:
        """Return the batch around its level, if it has one, and that (B, N, 1)."""
        if not self.local_:
            return batch, torch.zeros_like(batch.values)
        level = self._level(batch, hidden)
        return batch.with_values((batch.values - level) / self.within_), level

    def _stop_early(self, data: Tokens, choose: list, recipe: Recipe, steps: int):
        """Train until held-out points have long not got better; keep the best."""

        def loss(model, batch, generator):
            batch = trim(batch)
            hidden = draw_gaps(batch, generator)
            batch = self._subtract_level(batch, hidden)[0]
            return masked_loss(model, batch, hidden, gaussian_loss)

        best = EarlyStopping(lambda: self._likelihood(choose), patience=8)
        show = printer(every=10) if self.verbose else lambda entry: None
        self.history_ = []

        def log(entry):
            self.history_.append(entry)
            show(entry)

        # of few steps few looks: eight looks without a better one must not fit into
        # the start, where nothing moves yet
        logs = min(30, max(8, steps // 16))
        try:
            self._train(
                Fast(self.model_), data, loss, recipe, logs=logs, log=log,
                validate=lambda _: best.look(self.model_), stop=best.is_over,
            )
        except Interrupted:  # nothing better for long
            pass
        self.model_.load_state_dict(best.weights)

    # Answers ------------------------------------------------------------------

    @torch.no_grad()
    def _answer(self, series: Series, asked: list[Tensor]) -> Answers:
        """Return mean and log-variance, standardised, at positions (M_b, D) of each
        series."""
        rows = []  # (sample, first token of its window, which of the asked)
        for b, ((_, x), at) in enumerate(zip(series, asked, strict=True)):
            step, last = max(1, self.window // 4), max(0, len(x) - self.window)
            near = torch.searchsorted(x[:, 0].contiguous(), at[:, 0].contiguous())
            start = ((near - self.window * 3 // 8) // step * step).clamp(0, last)
            for s in start.unique().tolist():
                chosen = (start == s).nonzero()[:, 0]
                rows += [(b, s, index) for index in chosen.split(64)]
        length = [min(self.window, len(x)) for _, x in series]
        rows.sort(key=lambda row: (length[row[0]], len(row[2])))
        found = [np.empty((2, len(at))) for at in asked]
        model, device = self.model_.eval(), device_of(self.model_)
        for i in range(0, len(rows), 64):
            part = rows[i : i + 64]
            samples, counts = [], []
            for b, s, index in part:
                v, x = (a[s : s + self.window] for a in series[b])
                values = torch.cat((v, v.new_zeros(len(index), 1)))
                at = torch.cat((x, asked[b][index]))
                at[:, 0] -= x[0, 0].item()
                samples.append((values, at))
                counts.append(len(v))
            batch = collate(samples)
            slots = torch.arange(batch.values.shape[1])
            hidden = batch.real & (slots >= torch.tensor(counts)[:, None])
            batch, level = self._subtract_level(batch, hidden)
            where = split(hidden, batch.real)
            out = model(batch.to(device), where.to(device))
            out = out.cpu().double()  # in this order for Apple
            for j, ((b, _, index), k) in enumerate(zip(part, counts, strict=True)):
                m, index = len(index), index.numpy()
                mean, log_variance = (a[:, 0] for a in split_mean_variance(out[j, :m]))
                base = level[j, k : k + m, 0].double()
                found[b][0, index] = (mean * self.within_ + base).numpy()
                found[b][1, index] = (log_variance + 2 * np.log(self.within_)).numpy()
        return [(f[0], f[1]) for f in found]

    def _grade(self, questions: list[Question]) -> tuple[np.ndarray, ...]:
        """Return truth, mean and log-variance (M,) of all that is hidden."""
        visible, hidden = zip(*questions, strict=True)
        raw = self._answer(list(visible), [x for _, x in hidden])
        mean, log_variance = map(np.concatenate, zip(*raw, strict=True))
        truth = np.concatenate([v[:, 0].double().numpy() for v, _ in hidden])
        return truth, mean, log_variance

    def _likelihood(self, questions: list[Question]) -> float:
        """Return the mean negative log-likelihood, less a constant."""
        truth, mean, log_variance = self._grade(questions)
        square = (truth - mean) ** 2
        return float(np.mean(square * np.exp(-log_variance) + log_variance) / 2)

    def _measure(self, questions: list[Question]) -> dict:
        """Measure RoMAE, straight lines and the mean on the same points; coverage; and
        what the error is with values shuffled among their times."""
        truth, mean, log_variance = self._grade(questions)
        straight = np.concatenate([draw_straight(s, x) for s, (_, x) in questions])
        generator = torch.Generator().manual_seed(mix_seed(self.seed, 5))
        shuffled = [
            ((v[torch.randperm(len(v), generator=generator)], x), hidden)
            for (v, x), hidden in questions
        ]
        single = len(self.scale_.channels) == 1
        factor = float(self.scale_.deviation.flat[0]) if single else 1.0

        def error(guess):
            return factor * float(np.sqrt(np.mean((guess - truth) ** 2)))

        good, blind = error(mean), error(self._grade(shuffled)[1])
        if blind < 1.05 * good:
            self._warn_blind(f"the error is {blind:.3g}, and {good:.3g} without that")
        z = np.abs(truth - mean) / (np.exp(log_variance / 2) * self.stretch_)
        return {
            "points": len(truth), "romae": good, "linear": error(straight),
            "shuffled": blind, "mean": factor * float(np.std(truth)),
            "in_68": float((z <= BANDS[68]).mean()),
            "in_95": float((z <= BANDS[95]).mean()), "in_units": single,
        }


class EarlyStopping:
    """Keep the weights of the best look; stop after `patience` without a better one."""

    def __init__(self, measure: Callable[[], float], patience: int):
        self.measure, self.patience = measure, patience
        self.value, self.weights, self.waited = np.inf, None, 0

    def look(self, model: nn.Module) -> dict[str, float]:
        value = self.measure()
        self.waited += 1
        if value < self.value:
            self.value, self.waited = value, 0
            state = model.state_dict()
            self.weights = {name: t.detach().clone() for name, t in state.items()}
        return {"held_out": value}

    def is_over(self) -> bool:
        return self.waited >= self.patience


def cut_windows(values: Tensor, positions: Tensor, window: int) -> Series:
    """Cut a series into overlapping windows, each beginning at time 0."""
    last, step = max(0, len(values) - window), max(1, window // 4)
    starts = sorted({*range(0, last + 1, step), last})
    return [
        from_zero(values[s : s + window], positions[s : s + window]) for s in starts
    ]


def draw_gaps(batch: Tokens, generator: torch.Generator) -> Tensor:
    """Draw which tokens to hide, (B, N) bool: 10 to 90 % of each series, scattered in
    one half of the series and in one stretch of time in the other (in half of these of
    one channel only, as far as it goes, if there are several)."""
    scattered = hide(batch.real, ratio=(0.1, 0.9), generator=generator)
    rows = len(batch)
    count = scattered.sum(1, keepdim=True)
    centre = torch.rand(rows, 1, generator=generator)
    centre = (centre * batch.real.sum(1, keepdim=True)).long()  # (B, 1)
    times, channel = batch.positions[..., 0], channel_of(batch.positions)
    rank = (times - times.gather(1, centre)).abs()
    single = torch.rand(rows, 1, generator=generator) < 0.5
    other = (channel != channel.gather(1, centre)) & single
    rank = rank + other * (1 + rank.max(1, keepdim=True).values)
    rank = rank.masked_fill(~batch.real, torch.inf).argsort(1).argsort(1)
    in_stretch = torch.rand(rows, 1, generator=generator) < 0.5
    return torch.where(in_stretch, rank < count, scattered)


def level_sharing(data: Tokens, channels: int) -> float:
    """Return how much of the others' mean a channel's values have, by least squares: 0
    if levels have nothing in common, 1 if they are the same."""
    channel, pairs = channel_of(data.positions), []
    for c in range(channels):
        mine = data.real & (channel == c)
        others = data.real & ~mine
        level = channel_level(data.values, channel, others, channels, 1.0)
        pairs.append((level[mine], data.values[mine]))
    others, its = (torch.cat(part).double() for part in zip(*pairs, strict=True))
    share = (others * its).sum() / (others**2).sum().clamp(min=1e-12)
    return float(share.clamp(0, 1))


def hide_parts(
    series: Series, seed: int, window: int, ratio: float | None = None
) -> list[Question]:
    """Hide a part of each series, in pieces no longer than a window, as in training:
    of a whole long series most of what `draw_gaps` hides would lie far from all that
    is seen."""
    pieces = []
    for values, positions in series:
        count = -(-len(values) // window)
        parts = (values.tensor_split(count), positions.tensor_split(count))
        pieces += zip(*parts, strict=True)
    batch, generator = collate(pieces), seeded(seed, 6)
    if ratio is None:
        mask = draw_gaps(batch, generator)
    else:
        mask = hide(batch.real, ratio=ratio, generator=generator)
    questions = []
    for (v, x), hidden in zip(pieces, mask, strict=True):
        hidden = hidden[: len(v)]
        questions.append(((v[~hidden], x[~hidden]), (v[hidden], x[hidden])))
    return questions


def hold_out(
    series: Series, seed: int, window: int
) -> tuple[Series, list[Question], list[Question], int]:
    """Split into what trains, what chooses and what is reported on; last, how many
    series are reported on alone.

    Of ten series and more a tenth each, at most 500, with random gaps in their windows;
    of fewer about a tenth of the points each, in stretches of one to eight, drawn anew
    until there are some of either kind.
    """
    rng = np.random.default_rng([seed, 7])
    long = [i for i, (v, _) in enumerate(series) if len(v) > 1]
    if len(long) >= 10:
        order, part = rng.permutation(long), min(500, max(2, len(long) // 10))
        choose, test, train = np.split(order, [part, 2 * part])
        return (
            [series[i] for i in train],
            hide_parts([series[i] for i in choose], mix_seed(seed, 1), window),
            hide_parts([series[i] for i in test], mix_seed(seed, 2), window),
            part,
        )
    for _ in range(1000):
        train, questions = [], ([], [])
        for v, x in series:
            ends = rng.integers(1, 9, len(v)).cumsum()
            block = np.searchsorted(ends, np.arange(len(v)), side="right")
            role = rng.choice(3, block.max() + 1, p=(0.8, 0.1, 0.1))[block]
            role = torch.from_numpy(role)
            if (role == 0).sum() < 2:
                role[:] = 0
            seen = v[role == 0], x[role == 0]
            train.append(seen)
            for part, asked in zip(questions, (role == 1, role == 2), strict=True):
                if asked.any():
                    part.append((seen, (v[asked], x[asked])))
        if all(questions):
            return train, *questions, 0
    raise ValueError("X has too few values of a series to hold some out")


def draw_straight(seen: tuple[Tensor, Tensor], at: Tensor) -> np.ndarray:
    """Interpolate linearly within each channel: constant beyond its ends, 0 (the mean)
    where it has nothing."""
    (v, x), line = seen, np.zeros(len(at))
    asked, channel = channel_of(at), channel_of(x)
    for c in asked.unique().tolist():
        there, mine = asked == c, channel == c
        if mine.any():
            points = (x[mine, 0].numpy(), v[mine, 0].numpy())
            line[there.numpy()] = np.interp(at[there, 0].numpy(), *points)
    return line

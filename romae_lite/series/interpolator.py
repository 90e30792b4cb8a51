"""Fill gaps of irregular series with error bars, by scikit-learn's conventions.

    tokens, _ = from_table(table, id="star", time="day", value="flux")
    mean, deviation = Interpolator().fit(tokens).predict(at=[10.5, 11.0])

Lines, monotone cubics, Gaussian processes, the filler, the filler tuned on these series
and what other channels and series say are mixed by how well they do on values that were
hidden from them (`mixture`).
"""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..checks import a, at_least
from ..model import RoMAE
from ..tokens import Tokens
from ..zoo import load
from . import mixture
from .candidates import Curve, average, join_alone, scale_curves
from .columns import read_asked
from .estimator import Estimator, fitted_scale, foresee, read_series
from .filler import INPUTS, merge
from .mixture import NAMES, Held, Mixture
from .units import Scale, channel_of, duration


class Interpolator(Estimator):
    """Fill any gap of irregular series, and say how sure the answer is.

    Parameters
    ----------
    steps : int
        In which the filler is tuned on the series; 0: not at all.
    seed : int
        Of everything that is random.
    verbose : bool
        Print what was done to the table, how long it will take, and the summary.

    Attributes
    ----------
    model_ : RoMAE
        The tuned filler.
    mixture_ : Mixture
        With the weights.
    scale_ : Scale
        Units of the fit.
    report_ : dict
        What hidden values say: `summary` puts it into words.
    """

    SETTINGS = {"steps": at_least(0), "seed": at_least(0), "verbose": a(int)}
    LEARNT = {"report_": a(dict)}
    MODEL = RoMAE
    _data = None  # the series of the fit and their scale: not saved

    def __init__(self, *, steps=300, seed=0, verbose=True):
        self.steps, self.seed, self.verbose = steps, seed, verbose

    def fit(self, X, scale: Scale | None = None) -> "Interpolator":
        """Tune the filler, and learn whom to believe.

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
            If no series has three values.
        """
        self._begin()
        return self.fit_curves(*read_curves(X, scale))

    def fit_curves(
        self, curves: list[Curve], scale: Scale, given: Scale
    ) -> "Interpolator":
        self._begin()
        self.scale_ = scale
        curves = scale_curves(join_alone(curves))
        if (longest := max(len(c.times) for c in curves)) < 3:
            raise ValueError(f"X has {longest} values in a series; three are needed")
        model = load("filler")
        if self.verbose:
            for note in given.notes:
                print(note)
            print(self._foresee(curves, model))
        rng = np.random.default_rng(self.seed)
        self.mixture_, held = mixture.fit(curves, model, self.steps, rng)
        self.model_, self._data = self.mixture_.model, (curves, given)
        self.report_ = report(held, len(self.scale_.channels) == 1) | {
            "series": len({c.series for c in curves}),
            "values": sum(len(c.times) for c in curves),
        }
        if self.verbose:
            print(self.summary())
        return self

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
            For times further outside a series than a tenth of its length, as far as the
            fit has tried; for series without any value of the channel.

        Raises
        ------
        TypeError, ValueError
            For times, ids and channels that the data cannot have.
        """
        check_is_fitted(self, "report_")
        if X is not None:
            curves, _, given = read_curves(X, scale, self.scale_)
        elif self._data is None:
            raise ValueError("X is None, but a saved model carries no series")
        else:
            curves, given = self._data
        names = self.scale_.channels
        if len(names) > 1 or channel is not None:
            checks.choice("channel", channel, names)
        c = 0 if channel is None else names.index(channel)
        rows = list(range(len(given.ids)))
        if id is not None:
            id = id.item() if isinstance(id, np.generic) else id
            checks.choice("id", id, given.ids)
            rows = [given.ids.index(id)]
        many = isinstance(at, list) and len(at) > 0 and np.ndim(at[0]) == 1
        if many and len(at) != len(rows):
            found = f"{len(at)} arrays of times"
            raise ValueError(f"at has {found}; there are {len(rows)} series")
        asked, outside, bare = [np.empty(0)] * len(curves), 0, 0
        clock = "those of the data", given.dates, given.zoned, given.since
        for i, b in enumerate(rows):
            when = read_asked("at", at[i] if many else at, *clock)
            t = curves[k := b * len(names) + c].times
            asked[k], bare = when, bare + (not len(t))
            if len(t):
                far = (t[-1] - t[0]) * 0.1000001
                outside += int(((when < t[0] - far) | (when > t[-1] + far)).sum())
        if outside:
            where = "" if channel is None else f" in channel {channel!r}"
            warnings.warn(
                f"{outside} of {sum(map(len, asked))} times lie further outside their "
                f"series{where} than a tenth of its length: neither mean nor band can "
                "be trusted",
                stacklevel=2,
            )
        if bare:
            warnings.warn(
                f"{bare} of {len(rows)} series have no value of channel {names[c]!r}: "
                "what is answered is its level elsewhere",
                stacklevel=2,
            )
        answers = self.mixture_.answer(curves, asked)
        mean, deviation = zip(*(answers[b * len(names) + c] for b in rows), strict=True)
        if many:
            return list(mean), list(deviation)
        if len(rows) == 1:
            return mean[0], deviation[0]
        return np.stack(mean), np.stack(deviation)

    def summary(self) -> str:
        """Say who answered, how good each is, and how sure one may be, in lines."""
        check_is_fitted(self, "report_")
        r, unit = self.report_, self.scale_.unit
        gap = duration(unit) if self.scale_.dates else f"{unit:.4g}"
        lines = [
            f"data      {r['series']} series, {r['values']} values of "
            f"{', '.join(self.scale_.channels)}; {gap} apart in the middle",
            f"hidden    {r['points']} values, singly and in stretches",
            f"          {'':<12}error {r['unit']:<14}likelihood   weights: mean, band",
        ]
        for name, its in (r["candidates"] | {"all": r["together"]}).items():
            shares = "".join(f"{100 * w:8.0f} %" for w in its.get("weights", ()))
            line = f"{its['error']:<20.3g}{its['likelihood']:10.2f}   {shares}"
            lines.append(f"          {name:<12}{line}".rstrip())
        if r["points"] < mixture.FEW:
            few = f"{r['points']} values are few: the weights are nearly equal"
            lines.append(f"          {few}")
        elif r["together"]["error"] > 1.03 * r["candidates"]["lines"]["error"]:
            lines.append("          straight lines err less")
        lines.append("coverage  of one deviation (68 %) and of two (95 %)")
        ahead = [("a tenth beyond the ends", *r["ahead"][:2])] if r["ahead"] else []
        for what, one, two in [*r["coverage"], *ahead]:
            lines.append(f"          {what:<32}{one:5.0%} {two:5.0%}")
        if ahead:
            what = "there, error over the last value"
            lines.append(f"          {what:<32}{r['ahead'][2]:6.2f}")
        return "\n".join(lines)

    def _foresee(self, curves: list[Curve], model: RoMAE) -> str:
        """Say what a fit will take, by a window of the processes and two steps."""
        longest = max(curves, key=lambda c: len(c.times))
        t, y, e = (a[:96] for a in (longest.times, longest.values, longest.errors))
        window = partial(average, t, y, t[::5], longest.spread, e)
        two = partial(mixture.tune, model, [longest], 2, 0)
        windows = min(sum(len(c.times) for c in curves), mixture.ROWS) / 16
        return foresee((window, 1.5 * windows), (two, self.steps / 2))

    # Files --------------------------------------------------------------------

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.mixture_.arrays()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.mixture_ = Mixture.of(self.model_, arrays)

    def _patch(self, width: int) -> int:
        return INPUTS


def read_curves(
    X: Any, scale: Scale | None = None, fit: Scale | None = None
) -> tuple[list[Curve], Scale, Scale]:
    """Return the curves of series in the units of the data, channel after channel of
    the fit's scale; that scale (None: there is no fit yet); and that of the data."""
    if hasattr(X, "columns"):  # its rows would be taken for series
        name = type(X).__name__
        raise TypeError(f"X is a {name}; `from_table` makes tokens of it")
    series, given = read_series(X, scale)
    scale = fit or fitted_scale(series, given)
    scale.check_known(given)
    if (width := series[0][0].shape[1]) > 1:
        hint = "give each channel tokens of its own: from_table does"
        raise ValueError(f"X has {width} values a token; {hint}")
    errors = X.aux.get("error") if isinstance(X, Tokens) else None
    curves = []
    for b, (values, positions) in enumerate(series):
        number = channel_of(positions).numpy()
        time_ = positions[:, 0].numpy() * given.unit + given.start[b]
        error = np.zeros(len(time_))
        if errors is not None:
            error = errors[b][X.real[b]].double().numpy()
        for c, name in enumerate(scale.channels):
            k = given.channels.index(name) if name in given.channels else -1
            mine, mean, deviation = number == k, given.mean[k], given.deviation[k]
            y = values[mine, 0].double().numpy() * deviation.item() + mean.item()
            e = error[mine] * deviation.item()
            curves.append(Curve(b, c, *merge(time_[mine], y, e)))
    return curves, scale, given


def report(held: Held, single: bool) -> dict:
    """Put together what hidden values say: of each candidate, of the mixture with
    weights that other values taught, and of its deviations."""
    inside, ahead = held.part(~held.beyond), held.part(held.beyond)
    found = {"points": len(inside.truth), "ahead": None, "coverage": []}
    weights, (mean, deviation) = mixture.learn(inside), mixture.judge(inside)
    both = replace(
        inside, mean=np.column_stack((inside.mean, mean)),
        deviation=np.column_stack((inside.deviation, deviation)),
    )
    unit = 1 if single else inside.spread[:, None]
    off = (both.mean - inside.truth[:, None]) / unit
    trust = inside.trust / inside.trust.sum()
    error = np.sqrt(trust @ off**2).tolist()
    log = (trust @ mixture.densities(both)).tolist()
    shares = np.stack((weights.means, weights.densities), axis=1).tolist()
    found |= {
        "unit": "" if single else "(deviations)",
        "candidates": {
            name: {"error": error[k], "likelihood": log[k], "weights": shares[k]}
            for k, name in enumerate(NAMES)
        },
        "together": {"error": error[-1], "likelihood": log[-1]},
    }
    z, size = np.abs(inside.truth - mean) / deviation, deviation / inside.spread
    groups, low = {"all": z >= 0}, 0.0
    for high in (1, 2, 4, np.inf):
        what = f"up to {high:g} gaps from a value" if high < np.inf else "further away"
        groups[what] = (inside.distance > low) & (inside.distance <= high)
        low = high
    edges = np.quantile(size, (0, 0.25, 0.5, 0.75, 1))
    for part, what in enumerate(("surest", "second", "third", "least sure")):
        inner = (size >= edges[part]) & (size <= edges[part + 1])
        groups[f"the {what} quarter"] = inner
    for what, rows in groups.items():
        if rows.sum() >= 10:
            found["coverage"].append((what, *cover(z[rows])))
    if len(ahead.truth) >= 10:
        mean, deviation = mixture.judge(ahead)
        off = (np.stack((mean, ahead.mean[:, 0])) - ahead.truth) / ahead.spread
        error, last = np.sqrt(np.mean(off**2, axis=1))
        z = np.abs(ahead.truth - mean) / deviation
        found["ahead"] = (*cover(z), float(error / (last or 1)))
    return found


def cover(z: np.ndarray) -> tuple[float, float]:
    """Shares of errors within one and two deviations."""
    return float((z <= 1).mean()), float((z <= 2).mean())

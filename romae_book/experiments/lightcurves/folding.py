"""Filling in hidden points of twenty RR Lyrae, with and without the phase as a place (chapter 10).

Every point is a token, (deviation, stated error), at (band, time); with `axis` "phase" also at its place on a circle,
which the star's period turns once. The period is found from the points that the model may see.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from romae_lite.batching import trim
from romae_lite.masking import hide
from romae_lite.model import count_parameters, masked_loss, predict_hidden
from romae_lite.tokens import Tokens, collate

from ..base import Masked, Splits, numpy_rng, setting, weights_of
from . import data as surveys
from .experiment import deviation_loss, places
from .features import harmonics

HIDDEN = ("points", "visits")
SOONER = {("time", "visits"): {"epochs": 24}}  # by the visits to choose by, where more passes make it worse
COPIES = 16  # of every star in an epoch: each has its own points hidden
SEEN, CHOSEN, TESTED = 0, 1, 2  # what a point is for
SHARES = (0.6, 0.1, 0.3)
VISIT = 0.02  # days: the telescope takes all bands within minutes
BEFORE_VISIT = {"visit": "median", "harmonics_visit": "harmonics"}  # what is moved by a visit's other bands
SCATTER = 0.1  # of bands around one another, in spreads: of 0.1 to 0.5 the best on the points to choose by
WEIGHTS = 80_000  # more do not fit beside a record
# Of 4 to 8 harmonics, damped by 3 to 30, with errors larger by 0.1 to 0.3 spreads, within a hundredth of the best on
# the visits to choose by and on the points.
COUNT, DAMPING, LARGER = 5, 3.0, 0.2
RIGHT = 0.2  # turns that a period that was found may gain in nine years


@dataclass(frozen=True, kw_only=True)
class Folding(Masked):
    """Interpolating the RR Lyrae that come with the book (chapter 10). The settings are ours."""

    name = "folding"
    chapter = 10
    patch = 2
    tiers: ClassVar[dict[str, str]] = {"best": "own", "quick": "smoke"}
    variants = frozenset({"axis"})
    campaign = tuple(
        ("best", 5, {"axis": axis, "hidden": hidden} | SOONER.get((axis, hidden), {}))
        for hidden in HIDDEN for axis in ("phase", "time"))
    meanings: ClassVar[dict[str, str]] = {
        "rmse": "error of hidden points, magnitudes",
        "rmse_harmonics": "the same of five damped harmonics fitted to a band",
        "rmse_visit": "the same of the visit's other bands",
        "rmse_harmonics_visit": "the same of harmonics, moved by what the visit's other bands leave",
        "rmse_median": "the same of the band's median", "rmse_stated": "the stated errors of the hidden points",
        "rmse_line": "the same of straight lines in time", "rmse_folded_line": "the same of straight lines in phase",
        "periods": "stars, of twenty, whose period is found to a fifth of a turn in nine years",
    }

    axis: str = setting("phase", "where a point is: band and time, or also its phase", choices=("time", "phase"))
    position_scale: float = setting(1.0, "factor on the times: 1 counts days", low=1e-6, high=1e6)
    hidden: str = setting(
        "points", "what the model must do without: single points, or all that a visit saw", choices=HIDDEN,
        was="points",
    )
    radius: float = setting(8.0, "radius of the circle of the phase", low=0.1, high=100)

    fast: bool = setting(True, "train in the fast form of the model (`romae_lite.fast`): half the time")
    encoder: str = setting("48x2x3x96", "size of the encoder")
    decoder: str = setting("48x2x1x96", "size of the decoder")
    cls: bool = setting(False, "use a [CLS] token")
    optimizer: str = setting("muon", "optimizer", choices=("adamw", "sgd", "muon"))
    lr: float = setting(1e-2, "peak learning rate", low=1e-12, high=10)
    batch: int = setting(32, "stars per step", low=1)
    epochs: int = setting(48, "passes over sixteen copies of every star", low=1)

    @classmethod
    def best(cls) -> "Folding":
        return cls()

    @classmethod
    def quick(cls) -> "Folding":
        return cls(epochs=12, hidden="visits")

    @property
    def axes(self) -> int:
        return 4 if self.axis == "phase" else 2

    def training_set(self) -> int:
        return 20 * COPIES

    def data(self, seed: int) -> Splits:
        """Of every star 60 % of what is `hidden` to learn from, which validation and test see too: of 10 and of 30 %
        more they ask for the values."""
        stars = observed(seed, self.hidden)
        seen = self.tokens(stars, SEEN)
        copies = seen[torch.arange(len(seen)).repeat(COPIES)]
        return Splits(copies, self.tokens(stars, CHOSEN), self.tokens(stars, TESTED))

    def tokens(self, stars: list["Star"], asked: int) -> Tokens:
        """What is seen of each star and, where `asked` is another role, those points too: aux hidden (n, N), visit (n,
        N), its number; spread and period (n,) of the star."""
        samples, hidden, visit = [], [], []
        for star in stars:
            there = (star.role == SEEN) | (star.role == asked)
            where = places(
                star.band[there], star.time[there], star.period if self.axis == "phase" else None,
                scale=self.position_scale, radius=self.radius)
            values = np.stack((star.value[there], np.log(star.error[there])), 1)
            samples.append((torch.from_numpy(values).float(), torch.from_numpy(where)))
            hidden.append(torch.from_numpy(star.role[there] != SEEN))
            visit.append(torch.from_numpy(star.visit[there]))
        hidden, visit = (nn.utils.rnn.pad_sequence(of, batch_first=True) for of in (hidden, visit))
        tokens, of_star = collate(samples), {
            name: torch.tensor([getattr(star, name) for star in stars]) for name in ("spread", "period")}
        return Tokens(values=tokens.values, positions=tokens.positions, pad=tokens.pad,
                      aux={"hidden": hidden, "visit": visit, **of_star}, per_token={"hidden", "visit"})

    def loss(self, model: nn.Module, batch: Tokens, generator: torch.Generator) -> Tensor:
        batch = trim(batch)
        hidden = hide_some(batch, self.hidden, (0.2, 0.7), generator)
        return masked_loss(model, batch, hidden, loss=deviation_loss)

    def evaluate(self, model: nn.Module, tokens: Tokens) -> dict[str, float]:
        """rmse: of all hidden points of all stars, in magnitudes."""
        hidden = tokens.aux["hidden"]
        error = (predict_hidden(model, tokens, hidden)[..., 0] - tokens.values[..., 0]) * tokens.aux["spread"][:, None]
        return {"rmse": float(error[hidden].square().mean().sqrt())}

    def compare(self, data: Splits) -> dict[str, float]:
        """Other ways to fill the same points in, from the same seen ones."""
        test, names = data.test, ("median", "line", "folded_line", "harmonics", "visit", "harmonics_visit")
        errors, stated = {name: [] for name in names}, []
        for i, spread in enumerate(test.aux["spread"].tolist()):
            (value, error), (band, time) = (part[test.real[i]].double().numpy().T[:2] for part in (
                test.values[i], test.positions[i]))
            asked, period = test.aux["hidden"][i][test.real[i]].numpy(), float(test.aux["period"][i])
            stated.append(spread * np.exp(error[asked]))
            for name in names:
                guess = filled(name, time / self.position_scale, value, np.exp(error), band, asked, period)
                errors[name].append(spread * (guess - value[asked]))
        right = np.abs(turns_off(test.aux["period"].double().numpy())) < RIGHT
        return {f"rmse_{name}": _rms(found) for name, found in errors.items()} | {
            "rmse_stated": _rms(stated), "periods": float(right.sum())}

    def arrays(self, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
        """Of the hidden points of every star: star, band, phase, value and prediction, in magnitudes from the band's
        median. Of a model that knows the phase and no hidden visit also its weights, for Figure 10.1."""
        test, hidden = data.test, data.test.aux["hidden"]
        star = torch.arange(len(test))[:, None].expand_as(hidden)[hidden]
        spread = test.aux["spread"][star]
        phase = test.positions[..., 1][hidden] / self.position_scale / test.aux["period"][star] % 1
        guess = predict_hidden(model, test, hidden)[..., 0][hidden]
        shown = self.axis == "phase" and self.hidden == "visits" and count_parameters(model) <= WEIGHTS
        return (weights_of(model) if shown else {}) | {
            "star": star.numpy().astype(np.int8), "band": test.positions[..., 0][hidden].numpy().astype(np.int8),
            "phase": phase.numpy().astype(np.float32), "value": (spread * test.values[..., 0][hidden]).numpy(),
            "prediction": (spread * guess).numpy(),
        }


def hide_some(batch: Tokens, what: str, ratio: tuple[float, float], generator: torch.Generator) -> Tensor:
    """(B, N) bool: of every star a share of its points, or of its visits and all that they saw."""
    if what == "points":
        return hide(batch.real, ratio=ratio, generator=generator)
    visit, (star, _) = batch.aux["visit"], batch.real.nonzero(as_tuple=True)  # (B, N); of every real point
    there = torch.zeros(len(batch), int(visit.max()) + 1, dtype=torch.bool)  # (B, V)
    there[star, visit[batch.real]] = True
    return hide(there, ratio=ratio, generator=generator).gather(1, visit) & batch.real


def arm(axis: str, hidden: str) -> Folding:
    """The longest run of one of the four questions, as the points to choose by would have it."""
    return Folding.best().replace(axis=axis, hidden=hidden, **SOONER.get((axis, hidden), {}))


def _rms(errors: list[np.ndarray]) -> float:
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))


@dataclass(frozen=True, kw_only=True)
class Star:
    """What an observer has of one star: time (N,) days, band (N,), value and error (N,) in units of the star's spread
    around the median of each band, role (N,), visit (N,), its number; period in days, spread in magnitudes. Only points
    with the role SEEN make period, medians and spread."""

    time: np.ndarray
    band: np.ndarray
    value: np.ndarray
    error: np.ndarray
    role: np.ndarray
    visit: np.ndarray
    spread: float
    period: float = np.nan


@lru_cache(maxsize=8)
def observed(seed: int, hidden: str = "points") -> list[Star]:
    """The twenty stars as `dealt`, with the periods that their visible points have."""
    curves, found = surveys.load("rr_lyrae"), []
    for i, star in enumerate(dealt(seed, hidden)):
        seen = star.role == SEEN
        y, e = (getattr(curves, name)[curves.points(i)].astype(float)[seen] for name in ("value", "error"))
        found.append(replace(star, period=pulsation(star.time[seen], y, e, star.band[seen])))
    return found


def dealt(seed: int, hidden: str) -> list[Star]:
    """The twenty stars, their points, or visits, given roles at random; without a period."""
    curves, found = surveys.load("rr_lyrae"), []
    for i in range(len(curves)):
        part, rng = curves.points(i), numpy_rng(seed, 21, i)
        t, y, e, b = (getattr(curves, name)[part].astype(float) for name in ("time", "value", "error", "band"))
        t = t - t.mean()
        visit = visits(t)
        role = roles(np.arange(len(t)) if hidden == "points" else visit, rng)
        seen = role == SEEN
        y = y - np.array([np.median(y[seen & (b == k)]) for k in b])
        spread = np.subtract(*np.quantile(y[seen], (0.84, 0.16))) / 2
        found.append(Star(time=t, band=b, value=y / spread, error=e / spread, role=role, visit=visit, spread=spread))
    return found


def roles(number: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N,) a role each for points with these numbers, the same for the same number; all three are there."""
    while True:
        found = rng.choice(3, len(number), p=SHARES)[number]
        if len(np.unique(found)) == 3:
            return found


def visits(time: np.ndarray) -> np.ndarray:
    """(N,) the number of the visit that a point was taken in: one begins where nothing was seen for VISIT."""
    order = np.argsort(time, kind="stable")
    found = np.empty(len(time), dtype=np.int64)
    found[order] = np.append(0, np.cumsum(np.diff(time[order]) > VISIT))
    return found


def pulsation(t: np.ndarray, y: np.ndarray, e: np.ndarray, b: np.ndarray) -> float:
    """Period of an RR Lyrae star in days, between 0.2 and 1: of the twenty highest peaks of the spectrum, the one whose
    damped harmonics leave the least. All bands are taken for one curve, each in units of how far it swings, as
    VanderPlas and Ivezic (2015) let bands share what they have in common."""
    from astropy.timeseries import LombScargle

    z, larger = np.empty(len(t)), np.empty(len(t))
    for mine in (b == k for k in np.unique(b)):
        swing = np.subtract(*np.quantile(y[mine], (0.84, 0.16))) / 2
        z[mine], larger[mine] = (y[mine] - np.median(y[mine])) / swing, np.hypot(e[mine] / swing, LARGER)
    step = 1 / (4 * np.ptp(t))
    frequency = np.arange(1, 5, step)
    power = LombScargle(t, z, larger).power(frequency, method="fast", assume_regular_frequency=True)
    peaks = np.flatnonzero((power[1:-1] > power[:-2]) & (power[1:-1] > power[2:])) + 1
    peaks = frequency[peaks[np.argsort(-power[peaks])][:20]]
    left = lambda f: harmonics(t, z, larger, f, COUNT, DAMPING)[1]  # noqa: E731
    near = lambda f, far, count: min(f + np.linspace(-far, far, count) * step, key=left)  # noqa: E731
    return 1 / near(min((near(f, 0.5, 5) for f in peaks), key=left), 0.25, 9)


def turns_off(periods: np.ndarray) -> np.ndarray:
    """(20,) turns that the twenty stars' periods (20,), in days, are ahead over all that was seen."""
    curves = surveys.load("rr_lyrae")
    span = np.array([np.ptp(curves.time[curves.points(i)]) for i in range(len(curves))])
    return span * (1 / periods - 1 / curves.period)


def filled(
    name: str, time: np.ndarray, value: np.ndarray, error: np.ndarray, band: np.ndarray, asked: np.ndarray,
    period: float,
) -> np.ndarray:
    """Values of the points that are `asked` (N,) bool, from the others of their band.

    name: "median", "line" in time, "folded_line" in phase, or "harmonics", damped least squares. "visit" and
    "harmonics_visit": median and harmonics moved by what the other bands of the same visit leave of them.
    """
    out = np.zeros(len(time))
    base = BEFORE_VISIT.get(name, name)
    for k in np.unique(band):
        mine = band == k
        seen = mine & ~asked
        if base == "median":
            out[mine] = np.median(value[seen])
        elif base == "line":
            out[mine] = np.interp(time[mine], time[seen], value[seen])
        elif base == "folded_line":
            out[mine] = np.interp(time[mine] % period, time[seen] % period, value[seen], period=period)
        else:
            larger = np.hypot(error[seen], LARGER)
            fit, _ = harmonics(time[seen], value[seen], larger, 1 / period, COUNT, DAMPING)
            angle = 2 * np.pi * time[mine, None] / period * np.arange(1, COUNT + 1)  # (M, 5)
            out[mine] = fit[0] + np.cos(angle) @ fit[1::2] + np.sin(angle) @ fit[2::2]
    return out[asked] + (by_visit(out, time, value, error, band, asked) if name in BEFORE_VISIT else 0)


def by_visit(
    base: np.ndarray, time: np.ndarray, value: np.ndarray, error: np.ndarray, band: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """What a prediction (N,) lacks at the points that are `asked`, by what it lacked at the others of the same visit:
    the mean of these, weighted by stated errors and SCATTER, each band measured by how far it swings. With few of them
    it is drawn to 0, by how much is lacked at all."""
    swings = {k: np.std(value[(band == k) & ~asked]) for k in np.unique(band)}
    swing = np.array([swings[k] for k in band])  # (N,)
    lacked = ((value - base) / swing)[~asked]
    near = np.abs(time[asked][:, None] - time[~asked]) < VISIT  # (M, S)
    weight = near / ((error / swing)[~asked] ** 2 + SCATTER**2)
    return swing[asked] * (weight @ lacked) / (weight.sum(1) + 1 / lacked.var())

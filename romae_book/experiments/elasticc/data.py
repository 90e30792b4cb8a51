"""Light curves in six bands: ELAsTiCC, which simulates alerts of the Rubin Observatory (paper Sec. 5.4, D.6).

A light curve is a list of visits: a time (MJD, days), one of the bands ugrizY, the flux minus that of a reference image
(SNANA's FLUXCAL, zero point 27.5 mag) with its standard error, and flags. `load` reads the file that
`data_scripts/elasticc.py` prepares from the SNANA archive; `simulated` makes up light curves of the same structure,
with classes of its own, where the archive is not at hand; `tokens` turns either into the book's one shape.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from romae_lite.tokens import Tokens

from ..data import DataError, NotHere, data_root

BANDS = "ugrizY"  # their order is the first coordinate of a token's position
PREPARED = "elasticc.h5"
ZERO_POINT = 27.5  # magnitude of FLUXCAL 1
# PHOTFLAG, as ATAT's code reads it (src/data/get_lc_md.py)
SATURATED, TRIGGER, DETECTED = 1024, 2048, 4096
BEFORE = 30.0  # days before the first alert that come with it

# Model of the archive (its folder is <ELASTICC_TRAIN>_<model>) -> class: ATAT's taxonomy (src/data/get_partitions.py)
TAXONOMY = {
    "AGN": "AGN", "CART": "CART", "Cepheid": "Cepheid", "d-Sct": "Delta Scuti", "dwarf-nova": "Dwarf Novae",
    "EB": "EB", "ILOT": "ILOT", "KN_B19": "KN", "KN_K17": "KN", "Mdwarf-flare": "M-dwarf Flare", "PISN": "PISN",
    "RRL": "RR Lyrae", "SLSN-I+host": "SLSN", "SLSN-I_no_host": "SLSN", "SNIa-91bg": "91bg", "SNIa-SALT2": "Ia",
    "SNIax": "Iax", "SNIb+HostXT_V19": "Ib/c", "SNIb-Templates": "Ib/c", "SNIc+HostXT_V19": "Ib/c",
    "SNIc-Templates": "Ib/c", "SNIcBL+HostXT_V19": "Ib/c", "SNII+HostXT_V19": "II", "SNII-NMF": "II",
    "SNII-Templates": "II", "SNIIb+HostXT_V19": "SN-like/Other", "SNIIn+HostXT_V19": "II", "SNIIn-MOSFIT": "II",
    "TDE": "TDE", "uLens-Binary": "uLens", "uLens-Single-GenLens": "uLens", "uLens-Single_PyLIMA": "uLens",
}
CLASSES = tuple(dict.fromkeys(TAXONOMY.values()))  # 20


@dataclass(frozen=True, kw_only=True)
class LightCurves:
    """Light curves, one after the other; number i is the slice start[i] : start[i + 1] of the last five.

    ids (R,) int64, label (R,) index into `names`, start (R + 1,) int64; time (M,) float64, MJD, ascending within a
    light curve; band int8, index into BANDS; flux and error float32; flags int32, bits SATURATED, TRIGGER, DETECTED.
    """

    names: tuple[str, ...]
    ids: np.ndarray
    label: np.ndarray
    start: np.ndarray
    time: np.ndarray
    band: np.ndarray
    flux: np.ndarray
    error: np.ndarray
    flags: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def count(self) -> np.ndarray:
        """Visits of each light curve, (R,)."""
        return np.diff(self.start)

    @property
    def owner(self) -> np.ndarray:
        """The light curve that each visit belongs to, (M,)."""
        return np.repeat(np.arange(len(self)), self.count)

    def keep(self, visits: np.ndarray) -> "LightCurves":
        """The same light curves with some of their visits: (M,) bool."""
        count = np.bincount(self.owner[visits], minlength=len(self))
        flat = {name: getattr(self, name)[visits] for name in ("time", "band", "flux", "error", "flags")}
        return replace(self, start=np.cumsum([0, *count]), **flat)

    def take(self, chosen: np.ndarray) -> "LightCurves":
        """Some of the light curves, in this order."""
        count = self.count[chosen]
        visits = np.repeat(self.start[chosen] - (np.cumsum(count) - count), count) + np.arange(count.sum())
        flat = {name: getattr(self, name)[visits] for name in ("time", "band", "flux", "error", "flags")}
        return replace(self, ids=self.ids[chosen], label=self.label[chosen], start=np.cumsum([0, *count]), **flat)

    def first_detection(self) -> np.ndarray:
        """MJD of the visit that raised the first alert, (R,): the first with TRIGGER, else DETECTED, else of all."""
        found = self.time[np.minimum(self.start[:-1], len(self.time) - 1)].copy()
        for bit in (DETECTED, TRIGGER):
            hit = np.flatnonzero(self.flags & bit)
            owner, where = np.unique(self.owner[hit], return_index=True)
            found[owner] = self.time[hit[where]]
        return found


def alert_window(curves: LightCurves) -> LightCurves:
    """What a stream of alerts has shown by its last one: visits from 30 days before the first detection to the last
    one, but none that is saturated (ATAT's mask_alert; D34)."""
    owner = curves.owner
    first = curves.first_detection()
    last = first.copy()
    hit = np.flatnonzero(curves.flags & (DETECTED | TRIGGER))
    np.maximum.at(last, owner[hit], curves.time[hit])
    inside = (curves.time >= first[owner] - BEFORE) & (curves.time <= last[owner])
    return curves.keep(inside & ((curves.flags & SATURATED) == 0))


def thinned(curves: LightCurves, most: int) -> LightCurves:
    """At most so many visits in each band of a light curve, evenly chosen among those there are, as ATAT's code does
    with 65 (D32)."""
    if most < 1:
        raise ValueError(f"most is {most}; leave at least one visit in a band")
    series = curves.owner * len(BANDS) + curves.band
    order = np.argsort(series, kind="stable")  # in time within a series
    count = np.bincount(series, minlength=len(curves) * len(BANDS))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    count = np.repeat(count, count)
    # visit r of c is chosen where floor(k (c - 1) / (most - 1)) = r for a whole number k
    step = (count - 1) / max(1, most - 1)
    k = np.ceil(rank / np.maximum(step, 1e-12))
    chosen = (count <= most) | (np.floor(k * step + 1e-9) == rank) & (k < most)
    keep = np.zeros(len(order), bool)
    keep[order] = chosen
    return curves.keep(keep)


# The one shape --------------------------------------------------------------------------------------------------------


ORIGINS, SCALINGS, SPREADS = ("mjd", "first", "detection"), ("none", "asinh"), ("error", "variance")


def _known(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(choices)}")


def tokens(
    curves: LightCurves, *, whole: LightCurves | None = None, origin: str = "first", scale: float = 1.0,
    scaling: str = "none", spread: str = "error",
) -> Tokens:
    """One token for each visit.

    whole    the same light curves before visits were left out: time 0 and the first detection are theirs
    origin   time 0: "mjd" leaves the calendar, "first" is a light curve's first visit, "detection" its first alert
    scale    factor on the times: 1 counts days
    scaling  "none": flux and spread as they are; "asinh": asinh of flux over error, so that noise is alike everywhere
             and what is bright is compressed, and log10 of the spread
    spread   what comes with the flux: its standard "error", or the "variance" (D32)

    Tokens: values (R, N, 2) flux and spread; positions (R, N, 2) band index and time; aux label (R,), detection (R,)
    the time of the first alert and detected (R, N) bool.

    ValueError for a light curve without visits, naming the object, where there are no light curves, and for an origin,
    scaling or spread that is none of these.
    """
    _known("origin", origin, ORIGINS)
    _known("scaling", scaling, SCALINGS)
    _known("spread", spread, SPREADS)
    count = curves.count
    if not len(count):
        raise ValueError("there are no light curves; is the alert mask, or a split of few of them, to blame?")
    if (count == 0).any():
        raise ValueError(f"object {curves.ids[count == 0][0]} has no visits; leave it out")
    whole = curves if whole is None else whole
    owner, first = curves.owner, whole.first_detection()
    slot = np.arange(len(owner)) - curves.start[owner]
    zero = {"mjd": np.zeros(len(curves)), "first": whole.time[whole.start[:-1]], "detection": first}[origin]
    flux, extra = curves.flux.astype(np.float64), curves.error.astype(np.float64)
    extra = extra**2 if spread == "variance" else extra
    if scaling == "asinh":
        flux, extra = np.arcsinh(flux / curves.error), np.log10(extra)

    def padded(flat: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        out = torch.zeros(len(curves), int(count.max()), dtype=dtype)
        out[torch.from_numpy(owner), torch.from_numpy(slot)] = torch.from_numpy(flat).to(dtype)
        return out

    time = (curves.time - zero[owner]) * scale
    return Tokens(
        values=torch.stack([padded(x, torch.float32) for x in (flux, extra)], -1),
        positions=torch.stack([padded(x, torch.float64) for x in (curves.band.astype(float), time)], -1),
        pad=torch.arange(int(count.max())) >= torch.from_numpy(count)[:, None],
        aux={
            "label": torch.from_numpy(curves.label.astype(np.int64)),
            "detection": torch.from_numpy((first - zero) * scale),
            "detected": padded((curves.flags & DETECTED) > 0, torch.bool),
        },
        per_token={"detected"},
    )


def fluxes(tokens: Tokens, scaling: str, spread: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Flux difference and its error, (R, N) float64 each, from tokens made with this scaling and spread; 0 and 1 where
    there is no visit."""
    _known("scaling", scaling, SCALINGS)
    _known("spread", spread, SPREADS)
    flux, extra = tokens.values.double().unbind(-1)
    if scaling == "asinh":
        extra = 10**extra
    error = extra.sqrt() if spread == "variance" else extra
    error = error.where(tokens.real, 1.0)
    return (flux.sinh() * error if scaling == "asinh" else flux).where(tokens.real, 0.0), error


# Made-up light curves -------------------------------------------------------------------------------------------------

START, YEARS = 60_300.0, 3  # MJD of the first night
WAVELENGTH = np.array([0.367, 0.483, 0.622, 0.754, 0.869, 0.971])  # µm, of ugrizY
SKY = 10 ** (0.4 * (ZERO_POINT - np.array([23.7, 24.8, 24.4, 23.9, 23.3, 22.4]))) / 5  # 5-sigma depth of one visit
VISITS = np.array([0.07, 0.10, 0.22, 0.22, 0.20, 0.19])  # share of the visits in each band

# Each draws the parameters of n objects, all (n, 1), and returns flux(time, band) -> (difference, total), all (n, N);
# time ascends, and repeats a row's last visit where the row has no more.
Flux = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def planck(band: np.ndarray, temperature: np.ndarray) -> np.ndarray:
    """Brightness of a black body in a band, in units of its brightness in r. temperature in kelvin."""

    def at(wavelength):
        return wavelength**-3.0 / np.expm1(np.clip(14_388 / (wavelength * temperature), None, 80))

    return at(WAVELENGTH[band]) / at(WAVELENGTH[2])


def flux_of(magnitude: np.ndarray) -> np.ndarray:
    return 10 ** (0.4 * (ZERO_POINT - magnitude))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(x / 2))


def _far(rng, n: int, absolute: float, scatter: float, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Redshift, uniform in volume up to reach; flux at peak in r; day of the explosion."""
    z = reach * rng.uniform(0.002, 1, (n, 1)) ** (1 / 3)
    magnitude = absolute + scatter * rng.standard_normal((n, 1)) + 43.2 + 5 * np.log10(z) + 1.1 * z
    return z, flux_of(magnitude), START + rng.uniform(0, 365.25 * YEARS, (n, 1))


def _explosion(z, peak, t0, shape, temperature) -> Flux:
    """shape and temperature are functions of the days since t0 in the object's own time."""

    def flux(time, band):
        days = (time - t0) / (1 + z)
        total = peak * shape(days, band) * planck(band, temperature(np.clip(days, -30, None)) / (1 + z))
        return total, total

    return flux


def _rise_and_fall(days, rise, fall):
    """Rises within `rise` days, falls within `fall` days, 1 at the highest."""
    top = rise * np.log(fall / rise - 1)

    def curve(x):
        return np.exp(-np.clip(x, -40 * rise, None) / fall) * sigmoid(x / rise)

    return curve(days) / curve(top)


def supernova_ia(rng, n: int) -> Flux:
    z, peak, t0 = _far(rng, n, -19.3, 0.2, 0.5)
    stretch, bump = rng.normal(1, 0.12, (n, 1)), rng.uniform(0.2, 0.45, (n, 1))

    def shape(days, band):
        second = bump * np.exp(-0.5 * ((days / stretch - 35) / 7) ** 2) * np.array([0, 0, 0.3, 0.8, 1, 1])[band]
        return _rise_and_fall(days, 4 * stretch, 19 * stretch) + second

    return _explosion(z, peak, t0, shape, lambda days: 4800 + 8000 * np.exp(-np.clip(days, 0, None) / 16))


def supernova_ii(rng, n: int) -> Flux:
    z, peak, t0 = _far(rng, n, -17.2, 0.7, 0.2)
    plateau, slope = rng.uniform(70, 115, (n, 1)), rng.uniform(0.2, 1.2, (n, 1)) / 100

    def shape(days, band):
        bright = 10 ** (-0.4 * slope * np.clip(days, 0, None)) * sigmoid((plateau - days) / 5)
        tail = 0.1 * np.exp(-np.clip(days, 0, None) / 110)
        return sigmoid(days / 1.5) * (bright + tail)

    return _explosion(z, peak, t0, shape, lambda days: 5200 + 9000 * np.exp(-np.clip(days, 0, None) / 18))


def superluminous(rng, n: int) -> Flux:
    z, peak, t0 = _far(rng, n, -21.6, 0.5, 1.4)
    rise, fall = rng.uniform(10, 22, (n, 1)), rng.uniform(40, 90, (n, 1))
    return _explosion(
        z, peak, t0, lambda days, band: _rise_and_fall(days, rise, fall),
        lambda days: 6000 + 9000 * np.exp(-(days + 30) / 70),
    )


def tidal_disruption(rng, n: int) -> Flux:
    z, peak, t0 = _far(rng, n, -19.6, 0.8, 0.5)
    rise, scale, heat = rng.uniform(8, 20, (n, 1)), rng.uniform(25, 60, (n, 1)), rng.uniform(16e3, 35e3, (n, 1))

    def shape(days, band):
        falling = (1 + np.clip(days, 0, None) / scale) ** (-5 / 3)
        return np.where(days < 0, np.exp(-0.5 * (days / rise) ** 2), falling)

    return _explosion(z, peak, t0, shape, lambda days: heat)


def kilonova(rng, n: int) -> Flux:
    z, peak, t0 = _far(rng, n, -15.8, 0.6, 0.05)
    fall = rng.uniform(1.5, 4, (n, 1))
    return _explosion(
        z, peak, t0, lambda days, band: _rise_and_fall(days, 0.25, fall),
        lambda days: 2600 + 7500 * np.exp(-np.clip(days, 0, None) / 1.2),
    )


def _near(rng, n: int, bright: float, faint: float, cool: float, hot: float) -> tuple[np.ndarray, np.ndarray]:
    """Flux in r and temperature of stars of our own Galaxy."""
    return flux_of(rng.uniform(bright, faint, (n, 1))), rng.uniform(cool, hot, (n, 1))


def microlensing(rng, n: int) -> Flux:
    source, heat = _near(rng, n, 18, 23, 3500, 9000)
    t0 = START + rng.uniform(0, 365.25 * YEARS, (n, 1))
    crossing = np.exp(rng.normal(3.3, 0.6, (n, 1)))
    closest = rng.uniform(0.02, 0.7, (n, 1))

    def flux(time, band):
        u2 = closest**2 + ((time - t0) / crossing) ** 2
        magnified = (u2 + 2) / np.sqrt(u2 * (u2 + 4))
        light = source * planck(band, heat)
        return light * (magnified - 1), light * magnified

    return flux


def dwarf_nova(rng, n: int) -> Flux:
    peak, heat = _near(rng, n, 16.5, 21.5, 9000, 20_000)
    every, width = np.exp(rng.uniform(np.log(40), np.log(500), (n, 1))), rng.uniform(3, 15, (n, 1))
    offset = rng.uniform(0, 1, (n, 1))

    def flux(time, band):
        days = ((time - START) / every + offset) % 1 * every  # since the last outburst began
        light = peak * planck(band, heat) * sigmoid((days - 0.7) / 0.2) * sigmoid((width - days) / 0.8)
        return light, light * 1.02

    return flux


def flare(rng, n: int) -> Flux:
    peak, heat = _near(rng, n, 16.5, 22, 8000, 14_000)
    lasts, before, which = rng.uniform(0.02, 0.15, (n, 1)), rng.uniform(0, 0.02, (n, 1)), rng.uniform(0, 1, n)

    def flux(time, band):
        visits = (time < time[:, -1:]).sum(1) + 1
        seen = time[np.arange(len(time)), (which[: len(time)] * visits).astype(int)]  # a flare that nobody saw is none
        since = time - (seen[:, None] - before)
        light = peak * planck(band, heat) * np.exp(-np.clip(since, 0, None) / lasts) * (since >= 0)
        return light, light + 5

    return flux


def active_galaxy(rng, n: int) -> Flux:
    mean, heat = _near(rng, n, 17.5, 22.5, 9000, 15_000)
    memory, size = np.exp(rng.normal(5, 0.6, (n, 1))), np.exp(rng.normal(-1.5, 0.4, (n, 1)))  # days, magnitudes
    noise, template = rng, size * rng.standard_normal((n, 1))

    def flux(time, band):
        gap = np.diff(time, axis=1)
        walk = np.empty(time.shape)  # damped random walk (Ornstein-Uhlenbeck process), exact at the visits
        walk[:, 0] = (size * noise.standard_normal((len(time), 1)))[:, 0]
        for i in range(time.shape[1] - 1):
            stay = np.exp(-gap[:, i] / memory[:, 0])
            kick = size[:, 0] * np.sqrt(1 - stay**2) * noise.standard_normal(len(time))
            walk[:, i + 1] = stay * walk[:, i] + kick
        louder = (WAVELENGTH[band] / WAVELENGTH[2]) ** -0.5
        light = mean * planck(band, heat)
        total = light * 10 ** (-0.4 * louder * walk)
        return total - light * 10 ** (-0.4 * louder * template), total

    return flux


def _periodic(rng, n: int, stars, periods, amplitudes, wave, by_band) -> Flux:
    """A star whose magnitude is amplitude * by_band * wave(phase); the reference image shows its mean flux."""
    mean, heat = _near(rng, n, *stars)
    period, amplitude = (np.exp(rng.uniform(*np.log(limits), (n, 1))) for limits in (periods, amplitudes))
    offset, by_band = rng.uniform(0, 1, (n, 1)), np.array(by_band)
    grid = wave(np.linspace(0, 1, 64, endpoint=False))

    def flux(time, band):
        swing = amplitude * by_band[band]
        light = mean * planck(band, heat)
        total = light * 10 ** (-0.4 * swing * wave(((time - START) / period + offset) % 1))
        reference = np.mean([light * 10 ** (-0.4 * swing * w) for w in grid], axis=0)
        return total - reference, total

    return flux


def _sawtooth(sharp: float) -> Callable:
    """A steep rise and a slow fall in brightness; half a magnitude up and down at amplitude 1."""

    def wave(phase):
        x = 2 * np.pi * phase
        return 0.5 * (np.sin(x) + sharp * np.sin(2 * x) / 2 + sharp**2 * np.sin(3 * x) / 3)

    return wave


PULSATING = (1.0, 1.2, 0.9, 0.75, 0.7, 0.65)


def rr_lyrae(rng, n: int) -> Flux:
    return _periodic(rng, n, (16.5, 22, 6100, 7400), (0.3, 0.9), (0.4, 1.2), _sawtooth(0.9), PULSATING)


def cepheid(rng, n: int) -> Flux:
    return _periodic(rng, n, (16.5, 21, 4800, 6500), (2, 60), (0.3, 1.2), _sawtooth(0.6), PULSATING)


def delta_scuti(rng, n: int) -> Flux:
    return _periodic(rng, n, (16.5, 21, 6800, 8500), (0.03, 0.25), (0.05, 0.5), _sawtooth(0.2), PULSATING)


def long_period(rng, n: int) -> Flux:
    return _periodic(rng, n, (16, 21, 2600, 3400), (90, 500), (1, 4), _sawtooth(0.1), (1.4, 1.3, 1, 0.7, 0.6, 0.5))


def eclipsing_binary(rng, n: int) -> Flux:
    mean, heat = _near(rng, n, 16.5, 21.5, 3800, 9500)
    period, offset = np.exp(rng.uniform(*np.log((0.25, 10)), (n, 1))), rng.uniform(0, 1, (n, 1))
    deep, width = rng.uniform(0.1, 0.6, (n, 1)), rng.uniform(0.02, 0.06, (n, 1))
    second = deep * rng.uniform(0.1, 1, (n, 1))

    def flux(time, band):
        phase = ((time - START) / period + offset) % 1
        dip = lambda where: np.exp(-0.5 * ((phase - where) / width) ** 2)  # noqa: E731
        light = mean * planck(band, heat)
        total = light * (1 - deep * dip(0.25) - second * dip(0.75))
        reference = light * (1 - (deep + second) * width * np.sqrt(2 * np.pi))  # the mean over all phases
        return total - reference, total

    return flux


# name, how to make it, share of the objects. "-like": shaped after the class, with invented distributions.
SIMULATED = (
    ("SN Ia-like", supernova_ia, 0.13), ("SN II-like", supernova_ii, 0.11), ("SLSN-like", superluminous, 0.06),
    ("TDE-like", tidal_disruption, 0.06), ("KN-like", kilonova, 0.04), ("uLens-like", microlensing, 0.06),
    ("Dwarf nova-like", dwarf_nova, 0.05), ("Flare-like", flare, 0.05), ("AGN-like", active_galaxy, 0.10),
    ("RR Lyrae-like", rr_lyrae, 0.08), ("Cepheid-like", cepheid, 0.06), ("Delta Scuti-like", delta_scuti, 0.06),
    ("EB-like", eclipsing_binary, 0.08), ("Mira-like", long_period, 0.06),
)
SIMULATED_CLASSES = tuple(name for name, _, _ in SIMULATED)


def visits(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """When n objects are looked at, and in which band: time (n, N) MJD, ascending, inf where there is no visit; band.

    Three years; half of each year the object is up; nights about twelve days apart, in every other of which a second
    visit in another band follows within the hour.
    """
    days = 365.25 * YEARS
    typical = np.exp(rng.normal(np.log(12), 0.25, (n, 1)))
    night = np.cumsum(typical * rng.exponential(1, (n, int(2.2 * days / 12))), axis=1)  # (n, nights)
    up = ((night / 365.25 + rng.uniform(0, 1, (n, 1))) % 1 < 0.5) & (night < days)
    night = START + np.floor(night) + rng.uniform(0, 0.35, night.shape)
    again = np.where(rng.uniform(size=night.shape) < 0.5, night + rng.uniform(0.01, 0.04, night.shape), np.inf)
    time = np.stack((night, again), -1)
    time[~up] = np.inf
    first = rng.choice(len(BANDS), night.shape, p=VISITS)
    band = np.stack((first, (first + rng.integers(1, len(BANDS), night.shape)) % len(BANDS)), -1)
    time, band = time.reshape(n, -1), band.reshape(n, -1)
    order = np.argsort(time, axis=1)[:, : int(np.isfinite(time).sum(1).max())]
    return np.take_along_axis(time, order, 1), np.take_along_axis(band, order, 1)


def observed(make: Callable, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """n objects of a class, looked at: time, band, flux, error and flags, all (n, N); time is inf where nothing is.

    A detection is a difference of five standard errors; objects with fewer than two are never heard of and drawn again.
    """
    found: list[tuple[np.ndarray, ...]] = []
    have = 0
    while have < n:
        time, band = visits(2 * n + 20, rng)
        there = np.isfinite(time)
        last = np.where(there, time, -np.inf).max(1, keepdims=True)
        difference, total = make(rng, len(time))(np.where(there, time, last), band)
        difference, total = (np.where(there, x, 0.0) for x in (difference, total))
        sky = SKY[band] * np.exp(rng.normal(0, 0.2, time.shape))
        error = np.sqrt(sky**2 + 0.3 * np.abs(total) + (0.005 * total) ** 2)
        flux = difference + error * rng.standard_normal(time.shape)
        flags = np.where(there & (np.abs(flux) > 5 * error), DETECTED, 0)
        flags = np.where(there & (total > flux_of(16.0)), SATURATED, flags)
        heard = ((flags & DETECTED) > 0).sum(1) >= 2
        first = ((flags & DETECTED) > 0).argmax(1)
        flags[heard, first[heard]] |= TRIGGER
        found.append(tuple(x[heard] for x in (time, band, flux, error, flags)))
        have += int(heard.sum())
    width = max(time.shape[1] for time, *_ in found)
    fill = (np.inf, 0, 0.0, 0.0, 0)

    def widened(part, i):
        return np.pad(part[i], ((0, 0), (0, width - part[i].shape[1])), constant_values=fill[i])

    return tuple(np.concatenate([widened(part, i) for part in found])[:n] for i in range(5))


def simulated(n: int, rng: np.random.Generator) -> LightCurves:
    """n made-up light curves of 14 classes, in random order. No survey, no result on ELAsTiCC: for trying things out.

    All are looked at in the same way (`visits`), whatever their class: light curves of transients, too, hold three
    years of visits, most of which show nothing but noise.
    """
    if n < 1:
        raise ValueError(f"n is {n}; make at least one light curve")
    shares = np.array([share for _, _, share in SIMULATED])
    counts = np.floor(n * shares / shares.sum()).astype(int)
    counts[np.argsort(-shares, kind="stable")[: n - counts.sum()]] += 1
    parts, label = [], []
    for kind, ((_, make, _), count) in enumerate(zip(SIMULATED, counts, strict=True)):
        if count:
            parts.append(observed(make, int(count), rng))
            label += [kind] * int(count)
    each = [[x[i][np.isfinite(part[0][i])] for x in part] for part in parts for i in range(len(part[0]))]
    order = rng.permutation(len(each))
    kinds = (np.float64, np.int8, np.float32, np.float32, np.int32)
    time, band, flux, error, flags = (np.concatenate([each[i][k] for i in order]).astype(kinds[k]) for k in range(5))
    return LightCurves(
        names=SIMULATED_CLASSES, ids=np.arange(n), label=np.array(label)[order],
        start=np.cumsum([0, *(len(each[i][0]) for i in order)]),
        time=time, band=band, flux=flux, error=error, flags=flags,
    )


# The prepared archive -------------------------------------------------------------------------------------------------


def find() -> Path | None:
    """Where the prepared file is: elasticc.h5 or elasticc/elasticc.h5, under $ROMAE_DATA or else data/ beside the
    package. None where it is not."""
    root = data_root()
    return next((place for place in (root / PREPARED, root / "elasticc" / PREPARED) if place.exists()), None)


def load(
    path: Path | str | None = None, partition: str | None = None
) -> tuple[LightCurves, dict[str, np.ndarray]]:
    """The light curves that `data_scripts/elasticc.py` prepared, and the rows of each split: "test", and "training_0"
    to "validation_4". Without a path, from where `find` finds them. partition: only a file with ATAT's split
    ("given"), or one that the script has "drawn", will do.

    NotHere, a FileNotFoundError, where they are not; DataError where the file is not what the script writes, or splits
    otherwise; ImportError without h5py. All of it is read into memory: 21 bytes for each visit.
    """
    path = Path(path) if path else find()
    if path is None or not path.exists():
        place = f"{path} does not exist" if path else "ELAsTiCC is not here"
        raise NotHere(f"{place}; `python data_scripts/elasticc.py` prepares it, ROMAE_DATA says where it is")
    import h5py

    try:
        with h5py.File(path) as file:
            arrays = {
                name: file[name][:] for name in ("ids", "label", "start", "time", "band", "flux", "error", "flags")
            }
            splits = {name: rows[:] for name, rows in file["splits"].items()}
            names, found = tuple(file.attrs["names"]), file.attrs["partition"]
    except (OSError, KeyError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    if partition not in (None, found):
        raise DataError(f"{path} holds a split that was {found}, not {partition}; set partition={found} to use it")
    return LightCurves(names=names, **arrays), splits

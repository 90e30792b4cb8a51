"""Hand-made features of light curves: what boosted trees are given, RoMAE's strongest opponent (chapter 10).

Inputs are times, values and stated errors, band by band; nothing else. Every band has the statistics of the package
light-curve. Periodic stars get one period for all bands, found without labels, and the shape of the folded curve;
transients a Gaussian process over time and wavelength, and what that and the points do around its peak.
"""

import warnings
from functools import cache
from itertools import pairwise

import numpy as np

from .data import Curves

PEAKS = 6  # of the summed spectrum whose periods, and twice these, are tried
DAYS = (-15, -7, 0, 10, 20, 30, 50)  # from the peak, at which a transient's colours are read
WINDOWS = (-np.inf, -50, -20, -5, 5, 20, 50, 100, np.inf)  # days from the peak between which its points are averaged
WAVELENGTH = {"u": 367, "g": 483, "r": 622, "i": 755, "z": 869, "y": 971}  # nm
LENGTHS = (8, 16, 32, 64, 128)  # days: correlation times that are tried
VARIANCE = 0.25  # of the process: it deviates by half of a curve's largest flux
COLOURS = 250  # nm: over which the bands of a curve are alike


def features(curves: Curves, periodic: bool) -> np.ndarray:
    """(n, F) float64; NaN where a feature cannot be computed. periodic: variable stars; else transients."""
    more = folded if periodic else peaked
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i in range(len(curves)):
            part = curves.points(i)
            t, y, e, b = (getattr(curves, name)[part] for name in ("time", "value", "error", "band"))
            t, y, e = t - t[0], y.astype(np.float64), e.astype(np.float64)
            bands = [statistics(t[b == k], y[b == k], e[b == k]) for k in range(len(curves.bands))]
            rows.append(np.concatenate([*bands, more(t, y, e, b, curves.bands)]))
    found = np.stack(rows)
    return np.where(np.abs(found) < 1e12, found, np.nan)


@cache
def _extractor():
    import light_curve as lc

    return lc.Extractor(
        lc.Amplitude(), lc.AndersonDarlingNormal(), lc.BeyondNStd(1), lc.BeyondNStd(2), lc.Cusum(), lc.Eta(), lc.EtaE(),
        lc.ExcessVariance(), lc.InterPercentileRange(0.02), lc.InterPercentileRange(0.1), lc.InterPercentileRange(0.25),
        lc.Kurtosis(), lc.LinearFit(), lc.LinearTrend(), lc.MagnitudePercentageRatio(0.4, 0.05),
        lc.MagnitudePercentageRatio(0.2, 0.1), lc.MaximumSlope(), lc.Mean(), lc.Median(), lc.MedianAbsoluteDeviation(),
        lc.MedianBufferRangePercentage(0.1), lc.PercentDifferenceMagnitudePercentile(0.05), lc.ReducedChi2(), lc.Skew(),
        lc.StandardDeviation(), lc.StetsonK(), lc.WeightedMean(),
    )


def statistics(t: np.ndarray, y: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Of one band, in order of time: statistics of the values, and the median error."""
    extract = _extractor()
    if len(t) < 4:
        return np.full(len(extract.names) + 1, np.nan)
    t = t + np.arange(len(t)) * 1e-9  # equal times are refused
    return np.append(extract(t, y, e, sorted=True, check=False, fill_value=np.nan), np.median(e))


# Periodic stars ----------------------------------------------------------------------------------------------------


def folded(t: np.ndarray, y: np.ndarray, e: np.ndarray, b: np.ndarray, bands: tuple[str, ...]) -> np.ndarray:
    """Period, power and misfit; of each band amplitudes and relative phases of three harmonics, and the scatter of the
    folded curve over that of the curve; colours."""
    period, power, misfit = best_period(t, y, e, b, price=0.02)
    found = [np.log(period), power, misfit]
    level = np.full(len(bands), np.nan)
    for k in range(len(bands)):
        mine = b == k
        if mine.sum() < 8:
            found += [np.nan] * 8
            continue
        level[k] = np.median(y[mine])
        fit, _ = harmonics(t[mine], y[mine], e[mine], 1 / period)
        size = np.hypot(fit[1::2], fit[2::2])  # (3,)
        phase = np.arctan2(fit[2::2], fit[1::2])
        turned = phase[1:] - np.array([2, 3]) * phase[0]
        order = np.argsort(t[mine] / period % 1)
        rough = np.mean(np.diff(y[mine][order]) ** 2) / (2 * np.var(y[mine]) + 1e-12)
        found += [*size, *np.cos(turned), *np.sin(turned), rough]
    return np.array([*found, *np.diff(level)])


def best_period(
    t: np.ndarray, y: np.ndarray, e: np.ndarray, b: np.ndarray, price: float = 0.1
) -> tuple[float, float, float]:
    """(period in days, power of its peak, misfit): of the highest peaks of the Lomb-Scargle spectrum summed over bands,
    and of twice their periods, the one whose three harmonics fit best. misfit: what they leave of chi-square.

    price: how much better, in shares of chi-square, twice a period must fit to be taken. Stars that pulsate want a high
    one, pairs that eclipse each other, with two dips a turn, a low one."""
    from astropy.timeseries import LombScargle

    span = max(t[-1] - t[0], 1.0)
    frequency = np.arange(1, int(span * 4 * 5)) / (4 * span)  # up to 5 a day, four a resolution element
    power, weight, plain = np.zeros(len(frequency)), 0, 0.0
    used = [b == k for k in np.unique(b) if (b == k).sum() >= 8]
    for mine in used:
        power += mine.sum() * LombScargle(t[mine], y[mine], e[mine]).power(
            frequency, method="fast", assume_regular_frequency=True
        )
        weight += mine.sum()
        plain += np.sum(((y[mine] - np.average(y[mine], weights=e[mine] ** -2)) / e[mine]) ** 2)
    if not used:
        return span, np.nan, np.nan
    power /= weight
    inner = (power[1:-1] > power[:-2]) & (power[1:-1] > power[2:])
    peak = np.flatnonzero(inner) + 1
    peak = peak[np.argsort(-power[peak])][:PEAKS]
    chi = lambda f: sum(harmonics(t[m], y[m], e[m], f)[1] for m in used)  # noqa: E731
    tried = [(f, f / k, k) for f in frequency[peak] for k in (1, 2)]  # twice the period always fits a little better
    scores = [chi(one) * (1 + price * (k - 1)) for _, one, k in tried]
    peak_at, best, _ = tried[int(np.argmin(scores))]
    near = best + np.linspace(-0.5, 0.5, 9) / (4 * span)
    near = near[near > 0]
    exact = [chi(one) for one in near]
    found = near[int(np.argmin(exact))]
    return 1 / found, float(power[np.abs(frequency - peak_at).argmin()]), min(exact) / plain


def harmonics(
    t: np.ndarray, y: np.ndarray, e: np.ndarray, frequency: float, count: int = 3, damping: float = 0.0
) -> tuple[np.ndarray, float]:
    """Weighted least squares of a constant and sines and cosines: (1 + 2 count,) coefficients and chi-square. damping:
    what the square of a first harmonic costs, of the k-th k^2 times that."""
    angle = 2 * np.pi * frequency * t[:, None] * np.arange(1, count + 1)
    design = np.concatenate([np.ones((len(t), 1)), np.stack([np.cos(angle), np.sin(angle)], -1).reshape(len(t), -1)], 1)
    scaled = design / e[:, None]
    price = np.append(0, np.repeat(np.arange(1, count + 1) ** 2, 2)) * damping + 1e-9 * len(t)
    fit = np.linalg.solve(scaled.T @ scaled + np.diag(price), scaled.T @ (y / e))
    return fit, float(np.sum(((y - design @ fit) / e) ** 2))


# Transients --------------------------------------------------------------------------------------------------------


def peaked(t: np.ndarray, y: np.ndarray, e: np.ndarray, b: np.ndarray, bands: tuple[str, ...]) -> np.ndarray:
    """By a Gaussian process over time and wavelength: colours on DAYS around the peak, and of each band height and time
    of its peak, rise and decline; of the points themselves signal to noise and, by band, weighted means in WINDOWS.

    Days from the first look to the peak, and from there to the last, are among them. RoMAE's positions hold them too.
    """
    scale = np.quantile(np.abs(y), 0.98) + 1e-9
    z, s = y / scale, e / scale
    wave = np.array([WAVELENGTH[name] for name in bands], float)
    at, curve, score, length = process(t, z, s, wave[b], wave)
    top = at[curve.sum(0).argmax()]
    ratio, since = z / s, t - top
    found = [np.log(scale), score / len(t), np.log(length), -since[0], since[-1]]
    found += [np.sqrt(np.mean(ratio**2)), ratio.max(), (ratio > 5).sum()]
    near = [np.interp(top + np.array(DAYS), at, one, left=np.nan, right=np.nan) for one in curve]
    found += [*np.diff(np.arcsinh(20 * np.stack(near)), axis=0).ravel()]
    for k in range(len(bands)):
        j, mine = int(curve[k].argmax()), b == k
        found += [curve[k, j], at[j] - top, *rise_and_decline(at, curve[k], 0.5), *rise_and_decline(at, curve[k], 0.2)]
        if not mine.any():
            found += [np.nan] * (len(WINDOWS) + 2)
            continue
        found += [ratio[mine].max(), np.sqrt(np.mean(ratio[mine] ** 2)), np.log(np.median(e[mine]))]
        for first, end in pairwise(WINDOWS):
            part = mine & (since >= first) & (since < end)
            found.append(np.average(z[part], weights=s[part] ** -2) if part.any() else np.nan)
    return np.array(found)


def process(
    t: np.ndarray, z: np.ndarray, s: np.ndarray, at_wave: np.ndarray, wave: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """A Gaussian process (Matérn 3/2 in time and wavelength) through values z with errors s: a grid of days (T,), the
    curve there at each of the wavelengths (K, T), and the likeliest of LENGTHS with its score, a log likelihood."""
    best, alike = None, VARIANCE * _matern(at_wave, at_wave, COLOURS)
    for length in LENGTHS:
        cov = _matern(t, t, length) * alike + np.diag(s**2 + 1e-6)
        low = np.linalg.cholesky(cov)
        half = np.linalg.solve(low, z)
        score = -0.5 * half @ half - np.log(np.diag(low)).sum()
        if best is None or score > best[0]:
            best = (score, length, np.linalg.solve(low.T, half))
    score, length, answer = best
    at = np.linspace(t[0] - 5, t[-1] + 5, 300)  # a peak at the first look has two sides, too
    near = VARIANCE * _matern(at, t, length)  # (T, N)
    curve = np.stack([(near * row) @ answer for row in _matern(wave, at_wave, COLOURS)])
    return at, curve, score, length


def rise_and_decline(at: np.ndarray, curve: np.ndarray, share: float) -> tuple[float, float]:
    """Days for which a curve is above a share of its peak, before it and after; NaN where it never falls below."""
    j = int(curve.argmax())
    below = curve < share * curve[j]
    rise = at[j] - at[:j][below[:j]][-1] if below[:j].any() else np.nan
    return rise, at[j:][below[j:]][0] - at[j] if below[j:].any() else np.nan


def _matern(a: np.ndarray, b: np.ndarray, length: float) -> np.ndarray:
    r = np.sqrt(3) * np.abs(a[:, None] - b) / length
    return (1 + r) * np.exp(-r)

"""RR Lyrae stars as they were measured, and folded by a period that the reader turns."""

import numpy as np

from ...experiments.lightcurves.data import load
from ..explorable import Explorable, figure

STARS = (0, 7, 5, 15)  # of the twenty that come with the book: two of either type
REACH = 3.0  # turns, more or fewer over the whole span, that the slider gives
BANDS = "gri"  # the other two bands are noisier


def payload() -> dict:
    """What the page needs, as JSON: of every star its type, period and span in days, and its points: time, value in
    magnitudes above the band's median (brighter is higher), band."""
    curves, stars = load("rr_lyrae"), []
    for i in STARS:
        part = curves.points(i)
        time, value, band = (getattr(curves, name)[part].astype(float) for name in ("time", "value", "band"))
        kept = np.isin(band, [curves.bands.index(name) for name in BANDS])
        time, value, band = time[kept] - time[kept][0], value[kept], band[kept] - curves.bands.index(BANDS[0])
        height = np.array([np.median(value[band == k]) for k in band]) - value
        stars.append({
            "type": curves.classes[curves.label[i]], "period": float(curves.period[i]),
            "span": float(time[-1].round(4)), "time": time.round(4).tolist(),
            "height": height.round(3).tolist(), "band": band.astype(int).tolist(),
        })
    return {"stars": stars, "bands": list(BANDS), "reach": REACH, "start": {"star": 0, "turns": 2.1}}


def roughness(star: dict, period: float) -> float:
    """Mean change, in magnitudes, from one point of a band to the next in the order of phase."""
    time, height, band = (np.array(star[name]) for name in ("time", "height", "band"))
    steps = []
    for k in np.unique(band):
        order = np.argsort(time[band == k] / period % 1, kind="stable")
        steps.append(np.abs(np.diff(height[band == k][order])))
    return float(np.concatenate(steps).mean())


@figure("fold")
def explorable() -> Explorable:
    """The figure as it opens: a star whose period is not yet found."""
    return Explorable(
        name="fold",
        data=payload(),
        height=230,
        title="A star that pulsates: turn the period until its points fall on a curve",
        caption="Above: brightness as SDSS measured it over nine years, in magnitudes above the median of the band. "
        "Below: the same points by their phase, the share of a period that has passed, drawn twice. The slider changes "
        "how often the star pulsates in those years, by at most three turns. “A day off” is the trap: one turn more a "
        "day, which telescopes that look at the same hour of every night can hardly exclude.",
    )

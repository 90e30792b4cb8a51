"""RR Lyrae stars as they were measured, folded by a period that the reader turns; a RoMAE in the page fills them in."""

import numpy as np

from romae_lite.model import RoMAE

from ...experiments.lightcurves.data import load
from ...experiments.lightcurves.folding import SEEN, TESTED, arm, dealt
from ...lab.records import from_arrays
from ...lab.runs import runs_of
from ..explorable import Drawable, Explorable, figure_of_runs
from ..weights import packed_in_bytes

STARS = (0, 7, 5, 11)  # of the twenty that come with the book; of the last our search takes a wrong period
REACH = 3.0  # turns, more or fewer over the whole span, that the slider gives
BANDS = "gri"  # that are drawn; the other two are noisier
PLACES = 48  # of the model's curve
RUN = arm("phase", "visits")


def stars(seed: int) -> list[dict]:
    """What the page needs of STARS: number, type, the catalogue's period, span in days, spread in magnitudes; of each
    point time in days from the star's middle, value and logarithm of the error in spreads, as the model gets them,
    band, and whether it was hidden from the model. Points to choose by are left out."""
    curves, found = load("rr_lyrae"), []
    for i in STARS:
        star = dealt(seed, RUN.hidden)[i]
        used = np.flatnonzero(np.isin(star.role, (SEEN, TESTED)))
        used = used[np.argsort(star.time[used], kind="stable")]
        found.append({
            "number": i + 1, "type": curves.classes[curves.label[i]], "period": float(curves.period[i]),
            "span": float(np.ptp(star.time).round(4)), "spread": float(star.spread.round(4)),
            "time": star.time[used].round(4).tolist(), "value": star.value[used].round(3).tolist(),
            "error": np.log(star.error[used]).round(3).tolist(), "band": star.band[used].astype(int).tolist(),
            "hidden": (star.role[used] == TESTED).astype(int).tolist(),
        })
    return found


def payload(model: RoMAE, seed: int) -> dict:
    """What the page needs, as JSON."""
    bands = load("rr_lyrae").bands
    return {
        "model": packed_in_bytes(model), "stars": stars(seed), "bands": [[bands.index(name), name] for name in BANDS],
        "reach": REACH, "radius": RUN.radius, "scale": RUN.position_scale, "places": PLACES,
        "start": {"star": 0, "turns": 2.1},
    }


def explorable(model: RoMAE, seed: int, source: str = "") -> Explorable:
    return Explorable(
        name="fold",
        needs=("romae", "bytes"),
        data=payload(model, seed),
        height=230,
        title="A star that pulsates: turn the period until its points fall on a curve",
        caption="Above: brightness as SDSS measured it over nine years, in magnitudes above the median of the band. "
        "Below: the same points by their phase, the share of a period that has passed, drawn twice. Hollow points were "
        "hidden from the model. Blue: RoMAE, computed in this page from the filled points and the period of the "
        "slider, in the band g; it misses by the root of the mean square over the hollow points. At 0 the period is "
        "the catalogue's. “A day off” is one turn more a day: who looks at the same hour of every night can hardly "
        "exclude it. Types: ab rises steeply, c is nearly a sine. "
        f"{source}".rstrip(),
    )


@figure_of_runs(
    "fold", "A star that pulsates", "python -m romae_lite run folding --preset best --seeds 0 --set hidden=visits",
    lambda root: [runs_of(RUN, root)],
)
def from_runs(found: list[Drawable], root) -> Explorable:
    """The figure from the first run that saw the phase and no hidden visit."""
    ((record, arrays),) = found
    model = from_arrays(RUN.build(record.seed), arrays)
    source = f"{record.parameters:,} weights, a byte each; one run; to repeat it: {record.command}."
    return explorable(model, record.seed, source)

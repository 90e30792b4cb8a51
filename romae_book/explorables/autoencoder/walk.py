"""One series followed through the masked autoencoder, from its times to the loss (chapter 02).

The network is the one of the front page that knows times; its weights travel with the figure, a byte each, and the page
computes every number that it shows. A chapter may put its own network in its place.
"""

from pathlib import Path

from romae_lite.model import RoMAE, count_parameters

from ...experiments.waves.data import NOISE, PERIODS, SEEN, SPAN
from ...lab.records import from_arrays
from ..explorable import Drawable, Explorable, figure_of_runs, runs_in
from ..waves.count_or_time import FIRST, TOLD
from ..weights import packed_in_bytes

# The series of the front page; a reading that is shown is followed, and one that is hidden.
OPENING = FIRST | {"hidden": [2, 6, 7, 9, 10], "follow": 5, "ask": 9}
NOTHING = ("From the readings to the loss", "python -m romae_lite run waves --preset page --seeds 0 --set epochs=3")


def payload(model: RoMAE, first: dict | None = OPENING, periods: tuple[float, float] = PERIODS) -> dict:
    """What the page needs, as JSON. ValueError for a model with [CLS], or whose mask tokens see one another."""
    if model.config.cls or not model.config.alone:
        raise ValueError("the figure walks through a model without [CLS], whose mask tokens do not see one another")
    return {
        "model": packed_in_bytes(model), "first": first, "periods": periods, "seen": SEEN, "noise": NOISE, "span": SPAN,
    }


def explorable(model: RoMAE, source: str = "", title: str = NOTHING[0], **waves) -> Explorable:
    """source: where the model comes from. waves: of `payload`, the first series, or None, and the periods of others."""
    return Explorable(
        name="walk",
        needs=("romae", "bytes"),
        data=payload(model, **waves),
        height=306,
        title=title,
        caption=f"Drag a dot sideways to change its time, up or down to change its value. {source}".rstrip(),
    )


@figure_of_runs("walk", *NOTHING, runs_in([TOLD["times"]]))
def from_runs(found: list[Drawable], root: Path | None) -> Explorable:
    """The figure with the recorded network of the front page."""
    (run, arrays), = found
    model = from_arrays(run.planned.build().build(run.seed), arrays)
    weights = f"{count_parameters(model):,} weights"
    return explorable(model, f"The network is the one of the front page that knows times, with {weights}, a byte each.")

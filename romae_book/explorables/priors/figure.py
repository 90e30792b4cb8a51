"""Draw or paste points, and a model in the page fills what lies between, beside an exact Gaussian process."""


import numpy as np

from romae_lite import zoo
from romae_lite.model import RoMAE, count_parameters
from romae_lite.series.fill import FLOOR, LEAST

from ...experiments.priors.rivals import GRID
from ..explorable import Explorable, figure
from ..weights import packed

CURVE = 96  # places of a curve
MOST = 60  # points


def examples() -> list[dict]:
    """Made-up series to begin with: {"name", "points" [[time, value], ...]}."""
    rng = np.random.default_rng(3)
    t = {
        "a wave with a gap": np.sort(np.concatenate((rng.uniform(0, 9, 13), rng.uniform(15, 22, 10)))),
        "a trend with seasons": np.sort(rng.uniform(0, 60, 36)),
        "a step": np.sort(rng.uniform(-5, 5, 16)),
        "a decay, five points": np.array([0.0, 1.0, 2.5, 5.0, 9.0]),
        "noise alone": np.arange(24.0),
    }
    curves = {
        "a wave with a gap": lambda x: 20 + 5 * np.sin(0.8 * x) + rng.normal(0, 0.4, len(x)),
        "a trend with seasons": lambda x: 0.05 * x + np.sin(2 * np.pi * x / 12) + rng.normal(0, 0.15, len(x)),
        "a step": lambda x: 300.0 * (x > 0.4) + rng.normal(0, 6, len(x)),
        "a decay, five points": lambda x: 8 * np.exp(-x / 3),
        "noise alone": lambda x: rng.normal(0, 1, len(x)),
    }
    return [{"name": name, "points": np.stack((x, curves[name](x)), axis=1).round(3).tolist()} for name, x in t.items()]


def payload(model: RoMAE) -> dict:
    """What the page needs, as JSON: the model, examples, and the grid of kernels."""
    kinds = dict.fromkeys(kernel.kind for kernel in GRID)
    return {
        "model": packed(model), "examples": examples(), "seen": [LEAST, MOST], "floor": FLOOR, "curve": CURVE,
        "seed": 1,
        "grid": [[kind, list(dict.fromkeys(k.length for k in GRID if k.kind == kind))] for kind in kinds],
        "noises": list(dict.fromkeys(kernel.noise for kernel in GRID)),
    }


def explorable(model: RoMAE, source: str = "") -> Explorable:
    data = payload(model)
    return Explorable(
        name="filler",
        needs=("romae",),
        data=data,
        height=360,
        title="Draw points, and a model fills the rest",
        caption="Press the plane to add a point; drag points, or paste your own. Blue: RoMAE, computed in this page; "
        "it was trained on draws from priors and never on these points. Its band should hold 95 % of measurements. "
        "Orange dashes: a Gaussian process with the likeliest kernel of a small grid; for a series that you draw from "
        f"a prior, with the true kernel, which is the best possible answer. {source}".rstrip(),
    )


@figure("filler")
def from_package() -> Explorable:
    """The figure of the model that comes with the package."""
    model, record = zoo.load("filler"), zoo.about("filler")["record"]
    source = f"The model: {count_parameters(model):,} weights; to repeat it: {record['command']}."
    return explorable(model, source)

"""Draw or paste points, and a model in the page fills what lies between, beside an exact Gaussian process."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from romae_lite import zoo
from romae_lite.model import RoMAE, count_parameters
from romae_lite.series.filler import FLOOR, LEAST

from ...experiments.priors.rivals import GRID
from ..explorable import Explorable, figure
from ..weights import packed

CURVE = 96  # places of a curve
MOST = 60  # points


@dataclass(frozen=True)
class Example:
    """A made-up series: times, the curve, the noise, and what it shows."""

    name: str
    times: np.ndarray
    curve: Callable[[np.ndarray], np.ndarray]
    noise: Callable[[np.ndarray], np.ndarray] | float
    about: str = ""


def examples() -> list[dict]:
    """Series to begin with: {"name", "about", "points" [[time, value], ...], "curve" [[time, value], ...]}; the first
    is one for the model, the second one against it."""
    rng = np.random.default_rng(3)
    beat = np.arange(60.0)
    made = [
        Example(
            "a burst, then quiet", np.sort(np.concatenate((rng.uniform(0, 10, 18), rng.uniform(10, 60, 18)))),
            lambda x: 3 * np.exp(-(((x - 5) / 1.2) ** 2)) + 0.5 * np.sin(x / 9), 0.1,
            "Many points where much happens, few where little does. The model follows both. The Gaussian process takes "
            "one length for all: short enough for the burst, it falls to the mean between the later points.",
        ),
        Example(
            "a beat with a gap", beat[(beat < 24) | (beat > 41)], lambda x: np.sin(2 * np.pi * x / 12), 0.05,
            "Here the model fails. The curve repeats every 12, and the periodic kernel carries it across the gap. The "
            "model carries a period only a little way: it goes through the middle, and its band is as "
            "wide as the wave.",
        ),
        Example(
            "quiet, then loud", np.sort(rng.uniform(0, 40, 56)), lambda x: 2 * np.sin(x / 4),
            lambda x: np.where(x < 22, 0.08, 0.9),
            "The noise grows tenfold in the middle. The model's band follows; the Gaussian process has one noise.",
        ),
        Example("a decay, five points", np.array([0.0, 1.0, 2.5, 5.0, 9.0]), lambda x: 8 * np.exp(-x / 3), 0.0),
        Example("a step", np.sort(rng.uniform(-5, 5, 16)), lambda x: 300.0 * (x > 0.4), 6.0),
        Example("noise alone", np.arange(24.0), np.zeros_like, 1.0),
    ]
    return [as_json(example, rng) for example in made]


def as_json(example: Example, rng: np.random.Generator) -> dict:
    t, beyond = example.times, 0.12 * np.ptp(example.times)
    noise = example.noise(t) if callable(example.noise) else example.noise
    grid = np.linspace(t[0] - beyond, t[-1] + beyond, 120)
    rows = lambda x, y: np.stack((x, y), axis=1).round(3).tolist()  # noqa: E731
    return {
        "name": example.name, "about": example.about, "curve": rows(grid, example.curve(grid)),
        "points": rows(t, example.curve(t) + noise * rng.standard_normal(len(t))),
    }


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

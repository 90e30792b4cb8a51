"""The hero: points of a spiral that the reader adds, drags and removes, and a model in the page that asks anywhere.

Two models of one size draw it: one trained with any number of visible points, one with always thirty, for half as long.
How far each is from the best possible is recorded on the test set, for every number of points.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from romae_lite.model import RoMAE

from ...experiments.spirals.arrays import COUNTS
from ...experiments.spirals.data import GRID, NOISE, A, B
from ...lab.records import Record, from_arrays
from ...paper.counts import MODELS, always_thirty, runs
from ..explorable import Drawable, Explorable, checked, figure_of_runs
from ..weights import packed

COMMAND = "python -m romae_lite run spirals --preset page --seeds 0 --set epochs=2"


def model_of(record: Record, arrays: Mapping[str, np.ndarray]) -> RoMAE:
    """The model that a run left among its arrays. RuntimeError names weights that are missing or misshapen."""
    return from_arrays(record.planned.build().build(record.seed), arrays)


def payload(
    models: Mapping[str, RoMAE],
    arrays: Mapping[str, Mapping[str, np.ndarray]],
    scale: float,
    thirty: dict | None = None,
) -> dict:
    """What the page needs, as JSON. models, arrays: by the names in MODELS, all or the first alone; scale: factor on
    the angles; thirty: what `always_thirty` found. ValueError names an array that is missing or impossible."""
    curves = {}
    for name, kept in arrays.items():
        found = checked(kept, **{"hero.counts": "K", "hero.mse": "2 K", "hero.se": "K"})
        if found["hero.counts"].tolist() != list(COUNTS):
            raise ValueError(f"hero.counts is {found['hero.counts'].tolist()}; expected {list(COUNTS)}")
        if (found["hero.mse"] <= 0).any():
            raise ValueError("hero.mse holds errors that are not positive")
        curves[name] = [round(float(r), 4) for r in np.sqrt(found["hero.mse"][0] / found["hero.mse"][1])]
    return {
        "models": [
            {"id": name, "name": MODELS[name], "ratio": curves[name], **packed(model)} for name, model in models.items()
        ],
        "counts": list(COUNTS), "scale": scale, "end": float(GRID[-1]), "a": A, "b": B, "noise": NOISE,
        "seed": 4, "start": 12,
        "thirty": [round(thirty["ratio"][n], 4) for n in COUNTS] if thirty else None,
    }


def explorable(
    models: Mapping[str, RoMAE], arrays: Mapping[str, Mapping[str, np.ndarray]], scale: float, source: str = "",
    thirty: dict | None = None,
) -> Explorable:
    data = payload(models, arrays, scale, thirty)
    return Explorable(
        name="hero",
        needs=("romae",),
        data=data,
        height=380,
        title="A model that reads points at any angle, and answers at any angle",
        caption="A point's position is its angle along the spiral, as time is in a series. Black: noisy points that "
        "the model sees; drag them, press the plane to add one. Blue: RoMAE, computed in this page. Orange dashes: the "
        "best possible answer, which knows how spirals are made. Grey: the true curve. One spiral is luck; the small "
        f"chart is the mean over the test set. {source}".rstrip(),
    ).tour(
        ("Thirty points: the blue curve is drawn by a model that has only read these points.", {"points": 30}),
        ("Six points. The model answers everywhere, less well; the small chart says how well on the average.",
         {"points": 6}),
        ("Asked at another angle, it answers there: positions are numbers, and no grid is needed.",
         {"points": 6, "ask at angle": 1}),
    )


@figure_of_runs("hero", "Spirals", COMMAND, lambda root: [runs(model, root) for model in MODELS])
def from_runs(found: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "page", and of the same with always 30 points, where it is there."""
    named = dict(zip(MODELS, found, strict=False))
    models = {name: model_of(*run) for name, run in named.items()}
    first = found[0][0]
    targets = "the clean curves" if first.config.get("targets") == "clean" else "the noisy points"
    source = (
        f"{first.parameters:,} weights; one run, {first.config['epochs']} × {first.config['n_train']:,} spirals "
    )
    source += f"with {targets} as targets; {first.config['n_test']:,} test spirals; "
    thirty = always_thirty(root)
    if thirty:
        source += f"dots: {thirty['which']} model that always saw 30 points ({thirty['on']}); "
    source += f"to repeat it: {first.command}."
    scale = first.planned.build().scale
    arrays = {name: arrays for name, (_, arrays) in named.items()}
    return explorable(models, arrays, scale, source, thirty)

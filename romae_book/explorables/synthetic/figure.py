"""The synthetic explorable: where a series is observed, and what RoMAE and the exact Gaussian process make of it.

Nothing is precomputed but the series, which the package drew: the page solves the Gaussian process and runs RoMAE, with
the weights that `python -m romae_lite run synthetic --preset mini` left beside its record, in half precision. With
the record of the same preset in the paper's unit of time (`--set position_scale=1.0`) the page can switch between the
two.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from romae_lite.model import RoMAE

from ...experiments.synthetic.data import GRIDS, NOISE, SHARPNESS, generate
from ...experiments.synthetic.experiment import Synthetic
from ...lab.records import Record
from ..explorable import Drawable, Explorable, figure_of_runs, runs_in
from ..weights import packed

GRID = "from-zero"  # the one that the page knows
SERIES, MOST = 40, 20  # series to choose from; the slider's last number of observed points
COMMAND = "python -m romae_lite run synthetic --preset mini --seeds 0"


Model = tuple[RoMAE, Synthetic]  # and the settings it was made with


def payload(models: Sequence[Model], start: int = 7, observed: int = 5, asked: int = 24) -> dict:
    """What the page needs, as JSON: models, alike except in the unit of time, the first to begin with; and series of
    the generator, `start` the first to be shown. asked: the point whose weights are shown first. ValueError where the
    page cannot compute what a model does."""
    for _, exp in models:
        if exp.grid != GRID:
            raise ValueError(f"grid is {exp.grid!r}; the page knows {GRID!r} only")
    rng, (t, references), shown_ = np.random.default_rng(0), GRIDS[GRID], models[0][1].shown
    made = generate(SERIES, rng, GRID)
    series = [
        {"heights": heights.numpy().round(4).tolist(), "noisy": noisy[:, 0].double().numpy().round(3).tolist(),
         "order": rng.permutation(len(t)).tolist()}
        for heights, noisy in zip(made.aux["heights"], made.values, strict=True)
    ]
    return {
        "units": [{"unit": exp.scale, "model": packed(model)} for model, exp in models],
        "sharpness": SHARPNESS, "noise": NOISE, "max": MOST, "t": t.round(9).tolist(),
        "references": references.round(9).tolist(), "series": series, "start": start,
        "trained": [shown_.start, shown_.stop - 1], "observed": observed, "asked": asked,
    }


def explorable(models: Sequence[Model], source: str = "", **opening: int) -> Explorable:
    """The figure of models and the settings they were made with; `source` names their records. opening: see
    `payload`."""
    data = payload(models, **opening)
    return Explorable(
        name="synthetic",
        needs=("romae",),
        data=data,
        height=340,
        title="Where would you look?",
        caption="Black: observed points, to be dragged. Orange, dashed: the Gaussian process that knows how the series "
        "are made, the best possible guess, with a band that holds the true curve for 95 % of the time. Blue: RoMAE, "
        "which has only seen examples. Below: what each observed point contributes to either answer at one time. All "
        f"is computed here, in the page; RoMAE is the preset mini, made small enough for that. {source}".rstrip(),
    )


def model_of(record: Record, arrays: Mapping[str, np.ndarray]) -> RoMAE:
    """The model that a run left among its arrays. RuntimeError names weights that are missing or misshapen."""
    found = {name: torch.from_numpy(w).float() for name, w in arrays.items() if name.startswith("weights.")}
    model = record.planned.build().build(record.seed)
    model.load_state_dict({name.removeprefix("weights."): w for name, w in found.items()})
    return model.eval()


UNITS = [Synthetic.mini()], [Synthetic.mini().replace(position_scale=1.0)]


@figure_of_runs("synthetic", "Synthetic series", COMMAND, runs_in(*UNITS))
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "mini", and of the same in the paper's unit where it is recorded."""
    said = [
        f"{r.metrics['mse_clean']:.4f} with times × {r.planned.build().scale:g} (Gaussian process "
        f"{r.metrics['mse_clean_gp']:.4f})"
        for r, _ in runs
    ]
    record = runs[0][0]
    source = (
        f"Recorded runs of {record.parameters:,} weights; mean squared error to the true curve, over a whole test "
        f"set: {'; '.join(said)}. To repeat: {record.command}."
    )
    models = [(model_of(one, arrays), one.planned.build()) for one, arrays in runs]
    return explorable(models, source)

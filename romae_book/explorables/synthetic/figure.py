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

from ...experiments.synthetic.data import GRIDS, NOISE, SHARPNESS, generate, weights
from ...experiments.synthetic.experiment import Synthetic
from ...experiments.synthetic.rivals import posterior
from ...lab.records import Record
from ...lab.runs import runs_of
from ...palette import PALETTE
from .. import svg
from ..explorable import Drawable, Explorable, drawn, figure
from ..weights import packed, predicted

SCRIPT = Path(__file__).with_suffix(".js")
GRID = "from-zero"  # the one that the page knows
SERIES, MOST = 40, 20  # series to choose from; the slider's last number of observed points
COMMAND = "python -m romae_lite run synthetic --preset mini --seeds 0"


Model = tuple[RoMAE, Synthetic]  # and the settings it was made with


def payload(models: Sequence[Model], start: int = 7, observed: int = 5, asked: int = 24) -> dict:
    """What the page needs, as JSON: models, alike but for the unit of time, the first to begin with; and series of the
    generator, `start` the first to be shown. asked: the point whose weights are shown first. ValueError where the page
    cannot compute what a model does."""
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


def shown(data: dict, number: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """A series of the page: (clean, noisy, the order in which points are observed)."""
    one = data["series"][number]
    return weights(np.array(data["t"]), GRID) @ one["heights"], np.array(one["noisy"]), one["order"]


def romae(data: dict, observed: list[int], noisy: np.ndarray) -> np.ndarray:
    """What the first model says of the grid's other points, in order."""
    hidden, first = np.setdiff1d(np.arange(len(noisy)), observed), data["units"][0]
    positions = np.array(data["t"])[:, None] * first["unit"]
    return predicted(first["model"], noisy[:, None], positions, hidden)[:, 0]


def still(data: dict) -> str:
    """The opening view as an SVG string."""
    width, height = 700, 380
    clean, noisy, order = shown(data, data["start"])
    observed = sorted(order[: data["observed"]])
    seen = np.isin(np.arange(len(clean)), observed)
    mean, variance = (found[0] for found in posterior(noisy[None], seen[None], GRID))
    sd, hidden = np.sqrt(variance), np.flatnonzero(~seen)
    place = lambda i, value: (30 + i * 640 / 49, 170 - 50 * value)  # noqa: E731
    curve = lambda values, index=range(50): [place(i, v) for i, v in zip(index, values, strict=True)]  # noqa: E731
    orange, blue = PALETTE["vermillion"][0], PALETTE["blue"][0]
    ring = "L".join(f"{x:.1f} {y:.1f}" for x, y in [*curve(mean + 2 * sd), *curve(mean - 2 * sd)[::-1]])
    body = svg.tag("path", d=f"M{ring}Z", fill=orange, fill_opacity=0.15)
    body += svg.line(curve(clean), stroke="#999", stroke_width=1.75)
    body += svg.line(curve(mean), stroke=orange, stroke_width=2.25, stroke_dasharray="7 4")
    body += svg.line(curve(romae(data, observed, noisy), hidden), stroke=blue, stroke_width=2.75)
    for i in observed:
        x, y = place(i, noisy[i])
        body += svg.tag("circle", cx=x, cy=y, r=5.5, fill="#222")
    for x, name, colour, dash in (
        (30, "true curve", "#999", "none"), (170, "Gaussian process, two standard deviations", orange, "7 4"),
        (500, "RoMAE", blue, "none"),
    ):
        body += svg.line([(x, 352), (x + 26, 352)], stroke=colour, stroke_width=2.3, stroke_dasharray=dash)
        body += svg.label(x + 34, 356, name)
    return svg.picture(width, height, body)


def explorable(models: Sequence[Model], source: str = "", **opening: int) -> Explorable:
    """The figure of models and the settings they were made with; `source` names their records. opening: see
    `payload`."""
    data = payload(models, **opening)
    return Explorable(
        name="synthetic",
        script=SCRIPT,
        needs=("romae",),
        data=data,
        fallback=still(data),
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


@figure("synthetic")
def from_results(root: Path | None = None, **opening: int) -> Explorable:
    """The figure from the first seed of the preset "mini", and of the same in the paper's unit where it is recorded."""

    def draw(runs: list[Drawable]) -> Explorable:
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
        return explorable(models, source, **opening)

    groups = [runs_of(Synthetic.mini(), root), runs_of(Synthetic.mini().replace(position_scale=1.0), root)]
    return drawn("synthetic", "Synthetic series", COMMAND, groups, draw, root)

"""The window explorable: a multivariate series, which steps a model is shown, and what it then takes the series for.

Every answer, RoMAE's and MiniRocket's, was computed beforehand (`recorded`); the page looks them up. Of
CharacterTrajectories it also draws the pen, whose velocity the series are.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.uea.arrays import ENDS, NONE
from ...experiments.uea.data import SETS
from ...experiments.uea.experiment import UEA
from ..explorable import Drawable, Explorable, checked, figure_of_runs, runs_in

COMMAND = "python -m romae_lite run uea --preset best --seeds 0 --set dataset=CharacterTrajectories"
PEN = "CharacterTrajectories"  # its channels: velocity to the right and upwards, force of the tip


def pen(step: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Where the pen is at each of the steps (N,), from its velocity there (N, 2), straight lines across the steps that
    are missing: (N, 2), from the origin."""
    moved = np.diff(step)[:, None] * (velocity[1:] + velocity[:-1]) / 2
    return np.concatenate((np.zeros((1, 2)), moved.cumsum(0)))


def payload(arrays: Mapping[str, np.ndarray], dataset: str, smoothing: float | None = None) -> dict:
    """What the page needs, as JSON, from the arrays that `recorded` describes; smoothing: of the labels in training,
    for a mark where the true class should end. ValueError names what is missing or misshapen."""
    names = SETS[dataset].names
    a = checked(
        arrays, {"label": len(names), "rank": "N", "probability": 256},
        values="E N C", step="E N", label="E", rank="E N", levels="L",
        probability=f"E {ENDS + 1} {ENDS + 1} L {len(names)}",
    )
    if not (a["step"] >= 0).any(1).all() or not ((a["levels"] > 0) & (a["levels"] <= 1)).all():
        raise ValueError("step must have one of every series at least, levels must be shares")
    other = {"minirocket": f"E {ENDS + 1} {ENDS + 1} L"} if "minirocket" in arrays else {}
    drawn_ = {"raw": "E N C"} if dataset == PEN and "raw" in arrays else {}
    a |= checked(arrays, dict.fromkeys(other, NONE + 1), **other, **drawn_)
    if "raw" in a and a["raw"].shape != a["values"].shape:
        raise ValueError(f"raw has shape {a['raw'].shape}; expected that of values, {a['values'].shape}")
    series = []
    for e in range(len(a["step"])):
        there = a["step"][e] >= 0
        windows = [[a["probability"][e, i, j].tolist() for j in range(i + 1, ENDS + 1)] for i in range(ENDS)]
        series.append({
            "step": a["step"][e][there].astype(int).tolist(), "rank": a["rank"][e][there].tolist(),
            "values": np.round(a["values"][e][there].T, 2).tolist(), "label": int(a["label"][e]),
            "probability": windows,
        })
        if "minirocket" in a:
            series[-1]["minirocket"] = [
                [a["minirocket"][e, i, j].tolist() for j in range(i + 1, ENDS + 1)] for i in range(ENDS)
            ]
        if "raw" in a:
            raw = a["raw"][e][there]
            series[-1]["pen"] = pen(a["step"][e][there], raw[:, :2]).round(1).tolist()
            series[-1]["force"] = np.interp(raw[:, 2], (raw[:, 2].min(), raw[:, 2].max()), (0, 1)).round(2).tolist()
    real = a["values"][a["step"] >= 0]  # (steps of all series, C)
    extremes = np.stack((real.min(0), real.max(0)), 1)
    return {
        "series": series, "names": list(names), "levels": np.round(a["levels"], 3).tolist(),
        "range": np.round(extremes, 2).tolist(),
        "target": None if smoothing is None else round(1 - smoothing + smoothing / len(names), 4),
    }


def explorable(
    arrays: Mapping[str, np.ndarray], dataset: str = "BasicMotions", source: str = "", smoothing: float | None = None
) -> Explorable:
    """The figure from the arrays of `recorded`; `source` says in the caption where they come from. smoothing: see
    `payload`."""
    data = payload(arrays, dataset, smoothing)
    # opens on six tenths of a letter that may still become another
    data |= {"start": 0, "first": min(1, len(data["series"]) - 1), "until": 6}
    more = ""
    if "pen" in data["series"][0]:
        more += "The letter is the pen's path while the window is open, thicker where it presses; faint, the rest. "
    if data["target"] is not None:
        more += "The upright mark in the bars: where smoothed labels want the true class to end. "
    if "minirocket" in data["series"][0]:
        more += "MiniRocket gets the same steps, with straight lines between them and their ends drawn out. "
    return Explorable(
        name="uea",
        data=data,
        title="How much of a series does it take?",
        caption="Drag the two ends of the window, and choose how many of the steps are left out at random. Dots are "
        "the steps that the model sees, with all their channels; three in ten were dropped before. A channel has one "
        "scale for all series. The bars are what the model takes the series for; ✓ is the truth. "
        f"{more}{source}".rstrip(),
    )


SETTINGS = [setting.replace(dataset=PEN) for setting in (UEA.best(), UEA.paper())]


@figure_of_runs("uea", "A series through a window", COMMAND, runs_in(SETTINGS))
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "best", else "paper"."""
    ((record, arrays),) = runs
    rocket = record.metrics.get("accuracy_minirocket")
    source = (
        f"{PEN}, recorded run: preset {record.preset}, seed {record.seed}, accuracy "
        f"{record.metrics['accuracy']:.3f} on its whole test set"
        + (f" (MiniRocket {rocket:.3f})" if rocket is not None else "")
        + f"; to repeat it: {record.command}."
    )
    return explorable(arrays, PEN, source, record.config["smoothing"])

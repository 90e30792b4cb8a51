"""One sine, and networks that fill in what is hidden of it: the reader drags its frequency until they lose it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import nn

from ...experiments.periods.data import AMPLITUDE, CYCLES, NOISE, READINGS, SEEN
from ...experiments.periods.experiment import Periods
from ...lab.records import from_arrays
from ...lab.runs import runs_of
from ..explorable import Drawable, Explorable, checked, figure_of_runs, not_recorded, runs_in
from ..weights import packed

HOW = {  # what is told beside the times
    "ladder": Periods.page(),
    "spectral": Periods.page().replace(arm="spectral"),
    "tuned": Periods.page().replace(arm="tuned"),
}
NOTHING = ("Can attention find a period?", "python -m romae_lite run periods --preset page --seeds 0")
EDGES = np.geomspace(*CYCLES, 13)  # of the curves' bands


def series(count: int = 6) -> list[dict]:
    """Times, noise, amplitude and phase of series whose frequency the reader chooses; the first SEEN are seen."""
    rng, found = np.random.default_rng(3), []
    for _ in range(count):
        times = rng.uniform(0, READINGS, READINGS)
        found.append({
            "times": [*np.sort(times[:SEEN]).round(3), *np.sort(times[SEEN:]).round(3)],
            "noise": rng.normal(0, NOISE, SEEN).round(3).tolist(),
            "amplitude": round(rng.uniform(*AMPLITUDE), 3), "phase": round(rng.uniform(), 3),
        })
    return found


def curve(runs: Sequence[dict[str, np.ndarray]], key: str = "squares") -> dict[str, list[float]]:
    """Errors in each band, over the test series of several runs: mean, and those of the best run and the worst."""
    means = []
    for arrays in runs:
        a = checked(arrays, **{"cycles": "n", key: "n"})
        band = np.digitize(a["cycles"], EDGES[1:-1])
        means.append([a[key][band == i].mean() if (band == i).any() else np.nan for i in range(len(EDGES) - 1)])
    if np.isnan(means).any() or np.min(means) <= 0:
        raise ValueError(f"{key} or cycles leave a band of {CYCLES[0]:g} to {CYCLES[1]:g} without a positive error")
    return {name: [float(f"{v:.3g}") for v in do(means, axis=0)] for name, do in
            (("mean", np.mean), ("low", np.min), ("high", np.max))}


def payload(models: dict[str, nn.Module], runs: dict[str, Sequence[dict[str, np.ndarray]]]) -> dict:
    """What the page needs, as JSON. models: by the names in HOW; runs: the arrays of every run, by these names."""
    nets, periodogram = {}, None
    for name, model in models.items():
        nets[name] = packed(model.model if name == "spectral" else model)
        if name == "spectral":
            layer = model.periodogram
            periodogram = {"cycles": [round(c, 4) for c in layer.cycles.tolist()],
                           "sharpness": round(layer.sharpness.item(), 4)}
            if not np.isfinite([*periodogram["cycles"], periodogram["sharpness"]]).all():
                raise ValueError("periodogram holds values that are not finite")
    every = next(iter(runs.values()))
    return {
        "models": nets, "periodogram": periodogram, "series": series(), "seen": SEEN, "window": READINGS,
        "cycles": CYCLES, "bands": np.sqrt(EDGES[1:] * EDGES[:-1]).round(2).tolist(),
        "curves": {name: curve(found) for name, found in runs.items()},
        "zero": curve(every, "squares_zero")["mean"], "best": curve(every, "squares_lombscargle")["mean"],
        "start": {"cycles": 20, "arm": "ladder", "series": 0},
    }


def explorable(
    models: dict[str, nn.Module], runs: dict[str, Sequence[dict[str, np.ndarray]]], source: str = ""
) -> Explorable:
    return Explorable(
        name="periods",
        needs=("romae",),
        data=payload(models, runs),
        height=210,
        title="Make the sine faster, and see who loses it.",
        caption="Above: a sine read 40 times at odd moments, with noise (black), and what a network fills in at 20 "
        "others (coloured); a stick joins each answer to the true sine. Below: errors on the test series, the mean of "
        "all runs, shaded from the best to the worst; dashed: the best fit at the Lomb-Scargle periodogram's peak. "
        f"{source}".rstrip(),
    )


@figure_of_runs("periods", *NOTHING, runs_in(*([exp] for exp in HOW.values())))
def from_runs(found: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first run of each arm, and curves of all their runs; it takes all three."""
    models, first = {}, {}
    for run, arrays in found:
        models[run.config["arm"]] = from_arrays(run.planned.build().build(run.seed), arrays)
        first[run.config["arm"]] = arrays
    payload(models, {name: [arrays] for name, arrays in first.items()})  # or what is wrong would go unnoticed
    if set(models) != set(HOW):
        return not_recorded("periods", *NOTHING)
    runs = {name: runs_of(exp, root) for name, exp in HOW.items()}
    config = found[0][0].config
    return explorable(models, {name: [run.arrays for run in some] for name, some in runs.items()}, (
        f"The networks have the same size and learnt from the same {config['n_train']:,} series; the first of "
        f"{min(map(len, runs.values()))} seeds answers in this page."
    ))

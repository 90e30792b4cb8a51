"""Spirals with any number of points shown, and models trained with varying numbers or with thirty."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..experiments.spirals.arrays import COUNTS
from ..experiments.spirals.experiment import Spirals
from ..lab.records import Record
from ..lab.runs import runs_of

MODELS = {"varying": "any number of points", "fixed": "always 30 points"}  # in training
CHANGES = {"varying": {"epochs": 2}, "fixed": {"counts": "fixed"}}  # of the preset "page"


def runs(model: str, root: Path | None) -> list[Record]:
    """Of one of MODELS, the recorded runs."""
    return runs_of(Spirals.page().replace(**CHANGES[model]), root)


def finding(root: Path | None = None) -> dict[str, float | str]:
    """What recorded runs say, for the book's text; empty where they are missing.

    Errors are over the Bayes-optimal one, as ratios of root mean squares: least and most from 5 to 74 visible points,
    and those of models that were trained with 30 points only, at a few and at many.
    """
    varying = next(iter(runs("varying", root)), None)
    thirty = always_thirty(root)
    if varying is None or not thirty:
        return {}
    ours, theirs = ratios(varying.arrays), thirty["ratio"]
    among = [ours[n] for n in COUNTS if n >= 5]
    return {
        "parameters": varying.parameters, "n_test": varying.config["n_test"], "from": 5, "to": COUNTS[-1],
        "least": min(among), "most": max(among), "few": 12, "many": 60, "fixed_few": theirs[12],
        "fixed_many": theirs[60], "fixed_on": thirty["on"], "fixed_which": thirty["which"],
    }


def always_thirty(root: Path | None = None) -> dict:
    """The counter-example: {"ratio": visible points -> error over Bayes-optimal, "on": of what, "which": model}; empty
    without records.

    The same model trained with a fixed number, if it was recorded; else the preset "best", on the six test spirals
    that each of its runs keeps, on the paper's grid of angles."""
    if same := runs("fixed", root):
        on = f"{same[0].config['n_test']:,} test spirals, one run of half as many passes"
        return {"ratio": ratios(same[0].arrays), "on": on, "which": "its twin, a"}
    square, others = np.zeros((2, len(COUNTS))), runs_of(Spirals.best(), root)
    spirals = 0
    for arrays in (run.arrays for run in others):
        if arrays["counts"].tolist() != list(COUNTS):
            return {}
        for clean, order, *curves in zip(*(arrays[n] for n in ("clean", "order", "romae", "bayes")), strict=True):
            spirals += 1
            for k, count in enumerate(COUNTS):
                hidden = order[count:].astype(int)
                square[:, k] += [float(((curve[k] - clean)[hidden] ** 2).mean()) for curve in curves]
    if not spirals:
        return {}
    found = np.sqrt(square[0] / square[1]).tolist()
    on = f"{spirals} test spirals, {len(others)} run" + "s" * (len(others) > 1)
    return {"ratio": dict(zip(COUNTS, found, strict=True)), "on": on, "which": "another, larger"}


def ratios(arrays: Mapping[str, np.ndarray]) -> dict[int, float]:
    """Number of visible points -> RoMAE's root mean squared error over the Bayes-optimal one."""
    romae, bayes = np.sqrt(arrays["hero.mse"])
    return dict(zip(arrays["hero.counts"].tolist(), (romae / bayes).tolist(), strict=True))

"""Chapter 10: the tables that are made from its recorded runs, and from the page's own run."""

from collections.abc import Mapping

from ..experiments.lightcurves.experiment import METHODS as RIVALS
from ..experiments.lightcurves.experiment import PROTOCOLS, LightCurves
from ..experiments.lightcurves.folding import Folding
from ..experiments.lightcurves.plots import MARKS
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary
from .tables import Table

SURVEYS = {
    ("eros1", "official"): "EROS-1, 4 classes", ("asas", "folds"): "ASAS, 28 classes",
    ("spcc", "random"): "SPCC, 1000 labels at random", ("spcc", "official"): "SPCC, official 1103 labels",
    ("mallorn", "folds"): "MALLORN, 5 classes",
}
METHODS = {name: words for name, (words, *_) in MARKS.items()}
OPPONENTS = {
    "rmse_harmonics": "three harmonics at the found period", "rmse_folded_line": "straight lines in phase",
    "rmse_median": "median of the band", "rmse_line": "straight lines in time",
    "rmse_stated": "the stated errors themselves",
}


def runs_on(survey: str, tested_on: str, settings: Mapping) -> dict[str, Runs]:
    """The runs of one of PROTOCOLS by method; only what was run."""
    ours = LightCurves.best().replace(survey=survey, tested_on=tested_on)
    asked = {name: ours.replace(method=name) for name in METHODS if name in RIVALS} | {
        "pre-trained": ours.replace(**settings), "scratch": ours.replace(**settings | {"pretrain_epochs": 0}),
    }
    return {name: runs for name, exp in asked.items() if (runs := runs_of(exp))}


def by_survey() -> dict[str, dict[str, Runs]]:
    """Of surveys whose strongest opponent was run, in the words of SURVEYS, the runs of each method that was."""
    found = {SURVEYS[survey, on]: runs_on(survey, on, settings) for survey, on, settings in PROTOCOLS}
    return {survey: methods for survey, methods in found.items() if "trees" in methods}


def scores() -> dict[str, dict[str, Summary]]:
    """Macro F1 of every survey's methods, for the figure."""
    return {
        survey: {name: methods[name].summary("f1_macro") for name in METHODS if name in methods}
        for survey, methods in by_survey().items()
    }


def classification() -> Table:
    """Every survey's methods, best first by macro F1."""
    rows = []
    for survey, found in by_survey().items():
        for name in sorted(found, key=lambda name: -found[name].summary("f1_macro").mean):
            texts = (found[name].summary(metric).text(1.0, 3) for metric in ("f1_macro", "accuracy"))
            rows.append((survey, METHODS[name], *texts, str(len(found[name]))))
    columns = ("survey", "method", "macro F1", "accuracy", "runs")
    return Table(columns, rows, "mean [95 % interval]; runs: folds, or seeds where the test set is always the same")


def folded_runs() -> dict[str, Runs]:
    """The recorded runs that fill in RR Lyrae, by the axis."""
    return {axis: runs_of(Folding.best().replace(axis=axis)) for axis in ("phase", "time")}


def folding(live: Mapping[str, float], opponents: Mapping[str, float]) -> Table:
    """Errors of hidden points in magnitudes: the page's run, opponents on the same points, recorded runs."""
    named = {"phase": "RoMAE with phase", "time": "RoMAE with time alone"}
    runs, rows = folded_runs(), []
    for axis, name in named.items():
        recorded = f"{runs[axis].summary('rmse').text(1.0, 3)}, n = {len(runs[axis])}" if runs[axis] else "–"
        rows.append((name, f"{live[axis]:.3f}", recorded))
    for key, name in OPPONENTS.items():
        known = runs["phase"] or runs["time"]
        recorded = f"{known.summary(key).text(1.0, 3)}, n = {len(known)}" if known else "–"
        rows.append((name, f"{opponents[key]:.3f}", recorded))
    return Table(("filled in by", "this page's run", "recorded runs"), rows, "error of hidden points, magnitudes")

"""Chapter 10: the tables that are made from its recorded runs, and from the page's own run."""

from collections.abc import Mapping

from ..experiments.lightcurves.experiment import METHODS as RIVALS
from ..experiments.lightcurves.experiment import PROTOCOLS, LightCurves
from ..experiments.lightcurves.folding import Folding
from ..lab.runs import Runs, runs_of
from .tables import Table

SURVEYS = {
    ("eros1", "official"): "EROS-1, 4 classes", ("asas", "folds"): "ASAS, 28 classes",
    ("spcc", "random"): "SPCC, 1000 labels at random", ("spcc", "official"): "SPCC, official 1103 labels",
    ("mallorn", "folds"): "MALLORN, 5 classes",
}
METHODS = {
    "trees": "features, boosted trees", "pre-trained": "RoMAE, pre-trained", "scratch": "RoMAE, not pre-trained",
    "minirocket": "MiniRocket", "sampling": "times and bands alone", "largest": "largest class",
}
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


def classification() -> Table:
    """Every survey's methods, best first by macro F1; of surveys whose strongest opponent was run."""
    rows = []
    for survey, tested_on, settings in PROTOCOLS:
        found = runs_on(survey, tested_on, settings)
        if "trees" not in found:  # nobody to compare with
            continue
        for name in sorted(found, key=lambda name: -found[name].summary("f1_macro").mean):
            scores = (found[name].summary(metric).text(1.0, 3) for metric in ("f1_macro", "accuracy"))
            rows.append((SURVEYS[survey, tested_on], METHODS[name], *scores, str(len(found[name]))))
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


def fold_by_fold() -> Table:
    """Trees and RoMAE, not pre-trained, on the folds of ASAS that both were run on."""
    found = runs_on(*next(one for one in PROTOCOLS if one[0] == "asas"))
    by_fold = {name: {run.seed: run.metrics for run in found.get(name, ())} for name in ("trees", "scratch")}
    pairs = [(metric, name) for metric in ("f1_macro", "accuracy") for name in by_fold]
    rows = [
        (str(fold + 1), *(f"{by_fold[name][fold][metric]:.3f}" for metric, name in pairs))
        for fold in sorted(by_fold["trees"].keys() & by_fold["scratch"].keys())
    ]
    columns = ("fold of ASAS", "macro F1, trees", "macro F1, RoMAE", "accuracy, trees", "accuracy, RoMAE")
    caption = "the same stars to name; the trees learn from a quarter more, as they keep none to validate"
    return Table(columns, rows, caption)

"""Chapter 10: the tables that are made from its recorded runs, and from the page's own run."""

import json
import math
from collections.abc import Mapping

from ..experiments.lightcurves.experiment import EMBEDDED, PROTOCOLS, SHOWN, LightCurves, arms, protocol
from ..experiments.lightcurves.folding import BEFORE_VISIT, HIDDEN, arm
from ..experiments.lightcurves.plots import MARKS
from ..lab.records import Record, results_dir
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary, summarise
from .tables import Table

SURVEYS = {
    ("eros1", "official"): "EROS-1, 4 classes", ("asas", "folds"): "ASAS, 28 classes",
    ("spcc", "random"): "SPCC, 1000 labels at random", ("spcc", "official"): "SPCC, official 1103 labels",
    ("mallorn", "folds"): "MALLORN, 5 classes",
}
CUT = "SPCC at random, from first to last detection"
COUNTS = (10, 30, 100, 300, 1000)  # labels, of every class alike
PASSES = (12, 48, 192)  # over the labels
TRAINED = ("pre-trained", "scratch")  # on all labels, beside those with few
LEARNING = (*TRAINED, "together", "phase", "gru-d")  # in passes over the labels
TABLED = (*EMBEDDED, "untrained", "phase")  # in the table, not in the figure of all surveys
METHODS = {name: words for name, (words, *_) in MARKS.items()}
FIRST = {  # who names SPCC's supernovae: what RoMAE saw before it learnt the classes, the least first; and the trees
    "nothing": {"pretrain_epochs": 0}, "labelled curves, 12 passes": {"pretrain_on": "labelled"},
    "all of SPCC, 1 pass": {"pretrain_epochs": 1}, "MALLORN, 12 passes": {"pretrain_on": "mallorn"},
    "all of SPCC, 12 passes": {}, "boosted trees": {"method": "trees"},
}
ORDER = HIDDEN[::-1]
NEEDS_VISIT = {f"rmse_{name}" for name in BEFORE_VISIT}  # where a whole visit is hidden they say what the others do
OPPONENTS = {
    "rmse_harmonics": "damped harmonics at the found period",
    "rmse_harmonics_visit": "damped harmonics, moved by the visit's other bands",
    "rmse_folded_line": "straight lines in phase",
    "rmse_visit": "the visit's other bands", "rmse_median": "median of the band", "rmse_line": "straight lines in time",
    "rmse_stated": "the stated errors themselves",
}


def all_runs() -> Runs:
    return Runs.load(experiment=LightCurves.name)


def runs_on(known: Runs, survey: str, tested_on: str, labels: int | None = None) -> dict[str, Runs]:
    """The runs of one of PROTOCOLS by method, in the order of METHODS; only what was run."""
    return _runs_of(known, arms(survey, tested_on, labels))


def _runs_of(known: Runs, asked: Mapping[str, LightCurves]) -> dict[str, Runs]:
    return {name: runs for name in METHODS if name in asked and (runs := known.of(asked[name]).counted())}


def few() -> dict[str, dict[str, dict[int | None, Summary]]]:
    """Macro F1 by survey, method and number of labels, None for all of them: methods that were run with few, and RoMAE
    TRAINED on all."""
    found, known = {}, all_runs()
    for survey, tested_on, _ in PROTOCOLS:
        title, by_count = SURVEYS[survey, tested_on].split(",")[0], {}
        for labels in (*COUNTS, None):
            for name, runs in runs_on(known, survey, tested_on, labels).items():
                by_count.setdefault(name, {})[labels] = runs.summary("f1_macro")
        lines = {name: by for name, by in by_count.items() if by.keys() & set(COUNTS)}
        if lines:
            found[title] = lines | {name: by_count[name] for name in TRAINED if name in by_count}
    return found


def passes() -> dict[str, dict[str, dict[int, Summary]]]:
    """Macro F1 by survey, TRAINED and number of passes over all labels, where RoMAE learnt for more than one."""
    found, known = {}, all_runs()
    for survey, tested_on, settings in PROTOCOLS:
        if (survey, tested_on) == ("spcc", "official"):
            continue  # there validation chooses wrongly: `biased`
        ours = LightCurves.best().replace(survey=survey, tested_on=tested_on, **settings)
        arms = {"pre-trained": ours, "scratch": ours.replace(pretrain_epochs=0)}
        by = {name: {n: runs.summary("f1_macro") for n in PASSES if (runs := known.of(arm.replace(epochs=n)).counted())}
              for name, arm in arms.items()}
        found[SURVEYS[survey, tested_on].split(",")[0]] = by
    return {survey: by for survey, by in found.items() if all(len(of) > 1 for of in by.values())}


def by_survey() -> dict[str, dict[str, Runs]]:
    """Of surveys whose strongest opponent was run, in the words of SURVEYS, and of CUT, the runs of each method that
    was."""
    known, found = all_runs(), {}
    for survey, tested_on, _ in PROTOCOLS:
        found[SURVEYS[survey, tested_on]] = runs_on(known, survey, tested_on)
        if (survey, tested_on) == ("spcc", "random"):
            asked = {name: arm for name, arm in arms(survey, tested_on).items() if arm.method in SHOWN["detected"]}
            found[CUT] = _runs_of(known, {k: arm.replace(information="detected") for k, arm in asked.items()})
    return {survey: methods for survey, methods in found.items() if "trees" in methods}


def scores() -> dict[str, dict[str, Summary]]:
    """Macro F1 of every survey's methods, for the figure."""
    return {
        survey: {name: methods[name].summary("f1_macro") for name in METHODS if name in methods and name not in TABLED}
        for survey, methods in by_survey().items()
    }


def classification() -> Table:
    """Every survey's methods, best first by macro F1, with what they lose to the first run by run."""
    rows = []
    for survey, found in by_survey().items():
        ordered = sorted(found, key=lambda name: -found[name].summary("f1_macro").mean)
        first = found[ordered[0]]
        for name in ordered:
            runs = found[name]
            behind = first.paired(runs, "f1_macro").text(0.01, 1) if runs is not first else "–"
            passes = str(runs[0].config["epochs"]) if name in LEARNING else "–"
            quickest = min(run.wall_seconds for run in runs)  # others had a busier machine
            minutes = (quickest + feature_seconds(runs[0])) / 60
            cost = "–" if math.isnan(minutes) else f"{minutes:.1f}" if minutes >= 0.05 else "< 0.1"
            rows.append((survey, METHODS[name], f"{runs.summary('f1_macro').mean:.3f}", behind,
                         f"{runs.summary('accuracy').mean:.3f}", passes, cost, str(len(runs))))
    columns = ("survey", "method", "macro F1", "behind the first", "accuracy", "passes", "minutes", "runs")
    caption = ("behind the first: points of macro F1, run by run, mean [95 % interval]; passes over the labels; "
               "minutes of one core, the quickest run, with pre-training and features, where used; trees, MiniRocket "
               "and five networks learn from the validation part too; on ASAS RoMAE and GRU-D see at most "
               f"{protocol('asas', 'folds')['most']} points of a curve; runs: folds, or seeds where the test set is "
               "the same")
    return Table(columns, rows, caption, f"All {len(rows)} scores: how far each is behind, what it takes")


def feature_seconds(run: Record) -> float:
    """What its features take, a star's period being one of them: 0 where it has none, NaN where that was not measured.
    """
    config = run.config
    if config["method"] not in ("trees", "beside") and not config["period"]:
        return 0.0
    path = results_dir() / "features.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return known.get(config["survey"], {}).get("seconds", math.nan)


def biased() -> dict[str, dict[int, dict[str, Summary]]]:
    """Macro F1 on SPCC by FIRST and passes over the labels, of trees 0: by the challenge's labels on a fifth of these,
    held back, and on all others; and by a thousand labels at random."""
    found, known = {}, all_runs()
    for seen, changes in FIRST.items():
        ours = LightCurves.best().replace(survey="spcc", **changes)
        for passes in PASSES if ours.method == "romae" else (0,):
            arm = ours.replace(epochs=passes or ours.epochs)
            official, random = (known.of(arm.replace(tested_on=on)).counted() for on in ("official", "random"))
            by = {"random": random.summary("f1_macro")} if random else {}
            if official:
                by["others"] = official.summary("f1_macro")
                held = [run.history[-1].get("valid_f1_macro") for run in official]
                by |= {} if None in held else {"held back": summarise(held)}
            if by:
                found.setdefault(seen, {})[passes] = by
    return found


def folded_runs() -> dict[tuple[str, str], Runs]:
    """The recorded runs that fill in RR Lyrae, by the axis and by what was hidden."""
    return {(axis, hidden): runs_of(arm(axis, hidden)) for axis in ("phase", "time") for hidden in HIDDEN}


def folding(live: Mapping[str, float], opponents: Mapping[str, float]) -> Table:
    """Errors of hidden points in magnitudes: the page's run, opponents on the same points, recorded runs."""
    named = {"phase": "RoMAE with phase", "time": "RoMAE with time alone"}
    runs, rows = folded_runs(), []

    def recorded(axis: str, hidden: str, key: str) -> str:
        known = runs[axis, hidden]
        return known.summary(key).text(1.0, 3) if known and not (key in NEEDS_VISIT and hidden == "visits") else "–"

    for axis, name in named.items():
        rows.append((name, f"{live[axis]:.3f}", *(recorded(axis, hidden, "rmse") for hidden in ORDER)))
    for key, name in OPPONENTS.items():
        mine = "–" if key in NEEDS_VISIT else f"{opponents[key]:.3f}"
        rows.append((name, mine, *(recorded("phase", hidden, key) for hidden in ORDER)))
    counts = sorted({len(found) for found in runs.values()})
    columns = ("filled in by", "this page", "visits hidden", "points hidden")
    caption = ("error of what was hidden, magnitudes: of this page's run, whole visits; of "
               f"{' to '.join(map(str, counts))} recorded runs, visits and points, mean [95 % interval]")
    return Table(columns, rows, caption)

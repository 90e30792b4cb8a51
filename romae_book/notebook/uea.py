"""Chapter 09: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from IPython.display import Markdown

from ..experiments.uea.data import SETS, find
from ..experiments.uea.experiment import UEA
from ..lab.runs import Runs, first_runs_of, runs_of
from ..paper.claim import Claim
from ..paper.claims import CLAIMS
from .tables import Table

ROMAE = "RoMAE-tiny"
BEFORE = {"dropout_at": "head", "init": "torch", "rounding": "nearest"}  # how older runs of Table 12 differ
TESTED = [name for name in SETS if name != "Heartbeat"]  # whose own test set was scored
TABLE6 = {(c.row, c.column): c for c in CLAIMS if c.table == "Table 6" and not c.reading}
OPPONENTS = {
    "MiniRocket": "accuracy_minirocket",
    "boosted trees on simple statistics": "accuracy_trees",
    "boosted trees on times alone": "accuracy_times",
    "the largest class": "accuracy_majority",
}
BySet = Mapping[str, Runs]


def runs_by_set() -> tuple[dict[str, Runs], dict[str, Runs]]:
    """The runs by Table 12, and those by our settings, of each set that was tested on."""
    by_table, ours = {}, {}
    for name in TESTED:
        paper = UEA.paper().replace(dataset=name)
        by_table[name] = first_runs_of(paper, paper.replace(**BEFORE))
        ours[name] = runs_of(UEA.best().replace(dataset=name))
    return by_table, ours


def untrained(name: str) -> Runs:
    """Our settings without pre-training."""
    return runs_of(UEA.best().replace(dataset=name, pretrain_epochs=0))


def at_hand(exp: UEA, folder: Path | str) -> tuple[UEA, str, Sequence[str]]:
    """The experiment, on made-up series where BasicMotions is not to be had; what its series are; its classes."""
    if exp.dataset == "BasicMotions" and not (folder or find("BasicMotions")):
        exp = exp.replace(source="simulated")
    kind = {"real": f"{exp.dataset}, the archive's series", "simulated": "made-up series (no result)"}
    return exp, kind[exp.source], SETS[exp.dataset].names


def same_set(ours: BySet, exp: UEA) -> Runs:
    """Runs by our settings on the set of the chapter's own run; none where its series are made up."""
    return ours.get(exp.dataset, Runs()) if exp.source == "real" else Runs()


def lowest_loss(exp: UEA) -> float | None:
    """What label smoothing leaves of the loss: the entropy of the target."""
    if not exp.smoothing:
        return None
    target = np.full(exp.classes, exp.smoothing / exp.classes)
    target[0] += 1 - exp.smoothing
    return float(-(target * np.log(target)).sum())


def strongest(name: str) -> Claim:
    """Of the methods that Table 6 quotes."""
    return max((c for (row, column), c in TABLE6.items() if row == name and column != ROMAE), key=lambda c: c.value)


def sets() -> Table:
    rows = []
    for name, s in SETS.items():
        steps = str(s.longest) if s.shortest == s.longest else f"{s.shortest} to {s.longest}"
        rows.append((f"{name} ({s.short})", s.about, f"{s.train} + {s.test}", str(s.channels), steps, str(s.classes)))
    return Table(("set", "what it is", "training + test", "channels", "steps", "classes"), rows)


def findings(by_table: BySet, ours: BySet) -> Markdown:
    without = untrained("LSST")
    if not (all(by_table.values()) and all(ours.values()) and without):
        return Markdown("The runs that this chapter rests on are not recorded yet.")

    def behind(runs: BySet) -> int:
        return sum(runs[n].summary("accuracy_minirocket").mean > runs[n].summary("accuracy").mean for n in TESTED)

    lsst = by_table["LSST"]
    off, on = (lsst.summary(metric).mean for metric in ("accuracy", "accuracy_train_mode"))
    worth = ours["LSST"].paired(without, "accuracy")
    return Markdown(
        f"- **MiniRocket is ahead of RoMAE on {behind(ours)} of {len(TESTED)} sets, on Epilepsy alone by much.** That "
        f"is RoMAE with our settings; "
        f"with the paper's it is {behind(by_table)}.\n"
        f"- **On LSST the forgotten switch costs {100 * (off - on):.1f} points.** By the paper's settings RoMAE has "
        f"{off:.3f} in eval mode. With dropout left on it has {on:.3f}, and Table 6 has "
        f"{TABLE6['LSST', ROMAE].printed} ({len(lsst)} runs).\n"
        f"- **Pre-training is worth {100 * worth.mean:.1f} points on LSST.** Our settings, {worth.n} pairs of runs."
    )


def accuracies(by_table: BySet, ours: BySet, exp: UEA, live: Mapping[str, float]) -> dict[str, dict[str, list[float]]]:
    """What `plots.accuracies` draws."""
    values = {}
    for name in TESTED:
        here = same_set(ours, exp) and exp.dataset == name
        values[name] = {
            "the paper's RoMAE": [TABLE6[name, ROMAE].value],
            "strongest quoted there": [strongest(name).value],
            "paper's settings": [r.metrics["accuracy"] for r in by_table[name]],
            "the same, dropout on": [r.metrics["accuracy_train_mode"] for r in by_table[name]],
            "our settings": [r.metrics["accuracy"] for r in ours[name]],
            "MiniRocket": [r.metrics["accuracy_minirocket"] for r in ours[name].having("accuracy_minirocket")],
            "boosted trees": [r.metrics["accuracy_trees"] for r in ours[name].having("accuracy_trees")],
            "your run": [live["accuracy"]] if here else [],
        }
    return values


def cell(runs: Runs, metric: str = "accuracy") -> str:
    """Mean and interval, or that there is no run."""
    having = runs.having(metric)
    return having.summary(metric).text(1.0, 3) if having else "not run"


def table_of_runs(by_table: BySet, ours: BySet, exp: UEA, live: Mapping[str, float]) -> Table:
    quoted = [strongest(name) for name in TESTED]
    rows = [
        ("RoMAE in the paper", *(TABLE6[name, ROMAE].printed for name in TESTED)),
        ("strongest quoted there", *(f"{c.printed} ({c.column})" for c in quoted)),
        ("RoMAE, paper's settings", *(cell(by_table[name]) for name in TESTED)),
        ("RoMAE, our settings", *(cell(ours[name]) for name in TESTED)),
        ("the same, not pre-trained", *(cell(untrained(name)) for name in TESTED)),
        *((label, *(cell(ours[name], metric) for name in TESTED)) for label, metric in OPPONENTS.items()),
        ("runs (paper's settings + ours)", *(f"{len(by_table[name])} + {len(ours[name])}" for name in TESTED)),
    ]
    if same_set(ours, exp):
        mine = (f"{live['accuracy']:.3f}" if name == exp.dataset else "" for name in TESTED)
        rows.insert(5, ("your run", *mine))
    columns = ("", *(SETS[name].short for name in TESTED))
    older = [SETS[name].short for name in TESTED if any(run.tier != "paper" for run in by_table[name])]
    remark = f" By the paper's settings {' and '.join(older)} has older runs, not in fp32 (lab record)." * bool(older)
    return Table(columns, rows, f"Accuracy, mean [95 % interval over seeds].{remark}")


def confusions(by_table: BySet, ours: BySet) -> dict[str, np.ndarray]:
    """Mean confusion matrices on LSST, for the figure."""
    return {
        label: np.mean([r.arrays["confusion"] for r in runs["LSST"]], 0)
        for label, runs in (("paper's settings", by_table), ("our settings", ours))
    }

"""Sentences and tables of chapter 12, from the records of the experiment `esc50`."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from IPython.display import Markdown

from ..experiments.esc50.experiment import ESC50
from ..lab.records import Record
from ..lab.runs import Runs, paired, runs_of
from ..lab.summary import summarise
from .tables import Table, table

TEN = {"source": "esc10", "epochs": 80, "pretrain_epochs": 60}
PRETRAINED, SCRATCH = "RoMAE, pre-trained on the training folds", "RoMAE, not pre-trained"
OPPONENTS = {
    "linear classifier, mean and spread": "accuracy_linear",
    "MiniRocket and a ridge": "accuracy_minirocket",
}
CUTS = {
    "as in training": "accuracy",
    "overlapping, by seconds": "accuracy_overlap_seconds",
    "overlapping, by number": "accuracy_overlap_index",
    "gaps, by seconds": "accuracy_gaps_seconds",
    "gaps, by number": "accuracy_gaps_index",
    "twice the hop, by seconds": "accuracy_hop_seconds",
    "twice the hop, by number": "accuracy_hop_index",
    "twice the hop, stretched to the old size": "accuracy_hop_resized",
}


def esc50_runs() -> dict[str, Runs]:
    """The runs on ESC-50 with and without pre-training, on the folds that both have."""
    small = ESC50.small()
    with_it, without = runs_of(small), runs_of(small.replace(pretrain_epochs=0))
    if with_it:
        folds = {run.seed for run in with_it}
        without = Runs(run for run in without if run.seed in folds)
    return {PRETRAINED: with_it, SCRATCH: without}


def esc10_runs() -> dict[str, Runs]:
    """The same on ESC-10."""
    ten = ESC50.small().replace(**TEN)
    return {PRETRAINED: runs_of(ten), SCRATCH: runs_of(ten.replace(pretrain_epochs=0))}


def per_cent(runs: Sequence[Record], metric: str = "accuracy") -> str:
    """Mean over folds with its interval, where there are three at least."""
    found = summarise([run.metrics[metric] for run in runs])
    folds = f"{found.n} folds" if found.n > 1 else f"fold {runs[0].seed % 5 + 1} alone"
    return f"{found.text(0.01, 1)} % ({folds})"


def opponent(runs: Sequence[Record], metric: str) -> list[Record]:
    """The runs as those of an opponent that was scored beside them."""
    return [replace(run, metrics={"accuracy": run.metrics[metric]}) for run in runs]


def against(
    runs: Sequence[Record], others: Sequence[Record], metric: str = "accuracy", other_metric: str = "accuracy"
) -> str:
    """What `runs` have more than `others` on the same folds, in points, with an interval over folds from three on."""
    rest = [replace(run, metrics={metric: run.metrics[other_metric]}) for run in others]
    gap = paired(runs, rest, metric)
    interval = "" if gap.low is None else f" [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    return f"{100 * gap.mean:+.1f}{interval}".replace("-", "−")


def findings(of: dict[str, Runs]) -> Markdown:
    """What the chapter opens with."""
    with_it, without = of.values()
    if not with_it:
        return Markdown("- No run on ESC-50 has been recorded yet.")
    small, worth = ESC50.small(), ""
    if without:
        worth = (
            f"; on the same folds pre-training, {small.pretrain_epochs} epochs before the {small.epochs} of "
            f"fine-tuning, makes a difference of {against(with_it, without)} points against fine-tuning alone"
        )
    rocket = np.mean([100 * run.metrics["accuracy_minirocket"] for run in with_it])
    gaps, overlap, hop = (
        against(with_it, with_it, f"accuracy_{cut}_seconds", f"accuracy_{cut}_index")
        for cut in ("gaps", "overlap", "hop")
    )
    lines = (
        f"A small RoMAE ({with_it[0].parameters:,} weights), pre-trained on nothing but the training folds of ESC-50, "
        f"names {per_cent(with_it)} of the held-out sounds{worth}. The paper pre-trains a far larger model on far more "
        "sound; that was not run here.",
        f"MiniRocket with a ridge names {rocket:.1f} % of the same sounds; RoMAE has "
        f"{against(with_it, with_it, other_metric='accuracy_minirocket')} points against it.",
        "Asked about the held-out sounds cut in three other ways, the same model is not seen to gain from positions in "
        f"seconds against patches that are counted: {gaps} points with every other stretch of time missing, {overlap} "
        f"with patches that overlap, {hop} with every other frame.",
    )
    return Markdown("\n".join(f"- {line}" for line in lines))


def beside_opponents(of: dict[str, Runs], label: str) -> Table | Markdown:
    """Accuracies of RoMAE, and of the opponents that were scored beside its first runs."""
    rows = {name: runs for name, runs in of.items() if runs}
    if not rows:
        return Markdown("*No run on ESC-50 has been recorded yet.*")
    measured = next(iter(rows.values()))
    rows |= {name: opponent(measured, metric) for name, metric in OPPONENTS.items()}
    return table(rows, {"accuracy": "accuracy, %"}, scale=0.01, decimals=1, label=label)


def cuts(runs: Sequence[Record]) -> Table:
    """Accuracy of the same models on the test sounds cut in other ways."""
    rows = [(words, per_cent(runs, metric)) for words, metric in CUTS.items()]
    return Table(("the same model on the test sounds, cut", "accuracy"), rows)


def worth_on_esc10(of10: dict[str, Runs]) -> Markdown:
    """What pre-training is worth on ESC-10."""
    return Markdown(
        f"On ESC-10 pre-training, {TEN['pretrain_epochs']} epochs before the {TEN['epochs']} of fine-tuning, makes a "
        f"difference of {against(*of10.values())} points, on the same folds. What longer fine-tuning alone would give "
        "was run on neither set."
    )

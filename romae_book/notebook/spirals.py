"""Chapter 05: the tables and sentences that are made from its recorded runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import Markdown

from ..experiments.spirals.experiment import Spirals
from ..lab.runs import Runs
from ..paper import counts
from ..paper.claim import Claim
from ..paper.claims import CLAIMS
from ..paper.counts import finding
from .tables import Table, table

TARGETS = {"rmse_clean": "RMSE to the clean curve", "rmse_noisy": "RMSE to the noisy points"}


def claims() -> tuple[Claim, Claim]:
    """The number of Table 7, and the one that the authors' notebook has stored."""
    ours = [c for c in CLAIMS if c.experiment == "spirals" and c.table == "Table 7" and not c.quoted]
    table7, stored = (c for c in ours if not c.reading)
    return table7, stored


def findings(by_table: Runs, best: Runs) -> Markdown:
    """Records by Table 19, and by our settings."""
    if not (by_table and best):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    far, near = (
        runs.summary("rmse_clean").mean / runs.summary("rmse_clean_bayes").mean for runs in (by_table, best)
    )
    lines = [
        f"- **By the paper's settings RoMAE errs {far:.1f} times as much as the best possible predictor.** That is the "
        f"mean of {len(by_table)} runs, against the clean curve.",
        f"- **Our settings come to {near:.2f} times.** They show {Spirals.best().n_train // Spirals.paper().n_train:,} "
        "times as many spirals to a smaller model, which aims at the clean curve.",
    ]
    if found := finding():
        lines.append(
            f"- **A model that saw any number of points stays within {found['most']:.2f} times the best possible** "
            f"from {found['from']} points to {found['to']}. Its twin that always saw thirty has "
            f"{found['fixed_few']:.0f} times at {found['few']}."
        )
    return Markdown("\n".join(lines))


def table_of_floors(baselines: Mapping[str, float]) -> Table:
    floors = {"Bayes-optimal": "bayes", "least-squares fit of a and b": "lstsq", "smoothing spline": "spline"}
    rows = {label: {key: baselines[f"{key}_{short}"] for key in TARGETS} for label, short in floors.items()}
    return table(rows, TARGETS, decimals=4)


def table_of_runs(kinds: Mapping[str, Sequence], full: Sequence, exp: Spirals, live: Mapping[str, float]) -> Table:
    """kinds: records by setting; full: those of them whose test spirals the other predictors are scored on; exp, live:
    the chapter's own run."""
    rows = {label: runs for label, runs in kinds.items() if runs}
    rows[f"your run: {exp.n_train:,} spirals, each {exp.epochs} times"] = {key: live[key] for key in TARGETS}
    for short, label in (("bayes", "best possible"), ("lstsq", "least-squares fit of a and b")) if full else ():
        rows[label] = {key: np.mean([run.metrics[f"{key}_{short}"] for run in full]) for key in TARGETS}
    rows["the paper's Table 7 (of which error, it does not say)"] = {"rmse_clean": claims()[0].value}
    return table(rows, TARGETS, decimals=4)


def hidden_rmse(arrays: Mapping, predictor: str, k: int) -> float:
    """RMSE to the clean curve at the points that are still hidden when counts[k] are observed."""
    n = arrays["counts"][k]
    squares = (arrays[predictor][:, k] - arrays["clean"]) ** 2  # (S, 75, 2)
    return np.sqrt(np.mean([square[order[n:]] for square, order in zip(squares, arrays["order"], strict=True)]))


def ratios_by_count(by_table: Sequence, best: Sequence) -> dict[str, dict[int, float]]:
    """Errors over the best possible by the number of points shown. Of by_table and best on the spirals that their
    runs keep, six each; of the two models of the preset "page" on their whole test sets."""
    found = {}
    for label, runs in (("Table 19, always 30", by_table), ("our settings, always 30", best)):
        if kept := [run.arrays for run in runs]:
            means = {who: [np.mean([hidden_rmse(arrays, who, k) for arrays in kept])
                           for k in range(len(kept[0]["counts"]))] for who in ("romae", "bayes")}
            found[label] = dict(zip(kept[0]["counts"].tolist(), np.divide(means["romae"], means["bayes"]), strict=True))
    for label, model in (("its twin, always 30", "fixed"), ("any number (Figure 5.1)", "varying")):
        if kept := counts.runs(model, None):
            found[label] = counts.ratios(kept[0].arrays)
    return found

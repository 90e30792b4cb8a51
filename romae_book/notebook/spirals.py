"""Chapter 05: the tables and sentences that are made from its recorded runs."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import Markdown

from ..experiments.base import Splits
from ..experiments.spirals.data import authors
from ..experiments.spirals.experiment import Spirals
from ..lab.runs import runs_of
from ..lab.summary import summarise
from ..paper.claim import Claim
from ..paper.claims import CLAIMS
from .tables import Table, table

TARGETS = {"rmse_clean": "RMSE to the clean curve", "rmse_noisy": "RMSE to the noisy points"}


def claims() -> tuple[Claim, Claim]:
    """The number of Table 7, and the one that the authors' notebook has stored."""
    ours = [c for c in CLAIMS if c.experiment == "spirals" and c.table == "Table 7" and not c.quoted]
    table7, stored = (c for c in ours if not c.reading)
    return table7, stored


def findings(by_table: Sequence, same_data: Sequence, best: Sequence) -> Markdown:
    """Records by Table 19, by our settings on the paper's amount of data, and by our settings."""
    if not (by_table and best):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    mean = lambda runs, key: summarise(run.metrics[key] for run in runs)  # noqa: E731
    clean, ours = mean(by_table, "rmse_clean"), mean(best, "rmse_clean")
    least, floor = (mean(runs, "rmse_clean_bayes").mean for runs in (by_table, best))
    n_best, n_paper = Spirals.best().n_train, Spirals.paper().n_train
    text = (
        f"- By the settings of the paper's Table 19 RoMAE's root mean squared error to the clean curve is "
        f"**{clean.text(1, 4)}** (mean and 95 % interval, n = {clean.n} seeds), {clean.mean / least:.1f} times that of "
        f"the best possible predictor on the same spirals, {least:.4f}. Table 7 has {claims()[0].show()}; the paper "
        "does not say whether to the clean curve.\n"
        f"- A smaller model ({best[0].parameters:,} weights for {by_table[0].parameters:,}) with settings of "
        f"our own reaches **{ours.text(1, 4)}** (n = {ours.n}), {ours.mean / floor:.2f} times the best possible, from "
        f"{n_best:,} spirals shown once each: {n_best // n_paper:,} times the paper's data."
    )
    if same_data:
        some = mean(same_data, "rmse_clean")
        text += (
            f" Trained a quarter as long on the paper's {n_paper} spirals it reaches {some.text(1, 4)} (n = {some.n})."
        )
    return Markdown(text)


def table_of_floors(baselines: Mapping[str, float]) -> Table:
    floors = {"Bayes-optimal": "bayes", "least-squares fit of a and b": "lstsq", "smoothing spline": "spline"}
    rows = {label: {key: baselines[f"{key}_{short}"] for key in TARGETS} for label, short in floors.items()}
    return table(rows, TARGETS, decimals=4)


def table_of_runs(kinds: Mapping[str, Sequence], full: Sequence) -> Table:
    """kinds: records by setting; full: those of them whose test spirals the other predictors are scored on."""
    rows = {label: runs for label, runs in kinds.items() if runs}
    for short, label in (("bayes", "best possible"), ("lstsq", "least-squares fit of a and b")) if full else ():
        rows[label] = {key: np.mean([run.metrics[f"{key}_{short}"] for run in full]) for key in TARGETS}
    table7, stored = claims()
    rows["the paper's Table 7 (of which error, it does not say)"] = {"rmse_clean": table7.value}
    rows["the authors' stored notebook"] = {"rmse_authors": stored.value}
    return table(rows, TARGETS | {"rmse_authors": "by the authors' formula"}, decimals=4)


def what_they_measured() -> Markdown:
    stored, theirs = claims()[1], authors()  # noise included: their generator is seeded
    noise = float((theirs.values.double() - theirs.aux["clean"]).square().mean().sqrt())
    rmse = stored.value / np.sqrt(0.9)  # an RMSE has 100 x 45 x 2 numbers, their formula divides by 100 squared
    return Markdown(
        f"Their generator is seeded, so the noise on the hundred test spirals can be drawn again: its RMS is "
        f"{noise:.4f}. As an RMSE their {stored.value:.4f} is {rmse:.4f}, and "
        f"$\\sqrt{{{rmse:.4f}^2 - {noise:.4f}^2}} = {np.sqrt(rmse**2 - noise**2):.3f}$ "
        "is about what that model's error to the clean curve must be: not 0.0183."
    )


def table_of_the_authors_spirals(exp: Spirals, model, data: Splits) -> Table:
    """Scores on the authors' test spirals of the runs by the text of D.7, or of the live run before there are any."""
    table7, stored = claims()
    runs = [r for r in runs_of(Spirals.text()) if "rmse_clean_authors_clean_inputs" in r.metrics]
    if runs:
        scores = {key: np.mean([run.metrics[key] for run in runs]) for key in runs[0].metrics if "_authors" in key}
        plural = "s" * (len(runs) > 1)
        words = f"{len(runs)} run{plural} by the text of D.7 (400 epochs of 200 spirals, 1e-3, batches of 8)"
    else:
        words, scores = f"this page's live run, {exp.epochs} epochs (no result)", exp.examine(model, data)
    rows = []
    for label, key in (("noisy points shown", "authors"), ("clean points shown", "authors_clean_inputs")):
        metrics = ("rmse_authors", "rmse_clean", "rmse_clean_spiral_mean", "rmse_clean_spiral_std")
        rows.append((label, *(f"{scores[f'{metric}_{key}']:.4f}" for metric in metrics)))
    mean, std = table7.printed.replace(")", "").split(" (")
    rows.append(("their notebook; Table 7 (target not said)", stored.printed, "", mean, std))
    columns = (
        "", "authors' formula, noisy targets", "RMSE to the clean curve", "the same, mean over spirals",
        "std over spirals",
    )
    return Table(columns, rows, f"the authors' 100 test spirals; {words}")


def hidden_rmse(arrays: Mapping, predictor: str, k: int) -> float:
    """RMSE to the clean curve at the points that are still hidden when counts[k] are observed."""
    n = arrays["counts"][k]
    squares = (arrays[predictor][:, k] - arrays["clean"]) ** 2  # (S, 75, 2)
    return np.sqrt(np.mean([square[order[n:]] for square, order in zip(squares, arrays["order"], strict=True)]))


def table_by_count(by_table: Sequence, best: Sequence) -> Table:
    """Errors of the runs' kept spirals by the number of observed points."""
    papers, ours = ([run.arrays for run in runs] for runs in (by_table, best))
    rows = []
    for k, n in enumerate((papers + ours)[0]["counts"] if papers + ours else ()):
        cells = (
            f"{np.mean([hidden_rmse(arrays, predictor, k) for arrays in several]):.3f}" if several else "–"
            for several, predictor in ((papers, "romae"), (ours, "romae"), (papers + ours, "bayes"))
        )
        rows.append((n, *cells))
    columns = ("observed points", "Table 19", "our settings", "best possible")
    return Table(columns, rows, "RMSE to the clean curve at the hidden points")


def table_of_changes() -> Table:
    shorter = Spirals.best().replace(n_train=50_000)
    changes = {
        "our settings, a quarter as long (50,000 spirals)": {},
        "AdamW instead of Muon": {"optimizer": "adamw", "lr": 1e-3},
        "200 spirals, each shown 250 times": {"n_train": 200, "epochs": 250},
        "positions as in the paper": {"position_scale": 1.0},
        "no [CLS] token": {"cls": False},
    }
    groups = {label: runs_of(shorter.replace(**change)) for label, change in changes.items()}
    return table({label: runs for label, runs in groups.items() if runs}, TARGETS, decimals=4)

"""Chapter 08: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

from IPython.display import Markdown

from ..experiments.pendulum.experiment import Pendulum
from ..lab.runs import Runs, runs_of
from ..paper.claim import Claim
from ..paper.claims import CLAIMS
from .tables import Table, table

METRICS = {"mse": "MSE", "mse_seen": "where something is seen", "mse_blank": "in blank frames"}
OPPONENTS = {
    "mean": "mean of 500 training clips",
    "ridge": "ridge on each frame of these",
    "kalman": "Kalman, told the physics",
}
Groups = Mapping[str, Runs]  # by read-out and pixels


def claim() -> Claim:
    """Table 5's row of RoMAE."""
    return next(c for c in CLAIMS if c.experiment == "pendulum" and not c.quoted)


def groups() -> Groups:
    """Return runs of the paper's settings with read-out or pixels changed."""
    cells = {
        "[CLS], authors' pixels (Table 15)": {},
        "[CLS], true pixels": {"pixels": "true"},
        "own token, authors' pixels": {"readout": "frame"},
        "own token, true pixels": {"readout": "frame", "pixels": "true"},
    }
    return {label: runs_of(Pendulum.paper().replace(**changes)) for label, changes in cells.items()}


def findings(by_table: Runs, groups: Groups, best: Runs) -> Markdown:
    if not (by_table and all(groups.values()) and best):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    mse, ours = by_table.summary("mse").mean, best.summary("mse").mean
    base, _, token, both = (runs.summary("mse").mean for runs in groups.values())
    return Markdown(
        f"- **By the paper's settings our error is {mse / claim().value:.1f} times the paper's number.** If that is "
        f"what the authors' script prints, ours is {mse / (10 * claim().value):.2f} times it ({len(by_table)} runs).\n"
        f"- **Read from each frame's own token, the same model errs {base / token:.1f} times less.** With rightly "
        f"scaled pixels as well it is {base / both:.1f} times.\n"
        f"- **Our own settings come to {1e3 * ours:.1f} thousandths.** The Kalman smoother, which knows the physics, "
        f"has {1e3 * best[0].metrics['mse_kalman']:.2f}."
    )


def errors(groups: Groups, best: Runs) -> dict[str, list[float]]:
    """Mean squared errors by who makes them, for the figure."""
    rows = {"ridge on each frame": [best[0].metrics["mse_ridge"]]} if best else {}
    for label, runs in (dict(groups) | {"our settings": best}).items():
        if runs:
            rows[label] = [run.metrics["mse"] for run in runs]
    return rows | ({"Kalman smoother, told the physics": [best[0].metrics["mse_kalman"]]} if best else {})


def table_of_opponents(known: Mapping[str, float], clips: int) -> Table:
    rows = {label: {key: known[f"{key}_{short}"] for key in METRICS} for short, label in OPPONENTS.items()}
    return table(rows, METRICS, scale=1e-3, decimals=2, caption=f"mean squared errors × 10⁻³, {clips} test clips")


def settings(groups: Groups, best: Runs) -> dict[str, Runs]:
    """The four groups and our settings, those that have runs."""
    ours = Pendulum.best()
    every = {**groups, f"our settings ({ours.epochs * ours.n_train // ours.batch} steps)": best}
    return {label: runs for label, runs in every.items() if runs}


def table_of_runs(settings: Mapping[str, Runs], known: Mapping[str, float], live: Mapping[str, float]) -> Table:
    """settings: runs by label; known, live: metrics of the opponents, and of the chapter's own run."""
    others = {OPPONENTS[name]: {key: known[f"{key}_{name}"] for key in METRICS} for name in ("ridge", "kalman")}
    caption = "Mean squared errors × 10⁻³, mean [95 % interval over seeds]."
    mine = {"your run": {key: live[key] for key in METRICS}}
    return table(dict(settings) | mine | others, METRICS, scale=1e-3, decimals=1, caption=caption)

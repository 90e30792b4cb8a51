"""Chapter 03: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

import numpy as np
from IPython.display import Markdown

from ..experiments.position.experiment import Position
from ..experiments.position.plots import inside
from ..lab.records import Record
from ..lab.runs import Runs, runs_of
from ..lab.summary import summarise
from .tables import Table

Groups = Mapping[str, Runs]  # by what is different about the tokens


def setups() -> Groups:
    """Return the recorded runs of tokens that are alike or distinct, with and without something that stays at 0."""
    best, control = Position.best(), Position.control()
    settings = {
        "alike, no anchor": Position.paper().replace(cls=False),
        "distinct, no anchor": control,
        "alike, a token at a random place": best.replace(cls=False, anchor="moving"),
        "distinct, a token at a random place": control.replace(anchor="moving"),
        "alike, an ordinary token at 0": best.replace(cls=False, anchor="pinned"),
        "alike, [CLS] at 0": best,
    }
    groups = {label: runs_of(setting) for label, setting in settings.items()}
    return {label: runs for label, runs in groups.items() if runs}


def mse(runs: Runs) -> str:
    """Test MSE with its interval."""
    found = runs.summary("mse")
    return found.text(decimals=6 if found.mean < 0.01 else 2 if found.mean < 100 else 1)


def findings(groups: Groups) -> Markdown:
    names = "alike, no anchor", "distinct, no anchor", "alike, an ordinary token at 0", "alike, [CLS] at 0"
    if not set(names) <= groups.keys():
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    blind, distinct, pinned, cls = (groups[name] for name in names)
    return Markdown(
        f"- **Alike and without [CLS], a model errs by {mse(blind)}.** That is the variance of the positions: it is "
        f"blind ({len(blind)} runs).\n"
        f"- **Distinct and without [CLS], it errs by {mse(distinct)}.** The best possible from differences has "
        f"{distinct.summary('mse_relative').mean:.2f} on the same test sets ({len(distinct)} runs).\n"
        f"- **With a token that stays at 0 the error all but vanishes.** It is {cls.summary('mse').mean:.6f} "
        f"with [CLS] and {pinned.summary('mse').mean:.6f} with an ordinary token."
    )


def recorded(exp: Position) -> Runs:
    """Runs of the preset best, with or without [CLS] as in a chapter's run."""
    return runs_of(Position.best().replace(cls=exp.cls))


def slope(run: Record) -> float:
    """By how much the answers move when the tokens move by one."""
    arrays, slopes = run.arrays, []
    for pattern, named in enumerate(arrays["named"]):
        within = inside(arrays, pattern)
        slopes.append(np.polyfit(arrays["shifts"][within], named[within].mean(1), 1)[0])
    return float(np.mean(slopes))


def table_of_setups(groups: Groups, live: Mapping[str, float]) -> Table:
    """live: metrics of the chapter's own run."""
    rows = []
    for label, runs in groups.items():
        level = runs.summary("mse_mean" if label == "alike, no anchor" else "mse_relative").mean
        follows = round(summarise(map(slope, runs)).mean, 2) + 0  # no -0.00
        rows.append((label, mse(runs), f"{level:.1f}", f"{follows:.2f}", len(runs)))
    rows.append(("your run", f"{live['mse']:.6f}" if live["mse"] < 0.01 else f"{live['mse']:.2f}", "", "", ""))
    return Table(
        ("tokens", "test MSE [95 % interval]", "best without places", "answers follow a shift by", "runs"),
        rows,
        "Table 3.1. Who knows where it is: test errors of the trained models. Fourth column: how far answers move when "
        "all tokens but a pinned one move by one unit.",
    )

"""Chapter 08: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from IPython.display import Markdown
from torch import Tensor

from romae_lite.tokens import Tokens

from ..experiments.pendulum.experiment import Pendulum
from ..lab.runs import Runs, runs_of
from ..lab.summary import summarise
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
    """Return runs of the paper's settings with read-out or pixels changed, all from one kind of initial weights."""
    cells = {
        "[CLS], authors' pixels (Table 15)": {},
        "[CLS], true pixels": {"pixels": "true"},
        "own token, authors' pixels": {"readout": "frame"},
        "own token, true pixels": {"readout": "frame", "pixels": "true"},
    }
    paper = Pendulum.paper()
    for init in (paper.init, "torch"):
        found = {label: runs_of(paper.replace(init=init, **changes)) for label, changes in cells.items()}
        if min(map(len, found.values())) > 2:
            break
    return found


def start_older(groups: Groups) -> bool:
    """True if the runs' weights start as PyTorch's do, not as the authors' do."""
    return any(run.config["init"] == "torch" for runs in groups.values() for run in runs)


def findings(by_table: Runs, groups: Groups, best: Runs) -> Markdown:
    if not (by_table and all(groups.values()) and best):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    mse, script, ours = by_table.summary("mse"), by_table.summary("mse_authors"), best.summary("mse")
    cls, _, _, own = (runs.summary("mse") for runs in groups.values())
    note = f" These runs have {by_table.note}." if by_table.note else ""
    return Markdown(
        f"- By the paper's settings RoMAE's mean squared error is **{mse.text(1e-3, 1)} × 10⁻³** (mean and 95 % "
        f"interval, n = {mse.n} seeds, {Pendulum.paper().n_test} test clips); Table 5 has {claim().show()}.{note} "
        f"Their script prints 100 times the mean, for our runs **{script.mean:.2f} ± {script.std:.2f}**: Table 5's row "
        "may be ten times too low, a strong hint and no proof.\n"
        f"- Read from each frame's own token instead of [CLS], with rightly scaled pixels, the same model has "
        f"**{own.text(1e-3, 1)} × 10⁻³** (n = {own.n}), {cls.mean / own.mean:.1f} times less than its twin; settings "
        f"of our own have {ours.text(1e-3, 1)} × 10⁻³ (n = {ours.n}).\n"
        f"- A Kalman smoother that is told the physics has {1e3 * best[0].metrics['mse_kalman']:.2f} × 10⁻³ on the "
        "same clips."
    )


def errors(by_table: Runs, groups: Groups, best: Runs) -> dict[str, list[float]]:
    """Mean squared errors by who makes them, for the figure."""
    rows = {"ridge on each frame": [best[0].metrics["mse_ridge"]]} if best else {}
    settings = {"paper's settings, as in the text": by_table} if start_older(groups) else {}
    for label, runs in (settings | dict(groups) | {"our settings": best}).items():
        if runs:
            rows[label] = [run.metrics["mse"] for run in runs]
    return rows | ({"Kalman smoother, told the physics": [best[0].metrics["mse_kalman"]]} if best else {})


def table_of_opponents(known: Mapping[str, float], clips: int) -> Table:
    rows = {label: {key: known[f"{key}_{short}"] for key in METRICS} for short, label in OPPONENTS.items()}
    return table(rows, METRICS, scale=1e-3, decimals=2, caption=f"mean squared errors × 10⁻³, {clips} test clips")


def about_the_smoother(smooth: np.ndarray, target: Tensor, share: Tensor, degrees: Sequence[float]) -> Markdown:
    """Which clips its error comes from; smooth, target (n, T, 2), share (n, T) of the picture, degrees (n,)."""
    each = ((smooth - target.numpy()) ** 2).mean((1, 2))  # (n,)
    worst = np.sort(each)[-len(each) // 20 :].sum() / each.sum()
    row, longest = np.zeros(len(share)), np.zeros(len(share))  # dark frames one after the other: until now, and at most
    for dark in (share < 0.1).T.numpy():
        row = (row + 1) * dark
        longest = np.maximum(longest, row)
    some = longest >= 10
    return Markdown(
        f"The median clip's angle is off by {np.median(degrees):.2f} degrees on average. But {100 * worst:.0f} % of "
        f"the smoother's squared error comes from the worst twentieth of the clips, and "
        f"{100 * each[some].sum() / each.sum():.0f} % "
        f"from the {100 * some.mean():.0f} % of clips that have ten dark frames in a row."
    )


def table_of_readings(by_table: Runs) -> Table:
    """Table 5's number as a mean, and as what the authors' script prints."""
    rows = []
    for words, times in (("a mean squared error", 1), ("what the script printed", 10)):
        value = times * claim().value
        ratio = (f"{by_table.summary('mse').mean / value:.2f}",) if by_table else ()
        rows.append((f"Table 5's {claim().show()} is {words}", f"{1e3 * value:.1f}", f"{100 * value:.3f}", *ratio))
    if by_table:
        mse, script = by_table.summary("mse"), by_table.summary("mse_authors")
        rows.append((f"our runs with the paper's settings (n = {mse.n})", mse.text(1e-3, 1), script.text(1.0, 2), "1"))
    columns = ("", "mean squared error × 10⁻³", "printed by the script", "our error is so many times that")
    return Table(columns[: len(rows[0])], rows)


def about_the_script(by_table: Runs) -> Markdown | None:
    if not by_table:
        return None
    text = (
        f"Over seeds the script's figure has a standard deviation of {by_table.summary('mse_authors').std:.2f} in our "
        f"{len(by_table)} runs; the paper's is {1e3 * claim().std:.2f}."
    )
    if closest := runs_of(Pendulum.paper().replace(clips="published", clip=None, schedule="global-cosine")):
        text += (
            f" With what else their script does (the original generator's clips, gradients not clipped, their cosine) "
            f"the figure is {closest.summary('mse_authors').text(1.0, 2)}, n = {len(closest)}."
        )
    return Markdown(text + (f" (These runs have {by_table.note}.)" if by_table.note else ""))


def table_of_scalings(model, clips: Tokens, frames: np.ndarray, scalings: Mapping[str, tuple[float, float]]) -> Table:
    """How large embedded frames are, and what the first block of a model that is not trained adds to them."""
    rms = lambda t: float(t.square().mean().sqrt())  # noqa: E731
    rows = []
    for label, (level, spread) in scalings.items():
        values, notes = torch.from_numpy((frames / 255 - level) / spread).float(), {}
        with torch.no_grad():
            model(replace(clips, values=values), notes)
            stream = model.encoder.embed(values)
        added = rms(notes["encoder.0.out"][:, 1:] - stream)
        rows.append((label, f"{rms(stream):.2f}", f"{added:.3f}"))
    return Table(("pixels", "embedded frames", "what the first block adds"), rows)


def settings(groups: Groups, best: Runs) -> dict[str, Runs]:
    """The four groups and our settings, those that have runs."""
    ours = Pendulum.best()
    every = {**groups, f"our settings ({ours.epochs * ours.n_train // ours.batch} steps)": best}
    return {label: runs for label, runs in every.items() if runs}


def table_of_runs(settings: Mapping[str, Runs], known: Mapping[str, float]) -> Table:
    others = {OPPONENTS[name]: {key: known[f"{key}_{name}"] for key in METRICS} for name in ("ridge", "kalman")}
    caption = "mean squared errors × 10⁻³, mean [95 % interval over seeds]"
    return table(dict(settings) | others, METRICS, scale=1e-3, decimals=1, caption=caption)


def what_divides_the_error(groups: Groups) -> Markdown | None:
    if not all(groups.values()):
        return None
    base, px, tok, both = (runs.summary("mse") for runs in groups.values())
    nearest = min((c for c in CLAIMS if c.experiment == "pendulum" and c.quoted), key=lambda c: c.value)
    start = " In all four rows weights start as PyTorch's do (`init=torch`)." if start_older(groups) else ""
    return Markdown(
        f"Each frame's own token divides the error by {base.mean / tok.mean:.1f} (n = {base.n} against {tok.n}), "
        f"together with true pixels by {base.mean / both.mean:.1f} (n = {both.n}); true pixels alone by "
        f"{base.mean / px.mean:.2f} (n = {px.n}).{start} No other model of Table 5 was run here, so whether any of "
        f"these beats {nearest.row}'s {nearest.show()} is open."
    )


def table_of_probes(settings: Mapping[str, Runs]) -> Table:
    probes = {"mse_half": "every other frame", "mse_later": "20 steps later"}
    rows = []
    for label, runs in settings.items():
        cells = (summarise(float(run.arrays[key]) for run in runs).text(1e-3, 1) for key in probes)
        rows.append((label.split(" (")[0], runs.summary("mse").text(1e-3, 1), *cells, len(runs)))
    return Table(("", "as they are", *probes.values(), "runs"), rows, "MSE × 10⁻³ of the recorded models")

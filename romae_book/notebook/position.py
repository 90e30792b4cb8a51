"""Chapter 03: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

import numpy as np
import torch
from IPython.display import Markdown

from romae_lite.rope import frequencies

from ..experiments.position.experiment import Position, PositionRange
from ..experiments.position.plots import inside, score
from ..lab.records import Record
from ..lab.runs import Runs, runs_of
from ..lab.summary import summarise
from ..paper.claim import Claim
from ..paper.claims import CLAIMS
from .tables import Table

Groups = Mapping[str, Runs]  # by what is different about the tokens


def claimed(width: str, cls: bool) -> Claim:
    """The paper's row of Table 1."""
    where = {"size": width, "cls": cls}
    return next(c for c in CLAIMS if c.experiment == "position" and c.metric == "mse" and c.where == where)


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
    """Test MSE with its interval; millionths where it is small."""
    found = runs.summary("mse")
    if found.mean < 0.01:
        return found.text(1e-6, 0) + " millionths"
    return found.text(decimals=2 if found.mean < 100 else 1)


def mse_n(runs: Runs) -> str:
    return f"{mse(runs)} (n = {len(runs)})"


def findings(groups: Groups) -> Markdown:
    sentences = []
    if runs := groups.get("alike, no anchor"):
        sentences.append(
            f"The positions of ten tokens that are all alike, without [CLS], are named with a mean squared error of "
            f"{mse_n(runs)}; the paper has {claimed('tiny', False).value}. That is the variance of the positions: "
            "these models cannot see any position, near or far."
        )
    if runs := runs_of(Position.paper()):
        errors = sorted(run.metrics["mse"] for run in runs)
        sentences.append(
            f"With [CLS] RoMAE-tiny learns them: by the paper's protocol our {len(runs)} runs end between "
            f"{errors[0]:.2g} and {errors[-1]:.2g}, where the paper has {claimed('tiny', True).show()}."
        )
    if runs := groups.get("distinct, no anchor"):
        sentences.append(
            f"Ten *distinct* tokens without [CLS] end at {mse_n(runs)}, where the best possible predictor "
            f"from differences has {runs.summary('mse_relative').mean:.2f} on the same test sets."
        )
    pinned, cls = groups.get("alike, an ordinary token at 0"), groups.get("alike, [CLS] at 0")
    if pinned and cls:
        sentences.append(
            f"With a token that stays at 0 the error all but vanishes, be it [CLS], {mse_n(cls)}, or an "
            f"ordinary one, {mse_n(pinned)}."
        )
    return Markdown("**What we found.** " + " ".join(sentences or ["Nothing has been recorded yet."]))


def moved_tokens(seed: int, with_cls_at) -> Table:
    """By how much answers of untrained models change when all tokens move; with_cls_at: the chapter's function."""
    base = Position.best().replace(standardise=False, n_train=1, n_valid=1, n_test=200)
    setups = {
        "distinct tokens, no [CLS]": base.replace(cls=False, values="distinct"),
        "[CLS] stays at 0": base,
        "[CLS] moves along": base,
        "an ordinary token stays at 0": base.replace(cls=False, anchor="pinned"),
        "that token moves along": base.replace(cls=False, anchor="moving"),
    }
    rows = []
    for label, setup in setups.items():
        model, tokens, changes = setup.build(seed).eval(), setup.data(seed).test, []
        for by in (7.0, 1000.0):
            moved = setup.shifted(tokens, by)
            with torch.no_grad():
                along = label == "[CLS] moves along"
                after = with_cls_at(model, moved, by) if along else setup.outputs(model, moved)
                changes.append(float((after - setup.outputs(model, tokens)).abs().max()))
        rows.append((label, *(f"{c:.6f}" for c in changes), "yes" if changes[0] > 1e-4 else "no"))
        assert (changes[0] > 1e-4) == ("stays" in label)  # float32 leaves less than a hundredth of that
    columns = ("all tokens are moved; …", "answers change by, moved by 7", "moved by 1000", "does the model notice?")
    return Table(columns, rows)


def other_peaks() -> Table:
    """Where the score of a token with [CLS] comes closest to its peak again, for heads of several widths."""
    far = np.arange(0, 10_000, 0.04)
    rows = []
    for width in (4, 8, 16, 60, 144, 240, 320):
        curve = np.concatenate([score(part, width) for part in np.array_split(far, 100)])
        tops = np.flatnonzero((curve[1:-1] > curve[:-2]) & (curve[1:-1] > curve[2:])) + 1
        first = (some[curve[some] > curve[some].max() - 1e-3][0] for some in (tops[far[tops] < 49], tops))
        cells = (f"{curve[i]:.3f} at {far[i]:,.1f}" for i in first)
        rows.append((width, int((frequencies(width) > 0).sum()), *cells))
    return Table(("width of a head", "pairs that turn", "highest other peak up to 49", "up to 10,000"), rows)


def slope(run: Record) -> float:
    """By how much the answers move when the tokens move by one."""
    arrays, slopes = run.arrays, []
    for pattern, named in enumerate(arrays["named"]):
        within = inside(arrays, pattern)
        slopes.append(np.polyfit(arrays["shifts"][within], named[within].mean(1), 1)[0])
    return float(np.mean(slopes))


def table_of_setups(groups: Groups) -> Table:
    rows = []
    for label, runs in groups.items():
        level = runs.summary("mse_mean" if label == "alike, no anchor" else "mse_relative").mean
        follows = round(summarise(map(slope, runs)).mean, 2) + 0  # no -0.00
        rows.append((label, mse(runs), f"{level:.1f}", f"{follows:.2f}", len(runs)))
    return Table(
        ("tokens", "test MSE [95 % interval]", "best without places", "answers follow a shift by", "runs"),
        rows,
        "Table 3.1. Who knows where it is: test errors of the trained models. Fourth column: how far answers move when "
        "all tokens but a pinned one move by one unit.",
    )


def controls(groups: Groups) -> Markdown:
    sentences = []
    if runs := groups.get("distinct, no anchor"):
        ratio = summarise(run.metrics["mse"] / run.metrics["mse_relative"] for run in runs)
        sentences.append(
            f"Distinct tokens without [CLS] end at {ratio.text(decimals=2)} times the error of the best predictor from "
            f"differences, on the same test sets (n = {ratio.n}). Their answers do not move when all tokens move, as "
            "the paper's Corollary 4.1 demands."
        )
    if runs := groups.get("alike, a token at a random place"):
        sentences.append(
            f"A token at a random place ends the blindness of tokens that are alike: {mse_n(runs)}, where eleven "
            f"points with known differences allow {runs.summary('mse_relative').mean:.2f}."
        )
    return Markdown(" ".join(sentences or ["The control has not been recorded yet."]))


def gap(runs: Runs, claim: Claim, error: float) -> tuple[float, float]:
    """Ours less the paper's, and its standard error: the paper has one test set, each of our runs its own."""
    return np.mean([run.metrics["mse"] for run in runs]) - claim.value, error * np.sqrt(1 + 1 / len(runs))


def errors(runs: Runs, decimals: int) -> str:
    values = [run.metrics["mse"] for run in runs]
    if max(values) > 5 * min(values):  # so unlike that a mean says little
        return ", ".join(f"{v:.3f}" for v in values) + " (each seed)"
    return summarise(values).text(decimals=decimals)


def table_1(error: float) -> Table:
    """The paper's Table 1 beside ours; error: the standard error of a test set's variance."""
    paper, rows = Position.paper(), []
    for width in ("tiny", "small", "base"):
        for cls in (True, False):
            claim, runs = claimed(width, cls), runs_of(paper.replace(size=width, cls=cls))
            ours = errors(runs, 4 if cls else 2) if runs else "not at full length"
            less = "{:+.2f} ± {:.2f}".format(*gap(runs, claim, error)) if runs and not cls else ""
            rows.append((f"{width}, {'with' if cls else 'no'} [CLS]", claim.show(), ours, less, len(runs) or ""))
    starts = {"torch": "all weights start as PyTorch has them", "normal": "the head starts like the rest"}
    for init, words in starts.items():
        if runs := runs_of(paper.replace(init=init)):
            rows.append((f"tiny, with [CLS]; {words}", "", errors(runs, 4), "", len(runs)))
    if runs := runs_of(Position.best()):
        rows.append(("our settings, with [CLS]", "", mse(runs), "", len(runs)))
    columns = ("model", "paper's MSE", "ours", "ours less the paper's", "runs")
    return Table(columns, rows, "Table 3.2. The paper's Table 1 beside ours.")


def about_table_1(error: float) -> Markdown:
    paper, sentences, gaps = Position.paper(), [], []
    for width in ("tiny", "small", "base"):
        if runs := runs_of(paper.replace(size=width, cls=False)):
            less, expected = gap(runs, claimed(width, False), error)
            gaps.append(abs(less) / expected)
    if gaps:
        close = ", so the rows without [CLS] agree as closely as they can" if max(gaps) < 2 else ""
        sentences.append(
            "In the fourth column ± is one standard error of the difference between two such test sets' "
            f"variances{close}."
        )
    if tiny := runs_of(paper):
        share = [100 * float(r.arrays["bias"][-1]) ** 2 / 50 / r.metrics["mse"] for r in tiny]
        low, high = f"{min(share):.0f}", f"{max(share):.0f}"
        sentences.append(
            f"With [CLS], at least {low}{'' if low == high else f' to {high}'} % of a tiny model's error "
            "comes from the last fiftieth of the range, where the answers are too low; our settings, whose last layer "
            "names the distance from the middle in standard deviations, do not have that."
        )
    return Markdown(" ".join(sentences) or "Table 1 has not been recorded yet.")


def table_of_ranges() -> Table:
    rows = []
    for high in (100, 1000):
        theirs = {c.metric: c.value for c in CLAIMS if c.experiment == "position_range" and c.where == {"high": high}}
        rows.append((f"0 to {high}, the paper", f"{theirs['mae_central']:g}", f"{theirs['mae_last']:g}", ""))
        presets = {"its protocol, run here": PositionRange.paper(), "our settings": PositionRange.best()}
        for words, preset in presets.items():
            if runs := runs_of(preset.replace(high=high)):
                cells = (f"{runs.summary(key).mean:.2g}" for key in ("mae_central", "mae_last"))
                rows.append((f"0 to {high}, {words}", *cells, len(runs)))
    columns = ("range", "mean absolute error, middle 80 %", "last point", "runs")
    return Table(columns, rows, "Table 3.3. Error over the range.")

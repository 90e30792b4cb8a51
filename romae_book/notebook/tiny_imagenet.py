"""Sentences and tables of chapter 11, from the records of the experiment `tiny_imagenet`."""

import numpy as np
from IPython.display import Markdown

from romae_lite.rope import frequencies

from ..experiments.tiny_imagenet.experiment import TinyImageNet
from ..lab.runs import Runs, paired, runs_of
from ..lab.summary import Summary, summarise
from ..paper.claims import CLAIMS
from .tables import Table, table

VARIANTS = {  # the rows of Table 2, then two controls
    "RoPE, mean of the patches, no [CLS]": {"pool": "mean", "cls": False},
    "RoPE, [CLS]": {},
    "absolute as in the authors' code, [CLS]": {"encoding": "absolute"},
    "RoPE, [CLS] there, mean read out": {"pool": "mean"},
    "absolute by row and column, [CLS]": {"encoding": "absolute", "absolute": "grid"},
}
OTHERS = {
    "RoPE, [CLS], not pre-trained": {"pretrain_epochs": 0},
    "RoPE, [CLS], positions in pixels": {"position_scale": 8.0},
    "RoPE, [CLS], positions a share of the picture": {"position_scale": 0.125},
}
USUAL = "RoPE, [CLS]"
# the paper's three rows, in the order of the first three variants
TABLE2 = dict(zip(VARIANTS, [claim.value for claim in CLAIMS if claim.table == "Table 2"], strict=False))
MISSING = Markdown("No run on photographs has been recorded yet.")
RESOLUTIONS = {
    "some": "as trained",
    "off_grid": "off the grid",
    "off_grid_counted": "... counted",
    "coarser": "3/4 of the resolution",
    "coarser_counted": "... counted",
    "finer": "3/2 of it",
    "finer_counted": "... counted",
}


def photograph_runs() -> dict[str, Runs]:
    """The runs of the preset small, by variant; only variants that were run."""
    runs = {words: runs_of(TinyImageNet.small().replace(**s)) for words, s in (VARIANTS | OTHERS).items()}
    return {words: found for words, found in runs.items() if found}


def mean_of(runs: Runs, metric: str) -> str:
    """A mean, with its interval where three runs allow one, and how many runs."""
    return f"{runs.summary(metric).text(decimals=3)} ({len(runs)} run{'s' * (len(runs) > 1)})"


def change(gap: Summary) -> str:
    """A mean difference, with its interval where there is one, and always with a sign."""
    interval = "" if gap.low is None else f" [{gap.low:+.3f}, {gap.high:+.3f}]"
    return f"{gap.mean:+.3f}{interval}".replace("-", "−")


def findings(runs: dict[str, Runs]) -> Markdown:
    """What the chapter opens with."""
    if USUAL not in runs:
        return MISSING
    usual, exp = runs[USUAL], TinyImageNet.small()
    lines = [
        f"On Tiny ImageNet's {exp.n_classes} classes a RoMAE of {usual[0].parameters:,} weights with [CLS] has a macro "
        f"F1 of {mean_of(usual, 'f1_macro')}, a linear classifier on histograms of gradients "
        f"{usual[0].metrics['f1_macro_gradients']:.3f}, the paper's far larger model {TABLE2[USUAL]:.3f}."
    ]
    read_out = {
        "RoPE, mean of the patches, no [CLS]": "where the mean of the patches is read out and [CLS] left out",
        "RoPE, [CLS] there, mean read out": "where that mean is read out and [CLS] stays",
    }
    changes = []
    for name, words in read_out.items():
        gap = paired(runs.get(name, ()), usual, "f1_macro")
        if gap and gap.low is not None:
            paper = f"; the paper: {TABLE2[name] - TABLE2[USUAL]:+.3f}" if name in TABLE2 else ""
            changes.append(f"{change(gap)} {words} (n = {gap.n}{paper})")
    if changes:
        lines.append("Seed by seed it changes by " + ", and by ".join(changes) + ".")
    gains = {
        name: summarise(r.metrics["accuracy_finer"] - r.metrics["accuracy_finer_counted"] for r in runs[name])
        for name in (USUAL, *read_out)
        if name in runs
    }
    gain = gains.pop(USUAL)
    lines.append(
        f"Asked at one and a half times the resolution, it gains {change(gain)} of accuracy where positions say where "
        f"a patch is, against counted patches (n = {gain.n})"
        + "".join(f"; {change(gain)} {read_out[name]}" for name, gain in gains.items())
        + "."
    )
    return Markdown("\n".join(f"- {line}" for line in lines))


def position_units(exp: TinyImageNet) -> Table:
    """Radians from patch to patch, and turns across the picture, of the fastest and the slowest pair, by unit."""
    rates = frequencies(exp.model_config().encoder.head_dim // 2)  # half of a head's channels belong to an axis
    turning = rates[rates > 0]
    rows = []
    for words, scale in (("patches", 1.0), ("pixels", exp.patch_side), ("share of the picture", 1 / exp.grid)):
        step, across = (turning * scale).tolist(), (turning * scale * (exp.grid - 1)).tolist()
        turns = [f"{v / 2 / np.pi:.2g}" for v in (across[0], across[-1])]
        rows.append((words, f"{scale:g}", f"{step[0]:.3g}", f"{step[-1]:.2g}", *turns))
    columns = (
        "unit", "position_scale", "fastest pair: radians from patch to patch", "slowest that turns",
        "fastest pair: turns across the picture", "slowest that turns",
    )
    return Table(columns, rows)


def absolute_codes() -> Table:
    """Which code the authors' absolute encoding adds to which of five patches, 1 and 4 of them hidden."""
    visible, hidden = [0, 2, 3], [1, 4]
    rows = [
        ("authors' code, encoder", "0", *(str(k + 1) if k in visible else "" for k in range(5))),
        ("authors' code, decoder", "none", *("none" if k in visible else str(k) for k in range(5))),
    ]
    return Table(("code added to", "[CLS]", *(f"patch {k}" + " (hidden)" * (k in hidden) for k in range(5))), rows)


def variants(runs: dict[str, Runs]) -> Table | Markdown:
    """Scores of every variant, and what it has less than the usual one, seed by seed."""
    if USUAL not in runs:
        return MISSING
    usual, exp, rows = runs[USUAL], TinyImageNet.small(), []
    for words, found in runs.items():
        gap = None if words == USUAL else found.paired(usual, "f1_macro")
        paper = TABLE2.get(words)
        f1, accuracy = (found.summary(key).text(decimals=3) for key in ("f1_macro", "accuracy"))
        less = change(gap) if gap else "–"
        rows.append((words, f1, less, accuracy, str(len(found)), f"{paper:.3f}" if paper else "–"))
    f1, accuracy = (f"{usual[0].metrics[f'{key}_gradients']:.3f}" for key in ("f1_macro", "accuracy"))
    rows.append(("histograms of gradients, linear", f1, "–", accuracy, "", "–"))
    columns = ("200 classes", "macro F1", f"less that of {USUAL}", "accuracy", "runs", "paper's F-score")
    caption = (
        f"{usual[0].parameters:,} weights; {exp.per_class - exp.valid_per_class} photographs of each class to "
        "train on, 10,000 in all to test on; mean [95 % interval over seeds]"
    )
    return Table(columns, tuple(rows), caption)


def resolutions(groups: dict) -> Table:
    """Accuracies at other resolutions and off the grid, patches where they are and counted."""
    heads = {f"accuracy_{key}": words for key, words in RESOLUTIONS.items()}
    return table(groups, heads, label="accuracy", decimals=3)

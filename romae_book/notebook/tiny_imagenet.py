"""Chapter 11: the model that paints in the page, and tables and sentences that are made from recorded runs."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from IPython.display import Markdown
from torch import Tensor, nn

from romae_lite.model import RoMAE, count_parameters
from romae_lite.tokens import Tokens
from romae_lite.training import fit

from ..experiments.base import Splits
from ..experiments.tiny_imagenet.data import SHAPES
from ..experiments.tiny_imagenet.experiment import TinyImageNet
from ..explorables.explorable import Explorable
from ..explorables.tiny_imagenet import figure
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary, summarise
from ..paper.claims import CLAIMS
from . import own_run
from .tables import Table

MEAN, USUAL, ADDED = "RoPE, mean of the patches, no [CLS]", "RoPE, [CLS]", "absolute as in the authors' code, [CLS]"
BOTH = "RoPE, [CLS] there, mean read out"
VARIANTS = {  # the rows of Table 2, then two controls
    MEAN: {"pool": "mean", "cls": False},
    USUAL: {},
    ADDED: {"encoding": "absolute"},
    BOTH: {"pool": "mean"},
    "absolute by row and column, [CLS]": {"encoding": "absolute", "absolute": "grid"},
}
# the paper's three rows, in the order of the first three variants
TABLE2 = dict(zip(VARIANTS, [claim.value for claim in CLAIMS if claim.table == "Table 2"], strict=False))


@cache  # Figure 11.1 and an exercise ask for the same one
def painter(
    per_class: int, epochs: int, seed: int
) -> tuple[TinyImageNet, RoMAE, Splits]:
    """Train a small model to paint drawn pictures of 32 by 32 pixels."""
    exp = TinyImageNet.quick().replace(
        targets="pixels", side=32, patch_side=4, per_class=per_class,
        encoder="48x2x3x192", decoder="48x2x1x192", pretrain_lr=1e-2,
        pretrain_epochs=epochs,
    )
    model, data = exp.autoencoder(seed), exp.data(seed)
    recipe = exp.pretrain_recipe(len(data.train))
    fit(model, data.train, exp.pretrain_loss, recipe, seed=seed)
    return exp, model, data


def paint_over(exp: TinyImageNet, model: RoMAE, data: Splits) -> Explorable:
    """The picture to draw over, with the model of `painter`."""
    kinds = (6, 1, 4, 3, 8, 2)
    first = [int((data.test.aux["label"] == k).nonzero()[0]) for k in kinds]
    source = figure.source(exp, model, data.test[first], [SHAPES[k] for k in kinds])
    note = f"Trained while this page was made: {len(data.train):,} pictures, {count_parameters(model):,} weights."
    return figure.explorable(source, note)


def photograph_runs() -> dict[str, Runs]:
    """The runs of the preset small, by variant; only variants that were run."""
    runs = {words: runs_of(TinyImageNet.small().replace(**s)) for words, s in VARIANTS.items()}
    return {words: found for words, found in runs.items() if found}


def beside(exp: TinyImageNet, live: Mapping[str, float]) -> Markdown:
    """The chapter's own run beside recorded ones; of drawn pictures there are none."""
    if exp.source == "real":
        return own_run.beside(exp, live, "accuracy", runs_of(TinyImageNet.small()), "the accuracy")
    return own_run.beside(exp, live, "accuracy", Runs(), "the accuracy on drawn pictures")


def signed(gap: Summary) -> str:
    """A mean difference in points, with its interval where there is one."""
    interval = "" if gap.low is None else f" [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    return f"{100 * gap.mean:+.1f}{interval}".replace("-", "−")


def findings(runs: Mapping[str, Runs]) -> Markdown:
    if not {MEAN, USUAL, ADDED, BOTH} <= set(runs):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    usual = runs[USUAL]
    pairs = [runs[name].paired(usual, "f1_macro") for name in (BOTH, MEAN, ADDED)]
    read, free, added = (100 * pair.mean for pair in pairs)
    kept = summarise(r.metrics["accuracy_finer"] - r.metrics["accuracy_finer_counted"] for r in usual)
    return Markdown(
        f"- **Reading the mean of the patches instead of [CLS] gains {read:.1f} points of macro F1.** Removing [CLS] "
        f"as well gains nothing more ({free:.1f} in all, on the same {min(pair.n for pair in pairs)} seeds; in the "
        f"paper {100 * (TABLE2[MEAN] - TABLE2[USUAL]):.1f}).\n"
        f"- **Added positions are {added:.1f} points ahead of RoPE.** Both with [CLS]; in the paper it is "
        f"{100 * (TABLE2[ADDED] - TABLE2[USUAL]):.1f}.\n"
        f"- **At one and a half times the resolution, patches that know where they are keep {100 * kept.mean:.1f} "
        f"points more than counted ones.** With RoPE and [CLS], {kept.n} runs."
    )


def variants(runs: Mapping[str, Runs], exp: TinyImageNet, live: Mapping[str, float]) -> Table:
    """Scores of every variant, of opponents, and of the chapter's own run."""
    rows, usual = [], runs.get(USUAL, Runs())
    for words in VARIANTS:
        found, paper = runs.get(words, Runs()), TABLE2.get(words)
        gap = found.paired(usual, "f1_macro") if words != USUAL else None
        f1, accuracy = (found.summary(m).text(1.0, 3) if found else "not run" for m in ("f1_macro", "accuracy"))
        rows.append((words, f1, signed(gap) if gap else "", accuracy, f"{paper:.3f}" if paper else ""))
    rows.append(("RoPE, [CLS], not pre-trained", "not run", "", "not run", ""))
    if usual:
        score = [f"{usual[0].metrics[f'{key}_gradients']:.3f}" for key in ("f1_macro", "accuracy")]
        rows.append(("histograms of gradients, linear", score[0], "", score[1], ""))
    k = TinyImageNet.small().n_classes
    rows.append(("one class for all", f"{2 / (k + 1) / k:.3f}", "", f"{1 / k:.3f}", ""))
    where = "photographs" if exp.source == "real" else f"drawn pictures, {exp.classes} classes"
    rows.append((f"your run: {where}", f"{live['f1_macro']:.3f}", "", f"{live['accuracy']:.3f}", ""))
    columns = (f"photographs, {k} classes", "macro F1", f"points over {USUAL}", "accuracy", "paper's F-score")
    seeds = " or ".join(map(str, sorted({len(found) for found in runs.values()})))
    caption = (
        f"Means [95 % intervals over {seeds} seeds]. Where a patch is does not depend on the picture, so positions "
        "alone give nothing away."
    )
    return Table(columns, rows, caption)


def curves(runs: Mapping[str, Runs], exp: TinyImageNet, model: nn.Module, splits: Splits) -> dict[str, dict]:
    """What `plots.resolution` draws: recorded models, and the chapter's own."""
    keys = ("side", "accuracy_at", "accuracy_at_counted")
    recorded = {
        name: {k: np.mean([r.arrays[k] for r in runs[name]], 0) for k in keys}
        for name in (USUAL, ADDED) if name in runs
    }
    own = exp.arrays(model, splits)
    return recorded | {"your run" + ", drawn pictures" * (exp.source != "real"): {k: own[k] for k in keys}}


def mistakes(exp: TinyImageNet, model: nn.Module, test: Tokens) -> tuple[Tensor, list[str]]:
    """Up to five pictures that the model gets wrong, one of each class, and what it says."""
    truth, said = test.aux["label"].long().cpu(), exp.logits(model, test).argmax(1)
    wrong = (said != truth).nonzero()[:, 0].tolist()
    first = list({int(truth[i]): i for i in reversed(wrong)}.values())[-5:]
    name = (lambda k: SHAPES[k]) if exp.source == "simulated" else (lambda k: f"class {k}")
    return test.aux["image"][first], [f"{name(truth[i])} →\n{name(said[i])}" for i in first]

"""Chapter 12: the model that fills in sounds in the page, and tables and sentences that are made from recorded runs."""

from collections.abc import Mapping
from functools import cache

from IPython.display import Markdown

from romae_lite.model import RoMAE
from romae_lite.training import fit, mix_seed

from ..experiments.base import Splits
from ..experiments.esc50.data import SHAPES, level
from ..experiments.esc50.experiment import ESC50
from ..explorables.esc50 import figure
from ..explorables.explorable import Explorable
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary, summarise
from ..paper.claims import CLAIMS
from . import own_run
from .tables import Table

PRETRAINED, SCRATCH = "RoMAE, pre-trained on the training folds", "the same, not pre-trained"
OPPONENTS = {
    "MiniRocket": "accuracy_minirocket",
    "linear, mean and spread of the bands": "accuracy_linear",
    "boosted trees on the same": "accuracy_trees",
}
CUTS = {"as in training": "", "overlapping": "overlap", "every other stretch missing": "gaps", "twice the hop": "hop"}


def listener(n_train: int, epochs: int) -> ESC50:
    """Settings of a model that predicts energies as they are, which can be played."""
    return ESC50.quick().replace(
        targets="raw", mask_ratio=0.5, n_train=n_train, pretrain_epochs=epochs, pretrain_lr=0.01
    )


@cache  # Figure 12.1 and the text ask for the same one
def painter(n_train: int, epochs: int, seed: int) -> tuple[RoMAE, Splits]:
    """Train a small model to fill in synthesised sounds."""
    exp = listener(n_train, epochs)
    model, data = exp.autoencoder(seed), exp.data(seed)
    recipe = exp.pretrain_recipe(len(data.train))
    fit(model, data.train, exp.pretrain_loss, recipe, seed=mix_seed(seed, 1))
    return model.cpu(), data


def listen(model: RoMAE, data: Splits, seed: int) -> Explorable:
    """The sound to hide a part of, with the model of `painter`."""
    exp = listener(len(data.train), 1)
    note = f"It was trained on this page, on {len(data.train)} synthesised sounds."
    return figure.explorable(model, data.test, SHAPES, level(exp.clips(seed)[0]), note)


def esc50_runs() -> dict[str, Runs]:
    """The runs on ESC-50 with and without pre-training, on the folds that both have."""
    with_it, without = runs_of(ESC50.small()), runs_of(ESC50.small().replace(pretrain_epochs=0))
    folds = {run.seed for run in with_it}
    return {PRETRAINED: with_it, SCRATCH: Runs(run for run in without if run.seed in folds)}


def beside(exp: ESC50, live: Mapping[str, float]) -> Markdown:
    """The chapter's own run beside recorded ones; of synthesised sounds there are none."""
    if exp.source == "simulated":
        return own_run.beside(exp, live, "accuracy", Runs(), "the accuracy on synthesised sounds")
    return own_run.beside(exp, live, "accuracy", esc50_runs()[PRETRAINED], "the accuracy")


def points(gap: Summary) -> str:
    return f"{100 * gap.mean:.1f} points"


def findings(of: Mapping[str, Runs]) -> Markdown:
    with_it, without = of.values()
    if not (with_it and without):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    worth = with_it.paired(without, "accuracy")
    rocket = summarise(r.metrics["accuracy_minirocket"] - r.metrics["accuracy"] for r in with_it)
    seconds = summarise(r.metrics["accuracy_gaps_seconds"] - r.metrics["accuracy_gaps_index"] for r in with_it)
    return Markdown(
        f"- **Pre-training is worth {points(worth)}, on nothing but the training sounds themselves.** A small RoMAE "
        f"then names {100 * with_it.summary('accuracy').mean:.1f} % of ESC-50 ({worth.n} folds).\n"
        f"- **MiniRocket is at least level with RoMAE.** It is ahead by {points(rocket)}, with a 95 % interval from "
        f"{100 * rocket.low:.1f} to {100 * rocket.high:.1f}.\n"
        f"- **A trained model names as well when its patches are counted.** With every other stretch "
        f"missing the difference is {points(seconds)}."
    )


def table_of_runs(of: Mapping[str, Runs], exp: ESC50, live: Mapping[str, float]) -> Table:
    def cell(runs: Runs, metric: str = "accuracy") -> str:
        having = runs.having(metric)
        fewer = f" ({len(having)} of {len(runs)} folds)" * (len(having) < len(runs))
        return having.summary(metric).text(0.01, 1) + fewer if having else "not run"

    with_it = of[PRETRAINED]
    rows = [(name, cell(runs)) for name, runs in of.items()]
    rows += [(name, cell(with_it, metric)) for name, metric in OPPONENTS.items()]
    chance = f"{100 / ESC50.small().classes:.1f}"
    rows += [("the largest class: all have forty sounds", chance), ("places alone: the same in every sound", chance)]
    rows += [
        (f"in the paper: {c.row}, pre-trained on {c.column}", c.printed) for c in CLAIMS
        if c.table == "Table 3" and c.column in ("Librispeech", "AudioSet-20k")
    ]
    where = "your run" + f", {exp.classes} kinds of synthesised sounds" * (exp.source == "simulated")
    rows.append((where, f"{100 * live['accuracy']:.1f}"))
    caption = f"ESC-50, mean [95 % interval over {len(with_it)} folds]."
    return Table(("", "accuracy, %"), rows, caption)


def cuts(of: Mapping[str, Runs], live: Mapping[str, float]) -> dict[str, dict[str, tuple[float, float]]]:
    """Accuracies by seconds and by number on sounds cut in other ways, recorded and of the chapter's own run; where
    the picture is stretched to its old size they are one."""
    found = {}
    means = {key: of[PRETRAINED].summary(key).mean for key in live if of[PRETRAINED].having(key)}
    for title, metrics in (("ESC-50", means), ("your run", live)):
        if metrics:
            keys = {words: [f"accuracy_{cut}_{by}" * bool(cut) or "accuracy" for by in ("seconds", "index")]
                    for words, cut in CUTS.items()}
            keys["the same, stretched"] = ["accuracy_hop_resized"] * 2
            found[title] = {words: tuple(metrics[key] for key in pair) for words, pair in keys.items()}
    return found

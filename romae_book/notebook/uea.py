"""Chapter 09: the tables and sentences that are made from its recorded runs."""

from collections.abc import Mapping

import numpy as np
from IPython.display import Markdown

from ..experiments.uea.data import SETS
from ..experiments.uea.experiment import UEA
from ..lab.runs import Runs, first_runs_of, runs_of
from ..lab.summary import Summary, summarise
from ..paper.claims import CLAIMS
from ..paper.rule import Estimate
from .tables import Table, table

ROMAE = "RoMAE-tiny"
BEFORE = {"dropout_at": "head", "init": "torch", "rounding": "nearest"}  # how older runs of Table 12 differ
TESTED = [name for name in SETS if name != "Heartbeat"]  # whose own test set was scored
TABLE6 = {(c.row, c.column): c for c in CLAIMS if c.table == "Table 6" and not c.reading}
BLIND = {"encoding": "none", "lr": 0.0007, "pretrain_lr": 0.0017}  # rates chosen as on the page of encodings
CASES = (
    ("LSST", "no pre-training", {"pretrain_epochs": 0}),
    ("LSST", "patch embedding left behind", {"embedding": "fresh"}),
    ("Epilepsy", "no pre-training", {"pretrain_epochs": 0}),
    ("Epilepsy", "patch embedding left behind", {"embedding": "fresh"}),
    ("CharacterTrajectories", "zeros as data", {"padding": "zeros"}),
    ("LSST", "no positions at all", BLIND),
)


def runs_by_set() -> tuple[dict[str, Runs], dict[str, Runs]]:
    """The runs by Table 12, and those by our settings, of each set."""
    by_table, ours = {}, {}
    for name in SETS:
        folds = {"folds": 5} if name == "Heartbeat" else {}
        paper = UEA.paper().replace(dataset=name, **folds)
        by_table[name] = first_runs_of(paper, paper.replace(**BEFORE))
        ours[name] = runs_of(UEA.best().replace(dataset=name, **folds))
    return by_table, ours


def mean_of(runs: Runs, metric: str) -> str:
    """Mean and interval of a metric as text, or nothing."""
    return runs.summary(metric).text(1.0, 3) if runs and all(metric in run.metrics for run in runs) else ""


def change(name: str, **settings) -> Summary | None:
    """What other settings add to the accuracy of `best` on a set, in points, seed by seed."""
    best = UEA.best().replace(dataset=name)
    return runs_of(best.replace(**settings)).paired(runs_of(best), "accuracy")


def findings(by_table: Mapping[str, Runs], ours: Mapping[str, Runs]) -> Markdown:
    """What the chapter opens with."""
    lines = []
    if all(by_table[name] and ours[name] for name in TESTED):
        behind, counts = [], set()
        for whose, runs in (("our settings", ours), ("Table 12's", by_table)):
            lead = {n: runs[n].summary("accuracy_minirocket").mean - runs[n].summary("accuracy").mean for n in TESTED}
            sets = [name for name, points in lead.items() if points > 1e-9]
            behind.append(f"on {len(sets)} of {len(TESTED)} sets with {whose} ({', '.join(sets) or 'none'})")
            counts |= {len(runs[name]) for name in TESTED}
        lsst, claim = by_table["LSST"], TABLE6["LSST", ROMAE]
        lines.append(
            "MiniRocket, fixed convolutions with a linear classifier, has a higher mean accuracy than RoMAE "
            f"{' and '.join(behind)}; n = {min(counts)} to {max(counts)} seeds a set, Heartbeat left out."
        )
        lines.append(
            f"On LSST RoMAE with Table 12's settings has {mean_of(lsst, 'accuracy')} (n = {len(lsst)}), and "
            f"{mean_of(lsst, 'accuracy_train_mode')} when it is scored with dropout left on, as the authors' script "
            f"does; Table 6 has {claim.printed}."
        )
        if older := [n for n in TESTED if any(r.tier != "paper" for r in by_table[n])]:
            coarse = any(r.precision != "fp32" for n in older for r in by_table[n])
            lines.append(
                f"The runs by Table 12 on {' and '.join(older)} are older than three corrections of ours"
                f"{', and not in fp32' * coarse}: no verdict rests on them."
            )
    without = change("LSST", pretrain_epochs=0)
    if without and without.mean < 0:
        lost = summarise(-points for points in without.values)
        lines.append(
            f"Without pre-training our settings lose {lost.text(0.01, 1)} points of accuracy on LSST (n = {lost.n} "
            "pairs of seeds)."
        )
    text = "\n".join(f"- {line}" for line in lines)
    return Markdown(text or "The runs that this chapter rests on are not recorded yet.")


def accuracies(by_table: Mapping[str, Runs], ours: Mapping[str, Runs]) -> dict[str, dict[str, list[float]]]:
    """What `plots.accuracies` draws."""
    values = {}
    for name in TESTED:
        quoted = max(c.value for (row, column), c in TABLE6.items() if row == name and column != ROMAE)
        values[name] = {"paper's RoMAE": [TABLE6[name, ROMAE].value], "best quoted": [quoted]}
        for place, runs, metric in (
            ("ours, Table 12", by_table, "accuracy"),
            ("same, train mode", by_table, "accuracy_train_mode"),
            ("our settings", ours, "accuracy"),
            ("MiniRocket", ours, "accuracy_minirocket"),
        ):
            values[name][place] = [run.metrics[metric] for run in runs[name].having(metric)]
    return values


def sets() -> Table:
    """What the five sets are."""
    rows = []
    for name, s in SETS.items():
        steps = str(s.longest) if s.shortest == s.longest else f"{s.shortest} to {s.longest}"
        rows.append(
            (f"{name} ({s.short})", s.about, str(s.train), str(s.test), str(s.channels), steps, str(s.classes))
        )
    columns = ("set", "what it is", "training cases", "test cases", "channels", "steps", "classes")
    return Table(columns, rows)


def smoothed(classes: int, smoothing: float) -> tuple[np.ndarray, float]:
    """The target for a case of the first class, (K,), and its entropy."""
    q = np.full(classes, smoothing / classes)
    q[0] += 1 - smoothing
    return q, float(-(q * np.log(q)).sum())


def smoothing() -> Table:
    """Targets of label smoothing, and where loss and logits end."""
    rows = []
    for classes in (4, 14, 20):
        for s in (0.1, 0.2):
            q, least = smoothed(classes, s)
            rows.append((str(classes), str(s), f"{q[0]:.3f}", f"{least:.3f}", f"{np.log(q[0] / q[1]):.2f}"))
    return Table(("classes K", "s", "target of the true class", "loss ends at", "logits end apart by"), rows)


def cases() -> Table:
    """What a test set of so many cases can tell of the paper's accuracies."""
    rows = []
    for claim in (c for c in CLAIMS if c.table == "Table 6" and not (c.quoted or c.reading)):
        n = SETS[claim.row].test
        right = round(claim.value * 3 * n)
        fits = f"{right} of {3 * n}" if abs(right / (3 * n) - claim.value) < 5.1e-5 else "none"
        spread = np.sqrt(claim.value * (1 - claim.value) / n)
        others = [c.value for c in CLAIMS if c.table == "Table 6" and c.row == claim.row and c.quoted]
        near = f"{sum(abs(v - claim.value) < 2 * spread for v in others)} of {len(others)}"
        rows.append((claim.row, claim.printed, fits, f"{100 / n:.2f}", f"{100 * spread:.1f}", near))
    columns = ("set", "paper", "as a count", "one case", "std from the cases", "others within two of these")
    return Table(columns, rows, "RoMAE's column of Table 6; one case and std in points (hundredths)")


def beside_the_paper(by_table: Mapping[str, Runs], ours: Mapping[str, Runs]) -> Table:
    """Accuracies on all sets: the paper's, ours, and the opponents'."""
    columns = []
    for name in SETS:
        first, second = by_table[name], ours[name]
        others = (c for (row, column), c in TABLE6.items() if row == name and column != ROMAE)
        quoted = max(others, key=lambda c: c.value)
        columns.append((
            TABLE6[name, ROMAE].printed,
            f"{quoted.printed} ({quoted.column})",
            mean_of(first, "accuracy_train_mode"),
            mean_of(first, "accuracy"),
            *(mean_of(second, metric) for metric in ("accuracy", "accuracy_minirocket", "accuracy_majority")),
            f"{len(first)}, {len(second)}",
        ))
    methods = (
        "the paper's RoMAE", "best quoted there", "Table 12, train mode", "Table 12, eval mode", "our settings",
        "MiniRocket", "commonest class", "runs (Table 12, ours)",
    )
    rows = [(method, *cells) for method, *cells in zip(methods, *columns, strict=True)]
    return Table(("", *(s.short for s in SETS.values())), rows, "accuracy, mean [95 % interval over seeds]")


def notes(by_table: Mapping[str, Runs], ours: Mapping[str, Runs]) -> Markdown:
    """What has to be known of the runs in `beside_the_paper`."""
    lines = []
    half = {name: sum(run.precision != "fp32" for run in runs) for name, runs in by_table.items()}
    words = [f"{count} of {len(by_table[name])} on {SETS[name].short}" for name, count in half.items() if count]
    if words:
        lines.append(f"Not all runs by Table 12 are in fp32, as the paper's are: {', '.join(words)} ran in bf16.")
    if any(runs.note for runs in by_table.values()):
        lines.append(
            "Some runs by Table 12 differ from it in how weights start, where dropout acts and how dropped steps are "
            "rounded: the {doc}`lab record </book/lab/uea>` has the details."
        )
    leads = {
        SETS[name].short: summarise(run.metrics["accuracy_minirocket"] - run.metrics["accuracy"] for run in ours[name])
        for name in TESTED
        if ours[name]
    }
    if leads:
        clear = [short for short, lead in leads.items() if (lead.low or 0) > 0]
        lines.append(
            "Seed by seed, on the same steps, MiniRocket's lead over our settings has an interval that leaves out 0 on "
            f"{' and '.join(clear) or 'no set'}."
        )
    return Markdown(" ".join(lines))


def lsst(choices: Mapping[str, Runs]) -> list:
    """Accuracy and macro F1 of two settings on LSST, and a sentence where these seeds cannot tell them apart."""
    heads = {"accuracy": "accuracy", "accuracy_train_mode": "accuracy, train mode", "f1_macro": "macro F1"}
    shown = [table(choices, heads, label="LSST", decimals=3, caption="mean [95 % interval over seeds]")]
    first, second = (runs.summary("f1_macro") for runs in choices.values())
    gap = Estimate.of(first.values).minus(Estimate.of(second.values))
    if abs(gap.value) <= gap.half:
        shown.append(Markdown("By macro F1 these seeds cannot tell the two settings apart."))
    return shown


def dropping(ours: Mapping[str, Runs], live: tuple[str, str, dict] | None) -> dict[str, tuple]:
    """What `plots.steps_dropped` draws. live: set, label and arrays of the live run, which fills a gap."""
    curves = {}
    for name in TESTED:
        if runs := ours[name]:
            arrays = [run.arrays for run in runs]
            right = np.mean([a["accuracy_dropped"] for a in arrays], 0)
            label, floor = f"{SETS[name].short} ({len(runs)} runs)", runs.summary("accuracy_majority").mean
            curves[name] = (label, arrays[0]["dropped"], right, floor)
        elif live and live[0] == name:
            curves[name] = (live[1], live[2]["dropped"], live[2]["accuracy_dropped"], None)
    return curves


def worth(by_table: Mapping[str, Runs], ours: Mapping[str, Runs]) -> list:
    """What pre-training and the slips are worth, in points of accuracy, and what follows of positions on LSST."""
    rows = [(SETS[name].short, words, change(name, **settings)) for name, words, settings in CASES]
    for who, runs_of_set in (("Table 12", by_table), ("our settings", ours)):
        for name in TESTED:
            runs = runs_of_set[name]
            if runs and (runs[0].config["dropout"] or runs[0].config["drop_path"]):
                points = summarise(r.metrics["accuracy_train_mode"] - r.metrics["accuracy"] for r in runs)
                rows.append((SETS[name].short, f"scored in train mode ({who})", points))
    cells = [(short, words, gap.text(0.01, 1), str(gap.n)) for short, words, gap in rows if gap is not None]
    columns = ("set", "changed", "points of accuracy", "pairs")
    shown = [Table(columns, cells, "change in accuracy, mean [95 % interval]")]
    blind = change("LSST", **BLIND)
    if blind and blind.low is not None and blind.low < 0 < blind.high:
        shown.append(Markdown(
            "On LSST a model without any positions cannot be told from ours: that our small model is right there is no "
            "evidence that it uses time. Telling the time badly can cost accuracy all the same ({doc}`other encodings, "
            "other tasks </book/times>`)."
        ))
    return shown


def windows(arrays: Mapping[str, np.ndarray]) -> Table:
    """Share of right answers through windows of a letter, and with steps left out, of RoMAE and MiniRocket."""
    truth = arrays["label"][:, None, None, None]
    answers = {"RoMAE, our settings": arrays["probability"].argmax(-1), "MiniRocket": arrays["minirocket"]}
    rows = []
    for n in (2, 4, 6, 8, 10):
        begin = np.arange(11 - n)
        right = [100 * (answer == truth)[:, begin, begin + n, 0].mean() for answer in answers.values()]
        count = str(len(truth) * len(begin))
        rows.append((f"{10 * n} % of the letter", count, *(f"{share:.0f} %" for share in right)))
    for k, level in enumerate(arrays["levels"][1:], start=1):
        right = [100 * (answer == truth)[:, 0, 10, k].mean() for answer in answers.values()]
        words = f"all of it, {100 * (1 - level):.0f} % of the steps left out"
        rows.append((words, str(len(truth)), *(f"{share:.0f} %" for share in right)))
    columns = ("window", "answers (windows × letters)", *answers)
    return Table(columns, rows, f"share of right answers on the {len(truth)} letters above, seed 0")

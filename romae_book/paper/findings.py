"""What the book found, each finding one sentence with its numbers from the records: the landing page and chapter 00.

A finding whose records are missing is left out, never filled in by hand.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from ..experiments import experiment
from ..experiments.uea.data import SETS
from ..lab.records import Record
from ..lab.runs import runs_of
from ..lab.summary import Summary, summarise
from .claims import CLAIMS
from .rule import Estimate, test_set

FINDINGS: list[Callable[[Path | None], str | None]] = []


def finding(make: Callable[[Path | None], str | None]) -> Callable[[Path | None], str | None]:
    """Register a function that returns one finding as Markdown, or None where records are missing."""
    FINDINGS.append(make)
    return make


def findings(root: Path | None = None) -> list[str]:
    """The findings that the records carry, in the order of the book. Links are absolute, as Sphinx has them.

    root: the folder of the records, by default `results_dir()`."""
    return [found for make in FINDINGS if (found := make(root))]


def runs(name: str, preset: str, root: Path | None, **changes) -> list[Record]:
    """The records that count: of committed code."""
    found = runs_of(experiment(name).preset(preset).replace(**changes), root)
    return [record for record in found if record.committed]


def count(records: list[Record]) -> str:
    return f"{len(records)} run" + "s" * (len(records) > 1)


def average(records: list[Record], metric: str) -> float:
    return mean(record.metrics[metric] for record in records)


@finding
def any_number(root: Path | None) -> str | None:
    from .counts import finding as measured

    if not (found := measured(root)):
        return None
    return (
        "**One model serves few observations and many, if it was trained with few and many.** On spirals its error is "
        f"{found['least']:.2f} to {found['most']:.2f} times the best possible from {found['from']} to {found['to']} "
        f"visible points ({found['n_test']:,} test spirals, one run); that of {found['fixed_which']} model that "
        f"always saw 30 is {found['fixed_few']:.1f} times with {found['few']} points and {found['fixed_many']:.0f} "
        f"times with {found['many']} ({found['fixed_on']}). [Chapter 02](/notebooks/02_model)"
    )


@finding
def unit_of_time(root: Path | None) -> str | None:
    slow, fast = (runs("frequencies", "small", root, position_scale=scale) for scale in (1.0, 99.0))
    if not (slow and fast):
        return None
    times = average(slow, "mse_clean") / average(fast, "mse_clean")
    series, moved = runs("synthetic", "paper", root), runs("synthetic", "paper", root, position_scale=50.0)
    more = ""
    if len(series) > 2 < len(moved):
        excess = lambda r: 100 * (r.metrics["mse_noisy"] / r.metrics["mse_noisy_gp"] - 1)  # noqa: E731
        before, after = (mean(map(excess, group)) for group in (series, moved))
        more = (
            f"With the paper's own settings on its synthetic series, that alone takes the error from {before:.0f} % "
            f"above the best possible to {after:.0f} % ({len(series)} and {len(moved)} runs; [chapter 06]"
            "(/notebooks/06_synthetic)). "
        )
    return (
        "**The unit of time is part of the model.** Give a small RoMAE times in [0, 1], as in the paper, and its "
        f"squared error to clean sines of up to 24 Hz is {times:.0f} times what it is with neighbouring samples one "
        f"unit apart ({len(slow)} and {len(fast)} runs). {more}[Chapter 04](/notebooks/04_units)"
    )


@finding
def turned_or_added(root: Path | None) -> str | None:
    """Continuous RoPE and added sines at the same unit, one between neighbours, once every task has all its runs."""
    from .encodings import SEEDS, Recorded, against, arms, is_base, side

    recorded, sides = Recorded(root), {"ahead of": [], "behind": [], "level with": []}
    for base in filter(is_base, everybody := arms()):
        group = [arm for arm in everybody if arm.task is base.task]
        gaps = {(arm.encoding, arm.unit): against(arm, group, recorded) for arm in group}
        added, nothing = gaps["absolute", base.unit], gaps["none", ""]
        if any(gap is None or gap.n < SEEDS for gap in (added, nothing)):
            return None
        title = base.task.title
        name = title if any(map(str.isupper, title[1:])) else title.lower()
        if side(nothing, base.task.better) == "level with":
            name += " (where leaving positions out does as well)"
        sides[side(added, base.task.better)].append(name)
    words = {"ahead of": "ahead", "behind": "behind", "level with": "level"}
    told = ", ".join(f"{words[key]} on the {' and '.join(titles)}" for key, titles in sides.items() if titles)
    return (
        "**Turning queries and keys is not always better than adding sines and cosines of the same positions.** With "
        f"one unit between neighbours and a learning rate chosen for each, small models with RoPE are {told} ({SEEDS} "
        "pairs of runs each). [What a position encoding is worth](/book/encodings)"
    )


@finding
def anchors(root: Path | None) -> str | None:
    blind, distinct = runs("position", "paper", root, cls=False), runs("position", "control", root)
    pinned = runs("position", "best", root, cls=False, anchor="pinned")
    if not (blind and distinct and pinned):
        return None
    if average(pinned, "mse") > 0.001:
        return None
    return (
        "**In the paper's test of positions what blinds a model without [CLS] is that all tokens are equal.** A model "
        "has to name the places of ten tokens (Table 1). Without [CLS], an extra learned token at 0, the squared error "
        f"is {average(blind, 'mse'):.0f} where all tokens are *equal* ({count(blind)}) and "
        f"{average(distinct, 'mse'):.1f} where they are *distinct* ({count(distinct)}), the best possible from their "
        f"distances. One more recognisable token, pinned at 0, brings a small model below 0.001 ({count(pinned)}). "
        f"[Chapter 03](/notebooks/{CLS})"
    )


@finding
def pendulum(root: Path | None) -> str | None:
    protocol = runs("pendulum", "paper", root)
    printed = next(c for c in CLAIMS if c.experiment == "pendulum" and not c.quoted)
    # like with like: both read-outs with weights that start in the same of two ways (D43)
    for init in ("body", "normal", "torch"):
        paper = runs("pendulum", "paper", root, init=init)
        frame = runs("pendulum", "paper", root, init=init, readout="frame")
        if paper and frame:
            break
    if len(protocol) < 3 or not (paper and frame):
        return None
    script = summarise(r.metrics["mse_authors"] for r in protocol)
    return (
        "**The pendulum's error may be ten times what Table 5 says.** The authors' formula, 100 times the error, gives "
        f"us {script.mean:.2f} ± {script.std:.2f} by the paper's protocol ({script.n} runs); Table 5 has "
        f"{printed.show()}, in thousandths. Read at each frame's own token instead of [CLS], the error falls from "
        f"{1000 * average(paper, 'mse'):.0f} to {1000 * average(frame, 'mse'):.0f} thousandths ({len(paper)} and "
        f"{len(frame)} runs, alike otherwise). [Chapter 08](/notebooks/08_pendulum)"
    )


@finding
def classics(root: Path | None) -> str | None:
    names = ("BasicMotions", "CharacterTrajectories", "Epilepsy", "LSST")
    sets = {name: runs("uea", "best", root, dataset=name) for name in names}
    if not all(sets.values()) or any("accuracy_minirocket" not in r.metrics for s in sets.values() for r in s):
        return None
    gaps = {n: _gap(s, "accuracy_minirocket", "accuracy") for n, s in sets.items()}
    if any(gap.low is None for gap in gaps.values()):
        return None
    told = {"ahead on": [], "behind on": [], "level on": [], "without a visible difference on": []}
    for name, gap in gaps.items():
        side = "ahead on" if gap.low > 0 else "behind on" if gap.high < 0 else "without a visible difference on"
        told["level on" if not any(gap.values) else side].append(name)
    worst = max(names, key=lambda n: gaps[n].mean)
    ours, theirs = (average(sets[worst], key) for key in ("accuracy", "accuracy_minirocket"))
    counts = sorted(gap.n for gap in gaps.values())
    said = ", ".join(f"{side} {' and '.join(sets_)}" for side, sets_ in told.items() if sets_)
    return (
        "**A linear classifier on fixed convolutions is a hard opponent.** With 30 % of the steps dropped, MiniRocket, "
        f"beside RoMAE with our settings, is {said} (most on {worst}: {theirs:.3f} against {ours:.3f}; {counts[0]} to "
        f"{counts[-1]} pairs of runs each).{_ahead_by_table_12(root, names)} [Chapter 09](/notebooks/09_uea)"
    )


def _gap(records: Sequence[Record], more: str, less: str) -> Summary:
    """How far one accuracy is above another in the same runs, with the sampling error of the test set, which a
    claim about methods has too."""
    found = summarise(r.metrics[more] - r.metrics[less] for r in records)
    if found.low is None:
        return found
    cases = SETS[records[0].config["dataset"]].test
    gap = Estimate.of(found.values).plus(test_set(cases, average(records, more), average(records, less)))
    low, high = gap.interval or (gap.value, gap.value)  # where all are right in every case
    return replace(found, low=low, high=high)


def _ahead_by_table_12(root: Path | None, names: Iterable[str]) -> str:
    """Where RoMAE by the paper's own settings leaves it behind; "" where nowhere."""
    found = []
    for name in names:
        mine = [r for r in runs("uea", "paper", root, dataset=name) if "accuracy_minirocket" in r.metrics]
        gap = _gap(mine, "accuracy", "accuracy_minirocket") if mine else None
        if gap and gap.low is not None and gap.low > 0:
            ours, theirs = (average(mine, key) for key in ("accuracy", "accuracy_minirocket"))
            found.append(f"{name} ({ours:.3f} against {theirs:.3f}, {gap.n} pairs)")
    return f" With the paper's settings RoMAE is ahead on {' and '.join(found)}." if found else ""


@finding
def pictures(root: Path | None) -> str | None:
    from ..lab.runs import paired

    usual = runs("tiny_imagenet", "small", root)
    left_out, kept = (
        paired(runs("tiny_imagenet", "small", root, cls=cls, pool="mean"), usual, "f1_macro") for cls in (False, True)
    )
    if any(gap is None or gap.low is None or gap.low <= 0 for gap in (left_out, kept)):
        return None
    with_cls, without = (
        next(c.value for c in CLAIMS if c.id == f"table-2-rope-{which}-f-score") for which in ("cls", "no-cls")
    )
    added = [f"{gap.mean:.3f} [{gap.low:.3f}, {gap.high:.3f}]" for gap in (left_out, kept)]
    return (
        "**On Tiny ImageNet it pays a small model to read the mean of the patches, with or without [CLS].** Table 2 "
        f"leaves [CLS] out and reads the mean, both at once, which adds {without - with_cls:.3f} to the F-score. With "
        f"a model of {usual[0].parameters:,} weights, at scores far lower, the two together add {added[0]} to the "
        "macro F1; "
        f"reading the mean with [CLS] still there adds {added[1]} ({kept.n} pairs of runs each). "
        "[Chapter 11](/notebooks/11_tiny_imagenet)"
    )


CLS = "03_cls"  # the chapter of [CLS]

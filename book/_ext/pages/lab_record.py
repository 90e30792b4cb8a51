"""A lab record: for one experiment, what was asked, every setting beside the paper's, every run, and what is missing.

    {lab_record} spirals          in the book; the body of the directive is the prose of "Tried and dropped"

Holds no number of its own: they come from the records under results/, the presets, and what the paper says of each
(`PROTOCOL` in the subject's file of romae_book/paper). What is shown is data here; `templates/lab_*.html` shows it.
"""

import dataclasses
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from romae_book.experiments import experiment
from romae_book.experiments.settings import budget, setting_values
from romae_book.lab import campaign
from romae_book.lab.planned import command_of
from romae_book.lab.records import TIERS, Record, load_all
from romae_book.lab.runs import Runs
from romae_book.lab.summary import decimals_for
from romae_book.paper.claims import CLAIMS, SUBJECTS
from romae_lite.training import NUMERICS

from .deviations import DEVIATIONS, read
from .templates import render, render_records

METRICS = 6  # that a table of runs has columns for
LISTED = 40  # metrics whose means are listed below it
SHOWN_CLAIMS = 12

# What a reader looks for first, in this order; a setting that an experiment lacks has no row.
STAGE = (
    "epochs", "batch", "steps", "samples_seen", "lr", "warmup", "optimizer", "beta1", "beta2", "weight_decay", "clip",
)
FIRST = (
    "training_set", *STAGE, "schedule", "precision", "dropout", "drop_path", "smoothing", "balanced", "pool", "readout",
    "mask_ratio", *(f"pretrain_{key}" for key in STAGE), "encoder", "decoder", "size", "parameters", "cls", "encoding",
    "p", "position_scale",
)
LABELS = {
    "training_set": "samples to train on", "steps": "steps", "samples_seen": "samples seen: epochs × training set",
    "warmup": "steps of warm-up", "pretrain_steps": "steps of pre-training",
    "pretrain_samples_seen": "samples seen in pre-training", "pretrain_warmup": "steps of warm-up in pre-training",
    "parameters": "weights of the model that is scored", "epochs": "passes over the training set",
}
DERIVED = {"warmup_share", "pretrain_warmup_share", "n_train"}  # shown as steps and as the size of the training set
TIER_WORDS = {
    "paper": "the paper's protocol", "own": "our own settings",
    "reduced": "the paper's settings, with less of something or something else",
    "ablation": "our settings with something changed", "smoke": "proves that the code runs; no result",
}


@dataclass(frozen=True)
class Section:
    """A part of the page: Markdown first, then HTML."""

    id: str
    title: str
    markdown: str = ""
    html: str = ""


def lab_record(name: str, dropped: str = "") -> list[Section]:
    """The page of one experiment, from the records in `results_dir()`. dropped: Markdown, what was tried and dropped.

    ValueError for an unknown experiment.
    """
    cls, loaded = experiment(name), load_all(experiment=name)
    tables = [run_table(group) for group in by_tier(Runs(loaded.records))]
    kept, ablations = ([t for t in tables if (t.tier == "ablation") is which] for which in (False, True))
    common = {
        "changed": any(not run.committed for run in loaded.records), "meanings": cls.meanings,
        "older": any(run.numerics != NUMERICS for run in loaded.records),
    }
    found = [
        Section("asked", "What was asked", purpose(cls), render("lab_claims.html", **claims(name))),
        Section("settings", "Settings", "", render("lab_settings.html", sheets=sheets(name))),
        Section("runs", "All runs", "", render_records("lab_runs.html", experiment=name, tables=kept, **common)),
    ]
    if ablations:
        html = render("lab_runs.html", tables=ablations, **common | {"changed": False, "older": False})
        found.append(Section("ablations", "Ablations", "", html))
    if dropped.strip():
        found.append(Section("dropped", "Tried and dropped", dropped))
    ids = {*cls.deviations, *(d for run in loaded.records for d in run.deviations)}
    found.append(Section("deviations", "Deviations that apply", deviations_markdown(ids)))
    found.append(Section("missing", "What is missing", "", render("lab_missing.html", **missing(name))))
    return found


# What was asked -------------------------------------------------------------------------------------------------------


def purpose(cls: type) -> str:
    """The experiment's own words: of its class, and of its module after the first line."""
    module = (sys.modules[cls.__module__].__doc__ or "").split("\n\n", 1)[-1]
    first = (cls.__doc__ or "").strip().split("\n\n")[0]
    return "\n\n".join(" ".join(text.replace("``", "`").split()) for text in (first, module))


def claims(name: str) -> dict[str, Any]:
    """What the paper reports, and where."""
    found = [claim for claim in CLAIMS if claim.experiment == name and not claim.quoted and claim.value is not None]
    lines = [f"{c.table}, {c.title}: {c.row}, {c.column}: {c.show()}" for c in found]
    return {"shown": lines[:SHOWN_CLAIMS], "more": lines[SHOWN_CLAIMS:]}


# Settings -------------------------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """A row of a table of settings. cells: of every preset its value, and whether that is not the paper's."""

    key: str  # "" where it is no setting but follows from others
    words: str
    paper: str
    remark: str
    cells: list[tuple[str, bool]]


class Sheet(NamedTuple):
    """One table of settings: the paper's beside every preset's. silent: of which the paper says nothing."""

    title: str
    source: str
    presets: list[tuple[str, str]]
    rows: list[Setting]
    silent: list[Setting]


def protocols(name: str) -> list[Mapping[str, Any]]:
    """What the paper says of an experiment's settings: one sheet, or several where the paper has a column for each data
    set. A sheet has "source" (which table), "settings" and, where needed, "where" (settings of ours that it belongs
    to), "remarks" (by setting) and "only" (the settings that matter)."""
    found = [sheet for paper in SUBJECTS for sheet in getattr(paper, "PROTOCOL", {}).get(name, ())]
    return found or [{"source": "not described", "settings": {}}]


def sheets(name: str) -> list[Sheet]:
    """The paper's settings beside each preset's, one for every sheet of `protocols`."""
    cls = experiment(name)
    presets = [preset for preset in cls.tiers if hasattr(cls, preset)]
    return [_sheet(cls, presets, sheet) for sheet in protocols(name)]


def _sheet(cls: type, presets: list[str], sheet: Mapping[str, Any]) -> Sheet:
    where, remarks, paper = sheet.get("where", {}), sheet.get("remarks", {}), sheet["settings"]
    for stage in ("", "pretrain_"):
        paper = budget(paper, stage) | paper
        if {f"{stage}warmup_share", f"{stage}steps"} <= paper.keys():
            paper |= {f"{stage}warmup": round(paper[f"{stage}warmup_share"] * paper[f"{stage}steps"])}
    ours = [setting_values(cls.preset(preset).replace(**where)) for preset in presets]
    docs = {field.name: field.metadata["doc"] for field in dataclasses.fields(cls)} | LABELS
    have = dict.fromkeys((*FIRST, *docs))  # in the order in which they are told
    keys = [key for key in have if any(key in values for values in ours) and key not in DERIVED]
    keys = [key for key in keys if key in sheet.get("only", keys)]

    def row(key: str) -> Setting:
        theirs = paper.get(key, "?")
        free = theirs == "?" or key in cls.variants
        cells = [
            (show(values[key]), not free and not same(theirs, values[key])) if key in values else ("–", False)
            for values in ours
        ]
        code = "" if key in LABELS and key != "epochs" else key
        return Setting(code, docs[key], show(theirs), remarks.get(key, ""), cells)

    known = [key for key in keys if key in FIRST or key in paper]
    return Sheet(
        ", ".join(f"{key} = {show(value)}" for key, value in where.items()), sheet["source"],
        [(preset, TIER_WORDS[cls.tiers[preset]]) for preset in presets],
        [row(key) for key in known], [row(key) for key in keys if key not in known],
    )


def same(paper: Any, ours: Any) -> bool:
    """Whether two settings say the same; numbers up to rounding, "4.67M" in its printed digits."""
    if isinstance(paper, str) and (short := re.fullmatch(r"([\d.]+)([KM])", paper)):
        digits = len(short[1].partition(".")[2])
        return f"{ours / {'K': 1e3, 'M': 1e6}[short[2]]:.{digits}f}" == short[1]
    numbers = [isinstance(x, int | float) and not isinstance(x, bool) for x in (paper, ours)]
    return math.isclose(paper, ours, rel_tol=1e-6) if all(numbers) else type(paper) is type(ours) and paper == ours


def show(value: Any) -> str:
    """A setting in words: yes, no, none, 12,800, 0.0003."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


# Runs -----------------------------------------------------------------------------------------------------------------


class RunTable(NamedTuple):
    """All runs of one setting. What is the same in all of them stands in `notes`, what is not in columns."""

    tier: str
    settings: tuple[str, ...]  # the preset, and what was changed
    notes: list[str]
    columns: dict[str, list[str]]
    foot: list[tuple[str, str]]  # of every column the mean and its interval, where there is one
    more: list[tuple[str, str]]  # means of metrics without a column
    left_out: int  # of these
    command: str


def by_tier(runs: Runs) -> list[Runs]:
    """Runs that differ in the seed alone, or in what changes a run's speed alone, ordered by tier."""
    groups = runs.by_setting().values()
    return sorted(groups, key=lambda g: (TIERS.index(g[0].tier), g[0].preset, len(g[0].planned.overrides)))


def metrics_of(name: str, runs: Iterable[Record]) -> list[str]:
    """The metrics that get a column: those that the paper's claims are about, where they are few, and the main ones."""
    have = list(dict.fromkeys(key for run in runs for key in run.metrics))
    claimed = list(
        dict.fromkeys(c.metric for c in CLAIMS if c.experiment == name and not c.quoted and c.metric in have)
    )
    return list(dict.fromkeys([*(claimed if len(claimed) <= METRICS else ()), *have[:3]]))[:METRICS]


def steps_of(run: Record) -> int:
    """Of all stages and networks: what is counted up to where another count begins."""
    ends = [
        now["step"] for now, then in pairwise([*run.history, {"step": -1}])
        if then["step"] < now["step"] or then.get("stage") != now.get("stage")
    ]
    return sum(ends)


def run_table(runs: Runs) -> RunTable:
    """The table of one setting: its data budget, every run, means and intervals over the seeds that count."""
    chosen = runs.counted()
    first = max(chosen, key=lambda run: TIERS.index(run.tier))  # of several precisions that which makes it less
    cls = experiment(first.experiment)
    usual = cls.preset(first.preset)  # a setting that says what the preset says anyway is no change
    changes = [(k, v) for k, v in first.config.items() if k in cls.variants]  # always: which row of the paper it is
    changes += [
        (k, v) for k, v in first.planned.overrides if k not in cls.neutral | cls.variants and v != getattr(usual, k)
    ]
    keys = [] if first.tier == "smoke" else metrics_of(first.experiment, runs)
    means = {key: having.summary(key) for key in keys if (having := chosen.having(key))}
    columns = {"seed": [str(run.seed) for run in runs]}
    for key in keys:
        digits = decimals_for(means[key].mean if key in means else 1.0, 4)
        if key in means and means[key].scattered:  # the smallest has its digits too
            digits += decimals_for(min(means[key].values) or 1.0, 1) - decimals_for(means[key].mean, 1)
        columns[key] = [f"{run.metrics[key]:.{digits}f}" if key in run.metrics else "–" for run in runs]
    columns["minutes"] = [f"{run.wall_seconds / 60:.{decimals_for(run.wall_seconds / 60, 2)}f}" for run in runs]
    columns["memory, MB"] = [f"{run.peak_memory_mb:,.0f}" for run in runs]
    shared = {
        "steps": [f"{steps_of(run):,} steps" for run in runs], "precision": [run.precision for run in runs],
        "device": [run.device for run in runs], "commit": [commit_words(run.commit) for run in runs],
        "arithmetic": ["today's arithmetic" if run.numerics == NUMERICS else "older arithmetic" for run in runs],
    }
    notes = [TIER_WORDS[first.tier], budget_words(first)]
    for what, words in shared.items():
        if len(set(words)) > 1:
            columns[what] = words
        elif words[0] != "today's arithmetic":
            notes.append(f"commit {words[0]}" if what == "commit" else words[0])
    if "precision" in columns:
        notes.append("where a seed was run in several precisions, fp32 counts")
    rest = [key for key in dict.fromkeys(k for run in chosen for k in run.metrics) if key not in keys]
    return RunTable(
        first.tier, (first.preset, *(f"{k}={show(v)}" for k, v in changes)), notes, columns,
        _foot(runs, chosen, means, columns) if keys else [],
        [(key, _mean(chosen, key)) for key in rest[:LISTED]] if keys else [], max(0, len(rest) - LISTED),
        command_of(run.planned for run in runs),
    )


def _mean(chosen: Runs, key: str) -> str:
    having = chosen.having(key)
    return f"{having.summary(key):n}" if len(having) < len(chosen) else f"{having.summary(key)}"


def _foot(runs: Runs, chosen: Runs, means: Mapping, columns: Iterable[str]) -> list[tuple[str, str]]:
    """Means over seeds, and from three on their intervals; nothing of a single run."""
    n = max((s.n for s in means.values()), default=0)
    if n < 2:
        return []
    words = "95 % interval" if n > 2 else "no interval of two"
    left_out = sorted({run.seed for run in runs} - {run.seed for run in chosen})
    cells = [(f"mean, n = {n}", words + "".join(f"; without seed {seed}" for seed in left_out))]
    for key in list(columns)[1:]:
        summary = means.get(key)
        mean, _, interval = f"{summary}".partition(" ") if summary else ("", "", "")
        if summary and summary.scattered:  # of what is never negative; the runs stand above
            interval = "scattered"
        if summary and summary.n < n:
            interval = f"of {summary.n}{'; ' * bool(interval)}{interval}"
        cells.append((mean, interval))
    return cells


def commit_words(commit: str) -> str:
    """ "230eb63" or "230eb63, changed"; outside a repository the hash of the files."""
    start = "files " + commit[8:15] if commit.startswith("content:") else commit[:7]
    return start + ", changed" * commit.endswith("+")


def budget_words(run: Record) -> str:
    """The data budget: how many samples, how often; made-up data are called so."""
    values = setting_values(run.planned.build())
    samples, steps = values.get("training_set"), steps_of(run)
    if not steps:
        return "nothing is trained"
    made_up = " made-up" if run.config.get("source") == "simulated" else ""
    size = "" if samples is None else f"{samples:,}{made_up} training samples, "
    seen = values.get("samples_seen", 0) + values.get("pretrain_samples_seen", 0)
    before = f"{values['pretrain_epochs']:,} epochs of pre-training and " if values.get("pretrain_epochs") else ""
    epochs = f"{before}{values['epochs']:,} epoch{'s' * (values['epochs'] > 1)}"
    networks = f" of each of {values['members']} networks" if values.get("members", 1) > 1 else ""
    return f"{size}{epochs}{networks}" + (f", {seen:,} samples seen" if seen else "")


# Deviations, and what is missing --------------------------------------------------------------------------------------


def deviations_markdown(ids: Iterable[str], page: Path = DEVIATIONS) -> str:
    """A list of links; ValueError for an id that the page lacks."""
    titles = {d.id: d.title for d in read(page.read_text(encoding="utf-8"))}
    if unknown := sorted(set(ids) - set(titles)):
        raise ValueError(f"deviations are {', '.join(unknown)}; {page.name} has none of that name")
    lines = [f"- {{ref}}`{d} <{d.lower()}>` · {titles[d]}" for d in sorted(ids, key=lambda d: int(d[1:]))]
    return "\n".join(lines) or "None."


def missing(name: str) -> dict[str, Any]:
    """Runs that are asked for and have no record, with the commands that make them."""
    planned, asked = campaign.missing([name]), sum(map(len, campaign.wishes(name)))
    return {"done": asked - len(planned), "asked": asked, "command": command_of(planned) if planned else ""}

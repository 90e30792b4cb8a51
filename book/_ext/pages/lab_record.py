"""A lab record: for one experiment, what was asked, every setting beside the paper's, every run, and what is missing.

    {lab_record} spirals          in the book; the body of the directive is the prose of "Tried and dropped"

Holds no number of its own: they come from the records under results/, the presets, and what the paper says of each
(`PROTOCOL` in the subject's paper.py).
"""

import dataclasses
import html
import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from romae_book.experiments import experiment
from romae_book.experiments.settings import budget, setting_values
from romae_book.lab import run as runs
from romae_book.lab.planned import command_of
from romae_book.lab.records import TIERS, Record, counted, load_all
from romae_book.lab.summary import Summary, decimals_for, summarise
from romae_book.paper.claims import CLAIMS, SUBJECTS

from .deviations import DEVIATIONS, read

METRICS = 6  # that a table of runs has columns for
LISTED = 40  # metrics whose means are listed below it
SHOWN_CLAIMS = 12

# What a reader looks for first, in this order; a setting that an experiment lacks has no row.
STAGE = (
    "epochs",
    "batch",
    "steps",
    "samples_seen",
    "lr",
    "warmup",
    "optimizer",
    "beta1",
    "beta2",
    "weight_decay",
    "clip",
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

# Colours are the page's own: currentColor, or the theme's variables.
STYLE = """
.romae-lab{--line:color-mix(in srgb,currentColor 20%,transparent);font-family:var(--romae-sans,sans-serif);
 margin:0 0 1.2em}
.romae-lab .wide{overflow-x:auto;margin:.4em 0 1em}
.romae-lab table{border-collapse:collapse;width:auto;min-width:min(100%,30em);font-size:.84em;color:inherit;
 background:none;margin:0}
.romae-lab :is(th,td){padding:.35em .8em .35em .3em;text-align:left;vertical-align:top;background:none;color:inherit;
 border:0!important;border-bottom:1px solid var(--line)!important}
.romae-lab thead th{font-weight:600}
.romae-lab tbody th{font-weight:400}
.romae-lab .settings tbody th{min-width:8em;max-width:20em}
.romae-lab .runs :is(th,td){white-space:nowrap}
.romae-lab tfoot :is(th,td){font-weight:600}
.romae-lab td{font-variant-numeric:tabular-nums}
.romae-lab .number{text-align:right;white-space:nowrap}
.romae-lab .paper{border-right:1px solid var(--line)!important;min-width:7em;max-width:15em}
.romae-lab :is(.hint,.note){font-size:.9em;opacity:.8}
.romae-lab .hint{display:block}
.romae-flag{font-size:.82em;font-weight:600;white-space:nowrap;padding:0 .35em;border-radius:.3em;
 border:1px solid var(--tone,currentColor);--tone:var(--pst-color-warning,currentColor)}
.romae-flag:is(.no,.unknown){--tone:var(--line)}
.romae-lab :is(p,ul){font-size:.88em;margin:.3em 0}
.romae-lab h3{font-size:1.02rem;margin:1.6em 0 .2em}
.romae-lab h3 code{font-size:.95em}
.romae-lab code{color:inherit;background:none;border:0;padding:0;overflow-wrap:anywhere}
.romae-lab pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.78em;margin:.4em 0}
.romae-lab details{font-size:.88em;margin:.3em 0 .6em}
.romae-lab details :is(p,ul,table){font-size:1em}
.romae-lab summary{cursor:pointer}
.romae-lab ul.metrics{columns:18em;font-size:.95em;margin:.4em 0;padding-left:1.1em;font-variant-numeric:tabular-nums}
"""


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
    settings = by_setting(loaded.records)
    kept, ablations = (
        [g for g in settings if (g[0].tier == "ablation") is is_ablation] for is_ablation in (False, True)
    )
    found = [
        Section("asked", "What was asked", asked(cls), claims_html(name)),
        Section("settings", "Settings", "", settings_html(name)),
        Section("runs", "All runs", "", _runs(kept) + _problems(loaded.problems)),
    ]
    if ablations:
        found.append(Section("ablations", "Ablations", "", _runs(ablations)))
    if dropped.strip():
        found.append(Section("dropped", "Tried and dropped", dropped))
    ids = {*cls.deviations, *(d for r in loaded.records for d in r.deviations)}
    found.append(Section("deviations", "Deviations that apply", deviations_markdown(ids)))
    found.append(Section("missing", "What is missing", "", missing_html(name)))
    return found


# What was asked -------------------------------------------------------------------------------------------------------


def asked(cls: type) -> str:
    """The experiment's own words: of its class, and of its module after the first line."""
    module = (sys.modules[cls.__module__].__doc__ or "").split("\n\n", 1)[-1]
    first = (cls.__doc__ or "").strip().split("\n\n")[0]
    return f"{_plain(first)}\n\n{_plain(module)}"


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def claims_html(name: str) -> str:
    """What the paper reports, and where."""
    claims = [claim for claim in CLAIMS if claim.experiment == name and not claim.quoted and claim.value is not None]
    items = [f"<li>{_text(f'{c.table}, {c.title}: {c.row}, {c.column}: {c.show()}')}</li>" for c in claims]
    if not items:
        return _box("<p>The paper prints no number for it.</p>")
    shown, more = "".join(items[:SHOWN_CLAIMS]), "".join(items[SHOWN_CLAIMS:])
    if more:
        more = f"<details><summary>{len(items) - SHOWN_CLAIMS} more</summary><ul>{more}</ul></details>"
    return _box(f"<p>What the paper and its authors' repositories report of it:</p><ul>{shown}</ul>{more}")


# Settings -------------------------------------------------------------------------------------------------------------


def protocols(name: str) -> list[Mapping[str, Any]]:
    """What the paper says of an experiment's settings: one sheet, or several where the paper has a column for each data
    set. A sheet has "source" (which table), "settings" and, where needed, "where" (settings of ours that it belongs
    to), "remarks" (by setting) and "only" (the settings that matter)."""
    found = [sheet for paper in SUBJECTS for sheet in getattr(paper, "PROTOCOL", {}).get(name, ())]
    return found or [{"source": "not described", "settings": {}}]


def settings_html(name: str) -> str:
    """The paper's settings beside each preset's, a table for every sheet of `protocols`."""
    cls = experiment(name)
    legend = (
        '<p><span class="romae-flag">differs</span> marks what is not the paper\'s value, “?” what the paper does not '
        "say or nobody here could read. Steps and samples seen follow from epochs, batch and training set.</p>"
    )
    presets = [preset for preset in cls.tiers if hasattr(cls, preset)]
    tables = [_sheet(cls, presets, sheet) for sheet in protocols(name)]
    if len(tables) > 1:
        tables = [f"<details><summary>{_text(title)}</summary>{table}</details>" for title, table in tables]
    else:
        tables = [table for _, table in tables]
    return _box(legend + "".join(tables))


def _sheet(cls: type, presets: list[str], sheet: Mapping[str, Any]) -> tuple[str, str]:
    """Its title, and the table with what the paper does not name folded below it."""
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
    heads = "".join(f'<th scope="col"><code>{p}</code>{_hint(TIER_WORDS[cls.tiers[p]])}</th>' for p in presets)
    source = f'<th scope="col" class="paper">The paper{_hint(sheet["source"])}</th>'
    title = ", ".join(f"{key} = {show(value)}" for key, value in where.items())

    def row(key: str) -> str:
        said = paper.get(key, "?")
        cells = f'<td class="paper">{_text(show(said))}{_hint(remarks.get(key, ""))}</td>'
        for values in ours:
            known = key in values
            differs = known and said != "?" and key not in cls.variants and not same(said, values[key])
            mark = ' <span class="romae-flag">differs</span>' if differs else ""
            cells += f"<td>{_text(show(values[key])) if known else '–'}{mark}</td>"
        code = "" if key in LABELS and key != "epochs" else f" <code>{key}</code>"
        return f'<tr><th scope="row">{_text(docs[key])}{code}</th>{cells}</tr>'

    def table(keys: list[str], which: str) -> str:
        head = f'<thead><tr><th scope="col">Setting</th>{source}{heads}</tr></thead>'
        body = "".join(map(row, keys))
        return _wide(f'<table class="settings">{head}<tbody>{body}</tbody></table>', f"{which} {title}".strip())

    told = [key for key in keys if key in FIRST or key in paper]
    silent = [key for key in keys if key not in told]
    words = f"{len(silent)} more settings, of which the paper says nothing"
    rest = table(silent, "more settings") if silent else ""
    rest = f"<details><summary>{words}</summary>{rest}</details>" if rest else ""
    return title, table(told, "settings") + rest


def _hint(words: str) -> str:
    return f'<span class="hint">{_text(words)}</span>' if words else ""


def same(said: Any, ours: Any) -> bool:
    """Whether two settings say the same; numbers up to rounding, "4.67M" in its printed digits."""
    if isinstance(said, str) and (short := re.fullmatch(r"([\d.]+)([KM])", said)):
        digits = len(short[1].partition(".")[2])
        return f"{ours / {'K': 1e3, 'M': 1e6}[short[2]]:.{digits}f}" == short[1]
    numbers = [isinstance(x, int | float) and not isinstance(x, bool) for x in (said, ours)]
    return math.isclose(said, ours, rel_tol=1e-6) if all(numbers) else type(said) is type(ours) and said == ours


def show(value: Any) -> str:
    """A setting in words: yes, no, none, 12,800, 0.0003."""
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


# Runs -----------------------------------------------------------------------------------------------------------------


def by_setting(records: Iterable[Record]) -> list[list[Record]]:
    """Records that differ in the seed alone, or in what changes a run's speed alone, ordered by tier."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        setting = experiment(record.experiment).protocol(record.config)
        groups.setdefault(json.dumps(setting, sort_keys=True), []).append(record)
    for group in groups.values():
        group.sort(key=lambda r: (r.seed, r.precision))
    return sorted(groups.values(), key=lambda g: (TIERS.index(g[0].tier), g[0].preset, len(g[0].planned.overrides)))


def metrics_of(name: str, records: Iterable[Record]) -> list[str]:
    """The metrics that get a column: those that the paper's claims are about, where they are few, and the main ones."""
    have = list(dict.fromkeys(key for record in records for key in record.metrics))
    claimed = list(
        dict.fromkeys(c.metric for c in CLAIMS if c.experiment == name and not c.quoted and c.metric in have)
    )
    return list(dict.fromkeys([*(claimed if len(claimed) <= METRICS else ()), *have[:3]]))[:METRICS]


def steps_of(record: Record) -> int:
    """Of all stages."""
    return sum({entry.get("stage"): entry["step"] for entry in record.history}.values())


def _runs(groups: list[list[Record]]) -> str:
    if not groups:
        return _box("<p>No record yet.</p>")
    changed = any(not record.committed for group in groups for record in group)
    note = (
        "<p>“changed”: files of the package differed from that commit when the run began. Such runs count for "
        "means where fewer than three others are there; the scoreboard does not judge them.</p>"
    ) * changed
    meanings = experiment(groups[0][0].experiment).meanings
    if meanings:
        terms = "; ".join(f"<code>{_text(key)}</code>: {_text(words)}" for key, words in meanings.items())
        note += f"<p>{terms}.</p>"
    return _box(note + "".join(map(_group, groups)))


def _group(records: list[Record]) -> str:
    """One setting: its data budget, its table of runs, means and intervals over seeds, other metrics, the command.

    What is the same in all runs is said once, above the table.
    """
    chosen = counted(records)
    first = max(chosen, key=lambda r: TIERS.index(r.tier))  # of several precisions that which makes it less
    cls = experiment(first.experiment)
    usual = cls.preset(first.preset)  # a setting that says what the preset says anyway is no change
    told = [(k, v) for k, v in first.config.items() if k in cls.variants]  # always: which row of the paper it is
    told += [
        (k, v) for k, v in first.planned.overrides if k not in cls.neutral | cls.variants and v != getattr(usual, k)
    ]
    settings = (first.preset, *(f"{k}={show(v)}" for k, v in told))
    name, runs_of = " ".join(f"<code>{_text(t)}</code>" for t in settings), f"runs of {' '.join(settings)}"
    left_out = sorted({r.seed for r in records} - {r.seed for r in chosen})
    keys = [] if first.tier == "smoke" else metrics_of(first.experiment, records)
    sums = {key: summarise(r.metrics[key] for r in chosen if key in r.metrics) for key in keys}
    columns = {"seed": [str(r.seed) for r in records]}
    for key, summary in sums.items():
        digits = decimals_for(summary.mean, 4)
        columns[key] = [f"{r.metrics[key]:.{digits}f}" if key in r.metrics else "–" for r in records]
    columns["minutes"] = [f"{r.wall_seconds / 60:.{decimals_for(r.wall_seconds / 60, 2)}f}" for r in records]
    columns["memory, MB"] = [f"{r.peak_memory_mb:,.0f}" for r in records]
    shared = {
        "steps": [f"{steps_of(r):,} steps" for r in records], "precision": [r.precision for r in records],
        "device": [r.device for r in records], "commit": [commit_words(r.commit) for r in records],
    }
    notes = [TIER_WORDS[first.tier], budget_words(first)]
    for what, words in shared.items():
        if len(set(words)) == 1:
            notes.append(f"commit {words[0]}" if what == "commit" else words[0])
        else:
            columns[what] = words
    if "precision" in columns:
        notes.append("where a seed was run in several precisions, fp32 counts")
    head = "".join(f'<th scope="col"{_number(key)}>{_text(key)}</th>' for key in columns)
    body = "".join(
        f"<tr>{''.join(f'<td{_number(key)}>{_text(cell)}</td>' for key, cell in zip(columns, row, strict=True))}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    body = f"<tbody>{body}</tbody>{_foot(sums, columns, left_out)}"
    table = f'<table class="runs"><thead><tr>{head}</tr></thead>{body}</table>'
    return (
        f"<h3>{name}</h3><p>{_text('; '.join(notes))}.</p>{_wide(table, runs_of)}"
        f"{_metrics(chosen, keys) if keys else ''}<details><summary>Command</summary>"
        f"<pre>{_text(command_of(r.planned for r in records))}</pre></details>"
    )


def _foot(sums: Mapping[str, Summary], columns: Iterable[str], left_out: Iterable[int]) -> str:
    """Means over seeds, and from three on their intervals; nothing of a single run. left_out: seeds that do not
    count."""
    n = max((s.n for s in sums.values()), default=0)
    if n < 2:
        return ""
    cells = ""
    for key in list(columns)[1:]:
        mean, _, interval = sums[key].text().partition(" ") if key in sums else ("", "", "")
        if key in sums and sums[key].scattered:  # of what is never negative; the runs stand above
            interval = "scattered"
        if key in sums and sums[key].n < n:
            interval = f"of {sums[key].n}{'; ' * bool(interval)}{interval}"
        cells += f'<td class="number">{mean}{_hint(interval)}</td>'
    words = "95 % interval" if n > 2 else "no interval of two"
    words += "".join(f"; without seed {seed}" for seed in left_out)
    return f'<tfoot><tr><th scope="row">mean, n = {n}{_hint(words)}</th>{cells}</tr></tfoot>'


def _wide(table: str, name: str) -> str:
    """A box that scrolls, and that the keyboard can reach; its name sets it apart from the others of the page."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{_text(name)}">{table}</div>'


def _number(column: str) -> str:
    return "" if column in ("seed", "precision", "device", "commit") else ' class="number"'


def commit_words(commit: str) -> str:
    """ "230eb63" or "230eb63, changed"; outside a repository the hash of the files."""
    start = "files " + commit[8:15] if commit.startswith("content:") else commit[:7]
    return start + ", changed" * commit.endswith("+")


def budget_words(record: Record) -> str:
    """The data budget: how many samples, how often; made-up data are called so."""
    values = setting_values(record.planned.build())
    samples, steps = values.get("training_set"), steps_of(record)
    if not steps:
        return "nothing is trained"
    made_up = " made-up" if record.config.get("source") == "simulated" else ""
    size = "" if samples is None else f"{samples:,}{made_up} training samples, "
    seen = values.get("samples_seen", 0) + values.get("pretrain_samples_seen", 0)
    before = f"{values['pretrain_epochs']:,} epochs of pre-training and " if values.get("pretrain_epochs") else ""
    epochs = f"{before}{values['epochs']:,} epoch{'s' * (values['epochs'] > 1)}"
    return f"{size}{epochs}" + (f", {seen:,} samples seen" if seen else "")


def _metrics(records: Iterable[Record], shown: list[str]) -> str:
    """Means of the metrics that have no column, rivals' among them."""
    records = list(records)
    names = [key for key in dict.fromkeys(k for r in records for k in r.metrics) if key not in shown]
    if not names:
        return ""
    items = ""
    for key in names[:LISTED]:
        of = summarise(r.metrics[key] for r in records if key in r.metrics)
        items += f"<li><code>{_text(key)}</code> {of.text()}{f', n = {of.n}' * (of.n < len(records))}</li>"
    more = f"<p>{len(names) - LISTED} more stand in the records.</p>" if len(names) > LISTED else ""
    return f'<details><summary>{len(names)} more metrics</summary><ul class="metrics">{items}</ul>{more}</details>'


def _problems(problems: Iterable) -> str:
    items = "".join(f"<li><code>{_text(p.path.name)}</code>: {_text(p.reason)}</li>" for p in problems)
    return _box(f"<p>Files that were not used:</p><ul>{items}</ul>") if items else ""


# Deviations, and what is missing --------------------------------------------------------------------------------------


def deviations_markdown(ids: Iterable[str], page: Path = DEVIATIONS) -> str:
    """A list of links; ValueError for an id that the page lacks."""
    titles = {d.id: d.title for d in read(page.read_text(encoding="utf-8"))}
    if unknown := sorted(set(ids) - set(titles)):
        raise ValueError(f"deviations are {', '.join(unknown)}; {page.name} has none of that name")
    lines = [f"- {{ref}}`{d} <{d.lower()}>` · {titles[d]}" for d in sorted(ids, key=lambda d: int(d[1:]))]
    return "\n".join(lines) or "None."


def missing_html(name: str) -> str:
    """Runs that are asked for and have no record, with the commands that make them."""
    planned, asked = runs.missing([name]), sum(map(len, runs.wishes(name)))
    done = f"{asked - len(planned):,} of {asked:,} runs that are planned have a record"
    if not planned:
        return _box(f"<p>{done}.</p>")
    return _box(f"<p>{done}. These make the others, most valuable first:</p><pre>{_text(command_of(planned))}</pre>")


def _box(inner: str) -> str:
    return f'<div class="romae-lab">{inner}</div>'


def _text(text: Any) -> str:
    return html.escape(str(text), quote=True)

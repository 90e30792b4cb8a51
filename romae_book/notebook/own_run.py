"""The reader's own run of a chapter: beside the recorded ones, and kept as a record of its own under ``runs/``."""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from IPython.display import Markdown
from torch import nn

from romae_lite.model import count_parameters
from romae_lite.training import accelerator_for

from ..experiments.base import Experiment, Splits
from ..experiments.data import home
from ..experiments.machine import device_name, peak_memory_mb
from ..lab import provenance
from ..lab.planned import Planned, record_path
from ..lab.records import Record
from ..lab.runs import Runs


def keep(
    exp: Experiment, seed: int, data: Splits, model: nn.Module, history: Sequence[dict], metrics: Mapping[str, float],
    root: Path | None = None,
) -> Path:
    """Write the run as a record: ``runs/<experiment>/quick-...-s<seed>.json`` in the repository, which git ignores.

    root: another folder. A record there of the same settings and seed is replaced.
    """
    preset = type(exp).preset("quick").config()
    changed = tuple((name, value) for name, value in exp.config().items() if value != preset[name])
    planned = Planned(experiment=exp.name, preset="quick", seed=seed, overrides=changed)
    accelerator = accelerator_for(exp.precision)
    record = Record(
        experiment=exp.name, preset="quick", tier=planned.tier, config=exp.config(), seed=seed, metrics=dict(metrics),
        history=list(history), parameters=count_parameters(model), device=device_name(accelerator.device),
        precision=provenance.precision_of(accelerator), wall_seconds=history[-1]["seconds"],
        peak_memory_mb=peak_memory_mb(accelerator.device), tokens_per_second=history[-1]["tokens_per_second"],
        versions=provenance.versions(), commit=provenance.loaded_commit(),
        data_fingerprint=provenance.fingerprint(data), command=planned.command, deviations=list(exp.deviations),
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), overrides=dict(changed),
    )
    path = record_path(exp.name, "quick", dict(changed), seed, root or home() / "runs")
    path.parent.mkdir(parents=True, exist_ok=True)
    return record.save(path)


def beside(exp: Experiment, metrics: Mapping[str, float], metric: str, runs: Runs, what: str) -> Markdown:
    """One or two sentences: the run's number, and where it lies among recorded runs. what: the metric in words."""
    mine = f"Your run: {what} is **{metrics[metric]:.3g}**."
    if not runs:
        return Markdown(f"{mine} We have recorded no run to set beside it.")
    ours, theirs = runs.summary(metric), runs[0].config
    differences = ", ".join(
        f"`{name}={value}` (ours {theirs[name]})" for name, value in exp.protocol(exp.config()).items()
        if value != theirs[name]
    )
    if differences:
        return Markdown(f"{mine} Our {ours.n} recorded runs have {ours.mean:.3g}. Your settings: {differences}.")
    place = "inside" if ours.low is not None and ours.low <= metrics[metric] <= ours.high else "outside"
    return Markdown(f"{mine} It has the settings of our {ours.n} runs and lies {place} their interval: {ours.text()}.")

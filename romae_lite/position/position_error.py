"""Where in the range a model errs: the error of a named position against the position (paper Figure 2, App. B.1).

Everything drawn is recorded: the sweeps that `python -m romae_lite run position_range` keeps (500 evenly spaced
positions), and the errors by place of `python -m romae_lite run position`. The paper's numbers, where it gives them,
come from `paper.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..page import svg
from ..page.explorable import Explorable, not_recorded
from ..page.gallery import figure
from ..page.palette import PALETTE
from .moving_tokens import ORDER, blind, describe, told

SCRIPT = Path(__file__).with_suffix(".js")
DIGITS = 4  # significant ones that travel
COMMAND = "python -m romae_lite run position_range --preset best --seeds 0"


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Errors of one model over its range, once for every seed.

    positions (K,), increasing; absolute and signed (S, K): sizes and means of the errors at each. paper: what the paper
    says of this model: any of "first", "last", "central" (mean over the middle 80 %), absolute errors.
    """

    name: str
    positions: np.ndarray
    absolute: np.ndarray
    signed: np.ndarray
    paper: Mapping[str, float] = field(default_factory=dict)
    source: str = ""


def payload(sweeps: Sequence[Sweep]) -> dict:
    """What the page needs, as JSON. ValueError names what does not fit."""
    listed = []
    for sweep in sweeps:
        positions = np.asarray(sweep.positions, dtype=float)
        if positions.ndim != 1 or len(positions) < 2 or (np.diff(positions) <= 0).any():
            raise ValueError(f"positions of {sweep.name!r} must be increasing, at least two")
        curves = {"absolute": np.asarray(sweep.absolute), "signed": np.asarray(sweep.signed)}
        for key, curve in curves.items():
            if curve.ndim != 2 or curve.shape[1] != len(positions) or not len(curve) or not np.isfinite(curve).all():
                raise ValueError(f"{key} of {sweep.name!r} must be finite, of shape (S, {len(positions)})")
        listed.append({
            "name": sweep.name, "source": sweep.source, "paper": dict(sweep.paper),
            "positions": [round(float(x), 4) for x in positions],
            **{key: [[float(f"{v:.{DIGITS}g}") for v in row] for row in curve] for key, curve in curves.items()},
        })  # fmt: skip
    return {"models": listed}


def read(data: dict, model: int, i: int) -> tuple[float, float, float, float]:
    """Position i of a model, and the absolute error there: mean, lowest and highest over the seeds."""
    chosen = data["models"][model]
    column = [row[i] for row in chosen["absolute"]]
    return chosen["positions"][i], sum(column) / len(column), min(column), max(column)


def still(data: dict) -> str:
    """The first model's mean error, on a logarithmic scale."""
    model, (width, height, left, bottom) = data["models"][0], (700, 300, 60, 260)
    mean = np.maximum(np.mean(model["absolute"], axis=0), 1e-9)
    low, high = 10 ** np.floor(np.log10(np.percentile(mean, 5))), 10 ** np.ceil(np.log10(mean.max()))
    positions = np.array(model["positions"])
    x = left + (width - left - 20) * (positions - positions[0]) / (positions[-1] - positions[0])
    y = bottom - (bottom - 50) * np.log(np.maximum(mean, low) / low) / np.log(high / low)
    body = svg.label(left, 24, model["name"], font_weight=600)
    body += svg.label(left, 42, "mean absolute error against position")
    for level in 10.0 ** np.arange(np.log10(low), np.log10(high) + 0.5):
        at = bottom - (bottom - 50) * np.log(level / low) / np.log(high / low)
        body += svg.line([(left, at), (width - 20, at)], stroke="#ddd")
        body += svg.label(left - 8, at + 4, f"{level:g}", text_anchor="end")
    for value in np.linspace(positions[0], positions[-1], 6):
        at = left + (width - left - 20) * (value - positions[0]) / (positions[-1] - positions[0])
        body += svg.label(at, bottom + 20, f"{value:.0f}", text_anchor="middle")
    body += svg.line(zip(x, y, strict=True), stroke=PALETTE["blue"][0], stroke_width=2)
    return svg.picture(width, height, body)


def explorable(sweeps: Sequence[Sweep], note: str = "") -> Explorable:
    """The figure from recorded sweeps, the first of which opens it."""
    data = payload(sweeps)
    return Explorable(
        name="position_error",
        script=SCRIPT,
        data=data,
        height=280,
        fallback=still(data),
        title="How far off, and where?",
        caption="Move along the range to read the error of the named position there: thin lines are single seeds, the "
        "thick one is their mean. Orange, where the paper gives numbers: its error at both ends and its mean over the "
        f"middle 80 % of the range. {note}".rstrip(),
    )


@figure("position_error")
def from_results(root: Path | None = None) -> Explorable:
    """The figure from the records of "position_range" and "position": every setting recorded, with all its seeds."""
    from ..lab import records  # here: the other figures need nothing but the standard library and numpy

    groups: dict[str, list] = {}
    reasons = []
    for experiment in ("position_range", "position"):
        loaded = records.load_all(root, experiment=experiment)
        for record in loaded.records:
            if record.tier == "smoke" or not told(record) or (blind(record.config) and record.config["size"] != "tiny"):
                continue
            keys = ("positions", "error", "error") if experiment == "position_range" else ("grid", "absolute", "bias")
            try:
                arrays = record.arrays
                group = groups.setdefault(_name(record), [])
                if group and group[0][0].config != record.config:
                    raise ValueError(f"its settings are not those of {group[0][0].command}")
                group.append((record, *(arrays[key] for key in keys)))
            except (ValueError, OSError, KeyError) as error:
                reasons.append(f"{record.path.stem} cannot be used ({error}).")
    sweeps = [
        _sweep(name, group) for name, group in sorted(groups.items(), key=lambda item: _rank(item[1][0][0])) if group
    ]
    if not sweeps:
        return not_recorded("position_error", "How far off, and where", COMMAND, reasons)
    return explorable(sweeps, note=" ".join(["Every error is recorded.", *reasons]))


def _name(record) -> str:
    name = describe(record)[0]
    if record.experiment == "position":
        return f"Ten tokens, {name}"
    return f"One token, {record.config['low']:g} to {record.config['high']:g} {name[name.rindex('(') :]}"


def _rank(record) -> tuple:
    """Figure 2's ranges first, the smaller one before the larger one; our settings after the paper's; last of all runs
    that were cut short."""
    anchor, cut_short = ORDER.index(describe(record)[1]), record.tier == "reduced"
    return cut_short, record.experiment == "position", record.config["high"], anchor, record.preset != "paper"


def _sweep(name: str, group: Sequence[tuple]) -> Sweep:
    from ..lab.claims import CLAIMS
    from ..lab.planned import command_of

    records, positions, absolute, signed = zip(*group, strict=True)
    keys = {"mae_first": "first", "mae_last": "last", "mae_central": "central"}
    said = {
        keys[claim.metric]: claim.value
        for claim in CLAIMS
        if claim.experiment == records[0].experiment
        and claim.metric in keys
        and all(records[0].config.get(key) == value for key, value in claim.where.items())
    }
    seeds = f"{len(records)} seed{'s' * (len(records) > 1)}, tier {records[0].tier}"
    return Sweep(
        name=name,
        positions=positions[0],
        absolute=np.abs(absolute),
        signed=np.array(signed),
        paper=said,
        source=f"{seeds}: {command_of(r.planned for r in records)}",
    )

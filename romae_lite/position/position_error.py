"""Where in the range a model errs: the error of a named position against the position (paper Figure 2, App. B.1).

Everything drawn is recorded: the sweeps that `python -m romae_lite run position_range` keeps (500 evenly spaced
positions), and the errors by place of `python -m romae_lite run position`. The paper's numbers, where it gives them,
come from `paper.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..lab.records import Record
from ..page import svg
from ..page.explorable import Drawable, Explorable, checked, drawn
from ..page.gallery import figure
from ..page.palette import PALETTE
from .moving_tokens import ORDER, describe, kinds

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
        given = {"positions": sweep.positions, "absolute": sweep.absolute, "signed": sweep.signed}
        try:
            a = checked(given, positions="K", absolute="S K", signed="S K")
        except ValueError as error:
            raise ValueError(f"{error} (model {sweep.name!r})") from error
        if len(a["positions"]) < 2 or (np.diff(a["positions"]) <= 0).any() or a["absolute"].min() < 0:
            raise ValueError(f"positions of {sweep.name!r} must increase, at least two, absolute must not be negative")
        listed.append({
            "name": sweep.name, "source": sweep.source, "paper": dict(sweep.paper),
            "positions": [round(float(x), 4) for x in a["positions"]],
            **{key: [[float(f"{v:.{DIGITS}g}") for v in row] for row in a[key]] for key in ("absolute", "signed")},
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

    def draw(runs: list[Drawable]) -> Explorable:
        groups: dict[str, list[Drawable]] = {}
        for run in runs:
            groups.setdefault(_name(run[0]), []).append(run)
        ranked = sorted(groups.items(), key=lambda item: _rank(item[1][0][0]))
        return explorable([_sweep(name, group) for name, group in ranked], note="Every error is recorded.")

    runs = [run for experiment in ("position_range", "position") for kind in kinds(experiment, root) for run in kind]
    return drawn("position_error", "How far off, and where", COMMAND, [[run] for run in runs], draw, root)


def _name(record: Record) -> str:
    name = describe(record)[0]
    if record.experiment == "position":
        return f"Ten tokens, {name}"
    return f"One token, {record.config['low']:g} to {record.config['high']:g} {name[name.rindex('(') :]}"


def _rank(record: Record) -> tuple:
    """Figure 2's ranges first, the smaller one before the larger one; our settings after the paper's; last of all runs
    that were cut short."""
    anchor, cut_short = ORDER.index(describe(record)[1]), record.tier == "reduced"
    return cut_short, record.experiment == "position", record.config["high"], anchor, record.preset != "paper"


def _sweep(name: str, group: Sequence[Drawable]) -> Sweep:
    from ..lab.claims import CLAIMS
    from ..lab.planned import command_of

    records = [record for record, _ in group]
    first = records[0]
    where, absolute, signed = (
        ("grid", "absolute", "bias") if first.experiment == "position" else ("positions", "error", "error")
    )
    read = [checked(arrays, **dict.fromkeys((where, absolute, signed), "K")) for _, arrays in group]
    if any(not np.array_equal(arrays[where], read[0][where]) for arrays in read):
        raise ValueError(f"its {where} is not that of {first.path.stem}")
    keys = {"mae_first": "first", "mae_last": "last", "mae_central": "central"}
    said = {
        keys[claim.metric]: claim.value
        for claim in CLAIMS
        if claim.experiment == first.experiment
        and claim.metric in keys
        and all(first.config.get(key) == value for key, value in claim.where.items())
    }
    seeds = f"{len(records)} seed{'s' * (len(records) > 1)}, tier {first.tier}"
    return Sweep(
        name=name,
        positions=read[0][where],
        absolute=np.abs([arrays[absolute] for arrays in read]),
        signed=np.array([arrays[signed] for arrays in read]),
        paper=said,
        source=f"{seeds}: {command_of(record.planned for record in records)}",
    )

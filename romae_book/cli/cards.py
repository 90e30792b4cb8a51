"""Models by name and their cards: what each is, what it was trained on, how it was graded, and what it is not for.

python -m romae_book.cli.cards             writes romae_lite/models/ anew from the records
python -m romae_book.cli.cards FOLDER      writes them there
"""

import hashlib
import json
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from romae_lite import save, zoo
from romae_lite.io import atomic_write

from ..lab.planned import Planned
from ..lab.records import Record, from_arrays, load_arrays, load_sound


@dataclass(frozen=True, kw_only=True)
class Card:
    """A model in words. Its numbers are those of its record.

    command: of the run that made it. grades: metrics of its record, with what they mean.
    """

    command: str
    what: str
    trained_on: str
    limits: str
    grades: dict[str, str]
    columns: dict[str, str] = field(default_factory=dict)  # of a further table: metrics, with what they mean ...
    groups: dict[str, str] = field(default_factory=dict)  # ... and its rows: endings of these metrics, likewise

    @property
    def record(self) -> Path:
        return Planned.of(self.command).path


CARDS = {
    "filler": Card(
        command="python -m romae_lite run priors --preset page --seeds 0",
        what="Fills any one-dimensional series without training: mean and deviation of a measurement at any time. It "
        "corrects straight lines: how wrong these are is measured at the points of the series, each left out in turn, "
        "and the model says by how much of that the truth lies off the line. `romae_lite.fill` averages it with "
        "Gaussian processes, each by how sure it is; the numbers here are of the model alone.",
        trained_on="draws made by `romae_book/experiments/priors/data.py`: smooth, Matérn, rough and periodic curves, "
        "random walks, trends, jumps, and sums of these; amplitudes and noise that change along the series, heavy "
        "tails and outliers, skewed and rounded values; beats, bursts, holes and drifting spacing; gaps of up to 24 "
        "points, forecasts and backcasts of as many; with the errors of measurement told in a third of the series. "
        "The targets were the best possible answers, where the draw has one.",
        limits="One value at a time, three points at least; of a longer series it sees windows of 96 points, so "
        "nothing that repeats more slowly. Bands are those of a normal distribution for one time, not of whole "
        "curves. Periods are carried across a gap only in part, and wide gaps in smooth curves are where a Gaussian "
        "process with the right kernel is better. Known errors narrow the band where they are small; a value with a "
        "large one still draws the curve towards it, so `romae_lite.fill` tells them to the processes alone. A quiet "
        "stretch in a loud series gets a band too wide. The best answers of the table know where the jumps are, which "
        "nobody can. Where you have many series of a kind, tune it on those (`Interpolator`).",
        grades={
            "nll_gap": "negative log-likelihood of a measurement, above that of the best possible answer: nats",
            "mse_ratio": "squared error to the curve, over the best possible: geometric mean",
            "coverage68": "share of measurements within the band of 68.27 %",
            "coverage95": "share of measurements within the band of 95 %",
            "nll_gap_gp": "the same gap of a Gaussian process, with the likeliest kernel of a grid: nats",
            "mse_ratio_gp": "the same ratio of that Gaussian process",
            "nll_gap_linear": "the same gap of straight lines, with the band from which the model starts: nats",
            "mse_ratio_linear": "the same ratio of straight lines",
        },
        columns={
            "nll_gap": "gap, nats",
            "mse_ratio": "error ratio",
            "coverage68": "in 68 %",
            "coverage95": "in 95 %",
            "mse_ratio_gp": "error ratio, Gaussian process",
            "mse_ratio_linear": "error ratio, lines",
        },
        groups={
            "smooth": "smooth (RBF)",
            "matern": "Matérn 3/2 and 5/2",
            "rough": "rough (Matérn 1/2)",
            "periodic": "periodic",
            "walk": "random walks",
            "trend": "trends",
            "jump": "jumps",
            "sum": "sums",
            "n3": "3 to 5 points",
            "n6": "6 to 10 points",
            "n11": "11 to 20 points",
            "n21": "21 to 40 points",
            "n41": "41 to 80 points",
            "n81": "81 to 128 points",
        },
    ),
    "spirals": Card(
        command="python -m romae_lite run spirals --preset page --seeds 0 --set epochs=2",
        what="The model of chapter 05's first figure: from noisy points of a spiral, with their angles, the curve at "
        "any angle. Positions are angles times the preset's position_scale.",
        trained_on="spirals made by `romae_book/experiments/spirals/data.py`, any number of points visible, at "
        "irregular angles; the targets were the clean curves.",
        limits="Knows spirals of that generator alone: two directions, its centres, sizes and noise.",
        grades={
            "rmse_clean": "root mean squared error to the clean curve",
            "rmse_clean_bayes": "the same of the Bayes-optimal answer",
        },
    ),
    "synthetic": Card(
        command="python -m romae_lite run synthetic --preset mini --seeds 0",
        what="The model of chapter 06's figure: from a few noisy points of a smooth random series, all the others. "
        "Positions are times divided by the distance of neighbouring points.",
        trained_on="series made by `romae_book/experiments/synthetic/data.py`, times 0 to 0.98 (the grid that "
        "begins one step before the authors', D18), with few points visible.",
        limits="Knows series of that generator alone; it was trained at the grid's times, with few points visible.",
        grades={
            "mse_clean": "mean squared error to the clean curve",
            "mse_clean_gp": "the same of the exact Gaussian process",
        },
    ),
}


def markdown(name: str, about: dict) -> str:
    """The card of a model in Markdown. about: as `zoo.about` has it."""
    card, record = CARDS[name], Record(**about["record"])
    return f"""# {name}

{card.what}

    import romae_lite
    model = romae_lite.load("{name}")

| on its test set | value |
| --- | --- |
{chr(10).join(f"| {meaning} | {record.metrics[key]:.4g} |" for key, meaning in card.grades.items())}
{_table(card, record)}
- Weights: {record.parameters:,} in half precision, {about["bytes"]:,} bytes, SHA-256 `{about["sha256"]}`.
- Trained on: {card.trained_on}
- Run: `{record.command}`, {record.wall_seconds / 60:.0f} minutes on {record.device}, {record.precision}, at commit \
`{record.commit[:12]}`, seed {record.seed}; one run.
- Limits: {card.limits}
- Licence: MIT, as the package.
"""


def _table(card: Card, record: Record) -> str:
    """The grades of each group; nothing where there are none."""
    if not card.groups:
        return ""
    rows = ["", f"| of these | {' | '.join(card.columns.values())} |", "| --- |" + " --- |" * len(card.columns)]
    for ending, meaning in card.groups.items():
        # mse_ratio_gp becomes mse_ratio_smooth_gp
        keys = [re.sub("(_gp|_linear)?$", rf"_{ending}\1", key, count=1) for key in card.columns]
        rows.append(f"| {meaning} | {' | '.join(f'{record.metrics[key]:.3g}' for key in keys)} |")
    return "\n".join([*rows, ""])


def of_record(command: str, target: Path) -> Path | None:
    """The weights that a run has left beside its record, or among its arrays, as a file: the one there, or `target`.
    None where the records are not at hand."""
    planned = Planned.of(command)
    if planned.path.with_suffix(".safetensors").is_file():
        return planned.path.with_suffix(".safetensors")
    if not (arrays := planned.path.with_suffix(".npz")).is_file():
        return None
    save(from_arrays(planned.build().build(planned.seed), load_arrays(arrays)), target, half=True)
    return target


def write(folder: Path = zoo.MODELS) -> list[Path]:
    """Write what `zoo` reads of every model whose record is at hand: weights, record and card. Returns the paths."""
    paths = []
    for name, card in CARDS.items():
        if not card.record.exists():
            continue
        record = load_sound(card.record).as_dict() | {"history": []}
        with tempfile.TemporaryDirectory() as place:
            weights = of_record(card.command, Path(place) / f"{name}.safetensors").read_bytes()
        about = {"sha256": hashlib.sha256(weights).hexdigest(), "bytes": len(weights), "record": record}
        text = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
        for suffix, content in (
            (".safetensors", weights),
            (".json", text.encode()),
            (".md", markdown(name, about).encode()),
        ):
            paths.append(folder / f"{name}{suffix}")
            atomic_write(paths[-1], content)
    return paths


if __name__ == "__main__":
    for made in write(*map(Path, sys.argv[1:])):
        print(made)

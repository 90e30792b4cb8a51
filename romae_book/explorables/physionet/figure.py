"""The patient explorable: a record in intensive care, more or less of it hidden, and what is predicted there.

Everything drawn was computed by a model beforehand (`PhysioNet.arrays`), except the straight lines, which the page
draws itself.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.physionet.data import CHANNELS, HORIZON, UNITS
from ...experiments.physionet.experiment import PhysioNet
from ..explorable import Drawable, Explorable, checked, figure_of_runs, parts, runs_in

SCALE = 100  # standardised values travel as whole numbers of 0.01
COMMAND = "python -m romae_lite run physionet --preset best --seeds 0"


def payload(arrays: Mapping[str, np.ndarray]) -> dict:
    """What the page needs, as JSON, from the arrays that `PhysioNet.arrays` describes. ValueError names what is missing
    or misshapen."""
    a = checked(
        arrays, {"minute": HORIZON + 1, "grid": HORIZON + 1, "rank": "M", "shown": "M"}
        | dict.fromkeys(("channel", "chosen"), len(CHANNELS)),
        minute="M", channel="M", value="M", rank="M", shown="P K", romae="K M", chosen="P C", curve="P K C G",
        grid="G", levels="K", mean=str(len(CHANNELS)), std=str(len(CHANNELS)), start="B",
    )
    start = parts(a["start"], len(a["shown"]), len(a["minute"]))
    patients = []
    for p in range(len(a["shown"])):
        part = slice(start[p], start[p + 1])
        patient = {name: a[name][part].tolist() for name in ("minute", "channel", "rank")}
        patient |= {"value": _whole(a["value"][part]), "shown": a["shown"][p].tolist()}
        patient |= {"romae": [_whole(row[part]) for row in a["romae"]], "chosen": a["chosen"][p].tolist()}
        patients.append(patient | {"curve": [[_whole(c) for c in level] for level in a["curve"][p]]})
    used = sorted({c for patient in patients for c in patient["channel"] + patient["chosen"]})
    return {
        "scale": SCALE, "horizon": HORIZON, "grid": a["grid"].tolist(), "patients": patients,
        "channels": {str(c): {"name": CHANNELS[c], "unit": UNITS[CHANNELS[c]], "mean": float(f"{a['mean'][c]:.5g}"),
                              "std": float(f"{a['std'][c]:.5g}")} for c in used},
    }


def _whole(values: np.ndarray) -> list[int]:
    return np.rint(np.float64(values) * SCALE).astype(int).tolist()


def explorable(arrays: Mapping[str, np.ndarray], source: str = "") -> Explorable:
    """The figure from the arrays of `PhysioNet.arrays`; `source` says in the caption where they come from."""
    data = payload(arrays)
    data["start"] = int(np.argmin(np.abs(np.asarray(arrays["levels"]) - 0.5)))
    return Explorable(
        name="patient",
        data=data,
        title="Two days in intensive care, with gaps",
        caption="Drag the marker, or the slider, to choose how much of the record the model sees; filled points are "
        "seen, hollow ones are hidden from it. The curve is what RoMAE predicts for every hour of a channel, "
        "for all of these channels at once; errors count all hidden values of this patient, in standard deviations of "
        "their channels. It opens on the patient of whom RoMAE gains most over straight lines; look at the others too. "
        f"{source}".rstrip(),
    )


@figure_of_runs("patient", "A patient", COMMAND, runs_in([PhysioNet.best(), PhysioNet.paper(), PhysioNet.small()]))
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "best", else "paper", else "small"."""
    ((record, arrays),) = runs
    source = (
        f"Recorded run: preset {record.preset}, seed {record.seed}, mean squared error "
        f"{record.metrics['mse']:.3f} over its whole test set; to repeat it: {record.command}. Patients: "
        "PhysioNet/CinC Challenge 2012."
    )
    return explorable(arrays, source)

"""The patient explorable: a record in intensive care, more or less of it hidden, and what is predicted there.

Everything drawn was computed by a model beforehand (`PhysioNet.arrays`), but for the straight lines, which the page
draws itself.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.physionet.data import CHANNELS, HORIZON, UNITS
from ...lab.runs import runs_of
from ...palette import PALETTE
from .. import svg
from ..explorable import Drawable, Explorable, checked, drawn, figure, parts

SCRIPT = Path(__file__).with_suffix(".js")
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


def errors(data: dict, patient: int, k: int) -> dict[str, float]:
    """Mean squared error, standardised, over what is hidden of a patient at level k, by predictor. The page computes
    the same numbers."""
    chosen = data["patients"][patient]
    minute, channel, value, rank = (np.array(chosen[name]) for name in ("minute", "channel", "value", "rank"))
    value = value / data["scale"]
    hidden = rank >= chosen["shown"][k]
    line = np.zeros(len(value))
    for c in np.unique(channel[hidden]):
        seen, asked = (channel == c) & ~hidden, (channel == c) & hidden
        if seen.any():
            line[asked] = np.interp(minute[asked], minute[seen], value[seen])
    guesses = {"romae": np.array(chosen["romae"][k]) / data["scale"], "linear": line, "mean": np.zeros(len(value))}
    return {name: float(np.mean((guess - value)[hidden] ** 2)) for name, guess in guesses.items()}


def still(data: dict, k: int, patient: int = 0, panels: int = 3) -> str:
    """The opening view as an SVG string: some channels of one patient, what is seen, what is hidden, the curve."""
    chosen, width, each, left = data["patients"][patient], 700, 116, 118
    found = errors(data, patient, k)
    total = len(chosen["minute"])
    hidden = sum(rank >= chosen["shown"][k] for rank in chosen["rank"])
    scores = ", ".join(f"{name} {found[key]:.2f}" for name, key in
                       (("RoMAE", "romae"), ("straight lines", "linear"), ("channel means", "mean")))
    body = svg.label(10, 22, f"{total - hidden} of {total} values seen; MSE of the hidden ones: {scores}")
    for i, c in enumerate(chosen["chosen"][:panels]):
        about, top = data["channels"][str(c)], 36 + i * each
        points = [
            (m, v, r >= chosen["shown"][k])
            for m, v, r, d in zip(*(chosen[n] for n in ("minute", "value", "rank", "channel")), strict=True)
            if d == c
        ]
        values = [v for _, v, _ in points] + chosen["curve"][k][i]
        low, high = min(values), max(values)

        def place(minute: float, value: float, top=top, low=low, high=high) -> tuple[float, float]:
            x = left + (width - left - 20) * minute / data["horizon"]
            return x, top + 12 + (each - 30) * (high - value) / max(high - low, 1)

        body += svg.label(10, top + 50, about["name"], font_weight=600) + svg.label(10, top + 68, about["unit"])
        curve = [place(m, v) for m, v in zip(data["grid"], chosen["curve"][k][i], strict=True)]
        body += svg.line(curve, stroke=PALETTE["blue"][0], stroke_width=2.3)
        for minute, value, unseen in points:
            x, y = place(minute, value)
            style = {"fill": "none", "stroke": "#888"} if unseen else {"fill": "#222"}
            body += svg.tag("circle", cx=x, cy=y, r=3.2, **style)
    return svg.picture(width, 40 + panels * each, body)


def explorable(arrays: Mapping[str, np.ndarray], source: str = "") -> Explorable:
    """The figure from the arrays of `PhysioNet.arrays`; `source` says in the caption where they come from."""
    data = payload(arrays)
    data["start"] = int(np.argmin(np.abs(np.asarray(arrays["levels"]) - 0.5)))
    return Explorable(
        name="patient",
        script=SCRIPT,
        data=data,
        fallback=still(data, data["start"]),
        title="Two days in intensive care, with gaps",
        caption="Drag the marker, or the slider, to choose how much of the record the model sees; filled points are "
        "seen, hollow ones are hidden from it. The curve is what RoMAE predicts for every hour of a channel, "
        "for all of these channels at once; errors count all hidden values of this patient, in standard deviations of "
        "their channels. "
        f"{source}".rstrip(),
    )


@figure("patient")
def from_results(root: Path | None = None) -> Explorable:
    """The figure from the first seed of the preset "best", else "paper", else "small"."""
    from ...experiments.physionet.experiment import PhysioNet

    def draw(runs: list[Drawable]) -> Explorable:
        ((record, arrays),) = runs
        source = (
            f"Recorded run: preset {record.preset}, seed {record.seed}, mean squared error "
            f"{record.metrics['mse']:.3f} over its whole test set; to repeat it: {record.command}. Patients: "
            "PhysioNet/CinC Challenge 2012."
        )
        return explorable(arrays, source)

    presets = (PhysioNet.best(), PhysioNet.paper(), PhysioNet.small())
    runs = [run for preset in presets for run in runs_of(preset, root)]
    return drawn("patient", "A patient", COMMAND, [runs], draw, root)

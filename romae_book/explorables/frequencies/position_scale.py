"""The position-scale explorable: what a factor on the positions does to the error at every frequency. All recorded."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..explorable import Drawable, Explorable, figure_of_runs
from .spectrum import COMMAND, by_scale, payload


def explorable(
    models: Mapping[float, Mapping[str, np.ndarray]], metrics: Mapping[float, Sequence[Mapping[str, float]]],
    *, paper: Mapping[int, float] | None = None, top: int = 24, source: str = "",
) -> Explorable:
    """The figure. models: position scale -> arrays as `Frequencies.arrays` leaves them; metrics: scale -> the metrics
    of its records, one mapping for each seed; paper: frequency -> the paper's error.

    ValueError where the scales of models and metrics differ, or where a metric is missing.
    """
    from ...lab.summary import summarise

    if set(models) != set(metrics):
        raise ValueError(f"models has the scales {sorted(models)}, metrics {sorted(metrics)}; they must agree")
    scales, packed = sorted(models), payload(dict(sorted(models.items())))
    level = int(np.argmin(np.abs(np.array(packed["levels"]) - 0.1)))

    def summaries(found: Sequence[Mapping[str, float]], suffix: str = "") -> list:
        keys = [f"mse_noisy_{f}hz{suffix}" for f in range(top + 1)]
        if lacking := [key for key in keys for metric in found if key not in metric]:
            raise ValueError(f"metrics lack {lacking[0]}")
        return [summarise(metric[key] for metric in found) for key in keys]

    def rounded(values: Sequence[float | None]) -> list[float] | None:
        return None if None in values else [float(f"{v:.4g}") for v in values]

    curves = [
        {name: rounded([getattr(s, name) for s in found]) for name in ("mean", "low", "high")} | {"runs": found[0].n}
        for found in (summaries(metrics[scale]) for scale in scales)
    ]
    seeds = max(metrics.values(), key=len)  # a seed has one test set, whatever the scale: the baselines' numbers repeat
    singles = {name: case for name, case in packed["cases"].items() if "+" not in name}
    for case in singles.values():
        case["romae"] = [[of_model[level]] for of_model in case["romae"]]
        case["harmonic"] = [case["harmonic"][level]]
    data = {
        "scales": scales, "curves": curves, "top": top,
        "harmonic": rounded([s.mean for s in summaries(seeds, "_harmonic")]),
        "zero": rounded([s.mean for s in summaries(seeds, "_zero")]),
        "paper": {str(f): v for f, v in sorted((paper or {}).items())},
        "unit": packed["unit"], "length": packed["length"], "frequencies": packed["frequencies"],
        "levels": [packed["levels"][level]], "cases": singles,
        "start": {"scale": 0, "frequency": packed["frequencies"].index(12) if 12 in packed["frequencies"] else 0},
    }
    return Explorable(
        name="position_scale",
        data=data,
        height=300,
        title="The same series, the same network, another unit of time",
        caption="Choose the factor on the positions, and drag the frequency along the error curve: the error at every "
        "frequency, mean and 95 % interval over seeds. Magenta diamonds: the paper's. All against noisy values, as the "
        "paper's: more, by the noise, than against the clean curve (Table 4.1). Orange, dashed: the best "
        "possible. Below: a series of that frequency; black points are observed, blue ones filled in. "
        f"{source}".rstrip(),
    )


@figure_of_runs("position_scale", "Position scale", COMMAND, lambda root: by_scale(root).values())
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the preset "small" at every position scale that is recorded."""
    from ...paper.claims import CLAIMS

    found = by_scale(root)
    paper = {
        int(claim.metric.removeprefix("mse_noisy_").removesuffix("hz")): claim.value
        for claim in CLAIMS
        if claim.experiment == "frequencies" and claim.title == "One frequency" and claim.metric.startswith("mse_noisy")
    }
    models = {record.config["position_scale"]: arrays for record, arrays in runs}
    counts = ", ".join(f"{len(found[scale])} at scale {scale:g}" for scale in models)
    return explorable(
        models, {scale: [record.metrics for record in found[scale]] for scale in models}, paper=paper,
        source=f"Recorded runs of preset small: {counts}.",
    )

"""The light-curve explorable: what an object is, asked again as visits come in, with any of the six bands.

Everything shown was computed by a model beforehand (`recorded`); the page looks answers up.
"""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...experiments.elasticc.data import BANDS
from ...experiments.elasticc.experiment import ELAsTiCC
from ..explorable import Drawable, Explorable, checked, figure_of_runs, parts, runs_in

COLOURS = dict(zip(BANDS, ("purple", "blue", "green", "amber", "vermillion", "grey"), strict=True))
COMMAND = "python -m romae_lite run elasticc --preset small --seeds 0"
STEPS = 7  # moments that a window shows at least


def payload(arrays: Mapping[str, np.ndarray], names: Sequence[str], scaling: str) -> dict:
    """What the page needs, as JSON, from the arrays that `recorded` describes.

    names: of the classes; scaling: how the experiment scaled its fluxes. ValueError names what is missing or misshapen.
    """
    a = checked(
        arrays, {"band": len(BANDS), "seen": 2, "kind": len(names), "answer": 256},
        day="M", band="M", value="M 2", seen="M", kind="S", cuts="S C", answer=f"S C {2 ** len(BANDS)} {len(names)}",
        start="B",
    )
    S, C = a["cuts"].shape
    start = parts(a["start"], S, len(a["day"]))
    flux, spread = a["value"].T
    if scaling == "asinh":
        flux = np.sinh(flux) * 10**spread
    objects = []
    for s in range(S):
        part = slice(start[s], start[s + 1])
        day, cuts = a["day"][part], a["cuts"][s]
        last = float(day[a["seen"][part].astype(bool)].max(initial=0))
        end = max(1.15 * last + 5, float(cuts[min(STEPS, C) - 1]))
        shown = (day >= -0.15 * end) & (day <= end)
        objects.append({
            "kind": int(a["kind"][s]), "from": _short(-0.15 * end), "to": _short(1.02 * end),
            "cuts": [round(float(c), 3) for c in cuts[cuts <= end]], "day": [round(float(d), 3) for d in day[shown]],
            "band": a["band"][part][shown].tolist(), "flux": [_short(f) for f in flux[part][shown]],
            "before": [int(n) for n in np.bincount(a["band"][part][day < -0.15 * end], minlength=len(BANDS))],
            "answer": base64.b64encode(a["answer"][s][cuts <= end].astype(np.uint8).tobytes()).decode(),
        })
    return {"names": list(names), "objects": objects, "bands": list(BANDS), "colours": [COLOURS[b] for b in BANDS]}


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def explorable(arrays: Mapping[str, np.ndarray], names: Sequence[str], scaling: str, source: str = "") -> Explorable:
    """The figure from the arrays of `recorded`; `source` says in the caption where they come from."""
    data = payload(arrays, names, scaling)
    data["start"] = {"object": 0, "step": min(3, len(data["objects"][0]["cuts"]) - 1)}
    return Explorable(
        name="light_curve",
        data=data,
        title="What is it? A light curve as it comes in",
        caption="Drag the upright line through time; hollow points lie in the future and the model does not see them. "
        "Switch bands off as if their filters were broken. The bars are RoMAE's probabilities; below the light curve, "
        "that of the true class over time. What came before the window is known to the model, too; day 0 stays where "
        "it is, even if the band that saw it is off. "
        f"{source}".rstrip(),
    )


@figure_of_runs(
    "light_curve", "A light curve as it comes in", COMMAND, runs_in([ELAsTiCC.paper(), ELAsTiCC.small()])
)
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "paper", else "small"."""
    ((record, arrays),) = runs
    exp = record.planned.build()
    source = (
        f"{'Made-up light curves; no survey saw them. ' if exp.source == 'simulated' else ''}Recorded run: preset "
        f"{record.preset}, seed {record.seed}, macro F-score {record.metrics['f1_macro']:.3f} over its whole "
        f"test set; to repeat it: {record.command}."
    )
    return explorable(arrays, exp.names, exp.scaling, source)

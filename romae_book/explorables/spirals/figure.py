"""The spirals explorable: how much of a spiral is seen, and how well the rest of it is filled in.

Everything drawn is recorded: `gallery("spirals")` reads the arrays that `python -m romae_lite run spirals` left beside
its record. Nothing is fitted or smoothed in the page, which only counts errors.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.spirals.experiment import Spirals
from ..explorable import Drawable, Explorable, checked, figure_of_runs, runs_in

MODELS = ("romae", "bayes")
COMMAND = "python -m romae_lite run spirals --preset best --seeds 0"
SCALE = 10_000  # values travel as whole numbers of 1e-4: four decimals, a third of the bytes


def payload(arrays: Mapping[str, np.ndarray]) -> dict:
    """What the page needs, as JSON: S spirals of N points, predictions for K numbers of observed points.

    arrays: clean, noisy (S, N, 2); chirality (S,) int, 1 where a spiral winds inward, which the authors call clockwise;
    order (S, N) int, in which points are revealed; counts (K,) int, increasing; romae, bayes (S, K, N, 2), the
    prediction at every point given the first counts[k] points of the order. Predictions are sent as differences from
    the clean curve, which are small. ValueError names what is missing or misshapen.
    """
    found = checked(arrays, {"order": "N", "chirality": 2}, clean="S N 2", noisy="S N 2", chirality="S", order="S N",
                    counts="K", romae="S K N 2", bayes="S K N 2")
    (S, N), counts, order = found["order"].shape, found["counts"].astype(int), found["order"]
    if (np.diff(counts) <= 0).any() or counts[0] < 1 or counts[-1] > N:
        raise ValueError(f"counts is {counts.tolist()}; expected increasing numbers from 1 to {N}")
    if (np.sort(order, axis=1) != np.arange(N)).any():
        raise ValueError(f"order must hold every number from 0 to {N - 1} once per spiral")
    clean, noisy, *predictions = (np.rint(found[name] * SCALE).astype(int) for name in ("clean", "noisy", *MODELS))
    spirals = []
    for s in range(S):
        spiral = {"turn": "inward" if found["chirality"][s] else "outward", "order": order[s].tolist()}
        spiral |= {"clean": clean[s].ravel().tolist(), "noisy": noisy[s].ravel().tolist()}
        for name, prediction in zip(MODELS, predictions, strict=True):
            spiral[name] = (prediction[s] - clean[s]).reshape(len(counts), -1).tolist()
        spirals.append(spiral)
    return {"scale": SCALE, "counts": counts.tolist(), "spirals": spirals}


def explorable(arrays: Mapping[str, np.ndarray], source: str = "") -> Explorable:
    """The figure from the arrays that `payload` describes; `source` says in the caption where they come from."""
    data = payload(arrays)
    points = len(data["spirals"][0]["order"])
    data["start"] = int(np.argmin(np.abs(np.asarray(data["counts"]) - 0.4 * points)))  # the paper hides 60 %
    return Explorable(
        name="spirals",
        data=data,
        title="How few points does it take to see a spiral?",
        caption="Drag the slider to choose how many noisy points the model sees; it has to fill in the others. "
        "In training it always saw 30; away from that number, in either direction, it gets worse on average. "
        "The Bayes-optimal curve knows how the spirals were made and cannot be beaten on average. "
        f"Errors are against the true curve, on the hidden points of this one spiral. {source}".rstrip(),
    )


@figure_of_runs(
    "spirals", "Spirals", COMMAND, runs_in([Spirals.best(), Spirals.paper()])
)
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seed of the preset "best", else of "paper"."""
    ((record, arrays),) = runs
    source = (
        f"Recorded run: preset {record.preset}, seed {record.seed}, RMSE {record.metrics['rmse_clean']:.4f} "
        f"over its whole test set; to repeat it: {record.command}."
    )
    return explorable(arrays, source)

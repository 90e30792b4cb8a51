"""The pendulum explorable: a clip as the model sees it, frame by frame, and where everybody thinks the rod is.

Frames, true angles and predictions, the Kalman smoother's among them, come from a record (`Pendulum.arrays`).
"""

import base64
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ...experiments.pendulum import rivals as predictors
from ...experiments.pendulum.data import CANVAS, CENTRE, LENGTH, SIZE, STEPS
from ...experiments.pendulum.experiment import Pendulum
from ..explorable import Drawable, Explorable, checked, figure_of_runs, runs_in

SCALE = 1000  # radians, sines and cosines travel as whole numbers of 0.001
COMMAND = "python -m romae_lite run pendulum --preset best --seeds 0"
NAMES = {"best": "RoMAE, its own token", "paper": "RoMAE, from [CLS]"}
STYLES = (("blue", ""), ("purple", "6 3"), ("vermillion", "2 3"))  # of predictors, in order: colour and dash
WORLDS = {  # what can be done to a clip's frames: how the page says it, and what it explains
    "as they are": "Fifty of a hundred frames, each with its time.",
    "shuffled": "The same frames with the same times, handed over in another order. A frame's own token takes its "
    "answer along; the answers from [CLS] stay where they were, and belong to other frames now.",
    "every other": "Only every other frame is there. A frame's own token looks to neighbours further away; [CLS] "
    "counts, and what was its seventeenth frame is the ninth now.",
    "20 steps later": "Every frame is said to have come 20 steps later. No difference between frames has changed, only "
    "their distance to [CLS], which stays at 0.",
}
KEYS = ("prediction", "shuffled", "half", "later")  # the arrays that hold the answers, in their order


def answers(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A model's answers by world, as far as its arrays have them: (C, N, 2), NaN for frames that were left out; and
    the mean squared error over all test clips, by the same names with `mse_` before them, NaN where it was not kept."""
    found = {}
    for world, key in zip(WORLDS, KEYS, strict=True):
        if key in arrays:
            if not np.isfinite(arrays[key]).all():
                raise ValueError(f"{key} holds values that are not finite")
            found[world] = np.float64(arrays[key])
            found[f"mse_{world}"] = float(arrays.get(f"mse_{key}", np.nan))
    if "every other" in found:
        spread = np.full(found["as they are"].shape, np.nan)
        spread[:, ::2] = found["every other"]
        found["every other"] = spread
    return found


def smoothed(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The Kalman smoother's answers in the same form. It knows time stamps, and needs neither order nor a zero."""
    plain = arrays.get("kalman")
    if plain is None:  # a record of before it was kept
        plain = predictors.kalman(np.float32(arrays["frames"]), arrays["numbers"].astype(int))
    half = {"half": arrays["kalman_half"]} if "kalman_half" in arrays else {}
    return answers({"prediction": plain, "shuffled": plain, "later": plain} | half)


def payload(arrays: Mapping[str, np.ndarray], guesses: Mapping[str, Mapping[str, np.ndarray]]) -> dict:
    """What the page needs, as JSON, from the arrays that `recorded` describes and from what `answers` makes of several
    predictors, by name. The page offers the worlds that all of them know. ValueError names what is missing or
    misshapen."""
    given = {f"prediction of {name}": guess["as they are"] for name, guess in guesses.items()}
    a = checked(
        {**arrays, **given}, {"frames": 256, "numbers": STEPS},
        frames=f"C N {SIZE**2}", numbers="C N", share="C N", angles=f"C {STEPS}", **dict.fromkeys(given, "C N 2"),
    )
    if a["share"].min() < 0 or a["share"].max() > 1:
        raise ValueError("share must lie in [0, 1]")
    worlds = [world for world in WORLDS if all(world in guess for guess in guesses.values())]
    clips = [
        {
            "frames": base64.b64encode(a["frames"][c].astype(np.uint8).tobytes()).decode(),
            "numbers": a["numbers"][c].tolist(),
            "share": np.rint(100 * a["share"][c]).astype(int).tolist(),
            "angles": _whole(a["angles"][c]),
            "answers": [[_pairs(guess[world][c]) for guess in guesses.values()] for world in worlds],
        }
        for c in range(len(a["frames"]))
    ]
    means = [[guess.get(f"mse_{world}", np.nan) for world in worlds] for guess in guesses.values()]
    return {
        "size": SIZE, "steps": STEPS, "scale": SCALE, "centre": (CENTRE + 0.5) * SIZE / CANVAS,
        "length": LENGTH * SIZE / CANVAS, "clips": clips,
        "worlds": [{"name": world, "says": WORLDS[world]} for world in worlds],
        "models": [{"name": name, "colour": colour, "dash": dash,
                    "mse": [None if np.isnan(v) else round(1000 * v, 4) for v in mean]}
                   for name, mean, (colour, dash) in zip(guesses, means, STYLES, strict=False)],
    }


def _pairs(guess: np.ndarray) -> list:
    """Sine and cosine of each frame (N, 2) as whole numbers, None where there is no answer."""
    return [None if np.isnan(pair).any() else _whole(pair) for pair in guess]


def _whole(values: np.ndarray) -> list:
    return np.rint(np.float64(values) * SCALE).astype(int).tolist()


def opening(data: dict, clip: int = 0) -> int:
    """The slot to open with: a frame from the middle of the clip in which half of the picture is left."""
    share = np.array(data["clips"][clip]["share"])
    middle = np.arange(len(share)) >= len(share) // 4
    return int(np.argmin(np.abs(share - 45) + 1000 * ~middle))


def explorable(
    arrays: Mapping[str, np.ndarray], name: str = "RoMAE", more: Mapping[str, Mapping] | None = None, source: str = ""
) -> Explorable:
    """The figure from the arrays of `recorded`; `more` holds the arrays of other models of the same clips, by name, and
    `source` says in the caption where all of it comes from."""
    checked(arrays, {"numbers": STEPS}, frames=f"C N {SIZE**2}", numbers="C N", prediction="C N 2")
    given = {name: arrays, **(more or {})}
    guesses = {label: answers(found) for label, found in given.items()}
    data = payload(arrays, guesses | {"Kalman, told the physics": smoothed(arrays)})
    data["start"] = opening(data)
    return Explorable(
        name="pendulum",
        data=data,
        title="Where is the rod?",
        caption="Press play, or drag the marker, the slider or the picture; then change what happens to the frames. "
        "The camera shows what the model is given; a grey picture is a frame that was left out. Bars below the curve "
        "say how much of each picture the noise leaves. Needles and curves show the true angle and what is made of the "
        "frames; 0 degrees hangs straight down. "
        f"{source}".rstrip(),
    )


@figure_of_runs(
    "pendulum", "Where is the rod?", COMMAND, runs_in([Pendulum.best()], [Pendulum.paper()])
)
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first seeds of the presets "best" and "paper", or from one of them."""
    (first, arrays), *others = runs
    if any(not np.array_equal(more.get("frames"), arrays["frames"]) for _, more in others):
        raise ValueError(f"its clips are not those of {first.path.stem}")
    said = [f"preset {r.preset}, seed {r.seed}, MSE {r.metrics['mse']:.5f} on 1000 clips" for r, _ in runs]
    source = f"Recorded runs: {'; '.join(said)}. Kalman is a smoother that knows the equation of motion. "
    source += f"To repeat: {first.command}."
    return explorable(arrays, NAMES[first.preset], {NAMES[r.preset]: a for r, a in others}, source)

"""The pendulum explorable: a clip as the model sees it, frame by frame, and where everybody thinks the rod is.

Frames, true angles and predictions come from a record (`Pendulum.arrays`); the Kalman smoother's answers are computed
from the same frames when the figure is made.
"""

import base64
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..page import svg
from ..page.explorable import Explorable, not_recorded
from ..page.gallery import figure
from ..page.palette import PALETTE
from . import rivals as predictors
from .data import CANVAS, CENTRE, LENGTH, SIZE, STEPS

SCRIPT = Path(__file__).with_suffix(".js")
SCALE = 1000  # radians, sines and cosines travel as whole numbers of 0.001
COMMAND = "python -m romae_lite run pendulum --preset best --seeds 0"
NAMES = {"best": "RoMAE, its own token", "paper": "RoMAE, from [CLS]"}
STYLES = (("blue", ""), ("purple", "6 3"), ("vermillion", "2 3"))  # of predictors, in order: colour and dash


def payload(arrays: Mapping[str, np.ndarray], guesses: Mapping[str, np.ndarray]) -> dict:
    """What the page needs, as JSON, from the arrays that `Pendulum.arrays` describes and from predictions (C, N, 2) by
    name. ValueError names what is missing or misshapen."""
    if missing := {"frames", "numbers", "share", "angles"} - set(arrays):
        raise ValueError(f"arrays lack {', '.join(sorted(missing))}")
    a = {name: np.asarray(arrays[name]) for name in ("frames", "numbers", "share", "angles")}
    given = {f"prediction of {name}": np.asarray(guess) for name, guess in guesses.items()}
    C, N = a["numbers"].shape
    expected = {"frames": (C, N, SIZE**2), "share": (C, N), "angles": (C, STEPS)} | dict.fromkeys(given, (C, N, 2))
    for name, shape in expected.items():
        found = (a | given)[name]
        if found.shape != shape:
            raise ValueError(f"{name} has shape {found.shape}; expected {shape}")
        if not np.isfinite(found).all():
            raise ValueError(f"{name} holds values that are not finite")
    clips = [
        {
            "frames": base64.b64encode(a["frames"][c].astype(np.uint8).tobytes()).decode(),
            "numbers": a["numbers"][c].astype(int).tolist(),
            "share": np.rint(100 * a["share"][c]).astype(int).tolist(),
            "angles": _whole(a["angles"][c]),
            "guesses": [_whole(guess[c]) for guess in given.values()],
        }
        for c in range(C)
    ]
    return {
        "size": SIZE, "steps": STEPS, "scale": SCALE, "centre": (CENTRE + 0.5) * SIZE / CANVAS,
        "length": LENGTH * SIZE / CANVAS, "clips": clips,
        "models": [{"name": name, "colour": colour, "dash": dash}
                   for name, (colour, dash) in zip(guesses, STYLES, strict=False)],
    }  # fmt: skip


def _whole(values: np.ndarray) -> list:
    return np.rint(np.float64(values) * SCALE).astype(int).tolist()


def errors(data: dict, clip: int) -> list[float]:
    """Mean squared error of sine and cosine over a clip's frames, for each model. The page computes the same."""
    chosen = data["clips"][clip]
    angle = np.array(chosen["angles"])[chosen["numbers"]] / data["scale"]
    true = np.stack((np.sin(angle), np.cos(angle)), axis=-1)
    return [float(np.mean((np.array(guess) / data["scale"] - true) ** 2)) for guess in chosen["guesses"]]


def degrees_off(data: dict, clip: int, slot: int, model: int) -> float:
    """By how much a model's needle misses the true one in one frame, in degrees, -180 to 180."""
    chosen = data["clips"][clip]
    sine, cosine = chosen["guesses"][model][slot]
    off = np.arctan2(sine, cosine) - chosen["angles"][chosen["numbers"][slot]] / data["scale"]
    return float(np.degrees((off + np.pi) % (2 * np.pi) - np.pi))


def opening(data: dict, clip: int = 0) -> int:
    """The slot to open with: a frame from the middle of the clip in which half of the picture is left."""
    share = np.array(data["clips"][clip]["share"])
    middle = np.arange(len(share)) >= len(share) // 4
    return int(np.argmin(np.abs(share - 45) + 1000 * ~middle))


def still(data: dict, clip: int = 0) -> str:
    """The opening view as an SVG string: one frame with its needles, and the angle against time."""
    chosen, slot, side = data["clips"][clip], opening(data, clip), 190
    frame = np.frombuffer(base64.b64decode(chosen["frames"]), np.uint8).reshape(-1, data["size"], data["size"])[slot]
    cell, left, top = side / data["size"], 14, 34
    body = svg.label(left, 22, f"frame {chosen['numbers'][slot]}, {chosen['share'][slot]} % left by the noise")
    for y, row in enumerate(frame):
        for x, value in enumerate(row):
            body += svg.tag("rect", x=left + x * cell, y=top + y * cell, width=cell + 0.3, height=cell + 0.3,
                            fill=f"rgb({value},{value},{value})")  # fmt: skip
    centre, reach = data["centre"] * cell, data["length"] * cell
    needles = [("#ffffff", chosen["angles"][chosen["numbers"][slot]] / data["scale"])]
    needles += [(PALETTE[m["colour"]][1], np.arctan2(*guess[slot]))
                for m, guess in zip(data["models"][:1], chosen["guesses"], strict=False)]  # fmt: skip
    for colour, angle in needles:
        end = (left + centre + reach * np.sin(angle), top + centre + reach * np.cos(angle))
        body += svg.line([(left + centre, top + centre), end], stroke=colour, stroke_width=2.5)
    angles = np.degrees(np.array(chosen["angles"]) / data["scale"])
    low, high = angles.min() - 15, angles.max() + 15

    def place(number: float, angle: float) -> tuple[float, float]:
        return 260 + 420 * number / (data["steps"] - 1), top + side * (high - angle) / (high - low)

    body += svg.line([place(i, a) for i, a in enumerate(angles)], stroke="#222", stroke_width=1.6)
    for s, number in enumerate(chosen["numbers"]):
        if data["models"]:
            x, y = place(number, angles[number] + degrees_off(data, clip, s, 0))
            if top <= y <= top + side:
                body += svg.tag("circle", cx=x, cy=y, r=2.6, fill=PALETTE["blue"][0])
    body += svg.label(260, 22, "angle against time: line true, points predicted")
    return svg.picture(700, top + side + 14, body)


def explorable(arrays: Mapping[str, np.ndarray], name: str = "RoMAE", more=None, source: str = "") -> Explorable:
    """The figure from the arrays of `Pendulum.arrays`; `more` holds predictions of other models for the same clips, by
    name, and `source` says in the caption where all of it comes from."""
    if missing := {"frames", "numbers", "prediction"} - set(arrays):
        raise ValueError(f"arrays lack {', '.join(sorted(missing))}")
    kalman = predictors.kalman(np.float32(arrays["frames"]), np.asarray(arrays["numbers"]))
    data = payload(arrays, {name: arrays["prediction"], **(more or {}), "Kalman, told the physics": kalman})
    data["start"] = opening(data)
    return Explorable(
        name="pendulum",
        script=SCRIPT,
        data=data,
        fallback=still(data),
        title="Where is the rod?",
        caption="Press play, or drag the marker, the slider or the picture. The camera shows what the model is given; "
        "a grey picture is a frame that was left out. Bars below the curve say how much of each picture the noise "
        "leaves. Needles and curves show the true angle and what is made of the frames; 0 degrees hangs straight down. "
        f"{source}".rstrip(),
    )


@figure("pendulum")
def from_results(root: Path | None = None) -> Explorable:
    """The figure from the first seeds of the presets "best" and "paper" under results/pendulum, or from one of them."""
    from ..lab import records  # here: the other figures need nothing but the standard library and numpy

    folder = (Path(root) if root else records.results_dir()) / "pendulum"
    found, reasons = {}, []
    paths = [p for p in folder.glob("*.npz") if re.fullmatch(r"(best|paper)-s\d+", p.stem)]
    for path in sorted(paths, key=lambda p: int(p.stem.split("-s")[1])):
        preset = path.stem.split("-")[0]
        if preset in found:
            continue
        try:
            found[preset] = records.load(path.with_suffix(".json")), records.load_arrays(path)
            payload(found[preset][1], {"it": found[preset][1]["prediction"]})
        except (ValueError, OSError, KeyError) as error:
            found.pop(preset, None)
            reasons.append(f"{path.name} cannot be used ({error})")
    presets = [preset for preset in NAMES if preset in found]
    if not presets:
        return not_recorded("pendulum", "Where is the rod?", COMMAND, reasons)
    _, arrays = found[presets[0]]
    same = [p for p in presets if np.array_equal(found[p][1]["frames"], arrays["frames"])]
    said = [f"preset {p}, seed {found[p][0].seed}, MSE {found[p][0].metrics['mse']:.5f} on 1000 clips" for p in same]
    source = f"Recorded runs: {'; '.join(said)}. Kalman is a smoother that knows the equation of motion. "
    source += f"To repeat: {found[presets[0]][0].command}."
    if reasons:
        source += f" Skipped: {'; '.join(reasons)}."
    return explorable(arrays, NAMES[presets[0]], {NAMES[p]: found[p][1]["prediction"] for p in same[1:]}, source)

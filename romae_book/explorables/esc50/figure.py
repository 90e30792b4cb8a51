"""The sound explorable: hide a stretch of time or a band of pitch, see what RoMAE puts there, and listen to it.

No recording is needed: the sounds are made by formulas, what is heard is synthesised in the page from the energies in
the mel bands, and the model runs there. Its weights come along in half precision.
"""

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens

from ...experiments.esc50.data import HOP, PATCH, RATE, centres
from ...experiments.esc50.data import picture as picture_of
from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure
from ..weights import packed, predicted

SCRIPT = Path(__file__).with_suffix(".js")
LOWEST, HIGHEST = -2.0, 4.0  # standardised energies; travel as 0 to 255
SPAN = (3, 5)  # columns of patches that are hidden at first, from and to


def payload(model: RoMAE, test: Tokens, labels: Sequence[str], level: tuple[float, float]) -> dict:
    """What the page needs, as JSON: the model, which predicts energies as they are, and one sound for each label, the
    first ones of test. level: mean and standard deviation of the logarithms of the energies that test was scaled by."""
    if not 1 <= len(labels) <= len(test):
        raise ValueError(f"labels are {len(labels)}; there must be one for each of at most {len(test)} sounds")
    whole, time, pitch = picture_of(test[: len(labels)])
    raw = ((whole - LOWEST) / (HIGHEST - LOWEST) * 255).round().clamp(0, 255).to(torch.uint8).numpy()
    return {
        "model": packed(model), "time": time.numpy().round(6).tolist(), "pitch": pitch.numpy().round(6).tolist(),
        "sounds": [
            {"label": label, "energy": base64.b64encode(one.tobytes()).decode()}
            for label, one in zip(labels, raw, strict=True)
        ],
        "range": [LOWEST, HIGHEST], "level": [round(x, 6) for x in level], "patch": PATCH, "hop": HOP, "rate": RATE,
        "hz": centres().round(2).tolist(), "span": list(SPAN),
    }


def energies(data: dict, sound: int) -> np.ndarray:
    """A sound of the page as it travelled: (T, F), standardised."""
    low, high = data["range"]
    raw = np.frombuffer(base64.b64decode(data["sounds"][sound]["energy"]), np.uint8)
    return low + (high - low) * raw.reshape(len(data["time"]) * PATCH, -1) / 255


def hidden_tokens(data: dict, axis: str, begin: int, end: int) -> list[int]:
    """The tokens in columns (axis "time") or rows ("pitch") from begin to before end, in order."""
    rows = len(data["pitch"])
    tokens = range(len(data["time"]) * rows)
    return [i for i in tokens if begin <= (i // rows if axis == "time" else i % rows) < end]


def filled(data: dict, sound: int, axis: str, begin: int, end: int) -> tuple[np.ndarray, float, float]:
    """What the page computes: the picture (T, F) with what the model says of what is hidden; its mean squared error
    there, and that of the mean of what can be seen of each band of time or pitch."""
    truth = energies(data, sound)
    columns, rows = len(data["time"]), len(data["pitch"])
    values = truth.reshape(columns, PATCH, rows, PATCH).transpose(0, 2, 1, 3).reshape(columns * rows, -1)
    positions = np.array([(t, p) for t in data["time"] for p in data["pitch"]])
    hidden = hidden_tokens(data, axis, begin, end)
    found = values.copy()
    found[hidden] = predicted(data["model"], values, positions, hidden)
    back = found.reshape(columns, rows, PATCH, PATCH).transpose(0, 2, 1, 3).reshape(truth.shape)
    gone = np.zeros(columns if axis == "time" else rows, bool)
    gone[begin:end] = True
    gone = gone.repeat(PATCH)
    guess = truth[~gone].mean(0) if axis == "time" else truth[:, ~gone].mean(1)
    rest = (truth - guess)[gone] if axis == "time" else (truth - guess[:, None])[:, gone]
    error = (back - truth)[gone] if axis == "time" else (back - truth)[:, gone]
    return back, float(np.mean(error**2)), float(np.mean(rest**2))


def still(data: dict) -> str:
    """The first sound with a stretch of time hidden, and what comes back."""
    begin, end = data["span"]
    truth, (back, _, _) = energies(data, 0), filled(data, 0, "time", begin, end)
    low, high = data["range"]
    hidden = truth.copy()
    hidden[begin * PATCH : end * PATCH] = low
    body = ""
    for k, (title, whole) in enumerate(
        (("a stretch is hidden", hidden), ("filled in by RoMAE", back), ("as it was", truth))
    ):
        left = 10 + 230 * k
        body += svg.label(left, 20, title)
        coarse = whole.reshape(len(whole) // 4, 4, -1, 8).mean((1, 3))  # a still picture need not be sharp
        for (t, f), value in np.ndenumerate(coarse):
            shade = float(np.clip((value - low) / (high - low), 0, 1))
            if shade > 0.04:
                y = 30 + 10 * (coarse.shape[1] - 1 - f)
                body += svg.tag("rect", x=left + 6.6 * t, y=y, width=6.7, height=10.1, fill_opacity=round(shade, 2))
        if k < 2:
            scale = 6.6 * PATCH / 4
            body += svg.tag("rect", x=left + scale * begin, y=30, width=scale * (end - begin), height=160, fill="none",
                            stroke=PALETTE["blue"][0], stroke_width=1.5)
    return svg.picture(700, 200, body)


@figure("sound")
def explorable(
    model: RoMAE, test: Tokens, labels: Sequence[str], level: tuple[float, float], note: str = ""
) -> Explorable:
    """The figure of a model and some sounds (see `payload`); note: where the model comes from."""
    data = payload(model, test, labels, level)
    return Explorable(
        name="sound",
        script=SCRIPT,
        needs=("romae",),
        data=data,
        fallback=still(data),
        height=230,
        title="Hide a part of a sound, and listen",
        caption="Choose a sound, and whether a stretch of time or a band of pitch is hidden; move its two ends. Time "
        "runs to the right, pitch upwards, and what stands out is loud; the frame marks what was hidden. All players "
        "play pictures: one unsteady sine for each band, as loud as the band is there. So the last one is as good as a "
        f"picture can sound, and is not the sound itself. The model runs in this page. {note}".rstrip(),
    )

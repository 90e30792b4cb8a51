"""The sound explorable: hide a stretch of time or a band of pitch, see what RoMAE puts there, and listen to it.

No recording is needed: the sounds are made by formulas, what is heard is synthesised in the page from the energies in
the mel bands, and the model runs there. Its weights come along in half precision.
"""

import base64
from collections.abc import Sequence

import torch

from romae_lite.model import RoMAE
from romae_lite.tokens import Tokens

from ...experiments.esc50.data import HOP, PATCH, RATE, centres
from ...experiments.esc50.data import picture as picture_of
from ..explorable import Explorable, figure
from ..weights import packed

LOWEST, HIGHEST = -2.0, 4.0  # standardised energies; travel as 0 to 255
SPAN = (2, 4)  # columns of patches that are hidden at first, from and to
FIRST = "harmonic tone"  # the sound that is shown first, where there is one: what is hidden can be known from the rest


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
        "first": labels.index(FIRST) if FIRST in labels else 0,
    }


@figure("sound")
def explorable(
    model: RoMAE, test: Tokens, labels: Sequence[str], level: tuple[float, float], note: str = ""
) -> Explorable:
    """The figure of a model and some sounds (see `payload`); note: where the model comes from."""
    data = payload(model, test, labels, level)
    return Explorable(
        name="sound",
        needs=("romae",),
        data=data,
        height=230,
        title="Hide a part of a sound, and listen",
        caption="Choose a sound, and whether a stretch of time or a band of pitch is hidden; move its two ends. Time "
        "runs to the right, pitch upwards, and what stands out is loud; the bracket marks what was hidden. All players "
        "play pictures: one unsteady sine for each band, as loud as the band is there. So the last one is as good as a "
        f"picture can sound, and is not the sound itself. The model runs in this page. {note}".rstrip(),
    )

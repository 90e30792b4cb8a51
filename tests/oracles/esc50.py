"""What the page of `esc50` computes, again in Python."""

import base64

import numpy as np

from romae_book.experiments.esc50.data import PATCH
from romae_book.explorables.weights import predicted


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

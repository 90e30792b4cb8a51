"""What the page of `physionet` computes, again in Python."""

import numpy as np


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

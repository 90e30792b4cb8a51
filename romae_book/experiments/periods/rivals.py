"""Who else can fill in a sine: the Lomb-Scargle periodogram's best frequency, and the sine of it that fits best."""

import numpy as np
from scipy.signal import lombscargle

from romae_lite.tokens import Tokens

from .data import CYCLES, READINGS

STEP = 0.1  # cycles between two frequencies that are tried; a peak is about one wide
CLOSER = np.linspace(-STEP, STEP, 41)  # tried around the highest


def by_lombscargle(tokens: Tokens, window: float = READINGS) -> np.ndarray:
    """Answers (n, N). window: length of the series, in the units of their times."""
    tried = 2 * np.pi / window * np.arange(CYCLES[0], CYCLES[1] + STEP, STEP)
    found = []
    for times, values, hidden in zip(
        tokens.positions[..., 0].numpy(), tokens.values[..., 0].double().numpy(), tokens.aux["hidden"].numpy(),
        strict=True,
    ):
        seen = times[~hidden], values[~hidden]
        near = tried[lombscargle(*seen, tried).argmax()] + 2 * np.pi / window * CLOSER
        best = near[lombscargle(*seen, near).argmax()]
        waves = np.stack((np.cos(best * times), np.sin(best * times)), axis=1)  # (N, 2)
        found.append(waves @ np.linalg.lstsq(waves[~hidden], seen[1], rcond=None)[0])
    return np.stack(found)

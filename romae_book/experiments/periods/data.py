"""One sine a series, of 2 to 100 cycles, read with noise at moments that nobody chose."""

import numpy as np
import torch

from romae_lite.tokens import Tokens

CYCLES = (2.0, 100.0)  # in the window; drawn evenly in their logarithm
READINGS = 60  # in the window, so that it is 60 typical gaps long
SEEN = 40  # readings that a network is shown; it is asked for the others
AMPLITUDE = (0.5, 1.0)
NOISE = 0.1  # standard deviation of a reading


def sines(n: int, rng: np.random.Generator) -> Tokens:
    """n series, ordered by time; what is asked for is hidden, and its value the sine itself.

    Tokens: values (n, READINGS, 1), positions (n, READINGS, 1) times in units of the typical gap; aux: hidden
    (n, READINGS) bool, cycles (n,) in the window.
    """
    times = np.sort(rng.uniform(0, READINGS, (n, READINGS)), axis=1)
    hidden = rng.random((n, READINGS)).argsort(1) >= SEEN
    cycles = np.exp(rng.uniform(*np.log(CYCLES), (n, 1)))
    amplitude, phase = rng.uniform(*AMPLITUDE, (n, 1)), rng.uniform(0, 1, (n, 1))
    values = amplitude * np.sin(2 * np.pi * (cycles * times / READINGS + phase))
    values += np.where(hidden, 0, rng.normal(0, NOISE, times.shape))
    return Tokens(
        values=torch.from_numpy(values).float()[..., None], positions=torch.from_numpy(times)[..., None],
        aux={"hidden": torch.from_numpy(hidden), "cycles": torch.from_numpy(cycles[:, 0])},
    )

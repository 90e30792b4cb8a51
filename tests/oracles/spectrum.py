"""What the page of `spectrum` computes, again in Python."""

import numpy as np

from romae_book.explorables.frequencies.spectrum import series


def errors(data: dict, case: str, level: int, model: int | None) -> tuple[float, float]:
    """(mean squared error to the clean series at the hidden points, error of the spectrum as `mse_fft` has it)."""
    truth, filled, hidden = series(data, case, level, model)
    spectrum = np.abs(np.fft.fft(filled - truth) / len(truth)) ** 2
    return float(np.mean((filled - truth)[hidden] ** 2)), float(spectrum.mean())

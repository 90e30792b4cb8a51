"""What the page of `position_scale` computes, again in Python."""

from collections.abc import Mapping

import numpy as np

from romae_book.explorables.frequencies.spectrum import series


def shown_mse(data: Mapping, scale: int, frequency: int) -> float:
    """Mean squared error to the clean series at the hidden points of the series shown, as the page computes it."""
    truth, filled, hidden = series(data, str(frequency), 0, scale)
    return float(np.mean((filled - truth)[hidden] ** 2))

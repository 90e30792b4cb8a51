"""Table 8's parameter counts, from the formula of a block."""

import pytest
import torch

from romae_book.experiments.sizes.experiment import Sizes
from romae_lite.model import SIZES


@pytest.mark.parametrize("name", SIZES)
def test_counted_as_the_paper_counts(name):
    """A block: 4 E^2 of attention, 2 E ff, two norms. Around: 16 values + bias to E, [CLS], norm, E to 1 + bias."""
    s, exp = SIZES[name], Sizes(size=name)
    E = s.dim
    blocks = s.depth * (4 * E * E + 2 * E * s.ff + 2 * E)
    around = (16 * E + E) + E + (E + E + 1)
    data = exp.data(0)
    with torch.device("meta"):  # shapes only: no memory for 75 million numbers
        model, history = exp.train(data, 0)
    assert exp.evaluate(model, data.test) == {"parameters": blocks + around}
    assert history[-1]["step"] == 0

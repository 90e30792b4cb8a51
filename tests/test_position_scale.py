"""The unit of positions: None means that typical neighbours are one unit apart, as `tokens.spacing` measures it."""

import pytest

from romae_book.experiments.frequencies.experiment import Frequencies
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.experiments.synthetic.experiment import Synthetic
from romae_lite.batching import spacing

CASES = {
    "frequencies": Frequencies(n_train=4, n_valid=2, n_test=2, per_group=1),
    "frequencies of 300 points": Frequencies(n_train=4, n_valid=2, n_test=2, per_group=1, length=300),
    "spirals": Spirals(n_train=4, n_valid=2, n_test=100), "synthetic": Synthetic(n_train=4, n_valid=2, n_test=2),
    "synthetic, HeTVAE's grid": Synthetic(n_train=4, n_valid=2, n_test=2, grid="hetvae"),
}


@pytest.mark.parametrize("name", CASES)
def test_none_puts_neighbours_one_unit_apart(name):
    exp = CASES[name].replace(position_scale=None)
    for tokens in exp.data(0):
        assert float(spacing(tokens)) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_a_number_is_taken_as_it_is(name):
    plain, scaled = (CASES[name].replace(position_scale=scale) for scale in (1.0, 10.0))
    assert (plain.scale, scaled.scale) == (1.0, 10.0)
    assert float(spacing(scaled.data(0).train)) == pytest.approx(10 * float(spacing(plain.data(0).train)), rel=1e-9)

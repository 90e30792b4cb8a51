"""A model that learns its unit of time: the plain model at other positions."""

from dataclasses import replace

import pytest
import torch

from romae_book.experiments.frequencies.experiment import Frequencies
from romae_book.experiments.synthetic.experiment import Synthetic
from romae_book.experiments.unit import LearntUnit
from romae_lite.masking import hide, split
from romae_lite.model import RoMAE

SMALL = {"encoder": "16x2x1x16", "decoder": "16x2x1x16", "n_train": 64, "n_valid": 8, "n_test": 8, "epochs": 1}


@pytest.fixture
def both():
    """The same weights with and without the factor, tokens, and where to look."""
    exp = Frequencies.quick().replace(per_group=1, **SMALL)
    plain, learnt = exp.build(0), exp.replace(learn_unit=True).build(0)
    assert type(plain) is RoMAE and type(learnt) is LearntUnit
    tokens = exp.data(0).valid
    hidden = hide(tokens.real, visible=50, generator=torch.Generator().manual_seed(0))
    return plain, learnt, tokens, split(hidden, tokens.real)


def test_it_begins_as_the_plain_model_and_is_that_at_other_positions(both):
    plain, learnt, tokens, where = both
    assert torch.equal(learnt(tokens, where), plain(tokens, where))
    learnt.log_factor.data.fill_(0.7)
    further = replace(tokens, positions=tokens.positions * learnt.factor.item())
    assert torch.allclose(learnt(tokens, where), plain(further, where), atol=1e-5)  # float32


def test_its_gradient_is_the_slope_of_the_error(both):
    _, learnt, tokens, where = both
    error = lambda: learnt(tokens, where).square().mean()  # noqa: E731
    error().backward()
    ends = []
    for step in (1e-3, -1e-3):
        learnt.log_factor.data.fill_(step)
        ends.append(float(error()))
    slope = (ends[0] - ends[1]) / 2e-3
    assert float(learnt.log_factor.grad) == pytest.approx(slope, rel=0.05)  # a difference of float32


@pytest.mark.parametrize("exp", [Frequencies.quick().replace(per_group=1, **SMALL), Synthetic.quick().replace(**SMALL)])
def test_a_run_says_which_factor_it_learnt(exp):
    exp = exp.replace(learn_unit=True)
    data = exp.data(0)
    model, _ = exp.train(data, 0)
    found = exp.examine(model, data)
    assert found == {"learnt_factor": pytest.approx(float(model.log_factor.exp()))} and found["learnt_factor"] != 1
    assert exp.replace(learn_unit=False).examine(model, data) == {}

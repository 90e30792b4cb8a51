"""The fast path gives what the plain path gives: answers, gradients, and weights after ten steps of training."""

import copy
import types

import pytest
import torch

from romae_lite import fast
from romae_lite.fast import Fast, Slots
from romae_lite.masking import hide, split, take
from romae_lite.model import ModelConfig, RoMAE, RoMAEPredictor, masked_loss, reconstruction_loss, size
from romae_lite.rope import PositionEncoding, rotate
from romae_lite.tokens import Tokens
from romae_lite.training import Recipe, fit

# float32 keeps 6e-8; sums of a few hundred numbers in another order, through six layers, lose a digit or two
CLOSE = dict(rtol=2e-4, atol=2e-5)
SMALL = dict(patch=2, encoder=size("24x2x2x40"), decoder=size("24x2x2x40"))


def tokens(axes: int = 1, ragged: bool = False, n: int = 6, seed: int = 0) -> Tokens:
    g = torch.Generator().manual_seed(seed)
    pad = torch.arange(17) >= torch.randint(3, 18, (n, 1), generator=g) if ragged else None
    positions = 20 * torch.rand(n, 17, axes, dtype=torch.float64, generator=g)
    return Tokens(values=torch.randn(n, 17, 2, generator=g), positions=positions, pad=pad)


def gradients(model, value) -> dict:
    model.zero_grad()
    value.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters()}


def test_neighbouring_pairs_turn_as_the_halves_do():
    g = torch.Generator().manual_seed(0)
    x, angle = torch.randn(2, 5, 3, 8, generator=g), torch.rand(2, 5, 1, 4, generator=g)
    order = torch.arange(8).view(2, 4).T.flatten()  # 0 4 1 5 2 6 3 7
    found = fast.turn(x[..., order], torch.polar(torch.ones_like(angle), angle))
    torch.testing.assert_close(found, rotate(x, angle.cos(), angle.sin())[..., order], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize(
    ("kind", "axes", "cls"),
    [(k, axes, cls) for k in PositionEncoding.KINDS for axes, cls in ((1, True), (2, False))],
)
def test_reconstruction_and_its_gradients(alone, ragged, kind, axes, cls):
    torch.manual_seed(0)
    model = RoMAE(ModelConfig(**SMALL, axes=axes, cls=cls, alone=alone, positions=PositionEncoding(kind=kind)))
    batch = tokens(axes, ragged)
    where = split(hide(batch.real, ratio=0.6, generator=torch.Generator().manual_seed(1)), batch.real)
    target = take(batch.values, where.hidden)
    answers = []
    for form in (model, Fast(model)):
        out = form(batch, where)
        answers.append((out, gradients(model, reconstruction_loss(out, target, where.hidden_pad))))
    (expected, wanted), (out, found) = answers
    real = slice(None) if where.hidden_pad is None else ~where.hidden_pad
    torch.testing.assert_close(out[real], expected[real], **CLOSE)
    torch.testing.assert_close(found, wanted, **CLOSE)


@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("pool", ["cls", "mean", "token"])
def test_prediction_and_its_gradients(pool, ragged):
    torch.manual_seed(0)
    model, batch = RoMAEPredictor(ModelConfig(**SMALL, axes=1), outputs=3, pool=pool), tokens(1, ragged)
    real = batch.real if pool == "token" else slice(None)
    answers = []
    for form in (model, Fast(model)):
        out = form(batch)[real]
        answers.append((out, gradients(model, out.square().mean())))
    torch.testing.assert_close(*(out for out, _ in answers), **CLOSE)
    torch.testing.assert_close(*(found for _, found in answers), **CLOSE)


@pytest.mark.parametrize("ragged", [False, True])
def test_ten_steps_of_training(ragged):
    torch.manual_seed(0)
    plain = RoMAE(ModelConfig(**SMALL, axes=1))
    quick = copy.deepcopy(plain)
    data, recipe = tokens(1, ragged, n=40), Recipe(epochs=1, batch=4, lr=1e-3, warmup=2)

    def loss(model, batch, generator):
        return masked_loss(model, batch, hide(batch.real, ratio=0.6, generator=generator))

    histories = [fit(m, data, loss, recipe, seed=0, device="cpu", logs=10) for m in (plain, Fast(quick))]
    losses = [[entry["loss"] for entry in history] for history in histories]
    assert len(losses[0]) == 10
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)  # rounding, which ten steps let grow
    # AdamW divides by the size of a gradient: where that is nearly nothing, rounding decides on a whole step of lr
    for (name, a), b in zip(plain.named_parameters(), quick.parameters(), strict=True):
        assert (a - b).abs().mean() < 1e-5, name


def test_bfloat16_is_as_exact_as_the_plain_path():
    """Held against float32: the fast path may not lose more than the plain one does."""
    torch.manual_seed(0)
    model, batch = RoMAEPredictor(ModelConfig(**SMALL, axes=1), outputs=3).eval(), tokens()
    with torch.no_grad():
        exact = model(batch)
        with torch.autocast("cpu", torch.bfloat16):
            errors = [(form(batch) - exact).abs().max() for form in (model, Fast(model))]
    assert errors[1] < 2 * errors[0] and errors[0] > 0


@pytest.mark.parametrize("chance", ["dropout", "drop_path"])
def test_what_is_drawn_at_random_is_left_to_the_plain_path(chance):
    """Packed rows would draw other numbers."""
    torch.manual_seed(0)
    model, batch = RoMAEPredictor(ModelConfig(**SMALL, axes=1, **{chance: 0.5}), outputs=3).train(), tokens()
    answers = []
    for form in (model, Fast(model)):
        torch.manual_seed(1)
        answers.append(form(batch))
    assert torch.equal(*answers)
    assert not torch.equal(answers[0], Fast(model).eval()(batch))


def test_the_inside_is_recorded_by_the_plain_path():
    model, batch, record = RoMAEPredictor(ModelConfig(**SMALL, axes=1), outputs=3), tokens(), {}
    Fast(model)(batch, record=record)
    assert set(record) > {"encoder.0.attention", "encoder.1.out"}


def test_slots_are_spread_where_they_were():
    real = torch.tensor([[True, False, True], [False, True, False]])
    slots, x = Slots.of(real), torch.arange(1.0, 7).view(2, 3, 1)
    assert slots.pack(x).flatten().tolist() == [1, 3, 5] and slots.starts.tolist() == [0, 2, 3]
    assert torch.equal(slots.spread(slots.pack(x)), x * real[..., None])


def test_the_last_block_asks_for_nobody_but_the_readers(monkeypatch):
    """The saving is there: queries of the last block are as many as the head reads."""
    asked, attend = [], fast.attend

    def noted(q, k, v, mask):
        asked.append((q.shape[2], k.shape[2]))
        return attend(q, k, v, mask)

    monkeypatch.setattr(fast, "attend", noted)
    Fast(RoMAEPredictor(ModelConfig(**SMALL, axes=1), outputs=3))(tokens())
    assert asked == [(18, 18), (1, 18)]


@pytest.mark.parametrize("model", [None, torch.nn.Linear(1, 1)])
def test_other_models_are_refused(model):
    with pytest.raises(TypeError, match="model is"):
        Fast(model)


@pytest.mark.parametrize(
    ("cuda", "still", "mode"), [(True, True, "reduce-overhead"), (True, False, None), (False, True, None)]
)
def test_graphs_are_recorded_where_shapes_stay(monkeypatch, cuda, still, mode):
    asked = []

    class Anywhere(torch.nn.Module):
        def parameters(self):
            yield types.SimpleNamespace(is_cuda=cuda)

    monkeypatch.setattr(torch, "compile", lambda model, mode=None: asked.append(mode) or model)
    fast.compile_model(Anywhere(), still=still)
    assert asked == [mode]

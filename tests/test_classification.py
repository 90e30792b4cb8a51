"""Pre-training, then fine-tuning: the metrics against scikit-learn, the loss in closed form, a run that is killed."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from romae_book.experiments import experiments
from romae_book.experiments.base import Splits, setting
from romae_book.experiments.classification import Classification
from romae_book.lab.planned import Planned
from romae_book.lab.run import run
from romae_lite.fast import Fast
from romae_lite.masking import hide, split
from romae_lite.model import RoMAE, RoMAEPredictor
from romae_lite.tokens import Tokens
from romae_lite.training import CheckpointError, Interrupted


@dataclass(frozen=True, kw_only=True)
class Toy(Classification):
    """Three classes that are three levels; one series in two is padded."""

    name = "toy"
    patch = 2
    classes = 3
    encoder: str = setting("16x2x2x32", "size of the encoder")
    decoder: str = setting("16x2x1x32", "size of the decoder")
    epochs: int = setting(6, "passes over the training set", low=1)
    pretrain_epochs: int = setting(4, "passes over the training set before fine-tuning; 0: none", low=0)
    batch: int = setting(8, "samples per step", low=1)
    pretrain_batch: int = setting(16, "samples per step", low=1)
    lr: float = setting(1e-2, "peak learning rate", low=1e-12, high=10)

    @classmethod
    def paper(cls) -> "Toy":
        return cls()

    def data(self, seed: int) -> Splits:
        return Splits(*(levels(n, 10 * seed + i) for i, n in enumerate((24, 12, 30))))


def levels(n: int, seed: int) -> Tokens:
    generator = torch.Generator().manual_seed(seed)
    label = torch.arange(n) % 3
    values = label[:, None, None] - 1 + 0.3 * torch.randn(n, 9, 2, generator=generator)
    pad = (torch.arange(9) >= 6) & (torch.arange(n) % 2 == 0)[:, None]
    positions = torch.arange(9, dtype=torch.float64)[None, :, None].expand(n, 9, 1)
    return Tokens(values=values, positions=positions, pad=pad, aux={"label": label})


@pytest.fixture(scope="module")
def data() -> Splits:
    return Toy().data(0)


def same(a: torch.nn.Module, b: torch.nn.Module) -> bool:
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


# Metrics ------------------------------------------------------------------------------------------------------------


def test_score_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    for seed, present in ((0, 3), (1, 3), (2, 2)):  # in the last one, class 2 occurs only as a prediction
        rng = np.random.default_rng(seed)
        label, logits = torch.from_numpy(rng.integers(0, present, 50)), torch.from_numpy(rng.standard_normal((50, 3)))
        found, guess = Toy().score(logits, label), logits.argmax(1)
        assert found["accuracy"] == pytest.approx(metrics.accuracy_score(label, guess), abs=1e-12)
        assert found["f1_macro"] == pytest.approx(metrics.f1_score(label, guess, average="macro"), abs=1e-12)
        np.testing.assert_array_equal(Toy().confusion(logits, label), metrics.confusion_matrix(label, guess))


def test_f1_leaves_out_what_neither_occurs_nor_is_predicted():
    assert Toy().score(torch.tensor([[1.0, 0, 0], [0, 1.0, 0]]), torch.tensor([0, 1])) == {"accuracy": 1, "f1_macro": 1}


def test_logits_do_not_depend_on_the_company(data):
    """Batches of like length, cut to it, give what each series gives alone."""
    exp = Toy(dropout=0.5)
    model = exp.build(0)
    together = exp.logits(model, data.test, batch=7)
    alone = torch.cat([model.eval()(data.test[i : i + 1]) for i in range(len(data.test))])
    torch.testing.assert_close(together, alone.detach(), rtol=1e-4, atol=1e-5)  # float32 sums in another order
    assert not model.training


def test_logits_in_train_mode_are_noisy_and_leave_no_trace(data):
    exp = Toy(dropout=0.5)
    model = exp.build(0)
    quiet = exp.logits(model, data.test)
    assert not torch.equal(exp.logits(model, data.test, train_mode=True), quiet)
    assert not model.training
    assert torch.equal(exp.logits(model, data.test), quiet)


# Loss ---------------------------------------------------------------------------------------------------------------


def test_class_weights(data):
    uneven = data.train[torch.tensor([0, 3, 6, 9, 12, 1, 4, 2])]  # 5, 2 and 1 of the classes
    torch.testing.assert_close(Toy(balanced=True).class_weights(uneven), torch.tensor([8 / 15, 8 / 6, 8 / 3]))
    assert Toy().class_weights(uneven) is None
    lacking = uneven[torch.arange(7)]  # no class 2: as if there were one
    assert Toy(balanced=True).class_weights(lacking)[2] == pytest.approx(8 / 3)


def test_loss_in_closed_form(data):
    """-sum_k q_k log p_k with q = (1 - s) one-hot + s / K, averaged with the weights of the classes."""
    exp, batch = Toy(smoothing=0.3), data.train[:6]
    model = exp.build(1).eval()
    p = model(batch).detach().double().softmax(1)
    label, weights = batch.aux["label"], torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
    q = 0.7 * torch.nn.functional.one_hot(label, 3) + 0.1
    generator = torch.Generator()
    plain = exp.loss(model, batch, generator).detach()
    assert float(plain) == pytest.approx(float(-(q * p.log()).sum(1).mean()), rel=1e-5)
    weighted = -(q * weights * p.log()).sum() / weights[label].sum()
    got = exp.loss(model, batch, generator, weights.float()).detach()
    assert float(got) == pytest.approx(float(weighted), rel=1e-5)


def test_pretraining_loss_is_the_error_of_hidden_tokens(data):
    exp, batch = Toy(), data.train[:6]
    model = exp.autoencoder(0).eval()
    loss = exp.pretrain_loss(model, batch, torch.Generator().manual_seed(3))
    batch = batch._map(lambda t: t[:, :9] if t.ndim > 1 else t)
    hidden = hide(batch.real, ratio=exp.mask_ratio, generator=torch.Generator().manual_seed(3))
    errors = []
    for i in range(6):  # one sample at a time: no padding of any kind
        real = batch.real[i]
        one = Tokens(values=batch.values[i : i + 1, real], positions=batch.positions[i : i + 1, real])
        guess = model(one, split(hidden[i : i + 1, real], one.real))[0]
        errors.append((guess.detach() - one.values[0, hidden[i, real]]) ** 2)
    assert float(loss.detach()) == pytest.approx(float(torch.cat(errors).mean()), rel=1e-4)


# Two stages ---------------------------------------------------------------------------------------------------------


def test_start_takes_over_the_whole_encoder(data):
    exp = Toy()
    pretrained, model = exp.autoencoder(5), exp.build(0)
    before = {name: t.clone() for name, t in model.head.state_dict().items()}
    assert not torch.equal(model.encoder.embed.weight, pretrained.encoder.embed.weight)
    exp.start(model, pretrained, 0)
    assert same(model.encoder, pretrained.encoder)  # patch embedding and [CLS] included
    assert all(torch.equal(t, before[name]) for name, t in model.head.state_dict().items())


@pytest.mark.parametrize("name", [name for name, exp in experiments().items() if issubclass(exp, Classification)])
def test_pretraining_starts_from_the_weights_of_pytorch(name):
    """The authors' model for pre-training has PyTorch's own, uniform up to 1/sqrt(width), whatever the classifier's
    `init` is: the recipe of their classifier, normal of deviation 0.02, stalls it (D43)."""
    cls = experiments()[name]
    exp = cls.paper() if hasattr(cls, "paper") else cls.quick()
    exp = exp.replace(encoder="tiny-shallow", decoder="tiny-shallow")
    weight = exp.autoencoder(0).encoder.stack.blocks[0].attention.qkv.weight
    bound = weight.shape[1] ** -0.5
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)  # 97,200 weights tell it to 0.0015
    assert weight.abs().max() <= bound


def test_stages_share_no_random_stream_and_one_clock(data):
    model, history = Toy().train(data, 0, logs=4)
    stages = [entry["stage"] for entry in history]
    assert stages == ["pretrain"] * 4 + ["fine-tune"] * 4
    seconds = [entry["seconds"] for entry in history]
    assert seconds == sorted(seconds)
    assert history[0]["step"] < history[3]["step"] == 4 * math.ceil(24 / 16)
    assert history[-1]["step"] == 6 * math.ceil(24 / 8)
    assert {"valid_loss", "valid_accuracy", "valid_f1_macro"} <= history[-1].keys()
    assert Toy().evaluate(model, data.test)["accuracy"] > 0.9  # three levels, far apart


def test_both_stages_can_train_in_the_fast_form(data, monkeypatch):
    """The same weights up to rounding, by other arithmetic in each of the two stages."""
    asked, plain = [], Toy(epochs=1, pretrain_epochs=1, drop_path=0.0)
    for name in ("_reconstruct", "_predict"):  # where it does not hand over to the plain model
        ran = getattr(Fast, name)
        monkeypatch.setattr(Fast, name, lambda self, *args, ran=ran: asked.append(type(self.model)) or ran(self, *args))
    expected, _ = plain.train(data, 0)
    assert not asked
    found, history = plain.replace(fast=True).train(data, 0)
    assert set(asked) == {RoMAE, RoMAEPredictor} and {e["stage"] for e in history} == {"pretrain", "fine-tune"}
    for name, weight in expected.state_dict().items():
        torch.testing.assert_close(found.state_dict()[name], weight, rtol=0, atol=1e-4)  # steps of 1e-2, five of them


def test_class_weights_reach_every_step(monkeypatch):
    seen, loss = [], Toy.loss
    monkeypatch.setattr(
        Toy, "loss", lambda self, m, b, g, weights=None: seen.append(weights) or loss(self, m, b, g, weights)
    )
    exp = Toy(balanced=True, epochs=1, pretrain_epochs=0)
    data = exp.data(0)
    exp.train(data, 0)
    wanted = exp.class_weights(data.train)
    assert len(seen) >= math.ceil(24 / 8) and all(torch.equal(weights, wanted) for weights in seen[: 24 // 8])


def test_what_is_validated_on_is_the_part_for_validation(data):
    """What chooses weights and rates; the toy's test set has other series, and another loss."""
    exp = Toy(epochs=1, pretrain_epochs=0)
    model, history = exp.train(data, 0)
    assert history[-1]["valid_loss"] == pytest.approx(exp.validate(model, data.valid)["loss"], rel=1e-6)
    assert history[-1]["valid_loss"] != pytest.approx(exp.validate(model, data.test)["loss"], rel=1e-5)


def test_fine_tuning_starts_from_the_pretrained_model(data, monkeypatch):
    seen, start = [], Toy.start
    monkeypatch.setattr(Toy, "start", lambda self, m, first, seed: seen.append(first) or start(self, m, first, seed))
    Toy(epochs=1, pretrain_epochs=1).train(data, 0)
    assert len(seen) == 1 and isinstance(seen[0], RoMAE)
    Toy(epochs=1, pretrain_epochs=0).train(data, 0)
    assert len(seen) == 1


def test_without_pretraining(data):
    _, history = Toy(pretrain_epochs=0).train(data, 0, logs=3)
    assert {entry["stage"] for entry in history} == {"fine-tune"}


def test_seed_decides_everything(data):
    state = torch.get_rng_state()
    first, second, other = (Toy().train(data, seed)[0] for seed in (0, 0, 1))
    assert same(first, second)
    assert not same(first, other)
    assert torch.equal(torch.get_rng_state(), state)


class Stops:
    """Says stop at the n-th question."""

    def __init__(self, n: int):
        self.left = n

    def __call__(self) -> bool:
        self.left -= 1
        return self.left == 0


def test_killed_run_ends_in_the_same_weights(data, tmp_path):
    """Stopped in the first stage, then in the second, then at its last step: 8 steps of pre-training, 18 after it."""
    exp, checkpoint = Toy(dropout=0.3, drop_path=0.2), tmp_path / "toy.safetensors"
    whole, history = exp.train(data, 3, logs=5)
    for n, stage in ((3, "first"), (5 + 7, "second"), (6, "second")):
        with pytest.raises(Interrupted):
            exp.train(data, 3, logs=5, checkpoint=checkpoint, stop=Stops(n))
        assert [path.exists() for path in exp.checkpoints(checkpoint)] == [stage == "second", True]
    again, resumed = exp.train(data, 3, logs=5, checkpoint=checkpoint)
    assert same(whole, again)
    clock = ("seconds", "tokens_per_second")
    strip = lambda entries: [{k: v for k, v in e.items() if k not in clock} for e in entries]  # noqa: E731
    assert strip(resumed) == strip(history)


@pytest.mark.parametrize("steps", [4, 12], ids=["first", "second"])
def test_a_recorded_run_leaves_no_checkpoint_of_either_stage(steps, tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path))
    monkeypatch.setitem(experiments(), "toy", Toy)
    planned = Planned(experiment="toy", preset="paper", seed=0)
    with pytest.raises(Interrupted):
        run(planned, stop=Stops(steps))
    assert planned.build().checkpoints(planned.checkpoint)[1].exists()
    record = run(planned)
    assert [entry["stage"] for entry in record.history][:: len(record.history) - 1] == ["pretrain", "fine-tune"]
    assert list(tmp_path.rglob("*.safetensors")) == []


def test_settings_of_either_stage_belong_to_the_checkpoint(data, tmp_path):
    checkpoint = tmp_path / "toy.safetensors"
    with pytest.raises(Interrupted):
        Toy().train(data, 0, checkpoint=checkpoint, stop=Stops(12))
    with pytest.raises(CheckpointError):
        Toy(pretrain_lr=1e-3).train(data, 0, checkpoint=checkpoint)

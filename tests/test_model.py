"""The model against a slow float64 reference, its invariances, and the paper's parameter counts."""

import math
from itertools import pairwise, product

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from romae_lite.masking import hide, split, take
from romae_lite.model import (
    SIZES,
    Attention,
    Block,
    ModelConfig,
    RoMAE,
    RoMAEPredictor,
    attend,
    attend_in_eights,
    count_parameters,
    interpolate,
    normalise,
    predict_hidden,
    reconstruction_loss,
    size,
    split_mean_variance,
)
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens, collate

# Two evaluations of these small models in float32 that add up in another order: outputs of order one, a few hundred
# operations deep, each good to 6e-8.
CLOSE = dict(rtol=1e-5, atol=1e-5)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def config(**changes) -> ModelConfig:
    settings = dict(patch=2, axes=1, encoder=size("24x2x2x32"), decoder=size("16x2x1x24"))
    return ModelConfig(**(settings | changes))


def built(make, seed: int = 0):
    torch.manual_seed(seed)
    return make().eval()


def batch(*lengths: int, patch: int = 2, axes: int = 1, seed: int = 0) -> Tokens:
    g = generator(seed)
    return collate(
        [
            (torch.randn(n, patch, generator=g), 20 * torch.randn(n, axes, generator=g, dtype=torch.float64))
            for n in lengths
        ]
    )


def the_split(*lengths: int):
    """Half of batches of so many tokens hidden."""
    real = batch(*lengths).real
    return split(hide(real, ratio=0.5, generator=generator()), real)


def masked(model: RoMAE, tokens: Tokens, hidden: torch.Tensor) -> list[torch.Tensor]:
    """Predictions of each sample's hidden tokens, in order, without padding."""
    where = split(hidden, tokens.real)
    out = model(tokens, where)
    return [row if where.hidden_pad is None else row[~where.hidden_pad[b]] for b, row in enumerate(out)]


# The whole model, written again -------------------------------------------------------------------------------------


def reference_norm(x, gain):
    return torch.stack([row / math.sqrt(float((row**2).mean()) + 1e-12) for row in x]) * gain


def reference_rotation(vector, position, p):
    """One head of one token: pair by pair, axis by axis, as complex numbers."""
    head_dim, axes = len(vector), len(position)
    dim, half = head_dim // axes, head_dim // 2
    out = vector.clone()
    for axis in range(axes):
        for i in range(dim // 2):
            theta = 10_000 ** (-2 * i / dim) if i < int(p * (dim // 2)) else 0.0
            a = axis * dim // 2 + i
            turned = complex(vector[a], vector[half + a]) * complex(
                math.cos(theta * position[axis]), math.sin(theta * position[axis])
            )
            out[a], out[half + a] = turned.real, turned.imag
    return out


def reference_block(x, positions, block, heads, p):
    """x (N, E) of one sample, float64; one head and one query after the other."""
    w = {name: t.detach().double() for name, t in block.named_parameters()}
    n, dim = x.shape
    q, k, v = (reference_norm(x, w["norm1.weight"]) @ w["attention.qkv.weight"].T).split(dim, dim=1)
    mixed = torch.zeros_like(x)
    for h in range(heads):
        part = slice(h * dim // heads, (h + 1) * dim // heads)
        q_h = [reference_rotation(q[i, part], positions[i].tolist(), p) for i in range(n)]
        k_h = [reference_rotation(k[i, part], positions[i].tolist(), p) for i in range(n)]
        for i in range(n):
            score = torch.tensor([float(q_h[i] @ key) / math.sqrt(dim // heads) for key in k_h]).double()
            mixed[i, part] = score.exp() / score.exp().sum() @ v[:, part]
    x = x + mixed @ w["attention.out.weight"].T
    inner = reference_norm(x, w["norm2.weight"]) @ w["ff.up.weight"].T
    return x + (inner / (1 + (-inner).exp())) @ w["ff.down.weight"].T


def linear(layer, x):
    return x @ layer.weight.detach().double().T + layer.bias.detach().double()


def reference_romae(model, values, positions, hidden):
    """values (N, P), positions (N, D), hidden (N,) of one sample -> predictions (M, P), float64."""
    c = model.config
    x, at = linear(model.encoder.embed, values[~hidden].double()), positions[~hidden]
    if c.cls:
        x = torch.cat((model.encoder.cls.detach().double()[None], x))
        at = torch.cat((torch.zeros(1, c.axes).double(), at))
    for block in model.encoder.stack.blocks:
        x = reference_block(x, at, block, c.encoder.heads, c.positions.p)
    x = linear(model.project, x)
    x = torch.cat((x, model.mask_token.detach().double().expand(int(hidden.sum()), -1)))
    at = torch.cat((at, positions[hidden]))
    for block in model.decoder.blocks:
        x = reference_block(x, at, block, c.decoder.heads, c.positions.p)
    _, gain, last = model.head
    return linear(last, reference_norm(x[-int(hidden.sum()) :], gain.weight.detach().double()))


@pytest.mark.parametrize(("axes", "cls", "p"), [(1, True, 0.75), (1, False, 1.0), (2, True, 0.75), (3, False, 0.75)])
def test_equals_the_reference(axes, cls, p):
    c = config(
        axes=axes, cls=cls, positions=PositionEncoding(p=p), encoder=size("48x2x2x20"), decoder=size("24x2x1x20")
    )
    model = built(lambda: RoMAE(c))
    for parameter in model.parameters():  # gains and biases away from one and zero
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator(1))
    tokens = batch(9, axes=axes)
    hidden = hide(tokens.real, ratio=0.6, generator=generator())
    exact = reference_romae(model, tokens.values[0], tokens.positions[0], hidden[0])
    torch.testing.assert_close(masked(model, tokens, hidden)[0].double(), exact, **CLOSE)


# Invariances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [True, False])
@pytest.mark.parametrize("kind", PositionEncoding.KINDS)
def test_padding_changes_nothing_in_romae(cls, kind):
    """Samples of several lengths together give what each gives alone; so do unequal numbers of hidden tokens."""
    model = built(lambda: RoMAE(config(axes=2, cls=cls, positions=PositionEncoding(kind=kind))))
    tokens = batch(11, 4, 7, axes=2)
    hidden = hide(tokens.real, ratio=(0.3, 0.8), generator=generator())
    together = masked(model, tokens, hidden)
    for b, n in enumerate((11, 4, 7)):
        alone = Tokens(values=tokens.values[b : b + 1, :n], positions=tokens.positions[b : b + 1, :n])
        torch.testing.assert_close(masked(model, alone, hidden[b : b + 1, :n])[0], together[b], **CLOSE)


@pytest.mark.parametrize("pool", ["cls", "mean", "token"])
def test_padding_changes_nothing_in_predictor(pool):
    model = built(lambda: RoMAEPredictor(config(), outputs=3, pool=pool))
    tokens = batch(11, 4, 7)
    together = model(tokens)
    for b, n in enumerate((11, 4, 7)):
        alone = model(Tokens(values=tokens.values[b : b + 1, :n], positions=tokens.positions[b : b + 1, :n]))[0]
        torch.testing.assert_close(alone, together[b, :n] if pool == "token" else together[b], **CLOSE)


@pytest.mark.parametrize("kind", ["rope", "absolute"])
@pytest.mark.parametrize("pool", ["cls", "mean", "token"])
def test_order_of_tokens_does_not_matter(pool, kind):
    model = built(lambda: RoMAEPredictor(config(axes=2, positions=PositionEncoding(kind=kind)), 3, pool))
    tokens = batch(10, 10, axes=2)
    order = torch.randperm(10, generator=generator())
    shuffled = Tokens(values=tokens.values[:, order], positions=tokens.positions[:, order])
    out = model(tokens)
    torch.testing.assert_close(model(shuffled), out[:, order] if pool == "token" else out, **CLOSE)


@pytest.mark.parametrize("offset", [7.3, -250.0, 1e6])
def test_shift_matters_only_to_cls(offset):
    """Corollary 4.1, and what breaks it: a [CLS] token that stays at zero."""
    tokens = batch(10, axes=2)
    moved = Tokens(values=tokens.values, positions=tokens.positions + offset)
    hidden = hide(tokens.real, ratio=0.5, generator=generator())
    for cls in (False, True):
        model = built(lambda cls=cls: RoMAE(config(axes=2, cls=cls)))
        change = (masked(model, moved, hidden)[0] - masked(model, tokens, hidden)[0]).abs().max()
        assert change > 1e-3 if cls else change < 1e-5


def test_identical_tokens_without_cls_are_blind_to_position():
    """Every token attends to copies of itself: whatever the weights of the average, the result is the same."""
    values = torch.ones(1, 10, 2)
    spread = [Tokens(values=values, positions=50 * torch.rand(1, 10, 1, generator=generator(i))) for i in range(2)]
    for cls in (False, True):
        model = built(lambda cls=cls: RoMAEPredictor(config(cls=cls), 1, "token"))
        change = (model(spread[0]) - model(spread[1])).abs().max()
        assert change > 1e-3 if cls else change < 1e-5


def test_positions_matter():
    """The invariances above would hold for a model that ignores positions, or one of their axes."""
    tokens = batch(10, axes=2)
    hidden = hide(tokens.real, ratio=0.5, generator=generator())
    for kind, axis in product(PositionEncoding.KINDS, (0, 1)):
        stretched = tokens.positions.clone()
        stretched[..., axis] *= 1.7
        model = built(lambda kind=kind: RoMAE(config(axes=2, cls=False, positions=PositionEncoding(kind=kind))))
        moved = Tokens(values=tokens.values, positions=stretched)
        change = (masked(model, moved, hidden)[0] - masked(model, tokens, hidden)[0]).abs().max()
        assert change < 1e-6 if kind == "none" else change > 1e-3


# Parts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [60, 64, 6])
@pytest.mark.parametrize("padded", [False, True])
def test_heads_filled_up_to_eights_attend_alike(dim, padded):
    q, k, v = torch.randn(3, 2, 3, 7, dim, generator=generator()).unbind()
    mask = (torch.arange(7) < torch.tensor([[7], [4]]))[:, None, None] if padded else None
    torch.testing.assert_close(attend_in_eights(q, k, v, mask), attend(q, k, v, mask), **CLOSE)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_papers_heads_get_a_fast_kernel_on_cuda(dtype):
    """With the slow kernel forbidden PyTorch raises where no other takes the work."""
    q, k, v = torch.randn(3, 2, 3, 70, 60, device="cuda", dtype=dtype, requires_grad=True).unbind()
    mask = (torch.arange(70, device="cuda") < 50).expand(2, 1, 1, 70)
    with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]):
        attend(q, k, v, mask).sum().backward()
        with pytest.raises(RuntimeError, match="No available kernel"):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@pytest.mark.parametrize("padded", [False, True])
def test_recorded_attention_is_what_attention_does(padded):
    tokens = batch(8, 5) if padded else batch(8, 8)
    model = built(lambda: RoMAEPredictor(config(cls=False), 1, "mean"))
    record = {}
    model(tokens, record=record)
    x = model.encoder.embed(tokens.values)
    rotation = PositionEncoding().rotation(tokens.positions, 12)
    for i, block in enumerate(model.encoder.stack.blocks):
        seen = record[f"encoder.{i}.attention"]  # (B, H, N, N)
        assert seen.shape == (2, 2, 8, 8)
        torch.testing.assert_close(seen.sum(-1), torch.ones(2, 2, 8), **CLOSE)
        if padded:
            assert (seen[1, :, :, 5:] == 0).all()
        inner = block.norm1(x)
        v = block.attention.qkv(inner)[..., -24:].unflatten(-1, (2, 12)).transpose(1, 2)  # (B, H, N, 12)
        by_hand = block.attention.out((seen @ v).transpose(1, 2).flatten(2))
        torch.testing.assert_close(block.attention(inner, rotation, tokens.pad), by_hand, **CLOSE)
        x = block(x, rotation, tokens.pad)
        torch.testing.assert_close(record[f"encoder.{i}.out"], x, rtol=0, atol=0)


def test_record_covers_both_stacks_and_changes_nothing():
    tokens = batch(8)
    hidden = hide(tokens.real, ratio=0.5, generator=generator())
    model, record = built(lambda: RoMAE(config())), {}
    plain = model(tokens, split(hidden, tokens.real))
    assert torch.equal(model(tokens, split(hidden, tokens.real), record), plain)
    blocks = ("encoder.0", "encoder.1", "decoder.0")
    assert set(record) == {f"{block}.{what}" for block in blocks for what in ("attention", "out")}
    assert record["encoder.0.attention"].shape == (1, 2, 5, 5)  # 4 visible and [CLS]
    assert record["decoder.0.attention"].shape == (1, 2, 9, 9)


def test_stochastic_depth():
    block = Block(size("16x2x1x32"), config(), drop_path=0.3)
    ones = torch.ones(20_000, 1, 1)
    torch.manual_seed(0)
    kept = block.train().skip(ones).flatten()
    assert kept.unique().tolist() == pytest.approx([0, 1 / 0.7])
    # the expectation is untouched: standard error sqrt(0.3 / 0.7 / 20,000) = 0.0046
    assert abs(kept.mean() - 1) < 4 * 0.0046
    assert torch.equal(block.eval().skip(ones), ones)


def test_stochastic_depth_grows_linearly_with_depth():
    model = RoMAE(config(encoder=size("16x2x5x16"), drop_path=0.4))
    rates = [block.drop_path for block in model.encoder.stack.blocks]
    assert rates[0] == 0 and rates[-1] == pytest.approx(0.4)
    assert [b - a for a, b in pairwise(rates)] == pytest.approx([0.1] * 4)


def test_attention_dropout_acts_on_the_weights_alone():
    """Values that are all one come back as the sum of the weights: 1 without dropout; with it each weight is left out
    or divided by the share that stays, which keeps the mean."""
    q, k, v = torch.randn(3, 2, 4, 6, 64, generator=generator()).unbind(0)
    assert torch.equal(attend(q, k, v, None, 0.0), attend(q, k, v, None))
    torch.manual_seed(0)
    sums = torch.cat([attend(q, k, torch.ones_like(v), None, 0.3)[..., 0].flatten() for _ in range(200)])
    assert sums.std() > 0.1
    assert abs(sums.mean() - 1) < 5 * sums.std() / math.sqrt(len(sums))


@pytest.mark.parametrize("where", ["dropout", "attention_dropout", "head_dropout"])
def test_each_dropout_is_where_it_says_and_only_in_training(where):
    tokens = batch(8)
    model = built(lambda: RoMAEPredictor(config(**{where: 0.5}), 4, "mean"))
    record, still = {}, {}
    torch.manual_seed(1)
    noisy = model.train()(tokens, record)
    quiet = model.eval()(tokens, still)
    assert not torch.equal(noisy, quiet) and torch.equal(quiet, model(tokens))
    # dropout before the head leaves the encoder alone
    assert torch.equal(record["encoder.1.out"], still["encoder.1.out"]) == (where == "head_dropout")


def test_initialisation_of_the_authors():
    """Every linear layer from a normal of std 0.02, biases zero; the rest as before. "body" leaves the head alone."""
    make = dict(encoder=size("180x3x2x720"))
    ours, theirs, body = (
        built(lambda init=init: RoMAEPredictor(config(**make, init=init), 4, "cls"))
        for init in ("torch", "normal", "body")
    )
    for name, layer in theirs.named_modules():
        if isinstance(layer, torch.nn.Linear):
            n = layer.weight.numel()  # the standard deviation of n draws is known to 1 / sqrt(2 n); five of these
            assert abs(layer.weight.std() / 0.02 - 1) < 5 / math.sqrt(2 * n), name
            assert layer.bias is None or not layer.bias.any()
    assert torch.equal(ours.encoder.cls, theirs.encoder.cls)
    assert ours.encoder.stack.blocks[0].attention.qkv.weight.std() > 0.04  # uniform on +-1/sqrt(180): 0.043
    for (name, of_body), of_theirs, of_ours in zip(
        body.named_parameters(), theirs.parameters(), ours.parameters(), strict=True
    ):
        assert torch.equal(of_body, of_ours if name.startswith("head.") else of_theirs), name


def test_no_state_that_a_cast_could_harm():
    """Frequencies are computed, not kept: no buffer to lose digits in `.half()`."""
    assert not list(RoMAE(config()).buffers())


@pytest.mark.parametrize("padded", [False, True])
def test_autocast_stays_close_to_float32(padded):
    tokens, model = batch(12, 6 if padded else 12), built(lambda: RoMAE(config()))
    hidden = hide(tokens.real, ratio=0.5, generator=generator())
    exact = torch.cat(masked(model, tokens, hidden))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = torch.cat(masked(model, tokens, hidden))
    assert rough.dtype == torch.float32
    # products of numbers with 8 bits, good to 2^-8 each, summed with random signs in a dozen layers
    torch.testing.assert_close(rough, exact, rtol=0, atol=8 * 2**-8 * float(exact.detach().std()))
    assert not torch.equal(rough, exact)


def test_start_from_takes_the_whole_encoder():
    """Patch embedding and [CLS] included (deviation D4)."""
    pretrained, model = built(lambda: RoMAE(config()), 1), built(lambda: RoMAEPredictor(config(), 3), 2)
    head = [p.clone() for p in model.head.parameters()]
    assert model.start_from(pretrained) is model
    for name, p in pretrained.encoder.named_parameters():
        assert torch.equal(model.encoder.get_parameter(name), p), name
    assert {"embed.weight", "embed.bias", "cls"} <= dict(model.encoder.named_parameters()).keys()
    assert all(torch.equal(a, b) for a, b in zip(head, model.head.parameters(), strict=True))
    model.encoder.embed.weight.data += 1  # a copy, not the same tensor
    assert not torch.equal(model.encoder.embed.weight, pretrained.encoder.embed.weight)
    for name, changed in (
        ("encoder", {"encoder": size("24x3x2x32")}),  # the weights would fit, the heads do not
        ("positions", {"positions": PositionEncoding(kind="quantised")}),
        ("cls", {"cls": False}),
    ):
        with pytest.raises(ValueError, match=f"{name} is .* here and .* in the pre-trained model; they must agree"):
            RoMAEPredictor(config(**changed), 3, pool="mean").start_from(pretrained)


# Gradients ----------------------------------------------------------------------------------------------------------


def gradients(model, tokens, hidden):
    model.zero_grad()
    where = split(hidden, tokens.real)
    loss = reconstruction_loss(model(tokens, where), take(tokens.values, where.hidden), where.hidden_pad)
    loss.backward()
    return loss.detach()


@pytest.mark.parametrize("padded", [False, True])
def test_gradients_are_finite_and_reach_everything(padded):
    tokens, model = batch(12, 6 if padded else 12), built(lambda: RoMAE(config())).train()
    gradients(model, tokens, hide(tokens.real, ratio=0.6, generator=generator()))
    for name, p in model.named_parameters():
        assert p.grad is not None and torch.isfinite(p.grad).all() and p.grad.abs().max() > 0, name


def test_mask_token_does_not_swamp_the_rest():
    """The norm divides by the size of its input: started at zero, as the authors' is, the mask token's gradient is
    thousands of times everybody else's, and clipping leaves nothing to the others (deviation D3)."""
    tokens = batch(20, 20)
    hidden = hide(tokens.real, ratio=0.6, generator=generator())
    share = {}
    for start in ("ours", "zero"):
        model = built(lambda: RoMAE(config()))
        if start == "zero":
            model.mask_token.data.zero_()
        gradients(model, tokens, hidden)
        rest = torch.stack([p.grad.norm() for n, p in model.named_parameters() if n != "mask_token"]).norm()
        share[start] = float(model.mask_token.grad.norm() / rest)
    assert share["ours"] < 20 and share["zero"] > 1000, share


def test_overfits_one_batch():
    tokens = batch(12, 12, 9, seed=5)
    hidden = hide(tokens.real, ratio=0.5, generator=generator())
    model = built(lambda: RoMAE(config(encoder=size("32x2x2x64"), decoder=size("32x2x2x64")))).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    first = None
    for _ in range(150):
        loss = gradients(model, tokens, hidden)
        first = first or float(loss)
        optimizer.step()
    assert first > 0.5  # the variance of the values is one
    assert float(loss) < 0.005


# Loss ---------------------------------------------------------------------------------------------------------------


def test_loss_counts_real_hidden_tokens_only():
    """Token by token in plain Python; what stands in the padding is nobody's business, NaN included."""
    g = generator()
    prediction, target = torch.randn(2, 3, 4, 5, generator=g)
    pad = torch.tensor([[False] * 4, [False, True, True, True], [False, False, False, True]])
    errors = [
        (float(prediction[b, m, p]) - float(target[b, m, p])) ** 2
        for b in range(3) for m in range(4) for p in range(5) if not pad[b, m]
    ]
    assert float(reconstruction_loss(prediction, target, pad)) == pytest.approx(sum(errors) / len(errors), rel=1e-6)
    spoiled = target.masked_fill(pad[..., None], math.nan)
    assert torch.equal(reconstruction_loss(prediction, spoiled, pad), reconstruction_loss(prediction, target, pad))
    every = float(((prediction - target) ** 2).mean())
    assert float(reconstruction_loss(prediction, target, None)) == pytest.approx(every, rel=1e-6)
    assert float(reconstruction_loss(prediction.bfloat16(), target, None)) == pytest.approx(every, rel=0.02)


def test_a_model_that_says_how_sure_it_is():
    """Twice the numbers: means, and logarithms of variances that no weight can drive away."""
    tokens, model = batch(6, 6, 6, 6, patch=1), built(lambda: RoMAE(config(patch=1, spread=True)))
    found = interpolate(model, tokens, tokens.positions[0])
    mean, log_variance = split_mean_variance(1e4 * found)
    assert found.shape == (4, 6, 2) and torch.equal(mean, 1e4 * found[..., :1])
    assert torch.equal(log_variance, 14 * found[..., 1:].sign())


def test_asking_leaves_every_part_in_its_own_mode():
    model = built(lambda: RoMAE(config())).train()
    model.encoder.eval()  # frozen, say
    interpolate(model, batch(6), torch.zeros(1, 1, dtype=torch.float64))
    assert model.training and model.decoder.training and not any(m.training for m in model.encoder.modules())


def test_normalised_targets():
    target = 5 + 3 * torch.randn(4, 6, 16, generator=generator())
    out = normalise(target)
    for patch, result in zip(target.flatten(0, 1).tolist(), out.flatten(0, 1).tolist(), strict=True):
        mean = sum(patch) / 16
        variance = sum((v - mean) ** 2 for v in patch) / 15
        assert result == pytest.approx([(v - mean) / math.sqrt(variance + 1e-6) for v in patch], abs=1e-5)
    assert torch.isfinite(normalise(torch.ones(1, 1, 16))).all()  # a patch of one colour


# Table 8 ------------------------------------------------------------------------------------------------------------

# blocks alone; with what the paper counts too: patch embedding of 16 values, [CLS], a head with one output
@pytest.mark.parametrize(("decoder", "cls", "count"), [("tiny-shallow", True, 5_482_262), ("tiny", False, 9_373_682)])
def test_parameter_counts_of_pretraining(decoder, cls, count):
    with torch.device("meta"):
        model = RoMAE(ModelConfig(patch=2, axes=1, encoder=SIZES["tiny"], decoder=SIZES[decoder], cls=cls))
    assert count_parameters(model) == count


def test_parameter_count_of_the_pendulum():
    """Table 14 counts a patch of 16 and one output: 37.4K."""
    model = RoMAEPredictor(ModelConfig(patch=16, axes=1, encoder=size("60x2x2x30")), outputs=1)
    assert count_parameters(model) == 37_441


def test_initialisation():
    """[CLS] and mask token 0.02; linear layers as PyTorch does by default, uniform within 1 / sqrt(inputs)."""
    model = built(lambda: RoMAE(ModelConfig(patch=2, axes=1, encoder=SIZES["tiny-shallow"])))
    for token in (model.encoder.cls.detach(), model.mask_token.detach()):
        assert abs(float(token.std()) - 0.02) < 4 * 0.02 / math.sqrt(2 * 180)  # standard error of a std of 180 numbers
    weight = model.encoder.stack.blocks[0].attention.qkv.weight.detach()
    assert weight.abs().max() <= 1 / math.sqrt(180)
    assert abs(float(weight.std()) - 1 / math.sqrt(3 * 180)) < 1e-3


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: size("large"), "size is 'large'; choose one of tiny-shallow, tiny, small, base, pendulum, or spell"),
        (lambda: size("16x2x1"), "size is '16x2x1'"),
        (lambda: size("16x3x1x32"), "dim is 16; 3 heads of an even size need a multiple of 6"),
        (lambda: config(axes=3), "head_dim of the decoder is 8; 3 axes need a multiple of 6"),
        (lambda: config(axes=5), "head_dim of the encoder is 12; 5 axes need a multiple of 10"),
        (
            lambda: config(axes=5, positions=PositionEncoding(kind="absolute")),
            "dim of the encoder is 24; 5 axes need a multiple of 10",
        ),
        (
            lambda: config(encoder=size("8x4x1x8")),
            "p is 0.75, so that none of the 1 pair.s. of an axis turns in a head of",
        ),
        (lambda: config(encoder=size("8x2x1x8"), axes=2), "it must be at least 1 here, or 0"),
        (
            lambda: RoMAE(config())(batch(4, 4), the_split(4)),
            "the split is of 1 samples with . tokens or more; these are 2",
        ),
        (lambda: RoMAE(config())(batch(4), the_split(9)), "with 5 tokens or more; these are 1 with 4"),
        (lambda: RoMAE(config())(batch(4, 2), the_split(4, 4)), "the split shows or hides padding of sample 1"),
        (lambda: RoMAEPredictor(config(cls=False), 1), "pool is 'cls', but the model has no"),
        (lambda: RoMAEPredictor(config(), 1)(batch(4, patch=3)), "built for patch=2; these tokens have patch=3"),
        (lambda: RoMAEPredictor(config(), 1)(batch(4, axes=2)), "built for axes=1; these tokens have axes=2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_head_that_turns_nothing_is_there_for_who_asks():
    for encoding in (PositionEncoding(p=0), PositionEncoding(kind="none"), PositionEncoding(p=1)):
        config(encoder=size("8x4x1x8"), positions=encoding)


def test_attention_scale_is_the_head_dimension():
    """sqrt(head_dim), not sqrt(d_model) (deviation D2)."""
    torch.manual_seed(0)
    attention, x, record = Attention(24, 2), torch.randn(1, 5, 24), {}
    attention(x, None, None, record)
    q, k, _ = (t.unflatten(-1, (2, 12)).transpose(1, 2) for t in attention.qkv(x).chunk(3, dim=-1))
    torch.testing.assert_close(record["attention"], (q @ k.mT / math.sqrt(12)).softmax(-1), **CLOSE)


def test_a_mask_that_reaches_into_padding_asks_for_real_tokens_alone():
    """As `split` and `masked_loss` read it."""
    tokens, model = batch(6, 4, 6, patch=1), built(lambda: RoMAE(config(patch=1)))
    hidden = torch.arange(6).expand(3, 6) >= 2
    found = predict_hidden(model, tokens, hidden)
    assert torch.equal(found, predict_hidden(model, tokens, hidden & tokens.real))
    assert (found[1, 4:] == 0).all() and (found[hidden & tokens.real] != 0).all()

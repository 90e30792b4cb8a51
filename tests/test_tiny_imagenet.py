"""Tiny ImageNet: patches and positions, resolutions, augmentation, the authors' absolute codes, metrics."""

import io
from collections import Counter

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from conftest import ROOT
from PIL import Image

from romae_book.experiments.data import DataError, unpatchify
from romae_book.experiments.tiny_imagenet import data, rivals
from romae_book.experiments.tiny_imagenet.augment import OPERATIONS, randaugment
from romae_book.experiments.tiny_imagenet.experiment import DEVIATION, MEAN, TinyImageNet
from romae_lite.fast import Fast
from romae_lite.masking import hide, split, take
from romae_lite.model import RoMAE
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

CPU = torch.device("cpu")
TINY = dict(
    valid_per_class=1, encoder="16x2x1x32", decoder="16x2x1x32", per_class=6, n_test=20, epochs=1, pretrain_epochs=1
)
VARIANTS = (
    {}, {"pool": "mean", "cls": False}, {"encoding": "absolute"}, {"encoding": "absolute", "absolute": "grid"},
    {"pool": "mean"},
)


def quick(**changes) -> TinyImageNet:
    return TinyImageNet.quick().replace(**TINY | changes)


def pictures_for(exp: TinyImageNet, drawn: Tokens) -> Tokens:
    """The drawn pictures as tokens of another setting."""
    return exp.tokens(*(drawn.aux[name].numpy() for name in ("image", "label")))


@pytest.fixture(scope="module")
def drawn() -> Tokens:
    return quick().data(0).test


# Data -----------------------------------------------------------------------------------------------------------------


def test_drawn_pictures_are_repeatable_and_of_all_classes():
    pixels, label = data.simulated(40, np.random.default_rng(0))
    again, _ = data.simulated(40, np.random.default_rng(0))
    assert pixels.shape == (40, 64, 64, 3) and pixels.dtype == np.uint8 and (pixels == again).all()
    assert np.bincount(label).tolist() == [4] * 10
    assert data.simulated(6, np.random.default_rng(0), side=32, classes=3)[0].shape == (6, 32, 32, 3)


@pytest.mark.parametrize(
    ("name", "middle", "edge"), [("disc", 1, 0), ("ring", 0, 0), ("square", 1, 0), ("cross", 1, 0)]
)
def test_forms(name, middle, edge):
    u, v = np.meshgrid(np.linspace(-1.5, 1.5, 31), np.linspace(-1.5, 1.5, 31))
    form = data._form(name, u, v, np.random.default_rng(0))
    assert (form[15, 15], form[0, 15], form[15, 0]) == (middle, edge, edge)
    if name == "ring":
        assert form[15, 15 + 8]  # radius 0.8


@pytest.fixture
def photographs(tmp_path, monkeypatch):
    """A prepared file of ten classes, five training pictures each, whose brightness is 20 * class + number."""
    for name, value in {"CLASSES": 10, "PER_CLASS": 5, "TEST_PER_CLASS": 3}.items():
        monkeypatch.setattr(data, name, value)

    def part(numbers, origin):
        found = []
        for label in range(10):
            for i in numbers:
                out = io.BytesIO()
                Image.new("L", (64, 64), 20 * label + i).save(out, "JPEG", quality=95)
                found.append((label, i, out.getvalue()))
        return data.pack(found, origin)

    path = tmp_path / data.PREPARED
    data.Collection(tuple(f"n{k:08}" for k in range(10)), part(range(5), "t"), part(range(10, 13), "v")).save(path)
    return path


def test_real_pictures_are_the_first_of_each_class_and_validation_the_last_of_these(photographs):
    exp = TinyImageNet(
        side=64, patch_side=8, n_classes=10, per_class=4, valid_per_class=1, n_test=20, encoder="16x2x1x32"
    )
    train, valid, test = exp.data(0, photographs)

    def numbers(tokens):
        level = tokens.aux["image"].float().mean((1, 2, 3)).round().int() - 20 * tokens.aux["label"]
        return sorted(zip(tokens.aux["label"].tolist(), level.tolist(), strict=True))

    assert numbers(train) == [(k, i) for k in range(10) for i in range(3)]
    assert numbers(valid) == [(k, 3) for k in range(10)]
    assert len(test) == 20 and set(numbers(test)) < {(k, i) for k in range(10) for i in range(10, 13)}
    assert numbers(exp.data(1, photographs).test) == numbers(test)  # the same for every seed
    whole = data.load(photographs)
    data.Collection(whole.wnids, whole.train.rows(np.arange(49)), whole.test).save(
        photographs
    )  # four of the last class
    with pytest.raises(DataError, match="per_class is 5, and .* lower per_class"):
        exp.replace(per_class=5).data(0, photographs)


# Patches and positions ------------------------------------------------------------------------------------------------


def test_values_are_standardised_patches_in_rows(drawn):
    exp = quick()
    shown = exp.shown(drawn[:3], CPU, "test")
    assert shown.values.shape == (3, 64, 192) and set(shown.aux) == {"label"}
    picture = unpatchify(shown.values, (8, 8), (64, 64)) * torch.tensor(DEVIATION) + torch.tensor(MEAN)
    torch.testing.assert_close(255 * picture, drawn.aux["image"][:3].float(), atol=1e-3, rtol=0)  # float32 of 0..255
    for token, (row, column) in enumerate(shown.positions[0].long().tolist()):
        want = drawn.aux["image"][0, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8].flatten()
        got = (shown.values[0, token].view(64, 3) * torch.tensor(DEVIATION) + torch.tensor(MEAN)).flatten() * 255
        torch.testing.assert_close(got, want.float(), atol=1e-3, rtol=0)


def test_the_paper_resizes_to_224(drawn):
    exp = TinyImageNet.paper()
    assert exp.patch == 768 and exp.grid == 14 and len(exp.positions()) == 196
    shown = exp.shown(pictures_for(exp, drawn[:2]), CPU, "test")
    assert shown.values.shape == (2, 196, 768)
    whole = unpatchify(shown.values, (16, 16), (224, 224)).mean((1, 2))  # resizing keeps the mean colour, but for edges
    own = quick().shown(drawn[:2], CPU, "test").values.view(2, -1, 3).mean(1)
    torch.testing.assert_close(whole, own, atol=0.02, rtol=0)


def test_the_unit_of_positions():
    for scale, last in ((1.0, 7), (8.0, 56), (0.125, 0.875)):
        assert quick(position_scale=scale).positions().max() == pytest.approx(last)
    numbered = quick(encoding="absolute").positions()
    assert numbered[:, 0].tolist() == list(range(1, 65)) and quick(encoding="absolute").axes == 1
    assert quick(encoding="absolute", absolute="grid").positions().equal(quick().positions())


def test_at_the_same_resolution_nothing_changes(drawn):
    exp = quick(position_scale=3.0)
    tokens = pictures_for(exp, drawn[:4])
    shown = exp.shown(tokens, CPU, "test")
    for counted in (False, True):
        same = exp.at(tokens, 64, counted=counted)
        torch.testing.assert_close(same.positions, shown.positions)
        assert same.values.equal(shown.values) and same.aux["label"].equal(shown.aux["label"])


@pytest.mark.parametrize(("side", "cut"), [(96, 0), (48, 0), (64, 4), (128, 8), (72, 3)])
def test_patches_are_where_their_pixels_are(drawn, side, cut):
    """In pictures whose brightness is the row, or the column, the mean of a patch says where it is."""
    exp = quick(position_scale=2.0)
    ramp = torch.arange(64, dtype=torch.uint8)[:, None].expand(64, 64)
    image = torch.stack((ramp, ramp.T))[..., None].expand(2, 64, 64, 3).contiguous()
    tokens = Tokens(values=torch.zeros(2, 64, 1), positions=exp.positions().expand(2, -1, -1),
                    aux={"image": image, "label": torch.zeros(2)})
    found = exp.at(tokens, side, cut=cut)
    grid = (side - cut) // 8
    assert found.values.shape == (2, grid**2, 192)
    level = found.values.view(2, grid**2, 64, 3).mean(2)[..., 0] * DEVIATION[0] + MEAN[0]
    pixel = 255 * level.T.double()  # (N, 2): row and column of the centre, in pixels of 64
    inner = ((pixel > 8) & (pixel < 55)).all(1)  # resizing bends the ramp at the edges
    where = (pixel - 3.5) / 8 * 2.0  # a patch of the training grid has its centre at 3.5, 11.5, ...
    torch.testing.assert_close(found.positions[0][inner], where[inner], atol=0.01, rtol=0)
    counted = exp.at(tokens, side, cut=cut, counted=True).positions[0]
    assert counted.equal(torch.cartesian_prod(*[torch.arange(grid) * 2.0] * 2).double())


def test_fine_tuning_shows_a_share_of_the_patches_at_their_places(drawn):
    exp = quick(seen_share=0.25)
    full = exp.shown(drawn[:3], CPU, "test")
    torch.manual_seed(0)
    some = exp.shown(drawn[:3], CPU, "fine-tune")
    assert some.values.shape == (3, 16, 192) and exp.shown(drawn[:3], CPU, "pretrain").values.shape == (3, 64, 192)
    for b in range(3):
        number = (some.positions[b, :, 0] * 8 + some.positions[b, :, 1]).long()
        assert len(set(number.tolist())) == 16 and some.values[b].equal(full.values[b, number])


def test_randaugment_changes_pictures_in_fine_tuning_only(drawn):
    exp = quick(augment=2, seen_share=1.0)
    plain = exp.shown(drawn, CPU, "test").values
    assert exp.shown(drawn, CPU, "pretrain").values.equal(plain)
    torch.manual_seed(0)
    one, two = exp.shown(drawn, CPU, "fine-tune").values, exp.shown(drawn, CPU, "fine-tune").values
    torch.manual_seed(0)
    again = exp.shown(drawn, CPU, "fine-tune").values
    assert one.equal(again) and not one.equal(two) and not one.equal(plain)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # torchvision's tables at magnitude 9 of 30: 1 +- 0.27, 7 bits, a threshold of 178.5
        ("identity", lambda x, s: x),
        ("brightness", lambda x, s: x * (1 + 0.27 * s)),
        ("contrast", lambda x, s: _grey(x).mean() + (1 + 0.27 * s) * (x - _grey(x).mean())),
        ("colour", lambda x, s: _grey(x)[..., None] + (1 + 0.27 * s) * (x - _grey(x)[..., None])),
        ("posterize", lambda x, s: x // 2 * 2),
        ("solarize", lambda x, s: np.where(x < 178.5, x, 255 - x)),
        ("autocontrast", lambda x, s: (x - x.min((0, 1))) / np.ptp(x, (0, 1)) * 255),
    ],
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_operations_of_randaugment_on_levels(drawn, name, expected, sign):
    pixels = drawn.aux["image"][0].numpy()
    found = np.asarray(OPERATIONS[name](Image.fromarray(pixels), 9 / 30, sign)).astype(float)
    # Pillow rounds, or cuts off, a grey level and then the result
    np.testing.assert_allclose(found, np.clip(expected(pixels.astype(float), sign), 0, 255), atol=2)


def _grey(x):
    return x @ (0.299, 0.587, 0.114)


@pytest.mark.parametrize(
    ("name", "there"),
    [
        # a point at (x, y) from the upper left corner; 0.3 * 9 / 30 = 0.09, 150 / 331 * 64 * 9 / 30 = 8.7, 9 degrees
        ("shear x", lambda x, y, s: (x + s * 0.09 * y, y)),
        ("shear y", lambda x, y, s: (x, y + s * 0.09 * x)),
        ("translate x", lambda x, y, s: (x + s * 8, y)),
        ("translate y", lambda x, y, s: (x, y + s * 8)),
        ("rotate", lambda x, y, s: (31.5 + (x - 31.5) * np.cos(s * np.pi / 20) - (y - 31.5) * np.sin(s * np.pi / 20),
                                    31.5 + (x - 31.5) * np.sin(s * np.pi / 20) + (y - 31.5) * np.cos(s * np.pi / 20))),
    ],
)
def test_operations_of_randaugment_on_places(name, there):
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[39:42, 19:22] = 200  # around (20, 40)
    for sign in (-1, 1):
        found = np.asarray(OPERATIONS[name](Image.fromarray(pixels), 9 / 30, sign))[..., 0]
        y, x = np.argwhere(found).mean(0)
        assert any(np.hypot(x - a, y - b) < 0.8 for a, b in [there(20, 40, s) for s in (-1, 1)])
    one, two = (np.asarray(OPERATIONS[name](Image.fromarray(pixels), 9 / 30, s)) for s in (-1, 1))
    assert not np.array_equal(one, two)


def test_randaugment_draws_every_operation_and_sign_alike(monkeypatch):
    seen = []
    for name in OPERATIONS:
        monkeypatch.setitem(OPERATIONS, name, lambda p, m, s, name=name: seen.append((name, s)) or p)
    torch.manual_seed(0)
    pictures = torch.zeros(1400, 2, 2, 3, dtype=torch.uint8)
    assert randaugment(pictures, 2, 9).equal(pictures) and len(seen) == 2800
    count = Counter(seen)
    assert len(count) == 28 and all(abs(n - 100) < 5 * 100**0.5 for n in count.values())


# The authors' absolute codes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["absolute", "rope"])
def test_pretraining_in_the_fast_form_is_the_model_s_own(drawn, encoding):
    """The authors' codes of hidden patches are added by a `forward` of their own, which the fast form would pass by."""
    exp = quick(encoding=encoding)
    model = exp.autoencoder(0).eval()
    torch.nn.init.normal_(model.mask_token)
    tokens = exp.shown(pictures_for(exp, drawn[:2]), CPU, "pretrain")
    where = split(hide(tokens.real, ratio=0.75, generator=seeded(0)), tokens.real)
    with torch.no_grad():
        torch.testing.assert_close(Fast(model)(tokens, where), model(tokens, where), rtol=0, atol=1e-5)  # of order one


def test_the_authors_codes_are_those_of_their_rows(drawn):
    """Rows used for five patches of which 1 and 4 are hidden: [CLS] and the visible ones 0, 1, 3, 4, the hidden ones
    1 and 4 without an offset (numbers from their code, run by hand)."""
    exp = quick(encoding="absolute")
    model = exp.autoencoder(0).eval()
    tokens = exp.shown(pictures_for(exp, drawn[:2]), CPU, "pretrain").cut(slice(5))
    hidden = torch.tensor([[False, True, False, False, True]] * 2)
    where, seen = split(hidden, tokens.real), {}
    model.encoder.stack.register_forward_pre_hook(lambda m, args: seen.update(encoder=args))
    model.decoder.register_forward_pre_hook(lambda m, args: seen.update(decoder=args[0]))
    model(tokens, where)
    assert seen["encoder"][1][0, :, 0].tolist() == [0, 1, 3, 4]  # [CLS] and patches 0, 2, 3
    table = PositionEncoding(kind="absolute").embedding(torch.arange(6.0)[None, :, None], 16)[0]  # (6, E)
    code = seen["decoder"][0, -2:] - model.mask_token
    torch.testing.assert_close(code, table[[1, 4]])
    # visible patches bring no further code into the decoder, and it adds none
    assert model.decoder.encoding.embedding(torch.zeros(1, 3, 1), 16) is None
    assert model.decoder.encoding.rotation(torch.zeros(1, 3, 1), 8) is None


def test_the_grid_is_known_to_encoder_and_decoder(drawn):
    """Absolute rows and columns: moving a hidden patch's position changes what is painted there."""
    exp = quick(encoding="absolute", absolute="grid")
    model, tokens = exp.autoencoder(0).eval(), exp.shown(drawn[:1], CPU, "pretrain")
    assert type(model) is RoMAE and exp.axes == 2
    where = split(hide(tokens.real, ratio=0.75, generator=torch.Generator().manual_seed(0)), tokens.real)
    for axis in range(2):
        moved = tokens.positions.clone()
        moved[0, where.hidden[0, 0], axis] += 1
        other = Tokens(values=tokens.values, positions=moved)
        assert not torch.allclose(model(tokens, where)[0, 0], model(other, where)[0, 0])


# Training and metrics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("targets", ["patch", "pixels"])
def test_pretraining_loss(drawn, targets):
    exp = quick(targets=targets)
    model = exp.autoencoder(0).eval()
    loss = exp.pretrain_loss(model, drawn, torch.Generator().manual_seed(3))
    tokens = exp.shown(drawn, CPU, "pretrain")
    where = split(hide(tokens.real, ratio=0.75, generator=torch.Generator().manual_seed(3)), tokens.real)
    target = take(tokens.values, where.hidden)
    if targets == "patch":  # by hand: each patch's own mean and standard deviation
        flat = target.flatten(0, 1)
        target = torch.stack([(p - p.mean()) / (p.var() + 1e-6).sqrt() for p in flat]).view_as(target)
    # the same sum in another order, of numbers around 1
    torch.testing.assert_close(loss, (model(tokens, where) - target).square().mean(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_every_variant_from_data_to_metrics(changes):
    exp = quick(**changes)
    parts = exp.data(0)
    model, history = exp.train(parts, 0, logs=1)
    assert [entry["stage"] for entry in history] == ["pretrain", "fine-tune"]
    assert len(model.encoder.embed.weight[0]) == 192 and model.pool == exp.pool
    found = exp.evaluate(model, parts.test) | exp.examine(model, parts)
    found |= {} if changes else exp.compare(parts)  # which is the same for all
    assert list(found)[:2] == ["f1_macro", "accuracy"] and all(0 <= v <= 1 for v in found.values())
    assert found["accuracy_some"] == found["accuracy"]  # fewer than a thousand
    if exp.numbered:  # numbers in a sequence know of no place
        assert found["accuracy_finer"] == found["accuracy_finer_counted"]
    arrays = exp.arrays(model, parts)
    assert arrays["side"].tolist() == [32, 48, 64, 80, 96, 128]
    assert arrays["accuracy_at"][2] == arrays["accuracy_at_counted"][2] == found["accuracy"]
    assert arrays["confusion"].sum() == 20


def test_gradients_tell_drawn_shapes_apart():
    train, label = data.simulated(300, np.random.default_rng(0), side=32)  # of 64, covariances take ten times as long
    test, truth = data.simulated(100, np.random.default_rng(1), side=32)
    guess = rivals.gradients(train, label, test)
    assert (guess == truth).mean() > 0.5  # chance is 0.1; labels dealt out anew give no more than that
    mixed = rivals.gradients(train, np.random.default_rng(2).permutation(label), test)
    assert (mixed == truth).mean() < 0.3


def test_features_are_those_of_a_direction():
    """Stripes across have their gradients in another direction than stripes down: the same numbers, turned."""
    x = np.broadcast_to((np.arange(64) % 8 < 4)[:, None, None] * np.uint8(255), (64, 64, 3))
    across, down = rivals.features(np.stack((x, x.transpose(1, 0, 2))))[:, : 7 * 7 * 36].reshape(2, -1, 9)
    assert across.sum(0).argmax() != down.sum(0).argmax()
    assert np.sort(across.sum(0))[-1] == pytest.approx(np.sort(down.sum(0))[-1], rel=1e-5)


@pytest.mark.skipif(not (ROOT / "data" / "tiny_imagenet" / data.PREPARED).exists(), reason="the data are not here")
def test_the_real_file():
    found = data.load(ROOT / "data" / "tiny_imagenet")
    found.verify()
    assert len(found.test) == 10_000 and found.train.decoded(0).shape == (64, 64, 3)
    assert F.one_hot(torch.from_numpy(found.test.label).long(), 200).sum(0).eq(50).all()

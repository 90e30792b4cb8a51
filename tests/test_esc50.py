"""Sounds: the filter bank against Kaldi's recipe by hand, patches at their places, cuts, masks, folds, opponents."""

import math

import numpy as np
import pytest
import torch

from romae_book.experiments.esc50 import data as sounds
from romae_book.experiments.esc50 import rivals
from romae_book.experiments.esc50.data import PATCH, RATE, SHAPES, Clips, DataError, NotHere
from romae_book.experiments.esc50.experiment import ESC50
from romae_lite.masking import hide, split, take
from romae_lite.model import normalise
from romae_lite.training import seeded

pytest.importorskip("kaldi_native_fbank")
TINY = {"encoder": "16x2x1x32", "decoder": "16x2x1x32", "pretrain_epochs": 1, "epochs": 1, "n_train": 40}


@pytest.fixture(scope="module")
def clips() -> Clips:
    return sounds.simulated(12, np.random.default_rng(0))


@pytest.fixture(scope="module")
def tokens(clips):
    return sounds.tokens(clips, seconds=0.16, mels=348.3)


@pytest.fixture(scope="module")
def exp() -> ESC50:
    return ESC50.quick().replace(**TINY)


@pytest.fixture(scope="module")
def data(exp):
    return exp.data(0)


# Energies -------------------------------------------------------------------------------------------------------------


def by_hand(wave: np.ndarray, rate: int, hop: float) -> np.ndarray:
    """Kaldi's fbank, frame by frame and band by band, in float64."""
    size, step, n = round(0.025 * rate), round(hop * rate), 1 << (round(0.025 * rate) - 1).bit_length()
    window = 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(size) / (size - 1))
    edges = np.linspace(1127 * math.log(1 + 20 / 700), 1127 * math.log(1 + rate / 2 / 700), 130)
    at = 1127 * np.log(1 + np.arange(n // 2) * rate / n / 700)
    out = []
    for start in range(0, len(wave) - size + 1, step):
        frame = wave[start : start + size].astype(np.float64)
        frame -= frame.mean()
        frame -= 0.97 * np.concatenate((frame[:1], frame[:-1]))
        power = np.abs(np.fft.rfft(frame * window, n)[: n // 2]) ** 2
        bands = []
        for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
            weight = np.minimum((at - low) / (middle - low), (high - at) / (high - middle)).clip(0)
            bands.append(max(weight @ power, np.finfo(np.float32).eps))
        out.append(np.log(bands))
    return np.array(out)


@pytest.mark.parametrize(("rate", "hop"), [(16_000, 0.010), (16_000, 0.020), (44_100, 0.010)])
def test_energies_are_kaldis(rate, hop):
    wave = sounds.waveform(3, np.random.default_rng(1), seconds=0.3, rate=rate)
    found, wanted = sounds.fbank(wave, rate, hop), by_hand(wave, rate, hop)
    assert found.shape == wanted.shape
    # float32 windows and FFT: relative errors of 1e-6 in an amplitude, more where a band's energy is a small difference
    assert np.abs(found - wanted).max() < 2e-2 and np.abs(found - wanted).mean() < 1e-4


def test_a_tone_is_loudest_in_its_band():
    t = np.arange(RATE) / RATE
    for hz in (300.0, 1000.0, 5000.0):
        loudest = sounds.fbank(np.sin(2 * np.pi * hz * t).astype(np.float32)).mean(0).argmax()
        assert abs(sounds.mel(sounds.centres()[loudest]) - sounds.mel(hz)) < 22  # the bands are 21.8 mel apart


def test_too_short_a_sound_is_named():
    with pytest.raises(ValueError, match="wave holds 100 samples"):
        sounds.fbank(np.zeros(100, np.float32))


def test_made_up_sounds(clips):
    assert clips.label.tolist() == [0, 1, 2, 3, 4, 5] * 2 and clips.names == SHAPES
    again = sounds.simulated(12, np.random.default_rng(0))
    assert again.fingerprint() == clips.fingerprint() != sounds.simulated(12, np.random.default_rng(1)).fingerprint()


# Tokens ---------------------------------------------------------------------------------------------------------------


def test_a_patch_sits_at_its_middle_and_holds_its_part(clips, tokens):
    assert tokens.values.shape == (12, 64, 256)
    i = 3 * 8 + 5  # the fourth stretch of time, the sixth band of pitch
    part = clips.mel[2, 48:64, 80:96].astype(np.float32)
    np.testing.assert_array_equal(tokens.values[2, i].reshape(PATCH, PATCH).numpy(), part)
    middle = 0.0125 + 0.01 * (48 + 7.5)  # seconds: half a window, and the mean of frames 48 to 63
    pitch = sounds.mel(clips.hz[80:96]).mean()
    np.testing.assert_allclose(tokens.positions[2, i].numpy(), [middle / 0.16, pitch / 348.3], rtol=1e-12)


def test_bands_that_are_missing_repeat_the_highest(clips):
    less = Clips(clips.mel[..., :127], clips.label, clips.fold, clips.clip, clips.names, clips.seconds, clips.hz[:127])
    found = sounds.tokens(less, seconds=1, mels=1).values.reshape(12, 8, 8, PATCH, PATCH)
    np.testing.assert_array_equal(found[:, :, 7, :, 15].numpy(), found[:, :, 7, :, 14].numpy())


def test_level_is_that_of_all_energies(clips):
    mean, deviation = sounds.level(clips)
    values = clips.mel.astype(np.float64)
    assert mean == pytest.approx(values.mean(), rel=1e-9) and deviation == pytest.approx(values.std(), rel=1e-6)


def test_a_picture_is_what_tokens_were_cut_from(clips, tokens):
    whole, time, pitch = sounds.picture(tokens)
    np.testing.assert_array_equal(whole.numpy(), clips.mel[:, :128].astype(np.float32))
    assert len(time) == 8 and len(pitch) == 8


@pytest.mark.parametrize("by", ["seconds", "index"])
def test_the_same_cut_is_the_same(tokens, by):
    again = sounds.recut(tokens, by=by)
    assert torch.equal(again.values, tokens.values)
    torch.testing.assert_close(again.positions, tokens.positions, rtol=0, atol=1e-9)


def test_a_patch_keeps_its_second_however_it_is_cut(tokens):
    """Every other overlapping patch is one of training; by its number it is somewhere else."""
    seconds, index = (sounds.recut(tokens, every=8, by=by) for by in ("seconds", "index"))
    same = torch.arange(15 * 8).reshape(15, 8)[::2].flatten()
    assert torch.equal(seconds.values[:, same], tokens.values)
    torch.testing.assert_close(seconds.positions[:, same], tokens.positions, rtol=0, atol=1e-9)
    assert float(index.positions[0, -1, 0] - index.positions[0, 0, 0]) == pytest.approx(14)  # of 7 units of time
    gaps = sounds.recut(tokens, every=32)
    torch.testing.assert_close(gaps.positions[0, ::8, 0], tokens.positions[0, ::16, 0], rtol=0, atol=1e-9)


def test_a_longer_hop_lasts_longer(tokens):
    found = sounds.recut(tokens, thin=2)
    whole, _, _ = sounds.picture(tokens)
    torch.testing.assert_close(sounds.picture(found)[0], whole[:, ::2])
    assert float(found.positions[0, 8, 0] - found.positions[0, 0, 0]) == pytest.approx(2)
    back = sounds.picture(sounds.resized(tokens, 2))[0]
    assert back.shape == whole.shape and torch.equal(back[:, 0], whole[:, 0])


def test_rolling_loses_nothing(tokens):
    whole, turned = (sounds.picture(t)[0] for t in (tokens, sounds.rolled(tokens, seeded(1))))
    for before, after in zip(whole, turned, strict=True):
        shifts = [k for k in range(128) if torch.equal(after, before.roll(-k, 0))]
        assert len(shifts) == 1
    assert torch.equal(sounds.picture(sounds.rolled(tokens, seeded(1)))[0], turned)


# Files ----------------------------------------------------------------------------------------------------------------


def test_what_is_saved_is_read(clips, tmp_path):
    clips.save(tmp_path / "x.npz")
    found = sounds.read(tmp_path / "x.npz")
    assert found.fingerprint() == clips.fingerprint() and found.clip == clips.clip
    np.testing.assert_array_equal(found.seconds, clips.seconds)


def test_files_that_are_none_are_named(clips, tmp_path, monkeypatch):
    path = tmp_path / "esc50.npz"
    clips.save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="esc50.npz is not a prepared file"):
        sounds.read(path)
    late = Clips(**vars(clips) | {"seconds": clips.seconds[::-1]})
    late.save(path)
    with pytest.raises(DataError, match="seconds does not rise"):
        sounds.read(path)
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotHere, match=r"python data_scripts/librispeech\.py"):
        sounds.recordings("librispeech", seconds=1, mels=1, level=(0, 1))


def test_what_is_missing_from_a_fold_is_named(clips):
    everything = sounds.simulated(30, np.random.default_rng(0))
    everything.verify(each=1)
    with pytest.raises(DataError, match="fold 1 has 0 clips of 'siren'; it should have 1"):
        everything[np.arange(30) != 3].verify(each=1)


def test_folds_are_the_sets_own(tmp_path, monkeypatch):
    made = sounds.simulated(30, np.random.default_rng(0))
    (tmp_path / "esc50").mkdir()
    made.save(tmp_path / "esc50" / "esc50_logmel.npz")
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    exp = ESC50.small().replace(**TINY | {"n_train": None})
    for seed in (0, 4, 5):
        train, _, test = exp.clips(seed)
        assert set(test.fold) == {seed % 5 + 1} and set(train.fold) == {1, 2, 3, 4, 5} - {seed % 5 + 1}


def test_recordings_of_any_length(tmp_path):
    h5py = pytest.importorskip("h5py")
    energies = np.random.default_rng(0).normal(size=(3, 70, 128)).astype(np.float16)
    with h5py.File(tmp_path / "librispeech.h5", "w") as file:
        file["mel"], file["frames"] = energies, np.array([70, 33, 15])
    units = dict(seconds=0.16, mels=348.3, level=(0.0, 1.0))
    found = sounds.recordings("librispeech", path=tmp_path / "librispeech.h5", **units)
    assert found.real.sum(1).tolist() == [4 * 8, 2 * 8]  # the third is shorter than a patch
    first = energies[1, :16, :16].astype(np.float32)
    np.testing.assert_array_equal(found.values[1, 0].reshape(PATCH, PATCH).numpy(), first)
    assert len(sounds.recordings("librispeech", path=tmp_path / "librispeech.h5", most=1, **units)) == 1


def test_of_librispeech_seventy_in_a_hundred_are_taken(tmp_path, monkeypatch):
    """D.2 splits it 70 to 30; AudioSet-20k is taken whole, and so is a number that is asked for."""
    h5py = pytest.importorskip("h5py")
    for folder, name in (("librispeech", "librispeech"), ("audioset", "audioset20k")):
        (tmp_path / folder).mkdir()
        with h5py.File(tmp_path / folder / f"{name}.h5", "w") as file:
            file["mel"] = np.arange(20.0).repeat(16 * 128).reshape(20, 16, 128).astype(np.float16)
            file["frames"] = np.full(20, 16)
    monkeypatch.setenv("ROMAE_DATA", str(tmp_path))
    monkeypatch.setattr(ESC50, "clips", lambda self, seed, path=None: (sounds.simulated(6, np.random.default_rng(0)),))
    monkeypatch.setattr("romae_book.experiments.esc50.experiment.ENOUGH", 14)
    exp = ESC50.paper()
    taken = [exp.replace(pretrain="librispeech").pretrain_data(None, seed).values[:, 0, 0] for seed in (0, 1)]
    assert len(set(taken[0].tolist())) == 14 and torch.equal(*taken)  # each once, and the same ones for every seed
    assert len(exp.pretrain_data(None, 0)) == 20
    assert len(exp.replace(pretrain="librispeech", n_pretrain=20).pretrain_data(None, 0)) == 20
    monkeypatch.setattr("romae_book.experiments.esc50.experiment.ENOUGH", 15)
    with pytest.raises(DataError, match="librispeech has 14 sounds here, and Table 11 takes about 20,000"):
        exp.replace(pretrain="librispeech").pretrain_data(None, 0)


# Experiment -----------------------------------------------------------------------------------------------------------


def test_targets_are_what_they_say(exp, data):
    """An untrained model that always says 0 has the loss of the targets themselves."""
    batch, zero = data.train[torch.arange(8)], exp.autoencoder(0)
    torch.nn.init.zeros_(zero.head[-1].weight)
    torch.nn.init.zeros_(zero.head[-1].bias)
    plain = exp.replace(roll=False)
    where = split(hide(batch.real, ratio=0.75, generator=seeded(3)), batch.real)
    target = take(batch.values, where.hidden)
    for targets, wanted in (("normalised", normalise(target)), ("raw", target)):
        loss = plain.replace(targets=targets).pretrain_loss(zero, batch, seeded(3)).detach()
        assert float(loss) == pytest.approx(float(wanted.square().mean()), rel=1e-5)


def test_patches_are_left_out_of_fine_tuning(exp, data, monkeypatch):
    model, seen = exp.build(0), []
    monkeypatch.setattr(model, "forward", lambda t: seen.append(t.values.shape) or torch.zeros(len(t), exp.classes))
    batch = data.train[torch.arange(4)]
    for share in (0.75, 0.0):
        exp.replace(left_out=share).loss(model, batch, seeded(0))
    assert seen == [(4, 16, 256), (4, 64, 256)]


def test_without_cls_only_differences_of_time_count(exp, data):
    model, test = exp.build(0), data.test[torch.arange(5)]
    later = type(test)(values=test.values, positions=test.positions + torch.tensor([300.0, 0.0]), aux=dict(test.aux))
    # float32 sums in another order; logits are of the order of 1
    torch.testing.assert_close(exp.logits(model, later), exp.logits(model, test), rtol=0, atol=1e-4)


def test_both_stages_and_every_metric(exp, data):
    model, history = exp.train(data, 0)
    assert {entry["stage"] for entry in history} == {"pretrain", "fine-tune"}
    found = exp.examine(model, data)
    assert len(found) == 7 and all(0 <= value <= 1 for value in found.values())
    assert exp.arrays(model, data)["confusion"].sum() == len(data.test)


# Opponents ------------------------------------------------------------------------------------------------------------


def test_what_the_line_sees(clips, tokens):
    found = rivals.summary(tokens)
    values = clips.mel[:, :128].astype(np.float32)
    np.testing.assert_allclose(found[:, :128], values.mean(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[:, 128:], values.std(1, ddof=1), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(rivals.series(tokens), values.transpose(0, 2, 1))


def test_the_line_tells_made_up_sounds_apart(data):
    pytest.importorskip("sklearn")
    guess = rivals.linear(data.train, data.test)
    assert np.mean(guess == data.test.aux["label"].numpy()) > 0.5  # of six classes

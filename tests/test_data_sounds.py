"""The scripts for sounds: ESC-50 in every form, LibriSpeech, AudioSet; damaged, foreign and missing input named."""

import io
import tarfile
import zipfile

import numpy as np
import pytest
from prepared import prepares_once, refused

from romae_book.experiments.data import DataError
from romae_book.experiments.esc50 import data as sounds
from romae_book.experiments.esc50.data import NAMES, RATE

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("kaldi_native_fbank")
SECONDS = 0.3


def encoded(seed: int, form: str = "WAV", rate: int = RATE, seconds: float = SECONDS) -> bytes:
    """A made-up sound as a file."""
    wave = (32767 * sounds.waveform(seed % 6, np.random.default_rng(seed), seconds, rate)).astype(np.int16)
    packed = io.BytesIO()
    soundfile.write(packed, wave, rate, format=form, subtype="PCM_16")
    return packed.getvalue()


@pytest.fixture
def esc50(data_script, monkeypatch):
    """The script, for a set of two classes, a clip of each in a fold, of 0.3 seconds."""
    script = data_script("esc50")
    monkeypatch.setattr(script, "SECONDS", SECONDS)
    monkeypatch.setattr(script, "NAMES", NAMES[:2])
    monkeypatch.setattr(script, "ESC10", (0, 1))
    monkeypatch.setattr(sounds.Clips.verify, "__defaults__", (1,))
    return script


def files(form: str = "wav", rate: int = RATE) -> dict[str, bytes]:
    names = [f"{fold}-10{fold}{k}-A-{k}.{form}" for fold in range(1, 6) for k in range(2)]
    return {name: encoded(i, form.upper(), rate) for i, name in enumerate(names)}


def table(names) -> bytes:
    rows = [f"{name},{name[0]},{name.split('-')[3].split('.')[0]}" for name in names if name in files()]
    return "\n".join(["filename,fold,target", *rows]).encode()


def as_zip(folder, contents: dict[str, bytes]):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "ESC-50-master.zip", "w") as packed:
        packed.writestr("ESC-50-master/meta/esc50.csv", table(contents))
        for name, content in contents.items():
            packed.writestr(f"ESC-50-master/audio/{name}", content)
    return folder


def as_folder(folder, contents: dict[str, bytes], name="ESC-50-master/audio"):
    (folder / name).mkdir(parents=True)
    for file, content in contents.items():
        (folder / name / file).write_bytes(content)
    return folder


def as_tar(path, contents: dict[str, bytes], kind=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, f"w:{kind}") as packed:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path.parent


def run(script, *words) -> int:
    return script.main(list(map(str, words)))


def test_every_packing_gives_the_same(esc50, tmp_path):
    flac = {f"esc10_flac16k/{name}": content for name, content in files("flac").items()}
    sources = {
        "esc50.npz": [as_zip(tmp_path / "zip", files()), as_folder(tmp_path / "folder", files())],
        "esc10.npz": [as_tar(tmp_path / "tar" / "esc10_flac16k.tar", flac),
                      as_folder(tmp_path / "flac", files("flac"), "esc10_flac16k")],
    }
    energies = []
    for result, places in sources.items():
        for i, source in enumerate(places):
            out = tmp_path / f"out-{result}-{i}"
            assert run(esc50, "--source", source, "--out", out) == 0
            assert [path.name for path in out.iterdir()] == [result]
            found = sounds.read(out / result)
            assert found.label.tolist() == [0, 1] * 5 and found.fold.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
            energies.append(found.mel)
    for other in energies[1:]:  # 16 bits each way, and FLAC loses nothing
        np.testing.assert_array_equal(other, energies[0])


def test_a_clip_is_what_its_wave_is(esc50, tmp_path):
    """Of a file at 16 kHz, nothing happens to it before Kaldi's recipe."""
    assert run(esc50, "--source", as_zip(tmp_path / "zip", files()), "--out", tmp_path / "out") == 0
    wave, _ = soundfile.read(io.BytesIO(files()["2-1021-A-1.wav"]), dtype="float32")
    found = sounds.read(tmp_path / "out" / "esc50.npz")
    np.testing.assert_array_equal(found.mel[3], sounds.fbank(wave).astype(np.float16))


def test_a_tone_keeps_its_pitch_through_resampling(data_script):
    t = np.arange(44_100) / 44_100
    stereo = np.stack((np.sin(2 * np.pi * 1000 * t), np.sin(2 * np.pi * 1000 * t)), 1)
    packed = io.BytesIO()
    soundfile.write(packed, 0.5 * stereo, 44_100, format="WAV")
    data_script("esc50")  # finds what the scripts share
    import _sound

    wave = _sound.wave(packed.getvalue(), "tone.wav")
    assert len(wave) == RATE
    spectrum = np.abs(np.fft.rfft(wave))
    assert spectrum.argmax() == 1000 and np.abs(wave[1000:-1000]).max() == pytest.approx(0.5, abs=5e-3)


def test_a_sound_that_is_shorter_than_a_frame_is_named(data_script):
    packed = io.BytesIO()
    soundfile.write(packed, np.zeros(int(0.025 * 44_100)), 44_100, format="WAV")
    data_script("esc50")
    import _sound

    with pytest.raises(DataError, match="click.wav: lasts 0.024.* s; a frame of energies takes 0.025 s"):
        _sound.wave(packed.getvalue(), "click.wav")


def test_it_prepares_once(esc50, tmp_path, capsys):
    source = as_zip(tmp_path / "zip", files())  # which says what will be made of it
    prepares_once(esc50.main, source, tmp_path / "out" / "esc50.npz", capsys, later=source)
    assert len(sounds.read(tmp_path / "out" / "esc50.npz")) == 10


RIFF = encoded(3)
FAULTS = {
    "cut off": ({"3-1031-A-1.wav": RIFF[:3000]}, "3-1031-A-1.wav: is cut off"),
    "no sound": ({"3-1031-A-1.wav": b"I am no sound"}, "3-1031-A-1.wav: is damaged, or no sound"),
    "empty": ({"3-1031-A-1.wav": b""}, "3-1031-A-1.wav: is damaged, or no sound"),
    "too long": ({"3-1031-A-1.wav": encoded(3, seconds=0.5)}, "3-1031-A-1.wav: lasts 0.5 s; a clip lasts 0.3 s"),
    "a foreign name": ({"bark.wav": RIFF}, "bark.wav: the name is not <fold>-<source>-<take>-<class>"),
    "a class that is none": ({"1-1-A-7.wav": RIFF}, "1-1-A-7.wav: the name is not"),
    "one more": ({"1-1-A-1.wav": RIFF}, "fold 1 has 2 clips of 'rooster'; it should have 1"),
}


@pytest.mark.parametrize(("changes", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("form", [as_zip, as_folder])
def test_faults_are_named_and_nothing_is_left(esc50, tmp_path, capsys, form, changes, message):
    source, out = form(tmp_path / "in", files() | changes), tmp_path / "out"
    assert message in refused(esc50, source, out, capsys)
    if "should have" not in message:
        assert run(esc50, "--source", source, "--out", out, "--skip-bad") == 0
        assert "skipped: " in (told := capsys.readouterr().err) and message in told
        assert len(sounds.read(out / "esc50.npz")) == 10 - ("3-1031-A-1.wav" in changes)


def test_an_archive_that_is_cut_off(esc50, tmp_path, capsys):
    source = as_zip(tmp_path / "in", files())
    path = source / "ESC-50-master.zip"
    path.write_bytes(path.read_bytes()[:-200])
    assert "ESC-50-master.zip is damaged" in refused(esc50, source, tmp_path / "out", capsys, "--skip-bad")


def test_a_table_that_says_otherwise(esc50, tmp_path, capsys):
    source = as_folder(tmp_path / "in", files())
    text = table(files()).replace(b"3-1031-A-1.wav,3,1", b"3-1031-A-1.wav,4,1")
    (source / "ESC-50-master" / "esc50.csv").write_bytes(text)
    assert "3-1031-A-1.wav is of fold and class (4, 1) by esc50.csv" in refused(esc50, source, tmp_path / "out", capsys)


def test_a_clip_that_is_missing(esc50, tmp_path, capsys):
    few = {name: content for name, content in files().items() if not name.startswith("5-1050")}
    assert "fold 5 has 0 clips of 'dog'" in refused(esc50, as_zip(tmp_path / "in", few), tmp_path / "out", capsys)


def test_a_folder_without_any_of_it(esc50, tmp_path, capsys):
    assert "ESC-50-master.zip" in refused(esc50, tmp_path, tmp_path / "out", capsys)


# Pictures -------------------------------------------------------------------------------------------------------------


def pictures(folder):
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    np.save(folder / "frame_index.npy", np.arange(40, dtype=np.int16) * 17)  # beyond what int16 times 512 can hold
    for fold in range(1, 6):
        levels = rng.integers(0, 256, (2, 127, 40), dtype=np.uint8)
        names = np.array([f"{fold}-1-A-{k}.wav" for k in range(2)])
        np.savez(folder / f"fold{fold}.npz", X=levels, y=np.arange(2, dtype=np.int16), filename=names)
    return folder.parent


def test_pictures_are_energies_again(esc50, tmp_path):
    source = pictures(tmp_path / "in" / "logmel_uint8")
    assert run(esc50, "--source", source, "--out", tmp_path / "out") == 0
    found = sounds.read(tmp_path / "out" / "esc50_logmel.npz")
    levels = np.load(source / "logmel_uint8" / "fold2.npz")["X"]
    decibels = levels[1].T * 0.3125 - 80
    # float16 keeps 11 bits: 2^-11 of 18
    np.testing.assert_allclose(found.mel[3].astype(float), decibels * np.log(10) / 10, atol=1e-2)
    assert found.seconds[-1] == pytest.approx(39 * 17 * 512 / 44_100)
    assert (np.diff(found.hz) > 0).all() and found.hz[-1] < 22_050


def test_bands_of_pictures_are_librosas(data_script):
    """Slaney's formula from the definition: 200/3 Hz a step up to 1 kHz, then 27 steps to each factor of 6.4."""
    hz = data_script("esc50").slaney()
    low = hz[hz < 1000]
    np.testing.assert_allclose(np.diff(low), np.diff(low)[0], rtol=1e-9)
    high = np.diff(np.log(hz[hz > 1000]))
    np.testing.assert_allclose(high, high[0], rtol=1e-9)
    assert high[0] / np.diff(low)[0] == pytest.approx((np.log(6.4) / 27) / (200 / 3), rel=1e-9)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda f: (f / "fold3.npz").write_bytes(b"PK\x03\x04 no"), "fold3.npz is damaged"),
        (lambda f: (f / "fold3.npz").unlink(), "fold3.npz is missing"),
        (lambda f: (f / "frame_index.npy").unlink(), "frame_index.npy is missing"),
        (lambda f: np.save(f / "frame_index.npy", np.zeros(40)), "frame_index.npy: has shape"),
        (lambda f: np.savez(f / "fold3.npz", X=np.zeros(3)), "fold3.npz: lacks X, y or filename"),
        (lambda f: (f / "fold3.npz").write_bytes((f / "fold4.npz").read_bytes()), "fold3.npz: 4-1-A-0.wav is said"),
    ],
)
def test_faults_of_pictures_are_named(esc50, tmp_path, capsys, harm, message):
    source = pictures(tmp_path / "in" / "logmel_uint8")
    harm(source / "logmel_uint8")
    assert message in refused(esc50, source, tmp_path / "out", capsys)


# Sounds to pre-train on -----------------------------------------------------------------------------------------------

UNITS = dict(seconds=0.16, mels=348.3, level=(0.0, 1.0))


def utterances() -> dict[str, bytes]:
    return {f"LibriSpeech/dev-clean/84/1/84-1-{i}.flac": encoded(i, "FLAC", seconds=1 + i) for i in range(3)}


def test_librispeech(data_script, tmp_path, capsys):
    pytest.importorskip("h5py")
    script, out = data_script("librispeech"), tmp_path / "out"
    packed = as_tar(tmp_path / "in" / "dev-clean.tar.gz", {"LibriSpeech/README.TXT": b"read me", **utterances()}, "gz")
    assert run(script, "--source", packed, "--out", out, "--seconds", 2) == 0
    assert [path.name for path in out.iterdir()] == ["librispeech.h5"]
    found = sounds.recordings("librispeech", path=out / "librispeech.h5", **UNITS)
    # 98, 198 frames, and 198 of the one that was cut off after 2 s: 6 and 12 stretches of 16, 8 bands each
    assert found.real.sum(1).tolist() == [48, 96, 96]
    before = (out / "librispeech.h5").stat().st_mtime_ns
    assert run(script, "--source", packed, "--out", out, "--seconds", 2) == 0
    assert (out / "librispeech.h5").stat().st_mtime_ns == before and "nothing to do" in capsys.readouterr().out
    (folder := tmp_path / "folder" / "LibriSpeech" / "dev-clean").mkdir(parents=True)
    for i, content in enumerate(utterances().values()):
        (folder / f"{i}.flac").write_bytes(content)
    assert run(script, "--source", tmp_path / "folder", "--out", tmp_path / "out2", "--seconds", 2) == 0
    again = sounds.recordings("librispeech", path=tmp_path / "out2" / "librispeech.h5", **UNITS)
    np.testing.assert_array_equal(again.values.numpy(), found.values.numpy())


def test_faults_of_librispeech(data_script, tmp_path, capsys):
    pytest.importorskip("h5py")
    script, out = data_script("librispeech"), tmp_path / "out"
    bad = utterances() | {"LibriSpeech/dev-clean/84/1/84-1-1.flac": b"fLaC no"}
    packed = as_tar(tmp_path / "in" / "dev-clean.tar.gz", bad, "gz")
    assert "84-1-1.flac: is damaged" in refused(script, packed, out, capsys)
    assert run(script, "--source", packed, "--out", out, "--skip-bad") == 0
    assert len(sounds.recordings("librispeech", path=out / "librispeech.h5", **UNITS)) == 2
    assert run(script, "dev-other", "--source", packed, "--out", out) == 1  # what is there is not lost to another part
    assert "holds dev-clean; --force makes it anew, of dev-other" in capsys.readouterr().err
    assert "holds neither dev-other.tar.gz" in refused(script, packed, out, capsys, "dev-other", "--force")
    assert run(script, "--source", packed, "--out", out) == 1  # nor is one that lacks a sound taken for whole
    assert "84-1-1.flac: is damaged" in capsys.readouterr().err
    path = as_tar(tmp_path / "cut" / "dev-clean.tar.gz", utterances(), "gz") / "dev-clean.tar.gz"
    path.write_bytes(path.read_bytes()[:-3000])
    assert "dev-clean.tar.gz is damaged or cut off" in refused(script, path.parent, tmp_path / "out3", capsys)
    assert list((tmp_path / "out3").iterdir()) == []


IDS = ("--PJHxphWEs", "--aE2O5G5WE", "Yaaaaaaaaaa")


def clips(folder):
    folder.mkdir(parents=True)
    for i, name in enumerate((f"Y{IDS[0]}.wav", f"{IDS[1]}_30000_40000.flac", f"{IDS[2]}.wav", "something else.wav")):
        (folder / name).write_bytes(encoded(i, name[-4:].strip(".").upper(), seconds=0.5))
    (folder.parent / "list.csv").write_text(
        "# Segments csv\n# YTID, start_seconds, end_seconds, positive_labels\n"
        + "".join(f'{name}, 30.000, 40.000, "/m/09x0r"\n' for name in (*IDS, "zzzzzzzzzzz"))
    )
    return folder


def test_audioset_is_indexed(data_script, tmp_path, capsys):
    pytest.importorskip("h5py")
    script, out, folder = data_script("audioset"), tmp_path / "out", clips(tmp_path / "in" / "sounds")
    call = ("--source", folder, "--segments", folder.parent / "list.csv", "--out", out)
    assert run(script, *call) == 0
    assert "3 clips of the 4" in capsys.readouterr().out and [p.name for p in out.iterdir()] == ["audioset20k.h5"]
    found = sounds.recordings("audioset20k", path=out / "audioset20k.h5", **UNITS)
    assert found.real.sum(1).tolist() == [24] * 3  # 48 frames
    assert run(script, *call) == 0 and "nothing to do" in capsys.readouterr().out
    assert run(script, "--out", out) == 0 and "nothing to do" in capsys.readouterr().out
    assert run(script, "--source", folder, "--out", out) == 0 and "4 clips," in capsys.readouterr().out


def test_faults_of_audioset(data_script, tmp_path, capsys):
    pytest.importorskip("h5py")
    script, out, folder = data_script("audioset"), tmp_path / "out", clips(tmp_path / "in" / "sounds")
    listed = folder.parent / "list.csv"

    def refused(*words) -> str:
        assert run(script, *words, "--out", out) == 1
        assert not out.exists() or list(out.iterdir()) == []
        return capsys.readouterr().err

    assert "no --source FOLDER" in refused()
    assert "nowhere is no folder" in refused("--source", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "holds no .wav" in refused("--source", tmp_path / "empty")
    (folder / f"{IDS[0]}_again.wav").write_bytes(encoded(0))
    assert f"are both of {IDS[0]}" in refused("--source", folder, "--segments", listed)
    (folder / f"{IDS[0]}_again.wav").unlink()
    (folder / f"{IDS[2]}.wav").write_bytes(encoded(2)[:2000])
    assert f"{IDS[2]}.wav: is cut off" in refused("--source", folder, "--segments", listed)
    listed.write_text("short, 0, 10\n")
    assert "list.csv: line 1 begins with 'short'" in refused("--source", folder, "--segments", listed)
    listed.write_text("zzzzzzzzzzz, 0, 10\n")
    assert "none of its 4 sounds is in the list" in refused("--source", folder, "--segments", listed)

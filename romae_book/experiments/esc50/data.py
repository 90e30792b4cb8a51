"""Two thousand sounds of five seconds in fifty classes: ESC-50 (Piczak, 2015; paper Sec. 5.3, D.2).

A sound becomes a picture of its energy: 128 bands of the mel scale, a frame every 10 ms (`fbank`). `load` reads what
`data_scripts/esc50.py` prepared; `simulated` makes sounds where there are none; `tokens` cuts either into patches, each
at its own second and its own pitch.
"""

import hashlib
import io
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import interpolate

from romae_lite.io import atomic_write
from romae_lite.masking import take
from romae_lite.tokens import Tokens, patchify

from ..data import DataError, NotHere, changed, data_root, unpatchify

RATE = 16_000  # samples per second, of everything that is computed from audio, as SSAST's code has it
BANDS = 128
HOP, WINDOW = 0.010, 0.025  # seconds (D.2)
PATCH = 16  # frames, and bands
FOLDS = 5
NAMES = tuple(
    """dog rooster pig cow frog cat hen insects sheep crow rain sea_waves crackling_fire crickets chirping_birds
    water_drops wind pouring_water toilet_flush thunderstorm crying_baby sneezing clapping breathing coughing footsteps
    laughing brushing_teeth snoring drinking_sipping door_wood_knock mouse_click keyboard_typing door_wood_creaks
    can_opening washing_machine vacuum_cleaner clock_alarm clock_tick glass_breaking helicopter chainsaw siren car_horn
    engine train church_bells airplane fireworks hand_saw""".split()
)  # in the order of their numbers
ESC10 = (0, 1, 10, 11, 12, 20, 21, 38, 40, 41)  # the classes of ESC-10
SHAPES = ("rising chirp", "falling chirp", "harmonic tone", "siren", "noise bursts", "clicks")  # of `simulated`
SOURCES = {  # source -> file, clips of each class in a fold
    "audio": ("esc50.npz", 8), "logmel": ("esc50_logmel.npz", 8), "esc10": ("esc10.npz", 8),
}


@dataclass(frozen=True)
class Clips:
    """Sounds as pictures of their energy, all of one length.

    mel (n, T, F) float16: natural logarithm of the energy in band f of frame t; label (n,) index into names; fold (n,)
    1 to 5; clip: n file names; seconds (T,): the middle of each frame; hz (F,): of each band.
    """

    mel: np.ndarray
    label: np.ndarray
    fold: np.ndarray
    clip: tuple[str, ...]
    names: tuple[str, ...]
    seconds: np.ndarray
    hz: np.ndarray

    def __len__(self) -> int:
        return len(self.mel)

    def __getitem__(self, index: np.ndarray) -> "Clips":
        index = np.asarray(index)
        rows = np.flatnonzero(index) if index.dtype == bool else index
        clip = tuple(self.clip[i] for i in rows)
        return replace(self, mel=self.mel[rows], label=self.label[rows], fold=self.fold[rows], clip=clip)

    def fingerprint(self) -> str:
        """SHA-256 over names, classes, folds and energies to two digits. 16 hex digits."""
        digest = hashlib.sha256("\n".join((*self.names, *self.clip)).encode())
        for array in (self.label, self.fold):
            digest.update(array.astype("<i4").tobytes())
        for mel in self.mel:
            digest.update(np.round(mel.astype(np.float64), 2).astype("<f4").tobytes())
        return digest.hexdigest()[:16]

    def verify(self, each: int = 8) -> None:
        """DataError unless every fold has so many clips of every class, each clip once."""
        count = np.zeros((FOLDS, len(self.names)), int)
        np.add.at(count, (self.fold - 1, self.label), 1)
        if (count != each).any():
            fold, label = np.argwhere(count != each)[0]
            raise DataError(
                f"fold {fold + 1} has {count[fold, label]} clips of {self.names[label]!r}; it should have {each}"
            )
        if len(set(self.clip)) < len(self):
            again = next(name for name in self.clip if self.clip.count(name) > 1)
            raise DataError(f"clip {again} is there twice")
        if not np.isfinite(self.mel).all():
            bad = np.flatnonzero(~np.isfinite(self.mel).all((1, 2)))[0]
            raise DataError(f"clip {self.clip[bad]} holds energies that are not finite")

    def save(self, path: Path) -> None:
        packed = io.BytesIO()
        np.savez_compressed(
            packed, mel=self.mel.astype(np.float16), label=self.label.astype(np.int16), fold=self.fold.astype(np.int8),
            clip=np.array(self.clip), names=np.array(self.names), seconds=self.seconds, hz=self.hz,
        )
        atomic_write(path, packed.getvalue())


def read(path: Path) -> Clips:
    """What `Clips.save` wrote. DataError naming a file that is none."""
    try:
        with np.load(path) as file:
            found = {key: file[key] for key in Clips.__dataclass_fields__}
    except (BadZipFile, OSError, ValueError, KeyError, EOFError, ZlibError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    for key in ("label", "fold"):
        found[key] = found[key].astype(np.int64)
    clips = Clips(**found | {key: tuple(found[key].tolist()) for key in ("clip", "names")})
    n, (frames, bands) = len(clips.mel), clips.mel.shape[1:]
    for key in ("seconds", "hz"):
        if not (np.diff(found[key]) > 0).all():
            raise DataError(f"{path}: {key} does not rise; delete it and prepare it again")
    if not (len(clips.label) == len(clips.fold) == len(clips.clip) == n and clips.seconds.shape == (frames,)
            and clips.hz.shape == (bands,)):
        raise DataError(f"{path} is not a prepared file (lengths differ); delete it and prepare it again")
    return clips


def load(source: str, path: Path | None = None) -> Clips:
    """The clips of a source, from a file that `data_scripts/esc50.py` prepared, by default below $ROMAE_DATA or data/.
    NotHere, a FileNotFoundError, where it is not."""
    path = Path(path) if path else data_root() / "esc50" / SOURCES[source][0]
    path = path / SOURCES[source][0] if path.is_dir() else path
    if not path.is_file():
        raise NotHere(f"{path} is not here; `python data_scripts/esc50.py` prepares it, ROMAE_DATA says where it is")
    return _load(path, changed(path))


@lru_cache(maxsize=2)
def _load(path: Path, _changed: int) -> Clips:
    return read(path)


# Sound to energy ------------------------------------------------------------------------------------------------------


def mel(hz):
    """The mel scale of Kaldi and HTK: equal steps sound about equally far apart. Also of arrays."""
    return 1127 * np.log1p(np.asarray(hz) / 700)


def centres(rate: int = RATE, bands: int = BANDS, low: float = 20.0) -> np.ndarray:
    """The frequency (Hz) at which each band of `fbank` is most sensitive: equal steps of mel, (bands,)."""
    edges = np.linspace(mel(low), mel(rate / 2), bands + 2)
    return 700 * np.expm1(edges[1:-1] / 1127)


def fbank(wave: np.ndarray, rate: int = RATE, hop: float = HOP) -> np.ndarray:
    """A sound (S,), in -1 to 1, as the logarithm of its energy in 128 bands, a frame every hop: (T, 128) float32.

    Kaldi's recipe (D.2): windows of 25 ms with their mean taken off, a pre-emphasis of 0.97, a Hamming window, the
    power spectrum, triangles of equal width in mel. By kaldi-native-fbank; ImportError without it.
    """
    import kaldi_native_fbank

    options = kaldi_native_fbank.FbankOptions()
    frame, bank = options.frame_opts, options.mel_opts
    frame.samp_freq, frame.dither, frame.window_type = rate, 0.0, "hamming"
    frame.frame_length_ms, frame.frame_shift_ms = 1000 * WINDOW, 1000 * hop
    bank.num_bins, bank.low_freq = BANDS, 20.0
    bands = kaldi_native_fbank.OnlineFbank(options)
    bands.accept_waveform(rate, np.ascontiguousarray(wave, np.float32))
    bands.input_finished()
    if not bands.num_frames_ready:
        raise ValueError(f"wave holds {len(wave)} samples at {rate} Hz; a frame takes {round(WINDOW * rate)}")
    return np.stack([bands.get_frame(i) for i in range(bands.num_frames_ready)])


def frame_times(frames: int, hop: float = HOP) -> np.ndarray:
    """The middle of each frame of `fbank` in seconds, (frames,)."""
    return WINDOW / 2 + hop * np.arange(frames)


def waveform(kind: int, rng: np.random.Generator, seconds: float = 1.3, rate: int = RATE) -> np.ndarray:
    """A made-up sound of a kind of SHAPES, (S,) float32 in -1 to 1: pitch, tempo and loudness differ from one to the
    next, and a little noise is under all of them."""
    t = np.arange(round(seconds * rate)) / rate
    low, high = rng.uniform(250, 700), rng.uniform(1800, 4500)
    if kind in (0, 1):  # a pitch that doubles, or halves, several times on its way
        turns = rng.uniform(0.3, 0.7) if rng.random() < 0.5 else seconds  # so long lasts one chirp
        part = (t + rng.uniform(0, turns)) / turns % 1
        pitch = low * (high / low) ** (part if kind == 0 else 1 - part)
        sound = np.sin(2 * np.pi * np.cumsum(pitch) / rate)
    elif kind == 2:  # a tone with overtones that dies away
        start = rng.uniform(0, 0.3 * seconds)
        envelope = np.where(t < start, 0, np.exp(-(t - start).clip(0) / rng.uniform(0.3, 1.0)))
        sound = envelope * sum(np.sin(2 * np.pi * low * k * t) / k for k in range(1, 9))
    elif kind == 3:  # a pitch that goes up and down
        pitch = (
            1.5 * low * 2 ** (rng.uniform(0.3, 0.8) * np.sin(2 * np.pi * rng.uniform(1.5, 4) * t + rng.uniform(0, 6)))
        )
        phase = 2 * np.pi * np.cumsum(pitch) / rate
        sound = np.sin(phase) + 0.5 * np.sin(2 * phase) + 0.3 * np.sin(3 * phase)
    elif kind == 4:  # noise that comes and goes
        gate = (t * rng.uniform(2, 5) + rng.random()) % 1 < rng.uniform(0.3, 0.6)
        sound = gate * rng.standard_normal(len(t))
    else:  # clicks, evenly
        gap, sound = round(rate * rng.uniform(0.08, 0.25)), np.zeros(len(t))
        sound[rng.integers(gap) :: gap] = 1
        decay = np.exp(-np.arange(round(0.01 * rate)) / (0.002 * rate)) * rng.standard_normal(round(0.01 * rate))
        sound = np.convolve(sound, decay)[: len(t)]
    sound = sound / np.abs(sound).max() * rng.uniform(0.1, 0.8)
    return (sound + 10 ** rng.uniform(-4, -2.5) * rng.standard_normal(len(t))).clip(-1, 1).astype(np.float32)


def recordings(
    name: str, *, seconds: float, mels: float, level: tuple[float, float], most: int | None = None,
    path: Path | None = None,
) -> Tokens:
    """Sounds without classes to pre-train on, "librispeech" or "audioset20k", as `tokens` makes them: what their
    scripts prepared, by default below $ROMAE_DATA or data/. The first `most` of them. A sound that ends early has fewer
    patches, and padding after them; one that is shorter than a patch is left out. NotHere where there are none."""
    import h5py

    folder = {"librispeech": "librispeech", "audioset20k": "audioset"}[name]
    script = {"librispeech": "librispeech.py train-clean-100", "audioset20k": "audioset.py"}[name]
    path = Path(path) if path else data_root() / folder / f"{name}.h5"
    if not path.is_file():
        raise NotHere(f"{path} is not here; `python data_scripts/{script}` prepares it, ROMAE_DATA says where it is")
    try:
        with h5py.File(path) as file:
            energies, frames = file["mel"][:most], file["frames"][:most]
    except (OSError, KeyError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    some = np.flatnonzero(frames >= PATCH)
    if not len(some):
        raise DataError(f"{path} holds no sound that is as long as a patch of {PATCH} frames")
    n, length = len(some), energies.shape[1]
    none = np.zeros(n, int)
    whole = Clips(energies[some], none, none, ("",) * n, ("",), frame_times(length), centres())
    found = tokens(whole, seconds=seconds, mels=mels, level=level)
    rows = found.positions.shape[1] // (length // PATCH)
    real = torch.from_numpy(frames[some] // PATCH * rows)
    pad = torch.arange(found.positions.shape[1]) >= real[:, None]
    return replace(found, pad=pad if pad.any() else None, aux={})


def simulated(n: int, rng: np.random.Generator, seconds: float = 1.3) -> Clips:
    """n made-up sounds of the kinds in SHAPES, in turn: stand-ins that show that the code works, and no result.
    ValueError for less than one."""
    if n < 1:
        raise ValueError(f"n is {n}; make at least one sound")
    label = np.arange(n) % len(SHAPES)
    found = np.stack([fbank(waveform(kind, rng, seconds)) for kind in label])
    clip = tuple(f"simulated-{i}" for i in range(n))
    return Clips(
        found.astype(np.float16), label, 1 + np.arange(n) // len(SHAPES) % FOLDS, clip, SHAPES,
        frame_times(found.shape[1]), centres(),
    )


# Energy to tokens -----------------------------------------------------------------------------------------------------


def tokens(
    clips: Clips,
    *,
    seconds: float,
    mels: float,
    level: tuple[float, float] = (0.0, 1.0),
) -> Tokens:
    """Clips as patches of 16 frames by 16 bands: of each stretch of time all bands from
    low to high, then the next.

    seconds, mels  what counts as 1 on the two axes of position, time and pitch: a patch
                   sits at the mean second of its frames and the mean mel of its bands
    level          mean and standard deviation that the energies are scaled by

    Tokens: values (n, N, 256); positions (n, N, 2); aux: label (n,). Bands that a patch
    lacks repeat the highest one; frames that fill no patch are dropped from the end.
    ValueError where a clip is shorter than a patch.
    """
    picture = scaled(clips, level)
    columns = picture.shape[1] // PATCH
    if not columns:
        raise ValueError(f"a clip has {picture.shape[1]} frames; a patch takes {PATCH}")
    frames = columns * PATCH
    values, _ = patchify(picture[:, :frames, :, None], (PATCH, PATCH))
    hz = np.pad(clips.hz, (0, -len(clips.hz) % PATCH), "edge")
    time = clips.seconds[:frames].reshape(-1, PATCH).mean(1) / seconds  # (columns,)
    pitch = mel(hz).reshape(-1, PATCH).mean(1) / mels  # (rows,)
    positions = grid(torch.from_numpy(time), torch.from_numpy(pitch))
    positions = positions.expand(len(clips), -1, -1)
    label = torch.from_numpy(clips.label)
    return Tokens(values=values, positions=positions, aux={"label": label})


def grid(time: Tensor, pitch: Tensor) -> Tensor:
    """(columns,) and (rows,) -> (columns * rows, 2), pitch running fastest."""
    return torch.stack(torch.meshgrid(time, pitch, indexing="ij"), -1).flatten(0, 1)


def picture(tokens: Tokens) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens without padding back as pictures (n, T, F), with the times (columns,) and pitches (rows,) of the patches:
    the inverse of what `tokens` did, in its units."""
    time, pitch = (axis.unique() for axis in tokens.positions[0].unbind(-1))
    found = unpatchify(tokens.values, (PATCH, PATCH), (len(time) * PATCH, len(pitch) * PATCH))
    return found[..., 0], time, pitch


def recut(
    tokens: Tokens, *, every: int = PATCH, thin: int = 1, by: str = "seconds"
) -> Tokens:
    """The same sounds cut otherwise: nothing is resized, and patches keep 16 frames by
    16 bands.

    every  frames from one patch to the next: 16 side by side, fewer and they overlap,
           more and there are gaps
    thin   of the frames, take only every so-manieth, a picture with a longer hop
    by     what the patches' places in time are: their seconds; or their numbers, in
           steps as long as the tokens' own, which is all that a model with an index can
           be told
    """
    whole, time, pitch = picture(tokens)
    # from one patch to the next, in units of the positions
    step = float(time.diff().mean()) if len(time) > 1 else 1.0
    frames = torch.arange(whole.shape[1], dtype=torch.float64) - (PATCH - 1) / 2
    frames = time[0] + frames * step / PATCH
    whole, frames = whole[:, ::thin], frames[::thin]
    starts = torch.arange(0, whole.shape[1] - PATCH + 1, every)
    taken = starts[:, None] + torch.arange(PATCH)  # (columns, 16)
    values, _ = patchify(whole[:, taken.flatten(), :, None], (PATCH, PATCH))
    if by == "seconds":
        at = frames[taken].mean(1)
    else:
        at = time[0] + step * torch.arange(len(starts), dtype=torch.float64)
    positions = grid(at, pitch).expand(len(values), -1, -1)
    return Tokens(
        values=values, positions=positions, aux={"label": tokens.aux["label"]}
    )


def resized(tokens: Tokens, thin: int) -> Tokens:
    """Sounds with every so-manieth frame, stretched again to the length and the patches of before: what a model for
    pictures of one size needs."""
    whole, time, pitch = picture(tokens)
    stretched = interpolate(whole[:, ::thin].mT, size=whole.shape[1], mode="linear", align_corners=True).mT
    return replace(tokens, values=patchify(stretched[..., None], (PATCH, PATCH))[0])


def rolled(tokens: Tokens, generator: torch.Generator) -> Tokens:
    """Each sound turned round in time by a random number of frames: what falls off one end comes back at the other."""
    whole, _, _ = picture(tokens)
    shift = torch.randint(whole.shape[1], (len(whole), 1), generator=generator)
    frames = (torch.arange(whole.shape[1]) + shift) % whole.shape[1]  # (n, T)
    return replace(tokens, values=patchify(take(whole, frames)[..., None], (PATCH, PATCH))[0])


def scaled(clips: Clips, level: tuple[float, float]) -> Tensor:
    """(n, T, F') float32: energies less level[0], over level[1]; F' is the next multiple of 16 bands."""
    picture = torch.from_numpy(clips.mel).float().sub_(level[0]).div_(level[1])
    missing = -picture.shape[2] % PATCH
    return torch.cat((picture, picture[:, :, -1:].expand(-1, -1, missing)), 2) if missing else picture


def level(clips: Clips) -> tuple[float, float]:
    """Mean and standard deviation of all energies of the clips."""
    total = sum(float(m.sum(dtype=np.float64)) for m in clips.mel) / clips.mel.size
    square = sum(float(np.square(m, dtype=np.float64).sum()) for m in clips.mel) / clips.mel.size
    return total, math.sqrt(max(square - total**2, 1e-12))

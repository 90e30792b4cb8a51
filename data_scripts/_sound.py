"""What the scripts for sounds share: decoding, and a file of log-mel energies that grows clip by clip."""

import io
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from _common import DataError, no_folder  # first: it finds the package

from romae_book.experiments.esc50.data import BANDS, RATE, WINDOW, fbank

SOUND = (".wav", ".flac", ".ogg")


def wave(content: bytes, where: str, seconds: float | None = None, most: float | None = None) -> np.ndarray:
    """A sound decoded, mixed down to one channel and resampled to 16 kHz: (S,) float32, at most so many seconds of it.
    DataError naming it where it cannot be decoded to its end, or does not last `seconds`."""
    import soundfile
    from scipy.signal import resample_poly

    try:
        with soundfile.SoundFile(io.BytesIO(content)) as file:
            rate, announced = file.samplerate, file.frames
            sound = file.read(dtype="float32", always_2d=True).mean(1)
    except soundfile.LibsndfileError as error:
        said = error.error_string.rstrip(".")
        raise DataError(f"{where}: is damaged, or no sound that soundfile reads ({said})") from error
    except (OSError, ValueError) as error:
        raise DataError(f"{where}: is damaged, or no sound that soundfile reads ({error})") from error
    if len(sound) != announced:
        raise DataError(f"{where}: is cut off; {len(sound)} of {announced} samples are there")
    if not np.isfinite(sound).all():
        raise DataError(f"{where}: holds samples that are not finite")
    if seconds and abs(len(sound) / rate - seconds) > 1e-3:
        raise DataError(f"{where}: lasts {len(sound) / rate:g} s; a clip lasts {seconds:g} s")
    if len(sound) <= WINDOW * rate:
        raise DataError(f"{where}: lasts {len(sound) / rate:g} s; a frame of energies takes {WINDOW:g} s")
    sound = sound[: round(most * rate)] if most else sound
    shared = math.gcd(rate, RATE)
    return resample_poly(sound, RATE // shared, rate // shared).astype(np.float32) if rate != RATE else sound


def whole_wav(content: bytes, where: str) -> None:
    """DataError for a .wav that is shorter than its header says: libsndfile decodes what there is and says nothing."""
    if content[:4] == b"RIFF" and (said := int.from_bytes(content[4:8], "little") + 8) > len(content):
        raise DataError(f"{where}: is cut off; {len(content)} of {said} bytes are there")


def made(result: Path, force: bool) -> dict | None:
    """What a file of recordings says of what it was made from, or None where it has to be made."""
    import h5py

    no_folder(result)
    if force or not result.exists():
        return None
    try:
        with h5py.File(result) as file:
            return json.loads(file.attrs["inputs"])
    except (OSError, KeyError, ValueError):
        print(f"{result}: is not a prepared file; preparing it again")
        return None


def store(result: Path, sounds: Iterable[np.ndarray], seconds: float, inputs: dict) -> int:
    """Write the energies of waves (S,) to an HDF5 file, one after the other; how many there were. mel (n, T, 128)
    float16, frames (n,): how many of the T a sound fills. The file appears only when it is whole."""
    import h5py

    length = len(fbank(np.zeros(round(seconds * RATE), np.float32)))
    result.parent.mkdir(parents=True, exist_ok=True)
    part = result.with_name(result.name + ".part")
    try:
        with h5py.File(part, "w") as file:
            options = dict(maxshape=(None, length, BANDS), chunks=(1, length, BANDS), dtype="f2", compression="lzf")
            mel = file.create_dataset("mel", (0, length, BANDS), **options)
            frames = []
            for sound in sounds:
                found = fbank(sound)[:length]
                mel.resize(len(frames) + 1, 0)
                mel[-1, : len(found)] = found
                frames.append(len(found))
            if not frames:
                raise DataError(f"{result}: there is no sound to put into it")
            file["frames"], file.attrs["inputs"] = np.array(frames, np.int32), json.dumps(inputs)
        os.replace(part, result)
    finally:
        part.unlink(missing_ok=True)
    return len(frames)

"""ESC-50: fetch the archive, check it, and prepare a file of log-mel energies for chapter 12.

    python data_scripts/esc50.py                          download (about 600 MB), check, prepare
    python data_scripts/esc50.py --source FOLDER          the same from what is here already

FOLDER, or the file itself, is one of these, or holds several:
  * the archive, ESC-50-master.zip (or master.zip), or a folder ESC-50-master with audio/ and meta/  -> OUT/esc50.npz
  * ESC-10 as FLAC: esc10_flac16k.tar, or a folder esc10_flac16k                                    -> OUT/esc10.npz
  * log-mel pictures, logmel_uint8 with fold1.npz to fold5.npz and frame_index.npy            -> OUT/esc50_logmel.npz

Each sound is mixed down to one channel, resampled to 16 kHz, and turned into the logarithm of its energy in 128 mel
bands: Kaldi's recipe, 25 ms Hamming windows every 10 ms. Pictures are taken as they are: librosa's 128 bands of a sound
at 44.1 kHz (the highest is missing), a frame about every 20 ms, decibels below each clip's loudest, which is lost.

What is checked: that every sound can be decoded to its end and lasts five seconds; that its name gives a fold and a
class, and the table meta/esc50.csv, where it is there, the same; and that every fold has eight clips of every class.
The archive's hash is recorded at the first download in OUT/downloads.lock.json, and later ones must agree.

What is prepared does not depend on the rest: one that is damaged does not keep the others from being prepared. Writes
nothing but in OUT, and a result only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import csv
import io
import math
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np
from _common import download, finished, options, succeeds  # first: it finds the package
from _sound import SOUND, wave, whole_wav

from romae_book.experiments.data import DAMAGE, limited, members
from romae_book.experiments.esc50.data import (
    ESC10,
    FOLDS,
    NAMES,
    SOURCES,
    Clips,
    DataError,
    centres,
    fbank,
    frame_times,
    read,
)

HOME = "https://github.com/karolpiczak/ESC-50/archive/"
ARCHIVE = "master.zip"
NAME = re.compile(r"([1-5])-\d+-[A-Z]-(\d{1,2})\.(wav|flac|ogg)")
LARGEST = 2**23  # bytes of one sound; a .wav of ESC-50 has 441,044
SECONDS = 5.0


def main(arguments: list[str] | None = None) -> int:
    chosen = options(__doc__, "esc50", HOME).parse_args(arguments)
    if chosen.source is None:
        result = chosen.out / SOURCES["audio"][0]
        fetch = partial(download, chosen.home, {ARCHIVE: ARCHIVE}, chosen.out)
        return 0 if succeeds(prepare, result, lambda: fetch()[0], chosen) else 1
    inside = {
        "audio": ("ESC-50-master.zip", ARCHIVE, "ESC-50-master"),
        "esc10": ("esc10_flac16k.tar", "esc10_flac16k"),
        "logmel": ("logmel_uint8",),
    }
    status, some = 0, False
    for source, names in inside.items():
        places = [p for p in (chosen.source, *(chosen.source / n for n in names)) if p.name in names and p.exists()]
        if places:
            some = True
            if not succeeds(prepare, chosen.out / SOURCES[source][0], lambda found=places[0]: found, chosen):
                status = 1
    if not some:
        wanted = ", ".join(name for names in inside.values() for name in names)
        print(f"error: {chosen.source} is none of {wanted}, and holds none", file=sys.stderr)
        return 1
    return status


def prepare(result: Path, place: Callable[[], Path], chosen: argparse.Namespace) -> None:
    if finished(result, lambda: read(result).verify(), chosen):
        return
    source, skipped = place(), []
    bad = skipped if chosen.skip_bad else None
    classes = tuple(ESC10) if result.name == SOURCES["esc10"][0] else tuple(range(len(NAMES)))
    clips = pictures(source, bad) if source.name == "logmel_uint8" else computed(source, classes, bad)
    for error in skipped:
        print(f"skipped: {error}", file=sys.stderr)
    try:
        clips.verify()
    except DataError as error:
        if bad is None:
            raise DataError(f"{source}: {error}") from error
        print(f"warning: {error}; results will not be comparable", file=sys.stderr)
    clips.save(result)
    print(f"{result}: {len(clips)} sounds of {len(clips.names)} classes, {result.stat().st_size / 1e6:.1f} MB")


# Sounds ---------------------------------------------------------------------------------------------------------------


def files(source: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every sound and table of an archive or a folder, in order of their names in a folder."""
    wanted = (*SOUND, ".csv")
    if source.is_dir():
        for path in sorted(p for p in source.rglob("*") if p.suffix in wanted and p.is_file()):
            with open(path, "rb") as file:
                yield str(path), limited(iter(lambda: file.read(1 << 20), b""), LARGEST, str(path))  # noqa: B023
    elif source.suffix == ".zip":
        try:
            with ZipFile(source) as packed:
                for name in sorted(n for n in packed.namelist() if n.endswith(wanted)):
                    with packed.open(name) as file:
                        found = limited(iter(lambda: file.read(1 << 20), b""), LARGEST, f"{source}: {name}")  # noqa: B023
                    yield f"{source}: {name}", found
        except DataError:
            raise
        except (BadZipFile, RuntimeError, *DAMAGE) as error:  # RuntimeError: encrypted, or packed in an unknown way
            raise DataError(f"{source} is damaged, cut off or not to be unpacked ({error})") from error
    else:
        for name, pieces in members(source):
            if name.endswith(wanted):
                yield f"{source}: {name}", limited(pieces, LARGEST, f"{source}: {name}")
            else:
                for _ in pieces:  # read to its end, so that damage shows
                    pass


def computed(source: Path, classes: tuple[int, ...], bad: list[DataError] | None) -> Clips:
    """The clips of those classes among a source's sounds, as log-mel energies. With a list `bad`, errors of single
    sounds go there, and the sound is left out."""
    found, table = {}, {}
    for where, content in files(source):
        name = re.split(r"[/\\]|: ", where)[-1]
        if name == "esc50.csv":
            table = meta(content, where)
        if not name.endswith(SOUND):
            continue
        try:
            known = NAME.fullmatch(name)
            if not known or int(known[2]) >= len(NAMES):
                raise DataError(f"{where}: the name is not <fold>-<source>-<take>-<class>; no clip of ESC-50")
            if int(known[2]) in classes:
                energies = fbank(whole(content, where)).astype(np.float16)
                if name in found:
                    raise DataError(f"{where}: {name} is there twice")
                found[name] = int(known[1]), int(known[2]), energies
        except DataError as error:
            if bad is None:
                raise
            bad.append(error)
    if not found:
        raise DataError(f"{source}: holds no sound called <fold>-<source>-<take>-<class>.wav or .flac")
    for name, entry in table.items():
        if name in found and entry != found[name][:2]:
            raise DataError(f"{source}: {name} is of fold and class {entry} by esc50.csv; its name says otherwise")
    names = sorted(found)
    fold, number, energies = zip(*(found[name] for name in names), strict=True)
    label = np.array([classes.index(k) for k in number])
    mel = np.stack(energies)
    return Clips(
        mel, label, np.array(fold), tuple(names), tuple(NAMES[k] for k in classes), frame_times(mel.shape[1]), centres()
    )


def meta(content: bytes, where: str) -> dict[str, tuple[int, int]]:
    """Fold and class of each file by the set's own table."""
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8")))
        return {row["filename"]: (int(row["fold"]), int(row["target"])) for row in rows}
    except (KeyError, ValueError, csv.Error) as error:
        raise DataError(f"{where} is no table of filename, fold and target ({error!r})") from error


def whole(content: bytes, where: str) -> np.ndarray:
    """A clip of five seconds, decoded."""
    whole_wav(content, where)
    return wave(content, where, SECONDS)


# Pictures -------------------------------------------------------------------------------------------------------------


def pictures(folder: Path, bad: list[DataError] | None) -> Clips:
    """Log-mel pictures, fold by fold, back to natural logarithms of the energy below each clip's loudest."""
    parts = []
    for fold in range(1, FOLDS + 1):
        try:
            parts.append(picture_fold(folder / f"fold{fold}.npz", fold))
        except DataError as error:
            if bad is None:
                raise
            bad.append(error)
    if not parts:
        raise DataError(f"{folder}: no fold can be read")
    mel, label, number, clip = (np.concatenate(part) for part in zip(*parts, strict=True))
    frames = array(folder / "frame_index.npy").astype(np.float64)
    if frames.shape != (mel.shape[1],) or (np.diff(frames) < 1).any():
        raise DataError(f"{folder / 'frame_index.npy'}: has shape {frames.shape}; should rise, one for each frame")
    return Clips(mel, label, number, tuple(clip.tolist()), NAMES, frames * (512 / 44_100), slaney()[: mel.shape[2]])


def picture_fold(path: Path, fold: int) -> tuple[np.ndarray, ...]:
    found = array(path)
    try:
        levels, label, clip = (found[key] for key in ("X", "y", "filename"))
    except (KeyError, IndexError, *DAMAGE) as error:
        raise DataError(f"{path}: lacks X, y or filename, or is damaged ({error})") from error
    if levels.ndim != 3 or levels.dtype != np.uint8 or not len(levels) == len(label) == len(clip):
        raise DataError(
            f"{path}: X is {levels.dtype} {levels.shape}; should be uint8 (n, bands, frames), as y and filename"
        )
    for name, number in zip(clip, label, strict=True):
        known = NAME.fullmatch(str(name))
        if not known or (int(known[1]), int(known[2])) != (fold, number):
            raise DataError(f"{path}: {name} is said to be of fold {fold} and class {number}; its name says otherwise")
    decibels = levels.transpose(0, 2, 1) * np.float32(80 / 256) - 80
    return (decibels * (math.log(10) / 10)).astype(np.float16), label.astype(np.int64), np.full(len(label), fold), clip


def array(path: Path):
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing") from error
    except (BadZipFile, *DAMAGE) as error:
        raise DataError(f"{path} is damaged or cut off ({error})") from error


def slaney(bands: int = 128, high: float = 22_050.0) -> np.ndarray:
    """The frequency (Hz) at which each of librosa's bands is most sensitive: even up to 1 kHz, then in equal ratios."""
    step = math.log(6.4) / 27
    edges = np.linspace(0, 15 + math.log(high / 1000) / step, bands + 2)
    return np.where(edges < 15, edges * 200 / 3, 1000 * np.exp(step * (edges - 15)))[1:-1]


if __name__ == "__main__":
    sys.exit(main())

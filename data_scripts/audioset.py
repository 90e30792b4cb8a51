"""AudioSet: index a folder of clips that you have, and prepare log-mel energies to pre-train chapter 12 on.

    python data_scripts/audioset.py --source FOLDER --segments balanced_train_segments.csv

AudioSet is a list of ten-second pieces of videos, and the sounds cannot be passed on, so nothing is downloaded here.
FOLDER holds clips as .wav, .flac or .ogg, at any depth, named by the video: <id>, Y<id>, or <id>_<start>..., where an
id has eleven characters. --segments is the list of the part to take, as AudioSet publishes it: the balanced training
set is the paper's AudioSet-20k. Clips that the list does not name are passed over, and the script says how many of its
clips were found; without a list all sounds are taken. Videos vanish, so that no two copies of AudioSet are alike: the
number belongs to every result.

What cannot be decoded is named; --skip-bad leaves it out instead of stopping. Writes nothing but in OUT, and the
result, OUT/audioset20k.h5, only when it is whole. A second run does nothing as long as the clips' names and the list
are the same. Exit status: 0 done, 1 not.
"""

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _common import DataError, options, succeeds  # first: it finds the package
from _sound import SOUND, made, store, wave, whole_wav

SECONDS = 10.0
ID = re.compile(r"[\w-]{11}")


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "audioset", "")
    parser.add_argument("--segments", type=Path, metavar="FILE", help="AudioSet's list of the part to take, .csv")
    return 0 if succeeds(prepare, parser.parse_args(arguments)) else 1


def prepare(chosen: argparse.Namespace) -> None:
    result = chosen.out / "audioset20k.h5"
    before = made(result, chosen.force)
    if chosen.source is None:
        if before:
            print(f"{result}: is there, nothing to do (--source FOLDER says whether it is up to date)")
            return
        raise DataError("no --source FOLDER; AudioSet's sounds cannot be downloaded from one place")
    wanted = segments(chosen.segments) if chosen.segments else None
    found = clips(chosen.source, wanted)
    names = "\n".join(path.relative_to(chosen.source).as_posix() for path in found)
    inputs = {
        "names": hashlib.sha256(names.encode()).hexdigest(),
        "listed": len(wanted) if wanted else None,
        "skip_bad": chosen.skip_bad,
    }
    if before == inputs:
        print(f"{result}: was made from these files, nothing to do")
        return
    count = store(result, waves(found, chosen.skip_bad), SECONDS, inputs)
    share = f" of the {len(wanted)} that {chosen.segments} lists" if wanted else ""
    print(f"{result}: {count} clips{share}, {result.stat().st_size / 1e6:.1f} MB")


def segments(path: Path) -> set[str]:
    """The video ids of a list: lines of id, start, end and labels; lines with # are comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is no text ({error})") from error
    found = set()
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            name = line.split(",")[0].strip()
            if not ID.fullmatch(name):
                raise DataError(f"{path}: line {number} begins with {name!r}; a video's id has eleven characters")
            found.add(name)
    if not found:
        raise DataError(f"{path}: lists no clip")
    return found


def clips(folder: Path, wanted: set[str] | None) -> list[Path]:
    """The sounds below a folder, those that are wanted, in order of their paths. DataError where there are none, or
    where two are of one video."""
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder")
    sounds = sorted(path for path in folder.rglob("*") if path.suffix in SOUND and path.is_file())
    if not sounds:
        raise DataError(f"{folder} holds no {', '.join(SOUND)}")
    if wanted is None:
        return sounds
    found = {}
    for path in sounds:
        ends = (path.stem[:11], path.stem[1:12] if path.stem[:1] == "Y" else "")
        name = next((end for end in ends if end in wanted), None)
        if name in found:
            raise DataError(f"{path} and {found[name]} are both of {name}; keep one")
        if name:
            found[name] = path
    if not found:
        raise DataError(f"{folder}: none of its {len(sounds)} sounds is in the list; are they named by the video?")
    return list(found.values())


def waves(paths: list[Path], skip_bad: bool) -> Iterator[np.ndarray]:
    for path in paths:
        try:
            content = path.read_bytes()
            whole_wav(content, str(path))
            yield wave(content, str(path), most=SECONDS)
        except DataError as error:
            if not skip_bad:
                raise
            print(f"skipped: {error}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

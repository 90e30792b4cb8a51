"""LibriSpeech: fetch one part of the corpus of read English, and prepare log-mel energies to pre-train chapter 12 on.

    python data_scripts/librispeech.py                       dev-clean (340 MB): 2703 utterances
    python data_scripts/librispeech.py train-clean-100       6.3 GB: 28,539 utterances
    python data_scripts/librispeech.py --source FOLDER       the same from <part>.tar.gz, or a folder LibriSpeech/<part>

Utterances are FLAC at 16 kHz, 1 to 35 seconds long; of each the first --seconds are kept (10), as they are: shorter
ones are not filled up. Nothing is read of what is said or by whom. The paper splits LibriSpeech 70 to 30 and does not
say which part of it.

The archive's hash is recorded at the first download in OUT/downloads.lock.json, and later ones must agree. What cannot
be decoded is named; --skip-bad leaves it out instead of stopping. Writes nothing but in OUT, and the result,
OUT/librispeech.h5, only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _common import DataError, download, options, succeeds  # first: it finds the package
from _sound import made, store, wave

from romae_book.experiments.data import limited, members

HOME = "https://www.openslr.org/resources/12/"
PARTS = (
    "dev-clean", "dev-other", "test-clean", "test-other", "train-clean-100", "train-clean-360", "train-other-500",
)
LARGEST = 2**24  # bytes of one utterance; half a minute of FLAC has about 500,000


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "librispeech", HOME)
    parser.add_argument("part", nargs="?", default="dev-clean", choices=PARTS, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=10.0, help="of an utterance, at most; default: %(default)s")
    return 0 if succeeds(prepare, parser.parse_args(arguments)) else 1


def prepare(chosen: argparse.Namespace) -> None:
    if not 1 <= chosen.seconds <= 40:
        raise DataError(f"--seconds is {chosen.seconds}; it must lie in [1, 40]")
    result = chosen.out / "librispeech.h5"
    wanted = {name: getattr(chosen, name) for name in ("part", "seconds", "skip_bad")}
    before = made(result, chosen.force)
    if before == wanted:
        print(f"{result}: is there, nothing to do")
        return
    if before and before.get("part") != chosen.part:
        raise DataError(f"{result} holds {before.get('part')}; --force makes it anew, of {chosen.part}")
    name = f"{chosen.part}.tar.gz"
    if chosen.source is None:
        place = download(chosen.home, {name: name}, chosen.out)[0]
    else:
        folders = (chosen.source / name, chosen.source / "LibriSpeech" / chosen.part, chosen.source / chosen.part)
        place = next((p for p in folders if p.exists()), None)
        if place is None:
            raise DataError(f"{chosen.source} holds neither {name} nor LibriSpeech/{chosen.part}")
    count = store(result, waves(place, chosen), chosen.seconds, wanted)
    print(f"{result}: {count} utterances of {chosen.part}, {result.stat().st_size / 1e6:.1f} MB")


def waves(place: Path, chosen: argparse.Namespace) -> Iterator[np.ndarray]:
    """The utterances of an archive or a folder, decoded."""
    for where, content in utterances(place):
        try:
            yield wave(content, where, most=chosen.seconds)
        except DataError as error:
            if not chosen.skip_bad:
                raise
            print(f"skipped: {error}", file=sys.stderr)


def utterances(place: Path) -> Iterator[tuple[str, bytes]]:
    if place.is_dir():
        for path in sorted(place.rglob("*.flac")):
            yield str(path), path.read_bytes()
        return
    for name, pieces in members(place):
        found = limited(pieces, LARGEST, f"{place}: {name}")  # read to its end, so that damage shows
        if name.endswith(".flac"):
            yield f"{place}: {name}", found


if __name__ == "__main__":
    sys.exit(main())

"""Tiny ImageNet: fetch it, check every picture, and prepare one file for chapter 11.

    python data_scripts/tiny_imagenet.py                      download (248 MB), check, prepare
    python data_scripts/tiny_imagenet.py --source FOLDER      the same from files that are here already

The archive comes from cs231n.stanford.edu, its home. FOLDER holds tiny-imagenet-200.zip, or the folder that it unpacks
to, or train*.npz (one or several) with val.npz: .npz files with the arrays jpeg (the JPEGs one after the other),
offsets, labels, img_index (the number of a picture in its class; not in val) and wnids. The result,
OUT/tiny_imagenet.npz, holds the JPEGs as they are. The chapter finds it in data/tiny_imagenet, or under
$ROMAE_DATA/tiny_imagenet.

What is checked: that every picture can be decoded and has 64 x 64 pixels; that there are 200 classes with the same
number of training pictures each (500 in the whole set; where a FOLDER holds fewer, that is said and accepted), none
twice, and 50 to test on. A download must be whole. The archive's hash is recorded at the first download in
OUT/downloads.lock.json, and a later one must agree. --skip-bad leaves damaged pictures out, and says which.

Writes nothing but in OUT, and the result only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import sys
from dataclasses import replace

import numpy as np
from _common import download, finished, options, succeeds  # before the package, which it finds

from romae_book.experiments.data import DataError
from romae_book.experiments.tiny_imagenet.data import ARCHIVE, PER_CLASS, PREPARED, Pictures, load, read

HOME = "http://cs231n.stanford.edu/"


def main(arguments: list[str] | None = None) -> int:
    chosen = options(__doc__, "tiny_imagenet", HOME).parse_args(arguments)
    return 0 if succeeds(prepare, chosen) else 1


def prepare(chosen: argparse.Namespace) -> None:
    result = chosen.out / PREPARED
    if finished(result, lambda: load(result).verify(), chosen):
        print(f"it holds {load(result).about()}")
        return
    source = chosen.source
    if source is None:
        source = chosen.out / ARCHIVE
        download(chosen.home, {ARCHIVE: ARCHIVE}, chosen.out)
    found = read(source)
    found = replace(found, train=sound(found.train, chosen.skip_bad), test=sound(found.test, chosen.skip_bad))
    try:
        found.verify()
        if chosen.source is None and found.per_class < PER_CLASS:
            raise DataError(f"{source} holds {found.about()}; a download should be whole")
    except DataError as error:
        if not chosen.skip_bad:
            raise
        print(f"warning: {error}; results will not be comparable", file=sys.stderr)
    found.save(result)
    print(f"{result}: {found.about()}; {result.stat().st_size / 1e6:.0f} MB, fingerprint {found.fingerprint()}")


def sound(pictures: Pictures, skip_bad: bool) -> Pictures:
    """The pictures, once each could be decoded. DataError for one that cannot; with skip_bad it is left out."""
    good = []
    for i in range(len(pictures)):
        try:
            pictures.decoded(i)
        except DataError as error:
            if not skip_bad:
                raise
            print(f"skipped: {error}", file=sys.stderr)
        else:
            good.append(i)
    if not good:
        raise DataError(f"{pictures.origin}: no picture can be read")
    return pictures if len(good) == len(pictures) else pictures.rows(np.array(good))


if __name__ == "__main__":
    sys.exit(main())

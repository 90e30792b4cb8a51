"""PhysioNet/CinC Challenge 2012: fetch sets A and B, check them, and prepare one file for chapter 07.

    python data_scripts/physionet.py                          download (about 13 MB), check, prepare
    python data_scripts/physionet.py --source FOLDER          the same from archives or folders that are here already
    python data_scripts/physionet.py --outcomes               also who died, for `run mortality`

FOLDER holds set-a and set-b, as .tar (or .tar.gz, .xz, .bz2) or as folders of .txt files, and for --outcomes
Outcomes-a.txt and Outcomes-b.txt, which are counted and laid beside the result as they are. The result,
OUT/physionet2012.npz (about 7 MB), holds 8000 records as (minute, channel, value), nothing standardised, nothing
thrown away but descriptors that are -1, which means unknown. The chapter finds it in data/, or under $ROMAE_DATA.

What is checked: that every line of every record can be read; that there are 8000 records, of which the ten known ones
are empty; and a SHA-256 over the sorted, parsed records, which does not depend on how they were packed. The archives'
own hashes are not known beforehand: the first download records them in OUT/downloads.lock.json, and later ones must
agree.

Writes nothing but in OUT, and the result only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import sys

from _common import download, finished, options, succeeds  # first: it finds the package

from romae_book.experiments.physionet import outcomes
from romae_book.experiments.physionet.data import PREPARED, SETS, DataError, load, read
from romae_lite.io import atomic_write

HOME = "https://physionet.org/files/challenge-2012/1.0.0/"


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "physionet2012", HOME)
    parser.add_argument("--outcomes", action="store_true", help="also fetch who died")
    chosen = parser.parse_args(arguments)
    done = succeeds(prepare, chosen) and (not chosen.outcomes or succeeds(prepare_outcomes, chosen))
    return 0 if done else 1


def prepare(chosen: argparse.Namespace) -> None:
    result = chosen.out / PREPARED
    if finished(result, lambda: load(result).verify(), chosen):
        return
    source = chosen.source
    if source is None:
        source = chosen.out
        download(chosen.home, {f"{part}.tar.gz": f"{part}.tar.gz?download" for part in SETS}, source)
    records, skipped = read(source, chosen.skip_bad)
    for error in skipped:
        print(f"skipped: {error}", file=sys.stderr)
    try:
        records.verify()
    except DataError as error:
        if not chosen.skip_bad:
            raise DataError(f"{source}: {error}") from error
        print(f"warning: {error}; results will not be comparable", file=sys.stderr)
    records.save(result)
    print(f"{result}: {len(records)} records, {len(records.value):,} values, {result.stat().st_size / 1e6:.1f} MB")


def prepare_outcomes(chosen: argparse.Namespace) -> None:
    if chosen.source is None:
        download(chosen.home, {name: f"{name}?download" for name in outcomes.FILES}, chosen.out)
    else:
        outcomes.load(chosen.source)  # before anything is written
        for name in outcomes.FILES:
            atomic_write(chosen.out / name, (chosen.source / name).read_bytes())
    found = outcomes.load(chosen.out)
    print(f"{chosen.out}: {len(found)} outcomes, {sum(found.values())} deaths")


if __name__ == "__main__":
    sys.exit(main())

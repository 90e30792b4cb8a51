"""Five sets of the UEA archive of multivariate time series: fetch them, check them, prepare a file each for chapter 09.

    python data_scripts/uea.py                            BasicMotions (0.2 MB), CharacterTrajectories, Epilepsy,
                                                          Heartbeat (25 MB) and LSST, one after the other
    python data_scripts/uea.py BasicMotions LSST          only these
    python data_scripts/uea.py --source FOLDER            the same from files that are here already

The archives come from timeseriesclassification.com, where aeon takes them from as well. FOLDER holds a folder for each
set, with <set>.zip, or <set>_TRAIN.ts and <set>_TEST.ts, or one <set>Dimension<k>_TRAIN.arff (and TEST) for each
channel; .ts and .arff may be packed as .gz. The results, OUT/<set>.npz, hold the series as they are: nothing dropped,
nothing standardised, gaps inside a channel filled with straight lines. The chapter finds them in data/uea, or under
$ROMAE_DATA/uea.

What is checked: that every number of every case can be read, and how many cases, channels, classes and steps there are.
A fingerprint of the values says whether they are those that our records were made of; others are accepted, and named.
The archives' own hashes are recorded at the first download in OUT/downloads.lock.json, and later ones must agree.

A set that is missing or damaged does not keep the others from being prepared. Writes nothing but in OUT, and a result
only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import sys
from itertools import zip_longest

from _common import download, finished, options, succeeds  # first: it finds the package

from romae_book.experiments.uea.data import FINGERPRINTS, PARTS, SETS, load, read, save

HOME = "https://timeseriesclassification.com/aeon-toolkit/"


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "uea", HOME)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"which ones; default: {', '.join(SETS)}")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.sets) - set(SETS):
        parser.error(f"{', '.join(sorted(unknown))}: no such set; there are {', '.join(SETS)}")
    status = 0
    for dataset in chosen.sets or SETS:
        if not succeeds(prepare, dataset, chosen):
            status = 1
    return status


def prepare(dataset: str, chosen: argparse.Namespace) -> None:
    result = chosen.out / f"{dataset}.npz"

    def check() -> None:
        for part, series in zip(PARTS, load(dataset, result), strict=True):
            series.verify(dataset, part)

    if finished(result, check, chosen):
        return
    source = chosen.out
    if chosen.source is None:
        download(chosen.home, {f"{dataset}.zip": f"{dataset}.zip"}, source)
    else:
        source = chosen.source / dataset if (chosen.source / dataset).is_dir() else chosen.source
    series = []
    for part, known in zip_longest(PARTS, FINGERPRINTS[dataset]):
        found, bad = read(source, dataset, part, chosen.skip_bad)
        for error in bad:
            print(f"skipped: {error}", file=sys.stderr)
        if known and not bad and found.fingerprint() != known:
            print(f"note: {dataset}_{part} differs from the copy of our records (fingerprint {found.fingerprint()})")
        series.append(found)
    save(result, *series)
    print(f"{result}: {len(series[0])} and {len(series[1])} cases, {result.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())

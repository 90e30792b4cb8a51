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

Writes nothing but in OUT, and a result only when it is whole. A second run does nothing. Exit status: 0 done, 1 not.
"""

import argparse
import sys
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout that is not installed as well

from romae_lite.data.uea import FINGERPRINTS, PARTS, SETS, DataError, load, read, save  # noqa: E402

HOME = "https://timeseriesclassification.com/aeon-toolkit/"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"which ones; default: {', '.join(SETS)}")
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="take the series from here, download nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "uea", help="default: data/uea in the checkout")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave out cases, or whole sets, that cannot be read instead of stopping",
    )
    parser.add_argument("--force", action="store_true", help="prepare again even if the result is there")
    parser.add_argument("--home", default=HOME, help="address of the folder with the archives; default: %(default)s")
    options = parser.parse_args(arguments)
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"{', '.join(sorted(unknown))}: no such set; there are {', '.join(SETS)}")
    status = 0
    for dataset in options.sets or SETS:
        try:
            prepare(dataset, options)
        except (DataError, OSError) as error:  # requests' and pooch's errors about downloads are OSError and ValueError
            status = 1
            print(f"error: {error}", file=sys.stderr)
            if not options.skip_bad:
                break
        except ImportError as error:
            print(f"error: {error}; pip install 'romae-lite[data]' has what downloading needs", file=sys.stderr)
            return 1
    return status


def prepare(dataset: str, options: argparse.Namespace) -> None:
    result = options.out / f"{dataset}.npz"
    if result.exists() and not options.force:
        try:
            for part, series in zip(PARTS, load(dataset, result), strict=True):
                series.verify(dataset, part)
            print(f"{result}: all cases are there, nothing to do")
            return
        except DataError as error:
            if options.skip_bad and "not a prepared file" not in str(error):
                print(f"{result}: was prepared from incomplete data ({error}); --force prepares it again")
                return
            print(f"{result}: {error}; preparing it again")
    source = options.out
    if options.source is None:
        download(dataset, options.home, source)
    else:
        source = options.source / dataset if (options.source / dataset).is_dir() else options.source
    series = []
    for part, known in zip_longest(PARTS, FINGERPRINTS[dataset]):
        found, bad = read(source, dataset, part, options.skip_bad)
        for error in bad:
            print(f"skipped: {error}", file=sys.stderr)
        if known and not bad and found.fingerprint() != known:
            print(f"note: {dataset}_{part} differs from the copy of our records (fingerprint {found.fingerprint()})")
        series.append(found)
    save(result, *series)
    print(f"{result}: {len(series[0])} and {len(series[1])} cases, {result.stat().st_size / 1e6:.1f} MB")


def download(dataset: str, home: str, folder: Path) -> None:
    """The set's archive, where it is not there yet. DataError naming what could not be had."""
    from _common import fetch

    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetch(home, {f"{dataset}.zip": f"{dataset}.zip"}, folder)
    except ValueError as error:  # pooch, where a hash differs
        raise DataError(f"{home}: {error}; delete the archive and downloads.lock.json to accept a new one") from error


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())

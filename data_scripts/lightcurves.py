"""Light curves of four surveys: fetch them, check them, prepare a file each for chapter 10.

    python data_scripts/lightcurves.py                         EROS-1, SPCC and ASAS, one after the other (20 MB)
    python data_scripts/lightcurves.py eros1 spcc              only these
    python data_scripts/lightcurves.py --source FOLDER         the same, and MALLORN, from files that are here already

EROS-1 comes from the RAMP challenge variable_stars, ASAS from cesium-data, both on GitHub at a fixed commit; SPCC from
Zenodo (record 13883296). MALLORN is to be had from Kaggle with an account only (competition
mallorn-astronomical-classification-challenge): put its files into FOLDER. FOLDER holds the files, or a folder for each
survey: eros1_variable_stars with train.csv, test.csv and their _varlength_features.csv.gz; mallorn with train_log.csv
and split_*/train_full_lightcurves.csv, or train.npz; spcc with SIMGEN_PUBLIC_DES.tar.gz, its folder, or spcc.npz;
asas_variable_stars with asas_training_set.tar.gz and classes.csv. The results, OUT/<survey>.npz, hold times, values,
errors and bands of every object, its class, and the part of an official split that it belongs to. Periods, redshifts
and positions are not in them: they are no inputs.

What is checked: that every curve can be read and has a class; points without a value or a positive error are left out.
A fingerprint says whether these are the data of our records; others are accepted, and named. The archives' own hashes
are recorded at the first download in OUT/downloads.lock.json, and later ones must agree.

A survey that is missing or damaged does not keep the others from being prepared. Writes nothing but in OUT, and a
result only when it is whole. A second run does nothing. Exit status: 0 done, 1 not. --skip-bad has no effect here.
"""

import argparse
import sys

from _common import download, finished, options, succeeds  # first: it finds the package

from romae_book.experiments.data import DataError
from romae_book.experiments.lightcurves.data import SURVEYS, load

FETCHED = [name for name, survey in SURVEYS.items() if survey.home]
PREPARED = [name for name in SURVEYS if name != "rr_lyrae"]  # those come with the book


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "lightcurves", "")
    parser.add_argument("surveys", nargs="*", metavar="SURVEY", help=f"which ones of {', '.join(PREPARED)}")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.surveys) - set(PREPARED):
        parser.error(f"{', '.join(sorted(unknown))}: no such survey; there are {', '.join(PREPARED)}")
    names = chosen.surveys or (FETCHED if chosen.source is None else PREPARED)
    return 0 if all([succeeds(prepare, name, chosen) for name in names]) else 1


def prepare(name: str, chosen: argparse.Namespace) -> None:
    survey, result = SURVEYS[name], chosen.out / f"{name}.npz"
    if finished(result, lambda: load(name, result), chosen):
        return
    source = chosen.out / name
    if chosen.source is not None:
        source = chosen.source / survey.folder if (chosen.source / survey.folder).is_dir() else chosen.source
    elif not survey.home:
        raise DataError(f"{survey.title} is to be had with an account only; fetch it by hand, and name --source FOLDER")
    else:
        home = survey.home if chosen.home == "/" else chosen.home
        download(home, {file: file for file in survey.files}, source)
    found = survey.read(source)
    found.verify()
    if found.fingerprint() != survey.fingerprint:
        print(f"note: {survey.title} differs from the copy of our records (fingerprint {found.fingerprint()})")
    found.save(result)
    print(f"{result}: {len(found)} objects, {len(found.time)} points, {result.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())

"""PhysioNet/CinC Challenge 2012: fetch sets A and B, check them, and prepare one file for chapter 07.

    python data_scripts/physionet.py                          download (9 MB), check, prepare
    python data_scripts/physionet.py --source FOLDER          the same from archives or folders that are here already

FOLDER holds set-a and set-b, either as .tar.gz, .tar.xz or .tar.bz2, or unpacked as folders of .txt files. The result,
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a checkout that is not installed as well

from romae_lite.data.physionet import PREPARED, SETS, DataError, load, read  # noqa: E402

HOME = "https://physionet.org/files/challenge-2012/1.0.0/"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="take the records from here, download nothing")
    where = ROOT / "data" / "physionet2012"
    parser.add_argument("--out", type=Path, default=where, help="default: data/physionet2012 in the checkout")
    parser.add_argument("--skip-bad", action="store_true", help="leave out what cannot be read instead of stopping")
    parser.add_argument("--force", action="store_true", help="prepare again even if the result is there")
    parser.add_argument("--home", default=HOME, help="address of the folder with the archives; default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        prepare(options)
    except (DataError, OSError) as error:  # requests' and pooch's errors about downloads are OSError and ValueError
        print(f"error: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"error: {error}; pip install 'romae-lite[data]' has what downloading needs", file=sys.stderr)
        return 1
    return 0


def prepare(options: argparse.Namespace) -> None:
    result = options.out / PREPARED
    if result.exists() and not options.force:
        try:
            records = load(result)
            records.verify()
            print(f"{result}: all {len(records)} records are there, nothing to do")
            return
        except DataError as error:
            if options.skip_bad and "not a prepared file" not in str(error):
                print(f"{result}: was prepared from incomplete data ({error}); --force prepares it again")
                return
            print(f"{result}: {error}; preparing it again")
    source = options.source
    if source is None:
        source = options.out
        download(options.home, source)
    records, skipped = read(source, options.skip_bad)
    for error in skipped:
        print(f"skipped: {error}", file=sys.stderr)
    try:
        records.verify()
    except DataError as error:
        if not options.skip_bad:
            raise DataError(f"{source}: {error}") from error
        print(f"warning: {error}; results will not be comparable", file=sys.stderr)
    records.save(result)
    print(f"{result}: {len(records)} records, {len(records.value):,} values, {result.stat().st_size / 1e6:.1f} MB")


def download(home: str, folder: Path) -> None:
    """The two archives, where they are not there yet. DataError naming what could not be had."""
    from _common import fetch

    folder.mkdir(parents=True, exist_ok=True)
    try:
        fetch(home, {f"{part}.tar.gz": f"{part}.tar.gz?download" for part in SETS}, folder)
    except ValueError as error:  # pooch, where a hash differs
        raise DataError(f"{home}: {error}; delete the archive and downloads.lock.json to accept a new one") from error


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())

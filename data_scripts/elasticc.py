"""ELAsTiCC: read the SNANA archive of simulated light curves and prepare one file for chapter 10.

    python data_scripts/elasticc.py --source FOLDER           from the unpacked archive, or the .tar itself
    python data_scripts/elasticc.py --download                fetch the archive first: tens of GB

FOLDER holds one folder for each model, ELASTICC_TRAIN_<model>, with pairs of files <name>_HEAD.FITS and
<name>_PHOT.FITS, packed (.FITS.gz) or not. A .tar is unpacked to OUT/raw/<its name without .tar>, and unpacked again,
into the emptied folder, where its name or size has changed or under --force. The models are sorted into 20 classes by
the table of ATAT's code (src/data/get_partitions.py in alercebroker/ATAT), which is
romae_book.experiments.elasticc.data.TAXONOMY; a folder whose model is not in it stops the script. As in
that code, of d-Sct and Cepheid only the corrected files (ELASTICC_TRAINFIX_*) are taken where there are any, and their
ids begin with 2000000 and 1000000, since they repeat ids of other models.

--partition FILE takes ATAT's split: partitions.parquet (needs pyarrow), or the same table as .csv, columns SNID
and partition ("test", "training_0" to "validation_4"). None of the eleven sets may be empty or name an object twice,
and the test and each fold's training and validation may share none. Without it a split of the same shape is drawn:
1000 light curves of each class for the test, or a fifth of a class that has fewer than 5000; the others dealt into
five folds. Which light curves the paper tested on is then not known, and results are comparable in kind only.

The result, OUT/elasticc.h5, holds for each light curve its id and class, and for each visit the time (MJD), the band,
the flux, its error and the flags; its attribute "partition" is "given" or "drawn". Files are read one by one, so that
memory does not grow. Whatever cannot be read is named, file and object; --skip-bad leaves it out instead of stopping.
Damage shows in the checksum of a packed file, in values that cannot be, and in pointers that miss the rows with MJD
-777 which SNANA writes after each light curve; a table that has none is read without this check. The result appears
only when it is whole, and a second run does nothing as long as FOLDER keeps its name, and its files their names and
sizes. Exit status: 0 done, 1 not.
"""

import argparse
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _common import download, no_folder, options, succeeds  # first: it finds the package

from romae_book.experiments.data import limited, members
from romae_book.experiments.elasticc.data import BANDS, CLASSES, PREPARED, TAXONOMY, DataError

HOME = "https://portal.nersc.gov/cfs/lsst/DESC_TD_PUBLIC/ELASTICC/TRAINING_SAMPLES/"
ARCHIVE = "FULL_ELASTICC_TRAIN.tar"
HEAD = re.compile(r"_HEAD\.FITS(\.gz)?$")
PREFIX = {"Cepheid": "1000000", "d-Sct": "2000000"}  # before ids that are not unique without
FLAT = {"time": np.float64, "band": np.int8, "flux": np.float32, "error": np.float32, "flags": np.int32}
FOLDS, TEST = 5, 1000
END = -777  # SNANA's MJD of the row after a light curve
LARGEST = 2**31  # bytes of an unpacked .FITS, all of which are read into memory


class Pair(NamedTuple):
    """One head file with its photometry, and the model whose light curves they hold."""

    head: Path
    photometry: Path
    model: str


class Objects(NamedTuple):
    """Light curves of one pair: ids, how many visits each has, and their columns as in FLAT, one after the other."""

    ids: list[int]
    counts: list[int]
    columns: dict[str, np.ndarray]


def main(arguments: list[str] | None = None) -> int:
    parser = options(__doc__, "elasticc", HOME)
    parser.add_argument("--partition", type=Path, metavar="FILE", help="ATAT's partitions.parquet, or as .csv")
    parser.add_argument("--model", choices=sorted(TAXONOMY), help="all of FOLDER is of this model, whatever its name")
    parser.add_argument("--download", action="store_true", help="fetch the archive to OUT first: tens of GB")
    return 0 if succeeds(prepare, parser.parse_args(arguments)) else 1


def prepare(chosen: argparse.Namespace) -> None:
    import h5py

    result = chosen.out / PREPARED
    no_folder(result)
    if chosen.source is None and not chosen.download:
        if result.exists() and not chosen.force:
            if not made_from(result):
                raise DataError(f"{result} is not a prepared file; --source FOLDER prepares it again")
            print(f"{result}: is there, nothing to do (--source FOLDER says whether it is up to date)")
            return
        raise DataError("no --source FOLDER; --download fetches the archive, tens of GB")
    sets = given(chosen.partition) if chosen.partition else None
    source = chosen.source or download(chosen.home, {ARCHIVE: ARCHIVE}, chosen.out)[0]
    if source.is_file():
        source = unpack(source, chosen.out / "raw", chosen.force)
    found = list(pairs(source, chosen.model, chosen.skip_bad))
    stamp = inputs(source, found, chosen)
    if not chosen.force and stamp == made_from(result):
        print(f"{result}: was made from these files, nothing to do")
        return

    chosen.out.mkdir(parents=True, exist_ok=True)
    part = result.with_name(PREPARED + ".part")
    try:
        with h5py.File(part, "w") as file:
            write(file, found, chosen.skip_bad)
            label, ids = file["label"][:], file["ids"][:]
            splits = located(sets, ids, chosen.partition, chosen.skip_bad) if sets else drawn(label)
            for name, rows in splits.items():
                file.create_dataset(f"splits/{name}", data=rows, compression="gzip")
            file.attrs["names"], file.attrs["inputs"] = CLASSES, stamp
            file.attrs["partition"] = "given" if sets else "drawn"
            visits = int(file["start"][-1])
        os.replace(part, result)
    finally:
        part.unlink(missing_ok=True)
    each = ", ".join(f"{name} {n}" for name, n in zip(CLASSES, np.bincount(label, minlength=len(CLASSES)), strict=True))
    print(f"{result}: {len(ids):,} light curves, {visits:,} visits, {result.stat().st_size / 1e6:.1f} MB\n{each}")
    print(f"partition: given, {chosen.partition}" if sets else "partition: drawn, so not the one of ATAT and the paper")


# Finding and reading --------------------------------------------------------------------------------------------------


def pairs(source: Path, model: str | None, skip_bad: bool) -> Iterator[Pair]:
    """The pairs of files below a folder, in order of their paths. DataError where there are none, where one of a pair
    is missing, and for a folder whose model is not in the taxonomy."""
    heads = sorted(path for path in source.rglob("*") if HEAD.search(path.name))
    if not heads:
        raise DataError(f"{source} holds no files called *_HEAD.FITS or *_HEAD.FITS.gz")
    fixed = {path.parent for path in heads if "TRAINFIX" in path.name}
    for head in heads:
        try:
            name = model or re.sub(r"^.*TRAIN(FIX|_\d+)?_", "", head.parent.name)
            if name not in TAXONOMY:
                raise DataError(f"{head.parent}: {name!r} is no model of the taxonomy; --model says which it is")
            if name in PREFIX and head.parent in fixed and "TRAINFIX" not in head.name:
                continue
            stem = HEAD.sub("_PHOT.FITS", head.name)
            photometry = next((p for p in (head.with_name(stem), head.with_name(stem + ".gz")) if p.exists()), None)
            if photometry is None:
                raise DataError(f"{head}: {stem} is missing beside it")
        except DataError as error:
            if not skip_bad:
                raise
            print(f"skipped: {error}", file=sys.stderr)
            continue
        yield Pair(head, photometry, name)


def table(path: Path, columns: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Columns of the first table of a FITS file. DataError naming the file."""
    from astropy.io import fits

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*truncated.*")
            # unpacked here, since astropy stops reading before gzip's checksum
            whole = path
            if path.suffix == ".gz":
                with gzip.open(path) as packed:
                    whole = io.BytesIO(limited(iter(lambda: packed.read(1 << 20), b""), LARGEST, str(path)))
            with fits.open(whole, memmap=False) as file:
                rows = file[1].data
                if missing := set(columns) - set(rows.names):
                    raise DataError(f"{path}: lacks the columns {', '.join(sorted(missing))}")
                return {name: np.array(rows[name]) for name in columns}
    except DataError:
        raise
    except Exception as error:  # astropy answers damage with errors of a dozen kinds, warnings among them
        raise DataError(f"{path} is damaged, cut off or no SNANA file ({error})") from error


def read(pair: Pair, skip_bad: bool) -> Objects:
    """The light curves of a pair. DataError naming the file and the object that is not what it should be."""
    head = table(pair.head, ("SNID", "NOBS", "PTROBS_MIN", "PTROBS_MAX"))
    rows = table(pair.photometry, ("MJD", "BAND", "PHOTFLAG", "FLUXCAL", "FLUXCALERR"))
    if (kind := rows["MJD"].dtype.newbyteorder("=")) != np.float64:
        raise DataError(f"{pair.photometry}: MJD is {kind}; expected float64, since float32 rounds to minutes")
    letters = np.char.strip(rows["BAND"].astype(str))
    band = np.full(len(letters), -1, np.int8)
    for i, letter in enumerate(BANDS):
        band[letters == letter] = i
    columns = {
        "time": rows["MJD"], "band": band, "flux": rows["FLUXCAL"], "error": rows["FLUXCALERR"],
        "flags": rows["PHOTFLAG"],
    }
    with np.errstate(over="ignore"):  # `check` names what float32 does not hold
        columns = {name: columns[name].astype(kind) for name, kind in FLAT.items()}
    ends = columns["time"] == END
    pointers = np.stack([head[name] for name in ("NOBS", "PTROBS_MIN", "PTROBS_MAX")], axis=1).tolist()
    owners = np.zeros(len(ends), int)  # of each row
    for visits, first, last in pointers:
        if 0 < first <= last == first + visits - 1:  # the others are refused anyway
            owners[first - 1 : last] += 1
    ids, slices = [], []
    for name, (visits, first, last) in zip(head["SNID"], pointers, strict=True):
        try:
            part = rows_of(first, last, visits, ends, owners)
            check(columns, part, letters)
            number = identifier(PREFIX.get(pair.model, "") + str(name).strip())
        except DataError as error:
            problem = DataError(f"{pair.photometry}: object {str(name).strip()}: {error}")
            if not skip_bad:
                raise problem from error
            print(f"skipped: {problem}", file=sys.stderr)
            continue
        order = np.argsort(columns["time"][part], kind="stable") + part.start
        ids.append(number)
        slices.append(order)
    chosen = np.concatenate(slices) if slices else np.zeros(0, int)
    return Objects(ids, [len(s) for s in slices], {name: column[chosen] for name, column in columns.items()})


def rows_of(first: int, last: int, visits: int, ends: np.ndarray, owners: np.ndarray) -> slice:
    """An object's rows; SNANA counts from 1, both ends inside. DataError where they are not one whole light curve.

    ends: which rows are those that SNANA writes after a light curve. owners: how many objects point to each row."""
    if not 1 <= first <= last <= len(ends):
        raise DataError(f"points to rows {first} to {last} of a table with {len(ends)}")
    if last - first + 1 != visits:
        raise DataError(f"NOBS is {visits}, but it points to {last - first + 1} rows")
    if ends.any():
        for row, place in ((first - 1, "before its first"), (last + 1, "after its last")):
            if row and not ends[row - 1 : row].any():  # past the table there is none
                raise DataError(f"row {row}, {place}, is not one with MJD {END}, which separates light curves")
    if (owners[first - 1 : last] > 1).any():
        raise DataError(f"points to rows {first} to {last}, and so does another object to some of them")
    return slice(first - 1, last)


def check(columns: dict[str, np.ndarray], part: slice, letters: np.ndarray) -> None:
    """DataError where a value in an object's rows cannot be."""
    for name in ("time", "flux", "error"):
        if not np.isfinite(columns[name][part]).all():
            row = part.start + 1 + int(np.argmin(np.isfinite(columns[name][part])))
            raise DataError(f"{name} is not finite in row {row}")
    if (columns["time"][part] <= 0).any() or (columns["error"][part] <= 0).any():
        raise DataError("a time or an error is not positive")
    if (columns["band"][part] < 0).any():
        raise DataError(
            f"band is {str(letters[part][columns['band'][part] < 0][0])!r}; expected one of {', '.join(BANDS)}"
        )


def identifier(value: object) -> int:
    """An object's id. DataError where it is none that the result can hold."""
    text = str(value).strip()
    if not re.fullmatch("[0-9]{1,19}", text) or int(text) >= 2**63:
        raise DataError(f"SNID is {text!r}; expected a whole number below 2**63")
    return int(text)


# Writing --------------------------------------------------------------------------------------------------------------


def write(file, found: list[Pair], skip_bad: bool) -> None:
    """Append the light curves of every pair to an open HDF5 file. DataError for an id that is there twice."""
    sizes = FLAT | {"ids": np.int64, "label": np.int16, "start": np.int64}
    data = {
        name: file.create_dataset(name, (0,), kind, maxshape=(None,), chunks=(1 << 16,), compression="gzip",
                                  compression_opts=1, shuffle=True)
        for name, kind in sizes.items()
    }
    append(data["start"], np.zeros(1, np.int64))
    known: set[int] = set()
    for i, pair in enumerate(found):
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {len(found)}: {pair.head.name:<60}", end="", file=sys.stderr, flush=True)
        try:
            objects = read(pair, skip_bad)
            number, times = np.unique(objects.ids, return_counts=True)
            if twice := known & set(objects.ids) | set(number[times > 1].tolist()):
                raise DataError(f"{pair.head}: object {min(twice)} is there twice")
        except DataError as error:
            if not skip_bad:
                raise
            print(f"skipped: {error}", file=sys.stderr)
            continue
        known |= set(objects.ids)
        append(data["ids"], np.array(objects.ids, np.int64))
        append(data["label"], np.full(len(objects.ids), CLASSES.index(TAXONOMY[pair.model]), np.int16))
        append(data["start"], data["start"][-1] + np.cumsum(objects.counts, dtype=np.int64))
        for name, column in objects.columns.items():
            append(data[name], column)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if not known:
        raise DataError("no readable light curve")


def append(dataset, rows: np.ndarray) -> None:
    dataset.resize(len(dataset) + len(rows), axis=0)
    if len(rows):
        dataset[-len(rows) :] = rows


def inputs(source: Path, found: list[Pair], chosen: argparse.Namespace) -> str:
    """What the result depends on: names and sizes of the files, the partition's content, the chosen."""
    above = source.parent  # two archives can hold files of the same names and sizes
    files = [[str(p.relative_to(above)), p.stat().st_size] for pair in found for p in (pair.head, pair.photometry)]
    partition = chosen.partition and hashlib.sha256(chosen.partition.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps([files, partition, chosen.model, chosen.skip_bad]).encode()).hexdigest()


def made_from(result: Path) -> str | None:
    """The stamp of what a result was made from; None where there is none that can be read."""
    import h5py

    try:
        with h5py.File(result) as file:
            return file.attrs["inputs"]
    except (OSError, KeyError):
        return None


# Splits ---------------------------------------------------------------------------------------------------------------


def drawn(label: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """A split of the shape of ATAT's: row numbers of "test", "training_0" to "validation_4", ascending."""
    rng = np.random.default_rng(seed)
    fold = np.empty(len(label), int)  # -1: test
    for kind in np.unique(label):
        rows = rng.permutation(np.flatnonzero(label == kind))
        test = min(TEST, len(rows) // 5)
        fold[rows] = np.concatenate((np.full(test, -1), np.arange(len(rows) - test) % FOLDS))
    splits = {"test": np.flatnonzero(fold == -1)}
    for i in range(FOLDS):
        splits[f"training_{i}"] = np.flatnonzero((fold != i) & (fold >= 0))
        splits[f"validation_{i}"] = np.flatnonzero(fold == i)
    return splits


def given(path: Path) -> dict[str, np.ndarray]:
    """ATAT's split, as ids. DataError naming the file where it cannot be read or is no split into test and folds."""
    try:
        columns = columns_of(path)
    except ImportError:
        raise
    except Exception as error:  # pyarrow's are of half a dozen kinds
        raise DataError(f"{path} is damaged or no table ({error})") from error
    if missing := {"SNID", "partition"} - set(columns):
        raise DataError(f"{path} lacks the columns {', '.join(sorted(missing))}")
    folds = [(f"training_{i}", f"validation_{i}") for i in range(FOLDS)]
    numbers: dict[str, list[int]] = {name: [] for name in ("test", *sum(folds, ()))}
    for snid, name in zip(columns["SNID"], columns["partition"], strict=True):
        if str(name) not in numbers:
            raise DataError(f"{path}: partition is {name!r}; expected one of {', '.join(numbers)}")
        try:
            numbers[name].append(identifier(snid))
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
    sets = {name: np.array(ids, np.int64) for name, ids in numbers.items()}
    for name, ids in sets.items():
        if not len(ids):
            raise DataError(f"{path}: no object is in {name}")
        unique, times = np.unique(ids, return_counts=True)
        if (times > 1).any():
            raise DataError(f"{path}: object {unique[times > 1][0]} is twice in {name}")
    for one, other in [("test", name) for name in sets if name != "test"] + folds:
        if len(both := np.intersect1d(sets[one], sets[other])):
            raise DataError(f"{path}: object {both[0]} is in {one} and {other}")
    return sets


def columns_of(path: Path) -> dict[str, list]:
    """The columns of a .parquet or .csv file."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(path).to_pydict()
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        names, rows = reader.fieldnames or (), list(reader)
    if long := next((number for number, row in enumerate(rows, start=2) if None in row), None):
        raise ValueError(f"row {long} has more cells than there are columns")
    return {name: [row[name] for row in rows] for name in names}


def located(sets: dict[str, np.ndarray], ids: np.ndarray, path: Path, skip_bad: bool) -> dict[str, np.ndarray]:
    """The row numbers of a given split's ids. DataError for a light curve that is not there."""
    row_of = {number: row for row, number in enumerate(ids.tolist())}
    splits, absent = {}, 0
    for name, numbers in sets.items():
        here = np.isin(numbers, ids)
        if not here.all() and not skip_bad:
            raise DataError(
                f"{path}: object {numbers[~here][0]} is not among the light curves; --skip-bad goes on without"
            )
        if not here.any():
            raise DataError(f"{path}: no object of {name} is among the light curves")
        splits[name] = np.array([row_of[number] for number in numbers[here].tolist()], np.int64)
        absent += int((~here).sum())
    if absent:
        print(f"skipped: {absent} rows of {path} name light curves that are not here", file=sys.stderr)
    return splits


# The archive ----------------------------------------------------------------------------------------------------------


def unpack(archive: Path, folder: Path, force: bool) -> Path:
    """Unpack a .tar to a folder of its own, once. DataError naming the archive where it is damaged or holds what it
    should not (see `members`); nothing of it is left then."""
    if archive.stem in ("", ".", ".."):  # the folder that is emptied would be another
        raise DataError(f"{archive} without its ending is {archive.stem!r}, which names no folder; rename it")
    target = folder / archive.stem
    if target.resolve() in archive.resolve().parents:
        raise DataError(f"{archive} lies in {target}, which is emptied before it is unpacked there; move it away")
    done = target / ".done"
    stamp = f"{archive.name} {archive.stat().st_size}".encode()
    if not force and done.exists() and done.read_bytes() == stamp:
        return target
    done.unlink(missing_ok=True)  # before the folder is emptied: a run that is cut off leaves no stamp
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    try:
        for name, pieces in members(archive):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                file.writelines(pieces)
    except BaseException:
        shutil.rmtree(target)
        raise
    done.write_bytes(stamp)
    return target


if __name__ == "__main__":
    sys.exit(main())

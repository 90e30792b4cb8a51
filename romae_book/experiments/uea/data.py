"""Five sets of multivariate series to classify, from the UEA archive (paper Sec. 5.4, D.3).

Motions, handwriting, acted seizures, heartbeats and light curves: every case is a table of steps by channels with a
class. `load` reads what `data_scripts/uea.py` prepared, or the archive's own files; `simulated` makes series like
BasicMotions where the real ones are not at hand; `tokens` turns some steps of either into the book's one shape.

aeon reads the archive's `.ts` files as well, and a test holds the two against each other. The reader here knows the
other two forms in which the sets go round, packed `.gz` and one `.arff` per channel, and says which case is damaged.
"""

import gzip
import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

import numpy as np
import torch

from romae_lite.io import atomic_write
from romae_lite.tokens import Tokens, collate

from ..data import DAMAGE, DataError, NotHere, changed, data_root, limited


class Info(NamedTuple):
    """What a set should hold."""

    short: str  # as Tables 12 and 13 call it
    about: str
    train: int  # cases
    test: int
    channels: int
    shortest: int  # steps
    longest: int
    names: tuple[str, ...]  # of the classes, in the order of their numbers
    numbered: bool = False  # the files call the classes 1, 2, 3, ...

    @property
    def classes(self) -> int:
        return len(self.names)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the files call the classes."""
        return tuple(map(str, range(1, self.classes + 1))) if self.numbered else self.names


SETS = {
    "BasicMotions": Info(
        "BM",
        "a watch's accelerometer and gyroscope",
        40,
        40,
        6,
        100,
        100,
        ("badminton", "running", "standing", "walking"),
    ),
    "CharacterTrajectories": Info(
        "CT", "the velocity and force of a pen", 1422, 1436, 3, 60, 182, tuple("abcdeghlmnopqrsuvwyz"), numbered=True
    ),
    "Epilepsy": Info(
        "EP",
        "a wrist's accelerometer; the seizures are acted",
        137,
        138,
        3,
        206,
        206,
        ("epilepsy", "running", "sawing", "walking"),
    ),
    "Heartbeat": Info("HB", "spectrograms of the sound of a heart", 204, 205, 61, 405, 405, ("abnormal", "normal")),
    "LSST": Info(
        "LSST",
        "brightness in six bands, simulated",
        2459,
        2466,
        6,
        36,
        36,
        tuple("6 15 16 42 52 53 62 64 65 67 88 90 92 95".split()),
    ),
}
# Series.fingerprint of what our records were made of: training and test set (of Heartbeat, the training set alone)
FINGERPRINTS = {
    "BasicMotions": ("179315026fed4fcc", "bc5bf81cde09f394"),
    "CharacterTrajectories": ("b2cd6db1239bcb9d", "4c21aec5c4f44acd"),
    "Epilepsy": ("cbe95d9247de7e47", "f86195355c467b61"),
    "Heartbeat": ("a57bbdaff66fad32",),
    "LSST": ("6630132870c42d3d", "4696551e9c266362"),
}
PARTS = ("TRAIN", "TEST")
LARGEST = 2**28  # bytes of an unpacked file; the largest, of Heartbeat, has 44 million


@dataclass(frozen=True)
class Series:
    """Cases of one set: values[i] (T_i, C) float32, label (n,) int64 an index into names, which are in order."""

    values: tuple[np.ndarray, ...]
    label: np.ndarray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: np.ndarray) -> "Series":
        return Series(tuple(self.values[i] for i in index), self.label[index], self.names)

    def fingerprint(self) -> str:
        """SHA-256 over lengths, classes and values: independent of file format and machine. 16 hex digits."""
        digest = hashlib.sha256("\n".join(self.names).encode())
        for value, label in zip(self.values, self.label, strict=True):
            digest.update(np.array([*value.shape, label], "<i4").tobytes() + value.astype("<f4").tobytes())
        return digest.hexdigest()[:16]

    def verify(self, dataset: str, part: str) -> None:
        """DataError unless number, shapes and classes are those of SETS."""
        info, lengths = SETS[dataset], [len(v) for v in self.values]
        found = {
            "number of cases": (len(self), info.train if part == "TRAIN" else info.test),
            "number of channels": (self.values[0].shape[1], info.channels),
            "number of classes": (len(set(self.label.tolist())), info.classes),
            "shortest case": (min(lengths), max(info.shortest, min(lengths))),  # the extremes are those of both parts
            "longest case": (max(lengths), min(info.longest, max(lengths))),
        }
        for name, (got, want) in found.items():
            if got != want:
                raise DataError(f"{dataset}_{part}: {name} is {got}; it should be {want}")


# Reading --------------------------------------------------------------------------------------------------------------

Case = tuple[list[np.ndarray], str]  # its channels, (T_c,) each, and its class


def parse_ts(texts: list[str], where: list[str], bad: list[DataError] | None = None) -> list[Case]:
    """The cases of one `.ts` file; "?", the format's mark of a missing value, becomes NaN, and the text "nan" is
    refused. DataError naming `where` and the case for what is damaged; with a list `bad` the error goes there, and the
    case is left out."""
    head, found, body = texts[0].partition("@data")
    if not found:
        raise DataError(f"{where[0]}: there is no line @data; the file is cut off, or no .ts file")
    if "@timestamps true" in head.lower():
        raise DataError(f"{where[0]}: has time stamps; the UEA sets have none")
    lines = [line.split(":") for line in map(str.strip, body.splitlines()) if line]
    width = max(map(len, lines), default=0)

    def case(number: int, parts: list[str]) -> Case:
        if len(parts) != width or not parts[-1]:
            raise DataError(
                f"{where[0]}: case {number} has {len(parts) - 1} channels and a class; should be {width - 1}"
            )
        return [_numbers(text, where[0], number) for text in parts[:-1]], parts[-1]

    return _each(case, lines, bad)


def parse_arff(texts: list[str], where: list[str], bad: list[DataError] | None = None) -> list[Case]:
    """The cases of one `.arff` file per channel, as `parse_ts`. "?" at the end of a row is padding and is cut off."""
    files = []
    for text, name in zip(texts, where, strict=True):
        _, found, body = text.partition("@data")
        if not found:
            raise DataError(f"{name}: there is no line @data; the file is cut off, or no .arff file")
        files.append([line.rpartition(",") for line in map(str.strip, body.splitlines()) if line])
        if len(files[-1]) != len(files[0]):
            raise DataError(f"{name}: holds {len(files[-1])} cases; {where[0]} holds {len(files[0])}")

    def case(number: int, rows: tuple) -> Case:
        label, channels = rows[0][2], []
        for name, (row, _, own), first in zip(where, rows, files, strict=True):
            if own != label or row.count(",") != first[0][0].count(","):
                raise DataError(f"{name}: case {number} ends early, or is not case {number} of {where[0]}")
            values = _numbers(row, name, number)
            channels.append(values[: len(values) - int(np.isnan(values[::-1]).cumprod().sum())])
        return channels, label.strip("'\" ")

    return _each(case, zip(*files, strict=True), bad)


def _each(case: Callable, rows: Iterable, bad: list[DataError] | None) -> list[Case]:
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            found.append(case(number, row))
        except DataError as error:
            if bad is None:
                raise
            bad.append(error)
    return found


def _numbers(text: str, where: str, case: int) -> np.ndarray:
    """ "1,2.5,?" -> (T,) float64."""
    try:
        if odd := next((x for x in text.split(",") if set("nN_") & set(x)), ""):  # Python reads nan, inf and 1_0
            raise ValueError(f"{odd!r}; what is missing is a ?")
        found = np.array(text.replace("?", "nan").split(","), dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{where}: case {case} has something that is no number ({error})") from error
    if (np.abs(found) > (top := np.finfo(np.float32).max)).any():
        raise DataError(f"{where}: case {case} has the number {np.nanmax(np.abs(found))}; float32 ends at {top:.4g}")
    return found


def whole(channels: list[np.ndarray]) -> np.ndarray:
    """Channels (T_c,) of one case -> (T, C) float32 without gaps.

    Missing values inside a channel are interpolated linearly (as the authors do); where a channel ends before the
    longest one, or begins late, its nearest value goes on; a channel without any value is zero.
    """
    steps = np.arange(max(map(len, channels)))
    out = np.zeros((len(steps), len(channels)), np.float32)
    for c, values in enumerate(channels):
        there = np.flatnonzero(np.isfinite(values))
        if len(there):
            out[:, c] = np.interp(steps, there, values[there])
    return out


def texts(folder: Path, dataset: str, part: str) -> tuple[Callable, list[str], list[str]]:
    """What a folder holds of one part of a set: the parser for it, the contents of its files and their names.

    Looks for <dataset>_TRAIN.ts or one <dataset>Dimension<k>_TRAIN.arff per channel, both also as .gz, and for the .ts
    in <dataset>.zip. NotHere where there is none, DataError where one cannot be unpacked or is larger than LARGEST.
    """
    name = f"{dataset}_{part}.ts"
    dimensions = [f"{dataset}Dimension{k + 1}_{part}.arff" for k in range(SETS[dataset].channels)]
    for parser, names in ((parse_ts, [name]), (parse_arff, dimensions)):
        paths = [next((p for p in (folder / n, folder / f"{n}.gz") if p.is_file()), None) for n in names]
        if all(paths):
            return parser, [_unpacked(path) for path in paths], [path.name for path in paths]
        if any(paths):
            missing = names[paths.index(None)]
            raise DataError(f"{folder} has no {missing}, but {next(filter(None, paths)).name}")
    archive = folder / f"{dataset}.zip"
    if archive.is_file():
        try:
            with ZipFile(archive) as packed:
                inside = [n for n in packed.namelist() if n.rpartition("/")[2] == name]
                if len(inside) > 1:
                    raise DataError(f"{archive}: {name} is there twice, as {inside[0]} and {inside[1]}")
                if inside:
                    with packed.open(inside[0]) as file:
                        return parse_ts, [_text(file, f"{archive}: {name}")], [f"{archive.name}:{name}"]
        except DataError:
            raise
        except (BadZipFile, RuntimeError, *DAMAGE) as error:  # RuntimeError: encrypted, or packed in an unknown way
            raise DataError(f"{archive} is damaged, cut off or not to be unpacked ({error})") from error
    raise NotHere(f"{folder} has neither {name} nor {dimensions[0]}, nor these as .gz, nor {name} in {archive.name}")


def _unpacked(path: Path) -> str:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            return _text(file, str(path))
    except DataError:
        raise
    except DAMAGE as error:
        raise DataError(f"{path} is damaged or cut off ({error})") from error


def _text(file: IO[bytes], where: str) -> str:
    return limited(iter(lambda: file.read(1 << 20), b""), LARGEST, where).decode("utf-8", errors="replace")


def read(folder: Path, dataset: str, part: str, skip_bad: bool = False) -> tuple[Series, list[DataError]]:
    """TRAIN or TEST of a set from the archive's files (see `texts`), checked by `Series.verify`; and what was left out,
    which is nothing without skip_bad."""
    parse, content, where = texts(Path(folder), dataset, part)
    bad = [] if skip_bad else None
    cases = parse(content, where, bad)
    if not cases:
        raise DataError(f"{where[0]}: holds no case that can be read")
    named = [label.lower() for _, label in cases]
    names = SETS[dataset].labels
    if unknown := sorted(set(named) - set(names)):
        raise DataError(f"{where[0]}: class {unknown[0]!r} is none of {', '.join(names)}")
    label = np.array([names.index(name) for name in named])
    found = Series(tuple(whole(channels) for channels, _ in cases), label, names)
    try:
        found.verify(dataset, part)
    except DataError as error:
        error = DataError(f"{where[0]}: {error}")
        if bad is None:
            raise error from None
        bad.append(error)
    return found, bad or []


def save(path: Path, train: Series, test: Series) -> None:
    """Both parts of a set as one compressed file, written atomically."""
    packed, arrays = io.BytesIO(), {"names": np.array(train.names)}
    for part, series in zip(PARTS, (train, test), strict=True):
        arrays |= {
            f"{part}_values": np.concatenate(series.values), f"{part}_label": series.label.astype(np.int16),
            f"{part}_length": np.array([len(v) for v in series.values], np.int32),
        }
    np.savez_compressed(packed, **arrays)
    atomic_write(path, packed.getvalue())


def find(dataset: str) -> Path | None:
    """Where a set is: uea/<dataset>.npz or a folder uea/<dataset>, under $ROMAE_DATA or else data/ beside the package.
    aeon brings BasicMotions along. None where it is not."""
    root = data_root() / "uea"
    places = [root / f"{dataset}.npz", root / dataset]
    if (aeon := find_spec("aeon")) is not None:
        places.append(Path(aeon.origin).parent / "datasets" / "data" / dataset)
    return next((place for place in places if place.exists()), None)


def load(dataset: str, path: Path | None = None) -> tuple[Series, Series | None]:
    """Training and test set, from a file that `data_scripts/uea.py` prepared or a folder with the archive's files;
    without a path, from where `find` finds them. The test set is None where the folder has the training set alone.
    NotHere, a FileNotFoundError, where there is neither."""
    path = Path(path) if path else find(dataset)
    if path is None or not path.exists():
        place = f"{path} does not exist" if path else f"{dataset} is not here"
        raise NotHere(f"{place}; `python data_scripts/uea.py {dataset}` fetches it, ROMAE_DATA says where it is")
    inside = (path / f"{dataset}.npz", path / dataset, path)  # a folder may hold several sets
    found = next(place for place in inside if place.exists())
    return _load(dataset, found, changed(found))


@lru_cache(maxsize=4)
def _load(dataset: str, path: Path, _changed: int) -> tuple[Series, Series | None]:
    if path.is_dir():
        train = read(path, dataset, "TRAIN")[0]
        try:
            return train, read(path, dataset, "TEST")[0]
        except NotHere:
            return train, None
    try:
        with np.load(path) as file:
            parts = [
                Series(
                    tuple(np.split(file[f"{part}_values"], file[f"{part}_length"].cumsum()[:-1])),
                    file[f"{part}_label"].astype(np.int64), tuple(file["names"].tolist()),
                )
                for part in PARTS
            ]
    except (BadZipFile, OSError, ValueError, KeyError, EOFError, ZlibError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    return tuple(parts)


def simulated(n: int, rng: np.random.Generator) -> Series:
    """n made-up series with the shape of BasicMotions: 100 steps, 6 channels, 4 classes. No person, no result.

    Standing is a fluctuation about zero, walking a slow and running a fast, strong rhythm with overtones, badminton
    a handful of sudden strokes; phase, tempo and strength differ from case to case.
    """
    if n < 1:
        raise ValueError(f"n is {n}; make at least one series")
    label, step = np.arange(n) % 4, np.arange(100)[:, None]
    values = []
    for kind in label:
        noise = 0.3 * rng.standard_normal((100, 6))
        strength, phase = rng.uniform(0.5, 1.5, 6), rng.uniform(0, 2 * np.pi, 6)
        if kind == 0:  # badminton
            for at in rng.uniform(0, 100, rng.integers(3, 8)):
                noise += rng.normal(0, 4, 6) * np.exp(-(((step - at) / rng.uniform(1.5, 4)) ** 2))
        elif kind != 2:
            turn = 2 * np.pi * step / rng.uniform(*((7, 11) if kind == 1 else (16, 24)))
            size = strength * (4 if kind == 1 else 1)
            noise += size * (np.sin(turn + phase) + 0.4 * np.sin(2 * turn + 3 * phase))
        values.append(noise.astype(np.float32))
    return Series(tuple(values), label, SETS["BasicMotions"].names)


# Tokens ---------------------------------------------------------------------------------------------------------------


def kept(
    series: Series,
    share: float,
    rng: np.random.Generator,
    whole: Callable[[float], int] = int,
) -> list[np.ndarray]:
    """The steps of each case that are left when whole(share * T) of its T steps, drawn
    at random, are dropped; two remain at least.

    whole: int cuts off, as the authors' code does, round rounds. ValueError for a share
    outside [0, 1].
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must lie in [0, 1]")
    steps = []
    for values in series.values:
        left = max(2, len(values) - whole(share * len(values)))
        steps.append(np.sort(rng.permutation(len(values))[:left]).astype(np.int64))
    return steps


def tokens(series: Series, steps: list[np.ndarray]) -> Tokens:
    """The given steps of each case, one token for each: all its channels.

    Tokens: values (n, N, C); positions (n, N, 1) the step's number; padding at the end
    where cases differ in length; aux: label (n,) the class.
    """
    samples = [
        (torch.from_numpy(value[at]), torch.from_numpy(at).double()[:, None])
        for value, at in zip(series.values, steps, strict=True)
    ]
    return collate(samples, label=torch.from_numpy(series.label))


def informed(tokens: Tokens, information: str, rng: np.random.Generator) -> Tokens:
    """Tokens, padded at the end as `tokens` has them, of which something is not known.

    ranks     a step's number by its rank among those that are left
    shuffled  the steps of a series in random order, channels together: the times stay
    all       as they are
    """
    if information == "ranks":
        ranks = torch.arange(tokens.positions.shape[1]).to(tokens.positions)  # (N,)
        return replace(tokens, positions=ranks[None, :, None].expand_as(tokens.positions))
    if information != "shuffled":
        return tokens
    values = tokens.values.clone()
    for series, real in zip(values, tokens.real, strict=True):
        series[real] = series[real][rng.permutation(int(real.sum()))]
    return replace(tokens, values=values)


def padded(series: Series, length: int) -> Series:
    """Zeros before every case, up to a length: what the authors' code takes for data (D28)."""
    if length < (longest := max(map(len, series.values))):
        raise ValueError(f"length is {length}; the longest case has {longest} steps")
    return Series(tuple(np.pad(v, ((length - len(v), 0), (0, 0))) for v in series.values), series.label, series.names)

"""Tiny ImageNet: 200 classes of small photographs (paper Sec. 5.2, D.1), and drawn pictures to try things on.

`load` reads what `data_scripts/tiny_imagenet.py` prepared, or the source itself: the official archive, its folder, or
.npz files that hold the same JPEGs. `simulated` draws ten classes of shapes and textures where the real ones are not at
hand. Pictures stay JPEGs until they are asked for, are decoded once, and stay 8-bit numbers until a batch is made.
"""

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from romae_lite.io import atomic_write

from ..data import DAMAGE, DataError, NotHere, changed, data_root, limited

CLASSES, PER_CLASS, TEST_PER_CLASS, SIDE = 200, 500, 50, 64
PREPARED = "tiny_imagenet.npz"
ARCHIVE = "tiny-imagenet-200.zip"
LARGEST = 2**20  # bytes of one picture or list; the largest picture has 20 thousand
WNID = re.compile(r"n\d{8}")
TRAIN = re.compile(r"(?:tiny-imagenet-200/)?train/(n\d{8})/images/n\d{8}_(\d{1,4})\.JPEG")
VALID = re.compile(r"(?:tiny-imagenet-200/)?val/images/val_(\d{1,5})\.JPEG")
ANNOTATIONS = "val/val_annotations.txt"


@dataclass(frozen=True)
class Pictures:
    """JPEGs one after the other: picture i is jpeg[start[i] : start[i + 1]]."""

    jpeg: np.ndarray  # uint8
    start: np.ndarray  # (n + 1,) int64
    label: np.ndarray  # (n,) int16, a number of Collection.wnids
    index: np.ndarray  # (n,) int16, its number in its class (training) or in the set (test)
    origin: str = "the pictures"  # what errors name

    def __post_init__(self):
        n = len(self.label)
        right = self.jpeg.dtype == np.uint8 and self.jpeg.ndim == 1
        right = right and self.label.shape == self.index.shape == (n,) and n > 0
        right = right and self.start.shape == (n + 1,) and self.start[0] == 0 and self.start[-1] == len(self.jpeg)
        if not right or (np.diff(self.start) <= 0).any():
            raise DataError(f"{self.origin}: its parts do not fit one another; delete it and fetch it again")

    def __len__(self) -> int:
        return len(self.label)

    def name(self, i: int) -> str:
        return f"{self.origin}: picture {int(self.index[i])} of class {int(self.label[i])}"

    def decoded(self, i: int) -> np.ndarray:
        """(64, 64, 3) uint8; grey ones three times. DataError naming a picture that is damaged or another's."""
        from PIL import Image  # here: a bare GPU machine may be without, and runs all else

        try:
            with Image.open(io.BytesIO(self.jpeg[self.start[i] : self.start[i + 1]].tobytes())) as image:
                if image.format != "JPEG" or image.size != (SIDE, SIDE):
                    raise DataError(f"{self.name(i)} is {image.format} of {image.size}; expected JPEG of 64 x 64")
                return np.asarray(image.convert("RGB"))
        except DataError:
            raise
        except (*DAMAGE, SyntaxError, Image.DecompressionBombError) as error:  # Pillow's range
            raise DataError(f"{self.name(i)} is damaged ({error})") from error

    @cached_property
    def _decoded(self) -> tuple[np.ndarray, np.ndarray]:
        return np.empty((len(self), SIDE, SIDE, 3), np.uint8), np.zeros(len(self), bool)

    def pixels(self, chosen: np.ndarray) -> np.ndarray:
        """(len(chosen), 64, 64, 3) uint8 of some pictures, each decoded the first time that it is asked for."""
        pixels, done = self._decoded
        for i in chosen[~done[chosen]]:
            pixels[i], done[i] = self.decoded(i), True
        return pixels[chosen]

    def rows(self, chosen: np.ndarray) -> "Pictures":
        parts = [self.jpeg[self.start[i] : self.start[i + 1]] for i in chosen]
        start = np.cumsum([0, *map(len, parts)]).astype(np.int64)
        return Pictures(np.concatenate(parts), start, self.label[chosen], self.index[chosen], self.origin)


@dataclass(frozen=True)
class Collection:
    """What there is of the set: some or all of the training pictures, and the 10,000 of `val`, which everybody tests on
    (the labels of its `test` were never published)."""

    wnids: tuple[str, ...]  # WordNet's name of each class
    train: Pictures
    test: Pictures

    @property
    def per_class(self) -> int:
        """Training pictures of each class, at least."""
        return int(np.bincount(self.train.label, minlength=CLASSES).min())

    def verify(self) -> None:
        """DataError unless there are 200 classes with as many training pictures each, none twice, and 50 to test on."""
        found = {"number of classes": (len(set(self.wnids)), CLASSES)}
        for part, pictures in (("train", self.train), ("val", self.test)):
            count = np.bincount(pictures.label.clip(0), minlength=CLASSES)
            wanted = TEST_PER_CLASS if part == "val" else min(max(int(count[0]), 1), PER_CLASS)
            bad = np.flatnonzero(count != wanted)
            if len(bad):
                found[f"number of {part} pictures of class {bad[0]}"] = (int(count[bad[0]]), wanted)
            pairs = set(zip(pictures.label.tolist(), pictures.index.tolist(), strict=True))
            found[f"number of different {part} pictures"] = (len(pairs), len(pictures))
        for what, (got, wanted) in found.items():
            if got != wanted:
                raise DataError(f"{self.train.origin}: the {what} is {got}, expected {wanted}")

    def about(self) -> str:
        """Which part of the set this is, in words."""
        n = self.per_class
        part = "the whole training set" if n == PER_CLASS else f"only {n} of {PER_CLASS} training pictures of a class"
        return f"{len(self.train):,} training pictures ({part}), {len(self.test):,} of val to test on"

    def fingerprint(self) -> str:
        """SHA-256 over classes, labels, numbers and JPEGs: 16 hex digits."""
        digest = hashlib.sha256("\n".join(self.wnids).encode())
        for part in (self.train, self.test):
            for array in (part.label.astype("<i2"), part.index.astype("<i2"), part.start.astype("<i8"), part.jpeg):
                digest.update(np.ascontiguousarray(array))
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """One file, written atomically; JPEGs are packed already."""
        packed, arrays = io.BytesIO(), {"wnids": np.array(self.wnids)}
        for name, part in (("train", self.train), ("val", self.test)):
            arrays |= {f"{name}_jpeg": part.jpeg, f"{name}_offsets": part.start, f"{name}_labels": part.label}
            arrays[f"{name}_img_index"] = part.index
        np.savez(packed, **arrays)
        atomic_write(path, packed.getvalue())


# Reading --------------------------------------------------------------------------------------------------------------


def pack(pictures: list[tuple[int, int, bytes]], origin: str) -> Pictures:
    """(class, number, JPEG) of every picture -> in order of class and number."""
    pictures = sorted(pictures, key=lambda p: p[:2])
    label, index = (np.array([p[k] for p in pictures], np.int16) for k in (0, 1))
    start = np.cumsum([0, *(len(p[2]) for p in pictures)]).astype(np.int64)
    return Pictures(np.frombuffer(b"".join(p[2] for p in pictures), np.uint8), start, label, index, origin)


def files(source: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the files of the official archive, or of its folder, that matter here. DataError names the
    archive, and the member that is damaged, too large or there twice."""

    def wanted(name):
        return TRAIN.fullmatch(name) or VALID.fullmatch(name) or name.endswith((ANNOTATIONS, "wnids.txt"))

    if source.is_dir():
        for path in sorted(p for p in source.rglob("*") if p.is_file()):
            name = path.relative_to(source).as_posix()
            if wanted(name):
                with open(path, "rb") as file:
                    yield name, limited(iter(lambda: file.read(1 << 16), b""), LARGEST, str(path))  # noqa: B023
        return
    seen, name = set(), "its list of files"
    try:
        with ZipFile(source) as archive:
            for member in archive.infolist():
                name = member.filename
                if not wanted(name):
                    continue
                if name in seen:
                    raise DataError(f"{source}: member {name!r} is there twice")
                seen.add(name)
                with archive.open(member) as file:
                    yield name, limited(iter(lambda: file.read(1 << 16), b""), LARGEST, f"{source}: {name}")  # noqa: B023
    except DataError:
        raise
    except (*DAMAGE, BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{source} is damaged or cut off ({name}: {error}); fetch it again") from error


def read_official(source: Path) -> Collection:
    """The official archive, or the folder that it unpacks to."""
    train, test, annotations, listed = [], {}, None, None
    for name, content in files(source):
        if match := TRAIN.fullmatch(name):
            train.append((match[1], int(match[2]), content))
        elif match := VALID.fullmatch(name):
            test[f"val_{match[1]}.JPEG"] = (int(match[1]), content)
        elif name.endswith(ANNOTATIONS):
            annotations = text(content, f"{source}: {name}")
        else:
            listed = text(content, f"{source}: {name}").split()
    for what, there in (("train/<class>/images", train), ("val/images", test), (ANNOTATIONS, annotations)):
        if not there:
            raise DataError(f"{source} has no {what}; it is not Tiny ImageNet, or cut off")
    wnids = listed or sorted({wnid for wnid, _, _ in train})
    number = {wnid: k for k, wnid in enumerate(wnids)}
    labelled = []
    for line, row in enumerate(annotations.splitlines(), 1):
        cells = row.split()
        if len(cells) < 2 or cells[0] not in test or cells[1] not in number:
            raise DataError(f"{source}: {ANNOTATIONS}, line {line}, is {row[:60]!r}; expected a picture and its class")
        labelled.append((number[cells[1]], *test[cells[0]]))
    if unknown := {wnid for wnid, _, _ in train} - set(number):
        raise DataError(f"{source}: wnids.txt does not list {min(unknown)}")
    return Collection(
        tuple(wnids), pack([(number[w], i, content) for w, i, content in train], str(source)),
        pack(labelled, f"{source}, val"),
    )


def text(content: bytes, where: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is no text ({error})") from error


def read_packed(path: Path, prefix: str = "") -> tuple[tuple[str, ...], Pictures]:
    """Classes and pictures of an .npz with jpeg, offsets, labels, wnids and, but for val, img_index."""
    try:
        with np.load(path) as file:
            wnids = tuple(map(str, file["wnids"]))
            parts = [file[f"{prefix}{name}"] for name in ("jpeg", "offsets", "labels")]
            numbered = f"{prefix}img_index" in file
            index = file[f"{prefix}img_index"] if numbered else np.arange(len(parts[2]))
    except (*DAMAGE, KeyError, BadZipFile, NotImplementedError) as error:
        raise DataError(f"{path} is damaged, cut off or no file of Tiny ImageNet ({error})") from error
    jpeg, start, label = parts
    if not all(np.issubdtype(a.dtype, np.integer) for a in (start, label, index)):
        raise DataError(f"{path}: offsets, labels and img_index must be whole numbers")
    if len(label) and not (0 <= label.min() and label.max() < len(wnids)):
        raise DataError(f"{path}: a label is {label.max()}, and there are {len(wnids)} classes")
    if not all(WNID.fullmatch(wnid) for wnid in wnids):
        raise DataError(f"{path}: a class is called {next(w for w in wnids if not WNID.fullmatch(w))!r}, not n01234567")
    return wnids, Pictures(jpeg, start.astype(np.int64), label.astype(np.int16), index.astype(np.int16), str(path))


def joined(parts: list[Pictures]) -> Pictures:
    first = np.cumsum([0, *(len(p.jpeg) for p in parts)])
    start = np.concatenate([[0], *(p.start[1:] + base for p, base in zip(parts, first, strict=False))])
    label, index = (np.concatenate([getattr(p, name) for p in parts]) for name in ("label", "index"))
    whole = Pictures(np.concatenate([p.jpeg for p in parts]), start, label, index, parts[0].origin)
    return whole if len(parts) == 1 else whole.rows(np.lexsort((index, label)))


def read_parts(folder: Path) -> Collection:
    """train*.npz and val.npz of a folder, together."""
    found = sorted(folder.glob("train*.npz"))
    wnids, test = read_packed(folder / "val.npz")
    parts = []
    for path in found:
        theirs, part = read_packed(path)
        if theirs != wnids:
            raise DataError(f"{path}: its classes are not those of {folder / 'val.npz'}")
        parts.append(part)
    return Collection(wnids, joined(parts), test)


def read(source: Path) -> Collection:
    """Whatever a folder holds of: the official archive, train*.npz with val.npz, the folder that the archive unpacks
    to; or the archive itself. NotHere where it holds none of them. What is read is not verified yet."""
    source = Path(source)
    if not source.exists():
        raise NotHere(f"{source} does not exist; `python data_scripts/tiny_imagenet.py` fetches the data")
    if source.is_file():
        return read_official(source)
    if (source / ARCHIVE).is_file():
        return read_official(source / ARCHIVE)
    if any(source.glob("train*.npz")):
        if not (source / "val.npz").is_file():
            raise NotHere(f"{source} has train*.npz but no val.npz")
        return read_parts(source)
    for folder in (source / "tiny-imagenet-200", source):
        if (folder / "train").is_dir():
            return read_official(folder)
    raise NotHere(f"{source} holds neither {ARCHIVE}, nor train*.npz and val.npz, nor a folder train")


def load(path: Path | str | None = None) -> Collection:
    """The prepared file; without a path, tiny_imagenet/tiny_imagenet.npz under $ROMAE_DATA or data/. Read once, and
    again where it has changed. NotHere, a FileNotFoundError, where it is missing."""
    path = Path(path) if path else data_root() / "tiny_imagenet" / PREPARED
    path = path / PREPARED if path.is_dir() else path
    if not path.exists():
        raise NotHere(f"{path} does not exist; `python data_scripts/tiny_imagenet.py` makes it, ROMAE_DATA says where")
    return _load(path, changed(path))


@lru_cache(maxsize=1)
def _load(path: Path, _changed: int) -> Collection:
    try:
        (wnids, train), (_, test) = (read_packed(path, prefix) for prefix in ("train_", "val_"))
    except DataError as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    return Collection(wnids, train, test)


# Drawn pictures -------------------------------------------------------------------------------------------------------

SHAPES = (
    "disc", "ring", "square", "cross", "triangle up", "triangle down", "stripes across", "stripes down", "checks",
    "dots",
)


def simulated(
    n: int, rng: np.random.Generator, side: int = SIDE, classes: int = len(SHAPES)
) -> tuple[np.ndarray, np.ndarray]:
    """n drawn pictures, no photographs and no result: pixels (n, side, side, 3) uint8 and classes (n,) int64, of the
    first ones of SHAPES.

    A shape, or a patch of texture, of random place, size and colours on a ground whose colour changes slowly; a little
    noise. Several classes differ in nothing but the arrangement of their parts. ValueError for n or side below 1, and
    for classes that there are not.
    """
    if n < 1 or side < 1 or not 1 <= classes <= len(SHAPES):
        raise ValueError(f"n is {n}, side {side}, classes {classes}; draw a picture, of a pixel, of 1 to 10 classes")
    label = rng.permutation(np.arange(n) % classes)
    fine = 2 * side  # drawn at twice the size, then averaged
    y, x = (c / fine for c in np.mgrid[:fine, :fine] + 0.5)
    out = np.empty((n, side, side, 3), np.uint8)
    for i, kind in enumerate(label):
        cx, cy, r = *rng.uniform(0.36, 0.64, 2), rng.uniform(0.2, 0.33)
        u, v = (x - cx) / r, (y - cy) / r
        front = _form(SHAPES[kind], u, v, rng)[..., None]
        ground, tone, slope = rng.uniform(0.05, 0.95, 3), rng.uniform(0, 1, 3), rng.normal(0, 0.15, (2, 3))
        while np.abs(tone - ground).sum() < 0.9:
            tone = rng.uniform(0, 1, 3)
        back = ground + slope[0] * (x[..., None] - 0.5) + slope[1] * (y[..., None] - 0.5)
        picture = (back + front * (tone - back)).reshape(side, 2, side, 2, 3).mean((1, 3))
        picture += rng.normal(0, 0.02, picture.shape)
        out[i] = np.rint(255 * picture.clip(0, 1))
    return out, label


def _form(shape: str, u: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Where a shape is, in coordinates in which it has radius 1: bool."""
    distance, box = np.hypot(u, v), np.maximum(np.abs(u), np.abs(v))
    phase, rate = rng.uniform(0, 2 * np.pi, 2), rng.uniform(5, 8)
    if shape.startswith("triangle"):
        height = v if shape == "triangle up" else -v
        return (height < 0.8) & (height > 2 * np.abs(u) - 1)
    waves = [np.sin(rate * c + p) for c, p in zip((u, v), phase, strict=True)]
    return {
        "disc": distance < 1, "ring": (distance < 1) & (distance > 0.55), "square": box < 0.85,
        "cross": (box < 1) & (np.minimum(np.abs(u), np.abs(v)) < 0.33),
        "stripes across": (box < 1.2) & (waves[1] > 0), "stripes down": (box < 1.2) & (waves[0] > 0),
        "checks": (box < 1.2) & (waves[0] * waves[1] > 0), "dots": (box < 1.2) & (waves[0] + waves[1] > 1),
    }[shape]

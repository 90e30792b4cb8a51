"""Light curves that were measured, or simulated for a public challenge: readers, and one form for all of them.

Every survey becomes `Curves`: times, values and their stated errors by band, one object after the other, with a label
each. What must not be an input (periods, redshifts, positions, marks that people made) is left out. Only the RR Lyrae
keep their `period`: the figures show it. `load` reads what `data_scripts/lightcurves.py` prepared, or the source
itself.
"""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from romae_lite.io import atomic_write

from ..data import DataError, NotHere, changed, data_root, members

SHIPPED = Path(__file__).resolve().parents[2] / "data"  # what comes with the book
csv.field_size_limit(10**7)  # EROS-1 has a whole light curve in a field


@dataclass(frozen=True, kw_only=True)
class Curves:
    """n objects of K classes, their points one after the other, each object's in order of time.

    time     (N,) float64, days
    value    (N,) float32, magnitudes or fluxes
    error    (N,) float32, the stated standard error of each value, above 0
    band     (N,) int8, index into `bands`
    start    (n + 1,) int64: object i has the points start[i] to start[i + 1]
    label    (n,) int16, index into `classes`
    part     (n,) int8: 0 and 1 are the official training and test set; of MALLORN the twenty splits by which it must be
             folded, since siblings of one real transient share a split; all 0 where there is no split
    period   (n,) float64, days: known for the RR Lyrae alone (else 0), and no input
    """

    time: np.ndarray
    value: np.ndarray
    error: np.ndarray
    band: np.ndarray
    start: np.ndarray
    label: np.ndarray
    part: np.ndarray
    period: np.ndarray
    bands: tuple[str, ...]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.label)

    def points(self, i: int) -> slice:
        """Of object i, its points."""
        return slice(self.start[i], self.start[i + 1])

    def rows(self, chosen: np.ndarray) -> "Curves":
        """Some of the objects, in that order."""
        index = np.concatenate([np.arange(*self.start[[i, i + 1]]) for i in chosen])
        flat = {name: getattr(self, name)[index] for name in ("time", "value", "error", "band")}
        count = np.diff(self.start)[chosen]
        each = {name: getattr(self, name)[chosen] for name in ("label", "part", "period")}
        start = np.concatenate(([0], np.cumsum(count)))
        return Curves(**flat, **each, start=start, bands=self.bands, classes=self.classes)

    def verify(self) -> None:
        """DataError where something does not hang together."""
        n, total = len(self.label), len(self.time)
        ends = self.start.shape == (n + 1,) and (self.start[0], self.start[-1]) == (0, total)
        if not ends or (np.diff(self.start) < 1).any():
            raise DataError(f"start does not lead from 0 to {total} in {n} parts")
        for name in ("time", "value", "error"):
            if not np.isfinite(getattr(self, name)).all():
                raise DataError(f"{name} holds values that are not finite")
        if (self.error <= 0).any():
            raise DataError("error holds values that are not above 0")
        for name, names in (("band", self.bands), ("label", self.classes)):
            if (found := getattr(self, name)).min() < 0 or found.max() >= len(names):
                raise DataError(f"{name} must hold indices below {len(names)}")
        if any((np.diff(self.time[self.points(i)]) < 0).any() for i in range(n)):
            raise DataError("the points of an object are not in order of time")

    def fingerprint(self) -> str:
        """SHA-256 of everything, first sixteen digits."""
        digest = hashlib.sha256(json.dumps([self.bands, self.classes]).encode())
        for field in fields(self):
            if field.name not in ("bands", "classes"):
                digest.update(np.ascontiguousarray(getattr(self, field.name)))
        return digest.hexdigest()[:16]

    def save(self, path: Path) -> None:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{field.name: getattr(self, field.name) for field in fields(self)})
        atomic_write(path, buffer.getvalue())


def gathered(objects: list[dict], bands: tuple[str, ...], classes: tuple[str, ...]) -> Curves:
    """`Curves` of objects, each a dictionary: time, value, error, band (M,); label; and, where known, part, period.

    Points without a finite value or a positive error are left out, and so are objects that have none left.
    """
    kept = []
    for one in objects:
        time, value, error = (np.asarray(one[name], float) for name in ("time", "value", "error"))
        good = np.isfinite(time) & np.isfinite(value) & np.isfinite(error) & (error > 0)
        order = np.argsort(time[good], kind="stable")
        if len(order):
            flat = {"time": time[good][order], "value": value[good][order], "error": error[good][order]}
            kept.append(one | flat | {"band": np.asarray(one["band"])[good][order]})
    if not kept:
        raise DataError("no object has a point with a value and an error")
    types = {"time": np.float64, "value": np.float32, "error": np.float32, "band": np.int8}
    return Curves(
        **{name: np.concatenate([one[name] for one in kept]).astype(kind) for name, kind in types.items()},
        start=np.cumsum([0, *(len(one["time"]) for one in kept)]).astype(np.int64),
        label=np.array([one["label"] for one in kept], np.int16),
        part=np.array([one.get("part", 0) for one in kept], np.int8),
        period=np.array([one.get("period", 0.0) for one in kept], np.float64),
        bands=tuple(bands), classes=tuple(classes),
    )


# Readers: each takes the folder of its source ----------------------------------------------------------------------

EROS_TYPES = {1: "binary", 2: "cepheid", 3: "RR Lyrae", 4: "Mira"}


def read_eros(folder: Path) -> Curves:
    """EROS-1 (RAMP challenge): train.csv and test.csv with train_varlength_features.csv.gz and test_…: magnitudes in
    two bands. Taken from the tables: the class alone; period, div_period, quality and the rest are derived, or people's
    marks."""
    objects = []
    for part, star, curve in eros_stars(folder):
        points = [
            [np.array(json.loads(curve[f"{what}_points_{band}"]), float) for what in ("time", "light", "error")]
            for band in "br"
        ]
        time, value, error = (np.concatenate(column) for column in zip(*points, strict=True))
        band = np.repeat([0, 1], [len(points[0][0]), len(points[1][0])])
        label = int(float(star["type"])) - 1
        objects.append(dict(time=time, value=value, error=error, band=band, label=label, part=part))
    return gathered(objects, ("b", "r"), tuple(EROS_TYPES.values()))


def eros_stars(folder: Path) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """Of every star, in the order of `Curves`: its part, its row of train.csv or test.csv, and that of its points."""
    for part, name in enumerate(("train", "test")):
        stars = {row["Unnamed: 0"]: row for row in table_rows(folder / f"{name}.csv")}
        for curve in table_rows(folder / f"{name}_varlength_features.csv.gz"):
            key = curve.get("") or curve.get("Unnamed: 0")
            if key not in stars:
                raise DataError(f"{folder / name}: the star {key} has a light curve and no class")
            yield part, stars[key], curve


SPCC_CLASSES = ("II", "Ia", "Ibc")


def read_spcc(folder: Path) -> Curves:
    """The Supernova Photometric Classification Challenge as released afterwards, with all types: spcc.npz, or
    SIMGEN_PUBLIC_DES.tar.gz, or the folder of text files in it. part: 0 the spectroscopic training set, 1 the rest.
    Redshifts, positions and what begins with sim_ are no inputs. The first and last look give the redshift away all the
    same: the simulation keeps 40 days before the peak and 70 after it, in the supernova's own time."""
    kind = lambda name: 1 if name == "Ia" else 0 if name.startswith("II") else 2  # noqa: E731
    archive = folder / "spcc.npz"
    if archive.exists():
        a = _archive(archive)
        at = a["offsets"]
        objects = [
            dict(time=a["mjd"][i:j], value=a["flux"][i:j], error=a["flux_err"][i:j], band=a["band"][i:j],
                 label=kind(str(name)), part=int(not spectro))
            for (i, j), name, spectro in zip(pairwise(at), a["sim_type"], a["is_spectro"], strict=True)
        ]
        return gathered(objects, tuple("griz"), SPCC_CLASSES)
    if (packed := folder / "SIMGEN_PUBLIC_DES.tar.gz").exists():
        texts = {name: b"".join(pieces) for name, pieces in members(packed) if name.endswith(".DAT")}
    else:
        texts = {str(path): path.read_bytes() for path in folder.rglob("DES_SN*.DAT")}
    if not texts:
        raise NotHere(f"{folder} holds neither spcc.npz, nor SIMGEN_PUBLIC_DES.tar.gz, nor DES_SN*.DAT")
    return gathered([_snana(name, texts[name], kind) for name in sorted(texts)], tuple("griz"), SPCC_CLASSES)


def _snana(path: str, content: bytes, kind: Callable[[str], int]) -> dict:
    """One file of SNANA's text format."""
    head, points = {}, []
    for line in content.decode("utf-8", errors="replace").splitlines():
        name, _, rest = line.partition(":")
        if name == "OBS":
            points.append(rest.split()[:5])  # MJD, FLT, FIELD, FLUXCAL, FLUXCALERR
        elif rest.strip():
            head.setdefault(name.strip(), rest.split("#")[0].split())
    try:
        comment = " ".join(head["SIM_COMMENT"]) if "SIM_COMMENT" in head else ""
        name = comment.split("Type =")[1].split(",")[0].strip() if "Type =" in comment else head["SIM_NON1a"][0]
        columns = list(zip(*points, strict=True))
        return dict(
            time=[float(t) for t in columns[0]], band=np.array(["griz".index(b) for b in columns[1]]),
            value=[float(v) for v in columns[3]], error=[float(e) for e in columns[4]],
            label=kind(name), part=int(head["SNTYPE"][0] == "-9"),
        )
    except (KeyError, IndexError, ValueError) as error:
        raise DataError(f"{path} is no light curve of the challenge ({error!r})") from error


MALLORN_CLASSES = ("AGN", "SN Ia", "SN II", "TDE", "other")


def read_mallorn(folder: Path) -> Curves:
    """MALLORN's labelled part: train.npz, or train_log.csv with a folder for each split. part: the split by which it is
    folded. Times are moved by up to a day at random (seed 0): in the files they lie on a grid whose step carries the
    redshift. Redshift and extinction are no inputs. Rows without a flux are left out."""
    a = _archive(folder / "train.npz") if (folder / "train.npz").exists() else _mallorn_tables(folder)
    at, rng = a["offsets"], np.random.default_rng(0)
    names = list(MALLORN_CLASSES[:-1])
    objects = []
    for (i, j), name, split in zip(pairwise(at), a["spec_type"], a["split"], strict=True):
        moved = a["mjd"][i:j] + rng.uniform(-1, 1, j - i)
        label = names.index(str(name)) if str(name) in names else len(names)
        objects.append(dict(time=moved, value=a["flux"][i:j], error=a["flux_err"][i:j], band=a["band"][i:j],
                            label=label, part=int(split)))
    return gathered(objects, tuple("ugrizy"), MALLORN_CLASSES)


def _mallorn_tables(folder: Path) -> dict[str, np.ndarray]:
    """The competition's tables in the form of train.npz."""
    log = {row["object_id"]: row for row in table_rows(folder / "train_log.csv")}
    points: dict[str, list] = {key: [] for key in log}
    for path in sorted(folder.glob("split_*/train_full_lightcurves.csv")):
        for row in table_rows(path):
            if row["object_id"] in points:
                flux = row["Flux"] or "nan"
                points[row["object_id"]].append((row["Time (MJD)"], flux, row["Flux_err"] or "nan", row["Filter"]))
    if not any(points.values()):
        raise NotHere(f"{folder} holds neither train.npz nor split_*/train_full_lightcurves.csv")
    found = [(key, rows) for key, rows in points.items() if rows]
    flat = [row for _, rows in found for row in rows]
    return {
        "mjd": np.array([float(r[0]) for r in flat]), "flux": np.array([float(r[1]) for r in flat]),
        "flux_err": np.array([float(r[2]) for r in flat]), "band": np.array(["ugrizy".index(r[3]) for r in flat]),
        "offsets": np.cumsum([0, *(len(rows) for _, rows in found)]),
        "spec_type": np.array([log[key]["SpecType"] for key, _ in found]),
        "split": np.array([int(log[key]["split"].rpartition("_")[2]) for key, _ in found]),
    }


def read_asas(folder: Path) -> Curves:
    """ASAS stars of Richards et al. (2012): asas_training_set.tar.gz with a text file a star (time, magnitude, error),
    and classes.csv, called asas_training_set_classes.dat at its home."""
    table = folder / "asas_training_set_classes.dat"
    label = {row["filename"]: row["class"] for row in table_rows(table if table.exists() else folder / "classes.csv")}
    classes, objects = tuple(sorted(set(label.values()))), []
    path = folder / "asas_training_set.tar.gz"
    if not path.exists():
        raise NotHere(f"{path} does not exist")
    texts = {name: b"".join(pieces) for name, pieces in members(path) if name.endswith(".dat")}
    for name in sorted(texts):
        star = Path(name).stem
        if star not in label:
            raise DataError(f"{path}: the star {star} has a light curve and no class")
        try:
            time, value, error = np.loadtxt(io.BytesIO(texts[name]), delimiter=",", ndmin=2)[:, :3].T
        except ValueError as reason:
            raise DataError(f"{path}: {name} is no light curve ({reason})") from reason
        objects.append(dict(time=time, value=value, error=error, band=np.zeros(len(time), int),
                            label=classes.index(label[star])))
    return gathered(objects, ("V",), classes)


def read_rr_lyrae(folder: Path) -> Curves:
    """Twenty RR Lyrae of SDSS Stripe 82 (Sesar et al. 2010), five bands: they come with the book."""
    rows = table_rows(folder / "rr_lyrae_points.csv.gz")
    objects = []
    for star in table_rows(folder / "rr_lyrae_stars.csv"):
        mine = [row for row in rows if row["star"] == star["star"]]
        objects.append(dict(
            time=[float(row["time"]) for row in mine], value=[float(row["mag"]) for row in mine],
            error=[float(row["magerr"]) for row in mine], band=np.array(["ugriz".index(row["band"]) for row in mine]),
            label=("ab", "c").index(star["type"]), period=float(star["period_days"]),
        ))
    return gathered(objects, tuple("ugriz"), ("ab", "c"))


class Survey(NamedTuple):
    title: str
    folder: str  # of the source, where several lie side by side
    read: Callable[[Path], Curves]
    home: str  # address of the folder that its files come from; "" where they are to be had with an account only
    files: tuple[str, ...]
    fingerprint: str  # of the copy that our records are made of
    classes: int
    bands: int


SURVEYS = {
    "eros1": Survey(
        "EROS-1 variable stars", "eros1_variable_stars", read_eros,
        "https://raw.githubusercontent.com/ramp-kits/variable_stars/3fbaa2d/data/",
        ("train.csv", "test.csv", "train_varlength_features.csv.gz", "test_varlength_features.csv.gz"),
        "4ffeb63443ade9d7", 4, 2,
    ),
    "mallorn": Survey("MALLORN, the labelled part", "mallorn", read_mallorn, "", (), "65287886801c3931", 5, 6),
    "spcc": Survey(
        "supernova challenge of 2010", "spcc", read_spcc, "https://zenodo.org/records/13883296/files/",
        ("SIMGEN_PUBLIC_DES.tar.gz",), "0c599b6aefd7c34a", 3, 4,
    ),
    "asas": Survey(
        "ASAS variable stars", "asas_variable_stars", read_asas,
        "https://raw.githubusercontent.com/cesium-ml/cesium-data/2ad85e77b6c1fea00124e055cedbc45181e9f6ba/asas_training/",
        ("asas_training_set.tar.gz", "asas_training_set_classes.dat"), "7cd4ee7b44880a2b", 28, 1,
    ),
    "rr_lyrae": Survey("RR Lyrae of SDSS Stripe 82", "", read_rr_lyrae, "", (), "276eca6e6f5f94ef", 2, 5),
}


def survey(name: str) -> Survey:
    """ValueError for a name that is none."""
    if name not in SURVEYS:
        raise ValueError(f"survey is {name!r}; choose one of {', '.join(SURVEYS)}")
    return SURVEYS[name]


def load(name: str, path: Path | None = None) -> Curves:
    """A survey: the prepared file, by default lightcurves/<name>.npz under $ROMAE_DATA or data/, or the folder of its
    source; failing both, a folder of the source under $ROMAE_DATA or data/. Read once, and again where it has changed.
    NotHere where there is nothing."""
    source = survey(name)
    places = [data_root() / "lightcurves" / f"{name}.npz", data_root() / source.folder]
    if path or name == "rr_lyrae":
        places = [Path(path) if path else SHIPPED]
    for place in places:
        if place.exists():
            return _once(name, place, changed(place))
    hint = f"`python data_scripts/lightcurves.py {name}` makes it, ROMAE_DATA says where"
    raise NotHere(f"{places[0]} does not exist; {hint}")


@lru_cache(maxsize=2)
def _once(name: str, path: Path, _written: int) -> Curves:
    if path.is_dir():
        return survey(name).read(path)
    a = _archive(path)
    try:
        found = Curves(**{field.name: a[field.name] for field in fields(Curves)} | {
            key: tuple(map(str, a[key])) for key in ("bands", "classes")})
        found.verify()
    except (KeyError, TypeError, DataError) as error:
        raise DataError(f"{path} is not a prepared file of light curves ({error})") from error
    return found


def table_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a heading, packed as .gz or not. DataError names a file that cannot be read."""
    if not path.exists():
        raise NotHere(f"{path} does not exist")
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is damaged ({error})") from error


def _archive(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz. DataError names a file that is none."""
    if not path.exists():
        raise NotHere(f"{path} does not exist")
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, BadZipFile, KeyError, EOFError) as error:
        raise DataError(f"{path} is no archive of arrays, or damaged ({error})") from error

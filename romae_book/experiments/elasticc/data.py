"""Light curves in six bands: ELAsTiCC, which simulates alerts of the Rubin Observatory (paper Sec. 5.4, D.6).

A light curve is a list of visits: a time (MJD, days), one of the bands ugrizY, the flux minus that of a reference image
(SNANA's FLUXCAL, zero point 27.5 mag) with its standard error, and flags. `load` reads the file that
`data_scripts/elasticc.py` prepares from the SNANA archive; `simulated` makes up some of the same structure, to run the
code without it; `tokens` turns either into the book's one shape.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from romae_lite.tokens import Tokens

from ..data import DataError, NotHere, data_root

BANDS = "ugrizY"  # their order is the first coordinate of a token's position
PREPARED = "elasticc.h5"
# PHOTFLAG, as ATAT's code reads it (src/data/get_lc_md.py)
SATURATED, TRIGGER, DETECTED = 1024, 2048, 4096
BEFORE = 30.0  # days before the first alert that come with it

# Model of the archive (its folder is <ELASTICC_TRAIN>_<model>) -> class: ATAT's taxonomy (src/data/get_partitions.py)
TAXONOMY = {
    "AGN": "AGN", "CART": "CART", "Cepheid": "Cepheid", "d-Sct": "Delta Scuti", "dwarf-nova": "Dwarf Novae",
    "EB": "EB", "ILOT": "ILOT", "KN_B19": "KN", "KN_K17": "KN", "Mdwarf-flare": "M-dwarf Flare", "PISN": "PISN",
    "RRL": "RR Lyrae", "SLSN-I+host": "SLSN", "SLSN-I_no_host": "SLSN", "SNIa-91bg": "91bg", "SNIa-SALT2": "Ia",
    "SNIax": "Iax", "SNIb+HostXT_V19": "Ib/c", "SNIb-Templates": "Ib/c", "SNIc+HostXT_V19": "Ib/c",
    "SNIc-Templates": "Ib/c", "SNIcBL+HostXT_V19": "Ib/c", "SNII+HostXT_V19": "II", "SNII-NMF": "II",
    "SNII-Templates": "II", "SNIIb+HostXT_V19": "SN-like/Other", "SNIIn+HostXT_V19": "II", "SNIIn-MOSFIT": "II",
    "TDE": "TDE", "uLens-Binary": "uLens", "uLens-Single-GenLens": "uLens", "uLens-Single_PyLIMA": "uLens",
}
CLASSES = tuple(dict.fromkeys(TAXONOMY.values()))  # 20


@dataclass(frozen=True, kw_only=True)
class LightCurves:
    """Light curves, one after the other; number i is the slice start[i] : start[i + 1] of the last five.

    ids (R,) int64, label (R,) index into `names`, start (R + 1,) int64; time (M,) float64, MJD, ascending within a
    light curve; band int8, index into BANDS; flux and error float32; flags int32, bits SATURATED, TRIGGER, DETECTED.
    """

    names: tuple[str, ...]
    ids: np.ndarray
    label: np.ndarray
    start: np.ndarray
    time: np.ndarray
    band: np.ndarray
    flux: np.ndarray
    error: np.ndarray
    flags: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def count(self) -> np.ndarray:
        """Visits of each light curve, (R,)."""
        return np.diff(self.start)

    @property
    def owner(self) -> np.ndarray:
        """The light curve that each visit belongs to, (M,)."""
        return np.repeat(np.arange(len(self)), self.count)

    def keep(self, visits: np.ndarray) -> "LightCurves":
        """The same light curves with some of their visits: (M,) bool."""
        count = np.bincount(self.owner[visits], minlength=len(self))
        flat = {name: getattr(self, name)[visits] for name in ("time", "band", "flux", "error", "flags")}
        return replace(self, start=np.cumsum([0, *count]), **flat)

    def take(self, chosen: np.ndarray) -> "LightCurves":
        """Some of the light curves, in this order."""
        count = self.count[chosen]
        visits = np.repeat(self.start[chosen] - (np.cumsum(count) - count), count) + np.arange(count.sum())
        flat = {name: getattr(self, name)[visits] for name in ("time", "band", "flux", "error", "flags")}
        return replace(self, ids=self.ids[chosen], label=self.label[chosen], start=np.cumsum([0, *count]), **flat)

    def first_detection(self) -> np.ndarray:
        """MJD of the visit that raised the first alert, (R,): the first with TRIGGER, else DETECTED, else of all."""
        found = self.time[np.minimum(self.start[:-1], len(self.time) - 1)].copy()
        for bit in (DETECTED, TRIGGER):
            hit = np.flatnonzero(self.flags & bit)
            owner, where = np.unique(self.owner[hit], return_index=True)
            found[owner] = self.time[hit[where]]
        return found


def alert_window(curves: LightCurves) -> LightCurves:
    """What a stream of alerts has shown by its last one: visits from 30 days before the first detection to the last
    one, but none that is saturated (ATAT's mask_alert; D34)."""
    owner = curves.owner
    first = curves.first_detection()
    last = first.copy()
    hit = np.flatnonzero(curves.flags & (DETECTED | TRIGGER))
    np.maximum.at(last, owner[hit], curves.time[hit])
    inside = (curves.time >= first[owner] - BEFORE) & (curves.time <= last[owner])
    return curves.keep(inside & ((curves.flags & SATURATED) == 0))


def thinned(curves: LightCurves, most: int) -> LightCurves:
    """At most so many visits in each band of a light curve, evenly chosen among those there are, as ATAT's code does
    with 65 (D32)."""
    if most < 1:
        raise ValueError(f"most is {most}; leave at least one visit in a band")
    series = curves.owner * len(BANDS) + curves.band
    order = np.argsort(series, kind="stable")  # in time within a series
    count = np.bincount(series, minlength=len(curves) * len(BANDS))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    count = np.repeat(count, count)
    # visit r of c is chosen where floor(k (c - 1) / (most - 1)) = r for a whole number k
    step = (count - 1) / max(1, most - 1)
    k = np.ceil(rank / np.maximum(step, 1e-12))
    chosen = (count <= most) | (np.floor(k * step + 1e-9) == rank) & (k < most)
    keep = np.zeros(len(order), bool)
    keep[order] = chosen
    return curves.keep(keep)


# The one shape --------------------------------------------------------------------------------------------------------


ORIGINS, SCALINGS, SPREADS = ("mjd", "first", "detection"), ("none", "asinh"), ("error", "variance")


def _known(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(choices)}")


def tokens(
    curves: LightCurves, *, whole: LightCurves | None = None, origin: str = "first", scale: float = 1.0,
    scaling: str = "none", spread: str = "error",
) -> Tokens:
    """One token for each visit.

    whole    the same light curves before visits were left out: time 0 and the first detection are theirs
    origin   time 0: "mjd" leaves the calendar, "first" is a light curve's first visit, "detection" its first alert
    scale    factor on the times: 1 counts days
    scaling  "none": flux and spread as they are; "asinh": asinh of flux over error, so that noise is alike everywhere
             and what is bright is compressed, and log10 of the spread
    spread   what comes with the flux: its standard "error", or the "variance" (D32)

    Tokens: values (R, N, 2) flux and spread; positions (R, N, 2) band index and time; aux label (R,), detection (R,)
    the time of the first alert and detected (R, N) bool.

    ValueError for a light curve without visits, naming the object, where there are no light curves, and for an origin,
    scaling or spread that is none of these.
    """
    _known("origin", origin, ORIGINS)
    _known("scaling", scaling, SCALINGS)
    _known("spread", spread, SPREADS)
    count = curves.count
    if not len(count):
        raise ValueError("there are no light curves; is the alert mask, or a split of few of them, to blame?")
    if (count == 0).any():
        raise ValueError(f"object {curves.ids[count == 0][0]} has no visits; leave it out")
    whole = curves if whole is None else whole
    owner, first = curves.owner, whole.first_detection()
    slot = np.arange(len(owner)) - curves.start[owner]
    zero = {"mjd": np.zeros(len(curves)), "first": whole.time[whole.start[:-1]], "detection": first}[origin]
    flux, extra = curves.flux.astype(np.float64), curves.error.astype(np.float64)
    extra = extra**2 if spread == "variance" else extra
    if scaling == "asinh":
        flux, extra = np.arcsinh(flux / curves.error), np.log10(extra)

    def padded(flat: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
        out = torch.zeros(len(curves), int(count.max()), dtype=dtype)
        out[torch.from_numpy(owner), torch.from_numpy(slot)] = torch.from_numpy(flat).to(dtype)
        return out

    time = (curves.time - zero[owner]) * scale
    return Tokens(
        values=torch.stack([padded(x, torch.float32) for x in (flux, extra)], -1),
        positions=torch.stack([padded(x, torch.float64) for x in (curves.band.astype(float), time)], -1),
        pad=torch.arange(int(count.max())) >= torch.from_numpy(count)[:, None],
        aux={
            "label": torch.from_numpy(curves.label.astype(np.int64)),
            "detection": torch.from_numpy((first - zero) * scale),
            "detected": padded((curves.flags & DETECTED) > 0, torch.bool),
        },
        per_token={"detected"},
    )


# Made-up light curves -------------------------------------------------------------------------------------------------

SIMULATED_CLASSES = ("flash", "wave", "walk")


def simulated(n: int, rng: np.random.Generator) -> LightCurves:
    """n made-up light curves of three kinds, by turns: what rises and falls once, what repeats, what walks at random.

    They let the code run where the archive is not at hand, and have no other use: no score on them is a result.
    """
    if n < 1:
        raise ValueError(f"n is {n}; make at least one light curve")
    rows, label = [], np.arange(n) % len(SIMULATED_CLASSES)
    for kind in label:
        m = int(rng.integers(40, 120))
        time = np.sort(rng.uniform(60_300, 61_300, m))
        error, height = rng.uniform(3, 8, m), 10 ** rng.uniform(2, 3)
        shape = (
            np.exp(-(((time - rng.uniform(60_500, 61_100)) / rng.uniform(20, 80)) ** 2)),
            np.sin(2 * np.pi * time / rng.uniform(0.5, 50)),
            np.cumsum(rng.normal(0, 1, m)) / m**0.5,
        )[kind]
        flux = height * shape + error * rng.standard_normal(m)
        flags = np.where(np.abs(flux) > 5 * error, DETECTED, 0)
        flags[np.argsort(-np.abs(flux))[:2]] = DETECTED  # nobody hears of an object that is seen once
        flags[np.flatnonzero(flags)[0]] |= TRIGGER
        rows.append((time, rng.integers(0, len(BANDS), m), flux, error, flags))
    kinds = (np.float64, np.int8, np.float32, np.float32, np.int32)
    flat = [np.concatenate(x).astype(kind) for x, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    return LightCurves(
        names=SIMULATED_CLASSES, ids=np.arange(n), label=label, start=np.cumsum([0, *(len(row[0]) for row in rows)]),
        **dict(zip(("time", "band", "flux", "error", "flags"), flat, strict=True)),
    )


# The prepared archive -------------------------------------------------------------------------------------------------


def find() -> Path | None:
    """Where the prepared file is: elasticc.h5 or elasticc/elasticc.h5, under $ROMAE_DATA or else data/ beside the
    package. None where it is not."""
    root = data_root()
    return next((place for place in (root / PREPARED, root / "elasticc" / PREPARED) if place.exists()), None)


def load(
    path: Path | str | None = None, partition: str | None = None
) -> tuple[LightCurves, dict[str, np.ndarray]]:
    """The light curves that `data_scripts/elasticc.py` prepared, and the rows of each split: "test", and "training_0"
    to "validation_4". Without a path, from where `find` finds them. partition: only a file with ATAT's split
    ("given"), or one that the script has "drawn", will do.

    NotHere, a FileNotFoundError, where they are not; DataError where the file is not what the script writes, or splits
    otherwise; ImportError without h5py. All of it is read into memory: 21 bytes for each visit.
    """
    path = Path(path) if path else find()
    if path is None or not path.exists():
        place = f"{path} does not exist" if path else "ELAsTiCC is not here"
        raise NotHere(f"{place}; `python data_scripts/elasticc.py` prepares it, ROMAE_DATA says where it is")
    import h5py

    try:
        with h5py.File(path) as file:
            arrays = {
                name: file[name][:] for name in ("ids", "label", "start", "time", "band", "flux", "error", "flags")
            }
            splits = {name: rows[:] for name, rows in file["splits"].items()}
            names, found = tuple(file.attrs["names"]), file.attrs["partition"]
    except (OSError, KeyError) as error:
        raise DataError(f"{path} is not a prepared file ({error}); delete it and prepare it again") from error
    if partition not in (None, found):
        raise DataError(f"{path} holds a split that was {found}, not {partition}; set partition={found} to use it")
    return LightCurves(names=names, **arrays), splits

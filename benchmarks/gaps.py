"""python -m benchmarks.gaps FOLDER: who fills gaps best? Hides values of real tables, and asks each method for them.

FOLDER holds CSV files with the columns id, time, channel, value: book/data.md says where ours come from. Of every
series, one channel of one id, a fifth of the times is hidden, never the first or the last: singly ("scattered"), or in
runs of up to twelve ("stretches"); three draws of each. Other channels stay, errors of measurement are given to nobody.
The record is results/who_wins.json, which the book's page is made of; what it has of this commit and these data is not
run again. SAITS runs by `--method SAITS` alone, where PyPOTS is installed.
"""

import argparse
import hashlib
import json
import time
import warnings
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

import romae_lite as romae
from romae_book.lab import provenance
from romae_lite.io import atomic_write
from romae_lite.series import candidates

from . import opponents

RECORD = Path(__file__).resolve().parents[1] / "results" / "who_wins.json"
KEY = ["id", "channel"]
PACKAGES = ("pandas", "statsmodels", "pypots")  # beside those that every record names
KINDS, SEEDS, SHARE, LONGEST = ("scattered", "stretches"), (0, 1, 2), 0.2, 12


def read(path: Path) -> pd.DataFrame:
    """A table; dates become days, so that all methods have the same numbers."""
    table = pd.read_csv(path, dtype={"id": str, "channel": str})[["id", "time", "channel", "value"]]
    if not pd.api.types.is_numeric_dtype(table.time):
        dates = pd.to_datetime(table.time, format="ISO8601")
        table["time"] = (dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return table.astype({"time": float})


def hide(table: pd.DataFrame, kind: str, seed: int) -> np.ndarray:
    """(n,) bool: rows that are held out; what was measured twice at one time goes together."""
    hidden = np.zeros(len(table), bool)
    for key, rows in table.groupby(KEY).indices.items():
        times, place = np.unique(table.time.to_numpy()[rows], return_inverse=True)
        n = len(times)
        wanted = min(round(SHARE * n), n - 2)
        rng = np.random.default_rng([seed, zlib.crc32("|".join(key).encode()), kind == "stretches"])
        out = np.zeros(n, bool)
        if wanted > 0 and kind == "scattered":
            out[1 + rng.choice(n - 2, wanted, replace=False)] = True
        for _ in range(100 * wanted if kind == "stretches" else 0):
            length = rng.integers(1, min(LONGEST, wanted - out.sum()) + 1)
            start = rng.integers(1, n - length)
            if not out[start - 1 : start + length + 1].any():  # two runs never touch
                out[start : start + length] = True
            if out.sum() == wanted:
                break
        hidden[rows] = out[place]
    return hidden


# Methods: (table with NaN where a value is hidden, seed) -> mean and deviation of these rows, (2, M) ----------------


def curve_by_curve(answer: Callable) -> Callable:
    """A method that fills one series after the other; values at one time are averaged."""

    def method(table: pd.DataFrame, seed: int) -> np.ndarray:
        hidden, found = table.value.isna().to_numpy(), np.full((2, len(table)), np.nan)
        curves, asked, places = [], [], []
        channels = {name: c for c, name in enumerate(table.channel.unique())}
        for i, (key, rows) in enumerate(table.groupby(KEY).indices.items()):
            seen, out = table.iloc[rows[~hidden[rows]]], rows[hidden[rows]]
            mean = seen.groupby("time").value.mean()
            t, y = mean.index.to_numpy(), mean.to_numpy()
            curves.append(candidates.Curve(i, channels[key[1]], t, y, np.zeros(len(t))))
            asked.append(table.time.to_numpy()[out])
            places.append(out)
        for out, its in zip(places, answer(candidates.scale_curves(curves), asked), strict=True):
            found[:, out] = its
        return found[:, hidden]

    return method


def through_the_door(build: Callable) -> Callable:
    """A method of `romae.fill`, given the whole table."""

    def method(table: pd.DataFrame, seed: int) -> np.ndarray:
        names = {"time": "time", "value": "value", "id": "id", "channel": "channel"}
        filled = romae.fill(table, **names, model=build(seed), verbose=False)
        return filled.loc[table.value.isna(), ["mean", "deviation"]].to_numpy().T

    return method


def kalman(curves: list[candidates.Curve], asked: list[np.ndarray]) -> list[np.ndarray]:
    return [
        opponents.smooth(c.times, c.values, at, c.level, c.spread) if len(at) else np.empty((2, 0))
        for c, at in zip(curves, asked, strict=True)
    ]


METHODS = {
    "straight lines": curve_by_curve(candidates.lines),
    "monotone cubics": curve_by_curve(candidates.pchip),
    "Kalman smoother": curve_by_curve(kalman),
    "Gaussian processes": curve_by_curve(candidates.process),
    "fill": through_the_door(lambda seed: None),
    "Interpolator": through_the_door(lambda seed: romae.Interpolator(seed=seed, verbose=False)),
}
ALONE = {"SAITS": opponents.saits}  # asked for by name


# Scores -------------------------------------------------------------------------------------------------------------


def score(table: pd.DataFrame, hidden: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> dict:
    """Errors in deviations of a series' visible values (with fewer than twenty of them at least half of what is typical
    for the channel); what is not answered counts as its mean and deviation."""
    series = table[~hidden].groupby(KEY).value.agg(["mean", "std", "size"])
    typical = series["std"].groupby("channel").transform("median")
    series["std"] = series["std"].where(series["size"] >= 20, np.fmax(series["std"], typical / 2))
    its = series.reindex(pd.MultiIndex.from_frame(table.loc[hidden, KEY]))
    centre, scale = its["mean"].to_numpy(), its["std"].to_numpy()
    known, fair = np.isfinite(mean), scale > 0  # a series that never changes has no scale
    z = ((table.value.to_numpy()[hidden] - np.where(known, mean, centre)) / scale)[fair]
    s = np.maximum(np.where(known, deviation / scale, 1.0), 1e-4)[fair]
    r = z / s
    crps = s * (r * (2 * norm.cdf(r) - 1) + 2 * norm.pdf(r) - 1 / np.sqrt(np.pi))
    found = {
        "error": np.sqrt(np.mean(z**2)), "likelihood": np.mean(norm.logpdf(r) - np.log(s)), "crps": np.mean(crps),
        "within1": np.mean(abs(r) <= 1), "within2": np.mean(abs(r) <= 2),
    }
    return {name: float(f"{value:.5g}") for name, value in found.items()}


def run(path: Path, kind: str, seed: int, names: list[str]):
    """A row of the record for each method: one table, one draw."""
    table = read(path)
    hidden = hide(table, kind, seed)
    cut = table.assign(value=table.value.where(~hidden))
    for name in names:
        began = time.process_time()
        mean, deviation = (METHODS | ALONE)[name](cut.copy(), seed)
        seconds = round(time.process_time() - began, 2)
        yield {
            "table": path.stem, "holdout": kind, "seed": seed, "method": name, "values": int(hidden.sum()),
            **score(table, hidden, mean, deviation), "seconds": seconds,
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gaps", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", action="append", help="only these")
    parser.add_argument("--method", action="append", choices=[*METHODS, *ALONE], help="only these")
    parser.add_argument("--record", type=Path, default=RECORD, help="where the record lies")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = [p for p in sorted(chosen.folder.glob("*.csv")) if not chosen.table or p.stem in chosen.table]
    if not paths:
        parser.error(f"{chosen.folder} has no such CSV files")
    names = chosen.method or list(METHODS)
    about = {
        "command": "python -m benchmarks.gaps FOLDER",
        "data": {p.stem: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths},
        "tables": {p.stem: {"values": len(t := read(p)), "series": t.groupby(KEY).ngroups} for p in paths},
    }
    made = {
        "commit": provenance.loaded_commit(),
        "versions": provenance.versions() | {"romae_lite": romae.__version__}
        | {name: version(name) for name in PACKAGES if find_spec(name)},
    }
    rows, makers = [], {}
    if chosen.record.exists():
        old = json.loads(chosen.record.read_text())
        if old["data"] == about["data"]:
            keep = {name for name, by in old["made"].items() if name not in names or by["commit"] == made["commit"]}
            rows, makers = [r for r in old["rows"] if r["method"] in keep], {name: old["made"][name] for name in keep}
    makers |= {name: made | {"created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"} for name in names}
    done = {(r["table"], r["holdout"], r["seed"], r["method"]) for r in rows}
    for seed in SEEDS:
        for path in sorted(paths, key=lambda p: p.stat().st_size):
            for kind in KINDS:
                left = [name for name in names if (path.stem, kind, seed, name) not in done]
                for row in run(path, kind, seed, left):
                    rows.append(row)
                    print(*row.values(), flush=True)
                    record = about | {"made": makers, "rows": rows}
                    atomic_write(chosen.record, (json.dumps(record, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()

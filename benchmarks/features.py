"""python -m benchmarks.features [SURVEY ...] [--source FOLDER]: what the features of chapter 10 cost.

results/features.json keeps, by survey, the seconds that one thread computes. With --source, the folder of EROS-1's
tables, also how many of the periods among them are right: less than a fifth of a turn from the catalogue's over all
that was seen. The catalogue's is `period` over `div_period`, and no input of any method.
"""

import argparse
import json
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from romae_book.experiments.lightcurves.data import Curves, eros_stars, load
from romae_book.experiments.lightcurves.experiment import PERIODIC, log_periods
from romae_book.experiments.lightcurves.features import features
from romae_book.experiments.lightcurves.folding import RIGHT
from romae_book.lab import provenance
from romae_lite.io import atomic_write

RECORD = Path(__file__).resolve().parents[1] / "results" / "features.json"


def measure(name: str, source: Path | None) -> dict:
    curves = load(name)
    began = time.process_time()
    table = features(curves, name in PERIODIC)
    found = {"objects": len(curves), "seconds": round(time.process_time() - began, 1)}
    if source and name == "eros1":
        rows = [star for _, star, _ in eros_stars(source)]
        found["periods"] = agreement(curves, np.exp(log_periods(table, curves)), rows)
    return found | {
        "data": curves.fingerprint(), "commit": provenance.loaded_commit(), "versions": provenance.versions(),
        "command": f"python -m benchmarks.features {name}{' --source FOLDER' * bool(source)}",
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def agreement(curves: Curves, period: np.ndarray, rows: list[dict[str, str]]) -> dict[str, float]:
    """Shares of the stars whose period (n,), in days, is the catalogue's: of all, of every class, and of those that
    people marked 2 or 3."""
    if [int(float(row["type"])) - 1 for row in rows] != curves.label.tolist():
        raise SystemExit("the tables hold other stars, or in another order, than the prepared EROS-1")
    known, divisor, quality = (
        np.array([float(row[name]) for row in rows]) for name in ("period", "div_period", "quality")
    )
    span = np.array([np.ptp(curves.time[curves.points(i)]) for i in range(len(curves))])
    right = np.abs(span * (1 / period - divisor / known)) < RIGHT
    each = {name: right[curves.label == k] for k, name in enumerate(curves.classes)}
    parts = {"all": right, "well seen": right[quality >= 2], **each}
    return {name: round(float(part.mean()), 4) for name, part in parts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.features", description=__doc__.splitlines()[0])
    parser.add_argument("surveys", nargs="*", metavar="SURVEY", default=("eros1", "asas", "mallorn", "spcc"))
    parser.add_argument("--source", type=Path, help="the folder of EROS-1's tables")
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args()
    for name in chosen.surveys:
        found = measure(name, chosen.source)
        kept = json.loads(chosen.record.read_text()) if chosen.record.exists() else {}
        atomic_write(chosen.record, (json.dumps(kept | {name: found}, indent=1) + "\n").encode())
        print(name, found, flush=True)


if __name__ == "__main__":
    main()

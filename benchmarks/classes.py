"""python -m benchmarks.classes [SURVEY ...]: `Classifier`, all defaults, on real light curves.

EROS-1 is learnt from its official training part and tested once on the official test part. Of the other surveys all
objects are learnt from, and what is kept is the fit's own cross-validation; MALLORN's whole splits stay together, since
siblings of an object lie in its split. Inputs are times, values and bands. results/classes.json keeps scores, CPU
seconds (one thread, if OMP_NUM_THREADS says so), commit, versions and fingerprint of the data.
"""

import argparse
import json
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.metrics import f1_score

import romae_lite as romae
from romae_book.experiments.lightcurves.data import SURVEYS, Curves, load
from romae_book.lab import provenance
from romae_lite.io import atomic_write

RECORD = Path(__file__).resolve().parents[1] / "results" / "classes.json"


def table(name: str, curves: Curves) -> romae.Tokens:
    """Fluxes of MALLORN as arcsinh: they lie on both sides of zero, over decades."""
    value = curves.value.astype(float)
    if name == "mallorn":
        value = np.arcsinh(value / np.median(np.abs(value)))
    owner = np.repeat(np.arange(len(curves)), np.diff(curves.start))
    columns = {"id": owner, "time": curves.time.astype(float), "channel": curves.band.astype(int), "value": value}
    return romae.from_table(columns, id="id", time="time", channel="channel", value="value")[0]


def measure(name: str) -> dict:
    curves = load(name)
    tokens, label = table(name, curves), np.array(curves.classes)[curves.label]
    learn = np.flatnonzero(curves.part == 0) if name == "eros1" else np.arange(len(curves))
    model, began = romae.Classifier(device="cpu"), time.process_time()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(tokens[learn], label[learn], groups=curves.part if name == "mallorn" else None)
    found = {
        "objects": len(learn), "seconds": round(time.process_time() - began, 1),
        "warnings": [str(w.message) for w in said],
        "weight": model.weight_, "summary": model.summary(),
        **{key: model.report_[key] for key in ("ways", "each", "power", "leak")},
    }
    if name == "eros1":
        test = np.flatnonzero(curves.part == 1)
        guess, truth = model.predict(tokens[test]), label[test]
        found["test"] = {
            "objects": len(test), "accuracy": float((guess == truth).mean()),
            "f1_macro": float(f1_score(truth, guess, average="macro")),
            "f1": {k: float(f1_score(truth == k, guess == k)) for k in curves.classes},
        }
    return found | {
        "data": curves.fingerprint(), "commit": provenance.loaded_commit(),
        "versions": provenance.versions() | {"romae_lite": romae.__version__},
        "command": f"python -m benchmarks.classes {name}", "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classes", description=__doc__.splitlines()[0])
    parser.add_argument("surveys", nargs="*", metavar="SURVEY", help="of eros1, mallorn, asas, spcc; all that are here")
    parser.add_argument("--record", type=Path, default=RECORD)
    chosen = parser.parse_args()
    if unknown := set(chosen.surveys) - set(SURVEYS):
        parser.error(f"{', '.join(sorted(unknown))}: no such survey")
    for name in chosen.surveys or ("eros1", "mallorn", "asas"):
        found = measure(name)
        kept = json.loads(chosen.record.read_text()) if chosen.record.exists() else {}
        atomic_write(chosen.record, (json.dumps(kept | {name: found}, indent=1) + "\n").encode())
        print(name, json.dumps(found.get("test")), found["summary"], sep="\n", flush=True)


if __name__ == "__main__":
    main()

"""python -m benchmarks [--record]: every measurement of chapter 13 on this machine, as one table.

The records go to _build/bench, or with --record to results/, where a measurement that is recorded already is not
repeated. On a machine with an Nvidia GPU that is what is measured.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

import torch


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="into results/, where a record is missing")
    parser.add_argument("--only", metavar="MEASURE", help="one of those that `python -m romae_lite list speed` names")
    options = parser.parse_args()
    if not options.record:
        os.environ["ROMAE_RESULTS"] = str(Path(__file__).resolve().parents[1] / "_build" / "bench")
    from benchmarks.table import lines
    from romae_book.lab.campaign import wishes
    from romae_book.lab.run import run

    gpu = torch.cuda.is_available()
    for wish in wishes("speed"):
        planned = wish[0]
        if planned.preset != "cpu":
            continue
        if gpu:
            planned = replace(planned, preset="paper")
        if options.only in (None, planned.build().measure):
            record = run(planned, force=not options.record)
            print(*lines(record), sep="\n", flush=True)


if __name__ == "__main__":
    main()

"""Command line: python -m romae_lite list | run | campaign | report | verify | export."""

import argparse
import dataclasses
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import TypeVar

from ..training import CheckpointError, Interrupted, printer
from . import runs
from .planned import Planned, assignment, seeds
from .records import CorruptRecord
from .subjects import EXPERIMENTS, experiment

T = TypeVar("T")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m romae_lite", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    add = commands.add_parser("list", help="experiments, their presets and settings")
    add.add_argument("experiment", nargs="?", help="show the settings of this one")

    add = commands.add_parser("run", help="train, evaluate and record")
    add.add_argument("experiment")
    add.add_argument("--preset", default="paper")
    add.add_argument("--seeds", type=argument(seeds), default=[0], help="for example 0 or 0-4 or 0,2,5")
    add.add_argument(
        "--set", dest="overrides", action="append", type=argument(assignment), default=[], metavar="NAME=VALUE"
    )
    add.add_argument("--device", choices=("cpu",), help="default: the best there is")
    add.add_argument("--force", action="store_true", help="run again where a record exists")
    add.add_argument("--baselines", action="store_true", help="train nothing; renew the record's baselines")

    add = commands.add_parser("campaign", help="do whatever records are missing, most valuable first")
    add.add_argument("experiments", nargs="*", help="only these")
    add.add_argument("--budget", type=seconds, default=float("inf"), help="for example 90s, 60m or 2h")
    add.add_argument("--device", choices=("cpu",))
    for add in (commands.choices["run"], commands.choices["campaign"]):
        add.add_argument(
            "--uncommitted", action="store_true", default=bool(os.environ.get("ROMAE_UNCOMMITTED")),
            help="record although romae_lite/ differs from its commit; such a record counts for no outcome",
        )  # fmt: skip

    add = commands.add_parser("verify", help="run recorded runs again and compare")
    add.add_argument("--sample", type=int, default=5, metavar="N", help="how many, those verified longest ago first")
    add.add_argument("--experiment", help="only this one's")
    add.add_argument("--budget", type=argument(seconds), default=float("inf"), help="for example 90s, 60m or 2h")
    add.add_argument("--seed", type=int, default=0, help="of the draw among records never verified")
    add.add_argument("--write", action="store_true", help="note in results/verified.json what was verified when")
    add.add_argument("--records", action="store_true", help="run nothing; look whether the records are whole")

    add = commands.add_parser("export", help="all records as one CSV, and its schema beside it")
    add.add_argument("path", metavar="results.csv")

    add = commands.add_parser("report", help="every claim of the paper, and ours beside it")
    add.add_argument("experiments", nargs="*", help="only these")

    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return globals()[f"do_{options.command}"](options)
    except (
        ValueError,
        TypeError,
        OSError,
        ImportError,
        CheckpointError,
        CorruptRecord,
        Interrupted,
        runs.Busy,
        runs.Stale,
    ) as error:
        print(f"romae_lite: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("romae_lite: stopped; call again to go on from the last checkpoint", file=sys.stderr)
        return 130


def do_list(options) -> int:
    if options.experiment is None:
        for name, cls in EXPERIMENTS.items():
            presets = ", ".join(preset for preset in cls.tiers if hasattr(cls, preset))
            print(f"{name:<16} {cls.__doc__.splitlines()[0]}\n{'':<16} presets: {presets}")
        return 0
    cls = experiment(options.experiment)
    for field in dataclasses.fields(cls):
        print(f"{field.name:<16} {field.default!r:<16} {field.metadata['doc']}")
    return 0


def do_run(options) -> int:
    for seed in options.seeds:
        planned = Planned(
            experiment=options.experiment, preset=options.preset, seed=seed, overrides=tuple(options.overrides)
        )
        if options.baselines:
            refuse_uncommitted(options)
            runs.rescore(planned)
            print(f"{planned.path}: baselines renewed")
            continue
        had = planned.path.exists() and not options.force
        if not had:
            refuse_uncommitted(options)
        record = runs.run(planned, log=printer(), device=options.device, force=options.force)
        print(f"{planned.path}{' (already recorded)' if had else ''}")
        for name, value in record.metrics.items():
            print(f"  {name:<24} {value:.4f}")
    return 0


def refuse_uncommitted(options) -> None:
    if not options.uncommitted and runs.commit().endswith("+"):
        raise ValueError(
            "the files of romae_lite/ differ from their commit, so nobody could repeat what is recorded now; commit "
            "first, or say --uncommitted: the commit in the record then ends in +, and it counts for no outcome"
        )


def do_campaign(options) -> int:
    refuse_uncommitted(options)
    done = runs.campaign(
        options.experiments or None, budget=options.budget, report=print, log=printer, device=options.device
    )
    left = runs.missing(options.experiments or None)
    print(f"{len(done)} recorded, {len(left)} still missing")
    return 0


def do_verify(options) -> int:
    if options.records:
        from .audit import audit

        found = audit()
        print(*found.notes, *found.problems, f"{len(found.problems)} problems", sep="\n")
        return int(bool(found.problems))
    from .verify import verify

    outcomes = verify(
        options.experiment, sample=options.sample, seed=options.seed, budget=options.budget, write=options.write,
        report=lambda line: print(line, flush=True),
    )  # fmt: skip
    return int(not all(outcome.ok for outcome in outcomes))


def do_export(options) -> int:
    from .export import export

    print(*export(options.path), sep="\n")
    return 0


def do_report(options) -> int:
    from ..page.scoreboard import scoreboard_text

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a pipe on Windows may have no ✓
    print(scoreboard_text(options.experiments or None))
    return 0


def argument(read: Callable[[str], T]) -> Callable[[str], T]:
    """For argparse, which shows the message of its own error only."""

    def checked(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return checked


def seconds(text: str) -> float:
    """ "90s", "60m" or "2h" -> seconds."""
    if not (match := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)):
        raise argparse.ArgumentTypeError(f"{text!r}; write a budget as 90s, 60m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]

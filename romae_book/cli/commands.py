"""Command line: python -m romae_lite list | run | campaign | report | verify | export."""

import argparse
import dataclasses
import functools
import io
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from typing import TypeVar

import torch

from romae_lite.training import printer

from ..experiments import experiment, experiments
from ..lab import campaign, provenance, run
from ..lab.planned import Planned, assignment, results_dir, seeds
from ..lab.records import load_all
from ..paper import queue
from ..paper.report import report_text

T = TypeVar("T")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m romae_lite", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="where something fails, show where")
    training = argparse.ArgumentParser(add_help=False)
    training.add_argument("--device", choices=("cpu", "cuda"), help="default: the best there is")
    training.add_argument("--keep-weights", action="store_true", help="beside the record, in half precision")
    training.add_argument("--quiet", action="store_true", help="show no progress of the training")
    training.add_argument(
        "--uncommitted", action="store_true", default=bool(os.environ.get("ROMAE_UNCOMMITTED")),
        help="record although the code differs from its commit; such a record counts for no verdict",
    )

    add = commands.add_parser("list", help="experiments, their presets and settings", parents=[common])
    add.add_argument("experiment", nargs="?", help="show the settings of this one")

    add = commands.add_parser("run", help="train, evaluate and record", parents=[common, training])
    add.add_argument("experiment")
    add.add_argument("--preset", default="paper")
    add.add_argument("--seeds", type=argument(seeds), default=[0], help="for example 0 or 0-4 or 0,2,5")
    add.add_argument(
        "--set", dest="overrides", action="append", type=argument(assignment), default=[], metavar="NAME=VALUE"
    )
    add.add_argument("--force", action="store_true", help="run again where a record exists")
    add.add_argument("--baselines", action="store_true", help="train nothing; renew the record's baselines")

    add = commands.add_parser(
        "campaign", help="do whatever records are missing, most valuable first", parents=[common, training]
    )
    add.add_argument("experiments", nargs="*", help="only these")
    add.add_argument("--budget", type=argument(seconds), default=float("inf"), help="for example 90s, 60m or 2h")
    add.add_argument("--jobs", type=argument(several), default=1, help="so many runs at once")

    add = commands.add_parser("verify", help="run recorded runs again and compare", parents=[common])
    add.add_argument("--sample", type=int, default=5, metavar="N", help="how many, of the paper's protocol first")
    add.add_argument("--experiment", help="only this one's")
    add.add_argument("--budget", type=argument(seconds), default=float("inf"), help="for example 90s, 60m or 2h")
    add.add_argument("--seed", type=int, default=0, help="of the draw among records")
    add.add_argument("--whole", action="store_true", help="repeat long runs to the end as well")
    add.add_argument("--records", action="store_true", help="run nothing; look whether the records are whole")

    add = commands.add_parser("export", help="all records as one CSV, and its schema beside it", parents=[common])
    add.add_argument("path", metavar="results.csv")

    add = commands.add_parser("report", help="every claim of the paper, and ours beside it", parents=[common])
    add.add_argument("experiments", nargs="*", help="only these")

    options = parser.parse_args(arguments)
    for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):  # Windows has one of them
        if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN:  # as nohup has it
            signal.signal(getattr(signal, name), stopped)
    # of several processes that share a run, one speaks; without LOCAL_RANK no launcher has started any
    alone = os.environ.get("RANK", "0") == "0" or "LOCAL_RANK" not in os.environ
    try:
        with nullcontext() if alone else redirect_stdout(io.StringIO()):
            return globals()[f"do_{options.command}"](options)
    except KeyboardInterrupt as stop:
        print("romae_lite: stopped; call again to go on from the last checkpoint", file=sys.stderr)
        return 128 + (stop.args[0] if stop.args else signal.SIGINT)
    except Exception as error:
        if options.debug:
            raise
        print(f"romae_lite: {run.explain(error)}", file=sys.stderr)
        return 2


def stopped(number: int, frame) -> None:
    """SIGTERM and SIGHUP are taken like Ctrl-C."""
    raise KeyboardInterrupt(number)


def do_list(options) -> int:
    if options.experiment is None:
        for name, cls in experiments().items():
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
            run.rescore(planned)
            print(f"{planned.path}: baselines renewed")
            continue
        had = planned.path.exists() and not options.force
        if not had:
            refuse_uncommitted(options)
        record = run.run(
            planned, log=None if options.quiet else printer(), device=options.device, force=options.force,
            keep_weights=options.keep_weights,
        )
        print(f"{planned.path}{' (already recorded)' if had else ''}")
        for name, value in record.metrics.items():
            print(f"  {name:<24} {value:.4f}")
    return 0


def refuse_uncommitted(options) -> None:
    if not options.uncommitted and provenance.loaded_commit().endswith("+"):
        raise ValueError(
            f"files of {', '.join(provenance.CODE)} differ from their commit, so nobody could repeat what is recorded "
            "now; commit first, or say --uncommitted: the commit in the record then ends in +, and it counts for no "
            "verdict"
        )


def name_damaged(experiments: Sequence[str] | None = None) -> bool:
    """Name the files that are no sound records on stderr. True if there are any: what lacks them is incomplete."""
    problems = [p for p in load_all().problems if not experiments or p.path.parent.name in experiments]
    for path, reason in problems:
        print(f"romae_lite: {path.parent.name}/{path.name}: {reason}", file=sys.stderr)
    return bool(problems)


def do_campaign(options) -> int:
    names = options.experiments or None
    gpu = options.device == "cuda" or (options.device is None and torch.cuda.is_available())
    todo = functools.partial(queue.missing, names, gpu)
    plans = todo()  # refuses names that are none
    if options.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device is 'cuda', and there is no Nvidia GPU here; leave --device out, or say --device cpu")
    refuse_uncommitted(options)
    damaged = name_damaged(names)
    if plans and not options.quiet:
        print(*campaign.announce(plans), *queue.announce_rows(names, options.budget, gpu), sep="\n", flush=True)
    failed = []
    if options.jobs > 1:
        words = [*options.experiments, "--quiet"]
        words += [] if math.isinf(options.budget) else ["--budget", f"{options.budget:f}s"]
        words += ["--device", options.device] if options.device else []
        words += ["--keep-weights"] * options.keep_weights + ["--debug"] * options.debug
        words += ["--uncommitted"] * options.uncommitted
        code = campaign.jobs(options.jobs, words)
        print(f"{len(todo())} still missing")
        return code
    done = campaign.campaign(
        todo, failed=failed,
        budget=options.budget, report=functools.partial(print, flush=True), device=options.device,
        log=(lambda: None) if options.quiet else printer, keep_weights=options.keep_weights, debug=options.debug,
    )
    print(f"{len(done)} recorded, {len(todo())} still missing", flush=True)
    return int(bool(failed) or damaged)


def do_verify(options) -> int:
    if options.records:
        from .audit import audit

        found = audit(experiment=options.experiment)
        print(*found.notes, *found.problems, f"{len(found.problems)} problems", sep="\n")
        return int(bool(found.problems))
    from .verify import verify

    damaged = name_damaged([options.experiment] if options.experiment else None)
    outcomes = verify(
        options.experiment, sample=options.sample, seed=options.seed, budget=options.budget, whole=options.whole,
        report=lambda line: print(line, flush=True),
    )
    return int(damaged or not all(outcome.ok for outcome in outcomes)) if outcomes else 2


def do_export(options) -> int:
    from .export import export

    damaged = name_damaged()
    print(*export(options.path), sep="\n")
    return int(damaged)


def do_report(options) -> int:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a pipe on Windows may have no ✓
    text = report_text(options.experiments or None)
    if not results_dir().exists():
        print(f"romae_lite: there is no folder {results_dir()}, so there are no records", file=sys.stderr)
    print(text)
    name_damaged(options.experiments)  # named, and counted nowhere: what is printed is of the others
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
    if not (match := re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh])", text)):
        raise ValueError(f"{text!r}; write a budget as 90s, 60m or 2h")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def several(text: str) -> int:
    """ "2" -> 2 jobs."""
    if not re.fullmatch(r"[1-9][0-9]?", text):
        raise ValueError(f"{text!r}; write a number of jobs from 1 to 99")
    return int(text)

"""Campaigns: whatever records are missing, most valuable first, until the time is used up."""

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from statistics import mean

from romae_lite.training import NUMERICS, Interrupted

from ..experiments import experiment, experiments
from ..experiments.data import NotHere
from . import run
from .planned import Planned, ranges
from .provenance import ROOT
from .records import CorruptRecord, Record, load_sound
from .runs import Runs


def wishes(name: str) -> list[list[Planned]]:
    """List what an experiment asks for, most valuable first; the runs of a wish differ in nothing but the seed."""
    return [
        [
            Planned(experiment=name, preset=preset, seed=seed, overrides=tuple(changes[0].items()) if changes else ())
            for seed in range(seeds)
        ]
        for preset, seeds, *changes in experiment(name).campaign
    ]


def missing(names: Iterable[str] | None = None) -> list[Planned]:
    """List the runs that experiments ask for and that have no record yet, most valuable first: every experiment's first
    wish before anybody's second, and in each rank all first seeds before any second one."""
    asked = [
        (rank, planned)
        for name in (experiments() if names is None else names)
        for rank, wish in enumerate(wishes(name))
        for planned in wish
    ]
    asked.sort(key=lambda pair: (pair[0], pair[1].seed))
    return unrecorded(planned for _, planned in asked)


def unrecorded(plans: Iterable[Planned], today: bool = False) -> list[Planned]:
    """Return the runs that no record answers, each once; today: none by today's arithmetic.

    A corrupt record answers nothing, and `run` does not write over it. A run of the paper's protocol in another
    precision does not answer the wish for that protocol.
    """
    plans = list(dict.fromkeys(plans))
    key = lambda run: (run.setting, run.seed, run.tier == "paper")  # noqa: E731
    there = {
        key(record) for name in {p.experiment for p in plans} for record in Runs.load(experiment=name)
        if not today or record.numerics == NUMERICS
    }
    return [planned for planned in plans if key(planned) not in there]


def announce(plans: Sequence[Planned]) -> Iterator[str]:
    """Say what a campaign will do, a line for each setting, and how long runs of the same setting took."""
    groups: dict[Planned, list[int]] = {}
    for planned in plans:
        groups.setdefault(replace(planned, seed=0), []).append(planned.seed)
    known = {name: Runs.load(experiment=name) for name in {p.experiment for p in plans}}
    total = 0.0
    for first, seeds in groups.items():
        took = [record.wall_seconds for record in known[first.experiment].where(setting=first.setting)]
        total += len(seeds) * mean(took) if took else 0.0
        each = f"about {mean(took) / 60:.1f} min each" if took else "never run before"
        yield f"{first.experiment} {first.name.removesuffix('-s0')}, seeds {ranges(seeds)}: {each}"
    yield (
        f"{len(plans)} runs are missing. Those of settings that were run before take about {total / 3600:.1f} h, "
        "as fast as the machines of their records"
    )


def campaign(
    todo: Callable[[], Iterable[Planned]] = missing,
    *,
    budget: float = float("inf"),
    report: Callable[[str], None],
    log: Callable[[], Callable | None] = lambda: None,
    device: str | None = None,
    keep_weights: bool = False,
    debug: bool = False,
    failed: list[str] | None = None,
) -> list[Record]:
    """Do the runs of ``todo`` until ``budget`` seconds are used up; return the records that were made.

    ``todo`` returns what is missing, most valuable first. It is asked again after every run, as one run may make
    others possible: trials of a learning rate do. Runs that cannot go on are named and passed over, with the traceback
    where ``debug``; nothing that was recorded is lost. failed: gets the names of those that another call will not do
    either.
    """
    end = time.monotonic() + budget
    done, tried = [], set()
    while planned := next((p for p in todo() if p not in tried), None):
        tried.add(planned)
        if time.monotonic() >= end:
            break
        name, older = f"{planned.experiment} {planned.name}", outdated(planned)
        new = older or not planned.path.exists()
        if new:  # else another job was faster, or what is there cannot be used: `run` names it
            report(name + ", whose record is of older arithmetic" * older)
        try:
            record = run.run(
                planned, log=log(), stop=lambda: time.monotonic() >= end, device=device, keep_weights=keep_weights,
                force=older,
            )
        except Interrupted as reason:
            report(f"{name}: {reason}; call again to go on")
        except Exception as error:  # whatever it is, the next run may do better
            report(f"passed over: {name}: {run.explain(error)}")
            if failed is not None and not isinstance(error, run.Busy | NotHere):
                failed.append(name)
            if debug:
                report(traceback.format_exc())
        else:
            done += [record] * new
            if not new and not record.committed:
                report(f"passed over: {name}: its record is of uncommitted code; run it with --force")
    return done


def outdated(planned: Planned) -> bool:
    """Whether there is a sound record of the run by older arithmetic: a correction makes its runs again."""
    try:
        return planned.path.exists() and load_sound(planned.path).numerics != NUMERICS
    except CorruptRecord:
        return False


def jobs(count: int, words: Iterable[str]) -> int:
    """Run ``count`` campaigns at once, each a process with these words of the command line; locks keep them off each
    other's runs. Return the worst of their exit codes. When this process is stopped, they are stopped as well."""
    threads = str(max(1, (os.cpu_count() or 1) // count))
    environment = {"OMP_NUM_THREADS": threads} | os.environ
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "romae_lite", "campaign", *words]
    started = []
    try:
        for _ in range(count):  # in sessions of their own: Ctrl-C reaches this process alone
            started.append(subprocess.Popen(command, env=environment, start_new_session=True))
        return max(abs(job.wait()) for job in started)
    finally:
        for job in started:
            job.terminate()
        for job in started:
            job.wait()

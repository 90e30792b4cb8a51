"""Plan a run: its experiment, preset, settings and seed, which make the names of its files and its command."""

import ast
import hashlib
import itertools
import json
import numbers
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from romae_lite.checks import kind, whole

from ..experiments import experiment
from ..experiments.data import home

LARGEST = 1e150  # of a number in a record: its square, and the sum of many, are numbers still
MOST_SEEDS = 1000  # of one command: more is a slip


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One run: an experiment's preset with settings changed, and a seed.

    TypeError or ValueError name an experiment, preset or setting that does not exist, and what there is.
    """

    experiment: str
    preset: str
    seed: int
    overrides: tuple[tuple[str, object], ...] = ()
    processes: int = 1  # that share the run; its files are named alike, whatever their number

    def __post_init__(self):
        for name, least in (("seed", 0), ("processes", 1)):
            whole(name, getattr(self, name), least)
            object.__setattr__(self, name, int(getattr(self, name)))
        kind("overrides", self.overrides, tuple)
        for i, pair in enumerate(self.overrides):
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
                raise TypeError(f"overrides[{i}] is {pair!r}; it must be a pair (name, value)")
        names = [name for name, _ in self.overrides]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name} is set {names.count(name)} times; once is enough")
        config = self.build().config()  # 1 and 1.0 are the same setting, and the same record
        object.__setattr__(self, "overrides", tuple((name, config[name]) for name, _ in self.overrides))

    def build(self):
        """The `Experiment`."""
        cls = experiment(self.experiment)
        return cls.preset(self.preset).replace(**{name: cls.spelt(name, value) for name, value in self.overrides})

    @property
    def path(self) -> Path:
        return record_path(self.experiment, self.preset, dict(self.overrides), self.seed)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def checkpoint(self) -> Path:
        return checkpoints_dir() / self.experiment / f"{self.name}.safetensors"

    @property
    def setting(self) -> str:
        return setting_of(self.experiment, self.build().config())

    @property
    def command(self) -> str:
        return self.command_for([self.seed])

    def command_for(self, seeds: Iterable[int]) -> str:
        launch = "python" if self.processes == 1 else f"accelerate launch --num_processes {self.processes}"
        changes = "".join(f" --set {shlex.quote(f'{name}={value}')}" for name, value in self.overrides)
        return f"{launch} -m romae_lite run {self.experiment} --preset {self.preset} --seeds {ranges(seeds)}{changes}"

    @property
    def tier(self) -> str:
        """The preset's tier. With settings that matter changed: "reduced" if it is the paper's, else "ablation".

        The paper's precision is float32 in all of its tables: a run in another is reduced.
        """
        exp = self.build()
        tier, preset = exp.tiers[self.preset], type(exp).preset(self.preset)
        changed = {name for name, value in self.overrides if getattr(preset, name) != value}
        if tier == "paper" and exp.precision != "fp32":
            return "reduced"
        if tier == "smoke" or not changed - exp.neutral - exp.variants:
            return tier
        return "reduced" if tier == "paper" else "ablation"

    @classmethod
    def of(cls, command: str) -> "Planned":
        """Read a command of the command line. ValueError where it is none, or asks for several runs."""
        head, _, tail = command.partition(" -m romae_lite run ")
        launch = re.fullmatch(r"python|accelerate launch --num_processes ([1-9][0-9]{0,5})", head)
        name, *words = shlex.split(tail) or [""]
        given: dict[str, list[str]] = {"--preset": [], "--seeds": [], "--set": []}
        for option, value in zip(words[::2], words[1::2], strict=False):
            given.get(option, []).append(value)
        chosen = [seed for text in given["--seeds"] for seed in seeds(text)]
        understood = 2 * sum(map(len, given.values())) == len(words)
        if not (launch and understood and len(chosen) == len(given["--preset"]) == 1):
            raise ValueError(
                f"command is {command!r}; it must be python -m romae_lite run EXPERIMENT --preset PRESET --seeds SEED, "
                "with any number of --set NAME=VALUE"
            )
        return cls(
            experiment=name, preset=given["--preset"][0], seed=chosen[0], processes=int(launch[1] or 1),
            overrides=tuple(map(assignment, given["--set"])),
        )


def command_of(plans: Iterable[Planned]) -> str:
    """The commands of planned runs, a line each: those that differ in nothing but the seed are put together."""
    joined: dict[Planned, list[int]] = {}
    for planned in plans:
        joined.setdefault(replace(planned, seed=0), []).append(planned.seed)
    return "\n".join(planned.command_for(seeds) for planned, seeds in joined.items())


def ranges(seeds: Iterable[int]) -> str:
    """[0, 1, 2, 5] -> "0-2,5"."""
    parts = []
    for _, run in itertools.groupby(enumerate(sorted(set(seeds))), lambda pair: pair[1] - pair[0]):
        run = [seed for _, seed in run]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(parts)


def seeds(text: str) -> list[int]:
    """ "0-4" or "0,2,5" -> a list of seeds."""
    found = []
    for part in text.split(","):
        if not (match := re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)):
            raise ValueError(f"{text!r}; write seeds as 0 or 0-4 or 0,2,5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{part!r} runs backwards")
        if last - first >= MOST_SEEDS:
            raise ValueError(f"{part!r} are {last - first + 1} runs; at most {MOST_SEEDS} at once")
        found += range(first, last + 1)
    return found


def assignment(text: str) -> tuple[str, object]:
    """ "epochs=50" -> ("epochs", 50); what is no Python literal stays a string, and so does 1_0."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r}; write NAME=VALUE")
    try:
        return name, value if "_" in value else ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


# Names and places


def checkpoints_dir() -> Path:
    """The folder of runs that are under way: $ROMAE_CHECKPOINTS, else the repository's checkpoints/, else
    ./checkpoints."""
    return Path(os.environ.get("ROMAE_CHECKPOINTS") or home() / "checkpoints")


def results_dir() -> Path:
    """The folder of all records: $ROMAE_RESULTS, else the repository's results/, else ./results."""
    return Path(os.environ.get("ROMAE_RESULTS") or home() / "results")


def name(preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0) -> str:
    """File name, without suffix, of a run: "paper-s0", "paper-cls=true-lr=0.001-s3".

    The order of the overrides does not matter. Characters that a file system may refuse become "_"; a short
    hash then keeps different runs apart, and so it does where the name would grow too long.
    """
    whole("seed", seed, 0)
    if not isinstance(preset, str) or not preset:
        raise ValueError(f"preset is {preset!r}; it must be a name")
    kind("overrides", overrides, Mapping | None)
    fields = dict(sorted(plain(overrides or {}, "overrides").items()))
    shown = (f"{field}={v if isinstance(v, str) else json.dumps(v)}" for field, v in fields.items())
    raw = "-".join([preset, *shown])
    safe = re.sub(r"[^\w.=+,-]", "_", raw, flags=re.ASCII)[:120]
    if safe != raw:
        safe += "~" + hashlib.sha256(json.dumps([preset, fields]).encode()).hexdigest()[:8]
    return f"{safe}-s{seed}"


def record_path(
    experiment: str, preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0,
    root: str | os.PathLike | None = None,
) -> Path:
    """Path of a run's record; its arrays are beside it, ``path.with_suffix(".npz")``."""
    kind("experiment", experiment, str)
    kind("root", root, str | os.PathLike | None)
    if not re.fullmatch(r"\w+", experiment, flags=re.ASCII):
        raise ValueError(f"experiment is {experiment!r}; it must be a name, and no path")
    return Path(results_dir() if root is None else root) / experiment / f"{name(preset, overrides, seed)}.json"


def setting_of(name: str, config: Mapping[str, Any]) -> str:
    """Key of what is asked of a run: its experiment and all settings but those that change its speed alone."""
    return json.dumps([name, plain(experiment(name).protocol(config), "config")], sort_keys=True)


def plain(value: Any, name: str) -> Any:
    """The value as JSON has it; ValueError or TypeError names the place of what a record cannot hold."""
    if value is None or type(value) in (bool, str) or (type(value) in (int, float) and -LARGEST <= value <= LARGEST):
        return value  # nearly all there is: first, for speed
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{name} has the key {key!r}; keys must be strings")
        return {key: plain(inner, f"{name}.{key}") for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, f"{name}[{i}]") for i, inner in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real) and not -LARGEST <= value <= LARGEST:
        shown = value if isinstance(value, float) else f"a number of {len(str(abs(value)))} digits"
        raise ValueError(f"{name} is {shown}; numbers from -{LARGEST:g} to {LARGEST:g} are recorded")
    if type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{name} is {value!r}; a record holds numbers, strings, lists and dictionaries only")

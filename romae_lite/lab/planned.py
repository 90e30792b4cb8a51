"""A run that is planned: its experiment, preset, settings and seed; what its files and its command are."""

import ast
import hashlib
import itertools
import json
import math
import numbers
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .subjects import experiment


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One run: an experiment's preset with settings changed, and a seed."""

    experiment: str
    preset: str
    seed: int
    overrides: tuple[tuple[str, object], ...] = ()

    def __post_init__(self):
        config = self.build().config()  # 1 and 1.0 are the same setting, and the same record
        object.__setattr__(self, "overrides", tuple((name, config[name]) for name, _ in self.overrides))

    def build(self):
        """The `Experiment`."""
        return experiment(self.experiment).preset(self.preset).replace(**dict(self.overrides))

    @property
    def path(self) -> Path:
        return record_path(self.experiment, self.preset, dict(self.overrides), self.seed)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def checkpoint(self) -> Path:
        root = os.environ.get("ROMAE_CHECKPOINTS") or Path(__file__).resolve().parents[2] / "checkpoints"
        return Path(root) / self.experiment / f"{self.name}.safetensors"

    @property
    def command(self) -> str:
        return self.command_for([self.seed])

    def command_for(self, seeds: Iterable[int]) -> str:
        changes = "".join(f" --set {name}={value}" for name, value in self.overrides)
        return f"python -m romae_lite run {self.experiment} --preset {self.preset} --seeds {ranges(seeds)}{changes}"

    @property
    def tier(self) -> str:
        """The preset's tier. With settings that matter changed: "reduced" if it is the paper's, else "ablation"."""
        exp = self.build()
        tier, preset = exp.tiers[self.preset], type(exp).preset(self.preset)
        changed = {name for name, value in self.overrides if getattr(preset, name) != value}
        if tier == "smoke" or not changed - exp.neutral - exp.variants:
            return tier
        return "reduced" if tier == "paper" else "ablation"

    @classmethod
    def of(cls, command: str) -> "Planned":
        """What a command of the command line asks for. ValueError where it is none, or asks for several runs."""
        words = shlex.split(command)
        if "run" not in words:
            raise ValueError(f"command is {command!r}; it must be python -m romae_lite run ...")
        words = words[words.index("run") + 1 :]
        name, options = words[0] if words else "", words[1:]
        given = {"--preset": "paper", "--seeds": "0"}
        overrides = {}
        for option, value in zip(options[::2], options[1::2], strict=False):
            if option == "--set":
                key, value = assignment(value)
                overrides[key] = value
            else:
                given[option] = value
        chosen = seeds(given["--seeds"])
        if len(chosen) != 1:
            raise ValueError(f"command is {command!r}; a record's command names one seed")
        return cls(experiment=name, preset=given["--preset"], seed=chosen[0], overrides=tuple(overrides.items()))


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
        if not (match := re.fullmatch(r"(\d+)(?:-(\d+))?", part)):
            raise ValueError(f"{text!r}; write seeds as 0 or 0-4 or 0,2,5")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"{part!r} runs backwards")
        found += range(first, last + 1)
    return found


def assignment(text: str) -> tuple[str, object]:
    """ "epochs=50" -> ("epochs", 50); what is no Python literal stays a string."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r}; write NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


# Names and places


def results_dir() -> Path:
    """The folder of all records: $ROMAE_RESULTS, else the repository's results/, else ./results."""
    if chosen := os.environ.get("ROMAE_RESULTS"):
        return Path(chosen)
    repository = Path(__file__).resolve().parents[2]
    return repository / "results" if (repository / "pyproject.toml").exists() else Path("results")


def name(preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0) -> str:
    """File name, without suffix, of a run: "paper-s0", "paper-cls=true-lr=0.001-s3".

    The order of the overrides does not matter. Characters that a file system may refuse become "_"; a short
    hash then keeps different runs apart, and so it does where the name would grow too long.
    """
    fields = {field: plain(value, field) for field, value in sorted((overrides or {}).items())}
    shown = (f"{field}={v if isinstance(v, str) else json.dumps(v)}" for field, v in fields.items())
    raw = "-".join([preset, *shown])
    safe = re.sub(r"[^\w.=+,-]", "_", raw, flags=re.ASCII)[:120]
    if safe != raw:
        safe += "~" + hashlib.sha256(json.dumps([preset, fields]).encode()).hexdigest()[:8]
    return f"{safe}-s{seed}"


def record_path(
    experiment: str, preset: str, overrides: Mapping[str, Any] | None = None, seed: int = 0,
    root: str | os.PathLike | None = None,
) -> Path:  # fmt: skip
    """Where the record of a run lies; its arrays are beside it, ``path.with_suffix(".npz")``."""
    return Path(root or results_dir()) / experiment / f"{name(preset, overrides, seed)}.json"


def plain(value: Any, name: str) -> Any:
    """The value as JSON has it; ValueError or TypeError names the place of what JSON cannot hold."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{name} has the key {key!r}; keys must be strings")
        return {key: plain(inner, f"{name}.{key}") for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, f"{name}[{i}]") for i, inner in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}; only finite numbers are recorded")
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{name} is {value!r}; a record holds numbers, strings, lists and dictionaries only")

"""Everything that may be wrong with the file of a record: for the tests of all that read records."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from conftest import made_up_record


def edit(**changes) -> Callable[[Path], None]:
    """Change fields of a record; a dictionary changes parts of one, None removes it."""

    def harm(path: Path) -> None:
        record = json.loads(path.read_text())
        for name, value in changes.items():
            if value is None:
                del record[name]
            else:
                record[name] = record[name] | value if isinstance(value, dict) and name in record else value
        path.write_text(json.dumps(record))

    return harm


def text(change: Callable[[str], str]) -> Callable[[Path], None]:
    return lambda path: path.write_text(change(path.read_text()))


def instead(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        path.unlink()
        make(path)

    return harm


def huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(10**12)  # takes no room


DAMAGE = {
    "empty": text(lambda _: ""), "zeros": text(lambda _: "\0" * 40), "cut": text(lambda whole: whole[:-30]),
    "deep": text(lambda _: "[" * 100_000), "list": text(lambda _: "[1, 2]"),
    "no text": lambda path: path.write_bytes(b'{"\xff\xfe": 1}'),
    "a key twice": text(lambda whole: whole.rstrip()[:-1] + ', "metrics": {"rmse_clean": 0.0001}}'),
    "a key of config twice": text(lambda whole: whole.replace('"config": {', '"config": {"lr": 0.5, ')),
    "no number": text(lambda whole: whole.replace('"rmse_clean": 0.5', '"rmse_clean": NaN')),
    "infinite": text(lambda whole: whole.replace('"rmse_clean": 0.5', '"rmse_clean": 1e999')),
    "huge integer": edit(metrics={"rmse_clean": 10**400}), "huge float": edit(metrics={"rmse_clean": 1e308}),
    "huge float in history": edit(history=[{"step": 1, "loss": -1e200}]),
    "step before the first": edit(history=[{"step": -5, "loss": 1.0}]), "half a character": edit(device="\ud800"),
    "half a character in a key": edit(metrics={"a\ud800": 1.0}),
    "half a character in an unknown field": edit(**{"\ud800": 1.0}), "huge seconds": edit(wall_seconds=10**400),
    "numerics": edit(versions={"numerics": "x"}), "unknown deviation": edit(deviations=["D999"]),
    "unknown field": edit(mood=1), "lacking field": edit(seed=None), "unknown setting": edit(config={"mood": 1}),
    "other setting": edit(config={"lr": 0.5}), "other type": edit(config={"cls": 0}), "schema": edit(schema=9),
    "tier": edit(tier="best"), "other tier": edit(tier="smoke"), "seed": edit(seed=77),
    "text for a number": edit(parameters="10"), "negative": edit(metrics={"rmse_clean": -1.0}),
    "from the future": edit(created="2999-01-01T00:00:00Z"), "command": edit(command="rm -r /"),
    "other command": edit(command="python -m romae_lite run uea --preset paper --seeds 0"),
    "overrides": edit(overrides={"lr": 0.5}), "unknown override": edit(overrides={"mood": 0.5}),
    "pipe": instead(os.mkfifo), "folder": instead(Path.mkdir),
    "device": instead(lambda path: path.symlink_to("/dev/zero")),
    "loop": instead(lambda path: path.symlink_to(path.name)),
    "link to nothing": instead(lambda path: path.symlink_to("nowhere")), "huge file": instead(huge),
}


def damaged_records(root: Path, **changes) -> dict[str, Path]:
    """One sound record of the spirals under root, with seed 0, and for each kind of damage one of another seed: the
    path of each kind."""
    made_up_record(root=root, metrics={"rmse_clean": 0.5}, **changes)
    found = {}
    for seed, (kind, harm) in enumerate(DAMAGE.items(), start=1):
        found[kind] = made_up_record(root=root, seed=seed, metrics={"rmse_clean": 0.5}, **changes).path
        harm(found[kind])
    return found

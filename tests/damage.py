"""Everything that may be wrong with the file of a record: for the tests of all that read records."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from conftest import made_up_record

RUN = "python -m romae_lite run"


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


# kind: (what is done to the file, what is said of it)
DAMAGE = {
    "empty": (text(lambda _: ""), "not JSON"), "zeros": (text(lambda _: "\0" * 40), "not JSON"),
    "cut": (text(lambda whole: whole[:-30]), "not JSON"), "deep": (text(lambda _: "[" * 100_000), "not JSON"),
    "list": (text(lambda _: "[1, 2]"), "holds a list"),
    "no text": (lambda path: path.write_bytes(b'{"\xff\xfe": 1}'), "not JSON"),
    "a key twice": (text(lambda whole: whole.rstrip()[:-1] + ', "seed": 7}'), "the key 'seed' is there twice"),
    "a key of config twice": (text(lambda w: w.replace('"config": {', '"config": {"lr": 0.5, ')), "'lr' is there"),
    "no number": (text(lambda whole: whole.replace('"rmse_clean": 0.5', '"rmse_clean": NaN')), "rmse_clean is nan"),
    "infinite": (text(lambda whole: whole.replace('"rmse_clean": 0.5', '"rmse_clean": 1e999')), "rmse_clean is inf"),
    "huge integer": (edit(metrics={"rmse_clean": 10**400}), "metrics.rmse_clean is a number of 401 digits"),
    "huge float": (edit(metrics={"rmse_clean": 1e308}), "metrics.rmse_clean is 1e+308"),
    "huge float in history": (edit(history=[{"step": 1, "loss": -1e200}]), "history[0].loss is -1e+200"),
    "step before the first": (edit(history=[{"step": -5, "loss": 1.0}]), "history[0] has no step from 0 on"),
    "half a character": (edit(device="\ud800"), "not JSON"), "half a key": (edit(metrics={"a\ud800": 1.0}), "not JSON"),
    "half an unknown field": (edit(**{"\ud800": 1.0}), "not JSON"),
    "huge seconds": (edit(wall_seconds=10**400), "wall_seconds is a number of 401 digits"),
    "numerics": (edit(versions={"numerics": "x"}), "versions.numerics is 'x'"),
    "unknown deviation": (edit(deviations=["D999"]), "deviations holds 'D999'"),
    "unknown field": (edit(mood=1), "unknown fields mood"), "lacking field": (edit(seed=None), "lacks seed"),
    "unknown setting": (edit(config={"mood": 1}), "its config has mood, which is no setting of spirals"),
    "lacking setting": (text(lambda whole: whole.replace('"batch"', '"batsch"')), "its config lacks batch"),
    "other setting": (edit(config={"lr": 0.5}), "its config has lr = 0.5, but its command makes 0.0003"),
    "other type": (edit(config={"cls": 0}), "its config has cls = 0"), "schema": (edit(schema=9), "schema is 9"),
    "tier": (edit(tier="best"), "tier is 'best'"), "other tier": (edit(tier="smoke"), "its tier is smoke, but"),
    "seed": (edit(seed=77), "its seed is 77, but"), "a seed as text": (edit(seed="0"), "seed is '0'"),
    "other preset": (edit(preset="best"), "its preset is best, but its command makes paper"),
    "other experiment": (edit(experiment="uea"), "its experiment is uea, but its command makes spirals"),
    "processes": (edit(processes=2), "its processes is 2, but its command makes 1"),
    "text for a number": (edit(parameters="10"), "parameters is '10'"),
    "negative": (edit(metrics={"rmse_clean": -1.0}), "metrics.rmse_clean is -1.0"),
    "from the future": (edit(created="2999-01-01T00:00:00Z"), "which lies in the future"),
    "command": (edit(command="rm -r /"), "its command does not repeat it: command is 'rm -r /'"),
    "no command": (edit(command=""), "its command does not repeat it: command is ''"),
    "of five seeds": (edit(command=f"{RUN} spirals --preset paper --seeds 0-4"), "its command does not repeat it"),
    "with a word more": (edit(command=f"{RUN} spirals --preset paper --seeds 0 --force x"), "does not repeat it"),
    "of nothing": (edit(command=f"{RUN} nothing --preset paper --seeds 0"), "experiment is 'nothing'"),
    "other command": (edit(command=f"{RUN} uea --preset paper --seeds 0"), "its folder is spirals, but"),
    "overrides": (edit(overrides={"lr": 0.5}), "its command is"),
    "a list of them": (edit(overrides=["lr"]), "overrides is"),
    "unknown override": (edit(overrides={"mood": 0.5}), "'mood' is no setting of spirals"),
    "pipe": (instead(os.mkfifo), "pipe or device"), "folder": (instead(Path.mkdir), "it is a folder"),
    "device": (instead(lambda path: path.symlink_to("/dev/zero")), "pipe or device"),
    "loop": (instead(lambda path: path.symlink_to(path.name)), "symbolic links"),
    "link to nothing": (instead(lambda path: path.symlink_to("nowhere")), "it is not there"),
    "huge file": (instead(huge), "1,000,000,000,000 bytes"),
}


def damaged_records(root: Path, **changes) -> dict[str, Path]:
    """One sound record of the spirals under root, with seed 0, and for each kind of damage one of another seed: the
    path of each kind."""
    made_up_record(root=root, metrics={"rmse_clean": 0.5}, **changes)
    found = {}
    for seed, (kind, (harm, _)) in enumerate(DAMAGE.items(), start=1):
        found[kind] = made_up_record(root=root, seed=seed, metrics={"rmse_clean": 0.5}, **changes).path
        harm(found[kind])
    return found

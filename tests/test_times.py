"""What is left of a model's skill without times: against a loop over the files, and what the page says of it."""

import json
import statistics

import pytest
from pages.times import picture, times_html

from romae_book.lab.records import results_dir
from romae_book.lab.runs import Runs
from romae_book.paper.ladder import of_setting
from romae_book.paper.times import LESS, TASKS, shares


@pytest.fixture(scope="module")
def found():
    return shares()


def mean_f1(setting) -> float:
    return of_setting(Runs.load(), setting).summary("f1_macro").mean


def of(found, name, less, who="RoMAE"):
    return next((one.left for one in found if (one.task.name, one.task.who, one.less) == (name, who, less)), None)


def test_a_share_is_what_a_loop_over_the_files_makes_of_it(found):
    read = lambda name: json.loads((results_dir() / "uea" / f"best-dataset=LSST{name}.json").read_text())  # noqa: E731
    left = []
    for seed in range(5):
        full, part = (read(f"{arm}-s{seed}")["metrics"] for arm in ("", "-encoding=none-lr=0.0007-pretrain_lr=0.0017"))
        none = full["accuracy_majority"]
        left.append((part["accuracy"] - none) / (full["accuracy"] - none))
    assert of(found, "LSST", "none").mean == pytest.approx(statistics.mean(left), rel=1e-12)


def test_every_task_differs_from_its_full_runs_in_what_is_taken_away():
    for task in TASKS:
        assert task.less.keys() <= LESS.keys()
        for setting in task.less.values():
            assert (setting.built, setting.metric) != (task.full.built, task.full.metric)
            assert setting.metric.split("_")[0] == task.metric.split("_")[0]


def test_what_the_page_says(found):
    assert of(found, "synthetic series", "none").high < 0.5
    for name in ("LSST", "Epilepsy"):
        assert of(found, name, "none").low < 1 < of(found, name, "none").high
    assert of(found, "CharacterTrajectories", "none").low > 0.95
    added = [of(found, name, "added") for name in ("synthetic series", "pendulum", "CharacterTrajectories", "LSST")]
    assert min(left.mean for left in added[:3]) > 0.98 and added[3].high < 1
    assert of(found, "ASAS", "times", "boosted trees").low > 0.1
    assert of(found, "LSST", "times", "boosted trees").high < 0
    for survey, classes, least, most in (("SPCC", 3, -0.05, 0.05), ("MALLORN", 5, 0.15, 1)):  # above guessing by shares
        task = next(t for t in TASKS if (t.name, t.who) == (survey, "boosted trees"))
        full, nothing = (mean_f1(setting) for setting in (task.full, task.nothing))
        guess = (1 / classes - nothing) / (full - nothing)
        assert least < of(found, survey, "times", "boosted trees").mean - guess < most
    ranks, shuffled = (of(found, "EROS-1", less, "boosted trees") for less in ("ranks", "shuffled"))
    assert ranks.low > 0.95 and 0.9 < shuffled.mean < ranks.mean
    assert of(found, "SPCC", "shuffled", "boosted trees").mean < 0.9
    assert of(found, "SPCC", "ranks").low < 1 < of(found, "SPCC", "ranks").high
    assert of(found, "ASAS", "shuffled", "boosted trees").mean == pytest.approx(2 / 3, abs=0.03)


def test_the_picture_and_the_table_hold_every_share(found):
    alt = picture(found).alt
    for one in found:
        assert f"{one.task.name}, {one.task.who}, {LESS[one.less]}: {100 * one.left.mean:.0f} %" in alt
    assert times_html().count("<tr>") == 1 + len(found)


def test_without_records_there_is_a_page(tmp_path):
    assert "<table>" in times_html(tmp_path) and shares(tmp_path) == []

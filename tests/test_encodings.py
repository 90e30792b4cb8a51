"""The study of position encodings: which runs it asks for, which learning rate it takes, and what it draws."""

import math
import re

import pytest
import torch
from conftest import made_up_record
from pages.encodings import encodings_html, table

from romae_book.paper import encodings, queue
from romae_book.paper.encodings import SEEDS, Recorded, arms
from romae_lite.training import NUMERICS


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))


def save(planned, valid: float, metric: float, key: str = "mse", valid_key: str = "valid_mse", **changes) -> None:
    changes = {"versions": {"numerics": str(NUMERICS)}} | changes
    made_up_record(
        planned.experiment, planned.preset, planned.seed, dict(planned.overrides), planned.path.parents[1],
        metrics={key: metric}, history=[{"step": 1, valid_key: 9.0}, {"step": 2, valid_key: valid}], **changes,
    )


def pendulum(encoding: str) -> encodings.Arm:
    return next(arm for arm in arms() if (arm.experiment, arm.encoding) == ("pendulum", encoding))


def test_arms_differ_in_encoding_and_unit_alone():
    for arm in arms():
        first = next(a for a in arms() if a.task is arm.task)
        for seed in (0, 3):
            here, there = (a.planned(seed).build().config() for a in (arm, first))
            changed = {key for key in here if here[key] != there[key]}
            assert changed <= {"encoding", "position_scale"}
        assert arm.planned(0).build().encoding == arm.encoding
    of = [(arm.experiment, arm.task.title, arm.encoding, arm.unit) for arm in arms()]
    assert len(set(of)) == len(of)
    # rounding whole positions changes nothing, so nobody is asked to run it
    assert not [arm for arm in arms() if arm.encoding == "quantised" and arm.unit in arm.task.whole]
    assert {a.encoding for a in arms() if a.unit in a.task.whole} == {"rope", "absolute"}
    # and turning one axis while another is added takes two, of two kinds
    mixed = [arm for arm in arms() if arm.encoding == "mixed"]
    assert mixed and all(arm.planned(0).build().axes > 1 for arm in mixed)
    for arm in (arm for arm in arms() if arm.experiment == "synthetic" and arm.unit):
        positions = arm.planned(0).build().replace(n_train=4, n_valid=2, n_test=2).data(0).train.positions
        assert torch.allclose(positions, positions.round(), atol=1e-6) == (arm.unit in arm.task.whole)  # float64 steps


def test_runs_of_other_code_are_no_pairs():
    arm = pendulum("absolute")
    for planned, changes in zip(
        arm.trials(), ({}, {"versions": {"numpy": "2"}}, {"commit": "0" * 40 + "+"}), strict=True
    ):
        save(planned, 0.1, 0.2, **changes)
    assert [Recorded().of(planned) is not None for planned in arm.trials()] == [True, False, False]
    assert arm.rate(Recorded()) is None


def test_the_learning_rate_is_chosen_on_validation_data_and_only_then_are_seeds_asked_for():
    arm = pendulum("absolute")
    trials = arm.trials()
    assert len(trials) == 3 and {p.seed for p in trials} == {0}
    mine = lambda: [p for p in queue.missing(["encodings"]) if p.build().encoding == "absolute"  # noqa: E731
                    and p.experiment == "pendulum"]
    assert mine() == trials and arm.runs(Recorded()) == []
    # the second has the best validation score at the end, and the worst test score
    for planned, valid, metric in zip(trials, (0.3, 0.1, 0.2), (1.0, 2.0, 0.5), strict=True):
        save(planned, valid, metric)
    assert arm.rate(Recorded()) == arm.task.rates[1]
    asked = arm.runs(Recorded())
    assert [p.seed for p in asked] == list(range(SEEDS)) and {p.build().lr for p in asked} == {trials[1].build().lr}
    assert mine() == asked[1:]
    assert arm.summary(Recorded()).mean == 2.0


def test_the_page_shows_ratios_to_continuous_rope():
    assert "No arm has been run yet" in encodings_html()
    for encoding, level in (("rope", 1.0), ("absolute", 3.0)):
        arm = pendulum(encoding)
        for planned in arm.trials():
            save(planned, 1.0, level)
        for seed, planned in enumerate(arm.runs(Recorded())):
            save(planned, 1.0, level + 0.01 * seed)
    page = encodings_html()
    assert f"2 of {len(arms())} arms have all their {SEEDS} seeds" in page
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(pictures) == 2  # for a wide page and for a narrow one
    for picture in pictures:
        places = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', picture)]
        lines = dict(re.findall(r'<text x="([\d.]+)"[^>]*>([\d.]+) ×</text>', picture))
        at = {float(value): float(x) for x, value in lines.items()}
        assert len(places) == 2 and places[0] == pytest.approx(at[1], abs=0.1)
        # means are 1.02 and 3.02, and the axis is logarithmic
        assert places[1] == pytest.approx(at[1] + (at[2] - at[1]) * math.log2(3.02 / 1.02), abs=0.1)
    found = [(arm, arm.summary(Recorded())) for arm in arms()]
    row = next(r for r in table(found, Recorded()) if r.task.startswith("Pendulum") and r.name.startswith("added"))
    assert row.score == "3.02 [3.00, 3.04], n\u00a0=\u00a05" and row.difference == "2.00 [2.00, 2.00]"  # seed by seed
    assert row.score in page and row.difference in page
    assert "continuous RoPE is ahead of added sines and cosines." in page


@pytest.mark.parametrize(
    ("subject", "metrics", "lost"),
    [
        ("pendulum", {"mse": 0.9}, 0.9),
        ("uea", {"accuracy": 0.9}, 0.1),
        ("synthetic", {"mse_noisy": 0.9, "mse_noisy_gp": 0.7}, 0.2),  # above the best possible of the same test set
    ],
)
def test_a_score_becomes_what_is_lost(subject, metrics, lost):
    arm = next(arm for arm in arms() if arm.experiment == subject)
    for plans in (arm.trials, lambda: arm.runs(Recorded())[:1]):  # where a part is held out, choosing is another run
        for planned in plans():
            made_up_record(
                planned.experiment, planned.preset, 0, dict(planned.overrides), planned.path.parents[1],
                metrics=metrics, history=[{"step": 1, arm.task.valid: 0.5}], versions={"numerics": str(NUMERICS)},
            )
    assert arm.lost(Recorded()).mean == pytest.approx(lost)


@pytest.mark.parametrize(
    ("better", "gaps", "said"),
    [
        ("lower", (0.1, 0.2, 0.3, 0.2, 0.2), "ahead of"),
        ("lower", (-0.1, -0.2, -0.3, -0.2, -0.2), "behind"),
        ("lower", (0.3, -0.2, 0.3, -0.2, 0.1), "level with"),
        ("higher", (-0.1, -0.2, -0.3, -0.2, -0.2), "ahead of"),
        ("higher", (0.1, 0.2, 0.3, 0.2, 0.2), "behind"),
    ],
)
def test_a_verdict_is_about_pairs_of_seeds(better, gaps, said):
    """However far seeds lie apart, what is judged is the difference within each."""
    group = [arm for arm in arms() if arm.task.better == better and arm.task.title in ("Pendulum", "LSST")]
    base, other = (next(arm for arm in group if arm.encoding == kind) for kind in ("rope", "absolute"))
    for arm, shifts in ((base, (0,) * SEEDS), (other, gaps)):
        scores = {"key": arm.task.metric, "valid_key": arm.task.valid}
        for planned in arm.trials():
            save(planned, 1.0, 0.5, **scores)
        for seed, planned in enumerate(arm.runs(Recorded())):
            save(planned, 1.0, 0.1 + 0.15 * seed + 0.1 * shifts[seed], **scores)
    assert f"continuous RoPE is {said} added sines and cosines." in encodings_html()

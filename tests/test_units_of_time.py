"""Skill by unit of time, from made-up runs whose shares can be counted in the head."""

import pytest
from conftest import made_up_record

from romae_book.paper.units import SWEEPS, curves, learnt


def save(root, sweep, factor, error, seed, grown=None):
    metrics = {sweep.metric: error, sweep.nothing: 1.0} | ({"learnt_factor": grown} if grown else {})
    settings = sweep.changes | {"position_scale": factor} | ({"learn_unit": True} if grown else {})
    made_up_record(sweep.experiment, sweep.preset, seed, settings, root, metrics=metrics)


def test_skill_is_what_lies_below_knowing_nothing_over_that_of_the_best_unit(tmp_path):
    sines = next(sweep for sweep in SWEEPS if sweep.name == "mixed sines")
    for factor, skill in ((1.0, 0.1), (99.0, 0.8), (300.0, 0.4)):
        for seed in range(3):  # which differ, in all units alike
            save(tmp_path, sines, factor, 1 - skill * (0.5 + 0.3 * seed), seed)
    found = curves(tmp_path)
    assert found.keys() == {"mixed sines"}
    assert [point.gap for point in found["mixed sines"]] == pytest.approx([1 / 99, 1.0, 300 / 99])
    assert [point.left.mean for point in found["mixed sines"]] == pytest.approx([0.125, 1.0, 0.5])
    assert all(point.left.n == 3 for point in found["mixed sines"])
    assert all(point.left.low == pytest.approx(point.left.high) for point in found["mixed sines"])  # seed by seed


def test_a_unit_without_a_seed_of_the_best_one_is_left_out(tmp_path):
    for factor, error, seed in ((99.0, 0.2, 0), (1.0, 0.9, 1), (300.0, 0.6, 0)):
        save(tmp_path, SWEEPS[0], factor, error, seed)
    save(tmp_path, SWEEPS[0], 1.0, 0.6, 0, grown=2.0)
    assert [point.gap for point in curves(tmp_path)[SWEEPS[0].name]] == pytest.approx([1.0, 300 / 99])
    assert learnt(tmp_path) == {}


def test_one_unit_makes_no_curve(tmp_path):
    save(tmp_path, SWEEPS[0], 99.0, 0.2, 0)
    assert curves(tmp_path) == {}


def test_a_learnt_unit_is_where_its_factor_took_it(tmp_path):
    sines = next(sweep for sweep in SWEEPS if sweep.name == "mixed sines")
    for seed, grown in enumerate((2.0, 8.0)):
        for factor, error in ((1.0, 0.9), (99.0, 0.2)):
            save(tmp_path, sines, factor, error, seed)
        save(tmp_path, sines, 1.0, 0.6, seed, grown)
    (found,), = learnt(tmp_path).values()
    assert (found.begun, found.ended) == pytest.approx((1 / 99, 4 / 99))
    assert found.left.mean == pytest.approx(0.5) and found.left.n == 2
    fixed = {point.gap: point.left.mean for point in curves(tmp_path)["mixed sines"]}
    assert fixed == pytest.approx({1 / 99: 0.125, 1.0: 1.0})  # runs that learn it are not among these

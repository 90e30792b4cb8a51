"""The benchmarks of gaps and of classes: what is hidden, how it is scored, and what the page makes of the records."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import gaps
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.stats import norm

from benchmarks.gaps import ALONE, KINDS, METHODS, hide, score
from benchmarks.opponents import posterior, transition, windows

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    parts = [
        pd.DataFrame({"id": i, "channel": c, "time": np.sort(rng.uniform(0, 9, n)), "value": rng.normal(3, 2, n)})
        for i, c, n in (("a", "x", 60), ("a", "y", 40), ("b", "x", 2), ("b", "y", 25))
    ]
    return pd.concat(parts + [parts[0][10:14]], ignore_index=True)  # four values are there twice


@pytest.mark.parametrize("kind", KINDS)
def test_a_fifth_of_the_times_is_hidden_and_never_an_end(table, kind):
    hidden = hide(table, kind, 1)
    assert (hidden == hide(table, kind, 1)).all() and (hidden != hide(table, kind, 2)).any()
    for (i, c), its in table.assign(out=hidden).groupby(["id", "channel"]):
        out = its.groupby("time").out.agg(["any", "all"]).sort_index()
        assert (out["any"] == out["all"]).all(), "twice at one time, hidden together"
        assert not out["any"].iloc[[0, -1]].any()
        assert out["any"].sum() == (0 if (i, c) == ("b", "x") else round(0.2 * len(out)))


def test_scores_are_those_of_a_gaussian(table):
    """Against the integral that CRPS is, and SciPy's density; of a series alone, in its own deviations."""
    one = table[(table.id == "a") & (table.channel == "y")].reset_index(drop=True)
    hidden = hide(one, "scattered", 0)
    scale, truth = one.value[~hidden].std(), one.value[hidden].to_numpy()
    found = score(one, hidden, np.full(8, 2.5), np.full(8, 1.5))
    assert found["error"] == pytest.approx(np.sqrt(np.mean((truth - 2.5) ** 2)) / scale, rel=1e-4)
    assert found["likelihood"] == pytest.approx((norm.logpdf(truth, 2.5, 1.5) + np.log(scale)).mean(), rel=1e-4)
    integral = [
        quad(lambda x, y=y: (norm.cdf(x, 2.5, 1.5) - (x >= y)) ** 2, -15, 20, points=[y], limit=200)[0] for y in truth
    ]
    assert found["crps"] == pytest.approx(np.mean(integral) / scale, rel=1e-3)
    assert found["within1"] == (abs(truth - 2.5) <= 1.5).mean()


def test_what_is_not_answered_counts_as_the_mean(table):
    hidden = hide(table, "stretches", 0)
    nothing = np.full(hidden.sum(), np.nan)
    assert score(table, hidden, nothing, nothing)["error"] == pytest.approx(1, abs=0.35)


def test_methods_answer_for_every_hidden_row(table):
    """Lines against NumPy's, row by row; and the others in the same order."""
    hidden = hide(table, "scattered", 0)
    cut = table.assign(value=table.value.where(~hidden))
    lines = METHODS["straight lines"](cut, 0)
    assert lines.shape == (2, hidden.sum()) and METHODS["fill"](cut, 0).shape == lines.shape
    assert METHODS["Kalman smoother"](cut, 0).shape == lines.shape
    for row, mean in zip(table[hidden].itertuples(), lines[0], strict=True):
        its = cut[(cut.id == row.id) & (cut.channel == row.channel)].dropna().groupby("time").value.mean()
        assert mean == pytest.approx(np.interp(row.time, its.index, its), abs=1e-9)


def test_windows_hold_every_row_of_one_series():
    ids = np.repeat(["a", "b", "c"], [5, 130, 48])
    rows = windows(ids)
    assert set(rows[rows >= 0]) == set(range(183)) and rows.shape[1] == 48
    assert all(len(set(ids[row[row >= 0]])) == 1 for row in rows) and (np.sort(rows, axis=1)[:, -1] >= 0).all()


def test_a_step_of_the_kalman_smoother_is_a_matrix_exponential():
    """Van Loan 1978: of the drift A and the diffusion Q, expm([[-A, Q], [0, A']] d) holds both."""
    level, slope, fading, steps = 0.3, 0.7, 0.9, np.array([1e-3, 0.5, 4.0])
    drift, diffusion = np.array([[0, 1], [0, -fading]]), np.diag([level, slope])
    moves, adds = transition(steps, level, slope, fading)
    for i, d in enumerate(steps):
        block = expm(np.block([[-drift, diffusion], [np.zeros((2, 2)), drift.T]]) * d)
        np.testing.assert_allclose(moves[..., i], block[2:, 2:].T, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(adds[..., i], block[2:, 2:].T @ block[:2, 2:], rtol=1e-6, atol=1e-12)


def test_the_kalman_smoother_conditions_a_gaussian():
    """Against the joint covariance of all points, built step by step from the left."""
    rng, logs = np.random.default_rng(3), np.array([-1.0, -0.5, -0.3, -2.0])
    times = np.cumsum(rng.exponential(1, 14))
    at = np.sort(rng.choice(14, 5, replace=False))
    seen = np.setdiff1d(np.arange(14), at)
    moves, adds = transition(np.diff(times), *np.exp(logs[:3]))
    state, K = np.diag([10.0, np.exp(logs[1] - logs[2]) / 2]), np.empty((14, 14))
    for i in range(14):
        cross = state  # cov(state at j, state at i)
        for j in range(i, 14):
            K[i, j] = K[j, i] = cross[0, 0]
            if j < 13:
                cross = moves[..., j] @ cross
        if i < 13:
            state = moves[..., i] @ state @ moves[..., i].T + adds[..., i]
    noise, z = np.exp(logs[3]), rng.normal(size=9)
    gain = K[np.ix_(at, seen)] @ np.linalg.inv(K[np.ix_(seen, seen)] + noise * np.eye(9))
    mean, variance = posterior(times[seen], z, times[at], logs)
    np.testing.assert_allclose(mean, gain @ z, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(variance, noise + np.diag(K[np.ix_(at, at)] - gain @ K[np.ix_(seen, at)]), rtol=1e-6)


def test_the_page_compares_what_all_have(tmp_path):
    """Two draws with errors of 1 and 4 over lines of 2: the geometric mean is 1; a third lacks a method."""
    base = dict(table="t", holdout="scattered", values=1, likelihood=0.0, crps=1.0, within1=0.7, within2=0.9, seconds=1)
    names = ["straight lines", *gaps.METHODS]
    rows = [
        base | {"seed": seed, "method": name, "error": 2.0 if name == "straight lines" else error}
        for seed, error in ((0, 1.0), (1, 4.0), (2, 9.0)) for name in names if seed < 2 or name != "fill"
    ]
    made = {"commit": "0" * 40, "created": "now", "versions": {"torch": "2", "scipy": "1", "statsmodels": "0.15"}}
    about = {"command": "c", "made": dict.fromkeys(names, made)}
    (tmp_path / "who_wins.json").write_text(json.dumps(about | {"data": {"t": "x"}, "rows": rows}))
    found = gaps.scores(gaps.read(tmp_path))
    assert [s.method for s in found] == list(gaps.METHODS) and {s.ratio for s in found} == {1.0}
    assert {(s.low, s.high) for s in found} == {(0.5, 2.0)}
    assert "straight lines err clearly less" not in gaps.gaps_html(tmp_path) and "<svg" in gaps.gaps_html(tmp_path)


def test_the_records_are_whole():
    record = gaps.read(ROOT / "results")
    assert {row["table"] for row in record["rows"]} <= set(record["data"]) and len(record["data"]) == 10
    assert {row["method"] for row in record["rows"]} == set(METHODS | ALONE) == set(record["made"])
    places = [(r["table"], r["holdout"], r["seed"], r["method"]) for r in record["rows"]]
    assert len(set(places)) == len(places)
    assert not any("+" in by["commit"] for by in record["made"].values())
    for its in json.loads((ROOT / "results" / "classes.json").read_text()).values():
        assert "+" not in its["commit"] and set(its) >= {"ways", "each", "data", "versions", "command", "seconds"}

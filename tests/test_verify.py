"""Recorded runs run again; records held against each other and git's history; the exported table."""

import csv
import dataclasses
import json
import subprocess

import numpy as np
import pytest
import torch
from conftest import ROOT, made_up_record

from romae_book.cli import verify
from romae_book.cli.audit import audit
from romae_book.cli.commands import main
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.lab import provenance
from romae_book.lab.planned import Planned
from romae_book.lab.records import load, load_all, save_arrays
from romae_book.lab.run import run

TINY = dict(encoder="16x2x1x24", decoder="16x2x1x24", epochs=8, n_train=16, n_valid=4, n_test=100, batch=4)  # 32 steps


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """An empty folder of results; one thread, so that numbers repeat."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setattr(Spirals, "baselines", lambda *_: {})  # slow, and not the point
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield tmp_path / "results"
    torch.set_num_threads(threads)


def recorded(seeds: int) -> list[Planned]:
    """Runs by today's code."""
    plans = [Planned(experiment="spirals", preset="paper", seed=s, overrides=tuple(TINY.items())) for s in range(seeds)]
    for planned in plans:
        run(planned, device="cpu")
    return plans


def edit(planned: Planned, change) -> None:
    content = json.loads(planned.path.read_text())
    change(content)
    planned.path.write_text(json.dumps(content))


# Run again ------------------------------------------------------------------------------------------------------------


def test_runs_of_todays_code_come_out_the_same(results, capsys):
    recorded(3)
    before = {p: p.read_bytes() for p in results.rglob("*.*")}
    assert main(["verify", "--sample", "2"]) == 0
    out = capsys.readouterr().out
    assert "2 of 3 comparable records verified, 0 of them" in out and "rmse_clean, whole run: 0.0e+00" in out
    assert {p: p.read_bytes() for p in results.rglob("*.*")} == before, "verifying changed the records"


@pytest.mark.slow
def test_a_sample_of_the_committed_records_comes_out_the_same(monkeypatch):
    """One of those that this machine repeats in seconds: another with every commit of the records. The job `verify` of
    .github/workflows/test.yml repeats thirty."""
    monkeypatch.setenv("ROMAE_RESULTS", str(ROOT / "results"))
    seed, said = len(load_all().records), []
    outcomes = verify.verify(sample=1, seed=seed, budget=20, report=said.append)
    assert outcomes and all(outcome.ok for outcome in outcomes), "\n".join(said)


@pytest.mark.parametrize(
    ("step", "lr", "loss", "ok"),
    [(200, 1e-3, 1.06, True), (200, 1e-3, 1.2, False), (50, 1e-3, 1.01, False), (200, 1e-5, 1.01, False)],
)
def test_rounding_may_have_grown_after_many_steps_at_a_high_rate_only(step, lr, loss, ok):
    (planned,) = recorded(1)
    was = {"step": step, "lr": lr, "loss": 1.0}
    record = dataclasses.replace(load(planned.path), history=[was, {"step": 1000, "lr": 1e-3, "loss": 0.5}])
    found = verify.compare(record, record.parameters, [was | {"loss": loss}], {})
    assert all(comparison.ok for comparison in found) is ok
    # fine-tuning at ten times the rate says nothing of the steps before it
    two = [was | {"stage": "pretrain"}, {"step": 1000, "lr": 1e-3, "loss": 0.5, "stage": "pretrain"}]
    record = dataclasses.replace(record, history=[*two, {"step": 10, "lr": 1e-2, "loss": 0.1, "stage": "fine-tune"}])
    found = verify.compare(record, record.parameters, [two[0] | {"loss": loss}], {})
    assert all(comparison.ok for comparison in found) is ok


def test_of_a_long_run_the_first_entry_is_compared():
    """With the whole run's learning rates, and without training further."""
    (planned,) = recorded(1)
    edit(planned, lambda r: r.update(wall_seconds=1e4))
    outcome = verify.again(load(planned.path))
    assert outcome.ok and [c.difference for c in outcome.comparisons] == [0, 0]
    assert f"first 1 of {len(outcome.record.history)} history" in outcome.text and "whole" not in outcome.text
    to_the_end = verify.again(outcome.record, whole=True)
    assert to_the_end.ok and "rmse_clean, whole run" in to_the_end.text


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda r: r["history"][0].update(loss=r["history"][0]["loss"] * 1.001), "loss, first 1"),
        (lambda r: r["history"][0].update(lr=r["history"][0]["lr"] * 1.0001), "learning rates, first 1"),
        (lambda r: r.update(parameters=r["parameters"] + 1), "parameters"),
        (lambda r: r["metrics"].update(rmse_clean=r["metrics"]["rmse_clean"] * 1.5), "rmse_clean, whole run"),
    ],
)
def test_edited_record_is_found(capsys, change, found):
    _, planned = recorded(2)
    edit(planned, change)
    assert main(["verify", "--sample", "3"]) == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.startswith("differs")]
    assert len(wrong) == 1 and found in wrong[0] and planned.name in wrong[0]


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        (lambda r: r["versions"].update(numerics="1"), [], "1 of 1 records: made by numerics 1, cannot be compared"),
        (lambda r: r["versions"].pop("numerics"), [], "1 of 1 records: made by numerics 1, cannot be compared"),
        (lambda r: r.update(wall_seconds=50.0), ["--budget", "20s"], "1 records passed over: the budget of 20 s"),
        (lambda r: r.update(device="NVIDIA T4"), [], "made on NVIDIA T4; there is no GPU here"),
    ],
)
def test_what_cannot_be_compared_is_named_and_no_success(results, monkeypatch, capsys, change, arguments, said):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    record = made_up_record(metrics={"rmse_clean": 1.0}, versions=provenance.versions())
    planned = record.planned
    record.save(planned.path)
    edit(planned, change)
    assert main(["verify", *arguments]) == 2  # nothing was verified
    out = capsys.readouterr().out
    assert said in out and "0 of " in out


# Whole records ------------------------------------------------------------------------------------------------------


def test_committed_records_are_whole():
    assert audit(ROOT / "results").problems == []


def git(folder, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.run(
        ("git", "-C", folder, *who, *words), capture_output=True, text=True, check=True
    ).stdout.strip()


def commit_all(folder) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(results) -> str:
    """Two made-up records with their arrays in a repository; the commit that they name."""
    results.mkdir()
    git(results, "init", "-q")
    (results / "LOG.md").write_text("nothing yet\n")
    head = commit_all(results)
    for seed in (0, 1):
        put(results, seed=seed, commit=head)
    commit_all(results)
    assert audit(results).problems == []
    return head


def put(results, **changes):
    record = made_up_record(root=results, **{"metrics": {"rmse_clean": 1.0}} | changes)
    planned = record.planned
    save_arrays(planned.path.with_suffix(".npz"), a=np.zeros(2))


def gone(results, log=""):
    for suffix in (".json", ".npz"):
        (results / f"spirals/paper-s1{suffix}").unlink()
    (results / "LOG.md").write_text(log)
    commit_all(results)


@pytest.mark.parametrize(
    ("harm", "problems"),
    [
        (lambda root, c: put(root, seed=3, commit=c), ["spirals/paper-s3.json: is recorded, but not seeds 2 of"]),
        (lambda root, c: put(root, seed=2, commit="0" * 40), [f"its commit {'0' * 40} is not in the history"]),
        (lambda root, c: put(root, seed=2, commit=c + "+"), []),
        (
            lambda root, c: put(root, settings={"epochs": 7}, commit=c, data_fingerprint="1"),
            ["spirals/paper-s0.json: was made on other data than paper-epochs=7-s0.json"],
        ),
        (lambda root, c: put(root, settings={"n_train": 7}, commit=c, data_fingerprint="1"), []),
        (lambda root, c: put(root, settings={"epochs": 7}, commit=c, data_fingerprint="v2:1"), []),
        (lambda root, c: (root / "spirals/paper-s1.npz").unlink(), ["spirals/paper-s1.json: has no arrays beside it"]),
        (lambda root, c: (root / "spirals/paper-s1.npz").write_text("no"), ["paper-s1.npz: is not an archive"]),
        (lambda root, c: (root / "spirals/paper-s1.json").unlink(), ["spirals/paper-s1.npz: belongs to no record"]),
        (lambda root, c: (root / "spirals/paper-s1.json").write_text("{}"), ["spirals/paper-s1.json: lacks"]),
        (lambda root, c: gone(root), [f"spirals/paper-s1.{x} was deleted, and LOG.md" for x in ("json", "npz")]),
        (lambda root, c: gone(root, "- 2999-01-01: `spirals/paper-s1` was made with a bug"), []),
        (  # of an earlier day: it was made again, and then went without a word
            lambda root, c: gone(root, "- 2001-01-01: `spirals/paper-s1` was made with a bug"),
            [f"spirals/paper-s1.{x} was deleted, and LOG.md" for x in ("json", "npz")],
        ),
        (
            lambda root, c: put(root, seed=2, commit=c, weights="0" * 64),
            ["spirals/paper-s2.json: its weights are not beside it, or are others"],
        ),
    ],
)
def test_what_is_not_whole_is_named(results, repository, capsys, harm, problems):
    harm(results, repository)
    found = audit(results).problems
    assert len(found) == len(problems) and all(p in f for p, f in zip(problems, found, strict=True)), found
    assert main(["verify", "--records"]) == int(bool(problems))
    assert all(problem in capsys.readouterr().out for problem in found[:1])


def test_settings_that_shape_the_data_may_change_it(results, repository, monkeypatch):
    """All experiments have `encoding`; where positions depend on it, other data are no contradiction."""
    put(results, settings={"encoding": "absolute"}, commit=repository, data_fingerprint="1")
    assert len(audit(results).problems) == 1
    monkeypatch.setattr(Spirals, "shaping", frozenset({"encoding"}))
    assert audit(results).problems == []


@pytest.mark.parametrize(("apart", "problems"), [(1e-12, 0), (1e-6, 1)])
def test_a_last_digit_makes_no_other_data(results, repository, apart, problems):
    """Two processors round alike but for the last digit: the best possible predictor shows whether it is more."""
    for settings, score in (({"epochs": 7}, 0.0134), ({"epochs": 8}, 0.0134 * (1 + apart))):
        metrics = {"rmse_clean": 0.03 * settings["epochs"], "rmse_clean_bayes": score}
        put(
            results, settings=settings, seed=9, commit=repository, data_fingerprint=str(apart * settings["epochs"]),
            metrics=metrics,
        )
    assert sum("other data" in problem for problem in audit(results).problems) == problems


def test_loose_commits_are_counted_and_a_missing_history_is_said(results, repository, tmp_path, monkeypatch):
    put(results, seed=2, commit=repository + "+")
    assert "1 of them made by code that differs from its commit" in " ".join(audit(results).notes)
    results.rename(tmp_path / "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    found = audit(tmp_path / "elsewhere")
    assert found.problems == [] and "not checked" in " ".join(found.notes)


# Uncommitted code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "flag", "refused"),
    [("a" * 40 + "+", [], True), ("a" * 40 + "+", ["--uncommitted"], False), ("a" * 40, [], False)]
    + [("content:" + "a" * 64, [], False)],
)
def test_uncommitted_code_leaves_no_record_unless_told(monkeypatch, capsys, code, flag, refused):
    monkeypatch.delenv("ROMAE_UNCOMMITTED")
    monkeypatch.setattr(provenance, "loaded_commit", lambda: code)
    command = ["run", "sizes", "--set", "size=tiny", *flag]
    assert main(command) == (2 if refused else 0)
    assert ("--uncommitted" in capsys.readouterr().err) == refused
    assert [r.commit for r in load_all().records] == ([] if refused else [code])
    assert main(["campaign", "sizes", "--budget", "0s", *flag]) == (2 if refused else 0)


@pytest.mark.parametrize("words", [["verify"], ["verify", "--records"], ["export", "x.csv"]])
def test_where_there_is_nothing_nothing_is_success(results, tmp_path, monkeypatch, capsys, words):
    """A folder that is empty or misspelt. The message has the names there are."""
    monkeypatch.chdir(tmp_path)
    (results / "spirals").mkdir(parents=True)
    assert main(words) == 2
    assert f"there is no record in {results}; it has spirals" in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()
    made_up_record(metrics={"rmse_clean": 1.0}, root=results)
    if words[0] == "verify":
        assert main([*words, "--experiment", "uea"]) == 2
        assert "there is no record of uea" in capsys.readouterr().err
        assert main([*words, "--experiment", "nonsense"]) == 2
        assert "choose one of waves, sizes" in capsys.readouterr().err


# Export -------------------------------------------------------------------------------------------------------------


def test_export_has_a_row_for_each_metric_and_a_schema(results, tmp_path):
    made_up_record(metrics={"rmse_clean": 0.1 + 0.2, "rmse_noisy": 2.0}, settings={"epochs": 7}, root=results)
    made_up_record(metrics={"rmse_clean": 1.0}, seed=1, root=results)
    table, schema = tmp_path / "all.csv", tmp_path / "all.schema.json"
    assert main(["export", str(table)]) == 0
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["seed"], r["metric"], float(r["value"]), r["main"]) for r in rows] == [
        ("0", "rmse_clean", 0.1 + 0.2, "true"), ("0", "rmse_noisy", 2.0, "false"), ("1", "rmse_clean", 1.0, "true"),
    ]
    assert json.loads(rows[0]["settings"]) == {"epochs": 7} and rows[0]["tier"] == "reduced"
    for row in rows:
        assert float(row["value"]) == load(results / row["record"]).metrics[row["metric"]]
    assert [field["name"] for field in json.loads(schema.read_text())["fields"]] == list(rows[0])
    before = table.read_bytes()
    main(["export", str(table)])
    assert table.read_bytes() == before

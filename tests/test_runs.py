"""Runs, campaigns and the command line, from the outside, with models that train in a second."""

import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.torch
import torch
from conftest import made_up_record

import romae_lite
from romae_book.cli.commands import main, seconds
from romae_book.experiments import experiments, machine
from romae_book.experiments.spirals.experiment import Spirals
from romae_book.lab import campaign, provenance, records
from romae_book.lab import run as runs
from romae_book.lab.planned import Planned, assignment, record_path, seeds
from romae_book.paper import queue
from romae_book.paper.queue import Wish
from romae_lite import training
from romae_lite.model import SIZES, count_parameters
from romae_lite.training import Interrupted

ROOT = Path(__file__).resolve().parents[1]
TINY = dict(encoder="16x2x1x24", decoder="16x2x1x24", epochs=3, n_train=16, n_valid=4, n_test=100, batch=4)  # 12 steps
SET = [word for name, value in TINY.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Records and checkpoints of these tests live in a temporary folder; one thread, so that numbers repeat."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    handler, threads = signal.getsignal(signal.SIGTERM), torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture
def no_arrays(monkeypatch):
    """Skip the figures' arrays (tested with the spirals) and the slow spline, where they are not the point."""
    monkeypatch.setattr(Spirals, "arrays", lambda *_: {})
    monkeypatch.setattr(Spirals, "baselines", lambda *_: {})


def planned(seed: int = 0, **changes) -> Planned:
    return Planned(experiment="spirals", preset="paper", seed=seed, overrides=tuple((TINY | changes).items()))


def files(folder: str) -> list[str]:
    root = Path(os.environ[folder])
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())


def left(planned: Planned) -> list[str]:
    """Files that an unfinished run keeps."""
    return [f"spirals/{planned.name}.{kind}" for kind in ("commit", "lock", "safetensors")]


def numbers(record: records.Record) -> tuple:
    """What must not depend on interruptions: everything but the clock."""
    clock = ("seconds", "tokens_per_second")
    return record.metrics, [{k: v for k, v in entry.items() if k not in clock} for entry in record.history]


# One run ------------------------------------------------------------------------------------------------------------


def test_run_from_the_command_line(capsys):
    assert main(["run", "spirals", *SET, "--seeds", "0"]) == 0
    out = capsys.readouterr().out
    path = planned().path
    assert str(path) in out and "already" not in out
    record = records.load(path)
    assert files("ROMAE_RESULTS") == [f"spirals/{path.stem}.json", f"spirals/{path.stem}.npz"]
    assert files("ROMAE_CHECKPOINTS") == []  # done, so nothing to resume
    exp = Spirals.paper().replace(**TINY)
    assert (record.experiment, record.preset, record.seed, record.config) == ("spirals", "paper", 0, exp.config())
    assert record.tier == "reduced"  # settings that matter were changed
    assert record.parameters == count_parameters(exp.build(0))
    assert record.history[-1]["step"] == 12 and record.history[-1]["epoch"] == 3
    assert re.fullmatch(r"content:[0-9a-f]{64}|[0-9a-f]{40}\+?", record.commit)
    assert record.data_fingerprint == provenance.fingerprint(exp.data(0)) != provenance.fingerprint(exp.data(1))
    assert record.deviations == list(Spirals.deviations)
    assert record.versions["torch"].split("+")[0] == torch.__version__.split("+")[0]
    assert record.wall_seconds > 0 and record.peak_memory_mb > 50 and record.tokens_per_second > 0
    ours = ("rmse_clean", "rmse_noisy", "rmse_authors")
    for key in (*ours, "rmse_clean_bayes", "rmse_noisy_spline", "rmse_clean_lstsq"):
        assert math.isfinite(record.metrics[key])
        assert f"{key:<24} {record.metrics[key]:.4f}" in out
    assert record.metrics["rmse_clean_bayes"] < record.metrics["rmse_clean"]
    arrays = records.load_arrays(path.with_suffix(".npz"))
    assert set(arrays) == {"theta", "chirality", "clean", "noisy", "order", "counts", "romae", "bayes"}
    assert path.with_suffix(".npz").stat().st_size <= 200_000

    # the record's own command repeats it, and finds it there
    words = record.command.split()
    assert words[:3] == ["python", "-m", "romae_lite"]
    written = path.stat().st_mtime_ns
    assert main(words[3:]) == 0
    assert "already recorded" in capsys.readouterr().out
    assert path.stat().st_mtime_ns == written


def test_same_seed_same_numbers_and_force_runs_again(no_arrays, capsys):
    first = runs.run(planned())
    other = runs.run(planned(seed=1))
    assert numbers(first) != numbers(other)
    written = planned().path.stat().st_mtime_ns
    assert main(["run", "spirals", *SET, "--force"]) == 0
    assert planned().path.stat().st_mtime_ns != written
    assert numbers(records.load(planned().path)) == numbers(first)


def test_record_made_with_other_settings_is_not_passed_off(no_arrays, capsys):
    runs.run(planned())
    path = planned().path
    content = json.loads(path.read_text())
    content["config"]["lr"] = 0.5
    path.write_text(json.dumps(content))
    assert main(["run", "spirals", *SET]) == 2
    message = capsys.readouterr().err
    assert path.name in message and "its config has lr = 0.5" in message and "--force" in message
    assert main(["run", "spirals", *SET, "--force"]) == 0
    assert records.load(path).config["lr"] == 3e-4


def test_corrupt_record_is_named_not_used(no_arrays, capsys):
    path = planned().path
    path.parent.mkdir(parents=True)
    path.write_text('{"schema": 1')
    assert main(["run", "spirals", *SET]) == 2
    assert path.name in capsys.readouterr().err
    assert path.read_text() == '{"schema": 1'


def test_stopped_and_started_again_equals_uninterrupted(no_arrays, tmp_path, monkeypatch):
    whole = runs.run(planned())
    planned().path.unlink()
    steps = iter(range(1, 100))
    with pytest.raises(Interrupted, match="stopped after step 7 of 12"):
        runs.run(planned(), stop=lambda: next(steps) == 7)
    assert files("ROMAE_CHECKPOINTS") == left(planned())
    asked = []
    again = runs.run(planned(), stop=lambda: asked.append(1))
    assert len(asked) == 12 - 7  # it did go on, not start afresh
    assert numbers(again) == numbers(whole)
    assert files("ROMAE_CHECKPOINTS") == []


def test_damaged_checkpoint_is_refused_by_name(no_arrays, capsys):
    planned().checkpoint.parent.mkdir(parents=True)
    planned().checkpoint.write_bytes(b"not a checkpoint")
    assert main(["run", "spirals", *SET]) == 2
    message = capsys.readouterr().err
    assert planned().checkpoint.name in message and "delete it" in message
    assert files("ROMAE_RESULTS") == []


def test_two_processes_do_not_run_the_same(no_arrays, capsys):
    with runs._lock(planned()):
        assert main(["run", "spirals", *SET]) == 2
        assert "another process is at work" in capsys.readouterr().err
        assert runs.run(planned(seed=1))  # another run is free
    assert main(["run", "spirals", *SET]) == 0
    with runs._lock(planned()), pytest.raises(runs.Busy):
        runs.rescore(planned())


def test_an_old_record_comes_back_where_the_new_one_cannot_be_written(no_arrays, monkeypatch):
    """With --force there is one: it and its arrays go out of the way before new ones come (kills: test_kills)."""
    numbers = iter((1, 2))
    monkeypatch.setattr(Spirals, "arrays", lambda *_: {"a": [next(numbers)]})
    path = planned().path
    first = runs.run(planned())

    def stopped(*_, **__):
        assert records.load_arrays(path.with_suffix(".npz"))["a"] == 2 and not path.exists()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(records.Record, "save", stopped)
        runs.run(planned(), force=True)
    assert records.load(path) == first and first.arrays["a"] == 1 and planned().checkpoint.exists()


def test_weights_of_a_record_that_was_made_again_are_gone(no_arrays, monkeypatch):
    monkeypatch.setattr(runs, "_save_weights", lambda model, path: path.write_bytes(b"1") and "0" * 64)
    assert runs.run(planned(), keep_weights=True).weights
    assert runs.run(planned(), force=True).weights is None
    assert not planned().path.with_suffix(".safetensors").exists()


def test_a_run_begun_by_uncommitted_code_says_so(no_arrays, monkeypatch):
    """However clean the code is that it goes on with."""
    monkeypatch.setattr(provenance, "loaded_commit", lambda: "a" * 40 + "+")
    with pytest.raises(Interrupted):
        runs.run(planned(), stop=lambda: True)
    monkeypatch.setattr(provenance, "loaded_commit", lambda: "b" * 40)
    assert runs.run(planned()).commit == "b" * 40 + "+"
    assert runs.run(planned(), force=True).commit == "b" * 40  # all of it is made anew


def test_a_checkpoint_of_other_numerics_is_refused(no_arrays, monkeypatch):
    with pytest.raises(Interrupted):
        runs.run(planned(), stop=lambda: True)
    monkeypatch.setattr(training, "NUMERICS", training.NUMERICS + 1)
    with pytest.raises(training.CheckpointError):
        runs.run(planned())


def test_results_that_cannot_be_written_are_refused_before_training(no_arrays, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(Spirals, "train", None)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "spirals").write_text("")
    for results in ("results", "results/spirals", "/proc/nothing", "/dev/null"):
        monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / results))
        assert main(["run", "spirals", *SET]) == 2
        assert f"cannot write to {tmp_path / results}/spirals" in capsys.readouterr().err.replace("//", "/")
    assert files("ROMAE_CHECKPOINTS") == []


def test_weights_are_kept_when_asked(no_arrays, monkeypatch, capsys):
    def save(model, path, *, half):
        assert half
        safetensors.torch.save_file({name: t.half() for name, t in model.state_dict().items()}, path)

    monkeypatch.setattr(romae_lite, "save", save, raising=False)
    assert main(["run", "spirals", *SET]) == 0
    assert records.load(planned().path).weights is None
    assert main(["run", "spirals", *SET, "--keep-weights"]) == 2
    assert "without its weights; --force" in capsys.readouterr().err
    assert main(["run", "spirals", *SET, "--keep-weights", "--force"]) == 0
    path = planned().path.with_suffix(".safetensors")
    assert records.load(planned().path).weights == hashlib.sha256(path.read_bytes()).hexdigest()
    kept = sum(t.numel() for t in safetensors.torch.load_file(path).values())
    assert kept == count_parameters(planned().build().build(0))
    assert len(records.load_all().records) == 1


@pytest.mark.slow
def test_two_processes_train_one_run(tmp_path):
    """As one would, up to rounding: without masks and class weights, which differ between processes, the mean over
    two halves of a batch is that over the batch. One evaluates, prints and writes; the record says that they were two,
    and its command repeats it."""
    changes = dict(encoder="16x2x1x32", decoder="16x2x1x32", n_train=64, n_test=80, epochs=1, pretrain_epochs=0,
                   batch=16, balanced=False)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m", "romae_lite"]
    command += [*sets("elasticc", *(f"{k}={v}" for k, v in changes.items()), preset="quick"), "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (record,) = records.load_all().records
    assert record.processes == 2 and record.command.startswith("accelerate launch --num_processes 2 -m romae_lite run")
    assert done.stdout.count("f1_macro ") == 1 and files("ROMAE_CHECKPOINTS") == []
    exp = record.planned.build()
    _, history = exp.train(exp.data(0), 0, device="cpu")
    # float32 sums in another order, a few steps of Muon
    assert [e["loss"] for e in record.history] == pytest.approx([e["loss"] for e in history], rel=1e-3)


def test_fingerprint_sees_labels_and_masks():
    exp = Spirals.paper().replace(**TINY)
    data, other = exp.data(0), exp.data(0)
    assert provenance.fingerprint(data) == provenance.fingerprint(other)
    assert provenance.fingerprint(data).startswith("v2:")
    other.test.aux["hidden"][0] ^= True
    assert provenance.fingerprint(data) != provenance.fingerprint(other)
    assert provenance.fingerprint(data, labels=False) == provenance.fingerprint(other, labels=False)


def test_fingerprints_of_older_records_are_still_understood():
    """Those were made of values, positions and padding alone. The data of this one are generated."""
    record = records.load(ROOT / "results" / "synthetic" / "paper-grid=from-zero-shared_seed=true-s0.json")
    data = record.planned.build().data(record.seed)
    assert record.data_fingerprint == provenance.fingerprint(data, labels=False)


def test_full_disk_is_said_and_leaves_no_record(no_arrays, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert main(["run", "spirals", *SET]) == 2
    assert "could not write" in capsys.readouterr().err
    assert files("ROMAE_RESULTS") == []
    assert main(["run", "spirals", *SET]) == 0


TIERS = {
    "paper": [
        "spirals paper", f"spirals paper epochs={Spirals.paper().epochs}",  # no change
        "position paper", "position paper cls=False size=base", "uea paper dataset=LSST",  # which the paper varies
    ],
    "reduced": [
        "spirals paper precision=bf16",  # the paper's tables say FP32
        "spirals paper epochs=400", "position paper epochs=3", "position paper values=distinct",
        "uea paper dataset=Heartbeat folds=5",  # never compared with Table 6
        "uea paper dataset=BasicMotions embedding=fresh",
    ],
    "own": [
        "spirals best", "spirals best precision=bf16",  # speed, not protocol
        "position control", "position best", "uea best dataset=LSST",
    ],
    "ablation": ["spirals best lr=0.1"],
    "smoke": ["spirals quick", "spirals quick epochs=50", "position quick", "position quick epochs=3", "uea quick"],
}


@pytest.mark.parametrize("words", [words for case in TIERS.values() for words in case])
def test_tiers(words):
    experiment, preset, *changes = words.split()
    plan = Planned(experiment=experiment, preset=preset, seed=0, overrides=tuple(map(assignment, changes)))
    assert words in TIERS[plan.tier]


def test_a_number_has_one_spelling():
    one, other = (Planned(experiment="spirals", preset="best", seed=0, overrides=(("clip", v),)) for v in (3, 3.0))
    assert one == other and one.path == other.path and one.command == other.command
    assert type(one.build().clip) is float


def test_commit_or_content_is_stable_and_traceable(tmp_path, monkeypatch):
    assert provenance.commit() == provenance.commit()
    copy = tmp_path / "elsewhere" / "romae_lite"  # in no repository: a hash of the files, which a changed file changes
    copy.mkdir(parents=True)
    (copy / "model.py").write_text("x = 1\n")
    monkeypatch.setattr(provenance, "ROOT", copy.parent)
    before = provenance.commit()
    (copy / "model.py").write_text("x = 2\n")
    assert re.fullmatch(r"content:[0-9a-f]{64}", before) and provenance.commit() != before


# Campaigns ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_campaign(no_arrays, monkeypatch):
    """Two presets that take a second each, in place of the real ones."""
    monkeypatch.setattr(Spirals, "paper", classmethod(lambda cls: cls(**TINY)))
    monkeypatch.setattr(Spirals, "quick", classmethod(lambda cls: cls(**TINY | {"epochs": 1})))
    monkeypatch.setattr(Spirals, "campaign", (("paper", 2), ("quick", 1)))
    monkeypatch.setattr(queue, "QUEUE", ())
    monkeypatch.setattr(queue, "open_rows", lambda names=None: [])
    monkeypatch.setattr(campaign, "experiments", lambda only={"spirals": Spirals}: only)


def test_campaign_does_what_is_missing(small_campaign, capsys):
    assert [p.name for p in campaign.missing()] == ["paper-s0", "paper-s1", "quick-s0"]
    runs.run(Planned(experiment="spirals", preset="paper", seed=0))
    assert main(["campaign", "--budget", "10m"]) == 0
    out = capsys.readouterr().out
    assert "spirals paper-s0" not in out and "spirals paper-s1" in out and "2 recorded, 0 still missing" in out
    first, second, third, *_ = out.splitlines()  # before it starts
    assert re.fullmatch(r"spirals paper, seeds 1: about [0-9.]+ min each", first)
    assert second == "spirals quick, seeds 0: never run before" and third.startswith("2 runs are missing. Those of ")
    assert files("ROMAE_RESULTS") == [f"spirals/{n}.json" for n in ("paper-s0", "paper-s1", "quick-s0")]
    assert records.load(Path(os.environ["ROMAE_RESULTS"]) / "spirals/paper-s1.json").tier == "paper"
    assert main(["campaign", "spirals"]) == 0
    assert "0 recorded, 0 still missing" in capsys.readouterr().out


def test_a_queue_comes_first(small_campaign, monkeypatch):
    """In its own order, and nothing twice; only what the names ask for."""
    wishes = (Wish("spirals", "quick", 2, 0.1, ""), Wish("spirals", "paper", 1, 0.1, "", {"lr": 0.5}))
    monkeypatch.setattr(queue, "QUEUE", wishes)
    names = [p.name for p in queue.missing()]
    assert names == ["quick-s0", "quick-s1", "paper-lr=0.5-s0", "paper-s0", "paper-s1"]
    assert [p.name for p in queue.missing(["spirals"])] == names
    monkeypatch.setattr(Spirals, "campaign", ())
    with pytest.raises(ValueError, match="spirals asks for no runs"):
        queue.missing(["spirals"])


def test_what_is_queued_exists_and_older_arithmetic_is_made_again(small_campaign, monkeypatch):
    wish = Wish("spirals", "quick", 1, 0.1, "")
    record = runs.run(wish.plans[0], device="cpu")
    monkeypatch.setattr(queue, "QUEUE", (wish,))
    assert [p.name for p in queue.missing()] == ["paper-s0", "paper-s1"]
    text = json.loads(record.path.read_text())
    record.path.write_text(json.dumps(text | {"versions": text["versions"] | {"numerics": "1"}}))
    assert [p.name for p in queue.missing()] == ["quick-s0", "paper-s0", "paper-s1"]
    told = []
    campaign.campaign(lambda: campaign.unrecorded(wish.plans, today=True), report=told.append, device="cpu")
    assert told == ["spirals quick-s0, whose record is of older arithmetic"]
    assert records.load_sound(record.path).numerics == training.NUMERICS and queue.missing()[0].name == "paper-s0"


def test_a_gpu_first_fills_what_nobody_has_tested(tmp_path, monkeypatch):
    """The queue's own settings exist, and a budget of an hour says which claims it fills, before it starts."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    plans = [plan for wish in queue.QUEUE for plan in wish.plans]  # a setting that is none would be refused
    rows = queue.open_rows()
    assert rows and queue.missing(gpu=True)[: len(rows[0].plans)] == rows[0].plans
    assert queue.missing()[0] == plans[0]
    lines = list(queue.announce_rows(None, 3600.0, gpu=True))
    filled = [line for line in lines if line.endswith("will be filled")]
    assert len(lines) == len(rows) + 1 and any("speed: 3 runs, 15 min" in line for line in filled)
    assert not any("light curves" in line for line in filled)
    (speed,) = (row for row in rows if row.step.statement.id == "speed")
    for p in speed.plans:
        made_up_record(p.experiment, p.preset, p.seed, dict(p.overrides), tmp_path, metrics={"relative_speed": 0.9})
    assert "speed" not in {row.step.statement.id for row in queue.open_rows()}


def test_a_record_in_another_precision_is_not_missing(small_campaign):
    """Of the settings only `neutral` ones may differ: bfloat16 is the same protocol, another learning rate is not. Only
    the paper's own protocol is one in float32."""
    open_ = ["paper-s0", "paper-s1", "quick-s0"]
    bf16 = ("precision", "bf16")
    for preset, change, left in (("quick", ("lr", 0.5), open_), ("paper", bf16, open_), ("quick", bf16, open_[:2])):
        runs.run(Planned(experiment="spirals", preset=preset, seed=0, overrides=(change,)), device="cpu")
        assert [p.name for p in campaign.missing()] == left


def test_baselines_are_renewed_without_training(small_campaign, monkeypatch):
    planned = Planned(experiment="spirals", preset="paper", seed=0)
    with pytest.raises(FileNotFoundError):
        runs.rescore(planned)
    before = runs.run(planned)
    monkeypatch.setattr(Spirals, "train", None)
    monkeypatch.setattr(Spirals, "compare", lambda *_: {"rmse_clean_new": 0.5})
    monkeypatch.setattr(Spirals, "compared", lambda *_: {"theirs": np.arange(3)})
    records.save_arrays(planned.path.with_suffix(".npz"), ours=np.ones(2))
    assert main(["run", "spirals", "--preset", "paper", "--baselines"]) == 0
    after = records.load(planned.path)
    assert after.metrics == before.metrics | {"rmse_clean_new": 0.5}
    assert {name: value.tolist() for name, value in after.arrays.items()} == {"ours": [1, 1], "theirs": [0, 1, 2]}
    assert after.versions == before.versions | {"baselines": provenance.commit()}
    assert (after.history, after.commit, after.created) == (before.history, before.commit, before.created)
    monkeypatch.setattr(provenance, "fingerprint", lambda *_, **__: "other")
    with pytest.raises(runs.Stale, match="other data"):
        runs.rescore(planned)
    monkeypatch.setattr(Spirals, "paper", classmethod(lambda cls: cls(**TINY | {"lr": 0.5})))
    with pytest.raises(runs.Stale, match="its config has lr = 0.0003, but its command makes 0.5"):
        runs.rescore(planned)


def test_campaign_stops_in_time_and_goes_on(small_campaign, monkeypatch):
    """A clock that moves one second whenever it is asked: once before each run and after each step."""
    ticks = iter(range(10**6))
    with monkeypatch.context() as patched:
        patched.setattr(campaign, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
        said = []
        done = campaign.campaign(budget=20, report=said.append)
    assert [record.seed for record in done] == [0]
    assert any("paper-s1: stopped after step" in line and "call again" in line for line in said)
    assert files("ROMAE_CHECKPOINTS") == left(Planned(experiment="spirals", preset="paper", seed=1))
    assert [p.name for p in campaign.missing()] == ["paper-s1", "quick-s0"]
    logged = []
    campaign.campaign(report=lambda _: None, log=lambda: logged.append)
    assert logged[0]["step"] > 1  # from the checkpoint
    resumed = records.load(Planned(experiment="spirals", preset="paper", seed=1).path)
    Planned(experiment="spirals", preset="paper", seed=1).path.unlink()
    assert numbers(runs.run(Planned(experiment="spirals", preset="paper", seed=1))) == numbers(resumed)


def test_campaign_without_time_does_nothing(small_campaign):
    assert campaign.campaign(budget=0, report=print) == []
    assert files("ROMAE_RESULTS") == []


def test_campaign_passes_over_what_cannot_go_on(small_campaign):
    first, second = (Planned(experiment="spirals", preset="paper", seed=s) for s in range(2))
    first.checkpoint.parent.mkdir(parents=True)
    first.checkpoint.write_bytes(b"damaged")
    said = []
    with runs._lock(second):
        done = campaign.campaign(report=said.append)
    assert [record.preset for record in done] == ["quick"]
    passed = [line for line in said if line.startswith("passed over")]
    assert len(passed) == 2 and str(first.checkpoint) in passed[0] and second.name in passed[1]


@pytest.mark.parametrize(
    "error",
    [IndexError("out of bounds"), MemoryError(), ModuleNotFoundError("no sklearn"), FileNotFoundError("no data")],
)
def test_no_failure_ends_a_campaign(small_campaign, monkeypatch, error, capsys):
    def data(self, seed, whole=Spirals.data):
        if self.epochs == 3 and seed == 0:
            raise error
        return whole(self, seed)

    monkeypatch.setattr(Spirals, "data", data)
    assert main(["campaign", "--debug", "--quiet"]) == 1  # a job that looks at nothing else sees that one failed
    out = capsys.readouterr().out
    assert f"passed over: spirals paper-s0: {runs.explain(error)}" in out and "Traceback" in out
    assert "2 recorded, 1 still missing" in out


def test_a_campaign_does_what_its_own_runs_have_made_possible(small_campaign):
    """The list of wishes is asked again after every run."""
    first, later = (Planned(experiment="spirals", preset="quick", seed=seed) for seed in (0, 1))
    wanted = lambda: [p for p in (first, later) if p is first or first.path.exists()]  # noqa: E731
    made = campaign.campaign(wanted, report=lambda _: None)
    assert [record.seed for record in made] == [0, 1]


def test_a_run_names_the_commit_of_the_code_that_its_process_has_loaded(monkeypatch):
    monkeypatch.setattr(provenance, "commit", lambda: "a" * 40)
    provenance.loaded_commit.cache_clear()
    assert provenance.loaded_commit() == "a" * 40
    monkeypatch.setattr(provenance, "commit", lambda: "b" * 40)  # somebody commits meanwhile
    assert provenance.loaded_commit() == "a" * 40
    provenance.loaded_commit.cache_clear()


@pytest.mark.slow
@pytest.mark.weekly  # what a lock does, and two jobs that are stopped, are seen in every run
def test_two_jobs_share_a_campaign():
    """Each takes the next run that is missing; locks keep them off each other's."""
    command = [sys.executable, "-m", "romae_lite", "campaign", "sizes", "--jobs", "2"]
    environment = {"OMP_NUM_THREADS": "1"} | os.environ
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "0 still missing" in done.stdout.splitlines()[-1] and "Traceback" not in done.stderr
    loaded = records.load_all()
    assert {r.config["size"] for r in loaded.records} == set(SIZES) and not loaded.problems
    assert files("ROMAE_CHECKPOINTS") == []


def test_jobs_stop_with_the_one_that_started_them(tmp_path):
    """SIGTERM, as Ctrl-C, reaches the jobs; each says that it was stopped."""
    command = [sys.executable, "-m", "romae_lite", "campaign", "spirals", "--jobs", "2", "--device", "cpu"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) as job:
        while "runs are missing" not in job.stdout.readline():
            pass
        started = []  # both are at work: what will be done is said before
        while len(started) < 2:
            line = job.stdout.readline()
            started += [line] * bool(re.match(r"spirals \S+-s\d|passed", line))
        job.send_signal(signal.SIGTERM)
        _, said = job.communicate(timeout=60)
    assert job.returncode == 143
    assert said.count("stopped; call again to go on") == 3 and "Traceback" not in said


def test_campaign_passes_over_a_run_that_diverges(small_campaign, monkeypatch):
    loss = Spirals.loss
    monkeypatch.setattr(
        Spirals, "loss", lambda self, *rest: loss(self, *rest) * (math.nan if self.epochs == 3 else 1.0)
    )
    said = []
    done = campaign.campaign(report=said.append)
    assert [record.preset for record in done] == ["quick"]
    assert sum("passed over" in line and "loss is nan" in line for line in said) == 2


def test_a_baseline_whose_library_is_missing_costs_no_run(monkeypatch):
    """Whoever has trained for hours without scikit-learn gets the record, without the learned baseline."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    exp = experiments()["physionet"].quick().replace(patients=20)
    monkeypatch.setattr(sys.modules["romae_book.experiments.physionet.experiment"], "find_spec", lambda _: None)
    found = exp.compare(exp.data(0))
    assert found and not any(key.endswith("_boosted") for key in found)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets")
def test_peak_memory_is_that_of_one_run():
    """In a process of its own, whose memory nobody else has filled. In small pieces and for the third time too, when
    the allocator has learnt to keep what is freed."""
    code = (
        "import torch; from romae_book.experiments import machine as runs; cpu = torch.device('cpu')\n"
        "for pieces in (1, 100, 100):\n"
        "    runs.reset_peak_memory(); before = runs.peak_memory_mb(cpu)\n"
        "    large = [torch.ones(100 // pieces, 2**18) for _ in range(pieces)]; last = torch.ones(1, 2**18)\n"
        "    print(runs.peak_memory_mb(cpu) - before); del large\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert all(50 < float(line) < 150 for line in done.stdout.split()), done.stderr  # 100 MiB
    assert len(done.stdout.split()) == 3


def test_a_system_that_does_not_tell_its_memory_leaves_a_record(small_campaign, monkeypatch):
    """Windows has neither /proc nor a module `resource`."""
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.setattr(machine, "STATUS", Path("/nowhere"))
    assert runs.run(Planned(experiment="spirals", preset="quick", seed=0), device="cpu").peak_memory_mb == 0


def test_corrupt_record_is_missing_and_said_so(small_campaign):
    """A campaign neither counts it as done nor writes over it."""
    path = Planned(experiment="spirals", preset="paper", seed=0).path
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert "paper-s0" in [p.name for p in campaign.missing()]
    said = []
    campaign.campaign(report=said.append)
    assert any("passed over" in line and "paper-s0.json" in line for line in said)
    assert path.read_text() == "{}"


# The command line ---------------------------------------------------------------------------------------------------


def test_list(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "spirals" in out and "paper" in out and "quick" in out
    assert main(["list", "spirals"]) == 0
    out = capsys.readouterr().out
    for name, default in Spirals.paper().config().items():
        assert re.search(rf"^{name} +{re.escape(repr(default))} ", out, re.MULTILINE), name


def sets(experiment: str, *changes: str, preset: str = "paper") -> list[str]:
    return ["run", experiment, "--preset", preset, *(word for change in changes for word in ("--set", change))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "spiral"], "experiment is 'spiral'; choose one of waves, sizes"),
        (["run", "spirals", "--preset", "papr"], "preset is 'papr'; spirals has paper"),
        (["list", "spiral"], "experiment is 'spiral'"),
        (["campaign", "spiral"], "experiment is 'spiral'"),
        (["campaign", "spiral", "--jobs", "2"], "experiment is 'spiral'"),
        pytest.param(
            ["campaign", "--device", "cuda"], "device is 'cuda', and there is no Nvidia GPU here",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is one"),
        ),
        (["run", "spirals", "--baselines"], "paper-s0.json, so no baselines to renew: run it first"),
        (sets("spirals", "epohcs=5"), "'epohcs' is no setting of spirals"),
        (sets("spirals", "epochs=many"), "epochs is 'many'; it must be int"),
        (sets("spirals", "epochs=0"), "epochs is 0; it must be at least 1"),
        (sets("spirals", "epochs=1", "epochs=2"), "epochs is set 2 times"),
        (sets("spirals", "epochs=1_0"), "epochs is '1_0'; it must be int"),
        (sets("spirals", "epochs=٣"), "epochs is '٣'; it must be int"),
        (sets("spirals", "epochs=" + "[" * 5000), "epochs is '["),
        (sets("spirals", "n_train=1000000000000"), "n_train is 1000000000000; it must be at most 10,000,000"),
        (sets("frequencies", "observed=100"), "observed is 100; it must be below the length, 100"),
        (sets("uea", "source=simulated", "dataset=LSST"), "only BasicMotions"),
        (sets("uea", "valid_share=0.4"), "valid_share is 0.4"),
        (sets("position", "low=50.0"), "low is 50.0; it must be below high, which is 50.0"),
        (sets("tiny_imagenet", "side=60"), "side is 60; it must be a multiple of patch_side"),
        (sets("tiny_imagenet", "side=16"), "hiding patches takes two at least"),
        (sets("tiny_imagenet", "per_class=501"), "per_class is 501"),
        (sets("tiny_imagenet", "n_classes=11", preset="quick"), "n_classes is 11; with source 'simulated'"),
        (sets("tiny_imagenet", "per_class=6", "valid_per_class=6", preset="quick"), "it must be below per_class, 6"),
        (sets("tiny_imagenet", "cls=False"), "pool 'cls'"),
        (sets("spirals", "encoder=huge"), "encoder is 'huge', but size is 'huge'; choose one of tiny"),
        (sets("spirals", "encoder=10x3x1x1"), "encoder is '10x3x1x1', but dim is 10"),
        (sets("spirals", "decoder=1000000x2x1x4"), "decoder is '1000000x2x1x4'; it has 4.0e+12 weights"),
        (sets("physionet", "decoder=6x3x1x1"), "head_dim of the decoder is 2; 2 axes"),
        (sets("spirals", "mask_ratio=0.95"), "mask_ratio is 0.95; five of 75 points must be shown"),
        (sets("spirals", "weight_decay=1e308"), "weight_decay is 1e+308 and lr 0.0003"),
        (sets("uea", "pretrain_weight_decay=1e9"), "pretrain_weight_decay is 1000000000.0 and pretrain_lr"),
        (sets("uea", "dataset=['x']"), "dataset is ['x']; it must be str"),
        (sets("uea", "rows=['x']"), "rows is ['x']; it must be str"),
        (sets("uea", "cls=False"), "cls is False, but pool 'cls'"),
        (sets("pendulum", "encoder=7x1x1x1"), "encoder is '7x1x1x1'"),
        (sets("pendulum", "cls=False"), "cls is False, but readout 'cls'"),
        (sets("position", "low=-1e308", "high=1e308"), "low is -1e+308; it must be in [-1e+09, 1e+09]"),
        (sets("position", "high=1e8", "position_scale=1e6"), "position_scale is 1000000.0; positions reach beyond"),
        (sets("position_range", "low=-5", "high=0"), "high is 0.0; sgd's learning rate"),
        (sets("position_range", "low=-5", "high=-1"), "high is -1.0; sgd's learning rate"),
    ],
)
def test_what_cannot_be_run_is_named_before_it_is_tried(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(training, "fit", None)
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert files("ROMAE_RESULTS") == files("ROMAE_CHECKPOINTS") == []


def test_any_error_is_one_line_and_debug_shows_where(monkeypatch, capsys):
    """Nothing leaves the command line as a traceback, whatever it is."""
    for error in (IndexError("a\nb"), MemoryError(), OverflowError("x"), ZeroDivisionError(), RuntimeError("z")):
        monkeypatch.setattr(runs, "run", lambda *_, error=error, **__: (_ for _ in ()).throw(error))
        assert main(["run", "spirals"]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and (type(error).__name__ in said or "out of memory" in said)
        with pytest.raises(type(error)):
            main(["run", "spirals", "--debug"])


SMALLEST = dict(encoder="8x1x1x8", decoder="8x1x1x8", epochs=1)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("spirals", SMALLEST | dict(n_train=2, n_valid=1, n_test=100, mask_ratio=0.9333, irregular=True)),
        ("frequencies", SMALLEST | dict(n_train=1, n_valid=1, n_test=1, per_group=1, observed=1)),
        ("physionet", SMALLEST | dict(patients=20, mask_ratio=0.98)),
        ("elasticc", SMALLEST | dict(n_train=20, n_test=20, per_band=2, alert_mask=True)),
        ("uea", SMALLEST | dict(source="simulated", dropped=0.9, mask_ratio=0.98, pretrain_epochs=1)),
        ("position", dict(size="8x1x1x8", epochs=1, n_train=1, n_valid=1, n_test=1, tokens=1, low=-1e9, high=1e9)),
        ("pendulum", dict(encoder="8x1x1x8", epochs=1, n_train=2, n_valid=1, n_test=1, keep_frames=2)),
    ],
)
def test_what_is_accepted_leaves_a_record(name, settings):
    """The ends of what settings accept: nothing is found out after the training."""
    plan = Planned(experiment=name, preset="quick", seed=0, overrides=tuple(settings.items()))
    assert runs.run(plan, device="cpu") == records.load_sound(plan.path)


def test_sigterm_says_a_word(monkeypatch, capsys):
    monkeypatch.setattr(runs, "run", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    assert main(["run", "spirals"]) == 143
    assert capsys.readouterr().err == "romae_lite: stopped; call again to go on from the last checkpoint\n"
    monkeypatch.setattr(runs, "run", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        assert main(["run", "spirals"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", ["abc", "", "2"])
def test_a_world_size_that_no_launcher_set_is_named(monkeypatch, capsys, number):
    """torchrun or SLURM may leave it in the environment."""
    monkeypatch.setenv("WORLD_SIZE", number)
    assert main(["run", "spirals", *SET]) == 2
    assert f"WORLD_SIZE is {number!r}, and LOCAL_RANK not set" in capsys.readouterr().err
    assert files("ROMAE_CHECKPOINTS") == []


def test_a_rank_that_no_launcher_set_silences_nothing(monkeypatch, capsys):
    monkeypatch.setenv("RANK", "1")
    assert main(["list"]) == 0 and "spirals" in capsys.readouterr().out
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert main(["list"]) == 0 and not capsys.readouterr().out


def test_a_missing_folder_or_a_file_in_its_place_is_no_empty_scoreboard(monkeypatch, tmp_path, capsys):
    assert main(["report", "spirals"]) == 0
    assert "there is no folder" in capsys.readouterr().err
    (tmp_path / "results").write_text("")
    assert main(["report", "spirals"]) == 2
    assert "is a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "spirals", "--seeds", "4-0"], "runs backwards"),
        (["run", "spirals", "--seeds", "one"], "write seeds as"),
        (["run", "spirals", "--seeds", "٣"], "write seeds as"),
        (["run", "spirals", "--seeds", "0-9999999999"], "are 10000000000 runs; at most 1000"),
        (["run", "spirals", "--set", "epochs"], "write NAME=VALUE"),
        (["campaign", "--budget", "soon"], "write a budget as"),
        (["campaign", "--budget", "٣s"], "write a budget as"),
        (["campaign", "--jobs", "0"], "write a number of jobs"),
        (["train"], "invalid choice"),
        ([], "required"),
    ],
)
def test_wrong_words_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_words():
    assert seeds("0-4") == [0, 1, 2, 3, 4] and seeds("7") == [7] and seeds("0,2,5-6") == [0, 2, 5, 6]
    assert (seconds("90s"), seconds("60m"), seconds("1.5h")) == (90, 3600, 5400)
    assert assignment("epochs=50") == ("epochs", 50) and assignment("lr=1e-3") == ("lr", 1e-3)
    assert assignment("encoder=tiny") == ("encoder", "tiny") and assignment("clip=None") == ("clip", None)
    assert assignment("encoder=16x2x1x24") == ("encoder", "16x2x1x24")


def test_settings_may_be_spelt_as_names_of_records_spell_them():
    """Of a setting that takes words, "true" is one; its file is the same however it was written."""
    for experiment, preset, as_words, as_values in (
        ("position", "paper", (("cls", "false"),), (("cls", False),)),
        ("pendulum", "paper", (("clip", "null"), ("pixels", "true")), (("clip", None), ("pixels", "true"))),
    ):
        plans = [Planned(experiment=experiment, preset=preset, seed=0, overrides=o) for o in (as_words, as_values)]
        assert plans[0] == plans[1] and plans[0].path == plans[1].path
    assert str(plans[0].path).endswith("paper-clip=null-pixels=true-s0.json")
    with pytest.raises(TypeError, match="epochs is 'true'; it must be int"):
        planned(epochs="true")


def test_names_of_runs_are_their_files():
    assert planned().path == record_path("spirals", "paper", TINY, 0)
    assert Planned(experiment="spirals", preset="paper", seed=3).path.name == "paper-s3.json"

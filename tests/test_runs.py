"""Runs, campaigns and the command line, from the outside, with models that train in a second."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from conftest import NAMES

from romae_lite.lab import records, runs
from romae_lite.lab.commands import assignment, main, seconds, seeds
from romae_lite.lab.runs import Planned
from romae_lite.lab.subjects import EXPERIMENTS
from romae_lite.model import count_parameters
from romae_lite.spirals.experiment import Spirals
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
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.suffix != ".lock")


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
    assert record.data_fingerprint == runs.fingerprint(exp.data(0)) != runs.fingerprint(exp.data(1))
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
    assert path.name in message and "other settings" in message and "--force" in message
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
    assert files("ROMAE_CHECKPOINTS") == [f"spirals/{planned().name}.safetensors"]
    asked = []
    again = runs.run(planned(), stop=lambda: asked.append(1))
    assert len(asked) == 12 - 7  # it did go on, not start afresh
    assert numbers(again) == numbers(whole)
    assert files("ROMAE_CHECKPOINTS") == []


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
import torch
torch.set_num_threads(1)
from romae_lite import training
from romae_lite.__main__ import main
training.fit.__kwdefaults__["save_every"] = 0  # after every step, not every minute
save = training._save
def saved(path, state, *rest):
    save(path, state, *rest)
    if state.step == 7:
        os.kill(os.getpid(), signal.SIGKILL)
training._save = saved
main({arguments!r})
"""


def test_killed_and_started_again_equals_uninterrupted(no_arrays, capsys):
    """Half way, by SIGKILL; then the same command line again."""
    script = KILLED.format(root=str(ROOT), arguments=["run", "spirals", *SET])
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL
    assert files("ROMAE_RESULTS") == [] and files("ROMAE_CHECKPOINTS") == [f"spirals/{planned().name}.safetensors"]
    assert main(["run", "spirals", *SET]) == 0
    resumed = records.load(planned().path)
    planned().path.unlink()
    assert numbers(runs.run(planned())) == numbers(resumed)


def test_damaged_checkpoint_is_refused_by_name(no_arrays, capsys):
    planned().checkpoint.parent.mkdir(parents=True)
    planned().checkpoint.write_bytes(b"not a checkpoint")
    assert main(["run", "spirals", *SET]) == 2
    message = capsys.readouterr().err
    assert planned().checkpoint.name in message and "delete it" in message
    assert files("ROMAE_RESULTS") == []


def test_two_processes_do_not_run_the_same(no_arrays, capsys):
    with runs._locked(planned().checkpoint):
        assert main(["run", "spirals", *SET]) == 2
        assert "another process is at work" in capsys.readouterr().err
        with pytest.raises(runs.Busy):
            runs.rescore(planned())
        assert runs.run(planned(seed=1))  # another run is free
    assert main(["run", "spirals", *SET]) == 0


def test_full_disk_is_said_and_leaves_no_record(no_arrays, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert main(["run", "spirals", *SET]) == 2
    assert "could not write" in capsys.readouterr().err
    assert files("ROMAE_RESULTS") == []
    assert main(["run", "spirals", *SET]) == 0


@pytest.mark.parametrize(
    ("preset", "overrides", "tier"),
    [
        ("paper", {}, "paper"),
        ("paper", {"precision": "bf16"}, "paper"),  # speed, not protocol
        ("paper", {"epochs": 400}, "reduced"),
        ("paper", {"epochs": Spirals.paper().epochs}, "paper"),  # no change
        ("best", {}, "own"),
        ("best", {"lr": 0.1}, "ablation"),
        ("quick", {}, "smoke"),
        ("quick", {"epochs": 50}, "smoke"),
    ],
)
def test_tiers(preset, overrides, tier):
    run = Planned(experiment="spirals", preset=preset, seed=0, overrides=tuple(overrides.items()))
    assert run.tier(run.build()) == tier


def test_a_number_has_one_spelling():
    one, other = (Planned(experiment="spirals", preset="best", seed=0, overrides=(("clip", v),)) for v in (3, 3.0))
    assert one == other and one.path == other.path and one.command == other.command
    assert type(one.build().clip) is float


def test_commit_or_content_is_stable_and_traceable(tmp_path, monkeypatch):
    assert runs.commit() == runs.commit()
    copy = tmp_path / "elsewhere" / "romae_lite"  # in no repository: a hash of the files, which a changed file changes
    copy.mkdir(parents=True)
    (copy / "model.py").write_text("x = 1\n")
    monkeypatch.setattr(runs, "PACKAGE", copy)
    before = runs.commit()
    (copy / "model.py").write_text("x = 2\n")
    assert re.fullmatch(r"content:[0-9a-f]{64}", before) and runs.commit() != before


# Campaigns ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_campaign(no_arrays, monkeypatch):
    """Two presets that take a second each, in place of the real ones."""
    monkeypatch.setattr(Spirals, "paper", classmethod(lambda cls: cls(**TINY)))
    monkeypatch.setattr(Spirals, "quick", classmethod(lambda cls: cls(**TINY | {"epochs": 1})))
    monkeypatch.setattr(Spirals, "campaign", (("paper", 2), ("quick", 1)))
    monkeypatch.setattr(runs, "EXPERIMENTS", {"spirals": EXPERIMENTS["spirals"]})


def test_campaign_does_what_is_missing(small_campaign, capsys):
    assert [p.name for p in runs.missing()] == ["paper-s0", "paper-s1", "quick-s0"]
    runs.run(Planned(experiment="spirals", preset="paper", seed=0))
    assert main(["campaign", "--budget", "10m"]) == 0
    out = capsys.readouterr().out
    assert "spirals paper-s0" not in out and "spirals paper-s1" in out and "2 recorded, 0 still missing" in out
    assert files("ROMAE_RESULTS") == [f"spirals/{n}.json" for n in ("paper-s0", "paper-s1", "quick-s0")]
    assert records.load(Path(os.environ["ROMAE_RESULTS"]) / "spirals/paper-s1.json").tier == "paper"
    assert main(["campaign", "spirals"]) == 0
    assert "0 recorded, 0 still missing" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_commands_are_those_of_the_campaign(name, no_arrays):
    first, *lines, before_last, last = runs.commands(name).splitlines()
    planned = set()
    for line in lines:
        words = line.split()
        options = list(zip(words[5::2], words[6::2], strict=True))
        changes = tuple(assignment(value) for flag, value in options if flag == "--set")
        (preset,) = (value for flag, value in options if flag == "--preset")
        (numbers_,) = (seeds(value) for flag, value in options if flag == "--seeds")
        planned |= {Planned(experiment=words[4], preset=preset, seed=s, overrides=changes) for s in numbers_}
    assert planned == set(runs.missing([name]))
    assert (first, before_last, last) == (
        "# not run yet:", "# all that is missing:", f"python -m romae_lite campaign {name}",
    )  # fmt: skip


def test_commands_say_what_is_recorded(small_campaign):
    paper, quick = (
        f"python -m romae_lite run spirals --preset {p} --seeds {s}" for p, s in (("paper", "0-1"), ("quick", "0"))
    )
    missing = ["# all that is missing:", "python -m romae_lite campaign spirals"]
    runs.run(Planned(experiment="spirals", preset="paper", seed=1))
    said = runs.commands("spirals").splitlines()
    assert said == ["# recorded in part:", paper, "# not run yet:", quick, *missing]
    runs.run(Planned(experiment="spirals", preset="quick", seed=0))
    assert runs.commands("spirals").splitlines() == [quick, "# recorded in part:", paper, *missing]
    runs.run(Planned(experiment="spirals", preset="paper", seed=0))
    assert runs.commands("spirals").splitlines() == [paper, quick]


def test_a_record_in_another_precision_is_not_missing(small_campaign):
    """Of the settings only `neutral` ones may differ: bfloat16 is the same protocol, another learning rate is not."""
    open_ = ["paper-s0", "paper-s1", "quick-s0"]
    for change, left in ((("lr", 0.5), open_), (("precision", "bf16"), ["paper-s0", "quick-s0"])):
        runs.run(Planned(experiment="spirals", preset="paper", seed=1, overrides=(change,)), device="cpu")
        assert [p.name for p in runs.missing()] == left


def test_baselines_are_renewed_without_training(small_campaign, monkeypatch):
    planned = Planned(experiment="spirals", preset="paper", seed=0)
    with pytest.raises(FileNotFoundError):
        runs.rescore(planned)
    before = runs.run(planned)
    monkeypatch.setattr(Spirals, "train", None)
    monkeypatch.setattr(Spirals, "compare", lambda *_: {"rmse_clean_new": 0.5})
    assert main(["run", "spirals", "--preset", "paper", "--baselines"]) == 0
    after = records.load(planned.path)
    assert after.metrics == before.metrics | {"rmse_clean_new": 0.5}
    assert after.versions == before.versions | {"baselines": runs.commit()}
    assert (after.history, after.commit, after.created) == (before.history, before.commit, before.created)
    monkeypatch.setattr(runs, "fingerprint", lambda _: "other")
    with pytest.raises(runs.Stale, match="other data"):
        runs.rescore(planned)
    monkeypatch.setattr(Spirals, "paper", classmethod(lambda cls: cls(**TINY | {"lr": 0.5})))
    with pytest.raises(runs.Stale, match="other settings"):
        runs.rescore(planned)


def test_campaign_stops_in_time_and_goes_on(small_campaign, monkeypatch):
    """A clock that moves one second whenever it is asked: once before each run and after each step."""
    ticks = iter(range(10**6))
    with monkeypatch.context() as patched:
        patched.setattr(runs, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
        said = []
        done = runs.campaign(budget=20, report=said.append)
    assert [record.seed for record in done] == [0]
    assert any("paper-s1: stopped after step" in line and "call again" in line for line in said)
    assert files("ROMAE_CHECKPOINTS") == ["spirals/paper-s1.safetensors"]
    assert [p.name for p in runs.missing()] == ["paper-s1", "quick-s0"]
    logged = []
    runs.campaign(report=lambda _: None, log=lambda: logged.append)
    assert logged[0]["step"] > 1  # from the checkpoint
    resumed = records.load(Planned(experiment="spirals", preset="paper", seed=1).path)
    Planned(experiment="spirals", preset="paper", seed=1).path.unlink()
    assert numbers(runs.run(Planned(experiment="spirals", preset="paper", seed=1))) == numbers(resumed)


def test_campaign_without_time_does_nothing(small_campaign):
    assert runs.campaign(budget=0, report=print) == []
    assert files("ROMAE_RESULTS") == []


def test_campaign_passes_over_what_cannot_go_on(small_campaign):
    first, second = (Planned(experiment="spirals", preset="paper", seed=s) for s in range(2))
    first.checkpoint.parent.mkdir(parents=True)
    first.checkpoint.write_bytes(b"damaged")
    said = []
    with runs._locked(second.checkpoint):
        done = runs.campaign(report=said.append)
    assert [record.preset for record in done] == ["quick"]
    passed = [line for line in said if line.startswith("passed over")]
    assert len(passed) == 2 and str(first.checkpoint) in passed[0] and second.name in passed[1]


def test_campaign_passes_over_a_run_that_diverges(small_campaign, monkeypatch):
    loss = Spirals.loss
    monkeypatch.setattr(
        Spirals, "loss", lambda self, *rest: loss(self, *rest) * (math.nan if self.epochs == 3 else 1.0)
    )
    said = []
    done = runs.campaign(report=said.append)
    assert [record.preset for record in done] == ["quick"]
    assert sum("passed over" in line and "loss is nan" in line for line in said) == 2


@pytest.mark.parametrize("error", [ModuleNotFoundError("no sklearn"), FileNotFoundError("no data")])
def test_campaign_passes_over_a_run_that_lacks_something(small_campaign, monkeypatch, error):
    def data(self, seed, whole=Spirals.data):
        if self.epochs == 3:
            raise error
        return whole(self, seed)

    monkeypatch.setattr(Spirals, "data", data)
    said = []
    assert [record.preset for record in runs.campaign(report=said.append)] == ["quick"]
    assert sum("passed over" in line and str(error) in line for line in said) == 2


@pytest.mark.parametrize("name", ["elasticc", "physionet"])
def test_a_baseline_whose_library_is_missing_costs_no_run(name, monkeypatch):
    """Whoever has trained for hours without scikit-learn gets the record, without the learned baseline."""
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr(sys.modules[f"romae_lite.{name}.experiment"], "find_spec", lambda _: None)
    exp = EXPERIMENTS[name].quick()
    exp = exp.replace(n_train=40, n_test=40) if name == "elasticc" else exp.replace(records=20)
    found = exp.compare(exp.data(0))
    assert found and not any(key.endswith(("_forest", "_boosted")) for key in found)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux forgets")
def test_peak_memory_is_that_of_one_run():
    cpu = torch.device("cpu")
    large = torch.ones(100, 2**18)  # 100 MiB of float32
    high = runs.peak_memory_mb(cpu)
    del large
    runs.reset_peak_memory()
    assert runs.peak_memory_mb(cpu) < high - 50


def test_a_system_that_does_not_tell_its_memory_leaves_a_record(small_campaign, monkeypatch):
    """Windows has no module `resource`."""
    monkeypatch.setitem(sys.modules, "resource", None)
    assert runs.run(Planned(experiment="spirals", preset="quick", seed=0), device="cpu").peak_memory_mb == 0


def test_corrupt_record_is_missing_and_said_so(small_campaign):
    """A campaign neither counts it as done nor writes over it."""
    path = Planned(experiment="spirals", preset="paper", seed=0).path
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert "paper-s0" in [p.name for p in runs.missing()]
    said = []
    runs.campaign(report=said.append)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "spiral"], "experiment is 'spiral'; choose one of sizes"),
        (["run", "spirals", "--preset", "papr"], "preset is 'papr'; spirals has paper"),
        (["run", "spirals", "--set", "epohcs=5"], "'epohcs' is no setting of spirals"),
        (["run", "spirals", "--set", "epochs=many"], "epochs is 'many'; it must be int"),
        (["run", "spirals", "--set", "epochs=0"], "epochs is 0; it must be at least 1"),
        (["run", "spirals", "--set", "encoder=huge"], "size is 'huge'"),
        (["list", "spiral"], "experiment is 'spiral'"),
        (["campaign", "spiral"], "experiment is 'spiral'"),
    ],
)
def test_wrong_names_are_named(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert files("ROMAE_RESULTS") == files("ROMAE_CHECKPOINTS") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "spirals", "--seeds", "4-0"], "runs backwards"),
        (["run", "spirals", "--seeds", "one"], "write seeds as"),
        (["run", "spirals", "--set", "epochs"], "write NAME=VALUE"),
        (["campaign", "--budget", "soon"], "write a budget as"),
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


def test_names_of_runs_are_their_files():
    assert planned().path == records.record_path("spirals", "paper", TINY, 0)
    assert Planned(experiment="spirals", preset="paper", seed=3).path.name == "paper-s3.json"


def test_module_runs():
    """`python -m romae_lite` as a shell sees it."""
    command = [sys.executable, "-m", "romae_lite", "run", "spirals", "--set", "epohcs=5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "epohcs" in done.stderr and "Traceback" not in done.stderr

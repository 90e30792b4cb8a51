"""`python -m romae_lite gpu`: the plan, and that its slices resume. Tried on the CPU; no GPU is asked for."""

import types

import pytest
import torch

from romae_book.cli import gpu
from romae_book.cli.commands import main
from romae_book.experiments import experiments
from romae_lite import fast
from romae_lite.training import Interrupted


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path / "checkpoints"))


def test_the_plan_names_checks_measurements_and_runs_before_anything_is_done(capsys):
    assert main(["gpu", "--dry-run"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("---")]
    kinds = [
        ("agree", "speed").index(w) if w in ("agree", "speed") else 2 for w in (x.split(":")[0] for x in lines[1:-1])
    ]
    assert kinds == sorted(kinds) and set(kinds) == {0, 1, 2}
    checked = {line.split()[1] for line in lines if line.startswith("agree: ")}
    assert checked == {n for n, cls in experiments().items() if hasattr(cls, "quick") and cls.repeatable}
    assert any("position: paper-size=small-s0" in line for line in lines)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_what_to_do(capsys):
    assert main(["gpu"]) == 2
    assert "--dry-run" in capsys.readouterr().err


def test_agreement_of_the_cpu_with_itself_is_exact():
    found = gpu.agreement("spirals", "cpu", n_train=64, batch=8, encoder="24x2x1x24", decoder="24x2x1x24")
    assert found == {"loss": 0.0, "gradient": 0.0, "ten steps": 0.0}


def test_a_disagreement_fails_and_is_tried_again(monkeypatch):
    lines, passes = [], dict.fromkeys(gpu.AGREE, 0.0)
    monkeypatch.setattr(gpu, "agreement", lambda name, device: passes | {"gradient": 0.5})
    first = [s for s in gpu.checks("cpu") if s.name == "agree: spirals"]
    assert gpu.carry_out(first, 60, lines.append) == 1 and "gradient 5.0e-01" in lines[0]
    monkeypatch.setattr(gpu, "agreement", lambda name, device: passes | {"gradient": float("nan")})
    assert gpu.carry_out(first, 60, lines.append) == 1  # NaN agrees with nothing
    monkeypatch.setattr(gpu, "agreement", lambda name, device: passes)
    assert gpu.carry_out(first, 60, lines.append) == 0
    assert "agree: spirals" not in [s.name for s in gpu.checks("cpu")]  # noted: not done again
    assert "agree: spirals" in [s.name for s in gpu.checks("cuda")]  # another device


def test_the_budget_ends_the_work_and_says_how_much_is_left():
    lines, done = [], []

    def do(stop):
        done.append(stop())
        raise Interrupted("stopped after step 3 of 9")

    slices = [gpu.Slice(f"slice {i}", 60.0, do) for i in range(3)]
    assert gpu.carry_out(slices, 0.0, lines.append) == 0 and not done and "3 of 3 are left" in lines[0]
    assert gpu.carry_out(slices[:1], 60.0, lines.append) == 0 and "call again" in lines[-1]
    said = list(gpu.announce(slices, 100.0))
    assert said[2].startswith("---") and "about 3 minutes" in said[-1]


def test_an_estimate_grows_with_the_work_and_has_a_floor():
    small, base = (
        gpu.Planned(experiment="position", preset="paper", seed=0, overrides=(("size", size),))
        for size in ("small", "base")
    )
    assert gpu.estimate(base, 11, 1e12) > 2 * gpu.estimate(small, 11, 1e12)  # weights: 14.9M and 47.7M
    steps = 10 * -(-20_000 // 64)
    assert gpu.estimate(base, 11, 1e30) == pytest.approx(steps * gpu.LAUNCH)


@pytest.mark.parametrize(
    ("cuda", "still", "mode"), [(True, True, "reduce-overhead"), (True, False, None), (False, True, None)]
)
def test_graphs_are_recorded_where_shapes_stay(monkeypatch, cuda, still, mode):
    asked = []

    class Anywhere(torch.nn.Module):
        def parameters(self):
            yield types.SimpleNamespace(is_cuda=cuda)

    monkeypatch.setattr(torch, "compile", lambda model, mode=None: asked.append(mode) or model)
    fast.compile_model(Anywhere(), still=still)
    assert asked == [mode]


def test_an_estimate_counts_both_stages_and_every_sample():
    """Where launches are all there is, time is steps: those that Table 10 has, of the whole training set."""
    planned = gpu.Planned(experiment="tiny_imagenet", preset="paper", seed=0, overrides=())
    exp = planned.build()
    per_epoch = lambda batch: -(-200 * (exp.per_class - exp.valid_per_class) // batch)  # noqa: E731
    steps = exp.epochs * per_epoch(exp.batch) + exp.pretrain_epochs * per_epoch(exp.pretrain_batch)
    assert gpu.estimate(planned, 196, 1e30) == pytest.approx(steps * gpu.LAUNCH)

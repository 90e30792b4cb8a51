"""What would crash on a GPU, found without one (see pretend_gpu): experiments from data to record, and chapters."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from chapters import NOTEBOOKS
from chapters import SMALL as CHAPTERS
from conftest import ROOT
from test_experiments import SMALL as WHOLE
from test_experiments import TINY

from romae_book.lab import records
from romae_book.lab.planned import Planned
from romae_book.lab.run import run

pytestmark = pytest.mark.slow
# A pretended GPU is slow, and twelve blocks ask nothing of it that one does not.
SIZES = {"position": {"size": TINY["encoder"]}, "position_range": {"size": TINY["encoder"]}, "physionet": TINY}
SMALL = {name: settings | SIZES.get(name, {}) for name, settings in WHOLE.items()}


def python(*words, **environment) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"} | environment
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=800
    )


# What a GPU would refuse: `RUNS` tries it first, for either kind.
OBJECTIONS = {
    "cuda": (
        ("torch.ones(3, device='cuda') + torch.ones(3)", "found tensors on cuda:0 and on the CPU"),
        ("torch.ones(3)[torch.ones(1, device='cuda').long()]", "found tensors on cuda:0 and on the CPU"),
        ("torch.ones(3, device='cuda').numpy()", "can't convert cuda:0"),
        ("np.asarray(torch.ones(3).to('cuda'))", "can't convert cuda:0"),
        ("torch.rand(3, device='cuda', generator=torch.Generator())", "expected a generator on cuda:0"),
        ("torch.ones(1).expand(3).pin_memory()", "refers to a single memory location"),
    ),
    "mps": (("torch.ones(3).double().to('mps')", "float64"),),
}


STEPS = """
import json, sys
import pretend_gpu, torch

pretend_gpu.install("cuda")
from romae_book.experiments import experiment
from romae_lite.training import fit

torch.ones(3).to("cuda"), torch.ones(3, device="cuda").cpu(), torch.ones(3, device="cuda").sum().item()
assert len(pretend_gpu.WAITS) == 3, pretend_gpu.WAITS  # it can count
for name, changes in json.loads(sys.argv[1]).items():
    exp = experiment(name).preset("quick").replace(**changes)
    train, seen = exp.data(0).train[:12], []
    stages = [(exp.build(0), exp.loss, exp.recipe(12))]
    if hasattr(exp, "pretrain_loss"):
        weights = exp.class_weights(train)
        stages = [
            (exp.build(0), lambda m, b, g: exp.loss(m, b, g, weights), exp.recipe(12)),
            (exp.autoencoder(0), exp.pretrain_loss, exp.pretrain_recipe(12)),
        ]
    for model, loss, recipe in stages:
        asked = []
        recipe = type(recipe)(epochs=2, batch=3, lr=1e-3, optimizer=recipe.optimizer)  # 8 steps
        fit(model, train, loss, recipe, seed=0, logs=1, stop=lambda: asked.append(len(pretend_gpu.WAITS)))
        assert next(model.parameters()).is_cuda and len(asked) == 8
        # from the end of the first step to that of the last but one, which leaves out the logging of the last
        assert asked[0] == asked[-2], (name, pretend_gpu.WAITS[asked[0] : asked[-2]])
"""


# One of each family in every run, the others weekly: one network; two axes and a prepared data set; two stages of
# training; pictures, on the other device and in 16 bit.
EVERY_TIME = ("position", "physionet", "uea")


@pytest.mark.parametrize(
    "names", [("spirals", *EVERY_TIME), pytest.param(tuple(SMALL), marks=pytest.mark.weekly)], ids=["some", "all"]
)
def test_no_training_step_waits_for_the_gpu(names):
    spirals = {"epochs": 1, "n_train": 32, "encoder": "16x2x1x16", "decoder": "16x2x1x16", "optimizer": "muon"}
    settings = SMALL | {"spirals": spirals}
    done = python("-c", STEPS, json.dumps({name: settings[name] for name in names}))
    assert done.returncode == 0, done.stderr[-2000:]


RUNS = """
import json, sys
import numpy as np, torch, pretend_gpu

pretend_gpu.install(sys.argv[1])
for code, text in json.loads(sys.argv[3]):
    try:
        exec(code)
    except (RuntimeError, TypeError) as error:
        assert text in str(error), f"{code}: {error}"
    else:
        raise AssertionError(f"{code}: no objection")
from romae_book.cli.commands import main

for words in json.loads(sys.argv[2]):
    assert main(["run", *words]) == 0
"""


@pytest.mark.parametrize(
    "names, kind, precision",
    [(EVERY_TIME, "mps", "fp32"), (("pendulum",), "cuda", "auto"),
     *(pytest.param((name,), "mps", "fp32", marks=pytest.mark.weekly) for name in SMALL if name not in EVERY_TIME)],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else value,
)
def test_experiments_run_on_a_gpu(tmp_path, monkeypatch, names, kind, precision):
    """From data to record, and they start in the numbers of a CPU; the pretence objects where a GPU would."""
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path))
    settings = {name: tuple((SMALL[name] | {"precision": precision}).items()) for name in names}
    plans = [Planned(experiment=name, preset="quick", seed=0, overrides=settings[name]) for name in names]
    commands = [shlex.split(plan.command)[4:] for plan in plans]
    done = python("-c", RUNS, kind, json.dumps(commands), json.dumps(OBJECTIONS[kind]))
    assert done.returncode == 0, done.stderr[-3000:]
    for plan in plans:
        gpu, cpu = records.load(plan.path), run(plan, device="cpu", force=True)
        assert gpu.device.startswith("mps" if kind == "mps" else "no GPU, but a pretence")
        assert gpu.precision == ("bf16" if precision == "auto" else "fp32")
        assert gpu.metrics.keys() == cpu.metrics.keys()
        # float32: other kernels, other rounding. bfloat16 keeps two to three digits of each product.
        rounding = 1e-4 if precision == "fp32" else 2e-2
        assert gpu.history[0]["loss"] == pytest.approx(cpu.history[0]["loss"], rel=rounding), plan.name


@pytest.mark.weekly
@pytest.mark.book
@pytest.mark.parametrize("chapter", NOTEBOOKS)
def test_chapters_run_on_a_gpu(tmp_path, chapter):
    """And where nothing is recorded yet: every figure and sentence has to do without records too."""
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "gpu.py").write_text("import pretend_gpu\npretend_gpu.install('cuda')\n")
    changes = [word for name, value in CHAPTERS.get(chapter, {}).items() for word in ("-p", name, str(value))]
    words = ("-m", "papermill", f"notebooks/{chapter}.ipynb", tmp_path / "out.ipynb", *changes)
    done = python(*words, IPYTHONDIR=str(tmp_path), ROMAE_RESULTS=str(tmp_path / "results"))
    assert done.returncode == 0, done.stderr[-3000:]

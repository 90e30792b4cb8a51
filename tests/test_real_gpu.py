"""A CUDA GPU, where there is one, computes what a CPU computes."""

import pytest
import torch
from test_experiments import SMALL

from romae_book.experiments import experiment
from romae_lite.fast import Fast
from romae_lite.training import Recipe, fit

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


@pytest.mark.parametrize("form", [lambda model: model, Fast], ids=["plain", "fast"])
@pytest.mark.parametrize("name", ["position", "frequencies", "synthetic", "physionet", "uea", "tiny_imagenet"])
def test_a_gpu_trains_as_a_cpu_does(name, form):
    """Twenty steps on the same batches and masks: losses and trained weights agree, up to float32's rounding."""
    exp = experiment(name).preset("quick").replace(**SMALL[name])
    train = exp.data(0).train[:32]
    loss, build = (exp.pretrain_loss, exp.autoencoder) if hasattr(exp, "pretrain_loss") else (exp.loss, exp.build)
    recipe = Recipe(epochs=5, batch=8, lr=1e-4)
    losses, weights = [], []
    for device in ("cpu", "cuda"):
        model = build(0)
        history = fit(form(model), train, loss, recipe, seed=0, logs=20, device=device)
        losses.append([entry["loss"] for entry in history])
        weights.append(torch.cat([w.detach().cpu().double().flatten() for w in model.parameters()]))
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)  # 1.5e-5 at most on an H200: kernels add in another order
    gap = (weights[1] - weights[0]).abs().max().item()
    assert gap < 1e-4  # a twentieth of what twenty steps at 1e-4 can move a weight; 1.4e-6 at most on an H200

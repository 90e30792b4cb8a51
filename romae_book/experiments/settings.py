"""All settings of an experiment, and what follows from them without its data: the training set, steps, samples seen."""

import math
from collections.abc import Mapping
from typing import Any

import torch

from romae_lite.model import count_parameters
from .subjects import modules


def training_set(exp: Any) -> int | None:
    """How many samples an experiment trains on, without loading them: `n_train`, or what the subject's paper.py has as
    `training_set`. None: not known before the data are loaded."""
    return exp.n_train if getattr(exp, "n_train", None) is not None else _said_of(exp, "training_set")


def _said_of(exp: Any, name: str) -> int | None:
    """What the function of that name in the subject's paper.py says of an experiment; None where there is none."""
    paper = type(exp).__module__.rpartition(".")[0] + ".paper"
    for module in modules(lambda stem, files: stem == "paper"):
        if module.__name__ == paper and hasattr(module, name):
            return getattr(module, name)(exp)
    return None


def setting_values(exp: Any) -> dict[str, Any]:
    """All settings by name, and what follows from them: steps, samples seen, steps of warm-up, parameters."""
    found, samples = exp.config(), training_set(exp)
    with torch.device("meta"):  # no memory, no time: the weights are only counted
        found["parameters"] = count_parameters(exp.build(0))
    if samples is None:
        return found
    found["training_set"] = samples
    stages = {"": exp.recipe}
    if found.get("pretrain_epochs"):
        stages["pretrain_"] = exp.pretrain_recipe
    for stage, recipe_of in stages.items():
        own = _said_of(exp, "pretraining_set") if stage else None  # where the first stage has other samples
        recipe = recipe_of(own or samples)
        found |= {f"{stage}lr": recipe.lr, f"{stage}warmup": recipe.warmup} | budget(
            {f"{stage}epochs": recipe.epochs, f"{stage}batch": recipe.batch, "training_set": own or samples}, stage
        )
    return found


def budget(known: Mapping[str, Any], stage: str) -> dict[str, int]:
    """Steps and samples seen, where epochs, batch and training set are known."""
    wanted = [known.get(key) for key in ("training_set", f"{stage}epochs", f"{stage}batch")]
    if not all(isinstance(value, int) for value in wanted):
        return {}
    samples, epochs, batch = wanted
    return {f"{stage}steps": epochs * math.ceil(samples / batch), f"{stage}samples_seen": epochs * samples}

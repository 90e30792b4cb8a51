"""All settings of an experiment, and what follows from them without its data: the training set, steps, samples seen."""

import math
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import torch

from romae_lite.model import count_parameters


def setting_values(exp: Any) -> dict[str, Any]:
    """All settings by name, and what follows from them: steps, samples seen, steps of warm-up, parameters."""
    found, samples = exp.config(), exp.training_set()
    # no memory, no time: the weights are only counted; data that are not here may decide the size of the head
    with torch.device("meta"), suppress(FileNotFoundError):
        found["parameters"] = count_parameters(exp.build(0))
    if samples is None:
        return found
    found["training_set"] = samples
    stages = {"": exp.recipe}
    if found.get("pretrain_epochs"):
        stages["pretrain_"] = exp.pretrain_recipe
    for stage, recipe_of in stages.items():
        own = exp.pretraining_set() if stage else None  # where the first stage has other samples
        recipe = recipe_of(own or samples)
        found |= {f"{stage}lr": recipe.lr, f"{stage}warmup": recipe.warmup} | budget(
            {f"{stage}epochs": recipe.epochs, f"{stage}batch": recipe.batch, "training_set": own or samples}, stage
        )
    for key in ("steps", "samples_seen"):
        if key in found:
            found[key] *= found.get("rounds", 1) * found.get("members", 1)
    return found


def budget(known: Mapping[str, Any], stage: str) -> dict[str, int]:
    """Steps and samples seen, where epochs, batch and training set are known."""
    wanted = [known.get(key) for key in ("training_set", f"{stage}epochs", f"{stage}batch")]
    if not all(isinstance(value, int) for value in wanted):
        return {}
    samples, epochs, batch = wanted
    return {f"{stage}steps": epochs * math.ceil(samples / batch), f"{stage}samples_seen": epochs * samples}

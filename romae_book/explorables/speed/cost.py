"""What a training run costs: choose a size, tokens, batch, data and a machine; see time, memory and money.

Time is the arithmetic of the matrix products (`work.products`, three times for a step) divided by the rate that a
training step was *measured* to reach on that machine (records of measure=roofline). Memory is counted, not measured:
weights with their gradients and two moments of AdamW, and what each block keeps of every token for the backward pass.
The price of an hour is the reader's.
"""

import math

import torch

from romae_lite.model import SIZES, ModelConfig, RoMAE, count_parameters

from ...lab.records import Record, load_all
from ..explorable import Explorable, figure, not_recorded

HIDDEN = 0.75
PATCH, AXES = 2, 2  # a token of a light curve: flux and its error, at band and time
NAMES = ("tiny-shallow", "tiny", "small", "base")
COMMAND = "python -m romae_lite run speed --preset cpu --seeds 0 --set measure=roofline"


def sizes() -> list[dict]:
    """The paper's sizes, with the decoder that it uses throughout."""
    found = []
    for name in NAMES:
        config = ModelConfig(patch=PATCH, axes=AXES, encoder=SIZES[name], cls=False)
        with torch.device("meta"):
            parameters = count_parameters(RoMAE(config))
        stacks = [{"dim": s.dim, "depth": s.depth, "ff": s.ff} for s in (config.encoder, config.decoder)]
        found.append({"name": name, "parameters": parameters, "encoder": stacks[0], "decoder": stacks[1]})
    return found


def machines(records: list[Record]) -> list[dict]:
    """What was measured: a line for each device, precision and measured size."""
    return [
        {
            "name": f"{r.device}, {r.precision}",
            "size": r.config["encoder"],
            "gflops": r.metrics["gflops_step"],
            "achievable": r.metrics["gflops_achievable"],
        }
        for r in records
        if r.config["measure"] == "roofline" and r.tier != "smoke"
    ]


def gflop(size: dict, tokens: int) -> float:
    """Of the forward pass of one sample, as `work.products` counts."""
    hidden = max(1, min(tokens - 1, math.ceil(HIDDEN * tokens)))
    seen, total = tokens - hidden, 0.0
    for stack, n in ((size["encoder"], seen), (size["decoder"], tokens)):
        weights = 4 * stack["dim"] ** 2 + 2 * stack["dim"] * stack["ff"]
        total += stack["depth"] * (2 * n * weights + 4 * n * n * stack["dim"])
    total += 2 * seen * size["encoder"]["dim"] * size["decoder"]["dim"]
    return (total + 2 * PATCH * (seen * size["encoder"]["dim"] + hidden * size["decoder"]["dim"])) / 1e9


def hours(size: dict, tokens: int, samples: float, epochs: float, gflops: float) -> float:
    return 3 * gflop(size, tokens) * samples * epochs / gflops / 3600


@figure("cost")
def explorable(found: list[dict] | None = None) -> Explorable:
    """found: machines as `machines` makes them; by default those of the records."""
    title = "What does a training run cost?"
    if found is None:
        found = machines(list(load_all(experiment="speed").records))
    if not found:
        return not_recorded("cost", title, COMMAND)
    return Explorable(
        name="cost",
        data={"sizes": sizes(), "machines": found, "hidden": HIDDEN, "patch": PATCH},
        height=250,
        title=title,
        caption="Pre-training with 75 % of the tokens hidden. Time: matrix products, divided by the rate that a "
        "training step was measured to reach on the machine, with the measured size that is named. So it is an "
        "estimate, and a hopeful one for small models on a fast device, which wait for their launches. Memory is "
        "counted, not measured. The price of an hour is yours to set.",
    )

"""What a training run costs: choose a size, tokens, batch, data and a machine; see time, memory and money.

Time is the arithmetic of the matrix products (`work.products`, three times for a step) divided by the rate that a
training step was *measured* to reach on that machine (records of measure=roofline). Memory is counted, not measured:
weights with their gradients and two moments of AdamW, and what each block keeps of every token for the backward pass.
The price of an hour is the reader's.
"""

import math
from pathlib import Path

import torch

from romae_lite.model import SIZES, ModelConfig, RoMAE, count_parameters

from ...lab.records import Record, load_all
from ...palette import PALETTE
from .. import svg
from ..explorable import Explorable, figure, not_recorded

SCRIPT = Path(__file__).with_suffix(".js")
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


def gigabytes(size: dict, tokens: int, batch: int) -> float:
    """Counted: 16 bytes for each weight; for each token of each block 4 bytes times 10 dim + 2 ff numbers that the
    backward pass needs (inputs and outputs of norms, of attention, of the rotation and of the feed-forward part)."""
    hidden = max(1, min(tokens - 1, math.ceil(HIDDEN * tokens)))
    kept = sum(
        stack["depth"] * n * (10 * stack["dim"] + 2 * stack["ff"])
        for stack, n in ((size["encoder"], tokens - hidden), (size["decoder"], tokens))
    )
    return (16 * size["parameters"] + 4 * batch * kept) / 1e9


def hours(size: dict, tokens: int, samples: float, epochs: float, gflops: float) -> float:
    return 3 * gflop(size, tokens) * samples * epochs / gflops / 3600


def still(found: list[dict], machine: dict) -> str:
    """Seconds for a thousand samples of one epoch, against the tokens of a sample."""
    width, height, left, right, top, bottom = 640, 260, 60, 620, 30, 215
    lengths = [10 * 10 ** (i / 8) for i in range(33)]
    seconds = {s["name"]: [3600 * hours(s, round(n), 1000, 1, machine["gflops"]) for n in lengths] for s in found}
    low, high = (math.log10(f(v for row in seconds.values() for v in row)) for f in (min, max))
    x = lambda n: left + (right - left) * (math.log10(n) - 1) / 4  # noqa: E731
    y = lambda v: bottom - (bottom - top) * (math.log10(v) - low) / (high - low)  # noqa: E731
    body = svg.label(left - 40, 16, f"seconds for 1000 samples, once ({machine['name']})")
    for e in range(1, 6):
        body += svg.label(x(10**e), bottom + 18, f"{10**e:,}", text_anchor="middle")
    body += svg.label((left + right) / 2, height - 8, "tokens of a sample", text_anchor="middle")
    for i, (name, row) in enumerate(seconds.items()):
        colour = PALETTE[("blue", "green", "vermillion", "purple")[i]][0]
        body += svg.line([(x(n), y(v)) for n, v in zip(lengths, row, strict=True)], stroke=colour, stroke_width=2)
        body += svg.label(x(lengths[4 + 7 * i]), y(row[4 + 7 * i]) - 8, name, fill=colour)
    for e in range(math.ceil(low), math.floor(high) + 1, 2):
        body += svg.label(left - 8, y(10.0**e) + 4, f"1e{e}", text_anchor="end")
    return svg.picture(width, height, body)


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
        script=SCRIPT,
        data={"sizes": sizes(), "machines": found, "hidden": HIDDEN, "patch": PATCH},
        height=250,
        fallback=still(sizes(), found[0]),
        title=title,
        caption="Pre-training with 75 % of the tokens hidden. Time: matrix products, divided by the rate that a "
        "training step was measured to reach on the machine, with the measured size that is named. So it is an "
        "estimate, and a hopeful one for small models on a fast device, which wait for their launches. Memory is "
        "counted, not measured. The price of an hour is yours to set.",
    )

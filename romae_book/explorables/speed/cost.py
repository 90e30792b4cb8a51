"""What the length of a sample costs: attention's share of the work, the time, and what twice as long takes.

Work is the arithmetic of the matrix products (`work.products`, three times for a step). Time is that, divided by the
rate that a training step was *measured* to reach (records of measure=roofline): of the size itself, or of the measured
one that is nearest to it.
"""

import math

import torch

from romae_lite.model import SIZES, ModelConfig, RoMAE, count_parameters

from ...lab.records import Record, load_all
from ..explorable import Explorable, figure, not_recorded

HIDDEN = 0.75
PATCH, AXES = 2, 2  # a token of a light curve: flux and its error, at band and time
NAMES = ("tiny-shallow", "tiny", "small", "base")
SHORT = 300  # readings; on shorter samples a step is not mostly products
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


def rates(records: list[Record]) -> dict[str, float]:
    """What a training step was measured to reach on one core, in 1e9 operations a second, by size."""
    return {
        r.config["encoder"]: r.metrics["gflops_step"]
        for r in records
        if (r.config["measure"], r.config["machine"]) == ("roofline", "cpu") and r.tier != "smoke"
    }


def lengths(records: list[Record]) -> tuple[str, dict[int, float]]:
    """A size, and the tokens a second that its training steps were measured to reach at each length."""
    for r in records:
        if r.config["measure"] == "length" and r.tier != "smoke":
            start = "tokens_per_second_"
            return r.config["encoder"], {int(k[len(start):]): v for k, v in r.metrics.items() if k.startswith(start)}
    return "", {}


def work(size: dict, tokens: int) -> tuple[float, float]:
    """Billions of operations of the forward pass of one sample, as `work.products` counts, and those of attention."""
    hidden = max(1, min(tokens - 1, math.ceil(HIDDEN * tokens)))
    seen, pairs, rest = tokens - hidden, 0.0, 0.0
    for stack, n in ((size["encoder"], seen), (size["decoder"], tokens)):
        pairs += stack["depth"] * 4 * n * n * stack["dim"]
        rest += stack["depth"] * 2 * n * (4 * stack["dim"] ** 2 + 2 * stack["dim"] * stack["ff"])
    rest += 2 * seen * size["encoder"]["dim"] * size["decoder"]["dim"]
    rest += 2 * PATCH * (seen * size["encoder"]["dim"] + hidden * size["decoder"]["dim"])
    return (pairs + rest) / 1e9, pairs / 1e9


def seconds(size: dict, tokens: int) -> float:
    """Of a training step, for each sample."""
    return 3 * work(size, tokens)[0] / size["gflops"]


def check(found: list[dict], size: str, measured: dict[int, float]) -> str:
    """How far the arithmetic is from what was measured, in a sentence."""
    chosen = [s for s in found if s["name"] == size]
    near = [rate / n * seconds(s, n) for s in chosen for n, rate in measured.items() if n >= SHORT]
    if not near:
        return ""
    return (
        f"The check: on samples of {SHORT:,} to {max(measured):,} readings we measured {min(near):.2f} to "
        f"{max(near):.2f} times the speed that is computed here for {size}."
    )


@figure("cost")
def explorable(records: list[Record] | None = None) -> Explorable:
    """records: of the experiment on speed; by default those that the book has."""
    title = "What does length cost?"
    if records is None:
        records = list(load_all(experiment="speed").records)
    measured, found = rates(records), sizes()
    if not measured:
        return not_recorded("cost", title, COMMAND)
    weights = {s["name"]: s["parameters"] for s in found}
    for s in found:
        nearest = min(measured, key=lambda name: abs(math.log(weights[name] / s["parameters"])))
        s |= {"gflops": measured[nearest], "of": nearest}
    return Explorable(
        name="cost",
        data={"sizes": found, "hidden": HIDDEN, "patch": PATCH},
        title=title,
        caption="Pre-training with 75 % of the readings hidden, on one core of a CPU. Bars: the work of a step, of "
        "which blue is attention, where every reading meets every other; grey is what is done for each reading alone. "
        "Time: the work, divided by the rate that a training step was measured to reach; for "
        f"{' and '.join(s['name'] for s in found if s['of'] != s['name'])} that of the nearest measured size. "
        f"{check(found, *lengths(records))}".rstrip(),
    )

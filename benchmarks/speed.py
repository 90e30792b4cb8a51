"""Speed, as ratios measured in one run on the same work.

    python benchmarks/speed.py                     # or: make bench
    python benchmarks/speed.py --rounds 9 --steps 7 --threads 2

Contenders take turns, so that whatever else the machine does hits all of them alike. A ratio is the median over the
rounds, with the smallest and largest beside it. On a busy machine `--clock cpu` steadies it: it counts the seconds that
the training process spends computing (and so leaves out the straightforward one's DataLoader workers).
"""

import argparse
import statistics
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks import straightforward  # noqa: E402
from romae_lite.lab.experiment import numpy_rng  # noqa: E402
from romae_lite.masking import hide, split, take  # noqa: E402
from romae_lite.model import ModelConfig, RoMAE, masked_loss, size  # noqa: E402
from romae_lite.rope import PositionEncoding  # noqa: E402
from romae_lite.spirals.data import generate  # noqa: E402
from romae_lite.tokens import Tokens  # noqa: E402
from romae_lite.training import Recipe, fit, learning_rate  # noqa: E402

RATIO = 0.6  # of the 75 points hidden, as in the paper's spirals


class Clock:
    """Called after every step; seconds of every step but the first, which warms up."""

    def __init__(self, options):
        self.ticks, self.now = [], time.process_time if options.clock == "cpu" else time.perf_counter

    def __call__(self) -> bool:
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ticks.append(self.now())
        return False

    @property
    def step(self) -> float:
        return statistics.median(b - a for a, b in zip(self.ticks, self.ticks[1:], strict=False))


def loss(model, batch, generator):
    return masked_loss(model, batch, hide(batch.real, ratio=RATIO, generator=generator))


def spirals(n: int, ragged: bool = False) -> Tokens:
    """The paper's spirals; ragged: each cut to between 20 and 75 points."""
    tokens = generate(n, numpy_rng(0))
    lengths = torch.randint(20, 76, (n, 1), generator=torch.Generator().manual_seed(0))
    pad = torch.arange(75) >= lengths if ragged else None
    return Tokens(values=tokens.values, positions=tokens.positions, pad=pad)


def build(options, kind: str = "rope") -> RoMAE:
    torch.manual_seed(0)
    config = ModelConfig(
        patch=2, axes=1, encoder=size(options.encoder), decoder=size(options.decoder), cls=False,
        positions=PositionEncoding(kind=kind),
    )  # fmt: skip
    return RoMAE(config).to(options.device)


def ours(options, model, tokens, recipe) -> float:
    clock = Clock(options)
    fit(model, tokens, loss, recipe, seed=0, stop=clock, device="cpu" if options.device == "cpu" else None)
    return clock.step


def plain(options, model, tokens, recipe) -> float:
    clock, total = Clock(options), recipe.epochs * -(-len(tokens) // recipe.batch)
    straightforward.train(
        model, tokens, recipe, RATIO, options.workers, lambda step: learning_rate(step, total, recipe), clock
    )
    return clock.step


@torch.no_grad()
def same_work(model: RoMAE, other: straightforward.Model, tokens: Tokens) -> float:
    """Largest difference of the two models' predictions, with the same weights and the same mask."""
    part = tokens[:8]
    where = split(hide(part.real, ratio=RATIO, generator=torch.Generator().manual_seed(0)), part.real)
    found = model.eval()(part, where)
    pads = [
        torch.zeros(index.shape, dtype=torch.bool) if pad is None else pad
        for index, pad in ((where.visible, where.visible_pad), (where.hidden, where.hidden_pad))
    ]
    positions = torch.cat([take(part.positions, i)[..., 0] for i in (where.visible, where.hidden)], dim=1)
    expected = other.eval()(take(part.values, where.visible), positions, *pads)
    return float((found - expected)[~pads[1]].abs().max())


def compare(contenders: dict, rounds: int) -> dict[str, list[float]]:
    """Median seconds per step of each, once per round; the order changes from round to round."""
    seconds = {name: [] for name in contenders}
    names = list(contenders)
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            seconds[name].append(contenders[name]())
    return seconds


def row(label: str, slow: list[float], fast: list[float], aim: str = "") -> str:
    """How many times faster ``fast`` is: median over rounds, with the extremes."""
    ratios = sorted(a / b for a, b in zip(slow, fast, strict=True))
    middle = statistics.median(ratios)
    mark = "" if not aim else f"   aim {aim}: {'met' if middle >= float(aim.lstrip('>= ')) else 'missed'}"
    span = f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return f"{label:<58} {1e3 * statistics.median(fast):>8.0f} {middle:>7.2f}  {span:<17}{mark}"


def against_straightforward(options, recipe: Recipe, regular: Tokens, ragged: Tokens) -> None:
    for label, tokens, aim in (("all of 75 points", regular, ">= 1.5"), ("20 to 75 points, padded", ragged, "")):
        model = build(options)
        other = straightforward.Model(model.config).copy_from(model).to(options.device)
        if options.device == "cpu" and (gap := same_work(model, other, tokens)) > 1e-4:
            sys.exit(f"the two do not compute the same: predictions differ by {gap}")
        seconds = compare(
            {
                "ours": lambda m=model, t=tokens: ours(options, m, t, recipe),
                "plain": lambda m=other, t=tokens: plain(options, m, t, recipe),
            },
            options.rounds,
        )
        print(row(f"training, ours / straightforward, {label}", seconds["plain"], seconds["ours"], aim))


def encodings(options, recipe: Recipe, tokens: Tokens) -> None:
    models = {kind: build(options, kind) for kind in ("rope", "quantised", "absolute", "none")}
    seconds = compare(
        {kind: lambda m=m: ours(options, m, tokens, recipe) for kind, m in models.items()}, options.rounds
    )
    for kind, aim in (("rope", ">= 0.95"), ("quantised", ""), ("none", "")):
        name = {"rope": "continuous RoPE", "quantised": "quantised RoPE", "none": "no positions"}[kind]
        print(row(f"training, {name} / absolute encoding", seconds["absolute"], seconds[kind], aim))


def precisions(options, recipe: Recipe, tokens: Tokens) -> None:
    recipes = {precision: replace(recipe, precision=precision) for precision in ("fp32", "bf16")}
    seconds = compare(
        {name: partial(ours, options, build(options), tokens, r) for name, r in recipes.items()}, options.rounds
    )
    print(row("training, bfloat16 / float32", seconds["fp32"], seconds["bf16"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5, help="steps per round, the first not counted")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--workers", type=int, default=2, help="DataLoader workers of the straightforward one")
    parser.add_argument("--encoder", default="tiny")
    parser.add_argument("--decoder", default="tiny-shallow")
    parser.add_argument("--only", choices=("straightforward", "encodings", "precisions"))
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    if options.steps < 2 or options.rounds < 1:
        parser.error(f"steps is {options.steps}, rounds {options.rounds}; at least 2 (the first does not count) and 1")
    torch.set_num_threads(options.threads)
    recipe = Recipe(epochs=1, batch=options.batch, lr=3e-4, warmup=2)
    regular, ragged = (spirals(options.batch * options.steps, cut) for cut in (False, True))

    print(f"{options.encoder} + {options.decoder}, batch {options.batch} of 75 points, torch {torch.__version__}")
    print(f"{options.device}, {options.threads} thread(s), {options.rounds} rounds of {options.steps} steps", end="")
    print(f", {options.clock} time")
    print(f"{'':<58} {'ms/step':>8} {'ratio':>7}  (all rounds)")
    if options.only in (None, "straightforward"):
        against_straightforward(options, recipe, regular, ragged)
    if options.only in (None, "encodings"):
        encodings(options, recipe, regular)
    if options.only in (None, "precisions"):
        precisions(options, recipe, regular)


if __name__ == "__main__":
    main()

"""The same readings by a clock that was started later: three networks fill in the wave, each told times in its way."""

from pathlib import Path

import numpy as np

from romae_lite.model import RoMAE

from ...experiments.waves.data import NOISE, PERIODS, SEEN, SPAN
from ...experiments.waves.experiment import BASE, SHORT, Waves
from ...lab.records import from_arrays
from ..explorable import Drawable, Explorable, figure_of_runs, not_recorded, runs_in
from ..weights import in_bytes

LATEST = 100  # the latest that the reader's clock can start
HOW = {
    "rotated": Waves.page().replace(**SHORT),
    "added": Waves.page().replace(**SHORT, encoding="absolute"),
    "bias": Waves.page().replace(**SHORT, encoding="none", bias=True),
}
NOTHING = ("The clock starts later", "python -m romae_lite run waves --preset page --seeds 0 --set n_train=64000")


def series(count: int = 8) -> list[dict]:
    """Waves to fill in, drawn like those of the test set, by a generator of their own."""
    rng, found = np.random.default_rng(2), []
    for _ in range(count):
        times, period, phase = np.sort(rng.uniform(0, SPAN, SEEN)), rng.uniform(*PERIODS), rng.uniform()
        values = np.sin(2 * np.pi * (times / period + phase)) + rng.normal(0, NOISE, SEEN)
        found.append({"times": times.round(2).tolist(), "values": values.round(3).tolist(),
                      "period": round(period, 4), "phase": round(phase, 4)})
    return found


def payload(models: dict[str, RoMAE]) -> dict:
    """What the page needs, as JSON. models: by the names in HOW."""
    config = models["rotated"].config if "rotated" in models else next(iter(models.values())).config
    return {
        "models": {name: in_bytes(model) for name, model in models.items()}, "series": series(), "span": SPAN,
        "later": 20, "latest": LATEST, "start": 5, "axes": 1, "cls": False, "alone": True,
        "p": HOW["rotated"].p, "base": BASE, "encoder": vars(config.encoder), "decoder": vars(config.decoder),
    }


def explorable(models: dict[str, RoMAE], source: str = "") -> Explorable:
    return Explorable(
        name="start_later",
        needs=("romae", "bytes"),
        data=payload(models),
        height=104,
        title="Start the clock later, and see who notices. Move the slider.",
        caption=f"Three networks fill in a wave between twelve readings; the bars are for this wave. {source}".rstrip(),
    )


@figure_of_runs("start_later", *NOTHING, runs_in(*([exp] for exp in HOW.values())))
def from_runs(found: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the first run of each way; fewer than three have too little beside them."""
    models, runs = {}, {}
    for run, arrays in found:
        way = "bias" if run.config["bias"] else {"rope": "rotated", "absolute": "added"}[run.config["encoding"]]
        models[way], runs[way] = from_arrays(run.planned.build().build(run.seed), arrays), run
    shown = payload(models)  # or what is wrong with the weights would go unnoticed
    if set(models) != set(HOW):
        return not_recorded("start_later", *NOTHING)
    config, n = runs["rotated"].config, sum(np.prod(shape) for _, shape, _ in shown["models"]["rotated"]["names"])
    told = "; ".join(
        f"{name} {runs[way].metrics['miss']:.2f} and {runs[way].metrics['miss_later20']:.2f}"
        for way, name in (("rotated", "RoPE"), ("added", "added sines"), ("bias", "bias"))
    )
    return explorable(models, (
        f"They differ only in how they are told the times, have no [CLS] and about {round(n, -2):,} weights each, "
        f"learnt from the same {config['n_train'] * config['epochs']:,} waves, and answer in this page. Mean distance "
        f"from the wave, whose height is 1, over {config['n_test']:,} others with the clock started at 0, and 20 "
        f"later: {told}."
    ))

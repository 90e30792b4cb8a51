"""Chapter 13: the recorded measurements, and the tables and sentences that are made from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from IPython.display import Markdown

from romae_lite.training import accelerator_for

from ..experiments.speed.experiment import Speed
from ..lab.records import Record, load_all
from ..paper.claims import CLAIMS
from .tables import Table

Get = Callable[..., Record | None]  # what `measurements` returns
RATIOS = ("relative_speed", "relative_speed_forward", "relative_speed_fast", "relative_speed_forward_fast")
WAYS = {
    "naive": "random, padded", "grouped": "of like length", "packed": "packed", "grouped_packed": "both",
    "dense": "equal lengths",
}


def measurements() -> Get:
    """Return a function of (measure, encoder, encoding="rope", machine="cpu") that has the record, or None."""
    records = {}
    for record in load_all(experiment="speed").records:
        if record.tier != "smoke":
            config = record.config
            key = config["measure"], config["encoder"], config["encoding"], config["machine"]
            records.setdefault(key, []).append(record)

    def get(measure: str, encoder: str, encoding: str = "rope", machine: str = "cpu") -> Record | None:
        found = records.get((measure, encoder, encoding, machine))
        return found and replace(found[0], metrics=together([record.metrics for record in found]))

    return get


def together(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means of several measurements; of what is lowest or highest in each, the lowest and highest of all."""
    how = {"_low": min, "_high": max}
    found = {}
    for name in measured[0]:
        values = [metrics[name] for metrics in measured if name in metrics]
        ends = [end for suffix, end in how.items() if name.endswith(suffix)]
        found[name] = ends[0](values) if ends else sum(values) / len(values)
    return found


def on_this_machine(exp: Speed) -> Speed:
    """The experiment, for a CPU or a GPU as there is one."""
    on_cpu = accelerator_for(exp.precision).device.type == "cpu"
    return exp.replace(machine="cpu" if on_cpu else "gpu")


def times(metrics: Mapping[str, float], name: str) -> str:
    """A ratio with its range."""
    low, high = metrics[f"{name}_low"], metrics[f"{name}_high"]
    return f"{metrics[name]:.2f} ({low:.2f} to {high:.2f})"


def profiles(get: Get) -> dict[str, Mapping[str, float]]:
    """Metrics of a step's operations, by size."""
    return {size: r.metrics for size in ("tiny", "small") if (r := get("roofline", size))}


def findings(get: Get) -> Markdown:
    step, where, lengths = get("encoding", "small"), get("roofline", "tiny"), get("ragged", "tiny")
    if not (step and where and lengths):
        return Markdown("The measurements that this chapter rests on are not recorded yet.")
    claim = next(c for c in CLAIMS if c.table == "Table 9" and c.where["encoding"] == "rope")
    on_gpu, m = get("encoding", "small", machine="gpu"), lengths.metrics
    cost = 100 * (1 - (on_gpu or step).metrics["relative_speed"])
    gain = m["tokens_per_second_curves_grouped_packed"] / m["tokens_per_second_curves_naive"]
    return Markdown(
        f"- **Continuous positions cost {cost:.0f} % of a training step.** That is RoMAE-small on "
        f"{'an ' + on_gpu.device if on_gpu else 'one core'}, beside absolute positions. The paper has "
        f"{100 * (1 - claim.value):.0f} %, on a smaller GPU. On one CPU core it is "
        f"{100 * (1 - step.metrics['relative_speed']):.0f} %.\n"
        f"- **{100 * where.metrics['share_plain_products']:.0f} % of a step of RoMAE-tiny is matrix products.** The "
        f"whole step reaches {100 * where.metrics['of_achievable']:.0f} % of the rate of a large product.\n"
        f"- **Batches of like length, packed, train {gain:.1f} times as many real tokens per second.** With lengths as "
        f"of light curves, where {100 * m['padding_curves_naive']:.0f} % of random batches is padding."
    )


def encodings(get: Get, exp: Speed, live: Mapping[str, float]) -> Table:
    """Speed relative to absolute positions, beside Table 9, and of the chapter's own race."""
    claims = {c.where["encoding"]: c for c in CLAIMS if c.table == "Table 9"}
    rows = []
    for size, machine in (("small", "gpu"), ("small", "cpu"), ("tiny", "cpu")):
        for encoding, words in (("rope", "continuous"), ("quantised", "quantised")):
            if r := get("encoding", size, encoding, machine):
                where, paper = ("CPU core", "") if machine == "cpu" else (r.device, claims[encoding].printed)
                ratios = (times(r.metrics, key) for key in RATIOS)
                rows.append((f"{words}, RoMAE-{size}, {where}", paper, *ratios))
    if RATIOS[0] in live:
        rows.append((f"your run: {exp.encoder}, {exp.task}", "", *(times(live, key) for key in RATIOS)))
    columns = ("RoPE", "paper", "training step", "forward pass", "step, fast form", "forward, fast form")
    caption = (
        "Speed relative to absolute positions in the same form, which are 1 (smallest to largest ratio of a round). "
        "The paper's GPU is a GTX 1650 Ti."
    )
    return Table(columns, rows, caption)


def beside(get: Get, exp: Speed, live: Mapping[str, float]) -> Markdown:
    """The chapter's own race, and the recorded one that is nearest to it."""
    record = get("encoding", exp.encoder) or get("encoding", "tiny")
    if RATIOS[0] not in live or not record:
        return Markdown("We have recorded no race to set beside yours.")
    mine, ours = live[RATIOS[0]], record.metrics
    low, high = (ours[f"{RATIOS[0]}_{end}"] for end in ("low", "high"))
    place = "inside" if low <= mine <= high else "outside"
    return Markdown(
        f"Your run: with continuous positions a step has **{mine:.2f}** of the speed with absolute ones. That is "
        f"{place} the range of our race with RoMAE-{record.config['encoder']}, {low:.2f} to {high:.2f}."
    )


def rates(get: Get) -> dict[str, dict[str, float]]:
    """Real tokens a second by what lengths are like, and by how batches are made."""
    kinds = {"stays in intensive care": "stays", "light curves": "curves"}
    record = get("ragged", "tiny")
    return {
        words: {how: record.metrics[f"tokens_per_second_{kind}_{way}"] for way, how in WAYS.items()}
        for words, kind in kinds.items()
    } if record else {}


def growth(get: Get) -> tuple[Sequence[int], Mapping[str, float]]:
    """Lengths, and the metrics of the measurement that grew them."""
    metrics = get("length", "tiny-shallow").metrics
    return sorted(int(k.rpartition("_")[2]) for k in metrics if k.startswith("memory_mb_")), metrics

"""Sentences and tables of chapter 13, from the records of the experiment `speed`."""

from collections.abc import Callable, Mapping

import numpy as np

from ..experiments.elasticc.experiment import REAL
from ..explorables.speed import cost
from ..lab.records import Record, load_all
from ..paper.claims import CLAIMS
from ..paper.speedrun import TARGETS, by_preset
from .tables import Table

Get = Callable[..., Record | None]  # what `measurements` returns


def measurements() -> Get:
    """Return a function of (measure, encoder, encoding="rope", machine="cpu") that has the record, or None."""
    records = {}
    for record in load_all(experiment="speed").records:
        if record.tier != "smoke":
            config = record.config
            records.setdefault((config["measure"], config["encoder"], config["encoding"], config["machine"]), record)

    def get(measure: str, encoder: str, encoding: str = "rope", machine: str = "cpu") -> Record | None:
        return records.get((measure, encoder, encoding, machine))

    return get


def not_recorded(*measures: str) -> str:
    """What stands in the place of a measurement that nobody has recorded."""
    return f"Not recorded yet: {', '.join(measures)}. `python -m romae_lite campaign speed` records what is missing."


def times(metrics: Mapping[str, float], name: str) -> str:
    """A ratio with its range."""
    low, high = metrics[f"{name}_low"], metrics[f"{name}_high"]
    return f"{metrics[name]:.2f} ({low:.2f} to {high:.2f})"


def where(record: Record) -> str:
    """The device of a record, and how it was measured."""
    threads = record.device.replace("cpu, ", "").split(",")[0]
    on_cpu = record.device.startswith("cpu")
    device = f"a CPU with {threads.replace('1 threads', 'one thread')}" if on_cpu else record.device
    return f"{device}, {record.precision}, {record.config['rounds']} rounds, load {record.metrics['load']:.0f}"


def findings(get: Get) -> str:
    """What the chapter opens with, a list in Markdown."""
    lines, forward = [], ""
    if r := get("encoding", "tiny"):
        forward = (
            f" A forward pass of RoMAE-tiny runs at {times(r.metrics, 'relative_speed_forward')} in the plain "
            f"and at {times(r.metrics, 'relative_speed_forward_fast')} in the fast form"
        )
        if q := get("encoding", "tiny", "quantised"):
            same = times(q.metrics, "relative_speed_forward_fast")
            forward += f" (with quantised positions, the same work, {same})"
        forward += "."
    if r := get("encoding", "small"):
        lines.append(
            f"A training step of RoMAE-small with continuous positions runs at {times(r.metrics, 'relative_speed')} of "
            f"the speed with absolute ones in the plain code, and at {times(r.metrics, 'relative_speed_fast')} of it "
            f"in the fast form ({where(r)}); the paper measured 0.87 on its GPU.{forward}"
        )
    if r := get("roofline", "tiny"):
        lines.append(
            f"{100 * r.metrics['share_plain_products']:.0f} % of a step of RoMAE-tiny is matrix products, and a whole "
            f"step reaches {100 * r.metrics['of_achievable']:.0f} % of the rate of a product of two large matrices in "
            "the same round."
        )
    if r := get("ragged", "tiny"):
        m = r.metrics
        gain = m["tokens_per_second_curves_packed"] / m["tokens_per_second_curves_naive"]
        lines.append(
            f"Where lengths differ as those of light curves do, {100 * m['padding_curves_naive']:.0f} % of the slots "
            f"of random batches are padding; packing trains {gain:.1f} times as many real tokens per second."
        )
    lines.append("No GPU has run any of this; what is prepared for one is at the end.")
    return "\n".join(f"- {line}" for line in lines)


def roofline(profiles: Mapping[str, Record]) -> Table:
    """Operations of a step and their rate, for each size."""
    rows = []
    for size, record in profiles.items():
        m = record.metrics
        rate = (f"{m['gflop_per_step']:.1f}", f"{m['gflops_step']:.0f}", f"{m['gflops_achievable']:.0f}")
        bound = f"{1 / m['share_plain_products']:.2f}"
        rows.append((f"RoMAE-{size}", *rate, times(m, "of_achievable"), bound))
    columns = (
        "model", "10⁹ operations a step", "10⁹ a second", "achievable", "share of achievable", "Amdahl's bound",
    )
    note = "achievable: the fastest round; share: median over rounds of the ratio within one"
    return Table(columns, rows, f"{note}; " + "; ".join(f"{size}: {where(r)}" for size, r in profiles.items()))


def encodings(get: Get) -> Table:
    """Speed relative to absolute positions, beside Table 9."""
    claims = {c.where["encoding"]: c for c in CLAIMS if c.table == "Table 9"}
    keys = ("relative_speed", "relative_speed_forward", "relative_speed_fast", "relative_speed_forward_fast")
    rows = []
    for size in ("small", "tiny"):
        for encoding, words in (("rope", "continuous"), ("quantised", "quantised")):
            if r := get("encoding", size, encoding):
                paper = claims[encoding].printed if size == "small" else "–"
                ratios = (times(r.metrics, key) for key in keys)
                rows.append((f"{words}, RoMAE-{size}", paper, *ratios, f"{r.metrics['load']:.0f}"))
    columns = ("RoPE", "paper, training", "training step", "forward", "fast: training step", "fast: forward", "load")
    shapes = "small: 196 patches, 75 % hidden; tiny: 75 points, 60 % hidden"
    return Table(columns, rows, f"Speed relative to absolute positions, which are 1 ({shapes}).")


def ragged(get: Get) -> Table:
    """Padding and real tokens a second by the way in which batches are made."""
    record, rows = get("ragged", "tiny"), []
    ways = {
        "naive": "random order, padded",
        "grouped": "grouped",
        "packed": "packed",
        "grouped_packed": "grouped and packed",
    }
    for kind, words in (("stays", "stays in intensive care"), ("curves", "light curves")) if record else ():
        m = record.metrics
        for way, how in ways.items():
            padding = m[f"padding_{kind}_{'grouped' if 'grouped' in way else 'naive'}"]
            rate = f"{m[f'tokens_per_second_{kind}_{way}']:,.0f}"
            rows.append((words, how, f"{100 * padding:.0f} %", rate, times(m, f"of_dense_{kind}_{way}")))
    caption = "RoMAE-tiny, training steps; dense: 75 tokens each, nothing padded, plain code; "
    columns = ("lengths as of", "batches", "padding in them", "real tokens a second", "of the dense rate")
    return Table(columns, rows, caption + (where(record) if record else ""))


def units(get: Get) -> str:
    """Seconds to import, curves a second, the share of the input: a list in Markdown."""
    lines = []
    if r := get("start", "tiny"):
        m = r.metrics
        lines.append(
            f"`import torch` computes for {m['seconds_torch']:.1f} s; `import romae_lite` loads nothing until it is "
            f"used, and with all its names loaded takes {times(m, 'over_torch_everything')} times as long as torch "
            "alone. A first training step, which needs few of them, is done after "
            f"{m['seconds_step']:.1f} s ({where(r)})."
        )
    for size in ("tiny-shallow", "tiny"):
        if r := get("inference", size):
            m = r.metrics
            lines.append(
                f"RoMAE-{size} classifies {m['curves_per_second_fast']:,.0f} light curves a second "
                f"({m['curves_per_second_low']:,.0f} to {m['curves_per_second_high']:,.0f}) of "
                f"{m['tokens_per_curve']:.0f} points on average, grouped and in the fast form; "
                f"{m['curves_per_second_naive']:,.0f} padded at random ({where(r)})."
            )
    if r := get("input", "small"):
        m = r.metrics
        lines.append(
            "Pictures cost little before the model sees them: from 8-bit pixels to standardised patches is "
            f"{100 * m['input_share_pretrain']:.1f} % of a pre-training step and "
            f"{100 * m['input_share_fine_tune']:.1f} % of a step of fine-tuning, at the size of chapter 11's recorded "
            f"runs, without augmentation ({where(r)})."
        )
    lacking = [name for name, size in (("start", "tiny"), ("inference", "tiny-shallow")) if not get(name, size)]
    lines += [not_recorded(*lacking)] * bool(lacking)
    return "\n".join(f"- {line}" for line in lines)


def speed_runs() -> Table:
    """Seconds until a score is reached, for each preset that was run."""
    rows = []
    for target in TARGETS:
        for preset, runs in by_preset(load_all(experiment=target.experiment).records, target).items():
            there = sorted(seconds for _, seconds in runs if seconds is not None)
            span = f"{there[0]:,.0f} to {there[-1]:,.0f}" if len(there) > 1 else f"{there[0]:,.0f}" if there else "–"
            median = f"{np.median(there):,.0f}" if there else "never"
            devices = ", ".join(sorted({r.device for r, _ in runs}))
            count = f"{len(there)} of {len(runs)}"
            rows.append((target.experiment, target.words, preset, count, median, span, devices))
    columns = ("experiment", "target", "preset", "runs that reached it", "median, s", "range, s", "device")
    return Table(columns, rows)


def hours(get: Get, curves: int = REAL, epochs: int = 200, length: int = 64) -> Table:
    """Hours of the paper's largest run, ELAsTiCC's training curves of an assumed number of tokens, by rate."""
    rows = []
    for size in ("tiny-shallow", "tiny"):
        chosen = next(s for s in cost.sizes() if s["name"] == size)
        rates = {f"{1000 * r:,.0f}": r * 1000 for r in (1, 10, 50)}
        if r := get("roofline", "tiny"):
            measured = r.metrics["gflops_step"]
            rates = {f"{measured:.0f} (measured with tiny: one core)": measured} | rates
        rows += [(size, name, f"{cost.hours(chosen, length, curves, epochs, r):,.1f}") for name, r in rates.items()]
    note = f"{curves:,} curves of {length} tokens (assumed), {epochs} epochs, 75 % hidden, nothing padded"
    return Table(("encoder", "10⁹ operations a second", "hours"), rows, note)

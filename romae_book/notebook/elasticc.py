"""Sentences and tables of chapter 10, from the records of the experiment `elasticc` and from a live run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from IPython.display import Markdown
from torch import Tensor, nn

from romae_lite.rope import frequencies, rotate
from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..experiments.elasticc.data import DETECTED, LightCurves, alert_window
from ..experiments.elasticc.experiment import ELAsTiCC
from ..lab.runs import Runs, paired, runs_of
from ..lab.summary import Summary
from ..paper.claims import CLAIMS
from .tables import Table

USUAL, ANOTHER = "small model, our settings", "with the alert mask (another task)"
CHANGES = {
    USUAL: {},
    "without pre-training": {"pretrain_epochs": 0},
    "times in whole days": {"encoding": "quantised"},
    "unit a tenth of a day": {"position_scale": 10.0},
    "time 0 is MJD 0": {"origin": "mjd"},
    "fluxes not scaled at all": {"scaling": "none"},
    ANOTHER: {"alert_mask": True},
}
IMITATED = {
    "SN Ia": "exploding white dwarf",
    "SN II": "collapsing giant star",
    "SLSN": "very bright supernova",
    "TDE": "star torn up by a black hole",
    "KN": "merging neutron stars",
    "uLens": "star magnified by a passing lens",
    "Dwarf nova": "outbursts in a pair of stars",
    "Flare": "flare of a small star",
    "AGN": "feeding black hole",
    "RR Lyrae": "pulsating, less than a day",
    "Cepheid": "pulsating, days",
    "Delta Scuti": "pulsating, hours",
    "EB": "pair that eclipses itself",
    "Mira": "pulsating, about a year",
}


def runs_by_change() -> dict[str, Runs]:
    """The runs on made-up light curves by what was changed; only what was run."""
    runs = {name: runs_of(ELAsTiCC.small().replace(**change)) for name, change in CHANGES.items()}
    return {name: found for name, found in runs.items() if found}


def runs_on_elasticc() -> list:
    """The runs on ELAsTiCC's own light curves."""
    return [r for encoder in ("tiny", "tiny-shallow") for r in runs_of(ELAsTiCC.paper().replace(encoder=encoder))]


def gains(groups: Mapping[str, Runs]) -> dict[str, Summary]:
    """What each change adds to the macro F-score, seed by seed."""
    base = groups.get(USUAL, ())
    found = {name: paired(runs, base, "f1_macro") for name, runs in groups.items() if name != USUAL}
    return {name: gap for name, gap in found.items() if gap is not None}


def findings(groups: Mapping[str, Runs], real: Sequence) -> Markdown:
    """What the chapter opens with."""
    lines, base = [], groups.get(USUAL)
    if not real:
        lines.append(
            "Nothing in this chapter was run on ELAsTiCC or speaks for or against Table 4: all light curves are made "
            "up, to test settings against each other."
        )
    if base:
        ours, forest = base.summary("f1_macro"), base.summary("f1_macro_forest")
        lines.append(
            f"On {len(base)} made-up sets, 8000 light curves to train on and 3000 to test, a small RoMAE has a macro "
            f"F-score of **{ours.text(1, 3)}**, a random forest on hand-made features {forest.text(1, 3)} "
            f"(n = {ours.n} seeds)."
        )
    alike = {name: gap for name, gap in gains(groups).items() if name != ANOTHER}
    sure = {name: gap for name, gap in alike.items() if gap.low is not None and gap.low * gap.high > 0}
    if sure:
        first = max(sure, key=lambda name: abs(sure[name].mean) / (sure[name].high - sure[name].low))
        lines.append(
            f"Of {len(alike)} settings, changed one at a time, {len(sure)} have a 95 % interval of the paired "
            f"difference that leaves out 0 (n = {sure[first].n} seeds), which some do by chance. The one with the "
            f"narrowest interval for its size is “{first}”: {sure[first].text(1, 3)}."
        )
    sines = paired(runs_of(ELAsTiCC.small().replace(encoding="absolute")), base or (), "f1_macro")
    if sines:
        lines.append(
            f"Added sines and cosines of time and band in RoPE's place change it by {sines.text(1, 3)} "
            f"(n = {sines.n}), the learning rate left as it is; {{doc}}`what a position encoding is worth "
            "</book/encodings>` has each encoding at rates of its own."
        )
    return Markdown("\n".join(f"- {line}" for line in lines))


def flux_sizes(exp: ELAsTiCC, curves: LightCurves, kind: str) -> Table:
    """How large fluxes are as they are and scaled, and what the brightest add to a sum of squares."""
    rows = []
    for name, scaling in (("as they are", "none"), ("asinh of flux over error", "asinh")):
        tokens = exp.replace(scaling=scaling).tokens(curves)
        values = tokens.values[tokens.real][:, 0].double()
        top = values.square().sort(descending=True).values
        share = float(top[: len(top) // 100].sum() / top.sum())
        sizes = np.quantile(values.abs(), (0.5, 0.99, 1.0))
        rows.append((name, *(f"{size:.3g}" for size in sizes), f"{100 * share:.0f} %"))
    return Table(("flux", "median size", "99 %", "largest", "brightest 1 % in the sum of squares"), rows, kind)


def _scores(time: Tensor, gap: Tensor, unit: float, dtype: torch.dtype) -> Tensor:
    """Scores of random queries at `time` and keys a `gap` later, (pairs,) days, with angles computed in dtype."""
    q, k = torch.randn(2, 1, len(time), 1, 30, generator=seeded(3))
    where = torch.stack((time, time + gap)).to(torch.float64).mul(unit).to(dtype)  # (2, pairs)
    phase = (where[..., None] * frequencies(30).to(dtype)).double().remainder(2 * np.pi).float()
    turned = [rotate(x, p.cos()[None, :, None], p.sin()[None, :, None]) for x, p in zip((q, k), phase, strict=True)]
    return (turned[0] * turned[1]).sum(-1).flatten() / 30**0.5


def drift_of_scores(pairs: int = 2000) -> Table:
    """How far float32 moves a score of two visits up to a day apart, at day 0 and at day 60 000, by unit of time."""
    start, gap = torch.rand(2, pairs, generator=seeded(4), dtype=torch.float64)
    rows = []
    for unit, name in ((1, "day"), (10, "tenth of a day"), (24, "hour"), (1440, "minute"), (86_400, "second")):
        exact = _scores(start, gap, unit, torch.float64)
        drift = []
        for zero in (0, 60_000):
            off = _scores(start + zero, gap, unit, torch.float32) - exact
            drift.append(f"{float(off.square().mean().sqrt() / exact.std()):.1e}")
        again = _scores(start + 60_000, gap, unit, torch.float64) - exact
        assert again.abs().max() < 1e-2 * exact.std()  # float64 keeps its promise in every unit
        step = float(np.spacing(np.float32(60_000 * unit))) / unit * 24 * 60
        rows.append((name, f"{step:.2g} min", *drift))
    columns = ("unit of time", "step of float32 at MJD 60 000", "drift of scores, day 0", "drift, day 60 000")
    note = "float32 angles; drift: root mean square change of a score, over the scores' standard deviation"
    return Table(columns, rows, note)


def classes(exp: ELAsTiCC, curves: LightCurves, kind: str) -> Table:
    """What each class imitates, and how many visits and detections its light curves have."""
    cut, rows = alert_window(curves), []
    detections = np.add.reduceat((curves.flags & DETECTED) > 0, curves.start[:-1])
    for k, name in enumerate(exp.names):
        mine = curves.label == k
        if mine.any():
            means = (f"{count[mine].mean():.0f}" for count in (curves.count, detections, cut.count))
            rows.append((name, IMITATED.get(name.removesuffix("-like"), ""), int(mine.sum()), *means))
    columns = ("class", "what it imitates", "light curves", "visits", "detections", "visits under the alert mask")
    return Table(columns, rows, f"test, {kind}")


def live_scores(live: Mapping[str, float], others: Mapping[str, float], caption: str) -> Table:
    """Scores of the live run beside its opponents', those that were run: the forest needs scikit-learn."""
    scores = {f"{key}_live": value for key, value in live.items()} | others
    names = {"live": "RoMAE, live run", "forest": "random forest", "majority": "most frequent class"}
    rows = [
        (name, *(f"{scores[f'{metric}_{key}']:.3f}" for metric in ("f1_macro", "accuracy")))
        for key, name in names.items()
        if f"accuracy_{key}" in scores
    ]
    return Table(("", "macro F-score", "accuracy"), rows, caption)


def rounded_times(exp: ELAsTiCC, model: nn.Module, test: Tokens, kind: str) -> Table:
    """Score, and share of probability that changes sides, where the times of the test set are rounded."""
    steps = {
        "exact": None,
        "2⁻⁸ day, float32 at 60 000": 2**-8,
        "an hour": 1 / 24,
        "a quarter of a day": 0.25,
        "a day": 1.0,
        "ten days": 10.0,
    }
    before, rows = exp.logits(model, test), []
    for name, step in steps.items():
        position = test.positions.clone()
        if step:
            unit = step * exp.position_scale
            position[..., 1] = (position[..., 1] / unit).round() * step * exp.position_scale
        after = exp.logits(model, replace(test, positions=position))
        moved = float((after.softmax(1) - before.softmax(1)).abs().sum(1).mean() / 2)
        rows.append((name, f"{exp.report(after.argmax(1), test.aux['label'])['f1_macro']:.3f}", f"{moved:.4f}"))
    return Table(("times rounded to", "macro F-score", "probability moved"), rows, f"live run, {kind}")


def pairs(groups: Mapping[str, Runs]) -> Table:
    """What each change adds, with its interval and seed by seed."""
    rows = [(name, d.text(1, 3), ", ".join(f"{v:+.3f}" for v in d.values)) for name, d in gains(groups).items()]
    return Table(("changed", "macro F-score, change [95 % interval]", "seed by seed"), rows)


def faster_clock(groups: Mapping[str, Runs]) -> Table:
    """The classes that lose most by the unit of a tenth of a day, and the two of the shortest periods."""
    base, faster = groups[USUAL], groups["unit a tenth of a day"]
    lost = {name: paired(faster, base, f"f1_{name}") for name in ELAsTiCC.small().names}
    worst = sorted(lost, key=lambda name: lost[name].mean)[:6]
    worst += [name for name in lost if name in ("RR Lyrae-like", "Delta Scuti-like") and name not in worst]
    rows = [(n, f"{np.mean([r.metrics[f'f1_{n}'] for r in base]):.2f}", lost[n].text(1, 2)) for n in worst]
    columns = ("class", "F1, unit a day", "change with a tenth of a day [95 %]")
    return Table(columns, rows, "the six classes that lose most, and the two whose periods are shorter than a day")


def scores_by_day(exp: ELAsTiCC, arrays: Sequence[Mapping[str, np.ndarray]]) -> np.ndarray:
    """Macro F-score of each seed where only so many days are known, (seeds, T)."""

    def score(predicted: np.ndarray, label: np.ndarray) -> float:
        return exp.report(*(torch.from_numpy(x.astype(np.int64)) for x in (predicted, label)))["f1_macro"]

    return np.array([[score(day, a["label"]) for day in a["by_day"]] for a in arrays])


def table4(real: Sequence) -> Table:
    """The paper's scores, as printed."""
    claims = [c for c in CLAIMS if c.experiment == "elasticc"]
    rows = [(", ".join(filter(None, (c.row, c.column))), c.printed, c.note) for c in claims]
    note = "as printed" if real else "as printed; nothing of ours stands beside it"
    return Table(("Table 4 and the authors' README", "macro F-score", "remark"), rows, note)

"""Who fills gaps, and who names classes, on real data: {who_wins} gaps, {who_wins} classes; from results/who_wins.json
and results/classes.json, which `python -m benchmarks.gaps` and `python -m benchmarks.classes` write."""

import json
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from romae_book import figures
from romae_book.lab.records import results_dir

from .templates import render

METHODS = {  # mark and colour
    "monotone cubics": ("+", "grey"), "Kalman smoother": ("x", "grey"), "Gaussian processes": ("s", "green"),
    "fill": ("o", "blue"), "Interpolator": ("D", "blue"),
}
ALONE = ("SAITS",)  # in the table alone: its worst would squeeze the picture; not of all draws
LINES, DRAWS, WORSE = "straight lines", 6, 1.03


class Score(NamedTuple):
    """One method on one table: means over draws; the error over that of straight lines is a geometric one."""

    table: str
    method: str
    holdout: str  # "" for both
    ratio: float
    low: float
    high: float
    gain: float  # of log-likelihood, nats a value
    crps: float  # over that of lines
    within1: float
    within2: float
    seconds: float


def read(root: Path | None = None) -> dict:
    return json.loads((Path(root or results_dir()) / "who_wins.json").read_text(encoding="utf-8"))


def scores(record: dict, split: bool = False) -> list[Score]:
    """Of every table and method, over those draws that all methods but ALONE have; split: hold-outs apart."""
    draws = defaultdict(dict)
    for row in record["rows"]:
        draws[row["table"], row["holdout"], row["seed"]][row["method"]] = row
    whole = {key: its for key, its in draws.items() if {LINES, *METHODS} <= set(its)}
    groups = defaultdict(list)
    for (table, holdout, _), its in whole.items():
        for method in (m for m in (*METHODS, *ALONE) if m in its):
            groups[table, method, holdout if split else ""].append((its[method], its[LINES]))
    found = []
    for key, pairs in groups.items():
        log = np.log([its["error"] / base["error"] for its, base in pairs])
        mean = {n: float(np.mean([its[n] for its, _ in pairs])) for n in ("within1", "within2", "seconds")}
        gain = np.mean([its["likelihood"] - base["likelihood"] for its, base in pairs])
        crps = np.exp(np.mean([np.log(its["crps"] / base["crps"]) for its, base in pairs]))
        ratios = np.exp([log.mean(), log.min(), log.max()]).tolist()
        found.append(Score(*key, *ratios, float(gain), float(crps), **mean))
    return sorted(found, key=lambda s: (s.table, s.holdout, [*ALONE, *METHODS].index(s.method)))


def gaps_html(root: Path | None = None) -> str:
    record = read(root)
    each, apart = scores(record), scores(record, split=True)
    rows = []
    for method in (*ALONE, *METHODS):
        mine = [s for s in each if s.method == method]
        if not mine:
            continue
        worst = max((s for s in apart if s.method == method), key=lambda s: s.ratio)
        mean = {n: np.mean([getattr(s, n) for s in mine]) for n in ("gain", "within1", "within2")}
        draws = len([r for r in record["rows"] if r["method"] == method])
        rows.append((
            method + f" ({draws} draws)" * (method in ALONE), np.exp(np.mean([np.log(s.ratio) for s in mine])), worst,
            np.exp(np.mean([np.log(s.crps) for s in mine])), mean, np.median([s.seconds for s in mine]),
        ))
    draws = len({(r["table"], r["holdout"], r["seed"]) for r in record["rows"] if r["method"] == "Interpolator"})
    return render(
        "gaps.html", record=record, makers=makers(record), rows=rows, apart=apart, draws=draws,
        planned=DRAWS * len(record["data"]),
        worse=[s for s in apart if s.method in ("fill", "Interpolator") and s.ratio > WORSE],
        picture=picture(each).html() if each else "",
    )


def makers(record: dict) -> list[tuple[list[str], dict]]:
    """Which methods were run at the same commit, with the same packages."""
    groups = defaultdict(list)
    for name, by in record["made"].items():
        groups[json.dumps({**by, "created": ""}, sort_keys=True)].append((name, by))
    return [([name for name, _ in its], max((by for _, by in its), key=lambda by: by["created"]))
            for its in groups.values()]


def picture(found: list[Score]) -> figures.Picture:
    """A row for each table, a mark for each method: its error over that of straight lines; bars from the best to the
    worst draw."""
    found = [s for s in found if s.method in METHODS]
    tables = sorted({s.table for s in found}, key=lambda t: -next(
        s.ratio for s in found if s.table == t and s.method == "Interpolator"
    ))
    with figures.style():
        fig, ax = plt.subplots(figsize=(4.7, 0.9 + 0.36 * len(tables)))
        for i, table in enumerate(tables):
            ax.axhline(i, color=figures.INK, lw=0.5, alpha=0.25)
            for s in (s for s in found if s.table == table):
                mark, colour = METHODS[s.method]
                full = s.method == "Interpolator"
                if full:
                    ax.plot((s.low, s.high), (i, i), color=figures.COLOURS[colour], lw=3, alpha=0.3, ls="-")
                face = figures.COLOURS[colour] if full else "none"
                ax.plot(s.ratio, i, mark, color=figures.COLOURS[colour], mfc=face, ms=6.5, mew=1.6)
        for method, (mark, colour) in METHODS.items():
            face = figures.COLOURS[colour] if method == "Interpolator" else "none"
            ax.plot([], [], mark, color=figures.COLOURS[colour], mfc=face, ms=6.5, mew=1.6, label=method)
        ax.axvline(1, color=figures.INK, lw=1.2)
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        ticks = [t for t in (0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2) if low <= t <= high]
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_yticks(np.arange(len(tables)), [name.replace("_", " ") for name in tables])
        ax.set(ylim=(len(tables) - 0.4, -0.6), xlabel="error over that of straight lines: left of 1 is better")
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.35, -0.5 / (0.5 + 0.2 * len(tables))), ncols=2,
                  handlelength=1.5, columnspacing=1.2)
        alt = "Error over that of straight lines: " + "; ".join(
            f"{s.table.replace('_', ' ')}, {s.method}: {s.ratio:.2f}" for s in found
        )
        drawn = figures.render(fig, alt)
    plt.close(fig)
    return drawn


def classes_html(root: Path | None = None) -> str:
    path = Path(root or results_dir()) / "classes.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return render("classes.html", surveys=found)

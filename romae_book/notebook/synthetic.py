"""Chapter 06: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import Markdown

from ..experiments.base import numpy_rng
from ..experiments.synthetic import rivals
from ..experiments.synthetic.data import GRIDS, NOISE
from ..experiments.synthetic.experiment import COUNTS, Synthetic
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary, summarise
from ..paper.claims import CLAIMS
from .tables import Table, table

PREDICTORS = {"gp": "Gaussian process", "linear": "linear interpolation", "spline": "cubic spline", "zero": "zero"}
COLUMNS = {"mse_noisy": "3 to 10", **{f"mse_noisy_n{n}": f"{n}" for n in (3, 5, 10, 20)}}
LABEL = "MSE to the noisy points, by number observed"


def above(runs: Sequence, key: str = "mse_noisy") -> Summary:
    """Per cent above the Gaussian process on the same series and masks, run by run."""
    return summarise(100 * (r.metrics[key] / r.metrics[f"{key}_gp"] - 1) for r in runs)


def of_unit(scale: float) -> Runs:
    """Our settings, shorter, with positions times `scale`."""
    return runs_of(Synthetic.best().replace(n_train=32_000, position_scale=scale))


def claims() -> dict:
    return {c.row: c for c in CLAIMS if c.experiment == "synthetic"}


def findings(by_table: Sequence, same_data: Sequence, ours: Sequence) -> Markdown:
    """Records by Table 20, by our settings on the paper's amount of data, and by our settings."""
    paper, best, lines = Synthetic.paper(), Synthetic.best(), []
    if by_table and ours:
        first, second = above(by_table), above(ours)
        lines.append(
            f"By Table 20 RoMAE's mean squared error, averaged over 3 to 10 observed points, is "
            f"{summarise(r.metrics['mse_noisy'] for r in by_table).mean:.3f} (n = {first.n} seeds, {paper.n_test} test "
            f"series each): **{first.text(1, 0)} %** above the Gaussian process that knows the generator, which nobody "
            f"can beat. Table 7 has {claims()['RoMAE-tiny'].show()}, probably over the same numbers of points."
        )
        lines.append(
            f"A small model with settings of our own is **{second.text(1, 1)} %** above it (n = {second.n}), from "
            f"{best.n_train:,} series shown once each: {best.n_train // paper.n_train} times the paper's data."
        )
        if same_data:
            lines[-1] += (
                f" On the paper's {paper.n_train} series, shown {best.n_train // paper.n_train} times each, it is "
                f"{above(same_data).mean:.1f} % above (n = {len(same_data)})."
            )
    units = [of_unit(scale) for scale in (1.0, 10.0, 50.0)]
    if all(units):
        slow, fast = above(units[0]), above(units[-1])
        lines.append(
            f"The unit of time matters: from 32,000 series the same model is **{slow.text(1, 0)} %** above it with the "
            f"paper's times from 0 to 1, and {fast.mean:.1f} % with neighbouring points one unit apart (n = {slow.n} "
            f"and {fast.n})."
        )
    moved = runs_of(paper.replace(position_scale=50.0))
    if by_table and moved:
        lines[-1] += (
            f" So it does for the paper's own model and recipe: with nothing changed in Table 20 but that, it is "
            f"**{above(moved).text(1, 1)} %** above it (n = {len(moved)})."
        )
    text = "\n".join(f"- {line}" for line in lines)
    return Markdown(text or "The runs that this chapter rests on are not recorded yet.")


def best_possible(n: int, grid: str, masks: int = 2000) -> float:
    """Expected squared error to the noisy points that are not observed, with n observed, at random."""
    observed = numpy_rng(0, n).random((masks, len(GRIDS[grid][0]))).argsort(1) < n
    variance = rivals.posterior(np.zeros(observed.shape), observed, grid)[1]
    return variance[~observed].mean() + NOISE**2


def best_levels() -> dict[str, dict[int, float]]:
    """The best possible error by grid and number of observed points."""
    return {grid: {n: best_possible(n, grid) for n in COUNTS} for grid in GRIDS}


def table_of_levels(levels: Mapping) -> Table:
    counts = (3, 5, 7, 9, 10, 15, 20, 25)
    names = {"authors": "authors' grid", "from-zero": "one step earlier", "hetvae": "HeTVAE's grid"}
    rows = [(f"best possible, {name}", *(f"{levels[grid][n]:.3f}" for n in counts)) for grid, name in names.items()]
    return Table(("observed points", *map(str, counts)), rows)


def table_7(levels: Mapping, optimum: Mapping[str, float]) -> Table:
    """The paper's Table 7 beside the best possible; optimum: means over the numbers of points of a test."""
    spread = np.std([levels["hetvae"][n] for n in range(3, 10)])
    rows = [
        ("best possible, authors' grid", "3 to 10", f"{optimum['authors']:.3f}", ""),
        ("best possible, HeTVAE's grid", "3 to 9", f"{optimum['hetvae']:.3f}", f"{spread:.3f}"),
    ]
    for name, claim in claims().items():
        mean, _, std = claim.printed.replace(")", "").partition(" (")
        rows.append((f"Table 7, {name}", "not said", mean, std))
    return Table(("", "observed points", "mean squared error", "standard deviation"), rows)


def table_of_predictors(baselines: Mapping[str, float]) -> Table:
    rows = {name: {key: baselines[f"{key}_{short}"] for key in COLUMNS} for short, name in PREDICTORS.items()}
    return table(rows, COLUMNS, label=LABEL, decimals=3)


def table_of_budgets(live: Synthetic) -> Table:
    rows = []
    for name, e in (("Table 20", Synthetic.paper()), ("our settings", Synthetic.best()), ("live run", live)):
        steps = e.epochs * -(-e.n_train // e.batch)
        cells = (f"{e.n_train:,}", e.epochs, e.batch, f"{steps:,}", e.optimizer, e.lr, f"{e.position_scale:g}")
        rows.append((name, *map(str, cells)))
    columns = (
        "", "training series", "epochs", "batch", "steps", "optimiser", "learning rate", "unit: positions ×",
    )
    return Table(columns, rows)


def one_step_earlier() -> Runs:
    """By Table 20 on the grid of our own settings."""
    return runs_of(Synthetic.paper().replace(grid="from-zero"))


def table_of_runs(kinds: Mapping[str, Sequence], by_table: Sequence, ours: Sequence) -> Table:
    """kinds: records by setting; below them, what the others score on the same test sets."""
    rows = dict(kinds)
    if earlier := one_step_earlier():
        rows["Table 20, one step earlier"] = earlier
    for runs, whose in ((by_table, ""), (ours, ", one step earlier")) if kinds else ():
        for short, name in PREDICTORS.items():
            if runs and (short == "gp" or not whose):
                means = {key: np.mean([r.metrics[f"{key}_{short}"] for r in runs]) for key in COLUMNS}
                rows[f"{name}{whose}"] = means
    return table(rows, COLUMNS, label=LABEL, decimals=3)


def table_of_units() -> Table:
    groups = {f"our settings, shorter, positions × {scale:g}": of_unit(scale) for scale in (1.0, 10.0, 50.0)}
    groups["our settings, shorter, with [CLS]"] = runs_of(Synthetic.best().replace(n_train=32_000, cls=True))
    groups["Table 20, positions × 50"] = runs_of(Synthetic.paper().replace(position_scale=50.0))
    rows = [
        (label, runs.summary("mse_noisy").text(1, 3), above(runs).text(1, 1), str(len(runs)))
        for label, runs in groups.items() if runs
    ]
    columns = ("", "MSE, 3 to 10 points", "% above the Gaussian process", "runs")
    return Table(columns, rows, "mean [95 % interval over seeds]")


def units_by_seed() -> Markdown | None:
    by_unit = {s: {r.seed: r.metrics["mse_noisy"] for r in of_unit(s)} for s in (1.0, 10.0, 50.0)}
    if not all(by_unit.values()):
        return None
    fast, lines = by_unit.pop(50.0), []
    for scale, slow in by_unit.items():
        more = summarise(100 * (slow[seed] / fast[seed] - 1) for seed in sorted(slow.keys() & fast.keys()))
        lines.append(f"× {scale:g} errs {more.text(1, 1)} % more than × 50 (n = {more.n} pairs of seeds)")
    return Markdown("Seed by seed, " + "; ".join(lines) + ".")


def table_of_the_leak(by_table: Sequence, same_data: Sequence, ours: Sequence) -> Table:
    often = Synthetic.best().replace(n_train=1600, epochs=80, shared_seed=True)
    fixed = Synthetic.paper().replace(grid="from-zero", shared_seed=True)
    groups = {
        "Table 20": by_table,
        "Table 20, one step earlier": one_step_earlier(),
        "Table 20, one step earlier, points of a series revealed in a fixed order": runs_of(fixed),
        "our settings": ours,
        "our settings, 1600 series × 80": same_data,
        "our settings, 1600 series × 80, fixed order": runs_of(often),
    }
    rows = [
        (label, above(runs).text(1, 1), above(runs, "mse_noisy_leaked").text(1, 1), str(len(runs)))
        for label, runs in groups.items() if runs
    ]
    columns = ("", "fresh series", "its own training series", "runs")
    return Table(columns, rows, "% above the Gaussian process on the same series")

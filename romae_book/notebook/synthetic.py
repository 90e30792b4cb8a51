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
from .tables import Table, table

PREDICTORS = {"gp": "Gaussian process", "linear": "linear interpolation", "spline": "cubic spline", "zero": "zero"}
COLUMNS = {"mse_noisy": "3 to 10", **{f"mse_noisy_n{n}": f"{n}" for n in (3, 5, 10, 20)}}
LABEL = "MSE to the noisy points, by number observed"


def above(runs: Sequence, key: str = "mse_noisy") -> Summary:
    """Per cent above the Gaussian process on the same series and masks, run by run."""
    return summarise(100 * (r.metrics[key] / r.metrics[f"{key}_gp"] - 1) for r in runs)


def findings(by_table: Runs, same_data: Runs, ours: Runs) -> Markdown:
    """Records by Table 20, by our settings on the paper's amount of data, and by our settings."""
    if not (by_table and ours):
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    lines = [
        f"- **By the paper's settings RoMAE errs {above(by_table).mean:.0f} % more than the best possible predictor.** "
        f"That is the mean over 3 to 10 observed points and {len(by_table)} runs.",
        f"- **Our settings come to {above(ours).mean:.1f} %.**",
    ]
    if same_data:
        lines[-1] += (
            f" It is not the number of series: with the paper's {Synthetic.paper().n_train}, shown often, they come to "
            f"{above(same_data).mean:.1f} %."
        )
    if moved := runs_of(Synthetic.paper().replace(position_scale=50.0)):
        lines.append(
            "- **It is the unit of time.** With nothing changed in the paper's settings but that, so that neighbours "
            f"are one unit apart, they come to {above(moved).mean:.1f} % ({len(moved)} runs)."
        )
    return Markdown("\n".join(lines))


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
    names = {"authors": "the authors' times", "hetvae": "HeTVAE's times"}
    rows = [(f"best possible, {name}", *(f"{levels[grid][n]:.3f}" for n in counts)) for grid, name in names.items()]
    return Table(("observed points", *map(str, counts)), rows)


def table_of_predictors(baselines: Mapping[str, float]) -> Table:
    rows = {name: {key: baselines[f"{key}_{short}"] for key in COLUMNS} for short, name in PREDICTORS.items()}
    return table(rows, COLUMNS, label=LABEL, decimals=3)


def table_of_runs(kinds: Mapping[str, Sequence], by_table: Sequence, live: Mapping[str, float]) -> Table:
    """kinds: records by setting; live: metrics of the chapter's own run; below them, what the others score on the test
    sets of by_table."""
    rows = dict(kinds) | {"your run": {key: live[key] for key in COLUMNS}}
    for short, name in PREDICTORS.items() if by_table else ():
        rows[name] = {key: np.mean([r.metrics[f"{key}_{short}"] for r in by_table]) for key in COLUMNS}
    return table(rows, COLUMNS, label=LABEL, decimals=3)

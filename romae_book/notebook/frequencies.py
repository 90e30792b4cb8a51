"""Chapter 04: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

from IPython.display import Markdown

from ..experiments.frequencies.experiment import Frequencies
from ..lab.runs import Runs, runs_of
from ..lab.summary import summarise
from .tables import Table

SCALES = (1.0, 3.0, 10.0, 30.0, 99.0, 300.0)
ByScale = Mapping[float, Runs]  # by the factor on the times


def by_scale() -> ByScale:
    small = Frequencies.small()
    return {scale: runs for scale in SCALES if (runs := runs_of(small.replace(position_scale=scale)))}


def of_predictor(by_scale: ByScale, name: str, key: str = "mse_clean") -> float:
    """Mean error of another predictor on the test sets, one for each seed."""
    by_seed = {run.seed: run for runs in by_scale.values() for run in runs}
    return summarise(run.metrics[f"{key}_{name}"] for run in by_seed.values()).mean


def findings(by_scale: ByScale) -> Markdown:
    if not {1.0, 99.0} <= by_scale.keys():
        return Markdown("Nothing has been recorded yet.")
    slow, fast = (by_scale[scale].summary("mse_clean") for scale in (1.0, 99.0))
    one, three = (by_scale[scale].summary("mse_clean_1hz").mean for scale in (1.0, 3.0))
    return Markdown(
        f"- **The unit decides.** With neighbours one unit apart our small model's squared error is "
        f"{slow.mean / fast.mean:.0f} times smaller than with times in [0, 1].\n"
        f"- **We cannot explain the size.** From × 1 to × 3 the limit on a difference of scores grows three times. The "
        f"error of a sine of 1 Hz falls {one / three:.0f} times."
    )


def recorded(exp: Frequencies) -> Runs:
    """Runs of the preset small in the unit of a chapter's run."""
    return runs_of(Frequencies.small().replace(position_scale=exp.scale))


def table_of_scales(by_scale: ByScale) -> Table:
    sines = ("mse_clean_1hz", "mse_clean_12hz", "mse_clean_24hz")
    rows = []
    for scale, runs in by_scale.items():
        cells = (runs.summary("mse_clean").text(), *(f"{runs.summary(key).mean:.4f}" for key in sines))
        rows.append((f"× {scale:g}" + " (the paper's)" * (scale == 1), f"{scale / 99:.2f}", *cells, len(runs)))
    for label, name in (("best possible", "harmonic"), ("predicting zero", "zero")) if by_scale else ():
        cells = (f"{of_predictor(by_scale, name, key):.4f}" for key in ("mse_clean", *sines))
        rows.append((label, "", *cells, ""))
    return Table(
        ("times", "radians to a neighbour", "test set", "1 Hz", "12 Hz", "24 Hz", "runs"),
        rows,
        "Table 4.1. Mean squared error to the clean curve, mean over seeds, with a 95 % interval for the test set, "
        "half of whose series are sums of two sines. The other columns are single sines.",
    )

"""Chapter 04: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

from IPython.display import Markdown

from ..experiments.frequencies.experiment import Frequencies
from ..experiments.periods.experiment import Periods
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
    return Markdown(
        f"- **The unit decides.** With neighbours one unit apart our small model's squared error is "
        f"{slow.mean / fast.mean:.0f} times smaller than with times in [0, 1]."
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


def who_finds_a_period() -> Markdown:
    """What the recorded runs of periods say, beside their figure."""
    page = Periods.page()
    alone, told, finds = (runs_of(page.replace(arm=arm)) for arm in ("ladder", "tuned", "spectral"))
    if not (alone and told and finds):
        return Markdown("Nothing has been recorded yet.")
    kept = sorted(run.metrics["kept"] for run in alone)
    ends = " to ".join(dict.fromkeys(f"{limit:.0f}" for limit in (kept[0], kept[-1])))
    others = {"with times ten times as large": page.replace(position_scale=10.0),
              "after four times the training": page.replace(n_train=4 * page.n_train)}
    limits = {how: runs.summary("kept").mean for how, exp in others.items() if (runs := runs_of(exp))}
    more = f" {', '.join(f'{how} at {limit:.0f}' for how, limit in limits.items())}." if limits else ""
    best = alone.summary("mse_lombscargle").mean
    return Markdown(
        f"- **Attention alone finds slow ones.** Its error passes half of that of predicting zero at {ends} "
        f"cycles (runs: {len(kept)}).{more[:2].upper()}{more[2:]}\n"
        f"- **Told the phase, it follows to the end.** Its squared error is "
        f"{told.summary('mse_64to100').mean:.4f} even above 64 cycles.\n"
        f"- **A periodogram finds the frequency.** Its squared error is {finds.summary('mse').mean:.4f} in all. The "
        f"best fit at the Lomb-Scargle peak, which has to find it too, has {best:.4f}."
    )

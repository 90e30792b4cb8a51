"""Chapter 04: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping

from IPython.display import Markdown

from ..experiments.frequencies.experiment import Frequencies
from ..lab.runs import Runs, runs_of
from ..lab.summary import Summary, summarise
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
        return Markdown("**What we found.** Nothing has been recorded yet.")
    paper, ours = (by_scale[scale].summary("mse_clean") for scale in (1.0, 99.0))
    best, zero = (of_predictor(by_scale, name) for name in ("harmonic", "zero"))
    return Markdown(
        f"**What we found.** A small model fills in half of a noisy sum of sines. With times in [0, 1], as in the "
        f"paper, its mean squared error is {with_n(paper)}. With the same times multiplied by 99, so that neighbouring "
        f"samples are one unit apart, it is {with_n(ours)}: {paper.mean / ours.mean:.0f} times less, all else "
        f"equal. Predicting zero costs {zero:.3f}, the best possible predictor {best:.4f}. The unit in which times are "
        "given is a part of the model. How much of it holds for the paper's larger model and longer training has not "
        "been run."
    )


def with_n(summary: Summary) -> str:
    return f"{summary.text()} (n = {summary.n})"


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


def table_of_changes() -> Table:
    changes = (
        ("a base of 100", {"base": 100.0}, (1, 99)),
        ("twelve encoder layers", {"encoder": "64x4x12x256"}, (1,)),
        ("one encoder layer", {"encoder": "64x4x1x256"}, (99,)),
        ("sines added to the tokens instead of rotations", {"encoding": "absolute"}, (99,)),
    )
    rows = []
    for name, change, scales in changes:
        for scale in scales:
            if runs := runs_of(Frequencies.small().replace(**change, position_scale=float(scale))):
                rows.append((name, f"× {scale}", f"{runs[0].metrics['mse_clean']:.3f}"))
    columns = ("changed", "times", "mean squared error")
    return Table(columns, rows, "Table 4.2. Single runs on one seed, one setting changed.")


def table_of_repeats(by_scale: ByScale) -> Table:
    often = Frequencies.small().replace(n_train=500, epochs=80, fixed_masks=True, position_scale=99.0)
    shown = {
        "10,000 series, 4 times, new masks": by_scale.get(99.0), "500 series, 80 times, fixed masks": runs_of(often),
    }
    rows = [
        (label, runs.summary("mse_noisy").text(), runs.summary("mse_noisy_leaked").text(), len(runs))
        for label, runs in shown.items() if runs
    ]
    return Table(
        ("shown in training", "fresh series", "training series (the leak)", "runs"),
        rows,
        "Table 4.3. Mean squared error to the noisy values; the noise alone is 0.01.",
    )

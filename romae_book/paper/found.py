"""What the book found, each a sentence and a picture whose marks come from records: the page *What we found*."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..experiments.waves.experiment import SHORT
from ..lab.runs import Runs
from . import counts
from .ladder import CELLS, Mark, of_setting
from .statements import Setting


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A finding in a few words, a sentence more, and its picture: (kind of mark, name, setting or id of a cell).

    tests/test_report.py has what must hold of the marks for each id, so that no new record makes a sentence false."""

    id: str
    title: str
    sentence: str
    axis: str
    marks: tuple[tuple[str, str, Any], ...]
    chapter: str
    lab: str
    better: str = "lower"
    scale: float = 1.0


def _of(experiment: str, preset: str, metric: str, **changes) -> Setting:
    return Setting(experiment, preset, metric, changes)


def _uea(preset: str, metric: str, dataset: str, **changes) -> Setting:
    return Setting("uea", preset, metric, {"dataset": dataset, **changes})


def _supernovae(tested_on: str = "random", **changes) -> Setting:
    return _of("lightcurves", "best", "f1_macro", survey="spcc", tested_on=tested_on, **changes)


FINDINGS = (
    Finding(
        id="later", title="Start the clock later, and a model that rotates does not notice.",
        sentence="One whose times are added as sines and cosines does. Neither has a [CLS] token: one that "
        "stays at 0 would notice.",
        axis="mean distance from waves of height 1", chapter="01_rope", lab="waves",
        marks=(
            ("ours", "rotated", _of("waves", "page", "miss", **SHORT)),
            ("ours", "rotated, 20 later", _of("waves", "page", "miss_later20", **SHORT)),
            ("rival", "added", _of("waves", "page", "miss", encoding="absolute", **SHORT)),
            ("rival", "added, 20 later", _of("waves", "page", "miss_later20", encoding="absolute", **SHORT)),
            ("best", "best possible", _of("waves", "page", "miss_best", **SHORT)),
        ),
    ),
    Finding(
        id="unit", title="The unit of time is part of the model.",
        sentence="With neighbouring samples one unit apart, a small model finds sines that it loses when the whole "
        "series is one unit long.",
        axis="squared error on clean sines", chapter="04_units", lab="frequencies",
        marks=(
            ("ours", "the series is the unit", _of("frequencies", "small", "mse_clean")),
            ("ours", "a sample is the unit", _of("frequencies", "small", "mse_clean", position_scale=99.0)),
            ("rival", "always zero", _of("frequencies", "small", "mse_clean_zero")),
        ),
    ),
    Finding(
        id="more-training", title="Train from nothing to the end before you praise pre-training.",
        sentence="On simulated supernovae it is worth fourteen points after twelve passes over a thousand labels, nine "
        "after 48, and nothing after 192. Each at the passes that validation likes best, it is worth three.",
        axis="macro F1 on SPCC", chapter="10_elasticc", lab="lightcurves", better="higher",
        marks=(
            ("ours", "12 passes", _supernovae(pretrain_epochs=0)), ("ours", "pre-trained, 12 passes", _supernovae()),
            ("ours", "48 passes", _supernovae(pretrain_epochs=0, epochs=48)),
            ("ours", "pre-trained, 48 passes", _supernovae(epochs=48)),
            ("ours", "192 passes", _supernovae(pretrain_epochs=0, epochs=192)),
            ("ours", "pre-trained, 192 passes", _supernovae(epochs=192)),
            ("rival", "boosted trees", _supernovae(method="trees")),
        ),
    ),
    Finding(
        id="bright-labels", title="Where only bright supernovae have labels, pre-training hurts.",
        sentence="After 48 passes over those labels RoMAE from nothing is level with the trees. Whatever it has seen "
        "first, it names held-back bright ones better and the others worse. Validation would choose wrongly.",
        axis="macro F1 on SPCC, by the challenge's own labels", chapter="10_elasticc", lab="lightcurves",
        better="higher",
        marks=(
            ("ours", "not pre-trained", _supernovae("official", pretrain_epochs=0, epochs=48)),
            ("ours", "labelled curves first", _supernovae("official", pretrain_on="labelled", epochs=48)),
            ("ours", "all curves, 1 pass", _supernovae("official", pretrain_epochs=1, epochs=48)),
            ("ours", "all curves, 12 passes", _supernovae("official", epochs=48)),
            ("rival", "boosted trees", _supernovae("official", method="trees")),
        ),
    ),
    Finding(
        id="blind", title="Without [CLS] a model is blind because all tokens of the test are equal.",
        sentence="One other recognisable token at a fixed place does what [CLS] does.",
        axis="squared error of a position", chapter="03_cls", lab="position",
        marks=(
            ("ours", "equal tokens", _of("position", "paper", "mse", cls=False)),
            ("ours", "distinct tokens", _of("position", "control", "mse")),
            ("ours", "a token pinned at 0", _of("position", "best", "mse", cls=False, anchor="pinned")),
        ),
    ),
    Finding(
        id="pendulum", title="The pendulum's printed error may be ten times too small.",
        sentence="Our runs come to it when we print what the authors' script prints, a hundred times the mean. "
        "With our own settings RoMAE is ahead of every model that the paper compares with.",
        axis="squared error, in thousandths", chapter="08_pendulum", lab="pendulum", scale=1000.0,
        marks=(
            ("ours", "paper's settings", _of("pendulum", "paper", "mse")),
            ("ours", "our settings", _of("pendulum", "best", "mse")),
            ("paper", "", "table-5-romae-mse"), ("rival", "S5", "table-5-s5-mse"),
        ),
    ),
    Finding(
        id="physionet", title="A few typing errors decide PhysioNet's squared error.",
        sentence="Without the impossible values among the targets it is much smaller.",
        axis="squared error on PhysioNet", chapter="07_physionet", lab="physionet",
        marks=(
            ("ours", "as scored", _of("physionet", "best", "mse")),
            ("ours", "plausible targets", _of("physionet", "best", "mse_plausible")),
            ("paper", "table", "table-7-romae-tiny-table-physionet-mse"),
            ("paper", "text", "table-7-romae-tiny-text-of-sec-6-physionet-mse"),
        ),
    ),
    Finding(
        id="minirocket", title="On Epilepsy MiniRocket, fixed convolutions and a linear classifier, is ahead.",
        sentence="It names every case right, and RoMAE does not.",
        axis="accuracy on Epilepsy", chapter="09_uea", lab="uea", better="higher",
        marks=(
            ("ours", "paper's settings", _uea("paper", "accuracy", "Epilepsy")),
            ("ours", "our settings", _uea("best", "accuracy", "Epilepsy")),
            ("rival", "MiniRocket", _uea("paper", "accuracy_minirocket", "Epilepsy")),
            ("paper", "", "table-6-epilepsy-romae-tiny"),
        ),
    ),
    Finding(
        id="order", title="On LSST a model that is told no times at all scores as well.",
        sentence="We saw this at our settings. An accuracy there is no evidence that a model uses order.",
        axis="accuracy on LSST", chapter="09_uea", lab="uea", better="higher",
        marks=(
            ("ours", "with times", _uea("best", "accuracy", "LSST")),
            ("ours", "without", _uea("best", "accuracy", "LSST", encoding="none", lr=0.0007, pretrain_lr=0.0017)),
            ("rival", "largest class", _uea("best", "accuracy_majority", "LSST")),
        ),
    ),
)

ANY_NUMBER = Finding(  # its marks are ratios of two metrics: `any_number`
    id="any-number", title="One model serves few observations and many, if it was trained with few and many.",
    sentence="Its twin that always saw thirty points fails with twelve, and with sixty.",
    axis="error on spirals, times the best possible", marks=(), chapter="05_spirals", lab="spirals",
)


def found(root: Path | None = None) -> list[tuple[Finding, tuple[Mark, ...]]]:
    """The findings whose records are there, with their marks, the strongest first."""
    runs = Runs.load(root)
    everything = [(finding, marks_of(finding, runs)) for finding in FINDINGS]
    everything.insert(2, (ANY_NUMBER, any_number(root)))
    return [(finding, marks) for finding, marks in everything if marks]


def marks_of(finding: Finding, runs: Runs) -> tuple[Mark, ...]:
    """The marks of a finding; () while a record of it is missing."""
    found = []
    for kind, name, source in finding.marks:
        if isinstance(source, str):
            found.append(Mark(kind, name, CELLS[source].value))
            continue
        mine = of_setting(runs, source)
        if not mine:
            return ()
        summary = mine.summary(source.metric)
        found.append(Mark(kind, name, summary.mean, summary.low, summary.high))
    return tuple(found)


def any_number(root: Path | None = None) -> tuple[Mark, ...]:
    """One model for few points and many: its error over the best possible, and that of one that always saw thirty."""
    if not (measured := counts.finding(root)):
        return ()
    few, many = measured["few"], measured["many"]
    return (
        Mark("best", "best possible", 1.0), Mark("ours", "any number, at worst", measured["most"]),
        Mark("ours", f"always thirty, {few} shown", measured["fixed_few"]),
        Mark("ours", f"always thirty, {many} shown", measured["fixed_many"]),
    )

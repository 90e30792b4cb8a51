"""The error of every recorded run, as one bar that grows when it is asked to."""

from pathlib import Path

from ...experiments.toy.experiment import Toy
from ...lab.runs import runs_of
from ..explorable import Explorable, figure, not_recorded


@figure("toy")
def from_results(root: Path | None = None) -> Explorable:
    """The figure from the runs of the preset "quick"."""
    errors = [record.metrics["mse"] for record in runs_of(Toy.quick(), root)]
    if not errors:
        return not_recorded("toy", "Slopes", "python -m romae_lite run toy --preset quick")
    return Explorable(
        name="toy",
        data={"errors": errors},
        title="How well is a slope read?",
        caption="Choose a seed.",
    )

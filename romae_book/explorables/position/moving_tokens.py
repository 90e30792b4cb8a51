"""Ten tokens on a line and an anchor: what a trained model answers when they move, and which scores change.

The answers are recorded: the arrays that `python -m romae_lite run position` keeps hold six patterns of tokens, each
moved through the range and beyond in equal steps. Moving the anchor needs no further run: the score of two tokens knows
their difference only, so that tokens at s and an anchor at c get the answers of tokens at s - c and an anchor at 0, to
rounding (test_position.py). The scores are RoPE's own and computed in the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from romae_lite import rope

from ...experiments.position.experiment import width
from ...lab.records import Record, load_all
from ...lab.runs import runs_of
from ..explorable import Drawable, Explorable, checked, figure_of_runs

SCALE = 100  # answers travel as whole hundredths
COMMAND = "python -m romae_lite run position --preset best --seeds 0"


@dataclass(frozen=True, kw_only=True)
class Answers:
    """One recorded model: what it is and what it named.

    anchor: "[CLS]" or "token" (pinned at 0 in training), "moving" (along with the tokens), or "" for none. distinct:
    whether its tokens can be told apart. No two models of a figure are alike in both.
    arrays: offsets (M, N), shifts (K,) in equal steps, named (M, K, N): answers to tokens at offsets + shift.
    """

    anchor: str
    distinct: bool
    head_dim: int
    arrays: Mapping[str, np.ndarray]
    source: str = ""

    @property
    def name(self) -> str:
        stays = {"[CLS]": "[CLS] at 0", "token": "a token at 0", "moving": "a token that moves along", "": "no anchor"}
        return f"{stays.get(self.anchor, self.anchor)}, tokens {'distinct' if self.distinct else 'alike'}"


def payload(models: Sequence[Answers], low: float, high: float) -> dict:
    """What the page needs, as JSON. ValueError where models were not asked about the same patterns."""
    listed, first = [], None
    for model in models:
        try:
            a = checked(model.arrays, offsets="M N", shifts="K", named="M K N")
        except ValueError as error:
            raise ValueError(f"{error} (model {model.name!r})") from error
        first = first or a
        for key in ("offsets", "shifts"):
            if a[key].shape != first[key].shape or not np.allclose(a[key], first[key]):
                raise ValueError(f"{model.name!r} has other {key} than {models[0].name!r}")
        steps = np.diff(a["shifts"])
        if not len(steps) or steps[0] <= 0 or not np.allclose(steps, steps[0], rtol=1e-3):
            raise ValueError(f"shifts of {model.name!r} must grow in equal steps")
        if model.anchor not in ("[CLS]", "token", "moving", ""):
            raise ValueError(f"anchor of {model.name!r} is {model.anchor!r}; it must be [CLS], token, moving or empty")
        listed.append({
            "name": model.name, "anchor": model.anchor, "distinct": model.distinct, "source": model.source,
            "thetas": [round(theta, 9) for theta in rope.frequencies(model.head_dim, 0.75, 10_000.0).tolist()],
            "named": np.rint(a["named"] * SCALE).astype(int).reshape(len(a["named"]), -1).tolist(),
        })
    return {
        "scale": SCALE, "low": low, "high": high, "start": round(float(first["shifts"][0]), 6),
        "step": round(float(np.mean(steps)), 9), "shifts": len(first["shifts"]),
        "offsets": np.round(first["offsets"], 2).tolist(), "models": listed,
    }


def explorable(models: Sequence[Answers], low: float = 1.0, high: float = 50.0, note: str = "") -> Explorable:
    """The figure from recorded models; low, high: the range of positions that they were trained on."""
    data = payload(models, low, high)
    return Explorable(
        name="moving_tokens",
        data=data,
        height=300,
        title="Move everything, and see who notices",
        caption="Black: ten tokens where they are. Blue: where a recorded model says that they are. Drag the bar to "
        "move all tokens, the square to move the anchor, or hold the two together; drag a single token to change its "
        "scores. Below: RoPE's score of the ringed token with anything at that place, for equal vectors. Shaded: the "
        "range of the training. Beyond it no token ever stood, and the answers of a model that knows places pile up "
        f"at its end and fold back. {note}".rstrip(),
    )


def kind(record: Record) -> tuple[str, bool]:
    """Anchor of the model that a record of "position" holds, and whether its tokens are distinct."""
    config = record.config
    anchor = "[CLS]" if config["cls"] else {"pinned": "token", "moving": "moving", "none": ""}[config["anchor"]]
    return anchor, config["values"] == "distinct"


TOLD = {"cls", "values", "anchor"}  # settings that the switches of the figure set
ORDER = ("[CLS]", "", "token", "moving")


def kinds(root: Path | None = None) -> list[list[Record]]:
    """The recorded runs of every kind of model, ours before the paper's size, one run for each seed. Without an anchor
    and with tokens alike a model is blind, whatever its size, and only the paper's are recorded."""
    groups = {}
    found = [record for record in load_all(root, "position").records if record.tier not in ("reduced", "smoke")]
    for record in sorted(
        found, key=lambda r: (r.preset == "paper", r.config["size"] != "tiny", r.preset == "quick", r.seed)
    ):
        settings = {name for name, _ in record.planned.overrides} - record.planned.build().neutral
        if settings <= TOLD | {"size"}:
            groups.setdefault(kind(record), runs_of(record.planned.build(), root))
    return [groups[key] for key in sorted(groups, key=lambda key: (ORDER.index(key[0]), key[1]))]


@figure_of_runs("moving_tokens", "Move everything, and see who notices", COMMAND, kinds)
def from_runs(runs: list[Drawable], root: Path | None) -> Explorable:
    """The figure from the records of the experiment "position": the lowest seed of every kind of model there is."""

    def model(record: Record, arrays: Mapping[str, np.ndarray]) -> Answers:
        anchor, distinct = kind(record)
        source = f"Seed {record.seed}, test MSE {record.metrics['mse']:.3g}: {record.command}"
        head = width(record.config["size"]).head_dim
        return Answers(anchor=anchor, distinct=distinct, head_dim=head, arrays=arrays, source=source)

    return explorable([model(*run) for run in runs], note="Every answer is recorded.")

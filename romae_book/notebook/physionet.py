"""Chapter 07: the recorded runs, and the tables and sentences that are made from them."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from IPython.display import Markdown

from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..experiments.physionet.data import CHANNELS, UNITS, find
from ..experiments.physionet.experiment import PhysioNet
from ..experiments.physionet.plots import Patient, typical_patient
from ..lab.runs import Runs, runs_of
from ..paper.claims import CLAIMS
from .tables import Table, table

OTHERS = {"boosted": "boosted trees", "linear": "straight lines", "last": "last value", "mean": "channel mean"}
METRICS = {"mse": "MSE", "mse_plausible": "MSE, plausible targets", "mae": "mean absolute error"}
OURS, SMALL = "RoMAE, our settings", "RoMAE, smaller"
Groups = Mapping[str, Runs]  # by setting


def groups() -> dict[str, Runs]:
    """The recorded runs by setting, hiding minutes, on the splits that all of them have."""
    settings = {"RoMAE, paper's settings": PhysioNet.paper(), OURS: PhysioNet.best(), SMALL: PhysioNet.small()}
    found = {name: runs for name, setting in settings.items() if (runs := runs_of(setting))}
    common = set.intersection(*({run.data_fingerprint for run in runs} for runs in found.values())) if found else set()
    return {name: Runs(run for run in runs if run.data_fingerprint in common) for name, runs in found.items()}


def at_hand(exp: PhysioNet, folder: Path | str) -> PhysioNet:
    """The experiment, on the challenge's records where they are to be had."""
    return exp.replace(source="real" if folder or find() else "simulated")


def kind(exp: PhysioNet) -> str:
    return {"real": "records of the challenge", "simulated": "made-up records, no result"}[exp.source]


def small(exp: PhysioNet) -> Runs:
    """Runs of the settings that the chapter's own run cuts short; none where its records are made up."""
    return runs_of(PhysioNet.small()) if exp.source == "real" else Runs()


def occurrences(tokens: Tokens) -> tuple[np.ndarray, int]:
    """The channel of every value, and the number of patients."""
    return tokens.positions[..., 1][tokens.real].long().numpy(), len(tokens)


def masks(exp: PhysioNet, test: Tokens, seed: int) -> tuple[Patient, dict[str, np.ndarray]]:
    """A typical patient, and what each way of masking hides of it."""
    patient = typical_patient(test, exp.position_scale)
    one = test[patient.index : patient.index + 1]
    ways = {"half of the minutes": "rows", "half of the values": "tokens"}
    return patient, {
        words: exp.replace(masking=way).mask(one, seeded(seed, 1))[0, one.real[0]].numpy()
        for words, way in ways.items()
    }


def company(exp: PhysioNet, test: Tokens, seed: int) -> Markdown:
    """How many hidden values have a visible one in the very same minute, by way of masking."""
    shares, row, real = {}, test.aux["row"].numpy(), test.real.numpy()
    for way in ("rows", "tokens"):
        hidden = exp.replace(masking=way).mask(test, seeded(seed, 1)).numpy()
        pairs = zip(row, hidden, real & ~hidden, strict=True)
        shares[way] = np.mean([np.isin(r[h], r[v]).mean() for r, h, v in pairs])
    return Markdown(
        f"Where values are hidden, {100 * shares['tokens']:.0f} % of them have a visible neighbour in the very same "
        f"minute. Where minutes are hidden, {'none has' if shares['rows'] == 0 else 'some have'}."
    )


class Scores(NamedTuple):
    """What another predictor scores on the split of a run."""

    metrics: Mapping[str, float]


def beside(groups: Groups) -> dict[str, Runs | list[Scores]]:
    """Add what the others score on the same splits."""
    runs = next(iter(groups.values()), Runs())
    return dict(groups) | {
        name: [Scores({key: run.metrics[f"{key}_{short}"] for key in METRICS}) for run in runs]
        for short, name in OTHERS.items() if runs and f"mse_{short}" in runs[0].metrics
    }


def findings(groups: Groups) -> Markdown:
    runs = groups.get(OURS)
    if not runs:
        return Markdown("The runs that this chapter rests on are not recorded yet.")
    mae, trees, mse, plausible = (
        runs.summary(key).mean for key in ("mae", "mae_boosted", "mse", "mse_plausible")
    )
    added = [run.metrics["mse"] - run.metrics["mse_plausible"] for run in runs]
    claims = {c.row: c for c in CLAIMS if c.experiment == "physionet"}
    apart = abs(claims["RoMAE-tiny, table"].value - claims["RoMAE-tiny, text of Sec. 6"].value)
    return Markdown(
        f"- **Boosted trees are level with RoMAE.** By the mean absolute error RoMAE with our settings has {mae:.3f}, "
        f"the trees have {trees:.3f} ({len(runs)} splits).\n"
        f"- **About one value in a thousand makes {100 * (1 - plausible / mse):.0f} % of its squared error.** No "
        "living adult has these values.\n"
        f"- **The luck of the split is larger than what lies between the paper's two numbers.** Impossible targets add "
        f"{min(added):.2f} to {max(added):.2f} to our squared error. The paper's numbers differ by {apart:.2f}."
    )


def table_of_runs(groups: Groups, live: Mapping[str, float]) -> Table:
    rows = dict(groups) | {"your run": {key: live[key] for key in METRICS}} | beside(groups)
    for claim in (c for c in CLAIMS if c.experiment == "physionet" and not c.reading):
        who = "HeTVAE" if claim.quoted else "RoMAE"
        where = "text" if "text" in claim.row else "table"
        rows[f"the paper's {who}, {where} (± {claim.std:.3f} over its runs)"] = {"mse": claim.value}
    return table(
        rows, METRICS, decimals=3, caption="Half of the minutes hidden, mean [95 % interval over splits]. Which "
        "targets the paper's errors count, it does not say.",
    )


def table_of_farthest(z: np.ndarray, channel: np.ndarray, value: np.ndarray) -> Table:
    """z: all values in deviations from their channel's mean."""
    rows = []
    for i in np.argsort(np.abs(z))[::-1][:6]:
        name = CHANNELS[channel[i]]
        rows.append((name, f"{value[i]:.1f}", UNITS[name], f"{z[i]:+.0f}"))
    return Table(("channel", "value", "unit", "deviations"), rows, "The six values that are farthest away.")


def split_without_slip(groups: Groups) -> tuple[Mapping[str, float], str]:
    """The metrics of a run by our settings with no slip of pH among its targets, and which it is."""
    run = min(groups[OURS], key=lambda run: run.metrics["mse_pH_mean"])
    return run.metrics, f"split {run.seed}"

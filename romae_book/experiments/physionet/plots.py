"""Figures of chapter 07."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from romae_book import figures
from romae_book.figures import COLOURS, INK
from romae_lite.tokens import Tokens

from .data import CHANNELS

BLUE, GREEN, GREY = COLOURS["blue"], COLOURS["green"], COLOURS["grey"]


class Patient(NamedTuple):
    """One record: its index in the tokens, and the hours, channels and values (n,), each in its unit."""

    index: int
    hours: np.ndarray
    channel: np.ndarray
    value: np.ndarray


def typical_patient(tokens: Tokens, scale: float) -> Patient:
    """Return the record of middling length. scale: of the positions, units for 48 hours."""
    length = tokens.real.sum(1)
    i = int((length - length.float().median()).abs().argmin())
    real = tokens.real[i]
    return Patient(
        index=i,
        hours=(tokens.positions[i, real, 0] / scale * 48).numpy(),
        channel=tokens.positions[i, real, 1].long().numpy(),
        value=(tokens.values[i, real, 0] * tokens.aux["std"][i, real] + tokens.aux["mean"][i, real]).numpy(),
    )


@figures.style()
def errors(groups: Mapping[str, Sequence | Mapping], live: Mapping[str, float]) -> Figure:
    """groups: records, or numbers by metric, by who predicts; RoMAE in blue, filled with the paper's settings. live:
    the metrics of the reader's run, the last line."""
    titles = {"mae": "mean absolute error", "mse_plausible": "MSE, plausible targets", "mse": "MSE"}
    lines = dict(groups) | {"your run": live}
    fig, axes = plt.subplots(3, 1, figsize=(5.2, 5.6))
    for ax, (key, title) in zip(axes, titles.items(), strict=True):
        for y, (name, group) in enumerate(lines.items()):
            values = [group[key]] if isinstance(group, Mapping) else [run.metrics[key] for run in group]
            colour, mark = (BLUE, "o") if name.startswith("RoMAE") else (GREEN, "s")
            colour, mark = (BLUE, "P") if name == "your run" else (colour, mark)
            filled = colour if name in ("RoMAE, paper's settings", "your run") else "none"
            ax.plot(values, [y] * len(values), mark, mfc=filled, ms=5.5, ls="none", color=colour)
        ax.set_yticks(range(len(lines)), list(lines))
        ax.set(xlabel=title, ylim=(len(lines) - 0.5, -0.5))
    return fig


@figures.style()
def how_often(channel: np.ndarray, patients: int) -> Figure:
    """channel: of every value of so many patients."""
    per_day = np.bincount(channel, minlength=41) / patients / 2
    order = np.argsort(per_day)[::-1]
    fig, ax = plt.subplots(figsize=(6.4, 3))
    ax.bar(np.arange(41), per_day[order], color=GREY)
    ax.set(yscale="log", ylabel="values per patient and day", xlim=(-0.6, 40.6))
    ax.set_xticks(np.arange(41), [CHANNELS[c] for c in order], rotation=90, fontsize=7.5)
    ax.grid(axis="x", visible=False)
    return fig


@figures.style()
def masks(patient: Patient, hidden: Mapping[str, np.ndarray]) -> Figure:
    """hidden: which of the patient's values are hidden, (n,) bool, by the way of masking."""
    fig, axes = plt.subplots(1, 2, figsize=(5.6, 4.6), sharey=True, sharex=True)
    for ax, (way, mask) in zip(axes, hidden.items(), strict=True):
        ink = {"color": INK, "ms": 2.6, "ls": "none"}
        ax.plot(patient.hours[mask], patient.channel[mask], "o", mfc="none", label="hidden", **ink)
        ax.plot(patient.hours[~mask], patient.channel[~mask], "o", label="visible", **ink)
        ax.set(title=way, xlabel="hours", xlim=(-1, 49))
    axes[0].set_yticks(range(41), CHANNELS, fontsize=6)
    fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig


@figures.style()
def learning_curve(history: Sequence[Mapping], batch: int) -> Figure:
    labels = {"loss": "loss on training records", "valid_mse": "validation records"}
    ax = figures.learning_curve(history, labels, log=False)
    ax.axhline(1, color=GREY, lw=1.2, ls=":", label="a channel's mean, about")
    ax.set(ylabel="mean squared error, standardised", xlabel=f"step ({batch} records each)")
    ax.legend()
    return ax.figure


def channels_by_error(metrics: Mapping[str, float]) -> list[str]:
    """Return the channels that vary, from easiest to hardest for RoMAE. (MechVent is always 1.)"""
    varying = [c for c in CHANNELS if f"mse_{c}" in metrics and metrics.get(f"mse_{c}_mean", 0) > 0]
    return sorted(varying, key=lambda c: metrics[f"mse_{c}"] / metrics[f"mse_{c}_mean"])


@figures.style()
def errors_by_channel(metrics: Mapping[str, float], about: str) -> Figure:
    """The five easiest channels and the ten hardest, or all where there are few. about: which run it is."""
    names = channels_by_error(metrics)
    names = names if len(names) <= 15 else names[:5] + names[-10:]
    at = np.arange(len(names))
    looks = {
        "straight lines": ("_linear", {"marker": "o", "color": GREEN, "mfc": "none"}),
        "boosted trees": ("_boosted", {"marker": "s", "color": GREEN}),
        "RoMAE": ("", {"marker": "D", "color": BLUE, "mfc": "none"}),
    }
    fig, ax = plt.subplots(figsize=(5.2, 4.2))
    for label, (short, look) in looks.items():
        if f"mse_{names[0]}{short}" in metrics:
            ratios = [metrics[f"mse_{c}{short}"] / metrics[f"mse_{c}_mean"] for c in names]
            ax.plot(ratios, at, ms=4.5, ls="none", label=label, **look)
    ax.axvline(1, color=GREY, lw=1.2, ls=":")
    ax.set(xscale="log", xlabel=f"squared error / that of the mean ({about})", ylim=(-0.7, len(names) - 0.3))
    ax.set_yticks(at, names, fontsize=9)
    fig.legend(loc="outside lower center", ncols=3)
    return fig

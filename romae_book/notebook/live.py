"""In a running kernel: training that is watched and can be stopped, and a model whose observations can be moved.

    from romae_book.notebook import live

    with live.monitor() as watch:  # a learning curve; the kernel's stop button ends it
        fit(model, train, loss, recipe, seed=0, log=watch.log, stop=watch.stop)
    live.panel(model, tokens)      # sliders for the observations; the curve follows

Widgets of ipywidgets (7.7 or newer), which Colab and JupyterLab have. They are shown where somebody sits at the
notebook; where a tool executes it (nbconvert, papermill, nbval) nothing is shown and nothing stored, and the training
goes through. The environment variable ROMAE_LIVE, 1 or 0, decides instead.
"""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import torch
from matplotlib.figure import Figure

from romae_lite.checks import kind, whole
from romae_lite.model import RoMAE, interpolate
from romae_lite.tokens import Tokens
from romae_lite.training import Interrupted

from .. import figures

ASKED = 200  # places between the first and the last observation at which a panel asks
COLOURS = tuple(figures.COLOURS.values())[:4]  # of channels


def attended() -> bool:
    """True if somebody sits at this notebook: its frontend can be asked for input, which no tool that executes can."""
    if wish := os.environ.get("ROMAE_LIVE"):
        return wish == "1"
    try:
        from IPython import get_ipython

        return bool(get_ipython().kernel.get_parent()["content"]["allow_stdin"])
    except (ImportError, AttributeError, KeyError, TypeError):  # no kernel, or one that does nothing at the moment
        return False


def _html(fig: Figure, alt: str) -> str:
    return figures.render(fig, alt, raster=False).html()


class Monitor:
    """Watches `fit`: give it `log` and `stop`. As a context manager it ends the cell quietly when it was stopped.

    history: the entries so far. stopped: whether somebody asked for the end.
    A kernel hears no widget while a cell runs, but it hears its own stop button (■, interrupt the kernel): the context
    manager takes that for a wish to end after the step, so that the model stays in order, the cell ends quietly and
    the next one runs.
    """

    def __init__(self, show: bool | None = None):
        self.history, self.stopped, self.widget = [], False, None
        if attended() if show is None else show:
            import ipywidgets as widgets

            self.words, self.curve = widgets.HTML("waiting for the first entry"), widgets.HTML()
            self.hint = widgets.HTML("to end the training: ■, interrupt the kernel")
            self.widget = widgets.VBox([self.words, self.curve, self.hint])

    def end(self) -> None:
        """Ask for the end: `fit` stops after the step that it is at."""
        self.stopped = True
        if self.widget:
            self.hint.value = "ending after this step"

    def stop(self) -> bool:
        """For ``fit(stop=...)``."""
        return self.stopped

    def log(self, entry: dict) -> None:
        """For ``fit(log=...)``: keeps the entry and draws."""
        self.history.append(entry)
        if self.widget:
            keys = [key for key in entry if key == "loss" or key.startswith("valid_")][:3]
            done, steps = entry["step"], entry.get("steps", entry["step"])
            numbers = [f"{key.replace('_', ' ')} {entry[key]:.4g}" for key in keys]
            words = [f"step {done:,} of {steps:,}", *numbers, f"{entry.get('seconds', 0):.0f} s"]
            alt = f"Learning curve: {numbers[0]} after {done} of {steps} steps"
            self.curve.value = _html(self.figure(keys, steps), alt)
            self.words.value = " · ".join(words)

    @figures.style()
    def figure(self, keys: list[str], steps: int) -> Figure:
        fig = Figure(figsize=(6.4, 2.8), layout="none")
        values = [entry[key] for entry in self.history for key in keys if key in entry]
        ax = figures.learning_curve(self.history, keys, ax=fig.subplots(), log=min(values) > 0)
        ax.set_xlim(0, steps)
        return fig

    def __enter__(self):
        if self.widget:
            from IPython.display import display

            display(self.widget)
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, lambda *_: self.end())
        return self

    def __exit__(self, kind_, error, trace) -> bool:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self.widget:
            self.hint.value = "stopped" if self.stopped else "done"
        return isinstance(error, Interrupted) and self.stopped


monitor = Monitor  # of one training. show: whether to draw; by default where somebody sits at the notebook


class Panel:
    """A sample's observations with a slider for the time and for each value of one of them, and the model's curve.

    The data given stay as they are; `tokens` (1, n, P) are the observations as they have been moved, `predicted`
    (200, P), or (200, 2 P) of a model with spread, what the model says at `at` (200, 1). `widget` shows them: over
    time, or in the plane of the two numbers of a token.
    """

    def __init__(self, model: RoMAE, tokens: Tokens, sample: int = 0, plane: bool = False):
        kind("model", model, RoMAE)
        kind("tokens", tokens, Tokens)
        whole("sample", sample, 0)
        patch = tokens.values.shape[-1]
        if tokens.positions.shape[-1] != 1:
            raise ValueError(f"tokens have {tokens.positions.shape[-1]} axes of position; a panel draws over one, time")
        if sample >= len(tokens):
            raise ValueError(f"sample is {sample}; tokens hold {len(tokens)}, counted from 0")
        if patch > len(COLOURS) or (plane and patch != 2):
            most = "two in the plane" if plane else f"up to {len(COLOURS)}"
            raise ValueError(f"a token holds {patch} numbers; a panel draws {most}")
        import ipywidgets as widgets

        self.model, self.all, self.plane = model, tokens.to("cpu"), plane
        look = {"layout": widgets.Layout(width="34em"), "style": {"description_width": "9em"}}
        names = ["Its position", *(["Its value"] if patch == 1 else [f"Its value {i + 1}" for i in range(patch)])]
        self.sample = widgets.IntSlider(value=sample, max=len(tokens) - 1, description="Sample", **look)
        self.point = widgets.IntSlider(value=1, min=1, max=1, description="Observation", **look)
        sliders = [widgets.FloatSlider(description=name, readout_format=".3g", **look) for name in names]
        self.time, *self.values = sliders
        self.shown = widgets.Checkbox(value=True, description="the model sees it", indent=False)
        self.back = widgets.Button(description="Put all back", icon="undo")
        self.picture, self._busy = widgets.HTML(), False
        self.sample.observe(lambda _: self._open(), "value")
        self.point.observe(lambda _: self._choose(), "value")
        for control in (*sliders, self.shown):
            control.observe(lambda _: self._move(), "value")
        self.back.on_click(lambda _: self._open())
        which = [self.sample] if len(tokens) > 1 else []
        self.widget = widgets.VBox([self.picture, *which, self.point, *sliders, widgets.HBox([self.shown, self.back])])
        self._open()

    def _open(self) -> None:
        """Show the sample as it was given."""
        one = self.all[self.sample.value : self.sample.value + 1]
        real = one.real[0]
        self.tokens = Tokens(values=one.values[:, real].clone(), positions=one.positions[:, real].clone())
        self.kept = torch.ones(int(real.sum()), dtype=torch.bool)
        t, v = self.tokens.positions, self.tokens.values
        room = 0.25 * float(v.max() - v.min()) or 1.0
        self.ends = (float(t.min()), float(t.max())), (float(v.min()) - room, float(v.max()) + room)
        self.at = torch.linspace(*self.ends[0], ASKED, dtype=torch.float64)[:, None]
        self._busy, self.point.max = True, len(self.kept)
        self._choose()

    def _choose(self) -> None:
        """Put the controls to where the observation is."""
        self._busy, i = True, self.point.value - 1
        numbers = [float(self.tokens.positions[0, i, 0]), *self.tokens.values[0, i].tolist()]
        for k, (slider, number) in enumerate(zip((self.time, *self.values), numbers, strict=True)):
            low, high = self.ends[min(k, 1)]
            slider.min, slider.max = min(low, slider.min), max(high, slider.max)  # never min > max on the way
            slider.min, slider.max, slider.step, slider.value = low, high, (high - low) / 200 or 1.0, number
        self.shown.value, self._busy = bool(self.kept[i]), False
        self._predict()

    def _move(self) -> None:
        """Put the observation to where the controls are."""
        i = self.point.value - 1
        if self._busy:
            return
        if not self.shown.value and int(self.kept.sum()) <= 1:  # the model needs something to see
            self.shown.value = True
            return
        self.kept[i], self.tokens.positions[0, i, 0] = self.shown.value, self.time.value
        self.tokens.values[0, i] = torch.tensor([slider.value for slider in self.values])
        self._predict()

    def _predict(self) -> None:
        values, positions = self.tokens.values[:, self.kept], self.tokens.positions[:, self.kept]
        self.predicted = interpolate(self.model, replace(self.tokens, values=values, positions=positions), self.at)[0]
        alt = f"Curve of the model through {int(self.kept.sum())} of {len(self.kept)} observations"
        self.picture.value = _html(self.figure(), alt)

    @figures.style()
    def figure(self) -> Figure:
        values, positions = self.tokens.values[0].numpy(), self.tokens.positions[0, :, 0].numpy()
        at, kept, patch = self.at[:, 0].numpy(), self.kept.numpy(), values.shape[1]
        mean, log_variance = np.split(self.predicted.double().numpy(), [patch], axis=1)  # the latter may be empty
        fig = Figure(figsize=(4.6, 4.6) if self.plane else (6.4, 3.0), layout="none")  # a quarter faster
        ax = fig.subplots()
        if self.plane:
            pairs = [(mean.T, values.T)]
            ax.set(xlabel="value 1", ylabel="value 2", xlim=self.ends[1], ylim=self.ends[1], aspect="equal")
        else:
            pairs = [(np.stack((at, mean[:, c])), np.stack((positions, values[:, c]))) for c in range(patch)]
            ax.set(xlabel="position", ylabel="value")
        for c, (curve, points) in enumerate(pairs):
            several = len(pairs) > 1
            ink = {"color": COLOURS[c] if several else figures.INK, "ls": "none"}
            ax.plot(*curve, color=COLOURS[c], ls="-", label=f"value {c + 1}" if several else "the model's curve")
            ax.plot(*points[:, kept], "o", **ink)
            ax.plot(*points[:, ~kept], "o", mfc="none", **ink)
            ax.plot(*points[:, [self.point.value - 1]], "o", ms=11, mfc="none", **ink)  # the one that is moved
            if log_variance.size and not self.plane:
                wide = 2 * np.exp(0.5 * log_variance[:, c])  # two standard deviations
                ax.fill_between(at, curve[1] - wide, curve[1] + wide, color=COLOURS[c], alpha=0.18, linewidth=0)
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(pairs))
        return fig


def panel(model: RoMAE, tokens: Tokens, sample: int = 0, show: bool | None = None, plane: bool = False) -> Panel | None:
    """Show a `Panel` over the model, and return it; None where nobody sits at the notebook.

    tokens: (B, N) samples with one axis of position and up to four numbers in a token. sample: the one to open with.
    plane: draw the two numbers of a token against each other, not both against the position.
    """
    if not (attended() if show is None else show):
        return None
    from IPython.display import display

    made = Panel(model, tokens, sample, plane)
    display(made.widget)
    return made

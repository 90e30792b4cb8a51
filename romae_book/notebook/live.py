"""In a running kernel: training that is watched and can be stopped, and a model whose observations can be moved.

    from romae_lite import live

    with live.monitor() as watch:  # a learning curve; the kernel's stop button ends it
        fit(model, train, loss, recipe, seed=0, log=watch.log, stop=watch.stop)
    live.panel(model, tokens)      # sliders for the observations; the curve follows

Widgets of ipywidgets (7.7 or newer), which Colab and JupyterLab have. They are shown where somebody sits at the
notebook; where a tool executes it (nbconvert, papermill, nbval) nothing is shown and nothing stored, and the training
goes through. The environment variable ROMAE_LIVE, 1 or 0, decides instead.
"""

import math
import os
import signal
import threading
from dataclasses import replace
from html import escape

import torch

from romae_lite.checks import kind, whole
from romae_lite.model import RoMAE, interpolate
from romae_lite.tokens import Tokens
from romae_lite.training import Interrupted

ASKED = 200  # places between the first and the last observation at which a panel asks
COLOURS = ("#0072b2", "#c04f00", "#007a59", "#a8437b")  # of channels, as the book has them
WIDTH, HEIGHT, LEFT, FOOT = 560, 240, 56, 30  # pixels of a drawing


def attended() -> bool:
    """Whether somebody sits at this notebook: its frontend can be asked for input, which no tool that executes can."""
    if wish := os.environ.get("ROMAE_LIVE"):
        return wish == "1"
    try:
        from IPython import get_ipython

        return bool(get_ipython().kernel.get_parent()["content"]["allow_stdin"])
    except (ImportError, AttributeError, KeyError, TypeError):  # no kernel, or one that does nothing at the moment
        return False


def _widgets():
    try:
        import ipywidgets
    except ImportError as error:
        raise ImportError(
            "romae_book.notebook.live draws with ipywidgets, which is missing here: pip install ipywidgets"
        ) from error
    return ipywidgets


def _drawing(lines, low: float, high: float, left: float, right: float, words: str, *, log: bool = False,
             areas=(), dots=(), marked=None) -> str:
    """An SVG of lines [(colour, name, [(x, y), ...])], areas [(colour, [(x, y), ...])] and dots [(colour, x, y)]."""
    scale = math.log10 if log else float
    low, high = scale(low), scale(high)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    across = lambda x: LEFT + (WIDTH - LEFT - 8) * (x - left) / ((right - left) or 1)  # noqa: E731
    up = lambda y: HEIGHT - FOOT - (HEIGHT - FOOT - 24) * (scale(y) - low) / (high - low)  # noqa: E731
    path = lambda points: "M" + "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)  # noqa: E731
    parts = [f'<polygon points="{path(p)[1:].replace("L", " ")}" fill="{c}" opacity=".18"/>' for c, p in areas if p]
    for i in range(4):
        value = low + (high - low) * i / 3
        y, shown = HEIGHT - FOOT - (HEIGHT - FOOT - 24) * i / 3, 10**value if log else value
        parts.append(f'<path d="M{LEFT} {y:.0f}H{WIDTH - 8}" stroke="currentColor" opacity=".15"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.0f}" text-anchor="end">{shown:.3g}</text>')
        x = left + (right - left) * i / 3
        parts.append(f'<text x="{across(x):.0f}" y="{HEIGHT - 10}" text-anchor="middle">{x:.4g}</text>')
    for i, (colour, name, points) in enumerate(lines):
        if points:
            parts.append(f'<path d="{path(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 150 * i}" y="13" fill="{colour}" font-weight="600">{escape(name)}</text>')
    for j, (colour, x, y) in enumerate(dots):
        r = 7 if j in (marked or ()) else 4
        parts.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="{r}" fill="{colour}"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{escape(words, quote=True)}" '
        f'style="max-width:100%;font:11px system-ui,sans-serif" fill="currentColor">{"".join(parts)}</svg>'
    )


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
            widgets = _widgets()
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
            self._draw()

    def _draw(self) -> None:
        last, keys = self.history[-1], [k for k in self.history[-1] if k == "loss" or k.startswith("valid_")][:3]
        steps = last.get("steps", last["step"])
        self.words.value = (
            f"step {last['step']:,} of {steps:,} · "
            + " · ".join(f"{escape(k.replace('_', ' '))} {last[k]:.4g}" for k in keys)
            + f" · {last.get('seconds', 0):.0f} s"
        )
        found = {k: [(e["step"], e[k]) for e in self.history if k in e] for k in keys}
        values = [y for points in found.values() for _, y in points]
        log = min(values) > 0
        lines = [(c, k.replace("_", " "), found[k]) for c, k in zip(COLOURS, keys, strict=False)]
        said = f"Learning curve: {keys[0]} {last[keys[0]]:.4g} after {last['step']} of {steps} steps"
        self.curve.value = _drawing(lines, min(values), max(values), 0, steps, said, log=log)

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


def monitor(show: bool | None = None) -> Monitor:
    """A `Monitor` for one training. show: whether to draw; by default where somebody sits at the notebook."""
    return Monitor(show)


class Panel:
    """A sample's observations with a slider for the time and for each value of one of them, and the model's curve.

    The data given stay as they are; `tokens` (1, n, P) are the observations as they have been moved, `predicted`
    (200, P), or (200, 2 P) of a model with spread, what the model says at `at` (200, 1). `widget` shows them.
    """

    def __init__(self, model: RoMAE, tokens: Tokens, sample: int = 0):
        kind("model", model, RoMAE)
        kind("tokens", tokens, Tokens)
        whole("sample", sample, 0)
        if tokens.positions.shape[-1] != 1:
            raise ValueError(f"tokens have {tokens.positions.shape[-1]} axes of position; a panel draws over one, time")
        if sample >= len(tokens):
            raise ValueError(f"sample is {sample}; tokens hold {len(tokens)}, counted from 0")
        if tokens.values.shape[-1] > len(COLOURS):
            raise ValueError(f"a token holds {tokens.values.shape[-1]} numbers; a panel draws up to {len(COLOURS)}")
        self.model, self.all, widgets = model, tokens.to("cpu"), _widgets()
        wide = {
            "layout": widgets.Layout(width="34em"),
            "style": {"description_width": "9em"},
            "continuous_update": True,
        }
        self.sample = widgets.IntSlider(value=sample, max=len(tokens) - 1, description="Sample", **wide)
        self.point = widgets.IntSlider(value=1, min=1, max=1, description="Observation", **wide)
        self.time = widgets.FloatSlider(description="Its position", readout_format=".3g", **wide)
        self.values = [
            widgets.FloatSlider(description=f"Its value {i + 1}" if tokens.values.shape[-1] > 1 else "Its value",
                                readout_format=".3g", **wide)
            for i in range(tokens.values.shape[-1])
        ]
        self.shown = widgets.Checkbox(value=True, description="the model sees it", indent=False)
        self.back = widgets.Button(description="Put all back", icon="undo")
        self.picture, self._busy = widgets.HTML(), False
        self.sample.observe(lambda _: self._open(), "value")
        self.point.observe(lambda _: self._choose(), "value")
        for slider in (self.time, *self.values, self.shown):
            slider.observe(lambda _: self._move(), "value")
        self.back.on_click(lambda _: self._open())
        which = [self.sample] if len(tokens) > 1 else []
        below = widgets.HBox([self.shown, self.back])
        self.widget = widgets.VBox([self.picture, *which, self.point, self.time, *self.values, below])
        self._open()

    def _open(self) -> None:
        """The sample as it was given."""
        one = self.all[self.sample.value : self.sample.value + 1]
        real = one.real[0]
        self.tokens = Tokens(values=one.values[:, real].clone(), positions=one.positions[:, real].clone())
        self.kept = torch.ones(int(real.sum()), dtype=torch.bool)
        t, v = self.tokens.positions[0, :, 0], self.tokens.values[0].double()
        room = 0.25 * float(v.max() - v.min()) or 1.0
        self.ends = (float(t.min()), float(t.max())), (float(v.min()) - room, float(v.max()) + room)
        self.at = torch.linspace(*self.ends[0], ASKED, dtype=torch.float64)[:, None]
        self._busy = True
        for slider, (low, high) in ((self.time, self.ends[0]), *((s, self.ends[1]) for s in self.values)):
            slider.min, slider.max = min(low, slider.min), max(high, slider.max)  # never min > max on the way
            slider.min, slider.max, slider.step = low, high, (high - low) / 200 or 1.0
        self.point.max = len(t)
        self._busy = False
        self._choose()

    def _choose(self) -> None:
        i = self.point.value - 1
        self._busy = True
        self.time.value = float(self.tokens.positions[0, i, 0])
        for slider, value in zip(self.values, self.tokens.values[0, i].tolist(), strict=True):
            slider.value = value
        self.shown.value = bool(self.kept[i])
        self._busy = False
        self._predict()

    def _move(self) -> None:
        if self._busy:
            return
        i = self.point.value - 1
        if not self.shown.value and int(self.kept.sum()) <= 1:  # the model needs something to see
            self.shown.value = True
            return
        self.kept[i] = self.shown.value
        self.tokens.positions[0, i, 0] = self.time.value
        self.tokens.values[0, i] = torch.tensor([slider.value for slider in self.values])
        self._predict()

    def _predict(self) -> None:
        seen = replace(
            self.tokens, values=self.tokens.values[:, self.kept], positions=self.tokens.positions[:, self.kept]
        )
        self.predicted = interpolate(self.model, seen, self.at)[0]
        self._draw()

    def _draw(self) -> None:
        patch, at = self.tokens.values.shape[-1], self.at[:, 0].tolist()
        mean, along = self.predicted[:, :patch].double(), lambda column: list(zip(at, column.tolist(), strict=True))
        areas, (low, high) = [], self.ends[1]
        if self.predicted.shape[1] > patch:  # two standard deviations
            wide = 2 * (0.5 * self.predicted[:, patch:].double()).exp()
            top, foot = mean + wide, mean - wide
            low, high = min(low, float(foot.min())), max(high, float(top.max()))
            areas = [
                (COLOURS[c], [*along(top[:, c]), *reversed(along(foot[:, c]))])
                for c in range(patch)
            ]
        low, high = min(low, float(mean.min())), max(high, float(mean.max()))
        lines = [
            (COLOURS[c], f"value {c + 1}" if patch > 1 else "the model's curve", along(mean[:, c]))
            for c in range(patch)
        ]
        n, dots = len(self.kept), []
        for c in range(patch):
            for i in range(n):
                colour = COLOURS[c] if self.kept[i] else "#9aa5b1"
                dots.append((colour, float(self.tokens.positions[0, i, 0]), float(self.tokens.values[0, i, c])))
        marked = {c * n + self.point.value - 1 for c in range(patch)}
        words = f"Curve of the model through {int(self.kept.sum())} of {n} observations"
        self.picture.value = _drawing(lines, low, high, *self.ends[0], words, areas=areas, dots=dots, marked=marked)


def panel(model: RoMAE, tokens: Tokens, sample: int = 0, show: bool | None = None) -> Panel | None:
    """Show a `Panel` over the model, and return it; None where nobody sits at the notebook.

    tokens: (B, N) samples with one axis of position and up to four numbers in a token. sample: the one to open with.
    """
    if not (attended() if show is None else show):
        return None
    from IPython.display import display

    made = Panel(model, tokens, sample)
    display(made.widget)
    return made

"""An interactive figure that needs no kernel, no network and no library: JSON from Python, drawn by plain JavaScript.

Python computes the data, one small JavaScript file beside it draws them, and `Explorable.html` puts both into a
single string that works in a static page, in a notebook and in Colab. Where scripts are stripped (a notebook that
JupyterLab does not trust yet, a page printed on paper) a still picture drawn from the same data stands in.

The contract of the page, which the browser tests hold every explorable to:

    <figure class="romae-explorable" data-explorable="spirals" data-ready="1" data-state='{"count": 30, ...}'>

`data-state` is JSON of everything visible that can change: the controls and the numbers, as they are shown.
"""

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from ..experiments.base import Experiment
from ..lab.planned import Planned
from ..lab.records import Record, load_all
from ..lab.runs import runs_of
from ..palette import colour_css, figure_number

KIT, STILLS = (Path(__file__).with_name(name) for name in ("kit", "stills"))
HEIGHTS = STILLS / "heights.json"  # of the drawings, on a phone and where there is room
Drawable = tuple[Record, dict[str, np.ndarray]]  # a run and the arrays beside its record
LARGEST = 1e9  # no number that a figure shows is larger


@cache
def asset(path: Path) -> str:
    """Text of a .js or .css file, without what only its readers need: indentation, and lines of comment."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@dataclass(frozen=True, kw_only=True)
class Explorable:
    """One interactive figure.

    name: what the page calls it.
    script: the drawing, a .js file whose function `explorable(root, data, kit)` fills the figure; a .css file of the
        same stem styles it. By default that beside the module which registers a figure of this name.
    needs: what of kit/ the drawing uses beside runtime.js and plot.js: "romae" for a model that runs in the page, and
        "bytes" where its weights are packed by `in_bytes`.
    data: what it draws, anything that JSON can say (no NaN). None: nothing to interact with.
    title, caption: plain text above and below.
    height: height in pixels of the main drawing where there is room; less on a phone.
    number: "2.3", the figure's number on its page, where it has one: see `numbered`.
    steps: of a tour: see `tour`.
    """

    name: str
    data: dict | None
    title: str
    caption: str
    script: Path | None = None
    needs: tuple[str, ...] = ()
    height: int = 380
    number: str = ""
    steps: tuple[tuple[str, dict], ...] = ()

    def tour(self, *steps: tuple[str, dict]) -> "Explorable":
        """The same figure with a tour: a button leads through the steps, each a caption and a state.

        A state says what controls are set to, by their labels: {"base": 100, "move both": 3}, True and False for what
        is switched. What it does not name is as the figure opens. A name that the figure lacks is a warning in the
        browser's console, which the tests of the book do not let pass. ValueError where a step is no such pair.
        """
        for step in steps:
            if not (len(step) == 2 and isinstance(step[0], str) and step[0].strip() and isinstance(step[1], dict)):
                raise ValueError(
                    f"a step of the tour of {self.name!r} is {step!r}; it must be (caption, {{name: value}})"
                )
        return replace(self, steps=tuple((caption, _wanted(state)) for caption, state in steps))

    def address(self, **state: object) -> str:
        """What leads to the figure in a state, at the end of its page's address: "#two_tokens:query=30&key=25"."""
        pairs = (f"{quote(name)}={quote(value)}" for name, value in _wanted(state).items())
        return f"#{self.name}:{'&'.join(pairs)}"

    def numbered(self, number: str) -> "Explorable":
        """The same figure with a number: gallery("walk").numbered("2.1")."""
        return replace(self, number=number)

    def __post_init__(self):
        if self.data is not None and self.script is None:
            object.__setattr__(self, "script", script_of(self.name))
        if self.data is not None and not (self.script and self.script.is_file()):
            raise ValueError(f"script of {self.name!r} is {self.script}; it must be the .js file that draws the figure")
        try:
            json.dumps(self.data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"data of {self.name!r} must be JSON without NaN or infinity: {error}") from error

    def html(self) -> str:
        """The whole figure as one self-contained string; the same input gives the same string."""
        name, title, caption = map(escape, (self.name, self.title, self.caption))
        inside = (
            f'<p class="romae-title">{title}</p><div class="romae-live"></div>{self._still(f"{title} {caption}")}'
            f"<figcaption>{figure_number(self.number)}{_inked(caption)}</figcaption>"
        )
        sheets = [KIT / "explorables.css"]
        if self.script and self.script.with_suffix(".css").is_file():
            sheets.append(self.script.with_suffix(".css"))
        style = f"<style>{colour_css('.romae-explorable')}\n{''.join(map(asset, sheets))}</style>"
        if self.data is None:
            return f'{style}<figure class="romae-explorable romae-static" data-still="{name}">{inside}</figure>'
        payload = _script_json(self.data)
        tour = f", {_script_json(self.steps)}" if self.steps else ""
        module = asset(self.script)
        library = "\n".join(asset(KIT / f"{n}.js") for n in ("runtime", "plot", *self.needs))
        # A class made from the content, not an id: the same figure may stand twice on a page, and git diffs stay quiet.
        key = "romae-" + hashlib.sha256(f"{payload}{module}{self.title}{tour}".encode()).hexdigest()[:12]
        script = (
            f'(() => {{"use strict";\n{library}\n{module}\n'
            f'kit.mount("{key}", explorable, {payload}, {self.height}{tour});\n}})();'
        )
        figure = f'<figure class="romae-explorable {key}" data-explorable="{name}">{inside}</figure>'
        return f"{style}{figure}<script>{script}</script>"

    def _still(self, alt: str) -> str:
        """What stands in where scripts are stripped: the figure as it opens in the book (see stills.py), or words."""
        picture = STILLS / f"{self.name}.webp"
        if self.data is None or not picture.is_file():
            words = "" if self.data is None else "This figure answers where scripts may run."
            return f'<p class="romae-still">{words}</p>'
        source = base64.b64encode(picture.read_bytes()).decode()
        narrow, wide = json.loads(HEIGHTS.read_text()).get(self.name, ("auto", "auto"))
        style = f' style="--romae-room:{wide}px;--romae-room-narrow:{narrow}px"'.replace("autopx", "auto")
        return f'<img class="romae-still" alt="{alt}"{style} src="data:image/webp;base64,{source}">'

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": f"<Explorable {self.name}: {self.title}>"}


def _inked(caption: str) -> str:
    """A caption in which what is black on a light ground, the ink, is called white on a dark one."""
    both = r'<span class="romae-light">\1lack</span><span class="romae-dark">{}hite</span>'
    return re.sub(r"\b(B)lack\b", both.format("W"), re.sub(r"\b(b)lack\b", both.format("w"), caption))


def _script_json(value: object) -> str:
    """JSON that may stand in a script of a page."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")


def _wanted(state: Mapping[str, object]) -> dict[str, str]:
    """A state as the address has it: names as `kit.slug` in runtime.js makes them of labels, values as text."""
    slug = {name: re.sub(r"[^\w.]+|_", "-", name.lower()).strip("-") for name in state}
    return {slug[name]: str(int(value) if isinstance(value, bool) else value) for name, value in state.items()}


def checked(arrays: Mapping[str, np.ndarray], within: Mapping[str, int | str] | None = None, **shapes: str) -> dict:
    """The arrays that a figure draws, once they are what it expects: in float64, or int64 where `within` names them.

    shapes: the dimensions of each array, "S N 2": a letter stands for one number of at least 1 throughout. within: an
    array of indices -> their number (or its letter): whole numbers from 0 to below it. All others must be finite and
    at most LARGEST. ValueError names the array that is missing or does not fit.
    """
    if missing := sorted(set(shapes) - set(arrays)):
        raise ValueError(f"arrays lack {', '.join(missing)}")
    found, sizes = {}, {}
    for name, shape in shapes.items():
        array, dims = np.asarray(arrays[name], dtype=np.float64), shape.split()
        fits = array.ndim == len(dims) and array.size > 0
        if not fits or any(
            n != (int(d) if d.isdigit() else sizes.setdefault(d, n)) for d, n in zip(dims, array.shape, strict=True)
        ):
            known = ", ".join(str(sizes.get(d, d)) for d in dims)
            raise ValueError(f"{name} has shape {np.shape(arrays[name])}; expected ({known})")
        if not (np.abs(array) <= LARGEST).all():
            raise ValueError(f"{name} holds values that are not finite, or beyond {LARGEST:g}")
        found[name] = array
    for name, limit in (within or {}).items():
        limit = sizes[limit] if isinstance(limit, str) else limit
        if (found[name] % 1 != 0).any() or found[name].min() < 0 or found[name].max() >= limit:
            raise ValueError(f"{name} must hold whole numbers from 0 to {limit - 1}")
        found[name] = found[name].astype(int)
    return found


def parts(start: np.ndarray, count: int, length: int) -> list[int]:
    """Where ``count`` parts of an array begin that lie one after the other, and where the last one ends. ValueError
    where they do not fill it."""
    if len(start) != count + 1 or start[0] != 0 or start[-1] != length or (np.diff(start) < 1).any():
        raise ValueError(f"start is {start.tolist()}; it must lead from 0 to {length} in {count} parts")
    return start.astype(int).tolist()


def figure_of_runs(
    name: str, title: str, command: str, groups: Callable[[Path | None], Iterable[Sequence[Record]]]
) -> Callable:
    """Register a figure of recorded runs, made by the decorated function from one run of each group.

    The function gets the runs with their arrays, [(record, arrays), ...], and the folder of the records. Of each group
    it gets the first run that it can draw, together with those chosen before. The caption names the files that it
    cannot draw, with the reason, and what lies among the records of the command's experiment and is none. Where
    nothing can be drawn, `not_recorded` takes the figure's place.

    groups: from the folder of the records, groups of runs, the wanted ones first. command: records a run.
    """

    def register(draw: Callable[[list[Drawable], Path | None], Explorable]) -> Callable:
        def make(root: Path | None = None) -> Explorable:
            return _from_runs(name, title, command, groups(root), lambda runs: draw(runs, root), root)

        make.__module__ = draw.__module__
        figure(name)(make)
        return draw

    return register


def runs_in(*groups: Sequence[Experiment]) -> Callable[[Path | None], list[list[Record]]]:
    """Groups of runs for `figure_of_runs`, from groups of settings: the runs of the first setting come first."""
    return lambda root: [[run for setting in group for run in runs_of(setting, root)] for group in groups]


def _from_runs(
    name: str, title: str, command: str, groups: Iterable[Sequence[Record]],
    draw: Callable[[list[Drawable]], Explorable], root: Path | None,
) -> Explorable:
    result, chosen, reasons = None, [], []
    for runs in groups:
        for run in runs:
            try:
                with np.errstate(over="raise", invalid="raise"):
                    result = draw(with_run := [*chosen, (run, run.arrays)])
            # Whatever a file holds, it must not stop the book: arrays may be wrong in any way, and so may the error be.
            except Exception as error:
                said = error if isinstance(error, ValueError | OSError) else repr(error)
                reasons.append(f"{run.path.with_suffix('.npz').name} cannot be used ({said}).")
            else:
                chosen = with_run
                break
    reasons += [f"{path.name} {reason}." for path, reason in load_all(root, Planned.of(command).experiment).problems]
    if result is None:
        return not_recorded(name, title, command, reasons)
    return replace(result, caption=" ".join([result.caption, *reasons]))


def not_recorded(name: str, title: str, command: str, reasons: Sequence[str] = ()) -> Explorable:
    """Stands where a figure of recorded runs will be once there are any: says which command makes one, and the reasons
    why what there is cannot be drawn."""
    return Explorable(
        name=name,
        data=None,
        title=f"{title}: not recorded yet",
        caption=" ".join([f"This figure shows recorded runs. To record one: {command}.", *reasons]),
    )


MAKERS: dict[str, Callable] = {}  # of the figures, by name


def script_of(name: str) -> Path | None:
    """The .js file of a registered figure, beside the module of its maker."""
    make = MAKERS.get(name)
    return make and Path(sys.modules[make.__module__].__file__).with_suffix(".js")


def figure(name: str) -> Callable:
    """Register the function that makes the `Explorable` of that name from what the repository holds."""

    def registered(make: Callable[..., Explorable]) -> Callable[..., Explorable]:
        MAKERS[name] = make
        return make

    return registered

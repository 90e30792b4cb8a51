"""An interactive figure that needs no kernel, no network and no library: JSON from Python, drawn by plain JavaScript.

Python computes the data, one small JavaScript file beside it draws them, and `Explorable.html` puts both into a
single string that works in a static page, in a notebook and in Colab. Where scripts are stripped (a notebook that
JupyterLab does not trust yet, a page printed on paper) a still picture drawn from the same data stands in.

The contract of the page, which the browser tests hold every explorable to:

    <figure class="romae-explorable" data-explorable="spirals" data-ready="1" data-state='{"count": 30, ...}'>

`data-state` is JSON of everything visible that can change: the controls and the numbers, as they are shown.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

from . import svg
from .palette import colour_css

HERE = Path(__file__).parent


@cache
def asset(path: Path) -> str:
    """Text of a .js or .css file."""
    return path.read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Explorable:
    """One interactive figure.

    name: what the page calls it.
    script: the drawing, a .js file whose function `explorable(root, data, kit)` fills the figure.
    data: what it draws, anything that JSON can say (no NaN). None: nothing to interact with, only the still picture.
    title, caption: plain text above and below.
    fallback: the still picture as an SVG string, made from the same data.
    height: height in pixels of the main drawing where there is room; less on a phone.
    """

    name: str
    data: dict | None
    title: str
    caption: str
    fallback: str
    script: Path | None = None
    height: int = 380

    def __post_init__(self):
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
            f'<p class="romae-title">{title}</p><div class="romae-live"></div>'
            f'<img class="romae-still" alt="{title} {caption}" src="{svg.data_uri(self.fallback)}">'
            f"<figcaption>{caption}</figcaption>"
        )
        style = f"<style>{colour_css('.romae-explorable')}\n{asset(HERE / 'explorables.css')}</style>"
        if self.data is None:
            return f'{style}<figure class="romae-explorable romae-static" data-still="{name}">{inside}</figure>'
        payload = json.dumps(self.data, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
        module = asset(self.script)
        # A class made from the content, not an id: the same figure may stand twice on a page, and git diffs stay quiet.
        key = "romae-" + hashlib.sha256(f"{payload}{module}{self.title}".encode()).hexdigest()[:12]
        script = (
            f'(() => {{"use strict";\n{asset(HERE / "runtime.js")}\n{module}\n'
            f'kit.mount("{key}", explorable, {payload}, {self.height});\n}})();'
        )
        figure = f'<figure class="romae-explorable {key}" data-explorable="{name}">{inside}</figure>'
        return f"{style}{figure}<script>{script}</script>"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": f"<Explorable {self.name}: {self.title}>"}


def not_recorded(name: str, title: str, command: str, reasons: Sequence[str] = ()) -> Explorable:
    """Stands where a figure of recorded runs will be once there are any: says which command makes one, and the reasons
    why what there is cannot be drawn."""
    body = svg.label(360, 60, "Not recorded yet.", text_anchor="middle", font_size=18, font_weight=600)
    body += svg.label(360, 92, f"Run: {command}", text_anchor="middle", font_family="monospace", font_size=10)
    return Explorable(
        name=name,
        data=None,
        fallback=svg.picture(720, 130, body),
        title=f"{title}: not recorded yet",
        caption=" ".join([f"This figure shows recorded runs. To record one: {command}.", *reasons]),
    )

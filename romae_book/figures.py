"""The book's matplotlib figures: one style, readable on light and on dark pages.

    with figures.style():
        fig, ax = plt.subplots()
        figures.band(ax, x, mean, low, high, label="RoMAE")
        figures.show(fig, alt="Error falls with the number of observed points.")

`show` writes the figure as SVG inside the page: text and axes take the colour of the text around them, the lines take
the palette's colours for the scheme of the page. A PNG on white goes along for places that show no SVG.
"""

import base64
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from html import escape

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

from romae_lite.checks import kind, shapes

from .palette import PALETTE, colour_css, figure_number

INK = "#010203"  # text and axes: stands for the colour of the surrounding text, so nothing else may use it
COLOURS = {name: light for name, (light, _) in PALETTE.items()}
DASHES = ("-", (0, (6, 3)), (0, (1.5, 2)), (0, (6, 2, 1.5, 2)), (0, (9, 3)), (0, (3, 3)))  # one per colour

STYLE = {
    "figure.figsize": (6.4, 3.6), "figure.facecolor": "none", "savefig.facecolor": "none", "axes.facecolor": "none",
    "figure.constrained_layout.use": True, "savefig.bbox": "tight", "savefig.pad_inches": 0.04,
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.prop_cycle": cycler(color=COLOURS.values()) + cycler(linestyle=DASHES),
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
    "axes.grid": True, "grid.color": INK, "grid.alpha": 0.13, "grid.linewidth": 0.8, "axes.axisbelow": True,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.labelsize": 10,
    "font.size": 10, "font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans",
    "legend.frameon": False, "legend.fontsize": 9.5, "legend.handlelength": 3.0,  # one whole turn of the dashes
    "lines.linewidth": 2.0, "lines.markersize": 4.5,
    "image.cmap": "cividis", "svg.fonttype": "none", "svg.hashsalt": "romae",
}

FIGURE_CSS = (
    ".romae-figure{margin:1rem 0;text-align:center;line-height:1;overflow-x:auto}"
    ".romae-figure svg{max-width:100%;height:auto}"
    ".romae-figure figcaption{text-align:left;font-size:.88em;line-height:1.45;margin:.4rem 0 0;color:inherit}"
    ".romae-figure svg *{stroke-linejoin:round;stroke-linecap:butt}.romae-figure svg+img{display:none}"
    # MyST-NB puts a light box behind HTML output on dark pages
    "html[data-theme=dark] .bd-content div.cell_output .text_html:has(.romae-figure)"
    "{background-color:transparent!important;color:inherit!important;padding:0!important}"
)


def style() -> AbstractContextManager:
    """Context in which figures are made. For a whole notebook: ``plt.rcParams.update(figures.STYLE)``."""
    return mpl.rc_context(STYLE)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A rendered figure; displays itself. svg: the inline element; png: the same on white; alt: in words;
    caption: below it; number: "2.3", what the caption begins with."""

    svg: str
    png: bytes
    alt: str
    caption: str = ""
    number: str = ""

    def html(self) -> str:
        """Self-contained: the SVG, and behind it the PNG, which shows only where a sanitiser has taken the SVG away."""
        alt, image = escape(self.alt), base64.b64encode(self.png).decode()
        role, drawn = f'role="img" aria-label="{alt}"', self.svg
        if self.png:
            drawn += f'<img alt="{alt}" src="data:image/png;base64,{image}">'
        if self.caption:  # which a role "img" around it would hide from screen readers
            below = f"<figcaption>{figure_number(self.number)}{escape(self.caption)}</figcaption>"
            role, drawn = "", f"<div {role}>{drawn}</div>{below}"
        return (
            f"<style>{colour_css('.romae-figure')}\n{FIGURE_CSS}</style>"
            f'<figure class="romae-figure"{" " * bool(role)}{role}>{drawn}</figure>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        png = base64.b64encode(self.png).decode()
        return {"text/html": self.html(), "image/png": png, "text/plain": f"<Picture: {self.alt}>"}


def render(fig: Figure, alt: str, caption: str = "", number: str = "", raster: bool = True) -> Picture:
    """The figure as a `Picture`; the same figure gives the same bytes. ``alt`` says in words what is to be seen, the
    caption (plain text) what it means. raster: whether the PNG goes along, which takes longer than the rest."""
    kind("fig", fig, Figure)
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt is {alt!r}; describe in a sentence what the figure shows")
    vector, pixels, small = io.StringIO(), io.BytesIO(), io.BytesIO()
    with style():
        fig.savefig(vector, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
        if raster:
            fig.savefig(pixels, format="png", dpi=110, facecolor="white", metadata={"Software": None})
            # A palette of 64 colours is plenty for lines and text and makes the file a third as large.
            image = Image.open(pixels).convert("RGB").quantize(64, dither=Image.Dither.NONE)
            image.save(small, format="png", optimize=True)
    return Picture(svg=inline(vector.getvalue()), png=small.getvalue(), alt=alt.strip(), caption=caption, number=number)


def inline(svg: str) -> str:
    """matplotlib's SVG file as an element of a page: the page's text colour, palette and fonts, and ids of its own."""
    # Its style sheet would hold for the whole page: FIGURE_CSS says the same of the figure alone.
    svg = re.sub(r"(?s)<(metadata|style).*?</\1>\s*", "", svg[svg.index("<svg") :]).strip()
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1]) * 96 / 72
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"|height="[\d.]+pt"|width="[\d.]+pt"', "", svg, count=2)
    size = f"width:{width:.0f}px;min-width:{0.7 * width:.0f}px"  # a phone scrolls a wide figure: legible text
    svg = svg.replace("<svg", f'<svg style="{size}" aria-hidden="true"', 1)
    svg = re.sub(r"'?DejaVu Sans[^;\"]*", "system-ui, sans-serif", svg)
    # inside tags, that is of coordinates, hundredths of a point are enough; what is written stays as it is
    svg = re.sub(r"\d+\.\d{3,}(?=[^<>]*>)", lambda number: f"{float(number[0]):.2f}", svg)
    svg = re.sub(INK, "currentColor", svg, flags=re.IGNORECASE)
    for name, light in COLOURS.items():
        svg = re.sub(light, f"var(--romae-{name},{light})", svg, flags=re.IGNORECASE)
    # Ids are shared by everything on a page, and a hidden figure's clip paths do not work for a visible one.
    key = hashlib.sha256(svg.encode()).hexdigest()[:8]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>r{key}-", svg)


def show(fig: Figure, alt: str, caption: str = "", number: str = "") -> None:
    """Display the figure in a notebook and close it, so that it is not shown twice. See `render`."""
    from IPython.display import display

    picture = render(fig, alt, caption, number)
    plt.close(fig)
    display(picture)


def band(ax: Axes, x: ArrayLike, mean: ArrayLike, low: ArrayLike, high: ArrayLike, **line: object) -> None:
    """A line and the interval around it: x, mean, low, high all (N,); further arguments go to ``ax.plot``."""
    kind("ax", ax, Axes)
    arrays = {k: np.asarray(v) for k, v in dict(x=x, mean=mean, low=low, high=high).items()}
    alike = len({a.shape for a in arrays.values()}) == 1 and arrays["x"].ndim == 1 and arrays["x"].size
    shapes(alike and all(a.dtype.kind in "iuf" for a in arrays.values()), "all be (N,) real numbers", **arrays)
    (drawn,) = ax.plot(x, mean, **line)
    ax.fill_between(x, low, high, color=drawn.get_color(), alpha=0.18, linewidth=0)


def learning_curve(history: Sequence[Mapping[str, float]], keys: Sequence[str] | Mapping[str, str] = ("loss",),
                   x: str = "step", ax: Axes | None = None, log: bool = True) -> Axes:
    """Curves of the entries of a run's history, as `fit` returns it or a record keeps it.

    keys: what to draw, or a dictionary to their labels, where all curves are of RoMAE and blue; entries that lack a
    key are passed over. x: "step", "epoch" or "seconds". log: logarithmic values. KeyError names a key that no entry
    has.
    """
    if isinstance(keys, Mapping):
        labels, look = keys, {"color": COLOURS["blue"]}
    else:
        labels, look = {key: key.replace("_", " ") for key in keys}, {}
    with style():
        ax = ax or plt.subplots()[1]
        for key, label in labels.items():
            points = [(entry[x], entry[key]) for entry in history if key in entry]
            if not points:
                known = sorted({name for entry in history for name in entry})
                raise KeyError(f"no entry of the history has {key!r}; there are {', '.join(known)}")
            ax.plot(*zip(*points, strict=True), label=label, **look)
        ax.set(
            xlabel=x,
            yscale="log" if log else "linear",
            ylabel=next(iter(labels.values())) if len(labels) == 1 else "",
        )
        if len(labels) > 1:
            ax.legend()
    return ax

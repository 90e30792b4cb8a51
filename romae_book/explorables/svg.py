"""Just enough SVG to draw a still picture from Python."""

from collections.abc import Iterable
from html import escape


def tag(name: str, text: str = "", **attributes: object) -> str:
    """One element; underscores in attribute names become hyphens, floats keep two decimals."""
    parts = []
    for key, value in attributes.items():
        value = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
        parts.append(f' {key.strip("_").replace("_", "-")}="{escape(value)}"')
    return f"<{name}{''.join(parts)}>{text}</{name}>"


def label(x: float, y: float, text: str, **attributes: object) -> str:
    return tag("text", escape(text), x=float(x), y=float(y), **attributes)


def line(points: Iterable[tuple[float, float]], **attributes: object) -> str:
    """A polyline through (x, y) pairs."""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag("path", d=path, fill="none", stroke_linejoin="round", **attributes)

"""Tables that show themselves: in a notebook, in the book, in a terminal."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from romae_lite.checks import kind

from ..lab.records import Record
from ..lab.summary import summarise


@dataclass(frozen=True)
class Table:
    """A table of strings that shows itself: as HTML in a notebook or the book, elsewhere as text.

    folded: what to press to see it, of a long one; "" shows it at once.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    folded: str = ""

    def __post_init__(self):
        for name, wanted in (("columns", list | tuple), ("rows", list | tuple), ("caption", str), ("folded", str)):
            kind(name, getattr(self, name), wanted)
        for row in self.rows:
            kind("a row of rows", row, list | tuple)
            if len(row) != len(self.columns):
                raise ValueError(f"row {row!r} has {len(row)} cells, the table {len(self.columns)} columns")

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        widths = [max(len(str(line[i])) for line in lines) for i in range(len(self.columns))]
        lines.insert(1, ["-" * width for width in widths])
        text = ["  ".join(map(str.ljust, map(str, line), widths)).rstrip() for line in lines]
        return "\n".join([self.caption, *text] if self.caption else text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # class "dataframe" keeps the book's theme from putting a grey box behind the table in dark mode
        style = 'style="padding:.3em .8em;text-align:left"'

        def cell(tag: str, text: str) -> str:
            tag = tag if text else "td"  # an empty heading would be one that screen readers announce for nothing
            return f"<{tag} {style}>{html.escape(text)}</{tag}>"

        cells = lambda tag, line: "".join(cell(tag, str(c)) for c in line)  # noqa: E731
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        whole = (
            '<div style="overflow-x:auto" tabindex="0"><table class="dataframe" style="color:inherit;background:none">'
            f"{caption}<thead><tr>{cells('th', self.columns)}</tr></thead><tbody>{body}</tbody></table></div>"
        )
        if not self.folded:
            return whole
        summary = f'<summary style="cursor:pointer">{html.escape(self.folded)}</summary>'
        return f"<details>{summary}{whole}</details>"


def table(
    groups: Mapping[str, Iterable[Record] | Mapping[str, float]], metrics: Mapping[str, str] | Sequence[str],
    *, label: str = "", scale: float = 1.0, decimals: int | None = None, caption: str = "",
) -> Table:
    """Mean [95 % interval] of metrics for groups of records, with the number of runs if any group has some: what the
    chapters show.

    groups maps a row's label to its records, or to plain numbers by metric (the paper's, a baseline's).
    metrics maps a key to its heading. Values are divided by ``scale``. A dash stands where a group lacks a
    metric.
    """
    headings = metrics if isinstance(metrics, Mapping) else {key: key for key in metrics}
    rows = []
    for group, members in groups.items():
        recorded = not isinstance(members, Mapping)
        measured = [record.metrics for record in members] if recorded else [members]
        values = [[found[key] for found in measured if found.get(key) is not None] for key in headings]
        cells = []
        for v in values:
            fewer = f" (of {len(v)})" if len(v) < len(measured) else ""
            cells.append(summarise(v).text(scale, decimals) + fewer if v else "–")
        rows.append((group, *cells, str(len(measured)) if recorded else ""))
    columns = (label, *headings.values(), "runs")
    if all(isinstance(members, Mapping) for members in groups.values()):  # plain numbers only: nothing was counted
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(columns, tuple(rows), caption)

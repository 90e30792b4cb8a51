"""What the paper reports: cells of its tables and figures.

The numbers themselves stand in a file for each subject beside this one, row by row: "0.062 (0.007)" is a mean and a
standard deviation, "?" a cell that nobody here could read. Together they make CLAIMS. `numbers` sets ours beside a
cell, `statements` has the sentences of the paper, `rule` says when one is reproduced.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..lab.summary import Summary, decimals_for

# The paper: Zivanovic et al., "Rotary Masked Autoencoders are Versatile Learners", NeurIPS 2025, arXiv 2505.20535v2.
SOURCES = {  # where a number was seen
    "P": "the paper (v2)",
    "S0": "a published summary of the paper",
    "S3": "the paper's appendix",
    "AX": "a summary of the paper's first version",
    "E": "the authors' experiments repository",
    "I": "the authors' experiments repository, newer files",
    "N": "outputs stored in the authors' notebooks",
    "X": "computed for this book",
}

# The order in which they are told; others come last.
TABLES = (
    "Table 1", "Figure 2", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 8", "Table 9",
    "App. B.3", "App. B.4",
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of the paper: which table, what it says, and which of our records answer it.

    ``where`` holds settings that a record's config must have, ``metric`` the key of its metric. value and std are in
    plain units (0.00332, not 3.32); ``printed`` is the cell as printed, in units of 10^exponent.
    """

    id: str
    table: str
    title: str  # of the table
    row: str
    column: str
    experiment: str
    where: Mapping[str, Any]
    metric: str
    printed: str
    value: float | None  # None: unknown
    std: float | None  # the paper's standard deviation over runs, where it gives one
    exponent: int = 0
    unit: str = ""  # how the exponent is written: "×10⁻³", "%", "M"
    better: str = "lower"  # or "higher"; "equal" where the number describes rather than scores
    source: str = "P"
    quoted: bool = False  # the number of another method, which the paper took from elsewhere
    note: str = ""
    n: int | None = None  # runs behind the paper's standard deviation
    known: float | None = None  # standard error of one run, where theory has it
    needs: str = ""  # what a run takes that has not been made: an estimate
    optimum: str = ""  # of the records' metrics, <metric>_<optimum> is the best possible predictor's
    opponent: str = ""  # and <metric>_<opponent> the strongest other method's
    reading: bool = False  # another reading of a cell above it: shown in the lab record alone

    @property
    def is_count(self) -> bool:
        """Parameters are counted as the paper counts them: arithmetic, where nothing was trained."""
        return self.metric == "parameters"

    @property
    def decimals(self) -> int:
        """Digits after the point as printed."""
        return len(re.match(r"[^.e (]*\.?(\d*)", self.printed)[1])

    def show(self) -> str:
        """The paper's number: "3.32 ± 0.13 ×10⁻³"."""
        mean = self.printed.replace(" (", " ± ").replace(")", "")
        return mean if self.value is None else f"{mean} {self.unit}".rstrip()

    def show_ours(self, summary: Summary) -> str:
        """Our mean and interval in the paper's units and decimals, within reason: two to four significant digits."""
        scale = float(f"1e{self.exponent}")
        least, most = (decimals_for(summary.mean / scale, digits) for digits in (2, 4))
        decimals = min(max(self.decimals, least), max(most, 2))
        return f"{summary.text(scale, decimals)} {self.unit}".rstrip()


# The tables -----------------------------------------------------------------------------------------------------------
# A column is (heading, settings), a row (heading, settings, cell, cell ...); None is a cell that the table has not.
# Settings named like a field of Claim set that field, all others go to `where`. A row's win over a column's, a column's
# over the table's.

CLAIM_FIELDS = {field.name for field in fields(Claim)}
QUOTED = {"quoted": True}


def table(number: str, title: str, settings: dict, columns: tuple, rows: tuple) -> Iterator[Claim]:
    """The claims of one table of the paper."""
    for row, of_row, *cells in rows:
        for (column, of_column), printed in zip(columns, cells, strict=True):
            if printed is None:
                continue
            merged = {**settings, **of_column, **of_row}
            chosen = {key: value for key, value in merged.items() if key in CLAIM_FIELDS}
            where = {} if chosen.get("quoted") else {k: v for k, v in merged.items() if k not in CLAIM_FIELDS}
            value, std = _read(printed, chosen.get("exponent", 0))
            words = re.sub(r"[^a-z0-9]+", "-", f"{number} {row} {column}".lower()).strip("-")
            yield Claim(
                id=words, table=number, title=title, row=row, column=column, where=where, printed=printed,
                value=value, std=std, **chosen,
            )


def _read(printed: str, exponent: int) -> tuple[float | None, float | None]:
    """ "3.32 (0.13)", -3 -> (0.00332, 0.00013); "?" -> (None, None)."""
    if printed == "?":
        return None, None
    match = re.fullmatch(r"(\d+\.?\d*)(?:e(-?\d+))?(?: \((\d+\.?\d*)\))?", printed)
    if match is None:
        raise ValueError(f"the cell {printed!r} is neither a number, nor a number with a (std), nor '?'")
    mean, power, std = match.groups()
    shift = exponent + int(power or 0)
    return float(f"{mean}e{shift}"), float(f"{std}e{shift}") if std else None

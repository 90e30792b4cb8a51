"""What the paper reports: cells of its tables and figures.

The numbers themselves stand in `paper.py` of each subject, row by row: "0.062 (0.007)" is a mean and a standard
deviation, "?" a cell that nobody here could read. Together they make CLAIMS. `outcomes` says how ours compares with a
cell, `statements` which sentence of the paper a cell is evidence for.
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

    ``where`` holds settings that a record's config must have, ``metric`` the key of its metric. value, std, margin,
    draw and floor are in plain units (0.00332, not 3.32); ``printed`` is the cell as printed, in units of 10^exponent.
    The fields from ``n`` on are for the comparison (`outcomes`).
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
    cases: int | None = None  # of the test set, where the score is a share of them, or nearly: a macro F-score
    draw: float = 0.0  # standard error that the paper's value owes to its one test set
    floor: float = 0.0  # noise of the targets, the same for both sides: errors are compared above it
    margin: float = 0.0  # a difference that no reader would act on
    margin_share: float = 0.0  # the same as a share of the paper's value; the larger of the two holds
    margin_why: str = ""
    not_comparable: str = ""  # the reason, where no run of ours could be compared
    needs: str = ""  # what a run takes that has not been made: an estimate
    optimum: str = ""  # of the records' metrics, <metric>_<optimum> is the best possible predictor's
    opponent: str = ""  # and <metric>_<opponent> the strongest other method's
    also: tuple[str, ...] = ()  # other metrics of the same runs that say more, shown beside
    reading: bool = False  # another reading of a cell that stands above it: counted apart
    better_before: str = ""  # what ``better`` was under the rule of before November 2026, where that differs

    @property
    def allowed(self) -> float:
        """The equivalence margin in plain units."""
        return max(self.margin, self.margin_share * (self.value or 0.0))

    @property
    def is_count(self) -> bool:
        """Parameters are counted as the paper counts them: arithmetic, told apart from what was trained."""
        return self.metric == "parameters"

    @property
    def decimals(self) -> int:
        """Digits after the point as printed."""
        return len(re.match(r"[^.e (]*\.?(\d*)", self.printed)[1])

    @property
    def resolution(self) -> float:
        """Half a unit in the last printed place, in plain units."""
        mantissa, _, power = self.printed.split(" ")[0].partition("e")
        return float(f"5e{self.exponent + int(power or 0) - len(mantissa.partition('.')[2]) - 1}")

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

# Equivalence margins by kind of metric: conventions for what a reader would not act on. They are younger than most of
# the runs.
SQUARED = dict(margin_share=0.1, margin_why="a convention: 10 % of a mean squared error is 5 % of its root, of the "
               "size that one recorded run differed by on another machine")
ROOT = dict(margin_share=0.05, margin_why="a convention: 5 %, of the size that one recorded run differed by on another "
            "machine")
SHARE = dict(margin=0.01, margin_why="a convention: one point, less than half of what [CLS] costs in Table 2; where a "
             "claim says level, being behind by less counts as level")
EXACT = dict(margin_why="none: the number is known but for the draw of its test set and the digits printed")

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

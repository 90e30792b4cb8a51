"""What the paper claims, and the rule that says whether ours reproduces it.

The numbers themselves stand in `paper.py` of each subject, row by row: "0.062 (0.007)" is a mean and a standard
deviation, "?" a cell that nobody here could read. Together they make CLAIMS. The verdict rule was fixed before the
runs (`verdict`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from .subjects import modules
from .summary import Summary, decimals_for

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
    "App. B.4",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of the paper: which table, what it says, and which of our records answer it.

    ``where`` holds settings that a record's config must have, ``metric`` the key of its metric. value and std
    are in plain units (0.00332, not 3.32); ``printed`` is the cell as printed, in units of 10^exponent.
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


class Verdict(NamedTuple):
    status: str  # one of STATUSES
    reason: str


STATUSES = ("reproduced", "close", "not reproduced", "not run", "unknown", "quoted")


def verdict(claim: Claim, summary: Summary | None) -> Verdict:
    """Does our paper-tier result reproduce the claim? In this order:

    quoted          the number belongs to another method and was never ours to reproduce
    unknown         the paper's number could not be read
    not run         there is no record of the paper's protocol (summary is None)
    reproduced      the paper's value lies in our 95 % interval (three runs or more have one), or our mean is
                    better; for better="equal", where no side is better: it rounds to the printed digits
    close           |ours - paper| is at most twice the paper's standard deviation, or 5 % where it gives none
    not reproduced  otherwise
    """
    if claim.quoted:
        return Verdict("quoted", "another method's number, as the paper quotes it")
    if claim.value is None:
        return Verdict("unknown", "the paper's number could not be read")
    if summary is None:
        return Verdict("not run", "no record of the paper's protocol")
    ours, paper = summary.mean, claim.value
    hair = 1e-9 * abs(paper)  # the edges belong to the better side, whatever the last bit says
    if summary.low is not None and summary.low - hair <= paper <= summary.high + hair:
        return Verdict("reproduced", "the paper's value lies in our 95 % interval")
    if claim.better == "equal":
        if abs(ours - paper) <= claim.resolution + hair:
            return Verdict("reproduced", "equal in the digits that the paper prints")
    elif ours <= paper + hair if claim.better == "lower" else ours >= paper - hair:
        return Verdict("reproduced", "better than the paper's value")
    allowed, rule = (0.05 * abs(paper), "5 %") if claim.std is None else (2 * claim.std, "twice the paper's std")
    if abs(ours - paper) <= allowed + hair:
        return Verdict("close", f"within {rule} of the paper's value")
    return Verdict("not reproduced", f"further than {rule} from the paper's value")


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
            )  # fmt: skip


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


def __getattr__(name: str):
    """CLAIMS: every claim of the paper, in the order of its tables; the subjects are asked when it is first used."""
    if name != "CLAIMS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = [claim for paper in modules(lambda name, files: name == "paper") for claim in paper.CLAIMS]
    place = {table: i for i, table in enumerate(TABLES)}
    globals()["CLAIMS"] = tuple(sorted(found, key=lambda claim: place.get(claim.table, len(place))))
    return globals()["CLAIMS"]

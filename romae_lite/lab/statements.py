"""The claims of the paper in words, each with the cells that are its evidence.

A cell of a table (`Claim`) is a number; a statement is a sentence that a reader can agree or disagree with. Its
evidence is cells, whose outcome is that of `outcomes`, and leads: "this of ours is ahead of that", which is what most
sentences are about. A number counts where the sentence is about it; elsewhere it stands beside, with its own outcome.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from .claims import CLAIMS, Claim
from .outcomes import (
    JUDGED,
    LEAST,
    Difference,
    Outcome,
    counted,
    half_width,
    in_units,
    of_the_paper,
    of_the_test_set,
    over_runs,
    worst,
)
from .summary import Summary


@dataclass(frozen=True)
class Lead:
    """Our runs of cell ``ahead`` do better than the strongest of the cells ``of``: than our runs of them, or, where
    they are quoted, than what the paper prints. level: as good is enough."""

    ahead: str
    of: tuple[str, ...]
    level: bool = False


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A claim of the paper in words. evidence: leads, and ids of cells."""

    id: str
    title: str  # a few words
    sentence: str  # what the paper says, in our words
    source: str  # where it says so
    part: str  # one of PARTS
    evidence: tuple[str | Lead, ...]
    beside: tuple[str, ...] = ()  # cells that are shown with it and do not count
    remark: str = ""  # what a reader of the outcome has to know

    @property
    def cells(self) -> list[str]:
        """Every cell that is named and that is one of RoMAE's, once."""
        named = [c for e in self.evidence for c in ((e,) if isinstance(e, str) else (e.ahead, *e.of))]
        named += self.beside
        quoted = {claim.id for claim in CLAIMS if claim.quoted}
        return [cell for cell in dict.fromkeys(named) if cell not in quoted]


def _quoted(start: str) -> tuple[str, ...]:
    return tuple(claim.id for claim in CLAIMS if claim.quoted and claim.id.startswith(start))


SIZES = ("tiny", "small-width-only", "base-width-only")
UEA = ("basicmotions", "charactertrajectories", "epilepsy", "heartbeat", "lsst")
PARTS = ("position", "image and audio", "irregular series", "limits")


def _statements() -> tuple[Statement, ...]:
    table_1 = {size: (f"table-1-{size}-with-cls", f"table-1-{size}-no-cls") for size in SIZES}
    hertz = {f: f"app-b-4-mse-over-time-{f}-hz" for f in (1, 9, 12, 24)}
    range_2 = ("mean", "median", "central-80", "first-point", "last-point")
    return (
        Statement(
            id="cls-recovers", part="position", source="Proposition 4.2, Table 1", title="[CLS] recovers position",
            sentence="With a learned [CLS] token in the sequence a model can recover absolute positions.",
            evidence=tuple(Lead(with_cls, (without,)) for with_cls, without in table_1.values()),
            beside=tuple(f"figure-2-0-{high}-{column}" for high in (100, 1000) for column in range_2),
            remark="How well, over the range of positions, is Figure 2; its numbers describe and stand beside.",
        ),
        Statement(
            id="no-cls-blind", part="position", source="Corollary 4.1, Table 1", title="Without [CLS], no position",
            sentence="Without [CLS] absolute positions cannot be recovered, whatever the size of the model.",
            evidence=tuple(without for _, without in table_1.values()),
            remark="All tokens of the paper's input are the same, so that a model without [CLS] cannot see even the "
            "differences of positions: the number is forced by the input, and what is compared is one draw of "
            "positions with another: no evidence about models. Another token at a fixed place does without [CLS].",
        ),
        Statement(
            id="width", part="position", source="Table 1", title="Wider models err less",
            sentence="The error of the recovered positions shrinks as the model grows wider.",
            evidence=tuple(
                Lead(table_1[wide][0], (table_1[narrow][0],)) for narrow, wide in zip(SIZES, SIZES[1:], strict=False)
            ),
        ),
        Statement(
            id="images", part="image and audio", source="Table 2", title="On images RoPE is better off without [CLS]",
            sentence="On images RoPE without [CLS] is ahead of RoPE with [CLS].",
            evidence=(Lead("table-2-rope-no-cls-f-score", ("table-2-rope-cls-f-score",)),),
            remark="The two differ in how the encoder's output is pooled as well.",
        ),
        Statement(
            id="mae-strength", part="image and audio", source="Tables 2 and 3", title="MAE's strength is kept",
            sentence="RoMAE keeps what a masked autoencoder is good at: level with absolute positions on images, ahead "
            "of SSAST on audio.",
            evidence=(
                Lead("table-2-rope-cls-f-score", ("table-2-absolute-cls-f-score",), level=True),
                Lead("table-3-romae-small-librispeech", ("table-3-ssast-librispeech",)),
                Lead("table-3-romae-small-audioset-20k", ("table-3-ssast-audioset-20k",)),
            ),
        ),
        Statement(
            id="interpolation", part="irregular series", source="Section 5.5, Table 7", title="Interpolation",
            sentence="RoMAE interpolates irregular series as well as specialised models, or better.",
            evidence=(
                Lead("table-7-romae-tiny-synthetic-mse", ("table-7-hetvae-synthetic-mse",), level=True),
                "table-7-romae-tiny-synthetic-mse", "table-7-romae-tiny-table-physionet-mse",
                "table-7-romae-tiny-text-of-sec-6-physionet-mse",
            ),
            beside=("table-7-romae-tiny-spirals-rmse", "table-7-romae-tiny-stored-notebook-spirals-rmse"),
            remark="The comparisons with other models could not be made: theirs on spirals are very probably in "
            "another unit, on normalised data, HeTVAE's synthetic series probably on another grid, and PhysioNet's "
            "score hangs on typing errors. RoMAE's own number on spirals came out worse, taken as the error to the "
            "clean curve from noisy points; the paper does not say so, and chapter 05 has a reading that would fit it "
            "better. It says nothing about other models and stands beside.",
        ),
        Statement(
            id="uea", part="irregular series", source="Section 5.4, Table 6", title="Classification (UEA)",
            sentence="On the UEA archive with 30 % of the observations dropped RoMAE is competitive with specialised "
            "models.",
            evidence=tuple(
                Lead(f"table-6-{name}-romae-tiny", _quoted(f"table-6-{name}"), level=True) for name in UEA
            ),
            remark="Table 12's settings were chosen on the test sets, by the authors. BasicMotions, with forty test "
            "cases, is at its ceiling: MiniRocket names all of them as well, so that it tells no methods apart.",
        ),
        Statement(
            id="pendulum", part="irregular series", source="Section 5.4, Table 5", title="Regression (pendulum)",
            sentence="On the irregular pendulum RoMAE is ahead of the models for continuous time.",
            evidence=(Lead("table-5-romae-mse", _quoted("table-5-")),),
            beside=("table-5-romae-as-the-script-prints-it-mse",),
            remark="The authors' script prints 100 times the plain mean. Read so, our runs give the printed "
            "number, and the table's unit is wrong by a factor of ten; the outcome takes the table at its word.",
        ),
        Statement(
            id="elasticc", part="irregular series", source="Section 5.4, Table 4", title="Light curves (ELAsTiCC)",
            sentence="On ELAsTiCC RoMAE is ahead of ATAT.",
            evidence=tuple(Lead(f"table-4-{size}-alert-mask", ("table-4-atat",)) for size in ("tiny-shallow", "tiny")),
            remark="Table 4 does not say on which points. The authors' README calls its numbers with the alert mask "
            "the closer comparison with ATAT, so these are the evidence; those on all points stand beside them.",
            beside=tuple(f"table-4-{size}-all-points" for size in ("tiny-shallow", "tiny")),
        ),
        Statement(
            id="high-frequencies", part="limits", source="Appendix B.4", title="High frequencies are lost",
            sentence="High frequencies are lost: the error grows from about 9 Hz on.",
            evidence=(
                Lead(hertz[1], (hertz[9],)), Lead(hertz[9], (hertz[12],)), Lead(hertz[12], (hertz[24],)),
            ),
        ),
        Statement(
            id="speed", part="limits", source="Appendix B.2, Table 9", title="Continuous RoPE costs speed",
            sentence="Continuous RoPE makes training 13 % slower than absolute positions, quantised RoPE hardly.",
            evidence=("table-9-rope-continuous-relative-speed", "table-9-rope-quantised-relative-speed"),
            remark="A cost of this kind belongs to an implementation and a card.",
        ),
        Statement(
            id="extrapolation", part="limits", source="Appendix B.3", title="No extrapolation",
            sentence="RoMAE does not extrapolate beyond the points that it is shown.",
            evidence=("app-b-3-spirals-stored-notebook-rmse",),
            remark="The only number there is asks for five points beyond, together with 45 among those shown. What "
            "differs is its size: the five points beyond are missed by several times what points in between are in "
            "our runs as well (rmse_clean_beyond beside rmse_clean in the lab record).",
        ),
    )  # fmt: skip


class Evidence(NamedTuple):
    """One piece of evidence and its outcome."""

    text: str
    outcome: Outcome


@dataclass(frozen=True)
class Judged:
    """A statement and what our runs say of it."""

    statement: Statement
    status: str
    evidence: tuple[Evidence, ...]

    @property
    def share(self) -> str:
        """How much of the evidence could be judged."""
        return f"{sum(e.outcome.status in JUDGED for e in self.evidence)} of {len(self.evidence)} judged"

    @property
    def result(self) -> str:
        """One sentence: how much of the evidence could be judged, and how it came out."""
        found = [piece.outcome.status for piece in self.evidence]
        judged = sum(status in JUDGED for status in found)
        pieces = "piece" if len(found) == 1 else "pieces"
        return f"{judged} of {len(found)} {pieces} of evidence judged: {counted(found)}."


def judge(statement: Statement, claims: Mapping[str, Claim], ours: Mapping[str, Summary | None],
          outcomes: Mapping[str, Outcome]) -> Judged:  # fmt: skip
    """The outcome of a statement from cells, our runs of the paper's protocol and their outcomes, all by id."""
    found = []
    for piece in statement.evidence:
        if isinstance(piece, str):
            claim = claims[piece]
            text = f"{name_of(claim)}: the paper's {claim.show()}"
            found.append(Evidence(text, outcomes[piece]))
        else:
            found.append(_lead(piece, claims, ours))
    return Judged(statement, worst([e.outcome.status for e in found]), tuple(found))


def name_of(claim: Claim) -> str:
    """Table, row, and the column unless the title names it."""
    column = "" if claim.column.lower() in claim.title.lower() else f", {claim.column}"
    return f"{claim.table}, {claim.row}{column}"


def _lead(lead: Lead, claims: Mapping[str, Claim], ours: Mapping[str, Summary | None]) -> Evidence:
    claim = claims[lead.ahead]
    sign = -1 if claim.better == "higher" else 1  # of what counts as worse
    others = [claims[name] for name in lead.of]
    if others[0].quoted:
        rival = min(others, key=lambda other: sign * other.value)
        them, theirs = rival.value, of_the_paper(rival)
    else:
        (rival,) = others
        summary = ours[rival.id]
        them, theirs = (summary.mean, [over_runs(summary)]) if summary else (None, [])
    text = f"{name_of(claim)}, {'level with or ahead' if lead.level else 'ahead'} of {_rival(claim, rival)}"
    if reason := claim.not_comparable or rival.not_comparable:
        return Evidence(text, Outcome("not comparable", reason))
    mine = ours[lead.ahead]
    if mine is None or them is None:
        return Evidence(text, Outcome("not run", "one side has no run of the paper's protocol, or neither has"))
    counts = [mine.n] + ([] if rival.quoted else [ours[rival.id].n])
    if min(counts) < LEAST:
        return Evidence(text, Outcome("undecided", f"{min(counts)} of the {LEAST} runs that an interval takes"))
    half = half_width([over_runs(mine), *theirs, of_the_test_set(claim.cases, mine.mean, them)])
    gap = mine.mean - them
    found = Difference(gap, half, replace(claim, value=them).allowed)
    words = (
        f"{in_units(claim, mine.mean)} against {in_units(claim, them)}, the difference known to ± "
        f"{in_units(claim, half)} (95 %)"
    )
    if sign * gap < -half:
        return Evidence(text, Outcome("agrees", f"ahead: {words}", found))
    if sign * gap <= max(half, found.margin if lead.level else 0.0):
        status, side = ("agrees", "level") if lead.level else ("worse", "no lead that these runs could see")
        return Evidence(text, Outcome(status, f"{side}: {words}", found))
    return Evidence(text, Outcome("worse", f"behind: {words}", found))


def _rival(claim: Claim, rival: Claim) -> str:
    """What tells it from the claim: a column of the same row, or a row of the same column."""
    parts = [rival.row] * (rival.row != claim.row) + [rival.column] * (rival.column not in ("", claim.column))
    return ", ".join(parts)


def __getattr__(name: str):
    """STATEMENTS: made when first used, since the cells are gathered from all subjects."""
    if name != "STATEMENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["STATEMENTS"] = _statements()
    return globals()["STATEMENTS"]


def all_judged(rows: Iterable) -> list[Judged]:
    """Every statement, from the rows of `report`."""
    rows = list(rows)
    claims = {row.claim.id: row.claim for row in rows}
    ours = {row.claim.id: row.ours if row.tier == "paper" else None for row in rows}
    outcomes = {row.claim.id: row.outcome for row in rows}
    return [judge(statement, claims, ours, outcomes) for statement in __getattr__("STATEMENTS")]

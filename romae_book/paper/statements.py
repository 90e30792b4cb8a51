"""The claims of the paper in words, each with the cells that are its evidence.

A cell of a table (`Claim`) is a number; a statement is a sentence that a reader can agree or disagree with. Its
evidence is cells, whose outcome is that of `outcomes`, and leads: "this of ours is ahead of that", which is what most
sentences are about. A number counts where the sentence is about it; elsewhere it stands beside, with its own outcome.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..lab.records import Record
from ..lab.summary import Summary, summarise
from .claim import Claim
from .claims import CLAIMS
from .outcomes import (
    APART,
    JUDGED,
    LEAST,
    Difference,
    Outcome,
    half_width,
    in_units,
    lost,
    of_the_paper,
    of_the_test_set,
    over_runs,
    tally,
    worst,
)


@dataclass(frozen=True)
class Lead:
    """Our runs of cell ``ahead`` do better than the strongest of the cells ``of``: than our runs of them, or, where
    they are quoted, than what the paper prints. level: as good is enough. idle: why it could hardly have come out
    otherwise; such a piece is shown and decides nothing."""

    ahead: str
    of: tuple[str, ...]
    level: bool = False
    idle: str = ""


@dataclass(frozen=True)
class Within:
    """In our runs of a cell one metric is more than so many times another, run by run. words: what that says."""

    cell: str
    larger: str
    than: str
    times: float
    words: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A claim of the paper in words. evidence: leads, and ids of cells."""

    id: str
    title: str  # a few words
    sentence: str  # what the paper says, in our words
    source: str  # where it says so
    part: str  # one of PARTS
    evidence: tuple[str | Lead | Within, ...]
    beside: tuple[str, ...] = ()  # cells that are shown with it and do not count
    forced: bool = False  # the paper's input leaves no other outcome
    remark: str = ""  # what a reader of the outcome has to know

    @property
    def cells(self) -> list[str]:
        """Every cell that is named and that is one of RoMAE's, once."""
        named = [e for e in self.evidence if isinstance(e, str)]
        named += [cell for e in self.evidence if isinstance(e, Lead) for cell in (e.ahead, *e.of)]
        named += [*(e.cell for e in self.evidence if isinstance(e, Within)), *self.beside]
        quoted = {claim.id for claim in CLAIMS if claim.quoted}
        return [cell for cell in dict.fromkeys(named) if cell not in quoted]


def _quoted(start: str, end: str = "") -> tuple[str, ...]:
    return tuple(c.id for c in CLAIMS if c.quoted and c.id.startswith(start) and c.id.endswith(end))


SIZES = ("tiny", "small-width-only", "base-width-only")
UEA = ("basicmotions", "charactertrajectories", "epilepsy", "heartbeat", "lsst")
CEILING = "our runs name all of its forty test cases, and so does MiniRocket: it tells no methods apart"
BEYOND = 2.0  # times the error among the points shown: that of the best possible predictor, 1.2 times
PARTS = ("position", "image and audio", "irregular series", "limits")


def _statements() -> tuple[Statement, ...]:
    table_1 = {size: (f"table-1-{size}-with-cls", f"table-1-{size}-no-cls") for size in SIZES}
    hertz = [f"app-b-4-mse-over-time-{f}-hz" for f in (9, 12, 15, 18, 21, 24)]
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
            sentence="Without [CLS] the test's absolute positions cannot be recovered, whatever the size of the model.",
            evidence=tuple(without for _, without in table_1.values()), forced=True,
            remark="All tokens of the paper's input are the same. A model without [CLS] then gives every token the "
            "same answer, and its error is the variance of the positions, whatever the model: no evidence about "
            "models. The three sizes share their positions, so they are one comparison and not three. Taken in "
            "general the sentence is wrong: another token at a fixed place does what [CLS] does.",
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
                Lead("table-7-romae-tiny-table-physionet-mse", ("table-7-hetvae-physionet-mse",), level=True),
                Lead("table-7-romae-tiny-spirals-rmse", _quoted("table-7-", "-spirals-rmse"), level=True),
            ),
            beside=(
                "table-7-romae-tiny-synthetic-mse", "table-7-romae-tiny-table-physionet-mse",
                "table-7-romae-tiny-text-of-sec-6-physionet-mse",
            ) + tuple(
                f"table-7-romae-tiny-{which}spirals-rmse"
                for which in ("", "stored-notebook-", "read-with-clean-inputs-")
            ),
            remark="The comparisons with other models could not be made: theirs on spirals are very probably in "
            "another unit, on normalised data, HeTVAE's synthetic series probably on another grid, and PhysioNet's "
            "score hangs on typing errors. RoMAE's own numbers say nothing about other models and stand beside: the "
            "one on synthetic series, and the one on spirals, which, taken as the error to the clean curve from "
            "noisy points, came out worse; the paper does not say that it is that. By a second reading it cannot be "
            "told from the paper's.",
        ),
        Statement(
            id="uea", part="irregular series", source="Section 5.4, Table 6", title="Classification (UEA)",
            sentence="On the UEA archive with 30 % of the observations dropped RoMAE is competitive with specialised "
            "models.",
            evidence=tuple(
                Lead(f"table-6-{name}-romae-tiny", _quoted(f"table-6-{name}"), level=True,
                     idle=CEILING if name == "basicmotions" else "")
                for name in UEA
            ),
            beside=tuple(f"table-6-{name}-as-the-script-scores-it-romae-tiny" for name in ("epilepsy", "lsst")),
            remark="Table 12's settings differ from set to set, and the authors' code keeps no part for validation: "
            "nothing shows that they were not chosen on the test sets. Their script scores with dropout at work, which "
            "costs accuracy on LSST, and none that three seeds can tell on Epilepsy: ours, scored so, stands beside. "
            "Ours takes the patch embedding over from pre-training, which theirs does not (D4); with settings of our "
            "own that is worth about as much on LSST as the lead there, so that by their script in both respects ours "
            "might be lower, which has not been run. MiniRocket, which the paper does not quote, was run beside ours "
            "and is ahead on Epilepsy and behind on LSST (chapter 09). Heartbeat, where RoMAE "
            "trails most in the paper, has not been run whole.",
        ),
        Statement(
            id="pendulum", part="irregular series", source="Section 5.4, Table 5", title="Regression (pendulum)",
            sentence="On the irregular pendulum RoMAE is ahead of the models for continuous time.",
            evidence=(Lead("table-5-romae-mse", _quoted("table-5-")),),
            beside=("table-5-romae-as-the-script-prints-it-mse",),
            remark="The authors' script prints 100 times the plain mean. Read so, our runs give the printed number, "
            "on our clips and on the published ones (of two further draws of the clips one agrees as well, and by the "
            "other ours would be better: the draw counts for more than the interval shows), and the table's unit would "
            "be wrong by a factor of ten. The outcome takes the table at its word.",
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
            evidence=tuple(Lead(lower, (higher,)) for lower, higher in zip(hertz, hertz[1:], strict=False)),
            beside=tuple(f"app-b-4-mse-over-time-{f}-hz" for f in (1, 3, 5, 7)),
            remark="That the error does not grow below 9 Hz is not among the evidence: in the paper's own figures it "
            "doubles from 1 to 7 Hz.",
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
            evidence=(
                Within("app-b-3-spirals-stored-notebook-rmse", "rmse_clean_beyond", "rmse_clean_authors", BEYOND,
                       f"Spirals: the error at five points beyond those shown is over {BEYOND:g} times that among them "
                       "(for the best possible predictor less than that)"),
            ),
            beside=("app-b-3-spirals-stored-notebook-rmse",),
            remark="The one number, which is stored in the authors' notebook, asks for the five points together with "
            "45 among those shown, by the notebook's code; it describes, and stands beside.",
        ),
    )


def forced_cells() -> set[str]:
    """Ids of cells that the paper's input decides, whatever the model."""
    found = STATEMENTS
    return {cell for s in found if s.forced for cell in s.evidence if isinstance(cell, str)}


class Evidence(NamedTuple):
    """One piece of evidence and its outcome."""

    text: str
    outcome: Outcome
    decides: bool = True


@dataclass(frozen=True)
class Judged:
    """A statement and what our runs say of it."""

    statement: Statement
    status: str
    evidence: tuple[Evidence, ...]

    @property
    def deciding(self) -> list[str]:
        """Outcomes of the pieces that decide."""
        return [piece.outcome.status for piece in self.evidence if piece.decides]

    @property
    def share(self) -> str:
        """How much of the evidence could be judged."""
        return f"{sum(status in JUDGED for status in self.deciding)} of {len(self.deciding)} judged"

    @property
    def result(self) -> str:
        """One sentence: how much of the evidence could be judged, and how it came out."""
        found = self.deciding
        judged = sum(status in JUDGED for status in found)
        pieces = "piece" if len(found) == 1 else "pieces"
        words = f"{judged} of {len(found)} {pieces} of evidence judged: {tally(found)}"
        idle = [piece.outcome.status for piece in self.evidence if not piece.decides]
        return words + (f" ({tally(idle)} beside it, which decides nothing)." if idle else ".")


def judge(statement: Statement, claims: Mapping[str, Claim], ours: Mapping[str, Summary | None],
          outcomes: Mapping[str, Outcome], runs: Mapping[str, Iterable[Record]] | None = None) -> Judged:
    """The outcome of a statement from cells, our runs of the paper's protocol (their means and the records) and their
    outcomes, all by id."""
    found = []
    for piece in statement.evidence:
        if isinstance(piece, str):
            claim = claims[piece]
            text = f"{name_of(claim)}: the paper's {claim.show()}"
            found.append(Evidence(text, outcomes[piece]))
        elif isinstance(piece, Within):
            found.append(_within(piece, (runs or {}).get(piece.cell, ())))
        else:
            found.append(_lead(piece, claims, ours, outcomes))
    return Judged(statement, worst([e.outcome.status for e in found if e.decides]), tuple(found))


def name_of(claim: Claim) -> str:
    """Table, row, and the column unless the title names it."""
    column = "" if claim.column.lower() in claim.title.lower() else f", {claim.column}"
    return f"{claim.table}, {claim.row}{column}"


def _within(piece: Within, records: Iterable[Record]) -> Evidence:
    """By the ratio of the two metrics: its interval over runs lies above, below, or neither."""
    ratios = [r.metrics[piece.larger] / r.metrics[piece.than] for r in records if piece.larger in r.metrics]
    if not ratios:
        return Evidence(piece.words, Outcome("not run", "no run of the paper's protocol"))
    ratio = summarise(ratios)
    reason = f"{ratio.text()} times, n = {ratio.n}"
    if ratio.n < LEAST or ratio.low <= piece.times <= ratio.high:
        return Evidence(piece.words, Outcome("undecided", reason))
    return Evidence(piece.words, Outcome("agrees" if ratio.low > piece.times else "differs", reason))


def _lead(lead: Lead, claims: Mapping[str, Claim], ours: Mapping[str, Summary | None],
          outcomes: Mapping[str, Outcome]) -> Evidence:
    """The outcome of a lead. Where our number itself is not the paper's, it says so: a lead can hold by far less."""
    found = _compared(lead, claims, ours)
    own = outcomes.get(lead.ahead)
    if found.outcome.status in JUDGED and own and own.status in APART:
        reason = f"{found.outcome.reason}. Of the number itself ({own.status}): {own.reason}"
        found = found._replace(outcome=found.outcome._replace(reason=reason))
    if lead.idle:
        reason = f"{found.outcome.reason}. Decides nothing: {lead.idle}"
        return Evidence(found.text, found.outcome._replace(reason=reason), decides=False)
    return found


def _compared(lead: Lead, claims: Mapping[str, Claim], ours: Mapping[str, Summary | None]) -> Evidence:
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
        return Evidence(
            text, Outcome("undecided", f"{min(counts)} run{'s' * (min(counts) > 1)}; an interval needs {LEAST}")
        )
    own = over_runs(mine, rival if rival.quoted else None)
    half = half_width([own, *theirs, of_the_test_set(claim.cases, mine.mean, them)])
    gap = mine.mean - them
    found = Difference(gap, half, replace(claim, value=them).allowed)
    words = (
        f"{in_units(claim, mine.mean)} against {in_units(claim, them)}, the difference known to ± "
        f"{in_units(claim, half)} (95 %)"
    )
    if found.holds_zero and half > lost(claim, them):
        return Evidence(text, Outcome("undecided", f"too scattered to say: {words}", found))
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


STATEMENTS = _statements()


def all_judged(rows: Iterable) -> list[Judged]:
    """Every statement, from the rows of `report`."""
    rows = list(rows)
    claims = {row.claim.id: row.claim for row in rows}
    ours = {row.claim.id: row.ours if row.tier == "paper" else None for row in rows}
    outcomes = {row.claim.id: row.outcome for row in rows}
    runs = {row.claim.id: row.records if row.tier == "paper" else () for row in rows}
    return [judge(statement, claims, ours, outcomes, runs) for statement in STATEMENTS]

"""The rule for an outcome: its intervals cover what they say, its edges lie where it says, and the claims in words rest
on numbers that exist."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from pages import prose
from pages.later import LATER, later_markdown

from romae_book.lab.summary import Summary, summarise
from romae_book.paper import claim as claims
from romae_book.paper.claim import Claim
from romae_book.paper.claims import CLAIMS
from romae_book.paper.outcomes import JUDGED, OUTCOMES, STATUSES, above, difference, old_outcome, outcome, tally, worst
from romae_book.paper.position import DRAW
from romae_book.paper.statements import PARTS, STATEMENTS, Lead, Statement, Within, judge


def claim(printed: str, **fields) -> Claim:
    settings = dict(experiment="spirals", metric="rmse_clean") | fields
    (made,) = claims.table("Table", "title", settings, (("column", {}),), (("row", {}, printed),))
    return made


# Coverage: of the difference of two samples, by simulation. Welch's interval itself holds the difference in 93.2 % (of
# twenty and three runs, the paper's with twice the spread) to 96.1 % (three and five) of 20,000 trials; 2000
# trials have a standard error of half a point, and three of these are allowed on both sides.
TRIALS = 2000


def covered(rng: np.random.Generator, n: int, n_paper: int, *, cases: int = 0, draw: float = 0.0) -> float:
    """How often the interval of the difference holds the true one, 0.02. n_paper = 0: the paper prints no spread, and
    its number is one run that scatters as ours do."""
    inside = 0
    for _ in range(TRIALS):
        ours = 0.62 + 0.01 * rng.standard_normal(n)
        paper = 0.60 + 0.02 * rng.standard_normal(max(n_paper, 1))
        if not n_paper:
            paper = 0.60 + 0.01 * rng.standard_normal(1)
        common = math.sqrt(0.61 * 0.39 / cases) * rng.standard_normal() if cases else 0.0
        value = paper.mean() + common + draw * rng.standard_normal()
        made = Claim(
            id="x", table="T", title="t", row="r", column="c", experiment="e", where={}, metric="m",
            printed="0.6000000", value=value, std=float(paper.std(ddof=1)) if n_paper > 1 else None, n=n_paper or None,
            cases=cases or None, draw=draw,
        )
        found = difference(made, summarise(ours))
        inside += abs(found.value - 0.02) <= found.half
    return inside / TRIALS


@pytest.mark.parametrize("n", [3, 5, 20])
@pytest.mark.parametrize("n_paper", [0, 3, 5, 20])
def test_intervals_cover_what_they_say(n, n_paper):
    rate = covered(np.random.default_rng([n, n_paper]), n, n_paper)
    assert 0.915 < rate < 0.98, rate


@pytest.mark.parametrize(("cases", "draw"), [(200, 0.0), (0, 0.03)])
def test_intervals_cover_with_the_error_of_a_test_set(cases, draw):
    rate = covered(np.random.default_rng(cases), 3, 0, cases=cases, draw=draw)
    assert 0.915 < rate < 0.98, rate


def test_the_draw_of_table_1_is_that_of_the_variance_of_uniform_positions():
    rng = np.random.default_rng(0)
    variances = [rng.uniform(1, 50, 40_000).var() for _ in range(1000)]
    assert np.std(variances) == pytest.approx(DRAW, rel=0.07)  # a deviation of 1000 values is known to 2.2 %
    assert DRAW == pytest.approx(0.9, abs=0.01)  # as the rule says in words


def test_rounding_is_a_part_of_the_uncertainty():
    """Without any spread the interval is that of half a unit of the last digit: uniform, so 1.96 / sqrt(3) of it."""
    found = difference(claim("0.62"), summarise([0.6] * 3))
    assert found.half == pytest.approx(1.96 * 0.005 / math.sqrt(3), rel=1e-3)


def test_runs_of_the_paper_without_a_spread_scatter_as_ours():
    """By hand: ours 1, 2, 3 (variance 1), theirs four runs: 4.3027 (Student's t, two degrees) sqrt(1 / 3 + 1 / 4)."""
    for n, runs in ((4, 4), (1, 1), (None, 1)):
        found = difference(claim("2.000000", n=n), summarise([1.0, 2.0, 3.0]))
        assert found.half == pytest.approx(4.302653 * math.sqrt(1 / 3 + 1 / runs), rel=1e-5)


# Edges ----------------------------------------------------------------------------------------------------------------

THREE = (0.99, 1.0, 1.01)  # s = 0.01; alone against 1.00 (half a digit 0.005), and one run more, 95 % reaches to 0.05


@pytest.mark.parametrize(
    ("printed", "fields", "ours", "status"),
    [
        ("1.00", {}, THREE, "agrees"),
        ("1.20", {}, THREE, "better"),
        ("0.80", {}, THREE, "worse"),
        ("1.20", {"better": "higher"}, THREE, "worse"),
        ("0.80", {"better": "higher"}, THREE, "better"),
        ("0.80", {"better": "equal"}, THREE, "differs"),
        # a margin, as it is and as a share; its edge belongs to it
        ("0.80", {"margin": 0.2}, THREE, "agrees"),
        ("0.80", {"margin": 0.19}, THREE, "worse"),
        ("0.80", {"margin_share": 0.25}, THREE, "agrees"),
        ("0.80", {"margin_share": 0.24}, THREE, "worse"),
        # the paper's own spread, the draw of its test set, few cases: each makes room
        ("0.80 (0.20)", {"n": 3}, THREE, "agrees"),
        ("0.80 (0.20)", {"n": 20}, THREE, "worse"),
        ("0.80", {"draw": 0.11}, THREE, "agrees"),
        ("0.80", {"draw": 0.05}, THREE, "worse"),
        ("0.80", {"better": "higher", "cases": 20}, (0.9, 0.9, 0.9), "agrees"),
        ("0.80", {"better": "higher", "cases": 1000}, (0.9, 0.9, 0.9), "better"),
        # fewer than three runs decide nothing, wherever they lie; of what is counted, one is enough
        ("0.80", {}, (1.0, 1.0), "undecided"),
        ("0.80", {"margin": 0.2}, (0.8,), "undecided"),
        ("0.80", {"draw": 0.11}, (1.0, 1.0), "undecided"),
        ("4.67", {"better": "equal", "metric": "parameters"}, (4.6749,), "agrees"),
        ("4.67", {"better": "equal", "metric": "parameters"}, (4.0,), "differs"),
        # runs so scattered that a difference as large as the number would not have shown
        ("0.80", {}, (0.1, 1.0, 2.9), "undecided"),
        ("0.80", {}, (0.7, 0.8, 1.0), "agrees"),
        ("0.80", {"margin": 1.0}, (0.1, 1.0, 2.9), "undecided"),  # a mean may lie within a margin by luck
        ("0.80", {"better": "higher"}, (0.6, 0.75, 0.9), "undecided"),  # of a share the number is what is wrong, 0.20
        ("0.80", {"better": "higher"}, (0.77, 0.80, 0.82), "agrees"),
        # nothing to judge
        ("0.80", {"not_comparable": "other data"}, THREE, "not comparable"),
        ("?", {}, THREE, "unknown"),
        ("0.80", {"quoted": True}, THREE, "quoted"),
    ],
)
def test_outcome(printed, fields, ours, status):
    assert outcome(claim(printed, **fields), summarise(ours)).status == status


def test_without_a_run():
    assert outcome(claim("1.0"), None).status == "not run"
    assert outcome(claim("?"), None).status == "unknown"
    assert outcome(claim("1.0", not_comparable="why"), None) == ("not comparable", "why", None)


def test_outcome_does_not_depend_on_the_unit():
    for value, status in ((3.0, "agrees"), (3.7, "worse"), (2.9, "better")):
        ours = (value - 0.01, value, value + 0.01)
        for printed, exponent in (("3.00", 0), ("3.00", -3)):
            made = claim(printed, exponent=exponent, margin_share=0.01)
            assert outcome(made, summarise(v * 10**exponent for v in ours)).status == status


def test_above_a_floor_what_is_left_is_compared():
    """Errors of 0.105 and 0.102 over a noise of 0.1 differ by 3 %; what is above the noise by 60 %."""
    ours = summarise([0.105, 0.105, 0.105])
    plain = claim("0.1020000", margin_share=0.05)
    assert outcome(plain, ours).status == "agrees"
    found = outcome(replace(plain, floor=0.1), ours)
    assert found.status == "worse"
    assert found.difference.value == pytest.approx(math.sqrt(0.105**2 - 0.01) - math.sqrt(0.102**2 - 0.01))
    assert above(0.1, 0.09) == 0.0


def test_the_smallest_difference_that_could_have_been_seen():
    found = difference(claim("1.00", margin=0.001), summarise(THREE))
    assert found.seen == found.half > 0.02
    assert difference(claim("1.00", margin=0.5), summarise(THREE)).seen == 0.5
    assert difference(claim("1.00"), summarise([1.0, 1.0])).seen is None


def test_the_rule_before_this_one():
    """Its own edges, as its tests had them."""
    spread = lambda mean, low, high: Summary(mean, low, high, 5, 0.1, (mean,) * 5)  # noqa: E731
    for printed, better, ours, word in (
        ("1.0 (0.1)", "lower", spread(1.5, 1.0, 2.0), "reproduced"),
        ("1.0 (0.1)", "lower", spread(1.5, 1.001, 2.0), "not reproduced"),
        ("1.0 (0.1)", "lower", spread(0.5, 0.4, 0.6), "reproduced"),
        ("1.0 (0.1)", "higher", spread(0.5, 0.4, 0.6), "not reproduced"),
        ("1.0 (0.1)", "lower", summarise([1.2]), "close"),
        ("1.0 (0.1)", "lower", summarise([1.2001]), "not reproduced"),
        ("1.0", "lower", summarise([1.05]), "close"),
        ("4.67", "equal", summarise([4.66]), "close"),
        ("4.67", "equal", summarise([4.6749]), "reproduced"),
    ):
        assert old_outcome(claim(printed, better=better), ours) == word
    described = claim("1.0", better="equal", better_before="lower")
    assert old_outcome(described, summarise([0.1])) == "reproduced"


def test_words():
    assert set(JUDGED) < set(OUTCOMES) < set(STATUSES)
    assert tally(["worse", "agrees", "agrees", "not run"]) == "2 agree, 1 worse, 1 not run"
    assert tally(["agrees", "differs"]) == "1 agrees, 1 differs"


# Claims in words ------------------------------------------------------------------------------------------------------

IDS = {c.id: c for c in CLAIMS}


def test_every_piece_of_evidence_exists():
    assert len({s.id for s in STATEMENTS}) == len(STATEMENTS) and 8 <= len(STATEMENTS) <= 12
    for statement in STATEMENTS:
        assert statement.part in PARTS and statement.evidence and statement.source
        assert {s.part for s in STATEMENTS} == set(PARTS)
        for piece in statement.evidence:
            if isinstance(piece, str):
                assert not IDS[piece].quoted
                continue
            if isinstance(piece, Within):
                assert not IDS[piece.cell].quoted and piece.larger != piece.than
                continue
            assert not IDS[piece.ahead].quoted and piece.of
            assert len(piece.of) == 1 or all(IDS[other].quoted for other in piece.of)
            assert piece.ahead not in piece.of
            assert len({IDS[name].metric for name in (piece.ahead, *piece.of)} - {IDS[piece.ahead].metric}) <= (
                IDS[piece.ahead].table == "App. B.4"  # where every frequency is a metric of its own
            )


def test_every_number_of_romae_belongs_to_a_claim_or_to_the_second_tab():
    shown = {cell for statement in STATEMENTS for cell in statement.cells}
    left = {c.table for c in CLAIMS if not c.quoted and c.id not in shown}
    assert left <= {"App. B.4", "Table 8"}


def test_the_worst_of_what_could_be_judged():
    assert worst(["agrees", "not run", "better"]) == "agrees"
    assert worst(["better", "not run"]) == "better"
    assert worst(["agrees", "worse", "differs"]) == "worse"
    assert worst(["agrees", "differs"]) == "differs"
    assert worst(["not comparable", "not run"]) == "not run"
    assert worst(["not run", "undecided", "not comparable"]) == "undecided"
    assert worst(["undecided", "agrees"]) == "agrees"
    assert worst(["not comparable"]) == "not comparable"


def lead(ours, theirs, *, better="lower", level=False, quoted=True, **fields) -> str:
    """The outcome of one lead over a quoted number, or over runs of ours."""
    mine = claim("0.50", better=better, **fields)
    rival = replace(claim(theirs if quoted else "0.50", better=better), id="rival", quoted=quoted)
    statement = Statement(id="s", title="t", sentence="s", source="x", part=PARTS[0],
                          evidence=(Lead(mine.id, ("rival",), level=level),))
    runs = {mine.id: summarise(ours), "rival": None if quoted else summarise(theirs)}
    return judge(statement, {mine.id: mine, "rival": rival}, runs, {}).status


def test_leads():
    ours = (0.49, 0.50, 0.51)  # known to 0.025
    assert lead(ours, "0.60") == "agrees"
    assert lead(ours, "0.40") == "worse"
    assert lead(ours, "0.51") == "worse" and lead(ours, "0.51", level=True) == "agrees"
    assert lead(ours, "0.49", level=True) == "agrees" and lead(ours, "0.40", level=True) == "worse"
    assert lead(ours, "0.60", better="higher") == "worse" and lead(ours, "0.40", better="higher") == "agrees"
    assert lead(ours, "0.44", level=True, margin=0.1) == "agrees"
    assert lead(ours, "0.44", margin=0.1) == "worse"  # a margin is no lead
    assert lead((0.5, 0.5), "0.60") == "undecided"
    assert lead(ours, "0.60", not_comparable="unlike") == "not comparable"
    assert lead(ours, (0.59, 0.60, 0.61), quoted=False) == "agrees"
    assert lead(ours, (0.49, 0.50, 0.51), quoted=False) == "worse"
    assert lead(ours, (0.6, 0.6), quoted=False) == "undecided"


def test_the_strongest_of_several_quoted_methods_counts():
    mine = claim("0.50")
    others = [replace(claim(p), id=p, row=p, quoted=True) for p in ("0.70", "0.45", "0.60")]
    statement = Statement(id="s", title="t", sentence="s", source="x", part=PARTS[0],
                          evidence=(Lead(mine.id, tuple(o.id for o in others)),))
    known = {c.id: c for c in (mine, *others)}
    (piece,) = judge(statement, known, {mine.id: summarise((0.49, 0.5, 0.51))}, {}).evidence
    assert piece.outcome.status == "worse" and "ahead of 0.45" in piece.text


def test_of_accuracies_the_highest_is_the_strongest():
    mine = claim("0.50", better="higher")
    others = [replace(claim(p, better="higher"), id=p, row=p, quoted=True) for p in ("0.30", "0.55", "0.40")]
    statement = Statement(id="s", title="t", sentence="s", source="x", part=PARTS[0],
                          evidence=(Lead(mine.id, tuple(o.id for o in others)),))
    known = {c.id: c for c in (mine, *others)}
    (piece,) = judge(statement, known, {mine.id: summarise((0.499, 0.5, 0.501))}, {}).evidence
    assert piece.outcome.status == "worse" and "ahead of 0.55" in piece.text


def judged_of(evidence, records=(), ours=None):
    mine = claim("0.50")
    rival = replace(claim("0.60"), id="rival", quoted=True)
    statement = Statement(id="s", title="t", sentence="s", source="x", part=PARTS[0], evidence=evidence)
    runs = {mine.id: summarise(ours)} if ours else {mine.id: None}
    return judge(statement, {mine.id: mine, "rival": rival}, runs, {}, {mine.id: list(records)})


def test_an_idle_piece_is_shown_and_decides_nothing():
    cell, ours = claim("0.50").id, (0.49, 0.50, 0.51)
    idle, telling = Lead(cell, ("rival",), idle="it is at its ceiling"), Lead(cell, ("rival",))
    alone = judged_of((idle,), ours=ours)
    assert alone.status not in ("agrees", "better") and alone.share == "0 of 0 judged"
    assert alone.evidence[0].outcome.status == "agrees" and "at its ceiling" in alone.evidence[0].outcome.reason
    both = judged_of((idle, telling), ours=ours)
    assert both.status == "agrees" and both.share == "1 of 1 judged" and "decides nothing" in both.result


@pytest.mark.parametrize(
    ("ratios", "status"),
    [
        ((), "not run"), ((5.0, 6.0), "undecided"), ((5.0, 6.0, 5.5), "agrees"), ((1.1, 1.2, 1.15), "differs"),
        ((1.0, 2.0, 4.0), "undecided"),
    ],
)
def test_how_many_times_one_metric_is_another_is_told_run_by_run(tmp_path, ratios, status):
    """Ratios within a run: that runs differ in size is no part of the interval."""
    from conftest import made_up_record

    records = [
        made_up_record("spirals", "paper", i, None, tmp_path, metrics={"a": ratio * 10.0**i, "b": 10.0**i})
        for i, ratio in enumerate(ratios)
    ]
    piece = Within(claim("0.50").id, "a", "b", 2.0, "a is beyond b")
    assert judged_of((piece,), records).status == status


# In sentences ---------------------------------------------------------------------------------------------------------


def test_roles_take_numbers_from_the_records(tmp_path, monkeypatch):
    from conftest import made_up_record

    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert prose.ours("table-7-romae-tiny-spirals-rmse") == prose.MISSING == prose.recorded("spirals best rmse_clean")
    assert prose.paper("table-7-romae-tiny-spirals-rmse") == "0.0183 ± 0.007"
    made_up_record("spirals", "paper", 0, None, tmp_path, metrics={"rmse_clean": 0.04})
    made_up_record("spirals", "best", 0, None, tmp_path, metrics={"rmse_clean": 0.017, "extra": 2.0})
    made_up_record("spirals", "best", 0, {"epochs": 3}, tmp_path, metrics={"rmse_clean": 0.5, "extra": 4.0})
    assert prose.ours("table-7-romae-tiny-spirals-rmse") == "0.0400, n = 1"
    assert prose.own("table-7-romae-tiny-spirals-rmse") == "0.0170, n = 1"
    assert prose.recorded("spirals best extra") == "2.00, n\u00a0=\u00a01"
    assert prose.recorded("spirals best extra epochs=3") == "4.00, n\u00a0=\u00a01"
    for seed, value in enumerate((0.1, 0.2, 3.0)):  # its interval, 1.1 -+ 4.1, ends at errors that do not exist
        made_up_record("spirals", "text", seed, None, tmp_path, metrics={"rmse_clean": value})
    assert prose.recorded("spirals text rmse_clean") == "1.10 (single runs 0.1, 0.2, 3), n\u00a0=\u00a03"
    made_up_record("spirals", "text", 3, None, tmp_path, metrics={"rmse_clean": 9.0}, commit="0" * 40 + "+")
    assert prose.recorded("spirals text rmse_clean").endswith("n\u00a0=\u00a03"), "three others are enough"
    made_up_record("spirals", "best", 1, None, tmp_path, metrics={"extra": 2.0}, commit="0" * 40 + "+")
    assert prose.recorded("spirals best extra").endswith("n\u00a0=\u00a02 (some by code that no commit holds)")
    assert prose.outcome("pendulum") == "not run" and prose.outcome("table-5-romae-mse") == "not run"
    with pytest.raises(ValueError, match="cell is 'table-0'"):
        prose.ours("table-0")
    with pytest.raises(ValueError, match="outcome is 'wrong'"):
        prose.claims_markdown(["wrong"])


def test_no_result_is_typed_in_the_report(root):
    """Digits stand in roles, in names of tables and sections, and in the label of a frequency; nowhere else."""
    text = (root / "book" / "what_we_found.md").read_text(encoding="utf-8")
    text = re.sub(r"\{[\w:]+\}`[^`]*`|```\{.*?```", "", text, flags=re.S)
    text = re.sub(r"Tables? \d+|D\.\d|12 Hz|ESC-50", "", text)
    assert re.findall(r".{0,30}\d.{0,30}", text) == []


def test_every_claim_is_told_once_by_its_outcome(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    lines = [line for status in OUTCOMES for line in prose.claims_markdown([status]).splitlines() if line[0] == "-"]
    assert len(lines) == len(STATEMENTS)


def test_every_judged_number_is_told_once_by_its_outcome(tmp_path, monkeypatch):
    from conftest import made_up_record

    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    assert prose.numbers_markdown(["agrees", "worse"]) == "None so far."
    for seed in range(3):
        made_up_record("position", "paper", seed, {"cls": False}, tmp_path, metrics={"mse": 200.0 + seed})
        made_up_record("spirals", "paper", seed, None, tmp_path, metrics={"rmse_clean": 0.04})
        made_up_record("spirals", "text", seed, None, tmp_path, metrics={"rmse_authors_beyond": 0.2})
    (forced,) = prose.numbers_markdown(["agrees"]).splitlines()
    assert forced.startswith("- Table 1, tiny, no [CLS] (agrees): the paper has 200.33") and "input forces" in forced
    lines = prose.numbers_markdown(["worse", "differs"]).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "- Table 7, RoMAE-tiny, Spirals, RMSE (worse)",
        "- App. B.3, spirals, stored notebook, RMSE (differs)",
    ]
    assert "the difference is \N{MINUS SIGN}0.0850" in lines[1]


def test_later_numbers_say_where_they_were_read(root):
    known = (root / "book" / "references.bib").read_text(encoding="utf-8")
    text = later_markdown()
    for row in LATER:
        assert f"{{{row.source}," in known and row.differs and row.score in text
        assert row.read in ("abstract", "file", "summary")

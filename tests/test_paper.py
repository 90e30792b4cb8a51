"""The paper's tables hang together."""

import re
from collections import Counter

import pytest

from romae_book.lab.summary import Summary, summarise
from romae_book.paper import claim as claims
from romae_book.paper.claim import SOURCES, TABLES, Claim
from romae_book.paper.claims import CLAIMS
from romae_lite.model import SIZES


def of(table: str, **fields) -> list[Claim]:
    return [c for c in CLAIMS if c.table == table and all(getattr(c, k) == v for k, v in fields.items())]


# The tables -----------------------------------------------------------------------------------------------------------


def test_every_table_has_all_its_cells():
    assert Counter(c.table for c in CLAIMS) == {
        "Table 1": 3 * 2,
        "Figure 2": 2 * 5,
        "Table 2": 3,
        "Table 3": 2 * 2 + 3,  # and three quoted in the text
        "Table 4": 4 + 2,  # and two of the authors' README
        "Table 5": 6 + 1,  # and its last cell read as the script prints it
        "Table 6": 5 * 5 + 2,  # and two cells as the script scores them
        # one cell is printed twice with different numbers; one number is a notebook's; one is read in a second way
        "Table 7": 4 + 2 + 3 + 1 + 1,
        "Table 8": 4 + 1,  # and Table 14's
        "Table 9": 2,  # the third speed is the unit
        "App. B.3": 1,
        "App. B.4": 2 * (10 + 7) + 2 * 3 + 2 * 3 + 1,
    }
    assert len(of("Table 6", quoted=True)) == 5 * 4


def test_unknown_cells_stay_unknown():
    unknown = [c for c in CLAIMS if c.value is None]
    assert all(c.printed == "?" and c.std is None for c in unknown)
    assert {c.metric for c in unknown} == (
        {f"mse_spectrum_{f}hz" for f in (3, 5, 7, 15, 18, 21)}
        | {f"mse_spectrum_{f}hz_{g}hz" for f, g in ((1, 5), (1, 12), (1, 24), (12, 12), (18, 18))}
    )


def test_claims_are_well_formed():
    assert len({c.id for c in CLAIMS}) == len(CLAIMS)
    for c in CLAIMS:
        assert re.fullmatch(r"[a-z0-9-]+", c.id)
        assert c.table in TABLES and c.source in SOURCES and c.better in ("lower", "higher", "equal")
        assert c.value is None or c.value > 0
        assert c.std is None or 0 < c.std < c.value
        assert not (c.quoted and c.where)
        if c.metric == "accuracy" or c.metric == "f1_macro":
            assert 0 < c.value < 1 and c.better == "higher"
        describes = c.table in ("Figure 2", "Table 8", "Table 9", "App. B.3", "App. B.4") or "no-cls" in c.id
        if c.metric.startswith(("mse", "rmse", "mae")):
            assert c.better == ("equal" if describes and "table-2" not in c.id else "lower")
        if not c.quoted and c.value is not None:
            assert c.experiment not in ("tiny_imagenet", "esc50", "speed", "elasticc") or c.needs, c.id


def test_no_two_claims_are_answered_by_the_same_number_unless_the_paper_says_both():
    asked = Counter((c.experiment, repr(sorted(c.where.items())), c.metric) for c in CLAIMS if not c.quoted)
    assert [key[0] for key, n in asked.items() if n > 1] == ["physionet"]
    values = {c.value for c in CLAIMS if c.experiment == "physionet" and not c.quoted}
    assert values == {0.467, 0.570}


def test_what_is_stored_is_what_is_printed():
    """Value and std, divided by the unit and written with the printed decimals, give the printed cell again."""
    for c in (c for c in CLAIMS if c.value is not None and "e" not in c.printed):
        cell = f"{c.value / 10**c.exponent:.{c.decimals}f}"
        decimals = len(c.printed.rstrip(")").rpartition(".")[2])
        cell += f" ({c.std / 10**c.exponent:.{decimals}f})" if c.std else ""
        assert cell == c.printed


def test_claims_agree_with_one_another():
    mean, least, most = (of("App. B.4", row="MSE over time, T = 100", column=f"{w} of all pairs")[0].value
                         for w in ("mean", "min", "max"))
    pairs = [c.value for c in CLAIMS if c.column.count("Hz") == 1 and " and " in c.column and c.row == "MSE over time"]
    assert least < mean < most and min(pairs) == least and max(pairs) == most
    spectrum = [c for c in of("App. B.4", row="MSE of the spectrum") if c.column == "24 and 24 Hz"][0]
    assert of("App. B.4", row="MSE of the spectrum, T = 100", column="max of all pairs")[0].value == spectrum.value
    for domain in ("(0, 100)", "(0, 1000)"):
        found = {c.column: c.value for c in of("Figure 2", row=domain)}
        assert found["central 80 %"] < found["mean"] < found["first point"] < found["last point"]
    # What the paper says in words: RoMAE is best of its table on the pendulum and on the spirals ...
    for table, metric in (("Table 5", "mse"), ("Table 7", "rmse_clean")):
        best = min((c for c in CLAIMS if c.table == table and c.metric == metric), key=lambda c: c.value)
        assert not best.quoted
    # ... and beats SSAST with either pre-training set
    audio = {(c.row, c.column): c.value for c in of("Table 3")}
    assert all(audio["RoMAE-small", on] > audio["SSAST", on] for on in ("Librispeech", "AudioSet-20k"))


def test_parameters_of_table_8_follow_from_the_sizes():
    """Per layer 4 d^2 + 2 d ff + 2 d; the paper adds a projection of 16 values, [CLS] and a head of one output."""
    for c in of("Table 8"):
        s = SIZES[c.where["size"]]
        d, depth, ff = s.dim, s.depth, s.ff
        encoder = depth * (4 * d**2 + 2 * d * ff + 2 * d)
        counted = encoder + (16 * d + d) + d + (d + d + 1)  # projection, [CLS], head: norm and linear
        assert c.show_ours(one(counted)) == c.show(), c.id
    assert {c.where["size"] for c in of("Table 8")} == set(SIZES)


def test_malformed_cells_are_refused():
    for cell in ("", "1,5", "0.1 ± 0.2", "-1"):
        with pytest.raises(ValueError, match="the cell"):
            list(claims.table("T", "t", dict(experiment="uea", metric="accuracy"), (("c", {}),), (("r", {}, cell),)))


# How they are shown ---------------------------------------------------------------------------------------------------


def claim(printed: str, **fields) -> Claim:
    settings = dict(experiment="spirals", metric="rmse_clean") | fields
    (made,) = claims.table("Table", "title", settings, (("column", {}),), (("row", {}, printed),))
    return made


def one(mean: float) -> Summary:
    return summarise([mean])


def spread(mean: float, low: float, high: float) -> Summary:
    return Summary(mean, low, high, 5, 0.1, (mean,) * 5)


def test_numbers_are_shown_in_the_papers_units():
    made = claim("3.32 (0.13)", exponent=-3, unit="×10⁻³")
    assert made.show() == "3.32 ± 0.13 ×10⁻³"
    assert made.show_ours(spread(0.003456, 0.0034, 0.0035)) == "3.46 [3.40, 3.50] ×10⁻³"
    assert claim("0.0965839").show_ours(one(0.1012345)) == "0.1012"
    assert claim("0.06").show_ours(one(0.00123)) == "0.0012"
    assert claim("?").show() == "?"

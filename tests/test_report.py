"""The scoreboard joins the right records with the right claims, and judges nothing but the paper's protocol; what the
terminal, a chapter and the page say is the same."""

import dataclasses
import io
import json
import re
import sys
from html import unescape
from html.parser import HTMLParser

import pytest
from conftest import made_up_record
from pages import board
from pages.board import board_html

from romae_book.cli.commands import main
from romae_book.experiments import experiments
from romae_book.lab.planned import assignment, ranges, seeds
from romae_book.lab.summary import summarise
from romae_book.paper import report
from romae_book.paper.claims import CLAIMS
from romae_book.paper.report import rows, scoreboard_text
from romae_book.paper.statements import STATEMENTS, all_judged

SPIRALS = "table-7-romae-tiny-spirals-rmse"  # the paper says 0.0183 (0.007)


def save(root, experiment, metrics, *, seed=0, preset="paper", settings=None, **changes):
    return made_up_record(experiment, preset, seed, settings, root, metrics=metrics, **changes)


def row(root, claim_id):
    return {r.claim.id: r for r in rows(root)}[claim_id]


def test_without_records_every_claim_is_not_run(tmp_path):
    found = rows(tmp_path)
    assert [r.claim for r in found] == list(CLAIMS)
    assert {r.outcome.status for r in found} == {"not run", "not comparable", "unknown", "quoted"}
    assert all(r.ours is None and r.own is None and r.tier == "" for r in found)
    numbers = sum(not c.quoted and not c.reading and c.value is not None and c.metric != "parameters" for c in CLAIMS)
    assert report.summary_line(found).startswith(f"0 of {numbers} numbers judged: 4 not comparable,")
    assert "0 of 5 counts of parameters judged: 5 not run." in report.summary_line(found)
    n = len(STATEMENTS)  # of interpolation all comparisons are of unlike things
    words = f"Of {n} claims of the paper: 1 not comparable, {n - 1} not run."
    assert report.claims_line(all_judged(found)) == words


def test_paper_tier_records_are_judged(tmp_path):
    for seed, value in enumerate((0.036, 0.040, 0.044)):
        save(tmp_path, "spirals", {"rmse_clean": value, "rmse_authors_authors": 0.1}, seed=seed)
    found = row(tmp_path, SPIRALS)
    assert found.outcome.status == "worse" and found.tier == "paper"
    assert (found.ours.mean, found.ours.n) == (pytest.approx(0.04), 3)
    assert found.command == "python -m romae_lite run spirals --preset paper --seeds 0-2"
    assert found.before == "not reproduced"
    line = report.summary_line(rows(tmp_path))
    assert line.startswith("1 of ") and "1 worse" in line


def test_a_number_of_another_recipe_is_judged_by_runs_of_that_recipe(tmp_path):
    """The stored notebook's checkpoint fits the text of D.7, Table 7's row has Table 19 (D35)."""
    notebook = "table-7-romae-tiny-stored-notebook-spirals-rmse"
    for seed in range(3):
        save(tmp_path, "spirals", {"rmse_clean": 0.04, "rmse_authors_authors": 0.1}, seed=seed)
    assert row(tmp_path, notebook).outcome.status == "not run"
    assert row(tmp_path, notebook).command.endswith("run spirals --preset text --seeds 0-4")
    for seed in range(3):
        save(tmp_path, "spirals", {"rmse_clean": 0.03, "rmse_authors_authors": 0.11}, seed=seed, preset="text")
    found = row(tmp_path, notebook)
    assert (found.outcome.status, found.ours.mean, found.tier) == ("worse", pytest.approx(0.11), "paper")
    assert row(tmp_path, SPIRALS).ours.mean == pytest.approx(0.04)  # Table 19 where both recipes were run


def test_uncommitted_code_counts_for_nothing(tmp_path):
    made = dict(experiment="spirals", metrics={"rmse_clean": 0.04}, root=tmp_path)
    made_up_record(**made, commit="0" * 40 + "+")
    assert row(tmp_path, SPIRALS).ours is None
    made_up_record(**made, commit="0" * 40, seed=1)
    assert row(tmp_path, SPIRALS).ours.n == 1


def test_an_impossible_interval_is_told_as_its_runs():
    claim = next(c for c in CLAIMS if c.id == "table-1-tiny-with-cls")
    assert report.our_text(summarise((0.05, 0.1, 3.0)), claim) == "1.050 (single runs 0.05, 0.1, 3), n = 3"
    assert "[" in report.our_text(summarise((0.05, 0.06, 0.07)), claim)


def test_other_tiers_are_shown_but_never_judged(tmp_path):
    save(tmp_path, "spirals", {"rmse_clean": 0.001}, preset="quick")
    assert row(tmp_path, SPIRALS).ours is None
    save(tmp_path, "spirals", {"rmse_clean": 0.002}, preset="best")
    found = row(tmp_path, SPIRALS)
    assert found.ours is None and found.own.mean == 0.002 and found.outcome.status == "not run"
    save(tmp_path, "spirals", {"rmse_clean": 0.004}, preset="best", settings={"lr": 1e-3})
    assert row(tmp_path, SPIRALS).ours is None
    save(tmp_path, "spirals", {"rmse_clean": 0.003}, settings={"epochs": 5})
    assert row(tmp_path, SPIRALS).ours is None  # a run cut short says nothing beside a whole one
    save(tmp_path, "spirals", {"rmse_clean": 0.003}, settings={"cls": True})
    found = row(tmp_path, SPIRALS)
    assert (found.ours.mean, found.tier, found.outcome.status) == (0.003, "reduced", "not run")
    assert report.status_words(found) == "run otherwise"
    assert found.command.splitlines()[1:] == [row(tmp_path / "empty", SPIRALS).command]  # what would settle it
    save(tmp_path, "spirals", {"rmse_clean": 0.5}, seed=0)  # one run: no interval, far off
    found = row(tmp_path, SPIRALS)
    assert (found.ours.mean, found.tier, found.outcome.status) == (0.5, "paper", "undecided")
    assert found.own.mean == 0.002 and len(found.command.splitlines()) == 1


def test_made_up_data_and_other_test_sets_are_no_answer_to_a_claim(tmp_path):
    claim, motions = "table-6-heartbeat-romae-tiny", "table-6-basicmotions-romae-tiny"
    save(tmp_path, "uea", {"accuracy": 0.9}, settings={"dataset": "Heartbeat", "folds": 5})
    save(tmp_path, "uea", {"accuracy": 0.9}, settings={"source": "simulated"})
    assert row(tmp_path, claim).ours is None and row(tmp_path, motions).ours is None
    save(tmp_path, "uea", {"accuracy": 0.7}, settings={"dataset": "Heartbeat", "embedding": "fresh"})
    assert row(tmp_path, claim).ours.mean == 0.7


def test_claims_take_only_records_with_their_settings(tmp_path):
    save(tmp_path, "position", {"mse": 0.05})
    for seed in range(3):
        save(tmp_path, "position", {"mse": 200.33}, seed=seed, settings={"cls": False})
    status = {r.claim.id: (r.outcome.status, r.ours and r.ours.mean) for r in rows(tmp_path, ["position"])}
    assert status["table-1-tiny-with-cls"] == ("undecided", 0.05)
    assert status["table-1-tiny-no-cls"] == ("agrees", 200.33)
    assert status["table-1-small-width-only-with-cls"] == ("not run", None)


def test_different_settings_and_repeated_seeds_are_never_pooled(tmp_path):
    for seed in range(2):
        save(tmp_path, "position", {"mse": 0.05}, seed=seed, settings={"cls": False})
        # the same run in another precision: the same setting and seed, so it counts once
        half = {"cls": False, "precision": "bf16"}
        save(tmp_path, "position", {"mse": 0.05}, seed=seed, settings=half, precision="bf16")
    for seed in range(3):  # reduced, better and more
        save(tmp_path, "position", {"mse": 0.01}, seed=seed, settings={"cls": False, "epochs": 1})
    found = row(tmp_path, "table-1-tiny-no-cls")
    assert (found.ours.mean, found.ours.n) == (pytest.approx(0.05), 2)


def test_commands_are_put_together():
    assert ranges([3, 0, 1, 2, 7, 7]) == "0-3,7" and ranges([]) == ""


def test_commands_of_claims_not_run_are_ones_that_the_command_line_accepts(tmp_path):
    for r in rows(tmp_path):
        if r.command:
            cls, words = experiments()[r.claim.experiment], r.command.split()
            assert words[:5] == ["python", "-m", "romae_lite", "run", cls.name]
            changes = dict(assignment(word) for flag, word in zip(words, words[1:], strict=False) if flag == "--set")
            settings = cls.preset(words[words.index("--preset") + 1]).replace(**changes).config()
            assert {key: settings[key] for key in r.claim.where} == r.claim.where
            assert seeds(words[words.index("--seeds") + 1])
        else:
            assert r.claim.quoted or r.claim.experiment not in experiments()
    assert row(tmp_path, SPIRALS).command


def test_only_some_experiments(tmp_path):
    assert {r.claim.experiment for r in rows(tmp_path, ["uea", "speed"])} == {"uea", "speed"}
    with pytest.raises(ValueError, match="experiment is 'spiral'"):
        scoreboard_text(["spiral"], tmp_path)


def test_what_cannot_be_used_is_listed_by_name(tmp_path):
    save(tmp_path, "spirals", {"rmse_clean": 0.01}, seed=1)
    (tmp_path / "spirals" / "paper-s2.json").write_text("{")
    made_up_record("position", settings={"lr": 1e-3}, metrics={"mse_mean": 1.0}, root=tmp_path)
    (tmp_path / "position" / "paper-s0.json").write_text(
        json.dumps(dataclasses.asdict(made_up_record("position", metrics={"mse": 1.0}, config={})))
    )
    (tmp_path / "spirals" / "<b>&.json").write_text("{")
    page = Board(board_html(tmp_path)).text  # the text as it was, so it was escaped in the page
    for text in (scoreboard_text(root=tmp_path), page):
        assert "spirals/<b>&.json: is not JSON" in text
        assert "spirals/paper-s2.json: is not JSON" in text
        assert "position/paper-lr=0.001-s0.json: it has none of the metrics that the claims name, like mse" in text
        assert "position/paper-s0.json: its config lacks anchor" in text
        assert str(tmp_path) not in text  # no path of this machine in the book
    assert row(tmp_path, SPIRALS).ours.n == 1


def test_html_leaves_the_colours_to_the_page():
    """Any colour is inherited, mixed from what is inherited, or a variable of the theme (with a fallback elsewhere)."""
    outside_variables = re.sub(r"var\([^()]*\)", "", board.STYLE)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(|:\s*(white|black|gray|grey)\b", outside_variables)


def test_html_asks_for_nothing_from_elsewhere(tmp_path):
    assert not re.search(r"https?://|<script|<link|<img|@import|url\(", board_html(tmp_path))


def test_a_terminal_without_the_signs_still_gets_the_table(monkeypatch):
    """On Windows a pipe has the system's code page."""
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    assert main(["report", "position"]) == 0
    pipe.flush()
    assert b"? agrees          tiny, no [CLS]" in pipe.buffer.getvalue()


# The page -------------------------------------------------------------------------------------------------------------


class Board(HTMLParser):
    """Checks that tags close in order; collects ids and text, and of foldable rows what stands on a closed one."""

    VOID = {"br"}  # the only one that is used

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.text, self.summaries, self.stack = [], [], "", {}, []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if identity := dict(attrs).get("id"):
            self.ids.append(identity)
        if tag == "details":
            self.stack.append(identity)
            self.summaries.setdefault(identity, "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "details":
            self.stack.pop()

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text += data
        if "summary" in self.open:
            self.summaries[self.stack[-1]] += data


def filled(root):
    for seed in range(3):
        save(root, "spirals", {"rmse_clean": 0.04, "rmse_authors_authors": 0.1, "rmse_clean_bayes": 0.015}, seed=seed)
        save(root, "spirals", {"rmse_clean": 0.016}, seed=seed, preset="best")
        save(root, "position", {"mse": 0.06 + 1e-3 * seed}, seed=seed)
        save(root, "position", {"mse": 200.0 + seed}, seed=seed, settings={"cls": False})
        save(root, "pendulum", {"mse": 0.032, "mse_authors": 3.2 + 0.1 * seed}, seed=seed)
    save(root, "physionet", {"mse": 0.5, "mae": 0.34, "mae_boosted": 0.35}, preset="best")
    save(root, "sizes", {"parameters": 4_673_521.0}, settings={"size": "tiny"})


def test_page_and_terminal_give_the_same_outcomes(tmp_path):
    filled(tmp_path)
    text, page = scoreboard_text(root=tmp_path), Board(board_html(tmp_path))
    found = rows(tmp_path)
    judged = all_judged(found)
    assert {"agrees", "worse", "not run", "not comparable"} <= {r.outcome.status for r in found}
    for line in (report.summary_line(found), report.claims_line(judged)):
        assert line in " ".join(text.split()) and line in page.text
    assert max(map(len, text.splitlines())) < 160
    for r in (r for r in found if not r.claim.quoted):
        assert page.summaries[r.claim.id].split(report.MARKS[r.outcome.status] + " ")[1].startswith(r.outcome.status)
        assert f"{r.outcome.status:<15} {report.cell_name(r.claim)}" in text
    for claim in judged:
        mark = f"{report.MARKS[claim.status]} {claim.status}"
        assert page.summaries[f"claim-{claim.statement.id}"] == f"{claim.statement.title}{mark} {claim.share}"
        assert f"{mark:<17} {claim.statement.title}: {claim.result}" in text


def test_page_holds_every_number_once_and_what_stands_behind_it(tmp_path):
    filled(tmp_path)
    html = board_html(tmp_path)
    page = Board(html)
    wanted = [c.id for c in CLAIMS if not c.quoted] + [f"claim-{s.id}" for s in STATEMENTS]
    assert sorted(page.ids) == sorted(wanted)
    links = set(re.findall(r'href="#([^"]+)"', html))
    assert links and links <= set(page.ids)
    for part in (
        "python -m romae_lite run spirals --preset paper --seeds 0-2",
        "n = 3 (seeds 0, 1, 2), tier paper",
        "a difference of more than",
        "Would have counted",
        "mae 0.340 (boosted: 0.350), n = 1",
        "best possible (bayes): 0.82 ×",
    ):
        assert part in html
    assert str(tmp_path) not in html


def test_an_axis_of_ratios():
    """Errors as they are, scores by what is missing to 1, errors near a floor by what is above it."""
    by_id = {c.id: c for c in CLAIMS}
    assert board.relative(by_id[SPIRALS], 2 * 0.0183) == pytest.approx(2)
    lsst = by_id["table-6-lsst-romae-tiny"]
    assert board.relative(lsst, 1 - (1 - 0.6225) / 2) == pytest.approx(0.5)
    notebook = by_id["table-7-romae-tiny-stored-notebook-spirals-rmse"]
    assert board.relative(notebook, notebook.value) == pytest.approx(1)
    assert board.relative(notebook, notebook.floor) == 0.0
    places = [board.place(x) for x in (0.0, 1 / 32, 1 / 8, 1.0, 8.0, 32.0, 1e9)]
    assert places == [0, 0, 20, 50, 80, 100, 100]


def test_last_verified_is_told_only_where_it_is_noted(tmp_path):
    filled(tmp_path)
    assert "Last verified" not in board_html(tmp_path)
    start, end = "loss, first 1 of 50 history entries", "rmse_clean, whole run"  # as `verify` has them
    note = {"when": "2026-11-22T10:00:00+00:00", "difference": 1e-5, "ok": True}
    notes = {"spirals/paper-s0": note | {"compared": start}}
    (tmp_path / "verified.json").write_text(json.dumps(notes))
    assert "Last verified 2026-11-22: 1 records were run again, none of them to the end" in board_html(tmp_path)
    notes |= {"spirals/paper-s1": note | {"compared": f"{start}; {end}"}}
    (tmp_path / "verified.json").write_text(json.dumps(notes))
    page = board_html(tmp_path)
    assert "Last verified 2026-11-22: 2 records were run again, 1 of them to the end" in page
    assert re.search(r"Of the \d+ runs of the paper.s protocol behind the numbers 2 are among them", unescape(page))
    # a note is about the record that was there, not about one made since, nor about one that is gone
    notes["spirals/paper-s1"]["when"] = "2026-01-30T10:00:00+00:00"
    notes["spirals/paper-s9"] = notes["spirals/paper-s0"]
    (tmp_path / "verified.json").write_text(json.dumps(notes))
    assert "2026-11-22: 1 records were run again, none of them to the end" in board_html(tmp_path)


def test_a_row_lists_only_the_deviations_that_its_runs_have(tmp_path):
    """D27: scored in eval mode; D35: Table 19's recipe, where D.7's text has 400 epochs; D36: bf16, the paper FP32."""
    for seed in range(3):
        save(tmp_path, "spirals", {"rmse_clean": 0.04}, seed=seed)
        save(tmp_path, "spirals", {"rmse_authors_authors": 0.1}, seed=seed, preset="text")
        scores = {"accuracy": 0.66, "accuracy_train_mode": 0.64}
        save(tmp_path, "uea", scores, seed=seed, settings={"dataset": "LSST"})
    table_19, text, lsst, as_the_script = (
        set(board._deviations(row(tmp_path, claim)))
        for claim in (
            SPIRALS, "table-7-romae-tiny-stored-notebook-spirals-rmse", "table-6-lsst-romae-tiny",
            "table-6-lsst-as-the-script-scores-it-romae-tiny",
        )
    )
    assert "D35" in table_19 and "D37" not in table_19 | text and table_19 - text == {"D35"}
    assert {"D27", "D46"} <= lsst and not lsst & {"D36", "D41", "D42"}
    assert lsst - as_the_script == {"D27"}


def test_agreement_that_came_easily_is_counted(tmp_path):
    """Three forced cells, and one whose interval leaves 0 out within the margin."""
    for size in ("tiny", "small", "base"):
        for seed in range(3):
            save(tmp_path, "position", {"mse": 200.0 + seed}, seed=seed, settings={"cls": False, "size": size})
    line = report.summary_line(rows(tmp_path))
    assert "Of those that agree the paper's input forces 3." in line and "margin" not in line
    for seed in range(3):
        save(tmp_path, "synthetic", {"mse_noisy": 0.25 + 1e-4 * seed}, seed=seed)
    assert "forces 3, and 1 does by the margin alone" in report.summary_line(rows(tmp_path))


def test_page_filters_turns_and_opens_where_a_link_points(tmp_path, root, browser):
    filled(tmp_path)
    script = (root / "book" / "_static" / "scoreboard.js").read_text(encoding="utf-8")
    file = tmp_path / "page.html"
    head = "<!doctype html><meta name=viewport content='width=device-width'>"
    file.write_text(f"{head}{board_html(tmp_path)}<script>{script}</script>", encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto(f"{file.as_uri()}#table-8-tiny-parameters")
    assert page.locator("#table-8-tiny-parameters dl").is_visible()  # on the second tab, inside a closed row
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="The claims").click()
    assert page.locator(".row:visible").count() == len(STATEMENTS)
    page.get_by_label("Outcome").select_option("worse")
    shown = {row.get_attribute("id") for row in page.locator(".row:visible").all()}
    claims = page.locator(".row.claim").all()
    assert shown == {c.get_attribute("id") for c in claims if c.locator(".romae-chip.worse").count()}
    judged = all_judged(rows(tmp_path))
    assert shown > {f"claim-{c.statement.id}" for c in judged if c.status == "worse"} != set()
    page.get_by_label("Part of the paper").select_option("limits")
    assert page.locator(".row:visible").count() == 0
    page.get_by_label("Part of the paper").select_option("all")
    page.locator("#claim-pendulum > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#table-5-romae-mse > summary").is_visible()
    page.get_by_role("tab", name="The claims").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Appendix").get_attribute("aria-selected") == "true"
    assert not page.locator("#claim-pendulum").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert errors == []
    page.close()


def test_page_without_scripts_has_everything_open_to_a_click(tmp_path, browser):
    filled(tmp_path)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(board_html(tmp_path))
    assert page.locator("section").count() == 2 and page.get_by_text("Appendix B.4 and counts of").is_visible()
    page.locator("#claim-interpolation > summary").click()
    page.locator(f"#{SPIRALS} > summary").click()
    assert page.locator(f"#{SPIRALS} dl").get_by_text("Would have counted").is_visible()
    context.close()

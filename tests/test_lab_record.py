"""A lab record shows every run once, every setting beside the paper's, and no number of its own."""

import re
from functools import cache

import pytest
import yaml
from conftest import NAMES, ROOT, made_up_record
from pages.lab_record import by_tier, lab_record, protocols, run_table, same, sheets, show, steps_of
from pages.templates import render

from romae_book.experiments import experiments
from romae_book.experiments.settings import setting_values
from romae_book.lab.records import load_all
from romae_book.lab.runs import Runs

PAGES = sorted((ROOT / "book" / "lab").glob("*.md"))
PAPERS = [name for name in NAMES if hasattr(experiments()[name], "paper")]  # the others are our own questions


@cache
def records(name: str) -> list:
    return load_all(experiment=name).records


def page_of(name: str) -> dict[str, str]:
    return {section.id: section.markdown + section.html for section in lab_record(name)}


def test_every_experiment_has_a_page_in_the_contents():
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    part = next(part for part in toc["parts"] if part["caption"] == "Lab records")
    assert sorted(chapter["file"] for chapter in part["chapters"]) == sorted(f"book/lab/{name}" for name in NAMES)
    assert [page.stem for page in PAGES] == sorted(NAMES)
    scoreboard = (ROOT / "book" / "scoreboard.md").read_text(encoding="utf-8")
    assert {f"{{doc}}`lab/{name}`" for name in NAMES} <= set(re.findall(r"\{doc\}`lab/\w+`", scoreboard))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_number_is_typed(page):
    text = page.read_text(encoding="utf-8")
    assert f"```{{lab_record}} {page.stem}\n" in text
    names = r"EROS-1|ESC-\d+|Table \d+|D\.\d+|\d+ (?:bands|ms|kHz)"  # and what data are made of
    assert not re.search(r"\d", re.sub(rf"{{[\w:]+}}`[^`]*`|{{lab_record}} \w+|{names}", "", text))


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_shown_once_with_its_seed(name):
    tables = {table.settings: table for table in map(run_table, by_tier(Runs(records(name))))}
    assert sum(len(table.columns["seed"]) for table in tables.values()) == len(records(name))
    for record in records(name):
        cls, main = experiments()[name], next(iter(record.metrics.values()))
        usual = cls.preset(record.preset)
        named = [(k, v) for k, v in record.planned.overrides if v != getattr(usual, k)]
        changed = {f"{k}={show(v)}" for k, v in named if k not in cls.neutral}
        changed |= {f"{k}={show(record.config[k])}" for k in cls.variants}  # always told
        table = next(t for settings, t in tables.items() if set(settings) == {record.preset, *changed})
        rows = [i for i, seed in enumerate(table.columns["seed"]) if seed == str(record.seed)]
        numbers = [float(c[i]) for c in table.columns.values() for i in rows if re.fullmatch(r"\d+(\.\d+)?", c[i])]
        assert any(number == pytest.approx(main, rel=1e-3) for number in numbers), record.path.name


@pytest.mark.parametrize("name", NAMES)
def test_steps_and_weights_that_are_reckoned_are_those_of_the_runs(name):
    """Without the data: so the sizes of the training sets are right as well."""
    for runs in Runs(records(name)).by_setting().values():
        built = runs[0].planned.build()
        values = setting_values(built)
        for record in runs:
            # of the others `steps` is a setting, those of a round; or folds differ in size
            if experiments()[name].repeatable and built.training_set():
                assert values.get("steps", 0) + values.get("pretrain_steps", 0) == steps_of(record), record.path.name
            assert values["parameters"] == record.parameters, record.path.name


@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_column_names_its_source_and_real_settings(name):
    for sheet, shown in zip(protocols(name), sheets(name), strict=True):
        assert re.match(r"(Tables? \d|App\. B)", sheet["source"]) and shown.source == sheet["source"]
        known = setting_values(experiments()[name].paper().replace(**sheet.get("where", {})))
        assert {*sheet["settings"], *sheet.get("remarks", {}), *sheet.get("only", ())} <= set(known)


def test_the_presets_called_paper_are_the_papers_but_for_what_is_declared():
    found = {}
    for name in PAPERS:
        for sheet in protocols(name):
            values = setting_values(experiments()[name].paper().replace(**sheet.get("where", {})))
            differs = {key for key, said in sheet["settings"].items() if not same(said, values[key])}
            found.setdefault(name, set()).update(differs - experiments()[name].variants)
    assert {name: keys for name, keys in found.items() if keys} == {
        "position": {"warmup", "low"},  # a fifth of 3130 steps is 626; D15
        "position_range": {"warmup"},
        "spirals": {"n_test"},  # D14
        "synthetic": {"n_test"},  # D17
        "pendulum": {"parameters"},  # counted with the head and the projection that are used
        "elasticc": {"spread"},  # D32
    }


def test_a_difference_is_a_word():
    (sheet,) = sheets("spirals")
    rows, presets = {row.key or row.words: row for row in sheet.rows}, [preset for preset, _ in sheet.presets]
    assert [differs for _, differs in rows["lr"].cells] == [preset in ("text", "best", "page") for preset in presets]
    assert rows["beta2"].paper == "?" and not any(differs for _, differs in rows["beta2"].cells)
    assert rows["samples to train on"].cells[presets.index("best")] == ("400,000", True)
    html = render("lab_settings.html", sheets=[sheet])
    marked = sum(differs for row in (*sheet.rows, *sheet.silent) for _, differs in row.cells)
    assert html.count(">differs<") == 1 + marked


def test_what_is_the_same():
    assert same(1000, 1000.0) and same("4.67M", 4_673_521) and same(None, None)
    assert not same(0.1, None) and not same(True, 1) and not same("4.67M", 4_680_000) and not same("?", 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_without_any_record(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    found = page_of(name)
    assert "No record yet" in found["runs"] and "ablations" not in found
    assert f"python -m romae_lite run {name} --preset" in found["missing"] and "0 of " in found["missing"]
    assert found["settings"] == render("lab_settings.html", sheets=sheets(name))


def test_two_runs_have_no_interval_and_of_two_precisions_one_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    metrics = {"rmse_clean": 0.5, "rmse_noisy": 0.1, "rmse_authors": 0.1}
    make = lambda seed, root=tmp_path, **more: made_up_record(seed=seed, root=root, **more)  # noqa: E731
    make(0, metrics=metrics)
    make(1, metrics=metrics | {"rmse_clean": 0.25})
    make(1, metrics=metrics | {"rmse_clean": 4.0}, settings={"precision": "bf16"}, precision="bf16")
    html = page_of("spirals")["runs"]
    assert "mean, n = 2" in html and "0.375" in html  # fp32 counts where a seed has both
    assert "interval of two" in html and "[" not in html.split("<tfoot>")[1].split("</tfoot>")[0]
    make(2, metrics=metrics)
    make(3, metrics=metrics | {"rmse_clean": 9.0}, commit="abcdef0123+")
    html = page_of("spirals")["runs"]
    assert "95 % interval" in html and "mean, n = 3" in html  # the fourth is shown, and no part of the mean
    assert "bf16" in html and "abcdef0, changed" in html


def test_files_that_are_not_used_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    (tmp_path / "spirals").mkdir()
    (tmp_path / "spirals" / "paper-s2.json").write_text("{")
    html = page_of("spirals")["runs"]
    assert "paper-s2.json" in html and "is not JSON" in html and str(tmp_path) not in html


def test_pages_need_nothing_from_elsewhere_and_take_the_colours_of_the_page():
    for name in ("uea", "spirals", "speed"):  # all templates; on the built pages test_book.py looks at every address
        text = "".join(page_of(name).values())
        assert not re.search(r"https?://|<script|<link|<img|@import|url\(", text)
        assert not re.search(r" style=", text)
    css = (ROOT / "book" / "_static" / "pages.css").read_text(encoding="utf-8")
    outside_variables = re.sub(r"var\([^()]*\)", "", css)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(|:\s*(white|black|gray|grey)\b", outside_variables)

"""Whatever is wrong with a record's file: every reader of records goes on, names the file, and does not exit with 0."""

import logging
import re

import numpy as np
import pytest
from conftest import made_up_record
from damage import DAMAGE, damaged_records
from pages import lab_record, results, times
from pages.deviations import DEVIATIONS as PAGE
from romae_pages import name_damaged_records

from romae_book.cli.commands import main
from romae_book.lab.records import DEVIATIONS, CorruptRecord, load_all, load_sound


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path / "results"))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.chdir(tmp_path)
    return damaged_records(tmp_path / "results")


def test_all_are_named_and_none_is_used(damaged):
    loaded = load_all()
    assert [record.seed for record in loaded.records] == [0]
    assert {problem.path for problem in loaded.problems} == set(damaged.values())
    assert all(problem.reason for problem in loaded.problems)


@pytest.mark.parametrize("kind", DAMAGE)
def test_reading_one_names_it(damaged, kind):
    with pytest.raises((CorruptRecord, FileNotFoundError), match=damaged[kind].name):
        load_sound(damaged[kind])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["report"], 0), (["report", "spirals"], 0), (["export", "all.csv"], 1), (["verify", "--records"], 1),
        (["verify"], 2), (["campaign", "spirals", "--budget", "0s"], 1),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_every_reader_names_all(damaged, capsys, words, code):
    assert main(words) == code
    out, err = capsys.readouterr()
    lines = (out if "--records" in words else err).splitlines()
    for kind, path in damaged.items():
        assert sum(f"spirals/{path.name}: " in line for line in lines) == 1, kind
    assert "Traceback" not in err


def test_one_alone_is_named_where_there_is_no_sound_record(damaged, capsys):
    for path in (load_all().records[0].path, *damaged.values()):
        if path != damaged["cut"]:
            path.rmdir() if path.is_dir() else path.unlink()
    for words in (["export", "all.csv"], ["verify"], ["verify", "--records"], ["report"]):
        assert (main(words) == 0) is (words == ["report"])  # which is of what is there
        assert damaged["cut"].name in "".join(capsys.readouterr())


READERS = {
    "results": results.results_html, "found": results.found_html, "times": times.times_html,
    "lab record": lambda: "".join(part.html for part in lab_record.lab_record("spirals")),
}


@pytest.mark.parametrize("page", READERS)
def test_every_page_names_all(damaged, page):
    html = READERS[page]()
    for kind, path in damaged.items():
        assert f"{path.name}: " in html, kind


def test_the_book_warns_of_all_and_so_fails(damaged, caplog):
    """Also of those that only a role or a figure reads: `-W` makes an error of a warning."""
    logger = logging.getLogger("sphinx.romae_pages")
    logger.addHandler(caplog.handler)
    try:
        name_damaged_records(None)
    finally:
        logger.removeHandler(caplog.handler)
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    for kind, path in damaged.items():
        assert any(line.startswith(f"spirals/{path.name} is not used: ") for line in warned), kind


@pytest.mark.parametrize("harm", [b"", b"PK\x03\x04 cut", b"x" * 100], ids=["empty", "cut", "no archive"])
def test_arrays_that_a_picture_needs_are_named(tmp_path, harm):
    for seed in range(3):
        record = made_up_record("position_range", seed=seed, settings={"high": 100.0}, root=tmp_path,
                                metrics={"mae_mean": 0.1})
        np.savez(record.path.with_suffix(".npz"), positions=np.arange(3.0), error=np.ones(3))
    assert results.figure_2(tmp_path)
    record.path.with_suffix(".npz").write_bytes(harm)
    with pytest.raises(CorruptRecord, match=record.path.with_suffix(".npz").name):
        results.figure_2(tmp_path)


def test_a_record_knows_the_deviations_of_the_page():
    named = re.findall(r"^### D(\d+) ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(map(int, named)) == list(range(1, DEVIATIONS + 1))

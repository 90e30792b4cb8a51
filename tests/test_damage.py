"""Whatever is wrong with a record's file: every reader of records goes on, names the file, and does not exit with 0."""

import logging
import re

import numpy as np
import pytest
from conftest import made_up_record
from damage import DAMAGE, damaged_records
from pages import lab_record, results, times
from pages.deviations import DEVIATIONS as PAGE

from romae_book.cli.commands import main
from romae_book.lab.records import DEVIATIONS, CorruptRecord, load_all, load_sound


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged") / "results"
    return folder, damaged_records(folder)


@pytest.fixture
def damaged(folder, tmp_path, monkeypatch):
    """What no test of these changes."""
    monkeypatch.setenv("ROMAE_RESULTS", str(folder[0]))
    monkeypatch.setenv("ROMAE_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.chdir(tmp_path)
    return folder[1]


def test_all_are_named_and_none_is_used(damaged):
    loaded = load_all()
    assert [record.seed for record in loaded.records] == [0]
    reasons = {problem.path: problem.reason for problem in loaded.problems}
    assert reasons.keys() == set(damaged.values())
    wrong = {kind: reasons[path] for kind, path in damaged.items() if DAMAGE[kind][1] not in reasons[path]}
    assert not wrong


def test_reading_one_names_it(damaged):
    for path in damaged.values():
        with pytest.raises((CorruptRecord, FileNotFoundError), match=path.name):
            load_sound(path)


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


def test_one_alone_is_named_where_there_is_no_sound_record(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ROMAE_RESULTS", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made_up_record(root=tmp_path, metrics={"rmse_clean": 0.5}).path.write_text("{")
    for words in (["export", "all.csv"], ["verify"], ["verify", "--records"], ["report"]):
        assert (main(words) == 0) is (words == ["report"])  # which is of what is there
        assert "paper-s0.json" in "".join(capsys.readouterr())


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
    from romae_pages import name_damaged_records  # brings Sphinx along

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

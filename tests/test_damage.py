"""Whatever is wrong with a record's file: every reader of records goes on, names the file, and does not exit with 0."""

import pytest
from damage import DAMAGE, damaged_records

from romae_book.cli.commands import main
from romae_book.lab.records import CorruptRecord, load_all, load_sound


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

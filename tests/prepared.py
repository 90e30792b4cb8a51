"""What every data script keeps: nothing half made, nothing done twice, a damaged result made again, faults named."""

from pathlib import Path

import pytest


def prepares_once(main, source: Path, result: Path, capsys, *words: str, later: Path | None = None) -> None:
    """From a folder that is whole, by the script's `main`: through a full disk, where the source is gone (or where
    `later` is given), and over a result that is damaged."""

    def run(source: Path) -> int:
        return main([*words, "--source", str(source), "--out", str(result.parent)])

    def stamp() -> tuple[int, int]:
        return result.stat().st_mtime_ns, result.stat().st_ino

    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.replace", full)
        assert run(source) == 1
    assert "No space left" in capsys.readouterr().err and not list(result.parent.glob("*"))
    assert run(source) == 0 and [path.name for path in result.parent.iterdir()] == [result.name]
    before = stamp()
    assert run(later or source.with_name("gone")) == 0 and stamp() == before
    assert "nothing to do" in capsys.readouterr().out
    result.write_bytes(b"PK\x03\x04")
    assert run(source) == 0 and "again" in capsys.readouterr().out


def refused(script, source: Path, out: Path, capsys, *words: str) -> str:
    """What a script says that ends with an error; the folder of results is as it was."""
    before = sorted(out.rglob("*"))
    assert script.main([*words, "--source", str(source), "--out", str(out)]) == 1
    assert sorted(out.rglob("*")) == before
    return capsys.readouterr().err

"""Data sets: generated here, or loaded from what ``data_scripts/`` prepared. One file each."""

import os
from pathlib import Path


class DataError(ValueError):
    """Data that are missing, unreadable or not what they should be. Names the file and, where there is one, the
    record."""


class NotHere(DataError, FileNotFoundError):
    """The data have not been fetched. A ValueError too, so that a campaign passes the run over."""


def changed(path: Path) -> int:
    """When a file, or the newest of a folder, was last written: what readers that remember their data ask first."""
    return max(p.stat().st_mtime_ns for p in (path, *(path.rglob("*") if path.is_dir() else ())))


def data_root() -> Path:
    """Where prepared data are looked for: $ROMAE_DATA, or else data/ beside the package."""
    return Path(os.environ.get("ROMAE_DATA") or Path(__file__).resolve().parents[2] / "data")

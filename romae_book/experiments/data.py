"""What the subjects' data share: errors that name the file, where prepared data are, and archives read to their end."""

import bz2
import gzip
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

DAMAGE = (tarfile.TarError, EOFError, OSError, ValueError, lzma.LZMAError, zlib.error)  # what unpacking raises
_PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


class DataError(ValueError):
    """Data that are missing, unreadable or not what they should be. Names the file and, where there is one, the
    record."""


class NotHere(DataError, FileNotFoundError):
    """The data have not been fetched. A ValueError too, so that a campaign passes the run over."""


def changed(path: Path) -> int:
    """When a file, or the newest of a folder, was last written: what readers that remember their data ask first."""
    return max(p.stat().st_mtime_ns for p in (path, *(path.rglob("*") if path.is_dir() else ())))


def home() -> Path:
    """Where data, records and checkpoints lie if nothing else is said: the repository; of an installed package, the
    folder that one is in."""
    repository = Path(__file__).resolve().parents[2]
    return repository if (repository / "pyproject.toml").exists() else Path()


def data_root() -> Path:
    """Where prepared data are looked for: $ROMAE_DATA, else data/ in the repository, else ./data."""
    return Path(os.environ.get("ROMAE_DATA") or home() / "data")


def unpatchify(values, patch: Sequence[int], sizes: Sequence[int]):
    """Inverse of `patchify`: tensor (B, N, prod(patch) * C) -> (B, *sizes, C)."""
    n, grid = len(patch), [size // step for size, step in zip(sizes, patch, strict=True)]
    array = values.reshape(len(values), *grid, *patch, -1)  # (B, n0, .., p0, .., C)
    pairs = [axis for i in range(1, n + 1) for axis in (i, n + i)]
    return array.permute(0, *pairs, 2 * n + 1).reshape(len(values), *sizes, -1)


def members(archive: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, pieces of its content) of every file in a .tar, plain or packed as .gz, .bz2 or .xz. One pass.

    Reads to the last byte, so that the checksum of a packed archive is looked at, and wants the two empty blocks that
    end an archive. DataError naming the archive where it is damaged or cut off, and also the member where that is no
    plain file or folder, has an absolute path or one with "..", or a name that came before.
    """
    whole, names = "none", set()

    @contextmanager
    def named():
        try:
            yield
        except DataError:
            raise
        except DAMAGE as error:
            raise DataError(f"{archive} is damaged or cut off ({error}); its last whole file is {whole}") from error

    def pieces(file) -> Iterator[bytes]:
        with named():
            while piece := file.read(1 << 20):
                yield piece

    with open(archive, "rb") as file:
        start = file.read(6)
    unpacked = next((opener for magic, opener in _PACKED.items() if start.startswith(magic)), open)
    with unpacked(archive, "rb") as stream, named():
        # ignore_zeros goes on after empty blocks, to the end of the stream; _Header sees to it that nothing follows
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header, ignore_zeros=True) as packed:
            for member in packed:
                path = PurePosixPath(member.name)
                outside = path.is_absolute() or ".." in path.parts or "\\" in member.name or PureWindowsPath(path).drive
                if outside:
                    raise DataError(f"{archive}: member {member.name!r} points out of the archive")
                if member.isdir():
                    continue
                if not member.isfile():
                    raise DataError(f"{archive}: member {member.name!r} is a link or a device; expected a file")
                if str(path) in names:
                    raise DataError(f"{archive}: member {member.name!r} is there twice")
                names.add(str(path))
                yield str(path), pieces(packed.extractfile(member))
                whole = member.name


class _Header(tarfile.TarInfo):
    """A header that must be whole; tarfile takes a damaged one, other than the first, for the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:
        empty = getattr(archive, "empty_blocks", 0)
        try:
            header = super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # an empty block
            archive.empty_blocks = empty + 1
            raise
        except tarfile.EmptyHeaderError as error:  # no further byte
            if empty < 2:
                raise tarfile.ReadError("the two empty blocks at its end are missing") from error
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"header at byte {archive.offset}: {error}") from error
        if empty:
            raise tarfile.ReadError(f"an empty block before byte {archive.offset}, where a file follows")
        return header


def limited(pieces: Iterable[bytes], limit: int, where: str) -> bytes:
    """All of the pieces. DataError where they are more than `limit` bytes, so that no file fills the memory."""
    found, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise DataError(f"{where}: holds more than {limit:,} bytes when unpacked; no file of this data set does")
        found.append(piece)
    return b"".join(found)

"""Files: written whole or not at all, and read with suspicion.

    with parsing(path, "record", CorruptRecord):
        record = parse_json(read(path, limit=2**24))
"""

import glob
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def atomic_write(path: Path | str, data: bytes) -> None:
    """Write data to path, or leave what was there.

    A new file has the mode that umask allows; an old file keeps its mode.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
        os.replace(temporary, path)
    except BaseException as error:
        if temporary.exists():
            temporary.unlink()
        if isinstance(error, OSError):
            why = f"{error.strerror}; what was there before is intact"
            raise OSError(error.errno, f"could not write {path}: {why}") from error
        raise


def clear(path: Path) -> None:
    """Remove temporary files that killed writers of path have left beside it."""
    for litter in Path(path).parent.glob(f".{glob.escape(Path(path).name)}.*.tmp"):
        litter.unlink(missing_ok=True)


def check_file(path: Path | str, limit: int) -> None:
    """Raise ValueError for a pipe, a device, a folder, or more than `limit` bytes."""
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        folder = stat.S_ISDIR(about.st_mode)
        raise ValueError("it is a folder" if folder else "it is a pipe or device")
    if about.st_size > limit:
        raise ValueError(f"it has {about.st_size:,} bytes; the limit is {limit:,}")


def read(path: Path | str, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes. Use it inside `parsing`."""
    check_file(path, limit)
    with open(path, "rb") as file:
        return file.read(limit)


@contextmanager
def parsing(
    path: Path | str, what: str, error: type[Exception] = ValueError
) -> Iterator:
    """Turn whatever goes wrong inside into `error`: "PATH is no WHAT (reason)"."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as cause:
        raise error(f"{path} cannot be read ({cause.strerror or cause})") from cause
    except Exception as cause:
        reason = str(cause) if isinstance(cause, ValueError) else repr(cause)
        raise error(f"{path} is no {what} ({reason[:300]})") from cause


def parse_json(text: str | bytes):
    """Parse JSON; refuse a key that is there twice, of which Python keeps the last."""

    def unique(pairs: list[tuple]) -> dict:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the key {twice!r} is there twice")
        return found

    return json.loads(text, object_pairs_hook=unique)


def digest(tensors: dict, text: str = "") -> str:
    """SHA-256 of tensors, with their names, types and shapes, and of a text."""
    import torch  # here, as it takes its time and writing needs none

    found = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        about = f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}"
        found.update(about.encode())
        found.update(tensors[name].contiguous().view(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def sort_metadata(data: bytes) -> bytes:
    """Sort the metadata of a safetensors file, which writes them in any order."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers of eight bytes stay aligned
    return len(text).to_bytes(8, "little") + text + data[8 + size :]

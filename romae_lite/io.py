"""Writing files so that a reader never sees half of one."""

import glob
import hashlib
import json
import os
import tempfile
from pathlib import Path


def atomic_write(path: Path, data: bytes) -> None:
    """Write data to path, or leave what was there: a temporary file beside it, flushed to disk, then renamed.

    Raises OSError naming the path where the disk is full or the folder cannot be written; the old file survives.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise OSError(
                error.errno, f"could not write {path}: {error.strerror}; what was there before is intact"
            ) from error
        raise


def clear(path: Path) -> None:
    """Remove what writes of path that were killed have left beside it. Nobody else may be writing it."""
    for litter in Path(path).parent.glob(f".{glob.escape(Path(path).name)}.*.tmp"):
        litter.unlink(missing_ok=True)


def digest(tensors: dict, text: str = "") -> str:
    """SHA-256 of tensors, with their names, types and shapes, and of a text."""
    import torch  # here, as it takes its time and writing needs none

    found = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        found.update(tensors[name].contiguous().view(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def sort_metadata(data: bytes) -> bytes:
    """A safetensors file with its notes in alphabetical order: safetensors itself writes them in any, so that the same
    weights would have many checksums."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # numbers of eight bytes stay aligned
    return len(text).to_bytes(8, "little") + text + data[8 + size :]

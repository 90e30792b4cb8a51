"""Arrays that take long to make: made once, and kept in a file under a key of everything that they depend on."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from romae_lite.io import atomic_write


def kept(path: Path, key: str, make: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """What ``make`` returns: from the file where it has this key, else made now, and kept there."""
    if path.exists():
        with np.load(path) as there:
            if str(there["key"]) == key:
                return {name: there[name] for name in there.files if name != "key"}
    arrays, buffer = make(), io.BytesIO()
    np.savez_compressed(buffer, key=np.array(key), **arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, buffer.getvalue())
    except OSError:  # a folder that cannot be written: made again next time
        pass
    return arrays

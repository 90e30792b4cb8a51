"""The origin of a record: the code, the versions, the precision and the data that made it."""

import functools
import hashlib
import importlib.metadata
import platform
import subprocess
from pathlib import Path

import numpy as np
from accelerate import Accelerator

from romae_lite.tokens import Tokens
from romae_lite.training import NUMERICS

from ..experiments.base import Splits

ROOT = Path(__file__).resolve().parents[2]
CODE = ("romae_lite", "romae_book/experiments", "romae_book/lab")  # a record names the commit of these folders


@functools.cache
def loaded_commit() -> str:
    """`commit` as this process first saw it: of the code that it runs, even if files change later."""
    return commit()


def commit() -> str:
    """Git commit of CODE, with "+" if its files differ from it; outside a repository a hash of the files."""

    def git(*words: str) -> str:
        answer = subprocess.run(("git", "-C", ROOT, *words), capture_output=True, text=True, check=True)
        return answer.stdout.strip()

    try:
        if git("ls-files", "--error-unmatch", "romae_lite/model.py"):
            return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--", *CODE) else "")
    except (OSError, subprocess.CalledProcessError):
        pass
    digest = hashlib.sha256()
    for path in sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return f"content:{digest.hexdigest()}"


def versions() -> dict[str, str]:
    packages = {name: importlib.metadata.version(name) for name in ("torch", "accelerate", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages, "numerics": str(NUMERICS)}


def precision_of(accelerator: Accelerator) -> str:
    return accelerator.mixed_precision.replace("no", "fp32")


def fingerprint(data: Splits, labels: bool = True) -> str:
    """SHA-256 of all splits, aux included: "v2:...". labels=False: without aux, as older records have it."""
    digest = hashlib.sha256()
    for tokens in data:
        if not isinstance(tokens, Tokens):  # drawn as it is read
            digest.update(tokens.fingerprint().encode())
            continue
        tensors = [(name, getattr(tokens, name)) for name in ("values", "positions", "real")]
        if labels:
            aux = {key: t for part in vars(tokens).values() if isinstance(part, dict) for key, t in part.items()}
            tensors += [(key, aux[key]) for key in sorted(aux)]
        for name, tensor in tensors:
            if labels:
                digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
            digest.update(np.ascontiguousarray(tensor.cpu().numpy()))
    return "v2:" * labels + digest.hexdigest()

"""The machine that a run is on: its device, and the memory that is used."""

import ctypes
import gc
import platform
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch

STATUS = Path("/proc/self/status")  # on Linux


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type}, {torch.get_num_threads()} threads, {platform.machine()}"


def reset_peak_memory() -> None:
    """Forget the peaks of earlier runs in this process: on a GPU, and on Linux."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):  # TypeError: on Windows
        ctypes.CDLL(None).malloc_trim(0)  # what earlier runs have freed, glibc keeps, and would hide what comes
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory_mb(device: torch.device) -> float:
    """Of a CUDA GPU, else of this process; 0 on Windows, which does not tell."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    with suppress(OSError):  # Linux: what `reset_peak_memory` resets, unlike ru_maxrss, which begins at the parent's
        if found := re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text()):
            return int(found[1]) / 2**10
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


@contextmanager
def keep_threads() -> Iterator[None]:
    """Give PyTorch its number of threads back at the end. numba, which other predictors bring along, sets it to all
    cores for good; trainings beside one another then wait for each other, ten times as long."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)

"""Where tensors and models are, and how tensors get there."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def sent(tensor: Tensor, device) -> Tensor:
    """The tensor on another device. Towards CUDA nobody waits for the copy, which starts from pinned memory (where an
    expanded tensor cannot lie); Apple's GPUs have no float64 and get float32."""
    kind = torch.device(device).type
    if kind == "cuda" and tensor.device.type == "cpu":
        return tensor.contiguous().pin_memory().to(device, non_blocking=True)
    if kind == "mps" and tensor.dtype == torch.float64:
        tensor = tensor.float()
    return tensor.to(device)


@contextmanager
def threads_kept() -> Iterator[None]:
    """Afterwards PyTorch has as many threads as before. numba, which other predictors bring along, gives it all cores,
    and keeps it so: trainings beside one another then wait for each other, ten times as long."""
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)

"""A GPU that is none, so that machines without one find what would crash on one: tensors that were left on the CPU,
generators of the wrong device, arrays taken from GPU memory, float64 where Apple's chips have none.

    python tests/pretend_gpu.py cuda romae_lite run position --preset quick      # python -m romae_lite, on the pretence

Tensors "on the GPU" are wrappers around CPU tensors; every operation is checked, then carried out on what they wrap. So
numbers come out as on a CPU, and nothing is learnt of a GPU's speed, memory or kernels.
"""

import runpy
import sys

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
BETWEEN_DEVICES = {aten.copy_.default, aten._to_copy.default}
INDEXING = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
READING = {aten._local_scalar_dense.default, aten.nonzero.default, aten.masked_select.default, aten.equal.default}
WAITS = []  # operations for which the host would have waited for the GPU, in their order
AUTOCAST = {F.linear, torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, F.scaled_dot_product_attention}


class OnGPU(torch.Tensor):
    """PyTorch sees a tensor without memory ("meta"), readers of `.device` see the GPU; `inner` has the numbers."""

    gpu = torch.device("cuda", 0)

    @staticmethod
    def __new__(cls, inner: torch.Tensor):
        with torch._C._DisableTorchDispatch():
            shell = torch.empty_strided(inner.shape, inner.stride(), dtype=inner.dtype, device="meta")
        tensor = torch.Tensor._make_subclass(cls, shell, False, device_for_backend_keys=cls.gpu)
        tensor.inner = inner
        return tensor

    device = property(lambda self: OnGPU.gpu)
    is_cuda = property(lambda self: OnGPU.gpu.type == "cuda")
    is_meta = False

    def __repr__(self, **options):
        return f"OnGPU({self.inner!r})"

    def __array__(self, *_):
        raise TypeError(f"can't convert {self.gpu} device type tensor to numpy")

    numpy = __array__

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return carry_out(operation, args, kwargs or {})


def carry_out(operation, args: tuple, kwargs: dict):
    leaves = tree_leaves((args, kwargs))
    theirs = [t for t in leaves if isinstance(t, OnGPU)]
    ours = [t for t in leaves if isinstance(t, torch.Tensor) and not isinstance(t, OnGPU)]
    device = kwargs.get("device")  # "meta" is what PyTorch takes a wrapper's device for
    to_gpu = bool(theirs) if device is None else torch.device(device).type in (OnGPU.gpu.type, "meta")
    if operation is aten.copy_.default:
        to_gpu = isinstance(args[0], OnGPU)
    for leaf in leaves:
        if isinstance(leaf, torch.Generator) and (to_gpu or theirs):
            raise RuntimeError(f"{operation}: expected a generator on {OnGPU.gpu}, found one on {leaf.device}")
    if theirs and operation not in BETWEEN_DEVICES:
        indexed = operation in INDEXING and isinstance(args[0], OnGPU)  # a GPU tensor takes indices from the CPU
        if any(t.ndim for t in ours) and not indexed:
            raise RuntimeError(f"{operation}: found tensors on {OnGPU.gpu} and on the CPU")
    if waits(operation, args, kwargs, theirs, ours):
        WAITS.append(str(operation))
    wrapper = {id(t.inner): t for t in theirs}
    args, kwargs = tree_map(lambda x: x.inner if isinstance(x, OnGPU) else x, (args, kwargs))
    if device is not None:
        kwargs["device"] = torch.device("cpu")
    with torch._C._DisableTorchDispatch():
        out = operation(*args, **kwargs)

    def wrap(x):
        if not isinstance(x, torch.Tensor) or any(x is t for t in ours):
            return x
        if id(x) in wrapper:  # the result of an operation in place
            return wrapper[id(x)]
        if to_gpu and OnGPU.gpu.type == "mps" and x.dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64")
        return OnGPU(x) if to_gpu else x

    return tree_map(wrap, out)


def waits(operation, args: tuple, kwargs: dict, theirs: list, ours: list) -> bool:
    """Whether the host has to wait: it reads numbers or counts, or copies between devices in step."""
    if operation is aten.copy_.default:
        between = isinstance(args[0], OnGPU) != isinstance(args[1], OnGPU)
        return between and not (args[2] if len(args) > 2 else kwargs.get("non_blocking"))
    if operation is aten._to_copy.default:
        target = kwargs.get("device")
        between = target is not None and (torch.device(target).type in (OnGPU.gpu.type, "meta")) != bool(theirs)
        return between and not kwargs.get("non_blocking")
    indices = args[1] if operation in INDEXING else ()
    counted = any(isinstance(i, OnGPU) and i.dtype == torch.bool for i in indices)
    return bool(theirs) and (operation in READING or counted)


class Operations(TorchDispatchMode):
    """Catches what makes tensors from nothing: torch.zeros(3, device="cuda")."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        return carry_out(operation, args, kwargs or {})


class Functions(TorchFunctionMode):
    """Gives "cuda" its number, which PyTorch would ask a driver for, and does autocast's work for the products."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kind = OnGPU.gpu.type

        def numbered(x):
            return OnGPU.gpu if isinstance(x, str | torch.device) and str(x) == kind else x

        args, kwargs = tuple(map(numbered, args)), {name: numbered(x) for name, x in (kwargs or {}).items()}
        if function in AUTOCAST and torch.is_autocast_enabled(kind):
            low = torch.get_autocast_dtype(kind)
            args = tree_map(lambda x: x.to(low) if isinstance(x, OnGPU) and x.dtype == torch.float32 else x, args)
        return function(*args, **kwargs)


def install(kind: str = "cuda") -> None:
    """From here on this process has a GPU: "cuda", or Apple's "mps". There is no way back."""
    OnGPU.gpu = torch.device(kind, 0)
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "is_bf16_supported": True,
        "get_device_name": "no GPU, but a pretence", "get_device_capability": (9, 0), "max_memory_allocated": 0,
        "get_rng_state": torch.zeros(16, dtype=torch.uint8), "_is_in_bad_fork": False,
    }
    nothing = ("set_device", "set_rng_state", "reset_peak_memory_stats", "synchronize", "manual_seed_all", "_lazy_init")
    if kind == "cuda":
        for name, answer in (answers | dict.fromkeys(nothing)).items():
            setattr(torch.cuda, name, lambda *_, answer=answer, **__: answer)
    else:
        torch.backends.mps.is_available = torch.backends.mps.is_built = lambda: True
    # Moving a module makes new parameters here, which on a real GPU stay the same objects: so it is moved once only.
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    move = torch.nn.Module.to

    def to(module, *args, **kwargs):
        device, here = torch._C._nn._parse_to(*args, **kwargs)[0], next(module.parameters(), None)
        stays = device is not None and here is not None and device.type == here.device.type
        return module if stays else move(module, *args, **kwargs)

    torch.nn.Module.to = to
    torch.Tensor.pin_memory = _pinned
    Operations().__enter__()
    Functions().__enter__()


def _pinned(tensor):
    """As ATen does it: memory with the same strides, then a copy, which is refused where elements share a place."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)


if __name__ == "__main__":
    install(sys.argv[1])
    del sys.argv[:2]
    sys.path.insert(0, "")
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)

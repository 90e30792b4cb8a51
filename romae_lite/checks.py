"""Argument validation, and the one door for arrays.

Each helper raises TypeError for a wrong type and ValueError for a wrong value, and
names the argument, its value and what is accepted.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Integral, Real
from types import UnionType
from typing import Any

import numpy as np


def whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}")
    if value >= 2**63:
        raise ValueError(f"{name} is {value}; it must be below 2^63")


def wholes(name: str, values: Any, least: int) -> None:
    kind(name, values, list | tuple)
    for i, value in enumerate(values):
        whole(f"{name}[{i}]", value, least)


def number(name: str, value: Any, right: Callable[[float], bool], what: str) -> None:
    """`what` completes the sentence: it must ..."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    if isinstance(value, np.generic):
        value = value.item()  # in float32 the largest number below would be infinite
    if not (abs(value) <= sys.float_info.max and right(value)):
        raise ValueError(f"{name} is {value}; it must {what}")


def choice(name: str, value: Any, allowed: Iterable) -> None:
    if not any(isinstance(value, type(one)) and value == one for one in allowed):
        options = ", ".join(map(str, allowed))
        raise ValueError(f"{name} is {value!r}; choose one of {options}")


def kind(name: str, value: Any, wanted: type | UnionType) -> None:
    if not isinstance(value, wanted):
        wanted = getattr(wanted, "__name__", wanted)
        raise TypeError(f"{name} is {value!r}; it must be of type {wanted}")


# Rules: functions of (name, value), to declare what fields and arguments accept.


def at_least(least: int) -> Callable:
    return partial(whole, least=least)


def real(right: Callable[[float], bool], what: str) -> Callable:
    return partial(number, right=right, what=what)


def one_of(*allowed: Any) -> Callable:
    return partial(choice, allowed=allowed)


def a(wanted: type | UnionType) -> Callable:
    return partial(kind, wanted=wanted)


def each(given: Mapping[str, Any], **rules: Callable) -> None:
    """Hold values against rules by name: `each(locals(), seed=at_least(0))`."""
    for name, rule in rules.items():
        rule(name, given[name])


def array(name: str, value: Any) -> np.ndarray:
    """Read lists, tensors, columns and masked arrays as a plain NumPy array.

    Masked entries become missing: None, or NaT among dates. Lists that mix text and
    numbers keep their types. Long doubles become float64, bytes of the native order.
    """
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        value = _dense(name, value).detach().cpu()
        if value.dtype == torch.bfloat16:  # which NumPy does not know
            value = value.float()
        value = value.resolve_neg().numpy()
    if isinstance(value, np.ma.MaskedArray):
        value = _unmasked(value)
    try:
        found = np.asarray(value)
        mixed = isinstance(value, list | tuple) and found.dtype.kind in "US"
        if mixed and not all(isinstance(v, str) for v in value):
            found = np.array(value, dtype=object)  # NumPy makes text of the numbers
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} is no array ({error})") from error
    if found.dtype.kind in "cV":
        what = "complex" if found.dtype.kind == "c" else f"an array of {found.dtype}"
        raise TypeError(f"{name} is {what}; it must be real: give each part a channel")
    if found.dtype == np.longdouble:
        return found.astype(np.float64)
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def _unmasked(value: np.ma.MaskedArray) -> np.ndarray:
    if not np.ma.is_masked(value):
        return value.data
    if value.dtype.kind in "Mm":
        return value.filled(value.dtype.type("NaT"))
    return np.where(np.ma.getmaskarray(value), None, value.data.astype(object))


def _dense(name: str, value: "torch.Tensor") -> "torch.Tensor":  # noqa: F821
    """The tensor, if its numbers can be read one by one."""
    import torch

    if value.is_complex():
        raise TypeError(f"{name} is complex; it must be real: give each part a channel")
    if value.is_nested or value.layout != torch.strided:
        raise TypeError(f"{name} is a sparse or nested tensor; give a dense one")
    if value.is_quantized or value.device.type == "meta":
        what = "quantised" if value.is_quantized else "on 'meta', without data"
        raise TypeError(f"{name} is {what}; give a tensor of ordinary numbers")
    if value.dtype.itemsize == 1 and value.is_floating_point():
        raise TypeError(f"{name} is {value.dtype}; give 16 bits or more")
    return value


def tensor(name: str, value: Any) -> "torch.Tensor":  # noqa: F821
    """Read a tensor (as it is) or a NumPy array of numbers (as a copy)."""
    import torch  # here, as it takes its time and drawing needs none

    found = f"a {type(value).__name__}"
    if isinstance(value, np.ndarray):
        if np.ma.is_masked(value):
            hidden = f"hides {np.ma.getmaskarray(value).sum()} of {value.size} entries"
            raise ValueError(f"{name} is a masked array that {hidden}; leave them out")
        found, value = f"an array of {value.dtype}", array(name, value)
        if value.dtype.kind in "fiub":
            value = torch.from_numpy(np.array(value, order="C"))
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"{name} is {found}; give a tensor or a numpy array of numbers")
    value = _dense(name, value)
    if value.dtype in (torch.uint16, torch.uint32, torch.uint64):  # few operations do
        value = value.long()
        if (value < 0).any():
            raise ValueError(f"{name} holds a number beyond 2^63; it must be below")
    return value


def shapes(right: bool, what: str, **tensors: Any) -> None:
    """`what` completes the sentence: they must ..."""
    if not right:
        found = ", ".join(
            f"{n} is {t.dtype} of shape {tuple(t.shape)}" for n, t in tensors.items()
        )
        they = "they" if len(tensors) > 1 else "it"
        raise ValueError(f"{found}; {they} must {what}")

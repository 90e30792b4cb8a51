"""What arguments have to be: one function for each kind, so that messages agree. They name the argument, its value and
what would be right; TypeError for what is of the wrong kind, ValueError for the rest."""

import sys
from collections.abc import Callable, Iterable
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
    if not any(value is one or (isinstance(value, type(one)) and value == one) for one in allowed):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(str, allowed))}")


def kind(name: str, value: Any, wanted: type | UnionType) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"{name} is {value!r}; it must be of type {getattr(wanted, '__name__', wanted)}")


def tensor(name: str, value: Any) -> "torch.Tensor":  # noqa: F821
    """A tensor as it is, a numpy array as a copy. Complex numbers and all else are refused."""
    import torch  # here, as it takes its time and drawing needs none

    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        value = torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("="), order="C"))  # FITS is big-endian
    if not isinstance(value, torch.Tensor):
        found = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise TypeError(f"{name} is {found}; it must be a tensor or a numpy array of numbers")
    if value.is_complex():
        raise TypeError(f"{name} is complex; it must be real: give real and imaginary part a channel each")
    return value


def shapes(right: bool, what: str, **tensors: Any) -> None:
    """`what` completes the sentence: they must ..."""
    if not right:
        found = (f"{name} is {t.dtype} of shape {tuple(t.shape)}" for name, t in tensors.items())
        raise ValueError(f"{', '.join(found)}; {'they' if len(tensors) > 1 else 'it'} must {what}")

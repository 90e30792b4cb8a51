"""What arguments have to be: one function for each kind, so that messages agree. They name the argument, its value and
what would be right; TypeError for what is of the wrong kind, ValueError for the rest."""

import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import Tensor


def whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}")


def number(name: str, value: Any, right: Callable[[float], bool], what: str) -> None:
    """`what` completes the sentence: it must ..."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    if not (math.isfinite(value) and right(value)):
        raise ValueError(f"{name} is {value}; it must {what}")


def choice(name: str, value: Any, allowed: Iterable) -> None:
    if not any(value is one or value == one for one in allowed):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(str, allowed))}")


def kind(name: str, value: Any, wanted: type) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"{name} is {value!r}; it must be of type {wanted.__name__}")


def tensor(name: str, value: Any) -> Tensor:
    """A tensor as it is, a numpy array as a copy. Complex numbers and all else are refused."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        value = torch.from_numpy(np.array(value, order="C"))
    if not isinstance(value, Tensor):
        found = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise TypeError(f"{name} is {found}; it must be a tensor or a numpy array of numbers")
    if value.is_complex():
        raise TypeError(f"{name} is complex; it must be real: give real and imaginary part a channel each")
    return value

"""The interactive figures by name.

A figure is two files of a subject's folder with one stem: x.py makes an `Explorable` and registers the function that
makes it with `@figure`; x.js draws it, with a prefix of its own for its CSS classes. The tests find the figure here.
"""

from collections.abc import Callable
from functools import cache

from .explorable import MAKERS, Explorable


@cache
def figures() -> dict[str, Callable[..., Explorable]]:
    """name -> the function that makes the figure, of all of them."""
    from .autoencoder import learn_to_fill, walk  # noqa: F401
    from .esc50 import figure as _esc50  # noqa: F401
    from .frequencies import position_scale, sampling, spectrum  # noqa: F401
    from .lightcurves import fold  # noqa: F401
    from .pendulum import figure as _pendulum  # noqa: F401
    from .periods import figure as _periods  # noqa: F401
    from .physionet import figure as _physionet  # noqa: F401
    from .position import learn_position, moving_tokens  # noqa: F401
    from .priors import figure as _priors  # noqa: F401
    from .rotary import attention_kernel, two_tokens  # noqa: F401
    from .speed import cost  # noqa: F401
    from .spirals import hero  # noqa: F401
    from .synthetic import figure as _synthetic  # noqa: F401
    from .tiny_imagenet import figure as _tiny_imagenet  # noqa: F401
    from .uea import figure as _uea  # noqa: F401
    from .waves import count_or_time, start_later  # noqa: F401

    return MAKERS


def gallery(name: str, **options) -> Explorable:
    """The explorable of that name; options are those of its function. KeyError lists the names there are."""
    if name not in figures():
        raise KeyError(f"no explorable called {name!r}; there are {', '.join(sorted(figures()))}")
    return figures()[name](**options)

"""What training prints in a chapter."""

from collections.abc import Callable, Mapping

from romae_lite.training import printer


def whole_epochs(every: int) -> Callable[[Mapping[str, float]], None]:
    """Return a log of every so many entries that counts the epochs that are over, and no parts of them."""
    show = printer(every)
    return lambda entry: show(entry | {"epoch": int(entry["epoch"])})

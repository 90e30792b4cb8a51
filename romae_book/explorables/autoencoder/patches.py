"""Patches: an array of one, two or three dimensions, cut into tokens whose positions and order can be read off.

The page cuts by itself; `romae_lite.tokens.patchify` is what it has to agree with, error messages included.
"""


from ..explorable import Explorable, figure

AXES = {1: ("time",), 2: ("row", "column"), 3: ("frame", "row", "column")}
LONGEST = {1: (24,), 2: (12, 12), 3: (6, 8, 8)}  # the largest array of each kind that the page shows
# Gaps between the points of an irregular first axis, in units of the regular gap; the page takes as many as it needs.
GAPS = (
    0.6,
    1.5,
    0.7,
    1.2,
    0.5,
    1.9,
    0.6,
    0.9,
    1.6,
    0.5,
    1.3,
    0.8,
    1.1,
    0.5,
    1.7,
    0.6,
    1.4,
    0.7,
    1.0,
    1.8,
    0.5,
    1.2,
    0.9,
)


def times(size: int, irregular: bool) -> list[float]:
    """Coordinates of the first axis: 0, 1, 2, ... or, if irregular, the running sum of `GAPS`."""
    found = [0.0]
    for gap in GAPS[: size - 1]:
        found.append(round(found[-1] + (gap if irregular else 1.0), 10))
    return found


@figure("patches")
def explorable(dims: int = 2, channels: int = 1) -> Explorable:
    """The figure as it opens, with an array of 1, 2 or 3 dimensions; ValueError for another number."""
    if dims not in AXES:
        raise ValueError(f"dims is {dims}; choose 1, 2 or 3")
    if channels not in (1, 3):
        raise ValueError(f"channels is {channels}; choose 1 or 3")
    start = {1: ((24,), (4,)), 2: ((8, 12), (2, 3)), 3: ((4, 6, 6), (2, 3, 3))}
    return Explorable(
        name="patches",
        data={
            "dims": dims, "channels": channels, "times": times(max(LONGEST[1]), True),
            "axes": {n: list(AXES[n]) for n in AXES}, "longest": {n: list(LONGEST[n]) for n in AXES},
            "sizes": {n: list(s) for n, (s, _) in start.items()}, "patch": {n: list(p) for n, (_, p) in start.items()},
        },
        height=300,
        title="From an array to a sequence",
        caption="Drag the edges of the first patch, or the sliders. Point at a value or walk through the sequence: a "
        "token, its values and its position light up together. The message is the one that the package raises.",
    )

"""Two tokens on a line: their score depends on how far apart they are, and on nothing else (paper Sec. 3.1).

A query and a key of one head, drawn pair by pair as the hands of small clocks. The page turns both vectors to their
positions and takes the dot product of what comes out, as attention does; nowhere does it form the difference of the
positions, so that what stays constant in the figure is found and not put in.
"""

from romae_lite.rope import frequencies

from ..explorable import Explorable, figure

DIM, P, BASE = 8, 0.75, 100.0  # four pairs, three of which turn, with wavelengths that fit on the line
REACH = 30.0  # the line runs from -REACH to REACH

# (x, y) of every pair, for query and key: plain numbers, so that Python and the page start from the same ones
VECTORS = {
    "equal": ([(1, 0), (1, 0), (1, 0), (0.6, 0)], [(1, 0), (1, 0), (1, 0), (0.6, 0)]),
    "one strong pair": (
        [(0.3, 0.1), (1.3, 0.4), (0.2, -0.3), (0.3, 0.4)],
        [(-0.2, 0.2), (0.9, 1.0), (0.1, 0.3), (0.4, -0.2)],
    ),
    "at odds": ([(0.9, 0.5), (-0.4, 0.8), (0.7, 0.6), (0.5, 0.3)], [(-0.6, 0.8), (0.8, -0.6), (0.2, 1.0), (-0.7, 0.4)]),
}


@figure("two_tokens")
def explorable(query: float = 7.25, key: float = 2.0, vectors: str = "equal", pairs: int = 4) -> Explorable:
    """The figure as it opens. query, key: positions from -30 to 30; vectors: a name in VECTORS; pairs: how many of
    the four dials count. ValueError names what does not fit."""
    for name, value in (("query", query), ("key", key)):
        if not -REACH <= value <= REACH:
            raise ValueError(f"{name} is {value}; the line runs from {-REACH:g} to {REACH:g}")
    if vectors not in VECTORS:
        raise ValueError(f"vectors is {vectors!r}; choose one of {', '.join(VECTORS)}")
    if pairs not in range(1, DIM // 2 + 1):
        raise ValueError(f"pairs is {pairs}; it must be a whole number from 1 to {DIM // 2}")
    return Explorable(
        name="two_tokens",
        data={
            "query": query,
            "key": key,
            "chosen": vectors,
            "pairs": pairs,
            "reach": REACH,
            "thetas": frequencies(DIM, P, BASE).tolist(),
            "vectors": {name: {"query": q, "key": k} for name, (q, k) in VECTORS.items()},
        },
        height=150,
        title="Two tokens on a line",
        caption="Begin with one dial and add the others. Drag the query, the key, or the bar between them, which moves "
        "both. Each dial is one pair of channels, with the hand of the query and the hand of the key; below it stands "
        "what the pair adds to the score. Moving both turns all hands but a dashed dial's and leaves every angle "
        "between them as it is. A dashed dial is a pair that does not turn: it adds the same at any distance.",
    ).tour(
        ("One dial, and both tokens at the same place: the two hands lie on each other, and the pair adds most.",
         {"query": 0, "key": 0, "dials": 1, "vectors": "equal"}),
        ("The key moves on by 3. Its hand turns, the query's does not, and the score falls.",
         {"query": 0, "key": 3, "dials": 1, "vectors": "equal"}),
        ("Both move by 20. Both hands turn, the angle between them stays, and so does the score.",
         {"query": 20, "key": 23, "dials": 1, "vectors": "equal"}),
        ("With all dials the score says more of the distance: slow pairs still tell far from near.",
         {"query": 20, "key": 23, "dials": 4, "vectors": "equal"}),
    )

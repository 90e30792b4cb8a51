"""What the page of `two_tokens` computes, again in Python."""

import math

from romae_book.explorables.rotary.two_tokens import BASE, DIM, VECTORS, P
from romae_lite.rope import frequencies


def turned(pairs: list[tuple[float, float]], position: float) -> list[tuple[float, float]]:
    """Every pair turned by position times its frequency."""
    out = []
    for (x, y), theta in zip(pairs, frequencies(DIM, P, BASE).tolist(), strict=True):
        c, s = math.cos(position * theta), math.sin(position * theta)
        out.append((x * c - y * s, x * s + y * c))
    return out


def parts(vectors: str, query: float, key: float) -> list[float]:
    """What each pair adds to the score of the query at one position and the key at another."""
    q, k = VECTORS[vectors]
    return [a * c + b * d for (a, b), (c, d) in zip(turned(q, query), turned(k, key), strict=True)]


def score(vectors: str, query: float, key: float) -> float:
    """Dot product of the turned query and the turned key."""
    return sum(parts(vectors, query, key))

"""Chapter 01: irregular tokens, their scores by four encodings, and what is drawn and said of them."""

import math
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import torch
from IPython.display import Markdown
from matplotlib.figure import Figure
from torch import Tensor

from romae_lite.model import SIZES
from romae_lite.rope import PositionEncoding, frequencies, rotate

from .. import figures
from ..experiments.base import numpy_rng
from .tables import Table

ENCODINGS = {"none": "none", "index": "index", "absolute": "absolute, added", "rope": "continuous RoPE"}
WIDTH = 60  # of a token and of its only head


def irregular_tokens(count: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Times (N,), contents (N, 60), and the projections of queries and keys, (60, 60) each."""
    rng = numpy_rng(seed)
    times = torch.from_numpy(np.cumsum(rng.exponential(0.8, count)))
    x = torch.from_numpy(rng.normal(size=(count, WIDTH))).float()
    W_q, W_k = torch.from_numpy(rng.normal(size=(2, WIDTH, WIDTH)) / WIDTH**0.5).float()
    return times, x, W_q, W_k


def scores(encoding: str, t: Tensor, x: Tensor, W_q: Tensor, W_k: Tensor) -> Tensor:
    """Scores of all pairs of tokens, (N, N), as attention computes them: softmax comes after."""
    if encoding == "index":
        encoding, t = "rope", torch.arange(len(t), dtype=torch.float64)
    position, t = PositionEncoding(kind=encoding), t[None, :, None]
    added, rotation = position.embedding(t, WIDTH), position.rotation(t, WIDTH)
    h = x if added is None else x + added[0]
    q, k = (h @ W_q)[None, :, None], (h @ W_k)[None, :, None]  # (1, N, 1 head, 60)
    if rotation is not None:
        q, k = rotate(q, *rotation), rotate(k, *rotation)
    return (q[0, :, 0].double() @ k[0, :, 0].double().T) / WIDTH**0.5


def findings(scores: Callable[[str, Tensor], Tensor], times: Tensor, shift: float) -> Markdown:
    """What the chapter opens with. AssertionError where RoPE's scores change by more than rounding."""
    rope, absolute = (
        float((scores(kind, times) - scores(kind, times + shift)).abs().max()) for kind in ("rope", "absolute")
    )
    assert rope < 1e-5  # float32 rotations on either side
    return Markdown(
        f"**What we found.** Move {len(times)} irregular positions together by {shift:,}: with RoPE the attention "
        f"scores, which are of size {float(scores('rope', times).std()):.1f}, change by at most {1e6 * rope:.1f} "
        f"millionths. With sines and cosines added to the same tokens they change by up to {absolute:.1f}. Nothing was "
        "trained for this; it is built in. Turn the dial and see what a position is to RoPE: an angle."
    )


def distances(times: Tensor) -> np.ndarray:
    """Key minus query, (N, N)."""
    return (times[None] - times[:, None]).numpy()


@figures.style()
def scores_by_distance(times: Tensor, scores: dict[str, np.ndarray]) -> Figure:
    """The score of every pair against its distance, by encoding."""
    fig, axes = plt.subplots(1, 4, figsize=(9.2, 2.9), sharex=True, sharey=True)
    for ax, (kind, name) in zip(axes, ENCODINGS.items(), strict=True):
        colour = figures.COLOURS["blue"] if kind == "rope" else figures.INK
        ax.plot(distances(times).ravel(), scores[kind].ravel(), "o", ms=1.6, ls="none", color=colour)
        ax.set(title=name, xlabel="distance Δ")
    axes[0].set_ylabel("score")
    return fig


def spread_of_scores(times: Tensor, scores: dict[str, np.ndarray]) -> Markdown:
    """How far apart the scores of pairs are whose distances are nearly equal."""
    delta, spread = distances(times).ravel(), {}
    order = np.argsort(delta)
    for kind, values in scores.items():
        near = np.diff(values.ravel()[order])[np.diff(delta[order]) < 0.02]
        spread[kind] = float(np.sqrt(np.mean(near**2)))
    return Markdown(
        f"Pairs whose distances differ by less than 0.02 have scores that differ by {spread['rope']:.3f} with "
        f"continuous RoPE (root mean square), by {spread['index']:.2f} with the index and by {spread['absolute']:.2f} "
        "with added sines: two pairs at the same Δ look unlike there."
    )


def hands() -> Table:
    """Which pairs of the paper's models turn, and their wavelengths."""
    rows = []
    for name, axes in (("tiny", 1), ("tiny", 2), ("small", 1), ("small", 2)):
        width = SIZES[name].head_dim // axes  # channels per axis
        rates = frequencies(width)
        turning = rates[rates > 0]
        longest = 2 * math.pi / float(turning[-1])
        rows.append((name, axes, width, len(turning), len(rates) - len(turning), f"6.28 to {longest:,.0f}"))
    return Table(("size", "axes D", "channels per axis", "pairs turned", "left alone", "wavelengths"), rows)

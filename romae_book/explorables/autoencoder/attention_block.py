"""One block of the model with all its numbers: six tokens of width four, one head, weights of one decimal.

The page computes it anew whenever a token moves; `block` and `steps` say the same in PyTorch, by the model's own
`Block`.
"""


import numpy as np
import torch

from romae_lite.model import Block, ModelConfig, Size, attention_weights
from romae_lite.rope import PositionEncoding, rotate

from ..explorable import Explorable, figure

SIZE = Size(dim=4, heads=1, depth=1, ff=8)
ENCODING = PositionEncoding(p=1.0, base=100.0)  # two pairs, of one and of a tenth of a radian per unit
TIMES = (0.5, 1.2, 2.4, 3.7, 4.6, 6.5)  # where the tokens stand at first
LONGEST = 8.0  # of the axis on which they are dragged
SEED = 5


def payload() -> dict:
    """Weights, tokens and their first positions, all of few digits: what the page starts from."""
    rng = np.random.default_rng(SEED)
    shapes = {"qkv": (12, 4), "out": (4, 4), "up": (8, 4), "down": (4, 8)}
    weights = {name: rng.normal(0, 0.8, shape).round(1).ravel().tolist() for name, shape in shapes.items()}
    weights |= {name: rng.uniform(0.7, 1.3, 4).round(1).tolist() for name in ("norm1", "norm2")}
    x = rng.normal(0, 1, (len(TIMES), 4)).round(1).tolist()
    return {
        "size": vars(SIZE), "p": ENCODING.p, "base": ENCODING.base, "weights": weights, "x": x,
        "times": list(TIMES), "longest": LONGEST,
    }


def block(data: dict) -> Block:
    """The model's own block with these weights."""
    made = Block(SIZE, ModelConfig(patch=1, axes=1, encoder=SIZE, decoder=SIZE), drop_path=0.0)
    places = {"qkv": "attention.qkv", "out": "attention.out", "up": "ff.up", "down": "ff.down"}
    state = {f"{places.get(name, name)}.weight": torch.tensor(w) for name, w in data["weights"].items()}
    made.load_state_dict({name: w.view(made.state_dict()[name].shape) for name, w in state.items()})
    return made.eval()


@torch.no_grad()
def steps(data: dict, times: tuple[float, ...] = TIMES) -> dict[str, np.ndarray]:
    """Every matrix that the page shows, by name, for tokens at these times."""
    one, x = block(data), torch.tensor(data["x"])[None]  # (1, N, E)
    rotation = ENCODING.rotation(torch.tensor(times, dtype=torch.float64)[None, :, None], SIZE.head_dim)
    h = one.norm1(x)
    q, k, v = one.attention.qkv(h).chunk(3, dim=-1)  # (1, N, E) each
    turned = [rotate(part[:, :, None], *rotation)[:, :, 0] for part in (q, k)]
    share = attention_weights(*(part[:, None] for part in turned), None)[0, 0]  # (N, N)
    after = x + one.attention(h, rotation, None)
    found = {
        "x": x, "h": h, "q": q, "k": k, "v": v, "turned q": turned[0], "turned k": turned[1],
        "score": turned[0] @ turned[1].mT / SIZE.head_dim**0.5, "share": share, "mix": after - x, "after": after,
        "h2": one.norm2(after), "out": one(x, rotation, None),
    }
    return {name: value.squeeze(0).double().numpy() for name, value in found.items()}


@figure("attention_block")
def explorable() -> Explorable:
    data = payload()
    return Explorable(
        name="attention_block",
        needs=("romae",),
        data=data,
        title="Step into one block",
        caption="Six tokens of width four, one head of two pairs, eight channels in the feed-forward part. Choose a "
        "line "
        "of code to see what goes in and what comes out of it. Drag a token along the time axis: the rotated queries "
        "and keys change, the values do not. Shift all tokens by the same amount: the rotated rows change, the scores "
        "do not.",
    )

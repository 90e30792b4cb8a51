"""The same model, computed faster: `Fast(model)` answers alike, up to rounding.

Three differences from model.py, which is there to be read (measured in chapter 13):

* **Pairs as complex numbers.** A pair of channels is one complex number and a rotation
  one product, for queries and keys together. For this the rows of the projection are
  reordered, so that the channels of a pair are neighbours; scores do not notice.
* **Only what is read.** Nobody reads the last block's visible tokens (`RoMAE`), or any
  token but [CLS] (`RoMAEPredictor`, pool "cls"): that block has keys and values for
  all, but queries and a feed-forward part for the tokens that the head reads.
* **Packing.** Where samples have different lengths, everything but attention sees real
  tokens only, one after the other. Attention uses `torch.nn.attention.varlen` where the
  device and the precision allow it, and rows filled up with padding elsewhere.

Where random numbers are drawn inside the model (dropout, stochastic depth) or its
inside is recorded, the plain model answers.

Shapes: B batch, N tokens, T real tokens of the whole batch, E model dimension, H heads,
R tokens that are read.
"""

from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import checks
from . import model as plain
from .masking import Split, take
from .model import Attention, Block, RoMAE, RoMAEPredictor, Stack, attend
from .tokens import Tokens

RATES = ("dropout", "attention_dropout", "head_dropout", "drop_path")


class Fast(nn.Module):
    """A model in its fast form, called alike; it shares the parameters.

    On a GPU the host waits for the count of real tokens, once for each of two stacks.
    """

    def __init__(self, model: RoMAE | RoMAEPredictor):
        super().__init__()
        checks.kind("model", model, RoMAE | RoMAEPredictor)
        self.model = model

    @property
    def config(self):
        return self.model.config

    def forward(
        self, tokens: Tokens, *where: Split, record: dict | None = None
    ) -> Tensor:
        random = self.training and any(getattr(self.config, name) > 0 for name in RATES)
        other = type(self.model) not in (RoMAE, RoMAEPredictor)  # with its own forward
        if random or other or record is not None:
            return self.model(tokens, *where, record=record)
        plain.check_shapes(self.config, tokens, record)
        if isinstance(self.model, RoMAE):
            return self._reconstruct(tokens, *where)
        return self._predict(tokens)

    def _reconstruct(self, tokens: Tokens, where: Split) -> Tensor:
        """As `RoMAE.forward`: (B, M, P)."""
        model = self.model
        where.check(tokens.real)
        x, positions, pad = model.encoder.begin(
            take(tokens.values, where.visible),
            take(tokens.positions, where.visible),
            where.visible_pad,
        )
        x = run(model.encoder.stack, x, positions, pad, None)
        hidden = take(tokens.positions, where.hidden)  # (B, M, D)
        masks = model.mask_token.expand(*hidden.shape[:2], -1)
        x = torch.cat((model.project(x).float(), masks), dim=1)
        pad = plain.join_pads((pad, positions), (where.hidden_pad, hidden))
        at, seen = torch.cat((positions, hidden), dim=1), positions.shape[1]
        heard, read = None, slice(seen, None)
        if model.config.alone:
            heard = torch.arange(at.shape[1], device=at.device) < seen
        return model.head(run(model.decoder, x, at, pad, read, heard))

    def _predict(self, tokens: Tokens) -> Tensor:
        """As `RoMAEPredictor.forward`: (B, K) or (B, N, K)."""
        model, inputs = self.model, (tokens.values, tokens.positions, tokens.pad)
        x, positions, pad = model.encoder.begin(*inputs)
        read = slice(0, 1) if model.pool == "cls" else slice(int(self.config.cls), None)
        x = run(model.encoder.stack, x, positions, pad, read)
        return model.pool_and_head(x, tokens)


@dataclass
class Slots:
    """Layout of a batch: dense (B, N), or packed: the T real tokens in a row."""

    shape: tuple[int, int]  # B, N
    rows: Tensor | None = None  # (T,) places in the flattened (B, N); None: dense
    starts: Tensor | None = None  # (B + 1,) where each sample begins, for `varlen_attn`
    longest: int = 0  # no sample has more tokens
    all_heard: bool = True  # every token hears its whole sample, as in `varlen_attn`

    @classmethod
    def of(cls, real: Tensor) -> "Slots":
        """real (B, N) bool, True where there is a token."""
        starts = F.pad(real.sum(1).cumsum(0), (1, 0)).int()
        rows = real.flatten().nonzero().squeeze(1)
        return cls(tuple(real.shape), rows, starts, real.shape[1])

    def pack(self, x: Tensor) -> Tensor:
        """(B, N, ...) -> (T, ...), or as it was."""
        return x if self.rows is None else x.flatten(0, 1)[self.rows]

    def spread(self, x: Tensor) -> Tensor:
        """(T, ...) -> (B, N, ...), zeros in between; or as it was."""
        if self.rows is None:
            return x
        flat = x.new_zeros(self.shape[0] * self.shape[1], *x.shape[1:])
        return flat.index_copy(0, self.rows, x).unflatten(0, self.shape)


def run(
    stack: Stack, x: Tensor, positions: Tensor, pad: Tensor | None, read: slice | None,
    heard: Tensor | None = None,
) -> Tensor:
    """`Stack.forward` for the tokens that are read.

    x (B, N, E), positions (B, N, D), pad (B, N) or None -> (B, R, E). read: the slots
    that somebody reads, heard (N,) bool: those that others attend to; None: all.
    Numbers in slots of padding mean nothing.
    """
    x, rotation = stack.place(x, positions)
    mask = None if pad is None else ~pad[:, None, None, :]  # (B, 1, 1, N)
    slots = Slots(tuple(x.shape[:2])) if pad is None else Slots.of(~pad)
    if heard is not None:
        heard = heard[None, None, None]
        mask, slots.all_heard = heard if mask is None else mask & heard, False
    # (B, N, 1, head_dim / 2)
    phase = None if rotation is None else slots.pack(torch.complex(*rotation))
    *blocks, last = stack.blocks
    x = slots.pack(x)
    for block in [*blocks, last] if read is None else blocks:
        x = x + attention(block.attention, block.norm1(x), phase, mask, slots)
        x = x + block.ff(block.norm2(x))
    x = slots.spread(x)
    if read is None:
        return x
    wanted = Slots((len(x), x[:, read].shape[1]))
    if slots.rows is not None and wanted.shape[1] > 1:  # one alone is never padding
        wanted = Slots.of(~pad[:, read])
    return wanted.spread(finish(last, x, phase, mask, slots, read, wanted))


def finish(
    block: Block, x: Tensor, phase, mask, slots: Slots, read: slice, wanted: Slots
) -> Tensor:
    """A block for the tokens that are read: (B, N, E) -> (B, R, E), or these packed."""
    layer, normed = block.attention, block.norm1(slots.pack(x))
    weight, heads = neighbours(layer), layer.heads
    dim = weight.shape[1]
    both = F.linear(normed, weight[dim:]).unflatten(-1, (2 * heads, -1))
    keys, values = both.split(heads, dim=-2)
    asking = wanted.pack(slots.spread(normed)[:, read])
    queries = F.linear(asking, weight[:dim]).unflatten(-1, (heads, -1))
    if phase is not None:
        keys = turn(keys, phase)
        queries = turn(queries, wanted.pack(slots.spread(phase)[:, read]))
    parts = ((wanted, queries), (slots, keys), (slots, values))
    # (B, H, R, head_dim), (B, H, N, head_dim) twice
    q, k, v = (s.spread(t).transpose(1, 2) for s, t in parts)
    mixed = wanted.pack(attend(q, k, v, mask).transpose(1, 2).flatten(2))
    out = wanted.pack(x[:, read]) + layer.out(mixed)
    return out + block.ff(block.norm2(out))


def attention(
    layer: Attention, x: Tensor, phase: Tensor | None, mask: Tensor | None, slots: Slots
) -> Tensor:
    """`Attention.forward`, for (B, N, E) or packed (T, E)."""
    heads = F.linear(x, neighbours(layer)).unflatten(-1, (3 * layer.heads, -1))
    qk, v = heads.split((2 * layer.heads, layer.heads), dim=-2)
    if phase is not None:
        qk = turn(qk, phase)
    q, k = qk.chunk(2, dim=-2)
    if slots.rows is not None and slots.all_heard and can_vary(v):
        starts, most = slots.starts, slots.longest
        out = varlen_attn()(q, k, v.contiguous(), starts, starts, most, most)
        return layer.out(out.flatten(-2))
    # (B, H, N, head_dim)
    q, k, v = (slots.spread(t).transpose(1, 2) for t in (q, k, v))
    return layer.out(slots.pack(attend(q, k, v, mask).transpose(1, 2).flatten(2)))


@cache
def varlen_attn():
    """PyTorch's attention over samples of different lengths, or None before 2.10."""
    try:  # here, as it imports all of torch._dynamo
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn


def can_vary(v: Tensor) -> bool:
    """True if `varlen_attn` takes these values: 16 bits, heads of 8 to 256, Ampere."""
    if not v.is_cuda or v.element_size() != 2 or v.shape[-1] % 8 or v.shape[-1] > 256:
        return False
    ampere = torch.cuda.get_device_capability(v.device) >= (8, 0)
    return ampere and varlen_attn() is not None


def neighbours(layer: Attention) -> Tensor:
    """The projection's weight (3 E, E), the channels of a pair beside each other."""
    weight, dim = layer.qkv.weight, layer.qkv.weight.shape[1]
    # heads, halves, pairs
    qk = weight[: 2 * dim].unflatten(0, (2 * layer.heads, 2, -1))
    return torch.cat((qk.transpose(1, 2).flatten(0, 2), weight[2 * dim :]))


def turn(x: Tensor, phase: Tensor) -> Tensor:
    """`rotate` for neighbours; phase (..., 1, head_dim / 2) complex64."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * phase).flatten(-2).type_as(x)


def compile_model(model: nn.Module, *, still: bool) -> nn.Module:
    """torch.compile; as a CUDA graph where every batch has the same shape (still)."""
    graphs = still and next(model.parameters()).is_cuda
    return torch.compile(model, mode="reduce-overhead" if graphs else None)

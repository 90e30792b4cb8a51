"""The Rotary Masked Autoencoder: a standard Transformer whose attention turns queries and keys by continuous positions.

    tokens ──> hide 75 % ──> embed ──> [CLS] + visible ──> encoder ──> project ──┐
                                                                                ├──> decoder ──> head on hidden tokens
                      positions of the hidden tokens ──> mask token at each ────┘

`RoMAE` is the whole of it, for pre-training and interpolation (paper Sec. 4.2); `RoMAEPredictor` is its encoder with a
head, for classification and regression. Attention gets a mask only where there is padding.

Shapes: B batch, N tokens, V visible, M hidden, P numbers in a patch, D axes, E model dimension, H heads.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path

import safetensors.torch
import torch
import torch.nn.functional as F
from einops import rearrange
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from . import checks
from .io import atomic_write, digest, sort_metadata
from .masking import Split, split, take
from .rope import PositionEncoding, rotate, turning_pairs
from .tokens import Tokens


@dataclass(frozen=True, kw_only=True)
class Size:
    """Width and depth of a stack of blocks (Table 8)."""

    dim: int  # E, the model dimension (d_model)
    heads: int
    depth: int  # number of blocks
    ff: int  # hidden width of the feed-forward part

    def __post_init__(self):
        for name in ("dim", "heads", "depth", "ff"):
            checks.whole(name, getattr(self, name), 1)
        if self.dim % (2 * self.heads):
            raise ValueError(
                f"dim is {self.dim}; {self.heads} heads of an even size need a multiple of {2 * self.heads}"
            )

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


SIZES = {  # Table 8; the last one is Table 14's
    "tiny-shallow": Size(dim=180, heads=3, depth=2, ff=720),
    "tiny": Size(dim=180, heads=3, depth=12, ff=720),
    "small": Size(dim=432, heads=6, depth=12, ff=1728),
    "base": Size(dim=720, heads=12, depth=12, ff=2880),
    "pendulum": Size(dim=60, heads=2, depth=2, ff=30),
}


def size(name: str, **changes: int) -> Size:
    """A size of Table 8 by name, or one spelt out as dim x heads x depth x ff ("96x4x3x384"); with fields changed
    where asked.

    >>> size("96x4x3x384").depth
    3
    >>> size("tiny", dim=432) == size("432x3x12x720")
    True
    """
    checks.kind("size", name, str)
    if name in SIZES:
        return replace(SIZES[name], **changes)
    if not re.fullmatch(r"\d+x\d+x\d+x\d+", name):
        raise ValueError(
            f"size is {name!r}; choose one of {', '.join(SIZES)}, or spell it out as dim x heads x depth x ff"
        )
    dim, heads, depth, ff = map(int, name.split("x"))
    return replace(Size(dim=dim, heads=heads, depth=depth, ff=ff), **changes)


# How weights start: as PyTorch has them; from a normal of std 0.02, cut off at 2, biases 0; or so but for the head's.
INITS = ("torch", "normal", "body")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that shapes a model."""

    patch: int  # P, numbers in one token
    axes: int  # D, dimensions of a position
    encoder: Size = SIZES["tiny"]
    decoder: Size = SIZES["tiny-shallow"]  # what the paper uses throughout
    cls: bool = True  # put a learned [CLS] token at position 0 of every axis
    positions: PositionEncoding = PositionEncoding()
    dropout: float = 0.0  # after the feed-forward part
    attention_dropout: float = 0.0  # on the attention weights
    head_dropout: float = 0.0  # before the head
    drop_path: float = 0.0  # stochastic depth of the last block; grows linearly from 0 at the first
    init: str = "torch"  # of the weights: PyTorch's own, or one of INITS (deviation D43)
    spread: bool = False  # RoMAE says how sure it is: 2 P numbers a hidden token, for `gaussian_loss`
    alone: bool = False  # a hidden token sees the visible ones only, so that no answer depends on what else is asked

    def __post_init__(self):
        for name in ("patch", "axes"):
            checks.whole(name, getattr(self, name), 1)
        for name in ("dropout", "attention_dropout", "head_dropout", "drop_path"):
            checks.number(name, getattr(self, name), lambda v: 0 <= v < 1, "lie in [0, 1)")
        checks.choice("init", self.init, INITS)
        checks.kind("cls", self.cls, bool)
        checks.kind("spread", self.spread, bool)
        checks.kind("alone", self.alone, bool)
        checks.kind("positions", self.positions, PositionEncoding)
        turned, added = self.positions.rotation_axes(self.axes), self.positions.embedding_axes(self.axes)
        p = self.positions.p
        if self.positions.kind == "mixed" and self.axes < 2:
            raise ValueError("positions are 'mixed', which adds all axes but the last: axes must be at least 2, not 1")
        for name in ("encoder", "decoder"):
            stack = getattr(self, name)
            checks.kind(name, stack, Size)
            for field, channels, axes in (("head_dim", stack.head_dim, turned), ("dim", stack.dim, added)):
                if axes and channels % (2 * axes):
                    raise ValueError(f"{field} of the {name} is {channels}; {axes} axes need a multiple of {2 * axes}")
            pairs = stack.head_dim // (2 * turned) if turned else 0
            if turned and p > 0 and not turning_pairs(2 * pairs, p):
                raise ValueError(
                    f"p is {p}, so that none of the {pairs} pair(s) of an axis turns in a head of the {name} and the "
                    f"model is blind to positions; it must be at least {1 / pairs:g} here, or 0 to ask for that"
                )


class Attention(nn.Module):
    """Multi-head self-attention with rotated queries and keys (paper Eq. 1, Sec. 3.1 and 4). No biases.

    Scores are divided by sqrt(head_dim), as the authors' code does (deviation D2: their Eq. 1 says d_model).
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor] | None, pad: Tensor | None, record=None) -> Tensor:
        """x (B, N, E); rotation: cos, sin (B, N, 1, head_dim / 2); pad (B, N), True where no one may look."""
        heads = rearrange(self.qkv(x), "b n (h d) -> b n h d", h=3 * self.heads)  # queries, then keys, then values
        qk, v = heads.split((2 * self.heads, self.heads), dim=2)
        if rotation is not None:
            qk = rotate(qk, *rotation)
        q, k = qk.transpose(1, 2).chunk(2, dim=1)  # (B, H, N, head_dim) each
        v = v.transpose(1, 2)  # (B, H, N, head_dim)
        mask = None if pad is None else ~pad[:, None, None, :]  # (B, 1, 1, N), True where to look
        if record is not None:
            record["attention"] = attention_weights(q, k, mask)
        out = attend(q, k, v, mask, self.dropout if self.training else 0.0)
        return self.out(rearrange(out, "b h n d -> b n (h d)"))


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """Attention (Eq. 1) by whatever is fastest on the device: (B, H, N, head_dim).

    q, k, v (B, H, N, head_dim); mask (B, 1, 1, N), True where to look, or None; dropout: of the weights."""
    if v.is_cpu and v.dtype == torch.bfloat16:  # PyTorch's kernel takes several times as long in this case
        return F.dropout(attention_weights(q, k, mask).type_as(v), dropout) @ v
    if v.is_cuda and v.element_size() == 2 and v.shape[-1] % 8:
        return attend_in_eights(q, k, v, mask, dropout)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)


def attend_in_eights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float = 0.0) -> Tensor:
    """Attention with zeros after the channels of a head, up to a multiple of 8, and cut off again: the same numbers.

    In 16 bits the fast kernels of CUDA that take a mask want such sizes, and the paper's is 60: with any other PyTorch
    falls back, silently, to one that keeps all N x N weights of every layer.
    """
    dim = v.shape[-1]
    q, k, v = (F.pad(x, (0, -dim % 8)) for x in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=dim**-0.5)
    return out[..., :dim]


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(q k^T / sqrt(head_dim)) over the keys where mask (B, 1, 1, N) is True: (B, H, N, N) float32 (Eq. 1)."""
    score = (q / math.sqrt(q.shape[-1]) @ k.mT).float()
    return (score if mask is None else score.masked_fill(~mask, -math.inf)).softmax(-1)


class FeedForward(nn.Module):
    """E -> ff -> E with SiLU and no biases. Dropout after the second layer (deviation D12)."""

    def __init__(self, dim: int, hidden: int, dropout: float):
        super().__init__()
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.down(F.silu(self.up(x))))


def norm(dim: int) -> nn.RMSNorm:
    """RMSNorm with the authors' tiny eps, which multiplies the gradient of a token that is all zeros by a million: that
    is why the mask token does not start at zero (deviation D3)."""
    return nn.RMSNorm(dim, eps=1e-12)


class Block(nn.Module):
    """x + attention(norm(x)), then + feed-forward(norm(x)). In training, each branch is left out for a random
    `drop_path` of the samples (stochastic depth)."""

    def __init__(self, size: Size, config: ModelConfig, drop_path: float):
        super().__init__()
        self.norm1, self.norm2 = norm(size.dim), norm(size.dim)
        self.attention = Attention(size.dim, size.heads, config.attention_dropout)
        self.ff = FeedForward(size.dim, size.ff, config.dropout)
        self.drop_path = drop_path

    def forward(self, x: Tensor, rotation, pad: Tensor | None, record=None) -> Tensor:
        x = x + self.skip(self.attention(self.norm1(x), rotation, pad, record))
        return x + self.skip(self.ff(self.norm2(x)))

    def skip(self, branch: Tensor) -> Tensor:
        if not self.training or self.drop_path == 0:
            return branch
        keep = torch.rand(len(branch), 1, 1, device=branch.device) >= self.drop_path  # (B, 1, 1)
        return branch * keep / (1 - self.drop_path)


class Stack(nn.Module):
    """Blocks one after the other, no norm at the end. The rotation is computed once, here, and shared by all blocks."""

    def __init__(self, size: Size, config: ModelConfig):
        super().__init__()
        rates = torch.linspace(0, config.drop_path, size.depth, device="cpu").tolist()  # deviation D11
        self.blocks = nn.ModuleList(Block(size, config, rate) for rate in rates)
        self.encoding, self.head_dim = config.positions, size.head_dim

    def forward(self, x: Tensor, positions: Tensor, pad: Tensor | None, record: dict | None = None, name="") -> Tensor:
        """x (B, N, E), positions (B, N, D), pad (B, N) or None -> (B, N, E).

        record: a dict that receives {name.i.attention (B, H, N, N), name.i.out (B, N, E)} for every block i.
        """
        added = self.encoding.embedding(positions, x.shape[-1])
        if added is not None:
            x = x + added.type_as(x)
        rotation = self.encoding.rotation(positions, self.head_dim)
        for i, block in enumerate(self.blocks):
            notes = None if record is None else {}
            x = block(x, rotation, pad, notes)
            if record is not None:
                record |= {f"{name}.{i}.{key}": value for key, value in notes.items()} | {f"{name}.{i}.out": x}
        return x


class Encoder(nn.Module):
    """Embed patches, put [CLS] in front, run the blocks. What pre-training hands on to fine-tuning, whole (D4)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.embed = nn.Linear(config.patch, config.encoder.dim)
        self.cls = nn.Parameter(torch.randn(config.encoder.dim) * 0.02) if config.cls else None
        self.stack = Stack(config.encoder, config)

    def forward(self, values: Tensor, positions: Tensor, pad: Tensor | None, record=None):
        """values (B, V, P), positions (B, V, D), pad (B, V) or None.

        Returns the encoded tokens with their positions and pad mask, each with [CLS] (at position 0) in front if the
        model has one: (B, V', E), (B, V', D), (B, V') or None.
        """
        x = self.embed(values).float()  # the residual stream stays float32 under autocast
        if self.cls is not None:
            x = torch.cat((self.cls.expand(len(x), 1, -1), x), dim=1)
            positions = F.pad(positions, (0, 0, 1, 0))  # (B, 1 + V, D), zeros in front
            pad = None if pad is None else F.pad(pad, (1, 0))
        return self.stack(x, positions, pad, record, "encoder"), positions, pad


class Head(nn.Sequential):
    """Dropout, norm, linear with bias: E -> outputs. Float32 even under autocast: bfloat16 keeps three digits."""

    def __init__(self, dim: int, outputs: int, dropout: float):
        super().__init__(nn.Dropout(dropout), norm(dim), nn.Linear(dim, outputs))

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, enabled=False):
            return super().forward(x.float())


class RoMAE(nn.Module):
    """Masked autoencoder: sees the visible tokens, predicts the hidden ones from their positions alone."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        checks.kind("config", config, ModelConfig)
        self.config = config
        self.encoder = Encoder(config)
        self.project = nn.Linear(config.encoder.dim, config.decoder.dim)
        self.mask_token = nn.Parameter(torch.randn(config.decoder.dim) * 0.02)  # not zeros: deviation D3
        self.decoder = Stack(config.decoder, config)
        self.head = Head(config.decoder.dim, config.patch * (1 + config.spread), config.head_dropout)
        initialise(self, config.init)

    def forward(self, tokens: Tokens, where: Split, record: dict | None = None) -> Tensor:
        """Predicted values of the hidden tokens, (B, M, P); with `spread`, P more: logarithms of their variances.

        record: a dict that receives the attention maps and outputs of every block (shapes in `Stack`).
        """
        check_shapes(self.config, tokens, record)
        checks.kind("where", where, Split)
        where.check(tokens.real)
        x, positions, pad = self.encoder(
            take(tokens.values, where.visible), take(tokens.positions, where.visible), where.visible_pad, record
        )
        hidden = take(tokens.positions, where.hidden)  # (B, M, D)
        x = self.project(x).float()
        x = torch.cat((x, self.mask_token.expand(*hidden.shape[:2], -1)), dim=1)  # (B, 1 + V + M, E')
        unseen = where.hidden_pad
        if self.config.alone:
            unseen = torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)
        if pad is not None or unseen is not None:
            pad = torch.cat((_or_false(pad, positions), _or_false(unseen, hidden)), dim=1)
        x = self.decoder(x, torch.cat((positions, hidden), dim=1), pad, record, "decoder")
        return self.head(x[:, -hidden.shape[1] :])


class RoMAEPredictor(nn.Module):
    """Encoder and head: K outputs from the [CLS] token, from the mean over real tokens, or from every token.

    pool: "cls" -> (B, K), "mean" -> (B, K), "token" -> (B, N, K).
    """

    def __init__(self, config: ModelConfig, outputs: int, pool: str = "cls"):
        super().__init__()
        checks.kind("config", config, ModelConfig)
        checks.choice("pool", pool, ("cls", "mean", "token"))
        checks.whole("outputs", outputs, 1)
        if pool == "cls" and not config.cls:
            raise ValueError("pool is 'cls', but the model has no [CLS] token; set cls=True or pool='mean'")
        self.config, self.pool = config, pool
        self.encoder = Encoder(config)
        self.head = Head(config.encoder.dim, outputs, config.head_dropout)
        initialise(self, config.init)

    def start_from(self, pretrained: RoMAE) -> "RoMAEPredictor":
        """Take over a pre-trained encoder, patch embedding and [CLS] included (deviation D4). Returns self.

        ValueError where that was made for other tokens, another size or another position encoding."""
        checks.kind("pretrained", pretrained, RoMAE)
        for name in ("patch", "axes", "encoder", "cls", "positions"):
            here, there = (getattr(model.config, name) for model in (self, pretrained))
            if here != there:
                raise ValueError(f"{name} is {here} here and {there} in the pre-trained model; they must agree")
        self.encoder.load_state_dict(pretrained.encoder.state_dict())
        return self

    def forward(self, tokens: Tokens, record: dict | None = None) -> Tensor:
        """The K outputs, in the shape that `pool` says; record as in `RoMAE`."""
        check_shapes(self.config, tokens, record)
        x, _, _ = self.encoder(tokens.values, tokens.positions, tokens.pad, record)
        if self.pool == "cls":
            return self.head(x[:, 0])
        x = x[:, self.config.cls :]  # (B, N, E), without [CLS]
        if self.pool == "token":
            return self.head(x)
        real = tokens.real[..., None]
        return self.head((x * real).sum(1) / real.sum(1))


def initialise(model: nn.Module, init: str) -> None:
    """Draw the weights of linear layers anew where `init` is not PyTorch's own; [CLS] and mask token stay (D3, D43)."""
    if init == "torch":
        return
    for name, layer in model.named_modules():
        if isinstance(layer, nn.Linear) and not (init == "body" and name.startswith("head.")):
            nn.init.trunc_normal_(layer.weight, std=0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def reconstruction_loss(prediction: Tensor, target: Tensor, pad: Tensor | None) -> Tensor:
    """Mean squared error over real hidden tokens only (D5). prediction, target (B, M, P), pad (B, M) bool or None."""
    prediction, target, pad = _compared(prediction, target, pad, 1)
    return _mean((prediction - target).square(), pad)


BANDS = {68: 1.0, 95: 1.959964}  # per cent of a normal distribution within so many standard deviations: 68.27, 95.00


def split_mean_variance(prediction: Tensor) -> tuple[Tensor, Tensor]:
    """Split the output (..., 2 P) of a model with `spread` into mean and log-variance, (..., P) each; the latter is
    clamped to ±14 (deviations of 1e-3 to 1e3 of a standardised value), so that no weight can run away."""
    mean, log_variance = prediction.chunk(2, dim=-1)
    return mean, log_variance.clamp(-14, 14)


def gaussian_loss(prediction: Tensor, target: Tensor, pad: Tensor | None, variance: Tensor | None = None) -> Tensor:
    """Negative log-likelihood of normal distributions, in nats a number, over real hidden tokens only.

    prediction (B, M, 2 P): as `split_mean_variance` reads it; target (B, M, P); pad (B, M) bool or None; variance
    (B, M, P) of targets of which `target` is the mean only: then the loss in expectation over these."""
    prediction, target, pad = _compared(prediction, target, pad, 2)
    mean, log_variance = split_mean_variance(prediction)
    square = (mean - target).square()
    if variance is not None:
        square = square + variance
    return 0.5 * _mean(square * (-log_variance).exp() + log_variance + math.log(2 * math.pi), pad)


def normalised_loss(prediction: Tensor, target: Tensor, pad: Tensor | None) -> Tensor:
    """Mean squared error to patches that are each standardised by itself, as MAE's image models have it."""
    return reconstruction_loss(prediction, normalise(target), pad)


def _compared(
    prediction: Tensor, target: Tensor, pad: Tensor | None, times: int
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The three of a loss, checked, in float32: a target of (B, M, P) and a prediction `times` as wide."""
    prediction, target = checks.tensor("prediction", prediction), checks.tensor("target", target)
    right = prediction.ndim == target.ndim == 3 and 0 not in target.shape
    right = right and prediction.shape == (*target.shape[:2], times * target.shape[2])
    shape = "both be (B, M, P)" if times == 1 else f"be (B, M, {times} P) and (B, M, P)"
    checks.shapes(right, shape, prediction=prediction, target=target)
    if pad is not None:
        pad = checks.tensor("pad", pad)
        right = pad.dtype == torch.bool and pad.shape == prediction.shape[:2]
        checks.shapes(right, f"be bool of shape {tuple(prediction.shape[:2])}", pad=pad)
    return prediction.float(), target.float(), pad


def _mean(error: Tensor, pad: Tensor | None) -> Tensor:
    """Of error (B, M, P) over the tokens that are no padding."""
    error = error.mean(-1)  # (B, M)
    return error.mean() if pad is None else error.masked_fill(pad, 0).sum() / (~pad).sum()


def masked_loss(model: RoMAE, batch: Tokens, hidden: Tensor, loss: Callable = reconstruction_loss) -> Tensor:
    """Loss of the hidden tokens (B, N) bool: what every pre-training and interpolation run minimises.

    loss: of (prediction, target, pad), as `reconstruction_loss`. Batch and mask come from the host, where the model's
    device need not be waited for, and move there in here."""
    checks.kind("model", model, nn.Module)
    checks.kind("batch", batch, Tokens)
    checks.kind("loss", loss, Callable)
    where, device = split(hidden, batch.real), device_of(model)
    batch, where = batch.to(device), where.to(device)
    return loss(model(batch, where), take(batch.values, where.hidden), where.hidden_pad)


@torch.no_grad()
def predict_hidden(model: RoMAE, tokens: Tokens, hidden: Tensor, batch: int = 250) -> Tensor:
    """What the model says of the hidden tokens (n, N) bool, zero elsewhere: (n, N, P) float32, on the CPU; of a model
    with `spread` (n, N, 2 P). The model is left in eval mode."""
    checks.kind("model", model, nn.Module)
    checks.kind("tokens", tokens, Tokens)
    checks.whole("batch", batch, 1)
    hidden = checks.tensor("hidden", hidden)
    rows = tokens.values.shape[:2]
    checks.shapes(hidden.shape == rows, f"be bool of shape {tuple(rows)}", hidden=hidden)
    model.eval()
    device = device_of(model)
    out = None
    for i in range(0, len(tokens), batch):
        part, hide = tokens[i : i + batch], hidden[i : i + batch].cpu()
        where = split(hide, part.real)
        found = model(part.to(device), where.to(device)).float().cpu()  # (B, M, P), rows filled up where counts differ
        found = found.flatten(0, 1) if where.hidden_pad is None else found[~where.hidden_pad]
        out = torch.zeros(*rows, found.shape[-1]) if out is None else out
        out[i : i + batch][hide & part.real.cpu()] = found
    return out


def interpolate(model: RoMAE, tokens: Tokens, at: Tensor, batch: int = 250) -> Tensor:
    """The model's values wherever you ask, from all real tokens of each sample: (B, M, P) float32, on the CPU; of a
    model with `spread` (B, M, 2 P), logarithms of variances last.

    at      (M, D), the same for all samples, or (B, M, D): positions in the units of tokens.positions; numpy will do
    batch   samples at a time

    Places asked together see one another, as hidden tokens do in training: answers depend a little on what else is
    asked, except of a model that was made with `alone`. Raises TypeError for another model, ValueError for positions
    that do not fit.
    """
    checks.kind("model", model, RoMAE)
    checks.kind("tokens", tokens, Tokens)
    tokens, at, (b, n, _) = tokens.to("cpu"), checks.tensor("at", at).double().cpu(), tokens.values.shape
    axes = tokens.positions.shape[-1]
    right = at.ndim in (2, 3) and at.shape[:-2] in ((), (b,)) and at.shape[-2] > 0 and at.shape[-1] == axes
    checks.shapes(right, f"be (M, {axes}) or ({b}, M, {axes})", at=at)
    at = at.expand(b, -1, -1)
    if not (at.abs() < 2**53).all():
        raise ValueError("at holds a position that is NaN, infinite or beyond 2^53; leave it out")
    asked = (0, at.shape[1])  # slots to add at the end
    whole = Tokens(
        values=F.pad(tokens.values, (0, 0, *asked)),
        positions=torch.cat((tokens.positions, at), dim=1),
        pad=None if tokens.pad is None else F.pad(tokens.pad, asked),
    )
    hidden = (torch.arange(n + asked[1]) >= n).expand(b, -1)
    was = {module: module.training for module in model.modules()}  # each its own: a part may be frozen
    try:
        return predict_hidden(model, whole, hidden, batch)[:, n:]
    finally:
        for module, training in was.items():
            module.training = training


def save(model: RoMAE | RoMAEPredictor, path: Path | str, *, half: bool = False, notes: dict | None = None) -> None:
    """Weights and configuration in one safetensors file, written whole or not at all; half: in 16 bits, half the size.
    The same model gives the same bytes.
    notes: anything else that JSON can hold, for `notes_of`.

    Raises TypeError for any other model, ValueError for weights that are not finite, OSError naming the path."""
    if type(model) not in (RoMAE, RoMAEPredictor):
        raise TypeError(f"model is of type {type(model).__name__}; save takes RoMAE and RoMAEPredictor")
    checks.kind("path", path, str | PathLike)
    checks.kind("half", half, bool)
    about = {"class": type(model).__name__, "config": asdict(model.config)} | (
        {} if notes is None else {"notes": notes}
    )
    if isinstance(model, RoMAEPredictor):
        about["head"] = {"outputs": model.head[-1].out_features, "pool": model.pool}
    weights = {name: (t.half() if half else t).detach().cpu().contiguous() for name, t in model.state_dict().items()}
    if bad := [name for name, t in weights.items() if not t.isfinite().all()]:
        raise ValueError(f"{bad[0]} holds NaN or numbers too large for {weights[bad[0]].dtype}; it cannot be saved")
    text = json.dumps(about)
    notes = {"romae_lite": text, "digest": digest(weights, text)}
    atomic_write(path, sort_metadata(safetensors.torch.save(weights, notes)))


def load(path: Path | str) -> RoMAE | RoMAEPredictor:
    """A model that `save` has written: on the CPU, in float32 and eval mode. ValueError names a file that is none."""
    checks.kind("path", path, str | PathLike)
    if Path(path).is_dir():
        raise ValueError(f"{path} is a folder; name the file in it that `save` has written")
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        text = metadata["romae_lite"]
        sound, about = metadata["digest"] == digest(weights, text), json.loads(text)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is no model that romae_lite has saved ({error})") from error
    if not sound:
        raise ValueError(f"{path} is corrupt: its digest does not match")
    settings = about["config"]
    try:
        settings |= {name: Size(**settings[name]) for name in ("encoder", "decoder")}
        config = ModelConfig(**settings | {"positions": PositionEncoding(**settings["positions"])})
    except TypeError as error:
        raise ValueError(f"{path} was saved by another version of romae_lite ({error}); load it with that") from error
    with torch.device("meta"):  # no weights drawn: they are there already
        model = RoMAE(config) if about["class"] == "RoMAE" else RoMAEPredictor(config, **about["head"])
    model.load_state_dict({name: t.float() for name, t in weights.items()}, assign=True)
    return model.eval()


def notes_of(path: Path | str) -> dict | None:
    """The notes that `save` has put into a file beside the model. ValueError names a file that is none."""
    checks.kind("path", path, str | PathLike)
    try:
        with safe_open(path, "pt") as file:
            return json.loads((file.metadata() or {})["romae_lite"]).get("notes")
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{path} is no model that romae_lite has saved ({error})") from error


def normalise(target: Tensor) -> Tensor:
    """Each patch standardised by its own mean and variance, the target of MAE's image models. (B, M, P) -> same."""
    variance, mean = torch.var_mean(target, dim=-1, keepdim=True, correction=int(target.shape[-1] > 1))
    return (target - mean) * (variance + 1e-6).rsqrt()


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def count_parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def check_shapes(config: ModelConfig, tokens: Tokens, record: dict | None) -> None:
    """ValueError where tokens do not fit the model; TypeError where they, or the record, are none."""
    checks.kind("tokens", tokens, Tokens)
    checks.kind("record", record, dict | None)
    found = {"patch": tokens.values.shape[-1], "axes": tokens.positions.shape[-1]}
    for name, got in found.items():
        if got != (want := getattr(config, name)):
            raise ValueError(f"the model was built for {name}={want}; these tokens have {name}={got}")


def _or_false(pad: Tensor | None, positions: Tensor) -> Tensor:
    return torch.zeros(positions.shape[:2], dtype=torch.bool, device=positions.device) if pad is None else pad

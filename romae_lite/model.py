"""The Rotary Masked Autoencoder: a Transformer that rotates by positions.

    tokens ──> hide 75 % ──> embed ──> [CLS] + visible ──> encoder ──> project ──┐
                                                                                 │
    hidden tokens <── head <── decoder <── a mask token at each hidden position ─┘

`RoMAE` is the whole of it, for pre-training and interpolation (paper Sec. 4.2);
`RoMAEPredictor` is its encoder with a head, for classification and regression.

Shapes: B batch, N tokens, V visible, M hidden, P numbers in a patch, D axes, E model
dimension, E' that of the decoder, H heads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import checks
from .checks import a, at_least, one_of, real
from .masking import Split, split, take
from .rope import PositionEncoding, rotate
from .tokens import Tokens


class RoMAE(nn.Module):
    """Masked autoencoder: predict the hidden tokens from the visible ones (Sec. 4.2).

    Of a hidden token the decoder knows the position alone.

    Parameters
    ----------
    config : ModelConfig
        Sizes, position encoding, dropout, initialisation.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        checks.kind("config", config, ModelConfig)
        self.config = config
        self.encoder = Encoder(config)
        self.project = nn.Linear(config.encoder.dim, config.decoder.dim)
        self.mask_token = nn.Parameter(torch.randn(config.decoder.dim) * 0.02)  # D3
        self.decoder = Stack(config.decoder, config)
        outputs = config.patch * (1 + config.spread)
        self.head = Head(config.decoder.dim, outputs, config.head_dropout)
        initialise(self, config.init)

    def forward(
        self, tokens: Tokens, where: Split, record: dict | None = None
    ) -> Tensor:
        """Predict the hidden tokens: (B, M, P), with `spread` (B, M, 2 P).

        where says which are visible and which hidden; record receives the attention
        maps and outputs of every block (shapes in `Stack`).
        """
        check_shapes(self.config, tokens, record)
        checks.kind("where", where, Split)
        where.check(tokens.real)
        x, positions, pad = self.encoder(
            take(tokens.values, where.visible),  # (B, V, P)
            take(tokens.positions, where.visible),  # (B, V, D)
            where.visible_pad,
            record,
        )
        hidden = take(tokens.positions, where.hidden)  # (B, M, D)
        x = self.project(x).float()  # (B, 1 + V, E')
        masks = self.mask_token.expand(*hidden.shape[:2], -1)  # (B, M, E')
        x = torch.cat((x, masks), dim=1)  # (B, 1 + V + M, E')
        unseen = where.hidden_pad
        if self.config.alone:
            unseen = hidden.new_ones(hidden.shape[:2], dtype=torch.bool)
        pad = join_pads((pad, positions), (unseen, hidden))
        positions = torch.cat((positions, hidden), dim=1)  # (B, 1 + V + M, D)
        x = self.decoder(x, positions, pad, record, "decoder")
        return self.head(x[:, -hidden.shape[1] :])


class RoMAEPredictor(nn.Module):
    """Encoder and head, for classification and regression.

    Parameters
    ----------
    config : ModelConfig
        As for `RoMAE`; the decoder's size is not used.
    outputs : int
        K, numbers that it answers.
    pool : {"cls", "mean", "token"}
        What the head reads: the [CLS] token, (B, K); the mean over real tokens, (B, K);
        or every token, (B, N, K).
    """

    def __init__(self, config: ModelConfig, outputs: int, pool: str = "cls"):
        super().__init__()
        pools = one_of("cls", "mean", "token")
        checks.each(locals(), config=a(ModelConfig), outputs=at_least(1), pool=pools)
        if pool == "cls" and not config.cls:
            raise ValueError("pool is 'cls', but the model has no [CLS]; use 'mean'")
        self.config, self.pool = config, pool
        self.encoder = Encoder(config)
        self.head = Head(config.encoder.dim, outputs, config.head_dropout)
        initialise(self, config.init)

    def start_from(self, pretrained: RoMAE) -> RoMAEPredictor:
        """Take over a pre-trained encoder with its patch embedding and [CLS] (D4)."""
        checks.kind("pretrained", pretrained, RoMAE)
        for name in ("patch", "axes", "encoder", "cls", "positions"):
            here, there = (getattr(m.config, name) for m in (self, pretrained))
            if here != there:
                both = f"{name} is {here} here and {there} in the pre-trained model"
                raise ValueError(f"{both}; they must agree")
        self.encoder.load_state_dict(pretrained.encoder.state_dict())
        return self

    def forward(self, tokens: Tokens, record: dict | None = None) -> Tensor:
        """Return the K outputs, in the shape that `pool` says; record as in `RoMAE`."""
        check_shapes(self.config, tokens, record)
        x, _, _ = self.encoder(tokens.values, tokens.positions, tokens.pad, record)
        x = x[:, :1] if self.pool == "cls" else x[:, self.config.cls :]
        return self.pool_and_head(x, tokens)

    def pool_and_head(self, x: Tensor, tokens: Tokens) -> Tensor:
        """x: [CLS] alone (B, 1, E), or the tokens without it (B, N, E)."""
        if self.pool == "cls":
            return self.head(x[:, 0])
        if self.pool == "token":
            return self.head(x)
        real = tokens.real[..., None]
        return self.head((x * real).sum(1) / real.sum(1))


class Encoder(nn.Module):
    """Embed patches, put [CLS] in front, run the blocks."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        dim = config.encoder.dim
        self.embed = nn.Linear(config.patch, dim)
        self.cls = nn.Parameter(torch.randn(dim) * 0.02) if config.cls else None
        self.stack = Stack(config.encoder, config)

    def forward(
        self, values: Tensor, positions: Tensor, pad: Tensor | None, record=None
    ):
        """values (B, V, P), positions (B, V, D), pad (B, V) or None.

        -> the encoded tokens, their positions and pad mask, each with [CLS] in front.
        """
        x, positions, pad = self.begin(values, positions, pad)
        return self.stack(x, positions, pad, record, "encoder"), positions, pad

    def begin(self, values: Tensor, positions: Tensor, pad: Tensor | None):
        """Embed, with [CLS] in front, at position 0 of every axis."""
        x = self.embed(values).float()  # the stream stays float32 under autocast
        if self.cls is not None:
            x = torch.cat((self.cls.expand(len(x), 1, -1), x), dim=1)  # (B, 1 + V, E)
            positions = F.pad(positions, (0, 0, 1, 0))  # (B, 1 + V, D), zeros in front
            pad = None if pad is None else F.pad(pad, (1, 0))  # (B, 1 + V)
        return x, positions, pad


class Stack(nn.Module):
    """Blocks that share one rotation, computed here; no norm at the end."""

    def __init__(self, size: Size, config: ModelConfig):
        super().__init__()
        rates = torch.linspace(0, config.drop_path, size.depth, device="cpu")  # D11
        self.blocks = nn.ModuleList(Block(size, config, r) for r in rates.tolist())
        self.encoding, self.head_dim = config.positions, size.head_dim

    def forward(
        self, x: Tensor, positions: Tensor, pad: Tensor | None,
        record: dict | None = None, name: str = "",
    ) -> Tensor:
        """x (B, N, E), positions (B, N, D), pad (B, N) or None -> (B, N, E).

        record receives name.i.attention (B, H, N, N) and name.i.out (B, N, E).
        """
        x, rotation = self.place(x, positions)
        for i, block in enumerate(self.blocks):
            notes = None if record is None else {}
            x = block(x, rotation, pad, notes)
            if record is not None:
                record |= {f"{name}.{i}.{key}": value for key, value in notes.items()}
                record[f"{name}.{i}.out"] = x
        return x

    def place(self, x: Tensor, positions: Tensor):
        """Tell the tokens where they are: x (B, N, E) and the rotation, or None."""
        added = self.encoding.embedding(positions, x.shape[-1])
        x = x if added is None else x + added.type_as(x)
        return x, self.encoding.rotation(positions, self.head_dim)


class Block(nn.Module):
    """x + attention(norm(x)), then + feed-forward(norm(x)).

    In training each branch is left out for a random `drop_path` of the samples.
    """

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
        draw = torch.rand(len(branch), 1, 1, device=branch.device)  # (B, 1, 1)
        return branch * (draw >= self.drop_path) / (1 - self.drop_path)


class Attention(nn.Module):
    """Multi-head self-attention with rotated queries and keys (Eq. 1, Sec. 3.1 and 4).

    No biases. Scores are divided by sqrt(head_dim), as the authors' code does
    (deviation D2: their Eq. 1 says d_model).
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(
        self, x: Tensor, rotation: tuple[Tensor, Tensor] | None, pad: Tensor | None,
        record=None,
    ) -> Tensor:
        """x (B, N, E); cos, sin (B, N, 1, head_dim / 2); pad (B, N) or None."""
        # queries, then keys, then values: (B, N, 3 H, head_dim)
        heads = self.qkv(x).unflatten(-1, (3 * self.heads, -1))
        qk, v = heads.split((2 * self.heads, self.heads), dim=2)
        if rotation is not None:
            qk = rotate(qk, *rotation)
        q, k = qk.transpose(1, 2).chunk(2, dim=1)  # (B, H, N, head_dim) each
        v = v.transpose(1, 2)  # (B, H, N, head_dim)
        mask = None if pad is None else ~pad[:, None, None, :]  # (B, 1, 1, N)
        if record is not None:
            record["attention"] = attention_weights(q, k, mask)
        out = attend(q, k, v, mask, self.dropout if self.training else 0.0)
        return self.out(out.transpose(1, 2).flatten(2))  # (B, N, E)


class FeedForward(nn.Module):
    """E -> ff -> E with SiLU and no biases. Dropout after the second layer (D12)."""

    def __init__(self, dim: int, hidden: int, dropout: float):
        super().__init__()
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(self.down(F.silu(self.up(x))))


class Head(nn.Sequential):
    """Dropout, norm, linear: E -> outputs; float32 even under autocast."""

    def __init__(self, dim: int, outputs: int, dropout: float):
        super().__init__(nn.Dropout(dropout), norm(dim), nn.Linear(dim, outputs))

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast(x.device.type, enabled=False):
            return super().forward(x.float())


def norm(dim: int) -> nn.RMSNorm:
    """RMSNorm with the authors' eps. It blows up the gradient of a zero token (D3)."""
    return nn.RMSNorm(dim, eps=1e-12)


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """Attention (Eq. 1) by whatever is fastest on the device: (B, H, N, head_dim).

    q, k, v (B, H, N, head_dim); mask (B, 1, 1, N), True where to look, or None.
    """
    if v.is_cpu and v.dtype == torch.bfloat16:  # PyTorch's kernel is slow there
        return F.dropout(attention_weights(q, k, mask).type_as(v), dropout) @ v
    if v.is_cuda and v.element_size() == 2 and v.shape[-1] % 8:
        return attend_in_eights(q, k, v, mask, dropout)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)


def attend_in_eights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """Attention with heads filled up with zeros to a multiple of 8 channels.

    CUDA's fast kernels want that in 16 bits, and the paper's heads have 60: PyTorch
    would fall back, silently, to one that keeps all N x N weights of every layer.
    """
    dim = v.shape[-1]
    q, k, v = (F.pad(x, (0, -dim % 8)) for x in (q, k, v))
    out = F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, dropout_p=dropout, scale=dim**-0.5
    )
    return out[..., :dim]


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(q k^T / sqrt(head_dim)) over the keys where mask is True (Eq. 1).

    q, k (B, H, N, head_dim), mask (B, 1, 1, N) or None -> (B, H, N, N) float32.
    """
    score = (q / math.sqrt(q.shape[-1]) @ k.mT).float()
    return (score if mask is None else score.masked_fill(~mask, -math.inf)).softmax(-1)


def join_pads(*parts: tuple[Tensor | None, Tensor]) -> Tensor | None:
    """Join pad masks (B, N_i) or None, each with its (B, N_i, D); None if all are."""
    if all(pad is None for pad, _ in parts):
        return None
    no = [at.new_zeros(at.shape[:2], dtype=torch.bool) for _, at in parts]
    pads = [no[i] if pad is None else pad for i, (pad, _) in enumerate(parts)]
    return torch.cat(pads, dim=1)


def initialise(model: nn.Module, init: str) -> None:
    """Draw the weights of linear layers anew, unless `init` is "torch" (D43)."""
    if init == "torch":
        return
    for name, layer in model.named_modules():
        spared = init == "body" and name.startswith("head.")
        if isinstance(layer, nn.Linear) and not spared:
            nn.init.trunc_normal_(layer.weight, std=0.02)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


# Sizes and configuration


@dataclass(frozen=True, kw_only=True)
class Size:
    """Width and depth of a stack of blocks (Table 8).

    Parameters
    ----------
    dim, heads, depth, ff : int
        E, the model dimension, a multiple of twice the attention heads; number of
        blocks; hidden width of the feed-forward part.
    """

    dim: int
    heads: int
    depth: int
    ff: int

    def __post_init__(self):
        for name, value in vars(self).items():
            checks.whole(name, value, 1)
        if self.dim % (even := 2 * self.heads):
            need = f"{self.heads} heads of an even size need a multiple of {even}"
            raise ValueError(f"dim is {self.dim}; {need}")

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
    """Look up a size of Table 8, or read one that is spelt out.

    Parameters
    ----------
    name : str
        "tiny-shallow", "tiny", "small", "base", "pendulum", or dim x heads x depth x
        ff.
    **changes : int
        Fields to change.

    Examples
    --------
    >>> size("96x4x3x384").depth
    3
    >>> size("tiny", dim=432) == size("432x3x12x720")
    True
    """
    checks.kind("size", name, str)
    if name in SIZES:
        return replace(SIZES[name], **changes)
    if not re.fullmatch(r"\d+x\d+x\d+x\d+", name):
        known = f"choose one of {', '.join(SIZES)}"
        raise ValueError(
            f"size is {name!r}; {known}, or spell it out: dim x heads x depth x ff"
        )
    dim, heads, depth, ff = map(int, name.split("x"))
    return replace(Size(dim=dim, heads=heads, depth=depth, ff=ff), **changes)


INITS = ("torch", "normal", "body")
RATE = real(lambda v: 0 <= v < 1, "lie in [0, 1)")


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Everything that shapes a model.

    Parameters
    ----------
    patch : int
        P, numbers in one token.
    axes : int
        D, dimensions of a position.
    encoder, decoder : Size
        By default "tiny" and "tiny-shallow"; the paper uses this decoder throughout.
    cls : bool
        Put a learned [CLS] token at position 0 of every axis.
    positions : PositionEncoding
        How attention learns of positions.
    dropout, attention_dropout, head_dropout : float
        After the feed-forward part; on the attention weights; before the head.
    drop_path : float
        Stochastic depth of the last block; grows linearly from 0 at the first.
    init : {"torch", "normal", "body"}
        How weights start: as PyTorch has them; from a normal of standard deviation
        0.02, with biases 0; or so in all layers but the head (D43).
    spread : bool
        Predict mean and log-variance, 2 P numbers a token (`split_mean_variance`).
    alone : bool
        Hidden tokens see visible ones only: no answer depends on what else is asked.
    """

    patch: int
    axes: int
    encoder: Size = SIZES["tiny"]
    decoder: Size = SIZES["tiny-shallow"]
    cls: bool = True
    positions: PositionEncoding = PositionEncoding()
    dropout: float = 0.0
    attention_dropout: float = 0.0
    head_dropout: float = 0.0
    drop_path: float = 0.0
    init: str = "torch"
    spread: bool = False
    alone: bool = False

    def __post_init__(self):
        checks.each(
            vars(self),
            patch=at_least(1), axes=at_least(1), encoder=a(Size), decoder=a(Size),
            dropout=RATE, attention_dropout=RATE, head_dropout=RATE, drop_path=RATE,
            init=one_of(*INITS), cls=a(bool), spread=a(bool), alone=a(bool),
            positions=a(PositionEncoding),
        )
        for name in ("encoder", "decoder"):
            stack = getattr(self, name)
            self.positions.check_stack(name, stack.dim, stack.head_dim, self.axes)


def device_of(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def count_parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def check_shapes(config: ModelConfig, tokens: Tokens, record: dict | None) -> None:
    """Refuse tokens that do not fit the model."""
    checks.each(locals(), tokens=a(Tokens), record=a(dict | None))
    for name, tensor in (("patch", tokens.values), ("axes", tokens.positions)):
        want, got = f"{name}={getattr(config, name)}", f"{name}={tensor.shape[-1]}"
        if got != want:
            raise ValueError(f"the model was built for {want}; these tokens have {got}")


# Losses


def reconstruction_loss(
    prediction: Tensor, target: Tensor, pad: Tensor | None
) -> Tensor:
    """Mean squared error over the tokens that are no padding (D5).

    prediction, target (B, M, P), pad (B, M) or None.
    """
    prediction = checks.tensor("prediction", prediction)
    target = checks.tensor("target", target)
    right = prediction.shape == target.shape and target.ndim == 3
    right = right and 0 not in target.shape
    checks.shapes(right, "both be (B, M, P)", prediction=prediction, target=target)
    error = (prediction.float() - target.float()).square().mean(-1)  # (B, M)
    if pad is None:
        return error.mean()
    pad = checks.tensor("pad", pad)
    right = pad.dtype == torch.bool and pad.shape == error.shape
    checks.shapes(right, f"be bool of shape {tuple(error.shape)}", pad=pad)
    return error.masked_fill(pad, 0).sum() / (~pad).sum()


def normalise(target: Tensor) -> Tensor:
    """Standardise each patch by itself, as MAE does (He et al., 2022): (B, M, P)."""
    correction = int(target.shape[-1] > 1)
    variance, mean = torch.var_mean(target, dim=-1, keepdim=True, correction=correction)
    return (target - mean) * (variance + 1e-6).rsqrt()


def split_mean_variance(prediction: Tensor) -> tuple[Tensor, Tensor]:
    """Split the output of a model with `spread` into mean and log-variance.

    (..., 2 P) -> (..., P) each; the latter is clamped to ±14, deviations of 1e-3 to
    1e3, so that no weight can run away.
    """
    mean, log_variance = prediction.chunk(2, dim=-1)
    return mean, log_variance.clamp(-14, 14)


def masked_loss(
    model: RoMAE, batch: Tokens, hidden: Tensor, loss: Callable = reconstruction_loss
) -> Tensor:
    """Loss of the hidden tokens (B, N) bool: what pre-training minimises.

    Batch and mask come from the host, where no GPU is waited for, and move to the
    model's device here.
    """
    checks.each(locals(), model=a(nn.Module), batch=a(Tokens), loss=a(Callable))
    where, device = split(hidden, batch.real), device_of(model)
    batch, where = batch.to(device), where.to(device)
    return loss(model(batch, where), take(batch.values, where.hidden), where.hidden_pad)


# Asking a model


@torch.no_grad()
def predict_hidden(
    model: RoMAE, tokens: Tokens, hidden: Tensor, batch: int = 250
) -> Tensor:
    """Predict the hidden tokens (n, N) bool of a data set, `batch` samples at a time.

    Returns (n, N, P or 2 P) float32 on the CPU, zero where nothing is hidden. The model
    is left in eval mode.
    """
    checks.each(locals(), model=a(nn.Module), tokens=a(Tokens), batch=at_least(1))
    hidden, rows = checks.tensor("hidden", hidden), tokens.values.shape[:2]
    right = hidden.shape == rows
    checks.shapes(right, f"be bool of shape {tuple(rows)}", hidden=hidden)
    model.eval()
    device, out = device_of(model), None
    for i in range(0, len(tokens), batch):
        part, hide = tokens[i : i + batch], hidden[i : i + batch].cpu()
        where = split(hide, part.real)
        answer = model(part.to(device), where.to(device)).float().cpu()  # (B, M, P)
        if out is None:
            out = torch.zeros(*rows, answer.shape[-1])
        pad = where.hidden_pad
        answer = answer.flatten(0, 1) if pad is None else answer[~pad]
        out[i : i + batch][hide & part.real.cpu()] = answer
    return out


def interpolate(model: RoMAE, tokens: Tokens, at: Tensor, batch: int = 250) -> Tensor:
    """Ask a model for values anywhere, given all real tokens of each sample.

    Positions asked together see one another, as hidden tokens do in training, unless
    the model was made with `alone`.

    Parameters
    ----------
    model : RoMAE
    tokens : Tokens
    at : Tensor or array of shape (M, D) or (B, M, D)
        Positions, as `tokens.positions`: the same for all samples, or each its own.
    batch : int
        Samples at a time.

    Returns
    -------
    Tensor of shape (B, M, P)
        float32, on the CPU; with `spread` (B, M, 2 P), logarithms of variances last.
    """
    checks.each(locals(), model=a(RoMAE), tokens=a(Tokens))
    tokens, at = tokens.to("cpu"), checks.tensor("at", at).double().cpu()
    b, n, axes = tokens.positions.shape
    right = at.ndim in (2, 3) and at.shape[:-2] in ((), (b,)) and at.shape[-2] > 0
    right = right and at.shape[-1] == axes
    checks.shapes(right, f"be (M, {axes}) or ({b}, M, {axes})", at=at)
    if not (at.abs() < 2**53).all():
        raise ValueError("at holds a position that is NaN, infinite or beyond 2^53")
    at = at.expand(b, -1, -1)  # (B, M, D)
    more = (0, at.shape[1])  # slots at the end
    whole = Tokens(
        values=F.pad(tokens.values, (0, 0, *more)),  # (B, N + M, P)
        positions=torch.cat((tokens.positions, at), dim=1),  # (B, N + M, D)
        pad=None if tokens.pad is None else F.pad(tokens.pad, more),
    )
    hidden = (torch.arange(n + more[1]) >= n).expand(b, -1)  # (B, N + M)
    modes = {m: m.training for m in model.modules()}  # a part may be frozen
    try:
        return predict_hidden(model, whole, hidden, batch)[:, n:]
    finally:
        for module, training in modes.items():
            module.training = training

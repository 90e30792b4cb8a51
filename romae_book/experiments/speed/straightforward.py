"""RoMAE written the way one writes it first: what the chapter on speed measures romae_lite against.

Same arithmetic, parameters and batches; no trick and no sabotage, each choice below is a common one: queries, keys and
values projected apart; angles computed in every layer, for queries and for keys; an attention mask that is always
passed, all zeros where nothing is padded; masks drawn sample by sample with `random.sample`; a DataLoader with worker
processes that collates sample by sample; `loss.item()` after every step; AdamW one tensor at a time.
"""

import math
import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from romae_lite.model import ModelConfig, RoMAE, Size
from romae_lite.tokens import Tokens


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int, p: float):
        super().__init__()
        self.heads, self.p = heads, p
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """x (B, H, N, head_dim), positions (B, N)."""
        pairs = x.shape[-1] // 2
        pair = torch.arange(pairs, dtype=torch.float64, device=x.device)
        theta = torch.where(pair < int(self.p * pairs), 10_000.0 ** (-pair / pairs), 0.0)
        angle = positions.double()[:, None, :, None] * theta  # (B, 1, N, pairs)
        cos, sin = angle.cos().float(), angle.sin().float()
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        b, n, dim = x.shape
        q, k, v = (w(x).view(b, n, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q, k = self.rotate(q, positions), self.rotate(k, positions)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, n, dim))


class Block(nn.Module):
    def __init__(self, size: Size, p: float):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(size.dim, eps=1e-12), nn.RMSNorm(size.dim, eps=1e-12)
        self.attention = Attention(size.dim, size.heads, p)
        self.w1, self.w2 = nn.Linear(size.dim, size.ff, bias=False), nn.Linear(size.ff, size.dim, bias=False)

    def forward(self, x: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), positions, mask)
        return x + self.w2(F.silu(self.w1(self.norm2(x))))


class Model(nn.Module):
    """Encoder on the visible tokens, decoder on all, head on the hidden ones. One axis, no [CLS]."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        p = config.positions.p
        self.embed = nn.Linear(config.patch, config.encoder.dim)
        self.encoder = nn.ModuleList(Block(config.encoder, p) for _ in range(config.encoder.depth))
        self.project = nn.Linear(config.encoder.dim, config.decoder.dim)
        self.mask_token = nn.Parameter(0.02 * torch.randn(config.decoder.dim))
        self.decoder = nn.ModuleList(Block(config.decoder, p) for _ in range(config.decoder.depth))
        self.norm = nn.RMSNorm(config.decoder.dim, eps=1e-12)
        self.head = nn.Linear(config.decoder.dim, config.patch)

    def forward(self, values, positions, visible_pad, hidden_pad) -> Tensor:
        """values (B, V, P), positions (B, V + M): visible tokens first; pads (B, V) and (B, M), True where padded."""
        x, v = self.embed(values), values.shape[1]
        mask = dense(visible_pad)
        for block in self.encoder:
            x = block(x, positions[:, :v], mask)
        x = self.project(x)
        x = torch.cat((x, self.mask_token.expand(len(x), hidden_pad.shape[1], -1)), dim=1)
        mask = dense(torch.cat((visible_pad, hidden_pad), dim=1))
        for block in self.decoder:
            x = block(x, positions, mask)
        return self.head(self.norm(x[:, v:]))

    def copy_from(self, ours: RoMAE) -> "Model":
        """Take over the weights of a romae_lite model."""
        self.load_state_dict(
            {
                "mask_token": ours.mask_token,
                **{f"embed.{k}": t for k, t in ours.encoder.embed.state_dict().items()},
                **{f"project.{k}": t for k, t in ours.project.state_dict().items()},
                **{f"norm.{k}": t for k, t in ours.head[1].state_dict().items()},
                **{f"head.{k}": t for k, t in ours.head[2].state_dict().items()},
                **_blocks("encoder", ours.encoder.stack.blocks),
                **_blocks("decoder", ours.decoder.blocks),
            }
        )
        return self


def _blocks(name: str, blocks) -> dict[str, Tensor]:
    out = {}
    for i, block in enumerate(blocks):
        q, k, v = block.attention.qkv.weight.chunk(3)
        out |= {
            f"{name}.{i}.norm1.weight": block.norm1.weight,
            f"{name}.{i}.norm2.weight": block.norm2.weight,
            f"{name}.{i}.attention.wq.weight": q,
            f"{name}.{i}.attention.wk.weight": k,
            f"{name}.{i}.attention.wv.weight": v,
            f"{name}.{i}.attention.wo.weight": block.attention.out.weight,
            f"{name}.{i}.w1.weight": block.ff.up.weight,
            f"{name}.{i}.w2.weight": block.ff.down.weight,
        }
    return out


def dense(pad: Tensor) -> Tensor:
    """pad (B, N) -> additive mask (B, 1, N, N), minus infinity on padded keys."""
    n = pad.shape[1]
    return torch.zeros(len(pad), 1, n, n, device=pad.device).masked_fill(pad[:, None, None, :], -math.inf)


class Samples(Dataset):
    """One sample at a time, masked with Python's random numbers."""

    def __init__(self, tokens: Tokens, ratio: float):
        self.tokens, self.ratio = tokens, ratio

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, i: int):
        real = self.tokens.real[i]
        values, positions = self.tokens.values[i][real], self.tokens.positions[i, :, 0][real]
        hidden = random.sample(range(len(values)), math.ceil(self.ratio * len(values) - 1e-9))
        mask = torch.zeros(len(values), dtype=torch.bool)
        for j in hidden:
            mask[j] = True
        return values[~mask], values[mask], positions[~mask], positions[mask]


def collate(samples):
    """Samples of different lengths, filled up in a loop."""

    def fill(rows):
        width = max(len(row) for row in rows)
        out = torch.zeros(len(rows), width, *rows[0].shape[1:], dtype=rows[0].dtype)
        pad = torch.ones(len(rows), width, dtype=torch.bool)
        for i, row in enumerate(rows):
            out[i, : len(row)] = row
            pad[i, : len(row)] = False
        return out, pad

    visible, hidden, at, hidden_at = zip(*samples, strict=True)
    (values, visible_pad), (target, hidden_pad) = fill(visible), fill(hidden)
    positions = torch.cat((fill(at)[0], fill(hidden_at)[0]), dim=1)
    return values, target, positions, visible_pad, hidden_pad


def train(model: Model, tokens: Tokens, recipe, ratio: float, workers: int, rate, clock) -> None:
    """Warm-up and cosine as `rate(step)` has it; `clock()` is called after every step."""
    device = next(model.parameters()).device
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=recipe.lr, betas=recipe.betas, weight_decay=recipe.weight_decay, foreach=False
    )
    loader = DataLoader(
        Samples(tokens, ratio), recipe.batch, shuffle=True, collate_fn=collate, num_workers=workers,
        persistent_workers=workers > 0,
    )
    step, losses = 0, []
    model.train()
    for _ in range(recipe.epochs):
        for batch in loader:
            values, target, positions, visible_pad, hidden_pad = (t.to(device) for t in batch)
            for group in optimizer.param_groups:
                group["lr"] = rate(step)
            prediction = model(values, positions, visible_pad, hidden_pad)
            error = (prediction - target).square().mean(-1)
            loss = (error * ~hidden_pad).sum() / (~hidden_pad).sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            optimizer.step()
            losses.append(loss.item())
            step += 1
            clock()

"""GRU-D (Che et al., 2018): a recurrent network for irregular series, the rival of those who do not use attention.

Between two points the state and the last value of each band decay towards nothing, at rates that are learnt. Ours is
small; it has the authors' decay of inputs and of the state, and reads the error and the numbers of the object as well.
"""

import torch
from torch import Tensor, nn

from romae_lite.tokens import Tokens


class GRUD(nn.Module):
    """Tokens of light curves -> logits (B, K). Values are deviation, log error, and facts of the object; positions are
    band and time. hidden: channels of the state."""

    def __init__(self, bands: int, values: int, classes: int, hidden: int = 64):
        super().__init__()
        self.bands = bands
        self.value_decay = nn.Parameter(torch.zeros(2, bands))  # a rate and an offset for each band
        self.state_decay = nn.Linear(bands, hidden)
        self.cell = nn.GRUCell(2 * bands + values - 1, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, tokens: Tokens) -> Tensor:
        seen, last, gap = observed(tokens, self.bands)  # (B, N, bands) each
        since = gap.clamp(min=0).log1p()
        rate, offset = self.value_decay
        kept = torch.exp(-torch.relu(rate * since + offset))
        value = torch.where(seen, tokens.values[..., :1], kept * last)  # the mean over a survey is near 0
        inputs = torch.cat((value, seen.to(value), tokens.values[..., 1:]), -1)  # (B, N, 2 bands + V - 1)
        decay = torch.exp(-torch.relu(self.state_decay(since)))  # (B, N, hidden)
        state = decay.new_zeros(decay.shape[0], decay.shape[2])
        for x, keep, real in zip(inputs.unbind(1), decay.unbind(1), tokens.real.unbind(1), strict=True):
            state = torch.where(real[:, None], self.cell(x, keep * state), state)
        return self.head(state)


def observed(tokens: Tokens, bands: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of every point (B, N), which comes in the order of time, and every band: whether it is of that band; the last
    value in it before (0 without one); and the time since (since the first point of all without one)."""
    band, time = tokens.positions[..., 0].long(), tokens.positions[..., 1]
    seen = torch.nn.functional.one_hot(band, bands).bool() & tokens.real[..., None]  # (B, N, bands)
    number = torch.arange(band.shape[1], device=band.device)[:, None]
    latest = torch.where(seen, number, -1).cummax(1).values  # (B, N, bands), this point included
    before = torch.cat((latest.new_full(latest[:, :1].shape, -1), latest[:, :-1]), 1)
    at = before.clamp(min=0)
    known = before >= 0
    rows = torch.arange(band.shape[0], device=band.device)[:, None, None]
    last = torch.where(known, tokens.values[..., 0][rows, at], 0.0)
    gap = time[..., None] - torch.where(known, time[rows, at], time[:, :1, None])
    return seen, last, gap.to(tokens.values.dtype)

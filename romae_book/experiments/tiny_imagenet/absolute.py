"""The absolute position encoding of the authors' code, which Table 2 compares RoPE with (deviation D47)."""

import torch
from torch import Tensor

from romae_lite.masking import Split, take
from romae_lite.model import ModelConfig, RoMAE, check_shapes
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens


class AuthorsAbsolute(RoMAE):
    """A masked autoencoder that knows patches by their number in the sequence, as the authors' code does.

    [CLS] has code 0 and patch k, the encoder says, code k + 1. For the decoder a hidden patch k has code k, so that it
    shares one with a visible neighbour, and the visible ones have none: they bring what the encoder has added.
    """

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.decoder.encoding = PositionEncoding(kind="none")  # codes are added to the mask tokens below

    def forward(
        self, tokens: Tokens, where: Split, record: dict | None = None
    ) -> Tensor:
        """Predicted values of the hidden tokens, (B, M, P). tokens.positions (B, N, 1):
        k + 1."""
        check_shapes(self.config, tokens, record)
        seen = (take(x, where.visible) for x in (tokens.values, tokens.positions))
        x, positions, _ = self.encoder(*seen, None, record)
        hidden = take(tokens.positions, where.hidden)  # (B, M, 1)
        width = self.config.decoder.dim
        code = self.config.positions.embedding(hidden - 1, width)  # (B, M, E)
        x = (self.project(x).float(), self.mask_token + code)
        x = torch.cat(x, dim=1)  # (B, V' + M, E)
        positions = torch.cat((positions, hidden), dim=1)
        x = self.decoder(x, positions, None, record, "decoder")
        return self.head(x[:, -hidden.shape[1] :])

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

    def forward(self, tokens: Tokens, where: Split, record: dict | None = None) -> Tensor:
        """Predicted values of the hidden tokens, (B, M, P). tokens.positions (B, N, 1): k + 1."""
        check_shapes(self.config, tokens, record)
        x, positions, _ = self.encoder(
            take(tokens.values, where.visible), take(tokens.positions, where.visible), None, record
        )
        hidden = take(tokens.positions, where.hidden)  # (B, M, 1)
        code = self.config.positions.embedding(hidden - 1, self.config.decoder.dim)  # (B, M, E)
        x = torch.cat((self.project(x).float(), self.mask_token + code), dim=1)  # (B, V' + M, E)
        x = self.decoder(x, torch.cat((positions, hidden), dim=1), None, record, "decoder")
        return self.head(x[:, -hidden.shape[1] :])

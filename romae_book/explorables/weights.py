"""A trained model on its way into a page: packed here, run there by romae.js, unpacked again for the still pictures."""

import base64
import math
from collections.abc import Iterable

import numpy as np
import torch

from romae_lite.masking import split
from romae_lite.model import ModelConfig, RoMAE, Size
from romae_lite.rope import PositionEncoding
from romae_lite.tokens import Tokens


def packed(model: RoMAE) -> dict:
    """A model as JSON: its settings, the names and shapes of its weights, and these as base64 of float16.

    ValueError for a model that is not plain continuous RoPE, or whose weights float16 cannot hold.
    """
    config = model.config
    if config.positions.kind != "rope":
        raise ValueError(f"the model's positions are {config.positions.kind!r}; the page computes 'rope' only")
    weights = {name: w.detach().cpu().half() for name, w in model.state_dict().items()}
    for name, w in weights.items():
        if not w.isfinite().all():
            raise ValueError(f"{name} holds values that are not finite in half precision")
    raw = np.concatenate([w.numpy().ravel() for w in weights.values()]).astype("<f2").tobytes()
    return {
        "patch": config.patch, "axes": config.axes, "cls": config.cls,
        "p": config.positions.p, "base": config.positions.base,
        "encoder": vars(config.encoder), "decoder": vars(config.decoder),
        "names": [[name, list(w.shape)] for name, w in weights.items()], "weights": base64.b64encode(raw).decode(),
        **({"spread": True} if config.spread else {}), **({"alone": True} if config.alone else {}),
    }


def in_bytes(model: torch.nn.Module) -> dict:
    """Weights with a signed byte each, and how much a step is in each of them: half of what `packed` takes.

    ValueError for weights that are not finite."""
    names, parts = [], []
    for name, w in model.state_dict().items():
        w = w.detach().cpu().double().numpy()
        if not np.isfinite(w).all():
            raise ValueError(f"{name} holds values that are not finite")
        step = float(np.abs(w).max()) / 127 or 1.0
        names.append([name, list(w.shape), step])
        parts.append(np.rint(w / step).astype(np.int8).tobytes())
    return {"names": names, "bytes": base64.b64encode(b"".join(parts)).decode()}


def packed_in_bytes(model: RoMAE) -> dict:
    """`packed`, with the weights of `in_bytes`."""
    return {name: part for name, part in packed(model).items() if name != "weights"} | in_bytes(model)


def of_bytes(data: dict, model: torch.nn.Module) -> torch.nn.Module:
    """The model with the weights of `in_bytes`, in place: what the page computes with."""
    raw, start, state = np.frombuffer(base64.b64decode(data["bytes"]), np.int8), 0, {}
    for name, shape, step in data["names"]:
        part = raw[start : start + math.prod(shape)].reshape(shape)
        state[name], start = torch.from_numpy(part * step).float(), start + part.size
    model.load_state_dict(state)
    return model.eval()


def unpacked(data: dict) -> RoMAE:
    """The model of `packed`, in the precision that it travelled with."""
    model = RoMAE(
        ModelConfig(
            patch=data["patch"], axes=data["axes"], encoder=Size(**data["encoder"]), decoder=Size(**data["decoder"]),
            cls=data["cls"], positions=PositionEncoding(p=data["p"], base=data["base"]),
            spread=data.get("spread", False), alone=data.get("alone", False),
        )
    )
    raw, start, state = np.frombuffer(base64.b64decode(data["weights"]), "<f2").astype(np.float32), 0, {}
    for name, shape in data["names"]:
        state[name] = torch.from_numpy(raw[start : start + math.prod(shape)].reshape(shape))
        start += math.prod(shape)
    model.load_state_dict(state)
    return model.eval()


@torch.no_grad()
def predicted(data: dict, values: np.ndarray, positions: np.ndarray, hidden: Iterable[int]) -> np.ndarray:
    """What the page computes: predictions (M, P), or (M, 2 P) with spread, for the hidden ones of N tokens, in order.
    values (N, P), positions (N, D)."""
    tokens = Tokens(
        values=torch.tensor(values, dtype=torch.float32)[None],
        positions=torch.tensor(positions, dtype=torch.float64)[None],
    )
    mask = torch.zeros(1, len(values), dtype=torch.bool)
    mask[0, list(hidden)] = True
    return unpacked(data)(tokens, split(mask, tokens.real))[0].double().numpy()

"""What a run keeps beside its record, for figures."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from romae_lite.tokens import Tokens
from romae_lite.training import seeded

from ..base import Experiment, Splits
from . import rivals as predictors
from .data import STEPS, grey


def recorded(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for figures.

    by_share (10,), by_number (100,)  mse by the share of the picture left (tenths; nan where none) and by frame
    mse_shuffled mse where the frames, their times with them, come in another order
    mse_half     mse where only every other of the kept frames is shown
    mse_later    mse where all frames are said to come 20 steps later
    frames (4, N, 576) uint8, numbers, share (4, N), angles (4, 100), prediction, kalman (4, N, 2): four test clips
    shuffled, later (4, N, 2), half, kalman_half (4, ceil(N / 2), 2): what is said of these, frame by frame
    """
    test = data.test
    prediction, target = exp.predict(model, test), test.aux["target"].double().numpy()
    square = ((prediction - target) ** 2).mean(-1)  # (n, N)
    number = (test.positions[..., 0] / exp.position_scale).round().long().numpy()
    tenth = np.minimum((test.aux["share"].numpy() * 10).astype(int), 9)
    order = torch.randperm(exp.keep_frames, generator=seeded(0, 8))
    worlds = {
        "shuffled": _frames(exp, test, order),
        "half": _frames(exp, test, slice(None, None, 2)),
        "later": replace(test, positions=test.positions + 20 * exp.position_scale),
    }
    answers = {name: exp.predict(model, clips) for name, clips in worlds.items()}
    errors = {f"mse_{name}": np.float64(exp.score(answers[name], clips)["mse"]) for name, clips in worlds.items()}
    answers["shuffled"] = answers["shuffled"][:, order.argsort()]  # in the order of the frames again
    few = slice(0, 4)
    frames = grey(test[few])
    return errors | {name: answer[few].astype(np.float32) for name, answer in answers.items()} | {
        "by_share": _means(square, tenth, 10), "by_number": _means(square, number, STEPS),
        "frames": frames.astype(np.uint8), "numbers": number[few].astype(np.int8),
        "share": test.aux["share"][few].numpy(), "angles": test.aux["angles"][few].numpy(),
        "prediction": prediction[few].astype(np.float32),
        "kalman": predictors.kalman(frames, number[few]).astype(np.float32),
        "kalman_half": predictors.kalman(frames[:, ::2], number[few, ::2]).astype(np.float32),
    }


def _frames(exp: Experiment, clips: Tokens, which: torch.Tensor | slice) -> Tokens:
    """The same clips with some of their kept frames, or all of them in another order."""
    return clips._map(lambda t: t[:, which] if t.ndim > 1 and t.shape[1] == exp.keep_frames else t)


def _means(value: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Mean of value within each group, nan where it is empty: (groups,)."""
    count = np.bincount(group.ravel(), minlength=groups)
    total = np.bincount(group.ravel(), value.ravel(), groups)
    return np.divide(total, count, out=np.full(groups, np.nan), where=count > 0)

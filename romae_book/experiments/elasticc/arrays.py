"""What a run keeps beside its record, for figures."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn

from romae_lite.batching import trim

from ..base import Experiment, Splits

SHOWN = ("SN Ia-like", "SN II-like", "TDE-like", "KN-like", "uLens-like", "AGN-like", "RR Lyrae-like", "EB-like")
CUTS = 20  # moments of each of those at which the model is asked


def recorded(exp: Experiment, model: nn.Module, data: Splits) -> dict[str, np.ndarray]:
    """What a run keeps for it: light curves, and the model's answer for every set of bands at several moments.

    For each class in SHOWN (else the first eight there are) the test light curve with more detections than four
    fifths of its class have, one after the other with `start` (S + 1,) between them: day (since the first
    detection), band, value (M, 2) as the model sees it, seen (M,) whether it is a detection. kind (S,) the class;
    cuts (S, C) days; answer (S, C, 64, K) probabilities times 255: bit b of the third index is set where band b is
    looked at. All zero where nothing has been seen.
    """
    test = data.test
    label, real = test.aux["label"].cpu(), test.real.cpu()
    detections = (test.aux["detected"].cpu() & real).sum(1)
    wanted = [exp.names.index(name) for name in SHOWN if name in exp.names] or label.unique()[:8].tolist()
    found: dict[str, list] = {key: [] for key in ("day", "band", "value", "seen", "kind", "cuts", "answer")}
    for kind in wanted:
        mine = torch.where(label == kind)[0]
        if not len(mine):
            continue
        one = mine[detections[mine].argsort(stable=True)[4 * len(mine) // 5]]
        one = trim(test[one : one + 1])
        day = ((one.positions[0, :, 1] - one.aux["detection"][0]) / exp.position_scale).cpu()
        band = one.positions[0, :, 0].long().cpu()
        after = torch.unique(day[day >= 0])
        cuts = after[torch.linspace(0, len(after) - 1, CUTS).round().long()]
        looked = (torch.arange(64)[:, None] >> band) & 1 > 0  # (64, N)
        known = looked & (day <= cuts[:, None] + 1e-9)[:, None]  # (C, 64, N)
        known = known.flatten(0, 1)
        some = known.any(1)
        answer = torch.zeros(len(known), exp.classes)
        if some.any():
            several = one[torch.zeros(int(some.sum()), dtype=torch.long)]
            answer[some] = exp.logits(model, replace(several, pad=~known[some].to(one.device))).softmax(1)
        for key, value in (
            ("day", day.numpy().astype(np.float32)), ("band", band.numpy().astype(np.int8)),
            ("value", one.values[0].cpu().numpy()), ("seen", one.aux["detected"][0].cpu().numpy()),
            ("kind", kind), ("cuts", cuts.numpy().astype(np.float32)),
            ("answer", (answer * 255).round().byte().reshape(CUTS, 64, -1).numpy()),
        ):
            found[key].append(value)
    flat = {key: np.concatenate(found[key]) for key in ("day", "band", "value", "seen")}
    stacked = {key: np.stack(found[key]) for key in ("kind", "cuts", "answer")}
    return flat | stacked | {"start": np.cumsum([0, *map(len, found["day"])])}

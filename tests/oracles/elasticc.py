"""What the page of `elasticc` computes, again in Python."""

import base64
from collections.abc import Sequence

import numpy as np


def probabilities(data: dict, which: int, step: int, bands: Sequence[int]) -> np.ndarray:
    """(K,) what the model says of an object at a step, from the bands with these indices; zeros where nothing has been
    seen. The page shows the same numbers."""
    chosen = data["objects"][which]
    answer = np.frombuffer(base64.b64decode(chosen["answer"]), np.uint8)
    answer = answer.reshape(len(chosen["cuts"]), 64, len(data["names"]))[step, sum(1 << b for b in bands)] / 255
    return answer / max(answer.sum(), 1e-9)

"""What series are classified by without a network of our own: the commonest class, and MiniRocket with a ridge."""

import numpy as np

from romae_lite.tokens import Tokens

from ..machine import keep_threads


def majority(train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of always naming the commonest class of the training set. train, test: classes (n,), (m,)."""
    return float(np.mean(test == np.bincount(train).argmax()))


def on_grid(tokens: Tokens, length: int) -> np.ndarray:
    """Series back on every step 0 .. length - 1: (n, C, length) float64. Straight lines across dropped steps; before
    the first and after the last step there is, its value."""
    values, positions, real = (t.cpu().numpy() for t in (tokens.values, tokens.positions[..., 0], tokens.real))
    out = np.empty((len(values), values.shape[2], length))
    for i, there in enumerate(real):
        for c in range(values.shape[2]):
            out[i, c] = np.interp(np.arange(length), positions[i][there], values[i][there, c])
    return out


def minirocket(train: Tokens, test: Tokens, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the test series, by aeon's MiniRocketClassifier (Dempster et al., 2021): the shares of steps at
    which 10,000 convolutions exceed their bias, and a ridge classifier whose penalty is chosen by leave-one-out on the
    training set. ImportError without aeon."""
    from aeon.classification.convolution_based import MiniRocketClassifier

    length = max(int(t.positions.max()) for t in (train, test)) + 1
    model = MiniRocketClassifier(random_state=seed)
    with keep_threads():
        model.fit(on_grid(train, length), train.aux["label"].numpy())
        return model.predict(on_grid(test, length))

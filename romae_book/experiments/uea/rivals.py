"""What series are classified by without a network of our own: the commonest class, boosted trees on simple statistics
of the values or on the times alone, and MiniRocket with a ridge."""

import numpy as np

from romae_lite.tokens import Tokens

from ..machine import keep_threads
from ..trees import boosted


def majority(train: np.ndarray, test: np.ndarray) -> float:
    """Accuracy of always naming the commonest class of the training set. train, test: classes (n,), (m,)."""
    return float(np.mean(test == np.bincount(train).argmax()))


def trees(train: Tokens, test: Tokens, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the test series by boosted trees on `statistics`."""
    return boosted(statistics(train), train.aux["label"].numpy(), statistics(test), seed)


def times(train: Tokens, test: Tokens, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the test series by boosted trees on `sampling`: how far the times alone give a class away."""
    return boosted(sampling(train), train.aux["label"].numpy(), sampling(test), seed)


def statistics(tokens: Tokens) -> np.ndarray:
    """Of each channel, in the order of the steps: mean, deviation, least, quartiles, greatest, and mean absolute step
    to the next value. (n, 8 C)."""
    rows = []
    for values, real in zip(tokens.values.double().numpy(), tokens.real.numpy(), strict=True):
        v = values[real]  # (N, C)
        jump = np.abs(np.diff(v, axis=0)).mean(0) if len(v) > 1 else np.zeros(v.shape[1])
        rows.append(np.concatenate((v.mean(0), v.std(0), *np.quantile(v, (0, 0.25, 0.5, 0.75, 1), axis=0), jump)))
    return np.stack(rows)


def sampling(tokens: Tokens) -> np.ndarray:
    """What is left where the values are taken away: number, first, last, mean, deviation, longest gap. (n, 6)"""
    rows = []
    for positions, real in zip(tokens.positions[..., 0].numpy(), tokens.real.numpy(), strict=True):
        t = positions[real]
        gap = np.diff(t).max() if len(t) > 1 else 0.0
        rows.append((len(t), t[0], t[-1], t.mean(), t.std(), gap))
    return np.array(rows)


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

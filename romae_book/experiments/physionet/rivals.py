"""Predictors of the hidden values of a record from its visible ones, channel by channel.

The first three take a whole data set and the mask (n, N) bool of hidden values, and return (n, N) standardised
predictions; where a channel has no visible value in a record, all of them say zero, the mean of the training set.
`boosted` learns from other records.
"""

from collections.abc import Callable

import numpy as np

from romae_lite.tokens import Tokens

from .data import CHANNELS


def mean(tokens: Tokens, hidden: np.ndarray) -> np.ndarray:
    """The channel's mean over the training set, whatever the patient."""
    return np.zeros(hidden.shape)


def last(tokens: Tokens, hidden: np.ndarray) -> np.ndarray:
    """The channel's last visible value carried forward; before the first one, the first one."""
    return _by_channel(tokens, hidden, lambda t, v, at: v[np.maximum(np.searchsorted(t, at, side="right") - 1, 0)])


def linear(tokens: Tokens, hidden: np.ndarray) -> np.ndarray:
    """Straight lines between the channel's visible values; beyond them the nearest."""
    return _by_channel(tokens, hidden, lambda t, v, at: np.interp(at, t, v))


def _by_channel(tokens: Tokens, hidden: np.ndarray, guess: Callable) -> np.ndarray:
    """Applies guess(times, values, times asked for) to every channel of every record that has a visible value."""
    out = np.zeros(hidden.shape)
    real = tokens.real.cpu().numpy()
    values, time, channel = _arrays(tokens)
    for i in range(len(out)):
        for c in np.unique(channel[i][hidden[i]]):
            mine = real[i] & (channel[i] == c)
            seen, asked = mine & ~hidden[i], mine & hidden[i]
            if seen.any():
                out[i, asked] = guess(time[i][seen], values[i][seen], time[i][asked])  # tokens are in order of time
    return out


def boosted(train: tuple[Tokens, np.ndarray], test: tuple[Tokens, np.ndarray], seed: int = 0) -> np.ndarray:
    """Gradient-boosted trees (scikit-learn) on `features` of the visible values, fitted to the hidden values of the
    training records. train, test: tokens and their mask. ImportError without scikit-learn."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    x, y = features(*train)
    varies = [bool((column > np.fmin.reduce(column)).any()) for column in x.T]  # the library refuses constant columns
    trees = HistGradientBoostingRegressor(
        max_iter=100, max_leaf_nodes=63, early_stopping=False, categorical_features=[0], random_state=seed
    ).fit(x[:, varies], y)
    out = np.zeros(test[1].shape)
    out[test[1]] = trees.predict(features(*test)[0][:, varies])
    return out


def features(tokens: Tokens, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the trees see of each hidden value, in the order of tokens.values[hidden]: x (M, 7 + 41), y (M,).

    Channel and time; the channel's last and next visible value and how far they are; its mean over the visible values;
    and for each channel the visible value that is nearest in time. NaN where there is none.
    """
    real = tokens.real.cpu().numpy()
    values, time, channel = _arrays(tokens)
    found = []
    for i in range(len(hidden)):
        asked = np.flatnonzero(hidden[i])
        t, c = time[i][asked], channel[i][asked]
        x = np.full((len(asked), 7 + len(CHANNELS)), np.nan, np.float32)
        x[:, 0], x[:, 1] = c, t
        for k in np.unique(channel[i][real[i] & ~hidden[i]]):
            seen = real[i] & ~hidden[i] & (channel[i] == k)
            times, v = time[i][seen], values[i][seen]
            after = np.searchsorted(times, t)
            left, right = np.maximum(after - 1, 0), np.minimum(after, len(times) - 1)
            nearest = np.where(np.abs(times[left] - t) <= np.abs(times[right] - t), left, right)
            x[:, 7 + k] = v[nearest]
            own = c == k
            x[own, 6] = v.mean()
            for at, column, there in ((left, 2, after > 0), (right, 4, after < len(times))):
                x[own & there, column] = v[at][own & there]
                x[own & there, column + 1] = np.abs(times[at] - t)[own & there]
        found.append(x)
    return np.concatenate(found), values[hidden]


def _arrays(tokens: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    positions = tokens.positions.cpu().numpy()
    return tokens.values[..., 0].cpu().double().numpy(), positions[..., 0], positions[..., 1].astype(int)

"""What a classifier of light curves has to beat: the most frequent class, and a random forest on hand-made features."""

import numpy as np

from romae_lite.tokens import Tokens

from .data import BANDS, fluxes


def majority(train: Tokens, test: Tokens) -> np.ndarray:
    """The most frequent class of the training set, for everybody: (n,)."""
    return np.full(len(test), np.bincount(train.aux["label"].cpu().numpy()).argmax())


def forest(train: Tokens, test: Tokens, scaling: str = "none", spread: str = "error") -> np.ndarray:
    """A random forest of 300 trees (scikit-learn) on `features`, classes weighted alike: (n,) classes. scaling and
    spread say how the tokens' fluxes were made. ImportError without scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(300, min_samples_leaf=2, class_weight="balanced", random_state=0, n_jobs=1)
    model.fit(features(train, scaling, spread), train.aux["label"].cpu().numpy())
    return model.predict(features(test, scaling, spread))


def features(tokens: Tokens, scaling: str = "none", spread: str = "error") -> np.ndarray:
    """(n, 109) float32. What astronomers compute by hand, but for the period, which would need a periodogram.

    In each of the six bands, and in all together: visits, and the share of them with a detection; then, of the flux
    differences and of the inverse hyperbolic sine of them over their errors: mean, standard deviation, skewness, lowest
    and highest, and the mean of successive squared differences over the variance (small for smooth curves). Colours:
    differences of neighbouring bands' highest, of both. The time from the first to the last detection.
    """
    real, band = tokens.real.cpu().numpy(), tokens.positions[..., 0].cpu().numpy()
    time, detected = tokens.positions[..., 1].cpu().numpy(), tokens.aux["detected"].cpu().numpy()
    flux, error = (x.cpu().numpy() for x in fluxes(tokens, scaling, spread))
    groups = [real & (band == b) for b in range(len(BANDS))]
    columns = []
    for group in (*groups, real):
        count = group.sum(1)
        columns += [count, (detected & group).sum(1) / np.maximum(count, 1)]
    for value in (flux, np.arcsinh(flux / error)):
        each = [_statistics(value, group) for group in (*groups, real)]
        highest = [statistics[4] for statistics in each[: len(BANDS)]]
        columns += [column for statistics in each for column in statistics]
        columns += [high - low for low, high in zip(highest, highest[1:], strict=False)]
    last, first = (np.where(detected, time, fill) for fill in (-np.inf, np.inf))
    columns.append(np.maximum(last.max(1) - first.min(1), 0))
    return np.stack(columns, 1).astype(np.float32)


def _statistics(flux: np.ndarray, group: np.ndarray) -> list[np.ndarray]:
    """Six numbers of the visits in `group` (n, N); zeros where there are none."""
    count = group.sum(1)
    some = np.maximum(count, 1)
    mean = (flux * group).sum(1) / some
    rest = (flux - mean[:, None]) * group
    variance = (rest**2).sum(1) / some
    safe = np.maximum(variance, 1e-12)
    order = np.argsort(~group, axis=1, kind="stable")  # the group's visits first, in time
    ordered = np.take_along_axis(flux, order, 1)
    pairs = np.arange(1, flux.shape[1]) < count[:, None]
    jumps = ((np.diff(ordered, axis=1) ** 2) * pairs).sum(1) / np.maximum(count - 1, 1)
    low, high = (
        np.where(count > 0, f(np.where(group, flux, fill), 1), 0) for f, fill in ((np.min, np.inf), (np.max, -np.inf))
    )
    return [mean, np.sqrt(variance), (rest**3).sum(1) / some / safe**1.5, low, high, jumps / safe]

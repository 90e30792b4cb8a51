"""Who else can tell light curves apart: boosted trees on hand-made features, MiniRocket, and the null predictors.

`linear` is for RoMAE's own embedding.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .data import Curves

# (leaves of LightGBM, or 0 for none; exponent of the class shares in the weights; whether ExtraTrees are averaged in)
SETTINGS = ((7, -1.0, False), (31, -1.0, False), (15, -0.5, False), (7, -1.0, True), (31, -1.0, True), (15, -0.5, True),
            (0, -1.0, True))
# (scikit-learn's C, the inverse of the penalty; exponent of the class shares in the weights)
LINEAR = ((0.03, -1.0), (0.03, -0.5), (0.03, 0.0), (0.3, -1.0), (0.3, -0.5), (0.3, 0.0), (3.0, -0.5))


def trees(
    train: np.ndarray, label: np.ndarray, test: np.ndarray, classes: int, seed: int,
    settings: Sequence[tuple] = SETTINGS, group: np.ndarray | None = None,
) -> tuple[np.ndarray, dict]:
    """LightGBM and ExtraTrees on features: probabilities (n, K) of the test set, and what was chosen.

    Settings are chosen by macro F1 on a fifth of the training set (whole groups, where there are any), and fitted again
    on all of it. Below 100 samples or above five classes ExtraTrees alone are used, as trials elsewhere advise.
    """
    if len(label) < 100 or classes > 5:
        settings = [one for one in settings if one[0] == 0]
    chosen, trials = _chosen(_boosted, settings, train, label, classes, seed, group)
    return _boosted(train, label, test, classes, seed, chosen), {"setting": chosen, "trials": trials}


def _chosen(
    fit: Callable, settings: Sequence[tuple], x: np.ndarray, y: np.ndarray, classes: int, seed: int,
    group: np.ndarray | None,
) -> tuple[tuple, int]:
    """The setting with the best macro F1 on a part of the training set that is held out, and how many were tried."""
    if len(settings) == 1:
        return settings[0], 0
    held = hold_out(y, seed, group)
    answers = (fit(x[~held], y[~held], x[held], classes, seed, one) for one in settings)
    scores = [macro_f1(y[held], p.argmax(1), classes) for p in answers]
    return settings[int(np.argmax(scores))], len(scores)


def hold_out(label: np.ndarray, seed: int, group: np.ndarray | None) -> np.ndarray:
    """(n,) bool: a fifth of every class, or of the groups."""
    rng, held = np.random.default_rng(seed), np.zeros(len(label), bool)
    if group is not None:
        names = np.unique(group)
        return np.isin(group, rng.permutation(names)[: max(1, round(len(names) / 5))])
    for k in np.unique(label):
        mine = rng.permutation(np.flatnonzero(label == k))
        held[mine[: len(mine) // 5]] = True
    return held


def _boosted(x: np.ndarray, y: np.ndarray, test: np.ndarray, classes: int, seed: int, setting: tuple) -> np.ndarray:
    from sklearn.ensemble import ExtraTreesClassifier

    leaves, exponent, extra = setting
    share = np.bincount(y, minlength=classes) / len(y)
    weight = share[y] ** exponent
    answers = []
    if leaves:
        import lightgbm

        model = lightgbm.LGBMClassifier(
            n_estimators=200, num_leaves=leaves, learning_rate=0.05, subsample=0.8, subsample_freq=1,
            colsample_bytree=0.5, min_child_samples=10, random_state=seed, n_jobs=1, verbose=-1,
        ).fit(x, y, sample_weight=weight)
        answers.append(_all_classes(model, test, classes))
    if extra:
        middle = np.nan_to_num(np.nanmedian(x, 0))
        filled = lambda a: np.clip(np.where(np.isnan(a), middle, a), -1e30, 1e30)  # noqa: E731
        model = ExtraTreesClassifier(250, class_weight="balanced", random_state=seed, n_jobs=1, min_samples_leaf=1)
        answers.append(_all_classes(model.fit(filled(x), y), filled(test), classes))
    return np.mean(answers, 0)


def _all_classes(model, x: np.ndarray, classes: int) -> np.ndarray:
    """Probabilities (n, K), 0 for a class that training did not have."""
    out = np.zeros((len(x), classes))
    out[:, model.classes_] = model.predict_proba(x)
    return out


def linear(
    train: np.ndarray, label: np.ndarray, test: np.ndarray, classes: int, seed: int = 0,
    settings: Sequence[tuple] = LINEAR[:1], group: np.ndarray | None = None,
) -> np.ndarray:
    """Probabilities (n, K) of the test set by logistic regression. Settings are chosen as those of the trees; of few
    labels, where there is nothing to choose on, there is one, set beforehand."""
    chosen, _ = _chosen(_logistic, settings, train, label, classes, seed, group)
    return _logistic(train, label, test, classes, seed, chosen)


def _logistic(x: np.ndarray, y: np.ndarray, test: np.ndarray, classes: int, seed: int, setting: tuple) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    c, exponent = setting
    weight = (np.bincount(y)[y] / len(y)) ** exponent
    model = LogisticRegression(C=c, max_iter=2000, random_state=seed).fit(x, y, sample_weight=weight / weight.mean())
    return _all_classes(model, test, classes)


def minirocket(
    train: Curves, test: Curves, about_train: np.ndarray, about_test: np.ndarray, seed: int, steps: int = 128
) -> np.ndarray:
    """Probabilities (n, K) of the test set by MiniRocket on curves interpolated at equal steps, scaled by object, and a
    ridge classifier (0 or 1), in which every class counts alike.

    about_train, about_test: (n, F), numbers of the whole object that scaling takes away. Among ten thousand features
    they would drown, so they count for ten each, and their squares as well: chosen by cross-validation on training
    sets of EROS-1 and SPCC.
    """
    from aeon.transformations.collection.convolution_based import MiniRocket
    from sklearn.linear_model import RidgeClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    kernels = make_pipeline(MiniRocket(random_state=seed, n_jobs=1), StandardScaler(with_mean=False))
    facts = StandardScaler()

    def beside(found: np.ndarray, facts: np.ndarray) -> np.ndarray:
        return np.hstack((found, 10 * facts, 10 * facts**2))

    x = beside(kernels.fit_transform(gridded(train, steps)), facts.fit_transform(about_train))
    y = beside(kernels.transform(gridded(test, steps)), facts.transform(about_test))
    model = RidgeClassifierCV(alphas=np.logspace(-3, 4, 10), class_weight="balanced").fit(x, train.label)
    return np.eye(len(train.classes))[model.predict(y)]


def gridded(curves: Curves, steps: int) -> np.ndarray:
    """(n, bands, steps): straight lines between the points of a band, over each object's own span, in units of the
    object's median and spread; 0 where a band has none."""
    out = np.zeros((len(curves), len(curves.bands), steps))
    for i in range(len(curves)):
        part = curves.points(i)
        t, y, b = (getattr(curves, name)[part] for name in ("time", "value", "band"))
        grid, middle = np.linspace(t[0], t[-1], steps), np.median(y)
        spread = np.subtract(*np.quantile(y, (0.9, 0.1))) + 1e-9
        for k in range(len(curves.bands)):
            if (b == k).any():
                out[i, k] = (np.interp(grid, t[b == k], y[b == k]) - middle) / spread
    return out


def sampling(curves: Curves) -> np.ndarray:
    """(n, F): what is left where values and errors are taken away: counts, spans, gaps and times, by band."""
    rows = []
    for i in range(len(curves)):
        t, b = curves.time[curves.points(i)], curves.band[curves.points(i)]
        row = [len(t), t[0], t[-1], t.mean(), t.std(), t[-1] - t[0], *np.quantile(t, (0.1, 0.25, 0.5, 0.75, 0.9))]
        for k in range(len(curves.bands)):
            mine = t[b == k]
            gap = np.diff(mine) if len(mine) > 1 else np.full(1, np.nan)
            row += [len(mine), np.median(gap), gap.max()]
            row += [*np.quantile(mine, (0, 0.5, 1))] if len(mine) else [np.nan] * 3
        rows.append(row)
    return np.array(rows)


def macro_f1(label: np.ndarray, predicted: np.ndarray, classes: int) -> float:
    """Mean of F1 over the classes that occur or are predicted."""
    hit = np.bincount(label[label == predicted], minlength=classes)
    either = np.bincount(label, minlength=classes) + np.bincount(predicted, minlength=classes)
    return float((2 * hit / np.maximum(either, 1))[either > 0].mean())

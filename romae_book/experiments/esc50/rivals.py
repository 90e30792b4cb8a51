"""Who else can tell sounds apart: a line through mean energies, boosted trees on these, and random convolutions with a
ridge."""

import numpy as np

from romae_lite.tokens import Tokens

from ..machine import keep_threads
from ..trees import boosted
from .data import picture


def linear(train: Tokens, test: Tokens) -> np.ndarray:
    """Classes (m,) of the test sounds, by scikit-learn's logistic regression on the mean and the standard deviation of
    each band over time, standardised; its penalty is chosen by cross-validation on the training set. ImportError
    without scikit-learn."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    grid = {"logisticregression__C": [1e-3, 1e-2, 1e-1, 1.0]}
    search = GridSearchCV(model, grid, cv=4)
    return search.fit(summary(train), train.aux["label"].numpy()).predict(summary(test))


def trees(train: Tokens, test: Tokens, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the test sounds, by boosted trees on what `linear` gets."""
    return boosted(summary(train), train.aux["label"].numpy(), summary(test), seed)


def summary(tokens: Tokens) -> np.ndarray:
    """Mean and standard deviation of each band over time: (n, 2 F)."""
    bands, _, _ = picture(tokens)
    return np.concatenate((bands.mean(1).numpy(), bands.std(1).numpy()), 1)


def minirocket(train: Tokens, test: Tokens, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the test sounds, by aeon's MiniRocketClassifier (Dempster et al., 2021) on the bands as channels:
    the shares of frames at which 10,000 convolutions exceed their bias, and a ridge classifier. ImportError without
    aeon."""
    from aeon.classification.convolution_based import MiniRocketClassifier

    model = MiniRocketClassifier(random_state=seed)
    with keep_threads():
        model.fit(series(train), train.aux["label"].numpy())
        return model.predict(series(test))


def series(tokens: Tokens) -> np.ndarray:
    """Bands as channels: (n, F, T) float64."""
    return picture(tokens)[0].mT.double().numpy()

"""Boosted trees on hand-made features: what a network that classifies has to beat before it is worth its trouble."""

import warnings

import numpy as np


def boosted(train: np.ndarray, label: np.ndarray, test: np.ndarray, seed: int = 0) -> np.ndarray:
    """Classes (m,) of the rows of test (m, F), from rows (n, F) and their classes (n,), by LightGBM with the settings
    of chapter 10's trees; none was chosen for these data. ImportError without lightgbm."""
    import lightgbm

    model = lightgbm.LGBMClassifier(
        n_estimators=200, num_leaves=15, learning_rate=0.05, subsample=0.8, subsample_freq=1, colsample_bytree=0.5,
        min_child_samples=10, random_state=seed, n_jobs=1, verbose=-1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # of a column that never varies
        return model.fit(train, label).predict(test)

"""Extremely randomised trees as arrays: a file of these needs no pickle, and answers
alike under any version of scikit-learn."""

from typing import NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

TREES = 300
TOGETHER = 4096  # rows


class Forest(NamedTuple):
    """M nodes of T trees. A node is followed by `left` or `right`, a leaf by itself."""

    roots: np.ndarray  # (T,)
    feature: np.ndarray  # (M,) that a node asks for
    limit: np.ndarray  # (M,) up to which the left one follows
    left: np.ndarray  # (M,)
    right: np.ndarray  # (M,)
    share: np.ndarray  # (M, K) of the classes

    def probability(self, x: np.ndarray) -> np.ndarray:
        """Return the mean over trees of the shares in leaves, x (n, F) -> (n, K)."""
        parts = np.split(finite(x), range(TOGETHER, len(x), TOGETHER))
        return np.concatenate([self._leaves(part) for part in parts]).astype(float)

    def _leaves(self, x: np.ndarray) -> np.ndarray:
        node = np.tile(self.roots, (len(x), 1))  # (n, T)
        while True:
            low = np.take_along_axis(x, self.feature[node], axis=1) <= self.limit[node]
            following = np.where(low, self.left[node], self.right[node])
            if (following == node).all():
                return self.share[node].mean(1)
            node = following

    def check(self, classes: int) -> None:
        """ValueError for arrays of a file that are no trees, or of other classes."""
        nodes, ways = np.arange(len(self.share)), np.stack((self.left, self.right))
        ahead = ways.shape == (2, len(nodes)) and (nodes <= ways) & (ways < len(nodes))
        if not np.all(ahead) or self.share.shape[1:] != (classes,):
            raise ValueError("its trees do not hang together")


def finite(x: np.ndarray) -> np.ndarray:
    """What has no value gets one that nothing has; trees divide it off."""
    return np.nan_to_num(np.clip(x, -1e8, 1e8), nan=-1e9).astype(np.float32)


def grow(
    x: np.ndarray, label: np.ndarray, classes: int, seed: int, trees: int = TREES
) -> Forest:
    """Grow trees on numbers x (n, F); a class counts by the root of its share, so that
    a rare one is not outvoted."""
    forest = ExtraTreesClassifier(
        trees, min_samples_leaf=2, max_features=0.3, random_state=seed % 2**32
    )
    weight = np.bincount(label)[label] ** -0.5
    grown = [t.tree_ for t in forest.fit(finite(x), label, sample_weight=weight)]
    feature, limit, left, right, value = (
        np.concatenate([getattr(tree, name) for tree in grown])
        for name in ("feature", "threshold", "children_left", "children_right", "value")
    )
    sizes, nodes = [tree.node_count for tree in grown], np.arange(len(value))
    roots = np.cumsum(sizes) - sizes
    first, leaf = np.repeat(roots, sizes), left < 0
    share = np.zeros((len(value), classes), np.float32)
    share[:, forest.classes_] = value[:, 0]  # a class may have nobody
    return Forest(
        roots, np.where(leaf, 0, feature), limit, np.where(leaf, nodes, left + first),
        np.where(leaf, nodes, right + first), share,
    )

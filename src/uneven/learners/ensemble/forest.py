"""Forests of scikit-learn's trees that can be grown in several threads at once.

scikit-learn's own forests change the process's list of warning filters at every tree. Two forests in two threads would
undo each other's changes, and leave the list changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted


class Forest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Mean of the probabilities of randomised trees: RandomForestClassifier or ExtraTreesClassifier, in one thread.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    min_samples_leaf : int
    splitter : {"best", "random"}
        "best": random forest. "random": extremely randomised trees.
    bootstrap : bool
        Each tree sees rows drawn with replacement.
    max_samples : int, optional
        Rows that a tree sees at most; without ``bootstrap`` they are drawn without replacement.
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.ensemble.forest import Forest
    >>> X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    >>> Forest(n_estimators=10, random_state=0).fit(X, y).predict_proba([[0.0], [19.0]]).round(1).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        min_samples_leaf: int = 1,
        splitter: str = "best",
        bootstrap: bool = True,
        max_samples: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.splitter = splitter
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Forest:
        """Grow the trees."""
        X = _matrix(X)
        self.classes_, index = np.unique(y, return_inverse=True)
        count = X.shape[0]
        weight = np.ones(count) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        random = np.random.default_rng(self.random_state)
        self.trees_ = []
        for _ in range(self.n_estimators):
            seed = int(random.integers(2**31 - 1))
            rows, repeated = self._drawn(count, random)
            tree = DecisionTreeClassifier(
                splitter=self.splitter,
                max_features="sqrt",
                min_samples_leaf=self.min_samples_leaf,
                random_state=seed,
            )
            chosen = X if rows.size == count else X[rows]
            self.trees_.append(tree.fit(chosen, index[rows], weight[rows] * repeated))
        return self

    def _drawn(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The rows of a tree, and how often each counts."""
        most = count if self.max_samples is None else min(self.max_samples, count)
        if not self.bootstrap:
            rows = np.arange(count) if most == count else random.choice(count, most, replace=False)
            return rows, np.ones(most)
        drawn = np.bincount(random.integers(count, size=most), minlength=count)
        rows = np.arange(count) if most == count else np.flatnonzero(drawn)
        return rows, drawn[rows].astype(np.float64)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes."""
        check_is_fitted(self, "trees_")
        X = _matrix(X)
        total = np.zeros((X.shape[0], self.classes_.size))
        for tree in self.trees_:
            total[:, tree.classes_] += tree.predict_proba(X, check_input=False)  # a tree may have seen one class only
        return total / len(self.trees_)

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _matrix(X: Any) -> Any:
    """A float32 array or CSR matrix, as trees want it; missing values may be NaN."""
    from sklearn.utils import check_array

    return check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan")

"""Forests of scikit-learn's trees that can be grown in several threads at once.

scikit-learn's own forests change the process's list of warning filters at every tree. Two forests in two threads would
undo each other's changes, and leave the list changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree
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
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        random = np.random.default_rng(self.random_state)
        unknown = issparse(X) or bool(np.isnan(X.min()))  # a tree must look for gaps, and convert a sparse matrix
        self.trees_ = []
        with config_context(skip_parameter_validation=True):  # the same parameters in hundreds of trees
            for _ in range(self.n_estimators):
                tree = self._tree(int(random.integers(2**31 - 1)))
                rows, repeated = self._drawn(count, random)
                chosen = X if rows.size == count else X[rows]
                if weight is not None:
                    repeated = weight[rows] if repeated is None else weight[rows] * repeated
                self.trees_.append(tree.fit(chosen, index[rows], repeated, check_input=unknown))
        return self

    def _tree(self, seed: int) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(
            splitter=self.splitter,
            max_features="sqrt",
            min_samples_leaf=self.min_samples_leaf,
            random_state=seed,
        )

    def _drawn(self, count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """The rows of a tree, and how often each counts; None: once. A tree takes long to look at weights."""
        most = count if self.max_samples is None else min(self.max_samples, count)
        if not self.bootstrap:
            rows = np.arange(count) if most == count else random.choice(count, most, replace=False)
            return rows, None
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

    def __getstate__(self) -> dict[str, Any]:
        """The state, with all trees as a few arrays: a model file takes long for each object."""
        state = {**super().__getstate__()}
        if "trees_" in state:
            state["trees_"] = _packed(self.trees_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(state.get("trees_"), dict):
            self.trees_ = list(self._unpacked(state["trees_"]))

    def _unpacked(self, arrays: dict[str, np.ndarray]) -> Iterator[DecisionTreeClassifier]:
        """The trees that were packed."""
        ends = np.cumsum(arrays["node_count"])
        value_ends = np.cumsum(arrays["node_count"] * arrays["classes"].sum(axis=1))
        parts = zip(np.split(arrays["nodes"], ends[:-1]), np.split(arrays["values"], value_ends[:-1]), strict=True)
        for k, (nodes, values) in enumerate(parts):
            tree = self._tree(int(arrays["seed"][k]))
            tree.classes_ = np.flatnonzero(arrays["classes"][k])
            tree.n_outputs_, tree.n_classes_ = 1, np.int64(tree.classes_.size)
            tree.n_features_in_, tree.max_features_ = map(int, arrays["features"])
            tree.tree_ = Tree(tree.n_features_in_, np.array([tree.n_classes_], dtype=np.intp), 1)
            tree.tree_.__setstate__(
                {
                    "max_depth": int(arrays["max_depth"][k]),
                    "node_count": len(nodes),
                    "nodes": nodes,
                    "values": values.reshape(len(nodes), 1, -1),
                }
            )
            yield tree


def _packed(trees: list[DecisionTreeClassifier]) -> dict[str, np.ndarray]:
    """What the trees of a forest have learnt, one after the other."""
    states = [tree.tree_.__getstate__() for tree in trees]
    classes = np.zeros((len(trees), 1 + max(tree.classes_.max() for tree in trees)), dtype=bool)
    for seen, tree in zip(classes, trees, strict=True):
        seen[tree.classes_] = True
    return {
        "seed": np.array([tree.random_state for tree in trees]),
        "classes": classes,
        "features": np.array([trees[0].n_features_in_, trees[0].max_features_]),
        "max_depth": np.array([state["max_depth"] for state in states]),
        "node_count": np.array([state["node_count"] for state in states]),
        "nodes": np.concatenate([state["nodes"] for state in states]),
        "values": np.concatenate([state["values"].ravel() for state in states]),
    }


def _matrix(X: Any) -> Any:
    """A float32 array or CSR matrix, as trees want it; missing values may be NaN."""
    from sklearn.utils import check_array

    return check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan")

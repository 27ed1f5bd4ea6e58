"""The estimators that members are made of: forests, boosting and linear paths, and scores scaled to probabilities.

One fit of :class:`BoostingRounds` or :class:`LinearPath` serves several settings: rounds of boosting, or values of C.
Each has, beside ``fit``:

- ``probability_by_setting(X, positive)``: one column of P(positive) for each setting,
- ``fitted_at(number)``: the fitted model of one setting,
- ``unfitted_at(number)``: the estimator to fit for one setting alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import diags_array, issparse
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_is_fitted

from uneven.costs import GivenCosts
from uneven.decisions.platt import Sigmoid
from uneven.learners.linear import UnevenLinearClassifier, fits_along
from uneven.learners.multinomial import UnevenMultinomialClassifier
from uneven.learners.out_of_fold import (
    AllClasses,
    out_of_fold,
    pick_classes,
    positive_probability,
    splits,
    weight_parameters,
)
from uneven.solvers.linear.path import Follower


class Forest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Mean of the probabilities of randomised trees: RandomForestClassifier or ExtraTreesClassifier, in one thread.

    scikit-learn's own forests change the process's list of warning filters at every tree. Two of them in two threads
    would undo each other's changes, and leave the list changed.

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
    >>> from uneven.learners.ensemble.member_models import Forest
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
        for tree in self.trees_:  # without the checks of predict_proba, which take longer than one row in a tree
            shares = tree.tree_.predict(X)
            if shares.shape == total.shape:
                total += shares
            else:  # a tree may have seen one class only
                total[:, tree.classes_] += shares
        return total / len(self.trees_)

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def __getstate__(self) -> dict[str, Any]:
        """The state, with all trees as a few arrays: a model file takes long for each object."""
        state = {**super().__getstate__()}
        if "trees_" in state:
            state["trees_"] = _pack(self.trees_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(state.get("trees_"), dict):
            self.trees_ = list(self._unpack(state["trees_"]))

    def _unpack(self, arrays: dict[str, np.ndarray]) -> Iterator[DecisionTreeClassifier]:
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


def _pack(trees: list[DecisionTreeClassifier]) -> dict[str, np.ndarray]:
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


class BoostingRounds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A booster fitted once with the most rounds; fewer rounds are a part of it.

    Parameters
    ----------
    booster : classifier of CatBoost, LightGBM or XGBoost, or HistGradientBoostingClassifier
    rounds : tuple of int
        In rising order.
    """

    def __init__(self, booster: Any, rounds: tuple[int, ...]) -> None:
        self.booster = booster
        self.rounds = rounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostingRounds:
        """Fit the booster with the most rounds. It sees the numbers of the classes: XGBoost wants no gap in them."""
        self.classes_, index = np.unique(y, return_inverse=True)
        self.booster_ = self.unfitted_at(len(self.rounds) - 1).fit(X, index, sample_weight=sample_weight)
        return self

    def probability_by_setting(self, X: Any, positive: Any) -> np.ndarray:
        """One column for each number of rounds."""
        said = (_after(self.booster_, X, rounds) for rounds in self.rounds)
        return np.stack([pick_classes(positive, self.classes_, one) for one in said], axis=1)

    def fitted_at(self, number: int) -> FirstRounds:
        """The fitted booster, stopped after one of the numbers of rounds."""
        return FirstRounds(self.booster_, self.rounds[number], self.classes_)

    def unfitted_at(self, number: int) -> Any:
        """The booster with one of the numbers of rounds."""
        return clone(self.booster).set_params(**{_rounds_parameter(self.booster): self.rounds[number]})


class FirstRounds:
    """A fitted booster of which only the first rounds are used."""

    def __init__(self, booster: Any, rounds: int, classes: np.ndarray) -> None:
        self.booster = booster
        self.rounds = rounds
        self.classes_ = classes

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities after the first rounds."""
        return _after(self.booster, X, self.rounds)


def _library(booster: Any) -> str:
    return type(booster).__module__.partition(".")[0]


def _rounds_parameter(booster: Any) -> str:
    return {"catboost": "iterations", "sklearn": "max_iter"}.get(_library(booster), "n_estimators")


def _after(booster: Any, X: Any, rounds: int) -> np.ndarray:
    """predict_proba after the first rounds."""
    if rounds == booster.get_params()[_rounds_parameter(booster)]:
        return np.asarray(booster.predict_proba(X))
    match _library(booster):
        case "catboost":
            return np.asarray(booster.predict_proba(X, ntree_end=rounds))
        case "lightgbm":
            return np.asarray(booster.predict_proba(X, num_iteration=rounds))
        case "xgboost":
            return np.asarray(booster.predict_proba(X, iteration_range=(0, rounds)))
        case _:
            return np.asarray(next(islice(booster.staged_predict_proba(X), rounds - 1, None)))


class Landmarks(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Nystroem's features of a radial kernel, whose gamma is ``width`` over the number of columns that ``fit`` sees.

    Parameters
    ----------
    width : float
    n_components : int
        Most landmarks; there are not more than rows.
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.learners.ensemble.member_models import Landmarks
    >>> X = np.random.default_rng(0).normal(size=(20, 4))
    >>> landmarks = Landmarks(0.5, n_components=6, random_state=0).fit(X)
    >>> landmarks.transform(X).shape, landmarks.nystroem_.gamma
    ((20, 6), 0.125)
    """

    def __init__(self, width: float = 1.0, *, n_components: int = 200, random_state: int = 0) -> None:
        self.width = width
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Landmarks:
        """Draw the landmarks."""
        rows, columns = X.shape
        count = min(self.n_components, rows)
        self.nystroem_ = Nystroem(
            gamma=self.width / max(1, columns), n_components=count, random_state=self.random_state
        ).fit(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of rows."""
        return np.asarray(self.nystroem_.transform(X))


class LinearPath(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression for several C, each fit started from the one before, after a transformer or none.

    Of more than two classes it is multinomial, and each C has a fit of its own.

    Parameters
    ----------
    Cs : tuple of float
        In rising order.
    transformer : transformer, optional
        Fitted once, before all.
    tol : float
        Of the learner. Out-of-fold probabilities need no exact solutions.
    signs : tuple of int, optional
        For each column the sign that its coefficient may have; 0: any. A column whose coefficient has the other sign is
        left out, and the rest is fitted again, until none has.
    """

    def __init__(
        self,
        Cs: tuple[float, ...],
        transformer: Any = None,
        tol: float = 1e-4,
        signs: tuple[int, ...] | None = None,
    ) -> None:
        self.Cs = Cs
        self.transformer = transformer
        self.tol = tol
        self.signs = signs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearPath:
        """Fit all C."""
        self.transformer_ = None
        if self.transformer is not None:
            self.transformer_ = clone(self.transformer).fit(X)
            X = self.transformer_.transform(X)
        self.models_ = self._fit_all(X, y, sample_weight)
        self.classes_ = self.models_[0].classes_
        if self.signs is not None:
            signs, used = np.array(self.signs), np.ones(len(self.signs))
            while (wrong := (np.concatenate([model.coef_ for model in self.models_]) * signs < 0).any(axis=0)).any():
                used[wrong] = 0.0
                self.models_ = self._fit_all(_scale_columns(X, used), y, sample_weight)
                for model in self.models_:
                    model.coef_ = model.coef_ * used
        return self

    def _fit_all(self, X: Any, y: Any, sample_weight: Any) -> list[Any]:
        if np.unique(y).size > 2:
            return [UnevenMultinomialClassifier(C=C, tol=self.tol).fit(X, y, sample_weight) for C in self.Cs]
        learner = UnevenLinearClassifier(tol=self.tol)
        params = [{"C": C} for C in self.Cs]
        return list(fits_along(learner, X, y, sample_weight, GivenCosts(), params, Follower(), by="C", proved=False))

    def probability_by_setting(self, X: Any, positive: Any) -> np.ndarray:
        """One column for each C."""
        if self.transformer_ is not None:
            X = self.transformer_.transform(X)
        if isinstance(positive, AllClasses):
            return np.stack([positive.columns(one.classes_, one.predict_proba(X)) for one in self.models_], axis=1)
        sign = 1.0 if self.classes_.tolist()[1] == positive else -1.0
        return np.stack([expit(sign * model.decision_function(X)) for model in self.models_], axis=1)

    def fitted_at(self, number: int) -> Any:
        """The fitted learner of one C, after the transformer if there is one."""
        model = self.models_[number]
        return model if self.transformer_ is None else make_pipeline(self.transformer_, model)

    def unfitted_at(self, number: int) -> Any:
        """The learner with one C, after the transformer if there is one."""
        learner = UnevenLinearClassifier(C=self.Cs[number], tol=self.tol)
        return learner if self.transformer is None else make_pipeline(clone(self.transformer), learner)


def _scale_columns(X: Any, factors: np.ndarray) -> Any:
    return X @ diags_array(factors, dtype=X.dtype).tocsr() if issparse(X) else X * factors.astype(X.dtype)


def constrain(model: Any, signs: tuple[int, ...]) -> None:
    """Tell a booster, or a path that is not fitted, in which columns its probability may only rise (1) or fall (-1)."""
    if isinstance(model, LinearPath):
        model.signs = signs
        return
    booster = model.booster if isinstance(model, BoostingRounds) else model
    text = ",".join(map(str, signs))
    match _library(booster):
        case "catboost" | "xgboost":
            booster.set_params(monotone_constraints=f"({text})")
        case "lightgbm":
            booster.set_params(monotone_constraints=text)
        case _:
            booster.set_params(monotonic_cst=list(signs))


def has_settings(estimator: Any) -> bool:
    """Whether one fit serves several settings."""
    return isinstance(estimator, BoostingRounds | LinearPath)


class PlattScaled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of 0 and 1 with Platt's scaling of its scores, from three folds within its training rows.

    The probabilities then depend on training rows alone, as those of any other member do.

    Parameters
    ----------
    estimator : classifier with ``decision_function``
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PlattScaled:
        """Fit the folds, the sigmoid, and the classifier on all rows."""
        y = np.asarray(y)
        self.classes_ = np.unique(y)
        folds = min(3, int(np.bincount(y).min()))
        own = {} if sample_weight is None else weight_parameters(self.estimator, sample_weight)
        self.estimator_ = clone(self.estimator).fit(X, y, **own)
        if folds < 2:
            self.sigmoid_ = Sigmoid.fit(np.zeros(y.size), y == 1, sample_weight)
            return self
        parts = splits(folds, X, y, self.classes_, None)
        found = out_of_fold({"": self.estimator}, X, y, parts, positive=1, sample_weight=sample_weight)
        if found.ending == "interrupted":
            raise KeyboardInterrupt
        if found[""].sigmoid is None:
            raise ValueError(found[""].error or "the classifier has probabilities already")
        self.sigmoid_ = found[""].sigmoid
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes."""
        positive = positive_probability(self.estimator_, X, 1, self.sigmoid_)
        return np.stack([1 - positive, positive], axis=1)

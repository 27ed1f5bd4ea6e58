"""What learners of boosted trees share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from uneven import _inputs
from uneven._inputs import brief
from uneven.errors import ParameterError
from uneven.learners.base import UnevenClassifier
from uneven.learners.parameters import require_choice, require_integer
from uneven.learners.progress import progress
from uneven.solvers.boosting.boost import BoostSettings
from uneven.solvers.boosting.steps import ALGORITHMS
from uneven.solvers.boosting.trees import Trees

#: Nodes double with each level; deeper trees are the business of gradient boosting libraries.
MOST_LEVELS = 8


class BoostedTrees(UnevenClassifier):
    """What learners of boosted trees share: their matrix, which may have missing values, and their parameters."""

    n_estimators: Any
    learning_rate: Any
    max_depth: Any
    algorithm: Any
    min_weight_fraction_leaf: Any
    random_state: Any
    verbose: Any
    tree_features_: np.ndarray
    tree_thresholds_: np.ndarray
    tree_missing_left_: np.ndarray
    tree_gains_: np.ndarray
    tree_leaves_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = True
        return tags

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self, X, reset=reset, dtype=(np.float64, np.float32), order="C", ensure_all_finite="allow-nan"
        )

    def _read_parameters(self) -> None:
        """Check the parameters that all boosted trees have."""
        require_integer("n_estimators", self.n_estimators)
        require_integer("max_depth", self.max_depth)
        if self.max_depth > MOST_LEVELS:
            raise ParameterError(f"max_depth must be at most {MOST_LEVELS}, got {self.max_depth}")
        rate = _inputs.positive("learning_rate", self.learning_rate)
        if rate > 1:
            raise ParameterError(
                f"learning_rate must be at most 1, got {brief(self.learning_rate)}: each step is already the best one "
                "along its tree, and a longer one may raise the loss"
            )
        require_choice("algorithm", self.algorithm, tuple(ALGORITHMS))
        require_share("min_weight_fraction_leaf", self.min_weight_fraction_leaf, least=0.0, below=0.5)

    def _settings(self, rounds: int, masses: np.ndarray) -> BoostSettings:
        share = float(self.min_weight_fraction_leaf)
        return BoostSettings(
            rounds=rounds,
            rate=float(self.learning_rate),
            depth=int(self.max_depth),
            algorithm=self.algorithm,
            masses=masses,
            least_mass=share * float(masses.sum()),
            progress=progress(self.verbose, type(self).__name__),
        )

    def _keep_trees(self, trees: Trees) -> None:
        self.n_estimators_ = trees.count
        self.tree_features_ = trees.features
        self.tree_thresholds_ = trees.thresholds
        self.tree_missing_left_ = trees.missing_left
        self.tree_gains_ = trees.gains
        self.tree_leaves_ = trees.leaves

    @property
    def _trees(self) -> Trees:
        return Trees(
            self.tree_features_,
            self.tree_thresholds_,
            self.tree_missing_left_,
            self.tree_gains_,
            self.tree_leaves_,
        )

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column in the decrease of the loss that its splits promised."""
        check_is_fitted(self, "classes_")
        return self._trees.importances(self.n_features_in_)


def require_share(name: str, value: Any, *, least: float, below: float) -> None:
    """Raise unless a value is a number of at least ``least`` and below ``below``."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not least <= number < below:
        upper = "" if below == np.inf else f" and below {below:g}"
        lower = "positive" if 0 < least < 1e-6 else f"at least {least:g}"
        raise ParameterError(f"{name} must be {lower}{upper}, got {brief(value)}")

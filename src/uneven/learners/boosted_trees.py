"""What learners of boosted trees share: rows that count, rows held out, the rounds, parameters and their matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from uneven import inputs
from uneven.errors import CostError, LossError, ParameterError
from uneven.inputs import brief, require_choice, require_integer
from uneven.labels import Classes
from uneven.learners.base import UnevenClassifier
from uneven.learners.training_set import TrainingSet, Weighting, learnt_labels
from uneven.losses import Loss
from uneven.solvers.boosting.boost import (
    ALGORITHMS,
    BoostedRows,
    BoostSettings,
    Round,
    best_constant,
    boost,
    round_kinks,
)
from uneven.solvers.boosting.trees import Binned, Trees, find_thresholds, put_in_bins
from uneven.solvers.linear.pair_of_losses import PairOfLosses
from uneven.solvers.running import progress


def convex_pair(loss: Loss, factors: np.ndarray, *, weighted: bool) -> PairOfLosses:
    """The two partial losses with rounded kinks, each times the weight of its class.

    Raises if one is not known to be convex.
    """
    pair = PairOfLosses.of(loss, weighted=weighted).times(factors)
    if pair.why_not_convex:
        raise LossError(
            f"boosting needs a convex loss, but {pair.why_not_convex}: a step might raise it; 'exponential' or "
            "'logistic' would work, or UnevenLinearClassifier, which takes losses that are not convex"
        )
    return round_kinks(pair)


@dataclass(frozen=True)
class TrainingRows:
    """Rows that count.

    Attributes
    ----------
    X : ndarray
        C-ordered.
    y : ndarray of int8
        The class that each row is learnt as.
    factors : ndarray of float64
        What each row's loss is multiplied with, besides the factor of its class; empty if all are 1.
    masses : ndarray of float64
        Sample weights.
    regrets : ndarray of float64
        What the mistake of each row costs, times its sample weight, over the mean regret.
    """

    X: np.ndarray
    y: np.ndarray
    factors: np.ndarray
    masses: np.ndarray
    regrets: np.ndarray

    @classmethod
    def of(cls, problem: TrainingSet, weighting: Weighting) -> TrainingRows:
        """The rows of a problem whose weight is not 0."""
        masses = problem.masses
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the weighting has said which labels it turned
            regrets = learnt_labels(problem.costs, problem.y)[1]
        regrets = masses * (regrets / float(regrets.max()))
        regrets *= float(masses.sum()) / float(regrets.sum())
        rows = cls(problem.X, weighting.y, weighting.row_factors, masses, regrets)
        if weighting.row_factors.size and not (weighting.row_factors > 0).all():
            return rows.take(np.flatnonzero(weighting.row_factors > 0))
        return rows

    def take(self, rows: np.ndarray) -> TrainingRows:
        """Some of the rows."""
        factors = self.factors[rows] if self.factors.size else self.factors
        return TrainingRows(self.X[rows], self.y[rows], factors, self.masses[rows], self.regrets[rows])

    def start_boosting(self, pair: PairOfLosses, scores: np.ndarray) -> BoostedRows:
        """The rows at the start of boosting."""
        return BoostedRows(pair, self.y, self.factors, scores)


@dataclass
class EarlyStopping:
    """Looks at rows that are held out, after each round.

    ``scores`` are the mean losses, or the costs of the decisions over the mean regret, before the first round and after
    each.
    """

    rows: TrainingRows
    pair: PairOfLosses
    patience: int
    tol: float
    on_cost: bool
    scores: list[float] = field(default_factory=list)

    def begin(self, start: float, thresholds: np.ndarray) -> None:
        self._data = put_in_bins(self.rows.X, thresholds)
        self._moved = self.rows.start_boosting(self.pair, np.full(self.rows.y.size, start))
        self._mass = float(self.rows.masses.sum())
        self.scores.append(self._score())

    def _score(self) -> float:
        if self.on_cost:
            wrong = (self._moved.scores > 0) != (self.rows.y == 1)
            return float(self.rows.regrets[wrong].sum()) / self._mass
        return self._moved.loss / self._mass

    def says_stop(self, one: Round) -> bool:
        """Whether the last rounds brought nothing."""
        moved, slots = self._moved, one.shape.slots_of(self._data)
        moved.scores += moved.spread(slots, one.tree.leaves[0])
        if not self.on_cost:
            moved.loss = moved.along(moved.scores, 0.0)[0]
        self.scores.append(self._score())
        recent = self.scores[-self.patience :]
        before = min(self.scores[: -self.patience], default=np.inf)
        return len(self.scores) > self.patience and min(recent) >= before * (1 - self.tol)

    @property
    def best(self) -> int:
        """Number of rounds with the least score."""
        return int(np.argmin(self.scores))


@dataclass(frozen=True)
class Boosted:
    """What boosting found: where scores start, the trees, and the mean loss before the first and after each."""

    start: float
    trees: Trees
    losses: np.ndarray


def train(
    rows: TrainingRows,
    pair: PairOfLosses,
    settings: BoostSettings,
    random: np.random.Generator,
    *,
    from_constant: bool = True,
    stopping: EarlyStopping | None = None,
    data: Binned | None = None,
    scores: np.ndarray | None = None,
) -> Boosted:
    """Boost rows, from the best constant or from 0.

    Parameters
    ----------
    data : Binned, optional
        The rows in bins, if they are there already.
    scores : ndarray, optional
        Scores to start from, one for each row, which are moved.
    """
    if data is None:
        data = put_in_bins(rows.X, find_thresholds(rows.X, rows.masses if rows.factors.size else np.empty(0), random))
    moved = rows.start_boosting(pair, np.zeros(rows.y.size) if scores is None else scores)
    start = best_constant(moved) if from_constant else 0.0
    if stopping is not None:
        stopping.begin(start, data.thresholds)
    losses, trees = [moved.loss], []
    for one in boost(moved, data, settings):
        trees.append(one.tree)
        losses.append(one.loss)
        if stopping is not None and stopping.says_stop(one):
            break
    kept = len(trees) if stopping is None else stopping.best
    mean = np.array(losses[: kept + 1]) / float(rows.masses.sum())
    return Boosted(start, Trees.stack(trees[:kept], settings.depth), mean)


def held_out(
    y: np.ndarray, fraction: float, random: np.random.Generator, classes: Classes
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to look at, both in order, with the same share of each class."""
    chosen = np.zeros(y.size, bool)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        count = max(1, round(fraction * rows.size))
        if count >= rows.size:
            raise _too_few(rows.size, f"hold out a share of {fraction:g}", classes, label)
        chosen[random.choice(rows, count, replace=False)] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def folds_of(
    y: np.ndarray, count: int, random: np.random.Generator, classes: Classes
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to look at, for each of some folds with the same share of each class."""
    number = np.empty(y.size, np.int64)
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        if rows.size < count:
            raise _too_few(rows.size, f"make {count} folds", classes, label)
        number[random.permutation(rows)] = np.arange(rows.size) % count
    for k in range(count):
        yield np.flatnonzero(number != k), np.flatnonzero(number == k)


def _too_few(rows: int, aim: str, classes: Classes, label: int) -> CostError:
    name = classes.label(np.array([label]))[0].item()
    return CostError(f"class {name!r} has {rows} rows that count, too few to {aim}; it needs more rows")


# -- what learners of boosted trees share -----------------------------------------------------------------------------

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
        rate = inputs.positive("learning_rate", self.learning_rate)
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

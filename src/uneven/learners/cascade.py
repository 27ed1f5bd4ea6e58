"""A cascade of boosted stages that rejects most rows after a few features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven._inputs import Exact, brief, to_float
from uneven.costs import Cost
from uneven.errors import CostError, LossError, ParameterError
from uneven.learners.base import Problem
from uneven.learners.boosting import BoostedTrees, require_share
from uneven.learners.boosting_training import TrainingRows, convex_pair, folds_of
from uneven.learners.cascade_training import Bill, Fold, Stages, Training, cheapest_odds
from uneven.learners.costs_and_loss import loss_for, read_cost
from uneven.learners.parameters import generator, require_integer
from uneven.learners.progress import progress
from uneven.learners.reading import read_labels, read_weights
from uneven.losses import Loss, Phi
from uneven.solvers.boosting.bins import binned, find_thresholds
from uneven.solvers.progress import silent


@dataclass(frozen=True)
class CascadeReport:
    """What a cascade costs on some rows, per row.

    Attributes
    ----------
    cost : float
        Of mistakes and features together; only regrets count, so the costs of right decisions are left out.
    mistake_cost, feature_cost : float
    features : float
        Mean number of features evaluated.
    reached : ndarray of shape (n_stages,)
        The share of rows that reached each stage.
    """

    cost: float
    mistake_cost: float
    feature_cost: float
    features: float
    reached: np.ndarray


class UnevenCascadeClassifier(BoostedTrees):
    r"""A cascade of boosted stages: most negative rows are rejected after a few features.

    For rare positives and features that cost something (time, money, a test). Each stage looks at a few features more
    and rejects the rows that are not worth looking at any further, as in the detector of Viola and Jones. Only rows
    that pass all stages are positive.

    Each stage is a boosting with the uneven loss of its own alpha. That alpha is the one at which rejecting a row and
    letting it pass cost the same, if passing costs what the later stages cost the rows that pass: the price of their
    features and their mistakes. It is measured by cross-validation, and the cascade is then trained on all rows.
    The last stage has the alpha of your own costs.

    Parameters
    ----------
    loss : str or Phi
        A convex phi that identifies probabilities: "exponential", "logistic", an expression in t, ...
    fp_cost, fn_cost, tp_cost, tn_cost : number
        What the four outcomes cost. ``predict`` also takes costs of each row; ``fit`` does not.
    feature_price : nonnegative number
        What it costs to evaluate one feature of one row, in the unit of the other costs. A feature that a row has shown
        once costs nothing the second time.
    margin_gamma : positive number
        Margin asymmetry gamma of all stages.
    n_estimators : int
        Trees of all stages together.
    stage_sizes : "auto" or sequence of int
        Trees of each stage. "auto": 1, 2, 4, ... up to ``n_estimators`` together.
    learning_rate, max_depth, algorithm, min_weight_fraction_leaf
        As in :class:`uneven.UnevenAdaBoostClassifier`.
    cv : int
        Number of folds, at least 2. While the alphas are chosen, each fold is tried on a cascade that was trained
        without it.
    n_passes : int
        How often the alphas are taken anew from what the cascade costs.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}.
    random_state : int, RandomState or None
        Seed of the folds; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_stages_ : int
    stage_alphas_ : ndarray of shape (n_stages,)
        The cost parameter of each stage.
    stage_ends_ : ndarray of shape (n_stages,)
        Number of trees after each stage.
    stage_features_ : ndarray of shape (n_stages,)
        Number of different features that a row has shown after each stage.
    stage_starts_ : ndarray of shape (n_stages,)
        What each stage adds to the score, besides its trees.
    tree_features_, tree_thresholds_, tree_missing_left_, tree_leaves_ : ndarray
        As in :class:`uneven.UnevenAdaBoostClassifier`.
    loss_, analysis_
        The loss of the last stage, calibrated for your costs, and what it guarantees.
    cost_scale_ : float
        1 over the mean regret.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    Viola, Jones: Rapid object detection using a boosted cascade of simple features, CVPR 2001.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(20000, 40, n_informative=8, weights=[0.97], random_state=0)
    >>> clf = uneven.UnevenCascadeClassifier(fn_cost=30, feature_price=0.01).fit(X, y)
    >>> report = clf.report(X, y)
    >>> bool(report.features < 10), bool(report.reached[-1] < 0.3)
    (True, True)
    """

    def __init__(
        self,
        loss: str | Phi = "exponential",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        feature_price: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        n_estimators: int = 100,
        stage_sizes: Any = "auto",
        learning_rate: float = 0.5,
        max_depth: int = 1,
        algorithm: str = "real",
        min_weight_fraction_leaf: float = 0.0,
        cv: int = 3,
        n_passes: int = 3,
        pos_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.feature_price = feature_price
        self.margin_gamma = margin_gamma
        self.n_estimators = n_estimators
        self.stage_sizes = stage_sizes
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.algorithm = algorithm
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.cv = cv
        self.n_passes = n_passes
        self.pos_label = pos_label
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> UnevenCascadeClassifier:
        """Choose the alphas of the stages by cross-validation, then train all stages on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Missing values are NaN.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.
        fp_cost, fn_cost, tp_cost, tn_cost : number, optional
            Costs; those not given are the constructor's.

        Returns
        -------
        UnevenCascadeClassifier
        """
        self._read_parameters()
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        problem = self._read(X, y, sample_weight, given)
        if not isinstance(problem.costs, Cost):
            raise CostError(
                "UnevenCascadeClassifier learns with one cost for all rows, because a stage must decide before it "
                "knows more; give costs of each row to predict instead"
            )
        loss = self._loss_for(problem.costs)
        convex_pair(loss, np.ones(2), weighted=True)  # raises unless it is convex,
        loss.inverse_link(0.0)  # and unless it identifies probabilities
        weighting = problem.weighting(self.loss)
        bill = self._bill(problem.costs)
        random = generator(self.random_state)
        rows = TrainingRows.of(problem, weighting)
        folds = []
        for known, new in folds_of(rows.y, int(self.cv), random, self._classes):
            held = rows.take(new)
            folds.append(Fold(self._training(rows.take(known), loss, problem, random), held.X, held.y, held.masses))
        tell = progress(self.verbose, type(self).__name__)
        odds = cheapest_odds(folds, bill, int(self.n_passes), tell)
        stages = self._training(rows, loss, problem, random).stages(odds)
        self._remember(problem, weighting.scale, loss)
        self._keep_stages(stages)
        return self

    def _read_parameters(self) -> None:
        super()._read_parameters()
        if isinstance(self.loss, Loss):
            raise ParameterError(
                "loss must be a name, an expression or a phi, because each stage has costs of its own, got "
                f"{self.loss!r}"
            )
        require_share("feature_price", self.feature_price, least=0.0, below=np.inf)
        require_integer("cv", self.cv, least=2, wanted="a whole number of at least 2")
        require_integer("n_passes", self.n_passes)
        self._sizes()

    def _sizes(self) -> tuple[int, ...]:
        """Trees of each stage."""
        if isinstance(self.stage_sizes, str):
            if self.stage_sizes != "auto":
                raise ParameterError(f"stage_sizes must be 'auto' or whole numbers, got {brief(self.stage_sizes)}")
            sizes: list[int] = []
            left = int(self.n_estimators)
            while left > 0:
                sizes.append(min(2 ** len(sizes), left))
                left -= sizes[-1]
            return tuple(sizes)
        given = list(self.stage_sizes)
        if not given:
            raise ParameterError("stage_sizes is empty; give at least one whole number")
        for size in given:
            require_integer("stage_sizes", size)
        return tuple(int(size) for size in given)

    def _bill(self, costs: Cost) -> Bill:
        fp, fn = (to_float(cost) for cost in costs.exact_costs)
        return Bill(fp, fn, float(self.feature_price))

    def _training(self, rows: TrainingRows, loss: Loss, problem: Problem, random: np.random.Generator) -> Training:
        """Rows in bins; the last stage has the loss of the user's costs itself."""
        fp, fn = (to_float(cost) for cost in problem.costs.exact_costs)  # type: ignore[union-attr]
        weight = rows.masses if rows.factors.size else np.empty(0)

        def loss_at(odds: float) -> Loss:
            return loss if odds == fp / fn else loss_for(self.loss, read_cost(odds, 1.0), self.margin_gamma)

        return Training(
            rows=TrainingRows(np.empty((rows.y.size, 0)), rows.y, rows.factors, rows.masses, rows.regrets),
            data=binned(rows.X, find_thresholds(rows.X, weight, random)),
            sizes=self._sizes(),
            loss_at=loss_at,
            settings=lambda rounds, masses: replace(self._settings(rounds, masses), progress=silent),
            random=random,
        )

    def _keep_stages(self, stages: Stages) -> None:
        self.n_stages_ = stages.count
        self.stage_alphas_ = stages.odds / (1 + stages.odds)
        self.stage_ends_ = stages.ends
        self.stage_starts_ = stages.starts
        self.stage_features_ = stages.columns
        self._stage_odds = stages.odds
        self._keep_trees(stages.trees)

    @property
    def _stages(self) -> Stages:
        return Stages(self._trees, self.stage_ends_, self.stage_starts_, self._stage_odds)

    # -- predicting -------------------------------------------------------------------------------------------------

    def _score(self, X: Any) -> np.ndarray:
        """Scores of the loss of the last stage; those of rejected rows are at most 0."""
        scores, last = self._stages.run(X)
        for k in range(self.n_stages_ - 1):
            rejected = last == k
            if rejected.any():
                stage = loss_for(self._fitted_with[0], read_cost(self._stage_odds[k], 1.0), self._fitted_with[2])
                probability = np.clip(stage.inverse_link(scores[rejected]), 2.0**-52, 1 - 2.0**-52)
                scores[rejected] = np.minimum(self.loss_.link(probability), 0.0)
        return scores

    def features_evaluated(self, X: Any) -> np.ndarray:
        """How many different features each row shows before it is decided.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        check_is_fitted(self, "classes_")
        return np.asarray(self.stage_features_[self._stages.run(self._read_features(X, reset=False))[1]])

    def report(self, X: Any, y: Any, sample_weight: Any = None) -> CascadeReport:
        """What the cascade costs on some rows, with the costs of the fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        CascadeReport
        """
        check_is_fitted(self, "classes_")
        rows = self._read_features(X, reset=False)
        labels = read_labels(y, len(rows))
        if not np.isin(labels, self.classes_).all():
            raise LossError(f"y must hold the classes {brief(self.classes_.tolist())} of the fit")
        weight = read_weights(sample_weight, len(rows))
        weight = weight / weight.sum() if weight.size else np.full(len(rows), 1 / len(rows))
        scores, last = self._stages.run(rows)
        said = (last == self.n_stages_ - 1) & (scores > 0)
        truth = (labels == self._classes.pos_label).astype(np.int8)
        regrets: Any = self._fitted_with[1]
        bill = self._bill(read_cost(*regrets))
        cost = float(weight @ bill.of(self.stage_features_, last, said, truth))
        features = float(weight @ self.stage_features_[last])
        return CascadeReport(
            cost=cost,
            mistake_cost=cost - bill.price * features,
            feature_cost=bill.price * features,
            features=features,
            reached=np.array([float(weight[last >= k].sum()) for k in range(self.n_stages_)]),
        )

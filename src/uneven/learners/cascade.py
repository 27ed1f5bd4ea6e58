"""A cascade of boosted stages that decides most rows after a few features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.costs import Cost, GivenCosts, read_cost
from uneven.errors import CostError, LossError, ParameterError
from uneven.inputs import Exact, brief, generator, require_integer, to_float
from uneven.labels import read_target, read_weights
from uneven.learners.boosted_trees import (
    Boosted,
    BoostedTrees,
    TrainingRows,
    convex_pair,
    folds_of,
    require_share,
    train,
)
from uneven.learners.cascade_exits import (
    Bill,
    Exits,
    Stages,
    cheapest_exits,
    columns_after,
    highest_price,
    score_stages,
    stage_ends,
    try_exits,
)
from uneven.learners.training_set import TrainingSet
from uneven.losses import Loss, Phi
from uneven.solvers.running import progress, silent

#: As many stages have one tree, then as many two, four, ...
_ALIKE = 4


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
    full_mistake_cost : float
        What mistakes would cost if every row saw all trees of the boosting.
    full_features : float
        The number of features that these trees look at.
    """

    cost: float
    mistake_cost: float
    feature_cost: float
    features: float
    reached: np.ndarray
    full_mistake_cost: float
    full_features: float


class UnevenCascadeClassifier(BoostedTrees):
    r"""A cascade of boosted stages: most rows are decided after a few features.

    For rare positives and features that cost something (time, money, a test). As in the detector of Viola and Jones,
    each stage looks at a few features more, and rejects the rows that are not worth looking at any further. It also
    accepts rows that are hardly worth a doubt.

    The score is that of :class:`uneven.UnevenAdaBoostClassifier` with the same parameters. Each stage has an alpha of
    its own, at or below which it rejects a row, and another one above which it accepts. They are chosen together, from
    the last stage to the first, so that mistakes and evaluated features cost least. This is done on rows that the trees
    were not trained on.

    Parameters
    ----------
    loss : str or Phi
        A convex phi that identifies probabilities: "exponential", "logistic", an expression in t, ...
    fp_cost, fn_cost, tp_cost, tn_cost : number
        What the four outcomes cost. ``predict`` also takes costs of each row; ``fit`` does not.
    feature_price : nonnegative number or "auto"
        What it costs to evaluate one feature of one row, in the unit of the other costs. A feature that a row has shown
        once costs nothing the second time. "auto": prices are raised until mistakes cost more than those of all trees
        by more than ``max_rise``, on rows that neither trees nor exits were chosen on.
    max_rise : nonnegative number
        For ``feature_price="auto"``: by what share the cost of mistakes may rise.
    margin_gamma : positive number
        Margin asymmetry gamma.
    n_estimators : int
        Trees of all stages together.
    stage_sizes : "auto" or sequence of int
        Trees of each stage. "auto": four stages of one tree, four of two, four of four, ..., with ``n_estimators``
        together.
    learning_rate, max_depth, algorithm, min_weight_fraction_leaf
        As in :class:`uneven.UnevenAdaBoostClassifier`.
    cv : int
        Number of folds, at least 2; fewer if a class has fewer rows. Rows of each fold get scores from trees that were
        trained without it.
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    random_state : int, RandomState or None
        Seed of the folds; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    feature_price_ : float
        The price of a feature.
    n_stages_ : int
    stage_alphas_ : ndarray of shape (n_stages, 2)
        A stage rejects a row whose probability is at most the first, and accepts one above the second.
    stage_ends_ : ndarray of shape (n_stages,)
        Number of trees after each stage.
    stage_features_ : ndarray of shape (n_stages,)
        Number of different features that a row has shown after each stage.
    stage_exits_ : ndarray of shape (n_stages, 2)
        The same as ``stage_alphas_``, as scores of the positive class.
    init_score_ : float
        Where the score starts.
    out_of_fold_report_ : CascadeReport
        What the training rows cost with trees and exits that were chosen without their fold.
    tree_features_, tree_thresholds_, tree_missing_left_, tree_leaves_ : ndarray
        As in :class:`uneven.UnevenAdaBoostClassifier`.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    probability_ratio_ : float or None
        Mean of ``predict_proba`` over the share of positives, on the training rows; if it is far from 1,
        ``predict_proba`` warns.
    loss_, analysis_
        The loss, calibrated for your costs, and what it guarantees.
    cost_scale_ : float
        1 over the mean regret.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    Viola, Jones: Rapid object detection using a boosted cascade of simple features, CVPR 2001.
    Bourdev, Brandt: Robust object detection via soft cascade, CVPR 2005.

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
        max_rise: float = 0.0,
        margin_gamma: Exact = 1.0,
        n_estimators: int = 100,
        stage_sizes: Any = "auto",
        learning_rate: float = 0.5,
        max_depth: int = 1,
        algorithm: str = "real",
        min_weight_fraction_leaf: float = 0.0,
        cv: int = 5,
        pos_label: Any = None,
        neg_label: Any = None,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.loss = loss
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.feature_price = feature_price
        self.max_rise = max_rise
        self.margin_gamma = margin_gamma
        self.n_estimators = n_estimators
        self.stage_sizes = stage_sizes
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.algorithm = algorithm
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.cv = cv
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, problem: TrainingSet, given: GivenCosts) -> None:
        if not isinstance(problem.costs, Cost):
            raise CostError(
                "UnevenCascadeClassifier learns with one cost for all rows, because a stage must decide before it "
                "knows more; give costs of each row to predict instead"
            )
        loss = self._loss_for(problem.costs)
        weighting = problem.weighting(self.loss)
        pair = convex_pair(loss, weighting.class_factors, weighted=False)  # raises unless it is convex,
        loss.inverse_link(0.0)  # and unless it identifies probabilities
        random, tell = generator(self.random_state), progress(self.verbose, type(self).__name__)
        rows = TrainingRows.of(problem, weighting)

        def boost(some: TrainingRows) -> Boosted:
            settings = self._settings(int(self.n_estimators), some.masses)
            return train(some, pair, replace(settings, progress=silent), random)

        whole = boost(rows)
        ends = stage_ends(self._sizes(), whole.trees.count)
        count = min(int(self.cv), max(2, int(np.bincount(rows.y, minlength=2).min())))
        folds = folds_of(rows.y, count, random, self._classes)
        staged = score_stages(rows, folds, boost, ends, tell)
        fp, fn = (to_float(cost) for cost in problem.costs.exact_costs)
        if isinstance(self.feature_price, str):
            price = highest_price(staged, fp, fn, float(self.max_rise), tell)
        else:
            price = float(self.feature_price)
        bill = Bill(fp, fn, price)
        self._remember(problem, weighting.scale, loss)
        self.feature_price_ = price
        said, last = try_exits(staged, bill)
        self.out_of_fold_report_ = _report(
            bill, staged.y, staged.weight, (said, last, staged.columns[staged.fold]), staged.scores[:, -1] > 0
        )
        self._keep_stages(Stages(whole.start, whole.trees, ends, cheapest_exits(staged, bill)))
        self._check_probabilities(problem.X, problem.y, problem.sample_weight, given)

    def _read_parameters(self) -> None:
        super()._read_parameters()
        if isinstance(self.loss, Loss):
            raise ParameterError(
                "loss must be a name, an expression or a phi, because each stage has costs of its own, got "
                f"{self.loss!r}"
            )
        if self.feature_price != "auto":
            require_share("feature_price", self.feature_price, least=0.0, below=np.inf)
        require_share("max_rise", self.max_rise, least=0.0, below=np.inf)
        require_integer("cv", self.cv, least=2, wanted="a whole number of at least 2")
        self._sizes()

    def _sizes(self) -> tuple[int, ...]:
        """Trees of each stage."""
        if isinstance(self.stage_sizes, str):
            if self.stage_sizes != "auto":
                raise ParameterError(f"stage_sizes must be 'auto' or whole numbers, got {brief(self.stage_sizes)}")
            sizes: list[int] = []
            left = int(self.n_estimators)
            while left > 0:
                sizes.append(min(2 ** (len(sizes) // _ALIKE), left))
                left -= sizes[-1]
            return tuple(sizes)
        given = list(self.stage_sizes)
        if not given:
            raise ParameterError("stage_sizes is empty; give at least one whole number")
        for size in given:
            require_integer("stage_sizes", size)
        return tuple(int(size) for size in given)

    def _keep_stages(self, stages: Stages) -> None:
        self._keep_trees(stages.trees)
        self.init_score_ = stages.start
        self.n_stages_ = stages.ends.size
        self.stage_ends_ = stages.ends
        self.stage_exits_ = np.stack([stages.exits.low, stages.exits.high], axis=1)
        self.stage_alphas_ = np.asarray(self.loss_.inverse_link(self.stage_exits_))
        self.stage_features_ = columns_after(stages.trees, stages.ends)

    @property
    def _stages(self) -> Stages:
        return Stages(self.init_score_, self._trees, self.stage_ends_, Exits(*self.stage_exits_.T))

    # -- predicting -------------------------------------------------------------------------------------------------

    def _score(self, X: Any) -> np.ndarray:
        """Scores at the last stage of each row, which are positive for the rows that it accepts."""
        return self._stages.run(X)[0]

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
        labels = read_target(y, len(rows))
        if not np.isin(labels, self.classes_).all():
            raise LossError(f"y must hold the classes {brief(self.classes_.tolist())} of the fit")
        weight = read_weights(sample_weight, len(rows))
        weight = weight if weight.size else np.ones(len(rows))
        scores, last = self._stages.run(rows)
        full = np.full(len(rows), self.init_score_)
        self._trees.add_scores(rows, full)
        regrets: Any = self._fitted_with[1]
        fp, fn = (to_float(cost) for cost in read_cost(*regrets).exact_costs)
        truth = (labels == self._classes.pos_label).astype(np.int8)
        columns = np.broadcast_to(self.stage_features_, (len(rows), self.n_stages_))
        return _report(Bill(fp, fn, self.feature_price_), truth, weight, (scores > 0, last, columns), full > 0)


def _report(
    bill: Bill, y: np.ndarray, weight: np.ndarray, found: tuple[np.ndarray, np.ndarray, np.ndarray], full: np.ndarray
) -> CascadeReport:
    """What rows cost: ``found`` are decisions, last stages, and columns after each stage; ``full`` with all trees."""
    said, last, columns = found
    share = weight / weight.sum()
    mistakes = float(share @ bill.mistakes(said, y))
    features = float(share @ np.take_along_axis(columns, last[:, None], axis=1)[:, 0])
    return CascadeReport(
        cost=mistakes + bill.price * features,
        mistake_cost=mistakes,
        feature_cost=bill.price * features,
        features=features,
        reached=np.array([float(share[last >= k].sum()) for k in range(columns.shape[1])]),
        full_mistake_cost=float(share @ bill.mistakes(full, y)),
        full_features=float(share @ columns[:, -1]),
    )

"""Boosting of stumps or small trees, calibrated for the user's costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven.costs import GivenCosts
from uneven.inputs import Exact, generator, require_choice, require_integer
from uneven.learners.boosted_trees import (
    BoostedTrees,
    EarlyStopping,
    TrainingRows,
    convex_pair,
    held_out,
    require_share,
    train,
)
from uneven.learners.contract import costs_to_score
from uneven.learners.training_set import TrainingSet
from uneven.losses import Loss, Phi
from uneven.metrics.expected_cost import expected_cost


class UnevenAdaBoostClassifier(BoostedTrees):
    r"""Boosted stumps or small trees that are right for your costs.

    The score of the positive class is a sum of trees, :math:`f(x) = f_0 + \sum_m \nu\, h_m(x)`. Each round adds the
    tree that lowers

    .. math:: \sum_i \frac{s_i r_i}{\bar r} \left[ 1\{y_i = +\} \varphi(f_i)
              + \tfrac{1}{\gamma} 1\{y_i = -\} \varphi(-\gamma f_i) \right]

    most, by a line search that never raises it. The regret :math:`r_i` is what the mistake costs more than the right
    decision; regrets are divided by their mean, so the unit of the costs does not matter. The threshold is 0:
    minimising this loss leads to the cheapest decisions for your costs, for every gamma.

    With ``loss="exponential"``, gamma = 1, equal costs and ``init="zero"`` this is AdaBoost. With unequal costs it is
    AdaBoost with cost-weighted rows; with ``margin_gamma=fp_cost/fn_cost`` it is the cost-sensitive boosting of
    Masnadi-Shirazi and Vasconcelos. All of them, and every other gamma, are calibrated for the costs.

    Parameters
    ----------
    loss : str, Phi or Loss
        A name (:func:`uneven.losses.names`), an expression in t, a phi, or a finished loss; it must be convex. A
        finished loss is used as it is; one that is not calibrated for the costs is rejected.
    fp_cost, fn_cost : number
        What a false positive and a false negative cost. ``fit`` and ``predict`` also take costs of each row.
    tp_cost, tn_cost : number
        What the right decisions cost; a benefit is a negative cost. Each mistake must cost more.
    margin_gamma : positive number
        Margin asymmetry gamma. You may tune it freely: the classifier stays calibrated for your costs.
    n_estimators : int
        Most trees. There are fewer if no tree lowers the loss any more, or if it stops early.
    learning_rate : number in (0, 1]
        The share of each step that is taken.
    max_depth : int
        Depth of the trees, at most 8; 1 means stumps.
    algorithm : {"discrete", "real", "gradient"}
        What leaves add to the score. "discrete": each leaf says +1 or -1, and a line search finds the size of the tree.
        "real": each leaf adds its own best number. "gradient": each leaf takes a Newton step, and a line search finds
        the length.
    init : {"constant", "zero"}
        Where scores start: at the best constant, or at 0 as AdaBoost does.
    min_weight_fraction_leaf : number in [0, 0.5)
        Least share of the sum of sample weights in a leaf.
    n_iter_no_change : int, optional
        Stop early if for so many rounds the loss of rows that are held out did not fall by a share of ``tol``. The
        trees up to the best round are kept.
    validation_fraction : number in (0, 1)
        The share of rows that are held out for early stopping.
    monitor : {"loss", "cost"}
        What early stopping looks at: the loss, or the cost of the decisions.
    tol : nonnegative number
    pos_label : label, optional
        The positive class. Needed unless the labels are {0, 1}, {-1, 1} or {False, True}, or both classes are treated
        alike.
    neg_label : label, optional
        The other class. With it, labels that a tool of scikit-learn has encoded as 0 and 1 are understood, too.
    random_state : int, RandomState or None
        Seed of the rows that are held out, and of those that decide on bins; by default always the same.
    verbose : bool or int
        Progress on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    n_estimators_ : int
        Number of trees.
    init_score_ : float
        Where the score of the positive class starts.
    tree_features_, tree_thresholds_, tree_missing_left_ : ndarray of shape (n_estimators, 2**max_depth - 1)
        The nodes of each tree, level by level. A row goes right if its value is above the threshold; the feature -1
        marks a node without split, where all rows go left.
    tree_leaves_ : ndarray of shape (n_estimators, 2**max_depth)
        What each leaf adds to the score of the positive class.
    train_loss_ : ndarray of shape (n_estimators + 1,)
        The mean loss of the training rows before the first tree and after each; it never rises.
    validation_loss_ : ndarray
        The same of the rows that are held out: losses, or costs over the mean regret, as ``monitor`` says. Only with
        ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each column in the decrease of the loss that its splits promised.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows.
    probability_ratio_ : float or None
        Mean of ``predict_proba`` over the share of positives, on the training rows; if it is far from 1,
        ``predict_proba`` warns.
    cost_scale_ : float
        1 over the mean regret.
    loss_, analysis_
        The calibrated loss, and what it guarantees.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Notes
    -----
    Columns are put into at most 255 bins. With at most 255 different values in a column that changes nothing. Missing
    values (NaN) go to the side where they lower the loss more.

    References
    ----------
    Freund, Schapire: A decision-theoretic generalization of on-line learning and an application to boosting, 1997.
    Masnadi-Shirazi, Vasconcelos: Cost-sensitive boosting, IEEE PAMI 2011.
    Scott: Calibrated Surrogate Losses for Classification with Label-Dependent Costs.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)                    # 0 is malignant: the class to find
    >>> clf = uneven.UnevenAdaBoostClassifier(fp_cost=1, fn_cost=20, margin_gamma=2, pos_label=0).fit(X, y)
    >>> clf.analysis_.verdict.status
    'calibrated'
    >>> int(((clf.predict(X) == 1) & (y == 0)).sum())                 # malignant ones missed
    0
    >>> costs = list(clf.staged_cost(X, y))
    >>> len(costs), bool(costs[-1] < costs[0])
    (100, True)
    """

    def __init__(
        self,
        loss: str | Phi | Loss = "exponential",
        *,
        fp_cost: Exact = 1.0,
        fn_cost: Exact = 1.0,
        tp_cost: Exact = 0.0,
        tn_cost: Exact = 0.0,
        margin_gamma: Exact = 1.0,
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        max_depth: int = 1,
        algorithm: str = "discrete",
        init: str = "constant",
        min_weight_fraction_leaf: float = 0.0,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        monitor: str = "loss",
        tol: float = 1e-4,
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
        self.margin_gamma = margin_gamma
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.algorithm = algorithm
        self.init = init
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.monitor = monitor
        self.tol = tol
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, problem: TrainingSet, given: GivenCosts) -> None:
        loss = self._loss_for(problem.costs)
        weighting = problem.weighting(self.loss)
        pair = convex_pair(loss, weighting.class_factors, weighted=isinstance(self.loss, Loss))
        random = generator(self.random_state)
        rows = TrainingRows.of(problem, weighting)
        stopping = None
        if self.n_iter_no_change is not None:
            known, new = held_out(rows.y, float(self.validation_fraction), random, self._classes)
            patience, tol = int(self.n_iter_no_change), float(self.tol)
            stopping = EarlyStopping(rows.take(new), pair, patience, tol, on_cost=self.monitor == "cost")
            rows = rows.take(known)
        settings = self._settings(int(self.n_estimators), rows.masses)
        found = train(rows, pair, settings, random, from_constant=self.init == "constant", stopping=stopping)
        self._remember(problem, weighting.scale, loss)
        self.init_score_ = found.start
        self.train_loss_ = found.losses
        if stopping is not None:
            self.validation_loss_ = np.array(stopping.scores)
        self._keep_trees(found.trees)
        self._check_probabilities(problem.X, problem.y, problem.sample_weight, given)

    def _read_parameters(self) -> None:
        super()._read_parameters()
        require_choice("init", self.init, ("constant", "zero"))
        require_choice("monitor", self.monitor, ("loss", "cost"))
        if self.n_iter_no_change is not None:
            require_integer("n_iter_no_change", self.n_iter_no_change)
        require_share("validation_fraction", self.validation_fraction, least=1e-9, below=1.0)
        require_share("tol", self.tol, least=0.0, below=np.inf)

    # -- predicting -------------------------------------------------------------------------------------------------

    def _score(self, X: Any) -> np.ndarray:
        score = np.full(len(X), self.init_score_)
        self._trees.add_scores(X, score)
        return score

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """Scores of the positive class after each tree; each is an array of its own."""
        check_is_fitted(self, "classes_")
        rows = self._read_features(X, reset=False)
        score, trees = np.full(len(rows), self.init_score_), self._trees
        for m in range(trees.count):
            trees.add_scores(rows, score, m, m + 1)
            yield score.copy()

    def staged_decision_function(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> Iterator[np.ndarray]:
        """:meth:`decision_function` after each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`decision_function`.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        for score in self._staged_scores(X):
            yield np.asarray(self._classes.turned(self._decision(score, given)))

    def staged_predict(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> Iterator[np.ndarray]:
        """:meth:`predict` after each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`predict`.

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        for score in self._staged_scores(X):
            yield self._classes.label(self._decision(score, given) > 0)

    def staged_cost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Iterator[float]:
        """The expected cost of the decisions after each tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows; those not given are the numbers of the fit.

        Yields
        ------
        float
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        check_is_fitted(self, "classes_")
        costs = costs_to_score(self._costs_of_fit, given, "staged_cost")
        for said in self.staged_predict(X, **given):
            yield expected_cost(y, said, **costs, pos_label=self._classes.pos_label, sample_weight=sample_weight)

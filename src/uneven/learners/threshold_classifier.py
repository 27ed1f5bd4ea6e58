"""Any classifier, with the decision threshold that is right for your costs."""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, check_is_fitted

from uneven.costs import GivenCosts
from uneven.decisions.actions import Actions
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.decisions.platt import Sigmoid
from uneven.decisions.scored_rows import MOST_ROWS
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief, warn_caller
from uneven.labels import read_groups
from uneven.learners.folds import Split
from uneven.learners.matrix_decisions import MatrixDecisions
from uneven.learners.out_of_fold import (
    AllClasses,
    folds_learnt_from,
    only_fold,
    out_of_fold,
    positive_probability,
    positive_scores,
    splits,
    weight_parameters,
)
from uneven.learners.seen_rows import MANY, remember_rows
from uneven.learners.several_classes import ClassTask, OutOfFoldClasses
from uneven.learners.training_set import read_training_set, require_target
from uneven.metrics.comparison import rows_learnt_from
from uneven.solvers.running import Bar


class UnevenThresholdClassifierCV(MetaEstimatorMixin, MatrixDecisions):  # type: ignore[misc]
    r"""Finds the decision threshold of any classifier for your costs.

    A classifier with right probabilities needs no tuning: predict positive where P(positive) > alpha, alpha =
    fp_cost/(fp_cost + fn_cost). Few classifiers have them. This one measures on out-of-fold predictions by how much the
    log-odds of the wrapped classifier are off near alpha, and shifts them.

    The default method does not minimise the realised cost, which jumps with every row. It averages the shift over its
    Gibbs posterior: :math:`\exp(-L(u) - u^2/2)`, with L(u) the sum of a smooth loss that only looks at rows near the
    threshold (the phi ``"beta"``). With few rows the shift stays near 0, with many it is the one of least smooth loss.

    Parameters
    ----------
    estimator : classifier
        Any classifier of scikit-learn's kind, also a Pipeline. Scores of one without ``predict_proba`` are first turned
        into probabilities, by Platt's scaling of the out-of-fold scores.
    fp_cost, fn_cost, tp_cost, tn_cost : number
        What the two mistakes and the two right decisions cost. ``fit`` and ``predict`` also take costs of each row.
    method : {"gibbs", "affine", "argmin", "platt", "isotonic", "cost", "none"}
        How to correct the log-odds. "gibbs": a shift, the mean of its posterior. "affine": slope and shift, by their
        posterior mean. "argmin": the shift of least smooth loss. "cost": the shift of least realised cost, as other
        tools tune a threshold. "platt", "isotonic": calibration of the probabilities, without regard to the costs.
        "none": nothing is corrected, the probabilities are those of the estimator and the threshold is alpha.
    order : int
        Order of the smooth loss, from 1 to 64: the larger, the nearer to the threshold it looks.
    cv : int, float, splitter, iterable of splits, or None
        An integer (None: 5) is a number of shuffled stratified folds; beyond the size of the rarer class it is
        reduced, with a warning. A number between 0 and 1 is the share of rows that one stratified split holds out.
        With TimeSeriesSplit ``out_of_fold_cost_`` is what the decisions cost with earlier rows only.
    prefit : bool
        The estimator is fitted already, and the rows given to ``fit`` are rows it did not learn from. Then ``cv`` and
        ``refit`` are not used.
    refit : bool
        Fit the estimator on all rows after the cross-validation. Without it ``cv`` must be a single split, whose model
        is kept.
    n_jobs : int or None
        Number of folds that are fitted at the same time, in threads.
    random_state : int, RandomState or None
        Seed of the shuffle that makes the folds; None is always the same one.
    pos_label : label, optional
        The positive class. May be left out for labels {0, 1}, {-1, 1} and {False, True}.
    neg_label : label, optional
        The negative class. Only needed inside tools that replace the labels by 0 and 1 before they reach this
        classifier (StackingClassifier, VotingClassifier, CalibratedClassifierCV): with both names it knows which is
        which.
    keep_training_rows : bool
        Keep label, weight and out-of-fold probability of every row, also of more than 20,000. By default such a model
        keeps groups of rows instead: enough to decide at other costs, not for ``out_of_fold_rows_``,
        ``out_of_fold_probability_`` and for guarantees at other levels of confidence.
    verbose : bool, int or None
        Progress on stderr. None: only on a terminal, and only if it takes long.
    cost_range : pair of numbers or CostPrior, optional
        In place of the costs: the least and the largest ratio fn_cost/fp_cost, or any prior. One correction is found
        for all ratios: its smooth loss is averaged over the range. ``predict(X, fn_cost=...)`` decides at the ratio
        that is known by then, ``predict(X)`` at the range's central ratio. The costs of the fit, such as in ``score``
        and ``out_of_fold_cost_``, are those at the central ratio, with ``fp_cost=1``.
    actions : Actions, optional
        In place of the costs: what can be done, with numbers as costs, such as clear, review and block. :meth:`decide`
        gives the cheapest action, with a correction at each break, and ``score`` is minus what these actions cost.
        :meth:`predict` gives classes, those that are right if only the two outermost actions could be taken.
    costs : CostMatrix, "equal" or "ordinal", optional
        In place of the costs, for two or more classes: what each action costs in each class. Then :meth:`predict` gives
        actions. "equal": every confusion costs 1. "ordinal": as many as levels lie between; the classes are numbers.
        With several classes the log-odds of each are shifted, if that pays on out-of-fold rows; the methods are
        "gibbs", "argmin", "cost" and "none".

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    shift_ : float
        What is subtracted from the log-odds (after ``slope_`` multiplied them); NaN for "isotonic".
    slope_ : float
        1 unless the method is "affine" or "platt"; NaN for "isotonic".
    calibration_ : Correction
        The map of the estimator's log-odds to those of ``predict_proba``; costs play no part in it.
    threshold_ : float or None
        Positive is predicted exactly where ``predict_proba`` is above it. None after a fit with costs of each row: each
        row has a threshold of its own.
    posterior_ : ShiftPosterior or None
        Of the method "gibbs": ``mean``, ``standard_deviation``, ``interval()``, and ``density`` at ``shifts``.
    curve_ : ShiftCurve
        What the out-of-fold decisions would cost at other shifts; ``curve_.plot()`` or :meth:`plot` draws it.
    out_of_fold_rows_ : OutOfFoldRows
        Probabilities, as of ``predict_proba``, of rows that the models did not learn from, with their labels and
        weights.
    out_of_fold_cost_ : CostEstimate
        Mean cost of the out-of-fold decisions with a 95 % interval; the correction of a fold comes from the other
        folds. ``difference`` is that to cutting at alpha, or at the breaks of ``actions``.
    constant_costs_ : dict of str to CostEstimate
        What "all positive" and "all negative" cost on the training rows; with actions, also those between.
    out_of_fold_probability_ : ndarray of shape (n_samples,)
        P(positive) as the wrapped classifier says it, before the calibration; NaN for rows that no fold tested.
    action_thresholds_ : dict of str to float
        After a fit with actions: the probability above which each action that pays, but the first, is taken.
    costs_ : CostMatrix
        After a fit with ``costs``: the matrix with its classes in the order of ``classes_``.
    shifts_ : ndarray of shape (n_classes,)
        After a fit to several classes, in place of ``shift_``.
    guarantee_ : ShiftGuarantee, ActionsGuarantee or ClassGuarantee
        Bounds of what the shift costs on new rows against the best shift, with 95 % confidence; see :meth:`guarantee`.
        With few rows they say nothing, and ``guarantee_.vacuous`` says so.
    correction_ : Correction
        The map of log-odds that the method found.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    ``predict(X, fp_cost=..., fn_cost=...)`` with numbers finds the correction again for these costs, from the kept
    out-of-fold probabilities; the estimator is not fitted again. With costs of each row, each row is decided by its own
    alpha, with the correction of the fit.

    A row of weight 2 counts as two rows, also in how sure the posterior is: weights that sum to 1 leave the shift near
    0. Log-odds beyond those of e and 1 - e, e = 1/(rows + 2), or further out if the costs need it, are compressed, with
    their order kept: forests say 0 and 1.

    Examples
    --------
    >>> import uneven
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = make_classification(600, weights=[0.9], class_sep=0.7, random_state=0)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=3, random_state=0)
    >>> model = uneven.UnevenThresholdClassifierCV(forest, fp_cost=1, fn_cost=10).fit(X, y)
    >>> round(model.shift_, 1), round(model.posterior_.standard_deviation, 1), round(model.threshold_, 2)
    (0.5, 0.1, 0.1)
    >>> model.predict(X[:8]), model.predict(X[:8], fn_cost=500)
    (array([0, 0, 0, 1, 1, 1, 0, 0]), array([1, 1, 0, 1, 1, 1, 1, 0]))

    Three actions in place of two costs; ``decide`` says which to take:

    >>> actions = uneven.Actions(clear=(10, 0), review=(3, 1), block=(0, 4))
    >>> model = uneven.UnevenThresholdClassifierCV(forest, actions=actions).fit(X, y)
    >>> {name: round(threshold, 1) for name, threshold in model.action_thresholds_.items()}
    {'review': 0.1, 'block': 0.5}
    >>> model.decide(X[:4]).action.tolist()
    ['clear', 'clear', 'clear', 'review']
    """

    #: As scikit-learn's group splitters, it wants these without being told.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "times": True}

    def __init__(
        self,
        estimator: Any,
        *,
        fp_cost: Exact = 1,
        fn_cost: Exact = 1,
        tp_cost: Exact = 0,
        tn_cost: Exact = 0,
        method: str = "gibbs",
        order: int = 8,
        cv: Any = 5,
        prefit: bool = False,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        pos_label: Any = None,
        neg_label: Any = None,
        keep_training_rows: bool = False,
        verbose: bool | int | None = None,
        cost_range: Any = None,
        actions: Actions | None = None,
        costs: CostMatrix | str | None = None,
    ) -> None:
        self.estimator = estimator
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost
        self.tp_cost = tp_cost
        self.tn_cost = tn_cost
        self.method = method
        self.order = order
        self.cv = cv
        self.prefit = prefit
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pos_label = pos_label
        self.neg_label = neg_label
        self.keep_training_rows = keep_training_rows
        self.verbose = verbose
        self.cost_range = cost_range
        self.actions = actions
        self.costs = costs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        return tags

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        groups: Any = None,
        times: Any = None,
        **params: Any,
    ) -> UnevenThresholdClassifierCV:
        """Fit the estimator, and correct its log-odds for the costs.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array-like of shape (n_samples,)
            Labels of two classes, or of those of the cost matrix.
        sample_weight : array-like of shape (n_samples,), optional
            For the correction, and for the estimator if it takes weights.
        costs : CostMatrix or array-like of shape (n_samples, classes, actions), optional
            A matrix for each row; an array has classes and actions in the order of the constructor's matrix.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's. The estimator does not
            see them.
        groups : array-like of shape (n_samples,), optional
            Rows of one customer: they are in one fold, or go to the splitter of ``cv``. See docs/folds.md.
        times : array-like of shape (n_samples,), optional
            When each row happened: numbers, dates or periods. Each fold is then tested with models of earlier rows.
        **params : dict
            Further arguments of the estimator's ``fit``; arrays with an entry for each row are split like the rows.
            With metadata routing, what estimator and splitter request.

        Returns
        -------
        UnevenThresholdClassifierCV
        """
        self._require_correction()
        self._require_classifier()
        require_target(self, y)
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        params = {**params, "groups": groups, "times": times}
        if self._fit_by_matrix(X, y, sample_weight, costs, given, params):
            return self
        problem = read_training_set(self, X, y, sample_weight, given)
        costs = self._given_costs(problem.y.size, given)
        classes, pos_label, is_positive = problem.classes.labels, problem.classes.pos_label, problem.y == 1
        X, labels = indexable(X, problem.classes.label(is_positive))
        told = problem.weight_or_none
        if self.prefit:
            self._require_fitted(classes)
            probability = self._prefit_probability(X, is_positive, told, pos_label)
        else:
            probability = self._out_of_fold_probability(X, labels, classes, told, pos_label, params)
        tested = ~np.isnan(probability)
        rows = OutOfFoldRows(probability[tested], is_positive[tested], problem.masses[tested])
        self._keep_decisions(rows, costs.take(tested))
        self._fold = self._fold[tested]
        self._group = None if groups is None else read_groups(groups)[tested]
        self._tested = tested
        self._constant_sums = problem.constant_sums
        remember_rows(self, X, MANY)
        self.classes_, self._positive = classes, problem.classes.positive
        self.__dict__.pop("_out_of_fold_cost", None)
        self._forget_rows()
        self._take_feature_names()
        return self

    def _fit_classes(self, X: Any, task: ClassTask, params: dict[str, Any]) -> None:
        """Fit to several classes, with a cost matrix."""
        X, labels = indexable(X, task.classes[task.truth])
        asked, told = AllClasses(task.classes), task.weight_or_none
        if self.prefit:
            self._require_fitted(task.classes)
            probability = self._prefit_probability(X, task.truth > 0, told, asked)
        else:
            probability = self._out_of_fold_probability(X, labels, task.classes, told, asked, params)
        said = OutOfFoldClasses(probability, self._fold, self._learnt, self._trained)
        self._keep_classes(task, said, params.get("groups"))
        remember_rows(self, X, MANY)
        self._take_feature_names()

    def _take_feature_names(self) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _require_classifier(self) -> None:
        known = self.estimator
        if isinstance(known, type) or not hasattr(known, "fit"):
            raise ParameterError(f"estimator must be a classifier, such as LogisticRegression(), got {brief(known)}")
        if not hasattr(known, "predict_proba") and not hasattr(known, "decision_function"):
            raise ParameterError(f"estimator must have predict_proba or decision_function, got {brief(known)}")

    def _require_fitted(self, classes: np.ndarray) -> None:
        known = getattr(self.estimator, "classes_", None)
        if known is None:
            raise ParameterError(f"prefit=True needs a fitted estimator, got {brief(self.estimator)}; fit it first")
        if not set(classes.tolist()) <= set(np.asarray(known).tolist()) or (classes.size == 2 and len(known) != 2):
            raise CostError(
                f"the fitted estimator knows the classes {brief(np.asarray(known).tolist())}, got rows of the classes "
                f"{brief(classes.tolist())}"
            )

    def _prefit_probability(
        self, X: Any, is_positive: np.ndarray, weight: np.ndarray | None, pos_label: Any
    ) -> np.ndarray:
        """What the fitted estimator says about rows it did not learn from."""
        self.estimator_ = self.estimator
        scores, are_probabilities = positive_scores(self.estimator_, X, pos_label)
        self._sigmoid = None if are_probabilities else Sigmoid.fit(scores, is_positive, weight)
        self._fold, self._learnt = np.zeros(len(scores), dtype=np.intp), np.zeros((1, 1), dtype=bool)
        self._trained: float | None = None
        return scores if self._sigmoid is None else self._sigmoid.probability(scores)

    def _out_of_fold_probability(
        self,
        X: Any,
        labels: np.ndarray,
        classes: np.ndarray,
        weight: np.ndarray | None,
        pos_label: Any,
        params: dict[str, Any],
    ) -> np.ndarray:
        """Fit the estimator on all rows and on each fold; what the fold models say about the rows left out."""
        metadata = {name: params.get(name) for name in ("groups", "times")}
        to_fit = self._route(weight, metadata, {name: value for name, value in params.items() if name not in metadata})
        many = isinstance(pos_label, AllClasses)
        parts = self._splits(X, labels, classes, metadata["groups"], metadata["times"], every_class=not many)
        if not self.refit and len(parts) > 1:
            raise ParameterError(
                f"refit=False needs a single split, such as cv=0.2, got {len(parts)} splits; refit=True would work"
            )
        if self.refit:  # first: its errors are those of the estimator itself
            own = {} if weight is None else weight_parameters(self.estimator, weight)
            self.estimator_ = clone(self.estimator).fit(X, labels, **_check_method_params(X, to_fit) | own)
        bar = Bar(self.verbose, type(self).__name__, len(parts), "folds")
        found = out_of_fold(
            {"estimator": self.estimator},
            X,
            labels,
            parts,
            positive=pos_label,
            fit_params=lambda rows: _check_method_params(X, to_fit, indices=rows),
            sample_weight=weight,
            n_jobs=self.n_jobs,
            tell=lambda name, fold: bar.advance(),
        )
        if found.ending == "interrupted":
            raise KeyboardInterrupt
        result = found["estimator"]
        if result.error is not None:
            raise CostError(f"{type(self.estimator).__name__} cannot be fitted on every fold: {result.error}")
        if not self.refit:
            self.estimator_ = result.models[0]
        self._sigmoid = result.sigmoid
        self._fold = only_fold(parts, labels.size)
        self._learnt = folds_learnt_from(parts, self._fold)
        self._trained = rows_learnt_from([parts]) if self.refit else None
        return result.probability

    def _route(self, weight: np.ndarray | None, metadata: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
        """Arguments of the estimator's ``fit`` other than the weights."""
        if get_config()["enable_metadata_routing"]:
            known = {name: value for name, value in metadata.items() if value is not None}
            known |= {} if weight is None else {"sample_weight": weight}
            return dict(process_routing(self, "fit", **known, **params).estimator.fit)
        if weight is not None and not weight_parameters(self.estimator, weight):
            warn_caller(
                f"{type(self.estimator).__name__} takes no sample_weight: the weights count in the correction only"
            )
        return params

    def _splits(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, groups: Any, times: Any, *, every_class: bool
    ) -> list[Split]:
        if isinstance(self.cv, str):
            hint = "; prefit=True would work" if self.cv == "prefit" else ""
            raise CostError(f"cv must be a number of folds, a splitter or splits, got {brief(self.cv)}{hint}")
        share = isinstance(self.cv, numbers.Real) and not isinstance(self.cv, numbers.Integral)
        if share and not 0 < self.cv < 1:
            raise CostError(
                "cv must be a number of folds, a share of rows between 0 and 1, a splitter or splits, got "
                f"{brief(self.cv)}"
            )
        cv, test = (2, float(self.cv)) if share else (self.cv, None)
        return splits(cv, X, labels, classes, groups, self.random_state, times, test, every_class=every_class)

    def get_metadata_routing(self) -> Any:
        """What is passed on: to the estimator's ``fit`` and to the splitter; costs and weights are also used here.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        splitter = self.cv if hasattr(self.cv, "split") else check_cv(None, classifier=True)
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    # -- what was found ---------------------------------------------------------------------------------------------

    def _set_costs(self, numbers: dict[str, float], actions: Actions | None) -> None:
        super()._set_costs(numbers, actions)
        self.__dict__.pop("_out_of_fold_cost", None)

    def _forget_rows(self) -> None:
        if not self.keep_training_rows and self._rows.probability.size > MOST_ROWS:
            self._out_of_fold_cost = self.out_of_fold_cost_  # needs the rows
            self._tested = np.empty(0, dtype=bool)
        super()._forget_rows()

    @property
    def out_of_fold_probability_(self) -> np.ndarray:
        """P(positive) as the wrapped classifier says it; NaN for rows that no fold tested."""
        check_is_fitted(self, "classes_")
        if self._several is not None:
            return self._several.probability
        self._require_rows("out_of_fold_probability_")
        found = np.full(self._tested.size, np.nan)
        found[self._tested] = self._rows.probability
        return found

    @property
    def out_of_fold_cost_(self) -> Any:  # CostEstimate, or MatrixCostEstimate of several classes
        """Cost of the out-of-fold decisions, with an interval and the difference to those without a correction."""
        check_is_fitted(self, "classes_")
        if self._several is not None:
            return self._several.cost
        if "_out_of_fold_cost" in self.__dict__:
            return self._out_of_fold_cost
        self._require_rows("out_of_fold_cost_ at other costs")
        return self._estimate_out_of_fold(self._trained)

    def _why_no_guarantee(self) -> str | None:
        """None if the theorem covers the fit."""
        if self._sigmoid is not None:
            return (
                f"{type(self.estimator_).__name__} has no predict_proba, and its scores were scaled with the same "
                "rows; CalibratedClassifierCV around it would work"
            )
        return super()._why_no_guarantee()

    @property
    def _is_refitted(self) -> bool:
        return bool(self.refit and not self.prefit)

    # -- predicting -------------------------------------------------------------------------------------------------

    def _raw_probabilities(self, X: Any) -> np.ndarray:
        return positive_probability(self.estimator_, X, AllClasses(self.classes_))

    def _raw_probability(self, X: Any) -> np.ndarray:
        return positive_probability(self.estimator_, X, self._classes.pos_label, self._sigmoid)

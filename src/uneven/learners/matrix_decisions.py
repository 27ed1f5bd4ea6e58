"""Classifiers that take a cost for every confusion: two classes as ever, several by shifts of their log-odds.

With two classes a cost matrix is four costs, or actions, and the fit is the one for these. With several classes the
out-of-fold rows give a calibration and shifts (:mod:`uneven.decisions.class_shifts`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts
from uneven.decisions.action_guarantee import ActionsGuarantee
from uneven.decisions.class_guarantee import ClassGuarantee
from uneven.decisions.class_shifts import METHODS
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.decide import Limits
from uneven.decisions.guarantee import ShiftGuarantee
from uneven.decisions.matrix_limits import decide_within
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief, warn_caller
from uneven.labels import (
    positive_label,
    read_target,
    read_weights,
    require_weighted_classes,
    several_classes,
)
from uneven.learners.contract import offers
from uneven.learners.corrected_actions import CorrectedActions
from uneven.learners.given_matrices import as_actions, as_matrix, four_costs, matrix_of_fit, require_two_classes
from uneven.learners.model_decisions import take_groups
from uneven.learners.several_classes import ClassFit, ClassTask, OutOfFoldClasses, UnseenClasses
from uneven.metrics.matrix_rows import read_matrix_rows

#: What an earlier fit to two classes may have left.
_OF_TWO_CLASSES = ("_odds", "_calibrated", "_rows", "_row_costs", "_pairs", "_kept", "_has_rows", "_guarantee")


class MatrixDecisions(CorrectedActions, ABC):
    """Base of classifiers with the parameter ``costs``: a cost matrix in place of the four costs.

    A subclass implements ``_fit_classes``, which calls ``_keep_classes``, and ``_raw_probabilities``.
    """

    costs: Any = None
    _matrix: CostMatrix | None = None  # of a fit with ``costs``, its classes as in ``classes_``
    _several: ClassFit | None = None  # what a fit to several classes found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.costs is not None
        return tags

    # -- fitting ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _fit_classes(self, X: Any, task: ClassTask, params: dict[str, Any]) -> None:
        """Fit to several classes."""

    @abstractmethod
    def _raw_probabilities(self, X: Any) -> np.ndarray:
        """Probabilities of all classes as the models say them, before the calibration."""

    def _fit_by_matrix(
        self, X: Any, y: Any, sample_weight: Any, costs: Any, given: GivenCosts, params: dict[str, Any]
    ) -> bool:
        """Fit with a cost matrix, if there is one."""
        for name in ("_matrix", "_several", "_in_use", "_of_fit", "_guarantee"):
            self.__dict__.pop(name, None)
        count = _num_samples(X)
        if costs is None and self.costs is None:
            require_two_classes(self, y, count)
            return False
        self._require_only_matrix(given)
        if not count:
            raise CostError("X must have at least one row, got none")
        classes, truth = several_classes(read_target(y, count))
        matrix = matrix_of_fit(self.costs, costs, classes)
        weight = read_weights(sample_weight, count)
        require_weighted_classes(weight, truth, classes)
        if matrix.per_row and len(matrix.costs) != count:
            raise CostError(f"there are costs for {len(matrix.costs)} rows, but {count} rows in X")
        if classes.size == 2 and len(matrix.classes) == 2:
            self._fit_two(X, y, sample_weight, matrix.for_classes(classes.tolist()), params)
            return True
        if self.method not in METHODS:
            raise ParameterError(
                f"method={self.method!r} is for two classes; with several, {', '.join(map(repr, METHODS))} would work"
            )
        absent = [label for label in matrix.classes if label not in classes.tolist()]
        if absent:
            warn_caller(f"no row is of the class {brief(absent[0])} of the cost matrix: its probability will be 0")
        task = ClassTask(classes, truth, weight, matrix.for_classes(classes.tolist()), tuple(absent))
        for name in _OF_TWO_CLASSES:
            self.__dict__.pop(name, None)
        self._fit_classes(X, task, params)
        return True

    def _require_only_matrix(self, given: GivenCosts) -> None:
        own = {name: getattr(self, name) for name in COSTS}
        unusual = {name: value for name, value in own.items() if np.ndim(value) or value != DEFAULT_COSTS[name]}
        unusual |= {name: getattr(self, name) for name in ("actions", "cost_range") if getattr(self, name) is not None}
        for name, value in {**unusual, **given.known}.items():
            raise CostError(f"costs stand in place of {name}, got {name}={brief(value)} as well; leave one of them out")

    def _fit_two(self, X: Any, y: Any, sample_weight: Any, matrix: CostMatrix, params: dict[str, Any]) -> None:
        """Two classes: a fit with four costs, or with actions, of a classifier like this one."""
        own = {**self.get_params(deep=False), "costs": None}
        positive = matrix.classes.index(positive_label(self.pos_label, matrix.classes, symmetric=True))
        own["pos_label"] = matrix.classes[positive]
        told: dict[str, Any] = {}
        if set(matrix.actions) == set(matrix.classes):
            four = four_costs(matrix, positive)
            (told if matrix.per_row else own).update(four)
        elif matrix.per_row:
            raise CostError("with two classes and costs of each row the actions must be the classes")
        else:
            own["actions"] = as_actions(matrix, positive)
        twin = type(self)(**own)
        twin.fit(X, y, sample_weight, **told, **params)
        self.__dict__.update({name: value for name, value in vars(twin).items() if name not in own})
        self._matrix = matrix

    def _keep_classes(
        self, task: ClassTask, said: OutOfFoldClasses, groups: Any = None, chosen: np.ndarray | None = None
    ) -> None:
        """Keep what out-of-fold probabilities say, and the guarantee if it needs rows that are not kept."""
        self.classes_ = task.classes
        self._several = ClassFit.find(task, said, self.method, int(self.order), groups, chosen)
        self._matrix = self._several.matrix
        few = self._several if self.keep_training_rows else self._several.thin()
        if few is not self._several and self._why_no_guarantee() is None:
            self._guarantee = self.guarantee()  # needs all rows
        self._several = few

    def __getstate__(self) -> dict[str, Any]:
        """Without a guarantee that can be found again."""
        state: dict[str, Any] = super().__getstate__()
        if self._several is not None and self._several.has_all_rows:
            state.pop("_guarantee", None)
        return state

    # -- what was found ---------------------------------------------------------------------------------------------

    @property
    def costs_(self) -> CostMatrix:
        """The cost matrix of the fit, its classes in the order of ``classes_`` and of ``predict_proba``.

        After a fit with a matrix for each row, that of the first row.
        """
        check_is_fitted(self, "classes_")
        if self._matrix is None:
            raise AttributeError(f"{type(self).__name__} was fitted without a cost matrix")
        return self._matrix

    @property
    def shifts_(self) -> np.ndarray:
        """By how much the decisions lower the log-odds of each class, in the order of ``classes_``.

        All are 0 if shifts did not pay on out-of-fold rows that played no part in finding them.
        """
        check_is_fitted(self, "classes_")
        if self._several is None:
            raise AttributeError(f"{type(self).__name__} was fitted to two classes: shift_ is the shift")
        return self._several.rule.shifts

    def _require_odds(self) -> None:
        if self._several is not None:
            raise AttributeError(
                f"this is for two classes, and {type(self).__name__} was fitted to {self.classes_.size}; shifts_, "
                "costs_, out_of_fold_cost_ and constant_costs_ are for several"
            )
        super()._require_odds()

    @property
    def constant_costs_(self) -> dict[str, Any]:
        """Expected costs of the same decision for every row, on the training rows, with 95 % intervals."""
        check_is_fitted(self, "classes_")
        return super().constant_costs_ if self._several is None else dict(self._several.constant)

    @property
    def out_of_fold_classes_(self) -> UnseenClasses:
        """With several classes: the rows with the probabilities of models that had not seen them.

        Each row's probabilities are calibrated by the rows of other folds. How much the members of an ensemble count
        was chosen on all rows. Of many rows only some are kept, with weights, unless ``keep_training_rows=True``.
        """
        check_is_fitted(self, "classes_")
        if self._several is None:
            raise AttributeError(f"{type(self).__name__} was fitted to two classes: out_of_fold_rows_ has the rows")
        return self._several.unseen()

    # -- what is guaranteed -----------------------------------------------------------------------------------------

    def guarantee(
        self,
        confidence: Exact = 0.95,
        *,
        largest_fp_regret: Exact | None = None,
        largest_fn_regret: Exact | None = None,
        largest_regret: Exact | Mapping[Any, Exact] | None = None,
    ) -> ShiftGuarantee | ActionsGuarantee | ClassGuarantee:
        """Bounds of what the decisions cost on new rows; docs/guarantee.md proves them.

        Parameters
        ----------
        confidence : number in (0, 1)
            All bounds hold together with at least this probability, over the draw of the rows.
        largest_fp_regret, largest_fn_regret : positive number, optional
            Only with two classes and costs of each row: no mistake can cost more than this. By default the largest ones
            of the rows.
        largest_regret : positive number or dict of class to number, optional
            Only with several classes and a matrix for each row: no action can cost more than this above the cheapest
            one of its class. By default the largest ones of the rows.

        Returns
        -------
        ShiftGuarantee, ActionsGuarantee after a fit with more than two actions, or ClassGuarantee with several classes
            ``print(model.guarantee().in_words())`` says what is guaranteed and what is assumed. With folds it is for
            the fold models, not for the one that is fitted to all rows.
        """
        check_is_fitted(self, "classes_")
        if self._several is None:
            if largest_regret is not None:
                raise ParameterError(
                    "largest_regret is for several classes; largest_fp_regret and largest_fn_regret are for two"
                )
            return super().guarantee(
                confidence, largest_fp_regret=largest_fp_regret, largest_fn_regret=largest_fn_regret
            )
        if largest_fp_regret is not None or largest_fn_regret is not None:
            raise ParameterError(
                "largest_fp_regret and largest_fn_regret are for two classes; largest_regret is for several"
            )
        reason = self._why_no_guarantee()
        if reason is not None:
            raise ParameterError(f"there is no guarantee for this fit: {reason}")
        return self._several.guarantee(
            confidence, largest_regret, refitted=self._is_refitted, choices=self._models_to_choose_from()
        )

    def _why_no_guarantee(self) -> str | None:
        return super()._why_no_guarantee() if self._several is None else self._several.why_no_guarantee()

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _answer(self, method: str, X: Any, given: GivenCosts) -> Any:
        if self._several is None:
            return super()._answer(method, X, given)
        if given.known:
            name = next(iter(given.known))
            raise CostError(f"{name} is for two classes, and this model knows {self.classes_.size}; give costs")
        if method == "predict":
            return self._act(self._several, X, None)
        rule = self._several.rule
        found = rule.probability(self._raw_probabilities(X))
        if method == "decision_function":
            return -self._several.matrix_in_use(None).expected_cost(rule.tilted(found))
        with np.errstate(divide="ignore"):
            return found if method == "predict_proba" else np.log(found)

    def _act(self, several: ClassFit, X: Any, costs: Any) -> np.ndarray:
        """The action of each row."""
        raw = self._raw_probabilities(X)
        matrix = several.matrix_in_use(costs, len(raw))
        return matrix.label_actions(several.rule_for(matrix).act(raw, matrix.costs))

    def predict(
        self,
        X: Any,
        *,
        costs: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> np.ndarray:
        """The cheapest decision about each row: a class, or an action of the cost matrix.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        costs : CostMatrix or array-like, optional
            Another cost matrix, or one for each row, with the classes of the fit. The shifts are found again for
            another matrix, from out-of-fold probabilities, which takes no new fit.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            With two classes: costs of these rows; those not given are the numbers of the fit. Numbers find the
            correction again; with costs of each row, each row is decided by its own, with the correction of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        check_is_fitted(self, "classes_")
        if self._several is not None and not given.known:
            return self._act(self._several, X, costs)
        if self._several is not None:
            return np.asarray(self._answer("predict", X, given))
        if costs is None and (self._matrix is None or given.known or set(self._matrix.actions) == set(self.classes_)):
            answer: np.ndarray = self._answer("predict", X, given)
            return answer
        if given.known:
            raise CostError(f"give costs or {' and '.join(given.known)}, not both")
        matrix = self._matrix if costs is None else self._two_classes(costs)
        assert matrix is not None
        if set(matrix.actions) == set(matrix.classes):
            return np.asarray(self._answer("predict", X, GivenCosts(**four_costs(matrix, self._positive))))
        taken = self.decide(X, actions=as_actions(matrix, self._positive))
        return matrix.label_actions(taken.choice)

    def _two_classes(self, costs: Any) -> CostMatrix:
        return as_matrix(costs, self._matrix).for_classes(self.classes_.tolist())

    @available_if(offers("predict_proba"))  # type: ignore[untyped-decorator]
    def decide(self, X: Any, *, costs: Any = None, **options: Any) -> Any:
        """The cheapest decisions, with what each is expected to cost.

        Also within limits: with two classes see :func:`uneven.decide`, with several
        :meth:`uneven.CostMatrix.decide_within`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        costs : CostMatrix or array-like, optional
            As in :meth:`predict`.
        **options
            With two classes: ``actions``, limits (``at_most``, ``at_most_share``, ``per``, ``recall_at_least``,
            ``precision_at_least``, ``flag_rate``, ``budget``), ``held_out``, ``confidence`` and the four costs of
            these rows, as every classifier here takes them. With several classes ``at_most={"refer": 50}``,
            ``at_most_share={"refer": 0.05}`` and ``per``, the groups or a column of the data frame X.

        Returns
        -------
        Decisions, or MatrixTable with several classes
        """
        check_is_fitted(self, "classes_")
        if self._several is None:
            if costs is not None:
                matrix = self._two_classes(costs)
                alike = set(matrix.actions) == set(matrix.classes)
                more = four_costs(matrix, self._positive) if alike else {"actions": as_actions(matrix, self._positive)}
                options = {**options, **more}
            return super().decide(X, **options)
        known = {field.name for field in fields(Limits)}
        refused = [name for name, value in options.items() if value is not None and name not in known]
        if refused:
            raise ParameterError(
                f"{refused[0]} is for two classes, and this model knows {self.classes_.size}: with several classes "
                "decide takes costs, at_most, at_most_share and per"
            )
        X, limits = take_groups(self, X, Limits(**{name: options[name] for name in known & options.keys()}))
        raw = self._raw_probabilities(X)
        matrix = self._several.matrix_in_use(costs, len(raw))
        rule = self._several.rule_for(matrix)
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        return decide_within(matrix, rule.probability(raw), limits, rule.act(raw, matrix.costs), index)

    def score(
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
    ) -> float:
        """Minus the expected cost of the decisions, per row and in the unit of the costs: greater is better.

        It is not the accuracy that scikit-learn's classifiers have here, so a search by ``score`` finds the cheapest
        model, not the one with the fewest mistakes.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        costs : CostMatrix or array-like, optional
            Another cost matrix, or one for each row, for the decisions and for what they cost.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            With two classes: costs of these rows, for the decisions and for what they cost; those not given are the
            numbers of the fit. Those of which the fit had one for each row must be given.

        Returns
        -------
        float
        """
        check_is_fitted(self, "classes_")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        if self._several is None and costs is None:
            return super().score(X, y, sample_weight, **given)
        if given.known:
            raise CostError(f"give costs or {' and '.join(given.known)}, not both")
        own = self.costs_ if self._matrix is not None else None
        if costs is None and self._several is not None:
            matrix = self._several.matrix_in_use(None)
        else:
            matrix = as_matrix(costs, own)
        if self._several is None and set(matrix.actions) == set(matrix.classes):
            four = four_costs(matrix.for_classes(self.classes_.tolist()), self._positive)
            return super().score(X, y, sample_weight, **four)
        rows = read_matrix_rows(matrix, y, sample_weight)
        said = self.predict(X, costs=costs)
        return -rows.mean(rows.read_actions("predictions", said))

    # -- what is for two classes ------------------------------------------------------------------------------------

    def with_costs(self, *, costs: Any = None, **options: Any) -> Self:
        """A copy of this fitted model that decides at other costs, without a new fit.

        Its decisions are those of ``predict(X, costs=...)``, with two classes also of ``predict(X, fn_cost=...)``.

        Parameters
        ----------
        costs : CostMatrix, optional
            One matrix for all rows.
        **options
            With two classes: ``fp_cost``, ``fn_cost``, ``tp_cost``, ``tn_cost``, ``actions``, ``prevalence`` and
            limits that :meth:`decide` keeps, as every classifier here takes them.

        Returns
        -------
        estimator
            Of the same class. This model does not change.
        """
        check_is_fitted(self, "classes_")
        if costs is None and self._several is None:
            changed: Self = super().with_costs(**options)
            return changed
        if options:
            raise CostError(f"give costs or {next(iter(options))}, not both; with several classes it is costs")
        if self._several is not None:
            other = copy.copy(self)
            other.__dict__.pop("_guarantee", None)
            other._several = self._several.at(costs)
            other._matrix = other.costs = other._several.matrix
            return other
        matrix = self._two_classes(costs)
        if matrix.per_row:
            raise CostError("with_costs takes one matrix for all rows; give one for each row to predict")
        if set(matrix.actions) == set(matrix.classes):
            changed = super().with_costs(**four_costs(matrix, self._positive))
        else:
            changed = super().with_costs(actions=as_actions(matrix, self._positive))
        changed._matrix = matrix
        return changed

    @property
    def _has_several_classes(self) -> bool:
        return self._several is not None

    def _matrix_to_explain(self, costs: Any, count: int) -> CostMatrix:
        assert self._several is not None
        return self._several.matrix_in_use(costs, count)

    def explain(self, X: Any, background: Any = None, *, costs: Any = None, **options: Any) -> Any:
        """Which columns moved each row across the threshold, or spoke for its decision: see :func:`uneven.explain`.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        background : DataFrame or array-like, optional
            Rows to compare with, such as training rows. By default X.
        costs : CostMatrix or array-like, optional
            With several classes, other costs, as in :meth:`predict`.
        **options
            ``n_draws``; with two classes also the four costs of these rows.

        Returns
        -------
        Explanation, or ClassExplanation with several classes
        """
        from uneven.learners.explaining.explanation import explain

        check_is_fitted(self, "classes_")
        return explain(self, X, background, costs=costs, **options)

"""Classifiers that take a cost for every confusion: two classes as ever, several by shifts of their log-odds.

With two classes a cost matrix is four costs, or actions, and the fit is the one for these. With several classes the
out-of-fold rows give a calibration and shifts (:mod:`uneven.decisions.class_shifts`).
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts
from uneven.decisions.action_guarantee import ActionsGuarantee
from uneven.decisions.class_guarantee import ClassGuarantee, class_guarantee
from uneven.decisions.class_rules import FoldRules
from uneven.decisions.class_shifts import METHODS, ClassRows, ClassRule
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.decide import Limits
from uneven.decisions.guarantee import ShiftGuarantee
from uneven.decisions.matrix_limits import decide_within
from uneven.decisions.scored_rows import MOST_ROWS
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief, warn_caller
from uneven.labels import (
    positive_label,
    read_groups,
    read_target,
    read_weights,
    require_weighted_classes,
    several_classes,
)
from uneven.learners.contract import offers
from uneven.learners.corrected_actions import CorrectedActions
from uneven.learners.given_matrices import BY_NAME, as_actions, as_matrix, four_costs, named_matrix, require_two_classes
from uneven.learners.model_decisions import take_groups
from uneven.metrics.matrix_estimates import matrix_estimates
from uneven.metrics.matrix_rows import read_matrix_rows

#: What an earlier fit to two classes may have left.
_OF_TWO_CLASSES = ("_odds", "_calibrated", "_rows", "_row_costs", "_pairs", "_kept", "_has_rows", "_guarantee")
#: Rules for other matrices that a model keeps.
_MOST_KEPT = 16


@dataclass(frozen=True)
class ClassTask:
    """What a fit with several classes is given, checked.

    Attributes
    ----------
    classes : ndarray
        Sorted.
    truth : ndarray of int
        The number of each row's class.
    sample_weight : ndarray
        Empty if all are 1.
    matrix : CostMatrix
        With its classes in the order of ``classes``.
    """

    classes: np.ndarray
    truth: np.ndarray
    sample_weight: np.ndarray
    matrix: CostMatrix

    @property
    def weight_or_none(self) -> np.ndarray | None:
        """The sample weights as other libraries take them."""
        return self.sample_weight if self.sample_weight.size else None

    @property
    def masses(self) -> np.ndarray:
        """The sample weights, 1 by default."""
        return self.sample_weight if self.sample_weight.size else np.ones(self.truth.size)


class MatrixDecisions(CorrectedActions, ABC):
    """Base of classifiers with the parameter ``costs``: a cost matrix in place of the four costs.

    A subclass implements ``_fit_classes``, which calls ``_keep_classes``, and ``_raw_probabilities``.
    """

    costs: Any = None
    _matrix: CostMatrix | None = None  # of a fit with ``costs``, its classes as in ``classes_``
    _class_rule: ClassRule | None = None  # of a fit with several classes
    _class_absent: tuple[Any, ...] = ()  # classes of the matrix that no row had

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
        for name in ("_matrix", "_class_rule", "_class_absent", "_in_use", "_of_fit", "_guarantee"):
            self.__dict__.pop(name, None)
        count = _num_samples(X)
        if costs is None and self.costs is None:
            require_two_classes(self, y, count)
            return False
        self._require_only_matrix(given)
        if not count:
            raise CostError("X must have at least one row, got none")
        classes, truth = several_classes(read_target(y, count))
        matrix = self._read_matrix(costs, classes)
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
        self._class_absent = tuple(absent)
        task = ClassTask(classes, truth, weight, matrix.for_classes(classes.tolist()))
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

    def _read_matrix(self, costs: Any, classes: np.ndarray) -> CostMatrix:
        """The cost matrix of a fit: the one given to ``fit``, or the constructor's."""
        own = self.costs
        if own is not None and not isinstance(own, CostMatrix) and own not in BY_NAME:
            raise CostError(f"costs must be uneven.CostMatrix(...), 'equal' or 'ordinal', got {brief(own)}")
        if own is not None and isinstance(own, CostMatrix) and own.per_row:
            raise CostError("costs of the learner itself must be one matrix for all rows; give one for each row to fit")
        if isinstance(own, str):
            own = named_matrix(own, classes)
        found = own if costs is None else as_matrix(costs, own)
        unknown = [label for label in classes.tolist() if label not in found.classes]
        if unknown:
            raise CostError(
                f"y has the class {brief(unknown[0])}, which is none of the cost matrix, whose classes are "
                f"{brief(list(found.classes))}"
            )
        return found

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
        self,
        task: ClassTask,
        probability: np.ndarray,
        fold: np.ndarray,
        learnt: np.ndarray,
        trained: float | None,
        groups: Any = None,
        chosen: np.ndarray | None = None,
    ) -> None:
        """Find calibration and shifts from out-of-fold probabilities, and keep what other costs need.

        ``chosen`` are the actions by what was known without each row's fold, if more than the rule comes from folds.
        """
        tested = ~np.isnan(probability[:, 0])
        rows = ClassRows(probability[tested], task.truth[tested], task.masses[tested], task.matrix.take(tested).costs)
        found = FoldRules(rows, fold[tested], learnt, self.method, int(self.order))
        self.classes_, self._matrix, self._class_rule = task.classes, task.matrix.take(np.zeros(1, int)), found.rule
        self._shifts_save = found.pays
        plain = found.act_plainly()
        chosen = found.act_out_of_fold() if chosen is None else chosen[tested]
        weight = None if (rows.weight == 1).all() else rows.weight
        taken = {"plain": plain[None], self.method: chosen[None]}
        group = None if groups is None else read_groups(groups)
        of_tested = None if group is None else group[tested]
        how: dict[str, Any] = {"trained": trained, "groups": of_tested}
        self._class_cost = matrix_estimates(rows.costs, rows.truth, taken, weight, **how)[-1]
        width = len(task.matrix.actions)
        every = {f"all {a}": np.full((1, task.truth.size), k) for k, a in enumerate(task.matrix.actions)}
        all_weight = task.weight_or_none
        constant = matrix_estimates(task.matrix.costs, task.truth, every, all_weight, rules=every, groups=group)
        self._class_constant = {one.name: one for one in constant[:width]}
        self._class_probability = probability
        kept = rows if self.keep_training_rows else rows.thin()
        self._class_rows, self._class_fold, self._class_learnt = rows, fold[tested], learnt
        self._class_how = how
        if kept.truth.size < rows.truth.size:
            if self._why_no_guarantee() is None:
                self._guarantee = self.guarantee()  # needs all rows
            self._class_rows = kept
            self._class_fold = np.full(kept.truth.size, -1)
            self._class_how = {"trained": trained}
        self._class_kept: dict[int, ClassRule] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Without the rules for other cost matrices."""
        state: dict[str, Any] = super().__getstate__()
        if self._class_rule is not None and (self._class_fold >= 0).all():
            state.pop("_guarantee", None)  # can be found again
        return {name: {} if name == "_class_kept" else value for name, value in state.items()}

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
        if self._class_rule is None:
            raise AttributeError(f"{type(self).__name__} was fitted to two classes: shift_ is the shift")
        return self._class_rule.shifts

    def _require_odds(self) -> None:
        if self._class_rule is not None:
            raise AttributeError(
                f"this is for two classes, and {type(self).__name__} was fitted to {self.classes_.size}; shifts_, "
                "costs_, out_of_fold_cost_ and constant_costs_ are for several"
            )
        super()._require_odds()

    @property
    def constant_costs_(self) -> dict[str, Any]:
        """Expected costs of the same decision for every row, on the training rows, with 95 % intervals."""
        check_is_fitted(self, "classes_")
        return super().constant_costs_ if self._class_rule is None else self._class_constant

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
        if self._class_rule is None:
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
        if isinstance(largest_regret, Mapping):
            unknown = [label for label in largest_regret if label not in self.classes_.tolist()]
            if unknown:
                raise ParameterError(f"largest_regret names {brief(unknown[0])}, which is none of the classes")
            places = self.classes_.tolist()
            largest_regret = {places.index(label): most for label, most in largest_regret.items()}
        return class_guarantee(
            self._class_rows,
            self._class_fold,
            self._class_rule,
            confidence=confidence,
            largest_regret=largest_regret,
            refitted=self._is_refitted,
            choices=self._models_to_choose_from(),
        )

    def _why_no_guarantee(self) -> str | None:
        if self._class_rule is None:
            return super()._why_no_guarantee()
        if self._class_absent:
            return f"no row is of the class {brief(self._class_absent[0])} of the cost matrix"
        if self._class_how.get("groups") is not None:
            return "rows of one group are not independent; a fit to one row of each group would have one"
        if self._class_fold.size != self._class_rows.truth.size or (self._class_fold < 0).any():
            if self._class_rows.truth.size < self._class_probability.shape[0]:
                return (
                    f"of more than {MOST_ROWS:,} rows only some are kept, which is enough for guarantee_ of the fit; "
                    "keep_training_rows=True would keep all"
                )
            return "some rows were tested by several folds; cv=5 would work"
        if not self._class_rows.regrets.any():
            return "one action is the cheapest one for every row, whatever its class"
        if np.ptp(self._class_rows.weight) > 0:
            return "it does not cover different sample weights; a fit without sample_weight would have one"
        return None

    # -- deciding ---------------------------------------------------------------------------------------------------

    def _matrix_in_use(self, costs: Any, count: int | None = None) -> CostMatrix:
        """The matrix of the fit, or another one, with its classes as in ``classes_``."""
        if costs is None:
            if self._class_rows.costs.ndim == 3:
                raise CostError("the fit had a cost matrix for each row, so these rows need one, too: give costs")
            return self.costs_
        matrix = as_matrix(costs, self.costs_).for_classes(self.classes_.tolist())
        if matrix.per_row and count is not None and len(matrix.costs) != count:
            raise CostError(f"there are costs for {len(matrix.costs)} rows, but {count} rows in X")
        return matrix

    def _rule_for(self, matrix: CostMatrix) -> ClassRule:
        """The rule of the fit; for another matrix one that is found for it. Matrices of rows have that of the fit."""
        assert self._class_rule is not None
        if matrix.per_row or (matrix == self.costs_ and self._class_rows.costs.ndim == 2):
            return self._class_rule
        key = hash(matrix)
        if key not in self._class_kept:
            if len(self._class_kept) >= _MOST_KEPT:
                self._class_kept.clear()
            rows = self._class_rows
            rows = ClassRows(rows.probability, rows.truth, rows.weight, matrix.costs)
            rule = FoldRules(rows, self._class_fold, self._class_learnt, self.method, int(self.order)).rule
            self._class_kept[key] = rule
        return self._class_kept[key]

    def _answer(self, method: str, X: Any, given: GivenCosts) -> Any:
        if self._class_rule is None:
            return super()._answer(method, X, given)
        if given.known:
            name = next(iter(given.known))
            raise CostError(f"{name} is for two classes, and this model knows {self.classes_.size}; give costs")
        if method == "predict":
            return self._act(X, None)
        rule, found = self._class_rule, self._class_rule.probability(self._raw_probabilities(X))
        if method == "decision_function":
            return -self._matrix_in_use(None).expected_cost(rule.tilted(found))
        with np.errstate(divide="ignore"):
            return found if method == "predict_proba" else np.log(found)

    def _act(self, X: Any, costs: Any) -> np.ndarray:
        """The action of each row."""
        raw = self._raw_probabilities(X)
        matrix = self._matrix_in_use(costs, len(raw))
        return matrix.label_actions(self._rule_for(matrix).act(raw, matrix.costs))

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
        if self._class_rule is not None:
            return self._answer("predict", X, given) if given.known or costs is None else self._act(X, costs)
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
        if self._class_rule is None:
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
        matrix = self._matrix_in_use(costs, len(raw))
        rule = self._rule_for(matrix)
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
        if self._class_rule is None and costs is None:
            return super().score(X, y, sample_weight, **given)
        if given.known:
            raise CostError(f"give costs or {' and '.join(given.known)}, not both")
        own = self.costs_ if self._matrix is not None else None
        matrix = self._matrix_in_use(None) if costs is None else as_matrix(costs, own)
        if self._class_rule is None and set(matrix.actions) == set(matrix.classes):
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
        if costs is None and self._class_rule is None:
            changed: Self = super().with_costs(**options)
            return changed
        if options:
            raise CostError(f"give costs or {next(iter(options))}, not both; with several classes it is costs")
        matrix = self._two_classes(costs) if self._class_rule is None else self._matrix_in_use(costs)
        if matrix.per_row:
            raise CostError("with_costs takes one matrix for all rows; give one for each row to predict")
        if self._class_rule is None:
            if set(matrix.actions) == set(matrix.classes):
                changed = super().with_costs(**four_costs(matrix, self._positive))
            else:
                changed = super().with_costs(actions=as_actions(matrix, self._positive))
            changed._matrix = matrix
            return changed
        other = copy.copy(self)
        other.__dict__.pop("_guarantee", None)
        if isinstance(costs, CostMatrix):
            other._class_absent = tuple(label for label in costs.classes if label not in self.classes_.tolist())
        rows = ClassRows(self._class_rows.probability, self._class_rows.truth, self._class_rows.weight, matrix.costs)
        found = FoldRules(rows, self._class_fold, self._class_learnt, self.method, int(self.order))
        other._matrix, other._class_rule, other._class_rows = matrix, found.rule, rows
        other.costs, other._class_kept, other._shifts_save = matrix, {}, found.pays
        chosen, plain = found.act_out_of_fold(), found.act_plainly()
        weight = None if (rows.weight == 1).all() else rows.weight
        taken = {"plain": plain[None], self.method: chosen[None]}
        other._class_cost = matrix_estimates(rows.costs, rows.truth, taken, weight, **self._class_how)[-1]
        return other

    def explain(self, X: Any, background: Any = None, **options: Any) -> Any:
        """Which columns moved each row across the threshold: see :func:`uneven.explain`. For two classes only."""
        check_is_fitted(self, "classes_")
        if self._class_rule is not None:
            raise ParameterError(f"explain is for two classes, and this model knows {self.classes_.size}")
        return super().explain(X, background, **options)

"""A fit to several classes: what it is given, and what it found on rows that its models did not learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from uneven.decisions.class_guarantee import ClassGuarantee, class_guarantee
from uneven.decisions.class_rules import FoldRules
from uneven.decisions.class_shifts import ClassRows, ClassRule
from uneven.decisions.cost_matrix import CostMatrix
from uneven.decisions.scored_rows import MOST_ROWS
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief
from uneven.labels import read_groups
from uneven.learners.given_matrices import as_matrix
from uneven.metrics.matrix_estimates import MatrixCostEstimate, matrix_estimates

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
    absent : tuple
        Classes of the given matrix that no row has.
    """

    classes: np.ndarray
    truth: np.ndarray
    sample_weight: np.ndarray
    matrix: CostMatrix
    absent: tuple[Any, ...] = ()

    @property
    def weight_or_none(self) -> np.ndarray | None:
        """The sample weights as other libraries take them."""
        return self.sample_weight if self.sample_weight.size else None

    @property
    def masses(self) -> np.ndarray:
        """The sample weights, 1 by default."""
        return self.sample_weight if self.sample_weight.size else np.ones(self.truth.size)


@dataclass(frozen=True)
class OutOfFoldClasses:
    """What models say about rows that they did not learn from.

    Attributes
    ----------
    probability : ndarray of shape (n_samples, n_classes)
        NaN in the rows that no fold tested.
    fold : ndarray of int of shape (n_samples,)
        The number of the fold that tested each row, -1 if several did.
    learnt : ndarray of bool of shape (folds, folds)
        For each fold (row), whether its model learnt from another (column).
    trained : float or None
        How many rows the model of a fold learnt from.
    """

    probability: np.ndarray
    fold: np.ndarray
    learnt: np.ndarray
    trained: float | None


@dataclass(frozen=True)
class UnseenClasses:
    """Rows with calibrated probabilities by what was known without their folds.

    Attributes
    ----------
    probability : ndarray of shape (n, classes)
    truth : ndarray of int
        The number of each row's class.
    weight : ndarray
    trained : float or None
        How many rows the model of a fold learnt from.
    """

    probability: np.ndarray
    truth: np.ndarray
    weight: np.ndarray
    trained: float | None


@dataclass(frozen=True)
class ClassFit:
    """What a fit to several classes found. It decides at other cost matrices, too, which takes no new fit.

    Attributes
    ----------
    matrix : CostMatrix
        One for all rows; after a fit with one for each row that of the first.
    rule : ClassRule
    saving : float
        By how much shifts lower the cost per row, judged on rows that did not find them.
    rows : ClassRows
        Those that a fold tested. Of very many some with the weights of all, unless all are to be kept.
    fold : ndarray of int
        Of ``rows``; -1 where several folds tested a row, and where only some rows are kept.
    learnt : ndarray of bool
        See :class:`OutOfFoldClasses`.
    method : str
    order : int
    probability : ndarray
        Of all rows of the fit; NaN in those that no fold tested.
    cost : MatrixCostEstimate
        What the decisions cost, out of fold.
    constant : dict of str to MatrixCostEstimate
        What the same action for every row costs.
    trained : float or None
        See :class:`OutOfFoldClasses`.
    group : ndarray or None
        Of ``rows``, if they are not independent.
    absent : tuple
        Classes of the cost matrix that no row has.
    """

    matrix: CostMatrix
    rule: ClassRule
    saving: float
    rows: ClassRows
    fold: np.ndarray
    learnt: np.ndarray
    method: str
    order: int
    probability: np.ndarray
    cost: MatrixCostEstimate
    constant: dict[str, MatrixCostEstimate]
    trained: float | None
    group: np.ndarray | None
    absent: tuple[Any, ...]
    _rules: dict[int, ClassRule] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def find(
        cls, task: ClassTask, said: OutOfFoldClasses, method: str, order: int, groups: Any, chosen: np.ndarray | None
    ) -> Self:
        """Calibration and shifts from out-of-fold probabilities, and what the decisions cost.

        ``chosen`` are the actions by what was known without each row's fold, if more than the rule comes from folds.
        """
        tested = ~np.isnan(said.probability[:, 0])
        costs = task.matrix.take(tested).costs
        rows = ClassRows(said.probability[tested], task.truth[tested], task.masses[tested], costs)
        found = FoldRules(rows, said.fold[tested], said.learnt, method, order)
        group = None if groups is None else read_groups(groups)
        actions = task.matrix.actions
        every = {f"all {a}": np.full((1, task.truth.size), k) for k, a in enumerate(actions)}
        weight = task.weight_or_none
        constant = matrix_estimates(task.matrix.costs, task.truth, every, weight, rules=every, groups=group)
        group = None if group is None else group[tested]
        chosen = None if chosen is None else chosen[tested]
        return cls(
            matrix=task.matrix.take(np.zeros(1, int)),
            rule=found.rule,
            saving=found.pays,
            rows=rows,
            fold=said.fold[tested],
            learnt=said.learnt,
            method=method,
            order=order,
            probability=said.probability,
            cost=_estimate(found, chosen, said.trained, group),
            constant={one.name: one for one in constant[: len(actions)]},
            trained=said.trained,
            group=group,
            absent=task.absent,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without the rules for other cost matrices."""
        state = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        return {**state, "_rules": {}}

    @property
    def has_all_rows(self) -> bool:
        """Whether each row is kept, with the one fold that tested it."""
        return bool((self.fold >= 0).all())

    def thin(self) -> ClassFit:
        """The same with some of very many rows."""
        rows = self.rows.thin()
        if rows.truth.size == self.rows.truth.size:
            return self
        return replace(self, rows=rows, fold=np.full(rows.truth.size, -1), group=None)

    def unseen(self) -> UnseenClasses:
        """The rows, with calibrated probabilities by what was known without their folds."""
        rules = FoldRules(self.rows, self.fold, self.learnt, "none", self.order)
        return UnseenClasses(rules.calibrate_out_of_fold(), self.rows.truth, self.rows.weight, self.trained)

    # -- other costs ------------------------------------------------------------------------------------------------

    @cached_property
    def _labels(self) -> list[Any]:
        return list(self.matrix.classes)

    def matrix_in_use(self, costs: Any, count: int | None = None) -> CostMatrix:
        """The matrix of the fit, or another one with its classes in the same order; one for each of ``count`` rows."""
        if costs is None:
            if self.rows.costs.ndim == 3:
                raise CostError("the fit had a cost matrix for each row, so these rows need one, too: give costs")
            return self.matrix
        matrix = as_matrix(costs, self.matrix).for_classes(self._labels)
        if matrix.per_row and count is not None and len(matrix.costs) != count:
            raise CostError(f"there are costs for {len(matrix.costs)} rows, but {count} rows in X")
        return matrix

    def rule_for(self, matrix: CostMatrix) -> ClassRule:
        """The rule of the fit; for another matrix one that is found for it. Matrices of rows have that of the fit."""
        if matrix.per_row or (matrix == self.matrix and self.rows.costs.ndim == 2):
            return self.rule
        key = hash(matrix)
        if key not in self._rules:
            if len(self._rules) >= _MOST_KEPT:
                self._rules.clear()
            self._rules[key] = self._found_at(matrix).rule
        return self._rules[key]

    def at(self, costs: Any) -> ClassFit:
        """As if the fit had had these costs, with the same models."""
        matrix = self.matrix_in_use(costs)
        if matrix.per_row:
            raise CostError("with_costs takes one matrix for all rows; give one for each row to predict")
        absent = self.absent
        if isinstance(costs, CostMatrix):
            absent = tuple(label for label in costs.classes if label not in self._labels)
        found = self._found_at(matrix)
        return replace(
            self,
            matrix=matrix,
            rule=found.rule,
            saving=found.pays,
            rows=found.rows,
            cost=_estimate(found, None, self.trained, self.group),
            absent=absent,
            _rules={},
        )

    def _found_at(self, matrix: CostMatrix) -> FoldRules:
        rows = ClassRows(self.rows.probability, self.rows.truth, self.rows.weight, matrix.costs)
        return FoldRules(rows, self.fold, self.learnt, self.method, self.order)

    # -- what is guaranteed -----------------------------------------------------------------------------------------

    def guarantee(
        self, confidence: Exact, largest: Exact | Mapping[Any, Exact] | None, refitted: bool, choices: int
    ) -> ClassGuarantee:
        """Bounds of what the decisions cost on new rows; ``choices``: of how many models one was chosen."""
        if isinstance(largest, Mapping):
            unknown = [label for label in largest if label not in self._labels]
            if unknown:
                raise ParameterError(f"largest_regret names {brief(unknown[0])}, which is none of the classes")
            largest = {self._labels.index(label): most for label, most in largest.items()}
        return class_guarantee(
            self.rows,
            self.fold,
            self.rule,
            confidence=confidence,
            largest_regret=largest,
            refitted=refitted,
            choices=choices,
        )

    def why_no_guarantee(self) -> str | None:
        """None if the theorem covers the fit."""
        if self.absent:
            return f"no row is of the class {brief(self.absent[0])} of the cost matrix"
        if self.group is not None:
            return "rows of one group are not independent; a fit to one row of each group would have one"
        if not self.has_all_rows:
            if self.rows.truth.size < self.probability.shape[0]:
                return (
                    f"of more than {MOST_ROWS:,} rows only some are kept, which is enough for guarantee_ of the fit; "
                    "keep_training_rows=True would keep all"
                )
            return "some rows were tested by several folds; cv=5 would work"
        if not self.rows.regrets.any():
            return "one action is the cheapest one for every row, whatever its class"
        if np.ptp(self.rows.weight) > 0:
            return "it does not cover different sample weights; a fit without sample_weight would have one"
        return None


def _estimate(
    found: FoldRules, chosen: np.ndarray | None, trained: float | None, group: np.ndarray | None
) -> MatrixCostEstimate:
    """Cost of the out-of-fold decisions, with the difference to those at the models' own probabilities."""
    rows = found.rows
    weight = None if (rows.weight == 1).all() else rows.weight
    chosen = found.act_out_of_fold() if chosen is None else chosen
    taken = {"plain": found.act_plainly()[None], found.method: chosen[None]}
    return matrix_estimates(rows.costs, rows.truth, taken, weight, trained=trained, groups=group)[-1]

"""Several classes and a cost for every confusion: which action is the cheapest, and what a cost matrix cannot see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.decisions.matrix_files import read_cost_cells
from uneven.decisions.matrix_names import place_of, places_of, read_label_names, read_names
from uneven.decisions.matrix_regret import MatrixRegret
from uneven.decisions.matrix_ties import settle_ties
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import require_same_length
from uneven.losses import Phi

if TYPE_CHECKING:
    from uneven.decisions.matrix_table import MatrixTable

#: How far the rows of probabilities may sum from 1: float32 models, and rounded files.
_SUM = 1e-4


@dataclass(frozen=True)
class ClassWeights:
    """Whether weights of the classes express a cost matrix.

    Attributes
    ----------
    weights : dict or None
        The weight of each class, up to a common factor; None if no weights express the matrix.
    reason : str
        Why, or two decisions that no weights can give.
    """

    weights: dict[Any, float] | None
    reason: str

    def __bool__(self) -> bool:
        return self.weights is not None


class CostMatrix:
    r"""What each action costs in each class.

    Where the classes have probabilities :math:`q_y`, the cheapest action minimises

    .. math:: \sum_y q_y \, C[y, a].

    Parameters
    ----------
    costs : array-like of shape (classes, actions), mapping or data frame
        ``costs[y][a]`` is the cost of action a where y is true; a benefit is negative. A mapping has the form ``{class:
        {action: cost}}``. A data frame has the classes as its index and the actions as its columns. An array of shape
        (rows, classes, actions) holds a matrix for each row.
    classes, actions : sequence of labels, optional
        Names in the order of ``costs``, unless it has names. By default 0, 1, 2, ...; actions are the classes if there
        are as many.

    Examples
    --------
    Triage: sending a patient with a stroke home costs 1,000.

    >>> import uneven
    >>> costs = uneven.CostMatrix(
    ...     [[0, 5, 20], [30, 0, 10], [1000, 200, 0]],
    ...     classes=["harmless", "infection", "stroke"], actions=["home", "ward", "lab"],
    ... )
    >>> costs.decide([[0.99, 0.009, 0.001], [0.7, 0.2, 0.1]]).tolist()
    ['home', 'lab']
    >>> costs.expected_cost([0.7, 0.2, 0.1])
    array([106. ,  23.5,  16. ])

    Weights of classes cannot say that some confusions are worse than others:

    >>> print(uneven.CostMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).expressible_by_class_weights.reason)
    where 0 is true, 1 costs 1 and 2 costs 2; between these two, no weights make the probability of 0 count
    """

    def __init__(self, costs: Any, classes: Sequence[Any] | None = None, actions: Sequence[Any] | None = None) -> None:
        rows, known_classes, known_actions = _with_names(costs)
        shape = np.shape(rows)
        if len(shape) not in (2, 3) or min(shape) < 1:
            raise CostError(f"costs must have the shape (classes, actions) or (rows, classes, actions), got {shape}")
        count, width = shape[-2:]
        self.classes = read_label_names("classes", classes, known_classes, count)
        default = self.classes if width == count and known_actions is None else known_actions
        self.actions = read_label_names("actions", actions, default, width)
        if count < 2 or width < 2:
            raise CostError(f"a cost matrix needs two classes and two actions, got {count} and {width}")
        if len(shape) == 3:
            array, _ = inputs.float_array("costs", rows, CostError)
            if not np.isfinite(array).all():
                raise CostError("costs must hold finite numbers")
            self._exact: tuple[tuple[Fraction, ...], ...] | None = None
            with np.errstate(over="ignore"):
                regrets = array - array.min(axis=2, keepdims=True)
        else:
            self._exact = tuple(
                tuple(inputs.exact(f"the cost of {a!r} where {y!r} is true", value, CostError) for a, value in cells)
                for y, cells in (
                    (y, zip(self.actions, row, strict=True)) for y, row in zip(self.classes, rows, strict=True)
                )
            )
            array = np.array([[inputs.to_float(cost) for cost in row] for row in self._exact])
            regrets = np.array([[inputs.to_float(cost - min(row)) for cost in row] for row in self._exact])
        if not np.isfinite(regrets).all():
            raise CostError("the difference of two costs is too large for double precision; use another unit")
        #: The costs as doubles.
        self.costs: np.ndarray = array
        self._regrets = regrets

    @classmethod
    def read(cls, path: str | Path) -> CostMatrix:
        """A cost matrix from a file: actions in the first line, the true classes in the first column.

        Parameters
        ----------
        path : str or Path
            A text (.csv, .tsv) with commas, semicolons or tabs, or a workbook (.xlsx), whose first sheet is read.
        """
        cells = read_cost_cells(path)
        return cls([line[1:] for line in cells[1:]], [line[0] for line in cells[1:]], cells[0][1:])

    def take(self, rows: Any) -> CostMatrix:
        """The matrices of some rows, given by numbers or booleans; one matrix for all rows stays as it is."""
        if not self.per_row:
            return self
        return CostMatrix(self.costs[np.asarray(rows)], self.classes, self.actions)

    def for_classes(self, classes: Sequence[Any]) -> CostMatrix:
        """The matrix with its classes in another order, or with some of them only.

        Examples
        --------
        scikit-learn's classifiers sort the classes:

        >>> import uneven
        >>> costs = uneven.CostMatrix([[0, 1, 4], [2, 0, 1], [9, 3, 0]], classes=["low", "mid", "high"])
        >>> costs.for_classes(["high", "low", "mid"]).costs.tolist()
        [[9.0, 3.0, 0.0], [0.0, 1.0, 4.0], [2.0, 0.0, 1.0]]
        """
        places = [place_of("class", label, self.classes) for label in classes]
        rows = self.costs[:, places] if self._exact is None else [self._exact[place] for place in places]
        return CostMatrix(rows, [self.classes[place] for place in places], self.actions)

    def with_costs_of_rows(self, cells: Mapping[tuple[Any, Any], Any]) -> CostMatrix:
        """A matrix for each row: this one, with other costs in some cells.

        Parameters
        ----------
        cells : mapping of (class, action) to array-like of shape (n,) or number
            At least one cell has a cost for each row.

        Examples
        --------
        A missed fraud costs its amount:

        >>> import uneven
        >>> costs = uneven.CostMatrix({"honest": {"pay": 0, "check": 4}, "fraud": {"pay": 0, "check": 4}})
        >>> of_rows = costs.with_costs_of_rows({("fraud", "pay"): [10, 200]})
        >>> of_rows.decide([[0.9, 0.1], [0.9, 0.1]]).tolist()
        ['pay', 'check']
        """
        if not isinstance(cells, Mapping) or not cells:
            raise CostError(f"costs of rows must have the form {{(class, action): costs}}, got {brief(cells)}")
        places, columns = [], []
        for cell, given in cells.items():
            if not isinstance(cell, tuple) or len(cell) != 2:
                raise CostError(f"costs of rows are given for pairs (class, action), got {brief(cell)}")
            name = f"the costs of {cell[1]!r} where {cell[0]!r} is true"
            places.append((place_of("class", cell[0], self.classes), place_of("action", cell[1], self.actions)))
            column, single = inputs.float_array(name, given, CostError)
            if column.ndim > 1 or not np.isfinite(column).all():
                raise CostError(f"{name} must be a list of finite numbers, one for each row, got {brief(given)}")
            columns.append(column[0] if single else column)
        lengths = {column.size for column in columns if column.ndim} | ({len(self.costs)} if self.per_row else set())
        if len(lengths) != 1:
            known = " and ".join(map(str, sorted(lengths))) or "numbers only"
            raise CostError(f"costs of rows need one length, got {known}")
        count = lengths.pop()
        found = np.broadcast_to(self.costs, (count, len(self.classes), len(self.actions))).copy()
        for (y, a), column in zip(places, columns, strict=True):
            found[:, y, a] = column
        return CostMatrix(found, self.classes, self.actions)

    @property
    def per_row(self) -> bool:
        """Whether there is a matrix for each row."""
        return self._exact is None

    @property
    def exact_costs(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The costs as rationals; None if there is a matrix for each row."""
        return self._exact

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed from the costs."""
        kept = ("classes", "actions", "costs", "_exact", "_regrets")
        return {name: value for name, value in vars(self).items() if name in kept}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostMatrix) or (self.classes, self.actions) != (other.classes, other.actions):
            return NotImplemented if not isinstance(other, CostMatrix) else False
        return np.array_equal(self.costs, other.costs) if self.per_row else self._exact == other._exact

    def __hash__(self) -> int:
        return hash((self.classes, self.actions, self._exact if self._exact is not None else self.costs.tobytes()))

    def __repr__(self) -> str:
        rows = f"{len(self.costs)} rows, " if self.per_row else ""
        return f"<CostMatrix: {rows}{len(self.classes)} classes, {len(self.actions)} actions>"

    # -- decisions ----------------------------------------------------------------------------------------------------

    def expected_cost(self, probabilities: Any) -> np.ndarray:
        """Expected cost of each action.

        Parameters
        ----------
        probabilities : array-like of shape (n, classes) or (classes,)
            Probabilities of the classes, in the order of :attr:`classes`.

        Returns
        -------
        ndarray of shape (n, actions) or (actions,)
        """
        shares, single = self._read(probabilities)
        found = _mean(shares, self.costs)
        return found[0] if single else found

    def decide(self, probabilities: Any) -> Any:
        """The cheapest action for each row of probabilities; of equally cheap ones the first.

        With one matrix for all rows, near ties are settled in rationals, so that :meth:`regret_bound` holds.
        """
        shares, single = self._read(probabilities)
        expected = self.expected_regrets(shares)
        choice = expected.argmin(axis=1) if self._exact is None else settle_ties(shares, expected, self._exact)
        found = self._labels[choice]
        return found[0] if single else found

    def decide_within(
        self, probabilities: Any, *, at_most: Any = None, at_most_share: Any = None, per: Any = None
    ) -> MatrixTable:
        """The cheapest decisions if only so many rows may get some of the actions.

        Parameters
        ----------
        probabilities : array-like of shape (n, classes)
        at_most : dict of action to int, optional
            Most rows that get an action; several actions may have a limit.
        at_most_share : dict of action to number in [0, 1], optional
            The same as a share of the rows, rounded down.
        per : array-like of shape (n,), optional
            The group of each row, such as its day: limits hold in each group.

        Examples
        --------
        >>> import uneven
        >>> costs = uneven.CostMatrix([[0, 3, 1], [9, 0, 1]], actions=[0, 1, "ask"])
        >>> found = costs.decide_within([[0.6, 0.4], [0.8, 0.2], [0.1, 0.9]], at_most={"ask": 1})
        >>> found.action.tolist(), round(found.price_of_one_more, 2)
        ([1, 'ask', 1], 0.8)
        """
        from uneven.decisions.decide import Limits
        from uneven.decisions.matrix_limits import decide_within

        shares, single = self._read(probabilities)
        if single:
            raise CostError("decide_within needs rows of probabilities, got one; decide takes one")
        index = probabilities.index if hasattr(probabilities, "iloc") else None
        free = self.number_actions("decisions", self.decide(shares))
        return decide_within(self, shares, Limits(at_most, at_most_share, per), free, index)

    def expected_regrets(self, shares: np.ndarray) -> np.ndarray:
        """Expected cost of each action above the cheapest one of each class, for probabilities as doubles."""
        return _mean(shares, self._regrets)

    def paid(self, y_true: Any, decisions: Any) -> np.ndarray:
        """What the decision about each row costs.

        Parameters
        ----------
        y_true, decisions : array-like of shape (n,)
            The true class of each row, and the action that was taken.

        Examples
        --------
        >>> import uneven
        >>> costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
        >>> costs.paid([0, 1, 2, 2], [1, 1, 2, 0])
        array([ 1.,  0.,  0., 20.])
        """
        truth, taken = self.number_classes("y_true", y_true), self.number_actions("decisions", decisions)
        require_same_length(y_true=truth, decisions=taken)
        if not self.per_row:
            return np.asarray(self.costs[truth, taken])
        if len(truth) != len(self.costs):
            raise CostError(f"there are costs for {len(self.costs)} rows, but {len(truth)} labels")
        return np.asarray(self.costs[np.arange(len(truth)), truth, taken])

    def number_classes(self, name: str, labels: Any) -> np.ndarray:
        """The number of the class of each row; ``name`` is what an error calls the labels."""
        return places_of(name, labels, self.classes, "class")

    def number_actions(self, name: str, labels: Any) -> np.ndarray:
        """The number of the action of each row; ``name`` is what an error calls the labels."""
        return places_of(name, labels, self.actions, "action")

    def label_actions(self, choice: np.ndarray) -> np.ndarray:
        """The actions of these numbers."""
        return self._labels[choice]

    @cached_property
    def _labels(self) -> np.ndarray:
        return np.array(self.actions, dtype=None if len({type(a) for a in self.actions}) == 1 else object)

    def _read(self, probabilities: Any) -> tuple[np.ndarray, bool]:
        shares, _ = inputs.probabilities("probabilities", probabilities, CostError)
        single = shares.ndim == 1
        shares = np.atleast_2d(shares).astype(np.float64)
        if shares.ndim != 2 or shares.shape[1] != len(self.classes):
            wanted = f"{len(self.classes)} columns, one for each class"
            raise CostError(f"probabilities must have {wanted}, got the shape {shares.shape}")
        if self.per_row and len(shares) != len(self.costs):
            raise CostError(f"there are costs for {len(self.costs)} rows, but probabilities for {len(shares)}")
        sums = shares.sum(axis=1)
        if (np.abs(sums - 1) > _SUM).any():
            wrong = float(sums[np.abs(sums - 1).argmax()])
            raise CostError(f"the probabilities of a row must sum to 1, got {wrong:.6g}")
        return shares, single

    # -- what the matrix cannot see -----------------------------------------------------------------------------------

    @cached_property
    def never_cheapest(self) -> dict[Any, str]:
        """Actions that are never the cheapest, with a sentence: what beats them, and at which price they would pay."""
        found = {}
        for k in self.regret.never_cheapest:
            found[self.actions[k]] = (
                f"{self.actions[k]!r} is never the cheapest action; it would be for some probabilities if it cost "
                f"{inputs.show_above(self.regret.gap_of(k), 6)} less in every class"
            )
        return found

    @cached_property
    def never_told_apart(self) -> list[tuple[Any, Any]]:
        """Pairs of classes that no decision depends on: their costs differ by the same amount for every action."""
        exact = self._one_matrix()
        return [
            (self.classes[i], self.classes[j])
            for i in range(len(exact))
            for j in range(i + 1, len(exact))
            if len({a - b for a, b in zip(exact[i], exact[j], strict=True)}) == 1
        ]

    @property
    def remarks(self) -> list[str]:
        """What is odd about the matrix, in sentences."""
        pairs = [f"no decision depends on whether {a!r} or {b!r} is true" for a, b in self.never_told_apart]
        return [*self.never_cheapest.values(), *pairs]

    @cached_property
    def expressible_by_class_weights(self) -> ClassWeights:
        """Whether "the class with the largest weight times probability" is the cheapest decision for all probabilities.

        It is if and only if all wrong actions cost the same in each class. The weights are then what they cost more
        than the right one. docs/cost-matrix.md has the proof.
        """
        exact = self._one_matrix()
        if self.actions != self.classes:
            return ClassWeights(None, "class weights can only choose classes, but the actions are not the classes")
        weights = {}
        for y, (label, row) in enumerate(zip(self.classes, exact, strict=True)):
            wrong = [(cost, a) for a, cost in enumerate(row) if a != y]
            (low, first), (high, second) = min(wrong), max(wrong)
            if low != high:
                names = repr(self.actions[first]), repr(self.actions[second])
                return ClassWeights(
                    None,
                    f"where {label!r} is true, {names[0]} costs {inputs.to_float(low):.6g} and {names[1]} costs "
                    f"{inputs.to_float(high):.6g}; between these two, no weights make the probability of {label!r} "
                    "count",
                )
            if low <= row[y]:
                return ClassWeights(None, f"where {label!r} is true, the wrong actions cost no more than the right one")
            weights[label] = inputs.to_float(low - row[y])
        return ClassWeights(weights, "in each class, all wrong actions cost the same")

    # -- theory -------------------------------------------------------------------------------------------------------

    @cached_property
    def regret(self) -> MatrixRegret:
        """What a small log loss guarantees for the cost: psi, its inverse, tight cases (Theorem M)."""
        return MatrixRegret(self._one_matrix())

    def psi(self, eps: Any) -> Any:
        """The least log-loss regret with a cost regret of eps, made convex: psi(cost regret) <= log-loss regret."""
        return self.regret.psi(eps)

    def regions(self) -> dict[Any, np.ndarray]:
        """Where each action is the cheapest: the corners of its polytope of probabilities.

        Returns
        -------
        dict of ndarray of shape (corners, classes)
            Nearest doubles of rational numbers; no rows for an action that is never the cheapest.

        Examples
        --------
        >>> import uneven
        >>> uneven.CostMatrix([[0, 1], [9, 0]]).regions()[1].tolist()
        [[0.0, 1.0], [0.9, 0.1]]
        """
        count = len(self.classes)
        corners = ((a, self.regret.corners(k)) for k, a in enumerate(self.actions))
        return {a: np.array([[float(x) for x in q] for q in found]).reshape(-1, count) for a, found in corners}

    def regret_bound(self, surrogate_regret: Any, *, loss: str | Phi = "log") -> Any:
        """A proved upper bound of the cost regret of :meth:`decide`, given the regret of the probabilities.

        Parameters
        ----------
        surrogate_regret : float or array-like
            The expected loss of the probabilities above that of the true ones: the mean Kullback-Leibler divergence, or
            the mean squared distance.
        loss : {"log", "brier"}, or a phi
            Log loss in natural units, or the sum of squared differences over the classes. With a phi, such as
            ``"hinge"``, the regret is that of scores that sum to 0: the mean over the rows of the costs times
            phi(-score), summed over the actions, above its infimum. The bound is then that of the action with the
            largest score (:class:`uneven.UnevenMultinomialClassifier`).

        Examples
        --------
        >>> import uneven
        >>> costs = uneven.CostMatrix([[0, 1, 2], [5, 0, 1], [20, 5, 0]])
        >>> round(costs.regret_bound(0.01), 4), round(costs.regret_bound(0.01, loss="brier"), 4)
        (0.5918, 1.6083)
        """
        if loss not in ("log", "brier"):
            from uneven.decisions.matrix_surrogates import bound_of_phi

            return bound_of_phi(self._one_matrix(), loss, surrogate_regret)
        return self.regret.bound(surrogate_regret, brier=loss == "brier")

    def _one_matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        if self._exact is None:
            raise CostError("this needs one matrix for all rows, got one for each row")
        return self._exact


def _mean(shares: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The mean of the costs over the classes, for each row and action."""
    return shares @ costs if costs.ndim == 2 else np.einsum("ny,nya->na", shares, costs)


def _with_names(costs: Any) -> tuple[Any, list[Any] | None, list[Any] | None]:
    """The numbers, and names of the classes and actions if ``costs`` has them."""
    if isinstance(costs, CostMatrix):
        return costs.costs if costs._exact is None else costs._exact, list(costs.classes), list(costs.actions)
    return read_names(costs)

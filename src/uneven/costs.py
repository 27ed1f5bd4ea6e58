"""What decisions cost: the same for every row, or a number for each row; and amounts in words."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from uneven import inputs
from uneven.errors import CostError
from uneven.inputs import Exact, brief

if TYPE_CHECKING:
    from uneven.observed_costs import Change, ObservedCost

__all__ = ["COSTS", "Cost", "GivenCosts", "RowCosts"]

#: The names of the four costs, in the order in which functions take them.
COSTS = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")
#: What an outcome costs if nobody says so.
DEFAULT_COSTS = {"fp_cost": 1.0, "fn_cost": 1.0, "tp_cost": 0.0, "tn_cost": 0.0}


@dataclass(frozen=True, kw_only=True)
class Cost:
    r"""Costs of a false positive and of a false negative.

    Only their ratio matters for a decision; it is carried by the cost parameter

    .. math:: \alpha = \frac{c_{FP}}{c_{FP} + c_{FN}},

    the threshold on P(Y = 1 | x) above which predicting positive is the cheaper decision.

    ``**cost`` gives both costs to any learner or function that takes ``fp_cost`` and ``fn_cost``. If training rows
    differ from those in use, the methods ``for_...`` give the costs to train with.

    Parameters
    ----------
    fp_cost : number
        Cost of predicting positive for a negative example, at least 0.
    fn_cost : number
        Cost of predicting negative for a positive example, at least 0, not both 0.

    Examples
    --------
    >>> import uneven
    >>> uneven.Cost(fp_cost=1, fn_cost=9).alpha
    0.1
    >>> uneven.Cost.from_alpha(0.25)
    Cost(fp_cost=0.25, fn_cost=0.75)
    >>> uneven.UnevenLinearClassifier(**uneven.Cost(fp_cost=1, fn_cost=9))
    UnevenLinearClassifier(fn_cost=9, fp_cost=1)
    """

    fp_cost: float
    fn_cost: float

    def __post_init__(self) -> None:
        costs = self.exact_costs
        for name, number in zip(("fp_cost", "fn_cost"), costs, strict=True):
            if number < 0:
                raise CostError(f"{name} must not be negative, got {inputs.brief(getattr(self, name))}")
        if sum(costs) == 0:
            raise CostError(
                f"one of the costs must be positive, got fp_cost={self.fp_cost!r} and fn_cost={self.fn_cost!r}"
            )

    @cached_property
    def exact_costs(self) -> tuple[Fraction, Fraction]:
        """fp_cost and fn_cost as rationals, without rounding."""
        fp_cost = inputs.exact("fp_cost", self.fp_cost, CostError)
        return fp_cost, inputs.exact("fn_cost", self.fn_cost, CostError)

    @cached_property
    def exact_alpha(self) -> Fraction:
        """alpha as a rational, without rounding."""
        fp_cost, fn_cost = self.exact_costs
        return fp_cost / (fp_cost + fn_cost)

    @property
    def alpha(self) -> float:
        """alpha as a double; for two positive costs the nearest one strictly between 0 and 1."""
        alpha = self.exact_alpha
        if alpha in (0, 1):
            return float(alpha)
        return min(max(float(alpha), math.ulp(0.0)), math.nextafter(1.0, 0.0))

    @classmethod
    def from_alpha(cls, alpha: Exact) -> Cost:
        """Costs that sum to one: alpha for a false positive, 1 - alpha for a false negative."""
        exact = inputs.between_0_and_1("alpha", alpha, CostError)
        return Cost(fp_cost=float(exact), fn_cost=float(1 - exact))

    def keys(self) -> tuple[str, str]:
        """The names of the two costs, so that ``**cost`` works."""
        return ("fp_cost", "fn_cost")

    def __getitem__(self, name: str) -> float:
        if name not in self.keys():
            raise KeyError(name)
        value: float = getattr(self, name)
        return value

    # -- rows that are not like those in use --------------------------------------------------------------------------

    def for_noisy_labels(self, *, positive: Exact, negative: Exact) -> ObservedCost:
        r"""The costs to train with if some labels are wrong.

        alpha becomes :math:`(1 - \rho_+ - \rho_-) \alpha + \rho_-`, the regret in use is that on the rows over
        :math:`1 - \rho_+ - \rho_-`. It assumes that the chance of a wrong label depends on the true class alone.

        Parameters
        ----------
        positive : number
            Share of positives that are labelled negative, :math:`\rho_+`.
        negative : number
            Share of negatives that are labelled positive, :math:`\rho_-`; the two sum to less than 1.

        Returns
        -------
        ObservedCost

        Examples
        --------
        >>> import uneven
        >>> uneven.Cost(fp_cost=1, fn_cost=9).for_noisy_labels(positive="1/5", negative="1/20").exact_alpha
        Fraction(1, 8)
        """
        from uneven.observed_costs import noisy_labels

        return self._with(noisy_labels(positive, negative))

    def for_unlabelled(self, *, label_frequency: Exact) -> ObservedCost:
        r"""The costs to train with if only some positives are labelled, and all other rows are taken for negatives.

        alpha becomes f alpha, the regret in use is that on the rows over f. It assumes that the labelled positives are
        a random part of all positives of the same rows.

        Parameters
        ----------
        label_frequency : number
            Share f of positives that are labelled.

        Returns
        -------
        ObservedCost

        Examples
        --------
        >>> import uneven
        >>> uneven.Cost(fp_cost=1, fn_cost=9).for_unlabelled(label_frequency="3/10").exact_alpha
        Fraction(3, 100)
        """
        from uneven.observed_costs import unlabelled

        return self._with(unlabelled(label_frequency))

    def for_prevalence(self, *, train: Exact, use: Exact) -> ObservedCost:
        r"""The costs to train with if the share of positives is another one than in use, as after undersampling.

        A false negative costs use/train times as much, a false positive (1 - use)/(1 - train) times. It assumes that
        the rows of each class look the same in both.

        Parameters
        ----------
        train : number
            Share of positives in the training rows.
        use : number
            Share of positives before the resampling, or where decisions are taken. In a chain, the share of observed
            positives before this step.

        Returns
        -------
        ObservedCost

        Examples
        --------
        >>> import uneven
        >>> uneven.Cost(fp_cost=1, fn_cost=10).for_prevalence(train="1/2", use="1/50").exact_costs
        (Fraction(49, 25), Fraction(2, 5))
        """
        from uneven.observed_costs import prevalence

        return self._with(prevalence(train, use))

    def for_weights(self, *, positive: Exact = 1, negative: Exact = 1) -> ObservedCost:
        r"""The costs for a model that is trained with weights of the classes, or on a part of one class.

        Costs are divided by the weights. Regrets per row are sums of weights over the number of rows. If one in ten
        negatives is kept, ``negative="1/10"``; then the rows are those before the others were left out.

        Parameters
        ----------
        positive, negative : number
            The weights, such as ``positive=10`` for ``scale_pos_weight=10``.

        Returns
        -------
        ObservedCost

        Examples
        --------
        >>> import uneven
        >>> uneven.Cost(fp_cost=1, fn_cost=10).for_weights(positive=10).alpha
        0.5
        """
        from uneven.observed_costs import class_weights

        return self._with(class_weights(positive, negative))

    def _with(self, change: Change) -> ObservedCost:
        from uneven.observed_costs import ObservedCost

        return ObservedCost(use=self, changes=(change,))


class GivenCosts(dict[str, Any]):
    """The four costs by name, as a method was given them: a number, one for each row, or None if it was not given.

    Examples
    --------
    >>> from uneven.costs import GivenCosts
    >>> given = GivenCosts(fn_cost=[3, 4])
    >>> given.per_row, given.known
    (True, {'fn_cost': [3, 4]})
    >>> given.filled({"fp_cost": 1, "fn_cost": 2})
    {'fp_cost': 1, 'fn_cost': [3, 4], 'tp_cost': None, 'tn_cost': None}
    """

    __slots__ = ()

    def __init__(self, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None) -> None:
        # Every prediction makes one: single items take a third of the time of dict's constructor.
        self["fp_cost"] = fp_cost
        self["fn_cost"] = fn_cost
        self["tp_cost"] = tp_cost
        self["tn_cost"] = tn_cost

    @property
    def per_row(self) -> bool:
        """Whether one of them was given for each row."""
        return any(inputs.ndim(value) for value in self.values())

    @property
    def known(self) -> dict[str, Any]:
        """Those that were given."""
        return {name: value for name, value in self.items() if value is not None}

    def filled(self, known: Mapping[str, Any]) -> GivenCosts:
        """The same, with what is known in place of those that were not given."""
        return GivenCosts(*(known.get(name) if value is None else value for name, value in self.items()))


@dataclass(frozen=True)
class RowCosts:
    r"""What the four outcomes cost in each row. Benefits are negative costs.

    Only two differences matter for a decision, the regrets of the two mistakes. With P = P(Y = 1 | x), predicting
    positive is cheaper iff

    .. math:: P \, (c_{FN} - c_{TP}) > (1 - P) \, (c_{FP} - c_{TN}).

    Attributes
    ----------
    count : int
        Number of rows.
    fp_cost, fn_cost, tp_cost, tn_cost : float or ndarray of shape (count,)
    by_row : tuple of str
        Names of the costs that were given as one number for each row. If all these numbers are equal, the cost is one
        float, so that models do not depend on the way it was given. Other rows may still cost something else.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> costs = RowCosts.read(3, fp_cost=5, fn_cost=[100, 20, 1], tp_cost=5)
    >>> costs.fn_regret, costs.fp_regret
    (array([95., 15., -4.]), 5.0)
    >>> costs.paid(np.array([True, True, False]), np.array([False, True, True])).tolist()
    [100.0, 5.0, 5.0]
    >>> costs.prefers_positive(np.array([0.1, 0.1, 0.1])).tolist()
    [True, False, False]
    """

    count: int
    fp_cost: float | np.ndarray
    fn_cost: float | np.ndarray
    tp_cost: float | np.ndarray = 0.0
    tn_cost: float | np.ndarray = 0.0
    by_row: tuple[str, ...] = ()

    @classmethod
    def read(cls, count: int, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> RowCosts:
        """Costs that a user gives, each a number or one number for each of ``count`` rows.

        If all four are numbers, the regrets must not be negative, and not both 0; regrets of single rows may be.
        """
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        by_row = tuple(name for name, value in given.items() if inputs.ndim(value))
        fp, fn, tp, tn = (_one_or_many(name, value, count) for name, value in given.items())
        costs = cls(count, fp, fn, tp, tn, by_row)
        if not by_row:
            for mistake, right, regret in (
                ("fp_cost", "tn_cost", costs.fp_regret),
                ("fn_cost", "tp_cost", costs.fn_regret),
            ):
                if regret < 0:
                    what = f"must not be below {right}" if np.any(getattr(costs, right)) else "must not be negative"
                    raise CostError(f"{mistake} {what}, got {brief(given[mistake])}: then the mistake would pay")
            if costs.fp_regret == 0 and costs.fn_regret == 0:
                right = ", which the right decisions cost too" if np.any(costs.tp_cost) or np.any(costs.tn_cost) else ""
                shown = f"fp_cost={brief(fp_cost)} and fn_cost={brief(fn_cost)}"
                raise CostError(f"one of the costs must be positive, got {shown}{right}")
        if not (np.isfinite(costs.fp_regret).all() and np.isfinite(costs.fn_regret).all()):
            raise CostError("the difference of two costs is too large for double precision; use another unit")
        return costs

    @classmethod
    def of(cls, costs: Cost | RowCosts, count: int) -> RowCosts:
        """The costs of ``count`` rows: as they are, or the same two costs for each."""
        if isinstance(costs, RowCosts):
            return costs
        fp_cost, fn_cost = map(inputs.to_float, costs.exact_costs)
        return cls(count, fp_cost, fn_cost)

    @cached_property
    def fp_regret(self) -> float | np.ndarray:
        """What a false positive costs more than a true negative."""
        return _difference(self.fp_cost, self.tn_cost)

    @cached_property
    def fn_regret(self) -> float | np.ndarray:
        """What a false negative costs more than a true positive."""
        return _difference(self.fn_cost, self.tp_cost)

    @property
    def per_row(self) -> bool:
        """Whether a regret differs from row to row."""
        return isinstance(self.fp_regret, np.ndarray) or isinstance(self.fn_regret, np.ndarray)

    def is_fixed(self, regret: str) -> bool:
        """Whether ``"fp_regret"`` or ``"fn_regret"`` is one number that somebody fixed, so that new rows have it, too.

        Costs given for each row are not fixed, even if those of these rows are equal.

        Examples
        --------
        >>> from uneven.costs import RowCosts
        >>> costs = RowCosts.read(3, fp_cost=1, fn_cost=[7, 7, 7])
        >>> costs.per_row, costs.is_fixed("fp_regret"), costs.is_fixed("fn_regret")
        (False, True, False)
        """
        parts = {"fp_regret": ("fp_cost", "tn_cost"), "fn_regret": ("fn_cost", "tp_cost")}[regret]
        return not any(name in self.by_row or isinstance(getattr(self, name), np.ndarray) for name in parts)

    def of_each_row(self, name: str) -> np.ndarray:
        """One of the costs or regrets as an array, also if it is the same in all rows, such as in a single row."""
        return np.full(self.count, getattr(self, name), dtype=np.float64)

    def take(self, rows: np.ndarray) -> RowCosts:
        """The costs of some rows, given by their numbers or by a Boolean for each."""
        count = int(rows.sum()) if rows.dtype == bool else rows.size
        parts = (self.fp_cost, self.fn_cost, self.tp_cost, self.tn_cost)
        fp, fn, tp, tn = (part[rows] if isinstance(part, np.ndarray) else part for part in parts)
        return RowCosts(count, fp, fn, tp, tn, self.by_row)

    def paid(self, is_positive: np.ndarray, said_positive: np.ndarray) -> np.ndarray:
        """What each decision costs."""
        positive = np.where(said_positive, self.tp_cost, self.fn_cost)
        return np.where(is_positive, positive, np.where(said_positive, self.fp_cost, self.tn_cost))

    def regrets(self, is_positive: np.ndarray) -> np.ndarray:
        """What the wrong decision costs more than the right one; negative where the mistake pays."""
        return np.where(is_positive, self.fn_regret, self.fp_regret)

    def prefers_positive(self, probability: np.ndarray) -> np.ndarray:
        """Whether predicting positive is the cheaper decision at these probabilities of the positive class."""
        return np.asarray(probability * self.fn_regret > (1 - probability) * self.fp_regret)

    def thresholds(self) -> tuple[np.ndarray, np.ndarray]:
        """For each row alpha and a sign: positive is cheaper iff sign (P - alpha) > 0.

        alpha is infinite, with its sign, where the probability does not matter. The sign is -1 where both mistakes pay,
        so that positives are predicted at small probabilities.
        """
        fp = np.broadcast_to(np.asarray(self.fp_regret, dtype=np.float64), (self.count,))
        fn = np.broadcast_to(np.asarray(self.fn_regret, dtype=np.float64), (self.count,))
        largest = np.maximum(np.abs(fp), np.abs(fn))
        _, exponents = np.frexp(np.where(largest > 0, largest, 1.0))
        fp, fn = np.ldexp(fp, -exponents), np.ldexp(fn, -exponents)  # so that the sum of two large costs is finite
        total = fp + fn
        sign = np.where(total < 0, -1.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha = np.where(total == 0, np.where(fn > 0, -np.inf, np.inf), fp / total)
        alpha = np.where(alpha < 0, -np.inf, np.where(alpha > 1, np.inf, alpha))
        return alpha, sign


def read_cost(fp_cost: Any, fn_cost: Any, tp_cost: Any = 0, tn_cost: Any = 0) -> Cost:
    """The regrets of both mistakes for costs that are the same in all rows: positive and finite."""
    regrets = []
    for name, mistake, other, right in (
        ("fp_cost", fp_cost, "tn_cost", tn_cost),
        ("fn_cost", fn_cost, "tp_cost", tp_cost),
    ):
        benefit = inputs.exact(other, right, CostError)
        if not benefit:
            regrets.append(inputs.positive(name, mistake, CostError))
            continue
        regret = inputs.exact(name, mistake, CostError) - benefit
        if regret <= 0:
            raise CostError(
                f"{name} must be above {other}, got {name}={brief(mistake)} and {other}={brief(right)}: the mistake "
                "would not cost more than the right decision"
            )
        regrets.append(inputs.exact(f"{name} - {other}", regret, CostError))
    return Cost(fp_cost=regrets[0], fn_cost=regrets[1])  # type: ignore[arg-type]


#: True and 1 are told apart by their types.
_kept_cost = lru_cache(maxsize=1024, typed=True)(read_cost)


def read_costs(count: int, given: Mapping[str, Any]) -> Cost | RowCosts:
    """The four costs of a fit, each a number or one for each row; Cost if both regrets are the same in all rows."""
    if all(isinstance(given[name], numbers.Real | Decimal | str) for name in COSTS):
        return _kept_cost(*(given[name] for name in COSTS))
    rows = RowCosts.read(count, **{name: given[name] for name in COSTS})
    return rows if rows.per_row else read_cost(rows.fp_regret, rows.fn_regret)


def plain_numbers(costs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the costs that are numbers, not one for each row."""
    return {name: value for name, value in costs.items() if not inputs.ndim(value)}


def _one_or_many(name: str, value: Any, count: int) -> float | np.ndarray:
    """A finite number, or one for each row. Equal ones become one number: a model must not depend on the way."""
    if value is None or isinstance(value, str | bool | numbers.Real | Decimal):
        return inputs.to_float(inputs.exact(name, value, CostError))  # type: ignore[arg-type]
    array, scalar = inputs.float_array(name, value, CostError)
    if not scalar and array.shape != (count,):
        raise CostError(f"{name} must be a number or {count} numbers, one for each row, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise CostError(f"{name} must hold finite numbers, got {brief(float(array[~np.isfinite(array)][0]))}")
    return _collapsed(array[0] if scalar else array)


def _difference(a: float | np.ndarray, b: float | np.ndarray) -> float | np.ndarray:
    if isinstance(b, float) and b == 0:
        return a
    with np.errstate(over="ignore"):
        return _collapsed(np.subtract(a, b))


def _collapsed(values: Any) -> float | np.ndarray:
    """One number if all are equal."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    return float(array.flat[0]) if bool((array == array.flat[0]).all()) else array


# Amounts of money in words.


def money(amount: float, unit: str | None = None) -> str:
    """An amount with about four digits; thousands have commas.

    Examples
    --------
    >>> from uneven.costs import money
    >>> money(12345.6, "EUR"), money(0.123456), money(-2.50001), money(-0.0)
    ('12,346 EUR', '0.1235', '-2.5', '0')
    """
    amount += 0.0  # not -0
    size = abs(amount)
    if size >= 1e15 or 0 < size < 1e-4:
        text = f"{amount:.3e}"
    else:
        decimals = 0 if size >= 1000 or size == 0 else 3 - math.floor(math.log10(size))
        text = f"{amount:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if unit is None else f"{text} {unit}"

r"""Costs for rows that are not like those in use: wrong labels, missing labels, another share of positives, weights.

What happened to the rows is a matrix. At each x let :math:`m_1` and :math:`m_0` be the masses of positives and
negatives in use; on the observed rows they are :math:`m' = A m`. Deciding for "positive" instead of "negative" saves
:math:`c_1 m_1 - c_0 m_0`, and this equals :math:`c_1' m_1' - c_0' m_0'` for the costs

.. math:: (c_1', -c_0') = (c_1, -c_0) A^{-1}.

So every decision saves the same money in both worlds. Matrices, costs and factors are rationals; ``docs/theory.md`` has
the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from uneven import inputs
from uneven.costs import Cost, money
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief

__all__ = ["ObservedCost", "undo_class_weights", "undo_resampling"]

#: Rows: positives and negatives that are observed; columns: those in use.
Matrix = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Change:
    """One thing that happened to the rows: the method of Cost that names it, its matrix, and what it assumes."""

    method: str
    parameters: tuple[tuple[str, Any], ...]
    matrix: Matrix = field(repr=False)
    assumes: str = field(repr=False)

    @property
    def call(self) -> str:
        """The call of the method."""
        return f"{self.method}({', '.join(f'{name}={value!r}' for name, value in self.parameters)})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ObservedCost(Cost):
    r"""Costs of mistakes on observed rows, made from those in use: train with them, and decisions are right in use.

    The methods of :class:`Cost` make it: :meth:`Cost.for_noisy_labels`, :meth:`Cost.for_unlabelled`,
    :meth:`Cost.for_prevalence` and :meth:`Cost.for_weights`. It has them too: a chain says what happened to the rows,
    first things first.

    Its two costs are those of a mistake *on an observed row*. At these costs, every classifier has the same regret in
    money in both worlds. ``alpha`` is the threshold on the probability of an observed positive. ``**cost`` gives both
    costs to a learner, which then speaks of rows like those it learns from; :meth:`probability` translates its
    probabilities.

    Attributes
    ----------
    use : Cost
        The costs in use.
    fp_cost, fn_cost : float
        The costs on observed rows; ``exact_costs`` has them without rounding.

    Examples
    --------
    Of the positives 20 % are labelled negative, of the negatives 1 % positive.

    >>> import uneven
    >>> use = uneven.Cost(fp_cost=1, fn_cost=10)
    >>> cost = use.for_noisy_labels(positive="1/5", negative="1/100")
    >>> cost.exact_alpha, cost.exact_factor
    (Fraction(9, 110), Fraction(100, 79))
    >>> cost.probability([0.01, 0.405, 0.8]).round(12)
    array([0. , 0.5, 1. ])
    >>> print(cost.in_words())
    Costs in use: a false positive 1, a false negative 10; predict positive above 0.09091.
    The rows: 20 % of positives are labelled negative, 1 % of negatives positive, by chance within each class.
    Train for alpha = 0.08182: a false positive 1.139, a false negative 12.78.
    The regret at alpha = 0.09091 in use is 1.266 times the regret at alpha = 0.08182 on such rows.

    A learner trained on such rows decides for the clean world.

    >>> model = uneven.UnevenLinearClassifier(**cost)

    Noisy labels first, then negatives left out until half of the rows are labelled positive:

    >>> cost.for_prevalence(train=0.5, use=0.02)
    Cost(fp_cost=1, fn_cost=10).for_noisy_labels(positive='1/5', negative='1/100').for_prevalence(train=0.5, use=0.02)
    """

    use: Cost
    changes: tuple[Change, ...]
    fp_cost: float = field(init=False, compare=False)
    fn_cost: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        for name, cost in zip(("fp_cost", "fn_cost"), self.exact_costs, strict=True):
            object.__setattr__(self, name, inputs.to_float(cost))
        super().__post_init__()

    @cached_property
    def exact_costs(self) -> tuple[Fraction, Fraction]:
        """fp_cost and fn_cost on observed rows as rationals, without rounding."""
        fp_cost, fn_cost = _observed_costs(self._inverse, *self.use.exact_costs)
        return (
            inputs.exact("fp_cost on the observed rows", fp_cost, CostError),
            inputs.exact("fn_cost on the observed rows", fn_cost, CostError),
        )

    def __repr__(self) -> str:
        return ".".join([repr(self.use), *(change.call for change in self.changes)])

    def _with(self, change: Change) -> ObservedCost:
        return ObservedCost(use=self.use, changes=(*self.changes, change))

    # -- regret -----------------------------------------------------------------------------------------------------

    @property
    def exact_factor(self) -> Fraction:
        """Regret at the alpha in use, over regret at this alpha on the observed rows: a rational, without rounding."""
        return sum(self.exact_costs, Fraction(0)) / sum(self.use.exact_costs, Fraction(0))

    @property
    def factor(self) -> float:
        """The same as a double, rounded upwards."""
        return inputs.round_up(self.exact_factor)

    def regret_bound(self, observed_regret: Exact) -> float:
        """The regret in use, from that on the observed rows: their product with the factor, rounded upwards.

        Both regrets are those of costs alpha and 1 - alpha, each with its own alpha: what decisions cost above the
        best ones, per row, as :func:`uneven.analyze` bounds it. In money, at ``fp_cost`` and ``fn_cost``, the two
        regrets are the same number.

        Parameters
        ----------
        observed_regret : number
            The regret on rows like the observed ones at this alpha, or an upper bound of it; at least 0.

        Returns
        -------
        float

        Examples
        --------
        >>> import uneven
        >>> uneven.Cost(fp_cost=1, fn_cost=10).for_unlabelled(label_frequency="1/4").regret_bound(0.01)
        0.04
        """
        regret = inputs.exact("observed_regret", observed_regret)
        if regret < 0:
            raise ParameterError(f"observed_regret must not be negative, got {brief(observed_regret)}")
        return inputs.round_up(self.exact_factor * regret)

    # -- probabilities ----------------------------------------------------------------------------------------------

    def probability(self, observed: Any) -> Any:
        """P(positive) in use, from the probability of an observed positive.

        Parameters
        ----------
        observed : float or array-like of shape (n_samples,)
            What a model of the observed rows says, such as ``predict_proba(X)[:, 1]``. Numbers that are impossible if
            what happened to the rows is as said, such as 0.005 if 1 % of the negatives are labelled positive, count as
            the nearest possible one.

        Returns
        -------
        float or ndarray
        """
        return _turn(self._inverse, "observed", observed)

    def observed_probability(self, probability: Any) -> Any:
        """The probability of an observed positive, from P(positive) in use: the inverse of :meth:`probability`.

        Parameters
        ----------
        probability : float or array-like of shape (n_samples,)

        Returns
        -------
        float or ndarray
        """
        return _turn(self._matrix, "probability", probability)

    @property
    def log_odds_shift(self) -> float | None:
        """What to add to the log-odds of an observed positive; None if labels changed, which is no shift."""
        (positive, upper), (lower, negative) = self._inverse
        if upper or lower:
            return None
        ratio = positive / negative
        if Fraction(1, 2) < ratio < 2:
            return math.log1p(float(ratio - 1))
        return math.log(ratio.numerator) - math.log(ratio.denominator)

    # -- other costs ------------------------------------------------------------------------------------------------

    def at(self, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = 0, tn_cost: Any = 0) -> dict[str, Any]:
        """Other costs on the same observed rows: numbers, or one for each row.

        Parameters
        ----------
        fp_cost, fn_cost : number or array-like of shape (n_samples,), optional
            Costs in use; by default those of this object.
        tp_cost, tn_cost : number or array-like of shape (n_samples,)
            What the right decisions cost in use.

        Returns
        -------
        dict
            ``fp_cost`` and ``fn_cost`` on observed rows, and 0 for the right decisions: for ``fit``, ``predict`` and
            ``score`` of a learner.

        Examples
        --------
        >>> import uneven
        >>> cost = uneven.Cost(fp_cost=1, fn_cost=10).for_unlabelled(label_frequency="1/4")
        >>> cost.at(fn_cost=[10, 50])
        {'fp_cost': array([1., 1.]), 'fn_cost': array([ 43., 203.]), 'tp_cost': 0.0, 'tn_cost': 0.0}
        """
        own = dict(zip(("fp_cost", "fn_cost"), map(inputs.to_float, self.use.exact_costs), strict=True))
        given = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        read = {name: _numbers(name, own[name] if value is None else value) for name, value in given.items()}
        lengths = {value.shape for value in read.values() if value.ndim}
        if len(lengths) > 1:
            raise CostError(f"costs of each row must have the same length, got shapes {sorted(lengths)}")
        inverse = tuple(tuple(map(inputs.to_float, row)) for row in self._inverse)
        with np.errstate(over="ignore", invalid="ignore"):
            regrets = read["fp_cost"] - read["tn_cost"], read["fn_cost"] - read["tp_cost"]
            found = [np.asarray(each) for each in _observed_costs(inverse, *regrets)]
        if not all(np.isfinite(each).all() for each in found):
            raise CostError("costs on the observed rows are too large for double precision; use another unit")
        fp_regret, fn_regret = (each if each.ndim else float(each) for each in found)
        return {"fp_cost": fp_regret, "fn_cost": fn_regret, "tp_cost": 0.0, "tn_cost": 0.0}

    # -- in words ---------------------------------------------------------------------------------------------------

    def in_words(self) -> str:
        """The costs in use, what is assumed of the rows, the costs to train for, and the factor of the regret."""
        use = f"{self.use.alpha:.4g}"
        return "\n".join(
            (
                f"Costs in use: {_pair(self.use)}; predict positive above {use}.",
                f"The rows: {', then '.join(change.assumes for change in self.changes)}.",
                f"Train for alpha = {self.alpha:.4g}: {_pair(self)}.",
                f"The regret at alpha = {use} in use is {self.factor:.4g} times the regret at alpha = {self.alpha:.4g} "
                "on such rows.",
            )
        )

    @cached_property
    def _matrix(self) -> Matrix:
        return reduce(_product, (change.matrix for change in reversed(self.changes)))

    @cached_property
    def _inverse(self) -> Matrix:
        return _inverse(self._matrix)


def undo_resampling(probabilities: Any, *, train: Exact, use: Exact) -> Any:
    r"""Probabilities in use, from those of a model that was trained on undersampled or oversampled rows.

    Resampling that leaves each class as it is adds a constant to the log-odds. This takes it off again:

    .. math:: \frac{p}{1 - p} = \frac{p'}{1 - p'} \cdot \frac{\pi (1 - \pi')}{(1 - \pi) \pi'},

    with the share of positives pi in use and pi' in training. It is exact for rows that were left out or repeated by
    chance, and about right for SMOTE, which also changes where the positives are.

    Parameters
    ----------
    probabilities : float or array-like of shape (n_samples,)
        P(positive) as the model says it, such as ``predict_proba(X)[:, 1]``.
    train : number
        Share of positives in the rows that the model was trained on, after the resampling.
    use : number
        Share of positives before the resampling, or where the model is used.

    Returns
    -------
    float or ndarray

    Examples
    --------
    Trained on as many positives as negatives, used where 2 % are positive:

    >>> import uneven
    >>> uneven.undo_resampling([0.0, 0.5, 0.98, 1.0], train=0.5, use=0.02).round(3)
    array([0.  , 0.02, 0.5 , 1.  ])
    """
    return _turn(_inverse(prevalence(train, use).matrix), "probabilities", probabilities)


def undo_class_weights(probabilities: Any, *, positive: Exact = 1, negative: Exact = 1) -> Any:
    r"""Probabilities as they are, from those of a model that was trained with weights of the classes.

    A model of the log loss learns the odds times positive/negative; this divides by it. It is exact for the minimiser
    over all functions, and about right for a model with a penalty, with too few terms, or with trees that stop early.

    Parameters
    ----------
    probabilities : float or array-like of shape (n_samples,)
        P(positive) as the model says it.
    positive, negative : number
        The weights: ``positive=10`` for ``scale_pos_weight=10``, ``pos_weight=10`` or ``class_weight={0: 1, 1: 10}``.
        For ``class_weight="balanced"``, the number of negatives over that of positives.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> import uneven
    >>> uneven.undo_class_weights([0.0, 0.5, 1.0], positive=9)
    array([0. , 0.1, 1. ])
    """
    return _turn(_inverse(class_weights(positive, negative).matrix), "probabilities", probabilities)


# What can happen to rows.


def noisy_labels(positive: Exact, negative: Exact) -> Change:
    """Labels are flipped: each class with a rate of its own."""
    rates = []
    for name, value in (("positive", positive), ("negative", negative)):
        rate = inputs.exact(name, value, CostError)
        if not 0 <= rate < 1:
            raise CostError(f"{name} must be the share of wrong labels, at least 0 and below 1, got {brief(value)}")
        rates.append(rate)
    if sum(rates) >= 1:
        raise CostError(
            f"positive + negative must be below 1, got {brief(positive)} and {brief(negative)}: such labels say "
            "nothing, or the opposite of the truth"
        )
    up, down = rates
    assumes = (
        f"{_percent(up)} of positives are labelled negative, {_percent(down)} of negatives positive, by chance within "
        "each class"
    )
    given = (("positive", positive), ("negative", negative))
    return Change("for_noisy_labels", given, ((1 - up, down), (up, 1 - down)), assumes)


def unlabelled(label_frequency: Exact) -> Change:
    """Only some of the positives are labelled; the others are taken for negatives."""
    share = inputs.exact("label_frequency", label_frequency, CostError)
    if not 0 < share <= 1:
        raise CostError(
            "label_frequency must be the share of positives that are labelled, above 0 and at most 1, got "
            f"{brief(label_frequency)}"
        )
    assumes = (
        f"{_percent(share)} of positives are labelled, chosen by chance; all other rows are unlabelled and taken for "
        "negatives"
    )
    given = (("label_frequency", label_frequency),)
    return Change("for_unlabelled", given, ((share, Fraction(0)), (1 - share, Fraction(1))), assumes)


def prevalence(train: Exact, use: Exact) -> Change:
    """The share of positives is another one; each class looks the same."""
    after, before = (inputs.between_0_and_1(name, value, CostError) for name, value in (("train", train), ("use", use)))
    assumes = (
        f"{_percent(after)} of them are positive, in use {_percent(before)}; rows of one class look the same in both"
    )
    factors = after / before, (1 - after) / (1 - before)
    return Change("for_prevalence", (("train", train), ("use", use)), _diagonal(*factors), assumes)


def class_weights(positive: Exact, negative: Exact) -> Change:
    """The rows of each class count with a weight."""
    given = (("positive", positive), ("negative", negative))
    weights = [inputs.positive(name, value, CostError) for name, value in given]
    shown = [f"{inputs.to_float(weight):.4g}" for weight in weights]
    assumes = f"a positive counts {shown[0]} times, a negative {shown[1]} times"
    return Change("for_weights", given, _diagonal(*weights), assumes)


# Two by two matrices of rationals, and what they do to costs and probabilities.


def _diagonal(first: Fraction, second: Fraction) -> Matrix:
    return (first, Fraction(0)), (Fraction(0), second)


def _product(left: Matrix, right: Matrix) -> Matrix:
    (a, b), (c, d) = left
    (p, q), (r, s) = right
    return (a * p + b * r, a * q + b * s), (c * p + d * r, c * q + d * s)


def _inverse(matrix: Matrix) -> Matrix:
    (a, b), (c, d) = matrix
    size = a * d - b * c  # positive for each change, so for each chain
    return (d / size, -b / size), (-c / size, a / size)


def _observed_costs(inverse: Any, fp_cost: Any, fn_cost: Any) -> tuple[Any, Any]:
    """(c1', -c0') = (c1, -c0) times the inverse, whose entries beside the diagonal are at most 0."""
    (a, b), (c, d) = inverse
    return fp_cost * d - fn_cost * b, fn_cost * a - fp_cost * c


def _turn(matrix: Matrix, name: str, probability: Any) -> Any:
    """The share of positives after a matrix took masses p and 1 - p; a mass below 0 counts as 0.

    Not both masses can be below 0: the other one of matrix and inverse has no negative entry, and would make two
    masses that are not negative out of them.
    """
    p, scalar = inputs.probabilities(name, probability)
    if p.ndim > 1:
        raise ParameterError(
            f"{name} must hold one number for each row, such as predict_proba(X)[:, 1], got shape {p.shape}"
        )
    p = p.astype(np.float64, copy=False)
    largest = max(abs(entry) for row in matrix for entry in row)
    entries = [inputs.exact("a factor of the odds", entry / largest, CostError) for row in matrix for entry in row]
    a, b, c, d = map(inputs.to_float, entries)
    (first, second), (third, fourth) = matrix
    positive = a * p + b * (1 - p) if b >= 0 else (a - b) * _less(p, -second / (first - second))
    negative = c * p + d * (1 - p) if c >= 0 else (c - d) * _less(p, fourth / (fourth - third))
    positive, negative = np.maximum(positive, 0.0), np.maximum(negative, 0.0)
    return inputs.unwrapped(positive / (positive + negative), scalar)


def _less(p: np.ndarray, zero: Fraction) -> np.ndarray:
    """p minus a rational, with all digits: labels that say little have the zeros of both masses close together."""
    nearest = inputs.to_float(zero)
    return (p - nearest) - inputs.to_float(zero - Fraction(nearest))


def _numbers(name: str, value: Any) -> np.ndarray:
    if isinstance(value, str) or not inputs.ndim(value):
        return np.asarray(inputs.to_float(inputs.exact(name, value, CostError)))
    array, _ = inputs.float_array(name, value, CostError)
    return array.astype(np.float64, copy=False)


def _pair(cost: Cost) -> str:
    fp_cost, fn_cost = (money(inputs.to_float(one)) for one in cost.exact_costs)
    return f"a false positive {fp_cost}, a false negative {fn_cost}"


def _percent(share: Fraction) -> str:
    return f"{inputs.to_float(100 * share):.4g} %"

r"""What is guaranteed for the decisions of several classes: what they cost on new rows, with a stated confidence.

The rule of a fit multiplies logarithms of probabilities by a slope and adds to each class a number, its offset minus
its shift. Slopes are powers of 2^(1/8), and the numbers are multiples of a step that depends on the number of rows
only. So what may have been chosen can be counted: a rule r has a prior P(r) that nobody chose by looking at the rows,
and docs/guarantee.md proves that with probability :math:`1 - \delta`, for all rules at once,

.. math:: \mathrm{kl}(\text{mean cost on the rows}, \text{expected cost}) \le x(r)
    = \frac{\ln(1/P(r)) + \ln(2 (K + 1) \sqrt m/\delta)}{m},

both over the largest regret, with m rows in the smallest fold, for the cost of all K classes together and for that of
each class alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from uneven import inputs
from uneven.decisions.class_shifts import SLOPE_STEP, SLOPES, ClassRows, ClassRule, grid_step
from uneven.decisions.shift_bounds import kl_upper, slightly_more
from uneven.errors import ParameterError
from uneven.inputs import Exact, brief, show_above

#: Rounding may exchange actions whose expected costs differ by a smaller share: a row then counts the dearer one.
_CLOSE = 1e-9
#: Costs beyond this are refused: their sums would overflow.
_LARGEST_COST = 1e250


@dataclass(frozen=True)
class ClassGuarantee:
    """A bound of what decisions about several classes cost on new rows.

    The cost of an action is what it costs more than the cheapest one for the class of its row, per row and in the unit
    of the costs. There is no bound above the best shifts: nobody can look at them all.

    Attributes
    ----------
    confidence : float
        The probability, over the draw of the rows, with which the bound holds is at least this.
    cost : float
        Mean cost on the rows of the rule in use.
    cost_bound : float
        The expected cost on new rows is at most this.
    constant_cost : float
        Mean cost on the rows of the best constant rule: the same action for every row.
    folds : int
        Number of fold models; 1 for a model that learnt from none of these rows.
    refitted : bool
        Whether the model in use was fitted again to all rows; then the bound is not about it.
    rows, rows_per_fold : int
        Number of all rows, and of those of the smallest fold; the bound depends on the latter.
    choices : int
        Number of models from which one was chosen with these rows.
    largest_regrets : tuple of float
        For each class: the bound holds if no action costs more than this above the cheapest one.
    believed : bool
        Whether these are only the largest ones of the rows: there was a matrix for each row, and no largest regrets
        with them. That all rows have the same matrix is no reason to believe it: new rows may have others.
    fixed_costs : bool
        Whether one matrix was given for every row.
    code_length : float
        ln(1/P), with the prior P of the rule in use.
    """

    confidence: float
    cost: float
    cost_bound: float
    constant_cost: float
    folds: int
    refitted: bool
    rows: int
    rows_per_fold: int
    choices: int
    largest_regrets: tuple[float, ...]
    believed: bool
    fixed_costs: bool
    code_length: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: it is not below the cost of the best constant rule."""
        return self.cost_bound >= self.constant_cost

    def to_dict(self) -> dict[str, Any]:
        """The fields and the verdict as a dictionary that JSON can hold."""
        return {**asdict(self), "largest_regrets": list(self.largest_regrets), "vacuous": self.vacuous}

    def in_words(self) -> str:
        """The bound, whether it says anything, for which model, and what it assumes."""
        bound, constant = show_above(self.cost_bound, 3), f"{self.constant_cost:.3g}"
        if self.vacuous:
            first = (
                f"No useful guarantee: {self.rows_per_fold:,} rows{' per fold' if self.folds > 1 else ''} are too few. "
                f"The decisions are only known to cost at most {bound} per row, and the same action for everyone costs "
                f"{constant}."
            )
        else:
            first = (
                f"With {100 * self.confidence:.6g} % confidence, the decisions cost at most {bound} per row; for "
                f"comparison, they cost {self.cost:.3g} on the rows, and the same action for everyone {constant}."
            )
        above = "Cost is what a decision costs more than the cheapest action for the class of its row."
        if self.folds > 1:
            which = f"The bound is for the {self.folds} fold models with this calibration and these shifts, on average"
        else:
            which = "The bound is for the model that gave these probabilities and has not learnt from these rows"
        which += ", not for the model that was fitted again to all rows." if self.refitted else "."
        largest = " and ".join(f"{regret:.3g}" for regret in sorted({min(self.largest_regrets), self.largest_regret}))
        if self.fixed_costs:
            assumed = "costs that were fixed beforehand"
        elif self.believed:
            assumed = f"that no decision costs more than the largest ones seen ({largest})"
        else:
            assumed = f"that no decision costs more than you said ({largest})"
        terms = (
            "It assumes independent rows, new rows like those that were held out with the same share of each class, "
            f"and {assumed}."
        )
        return f"{first} {above} {which} {terms}"

    @property
    def largest_regret(self) -> float:
        """The largest one of all classes."""
        return max(self.largest_regrets)


def class_guarantee(
    rows: ClassRows,
    fold: np.ndarray,
    rule: ClassRule,
    *,
    confidence: Exact = 0.95,
    largest_regret: Exact | Mapping[int, Exact] | None = None,
    refitted: bool = False,
    choices: int = 1,
) -> ClassGuarantee:
    """A bound of the expected cost of a rule, which may have been found from the same rows in any way.

    Parameters
    ----------
    rows : ClassRows
        Out-of-fold probabilities, classes and costs. All weights must be equal.
    fold : ndarray of int
        The fold of each row; all the same for a model that learnt from other data.
    rule : ClassRule
        Its slope, offsets and shifts on their grid, as the fits leave them.
    confidence : number in (0, 1)
    largest_regret : positive number, or mapping from the number of a class to one, optional
        Only for costs of each row: no action can cost more than this above the cheapest one of the class.
    refitted : bool
        Whether the model in use was fitted again to all rows. It changes no number, but the words.
    choices : int
        Number of models from which the one in use was chosen with the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.decisions.class_guarantee import class_guarantee
    >>> from uneven.decisions.class_shifts import ClassRows, ClassRule
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([0.3, 0.3, 0.3], 10_000)
    >>> truth = (p.cumsum(axis=1) < rng.random((10_000, 1))).sum(axis=1)
    >>> rows = ClassRows(p, truth, np.ones(10_000), np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0.0]]))
    >>> as_it_is = ClassRule(1.0, np.zeros(3), np.zeros(3), -np.log(10_002))
    >>> found = class_guarantee(rows, np.zeros(10_000, int), as_it_is)
    >>> round(found.cost, 2), round(found.cost_bound, 2), round(found.constant_cost, 2), found.vacuous
    (0.6, 0.75, 1.35, False)
    """
    count, classes = rows.probability.shape
    if not count:
        raise ParameterError("a guarantee needs rows, got none")
    level = inputs.between_0_and_1("confidence", confidence)
    if (rows.weight != rows.weight[0]).any() or rows.weight[0] <= 0:
        raise ParameterError(
            "the guarantee is for rows that are drawn alike and does not cover different sample weights; fit without "
            "sample_weight"
        )
    per_row = rows.costs.ndim == 3
    largest = _largest_regrets(rows, largest_regret, classes)
    paid = _dearest_of_close(rows, rule)
    means = np.bincount(rows.truth, paid, classes) / count
    smallest = int(np.bincount(np.unique(fold, return_inverse=True)[1]).min())
    length = code_length(rule, count)
    doubt = float(1 - level)
    exponent = length + math.log(2 * (classes + 1) * math.sqrt(smallest) / doubt) + math.log(choices)
    limit = slightly_more(exponent / smallest)
    rounding = (count + 1024) * 2.0**-52  # of sums of this length
    units = np.append(largest, max(largest))  # of each class alone, and of all together
    shares = np.append(means, means.sum()) / np.where(units > 0, units, 1.0)
    bounds = units * kl_upper(np.minimum(shares + rounding, 1.0), limit)
    return ClassGuarantee(
        confidence=float(level),
        cost=float(means.sum()),
        cost_bound=slightly_more(min(float(bounds[-1]), math.fsum(bounds[:-1].tolist()))),
        constant_cost=_constant_cost(rows),
        folds=int(np.unique(fold).size),
        refitted=refitted,
        rows=count,
        rows_per_fold=smallest,
        choices=int(choices),
        largest_regrets=largest,
        believed=per_row and largest_regret is None,
        fixed_costs=not per_row,
        code_length=length,
    )


def code_length(rule: ClassRule, count: int) -> float:
    """ln(1/P) of a rule: which slope, which class is at 0, and how far the others are from it.

    A distance of z steps has the prior 1/((1 + 2s)(1 + abs(z)/s)^2) with s steps in one unit of the log-odds; over all
    whole numbers this sums to at most 1.
    """
    step, classes = grid_step(count), rule.offsets.size
    places = (rule.offsets - rule.shifts) / step
    power = math.log(rule.slope) / math.log(SLOPE_STEP)
    if (places != np.round(places)).any() or abs(power - round(power)) > _CLOSE or abs(round(power)) > SLOPES // 2:
        raise ParameterError(f"the guarantee counts rules on a grid with the step {step:g}, got one that is not on it")
    spread = 1 / step
    far = 2 * np.log1p(np.abs(places[:, None] - places) / spread) + math.log(1 + 2 * spread)
    far[np.arange(classes), np.arange(classes)] = 0.0
    return slightly_more(math.log(SLOPES) + math.log(classes) + float(far.sum(axis=0).min()))


def _largest_regrets(rows: ClassRows, given: Exact | Mapping[int, Exact] | None, classes: int) -> tuple[float, ...]:
    """For each class the largest regret that is counted on."""
    regrets, truth = rows.regrets, rows.truth
    if len(regrets) == 1:
        seen = regrets[0].max(axis=1)
    else:
        seen = np.zeros(classes)
        np.maximum.at(seen, truth, regrets[np.arange(truth.size), truth].max(axis=1))
    if given is not None:
        if len(regrets) == 1:
            raise ParameterError("largest_regret is for costs of each row; these are the same for all rows")
        of_class = given if isinstance(given, Mapping) else dict.fromkeys(range(classes), given)
        for y, most in of_class.items():
            number = float(inputs.positive("largest_regret", most))
            if number < seen[y]:
                raise ParameterError(
                    f"largest_regret must be at least the largest one of the rows, {brief(float(seen[y]))}, got "
                    f"{brief(most)}"
                )
            seen[y] = number
    if not seen.any():
        raise ParameterError("one action is the cheapest one for every row, whatever its class: nothing to guarantee")
    if seen.max() > _LARGEST_COST:
        raise ParameterError(f"costs must lie below {_LARGEST_COST:g} for a guarantee; use another unit of money")
    return tuple(seen.tolist())


def _dearest_of_close(rows: ClassRows, rule: ClassRule) -> np.ndarray:
    """What each row pays above its cheapest action; of actions that rounding may exchange the dearer one."""
    shares, regrets = rule.tilted(rule.probability(rows.probability)), rows.regrets
    expected = shares @ regrets[0] if len(regrets) == 1 else np.einsum("ny,nya->na", shares, regrets)
    close = expected * (1 - _CLOSE) <= expected.min(axis=1, keepdims=True) * (1 + _CLOSE)
    own = regrets[0][rows.truth] if len(regrets) == 1 else regrets[np.arange(rows.truth.size), rows.truth]
    return np.asarray(np.where(close, own, 0.0).max(axis=1))


def _constant_cost(rows: ClassRows) -> float:
    regrets = rows.regrets
    own = regrets[0][rows.truth] if len(regrets) == 1 else regrets[np.arange(rows.truth.size), rows.truth]
    return float(own.mean(axis=0).min())

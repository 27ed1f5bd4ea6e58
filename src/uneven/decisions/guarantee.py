r"""What is guaranteed for a shift of a model's log-odds: bounds that hold for new rows, with a stated confidence.

docs/guarantee.md has the theorem, its assumptions and the proof.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from uneven import inputs
from uneven.calibration import Analysis, analyze, calibrated_loss
from uneven.decisions.posterior import ShiftPosterior
from uneven.decisions.scored_rows import ScoredRows
from uneven.decisions.shift_bounds import (
    BoundedRows,
    LossCurves,
    Rule,
    all_edges,
    kept_edges,
    kl_limit,
    slightly_more,
)
from uneven.errors import CostError, ParameterError
from uneven.inputs import Exact, brief, show_above
from uneven.losses import phi

#: Costs beyond these are refused: their sums and products would overflow, or lose the digits that make a bound one.
_LEAST_COST, _LARGEST_COST = 1e-250, 1e250


@dataclass(frozen=True)
class RuleBounds:
    """Bounds for one way to use the shift. All are in the unit of the costs, per row.

    The cost of a decision is what it costs more than the right decision of its row.

    Attributes
    ----------
    cost : float
        Mean cost on the rows.
    cost_bound : float
        The expected cost of new rows is at most this.
    regret_bound : float
        The expected cost is at most this much above that of the best shift. Needs no assumption about the model.
    window_loss, window_loss_bound, window_excess_bound : float
        The same three for the window loss.
    psi_regret_bound : float
        What ``window_excess_bound`` says about the cost, by psi: if the model's log-odds are right up to a shift, the
        expected cost is at most this much above that of the best decisions that can be based on the model's score.
    divergence : float
        Relative entropy of the distribution over shifts from the uniform one over the cells of the grid.
    """

    cost: float
    cost_bound: float
    regret_bound: float
    window_loss: float
    window_loss_bound: float
    window_excess_bound: float
    psi_regret_bound: float
    divergence: float


@dataclass(frozen=True)
class ShiftGuarantee:
    """Bounds for a shift of a model's log-odds that hold for new rows: all at once, with the stated confidence.

    Attributes
    ----------
    confidence : float
        The probability, over the draw of the rows, with which all bounds hold together is at least this.
    order : int
        Order of the window loss.
    shift : float
    folds : int
        Number of fold models; 1 for a model that learnt from none of these rows.
    refitted : bool
        Whether the model in use was fitted again to all rows; then the bounds are not about it.
    rows, rows_per_fold : int
        Number of all rows, and of those of the smallest fold; the bounds depend on the latter.
    choices : int
        Number of models from which one was chosen with these rows.
    largest_fp_regret, largest_fn_regret : float
        The bounds hold if no mistake can cost more.
    believed : bool
        Whether one of these two is only the largest one of the rows: the costs were given for each row, and no largest
        ones with them. That all rows have the same costs is no reason to believe it: new rows may have others.
    fixed_costs : bool
        Whether the costs were given as numbers that hold for every row, and not as one number for each row.
    constant_cost : float
        Mean cost on the rows of the better constant rule: predict all positive or all negative.
    mean : RuleBounds
        For the shift itself.
    gibbs : RuleBounds or None
        For a shift drawn anew from the Gibbs posterior for each decision, if there is a posterior.
    prevalence : float or None
        The share of positives in use, if it is another one than in the rows. The costs are then those on the rows at
        which every rule costs what it costs in use.
    """

    confidence: float
    order: int
    shift: float
    folds: int
    refitted: bool
    rows: int
    rows_per_fold: int
    choices: int
    largest_fp_regret: float
    largest_fn_regret: float
    believed: bool
    fixed_costs: bool
    constant_cost: float
    mean: RuleBounds
    gibbs: RuleBounds | None
    prevalence: float | None = None

    @property
    def vacuous(self) -> bool:
        """Whether the regret bound says nothing: it is not below the cost of the better constant rule."""
        return self.mean.regret_bound >= self.constant_cost

    @property
    def psi_vacuous(self) -> bool:
        """The same for the bound by psi."""
        return self.mean.psi_regret_bound >= self.constant_cost

    def to_dict(self) -> dict[str, Any]:
        """The fields and the two verdicts as a dictionary that JSON can hold."""
        return {**asdict(self), "vacuous": self.vacuous, "psi_vacuous": self.psi_vacuous}

    def in_words(self) -> str:
        """Four or five sentences: the bound, whether it says anything, for which model, and what it assumes."""
        constant = _shown(self.constant_cost)
        bound = show_above(self.mean.regret_bound, 3)
        if self.vacuous:
            first = (
                f"No useful guarantee: {self.rows_per_fold:,} rows{' per fold' if self.folds > 1 else ''} are too few. "
                f"The shift is only known to cost at most {bound} per row more than the best shift, and predicting "
                f"everyone the same costs {constant}."
            )
        else:
            first = (
                f"With {100 * self.confidence:.6g} % confidence, the shift {self.shift:.3g} costs at most {bound} per "
                f"row more than the best shift; for comparison, predicting everyone the same costs {constant}."
            )
        by_psi = show_above(self.mean.psi_regret_bound, 3)
        second = (
            "If the model's log-odds are right up to a shift, the best shift makes the best decisions that the model's "
            f"score allows; the way over the window loss then gives the bound {by_psi}"
            + (", which says nothing." if self.psi_vacuous else ".")
        )
        return " ".join([first, second, self.terms_in_words()])

    def terms_in_words(self, used: str = "this shift") -> str:
        """For which model the bounds are, with what it was used, and what they assume."""
        if self.folds > 1:
            which = f"The bounds are for the {self.folds} fold models with {used}, on average"
        else:
            which = "The bounds are for the model that gave these scores and has not learnt from these rows"
        which += ", not for the model that was fitted again to all rows." if self.refitted else "."
        largest = f"{_shown(self.largest_fp_regret)} and {_shown(self.largest_fn_regret)}"
        if self.fixed_costs:
            assumed = "costs that were fixed beforehand."
        elif self.believed:
            assumed = f"that no mistake costs more than the largest ones seen ({largest})."
        else:
            assumed = f"that no mistake costs more than you said ({largest})."
        share = "the same share of positives" if self.prevalence is None else f"{100 * self.prevalence:.4g} % positives"
        alike = "" if self.prevalence is None else " within each class"
        terms = (
            f"They assume independent rows, new rows like those that were held out{alike} with {share}, and {assumed}"
        )
        return f"{which} {terms}"


def shift_guarantee(
    rows_of_folds: Sequence[ScoredRows],
    posterior: ShiftPosterior | None = None,
    *,
    order: int,
    shift: float | None = None,
    confidence: Exact = 0.95,
    largest_fp_regret: Exact | None = None,
    largest_fn_regret: Exact | None = None,
    refitted: bool = False,
    choices: int = 1,
    prevalence: float | None = None,
) -> ShiftGuarantee:
    """Bounds of the cost of a shift against the best shift, from rows that the models did not learn from.

    Parameters
    ----------
    rows_of_folds : list of ScoredRows
        For each fold its rows, with the log-odds of the model that learnt from the other folds. One list entry for a
        model that learnt from other data. All weights must be equal.
    posterior : ShiftPosterior, optional
        The Gibbs posterior of the shift.
    order : int
        Order of the window loss.
    shift : number, optional
        The shift in use, found in any way from these rows; by default the mean of the posterior.
    confidence : number in (0, 1)
        All bounds hold together with at least this probability.
    largest_fp_regret, largest_fn_regret : positive number, optional
        Only for costs that were given for each row: no mistake can cost more than this. By default the largest regrets
        of these rows; then the bounds hold as far as you believe that.
    refitted : bool
        Whether the model in use was fitted again to all rows. It changes no number, but the words.
    choices : int
        Number of models from which the one in use was chosen with the same rows, such as all mixtures of an ensemble.
    prevalence : float, optional
        The share of positives in use, if the costs of the rows were made for it. It changes no number, but the words.

    Examples
    --------
    >>> import numpy as np
    >>> from uneven.costs import RowCosts
    >>> from uneven.decisions.guarantee import shift_guarantee
    >>> from uneven.decisions.scored_rows import ScoredRows
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(-2.5, 2, 20_000)
    >>> is_positive = rng.random(20_000) < 1 / (1 + np.exp(-log_odds))
    >>> costs = RowCosts.read(20_000, fp_cost=1, fn_cost=10)
    >>> rows = ScoredRows(log_odds + 0.5, is_positive, costs, np.ones(20_000))
    >>> found = shift_guarantee([rows], shift=0.5, order=8)
    >>> round(found.mean.regret_bound, 2), found.vacuous, round(found.constant_cost, 2)
    (0.06, False, 0.83)
    >>> small = rows.take(np.arange(200))
    >>> shift_guarantee([small], shift=0.5, order=8).vacuous
    True
    """
    folds = [rows for rows in rows_of_folds if rows.log_odds.size]
    if not folds:
        raise ParameterError("a guarantee needs rows, got none")
    level = inputs.between_0_and_1("confidence", confidence)
    if isinstance(choices, bool) or not isinstance(choices, numbers.Integral) or choices < 1:
        raise ParameterError(f"choices must be a whole number of at least 1, got {brief(choices)}")
    if shift is None:
        if posterior is None:
            raise ParameterError("give the shift in use, or the posterior whose mean it is")
        shift = posterior.mean
    if not math.isfinite(shift):
        raise ParameterError(f"the guarantee is for a shift of the log-odds by a finite number, got {brief(shift)}")
    weight = np.concatenate([rows.weight for rows in folds])
    if (weight != weight[0]).any() or weight[0] <= 0:
        raise ParameterError(
            "the guarantee is for rows that are drawn alike and does not cover different sample weights; fit without "
            "sample_weight"
        )
    rows, same, believed = _read(folds, largest_fp_regret, largest_fn_regret)
    edges = all_edges(rows.smallest_fold)
    mean = Rule.at(shift, edges)
    kept = kept_edges(mean, edges)
    costs = LossCurves.of_costs(rows, edges, kept)
    window = LossCurves.of_window(rows, edges, kept, order)
    doubt = float(1 - level)
    always_wrong = Rule.always_wrong(edges)
    mean_regret = costs.loss_bound(always_wrong, kl_limit(always_wrong, edges, rows.smallest_fold, doubt))

    def bounds(rule: Rule, cost: float, window_loss: float) -> RuleBounds:
        limit = kl_limit(rule, edges, rows.smallest_fold, doubt, choices)
        cost_bound = costs.loss_bound(rule, limit)
        excess = window.excess_bound(rule, limit)
        return RuleBounds(
            cost=cost,
            cost_bound=cost_bound,
            regret_bound=min(costs.excess_bound(rule, limit), cost_bound),
            window_loss=window_loss,
            window_loss_bound=window.loss_bound(rule, limit),
            window_excess_bound=excess,
            psi_regret_bound=_by_psi(excess, order, same, mean_regret),
            divergence=math.log(edges.size - 1) - rule.entropy,
        )

    here = np.array([float(shift)])
    cost = float(np.sum(rows.mean_costs(here)))
    window_loss = float(np.sum(rows.mean_window_losses(here, order)))
    gibbs = None if posterior is None else Rule.drawn_from(posterior, edges, kept)
    return ShiftGuarantee(
        confidence=float(level),
        order=order,
        shift=float(shift),
        folds=len(folds),
        refitted=refitted,
        rows=rows.count,
        rows_per_fold=rows.smallest_fold,
        choices=int(choices),
        largest_fp_regret=rows.largest_negative,
        largest_fn_regret=rows.largest_positive,
        believed=believed,
        fixed_costs=same is not None,
        constant_cost=float(min(costs.positive[-1] * rows.largest_positive, costs.negative[0] * rows.largest_negative)),
        mean=bounds(mean, cost, window_loss),
        gibbs=None if gibbs is None else bounds(gibbs, costs.mean(gibbs), window.mean(gibbs)),
        prevalence=prevalence,
    )


def _read(
    folds: list[ScoredRows], largest_fp: Exact | None, largest_fn: Exact | None
) -> tuple[BoundedRows, tuple[float, float] | None, bool]:
    """All rows, the two regrets if they are fixed for all rows, and whether the largest ones are only believed."""
    distances = np.concatenate([rows.distances for rows in folds])
    is_positive = np.concatenate([rows.is_positive[rows.informative] for rows in folds])
    regrets = np.concatenate([np.abs(rows.costs.regrets(rows.is_positive))[rows.informative] for rows in folds])
    if not distances.size:
        raise CostError("one decision is the cheaper one for every row, whatever its probability: nothing to guarantee")
    seen = {
        name: np.concatenate([np.abs(rows.costs.of_each_row(name))[rows.informative] for rows in folds])
        for name in ("fp_regret", "fn_regret")
    }
    fixed = {
        name: values.min() == values.max() and all(rows.costs.is_fixed(name) for rows in folds)
        for name, values in seen.items()
    }
    largest, believed = {}, False
    for (name, values), given in zip(seen.items(), (largest_fp, largest_fn), strict=True):
        largest[name] = float(values.max())
        if given is not None:
            number = float(inputs.positive(f"largest_{name}", given))
            if number < largest[name]:
                raise ParameterError(
                    f"largest_{name} must be at least the largest one of the rows, {brief(largest[name])}, got "
                    f"{brief(given)}"
                )
            largest[name] = number
        elif not fixed[name]:
            believed = True
    if not (min(largest.values()) > _LEAST_COST and max(largest.values()) < _LARGEST_COST):
        raise CostError(
            f"costs must lie between {_LEAST_COST:g} and {_LARGEST_COST:g} for a guarantee; use another unit of money"
        )
    rows = BoundedRows(
        distances=distances,
        is_positive=is_positive,
        regrets=regrets,
        count=sum(part.log_odds.size for part in folds),
        smallest_fold=min(part.log_odds.size for part in folds),
        largest_positive=largest["fn_regret"],
        largest_negative=largest["fp_regret"],
    )
    same = (float(seen["fp_regret"][0]), float(seen["fn_regret"][0])) if all(fixed.values()) else None
    return rows, same, believed


def _by_psi(excess: float, order: int, same: tuple[float, float] | None, mean_regret: float) -> float:
    """The cost regret that an excess window loss allows, in the unit of the costs (theorem 1, Theorem R)."""
    if same is None:
        alpha, inner, unit = Fraction(1, 2), mean_regret, 2 * mean_regret
    else:
        fp_regret, fn_regret = map(Fraction, same)
        alpha = fp_regret / (fp_regret + fn_regret)
        inner = unit = float(fp_regret + fn_regret)
    bound = _analysis(order, alpha).regret_bound(slightly_more(excess / inner))
    return slightly_more(float(bound) * unit)


@lru_cache(maxsize=64)
def _analysis(order: int, alpha: Fraction) -> Analysis:
    return analyze(calibrated_loss(phi("beta", order=order), alpha=alpha))


def _shown(amount: float) -> str:
    return f"{amount:.3g}"

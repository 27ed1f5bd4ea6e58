"""Other costs, another share of positives, other actions or limits for a fitted model, without a new fit.

Another share of positives is another cost of the two mistakes on rows like
those of the fit (:mod:`uneven.observed_costs`), and a constant added to the log-odds. So a changed model keeps
everything that its fit found; it decides at the costs *on rows of the fit*, and speaks of the rows in use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from uneven import inputs
from uneven.costs import COSTS, DEFAULT_COSTS, GivenCosts, RowCosts
from uneven.decisions.actions import Actions
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief, ndim
from uneven.learners.constant_rules import class_sums, sums_of_classes
from uneven.learners.several_actions import outermost_costs, require_actions
from uneven.observed_costs import undo_resampling

if TYPE_CHECKING:
    from uneven.learners.contract import EstimatorContract


@dataclass(frozen=True)
class ChangedUse:
    """How a model is used that was changed after its fit.

    Attributes
    ----------
    train, use : float or None
        Share of positives in the rows of the fit and in use; None if they are the same.
    limits : dict
        Limits of ``decide``, by name.
    notes : tuple of str
        What stays guaranteed.

    Examples
    --------
    >>> from uneven.costs import RowCosts
    >>> from uneven.learners.changed_costs import ChangedUse
    >>> use = ChangedUse(train=0.5, use=0.2)
    >>> use.on_rows_of_fit(RowCosts.read(1, fp_cost=1, fn_cost=10)).fn_cost, use.probability(0.5)
    (4.0, 0.2)
    """

    train: float | None = None
    use: float | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def factors(self) -> tuple[float, float]:
        """By what costs on a negative and on a positive are multiplied on rows of the fit."""
        if self.train is None or self.use is None:
            return 1.0, 1.0
        return (1 - self.use) / (1 - self.train), self.use / self.train

    @property
    def log_odds_shift(self) -> float:
        """What is added to the log-odds of rows of the fit."""
        negative, positive = self.factors
        return float(np.log(positive) - np.log(negative))

    def on_rows_of_fit(self, costs: RowCosts) -> RowCosts:
        """The costs at which decisions on rows of the fit save what they save in use."""
        negative, positive = self.factors
        if negative == positive == 1:
            return costs
        fp, fn, tp, tn = costs.fp_cost * negative, costs.fn_cost * positive, costs.tp_cost, costs.tn_cost
        return RowCosts(costs.count, fp, fn, tp * positive, tn * negative, costs.by_row)

    def actions_on_rows_of_fit(self, actions: Actions) -> Actions:
        """The same for actions, without rounding: the same ones pay."""
        negative, positive = map(Fraction, self.factors)
        if negative == positive == 1:
            return actions
        exact = {name: actions.exact_costs(name) for name in actions.names}
        return Actions(**{name: (one * positive, other * negative) for name, (one, other) in exact.items()})

    def probability(self, probability: Any) -> Any:
        """Probabilities in use, from those of rows like the fit's."""
        if self.train is None or self.use is None:
            return probability
        return undo_resampling(probability, train=self.train, use=self.use)


class ChangeableCosts:
    """``with_costs`` of a fitted estimator, and what depends on it."""

    _in_use: ChangedUse | None = None  # of a model that ``with_costs`` made
    _costs_of_fit: Mapping[str, Any]
    _actions_of_fit: Actions | None = None  # in place of costs
    _constant_sums: dict[str, Any] | None

    def with_costs(
        self,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        actions: Actions | None = None,
        prevalence: Any = None,
        at_most: Any = None,
        at_most_share: Any = None,
        per: str | None = None,
        recall_at_least: Any = None,
        precision_at_least: Any = None,
        flag_rate: Any = None,
        budget: Any = None,
    ) -> Self:
        """A copy of this fitted model that decides at other costs, without a new fit.

        Its decisions are those of ``predict(X, fn_cost=...)``; attributes such as ``threshold_``, ``guarantee_`` and
        ``constant_costs_``, and a clone, are for the new costs as well. What is not given stays.

        Parameters
        ----------
        fp_cost, fn_cost, tp_cost, tn_cost : number, optional
            Costs of all rows. Costs of each row go to :meth:`predict`.
        actions : Actions, optional
            In place of costs: what can be done, with numbers as costs.
        prevalence : number in (0, 1), optional
            Share of positives where decisions are taken. Probabilities and decisions are then right if the rows of
            each class look like those of the fit. ``prevalence_`` is the share in use.
        at_most, at_most_share, recall_at_least, precision_at_least, flag_rate, budget : optional
            Limits that :meth:`decide` keeps in each call, unless it is given others; as in :func:`uneven.decide`.
        per : str, optional
            The column of X whose groups each have the limit.

        Returns
        -------
        estimator
            Of the same class. ``with_costs_`` says in sentences what stays guaranteed. This model does not change.
        """
        check_is_fitted(self, "classes_")
        limits = {
            "at_most": at_most,
            "at_most_share": at_most_share,
            "per": per,
            "recall_at_least": recall_at_least,
            "precision_at_least": precision_at_least,
            "flag_rate": flag_rate,
            "budget": budget,
        }
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        changed: Self = change_costs(self, given, actions, prevalence, limits)
        return changed

    @property
    def with_costs_(self) -> tuple[str, ...]:
        """Of a model that :meth:`with_costs` made: sentences that say what was changed, and what stays guaranteed."""
        if self._in_use is None:
            raise AttributeError(f"this {type(self).__name__} decides at the costs of its fit; with_costs(...) changes")
        return tuple(self._in_use.notes)

    @property
    def prevalence_(self) -> float:
        """The share of positives for which the model decides: that of its training rows, or of :meth:`with_costs`."""
        check_is_fitted(self, "classes_")
        use = self._in_use
        found = self._share_of_fit() if use is None or use.use is None else use.use
        if found is None:
            raise AttributeError(f"{type(self).__name__} does not know the share of positives of this fit")
        return found

    def _share_of_fit(self) -> float | None:
        """The share of positives in the rows of the fit; None if it is not known."""
        sums = self.__dict__.get("_constant_sums")
        if sums is None or "means" in sums:
            return None
        weights = class_sums(sums)[0]
        return float(weights[1] / weights.sum())

    def _set_costs(self, numbers: dict[str, float], actions: Actions | None) -> None:
        """Let a copy of a fitted model decide at other costs, for rows as ``_in_use`` says."""
        self._costs_of_fit, self._actions_of_fit = numbers, actions
        sums = self.__dict__.get("_constant_sums")
        if sums is not None and "means" not in sums:
            costs = self._on_rows_of_fit(RowCosts.read(1, **numbers))
            four = {name: getattr(costs, name) for name in COSTS}
            self._constant_sums = sums_of_classes(four, np.array(sums["rows"]), *class_sums(sums))

    def _forget_changes(self) -> None:
        """What ``with_costs`` changed ends with a new fit."""
        for name in ("_in_use", "_actions_of_fit"):
            self.__dict__.pop(name, None)

    def _say_what_holds(self, before: EstimatorContract) -> list[str]:
        """Sentences about what is guaranteed after a change of the costs."""
        return []

    def _on_rows_of_fit(self, costs: RowCosts) -> RowCosts:
        """The costs on rows of the fit, from those in use."""
        return costs if self._in_use is None else self._in_use.on_rows_of_fit(costs)


def change_costs(learner: Any, given: GivenCosts, actions: Any, prevalence: Any, limits: Mapping[str, Any]) -> Any:
    """A copy of a fitted learner that decides at other costs; see ``with_costs``."""
    limits = {name: value for name, value in limits.items() if value is not None}
    _require_change(given, actions, prevalence, limits)
    before = learner._in_use or ChangedUse()
    other = _copy(learner)
    changes_costs = bool(given.known) or actions is not None
    if changes_costs or prevalence is not None:
        numbers = _read_numbers(learner, given, actions)
        train, use = _read_prevalence(learner, prevalence, before)
        other._in_use = replace(before, train=train, use=use)
        other._set_costs(numbers, actions if changes_costs else learner._actions_of_fit)
        if changes_costs:
            _set_parameters(other, numbers, actions)
    if limits:
        _require_limits(other, limits)
    kept = limits or before.limits
    other._in_use = replace(other._in_use or before, limits=kept, notes=())
    other._in_use = replace(other._in_use, notes=tuple(_notes(learner, other)))
    return other


def _require_change(given: GivenCosts, actions: Any, prevalence: Any, limits: Mapping[str, Any]) -> None:
    for name, value in given.known.items():
        if ndim(value):
            raise CostError(
                f"with_costs takes one number for all rows, got {name}={brief(value)}; costs of each row go to predict "
                f"and decide: predict(X, {name}=...)"
            )
    if actions is not None:
        require_actions(actions)
        if given.known:
            raise CostError(f"give actions or {' and '.join(given.known)}, not both: actions have costs of their own")
    if not given.known and actions is None and prevalence is None and not limits:
        raise ParameterError(
            "with_costs needs something to change: costs, actions, prevalence, or a limit such as at_most; got nothing"
        )


def _copy(learner: Any) -> Any:
    """A shallow copy: what the fit found is shared, and never written to."""
    other = object.__new__(type(learner))
    other.__dict__.update(learner.__dict__)
    return other


def _read_numbers(learner: EstimatorContract, given: GivenCosts, actions: Actions | None) -> dict[str, float]:
    """The four costs in use."""
    four = outermost_costs(actions) if actions is not None else given.filled(learner._costs_of_fit)
    absent = [name for name, value in four.items() if value is None]
    if absent:
        raise CostError(
            f"the fit had {' and '.join(absent)} of each row, so with_costs needs {' and '.join(absent)} as a number"
        )
    RowCosts.read(1, **four)  # an error for costs that are none
    return {name: inputs.to_float(inputs.exact(name, value, CostError)) for name, value in four.items()}


def _read_prevalence(
    learner: EstimatorContract, prevalence: Any, before: ChangedUse
) -> tuple[float | None, float | None]:
    """Share of positives in the fit and in use; None for both if they are equal."""
    if prevalence is None:
        return before.train, before.use
    use = inputs.to_float(inputs.between_0_and_1("prevalence", prevalence, CostError))
    train = learner._share_of_fit()
    if train is None:
        raise CostError(
            f"this {type(learner).__name__} does not know the share of positives of its fit, as after a fit on rows in "
            "parts or from an older file; uneven.Cost(...).for_prevalence gives the costs for predict"
        )
    return (None, None) if use == train else (train, use)


def _set_parameters(other: Any, numbers: Mapping[str, float], actions: Actions | None) -> None:
    """Parameters as of a model that was made for these costs: a clone fits at them."""
    known = other.get_params(deep=False)
    values: dict[str, Any] = {**numbers, "cost_range": None, "actions": actions}
    if actions is not None and "actions" in known:
        values |= DEFAULT_COSTS
    other.__dict__.update({name: value for name, value in values.items() if name in known})


def _require_limits(other: EstimatorContract, limits: Mapping[str, Any]) -> None:
    per, budget = limits.get("per"), limits.get("budget")
    if per is not None and not isinstance(per, str):
        raise ParameterError(f"per must be the name of a column of X, got {brief(per)}; groups of rows go to decide")
    if budget is not None and any(ndim(part) for part in budget if not isinstance(part, str)):
        raise ParameterError("budget must be two numbers here; what single rows take goes to decide")
    if not hasattr(other, "predict_proba"):
        raise ParameterError(f"{type(other).__name__} has no predict_proba here, so decide can keep no limits")
    from uneven.decisions.decide import Limits, check_limits

    classes = other._classes
    actions = other._actions_of_fit
    check_limits(Limits(**limits), actions, (classes.neg_label, classes.pos_label))


# -- in words ---------------------------------------------------------------------------------------------------------


def _notes(before: EstimatorContract, after: EstimatorContract) -> list[str]:
    """What was changed, and what stays guaranteed."""
    use = after._in_use
    assert use is not None
    found = []
    actions = after._actions_of_fit
    if actions is not None:
        found.append(f"It decides between {actions!r}; nothing was fitted again.")
    elif len(after._costs_of_fit) == len(DEFAULT_COSTS):
        shown = ", ".join(f"{name}={_number(value)}" for name, value in after._costs_of_fit.items())
        found.append(f"It decides at {shown}; nothing was fitted again.")
    if use.train is not None and use.use is not None:
        found.append(
            f"Probabilities and decisions are for a share of positives of {use.use:.4g}, the fit had {use.train:.4g}: "
            "right if the rows of each class look as before."
        )
    elif hasattr(after, "predict_proba"):
        found.append("predict_proba is unchanged: costs play no part in it.")
    found += after._say_what_holds(before)
    if use.limits:
        shown = ", ".join(f"{name}={value!r}" for name, value in use.limits.items())
        found.append(f"decide(X) keeps {shown} in each call; predict decides row by row, without limits.")
    return found


def _number(value: Any) -> str:
    return f"{inputs.to_float(inputs.exact('cost', value)):.6g}"

"""The ensemble for a table: made for its costs, and described in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from uneven.cli.decisions.given_costs import four, reference_costs
from uneven.costs import RowCosts
from uneven.learners.ensemble.members import FAMILIES, families_named


@dataclass(frozen=True)
class Member:
    """A member of a fitted ensemble.

    Attributes
    ----------
    name : str
    weight : float
    cost : float
        What it would cost alone per row, out of fold.
    """

    name: str
    weight: float
    cost: float


def require_members(names: tuple[str, ...]) -> None:
    """Raise unless these are names of members that are installed."""
    if names:
        families_named(list(names))


def new_ensemble(
    costs: RowCosts, *, per_row: bool, members: tuple[str, ...] = (), seconds: float | None = None
) -> BaseEstimator:
    """An ensemble that is not fitted; its labels are 0 and 1."""
    from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier

    given: dict[str, Any] = reference_costs(costs) if per_row else four(costs)
    given = {name: float(cost) for name, cost in given.items()}
    return UnevenEnsembleClassifier(members=list(members) or "auto", time_limit=seconds, random_state=0, **given)


def is_ensemble(classifier: Any) -> bool:
    """Whether a fitted classifier is an ensemble."""
    return hasattr(classifier, "member_costs_")


def members_of(ensemble: Any) -> list[Member]:
    """The members of a fitted ensemble, the largest weight first."""
    weights, costs = ensemble.weights_, ensemble.member_costs_
    found = [Member(name, float(weight), float(costs[name])) for name, weight in weights.items()]
    return sorted(found, key=lambda member: -member.weight)


def constant_costs_of(ensemble: Any) -> dict[str, float]:
    """What flagging everyone and flagging no one cost per row, on the rows of the ensemble's own folds."""
    costs = ensemble.constant_costs_
    return {"flagging everyone": costs["all positive"].cost, "flagging no one": costs["all negative"].cost}


def members_in_words(members: tuple[str, ...]) -> list[str]:
    """What an ensemble would also use if it were installed."""
    absent = [name for name, family in FAMILIES.items() if not (members or family.installed or family.instead_of)]
    if not absent:
        return []
    return [
        f"The ensemble would also use {' and '.join(absent)}, if installed: pip install 'uneven[{','.join(absent)}]'."
    ]


def shift_in_words(ensemble: Any) -> list[str]:
    """The threshold that was found, against the one that right probabilities would need."""
    shift, posterior = float(ensemble.shift_), ensemble.posterior_
    give_or_take = "" if posterior is None else f" (give or take {posterior.standard_deviation:.2g})"
    direction = "raised" if shift > 0 else "lowered"
    return [
        f"The threshold of the average's log-odds is {direction} by {abs(shift):.2g}{give_or_take}, which rows that it "
        "had not seen support best. Probabilities stay as they are."
    ]


def left_out_in_words(ensemble: Any) -> list[str]:
    """Which members are missing, and why: a time limit, or an error."""
    reasons: dict[str, list[str]] = {}
    for name, why in ensemble.left_out_.items():
        reasons.setdefault(why, []).append(name)
    return [f"Left out: {', '.join(names)} ({why})." for why, names in reasons.items()]

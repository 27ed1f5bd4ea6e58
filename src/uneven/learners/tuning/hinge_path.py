"""All gammas of a hinge at one effective C are one fit, by :mod:`uneven.solvers.hinge_identity`."""

from __future__ import annotations

from typing import Any

from uneven._inputs import Exact
from uneven.learners.base import as_fitted_with, classes_of
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC
from uneven.solvers.hinge_identity import HingeIdentity, is_hinge


def is_one_fit(learner: Any, loss: Any) -> bool:
    """Whether all gammas of a learner at one effective C share one fit."""
    if type(learner) is UnevenSVC:
        return True
    return (
        type(learner) is UnevenLinearClassifier
        and learner.penalty == "l2"
        and bool(learner.fit_intercept)
        and is_hinge(loss)
    )


def own_c(effective: Exact, margin_gamma: Exact) -> float:
    """C of the learner with this gamma whose effective C is given."""
    return HingeIdentity.of(margin_gamma).own_c(effective)


def moved(model: Any, margin_gamma: Exact, C: float) -> Any:
    """The learner fitted at another gamma and the same effective C, from the one fitted at gamma = 1."""
    identity = HingeIdentity.of(margin_gamma)
    other = as_fitted_with(model, margin_gamma=margin_gamma, C=C)
    name = "dual_coef_" if isinstance(model, UnevenSVC) else "coef_"
    setattr(other, name, identity.a * getattr(model, name))
    other.intercept_ = identity.a * model.intercept_ + classes_of(model).turned(identity.c)
    other.objective_ = identity.a * identity.a * model.objective_
    if model.duality_gap_ is not None:
        other.duality_gap_ = identity.a * identity.a * model.duality_gap_
    return other

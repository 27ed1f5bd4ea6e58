"""The ensemble for a table: made for its costs, and described in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from uneven.app.models.written_costs import four, reference_costs
from uneven.calibration.calibrated_losses import loss_for, loss_for_rows
from uneven.costs import RowCosts, read_cost
from uneven.decisions.alpha import DECIDE, LEARN
from uneven.errors import LossError, UnevenError
from uneven.learners.classifier_cv import UnevenClassifierCV
from uneven.learners.ensemble.members import FAMILIES, families_named
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC


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


# A learner of this package that learns with mean costs and decides each row by its own.


class DecidedByRow(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of this package, fitted with the mean costs of the rows; each row is decided by its own costs.

    Parameters
    ----------
    learner : learner whose loss identifies probabilities
        Its labels are 0 and 1.

    Attributes
    ----------
    learner_ : learner
    classes_ : ndarray
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> Any:
        """Fit with the means of what mistakes cost more than right decisions.

        Parameters
        ----------
        X, y
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,)

        Returns
        -------
        DecidedByRow
        """
        costs = RowCosts.read(len(y), fp_cost=fp_cost, fn_cost=fn_cost, tp_cost=tp_cost, tn_cost=tn_cost)
        self.learner_ = clone(self.learner).set_params(**reference_costs(costs)).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0) -> np.ndarray:
        """The cheaper class of each row at its costs.

        Parameters
        ----------
        X, fp_cost, fn_cost, tp_cost, tn_cost
            As in :meth:`fit`.

        Returns
        -------
        ndarray
        """
        costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return np.asarray(self.learner_.predict(X, **costs))

    def decision_function(
        self, X: Any, *, fp_cost: Any, fn_cost: Any, tp_cost: Any = 0.0, tn_cost: Any = 0.0
    ) -> np.ndarray:
        """Scores whose threshold is 0 at the costs of each row.

        Parameters
        ----------
        X, fp_cost, fn_cost, tp_cost, tn_cost
            As in :meth:`fit`.

        Returns
        -------
        ndarray
        """
        costs = {"fp_cost": fp_cost, "fn_cost": fn_cost, "tp_cost": tp_cost, "tn_cost": tn_cost}
        return np.asarray(self.learner_.decision_function(X, **costs))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of both classes.

        Parameters
        ----------
        X

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return np.asarray(self.learner_.predict_proba(X))


# The classifier that a user asks for.

#: Kinds of learners: "auto" takes the cheapest of the ensemble and simple ones.
AUTO, ENSEMBLE, LINEAR, SVC = "auto", "ensemble", "linear", "svc"
#: What --tune tries for C.
_CS = (0.01, 0.1, 1.0, 10.0)


@dataclass(frozen=True)
class AskedLearner:
    """The classifier that was asked for.

    Attributes
    ----------
    kind : {"auto", "ensemble", "linear", "svc"}
    loss : str or None
        Of the linear learner.
    gamma : str or None
        Margin asymmetry of the linear learner or the support vector machine.
    tune : bool
        Whether gamma and C are chosen by cost.
    members : tuple of str
        Members of the ensemble; empty: all that are installed and suit the table.
    time_limit : float or None
        Seconds for everything.
    """

    kind: str = AUTO
    loss: str | None = None
    gamma: str | None = None
    tune: bool = False
    members: tuple[str, ...] = ()
    time_limit: float | None = None

    @classmethod
    def read(
        cls,
        kind: str | None,
        loss: str | None,
        gamma: str | None,
        tune: bool,
        members: str | None,
        time_limit: float | None,
    ) -> AskedLearner:
        """The wish that options describe; an error names those that exclude each other."""
        if kind is None:
            kind = LINEAR if loss is not None or gamma is not None else AUTO
        names = tuple(name.strip() for name in (members or "").split(",") if name.strip())
        for option, given, fitting in (
            ("--loss", loss is not None, (LINEAR,)),
            ("--gamma", gamma is not None, (LINEAR, SVC)),
            ("--tune", tune, (AUTO, LINEAR, SVC)),
            ("--members", members is not None, (AUTO, ENSEMBLE)),
            ("--time-limit", time_limit is not None, (AUTO, ENSEMBLE)),
        ):
            if given and kind not in fitting:
                raise UnevenError(f"{option} is for --learner {' or '.join(fitting)}, got --learner {kind}")
        if tune and gamma is not None:
            raise UnevenError("--tune chooses gamma itself: leave --gamma out")
        if members is not None and not names:
            raise UnevenError(f"--members needs names with commas between them, such as linear,forest, got {members!r}")
        if time_limit is not None and not 0 < time_limit < float("inf"):
            raise UnevenError(f"--time-limit must be a positive number of seconds, got {time_limit:g}")
        require_members(names)
        return cls(kind, loss, gamma, tune, names, time_limit)

    @property
    def has_ensemble(self) -> bool:
        """Whether an ensemble is fitted."""
        return self.kind in (AUTO, ENSEMBLE)

    @property
    def way(self) -> str:
        """How costs of each row are used: decided by, if there are probabilities, else learnt with."""
        if self.has_ensemble:
            return DECIDE
        try:
            loss_for_rows(self._phi, self._gamma).inverse_link(0.0)
        except LossError:
            return LEARN
        return DECIDE

    def require_loss(self, numbers: dict[str, str] | None) -> None:
        """Raise at once, before a table is read, if there is no such loss for the costs (None: costs of each row)."""
        if self.has_ensemble:
            return
        if numbers is None:
            loss_for_rows(self._phi, self._gamma)
        else:
            loss_for(self._phi, read_cost(**numbers), self._gamma)

    def learner(self, costs: RowCosts, *, per_row: bool, numbers: dict[str, Any] | None = None) -> BaseEstimator:
        """The linear learner or the SVM for these costs; ``numbers`` are the same costs written exactly.

        Its labels are 0 and 1.
        """
        kind = SVC if self.kind == SVC else LINEAR
        given = reference_costs(costs) if per_row else four(costs) if numbers is None else numbers
        if self.tune:
            return UnevenClassifierCV(kind, loss=self.loss, Cs=_CS, **given)
        gamma = _float_or_text(self._gamma)
        learner = (
            UnevenSVC(margin_gamma=gamma, **given)
            if kind == SVC
            else UnevenLinearClassifier(self._phi, margin_gamma=gamma, **given)
        )
        return DecidedByRow(learner) if per_row and self.way == DECIDE else learner

    @property
    def _phi(self) -> str:
        return "hinge" if self.kind == SVC else self.loss or "logistic"

    @property
    def _gamma(self) -> str:
        return "1" if self.gamma is None else self.gamma


def _float_or_text(value: str) -> float | str:
    """A decimal as the float a Python user would give; a fraction such as 1/3 as text, which is read exactly."""
    try:
        return float(value)
    except ValueError:
        return value

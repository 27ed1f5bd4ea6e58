"""The classifier that a user asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from uneven.cli.decisions.ensembles import require_members
from uneven.cli.decisions.given_costs import four, reference_costs
from uneven.cli.decisions.row_deciders import DecidedByRow
from uneven.costs import RowCosts
from uneven.decisions.alpha import DECIDE, LEARN
from uneven.errors import LossError, UnevenError
from uneven.learners.costs_and_loss import loss_for, loss_for_rows, read_cost
from uneven.learners.cv import UnevenClassifierCV
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC

#: Kinds of learners: "auto" takes the cheapest of the ensemble and simple ones.
AUTO, ENSEMBLE, LINEAR, SVC = "auto", "ensemble", "linear", "svc"
#: What --tune tries for C.
_CS = (0.01, 0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Wish:
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
    ) -> Wish:
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

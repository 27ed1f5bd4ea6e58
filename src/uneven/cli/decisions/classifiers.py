"""The classifiers that a command fits and compares: ours, and what is commonly used when costs are unequal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from uneven.cli.decisions.given_costs import four, mean_regrets, reference_costs
from uneven.cli.decisions.row_deciders import DecidedByRow, ThresholdMovedByRow
from uneven.costs import RowCosts
from uneven.errors import LossError, UnevenError
from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier, UnevenSVC
from uneven.learners.costs_and_loss import loss_for, loss_for_rows, read_cost
from uneven.learners.tuning.ways import DECIDE, LEARN

#: What --tune tries for C.
_CS = (0.01, 0.1, 1.0, 10.0)
#: Names of the constant rules in tables.
EVERYONE, NO_ONE = "flag everyone", "flag no one"


@dataclass(frozen=True)
class Wish:
    """The classifier that was asked for.

    Attributes
    ----------
    kind : {"linear", "svc"}
    loss : str or None
    gamma : str
    tune : bool
    """

    kind: str
    loss: str | None
    gamma: str
    tune: bool

    def __post_init__(self) -> None:
        if self.kind == "svc" and self.loss is not None:
            raise UnevenError(
                f"--loss is for the linear learner; the support vector machine uses hinge, got {self.loss!r}"
            )
        if self.tune and self.gamma != "1":
            raise UnevenError("--tune chooses gamma itself: leave --gamma out")

    def require_loss(self, numbers: dict[str, str] | None) -> None:
        """Raise at once, before a table is read, if there is no such loss for the costs (None: costs of each row)."""
        if numbers is None:
            loss_for_rows(self._phi, self.gamma)
        else:
            loss_for(self._phi, read_cost(**numbers), self.gamma)

    @property
    def _phi(self) -> str:
        return "hinge" if self.kind == "svc" else self.loss or "logistic"

    @property
    def way(self) -> str:
        """How costs of each row are used: decided by, if the loss identifies probabilities, else learnt with."""
        try:
            loss_for_rows(self._phi, self.gamma).inverse_link(0.0)
        except LossError:
            return LEARN
        return DECIDE

    def classifier(self, costs: RowCosts, *, per_row: bool, numbers: dict[str, Any] | None = None) -> BaseEstimator:
        """The classifier for these costs; ``numbers`` are the same costs written exactly. Its labels are 0 and 1."""
        given = reference_costs(costs) if per_row else four(costs) if numbers is None else numbers
        if self.tune:
            return UnevenClassifierCV(self.kind, loss=self.loss, Cs=_CS, **given)
        gamma = _float_or_text(self.gamma)
        learner = (
            UnevenSVC(margin_gamma=gamma, **given)
            if self.kind == "svc"
            else UnevenLinearClassifier(self._phi, margin_gamma=gamma, **given)
        )
        return DecidedByRow(learner) if per_row and self.way == DECIDE else learner


def _float_or_text(value: str) -> float | str:
    """A decimal as the float a Python user would give; a fraction such as 1/3 as text, which is read exactly."""
    try:
        return float(value)
    except ValueError:
        return value


def alternatives(costs: RowCosts, *, per_row: bool) -> dict[str, BaseEstimator]:
    """What is commonly used when costs are unequal. The unit of the costs does not matter."""
    fp, fn = mean_regrets(costs)
    plain = LogisticRegression(max_iter=2000)
    moved = FixedThresholdClassifier(plain, threshold=fp / (fp + fn), response_method="predict_proba")
    return {
        "plain logistic regression": plain,
        "class-weighted": LogisticRegression(max_iter=2000, class_weight={0: 1.0, 1: fn / fp}),
        "threshold-moved": ThresholdMovedByRow(plain) if per_row else moved,
    }


def constant_rules() -> dict[str, BaseEstimator]:
    """The same decision for every row."""
    return {name: DummyClassifier(strategy="constant", constant=label) for name, label in ((NO_ONE, 0), (EVERYONE, 1))}


def contest(
    name: str, ours: BaseEstimator, costs: RowCosts, *, per_row: bool, assemble: Callable[[BaseEstimator], Any]
) -> dict[str, Any]:
    """All classifiers that are compared, ours first; ``assemble`` puts the preprocessing in front."""
    others = {key: assemble(other) for key, other in alternatives(costs, per_row=per_row).items()}
    return {name: assemble(ours), **others, **constant_rules()}

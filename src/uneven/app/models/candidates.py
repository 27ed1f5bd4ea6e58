"""What may be fitted: the learner that is asked for, the usual logistic regressions, and constant rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from uneven.app.models.written_costs import WrittenCosts, costs_by_name, mean_regrets, reference_costs
from uneven.calibration.calibrated_losses import loss_for, loss_for_rows
from uneven.costs import GivenCosts, RowCosts, read_cost
from uneven.decisions.alpha import probability_thresholds, threshold_log_odds
from uneven.decisions.cost_matrix import CostMatrix
from uneven.errors import LossError, UnevenError
from uneven.inputs import brief
from uneven.learners.classifier_cv import UnevenClassifierCV
from uneven.learners.contract import EstimatorContract
from uneven.learners.ensemble.members import families_named
from uneven.learners.linear import UnevenLinearClassifier
from uneven.learners.svc import UnevenSVC
from uneven.tables.columns import NUMBER, Column

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
    monotone : tuple of pairs of a column and a sign
        Columns with which the ensemble's probability may only rise (1) or fall (-1).
    """

    kind: str = AUTO
    loss: str | None = None
    gamma: str | None = None
    tune: bool = False
    members: tuple[str, ...] = ()
    time_limit: float | None = None
    monotone: tuple[tuple[str, int], ...] = ()

    @classmethod
    def read(
        cls,
        kind: str | None,
        loss: str | None,
        gamma: str | None,
        tune: bool,
        members: str | None,
        time_limit: float | None,
        monotone: tuple[str, ...] = (),
    ) -> AskedLearner:
        """The learner that options describe; an error names those that exclude each other."""
        if kind is None:
            kind = LINEAR if loss is not None or gamma is not None else AUTO
        signs = tuple(_read_sign(text) for text in monotone)
        names = tuple(name.strip() for name in (members or "").split(",") if name.strip())
        for option, given, fitting in (
            ("--loss", loss is not None, (LINEAR,)),
            ("--gamma", gamma is not None, (LINEAR, SVC)),
            ("--tune", tune, (AUTO, LINEAR, SVC)),
            ("--members", members is not None, (AUTO, ENSEMBLE)),
            ("--time-limit", time_limit is not None, (AUTO, ENSEMBLE)),
            ("--monotone", bool(monotone), (AUTO, ENSEMBLE)),
        ):
            if given and kind not in fitting:
                raise UnevenError(f"{option} is for --learner {' or '.join(fitting)}, got --learner {kind}")
        if tune and gamma is not None:
            raise UnevenError("--tune chooses gamma itself: leave --gamma out")
        if members is not None and not names:
            raise UnevenError(f"--members needs names with commas between them, such as linear,forest, got {members!r}")
        if time_limit is not None and not 0 < time_limit < float("inf"):
            raise UnevenError(f"--time-limit must be a positive number of seconds, got {time_limit:g}")
        if names:
            families_named(list(names))  # an error for a name that is none, or is not installed
        if signs and kind == AUTO:
            kind = ENSEMBLE  # nothing else keeps it
        return cls(kind, loss, gamma, tune, names, time_limit, signs)

    @property
    def has_ensemble(self) -> bool:
        """Whether an ensemble is fitted."""
        return self.kind in (AUTO, ENSEMBLE)

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities, to decide each row by its own costs; else rows are weighted by them."""
        if self.has_ensemble:
            return True
        try:
            loss_for_rows(self._phi, self._gamma).inverse_link(0.0)
        except LossError:
            return False
        return True

    def require_columns(self, columns: list[Column]) -> None:
        """Raise at once if a column of --monotone is not used, or holds no numbers."""
        roles = {column.name: column.role for column in columns}
        for name, _ in self.monotone:
            if name not in roles:
                raise UnevenError(
                    f"--monotone names {name!r}, and no such column is used; used are {brief(list(roles))}"
                )
            if roles[name] != NUMBER:
                raise UnevenError(
                    f"--monotone is for columns of numbers, and {name!r} is a {roles[name]} column; leave it out"
                )

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
        given = reference_costs(costs) if per_row else costs_by_name(costs) if numbers is None else numbers
        if self.tune:
            return UnevenClassifierCV(kind, loss=self.loss, Cs=_CS, **given)
        gamma = _float_or_text(self._gamma)
        if kind == SVC:
            return UnevenSVC(margin_gamma=gamma, **given)
        return UnevenLinearClassifier(self._phi, margin_gamma=gamma, **given)

    @property
    def _phi(self) -> str:
        return "hinge" if self.kind == SVC else self.loss or "logistic"

    @property
    def _gamma(self) -> str:
        return "1" if self.gamma is None else self.gamma


_SIGNS = {"+": 1, "-": -1, "+1": 1, "-1": -1, "1": 1}


def _read_sign(text: str) -> tuple[str, int]:
    """A column and 1 or -1, from a text such as income=-."""
    name, mark, sign = text.rpartition("=")
    if not mark or not name.strip() or sign.strip() not in _SIGNS:
        raise UnevenError(
            "--monotone needs a column and + or -, such as income=- (the probability may only fall with it), got "
            f"{text!r}"
        )
    return name.strip(), _SIGNS[sign.strip()]


def _float_or_text(value: str) -> float | str:
    """A decimal as the float a Python user would give; a fraction such as 1/3 as text, which is read exactly."""
    try:
        return float(value)
    except ValueError:
        return value


# -- logistic regression as it is commonly used when costs are unequal ------------------------------------------------


PLAIN, WEIGHTED, MOVED = "plain", "weighted", "moved"


class LogisticRule(EstimatorContract, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's logistic regression of the labels 0 and 1, and where its probabilities are cut.

    Parameters
    ----------
    way : {"plain", "weighted", "moved"}
        "plain" ignores the costs. "weighted" weights the positives by fn_cost/fp_cost. "moved" fits as "plain" and
        flags a row where its probability is above fp_cost/(fp_cost + fn_cost); costs given to ``predict`` and
        ``decision_function`` replace these. The other two ignore them.
    fp_cost, fn_cost : float
        What a false positive and a false negative cost more than the right decision.

    Attributes
    ----------
    model_ : LogisticRegression
    used_ : ndarray or None
        Columns of a sparse matrix with a number in a training row; the others would have the coefficient 0.
    classes_ : ndarray
    """

    _positive = 1
    is_linear = True

    def __init__(self, way: str = PLAIN, fp_cost: float = 1.0, fn_cost: float = 1.0) -> None:
        self.way = way
        self.fp_cost = fp_cost
        self.fn_cost = fn_cost

    def fit(self, X: Any, y: Any) -> LogisticRule:
        """Fit.

        Parameters
        ----------
        X, y

        Returns
        -------
        LogisticRule
        """
        weight = {0: 1.0, 1: self.fn_cost / self.fp_cost} if self.way == WEIGHTED else None
        self.used_ = np.flatnonzero(X.getnnz(axis=0)) if issparse(X) else None
        self.model_ = LogisticRegression(max_iter=2000, class_weight=weight).fit(self._used(X), y)
        self.classes_ = self.model_.classes_
        return self

    def _used(self, X: Any) -> Any:
        return X if self.used_ is None else X[:, self.used_]

    @property
    def moves(self) -> bool:
        """Whether it can decide at other costs than those of the fit."""
        return self.way == MOVED

    def thresholds(self, costs: RowCosts) -> np.ndarray:
        """The probability above which each row is flagged; NaN where it is flagged below.

        Parameters
        ----------
        costs : RowCosts

        Returns
        -------
        ndarray
        """
        if self.way == MOVED:
            return probability_thresholds(*costs.thresholds())
        return np.full(costs.count, 0.5 if self.way == PLAIN else self.fp_cost / (self.fp_cost + self.fn_cost))

    def _positive_scores(self, X: Any, given: GivenCosts, method: str) -> np.ndarray:
        """Scores whose threshold is 0; only "moved" uses the costs of the rows, by default those of the constructor."""
        score = self._evidence(X)
        cut = self._cut(score.size, given)
        return score if cut is None else np.asarray(cut[1] * (score - cut[0]))

    def _evidence(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.decision_function(self._used(X)))

    def _cut(self, count: int, given: GivenCosts) -> tuple[np.ndarray, np.ndarray] | None:
        if self.way != MOVED:
            return None
        alpha, sign = RowCosts.read(count, **given.filled(self._costs_of_fit)).thresholds()
        return threshold_log_odds(alpha), sign

    @property
    def _costs_of_fit(self) -> dict[str, Any]:  # type: ignore[override]
        return {"fp_cost": self.fp_cost, "fn_cost": self.fn_cost, "tp_cost": 0.0, "tn_cost": 0.0}

    def _positive_probability(self, X: Any, given: GivenCosts) -> np.ndarray:
        """The weights of "weighted" are taken out again; costs change nothing."""
        return self._probability_of_evidence(self._evidence(X), given)

    def _probability_of_evidence(self, evidence: np.ndarray, given: GivenCosts) -> np.ndarray:
        if self.way == WEIGHTED:
            evidence = evidence - np.log(self.fn_cost / self.fp_cost)
        return np.asarray(expit(evidence))


# -- what is compared by cost -----------------------------------------------------------------------------------------

#: Names of the constant rules in tables.
EVERYONE, NO_ONE = "flag everyone", "flag no one"
CONSTANT_RULES = (NO_ONE, EVERYONE)
#: Before the name of an action of several classes: the rule that takes it for every row.
ALWAYS = "always "
#: Names of the usual alternatives, the simplest first.
ALTERNATIVES = {"plain logistic regression": PLAIN, "threshold-moved": MOVED, "class-weighted": WEIGHTED}


@dataclass(frozen=True)
class Candidate:
    """A classifier that may be fitted.

    Attributes
    ----------
    name : str
    new : callable
        From costs to an estimator that is not fitted; of the labels 0 and 1, or of several classes with a cost matrix.
    whole : bool
        Whether it takes the typed columns of a table as they are, without preprocessing.
    moves : bool
        Whether it decides at other costs without a new fit.
    learns_means : bool
        Whether it learns with the mean costs of the rows it is fitted to, though it decides each row by its own.
    makes_folds : bool
        Whether its ``fit`` makes folds, and takes ``times`` and ``groups`` for them.
    """

    name: str
    new: Callable[[Any], BaseEstimator]
    whole: bool = False
    moves: bool = False
    learns_means: bool = False
    makes_folds: bool = False

    def pipeline(self, costs: RowCosts | CostMatrix, preprocessing: Any) -> Pipeline:
        """From typed columns to decisions; not fitted. ``preprocessing`` may be "passthrough"."""
        first = "passthrough" if self.whole else preprocessing
        return Pipeline([("columns", first), ("classifier", self.new(costs))])


def candidates(
    asked: AskedLearner, given: WrittenCosts, costs: RowCosts, seconds: float | None = None
) -> list[Candidate]:
    """Everything that is compared, the simplest first; ``seconds`` is the time limit of one fit of an ensemble."""
    found = [
        Candidate(NO_ONE, _constant(0), whole=True, moves=True),
        Candidate(EVERYONE, _constant(1), whole=True, moves=True),
        *(Candidate(name, _logistic(way), moves=way != WEIGHTED) for name, way in ALTERNATIVES.items()),
    ]
    if asked.kind in (LINEAR, SVC) or asked.tune:
        by_means = given.per_row and not asked.tune and asked.has_probabilities
        new = _learner(asked, given, costs)
        found.append(Candidate(_learner_name(asked), new, learns_means=by_means, makes_folds=asked.tune))
    if asked.has_ensemble:
        found.append(Candidate(ENSEMBLE, _ensemble(asked, given, seconds), whole=True, moves=True, makes_folds=True))
    return found


def is_rule(name: str) -> bool:
    """Whether a candidate takes the same decision for every row."""
    return name in CONSTANT_RULES or name.startswith(ALWAYS)


def savable(asked: AskedLearner, found: list[Candidate]) -> list[Candidate]:
    """The candidates that may be saved: with "auto" all that look at a row, else the one that was asked for."""
    return [c for c in found if not is_rule(c.name)] if asked.kind == AUTO else found[-1:]


def _constant(label: int) -> Callable[[RowCosts], BaseEstimator]:
    return lambda _: DummyClassifier(strategy="constant", constant=label)


def _logistic(way: str) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        fp, fn = mean_regrets(costs)
        return LogisticRule(way, fp, fn)

    return new


def _learner(asked: AskedLearner, given: WrittenCosts, own: RowCosts) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        exact = given.numbers() if costs is own and not given.per_row else None
        return asked.learner(costs, per_row=given.per_row, numbers=exact)

    return new


def _learner_name(asked: AskedLearner) -> str:
    name = "uneven SVM" if asked.kind == SVC else "uneven linear"
    return f"{name} (tuned)" if asked.tune else name


def _ensemble(asked: AskedLearner, given: WrittenCosts, seconds: float | None) -> Callable[[RowCosts], BaseEstimator]:
    def new(costs: RowCosts) -> BaseEstimator:
        from uneven.learners.ensemble.classifier import UnevenEnsembleClassifier

        at = reference_costs(costs) if given.per_row else costs_by_name(costs)
        numbers: dict[str, Any] = {name: float(cost) for name, cost in at.items()}
        members = list(asked.members) or "auto"
        return UnevenEnsembleClassifier(
            members=members,
            time_limit=seconds,
            random_state=0,
            monotone=dict(asked.monotone) or None,
            **numbers,
        )

    return new

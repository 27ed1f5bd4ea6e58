"""What all learners share: costs, the calibrated loss, labels, weights, and scikit-learn's contract.

A learner is a subclass of :class:`UnevenClassifier` with the parameters ``loss``, ``margin_gamma``, ``pos_label`` and
the four costs. Its ``_learn`` fits it and calls ``_remember``; its ``_score`` gives the scores of the positive class.
The functions after the class are for the tuning, which works on learners from outside. :class:`LinearScores` is for
learners with coefficients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from uneven.calibration.calibrated_losses import analysis_of, loss_for, loss_for_rows, meant_alpha, only_alpha
from uneven.costs import COSTS, Cost, GivenCosts, RowCosts, read_cost
from uneven.decisions.alpha import move_threshold, score_thresholds, untilt
from uneven.errors import CostError, LossError, ParameterError, UnevenError
from uneven.inputs import brief, to_float, warn_caller
from uneven.labels import Classes, positive_class
from uneven.learners.constant_rules import plain
from uneven.learners.contract import EstimatorContract, costs_of_fit
from uneven.learners.cost_range import loss_over, read_prior, spread_prior, treats_alike, warn_outside, within_range
from uneven.learners.seen_rows import remember_rows
from uneven.learners.training_set import TrainingSet, read_features, read_matrix, read_training_set, require_target
from uneven.losses import Loss
from uneven.solvers.running import require_finite

if TYPE_CHECKING:
    from uneven.calibration.in_money import AnalysisInMoney
    from uneven.decisions.actions import Actions

#: Rows on which probabilities are checked: their mean is known well enough, and larger sets take no longer.
_CHECKED = 20_000
#: Factor between the mean probability and the share of positives beyond which ``predict_proba`` warns.
_TRUSTED = 1.5


class UnevenClassifier(EstimatorContract, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the learners.

    Inside, scores are those of the positive class. ``decision_function`` and ``coef_`` follow scikit-learn: their
    positive values favour ``classes_[1]``. :class:`Classes` turns one into the other.
    """

    loss: Any
    fp_cost: Any
    fn_cost: Any
    tp_cost: Any
    tn_cost: Any
    margin_gamma: Any
    pos_label: Any
    neg_label: Any
    cost_range: Any = None  # of learners that know none
    _range_of_fit: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    # -- the loss ---------------------------------------------------------------------------------------------------

    def _current_loss(self) -> Loss:
        """The loss of the fit, or the one a fit would use."""
        if hasattr(self, "classes_"):
            return self.loss_
        return self._loss_for(read_cost(**costs_of_fit(self)))

    def _loss_for(self, costs: Cost | RowCosts) -> Loss:
        """The loss of a fit with these costs, which are the central ones if there is a range."""
        prior = spread_prior(self)
        if prior is not None:
            return loss_over(prior)
        if isinstance(costs, RowCosts):
            return loss_for_rows(self.loss, self.margin_gamma)
        return loss_for(self.loss, costs, self.margin_gamma)

    def _remember(self, problem: TrainingSet, scale: float, loss: Loss | None = None) -> None:
        """Keep what the loss of this fit is made from; without a loss it is made when it is asked for."""
        regrets, costs = None, problem.costs
        if isinstance(costs, Cost):
            regrets = [value if isinstance(value, float) else str(value) for value in (costs.fp_cost, costs.fn_cost)]
        self._forget_changes()
        self._fitted_with = (self.loss, regrets, self.margin_gamma)
        self._range_of_fit = None if spread_prior(self) is None else self.cost_range
        self._costs_of_fit = {name: plain(value) for name, value in problem.numbers.items()}
        self._constant_sums = problem.constant_sums
        self.cost_scale_ = scale
        self._loss = loss

    @property
    def _has_row_costs(self) -> bool:
        """Whether the fit was one with costs of each row."""
        return self._fitted_with[1] is None

    @property
    def loss_(self) -> Loss:
        """The loss of the fit, calibrated for the costs; with costs of each row, the loss before they weight it."""
        check_is_fitted(self, "classes_")
        kept: Loss | None = self.__dict__.get("_loss")
        if kept is None:  # a model of a search, or one from a file
            loss, regrets, margin_gamma = self._fitted_with
            prior = read_prior(self._range_of_fit)
            if prior is not None:
                kept = loss_over(prior)
            elif regrets is None:
                kept = loss_for_rows(loss, margin_gamma)
            else:
                kept = loss_for(loss, read_cost(*regrets), margin_gamma)
            self._loss = kept
        return kept

    def __getstate__(self) -> dict[str, Any]:
        """Without the loss: a file holds the parameters it is made from, which skops can store."""
        return {name: value for name, value in super().__getstate__().items() if name != "_loss"}

    @property
    def analysis_(self) -> AnalysisInMoney:
        """What the loss guarantees for the costs: verdict, regret bounds, also in the unit of the costs."""
        from uneven.calibration.in_money import AnalysisInMoney

        check_is_fitted(self, "classes_")
        given, regrets, _ = self._fitted_with
        loss = self.loss_
        if regrets is None:
            weighted = isinstance(given, Loss)
            alpha = only_alpha(loss) if weighted else Fraction(1, 2)
            plain = analysis_of(loss, alpha)
            return AnalysisInMoney(plain, cost_scale=self.cost_scale_, total_cost=None, weighted_loss=weighted)
        cost = read_cost(*regrets)
        total = to_float(sum(cost.exact_costs, Fraction(0)))
        return AnalysisInMoney(
            analysis_of(loss, meant_alpha(loss, cost)),
            cost_scale=self.cost_scale_,
            total_cost=total,
            fixed_costs=len(self._costs_of_fit) == len(COSTS),  # else an array was given, if of equal numbers
        )

    # -- fitting ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Self:
        """Fit to examples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs, the same for all rows or one for each; those not given are the constructor's. A row whose mistake
            costs nothing does not count; one whose mistake pays is learnt with the other label, with a warning.

        Returns
        -------
        estimator
        """
        self._read_parameters()
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        self._learn(self._read(X, y, sample_weight, given), given)
        return self

    def _read_parameters(self) -> Any:
        """Check the parameters that only this learner has."""

    def _learn(self, problem: TrainingSet, given: GivenCosts) -> None:
        """Fit to a training set; a learner whose ``fit`` takes more than others has a ``fit`` of its own instead."""
        raise NotImplementedError

    # -- reading the data -------------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any, given: GivenCosts | None = None) -> TrainingSet:
        """Validate everything before any work, and set ``classes_``; ``given`` are the costs given to ``fit``."""
        require_target(self, y)
        problem = read_training_set(self, self._read_features(X, reset=True), y, sample_weight, given)
        self._keep_classes(problem.classes)
        remember_rows(self, problem.X)
        return problem

    def _keep_classes(self, classes: Classes) -> None:
        self.classes_ = classes.labels
        self._positive = classes.positive

    def _positive_of(self, classes: np.ndarray, costs: Cost | RowCosts | None) -> int:
        """Which of two sorted classes is the positive one; None are costs that differ by row."""
        symmetric = costs is not None and self._symmetric(costs)
        return positive_class(classes, self.pos_label, symmetric=symmetric, neg_label=self.neg_label)

    def _symmetric(self, costs: Cost | RowCosts) -> bool:
        """Whether it makes no difference which class is the positive one."""
        alike = isinstance(costs, Cost) and costs.fp_cost == costs.fn_cost
        return alike and not isinstance(self.loss, Loss) and bool(self.margin_gamma == 1) and treats_alike(self)

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        return read_features(self, X, reset=reset)

    # -- predicting -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self, X: Any) -> np.ndarray:
        """Decision values of the positive class."""

    def _checked_score(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "classes_")
        return self._score(self._read_features(X, reset=False))

    def _positive_scores(self, X: Any, given: GivenCosts, method: str) -> np.ndarray:
        return self._decision(self._checked_score(X), given)

    def _decision(self, score: np.ndarray, given: GivenCosts) -> np.ndarray:
        """Scores of the positive class whose threshold for the given costs is 0."""
        cut = self._cut(score.shape[0], given)
        return score if cut is None else np.asarray(cut[1] * (score - cut[0]))

    def _cut(self, count: int, given: GivenCosts) -> tuple[np.ndarray, np.ndarray] | None:
        costs = self._costs_of_rows(count, given)
        if costs is None or self._has_row_costs or self._fits_for(costs):
            return None
        try:
            return score_thresholds(self.loss_, costs)
        except LossError as error:
            raise LossError(f"{type(self).__name__} decides for the costs of its fit only: {error}") from None

    def _evidence(self, X: Any) -> np.ndarray:
        return self._checked_score(X)

    def _probability_of_evidence(self, evidence: np.ndarray, given: GivenCosts) -> np.ndarray:
        positive = self._probability(evidence, given)
        return positive if self._in_use is None else np.asarray(self._in_use.probability(positive))

    def _fits_for(self, costs: RowCosts) -> bool:
        """Whether the fit had these costs: then the threshold is 0 for every loss, also without probabilities."""
        regrets: Any = self._fitted_with[1]
        if costs.per_row or not (costs.fp_regret > 0 and costs.fn_regret > 0):
            return False
        return read_cost(costs.fp_regret, costs.fn_regret).alpha == read_cost(*regrets).alpha

    def _costs_of_rows(self, count: int, given: GivenCosts) -> RowCosts | None:
        """The costs of rows to predict; None if the fit's are meant."""
        if not given.known and (self._in_use is None or len(self._costs_of_fit) < len(COSTS)):
            return None
        filled = given.filled(self._costs_of_fit)
        known = all(value is not None for value in filled.values())
        costs = RowCosts.read(count, **(filled if known else costs_of_fit(self, filled)))
        warn_outside(self._range_of_fit, costs)
        if self._has_row_costs and not given.per_row:
            raise CostError(
                "this model learnt with the costs of each row, which its scores contain: predict(X) decides for them, "
                f"and other costs for all rows, got {brief(given.known)}, cannot "
                "be decided for; fit with numbers to give costs to predict"
            )
        return self._on_rows_of_fit(costs)

    def _positive_probability(self, X: Any, given: GivenCosts) -> np.ndarray:
        positive = self._probability_of_evidence(self._checked_score(X), given)
        doubt = self._doubt_about_probabilities()
        if doubt is not None:
            warn_caller(
                f"do not take predict_proba of this {type(self).__name__} for a probability: {doubt}; predict at the "
                "costs of the fit is not affected; for probabilities fit with equal costs, and let "
                "UnevenThresholdClassifierCV decide by yours"
            )
        return positive

    def _require_method(self, method: str) -> None:
        try:
            self._current_loss().inverse_link(0.0)
        except UnevenError as error:
            raise AttributeError(f"{type(self).__name__} has no predict_proba: {error}") from None

    def _probability(self, score: np.ndarray, given: GivenCosts) -> np.ndarray:
        """P(positive) from scores; ``given`` are the costs of the rows, needed if the scores contain them."""
        positive = np.asarray(self.loss_.inverse_link(score))
        if not self._has_row_costs:
            return positive
        costs = self._costs_of_rows(score.shape[0], given)
        if costs is None:
            raise CostError(
                "this model learnt with the costs of each row, so a probability needs them: give fp_cost and "
                "fn_cost to predict_proba, or fit with numbers"
            )
        loss = self._fitted_with[0]
        return untilt(positive, costs, only_alpha(loss) if isinstance(loss, Loss) else None)

    # -- other costs without a new fit ------------------------------------------------------------------------------

    def _set_costs(self, numbers: dict[str, float], actions: Actions | None) -> None:
        super()._set_costs(numbers, actions)
        self._decision(np.zeros(1), GivenCosts(**numbers))  # an error if the loss cannot decide for these costs

    def _say_what_holds(self, before: EstimatorContract) -> list[str]:
        if self._has_row_costs or len(self._costs_of_fit) < len(COSTS):
            return []
        if self._fits_for(self._on_rows_of_fit(RowCosts.read(1, **self._costs_of_fit))):
            return ["Threshold and loss are those of the fit, and what analysis_ guarantees stays."]
        return [
            "The threshold is plain alpha on the probabilities of this model: its loss was calibrated for the costs of "
            "the fit, and analysis_ with its bounds is about those. UnevenThresholdClassifierCV would correct it."
        ]

    # -- whether probabilities are any ------------------------------------------------------------------------------

    def _check_probabilities(self, X: Any, y: np.ndarray, weight: np.ndarray, given: GivenCosts) -> None:
        """Compare the mean probability of some rows with their share of positives, and keep the ratio.

        A loss that is weighted for costs is precise near alpha and careless elsewhere. If the model cannot follow the
        probabilities, or follows its training rows too closely, the inverse link gives numbers that are far from them.
        After a fit for a range of costs, only rows whose probability is one of its alphas are compared: the loss is
        flat elsewhere, and nobody decides there.
        """
        self.probability_ratio_: float | None = None
        if not self._identifies_probabilities() or given.per_row:
            return  # with costs of each row the scores contain them: what they are without is a second guess
        if y.size > _CHECKED:
            rows = np.linspace(0, y.size - 1, _CHECKED).astype(np.intp)
            X, y, weight = _safe_indexing(X, rows), y[rows], weight[rows] if weight.size else weight
        probability = self._probability(self._score(X), given)
        weight = (weight if weight.size else np.ones(y.size)) * within_range(self._range_of_fit, probability)
        share = float(weight @ y)
        if share > 0:
            self.probability_ratio_ = float(weight @ probability) / share

    def _identifies_probabilities(self) -> bool:
        try:
            self.loss_.inverse_link(0.0)
        except UnevenError:
            return False
        return True

    def _doubt_about_probabilities(self) -> str | None:
        """Why the inverse link gives no probabilities, as a clause; None if nothing speaks against them."""
        ratio = self.__dict__.get("probability_ratio_")
        if ratio is None or 1 / _TRUSTED <= ratio <= _TRUSTED:
            return None
        within = "" if self._range_of_fit is None else " within the range"
        return f"on {self._checked_on}{within} its mean is {ratio:.3g} times the share of positives"

    #: The rows of ``probability_ratio_``.
    _checked_on = "the training rows"


# -- for the tuning ---------------------------------------------------------------------------------------------------


def read_problem(
    learner: UnevenClassifier, X: Any, y: Any, sample_weight: Any, given: GivenCosts | None = None
) -> TrainingSet:
    """Read a training set as the learner's ``fit`` would; sets its ``classes_``."""
    return learner._read(X, y, sample_weight, given)


def read_rows(learner: UnevenClassifier, X: Any) -> Any:
    """Read rows to predict, as a fitted learner would."""
    return learner._read_features(X, reset=False)


def positive_scores(learner: UnevenClassifier, rows: Any) -> np.ndarray:
    """Scores of the positive class for rows from :func:`read_rows`."""
    return learner._score(rows)


def current_loss(learner: UnevenClassifier) -> Loss:
    """The loss of the fit, or the one that a fit with the constructor's costs would use."""
    return learner._current_loss()


def decision_scores(learner: UnevenClassifier, rows: Any, costs: RowCosts) -> np.ndarray:
    """Scores of the positive class whose threshold for the costs of the rows is 0; see :func:`read_rows`."""
    return move_threshold(learner.loss_, learner._score(rows), costs)


def classes_of(learner: UnevenClassifier) -> Classes:
    """The classes of a fitted learner."""
    return learner._classes


def with_parameters(learner: UnevenClassifier, parameters: dict[str, Any]) -> Any:
    """A shallow copy with other values of parameters that exist; scikit-learn's own way takes longer than a fit."""
    other = object.__new__(type(learner))
    other.__dict__.update(learner.__dict__)
    other.__dict__.update(parameters)
    return other


def as_fitted_with(model: UnevenClassifier, **parameters: Any) -> Any:
    """A copy of a fitted learner whose fit counts as one with other parameters, at the same costs."""
    other = with_parameters(model, parameters)
    other._fitted_with = (other.loss, model._fitted_with[1], other.margin_gamma)
    other._loss = None
    return other


def keep_costs_by_row(model: Any, names: list[str]) -> None:
    """Let a fitted learner know that these costs came for each row, though its fit was told one number for all."""
    if isinstance(model, UnevenClassifier):
        model._costs_of_fit = {name: value for name, value in model._costs_of_fit.items() if name not in names}


# -- linear learners --------------------------------------------------------------------------------------------------


class LinearScores(UnevenClassifier):
    """A learner with ``coef_`` and ``intercept_``; positive values favour ``classes_[1]``, as in scikit-learn."""

    coef_: np.ndarray
    intercept_: np.ndarray

    def _keep_theta(self, theta: np.ndarray) -> None:
        """Keep the weights of the positive class, the intercept last."""
        turned = self._classes.turned(theta)
        self.coef_ = turned[:-1].reshape(1, -1).copy()
        self.intercept_ = turned[-1:].copy()

    def _theta(self) -> np.ndarray:
        """The weights of the positive class, the intercept last."""
        return np.asarray(self._classes.turned(np.append(self.coef_.ravel(), self.intercept_)))

    def _score(self, X: Any) -> np.ndarray:
        """Scores in the precision of X: with mixed ones, all of X would be converted."""
        theta = self._theta().astype(X.dtype, copy=False)
        score = np.asarray(X @ theta[:-1]).ravel()
        score += theta[-1]
        return score

    def _checked_score(self, X: Any) -> np.ndarray:
        """Scores of rows that must be finite. X is read once: a NaN or infinity in a row is one in its score, too."""
        check_is_fitted(self, "classes_")
        rows = read_matrix(self, X, reset=False)
        with np.errstate(all="ignore"):
            score = self._score(rows)
            sound = np.isfinite(score.sum()) and bool(self.coef_.all())  # BLAS may skip a coefficient that is 0
        if not sound:
            require_finite("X", rows)
        return score


# The penalty of a linear learner, from its parameters ``penalty`` and ``l1_ratio``.

PENALTIES = ("l2", "l1", "elasticnet", None)


def penalty_weights(penalty: Any, l1_ratio: Any) -> tuple[float, float]:
    """The weights of the l1 norm of w, and of half its squared norm.

    Examples
    --------
    >>> from uneven.learners.base import penalty_weights
    >>> penalty_weights("l2", None), penalty_weights("elasticnet", 0.25)
    ((0.0, 1.0), (0.25, 0.75))
    """
    if not (penalty is None or (isinstance(penalty, str) and penalty in PENALTIES)):
        raise ParameterError(f"penalty must be 'l2', 'l1', 'elasticnet' or None, got {brief(penalty)}")
    if penalty != "elasticnet":
        if l1_ratio is not None:
            raise ParameterError(
                f"l1_ratio is for penalty='elasticnet' only, got l1_ratio={brief(l1_ratio)} with penalty={penalty!r}; "
                "leave it out"
            )
        return {"l2": (0.0, 1.0), "l1": (1.0, 0.0), None: (0.0, 0.0)}[penalty]
    if isinstance(l1_ratio, bool) or not isinstance(l1_ratio, Real) or not 0 <= float(l1_ratio) <= 1:
        raise ParameterError(f"penalty='elasticnet' needs l1_ratio, a number from 0 to 1, got {brief(l1_ratio)}")
    return float(l1_ratio), 1.0 - float(l1_ratio)

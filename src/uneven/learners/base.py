"""What all learners share: costs, the calibrated loss, labels, weights, and scikit-learn's contract.

A learner is a subclass of :class:`UnevenClassifier` with the parameters ``loss``, ``fp_cost``, ``fn_cost``,
``margin_gamma`` and ``pos_label``. Its ``fit`` calls ``_read`` and then ``_remember``; its ``_score`` gives the scores
of the positive class. The functions after the class are for the tuning, which works on learners from outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from uneven import _inputs
from uneven._inputs import brief
from uneven.calibration.calibrated_losses import calibrated_loss
from uneven.calibration.claim import NOT_CALIBRATED
from uneven.costs import Cost
from uneven.errors import CostError, LossError, ParameterError, UnevenError
from uneven.learners.classes import Classes
from uneven.learners.reading import read_features, read_labels, read_weights
from uneven.losses import Loss
from uneven.losses.registry import changes
from uneven.metrics.labels import positive_class, two_classes

if TYPE_CHECKING:
    from uneven.calibration.analysis import Analysis


@dataclass(frozen=True)
class Problem:
    """A validated training set.

    Attributes
    ----------
    X : ndarray or CSR matrix
        Not copied if possible.
    y : ndarray of int8
        1 for the positive class, 0 for the negative one.
    sample_weight : ndarray of float64
        Empty if all are 1.
    classes : Classes
    """

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray
    classes: Classes


def read_cost(fp_cost: Any, fn_cost: Any) -> Cost:
    """Costs of a learner: both positive and finite."""
    for name, value in (("fp_cost", fp_cost), ("fn_cost", fn_cost)):
        _inputs.positive(name, value, CostError)
    return Cost(fp_cost=fp_cost, fn_cost=fn_cost)


def learners_loss(loss: Any, cost: Cost, margin_gamma: Any) -> Loss:
    """The loss calibrated for the costs: made from a phi, or a finished loss after a check."""
    alpha = cost.exact_alpha
    if not isinstance(loss, Loss):
        if isinstance(loss, str) and not loss.strip():
            raise ParameterError("loss must be a name, an expression in t, a phi or a loss, got an empty text")
        gamma = _inputs.positive("margin_gamma", margin_gamma)
        return calibrated_loss(loss, alpha=alpha, gamma=gamma)
    if margin_gamma != 1:
        raise ParameterError(
            f"margin_gamma belongs to a loss given by name or expression, got margin_gamma={brief(margin_gamma)} with "
            f"the finished loss {loss!r}; give gamma to that loss instead"
        )
    _require_calibrated(loss, _meant_alpha(loss, cost))
    return loss


def _made_loss(loss: Any, fp_cost: Any, fn_cost: Any, margin_gamma: Any) -> tuple[Cost, Loss]:
    """The costs and the loss of a learner with these parameters."""
    cost = read_cost(fp_cost, fn_cost)
    return cost, learners_loss(loss, cost, margin_gamma)


@lru_cache(maxsize=1024, typed=True)
def _kept_loss(loss: str, fp_cost: Any, fn_cost: Any, margin_gamma: Any, registered: int) -> tuple[Cost, Loss]:
    """The same, kept while no phi is registered or removed; True and 1 are told apart by their types."""
    return _made_loss(loss, fp_cost, fn_cost, margin_gamma)


def _meant_alpha(loss: Loss, cost: Cost) -> Fraction:
    """alpha of the costs; the loss's own alpha if it rounds to the same double (0.1 and 1/10)."""
    own = loss.exact_alpha
    return own if own is not None and float(own) == cost.alpha else cost.exact_alpha


@lru_cache(maxsize=256)
def _require_calibrated(loss: Loss, alpha: Fraction) -> None:
    from uneven.calibration.implied_costs import costs_in_words, implied_alpha
    from uneven.calibration.verdict import verdict as verdict_on

    verdict = verdict_on(loss, alpha)
    if verdict.status == NOT_CALIBRATED:
        implied = implied_alpha(loss)
        raise LossError(
            f"{loss!r} is not calibrated for these costs ({costs_in_words(alpha)}): {verdict.reason}. "
            f"{implied.in_words()} Give the costs it is made for, or its phi by name and margin_gamma"
        )


@lru_cache(maxsize=64)
def _analysis(loss: Loss, alpha: Fraction) -> Analysis:
    from uneven.calibration.analysis import analyze

    return analyze(loss, alpha=alpha)


def _has_probabilities(learner: UnevenClassifier) -> bool:
    """True if the loss identifies probabilities; otherwise an AttributeError with the reason, as hasattr expects."""
    try:
        learner._current_loss().inverse_link(0.0)
    except UnevenError as error:
        raise AttributeError(f"{type(learner).__name__} has no predict_proba: {error}") from None
    return True


class UnevenClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the learners.

    Inside, scores are those of the positive class. ``decision_function`` and ``coef_`` follow scikit-learn: their
    positive values favour ``classes_[1]``. :class:`Classes` turns one into the other.
    """

    loss: Any
    fp_cost: Any
    fn_cost: Any
    margin_gamma: Any
    pos_label: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    # -- the loss ---------------------------------------------------------------------------------------------------

    def _make_loss(self) -> tuple[Cost, Loss]:
        if type(self.loss) is not str:
            return _made_loss(self.loss, self.fp_cost, self.fn_cost, self.margin_gamma)
        try:
            return _kept_loss(self.loss, self.fp_cost, self.fn_cost, self.margin_gamma, changes())
        except TypeError:  # a parameter that cannot be hashed, hence is no number: refused with a sentence
            return _made_loss(self.loss, self.fp_cost, self.fn_cost, self.margin_gamma)

    def _current_loss(self) -> Loss:
        """The loss of the fit, or the one a fit would use."""
        return self.loss_ if hasattr(self, "classes_") else self._make_loss()[1]

    def _remember(self, loss: Loss | None) -> None:
        """Keep the loss of this fit and the parameters it was made from; None: it is made when it is asked for."""
        self._fitted_with = (self.loss, self.fp_cost, self.fn_cost, self.margin_gamma)
        self._loss = loss

    @property
    def loss_(self) -> Loss:
        """The calibrated loss of the fit."""
        check_is_fitted(self, "classes_")
        kept: Loss | None = self.__dict__.get("_loss")
        if kept is None:  # a model of a search, or one from a file
            loss, fp_cost, fn_cost, margin_gamma = self._fitted_with
            self._loss = kept = learners_loss(loss, read_cost(fp_cost, fn_cost), margin_gamma)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        """Without the loss: a file holds the parameters it is made from, which skops can store."""
        return {name: value for name, value in super().__getstate__().items() if name != "_loss"}

    @property
    def analysis_(self) -> Analysis:
        """What the loss guarantees for the costs: verdict, regret bounds."""
        check_is_fitted(self, "classes_")
        _, fp_cost, fn_cost, _ = self._fitted_with
        loss = self.loss_
        return _analysis(loss, _meant_alpha(loss, read_cost(fp_cost, fn_cost)))

    # -- reading the data -------------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """Validate everything before any work, and set ``classes_``."""
        if y is None:
            raise CostError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = self._read_features(X, reset=True)
        labels = read_labels(y, X.shape[0])
        weight = read_weights(sample_weight, labels.shape[0])
        classes, index = two_classes(labels)
        if weight.size:
            for label in (0, 1):
                if not weight[index == label].any():
                    raise CostError(
                        "the labels must come from two classes, but sample_weight is 0 for every example of class "
                        f"{classes[label]!r}"
                    )
        self._keep_classes(Classes(classes, positive_class(classes, self.pos_label, symmetric=self._symmetric())))
        return Problem(X, (index == self._positive).astype(np.int8), weight, self._classes)

    def _keep_classes(self, classes: Classes) -> None:
        self.classes_ = classes.labels
        self._positive = classes.positive

    @property
    def _classes(self) -> Classes:
        """The classes of the fit."""
        return Classes(self.classes_, self._positive)

    def _symmetric(self) -> bool:
        """Whether it makes no difference which class is the positive one."""
        return not isinstance(self.loss, Loss) and bool(self.fp_cost == self.fn_cost) and bool(self.margin_gamma == 1)

    def _read_features(self, X: Any, *, reset: bool) -> Any:
        return read_features(self, X, reset=reset)

    # -- predicting -------------------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self, X: Any) -> np.ndarray:
        """Decision values of the positive class."""

    def _checked_score(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "classes_")
        return self._score(self._read_features(X, reset=False))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores that are calibrated for your costs: the decision threshold is 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``, as everywhere in scikit-learn.
        """
        score = self._checked_score(X)
        return np.asarray(self._classes.turned(score))

    def predict(self, X: Any) -> np.ndarray:
        """The cheaper class of each row; a score of exactly 0 means the negative class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self._checked_score(X) > 0
        return self._classes.label(positive)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, by the inverse link of the loss; only if the loss identifies them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        score = self._checked_score(X)
        positive = self.loss_.inverse_link(score)
        return np.stack(self._classes.in_order(1 - positive, positive), axis=1)


# -- for the tuning ---------------------------------------------------------------------------------------------------


def read_problem(learner: UnevenClassifier, X: Any, y: Any, sample_weight: Any) -> Problem:
    """Read a training set as the learner's ``fit`` would; sets its ``classes_``."""
    return learner._read(X, y, sample_weight)


def read_rows(learner: UnevenClassifier, X: Any) -> Any:
    """Read rows to predict, as a fitted learner would."""
    return learner._read_features(X, reset=False)


def positive_scores(learner: UnevenClassifier, rows: Any) -> np.ndarray:
    """Scores of the positive class for rows from :func:`read_rows`."""
    return learner._score(rows)


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
    """A copy of a fitted learner whose fit counts as one with other parameters."""
    other = with_parameters(model, parameters)
    other._remember(None)
    return other

"""What every estimator promises: predictions for given costs, a score in money, and what the two constant rules cost.

``docs/estimators.md`` lists all promises; ``tests/learners/test_contract.py`` keeps every public estimator to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, GivenCosts
from uneven.errors import CostError
from uneven.inputs import brief
from uneven.labels import Classes, require_same_length
from uneven.learners.changed_costs import ChangeableCosts
from uneven.learners.constant_rules import constant_costs
from uneven.learners.cost_range import costs_of_range
from uneven.learners.several_actions import costs_of_actions, have_actions_between
from uneven.metrics.expected_cost import expected_cost
from uneven.metrics.intervals import CostEstimate
from uneven.metrics.rows import read_decisions

if TYPE_CHECKING:
    from uneven.app.report.model_card import ModelCard
    from uneven.decisions.actions import Actions
    from uneven.decisions.decision_table import Decisions
    from uneven.learners.explaining.explanation import Explanation

#: Most characters of a repr, and of one parameter in it.
_MOST_SHOWN, _MOST_OF_VALUE = 999, 200


def offers(method: str) -> Any:
    """What scikit-learn asks whether a learner has a method: an error with the reason, or yes."""

    def check(learner: EstimatorContract) -> bool:
        learner._require_method(method)
        return True

    return check


class EstimatorContract(ChangeableCosts):
    """The prediction methods, ``score``, ``constant_costs_`` and a short repr of an estimator.

    It stands before scikit-learn's mixins, whose score is accuracy. A learner has ``classes_``, ``_positive`` and
    ``_costs_of_fit``, the costs of the fit that are numbers. It gives ``_positive_scores`` and
    ``_positive_probability``; one that asks another estimator overrides ``_answer`` instead. Its ``fit`` may set
    ``_constant_sums`` to what :func:`constant_sums` gives.
    """

    classes_: np.ndarray
    _positive: int

    @property
    def _classes(self) -> Classes:
        """The classes of the fit."""
        return Classes(self.classes_, self._positive)

    # -- predicting -------------------------------------------------------------------------------------------------

    def _positive_scores(self, X: Any, given: GivenCosts, method: str) -> np.ndarray:
        """Scores of the positive class whose threshold for the given costs is 0; ``method`` is for messages.

        It raises scikit-learn's NotFittedError before a fit.
        """
        raise NotImplementedError

    def _positive_probability(self, X: Any, given: GivenCosts) -> np.ndarray:
        """P(positive) of rows with the given costs; before a fit it raises as well."""
        raise NotImplementedError

    def _require_method(self, method: str) -> None:
        """Raise an AttributeError that says why, if there is no ``predict_proba`` or ``predict_log_proba``."""

    def _answer(self, method: str, X: Any, given: GivenCosts) -> Any:
        """What one of the four methods says about rows with the given costs."""
        if method == "predict_log_proba":
            with np.errstate(divide="ignore"):
                return np.log(self._answer("predict_proba", X, given))
        if method == "predict_proba":
            positive = self._positive_probability(X, given)
            return np.stack(self._classes.in_order(1 - positive, positive), axis=1)
        score = self._positive_scores(X, given, method)
        return self._classes.label(score > 0) if method == "predict" else np.asarray(self._classes.turned(score))

    def predict(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """The cheaper class of each row; a score of exactly 0 means the negative class.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows; those not given are the numbers of the fit. By default the costs of the fit decide.

            If a learner of a loss was fitted with numbers, other costs move the threshold to the probability at which
            they change the decision; the loss must identify probabilities. If it was fitted with costs of each row, the
            scores contain them: these must be costs of the same kind, and the threshold stays 0.

            A classifier with a corrected threshold finds its correction again for other numbers, from out-of-fold
            probabilities, which takes no new fit. With costs of each row, each row is decided by its own, with the
            correction of the fit.

            A search asks the learner it chose; it needs costs if ``row_costs_`` is "decide".

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        answer: np.ndarray = self._answer("predict", X, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        return answer

    def decision_function(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Scores that are calibrated for your costs: the decision threshold is 0.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows, as in :meth:`predict`. The scores are moved so that their threshold is 0.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive for ``classes_[1]``, as everywhere in scikit-learn. Infinite where one decision is the cheaper one
            at every probability. Of a classifier with a corrected threshold, log-odds minus those of the threshold.
        """
        answer: np.ndarray = self._answer("decision_function", X, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        return answer

    @available_if(offers("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Probabilities of the classes; a learner of a loss has this method only if the loss identifies them.

        They do not depend on the costs if the model can follow them. A learner of a loss compares their mean with the
        share of positives in ``fit`` (``probability_ratio_``); this method warns if the two differ by more than a
        factor of 1.5. A classifier with a corrected threshold calibrates them on out-of-fold rows.

        They speak of rows like those of the fit. If these have noisy labels or another share of positives than in use,
        :meth:`uneven.ObservedCost.probability` gives the probabilities in use.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            A learner of a loss needs them after a fit with costs of each row, and only then: its scores contain the
            costs. Otherwise they change nothing.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        answer: np.ndarray = self._answer("predict_proba", X, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        return answer

    @available_if(offers("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(
        self, X: Any, *, fp_cost: Any = None, fn_cost: Any = None, tp_cost: Any = None, tn_cost: Any = None
    ) -> np.ndarray:
        """Logarithms of :meth:`predict_proba`; the logarithm of 0 is minus infinity.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            As in :meth:`predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        answer: np.ndarray = self._answer("predict_log_proba", X, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))
        return answer

    # -- deciding within limits -------------------------------------------------------------------------------------

    def _costs_to_decide(self, given: GivenCosts) -> GivenCosts:
        """The four costs of rows to decide about."""
        return costs_to_score(self._costs_of_fit, given, "decide")

    def _decision_probability(self, X: Any, given: GivenCosts) -> tuple[np.ndarray, np.ndarray]:
        """P(positive) for decisions at the given costs, and whether ``predict`` says positive."""
        said = np.asarray(self._answer("predict", X, given)) == self._classes.pos_label
        return self._answer("predict_proba", X, given)[:, self._positive], said

    def _action_probability(self, X: Any, actions: Actions, given: GivenCosts) -> tuple[np.ndarray, np.ndarray | None]:
        """P(positive) for decisions between actions, and the number of each row's action if that says more."""
        return self._answer("predict_proba", X, given)[:, self._positive], None

    def _cost_of_actions(self, X: Any, y: Any, sample_weight: Any) -> float | None:
        """What the actions of the fit cost per row; None if they are the classes of :meth:`predict`."""
        if not have_actions_between(self._actions_of_fit):
            return None
        taken = self.decide(X)
        rows, _ = read_decisions(
            y, y, pos_label=self._classes.pos_label, sample_weight=sample_weight, **self._costs_of_fit
        )
        require_same_length(y_true=rows.is_positive, X=taken.choice)
        costs = np.array(list(taken.actions.costs.values()))
        return float(rows.weight @ costs[taken.choice, 1 - rows.is_positive.astype(np.intp)])

    @available_if(offers("predict_proba"))  # type: ignore[untyped-decorator]
    def decide(
        self,
        X: Any,
        *,
        actions: Actions | None = None,
        at_most: Any = None,
        at_most_share: Any = None,
        per: Any = None,
        recall_at_least: Any = None,
        precision_at_least: Any = None,
        flag_rate: Any = None,
        budget: Any = None,
        held_out: Any = None,
        confidence: Any = 0.95,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Decisions:
        """The cheapest decisions within limits, with what each is expected to cost: see :func:`uneven.decide`.

        Without limits and with two classes these are the decisions of :meth:`predict`. After a fit with actions, these
        are decided about, unless other actions or costs are given here.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        actions : Actions, optional
            What can be done, if it is more than to predict one of the classes. Two actions are decided as
            :meth:`predict` does at their costs, several by the probabilities of :meth:`predict_proba`. A classifier
            with a corrected threshold decides at each break as :meth:`predict` does at the costs of that break, if the
            costs of the actions are numbers.
        at_most, at_most_share, recall_at_least, precision_at_least, flag_rate, budget, confidence
            Limits, as in :func:`uneven.decide`.
        per : str or array-like of shape (n_samples,), optional
            The group of each row, such as its day, or a column of X: the limit holds in each group. The learner does
            not see the column if it was not in the fit.
        held_out : pair of rows and labels, optional
            Rows that the model did not learn from: then a recall or a precision holds for new rows with the stated
            confidence. A third entry has their costs, if these differ from row to row.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows, as in :meth:`predict`. Beside several actions they are for :meth:`predict_proba`, which
            needs them after a fit with costs of each row.

        Returns
        -------
        Decisions
        """
        from uneven.decisions.decide import Limits
        from uneven.learners.model_decisions import decide_with

        check_is_fitted(self, "classes_")
        limits = Limits(at_most, at_most_share, per, recall_at_least, precision_at_least, flag_rate, budget, confidence)
        if self._in_use is not None and limits == Limits(confidence=confidence):
            limits = Limits(**self._in_use.limits, confidence=confidence)
        return decide_with(self, X, actions, GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost), limits, held_out)

    # -- explaining -------------------------------------------------------------------------------------------------

    def _asks(self, given: GivenCosts) -> tuple[Any, GivenCosts]:
        """The fitted model that decides, and the costs that it is told; a search asks the learner that it chose."""
        check_is_fitted(self, "classes_")
        return self, given

    def _evidence(self, X: Any) -> np.ndarray:
        """What the model says of each row before the costs decide: larger for positive rows."""
        raise NotImplementedError

    def _cut(self, count: int, given: GivenCosts) -> tuple[np.ndarray, np.ndarray] | None:
        """A threshold and a sign for each row: a score is ``sign * (evidence - threshold)``. None: 0 and 1."""
        raise NotImplementedError

    def _probability_of_evidence(self, evidence: np.ndarray, given: GivenCosts) -> np.ndarray:
        """P(positive) of rows with such evidence."""
        raise NotImplementedError

    def explain(
        self,
        X: Any,
        background: Any = None,
        *,
        n_draws: int = 32,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> Explanation:
        """Which columns moved each row across the threshold, and by how much money: see :func:`uneven.explain`.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        background : DataFrame or array-like, optional
            Rows to compare with, such as training rows. By default X.
        n_draws : int
            Background rows that are drawn where values are sampled.
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows, as in :meth:`predict`.

        Returns
        -------
        Explanation
        """
        from uneven.learners.explaining.explanation import explain

        costs = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        found: Any = explain(self, X, background, n_draws=n_draws, **costs)  # of two classes
        return found

    def card(self, X: Any = None, *, decided_by: str | None = None, unit: str | None = None) -> ModelCard:
        """What is known of this model, for those who must answer for it: see docs/log.md.

        Parameters
        ----------
        X : DataFrame or array-like, optional
            The table to describe: its columns, their types and missing values. A model keeps no table.
        decided_by : str, optional
            Who decided the costs, and when.
        unit : str, optional
            The unit of the costs, such as "EUR".

        Returns
        -------
        ModelCard
            ``to_html()`` is a page that holds the certificate of the loss, ``to_dict()`` all facts, ``summary()`` text.
            A notebook shows it.
        """
        from uneven.app.report.model_card import learner_card

        check_is_fitted(self, "classes_")
        return learner_card(self, X, decided_by=decided_by, unit=unit)

    # -- what it costs ----------------------------------------------------------------------------------------------

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fp_cost: Any = None,
        fn_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
    ) -> float:
        """Minus the expected cost of the decisions, per row and in the unit of the costs: greater is better.

        It is not the accuracy that scikit-learn's classifiers have here, so a search by ``score`` finds the cheapest
        model, not the one with the fewest mistakes. After a fit with actions, and without costs given here, the
        decisions are those of :meth:`decide`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
            Costs of these rows, for the decisions and for what they cost; those not given are the numbers of the fit.
            Those of which the fit had one for each row must be given.

        Returns
        -------
        float
        """
        check_is_fitted(self, "classes_")
        given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
        of_actions = None if given.known else self._cost_of_actions(X, y, sample_weight)
        if of_actions is not None:
            return -of_actions
        costs = costs_to_score(self._costs_of_fit, given, "score")
        said = self.predict(X, **given)
        return -expected_cost(y, said, **costs, pos_label=self._classes.pos_label, sample_weight=sample_weight)

    @property
    def constant_costs_(self) -> dict[str, CostEstimate]:
        """Expected costs of the rules "all positive" and "all negative" on the training rows, with 95 % intervals.

        A model that costs no less than the cheaper of them is not worth having.
        """
        check_is_fitted(self, "classes_")
        sums = self.__dict__.get("_constant_sums")
        if sums is None or "means" in sums:
            raise AttributeError(
                f"{type(self).__name__} has no constant_costs_ after a fit on rows in parts or from an older file; "
                "uneven.metrics.compare_predictions gives the costs of constant predictions"
            )
        return constant_costs(sums)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - scikit-learn calls it so
        """As in scikit-learn, and never more than 999 characters, whatever the parameters hold."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        values = {name: value if isinstance(value, BaseEstimator) else _Shown(value) for name, value in params.items()}
        inside = {"__init__": type(self).__init__, "get_params": lambda self, deep=True: values}
        alike = type(type(self).__name__, (BaseEstimator,), inside)  # printed by scikit-learn itself
        shown = BaseEstimator.__repr__(object.__new__(alike), N_CHAR_MAX)
        if len(shown) <= _MOST_SHOWN:
            return str(shown)
        shown = " ".join(shown.split())
        return shown if len(shown) <= _MOST_SHOWN else f"{shown[: _MOST_SHOWN - 4]}...)"


class _Shown:
    """A value of a parameter, as it is printed: arrays, frames and the like are cut."""

    def __init__(self, value: Any) -> None:
        text = " ".join(repr(value).split())
        self.text = text if len(text) <= _MOST_OF_VALUE else f"{text[: _MOST_OF_VALUE - 3]}..."

    def __repr__(self) -> str:
        return self.text


def costs_of_fit(learner: Any, given: GivenCosts | None = None) -> GivenCosts:
    """The four costs of a fit: those given, and the constructor's, which must be numbers, for the others.

    With ``actions`` in place of costs, those of the two outermost ones; with ``cost_range``, those at the range's
    central ratio.
    """
    given = GivenCosts() if given is None else given
    has_actions = getattr(learner, "actions", None) is not None
    instead = costs_of_actions(learner, given) if has_actions else costs_of_range(learner, given)
    if instead is not None:
        return instead
    own = {name: getattr(learner, name) for name, value in given.items() if value is None}
    for name, value in own.items():
        if np.ndim(value):
            raise CostError(
                f"{name} of the learner itself must be a number, got {brief(value)}; costs of each row go to fit and "
                "predict"
            )
    return given.filled(own)


def costs_to_score(known: Mapping[str, Any], given: GivenCosts, method: str) -> GivenCosts:
    """The four costs of rows to decide about or to score: those given, and the numbers of the fit for the others."""
    costs = given.filled(known)
    absent = [name for name in COSTS if costs[name] is None]
    if absent:
        raise CostError(
            f"the fit had {' and '.join(absent)} of each row, so {method} needs {'it' if len(absent) == 1 else 'them'} "
            "for these rows, too: a number, or one for each row"
        )
    return costs

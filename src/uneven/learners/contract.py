"""What every estimator promises: predictions for given costs, a score in money, and what the two constant rules cost.

``docs/estimators.md`` lists all promises; ``tests/learners/test_contract.py`` keeps every public estimator to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from uneven.costs import COSTS, GivenCosts, RowCosts
from uneven.errors import CostError, ParameterError
from uneven.inputs import brief, exact, to_float
from uneven.labels import Classes, require_same_length
from uneven.learners.cost_range import costs_of_range
from uneven.learners.several_actions import costs_of_actions, have_actions_between
from uneven.metrics.expected_cost import expected_cost
from uneven.metrics.intervals import CostEstimate, outcome_cells
from uneven.metrics.mean_interval import Cell, CountedRows, MeanInterval, mean_interval, share_interval
from uneven.metrics.rows import read_decisions

if TYPE_CHECKING:
    from uneven.app.report.model_card import ModelCard
    from uneven.decisions.actions import Actions
    from uneven.decisions.decision_table import Decisions
    from uneven.learners.changed_costs import ChangedUse
    from uneven.learners.explaining.explanation import Explanation

#: The two rules that look at no feature.
ALL_POSITIVE, ALL_NEGATIVE = "all positive", "all negative"
#: Most characters of a repr, and of one parameter in it.
_MOST_SHOWN, _MOST_OF_VALUE = 999, 200


def offers(method: str) -> Any:
    """What scikit-learn asks whether a learner has a method: an error with the reason, or yes."""

    def check(learner: EstimatorContract) -> bool:
        learner._require_method(method)
        return True

    return check


class EstimatorContract:
    """The prediction methods, ``score``, ``constant_costs_`` and a short repr of an estimator.

    It stands before scikit-learn's mixins, whose score is accuracy. A learner has ``classes_``, ``_positive`` and
    ``_costs_of_fit``, the costs of the fit that are numbers. It gives ``_positive_scores`` and
    ``_positive_probability``; one that asks another estimator overrides ``_answer`` instead. Its ``fit`` may set
    ``_constant_sums`` to what :func:`constant_sums` gives.
    """

    _costs_of_fit: Mapping[str, Any]
    _actions_of_fit: Actions | None = None  # in place of costs
    _in_use: ChangedUse | None = None  # of a model that ``with_costs`` made
    _constant_sums: dict[str, Any] | None
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

        return explain(self, X, background, n_draws=n_draws, **GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost))

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
        if len(self.classes_) > 2:
            raise ParameterError(f"a card is for models of two classes, this one has {len(self.classes_)}")
        return learner_card(self, X, decided_by=decided_by, unit=unit)

    # -- other costs without a new fit ------------------------------------------------------------------------------

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
        from uneven.learners.changed_costs import change_costs

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

    def _say_what_holds(self, before: EstimatorContract) -> list[str]:
        """Sentences about what is guaranteed after a change of the costs."""
        return []

    def _on_rows_of_fit(self, costs: RowCosts) -> RowCosts:
        """The costs on rows of the fit, from those in use."""
        return costs if self._in_use is None else self._in_use.on_rows_of_fit(costs)

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


# -- the constant rules -----------------------------------------------------------------------------------------------


def constant_sums(four: Mapping[str, Any], y: np.ndarray, weight: np.ndarray) -> dict[str, Any]:
    """What a fit keeps to tell what constant rules cost: a few numbers, whatever the number of rows.

    ``y`` is 1 for positive rows, ``weight`` is empty if all weights are 1. With the same costs in all rows these are
    sums for each class, negative first; else groups of rows that pay nearly the same.
    """
    positives = int(np.count_nonzero(y))
    rows = np.array([y.size - positives, positives])
    if not any(np.ndim(value) for value in four.values()):
        if not weight.size:
            return sums_of_classes(four, rows, rows, rows)
        return sums_of_classes(four, rows, *(np.bincount(y, part, 2) for part in (weight, weight * weight)))
    costs, is_positive = RowCosts.read(y.size, **four), np.asarray(y) == 1
    kept: dict[str, Any] = {}
    for name, said in ((ALL_POSITIVE, True), (ALL_NEGATIVE, False)):
        cells = outcome_cells(costs, is_positive, np.full((1, y.size), said), weight=weight if weight.size else None)
        groups = [cells[truth, said].seen.grouped() for truth in (False, True)]
        kept[name] = [[part.tolist() for part in (rows.x, rows.z, rows.count)] for rows in groups]
    return {"rows": rows.tolist(), "groups": kept}


def sums_of_classes(
    costs: Mapping[str, Any], rows: np.ndarray, weights: np.ndarray, squares: np.ndarray
) -> dict[str, Any]:
    """The same from sums for each class, negative first: rows, their weights, and the squares of these."""
    sums = [weights.tolist(), squares.tolist()]
    return {"rows": rows.tolist(), "costs": {name: plain(costs[name]) for name in COSTS}, "sums": sums}


def class_sums(sums: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Weights and squared weights of each class, negative first, from what :func:`constant_sums` kept."""
    if "sums" in sums:
        weights, squares = (np.asarray(part, dtype=np.float64) for part in sums["sums"])
        return weights, squares
    classes = [[np.asarray(part, dtype=np.float64) for part in rows] for rows in sums["groups"][ALL_POSITIVE]]
    weights, squares = (np.array([float(count @ z**power) for _, z, count in classes]) for power in (1, 2))
    return weights, squares


def plain(value: Any) -> Any:
    """A cost as files can hold it: a number, or the text of an exact one."""
    return value if isinstance(value, int | float) else str(value)


def constant_costs(
    sums: Mapping[str, Any], between: Mapping[str, tuple[float, float]] | None = None
) -> dict[str, CostEstimate]:
    """The estimates from what :func:`constant_sums` kept.

    ``between`` are further rules by name, with what they cost on a negative and on a positive.
    """
    negatives, positives = sums["rows"]
    if "groups" in sums:
        found = {name: _of_groups(kept) for name, kept in sums["groups"].items()}
    else:
        found = _of_sums(sums, between or {})
    mistakes = {ALL_POSITIVE: (float(negatives), 0.0), ALL_NEGATIVE: (0.0, float(positives))}
    return {
        name: CostEstimate(name, cost, ends.low, ends.high, *mistakes.get(name, (0.0, 0.0)), rough=ends.rough)
        for name, (cost, ends) in found.items()
    }


def _of_groups(kept: Any) -> tuple[float, MeanInterval]:
    """Mean and interval if costs differ from row to row."""
    classes = [CountedRows(*(np.asarray(part, dtype=np.float64) for part in rows)) for rows in kept]
    rows = classes[0].joined(classes[1])
    mean = float(rows.count @ rows.x / (rows.count @ rows.z))
    return mean, mean_interval([Cell(one, one) for one in classes])


def _of_sums(
    sums: Mapping[str, Any], between: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, MeanInterval]]:
    """The same if all rows of a class pay the same: from the share of positives among the effective rows."""
    cost = {name: to_float(exact(name, value, CostError)) for name, value in sums["costs"].items()}
    weights, squares = (np.asarray(part, dtype=np.float64) for part in sums["sums"])
    share = weights / weights.sum()
    ends = share_interval(float(share[1]), float(weights.sum() ** 2 / squares.sum()))
    found = {}
    for name, paid in (
        (ALL_POSITIVE, np.array([cost["fp_cost"], cost["tp_cost"]])),
        (ALL_NEGATIVE, np.array([cost["tn_cost"], cost["fn_cost"]])),
        *((name, np.array(pair)) for name, pair in between.items()),
    ):
        low, high = sorted(float((1 - end) * paid[0] + end * paid[1]) for end in ends)
        found[name] = (float(share @ paid), MeanInterval(low, high, rough=False))
    return found

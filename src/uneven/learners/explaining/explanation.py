"""Which columns moved a row across the threshold, and by how much money."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from uneven.costs import GivenCosts, RowCosts, money
from uneven.errors import LossError, ParameterError, needs_extra
from uneven.inputs import brief, require_integer
from uneven.learners.contract import EstimatorContract, costs_to_score
from uneven.learners.explaining.class_explanation import ClassExplanation, explain_classes
from uneven.learners.explaining.counterfactuals import Change, changes_of_columns, in_words
from uneven.learners.explaining.mixed_rows import Pool, is_frame
from uneven.learners.explaining.shapley import find_values

__all__ = ["Explanation", "Reason", "explain"]

#: Differences of evidence below which a slope is taken around them instead of between them.
_NARROW = 1e-6
#: Rows that a notebook shows.
_SHOWN = 10


class Reason(NamedTuple):
    """A column that spoke for the decision about a row.

    Attributes
    ----------
    column : str
    value : object
        Of the row.
    points : float
        By how much it moved the score; positive: towards flagging.
    money : float or None
        By how much it moved what flagging saves; None without probabilities.
    """

    column: str
    value: Any
    points: float
    money: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why rows were decided as they were; made by :func:`uneven.explain` or ``explain`` of a classifier.

    Attributes
    ----------
    columns : tuple of str
        The user's columns.
    flagged : ndarray of bool, shape (n_rows,)
        Whether each row is predicted positive.
    score, base_score : ndarray of shape (n_rows,)
        The score of the positive class, whose threshold is 0, and that of the mean background row at the row's costs.
        Of a classifier with a corrected threshold the score is the log-odds minus those of the threshold. Infinite
        where the costs alone decide.
    points : ndarray of shape (n_rows, n_columns)
        Shapley values of the score: ``base_score + points.sum(axis=1)`` is ``score``.
    saving, base_saving : ndarray of shape (n_rows,), or None
        What flagging is expected to save by ``predict_proba``: of the row, and at the base score. None if the model has
        no probabilities.
    money : ndarray of shape (n_rows, n_columns), or None
        The points in the unit of the costs: ``base_saving + money.sum(axis=1)`` is ``saving``. All points of a row have
        the same price, the mean of what a further point saves between the base and the row.
    standard_errors : ndarray of shape (n_rows, n_columns)
        Of the points, if they are sampled; else 0.
    method : {"exact", "exact (shap)", "sampled"}
        How the points were found.

    Examples
    --------
    >>> import numpy as np
    >>> import uneven
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> why = uneven.UnevenLinearClassifier().fit(X, [0, 0, 1, 1]).explain(X)
    >>> [reason.column for reason in why.reasons()[3]]
    ['x0']
    >>> bool(np.allclose(why.base_score + why.points.sum(axis=1), why.score))
    True
    """

    columns: tuple[str, ...]
    flagged: np.ndarray
    score: np.ndarray
    base_score: np.ndarray
    points: np.ndarray
    saving: np.ndarray | None
    base_saving: np.ndarray | None
    money: np.ndarray | None
    standard_errors: np.ndarray
    method: str
    _model: _Model = field(kw_only=True)
    _pool: Pool = field(kw_only=True)
    _index: Any = field(kw_only=True, default=None)

    def __len__(self) -> int:
        return self.score.size

    def __repr__(self) -> str:
        return (
            f"<Explanation of {len(self):,} rows, {int(self.flagged.sum()):,} flagged, by {len(self.columns)} columns: "
            f"{self.method}>"
        )

    # -- reasons ----------------------------------------------------------------------------------------------------

    def reasons(self, most: int = 3) -> list[list[Reason]]:
        """For each row the columns that spoke most for its decision, the most important first.

        Parameters
        ----------
        most : int
            Columns per row. Those that spoke against the decision are never among them, and there are none where the
            costs alone decide.

        Returns
        -------
        list of lists of Reason
        """
        require_integer("most", most)
        toward = np.where(self.flagged[:, None], self.points, -self.points)
        toward = np.where(np.isfinite(self.score)[:, None], toward, 0.0)
        order = np.argsort(-toward, axis=1, kind="stable")[:, :most]
        return [[self._reason(i, j) for j in row if toward[i, j] > 0] for i, row in enumerate(order)]

    def _reason(self, i: int, j: int) -> Reason:
        paid = None if self.money is None else float(self.money[i, j])
        return Reason(self.columns[j], self._pool.value(i, j), float(self.points[i, j]), paid)

    def counterfactuals(self, columns: Sequence[str] | None = None, most: int = 1) -> list[list[Change]]:
        """For each row single changes of a column that would change its decision, the smallest first.

        Values between those that the column has in X and the background are tried. Each change that is returned was
        verified: the model decides the changed row the other way. An empty list means that no tried change of a single
        column does.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns that may be changed: nobody can change an age. By default all but free texts.
        most : int
            Changes per row, each of another column.

        Returns
        -------
        list of lists of Change
        """
        return changes_of_columns(self._model.flags, self._pool, self.columns, columns, self.flagged, most)

    def sentences(self, most: int = 3, *, unit: str | None = None, counterfactuals: bool = True) -> list[str]:
        """For each row its decision, the reasons, and a change that would have changed it.

        Parameters
        ----------
        most : int
            Reasons per row.
        unit : str, optional
            What the costs are counted in, such as "EUR".
        counterfactuals : bool
            Whether to look for a change; it takes about as long as the explanation.

        Returns
        -------
        list of str
        """
        reasons = self.reasons(most)
        changes: list[list[Change]] | list[None]
        changes = self.counterfactuals() if counterfactuals else [None] * len(self)
        return [self._sentence(i, reasons[i], changes[i], unit) for i in range(len(self))]

    def _sentence(self, i: int, reasons: list[Reason], changes: list[Change] | None, unit: str | None) -> str:
        said = "Flagged" if self.flagged[i] else "Not flagged"
        if self.saving is not None:
            saving = float(self.saving[i])
            effect = "save" if saving > 0 else "cost"
            said += f": flagging is expected to {effect} {money(abs(saving), unit)}"
        if not np.isfinite(self.score[i]):
            return f"{said}. The costs of this row alone decide; no column has a say."
        parts = [f"{one.column} = {in_words(one.value)} ({_effect(one, unit)})" for one in reasons]
        text = f"{said}. Mostly because of {', '.join(parts)}." if parts else f"{said}, as the average background row."
        if changes is None:
            return text
        if not changes:
            return f"{text} No change of a single column that was tried would change this."
        return f"{text} {changes[0].in_words(self.flagged[i])}."

    # -- tables -----------------------------------------------------------------------------------------------------

    def to_frame(self, most: int | None = None) -> Any:
        """One row for each row of X; needs the extra ``data``.

        Parameters
        ----------
        most : int, optional
            Give so many reasons in place of all columns.

        Returns
        -------
        DataFrame
            The money of each column, or its points if the model has no probabilities. With ``most``: for each reason
            its column (``reason_1``), value, points and money.
        """
        with needs_extra("to_frame", "data"):
            import pandas as pd
        if most is None:
            values = self.points if self.money is None else self.money
            return pd.DataFrame(values, columns=list(self.columns), index=self._index)
        columns: dict[str, list[Any]] = {}
        found = self.reasons(most)
        for k in range(most):
            row = [reasons[k] if k < len(reasons) else None for reasons in found]
            columns[f"reason_{k + 1}"] = [None if one is None else one.column for one in row]
            columns[f"reason_{k + 1}_value"] = [None if one is None else in_words(one.value) for one in row]
            columns[f"reason_{k + 1}_points"] = [np.nan if one is None else one.points for one in row]
            if self.money is not None:
                columns[f"reason_{k + 1}_money"] = [np.nan if one is None else one.money for one in row]
        return pd.DataFrame(columns, index=self._index)

    def _repr_html_(self) -> str:
        """The reasons of the first rows, for notebooks."""
        rows = []
        for i, reasons in enumerate(self.reasons()[:_SHOWN]):
            cells = [_name(self._index, i), "flagged" if self.flagged[i] else "not flagged"]
            cells += [] if self.saving is None else [money(float(self.saving[i]))]
            cells += [f"{one.column} = {in_words(one.value)} ({_effect(one, None)})" for one in reasons]
            cells += [""] * (3 - len(reasons))
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        money_head = [] if self.saving is None else ["flagging saves"]
        head = ["row", "decision", *money_head, "first reason", "second", "third"]
        more = f"<p>and {len(self) - _SHOWN:,} more rows</p>" if len(self) > _SHOWN else ""
        titles = "".join(f"<th>{one}</th>" for one in head)
        return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"


def _effect(one: Reason, unit: str | None) -> str:
    amount = one.points if one.money is None else one.money
    sign = "+" if amount > 0 else "-"
    return f"{sign}{money(abs(amount), unit if one.money is not None else 'points')}"


def _name(index: Any, i: int) -> str:
    return str(i if index is None else index[i])


# -- explaining --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Model:
    """A fitted learner, the steps before it, and the costs of the rows to explain."""

    learner: Any
    steps: list[Any]
    given: GivenCosts

    @classmethod
    def of(cls, model: Any, given: GivenCosts) -> _Model:
        """What is behind pipelines and searches."""
        steps: list[Any] = []
        while True:
            if isinstance(model, Pipeline):
                steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
                model = model[-1]
            elif hasattr(model, "_matrix_to_explain") and not isinstance(model, EstimatorContract):
                return cls(model, steps, given)
            elif isinstance(model, EstimatorContract):
                asked, given = model._asks(given)
                if asked is model:
                    return cls(model, steps, given)
                model = asked
            else:
                raise ParameterError(
                    f"explain is for classifiers of this library and pipelines that end in one, got {brief(model)}; "
                    "uneven.UnevenThresholdClassifierCV(..., prefit=True) around it would work"
                )

    def read(self, X: Any) -> Any:
        """Rows as the learner takes them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def evidence(self, X: Any) -> np.ndarray:
        """What the learner says of rows before the costs decide."""
        return np.asarray(self.learner._evidence(self.read(X)), dtype=np.float64)

    def flags(self, X: Any, rows: np.ndarray) -> np.ndarray:
        """Whether ``predict`` flags rows that have the costs of these rows to explain."""
        costs = GivenCosts(*(np.asarray(v)[rows] if np.ndim(v) else v for v in self.given.values()))
        said = self.learner._answer("predict", self.read(X), costs)
        return np.asarray(said == self.learner._classes.pos_label)

    def savings(self, evidence: np.ndarray, costs: RowCosts) -> np.ndarray | None:
        """What flagging saves in rows of such evidence; None if the model has no probabilities."""
        try:
            p = np.asarray(self.learner._probability_of_evidence(evidence, self.given), dtype=np.float64)
        except LossError:
            return None
        return np.asarray(p * costs.fn_regret - (1 - p) * costs.fp_regret)


def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    n_draws: int = 32,
    fp_cost: Any = None,
    fn_cost: Any = None,
    tp_cost: Any = None,
    tn_cost: Any = None,
    costs: Any = None,
) -> Explanation | ClassExplanation:
    """Which columns moved each row across the threshold, and by how much money.

    With several classes: which columns spoke for the decision against the next-cheapest one.

    Each row is compared with background rows. The points of a column are its Shapley value of the score: what replacing
    the column of a background row by that of the row changes, on average over background rows and orders of the
    columns. Together with the base score they sum to the score of the row, whose threshold is 0.

    Parameters
    ----------
    model : classifier or Pipeline
        A fitted classifier of this library, or a pipeline that ends in one: then the columns are those that the
        pipeline is given.
    X : DataFrame or array-like of shape (n_samples, n_features)
    background : DataFrame or array-like, optional
        Rows to compare with, such as training rows. By default X.
    n_draws : int
        Where values are sampled: how many background rows are drawn, always the same, each with an order of the columns
        and its reverse. Values of linear models are exact, and use all background rows; those of XGBoost and LightGBM
        are exact for the drawn rows, if ``shap`` is installed (the extra ``explain``).
    fp_cost, fn_cost, tp_cost, tn_cost : number or array-like of shape (n_samples,), optional
        Costs of these rows, as in ``predict``.
    costs : CostMatrix or array-like, optional
        With several classes, other costs, as in ``predict``.

    Returns
    -------
    Explanation, or ClassExplanation with several classes

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import uneven
    >>> from sklearn.pipeline import make_pipeline
    >>> from uneven.tables import FrameEncoder
    >>> random = np.random.default_rng(0)
    >>> X = pd.DataFrame({"amount": random.integers(1, 1000, 300), "country": random.choice(["AT", "US"], 300)})
    >>> fraud = random.random(300) < X["amount"] / 1000 * np.where(X["country"] == "US", 0.9, 0.1)
    >>> learner = uneven.UnevenLinearClassifier(fp_cost=10, fn_cost=60)
    >>> model = make_pipeline(FrameEncoder(view="linear"), learner).fit(X, fraud)
    >>> why = uneven.explain(model, X)
    >>> why
    <Explanation of 300 rows, 133 flagged, by 2 columns: exact>
    >>> [(reason.column, reason.value, round(reason.money, 1)) for reason in why.reasons()[10]]
    [('country', 'US', 23.3), ('amount', 649, 6.9)]
    >>> for part in why.sentences(1, unit="EUR")[10].split(". "):
    ...     print(part)
    Flagged: flagging is expected to save 28.12 EUR
    Mostly because of country = US (+23.25 EUR)
    Would not be flagged if amount were at most 170.
    """
    require_integer("n_draws", n_draws)
    given = GivenCosts(fp_cost, fn_cost, tp_cost, tn_cost)
    used = _Model.of(model, given)
    learner = used.learner
    pool = Pool.of(X, background, getattr(learner, "feature_names_in_", None) if not used.steps else None)
    if getattr(learner, "_has_several_classes", False):
        if given.known:
            raise ParameterError(
                f"{next(iter(given.known))} is for two classes, and this model knows several; give costs"
            )
        index = X.index if is_frame(X) else None
        return explain_classes(learner, used.read, pool, index, n_draws=n_draws, costs=costs)
    if costs is not None:
        raise ParameterError("costs are for several classes, and this model knows two; give fp_cost and fn_cost")
    return _explain_two(used, X, pool, n_draws)


def _explain_two(used: _Model, X: Any, pool: Pool, n_draws: int) -> Explanation:
    learner = used.learner
    found = find_values(learner, used.steps, used.evidence, pool, n_draws)
    evidence = found.base + found.values.sum(axis=1)
    costs = RowCosts.read(pool.count, **costs_to_score(learner._costs_of_fit, used.given, "explain"))
    cut = learner._cut(pool.count, used.given)
    threshold, sign = (np.zeros(pool.count), np.ones(pool.count)) if cut is None else cut
    saving, base_saving, price = _prices(used, evidence, found.base, costs)
    points = sign[:, None] * found.values
    flagged = used.flags(pool.rows(np.arange(pool.count)), np.arange(pool.count))
    return Explanation(
        pool.names,
        flagged,
        sign * (evidence - threshold),
        sign * (found.base - threshold),
        points,
        saving,
        base_saving,
        None if price is None else price[:, None] * found.values,
        found.standard_errors,
        found.method,
        _model=used,
        _pool=pool,
        _index=X.index if is_frame(X) else None,
    )


def _prices(
    used: _Model, evidence: np.ndarray, base: float, costs: RowCosts
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
    """What flagging saves in each row and at the base, and the mean price of a point between the two."""
    saving, at_base = (used.savings(part, costs) for part in (evidence, np.full_like(evidence, base)))
    if saving is None or at_base is None:
        return None, None, None
    low, high = np.minimum(evidence, base), np.maximum(evidence, base)
    narrow = high - low < _NARROW
    low, high = np.where(narrow, low - _NARROW, low), np.where(narrow, high + _NARROW, high)
    below, above = (used.savings(part, costs) for part in (low, high))
    assert below is not None
    assert above is not None
    return saving, at_base, (above - below) / (high - low)

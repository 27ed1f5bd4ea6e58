"""What a fitted model says about the rows of a table: decisions, probabilities, thresholds and expected costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logit

from uneven.app.files.remarks import repeated_ids
from uneven.app.files.table import Table, read_table
from uneven.app.files.table_columns import LIKE_AN_ID, read_columns, type_columns
from uneven.app.files.table_formats import Reading
from uneven.app.models.written_costs import WrittenCosts, costs_by_name
from uneven.costs import RowCosts, money
from uneven.decisions.alpha import probability_thresholds, threshold_log_odds
from uneven.errors import CostError, UnevenError
from uneven.metrics.mean_interval import CountedRows
from uneven.metrics.passing_costs import answer_with_costs, takes_costs

#: Draws of what all decisions together cost.
_DRAWS = 4000


@dataclass(frozen=True)
class Decisions:
    """Decisions for rows with costs.

    Attributes
    ----------
    costs : RowCosts
    said_positive : ndarray of bool
    score : ndarray
        Its threshold is 0.
    probability : ndarray or None
        Of the positive class; None if the loss does not identify it.
    threshold : ndarray
        The probability above which a row is flagged; NaN where it is flagged below.
    why_no_probability : str
    """

    costs: RowCosts
    said_positive: np.ndarray
    score: np.ndarray
    probability: np.ndarray | None
    threshold: np.ndarray
    why_no_probability: str = ""

    def take(self, rows: np.ndarray) -> Decisions:
        """Those about some of the rows, given by numbers or by a Boolean for each."""
        kept = np.flatnonzero(rows) if rows.dtype == bool else rows
        probability = None if self.probability is None else self.probability[kept]
        costs, said, score = self.costs.take(kept), self.said_positive[kept], self.score[kept]
        return Decisions(costs, said, score, probability, self.threshold[kept], self.why_no_probability)

    @cached_property
    def expected_costs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the negative and the positive decision are expected to cost in each row."""
        p = self._known
        negative = p * self.costs.fn_cost + (1 - p) * self.costs.tn_cost
        return negative, p * self.costs.tp_cost + (1 - p) * self.costs.fp_cost

    @property
    def range_of_total(self) -> tuple[float, float]:
        """Quantiles of what all decisions together cost, 2.5 and 97.5 %, if every probability is right.

        Rows of nearly the same probability and cost are one group, whose number of mistakes is drawn at once. A few
        dear mistakes make the total skewed, so that a normal distribution would not do.
        """
        p, costs, said = self._known, self.costs, self.said_positive
        right = np.where(said, costs.tp_cost, costs.tn_cost)
        apart = np.where(said, costs.fp_cost, costs.fn_cost) - right
        chance = np.where(said, 1 - p, p)
        groups = CountedRows.of(apart, chance).grouped()
        drawn = np.random.default_rng(0).binomial(groups.count.astype(np.int64), groups.z, (_DRAWS, groups.x.size))
        low, high = np.quantile(drawn @ groups.x, [0.025, 0.975]) + right.sum()
        return float(low), float(high)

    @property
    def saved(self) -> np.ndarray:
        """What the positive decision is expected to save in each row."""
        negative, positive = self.expected_costs
        return np.asarray(negative - positive)

    @property
    def _known(self) -> np.ndarray:
        if self.probability is None:
            raise CostError(f"this model has no probabilities: {self.why_no_probability}")
        return self.probability


def decide_rows(pipeline: Any, X: Any, costs: RowCosts, *, told: bool) -> Decisions:
    """What a fitted pipeline says; its labels are 0 and 1. ``told``: it is told the costs, else it uses its own."""
    return decide_features(pipeline[-1], pipeline[:-1].transform(X), costs, told=told)


def decide_features(last: Any, features: Any, costs: RowCosts, *, told: bool, positive: Any = 1) -> Decisions:
    """What a fitted classifier says about rows as it takes them; ``positive`` is its label of the positive class."""
    probability, why = _probability(last, features, costs, told=told, positive=positive)
    said = np.asarray(answer(last, "predict", features, costs, told=told)) == positive
    cut = last.thresholds(costs) if hasattr(last, "thresholds") else probability_thresholds(*costs.thresholds())
    if hasattr(last, "decision_function"):
        score = np.asarray(answer(last, "decision_function", features, costs, told=told), dtype=float)
        score = score if positive == last.classes_[-1] else -score
    elif probability is None:
        score = np.where(said, 1.0, -1.0)
    else:
        score = _log_odds_above(probability, costs)
    score = np.where(said == (score > 0), score, np.where(said, np.nextafter(0.0, 1.0), 0.0))
    return Decisions(costs, said, score, probability, cut, why)


def can_move(pipeline: Any) -> bool:
    """Whether a fitted pipeline can decide at other costs than those of its fit."""
    last = pipeline[-1]
    if not takes_costs(last, "predict"):
        return False
    return bool(getattr(last, "moves", True)) and hasattr(last, "predict_proba")


def predict_positive(pipeline: Any, X: Any, costs: RowCosts, *, told: bool) -> np.ndarray:
    """Where a fitted pipeline predicts positive."""
    return np.asarray(answer(pipeline[-1], "predict", pipeline[:-1].transform(X), costs, told=told) == 1)


def answer(last: Any, method: str, features: Any, costs: RowCosts, *, told: bool) -> Any:
    """What a method says; costs that are the same in all rows are passed as numbers."""
    if not (told and takes_costs(last, method)):
        return getattr(last, method)(features)
    if any(isinstance(cost, np.ndarray) for cost in costs_by_name(costs).values()):
        return answer_with_costs(last, method, features, costs)
    return getattr(last, method)(features, **costs_by_name(costs))


def _log_odds_above(probability: np.ndarray, costs: RowCosts) -> np.ndarray:
    """How far the log-odds of each row are on the positive side of its threshold."""
    alpha, sign = costs.thresholds()
    cut = threshold_log_odds(alpha)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(sign * (logit(probability) - cut), nan=0.0, posinf=np.inf, neginf=-np.inf)


def _probability(
    last: Any, features: Any, costs: RowCosts, *, told: bool, positive: Any
) -> tuple[np.ndarray | None, str]:
    try:
        both = np.asarray(answer(last, "predict_proba", features, costs, told=told))
        return both[:, np.asarray(last.classes_).tolist().index(positive)], ""
    except (AttributeError, CostError) as error:  # the loss has none; rows whose costs the scores cannot give back
        return None, str(error).partition(": ")[2] or str(error)


# -- rows of the training table, known by a hash of their values -------------------------------------------------------


def row_hashes(X: Any) -> np.ndarray:
    """A hash of the typed columns of each row; the same in every process and for every kind of file."""
    from pandas.util import hash_pandas_object

    return hash_pandas_object(X, index=False, categorize=False).to_numpy(dtype=np.uint64)


def in_training(X: Any, known: np.ndarray) -> np.ndarray:
    """Whether each row has the same values in all columns as a row with one of the known hashes."""
    return np.isin(row_hashes(X), known)


def seen_in_words(seen_before: np.ndarray, so: str = "expect more cost on new ones") -> str:
    """A sentence if rows were in the training table; "" otherwise. ``so`` says what follows."""
    count, total = int(seen_before.sum()), seen_before.size
    if not count:
        return ""
    which = f"All {total:,} rows" if count == total else f"{count:,} of {total:,} rows"
    return f"{which} were in the training table (same values in all columns): {so}."


# -- a model of a file, applied to a table -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Application:
    """What a model says about the rows of a table.

    Attributes
    ----------
    about : dict
        What the model file says of the training.
    given : WrittenCosts
    X : DataFrame
        The typed columns.
    decisions : Decisions
    names : (str, Series) or None
        The column that names the rows, and its values.
    remarks : list of str
    """

    about: dict[str, Any]
    given: WrittenCosts
    X: Any
    decisions: Decisions
    names: tuple[str, Any] | None
    remarks: list[str]

    @property
    def words(self) -> tuple[str, str]:
        """What the target calls a negative and a positive row."""
        return words_of(self.about["positive"], self.about["negatives"])

    def expected_in_words(self) -> str:
        """What all decisions together are expected to cost, and the constant rules; "" without probabilities."""
        if self.decisions.probability is None:
            return ""
        found = self.decisions
        negative, positive = found.expected_costs
        ours = np.where(found.said_positive, positive, negative)
        total, everyone, no_one = (float(part.sum()) for part in (ours, positive, negative))
        return expected_total_in_words(total, everyone, no_one, self.given.unit, found.range_of_total)


def expected_total_in_words(
    total: float, everyone: float, no_one: float, unit: str | None, ends: tuple[float, float] | None = None
) -> str:
    """What decisions are expected to cost, with what chance does if it is known, and what the constant rules would."""
    chance = "" if ends is None else f" (chance alone, 95 %: {money(ends[0])} to {money(ends[1])})"
    return (
        f"If its probabilities are right, these decisions cost {money(total, unit)}{chance}; flagging everyone would "
        f"cost {money(everyone, unit)}, flagging no one {money(no_one, unit)}."
    )


def dearer_in_words(used: Application, pipeline: Any) -> str:
    """A sentence if decisions are not the cheaper ones by the expected costs that are written; else ""."""
    found = used.decisions
    if found.probability is None:
        return ""
    dearer = np.where(found.said_positive, found.saved < 0, found.saved > 0)
    if not dearer.any():
        return ""
    shift = getattr(pipeline[-1], "shift_", None)
    why = (
        "the threshold is corrected and probabilities are not, which paid on rows that the models had not learnt from"
        if shift is not None and np.isfinite(shift) and shift != 0
        else "the model decides by its score, from which the probabilities are judged"
    )
    return (
        f"In {int(dearer.sum()):,} of {dearer.size:,} rows the decision is not the cheaper one by the expected costs: "
        f"{why}."
    )


#: Columns of a table of predictions whose order in a row decides.
COMPARED = (("probability", "threshold"), ("cost_if_negative", "cost_if_positive"))


def words_of(positive: str, negatives: list[str]) -> tuple[str, str]:
    """What the target calls a negative and a positive row."""
    return (negatives[0] if len(negatives) == 1 else f"not {positive}"), positive


def read_rows(
    content: dict[str, Any], data: str, reading: Reading, changes: dict[str, str], *, skip_bad_costs: bool
) -> tuple[Table, str]:
    """The table to decide, and a sentence about rows that were left out because their costs are not known."""
    table = read_table(data, reading, content["about"]["decimal"])
    if not skip_bad_costs:
        return table, ""
    return WrittenCosts(**{**content["about"]["costs"], **changes}).skip_unknown(table)


def apply_model(
    content: dict[str, Any], table: Table, id_column: str | None = None, changes: dict[str, str] | None = None
) -> Application:
    """Apply the model to all rows of the table; an error names a column that is missing, for the model or its costs.

    ``changes`` are costs in place of those of the model; an error says so if it cannot decide at other costs.
    """
    about = content["about"]
    given = WrittenCosts(**{**about["costs"], **(changes or {})})
    if changes and not can_move(content["pipeline"]):
        raise UnevenError(
            f"this model ({about['model']}) decides only at the costs of its fit, got others; fit it again with them"
        )
    costs = given.of(table)
    X = type_columns(table, read_columns(about["columns"]))
    names, remarks = name_rows(table, about, id_column)
    found = decide_rows(content["pipeline"], X, costs, told=given.per_row or bool(changes))
    return Application(about, given, X, found, names, remarks)


def name_rows(table: Table, about: dict[str, Any], id_column: str | None) -> tuple[tuple[str, Any] | None, list[str]]:
    """The column that names the rows, with its values, if there is one; and sentences about it."""
    remarks = []
    if id_column is not None:
        table.require([id_column], ", which names the rows")
    elif about["id"] is not None and about["id"] not in table.frame.columns:
        remarks.append(f"There is no column {about['id']!r}, which names the rows: they keep their order.")
    name = id_column if id_column is not None else about["id"]
    names = (name, _whole(table.frame[name])) if name is not None and name in table.frame.columns else None
    return names, [*remarks, *filter(None, [repeated_ids(table, name)])]


def name_by_likely_id(used: Application, table: Table) -> Application:
    """With rows named by the one column that was skipped as an ID, if no column names them yet."""
    like_ids = [name for name, why in used.about["skipped"].items() if why.startswith(LIKE_AN_ID)]
    if used.names is not None or len(like_ids) != 1 or like_ids[0] not in table.frame.columns:
        return used
    values = _whole(table.frame[like_ids[0]])
    return replace(used, names=(like_ids[0], values)) if values.is_unique and values.notna().all() else used


def _whole(column: Any) -> Any:
    """Whole numbers as such: a workbook holds them as floats, and 17 must not become 17.0."""
    if column.dtype.kind != "f":
        return column
    known = column.dropna()
    return column.astype("Int64") if ((known % 1 == 0) & (known.abs() < 2**53)).all() else column


def prediction_table(used: Application) -> Any:
    """For each row its name, prediction, probability, threshold, expected costs of both decisions, and score."""
    import pandas as pd

    found = used.decisions
    negative, positive = used.words
    columns: dict[str, Any] = {"prediction": np.where(found.said_positive, positive, negative)}
    if found.probability is not None:
        columns["probability"] = found.probability
    columns["threshold"] = found.threshold
    if found.probability is not None:
        columns["cost_if_negative"], columns["cost_if_positive"] = found.expected_costs
    columns["score"] = found.score
    if used.names is not None:
        name, values = used.names
        if name in columns:
            raise UnevenError(f"the column {name!r} that names the rows has the name of a result; rename it")
        columns = {name: values.reset_index(drop=True), **columns}
    return pd.DataFrame(columns)

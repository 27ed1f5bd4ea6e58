"""From a table to a classifier: preprocessing of the columns, and the classifiers that are compared."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from uneven import _inputs
from uneven.calibration.calibrated_losses import calibrated_loss
from uneven.cli.tables.columns import Column
from uneven.cli.tables.encoders import CategoryEncoder, NumberScaler
from uneven.cli.tables.matrix import typed_names
from uneven.cli.tables.size import SPARSE_BELOW, rare_below
from uneven.costs import Cost
from uneven.learners import UnevenClassifierCV, UnevenLinearClassifier, UnevenSVC

#: Categories of a column that get a column of the matrix; the others share one.
MOST_CATEGORIES = 500
#: What --tune tries for C.
_CS = (0.01, 0.1, 1.0, 10.0)


def preprocessing(columns: list[Column], rows: int) -> ColumnTransformer:
    """Numbers are filled in and scaled, frequent categories one-hot encoded; mostly zeros make a sparse matrix."""
    numeric, categories = typed_names(columns)
    encoder = CategoryEncoder(min_rows=rare_below(rows), most=MOST_CATEGORIES)
    return ColumnTransformer(
        [("numbers", NumberScaler(), numeric), ("categories", encoder, categories)],
        sparse_threshold=SPARSE_BELOW,
    )


def read_costs(fp_cost: str, fn_cost: str) -> Cost:
    """Two positive costs as doubles."""
    fp, fn = (float(_inputs.positive(*given)) for given in (("--fp-cost", fp_cost), ("--fn-cost", fn_cost)))
    return Cost(fp_cost=fp, fn_cost=fn)


def require_loss(kind: str, loss: str | None, cost: Cost, gamma: str) -> None:
    """Raise at once, before a table is read, if there is no loss of this kind for the costs."""
    calibrated_loss("hinge" if kind == "svc" else loss or "logistic", alpha=cost.exact_alpha, gamma=gamma)


def learner(kind: str, loss: str | None, fp_cost: str, fn_cost: str, *, tune: bool, gamma: str) -> BaseEstimator:
    """The classifier that was asked for; its labels are 0 and 1."""
    costs: dict[str, Any] = {"fp_cost": _float_or_text(fp_cost), "fn_cost": _float_or_text(fn_cost)}
    if tune:
        return UnevenClassifierCV(kind, loss=loss, Cs=_CS, **costs)
    if kind == "svc":
        return UnevenSVC(margin_gamma=_float_or_text(gamma), **costs)
    return UnevenLinearClassifier(loss or "logistic", margin_gamma=_float_or_text(gamma), **costs)


def _float_or_text(value: str) -> float | str:
    """A decimal as the float a Python user would give; a fraction such as 1/3 as text, which is read exactly."""
    try:
        return float(value)
    except ValueError:
        return value


def alternatives(cost: Cost) -> dict[str, BaseEstimator]:
    """What is commonly used when costs are unequal."""
    plain = LogisticRegression(max_iter=2000)
    weights = {0: cost.fp_cost, 1: cost.fn_cost}
    return {
        "plain logistic regression": plain,
        "class-weighted": LogisticRegression(max_iter=2000, class_weight=weights),
        "threshold-moved": FixedThresholdClassifier(plain, threshold=cost.alpha, response_method="predict_proba"),
    }


def assembled(columns: list[Column], rows: int, classifier: BaseEstimator) -> Pipeline:
    """Preprocessing and a classifier in one pipeline."""
    return Pipeline([("columns", preprocessing(columns, rows)), ("classifier", classifier)])
